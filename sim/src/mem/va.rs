//! Graphics addresses, formatted for people.

use std::fmt;

/// Prints a 48-bit address in groups of four digits: `0x0000_1234_5680`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Va(pub u64);

impl fmt::Display for Va {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04x}_{:04x}_{:04x}", self.0 >> 32, self.0 >> 16 & 0xffff, self.0 & 0xffff)
    }
}
