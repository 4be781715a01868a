//! MI commands: commands of the streamer itself. Those whose effect is that of Gen8 use its
//! functions.

use super::debug;
use crate::cs::{Flow, counters, mi, quiet, status};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory;
use crate::mem::coherence::Cache;
use genxml::core::reflect::registers;
use genxml::gen8::mi as gen8;
use genxml::gen45::CONTAINERS;
use genxml::gen45::commands_mi::{
    MiArbOnOff, MiBatchBufferStart, MiBatchBufferStartMemorySpace, MiDisplayFlip, MiFlush,
    MiLoadRegisterImm, MiNoop, MiSetContext, MiStoreDataImm, MiStoreDataIndex, MiStoreRegisterMem,
};

/// MI_NOOP: writes the packet's number to a register if it asks for that.
pub fn noop(exec: &mut Exec<'_>, packet: &MiNoop) -> Result<(), Fault> {
    let packet = gen8::MiNoop {
        identification_number: packet.identification_number,
        identification_number_register_write_enable: packet
            .identification_number_register_write_enable,
    };
    mi::noop(exec, &packet)
}

/// A command for hardware that the model does not have: displays and caches. Nothing changes.
pub fn without_effect(exec: &mut Exec<'_>) {
    quiet::without_effect(exec);
}

/// Executes MI_USER_INTERRUPT.
pub fn user_interrupt(exec: &mut Exec<'_>) -> Result<(), Fault> {
    mi::user_interrupt(exec, &gen8::MiUserInterrupt::new())
}

/// MI_FLUSH: records flushes and invalidations, and resets the counters of statistics and of
/// debugging if the packet asks for that. Earlier commands are complete already.
pub fn flush(exec: &mut Exec<'_>, packet: &MiFlush) {
    mi::flushed(exec, Cache::Pipeline);
    if !packet.render_cache_flush_inhibit {
        mi::flushed(exec, Cache::RenderTarget);
        mi::flushed(exec, Cache::Depth);
    }
    mi::invalidated(exec, Cache::Texture);
    if packet.state_instruction_cache_invalidate {
        mi::invalidated(exec, Cache::State);
        mi::invalidated(exec, Cache::Instruction);
    }
    if packet.global_snapshot_count_reset {
        counters::reset(&mut exec.state.registers);
        debug::reset_counters(exec);
    }
}

/// MI_REPORT_HEAD: writes RING_HEAD to the status page of the engine.
pub fn report_head(exec: &mut Exec<'_>) -> Result<(), Fault> {
    status::report_head(exec, &gen8::MiReportHead::new())
}

/// MI_ARB_ON_OFF: enables or disables preemption.
pub fn arb_on_off(exec: &mut Exec<'_>, packet: &MiArbOnOff) {
    exec.state.arbitration_off = !packet.arbitration_enable;
}

/// MI_DISPLAY_FLIP: emits [`Event::Flip`]. There is no display.
pub fn display_flip(exec: &mut Exec<'_>, packet: &MiDisplayFlip) {
    exec.stats.without_effect += 1;
    exec.emit(&Event::Flip {
        plane: gen8::MiDisplayFlipDisplayPlaneSelect::from_bits(packet.plane.get()),
        address: packet.address.get(),
        pitch: packet.pitch_and_tiling.get() as u32,
    });
}

/// MI_SET_CONTEXT: the ring continues with the state of another context.
pub fn set_context(exec: &mut Exec<'_>, packet: &MiSetContext) -> Result<Flow, Fault> {
    let mut other = gen8::MiSetContext::new();
    other.logical_context_address = packet.logical_context_address;
    other.restore_inhibit = packet.restore_inhibit;
    mi::set_context(exec, &other)
}

/// MI_STORE_DATA_IMM: writes one dword, or two.
///
/// # Errors
/// [`Fault::BadPacket`] if the packet has no data, more than a qword, or the address of a qword is
/// not a multiple of 8; [`Fault::Page`].
pub fn store_data_imm(exec: &mut Exec<'_>, packet: &MiStoreDataImm<'_>) -> Result<(), Fault> {
    physical(exec, packet.physical_start_address_extension.get())?;
    let (address, data) = (packet.address.get(), packet.data_dword);
    if !matches!(data.len(), 1 | 2) {
        let length = packet.dwords() as u64 - 2;
        return Err(exec.bad_field("DWord Length", length, "the packet has a dword or a qword"));
    }
    if data.len() == 2 && !address.is_multiple_of(8) {
        let why = "the address of a qword must be a multiple of 8";
        return Err(exec.bad_field("Address", address, why));
    }
    for (index, dword) in data.iter().enumerate() {
        memory::write(exec, true, address + 4 * index as u64, dword.get() as u32, "Address")?;
    }
    Ok(())
}

