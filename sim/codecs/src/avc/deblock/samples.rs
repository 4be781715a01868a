//! The filter of samples across an edge (8.7.2.2 to 8.7.2.4).
//!
//! All samples along an edge are filtered at once: the lanes of arrays that compilers vectorise.
//! Lanes beyond the samples of the edge have no filter.

use super::super::SliceFilter;

/// Strengths of the filter along an edge, 0 (no filter) to 4. A macroblock edge has 4 at all
/// positions or at no position.
pub(super) type Strengths = [u8; 4];

/// Samples along an edge: 16 of luma, or 8 of each chroma plane.
const LANES: usize = 16;

/// An edge in a plane.
pub(super) struct Edge {
    pub vertical: bool,
    /// Offset of the first sample after the edge.
    pub at: usize,
    /// Distance from a row to the next one.
    pub row: usize,
    /// Samples along the edge.
    pub count: usize,
    pub strengths: Strengths,
}

impl Edge {
    /// The part of a plane from the first one of `reach` samples before the edge on. `None` if
    /// `plane` does not hold all samples.
    fn window<'a>(&self, plane: &'a mut [u8], reach: usize) -> Option<&'a mut [u8]> {
        let (across, along) = if self.vertical { (1, self.row) } else { (self.row, 1) };
        let start = self.at.checked_sub(reach * across)?;
        let length = (2 * reach - 1) * across + (self.count - 1) * along + 1;
        plane.get_mut(start..start + length)
    }

    fn strong(&self) -> bool {
        self.strengths[0] == 4
    }

    /// Sets tC0 of the lanes from `first` on.
    #[inline]
    fn clips(&self, clip: &mut [i16; LANES], first: usize, thresholds: &Thresholds) {
        let count = self.count / 4;
        for (k, strength) in self.strengths.iter().enumerate() {
            if let Some(lanes) = clip.get_mut(first + k * count..first + (k + 1) * count) {
                lanes.fill(thresholds.clip[usize::from(strength & 3)]);
            }
        }
    }
}

/// Table 8-16: alpha for indexA of 16 and more. Below it is 0.
#[rustfmt::skip]
pub const ALPHA: [u8; 36] = [
    4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36,
    40, 45, 50, 56, 63, 71, 80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255,
];

/// Table 8-16: beta for indexB of 16 and more. Below it is 0.
#[rustfmt::skip]
pub const BETA: [u8; 36] = [
    2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9,
    10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18,
];

/// Table 8-17: tC0 for bS of 1, 2 and 3, for indexA of 16 and more.
#[rustfmt::skip]
pub const CLIP: [[u8; 3]; 36] = [
    [0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 1, 1],
    [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2], [1, 1, 2], [1, 1, 2], [1, 2, 3],
    [1, 2, 3], [2, 2, 3], [2, 2, 4], [2, 3, 4], [2, 3, 4], [3, 3, 5], [3, 4, 6], [3, 4, 6],
    [4, 5, 7], [4, 5, 8], [4, 6, 9], [5, 7, 10], [6, 8, 11], [6, 8, 13], [7, 10, 14], [8, 11, 16],
    [9, 12, 18], [10, 13, 20], [11, 15, 23], [13, 17, 25],
];

/// Thresholds of an edge (8.7.2.2). The default filters nothing.
#[derive(Default)]
pub(super) struct Thresholds {
    alpha: i16,
    beta: i16,
    /// tC0 by strength; -1 for no filter.
    clip: [i16; 4],
}

impl Thresholds {
    /// The thresholds for the mean quantiser `qp`. `None` if nothing is filtered.
    pub fn new(qp: u8, slice: &SliceFilter) -> Option<Self> {
        let index = |offset: i8| (i32::from(qp) + i32::from(offset)).clamp(0, 51) as usize;
        let a = index(slice.alpha).checked_sub(16)?;
        let b = index(slice.beta).checked_sub(16)?;
        let [one, two, three] = CLIP[a].map(i16::from);
        Some(Thresholds {
            alpha: ALPHA[a].into(),
            beta: BETA[b].into(),
            clip: [-1, one, two, three],
        })
    }
}

