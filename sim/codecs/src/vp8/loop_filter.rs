//! The loop filter (RFC 6386 section 15).

use super::macroblock::{Macroblock, Mode};
use super::parameters::{FilterType, Parameters};
use crate::Plane;

/// How the edges of a macroblock are filtered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strength {
    /// 0..=63; 0 for no filtering.
    pub level: u8,
    /// The edges between subblocks are filtered too.
    pub inner: bool,
}

impl Strength {
    /// The strength for a macroblock (RFC 6386 9.6, 15.2).
    pub fn of(parameters: &Parameters, macroblock: &Macroblock, coefficients: bool) -> Self {
        let segment = if parameters.segmentation { macroblock.segment } else { 0 };
        let mut level = i32::from(parameters.filter_levels[usize::from(segment & 3)]);
        if parameters.filter_deltas {
            level += i32::from(parameters.reference_deltas[usize::from(macroblock.reference & 3)]);
            let [subblocks, zero, vector, split] = parameters.mode_deltas.map(i32::from);
            level += match macroblock.mode {
                Mode::Whole(_) => 0,
                Mode::Subblocks => subblocks,
                Mode::Zero => zero,
                Mode::Vector => vector,
                Mode::Split(_) => split,
            };
        }
        let inner = coefficients || !macroblock.has_second_order();
        Strength { level: level.clamp(0, 63) as u8, inner }
    }
}

/// The thresholds of an edge (RFC 6386 15.2, 15.3).
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// For the difference across the edge.
    edge: i16,
    /// For the differences beside the edge.
    interior: i16,
    /// Above it, the neighbourhood has high variance.
    variance: i16,
}

/// The limits of the edges of a macroblock and of the edges between its subblocks.
fn limits(parameters: &Parameters, level: u8) -> (Limits, Limits) {
    let level = i16::from(level);
    let sharpness = i16::from(parameters.sharpness.min(7));
    let mut interior = level >> (i16::from(sharpness > 0) + i16::from(sharpness > 4));
    if sharpness > 0 {
        interior = interior.min(9 - sharpness);
    }
    let interior = interior.max(1);
    let variance = match (parameters.key_frame, level) {
        (true, 40..) => 2,
        (true, 15..) => 1,
        (false, 40..) => 3,
        (false, 20..) => 2,
        (false, 15..) => 1,
        _ => 0,
    };
    let edge = 2 * level + interior;
    (Limits { edge: edge + 4, interior, variance }, Limits { edge, interior, variance })
}

/// Filters a picture of `parameters.width` macroblocks in a row. `planes` have whole macroblocks;
/// `strengths` has an entry for each macroblock, row by row.
pub fn filter(parameters: &Parameters, strengths: &[Strength], planes: &mut [Plane; 3]) {
    for (index, strength) in strengths.iter().enumerate() {
        if strength.level == 0 {
            continue;
        }
        let at = (index % parameters.width, index / parameters.width);
        let (outer, inner) = limits(parameters, strength.level);
        let inner = strength.inner.then_some(inner);
        match parameters.filter_type {
            FilterType::Normal => filter_normal(planes, at, outer, inner),
            FilterType::Simple => filter_simple(&mut planes[0], at, outer, inner),
        }
    }
}

/// Samples across an edge, p3 to q3 (RFC 6386 15.1), at 16 positions along the edge.
type Lines = [[u8; 16]; 8];

/// Filters the edges of the macroblock at column `x`, row `y`, with the normal filter: left,
/// vertical ones between subblocks, top, horizontal ones between subblocks.
fn filter_normal(
    planes: &mut [Plane; 3],
    (x, y): (usize, usize),
    outer: Limits,
    inner: Option<Limits>,
) {
    let [luma, blue, red] = planes;
    let stride = luma.width;
    let luma = &mut luma.data;
    let start = 16 * y * stride + 16 * x;
    let (blue_stride, red_stride) = (blue.width, red.width);
    let (blue, red) = (&mut blue.data, &mut red.data);
    let (blue_start, red_start) = (8 * (y * blue_stride + x), 8 * (y * red_stride + x));
    if x > 0 {
        vertical_edge((luma, stride), start, |lines| outer_edge(lines, outer));
        chroma_vertical_edge(
            ((blue, blue_stride), blue_start),
            ((red, red_stride), red_start),
            |lines| outer_edge(lines, outer),
        );
    }
    if let Some(limits) = inner {
        for column in [4, 8, 12] {
            vertical_edge((luma, stride), start + column, |lines| inner_edge(lines, limits));
        }
        chroma_vertical_edge(
            ((blue, blue_stride), blue_start + 4),
            ((red, red_stride), red_start + 4),
            |lines| inner_edge(lines, limits),
        );
    }
    if y > 0 {
        horizontal_edge((luma, stride), start, |lines| outer_edge(lines, outer));
        chroma_horizontal_edge(
            ((blue, blue_stride), blue_start),
            ((red, red_stride), red_start),
            |lines| outer_edge(lines, outer),
        );
    }
    if let Some(limits) = inner {
        for row in [4, 8, 12] {
            let start = start + row * stride;
            horizontal_edge((luma, stride), start, |lines| inner_edge(lines, limits));
        }
        chroma_horizontal_edge(
            ((blue, blue_stride), blue_start + 4 * blue_stride),
            ((red, red_stride), red_start + 4 * red_stride),
            |lines| inner_edge(lines, limits),
        );
    }
}

