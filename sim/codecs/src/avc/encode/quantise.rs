//! The forward transforms and the quantiser.
//!
//! The standard defines only the inverse. The forward transform has its transposed matrices, and
//! the factor of a coefficient is the inverse of all that decoding multiplies it by: normAdjust and
//! the energies of the two rows of the transform.

use crate::avc::syntax::Levels;
use crate::avc::transform::{CLASS_8X8, NORM_4X4, NORM_8X8, hadamard};

/// The matrices of the forward quantiser in raster order: 65536 divided by the elements of the
/// scaling matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// 4x4 blocks of intra macroblocks: Y, Cb, Cr.
    pub intra_4x4: [[u16; 16]; 3],
    /// 4x4 blocks of inter macroblocks: Y, Cb, Cr.
    pub inter_4x4: [[u16; 16]; 3],
    /// 8x8 blocks of luma of intra macroblocks.
    pub intra_8x8: [u16; 64],
    /// 8x8 blocks of luma of inter macroblocks.
    pub inter_8x8: [u16; 64],
}

impl Default for Forward {
    /// Flat matrices.
    fn default() -> Self {
        Forward {
            intra_4x4: [[4096; 16]; 3],
            inter_4x4: [[4096; 16]; 3],
            intra_8x8: [4096; 64],
            inter_8x8: [4096; 64],
        }
    }
}

/// What is added before a quotient is cut to an integer, in units of 1/65536. 32768 rounds to the
/// nearest level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounding {
    /// In intra macroblocks.
    pub intra: u32,
    /// In inter macroblocks.
    pub inter: u32,
}

/// Fraction bits of the factors for quantisers below 6; one more for each 6 quantisers.
const FRACTION: u32 = 15 + 12;

/// Scalar products of the rows of the forward and of the inverse 4x4 transform, for even and odd
/// rows.
const ENERGY_4: [f64; 2] = [4.0, 5.0];
/// The same of the 8x8 transform, times 64: for rows 0 and 4, odd rows, rows 2 and 6.
const ENERGY_8: [f64; 3] = [512.0, 578.0, 320.0];

/// The factors of the forward quantiser, times those of its matrices.
#[derive(Clone, Debug)]
pub(super) struct Quantiser {
    /// By list (Y, Cb, Cr of intra, then of inter macroblocks) and quantiser % 6.
    four: Vec<[[u32; 16]; 6]>,
    /// By list (intra, inter) and quantiser % 6.
    eight: Vec<[[u32; 64]; 6]>,
}

impl Quantiser {
    pub fn new(forward: &Forward) -> Self {
        let four = forward.intra_4x4.iter().chain(&forward.inter_4x4);
        let eight = [&forward.intra_8x8, &forward.inter_8x8];
        let norm_4 = |rest: usize, at: usize| {
            let (row, column) = (at / 4 % 2, at % 2);
            let class = [[0, 2], [2, 1]][row][column];
            let energy = ENERGY_4[row] * ENERGY_4[column];
            (f64::from(1 << 21) / (f64::from(NORM_4X4[rest][class]) * energy)).round() as u32
        };
        let norm_8 = |rest: usize, at: usize| {
            let (row, column) = (at / 8, at % 8);
            let class = usize::from(CLASS_8X8[row % 4][column % 4]);
            let energy = |index: usize| ENERGY_8[[0, 1, 2, 1][index % 4]];
            let energy = energy(row) * energy(column);
            (f64::from(1 << 18) * 262_144.0 / (f64::from(NORM_8X8[rest][class]) * energy)).round()
                as u32
        };
        let scaled = |norm: u32, matrix: u16| norm * u32::from(matrix);
        Quantiser {
            four: four
                .map(|matrix| {
                    std::array::from_fn(|rest| {
                        std::array::from_fn(|at| scaled(norm_4(rest, at), matrix[at]))
                    })
                })
                .collect(),
            eight: eight
                .into_iter()
                .map(|matrix| {
                    std::array::from_fn(|rest| {
                        std::array::from_fn(|at| scaled(norm_8(rest, at), matrix[at]))
                    })
                })
                .collect(),
        }
    }

