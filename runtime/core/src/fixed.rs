//! Fixed-point numbers: a stored integer whose low `F` bits are the fraction.

use crate::bits::{ones, sign_extend};
use core::fmt;

/// Unsigned fixed point with `I` integer and `F` fraction bits (the manual's `U I.F`), at most 32
/// in all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct UFix<const I: u32, const F: u32>(u32);

/// Two's complement fixed point with a sign, `I` integer and `F` fraction bits (the manual's
/// `S I.F`), at most 32 in all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct SFix<const I: u32, const F: u32>(i32);

/// A value that a fixed-point field cannot hold: it is out of range or NaN.
#[derive(Clone, Copy, PartialEq)]
pub struct NotFixed {
    /// The rejected value.
    pub value: f64,
    /// The least value that fits.
    pub min: f64,
    /// The greatest value that fits.
    pub max: f64,
}

crate::debug_as_display!(NotFixed);

impl fmt::Display for NotFixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not fit {}..={}", self.value, self.min, self.max)
    }
}

impl core::error::Error for NotFixed {}

/// `value` times 2^fraction, rounded to the nearest integer, ties to even. It is rounded only once:
/// the multiplication by a power of two is exact.
#[inline(always)]
pub(crate) const fn scale(value: f64, fraction: u32) -> f64 {
    // 2^52 pushes the fraction out of the significand, so the addition rounds as IEEE 754 says.
    const PUSH: f64 = (1u64 << 52) as f64;
    let scaled = value * (1u64 << fraction) as f64;
    if scaled >= PUSH || scaled <= -PUSH {
        scaled
    } else if scaled < 0.0 {
        scaled - PUSH + PUSH
    } else {
        scaled + PUSH - PUSH
    }
}

impl<const I: u32, const F: u32> UFix<I, F> {
    /// Zero.
    pub const ZERO: Self = UFix(0);

    /// The nearest representable number (ties to even), or an error if `value` rounds outside the
    /// range.
    #[inline(always)]
    pub const fn new(value: f64) -> Result<Self, NotFixed> {
        let scaled = scale(value, F);
        if scaled >= 0.0 && scaled <= ones(I + F) as f64 {
            Ok(UFix(scaled as u32))
        } else {
            Err(NotFixed { value, min: 0.0, max: ones(I + F) as f64 / (1u64 << F) as f64 })
        }
    }

    /// From a stored pattern.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        UFix((bits & ones(I + F)) as u32)
    }

    /// The stored pattern.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0 as u64
    }

    /// The value. It is exact, because an `f64` holds 53 significant bits.
    #[inline(always)]
    pub const fn get(self) -> f64 {
        self.0 as f64 / (1u64 << F) as f64
    }
}

impl<const I: u32, const F: u32> SFix<I, F> {
    /// Zero.
    pub const ZERO: Self = SFix(0);

    /// The nearest representable number (ties to even), or an error if `value` rounds outside the
    /// range.
    #[inline(always)]
    pub const fn new(value: f64) -> Result<Self, NotFixed> {
        let scaled = scale(value, F);
        let max = (ones(I + F + 1) >> 1) as f64;
        if scaled >= -max - 1.0 && scaled <= max {
            Ok(SFix(scaled as i32))
        } else {
            let one = (1u64 << F) as f64;
            Err(NotFixed { value, min: (-max - 1.0) / one, max: max / one })
        }
    }

    /// From a stored pattern.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        SFix(sign_extend(bits & ones(I + F + 1), I + F + 1) as i32)
    }

    /// The stored pattern.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0 as u64 & ones(I + F + 1)
    }

    /// The value. It is exact, because an `f64` holds 53 significant bits.
    #[inline(always)]
    pub const fn get(self) -> f64 {
        self.0 as f64 / (1u64 << F) as f64
    }
}

macro_rules! text {
    ($($type:ident)*) => {$(
        impl<const I: u32, const F: u32> fmt::Debug for $type<I, F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.get(), f)
            }
        }
        impl<const I: u32, const F: u32> fmt::Display for $type<I, F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.get(), f)
            }
        }
        impl<const I: u32, const F: u32> TryFrom<f64> for $type<I, F> {
            type Error = NotFixed;
            fn try_from(value: f64) -> Result<Self, NotFixed> {
                Self::new(value)
            }
        }
    )*};
}
text! { UFix SFix }
