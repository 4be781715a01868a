//! The vertices that a thread of the geometry shader or clipper put out, and the objects that they
//! make (gen45_facts 4.2, 7).

use super::objects::{Assembler, Object};
use super::unit::ROW;
use crate::gen45::urb::{Produced, Urb};
use crate::machine::exec::Exec;
use crate::render::vue::Vertices;
use genxml::gen45::enums::ThreeDPrimTopoType as Code;

/// The output of one thread. The memory is reused for the next one.
#[derive(Debug, Default)]
pub struct Output {
    vertices: Vertices,
    marks: Vec<Produced>,
}

impl Output {
    /// Takes the output of the thread that ran last; a vertex has `rows` rows.
    pub fn take(&mut self, exec: &mut Exec<'_>, rows: usize) {
        let urb = exec.state.slots.get_mut::<Urb>();
        std::mem::swap(&mut self.marks, &mut urb.produced);
        self.vertices.dwords = rows * ROW;
        self.vertices.clear();
        for bytes in urb.produced_data.chunks_exact(4 * rows * ROW) {
            let out: &mut [u8] = bytemuck::cast_slice_mut(self.vertices.push());
            out.copy_from_slice(bytes);
        }
        urb.produced.clear();
        urb.produced_data.clear();
    }

    /// Calls `each` for every object of the vertices. A vertex with PrimStart starts a primitive of
    /// its topology, one with PrimEnd ends it. Vertices of topologies that make no objects are
    /// dropped.
    ///
    /// # Errors
    /// Any error of `each`.
    pub fn objects<E>(
        &self,
        each: &mut impl FnMut(&Object, &Vertices) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut assembler: Option<Assembler> = None;
        let mut out = |object: &Object| each(object, &self.vertices);
        for (n, mark) in self.marks.iter().enumerate() {
            if mark.start || assembler.is_none() {
                if let Some(mut before) = assembler.take() {
                    before.end(&mut out)?;
                }
                assembler = Assembler::new(Code::from_bits(mark.topology.into()));
            }
            let Some(current) = &mut assembler else { continue };
            current.vertex(n as u32, &mut out)?;
            if mark.end {
                current.end(&mut out)?;
                assembler = None;
            }
        }
        match &mut assembler {
            Some(last) => last.end(&mut out),
            None => Ok(()),
        }
    }
}
