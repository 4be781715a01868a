//! Parts of an instruction.

use core::fmt;

/// The part of an instruction that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Place {
    /// The whole instruction.
    Instruction,
    /// The destination.
    Destination,
    /// A source; the first is 0.
    Source(u8),
    /// The jump distance JIP.
    Jip,
    /// The jump distance UIP.
    Uip,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Instruction => Ok(()),
            Place::Destination => f.write_str("dst: "),
            Place::Source(number) => write!(f, "src{number}: "),
            Place::Jip => f.write_str("jip: "),
            Place::Uip => f.write_str("uip: "),
        }
    }
}
