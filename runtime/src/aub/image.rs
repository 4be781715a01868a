//! Memory at a point of a file: the physical pages written so far, and the global page table.

use super::tables::{
    self, ENTRIES, FRAME_BITS, INDEX_BITS, LOCAL, LOCAL_GLOBAL, Leads, PAGE, PAGE_SHIFT,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Largest number of bytes of physical memory that are stored for a file. When it is reached,
/// writes to pages that are not stored yet are left out, with a note.
pub const MAX_MEMORY: u64 = 4 << 30;

/// Number of entries of the global page table, which maps 4 GiB (gen8_facts 1.1).
const MAX_GLOBAL: u64 = 1 << 20;

/// First frame number of private frames. They hold pages of the global space that were written
/// without an entry in the global table.
const PRIVATE: u64 = 1 << FRAME_BITS;

/// Number of pages in the global space: addresses have 48 bits.
const MAX_PRIVATE: u64 = 1 << FRAME_BITS;

/// Largest number of tables visited to list the mapped pages of a context. A page table maps 2 MiB,
/// so this many map 128 GiB, far more than is stored. Usually only tables that form a cycle reach
/// the limit.
const MAX_TABLES: u32 = 1 << 16;

/// Largest number of listed pages: as many as can be stored for a file.
const MAX_PAGES: usize = (MAX_MEMORY / PAGE) as usize;

/// How addresses are translated to physical ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Translation {
    /// Through the global page table (GGTT).
    Global,
    /// Through four levels of tables; the physical address of the root.
    Four(u64),
    /// Through two levels of tables; the physical addresses of four page directories, one for each
    /// gigabyte.
    Two([u64; 4]),
}

/// Ranges of bytes in a page, ascending and not adjacent.
type Ranges = Vec<(u16, u16)>;

/// Memory and the global table. Memory use grows with the number of different pages that are
/// written.
#[derive(Debug, Default)]
pub struct Image {
    /// The pages, in the order of their first write. So pages that were first written one after the
    /// other are contiguous.
    bytes: Vec<u8>,
    /// For each frame, the index of its page in `bytes`, counted in pages.
    slots: HashMap<u64, u32>,
    /// Entries of the global table by number.
    global: BTreeMap<u64, u64>,
    /// True if local memory was written: the GPU has local memory. Page table entries then say in
    /// which memory a page is; tables are in local memory if it has the page.
    local: bool,
    /// Frames of local memory (from `LOCAL` on) that entries of the global table map.
    global_local: HashSet<u64>,
    /// Address of the first page of local memory that is written both for contexts and for the
    /// global table.
    both: Option<u64>,
    /// If writes are tracked: the ranges written to each frame since the last
    /// [`take_written`](Self::take_written).
    written: Option<BTreeMap<u64, Ranges>>,
}

impl Image {
    /// An empty image that tracks writes; see [`take_written`](Self::take_written).
    pub fn tracking() -> Self {
        Image { written: Some(BTreeMap::new()), ..Image::default() }
    }

