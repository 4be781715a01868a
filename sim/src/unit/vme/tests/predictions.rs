//! Interpolation, refinement and skip checks.

use super::{FREE, Random, picture};
use crate::unit::vme::decide::Decision;
use crate::unit::vme::distortion::Transform;
use crate::unit::vme::geometry::{ALL, Luma, Partition, Vector};
use crate::unit::vme::predict::{PATCH, Patch, blend, predict};
use crate::unit::vme::refine::{Refinement, refine};
use crate::unit::vme::skip::{Skip, check};
use std::convert::Infallible;

const REFINEMENT: Refinement = Refinement {
    half: true,
    quarter: true,
    bilinear: false,
    bidirectional: false,
    no_bidirectional: 0,
    weight: 32,
    vectors: 32,
    transform: Transform::Plain,
};

/// The value between pixels, at quarters. Oracle: the filters of digests/video.md 10.7 as weights
/// of pixels around a position.
fn between(pixel: impl Fn(i64, i64) -> u8, [x, y]: [i64; 2], bilinear: bool) -> u8 {
    let weights = |fraction: i64| -> [f64; 4] {
        match (bilinear, fraction) {
            (_, 0) => [0.0, 1.0, 0.0, 0.0],
            (true, n) => [0.0, 1.0 - n as f64 / 4.0, n as f64 / 4.0, 0.0],
            (false, 1) => [-1.0, 13.0, 5.0, -1.0].map(|n| n / 16.0),
            (false, 2) => [-1.0, 5.0, 5.0, -1.0].map(|n| n / 8.0),
            (false, _) => [-1.0, 5.0, 13.0, -1.0].map(|n| n / 16.0),
        }
    };
    let (across, down) = (weights(x.rem_euclid(4)), weights(y.rem_euclid(4)));
    let (left, top) = (x.div_euclid(4) - 1, y.div_euclid(4) - 1);
    let mut sum = 0.0;
    for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
        let value = f64::from(pixel(left + column, top + row));
        sum += across[column as usize] * down[row as usize] * value;
    }
    (sum + 0.5).floor().clamp(0.0, 255.0) as u8
}

/// A picture moved by quarters of a pixel.
fn moved(pixel: impl Fn(i64, i64) -> u8, by: [i64; 2], bilinear: bool) -> Luma {
    std::array::from_fn(|n| {
        let (x, y) = ((n % 16) as i64, (n / 16) as i64);
        between(&pixel, [4 * x + by[0], 4 * y + by[1]], bilinear)
    })
}

/// Fills a patch from a picture whose origin is the macroblock.
fn fill(pixel: impl Fn(i64, i64) -> u8, part: &Partition, patch: &mut Patch) {
    let ([x, y], [width, height]) = patch.area(part);
    assert!(width <= PATCH && height <= PATCH);
    for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
        patch.pixels[Patch::STRIDE * row + column] =
            pixel(i64::from(x) + column as i64, i64::from(y) + row as i64);
    }
}

/// All fractions, all partitions, both filters, random pixels.
#[test]
fn fractions() {
    let mut random = Random(7);
    let noise: Vec<u8> = (0..64 * 64).map(|_| random.next() as u8).collect();
    let pixel = |x: i64, y: i64| noise[((y + 24) * 64 + x + 24) as usize];
    for part in &ALL {
        for bilinear in [false, true] {
            let start = Vector { x: random.below(40) as i16 - 20, y: random.below(40) as i16 - 20 };
            let mut patch = Patch::around(start);
            fill(pixel, part, &mut patch);
            for _ in 0..12 {
                let [x, y] = [start.x, start.y].map(|n| n + random.below(7) as i16 - 3);
                let mut found = [0; 256];
                predict(&patch, Vector { x, y }, bilinear, part, &mut found);
                let expected = moved(pixel, [x.into(), y.into()], bilinear);
                let (left, top) = part.origin();
                let (width, height) = part.shape.size();
                for n in 0..256 {
                    let inside = (left..left + width).contains(&(n % 16))
                        && (top..top + height).contains(&(n / 16));
                    assert_eq!(found[n], if inside { expected[n] } else { 0 }, "{part:?} {x} {y}");
                }
            }
        }
    }
}