/// Filters the edges of the macroblock at column `x`, row `y`, of the luma plane with the simple
/// filter.
fn filter_simple(luma: &mut Plane, (x, y): (usize, usize), outer: Limits, inner: Option<Limits>) {
    let stride = luma.width;
    let start = 16 * y * stride + 16 * x;
    let luma = &mut luma.data;
    if x > 0 {
        vertical_edge((luma, stride), start, |lines| simple_edge(lines, outer));
    }
    if let Some(limits) = inner {
        for column in [4, 8, 12] {
            vertical_edge((luma, stride), start + column, |lines| simple_edge(lines, limits));
        }
    }
    if y > 0 {
        horizontal_edge((luma, stride), start, |lines| simple_edge(lines, outer));
    }
    if let Some(limits) = inner {
        for row in [4, 8, 12] {
            let start = start + row * stride;
            horizontal_edge((luma, stride), start, |lines| simple_edge(lines, limits));
        }
    }
}

/// Samples of a plane, and samples in a row.
type Samples<'a> = (&'a mut [u8], usize);

/// Filters 16 samples along the horizontal edge above sample `start`.
fn horizontal_edge(
    (samples, stride): Samples,
    start: usize,
    filter: impl FnOnce(&mut Lines) -> bool,
) {
    let mut lines = [[0; 16]; 8];
    let first = start - 4 * stride;
    for (row, line) in lines.iter_mut().enumerate() {
        line.copy_from_slice(&samples[first + row * stride..][..16]);
    }
    if filter(&mut lines) {
        for (row, line) in lines.iter().enumerate() {
            samples[first + row * stride..][..16].copy_from_slice(line);
        }
    }
}

/// Filters eight samples along the horizontal edges above the start of both planes.
fn chroma_horizontal_edge(
    ((blue, blue_stride), blue_start): (Samples, usize),
    ((red, red_stride), red_start): (Samples, usize),
    filter: impl FnOnce(&mut Lines) -> bool,
) {
    let mut lines = [[0; 16]; 8];
    let (blue_first, red_first) = (blue_start - 4 * blue_stride, red_start - 4 * red_stride);
    for (row, line) in lines.iter_mut().enumerate() {
        line[..8].copy_from_slice(&blue[blue_first + row * blue_stride..][..8]);
        line[8..].copy_from_slice(&red[red_first + row * red_stride..][..8]);
    }
    if filter(&mut lines) {
        for (row, line) in lines.iter().enumerate() {
            blue[blue_first + row * blue_stride..][..8].copy_from_slice(&line[..8]);
            red[red_first + row * red_stride..][..8].copy_from_slice(&line[8..]);
        }
    }
}

/// Filters 16 samples along the vertical edge to the left of sample `start`.
fn vertical_edge(
    (samples, stride): Samples,
    start: usize,
    filter: impl FnOnce(&mut Lines) -> bool,
) {
    let first = start - 4;
    let (above, below) = (first, first + 8 * stride);
    let mut lines = gather((samples, stride, above), (samples, stride, below));
    if filter(&mut lines) {
        scatter(&lines, 0, (samples, stride), above);
        scatter(&lines, 8, (samples, stride), below);
    }
}

