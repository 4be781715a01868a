//! Run-time values for fields, with errors that name the field.
//!
//! [`fit!`](crate::fit!) checks one value; `genxml::packet!` does it for every field whose value
//! ends in `?`.

use crate::address::{Address, Space};
use crate::at::At;
use crate::bits::sign_extend;
use crate::fixed::{NotFixed, SFix, UFix};
use crate::int::{MinusOne, OutOfRange, PowerOfTwo, S, S64, Shifted, U, U64};
use crate::message::Text;
use crate::packet::Packed;
use crate::reflect::{Container, Stored, Type};
use core::fmt;
use core::marker::PhantomData;

/// A value that a field cannot hold: which field of what, its bits, the value and what would fit.
#[derive(Clone, Copy)]
pub struct FieldError {
    /// The field.
    pub at: &'static At,
    /// The value and the bounds.
    pub reason: Misfit,
}

/// Why a value does not fit its field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misfit {
    /// An integer or an address.
    Integer(OutOfRange),
    /// A number for a fixed-point field.
    Fixed(NotFixed),
}

impl FieldError {
    /// The manual's name of the container, `3DSTATE_VS`.
    pub const fn container(&self) -> &'static str {
        self.at.container()
    }

    /// The manual's name of the field, `Maximum Number of Threads`.
    pub const fn field(&self) -> &'static str {
        self.at.name()
    }
}

impl PartialEq for FieldError {
    /// The same field by name, and the same reason; numbers are the same if their bits are.
    fn eq(&self, other: &Self) -> bool {
        let reason = match (self.reason, other.reason) {
            (Misfit::Integer(one), Misfit::Integer(other)) => one == other,
            (Misfit::Fixed(one), Misfit::Fixed(other)) => {
                let bits =
                    |number: NotFixed| [number.value, number.min, number.max].map(f64::to_bits);
                bits(one) == bits(other)
            }
            _ => false,
        };
        reason && (self.container(), self.field()) == (other.container(), other.field())
    }
}

impl Eq for FieldError {}

impl fmt::Debug for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldError({self})")
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.at.write(Text::new()).text(" = ");
        match self.reason {
            Misfit::Integer(error) => f.write_str(integer(self.at, error, text).as_str()),
            Misfit::Fixed(error) => {
                write!(f, "{}{} does not fit ", text.as_str(), error.value)?;
                match self.at.write_range(Text::new()) {
                    Some(range) => f.write_str(range.as_str()),
                    None => write!(f, "{}..={}", error.min, error.max),
                }
            }
        }
    }
}

impl core::error::Error for FieldError {}

/// Adds the value and what would fit, in the words of the field's type.
pub(crate) const fn integer(at: &At, error: OutOfRange, text: Text) -> Text {
    if let Some(field) = at.field() {
        if matches!(field.ty, Type::Address { .. }) {
            return text.address(error);
        }
        if matches!(field.stored, Stored::Log2) && (error.value <= 0 || !power_of_two(error.value))
        {
            return text.power_of_two(error);
        }
    }
    match at.write_range(text.number(error.value).text(" does not fit ")) {
        Some(text) if error.multiple_of > 1 => {
            text.text(" in steps of ").number(error.multiple_of as i128)
        }
        Some(text) => text,
        None => text.integer(error),
    }
}

const fn power_of_two(value: i128) -> bool {
    value & (value - 1) == 0
}

/// A value that may be put into a field of type `T` with `?`, if it fits.
///
/// Integers of every size fit integers and addresses, integers up to 32 bits and floats fit fixed
/// point, a `bool` fits an integer as 0 or 1. A result of a conversion, `U::new(n)?` say, is passed
/// on; its error then names the field. Results of other errors are passed on as they are, if
/// [`Named`] is implemented for the error.
#[diagnostic::on_unimplemented(
    message = "`?` cannot put this `{Self}` into the field",
    label = "no integer, float or result of a conversion that the field takes",
    note = "a field's `?` converts and checks; for Rust's own `?` put the value into parentheses: `(value?)`",
    note = "a value that has the field's type already needs no `?`"
)]
pub trait Fit<T>: Sized {
    /// What is returned if it does not fit: a [`FieldError`], or the result's own error.
    type Error;

