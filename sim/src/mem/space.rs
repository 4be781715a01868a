//! Address spaces: page tables that translate graphics addresses to frames.
//!
//! * Per process, four levels: address bits 47:39 index the root (level 4), 38:30 level 3, 29:21
//!   level 2, 20:12 the page table (level 1). Each table has 512 entries and lies in a frame. A
//!   directory entry (level 2) may map 2 MiB.
//! * Per process, three levels, for contexts of 32 bits: four registers each hold the address of a
//!   page directory (level 2), one for each GiB.
//! * The global table: one level, with one entry for each page of 4 KiB in 4 GiB. Its entries are
//!   registers of the GPU, not frames.
//!
//! (gen8_facts 1.1; i915 gen8_ppgtt.c, intel_ggtt.c)

use super::entry::Entry;
use super::fault::{Cause, Nearby, PageFault, Tables};
use super::frames::Slot;
#[cfg(feature = "fast")]
use super::host_pages::HostPages;
use super::physical::{Frames, Memory, OutOfMemory};
use super::{ADDRESS_MASK, PAGE};
use rustc_hash::FxHashSet;
use std::cell::{Cell, OnceCell, RefCell};

/// Number of translations that the TLB of a space holds.
pub(super) const TLB_ENTRIES: usize = 512;

/// Number of entries of the global table: they map 4 GiB and take 8 MiB (gen8_facts 1.1).
pub const GLOBAL_ENTRIES: u64 = 1 << 20;

/// Memory within this distance, in bytes, is near an address.
const NEAR: u64 = 16 << 20;

/// A remembered translation of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cached {
    /// The number of the page, or `u64::MAX` if the TLB entry is empty.
    pub(super) page: u64,
    pub(super) slot: Slot,
    /// Number of the frame's record in an [overlay](super::overlay); 0 without an overlay.
    pub(super) record: u32,
    /// The level that forbids writing, or 0.
    pub(super) read_only: u8,
}

pub(super) const NOTHING: Cached =
    Cached { page: u64::MAX, slot: Slot::NOWHERE, record: 0, read_only: 0 };

/// The root of page walks.
#[derive(Clone, Debug)]
enum Root {
    Four(u64),
    Three([u64; 4]),
    /// The entries, up to the highest one that was written.
    Global(Vec<u64>),
}

/// The memory to which an address is mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Physical address of the byte.
    pub physical: u64,
    /// Size of the mapped page in bytes: 4 KiB, 64 KiB or 2 MiB.
    pub page: u64,
    /// The level whose entry forbids writing, the highest such level; `None` if writing is allowed.
    pub read_only: Option<u8>,
    /// Index into the private PAT: how hardware would cache the page. The model has no caches.
    pub attributes: u8,
}

/// An entry that the global table does not have.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the global table has no entry {0:#x}: it has {GLOBAL_ENTRIES:#x} entries")]
pub struct NoGlobalEntry(pub u64);

genxml_core::debug_as_display!(NoGlobalEntry);

/// An address space.
///
/// A space remembers up to 512 translations, as a TLB does. A write to a page table in memory does
/// not change remembered translations: the new entry takes effect if its page is not remembered, or
/// after [`forget`](Self::forget), which is what a TLB invalidation does. [`map`](Self::map),
/// [`unmap`](Self::unmap) and [`write_global_entry`](Self::write_global_entry) drop the
/// translations that they change.
#[derive(Clone, Debug)]
pub struct AddressSpace {
    root: Root,
    /// Tables that this space allocated; [`destroy`](Self::destroy) frees them.
    owned: Vec<Frames>,
    /// Remembered translations; allocated when the first one is added.
    tlb: OnceCell<Box<Tlb>>,
    /// Frames of the tables that remembered translations came from, and possibly of others.
    walked: RefCell<FxHashSet<u64>>,
    #[cfg(feature = "fast")]
    host: Host,
}

