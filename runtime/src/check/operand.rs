//! A value in a finding.

use std::fmt;

/// A value that a condition uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The field or function as the condition writes it; elements of groups have their index.
    pub name: String,
    /// The stored bits, or the function's value; `None` if it is unknown.
    pub value: Option<u64>,
    /// The name of the value.
    pub text: Option<&'static str>,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ", self.name)?;
        match (self.value, self.text) {
            (Some(value), Some(text)) => write!(f, "{value} ({text})"),
            (Some(value), None) if value > 9 => write!(f, "{value} ({value:#x})"),
            (Some(value), None) => write!(f, "{value}"),
            (None, _) => f.write_str("unknown"),
        }
    }
}
