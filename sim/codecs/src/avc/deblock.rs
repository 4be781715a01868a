//! Deblocking filter (8.7).
//!
//! [`filter`] goes through the macroblocks of a decoded picture in the order of decoding. For each
//! it derives the strength of the filter along the edges from what is kept of the macroblocks
//! (8.7.2.1), and filters the samples across them (8.7.2.2 to 8.7.2.4): first the vertical edges
//! from left to right, then the horizontal ones from top to bottom.
//!
//! An edge has four strengths, one for each block along it. In MBAFF frames, the left edge of a
//! macroblock whose left neighbours are of the other kind is filtered as two edges, one for each
//! neighbour.

use super::{Macroblock, Parameters, SliceFilter};
use crate::{Frame, PlaneMut};

/// Strengths of the filter along an edge, 0 (none) to 4. A macroblock edge has 4 in all places or
/// in none.
type Strengths = [u8; 4];

/// Filters a decoded picture in place. `macroblocks`: all of the picture, in raster order of the
/// picture (see [`super::macroblock`]). `slices`: by [`Macroblock::slice`]. A macroblock that is not
/// decoded, or has no slice, is not filtered, nor are the edges to it.
pub fn filter(
    parameters: &Parameters,
    macroblocks: &[Macroblock],
    slices: &[SliceFilter],
    frame: &mut Frame,
) {
    let picture = Picture {
        width: parameters.width,
        mbaff: parameters.mbaff && !parameters.structure.is_field(),
        fields: parameters.structure.is_field(),
        components: if parameters.monochrome { 1 } else { 3 },
        macroblocks,
    };
    let mut planes = frame.planes.each_mut().map(|plane| plane.view_mut(parameters.structure));
    let rows_of_pairs = if picture.mbaff { 2 } else { 1 };
    for y in (0..parameters.picture_height()).step_by(rows_of_pairs) {
        for x in 0..parameters.width {
            for y in y..y + rows_of_pairs {
                let Some(current) = picture.macroblock(x, y) else { continue };
                match slices.get(usize::from(current.slice)) {
                    Some(slice) if slice.disable != 1 => {
                        Job { picture: &picture, current, x, y, slice }.run(&mut planes);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The picture to filter.
struct Picture<'a> {
    /// Width in macroblocks.
    width: usize,
    mbaff: bool,
    /// The picture is a field.
    fields: bool,
    /// 1 or 3.
    components: usize,
    macroblocks: &'a [Macroblock],
}

impl<'a> Picture<'a> {
    /// The macroblock at (`x`, `y`), if it is decoded.
    fn macroblock(&self, x: usize, y: usize) -> Option<&'a Macroblock> {
        self.macroblocks.get(y * self.width + x).filter(|macroblock| macroblock.decoded)
    }
}

/// The filter of one macroblock.
struct Job<'a> {
    picture: &'a Picture<'a>,
    current: &'a Macroblock,
    x: usize,
    y: usize,
    slice: &'a SliceFilter,
}

impl<'a> Job<'a> {
    fn run(&self, planes: &mut [PlaneMut<'_>; 3]) {
        let [vertical, horizontal] = inner_strengths(self.current, self.limit());
        self.left_edge(planes);
        for (edge, strengths) in (1..).zip(vertical) {
            self.edge::<16, 8>(planes, self.inner(edge, 0), self.current, strengths);
        }
        self.top_edge(planes);
        for (edge, strengths) in (1..).zip(horizontal) {
            self.edge::<16, 8>(planes, self.inner(0, edge), self.current, strengths);
        }
    }

    /// The vertical distance of vectors that counts as different motion: a sample of a frame, in
    /// quarter samples of a frame or of a field (8.7.2.1).
    fn limit(&self) -> u16 {
        if self.current.field || self.picture.fields { 2 } else { 4 }
    }

    /// The neighbour at (`x`, `y`), if edges to it are filtered.
    fn neighbour(&self, x: usize, y: usize) -> Option<&'a Macroblock> {
        let neighbour = self.picture.macroblock(x, y)?;
        let other_slice = neighbour.slice != self.current.slice;
        (self.slice.disable != 2 || !other_slice).then_some(neighbour)
    }

    /// The rows of the macroblock's luma: the first one and the distance to the next one.
    fn rows(&self) -> (usize, usize) {
        if self.current.field { (self.y / 2 * 32 + self.y % 2, 2) } else { (self.y * 16, 1) }
    }

    /// The edge before the block at column `x` and row `y` of the macroblock, in blocks. One of
    /// both is 0.
    fn inner(&self, x: usize, y: usize) -> Line {
        let (row, step) = self.rows();
        Line { vertical: y == 0 && x > 0, x: 4 * x, y: 4 * y, row, step }
    }

    fn left_edge(&self, planes: &mut [PlaneMut<'_>; 3]) {
        let Some(x) = self.x.checked_sub(1) else { return };
        let pair = self.y & !1;
        let (row, step) = self.rows();
        let line = Line { vertical: true, x: 0, y: 0, row, step };
        match self.neighbour(x, if self.picture.mbaff { pair } else { self.y }) {
            Some(left) if left.field == self.current.field || !self.picture.mbaff => {
                let Some(left) = self.neighbour(x, self.y) else { return };
                let blocks = std::array::from_fn(|k| (4 * k + 3, 4 * k));
                let strengths = strengths(left, self.current, blocks, 4, self.limit());
                self.edge::<16, 8>(planes, line, left, strengths);
            }
            Some(_) => {
                for half in 0..2 {
                    let Some(left) = self.neighbour(x, pair + half) else { continue };
                    // The rows of a frame macroblock alternate between the fields on the left. Of a
                    // field macroblock, the upper half has the upper frame macroblock on the left.
                    let (line, blocks) = if self.current.field {
                        let line = Line { y: 8 * half, ..line };
                        (line, std::array::from_fn(|k| (4 * k + 3, 4 * (2 * half + k / 2))))
                    } else {
                        let lower = self.y % 2;
                        let line = Line { row: row + half, step: 2, ..line };
                        (line, std::array::from_fn(|k| (4 * (2 * lower + k / 2) + 3, 4 * k)))
                    };
                    let strengths = mixed_strengths(left, self.current, blocks, 4);
                    self.edge::<8, 4>(planes, line, left, strengths);
                }
            }
            None => {}
        }
    }

    fn top_edge(&self, planes: &mut [PlaneMut<'_>; 3]) {
        let (x, current) = (self.x, self.current);
        let (row, step) = self.rows();
        let line = Line { vertical: false, x: 0, y: 0, row, step };
        let blocks = std::array::from_fn(|k| (12 + k, k));
        let pair = self.y & !1;
        if self.picture.mbaff && (current.field || self.y == pair) {
            // The edge to the pair above.
            let Some(above) = pair.checked_sub(2) else { return };
            let Some(first) = self.neighbour(x, above) else { return };
            match (first.field, current.field) {
                (true, false) => {
                    // Each field of the frame macroblock has the macroblock of that field above.
                    for field in 0..2 {
                        let Some(above) = self.neighbour(x, above + field) else { continue };
                        let line = Line { row: row + field, step: 2, ..line };
                        let strengths = mixed_strengths(above, current, blocks, 3);
                        self.edge::<16, 8>(planes, line, above, strengths);
                    }
                }
                (false, true) => {
                    let Some(above) = self.neighbour(x, above + 1) else { return };
                    let strengths = mixed_strengths(above, current, blocks, 3);
                    self.edge::<16, 8>(planes, line, above, strengths);
                }
                (field, _) => {
                    let y = if field { self.y - 2 } else { self.y - 1 };
                    self.plain_top_edge(planes, line, self.neighbour(x, y));
                }
            }
        } else if let Some(y) = self.y.checked_sub(1) {
            self.plain_top_edge(planes, line, self.neighbour(x, y));
        }
    }

    /// The top edge if the macroblock above is of the same kind.
    fn plain_top_edge(
        &self,
        planes: &mut [PlaneMut<'_>; 3],
        line: Line,
        above: Option<&Macroblock>,
    ) {
        let Some(above) = above else { return };
        let intra = if self.current.field || self.picture.fields { 3 } else { 4 };
        let blocks = std::array::from_fn(|k| (12 + k, k));
        let strengths = strengths(above, self.current, blocks, intra, self.limit());
        self.edge::<16, 8>(planes, line, above, strengths);
    }

    /// Filters an edge of `L` luma samples and `C` chroma samples. `before`: the macroblock of the
    /// samples on the left or above.
    fn edge<const L: usize, const C: usize>(
        &self,
        planes: &mut [PlaneMut<'_>; 3],
        line: Line,
        before: &Macroblock,
        strengths: Strengths,
    ) {
        if strengths == [0; 4] {
            return;
        }
        for (component, plane) in planes.iter_mut().enumerate().take(self.picture.components) {
            let [p, q] = [before, self.current].map(|side| u16::from(side.qp[component]));
            let qp = (p + q).div_ceil(2) as u8;
            let Some(thresholds) = Thresholds::new(qp, self.slice) else { continue };
            if component == 0 {
                let at = line.position(16 * self.x, plane.stride, 0);
                luma_edge::<L>(plane, at, line, strengths, &thresholds);
            } else if (line.x | line.y).is_multiple_of(8) {
                let at = line.position(8 * self.x, plane.stride, 1);
                chroma_edge::<C>(plane, at, line, strengths, &thresholds);
            }
        }
    }
}

/// An edge of a macroblock.
#[derive(Clone, Copy)]
struct Line {
    vertical: bool,
    /// Column and row of the first sample after the edge, in luma samples of the macroblock.
    x: usize,
    y: usize,
    /// The macroblock's first row of luma in the picture, and the distance to its next one.
    row: usize,
    step: usize,
}

impl Line {
    /// Offset in the plane of the first sample after the edge. `left`: column of the macroblock.
    /// `shift`: 1 for chroma.
    fn position(&self, left: usize, stride: usize, shift: u32) -> usize {
        // The first row of the macroblock is that of the pair, which is even, plus that in the
        // pair: 16 for the lower frame macroblock, 1 for the bottom field macroblock.
        let row = if self.step == 2 {
            (self.row & !1) >> shift | self.row & 1
        } else {
            self.row >> shift
        };
        (row + self.step * (self.y >> shift)) * stride + left + (self.x >> shift)
    }
}

/// Strengths of the three inner edges, by direction: vertical, horizontal.
fn inner_strengths(current: &Macroblock, limit: u16) -> [[Strengths; 3]; 2] {
    let mut out = [[[0; 4]; 3]; 2];
    let edges = if current.transform_8x8 { 2..3 } else { 1..4 };
    let moves = !current.intra && !uniform(current);
    if !current.intra && !moves && current.coefficients == 0 {
        return out;
    }
    for edge in edges {
        for k in 0..4 {
            let across = (4 * k + edge - 1, 4 * k + edge);
            let down = (4 * edge - 4 + k, 4 * edge + k);
            for (out, (p, q)) in out.iter_mut().zip([across, down]) {
                out[edge - 1][k] = if current.intra {
                    3
                } else if current.coefficients & (1 << p | 1 << q) != 0 {
                    2
                } else {
                    u8::from(moves && motion_differs(current, p, current, q, limit))
                };
            }
        }
    }
    out
}

/// True if all blocks of an inter macroblock have the same motion.
fn uniform(macroblock: &Macroblock) -> bool {
    (0..2).all(|list| {
        let (pictures, vectors) = (&macroblock.pictures[list], &macroblock.vectors[list]);
        *pictures == [pictures[0]; 4] && *vectors == [vectors[0]; 16]
    })
}

/// Strengths of an edge between macroblocks `p` and `q` that are both of frames or both of fields.
/// `blocks`: those before and after the edge. `intra`: the strength if one of them is intra.
fn strengths(
    p: &Macroblock,
    q: &Macroblock,
    blocks: [(usize, usize); 4],
    intra: u8,
    limit: u16,
) -> Strengths {
    if p.intra || q.intra {
        return [intra; 4];
    }
    blocks.map(|(before, after)| {
        if p.coefficients & 1 << before != 0 || q.coefficients & 1 << after != 0 {
            2
        } else {
            u8::from(motion_differs(p, before, q, after, limit))
        }
    })
}

/// As [`strengths`] for a frame macroblock and a field macroblock (mixedModeEdgeFlag 1).
fn mixed_strengths(
    p: &Macroblock,
    q: &Macroblock,
    blocks: [(usize, usize); 4],
    intra: u8,
) -> Strengths {
    if p.intra || q.intra {
        return [intra; 4];
    }
    blocks.map(|(before, after)| {
        let coded = p.coefficients & 1 << before != 0 || q.coefficients & 1 << after != 0;
        if coded { 2 } else { 1 }
    })
}

/// True if two blocks are predicted from different pictures, with another number of vectors, or
/// with vectors that differ by a sample or more (8.7.2.1).
fn motion_differs(p: &Macroblock, before: usize, q: &Macroblock, after: usize, limit: u16) -> bool {
    let motion = |macroblock: &Macroblock, block: usize| {
        let part = block / 8 * 2 + block % 4 / 2;
        [0, 1].map(|list| (macroblock.pictures[list][part], macroblock.vectors[list][block]))
    };
    let [(p0, v0), (p1, v1)] = motion(p, before);
    let [(q0, w0), (q1, w1)] = motion(q, after);
    let far = |v: [i16; 2], w: [i16; 2]| v[0].abs_diff(w[0]) >= 4 || v[1].abs_diff(w[1]) >= limit;
    // The lists do not matter, only the pictures.
    let straight = (p0, p1) == (q0, q1);
    let crossed = (p0, p1) == (q1, q0);
    (!straight || far(v0, w0) || far(v1, w1)) && (!crossed || far(v0, w1) || far(v1, w0))
}

/// Table 8-16: alpha for indexA of 16 and more. Below it is 0.
#[rustfmt::skip]
const ALPHA: [u8; 36] = [
    4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36,
    40, 45, 50, 56, 63, 71, 80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255,
];

/// Table 8-16: beta for indexB of 16 and more. Below it is 0.
#[rustfmt::skip]
const BETA: [u8; 36] = [
    2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9,
    10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18,
];

/// Table 8-17: tC0 for bS of 1, 2 and 3, for indexA of 16 and more.
#[rustfmt::skip]
const CLIP: [[i8; 3]; 36] = [
    [0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 1, 1],
    [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2], [1, 1, 2], [1, 1, 2], [1, 2, 3],
    [1, 2, 3], [2, 2, 3], [2, 2, 4], [2, 3, 4], [2, 3, 4], [3, 3, 5], [3, 4, 6], [3, 4, 6],
    [4, 5, 7], [4, 5, 8], [4, 6, 9], [5, 7, 10], [6, 8, 11], [6, 8, 13], [7, 10, 14], [8, 11, 16],
    [9, 12, 18], [10, 13, 20], [11, 15, 23], [13, 17, 25],
];

/// Thresholds of an edge (8.7.2.2).
struct Thresholds {
    alpha: i16,
    beta: i16,
    /// tC0 by strength; -1 for no filter.
    clip: [i16; 4],
}

impl Thresholds {
    /// The thresholds for the mean quantiser `qp`. `None` if nothing is filtered.
    fn new(qp: u8, slice: &SliceFilter) -> Option<Self> {
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

/// Filters `L` luma samples along an edge. `at`: offset of the first sample after the edge.
fn luma_edge<const L: usize>(
    plane: &mut PlaneMut<'_>,
    at: usize,
    line: Line,
    strengths: Strengths,
    thresholds: &Thresholds,
) {
    let row = line.step * plane.stride;
    if line.vertical {
        let Some(data) = at.checked_sub(4).and_then(|start| plane.data.get_mut(start..)) else {
            return;
        };
        let mut samples = [[0; L]; 8];
        if !load_columns(data, row, &mut samples) {
            return;
        }
        luma_samples(&mut samples, strengths, thresholds);
        for (lane, row) in data.chunks_mut(row).take(L).enumerate() {
            for (k, sample) in row.iter_mut().take(8).enumerate() {
                *sample = samples[k][lane];
            }
        }
    } else {
        let Some(data) = at.checked_sub(4 * row).and_then(|start| plane.data.get_mut(start..))
        else {
            return;
        };
        let mut samples = [[0; L]; 8];
        if !load_rows(data, row, &mut samples) {
            return;
        }
        luma_samples(&mut samples, strengths, thresholds);
        for (row, samples) in data.chunks_mut(row).zip(&samples).take(7).skip(1) {
            row[..L].copy_from_slice(samples);
        }
    }
}

/// Filters `L` chroma samples along an edge. `at`: offset of the first sample after the edge.
fn chroma_edge<const L: usize>(
    plane: &mut PlaneMut<'_>,
    at: usize,
    line: Line,
    strengths: Strengths,
    thresholds: &Thresholds,
) {
    let row = line.step * plane.stride;
    let before = if line.vertical { 2 } else { 2 * row };
    let Some(data) = at.checked_sub(before).and_then(|start| plane.data.get_mut(start..)) else {
        return;
    };
    let mut samples = [[0; L]; 4];
    if line.vertical {
        if !load_columns(data, row, &mut samples) {
            return;
        }
        chroma_samples(&mut samples, strengths, thresholds);
        for (lane, row) in data.chunks_mut(row).take(L).enumerate() {
            (row[1], row[2]) = (samples[1][lane], samples[2][lane]);
        }
    } else {
        if !load_rows(data, row, &mut samples) {
            return;
        }
        chroma_samples(&mut samples, strengths, thresholds);
        for (row, samples) in data.chunks_mut(row).zip(&samples).take(3).skip(1) {
            row[..L].copy_from_slice(samples);
        }
    }
}

/// Loads `N` columns of `L` rows. False if `data` is too short.
#[inline]
fn load_columns<const L: usize, const N: usize>(
    data: &[u8],
    stride: usize,
    samples: &mut [[u8; L]; N],
) -> bool {
    if data.len() < (L - 1) * stride + N || stride < N {
        return false;
    }
    for lane in 0..L {
        let row = &data[lane * stride..][..N];
        for k in 0..N {
            samples[k][lane] = row[k];
        }
    }
    true
}

/// Loads `N` rows of `L` samples. False if `data` is too short.
#[inline]
fn load_rows<const L: usize, const N: usize>(
    data: &[u8],
    stride: usize,
    samples: &mut [[u8; L]; N],
) -> bool {
    if data.len() < (N - 1) * stride + L || stride < L {
        return false;
    }
    for (row, samples) in data.chunks(stride).zip(samples) {
        samples.copy_from_slice(&row[..L]);
    }
    true
}

/// Filters luma across an edge, sample by sample along it: p3, p2, p1, p0, q0, q1, q2, q3.
#[inline]
fn luma_samples<const L: usize>(
    samples: &mut [[u8; L]; 8],
    strengths: Strengths,
    thresholds: &Thresholds,
) {
    if strengths[0] == 4 {
        strong_luma(samples, thresholds);
    } else {
        let clip = lanes(strengths, thresholds);
        weak_luma(samples, &clip, thresholds);
    }
}

/// tC0 of each sample along an edge; -1 for no filter.
#[inline]
fn lanes<const L: usize>(strengths: Strengths, thresholds: &Thresholds) -> [i16; L] {
    let clip = strengths.map(|strength| thresholds.clip[usize::from(strength & 3)]);
    std::array::from_fn(|lane| clip[lane * 4 / L])
}

/// Limits `value` to -`limit`..=`limit`. A negative limit gives any value.
#[inline(always)]
fn limited(value: i16, limit: i16) -> i16 {
    value.max(-limit).min(limit)
}

/// Luma with a strength below 4 (8.7.2.3).
#[inline]
fn weak_luma<const L: usize>(samples: &mut [[u8; L]; 8], clip: &[i16; L], thresholds: &Thresholds) {
    let (alpha, beta) = (thresholds.alpha, thresholds.beta);
    let [_, s_p2, s_p1, s_p0, s_q0, s_q1, s_q2, _] = samples;
    for lane in 0..L {
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
fn strong_luma<const L: usize>(samples: &mut [[u8; L]; 8], thresholds: &Thresholds) {
    let (alpha, beta) = (thresholds.alpha, thresholds.beta);
    let [s_p3, s_p2, s_p1, s_p0, s_q0, s_q1, s_q2, s_q3] = samples;
    for lane in 0..L {
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

/// The strong filter of one side: new samples 0, 1 and 2 (8-480 to 8-482).
#[inline(always)]
fn smooth([p3, p2, p1, p0, q0, q1]: [i16; 6]) -> [i16; 3] {
    [
        (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3,
        (p2 + p1 + p0 + q0 + 2) >> 2,
        (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3,
    ]
}

/// Filters chroma across an edge, sample by sample along it: p1, p0, q0, q1.
#[inline]
fn chroma_samples<const L: usize>(
    samples: &mut [[u8; L]; 4],
    strengths: Strengths,
    thresholds: &Thresholds,
) {
    let strong = strengths[0] == 4;
    let clip: [i16; L] = if strong { [0; L] } else { lanes(strengths, thresholds) };
    let (alpha, beta) = (thresholds.alpha, thresholds.beta);
    let [s_p1, s_p0, s_q0, s_q1] = samples;
    for lane in 0..L {
        let [p1, p0, q0, q1] = [s_p1[lane], s_p0[lane], s_q0[lane], s_q1[lane]].map(i16::from);
        let on = (clip[lane] >= 0)
            & ((p0 - q0).abs() < alpha)
            & ((p1 - p0).abs() < beta)
            & ((q1 - q0).abs() < beta);
        let delta = limited((4 * (q0 - p0) + (p1 - q1) + 4) >> 3, clip[lane] + 1);
        let (one_p, one_q) = ((2 * p1 + p0 + q1 + 2) >> 2, (2 * q1 + q0 + p1 + 2) >> 2);
        let (new_p, new_q) = if strong {
            (one_p, one_q)
        } else {
            ((p0 + delta).clamp(0, 255), (q0 - delta).clamp(0, 255))
        };
        s_p0[lane] = select(on, new_p, p0) as u8;
        s_q0[lane] = select(on, new_q, q0) as u8;
    }
}

#[cfg(test)]
mod tests;
