//! Physical memory: frames of 4 KiB, numbered from 1, in blocks that are contiguous in the host's memory.
//!
//! A block comes zeroed from the host's allocator, which gives pages only when they are touched: a large buffer that
//! nobody writes costs nothing.

use super::PAGE;

/// Frames unless [`Memory::with_limit`] says otherwise: 8 GiB.
const DEFAULT_LIMIT: u64 = (8 << 30) / PAGE;

/// A run of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Frames {
    /// Number of the first.
    pub first: u64,
    /// How many.
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
}

/// More frames were asked for than the model's memory has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{asked} more pages of 4 KiB do not fit: {used} of {limit} are in use")]
pub struct OutOfMemory {
    /// Frames asked for.
    pub asked: u64,
    /// Frames in use.
    pub used: u64,
    /// Frames that there are.
    pub limit: u64,
}

/// Physical memory of the model.
#[derive(Debug)]
pub struct Memory {
    /// Contents by block; freed blocks are empty and their slots are used again.
    blocks: Vec<Box<[u8]>>,
    /// Slots of freed blocks.
    free: Vec<u32>,
    /// Where each frame lies.
    frames: Vec<Slot>,
    /// Runs of free frame numbers.
    holes: Vec<Frames>,
    used: u64,
    limit: u64,
}

/// Where a frame lies: block and byte offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) block: u32,
    pub(super) offset: usize,
}

const NOWHERE: Slot = Slot { block: u32::MAX, offset: 0 };

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

    /// Memory of `bytes` bytes.
    pub fn with_limit(bytes: u64) -> Self {
        Memory {
            blocks: Vec::new(),
            free: Vec::new(),
            frames: vec![NOWHERE],
            holes: Vec::new(),
            used: 0,
            limit: bytes / PAGE,
        }
    }

    /// `count` zeroed frames with consecutive numbers.
    ///
    /// # Errors
    /// [`OutOfMemory`] if that is more than there are.
    pub fn alloc(&mut self, count: u64) -> Result<Frames, OutOfMemory> {
        if count > self.limit - self.used {
            return Err(OutOfMemory { asked: count, used: self.used, limit: self.limit });
        }
        self.used += count;
        let frames = self.numbers(count);
        let contents = vec![0; frames.bytes() as usize].into_boxed_slice();
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
        for index in 0..count {
            self.frames[(frames.first + index) as usize] = Slot { block, offset: (index * PAGE) as usize };
        }
        Ok(frames)
    }

    /// Consecutive free numbers: the first hole that is large enough, or new ones.
    fn numbers(&mut self, count: u64) -> Frames {
        if let Some(index) = self.holes.iter().position(|hole| hole.count >= count) {
            let hole = &mut self.holes[index];
            let frames = Frames { first: hole.first, count };
            hole.first += count;
            hole.count -= count;
            if hole.count == 0 {
                self.holes.swap_remove(index);
            }
            return frames;
        }
        let first = self.frames.len() as u64;
        self.frames.resize(self.frames.len() + count as usize, NOWHERE);
        Frames { first, count }
    }

    /// Gives back frames that [`alloc`](Self::alloc) returned, all of them. Nothing may map them any longer.
    pub fn free(&mut self, frames: Frames) {
        let Some(&slot) = self.frames.get(frames.first as usize) else { return };
        if slot == NOWHERE || slot.offset != 0 || frames.count == 0 {
            return;
        }
        debug_assert_eq!(self.blocks[slot.block as usize].len() as u64, frames.bytes());
        self.blocks[slot.block as usize] = Box::default();
        self.free.push(slot.block);
        self.frames[frames.first as usize..(frames.first + frames.count) as usize].fill(NOWHERE);
        self.holes.push(frames);
        self.used -= frames.count;
    }

    /// Contents of frames that [`alloc`](Self::alloc) returned.
    ///
    /// # Panics
    /// If they were not.
    pub fn bytes(&self, frames: Frames) -> &[u8] {
        if frames.count == 0 {
            return &[];
        }
        let slot = self.frames[frames.first as usize];
        &self.blocks[slot.block as usize][slot.offset..slot.offset + frames.bytes() as usize]
    }

    /// Contents of frames that [`alloc`](Self::alloc) returned, to be changed.
    ///
    /// # Panics
    /// If they were not.
    pub fn bytes_mut(&mut self, frames: Frames) -> &mut [u8] {
        if frames.count == 0 {
            return &mut [];
        }
        let slot = self.frames[frames.first as usize];
        &mut self.blocks[slot.block as usize][slot.offset..slot.offset + frames.bytes() as usize]
    }

    /// The aligned quadword at physical address `address`, if there is memory.
    pub fn read_u64(&self, address: u64) -> Option<u64> {
        let page = self.page(self.slot(address / PAGE)?);
        let at = ((address % PAGE) & !7) as usize;
        Some(u64::from_le_bytes(page[at..at + 8].try_into().ok()?))
    }

    /// Writes the aligned quadword at physical address `address`; `None` if there is no memory.
    pub fn write_u64(&mut self, address: u64, value: u64) -> Option<()> {
        let slot = self.slot(address / PAGE)?;
        let at = ((address % PAGE) & !7) as usize;
        self.page_mut(slot)[at..at + 8].copy_from_slice(&value.to_le_bytes());
        Some(())
    }

    /// Where frame `number` lies, if it is in use.
    pub(super) fn slot(&self, number: u64) -> Option<Slot> {
        let slot = *self.frames.get(usize::try_from(number).ok()?)?;
        (slot != NOWHERE).then_some(slot)
    }

    /// Contents of the frame at `slot`.
    #[inline(always)]
    pub(super) fn page(&self, slot: Slot) -> &[u8] {
        &self.blocks[slot.block as usize][slot.offset..slot.offset + PAGE as usize]
    }

    /// Contents of the frame at `slot`, to be changed.
    #[inline(always)]
    pub(super) fn page_mut(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.blocks[slot.block as usize][slot.offset..slot.offset + PAGE as usize]
    }
}
