//! Entries of page tables.

use crate::assumptions::DIRECTORY_ENTRIES_MAP_LARGE_PAGES;
use genxml::core::Shifted;
use genxml::gen8::memory::{
    PageDirectoryEntry, PageDirectoryPointerEntry, PageMapLevel4Entry, PageTableEntry,
};

/// What the model reads and writes in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) present: bool,
    pub(super) writable: bool,
    /// The entry maps memory: always at level 1, 2 MiB at level 2.
    pub(super) leaf: bool,
    /// Physical address of the next table or of the page.
    pub(super) address: u64,
}

impl Entry {
    /// The entry of a table of `level` (4 = root ... 1 = page table).
    #[inline]
    pub(super) fn unpack(level: u8, bits: u64) -> Self {
        let dwords = [bits as u32, (bits >> 32) as u32];
        macro_rules! entry {
            ($type:ident, $leaf:expr) => {{
                let entry = $type::unpack_lossy(&dwords);
                Entry {
                    present: entry.present,
                    writable: entry.read_write,
                    leaf: $leaf(&entry),
                    address: entry.address.get(),
                }
            }};
        }
        match level {
            4 => entry!(PageMapLevel4Entry, |_: &_| false),
            3 => entry!(PageDirectoryPointerEntry, |_: &_| false),
            2 => entry!(PageDirectoryEntry, |entry: &PageDirectoryEntry| entry.page_size
                && DIRECTORY_ENTRIES_MAP_LARGE_PAGES),
            _ => entry!(PageTableEntry, |_: &_| true),
        }
    }

    /// An entry that is present and leads to `address`, a multiple of 4 KiB.
    pub(super) fn pack(level: u8, address: u64, writable: bool) -> u64 {
        let address = Shifted::from_bits(address >> 12);
        macro_rules! entry {
            ($type:ident) => {
                $type { present: true, read_write: writable, address, ..$type::new() }.pack()
            };
        }
        let dwords = match level {
            4 => entry!(PageMapLevel4Entry),
            3 => entry!(PageDirectoryPointerEntry),
            2 => entry!(PageDirectoryEntry),
            _ => entry!(PageTableEntry),
        };
        u64::from(dwords[0]) | u64::from(dwords[1]) << 32
    }
}