/// Filters eight samples along the vertical edges to the left of the start of both planes.
fn chroma_vertical_edge(
    ((blue, blue_stride), blue_start): (Samples, usize),
    ((red, red_stride), red_start): (Samples, usize),
    filter: impl FnOnce(&mut Lines) -> bool,
) {
    let (blue_first, red_first) = (blue_start - 4, red_start - 4);
    let mut lines = gather((blue, blue_stride, blue_first), (red, red_stride, red_first));
    if filter(&mut lines) {
        scatter(&lines, 0, (blue, blue_stride), blue_first);
        scatter(&lines, 8, (red, red_stride), red_first);
    }
}

/// Samples, samples in a row, and the first of a block of 8 x 8 of them.
type Block<'a> = (&'a [u8], usize, usize);

/// Reads two blocks of eight rows and eight columns. Line i of the result is column i of both.
fn gather(first: Block, second: Block) -> Lines {
    let read = |(samples, stride, start): Block| {
        let mut rows = [0; 8];
        for (row, bytes) in rows.iter_mut().enumerate() {
            let from = &samples[start + row * stride..][..8];
            *bytes = u64::from_le_bytes(from.try_into().unwrap_or_default());
        }
        transpose(rows)
    };
    let (first, second) = (read(first), read(second));
    let mut lines = [[0; 16]; 8];
    for (line, (first, second)) in lines.iter_mut().zip(first.into_iter().zip(second)) {
        line[..8].copy_from_slice(&first.to_le_bytes());
        line[8..].copy_from_slice(&second.to_le_bytes());
    }
    lines
}

/// Writes positions `from` to `from` + 8 of the lines as eight rows.
fn scatter(lines: &Lines, from: usize, (samples, stride): Samples, start: usize) {
    let mut columns = [0; 8];
    for (column, line) in columns.iter_mut().zip(lines) {
        *column = u64::from_le_bytes(line[from..from + 8].try_into().unwrap_or_default());
    }
    for (row, bytes) in transpose(columns).into_iter().enumerate() {
        samples[start + row * stride..][..8].copy_from_slice(&bytes.to_le_bytes());
    }
}

/// Transposes a matrix of bytes: byte i of row j becomes byte j of row i.
#[inline(always)]
fn transpose(rows: [u64; 8]) -> [u64; 8] {
    // Exchanges the quarters at upper right and lower left, then those of the quarters.
    let exchange = |low: u64, high: u64, shift: u32, mask: u64| {
        let change = (low >> shift ^ high) & mask;
        (low ^ change << shift, high ^ change)
    };
    let [a, b, c, d, e, f, g, h] = rows;
    let halves = |low, high| exchange(low, high, 32, 0x0000_0000_ffff_ffff);
    let ((a, e), (b, f), (c, g), (d, h)) = (halves(a, e), halves(b, f), halves(c, g), halves(d, h));
    let pairs = |low, high| exchange(low, high, 16, 0x0000_ffff_0000_ffff);
    let ((a, c), (b, d), (e, g), (f, h)) = (pairs(a, c), pairs(b, d), pairs(e, g), pairs(f, h));
    let bytes = |low, high| exchange(low, high, 8, 0x00ff_00ff_00ff_00ff);
    let ((a, b), (c, d), (e, f), (g, h)) = (bytes(a, b), bytes(c, d), bytes(e, f), bytes(g, h));
    [a, b, c, d, e, f, g, h]
}

/// A difference or sum, limited to a signed byte (RFC 6386 15.2).
#[inline(always)]
fn limit(value: i16) -> i16 {
    value.clamp(-128, 127)
}

/// A sample as a signed number.
#[inline(always)]
fn signed(sample: u8) -> i16 {
    i16::from(sample) - 128
}

/// A signed number as a sample.
#[inline(always)]
fn sample(value: i16) -> u8 {
    (limit(value) + 128) as u8
}

/// All bits set if `condition`.
#[inline(always)]
fn mask(condition: bool) -> i16 {
    -i16::from(condition)
}

#[inline(always)]
fn difference(first: u8, second: u8) -> i16 {
    i16::from(first.abs_diff(second))
}

/// For each position, all bits set if the differences allow filtering (RFC 6386 15.3).
#[inline(always)]
fn filter_masks(lines: &Lines, limits: Limits) -> [i16; 16] {
    let [p3, p2, p1, p0, q0, q1, q2, q3] = lines;
    let mut masks = [0; 16];
    for (at, out) in masks.iter_mut().enumerate() {
        let edge = 2 * difference(p0[at], q0[at]) + difference(p1[at], q1[at]) / 2;
        let beside = difference(p3[at], p2[at])
            .max(difference(p2[at], p1[at]))
            .max(difference(p1[at], p0[at]))
            .max(difference(q1[at], q0[at]))
            .max(difference(q2[at], q1[at]))
            .max(difference(q3[at], q2[at]));
        *out = mask(edge <= limits.edge) & mask(beside <= limits.interior);
    }
    masks
}

