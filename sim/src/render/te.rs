//! Tessellator: makes points of the domain, and the primitives between them, from the factors of a
//! patch.
//!
//! The algorithm is that of Direct3D 11, whose functional specification fixes positions and order
//! (gen8_facts 6; `assumptions::TESSELLATION_IS_THAT_OF_DIRECT3D`). Points lie in rings: each edge
//! of the outer ring is divided by its own factor, the inner rings by the inner factors.
//! [`tessellate`] is the entry.

use super::topology::{Assembler, CUT, Kind, Primitive, Topology};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::render3d_stages::{
    ThreeDStateTe, ThreeDStateTeOutputTopology as TopologyCode,
    ThreeDStateTePartitioning as PartitioningCode, ThreeDStateTeTeDomain as DomainCode,
    ThreeDStateTeTeMode as ModeCode,
};

use std::convert::Infallible;

/// A coordinate or a factor, with 16 fraction bits.
type Fixed = u32;
/// Coordinate of the end of an edge.
const ONE: Fixed = 1 << 16;
/// Coordinate of the middle of an edge.
const HALF: Fixed = ONE / 2;
/// A third, rounded.
const THIRD: Fixed = 0x5555;
/// Two thirds, truncated.
const TWO_THIRDS: Fixed = 0xaaaa;
/// The smallest step of a `Fixed`, as a float.
const EPSILON: f32 = 1.0 / 65536.0;
/// The greatest factor. Odd partitioning allows one less.
const MAX_FACTOR: f32 = 64.0;

/// The domain that points lie in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// A square with the coordinates U and V.
    Quad,
    /// A triangle: U, V, and W = 1 - U - V.
    Triangle,
    /// Lines along U, at different V.
    Isoline,
}

/// How edges are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Partitioning {
    /// Edges have equal segments; factors are rounded up to whole numbers.
    Integer,
    /// Edges have an odd number of segments, two of which grow with the factor.
    OddFractional,
    /// Edges have an even number of segments, two of which grow with the factor.
    EvenFractional,
}

/// The primitives between the points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// No primitives between points: each point is drawn.
    Points,
    /// Lines.
    Lines,
    /// Triangles that are clockwise if U is right and V is down.
    Clockwise,
    /// Triangles that are counterclockwise if U is right and V is down.
    CounterClockwise,
}

/// State of 3DSTATE_TE (2a p.231-234).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tessellator {
    /// The domain.
    pub domain: Domain,
    /// How edges are divided.
    pub partitioning: Partitioning,
    /// The primitives that are made.
    pub output: Output,
    /// The greatest factor of odd partitioning.
    pub max_odd: f32,
    /// The greatest factor of integer and even partitioning.
    pub max_other: f32,
}

impl Tessellator {
    /// Reads the packet.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for reserved codes and for outputs that the domain does not have;
    /// [`Fault::Unimplemented`] for the software modes.
    pub fn resolve(exec: &Exec<'_>, packet: &ThreeDStateTe) -> Result<Tessellator, Fault> {
        let reserved = |field, value| exec.bad_field(field, value, "this value is reserved");
        if packet.te_mode != ModeCode::HW_TESS {
            return Err(exec.unimplemented("TE Mode SW_TESS of 3DSTATE_TE", "2a p.233"));
        }
        let domain = match packet.te_domain {
            DomainCode::QUAD => Domain::Quad,
            DomainCode::TRI => Domain::Triangle,
            DomainCode::ISOLINE => Domain::Isoline,
            other => return Err(reserved("TE Domain", other.bits())),
        };
        let partitioning = match packet.partitioning {
            PartitioningCode::INTEGER => Partitioning::Integer,
            PartitioningCode::ODD_FRACTIONAL => Partitioning::OddFractional,
            PartitioningCode::EVEN_FRACTIONAL => Partitioning::EvenFractional,
            other => return Err(reserved("Partitioning", other.bits())),
        };
        let output = match packet.output_topology {
            TopologyCode::POINT => Output::Points,
            TopologyCode::LINE => Output::Lines,
            TopologyCode::TRI_CW => Output::Clockwise,
            // The field has two bits, so this is TRI_CCW.
            _ => Output::CounterClockwise,
        };
        if output != Output::Points && (output == Output::Lines) != (domain == Domain::Isoline) {
            let why = "isolines give lines or points, the other domains triangles or points";
            return Err(exec.bad_field("Output Topology", packet.output_topology.bits(), why));
        }
        Ok(Tessellator {
            domain,
            partitioning,
            output,
            max_odd: packet.maximum_tessellation_factor_odd,
            max_other: packet.maximum_tessellation_factor_not_odd,
        })
    }
}