/// Oracle: ((64 - w) a + w b) / 64, rounded, in floating point.
#[test]
fn means() {
    let mut random = Random(8);
    for weight in [16, 21, 32, 43, 48, 0, 63] {
        let (first, second) = (random.luma(), random.luma());
        let mut found = [0; 256];
        blend(&first, &second, weight, &ALL[0], &mut found);
        for n in 0..256 {
            let (a, b, w) = (f64::from(first[n]), f64::from(second[n]), f64::from(weight) / 64.0);
            assert_eq!(f64::from(found[n]), ((1.0 - w) * a + w * b + 0.5).floor());
        }
    }
}

fn refined(source: &Luma, start: &Decision, how: &Refinement, other: [i64; 2]) -> Decision {
    let done: Result<_, Infallible> =
        refine(source, start, how, &FREE, |reference, part, patch| {
            let [dx, dy] = if reference == 0 { [0, 0] } else { other };
            fill(|x, y| picture(x + dx, y + dy), part, patch);
            Ok(())
        });
    done.unwrap()
}

/// A picture moved by a fraction has this vector and no distortion, in all large shapes, from the
/// nearest whole vector on. Half and integer modes find the nearest positions that they may use.
#[test]
fn moved_pictures() {
    for bilinear in [false, true] {
        for mode in 0..3 {
            for by in [[0, 0], [8, -12], [2, 0], [0, -2], [6, 2], [-1, 1], [1, 3], [3, 2]] {
                // In a small part, a half position far from the vector may look better.
                if mode > 0 && by.iter().any(|n| n % 2 != 0) {
                    continue;
                }
                let source = moved(picture, by, bilinear);
                let whole = by.map(|n| (4 * (n + 2).div_euclid(4)) as i16);
                let start = Decision {
                    mode,
                    vectors: [[Vector { x: whole[0], y: whole[1] }; 2]; 16],
                    ..Decision::default()
                };
                let how = Refinement { bilinear, ..REFINEMENT };
                let done = refined(&source, &start, &how, [0, 0]);
                let vector = Vector { x: by[0] as i16, y: by[1] as i16 };
                assert!(done.vectors.iter().all(|pair| pair[0] == vector), "{by:?} {mode}");
                assert_eq!(done.distortion, 0, "{by:?} {mode}");
                assert_eq!(done.vectors[0][1], start.vectors[0][1]);
                let integer = Refinement { half: false, quarter: false, ..how };
                assert_eq!(refined(&source, &start, &integer, [0, 0]).vectors, start.vectors);
                if by.iter().any(|n| n % 2 != 0) {
                    let half = Refinement { quarter: false, ..how };
                    let done = refined(&source, &start, &half, [0, 0]);
                    assert!(done.vectors[0][0].x % 2 == 0 && done.vectors[0][0].y % 2 == 0);
                    assert!(done.distortion > 0);
                }
            }
        }
    }
}

/// The mean of two references is chosen if it is better than either of them, and if masks and the
/// number of vectors allow it.
#[test]
fn both_references() {
    let (dx, dy) = (9, -14);
    let mut source = [0; 256];
    let second: Luma = std::array::from_fn(|n| picture((n % 16) as i64 + dx, (n / 16) as i64 + dy));
    blend(&moved(picture, [0, 0], false), &second, 21, &ALL[0], &mut source);
    let start = Decision::default();
    let both =
        Refinement { half: false, quarter: false, bidirectional: true, weight: 21, ..REFINEMENT };
    let done = refined(&source, &start, &both, [dx, dy]);
    assert_eq!((done.directions, done.distortion, done.count()), ([2; 4], 0, 2));
    for how in [
        Refinement { bidirectional: false, ..both },
        Refinement { no_bidirectional: 1, ..both },
        Refinement { vectors: 1, ..both },
        Refinement { weight: 48, ..both },
    ] {
        let done = refined(&source, &start, &how, [dx, dy]);
        assert!(done.distortion > 0);
        assert!(done.directions == [0; 4] || how.weight == 48);
    }
    let other = Refinement { no_bidirectional: 0b1110, ..both };
    assert_eq!(refined(&source, &start, &other, [dx, dy]).directions, [2; 4]);
    // Only the second of two halves has room for a second vector.
    let halves = Decision { mode: 1, ..start };
    let three = Refinement { vectors: 3, ..both };
    let done = refined(&source, &halves, &three, [dx, dy]);
    assert_eq!((done.directions, done.count()), ([2, 2, 0, 0], 3));
}

