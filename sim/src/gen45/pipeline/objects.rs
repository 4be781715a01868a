//! Assembly of objects: points, lines, triangles, quads and rectangles from a stream of vertices.
//!
//! Vertex fetch, geometry shader and clipper put out vertices with a topology. Each [`Object`] is
//! what the next unit works on in one thread (gen45_facts 5, 7, 8). Quads exist only before the
//! geometry shader, which makes polygons of them.

use genxml::gen45::enums::ThreeDPrimTopoType as Code;

/// Maximum number of vertices of an object.
pub const MAX_VERTICES: usize = 4;

/// The shape of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One vertex.
    Point,
    /// Two vertices.
    Line,
    /// Three vertices.
    Triangle,
    /// Four vertices in the order around the quad.
    Quad,
    /// Three corners; the fourth is opposite the second.
    Rectangle,
}

impl Shape {
    /// The shape of the objects of a topology; `None` for reserved codes and for topologies with
    /// adjacency.
    pub fn of(code: Code) -> Option<Shape> {
        Some(match code {
            Code::_3DPRIM_POINTLIST | Code::_3DPRIM_POINTLIST_BF => Shape::Point,
            Code::_3DPRIM_LINELIST
            | Code::_3DPRIM_LINESTRIP
            | Code::_3DPRIM_LINELOOP
            | Code::_3DPRIM_LINESTRIP_CONT
            | Code::_3DPRIM_LINESTRIP_BF
            | Code::_3DPRIM_LINESTRIP_CONT_BF => Shape::Line,
            Code::_3DPRIM_TRILIST
            | Code::_3DPRIM_TRISTRIP
            | Code::_3DPRIM_TRISTRIP_REVERSE
            | Code::_3DPRIM_TRIFAN
            | Code::_3DPRIM_TRIFAN_NOSTIPPLE
            | Code::_3DPRIM_POLYGON => Shape::Triangle,
            Code::_3DPRIM_QUADLIST | Code::_3DPRIM_QUADSTRIP => Shape::Quad,
            Code::_3DPRIM_RECTLIST => Shape::Rectangle,
            _ => return None,
        })
    }

    /// Number of vertices.
    pub fn vertices(self) -> usize {
        match self {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle | Shape::Rectangle => 3,
            Shape::Quad => 4,
        }
    }
}

/// True for topologies with adjacent vertices.
pub fn has_adjacency(code: Code) -> bool {
    matches!(
        code,
        Code::_3DPRIM_LINELIST_ADJ
            | Code::_3DPRIM_LINESTRIP_ADJ
            | Code::_3DPRIM_TRILIST_ADJ
            | Code::_3DPRIM_TRISTRIP_ADJ
    )
}

/// What a unit works on in one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// The topology that the unit sees. Odd triangles of a strip have TRISTRIP_REVERSE.
    pub code: Code,
    /// The shape.
    pub shape: Shape,
    /// Its vertices, in the order of the payload. Unused ones repeat the last.
    pub vertices: [u32; MAX_VERTICES],
    /// First object of a strip, fan or polygon; true for each object of a list.
    pub start: bool,
    /// Last object of a strip, fan or polygon; true for each object of a list.
    pub end: bool,
}

/// Makes objects of vertices.
#[derive(Clone, Debug)]
pub struct Assembler {
    code: Code,
    shape: Shape,
    /// Vertices since the start of the strip, fan or list.
    seen: u32,
    /// The first vertex, the hub of a fan.
    hub: u32,
    /// The newest vertices.
    ring: [u32; MAX_VERTICES],
    /// Objects of the strip or fan so far.
    made: u32,
    /// An object that may be the last of its strip or fan.
    pending: Option<Object>,
    /// Primitives: a polygon counts once.
    primitives: u32,
}

impl Assembler {
    /// An assembler for a topology; `None` for the ones that [`Shape::of`] does not have.
    pub fn new(code: Code) -> Option<Assembler> {
        Some(Assembler {
            code,
            shape: Shape::of(code)?,
            seen: 0,
            hub: 0,
            ring: [0; MAX_VERTICES],
            made: 0,
            pending: None,
            primitives: 0,
        })
    }

    /// Number of primitives so far.
    pub fn primitives(&self) -> u32 {
        self.primitives
    }

    /// Adds a vertex.
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn vertex<E>(
        &mut self,
        vertex: u32,
        out: &mut impl FnMut(&Object) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.seen == 0 {
            self.hub = vertex;
        }
        self.ring[self.seen as usize % MAX_VERTICES] = vertex;
        self.seen = self.seen.wrapping_add(1);
        let n = self.seen;
        match self.code {
            Code::_3DPRIM_POINTLIST | Code::_3DPRIM_POINTLIST_BF => self.list([0; 4], out),
            Code::_3DPRIM_LINELIST if n == 2 => self.list([0, 1, 1, 1], out),
            Code::_3DPRIM_TRILIST | Code::_3DPRIM_RECTLIST if n == 3 => {
                self.list([0, 1, 2, 2], out)
            }
            Code::_3DPRIM_QUADLIST if n == 4 => self.list([0, 1, 2, 3], out),
            Code::_3DPRIM_QUADSTRIP if n >= 4 && n.is_multiple_of(2) => {
                // The order around the quad.
                let [a, b, c, d] = [self.back(3), self.back(2), self.back(0), self.back(1)];
                self.next([a, b, c, d], out)
            }
            Code::_3DPRIM_LINESTRIP
            | Code::_3DPRIM_LINELOOP
            | Code::_3DPRIM_LINESTRIP_BF
            | Code::_3DPRIM_LINESTRIP_CONT
            | Code::_3DPRIM_LINESTRIP_CONT_BF
                if n >= 2 =>
            {
                let [a, b] = [self.back(1), self.back(0)];
                self.next([a, b, b, b], out)
            }
            Code::_3DPRIM_TRISTRIP | Code::_3DPRIM_TRISTRIP_REVERSE if n >= 3 => {
                let [a, b, c] = [self.back(2), self.back(1), self.back(0)];
                self.next([a, b, c, c], out)
            }
            Code::_3DPRIM_TRIFAN | Code::_3DPRIM_TRIFAN_NOSTIPPLE | Code::_3DPRIM_POLYGON
                if n >= 3 =>
            {
                let [b, c] = [self.back(1), self.back(0)];
                self.next([self.hub, b, c, c], out)
            }
            _ => Ok(()),
        }
    }

