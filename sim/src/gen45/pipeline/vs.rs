//! Vertex shader: a thread shades two vertices (gen45_facts 6).

use super::common::{begin, count};
use super::unit::{ROW, Unit, UnitState};
use crate::gen45::debug::fixed;
use crate::gen45::urb::{self, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::render::vue::{Vertices, dword};
use genxml::gen45::registers::VsInvocationCount;
use genxml::gen45::state_units::VsState;
use genxml::gen45::thread_payloads::VsThreadPayload;
use genxml_core::U;

/// Vertices of a thread.
pub const WIDTH: usize = 2;
/// Dwords of an attribute.
const SLOT: usize = 4;

/// The vertex shader of a draw.
#[derive(Debug)]
pub struct VertexShader {
    unit: Unit,
    counted: bool,
    /// A vertex that a draw needs several times is shaded once; otherwise each time.
    pub cached: bool,
    /// Dwords of a shaded vertex.
    pub dwords: usize,
}

impl VertexShader {
    /// Resolves the vertex shader; none if it is disabled, so that vertices pass as they were
    /// fetched.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with.
    pub fn resolve(
        exec: &mut Exec<'_>,
        state: &VsState,
        table: u64,
    ) -> Result<Option<VertexShader>, Fault> {
        if !state.enable {
            return Ok(None);
        }
        let unit = Unit::resolve(exec, UnitState::from(state), table)?;
        if unit.state.entries < WIDTH {
            let why = "threads of the vertex shader work with two entries at once";
            return Err(exec.bad_field("Number of URB Entries", unit.state.entries as u64, why));
        }
        Ok(Some(VertexShader {
            counted: state.statistics_enable,
            cached: !state.vertex_cache_disable,
            dwords: unit.state.rows * ROW,
            unit,
        }))
    }

    /// Shades the vertices `fetched` and appends them to `shaded`, in the same order.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for entries that do not fit the URB; any [`Fault`] of a thread.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        fetched: &Vertices,
        shaded: &mut Vertices,
    ) -> Result<(), Fault> {
        let total = fetched.count();
        begin(exec, urb::Unit::Vs, &self.unit.state)?;
        for first in (0..total).step_by(WIDTH) {
            let here = WIDTH.min(total - first);
            let urb = exec.state.slots.get_mut::<Urb>();
            let handles = [urb.handle(0), urb.handle(1)];
            // The shader overwrites its input. Parts that it does not write keep it.
            for (n, handle) in handles.into_iter().enumerate().take(here) {
                let vertex = fetched.get(first + n);
                let entry = urb.rows_mut(handle, self.unit.state.rows);
                let bytes: &[u8] = bytemuck::cast_slice(vertex);
                let length = bytes.len().min(entry.len());
                entry[..length].copy_from_slice(&bytes[..length]);
            }
            self.payload(fetched, first, here, handles);
            if self.unit.debugged() {
                self.unit.mark = Some(fixed::vertex_thread(exec, self.unit.state.kernel));
            }
            self.unit.run(exec, u32::MAX >> (32 - SLOT * here))?;
            let urb = exec.state.slots.get_mut::<Urb>();
            for handle in &handles[..here] {
                let entry = urb.rows(*handle, self.unit.state.rows);
                let out: &mut [u8] = bytemuck::cast_slice_mut(shaded.push());
                out[..entry.len()].copy_from_slice(entry);
            }
        }
        if self.counted {
            count(exec, VsInvocationCount::OFFSET, total as u64);
        }
        Ok(())
    }

    fn payload(&mut self, fetched: &Vertices, first: usize, here: usize, handles: [u16; 2]) {
        let header = self.unit.header();
        let start = VsThreadPayload {
            urb_return_handle_0: U::from_bits(handles[0].into()),
            urb_return_handle_1: U::from_bits(handles[1].into()),
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_base_pointer: header.scratch,
            ..VsThreadPayload::new()
        };
        self.unit.begin(&start.pack());
        // A unit of the read length is two attributes.
        let UnitState { read_offset, read_length, .. } = self.unit.state;
        let payload = &mut self.unit.launch.payload;
        for attribute in 2 * read_offset..2 * (read_offset + read_length) {
            let row: [u32; 2 * SLOT] = std::array::from_fn(|n| match n / SLOT < here {
                true => dword(fetched.get(first + n / SLOT), attribute * SLOT + n % SLOT),
                false => 0,
            });
            payload.extend_from_slice(bytemuck::cast_slice(&row));
        }
    }
}
