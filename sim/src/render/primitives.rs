//! Primitives after setup: what they cover, and the values inside.

use super::stipple::Stippled;
use super::thin_line::ThinLine;
use super::topology;
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::Planes;
use crate::pixel::multisample::Samples;
use crate::pixel::raster::{Convex, Quad};

/// Which samples a primitive covers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Those inside of edges.
    Convex(Convex),
    /// Those of the pixels that a thin line leaves.
    Thin(ThinLine),
}

/// What kind of primitive it is: polygon stipple is for triangles and rectangles, line stipple for
/// lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A triangle, or a part of one, or a rectangle, drawn as a surface.
    Surface,
    /// A line.
    Line,
    /// A point.
    Point,
}

/// Something that can be rasterised.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SetupPrimitive {
    /// What it is.
    pub kind: Kind,
    /// Which samples it covers.
    pub shape: Shape,
    /// Depth, w and barycentrics inside.
    pub planes: Planes,
    /// Does it show its back? Lines and points of a triangle do when the triangle does, others
    /// never.
    pub back: bool,
    /// Antialiased lines and smooth points: how much of each pixel they cover.
    pub smooth: Option<Smooth>,
    /// Lines: where the stipple pattern starts on them.
    pub stippled: Option<Stippled>,
    /// Points: the vertex of the primitive whose values they have. Sprite coordinates hold for
    /// them, also where they are corners of a triangle (fill mode POINT).
    pub corner: Option<u8>,
}

impl SetupPrimitive {
    /// Calls `each` for every quad with a covered sample in `window`, always in the same order.
    pub fn rasterise(&self, samples: &Samples, window: Rect, each: &mut impl FnMut(Quad)) {
        match &self.shape {
            Shape::Convex(convex) => convex.rasterise(samples, window, each),
            Shape::Thin(line) => line.rasterise(samples, window, each),
        }
    }

    /// The pixels that can have a covered sample: what decides which screen tiles it touches.
    #[must_use]
    pub fn pixels(&self, samples: &Samples) -> Rect {
        match &self.shape {
            Shape::Convex(convex) => convex.pixels(samples),
            Shape::Thin(line) => line.pixels(),
        }
    }

    /// A triangle, a part of one, or a rectangle.
    pub(super) fn surface(convex: Convex, planes: Planes, back: bool) -> SetupPrimitive {
        let shape = Shape::Convex(convex);
        SetupPrimitive {
            kind: Kind::Surface,
            shape,
            planes,
            back,
            smooth: None,
            stippled: None,
            corner: None,
        }
    }
}

/// How much of a pixel an antialiased line or a smooth point covers: a ramp across its border,
/// `region` wide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Smooth {
    /// A line: distances across and along.
    Line {
        /// Middle of the line in pixels.
        centre: [f64; 2],
        /// Direction, of length 1.
        direction: [f64; 2],
        /// Half the width and half the length in pixels.
        half: [f64; 2],
        /// Width of the ramps at the sides and at the ends in pixels.
        region: [f64; 2],
    },
    /// A disc.
    Disc {
        /// Middle in pixels.
        centre: [f64; 2],
        /// Radius in pixels.
        radius: f64,
        /// Width of the ramp in pixels.
        region: f64,
    },
}

impl Smooth {
    /// Coverage, 0 to 1, at a position in pixels: where the pixel is evaluated.
    #[must_use]
    pub fn coverage(&self, x: f32, y: f32) -> f32 {
        let ramp = |inside: f64, region: f64| (inside / region + 0.5).clamp(0.0, 1.0);
        let from = |[cx, cy]: [f64; 2]| (f64::from(x) - cx, f64::from(y) - cy);
        match *self {
            Smooth::Line { centre, direction: [ux, uy], half, region } => {
                let (x, y) = from(centre);
                let (across, along) = ((x * uy - y * ux).abs(), (x * ux + y * uy).abs());
                (ramp(half[0] - across, region[0]) * ramp(half[1] - along, region[1])) as f32
            }
            Smooth::Disc { centre, radius, region } => {
                let (x, y) = from(centre);
                ramp(radius - (x * x + y * y).sqrt(), region) as f32
            }
        }
    }
}

/// A primitive as setup made it, with what all of its pixels have in common.
#[derive(Clone, Copy, Debug)]
pub struct BinnedPrimitive {
    /// Its shape and planes.
    pub setup: SetupPrimitive,
    /// What it was before setup.
    pub shape: topology::Shape,
    /// Its viewport.
    pub viewport: usize,
    /// Render target array index.
    pub array_index: u32,
    /// The pattern of polygons holds.
    pub stippled: bool,
}
