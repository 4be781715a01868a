//! Clipping: accepts, rejects or cuts primitives.
//!
//! [`clip`] tests the one to three vertices of a primitive against the planes of a [`ClipState`].
//! Most primitives are accepted or rejected as a whole. A cut primitive leaves [`Remains`]: corners
//! with their positions and the weights of the original vertices. Cuts are computed in f64, always
//! from the inner endpoint of an edge. So two triangles that share an edge get the same corner.
//!
//! Early Cull Enable drops triangles that setup would drop later. It has no visible effect, so the
//! model ignores it.

use crate::assumptions::{CLIP_W_MIN, CLIPPED_EDGES_ARE_NO_BOUNDARY};

/// Planes that can cut: w, left, right, lower, upper, near, far and eight user planes.
const PLANES: usize = 7 + 8;
/// Maximum number of corners of a triangle after all cuts: each cut adds at most one.
pub const MAX_CORNERS: usize = 3 + PLANES;

/// Clip Mode, with Clip Enable (3DSTATE_CLIP, 2a p.41).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClipMode {
    /// Accept, reject or cut.
    #[default]
    Normal,
    /// Drop all primitives.
    RejectAll,
    /// Keep all primitives as they are, except those with a NaN in a coordinate or in a distance
    /// that a mask enables.
    AcceptAll,
    /// The unit is off: keep all primitives as they are. Setup drops those whose x or y on the
    /// screen is NaN.
    Off,
}

/// State of the clipper.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipState {
    /// Clip Mode.
    pub mode: ClipMode,
    /// The near plane is z = 0, as in Direct3D; otherwise z = -w (API Mode).
    pub near_is_zero: bool,
    /// Viewport XY Clip Test Enable.
    pub viewport_xy: bool,
    /// Guardband Clip Test Enable: cut at the guard band, not at the viewport's edges. It does not
    /// apply to points.
    pub guard_band_xy: bool,
    /// Left, right, bottom, top of the guard band in units in which the viewport reaches from -1 to
    /// 1 (SF_CLIP_VIEWPORT).
    pub guard_band: [f32; 4],
    /// Viewport Z Clip Test Enable (3DSTATE_RASTER).
    pub viewport_z: bool,
    /// User Clip Distance Clip Test Enable Bitmask: bit n cuts where distance n is negative.
    pub clip_distances: u8,
    /// User Clip Distance Cull Test Enable Bitmask: bit n drops primitives whose distances n are
    /// all negative.
    pub cull_distances: u8,
}

impl ClipState {
    /// True if nothing of the viewport is outside the guard band, or if there is no guard band.
    fn contains_viewport(&self) -> bool {
        let [left, right, bottom, top] = self.guard_band;
        !self.guard_band_xy || (left <= -1.0 && right >= 1.0 && bottom <= -1.0 && top >= 1.0)
    }

    /// True if a vertex is inside the viewport, and not a NaN. Comparisons of f32 are exact, and so
    /// are the signs of the distances to the planes.
    #[inline(always)]
    fn is_visible(&self, [x, y, z, w]: &[f32; 4]) -> bool {
        let near = if self.near_is_zero { 0.0 } else { -w };
        let deep = if self.viewport_z { (near <= *z) & (z <= w) } else { !z.is_nan() };
        // Without branches, so that the compiler can test several vertices at once.
        (f64::from(*w) >= CLIP_W_MIN) & (x.abs() <= *w) & (y.abs() <= *w) & deep
    }
}

/// Bits of [`ClipState::codes`]: what is wrong with the position of a vertex.
pub mod code {
    /// The vertex is not [visible](super::ClipState::accepts_visible), or it has no position on the
    /// screen.
    pub const HIDDEN: u32 = 1;
    /// w is too small.
    pub const W: u32 = 1 << 1;
    /// Beyond the left, the right, the lower or the upper edge of the viewport, in this order.
    pub const XY: [u32; 4] = [1 << 2, 1 << 3, 1 << 4, 1 << 5];
    /// Beyond the near or the far plane.
    pub const Z: [u32; 2] = [1 << 6, 1 << 7];
}

