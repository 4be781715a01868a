//! Literals that the compiler checks.

use crate::address::{Address, Space};
use crate::at::At;
use crate::bits::sign_extend;
use crate::fit::{Pattern, integer};
use crate::fixed::{SFix, UFix};
use crate::int::{MinusOne, OutOfRange, PowerOfTwo, S, S64, Shifted, U, U64};
use crate::message::Text;

/// Types that may hold the integer literal `V`. Use it through [`lit!`](crate::lit).
#[diagnostic::on_unimplemented(
    message = "a number cannot be put where `{Self}` is expected",
    label = "`{Self}` is not a number",
    note = "enumerations take one of their named constants, switches `true` or `false`"
)]
pub trait Literal<const V: i128>: Copy {
    /// The literal as a value of this type, or why it does not fit.
    const RESULT: Result<Self, Refused>;
    /// As stored, for types that the manual gives ranges for.
    #[doc(hidden)]
    const PATTERN: Option<Pattern> = None;
}

/// Types that may hold the floating-point literal whose `f64` has these bits. Use it through
/// [`lit!`](crate::lit).
#[diagnostic::on_unimplemented(
    message = "a number with a fraction cannot be put where `{Self}` is expected",
    label = "`{Self}` takes no fractions",
    note = "fixed-point and floating-point fields take fractions"
)]
pub trait FloatLiteral<const BITS: u64>: Copy {
    /// The literal as a value of this type, or why it does not fit.
    const RESULT: Result<Self, Refused>;
    /// As stored, for types that the manual gives ranges for.
    #[doc(hidden)]
    const PATTERN: Option<Pattern> = None;
}

/// Why a field cannot hold a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// An integer out of range, or not a multiple of what the field counts in.
    Range(OutOfRange),
    /// It is none of 1, 2, 4, 8...
    PowerOfTwo(OutOfRange),
    /// An address out of range or misaligned.
    Address(OutOfRange),
    /// A fixed-point field with these integer and fraction bits cannot hold it.
    Fixed {
        /// Bits before the point, without the sign.
        int: u32,
        /// Bits behind the point.
        fraction: u32,
        /// Whether there is a sign.
        signed: bool,
    },
    /// A floating-point field cannot hold the integer exactly.
    Inexact,
    /// The number is beyond what a floating-point field can hold.
    Infinite,
}

/// A literal for a bounded field, checked at compile time; the type comes from where it is used.
///
/// ```
/// use genxml_core::{lit, U, MinusOne, SFix};
/// let mask: U<16> = lit!(0xffff);
/// let threads: MinusOne<6> = lit!(64);
/// let bias: SFix<4, 8> = lit!(float -1.5);
/// assert_eq!((mask.get(), threads.bits(), bias.get()), (65535, 63, -1.5));
/// ```
///
/// A literal that does not fit is refused:
/// ```compile_fail,E0080
/// # use genxml_core::{lit, U};
/// let mask: U<16> = lit!(0x10000); // 65536 does not fit 0..=65535
/// ```
#[macro_export]
macro_rules! lit {
    (float $value:expr) => {
        const { $crate::literal::checked(<_ as $crate::FloatLiteral<{ f64::to_bits($value) }>>::RESULT) }
    };
    ($value:expr) => {
        const { $crate::literal::checked(<_ as $crate::Literal<{ $value }>>::RESULT) }
    };
}

/// [`for_field`] of an integer.
#[doc(hidden)]
#[track_caller]
pub const fn integer_for<const V: i128, T: Literal<V>>(at: &At) -> T {
    for_field(at, T::RESULT, T::PATTERN)
}

/// [`for_field`] of a number with a fraction.
#[doc(hidden)]
#[track_caller]
pub const fn float_for<const BITS: u64, T: FloatLiteral<BITS>>(at: &At) -> T {
    for_field(at, T::RESULT, T::PATTERN)
}