    /// The value for the field.
    ///
    /// # Errors
    /// If it does not fit the field's bits, or the manual allows less than they can hold.
    fn fit(self, at: &'static At) -> Result<T, Self::Error>;
}

/// An error that `?` meets in a field's value.
///
/// Out of range values get the field's name; others are passed on. Implement it for an error of
/// your own to have `packet!` pass it on without parentheses around the value.
#[diagnostic::on_unimplemented(
    message = "`?` in a packet's field does not know the error `{Self}`",
    note = "put the value into parentheses, `(value?)`: that is Rust's own `?`"
)]
pub trait Named {
    /// What becomes of it.
    type Error;
    /// The error, of the field.
    fn named(self, at: &'static At) -> Self::Error;
}

impl Named for OutOfRange {
    type Error = FieldError;
    fn named(self, at: &'static At) -> FieldError {
        FieldError { at, reason: Misfit::Integer(self) }
    }
}

impl Named for NotFixed {
    type Error = FieldError;
    fn named(self, at: &'static At) -> FieldError {
        FieldError { at, reason: Misfit::Fixed(self) }
    }
}

impl Named for FieldError {
    type Error = FieldError;
    fn named(self, _: &'static At) -> FieldError {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: Named> Fit<T> for Result<T, E> {
    type Error = E::Error;
    #[inline(always)]
    fn fit(self, at: &'static At) -> Result<T, E::Error> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(passed(error, at)),
        }
    }
}

#[cold]
#[inline(never)]
fn passed<E: Named>(error: E, at: &'static At) -> E::Error {
    error.named(at)
}

/// Checks one run-time value for a field: the error names container, field, bits, value and what
/// would fit. The value may be any that implements [`Fit`](crate::fit::Fit), as with `?` in
/// `genxml::packet!`, which does the same.
///
/// ```
/// # use genxml_core::{fit, reflect::*, MinusOne, Packed, fit::FieldError};
/// # static THREADS: [Field; 1] = [Field { name: "Maximum Number of Threads", start: 247, end: 255, ty: Type::Uint,
/// #     stored: Stored::MinusOne, ..Field::PLAIN }];
/// # static INFO: Container = Container { name: "3DSTATE_VS", rust_name: "ThreeDStateVs", unit: "3d",
/// #     kind: Kind::Struct { align: 1 }, bits: 288, fields: &THREADS, groups: &[], views: &[], rules: &[], partial: false, doc: "",
/// #     source: "" };
/// # struct ThreeDStateVs;
/// # impl Packed for ThreeDStateVs { const NAME: &'static str = "3DSTATE_VS"; const INFO: &'static Container = &INFO; }
/// let threads = 600u32;
/// let error: Result<MinusOne<9>, FieldError> = fit!(ThreeDStateVs.maximum_number_of_threads, threads);
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "3DSTATE_VS: Maximum Number of Threads (dw7 31:23) = 600 does not fit 1..=512"
/// );
/// ```
///
/// Members of members follow one another, `fit!(Container.structure.field, value)`; behind a set of
/// alternatives stands the alternative: `fit!(RenderSurfaceState.extent.Buffer.width, value)`.
#[macro_export]
macro_rules! fit {
    ($($container:ident)::+ $(. $member:ident)+, $value:expr $(,)?) => {
        $crate::fit::Fit::fit(
            $value,
            const {
                &$crate::At::known(
                    <$($container)::+ as $crate::Packed>::INFO,
                    &[$(::core::stringify!($member)),+],
                )
            },
        )
    };
}

/// [`Fit::fit`], for `packet!`.
///
/// # Errors
/// As [`Fit::fit`].
#[doc(hidden)]
#[inline(always)]
pub fn fit<T, V: Fit<T>>(at: &'static At, value: V) -> Result<T, V::Error> {
    value.fit(at)
}

/// The tables of a type if it has any: macros see only the name of a type, and elements of arrays
/// have none.
#[doc(hidden)]
pub struct Probe<T>(PhantomData<T>);

impl<T: Packed> Probe<T> {
    /// The tables.
    pub const TABLES: Option<&'static Container> = Some(T::INFO);
}

/// What [`Probe`] says of types without tables.
#[doc(hidden)]
pub trait Untold {
    /// None.
    const TABLES: Option<&'static Container> = None;
}

impl<T> Untold for Probe<T> {}

/// Rust's integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer that `?` can put into the field",
    label = "this is not an integer"
)]
pub trait Integer: Copy + sealed::Sealed {
    /// As `u64`, if it is not negative.
    fn unsigned(self) -> Option<u64>;
    /// As `i64`, if it is below 2^63.
    fn signed(self) -> Option<i64>;
    /// The value.
    fn exact(self) -> i128;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($type:ident: $unsigned:expr, $signed:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Integer for $type {
            #[inline(always)]
            fn unsigned(self) -> Option<u64> {
                let convert: fn($type) -> Option<u64> = $unsigned;
                convert(self)
            }
            #[inline(always)]
            fn signed(self) -> Option<i64> {
                let convert: fn($type) -> Option<i64> = $signed;
                convert(self)
            }
            #[inline(always)]
            fn exact(self) -> i128 {
                self as i128
            }
        }
    )*};
}
integers! {
    bool: |v| Some(v as u64), |v| Some(v as i64);
    u8: |v| Some(v.into()), |v| Some(v.into());
    u16: |v| Some(v.into()), |v| Some(v.into());
    u32: |v| Some(v.into()), |v| Some(v.into());
    u64: Some, |v| v.try_into().ok();
    usize: |v| v.try_into().ok(), |v| v.try_into().ok();
    i8: |v| v.try_into().ok(), |v| Some(v.into());
    i16: |v| v.try_into().ok(), |v| Some(v.into());
    i32: |v| v.try_into().ok(), |v| Some(v.into());
    i64: |v| v.try_into().ok(), Some;
    isize: |v| v.try_into().ok(), |v| v.try_into().ok();
}

