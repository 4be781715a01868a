//! The transform from clip space to the screen: perspective divide, viewport transform, snapping,
//! and the rectangles that bound drawing.

use crate::assumptions::SNAPPING_TIES_GO_TO_EVEN;
use crate::eu::fast::lanes::{map, zip};
use crate::pixel::coordinates::{MAX_COORDINATE, Point, Rect, SUBPIXEL_BITS};

/// One SF_CLIP_VIEWPORT (2d p.411-412).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Viewport {
    /// m00, m11, m22: factors of x, y, z.
    pub scale: [f32; 3],
    /// m30, m31, m32: added after the factors.
    pub translate: [f32; 3],
    /// Guard band: left, right, bottom, top, in units in which the viewport reaches from -1 to 1.
    pub guard_band: [f32; 4],
    /// X Min, X Max, Y Min, Y Max ViewPort: first and last pixel, from the drawing rectangle's
    /// origin.
    pub extents: [f32; 4],
}

impl Viewport {
    /// A viewport that transforms nothing and bounds nothing.
    pub const IDENTITY: Viewport = Viewport {
        scale: [1.0; 3],
        translate: [0.0; 3],
        guard_band: [-16384.0, 16383.0, -16384.0, 16383.0],
        extents: [-16384.0, 16383.0, -16384.0, 16383.0],
    };

    /// The pixels inside the extents, from the drawing rectangle's origin. A minimum that is not a
    /// whole number is rounded down, a maximum up; drivers use whole numbers.
    #[must_use]
    pub fn pixels(&self) -> Rect {
        let [x0, x1, y0, y1] = self.extents;
        // `as` clamps a float to the integer's range, and converts NaN to 0.
        Rect::inclusive(x0.floor() as i32, y0.floor() as i32, x1.ceil() as i32, y1.ceil() as i32)
    }
}

/// The transform from clip space to the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transform {
    /// Divide by w. If false, the position is in screen space, and its fourth component is 1/w
    /// already (Perspective Divide Disable, 2a p.42).
    pub divide: bool,
    /// Apply the viewport's matrix (3DSTATE_SF Viewport Transform Enable).
    pub viewport: bool,
    /// Drawing Rectangle Origin in pixels, added to positions on the screen (2a p.64).
    pub origin: [i32; 2],
    /// Offset in 1/256 pixels that is added to both coordinates
    /// ([`crate::pixel::multisample::Multisample::vertex_offset`]).
    pub offset: i32,
    /// Number of fraction bits to which coordinates are rounded: 8 or 4 (Vertex Sub Pixel Precision
    /// Select).
    pub precision: u32,
}

impl Default for Transform {
    fn default() -> Transform {
        Transform {
            divide: true,
            viewport: true,
            origin: [0, 0],
            offset: 0,
            precision: SUBPIXEL_BITS,
        }
    }
}

/// A vertex on the screen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ScreenVertex {
    /// Position on the screen.
    pub at: Point,
    /// Depth, after the viewport transform.
    pub z: f32,
    /// 1 / w of clip space.
    pub inv_w: f32,
}

impl Transform {
    /// Transforms a position to the screen. Multiplies each coordinate by 1 / w and by the scale,
    /// and adds the translation. Each step is rounded to f32. Leaves out the steps that the state
    /// disables. `None` if x or y of the result is NaN: such primitives are not drawn.
    #[must_use]
    pub fn apply(&self, viewport: &Viewport, [x, y, z, w]: [f32; 4]) -> Option<ScreenVertex> {
        let inv_w = if self.divide { 1.0 / w } else { w };
        let mut p = [x, y, z];
        if self.divide {
            p = p.map(|c| c * inv_w);
        }
        if self.viewport {
            for (c, (scale, translate)) in
                p.iter_mut().zip(viewport.scale.iter().zip(viewport.translate))
            {
                *c = *c * scale + translate;
            }
        }
        if p[0].is_nan() || p[1].is_nan() {
            return None;
        }
        let at = [p[0], p[1]].map(|c| snap(c, self.precision));
        let [ox, oy] =
            self.origin.map(|o| o.saturating_mul(1 << SUBPIXEL_BITS).saturating_add(self.offset));
        let at = Point::new(at[0].saturating_add(ox), at[1].saturating_add(oy));
        Some(ScreenVertex { at, z: p[2], inv_w })
    }
}