/// The tessellation factors of a patch.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Factors {
    /// Factors of the edges. Quads: U = 0, V = 0, U = 1, V = 1. Triangles: U = 0, V = 0, W = 0.
    /// For isolines, the first two are the number of lines and the number of segments of each line.
    pub outer: [f32; 4],
    /// Factors of the inside: along U and V for quads; one for triangles.
    pub inner: [f32; 2],
}

/// A point of the domain.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    /// From 0 to 1, a multiple of 2^-16.
    pub u: f32,
    /// From 0 to 1, a multiple of 2^-16.
    pub v: f32,
}

/// The index that ends the points of a line.
pub const LINE_END: u16 = u16::MAX;

impl Output {
    /// The topology of the indices of a [`Tessellation`] (2a p.232).
    pub fn topology(self) -> Topology {
        let kind = match self {
            Output::Points => Kind::Points,
            Output::Lines => Kind::LineStrip,
            Output::Clockwise | Output::CounterClockwise => Kind::Triangles,
        };
        Topology { kind, back_facing: false, continued: false, stippled: true }
    }
}

/// The points and primitives of a patch. The structure can be reused for other patches.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tessellation {
    /// Points in the order of the tessellator, each once.
    pub points: Vec<Point>,
    /// Indices into `points`. Triangles: three for each triangle. Lines: the points of each line,
    /// then [`LINE_END`]. Points: each point once.
    pub indices: Vec<u16>,
    /// Triangles are counterclockwise: their second and third vertices are exchanged.
    turned: bool,
}

impl Tessellation {
    fn point(&mut self, u: Fixed, v: Fixed) {
        let float = |fixed: Fixed| fixed as f32 / ONE as f32;
        self.points.push(Point { u: float(u), v: float(v) });
    }

    fn triangle(&mut self, [a, b, c]: [u32; 3]) {
        let triangle = if self.turned { [a, c, b] } else { [a, b, c] };
        self.indices.extend(triangle.map(|point| point as u16));
    }

    fn count(&self) -> u32 {
        self.points.len() as u32
    }

    /// Calls `out` for each primitive. `id` is the primitive ID of the patch; all its primitives
    /// get it (assumptions::PRIMITIVES_KEEP_THE_NUMBER_OF_WHAT_THEY_CAME_FROM).
    pub fn primitives(&self, output: Output, id: u32, mut out: impl FnMut(&Primitive)) {
        let indices =
            self.indices.iter().map(|&index| if index == LINE_END { CUT } else { index.into() });
        let done = Assembler::for_setup(output.topology()).stream(indices, &mut |primitive| {
            let mut primitive = *primitive;
            primitive.id = id;
            out(&primitive);
            Ok::<(), Infallible>(())
        });
        let Ok(()) = done;
    }
}

/// Divides a patch into `out`, and replaces what was in `out`. A culled patch has no points.
pub fn tessellate(tessellator: &Tessellator, factors: &Factors, out: &mut Tessellation) {
    out.points.clear();
    out.indices.clear();
    out.turned = tessellator.output == Output::CounterClockwise;
    match tessellator.domain {
        Domain::Quad => quad(tessellator, factors, out),
        Domain::Triangle => triangle(tessellator, factors, out),
        Domain::Isoline => isolines(tessellator, factors, out),
    }
    if tessellator.output == Output::Points {
        out.indices.clear();
        out.indices.extend((0..out.points.len()).map(|point| point as u16));
    }
}

// ---- factors ----

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Parity {
    Even,
    Odd,
}

