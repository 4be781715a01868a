//! Values inside a primitive: depth, 1/w and barycentrics at any position, and the setup data that
//! kernels use to interpolate.
//!
//! A kernel computes an attribute as A0 + b1 * C1 + b2 * C2 (`pln`): [`Attribute`] holds the
//! constants, made from the values at the original vertices. [`Planes`] gives the barycentrics b1
//! and b2, the weights of vertices 1 and 2 (gen8_facts 3.6). Values that are linear on the screen
//! are planes in f64 over exact positions; results are rounded to f32 once.

use crate::pixel::coordinates::{Point, SUBPIXEL_BITS, doubled_area};
use crate::pixel::viewport::ScreenVertex;

/// A position on the screen in 1/16 pixels, the grid of pixel locations, samples and the offsets
/// that kernels request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Position {
    /// To the right of the screen's origin.
    pub x: i32,
    /// Below the screen's origin.
    pub y: i32,
}

impl Position {
    /// The position that is `offset`, in 1/16 pixels, from the upper-left corner of a pixel.
    #[must_use]
    pub fn in_pixel(x: u32, y: u32, offset: [u8; 2]) -> Position {
        Position {
            x: (x as i32) * 16 + i32::from(offset[0]),
            y: (y as i32) * 16 + i32::from(offset[1]),
        }
    }
}

/// Several [`Position`]s: all columns, then all rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Positions<const N: usize> {
    /// To the right of the screen's origin.
    pub x: [i32; N],
    /// Below the screen's origin.
    pub y: [i32; N],
}

/// A value that is linear on the screen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Plane {
    /// Value at the origin of the planes.
    at: f64,
    /// Change of the value from one position to the next, 1/16 pixel to the right.
    dx: f64,
    /// Change of the value from one position to the next, 1/16 pixel down.
    dy: f64,
}

impl Plane {
    #[inline(always)]
    fn value(&self, x: f64, y: f64) -> f64 {
        self.at + self.dx * x + self.dy * y
    }

    fn constant(at: f32) -> Plane {
        Plane { at: f64::from(at), dx: 0.0, dy: 0.0 }
    }
}

/// A corner of a primitive on the screen, with the weights of the original vertices.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Corner {
    /// Position, depth and 1/w.
    pub screen: ScreenVertex,
    /// Weights of the original vertices, for values that are interpolated with perspective.
    pub weights: [f32; 3],
    /// Weights of the original vertices, for values that are linear on the screen.
    pub linear: [f32; 3],
}

impl Corner {
    /// The corner of an original vertex, `index` 0 to 2, which clipping did not change.
    #[must_use]
    pub fn vertex(screen: ScreenVertex, index: usize) -> Corner {
        let weights = std::array::from_fn(|i| if i == index { 1.0 } else { 0.0 });
        Corner { screen, weights, linear: weights }
    }
}

/// The values that fixed functions interpolate over a primitive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Planes {
    /// Origin of the planes, in 1/16 pixels.
    origin: [f64; 2],
    z: Plane,
    inv_w: Plane,
    /// b1 and b2 with perspective, each times 1/w.
    perspective: [Plane; 2],
    /// b1 and b2 linear on the screen.
    linear: [Plane; 2],
    /// True if 1/w is the same everywhere. Barycentrics with perspective then equal the linear
    /// ones.
    flat: bool,
}

/// Barycentrics with or without perspective (3DSTATE_WM Barycentric Interpolation Mode, 2a p.278).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barycentric {
    /// Weights of the vertices in clip space.
    Perspective,
    /// Weights on the screen.
    Linear,
}

fn sixteenths(p: Point) -> [f64; 2] {
    let unit = f64::from(1 << (SUBPIXEL_BITS - 4));
    [f64::from(p.x) / unit, f64::from(p.y) / unit]
}

