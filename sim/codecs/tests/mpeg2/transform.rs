//! The inverse transform and the inverse quantisation against their definitions.

use super::encoder::{Macroblock, SliceWriter};
use crate::bits::BitWriter;
use fastrand::Rng;
use genxml_codecs::Frame;
use genxml_codecs::mpeg2::{
    Motion, Parameters, Picture, PictureType, Reference, References, Slice, Structure, idct, tables,
};
use genxml_codecs::zigzag::ZIGZAG_8X8;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// C(u) / 2 times the cosine of annex A, by u and x.
fn cosines() -> [[f64; 8]; 8] {
    std::array::from_fn(|u| {
        let factor = if u == 0 { FRAC_1_SQRT_2 } else { 1.0 };
        std::array::from_fn(|x| factor / 2.0 * ((2 * x + 1) as f64 * u as f64 * PI / 16.0).cos())
    })
}

/// The inverse transform as annex A defines it, not rounded.
fn by_definition(coefficients: &[i16; 64], cosines: &[[f64; 8]; 8]) -> [f64; 64] {
    std::array::from_fn(|at| {
        let (x, y) = (at % 8, at / 8);
        let term = |(at, &value): (usize, &i16)| {
            f64::from(value) * cosines[at % 8][x] * cosines[at / 8][y]
        };
        coefficients.iter().enumerate().filter(|(_, value)| **value != 0).map(term).sum()
    })
}

/// Asserts that `samples` are `exact` rounded. Exact halves go up; nearer to a half than the
/// rounding errors of doubles both are right.
fn assert_rounded(samples: &[i16; 64], exact: &[f64; 64]) {
    for (at, (&sample, exact)) in samples.iter().zip(exact).enumerate() {
        let near_half = ((exact - exact.floor()) - 0.5).abs() < 1e-7;
        let distance = (f64::from(sample) - exact).abs();
        assert!(distance <= if near_half { 0.5 + 1e-7 } else { 0.5 }, "{at}: {sample} of {exact}");
    }
}

/// Oracle: the definition of annex A in doubles, as a sum of 64 terms.
#[test]
fn transform_is_the_rounded_exact_one() {
    let cosines = cosines();
    let mut random = Rng::with_seed(7);
    for round in 0..4000 {
        let mut coefficients = [0; 64];
        let largest = [2047, 300, 20, 3][round % 4];
        for _ in 0..1 << random.u8(0..7) {
            coefficients[random.usize(0..64)] = random.i16(-largest - 1..=largest);
        }
        let samples = idct::inverse(&coefficients, 0xff);
        assert_rounded(&samples, &by_definition(&coefficients, &cosines));
    }
}

/// Oracle: sums that are exact in integers. They are coefficients 0 and 4, whose basis is 1 and -1
/// times the square root of an eighth, and a pair of irrational terms with an integer sum.
#[test]
fn halves_round_up() {
    let sign = |u: usize, x: usize| if u == 4 && matches!(x % 4, 1 | 2) { -1 } else { 1 };
    let mut random = Rng::with_seed(8);
    for _ in 0..2000 {
        let mut coefficients = [0; 64];
        for at in [0, 4, 32, 36] {
            coefficients[at] = if random.bool() { random.i16(-40..=40) } else { 0 };
        }
        let samples = idct::inverse(&coefficients, 0xff);
        for (at, sample) in samples.into_iter().enumerate() {
            let sum: i16 = [0, 4, 32, 36]
                .map(|from: usize| {
                    coefficients[from] * sign(from % 8, at % 8) * sign(from / 8, at / 8)
                })
                .iter()
                .sum();
            assert_eq!(sample, (sum + 4).div_euclid(8), "{coefficients:?} {at}");
        }
    }
    // cos(pi/8) squared plus cos(3 pi/8) squared is 1: a quarter of the coefficients.
    let mut coefficients = [0; 64];
    (coefficients[18], coefficients[54]) = (2, 2);
    let samples = idct::inverse(&coefficients, 0xff);
    assert_eq!((samples[0], samples[3], samples[63]), (1, 0, 1), "a half is 1, minus a half is 0");
}

