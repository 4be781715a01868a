//! Literals that the compiler checks.

use crate::address::{Address, Space};
use crate::int::{MinusOne, PowerOfTwo, S, Shifted, U};

/// Types that can hold the literal `V`; [`VALUE`](Literal::VALUE) fails to compile when it does not fit.
/// Use it through [`lit!`](crate::lit).
pub trait Literal<const V: i128> {
    /// The literal as a value of this type.
    const VALUE: Self;
}

/// A literal for a bounded field, checked at compile time; the type comes from where it is used.
///
/// ```
/// use genxml_core::{lit, U, MinusOne};
/// let mask: U<16> = lit!(0xffff);
/// let threads: MinusOne<6> = lit!(64);
/// assert_eq!((mask.get(), threads.bits()), (65535, 63));
/// ```
///
/// ```compile_fail
/// # use genxml_core::{lit, U};
/// let mask: U<16> = lit!(0x10000); // does not fit 16 bits
/// ```
#[macro_export]
macro_rules! lit {
    ($value:expr) => {
        <_ as $crate::Literal<{ $value }>>::VALUE
    };
}

/// Unwraps at compile time.
macro_rules! checked {
    ($result:expr, $message:literal) => {
        match $result {
            Ok(value) => value,
            Err(_) => panic!($message),
        }
    };
}

/// Literals are compared as `i128`; those outside 64 bits can fit no field.
const fn unsigned(value: i128) -> u64 {
    assert!(value >= 0, "a negative literal does not fit an unsigned field");
    assert!(value <= u64::MAX as i128, "the literal does not fit the field");
    value as u64
}

impl<const N: u32, const V: i128> Literal<V> for U<N> {
    const VALUE: Self = checked!(U::new(unsigned(V)), "the literal does not fit the field's bits");
}

impl<const N: u32, const V: i128> Literal<V> for S<N> {
    const VALUE: Self = {
        assert!(V >= i64::MIN as i128 && V <= i64::MAX as i128, "the literal does not fit the field");
        checked!(S::new(V as i64), "the literal does not fit the field's bits")
    };
}

impl<const N: u32, const V: i128> Literal<V> for MinusOne<N> {
    const VALUE: Self =
        checked!(MinusOne::new(unsigned(V)), "the literal does not fit the field, which holds 1 to 2^bits");
}

impl<const N: u32, const SHIFT: u32, const V: i128> Literal<V> for Shifted<N, SHIFT> {
    const VALUE: Self = checked!(
        Shifted::new(unsigned(V)),
        "the literal does not fit the field, or is not a multiple of the field's unit"
    );
}

impl<const N: u32, const V: i128> Literal<V> for PowerOfTwo<N> {
    const VALUE: Self =
        checked!(PowerOfTwo::new(unsigned(V)), "the literal is not a power of two that the field can hold");
}

impl<SP: Space, const ALIGN: u64, const N: u32, const V: i128> Literal<V> for Address<SP, ALIGN, N> {
    const VALUE: Self =
        checked!(Address::new(unsigned(V)), "the address is misaligned or does not fit the field");
}
