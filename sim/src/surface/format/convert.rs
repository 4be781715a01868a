//! Conversion of one channel of a format between its bits and the value that a shader uses.
//!
//! Values of normalized, float, scaled and fixed-point channels are the bits of single floats.
//! Values of other channels are integers of 32 bits. Except on the sRGB curve, each result is
//! computed exactly and rounded once: to nearest, ties to even (gen8_facts 9.1).

use super::Encoding;
use super::half::{half_to_single, single_to_half};
use crate::assumptions::INTEGERS_CLAMP_TO_THEIR_CHANNEL;
use std::sync::LazyLock;

/// The greatest value of `bits` bits.
#[inline(always)]
const fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The signed value of the low `bits` bits.
#[inline(always)]
const fn signed(raw: u64, bits: u32) -> i64 {
    (raw << (64 - bits)) as i64 >> (64 - bits)
}

/// Decodes `raw`, the contents of a channel of `bits` bits, to a value.
#[inline(always)]
pub fn decode(encoding: Encoding, bits: u32, raw: u64) -> u32 {
    match encoding {
        Encoding::Unorm => unorm(raw, bits).to_bits(),
        Encoding::Snorm => snorm(signed(raw, bits), bits).to_bits(),
        Encoding::Uint | Encoding::Passthru | Encoding::Typeless | Encoding::Shared => raw as u32,
        Encoding::Sint => signed(raw, bits) as u32,
        Encoding::Float => float(raw, bits),
        Encoding::Uscaled => (raw as f32).to_bits(),
        Encoding::Sscaled => (signed(raw, bits) as f32).to_bits(),
        Encoding::Sfixed => ((signed(raw, bits) as f64 / 65536.0) as f32).to_bits(),
    }
}

/// Encodes `value` for a channel of `bits` bits.
#[inline(always)]
pub fn encode(encoding: Encoding, bits: u32, value: u32) -> u64 {
    match encoding {
        Encoding::Unorm => to_unorm(f32::from_bits(value), bits),
        Encoding::Snorm => to_snorm(f32::from_bits(value), bits) as u64 & ones(bits),
        Encoding::Uint if INTEGERS_CLAMP_TO_THEIR_CHANNEL => u64::from(value).min(ones(bits)),
        Encoding::Uint => u64::from(value),
        Encoding::Passthru | Encoding::Typeless | Encoding::Shared => u64::from(value),
        Encoding::Sint if !INTEGERS_CLAMP_TO_THEIR_CHANNEL => u64::from(value),
        Encoding::Sint => {
            let most = (ones(bits) >> 1) as i64;
            i64::from(value as i32).clamp(-most - 1, most) as u64 & ones(bits)
        }
        Encoding::Float => to_float(value, bits),
        // Casts saturate, and a NaN becomes 0.
        Encoding::Uscaled => {
            (f64::from(f32::from_bits(value)).round_ties_even() as u64).min(ones(bits))
        }
        Encoding::Sscaled => scaled(f64::from(f32::from_bits(value)), bits),
        Encoding::Sfixed => scaled(f64::from(f32::from_bits(value)) * 65536.0, bits),
    }
}

/// `value` as the nearest integer that fits.
fn scaled(value: f64, bits: u32) -> u64 {
    let most = (ones(bits) >> 1) as i64;
    (value.round_ties_even() as i64).clamp(-most - 1, most) as u64 & ones(bits)
}

/// The value of `raw` in a UNORM channel: `raw` steps of 1 / (2^bits - 1).
#[inline(always)]
pub fn unorm(raw: u64, bits: u32) -> f32 {
    if bits <= 24 {
        // Both operands are exact, so the quotient is rounded only once.
        raw as u32 as f32 / ones(bits) as f32
    } else {
        quotient(raw, ones(bits))
    }
}

/// The value of `raw` in an SNORM channel: `raw` steps of 1 / (2^(bits - 1) - 1), but not less than
/// -1.
#[inline(always)]
pub fn snorm(raw: i64, bits: u32) -> f32 {
    let most = ones(bits) >> 1;
    if bits <= 24 {
        (raw as i32 as f32 / most as f32).max(-1.0)
    } else {
        let magnitude = quotient(raw.unsigned_abs().min(most), most);
        if raw < 0 { -magnitude } else { magnitude }
    }
}

/// `raw` / `most`, rounded once; both have 32 bits at most.
fn quotient(raw: u64, most: u64) -> f32 {
    // Compute at least 28 bits of the quotient. The last bit is set if any bit after it is set (a
    // sticky bit).
    let (scaled, most) = (u128::from(raw) << 60, u128::from(most));
    let bits = (scaled / most) as u64 | u64::from(scaled % most != 0);
    bits as f32 * f32::from_bits((127 - 60) << 23)
}

