//! Memory for one part of a walker or draw that runs in parallel with other parts. The part reads
//! shared memory, which does not change meanwhile, and its own writes, which stay in its overlay.
//!
//! An overlay records, page by page, which bytes were read from memory and which were written. The
//! parts are committed in the order in which one thread would have run them. A part is valid if its
//! result is the same as if it had run in that order, above all if it read nothing that an earlier
//! part wrote ([`Written::admits`]). Then its writes are copied to memory and its translations to
//! the TLB ([`Overlay::commit`]). Memory and TLB are then the same as if the parts had run one
//! after the other.

#![allow(unsafe_code, reason = "a page of an overlay is filled while it is borrowed")]

use super::fault::{Cause, PageFault};
use super::frames::Slot;
use super::page::{Page, PageMut};
use super::physical::{Identity, Memory};
use super::space::{AddressSpace, Cached};
use super::{ADDRESS_MASK, PAGE};
#[cfg(feature = "fast")]
use genxml_jit::Page as Entry;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A bit for each byte of a page.
type Bits = [u64; PAGE as usize / 64];

const NO_BITS: Bits = [0; PAGE as usize / 64];

/// A bit for each byte of a page, as [`Bits`]. The model and machine code set the bits. One more
/// word follows, because machine code may write it. It never changes the value of this word.
type Marks = [Cell<u64>; PAGE as usize / 64 + 1];

/// Marks of no byte.
const fn no_marks() -> Marks {
    [const { Cell::new(0) }; PAGE as usize / 64 + 1]
}

/// A pointer to the first word of marks, for machine code.
#[cfg(feature = "fast")]
fn start(marks: &Marks) -> *mut u64 {
    marks.as_ptr().cast_mut().cast()
}

/// The words of marks, without the one after them.
fn words(marks: &Marks) -> impl Iterator<Item = u64> {
    marks[..PAGE as usize / 64].iter().map(Cell::get)
}

/// Maximum number of pages that an overlay keeps for reuse.
const SPARE: usize = 128;

/// A fast hash for frame numbers, since a walker looks up many of them. Collisions made on purpose
/// are not a concern.
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
        // Multiplying by the golden ratio spreads neighbours. The rotation moves the upper bits,
        // which are mixed best, to where hash maps look.
        self.0 = (self.0 ^ frame).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

type FrameMap<T> = HashMap<u64, T, BuildHasherDefault<FrameHasher>>;
type FrameSet = HashSet<u64, BuildHasherDefault<FrameHasher>>;

/// The reads and writes of one part. Any number of overlays may share one memory.
#[derive(Debug, Default)]
pub struct Overlay {
    records: RefCell<Records>,
    /// Unused boxes for later records.
    unused: RefCell<Records>,
    /// Indices into `records`, by frame number.
    index: RefCell<FrameMap<u32>>,
    /// A number that no other overlay has. [`clear`](Overlay::clear) changes it.
    identity: Identity,
    /// Copies of the pages that were written, by record number.
    copies: Vec<Option<Box<Copied>>>,
    /// Unused boxes for later copies, which overwrite the old contents. Reuse is faster, because
    /// fresh memory from the host costs more time than the copy itself.
    spare: Vec<Box<Copied>>,
    /// True if the part depends on more than memory, so it has to run at its position in the order.
    ordered: Cell<bool>,
}

/// Records in boxes, so that they do not move: machine code has pointers to their marks.
type Records = Vec<Box<Record>>;

/// What a part did with one frame that it accessed, except its writes, which are in
/// `Overlay::copies`.
#[derive(Debug)]
struct Record {
    frame: u64,
    /// Bytes that the part read and had not written itself before.
    read: Marks,
    /// True if all bits of `read` are set, so that reads need no more marks.
    whole: bool,
    /// True if a page walk of the part read an entry from the frame.
    table: bool,
}

/// The part's own copy of a page. Usually a part writes only a few lines (64 bytes each) of a page.
/// So a line is copied from memory only when it is first read.
#[derive(Debug)]
#[repr(C)]
struct Copied {
    bytes: Page,
    /// The bytes that the part wrote. Each word is a line.
    written: Marks,
    /// A bit for each line that is complete: its unwritten bytes have been copied from memory.
    lines: Cell<u64>,
}

