//! Primitive assembly: makes points, lines, triangles, rectangles and patches from a stream of
//! vertices.
//!
//! An [`Assembler`] takes the vertices of a [`Topology`] one by one and emits each [`Primitive`]
//! when it is complete. All stages use it: hull and geometry shaders, stream output and setup. They
//! differ in whether they keep adjacency, and in the [`Reorder`] of strips. (Topologies: 2b p.5;
//! orders: the tables of OpenGL 4.6, 10.1, and of Direct3D 10; gen8_facts 5.1.)

use crate::assumptions::{
    EDGE_FLAGS_HOLD_IN_STRIPS, POLYGONS_PROVOKE_AT_THEIR_FIRST_VERTEX,
    QUADS_START_AT_THEIR_LAST_VERTEX,
};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;

/// Maximum number of vertices of a primitive: that of a patch.
pub const MAX_VERTICES: usize = 32;

/// How the vertices make primitives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Each vertex is a point.
    Points,
    /// Each two vertices make a line.
    Lines,
    /// Each vertex from the second on makes a line with the one before it.
    LineStrip,
    /// A line strip with one more line from the last vertex to the first.
    LineLoop,
    /// Each four vertices make a line between the second and the third.
    LinesAdjacent,
    /// A line strip with one adjacent vertex before it and one after it.
    LineStripAdjacent,
    /// Each three vertices make a triangle.
    Triangles,
    /// Each vertex from the third on makes a triangle with the two before it.
    TriangleStrip,
    /// A triangle strip whose first triangle has the winding of the second one of a usual strip.
    TriangleStripReversed,
    /// Each vertex from the third on makes a triangle with the one before it and the first vertex.
    TriangleFan,
    /// All vertices are the corners of one polygon.
    Polygon,
    /// Each four vertices make a quad.
    Quads,
    /// Each two vertices from the third on make a quad with the two before them.
    QuadStrip,
    /// Each six vertices make a triangle: vertices 0, 2 and 4 are its corners, vertices 1, 3 and 5
    /// are opposite its edges.
    TrianglesAdjacent,
    /// The even vertices (from 0) are a triangle strip; odd ones are opposite its outer edges.
    TriangleStripAdjacent,
    /// Each three vertices are three corners of a rectangle.
    Rectangles,
    /// Each patch has this number of control points.
    Patches(u8),
}

/// A primitive topology type of the manual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topology {
    /// How the vertices make primitives.
    pub kind: Kind,
    /// An earlier stage found that the primitives face backward (`_BF`).
    pub back_facing: bool,
    /// The strip continues the one drawn before (`_CONT`).
    pub continued: bool,
    /// The polygon stipple applies (all but `_NOSTIPPLE`).
    pub stippled: bool,
}

impl Topology {
    /// The topology of a code; `None` for reserved codes (2b p.5).
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

    /// The shape of the primitives of this topology.
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

    /// Number of vertices of each primitive, with or without adjacent ones.
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

    /// True if vertices can have an edge flag for the edge that starts at them (Edge Flag Enable of
    /// VERTEX_ELEMENT_STATE). Topologies with adjacency have none: a geometry shader makes new
    /// vertices from them.
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

/// The shape of a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One vertex.
    Point,
    /// Two vertices; four with adjacency.
    Line,
    /// Three vertices; six with adjacency.
    Triangle,
    /// Three corners: lower right, lower left and upper left. The fourth corner is the first plus
    /// the third minus the second.
    Rectangle,
    /// 1 to 32 control points.
    Patch,
}

impl Shape {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Point => "point",
            Shape::Line => "line",
            Shape::Triangle => "triangle",
            Shape::Rectangle => "rectangle",
            Shape::Patch => "patch",
        }
    }

    /// Number of vertices that the clipper takes: 1 to 3.
    pub const fn corners(self) -> usize {
        match self {
            Shape::Point => 1,
            Shape::Line => 2,
            _ => 3,
        }
    }

    /// The code of a list of such primitives, used for all topologies of this shape.
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

/// The vertices that are exchanged in every other triangle of a strip, so that all have the same
/// winding (2a p.121, p.226).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reorder {
    /// The second and the third vertex: the first vertices of triangles stay in strip order.
    Leading,
    /// The first and the second vertex: the last vertices of triangles stay in strip order.
    Trailing,
}

/// Whether primitives keep their adjacent vertices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adjacency {
    /// Primitives contain their adjacent vertices, for the geometry shader.
    Keep,
    /// Primitives discard adjacent vertices (Discard Adjacency, and all stages except the geometry
    /// shader).
    Discard,
}

/// The field that selects the provoking vertex of a primitive (3DSTATE_SF, 2a p.214; 3DSTATE_CLIP,
/// 2a p.42).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provoking {
    /// Line Strip/List Provoking Vertex Select.
    Line,
    /// Triangle Strip/List Provoking Vertex Select.
    Triangle,
    /// Triangle Fan Provoking Vertex Select.
    Fan,
    /// No field: the first vertex is the provoking one.
    First,
}

