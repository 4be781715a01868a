//! Literals that are checked at compile time.

use crate::address::{Address, Space};
use crate::at::At;
use crate::bits::sign_extend;
use crate::fit::{Pattern, integer};
use crate::fixed::{SFix, UFix};
use crate::int::{MinusOne, OutOfRange, PowerOfTwo, S, S64, Shifted, U, U64};
use crate::message::Text;
use core::marker::PhantomData;

/// Types that may hold the integer literal `V`. Use it through [`lit!`](crate::lit).
#[diagnostic::on_unimplemented(
    message = "a number cannot be used where `{Self}` is expected",
    label = "`{Self}` is not a number",
    note = "an enumeration takes one of its named constants, a switch `true` or `false`"
)]
pub trait Literal<const V: i128>: Copy {
    /// The literal as a value of this type, or why it does not fit.
    const RESULT: Result<Self, LiteralError>;
    /// The stored value, for types that the manual gives ranges for.
    #[doc(hidden)]
    const PATTERN: Option<Pattern> = None;
}

/// Types that may hold the floating-point literal whose `f64` has these bits. Use it through
/// [`lit!`](crate::lit).
#[diagnostic::on_unimplemented(
    message = "a number with a fraction cannot be used where `{Self}` is expected",
    label = "`{Self}` takes no fractions",
    note = "fixed-point and floating-point fields take fractions"
)]
pub trait FloatLiteral<const BITS: u64>: Copy {
    /// The literal as a value of this type, or why it does not fit.
    const RESULT: Result<Self, LiteralError>;
    /// The stored value, for types that the manual gives ranges for.
    #[doc(hidden)]
    const PATTERN: Option<Pattern> = None;
}

/// Why a field cannot hold a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralError {
    /// The integer is out of range, or not a multiple of the field's unit.
    Range(OutOfRange),
    /// The number is not a power of two, or is too large.
    PowerOfTwo(OutOfRange),
    /// The address is out of range or misaligned.
    Address(OutOfRange),
    /// A fixed-point field with these integer and fraction bits cannot hold the number.
    Fixed {
        /// Bits before the point, without the sign.
        int: u32,
        /// Bits after the point.
        fraction: u32,
        /// Whether there is a sign.
        signed: bool,
    },
    /// A floating-point field cannot hold the integer exactly.
    Inexact,
    /// The number is beyond what a floating-point field can hold.
    Infinite,
}

/// A literal for a bounded field, checked at compile time. The target type is inferred.
///
/// ```
/// use genxml_core::{lit, U, MinusOne, SFix};
/// let mask: U<16> = lit!(0xffff);
/// let threads: MinusOne<6> = lit!(64);
/// let bias: SFix<4, 8> = lit!(float -1.5);
/// assert_eq!((mask.get(), threads.bits(), bias.get()), (65535, 63, -1.5));
/// ```
///
/// In a generic function, the type of the literal cannot use the parameters of the function. A
/// literal that does not fit does not compile:
/// ```compile_fail,E0080
/// # use genxml_core::{lit, U};
/// let mask: U<16> = lit!(0x10000); // 65536 does not fit 0..=65535
/// ```
#[macro_export]
macro_rules! lit {
    (float $value:expr) => { $crate::lit!(@ FloatLiteral, u64, f64::to_bits($value)) };
    ($value:expr) => { $crate::lit!(@ Literal, i128, $value) };
    // `cargo check` does not evaluate `const` blocks in expressions. It evaluates constants in
    // patterns, so the constant is used in a pattern. It is declared in the macro. So the error
    // points to the literal.
    (@ $kind:ident, $number:ty, $value:expr) => {
        const {
            trait Checked<T, const V: $number> {
                const DONE: ::core::marker::PhantomData<T>;
            }
            impl<T: $crate::literal::$kind<V>, const V: $number> Checked<T, V> for () {
                const DONE: ::core::marker::PhantomData<T> =
                    $crate::literal::check(<T as $crate::literal::$kind<V>>::RESULT);
            }
            let value = $crate::literal::checked(<_ as $crate::literal::$kind<{ $value }>>::RESULT);
            match $crate::literal::type_of(&value) {
                <() as Checked<_, { $value }>>::DONE => value,
                #[allow(unreachable_patterns)]
                _ => value,
            }
        }
    };
}