impl ClipState {
    /// True if [`clip`] accepts each primitive whose vertices are all visible: inside the viewport,
    /// with numbers as coordinates.
    pub fn accepts_visible(&self) -> bool {
        self.clip_distances | self.cull_distances == 0
            && self.mode == ClipMode::Normal
            && self.contains_viewport()
    }

    /// A mask of bits of [`code`]. If all vertices of a primitive have one of these bits in common,
    /// [`clip`] rejects the primitive. Call this only for states that
    /// [accept visible primitives](Self::accepts_visible).
    pub fn rejecting_codes(&self) -> u32 {
        let all = |codes: &[u32]| codes.iter().fold(0, |all, code| all | code);
        let xy = if self.viewport_xy { all(&code::XY) } else { 0 };
        let z = if self.viewport_z { all(&code::Z) } else { 0 };
        code::W | xy | z
    }

    /// The bits of [`code`] of several vertices. The argument has an array for each of x, y, z and
    /// w.
    #[inline(always)]
    pub fn codes<const N: usize>(&self, [x, y, z, w]: [[f32; N]; 4]) -> [u32; N] {
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        let mut codes = [0; N];
        for (n, codes) in codes.iter_mut().enumerate() {
            let (x, y, z, w) = (x[n], y[n], z[n], w[n]);
            let near = if self.near_is_zero { 0.0 } else { -w };
            *codes = bit(!self.is_visible(&[x, y, z, w]), code::HIDDEN)
                | bit(f64::from(w) < CLIP_W_MIN, code::W)
                | bit(x < -w, code::XY[0])
                | bit(x > w, code::XY[1])
                | bit(y < -w, code::XY[2])
                | bit(y > w, code::XY[3])
                | bit(z < near, code::Z[0])
                | bit(z > w, code::Z[1]);
        }
        codes
    }
}

/// Homogeneous position, and user clip and cull distances, of a vertex. Distances that no mask
/// enables are not used.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClipVertex {
    /// x, y, z, w of clip space.
    pub position: [f32; 4],
    /// Distances 0 to 7 (dwords 8 to 15 of a vertex's URB entry).
    pub distances: [f32; 8],
}

/// The result of clipping a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The primitive is dropped.
    Reject,
    /// The primitive is kept unchanged.
    Accept,
    /// The primitive was cut. The rest is in [`Remains`].
    Cut,
}

/// A corner of a cut primitive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Corner {
    /// x, y, z, w of clip space.
    pub position: [f32; 4],
    /// The weight of each original vertex; the sum is 1. For values that are interpolated with
    /// perspective.
    pub weights: [f32; 3],
    /// The weights for values that are linear on the screen (Non-Perspective Barycentric Enable, 2a
    /// p.42).
    pub linear: [f32; 3],
    /// The original edge that the edge to the next corner is part of, if there is one. Edge n goes
    /// from vertex n to the next one.
    pub edge: Option<u8>,
}

/// The rest of a cut primitive: a convex polygon, or the two endpoints of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Remains {
    corners: [Corner; MAX_CORNERS],
    count: usize,
}

impl Default for Remains {
    fn default() -> Remains {
        Remains { corners: [Corner::default(); MAX_CORNERS], count: 0 }
    }
}

impl Remains {
    /// The corners. They go around in the same direction as the original vertices.
    #[must_use]
    pub fn corners(&self) -> &[Corner] {
        &self.corners[..self.count]
    }
}

/// A plane, given by its distance function, which is not negative on the inner side.
#[derive(Clone, Copy)]
enum Plane {
    /// w minus the smallest w by which positions may be divided.
    W,
    /// sign * coordinate `axis` + bound * w.
    Side { axis: usize, sign: f64, bound: f64 },
    /// z, for the plane z = 0.
    Zero,
    /// The user clip distance with this number.
    User(usize),
}

