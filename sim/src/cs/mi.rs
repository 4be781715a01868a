//! MI commands: the command streamer's own.

use super::Flow;
use crate::assumptions::CONDITIONAL_END_IS_UNSIGNED;
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::engine::EngineId;
use genxml::gen8::mi::{
    MiBatchBufferStart, MiBatchBufferStartSecondLevelBatchBuffer, MiConditionalBatchBufferEnd, MiCopyMemMem,
    MiFlushDw, MiFlushDwDestinationAddressType, MiFlushDwPostSyncOperation, MiLoadRegisterImm,
    MiLoadRegisterMem, MiLoadRegisterReg, MiNoop, MiPredicate, MiPredicateCombineOperation,
    MiPredicateCompareOperation, MiPredicateLoadOperation, MiSemaphoreWait, MiSemaphoreWaitCompareOperation,
    MiSemaphoreWaitMemoryType, MiStoreDataImm, MiStoreDataImmStoreQword, MiStoreRegisterMem,
};

/// Registers by offset from their engine's base (gen8_facts 1.2, 2.4).
mod offset {
    pub const NOPID: u32 = 0x94;
    pub const BB_OFFSET: u32 = 0x158;
    pub const PREDICATE_SRC0: u32 = 0x400;
    pub const PREDICATE_SRC1: u32 = 0x408;
    pub const PREDICATE_RESULT: u32 = 0x418;
}

/// MI_NOOP: may leave a number in NOPID.
pub fn noop<O: Observer>(exec: &mut Exec<'_, O>, engine: EngineId, packet: &MiNoop) -> Result<(), Fault> {
    if packet.identification_number_register_write_enable {
        let value = packet.identification_number.get() as u32;
        exec.state.registers.write(crate::gpu::mmio_base(engine) + offset::NOPID, value);
    }
    Ok(())
}

/// MI_BATCH_BUFFER_START. A batch in the per-process space starts batches in that space, whatever the packet's
/// Address Space Indicator says (gen8_facts 1.1).
pub fn batch_buffer_start<O: Observer>(
    exec: &mut Exec<'_, O>,
    engine: EngineId,
    packet: &MiBatchBufferStart,
) -> Result<Flow, Fault> {
    if packet.predication_enable && !predicate(exec, engine) {
        return Ok(Flow::Next);
    }
    let mut address = packet.batch_buffer_start_address.va48();
    if packet.add_offset_enable {
        let base = crate::gpu::mmio_base(engine);
        address = address.wrapping_add(exec.state.registers.read(base + offset::BB_OFFSET).into());
    }
    Ok(match packet.second_level_batch_buffer {
        MiBatchBufferStartSecondLevelBatchBuffer::SECOND_LEVEL_BATCH => Flow::Call(address),
        _ => Flow::Chain(address),
    })
}

/// The predicate that conditional commands look at: bit 0 of MI_PREDICATE_RESULT.
pub fn predicate<O: Observer>(exec: &Exec<'_, O>, engine: EngineId) -> bool {
    exec.state.registers.read(crate::gpu::mmio_base(engine) + offset::PREDICATE_RESULT) & 1 != 0
}

/// MI_STORE_DATA_IMM: dwords or qwords, one behind the other.
pub fn store_data_imm<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiStoreDataImm<'_>) -> Result<(), Fault> {
    refuse_ggtt(exec, packet.use_global_gtt)?;
    if packet.core_mode_enable {
        return Err(exec.unimplemented("Core Mode Enable", "MI_STORE_DATA_IMM"));
    }
    let address = packet.address.va48();
    let data = packet.data_dword;
    if data.is_empty() {
        let length = packet.dwords() as u64 - 2;
        return Err(exec.bad_field("DWord Length", length, "there must be data"));
    }
    if packet.store_qword == MiStoreDataImmStoreQword::STORE_QWORD {
        if !data.len().is_multiple_of(2) {
            let length = packet.dwords() as u64 - 2;
            return Err(exec.bad_field("DWord Length", length, "qwords take an even number of data dwords"));
        }
        if !address.is_multiple_of(8) {
            return Err(exec.bad_field("Address", address, "qwords go to a multiple of 8"));
        }
    }
    for (index, dword) in data.iter().enumerate() {
        write(exec, address + 4 * index as u64, dword.get() as u32, "Address")?;
    }
    Ok(())
}

