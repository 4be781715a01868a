//! Tessellator: the factors of a patch become points of its domain and the primitives between them.
//!
//! The algorithm is that of Direct3D 11, whose functional specification fixes positions and order
//! (gen8_facts 6; `assumptions::TESSELLATION_IS_THAT_OF_DIRECT3D`).
//! Points lie in rings: the outer one has the points of each edge by its own factor, those inside
//! follow the inner factors. [`tessellate`] is the entry.

use super::topology::{Assembler, CUT, Kind, Primitive, Topology};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::render3d_stages::{
    ThreeDStateTe, ThreeDStateTeOutputTopology as TopologyCode,
    ThreeDStateTePartitioning as PartitioningCode, ThreeDStateTeTeDomain as DomainCode,
    ThreeDStateTeTeMode as ModeCode,
};

use std::convert::Infallible;

/// Where a coordinate lies: 16 bits of fraction.
type Fixed = u32;
/// The end of an edge.
const ONE: Fixed = 1 << 16;
/// Its middle.
const HALF: Fixed = ONE / 2;
/// A third, rounded.
const THIRD: Fixed = 0x5555;
/// Two thirds, cut.
const TWO_THIRDS: Fixed = 0xaaaa;
/// The least fraction.
const EPSILON: f32 = 1.0 / 65536.0;
/// The greatest factor of all.
const MAX_FACTOR: f32 = 64.0;

/// The domain that points lie in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// A square of U and V.
    Quad,
    /// A triangle: U, V, and W that is left of 1.
    Triangle,
    /// Lines along U, one above the other in V.
    Isoline,
}

/// How edges are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Partitioning {
    /// Into equal segments; factors are rounded up.
    Integer,
    /// Into an odd number of segments, two of which grow with the factor.
    OddFractional,
    /// Into an even number of such segments.
    EvenFractional,
}

/// What lies between the points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Nothing: each point is drawn.
    Points,
    /// Lines.
    Lines,
    /// Triangles that go around clockwise where U is right and V is down.
    Clockwise,
    /// The other way around.
    CounterClockwise,
}

/// What 3DSTATE_TE says (2a p.231-234).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tessellator {
    /// The domain.
    pub domain: Domain,
    /// How edges are divided.
    pub partitioning: Partitioning,
    /// What is made.
    pub output: Output,
    /// The greatest factor of odd partitioning.
    pub max_odd: f32,
    /// The greatest factor of the others.
    pub max_other: f32,
}

impl Tessellator {
    /// Reads the packet.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for codes that are reserved and for outputs that the domain does not
    /// have; [`Fault::Unimplemented`] for the software modes.
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
            // A code of two bits.
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

/// The factors of a patch.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Factors {
    /// Of the edges: U = 0, V = 0, then U = 1, V = 1 of quads or W = 0 of triangles. Of isolines
    /// their number and the number of segments of each.
    pub outer: [f32; 4],
    /// Of the inside: along U and V of quads; one of triangles.
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

/// Stands behind the points of a line.
pub const LINE_END: u16 = u16::MAX;

impl Output {
    /// The topology that the indices of a [`Tessellation`] make up (2a p.232).
    pub fn topology(self) -> Topology {
        let kind = match self {
            Output::Points => Kind::Points,
            Output::Lines => Kind::LineStrip,
            Output::Clockwise | Output::CounterClockwise => Kind::Triangles,
        };
        Topology { kind, back_facing: false, continued: false, stippled: true }
    }
}

/// The points and primitives of a patch. It can be used for many patches, one after the other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tessellation {
    /// Points in the order of the tessellator, each once.
    pub points: Vec<Point>,
    /// Numbers of points: one for each vertex of each triangle, or each point; the points of each
    /// line, and then [`LINE_END`].
    pub indices: Vec<u16>,
    /// Triangles go the other way around.
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

    /// The primitives, all with the primitive ID of their patch
    /// (assumptions::PRIMITIVES_KEEP_THE_NUMBER_OF_WHAT_THEY_CAME_FROM).
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

/// Divides a patch; a patch that is culled has no points.
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

/// How far factors go.
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

    /// A factor within the limits: what is no number becomes the least.
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
            // One segment inside is drawn as two, so that there is a ring.
            Partitioning::Integer if factor % 2.0 == 0.0 || inside && factor == 1.0 => Parity::Even,
            Partitioning::Integer => Parity::Odd,
        };
        Axis::new(fixed(factor), parity, inside)
    }
}

/// Rounds to the nearest; factors are finite and positive here.
fn fixed(factor: f32) -> Fixed {
    (f64::from(factor) * f64::from(ONE)).round_ties_even() as Fixed
}

/// Edges and inside of a patch, or nothing if it is culled: if an edge has no factor above 0. The
/// flag says that all factors are 1.
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
        // Something is divided, so that there must be a ring inside.
        limits.low += EPSILON;
        limits.high = limits.high.max(limits.low);
    }
    let inner = inner.map(|factor| limits.clamp(factor));
    let ones = outer.iter().chain(&inner).all(|&factor| fixed(factor) == ONE);
    let outer = outer.map(|factor| limits.axis(factor, false));
    let inner = inner.map(|factor| limits.axis(factor, true));
    Some((outer, inner, ones && tessellator.partitioning != Partitioning::EvenFractional))
}