/// Several vertices on the screen: lane n of each array belongs to vertex n.
#[derive(Clone, Copy, Debug)]
pub struct ScreenLanes<const N: usize> {
    /// Column of the position.
    pub x: [i32; N],
    /// Row of the position.
    pub y: [i32; N],
    /// Depth, after the viewport transform.
    pub z: [f32; N],
    /// 1 / w of clip space.
    pub inv_w: [f32; N],
    /// True for a vertex for which [`Transform::apply`] returns a result.
    pub drawn: [bool; N],
}

impl Transform {
    /// Does what [`apply`](Self::apply) does, for several positions. The argument has an array for
    /// each of x, y, z and w. If `drawn` is false for a position, its other values have no meaning.
    #[inline(always)]
    #[must_use]
    pub fn apply_lanes<const N: usize>(
        &self,
        viewport: &Viewport,
        [x, y, z, w]: [[f32; N]; 4],
    ) -> ScreenLanes<N> {
        let inv_w = if self.divide { map(w, |w| 1.0 / w) } else { w };
        let mut p = [x, y, z];
        if self.divide {
            p = p.map(|c| zip(c, inv_w, |c, inv_w| c * inv_w));
        }
        if self.viewport {
            for (c, (scale, translate)) in
                p.iter_mut().zip(viewport.scale.iter().zip(viewport.translate))
            {
                *c = map(*c, |c| c * scale + translate);
            }
        }
        let [x, y, z] = p;
        // The sums below are clamped to `MAX_COORDINATE`. Therefore the origin can be clamped to
        // twice that without a change of the result, and the sums do not wrap.
        let origin = self.origin.map(|origin| {
            origin
                .saturating_mul(1 << SUBPIXEL_BITS)
                .saturating_add(self.offset)
                .clamp(-2 * MAX_COORDINATE, 2 * MAX_COORDINATE)
        });
        let precision = self.precision.min(SUBPIXEL_BITS);
        let at = |c: [f32; N], origin: i32| {
            let snapped = map(c, |c| snap_number(c, precision));
            map(snapped, |c| (c + origin).clamp(-MAX_COORDINATE, MAX_COORDINATE))
        };
        ScreenLanes {
            x: at(x, origin[0]),
            y: at(y, origin[1]),
            z,
            inv_w,
            drawn: zip(x, y, |x, y| !x.is_nan() && !y.is_nan()),
        }
    }
}

/// Does what [`snap`] does. For a NaN, the result has no meaning. `precision` is at most
/// [`SUBPIXEL_BITS`].
#[inline(always)]
fn snap_number(coordinate: f32, precision: u32) -> i32 {
    if !SNAPPING_TIES_GO_TO_EVEN {
        return snap(coordinate, precision);
    }
    // The addition rounds to an integer, ties to even. The low bits of the sum are that integer.
    let integer = (scaled(coordinate, precision) + INTEGERS).to_bits() as i32;
    integer << (SUBPIXEL_BITS - precision)
}

/// Adding this number to a small one rounds to an integer, ties to even.
const INTEGERS: f64 = (3_u64 << 51) as f64;

/// A coordinate in units of 1 / 2^`precision` pixels, clamped to [`MAX_COORDINATE`].
#[inline(always)]
fn scaled(coordinate: f32, precision: u32) -> f64 {
    let limit = f64::from(MAX_COORDINATE >> (SUBPIXEL_BITS - precision));
    (f64::from(coordinate) * f64::from(1_u32 << precision)).clamp(-limit, limit)
}

