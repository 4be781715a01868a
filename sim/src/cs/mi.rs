//! MI commands, which the command streamer executes itself: they move data between packets,
//! registers and memory, and start and end batches.

use super::flow::Flow;
use super::{predicate, status};
use crate::assumptions::{CONDITIONAL_END_IS_UNSIGNED, CONDITIONAL_END_WITHOUT_COMPARISON_ENDS};
use crate::machine::device::Interrupt;
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory::{read, write};
use crate::mem::PAGE;
use crate::mem::coherence::Cache;
use crate::mem::space::GLOBAL_ENTRIES;
use genxml::gen8::engine_registers::{RingBbOffset, RingNopid};
use genxml::gen8::mi::{
    MiArbCheck, MiArbOnOff, MiBatchBufferEnd, MiBatchBufferStart,
    MiBatchBufferStartAddressSpaceIndicator, MiBatchBufferStartSecondLevelBatchBuffer,
    MiConditionalBatchBufferEnd, MiCopyMemMem, MiFlushDw, MiFlushDwDestinationAddressType,
    MiFlushDwPostSyncOperation, MiLoadRegisterImm, MiLoadRegisterMem, MiLoadRegisterReg, MiNoop,
    MiSetContext, MiStoreDataImm, MiStoreDataImmStoreQword, MiStoreRegisterMem, MiUpdateGtt,
    MiUserInterrupt,
};

/// MI_NOOP: writes the packet's identification number to NOPID if the packet enables that.
pub fn noop(exec: &mut Exec<'_>, packet: &MiNoop) -> Result<(), Fault> {
    if packet.identification_number_register_write_enable {
        let value = packet.identification_number.get() as u32;
        exec.state.registers.write(exec.base() + RingNopid::OFFSET, value);
    }
    Ok(())
}

/// MI_BATCH_BUFFER_START, unless it is predicated and the predicate is 0. A batch in the
/// per-process space can start batches only in that space: the packet's Address Space Indicator is
/// ignored there (gen8_facts 1.1).
pub fn batch_buffer_start(exec: &mut Exec<'_>, packet: &MiBatchBufferStart) -> Result<Flow, Fault> {
    if packet.predication_enable && !predicate::result(exec) {
        return Ok(Flow::Next);
    }
    let mut address = packet.batch_buffer_start_address.va48();
    if packet.add_offset_enable {
        let offset = exec.state.registers.read(exec.base() + RingBbOffset::OFFSET);
        address = address.wrapping_add(offset.into());
    }
    let second = MiBatchBufferStartSecondLevelBatchBuffer::SECOND_LEVEL_BATCH;
    Ok(Flow::Start {
        address,
        global: exec.mode.privileged
            && packet.address_space_indicator == MiBatchBufferStartAddressSpaceIndicator::GGTT,
        second: packet.second_level_batch_buffer == second,
        resource_streamer: packet.resource_streamer_enable,
    })
}

/// MI_STORE_DATA_IMM: writes consecutive dwords or qwords
/// (assumptions::CORE_0_ADDS_NO_OFFSET).
pub fn store_data_imm(exec: &mut Exec<'_>, packet: &MiStoreDataImm<'_>) -> Result<(), Fault> {
    let address = packet.address.va48();
    let data = packet.data_dword;
    if data.is_empty() {
        let length = packet.dwords() as u64 - 2;
        return Err(exec.bad_field("DWord Length", length, "the packet has no data"));
    }
    if packet.store_qword == MiStoreDataImmStoreQword::STORE_QWORD {
        if !data.len().is_multiple_of(2) {
            let length = packet.dwords() as u64 - 2;
            return Err(exec.bad_field(
                "DWord Length",
                length,
                "qwords need an even number of data dwords",
            ));
        }
        if !address.is_multiple_of(8) {
            return Err(exec.bad_field(
                "Address",
                address,
                "the address of qwords must be a multiple of 8",
            ));
        }
    }
    if exec.allowed(packet.use_global_gtt) {
        for (index, dword) in data.iter().enumerate() {
            let address = address + 4 * index as u64;
            write(exec, packet.use_global_gtt, address, dword.get() as u32, "Address")?;
        }
    }
    Ok(())
}

/// MI_LOAD_REGISTER_IMM: writes registers, except for the bytes that the packet disables.
/// [`Exec::write_register`] handles masked and read-only registers.
pub fn load_register_imm(exec: &mut Exec<'_>, packet: &MiLoadRegisterImm<'_>) -> Result<(), Fault> {
    let keep = (0..4).fold(0, |mask, byte| {
        mask | if packet.byte_write_disables.get() >> byte & 1 != 0 {
            0xff << (8 * byte)
        } else {
            0
        }
    });
    for register in packet.register.iter() {
        let offset = register.register_offset.get() as u32;
        exec.write_register(offset, register.data_dword.get() as u32, !keep)?;
    }
    Ok(())
}

