//! Rasteriser: finds the samples that a convex shape covers. The result is exact and in a fixed
//! order. Whole blocks of pixels are accepted or rejected where possible.
//!
//! [`Convex`] is up to four half planes with integer coefficients over positions in 1/256 pixels. A
//! sample is covered if it is inside all of them. On an edge, the [`FillRule`] decides: exactly one
//! of two shapes that share an edge covers the sample. [`Convex::rasterise`] emits [`Quad`]s: the
//! subspans of 2x2 pixels that the pixel shader works on.

use crate::pixel::coordinates::{Point, Rect, SUBPIXEL_BITS, doubled_area};
use crate::pixel::multisample::{MAX_SAMPLES, Samples};
use std::ops::{Add, BitOr, Mul};

pub mod strips;

/// Left shift that converts sample positions, in 1/16 pixels, to 1/256 pixels.
const SAMPLE_SHIFT: u32 = SUBPIXEL_BITS - 4;

/// Pixels along the side of the blocks that can be accepted or rejected as a whole.
const BLOCK: i32 = 8;

/// Selects which samples that lie exactly on an edge belong to the shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FillRule {
    /// Samples on left and upper edges belong to the shape. Used for all shapes except points in
    /// OpenGL (RASTRULE_UPPER_LEFT).
    #[default]
    UpperLeft,
    /// Samples on right and upper edges belong to the shape. Used for points in OpenGL
    /// (RASTRULE_UPPER_RIGHT, 2a p.280).
    UpperRight,
}

/// The half plane a x + b y + c >= 0 of positions in 1/256 pixels; c includes the fill rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Edge {
    a: i64,
    b: i64,
    c: i64,
}

impl Edge {
    /// The half plane to the right of the direction from `p` to `q`: the inside of shapes with
    /// clockwise corners.
    fn between(p: Point, q: Point, rule: FillRule) -> Edge {
        let a = i64::from(p.y) - i64::from(q.y);
        let b = i64::from(q.x) - i64::from(p.x);
        // The value grows to the inside. So a left edge has a > 0, and an upper edge b > 0.
        let takes_edge = match rule {
            FillRule::UpperLeft => a > 0 || (a == 0 && b > 0),
            FillRule::UpperRight => a < 0 || (a == 0 && b > 0),
        };
        Edge { a, b, c: -a * i64::from(p.x) - b * i64::from(p.y) - i64::from(!takes_edge) }
    }
}

/// The covered samples of two by two pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quad {
    /// Column of the left pixels, even.
    pub x: u32,
    /// Row of the upper pixels, even.
    pub y: u32,
    /// Covered samples of the pixels upper left, upper right, lower left, lower right: bit n is
    /// sample n. Not all are 0.
    pub mask: [u16; 4],
}

/// A convex shape of three or four corners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convex {
    edges: [Edge; 4],
    count: u8,
    /// Upper left corner of the smallest rectangle around the shape.
    min: Point,
    /// Lower right corner of this rectangle.
    max: Point,
}

impl Convex {
    /// The triangle `corners`, in either direction; `None` if it has no area.
    #[must_use]
    pub fn triangle(corners: [Point; 3], rule: FillRule) -> Option<Convex> {
        let [a, b, c] = corners;
        match doubled_area(a, b, c) {
            0 => None,
            area if area < 0 => Some(Convex::clockwise(&[a, c, b], rule)),
            _ => Some(Convex::clockwise(&[a, b, c], rule)),
        }
    }

    /// The quadrangle `corners`, convex, in either direction; `None` if it has no area.
    #[must_use]
    pub fn quadrangle(corners: [Point; 4], rule: FillRule) -> Option<Convex> {
        let [a, b, c, d] = corners;
        match doubled_area(a, b, c) + doubled_area(a, c, d) {
            0 => None,
            area if area < 0 => Some(Convex::clockwise(&[a, d, c, b], rule)),
            _ => Some(Convex::clockwise(&[a, b, c, d], rule)),
        }
    }

