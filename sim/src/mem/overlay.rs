//! Memory as one part of a walker or draw sees it that runs beside others: shared memory that does
//! not change, and over it what the part itself has written.
//!
//! Which bytes were read from memory and which were written is recorded, page by page, so that
//! parts can be put together in the order in which they would have run. A part counts if it read
//! nothing that a part before it wrote ([`Written::admits`]); then what it wrote goes to memory
//! ([`Overlay::commit`]), and what it translated to the TLB, so that both are what they would be if
//! it had run there.

use super::fault::{Cause, PageFault};
use super::page::{Page, PageMut};
use super::physical::{Memory, Slot};
use super::space::{AddressSpace, Cached};
use super::{ADDRESS_MASK, PAGE};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A bit for each byte of a page.
type Bits = [u64; PAGE as usize / 64];

const NO_BITS: Bits = [0; PAGE as usize / 64];

/// Pages that an overlay keeps for its next use.
const SPARE: usize = 64;

/// Hashes frame numbers, which nobody chooses to collide: a walker looks up many of them.
#[derive(Clone, Copy, Debug, Default)]
struct FrameHasher(u64);

impl Hasher for FrameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, frame: u64) {
        // The golden ratio spreads neighbours; the upper bits, which are the best ones, go where
        // maps look.
        self.0 = (self.0 ^ frame).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

type FrameMap<T> = HashMap<u64, T, BuildHasherDefault<FrameHasher>>;
type FrameSet = HashSet<u64, BuildHasherDefault<FrameHasher>>;

/// What one part read and wrote. Any number of them may look at the same memory.
#[derive(Debug, Default)]
pub struct Overlay {
    records: RefCell<Vec<Record>>,
    /// Records by frame number.
    index: RefCell<FrameMap<u32>>,
    /// Pages that were written, by record.
    copies: Vec<Option<Box<Copied>>>,
    /// Pages for the next ones, whatever they hold: fresh memory of the host costs more than the
    /// copy.
    spare: Vec<Box<Copied>>,
    /// Something depends on more than memory.
    ordered: Cell<bool>,
}

/// A frame that was used.
#[derive(Debug)]
struct Record {
    frame: u64,
    /// Bytes that were read and that the part had not written itself.
    read: Bits,
    /// It is part of page tables.
    table: bool,
}

/// A page with the part's own writes.
#[derive(Debug, bytemuck::Zeroable)]
#[repr(C)]
struct Copied {
    bytes: Page,
    written: Bits,
}

/// Sets the bits of `length` bytes from `at` on, as far as the page goes, but for those set in
/// `hidden`.
#[inline]
fn mark(bits: &mut Bits, hidden: Option<&Bits>, at: usize, length: usize) {
    let (word, bit) = (at / 64, at % 64);
    if 0 < length && length <= 64 - bit {
        bits[word] |= u64::MAX >> (64 - length) << bit & !hidden.map_or(0, |hidden| hidden[word]);
        return;
    }
    mark_words(bits, hidden, at, length);
}

/// The same for bytes in more than one word.
#[inline(never)]
fn mark_words(bits: &mut Bits, hidden: Option<&Bits>, at: usize, length: usize) {
    let end = at.saturating_add(length).min(PAGE as usize);
    let mut at = at;
    while at < end {
        let (word, bit) = (at / 64, at % 64);
        let count = (64 - bit).min(end - at);
        let ones = u64::MAX >> (64 - count) << bit;
        bits[word] |= ones & !hidden.map_or(0, |hidden| hidden[word]);
        at += count;
    }
}

impl Overlay {
    /// Nothing read, nothing written: ready for another part.
    pub fn clear(&mut self) {
        self.records.get_mut().clear();
        self.index.get_mut().clear();
        self.spare.extend(self.copies.drain(..).flatten());
        self.spare.truncate(SPARE);
        self.ordered.set(false);
    }

    /// Says that what comes now depends on more than memory, so that the part has to run in its
    /// place in the order.
    pub(super) fn keep_order(&self) {
        self.ordered.set(true);
    }

