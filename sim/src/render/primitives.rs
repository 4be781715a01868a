//! Primitives after setup: the samples that they cover, and the values inside.

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
    /// The samples inside edges.
    Convex(Convex),
    /// All samples of the pixels that a thin line covers.
    Thin(ThinLine),
}

/// The kind of primitive. Polygon stipple applies to filled primitives, line stipple to lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A filled triangle, a part of one, or a rectangle.
    Surface,
    /// A line.
    Line,
    /// A point.
    Point,
}

/// A primitive after setup, which can be rasterised.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SetupPrimitive {
    /// Filled surface, line or point.
    pub kind: Kind,
    /// Which samples it covers.
    pub shape: Shape,
    /// Planes of depth, w and barycentrics.
    pub planes: Planes,
    /// The primitive faces backward. Lines and points made from a triangle have the facing of the
    /// triangle; other lines and points face forward.
    pub back: bool,
    /// Antialiased lines and smooth points: the covered part of each pixel.
    pub smooth: Option<Smooth>,
    /// Lines: the position of the stipple pattern.
    pub stippled: Option<Stippled>,
    /// Points: the vertex of the primitive that their values come from. Such points have sprite
    /// coordinates, also if they are corners of a triangle (fill mode POINT).
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

    /// The pixels that can have a covered sample. The primitive touches the tiles of the screen
    /// that these pixels are in.
    #[must_use]
    pub fn pixels(&self, samples: &Samples) -> Rect {
        match &self.shape {
            Shape::Convex(convex) => convex.pixels(samples),
            Shape::Thin(line) => line.pixels(),
        }
    }

    /// The setup primitive of a triangle, a part of one, or a rectangle.
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

/// The covered part of a pixel, for antialiased lines and smooth points: a ramp across the border,
/// `region` wide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Smooth {
    /// A line: the product of a ramp across it and a ramp along it.
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
    /// A disc, for smooth points.
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
    /// Coverage, 0 to 1, at a position in pixels.
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

/// A primitive after setup, with the values that are the same for all of its pixels.
#[derive(Clone, Copy, Debug)]
pub struct BinnedPrimitive {
    /// The primitive after setup.
    pub setup: SetupPrimitive,
    /// The shape before setup.
    pub shape: topology::Shape,
    /// Index of its viewport.
    pub viewport: usize,
    /// Render target array index.
    pub array_index: u32,
    /// The polygon stipple applies.
    pub stippled: bool,
}
