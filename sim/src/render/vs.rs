//! Vertex shader: each thread shades up to eight vertices, or up to two in SIMD4x2 mode (2a,
//! 3DSTATE_VS; gen8_facts 3.2).

use super::shader::{Shader, Threads};
use super::stage::{Dispatch, entries};
use super::state;
use super::vue::{Entries, SLOT, SLOTS, Vertices, dword};
use crate::eu::fast::lanes::turned;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::Program;
use genxml::gen8::render3d_stages::{ThreeDStateUrbVs, ThreeDStateVs};
use genxml::gen8::thread_payloads::{VsSIMD4x2ThreadPayload, VsSimd8ThreadPayload};
use genxml_core::U;

/// The vertex shader of a draw.
#[derive(Debug)]
pub struct VertexShader {
    shader: Shader,
    threads: Threads,
    /// Maximum number of vertices of a thread: 8 in SIMD8 mode, 2 in SIMD4x2 mode, 1 with Single
    /// Vertex Dispatch.
    width: usize,
    wide: bool,
    /// The first slot of each vertex that the thread payload contains.
    first: usize,
    /// The number of slots of each vertex that the thread payload contains.
    slots: usize,
    entries: Entries,
    /// The first part of the payload, up to the vertices. It is the same for all threads.
    start: Vec<u8>,
    /// Statistics Enable: VS_INVOCATION_COUNT counts.
    pub counted: bool,
    /// A vertex that the draw needs several times is shaded once; otherwise each time that its
    /// index appears (Vertex Cache Disable, 2a p.258-267).
    pub cached: bool,
}

impl VertexShader {
    /// Resolves the vertex shader; none if it is disabled, so that vertices pass as they were
    /// fetched.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with; page faults when its constants
    /// are read.
    pub fn resolve(exec: &mut Exec<'_>) -> Result<Option<Box<VertexShader>>, Fault> {
        let vs: ThreeDStateVs = state::packet(exec);
        if !vs.function_enable {
            return Ok(None);
        }
        let shader = Shader::of(exec, &vs)?;
        let entries = entries::<ThreeDStateUrbVs>(exec);
        let Dispatch { simd8: wide, width } = Dispatch::of_vs(&vs);
        entries.check(exec, width, "vertex shader")?;
        Ok(Some(Box::new(VertexShader {
            threads: Threads::new(&shader),
            start: start(&shader, &entries, wide),
            shader,
            width,
            wide,
            first: vs.vertex_urb_entry_read_offset.get() as usize * SLOTS,
            slots: vs.vertex_urb_entry_read_length.get() as usize * SLOTS,
            entries,
            counted: vs.statistics_enable,
            cached: !vs.vertex_cache_disable,
        })))
    }

    /// Starts another draw, which has the same shader and constants.
    pub fn restart(&self, exec: &mut Exec<'_>) {
        self.shader.restart(exec);
    }

    /// Shades the vertices `fetched`; returns the shaded vertices in the same order.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a URB entry after the end of the URB; any [`Fault`] of a thread.
    pub fn run(&mut self, exec: &mut Exec<'_>, fetched: &Vertices) -> Result<Vertices, Fault> {
        let mut shaded = Vertices::new(self.entries.dwords());
        let count = fetched.count();
        shaded.data.reserve(count * shaded.dwords);
        for first in (0..count).step_by(self.width) {
            let here = self.width.min(count - first);
            self.entries.write_all(exec, fetched, first, here)?;
            self.payload(fetched, first, here);
            let mask =
                if self.wide { u32::MAX >> (32 - here) } else { u32::MAX >> (32 - 4 * here) };
            self.threads.run(exec, &self.shader, mask, mask, "vertex shader")?;
            self.entries.read_all(exec, here, &mut shaded)?;
        }
        Ok(shaded)
    }

    /// Number of threads that shade `vertices` vertices.
    pub fn threads_of(&self, vertices: usize) -> u64 {
        vertices.div_ceil(self.width) as u64
    }

    /// Numbers the next thread as if `threads` threads of the draw had started before.
    pub fn number_from(&mut self, threads: u64) {
        self.threads.renumber();
        self.threads.skip(threads);
    }

