//! State of both pipelines, and PIPE_CONTROL.

use super::debug;
use super::state::State;
use crate::assumptions::G45_TIMESTAMP_BITS;
use crate::cs::mi;
use crate::machine::device::Interrupt;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory;
use crate::mem::coherence::Cache;
use crate::unit::sampler::Palettes;
use genxml::core::latch::Latch;
use genxml::gen45::commands_3d::{ThreeDStateVertexBuffers, VertexBufferState};
use genxml::gen45::commands_common::{
    PipeControl, PipeControlPostSyncOperation as PostSync, PipelineSelect,
    PipelineSelectPipelineSelection, StateBaseAddress,
};
use genxml::gen45::registers::PsDepthCount;

/// 3DSTATE_VERTEX_BUFFERS: replaces the buffers that the packet has.
pub fn vertex_buffers(exec: &mut Exec<'_>, packet: &ThreeDStateVertexBuffers<'_>) {
    let latched = &mut exec.state.slots.get_mut::<State>().latched;
    for buffer in packet.vertex_buffer_state.iter() {
        latched.keep(VertexBufferState::SLOTS, &buffer.pack());
    }
}

/// 3DSTATE_SAMPLER_PALETTE_LOAD0 and 1: replaces the first entries of a palette.
pub fn palette(exec: &mut Exec<'_>, palette: usize, entries: &[u32]) {
    exec.state.slots.get_mut::<Palettes>().load(palette, entries.iter().copied());
}

/// STATE_BASE_ADDRESS: replaces each base and limit whose modify enable is set.
pub fn state_base_address(exec: &mut Exec<'_>, packet: &StateBaseAddress) {
    let base = &mut exec.state.slots.get_mut::<State>().base;
    for (enabled, to, from) in [
        (
            packet.general_state_base_address_modify_enable,
            &mut base.general,
            packet.general_state_base_address,
        ),
        (
            packet.surface_state_base_address_modify_enable,
            &mut base.surface,
            packet.surface_state_base_address,
        ),
        (
            packet.indirect_object_base_address_modify_enable,
            &mut base.indirect,
            packet.indirect_object_base_address,
        ),
        (
            packet.general_state_access_upper_bound_modify_enable,
            &mut base.general_bound,
            packet.general_state_access_upper_bound,
        ),
        (
            packet.indirect_object_access_upper_bound_modify_enable,
            &mut base.indirect_bound,
            packet.indirect_object_access_upper_bound,
        ),
    ] {
        if enabled {
            *to = from.get();
        }
    }
    bases_changed(exec);
}

/// After STATE_BASE_ADDRESS and STATE_SIP: the debug registers show the bases if they are enabled.
pub fn bases_changed(exec: &mut Exec<'_>) {
    if debug::enabled(&exec.state.registers) {
        debug::fixed::bases(exec);
    }
}

/// PIPELINE_SELECT: refuses a pipeline that does not exist. The packet is latched.
///
/// # Errors
/// [`Fault::BadPacket`].
pub fn pipeline_select(exec: &mut Exec<'_>, packet: &PipelineSelect) -> Result<(), Fault> {
    match packet.pipeline_selection {
        PipelineSelectPipelineSelection::_3D | PipelineSelectPipelineSelection::MEDIA => Ok(()),
        other => {
            let why = "the pipelines are 3D and media";
            Err(exec.bad_field("Pipeline Selection", other.bits(), why))
        }
    }
}

/// PIPE_CONTROL: records flushes and invalidations, does the post-sync operation, and interrupts.
/// Earlier commands are complete already. Pointers to state stay valid
/// (assumptions::G45_POINTERS_STAY).
///
/// # Errors
/// [`Fault::Page`].
pub fn pipe_control(exec: &mut Exec<'_>, packet: &PipeControl) -> Result<(), Fault> {
    if packet.write_cache_flush {
        mi::flushed(exec, Cache::RenderTarget);
        mi::flushed(exec, Cache::Depth);
    }
    if packet.texture_cache_flush_enable {
        mi::invalidated(exec, Cache::Texture);
    }
    if packet.instruction_cache_invalidate_enable {
        mi::invalidated(exec, Cache::Instruction);
    }
    let value = match packet.post_sync_operation {
        PostSync::WRITE_IMMEDIATE_DATA => Some(packet.immediate_data.get()),
        PostSync::WRITE_PS_DEPTH_COUNT => Some(exec.state.registers.read_u64(PsDepthCount::OFFSET)),
        PostSync::WRITE_TIMESTAMP => {
            Some(exec.budget.timestamp() & ((1 << G45_TIMESTAMP_BITS) - 1))
        }
        _ => None,
    };
    if let Some(value) = value {
        memory::write_u64(exec, true, packet.address.get(), value, "Address")?;
    }
    if packet.notify_enable {
        mi::interrupt(exec, Interrupt::Notify);
    }
    Ok(())
}
