//! Atomic operations: the new contents of memory, and the value that is returned. The data ports
//! and MI_ATOMIC share the operations on integers. Only the data ports have operations on floats.

use crate::assumptions::{
    FLOAT_ATOMIC_COMPARE, FLOAT_ATOMIC_MAX, FLOAT_ATOMIC_MIN,
    FLOAT_ATOMICS_PREFER_NUMBERS_TO_QUIET_NANS,
};
use genxml_eu::gen8::eu_messages::MdcAop;

/// Size of the operand in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Width {
    /// 32 bits.
    Dword,
    /// 64 bits.
    Qword,
}

impl Width {
    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Width::Dword => 4,
            Width::Qword => 8,
        }
    }

    /// The low bits of the value that fit this size.
    const fn cut(self, value: u64) -> u64 {
        match self {
            Width::Dword => value as u32 as u64,
            Width::Qword => value,
        }
    }

    /// The value as a signed number of this size.
    const fn signed(self, value: u64) -> i64 {
        match self {
            Width::Dword => value as u32 as i32 as i64,
            Width::Qword => value as i64,
        }
    }
}

/// Number of operands in the message, 0 to 2 (2d p.14-16). The old contents of memory do not count.
pub const fn sources(operation: MdcAop) -> usize {
    match operation {
        MdcAop::AOP_INC | MdcAop::AOP_DEC | MdcAop::AOP_PREDEC => 0,
        MdcAop::AOP_CMPWR | MdcAop::AOP_CMPWR_2W => 2,
        _ => 1,
    }
}

/// Returns the new contents of memory and the value for the response. In `old` and the sources,
/// bits beyond `width` are ignored; in the results they are 0. [`MdcAop::AOP_CMPWR_2W`] works on
/// two dwords at once, so its `width` is `Qword`. (2d p.14-16)
#[inline]
pub const fn operate(
    operation: MdcAop,
    width: Width,
    old: u64,
    src0: u64,
    src1: u64,
) -> (u64, u64) {
    let (old, src0, src1) = (width.cut(old), width.cut(src0), width.cut(src1));
    let new = match operation {
        MdcAop::AOP_AND => old & src0,
        MdcAop::AOP_OR => old | src0,
        MdcAop::AOP_XOR => old ^ src0,
        MdcAop::AOP_MOV => src0,
        MdcAop::AOP_INC => old.wrapping_add(1),
        MdcAop::AOP_DEC | MdcAop::AOP_PREDEC => old.wrapping_sub(1),
        MdcAop::AOP_ADD => old.wrapping_add(src0),
        MdcAop::AOP_SUB => old.wrapping_sub(src0),
        MdcAop::AOP_REVSUB => src0.wrapping_sub(old),
        MdcAop::AOP_IMAX if width.signed(src0) > width.signed(old) => src0,
        MdcAop::AOP_IMIN if width.signed(src0) < width.signed(old) => src0,
        MdcAop::AOP_UMAX if src0 > old => src0,
        MdcAop::AOP_UMIN if src0 < old => src0,
        MdcAop::AOP_CMPWR | MdcAop::AOP_CMPWR_2W if src0 == old => src1,
        // The operation is a minimum, maximum or comparison that leaves memory unchanged.
        _ => old,
    };
    let new = width.cut(new);
    // All operations except PREDEC return the old value (2d p.16).
    let returned = match operation {
        MdcAop::AOP_PREDEC => new,
        _ => old,
    };
    (new, returned)
}

/// Atomic operations on single-precision floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Float {
    /// Stores the greater of the old value and the operand.
    Max,
    /// Stores the smaller of the old value and the operand.
    Min,
    /// Stores the second operand if the old value equals the first operand.
    CompareAndWrite,
}

impl Float {
    /// The operation with this number in a message; `None` for other numbers.
    pub const fn from_bits(bits: u64) -> Option<Float> {
        match bits {
            FLOAT_ATOMIC_MAX => Some(Float::Max),
            FLOAT_ATOMIC_MIN => Some(Float::Min),
            FLOAT_ATOMIC_COMPARE => Some(Float::CompareAndWrite),
            _ => None,
        }
    }

    /// Number of operands in the message.
    pub const fn sources(self) -> usize {
        match self {
            Float::Max | Float::Min => 1,
            Float::CompareAndWrite => 2,
        }
    }

    /// Returns the new contents of memory. Arguments and result are the bits of single floats
    /// (assumptions::FLOAT_ATOMICS_PREFER_NUMBERS_TO_QUIET_NANS).
    pub fn operate(self, old: u32, src0: u32, src1: u32) -> u32 {
        let (memory, operand) = (f32::from_bits(old), f32::from_bits(src0));
        // The most significant bit of the fraction distinguishes quiet NaNs from signaling ones.
        let quiet = |bits: u32| bits & (1 << (f32::MANTISSA_DIGITS - 2)) != 0;
        let takes = match self {
            Float::CompareAndWrite => return if memory == operand { src1 } else { old },
            _ if operand.is_nan() && memory.is_nan() => quiet(old) && !quiet(src0),
            _ if operand.is_nan() => !quiet(src0) || !FLOAT_ATOMICS_PREFER_NUMBERS_TO_QUIET_NANS,
            _ if memory.is_nan() => quiet(old) && FLOAT_ATOMICS_PREFER_NUMBERS_TO_QUIET_NANS,
            Float::Max => operand > memory,
            Float::Min => operand < memory,
        };
        if takes { src0 } else { old }
    }
}