/// Executes MI_LOAD_REGISTER_MEM.
pub fn load_register_mem(exec: &mut Exec<'_>, packet: &MiLoadRegisterMem) -> Result<(), Fault> {
    if exec.allowed(packet.use_global_gtt) {
        let value =
            read(exec, packet.use_global_gtt, packet.memory_address.va48(), "Memory Address")?;
        exec.write_register(packet.register_address.get() as u32, value, !0)?;
    }
    Ok(())
}

/// MI_STORE_REGISTER_MEM, unless it is predicated and the predicate is 0.
pub fn store_register_mem(exec: &mut Exec<'_>, packet: &MiStoreRegisterMem) -> Result<(), Fault> {
    if packet.predicate_enable && !predicate::result(exec) || !exec.allowed(packet.use_global_gtt) {
        return Ok(());
    }
    let value = exec.read_register(packet.register_address.get() as u32);
    write(exec, packet.use_global_gtt, packet.memory_address.va48(), value, "Memory Address")
}

/// MI_LOAD_REGISTER_REG: copies a register to another. If the destination is a masked register,
/// bits 31:16 of the value enable the writes of bits 15:0.
pub fn load_register_reg(exec: &mut Exec<'_>, packet: &MiLoadRegisterReg) -> Result<(), Fault> {
    let value = exec.read_register(packet.source_register_address.get() as u32);
    exec.write_register(packet.destination_register_address.get() as u32, value, !0)
}

/// MI_UPDATE_GTT: writes consecutive entries of the global table, 64 bits each
/// (assumptions::UPDATE_GTT_ENTRIES_HAVE_64_BITS). The command needs privilege.
pub fn update_gtt(exec: &mut Exec<'_>, packet: &MiUpdateGtt<'_>) -> Result<(), Fault> {
    let data = packet.entry_data;
    if !data.len().is_multiple_of(2) {
        let length = packet.dwords() as u64 - 2;
        return Err(exec.bad_field("DWord Length", length, "each entry needs two dwords"));
    }
    let first = packet.entry_address.get() / PAGE;
    if first + data.len() as u64 / 2 > GLOBAL_ENTRIES {
        let why = format!("the last entry of the global table is {:#x}", GLOBAL_ENTRIES - 1);
        return Err(exec.bad_field("Entry Address", packet.entry_address.get(), why));
    }
    if !exec.allowed(true) {
        return Ok(());
    }
    // For a context without page tables, `vm.space` is the global table.
    let table = if exec.mode.global_only { &mut *exec.vm.space } else { &mut *exec.ggtt };
    let mut entries = data.iter();
    for index in first.. {
        let Some((low, high)) = entries.next().zip(entries.next()) else { break };
        let written = table.write_global_entry(index, low.get() | high.get() << 32);
        debug_assert!(written.is_ok(), "entry {index:#x} was refused although it exists");
    }
    Ok(())
}

/// MI_COPY_MEM_MEM: copies one dword.
pub fn copy_mem_mem(exec: &mut Exec<'_>, packet: &MiCopyMemMem) -> Result<(), Fault> {
    let (from, to) = (packet.use_global_gtt_source, packet.use_global_gtt_destination);
    if exec.allowed(from || to) {
        let value = read(exec, from, packet.source_memory_address.va48(), "Source Memory Address")?;
        let address = packet.destination_memory_address.va48();
        write(exec, to, address, value, "Destination Memory Address")?;
    }
    Ok(())
}

/// MI_FLUSH_DW: records a flush. As the packet asks, it also invalidates the TLB, records
/// invalidations, does the post-sync operation and interrupts. Earlier commands are complete
/// already. Immediate data are a qword if the packet is long enough, else a dword (gen8_facts 2.6).
pub fn flush_dw(exec: &mut Exec<'_>, packet: &MiFlushDw<'_>) -> Result<(), Fault> {
    flushed(exec, Cache::Pipeline);
    if packet.video_pipeline_cache_invalidate {
        invalidated(exec, Cache::Video);
    }
    if packet.tlb_invalidate {
        invalidated(exec, Cache::Translation);
        exec.vm.space.forget();
    }
    let mut data = [0; 2];
    let dwords = match packet.post_sync_operation {
        MiFlushDwPostSyncOperation::NO_WRITE => 0,
        MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA => {
            for (dword, given) in data.iter_mut().zip(packet.immediate_data.iter()) {
                *dword = given.get() as u32;
            }
            match packet.immediate_data.len() {
                0 => {
                    return Err(exec.bad_field(
                        "Post Sync Operation",
                        1,
                        "the packet has no immediate data",
                    ));
                }
                given => given.min(2),
            }
        }
        MiFlushDwPostSyncOperation::WRITE_TIMESTAMP => {
            let now = exec.budget.timestamp();
            data = [now as u32, (now >> 32) as u32];
            2
        }
        other => {
            return Err(exec.bad_field(
                "Post Sync Operation",
                other.bits(),
                "there is no such operation",
            ));
        }
    };
    let global = packet.destination_address_type == MiFlushDwDestinationAddressType::GGTT;
    let address = packet.address.va48();
    let data = &data[..dwords];
    if !data.is_empty() && exec.allowed(global) {
        if packet.store_data_index {
            // The address is an offset in the status page of the engine or of the context (Linux
            // i915 gen8_emit_flush_xcs).
            status::write(exec, !global, address, data, "Address")?;
        } else {
            for (index, dword) in data.iter().enumerate() {
                write(exec, global, address + 4 * index as u64, *dword, "Address")?;
            }
        }
    }
    if packet.notify_enable {
        interrupt(exec, Interrupt::Notify);
    }
    Ok(())
}