    /// The factors of a 4x4 block in raster order. Parameters as for
    /// [`crate::avc::transform::LevelScale::four`].
    pub fn four(&self, inter: bool, plane: usize, qp: u8) -> &[u32; 16] {
        &self.four[3 * usize::from(inter) + plane.min(2)][usize::from(qp % 6)]
    }

    /// The factors of an 8x8 luma block in raster order.
    pub fn eight(&self, inter: bool, qp: u8) -> &[u32; 64] {
        &self.eight[usize::from(inter)][usize::from(qp % 6)]
    }
}

/// How coefficients of a block become levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    shift: u32,
    round: u64,
    limit: u64,
}

impl Step {
    /// For quantiser `qp` and blocks that have `extra` more bits than 4x4 blocks: 1 for DC and 8x8
    /// blocks. `rounding`: in 1/65536. `limit`: largest absolute level.
    pub fn new(qp: u8, extra: u32, rounding: u32, limit: u32) -> Self {
        let shift = FRACTION + u32::from(qp / 6) + extra;
        Step { shift, round: u64::from(rounding) << (shift - 16), limit: limit.into() }
    }

    /// The level of a coefficient.
    #[inline]
    fn level(self, coefficient: i32, factor: u32) -> i32 {
        let product = u64::from(coefficient.unsigned_abs()) * u64::from(factor);
        let level = ((product + self.round) >> self.shift).min(self.limit) as i32;
        if coefficient < 0 { -level } else { level }
    }

    /// The levels of the coefficients that `scan` has in coding order, the first of them at
    /// position 0. `scan` has raster positions.
    pub fn levels<const N: usize>(
        self,
        coefficients: &[i32; N],
        factors: &[u32; N],
        scan: &[u8],
        levels: &mut Levels,
    ) {
        levels.count = 0;
        for (position, &at) in scan.iter().enumerate() {
            let at = usize::from(at) % N;
            let level = self.level(coefficients[at], factors[at]);
            if level != 0 {
                levels.push(position, level);
            }
        }
    }

    /// The levels of DC coefficients, which all have factor `factor`.
    pub fn dc_levels(self, values: &[i32], scan: &[u8], factor: u32, levels: &mut Levels) {
        levels.count = 0;
        for (position, &at) in scan.iter().enumerate() {
            let level = self.level(values.get(usize::from(at)).copied().unwrap_or(0), factor);
            if level != 0 {
                levels.push(position, level);
            }
        }
    }
}

/// The forward 4x4 transform of a block in raster order.
pub(super) fn transform_4x4(block: &[i32; 16]) -> [i32; 16] {
    let pass = |block: &[i32; 16]| -> [i32; 16] {
        let mut out = [0; 16];
        for lane in 0..4 {
            let [a, b, c, d] = std::array::from_fn(|at| block[4 * lane + at]);
            let (outer, inner, wide, narrow) = (a + d, b + c, a - d, b - c);
            // Transposed, so that two passes transform rows and columns.
            out[lane] = outer + inner;
            out[lane + 4] = 2 * wide + narrow;
            out[lane + 8] = outer - inner;
            out[lane + 12] = wide - 2 * narrow;
        }
        out
    };
    pass(&pass(block))
}

