//! EAC: a channel with a base value. Each texel adds a multiple of one of eight modifiers to it.
//! R11 and RG11 have one or two such channels with 11 bits. The alpha of ETC2 is such a channel
//! with 8 bits (OpenGL ES 3, appendix C).

use super::texels::{Channel, field};

/// Modifiers by table and index.
const MODIFIERS: [[i8; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// Eight values and an index for each texel.
pub struct Eac {
    values: [f32; 8],
    word: u64,
}

impl Eac {
    /// Reads alpha of 8 bits.
    #[inline]
    pub fn alpha(bytes: &[u8; 8]) -> Eac {
        let base = i32::from(bytes[0]);
        Eac::read(bytes, |multiplier, modifier| base + multiplier * modifier, 0, 255)
    }

    /// Reads a channel of 11 bits with values from 0 to 1.
    #[inline]
    pub fn unsigned(bytes: &[u8; 8]) -> Eac {
        let base = 8 * i32::from(bytes[0]) + 4;
        Eac::read(bytes, |multiplier, modifier| base + step(multiplier) * modifier, 0, 2047)
    }

    /// Reads a channel of 11 bits with values from -1 to 1. Base -128 is read as -127.
    #[inline]
    pub fn signed(bytes: &[u8; 8]) -> Eac {
        let base = 8 * i32::from(bytes[0].cast_signed()).max(-127);
        Eac::read(bytes, |multiplier, modifier| base + step(multiplier) * modifier, -1023, 1023)
    }

    #[inline(always)]
    fn read(bytes: &[u8; 8], value: impl Fn(i32, i32) -> i32, least: i32, most: i32) -> Eac {
        let word = u64::from_be_bytes(*bytes);
        let multiplier = field(word, 52, 4) as i32;
        let modifiers = MODIFIERS[field(word, 48, 4) as usize];
        let values = modifiers.map(|modifier| {
            value(multiplier, modifier.into()).clamp(least, most) as f32 / most as f32
        });
        Eac { values, word }
    }
}

/// Factor of the modifiers in channels of 11 bits, in which the base is multiplied by 8.
#[inline(always)]
const fn step(multiplier: i32) -> i32 {
    if multiplier == 0 { 1 } else { 8 * multiplier }
}

impl Channel for Eac {
    /// Indices go down the columns. The first index has the highest bits.
    #[inline(always)]
    fn value(&self, x: usize, y: usize) -> f32 {
        self.values[field(self.word, 45 - 3 * (4 * x + y) as u32, 3) as usize]
    }
}
