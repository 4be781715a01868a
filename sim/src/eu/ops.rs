//! What each operation computes, for one channel, on values that are already in the arithmetic of
//! the instruction.
//!
//! Nothing here knows of regions, masks, saturation or flags: [`super::execute`] does these once
//! around all bodies. Integers arrive in more bits than their type has, so that no intermediate
//! result is lost.

use super::convert::{half_to_single, reformat, single_to_half};
use super::soft::{Exact, Format, Rounding};
use super::uop::Condition;
use crate::assumptions::{ARITHMETIC_NAN, COMPARE_NAN_TRUE_FOR_TWO};
use std::cell::Cell;
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
    /// The value in the widest integer.
    fn widen(self) -> i128;
    /// Sum modulo the width.
    fn plus(self, other: Self) -> Self;
    /// Difference modulo the width.
    fn minus(self, other: Self) -> Self;
    /// Product modulo the width.
    fn times(self, other: Self) -> Self;
    /// Left by `count` bits, at most 63.
    fn left(self, count: u32) -> Self;
    /// Arithmetic right by `count` bits, at most 63.
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

/// The low `bits` bits, as an unsigned number.
#[inline(always)]
fn low<T: Int>(value: T, bits: u32) -> T {
    value & T::cut((1i128 << bits) - 1)
}

/// A shift count: 5 bits of it, 6 when source 0 or the destination is a qword (2a, asr).
#[inline(always)]
fn count<T: Int>(value: T, bits: u32) -> u32 {
    (value.widen() & if bits == 64 { 63 } else { 31 }) as u32
}

/// Left shift.
#[inline(always)]
pub fn shl<T: Int>(a: T, b: T, bits: u32) -> T {
    a.left(count(b, bits))
}

/// Logical right shift of a `bits` bit number; `mode` is 64 if 6 bits of the count matter.
#[inline(always)]
pub fn shr<T: Int>(a: T, b: T, bits: u32, mode: u32) -> T {
    T::cut((a.widen() & ((1i128 << bits) - 1)) >> count(b, mode))
}

/// Arithmetic right shift; a source that is unsigned arrives as a positive number.
#[inline(always)]
pub fn asr<T: Int>(a: T, b: T, bits: u32) -> T {
    a.right(count(b, bits))
}

/// Mean, rounded up.
#[inline(always)]
pub fn avg<T: Int>(a: T, b: T) -> T {
    a.plus(b).plus(T::ONE).right(1)
}

/// Order of bits reversed.
#[inline(always)]
pub fn bfrev<T: Int>(a: T) -> T {
    T::cut(i128::from((a.widen() as u32).reverse_bits()))
}

/// `width` (a) bits of c from bit `offset` (b) on; signed sources extend the sign (2a, bfe).
#[inline(always)]
pub fn bfe<T: Int>(a: T, b: T, c: T, signed: bool) -> T {
    let (width, offset) = ((a.widen() & 31) as u32, (b.widen() & 31) as u32);
    let value = c.widen() as u32;
    let field = match (width, offset + width) {
        (0, _) => 0,
        (_, 32..) if signed => i128::from(value as i32 >> offset),
        (_, 32..) => i128::from(value >> offset),
        (_, end) if signed => i128::from((value << (32 - end)) as i32 >> (32 - width)),
        (_, end) => i128::from(value << (32 - end) >> (32 - width)),
    };
    T::cut(field)
}

/// A mask of `width` (a) ones from bit `offset` (b) on (2a, bfi1).
#[inline(always)]
pub fn bfi1<T: Int>(a: T, b: T) -> T {
    let mask = (1u32 << (a.widen() & 31)) - 1;
    T::cut(i128::from(mask << (b.widen() & 31)))
}

/// b under the mask a, moved to the mask's lowest bit, and c elsewhere (2a, bfi2; its text is off
/// by one).
#[inline(always)]
pub fn bfi2<T: Int>(a: T, b: T, c: T) -> T {
    let (mask, field, rest) = (a.widen() as u32, b.widen() as u32, c.widen() as u32);
    let moved = field.checked_shl(mask.trailing_zeros()).unwrap_or(0);
    T::cut(i128::from(moved & mask | rest & !mask))
}

/// Leading zeros of 32 bits.
#[inline(always)]
pub fn lzd<T: Int>(a: T) -> T {
    T::cut(i128::from((a.widen() as u32).leading_zeros()))
}

/// Distance from bit 31 of the first bit that differs from the sign, or of the first one bit if
/// unsigned; all ones when there is none.
#[inline(always)]
pub fn fbh<T: Int>(a: T, signed: bool) -> T {
    let value = a.widen() as u32;
    let differs = if signed { value ^ (value as i32 >> 31) as u32 } else { value };
    T::cut(i128::from(if differs == 0 { u32::MAX } else { differs.leading_zeros() }))
}

/// Trailing zeros of 32 bits; all ones when there is no one bit.
#[inline(always)]
pub fn fbl<T: Int>(a: T) -> T {
    let value = a.widen() as u32;
    T::cut(i128::from(if value == 0 { u32::MAX } else { value.trailing_zeros() }))
}

/// Number of ones in a source of `bits` bits.
#[inline(always)]
pub fn cbit<T: Int>(a: T, bits: u32) -> T {
    T::cut(i128::from((a.widen() as u64 & (u64::MAX >> (64 - bits))).count_ones()))
}

/// Carry of a 32-bit sum.
#[inline(always)]
pub fn carry<T: Int>(a: T, b: T) -> T {
    low(low(a, 32).plus(low(b, 32)).right(32), 1)
}

