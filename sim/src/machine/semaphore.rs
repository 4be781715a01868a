//! Waits for a dword in memory (MI_SEMAPHORE_WAIT).

use super::exec::Exec;
use super::fault::{Fault, Place};
use super::memory;
use crate::mem::Va;
use genxml::gen8::mi::{MiSemaphoreWait, MiSemaphoreWaitCompareOperation as Compare};
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
    pub(crate) fn passes(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault> {
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
pub(crate) fn compare(comparison: Compare, memory: u32, data: u32) -> Option<bool> {
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