    fn clockwise(corners: &[Point], rule: FillRule) -> Convex {
        let mut edges = [Edge::default(); 4];
        let (mut min, mut max) = (corners[0], corners[0]);
        for (i, &p) in corners.iter().enumerate() {
            edges[i] = Edge::between(p, corners[(i + 1) % corners.len()], rule);
            min = Point { x: min.x.min(p.x), y: min.y.min(p.y) };
            max = Point { x: max.x.max(p.x), y: max.y.max(p.y) };
        }
        Convex { edges, count: corners.len() as u8, min, max }
    }

    /// The pixels that can have a sample in the shape.
    #[must_use]
    pub fn pixels(&self, samples: &Samples) -> Rect {
        pixels_between(self.min, self.max, extent(samples))
    }

    /// True if the shape covers all samples of all pixels of `area`, which must not be empty. With
    /// several samples in a pixel, the result can be false although the shape covers them.
    #[must_use]
    pub fn covers(&self, samples: &Samples, area: Rect) -> bool {
        let [left, top, right, bottom] = extent(samples).map(|end| i64::from(end >> SAMPLE_SHIFT));
        let first = |pixel: i32, sample: i64| (i64::from(pixel) << 4) + sample;
        let columns = [first(area.x0, left), first(area.x1 - 1, right)];
        let rows = [first(area.y0, top), first(area.y1 - 1, bottom)];
        // An edge has its lowest value at a corner of the area.
        self.edges[..usize::from(self.count)].iter().all(|edge| {
            let [x, y] =
                [(edge.a, columns), (edge.b, rows)].map(|(step, [first, last])| match step < 0 {
                    true => step * last,
                    false => step * first,
                });
            (edge.c >> SAMPLE_SHIFT) + x + y >= 0
        })
    }

    /// Calls `each` for every quad with a covered sample in `window`. Blocks of 8x8 pixels come row
    /// by row, and so do the quads of a block. Positions left of or above the screen's origin have
    /// no pixels.
    pub fn rasterise(&self, samples: &Samples, window: Rect, each: &mut impl FnMut(Quad)) {
        let area = self.pixels(samples).intersection(window).intersection(Rect::SCREEN);
        if area.is_empty() {
            return;
        }
        // Values in a block that an edge goes through are at most (|a| + |b|) * 128 units from 0.
        let edges = &self.edges[..usize::from(self.count)];
        if edges.iter().all(|e| e.a.abs() + e.b.abs() < 1 << 23) {
            walk::<i32>(edges, samples, area, each);
        } else {
            walk::<i64>(edges, samples, area, each);
        }
    }
}

/// The pixels that can have a sample in a shape. `min` and `max` are the upper left and the lower
/// right corner of a rectangle around the shape. The last argument is the [`extent`] of the
/// samples.
#[inline]
#[must_use]
pub fn pixels_between(min: Point, max: Point, [left, top, right, bottom]: [i32; 4]) -> Rect {
    Rect {
        x0: -((right - min.x) >> SUBPIXEL_BITS),
        y0: -((bottom - min.y) >> SUBPIXEL_BITS),
        x1: ((max.x - left) >> SUBPIXEL_BITS) + 1,
        y1: ((max.y - top) >> SUBPIXEL_BITS) + 1,
    }
}

/// Least x, least y, greatest x and greatest y of the sample positions in a pixel, in 1/256 pixels.
pub fn extent(samples: &Samples) -> [i32; 4] {
    let mut ends = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
    for &[x, y] in samples.positions() {
        let (x, y) = (i32::from(x) << SAMPLE_SHIFT, i32::from(y) << SAMPLE_SHIFT);
        ends = [ends[0].min(x), ends[1].min(y), ends[2].max(x), ends[3].max(y)];
    }
    ends
}

/// The integer type for values of edges inside a block.
trait Lane:
    Copy
    + Default
    + PartialOrd
    + From<i32>
    + Add<Output = Self>
    + Mul<Output = Self>
    + BitOr<Output = Self>
{
    /// Converts a value, which must fit.
    fn of(value: i64) -> Self;
}

impl Lane for i32 {
    fn of(value: i64) -> i32 {
        value as i32
    }
}

impl Lane for i64 {
    fn of(value: i64) -> i64 {
        value
    }
}