    /// Number of instructions of the kernel.
    pub fn instructions(&self) -> usize {
        self.shader.program.kernel.uops.len()
    }

    /// The shader for another worker, with empty caches.
    pub fn fork(&self) -> VertexShader {
        VertexShader {
            shader: self.shader.clone(),
            threads: self.threads.fork(),
            start: self.start.clone(),
            ..*self
        }
    }

    /// Replaces the cached surfaces and kernel by those of another shader.
    pub fn inherit(&mut self, other: &VertexShader) {
        self.threads.slots.programs.clone_from(&other.threads.slots.programs);
    }

    /// Keeps the memory of the threads for the next draw.
    pub(super) fn release(&mut self, exec: &mut Exec<'_>) {
        self.threads.slots.release(exec);
    }

    /// Takes the cached surfaces and kernel out of the shader. Its caches are empty afterwards.
    pub fn take_programs(&mut self) -> Vec<Program> {
        std::mem::take(&mut self.threads.slots.programs)
    }

    /// Adds the cached surfaces of a shader that [inherited](Self::inherit) from this one.
    pub fn merge(&mut self, programs: &[Program]) {
        for (own, other) in self.threads.slots.programs.iter_mut().zip(programs) {
            own.bindings.merge(&other.bindings);
        }
    }

    fn payload(&mut self, fetched: &Vertices, first: usize, here: usize) {
        let payload = &mut self.threads.launch.payload;
        payload.clear();
        payload.extend_from_slice(&self.start);
        let slots = self.first..self.first + self.slots;
        push_vertices(payload, fetched, first, here, slots, self.wide);
    }
}

/// The first part of the payload of all threads, up to the vertices: header, handles and constants.
fn start(shader: &Shader, entries: &Entries, wide: bool) -> Vec<u8> {
    let handles: [_; 8] = std::array::from_fn(|n| U::from_bits(entries.handle(n)));
    let header = shader.header(0);
    let mut payload = Vec::new();
    if wide {
        let start = VsSimd8ThreadPayload {
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_pointer: header.scratch,
            output: handles,
        };
        payload.extend_from_slice(bytemuck::cast_slice(&start.pack()));
    } else {
        let start = VsSIMD4x2ThreadPayload {
            urb_handle_0: handles[0],
            urb_handle_1: handles[1],
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_pointer: header.scratch,
        };
        payload.extend_from_slice(bytemuck::cast_slice(&start.pack()));
    }
    shader.push_constants(&mut payload);
    payload
}

/// Appends the slots `slots` of `count` vertices, from vertex `first` on, to a payload. If `wide`
/// is true, a register has one component of eight vertices; otherwise it has one slot of two
/// vertices.
pub fn push_vertices(
    payload: &mut Vec<u8>,
    vertices: &Vertices,
    first: usize,
    count: usize,
    slots: std::ops::Range<usize>,
    wide: bool,
) {
    if wide && count == 8 && slots.end * SLOT <= vertices.dwords {
        let rows = &vertices.data[first * vertices.dwords..][..8 * vertices.dwords];
        for slot in slots {
            let mut values = [[0; SLOT]; 8];
            for (value, row) in values.iter_mut().zip(rows.chunks_exact(vertices.dwords)) {
                value.copy_from_slice(&row[slot * SLOT..][..SLOT]);
            }
            payload.extend_from_slice(bytemuck::cast_slice(&turned(&values)));
        }
        return;
    }
    for slot in slots {
        if wide {
            let value = |n: usize, component: usize| match n < count {
                true => dword(vertices.get(first + n), slot * SLOT + component),
                false => 0,
            };
            for component in 0..SLOT {
                let row: [u32; 8] = std::array::from_fn(|n| value(n, component));
                payload.extend_from_slice(bytemuck::cast_slice(&row));
            }
        } else {
            let row: [u32; 8] = std::array::from_fn(|n| match n / SLOT < count {
                true => dword(vertices.get(first + n / SLOT), slot * SLOT + n % SLOT),
                false => 0,
            });
            payload.extend_from_slice(bytemuck::cast_slice(&row));
        }
    }
}