    /// Number of stored bytes.
    pub fn kept(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Writes physical memory, up to the first page that does not fit or has no valid address.
    /// Returns the number of bytes that were not written.
    pub fn write_physical(&mut self, address: u64, bytes: &[u8]) -> u64 {
        self.write_frames(0, address, bytes)
    }

    /// Writes local memory, as [`write_physical`](Self::write_physical). From then on, the GPU has
    /// local memory. `mapped` is true if the block before is the entry of a page table that maps
    /// the page.
    ///
    /// The writer of Intel's compute-runtime 22.43 allocates pages for the global table and pages
    /// for contexts from two allocators that begin at the same address
    /// (PhysicalAddressAllocatorHw), and writes both to local memory. It writes the entry before
    /// each page of a context. So a page that the global table maps is written to a frame of its
    /// own, unless its entry comes before it.
    pub fn write_local(&mut self, address: u64, bytes: &[u8], mapped: bool) -> u64 {
        self.local = true;
        let frame = LOCAL + (address >> PAGE_SHIFT);
        let is_global = !mapped && self.global_local.contains(&frame);
        let (memory, other) = if is_global { (LOCAL_GLOBAL, LOCAL) } else { (LOCAL, LOCAL_GLOBAL) };
        if self.both.is_none() && self.slots.contains_key(&(frame - LOCAL + other)) {
            self.both = Some(address);
        }
        self.write_frames(memory, address, bytes)
    }

    /// The first address of local memory that the file writes for the global table and for a
    /// context, which are kept apart.
    pub fn local_for_both(&self) -> Option<u64> {
        self.both
    }

    /// The frame that holds a page. A page of local memory has two frames: one for contexts, one
    /// for the global table. If only one of them was written, it is that one.
    fn stored(&self, frame: u64) -> u64 {
        let other = match frame {
            LOCAL_GLOBAL.. => frame - LOCAL_GLOBAL + LOCAL,
            LOCAL.. => frame - LOCAL + LOCAL_GLOBAL,
            _ => return frame,
        };
        let is_other = !self.slots.contains_key(&frame) && self.slots.contains_key(&other);
        if is_other { other } else { frame }
    }

    /// Writes the memory whose frames begin at number `memory`.
    fn write_frames(&mut self, memory: u64, address: u64, bytes: &[u8]) -> u64 {
        let mut done = 0;
        while done < bytes.len() {
            let Some(at) = address.checked_add(done as u64).filter(|at| at >> PAGE_SHIFT < PRIVATE)
            else {
                break;
            };
            let here = ((PAGE - at % PAGE) as usize).min(bytes.len() - done);
            let frame = memory + (at >> PAGE_SHIFT);
            if !self.write_frame(frame, (at % PAGE) as usize, &bytes[done..done + here]) {
                break;
            }
            done += here;
        }
        (bytes.len() - done) as u64
    }

    /// Writes memory through the global table, up to the first page that does not fit or has no
    /// valid address. Returns the number of bytes that were not written. A page without an entry,
    /// which classic files may have, is stored too.
    pub fn write_global(&mut self, address: u64, bytes: &[u8]) -> u64 {
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let page = at >> PAGE_SHIFT;
            if page >= MAX_PRIVATE {
                break;
            }
            let frame = self.global_frame(page).unwrap_or(PRIVATE + page);
            let here = ((PAGE - at % PAGE) as usize).min(bytes.len() - done);
            if !self.write_frame(frame, (at % PAGE) as usize, &bytes[done..done + here]) {
                break;
            }
            done += here;
        }
        (bytes.len() - done) as u64
    }

    /// True if the global table has a present entry for every page of the range.
    pub fn has_global(&self, address: u64, bytes: u64) -> bool {
        let last = address.saturating_add(bytes.saturating_sub(1)) >> PAGE_SHIFT;
        (address >> PAGE_SHIFT..=last).all(|page| self.global_frame(page).is_some())
    }

    /// Writes entries of the global table from number `first` on. Returns the number of entries
    /// that did not fit.
    pub fn write_entries(&mut self, first: u64, entries: &[u64]) -> u64 {
        let room = MAX_GLOBAL.saturating_sub(first).min(entries.len() as u64) as usize;
        for (number, &bits) in (first..).zip(&entries[..room]) {
            if bits == 0 {
                self.global.remove(&number);
            } else {
                self.global.insert(number, bits);
                self.global_local
                    .extend(tables::global_entry(bits, true).filter(|frame| *frame >= LOCAL));
            }
        }
        (entries.len() - room) as u64
    }

    fn global_frame(&self, page: u64) -> Option<u64> {
        self.global.get(&page).and_then(|bits| self.global_target(*bits))
    }

    /// The frame of an entry of the global table.
    fn global_target(&self, bits: u64) -> Option<u64> {
        let frame = tables::global_entry(bits, self.local)?;
        Some(self.stored(if frame < LOCAL { frame } else { frame - LOCAL + LOCAL_GLOBAL }))
    }

    /// Writes into one frame; false if the frame is not stored yet and the memory is full.
    fn write_frame(&mut self, frame: u64, offset: usize, bytes: &[u8]) -> bool {
        let slot = match self.slots.get(&frame) {
            Some(&slot) => slot,
            None if self.kept() >= MAX_MEMORY => return false,
            None => {
                let slot = (self.kept() / PAGE) as u32;
                self.bytes.resize(self.bytes.len() + PAGE as usize, 0);
                self.slots.insert(frame, slot);
                slot
            }
        };
        let start = slot as usize * PAGE as usize + offset;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        if let Some(written) = &mut self.written {
            add_range(
                written.entry(frame).or_default(),
                offset as u16,
                (offset + bytes.len()) as u16,
            );
        }
        true
    }