/// The step nearest to `value`, which is clamped to 0..=1; a NaN becomes 0.
#[inline(always)]
pub fn to_unorm(value: f32, bits: u32) -> u64 {
    // The first comparison is false for a NaN. The compiler makes one vector instruction of each
    // line, without a branch.
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 1.0 { value } else { 1.0 };
    steps(value, ones(bits))
}

/// The step nearest to `value`, which is clamped to -1..=1; a NaN becomes 0.
#[inline(always)]
pub fn to_snorm(value: f32, bits: u32) -> i64 {
    let magnitude = if value.is_nan() { 0.0 } else { value.abs().min(1.0) };
    let steps = steps(magnitude, ones(bits) >> 1) as i64;
    if value < 0.0 { -steps } else { steps }
}

/// `value` times `most`, to the nearest integer, ties to even; `value` is between 0 and 1.
#[inline(always)]
fn steps(value: f32, most: u64) -> u64 {
    if most < 1 << 24 {
        // The product has at most 48 bits, so it is exact. Adding 2^52 leaves the integer in the
        // low bits, rounded by the addition.
        const MAGIC: f64 = (1u64 << 52) as f64;
        (f64::from(value) * most as f64 + MAGIC).to_bits() & 0xffff_ffff
    } else {
        exact_steps(value, most)
    }
}

/// [`steps`] for a product that does not fit a double.
fn exact_steps(value: f32, most: u64) -> u64 {
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32;
    if exponent < 64 {
        // The value is less than 2^-63, which is less than half a step.
        return 0;
    }
    let product = u128::from(bits & 0x7f_ffff | 0x80_0000) * u128::from(most);
    let shift = (127 + 23 - exponent) as u32;
    let (whole, rest, half) =
        (product >> shift, product & ((1 << shift) - 1), 1u128 << (shift - 1));
    (whole + u128::from(rest > half || rest == half && whole & 1 == 1)) as u64
}

/// Decodes a float channel to the bits of a single float.
#[inline(always)]
pub fn float(raw: u64, bits: u32) -> u32 {
    match bits {
        32 => raw as u32,
        16 => half_to_single(raw as u16).to_bits(),
        // Halves without a sign and without the last bits of the mantissa.
        11 => half_to_single((raw << 4) as u16).to_bits(),
        10 => half_to_single((raw << 5) as u16).to_bits(),
        _ => (f64::from_bits(raw) as f32).to_bits(),
    }
}

/// Encodes the bits of a single float for a float channel.
#[inline(always)]
pub fn to_float(value: u32, bits: u32) -> u64 {
    match bits {
        32 => value.into(),
        16 => single_to_half(f32::from_bits(value)).into(),
        11 => to_small_float(value, 6).into(),
        10 => to_small_float(value, 5).into(),
        _ => f64::from(f32::from_bits(value)).to_bits(),
    }
}

/// The nearest unsigned float with 5 exponent bits and `mantissa` mantissa bits. Negative values
/// become 0. Values that are too great become infinity. A NaN stays a NaN.
#[inline(always)]
fn to_small_float(value: u32, mantissa: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let infinity = 31 << mantissa;
    if value & 0x7fff_ffff > INFINITY {
        return infinity | 1 << (mantissa - 1);
    }
    if value >> 31 == 1 {
        return 0;
    }
    let (exponent, shift) = ((value >> 23) as i32 - 112, 23 - mantissa);
    if exponent >= 31 {
        return infinity;
    }
    // If rounding up overflows the mantissa, the carry correctly increments the exponent.
    let (bits, shift) = if exponent > 0 {
        (value - (112 << 23), shift)
    } else {
        (value & 0x7f_ffff | 0x80_0000, (shift + 1).saturating_add_signed(-exponent).min(31))
    };
    let half = (1 << (shift - 1)) - 1 + (bits >> shift & 1);
    (bits + half) >> shift
}

/// Decodes red, green and blue from their mantissas and their shared exponent (gen8_facts 9.2).
#[inline(always)]
pub fn shared_exponent(mantissas: [u32; 3], exponent: u32) -> [u32; 3] {
    // 2^(exponent - 15 - 9), a normal number for all exponents.
    let scale = f32::from_bits((exponent + 127 - 24) << 23);
    mantissas.map(|mantissa| (mantissa as f32 * scale).to_bits())
}