// SAFETY: all fields are pages or cells of integers. Zero is a valid value for each of them.
unsafe impl bytemuck::Zeroable for Copied {}

/// Sets the bits of `length` bytes from `at` on, up to the end of the page. Bits that are set in
/// `hidden` are left out.
#[inline]
fn mark(bits: &Marks, hidden: Option<&Marks>, at: usize, length: usize) {
    let (word, bit) = (at / 64, at % 64);
    if 0 < length && length <= 64 - bit {
        let ones = u64::MAX >> (64 - length) << bit;
        let hidden = hidden.map_or(0, |hidden| hidden[word].get());
        bits[word].set(bits[word].get() | ones & !hidden);
        return;
    }
    mark_words(bits, hidden, at, length);
}

/// Does what [`mark`] does, for bits in any number of words.
#[inline(never)]
fn mark_words(bits: &Marks, hidden: Option<&Marks>, at: usize, length: usize) {
    let end = at.saturating_add(length).min(PAGE as usize);
    let mut at = at;
    while at < end {
        let (word, bit) = (at / 64, at % 64);
        let count = (64 - bit).min(end - at);
        let ones = u64::MAX >> (64 - count) << bit;
        let hidden = hidden.map_or(0, |hidden| hidden[word].get());
        bits[word].set(bits[word].get() | ones & !hidden);
        at += count;
    }
}

impl Overlay {
    /// Forgets all reads and writes, so that the overlay can serve another part.
    pub fn clear(&mut self) {
        self.unused.get_mut().append(self.records.get_mut());
        self.index.get_mut().clear();
        self.spare.extend(self.copies.drain(..).flatten());
        self.spare.truncate(SPARE);
        self.ordered.set(false);
        self.identity = Identity::default();
    }

    /// Records that the part depends on more than memory, so it has to run at its position in the
    /// order.
    pub(super) fn keep_order(&self) {
        self.ordered.set(true);
    }

    /// A number that no other overlay has. It changes when pointers to copies and records become
    /// invalid.
    #[cfg(feature = "fast")]
    pub(super) fn identity(&self) -> u64 {
        self.identity.0
    }

    /// True if the part depends on more than memory.
    pub fn ordered(&self) -> bool {
        self.ordered.get()
    }

