//! Draws that write their vertices to memory with stream output. They have no vertex shader, so the
//! slots of a vertex are its elements.

use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexBuffers,
    ThreeDStateVertexElements, ThreeDStateVf, ThreeDStateVfTopology,
};
use genxml::gen8::render3d_stages::{
    SoDecl, SoDeclEntry, ThreeDStateSoBuffer, ThreeDStateSoDeclList, ThreeDStateStreamout,
};
use genxml_cases::{Model, Random, at, draw, minus_one, packets, push, u};
use genxml_sim::Fault;

/// Address of the vertices.
pub const VERTICES: u64 = 0x40_0000;
/// Address of the indices.
pub const INDICES: u64 = 0x41_0000;
/// Address of the written streams, 1 MiB.
pub const OUT: u64 = 0x50_0000;

/// A model with room for vertices and streams.
pub fn model() -> Model {
    let mut model = Model::new();
    model.map(VERTICES, 64 << 10);
    model.map(INDICES, 64 << 10);
    model.map(OUT, 1 << 20);
    model
}

/// The parts of a draw that differ from test to test.
#[derive(Clone, Debug)]
pub struct Draw {
    /// How vertices make up objects.
    pub topology: Code,
    /// Dwords of each vertex; each element has four.
    pub vertices: Vec<Vec<u32>>,
    /// Indices if the draw is indexed; all ones is a cut.
    pub indices: Option<Vec<u32>>,
    /// Number of instances.
    pub instances: u64,
    /// Packets of shaders.
    pub stages: Vec<u32>,
    /// The packet that sets up stream output.
    pub streamout: ThreeDStateStreamout,
    /// The buffers of the stream output.
    pub buffers: Vec<ThreeDStateSoBuffer>,
    /// Declarations of stream 0, for buffer 0. Every further stream n has the same declarations,
    /// for buffer n.
    pub slots: Vec<SoDecl>,
    /// Number of streams that are written, including stream 0. Stream n writes to buffer n.
    pub streams: usize,
    /// Size of a URB entry of vertices and patches, in units of 64 bytes.
    pub entry: u64,
}

impl Draw {
    /// A draw of `count` vertices: the first dword of vertex n is n. Slot 0 of each vertex is
    /// written.
    pub fn new(topology: Code, count: u32) -> Draw {
        let slot = SoDecl { component_mask: u(15), ..SoDecl::new() };
        Draw {
            topology,
            vertices: (0..count).map(|n| vec![n, 1000 + n, 2000 + n, 3000 + n]).collect(),
            indices: None,
            instances: 1,
            stages: Vec::new(),
            streamout: ThreeDStateStreamout {
                so_function_enable: true,
                so_statistics_enable: true,
                api_rendering_disable: true,
                buffer_0_surface_pitch: u(16),
                buffer_1_surface_pitch: u(16),
                buffer_2_surface_pitch: u(16),
                buffer_3_surface_pitch: u(16),
                stream_0_vertex_read_length: minus_one(16),
                stream_1_vertex_read_length: minus_one(16),
                stream_2_vertex_read_length: minus_one(16),
                stream_3_vertex_read_length: minus_one(16),
                ..ThreeDStateStreamout::new()
            },
            buffers: vec![buffer(0)],
            slots: vec![slot],
            streams: 1,
            entry: 4,
        }
    }

    /// Writes the vertices to memory and returns the batch.
    pub fn batch(&self, model: &mut Model) -> Vec<u32> {
        let dwords = self.vertices.first().map_or(4, Vec::len);
        model.put(VERTICES, &self.vertices.concat());
        let elements = draw::elements(dwords as u64 / 4);
        let vertices = [draw::vertex_buffer(VERTICES, 4 * dwords as u64, 64 << 10)];
        let mut batch = draw::pipeline();
        batch.extend(draw::urb(self.entry));
        batch.extend(packets![
            ThreeDStateVfTopology { primitive_topology_type: self.topology },
            ThreeDStateVertexBuffers { vertex_buffer_state: vertices[..].into() },
            ThreeDStateVertexElements { element: elements[..].into() },
        ]);
        batch.extend(&self.stages);
        for buffer in &self.buffers {
            push(&mut batch, buffer);
        }
        self.declare(&mut batch);
        push(&mut batch, &self.streamout);
        let mut count = self.vertices.len();
        if let Some(indices) = &self.indices {
            model.put(INDICES, indices);
            push(
                &mut batch,
                &ThreeDStateIndexBuffer {
                    index_format: IndexFormat::DWORD,
                    buffer_starting_address: at(INDICES),
                    buffer_size: u(4 * indices.len() as u64),
                    ..ThreeDStateIndexBuffer::new()
                },
            );
            let cut_index = u(u32::MAX.into());
            push(&mut batch, &ThreeDStateVf { indexed_draw_cut_index_enable: true, cut_index });
            count = indices.len();
        }
        push(&mut batch, &self.primitive(count as u64));
        batch
    }