/// The provoking vertex selects of 3DSTATE_SF. Each is the number of a vertex of the primitive, in
/// the order in which the vertices came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProvokingSelects {
    /// For lines, 0 or 1.
    pub line: u8,
    /// For triangles of strips and lists, 0 to 2.
    pub triangle: u8,
    /// For triangles of fans, 0 to 2.
    pub fan: u8,
}

/// Edges of a triangle that are outer edges of its polygon. Edge n goes from vertex n to the next
/// one.
pub type Edges = [bool; 3];

/// A point, a line, a triangle, a rectangle or a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Primitive {
    /// The shape of the primitive.
    pub shape: Shape,
    vertices: [u32; MAX_VERTICES],
    count: u8,
    /// Indices into `vertices` of the vertex that came first, second and third in the topology.
    order: [u8; 3],
    /// The field that selects its provoking vertex.
    pub provoking: Provoking,
    /// Primitive ID: the number of primitives before this one in the same instance of the draw. All
    /// triangles of a quad or polygon have the same ID.
    pub id: u32,
    /// Edges that wireframes draw: all but those inside a polygon.
    pub edges: Edges,
    /// For lines: this is the first line of a strip, where the stipple starts. True for each line
    /// of a list. False for all lines of a strip that continues an earlier one (`_CONT`).
    pub first: bool,
    /// For lines: this is the last line of a strip, where Last Pixel Enable applies. True for each
    /// line of a list.
    pub last: bool,
    /// An earlier stage found that the primitive faces backward.
    pub back_facing: bool,
    /// The polygon stipple applies.
    pub stippled: bool,
}

impl Primitive {
    /// The vertices of the primitive. Triangles of a strip have the winding of the first triangle
    /// of the strip.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices[..usize::from(self.count)]
    }

    /// The first three vertices of the primitive; vertices that lines and points do not have are 0.
    pub fn corners(&self) -> [u32; 3] {
        [self.vertices[0], self.vertices[1], self.vertices[2]]
    }

    /// The primitive with `number` applied to each of its vertex numbers.
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

    /// The first three vertices, reordered for a triangle of a strip (Reorder Mode of stream
    /// output, 2a p.226). Other primitives have only one order.
    pub fn reordered(&self, reorder: Reorder) -> [u32; 3] {
        // Restore the order in which the vertices came: each exchange is its own inverse.
        let [a, b, c] = self.order.map(|n| self.vertices[usize::from(n)]);
        match (self.order == [0, 1, 2], reorder) {
            (true, _) => [a, b, c],
            (false, Reorder::Leading) => [a, c, b],
            (false, Reorder::Trailing) => [b, a, c],
        }
    }

    /// Index of its provoking vertex in [`Primitive::vertices`] (without adjacency). Reserved
    /// values of selects choose the last vertex.
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

/// Makes primitives from vertices.
#[derive(Clone, Debug)]
pub struct Assembler {
    topology: Topology,
    reorder: Reorder,
    adjacency: Adjacency,
    /// The newest vertices. The vertex that was counted as number n, from 0, has index n modulo the
    /// length.
    ring: [u32; MAX_VERTICES],
    /// The first of the vertices that `count` counts.
    hub: u32,
    /// Number of vertices since the last cut; in lists, since the last complete primitive.
    count: u32,
    /// Number of primitives so far.
    primitives: u32,
    /// The primitive that was made last.
    primitive: Primitive,
}

impl Assembler {
    /// An assembler for one instance of a draw.
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

    /// An assembler for setup: without adjacent vertices, and with `Reorder::Trailing`.
    pub fn for_setup(topology: Topology) -> Assembler {
        Assembler::new(topology, Reorder::Trailing, Adjacency::Discard)
    }

    /// Number of primitives so far; a quad or a polygon is one.
    pub fn primitives(&self) -> u32 {
        self.primitives
    }

    /// The vertex that came `back` vertices before the newest vertex.
    fn back(&self, back: u32) -> u32 {
        self.ring[(self.count.wrapping_sub(1 + back)) as usize % MAX_VERTICES]
    }

    /// Takes the next vertex, and emits the primitives that it completes.
    ///
    /// # Errors
    /// The error that `out` returns.
    pub fn vertex<E>(
        &mut self,
        vertex: u32,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.count == 0 {
            self.hub = vertex;
        }
        self.ring[self.count as usize % MAX_VERTICES] = vertex;
        // Strips use the parity of the count, and whether there were enough vertices. Both stay
        // right when the count wraps.
        self.count = self.count.checked_add(1).unwrap_or(u32::MAX - 31);
        let n = self.count;
        match self.topology.kind {
            Kind::Points => self.list(1, out),
            Kind::Lines => self.list(2, out),
            Kind::Triangles | Kind::Rectangles => self.list(3, out),
            Kind::LinesAdjacent => self.list(4, out),
            Kind::TrianglesAdjacent => self.list(6, out),
            Kind::Patches(points) => self.list(points.into(), out),
            // A line is emitted when the vertex of the next line comes: then it is not the last
            // line.
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
            // A triangle is emitted when the two vertices of the next one are there: it needs the
            // second of them.
            Kind::TriangleStripAdjacent if n >= 8 && n.is_multiple_of(2) => {
                self.adjacent_triangle(n / 2 - 4, n - 2, out)
            }
            _ => Ok(()),
        }
    }

