//! Physical memory: numbered frames of 4 KiB, in blocks of the host's memory. Frame numbers may be
//! sparse.
//!
//! Each frame lies in a block. The model allocates a block itself ([`Memory::alloc`],
//! [`Memory::write_physical`]), or the host supplies it and may share it with others
//! ([`Memory::adopt`]). The model's own blocks come zeroed from the host's allocator. The host
//! provides pages only when they are touched, so a large buffer that is never written costs
//! nothing.
//!
//! The model assigns numbers from [`FIRST_OWN_FRAME`] on, above every physical address of a
//! Broadwell machine. So they never collide with the physical addresses in recorded files.
#![allow(unsafe_code, reason = "slices of own pages, pages of the host")]

use super::PAGE;
use super::frames::{FrameMap, Slot};
use super::later::{Contents, Later};
use super::page::{Page, PageMut};
use bytemuck::allocation::try_zeroed_slice_box;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limit of [`Memory::new`] in frames: 8 GiB.
const DEFAULT_LIMIT: u64 = (8 << 30) / PAGE;

/// Frames of a block that [`Memory::write_physical`] allocates: 1 MiB.
const POOL: u64 = 256;

/// First frame number that [`Memory::alloc`] and [`Memory::adopt`] assign: 512 GiB, the end of
/// 39-bit physical addresses.
pub const FIRST_OWN_FRAME: u64 = (1 << 39) / PAGE;

/// Limit of frame numbers: page table entries have 48 address bits.
const END: u64 = (1 << 48) / PAGE;

/// A run of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Frames {
    /// Number of the first frame.
    pub first: u64,
    /// Number of frames.
    pub count: u64,
}

impl Frames {
    /// Physical address of the first byte.
    pub const fn address(self) -> u64 {
        self.first * PAGE
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        self.count * PAGE
    }

    /// `count` of these frames, after the first `skip`: a buffer that is part of a larger one.
    /// `None` if there are fewer than `skip + count` frames.
    pub const fn part(self, skip: u64, count: u64) -> Option<Frames> {
        match skip.checked_add(count) {
            Some(end) if end <= self.count => Some(Frames { first: self.first + skip, count }),
            _ => None,
        }
    }
}

/// The error of an allocation for which the limit leaves too few frames, the host has no memory, or
/// there are no frame numbers left.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{asked} more pages of 4 KiB do not fit: {used} of {limit} are in use")]
pub struct OutOfMemory {
    /// Frames that were requested.
    pub asked: u64,
    /// Frames in use.
    pub used: u64,
    /// Maximum number of frames in use.
    pub limit: u64,
}

genxml_core::debug_as_display!(OutOfMemory);

/// Why a physical address cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PhysicalError {
    /// No memory is left.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A write at this address goes beyond the 48 bits of physical addresses.
    #[error("a write at physical address {0:#x} goes beyond the end of 48-bit addresses")]
    Address(u64),
}

genxml_core::debug_as_display!(PhysicalError);

/// Memory that the host supplies, for example a mapping of a file that a driver has mapped as well.
/// Code outside the model may write it at any time ([`Page`]).
///
/// # Safety
/// [`pages`](Self::pages) returns the same range each time. Each of the pages is valid for atomic
/// access whenever the model may access it: while a submission runs that can reach the page through
/// page tables, and during calls to functions of [`Memory`] that name its frame. Nobody makes a
/// `&[u8]` or a `&mut` reference to the range.
pub unsafe trait Backing: Send + Sync {
    /// The pages.
    fn pages(&self) -> NonNull<[Page]>;
}

// SAFETY: an `Arc` always leads to the same slice, which lives as long as the `Arc`. Others can
// only have shared references to it: `Arc::get_mut` fails while the model holds a clone.
unsafe impl Backing for Arc<[Page]> {
    fn pages(&self) -> NonNull<[Page]> {
        NonNull::from(&**self)
    }
}