/// A stored value as [`Field::range`](crate::reflect::Field::range) counts it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Pattern {
    Unsigned(u64),
    Signed(i64),
}

impl Pattern {
    /// Whether the manual allows it.
    #[inline(always)]
    pub const fn within(self, range: Option<(u64, u64)>) -> bool {
        match (self, range) {
            (_, None) => true,
            (Pattern::Unsigned(value), Some((min, max))) => value >= min && value <= max,
            (Pattern::Signed(value), Some((min, max))) => {
                value >= min as i64 && value <= max as i64
            }
        }
    }
}

/// The bounds of a type that refuses an integer.
trait Bounds: Sized {
    fn bounds(value: i128) -> OutOfRange;
}

macro_rules! fit_integers {
    ($([$($generics:tt)*] $target:ty: $wide:ident $type:ident $refused:expr, |$value:ident, $at:ident| $within:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<V: Integer, $($generics)*> Fit<$target> for V {
            type Error = FieldError;
            #[inline(always)]
            fn fit(self, $at: &'static At) -> Result<$target, FieldError> {
                if let Some(wide) = self.$wide()
                    && let Ok($value) = <$target>::new(wide)
                    && $within
                {
                    return Ok($value);
                }
                Err(refused::<$target>($at, self.exact()))
            }
        }

        impl<$($generics)*> Bounds for $target {
            fn bounds(value: i128) -> OutOfRange {
                let wide = OutOfRange {
                    value,
                    min: $type::MIN.into(),
                    max: $type::MAX.into(),
                    multiple_of: 1,
                };
                // Another value for one that 64 bits do not hold: it is refused too, unless the
                // type takes all of them.
                let refused = <$target>::new(value.try_into().unwrap_or($refused)).err();
                OutOfRange { value, ..refused.unwrap_or(wide) }
            }
        }
    )*};
}
fit_integers! {
    [const N: u32] U<N>: unsigned u64 u64::MAX, |value, at| Pattern::Unsigned(value.bits()).within(at.range);
    [const N: u32] U64<N>: unsigned u64 u64::MAX, |value, at| Pattern::Unsigned(value.bits()).within(at.range);
    [const N: u32] S64<N>: signed i64 i64::MAX, |value, at| Pattern::Signed(value.get()).within(at.range);
    [const N: u32] S<N>: signed i64 i64::MAX, |value, at| Pattern::Signed(value.get()).within(at.range);
    [const N: u32] MinusOne<N>: unsigned u64 0, |value, at| Pattern::Unsigned(value.bits()).within(at.range);
    [const N: u32, const SHIFT: u32] Shifted<N, SHIFT>: unsigned u64 u64::MAX,
        |value, at| Pattern::Unsigned(value.bits()).within(at.range);
    [const N: u32] PowerOfTwo<N>: unsigned u64 0, |value, at| Pattern::Unsigned(value.bits()).within(at.range);
    [SP: Space, const ALIGN: u64, const N: u32] Address<SP, ALIGN, N>: unsigned u64 1 << 63, |value, at| true;
}

#[cold]
#[inline(never)]
fn refused<T: Bounds>(at: &'static At, value: i128) -> FieldError {
    FieldError { at, reason: Misfit::Integer(T::bounds(value)) }
}