/// Converts a coordinate in pixels to 1/256 pixels. Rounds it to the nearest multiple of 1 /
/// 2^`precision` pixels, where `precision` is 8 or 4. Coordinates beyond [`MAX_COORDINATE`] are
/// clamped; NaN becomes 0.
#[must_use]
pub fn snap(coordinate: f32, precision: u32) -> i32 {
    let precision = precision.min(SUBPIXEL_BITS);
    let scaled = scaled(coordinate, precision);
    let rounded = if SNAPPING_TIES_GO_TO_EVEN {
        (scaled + INTEGERS) - INTEGERS
    } else {
        (scaled + 0.5).floor()
    };
    (rounded as i32) << (SUBPIXEL_BITS - precision)
}

/// The rectangles that bound drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Clipped Drawing Rectangle, from the target's origin (2a p.63).
    pub drawing: Rect,
    /// Drawing Rectangle Origin in pixels.
    pub origin: [i32; 2],
    /// Scissor rectangle of the viewport in use, from the drawing rectangle's origin, if scissoring
    /// is on (2d p.408).
    pub scissor: Option<Rect>,
    /// A rectangle of the caller that also bounds drawing: the screen or a tile of the screen.
    pub target: Rect,
}

impl Bounds {
    /// The pixels of the target in which a primitive of `viewport` may draw. `extents` is false if
    /// the viewport does not bound drawing: without Viewport Transform Enable the viewport pointer
    /// may be stale. Viewport XY Clip Test Enable has no effect here: drivers disable it for wide
    /// points and lines, and rely on the extents.
    #[must_use]
    pub fn window(&self, viewport: &Viewport, extents: bool) -> Rect {
        let [x, y] = self.origin;
        let mut window = self.drawing.intersection(self.target).intersection(Rect::SCREEN);
        if extents {
            window = window.intersection(viewport.pixels().moved(x, y));
        }
        if let Some(scissor) = self.scissor {
            window = window.intersection(scissor.moved(x, y));
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Oracle: f64. The nearest value in both precisions, for 2048 fractions and some whole parts.
    #[test]
    fn snapping_is_to_the_nearest() {
        for whole in [-16384.0, -3.0, 0.0, 1.0, 1023.0, 16383.0_f64] {
            for step in 0..2048 {
                let c = (whole + f64::from(step) / 2048.0) as f32;
                for precision in [4, 8] {
                    let unit = f64::from(1 << precision);
                    let snapped = f64::from(snap(c, precision)) / 256.0;
                    assert!(
                        (snapped - f64::from(c)).abs() * unit <= 0.5,
                        "{c} at {precision} bits: {snapped}"
                    );
                    assert_eq!((snapped * unit).fract(), 0.0);
                }
            }
        }
        assert_eq!([0.5, 1.5, 2.5].map(|c| snap(c / 256.0, 8)), [0, 2, 2]);
        assert_eq!(snap(f32::INFINITY, 8), MAX_COORDINATE);
        assert_eq!(snap(-1e30, 4), -MAX_COORDINATE);
        assert_eq!(snap(f32::NAN, 8), 0);
    }

    /// A viewport as drivers set it for 200 x 100 pixels, top row first.
    const VIEWPORT: Viewport = Viewport {
        scale: [100.0, -50.0, 0.5],
        translate: [100.0, 50.0, 0.5],
        guard_band: [-8.0, 8.0, -8.0, 8.0],
        extents: [0.0, 199.0, 0.0, 99.0],
    };

    #[test]
    fn positions_reach_the_screen() {
        let transform = Transform { origin: [10, -4], offset: 128, ..Transform::default() };
        let v = transform.apply(&VIEWPORT, [-2.0, 2.0, 1.0, 4.0]).unwrap();
        assert_eq!(
            v,
            ScreenVertex {
                at: Point { x: 60 * 256 + 128, y: 21 * 256 + 128 },
                z: 0.625,
                inv_w: 0.25
            }
        );
        let screen = Transform { divide: false, viewport: false, ..Transform::default() };
        let v = screen.apply(&VIEWPORT, [3.25, 7.0, 0.75, 0.125]).unwrap();
        assert_eq!(v, ScreenVertex { at: Point { x: 832, y: 1792 }, z: 0.75, inv_w: 0.125 });
        assert_eq!(transform.apply(&VIEWPORT, [0.0; 4]), None);
        assert!(transform.apply(&VIEWPORT, [1.0, 1.0, 0.0, 0.0]).is_some());
        let far = Transform { origin: [i32::MAX, i32::MIN], ..transform };
        assert!(far.apply(&VIEWPORT, [1.0; 4]).is_some());
    }

    proptest! {
        /// Oracle: `apply`, position by position.
        #[test]
        fn lanes_are_single_positions(
            positions in proptest::array::uniform8(proptest::array::uniform4(coordinate())),
            divide in any::<bool>(),
            matrix in any::<bool>(),
            origin in proptest::array::uniform2(prop_oneof![
                -20_000..20_000_i32, Just(0), Just(i32::MAX), Just(i32::MIN),
            ]),
            offset in prop_oneof![Just(0), Just(128)],
            precision in prop_oneof![Just(4_u32), Just(8)],
        ) {
            let transform = Transform { divide, viewport: matrix, origin, offset, precision };
            let lanes = [0, 1, 2, 3].map(|c: usize| positions.map(|position| position[c]));
            let lanes = transform.apply_lanes(&VIEWPORT, lanes);
            for (n, position) in positions.into_iter().enumerate() {
                let single = transform.apply(&VIEWPORT, position);
                prop_assert_eq!(lanes.drawn[n], single.is_some());
                if let Some(ScreenVertex { at, z, inv_w }) = single {
                    prop_assert_eq!(at, Point { x: lanes.x[n], y: lanes.y[n] });
                    prop_assert_eq!(z.to_bits(), lanes.z[n].to_bits());
                    prop_assert_eq!(inv_w.to_bits(), lanes.inv_w[n].to_bits());
                }
            }
        }
    }

    /// Coordinates near and far, on the snapping grid and between, and special values.
    fn coordinate() -> impl Strategy<Value = f32> {
        prop_oneof![
            4 => -4.0..4.0_f32,
            1 => -1e7..1e7_f32,
            1 => (-4096..4096_i32).prop_map(|n| n as f32 / 512.0),
            1 => any::<f32>(),
            1 => prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(f32::NAN), Just(f32::INFINITY)],
        ]
    }

    #[test]
    fn every_rectangle_bounds_the_window() {
        let all = Rect::inclusive(0, 0, 16383, 16383);
        let bounds = Bounds {
            drawing: all,
            origin: [0, 0],
            scissor: None,
            target: Rect::inclusive(0, 0, 299, 299),
        };
        let window = |b: Bounds| b.window(&VIEWPORT, true);
        assert_eq!(window(bounds), Rect::inclusive(0, 0, 199, 99));
        assert_eq!(bounds.window(&VIEWPORT, false), bounds.target);
        let scissor = Some(Rect::inclusive(5, 6, 7, 8));
        assert_eq!(window(Bounds { scissor, ..bounds }), Rect::inclusive(5, 6, 7, 8));
        assert_eq!(
            window(Bounds { scissor, origin: [20, 10], ..bounds }),
            Rect::inclusive(25, 16, 27, 18)
        );
        let drawing = Rect::inclusive(50, 50, 400, 400);
        assert_eq!(window(Bounds { drawing, ..bounds }), Rect::inclusive(50, 50, 199, 99));
        assert!(
            window(Bounds { scissor: Some(Rect::inclusive(9, 0, 8, 99)), ..bounds }).is_empty()
        );
        let odd = Viewport { extents: [f32::NAN, f32::INFINITY, -1e30, 10.5], ..VIEWPORT };
        assert_eq!(bounds.window(&odd, true), Rect::inclusive(0, 0, 299, 11));
    }
}
