//! Commands of the render engine that are not 3D: synchronisation, state, media and GPGPU.

use super::{counters, mi, predicate, status};
use crate::machine::device::Interrupt;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory;
use crate::machine::state::{Changed, InterfaceDescriptors};
use crate::media;
use crate::mem::coherence::Cache;
use crate::mem::{Client, PAGE};
use genxml::gen8::media::{GpgpuWalker, MediaCurbeLoad, MediaInterfaceDescriptorLoad};
use genxml::gen8::mi::{
    PipeControl, PipeControlDestinationAddressType, PipeControlLriPostSyncOperation,
    PipeControlPostSyncOperation, PipelineSelect,
};
use genxml::gen8::registers::PsDepthCount;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use genxml::gen8::state::{InterfaceDescriptorData, StateBaseAddress, StatePrefetch, StateSip};

/// PIPE_CONTROL: waits for media threads, then resets counters, invalidates the TLB, clears media
/// state, does the post-sync operation and interrupts, as the packet asks. A post-sync operation
/// that writes memory also executes the newest 3DSTATE_WM_HZ_OP. Caches are not modelled: flushes
/// and invalidations are only recorded. Bit 2 of the address is ignored (a recorded batch in the
/// test corpus has it set).
pub fn pipe_control(exec: &mut Exec<'_>, packet: &PipeControl) -> Result<(), Fault> {
    media::drain(exec)?;
    if packet.global_snapshot_count_reset {
        counters::reset(&mut exec.state.registers);
    }
    if packet.tlb_invalidate {
        exec.vm.space.forget();
    }
    for (asked, cache) in [
        (packet.render_target_cache_flush_enable, Cache::RenderTarget),
        (packet.depth_cache_flush_enable, Cache::Depth),
        (packet.dc_flush_enable, Cache::Data),
        (packet.pipe_control_flush_enable, Cache::Pipeline),
    ] {
        if asked {
            mi::flushed(exec, cache);
        }
    }
    for (asked, cache) in [
        (packet.texture_cache_invalidation_enable, Cache::Texture),
        (packet.constant_cache_invalidation_enable, Cache::Constant),
        (packet.vf_cache_invalidation_enable, Cache::Vertex),
        (packet.state_cache_invalidation_enable, Cache::State),
        (packet.instruction_cache_invalidate_enable, Cache::Instruction),
        (packet.tlb_invalidate, Cache::Translation),
    ] {
        if asked {
            mi::invalidated(exec, cache);
        }
    }
    if packet.generic_media_state_clear {
        media::clear(exec);
    }
    if packet.post_sync_operation != PipeControlPostSyncOperation::NO_WRITE {
        crate::render::clear_depth(exec)?;
    }
    post_sync(exec, packet)?;
    if packet.notify_enable {
        mi::interrupt(exec, Interrupt::Notify);
    }
    Ok(())
}

/// The post-sync operation of PIPE_CONTROL. With Store Data Index the address is an offset in a
/// status page: the engine's page if the address type is global, else the context's (Linux i915
/// gen8_emit_flush_rcs).
fn post_sync(exec: &mut Exec<'_>, packet: &PipeControl) -> Result<(), Fault> {
    if packet.lri_post_sync_operation == PipeControlLriPostSyncOperation::MMIO_WRITE_IMMEDIATE_DATA
    {
        let offset = packet.address.get() as u32;
        return exec.write_register(offset, packet.immediate_data.get() as u32, !0);
    }
    let registers = &exec.state.registers;
    let value = match packet.post_sync_operation {
        PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA => packet.immediate_data.get(),
        PipeControlPostSyncOperation::WRITE_PS_DEPTH_COUNT => {
            registers.read_u64(PsDepthCount::OFFSET)
        }
        PipeControlPostSyncOperation::WRITE_TIMESTAMP => exec.budget.timestamp(),
        _ => return Ok(()),
    };
    let global = packet.destination_address_type == PipeControlDestinationAddressType::GGTT;
    let address = packet.address.va48() & !7;
    if exec.allowed(global) {
        if packet.store_data_index {
            status::write(
                exec,
                !global,
                address,
                &[value as u32, (value >> 32) as u32],
                "Address",
            )?;
        } else {
            memory::write_u64(exec, global, address, value, "Address")?;
        }
    }
    Ok(())
}

/// PIPELINE_SELECT: waits for media threads, then selects the pipeline.
pub fn pipeline_select(exec: &mut Exec<'_>, packet: &PipelineSelect) -> Result<(), Fault> {
    media::drain(exec)?;
    let selection = packet.pipeline_selection;
    if selection.name().is_none() {
        return Err(exec.bad_field(
            "Pipeline Selection",
            selection.bits(),
            "the pipelines are 3D, media and GPGPU",
        ));
    }
    exec.state.pipeline = selection;
    Ok(())
}