    /// The page of `address`, with the part's own writes. Records a read of `length` bytes, up to
    /// the end of the page.
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
        if !record.whole {
            let hidden = copied.map(|copied| &copied.written);
            mark(&record.read, hidden, (address % PAGE) as usize, length);
            record.whole =
                length as u64 >= PAGE && words(&record.read).all(|word| word == u64::MAX);
        }
        let page = mem.page(cached.slot);
        Ok(match copied {
            None => page,
            Some(copied) => copied.complete(page, (address % PAGE) as usize, length),
        })
    }

    /// The part's copy of the page of `address`. Records a write of `length` bytes, up to the end
    /// of the page.
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
        let copied = self.copies[record].get_or_insert_with(|| {
            // Reads of the page have to see the writes from now on.
            #[cfg(feature = "fast")]
            space.forget_reads();
            empty(spare)
        });
        mark(&copied.written, None, (address % PAGE) as usize, length);
        Ok(copied.bytes.as_mut())
    }

    /// The part's copy of the page that starts at `address`, filled from memory. All its bytes are
    /// recorded as read and written.
    pub(super) fn page_mut(
        &mut self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
    ) -> Result<PageMut<'_>, PageFault> {
        // The write of 0 bytes creates the copy. The read fills it.
        self.write(mem, space, address, 0)?;
        self.read(mem, space, address, PAGE as usize)?;
        self.write(mem, space, address, PAGE as usize)
    }

    /// The page of a remembered translation, with its marks, for machine code. Machine code writes
    /// to the part's copy and reads from memory. `None` for a read if the part has a copy of the
    /// page. `None` for a write if the part has no copy.
    #[cfg(feature = "fast")]
    pub(super) fn lend(&self, mem: &Memory, cached: Cached, write: bool) -> Option<Entry> {
        let copied = self.copies.get(cached.record as usize).and_then(Option::as_deref);
        match (copied, write) {
            (Some(copied), true) => {
                let entry = Entry::new(cached.page, copied.bytes.start());
                Some(entry.with_marks(start(&copied.written)))
            }
            (None, false) => {
                let entry = Entry::new(cached.page, mem.existing(cached.slot)?.start());
                let record = &self.records.borrow()[cached.record as usize];
                let marked = !record.whole;
                Some(if marked { entry.with_marks(start(&record.read)) } else { entry })
            }
            _ => None,
        }
    }

    #[cold]
    fn lengthen(&mut self, record: usize) {
        self.copies.resize_with(record + 1, || None);
    }

    /// Checks that the byte at `address` can be read, or written if `write`.
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
        let found = space.look_up(mem, address, |at| self.entry(mem, at));
        let (cached, frame) = found.map_err(fault)?;
        let cached = Cached { record: self.record(frame), ..cached };
        space.remember(cached);
        match cached.read_only {
            level if write && level != 0 => Err(fault(Cause::ReadOnly(level))),
            _ => Ok(cached),
        }
    }

    /// Reads an entry of a page table from memory, without the part's own writes: a part that
    /// writes a table that it walks is not valid anyway.
    fn entry(&self, mem: &Memory, at: u64) -> Option<u64> {
        let bits = mem.read_u64(at)?;
        let index = self.record(at / PAGE) as usize;
        let record = &mut self.records.borrow_mut()[index];
        record.table = true;
        mark(&record.read, None, (at % PAGE) as usize, 8);
        Some(bits)
    }

    /// The number of the frame's record. Makes a record if the frame was not used before.
    fn record(&self, frame: u64) -> u32 {
        let mut records = self.records.borrow_mut();
        *self.index.borrow_mut().entry(frame).or_insert_with(|| {
            let new = Record { frame, read: no_marks(), whole: false, table: false };
            records.push(match self.unused.borrow_mut().pop() {
                Some(mut unused) => {
                    *unused = new;
                    unused
                }
                None => Box::new(new),
            });
            records.len() as u32 - 1
        })
    }

    /// The records of written frames, each with the copy that holds the writes.
    fn written<'r>(
        &'r self,
        records: &'r [Box<Record>],
    ) -> impl Iterator<Item = (&'r Record, &'r Copied)> {
        records
            .iter()
            .zip(&self.copies)
            .filter_map(|(record, copied)| Some((&**record, copied.as_deref()?)))
    }

    /// Copies the part's writes to memory, and the translations in its TLB `own` to `space`. Adds
    /// its writes and the tables that it walked to `written`. Call this only if `written` admits
    /// the part.
    pub fn commit(
        &self,
        mem: &mut Memory,
        space: &AddressSpace,
        own: &AddressSpace,
        written: &mut Written,
    ) {
        let records = self.records.borrow();
        for (record, copied) in self.written(&records) {
            // `touch` finds memory for the frame: `admits` has checked that there is room.
            let Some(slot) = mem.touch(record.frame) else { continue };
            copied.put(&mut mem.page_mut(slot));
            let bits = written.bytes.entry(record.frame).or_insert(NO_BITS);
            bits.iter_mut().zip(words(&copied.written)).for_each(|(bits, new)| *bits |= new);
        }
        for record in records.iter().filter(|record| record.table) {
            written.tables.insert(record.frame);
            space.add_table(record.frame);
        }
        for cached in own.all_remembered() {
            // Look up the slot again, because a frame that was allocated just now has a new slot.
            match mem.slot(records[cached.record as usize].frame) {
                Some(Slot::UNTOUCHED) | None => {}
                Some(slot) => space.remember(Cached { slot, record: 0, ..cached }),
            }
        }
    }
}

/// An empty copy of a page: no byte is written and no line is complete. Reuses a spare copy if
/// there is one.
#[cold]
#[inline(never)]
fn empty(spare: &mut Vec<Box<Copied>>) -> Box<Copied> {
    match spare.pop() {
        Some(mut used) => {
            used.written = no_marks();
            used.lines.set(0);
            used
        }
        // Allocated directly on the heap: the value is too large to be moved over the stack.
        None => bytemuck::zeroed_box(),
    }
}

impl Copied {
    /// The copy. First completes the lines that contain `length` bytes from `at` on, up to the end
    /// of the page. `page` is the page in memory.
    #[inline]
    fn complete(&self, page: &Page, at: usize, length: usize) -> &Page {
        let (first, end) = (at / 64, at.saturating_add(length).min(PAGE as usize).div_ceil(64));
        let wanted = match end.saturating_sub(first) {
            0 => 0,
            count => u64::MAX >> (64 - count) << first,
        };
        if wanted & !self.lines.get() != 0 {
            self.fill(page, wanted);
        }
        &self.bytes
    }