/// An edge whose values are divided by 16. All samples are on a grid of 1/16 pixel, so the value at
/// a sample is c plus a multiple of 16. So c can be divided by 16 (rounded down) without changing a
/// sign.
#[derive(Clone, Copy, Default)]
struct BlockEdge {
    /// Change of the value from a pixel to the next one on the right.
    dx: i64,
    /// Change of the value from a pixel to the next one below.
    dy: i64,
    /// Value at the upper-left corner of pixel (0, 0).
    origin: i64,
    /// Largest value over all samples of a block, minus the value at the block's corner.
    largest: i64,
    /// Smallest value over all samples of a block, minus the value at the block's corner.
    smallest: i64,
}

/// The pixels of a block, as an edge divides them. The value is that at the block's corner.
enum Division {
    Outside,
    Crossed(i64),
    Inside,
}

impl BlockEdge {
    /// `extent` is the [`extent`] of the samples, in 1/16 pixels.
    #[inline(always)]
    fn new(edge: &Edge, [left, top, right, bottom]: [i64; 4]) -> BlockEdge {
        let last = i64::from((BLOCK - 1) << 4);
        let (low, high) = (edge.a * left, edge.a * (last + right));
        let (up, down) = (edge.b * top, edge.b * (last + bottom));
        BlockEdge {
            dx: edge.a << 4,
            dy: edge.b << 4,
            origin: edge.c >> SAMPLE_SHIFT,
            largest: low.max(high) + up.max(down),
            smallest: low.min(high) + up.min(down),
        }
    }

    /// Divides the block whose upper-left pixel is at column `x` and row `y`.
    #[inline(always)]
    fn divide(&self, x: i32, y: i32) -> Division {
        let corner = self.origin + self.dx * i64::from(x) + self.dy * i64::from(y);
        match (corner + self.largest < 0, corner + self.smallest < 0) {
            (true, _) => Division::Outside,
            (false, true) => Division::Crossed(corner),
            (false, false) => Division::Inside,
        }
    }
}

/// An edge, with its values at the samples of a pixel.
#[derive(Clone, Copy, Default)]
struct Walked<T> {
    edge: BlockEdge,
    /// For each sample, its value minus the value at the pixel's upper-left corner.
    samples: [T; MAX_SAMPLES],
}

/// An edge that crosses the current block.
#[derive(Clone, Copy, Default)]
struct Crossing<'a, T> {
    /// Value at the block's corner.
    corner: T,
    dx: T,
    dy: T,
    samples: &'a [T],
}

fn walk<T: Lane>(edges: &[Edge], samples: &Samples, area: Rect, each: &mut impl FnMut(Quad)) {
    let count = samples.count();
    let extent = extent(samples).map(|end| i64::from(end >> SAMPLE_SHIFT));
    let mut walked = [Walked::<T>::default(); 4];
    for (w, e) in walked.iter_mut().zip(edges) {
        w.edge = BlockEdge::new(e, extent);
        for (step, &[x, y]) in w.samples.iter_mut().zip(samples.positions()) {
            *step = T::of(e.a * i64::from(x) + e.b * i64::from(y));
        }
    }
    let walked = &walked[..edges.len()];

    let start = |c: i32| c & !(BLOCK - 1);
    let all = samples.all();
    let mut y = start(area.y0);
    while y < area.y1 {
        let mut x = start(area.x0);
        'block: while x < area.x1 {
            let (bx, by) = (x, y);
            x += BLOCK;
            let mut crossings = [Crossing::<T>::default(); 4];
            let mut crossed = 0;
            for w in walked {
                match w.edge.divide(bx, by) {
                    Division::Outside => continue 'block,
                    Division::Inside => {}
                    Division::Crossed(corner) => {
                        crossings[crossed] = Crossing {
                            corner: T::of(corner),
                            dx: T::of(w.edge.dx),
                            dy: T::of(w.edge.dy),
                            samples: &w.samples[..count],
                        };
                        crossed += 1;
                    }
                }
            }
            let block = Rect { x0: bx, y0: by, x1: bx + BLOCK, y1: by + BLOCK };
            let inside = block.intersection(area);
            if crossed > 0 {
                let crossings = &crossings[..crossed];
                for_quads(block, inside, each, |dx, dy| covered(crossings, count, dx, dy));
            } else {
                for_quads(block, inside, each, |_, _| [all; 4]);
            }
        }
        y += BLOCK;
    }
}