/// MI_STORE_DATA_INDEX: writes a dword to the status page of the engine.
pub fn store_data_index(exec: &mut Exec<'_>, packet: &MiStoreDataIndex) -> Result<(), Fault> {
    status::write(exec, false, packet.offset.get(), &[packet.data_dword.get() as u32], "Offset")
}

/// MI_LOAD_REGISTER_IMM: writes registers, except for the bytes that the packet disables.
///
/// # Errors
/// [`Fault::BadPacket`] for a register that the specification of the G45 does not have;
/// [`Fault::Unimplemented`] for debug functions that the model does not have.
pub fn load_register_imm(exec: &mut Exec<'_>, packet: &MiLoadRegisterImm<'_>) -> Result<(), Fault> {
    for register in packet.register.iter() {
        exists(exec, "Register Offset", register.register_offset.get())?;
    }
    let kept = packet.byte_write_disables.get() as u32;
    let bytes = [0, 1, 2, 3].map(|byte| if kept >> byte & 1 == 0 { 0xff } else { 0 });
    let written = u32::from_le_bytes(bytes);
    for register in packet.register.iter() {
        let offset = register.register_offset.get() as u32;
        if debug::registers::covers(offset) {
            let value = register.data_dword.get() as u32;
            debug::registers::write(exec.state, offset, value, written)
                .map_err(|missing| missing.fault(exec))?;
            continue;
        }
        let entry = [gen8::MiLoadRegisterImmRegister {
            register_offset: register.register_offset,
            data_dword: register.data_dword,
        }];
        let one = gen8::MiLoadRegisterImm {
            byte_write_disables: packet.byte_write_disables,
            register: (&entry[..]).into(),
            ..gen8::MiLoadRegisterImm::new()
        };
        mi::load_register_imm(exec, &one)?;
    }
    Ok(())
}

/// MI_STORE_REGISTER_MEM: writes a register to memory.
///
/// # Errors
/// [`Fault::BadPacket`] for a register that the specification of the G45 does not have;
/// [`Fault::Page`].
pub fn store_register_mem(exec: &mut Exec<'_>, packet: &MiStoreRegisterMem) -> Result<(), Fault> {
    physical(exec, packet.physical_start_address_extension.get())?;
    let offset = packet.register_address.get();
    exists(exec, "Register Address", offset)?;
    let value = match debug::registers::covers(offset as u32) {
        true => debug::registers::read(exec.state, offset as u32)
            .map_err(|missing| missing.fault(exec))?,
        false => exec.read_register(offset as u32),
    };
    memory::write(exec, true, packet.memory_address.get(), value, "Memory Address")
}

/// MI_BATCH_BUFFER_START: continues in another batch. There is one level of batches.
///
/// # Errors
/// [`Fault::BadPacket`] for a batch in physical memory.
pub fn batch_buffer_start(exec: &mut Exec<'_>, packet: &MiBatchBufferStart) -> Result<Flow, Fault> {
    if packet.memory_space != MiBatchBufferStartMemorySpace::GTT {
        let why = "batches are in the global table (2)";
        return Err(exec.bad_field("Memory Space", packet.memory_space.bits(), why));
    }
    Ok(Flow::Start {
        address: packet.batch_buffer_start_address.get(),
        global: !packet.non_secure_batch,
        second: false,
        resource_streamer: false,
    })
}

/// Refuses bits 35:32 of a physical address: commands of batches use the global table.
fn physical(exec: &Exec<'_>, extension: u64) -> Result<(), Fault> {
    if extension == 0 {
        return Ok(());
    }
    let why = "addresses in the global table have 32 bits";
    Err(exec.bad_field("Physical Start Address Extension", extension, why))
}

/// Refuses a register that the specification of the G45 does not have.
fn exists(exec: &Exec<'_>, field: &'static str, offset: u64) -> Result<(), Fault> {
    if registers(CONTAINERS, &[]).any(|(at, _)| u64::from(at) == offset) {
        return Ok(());
    }
    Err(exec.bad_field(field, offset, "the specification of the G45 has no such register"))
}
