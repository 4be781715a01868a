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

mod samples;

use super::{Macroblock, Parameters, SliceFilter};
use crate::{Frame, PlaneMut};
pub use samples::{ALPHA, BETA, CLIP};
use samples::{Edge, Strengths, Thresholds};

/// Filters a decoded picture in place. `macroblocks`: all of the picture, in raster order of the
/// picture (see [`super::macroblock`]). `slices`: by [`Macroblock::slice`]. A macroblock that is
/// not decoded, or has no slice, is not filtered, nor are the edges to it.
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
        monochrome: parameters.monochrome,
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
    monochrome: bool,
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
            self.edge(planes, 16, self.inner(edge, 0), self.current, strengths);
        }
        self.top_edge(planes);
        for (edge, strengths) in (1..).zip(horizontal) {
            self.edge(planes, 16, self.inner(0, edge), self.current, strengths);
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
                self.edge(planes, 16, line, left, strengths);
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
                    self.edge(planes, 8, line, left, strengths);
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
                        self.edge(planes, 16, line, above, strengths);
                    }
                }
                (false, true) => {
                    let Some(above) = self.neighbour(x, above + 1) else { return };
                    let strengths = mixed_strengths(above, current, blocks, 3);
                    self.edge(planes, 16, line, above, strengths);
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
        self.edge(planes, 16, line, above, strengths);
    }

    /// Filters an edge of `count` luma samples, 16 or 8. `before`: the macroblock of the samples on
    /// the left or above.
    fn edge(
        &self,
        planes: &mut [PlaneMut<'_>; 3],
        count: usize,
        line: Line,
        before: &Macroblock,
        strengths: Strengths,
    ) {
        if strengths == [0; 4] {
            return;
        }
        let thresholds = |component: usize| {
            let [p, q] = [before, self.current].map(|side| u16::from(side.qp[component]));
            Thresholds::new((p + q).div_ceil(2) as u8, self.slice)
        };
        let [y, cb, cr] = planes;
        if let Some(thresholds) = thresholds(0) {
            let edge = line.edge(16 * self.x, y.stride, 0, count, strengths);
            samples::luma(y.data, &edge, &thresholds);
        }
        if !self.picture.monochrome && line.has_chroma() && cb.stride == cr.stride {
            let edge = line.edge(8 * self.x, cb.stride, 1, count / 2, strengths);
            let thresholds = [thresholds(1), thresholds(2)].map(Option::unwrap_or_default);
            samples::chroma([cb.data, cr.data], &edge, &thresholds);
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
    /// The edge in a plane, `count` samples of it. `left`: column of the macroblock. `shift`: 1 for
    /// chroma.
    fn edge(
        &self,
        left: usize,
        stride: usize,
        shift: u32,
        count: usize,
        strengths: Strengths,
    ) -> Edge {
        // The first row of the macroblock is that of the pair, which is even, plus that in the
        // pair: 16 for the lower frame macroblock, 1 for the bottom field macroblock.
        let row = if self.step == 2 {
            (self.row & !1) >> shift | self.row & 1
        } else {
            self.row >> shift
        };
        let row = row + self.step * (self.y >> shift);
        Edge {
            vertical: self.vertical,
            at: row * stride + left + (self.x >> shift),
            row: self.step * stride,
            count,
            strengths,
        }
    }

    /// True if the edge is also one of chroma. Chroma has edges every four samples.
    fn has_chroma(&self) -> bool {
        (self.x | self.y).is_multiple_of(8)
    }
}

/// Strengths of the three inner edges, by direction: vertical, horizontal.
fn inner_strengths(current: &Macroblock, limit: u16) -> [[Strengths; 3]; 2] {
    let mut out = [[[0; 4]; 3]; 2];
    let edges = if current.transform_8x8 { 2..3 } else { 1..4 };
    let moves = !current.is_intra() && !uniform(current);
    if !current.is_intra() && !moves && current.coefficients == 0 {
        return out;
    }
    for edge in edges {
        for k in 0..4 {
            let across = (4 * k + edge - 1, 4 * k + edge);
            let down = (4 * edge - 4 + k, 4 * edge + k);
            for (out, (p, q)) in out.iter_mut().zip([across, down]) {
                out[edge - 1][k] = if current.is_intra() {
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
    if p.is_intra() || q.is_intra() {
        return [intra; 4];
    }
    let mut out = [0; 4];
    for (out, (before, after)) in out.iter_mut().zip(blocks) {
        *out = if p.coefficients & 1 << before != 0 || q.coefficients & 1 << after != 0 {
            2
        } else {
            u8::from(motion_differs(p, before, q, after, limit))
        };
    }
    out
}

/// As [`strengths`] for a frame macroblock and a field macroblock (mixedModeEdgeFlag 1).
fn mixed_strengths(
    p: &Macroblock,
    q: &Macroblock,
    blocks: [(usize, usize); 4],
    intra: u8,
) -> Strengths {
    if p.is_intra() || q.is_intra() {
        return [intra; 4];
    }
    blocks.map(|(before, after)| {
        let coded = p.coefficients & 1 << before != 0 || q.coefficients & 1 << after != 0;
        if coded { 2 } else { 1 }
    })
}

/// True if two blocks are predicted from different pictures, with another number of vectors, or
/// with vectors that differ by a sample or more (8.7.2.1).
#[inline]
fn motion_differs(p: &Macroblock, before: usize, q: &Macroblock, after: usize, limit: u16) -> bool {
    let (before, after) = (before % 16, after % 16);
    let part = |block: usize| block / 8 * 2 + block % 4 / 2;
    let [p0, p1] = [p.pictures[0][part(before)], p.pictures[1][part(before)]];
    let [q0, q1] = [q.pictures[0][part(after)], q.pictures[1][part(after)]];
    let [v0, v1] = [p.vectors[0][before], p.vectors[1][before]];
    let [w0, w1] = [q.vectors[0][after], q.vectors[1][after]];
    let far =
        |v: [i16; 2], w: [i16; 2]| (v[0].abs_diff(w[0]) >= 4) | (v[1].abs_diff(w[1]) >= limit);
    // The lists do not matter, only the pictures.
    let straight = (p0 == q0) & (p1 == q1);
    let crossed = (p0 == q1) & (p1 == q0);
    (!straight || far(v0, w0) || far(v1, w1)) && (!crossed || far(v0, w1) || far(v1, w0))
}

#[cfg(test)]
mod tests;