    /// Ends the strip, fan or list; the next vertex starts a new one.
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn end<E>(&mut self, out: &mut impl FnMut(&Object) -> Result<(), E>) -> Result<(), E> {
        if self.code == Code::_3DPRIM_LINELOOP && self.seen >= 2 {
            let (last, hub) = (self.back(0), self.hub);
            self.next([last, hub, hub, hub], out)?;
        }
        (self.seen, self.made) = (0, 0);
        match self.pending.take() {
            Some(object) => out(&Object { end: true, ..object }),
            None => Ok(()),
        }
    }

    /// The vertex that came `n` vertices before the newest.
    fn back(&self, n: u32) -> u32 {
        self.ring[self.seen.wrapping_sub(1 + n) as usize % MAX_VERTICES]
    }

    /// Emits an object of a list, from the vertices with these positions in the list.
    fn list<E>(
        &mut self,
        positions: [usize; MAX_VERTICES],
        out: &mut impl FnMut(&Object) -> Result<(), E>,
    ) -> Result<(), E> {
        let vertices = positions.map(|at| self.ring[at]);
        self.seen = 0;
        self.primitives = self.primitives.wrapping_add(1);
        out(&Object { code: self.code, shape: self.shape, vertices, start: true, end: true })
    }

    /// Emits the object before, and keeps this one until it is known whether it is the last.
    fn next<E>(
        &mut self,
        vertices: [u32; MAX_VERTICES],
        out: &mut impl FnMut(&Object) -> Result<(), E>,
    ) -> Result<(), E> {
        let odd = self.made % 2 == 1;
        let code = match self.code {
            Code::_3DPRIM_TRISTRIP if odd => Code::_3DPRIM_TRISTRIP_REVERSE,
            Code::_3DPRIM_TRISTRIP_REVERSE if odd => Code::_3DPRIM_TRISTRIP,
            code => code,
        };
        let continued =
            matches!(self.code, Code::_3DPRIM_LINESTRIP_CONT | Code::_3DPRIM_LINESTRIP_CONT_BF);
        let start = self.made == 0 && !continued;
        if self.code != Code::_3DPRIM_POLYGON || self.made == 0 {
            self.primitives = self.primitives.wrapping_add(1);
        }
        self.made = self.made.wrapping_add(1);
        let object = Object { code, shape: self.shape, vertices, start, end: false };
        match self.pending.replace(object) {
            Some(before) => out(&before),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects of vertices 0 to `count` - 1: code, vertices, start and end.
    fn made(code: Code, count: u32) -> Vec<(u64, Vec<u32>, bool, bool)> {
        let mut assembler = Assembler::new(code).unwrap();
        let mut objects = vec![];
        let mut out = |object: &Object| {
            let vertices = object.vertices[..object.shape.vertices()].to_vec();
            objects.push((object.code.bits(), vertices, object.start, object.end));
            Ok::<(), ()>(())
        };
        for vertex in 0..count {
            assembler.vertex(vertex, &mut out).unwrap();
        }
        assembler.end(&mut out).unwrap();
        objects
    }

    /// Oracle: OpenGL 2.1, 2.6.1, and the orders that the driver's GS kernels expect: they emit a
    /// quad of a strip as the polygon of payload vertices 2, 3, 0, 1.
    #[test]
    fn topologies() {
        assert_eq!(
            made(Code::_3DPRIM_TRISTRIP, 5),
            [
                (5, vec![0, 1, 2], true, false),
                (13, vec![1, 2, 3], false, false),
                (5, vec![2, 3, 4], false, true),
            ]
        );
        assert_eq!(
            made(Code::_3DPRIM_POLYGON, 5),
            [
                (14, vec![0, 1, 2], true, false),
                (14, vec![0, 2, 3], false, false),
                (14, vec![0, 3, 4], false, true),
            ]
        );
        assert_eq!(
            made(Code::_3DPRIM_LINELOOP, 3),
            [
                (16, vec![0, 1], true, false),
                (16, vec![1, 2], false, false),
                (16, vec![2, 0], false, true),
            ]
        );
        assert_eq!(
            made(Code::_3DPRIM_QUADSTRIP, 7),
            [(8, vec![0, 1, 3, 2], true, false), (8, vec![2, 3, 5, 4], false, true)]
        );
        assert_eq!(made(Code::_3DPRIM_QUADLIST, 7), [(7, vec![0, 1, 2, 3], true, true)]);
        assert_eq!(
            made(Code::_3DPRIM_LINELIST, 5),
            [(2, vec![0, 1], true, true), (2, vec![2, 3], true, true)]
        );
        assert_eq!(made(Code::_3DPRIM_LINESTRIP, 1), []);
        assert_eq!(made(Code::_3DPRIM_LINESTRIP_CONT, 2), [(18, vec![0, 1], false, true)]);
        assert!(Assembler::new(Code::from_bits(0)).is_none());
        assert!(Assembler::new(Code::_3DPRIM_TRILIST_ADJ).is_none());
    }
}