/// Borrow of a 32-bit difference.
#[inline(always)]
pub fn borrow<T: Int>(a: T, b: T) -> T {
    if low(a, 32) < low(b, 32) { T::ONE } else { T::default() }
}

/// Absolute difference.
#[inline(always)]
pub fn distance<T: Int>(a: T, b: T) -> T {
    if a < b { b.minus(a) } else { a.minus(b) }
}

/// Second step of a 64-bit product: the accumulator holds a times the low word of b (eu.md 3.5).
#[inline(always)]
pub fn mach<T: Int>(acc: T, a: T, b: T) -> T {
    acc.plus(a.times(b.right(16)).left(16))
}

/// Floats: single and double. Halves are computed with as singles, rounded by the [`Arithmetic`].
pub trait Float: Copy + PartialOrd + Default + Debug + Neg<Output = Self> {
    /// One.
    const ONE: Self;
    /// Zero.
    const ZERO: Self;
    /// The one NaN that the model's arithmetic makes (the manual leaves the pattern open,
    /// 004:1336).
    const NAN: Self;
    /// The greatest value below one.
    const BELOW_ONE: Self;
    /// The greatest finite value.
    const GREATEST: Self;
    /// Its format.
    const FORMAT: Format;
    /// Its bit pattern.
    fn pattern(self) -> u64;
    /// The value of a bit pattern.
    fn from_pattern(bits: u64) -> Self;
    /// True for a NaN.
    fn nan(self) -> bool;
    /// True for an infinity.
    fn infinite(self) -> bool;
    /// Absolute value.
    fn magnitude(self) -> Self;
    /// A subnormal number becomes a zero of its sign.
    fn flush(self) -> Self;
    /// Toward minus infinity.
    fn down(self) -> Self;
    /// Toward plus infinity.
    fn up(self) -> Self;
    /// Nearest, ties to even.
    fn even(self) -> Self;
    /// Toward zero.
    fn truncated(self) -> Self;
    /// Difference to nearest even.
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

/// `a * b + c` rounded once, without the library's slow emulation: the product is exact in a
/// double, the sum is rounded to odd there, which makes the second rounding harmless (Boldo and
/// Melquiond, 2008).
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
    /// What follows is for this channel.
    #[inline(always)]
    fn channel(&self, _: usize) {}
    /// `a + b`.
    fn add(&self, a: T, b: T) -> T;
    /// `a * b`.
    fn mul(&self, a: T, b: T) -> T;
    /// `a * b + c`, rounded once.
    fn fused(&self, a: T, b: T, c: T) -> T;
    /// Channels whose results were too great, one bit each; only [`Rounded`] knows.
    #[inline(always)]
    fn overflows(&self) -> u32 {
        0
    }
}

/// To nearest even, as the processor does it.
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

/// Halves to nearest even. A single has more than twice as many bits and two, so that rounding a
/// sum or a product of halves to a single first does no harm (Figueroa, 1995).
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

/// Any format with any rounding, exactly, and with knowledge of overflows.
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

/// Fraction, in [0, 1) whatever the rounding mode (2a, frc).
#[inline(always)]
pub fn frc<T: Float>(a: T) -> T {
    let fraction = a.less(a.down());
    if fraction >= T::ONE { T::BELOW_ONE } else { fraction }
}

/// Lesser of two: a number rather than a NaN, the second when both are NaN or both equal
/// (004:1520-1537).
#[inline(always)]
pub fn min<T: Float>(a: T, b: T) -> T {
    if a < b || (b.nan() && !a.nan()) { a } else { b }
}

/// Greater of two, by the same rule; the first when they are equal.
#[inline(always)]
pub fn max<T: Float>(a: T, b: T) -> T {
    if a >= b || (b.nan() && !a.nan()) { a } else { b }
}

/// Dot product of the first `terms` elements; `last` is added to it (dph). Each step is rounded:
/// hardware may keep more (004:1346-1349).
#[inline(always)]
pub fn dot<T: Float, A: Arithmetic<T>>(
    m: &A,
    a: &[T],
    b: &[T],
    terms: usize,
    last: Option<T>,
) -> T {
    let mut sum = m.mul(a[0], b[0]);
    for n in 1..terms {
        sum = m.add(sum, m.mul(a[n], b[n]));
    }
    last.map_or(sum, |last| m.add(sum, last))
}

/// Linear interpolation: b where a is one, c where it is zero (2a, lrp).
#[inline(always)]
pub fn lrp<T: Float, A: Arithmetic<T>>(m: &A, a: T, b: T, c: T) -> T {
    m.add(m.mul(a, b), m.mul(m.add(T::ONE, -a), c))
}

/// Comparison of `cmp`: false with a NaN, but for inequality (004:1378-1518).
#[inline(always)]
pub fn compare<T: PartialOrd>(condition: Condition, a: T, b: T) -> bool {
    match condition {
        Condition::Z => a == b,
        Condition::Nz => a != b,
        Condition::G => a > b,
        Condition::Ge => a >= b,
        Condition::L => a < b,
        Condition::Le => a <= b,
        Condition::None | Condition::O | Condition::U => false,
    }
}

/// Comparison of `cmpn`: true when the second is a NaN, else false when the first is, the other way
/// round for inequality (G45 vol 4 tables 10-9 to 10-14).
#[inline(always)]
pub fn compare_nan<T: Float>(condition: Condition, a: T, b: T) -> bool {
    match (b.nan(), a.nan()) {
        (true, true) if !COMPARE_NAN_TRUE_FOR_TWO => condition == Condition::Nz,
        (true, _) => condition != Condition::Nz,
        (_, true) => condition == Condition::Nz,
        _ => compare(condition, a, b),
    }
}