/// MI_LOAD_REGISTER_IMM: registers keep the bytes that the packet disables; masked registers and read-only ones do
/// what [`State::write_register`](crate::State::write_register) says.
pub fn load_register_imm<O: Observer>(
    exec: &mut Exec<'_, O>,
    packet: &MiLoadRegisterImm<'_>,
) -> Result<(), Fault> {
    let keep = (0..4).fold(0, |mask, byte| {
        mask | if packet.byte_write_disables.get() >> byte & 1 != 0 { 0xff << (8 * byte) } else { 0 }
    });
    for register in packet.register.iter() {
        let offset = register.register_offset.get() as u32;
        exec.state.write_register(offset, register.data_dword.get() as u32, !keep);
    }
    Ok(())
}

/// MI_LOAD_REGISTER_MEM.
pub fn load_register_mem<O: Observer>(
    exec: &mut Exec<'_, O>,
    packet: &MiLoadRegisterMem,
) -> Result<(), Fault> {
    refuse_ggtt(exec, packet.use_global_gtt)?;
    let value = read(exec, packet.memory_address.va48(), "Memory Address")?;
    exec.state.write_register(packet.register_address.get() as u32, value, !0);
    Ok(())
}

/// MI_STORE_REGISTER_MEM, unless it is predicated and the predicate is 0.
pub fn store_register_mem<O: Observer>(
    exec: &mut Exec<'_, O>,
    engine: EngineId,
    packet: &MiStoreRegisterMem,
) -> Result<(), Fault> {
    refuse_ggtt(exec, packet.use_global_gtt)?;
    if packet.predicate_enable && !predicate(exec, engine) {
        return Ok(());
    }
    let value = exec.read_register(packet.register_address.get() as u32);
    write(exec, packet.memory_address.va48(), value, "Memory Address")
}

/// MI_LOAD_REGISTER_REG. A masked destination takes its write enables from the source's upper half.
pub fn load_register_reg<O: Observer>(
    exec: &mut Exec<'_, O>,
    packet: &MiLoadRegisterReg,
) -> Result<(), Fault> {
    let value = exec.read_register(packet.source_register_address.get() as u32);
    exec.state.write_register(packet.destination_register_address.get() as u32, value, !0);
    Ok(())
}

/// MI_COPY_MEM_MEM: one dword.
pub fn copy_mem_mem<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiCopyMemMem) -> Result<(), Fault> {
    refuse_ggtt(exec, packet.use_global_gtt_source || packet.use_global_gtt_destination)?;
    let value = read(exec, packet.source_memory_address.va48(), "Source Memory Address")?;
    write(exec, packet.destination_memory_address.va48(), value, "Destination Memory Address")
}

/// MI_FLUSH_DW: everything before it is complete, which leaves the post-sync operation. Immediate data are a qword
/// if the packet is long enough, else a dword (gen8_facts 2.6).
pub fn flush_dw<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiFlushDw<'_>) -> Result<(), Fault> {
    if packet.tlb_invalidate.get() != 0 {
        exec.vm.space.forget();
    }
    let data: Vec<u32> = packet.immediate_data.iter().map(|dword| dword.get() as u32).collect();
    let dwords = match packet.post_sync_operation {
        MiFlushDwPostSyncOperation::NO_WRITE => return Ok(()),
        MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA => match data[..] {
            [] => return Err(exec.bad_field("Post Sync Operation", 1, "the packet has no immediate data")),
            [low] => vec![low],
            [low, high, ..] => vec![low, high],
        },
        MiFlushDwPostSyncOperation::WRITE_TIMESTAMP => {
            let now = exec.budget.timestamp();
            vec![now as u32, (now >> 32) as u32]
        }
        other => {
            return Err(exec.bad_field("Post Sync Operation", other.bits(), "there is no such operation"));
        }
    };
    if packet.store_data_index.get() != 0 {
        return Err(
            exec.unimplemented("a write to the hardware status page", "MI_FLUSH_DW: Store Data Index")
        );
    }
    refuse_ggtt(exec, packet.destination_address_type == MiFlushDwDestinationAddressType::GGTT)?;
    for (index, dword) in dwords.into_iter().enumerate() {
        write(exec, packet.address.va48() + 4 * index as u64, dword, "Address")?;
    }
    Ok(())
}

