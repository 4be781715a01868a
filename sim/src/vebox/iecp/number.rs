//! Numbers with a fraction, and samples of 12 bits.

use crate::vebox::picture::MAX;

/// A number with `bits` bits of fraction.
pub fn fixed(value: f64, bits: u32) -> i32 {
    (value * f64::from(1_u32 << bits)) as i32
}

/// A number without its `bits` bits of fraction, rounded to the nearest; halves go up.
#[inline]
pub fn rounded(value: i32, bits: u32) -> i32 {
    (value + (1 << (bits - 1))) >> bits
}

/// A sample of 12 bits.
#[inline]
pub fn clip(value: i32) -> u16 {
    value.clamp(0, i32::from(MAX)) as u16
}
