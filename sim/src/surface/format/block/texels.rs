//! Items that the block decoders share: access to the texels of a block, and conversion of bytes to
//! values.

use super::super::convert;
use super::super::value::Value;

/// A block that has been read.
pub trait Block {
    /// Number of texels in a row. All blocks have four rows.
    const WIDTH: usize = 4;

    /// The texel in column `x` and row `y`.
    fn texel(&self, x: usize, y: usize) -> Value;
}

/// A block of one channel.
pub trait Channel {
    /// The channel of the texel in column `x` and row `y`.
    fn value(&self, x: usize, y: usize) -> f32;
}

/// The bits of the float 1.
pub const ONE: u32 = 1.0f32.to_bits();

/// Converts bytes to red, green, blue and alpha. Alpha never follows the sRGB curve.
#[derive(Clone, Copy)]
pub struct Bytes {
    colour: &'static [f32; 256],
    alpha: &'static [f32; 256],
}

impl Bytes {
    /// The conversion for a format. `srgb` is true if its colours follow the sRGB curve.
    pub fn new(srgb: bool) -> Bytes {
        Bytes { colour: convert::of_bytes(srgb), alpha: convert::of_bytes(false) }
    }

    /// Converts the bytes of red, green, blue and alpha to a texel.
    #[inline(always)]
    pub fn value(&self, [red, green, blue, alpha]: [u8; 4]) -> Value {
        let colour = |byte: u8| self.colour[usize::from(byte)].to_bits();
        [colour(red), colour(green), colour(blue), self.alpha[usize::from(alpha)].to_bits()]
    }
}

/// `count` bits of a word from bit `low` up.
#[inline(always)]
pub const fn field(word: u64, low: u32, count: u32) -> u32 {
    (word >> low) as u32 & ((1 << count) - 1)
}

/// Expands a value of `bits` bits (4 to 8) to 8 bits: the highest bits are repeated below the
/// lowest.
#[inline(always)]
pub const fn expand(value: u32, bits: u32) -> u8 {
    (value << (8 - bits) | value >> (2 * bits - 8)) as u8
}
