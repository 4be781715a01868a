//! Reads and writes entries of page tables. A frame is a physical page of 4 KiB.

use crate::core::Shifted;
use crate::gen8::aub::{MemTraceLocalGlobalEntry, MemTraceLocalPageTableEntry};
use crate::gen8::memory::{
    GlobalGttPageTableEntry, PageDirectoryEntry, PageDirectoryPointerEntry, PageMapLevel4Entry,
    PageTableEntry,
};

/// Number of address bits inside a page.
pub(super) const PAGE_SHIFT: u32 = 12;
/// Bytes of a page.
pub(super) const PAGE: u64 = 1 << PAGE_SHIFT;
/// Entries of a table.
pub(super) const ENTRIES: u64 = 512;
/// Number of address bits that select an entry of a table.
pub(super) const INDEX_BITS: u32 = 9;
/// Number of pages of 4 KiB that a page directory entry maps if its Page Size bit is set: 2 MiB.
const LARGE: u64 = ENTRIES;

/// Number of bits of a frame number. A frame number is the number of a physical page: bits 47:12
/// of the page's address.
pub(super) const FRAME_BITS: u32 = 36;
/// First frame number of local memory, the memory of a graphics card. Its physical addresses are
/// independent of those of the system's memory.
pub(super) const LOCAL: u64 = 2 << FRAME_BITS;
/// First frame number of local memory as the global table maps it; see `Image::write_local`.
pub(super) const LOCAL_GLOBAL: u64 = 3 << FRAME_BITS;

/// The target of a present entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leads {
    /// A table of the next level, by the number of its frame.
    Table(u64),
    /// A page of 4 KiB, by the number of its frame.
    Page(u64),
    /// A page of 2 MiB, by the number of its first frame.
    Large(u64),
}

/// The target of an entry with these bits in a table of `level` (4 is the root for 48-bit
/// addresses, 1 is a page table); `None` if the entry is not present. `local` is true on a GPU with
/// local memory, whose entries say in which memory a page is. They do not say it of a table.
pub(super) fn entry(level: u32, bits: u64, local: bool) -> Option<Leads> {
    let dwords = [bits as u32, (bits >> 32) as u32];
    let is_local = local && MemTraceLocalPageTableEntry::unpack_lossy(&dwords).local_memory;
    let memory = if is_local { LOCAL } else { 0 };
    macro_rules! table {
        ($type:ident) => {{
            let entry = $type::unpack_lossy(&dwords);
            entry.present.then_some(Leads::Table(entry.address.get() >> PAGE_SHIFT))
        }};
    }
    match level {
        4 => table!(PageMapLevel4Entry),
        3 => table!(PageDirectoryPointerEntry),
        2 if PageDirectoryEntry::unpack_lossy(&dwords).page_size => {
            let entry = PageDirectoryEntry::unpack_lossy(&dwords);
            entry.present.then_some(Leads::Large(
                memory + (entry.address.get() >> PAGE_SHIFT & !(LARGE - 1)),
            ))
        }
        2 => table!(PageDirectoryEntry),
        _ => {
            let entry = PageTableEntry::unpack_lossy(&dwords);
            entry.present.then_some(Leads::Page(memory + (entry.address.get() >> PAGE_SHIFT)))
        }
    }
}

/// The target of an entry of a page table on a GPU with local memory, if these bytes are one.
pub(super) fn leaf(bytes: &[u8]) -> Option<Leads> {
    entry(1, u64::from_le_bytes(bytes.try_into().ok()?), true)
}

/// The frame of an entry of the global table; `None` if it is not present. `local` is true on a GPU
/// with local memory.
pub(super) fn global_entry(bits: u64, local: bool) -> Option<u64> {
    let dwords = [bits as u32, (bits >> 32) as u32];
    let entry = GlobalGttPageTableEntry::unpack_lossy(&dwords);
    let is_local = local && MemTraceLocalGlobalEntry::unpack_lossy(&dwords).local_memory;
    let memory = if is_local { LOCAL } else { 0 };
    entry.present.then_some(memory + (entry.address.get() >> PAGE_SHIFT))
}

/// A present and writable entry of a table of `level` for `frame`.
pub(super) fn pack(level: u32, frame: u64) -> u64 {
    let address = Shifted::from_bits(frame);
    macro_rules! entry {
        ($type:ident) => {
            whole($type { present: true, read_write: true, address, ..$type::new() }.pack())
        };
    }
    match level {
        4 => entry!(PageMapLevel4Entry),
        3 => entry!(PageDirectoryPointerEntry),
        2 => entry!(PageDirectoryEntry),
        _ => entry!(PageTableEntry),
    }
}

/// An entry of the global table for `frame`.
pub(super) fn pack_global(frame: u64) -> u64 {
    whole(GlobalGttPageTableEntry { present: true, address: Shifted::from_bits(frame) }.pack())
}

fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
