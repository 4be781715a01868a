//! Scaling of levels and the inverse transforms (8.5).
//!
//! A level times an entry of [`LevelScale`] gives a coefficient: [`coefficient_4x4`] and
//! [`coefficient_8x8`]. Blocks of coefficients are in raster order. [`add_4x4`] and [`add_8x8`]
//! transform them and add the result to the prediction.

use super::Matrices;

/// Raster position of each coefficient of a 4x4 block, in the order of field macroblocks (8.5.6).
pub const FIELD_4X4: [u8; 16] = [0, 4, 1, 8, 12, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

/// Raster position of each coefficient of an 8x8 block, in the order of field macroblocks (8.5.7).
#[rustfmt::skip]
pub const FIELD_8X8: [u8; 64] = [
     0,  8, 16,  1,  9, 24, 32, 17,  2, 25, 40, 48, 56, 33, 10,  3,
    18, 41, 49, 57, 26, 11,  4, 19, 34, 42, 50, 58, 27, 12,  5, 20,
    35, 43, 51, 59, 28, 13,  6, 21, 36, 44, 52, 60, 29, 14, 22, 37,
    45, 53, 61, 30,  7, 15, 38, 46, 54, 62, 23, 31, 39, 47, 55, 63,
];

/// Index in an 8x8 block, in coding order, of coefficient `index` of its 4x4 block `block` (0..4).
/// With CAVLC an 8x8 block is coded as four blocks of 16 coefficients (7.3.5.3.2).
#[inline]
pub fn interleaved(block: usize, index: usize) -> usize {
    4 * index + block
}

/// Table 8-15: QPC for qPI of 30 and more. Below, both are the same.
#[rustfmt::skip]
const CHROMA_QP: [u8; 22] = [
    29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39,
];

/// Quantiser of a chroma plane for a luma quantiser of 0..=51 (8.5.8). `offset` is
/// chroma_qp_index_offset of the plane, -12..=12. The result is 0..=39.
#[inline]
pub fn chroma_qp(luma_qp: u8, offset: i8) -> u8 {
    let index = (i32::from(luma_qp) + i32::from(offset)).clamp(0, 51) as u8;
    if index < 30 { index } else { CHROMA_QP[usize::from(index - 30)] }
}

/// normAdjust4x4 for qP % 6, by class of position: both coordinates even, both odd, other (8.5.9).
pub(super) const NORM_4X4: [[u8; 3]; 6] =
    [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];

/// normAdjust8x8 for qP % 6, by class of position (8.5.9).
#[rustfmt::skip]
pub(super) const NORM_8X8: [[u8; 6]; 6] = [
    [20, 18, 32, 19, 25, 24],
    [22, 19, 35, 21, 28, 26],
    [26, 23, 42, 24, 33, 31],
    [28, 25, 45, 26, 35, 33],
    [32, 28, 51, 30, 40, 38],
    [36, 32, 58, 34, 46, 43],
];

/// Column of [`NORM_8X8`] for row % 4 and column % 4 of a position.
pub(super) const CLASS_8X8: [[u8; 4]; 4] = [[0, 3, 4, 3], [3, 1, 5, 1], [4, 5, 2, 5], [3, 1, 5, 1]];

/// LevelScale4x4 and LevelScale8x8 (8.5.9) for all quantisers, each times 2^(qP / 6). With that
/// factor in the table, scaling is the same for all quantisers: a product, then a fixed shift with
/// rounding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelScale {
    /// By list (Y, Cb, Cr of intra, then of inter macroblocks) and quantiser. Raster order.
    four: Vec<[[i32; 16]; 52]>,
    /// By list (intra, inter; luma only) and quantiser. Raster order.
    eight: Vec<[[i32; 64]; 52]>,
}

impl LevelScale {
    /// The tables for the scaling matrices of a picture.
    pub fn new(matrices: &Matrices) -> Self {
        let four = matrices.intra_4x4.iter().chain(&matrices.inter_4x4);
        let eight = [&matrices.intra_8x8, &matrices.inter_8x8];
        LevelScale {
            four: four.map(scale_4x4).collect(),
            eight: eight.into_iter().map(scale_8x8).collect(),
        }
    }

