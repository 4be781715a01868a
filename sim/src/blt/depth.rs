//! Pixel layouts: size and channels.

use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth};

/// Layout of a pixel (BR13 Color Depth, 2d p.57).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// 8 bits, one channel.
    Bits8,
    /// 16 bits: 5 of red, 6 of green, 5 of blue.
    Bits565,
    /// 16 bits: 1 of alpha, 5 of red, of green, of blue.
    Bits1555,
    /// 32 bits: 8 of alpha, of red, of green, of blue.
    Bits32,
}

impl Depth {
    /// The layout that a packet's field names.
    pub fn new(field: BlitColorDepth) -> Self {
        match field {
            BlitColorDepth::_8BPP => Depth::Bits8,
            BlitColorDepth::_16BPP_565 => Depth::Bits565,
            BlitColorDepth::_16BPP_1555 => Depth::Bits1555,
            _ => Depth::Bits32,
        }
    }

    /// Bytes of a pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Depth::Bits8 => 1,
            Depth::Bits565 | Depth::Bits1555 => 2,
            Depth::Bits32 => 4,
        }
    }

    /// Masks of the colour channels. A pixel of 8 bits has one channel.
    pub const fn colors(self) -> [u32; 3] {
        match self {
            Depth::Bits8 => [0xff, 0, 0],
            Depth::Bits565 => [0xf800, 0x07e0, 0x001f],
            Depth::Bits1555 => [0x7c00, 0x03e0, 0x001f],
            Depth::Bits32 => [0xff_0000, 0xff00, 0xff],
        }
    }

    /// Mask of alpha; 0 if there is none.
    pub const fn alpha(self) -> u32 {
        match self {
            Depth::Bits8 | Depth::Bits565 => 0,
            Depth::Bits1555 => 0x8000,
            Depth::Bits32 => 0xff00_0000,
        }
    }

    /// Bits of a pixel that are written. The byte mask selects colour, alpha or both for pixels of
    /// 32 bits. It is ignored for smaller pixels (BR00, 2d p.43).
    pub fn write_mask(self, mask: BlitByteMask) -> u32 {
        match (self, mask) {
            (Depth::Bits32, BlitByteMask::WRITE_RGB) => 0x00ff_ffff,
            (Depth::Bits32, BlitByteMask::WRITE_ALPHA) => 0xff00_0000,
            (Depth::Bits32, BlitByteMask::NONE) => 0,
            _ => !0,
        }
    }

    /// Fills `row` with the low bytes of `pixel`.
    pub(super) fn fill(self, pixel: u32, row: &mut [u8]) {
        let pixel = pixel.to_le_bytes();
        for to in row.chunks_exact_mut(self.bytes()) {
            to.copy_from_slice(&pixel[..self.bytes()]);
        }
    }
}
