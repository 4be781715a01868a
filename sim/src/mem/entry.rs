//! Entries of page tables.

use crate::assumptions::{DIRECTORY_ENTRIES_MAKE_64K_PAGES, DIRECTORY_ENTRIES_MAP_LARGE_PAGES};
use genxml::core::Shifted;
use genxml::gen8::memory::{
    GlobalGttPageTableEntry, PageDirectoryEntry, PageDirectoryPointerEntry, PageMapLevel4Entry,
    PageTableEntry,
};

/// The fields of a page table entry that the model uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) present: bool,
    pub(super) writable: bool,
    /// True if the entry maps memory: always at level 1; at level 2 if it maps a page of 2 MiB.
    pub(super) leaf: bool,
    /// True if the entry leads to a table of 64 KiB pages.
    pub(super) coarse: bool,
    /// Index into the page attribute table, which chooses how hardware caches the page. The model
    /// has no caches: all units see the same memory, and only [`Coherence`](super::Coherence)
    /// records flushes.
    pub(super) attributes: u8,
    /// Physical address of the next table or of the page.
    pub(super) address: u64,
}

impl Entry {
    /// Unpacks an entry of a table of `level` (4 = root ... 1 = page table).
    #[inline]
    pub(super) fn unpack(level: u8, bits: u64) -> Self {
        let dwords = halves(bits);
        macro_rules! entry {
            ($type:ident, $leaf:expr, $coarse:expr, $pat:expr) => {{
                let entry = $type::unpack_lossy(&dwords);
                Entry {
                    present: entry.present,
                    writable: entry.read_write,
                    leaf: $leaf(&entry),
                    coarse: $coarse(&entry),
                    attributes: u8::from($pat(&entry)) << 2
                        | u8::from(entry.pcd) << 1
                        | u8::from(entry.pwt),
                    address: entry.address.get(),
                }
            }};
        }
        match level {
            4 => entry!(PageMapLevel4Entry, |_: &_| false, |_: &_| false, |_: &_| false),
            3 => entry!(PageDirectoryPointerEntry, |_: &_| false, |_: &_| false, |_: &_| false),
            2 => entry!(
                PageDirectoryEntry,
                |entry: &PageDirectoryEntry| entry.page_size && DIRECTORY_ENTRIES_MAP_LARGE_PAGES,
                |entry: &PageDirectoryEntry| entry.ips && DIRECTORY_ENTRIES_MAKE_64K_PAGES,
                |_: &_| false
            ),
            _ => {
                entry!(PageTableEntry, |_: &_| true, |_: &_| false, |entry: &PageTableEntry| entry
                    .pat)
            }
        }
    }

    /// Unpacks an entry of the global table. Every present page is writable.
    #[inline]
    pub(super) fn unpack_global(bits: u64) -> Self {
        let entry = GlobalGttPageTableEntry::unpack_lossy(&halves(bits));
        Entry {
            present: entry.present,
            writable: true,
            leaf: true,
            coarse: false,
            attributes: 0,
            address: entry.address.get(),
        }
    }

    /// A present entry for a table of `level` that leads to `address`, a multiple of 4 KiB.
    pub(super) fn pack(level: u8, address: u64, writable: bool) -> u64 {
        let address = Shifted::from_bits(address >> 12);
        macro_rules! entry {
            ($type:ident) => {
                $type { present: true, read_write: writable, address, ..$type::new() }.pack()
            };
        }
        whole(match level {
            4 => entry!(PageMapLevel4Entry),
            3 => entry!(PageDirectoryPointerEntry),
            2 => entry!(PageDirectoryEntry),
            _ => entry!(PageTableEntry),
        })
    }

    /// Splits entry `bits` of a page directory, which maps one page of 2 MiB, into the 512 entries
    /// of a page table that map the same memory. Other fields that both kinds of entry have keep
    /// their values.
    pub(super) fn split(bits: u64) -> impl Iterator<Item = u64> {
        let large = PageDirectoryEntry::unpack_lossy(&halves(bits));
        let base = large.address.get() & !((1 << 21) - 1);
        (0..512).map(move |index| {
            whole(
                PageTableEntry {
                    address: Shifted::from_bits((base >> 12) + index),
                    present: large.present,
                    read_write: large.read_write,
                    pcd: large.pcd,
                    pwt: large.pwt,
                    ..PageTableEntry::new()
                }
                .pack(),
            )
        })
    }

    /// An entry of the global table that leads to `address`, a multiple of 4 KiB.
    pub(super) fn pack_global(address: u64) -> u64 {
        let address = Shifted::from_bits(address >> 12);
        whole(GlobalGttPageTableEntry { present: true, address }.pack())
    }
}

fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

fn whole(dwords: [u32; 2]) -> u64 {
    u64::from(dwords[0]) | u64::from(dwords[1]) << 32
}
