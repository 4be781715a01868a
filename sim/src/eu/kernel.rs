//! A decoded kernel, and the cache of them.

use super::uop::Uop;

/// Most instructions of a kernel; the largest known has about 10,000.
pub const MAX_INSTRUCTIONS: usize = 1 << 17;

/// A kernel as uops.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Graphics address of the first instruction.
    pub address: u64,
    /// What `ip` holds at the first instruction: its offset from Instruction Base Address.
    pub ip_base: u32,
    /// Instructions that direct control flow can reach, in the order of their offsets. Offsets are
    /// signed: a branch may lead to before the first instruction.
    pub uops: Vec<Uop>,
    /// Index of the first instruction.
    pub entry: u32,
}

impl Kernel {
    /// Index of the uop at byte `offset` from the first instruction; none if nothing was decoded there.
    pub fn index(&self, offset: u32) -> Option<u32> {
        self.uops.binary_search_by_key(&(offset as i32), |u| u.offset as i32).ok().map(|index| index as u32)
    }
}