/// Emits the quads that have a covered sample in `inside`, which is a part of `block`. `mask` takes
/// the position of a quad relative to the block's corner, and returns the covered samples.
#[inline(always)]
fn for_quads(
    block: Rect,
    inside: Rect,
    each: &mut impl FnMut(Quad),
    mask: impl Fn(i32, i32) -> [u16; 4],
) {
    for y in ((inside.y0 & !1)..inside.y1).step_by(2) {
        for x in ((inside.x0 & !1)..inside.x1).step_by(2) {
            let mut mask = mask(x - block.x0, y - block.y0);
            if inside != block {
                let keep =
                    |dx: i32, dy: i32| if inside.contains(x + dx, y + dy) { u16::MAX } else { 0 };
                let keep = [keep(0, 0), keep(1, 0), keep(0, 1), keep(1, 1)];
                for (m, keep) in mask.iter_mut().zip(keep) {
                    *m &= keep;
                }
            }
            if mask != [0; 4] {
                each(Quad { x: x as u32, y: y as u32, mask });
            }
        }
    }
}

/// Covered samples of the quad `x` pixels right of and `y` below the block's corner. The bitwise OR
/// of the values of all edges is negative if one of them is.
#[inline(always)]
fn covered<T: Lane>(crossings: &[Crossing<'_, T>], count: usize, x: i32, y: i32) -> [u16; 4] {
    let mut mask = [0; 4];
    for s in 0..count {
        let mut signs = [T::default(); 4];
        for e in crossings {
            let value = e.corner + e.dx * T::from(x) + e.dy * T::from(y) + e.samples[s];
            signs[0] = signs[0] | value;
            signs[1] = signs[1] | (value + e.dx);
            signs[2] = signs[2] | (value + e.dy);
            signs[3] = signs[3] | (value + e.dx + e.dy);
        }
        for (m, sign) in mask.iter_mut().zip(signs) {
            *m |= u16::from(sign >= T::default()) << s;
        }
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixel::coordinates::MAX_COORDINATE;
    use proptest::prelude::*;

    const SIDE: i32 = 40;

    /// The samples that a shape covers, for each pixel of a square screen, and the quads in order.
    fn drawn(convex: &Convex, samples: &Samples, window: Rect) -> (Vec<u16>, Vec<(u32, u32)>) {
        let mut pixels = vec![0_u16; (SIDE * SIDE) as usize];
        let mut order = vec![];
        convex.rasterise(samples, window, &mut |quad| {
            assert!(quad.x % 2 == 0 && quad.y % 2 == 0 && quad.mask != [0; 4]);
            order.push((quad.x, quad.y));
            for (i, mask) in quad.mask.iter().enumerate() {
                let (x, y) = (quad.x as i32 + (i as i32 & 1), quad.y as i32 + (i as i32 >> 1));
                assert!(*mask == 0 || window.contains(x, y), "({x}, {y}) is outside of {window:?}");
                if *mask != 0 {
                    let pixel = &mut pixels[(y * SIDE + x) as usize];
                    assert_eq!(*pixel, 0, "({x}, {y}) is drawn twice");
                    *pixel = *mask;
                }
            }
        });
        (pixels, order)
    }

    /// An exact definition of the fill rule: a sample is covered if it is strictly inside after a
    /// tiny move to the right (or left) and a much smaller one down.
    fn inside(corners: &[Point], x: i64, y: i64, rule: FillRule) -> bool {
        let (big, right) =
            (1_i128 << 60, if rule == FillRule::UpperLeft { 1 << 30 } else { -(1 << 30) });
        let (x, y) = (i128::from(x) * big + right, i128::from(y) * big + 1);
        let mut signs = corners.iter().enumerate().map(|(i, p)| {
            let q = corners[(i + 1) % corners.len()];
            let (dx, dy) = (i128::from(q.x) - i128::from(p.x), i128::from(q.y) - i128::from(p.y));
            (dx * (y - i128::from(p.y) * big) - dy * (x - i128::from(p.x) * big)).signum()
        });
        let first = signs.next().unwrap();
        first != 0 && signs.all(|s| s == first)
    }

    fn check(
        corners: &[Point],
        convex: Option<Convex>,
        samples: &Samples,
        window: Rect,
        rule: FillRule,
    ) {
        let Some(convex) = convex else {
            return;
        };
        let (pixels, _) = drawn(&convex, samples, window);
        for y in 0..SIDE {
            for x in 0..SIDE {
                let mut mask = 0;
                for (s, &[sx, sy]) in samples.positions().iter().enumerate() {
                    let at =
                        |pixel: i32, offset: u8| i64::from(pixel) * 256 + i64::from(offset) * 16;
                    mask |= u16::from(inside(corners, at(x, sx), at(y, sy), rule)) << s;
                }
                let expected = if window.contains(x, y) { mask } else { 0 };
                assert_eq!(pixels[(y * SIDE + x) as usize], expected, "{corners:?} at ({x}, {y})");
            }
        }
    }

    fn samples() -> impl Strategy<Value = Samples> {
        let any = |n: usize| {
            proptest::collection::vec([0..16_u8, 0..16], n).prop_map(|p| Samples::new(&p).unwrap())
        };
        prop_oneof![
            Just(Samples::CENTRE),
            Just(Samples::CORNER),
            Just(Samples::standard(4).unwrap()),
            Just(Samples::SIXTEEN),
            any(1),
            any(2),
            any(4),
            any(8),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Oracle: `rasterise`. If `covers` is true, it emits all samples of all pixels. With one
        /// sample in a pixel, `covers` is true for all such areas.
        #[test]
        fn shapes_cover_areas(
            corners in [corner(), corner(), corner()],
            square in any::<bool>(),
            samples in samples(),
            at in (0..SIDE - 4, 0..SIDE - 4),
            size in (1..5, 1..5),
        ) {
            let [a, b, c] = corners;
            let shape = match square {
                true => Convex::quadrangle([a, b, c, fourth(a, b, c)], FillRule::UpperLeft),
                false => Convex::triangle([a, b, c], FillRule::UpperRight),
            };
            let Some(shape) = shape else { return Ok(()) };
            let area = Rect { x0: at.0, y0: at.1, x1: at.0 + size.0, y1: at.1 + size.1 };
            let (pixels, _) = drawn(&shape, &samples, area);
            let full = pixels.iter().filter(|mask| **mask == samples.all()).count();
            let (covers, covered) = (shape.covers(&samples, area), full == area.area() as usize);
            prop_assert!(!covers || covered);
            prop_assert!(samples.count() > 1 || covers == covered);
        }
    }

    /// The fourth corner of a parallelogram.
    pub(super) fn fourth(a: Point, b: Point, c: Point) -> Point {
        Point { x: a.x + c.x - b.x, y: a.y + c.y - b.y }
    }

    /// Corners near the screen, on sample positions, and so far out that 32 bits are not enough.
    pub(super) fn corner() -> impl Strategy<Value = Point> {
        let range = -8 * 256..(SIDE + 8) * 256;
        prop_oneof![
            4 => (range.clone(), range.clone()).prop_map(|(x, y)| Point { x, y }),
            2 => (range.clone(), range.clone()).prop_map(|(x, y)| Point { x: x & !127, y: y & !127 }),
            3 => (range.clone(), range).prop_map(|(x, y)| Point { x: (x & !2047) + 128, y: (y & !2047) + 128 }),
            1 => (-MAX_COORDINATE..MAX_COORDINATE, -MAX_COORDINATE..MAX_COORDINATE)
                .prop_map(|(x, y)| Point { x, y }),
        ]
    }

    pub(super) fn window() -> impl Strategy<Value = Rect> {
        (-4..SIDE, -4..SIDE, 0..SIDE, 0..SIDE).prop_map(|(x0, y0, w, h)| Rect {
            x0,
            y0,
            x1: (x0 + w).min(SIDE),
            y1: (y0 + h).min(SIDE),
        })
    }

    const FULL: Rect = Rect { x0: 0, y0: 0, x1: SIDE, y1: SIDE };

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// Oracle: exact integer arithmetic on samples that are moved by less than any distance, at
        /// every pixel.
        #[test]
        fn triangles_cover_what_is_inside(
            corners in [corner(), corner(), corner()],
            samples in samples(),
            window in prop_oneof![Just(FULL), window()],
            right in any::<bool>(),
        ) {
            let rule = if right { FillRule::UpperRight } else { FillRule::UpperLeft };
            check(&corners, Convex::triangle(corners, rule), &samples, window, rule);
        }

        /// As `triangles_cover_what_is_inside`, for parallelograms.
        #[test]
        fn quadrangles_cover_what_is_inside(
            a in corner(), b in corner(), c in corner(), samples in samples(),
        ) {
            let d = fourth(a, b, c);
            let corners = [a, b, c, d];
            let convex = Convex::quadrangle(corners, FillRule::UpperLeft);
            check(&corners, convex, &samples, FULL, FillRule::UpperLeft);
        }

        /// Four triangles around a point inside a rectangle: each sample of the rectangle belongs
        /// to exactly one.
        #[test]
        fn shared_edges_are_covered_once(
            x in 0..SIDE * 256, y in 0..SIDE * 256, grid in 0..9_u32, samples in samples(),
        ) {
            let end = SIDE * 256;
            let middle = Point { x: x >> grid << grid, y: y >> grid << grid };
            let ring = [(0, 0), (end, 0), (end, end), (0, end)].map(|(x, y)| Point { x, y });
            let mut seen = vec![0_u16; (SIDE * SIDE) as usize];
            for i in 0..4 {
                let corners = [middle, ring[i], ring[(i + 1) % 4]];
                let Some(convex) = Convex::triangle(corners, FillRule::UpperLeft) else { continue };
                for (seen, mask) in seen.iter_mut().zip(drawn(&convex, &samples, FULL).0) {
                    prop_assert_eq!(*seen & mask, 0);
                    *seen |= mask;
                }
            }
            prop_assert!(seen.iter().all(|&mask| mask == samples.all()));
        }
    }

    /// Drawing tile by tile gives the same quads as drawing the whole screen, in the same order
    /// inside each tile.
    #[test]
    fn tiles_make_the_whole() {
        let corners = [(100, 20), (9000, 3000), (2500, 10_100)].map(|(x, y)| Point { x, y });
        let convex = Convex::triangle(corners, FillRule::UpperLeft).unwrap();
        let samples = Samples::standard(8).unwrap();
        let (whole, order) = drawn(&convex, &samples, FULL);
        let mut parts = vec![0; whole.len()];
        for (x0, y0) in
            [(0, 0), (16, 0), (32, 0), (0, 16), (16, 16), (32, 16), (0, 32), (16, 32), (32, 32)]
        {
            let tile = Rect { x0, y0, x1: (x0 + 16).min(SIDE), y1: (y0 + 16).min(SIDE) };
            let (pixels, part) = drawn(&convex, &samples, tile);
            parts.iter_mut().zip(pixels).for_each(|(p, m)| *p |= m);
            let there = |&&(x, y): &&(u32, u32)| tile.contains(x as i32, y as i32);
            assert!(order.iter().filter(there).eq(&part));
        }
        assert_eq!(whole, parts);
    }

    #[test]
    fn nothing_where_nothing_is() {
        let p = |x, y| Point { x, y };
        assert_eq!(
            Convex::triangle([p(0, 0), p(256, 256), p(512, 512)], FillRule::UpperLeft),
            None
        );
        let far =
            Convex::triangle([p(-900, 0), p(-300, 0), p(-500, 900)], FillRule::UpperLeft).unwrap();
        far.rasterise(&Samples::CENTRE, FULL, &mut |quad| panic!("{quad:?}"));
        let here =
            Convex::triangle([p(0, 0), p(2560, 0), p(0, 2560)], FillRule::UpperLeft).unwrap();
        for empty in
            [Rect { x1: 0, ..FULL }, Rect { y0: 9, y1: 8, ..FULL }, Rect::inclusive(5, 0, 3, 9)]
        {
            here.rasterise(&Samples::CENTRE, empty, &mut |quad| panic!("{quad:?}"));
        }
    }
}
