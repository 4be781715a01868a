//! Monochrome sources: one bit per pixel, expanded to colours.

use super::depth::Depth;
use super::pattern::Expansion;
use crate::assumptions::BIT_PACKED_TEXT_STARTS_ONCE;
use crate::mem::{PageFault, Vm};

/// A monochrome source. In each byte, the highest bit is the leftmost pixel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bitmap {
    /// The memory or packet that holds the bits.
    pub bits: Bits,
    /// Bits in a row's first byte before its first pixel: 0 to 7 (Monochrome Source Start).
    pub start: u8,
    /// The alignment of rows.
    pub packing: Packing,
    /// The colours of zeros and ones.
    pub expansion: Expansion,
}

/// The storage of the bits of a bitmap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bits {
    /// In memory, from this graphics address on.
    Memory(u64),
    /// In the command.
    Immediate(Vec<u8>),
}

/// Alignment of the rows of a bitmap: where each row begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// At a multiple of 16 bits: all bitmaps except text (BR00, 2d p.43).
    Word,
    /// At a multiple of 8 bits: byte packed text.
    Byte,
    /// At the next bit after the previous row: bit packed text.
    Bit,
}

impl Bitmap {
    /// Bit offset of the first pixel of row `row`, for rows of `width` pixels.
    fn offset(&self, width: u64, row: u64) -> u64 {
        let start = u64::from(self.start);
        match self.packing {
            Packing::Word => row * (start + width).next_multiple_of(16) + start,
            Packing::Byte => row * (start + width).next_multiple_of(8) + start,
            Packing::Bit if BIT_PACKED_TEXT_STARTS_ONCE => row * width + start,
            Packing::Bit => row * (start + width) + start,
        }
    }

    /// Number of bytes of a bitmap of `width` pixels and `height` (at least 1) rows, including the
    /// padding after the last row.
    pub(super) fn bytes(&self, width: u64, height: u64) -> u64 {
        let bits = match self.packing {
            Packing::Bit => self.offset(width, height - 1) + width,
            Packing::Word | Packing::Byte => self.offset(width, height) - u64::from(self.start),
        };
        bits.div_ceil(8)
    }

    /// Copies the bits of `count` pixels of row `row`, from pixel `x` on, to `out`. A row of the
    /// bitmap has `full_width` pixels. In `out`, the first pixel is the highest bit of the first
    /// byte; bits after the last pixel have any value.
    pub(super) fn row(
        &self,
        vm: &Vm<'_>,
        full_width: u64,
        row: u64,
        x: u64,
        count: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), PageFault> {
        let first = self.offset(full_width, row) + x;
        let (byte, shift) = (first / 8, (first % 8) as u32);
        out.clear();
        out.resize((u64::from(shift) + count).div_ceil(8) as usize, 0);
        match &self.bits {
            Bits::Memory(address) => vm.read(address.wrapping_add(byte), out)?,
            Bits::Immediate(bytes) => {
                let from = bytes.get(byte as usize..).unwrap_or(&[]);
                let length = from.len().min(out.len());
                out[..length].copy_from_slice(&from[..length]);
            }
        }
        if shift != 0 {
            for index in 0..out.len() {
                let next = out.get(index + 1).copied().unwrap_or(0);
                out[index] = out[index] << shift | next >> (8 - shift);
            }
        }
        Ok(())
    }
}

/// Turns bits into pixels, four at a time.
pub(super) enum Expander {
    Bits8([[u8; 4]; 16]),
    Bits16([[u8; 8]; 16]),
    Bits32([[u8; 16]; 16]),
}

impl Expander {
    /// Makes the tables that expand a 0 to pixel `zero` and a 1 to pixel `one`.
    pub(super) fn new(depth: Depth, zero: u32, one: u32) -> Self {
        let colors = [zero, one];
        match depth.bytes() {
            1 => Expander::Bits8(table::<1, 4>(colors)),
            2 => Expander::Bits16(table::<2, 8>(colors)),
            _ => Expander::Bits32(table::<4, 16>(colors)),
        }
    }

    /// Fills `out` with the pixels of `bits`, the highest bit first.
    pub(super) fn expand(&self, bits: &[u8], out: &mut [u8]) {
        match self {
            Expander::Bits8(table) => expand(table, bits, out),
            Expander::Bits16(table) => expand(table, bits, out),
            Expander::Bits32(table) => expand(table, bits, out),
        }
    }
}

/// Table of the four pixels for each value of four bits.
fn table<const SIZE: usize, const FOUR: usize>(colors: [u32; 2]) -> [[u8; FOUR]; 16] {
    std::array::from_fn(|bits| {
        let mut pixels = [0; FOUR];
        for (x, to) in pixels.chunks_exact_mut(SIZE).enumerate() {
            to.copy_from_slice(&colors[bits >> (3 - x) & 1].to_le_bytes()[..SIZE]);
        }
        pixels
    })
}

fn expand<const FOUR: usize>(table: &[[u8; FOUR]; 16], bits: &[u8], out: &mut [u8]) {
    let (fours, rest) = out.as_chunks_mut::<FOUR>();
    for (two, byte) in fours.chunks_mut(2).zip(bits) {
        for (to, nibble) in two.iter_mut().zip([byte >> 4, byte & 15]) {
            *to = table[usize::from(nibble)];
        }
    }
    let done = fours.len();
    if let Some(byte) = bits.get(done / 2) {
        let nibble = if done.is_multiple_of(2) { byte >> 4 } else { byte & 15 };
        rest.copy_from_slice(&table[usize::from(nibble)][..rest.len()]);
    }
}
