//! Memory: frames of 4 KiB, page tables, and the view that all units use.
//!
//! * [`physical`]: [`Memory`], the frames;
//! * [`ppgtt`]: [`AddressSpace`], four levels of page tables that are themselves stored in frames;
//! * [`Vm`]: both together, reading and writing at 48-bit graphics addresses.

mod entry;
pub mod physical;
pub mod ppgtt;
#[cfg(test)]
mod tests;
mod vm;

pub use physical::{Frames, Memory, OutOfMemory};
pub use ppgtt::AddressSpace;
pub use vm::Vm;

use crate::fault::Va;
use std::fmt;

/// Bytes of a page and of a frame.
pub const PAGE: u64 = 4096;

/// All bits that hardware looks at in a graphics address.
pub const ADDRESS_MASK: u64 = (1 << 48) - 1;

/// An address that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFault {
    /// The graphics address, 48 bits.
    pub address: u64,
    /// True if the access was a write.
    pub write: bool,
    /// Why.
    pub cause: Cause,
}

/// Why a page walk failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The entry of this level (4 = root ... 1 = page table) is not present.
    NotPresent(u8),
    /// The entry of this level points outside physical memory.
    BadFrame(u8),
    /// The entry of this level forbids writing.
    ReadOnly(u8),
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.write { "write to" } else { "read from" };
        write!(f, "page fault: {access} {}, ", Va(self.address))?;
        match self.cause {
            Cause::NotPresent(level) => {
                write!(f, "nothing is mapped there (level {level} entry not present)")
            }
            Cause::BadFrame(level) => write!(f, "the level {level} entry points outside physical memory"),
            Cause::ReadOnly(level) => write!(f, "the page is read-only (level {level} entry)"),
        }
    }
}

impl std::error::Error for PageFault {}
