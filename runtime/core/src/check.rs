//! The checks of strict readers, as tables: bits with one legal value, bits that belong to no
//! field, ranges.

use crate::bits::{get, ones, sign_extend};
use crate::message::Text;
use crate::packet::UnpackError;
use crate::reflect::Expr;

/// One condition on a container's dwords. Positions are bits from the container's start.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// A field has one legal value: opcode, length, must-be-zero, must-be-one.
    Fixed {
        /// The field's name.
        field: &'static str,
        /// First bit.
        start: u32,
        /// Last bit, inclusive.
        end: u32,
        /// The legal value.
        value: u64,
    },
    /// These bits belong to no field and must be zero.
    Gap {
        /// First bit.
        start: u32,
        /// Last bit, inclusive; at most 31 bits after `start`.
        end: u32,
    },
    /// The stored value must be in a range.
    Range {
        /// The field's name.
        field: &'static str,
        /// First bit.
        start: u32,
        /// Last bit, inclusive.
        end: u32,
        /// Whether values are compared as two's complement.
        signed: bool,
        /// Least stored value.
        min: u64,
        /// Greatest stored value.
        max: u64,
    },
    /// A nested structure must pass its own checks. Their errors name that structure.
    Nested {
        /// The structure's name.
        container: &'static str,
        /// First bit.
        start: u32,
        /// The checks of the structure.
        checks: &'static [Check],
    },
    /// Each element of an array must pass the checks.
    Each {
        /// First bit of the first element.
        start: u32,
        /// Size of an element in bits.
        bits: u32,
        /// Number of elements; 0 means all that fit in the dwords.
        count: u32,
        /// The checks of an element.
        checks: &'static [Check],
    },
    /// Alternatives: the checks of the first one whose condition holds must pass. If no condition
    /// holds, nothing is checked.
    First(&'static [(&'static Expr, &'static [Check])]),
}

/// True if the masked bits of the dwords have these values; false if `dwords` is too short.
#[inline(always)]
pub const fn masked<const N: usize>(dwords: &[u32], masks: &[u32; N], values: &[u32; N]) -> bool {
    let Some(dwords) = dwords.first_chunk::<N>() else { return false };
    let (mut wrong, mut i) = (0, 0);
    while i < N {
        wrong |= dwords[i] & masks[i] ^ values[i];
        i += 1;
    }
    wrong == 0
}

/// True if `value` is in `min..=max`.
#[inline(always)]
pub const fn within(value: u64, min: u64, max: u64) -> bool {
    value >= min && value <= max
}

/// True if the low `width` bits of `value` are in `min..=max`; all three are read as two's
/// complement of `width` bits.
#[inline(always)]
pub const fn within_signed(value: u64, width: u32, min: u64, max: u64) -> bool {
    let value = sign_extend(value, width);
    value >= sign_extend(min & ones(width), width) && value <= sign_extend(max & ones(width), width)
}

/// Checks that a type that `derive(Packet)` recognises by name has as many bits as its field.
///
/// # Panics
/// If the numbers of bits differ; in a `const` this is a compile error.
#[doc(hidden)]
#[track_caller]
pub const fn type_width(name: &str, has: u32, width: u32) {
    if has != width {
        let text = Text::new()
            .text("`")
            .text(name)
            .text("` has ")
            .number(has as i128)
            .text(" bits, the field has ");
        let text = text.number(width as i128);
        panic!("{}", text.as_str())
    }
}

impl Check {
    /// Runs `checks` over the container that starts at bit `base` of `dwords`.
    ///
    /// # Errors
    /// The first check that fails.
    pub const fn all(
        checks: &[Check],
        container: &'static str,
        dwords: &[u32],
        base: u32,
    ) -> Result<(), UnpackError> {
        let mut i = 0;
        while i < checks.len() {
            if let Err(error) = checks[i].run(container, dwords, base) {
                return Err(error);
            }
            i += 1;
        }
        Ok(())
    }

    const fn run(
        &self,
        container: &'static str,
        dwords: &[u32],
        base: u32,
    ) -> Result<(), UnpackError> {
        match *self {
            Check::Fixed { field, start, end, value } => {
                let found = get(dwords, base + start, base + end);
                if found != value {
                    return Err(UnpackError::Fixed {
                        container,
                        field,
                        start: base + start,
                        expected: value,
                        found,
                    });
                }
            }
            Check::Gap { start, end } => {
                let found = get(dwords, base + start, base + end);
                if found != 0 {
                    let first = base + start + found.trailing_zeros();
                    let bits = ((found >> found.trailing_zeros()) as u32) << (first % 32);
                    return Err(UnpackError::Reserved { container, dword: first / 32, bits });
                }
            }
            Check::Range { field, start, end, signed, min, max } => {
                let width = end - start + 1;
                let found = get(dwords, base + start, base + end);
                let fits = if signed {
                    within_signed(found, width, min, max)
                } else {
                    within(found, min, max)
                };
                if !fits {
                    return Err(UnpackError::Range {
                        container,
                        field,
                        start: base + start,
                        found,
                    });
                }
            }
            Check::Nested { container, start, checks } => {
                return Check::all(checks, container, dwords, base + start);
            }
            Check::Each { start, bits, count, checks } => {
                let available = dwords.len() as u32 * 32;
                let mut i = 0;
                while if count > 0 { i < count } else { base + start + (i + 1) * bits <= available }
                {
                    if let Err(error) =
                        Check::all(checks, container, dwords, base + start + i * bits)
                    {
                        return Err(error);
                    }
                    i += 1;
                }
            }
            Check::First(alternatives) => {
                let mut i = 0;
                while i < alternatives.len() {
                    let (condition, checks) = alternatives[i];
                    if condition.holds(dwords, base) {
                        return Check::all(checks, container, dwords, base);
                    }
                    i += 1;
                }
            }
        }
        Ok(())
    }
}
