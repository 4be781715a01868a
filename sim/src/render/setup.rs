//! Setup: from vertices to objects that can be rasterised: facing, culling, fill modes, depth bias, rectangles.
//!
//! [`Setup`] takes a triangle, rectangle, line or point with what clipping said of it, and hands out [`Object`]s: none, one,
//! or several where a cut triangle has more corners or is drawn as lines or points. An object knows which samples it covers
//! ([`Object::rasterise`]) and every value inside ([`Object::planes`]).

use super::clip::{ClipVertex, Remains, Verdict};
use super::interpolate::{Corner, Planes};
use super::multisample::{Multisample, Samples};
use super::points_lines::{self, LineState, PointState, Smooth, Stippled};
use super::raster::{Convex, FillRule, Point, Quad, doubled_area};
use super::viewport::{Rect, Transform, Viewport};
use crate::assumptions::CLIPPED_CORNERS_ARE_NO_POINTS;

/// Cull Mode (3DSTATE_RASTER, 2a p.179): which triangles are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CullMode {
    /// All.
    Both,
    /// None.
    #[default]
    None,
    /// Those that show their front.
    Front,
    /// Those that show their back.
    Back,
}

/// How triangles are drawn (Front and Back Face Fill Mode, 2a p.181).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FillMode {
    /// As surfaces.
    #[default]
    Solid,
    /// As lines along their edges.
    Wireframe,
    /// As points at their vertices.
    Point,
}

/// What depth bias depends on in the depth buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DepthFormat {
    /// D16_UNORM.
    Unorm16,
    /// D24_UNORM_X8_UINT; also where there is no buffer.
    #[default]
    Unorm24,
    /// D32_FLOAT.
    Float32,
}

/// Global Depth Offset (3DSTATE_RASTER, 2a p.180-182).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DepthBias {
    /// For triangles drawn as surfaces, lines and points.
    pub enable: [bool; 3],
    /// Times the format's smallest step.
    pub constant: f32,
    /// Times the largest slope.
    pub scale: f32,
    /// Bound of the sum, above if positive, below if negative; 0 for none.
    pub clamp: f32,
    /// Legacy Global Depth Bias Enable (3DSTATE_SF, 2a p.211): the constant is added as it is.
    pub unscaled: bool,
    /// Format of the depth buffer.
    pub format: DepthFormat,
}

impl DepthBias {
    /// What is added to the depth of a triangle with this largest depth at a corner and this slope per pixel
    /// (gen8_facts 7, Direct3D's definition).
    #[must_use]
    pub fn of(&self, largest: f32, slope: f64) -> f32 {
        let step = match self.format {
            _ if self.unscaled => 1.0,
            DepthFormat::Unorm16 => exp2(-16),
            DepthFormat::Unorm24 => exp2(-24),
            // Exponent of the number, less the bits of its fraction.
            DepthFormat::Float32 => exp2(((largest.to_bits() >> 23 & 0xff) as i32 - 127 - 23).max(-149)),
        };
        let sum = f64::from(self.constant) * step + f64::from(self.scale) * slope;
        let bias = match f64::from(self.clamp) {
            clamp if clamp > 0.0 => sum.min(clamp),
            clamp if clamp < 0.0 => sum.max(clamp),
            _ => sum,
        };
        if bias.is_nan() { 0.0 } else { bias as f32 }
    }
}

/// 2 to the power of `n`, from -1000 to 1000.
fn exp2(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// State of setup.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SetupState {
    /// Which triangles are dropped.
    pub cull: CullMode,
    /// Do triangles that go round counterclockwise on the screen show their front? Else clockwise ones do.
    pub front_is_counterclockwise: bool,
    /// How those that show their front are drawn.
    pub front: FillMode,
    /// How those that show their back are drawn.
    pub back: FillMode,
    /// What is added to their depth.
    pub bias: DepthBias,
    /// How lines are drawn.
    pub line: LineState,
    /// How points are drawn.
    pub point: PointState,
}

/// Which samples an object covers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Those inside of edges.
    Convex(Convex),
    /// Those of the pixels that a thin line leaves.
    Thin(points_lines::ThinLine),
}

/// What kind of object it is: polygon stipple is for triangles and rectangles, line stipple for lines.
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
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// Which samples it covers.
    pub shape: Shape,
    /// Depth, w and barycentrics inside.
    pub planes: Planes,
    /// Does it show its back? Lines and points of a triangle do when the triangle does, others never.
    pub back: bool,
    /// Antialiased lines and smooth points: how much of each pixel they cover.
    pub smooth: Option<Smooth>,
    /// Lines: where the stipple pattern starts on them.
    pub stippled: Option<Stippled>,
}