    /// The ranges written to a frame since the last call for this frame. Empty if the image does
    /// not track writes.
    pub fn take_written(&mut self, frame: u64) -> Vec<(u16, u16)> {
        self.written.as_mut().and_then(|written| written.remove(&frame)).unwrap_or_default()
    }

    /// The 4096 bytes of a frame, if it was written.
    pub fn frame(&self, frame: u64) -> Option<&[u8]> {
        let slot = *self.slots.get(&frame)?;
        Some(self.run(slot, 1))
    }

    /// The index in `bytes` of a frame's page.
    pub(super) fn slot(&self, frame: u64) -> Option<u32> {
        self.slots.get(&frame).copied()
    }

    /// The bytes of `pages` consecutive stored pages, from index `slot` on.
    pub(super) fn run(&self, slot: u32, pages: u64) -> &[u8] {
        let start = slot as usize * PAGE as usize;
        &self.bytes[start..start + (pages * PAGE) as usize]
    }

    /// The bytes of the table in frame `table`, of local memory if it has this frame; `None` if
    /// nothing wrote the frame.
    fn table(&self, table: u64) -> Option<&[u8]> {
        let local = self.local.then(|| self.frame(self.stored(LOCAL + table))).flatten();
        local.or_else(|| self.frame(table))
    }