/// STATE_BASE_ADDRESS: replaces each base address whose modify enable is set, and the size of
/// General State if its modify enable is set.
pub fn state_base_address(exec: &mut Exec<'_>, packet: &StateBaseAddress) -> Result<(), Fault> {
    let base = &mut exec.state.base;
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
            packet.dynamic_state_base_address_modify_enable,
            &mut base.dynamic,
            packet.dynamic_state_base_address,
        ),
        (
            packet.indirect_object_base_address_modify_enable,
            &mut base.indirect,
            packet.indirect_object_base_address,
        ),
        (
            packet.instruction_base_address_modify_enable,
            &mut base.instruction,
            packet.instruction_base_address,
        ),
    ] {
        if enabled {
            *to = from.va48();
        }
    }
    if packet.general_state_buffer_size_modify_enable {
        base.general_size = packet.general_state_buffer_size.get() * PAGE;
    }
    if packet.dynamic_state_buffer_size_modify_enable {
        base.dynamic_size = packet.dynamic_state_buffer_size.get() * PAGE;
    }
    Ok(())
}

/// STATE_SIP: stores the address of the system routine, which only exceptions use.
pub fn state_sip(exec: &mut Exec<'_>, packet: &StateSip) -> Result<(), Fault> {
    exec.state.sip = Some(*packet);
    Ok(())
}

/// STATE_PREFETCH: a hint to caches, which are not modelled.
pub fn state_prefetch(_: &mut Exec<'_>, _: &StatePrefetch) -> Result<(), Fault> {
    Ok(())
}

/// MEDIA_CURBE_LOAD: reads constants from memory to the start of the CURBE. Bytes of the CURBE
/// after these constants keep their value.
pub fn media_curbe_load(exec: &mut Exec<'_>, packet: &MediaCurbeLoad) -> Result<(), Fault> {
    let address = exec.state.base.dynamic.wrapping_add(packet.curbe_data_start_address.get());
    let mut data = vec![0; packet.curbe_total_data_length.get() as usize];
    exec.vm
        .read(address, &mut data)
        .map_err(|fault| exec.page(fault, "CURBE Data Start Address"))?;
    exec.stats.bytes_read += data.len() as u64;
    if exec.state.curbe.len() < data.len() {
        exec.state.curbe.resize(data.len(), 0);
    }
    exec.state.curbe[..data.len()].copy_from_slice(&data);
    Ok(())
}

/// MEDIA_INTERFACE_DESCRIPTOR_LOAD: replaces all descriptors by the 1 to 64 that the packet names
/// (2a p.488).
pub fn media_interface_descriptor_load(
    exec: &mut Exec<'_>,
    packet: &MediaInterfaceDescriptorLoad,
) -> Result<(), Fault> {
    const SIZE: u64 = 4 * InterfaceDescriptorData::DWORDS as u64;
    let length = packet.interface_descriptor_total_length.get();
    if length == 0 || length > 64 * SIZE || !length.is_multiple_of(SIZE) {
        let why = "1 to 64 descriptors of 32 bytes are needed";
        return Err(exec.bad_field("Interface Descriptor Total Length", length, why));
    }
    let offset = packet.interface_descriptor_data_start_address.get();
    let address = exec.state.base.dynamic.wrapping_add(offset);
    let mut entries = Vec::with_capacity((length / SIZE) as usize);
    let _client = exec.vm.client(Client::State);
    for index in 0..length / SIZE {
        let mut dwords = [0; InterfaceDescriptorData::DWORDS];
        exec.vm
            .read(address.wrapping_add(index * SIZE), bytemuck::must_cast_slice_mut(&mut dwords))
            .map_err(|fault| exec.page(fault, "Interface Descriptor Data Start Address"))?;
        entries.push(InterfaceDescriptorData::unpack_lossy(&dwords));
    }
    exec.stats.bytes_read += length;
    exec.state.interface_descriptors = InterfaceDescriptors { address, entries };
    Ok(())
}

/// 3DPRIMITIVE, unless the predicate or MI_TOPOLOGY_FILTER skips it. `changed` is what the packets
/// since the last draw can have changed.
pub fn primitive(
    exec: &mut Exec<'_>,
    packet: &ThreeDPrimitive,
    changed: Changed,
) -> Result<(), Fault> {
    let predicated = packet.predicate_enable && !predicate::result(exec);
    if predicated || crate::render::geometry::is_filtered(exec) {
        return Ok(());
    }
    media::drain(exec)?;
    crate::render::primitive(exec, packet, changed)?;
    exec.state.changed = Changed::Nothing;
    Ok(())
}

/// GPGPU_WALKER, unless the predicate skips it.
pub fn gpgpu_walker(exec: &mut Exec<'_>, packet: &GpgpuWalker) -> Result<(), Fault> {
    if packet.predicate_enable && !predicate::result(exec) {
        return Ok(());
    }
    media::dispatch_walker(exec, packet)
}
