//! The memory that a message accesses: a surface, the shared local memory of the group, or all
//! memory.

use crate::assumptions::LOCAL_MEMORY_OFFSET_BITS;
use crate::mem::{PageFault, Vm};
use std::cell::Cell;

/// The memory that the offsets of a message refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// Shared local memory.
    Local,
    /// `size` bytes from graphics address `base` on.
    Memory {
        /// Address of offset 0.
        base: u64,
        /// Size in bytes; 0 for a null surface.
        size: u64,
    },
    /// Elements of `pitch` bytes. A slot gives an element number and an offset in the element.
    Structured {
        /// Address of element 0.
        base: u64,
        /// Number of elements.
        count: u64,
        /// Distance between adjacent elements in bytes.
        pitch: u64,
    },
}

impl Target {
    /// A surface without memory.
    pub const NOTHING: Target = Target::Memory { base: 0, size: 0 };
    /// All memory, by address.
    pub const EVERYTHING: Target = Target::Memory { base: 0, size: u64::MAX };

    /// Mask of the bits of an offset that are used. The other bits are ignored.
    pub const fn reach(self) -> u64 {
        match self {
            Target::Local => LOCAL_MEMORY_OFFSET_BITS,
            _ => u64::MAX,
        }
    }

    /// Size in bytes. `local` is the size of shared local memory.
    pub fn bytes(self, local: usize) -> u64 {
        match self {
            Target::Local => local as u64,
            Target::Memory { size, .. } => size,
            Target::Structured { count, pitch, .. } => count * pitch,
        }
    }
}

/// Reads and writes the bytes of a [`Target`]. Functions with a parameter `end`, which is at most
/// [`Target::bytes`], read bytes from `end` on as 0 and drop writes to them (G45 vol 4, 5.10.2).
pub(super) struct Window<'w, 'a> {
    vm: &'w mut Vm<'a>,
    local: &'w mut [u8],
    base: u64,
    is_local: bool,
    /// Number of reads and writes that reached beyond the parameter `end`.
    cut: Cell<u64>,
}

impl<'w, 'a> Window<'w, 'a> {
    /// A window on `target`.
    pub fn new(target: Target, vm: &'w mut Vm<'a>, local: &'w mut [u8]) -> Window<'w, 'a> {
        let (base, is_local) = match target {
            Target::Local => (0, true),
            Target::Memory { base, .. } | Target::Structured { base, .. } => (base, false),
        };
        Window { vm, local, base, is_local, cut: Cell::new(0) }
    }

    /// Number of reads and writes so far that reached beyond the parameter `end`.
    pub fn cut(&self) -> u64 {
        self.cut.get()
    }

    /// Counts an access that the caller did not make because it reaches beyond the end.
    #[cold]
    pub fn count_cut(&self) {
        self.cut.set(self.cut.get() + 1);
    }

    /// Records an access to shared local memory, if an observer wants accesses.
    #[inline(always)]
    fn record_local(&self, offset: u64, length: usize, write: bool) {
        if let Some(log) = self.vm.log() {
            log.add_local(offset, length, write);
        }
    }

    /// Fills `out` with the bytes from `offset` on. Bytes from `end` on are 0.
    #[inline(always)]
    pub fn read(&self, offset: u64, end: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let inside = end.saturating_sub(offset).min(out.len() as u64) as usize;
        let (there, beyond) = out.split_at_mut(inside);
        if !beyond.is_empty() {
            self.count_cut();
            beyond.fill(0);
        }
        if there.is_empty() {
            return Ok(());
        }
        if self.is_local {
            let first = offset as usize;
            self.record_local(offset, inside, false);
            there.copy_from_slice(&self.local[first..first + inside]);
            return Ok(());
        }
        self.vm.read(self.base.wrapping_add(offset), there)
    }

    /// Writes `bytes` from `offset` on. Bytes from `end` on are dropped.
    #[inline(always)]
    pub fn write(&mut self, offset: u64, end: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let inside = end.saturating_sub(offset).min(bytes.len() as u64) as usize;
        if inside < bytes.len() {
            self.count_cut();
        }
        let bytes = &bytes[..inside];
        if bytes.is_empty() {
            return Ok(());
        }
        if self.is_local {
            let first = offset as usize;
            self.record_local(offset, inside, true);
            self.local[first..first + inside].copy_from_slice(bytes);
            return Ok(());
        }
        self.vm.write(self.base.wrapping_add(offset), bytes)
    }

    /// The `N` bytes from `offset` on. All these bytes must lie inside the target.
    #[inline(always)]
    pub fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], PageFault> {
        if self.is_local {
            self.record_local(offset, N, false);
            let mut bytes = [0; N];
            bytes.copy_from_slice(&self.local[offset as usize..offset as usize + N]);
            return Ok(bytes);
        }
        self.vm.read_array(self.base.wrapping_add(offset))
    }

    /// Writes `bytes` from `offset` on. All these bytes must lie inside the target.
    #[inline(always)]
    pub fn set_array<const N: usize>(
        &mut self,
        offset: u64,
        bytes: &[u8; N],
    ) -> Result<(), PageFault> {
        if self.is_local {
            self.record_local(offset, N, true);
            self.local[offset as usize..offset as usize + N].copy_from_slice(bytes);
            return Ok(());
        }
        self.vm.write_array(self.base.wrapping_add(offset), bytes)
    }

    /// The dword at `offset`, or 0 if it reaches beyond `end`.
    #[inline(always)]
    pub fn dword(&self, offset: u64, end: u64) -> Result<u32, PageFault> {
        if offset >= end || end - offset < 4 {
            self.count_cut();
            return Ok(0);
        }
        if self.is_local {
            self.record_local(offset, 4, false);
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&self.local[offset as usize..offset as usize + 4]);
            return Ok(u32::from_le_bytes(bytes));
        }
        self.vm.read_u32(self.base.wrapping_add(offset))
    }

    /// Writes the dword at `offset`. Does nothing if it reaches beyond `end`.
    #[inline(always)]
    pub fn set_dword(&mut self, offset: u64, end: u64, value: u32) -> Result<(), PageFault> {
        if offset >= end || end - offset < 4 {
            self.count_cut();
            return Ok(());
        }
        if self.is_local {
            self.record_local(offset, 4, true);
            self.local[offset as usize..offset as usize + 4].copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        self.vm.write_u32(self.base.wrapping_add(offset), value)
    }
}