impl Planes {
    /// Planes with the slopes that `gradient` computes from the values at the corners.
    fn new(corners: &[Corner], gradient: impl Fn([f64; 3]) -> [f64; 2]) -> Planes {
        // With fewer than three corners, the last one is repeated, and `gradient` ignores the
        // repeated ones.
        let corner = |i: usize| &corners[i.min(corners.len() - 1)];
        let [a, b, c] = [corner(0), corner(1), corner(2)];
        let plane = |values: [f64; 3]| {
            let [dx, dy] = gradient(values);
            Plane { at: values[0], dx, dy }
        };
        let inv_w = |corner: &Corner| f64::from(corner.screen.inv_w);
        let z = |corner: &Corner| f64::from(corner.screen.z);
        let weight = |corner: &Corner, i: usize| f64::from(corner.weights[i]) * inv_w(corner);
        let perspective = |i: usize| plane([weight(a, i), weight(b, i), weight(c, i)]);
        let share = |corner: &Corner, i: usize| f64::from(corner.linear[i]);
        let linear = |i: usize| plane([share(a, i), share(b, i), share(c, i)]);
        Planes {
            origin: sixteenths(corners[0].screen.at),
            z: plane([z(a), z(b), z(c)]),
            inv_w: plane([inv_w(a), inv_w(b), inv_w(c)]),
            perspective: [perspective(1), perspective(2)],
            linear: [linear(1), linear(2)],
            flat: corners.iter().all(|c| c.screen.inv_w == corners[0].screen.inv_w),
        }
    }

    /// Planes over a triangle; `None` if it has no area.
    #[must_use]
    pub fn triangle(corners: &[Corner; 3]) -> Option<Planes> {
        let [a, b, c] = [corners[0].screen.at, corners[1].screen.at, corners[2].screen.at];
        let area = doubled_area(a, b, c);
        if area == 0 {
            return None;
        }
        let ([x0, y0], [x1, y1], [x2, y2]) = (sixteenths(a), sixteenths(b), sixteenths(c));
        // Twice the area in squares of 1/16 pixel, exact.
        let area = area as f64 / f64::from(1 << (2 * (SUBPIXEL_BITS - 4)));
        Some(Planes::new(corners, |[a, b, c]| {
            let (b, c) = (b - a, c - a);
            [(b * (y2 - y0) - c * (y1 - y0)) / area, (c * (x1 - x0) - b * (x2 - x0)) / area]
        }))
    }

    /// Planes along a line from the first corner to the second; values do not change across the
    /// line. A line without length has the values of its first corner.
    #[must_use]
    pub fn line(ends: &[Corner; 2]) -> Planes {
        let [[x0, y0], [x1, y1]] = ends.map(|c| sixteenths(c.screen.at));
        let (x, y) = (x1 - x0, y1 - y0);
        let length = x * x + y * y;
        Planes::new(ends, |[a, b, _]| {
            if length == 0.0 { [0.0; 2] } else { [(b - a) * x / length, (b - a) * y / length] }
        })
    }

    /// Planes over a point: the vertex's values everywhere. b1 and b2 are the distances from the
    /// upper-left corner of the point to the right and down, in units of its width; sprite
    /// coordinates use them. `width` is in 1/256 pixels and not 0.
    #[must_use]
    pub fn point(vertex: &ScreenVertex, upper_left: Point, width: i32) -> Planes {
        let step = 16.0 / f64::from(width.max(1));
        let right = Plane { at: 0.0, dx: step, dy: 0.0 };
        let down = Plane { at: 0.0, dx: 0.0, dy: step };
        Planes {
            origin: sixteenths(upper_left),
            z: Plane::constant(vertex.z),
            inv_w: Plane::constant(vertex.inv_w),
            perspective: [right, down],
            linear: [right, down],
            flat: true,
        }
    }

    /// Planes over a point whose values are those of `corner` everywhere. In fill mode POINT, each
    /// corner of a triangle is drawn as a point. A corner that clipping made is not a vertex, so
    /// [`Planes::point`] does not apply to it.
    #[must_use]
    pub fn corner(corner: &Corner) -> Planes {
        Planes::new(&[*corner], |_| [0.0; 2])
    }

    #[inline(always)]
    fn relative(&self, at: Position) -> (f64, f64) {
        (f64::from(at.x) - self.origin[0], f64::from(at.y) - self.origin[1])
    }

    /// Depth at a position, before clamping.
    #[inline]
    #[must_use]
    pub fn z(&self, at: Position) -> f32 {
        let (x, y) = self.relative(at);
        self.z.value(x, y) as f32
    }

