//! The numbers that operations compute with.
//!
//! Integers have more bits than their type, so that no intermediate result is lost. Floats are
//! singles and doubles.

use crate::assumptions::ARITHMETIC_NAN;
use crate::eu::soft::Format;
use crate::eu::uop::Condition;
use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, BitXor, Neg, Not};

/// Integers wide enough for every intermediate result of a type: `i64` for types up to dword,
/// `i128` for qwords, products and accumulators.
pub trait Int:
    Copy
    + Ord
    + Default
    + Debug
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// One.
    const ONE: Self;
    /// The low bits of a wider integer.
    fn cut(value: i128) -> Self;
    /// The value as an `i128`.
    fn widen(self) -> i128;
    /// Sum; wraps on overflow.
    fn plus(self, other: Self) -> Self;
    /// Difference; wraps on overflow.
    fn minus(self, other: Self) -> Self;
    /// Product; wraps on overflow.
    fn times(self, other: Self) -> Self;
    /// Shifts left by `count` bits, at most 63.
    fn left(self, count: u32) -> Self;
    /// Shifts right arithmetically by `count` bits, at most 63.
    fn right(self, count: u32) -> Self;
}

macro_rules! int {
    ($($ty:ident)*) => {$(
        impl Int for $ty {
            const ONE: Self = 1;
            #[inline(always)]
            fn cut(value: i128) -> Self { value as $ty }
            #[inline(always)]
            fn widen(self) -> i128 { self as i128 }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn left(self, count: u32) -> Self { self << count }
            #[inline(always)]
            fn right(self, count: u32) -> Self { self >> count }
        }
    )*};
}
int!(i64 i128);

/// Floats: single and double. Halves are computed as singles, and the results are rounded to halves
/// by the [`Arithmetic`](super::rounding::Arithmetic).
pub trait Float: Copy + PartialOrd + Default + Debug + Neg<Output = Self> {
    /// One.
    const ONE: Self;
    /// Zero.
    const ZERO: Self;
    /// The NaN that the model's arithmetic returns (the manual does not define the pattern,
    /// 004:1336).
    const NAN: Self;
    /// The greatest value below one.
    const BELOW_ONE: Self;
    /// The greatest finite value.
    const GREATEST: Self;
    /// Format of the type.
    const FORMAT: Format;
    /// Bit pattern of the value.
    fn pattern(self) -> u64;
    /// The value of a bit pattern.
    fn from_pattern(bits: u64) -> Self;
    /// True for a NaN.
    fn nan(self) -> bool;
    /// True for an infinity.
    fn infinite(self) -> bool;
    /// Absolute value.
    fn magnitude(self) -> Self;
    /// Replaces a subnormal number by a zero of the same sign.
    fn flush(self) -> Self;
    /// Rounds to an integer, toward minus infinity.
    fn down(self) -> Self;
    /// Rounds to an integer, toward plus infinity.
    fn up(self) -> Self;
    /// Rounds to the nearest integer, ties to even.
    fn even(self) -> Self;
    /// Rounds to an integer, toward zero.
    fn truncated(self) -> Self;
    /// Difference, rounded to nearest even.
    fn less(self, other: Self) -> Self;
}

macro_rules! float {
    ($($ty:ident $bits:ident $format:ident $nan:expr;)*) => {$(
        impl Float for $ty {
            const ONE: Self = 1.0;
            const ZERO: Self = 0.0;
            const NAN: Self = $ty::from_bits($nan);
            const BELOW_ONE: Self = 1.0 - $ty::EPSILON / 2.0;
            const GREATEST: Self = $ty::MAX;
            const FORMAT: Format = Format::$format;
            #[inline(always)]
            fn pattern(self) -> u64 { self.to_bits().into() }
            #[inline(always)]
            fn from_pattern(bits: u64) -> Self { $ty::from_bits(bits as $bits) }
            #[inline(always)]
            fn nan(self) -> bool { self.is_nan() }
            #[inline(always)]
            fn infinite(self) -> bool { self.is_infinite() }
            #[inline(always)]
            fn magnitude(self) -> Self { self.abs() }
            #[inline(always)]
            fn flush(self) -> Self {
                if self.abs() < $ty::MIN_POSITIVE { (0.0 as $ty).copysign(self) } else { self }
            }
            #[inline(always)]
            fn down(self) -> Self { self.floor() }
            #[inline(always)]
            fn up(self) -> Self { self.ceil() }
            #[inline(always)]
            fn even(self) -> Self { self.round_ties_even() }
            #[inline(always)]
            fn truncated(self) -> Self { self.trunc() }
            #[inline(always)]
            fn less(self, other: Self) -> Self { self - other }
        }
    )*};
}
float! {
    f32 u32 SINGLE ARITHMETIC_NAN;
    f64 u64 DOUBLE 0x7ff8 << 48;
}

/// Comparison of `cmp`. If there is a NaN, "not equal" is true, and all other conditions are false
/// (004:1378-1518).
#[inline(always)]
pub fn compare<T: PartialOrd>(condition: Condition, a: T, b: T) -> bool {
    match condition {
        Condition::Equal => a == b,
        Condition::NotEqual => a != b,
        Condition::Greater => a > b,
        Condition::GreaterEqual => a >= b,
        Condition::Less => a < b,
        Condition::LessEqual => a <= b,
        Condition::Overflow | Condition::Unordered | Condition::Round => false,
    }
}