/// Memory of consecutive frames.
enum Block {
    Own(Box<[Page]>),
    Host(Host),
}

/// Pages that the host supplies.
struct Host {
    /// The range that the backing returns. It is the same each time, so that accesses need no call.
    pages: NonNull<[Page]>,
    _backing: Box<dyn Backing>,
}

// SAFETY: the range belongs to the backing, which is `Send`. Pages consist of atomic bytes.
unsafe impl Send for Host {}
// SAFETY: as above; the backing is `Sync`.
unsafe impl Sync for Host {}

impl Host {
    fn new(backing: Box<dyn Backing>) -> Host {
        Host { pages: backing.pages(), _backing: backing }
    }
}

impl Block {
    /// Number of pages.
    fn count(&self) -> u64 {
        match self {
            Block::Own(pages) => pages.len() as u64,
            Block::Host(host) => host.pages.len() as u64,
        }
    }

    /// The page at `index`, for an access during the current call; `None` if the block has no such
    /// page.
    #[inline(always)]
    fn page(&self, index: u32) -> Option<&Page> {
        match self {
            Block::Own(pages) => pages.get(index as usize),
            Block::Host(host) => {
                let pages = host.pages;
                // SAFETY: the index is less than the number of pages, and by the contract of
                // `Backing` this page is valid for atomic access now.
                ((index as usize) < pages.len())
                    .then(|| unsafe { pages.cast::<Page>().add(index as usize).as_ref() })
            }
        }
    }
}

/// The page that is read when a remembered translation leads to a freed block.
static ZEROS: Page = Page::zeros();

/// Physical memory of the model.
pub struct Memory {
    /// All blocks. A freed block is empty, and its index is used again. The first block holds the
    /// page of [`Slot::UNTOUCHED`].
    blocks: Vec<Block>,
    /// Indices of freed blocks.
    free: Vec<u32>,
    /// The slot of each frame.
    frames: FrameMap,
    /// What is not yet loaded, by the index of the block. Often shorter than `blocks`: usually
    /// everything is loaded.
    later: Vec<Option<Box<Later>>>,
    /// Runs of free frame numbers below `next`.
    holes: Vec<Frames>,
    /// The lowest frame number from `FIRST_OWN_FRAME` on that was never assigned.
    next: u64,
    /// The block for frames that are allocated one by one, and the number of its pages in use.
    pool: Option<(u32, u32)>,
    used: u64,
    limit: u64,
    /// Frames below this number exist before they are written.
    installed: u64,
    /// The page that is written when a remembered translation leads to a freed block.
    nowhere: Box<Page>,
    /// See [`Memory::identity`].
    identity: Identity,
}

/// A number that identifies a memory or an overlay. Each default value is a new number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(pub(super) u64);