impl Object {
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

    fn surface(convex: Convex, planes: Planes, back: bool) -> Object {
        let shape = Shape::Convex(convex);
        Object { kind: Kind::Surface, shape, planes, back, smooth: None, stippled: None }
    }
}

/// Setup of the objects of one draw in one viewport.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// State of the unit.
    pub state: &'a SetupState,
    /// The viewport that the object names.
    pub viewport: &'a Viewport,
    /// How positions get to the screen.
    pub transform: Transform,
    /// How pixels are sampled.
    pub multisample: &'a Multisample,
}

/// What is known of a triangle beside its vertices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TriangleInfo {
    /// Edge n goes from vertex n to the next one: is it an outer edge of the primitive, drawn in fill mode WIREFRAME and, its
    /// first vertex, in POINT? All are unless edge flags or the topology say otherwise.
    pub edges: [bool; 3],
    /// Width of a vertex's point in pixels, for fill mode POINT with widths from vertices.
    pub point_width: [f32; 3],
}

impl Default for TriangleInfo {
    fn default() -> TriangleInfo {
        TriangleInfo { edges: [true; 3], point_width: [1.0; 3] }
    }
}

/// Most corners of a polygon on the screen.
const MAX_CORNERS: usize = super::clip::MAX_CORNERS;

/// The corners of an object on the screen.
struct Corners {
    list: [Corner; MAX_CORNERS],
    /// Which original edge starts here, if any.
    edges: [Option<u8>; MAX_CORNERS],
    count: usize,
}

impl Corners {
    fn all(&self) -> &[Corner] {
        &self.list[..self.count]
    }
}