macro_rules! fit_fixed {
    ($($from:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<const I: u32, const F: u32> Fit<UFix<I, F>> for $from {
            type Error = FieldError;
            #[inline(always)]
            fn fit(self, at: &'static At) -> Result<UFix<I, F>, FieldError> {
                match UFix::new(self.into()) {
                    Ok(value) if Pattern::Unsigned(value.bits()).within(at.range) => Ok(value),
                    other => Err(not_fixed(at, self.into(), other.err())),
                }
            }
        }
        #[diagnostic::do_not_recommend]
        impl<const I: u32, const F: u32> Fit<SFix<I, F>> for $from {
            type Error = FieldError;
            #[inline(always)]
            fn fit(self, at: &'static At) -> Result<SFix<I, F>, FieldError> {
                match SFix::new(self.into()) {
                    Ok(value) if Pattern::Signed(sign_extend(value.bits(), I + F + 1)).within(at.range) => Ok(value),
                    other => Err(not_fixed(at, self.into(), other.err())),
                }
            }
        }
    )*};
}
fit_fixed! { f32 f64 u8 u16 u32 i8 i16 i32 }

/// Without bounds of the type, it is the manual's range that refuses.
#[cold]
#[inline(never)]
fn not_fixed(at: &'static At, value: f64, bounds: Option<NotFixed>) -> FieldError {
    FieldError {
        at,
        reason: Misfit::Fixed(bounds.unwrap_or(NotFixed { value, min: value, max: value })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflect::{Field, Group, Kind};
    use std::string::ToString;

    static FIELDS: [Field; 9] = [
        Field { name: "Count", start: 0, end: 8, stored: Stored::MinusOne, ..Field::PLAIN },
        Field { name: "Level", start: 9, end: 12, range: Some((1, 9)), ..Field::PLAIN },
        Field {
            name: "Bias",
            start: 13,
            end: 25,
            ty: Type::SFixed(8),
            range: Some((!0xff, 0x180)),
            ..Field::PLAIN
        },
        Field {
            name: "Delta",
            start: 26,
            end: 31,
            ty: Type::Int,
            range: Some((!3, 4)),
            ..Field::PLAIN
        },
        Field { name: "Twice", start: 32, end: 33, ..Field::PLAIN },
        Field { name: "Twice", start: 34, end: 35, range: Some((1, 1)), ..Field::PLAIN },
        Field {
            name: "Width",
            start: 36,
            end: 42,
            range: Some((0, 9)),
            alternative: Some(("The Extent", "Buffer")),
            ..Field::PLAIN
        },
        Field {
            name: "Width",
            start: 36,
            end: 42,
            alternative: Some(("The Extent", "Image")),
            ..Field::PLAIN
        },
        Field {
            name: "Start",
            start: 70,
            end: 95,
            ty: Type::Address {
                space: crate::address::SpaceKind::DynamicState,
                align: 64,
                target: "",
            },
            ..Field::PLAIN
        },
    ];
    static ELEMENT: [Field; 2] = [
        Field { name: "Reserved", start: 0, end: 1, ty: Type::MustBeZero, ..Field::PLAIN },
        Field { name: "Log", start: 2, end: 3, stored: Stored::Log2, ..Field::PLAIN },
    ];
    static GROUPS: [Group; 1] =
        [Group { name: "", start: 96, bits: 4, count: 8, fields: &ELEMENT, groups: &[] }];
    static INFO: Container = Container {
        name: "A_THING",
        rust_name: "Thing",
        unit: "test",
        kind: Kind::Struct { align: 1 },
        bits: 128,
        fields: &FIELDS,
        groups: &GROUPS,
        views: &[],
        rules: &[],
        partial: false,
        doc: "",
        source: "",
    };
    struct Thing;
    impl Packed for Thing {
        const NAME: &'static str = "A_THING";
        const INFO: &'static Container = &INFO;
    }
    struct Plain;

    fn text<T>(result: Result<T, FieldError>) -> std::string::String {
        result.err().map_or("fits".into(), |error| error.to_string())
    }

    /// Oracle: the ranges above, by hand.
    #[test]
    fn messages() {
        fn level(value: impl Integer) -> Result<U<4>, FieldError> {
            fit!(Thing.level, value)
        }
        assert_eq!(level(9u8).map(U::get), Ok(9));
        assert_eq!(level(true).map(U::get), Ok(1));
        assert_eq!(text(level(0u64)), "A_THING: Level (dw0 12:9) = 0 does not fit 1..=9");
        assert_eq!(text(level(16usize)), "A_THING: Level (dw0 12:9) = 16 does not fit 1..=9");
        assert_eq!(text(level(-1i64)), "A_THING: Level (dw0 12:9) = -1 does not fit 1..=9");

        let count: Result<MinusOne<9>, _> = fit!(Thing.count, 600u16);
        assert_eq!(text(count), "A_THING: Count (dw0 8:0) = 600 does not fit 1..=512");
        let count: Result<MinusOne<9>, _> = fit!(Thing.count, MinusOne::new(0));
        assert_eq!(text(count), "A_THING: Count (dw0 8:0) = 0 does not fit 1..=512");

        let bias = |value: f32| -> Result<SFix<4, 8>, _> { fit!(Thing.bias, value) };
        assert_eq!(bias(1.5).map(SFix::get), Ok(1.5));
        assert_eq!(text(bias(1.75)), "A_THING: Bias (dw0 25:13) = 1.75 does not fit -1..=1.5");
        assert_eq!(text(bias(-100.0)), "A_THING: Bias (dw0 25:13) = -100 does not fit -1..=1.5");

        let delta = |value: i32| -> Result<S<6>, _> { fit!(Thing.delta, value) };
        assert_eq!((delta(-4).map(S::get), delta(4).map(S::get)), (Ok(-4), Ok(4)));
        assert_eq!(text(delta(-5)), "A_THING: Delta (dw0 31:26) = -5 does not fit -4..=4");

        let start = |value: u64| -> Result<Address<crate::address::DynamicState, 64, 32>, _> {
            fit!(Thing.start, value)
        };
        assert_eq!(start(64).map(Address::get), Ok(64));
        assert_eq!(text(start(65)), "A_THING: Start (dw2 31:6) = 0x41 is not a multiple of 0x40");
        assert_eq!(
            text(start(1 << 32)),
            "A_THING: Start (dw2 31:6) = 0x100000000 does not fit 0..=0xffffffc0"
        );

        let log: Result<PowerOfTwo<2>, _> = fit!(Thing.log, 3);
        assert_eq!(
            text(log),
            "A_THING: Log (dw3 3:2, first element) = 3 is not a power of two up to 8"
        );
    }

    /// What 64 bits do not hold is refused with the type's bounds.
    #[test]
    fn wide() {
        const AT: &At = &At::new(None, "Plain", &["wide"]);
        assert_eq!(
            text(Fit::<S64<64>>::fit(u64::MAX, AT)),
            "Plain: wide = 18446744073709551615 does not fit -9223372036854775808..=9223372036854775807"
        );
        assert_eq!(
            text(Fit::<U64<64>>::fit(-1i8, AT)),
            "Plain: wide = -1 does not fit 0..=18446744073709551615"
        );
        assert_eq!(text(Fit::<U64<64>>::fit(u64::MAX, AT)), "fits");
        assert_eq!(
            text(Fit::<U<3>>::fit(U::<3>::new(9), AT)),
            "Plain: wide = 9 does not fit 0..=7"
        );
    }

    /// A name that two fields have says nothing of bits and ranges.
    #[test]
    fn ambiguous() {
        const AT: &At = &At::new(Some(&INFO), "Thing", &["twice"]);
        assert_eq!(text(Fit::<U<2>>::fit(4u8, AT)), "A_THING: twice = 4 does not fit 0..=3");
        assert_eq!(text(Fit::<U<2>>::fit(3u8, AT)), "fits");
    }

    /// Alternatives may give a name to different fields: the alternative's name tells which is
    /// meant.
    #[test]
    fn alternatives() {
        let width = |value: u8| -> Result<U<7>, _> { fit!(Thing.the_extent.Buffer.width, value) };
        assert_eq!(
            (text(width(9)), text(width(10))),
            ("fits".into(), "A_THING: Width (dw1 10:4) = 10 does not fit 0..=9".into())
        );
        let width = |value: u8| -> Result<U<7>, _> { fit!(Thing.the_extent.Image.width, value) };
        assert_eq!(
            (text(width(127)), text(width(128))),
            ("fits".into(), "A_THING: Width (dw1 10:4) = 128 does not fit 0..=127".into())
        );
        const UNKNOWN: &At = &At::new(Some(&INFO), "Thing", &["width"]);
        assert!(UNKNOWN.field().is_none());
        const OTHER: &At = &At::new(Some(&INFO), "Thing", &["the_extent", "Other", "width"]);
        assert!(OTHER.field().is_none());
    }

    #[test]
    fn probe() {
        assert_eq!(Probe::<Thing>::TABLES.map(|info| info.name), Some("A_THING"));
        assert!(Probe::<Plain>::TABLES.is_none());
    }
}
