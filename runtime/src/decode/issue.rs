//! Problems with the value of a field.

use std::fmt;

/// A problem with the value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issue {
    /// Reserved bits are set.
    ReservedSet,
    /// Bits that must be zero are set.
    MustBeZero,
    /// Bits that must be one are not.
    MustBeOne,
    /// Outside the range that the manual allows.
    OutOfRange {
        /// Smallest stored value allowed.
        min: u64,
        /// Largest stored value allowed.
        max: u64,
    },
    /// The manual gives this value no name.
    UnknownValue,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Issue::ReservedSet => f.write_str("reserved bits are set"),
            Issue::MustBeZero => f.write_str("must be zero"),
            Issue::MustBeOne => f.write_str("must be one"),
            Issue::OutOfRange { min, max } => {
                write!(f, "outside the range of stored values {min} to {max}")
            }
            Issue::UnknownValue => f.write_str("unknown value"),
        }
    }
}