/// Does the same as [`checked`], but returns no value. Only `lit!` uses it.
#[doc(hidden)]
#[track_caller]
pub const fn check<T: Copy>(result: Result<T, LiteralError>) -> PhantomData<T> {
    checked(result);
    PhantomData
}

/// Names the type of a value. Only `lit!` uses it.
#[doc(hidden)]
pub const fn type_of<T>(_: &T) -> PhantomData<T> {
    PhantomData
}

/// Calls [`for_field`] with an integer literal.
#[doc(hidden)]
#[track_caller]
pub const fn integer_for<const V: i128, T: Literal<V>>(at: &At) -> T {
    for_field(at, T::RESULT, T::PATTERN)
}

/// Calls [`for_field`] with a floating-point literal.
#[doc(hidden)]
#[track_caller]
pub const fn float_for<const BITS: u64, T: FloatLiteral<BITS>>(at: &At) -> T {
    for_field(at, T::RESULT, T::PATTERN)
}

/// The value of the literal, or a compile error at the caller.
///
/// # Panics
/// If the literal does not fit; in a `const` this is a compile error.
#[track_caller]
pub const fn checked<T: Copy>(result: Result<T, LiteralError>) -> T {
    match result {
        Ok(value) => value,
        Err(refused) => {
            let text = refused.write(Text::new());
            panic!("{}", text.as_str())
        }
    }
}

impl LiteralError {
    /// Adds the reason in words to `text`.
    const fn write(self, text: Text) -> Text {
        match self {
            LiteralError::Range(error) => text.integer(error),
            LiteralError::PowerOfTwo(error) => text.power_of_two(error),
            LiteralError::Address(error) => text.address(error),
            LiteralError::Fixed { int, fraction, signed } => {
                let bits = int + fraction;
                let least = if signed { -(1i128 << bits) } else { 0 };
                let text = text.text("the number does not fit ").fixed(least, fraction);
                text.text("..=").fixed((1i128 << bits) - 1, fraction)
            }
            LiteralError::Inexact => {
                text.text("the floating-point field cannot hold the integer exactly")
            }
            LiteralError::Infinite => {
                text.text("the number is too large for the floating-point field")
            }
        }
    }

    /// Adds the reason in words to `text`, with the manual's range if the field `at` has one.
    const fn write_at(self, at: &At, text: Text) -> Text {
        match self {
            LiteralError::Range(error)
            | LiteralError::PowerOfTwo(error)
            | LiteralError::Address(error) => integer(at, error, text.text(" = ")),
            LiteralError::Fixed { .. } => {
                match at.write_range(text.text(": the number does not fit ")) {
                    Some(text) => text,
                    None => self.write(text.text(": ")),
                }
            }
            LiteralError::Inexact | LiteralError::Infinite => self.write(text.text(": ")),
        }
    }
}

/// The literal as a value of the field `at`, or a compile error that names the field; for
/// `packet!`.
///
/// # Panics
/// If the literal does not fit, or the manual does not allow it; in a `const` this is a compile
/// error.
#[doc(hidden)]
#[track_caller]
pub const fn for_field<T: Copy>(
    at: &At,
    result: Result<T, LiteralError>,
    pattern: Option<Pattern>,
) -> T {
    let text = match (result, pattern) {
        (Err(refused), _) => refused.write_at(at, at.write(Text::new())),
        (Ok(_), Some(pattern)) if !pattern.within(at.range) => {
            match at.write_range(at.write(Text::new()).text(": the manual allows ")) {
                Some(text) => text,
                None => Text::new(),
            }
        }
        (Ok(value), _) => return value,
    };
    panic!("{}", text.as_str())
}

