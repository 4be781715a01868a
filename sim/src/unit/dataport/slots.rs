//! Slots: the lanes of a message, their addresses, and the mask of active slots.

use super::window::Target;
use crate::assumptions::OFFSETS_ADD_BEYOND_32_BITS;
use crate::eu::regions::{REGISTER, Registers};
use crate::mem::ADDRESS_MASK;

/// Maximum number of slots of a message.
pub(super) const SLOTS: usize = 16;

/// Number of slots of a message, and their layout in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Simd {
    /// SIMD4x2: two slots, one in each half of a register (MAP32B_SIMD4X2, 2d p.424).
    Two,
    /// Eight slots: one register holds a dword of each (MACR_32B, 2d p.439).
    Eight,
    /// Sixteen slots: two registers hold a dword of each.
    Sixteen,
}

impl Simd {
    /// Number of slots.
    pub const fn count(self) -> usize {
        match self {
            Simd::Two => 2,
            Simd::Eight => 8,
            Simd::Sixteen => 16,
        }
    }

    /// Number of registers that hold one dword of each slot.
    pub const fn registers(self) -> usize {
        match self {
            Simd::Two | Simd::Eight => 1,
            Simd::Sixteen => 2,
        }
    }

    /// Number of channels of a slot.
    pub const fn channels(self) -> usize {
        match self {
            Simd::Two => 4,
            Simd::Eight | Simd::Sixteen => 1,
        }
    }

    /// Distance in bytes between the values of adjacent slots. A value has `width` bytes.
    pub const fn stride(self, width: usize) -> usize {
        match self {
            Simd::Two => REGISTER / 2,
            Simd::Eight | Simd::Sixteen => width,
        }
    }

    /// Number of registers that hold one value of `width` bytes of each slot.
    pub const fn registers_of(self, width: usize) -> usize {
        match self {
            Simd::Two => 1,
            Simd::Eight | Simd::Sixteen => self.registers() * width / 4,
        }
    }

    /// Mask of active slots: their channel is enabled, and the pixel mask of the header includes
    /// them. A slot of SIMD4x2 has four channels and is active if one of them is enabled. Pixel
    /// masks do not apply to SIMD4x2 (2d p.299).
    pub const fn active(self, channels: u32, pixels: u32) -> u32 {
        match self {
            Simd::Two => (channels & 0x0f != 0) as u32 | ((channels & 0xf0 != 0) as u32) << 1,
            Simd::Eight => channels & pixels & 0xff,
            Simd::Sixteen => channels & pixels & 0xffff,
        }
    }
}

/// The slots of a message.
#[derive(Debug)]
pub(super) struct Slots {
    /// Number of slots, and their layout in registers.
    pub simd: Simd,
    /// Mask of active slots.
    pub mask: u32,
    /// Offset in the window of each slot's first byte.
    pub offsets: [u64; SLOTS],
    /// Offset in the window at which the memory of each slot ends.
    pub ends: [u64; SLOTS],
}

impl Slots {
    /// Slots with 32-bit offsets, which are read from byte `at` of the registers on. Bits below the
    /// alignment are ignored (assumptions::LOW_OFFSET_BITS_ARE_DROPPED).
    pub fn short(simd: Simd, mask: u32, registers: &Registers, at: usize, range: Range) -> Slots {
        let mut offsets = [0; SLOTS];
        match simd {
            Simd::Two => {
                for (n, offset) in offsets.iter_mut().take(simd.count()).enumerate() {
                    *offset = range.offset(registers.u32(at + n * simd.stride(4)));
                }
            }
            Simd::Eight | Simd::Sixteen => {
                for (n, offsets) in offsets.chunks_exact_mut(8).take(simd.registers()).enumerate() {
                    let row: [u32; 8] = registers.row(at + n * REGISTER);
                    for (offset, own) in offsets.iter_mut().zip(row) {
                        *offset = range.offset(own);
                    }
                }
            }
        }
        Slots { simd, mask, offsets, ends: [range.end; SLOTS] }
    }

    /// Slots with 64-bit addresses, which are read from byte `at` of the registers on. Bits above
    /// 47 and bits below `align` are ignored.
    pub fn long(simd: Simd, mask: u32, registers: &Registers, at: usize, align: u64) -> Slots {
        let mut offsets = [0; SLOTS];
        let place = |address: u64| address & ADDRESS_MASK & !(align - 1);
        match simd {
            Simd::Two => {
                for (n, offset) in offsets.iter_mut().take(simd.count()).enumerate() {
                    *offset = place(registers.u64(at + n * simd.stride(8)));
                }
            }
            Simd::Eight | Simd::Sixteen => {
                for (n, offsets) in
                    offsets.chunks_exact_mut(4).take(2 * simd.registers()).enumerate()
                {
                    let row: [u64; 4] = registers.row(at + n * REGISTER);
                    for (offset, own) in offsets.iter_mut().zip(row) {
                        *offset = place(own);
                    }
                }
            }
        }
        Slots { simd, mask, offsets, ends: [u64::MAX; SLOTS] }
    }

