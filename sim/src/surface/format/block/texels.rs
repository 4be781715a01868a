//! What the decoders of blocks have in common: a block's texels, and the values of its bytes.

use super::super::convert;
use super::super::value::Value;

/// A block that has been read.
pub trait Block {
    /// Texels in a row, four rows.
    const WIDTH: usize = 4;

    /// A texel, by row and column.
    fn texel(&self, x: usize, y: usize) -> Value;
}

/// A block of one channel.
pub trait Channel {
    /// The channel of a texel, by row and column.
    fn value(&self, x: usize, y: usize) -> f32;
}

/// The bits of 1.
pub const ONE: u32 = 1.0f32.to_bits();

/// What bytes stand for: red, green and blue, and alpha, which never follows the sRGB curve.
#[derive(Clone, Copy)]
pub struct Bytes {
    colour: &'static [f32; 256],
    alpha: &'static [f32; 256],
}

impl Bytes {
    /// Bytes of a format whose colours follow the sRGB curve, or not.
    pub fn new(srgb: bool) -> Bytes {
        Bytes { colour: convert::of_bytes(srgb), alpha: convert::of_bytes(false) }
    }

    /// The texel of four bytes.
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

/// Eight bits for `bits` of them, 4 at least: the highest bits are repeated below the lowest.
#[inline(always)]
pub const fn expand(value: u32, bits: u32) -> u8 {
    (value << (8 - bits) | value >> (2 * bits - 8)) as u8
}