/// The value, or a compile error at the place of the call.
///
/// # Panics
/// If the literal was refused; within `const` that is the compile error.
#[track_caller]
pub const fn checked<T: Copy>(result: Result<T, Refused>) -> T {
    match result {
        Ok(value) => value,
        Err(refused) => {
            let text = refused.write(Text::new());
            panic!("{}", text.as_str())
        }
    }
}

impl Refused {
    /// Adds the reason in words.
    const fn write(self, text: Text) -> Text {
        match self {
            Refused::Range(error) => text.integer(error),
            Refused::PowerOfTwo(error) => text.power_of_two(error),
            Refused::Address(error) => text.address(error),
            Refused::Fixed { int, fraction, signed } => {
                let bits = int + fraction;
                let least = if signed { -(1i128 << bits) } else { 0 };
                let text = text.text("the number does not fit ").fixed(least, fraction);
                text.text("..=").fixed((1i128 << bits) - 1, fraction)
            }
            Refused::Inexact => {
                text.text("the floating-point field cannot hold the integer exactly")
            }
            Refused::Infinite => text.text("the number is too large for the floating-point field"),
        }
    }

    /// Adds the reason in words, for a field that the tables know.
    const fn write_at(self, at: &At, text: Text) -> Text {
        match self {
            Refused::Range(error) | Refused::PowerOfTwo(error) | Refused::Address(error) => {
                integer(at, error, text.text(" = "))
            }
            Refused::Fixed { .. } => {
                match at.write_range(text.text(": the number does not fit ")) {
                    Some(text) => text,
                    None => self.write(text.text(": ")),
                }
            }
            Refused::Inexact | Refused::Infinite => self.write(text.text(": ")),
        }
    }
}