/// The limits of factors for a partitioning.
struct Limits {
    partitioning: Partitioning,
    low: f32,
    high: f32,
}

impl Limits {
    fn new(tessellator: &Tessellator, partitioning: Partitioning) -> Limits {
        let (low, high, most) = match partitioning {
            Partitioning::Integer => (1.0, tessellator.max_other, MAX_FACTOR),
            Partitioning::OddFractional => (1.0, tessellator.max_odd, MAX_FACTOR - 1.0),
            Partitioning::EvenFractional => (2.0, tessellator.max_other, MAX_FACTOR),
        };
        Limits { partitioning, low, high: high.min(most).max(low) }
    }

    /// Clamps a factor to the limits; NaN becomes the lower limit. For integer partitioning, also
    /// rounds the factor up.
    fn clamp(&self, factor: f32) -> f32 {
        let factor = factor.max(self.low).min(self.high);
        match self.partitioning {
            Partitioning::Integer => factor.ceil(),
            _ => factor,
        }
    }

    fn axis(&self, factor: f32, inside: bool) -> Axis {
        let parity = match self.partitioning {
            Partitioning::OddFractional => Parity::Odd,
            Partitioning::EvenFractional => Parity::Even,
            // One segment inside is divided in two, so that there is a ring.
            Partitioning::Integer if factor % 2.0 == 0.0 || inside && factor == 1.0 => Parity::Even,
            Partitioning::Integer => Parity::Odd,
        };
        Axis::new(fixed(factor), parity, inside)
    }
}

/// Converts a factor, which is finite and positive here, to the nearest fixed-point number.
fn fixed(factor: f32) -> Fixed {
    (f64::from(factor) * f64::from(ONE)).round_ties_even() as Fixed
}

/// The axes of the edges and of the inside of a patch. The flag is true if all clamped factors are
/// 1. None if the patch is culled: the factor of an edge is not above 0.
fn divide<const EDGES: usize, const AXES: usize>(
    tessellator: &Tessellator,
    factors: &Factors,
) -> Option<([Axis; EDGES], [Axis; AXES], bool)> {
    let outer: [f32; EDGES] = std::array::from_fn(|edge| factors.outer[edge]);
    let inner: [f32; AXES] = std::array::from_fn(|axis| factors.inner[axis]);
    if outer.iter().any(|&factor| factor.is_nan() || factor <= 0.0) {
        return None;
    }
    let mut limits = Limits::new(tessellator, tessellator.partitioning);
    let outer = outer.map(|factor| limits.clamp(factor));
    let odd = tessellator.partitioning == Partitioning::OddFractional;
    if odd && outer.iter().chain(&inner).any(|&factor| factor > 1.0 + EPSILON / 2.0) {
        // Some factor is above 1, so there must be a ring inside.
        limits.low += EPSILON;
        limits.high = limits.high.max(limits.low);
    }
    let inner = inner.map(|factor| limits.clamp(factor));
    let ones = outer.iter().chain(&inner).all(|&factor| fixed(factor) == ONE);
    let outer = outer.map(|factor| limits.axis(factor, false));
    let inner = inner.map(|factor| limits.axis(factor, true));
    Some((outer, inner, ones && tessellator.partitioning != Partitioning::EvenFractional))
}

/// The division of an edge of length 1 into segments. It is symmetric. It is interpolated between
/// two divisions into equal segments, the lower and the upper division. Their numbers of segments
/// have the given parity and are the nearest ones below and above the factor.
#[derive(Clone, Copy, Debug)]
struct Axis {
    parity: Parity,
    /// Number of points, including both ends.
    points: u32,
    /// Number of points of one half of the edge, without a point in the middle.
    half: u32,
    /// Points after this one have an index that is lower by 1 in the lower division.
    split: u32,
    /// Weight of the upper division; the weight of the lower division is 1 minus this.
    fraction: Fixed,
    /// Length of a segment of the lower division.
    lower: Fixed,
    /// Length of a segment of the upper division.
    upper: Fixed,
}

