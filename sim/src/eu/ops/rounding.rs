//! How sums and products of floats are rounded.

use super::number::Float;
use crate::eu::convert::{half_to_single, reformat, single_to_half};
use crate::eu::soft::{Exact, Format, Rounding};
use std::cell::Cell;

/// `a * b + c` rounded once, without the library's slow emulation. The product is exact in a
/// double. The sum is rounded to odd there, so that rounding it again to a single gives the correct
/// result (Boldo and Melquiond, 2008).
#[inline(always)]
pub fn fused_single(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    let bits = sum.to_bits();
    let inexact = error.abs() > 0.0 && sum.is_finite() && bits & 1 == 0;
    let odd =
        if (error > 0.0) == (sum > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact { odd } else { bits }) as f32
}

/// How sums and products are rounded.
pub trait Arithmetic<T: Float> {
    /// Sets the channel that the next operations are for.
    #[inline(always)]
    fn channel(&self, _: usize) {}
    /// `a + b`.
    fn add(&self, a: T, b: T) -> T;
    /// `a * b`.
    fn mul(&self, a: T, b: T) -> T;
    /// `a * b + c`, rounded once.
    fn fused(&self, a: T, b: T, c: T) -> T;
    /// Mask of the channels whose results overflowed. Only [`Rounded`] records them.
    #[inline(always)]
    fn overflows(&self) -> u32 {
        0
    }
}

/// Rounds to nearest even, with the arithmetic of the host processor.
pub struct Nearest;

impl Arithmetic<f32> for Nearest {
    #[inline(always)]
    fn add(&self, a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn mul(&self, a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn fused(&self, a: f32, b: f32, c: f32) -> f32 {
        fused_single(a, b, c)
    }
}

impl Arithmetic<f64> for Nearest {
    #[inline(always)]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn mul(&self, a: f64, b: f64) -> f64 {
        a * b
    }
    fn fused(&self, a: f64, b: f64, c: f64) -> f64 {
        libm::fma(a, b, c)
    }
}

/// Rounds singles toward zero; a result that is too great becomes an infinity. This is the
/// arithmetic of G45 (003:7007).
#[cfg(feature = "gen45")]
pub struct TowardZero;

#[cfg(feature = "gen45")]
impl TowardZero {
    /// Cuts a double to a single, toward zero. A product is exact in a double. For a sum, `error`
    /// is the exact sum minus the double.
    #[inline(always)]
    fn cut(value: f64, error: f64) -> f32 {
        // The bits of a double that a single does not have.
        const EXTRA: u64 = (1 << 29) - 1;
        // If the double was rounded up to a single, the next smaller one is the result.
        let above = error != 0.0 && (error > 0.0) != (value > 0.0) && value.is_finite();
        let bits = value.to_bits() - u64::from(above && value.to_bits() & EXTRA == 0);
        let kept = f64::from_bits(if value.is_nan() { bits } else { bits & !EXTRA });
        // The conversion would round a subnormal number; these become zeros anyway.
        (if kept.abs() < f64::from(f32::MIN_POSITIVE) { kept * 0.0 } else { kept }) as f32
    }
}

#[cfg(feature = "gen45")]
impl Arithmetic<f32> for TowardZero {
    #[inline(always)]
    fn add(&self, a: f32, b: f32) -> f32 {
        let (a, b) = (f64::from(a), f64::from(b));
        let sum = a + b;
        let part = sum - a;
        let error = (a - (sum - part)) + (b - part);
        Self::cut(sum, error)
    }
    #[inline(always)]
    fn mul(&self, a: f32, b: f32) -> f32 {
        Self::cut(f64::from(a) * f64::from(b), 0.0)
    }
    #[inline(always)]
    fn fused(&self, a: f32, b: f32, c: f32) -> f32 {
        self.add(self.mul(a, b), c)
    }
}

/// Rounds halves to nearest even. A half has 11 bits of precision, a single has 24 = 2 * 11 + 2. So
/// rounding a sum or product of halves to a single first does not change the result (Figueroa,
/// 1995).
pub struct NearestHalf;

impl Arithmetic<f32> for NearestHalf {
    #[inline(always)]
    fn add(&self, a: f32, b: f32) -> f32 {
        half_to_single(single_to_half(a + b))
    }
    #[inline(always)]
    fn mul(&self, a: f32, b: f32) -> f32 {
        half_to_single(single_to_half(a * b))
    }
    fn fused(&self, a: f32, b: f32, c: f32) -> f32 {
        Rounded::new(Format::HALF, Rounding::Nearest).fused(a, b, c)
    }
}

/// Rounds to any format in any rounding mode, exactly, and records overflows.
pub struct Rounded {
    format: Format,
    rounding: Rounding,
    channel: Cell<usize>,
    overflows: Cell<u32>,
}

impl Rounded {
    /// Arithmetic whose results have the format.
    pub fn new(format: Format, rounding: Rounding) -> Rounded {
        Rounded { format, rounding, channel: Cell::new(0), overflows: Cell::new(0) }
    }

    fn pack<T: Float>(&self, exact: Exact) -> T {
        let packed = exact.pack(self.format, self.rounding);
        self.overflows.set(self.overflows.get() | u32::from(packed.overflow) << self.channel.get());
        if self.format == T::FORMAT {
            T::from_pattern(packed.bits)
        } else {
            T::from_pattern(reformat(self.format, T::FORMAT, packed.bits, Rounding::Nearest).bits)
        }
    }
}

fn exact<T: Float>(value: T) -> Exact {
    Exact::unpack(T::FORMAT, value.pattern())
}

impl<T: Float> Arithmetic<T> for Rounded {
    fn channel(&self, channel: usize) {
        self.channel.set(channel);
    }
    fn add(&self, a: T, b: T) -> T {
        self.pack(exact(a).plus(exact(b), self.rounding))
    }
    fn mul(&self, a: T, b: T) -> T {
        self.pack(exact(a).times(exact(b)))
    }
    fn fused(&self, a: T, b: T, c: T) -> T {
        self.pack(exact(a).times(exact(b)).plus(exact(c), self.rounding))
    }
    fn overflows(&self) -> u32 {
        self.overflows.get()
    }
}