impl Plane {
    fn distance(self, v: &Cut) -> f64 {
        match self {
            Plane::W => v.position[3] - CLIP_W_MIN,
            Plane::Side { axis, sign, bound } => sign * v.position[axis] + bound * v.position[3],
            Plane::Zero => v.position[2],
            Plane::User(n) => v.distances[n],
        }
    }
}

/// A corner while the primitive is cut.
#[derive(Clone, Copy, Default)]
struct Cut {
    position: [f64; 4],
    distances: [f64; 8],
    weights: [f64; 3],
    edge: Option<u8>,
}

impl Cut {
    fn new(v: &ClipVertex, index: usize) -> Cut {
        let mut weights = [0.0; 3];
        weights[index] = 1.0;
        Cut {
            position: v.position.map(f64::from),
            distances: v.distances.map(f64::from),
            weights,
            edge: Some(index as u8),
        }
    }

    /// The corner where the edge from `self` to `other` crosses a plane. `self` is inside, at
    /// distance `d` from the plane; `other` is outside, at distance `e`.
    fn towards(&self, other: &Cut, d: f64, e: f64) -> Cut {
        let t = d / (d - e);
        let mix = |a: f64, b: f64| a + (b - a) * t;
        let mut cut = *self;
        for (c, o) in cut.position.iter_mut().zip(other.position) {
            *c = mix(*c, o);
        }
        for (c, o) in cut.distances.iter_mut().zip(other.distances) {
            *c = mix(*c, o);
        }
        for (c, o) in cut.weights.iter_mut().zip(other.weights) {
            *c = mix(*c, o);
        }
        cut
    }
}

/// The enabled planes, in the order in which they cut.
struct Planes {
    list: [Plane; PLANES],
    count: usize,
}

impl Planes {
    fn push(&mut self, plane: Plane) {
        self.list[self.count] = plane;
        self.count += 1;
    }

    fn all(&self) -> &[Plane] {
        &self.list[..self.count]
    }

    /// The planes of `state`, and those of the bounds `xy` on x and y (left, right, bottom, top),
    /// if any.
    fn new(state: &ClipState, xy: Option<[f32; 4]>) -> Planes {
        let mut planes = Planes { list: [Plane::W; PLANES], count: 0 };
        planes.push(Plane::W);
        if let Some([left, right, bottom, top]) = xy.map(|bounds| bounds.map(f64::from)) {
            planes.push(Plane::Side { axis: 0, sign: 1.0, bound: -left });
            planes.push(Plane::Side { axis: 0, sign: -1.0, bound: right });
            planes.push(Plane::Side { axis: 1, sign: 1.0, bound: -bottom });
            planes.push(Plane::Side { axis: 1, sign: -1.0, bound: top });
        }
        if state.viewport_z {
            let near = Plane::Side { axis: 2, sign: 1.0, bound: 1.0 };
            planes.push(if state.near_is_zero { Plane::Zero } else { near });
            planes.push(Plane::Side { axis: 2, sign: -1.0, bound: 1.0 });
        }
        for n in (0..8).filter(|n| state.clip_distances >> n & 1 != 0) {
            planes.push(Plane::User(n));
        }
        planes
    }
}

/// The bounds of the viewport, in the units of a guard band.
const VIEWPORT: [f32; 4] = [-1.0, 1.0, -1.0, 1.0];