/// Costs of shapes, vectors and directions are added once for each part that has them.
#[test]
fn costs_of_refined_vectors() {
    let mut costs = FREE;
    costs.mode = std::array::from_fn(|n| 1 << n);
    costs.references = [1000, 2000];
    costs.vector = [100; 8];
    let source = moved(picture, [0, 0], false);
    let how = Refinement { half: false, quarter: false, ..REFINEMENT };
    for (mode, shapes, directions, expected) in [
        (0, [0; 4], [0; 4], 256 + 200 + 1000),
        (1, [0; 4], [0, 0, 1, 1], 16 + 400 + 512 + 3000),
        (2, [0; 4], [0; 4], 16 + 400 + 2000),
        (3, [0, 1, 2, 3], [0; 4], 32 + 64 + 64 + 128 + 9 * 200 + 4000),
    ] {
        let start = Decision { mode, shapes, directions, ..Decision::default() };
        let done: Result<_, Infallible> =
            refine(&source, &start, &how, &costs, |_, part, patch| {
                fill(picture, part, patch);
                Ok(())
            });
        assert_eq!(done.unwrap().distortion, expected, "{mode} {directions:?}");
    }
    // The mean of two references is better than each of them.
    let second = moved(picture, [12, 0], false);
    let mut mean = [0; 256];
    blend(&source, &second, 32, &ALL[0], &mut mean);
    costs.references = [10, 20];
    costs.vector = [1; 8];
    let both = Refinement { bidirectional: true, ..how };
    let done: Result<_, Infallible> =
        refine(&mean, &Decision::default(), &both, &costs, |reference, part, patch| {
            fill(|x, y| picture(x + 3 * reference as i64, y), part, patch);
            Ok(())
        });
    let done = done.unwrap();
    assert_eq!((done.directions, done.distortion), ([2; 4], 256 + 4 + 512 + 30));
}

fn checked(source: &Luma, skip: &Skip) -> crate::unit::vme::skip::Checked {
    let mut costs = FREE;
    costs.mode[8] = 70;
    costs.mode[5] = 11;
    costs.vector[0] = 3;
    let done: Result<_, Infallible> =
        check(source, skip, &REFINEMENT, &costs, |reference, part, patch| {
            let shift = if reference == 0 { 0 } else { 30 };
            fill(|x, y| picture(x + shift, y), part, patch);
            Ok(())
        });
    done.unwrap()
}

/// Skip vectors that predict the macroblock are a success; others are within a threshold or have
/// costs.
#[test]
fn skips() {
    let source = moved(picture, [5, -2], false);
    let at = |x: i16, y: i16| [Vector { x, y }; 2];
    let right = Skip {
        quads: false,
        centres: [at(5, -2); 4],
        enabled: 1,
        group: 16,
        success: 0,
        adds_mode: true,
        adds_vectors: true,
        thresholds: None,
        transform_8x8: false,
    };
    let done = checked(&source, &right);
    assert!(done.success);
    assert_eq!((done.raw, done.decision.distortion), (Some(0), 0));
    assert_eq!(done.decision.vectors[7][0], Vector { x: 5, y: -2 });
    let quads = Skip { quads: true, enabled: 0x55, ..right };
    assert_eq!(checked(&source, &quads).raw, Some(0));
    assert_eq!(checked(&source, &Skip { enabled: 0x15, ..quads }).raw, None);
    assert_eq!(checked(&source, &Skip { enabled: 0, ..right }).raw, None);

    let wrong = Skip { centres: [at(0, 0); 4], ..right };
    let other = moved(picture, [0, 0], false);
    let sum: u32 = (0..256).map(|n| u32::from(source[n].abs_diff(other[n]))).sum();
    let done = checked(&source, &wrong);
    assert_eq!((done.raw, done.success), (Some(sum), false));
    assert_eq!(done.decision.distortion, sum + 70 + 2 * 3);
    let plain = Skip { adds_mode: false, adds_vectors: false, ..wrong };
    assert_eq!(checked(&source, &plain).decision.distortion, sum);
    let done = checked(&source, &Skip { success: sum, ..wrong });
    assert_eq!((done.success, done.decision.distortion), (true, sum));
    assert!(!checked(&source, &Skip { success: sum - 1, ..wrong }).success);
    let both = Skip { quads: true, enabled: 0xff, ..wrong };
    let done = checked(&source, &both);
    assert_eq!((done.decision.directions, done.decision.mode), ([2; 4], 3));
    assert_eq!(done.decision.distortion, done.raw.unwrap() + 4 * 11 + 8 * 2 * 3);
}