/// How a unit of length is divided: symmetric, with each half between its divisions by two whole
/// numbers of segments.
#[derive(Clone, Copy, Debug)]
struct Axis {
    parity: Parity,
    /// Points with both ends.
    points: u32,
    /// Points of the half before its middle.
    half: u32,
    /// The point before which the next division has one more.
    split: u32,
    /// How far the division is from the lower to the upper one.
    fraction: Fixed,
    /// Length of a segment of the lower division.
    lower: Fixed,
    /// And of the upper one.
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
            // A ring inside has at least a point, of odd division one on each side.
            points: if inside { points.max(3 + middle) } else { points },
            half: ceil,
            split,
            fraction: half - (floor << 16),
            lower: length(floor),
            upper: length(ceil),
        }
    }

    /// Where a point lies.
    fn place(&self, point: u32) -> Fixed {
        let mirrored = point >= self.half;
        let point = match mirrored {
            true => (2 * self.half - u32::from(self.parity == Parity::Odd)).saturating_sub(point),
            false => point,
        };
        if point == self.half {
            // Reciprocals of 16 bits do not always meet there.
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

/// Points of one side of a ring but its last, which is the first of the next side. Sides go along V
/// downward, U upward, then back; those of triangles do not come to the fourth.
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
    // Of edges 0 and 2 the constant is U, of 1 and 3 it is V.
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
    // Two rows of points are left. What lies between them belongs to no two rings.
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
    // The third side goes along U downward.
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
        // A ring lies two thirds as far inside as its points lie along the axis; sides move apart
        // half as far.
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
    // How many lines there are does not depend on the partitioning (2a p.234).
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

/// Points around a patch, by their numbers.
#[derive(Clone, Copy, Debug)]
struct Ring {
    first: u32,
    /// Points of each side, with both ends; triangles have no fourth side.
    sides: [u32; 4],
    /// All points lie in one row, or there is just one: two sides go along it, back and forth.
    degenerate: bool,
}

impl Ring {
    fn new(first: u32, lengths: &[u32]) -> Ring {
        let mut sides = [1; 4];
        sides[..lengths.len()].copy_from_slice(lengths);
        Ring { first, sides, degenerate: lengths.contains(&1) }
    }

    /// Steps of the way around.
    fn around(&self) -> u32 {
        self.sides.iter().map(|points| points - 1).sum()
    }

    /// Steps to the start of a side.
    fn start(&self, side: usize) -> u32 {
        self.sides[..side].iter().map(|points| points - 1).sum()
    }

    /// The point after so many steps.
    fn at(&self, steps: u32) -> u32 {
        let around = self.around();
        self.first
            + match self.degenerate {
                // The row of a wide quad starts where its first side has its only point, that of a
                // high one likewise.
                true => steps.min(around - steps.min(around)),
                false if steps == around => 0,
                false => steps,
            }
    }
}

/// A corner of a triangle between two rows.
#[derive(Clone, Copy)]
enum Corner {
    /// Where the outer row is.
    O,
    /// The next point of the outer row.
    NextO,
    /// Where the inner row is.
    I,
    /// The next point of the inner row.
    NextI,
}
use Corner::{I, NextI, NextO, O};

/// The outer row goes on.
const OUTWARD: [Corner; 3] = [O, NextO, I];
/// The same from another corner.
const OUTWARD_FROM_INSIDE: [Corner; 3] = [I, O, NextO];
/// The inner row goes on.
const INWARD: [Corner; 3] = [I, O, NextI];
/// A square between both rows: from where the inner row is to the next outer point.
const FORWARD: [[Corner; 3]; 2] = [[I, O, NextO], [I, NextO, NextI]];
/// The same with another first corner.
const FORWARD_FROM_OUTSIDE: [[Corner; 3]; 2] = [[O, NextO, I], [I, NextO, NextI]];
/// From where the outer row is to the next inner point.
const BACKWARD: [[Corner; 3]; 2] = [[O, NextI, I], [O, NextO, NextI]];
/// The square in the middle of a transition.
const MIDDLE: [[Corner; 3]; 2] = [[I, O, NextI], [NextI, O, NextO]];

/// How squares between rows are cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Diagonals {
    /// All alike.
    Forward,
    /// All but the one in the middle.
    ForwardButMiddle,
    /// The halves differ.
    Mirrored,
}

/// Two rows of points: a ring, the steps to the first point and the direction.
#[derive(Clone, Copy)]
struct Rows {
    outside: (Ring, u32, i32),
    inside: (Ring, u32, i32),
}

/// How far rows are stitched.
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

    /// Squares between rows of equal steps.
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

    /// Triangles between rows of any steps. Where both halves of a row are divided again and again,
    /// points keep their order: so each half is gone through by the order in which the greatest
    /// factor has them.
    fn transition(&self, outside: &Axis, inside: &Axis, out: &mut Tessellation) {
        let mut cursor = Cursor::default();
        let odd = |axis: &Axis| axis.parity == Parity::Odd;
        let steps = |axis: &Axis| axis.half - u32::from(odd(axis));
        // The inner ring starts one step of its axis later.
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

/// When the points of half an edge come into being, from its end to its middle, as factors grow:
/// each new one splits the segment whose turn it is by the order of a ruler's marks.
const RANKS: [u32; 33] = [
    0, 32, 16, 8, 17, 4, 18, 9, 19, 2, 20, 10, 21, 5, 22, 11, 23, 1, 24, 12, 25, 6, 26, 13, 27, 3,
    28, 14, 29, 7, 30, 15, 31,
];

/// Triangles between each ring and the next one inside.
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
#[path = "te_tests.rs"]
mod tests;