/// Filters luma along an edge.
pub(super) fn luma(plane: &mut [u8], edge: &Edge, thresholds: &Thresholds) {
    let Some(data) = edge.window(plane, 4) else { return };
    let mut samples = [[0; LANES]; 8];
    if edge.vertical {
        let mut rows = [[0; 8]; LANES];
        for (lane, row) in rows.iter_mut().enumerate().take(edge.count) {
            *row = load(data, lane * edge.row);
        }
        samples = columns(&rows);
    } else {
        for (row, samples) in samples.iter_mut().enumerate() {
            *samples = load(data, row * edge.row);
        }
    }
    if edge.strong() {
        strong_luma(&mut samples, thresholds);
    } else {
        let mut clip = [-1; LANES];
        edge.clips(&mut clip, 0, thresholds);
        weak_luma(&mut samples, &clip, thresholds);
    }
    if edge.vertical {
        for (lane, row) in rows(&samples).into_iter().enumerate().take(edge.count) {
            store(data, lane * edge.row, row);
        }
    } else {
        // The outer samples do not change.
        for (row, samples) in samples.into_iter().enumerate().take(7).skip(1) {
            store(data, row * edge.row, samples);
        }
    }
}

/// Filters Cb and Cr along an edge.
pub(super) fn chroma(planes: [&mut [u8]; 2], edge: &Edge, thresholds: &[Thresholds; 2]) {
    let [cb, cr] = planes;
    let (Some(cb), Some(cr)) = (edge.window(cb, 2), edge.window(cr, 2)) else { return };
    let mut samples = [[0; LANES]; 4];
    if edge.vertical {
        let mut rows = [[0; 8]; 8];
        for (lane, row) in rows.iter_mut().enumerate().take(edge.count) {
            let at = lane * edge.row;
            *row = join::<4, 8>(load(cb, at), load(cr, at));
        }
        transpose(&mut rows);
        for k in 0..4 {
            samples[k] = join(rows[k], rows[k + 4]);
        }
    } else {
        for (row, samples) in samples.iter_mut().enumerate() {
            let at = row * edge.row;
            *samples = join::<8, 16>(load(cb, at), load(cr, at));
        }
    }
    let mut lanes = [[-1; LANES], [0; LANES], [0; LANES]];
    let [clip, alpha, beta] = &mut lanes;
    for (half, thresholds) in thresholds.iter().enumerate() {
        edge.clips(clip, 8 * half, thresholds);
        alpha[8 * half..][..8].fill(thresholds.alpha);
        beta[8 * half..][..8].fill(thresholds.beta);
    }
    chroma_samples(&mut samples, edge.strong(), &lanes);
    if edge.vertical {
        let mut rows = [[0; 8]; 8];
        for (k, samples) in samples.iter().enumerate() {
            (rows[k], rows[k + 4]) = split(samples);
        }
        transpose(&mut rows);
        for (lane, row) in rows.iter().enumerate().take(edge.count) {
            let (to_cb, to_cr) = split::<4, 8>(row);
            store(cb, lane * edge.row, to_cb);
            store(cr, lane * edge.row, to_cr);
        }
    } else {
        for (row, samples) in samples.iter().enumerate().take(3).skip(1) {
            let (to_cb, to_cr) = split::<8, 16>(samples);
            store(cb, row * edge.row, to_cb);
            store(cr, row * edge.row, to_cr);
        }
    }
}

/// `N` samples of `data` from `at` on.
#[inline(always)]
fn load<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    data.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// Sets samples of `data` from `at` on.
#[inline(always)]
fn store<const N: usize>(data: &mut [u8], at: usize, samples: [u8; N]) {
    if let Some(data) = data.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *data = samples;
    }
}

