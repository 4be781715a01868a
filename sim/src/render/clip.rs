//! Clipping: which objects are kept, dropped or cut, and what is left of those that are cut.
//!
//! [`clip`] tests the one to three vertices of an object against the planes of a [`ClipState`]. Most objects are accepted or
//! rejected as they are; what is cut leaves [`Remains`], corners with their position and the weights of the original
//! vertices in them. Cuts are computed in f64, on an edge always from its inner end, so that two triangles that share an
//! edge get the same corner.

use crate::assumptions::{CLIP_W_MIN, CLIPPED_EDGES_ARE_NO_BOUNDARY};

/// Planes that can cut: w, left, right, lower, upper, near, far and eight of the user.
const PLANES: usize = 7 + 8;
/// Most corners that a triangle has after all cuts: each adds one.
pub const MAX_CORNERS: usize = 3 + PLANES;

/// Clip Mode, with Clip Enable (3DSTATE_CLIP, 2a p.41).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClipMode {
    /// Accept, reject or cut.
    #[default]
    Normal,
    /// Drop all objects.
    RejectAll,
    /// Keep all objects as they are, but for those with coordinates that are no numbers.
    AcceptAll,
    /// The unit is off: keep all objects as they are. Those with coordinates that are no numbers cannot be drawn later.
    Off,
}

/// What objects are tested against.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClipState {
    /// What to do at all.
    pub mode: ClipMode,
    /// Is the near plane z = 0, as in Direct3D, or z = -w (API Mode)?
    pub near_is_zero: bool,
    /// Viewport XY Clip Test Enable.
    pub viewport_xy: bool,
    /// Guardband Clip Test Enable: cut at the guard band, not at the viewport's edges. Points are not concerned.
    pub guard_band_xy: bool,
    /// Left, right, bottom, top of the guard band in units in which the viewport reaches from -1 to 1 (SF_CLIP_VIEWPORT).
    pub guard_band: [f32; 4],
    /// Viewport Z Clip Test Enable (3DSTATE_RASTER).
    pub viewport_z: bool,
    /// User Clip Distance Clip Test Enable Bitmask: bit n cuts where distance n is negative.
    pub clip_distances: u8,
    /// User Clip Distance Cull Test Enable Bitmask: bit n drops objects whose distances n are all negative.
    pub cull_distances: u8,
}

/// Homogeneous position, and user clip and cull distances, of a vertex. Distances that no mask names are not looked at.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClipVertex {
    /// x, y, z, w of clip space.
    pub position: [f32; 4],
    /// Distances 0 to 7 (dwords 8 to 15 of a vertex's URB entry).
    pub distances: [f32; 8],
}

/// What becomes of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing of it is seen.
    Reject,
    /// It goes on as it is.
    Accept,
    /// It was cut: what is left is in [`Remains`].
    Cut,
}

/// A corner of what clipping left.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Corner {
    /// x, y, z, w of clip space.
    pub position: [f32; 4],
    /// How much of each original vertex is in it; the sum is 1. Values that are interpolated with perspective follow these.
    pub weights: [f32; 3],
    /// The same for values that are linear on the screen (Non-Perspective Barycentric Enable, 2a p.42).
    pub linear: [f32; 3],
    /// Is the edge from here to the next corner a part of an original edge? Holds that edge's number, n from vertex n to
    /// the next one.
    pub edge: Option<u8>,
}

/// What clipping left of an object: a convex polygon, or the two ends of a line.
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
    /// The corners, in the order of the original vertices.
    #[must_use]
    pub fn corners(&self) -> &[Corner] {
        &self.corners[..self.count]
    }
}

/// A plane by what it says of a vertex: not negative inside.
#[derive(Clone, Copy)]
enum Plane {
    /// w at least as large as the smallest that is divided by.
    W,
    /// sign * coordinate + bound * w.
    Side { axis: usize, sign: f64, bound: f64 },
    /// z.
    Zero,
    /// A distance of the user.
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

/// A corner while it is worked on.
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

    /// Where the way from `self`, inside at distance `d`, to `other`, outside at distance `e`, meets the plane.
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

/// The planes in force, in the order in which they cut.
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

    /// Those of `state`, with bounds `xy` (left, right, bottom, top) for x and y if they are looked at.
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

/// The viewport itself.
const VIEWPORT: [f32; 4] = [-1.0, 1.0, -1.0, 1.0];

/// Tests an object of 1, 2 or 3 vertices: a point, a line, a triangle. `remains` is only touched for [`Verdict::Cut`]. Other
/// numbers of vertices are rejected.
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
    let bad = |v: &ClipVertex| {
        let mut distances = v.distances.iter().enumerate();
        v.position.iter().any(|c| c.is_nan()) || distances.any(|(n, d)| looked_at >> n & 1 != 0 && d.is_nan())
    };
    if vertices.iter().any(bad) {
        return Verdict::Reject;
    }
    if state.mode == ClipMode::AcceptAll {
        return Verdict::Accept;
    }
    let culls =
        |n: usize| state.cull_distances >> n & 1 != 0 && vertices.iter().all(|v| v.distances[n] < 0.0);
    if (0..8).any(culls) {
        return Verdict::Reject;
    }

    // Guard band and viewport are two tests: outside the viewport nothing is seen, outside the guard band it must be cut.
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

/// Cuts a line; gives the number of its ends that are left, 2 or 0.
fn cut_line(planes: &Planes, ends: &[Cut], vertices: &[ClipVertex], remains: &mut Remains) -> usize {
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

/// Cuts a polygon by one plane after the other (Sutherland and Hodgman); gives the number of corners that are left.
fn cut_polygon(planes: &Planes, corners: &[Cut], vertices: &[ClipVertex], remains: &mut Remains) -> usize {
    let mut polygon = [Cut::default(); MAX_CORNERS];
    polygon[..3].copy_from_slice(corners);
    let mut count = 3;
    for plane in planes.all() {
        let mut next = [Cut::default(); MAX_CORNERS];
        let mut n = 0;
        let mut push = |corner: Cut| {
            // A convex polygon gains at most one corner a plane; rounding cannot make it more than twice that.
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
                    // What leaves here goes on along the plane: that edge is new.
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
        // What is linear on the screen follows the original vertices where the divide takes them: weight times w.
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
