//! Strips: rows of four quads, for pixels with one sample. Pixel shaders with 16 channels, the
//! depth buffer and render targets work on a whole strip at once.

use super::{BLOCK, BlockEdge, Convex, Division, Edge, Quad};
use crate::eu::fast::Level;
use crate::pixel::coordinates::Rect;
use crate::pixel::multisample::Samples;
use std::ops::Range;

/// Quads of a strip.
pub const QUADS: usize = 4;
/// Pixels of a row of a strip.
const COLUMNS: usize = 8;

/// The covered pixels of four quads side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Strip {
    /// Column of the left pixels, a multiple of 8.
    pub x: u32,
    /// Row of the upper pixels, even.
    pub y: u32,
    /// A bit for each pixel: bits 0 to 7 are the upper row from left to right, bits 8 to 15 the
    /// lower row. The rasteriser makes no strips with a mask of 0.
    pub mask: u16,
}

impl Strip {
    /// A mask of the quads that have a covered pixel. It has the format of [`quads`].
    #[inline(always)]
    #[must_use]
    pub fn quads(&self) -> u8 {
        quads(self.mask)
    }

    /// Quad `n`. Its mask is 0 if it has no covered pixel.
    #[inline(always)]
    #[must_use]
    pub fn quad(&self, n: usize) -> Quad {
        let [a, b, c, d] = pixels(self.mask, n);
        Quad { x: self.x + 2 * n as u32, y: self.y, mask: [a.into(), b.into(), c.into(), d.into()] }
    }

    /// The strip with only those quads whose numbers are in `range`. Its mask can be 0. The quads
    /// with a covered pixel are numbered from left to right, and the first one has number `number`.
    /// The function adds the number of these quads to `number`.
    #[inline(always)]
    #[must_use]
    pub fn within(&self, number: &mut usize, range: &Range<usize>) -> Strip {
        let first = *number;
        *number += self.quads().count_ones() as usize;
        if range.start <= first && *number <= range.end {
            return *self;
        }
        if *number <= range.start || range.end <= first {
            return Strip { mask: 0, ..*self };
        }
        let mut mask = 0;
        let quads = (0..QUADS).map(|n| self.mask & 0x0303 << (2 * n)).filter(|quad| *quad != 0);
        for (quad, _) in quads.zip(first..).filter(|(_, number)| range.contains(number)) {
            mask |= quad;
        }
        Strip { mask, ..*self }
    }
}

/// A mask of the quads that have a pixel in `mask`, which is the mask of a [`Strip`]. Bit 2 n is
/// quad n, from left to right. The other bits are 0.
#[inline(always)]
#[must_use]
pub fn quads(mask: u16) -> u8 {
    let columns = mask as u8 | (mask >> 8) as u8;
    (columns | columns >> 1) & 0x55
}

/// The pixels of quad `n` in `mask`, which is the mask of a [`Strip`]. Each is 0 or 1. The order is
/// upper left, upper right, lower left, lower right.
#[inline(always)]
#[must_use]
pub fn pixels(mask: u16, n: usize) -> [u8; 4] {
    let quad = u32::from(mask) >> (2 * n);
    let quad = quad & 3 | quad >> 6 & 12;
    // Bit n is moved to bit 8 n.
    (quad.wrapping_mul(0x0020_4081) & 0x0101_0101).to_le_bytes()
}

/// Eight columns from `x` on: a bit for each that is inside of an area.
#[inline(always)]
fn columns(x: i32, area: Rect) -> u8 {
    // The columns to the left of column `end`.
    let below = |end: i32| ((1u32 << (end - x).clamp(0, 8)) - 1) as u8;
    below(area.x1) & !below(area.x0)
}

/// Collects quads in strips.
#[derive(Debug)]
pub struct Collector {
    strip: Strip,
}

impl Collector {
    /// A collector without quads.
    pub fn new() -> Collector {
        Collector { strip: Strip::default() }
    }