/// The forward 8x8 transform of a block in raster order.
pub(super) fn transform_8x8(block: &[i32; 64]) -> [i32; 64] {
    let pass = |block: &[i32; 64]| -> [i32; 64] {
        let mut out = [0; 64];
        for lane in 0..8 {
            let row: [i32; 8] = std::array::from_fn(|at| block[8 * lane + at]);
            let sum: [i32; 4] = std::array::from_fn(|at| row[at] + row[7 - at]);
            let rest: [i32; 4] = std::array::from_fn(|at| row[at] - row[7 - at]);
            let (a0, a1) = (sum[0] + sum[3], sum[1] + sum[2]);
            let (a2, a3) = (sum[0] - sum[3], sum[1] - sum[2]);
            let half = |value: i32| value + (value >> 1);
            let a4 = rest[1] + rest[2] + half(rest[0]);
            let a5 = rest[0] - rest[3] - half(rest[2]);
            let a6 = rest[0] + rest[3] - half(rest[1]);
            let a7 = rest[1] - rest[2] + half(rest[3]);
            let values = [
                a0 + a1,
                a4 + (a7 >> 2),
                a2 + (a3 >> 1),
                a5 + (a6 >> 2),
                a0 - a1,
                a6 - (a5 >> 2),
                (a2 >> 1) - a3,
                (a4 >> 2) - a7,
            ];
            for (at, value) in values.into_iter().enumerate() {
                out[8 * at + lane] = value;
            }
        }
        out
    };
    pass(&pass(block))
}

/// The forward transform of the DC coefficients of `Intra_16x16`, in raster order.
pub(super) fn luma_dc(values: &[i32; 16]) -> [i32; 16] {
    let mut rows = *values;
    for row in rows.as_chunks_mut::<4>().0 {
        *row = hadamard(*row);
    }
    let mut out = [0; 16];
    for column in 0..4 {
        let values = hadamard(std::array::from_fn(|row| rows[4 * row + column]));
        for (row, value) in values.into_iter().enumerate() {
            out[4 * row + column] = (value + 1) >> 1;
        }
    }
    out
}

