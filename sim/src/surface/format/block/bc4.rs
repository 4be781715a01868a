//! BC4 and BC5: a channel with two values of a byte, more values between them, and an index of
//! three bits for each texel. BC5 has two such channels. The alpha of BC3 is such a channel too.

use super::texels::Channel;
use crate::assumptions::ENDS_OF_SIGNED_BLOCKS_ARE_CLAMPED_FIRST;

/// Eight values and an index for each texel.
pub struct Ramp {
    values: [f32; 8],
    indices: u64,
}

impl Ramp {
    /// Reads a channel with values from 0 to 1.
    #[inline]
    pub fn unorm(bytes: &[u8; 8]) -> Ramp {
        let ends = [bytes[0], bytes[1]].map(i32::from);
        Ramp::read(bytes, ends, ends[0] > ends[1], [0, 255])
    }

    /// Reads a channel with values from -1 to 1. The bytes -128 and -127 both mean -1.
    #[inline]
    pub fn snorm(bytes: &[u8; 8]) -> Ramp {
        let raw = [bytes[0], bytes[1]].map(u8::cast_signed);
        let ends = raw.map(|end| i32::from(end).max(-127));
        let falling = if ENDS_OF_SIGNED_BLOCKS_ARE_CLAMPED_FIRST {
            ends[0] > ends[1]
        } else {
            raw[0] > raw[1]
        };
        Ramp::read(bytes, ends, falling, [-127, 127])
    }

    /// If `falling` (the first endpoint is greater than the second), six values lie between the
    /// endpoints. Otherwise four values do, and the palette also has the least and the greatest
    /// value. Values are exact quotients, rounded to a float.
    #[inline(always)]
    fn read(
        bytes: &[u8; 8],
        [first, second]: [i32; 2],
        falling: bool,
        [least, most]: [i32; 2],
    ) -> Ramp {
        let steps = if falling { 7 } else { 5 };
        let mut values = [first * steps, second * steps, 0, 0, 0, 0, least * steps, most * steps];
        for n in 1..steps {
            values[n as usize + 1] = first * (steps - n) + second * n;
        }
        let whole = (most * steps) as f32;
        Ramp {
            values: values.map(|value| value as f32 / whole),
            indices: u64::from_le_bytes(*bytes) >> 16,
        }
    }
}

impl Channel for Ramp {
    #[inline(always)]
    fn value(&self, x: usize, y: usize) -> f32 {
        self.values[(self.indices >> (12 * y + 3 * x) & 7) as usize]
    }
}
