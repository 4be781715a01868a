//! Distortions: sums of absolute differences of 4x4 blocks, plain or after a Haar transform.

use super::geometry::{BLOCKS, Luma};
use crate::assumptions::HAAR_SUMS_ARE_SHIFTED_BY;

/// How differences are transformed before their absolute values are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transform {
    /// Not at all.
    Plain,
    /// Two levels of a Haar transform.
    Haar {
        /// The coefficient of the mean is not added.
        ac_only: bool,
    },
}

/// Distortions of the 4x4 blocks of a macroblock.
pub type Distortions = [u16; BLOCKS];

/// Distortions between a macroblock and the 16x16 pixels at the start of `other`, whose rows are
/// `stride` bytes apart.
#[inline]
pub fn distortions(
    transform: Transform,
    source: &Luma,
    other: &[u8],
    stride: usize,
) -> Distortions {
    match transform {
        Transform::Plain => each_band(source, other, stride, plain),
        Transform::Haar { ac_only: false } => each_band(source, other, stride, haar::<false>),
        Transform::Haar { ac_only: true } => each_band(source, other, stride, haar::<true>),
    }
}

/// Four rows of a macroblock.
type Band = [[u8; 16]; 4];

/// Calls `band` for each four rows, and puts the results into the order of 4x4 blocks.
#[inline(always)]
fn each_band(
    source: &Luma,
    other: &[u8],
    stride: usize,
    band: impl Fn(&Band, &Band) -> [u16; 4],
) -> Distortions {
    let mut out = [0; BLOCKS];
    for n in 0..4 {
        let (mut ours, mut theirs) = ([[0; 16]; 4], [[0; 16]; 4]);
        for row in 0..4 {
            ours[row].copy_from_slice(&source[16 * (4 * n + row)..][..16]);
            theirs[row].copy_from_slice(&other[stride * (4 * n + row)..][..16]);
        }
        let [a, b, c, d] = band(&ours, &theirs);
        let first = 8 * (n / 2) + 2 * (n % 2);
        (out[first], out[first + 1]) = (a, b);
        (out[first + 4], out[first + 5]) = (c, d);
    }
    out
}

#[inline(always)]
fn plain(ours: &Band, theirs: &Band) -> [u16; 4] {
    let mut columns = [0u16; 16];
    for (ours, theirs) in ours.iter().zip(theirs) {
        for n in 0..16 {
            columns[n] += u16::from(ours[n].abs_diff(theirs[n]));
        }
    }
    std::array::from_fn(|block| columns[4 * block..][..4].iter().sum())
}

/// Both levels of the transform halve the sums of four values. The sums here are not halved: the
/// coefficients of the first level count twice instead.
#[inline(always)]
fn haar<const AC_ONLY: bool>(ours: &Band, theirs: &Band) -> [u16; 4] {
    let mut rows = [[0i16; 16]; 4];
    for row in 0..4 {
        for n in 0..16 {
            rows[row][n] = i16::from(ours[row][n]) - i16::from(theirs[row][n]);
        }
    }
    let mut first = [0u16; 8];
    let mut low = [[0i16; 8]; 2];
    for half in 0..2 {
        let (above, below) = (&rows[2 * half], &rows[2 * half + 1]);
        for n in 0..8 {
            let (a, b) = (above[2 * n], above[2 * n + 1]);
            let (c, d) = (below[2 * n], below[2 * n + 1]);
            low[half][n] = a + b + c + d;
            first[n] += (a - b + c - d).unsigned_abs()
                + (a + b - c - d).unsigned_abs()
                + (a - b - c + d).unsigned_abs();
        }
    }
    std::array::from_fn(|block| {
        let n = 2 * block;
        let (a, b, c, d) = (low[0][n], low[0][n + 1], low[1][n], low[1][n + 1]);
        let mean = if AC_ONLY { 0 } else { (a + b + c + d).unsigned_abs() };
        let second = (a - b + c - d).unsigned_abs()
            + (a + b - c - d).unsigned_abs()
            + (a - b - c + d).unsigned_abs();
        (2 * (first[n] + first[n + 1]) + mean + second) >> (2 + HAAR_SUMS_ARE_SHIFTED_BY)
    })
}
