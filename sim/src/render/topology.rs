//! Primitive assembly: a stream of vertices becomes points, lines, triangles, rectangles and
//! patches.
//!
//! An [`Assembler`] takes the vertices of a [`Topology`] one by one and gives each [`Primitive`] as
//! soon as it is known. It serves every place where primitives are made: input of hull and geometry
//! shaders, stream output, and setup, which want adjacency or not and differ in the [`Reorder`] of
//! strips. (Topologies: 2b p.5; orders: the tables of OpenGL 4.6, 10.1, and of Direct3D 10;
//! gen8_facts 5.1.)

use crate::assumptions::{
    EDGE_FLAGS_HOLD_IN_STRIPS, POLYGONS_PROVOKE_AT_THEIR_FIRST_VERTEX,
    QUADS_START_AT_THEIR_LAST_VERTEX,
};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;

/// Most vertices of a primitive: those of a patch.
pub const MAX_VERTICES: usize = 32;

/// How vertices follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Each vertex is a point.
    Points,
    /// Two vertices each.
    Lines,
    /// Each vertex goes on from the one before.
    LineStrip,
    /// A strip that returns to its first vertex.
    LineLoop,
    /// Four vertices each: the line is between the second and the third.
    LinesAdjacent,
    /// A strip with one vertex before and one behind it.
    LineStripAdjacent,
    /// Three vertices each.
    Triangles,
    /// Each vertex makes a triangle with the two before.
    TriangleStrip,
    /// A strip that starts with the winding of an odd triangle.
    TriangleStripReversed,
    /// Each vertex makes a triangle with the one before and the first.
    TriangleFan,
    /// All vertices lie around one polygon.
    Polygon,
    /// Four vertices each.
    Quads,
    /// Each two vertices make a quad with the two before.
    QuadStrip,
    /// Six vertices each: even ones are corners, odd ones lie opposite of the edges.
    TrianglesAdjacent,
    /// A strip of even vertices; odd ones lie opposite of its outer edges.
    TriangleStripAdjacent,
    /// Three corners of a rectangle each.
    Rectangles,
    /// So many control points each.
    Patches(u8),
}

/// A primitive topology type of the manual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topology {
    /// How vertices follow each other.
    pub kind: Kind,
    /// Primitives were found to face backward by an earlier stage (`_BF`).
    pub back_facing: bool,
    /// A strip that goes on with one drawn before (`_CONT`).
    pub continued: bool,
    /// The polygon stipple holds (all but `_NOSTIPPLE`).
    pub stippled: bool,
}

impl Topology {
    /// The topology of a code; codes that are reserved have none (2b p.5).
    pub fn of(code: Code) -> Option<Topology> {
        let mut topology =
            Topology { kind: Kind::Points, back_facing: false, continued: false, stippled: true };
        topology.kind = match code {
            Code::_3DPRIM_POINTLIST | Code::_3DPRIM_POINTLIST_BF => Kind::Points,
            Code::_3DPRIM_LINELIST => Kind::Lines,
            Code::_3DPRIM_LINESTRIP
            | Code::_3DPRIM_LINESTRIP_BF
            | Code::_3DPRIM_LINESTRIP_CONT
            | Code::_3DPRIM_LINESTRIP_CONT_BF => Kind::LineStrip,
            Code::_3DPRIM_LINELOOP => Kind::LineLoop,
            Code::_3DPRIM_LINELIST_ADJ => Kind::LinesAdjacent,
            Code::_3DPRIM_LINESTRIP_ADJ => Kind::LineStripAdjacent,
            Code::_3DPRIM_TRILIST => Kind::Triangles,
            Code::_3DPRIM_TRISTRIP => Kind::TriangleStrip,
            Code::_3DPRIM_TRISTRIP_REVERSE => Kind::TriangleStripReversed,
            Code::_3DPRIM_TRIFAN | Code::_3DPRIM_TRIFAN_NOSTIPPLE => Kind::TriangleFan,
            Code::_3DPRIM_POLYGON => Kind::Polygon,
            Code::_3DPRIM_QUADLIST => Kind::Quads,
            Code::_3DPRIM_QUADSTRIP => Kind::QuadStrip,
            Code::_3DPRIM_TRILIST_ADJ => Kind::TrianglesAdjacent,
            Code::_3DPRIM_TRISTRIP_ADJ => Kind::TriangleStripAdjacent,
            Code::_3DPRIM_RECTLIST => Kind::Rectangles,
            patches => {
                let more = patches.bits().checked_sub(Code::_3DPRIM_PATCHLIST_1.bits())?;
                Kind::Patches(
                    u8::try_from(more).ok().filter(|&more| usize::from(more) < MAX_VERTICES)? + 1,
                )
            }
        };
        topology.back_facing = matches!(
            code,
            Code::_3DPRIM_POINTLIST_BF
                | Code::_3DPRIM_LINESTRIP_BF
                | Code::_3DPRIM_LINESTRIP_CONT_BF
        );
        topology.continued =
            matches!(code, Code::_3DPRIM_LINESTRIP_CONT | Code::_3DPRIM_LINESTRIP_CONT_BF);
        topology.stippled = code != Code::_3DPRIM_TRIFAN_NOSTIPPLE;
        Some(topology)
    }