/// Converts the literal to the argument type of `new`. A literal that 64 bits cannot hold is
/// refused with the bounds of the field's type.
macro_rules! literal {
    ($([$($generics:tt)*] $type:ty, $wide:ident, $least:expr, $refused:ident, |$value:ident| $pattern:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)* const V: i128> Literal<V> for $type {
            const RESULT: Result<Self, LiteralError> = {
                let fits = V >= $wide::MIN as i128 && V <= $wide::MAX as i128;
                match <$type>::new(if fits { V as $wide } else { $least }) {
                    Ok(value) if fits => Ok(value),
                    Ok(_) => Err(LiteralError::$refused(OutOfRange {
                        value: V,
                        min: $wide::MIN as i128,
                        max: $wide::MAX as i128,
                        multiple_of: 1,
                    })),
                    Err(error) => Err(LiteralError::$refused(OutOfRange { value: V, ..error })),
                }
            };
            const PATTERN: Option<Pattern> = match <Self as Literal<V>>::RESULT {
                Ok($value) => $pattern,
                Err(_) => None,
            };
        }
    )*};
}
// A literal out of the range of 64 bits is replaced by a value that narrower fields refuse as well.
literal! {
    [const N: u32,] U<N>, u64, u64::MAX, Range, |value| Some(Pattern::Unsigned(value.bits()));
    [const N: u32,] U64<N>, u64, u64::MAX, Range, |value| Some(Pattern::Unsigned(value.bits()));
    [const N: u32,] S<N>, i64, i64::MAX, Range, |value| Some(Pattern::Signed(value.get()));
    [const N: u32,] S64<N>, i64, i64::MAX, Range, |value| Some(Pattern::Signed(value.get()));
    [const N: u32,] MinusOne<N>, u64, 0, Range, |value| Some(Pattern::Unsigned(value.bits()));
    [const N: u32, const SHIFT: u32,] Shifted<N, SHIFT>, u64, u64::MAX, Range,
        |value| Some(Pattern::Unsigned(value.bits()));
    [const N: u32,] PowerOfTwo<N>, u64, 0, PowerOfTwo, |value| Some(Pattern::Unsigned(value.bits()));
    [SP: Space, const ALIGN: u64, const N: u32,] Address<SP, ALIGN, N>, u64, 1 << 63, Address, |_value| None;
}

macro_rules! fixed {
    ($($type:ident $signed:literal |$value:ident| $pattern:expr;)*) => {$(
        impl<const I: u32, const F: u32> $type<I, F> {
            const fn pattern(result: Result<Self, LiteralError>) -> Option<Pattern> {
                match result {
                    Ok($value) => Some($pattern),
                    Err(_) => None,
                }
            }

            const fn literal(value: f64) -> Result<Self, LiteralError> {
                match Self::new(value) {
                    Ok(value) => Ok(value),
                    Err(_) => Err(LiteralError::Fixed { int: I, fraction: F, signed: $signed }),
                }
            }
        }
        #[diagnostic::do_not_recommend]
        impl<const I: u32, const F: u32, const V: i128> Literal<V> for $type<I, F> {
            const RESULT: Result<Self, LiteralError> = Self::literal(V as f64);
            const PATTERN: Option<Pattern> = Self::pattern(<Self as Literal<V>>::RESULT);
        }
        #[diagnostic::do_not_recommend]
        impl<const I: u32, const F: u32, const BITS: u64> FloatLiteral<BITS> for $type<I, F> {
            const RESULT: Result<Self, LiteralError> = Self::literal(f64::from_bits(BITS));
            const PATTERN: Option<Pattern> = Self::pattern(<Self as FloatLiteral<BITS>>::RESULT);
        }
    )*};
}
fixed! {
    UFix false |value| Pattern::Unsigned(value.bits());
    SFix true |value| Pattern::Signed(sign_extend(value.bits(), I + F + 1));
}

macro_rules! float {
    ($($type:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<const V: i128> Literal<V> for $type {
            const RESULT: Result<Self, LiteralError> =
                if V as $type as i128 == V { Ok(V as $type) } else { Err(LiteralError::Inexact) };
        }
        #[diagnostic::do_not_recommend]
        impl<const BITS: u64> FloatLiteral<BITS> for $type {
            const RESULT: Result<Self, LiteralError> = {
                let wide = f64::from_bits(BITS);
                let value = wide as $type;
                if wide.is_finite() && !value.is_finite() { Err(LiteralError::Infinite) } else { Ok(value) }
            };
        }
    )*};
}
float! { f32 f64 }

#[cfg(test)]
mod tests;