    /// Adds a quad. If the quad does not continue the strip, the strip is passed to `each` first.
    /// The quads of a strip go from left to right, so a quad to the left of the last one starts a
    /// new strip.
    pub fn add(&mut self, quad: &Quad, each: &mut impl FnMut(Strip)) {
        let (x, first) = (quad.x & !7, quad.x & 7);
        let [a, b, c, d] = quad.mask.map(|mask| mask & 1);
        let Strip { x: own, y, mask } = self.strip;
        if (own, y) != (x, quad.y) || quads(mask) >> first != 0 {
            self.end(each);
            self.strip = Strip { x, y: quad.y, mask: 0 };
        }
        self.strip.mask |= (a | b << 1 | c << 8 | d << 9) << first;
    }

    /// Passes the last strip to `each`.
    pub fn end(&mut self, each: &mut impl FnMut(Strip)) {
        let strip = std::mem::take(&mut self.strip);
        if strip.mask != 0 {
            each(strip);
        }
    }
}

impl Default for Collector {
    fn default() -> Self {
        Collector::new()
    }
}

/// An edge, for one sample of each pixel.
#[derive(Clone, Copy, Default)]
struct Walked {
    edge: BlockEdge,
    /// For each pixel of a row, the value at its sample minus the value at the upper-left corner of
    /// the first pixel.
    columns: [i32; COLUMNS],
}

impl Convex {
    /// Calls `each` for every strip with a covered pixel in `window`. `samples` has one sample. The
    /// quads of the strips are those of [`rasterise`](Convex::rasterise), in the same order.
    ///
    /// Call this inside of [`Level::vectorize`].
    #[inline(always)]
    pub fn strips(
        &self,
        samples: &Samples,
        window: Rect,
        level: Level,
        each: &mut impl FnMut(Strip),
    ) {
        let edges = &self.edges[..usize::from(self.count)];
        if !edges.iter().all(|edge| edge.a.abs() + edge.b.abs() < 1 << 23) {
            let mut collector = Collector::new();
            self.rasterise(samples, window, &mut |quad| collector.add(&quad, each));
            return collector.end(each);
        }
        let area = self.pixels(samples).intersection(window).intersection(Rect::SCREEN);
        let at = samples.positions().first().copied().unwrap_or([8, 8]);
        if !area.is_empty() {
            match *edges {
                [a, b, c] => walk(&[a, b, c], at, area, level, each),
                _ => walk(&self.edges, at, area, level, each),
            }
        }
    }
}

/// The value at the corner of a block, for edges that do not cross the block. The value of an
/// edge changes by less than 2^30 inside of a block, so the sum stays positive.
const INSIDE: i32 = 1 << 30;

