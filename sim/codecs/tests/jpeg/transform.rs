//! The inverse transform.

use genxml_codecs::jpeg::idct;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The transform of T.81 A.3.3, with the level shift, before rounding.
pub fn definition(coefficients: &[f64; 64]) -> [f64; 64] {
    let cosine = |x: usize, u: usize| ((2 * x + 1) as f64 * u as f64 * PI / 16.0).cos();
    let factor = |u: usize| if u == 0 { FRAC_1_SQRT_2 } else { 1.0 };
    let mut table = [[0.0; 8]; 8];
    for (x, row) in table.iter_mut().enumerate() {
        for (u, entry) in row.iter_mut().enumerate() {
            *entry = factor(u) * cosine(x, u);
        }
    }
    let mut samples = [0.0; 64];
    for (at, sample) in samples.iter_mut().enumerate() {
        let (x, y) = (at % 8, at / 8);
        let mut sum = 0.0;
        for (index, coefficient) in coefficients.iter().enumerate() {
            sum += coefficient * table[x][index % 8] * table[y][index / 8];
        }
        *sample = sum / 4.0 + 128.0;
    }
    samples
}

/// Rounds a sample of the definition. A value halfway between two integers is rounded down.
pub fn round(value: f64) -> u8 {
    (value + 0.5 - 1e-8).floor().clamp(0.0, 255.0) as u8
}

/// Oracle: the definition, in double precision.
#[test]
fn samples_are_those_of_the_definition() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..5000 {
        let mut coefficients = [0.0; 64];
        let (count, scale) = (random.usize(0..=64), 1 << random.u32(0..11));
        for _ in 0..count {
            coefficients[random.usize(0..64)] = f64::from(random.i32(-scale..=scale));
        }
        let want = definition(&coefficients).map(round);
        assert_eq!(idct::samples(&coefficients, 0xff), want, "{coefficients:?}");
    }
}

/// Oracle: the definition. Results of coefficients at 0 and 4 are multiples of one eighth, many
/// of them halfway between two integers.
#[test]
fn halves_are_rounded_down() {
    for dc in -1100..1100_i32 {
        let mut coefficients = [0.0; 64];
        coefficients[0] = f64::from(dc);
        let want = (dc + 1024 + 3).div_euclid(8).clamp(0, 255) as u8;
        assert_eq!(idct::samples(&coefficients, 0xff), [want; 64]);
        assert_eq!(idct::flat(coefficients[0]), want);
        coefficients[4] = 4.0;
        coefficients[32] = f64::from(dc % 16);
        coefficients[36] = 1.0;
        assert_eq!(idct::samples(&coefficients, 0xff), definition(&coefficients).map(round));
    }
}

/// Coefficients of damaged data saturate.
#[test]
fn large_coefficients_saturate() {
    for value in [f64::from(i32::MAX) * 255.0, f64::from(i32::MIN) * 255.0] {
        let samples = idct::samples(&[value; 64], 0xff);
        assert!(samples.contains(&0) && samples.contains(&255));
    }
}