    /// True if something depended on more than memory.
    pub fn ordered(&self) -> bool {
        self.ordered.get()
    }

    /// The page of `address`, of which `length` bytes are read.
    #[inline(always)]
    pub(super) fn read<'m>(
        &'m self,
        mem: &'m Memory,
        space: &AddressSpace,
        address: u64,
        length: usize,
    ) -> Result<&'m Page, PageFault> {
        let cached = match space.remembered(address, false) {
            Some(cached) => cached,
            None => self.fill(mem, space, address & ADDRESS_MASK, false)?,
        };
        let copied = self.copies.get(cached.record as usize).and_then(Option::as_deref);
        let mut records = self.records.borrow_mut();
        let record = &mut records[cached.record as usize];
        mark(
            &mut record.read,
            copied.map(|copied| &copied.written),
            (address % PAGE) as usize,
            length,
        );
        Ok(copied.map_or_else(|| mem.page(cached.slot), |copied| &copied.bytes))
    }

    /// The page of `address`, of which `length` bytes are written.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
        length: usize,
    ) -> Result<PageMut<'_>, PageFault> {
        let cached = match space.remembered(address, true) {
            Some(cached) => cached,
            None => self.fill(mem, space, address & ADDRESS_MASK, true)?,
        };
        let record = cached.record as usize;
        if self.copies.len() <= record {
            self.lengthen(record);
        }
        let spare = &mut self.spare;
        let copied = self.copies[record].get_or_insert_with(|| copy(spare, mem.page(cached.slot)));
        mark(&mut copied.written, None, (address % PAGE) as usize, length);
        Ok(copied.bytes.as_mut())
    }

    #[cold]
    fn lengthen(&mut self, record: usize) {
        self.copies.resize_with(record + 1, || None);
    }

    /// Checks that the byte at `address` can be read, or written.
    pub(super) fn probe(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
        write: bool,
    ) -> Result<(), PageFault> {
        match space.remembered(address, write) {
            Some(_) => Ok(()),
            None => self.fill(mem, space, address & ADDRESS_MASK, write).map(|_| ()),
        }
    }

    #[cold]
    fn fill(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
        write: bool,
    ) -> Result<Cached, PageFault> {
        let fault = |cause| space.fault(address, write, cause);
        let mapping = space.walk(address, |at| self.entry(mem, at)).map_err(fault)?;
        let frame = mapping.physical / PAGE;
        let slot = mem.slot(frame).ok_or_else(|| fault(Cause::BadFrame(1)))?;
        let read_only = mapping.read_only.unwrap_or(0);
        let cached = Cached { page: address / PAGE, slot, record: self.record(frame), read_only };
        space.remember(cached);
        match mapping.read_only {
            Some(level) if write => Err(fault(Cause::ReadOnly(level))),
            _ => Ok(cached),
        }
    }

    /// An entry of a table. Parts that write tables do not count: what they would read does not
    /// matter.
    fn entry(&self, mem: &Memory, at: u64) -> Option<u64> {
        let bits = mem.read_u64(at)?;
        let index = self.record(at / PAGE) as usize;
        let record = &mut self.records.borrow_mut()[index];
        record.table = true;
        mark(&mut record.read, None, (at % PAGE) as usize, 8);
        Some(bits)
    }

    /// The record of a frame, a new one if it was not used before.
    fn record(&self, frame: u64) -> u32 {
        let mut records = self.records.borrow_mut();
        *self.index.borrow_mut().entry(frame).or_insert_with(|| {
            records.push(Record { frame, read: NO_BITS, table: false });
            records.len() as u32 - 1
        })
    }

    /// Records of frames that were written, and what was written.
    fn written<'r>(
        &'r self,
        records: &'r [Record],
    ) -> impl Iterator<Item = (&'r Record, &'r Copied)> {
        records
            .iter()
            .zip(&self.copies)
            .filter_map(|(record, copied)| Some((record, copied.as_deref()?)))
    }

    /// Puts what was written into memory, and the part's translations into `space`. `written` must
    /// have admitted it.
    pub fn commit(
        &self,
        mem: &mut Memory,
        space: &AddressSpace,
        own: &AddressSpace,
        written: &mut Written,
    ) {
        let records = self.records.borrow();
        for (record, copied) in self.written(&records) {
            // There is room: `admits` has looked.
            let Some(slot) = mem.touch(record.frame) else { continue };
            copied.put(&mut mem.page_mut(slot));
            let bits = written.bytes.entry(record.frame).or_insert(NO_BITS);
            bits.iter_mut().zip(&copied.written).for_each(|(bits, new)| *bits |= new);
        }
        written
            .tables
            .extend(records.iter().filter(|record| record.table).map(|record| record.frame));
        for cached in own.all_remembered() {
            // A frame that came into being just now lies elsewhere than when it was looked up.
            match mem.slot(records[cached.record as usize].frame) {
                Some(Slot::UNTOUCHED) | None => {}
                Some(slot) => space.remember(Cached { slot, record: 0, ..cached }),
            }
        }
    }
}