impl fmt::Debug for Identity {
    /// Writes no number, so that the texts of equal values are equal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Default for Identity {
    fn default() -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Identity(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("used", &self.used)
            .field("limit", &self.limit)
            .field("installed", &self.installed)
            .field("blocks", &(self.blocks.len() - self.free.len()))
            .finish_non_exhaustive()
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// Memory of 8 GiB, none of it in use.
    pub fn new() -> Self {
        Self::with_limit(DEFAULT_LIMIT * PAGE)
    }

    /// Memory of `bytes` bytes, none of it in use. Memory that the host supplies does not count
    /// toward this limit.
    pub fn with_limit(bytes: u64) -> Self {
        Memory {
            blocks: vec![Block::Own(Box::new([Page::zeros()]))],
            free: Vec::new(),
            frames: FrameMap::default(),
            later: Vec::new(),
            holes: Vec::new(),
            next: FIRST_OWN_FRAME,
            pool: None,
            used: 0,
            limit: bytes / PAGE,
            installed: 0,
            nowhere: Box::new(Page::zeros()),
            identity: Identity::default(),
        }
    }

    /// A copy of the memory, with the same frame numbers. Memory that the host supplies is copied,
    /// too: the copy no longer shares it. Pages of zeros cost nothing.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has no memory for the copy.
    pub fn duplicate(&self) -> Result<Memory, OutOfMemory> {
        // Pages that are not loaded are zeros here, and are loaded in the copy as in the original.
        let later = self.later.clone();
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let count = block.count();
            let refused = OutOfMemory { asked: count, used: self.used, limit: self.limit };
            let pages = usize::try_from(count).ok().and_then(|n| try_zeroed_slice_box(n).ok());
            let mut pages: Box<[Page]> = pages.ok_or(refused)?;
            let mut bytes = [0; PAGE as usize];
            for (copy, index) in pages.iter_mut().zip(0..) {
                if let Some(page) = block.page(index) {
                    page.read(0, &mut bytes);
                    if bytes.iter().any(|byte| *byte != 0) {
                        copy.bytes_mut().copy_from_slice(&bytes);
                    }
                }
            }
            blocks.push(Block::Own(pages));
        }
        Ok(Memory {
            blocks,
            free: self.free.clone(),
            frames: self.frames.clone(),
            later,
            holes: self.holes.clone(),
            next: self.next,
            pool: self.pool,
            used: self.used,
            limit: self.limit,
            installed: self.installed,
            nowhere: Box::new(Page::zeros()),
            identity: Identity::default(),
        })
    }

    /// Bytes of the frames in use, without those that the host supplies.
    pub fn bytes_in_use(&self) -> u64 {
        self.used * PAGE
    }

    /// Makes all physical addresses below `bytes` memory, as in a machine, but at most 512 GiB. A
    /// frame that was never written reads as zeros and is allocated on the first write, within the
    /// limit. Without this call, page tables can lead only to frames that were written, allocated
    /// or adopted before.
    pub fn install(&mut self, bytes: u64) {
        self.installed = (bytes / PAGE).min(FIRST_OWN_FRAME);
    }

    /// Allocates `count` zeroed frames with consecutive numbers.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the limit is exceeded, the host's allocation fails, or there are no frame
    /// numbers left.
    pub fn alloc(&mut self, count: u64) -> Result<Frames, OutOfMemory> {
        if count == 0 {
            return Ok(Frames { first: self.next, count });
        }
        self.check(count)?;
        let refused = OutOfMemory { asked: count, used: self.used, limit: self.limit };
        let pages = try_zeroed_slice_box(usize::try_from(count).map_err(|_| refused)?)
            .map_err(|()| refused)?;
        let frames = self.numbers(count)?;
        self.used += count;
        self.add(frames, Block::Own(pages));
        Ok(frames)
    }

    /// Adds memory that the host supplies, as frames with consecutive numbers. If the memory holds
    /// several buffers, use [`Frames::part`] of the result for each.
    ///
    /// Code outside the model may change the memory at any time. A submission that runs meanwhile
    /// may see the old or the new contents, as on hardware.
    ///
    /// Adopt the same memory only once; its frames may be mapped any number of times. The model
    /// cannot detect that two adopted mappings belong to the same file. Writes through one are
    /// visible through the other. But thread groups that communicate this way may run in parallel
    /// on several threads of the host, and then their order is not preserved.
    ///
    /// # Errors
    /// [`OutOfMemory`] if there are no numbers left.
    pub fn adopt(&mut self, backing: Box<dyn Backing>) -> Result<Frames, OutOfMemory> {
        let block = Block::Host(Host::new(backing));
        let count = block.count();
        if count == 0 {
            return Ok(Frames { first: self.next, count });
        }
        let frames = self.numbers(count)?;
        self.add(frames, block);
        Ok(frames)
    }