    /// Number of vertices of each primitive, if the topology is a list of points, lines, triangles
    /// or rectangles without adjacent vertices.
    pub fn list_length(&self) -> Option<u32> {
        match self.topology.kind {
            Kind::Points => Some(1),
            Kind::Lines => Some(2),
            Kind::Triangles | Kind::Rectangles => Some(3),
            _ => None,
        }
    }

    /// Takes all vertices of one primitive of a list at once. Their numbers are consecutive, from
    /// `first` on. The previous primitive must be complete. Does nothing if
    /// [`list_length`](Self::list_length) is `None`.
    ///
    /// # Errors
    /// The error that `out` returns.
    #[inline]
    pub fn consecutive<E>(
        &mut self,
        first: u32,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(length) = self.list_length() else { return Ok(()) };
        let vertices = &mut self.primitive.vertices[..length as usize];
        vertices.iter_mut().zip(first..).for_each(|(to, vertex)| *to = vertex);
        self.finish(length as usize, out)
    }

    /// Ends the topology: emits the remaining primitives and drops an incomplete one. The next
    /// vertex starts a new topology.
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

    /// Takes a whole stream: each [`CUT`], and the end of the stream, ends the topology.
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
        self.finish(vertices.len(), out)
    }

    /// Emits the primitive whose first `count` vertices have been set.
    #[inline]
    fn finish<E>(
        &mut self,
        count: usize,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        self.primitive.count = count as u8;
        self.primitive.id = self.primitives;
        // Polygons and quads are counted when they are complete.
        let whole = !matches!(self.topology.kind, Kind::Polygon | Kind::Quads | Kind::QuadStrip);
        self.primitives = self.primitives.wrapping_add(whole.into());
        out(&self.primitive)
    }

    #[inline]
    fn list<E>(
        &mut self,
        vertices: usize,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        if (self.count as usize) < vertices {
            return Ok(());
        }
        self.count = 0;
        let (ring, to) = (&self.ring, &mut self.primitive.vertices);
        let count = match (self.topology.kind, self.adjacency) {
            (Kind::LinesAdjacent, Adjacency::Discard) => {
                to[..2].copy_from_slice(&ring[1..3]);
                2
            }
            (Kind::TrianglesAdjacent, Adjacency::Discard) => {
                to[..3].copy_from_slice(&[ring[0], ring[2], ring[4]]);
                3
            }
            _ => {
                to[..vertices].copy_from_slice(&ring[..vertices]);
                vertices
            }
        };
        self.finish(count, out)
    }

    /// Emits the line of a strip that ends `back` vertices before the newest vertex.
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

    /// Emits the newest triangle of a strip; `turned` is true if it has the wrong winding.
    fn strip_triangle<E>(
        &mut self,
        turned: bool,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let order = self.turn(turned);
        let triangle = [self.back(2), self.back(1), self.back(0)];
        self.emit(&order.map(|n| triangle[usize::from(n)]), out)
    }

    /// Sets and returns the order of the vertices of a triangle; `turned` if the triangle has the
    /// wrong winding. Each exchange is its own inverse.
    fn turn(&mut self, turned: bool) -> [u8; 3] {
        self.primitive.order = match (turned, self.reorder) {
            (false, _) => [0, 1, 2],
            (true, Reorder::Leading) => [0, 2, 1],
            (true, Reorder::Trailing) => [1, 0, 2],
        };
        self.primitive.order
    }

    /// Emits the triangle of a polygon that ends `back` vertices before the newest vertex.
    fn polygon_triangle<E>(
        &mut self,
        back: u32,
        last: bool,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        self.primitive.edges = [self.count - back == 3, true, last];
        self.emit(&[self.hub, self.back(1 + back), self.back(back)], out)
    }

    /// Emits the two triangles of a quad with the corners `around` it; `newest` is the index of the
    /// corner that came last.
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

    /// Emits triangle `k` of a strip with adjacency. Vertex `beyond` of the strip is opposite the
    /// newest edge of the triangle.
    fn adjacent_triangle<E>(
        &mut self,
        k: u32,
        beyond: u32,
        out: &mut impl FnMut(&Primitive) -> Result<(), E>,
    ) -> Result<(), E> {
        let at = |n: u32| self.ring[n as usize % MAX_VERTICES];
        let corners = [2 * k, 2 * k + 2, 2 * k + 4].map(at);
        // The vertices opposite the edges between corners 0 and 1, 1 and 2, 2 and 0.
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

/// The value in a stream of vertices that ends the topology and starts a new one (Cut Index).
pub const CUT: u32 = u32::MAX;

#[cfg(test)]
mod tests;