    /// What its primitives are.
    pub fn shape(&self) -> Shape {
        match self.kind {
            Kind::Points => Shape::Point,
            Kind::Lines
            | Kind::LineStrip
            | Kind::LineLoop
            | Kind::LinesAdjacent
            | Kind::LineStripAdjacent => Shape::Line,
            Kind::Rectangles => Shape::Rectangle,
            Kind::Patches(_) => Shape::Patch,
            _ => Shape::Triangle,
        }
    }

    /// Vertices of each primitive, with adjacent ones or without.
    pub fn primitive_vertices(&self, adjacency: Adjacency) -> usize {
        match (self.kind, self.shape()) {
            (Kind::Patches(points), _) => points.into(),
            (Kind::LinesAdjacent | Kind::LineStripAdjacent, _) if adjacency == Adjacency::Keep => 4,
            (Kind::TrianglesAdjacent | Kind::TriangleStripAdjacent, _)
                if adjacency == Adjacency::Keep =>
            {
                6
            }
            (_, Shape::Point) => 1,
            (_, Shape::Line) => 2,
            _ => 3,
        }
    }

    /// Do vertices say whether the edge behind them is drawn (Edge Flag Enable of
    /// VERTEX_ELEMENT_STATE)? Where adjacent vertices are kept a geometry shader follows, which has
    /// new vertices.
    pub fn has_edge_flags(&self) -> bool {
        match self.kind {
            Kind::Triangles | Kind::Polygon | Kind::Quads => true,
            Kind::TriangleStrip
            | Kind::TriangleStripReversed
            | Kind::TriangleFan
            | Kind::QuadStrip => EDGE_FLAGS_HOLD_IN_STRIPS,
            _ => false,
        }
    }
}

/// What a primitive is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One vertex.
    Point,
    /// Two, with adjacency four.
    Line,
    /// Three, with adjacency six.
    Triangle,
    /// Three corners: lower right, lower left and upper left. The fourth is the first plus the
    /// third less the second.
    Rectangle,
    /// 1 to 32 control points.
    Patch,
}

impl Shape {
    /// The list of such primitives, which stands for all topologies of them.
    pub const fn list(self) -> Code {
        match self {
            Shape::Point => Code::_3DPRIM_POINTLIST,
            Shape::Line => Code::_3DPRIM_LINELIST,
            Shape::Triangle => Code::_3DPRIM_TRILIST,
            Shape::Rectangle => Code::_3DPRIM_RECTLIST,
            Shape::Patch => Code::_3DPRIM_PATCHLIST_1,
        }
    }
}

/// Which vertices of every other triangle of a strip change places, so that all have the same
/// winding (2a p.121, p.226).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reorder {
    /// The second and the third: first vertices are in the order of the strip.
    Leading,
    /// The first and the second: last vertices are in the order of the strip.
    Trailing,
}

/// Do primitives have their adjacent vertices?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adjacency {
    /// They do.
    Keep,
    /// They are left out (Discard Adjacency, and whatever is no geometry shader).
    Discard,
}

/// Which select of the provoking vertex a primitive follows (3DSTATE_SF, 2a p.214; 3DSTATE_CLIP, 2a
/// p.42).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provoking {
    /// Line Strip/List Provoking Vertex Select.
    Line,
    /// Triangle Strip/List Provoking Vertex Select.
    Triangle,
    /// Triangle Fan Provoking Vertex Select.
    Fan,
    /// None: it is the first vertex.
    First,
}

/// The selects of 3DSTATE_SF: a number of a vertex each, as the topology counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProvokingSelects {
    /// Of lines, 0 or 1.
    pub line: u8,
    /// Of triangles of strips and lists, 0 to 2.
    pub triangle: u8,
    /// Of triangles of fans, 0 to 2.
    pub fan: u8,
}

/// Edges of a triangle that are outer edges of its polygon. Edge n goes from vertex n to the next
/// one.
pub type Edges = [bool; 3];