/// MI_PREDICATE: a comparison, combined with the predicate so far (gen8_facts 2.4).
pub fn set_predicate_result<O: Observer>(
    exec: &mut Exec<'_, O>,
    engine: EngineId,
    packet: &MiPredicate,
) -> Result<(), Fault> {
    let base = crate::gpu::mmio_base(engine);
    let old = predicate(exec, engine);
    let compared = match packet.compare_operation {
        MiPredicateCompareOperation::TRUE => true,
        MiPredicateCompareOperation::FALSE => false,
        MiPredicateCompareOperation::SRCS_EQUAL => {
            let registers = &exec.state.registers;
            registers.read_u64(base + offset::PREDICATE_SRC0)
                == registers.read_u64(base + offset::PREDICATE_SRC1)
        }
        _ => return Err(exec.unimplemented("DELTAS_EQUAL", "no source says how it compares")),
    };
    let combined = match packet.combine_operation {
        MiPredicateCombineOperation::SET => compared,
        MiPredicateCombineOperation::AND => old & compared,
        MiPredicateCombineOperation::OR => old | compared,
        _ => old ^ compared,
    };
    let new = match packet.load_operation {
        MiPredicateLoadOperation::KEEP => old,
        MiPredicateLoadOperation::LOAD => combined,
        MiPredicateLoadOperation::LOADINV => !combined,
        other => return Err(exec.bad_field("Load Operation", other.bits(), "there is no such operation")),
    };
    exec.state.registers.write(base + offset::PREDICATE_RESULT, new.into());
    Ok(())
}

/// MI_SEMAPHORE_WAIT: memory against the packet's data, unsigned. Nothing else runs while a submission does, so a
/// comparison that fails now fails for ever.
pub fn semaphore_wait<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiSemaphoreWait) -> Result<(), Fault> {
    refuse_ggtt(exec, packet.memory_type == MiSemaphoreWaitMemoryType::GLOBAL_GRAPHICS_ADDRESS)?;
    let memory = read(exec, packet.semaphore_address.va48(), "Semaphore Address")?;
    let data = packet.semaphore_data_dword.get() as u32;
    let passes = match packet.compare_operation {
        MiSemaphoreWaitCompareOperation::SAD_GREATER_THAN_SDD => memory > data,
        MiSemaphoreWaitCompareOperation::SAD_GREATER_THAN_OR_EQUAL_SDD => memory >= data,
        MiSemaphoreWaitCompareOperation::SAD_LESS_THAN_SDD => memory < data,
        MiSemaphoreWaitCompareOperation::SAD_LESS_THAN_OR_EQUAL_SDD => memory <= data,
        MiSemaphoreWaitCompareOperation::SAD_EQUAL_SDD => memory == data,
        MiSemaphoreWaitCompareOperation::SAD_NOT_EQUAL_SDD => memory != data,
        other => {
            return Err(exec.bad_field("Compare Operation", other.bits(), "there is no such comparison"));
        }
    };
    if passes { Ok(()) } else { Err(Fault::Wait { memory, data, at: exec.at }) }
}

/// MI_CONDITIONAL_BATCH_BUFFER_END: ends the batch unless memory is greater than the packet's data.
pub fn conditional_batch_buffer_end<O: Observer>(
    exec: &mut Exec<'_, O>,
    packet: &MiConditionalBatchBufferEnd,
) -> Result<Flow, Fault> {
    refuse_ggtt(exec, packet.use_global_gtt.get() != 0)?;
    if packet.compare_semaphore.get() == 0 {
        return Err(exec.unimplemented("Compare Semaphore = 0", "no source says when it ends the batch then"));
    }
    let memory = read(exec, packet.compare_address.va48(), "Compare Address")?;
    let data = packet.compare_data_dword.get() as u32;
    let greater = match CONDITIONAL_END_IS_UNSIGNED {
        true => memory > data,
        false => memory.cast_signed() > data.cast_signed(),
    };
    Ok(if greater { Flow::Next } else { Flow::End })
}

/// The model has no global table: what asks for it stops.
pub(super) fn refuse_ggtt<O: Observer>(exec: &Exec<'_, O>, global: bool) -> Result<(), Fault> {
    if global {
        Err(exec.unimplemented("a global GTT address", "there is no global table yet"))
    } else {
        Ok(())
    }
}

fn read<O: Observer>(exec: &mut Exec<'_, O>, address: u64, field: &'static str) -> Result<u32, Fault> {
    exec.stats.bytes_read += 4;
    exec.vm.read_u32(address).map_err(|fault| exec.page(fault, field))
}

fn write<O: Observer>(
    exec: &mut Exec<'_, O>,
    address: u64,
    value: u32,
    field: &'static str,
) -> Result<(), Fault> {
    exec.vm.write_u32(address, value).map_err(|fault| exec.page(fault, field))?;
    exec.stats.bytes_written += 4;
    Ok(())
}