    /// The factors of a 4x4 block, in raster order. `inter`: the macroblock is not intra. `plane`:
    /// 0 Y, 1 Cb, 2 Cr. `qp`: quantiser of the plane, 0..=51.
    #[inline]
    pub fn four(&self, inter: bool, plane: usize, qp: u8) -> &[i32; 16] {
        &self.four[3 * usize::from(inter) + plane.min(2)][usize::from(qp.min(51))]
    }

    /// The factors of an 8x8 luma block, in raster order. `inter`: the macroblock is not intra.
    /// `qp`: quantiser of luma, 0..=51.
    #[inline]
    pub fn eight(&self, inter: bool, qp: u8) -> &[i32; 64] {
        &self.eight[usize::from(inter)][usize::from(qp.min(51))]
    }
}

fn scale_4x4(weights: &[u8; 16]) -> [[i32; 16]; 52] {
    std::array::from_fn(|qp| {
        std::array::from_fn(|at| {
            let class = match (at / 4 % 2, at % 2) {
                (0, 0) => 0,
                (1, 1) => 1,
                _ => 2,
            };
            (i32::from(weights[at]) * i32::from(NORM_4X4[qp % 6][class])) << (qp / 6)
        })
    })
}

fn scale_8x8(weights: &[u8; 64]) -> [[i32; 64]; 52] {
    std::array::from_fn(|qp| {
        std::array::from_fn(|at| {
            let class = CLASS_8X8[at / 8 % 4][at % 4];
            (i32::from(weights[at]) * i32::from(NORM_8X8[qp % 6][usize::from(class)])) << (qp / 6)
        })
    })
}