/// A page with the contents of another one and no writes, in the place of a spare one.
#[cold]
#[inline(never)]
fn copy(spare: &mut Vec<Box<Copied>>, page: &Page) -> Box<Copied> {
    // In place: it is too much for a way over the stack.
    let mut copied: Box<Copied> = match spare.pop() {
        Some(mut used) => {
            used.written.fill(0);
            used
        }
        None => bytemuck::zeroed_box(),
    };
    page.read(0, copied.bytes.bytes_mut());
    copied
}

impl Copied {
    /// Copies the bytes that were written.
    fn put(&self, page: &mut PageMut<'_>) {
        for (&bits, at) in self.written.iter().zip((0..).step_by(64)) {
            // A page is as long as the bits say.
            let Some(bytes) = self.bytes.load::<64>(at) else { return };
            match bits {
                0 => {}
                u64::MAX => page.write(at, &bytes),
                _ => (0..64)
                    .filter(|n| bits >> n & 1 == 1)
                    .for_each(|n| page.write(at + n, &bytes[n..=n])),
            }
        }
    }
}

/// What parts that were committed have written, since memory was the one that later parts look at.
#[derive(Debug)]
pub struct Written {
    /// By frame.
    bytes: FrameMap<Bits>,
    /// Frames of page tables that translations came from.
    tables: FrameSet,
}

impl Written {
    /// Nothing yet. None if the TLB of `space` holds what its tables do not say any longer: what a
    /// part reads depends on when that is pushed out, then.
    pub fn new(mem: &Memory, space: &AddressSpace) -> Option<Written> {
        let mut tables = FrameSet::default();
        for cached in space.all_remembered() {
            let walk = space.walk(cached.page * PAGE, |at| {
                tables.insert(at / PAGE);
                mem.read_u64(at)
            });
            let mapping = walk.ok()?;
            let slot = mem.slot(mapping.physical / PAGE)?;
            if slot != cached.slot || mapping.read_only.unwrap_or(0) != cached.read_only {
                return None;
            }
        }
        Some(Written { bytes: FrameMap::default(), tables })
    }

    /// Nothing again: all that was committed is in the memory that later parts look at. The TLB is
    /// still what the tables say if nothing else has written memory, for no part that did otherwise
    /// was admitted.
    pub fn settle(&mut self) {
        self.bytes.clear();
    }

    /// True if a part comes out as if it had run after all that was committed: it read nothing that
    /// was written, and wrote to no page table.
    pub fn admits(&self, mem: &Memory, part: &Overlay) -> bool {
        let records = part.records.borrow();
        let stale = |record: &Record| {
            let written = self.bytes.get(&record.frame);
            written.is_some_and(|written| written.iter().zip(&record.read).any(|(w, r)| w & r != 0))
        };
        let mut new = 0;
        let table = |(record, _): (&Record, _)| {
            new += u64::from(mem.slot(record.frame) == Some(Slot::UNTOUCHED));
            record.table || self.tables.contains(&record.frame)
        };
        !part.ordered.get()
            && !records.iter().any(stale)
            && !part.written(&records).any(table)
            && mem.has_room(new)
    }
}