impl Axis {
    fn new(factor: Fixed, parity: Parity, inside: bool) -> Axis {
        let mut half = factor.div_ceil(2);
        if parity == Parity::Odd || half == HALF {
            half += HALF;
        }
        let [floor, ceil] = [half >> 16, half.div_ceil(ONE)];
        let without_top_bit = |n: u32| n.checked_ilog2().map_or(0, |bit| n & !(1 << bit));
        let split = match parity {
            _ if floor == ceil => ceil + 1,
            Parity::Odd if floor == 1 => 0,
            Parity::Odd => 2 * without_top_bit(floor - 1) + 1,
            Parity::Even => 2 * without_top_bit(floor) + 1,
        };
        let middle = u32::from(parity == Parity::Odd);
        let length = |halves: u32| {
            let segments = (2 * halves).saturating_sub(middle).max(1);
            (ONE + segments / 2) / segments
        };
        let points = 2 * ceil + 1 - middle;
        Axis {
            parity,
            // Without its two endpoints, an inner axis has at least one point, or two points with
            // odd parity.
            points: if inside { points.max(3 + middle) } else { points },
            half: ceil,
            split,
            fraction: half - (floor << 16),
            lower: length(floor),
            upper: length(ceil),
        }
    }

    /// The coordinate of point number `point`.
    fn place(&self, point: u32) -> Fixed {
        let mirrored = point >= self.half;
        let point = match mirrored {
            true => (2 * self.half - u32::from(self.parity == Parity::Odd)).saturating_sub(point),
            false => point,
        };
        if point == self.half {
            // Sums of 16-bit reciprocals are not always exact in the middle.
            return HALF;
        }
        let lower = (point - u32::from(point > self.split)) * self.lower;
        let upper = point * self.upper;
        let sum = u64::from(lower) * u64::from(ONE - self.fraction)
            + u64::from(upper) * u64::from(self.fraction);
        let place = ((sum + u64::from(HALF)) >> 16) as Fixed;
        if mirrored { ONE - place } else { place }
    }
}

// ---- points ----

/// Emits the points of one side of a ring, except the last, which is the first of the next side.
/// Along side 0, V decreases; along side 1, U increases; along side 2, V increases; along side 3, U
/// decreases.
fn side(along: &Axis, edge: usize, from: u32, to: u32, mut point: impl FnMut(Fixed)) {
    for step in 0..to - from {
        let upward = edge == 1 || edge == 2;
        point(along.place(if upward { from + step } else { to - step }));
    }
}

fn quad(tessellator: &Tessellator, factors: &Factors, out: &mut Tessellation) {
    let Some((outer, inner, ones)) = divide::<4, 2>(tessellator, factors) else { return };
    if ones {
        [(0, 0), (ONE, 0), (ONE, ONE), (0, ONE)].into_iter().for_each(|(u, v)| out.point(u, v));
        [[0, 1, 3], [1, 2, 3]].into_iter().for_each(|triangle| out.triangle(triangle));
        return;
    }
    // U is constant on edges 0 and 2, V on edges 1 and 3.
    for (edge, along) in outer.iter().enumerate() {
        let across = if edge < 2 { 0 } else { ONE };
        side(along, edge, 0, along.points - 1, |t| match edge % 2 {
            0 => out.point(across, t),
            _ => out.point(t, across),
        });
    }
    let mut rings = vec![Ring::new(0, &outer.map(|axis| axis.points))];
    let [u, v] = &inner;
    let [nu, nv] = inner.map(|axis| axis.points);
    for ring in 1..=(nu.min(nv) - 1) / 2 {
        let [lengths_u, lengths_v] = [nu - 2 * ring, nv - 2 * ring];
        rings.push(Ring::new(out.count(), &[lengths_v, lengths_u, lengths_v, lengths_u]));
        if lengths_v == 1 && lengths_u > 1 {
            (ring..nu - ring).for_each(|point| out.point(u.place(point), HALF));
        } else if lengths_u == 1 {
            (ring..nv - ring).rev().for_each(|point| out.point(HALF, v.place(point)));
        } else {
            for edge in 0..4 {
                let (across, along) = if edge % 2 == 0 { (u, v) } else { (v, u) };
                let across = across.place(if edge < 2 { ring } else { across.points - 1 - ring });
                side(along, edge, ring, along.points - 1 - ring, |t| match edge % 2 {
                    0 => out.point(across, t),
                    _ => out.point(t, across),
                });
            }
        }
    }
    stitch_rings(&rings, &outer, &[v, u, v, u], out);
    let last = rings[rings.len() - 1];
    if last.degenerate {
        return;
    }
    // The last ring has two rows of points. Fill the area between them with triangles.
    let around = last.around();
    match nu > nv {
        true => {
            let quads = last.sides[1] - 1;
            let rows = Rows { outside: (last, 1, 1), inside: (last, around, -1) };
            rows.stitch(&mut Cursor::default(), quads, Diagonals::Forward, out);
        }
        false => {
            let quads = last.sides[0] - 1;
            let rows = Rows { outside: (last, 0, 1), inside: (last, around - 1, -1) };
            let diagonals = match v.parity {
                Parity::Even => Diagonals::Forward,
                Parity::Odd => Diagonals::ForwardButMiddle,
            };
            rows.stitch(&mut Cursor::default(), quads, diagonals, out);
        }
    }
}