/// A point, a line, a triangle, a rectangle or a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Primitive {
    /// What it is.
    pub shape: Shape,
    vertices: [u32; MAX_VERTICES],
    count: u8,
    /// Places of its vertices in the order of the topology: the vertex that came first, second,
    /// third.
    order: [u8; 3],
    /// How its provoking vertex is chosen.
    pub provoking: Provoking,
    /// Primitive ID: primitives of this draw and instance before it. Both triangles of a quad have the
    /// same.
    pub id: u32,
    /// Edges that wireframes draw; all but those inside a polygon.
    pub edges: Edges,
    /// Of lines: the first one of a strip, where the stipple starts. Of lists each is.
    pub first: bool,
    /// Of lines: the last one of a strip, where Last Pixel Enable counts. Of lists each is.
    pub last: bool,
    /// It was found to face backward.
    pub back_facing: bool,
    /// The polygon stipple holds.
    pub stippled: bool,
}

impl Primitive {
    /// Its vertices. Triangles have the winding of the first one of their strip.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices[..usize::from(self.count)]
    }

    /// Its first three vertices; of lines and points those that are left are 0.
    pub fn corners(&self) -> [u32; 3] {
        [self.vertices[0], self.vertices[1], self.vertices[2]]
    }

    /// The primitive with other numbers for its vertices.
    #[must_use]
    pub fn map(&self, number: impl FnMut(u32) -> u32) -> Primitive {
        let mut primitive = *self;
        let count = usize::from(self.count);
        for (to, number) in
            primitive.vertices[..count].iter_mut().zip(self.vertices().iter().copied().map(number))
        {
            *to = number;
        }
        primitive
    }

    /// The first three vertices of a triangle of a strip in another order (Reorder Mode of the
    /// stream output, 2a p.226); other primitives have one order.
    pub fn reordered(&self, reorder: Reorder) -> [u32; 3] {
        // As they came; each change of places is its own inverse.
        let [a, b, c] = self.order.map(|n| self.vertices[usize::from(n)]);
        match (self.order == [0, 1, 2], reorder) {
            (true, _) => [a, b, c],
            (false, Reorder::Leading) => [a, c, b],
            (false, Reorder::Trailing) => [b, a, c],
        }
    }

    /// Place of its provoking vertex among [`Primitive::vertices`] (without adjacency). Selects that
    /// are reserved choose the last vertex.
    pub fn provoking(&self, selects: &ProvokingSelects) -> usize {
        let (select, last) = match self.provoking {
            Provoking::Line => (selects.line, 1),
            Provoking::Triangle => (selects.triangle, 2),
            Provoking::Fan => (selects.fan, 2),
            Provoking::First => (0, 0),
        };
        self.order[usize::from(select.min(last))].into()
    }
}

/// Makes primitives of vertices.
#[derive(Clone, Debug)]
pub struct Assembler {
    topology: Topology,
    reorder: Reorder,
    adjacency: Adjacency,
    /// The newest vertices, by number.
    ring: [u32; MAX_VERTICES],
    /// The vertex that came first.
    hub: u32,
    /// Vertices since the last cut.
    count: u32,
    /// Primitives so far.
    primitives: u32,
    /// The one that was made last.
    primitive: Primitive,
}

impl Assembler {
    /// For one instance of a draw.
    pub fn new(topology: Topology, reorder: Reorder, adjacency: Adjacency) -> Assembler {
        let primitive = Primitive {
            shape: topology.shape(),
            vertices: [0; MAX_VERTICES],
            count: topology.primitive_vertices(adjacency) as u8,
            order: [0, 1, 2],
            provoking: match topology.kind {
                Kind::TriangleFan => Provoking::Fan,
                Kind::Polygon | Kind::Quads | Kind::QuadStrip
                    if POLYGONS_PROVOKE_AT_THEIR_FIRST_VERTEX =>
                {
                    Provoking::First
                }
                Kind::Polygon | Kind::Quads | Kind::QuadStrip => Provoking::Fan,
                Kind::Points | Kind::Patches(_) => Provoking::First,
                _ if topology.shape() == Shape::Line => Provoking::Line,
                _ => Provoking::Triangle,
            },
            id: 0,
            edges: [true; 3],
            first: true,
            last: true,
            back_facing: topology.back_facing,
            stippled: topology.stippled,
        };
        let ring = [0; MAX_VERTICES];
        Assembler { topology, reorder, adjacency, ring, hub: 0, count: 0, primitives: 0, primitive }
    }