/// Block-based checks compare the largest distortion of an 8x8 or 4x4 block, and costs count the
/// whole macroblock. Oracle: sums pixel by pixel, for the words of the OpenCL extension
/// cl_intel_device_side_avc_motion_estimation.
#[test]
fn skips_of_blocks() {
    let (source, other) = (moved(picture, [7, -9], false), moved(picture, [0, 0], false));
    let largest = |size: usize| -> u32 {
        let mut sums = [[0; 4]; 4];
        for n in 0..256 {
            sums[n / 16 / size][n % 16 / size] += u32::from(source[n].abs_diff(other[n]));
        }
        sums.into_iter().flatten().max().unwrap()
    };
    let whole = largest(16);
    assert!(largest(4) < largest(8) && 4 * largest(8) > whole);
    for quads in [false, true] {
        for (group, size) in [(16, 16), (4, 8), (1, 4)] {
            let skip = Skip {
                quads,
                centres: [[Vector::default(); 2]; 4],
                enabled: 0x55,
                group,
                success: largest(size),
                adds_mode: false,
                adds_vectors: false,
                thresholds: None,
                transform_8x8: false,
            };
            let done = checked(&source, &skip);
            assert_eq!((done.raw, done.success), (Some(largest(size)), true));
            assert_eq!(done.decision.distortion, whole);
            let parts: u32 = done.decision.parts.into_iter().map(u32::from).sum();
            assert_eq!(parts, whole);
            let done = checked(&source, &Skip { success: largest(size) - 1, ..skip });
            assert!(!done.success);
        }
    }
}

/// Oracle: the matrices of H.264's forward transforms in floating point. The integer transform of
/// 8x8 rounds, which changes coefficients by less than 4.
#[test]
fn forward_transforms() {
    let four = [
        [1.0, 1.0, 1.0, 1.0],
        [2.0, 1.0, -1.0, -2.0],
        [1.0, -1.0, -1.0, 1.0],
        [1.0, -2.0, 2.0, -1.0],
    ];
    let first = [
        [8.0, 8.0, 8.0, 8.0],
        [12.0, 10.0, 6.0, 3.0],
        [8.0, 4.0, -4.0, -8.0],
        [10.0, -3.0, -12.0, -6.0],
        [8.0, -8.0, -8.0, 8.0],
        [6.0, -12.0, 3.0, 10.0],
        [4.0, -8.0, 8.0, -4.0],
        [3.0, -6.0, 10.0, -12.0],
    ];
    // Odd rows are antisymmetric.
    let eight = |row: usize, n: usize| {
        let value = first[row][n.min(7 - n)] / 8.0;
        if n > 3 && row % 2 == 1 { -value } else { value }
    };
    let mut random = Random(9);
    for round in 0..60 {
        let whole = round % 2 == 1;
        let predicted = moved(picture, [0, 0], false);
        let source: Luma = predicted.map(|pixel| pixel.wrapping_add(random.below(9) as u8));
        let thresholds = std::array::from_fn(|n| 40 - 4 * n as u32);
        let skip = Skip {
            quads: false,
            centres: [[Vector::default(); 2]; 4],
            enabled: 1,
            group: 16,
            success: 0,
            adds_mode: false,
            adds_vectors: false,
            thresholds: Some(thresholds),
            transform_8x8: whole,
        };
        let done = checked(&source, &skip);
        for quad in 0..4 {
            let size = if whole { 8 } else { 4 };
            let (mut least, mut most, mut sum) = (0, 0, 0.0);
            for (v, u) in (0..8).flat_map(|v| (0..8).map(move |u| (v, u))) {
                let (left, top) =
                    (8 * (quad % 2) + u / size * size, 8 * (quad / 2) + v / size * size);
                let mut value = 0.0;
                for (y, x) in (0..size).flat_map(|y| (0..size).map(move |x| (y, x))) {
                    let n = 16 * (top + y) + left + x;
                    let difference = f64::from(source[n]) - f64::from(predicted[n]);
                    let (a, b) = match whole {
                        true => (eight(u % size, x), eight(v % size, y)),
                        false => (four[u % size][x], four[v % size][y]),
                    };
                    value += a * b * difference;
                }
                let slack = if whole { 4.0 } else { 0.0 };
                let beyond = value.abs() - f64::from(thresholds[(u % size + v % size).min(6)]);
                least += u8::from(beyond > slack);
                most += u8::from(beyond > -slack);
                sum += beyond.max(0.0);
            }
            assert!((least..=most).contains(&done.count[quad]), "{whole}");
            let slack = if whole { 64.0 * 4.0 } else { 0.0 };
            assert!((f64::from(done.sum[quad]) - sum).abs() <= slack, "{whole}");
        }
    }
}