    /// Frees frames that [`alloc`](Self::alloc) or [`adopt`](Self::adopt) returned. `frames` must
    /// be the whole result; otherwise the call is ignored. A remembered translation that still
    /// leads to freed frames reads zeros or the contents of a later block.
    pub fn free(&mut self, frames: Frames) {
        let Some(Slot { block, page: 0 }) = self.frames.get(frames.first) else { return };
        let whole = self.blocks[block as usize].count() == frames.count
            && (0..frames.count)
                .all(|n| self.frames.get(frames.first + n) == Some(Slot { block, page: n as u32 }));
        if !whole || frames.first < FIRST_OWN_FRAME || frames.count == 0 {
            return;
        }
        self.identity = Identity::default();
        if let Block::Own(_) =
            std::mem::replace(&mut self.blocks[block as usize], Block::Own(Box::default()))
        {
            self.used -= frames.count;
        }
        if let Some(later) = self.later.get_mut(block as usize) {
            *later = None;
        }
        self.free.push(block);
        for n in 0..frames.count {
            self.frames.set(frames.first + n, Slot::NOWHERE);
        }
        self.holes.push(frames);
    }

    /// Makes [`write_later`](Self::write_later) load bytes from `source` into `frames`, which
    /// [`alloc`](Self::alloc) has just returned.
    pub fn load_from(&mut self, frames: Frames, source: Arc<dyn Contents>) {
        let Some((block, range)) = self.range(frames) else { return };
        if self.later.len() <= block {
            self.later.resize_with(block + 1, || None);
        }
        self.later[block] = Some(Box::new(Later::new(source, range.len())));
    }

    /// Writes `length` bytes to `offset` in frames for which [`load_from`](Self::load_from) was
    /// called. They are the bytes of the source from `position` on, and are read when the frames
    /// are accessed. Returns false and writes nothing for other frames.
    ///
    /// # Panics
    /// If the frames do not have these bytes.
    pub fn write_later(&mut self, frames: Frames, offset: u64, length: u64, position: u64) -> bool {
        assert!(offset + length <= frames.bytes(), "{length} bytes at {offset} in {frames:?}");
        let Some((block, range)) = self.range(frames) else { return false };
        self.identity = Identity::default();
        let (Some(Some(later)), Block::Own(pages)) =
            (self.later.get_mut(block), &mut self.blocks[block])
        else {
            return false;
        };
        later.add(offset as usize, length as usize, position, Page::slice_mut(&mut pages[range]));
        true
    }

    /// Contents of frames that [`alloc`](Self::alloc) returned, or of some of them. There is no
    /// slice of memory that the host supplies, because others may write it; use
    /// [`read_physical`](Self::read_physical) to copy it.
    ///
    /// # Panics
    /// If `alloc` did not return the frames.
    pub fn bytes(&self, frames: Frames) -> &[u8] {
        let Some((block, range)) = self.range(frames) else { return &[] };
        let Block::Own(pages) = &self.blocks[block] else { not_own() };
        self.load_all(block, &range);
        // SAFETY: the model's own blocks are accessed only through `Memory`, and written only
        // through `&mut Memory` (`page_mut`, `bytes_mut`), which does not exist as long as the
        // result borrows `self`. The exception is `Later`, which writes a page once, to load it;
        // `load_all` has just loaded these pages.
        unsafe { Page::slice(&pages[range]) }
    }

    /// Mutable contents of frames that [`alloc`](Self::alloc) returned, or of some of them.
    ///
    /// # Panics
    /// If `alloc` did not return the frames.
    pub fn bytes_mut(&mut self, frames: Frames) -> &mut [u8] {
        let Some((block, range)) = self.range(frames) else { return &mut [] };
        self.load_all(block, &range);
        self.identity = Identity::default();
        let Block::Own(pages) = &mut self.blocks[block] else { not_own() };
        Page::slice_mut(&mut pages[range])
    }

    /// Fills `out` from a physical address on. `None` if one of the frames does not exist; then
    /// `out` is filled up to that frame.
    pub fn read_physical(&self, address: u64, out: &mut [u8]) -> Option<()> {
        for (at, run) in runs(address, out.len()) {
            let within = (at % PAGE) as usize;
            self.page(self.slot(at / PAGE)?).read(within, &mut out[run]);
        }
        Some(())
    }

