//! Literals that the compiler checks.

use crate::address::{Address, Space};
use crate::fixed::{SFix, UFix};
use crate::int::{MinusOne, OutOfRange, PowerOfTwo, S, S64, Shifted, U, U64};

/// Types that may hold the integer literal `V`. Use it through [`lit!`](crate::lit).
#[diagnostic::on_unimplemented(
    message = "a number cannot be put where `{Self}` is expected",
    label = "`{Self}` is not a number",
    note = "enumerations take one of their named constants, switches `true` or `false`"
)]
pub trait Literal<const V: i128>: Copy {
    /// The literal as a value of this type, or why it does not fit.
    const RESULT: Result<Self, Refused>;
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

/// The value, or a compile error at the place of the call.
///
/// # Panics
/// If the literal was refused; within `const` that is the compile error.
#[track_caller]
pub const fn checked<T: Copy>(result: Result<T, Refused>) -> T {
    match result {
        Ok(value) => value,
        Err(refused) => {
            let text = Text::new().refused(refused);
            panic!("{}", text.as_str())
        }
    }
}

/// A message made at compile time.
struct Text {
    bytes: [u8; 160],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Text { bytes: [0; 160], length: 0 }
    }

    const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the literal does not fit the field",
        }
    }

    const fn text(mut self, text: &str) -> Self {
        let mut i = 0;
        while i < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text.as_bytes()[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    const fn number(self, value: i128) -> Self {
        self.digits(value, 10)
    }

    const fn hex(self, value: i128) -> Self {
        let this = if value < 0 { self.text("-0x") } else { self.text("0x") };
        this.digits(value.unsigned_abs() as i128, 16)
    }

    const fn digits(self, value: i128, base: u128) -> Self {
        let mut this = if value < 0 { self.text("-") } else { self };
        let mut digits = [0u8; 40];
        let (mut rest, mut count) = (value.unsigned_abs(), 0);
        loop {
            digits[count] = b"0123456789abcdef"[(rest % base) as usize];
            count += 1;
            rest /= base;
            if rest == 0 {
                break;
            }
        }
        while count > 0 && this.length < this.bytes.len() {
            count -= 1;
            this.bytes[this.length] = digits[count];
            this.length += 1;
        }
        this
    }

    const fn refused(self, refused: Refused) -> Self {
        match refused {
            Refused::Range(OutOfRange { value, min, max, multiple_of }) => {
                let this = self.number(value).text(" does not fit ").number(min).text("..=").number(max);
                if multiple_of > 1 { this.text(" in steps of ").number(multiple_of as i128) } else { this }
            }
            Refused::PowerOfTwo(OutOfRange { value, max, .. }) => {
                self.number(value).text(" is not a power of two up to ").number(max)
            }
            Refused::Address(OutOfRange { value, multiple_of, .. }) if value % multiple_of as i128 != 0 => {
                self.hex(value).text(" is not a multiple of ").hex(multiple_of as i128)
            }
            Refused::Address(OutOfRange { value, max, .. }) => {
                self.hex(value).text(" does not fit 0..=").hex(max)
            }
            Refused::Fixed { int, fraction, signed } => {
                let this = self.text("the literal does not fit a fixed-point field of ").number(int as i128);
                let this = this.text(" integer and ").number(fraction as i128).text(" fraction bits");
                if signed { this.text(" with a sign") } else { this.text(" without a sign") }
            }
            Refused::Inexact => self.text("the floating-point field cannot hold the integer exactly"),
        }
    }
}

/// The literal as the type that `new` takes; those that 64 bits cannot hold are refused with `new`'s own bounds.
macro_rules! literal {
    ($([$($generics:tt)*] $type:ty, $wide:ident, $least:expr, $refused:ident;)*) => {$(
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
        }
    )*};
}
// What is out of range of 64 bits is replaced by a value that narrower fields refuse as well.
literal! {
    [const N: u32,] U<N>, u64, u64::MAX, Range;
    [const N: u32,] U64<N>, u64, u64::MAX, Range;
    [const N: u32,] S<N>, i64, i64::MAX, Range;
    [const N: u32,] S64<N>, i64, i64::MAX, Range;
    [const N: u32,] MinusOne<N>, u64, 0, Range;
    [const N: u32, const SHIFT: u32,] Shifted<N, SHIFT>, u64, u64::MAX, Range;
    [const N: u32,] PowerOfTwo<N>, u64, 0, PowerOfTwo;
    [SP: Space, const ALIGN: u64, const N: u32,] Address<SP, ALIGN, N>, u64, 1 << 63, Address;
}

macro_rules! fixed {
    ($($type:ident $signed:literal;)*) => {$(
        impl<const I: u32, const F: u32> $type<I, F> {
            const fn literal(value: f64) -> Result<Self, Refused> {
                match Self::new(value) {
                    Ok(value) => Ok(value),
                    Err(_) => Err(Refused::Fixed { int: I, fraction: F, signed: $signed }),
                }
            }
        }
        impl<const I: u32, const F: u32, const V: i128> Literal<V> for $type<I, F> {
            const RESULT: Result<Self, Refused> = Self::literal(V as f64);
        }
        impl<const I: u32, const F: u32, const BITS: u64> FloatLiteral<BITS> for $type<I, F> {
            const RESULT: Result<Self, Refused> = Self::literal(f64::from_bits(BITS));
        }
    )*};
}
fixed! {
    UFix false;
    SFix true;
}

macro_rules! float {
    ($($type:ident)*) => {$(
        impl<const V: i128> Literal<V> for $type {
            const RESULT: Result<Self, Refused> =
                if V as $type as i128 == V { Ok(V as $type) } else { Err(Refused::Inexact) };
        }
        impl<const BITS: u64> FloatLiteral<BITS> for $type {
            const RESULT: Result<Self, Refused> = Ok(f64::from_bits(BITS) as $type);
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

    #[test]
    fn messages() {
        fn message<const V: i128, T: Literal<V>>() -> std::string::String {
            let Err(refused) = T::RESULT else { panic!("{V} fits") };
            Text::new().refused(refused).as_str().into()
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
        assert_eq!(
            message::<16, UFix<4, 8>>(),
            "the literal does not fit a fixed-point field of 4 integer and 8 fraction bits without a sign"
        );
        assert_eq!(message::<0x41, Address<Graphics, 64, 32>>(), "0x41 is not a multiple of 0x40");
        assert_eq!(
            message::<0x1_0000_0000, Address<Graphics, 64, 32>>(),
            "0x100000000 does not fit 0..=0xffffffc0"
        );
        assert_eq!(message::<-64, Address<Graphics, 64, 64>>(), "-0x40 does not fit 0..=0xffffffffffc0");
    }
}