type Tlb = [Cell<Cached>; TLB_ENTRIES];

/// The index in the TLB for the page of `address`.
#[inline(always)]
pub(super) fn place(address: u64) -> usize {
    // Buffers are often multiples of 2 MiB apart, so the upper bits of the page number are mixed
    // in.
    let page = (address & ADDRESS_MASK) / PAGE;
    (page ^ (page / TLB_ENTRIES as u64)) as usize % TLB_ENTRIES
}

/// The pages that machine code may access. A clone has none.
#[cfg(feature = "fast")]
#[derive(Debug, Default)]
struct Host(OnceCell<Box<HostPages>>);

#[cfg(feature = "fast")]
impl Clone for Host {
    fn clone(&self) -> Host {
        Host::default()
    }
}

impl AddressSpace {
    fn with(root: Root) -> Self {
        AddressSpace {
            root,
            owned: Vec::new(),
            tlb: OnceCell::new(),
            walked: RefCell::default(),
            #[cfg(feature = "fast")]
            host: Host::default(),
        }
    }

    /// An empty space of four levels, 48 bits. Its tables lie in `mem`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the root table does not fit.
    pub fn new(mem: &mut Memory) -> Result<Self, OutOfMemory> {
        let root = mem.alloc(1)?;
        let space = Self::with_root4(root.address());
        Ok(AddressSpace { owned: vec![root], ..space })
    }

    /// An empty space of three levels, 32 bits. Its tables lie in `mem`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the page directories do not fit.
    pub fn new3(mem: &mut Memory) -> Result<Self, OutOfMemory> {
        let roots = mem.alloc(4)?;
        let space = Self::with_roots3([0, 1, 2, 3].map(|n| roots.address() + n * PAGE));
        Ok(AddressSpace { owned: vec![roots], ..space })
    }

    /// The space of four levels whose root table is at physical address `pml4`, the value of PDP0.
    /// Bits 11:0 are ignored.
    pub fn with_root4(pml4: u64) -> Self {
        Self::with(Root::Four(pml4 & !(PAGE - 1)))
    }

    /// The space of three levels with page directories at these physical addresses, the values of
    /// PDP0 to PDP3. Bits 11:0 are ignored.
    pub fn with_roots3(directories: [u64; 4]) -> Self {
        Self::with(Root::Three(directories.map(|directory| directory & !(PAGE - 1))))
    }

    /// A global table without entries.
    pub fn global() -> Self {
        Self::with(Root::Global(Vec::new()))
    }

    /// The kind of tables that the space has.
    pub fn tables(&self) -> Tables {
        match self.root {
            Root::Four(_) => Tables::FourLevels,
            Root::Three(_) => Tables::ThreeLevels,
            Root::Global(_) => Tables::Global,
        }
    }

    /// Physical address of the root table, the value of PDP0; 0 for the global table.
    pub fn root(&self) -> u64 {
        self.roots()[0]
    }

    /// The values of PDP0 to PDP3; 0 for registers that the kind of tables does not use.
    pub fn roots(&self) -> [u64; 4] {
        match self.root {
            Root::Four(root) => [root, 0, 0, 0],
            Root::Three(directories) => directories,
            Root::Global(_) => [0; 4],
        }
    }

    /// Writes entry `index` of the global table, as a write to the upper half of the GPU's register
    /// space does.
    ///
    /// # Errors
    /// [`NoGlobalEntry`] if there is no such entry, or if this is not the global table.
    pub fn write_global_entry(&mut self, index: u64, bits: u64) -> Result<(), NoGlobalEntry> {
        let Root::Global(entries) = &mut self.root else { return Err(NoGlobalEntry(index)) };
        if index >= GLOBAL_ENTRIES {
            return Err(NoGlobalEntry(index));
        }
        let at = index as usize;
        if at >= entries.len() {
            entries.resize(at + 1, 0);
        }
        entries[at] = bits;
        self.forget_page(index * PAGE);
        Ok(())
    }