/// For each position, all bits set if the neighbourhood has high variance (RFC 6386 15.3).
#[inline(always)]
fn variance_masks(lines: &Lines, limits: Limits) -> [i16; 16] {
    let [_, _, p1, p0, q0, q1, _, _] = lines;
    let mut masks = [0; 16];
    for (at, out) in masks.iter_mut().enumerate() {
        let beside = difference(p1[at], p0[at]).max(difference(q1[at], q0[at]));
        *out = mask(beside > limits.variance);
    }
    masks
}

fn any(masks: &[i16; 16]) -> bool {
    masks.iter().fold(0, |any, mask| any | mask) != 0
}

/// The two samples at the edge, moved towards each other by `filter` / 8 (RFC 6386 15.2), and the
/// change of the second one.
#[inline(always)]
fn adjust(p0: i16, q0: i16, filter: i16) -> (i16, i16, i16) {
    let (down, up) = (limit(filter + 4) >> 3, limit(filter + 3) >> 3);
    (p0 + up, q0 - down, down)
}

/// Filters an edge between macroblocks (RFC 6386 15.3). Returns false if no sample changes.
fn outer_edge(lines: &mut Lines, limits: Limits) -> bool {
    let masks = filter_masks(lines, limits);
    if !any(&masks) {
        return false;
    }
    let variances = variance_masks(lines, limits);
    let [_, p2s, p1s, p0s, q0s, q1s, q2s, _] = lines;
    for at in 0..16 {
        let (p2, p1, p0) = (signed(p2s[at]), signed(p1s[at]), signed(p0s[at]));
        let (q0, q1, q2) = (signed(q0s[at]), signed(q1s[at]), signed(q2s[at]));
        let filter = limit(limit(p1 - q1) + 3 * (q0 - p0)) & masks[at];
        // Of high variance, the samples at the edge; otherwise three samples on each side. One of
        // both changes is zero.
        let (p0, q0, _) = adjust(p0, q0, filter & variances[at]);
        let filter = filter & !variances[at];
        p2s[at] = sample(p2 + ((9 * filter + 63) >> 7));
        p1s[at] = sample(p1 + ((18 * filter + 63) >> 7));
        p0s[at] = sample(p0 + ((27 * filter + 63) >> 7));
        q0s[at] = sample(q0 - ((27 * filter + 63) >> 7));
        q1s[at] = sample(q1 - ((18 * filter + 63) >> 7));
        q2s[at] = sample(q2 - ((9 * filter + 63) >> 7));
    }
    true
}

/// Filters an edge between subblocks (RFC 6386 15.3). Returns false if no sample changes.
fn inner_edge(lines: &mut Lines, limits: Limits) -> bool {
    let masks = filter_masks(lines, limits);
    if !any(&masks) {
        return false;
    }
    let variances = variance_masks(lines, limits);
    let [_, _, p1s, p0s, q0s, q1s, _, _] = lines;
    for at in 0..16 {
        let (p1, p0) = (signed(p1s[at]), signed(p0s[at]));
        let (q0, q1) = (signed(q0s[at]), signed(q1s[at]));
        let outer = limit(p1 - q1) & variances[at];
        let filter = limit(outer + 3 * (q0 - p0)) & masks[at];
        let (p0, q0, change) = adjust(p0, q0, filter);
        let change = ((change + 1) >> 1) & !variances[at];
        p1s[at] = sample(p1 + change);
        p0s[at] = sample(p0);
        q0s[at] = sample(q0);
        q1s[at] = sample(q1 - change);
    }
    true
}