fn triangle(tessellator: &Tessellator, factors: &Factors, out: &mut Tessellation) {
    let Some((outer, inner, ones)) = divide::<3, 1>(tessellator, factors) else { return };
    if ones {
        [(0, ONE), (0, 0), (ONE, 0)].into_iter().for_each(|(u, v)| out.point(u, v));
        out.triangle([0, 1, 2]);
        return;
    }
    // U decreases along the third side, as along side 3 of a quad.
    let order = [0, 1, 3];
    for (edge, along) in outer.iter().enumerate() {
        side(along, order[edge], 0, along.points - 1, |t| match edge {
            0 => out.point(0, t),
            1 => out.point(t, 0),
            _ => out.point(t, ONE - t),
        });
    }
    let mut rings = vec![Ring::new(0, &outer.map(|axis| axis.points))];
    let [axis] = &inner;
    for ring in 1..=(axis.points - 1) / 2 {
        let last = axis.points - 1 - ring;
        rings.push(Ring::new(out.count(), &[last - ring + 1; 3]));
        if last == ring {
            out.point(THIRD, THIRD);
            break;
        }
        // The distance of a ring from the edge is two thirds of its coordinate on the axis. The
        // points of each side are shifted by half of this distance.
        let across = (axis.place(ring) * TWO_THIRDS + HALF) >> 16;
        let shift = across.div_ceil(2);
        for (edge, order) in order.into_iter().enumerate() {
            side(axis, order, ring, last, |t| match edge {
                0 => out.point(across, t - shift),
                1 => out.point(t - shift, across),
                _ => out.point(t - shift, ONE - (t - shift) - across),
            });
        }
    }
    stitch_rings(&rings, &outer, &[axis; 3], out);
    let last = rings[rings.len() - 1];
    if !last.degenerate {
        out.triangle([0, 1, 2].map(|corner| last.first + corner));
    }
}

fn isolines(tessellator: &Tessellator, factors: &Factors, out: &mut Tessellation) {
    let [density, detail, ..] = factors.outer;
    if [density, detail].iter().any(|&factor| factor.is_nan() || factor <= 0.0) {
        return;
    }
    // The number of lines does not depend on the partitioning (2a p.234).
    let lines = Limits::new(tessellator, Partitioning::Integer);
    let lines = lines.axis(lines.clamp(density), false);
    let along = Limits::new(tessellator, tessellator.partitioning);
    let along = along.axis(along.clamp(detail), false);
    for line in 0..lines.points - 1 {
        let v = lines.place(line);
        for point in 0..along.points {
            out.indices.push(out.count() as u16);
            out.point(along.place(point), v);
        }
        out.indices.push(LINE_END);
    }
}

// ---- primitives ----

/// A ring of points around the middle of a patch. Points are given by their numbers.
#[derive(Clone, Copy, Debug)]
struct Ring {
    first: u32,
    /// Number of points of each side, including both ends; triangles have no fourth side.
    sides: [u32; 4],
    /// All points are in one row, or there is only one point. Two of the sides go along this row,
    /// forward and backward.
    degenerate: bool,
}

