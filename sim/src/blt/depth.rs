//! Pixel layouts: size and channels.

use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth};
use genxml::gen8::state::SurfaceFormat;

/// Layout of a pixel (BR13 Color Depth, 2d p.57).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// 8 bits, one channel.
    Bits8,
    /// 16 bits, from the highest bit down: 5 bits red, 6 bits green, 5 bits blue.
    Bits565,
    /// 16 bits, from the highest bit down: 1 bit alpha, 5 bits red, 5 bits green, 5 bits blue.
    Bits1555,
    /// 32 bits, from the highest bit down: 8 bits each of alpha, red, green and blue.
    Bits32,
}

impl Depth {
    /// The layout that a packet's field Color Depth selects.
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

    /// The format of a surface with such pixels.
    pub const fn format(self) -> SurfaceFormat {
        match self {
            Depth::Bits8 => SurfaceFormat::R8_UNORM,
            Depth::Bits565 => SurfaceFormat::B5G6R5_UNORM,
            Depth::Bits1555 => SurfaceFormat::B5G5R5A1_UNORM,
            Depth::Bits32 => SurfaceFormat::B8G8R8A8_UNORM,
        }
    }

    /// Masks of red, green and blue. A pixel of 8 bits has one channel, the first of the three.
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

    /// Mask of the bits of a pixel that are written. For pixels of 32 bits, the packet's byte mask
    /// selects colour, alpha, both or nothing. For smaller pixels the byte mask is ignored, and the
    /// result is all ones (BR00, 2d p.43).
    pub fn write_mask(self, mask: BlitByteMask) -> u32 {
        match (self, mask) {
            (Depth::Bits32, BlitByteMask::WRITE_RGB) => 0x00ff_ffff,
            (Depth::Bits32, BlitByteMask::WRITE_ALPHA) => 0xff00_0000,
            (Depth::Bits32, BlitByteMask::NONE) => 0,
            _ => !0,
        }
    }

    /// Fills `row` with copies of one pixel, the low bytes of `pixel`.
    pub(super) fn fill(self, pixel: u32, row: &mut [u8]) {
        let pixel = pixel.to_le_bytes();
        for to in row.chunks_exact_mut(self.bytes()) {
            to.copy_from_slice(&pixel[..self.bytes()]);
        }
    }
}