    /// Depths of eight pixels of row `y` from column `x` on, and of the eight pixels below them.
    /// They are not clamped yet. `offset` is the position in a pixel, in 1/16 pixels.
    ///
    /// Code for vector instructions should inline this function.
    #[inline(always)]
    #[must_use]
    pub fn z_of_rows(&self, x: u32, y: u32, offset: [u8; 2]) -> [[f32; 8]; 2] {
        let (x, y) = self.relative(Position::in_pixel(x, y, offset));
        let mut columns = [0.0; 8];
        for (column, n) in columns.iter_mut().zip(0..) {
            *column = self.z.at + self.z.dx * (x + f64::from(16 * n));
        }
        [y, y + 16.0].map(|y| {
            let row = self.z.dy * y;
            let mut depths = [0.0; 8];
            for (depth, column) in depths.iter_mut().zip(&columns) {
                *depth = (column + row) as f32;
            }
            depths
        })
    }

    /// w of clip space at a position: the reciprocal of 1/w, which is linear on the screen. The
    /// payload has it as source W.
    #[inline]
    #[must_use]
    pub fn w(&self, at: Position) -> f32 {
        let (x, y) = self.relative(at);
        (1.0 / self.inv_w.value(x, y)) as f32
    }

    /// b1 and b2 at a position.
    #[inline]
    #[must_use]
    pub fn barycentric(&self, kind: Barycentric, at: Position) -> [f32; 2] {
        let (x, y) = self.relative(at);
        if kind == Barycentric::Linear || self.flat {
            return self.linear.map(|p| p.value(x, y) as f32);
        }
        let inv_w = self.inv_w.value(x, y);
        self.perspective.map(|p| (p.value(x, y) / inv_w) as f32)
    }

    /// b1 and b2 at several positions: all b1, then all b2, as in the registers of a payload.
    ///
    /// Code for vector instructions should inline this function.
    #[inline(always)]
    #[must_use]
    pub fn barycentrics<const N: usize>(
        &self,
        kind: Barycentric,
        at: &Positions<N>,
    ) -> [[f32; N]; 2] {
        let mut b = [[0.0; N]; 2];
        if kind == Barycentric::Linear || self.flat {
            for (lanes, plane) in b.iter_mut().zip(&self.linear) {
                *lanes = self.each(at, |x, y| plane.value(x, y) as f32);
            }
        } else {
            let inv_w = self.each(at, |x, y| self.inv_w.value(x, y));
            for (lanes, plane) in b.iter_mut().zip(&self.perspective) {
                let values = self.each(at, |x, y| plane.value(x, y));
                for (lane, (value, inv_w)) in lanes.iter_mut().zip(values.iter().zip(&inv_w)) {
                    *lane = (value / inv_w) as f32;
                }
            }
        }
        b
    }

    /// Depths at several positions, before clamping.
    #[inline(always)]
    #[must_use]
    pub fn depths<const N: usize>(&self, at: &Positions<N>) -> [f32; N] {
        self.each(at, |x, y| self.z.value(x, y) as f32)
    }

    /// [`w`](Self::w) at several positions.
    #[inline(always)]
    #[must_use]
    pub fn ws<const N: usize>(&self, at: &Positions<N>) -> [f32; N] {
        self.each(at, |x, y| (1.0 / self.inv_w.value(x, y)) as f32)
    }

    /// `value` of each position relative to the origin of the planes.
    #[inline(always)]
    fn each<T: Copy + Default, const N: usize>(
        &self,
        at: &Positions<N>,
        value: impl Fn(f64, f64) -> T,
    ) -> [T; N] {
        let mut lanes = [T::default(); N];
        for (lane, (&x, &y)) in lanes.iter_mut().zip(at.x.iter().zip(&at.y)) {
            *lane = value(f64::from(x) - self.origin[0], f64::from(y) - self.origin[1]);
        }
        lanes
    }

    /// Largest change of depth from one pixel to the next, right or down, for depth bias.
    #[must_use]
    pub fn slope(&self) -> f64 {
        16.0 * self.z.dx.abs().max(self.z.dy.abs())
    }

    /// Adds `bias` to depth everywhere.
    pub fn add_to_z(&mut self, bias: f32) {
        self.z.at += f64::from(bias);
    }
}

/// The setup data of one component of an attribute, in four dwords: C1, C2, nothing, A0.
pub type Attribute = [f32; 4];

