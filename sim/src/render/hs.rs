//! Hull shader: one or more threads make a patch from control points (2a p.129-135; gen8_facts
//! 3.3).

use super::shader::{REGISTER, Shader, Threads};
use super::stage;
use super::state;
use super::te::{Domain, Factors};
use super::vue::{Entries, UNIT, Vertices};
use crate::assumptions::BARRIERS;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::local::Barrier;
use genxml::gen8::registers::HsInvocationCount;
use genxml::gen8::render3d_stages::{ThreeDStateHs, ThreeDStateUrbHs, ThreeDStateUrbVs};
use genxml::gen8::thread_payloads::HsThreadPayload;
use genxml_core::U;

/// Mask of a thread's channels: eight, whatever the number of control points (gen8_facts 3.3).
const MASK: u32 = 0xff;
/// Dwords of the patch header, which the tessellator reads.
const HEADER: usize = 8;

/// The hull shader of a draw.
#[derive(Debug)]
pub struct HullShader {
    shader: Shader,
    threads: Threads,
    /// Number of threads of a patch.
    instances: u32,
    /// Threads get the handles of the control points.
    handles: bool,
    /// The range of each control point's dwords that a thread payload contains.
    pushed: std::ops::Range<usize>,
    /// URB entries of the control points.
    inputs: Entries,
    /// URB entries of the patches.
    entries: Entries,
    counted: bool,
    patches: u64,
}

/// A patch that hull shader threads made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patch {
    /// URB handle of the patch, for the domain shader.
    pub handle: u64,
    /// Primitive ID.
    pub id: u32,
}

impl HullShader {
    /// Resolves the hull shader; none if it is disabled.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with; page faults when its constants
    /// are read.
    pub fn resolve(exec: &mut Exec<'_>) -> Result<Option<Box<HullShader>>, Fault> {
        let hs: ThreeDStateHs = state::packet(exec);
        if !hs.enable {
            return Ok(None);
        }
        let shader = Shader::of(exec, &hs)?;
        let entries = stage::entries::<ThreeDStateUrbHs>(exec);
        entries.check(exec, 1, "hull shader")?;
        let first = hs.vertex_urb_entry_read_offset.get() as usize * UNIT;
        let length = hs.vertex_urb_entry_read_length.get() as usize * UNIT;
        Ok(Some(Box::new(HullShader {
            threads: Threads::new(&shader),
            shader,
            instances: hs.instance_count.get() as u32,
            handles: hs.include_vertex_handles,
            pushed: first..first + length,
            inputs: stage::entries::<ThreeDStateUrbVs>(exec),
            entries,
            counted: hs.statistics_enable,
            patches: 0,
        })))
    }

    /// Makes a patch in its URB entry. `points` are the indices of its control points in
    /// `vertices`.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for more control points than there are URB entries, and for an entry
    /// after the end of the URB; any [`Fault`] of a thread.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        points: &[u32],
        id: u32,
    ) -> Result<Patch, Fault> {
        self.inputs.check(exec, points.len(), "hull shader")?;
        for (entry, &point) in points.iter().enumerate() {
            self.inputs.write(exec, entry, vertices.get(point as usize))?;
        }
        let patch = Patch { handle: self.entries.handle(0), id };
        let barrier = (self.patches % BARRIERS) as u8;
        self.patches += 1;
        self.threads.slots.local.barrier =
            Some(Barrier { id: barrier, threads: self.instances, arrived: Vec::new() });
        for instance in 0..self.instances {
            self.payload(vertices, points, &patch, instance, barrier);
            self.threads.start(exec, &self.shader, MASK, MASK)?;
        }
        self.threads.finish(exec, "hull shader")?;
        if self.counted {
            state::count(exec, HsInvocationCount::OFFSET, 1);
        }
        Ok(patch)
    }

    fn payload(
        &mut self,
        vertices: &Vertices,
        points: &[u32],
        patch: &Patch,
        instance: u32,
        barrier: u8,
    ) {
        let header = self.shader.header(instance.into());
        let start = HsThreadPayload {
            patch_urb_handle: U::from_bits(patch.handle),
            primitive_id: U::from_bits(patch.id.into()),
            barrier_id: U::from_bits(barrier.into()),
            instance_number: U::from_bits(instance.into()),
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_pointer: header.scratch,
            input_control_point: std::array::from_fn(|n| match n < points.len() {
                true => U::from_bits(self.inputs.handle(n)),
                false => U::ZERO,
            }),
        };
        let registers = 1 + if self.handles { points.len().div_ceil(8) } else { 0 };
        let payload = &mut self.threads.launch.payload;
        payload.clear();
        payload.extend_from_slice(&bytemuck::cast_slice(&start.pack())[..registers * REGISTER]);
        self.shader.push_constants(payload);
        for &point in points {
            push_raw(payload, vertices.get(point as usize), self.pushed.clone());
        }
    }

    /// Reads the tessellation factors from the header of the patch.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the URB entry is after the end of the URB.
    pub fn factors(&self, exec: &mut Exec<'_>, domain: Domain) -> Result<Factors, Fault> {
        let mut header = [0; HEADER];
        self.entries.read(exec, 0, &mut header)?;
        Ok(factors(domain, &header))
    }

    /// Reads the first dwords of the patch into `out`.
    ///
    /// # Errors
    /// As [`factors`](Self::factors).
    pub fn read(&self, exec: &mut Exec<'_>, out: &mut [u32]) -> Result<(), Fault> {
        self.entries.read(exec, 0, out)
    }
}

/// Appends the dwords `dwords` of an entry in their order; dwords after the end of the entry are 0.
pub fn push_raw(payload: &mut Vec<u8>, entry: &[u32], dwords: std::ops::Range<usize>) {
    for n in dwords {
        payload.extend_from_slice(&super::vue::dword(entry, n).to_le_bytes());
    }
}

/// The tessellation factors of a patch header. Each domain has them in other dwords (gen8_facts 6).
pub fn factors(domain: Domain, header: &[u32; HEADER]) -> Factors {
    let (outer, inner): (&[usize], &[usize]) = match domain {
        Domain::Quad => (&[7, 6, 5, 4], &[3, 2]),
        Domain::Triangle => (&[7, 6, 5], &[4]),
        Domain::Isoline => (&[6, 7], &[]),
    };
    let mut factors = Factors::default();
    for (to, &from) in factors.outer.iter_mut().zip(outer) {
        *to = f32::from_bits(header[from]);
    }
    for (to, &from) in factors.inner.iter_mut().zip(inner) {
        *to = f32::from_bits(header[from]);
    }
    factors
}