    /// Writes bytes from a physical address on. Frames that do not exist are allocated.
    ///
    /// # Errors
    /// [`PhysicalError`]. If memory runs out, the bytes before the frame that does not fit have
    /// been written.
    pub fn write_physical(&mut self, address: u64, bytes: &[u8]) -> Result<(), PhysicalError> {
        let end = address.checked_add(bytes.len() as u64).filter(|end| *end <= END * PAGE);
        end.ok_or(PhysicalError::Address(address))?;
        for (at, run) in runs(address, bytes.len()) {
            let slot = self.make(at / PAGE)?;
            let within = (at % PAGE) as usize;
            self.page_mut(slot).write(within, &bytes[run]);
        }
        Ok(())
    }

    /// The quadword at physical address `address`, whose bits 2:0 are ignored; `None` if the frame
    /// does not exist.
    pub fn read_u64(&self, address: u64) -> Option<u64> {
        let page = self.page(self.slot(address / PAGE)?);
        let at = ((address % PAGE) & !7) as usize;
        page.load(at).map(u64::from_le_bytes)
    }

    /// Writes the quadword at physical address `address`, whose bits 2:0 are ignored; `None` if the
    /// frame does not exist or memory runs out.
    pub fn write_u64(&mut self, address: u64, value: u64) -> Option<()> {
        let slot = self.touch(address / PAGE)?;
        let at = ((address % PAGE) & !7) as usize;
        self.page_mut(slot).store(at, &value.to_le_bytes())
    }

    /// The slot of frame `number`; `None` if the frame does not exist, [`Slot::UNTOUCHED`] if it is
    /// installed and was never written.
    #[inline]
    pub(super) fn slot(&self, number: u64) -> Option<Slot> {
        match self.frames.get(number) {
            None if number < self.installed => Some(Slot::UNTOUCHED),
            slot => slot.inspect(|slot| self.load(*slot)),
        }
    }

    /// Loads the page at `slot`, if it is not loaded.
    #[inline]
    fn load(&self, slot: Slot) {
        if let Some(Some(later)) = self.later.get(slot.block as usize)
            && let Block::Own(pages) = &self.blocks[slot.block as usize]
        {
            later.load(slot.page as usize, pages);
        }
    }

    /// Loads pages of a block that are not loaded.
    fn load_all(&self, block: usize, range: &std::ops::Range<usize>) {
        if let Some(Some(_)) = self.later.get(block) {
            range
                .clone()
                .for_each(|page| self.load(Slot { block: block as u32, page: page as u32 }));
        }
    }

    /// The slot of frame `number`, for writing. An installed frame is allocated on its first write.
    /// `None` if the frame does not exist or memory runs out.
    pub(super) fn touch(&mut self, number: u64) -> Option<Slot> {
        match self.frames.get(number) {
            None if number < self.installed => self.make(number).ok(),
            slot => slot.inspect(|slot| self.load(*slot)),
        }
    }

    /// A number that no other memory has. It changes when older pointers to pages become invalid.
    /// That is when pages are freed, borrowed as slices, or written by
    /// [`write_later`](Self::write_later).
    #[cfg(feature = "fast")]
    pub(super) fn identity(&self) -> u64 {
        self.identity.0
    }

    /// Contents of the frame at `slot`; `None` if its block was freed.
    #[inline(always)]
    pub(super) fn existing(&self, slot: Slot) -> Option<&Page> {
        self.blocks.get(slot.block as usize)?.page(slot.page)
    }

    /// Contents of the frame at `slot`.
    #[inline(always)]
    pub(super) fn page(&self, slot: Slot) -> &Page {
        self.existing(slot).unwrap_or(&ZEROS)
    }

