//! Addresses that cannot be read or written, and why.

use crate::mem::Va;
use std::fmt;

/// An address that cannot be read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PageFault {
    /// The graphics address, 48 bits.
    pub address: u64,
    /// True if the access was a write.
    pub write: bool,
    /// The tables that were walked.
    pub tables: Tables,
    /// Why the walk failed.
    pub cause: Cause,
}

genxml_core::debug_as_display!(PageFault);

/// Kinds of page tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Tables {
    /// Per process, four levels, 48 bits.
    FourLevels,
    /// Per process, 32 bits: four page directories (level 2) are the roots.
    ThreeLevels,
    /// The global table, 32 bits.
    Global,
}

/// Why a page walk failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The entry of this level (4 = root ... 1 = page table) is not present.
    NotPresent(u8),
    /// The entry of this level points outside physical memory. Level 5 of a space with four levels
    /// stands for register PDP0; level 3 of a space with three levels stands for the PDP register
    /// for the GiB of the address.
    BadFrame(u8),
    /// The entry of this level forbids writing.
    ReadOnly(u8),
    /// The address is not below 4 GiB, where the space ends.
    Outside,
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.write { "write to" } else { "read from" };
        write!(f, "page fault: {access} {}, ", Va(self.address))?;
        let global = self.tables == Tables::Global;
        match (self.cause, self.tables) {
            (Cause::NotPresent(_), Tables::Global) => {
                write!(f, "nothing is mapped there in the global table")
            }
            (Cause::NotPresent(level), _) => {
                write!(f, "nothing is mapped there (level {level} entry not present)")
            }
            (Cause::BadFrame(_), _) if global => {
                write!(f, "the entry of the global table points outside physical memory")
            }
            (Cause::BadFrame(5), _) => write!(f, "PDP0 points outside physical memory"),
            (Cause::BadFrame(3), Tables::ThreeLevels) => {
                write!(f, "PDP{} points outside physical memory", self.address >> 30)
            }
            (Cause::BadFrame(level), _) => {
                write!(f, "the level {level} entry points outside physical memory")
            }
            (Cause::ReadOnly(level), _) => write!(f, "the page is read-only (level {level} entry)"),
            (Cause::Outside, _) if global => write!(f, "the global table ends at 4 GiB"),
            (Cause::Outside, _) => write!(f, "an address space of three levels ends at 4 GiB"),
        }
    }
}

impl std::error::Error for PageFault {}

/// The memory mapped near an address that is not mapped. Prints nothing if there is no such memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nearby {
    /// The address that was accessed.
    pub address: u64,
    /// End of the memory below `address`: the first address after that memory.
    pub below: Option<u64>,
    /// Start of the memory above `address`.
    pub above: Option<u64>,
}

impl fmt::Display for Nearby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(end) = self.below {
            write!(f, "{:#x} bytes after the end of memory at {}", self.address - end, Va(end))?;
        }
        if let Some(start) = self.above {
            let joint = if self.below.is_some() { ", " } else { "" };
            write!(f, "{joint}{:#x} bytes before memory at {}", start - self.address, Va(start))?;
        }
        Ok(())
    }
}