impl Ring {
    fn new(first: u32, lengths: &[u32]) -> Ring {
        let mut sides = [1; 4];
        sides[..lengths.len()].copy_from_slice(lengths);
        Ring { first, sides, degenerate: lengths.contains(&1) }
    }

    /// Number of steps around the ring.
    fn around(&self) -> u32 {
        self.sides.iter().map(|points| points - 1).sum()
    }

    /// Number of steps from the first point to the start of a side.
    fn start(&self, side: usize) -> u32 {
        self.sides[..side].iter().map(|points| points - 1).sum()
    }

    /// The number of the point that is `steps` steps after the first one.
    fn at(&self, steps: u32) -> u32 {
        let around = self.around();
        self.first
            + match self.degenerate {
                // The sides go along the row forward, then backward.
                true => steps.min(around - steps.min(around)),
                false if steps == around => 0,
                false => steps,
            }
    }
}

/// A corner of a triangle between two rows.
#[derive(Clone, Copy)]
enum Corner {
    /// The current point of the outer row.
    O,
    /// The next point of the outer row.
    NextO,
    /// The current point of the inner row.
    I,
    /// The next point of the inner row.
    NextI,
}
use Corner::{I, NextI, NextO, O};

/// The triangle that advances the outer row by one point.
const OUTWARD: [Corner; 3] = [O, NextO, I];
/// As [`OUTWARD`], but starts at the inner corner.
const OUTWARD_FROM_INSIDE: [Corner; 3] = [I, O, NextO];
/// The triangle that advances the inner row by one point.
const INWARD: [Corner; 3] = [I, O, NextI];
/// A square between both rows, cut from the current inner point to the next outer point.
const FORWARD: [[Corner; 3]; 2] = [[I, O, NextO], [I, NextO, NextI]];
/// As [`FORWARD`], but its first triangle starts at an outer corner.
const FORWARD_FROM_OUTSIDE: [[Corner; 3]; 2] = [[O, NextO, I], [I, NextO, NextI]];
/// A square between both rows, cut from the current outer point to the next inner point.
const BACKWARD: [[Corner; 3]; 2] = [[O, NextI, I], [O, NextO, NextI]];
/// The square in the middle of two rows (see `Rows::transition`). Its diagonal is that of
/// `BACKWARD`.
const MIDDLE: [[Corner; 3]; 2] = [[I, O, NextI], [NextI, O, NextO]];

/// The diagonals that cut the squares between rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Diagonals {
    /// All squares are cut as in `FORWARD`.
    Forward,
    /// All squares are cut as in `FORWARD`, except the middle one: it is cut as in `BACKWARD`.
    ForwardButMiddle,
    /// The squares of the first half are cut as in `BACKWARD`, the others as in `FORWARD`.
    Mirrored,
}

/// Two rows of points. Each row is a part of a ring. It is given by the ring, the number of steps
/// from the ring's first point to the row's first point, and the direction (1 or -1).
#[derive(Clone, Copy)]
struct Rows {
    outside: (Ring, u32, i32),
    inside: (Ring, u32, i32),
}

/// For each of two rows, the number of steps up to which the area between the rows has triangles.
#[derive(Clone, Copy, Default)]
struct Cursor {
    outside: u32,
    inside: u32,
}

impl Rows {
    fn triangle(&self, cursor: &Cursor, corners: [Corner; 3], out: &mut Tessellation) {
        let point = |(ring, start, step): (Ring, u32, i32), n: u32| {
            ring.at(start.wrapping_add_signed(step * n as i32))
        };
        out.triangle(corners.map(|corner| match corner {
            O => point(self.outside, cursor.outside),
            NextO => point(self.outside, cursor.outside + 1),
            I => point(self.inside, cursor.inside),
            NextI => point(self.inside, cursor.inside + 1),
        }));
    }

