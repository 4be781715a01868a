//! BC1, BC2 and BC3 (DXT1, DXT3 and DXT5): two colours of 5, 6 and 5 bits, one or two more colours
//! between them, and an index of two bits for each texel. BC2 and BC3 have eight bytes of alpha
//! before the colours.

use super::super::convert;
use super::super::value::Value;
use super::bc4::Ramp;
use super::texels::{Block, Bytes, Channel, expand};
use crate::assumptions::COLOURS_BETWEEN_ARE_ROUNDED;

/// A decoded block of colours: four colours, and an index for each texel.
pub struct Bc1 {
    palette: [Value; 4],
    indices: u32,
}

impl Bc1 {
    /// Reads a block of BC1. If the first colour is not greater than the second, compared as
    /// numbers, only one colour lies between them. Then the last colour is black with alpha
    /// `black`.
    #[inline]
    pub fn alone(bytes: &[u8; 8], black: u8, srgb: bool) -> Bc1 {
        let [first, second, _, _] = words(bytes);
        Bc1::read(bytes, first > second, black, srgb)
    }

    /// Reads the colours of a block with separate alpha (BC2 or BC3). Two colours always lie
    /// between the two that the block stores.
    #[inline]
    fn colours(bytes: &[u8; 8], srgb: bool) -> Bc1 {
        Bc1::read(bytes, true, 0xff, srgb)
    }

    #[inline(always)]
    fn read(bytes: &[u8; 8], four: bool, black: u8, srgb: bool) -> Bc1 {
        let [first, second, low, high] = words(bytes).map(u32::from);
        let (first, second) = (rgb(first), rgb(second));
        let mix = |one: u32, other: u32| -> [u8; 4] {
            let mut mixed = [0xff; 4];
            for n in 0..3 {
                mixed[n] = between(one, first[n], other, second[n]);
            }
            mixed
        };
        let between = if four { [mix(2, 1), mix(1, 2)] } else { [mix(1, 1), [0, 0, 0, black]] };
        let values = Bytes::new(srgb);
        let palette =
            [mix(1, 0), mix(0, 1), between[0], between[1]].map(|colour| values.value(colour));
        Bc1 { palette, indices: high << 16 | low }
    }
}

impl Block for Bc1 {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        self.palette[(self.indices >> (8 * y + 2 * x) & 3) as usize]
    }
}

/// The mean of two bytes with the weights `first_parts` and `second_parts`, rounded to the nearest
/// byte, halves up (assumptions::COLOURS_BETWEEN_ARE_ROUNDED).
#[inline(always)]
pub fn between(first_parts: u32, first: u8, second_parts: u32, second: u8) -> u8 {
    let parts = first_parts + second_parts;
    let half = if COLOURS_BETWEEN_ARE_ROUNDED { parts / 2 } else { 0 };
    ((first_parts * u32::from(first) + second_parts * u32::from(second) + half) / parts) as u8
}

fn words(bytes: &[u8; 8]) -> [u16; 4] {
    let word = |n: usize| u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]);
    [word(0), word(1), word(2), word(3)]
}

/// Expands red, green and blue of 5, 6 and 5 bits to bytes. Red has the highest bits.
#[inline(always)]
fn rgb(colour: u32) -> [u8; 3] {
    [expand(colour >> 11, 5), expand(colour >> 5 & 0x3f, 6), expand(colour & 0x1f, 5)]
}

/// A decoded block of BC2: colours, and four bits of alpha for each texel.
pub struct Bc2 {
    colours: Bc1,
    alpha: u64,
}

impl Bc2 {
    /// Reads a block of BC2.
    #[inline]
    pub fn read(bytes: &[u8; 16], srgb: bool) -> Bc2 {
        let [alpha, colours] = parts(bytes);
        Bc2 { colours: Bc1::colours(colours, srgb), alpha: u64::from_le_bytes(*alpha) }
    }
}

impl Block for Bc2 {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        let [red, green, blue, _] = self.colours.texel(x, y);
        let alpha = convert::unorm(self.alpha >> (16 * y + 4 * x) & 0xf, 4);
        [red, green, blue, alpha.to_bits()]
    }
}

/// A decoded block of BC3: colours, and alpha as in BC4.
pub struct Bc3 {
    colours: Bc1,
    alpha: Ramp,
}

impl Bc3 {
    /// Reads a block of BC3.
    #[inline]
    pub fn read(bytes: &[u8; 16], srgb: bool) -> Bc3 {
        let [alpha, colours] = parts(bytes);
        Bc3 { colours: Bc1::colours(colours, srgb), alpha: Ramp::unorm(alpha) }
    }
}

impl Block for Bc3 {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        let [red, green, blue, _] = self.colours.texel(x, y);
        [red, green, blue, self.alpha.value(x, y).to_bits()]
    }
}

/// The two halves of a block.
#[inline(always)]
pub fn parts(bytes: &[u8; 16]) -> [&[u8; 8]; 2] {
    let halves = bytes.as_chunks().0;
    [&halves[0], &halves[1]]
}
