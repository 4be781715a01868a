//! Writing run-time values to fields, with errors that name the field.
//!
//! [`fit!`](crate::fit!) checks one value. `genxml::packet!` checks every field whose value ends in
//! `?`.

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

/// The error for a value that a field cannot hold. It names the container, the field, its bits, the
/// value and the legal range.
#[derive(Clone, Copy)]
pub struct FieldError {
    /// The field that cannot hold the value.
    pub at: &'static At,
    /// The value and the bounds.
    pub reason: Misfit,
}

/// Why a value does not fit its field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misfit {
    /// An integer or an address is out of range or misaligned.
    Integer(OutOfRange),
    /// A number does not fit a fixed-point field.
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
    /// Errors are equal if container name, field name and reason are equal. Floating-point numbers
    /// are compared by their bits.
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

crate::debug_as_display!(FieldError);

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

/// Adds the value and the legal values, worded for the type of the field.
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

/// A value that `?` can write to a field of type `T`, if it fits.
///
/// Integers of up to 64 bits convert to integer and address fields; integers of up to 32 bits and
/// floats convert to fixed point; a `bool` converts to an integer 0 or 1. The `Result` of a
/// conversion, for example `U::new(n)?`, is unwrapped, and its error names the field. A `Result`
/// with another error is unwrapped too, if that error implements [`Named`].
#[diagnostic::on_unimplemented(
    message = "`?` cannot put this `{Self}` into the field",
    label = "this is not an integer, a float or a conversion result that the field accepts",
    note = "the `?` of a field converts and checks the value; for Rust's own `?` write parentheses: `(value?)`",
    note = "a value that already has the type of the field needs no `?`"
)]
pub trait Fit<T>: Sized {
    /// The error: a [`FieldError`], or the own error of a `Result`.
    type Error;

    /// Converts the value to the type of the field.
    ///
    /// # Errors
    /// If the value does not fit the field's bits, or is outside the range that the manual allows.
    /// A `Result` only fails with its own error: its `Ok` value is not compared with that range.
    fn fit(self, at: &'static At) -> Result<T, Self::Error>;
}

/// An error that `?` can return from a field's value.
///
/// `OutOfRange` and `NotFixed` become a `FieldError`; a `FieldError` is returned unchanged.
/// Implement the trait for your own error type, so that `?` in `packet!` can return it without
/// parentheses around the value.
#[diagnostic::on_unimplemented(
    message = "the `?` of a packet's field cannot return the error `{Self}`",
    note = "for Rust's own `?` write parentheses around the value: `(value?)`"
)]
pub trait Named {
    /// The error that is returned.
    type Error;
    /// Converts the error to the one that `?` returns for the field `at`.
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
            Err(error) => Err(with_field(error, at)),
        }
    }
}

#[cold]
#[inline(never)]
fn with_field<E: Named>(error: E, at: &'static At) -> E::Error {
    error.named(at)
}

/// Checks one run-time value for a field. The error names container, field, bits, value and the
/// legal range. The value may have any type that implements [`Fit`](crate::fit::Fit). `?` in
/// `genxml::packet!` does the same.
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
/// A path of members selects a nested field: `fit!(Container.structure.field, value)`. After a set
/// of alternatives, write the alternative: `fit!(RenderSurfaceState.extent.Buffer.width, value)`.
#[macro_export]
macro_rules! fit {
    // A `const` item cannot use `Self`. So this error is found only when code is generated.
    (Self $(. $member:ident)+, $value:expr $(,)?) => {
        $crate::fit::Fit::fit(
            $value,
            const {
                &$crate::At::known(
                    <Self as $crate::Packed>::INFO,
                    &[$(::core::stringify!($member)),+],
                )
            },
        )
    };
    ($($container:ident)::+ $(. $member:ident)+, $value:expr $(,)?) => {
        $crate::fit::Fit::fit(
            $value,
            {
                const AT: &$crate::At = &$crate::At::known(
                    <$($container)::+ as $crate::Packed>::INFO,
                    &[$(::core::stringify!($member)),+],
                );
                AT
            },
        )
    };
}