/// Coefficients of valid streams have 16 bits (8.5.12.1, 8.5.13.1).
#[inline]
fn clip16(value: i32) -> i16 {
    value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// Scales a level of a 4x4 block (8.5.12.1). `scale`: the entry of [`LevelScale::four`] at the
/// level's raster position. The DC coefficients of Intra16x16 and of chroma are scaled by
/// [`luma_dc`] and [`chroma_dc`] instead.
#[inline]
pub fn coefficient_4x4(level: i32, scale: i32) -> i16 {
    clip16(level.saturating_mul(scale).saturating_add(8) >> 4)
}

/// Scales a level of an 8x8 block (8.5.13.1). `scale`: the entry of [`LevelScale::eight`] at the
/// level's raster position.
#[inline]
pub fn coefficient_8x8(level: i32, scale: i32) -> i16 {
    clip16(level.saturating_mul(scale).saturating_add(32) >> 6)
}

/// Transforms and scales the DC levels of an Intra16x16 macroblock (8.5.10). `levels`: in raster
/// order, after the inverse 4x4 scan. `scale`: entry 0 of [`LevelScale::four`] for intra luma. The
/// result is the DC coefficient of each 4x4 block, blocks in raster order.
pub fn luma_dc(levels: &[i32; 16], scale: i32) -> [i16; 16] {
    let mut rows = levels.map(|level| level.clamp(-(1 << 20), 1 << 20));
    for row in rows.as_chunks_mut::<4>().0 {
        *row = hadamard(*row);
    }
    let mut out = [0; 16];
    for column in 0..4 {
        let values = hadamard(std::array::from_fn(|row| rows[4 * row + column]));
        for (row, value) in values.into_iter().enumerate() {
            out[4 * row + column] = clip16(value.saturating_mul(scale).saturating_add(32) >> 6);
        }
    }
    out
}

pub(super) fn hadamard([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    let (sum, rest, difference, middle) = (a + b, c + d, a - b, c - d);
    [sum + rest, sum - rest, difference - middle, difference + middle]
}

/// Transforms and scales the DC levels of a chroma plane (8.5.11). `levels`: blocks 0..4 in coding
/// order, that is raster order. `scale`: entry 0 of [`LevelScale::four`] for the plane. The result
/// is the DC coefficient of each block.
pub fn chroma_dc(levels: [i32; 4], scale: i32) -> [i16; 4] {
    let [a, b, c, d] = levels.map(|level| level.clamp(-(1 << 20), 1 << 20));
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
        .map(|value| clip16(value.saturating_mul(scale) >> 5))
}

/// Adds `residual` to a sample and clips the sum to eight bits.
#[inline]
fn add(sample: &mut u8, residual: i32) {
    *sample = (i32::from(*sample) + residual).clamp(0, 255) as u8;
}

/// Transforms a 4x4 block of coefficients, in raster order, and adds it to the block at the start
/// of `dst` (8.5.12.2). Does nothing for rows that `dst` does not hold.
pub fn add_4x4(coefficients: &[i16; 16], dst: &mut [u8], stride: usize) {
    // Rows of coefficients are transformed first, then columns. Vectors go across the block, so
    // the first pass works on columns of the block.
    let c: [[i32; 4]; 4] =
        std::array::from_fn(|x| std::array::from_fn(|y| i32::from(coefficients[4 * y + x])));
    let rows = transpose(transform_4(c));
    let block = transform_4(rows);
    for (row, residual) in dst.chunks_mut(stride.max(1)).zip(&block) {
        for (sample, residual) in row.iter_mut().zip(residual) {
            add(sample, (residual + 32) >> 6);
        }
    }
}

/// The one-dimensional transform across the vectors of `c`, lane by lane (8.5.12.2).
#[inline]
fn transform_4(c: [[i32; 4]; 4]) -> [[i32; 4]; 4] {
    let mut out = [[0; 4]; 4];
    for lane in 0..4 {
        let e = c[0][lane] + c[2][lane];
        let f = c[0][lane] - c[2][lane];
        let g = (c[1][lane] >> 1) - c[3][lane];
        let h = c[1][lane] + (c[3][lane] >> 1);
        out[0][lane] = e + h;
        out[1][lane] = f + g;
        out[2][lane] = f - g;
        out[3][lane] = e - h;
    }
    out
}

#[inline]
fn transpose<const N: usize>(block: [[i32; N]; N]) -> [[i32; N]; N] {
    let mut out = [[0; N]; N];
    for (y, row) in block.iter().enumerate() {
        for (x, value) in row.iter().enumerate() {
            out[x][y] = *value;
        }
    }
    out
}

/// As [`add_4x4`] for a block whose only coefficient is `dc`.
pub fn add_4x4_dc(dc: i16, dst: &mut [u8], stride: usize) {
    add_dc::<4>(dc, dst, stride);
}

/// Transforms an 8x8 block of coefficients, in raster order, and adds it to the block at the start
/// of `dst` (8.5.13.2). Does nothing for rows that `dst` does not hold.
pub fn add_8x8(coefficients: &[i16; 64], dst: &mut [u8], stride: usize) {
    let mut c = [[0; 8]; 8];
    for (y, row) in coefficients.as_chunks::<8>().0.iter().enumerate() {
        for (x, value) in row.iter().enumerate() {
            c[x][y] = i32::from(*value);
        }
    }
    let rows = transpose(transform_8(&c));
    let block = transform_8(&rows);
    for (row, residual) in dst.chunks_mut(stride.max(1)).zip(&block) {
        for (sample, residual) in row.iter_mut().zip(residual) {
            add(sample, (residual + 32) >> 6);
        }
    }
}

/// The one-dimensional transform across the vectors of `c`, lane by lane (8.5.13.2).
#[inline]
fn transform_8(c: &[[i32; 8]; 8]) -> [[i32; 8]; 8] {
    let mut out = [[0; 8]; 8];
    for lane in 0..8 {
        let [c0, c1, c2, c3] = [c[0][lane], c[1][lane], c[2][lane], c[3][lane]];
        let [c4, c5, c6, c7] = [c[4][lane], c[5][lane], c[6][lane], c[7][lane]];
        let (a0, a2) = (c0 + c4, c0 - c4);
        let (a4, a6) = ((c2 >> 1) - c6, c2 + (c6 >> 1));
        let (even0, even1, even2, even3) = (a0 + a6, a2 + a4, a2 - a4, a0 - a6);
        let a1 = c5 - c3 - c7 - (c7 >> 1);
        let a3 = c1 + c7 - c3 - (c3 >> 1);
        let a5 = c7 - c1 + c5 + (c5 >> 1);
        let a7 = c3 + c5 + c1 + (c1 >> 1);
        let (odd0, odd1) = (a7 - (a1 >> 2), (a3 >> 2) - a5);
        let (odd2, odd3) = (a3 + (a5 >> 2), a1 + (a7 >> 2));
        out[0][lane] = even0 + odd0;
        out[1][lane] = even1 + odd1;
        out[2][lane] = even2 + odd2;
        out[3][lane] = even3 + odd3;
        out[4][lane] = even3 - odd3;
        out[5][lane] = even2 - odd2;
        out[6][lane] = even1 - odd1;
        out[7][lane] = even0 - odd0;
    }
    out
}

/// As [`add_8x8`] for a block whose only coefficient is `dc`.
pub fn add_8x8_dc(dc: i16, dst: &mut [u8], stride: usize) {
    add_dc::<8>(dc, dst, stride);
}

fn add_dc<const N: usize>(dc: i16, dst: &mut [u8], stride: usize) {
    let residual = (i32::from(dc) + 32) >> 6;
    for row in dst.chunks_mut(stride.max(1)).take(N) {
        for sample in row.iter_mut().take(N) {
            add(sample, residual);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Basis of the 4x4 transform, times 2: row k is the waveform of coefficient k.
    const BASIS_4: [[i32; 4]; 4] = [[2, 2, 2, 2], [2, 1, -1, -2], [2, -2, -2, 2], [1, -2, 2, -1]];

    /// Basis of the 8x8 transform, times 8.
    const BASIS_8: [[i32; 8]; 8] = [
        [8, 8, 8, 8, 8, 8, 8, 8],
        [12, 10, 6, 3, -3, -6, -10, -12],
        [8, 4, -4, -8, -8, -4, 4, 8],
        [10, -3, -12, -6, 6, 12, 3, -10],
        [8, -8, -8, 8, 8, -8, -8, 8],
        [6, -12, 3, 10, -10, -3, 12, -6],
        [4, -8, 8, -4, -4, 8, -8, 4],
        [3, -6, 10, -12, 12, -10, 6, -3],
    ];

    /// The sum of the waveforms of all coefficients, as a real number.
    fn residual<const N: usize>(
        basis: &[[i32; N]; N],
        unit: i32,
        coefficients: &[i16],
        (x, y): (usize, usize),
    ) -> f64 {
        let sum: i64 = (0..N * N)
            .map(|at| {
                i64::from(basis[at / N][y])
                    * i64::from(basis[at % N][x])
                    * i64::from(coefficients[at])
            })
            .sum();
        sum as f64 / f64::from(unit * unit)
    }

    /// Checks `add` against the sum of waveforms. It is exact if the coefficients are multiples of
    /// `unit` squared, since no shift loses bits then.
    fn check<const N: usize>(
        basis: &[[i32; N]; N],
        unit: i32,
        add: impl Fn(&[i16], &mut [u8], usize),
    ) {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..4000 {
            let exact = round % 2 == 0;
            let step = if exact { unit * unit } else { 1 };
            let range = [8, 300, 2000, 32767][round / 2 % 4] / step;
            let coefficients: Vec<i16> = (0..N * N)
                .map(|_| if random.bool() { 0 } else { random.i32(-range..=range) * step })
                .map(|value| value as i16)
                .collect();
            let stride = N + random.usize(0..4);
            let before: Vec<u8> = (0..N * stride).map(|_| random.u8(..)).collect();
            let mut after = before.clone();
            add(&coefficients, &mut after, stride);
            for at in 0..N * stride {
                let (x, y) = (at % stride, at / stride);
                if x >= N {
                    assert_eq!(after[at], before[at]);
                    continue;
                }
                let residual = residual(basis, unit, &coefficients, (x, y));
                let want = f64::from(before[at]) + (residual / 64.0 + 0.5).floor();
                let difference = (want.clamp(0.0, 255.0) - f64::from(after[at])).abs();
                assert!(difference <= if exact { 0.0 } else { 1.0 }, "({x}, {y}) in {round}");
            }
        }
    }

    /// Oracle: the sum of waveforms.
    #[test]
    fn transforms_are_sums_of_waveforms() {
        check(&BASIS_4, 2, |block, dst, stride| add_4x4(block.try_into().unwrap(), dst, stride));
        check(&BASIS_8, 8, |block, dst, stride| add_8x8(block.try_into().unwrap(), dst, stride));
    }

    /// Oracle: the transform without the shortcut.
    #[test]
    fn dc_alone_is_the_whole_transform() {
        for dc in (i16::MIN..=i16::MAX).step_by(7) {
            let (mut four, mut eight) = ([0; 16], [0; 64]);
            (four[0], eight[0]) = (dc, dc);
            let (mut want, mut got) = ([100; 72], [100; 72]);
            add_4x4(&four, &mut want, 9);
            add_4x4_dc(dc, &mut got, 9);
            assert_eq!(got, want, "4x4 {dc}");
            let (mut want, mut got) = ([100; 72], [100; 72]);
            add_8x8(&eight, &mut want, 9);
            add_8x8_dc(dc, &mut got, 9);
            assert_eq!(got, want, "8x8 {dc}");
        }
    }

    fn random_matrices(random: &mut fastrand::Rng) -> Matrices {
        let mut matrices = Matrices::default();
        let four = matrices.intra_4x4.iter_mut().chain(&mut matrices.inter_4x4).flatten();
        let eight = matrices.intra_8x8.iter_mut().chain(&mut matrices.inter_8x8);
        four.chain(eight).for_each(|weight| *weight = random.u8(1..));
        matrices
    }

    /// Oracle: the equations of 8.5.12.1 and 8.5.13.1, with the level scales of 8.5.9.
    #[test]
    fn levels_scale_as_the_equations_state() {
        let mut random = fastrand::Rng::with_seed(2);
        let matrices = random_matrices(&mut random);
        let scale = LevelScale::new(&matrices);
        // A level scaled by a factor and the quantiser, where `flat` is the quantiser from which on
        // no bits are lost.
        let scaled = |level: i32, factor: i32, qp: i32, flat: i32| {
            if qp >= flat {
                (level * factor) << (qp / 6 - flat / 6)
            } else {
                (level * factor + (1 << (flat / 6 - 1 - qp / 6))) >> (flat / 6 - qp / 6)
            }
        };
        for _ in 0..20000 {
            let (inter, qp, level) = (random.bool(), random.i32(0..=51), random.i32(-40..=40));
            let (plane, at) = (random.usize(0..3), random.usize(0..16));
            let weights = if inter { &matrices.inter_4x4 } else { &matrices.intra_4x4 };
            let norm = NORM_4X4[qp as usize % 6].map(i32::from);
            let norm = match (at / 4, at % 4) {
                (0 | 2, 0 | 2) => norm[0],
                (1 | 3, 1 | 3) => norm[1],
                _ => norm[2],
            };
            let want = scaled(level, i32::from(weights[plane][at]) * norm, qp, 24);
            let got = coefficient_4x4(level, scale.four(inter, plane, qp as u8)[at]);
            assert_eq!(i32::from(got), want.clamp(-32768, 32767));

            let at = random.usize(0..64);
            let weights = if inter { &matrices.inter_8x8 } else { &matrices.intra_8x8 };
            let norm = NORM_8X8[qp as usize % 6].map(i32::from);
            let norm = match (at / 8, at % 8) {
                (i, j) if i % 4 == 0 && j % 4 == 0 => norm[0],
                (i, j) if i % 2 == 1 && j % 2 == 1 => norm[1],
                (i, j) if i % 4 == 2 && j % 4 == 2 => norm[2],
                (i, j) if i % 4 == 0 && j % 2 == 1 || i % 2 == 1 && j % 4 == 0 => norm[3],
                (i, j) if i % 4 == 0 && j % 4 == 2 || i % 4 == 2 && j % 4 == 0 => norm[4],
                _ => norm[5],
            };
            let want = scaled(level, i32::from(weights[at]) * norm, qp, 36);
            let got = coefficient_8x8(level, scale.eight(inter, qp as u8)[at]);
            assert_eq!(i32::from(got), want.clamp(-32768, 32767));
        }
    }

    /// Oracle: the matrix products of 8.5.10 and 8.5.11.1 and the scaling after them.
    #[test]
    fn dc_transforms_are_matrix_products() {
        const HADAMARD: [[i32; 4]; 4] =
            [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, -1, 1], [1, -1, 1, -1]];
        let mut random = fastrand::Rng::with_seed(3);
        let matrices = random_matrices(&mut random);
        let scale = LevelScale::new(&matrices);
        for _ in 0..5000 {
            let qp = random.i32(0..=51);
            let factor = i32::from(NORM_4X4[qp as usize % 6][0]);
            let levels: [i32; 16] = std::array::from_fn(|_| random.i32(-9..=9));
            let f: [i32; 16] = std::array::from_fn(|at| {
                (0..16).map(|k| HADAMARD[at / 4][k / 4] * levels[k] * HADAMARD[k % 4][at % 4]).sum()
            });
            let luma = factor * i32::from(matrices.intra_4x4[0][0]);
            let want = f.map(|f| {
                let value = if qp >= 36 {
                    (f * luma) << (qp / 6 - 6)
                } else {
                    (f * luma + (1 << (5 - qp / 6))) >> (6 - qp / 6)
                };
                value.clamp(-32768, 32767) as i16
            });
            assert_eq!(luma_dc(&levels, scale.four(false, 0, qp as u8)[0]), want);

            let [a, b, c, d] = *levels.first_chunk().unwrap();
            let f = [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d];
            let chroma = factor * i32::from(matrices.inter_4x4[2][0]);
            let want = f.map(|f| (((f * chroma) << (qp / 6)) >> 5).clamp(-32768, 32767) as i16);
            assert_eq!(chroma_dc([a, b, c, d], scale.four(true, 2, qp as u8)[0]), want);
        }
    }

    /// Levels of any size give no overflow.
    #[test]
    fn extreme_levels_saturate() {
        let scale = (i32::from(u8::MAX) * 58) << 8;
        for level in [i32::MIN, -70000, 70000, i32::MAX] {
            let bound = if level < 0 { i16::MIN } else { i16::MAX };
            assert_eq!(coefficient_4x4(level, scale), bound);
            assert_eq!(coefficient_8x8(level, scale), bound);
            assert_eq!(luma_dc(&[level; 16], scale)[0], bound);
            assert_eq!(chroma_dc([level; 4], scale)[0], bound);
            add_4x4(&[bound; 16], &mut [0; 16], 4);
            add_8x8(&[bound; 64], &mut [0; 64], 8);
            add_8x8(&[bound; 64], &mut [0; 3], 0);
        }
    }

    #[test]
    fn scans_of_fields_visit_each_position() {
        for scan in [&FIELD_4X4[..], &FIELD_8X8[..]] {
            let mut sorted = scan.to_vec();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..scan.len() as u8));
        }
        let places: Vec<usize> =
            (0..4).flat_map(|b| [interleaved(b, 0), interleaved(b, 15)]).collect();
        assert_eq!(places, [0, 60, 1, 61, 2, 62, 3, 63]);
    }

    /// Oracle: table 8-15.
    #[test]
    fn chroma_quantisers_follow_the_table() {
        let got: Vec<u8> = (28..=51).step_by(3).map(|qp| chroma_qp(qp, 0)).collect();
        assert_eq!(got, [28, 30, 32, 34, 36, 37, 38, 39]);
        assert_eq!([chroma_qp(3, -12), chroma_qp(51, 12), chroma_qp(20, 12)], [0, 39, 31]);
    }
}
