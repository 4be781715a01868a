//! Semaphores: dwords in memory that a streamer waits for (gen8_facts 2.2).
//!
//! The model refuses MI_SEMAPHORE_MBOX, a command of older hardware that command parsers in kernels
//! still list. On Gen8, MI_SEMAPHORE_WAIT and MI_SEMAPHORE_SIGNAL replace it (Intel media-driver,
//! mhw_mi_hwcmd_g8_X.h).

use super::flow::Flow;
use crate::machine::device;
use crate::machine::device::Signal;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory;
use crate::machine::semaphore::compare;
use crate::machine::wait::Wait;
use genxml::gen8::mi::{
    MiSemaphoreSignal, MiSemaphoreWait, MiSemaphoreWaitMemoryType, MiSemaphoreWaitWaitMode,
};

/// MI_SEMAPHORE_WAIT: waits until the comparison of memory with the packet's data is true. A batch
/// without privilege always uses the context's address space, whatever the packet's Memory Type
/// (assumptions::GLOBAL_ACCESS_NEEDS_PRIVILEGE).
pub fn semaphore_wait(exec: &mut Exec<'_>, packet: &MiSemaphoreWait) -> Result<Flow, Fault> {
    let wanted = packet.memory_type == MiSemaphoreWaitMemoryType::GLOBAL_GRAPHICS_ADDRESS;
    let global = memory::global_if_allowed(exec, wanted);
    let address = packet.semaphore_address.va48();
    let data = packet.semaphore_data_dword.get() as u32;
    let memory = memory::read(exec, global, address, "Semaphore Address")?;
    let comparison = packet.compare_operation;
    match compare(comparison, memory, data) {
        Some(true) => Ok(Flow::Next),
        Some(false) => Ok(Flow::Wait(Wait {
            at: exec.at,
            address,
            global,
            data,
            comparison,
            memory,
            polls: packet.wait_mode == MiSemaphoreWaitWaitMode::POLLING_MODE,
            packet: packet.pack(),
            signalled: false,
        })),
        None => Err(exec.bad_field(
            "Compare Operation",
            comparison.bits(),
            "the comparison is reserved",
        )),
    }
}

/// MI_SEMAPHORE_SIGNAL: makes the target context compare its semaphore again, if it waits on the
/// target engine.
pub fn semaphore_signal(exec: &mut Exec<'_>, packet: &MiSemaphoreSignal) -> Result<(), Fault> {
    let target = packet.target_engine_select;
    let Some(engine) = device::target(target) else {
        let name = target.name().unwrap_or("an engine that does not exist");
        return Err(exec.unimplemented(
            format!("a signal to {name}"),
            "MI_SEMAPHORE_SIGNAL: Target Engine Select",
        ));
    };
    let context = packet.target_context_id.get() as u32;
    exec.device.signals.push(Signal { engine, context });
    Ok(())
}