/// The forward transform of the DC coefficients of a chroma plane.
pub(super) fn chroma_dc([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avc::Matrices;
    use crate::avc::transform::{
        LevelScale, add_4x4, add_8x8, chroma_dc as inverse_chroma_dc, coefficient_4x4,
        coefficient_8x8, luma_dc as inverse_luma_dc,
    };

    const SCAN: [u8; 64] = {
        let mut scan = [0; 64];
        let mut at = 0;
        while at < 64 {
            scan[at] = at as u8;
            at += 1;
        }
        scan
    };

    /// Matrices with random elements, and those of the forward quantiser.
    fn matrices(random: &mut fastrand::Rng) -> (Matrices, Forward) {
        let mut matrices = Matrices::default();
        let mut element = || random.u8(8..80);
        let lists = [&mut matrices.intra_4x4, &mut matrices.inter_4x4];
        lists.into_iter().flatten().flatten().for_each(|entry| *entry = element());
        matrices.intra_8x8 = std::array::from_fn(|_| element());
        matrices.inter_8x8 = std::array::from_fn(|_| element());
        let inverse = |entry: u8| (65536 / u32::from(entry)) as u16;
        let forward = Forward {
            intra_4x4: matrices.intra_4x4.map(|matrix| matrix.map(inverse)),
            inter_4x4: matrices.inter_4x4.map(|matrix| matrix.map(inverse)),
            intra_8x8: matrices.intra_8x8.map(inverse),
            inter_8x8: matrices.inter_8x8.map(inverse),
        };
        (matrices, forward)
    }

    /// Largest error of a sample that steps of the quantisers explain: each of the coefficients is
    /// off by at most half a step. At the smallest quantisers, roundings add to it.
    fn bound(step: f64) -> f64 {
        1.5 + step
    }

    /// Oracle: the decoder's scaling and inverse transform give the block back, up to the step of
    /// the quantiser (its size at QP 4 is 1 and doubles with each 6).
    #[test]
    fn levels_decode_to_the_block() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..3000 {
            let (matrices, forward) = matrices(&mut random);
            let quantiser = Quantiser::new(&forward);
            let scale = LevelScale::new(&matrices);
            let qp = random.u8(0..30);
            let inter = random.bool();
            let step = 2f64.powf((f64::from(qp) - 4.0) / 6.0);
            let smooth = random.bool();
            let base = random.i32(-80..80);
            let mut sample = || if smooth { base } else { random.i32(-127..=127) };
            let block: [i32; 64] = std::array::from_fn(|_| sample());
            let mut levels = Levels::new();
            let check = |out: &[u8], want: &[i32], largest: u8| {
                // Of one block; `largest` is the largest element of the matrix.
                let limit = bound(step * f64::from(largest) / 16.0 * 4.0);
                for (&got, &want) in out.iter().zip(want) {
                    let error = (f64::from(got) - 128.0 - f64::from(want)).abs();
                    assert!(error <= limit, "{error} > {limit} at QP {qp}");
                }
            };

            let small: [i32; 16] = std::array::from_fn(|at| block[at]);
            let coefficients = transform_4x4(&small);
            Step::new(qp, 0, 32768, 1 << 20).levels(
                &coefficients,
                quantiser.four(inter, 0, qp),
                &SCAN[..16],
                &mut levels,
            );
            let mut decoded = [0; 16];
            for (at, level) in levels.iter() {
                decoded[at] = coefficient_4x4(level, scale.four(inter, 0, qp)[at]);
            }
            let mut out = [128; 16];
            add_4x4(&decoded, &mut out, 4);
            check(&out, &small, 80);

            let coefficients = transform_8x8(&block);
            Step::new(qp, 1, 32768, 1 << 20).levels(
                &coefficients,
                quantiser.eight(inter, qp),
                &SCAN,
                &mut levels,
            );
            let mut decoded = [0; 64];
            for (at, level) in levels.iter() {
                decoded[at] = coefficient_8x8(level, scale.eight(inter, qp)[at]);
            }
            let mut out = [128; 64];
            add_8x8(&decoded, &mut out, 8);
            check(&out, &block, 80);
        }
    }

    /// Oracle: the decoder's transform of DC coefficients gives back 64 times the mean of a block,
    /// as its 4x4 transform needs it; the forward one has 16 times the mean.
    #[test]
    fn dc_levels_decode_to_the_means() {
        let mut random = fastrand::Rng::with_seed(2);
        let quantiser = Quantiser::new(&Forward::default());
        let scale = LevelScale::new(&Matrices::default());
        for _ in 0..1000 {
            let qp = random.u8(0..30);
            let step = 2f64.powf((f64::from(qp) - 4.0) / 6.0);
            let means: [i32; 16] = std::array::from_fn(|_| random.i32(-127..=127));
            let limit = 64.0 * bound(step);
            let mut levels = Levels::new();
            let dc = luma_dc(&means.map(|mean| 16 * mean));
            let factor = quantiser.four(false, 0, qp)[0];
            Step::new(qp, 1, 32768, 1 << 20).dc_levels(&dc, &SCAN[..16], factor, &mut levels);
            let mut values = [0; 16];
            levels.iter().for_each(|(at, level)| values[at] = level);
            let decoded = inverse_luma_dc(&values, scale.four(false, 0, qp)[0]);
            for (got, want) in decoded.into_iter().zip(means) {
                assert!((f64::from(got) - 64.0 * f64::from(want)).abs() <= limit);
            }
            let means: [i32; 4] = std::array::from_fn(|at| means[at]);
            let dc = chroma_dc(means.map(|mean| 16 * mean));
            Step::new(qp, 1, 32768, 1 << 20).dc_levels(&dc, &SCAN[..4], factor, &mut levels);
            let mut values = [0; 4];
            levels.iter().for_each(|(at, level)| values[at] = level);
            let decoded = inverse_chroma_dc(values, scale.four(false, 1, qp)[0]);
            for (got, want) in decoded.into_iter().zip(means) {
                assert!((f64::from(got) - 64.0 * f64::from(want)).abs() <= limit);
            }
        }
    }
}