/// The random numbers of IEEE 1180: integers in -low..=high.
struct Ieee(u32);

impl Ieee {
    fn next(&mut self, low: i32, high: i32) -> i16 {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let unit = f64::from(self.0 & 0x7fff_fffe) / f64::from(0x7fff_ffff);
        ((unit * f64::from(low + high + 1)) as i32 - low) as i16
    }
}

/// The product of `basis` and `block` and the transposed basis: a separable transform.
fn separable(basis: impl Fn(usize, usize) -> f64, block: &[f64; 64]) -> [f64; 64] {
    let once = |block: &[f64; 64]| -> [f64; 64] {
        std::array::from_fn(|at| {
            (0..8).map(|k| basis(at % 8, k) * block[8 * k + at / 8]).sum::<f64>()
        })
    };
    once(&once(block))
}

/// Oracle: the statistics of IEEE 1180-1990 against a transform in doubles.
#[test]
fn transform_meets_ieee_1180() {
    let cosines = cosines();
    const BLOCKS: i32 = 10_000;
    for (low, high) in [(256, 255), (5, 5), (300, 300)] {
        for sign in [1, -1] {
            let mut random = Ieee(1);
            let (mut squares, mut sums) = ([0i64; 64], [0i64; 64]);
            for _ in 0..BLOCKS {
                let block: [f64; 64] =
                    std::array::from_fn(|_| f64::from(sign * random.next(low, high)));
                let coefficients = separable(|u, x| cosines[u][x], &block)
                    .map(|value| (value + 0.5).floor().clamp(-2048.0, 2047.0));
                let reference = separable(|x, u| cosines[u][x], &coefficients)
                    .map(|value| (value + 0.5).floor().clamp(-256.0, 255.0) as i64);
                let ours = idct::inverse(&coefficients.map(|value| value as i16), 0xff)
                    .map(|value| i64::from(value.clamp(-256, 255)));
                for at in 0..64 {
                    let error = ours[at] - reference[at];
                    assert!(error.abs() <= 1);
                    squares[at] += error * error;
                    sums[at] += error;
                }
            }
            let mean = |sum: i64, count: i32| sum as f64 / f64::from(count);
            for at in 0..64 {
                assert!(mean(squares[at], BLOCKS) <= 0.06 && mean(sums[at], BLOCKS).abs() <= 0.015);
            }
            assert!(mean(squares.iter().sum(), 64 * BLOCKS) <= 0.02);
            assert!(mean(sums.iter().sum::<i64>(), 64 * BLOCKS).abs() <= 0.0015);
        }
    }
    assert_eq!(idct::inverse(&[0; 64], 0), [0; 64]);
}

/// Parameters of a picture of one macroblock.
fn one_macroblock(random: &mut Rng, picture_type: PictureType) -> Parameters {
    Parameters {
        width: 1,
        height: 1,
        picture_type,
        structure: Structure::Frame,
        f_codes: [[1; 2]; 2],
        intra_dc_precision: random.u8(0..4),
        top_field_first: false,
        frame_pred_frame_dct: true,
        concealment_vectors: false,
        nonlinear_quantiser: random.bool(),
        intra_vlc_format: random.bool(),
        alternate_scan: random.bool(),
        mismatch_control: random.u8(0..4) > 0,
        conceal: false,
        intra_matrix: std::array::from_fn(|_| random.u8(1..)),
        non_intra_matrix: std::array::from_fn(|_| random.u8(1..)),
    }
}