    /// Copies the lines of `wanted` from memory, except bytes that the part wrote.
    #[inline(never)]
    fn fill(&self, page: &Page, wanted: u64) {
        let mut rest = wanted & !self.lines.get();
        self.lines.set(self.lines.get() | rest);
        while rest != 0 {
            let line = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let mut bytes = [0; 64];
            match self.written[line].get() {
                u64::MAX => continue,
                0 => page.read(64 * line, &mut bytes),
                written => {
                    page.read(64 * line, &mut bytes);
                    let mut own = [0; 64];
                    self.bytes.read(64 * line, &mut own);
                    for (n, (byte, own)) in bytes.iter_mut().zip(own).enumerate() {
                        *byte = if written >> n & 1 == 1 { own } else { *byte };
                    }
                }
            }
            // SAFETY: only the thread that runs the part has the overlay and its pages, and no
            // slice of a page exists.
            unsafe { PageMut::new(&self.bytes) }.write(64 * line, &bytes);
        }
    }

    /// Copies to `page` the bytes that the part wrote.
    fn put(&self, page: &mut PageMut<'_>) {
        for (bits, at) in words(&self.written).zip((0..).step_by(64)) {
            if bits == 0 {
                continue;
            }
            // `load` never fails: `written` has one bit for each byte of the page.
            let Some(bytes) = self.bytes.load::<64>(at) else { return };
            match bits {
                u64::MAX => page.write(at, &bytes),
                _ => {
                    let quadwords = bytes.as_chunks::<8>().0;
                    for (n, (quadword, bits)) in
                        quadwords.iter().zip(bits.to_le_bytes()).enumerate()
                    {
                        put_quadword(page, at + 8 * n, quadword, bits);
                    }
                }
            }
        }
    }
}

/// Copies to `page` those of eight bytes whose bit is set.
fn put_quadword(page: &mut PageMut<'_>, at: usize, bytes: &[u8; 8], bits: u8) {
    match bits {
        0 => {}
        0xff => page.write(at, bytes),
        0x0f => page.write(at, &bytes[..4]),
        0xf0 => page.write(at + 4, &bytes[4..]),
        _ => (0..8).filter(|n| bits >> n & 1 == 1).for_each(|n| page.write(at + n, &bytes[n..=n])),
    }
}

/// The writes of parts that were committed since the last [`settle`](Self::settle). Parts that
/// started before these commits may not have seen these writes.
#[derive(Debug)]
pub struct Written {
    /// Written bytes, by frame.
    bytes: FrameMap<Bits>,
    /// Frames of page tables that translations came from.
    tables: FrameSet,
}

impl Written {
    /// A record without writes. `None` if the TLB of `space` holds a translation that differs from
    /// the page tables: then the result of a read depends on when that translation is evicted.
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

    /// Forgets the recorded writes. Call this when all parts that start from now on see them in
    /// memory. The TLB still matches the page tables if nothing else has written memory, because
    /// parts that write page tables are never admitted.
    pub fn settle(&mut self) {
        self.bytes.clear();
    }

    /// True if the part's result is the same as if it had run after all committed parts. This holds
    /// if the part read nothing that the committed parts wrote, wrote to no page table that it or
    /// the TLB used, depends on nothing but memory, and if memory has room for the frames that it
    /// is the first to write.
    pub fn admits(&self, mem: &Memory, part: &Overlay) -> bool {
        let records = part.records.borrow();
        let stale = |record: &Record| {
            let written = self.bytes.get(&record.frame);
            written.is_some_and(|written| {
                written.iter().zip(words(&record.read)).any(|(w, r)| w & r != 0)
            })
        };
        let mut new = 0;
        let table = |(record, _): (&Record, _)| {
            new += u64::from(mem.slot(record.frame) == Some(Slot::UNTOUCHED));
            record.table || self.tables.contains(&record.frame)
        };
        !part.ordered.get()
            && !records.iter().any(|record| stale(record))
            && !part.written(&records).any(table)
            && mem.has_room(new)
    }
}
