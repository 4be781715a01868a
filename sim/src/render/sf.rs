//! Strips and fans (setup): makes primitives for the rasteriser from the vertices after clipping.
//! Facing, culling, fill modes, depth bias and rectangles are here.
//!
//! [`Setup`] takes a triangle, rectangle, line or point with the result of clipping, and emits
//! [`SetupPrimitive`]s: none, one, or several if a cut triangle has more corners or is drawn as
//! lines or points. A setup primitive gives the samples that it covers
//! ([`SetupPrimitive::rasterise`]) and the values inside ([`SetupPrimitive::planes`]).

use super::clip::{ClipVertex, Remains, Verdict};
use super::depth::DepthFormat;
use super::points_lines::{self, LineState, PointState};
use super::primitives::SetupPrimitive;
use super::stipple::pixels_along;
use crate::assumptions::CLIPPED_CORNERS_ARE_NO_POINTS;
use crate::pixel::coordinates::{Point, doubled_area};
use crate::pixel::interpolate::{Corner, Planes};
use crate::pixel::multisample::Multisample;
use crate::pixel::raster::{Convex, FillRule};
use crate::pixel::viewport::{Transform, Viewport};

/// Cull Mode (3DSTATE_RASTER, 2a p.176): which triangles are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CullMode {
    /// All triangles are dropped.
    Both,
    /// No triangles are dropped.
    #[default]
    None,
    /// Triangles that face forward are dropped.
    Front,
    /// Triangles that face backward are dropped.
    Back,
}

/// How triangles are drawn (Front and Back Face Fill Mode, 2a p.178).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FillMode {
    /// Triangles are filled.
    #[default]
    Solid,
    /// Triangles are drawn as lines along their edges.
    Wireframe,
    /// Triangles are drawn as points at their vertices.
    Point,
}

/// Global Depth Offset (3DSTATE_RASTER, 2a p.177-179).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DepthBias {
    /// Enables for filled triangles, triangles drawn as lines, and triangles drawn as points.
    pub enable: [bool; 3],
    /// Global Depth Offset Constant, multiplied by the smallest step of the format.
    pub constant: f32,
    /// Global Depth Offset Scale, multiplied by the largest slope.
    pub scale: f32,
    /// Global Depth Offset Clamp: upper bound of the sum if positive, lower bound if negative, none
    /// if 0.
    pub clamp: f32,
    /// Legacy Global Depth Bias Enable (3DSTATE_SF, 2a p.212): the constant is not multiplied.
    pub unscaled: bool,
    /// Format of the depth buffer; Unorm24 for values of Surface Format that no depth buffer has.
    pub format: DepthFormat,
}