/// Encodes three floats as the nearest mantissas with a shared exponent. The exponent is the lowest
/// one that can represent the greatest of the floats. Negative values and NaNs become 0.
pub fn to_shared_exponent(values: [u32; 3]) -> ([u32; 3], u32) {
    /// The greatest value that can be encoded: 511 / 512 * 2^16.
    const MOST: f32 = 65408.0;
    let values =
        values.map(f32::from_bits).map(|value| if value > 0.0 { value.min(MOST) } else { 0.0 });
    let greatest = values.into_iter().fold(0.0, f32::max);
    // floor(log2(greatest)) + 1, as an exponent with bias 15.
    let mut exponent = ((greatest.to_bits() >> 23) as i32 - 127 + 1 + 15).max(0) as u32;
    let mantissa = |value: f32, exponent: u32| {
        let scaled = f64::from(value) * f64::from(f32::from_bits((127 + 24 - exponent) << 23));
        scaled.round_ties_even() as u32
    };
    if mantissa(greatest, exponent) == 512 {
        exponent += 1;
    }
    (values.map(|value| mantissa(value, exponent)), exponent)
}

/// The linear value of `raw` on the sRGB curve.
#[inline(always)]
pub fn linear(raw: u64, bits: u32) -> f32 {
    if bits == 8 {
        of_bytes(true)[raw as usize & 0xff]
    } else {
        to_linear(raw as f64 / ones(bits) as f64)
    }
}

/// Decoded values of all bytes: in equal steps from 0 to 1, or on the sRGB curve.
#[inline(always)]
pub fn of_bytes(srgb: bool) -> &'static [f32; 256] {
    static EQUAL: [f32; 256] = {
        let mut values = [0.0; 256];
        let mut byte = 0;
        while byte < 256 {
            values[byte] = byte as f32 / 255.0;
            byte += 1;
        }
        values
    };
    static CURVED: LazyLock<[f32; 256]> =
        LazyLock::new(|| std::array::from_fn(|raw| to_linear(raw as f64 / 255.0)));
    if srgb { &CURVED } else { &EQUAL }
}

fn to_linear(value: f64) -> f32 {
    let linear =
        if value <= 0.04045 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) };
    linear as f32
}

/// The step of the sRGB curve that is nearest to the linear `value`.
#[inline(always)]
pub fn from_linear(value: f32, bits: u32) -> u64 {
    if bits == 8 { CURVE.step(value).into() } else { curve(value, ones(bits)) }
}

/// The sRGB curve for bytes as tables: the least float of each step, and the first step of each
/// range of floats.
struct Curve {
    /// Entry `n` is the least float of step `n + 1`; the last entry is infinity.
    least: [f32; 256],
    /// The step of the least float of each range.
    first: [u8; Curve::RANGES as usize],
}

static CURVE: LazyLock<Curve> = LazyLock::new(|| {
    let least =
        std::array::from_fn(
            |below| if below < 255 { least(below as u64 + 1) } else { f32::INFINITY },
        );
    let begins = |range| f32::from_bits((Curve::FIRST + range as u32) << Curve::SHIFT);
    Curve { least, first: std::array::from_fn(|range| curve(begins(range), 255) as u8) }
});

impl Curve {
    /// Shift for 64 ranges per power of two. No range has more than three steps.
    const SHIFT: u32 = 23 - 6;
    /// Number of the range that starts at 2^-13. Smaller values are step 0.
    const FIRST: u32 = (127 - 13) << 6;
    /// Number of ranges from 2^-13 up to 1.
    const RANGES: u32 = 13 << 6;

    #[inline(always)]
    fn step(&self, value: f32) -> u8 {
        let range = (value.to_bits() >> Curve::SHIFT).wrapping_sub(Curve::FIRST);
        if range >= Curve::RANGES {
            // The value is at least 1, or so small that it becomes 0. A NaN becomes 0 because the
            // comparison is false.
            return if value >= 1.0 { 255 } else { 0 };
        }
        let mut step = self.first[range as usize];
        while value >= self.least[usize::from(step)] {
            step += 1;
        }
        step
    }
}

/// [`from_linear`], computed with the formula.
fn curve(value: f32, most: u64) -> u64 {
    let value = if value > 0.0 { f64::from(value.min(1.0)) } else { 0.0 };
    let curved = if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * libm::pow(value, 1.0 / 2.4) - 0.055
    };
    (curved * most as f64).round_ties_even() as u64
}

/// The least float that the curve maps to `step` (of 255) or to a higher step.
fn least(step: u64) -> f32 {
    let (mut below, mut above) = (0u32, 1.0f32.to_bits());
    while below + 1 < above {
        let middle = below.midpoint(above);
        if curve(f32::from_bits(middle), 255) >= step { above = middle } else { below = middle }
    }
    f32::from_bits(above)
}
