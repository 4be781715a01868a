//! FXT1: blocks of 8 x 4 texels in 128 bits. A block has two halves of 4 x 4 texels and one of four
//! modes (GL_3DFX_texture_compression_FXT1).

use super::super::value::Value;
use super::bc1::between;
use super::texels::{Block, Bytes, expand};

/// A palette for each half, and the indices.
pub struct Fxt1 {
    palettes: [[Value; 8]; 2],
    indices: u128,
    /// Bits of an index.
    width: u32,
}

type Colour = [u8; 4];

const TRANSPARENT: Colour = [0; 4];

/// The bits of a block from the lowest up.
#[derive(Clone, Copy)]
struct Bits(u128);

impl Bits {
    #[inline(always)]
    fn field(self, low: u32, count: u32) -> u32 {
        (self.0 >> low) as u32 & ((1 << count) - 1)
    }

    /// An opaque colour of 5 bits a channel. Blue has the lowest bits.
    #[inline(always)]
    fn colour(self, low: u32) -> Colour {
        [self.five(low + 10), self.five(low + 5), self.five(low), 0xff]
    }

    /// An opaque colour whose green has a sixth bit, `green`, below the others.
    #[inline(always)]
    fn colour_with(self, low: u32, green: u32) -> Colour {
        let mut colour = self.colour(low);
        colour[1] = expand(self.field(low + 5, 5) << 1 | green, 6);
        colour
    }

    #[inline(always)]
    fn five(self, low: u32) -> u8 {
        expand(self.field(low, 5), 5)
    }
}

impl Fxt1 {
    /// Reads a block of FXT1. Its highest bits select the mode.
    #[inline]
    pub fn read(bytes: &[u8; 16]) -> Fxt1 {
        let bits = Bits(u128::from_le_bytes(*bytes));
        let (palettes, width) = match bits.field(125, 3) {
            0 | 1 => ([high(bits); 2], 3),
            2 => ([chroma(bits); 2], 2),
            3 if bits.field(124, 1) == 0 => ([alpha(bits); 2], 2),
            3 => ([0, 1].map(|half| alpha_between(bits, half)), 2),
            _ => ([0, 1].map(|half| mixed(bits, half)), 2),
        };
        let values = Bytes::new(false);
        let palettes = palettes.map(|palette| palette.map(|colour| values.value(colour)));
        Fxt1 { palettes, indices: bits.0, width }
    }
}

impl Block for Fxt1 {
    const WIDTH: usize = 8;

    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        let n = (16 * (x / 4) + 4 * y + x % 4) as u32;
        let index = (self.indices >> (n * self.width)) as usize & ((1 << self.width) - 1);
        self.palettes[(x / 4) & 1][index]
    }
}

/// Mixes two colours: `parts` of `of` parts are from the second one.
#[inline(always)]
fn mix(first: Colour, second: Colour, parts: u32, of: u32) -> Colour {
    std::array::from_fn(|n| between(of - parts, first[n], parts, second[n]))
}

/// A palette of four colours, of which two lie between the others.
#[inline(always)]
fn ramp(first: Colour, second: Colour) -> [Colour; 8] {
    four([first, mix(first, second, 1, 3), mix(first, second, 2, 3), second])
}

#[inline(always)]
fn four(colours: [Colour; 4]) -> [Colour; 8] {
    let [first, second, third, fourth] = colours;
    [first, second, third, fourth, TRANSPARENT, TRANSPARENT, TRANSPARENT, TRANSPARENT]
}

/// CC_HI: the palette has two colours, five between them, and a transparent entry.
fn high(bits: Bits) -> [Colour; 8] {
    let (first, second) = (bits.colour(96), bits.colour(111));
    std::array::from_fn(|n| if n < 7 { mix(first, second, n as u32, 6) } else { TRANSPARENT })
}

/// CC_CHROMA: four colours.
fn chroma(bits: Bits) -> [Colour; 8] {
    four([64, 79, 94, 109].map(|low| bits.colour(low)))
}

/// CC_MIXED: two colours for each half. If bit 124 is set, the palette also has their mean and a
/// transparent entry, and only the second colour has six bits of green. Otherwise it has two
/// colours between them, and both colours of the half have six bits of green.
fn mixed(bits: Bits, half: u32) -> [Colour; 8] {
    let low = 64 + 30 * half;
    let green = bits.field(125 + half, 1);
    let second = bits.colour_with(low + 15, green);
    if bits.field(124, 1) == 1 {
        let first = bits.colour(low);
        return four([first, mix(first, second, 1, 2), second, TRANSPARENT]);
    }
    // The lowest bit of the first colour's green is `green`, inverted if the high bit of the half's
    // first index is set.
    let first = bits.colour_with(low, green ^ bits.field(1 + 32 * half, 1));
    ramp(first, second)
}

/// A colour of CC_ALPHA with its alpha.
fn with_alpha(bits: Bits, number: u32) -> Colour {
    let [red, green, blue, _] = bits.colour(64 + 15 * number);
    [red, green, blue, bits.five(109 + 5 * number)]
}

/// CC_ALPHA: the palette has three colours with alpha, and a transparent entry.
fn alpha(bits: Bits) -> [Colour; 8] {
    four([with_alpha(bits, 0), with_alpha(bits, 1), with_alpha(bits, 2), TRANSPARENT])
}

/// CC_ALPHA with interpolation. The palette goes from the first colour (left half) or the third
/// colour (right half) to the second.
fn alpha_between(bits: Bits, half: u32) -> [Colour; 8] {
    ramp(with_alpha(bits, 2 * half), with_alpha(bits, 1))
}