/// Calls `each` for the strips in `area`, block by block. The sample of each pixel is at column `x`
/// and row `y` in the pixel, in 1/16 pixels.
#[inline(always)]
fn walk<const N: usize>(
    edges: &[Edge; N],
    [x, y]: [u8; 2],
    area: Rect,
    level: Level,
    each: &mut impl FnMut(Strip),
) {
    let [left, top] = [x, y].map(i64::from);
    let mut walked = [Walked::default(); N];
    for (walked, edge) in walked.iter_mut().zip(edges) {
        walked.edge = BlockEdge::new(edge, [left, top, left, top]);
        let first = (edge.a * left + edge.b * top) as i32;
        for (column, n) in walked.columns.iter_mut().zip(0..) {
            *column = first + walked.edge.dx as i32 * n;
        }
    }
    let start = |at: i32| at & !(BLOCK - 1);
    let mut y = start(area.y0);
    while y < area.y1 {
        let mut x = start(area.x0);
        'block: while x < area.x1 {
            let (bx, by) = (x, y);
            x += BLOCK;
            let mut corners = [INSIDE; N];
            let mut crossed = false;
            for (corner, walked) in corners.iter_mut().zip(&walked) {
                match walked.edge.divide(bx, by) {
                    Division::Outside => continue 'block,
                    Division::Inside => {}
                    Division::Crossed(value) => (*corner, crossed) = (value as i32, true),
                }
            }
            let columns = columns(bx, area);
            let row = |y: i32| {
                if y < area.y0 || y >= area.y1 {
                    return 0;
                }
                if !crossed {
                    return columns;
                }
                // The bitwise OR of the values of all edges is negative if one of them is.
                let mut values = [0; COLUMNS];
                for (corner, walked) in corners.iter().zip(&walked) {
                    let first = corner + (y - by) * walked.edge.dy as i32;
                    for (value, column) in values.iter_mut().zip(&walked.columns) {
                        *value |= column + first;
                    }
                }
                columns & !level.negative(values)
            };
            // Only the rows in `area`: small primitives have few rows in a block.
            for y in (by.max(area.y0 & !1)..area.y1.min(by + BLOCK)).step_by(2) {
                let mask = u16::from_le_bytes([row(y), row(y + 1)]);
                if mask != 0 {
                    each(Strip { x: bx as u32, y: y as u32, mask });
                }
            }
        }
        y += BLOCK;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FillRule, tests};
    use super::*;
    use proptest::prelude::*;

    /// The quads of strips, in order.
    fn split(strips: &[Strip]) -> Vec<Quad> {
        let quads = |strip: &Strip| {
            let strip = *strip;
            (0..QUADS)
                .filter(move |n| strip.quads() >> (2 * n) & 1 == 1)
                .map(move |n| strip.quad(n))
        };
        strips.iter().flat_map(quads).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Oracle: `rasterise`, which other tests compare with exact arithmetic.
        #[test]
        fn strips_are_the_quads(
            corners in [tests::corner(), tests::corner(), tests::corner(), tests::corner()],
            square in any::<bool>(),
            at in [0..16_u8, 0..16],
            window in tests::window(),
        ) {
            let samples = Samples::new(&[at]).unwrap();
            let [a, b, c, _] = corners;
            let d = tests::fourth(a, b, c);
            let shape = match square {
                true => Convex::quadrangle([a, b, c, d], FillRule::UpperLeft),
                false => Convex::triangle([a, b, c], FillRule::UpperRight),
            };
            let Some(shape) = shape else { return Ok(()) };
            let (mut quads, mut strips, mut collected) = (vec![], vec![], vec![]);
            shape.rasterise(&samples, window, &mut |quad| quads.push(quad));
            if let Some(level) = Level::detect() {
                shape.strips(&samples, window, level, &mut |strip| strips.push(strip));
                prop_assert_eq!(&split(&strips), &quads);
            }
            let mut collector = Collector::new();
            for quad in &quads {
                collector.add(quad, &mut |strip| collected.push(strip));
            }
            collector.end(&mut |strip| collected.push(strip));
            prop_assert_eq!(&split(&collected), &quads);
            prop_assert!(strips.is_empty() || collected == strips);
        }
    }

    /// Oracle: the list of all quads.
    #[test]
    fn parts_have_the_quads_of_a_range() {
        let masks = [0x0001, 0xffff, 0x8f00, 0x00f0, 0x1248, 0xf000, 0x0ff1];
        let strip = |(mask, y): (&u16, u32)| Strip { x: 8, y: 2 * y, mask: *mask };
        let strips: Vec<Strip> = masks.iter().zip(0..).map(strip).collect();
        let all = split(&strips);
        for start in 0..=all.len() {
            for end in start..=all.len() {
                let mut number = 0;
                let part = |strip: &Strip| strip.within(&mut number, &(start..end));
                let part: Vec<Strip> = strips.iter().map(part).collect();
                assert_eq!(split(&part), all[start..end], "{start}..{end}");
                assert_eq!(number, all.len());
            }
        }
    }

    /// Oracle: each pixel by itself.
    #[test]
    fn masks_have_the_bits_of_their_pixels() {
        let bit = |mask: u16, x: usize, y: usize| mask >> (8 * y + x) & 1;
        for mask in 0..=u16::MAX {
            let strip = Strip { x: 0, y: 0, mask };
            for n in 0..QUADS {
                let quad = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| bit(mask, 2 * n + x, y));
                assert_eq!(strip.quad(n).mask, quad);
                assert_eq!(strip.quads() >> (2 * n) & 3, u8::from(quad != [0; 4]));
            }
        }
        for area in (0..500).map(|n| Rect { x0: n % 9, y0: 0, x1: n % 13, y1: 2 }) {
            let columns = columns(0, area);
            assert!((0..8).all(|x| columns >> x & 1 == u8::from(area.contains(x, 0))), "{area:?}");
        }
    }
}