/// Setup of a component with values `a` at the original vertices.
#[must_use]
pub fn interpolated(a: [f32; 3]) -> Attribute {
    [a[1] - a[0], a[2] - a[0], 0.0, a[0]]
}

/// Setup of a component that is the same everywhere: flat values of the provoking vertex, and all
/// values of points. The bits of `a` do not change, even if they are not a float.
#[must_use]
pub fn constant(a: f32) -> Attribute {
    [0.0, 0.0, 0.0, a]
}

/// Setup of a component with shortest wrap from 1 to 0 (WrapShortest): 1 is added to or subtracted
/// from differences to bring them into -0.5 to 0.5.
#[must_use]
pub fn wrapped(a: [f32; 3]) -> Attribute {
    let short = |d: f32| match d {
        d if d > 0.5 => d - 1.0,
        d if d < -0.5 => d + 1.0,
        d => d,
    };
    [short(a[1] - a[0]), short(a[2] - a[0]), 0.0, a[0]]
}

/// Setup of all four components of a point's sprite coordinate: (0, 0, 0, 1) in the upper-left
/// corner of the point and (1, 1, 0, 1) in the lower-right one, or flipped vertically with
/// `lower_left` (3DSTATE_SBE Point Sprite Texture Coordinate Origin, 2a p.205). Needs the
/// barycentrics of [`Planes::point`].
#[must_use]
pub fn sprite(lower_left: bool) -> [Attribute; 4] {
    let t = if lower_left { [0.0, -1.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0, 0.0] };
    [[1.0, 0.0, 0.0, 0.0], t, constant(0.0), constant(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn corners(v: [(i32, i32, f32, f32); 3]) -> [Corner; 3] {
        std::array::from_fn(|i| {
            let (x, y, z, inv_w) = v[i];
            Corner::vertex(ScreenVertex { at: Point { x, y }, z, inv_w }, i)
        })
    }

    fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// The weights of three homogeneous positions whose sum projects to the point `p`, by Cramer's
    /// rule.
    fn solve(v: [[f64; 3]; 3], p: [f64; 3]) -> [f64; 3] {
        let parts =
            [dot(p, cross(v[1], v[2])), dot(v[0], cross(p, v[2])), dot(v[0], cross(v[1], p))];
        let sum: f64 = parts.iter().sum();
        parts.map(|part| part / sum)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Oracle: the homogeneous equations solved in f64. Results differ by at most two roundings
        /// to f32, and the precision that the determinant loses.
        #[test]
        fn barycentrics_solve_the_projection(
            v in proptest::array::uniform3((-500..3000_i32, -500..3000_i32, -1.0..1.0_f32, 0.1..4.0_f32)),
            at in (0..160_i32, 0..160_i32),
        ) {
            let area = doubled_area(Point { x: v[0].0, y: v[0].1 }, Point { x: v[1].0, y: v[1].1 }, Point { x: v[2].0, y: v[2].1 });
            prop_assume!(area.abs() > 100_000);
            let planes = Planes::triangle(&corners(v)).unwrap();
            let position = Position { x: at.0, y: at.1 };
            let (x, y) = (f64::from(at.0) * 16.0, f64::from(at.1) * 16.0);
            let flat = v.map(|(x, y, ..)| [f64::from(x), f64::from(y), 1.0]);
            let deep = v.map(|(x, y, _, inv_w)| [f64::from(x), f64::from(y), 1.0].map(|c| c / f64::from(inv_w)));
            let linear = solve(flat, [x, y, 1.0]);
            let close = |a: f32, b: f64| (f64::from(a) - b).abs() <= b.abs().max(1.0) * 2.5e-7;
            let b = planes.barycentric(Barycentric::Linear, position);
            prop_assert!(close(b[0], linear[1]) && close(b[1], linear[2]), "{b:?} {linear:?}");

            let z: f64 = (0..3).map(|i| linear[i] * f64::from(v[i].2)).sum();
            prop_assert!(close(planes.z(position), z));
            // Where 1/w is near 0, outside the triangle, results are not checked.
            let inv_w: f64 = (0..3).map(|i| linear[i] * f64::from(v[i].3)).sum();
            prop_assume!(inv_w > 0.05);
            prop_assert!(close(planes.w(position), 1.0 / inv_w));
            let perspective = solve(deep, [x, y, 1.0]);
            let b = planes.barycentric(Barycentric::Perspective, position);
            prop_assert!(close(b[0], perspective[1]) && close(b[1], perspective[2]), "{b:?} {perspective:?}");
            let four = Positions { x: [position.x; 4], y: [position.y; 4] };
            let [b1, b2] = planes.barycentrics(Barycentric::Perspective, &four);
            prop_assert_eq!((b1[3], b2[3]), (b[0], b[1]));
            prop_assert_eq!(planes.depths(&four), [planes.z(position); 4]);
            prop_assert_eq!(planes.ws(&four), [planes.w(position); 4]);
        }
    }

    /// Values that a plane represents exactly are exact.
    #[test]
    fn planes_are_exact() {
        let z = |x: i32, y: i32| x as f32 / 4096.0 + y as f32 / 65536.0;
        let v =
            [(0, 0), (256 * 64, 0), (0, 256 * 64)].map(|(x, y)| (x, y, z(x / 256, y / 256), 1.0));
        let planes = Planes::triangle(&corners(v)).unwrap();
        for (x, y) in [(0, 0), (17, 33), (63, 0), (100, 200)] {
            assert_eq!(planes.z(Position { x: 16 * x, y: 16 * y }), z(x, y));
        }
        assert_eq!(planes.slope(), 1.0 / 4096.0);
        let level =
            Planes::triangle(&corners(v.map(|(x, y, ..)| (x + 77, y - 13, 0.3, 0.7)))).unwrap();
        for at in [Position { x: 5, y: 9 }, Position { x: 99_999, y: -12_345 }] {
            assert_eq!((level.z(at), level.w(at)), (0.3, (1.0 / f64::from(0.7_f32)) as f32));
        }
        assert_eq!(Planes::triangle(&corners([(0, 0, 0.0, 1.0); 3])), None);
    }

    #[test]
    fn lines_change_along_only() {
        let ends = [(0, 0, 0.0, 1.0), (256 * 30, 256 * 40, 1.0, 1.0), (0, 0, 0.0, 1.0)];
        let [a, b, _] = corners(ends);
        let planes = Planes::line(&[a, b]);
        // Test the middle of the line, and a position beside it.
        for (x, y) in [(15, 20), (15 - 8, 20 + 6)] {
            let at = Position { x: 16 * x, y: 16 * y };
            assert!((planes.z(at) - 0.5).abs() < 1e-6);
            assert!((planes.barycentric(Barycentric::Perspective, at)[0] - 0.5).abs() < 1e-6);
            assert_eq!(planes.barycentric(Barycentric::Linear, at)[1], 0.0);
        }
        assert_eq!(Planes::line(&[a, a]).z(Position { x: 3, y: 4 }), 0.0);
    }

    #[test]
    fn sprites_span_the_point() {
        let vertex = ScreenVertex { at: Point { x: 2560, y: 2560 }, z: 0.25, inv_w: 0.5 };
        let planes = Planes::point(&vertex, Point { x: 2560 - 512, y: 2560 - 512 }, 1024);
        let evaluate = |a: Attribute, b: [f32; 2]| a[3] + b[0] * a[0] + b[1] * a[1];
        for (x, y, s, t) in [(8, 8, 0.0, 0.0), (12, 8, 1.0, 0.0), (9, 11, 0.25, 0.75)] {
            let b = planes.barycentric(Barycentric::Perspective, Position { x: 16 * x, y: 16 * y });
            assert_eq!(sprite(false).map(|a| evaluate(a, b)), [s, t, 0.0, 1.0]);
            assert_eq!(sprite(true).map(|a| evaluate(a, b)), [s, 1.0 - t, 0.0, 1.0]);
        }
        assert_eq!((planes.z(Position::default()), planes.w(Position::default())), (0.25, 2.0));
    }

    #[test]
    fn attributes() {
        assert_eq!(interpolated([1.0, 3.0, 7.0]), [2.0, 6.0, 0.0, 1.0]);
        assert_eq!(wrapped([0.875, 0.125, 0.75]), [0.25, -0.125, 0.0, 0.875]);
        assert_eq!(wrapped([0.125, 0.875, 0.5]), [-0.25, 0.375, 0.0, 0.125]);
        let bits = f32::from_bits(0x7fa0_0001);
        assert_eq!(constant(bits)[3].to_bits(), 0x7fa0_0001);
    }
}