    fn square(&self, cursor: &mut Cursor, corners: [[Corner; 3]; 2], out: &mut Tessellation) {
        corners.into_iter().for_each(|triangle| self.triangle(cursor, triangle, out));
        cursor.outside += 1;
        cursor.inside += 1;
    }

    fn outward(&self, cursor: &mut Cursor, corners: [Corner; 3], out: &mut Tessellation) {
        self.triangle(cursor, corners, out);
        cursor.outside += 1;
    }

    fn inward(&self, cursor: &mut Cursor, out: &mut Tessellation) {
        self.triangle(cursor, INWARD, out);
        cursor.inside += 1;
    }

    /// Emits the squares, as two triangles each, between two rows that have the same number of
    /// steps.
    fn stitch(
        &self,
        cursor: &mut Cursor,
        squares: u32,
        diagonals: Diagonals,
        out: &mut Tessellation,
    ) {
        for n in 0..squares {
            let corners = match diagonals {
                Diagonals::Forward => FORWARD,
                Diagonals::ForwardButMiddle if n == squares / 2 => BACKWARD,
                Diagonals::ForwardButMiddle => FORWARD_FROM_OUTSIDE,
                Diagonals::Mirrored if n < squares.div_ceil(2) => BACKWARD,
                Diagonals::Mirrored => FORWARD,
            };
            self.square(cursor, corners, out);
        }
    }

    /// Emits the triangles between two rows that can have different numbers of steps. The loop of
    /// each half visits the points that an edge with the greatest factor has ([`RANKS`]). A row
    /// advances at the points that it has.
    fn transition(&self, outside: &Axis, inside: &Axis, out: &mut Tessellation) {
        let mut cursor = Cursor::default();
        let odd = |axis: &Axis| axis.parity == Parity::Odd;
        let steps = |axis: &Axis| axis.half - u32::from(odd(axis));
        // The inner row lacks the first step of its axis (n = 0).
        let goes = |axis: &Axis, rank: u32| rank < steps(axis);
        for (n, &rank) in RANKS.iter().enumerate() {
            if n > 0 && goes(inside, rank) {
                self.inward(&mut cursor, out);
            }
            if goes(outside, rank) {
                self.outward(&mut cursor, OUTWARD, out);
            }
        }
        match (odd(outside), odd(inside)) {
            (true, true) => self.square(&mut cursor, MIDDLE, out),
            (true, false) => self.outward(&mut cursor, OUTWARD_FROM_INSIDE, out),
            (false, true) => self.inward(&mut cursor, out),
            (false, false) => {}
        }
        for (n, &rank) in RANKS.iter().enumerate().rev() {
            if goes(outside, rank) {
                self.outward(&mut cursor, OUTWARD, out);
            }
            if n > 0 && goes(inside, rank) {
                self.inward(&mut cursor, out);
            }
        }
    }
}

/// Ranks of the points of half an edge, from its end to its middle, for the greatest factor. Half
/// an edge with n steps has the points with ranks below n. As n grows, each new point splits a
/// segment.
const RANKS: [u32; 33] = [
    0, 32, 16, 8, 17, 4, 18, 9, 19, 2, 20, 10, 21, 5, 22, 11, 23, 1, 24, 12, 25, 6, 26, 13, 27, 3,
    28, 14, 29, 7, 30, 15, 31,
];

/// Emits the triangles between each ring and the next one inside.
fn stitch_rings(rings: &[Ring], outer: &[Axis], inner: &[&Axis], out: &mut Tessellation) {
    for (n, pair) in rings.windows(2).enumerate() {
        let [outside, inside] = [pair[0], pair[1]];
        for side in 0..outer.len() {
            let rows = Rows {
                outside: (outside, outside.start(side), 1),
                inside: (inside, inside.start(side), 1),
            };
            if n == 0 {
                rows.transition(&outer[side], inner[side], out);
                continue;
            }
            let mut cursor = Cursor::default();
            rows.outward(&mut cursor, OUTWARD, out);
            rows.stitch(&mut cursor, inside.sides[side] - 1, Diagonals::Mirrored, out);
            rows.outward(&mut cursor, OUTWARD, out);
        }
    }
}

#[cfg(test)]
mod tests;