    /// The 3DPRIMITIVE packet.
    pub fn primitive(&self, count: u64) -> ThreeDPrimitive {
        ThreeDPrimitive {
            vertex_access_type: if self.indices.is_some() {
                Access::RANDOM
            } else {
                Access::SEQUENTIAL
            },
            vertex_count_per_instance: u(count),
            instance_count: u(self.instances),
            ..ThreeDPrimitive::new()
        }
    }

    fn declare(&self, batch: &mut Vec<u32>) {
        let to = |stream: u64, slot: &SoDecl| SoDecl { output_buffer_slot: u(stream), ..*slot };
        let several = self.streams > 1;
        let entries: Vec<SoDeclEntry> = self
            .slots
            .iter()
            .map(|slot| SoDeclEntry {
                stream_0_decl: *slot,
                stream_1_decl: to(1, slot),
                stream_2_decl: to(2, slot),
                stream_3_decl: to(3, slot),
            })
            .collect();
        let written = self.slots.iter().filter(|slot| !slot.hole_flag);
        let selects = written.fold(0, |mask, slot| mask | 1 << slot.output_buffer_slot.get());
        let has = |stream: u64| u64::from(several && (stream as usize) < self.streams);
        let count = self.slots.len() as u64;
        let list = ThreeDStateSoDeclList {
            stream_to_buffer_selects_0: u(selects),
            stream_to_buffer_selects_1: u(2 * has(1)),
            stream_to_buffer_selects_2: u(4 * has(2)),
            stream_to_buffer_selects_3: u(8 * has(3)),
            num_entries_0: u(count),
            num_entries_1: u(count * has(1)),
            num_entries_2: u(count * has(2)),
            num_entries_3: u(count * has(3)),
            entry: entries[..].into(),
        };
        push(batch, &list);
    }

    /// Draws, and returns what stream 0 wrote: four dwords for each vertex.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn run(&self, model: &mut Model) -> Result<Vec<[u32; 4]>, Fault> {
        let batch = self.batch(model);
        model.render(&batch)?;
        Ok(written(model, 0))
    }
}

/// A buffer of 256 KiB whose offset starts at 0.
pub fn buffer(index: u64) -> ThreeDStateSoBuffer {
    ThreeDStateSoBuffer {
        so_buffer_enable: true,
        so_buffer_index: u(index),
        stream_offset_write_enable: true,
        surface_base_address: at(OUT + (index << 18)),
        surface_size: minus_one(1 << 16),
        ..ThreeDStateSoBuffer::new()
    }
}

/// The vertices in a buffer, up to its register SO_WRITE_OFFSET.
pub fn written(model: &mut Model, index: u64) -> Vec<[u32; 4]> {
    let offset = register(model, 0x5280 + 4 * index as u32);
    let dwords = model.get(OUT + (index << 18), offset as usize / 4);
    dwords.chunks_exact(4).map(|vertex| vertex.try_into().expect("four dwords")).collect()
}

/// A register of the context.
pub fn register(model: &mut Model, offset: u32) -> u32 {
    model.gpu.context_mut(model.context).state.registers.read(offset)
}

/// The first dword of each vertex.
pub fn firsts(vertices: &[[u32; 4]]) -> Vec<u32> {
    vertices.iter().map(|vertex| vertex[0]).collect()
}

/// Runs a draw many times, each time with one to four bits of its batch flipped. Headers of
/// packets, PIPELINE_SELECT and STATE_BASE_ADDRESS stay unchanged. The model must not panic, and
/// afterwards the undamaged draw gives the same result as before.
pub fn damage(model: &mut Model, draw: &Draw, rounds: usize, seed: u64) {
    let batch = draw.batch(model);
    let before = draw.run(model).expect("a draw without damage");
    let mut places = Vec::new();
    let mut at = 0;
    while at < batch.len() {
        let dwords = match batch[at] >> 16 {
            // PIPELINE_SELECT and STATE_BASE_ADDRESS stay unchanged.
            0x6904 => 1,
            0x6101 => 16,
            _ => {
                let dwords = (batch[at] & 0xff) as usize + 2;
                places.extend(at + 1..at + dwords);
                dwords
            }
        };
        at += dwords;
    }
    assert_eq!(at, batch.len());
    let mut random = Random::new(seed);
    model.gpu.set_work_limit(1 << 17);
    for _ in 0..rounds {
        let mut damaged = batch.clone();
        for _ in 0..=random.below(4) {
            damaged[places[random.below(places.len() as u64) as usize]] ^= 1 << random.below(32);
        }
        let _ = model.render(&damaged);
    }
    model.gpu.set_work_limit(1 << 26);
    assert_eq!(draw.run(model).expect("the draw again"), before);
}