/// Filters an edge with the simple filter (RFC 6386 15.2). Returns false if no sample changes.
fn simple_edge(lines: &mut Lines, limits: Limits) -> bool {
    let [_, _, p1s, p0s, q0s, q1s, _, _] = lines;
    let mut masks = [0; 16];
    for (at, out) in masks.iter_mut().enumerate() {
        let edge = 2 * difference(p0s[at], q0s[at]) + difference(p1s[at], q1s[at]) / 2;
        *out = mask(edge <= limits.edge);
    }
    if !any(&masks) {
        return false;
    }
    for at in 0..16 {
        let (p1, p0) = (signed(p1s[at]), signed(p0s[at]));
        let (q0, q1) = (signed(q0s[at]), signed(q1s[at]));
        let filter = limit(limit(p1 - q1) + 3 * (q0 - p0)) & masks[at];
        let (p0, q0, _) = adjust(p0, q0, filter);
        p0s[at] = sample(p0);
        q0s[at] = sample(q0);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Limits, Lines, inner_edge, outer_edge, simple_edge, transpose};

    fn clamp(value: i32) -> i32 {
        value.clamp(-128, 127)
    }

    /// The change at the edge as RFC 6386 15.2 describes it.
    fn adjust(samples: &mut [i32; 8], use_outer: bool) -> i32 {
        let [_, _, p1, p0, q0, q1, _, _] = *samples;
        let a = clamp(if use_outer { clamp(p1 - q1) } else { 0 } + 3 * (q0 - p0));
        let b = clamp(a + 3) >> 3;
        let a = clamp(a + 4) >> 3;
        samples[4] = clamp(q0 - a);
        samples[3] = clamp(p0 + b);
        a
    }

    /// One position along the edge, by the branches of RFC 6386 15.2 and 15.3. `kind` is 0 for the
    /// simple filter, 1 for edges between subblocks, 2 for those between macroblocks.
    fn scalar(samples: [u8; 8], limits: Limits, kind: usize) -> [u8; 8] {
        let mut s = samples.map(|sample| i32::from(sample) - 128);
        let far = |first: usize, second: usize, s: &[i32; 8]| (s[first] - s[second]).abs();
        let edge = 2 * far(3, 4, &s) + (far(2, 5, &s) >> 1);
        let mut filters = edge <= i32::from(limits.edge);
        if kind > 0 {
            let pairs = [(0, 1), (1, 2), (2, 3), (5, 4), (6, 5), (7, 6)];
            filters &= pairs.iter().all(|&(a, b)| far(a, b, &s) <= i32::from(limits.interior));
        }
        let high = far(2, 3, &s).max(far(5, 4, &s)) > i32::from(limits.variance);
        if filters && kind == 0 {
            adjust(&mut s, true);
        } else if filters && kind == 1 {
            let a = (adjust(&mut s, high) + 1) >> 1;
            if !high {
                s[5] = clamp(s[5] - a);
                s[2] = clamp(s[2] + a);
            }
        } else if filters && high {
            adjust(&mut s, true);
        } else if filters {
            let w = clamp(clamp(s[2] - s[5]) + 3 * (s[4] - s[3]));
            for (offset, factor) in [27, 18, 9].into_iter().enumerate() {
                let a = clamp((factor * w + 63) >> 7);
                s[4 + offset] = clamp(s[4 + offset] - a);
                s[3 - offset] = clamp(s[3 - offset] + a);
            }
        }
        s.map(|value| (value + 128) as u8)
    }

    /// Oracle: the standard's description of one position, with its branches.
    #[test]
    fn edges_are_filtered_position_by_position() {
        let mut random = fastrand::Rng::with_seed(6);
        let filters = [simple_edge, inner_edge, outer_edge];
        let mut changes = [0; 3];
        for round in 0..30_000 {
            let (kind, spread) = (round % 3, [2, 5, 20, 255][random.usize(..4)]);
            let base = random.u8(..);
            let mut lines: Lines = [[0; 16]; 8];
            for sample in lines.as_flattened_mut() {
                *sample = base.saturating_add(random.u8(..=spread));
            }
            let limits = Limits {
                edge: random.i16(1..200),
                interior: random.i16(1..64),
                variance: random.i16(..4).max(0),
            };
            let before = lines;
            let changed = filters[kind](&mut lines, limits);
            for at in 0..16 {
                let want = scalar(before.map(|line| line[at]), limits, kind);
                assert_eq!(lines.map(|line| line[at]), want, "{limits:?}");
            }
            changes[kind] += u32::from(changed);
            assert!(changed || lines == before);
        }
        assert!(changes.iter().all(|&count| count > 1000), "{changes:?}");
    }

    /// Oracle: the definition.
    #[test]
    fn rows_become_columns() {
        let rows: [u64; 8] = std::array::from_fn(|row| {
            u64::from_le_bytes(std::array::from_fn(|column| (16 * row + column) as u8))
        });
        for (row, value) in transpose(rows).into_iter().enumerate() {
            let want: [u8; 8] = std::array::from_fn(|column| (16 * column + row) as u8);
            assert_eq!(value.to_le_bytes(), want);
        }
    }
}
