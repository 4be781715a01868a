//! Semaphores: dwords in memory that a streamer waits for (gen8_facts 2.2).
//!
//! MI_SEMAPHORE_MBOX, which kernels' parsers still list, is one of older hardware: here these two
//! commands have taken its place (Intel media-driver, mhw_mi_hwcmd_g8_X.h), and the model refuses
//! it.

use super::device::{self, Signal};
use super::execute::Flow;
use super::memory;
use crate::context::Exec;
use crate::fault::{Fault, Place, Va};
use genxml::gen8::mi::{
    MiSemaphoreSignal, MiSemaphoreWait, MiSemaphoreWaitCompareOperation as Compare,
    MiSemaphoreWaitMemoryType, MiSemaphoreWaitWaitMode,
};
use std::fmt;

/// A MI_SEMAPHORE_WAIT that has not passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The packet.
    pub at: Place,
    /// Address of the semaphore.
    pub address: u64,
    /// True if the global table translates it.
    pub global: bool,
    /// What memory is compared with.
    pub data: u32,
    /// The comparison that memory on its left must pass.
    pub comparison: Compare,
    /// What memory held when it was compared last.
    pub memory: u32,
    /// True if memory is looked at again and again; else only when a signal comes.
    pub polls: bool,
    /// The packet's dwords.
    pub packet: [u32; MiSemaphoreWait::DWORDS],
    /// A signal came since memory was compared last.
    pub signalled: bool,
}

impl Wait {
    /// Compares memory again, if it is time to.
    ///
    /// # Errors
    /// [`Fault::Page`] if the semaphore is not there any longer.
    pub(super) fn passes(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault> {
        if !self.polls && !std::mem::take(&mut self.signalled) {
            return Ok(false);
        }
        self.memory = memory::read(exec, self.global, self.address, "Semaphore Address")?;
        Ok(compare(self.comparison, self.memory, self.data) == Some(true))
    }

    /// The comparison as Rust writes it.
    pub fn operator(&self) -> &'static str {
        match self.comparison {
            Compare::SAD_GREATER_THAN_SDD => ">",
            Compare::SAD_GREATER_THAN_OR_EQUAL_SDD => ">=",
            Compare::SAD_LESS_THAN_SDD => "<",
            Compare::SAD_LESS_THAN_OR_EQUAL_SDD => "<=",
            Compare::SAD_EQUAL_SDD => "==",
            _ => "!=",
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = if self.global { "global" } else { "per-process" };
        let mode = if self.polls { "" } else { " and a signal" };
        write!(
            f,
            "{} waits for {} ({table}) {} {:#x}{mode}; memory holds {:#x}",
            self.at,
            Va(self.address),
            self.operator(),
            self.data,
            self.memory
        )
    }
}

/// Compares unsigned; `None` if there is no such comparison.
fn compare(comparison: Compare, memory: u32, data: u32) -> Option<bool> {
    Some(match comparison {
        Compare::SAD_GREATER_THAN_SDD => memory > data,
        Compare::SAD_GREATER_THAN_OR_EQUAL_SDD => memory >= data,
        Compare::SAD_LESS_THAN_SDD => memory < data,
        Compare::SAD_LESS_THAN_OR_EQUAL_SDD => memory <= data,
        Compare::SAD_EQUAL_SDD => memory == data,
        Compare::SAD_NOT_EQUAL_SDD => memory != data,
        _ => return None,
    })
}

/// MI_SEMAPHORE_WAIT: passes if memory compares true with the packet's data. Memory Type is ignored
/// in a batch without privilege (assumptions::GLOBAL_ACCESS_NEEDS_PRIVILEGE).
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
            "there is no such comparison",
        )),
    }
}

/// MI_SEMAPHORE_SIGNAL: a context of another engine that waits for a signal looks at its semaphore
/// again.
pub fn semaphore_signal(exec: &mut Exec<'_>, packet: &MiSemaphoreSignal) -> Result<(), Fault> {
    let target = packet.target_engine_select;
    let Some(engine) = device::target(target) else {
        let name = target.name().unwrap_or("an engine that is not there");
        return Err(exec.unimplemented(
            format!("a signal to {name}"),
            "MI_SEMAPHORE_SIGNAL: Target Engine Select",
        ));
    };
    let context = packet.target_context_id.get() as u32;
    exec.device.signals.push(Signal { engine, context });
    Ok(())
}