    /// Entry `index` of the global table; 0 if it was not written or this is not the global table.
    pub fn global_entry(&self, index: u64) -> u64 {
        match &self.root {
            Root::Global(entries) => entries.get(index as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Maps `frames` from `address` (a multiple of 4 KiB) on, and replaces existing mappings.
    /// Addresses are truncated to the bits that the space has. The global table has no read-only
    /// pages: `writable` is ignored there.
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for a page table.
    pub fn map(
        &mut self,
        mem: &mut Memory,
        address: u64,
        frames: Frames,
        writable: bool,
    ) -> Result<(), OutOfMemory> {
        let mut table = 0;
        for index in 0..frames.count {
            let va = address.wrapping_add(index * PAGE) & self.mask();
            let page = frames.address() + index * PAGE;
            if let Root::Global(_) = self.root {
                // This cannot fail: the address was truncated to the size of the table.
                let _ = self.write_global_entry(va / PAGE, Entry::pack_global(page));
                continue;
            }
            if index == 0 || entry_offset(va, 1) == 0 {
                table = self.make_table(mem, va)?;
            }
            mem.write_u64(table + entry_offset(va, 1), Entry::pack(1, page, writable));
            self.forget_page(va);
        }
        Ok(())
    }

    /// Unmaps `pages` pages from `address` on. Pages that are not mapped are skipped. Page tables
    /// are not freed. A page of 2 MiB is unmapped as a whole.
    pub fn unmap(&mut self, mem: &mut Memory, address: u64, pages: u64) {
        for index in 0..pages {
            let va = address.wrapping_add(index * PAGE) & self.mask();
            if let Root::Global(entries) = &mut self.root {
                if let Some(entry) = entries.get_mut((va / PAGE) as usize) {
                    *entry = 0;
                }
            } else if let Some((at, level)) = self.find_leaf(mem, va) {
                mem.write_u64(at, 0);
                if level > 1 {
                    self.forget_range(va & !(span(level) - 1), span(level));
                }
            }
            self.forget_page(va);
        }
    }

    /// Forgets all remembered translations.
    pub fn forget(&mut self) {
        for place in self.tlb.get().into_iter().flat_map(|tlb| tlb.iter()) {
            place.set(NOTHING);
        }
        self.walked.get_mut().clear();
        #[cfg(feature = "fast")]
        if let Some(host) = self.host.0.get() {
            host.clear();
        }
    }

    /// Forgets remembered translations of `bytes` bytes from `address` on.
    pub fn forget_range(&mut self, address: u64, bytes: u64) {
        let first = (address & ADDRESS_MASK) / PAGE;
        let last = (address & ADDRESS_MASK).saturating_add(bytes.saturating_sub(1)) / PAGE;
        let Some(tlb) = self.tlb.get() else { return };
        for (index, place) in tlb.iter().enumerate() {
            if bytes > 0 && (first..=last).contains(&place.get().page) {
                self.replace(index, NOTHING);
            }
        }
    }

    /// Frees the tables that the space allocated.
    pub fn destroy(self, mem: &mut Memory) {
        for table in self.owned {
            mem.free(table);
        }
    }

    /// The physical address of the byte at `address`. Walks the tables and ignores remembered
    /// translations.
    ///
    /// # Errors
    /// [`PageFault`] with the level whose entry stopped the walk.
    pub fn translate(&self, mem: &Memory, address: u64, write: bool) -> Result<u64, PageFault> {
        let mapping = self.mapping(mem, address).map_err(|fault| PageFault { write, ..fault })?;
        match mapping.read_only {
            Some(level) if write => Err(self.fault(address, write, Cause::ReadOnly(level))),
            _ => Ok(mapping.physical),
        }
    }

    /// The mapping of `address`. Walks the tables and ignores remembered translations.
    ///
    /// # Errors
    /// [`PageFault`] with the level whose entry stopped the walk.
    pub fn mapping(&self, mem: &Memory, address: u64) -> Result<Mapping, PageFault> {
        self.walk(address & ADDRESS_MASK, |at| mem.read_u64(at))
            .map_err(|cause| self.fault(address, false, cause))
    }

    /// The memory mapped within 16 MiB of `address`, which is not mapped itself.
    pub fn nearby(&self, mem: &Memory, address: u64) -> Nearby {
        let address = address & ADDRESS_MASK;
        // Finds the first mapped page in one direction; steps over ranges that are not mapped.
        let search = |step: fn(u64, u64) -> Option<u64>| {
            let mut at = address & !(PAGE - 1);
            while at.abs_diff(address) <= NEAR && at <= ADDRESS_MASK {
                let skip = match self.walk(at, |at| mem.read_u64(at)) {
                    Ok(_) => return Some(at),
                    Err(Cause::NotPresent(level) | Cause::BadFrame(level)) if level <= 4 => {
                        span(level)
                    }
                    Err(Cause::Outside) => PAGE,
                    Err(_) => return None,
                };
                at = step(at, skip)?;
            }
            None
        };
        Nearby {
            address,
            below: search(|at, skip| (at & !(skip - 1)).checked_sub(PAGE)).map(|page| page + PAGE),
            above: search(|at, skip| (at | (skip - 1)).checked_add(1)),
        }
    }

    /// A space with the same tables that remembers no translations and owns no tables.
    pub(crate) fn fork(&self) -> AddressSpace {
        Self::with(self.root.clone())
    }

    /// Makes `fork` equal to a new [`fork`](Self::fork), and reuses its memory.
    pub(crate) fn fork_into(&self, fork: &mut AddressSpace) {
        fork.root.clone_from(&self.root);
        fork.forget();
    }

    /// The remembered translation for the page of `address`. `None` if no translation is
    /// remembered, or if `write` is requested and the translation forbids writing.
    #[inline(always)]
    pub(super) fn remembered(&self, address: u64, write: bool) -> Option<Cached> {
        let cached = self.tlb.get()?[place(address)].get();
        let hit = cached.page == address << 16 >> 28 && (!write || cached.read_only == 0);
        hit.then_some(cached)
    }

    /// Remembers a translation.
    pub(super) fn remember(&self, cached: Cached) {
        self.tlb.get_or_init(|| Box::new([const { Cell::new(NOTHING) }; TLB_ENTRIES]));
        self.replace(place(cached.page * PAGE), cached);
    }

    /// The entries of the TLB, in the order of their [index](place). Includes entries without a
    /// translation. Returns no entries if the TLB is not allocated yet.
    pub(super) fn entries(&self) -> impl Iterator<Item = Cached> {
        self.tlb.get().into_iter().flat_map(|tlb| tlb.iter()).map(Cell::get)
    }

    /// All remembered translations.
    pub(super) fn all_remembered(&self) -> impl Iterator<Item = Cached> {
        self.entries().filter(|cached| cached.page != NOTHING.page)
    }

    /// Notes the frame of a table that a remembered translation came from.
    pub(super) fn add_table(&self, frame: u64) {
        self.walked.borrow_mut().insert(frame);
    }

    /// Calls `each` for the frame of each table that a remembered translation came from, and
    /// possibly for other tables.
    pub(super) fn each_table(&self, each: impl FnMut(u64)) {
        self.walked.borrow().iter().copied().for_each(each);
    }

    /// The slot of the page of `address`, for reading.
    #[inline(always)]
    pub(super) fn read(&self, mem: &Memory, address: u64) -> Result<Slot, PageFault> {
        match self.remembered(address, false) {
            Some(cached) => Ok(cached.slot),
            None => self.fill(mem, address & ADDRESS_MASK, false),
        }
    }

    /// The slot of the page of `address`, for writing.
    #[inline(always)]
    pub(super) fn write(&self, mem: &mut Memory, address: u64) -> Result<Slot, PageFault> {
        match self.remembered(address, true) {
            Some(cached) => Ok(cached.slot),
            None => self.fill_for_write(mem, address & ADDRESS_MASK),
        }
    }

    /// Checks that the byte at `address` can be read, or written if `write`.
    pub(super) fn probe(&self, mem: &Memory, address: u64, write: bool) -> Result<(), PageFault> {
        match self.remembered(address, write) {
            Some(_) => Ok(()),
            None => self.fill(mem, address & ADDRESS_MASK, write).map(|_| ()),
        }
    }

    /// Replaces an entry of the TLB, if there is a TLB. Machine code may no longer access the page
    /// of the old entry.
    fn replace(&self, index: usize, cached: Cached) {
        if let Some(tlb) = self.tlb.get() {
            tlb[index].set(cached);
        }
        #[cfg(feature = "fast")]
        if let Some(host) = self.host.0.get() {
            host.remove(index);
        }
    }

    /// Removes all pages that machine code may read.
    #[cfg(feature = "fast")]
    pub(super) fn forget_reads(&self) {
        if let Some(host) = self.host.0.get() {
            host.remove_reads();
        }
    }

    /// The pages that machine code may access.
    #[cfg(feature = "fast")]
    #[inline]
    pub(super) fn host_pages(&self) -> &HostPages {
        const { assert!(TLB_ENTRIES == genxml_jit::PAGES, "the TLB has as many entries") };
        self.host.0.get_or_init(HostPages::new)
    }

    /// Forgets the translation that occupies the TLB entry for the page of `address`.
    fn forget_page(&self, address: u64) {
        self.replace(place(address), NOTHING);
    }

    #[cold]
    fn fill(&self, mem: &Memory, address: u64, write: bool) -> Result<Slot, PageFault> {
        let fault = |cause| self.fault(address, write, cause);
        let found = self.look_up(mem, address, |at| {
            self.add_table(at / PAGE);
            mem.read_u64(at)
        });
        let (cached, _) = found.map_err(fault)?;
        // Do not remember an untouched frame: it may be allocated later, and the TLB would keep the
        // old slot.
        if cached.slot != Slot::UNTOUCHED {
            self.remember(cached);
        }
        match cached.read_only {
            level if write && level != 0 => Err(fault(Cause::ReadOnly(level))),
            _ => Ok(cached.slot),
        }
    }

    #[cold]
    fn fill_for_write(&self, mem: &mut Memory, address: u64) -> Result<Slot, PageFault> {
        let slot = self.fill(mem, address, true)?;
        if slot != Slot::UNTOUCHED {
            return Ok(slot);
        }
        let mapping = self.mapping(mem, address)?;
        let bad = || self.fault(address, true, Cause::BadFrame(level_of(mapping.page)));
        mem.touch(mapping.physical / PAGE).ok_or_else(bad)?;
        self.fill(mem, address, true)
    }

    #[cold]
    pub(super) fn fault(&self, address: u64, write: bool, cause: Cause) -> PageFault {
        PageFault { address: address & ADDRESS_MASK, write, tables: self.tables(), cause }
    }

    /// Mask of the address bits that the space has.
    fn mask(&self) -> u64 {
        match self.root {
            Root::Four(_) => ADDRESS_MASK,
            Root::Three(_) | Root::Global(_) => u32::MAX.into(),
        }
    }

    /// Physical address and level of the table where the walk to `address` begins.
    fn start(&self, address: u64) -> Result<(u64, u8), Cause> {
        match self.root {
            Root::Four(root) => Ok((root, 4)),
            _ if address > self.mask() => Err(Cause::Outside),
            Root::Three(directories) => Ok((directories[(address >> 30) as usize], 2)),
            Root::Global(_) => Ok((0, 1)),
        }
    }

    /// Walks the tables for `address` (48 bits). `read` returns the entry at a physical address, or
    /// `None` if no memory is there.
    #[inline]
    pub(super) fn walk(
        &self,
        address: u64,
        mut read: impl FnMut(u64) -> Option<u64>,
    ) -> Result<Mapping, Cause> {
        let (mut table, top) = self.start(address)?;
        if let Root::Global(_) = self.root {
            let entry = Entry::unpack_global(self.global_entry(address / PAGE));
            let physical = entry.address + address % PAGE;
            let mapping = Mapping { physical, page: PAGE, read_only: None, attributes: 0 };
            return if entry.present { Ok(mapping) } else { Err(Cause::NotPresent(1)) };
        }
        let (mut read_only, mut coarse) = (None, false);
        for level in (1..=top).rev() {
            let mut offset = entry_offset(address, level);
            let mut page = span(level);
            if coarse {
                // In a table of 64 KiB pages, only the first of each sixteen entries is used.
                offset &= !(16 * 8 - 1);
                page *= 16;
            }
            let entry =
                Entry::unpack(level, read(table + offset).ok_or(Cause::BadFrame(level + 1))?);
            if !entry.present {
                return Err(Cause::NotPresent(level));
            }
            if !entry.writable {
                read_only = read_only.or(Some(level));
            }
            if entry.leaf {
                let physical = (entry.address & !(page - 1)) + (address & (page - 1));
                return Ok(Mapping { physical, page, read_only, attributes: entry.attributes });
            }
            (table, coarse) = (entry.address, entry.coarse);
        }
        Err(Cause::NotPresent(1))
    }

    /// The translation of `address` (48 bits) from the tables, with record 0, and the frame that it
    /// leads to. `read` is that of [`walk`](Self::walk).
    pub(super) fn look_up(
        &self,
        mem: &Memory,
        address: u64,
        read: impl FnMut(u64) -> Option<u64>,
    ) -> Result<(Cached, u64), Cause> {
        let mapping = self.walk(address, read)?;
        let frame = mapping.physical / PAGE;
        let slot = mem.slot(frame).ok_or(Cause::BadFrame(level_of(mapping.page)))?;
        let read_only = mapping.read_only.unwrap_or(0);
        Ok((Cached { page: address / PAGE, slot, record: 0, read_only }, frame))
    }

    /// Physical address and level of the entry that maps `address`, if one does.
    fn find_leaf(&self, mem: &Memory, address: u64) -> Option<(u64, u8)> {
        let mut last = 0;
        let mapping = self.walk(address, |at| {
            last = at;
            mem.read_u64(at)
        });
        Some((last, level_of(mapping.ok()?.page)))
    }

    /// Physical address of the page table for `address`. Allocates missing tables and splits a
    /// large page that contains `address`.
    fn make_table(&mut self, mem: &mut Memory, address: u64) -> Result<u64, OutOfMemory> {
        let Ok((mut table, top)) = self.start(address) else { return Ok(0) };
        for level in (2..=top).rev() {
            let at = table + entry_offset(address, level);
            let bits = mem.read_u64(at).unwrap_or(0);
            let entry = Entry::unpack(level, bits);
            table = if entry.present && !entry.leaf {
                entry.address
            } else {
                let frames = mem.alloc(1)?;
                self.owned.push(frames);
                if entry.present {
                    for (index, bits) in Entry::split(bits).enumerate() {
                        mem.write_u64(frames.address() + 8 * index as u64, bits);
                    }
                }
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

/// The level of an entry that maps `page` bytes.
pub(super) const fn level_of(page: u64) -> u8 {
    if page >= span(2) { 2 } else { 1 }
}

/// Byte offset of the entry for `address` in a table of `level`.
const fn entry_offset(address: u64, level: u8) -> u64 {
    address / span(level) % 512 * 8
}
