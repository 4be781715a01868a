//! A pending wait for a dword in memory (MI_SEMAPHORE_WAIT).

use super::place::Place;
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
    /// The value that memory is compared with.
    pub data: u32,
    /// The comparison, with memory as the left operand.
    pub comparison: Compare,
    /// The value of the semaphore at the last comparison.
    pub memory: u32,
    /// True in polling mode: memory is compared at every turn. False in signal mode: memory is
    /// compared only after a signal.
    pub polls: bool,
    /// The packet's dwords.
    pub packet: [u32; MiSemaphoreWait::DWORDS],
    /// True if a signal has arrived since the last comparison.
    pub signalled: bool,
}

impl Wait {
    /// The comparison as a Rust operator.
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
