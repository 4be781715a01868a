//! Slots: the lanes of a message, where their addresses stand, and which of them take part.

use super::window::Target;
use crate::assumptions::OFFSETS_ADD_BEYOND_32_BITS;
use crate::eu::regions::{REGISTER, Registers};
use crate::mem::ADDRESS_MASK;

/// Most slots of a message.
pub(super) const SLOTS: usize = 16;

/// How many slots a message has and how they lie in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Simd {
    /// SIMD4x2: two slots, one in each half of a register (MAP32B_SIMD4X2, 2d p.424).
    Two,
    /// Eight, a register for a dword of each (MACR_32B, 2d p.439).
    Eight,
    /// Sixteen, two registers.
    Sixteen,
}

impl Simd {
    /// Slots.
    pub const fn count(self) -> usize {
        match self {
            Simd::Two => 2,
            Simd::Eight => 8,
            Simd::Sixteen => 16,
        }
    }

    /// Registers of one dword for each slot.
    pub const fn registers(self) -> usize {
        match self {
            Simd::Two | Simd::Eight => 1,
            Simd::Sixteen => 2,
        }
    }

    /// Bytes from a slot's value of `width` bytes to the next slot's.
    pub const fn stride(self, width: usize) -> usize {
        match self {
            Simd::Two => REGISTER / 2,
            Simd::Eight | Simd::Sixteen => width,
        }
    }

    /// Registers of one value of `width` bytes for each slot.
    pub const fn registers_of(self, width: usize) -> usize {
        match self {
            Simd::Two => 1,
            Simd::Eight | Simd::Sixteen => self.registers() * width / 4,
        }
    }

    /// Slots that take part: those of the enabled channels that the pixel mask of the header does
    /// not leave out. A slot of SIMD4x2 has four channels, of which one suffices; pixel masks do
    /// not apply to it (2d p.299).
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
    /// How many and where.
    pub simd: Simd,
    /// Those that take part, one bit each.
    pub mask: u32,
    /// Byte of the window at which each begins.
    pub offsets: [u64; SLOTS],
    /// Byte of the window at which the memory of each ends.
    pub ends: [u64; SLOTS],
}

impl Slots {
    /// Slots at 32-bit offsets, which stand from byte `at` of the registers on. Bits below the
    /// alignment are not looked at (assumptions::LOW_OFFSET_BITS_ARE_DROPPED).
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

    /// Slots at 64-bit addresses, which stand from byte `at` of the registers on. Bits above 47 and
    /// below those of `align` are not looked at.
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

    /// Slots that all mean the first `bytes` bytes of the window.
    pub fn all_at_once(simd: Simd, mask: u32, bytes: u64) -> Slots {
        Slots { simd, mask, offsets: [0; SLOTS], ends: [bytes; SLOTS] }
    }

    /// Slots in a structured buffer: numbers of elements, then offsets in them (MAP32B_USUV_SIMD8
    /// and its siblings, 2d p.423-438). Outside are elements that there are not, and offsets beyond
    /// an element.
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

    /// True if slot `n` takes part.
    #[inline(always)]
    pub fn has(&self, n: usize) -> bool {
        self.mask >> n & 1 == 1
    }

    /// True if the eight slots from `first` on all take part and lie one behind the other, `bytes`
    /// bytes each, all inside.
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

    /// True if the eight slots from `first` on all take part and are the same `bytes` bytes, all
    /// inside.
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

/// Where 32-bit offsets count from, in what, and where they end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Added to each offset, in units.
    pub global: u32,
    /// Bytes of a unit.
    pub unit: u64,
    /// Bytes that accesses are aligned to.
    pub align: u64,
    /// Byte at which the window ends.
    pub end: u64,
    /// Bits of an offset in bytes that count ([`Target::reach`]).
    pub reach: u64,
}

impl Range {
    /// Offsets in bytes, to dwords.
    pub const fn dwords(target: Target, end: u64) -> Range {
        Range { global: 0, unit: 1, align: 4, end, reach: target.reach() }
    }

    /// Byte of the window for `offset`.
    #[inline(always)]
    pub fn offset(self, offset: u32) -> u64 {
        (sum(self.global, offset) * self.unit) & self.reach & !(self.align - 1)
    }
}

/// The offset of a slot or block behind the Global Offset of the header.
#[inline(always)]
pub(super) fn sum(global: u32, own: u32) -> u64 {
    match OFFSETS_ADD_BEYOND_32_BITS {
        true => u64::from(global) + u64::from(own),
        false => global.wrapping_add(own).into(),
    }
}

/// Bytes of `target` that dwords can use: the last ones may be too few.
pub(super) fn whole_dwords(target: Target) -> Target {
    match target {
        Target::Memory { base, size } => Target::Memory { base, size: size & !3 },
        other => other,
    }
}
