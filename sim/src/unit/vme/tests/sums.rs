//! Distortions and costs.

use super::{Random, rectangles};
use crate::unit::vme::costs::{Costs, reference_factor, u4u4};
use crate::unit::vme::distortion::{Transform, distortions};
use crate::unit::vme::geometry::{ALL, Vector};

/// The basis images of the transform: the mean, three of the whole block, and three of each
/// quarter. Each has the length 1.
fn basis() -> Vec<[f64; 16]> {
    let sign = |negative: bool| if negative { -1.0 } else { 1.0 };
    let mut images = Vec::new();
    for (across, down) in [(false, false), (true, false), (false, true), (true, true)] {
        images.push(std::array::from_fn(|n| {
            let (x, y) = (n % 4, n / 4);
            sign(across && x > 1) * sign(down && y > 1) / 4.0
        }));
    }
    for quarter in 0..4 {
        for (across, down) in [(true, false), (false, true), (true, true)] {
            images.push(std::array::from_fn(|n| {
                let (x, y) = (n % 4, n / 4);
                let inside = x / 2 + y / 2 * 2 == quarter;
                let value = sign(across && x % 2 == 1) * sign(down && y % 2 == 1) / 2.0;
                if inside { value } else { 0.0 }
            }));
        }
    }
    images
}

/// Oracle: sums of absolute differences pixel by pixel; the sum of absolute products with the basis
/// images in floating point.
#[test]
fn all_sums() {
    let mut random = Random(3);
    let basis = basis();
    let blocks = &rectangles()[25..];
    for round in 0..300 {
        let source = random.luma();
        let stride = 16 + random.below(50) as usize;
        let noise = if round % 2 == 0 { 256 } else { 20 };
        let other: Vec<u8> = (0..16 * stride)
            .map(|n| {
                let near = source[(n / stride * 16 + n % stride).min(255)];
                near.wrapping_add(random.below(noise) as u8)
            })
            .collect();
        let plain = distortions(Transform::Plain, &source, &other, stride);
        let haar = distortions(Transform::Haar { ac_only: false }, &source, &other, stride);
        let ac = distortions(Transform::Haar { ac_only: true }, &source, &other, stride);
        for (block, &[x, y, _, _]) in blocks.iter().enumerate() {
            let differences: Vec<f64> = (0..16)
                .map(|n| {
                    let (x, y) = (x + n % 4, y + n / 4);
                    f64::from(source[16 * y + x]) - f64::from(other[stride * y + x])
                })
                .collect();
            let sum: f64 = differences.iter().map(|d| d.abs()).sum();
            assert_eq!(f64::from(plain[block]), sum);
            let products: Vec<f64> = basis
                .iter()
                .map(|image| image.iter().zip(&differences).map(|(a, b)| a * b).sum::<f64>().abs())
                .collect();
            let half = |sum: f64| (sum / 2.0).floor();
            assert_eq!(f64::from(haar[block]), half(products.iter().sum()));
            assert_eq!(f64::from(ac[block]), half(products[1..].iter().sum()));
        }
    }
}

/// Oracle: the format's name: four bits, shifted by four bits.
#[test]
fn values_of_u4u4() {
    assert_eq!(u4u4(0x0f), 15);
    assert_eq!(u4u4(0x4a), 160);
    assert_eq!(u4u4(0x6f), 960);
    assert_eq!(u4u4(0x50), 0);
}

/// Oracle: the table of the OpenCL extension cl_intel_device_side_avc_motion_estimation.
#[test]
fn factors_of_references() {
    let table = [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3];
    for (id, factor) in (0..).zip(table) {
        assert_eq!(reference_factor(id, false), factor);
        assert_eq!(reference_factor(id, true), id);
    }
}

/// Oracle: interpolation between the points of the table in floating point.
#[test]
fn costs_of_vectors() {
    let points = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let mut random = Random(4);
    for _ in 0..200 {
        let costs = random.costs();
        let [x, y] = [0, 1].map(|_| random.below(2000) as i16 - 1000);
        let n = random.below(41) as usize;
        let reference = random.below(2) as usize;
        let centre = costs.centres[super::quad(rectangles()[n])][reference];
        let expected = [(x, centre.x), (y, centre.y)].map(|(at, centre)| {
            let distance = (f64::from(at) - f64::from(centre)).abs();
            let distance = (distance / f64::from(1 << costs.scale)).floor();
            let table = costs.vector.map(f64::from);
            if distance >= 64.0 {
                return table[7] + ((distance - 64.0) / 4.0).floor();
            }
            let after = points.iter().position(|&point| point > distance).unwrap();
            let part = (distance - points[after - 1]) / (points[after] - points[after - 1]);
            (table[after - 1] + part * (table[after] - table[after - 1])).floor()
        });
        let found = costs.of(&ALL[n], reference, Vector { x, y });
        assert_eq!(found.map(f64::from), expected);
    }
}

/// A table that falls is interpolated too, and rounded down.
#[test]
fn costs_of_falling_tables() {
    let costs = Costs { vector: [9, 9, 9, 9, 9, 9, 9, 0], ..super::FREE };
    assert_eq!(costs.component(33), 8);
    assert_eq!(costs.component(63), 0);
    assert_eq!(costs.component(32), 9);
}