impl Setup<'_> {
    /// The corners that are left of an object, on the screen; `None` if there is nothing to draw.
    fn corners(&self, verdict: Verdict, vertices: &[ClipVertex], remains: &Remains) -> Option<Corners> {
        let mut c = Corners { list: [Corner::default(); MAX_CORNERS], edges: [None; MAX_CORNERS], count: 0 };
        match verdict {
            Verdict::Reject => return None,
            Verdict::Accept => {
                for (i, v) in vertices.iter().enumerate() {
                    c.list[i] = Corner::vertex(self.transform.apply(self.viewport, v.position)?, i);
                    c.edges[i] = Some(i as u8);
                }
                c.count = vertices.len();
            }
            Verdict::Cut => {
                for (i, v) in remains.corners().iter().enumerate() {
                    let screen = self.transform.apply(self.viewport, v.position)?;
                    c.list[i] = Corner { screen, weights: v.weights, linear: v.linear };
                    c.edges[i] = v.edge;
                }
                c.count = remains.corners().len();
            }
        }
        Some(c)
    }

    /// Does a triangle of this area, positive for clockwise ones, show its back?
    fn shows_back(&self, area: i64) -> bool {
        (area < 0) != self.state.front_is_counterclockwise
    }

    /// A triangle.
    pub fn triangle(
        &self,
        vertices: &[ClipVertex; 3],
        verdict: Verdict,
        remains: &Remains,
        info: &TriangleInfo,
        each: &mut impl FnMut(&Object),
    ) {
        let state = self.state;
        if state.cull == CullMode::Both {
            return;
        }
        let Some(corners) = self.corners(verdict, vertices, remains) else { return };
        let all = corners.all();
        let at = |i: usize| all[i].screen.at;
        // The whole polygon tells the direction: its parts can be so thin that snapping turns them over.
        let area: i64 = (2..all.len()).map(|i| doubled_area(at(0), at(i - 1), at(i))).sum();
        if area == 0 {
            return;
        }
        let back = self.shows_back(area);
        match state.cull {
            CullMode::Front if !back => return,
            CullMode::Back if back => return,
            _ => {}
        }
        let fill = if back { state.back } else { state.front };

        if fill == FillMode::Solid {
            for i in 2..all.len() {
                let part = [all[0], all[i - 1], all[i]];
                let part_area = doubled_area(at(0), at(i - 1), at(i));
                if (part_area < 0) != (area < 0) {
                    continue;
                }
                let points = part.map(|c| c.screen.at);
                let Some(convex) = Convex::triangle(points, FillRule::UpperLeft) else { continue };
                let Some(mut planes) = Planes::triangle(&part) else { continue };
                self.bias(&mut planes, &part, FillMode::Solid, None);
                each(&Object::surface(convex, planes, back));
            }
            return;
        }
        // Slope of the triangle as a whole: of the first part that has one.
        let slope =
            (2..all.len()).find_map(|i| Planes::triangle(&[all[0], all[i - 1], all[i]])).map(|p| p.slope());
        for i in 0..all.len() {
            let drawn = corners.edges[i].is_some_and(|edge| info.edges[usize::from(edge)]);
            if !drawn {
                continue;
            }
            if fill == FillMode::Wireframe {
                let ends = [all[i], all[(i + 1) % all.len()]];
                let line = points_lines::line(&state.line, self.multisample, &ends, 0, true);
                if let Some(mut object) = line {
                    self.bias(&mut object.planes, all, fill, slope);
                    each(&Object { back, ..object });
                }
            } else {
                let vertex = all[i].weights.iter().position(|&w| w == 1.0);
                if vertex.is_none() && CLIPPED_CORNERS_ARE_NO_POINTS {
                    continue;
                }
                let width = vertex.map_or(1.0, |v| info.point_width[v]);
                let point = points_lines::point(&state.point, self.multisample, &all[i].screen, width);
                if let Some(object) = point {
                    let mut planes = Planes::corner(&all[i]);
                    self.bias(&mut planes, all, fill, slope);
                    each(&Object { back, planes, ..object });
                }
            }
        }
    }

    fn bias(&self, planes: &mut Planes, corners: &[Corner], fill: FillMode, slope: Option<f64>) {
        let bias = &self.state.bias;
        let enabled = match fill {
            FillMode::Solid => bias.enable[0],
            FillMode::Wireframe => bias.enable[1],
            FillMode::Point => bias.enable[2],
        };
        if enabled {
            let largest = corners.iter().fold(0.0_f32, |z, c| z.max(c.screen.z.abs()));
            planes.add_to_z(bias.of(largest, slope.unwrap_or_else(|| planes.slope())));
        }
    }

    /// A rectangle of RECTLIST: vertices lower right, lower left and upper left (or any three corners in turn); the fourth
    /// lies opposite the second. It is not culled, nor cut: what is not rejected is drawn, and the window bounds it.
    pub fn rectangle(&self, vertices: &[ClipVertex; 3], verdict: Verdict, each: &mut impl FnMut(&Object)) {
        let verdict = if verdict == Verdict::Cut { Verdict::Accept } else { verdict };
        let Some(corners) = self.corners(verdict, vertices, &Remains::default()) else { return };
        let [a, b, c] = [corners.list[0], corners.list[1], corners.list[2]];
        let [p, q, r] = [a, b, c].map(|v| v.screen.at);
        let fourth = Point::new(p.x - q.x + r.x, p.y - q.y + r.y);
        let Some(convex) = Convex::quadrangle([p, q, r, fourth], FillRule::UpperLeft) else { return };
        let Some(mut planes) = Planes::triangle(&[a, b, c]) else { return };
        self.bias(&mut planes, &[a, b, c], FillMode::Solid, None);
        let back = self.shows_back(doubled_area(p, q, r));
        each(&Object::surface(convex, planes, back));
    }

    /// A line. `stipple` is where the stipple pattern stands at its start; gives how far the pattern went on. `last` is
    /// whether it is the last line of its primitive, whose last pixel Last Pixel Enable lights.
    pub fn line(
        &self,
        vertices: &[ClipVertex; 2],
        verdict: Verdict,
        remains: &Remains,
        stipple: u32,
        last: bool,
        each: &mut impl FnMut(&Object),
    ) -> u32 {
        let Some(corners) = self.corners(verdict, vertices, remains) else { return 0 };
        let ends = [corners.list[0], corners.list[1]];
        if let Some(object) = points_lines::line(&self.state.line, self.multisample, &ends, stipple, last) {
            each(&object);
        }
        points_lines::pixels_along(ends[0].screen.at, ends[1].screen.at)
    }

    /// A point; `width` is that of its vertex in pixels, used if widths come from vertices.
    pub fn point(&self, vertex: &ClipVertex, verdict: Verdict, width: f32, each: &mut impl FnMut(&Object)) {
        if verdict == Verdict::Reject {
            return;
        }
        let Some(screen) = self.transform.apply(self.viewport, vertex.position) else { return };
        if let Some(object) = points_lines::point(&self.state.point, self.multisample, &screen, width) {
            each(&object);
        }
    }
}
