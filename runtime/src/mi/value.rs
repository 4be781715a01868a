//! Values and conditions, from which programs build expressions.

use super::gpr::Gpr;
use super::location::{Dword, Mem, Qword, Reg, Width};
use super::node::{self, Binary, Flag, Link};
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

/// An expression whose value is computed when the batch runs: 64 bits ([`Qword`]), or 32 bits
/// extended with zeros ([`Dword`]).
///
/// Building an expression emits nothing. A [`Builder`](super::Builder) emits packets for it each
/// time that it is stored. They read memory and registers at that point of the batch.
/// [`Builder::keep`](super::Builder::keep) evaluates an expression once. Clones are the same
/// expression: an operation of the builder that uses several clones evaluates them once.
#[derive(Clone, Debug)]
pub struct Value<W: Width = Qword> {
    pub(super) node: Link,
    width: PhantomData<W>,
}

impl<W: Width> Value<W> {
    pub(super) fn new(node: Link) -> Self {
        Value { node, width: PhantomData }
    }

    /// The value of the expression, if it is a constant.
    pub fn constant(&self) -> Option<u64> {
        self.node.constant()
    }
}

/// An expression that is true or false when the batch runs. It is evaluated like a [`Value`].
#[derive(Clone, Debug)]
pub struct Condition {
    /// All ones if the condition is true, else zero.
    pub(super) mask: Link,
}

impl Condition {
    /// A condition that is always true or always false.
    pub fn constant(truth: bool) -> Self {
        Condition { mask: node::constant(if truth { u64::MAX } else { 0 }) }
    }

    /// All ones if the condition is true, else 0.
    pub fn mask(&self) -> Value {
        Value::new(self.mask.clone())
    }

    /// 1 if the condition is true, else 0.
    pub fn to_bit(&self) -> Value<Dword> {
        Value::new(node::bit(&self.mask))
    }

    /// `yes` if the condition is true, else `no`. Both are evaluated.
    pub fn select(&self, yes: impl Operand, no: impl Operand) -> Value {
        Value::new(node::select(&self.mask, &yes.value().node, &no.value().node))
    }
}

/// Parts of expressions: values, memory, registers, variables, and `u64` for constants.
///
/// Arithmetic is unsigned with 64 bits, and wraps. 32-bit operands are extended with zeros.
pub trait Operand {
    /// The operand as a value of 64 bits.
    fn value(&self) -> Value;

    /// Bits 31:0 of the operand.
    fn low(&self) -> Value<Dword> {
        Value::new(node::low(&self.value().node))
    }

    /// Bits 63:32 of the operand.
    fn high(&self) -> Value<Dword> {
        Value::new(node::high(&self.value().node))
    }

    /// Bits 31:0 of the operand, with copies of bit 31 above.
    fn sign_extended(&self) -> Value {
        let sign = node::constant(1 << 31);
        Value::new(node::sub(&node::xor(&self.low().node, &sign), &sign))
    }

    /// Shifted to the left; a shift by 64 or more gives 0. A constant shift takes one addition for
    /// each bit; of a shift by 32 or more, the first 32 bits are free. Any other shift takes about
    /// 500 dwords of the batch.
    fn shift_left(&self, by: impl Operand) -> Value {
        Value::new(node::shift_left_by(&self.value().node, &by.value().node))
    }

    /// Shifted to the right with zeros from above; a shift by 64 or more gives 0. A constant shift
    /// takes up to 62 additions, few if the constant is a little below 32 or 64. Any other shift
    /// takes about 1500 dwords of the batch.
    fn shift_right(&self, by: impl Operand) -> Value {
        Value::new(node::shift_right_by(&self.value().node, &by.value().node))
    }

    /// Shifted to the right with copies of bit 63 from above. A shift by 64 or more gives only
    /// copies of bit 63.
    fn shift_right_signed(&self, by: impl Operand) -> Value {
        Value::new(node::shift_right_signed(&self.value().node, &by.value().node))
    }

    /// The smaller of the two operands, unsigned.
    fn minimum(&self, other: impl Operand) -> Value {
        let (a, b) = (self.value(), other.value());
        a.less_than(&b).select(a, b)
    }

    /// The larger of the two operands, unsigned.
    fn maximum(&self, other: impl Operand) -> Value {
        let (a, b) = (self.value(), other.value());
        a.less_than(&b).select(b, a)
    }

    /// Quotient and remainder. This costs less than two separate operations.
    fn divide(&self, by: impl Operand) -> (Value, Value) {
        let (quotient, remainder) = node::divide(&self.value().node, &by.value().node);
        (Value::new(quotient), Value::new(remainder))
    }

    /// True if the two operands are equal.
    fn equal_to(&self, other: impl Operand) -> Condition {
        Condition { mask: node::flag(Flag::Equal, &self.value().node, &other.value().node) }
    }

    /// True if the two operands differ.
    fn not_equal_to(&self, other: impl Operand) -> Condition {
        !self.equal_to(other)
    }

    /// True if the value is 0.
    fn is_zero(&self) -> Condition {
        self.equal_to(0)
    }

    /// True if the value is not 0.
    fn is_nonzero(&self) -> Condition {
        !self.equal_to(0)
    }

    /// True if bit `index` is set; false for an index above 63.
    fn has_bit(&self, index: u32) -> Condition {
        (self.value() & 1u64.checked_shl(index).unwrap_or(0)).is_nonzero()
    }

    /// True if `self < other`, unsigned.
    fn less_than(&self, other: impl Operand) -> Condition {
        Condition { mask: node::flag(Flag::Less, &self.value().node, &other.value().node) }
    }

