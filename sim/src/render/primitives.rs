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

impl Shape {
    /// Calls `each` for every quad with a covered sample in `window`. The order is always the same.
    pub fn rasterise(&self, samples: &Samples, window: Rect, each: &mut impl FnMut(Quad)) {
        match self {
            Shape::Convex(convex) => convex.rasterise(samples, window, each),
            Shape::Thin(line) => line.rasterise(samples, window, each),
        }
    }
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
    /// Points: index of the primitive's vertex that the values of the point come from. A point with
    /// this index has sprite coordinates, also if it is a corner of a triangle (fill mode POINT).
    pub corner: Option<u8>,
}

impl SetupPrimitive {
    /// Calls `each` for every quad with a covered sample in `window`, always in the same order.
    pub fn rasterise(&self, samples: &Samples, window: Rect, each: &mut impl FnMut(Quad)) {
        self.shape.rasterise(samples, window, each);
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
    pub(crate) fn surface(convex: Convex, planes: Planes, back: bool) -> SetupPrimitive {
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

/// How the coverage of an antialiased line depends on the distances to the edges of its rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ramps {
    /// Coverage goes from 0 to 1 over these distances from the nearer side and the nearer end
    /// (Sandy Bridge vol 2 part 1 p.244).
    Regions([f64; 2]),
    /// Coverage is the product of four factors, one for each edge: slope times distance minus bias,
    /// clamped to 0 to 1. The first pair is slope and bias of the sides, the second pair those of
    /// the ends (Sandy Bridge vol 2 part 1 p.292-294).
    Slopes([[f64; 2]; 2]),
}

/// The covered part of a pixel, for antialiased lines and smooth points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Smooth {
    /// A line: a rectangle with a cap beyond each end.
    Line {
        /// Middle of the line in pixels.
        centre: [f64; 2],
        /// Direction, of length 1.
        direction: [f64; 2],
        /// Half the width and half the length in pixels.
        half: [f64; 2],
        /// Length of a cap in pixels.
        cap: f64,
        /// Ratio of the measured distance to the true distance: 1, or with
        /// AALINEDISTANCE_MANHATTAN the sum of the absolute components of the direction
        /// (assumptions::MANHATTAN_DISTANCE_IS_ALONG_THE_PERPENDICULAR).
        stretch: f64,
        /// How coverage depends on distance.
        ramps: Ramps,
    },
    /// A disc, for smooth points.
    Disc {
        /// Middle in pixels.
        centre: [f64; 2],
        /// Radius in pixels.
        radius: f64,
        /// Width of the ramp across the border in pixels.
        region: f64,
    },
}

impl Smooth {
    /// Coverage, 0 to 1, at a position in pixels.
    #[must_use]
    pub fn coverage(&self, x: f32, y: f32) -> f32 {
        let from = |[cx, cy]: [f64; 2]| (f64::from(x) - cx, f64::from(y) - cy);
        match *self {
            Smooth::Line { centre, direction: [ux, uy], half, cap, stretch, ramps } => {
                let (x, y) = from(centre);
                let (across, along) = ((x * uy - y * ux).abs(), (x * ux + y * uy).abs());
                let across = across * stretch;
                // Distance from the end of the line, positive in the cap.
                let beyond = (along - half[1]) * stretch;
                match ramps {
                    Ramps::Regions([side, end]) => {
                        let side = ((half[0] - across) / side).clamp(0.0, 1.0);
                        (side * ((cap - beyond) / end).clamp(0.0, 1.0)) as f32
                    }
                    Ramps::Slopes([side, end]) => {
                        let edge = |[slope, bias]: [f64; 2], distance: f64| {
                            (slope * distance - bias).clamp(0.0, 1.0)
                        };
                        let sides = edge(side, half[0] - across) * edge(side, half[0] + across);
                        let far = cap + (along + half[1]) * stretch;
                        (sides * edge(end, cap - beyond) * edge(end, far)) as f32
                    }
                }
            }
            Smooth::Disc { centre, radius, region } => {
                let (x, y) = from(centre);
                let inside = radius - (x * x + y * y).sqrt();
                (inside / region + 0.5).clamp(0.0, 1.0) as f32
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
    /// Index of the primitive's viewport.
    pub viewport: usize,
    /// Render target array index.
    pub array_index: u32,
    /// The polygon stipple applies.
    pub stippled: bool,
    /// Number of the primitive among those of the draw.
    pub number: u32,
}