    /// Entry `index` of the table in frame `table`; 0 if nothing wrote the frame.
    fn entry(&self, table: u64, index: u64) -> u64 {
        let Some(bytes) = self.table(table) else { return 0 };
        bytes[8 * index as usize..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// The page table for the 2 MiB that contain `page`, or the page of 2 MiB itself. `None` if
    /// neither is mapped, and for `Translation::Global`.
    pub(super) fn directory(&self, translation: &Translation, page: u64) -> Option<Leads> {
        let (root, level) = match *translation {
            Translation::Global => return None,
            Translation::Four(root) => (root, 4),
            Translation::Two(roots) => (*roots.get((page >> (2 * INDEX_BITS)) as usize)?, 2),
        };
        let mut table = root >> PAGE_SHIFT;
        for level in (2..=level).rev() {
            let index = page >> (INDEX_BITS * (level - 1)) & (ENTRIES - 1);
            match tables::entry(level, self.entry(table, index), self.local)? {
                Leads::Table(next) => table = next,
                large => return Some(large),
            }
        }
        Some(Leads::Table(table))
    }

    /// The frame of a page, given the result of [`directory`](Self::directory) for its 2 MiB.
    pub(super) fn leaf(&self, directory: Leads, page: u64) -> Option<u64> {
        let index = page & (ENTRIES - 1);
        match directory {
            Leads::Large(first) => Some(self.stored(first + index)),
            Leads::Page(frame) => Some(self.stored(frame)),
            Leads::Table(table) => match tables::entry(1, self.entry(table, index), self.local)? {
                Leads::Page(frame) => Some(self.stored(frame)),
                _ => None,
            },
        }
    }

    /// The frame of a page of the global space, private frames included.
    pub(super) fn global_page(&self, page: u64) -> Option<u64> {
        self.global_frame(page)
            .or_else(|| Some(PRIVATE + page).filter(|frame| self.slots.contains_key(frame)))
    }

    /// Returns every mapped page with its frame, in order of the pages. The second value is false
    /// if the list is incomplete; see `mapped`.
    pub fn pages(&self, translation: &Translation) -> (Vec<(u64, u64)>, bool) {
        if *translation != Translation::Global {
            let (mut pages, whole) = walk(translation, self.local, &mut |frame, out| {
                self.table(frame).map(|bytes| out.copy_from_slice(bytes)).is_some()
            });
            pages.iter_mut().for_each(|(_, frame)| *frame = self.stored(*frame));
            return (pages, whole);
        }
        let entries = self.global.iter();
        let mut found: Vec<(u64, u64)> =
            entries.filter_map(|(&page, &bits)| Some((page, self.global_target(bits)?))).collect();
        found.extend(self.slots.keys().filter_map(|&frame| {
            let page = frame.checked_sub(PRIVATE).filter(|page| *page < MAX_PRIVATE)?;
            self.global_frame(page).is_none().then_some((page, frame))
        }));
        found.sort_unstable();
        (found, true)
    }
}

/// Returns every page that the page tables of a context map, in order, each with the number of its
/// physical page; nothing for `Translation::Global`. The second value is false if the list is
/// incomplete, because there are more pages than can be stored for a file, or too many tables, for
/// example in a cycle. `read` copies the 4096 bytes of a physical page and returns true, or returns
/// false if the page does not exist.
pub fn mapped(
    translation: &Translation,
    read: &mut dyn FnMut(u64, &mut [u8]) -> bool,
) -> (Vec<(u64, u64)>, bool) {
    walk(translation, false, read)
}

/// [`mapped`]; `local` is true on a GPU with local memory.
fn walk(
    translation: &Translation,
    local: bool,
    read: &mut dyn FnMut(u64, &mut [u8]) -> bool,
) -> (Vec<(u64, u64)>, bool) {
    let mut walk = Walk { read, local, budget: MAX_TABLES, found: Vec::new() };
    let whole = match *translation {
        Translation::Global => true,
        Translation::Four(root) => walk.table(root >> PAGE_SHIFT, 4, 0),
        Translation::Two(roots) => (0..)
            .zip(roots)
            .all(|(index, root)| walk.table(root >> PAGE_SHIFT, 2, index << (2 * INDEX_BITS))),
    };
    (walk.found, whole)
}

/// A walk over all tables.
struct Walk<'a> {
    read: &'a mut dyn FnMut(u64, &mut [u8]) -> bool,
    /// True on a GPU with local memory.
    local: bool,
    /// Number of tables that may still be visited.
    budget: u32,
    found: Vec<(u64, u64)>,
}

impl Walk<'_> {
    /// Adds the pages that a table of `level` maps, from page `first` on; false if there are too
    /// many pages or tables.
    fn table(&mut self, frame: u64, level: u32, first: u64) -> bool {
        let mut bytes = [0; PAGE as usize];
        if !(self.read)(frame, &mut bytes) {
            return true;
        }
        if self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        for (index, bits) in (0..).zip(bytes.as_chunks().0) {
            let page = first + (index << (INDEX_BITS * (level - 1)));
            match tables::entry(level, u64::from_le_bytes(*bits), self.local) {
                None => continue,
                Some(Leads::Page(frame)) => self.found.push((page, frame)),
                Some(Leads::Large(frame)) => {
                    self.found.extend((0..ENTRIES).map(|next| (page + next, frame + next)));
                }
                Some(Leads::Table(next)) if !self.table(next, level - 1, page) => return false,
                Some(Leads::Table(_)) => {}
            }
            if self.found.len() > MAX_PAGES {
                return false;
            }
        }
        true
    }
}

/// Adds a range. Ranges that overlap or touch it are joined with it.
fn add_range(ranges: &mut Ranges, mut start: u16, mut end: u16) {
    let first = ranges.partition_point(|range| range.1 < start);
    let last = ranges.partition_point(|range| range.0 <= end);
    if let Some(touched) = ranges.get(first..last).filter(|touched| !touched.is_empty()) {
        start = start.min(touched[0].0);
        end = end.max(touched[touched.len() - 1].1);
    }
    ranges.splice(first..last, [(start, end)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Oracle: an array with a flag for each byte.
        #[test]
        fn ranges_are_joined(writes in prop::collection::vec((0u16..200, 1u16..40), 0..40)) {
            let mut ranges = Vec::new();
            let mut bits = [false; 256];
            for (start, length) in writes {
                add_range(&mut ranges, start, start + length);
                bits[start as usize..(start + length) as usize].fill(true);
            }
            let mut expected = Vec::new();
            let mut at = 0;
            while at < 256 {
                let end = (at..256).find(|&index| bits[index] != bits[at]).unwrap_or(256);
                if bits[at] {
                    expected.push((at as u16, end as u16));
                }
                at = end;
            }
            prop_assert_eq!(ranges, expected);
        }
    }
}