impl DepthBias {
    /// The bias that is added to the depth of a triangle (gen8_facts 7, Direct3D's definition).
    /// `largest` is the largest absolute depth of its corners, `slope` the largest change of its
    /// depth from one pixel to the next. A bias that is NaN becomes 0.
    #[must_use]
    pub fn of(&self, largest: f32, slope: f64) -> f32 {
        let step = match self.format {
            _ if self.unscaled => 1.0,
            DepthFormat::Unorm16 => exp2(-16),
            DepthFormat::Unorm24 => exp2(-24),
            // The exponent of `largest` minus 23 fraction bits.
            DepthFormat::Float32 => {
                exp2(((largest.to_bits() >> 23 & 0xff) as i32 - 127 - 23).max(-149))
            }
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

/// 2 to the power of `n`, which must be from -1000 to 1000.
fn exp2(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// State of setup.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SetupState {
    /// Which triangles are dropped.
    pub cull: CullMode,
    /// Triangles that are counterclockwise on the screen face forward; otherwise clockwise ones do.
    pub front_is_counterclockwise: bool,
    /// Fill mode of triangles that face forward.
    pub front: FillMode,
    /// Fill mode of triangles that face backward.
    pub back: FillMode,
    /// Depth bias of triangles.
    pub bias: DepthBias,
    /// How lines are drawn.
    pub line: LineState,
    /// How points are drawn.
    pub point: PointState,
}

/// Setup of the primitives of one draw in one viewport.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// State of setup.
    pub state: &'a SetupState,
    /// The viewport of the primitive.
    pub viewport: &'a Viewport,
    /// The transform of positions to the screen.
    pub transform: Transform,
    /// How pixels are sampled.
    pub multisample: &'a Multisample,
}

/// Properties of a triangle besides its vertices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TriangleInfo {
    /// Outer edges of the primitive. Edge n goes from vertex n to the next one. Fill mode WIREFRAME
    /// draws outer edges, fill mode POINT their first vertices. All edges are outer edges unless
    /// edge flags or the topology exclude them.
    pub edges: [bool; 3],
    /// Width of a vertex's point in pixels, for fill mode POINT with widths from vertices.
    pub point_width: [f32; 3],
}

impl Default for TriangleInfo {
    fn default() -> TriangleInfo {
        TriangleInfo { edges: [true; 3], point_width: [1.0; 3] }
    }
}

/// Maximum number of corners of a polygon on the screen.
const MAX_CORNERS: usize = super::clip::MAX_CORNERS;

/// The corners of a primitive on the screen.
struct Corners {
    list: [Corner; MAX_CORNERS],
    /// The original edge that starts at each corner, if there is one.
    edges: [Option<u8>; MAX_CORNERS],
    count: usize,
}

impl Corners {
    fn all(&self) -> &[Corner] {
        &self.list[..self.count]
    }
}

impl Setup<'_> {
    /// The corners of a primitive on the screen after clipping; `None` if there is nothing to draw.
    fn corners(
        &self,
        verdict: Verdict,
        vertices: &[ClipVertex],
        remains: &Remains,
    ) -> Option<Corners> {
        let mut c = Corners {
            list: [Corner::default(); MAX_CORNERS],
            edges: [None; MAX_CORNERS],
            count: 0,
        };
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

    /// True if a triangle with this area faces backward. The area is positive if the triangle is
    /// clockwise on the screen.
    pub fn shows_back(&self, area: i64) -> bool {
        (area < 0) != self.state.front_is_counterclockwise
    }

    /// True if Cull Mode drops triangles with this facing.
    pub fn culls(&self, back: bool) -> bool {
        match self.state.cull {
            CullMode::Both => true,
            CullMode::None => false,
            CullMode::Front => !back,
            CullMode::Back => back,
        }
    }

    /// Sets up a filled triangle that is not cut.
    fn uncut(&self, vertices: &[ClipVertex; 3], each: &mut impl FnMut(&SetupPrimitive)) {
        let screen = |i: usize| self.transform.apply(self.viewport, vertices[i].position);
        let (Some(a), Some(b), Some(c)) = (screen(0), screen(1), screen(2)) else { return };
        let area = doubled_area(a.at, b.at, c.at);
        let back = self.shows_back(area);
        if area != 0 && !self.culls(back) {
            let corners = [Corner::vertex(a, 0), Corner::vertex(b, 1), Corner::vertex(c, 2)];
            self.filled(&corners, back, each);
        }
    }

    /// Sets up a filled triangle, or a part of one, that is not culled.
    #[inline]
    pub fn filled(
        &self,
        corners: &[Corner; 3],
        back: bool,
        each: &mut impl FnMut(&SetupPrimitive),
    ) {
        let points = corners.map(|c| c.screen.at);
        let Some(convex) = Convex::triangle(points, FillRule::UpperLeft) else { return };
        let Some(mut planes) = Planes::triangle(corners) else { return };
        self.bias(&mut planes, corners, FillMode::Solid, None);
        each(&SetupPrimitive::surface(convex, planes, back));
    }

    /// Sets up a triangle.
    pub fn triangle(
        &self,
        vertices: &[ClipVertex; 3],
        verdict: Verdict,
        remains: &Remains,
        info: &TriangleInfo,
        each: &mut impl FnMut(&SetupPrimitive),
    ) {
        let state = self.state;
        if state.cull == CullMode::Both {
            return;
        }
        if verdict == Verdict::Accept
            && state.front == FillMode::Solid
            && state.back == FillMode::Solid
        {
            return self.uncut(vertices, each);
        }
        let Some(corners) = self.corners(verdict, vertices, remains) else { return };
        let all = corners.all();
        let at = |i: usize| all[i].screen.at;
        // The facing is that of the whole polygon: snapping can reverse the winding of a thin part.
        let area: i64 = (2..all.len()).map(|i| doubled_area(at(0), at(i - 1), at(i))).sum();
        if area == 0 {
            return;
        }
        let back = self.shows_back(area);
        if self.culls(back) {
            return;
        }
        let fill = if back { state.back } else { state.front };

        if fill == FillMode::Solid {
            for i in 2..all.len() {
                let part_area = doubled_area(at(0), at(i - 1), at(i));
                if (part_area < 0) == (area < 0) {
                    self.filled(&[all[0], all[i - 1], all[i]], back, each);
                }
            }
            return;
        }
        // The slope of the whole triangle is that of the first part that has one.
        let slope = (2..all.len())
            .find_map(|i| Planes::triangle(&[all[0], all[i - 1], all[i]]))
            .map(|p| p.slope());
        for i in 0..all.len() {
            let drawn = corners.edges[i].is_some_and(|edge| info.edges[usize::from(edge)]);
            if !drawn {
                continue;
            }
            if fill == FillMode::Wireframe {
                let ends = [all[i], all[(i + 1) % all.len()]];
                let line = points_lines::line(&state.line, self.multisample, &ends, 0, true);
                if let Some(mut primitive) = line {
                    self.bias(&mut primitive.planes, all, fill, slope);
                    each(&SetupPrimitive { back, ..primitive });
                }
            } else {
                let vertex = all[i].weights.iter().position(|&w| w == 1.0);
                if vertex.is_none() && CLIPPED_CORNERS_ARE_NO_POINTS {
                    continue;
                }
                let width = vertex.map_or(1.0, |v| info.point_width[v]);
                let point =
                    points_lines::point(&state.point, self.multisample, &all[i].screen, width);
                if let Some(mut primitive) = point {
                    if vertex.is_none() {
                        primitive.planes = Planes::corner(&all[i]);
                    }
                    self.bias(&mut primitive.planes, all, fill, slope);
                    each(&SetupPrimitive { back, corner: vertex.map(|v| v as u8), ..primitive });
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

    /// Sets up a rectangle of RECTLIST. Its vertices are lower right, lower left and upper left, or
    /// any three corners in turn; the fourth corner is opposite the second. A rectangle is not
    /// culled and not cut: it is drawn if it is not rejected. Only the window limits its pixels.
    pub fn rectangle(
        &self,
        vertices: &[ClipVertex; 3],
        verdict: Verdict,
        each: &mut impl FnMut(&SetupPrimitive),
    ) {
        let verdict = if verdict == Verdict::Cut { Verdict::Accept } else { verdict };
        let Some(corners) = self.corners(verdict, vertices, &Remains::default()) else { return };
        let [a, b, c] = [corners.list[0], corners.list[1], corners.list[2]];
        let [p, q, r] = [a, b, c].map(|v| v.screen.at);
        let fourth = Point::new(p.x - q.x + r.x, p.y - q.y + r.y);
        let Some(convex) = Convex::quadrangle([p, q, r, fourth], FillRule::UpperLeft) else {
            return;
        };
        let Some(mut planes) = Planes::triangle(&[a, b, c]) else { return };
        self.bias(&mut planes, &[a, b, c], FillMode::Solid, None);
        let back = self.shows_back(doubled_area(p, q, r));
        each(&SetupPrimitive::surface(convex, planes, back));
    }

    /// Sets up a line. `stipple` is the position in the stipple pattern at the start of the line.
    /// `last` is true for the last line of a strip, and for lines of a list; only these lines cover
    /// their last pixel with Last Pixel Enable. Returns the number of pixels by which the pattern
    /// advances; 0 for a line that is rejected.
    pub fn line(
        &self,
        vertices: &[ClipVertex; 2],
        verdict: Verdict,
        remains: &Remains,
        stipple: u32,
        last: bool,
        each: &mut impl FnMut(&SetupPrimitive),
    ) -> u32 {
        let Some(corners) = self.corners(verdict, vertices, remains) else { return 0 };
        let ends = [corners.list[0], corners.list[1]];
        if let Some(primitive) =
            points_lines::line(&self.state.line, self.multisample, &ends, stipple, last)
        {
            each(&primitive);
        }
        pixels_along(ends[0].screen.at, ends[1].screen.at)
    }

    /// Sets up a point. `width` is the point width of its vertex in pixels, used if widths come
    /// from vertices.
    pub fn point(
        &self,
        vertex: &ClipVertex,
        verdict: Verdict,
        width: f32,
        each: &mut impl FnMut(&SetupPrimitive),
    ) {
        if verdict == Verdict::Reject {
            return;
        }
        let Some(screen) = self.transform.apply(self.viewport, vertex.position) else { return };
        if let Some(primitive) =
            points_lines::point(&self.state.point, self.multisample, &screen, width)
        {
            each(&primitive);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixel::coordinates::Rect;
    use crate::pixel::interpolate::{Barycentric, Position};
    use crate::pixel::multisample::{PixelLocation, RasterMode, Samples};
    use crate::render::clip::{ClipMode, ClipState, clip};
    use crate::render::primitives::Kind;
    use proptest::prelude::*;

    const SCREEN: Rect = Rect { x0: 0, y0: 0, x1: 64, y1: 64 };

    /// A viewport of 64 x 64 pixels. In clip space, y goes upwards.
    const VIEWPORT: Viewport =
        Viewport { scale: [32.0, -32.0, 1.0], translate: [32.0, 32.0, 0.0], ..Viewport::IDENTITY };

    const CLIP: ClipState = ClipState {
        mode: ClipMode::Normal,
        near_is_zero: true,
        viewport_xy: true,
        guard_band_xy: false,
        guard_band: [-8.0, 8.0, -8.0, 8.0],
        viewport_z: true,
        clip_distances: 0,
        cull_distances: 0,
    };

    fn at(x: f32, y: f32, z: f32, w: f32) -> ClipVertex {
        ClipVertex { position: [x * w, y * w, z * w, w], distances: [0.0; 8] }
    }

    fn primitives(
        state: &SetupState,
        clip_state: &ClipState,
        v: &[ClipVertex; 3],
        info: TriangleInfo,
    ) -> Vec<SetupPrimitive> {
        let multisample =
            Multisample::new(Samples::CENTRE, RasterMode::default(), PixelLocation::Centre, false);
        let setup = Setup {
            state,
            viewport: &VIEWPORT,
            transform: Transform::default(),
            multisample: &multisample,
        };
        let mut remains = Remains::default();
        let verdict = clip(clip_state, v, &mut remains);
        let mut list = vec![];
        setup.triangle(v, verdict, &remains, &info, &mut |o| list.push(*o));
        list
    }

    fn pixels(primitives: &[SetupPrimitive]) -> Vec<(u32, u32)> {
        let mut list = vec![];
        for primitive in primitives {
            primitive.rasterise(&Samples::CENTRE, SCREEN, &mut |q| {
                for i in (0..4).filter(|&i| q.mask[i as usize] != 0) {
                    list.push((q.x + (i & 1), q.y + (i >> 1)));
                }
            });
        }
        list.sort_unstable();
        list
    }

    /// A triangle in clip space. It is counterclockwise, also on the screen.
    const FRONT: [(f32, f32); 3] = [(-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)];

    #[test]
    fn facing_and_culling() {
        let front = FRONT.map(|(x, y)| at(x, y, 0.5, 1.0));
        let back = [front[0], front[2], front[1]];
        for counterclockwise in [false, true] {
            let state =
                SetupState { front_is_counterclockwise: counterclockwise, ..SetupState::default() };
            for (triangle, is_counterclockwise) in [(front, true), (back, false)] {
                let shows_back = counterclockwise != is_counterclockwise;
                let drawn = |cull| {
                    primitives(
                        &SetupState { cull, ..state },
                        &CLIP,
                        &triangle,
                        TriangleInfo::default(),
                    )
                };
                assert_eq!(
                    drawn(CullMode::None).iter().map(|o| o.back).collect::<Vec<_>>(),
                    [shows_back]
                );
                assert_eq!(drawn(CullMode::Both).len(), 0);
                assert_eq!(drawn(CullMode::Front).len(), usize::from(shows_back));
                assert_eq!(drawn(CullMode::Back).len(), usize::from(!shows_back));
            }
        }
        let thin = [front[0], front[1], front[0]];
        assert_eq!(primitives(&SetupState::default(), &CLIP, &thin, TriangleInfo::default()), []);
    }

    /// Inside the viewport, a cut triangle covers the same pixels as the whole one, and has the
    /// same values there.
    #[test]
    fn cutting_changes_nothing_inside() {
        let v = [at(-1.5, -0.5, 0.2, 1.0), at(2.5, -0.75, 0.9, 3.0), at(0.25, 1.5, 0.4, 2.0)];
        let state = SetupState { front_is_counterclockwise: true, ..SetupState::default() };
        let off = ClipState { mode: ClipMode::AcceptAll, ..CLIP };
        let (whole, parts) = (
            primitives(&state, &off, &v, TriangleInfo::default()),
            primitives(&state, &CLIP, &v, TriangleInfo::default()),
        );
        assert!(whole.len() == 1 && parts.len() > 2);
        let (a, b) = (pixels(&whole), pixels(&parts));
        // Corners are snapped to 1/256 pixel: some pixels on edges may differ.
        let differ = a.iter().filter(|p| !b.contains(p)).count()
            + b.iter().filter(|p| !a.contains(p)).count();
        assert!(differ <= 2, "{differ} of {}", a.len());
        for part in &parts {
            for &(x, y) in &pixels(std::slice::from_ref(part)) {
                let at = Position::in_pixel(x, y, [8, 8]);
                for kind in [Barycentric::Perspective, Barycentric::Linear] {
                    let (p, q) =
                        (part.planes.barycentric(kind, at), whole[0].planes.barycentric(kind, at));
                    assert!(
                        (p[0] - q[0]).abs() < 1e-3 && (p[1] - q[1]).abs() < 1e-3,
                        "{kind:?} {p:?} {q:?}"
                    );
                }
                assert!((part.planes.z(at) - whole[0].planes.z(at)).abs() < 1e-3);
                assert!((part.planes.w(at) - whole[0].planes.w(at)).abs() < 1e-2);
            }
        }
    }

    #[test]
    fn fill_modes() {
        let v = FRONT.map(|(x, y)| at(x, y, 0.5, 1.0));
        let wire = SetupState {
            front: FillMode::Wireframe,
            back: FillMode::Wireframe,
            ..SetupState::default()
        };
        let lines = primitives(&wire, &CLIP, &v, TriangleInfo::default());
        assert!(lines.len() == 3 && lines.iter().all(|o| o.kind == Kind::Line));
        let two = TriangleInfo { edges: [true, false, true], ..TriangleInfo::default() };
        assert_eq!(primitives(&wire, &CLIP, &v, two).len(), 2);
        let dots =
            SetupState { front: FillMode::Point, back: FillMode::Point, ..SetupState::default() };
        let points = primitives(&dots, &CLIP, &v, TriangleInfo::default());
        assert!(points.len() == 3 && points.iter().all(|o| o.kind == Kind::Point));
        assert_eq!([0, 1, 2].map(|n| points[n].corner), [Some(0), Some(1), Some(2)]);
        // Front and back faces have their own fill modes.
        let faces =
            SetupState { front: FillMode::Point, back: FillMode::Solid, ..SetupState::default() };
        assert_eq!(primitives(&faces, &CLIP, &v, TriangleInfo::default())[0].kind, Kind::Surface);
        // Edges and corners that clipping adds are not drawn.
        let cut = [at(-0.5, 0.0, 0.5, 1.0), at(1.5, -0.25, 0.5, 1.0), at(1.5, 0.25, 0.5, 1.0)];
        assert_eq!(primitives(&wire, &CLIP, &cut, TriangleInfo::default()).len(), 2);
        assert_eq!(primitives(&dots, &CLIP, &cut, TriangleInfo::default()).len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        /// Any input: primitives lie inside the window, their number is bounded, and nothing
        /// panics.
        #[test]
        fn anything_goes(
            bits in proptest::collection::vec(any::<u32>(), 20),
            small in proptest::collection::vec(-4.0..4.0_f32, 20),
            mixed in any::<u32>(),
            origin in any::<[i32; 2]>(),
            modes in any::<u16>(),
        ) {
            let float = |n: usize| if mixed >> n & 1 != 0 { f32::from_bits(bits[n]) } else { small[n] };
            let bit = |n: u32| modes >> n & 1 != 0;
            let fill = [FillMode::Solid, FillMode::Wireframe, FillMode::Point, FillMode::Solid][usize::from(modes & 3)];
            let state = SetupState {
                front: fill,
                back: fill,
                bias: DepthBias { enable: [true; 3], constant: float(16), scale: float(17), ..DepthBias::default() },
                line: LineState { width: float(18), rectangle: bit(2), antialias: bit(3), ..LineState::default() },
                point: PointState { width: bit(4).then(|| float(19)), smooth: bit(5), ..PointState::default() },
                ..SetupState::default()
            };
            let viewport = Viewport { scale: [float(12), float(13), float(14)], ..VIEWPORT };
            let mode = RasterMode { on: bit(6), pattern: bit(7) };
            let samples = Samples::standard(if bit(8) { 4 } else { 1 }).unwrap();
            let multisample = Multisample::new(samples, mode, PixelLocation::Centre, false);
            let transform = Transform { divide: !bit(9), viewport: bit(10), origin, ..Transform::default() };
            let setup =
                Setup { state: &state, viewport: &viewport, transform, multisample: &multisample };
            let clip_state = ClipState {
                mode: if bit(11) { ClipMode::AcceptAll } else { ClipMode::Normal },
                viewport_xy: bit(12),
                viewport_z: bit(13),
                guard_band_xy: bit(14),
                guard_band: [float(15), 4.0, -4.0, float(11)],
                ..CLIP
            };
            let v: [ClipVertex; 3] = std::array::from_fn(|i| ClipVertex {
                position: [float(4 * i), float(4 * i + 1), float(4 * i + 2), float(4 * i + 3)],
                distances: [0.0; 8],
            });
            let mut list = vec![];
            let mut remains = Remains::default();
            let verdict = clip(&clip_state, &v, &mut remains);
            setup.triangle(&v, verdict, &remains, &TriangleInfo::default(), &mut |o| list.push(*o));
            setup.rectangle(&v, verdict, &mut |o| list.push(*o));
            let ends = [v[0], v[1]];
            let verdict = clip(&clip_state, &ends, &mut remains);
            setup.line(&ends, verdict, &remains, modes.into(), true, &mut |o| list.push(*o));
            let verdict = clip(&clip_state, &v[..1], &mut remains);
            setup.point(&v[0], verdict, float(5), &mut |o| list.push(*o));
            prop_assert!(list.len() <= 2 + 18);
            for primitive in &list {
                primitive.rasterise(&multisample.samples, SCREEN, &mut |q| {
                    let right = q.mask[1] | q.mask[3];
                    assert!(SCREEN.contains(q.x as i32 + i32::from(right != 0), q.y as i32));
                    let at = Position::in_pixel(q.x, q.y, [8, 8]);
                    let _ = primitive.planes.barycentric(Barycentric::Perspective, at);
                    if let Some(smooth) = &primitive.smooth {
                        let c = smooth.coverage(q.x as f32, q.y as f32);
                        assert!((0.0..=1.0).contains(&c));
                    }
                    if let Some(stippled) = &primitive.stippled {
                        let _ = stippled.position(q.x, q.y);
                    }
                });
            }
        }
    }

    #[test]
    fn rectangles_have_a_fourth_corner() {
        let multisample =
            Multisample::new(Samples::CENTRE, RasterMode::default(), PixelLocation::Centre, false);
        let transform = Transform { divide: false, viewport: false, ..Transform::default() };
        // Rectangles are not culled.
        let state = SetupState { cull: CullMode::Back, ..SetupState::default() };
        let setup =
            Setup { state: &state, viewport: &VIEWPORT, transform, multisample: &multisample };
        for order in
            [[(20.0, 12.0), (4.0, 12.0), (4.0, 3.0)], [(4.0, 3.0), (4.0, 12.0), (20.0, 12.0)]]
        {
            let v =
                order.map(|(x, y)| ClipVertex { position: [x, y, 0.0, 1.0], distances: [0.0; 8] });
            let mut list = vec![];
            setup.rectangle(&v, Verdict::Accept, &mut |o| list.push(*o));
            let expected: Vec<_> = (4..20).flat_map(|x| (3..12).map(move |y| (x, y))).collect();
            assert_eq!(pixels(&list), expected);
            // The fourth corner has the sum of the values of its two neighbours, minus those of the
            // opposite corner.
            let b = list[0]
                .planes
                .barycentric(Barycentric::Perspective, Position { x: 16 * 20, y: 16 * 3 });
            if order[0].0 == 20.0 {
                assert_eq!(b, [-1.0, 1.0]);
            }
            let mut none = vec![];
            setup.rectangle(&v, Verdict::Reject, &mut |o| none.push(*o));
            assert_eq!(none, []);
        }
    }

    /// Oracle: Direct3D's formula (functional specification, depth bias).
    #[test]
    fn depth_bias() {
        let base = DepthBias { constant: 3.0, scale: 2.0, ..DepthBias::default() };
        let unorm = |format| DepthBias { format, ..base }.of(0.5, 0.25);
        assert_eq!(unorm(DepthFormat::Unorm16), (0.5 + 3.0 * 2.0_f64.powi(-16)) as f32);
        assert_eq!(unorm(DepthFormat::Unorm24), (0.5 + 3.0 * 2.0_f64.powi(-24)) as f32);
        let float = DepthBias { format: DepthFormat::Float32, scale: 0.0, ..base };
        assert_eq!(float.of(0.75, 9.0), 3.0 * 2.0_f32.powi(-24));
        assert_eq!(float.of(1.0, 9.0), 3.0 * 2.0_f32.powi(-23));
        assert_eq!(float.of(0.0, 9.0), 3.0 * f32::from_bits(1));
        assert_eq!(DepthBias { unscaled: true, ..base }.of(0.5, 0.25), 3.5);
        assert_eq!(DepthBias { clamp: 0.125, ..base }.of(0.5, 0.25), 0.125);
        assert_eq!(DepthBias { clamp: -0.125, scale: -2.0, ..base }.of(0.5, 0.25), -0.125);
        assert_eq!(DepthBias { scale: f32::NAN, ..base }.of(0.5, 0.25), 0.0);

        // The slope is 1/64 a pixel, the scale is 16: the bias is 0.25 if the fill mode enables it.
        let v = [at(-1.0, -1.0, 0.0, 1.0), at(1.0, -1.0, 1.0, 1.0), at(-1.0, 1.0, 0.0, 1.0)];
        for (fill, which) in [(FillMode::Solid, 0), (FillMode::Wireframe, 1), (FillMode::Point, 2)]
        {
            for on in [false, true] {
                let mut bias = DepthBias { scale: 16.0, ..DepthBias::default() };
                bias.enable[which] = on;
                let state = SetupState { front: fill, back: fill, bias, ..SetupState::default() };
                let primitive = primitives(&state, &CLIP, &v, TriangleInfo::default())[0];
                let z = primitive.planes.z(Position { x: 0, y: 16 * 64 });
                assert_eq!(z, if on { 0.25 } else { 0.0 }, "{fill:?}");
            }
        }
    }
}