/// Clips a primitive of 1, 2 or 3 vertices: a point, a line, a triangle. `remains` is changed only
/// for [`Verdict::Cut`]. Other numbers of vertices are rejected.
pub fn clip(state: &ClipState, vertices: &[ClipVertex], remains: &mut Remains) -> Verdict {
    if vertices.is_empty() || vertices.len() > 3 {
        return Verdict::Reject;
    }
    match state.mode {
        ClipMode::Off => return Verdict::Accept,
        ClipMode::RejectAll => return Verdict::Reject,
        ClipMode::Normal | ClipMode::AcceptAll => {}
    }
    let looked_at = state.clip_distances | state.cull_distances;
    if state.accepts_visible() && vertices.iter().all(|v| state.is_visible(&v.position)) {
        return Verdict::Accept;
    }
    let bad = |v: &ClipVertex| {
        let mut distances = v.distances.iter().enumerate();
        v.position.iter().any(|c| c.is_nan())
            || distances.any(|(n, d)| looked_at >> n & 1 != 0 && d.is_nan())
    };
    if vertices.iter().any(bad) {
        return Verdict::Reject;
    }
    if state.mode == ClipMode::AcceptAll {
        return Verdict::Accept;
    }
    let culls = |n: usize| {
        state.cull_distances >> n & 1 != 0 && vertices.iter().all(|v| v.distances[n] < 0.0)
    };
    if (0..8).any(culls) {
        return Verdict::Reject;
    }

    // Viewport and guard band are two tests: a primitive outside the viewport is rejected, and one
    // that crosses the guard band is cut.
    let band = state.guard_band_xy && vertices.len() > 1;
    let seen = match (state.viewport_xy, band) {
        (true, _) => Some(VIEWPORT),
        (false, true) => Some(state.guard_band),
        (false, false) => None,
    };
    let mut cuts = [Cut::default(); 3];
    for (i, (c, v)) in cuts.iter_mut().zip(vertices).enumerate() {
        *c = Cut::new(v, i);
    }
    let cuts = &cuts[..vertices.len()];
    let outside = |planes: &Planes, each: bool| {
        planes.all().iter().any(|p| {
            let mut outside = cuts.iter().map(|v| p.distance(v) < 0.0);
            if each { outside.all(|o| o) } else { outside.any(|o| o) }
        })
    };
    let seen = Planes::new(state, seen);
    if outside(&seen, true) {
        return Verdict::Reject;
    }
    let planes = if band { Planes::new(state, Some(state.guard_band)) } else { seen };
    if !outside(&planes, false) {
        return Verdict::Accept;
    }
    let count = match vertices.len() {
        1 => 0,
        2 => cut_line(&planes, cuts, vertices, remains),
        _ => cut_polygon(&planes, cuts, vertices, remains),
    };
    if count == 0 { Verdict::Reject } else { Verdict::Cut }
}

/// Cuts a line. Returns the number of endpoints of the rest: 2, or 0 if nothing is left.
fn cut_line(
    planes: &Planes,
    ends: &[Cut],
    vertices: &[ClipVertex],
    remains: &mut Remains,
) -> usize {
    let (mut a, mut b) = (ends[0], ends[1]);
    for plane in planes.all() {
        let (d, e) = (plane.distance(&a), plane.distance(&b));
        match (d < 0.0, e < 0.0) {
            (true, true) => return 0,
            (true, false) => a = b.towards(&a, e, d),
            (false, true) => b = a.towards(&b, d, e),
            (false, false) => {}
        }
    }
    finish(&[a, b], vertices, remains)
}

/// Cuts a polygon by one plane after the other (Sutherland and Hodgman); returns the number of
/// corners that are left.
fn cut_polygon(
    planes: &Planes,
    corners: &[Cut],
    vertices: &[ClipVertex],
    remains: &mut Remains,
) -> usize {
    let mut polygon = [Cut::default(); MAX_CORNERS];
    polygon[..3].copy_from_slice(corners);
    let mut count = 3;
    for plane in planes.all() {
        let mut next = [Cut::default(); MAX_CORNERS];
        let mut n = 0;
        let mut push = |corner: Cut| {
            // A convex polygon gains at most one corner at each plane. If rounding makes it gain
            // more, corners beyond the maximum are dropped.
            if n < MAX_CORNERS {
                next[n] = corner;
                n += 1;
            }
        };
        for i in 0..count {
            let (v, w) = (&polygon[i], &polygon[(i + 1) % count]);
            let (d, e) = (plane.distance(v), plane.distance(w));
            if d >= 0.0 {
                push(*v);
                if e < 0.0 {
                    // The polygon leaves the inner side here. Its next edge is new: it is along
                    // the plane.
                    push(Cut { edge: None, ..v.towards(w, d, e) });
                }
            } else if e >= 0.0 {
                push(Cut { edge: v.edge, ..w.towards(v, e, d) });
            }
        }
        polygon = next;
        count = n;
        if count < 3 {
            return 0;
        }
    }
    finish(&polygon[..count], vertices, remains)
}