    /// Mutable contents of the frame at `slot`.
    #[inline(always)]
    pub(super) fn page_mut(&mut self, slot: Slot) -> PageMut<'_> {
        debug_assert_ne!(slot, Slot::UNTOUCHED);
        let page = self.existing(slot);
        // SAFETY: the result borrows `self` by `&mut`. So nobody else reaches the page through this
        // memory, and no slice of `bytes` exists. Code outside the model may store to pages that
        // the host supplies; nobody makes slices of those.
        unsafe { PageMut::new(page.unwrap_or(&self.nowhere)) }
    }

    /// The block of `frames` and the range of their pages in it; `None` if `frames` is empty.
    fn range(&self, frames: Frames) -> Option<(usize, std::ops::Range<usize>)> {
        if frames.count == 0 {
            return None;
        }
        let slot = self.frames.get(frames.first).unwrap_or(Slot::NOWHERE);
        let first = slot.page as usize;
        Some((slot.block as usize, first..first + frames.count as usize))
    }

    /// True if `count` more frames can be allocated.
    pub(super) fn has_room(&self, count: u64) -> bool {
        self.check(count).is_ok()
    }

    fn check(&self, count: u64) -> Result<(), OutOfMemory> {
        if count > self.limit.saturating_sub(self.used) {
            return Err(self.full(count));
        }
        Ok(())
    }

    #[cold]
    fn full(&self, asked: u64) -> OutOfMemory {
        OutOfMemory { asked, used: self.used, limit: self.limit }
    }

    /// Takes `count` consecutive free frame numbers from the first hole that is large enough, or
    /// new ones.
    fn numbers(&mut self, count: u64) -> Result<Frames, OutOfMemory> {
        if let Some(index) = self.holes.iter().position(|hole| hole.count >= count) {
            let hole = &mut self.holes[index];
            let frames = Frames { first: hole.first, count };
            hole.first += count;
            hole.count -= count;
            if hole.count == 0 {
                self.holes.swap_remove(index);
            }
            return Ok(frames);
        }
        let first = self.next;
        if count > END - first {
            return Err(self.full(count));
        }
        self.next += count;
        Ok(Frames { first, count })
    }

    /// Adds a block and makes `frames` lead to its pages. Returns the index of the block.
    fn add(&mut self, frames: Frames, contents: Block) -> u32 {
        let block = match self.free.pop() {
            Some(block) => {
                self.blocks[block as usize] = contents;
                block
            }
            None => {
                self.blocks.push(contents);
                self.blocks.len() as u32 - 1
            }
        };
        for index in 0..frames.count {
            self.frames.set(frames.first + index, Slot { block, page: index as u32 });
        }
        block
    }

    /// The slot of frame `number` (below [`END`]). Allocates the frame if it does not exist.
    fn make(&mut self, number: u64) -> Result<Slot, OutOfMemory> {
        if let Some(slot) = self.frames.get(number) {
            self.load(slot);
            return Ok(slot);
        }
        self.check(1)?;
        let (block, page) = match self.pool {
            Some((block, page)) if u64::from(page) < POOL => (block, page),
            _ => {
                let pages = bytemuck::zeroed_slice_box(POOL as usize);
                (self.add(Frames { first: 0, count: 0 }, Block::Own(pages)), 0)
            }
        };
        self.pool = Some((block, page + 1));
        self.used += 1;
        let slot = Slot { block, page };
        self.frames.set(number, slot);
        Ok(slot)
    }
}

#[cold]
fn not_own() -> ! {
    panic!("frames of memory that the host supplies have no slice: read them by physical address")
}

/// Splits `length` bytes from `address` on at page boundaries. Yields, for the bytes in each page,
/// the address of the first one and their range within the `length` bytes.
fn runs(address: u64, length: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = address.wrapping_add(done as u64);
        let run = (length - done).min((PAGE - at % PAGE) as usize);
        done += run;
        (run > 0).then_some((at, done - run..done))
    })
}
