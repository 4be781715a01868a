//! The per-process graphics translation table: four levels of 512 entries, stored in frames as hardware wants them.
//!
//! Address bits 47:39 index the root (level 4), 38:30 level 3, 29:21 level 2, 20:12 the page table (level 1).
//! (gen8_facts 1.1; i915 gen8_ppgtt.c)

use super::entry::Entry;
use super::physical::{Frames, Memory, OutOfMemory, Slot};
use super::{ADDRESS_MASK, Cause, PAGE, PageFault};
use genxml::gen8::memory::GlobalGttPageTableEntry;
use std::cell::Cell;

/// Translations that are remembered.
const TLB_ENTRIES: usize = 512;

/// Entries of the largest global table: 4 GiB.
const GLOBAL_ENTRIES: u64 = (4 << 30) / PAGE;

/// A remembered translation of one page.
#[derive(Clone, Copy, Debug)]
struct Cached {
    /// The page's number, or `u64::MAX`.
    page: u64,
    slot: Slot,
    /// The level that forbids writing, or 0.
    read_only: u8,
}

const NOTHING: Cached = Cached { page: u64::MAX, slot: Slot { block: 0, offset: 0 }, read_only: 0 };

/// A 48-bit address space.
///
/// Translations are remembered; whoever writes page tables other than through [`map`](Self::map) and
/// [`unmap`](Self::unmap) calls [`forget`](Self::forget), as hardware wants a TLB invalidation.
#[derive(Debug)]
pub struct AddressSpace {
    root: u64,
    /// Entries of the global table, if this is the global space; one level, kept beside memory.
    global: Option<Vec<u64>>,
    /// Tables made by this space, to be freed with it.
    tables: Vec<Frames>,
    tlb: Box<[Cell<Cached>]>,
}