/// The literal as a value of `at`'s field, or a compile error that names the field; for `packet!`.
///
/// # Panics
/// If the literal was refused, or the manual does not allow it; within `const` that is the compile
/// error.
#[doc(hidden)]
#[track_caller]
pub const fn for_field<T: Copy>(
    at: &At,
    result: Result<T, Refused>,
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

/// The literal as the type that `new` takes; those that 64 bits cannot hold are refused with
/// `new`'s own bounds.
macro_rules! literal {
    ($([$($generics:tt)*] $type:ty, $wide:ident, $least:expr, $refused:ident, |$value:ident| $pattern:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)* const V: i128> Literal<V> for $type {
            const RESULT: Result<Self, Refused> = {
                let fits = V >= $wide::MIN as i128 && V <= $wide::MAX as i128;
                match <$type>::new(if fits { V as $wide } else { $least }) {
                    Ok(value) if fits => Ok(value),
                    Ok(_) => Err(Refused::$refused(OutOfRange {
                        value: V,
                        min: $wide::MIN as i128,
                        max: $wide::MAX as i128,
                        multiple_of: 1,
                    })),
                    Err(error) => Err(Refused::$refused(OutOfRange { value: V, ..error })),
                }
            };
            const PATTERN: Option<Pattern> = match <Self as Literal<V>>::RESULT {
                Ok($value) => $pattern,
                Err(_) => None,
            };
        }
    )*};
}
// What is out of range of 64 bits is replaced by a value that narrower fields refuse as well.
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
            const fn pattern(result: Result<Self, Refused>) -> Option<Pattern> {
                match result {
                    Ok($value) => Some($pattern),
                    Err(_) => None,
                }
            }

            const fn literal(value: f64) -> Result<Self, Refused> {
                match Self::new(value) {
                    Ok(value) => Ok(value),
                    Err(_) => Err(Refused::Fixed { int: I, fraction: F, signed: $signed }),
                }
            }
        }
        #[diagnostic::do_not_recommend]
        impl<const I: u32, const F: u32, const V: i128> Literal<V> for $type<I, F> {
            const RESULT: Result<Self, Refused> = Self::literal(V as f64);
            const PATTERN: Option<Pattern> = Self::pattern(<Self as Literal<V>>::RESULT);
        }
        #[diagnostic::do_not_recommend]
        impl<const I: u32, const F: u32, const BITS: u64> FloatLiteral<BITS> for $type<I, F> {
            const RESULT: Result<Self, Refused> = Self::literal(f64::from_bits(BITS));
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
            const RESULT: Result<Self, Refused> =
                if V as $type as i128 == V { Ok(V as $type) } else { Err(Refused::Inexact) };
        }
        #[diagnostic::do_not_recommend]
        impl<const BITS: u64> FloatLiteral<BITS> for $type {
            const RESULT: Result<Self, Refused> = {
                let wide = f64::from_bits(BITS);
                let value = wide as $type;
                if wide.is_finite() && !value.is_finite() { Err(Refused::Infinite) } else { Ok(value) }
            };
        }
    )*};
}
float! { f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Graphics;

    #[test]
    fn literals_that_fit() {
        let minimum: S<8> = lit!(-128);
        let all: U64<64> = lit!(0xffff_ffff_ffff_ffff);
        let shifted: Shifted<4, 7> = lit!(128);
        let log: PowerOfTwo<3> = lit!(128);
        let address: Address<Graphics, 64, 64> = lit!(0x8000_0000_0040);
        let (single, double): (f32, f64) = (lit!(3), lit!(float 0.1));
        let fixed: UFix<4, 8> = lit!(2);
        assert_eq!((minimum.get(), all.get(), shifted.bits(), log.bits()), (-128, u64::MAX, 1, 7));
        assert_eq!(address.get(), 0xffff_8000_0000_0040);
        assert_eq!((single, double, fixed.get()), (3.0, 0.1, 2.0));
    }

    /// Oracle: the greatest f32 is 3.4028235e38 (IEEE 754).
    #[test]
    fn floats_do_not_become_infinite() {
        fn result<const BITS: u64>() -> Result<f32, Refused> {
            <f32 as FloatLiteral<BITS>>::RESULT
        }
        assert_eq!(result::<{ f64::to_bits(3.4028234e38) }>(), Ok(f32::MAX));
        assert_eq!(result::<{ f64::to_bits(1e39) }>(), Err(Refused::Infinite));
        assert_eq!(result::<{ f64::to_bits(-1e39) }>(), Err(Refused::Infinite));
        assert_eq!(<f64 as FloatLiteral<{ f64::to_bits(1e39) }>>::RESULT, Ok(1e39));
        assert_eq!(
            result::<{ f64::to_bits(f64::INFINITY) }>(),
            Ok(f32::INFINITY),
            "who says so gets it"
        );
    }

    #[test]
    fn messages() {
        fn message<const V: i128, T: Literal<V>>() -> std::string::String {
            let Err(refused) = T::RESULT else { panic!("{V} fits") };
            refused.write(Text::new()).as_str().into()
        }
        assert_eq!(message::<256, U<8>>(), "256 does not fit 0..=255");
        assert_eq!(message::<-1, U<8>>(), "-1 does not fit 0..=255");
        assert_eq!(
            message::<{ 1 << 64 }, U64<64>>(),
            "18446744073709551616 does not fit 0..=18446744073709551615"
        );
        assert_eq!(message::<-129, S<8>>(), "-129 does not fit -128..=127");
        assert_eq!(message::<0, MinusOne<6>>(), "0 does not fit 1..=64");
        assert_eq!(message::<100, Shifted<4, 7>>(), "100 does not fit 0..=1920 in steps of 128");
        assert_eq!(message::<3, PowerOfTwo<3>>(), "3 is not a power of two up to 128");
        assert_eq!(message::<16, UFix<4, 8>>(), "the number does not fit 0..=15.99609375");
        assert_eq!(message::<0x41, Address<Graphics, 64, 32>>(), "0x41 is not a multiple of 0x40");
        assert_eq!(
            message::<0x1_0000_0000, Address<Graphics, 64, 32>>(),
            "0x100000000 does not fit 0..=0xffffffc0"
        );
        assert_eq!(
            message::<-64, Address<Graphics, 64, 64>>(),
            "-0x40 does not fit 0..=0xffffffffffc0"
        );
    }
}