/// Records that a command flushes a cache.
pub fn flushed(exec: &mut Exec<'_>, cache: Cache) {
    exec.device.coherence.flushed(exec.engine, cache);
    exec.emit(&Event::Flush { cache, invalidates: false });
}

/// Records that a command invalidates a cache.
pub fn invalidated(exec: &mut Exec<'_>, cache: Cache) {
    exec.device.coherence.invalidated(exec.engine, cache);
    exec.emit(&Event::Flush { cache, invalidates: true });
}

/// MI_CONDITIONAL_BATCH_BUFFER_END: with Compare Semaphore, ends the batch and the batch that
/// called it, unless the dword at Compare Address is greater than the packet's data. Without
/// Compare Semaphore, nothing is compared and nothing ends
/// (assumptions::CONDITIONAL_END_WITHOUT_COMPARISON_ENDS).
pub fn conditional_batch_buffer_end(
    exec: &mut Exec<'_>,
    packet: &MiConditionalBatchBufferEnd,
) -> Result<Flow, Fault> {
    let global = packet.use_global_gtt;
    if !packet.compare_semaphore {
        return Ok(if CONDITIONAL_END_WITHOUT_COMPARISON_ENDS { Flow::End } else { Flow::Next });
    }
    if !exec.allowed(global) {
        return Ok(Flow::Next);
    }
    let memory = read(exec, global, packet.compare_address.va48(), "Compare Address")?;
    let data = packet.compare_data_dword.get() as u32;
    let greater = match CONDITIONAL_END_IS_UNSIGNED {
        true => memory > data,
        false => memory.cast_signed() > data.cast_signed(),
    };
    Ok(if greater { Flow::Next } else { Flow::End })
}

/// Executes MI_BATCH_BUFFER_END.
pub fn batch_buffer_end(_: &mut Exec<'_>, _: &MiBatchBufferEnd) -> Result<Flow, Fault> {
    Ok(Flow::Return)
}

/// MI_ARB_CHECK: a waiting context preempts this one here, unless MI_ARB_ON_OFF has disabled
/// preemption.
pub fn arb_check(exec: &mut Exec<'_>, _: &MiArbCheck) -> Result<Flow, Fault> {
    let preempted = exec.mode.preempt && !exec.state.arbitration_off;
    Ok(if preempted { Flow::Preempted } else { Flow::Next })
}

/// MI_ARB_ON_OFF: enables or disables preemption.
pub fn arb_on_off(exec: &mut Exec<'_>, packet: &MiArbOnOff) -> Result<(), Fault> {
    exec.state.arbitration_off = !packet.arbitration_enable;
    Ok(())
}

/// Executes MI_USER_INTERRUPT.
pub fn user_interrupt(exec: &mut Exec<'_>, _: &MiUserInterrupt) -> Result<(), Fault> {
    interrupt(exec, Interrupt::User);
    Ok(())
}

/// Interrupts the host for a command.
pub fn interrupt(exec: &mut Exec<'_>, why: Interrupt) {
    exec.stats.interrupts += 1;
    exec.device.interrupt(exec.engine, why);
    exec.emit(&Event::Interrupt { engine: exec.engine, why });
}

/// MI_SET_CONTEXT: the ring continues with the state of another context.
pub fn set_context(exec: &mut Exec<'_>, packet: &MiSetContext) -> Result<Flow, Fault> {
    if packet.core_mode_enable {
        return Err(exec.unimplemented("Core Mode Enable", "MI_SET_CONTEXT"));
    }
    if !exec.mode.ring {
        let address = packet.logical_context_address.get();
        return Err(exec.bad_field(
            "Logical Context Address",
            address,
            "the packet is only for rings without execution lists",
        ));
    }
    Ok(Flow::Context {
        address: packet.logical_context_address.get() as u32,
        inhibit: packet.restore_inhibit,
    })
}