fn finish(corners: &[Cut], vertices: &[ClipVertex], remains: &mut Remains) -> usize {
    remains.count = corners.len();
    for (out, cut) in remains.corners.iter_mut().zip(corners) {
        // For values that are linear on the screen, each weight is multiplied by w of its vertex
        // and divided by w of the corner (assumptions::CUTS_KEEP_LINEAR_VALUES).
        let mut linear = [0.0; 3];
        for (l, (weight, v)) in linear.iter_mut().zip(cut.weights.iter().zip(vertices)) {
            *l = weight * f64::from(v.position[3]) / cut.position[3];
        }
        *out = Corner {
            position: cut.position.map(|c| c as f32),
            weights: cut.weights.map(|c| c as f32),
            linear: linear.map(|c| c as f32),
            edge: if CLIPPED_EDGES_ARE_NO_BOUNDARY { cut.edge } else { cut.edge.or(Some(0)) },
        };
    }
    corners.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STATE: ClipState = ClipState {
        mode: ClipMode::Normal,
        near_is_zero: true,
        viewport_xy: true,
        guard_band_xy: false,
        guard_band: [-4.0, 3.0, -2.0, 5.0],
        viewport_z: true,
        clip_distances: 0,
        cull_distances: 0,
    };

    fn at(x: f32, y: f32, z: f32, w: f32) -> ClipVertex {
        ClipVertex { position: [x, y, z, w], distances: [0.0; 8] }
    }

    proptest! {
        /// A vertex that is accepted without the test of each plane is inside all planes.
        #[test]
        fn visible_vertices_are_inside_all_planes(
            state in state(),
            w in prop_oneof![0.0..8.0_f32, Just(1.0), Just(f32::INFINITY), Just(f32::NAN)],
            xyz in proptest::array::uniform3(
                prop_oneof![-1.0..1.0_f32, Just(1.0), Just(-1.0), Just(0.0), Just(f32::NAN)],
            ),
            band in proptest::array::uniform4(prop_oneof![1.0..4.0_f32, Just(1.0), 0.5..1.0_f32]),
        ) {
            let [left, right, bottom, top] = band;
            let guard_band = [-left, right, -bottom, top];
            let state = ClipState { clip_distances: 0, guard_band, ..state };
            let [x, y, z] = xyz.map(|c| c * w);
            let v = at(x, y, z, w);
            if state.contains_viewport() && state.is_visible(&v.position) {
                prop_assert!(v.position.iter().all(|c| !c.is_nan()));
                let band = state.guard_band_xy.then_some(state.guard_band);
                for bounds in [Some(VIEWPORT), band] {
                    for plane in Planes::new(&state, bounds).all() {
                        let distance = plane.distance(&Cut::new(&v, 0));
                        prop_assert!(distance.is_nan() || distance >= 0.0);
                    }
                }
            }
        }
    }

    proptest! {
        /// Oracle: `clip`. If the codes accept or reject a primitive, `clip` does the same.
        #[test]
        fn codes_decide_as_clipping_does(
            state in state(),
            positions in proptest::array::uniform3(proptest::array::uniform4(prop_oneof![
                8 => -2.0..2.0_f32,
                2 => prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(-0.0)],
                1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(-f32::INFINITY)],
            ])),
        ) {
            let guard_band = [-4.0, 3.0, -2.0, 5.0];
            let state = ClipState { clip_distances: 0, cull_distances: 0, guard_band, ..state };
            prop_assume!(state.accepts_visible());
            let codes = state.codes([0, 1, 2, 3].map(|c: usize| positions.map(|p| p[c])));
            let vertices = positions.map(|[x, y, z, w]| at(x, y, z, w));
            let [a, b, c] = codes;
            if (a | b | c) & code::HIDDEN == 0 {
                prop_assert_eq!(run(&state, &vertices).0, Verdict::Accept);
            } else if a & b & c & state.rejecting_codes() != 0 {
                prop_assert_eq!(run(&state, &vertices).0, Verdict::Reject);
            }
        }
    }

    fn run(state: &ClipState, vertices: &[ClipVertex]) -> (Verdict, Vec<Corner>) {
        let mut remains = Remains::default();
        let verdict = clip(state, vertices, &mut remains);
        (verdict, remains.corners().to_vec())
    }

    fn vertex() -> impl Strategy<Value = ClipVertex> {
        let c = -8.0..8.0_f32;
        ([c.clone(), c.clone(), c, -2.0..8.0_f32], proptest::array::uniform8(-4.0..8.0_f32))
            .prop_map(|(position, distances)| ClipVertex { position, distances })
    }

    fn state() -> impl Strategy<Value = ClipState> {
        (any::<[bool; 4]>(), prop_oneof![Just(0_u8), any::<u8>().prop_map(|m| m & 0b1000_0101)])
            .prop_map(|([near_is_zero, viewport_xy, guard_band_xy, viewport_z], clip_distances)| {
                ClipState {
                    near_is_zero,
                    viewport_xy,
                    guard_band_xy,
                    viewport_z,
                    clip_distances,
                    ..STATE
                }
            })
    }

    /// The least distance of a point from the planes of `state` and the bounds `xy`; negative if
    /// the point is outside. The point is the weighted sum of the vertices.
    fn inside(
        state: &ClipState,
        xy: Option<[f32; 4]>,
        vertices: &[ClipVertex],
        weights: &[f64],
    ) -> f64 {
        let mix = |f: &dyn Fn(&ClipVertex) -> f32| -> f64 {
            vertices.iter().zip(weights).map(|(v, w)| f64::from(f(v)) * w).sum()
        };
        let [x, y, z, w] = [0, 1, 2, 3].map(|i| mix(&|v| v.position[i]));
        let mut least = w;
        if let Some([left, right, bottom, top]) = xy.map(|b| b.map(f64::from)) {
            least = least.min(x - left * w).min(right * w - x).min(y - bottom * w).min(top * w - y);
        }
        if state.viewport_z {
            least = least.min(if state.near_is_zero { z } else { z + w }).min(w - z);
        }
        for n in (0..8).filter(|n| state.clip_distances >> n & 1 != 0) {
            least = least.min(mix(&|v| v.distances[n]));
        }
        least
    }

    /// The bounds on x and y outside which primitives are rejected, and those at which they are
    /// cut.
    fn bounds(state: &ClipState) -> [Option<[f32; 4]>; 2] {
        let view = [-1.0, 1.0, -1.0, 1.0];
        match (state.viewport_xy, state.guard_band_xy) {
            (false, false) => [None, None],
            (true, false) => [Some(view), Some(view)],
            (true, true) => [Some(view), Some(state.guard_band)],
            (false, true) => [Some(state.guard_band), Some(state.guard_band)],
        }
    }

    /// 1 if the point with weights `p` is inside the polygon that the weights of the corners form,
    /// -1 if it is outside, 0 if it is too close to the border.
    fn polygon_has(corners: &[Corner], p: [f64; 2]) -> i32 {
        let weights = |c: &Corner| [f64::from(c.weights[1]), f64::from(c.weights[2])];
        let mut least = f64::MAX;
        for (i, c) in corners.iter().enumerate() {
            let (a, b) = (weights(c), weights(&corners[(i + 1) % corners.len()]));
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let length = (dx * dx + dy * dy).sqrt();
            if length > 1e-6 {
                least = least.min((dx * (p[1] - a[1]) - dy * (p[0] - a[0])) / length);
            }
        }
        if least.abs() < 1e-4 { 0 } else { least.signum() as i32 }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

        /// Oracle: the bounds in f64. A point of the triangle is inside what the clipper leaves
        /// exactly if it satisfies all bounds.
        #[test]
        fn triangles_keep_what_is_inside(
            state in state(),
            vertices in [vertex(), vertex(), vertex()],
            points in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 24),
        ) {
            let (verdict, corners) = run(&state, &vertices);
            let [seen, cut] = bounds(&state);
            for (u, v) in points {
                let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                let weights = [1.0 - u - v, u, v];
                let visible = inside(&state, seen, &vertices, &weights);
                let kept = inside(&state, cut, &vertices, &weights);
                match verdict {
                    Verdict::Reject => prop_assert!(visible < 1e-4),
                    Verdict::Accept => prop_assert!(kept > -1e-4),
                    Verdict::Cut => {
                        let has = polygon_has(&corners, [u, v]);
                        prop_assert!(kept.abs() < 1e-3 || has == 0 || (has > 0) == (kept > 0.0));
                    }
                }
            }
        }

        /// The position of each corner is the weighted sum of the vertices, in clip space and on
        /// the screen. An edge that is part of an original edge lies on the original edge.
        #[test]
        fn corners_are_mixtures(state in state(), vertices in [vertex(), vertex(), vertex()]) {
            let (_, corners) = run(&state, &vertices);
            for (i, c) in corners.iter().enumerate() {
                prop_assert!((c.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                for axis in 0..4 {
                    let mixed: f32 = (0..3).map(|v| c.weights[v] * vertices[v].position[axis]).sum();
                    prop_assert!((mixed - c.position[axis]).abs() < 1e-4);
                }
                let w = c.position[3];
                if vertices.iter().all(|v| v.position[3] > 0.5) && w > 0.5 {
                    for axis in 0..2 {
                        let on_screen: f32 =
                            (0..3).map(|v| c.linear[v] * vertices[v].position[axis] / vertices[v].position[3]).sum();
                        prop_assert!((on_screen - c.position[axis] / w).abs() < 1e-4);
                    }
                }
                if let Some(edge) = c.edge {
                    let opposite = usize::from((edge + 2) % 3);
                    let next = &corners[(i + 1) % corners.len()];
                    prop_assert!(c.weights[opposite] == 0.0 && next.weights[opposite] == 0.0);
                }
            }
        }

        /// Two triangles have the same corners on the edge that they share, to the bit.
        #[test]
        fn shared_edges_stay_shared(
            state in state(), a in vertex(), b in vertex(), c in vertex(), d in vertex(),
        ) {
            let on_edge = |vertices: [ClipVertex; 3]| {
                let (verdict, corners) = run(&state, &vertices);
                let mut ends: Vec<_> = corners.iter().filter(|c| c.weights[2] == 0.0).collect();
                ends.sort_by_key(|c| c.position.map(f32::to_bits));
                (verdict, ends.iter().map(|c| c.position).collect::<Vec<_>>())
            };
            let (first, second) = (on_edge([a, b, c]), on_edge([b, a, d]));
            if first.0 == Verdict::Cut && second.0 == Verdict::Cut {
                prop_assert_eq!(first.1, second.1);
            }
        }

        /// Oracle: the bounds in f64. A point of the line is inside what the clipper leaves exactly
        /// if it satisfies all bounds.
        #[test]
        fn lines_keep_what_is_inside(
            state in state(), vertices in [vertex(), vertex()],
            points in proptest::collection::vec(0.0..1.0_f64, 12),
        ) {
            let (verdict, ends) = run(&state, &vertices);
            let [seen, cut] = bounds(&state);
            for t in points {
                let kept = inside(&state, cut, &vertices, &[1.0 - t, t]);
                match verdict {
                    Verdict::Reject => {
                        prop_assert!(inside(&state, seen, &vertices, &[1.0 - t, t]) < 1e-4);
                    }
                    Verdict::Accept => prop_assert!(kept > -1e-4),
                    Verdict::Cut => {
                        let (from, to) = (f64::from(ends[0].weights[1]), f64::from(ends[1].weights[1]));
                        prop_assert!(kept.abs() < 1e-3 || (t > from && t < to) == (kept > 0.0));
                    }
                }
            }
        }
    }

    #[test]
    fn modes_and_bad_primitives() {
        let outside = [at(9.0, 0.0, 0.0, 1.0), at(9.0, 1.0, 0.0, 1.0), at(8.0, 0.0, 0.0, 1.0)];
        let verdict = |mode, v: &[ClipVertex]| run(&ClipState { mode, ..STATE }, v).0;
        assert_eq!(verdict(ClipMode::Normal, &outside), Verdict::Reject);
        assert_eq!(verdict(ClipMode::RejectAll, &[at(0.0, 0.0, 0.0, 1.0)]), Verdict::Reject);
        assert_eq!(verdict(ClipMode::AcceptAll, &outside), Verdict::Accept);
        assert_eq!(verdict(ClipMode::AcceptAll, &[at(0.0, f32::NAN, 0.0, 1.0)]), Verdict::Reject);
        assert_eq!(verdict(ClipMode::Off, &[at(0.0, f32::NAN, 0.0, 1.0)]), Verdict::Accept);
        assert_eq!(verdict(ClipMode::Normal, &[]), Verdict::Reject);
        assert_eq!(verdict(ClipMode::Normal, &[at(0.0, 0.0, 0.0, 1.0); 4]), Verdict::Reject);
        // Infinite positions must not panic.
        let infinite = [
            at(f32::INFINITY, 0.0, 0.0, 1.0),
            at(0.0, -f32::INFINITY, 0.0, 1.0),
            at(0.0, 0.0, 0.0, 1.0),
        ];
        run(&STATE, &infinite);
    }

    #[test]
    fn points_follow_the_viewport_alone() {
        let state = ClipState { guard_band_xy: true, ..STATE };
        assert_eq!(run(&state, &[at(0.5, 0.5, 0.5, 1.0)]).0, Verdict::Accept);
        assert_eq!(run(&state, &[at(1.5, 0.5, 0.5, 1.0)]).0, Verdict::Reject);
        let open = ClipState { viewport_xy: false, ..state };
        assert_eq!(run(&open, &[at(1.5, 0.5, 0.5, 1.0)]).0, Verdict::Accept);
        assert_eq!(run(&open, &[at(1.5, 0.5, -0.5, 1.0)]).0, Verdict::Reject);
        assert_eq!(
            run(&ClipState { near_is_zero: false, ..open }, &[at(1.5, 0.5, -0.5, 1.0)]).0,
            Verdict::Accept
        );
    }

    #[test]
    fn distances_cull_and_clip() {
        let mut vertices = [at(0.0, 0.0, 0.5, 1.0), at(0.5, 0.0, 0.5, 1.0), at(0.0, 0.5, 0.5, 1.0)];
        vertices[0].distances[3] = -1.0;
        vertices[1].distances[3] = -1.0;
        let culling = ClipState { cull_distances: 1 << 3, ..STATE };
        assert_eq!(run(&culling, &vertices).0, Verdict::Accept);
        vertices[2].distances[3] = -0.5;
        assert_eq!(run(&culling, &vertices).0, Verdict::Reject);
        assert_eq!(run(&STATE, &vertices).0, Verdict::Accept);
        vertices[2].distances[3] = 1.0;
        let (verdict, corners) = run(&ClipState { clip_distances: 1 << 3, ..STATE }, &vertices);
        assert_eq!((verdict, corners.len()), (Verdict::Cut, 3));
        // The outline of the rest is a part of edge 1, a part of edge 2, and a new edge.
        assert_eq!(corners.iter().map(|c| c.edge).collect::<Vec<_>>(), [Some(1), Some(2), None]);
        vertices[2].distances[3] = f32::NAN;
        assert_eq!(run(&culling, &vertices).0, Verdict::Reject);
    }
}