    /// Slots that all access the first `bytes` bytes of the window.
    pub fn all_at_once(simd: Simd, mask: u32, bytes: u64) -> Slots {
        Slots { simd, mask, offsets: [0; SLOTS], ends: [bytes; SLOTS] }
    }

    /// Slots in a structured buffer of `count` elements of `pitch` bytes. Each slot has an element
    /// number and a byte offset in the element (MAP32B_USUV_SIMD8 and related layouts, 2d
    /// p.423-438). With 8 or 16 slots, the registers hold the element numbers of all slots, then
    /// the offsets of all slots. In SIMD4x2, the element number and the offset of a slot are in
    /// adjacent dwords. Elements from `count` on, and offsets beyond an element, are out of bounds.
    pub fn structured(
        simd: Simd,
        mask: u32,
        registers: &Registers,
        at: usize,
        count: u64,
        pitch: u64,
    ) -> Slots {
        let mut slots = Slots { simd, mask, offsets: [0; SLOTS], ends: [0; SLOTS] };
        let stride = simd.stride(4);
        let within = match simd {
            Simd::Two => at + 4,
            Simd::Eight | Simd::Sixteen => at + simd.registers() * REGISTER,
        };
        for n in 0..simd.count() {
            let element = u64::from(registers.u32(at + n * stride));
            let offset = u64::from(registers.u32(within + n * stride) & !3);
            slots.offsets[n] = element * pitch + offset;
            slots.ends[n] = if element < count { (element + 1) * pitch } else { 0 };
        }
        slots
    }

    /// True if slot `n` is active.
    #[inline(always)]
    pub fn has(&self, n: usize) -> bool {
        self.mask >> n & 1 == 1
    }

    /// True if the eight slots from `first` on are active, contiguous in memory with `bytes` bytes
    /// each, and inside the bounds.
    #[inline(always)]
    pub fn row(&self, first: usize, bytes: u64) -> bool {
        let start = self.offsets[first];
        let mut differences = 0;
        for n in 0..8 {
            differences |= self.offsets[first + n] ^ (start + n as u64 * bytes);
        }
        self.mask >> first & 0xff == 0xff
            && differences == 0
            && start + 8 * bytes <= self.ends[first]
            && self.ends[first] == self.ends[first + 7]
    }

    /// True if the eight slots from `first` on are active and access the same `bytes` bytes, inside
    /// the bounds.
    #[inline(always)]
    pub fn same(&self, first: usize, bytes: u64) -> bool {
        let start = self.offsets[first];
        let mut differences = 0;
        for n in 1..8 {
            differences |=
                self.offsets[first + n] ^ start | self.ends[first + n] ^ self.ends[first];
        }
        self.mask >> first & 0xff == 0xff && differences == 0 && start + bytes <= self.ends[first]
    }
}

/// How the 32-bit offsets of slots become byte offsets in a window, and where the window ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Value that is added to each offset. Value and offset count units of `unit` bytes.
    pub global: u32,
    /// Number of bytes in a unit.
    pub unit: u64,
    /// Bytes that accesses are aligned to.
    pub align: u64,
    /// Offset at which the window ends, in bytes.
    pub end: u64,
    /// Mask of the bits of a byte offset that count ([`Target::reach`]).
    pub reach: u64,
}

impl Range {
    /// A range for byte offsets of dwords in `target`, without a global offset.
    pub const fn dwords(target: Target, end: u64) -> Range {
        Range { global: 0, unit: 1, align: 4, end, reach: target.reach() }
    }

    /// Byte offset in the window for a slot's `offset`.
    #[inline(always)]
    pub fn offset(self, offset: u32) -> u64 {
        (sum(self.global, offset) * self.unit) & self.reach & !(self.align - 1)
    }
}

/// Adds the Global Offset of the header and the offset of a slot or block.
#[inline(always)]
pub(super) fn sum(global: u32, own: u32) -> u64 {
    match OFFSETS_ADD_BEYOND_32_BITS {
        true => u64::from(global) + u64::from(own),
        false => global.wrapping_add(own).into(),
    }
}

/// `target`, but if it is `Memory`, without an incomplete dword at its end.
pub(super) fn whole_dwords(target: Target) -> Target {
    match target {
        Target::Memory { base, size } => Target::Memory { base, size: size & !3 },
        other => other,
    }
}