#[inline(always)]
fn join<const N: usize, const TWICE: usize>(a: [u8; N], b: [u8; N]) -> [u8; TWICE] {
    let mut out = [0; TWICE];
    out[..N].copy_from_slice(&a);
    out[N..].copy_from_slice(&b);
    out
}

#[inline(always)]
fn split<const N: usize, const TWICE: usize>(row: &[u8; TWICE]) -> ([u8; N], [u8; N]) {
    (load(row, 0), load(row, N))
}

/// The columns of 16 rows.
#[inline]
fn columns(rows: &[[u8; 8]; 16]) -> [[u8; 16]; 8] {
    let (mut upper, mut lower): ([_; 8], [_; 8]) = ([[0; 8]; 8], [[0; 8]; 8]);
    upper.copy_from_slice(&rows[..8]);
    lower.copy_from_slice(&rows[8..]);
    transpose(&mut upper);
    transpose(&mut lower);
    let mut out = [[0; 16]; 8];
    for k in 0..8 {
        out[k] = join(upper[k], lower[k]);
    }
    out
}

/// The rows of 16 that have these columns.
#[inline]
fn rows(columns: &[[u8; 16]; 8]) -> [[u8; 8]; 16] {
    let (mut upper, mut lower) = ([[0; 8]; 8], [[0; 8]; 8]);
    for k in 0..8 {
        (upper[k], lower[k]) = split(&columns[k]);
    }
    transpose(&mut upper);
    transpose(&mut lower);
    let mut out = [[0; 8]; 16];
    out[..8].copy_from_slice(&upper);
    out[8..].copy_from_slice(&lower);
    out
}

/// Exchanges rows and columns: blocks of 4x4 first, then of 2x2 in these, then single samples.
#[inline]
fn transpose(rows: &mut [[u8; 8]; 8]) {
    let mut words = [0; 8];
    for k in 0..8 {
        words[k] = u64::from_le_bytes(rows[k]);
    }
    const STEPS: [(usize, u64); 3] =
        [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)];
    for (distance, mask) in STEPS {
        for first in 0..4 {
            let a = first / distance * 2 * distance + first % distance;
            let b = a + distance;
            let difference = (words[a] >> (8 * distance) ^ words[b]) & mask;
            words[a] ^= difference << (8 * distance);
            words[b] ^= difference;
        }
    }
    for k in 0..8 {
        rows[k] = words[k].to_le_bytes();
    }
}

/// Limits `value` to -`limit`..=`limit`. A negative limit gives any value.
#[inline(always)]
fn limited(value: i16, limit: i16) -> i16 {
    value.max(-limit).min(limit)
}

/// Luma with a strength below 4 (8.7.2.3).
#[inline]
fn weak_luma(samples: &mut [[u8; LANES]; 8], clip: &[i16; LANES], thresholds: &Thresholds) {
    let (alpha, beta) = (thresholds.alpha, thresholds.beta);
    let [_, s_p2, s_p1, s_p0, s_q0, s_q1, s_q2, _] = samples;
    for lane in 0..LANES {
        let [p2, p1, p0] = [s_p2[lane], s_p1[lane], s_p0[lane]].map(i16::from);
        let [q0, q1, q2] = [s_q0[lane], s_q1[lane], s_q2[lane]].map(i16::from);
        let clip = clip[lane];
        let on = (clip >= 0)
            & ((p0 - q0).abs() < alpha)
            & ((p1 - p0).abs() < beta)
            & ((q1 - q0).abs() < beta);
        let (near_p, near_q) = ((p2 - p0).abs() < beta, (q2 - q0).abs() < beta);
        let limit = clip + i16::from(near_p) + i16::from(near_q);
        let delta = limited((4 * (q0 - p0) + (p1 - q1) + 4) >> 3, limit);
        let delta = if on { delta } else { 0 };
        s_p0[lane] = (p0 + delta).clamp(0, 255) as u8;
        s_q0[lane] = (q0 - delta).clamp(0, 255) as u8;
        let middle = (p0 + q0 + 1) >> 1;
        let delta = limited((p2 + middle - 2 * p1) >> 1, clip);
        s_p1[lane] = (p1 + if on & near_p { delta } else { 0 }) as u8;
        let delta = limited((q2 + middle - 2 * q1) >> 1, clip);
        s_q1[lane] = (q1 + if on & near_q { delta } else { 0 }) as u8;
    }
}

