//! Domain shader: threads make vertices from the points of a tessellated patch (2a p.65-73;
//! gen8_facts 3.4).

use super::hs::{Patch, push_raw};
use super::shader::{Shader, Threads};
use super::stage::{Dispatch, entries};
use super::state;
use super::te::Point;
use super::vue::{Entries, UNIT, Vertices};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::registers::DsInvocationCount;
use genxml::gen8::render3d_stages::{ThreeDStateDs, ThreeDStateUrbDs};
use genxml::gen8::thread_payloads::{DsSIMD4x2ThreadPayload, DsSimd8ThreadPayload};
use genxml_core::U;

/// The domain shader of a draw.
#[derive(Debug)]
pub struct DomainShader {
    shader: Shader,
    threads: Threads,
    /// Maximum number of points of a thread: 8 in SIMD8 mode, 2 or 1 in SIMD4x2 mode.
    width: usize,
    wide: bool,
    /// Compute W Coordinate Enable.
    third: bool,
    /// The range of the patch's dwords that a thread payload contains.
    pushed: std::ops::Range<usize>,
    entries: Entries,
    counted: bool,
}

impl DomainShader {
    /// Resolves the domain shader; none if it is disabled.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with; page faults when its constants
    /// are read.
    pub fn resolve(exec: &mut Exec<'_>) -> Result<Option<Box<DomainShader>>, Fault> {
        let ds: ThreeDStateDs = state::packet(exec);
        if !ds.function_enable {
            return Ok(None);
        }
        let shader = Shader::of(exec, &ds)?;
        let Dispatch { simd8: wide, width } = Dispatch::of_ds(&ds);
        let entries = entries::<ThreeDStateUrbDs>(exec);
        entries.check(exec, width, "domain shader")?;
        let first = ds.patch_urb_entry_read_offset.get() as usize * UNIT;
        let length = ds.patch_urb_entry_read_length.get() as usize * UNIT;
        Ok(Some(Box::new(DomainShader {
            threads: Threads::new(&shader),
            shader,
            width,
            wide,
            third: ds.compute_w_coordinate_enable,
            pushed: first..first + length,
            entries,
            counted: ds.statistics_enable,
        })))
    }

    /// Number of dwords at the start of a patch that threads need.
    pub fn patch_dwords(&self) -> usize {
        self.pushed.end
    }

    /// Makes a vertex from each point. `data` are the first dwords of the patch; their number is
    /// [`patch_dwords`](Self::patch_dwords).
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a patch whose handle does not fit in the payload, and for a URB
    /// entry after the end of the URB; any [`Fault`] of a thread.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        patch: &Patch,
        data: &[u32],
        points: &[Point],
        out: &mut Vertices,
    ) -> Result<(), Fault> {
        out.dwords = self.entries.dwords();
        out.clear();
        out.data.reserve(points.len() * out.dwords);
        for points in points.chunks(self.width) {
            self.payload(exec, patch, data, points)?;
            let channels = if self.wide { points.len() } else { 4 * points.len() };
            let mask = u32::MAX >> (32 - channels);
            self.threads.run(exec, &self.shader, mask, mask, "domain shader")?;
            for entry in 0..points.len() {
                self.entries.read(exec, entry, out.push())?;
            }
        }
        if self.counted {
            state::count(exec, DsInvocationCount::OFFSET, points.len() as u64);
        }
        Ok(())
    }

    fn payload(
        &mut self,
        exec: &Exec<'_>,
        patch: &Patch,
        data: &[u32],
        points: &[Point],
    ) -> Result<(), Fault> {
        let header = self.shader.header(0);
        let primitive_id = U::from_bits(patch.id.into());
        let coordinate = |n: usize, of: fn(&Point) -> f32| points.get(n).map_or(0.0, of);
        let third = |n: usize| match self.third {
            true => coordinate(n, |point| 1.0 - (point.u + point.v)),
            false => 0.0,
        };
        let handles: [_; 8] = std::array::from_fn(|n| match n < points.len() {
            true => U::from_bits(self.entries.handle(n)),
            false => U::ZERO,
        });
        let payload = &mut self.threads.launch.payload;
        payload.clear();
        if self.wide {
            let start = DsSimd8ThreadPayload {
                patch_urb_handle: U::from_bits(patch.handle),
                primitive_id,
                per_thread_scratch_space: header.scratch_code,
                sampler_state_pointer: header.samplers,
                binding_table_pointer: header.binding_table,
                fftid: header.fftid,
                scratch_space_pointer: header.scratch,
                u: std::array::from_fn(|n| coordinate(n, |point| point.u)),
                v: std::array::from_fn(|n| coordinate(n, |point| point.v)),
                w: std::array::from_fn(third),
                output: handles,
            };
            payload.extend_from_slice(bytemuck::cast_slice(&start.pack()));
        } else {
            let Ok(patch_urb_handle) = U::try_from(patch.handle) else {
                let why =
                    "domain shader threads of two points have 13 bits for the handle of the patch";
                return Err(exec.bad_field("HS URB Starting Address", patch.handle, why));
            };
            let start = DsSIMD4x2ThreadPayload {
                urb_handle_0: handles[0],
                urb_handle_1: handles[1],
                per_thread_scratch_space: header.scratch_code,
                sampler_state_pointer: header.samplers,
                binding_table_pointer: header.binding_table,
                fftid: header.fftid,
                scratch_space_pointer: header.scratch,
                u0: coordinate(0, |point| point.u),
                v0: coordinate(0, |point| point.v),
                w0: third(0),
                patch_urb_handle,
                u1: coordinate(1, |point| point.u),
                v1: coordinate(1, |point| point.v),
                w1: third(1),
                primitive_id,
            };
            payload.extend_from_slice(bytemuck::cast_slice(&start.pack()));
        }
        self.shader.push_constants(payload);
        push_raw(payload, data, self.pushed.clone());
        Ok(())
    }
}