/// Inverse quantisation as clause 7.4 has it.
fn dequantise(parameters: &Parameters, intra: bool, code: u8, qf: &[i32; 64]) -> [i16; 64] {
    let scale = match parameters.nonlinear_quantiser {
        false => 2 * i32::from(code),
        true => i32::from(tables::NONLINEAR_QUANTISER_SCALE[usize::from(code)]),
    };
    let mut out = [0; 64];
    for at in 0..64 {
        let weight =
            if intra { parameters.intra_matrix[at] } else { parameters.non_intra_matrix[at] };
        let k = if intra { 0 } else { qf[at].signum() };
        out[at] = match (intra, at) {
            (true, 0) => [8, 4, 2, 1][usize::from(parameters.intra_dc_precision)] * qf[0],
            _ => (2 * qf[at] + k) * i32::from(weight) * scale / 32,
        }
        .clamp(-2048, 2047);
    }
    if parameters.mismatch_control && out.iter().sum::<i32>() % 2 == 0 {
        out[63] += if out[63] % 2 != 0 { -1 } else { 1 };
    }
    out.map(|value| value as i16)
}

/// Oracle: clauses 7.3 and 7.4 as formulas, and the transform by its definition. Weights, scales
/// and levels cover all of their ranges, so that coefficients saturate.
#[test]
fn residuals_follow_the_formulas() {
    let cosines = cosines();
    let mut random = Rng::with_seed(9);
    let mut saturated = 0;
    for round in 0..600 {
        let intra = round % 2 == 0;
        let kind = if intra { PictureType::I } else { PictureType::P };
        let parameters = one_macroblock(&mut random, kind);
        let scan = if parameters.alternate_scan { tables::ALTERNATE } else { ZIGZAG_8X8 };
        let code = random.u8(1..=31);
        let mut macroblock = Macroblock {
            kind: if intra { tables::INTRA } else { tables::PATTERN },
            field_dct: false,
            quantiser_scale_code: code,
            motion: Motion::default(),
            differential: [0; 2],
            pattern: 63,
            dc: std::array::from_fn(|_| random.i32(0..256 << parameters.intra_dc_precision)),
            levels: Default::default(),
        };
        let mut expected = Vec::new();
        for block in 0..6 {
            let mut qf = [0; 64];
            let mut run = 0;
            let density = random.u8(2..60);
            for (number, at) in scan.into_iter().enumerate() {
                let at = usize::from(at);
                if intra && number == 0 {
                    qf[0] = macroblock.dc[block];
                } else if random.u8(0..density) == 0 || !intra && number == 0 {
                    let largest = [2047, 40, 2][random.usize(0..3)];
                    let level = random.i32(1..=largest) * if random.bool() { 1 } else { -1 };
                    macroblock.levels[block].push((run, level));
                    (qf[at], run) = (level, 0);
                } else {
                    run += 1;
                }
            }
            let coefficients = dequantise(&parameters, intra, code, &qf);
            saturated += coefficients.iter().filter(|value| value.abs() >= 2047).count();
            expected.push(by_definition(&coefficients, &cosines));
        }
        let mut writer = BitWriter::default();
        SliceWriter::new(&mut writer, &parameters, (0, 0), code, &[])
            .macroblock(&mut writer, &macroblock);
        // Start code, quantiser_scale_code and extra_bit_slice are 38 bits.
        let slice = Slice { row: 0, quantiser_scale_code: code, bit_offset: 38 };
        let grey = Frame::new(16, 16, (2, 2), 100);
        let references =
            References { forward: [Reference::Frame(&grey); 2], ..References::default() };
        let mut target = Frame::new(16, 16, (2, 2), 0);
        let mut picture = Picture::new(parameters).unwrap();
        picture.slice(&slice, &writer.bytes, &references, &mut target);
        assert_eq!(picture.finish(&references, &mut target).errors, 0);
        let prediction = if intra { 0.0 } else { 100.0 };
        for (block, expected) in expected.iter().enumerate() {
            let plane = &target.planes[block.saturating_sub(3)];
            let (x, y) = if block < 4 { (8 * (block % 2), 8 * (block / 2)) } else { (0, 0) };
            for (at, exact) in expected.iter().enumerate() {
                let sample = f64::from(plane.data[(y + at / 8) * plane.width + x + at % 8]);
                let exact = (exact + prediction).clamp(0.0, 255.0);
                assert!(
                    (sample - exact).abs() <= 0.5 + 1e-7,
                    "block {block} {at}: {sample} {exact}"
                );
            }
        }
    }
    assert!(saturated > 100);
}