    /// As setup takes them: without adjacency, strips with the order that keeps the last vertex.
    pub fn for_setup(topology: Topology) -> Assembler {
        Assembler::new(topology, Reorder::Trailing, Adjacency::Discard)
    }

    /// Primitives that were made so far; a quad or a polygon is one.
    pub fn primitives(&self) -> u32 {
        self.primitives
    }

    /// A vertex, `back` ones before the newest.
    fn back(&self, back: u32) -> u32 {
        self.ring[(self.count.wrapping_sub(1 + back)) as usize % MAX_VERTICES]
    }

    /// Takes the next vertex and gives the primitives that are complete with it.
    ///
    /// # Errors
    /// What `out` returns; the primitive counts as made.
    pub fn vertex<E>(
        &mut self,
        vertex: u32,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.count == 0 {
            self.hub = vertex;
        }
        self.ring[self.count as usize % MAX_VERTICES] = vertex;
        // Strips care about the parity of counts, and whether there were a few vertices yet: both
        // survive the end of the range.
        self.count = self.count.checked_add(1).unwrap_or(u32::MAX - 31);
        let n = self.count;
        match self.topology.kind {
            Kind::Points => self.list(1, out),
            Kind::Lines => self.list(2, out),
            Kind::Triangles | Kind::Rectangles => self.list(3, out),
            Kind::LinesAdjacent => self.list(4, out),
            Kind::TrianglesAdjacent => self.list(6, out),
            Kind::Patches(points) => self.list(points.into(), out),
            // A line waits for the next one, to know whether it is the last.
            Kind::LineStrip if n > 2 => self.strip_line(1, false, out),
            Kind::LineStripAdjacent if n > 4 => self.strip_line(1, false, out),
            Kind::LineLoop if n >= 2 => {
                self.primitive.first = n == 2;
                self.primitive.last = false;
                self.emit(&[self.back(1), self.back(0)], out)
            }
            Kind::TriangleStrip if n >= 3 => self.strip_triangle(n.is_multiple_of(2), out),
            Kind::TriangleStripReversed if n >= 3 => self.strip_triangle(!n.is_multiple_of(2), out),
            Kind::TriangleFan if n >= 3 => self.emit(&[self.hub, self.back(1), self.back(0)], out),
            Kind::Polygon if n > 3 => self.polygon_triangle(1, false, out),
            Kind::Quads if n == 4 => {
                self.count = 0;
                let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| self.ring[i]);
                self.quad([a, b, c, d], 3, out)
            }
            Kind::QuadStrip if n >= 4 && n.is_multiple_of(2) => {
                let quad = [self.back(3), self.back(2), self.back(0), self.back(1)];
                self.quad(quad, 2, out)
            }
            // A triangle waits for the two vertices of the next one, of which it needs the second.
            Kind::TriangleStripAdjacent if n >= 8 && n.is_multiple_of(2) => {
                self.adjacent_triangle(n / 2 - 4, n - 2, out)
            }
            _ => Ok(()),
        }
    }

    /// Ends the topology: what is left of it is drawn, what is incomplete dropped. Vertices behind
    /// begin anew.
    ///
    /// # Errors
    /// As [`Assembler::vertex`].
    pub fn cut<E>(&mut self, out: &mut impl FnMut(&Primitive) -> Result<(), E>) -> Result<(), E> {
        let n = self.count;
        let done = match self.topology.kind {
            Kind::LineStrip if n >= 2 => self.strip_line(0, true, out),
            Kind::LineStripAdjacent if n >= 4 => self.strip_line(0, true, out),
            Kind::LineLoop if n >= 2 => {
                self.primitive.first = false;
                self.primitive.last = true;
                self.emit(&[self.back(0), self.hub], out)
            }
            Kind::Polygon if n >= 3 => self
                .polygon_triangle(0, true, out)
                .inspect(|()| self.primitives = self.primitives.wrapping_add(1)),
            Kind::TriangleStripAdjacent if n >= 6 => {
                let even = n & !1;
                self.adjacent_triangle(even / 2 - 3, even - 1, out)
            }
            _ => Ok(()),
        };
        self.count = 0;
        done
    }

    /// Takes a whole stream: each [`CUT`] ends the topology, as the end does.
    ///
    /// # Errors
    /// As [`Assembler::vertex`].
    pub fn stream<E>(
        &mut self,
        vertices: impl IntoIterator<Item = u32>,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        for vertex in vertices {
            match vertex {
                CUT => self.cut(out)?,
                _ => self.vertex(vertex, out)?,
            }
        }
        self.cut(out)
    }

    // ---- how each kind makes its primitives ----

    fn emit<E>(
        &mut self,
        vertices: &[u32],
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        self.primitive.vertices[..vertices.len()].copy_from_slice(vertices);
        self.primitive.count = vertices.len() as u8;
        self.primitive.id = self.primitives;
        // Polygons count themselves, when they are whole.
        let whole = !matches!(self.topology.kind, Kind::Polygon | Kind::Quads | Kind::QuadStrip);
        self.primitives = self.primitives.wrapping_add(whole.into());
        out(&self.primitive)
    }

    fn list<E>(
        &mut self,
        vertices: usize,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        if (self.count as usize) < vertices {
            return Ok(());
        }
        self.count = 0;
        let ring = self.ring;
        match (self.topology.kind, self.adjacency) {
            (Kind::LinesAdjacent, Adjacency::Discard) => self.emit(&ring[1..3], out),
            (Kind::TrianglesAdjacent, Adjacency::Discard) => {
                self.emit(&[ring[0], ring[2], ring[4]], out)
            }
            _ => self.emit(&ring[..vertices], out),
        }
    }

    /// The line of a strip that ends `back` vertices before the newest.
    fn strip_line<E>(
        &mut self,
        back: u32,
        last: bool,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let adjacent = self.topology.kind == Kind::LineStripAdjacent;
        let least = if adjacent { 4 } else { 2 };
        self.primitive.first = self.count - back == least && !self.topology.continued;
        self.primitive.last = last;
        let line = [3, 2, 1, 0].map(|n| self.back(n + back));
        match (adjacent, self.adjacency) {
            (true, Adjacency::Keep) => self.emit(&line, out),
            (true, Adjacency::Discard) => self.emit(&line[1..3], out),
            (false, _) => self.emit(&line[2..], out),
        }
    }

    /// The newest triangle of a strip.
    fn strip_triangle<E>(
        &mut self,
        turned: bool,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let order = self.turn(turned);
        let triangle = [self.back(2), self.back(1), self.back(0)];
        self.emit(&order.map(|n| triangle[usize::from(n)]), out)
    }

    /// Where vertices of a triangle go that has the wrong winding; each change is its own inverse.
    fn turn(&mut self, turned: bool) -> [u8; 3] {
        self.primitive.order = match (turned, self.reorder) {
            (false, _) => [0, 1, 2],
            (true, Reorder::Leading) => [0, 2, 1],
            (true, Reorder::Trailing) => [1, 0, 2],
        };
        self.primitive.order
    }

    /// The triangle of a polygon that ends `back` vertices before the newest.
    fn polygon_triangle<E>(
        &mut self,
        back: u32,
        last: bool,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        self.primitive.edges = [self.count - back == 3, true, last];
        self.emit(&[self.hub, self.back(1 + back), self.back(back)], out)
    }

    /// Two triangles of a quad whose vertices go `around` it. Of those, `newest` came last.
    fn quad<E>(
        &mut self,
        around: [u32; 4],
        newest: usize,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = if QUADS_START_AT_THEIR_LAST_VERTEX { newest } else { 0 };
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| around[(start + n) % 4]);
        self.primitive.edges = [true, true, false];
        self.emit(&[a, b, c], out)?;
        self.primitive.edges = [false, true, true];
        let done = self.emit(&[a, c, d], out);
        self.primitives = self.primitives.wrapping_add(1);
        done
    }

    /// Triangle `k` of a strip with adjacency. Opposite of its newest edge is vertex `beyond` of
    /// the strip.
    fn adjacent_triangle<E>(
        &mut self,
        k: u32,
        beyond: u32,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let at = |n: u32| self.ring[n as usize % MAX_VERTICES];
        let corners = [2 * k, 2 * k + 2, 2 * k + 4].map(at);
        // Opposite of the edges between corners 0 and 1, 1 and 2, 2 and 0.
        let before = if k == 0 { at(1) } else { at(2 * k - 2) };
        let [onward, side] = [at(beyond), at(2 * k + 3)];
        let order = self.turn(k % 2 == 1);
        let [a, b, c] = order.map(|n| corners[usize::from(n)]);
        if self.adjacency == Adjacency::Discard {
            return self.emit(&[a, b, c], out);
        }
        let [ab, bc, ca] = match order {
            [0, 1, 2] => [before, onward, side],
            [0, 2, 1] => [side, onward, before],
            _ => [before, side, onward],
        };
        self.emit(&[a, ab, b, bc, c, ca], out)
    }
}

/// Stands in a stream of vertices where the topology ends and begins anew (Cut Index).
pub const CUT: u32 = u32::MAX;

#[cfg(test)]
#[path = "topology_tests.rs"]
mod tests;