/// Calls [`Fit::fit`], for `packet!`.
///
/// # Errors
/// As [`Fit::fit`].
#[doc(hidden)]
#[inline(always)]
pub fn fit<T, V: Fit<T>>(at: &'static At, value: V) -> Result<T, V::Error> {
    value.fit(at)
}

/// Looks up the tables of a type, if it has any. Macros see only the name of a type, and elements
/// of arrays have no tables.
#[doc(hidden)]
pub struct Probe<T>(PhantomData<T>);

impl<T: Packed> Probe<T> {
    /// The tables of type `T`.
    pub const TABLES: Option<&'static Container> = Some(T::INFO);
}

/// Provides `TABLES` of [`Probe`] for types without tables.
#[doc(hidden)]
pub trait NoTables {
    /// Always `None`: the type has no tables.
    const TABLES: Option<&'static Container> = None;
}

impl<T> NoTables for Probe<T> {}

/// A type with required fields: they are the arguments of its function `new`.
#[doc(hidden)]
pub trait Required {}

/// The defaults of a type do not fill its required fields.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Missing;

impl<T: Required> Probe<T> {
    /// [`Missing`]: type `T` has required fields, which have no defaults.
    pub const LACK: Missing = Missing;
}

/// Provides `LACK` of [`Probe`] for types without required fields.
#[doc(hidden)]
pub trait NoneRequired {
    /// The defaults lack nothing.
    const LACK: () = ();
}

impl<T> NoneRequired for Probe<T> {}

/// The defaults fill all fields of `T`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{T}` has required fields, and `..` has no values for them",
    label = "required fields are missing",
    note = "pass the required fields to the type's function `new` and write that call after `..`; an example for the type MiStoreDataImm: `..MiStoreDataImm::new(address)`"
)]
pub trait Complete<T> {}

impl<T> Complete<T> for () {}

/// Compiles only if the defaults fill all fields of `T`.
#[doc(hidden)]
#[inline(always)]
pub const fn complete<T, L: Complete<T> + Copy>(_: L) {}

/// Rust's integer types of up to 64 bits, and `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer that `?` can put into the field",
    label = "this is not an integer"
)]
pub trait Integer: Copy + sealed::Sealed {
    /// The value as `u64`, if it fits.
    fn unsigned(self) -> Option<u64>;
    /// The value as `i64`, if it fits.
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

/// A stored value in the form in which [`Field::range`](crate::reflect::Field::range) gives its
/// bounds.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Pattern {
    Unsigned(u64),
    Signed(i64),
}

impl Pattern {
    /// Whether the value is in the range that the manual allows.
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

/// The bounds of a type, for the error of an integer that does not fit.
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
                Err(integer_error::<$target>($at, self.exact()))
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
                // A value that 64 bits cannot hold is replaced by one that the type rejects too.
                // Types that accept every 64-bit value return no error; `wide` has their bounds.
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
fn integer_error<T: Bounds>(at: &'static At, value: i128) -> FieldError {
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
                    other => Err(fixed_error(at, self.into(), other.err())),
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
                    other => Err(fixed_error(at, self.into(), other.err())),
                }
            }
        }
    )*};
}
fit_fixed! { f32 f64 u8 u16 u32 i8 i16 i32 }

/// The error of a fixed-point field. Without `bounds`, the type can hold the value but the manual's
/// range does not allow it. [`FieldError`] then prints the manual's range instead of `min` and
/// `max`.
#[cold]
#[inline(never)]
fn fixed_error(at: &'static At, value: f64, bounds: Option<NotFixed>) -> FieldError {
    FieldError {
        at,
        reason: Misfit::Fixed(bounds.unwrap_or(NotFixed { value, min: value, max: value })),
    }
}

#[cfg(test)]
mod tests;