    /// True if `self <= other`, unsigned.
    fn at_most(&self, other: impl Operand) -> Condition {
        !other.less_than(self)
    }

    /// True if `self > other`, unsigned.
    fn greater_than(&self, other: impl Operand) -> Condition {
        other.less_than(self)
    }

    /// True if `self >= other`, unsigned.
    fn at_least(&self, other: impl Operand) -> Condition {
        !self.less_than(other)
    }

    /// True if `self < other`, both as two's complement.
    fn signed_less_than(&self, other: impl Operand) -> Condition {
        // With the sign bit inverted, negative numbers come first in unsigned order.
        let sign = 1u64 << 63;
        (self.value() ^ sign).less_than(other.value() ^ sign)
    }

    /// True if `self <= other`, both as two's complement.
    fn signed_at_most(&self, other: impl Operand) -> Condition {
        !other.signed_less_than(self)
    }

    /// True if `self > other`, both as two's complement.
    fn signed_greater_than(&self, other: impl Operand) -> Condition {
        other.signed_less_than(self)
    }

    /// True if `self >= other`, both as two's complement.
    fn signed_at_least(&self, other: impl Operand) -> Condition {
        !self.signed_less_than(other)
    }
}

impl<T: Operand + ?Sized> Operand for &T {
    fn value(&self) -> Value {
        (**self).value()
    }
}

/// A value that can be stored in a destination of width `W`: a 32-bit value in any, a 64-bit value
/// only in a 64-bit destination.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored as a `{W}`",
    label = "not a value of this width",
    note = "64 bits are never cut off silently: `.low()` and `.high()` are the halves of a value",
    note = "a condition is stored as `.mask()` or `.to_bit()`"
)]
pub trait Storable<W: Width> {
    /// The value as one of width `W`.
    fn storable(self) -> Value<W>;
}

impl<T: Operand> Storable<Qword> for T {
    fn storable(self) -> Value {
        self.value()
    }
}

/// Implements the operators for a type on their left side.
macro_rules! operand {
    ($([$($generics:tt)*] $type:ty: |$self:ident| $node:expr;)*) => {$(
        impl<$($generics)*> Operand for $type {
            fn value(&$self) -> Value {
                Value::new($node)
            }
        }
        operators! { [$($generics)*] $type }
        operators! { [$($generics)*] &$type }
    )*};
}

macro_rules! operators {
    ([$($generics:tt)*] $type:ty) => { operators! { @each [[$($generics)*] $type]
        Add add |a, b| node::add(a, b);
        Sub sub |a, b| node::sub(a, b);
        BitAnd bitand |a, b| node::and(a, b);
        BitOr bitor |a, b| node::binary(Binary::Or, a, b);
        BitXor bitxor |a, b| node::xor(a, b);
        Mul mul |a, b| node::multiply(a, b);
        Div div |a, b| node::divide(a, b).0;
        Rem rem |a, b| node::divide(a, b).1;
        Shl shl |a, b| node::shift_left_by(a, b);
        Shr shr |a, b| node::shift_right_by(a, b);
    } };
    (@each $left:tt $($trait:ident $method:ident |$a:ident, $b:ident| $node:expr;)*) => {
        $(operators! { @one $left $trait $method |$a, $b| $node })*
        operators! { @unary $left }
    };
    (@one [[$($generics:tt)*] $type:ty] $trait:ident $method:ident |$a:ident, $b:ident| $node:expr) => {
        impl<R: Operand, $($generics)*> $trait<R> for $type {
            type Output = Value;
            fn $method(self, other: R) -> Value {
                let ($a, $b) = (&self.value().node, &other.value().node);
                Value::new($node)
            }
        }
    };
    (@unary [[$($generics:tt)*] $type:ty]) => {
        impl<$($generics)*> Not for $type {
            type Output = Value;
            fn not(self) -> Value {
                Value::new(node::not(&self.value().node))
            }
        }
        impl<$($generics)*> Neg for $type {
            type Output = Value;
            fn neg(self) -> Value {
                Value::new(node::sub(&node::constant(0), &self.value().node))
            }
        }
    };
}

operand! {
    [W: Width] Value<W>: |self| self.node.clone();
    [W: Width] Mem<W>: |self| node::memory(self.location, W::WIDE);
    [W: Width] Reg<W>: |self| node::register(self.mmio(), W::WIDE);
    [] Gpr: |self| node::gpr(self.clone(), u64::MAX);
}

impl Operand for u64 {
    fn value(&self) -> Value {
        Value::new(node::constant(*self))
    }
}

impl Storable<Dword> for u32 {
    fn storable(self) -> Value<Dword> {
        u64::from(self).low()
    }
}

macro_rules! narrow {
    ($($type:ty),*) => {$(
        impl Storable<Dword> for $type {
            fn storable(self) -> Value<Dword> {
                self.low()
            }
        }
    )*};
}
narrow!(Value<Dword>, &Value<Dword>, Mem<Dword>, Reg<Dword>);

macro_rules! conditions {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl $trait for Condition {
            type Output = Condition;
            fn $method(self, other: Condition) -> Condition {
                Condition { mask: node::binary(Binary::$op, &self.mask, &other.mask) }
            }
        }
        impl $trait for &Condition {
            type Output = Condition;
            fn $method(self, other: &Condition) -> Condition {
                Condition { mask: node::binary(Binary::$op, &self.mask, &other.mask) }
            }
        }
    )*};
}
conditions! {
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
}

impl Not for Condition {
    type Output = Condition;
    fn not(self) -> Condition {
        Condition { mask: node::not(&self.mask) }
    }
}

impl Not for &Condition {
    type Output = Condition;
    fn not(self) -> Condition {
        Condition { mask: node::not(&self.mask) }
    }
}
