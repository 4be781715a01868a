//! Numbers of vertices for debugging: follows the vertices of a draw into its objects, so that
//! units can record where the vertices of an object come from (003:1179-1183, 1261-1267).

use super::objects::Assembler;
use crate::gen45::debug::fixed;
use crate::gen45::debug::state::{Tag, Unit};
use crate::machine::exec::Exec;
use genxml::gen45::enums::ThreeDPrimTopoType as Code;

/// The numbers of the vertices of a draw.
#[derive(Debug)]
pub struct Numbers {
    code: Code,
    /// Assembles the same objects as the draw, from vertex sequence numbers.
    assembler: Option<Assembler>,
    /// The unit that makes the vertices.
    unit: Unit,
    /// The tags of the objects of the batch.
    objects: Vec<[Tag; 4]>,
    /// The vertex for which a snapshot needs the thread, by its number in the batch.
    wanted: Option<u32>,
}

impl Numbers {
    /// The numbers of a draw; `shaded` if the vertex shader makes its vertices.
    pub fn new(code: Code, shaded: bool) -> Numbers {
        let unit = if shaded { Unit::Vertex } else { Unit::Fetch };
        Numbers { code, assembler: None, unit, objects: Vec::new(), wanted: None }
    }

    /// An instance begins.
    pub fn begin(&mut self) {
        self.assembler = Assembler::new(self.code);
    }

    /// A vertex with this index, which is `key` in the batch.
    pub fn vertex(&mut self, exec: &mut Exec<'_>, index: u32, key: u32) {
        let (number, wanted) = fixed::vertex(exec, index);
        if wanted {
            self.wanted = Some(key);
        }
        let Numbers { assembler, unit, objects, .. } = self;
        if let Some(assembler) = assembler {
            let done = assembler.vertex(number, &mut |object| {
                objects.push(object.vertices.map(|number| tag(*unit, number)));
                Ok::<(), ()>(())
            });
            debug_assert!(done.is_ok(), "the function returns no errors");
        }
    }

    /// The strip, fan or list ends.
    pub fn end(&mut self) {
        let Numbers { assembler, unit, objects, .. } = self;
        if let Some(assembler) = assembler {
            let done = assembler.end(&mut |object| {
                objects.push(object.vertices.map(|number| tag(*unit, number)));
                Ok::<(), ()>(())
            });
            debug_assert!(done.is_ok(), "the function returns no errors");
        }
    }

    /// The vertices of a batch are about to be shaded, `width` in each thread.
    pub fn shade(&mut self, exec: &mut Exec<'_>, vertices: &[u32], width: usize) {
        if let Some(key) = self.wanted
            && let Some(place) = vertices.iter().position(|vertex| *vertex == key)
        {
            let thread = fixed::next_vertex_thread(exec).wrapping_add((place / width) as u32);
            fixed::shading_thread(exec, thread & 0xff_ffff);
            self.wanted = None;
        }
    }

    /// Object `number` of the batch goes to the next unit.
    pub fn object(&self, exec: &mut Exec<'_>, number: usize) {
        fixed::corners(exec, self.objects.get(number).copied().unwrap_or_default());
    }

    /// The batch is done.
    pub fn clear(&mut self) {
        self.objects.clear();
    }
}

fn tag(unit: Unit, number: u32) -> Tag {
    Tag { unit, number, relative: 0 }
}
