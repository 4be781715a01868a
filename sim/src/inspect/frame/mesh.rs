//! The mesh of a draw: the vertices that the vertex shader receives, and the primitives on the
//! screen.

use crate::inspect::summary::Summary;
use crate::machine::drawing::{Drawing, Primitive};
use crate::machine::watched::PrimitiveInfo;
use genxml::gen8::render3d_stages::ThreeDStateVs;
use std::collections::BTreeMap;

/// Maximum number of vertices and of primitives that are kept.
pub const MOST: usize = 100_000;
/// Bytes of a register.
const REGISTER: usize = 32;

/// The mesh of a draw.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// The first element of each vertex that the vertex shader received, in the order of the
    /// threads. Elements that are all zero are left out: channels without a vertex have them, too.
    pub received: Vec<[f32; 4]>,
    /// Number of primitives after clipping and setup.
    pub count: u64,
    /// The first [`MOST`] of them, with their vertices on the screen.
    pub primitives: Vec<PrimitiveInfo>,
    /// The kernels of the vertex shader; true if a thread has eight vertices, not two.
    kernels: BTreeMap<u64, bool>,
    /// Number of elements of a vertex in the payload.
    elements: usize,
}

impl Mesh {
    /// The empty mesh of a draw.
    pub fn new(drawing: &Drawing<'_>, summary: &Summary) -> Mesh {
        let mut mesh = Mesh::default();
        if matches!(drawing.packet, Primitive::Gen8(_)) {
            let state = drawing.latched::<ThreeDStateVs>();
            // A unit of the length is two elements.
            mesh.elements = 2 * state.vertex_urb_entry_read_length.get() as usize;
            let shaders = summary.shaders.iter().filter(|shader| shader.stage == "VS");
            let kernels = shaders.flat_map(|shader| &shader.kernels);
            mesh.kernels =
                kernels.map(|kernel| (kernel.address, kernel.dispatch == "SIMD8")).collect();
        }
        mesh
    }

    /// A thread starts.
    pub fn start(&mut self, kernel: u64, payload: &[u8]) {
        let Some(&is_wide) = self.kernels.get(&kernel) else { return };
        if self.received.len() >= MOST || self.elements == 0 {
            return;
        }
        // The elements are the end of the payload. An element has a register for each component, or
        // a half of a register.
        let registers = if is_wide { 4 * self.elements } else { self.elements };
        let Some(first) = (payload.len() / REGISTER).checked_sub(registers) else { return };
        let value = |register: usize, lane: usize| {
            let at = REGISTER * (first + register) + 4 * lane;
            payload.get(at..at + 4).map_or(0.0, bytemuck::pod_read_unaligned::<f32>)
        };
        let vertices: Vec<[f32; 4]> = match is_wide {
            true => (0..8).map(|lane| std::array::from_fn(|part| value(part, lane))).collect(),
            false => {
                (0..2).map(|half| std::array::from_fn(|part| value(0, 4 * half + part))).collect()
            }
        };
        self.received.extend(vertices.iter().filter(|vertex| vertex.iter().any(|v| *v != 0.0)));
    }

    /// A primitive went through clipping and setup.
    pub fn primitive(&mut self, primitive: &PrimitiveInfo) {
        self.count += 1;
        if self.primitives.len() < MOST {
            self.primitives.push(*primitive);
        }
    }
}