impl AddressSpace {
    /// An empty space. Its tables lie in `mem`.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new(mem: &mut Memory) -> Result<Self, OutOfMemory> {
        let root = mem.alloc(1)?;
        Ok(AddressSpace {
            root: root.address(),
            global: None,
            tables: vec![root],
            tlb: vec![Cell::new(NOTHING); TLB_ENTRIES].into_boxed_slice(),
        })
    }

    /// The global space (GGTT), nothing mapped: one level of entries, which do not lie in the model's memory.
    pub fn global() -> Self {
        AddressSpace {
            root: 0,
            global: Some(Vec::new()),
            tables: Vec::new(),
            tlb: vec![Cell::new(NOTHING); TLB_ENTRIES].into_boxed_slice(),
        }
    }

    /// Writes entry `index` of the global table, as its window in the MMIO space does; forgets what was there. Nothing
    /// happens in a per-process space, or behind the 4 GiB that a global table can have.
    pub fn write_global_entry(&mut self, index: u64, entry: u64) {
        let Some(table) = self.global.as_mut().filter(|_| index < GLOBAL_ENTRIES) else { return };
        let index_in = index as usize;
        if table.len() <= index_in {
            table.resize(index_in + 1, 0);
        }
        table[index_in] = entry;
        self.slot(index * PAGE).set(NOTHING);
    }

    /// Physical address of the root table, what PDP0 holds.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Maps `frames` from `address` (a multiple of 4 KiB) on, over whatever was there.
    ///
    /// # Errors
    /// [`OutOfMemory`] if a table does not fit.
    pub fn map(
        &mut self,
        mem: &mut Memory,
        address: u64,
        frames: Frames,
        writable: bool,
    ) -> Result<(), OutOfMemory> {
        let mut table = 0;
        for index in 0..frames.count {
            let va = address.wrapping_add(index * PAGE) & ADDRESS_MASK;
            if index == 0 || entry_offset(va, 1) == 0 {
                table = self.make_table(mem, va)?;
            }
            let page = frames.address() + index * PAGE;
            mem.write_u64(table + entry_offset(va, 1), Entry::pack(1, page, writable));
            self.slot(va).set(NOTHING);
        }
        Ok(())
    }

    /// Unmaps `pages` pages from `address` on; those that are not mapped stay so. Tables are kept.
    pub fn unmap(&mut self, mem: &mut Memory, address: u64, pages: u64) {
        let mut table = None;
        for index in 0..pages {
            let va = address.wrapping_add(index * PAGE) & ADDRESS_MASK;
            if index == 0 || entry_offset(va, 1) == 0 {
                table = self.find_table(mem, va);
            }
            if let Some(table) = table {
                mem.write_u64(table + entry_offset(va, 1), 0);
            }
            self.slot(va).set(NOTHING);
        }
    }

    /// Forgets remembered translations.
    pub fn forget(&mut self) {
        self.tlb.fill(Cell::new(NOTHING));
    }

    /// Frees the tables.
    pub fn destroy(self, mem: &mut Memory) {
        for table in self.tables {
            mem.free(table);
        }
    }

    /// Walks the tables: the physical address of the byte at `address`, and whether it may be written.
    ///
    /// # Errors
    /// [`PageFault`] with the level whose entry stopped the walk.
    pub fn translate(&self, mem: &Memory, address: u64, write: bool) -> Result<u64, PageFault> {
        let address = address & ADDRESS_MASK;
        let fault = |cause| PageFault { address, write, cause };
        let (physical, read_only) = self.walk(mem, address).map_err(fault)?;
        if write && read_only != 0 {
            return Err(fault(Cause::ReadOnly(read_only)));
        }
        Ok(physical)
    }

    /// Where the page of `address` lies, for reading.
    #[inline(always)]
    pub(super) fn read(&self, mem: &Memory, address: u64) -> Result<Slot, PageFault> {
        let cached = self.slot(address).get();
        if cached.page == address << 16 >> 28 {
            return Ok(cached.slot);
        }
        self.fill(mem, address & ADDRESS_MASK, false)
    }

    /// Where the page of `address` lies, for writing.
    #[inline(always)]
    pub(super) fn write(&self, mem: &Memory, address: u64) -> Result<Slot, PageFault> {
        let cached = self.slot(address).get();
        if cached.page == address << 16 >> 28 && cached.read_only == 0 {
            return Ok(cached.slot);
        }
        self.fill(mem, address & ADDRESS_MASK, true)
    }

    /// The place in the TLB for the page of `address`.
    #[inline(always)]
    fn slot(&self, address: u64) -> &Cell<Cached> {
        &self.tlb[(address / PAGE) as usize % TLB_ENTRIES]
    }

    #[cold]
    fn fill(&self, mem: &Memory, address: u64, write: bool) -> Result<Slot, PageFault> {
        let fault = |cause| PageFault { address, write, cause };
        let (physical, read_only) = self.walk(mem, address).map_err(fault)?;
        let slot = mem.slot(physical / PAGE).ok_or(fault(Cause::BadFrame(1)))?;
        self.slot(address).set(Cached { page: address / PAGE, slot, read_only });
        if write && read_only != 0 {
            return Err(fault(Cause::ReadOnly(read_only)));
        }
        Ok(slot)
    }

    /// The physical address of the byte at `address` (48 bits) and the level that forbids writing, or 0.
    fn walk(&self, mem: &Memory, address: u64) -> Result<(u64, u8), Cause> {
        if let Some(table) = &self.global {
            let bits = table.get((address / PAGE) as usize).copied().unwrap_or(0);
            let entry = GlobalGttPageTableEntry::unpack_lossy(&[bits as u32, (bits >> 32) as u32]);
            if !entry.present {
                return Err(Cause::NotPresent(1));
            }
            return Ok((entry.address.get() + address % PAGE, 0));
        }
        let (mut table, mut read_only) = (self.root, 0);
        for level in (1..=4).rev() {
            let bits =
                mem.read_u64(table + entry_offset(address, level)).ok_or(Cause::BadFrame(level + 1))?;
            let entry = Entry::unpack(level, bits);
            if !entry.present {
                return Err(Cause::NotPresent(level));
            }
            if !entry.writable && read_only == 0 {
                read_only = level;
            }
            if entry.leaf {
                let within = address & (span(level) - 1);
                return Ok(((entry.address & !(span(level) - 1)) + within, read_only));
            }
            table = entry.address;
        }
        unreachable!("level 1 returns")
    }

    /// Physical address of the page table for `address`, if there is one.
    fn find_table(&self, mem: &Memory, address: u64) -> Option<u64> {
        let mut table = self.root;
        for level in (2..=4).rev() {
            let entry = Entry::unpack(level, mem.read_u64(table + entry_offset(address, level))?);
            if !entry.present || entry.leaf {
                return None;
            }
            table = entry.address;
        }
        Some(table)
    }

    /// Physical address of the page table for `address`; missing tables are made.
    fn make_table(&mut self, mem: &mut Memory, address: u64) -> Result<u64, OutOfMemory> {
        let mut table = self.root;
        for level in (2..=4).rev() {
            let at = table + entry_offset(address, level);
            let entry = Entry::unpack(level, mem.read_u64(at).unwrap_or(0));
            table = if entry.present && !entry.leaf {
                entry.address
            } else {
                let frames = mem.alloc(1)?;
                self.tables.push(frames);
                mem.write_u64(at, Entry::pack(level, frames.address(), true));
                frames.address()
            };
        }
        Ok(table)
    }
}

/// Bytes that an entry of `level` covers.
const fn span(level: u8) -> u64 {
    PAGE << (9 * (level - 1))
}

/// Byte offset of the entry for `address` in a table of `level`.
const fn entry_offset(address: u64, level: u8) -> u64 {
    address / span(level) % 512 * 8
}