/// Luma with a strength of 4 (8.7.2.4).
#[inline]
fn strong_luma(samples: &mut [[u8; LANES]; 8], thresholds: &Thresholds) {
    let (alpha, beta) = (thresholds.alpha, thresholds.beta);
    let [s_p3, s_p2, s_p1, s_p0, s_q0, s_q1, s_q2, s_q3] = samples;
    for lane in 0..LANES {
        let [p3, p2, p1, p0] = [s_p3[lane], s_p2[lane], s_p1[lane], s_p0[lane]].map(i16::from);
        let [q3, q2, q1, q0] = [s_q3[lane], s_q2[lane], s_q1[lane], s_q0[lane]].map(i16::from);
        let step = (p0 - q0).abs();
        let on = (step < alpha) & ((p1 - p0).abs() < beta) & ((q1 - q0).abs() < beta);
        let small = on & (step < (alpha >> 2) + 2);
        let (near_p, near_q) = (small & ((p2 - p0).abs() < beta), small & ((q2 - q0).abs() < beta));
        let [new_p0, new_p1, new_p2] = smooth([p3, p2, p1, p0, q0, q1]);
        let [new_q0, new_q1, new_q2] = smooth([q3, q2, q1, q0, p0, p1]);
        let one_p = (2 * p1 + p0 + q1 + 2) >> 2;
        let one_q = (2 * q1 + q0 + p1 + 2) >> 2;
        s_p0[lane] = select(near_p, new_p0, select(on, one_p, p0)) as u8;
        s_p1[lane] = select(near_p, new_p1, p1) as u8;
        s_p2[lane] = select(near_p, new_p2, p2) as u8;
        s_q0[lane] = select(near_q, new_q0, select(on, one_q, q0)) as u8;
        s_q1[lane] = select(near_q, new_q1, q1) as u8;
        s_q2[lane] = select(near_q, new_q2, q2) as u8;
    }
}

#[inline(always)]
fn select(condition: bool, yes: i16, no: i16) -> i16 {
    if condition { yes } else { no }
}

/// The strong filter of one side: new samples 0, 1 and 2.
#[inline(always)]
fn smooth([p3, p2, p1, p0, q0, q1]: [i16; 6]) -> [i16; 3] {
    [
        (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3,
        (p2 + p1 + p0 + q0 + 2) >> 2,
        (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3,
    ]
}

/// Cb and Cr. `lanes`: tC0, alpha and beta.
#[inline]
fn chroma_samples(
    samples: &mut [[u8; LANES]; 4],
    strong: bool,
    [clip, alpha, beta]: &[[i16; LANES]; 3],
) {
    let [s_p1, s_p0, s_q0, s_q1] = samples;
    for lane in 0..LANES {
        let [p1, p0, q0, q1] = [s_p1[lane], s_p0[lane], s_q0[lane], s_q1[lane]].map(i16::from);
        let on = (strong | (clip[lane] >= 0))
            & ((p0 - q0).abs() < alpha[lane])
            & ((p1 - p0).abs() < beta[lane])
            & ((q1 - q0).abs() < beta[lane]);
        let delta = limited((4 * (q0 - p0) + (p1 - q1) + 4) >> 3, clip[lane] + 1);
        let (one_p, one_q) = ((2 * p1 + p0 + q1 + 2) >> 2, (2 * q1 + q0 + p1 + 2) >> 2);
        let new_p = select(strong, one_p, (p0 + delta).clamp(0, 255));
        let new_q = select(strong, one_q, (q0 - delta).clamp(0, 255));
        s_p0[lane] = select(on, new_p, p0) as u8;
        s_q0[lane] = select(on, new_q, q0) as u8;
    }
}
