//! Generations of instructions that this crate decodes and prints.

/// A generation of execution units. Gen9 shares the formats of Gen8 and adds split sends. Gen11
/// shares those of Gen9, but it has other numbers for types, and its three-source instructions have
/// regions. Gen12 has other positions for all fields, and a software scoreboard. The assembler and
/// the validator know Gen8 only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub enum Generation {
    /// Broadwell.
    #[default]
    Gen8,
    /// Skylake and its successors with Gen9 graphics.
    Gen9,
    /// Ice Lake and its successors with Gen11 graphics.
    Gen11,
    /// Tiger Lake, Rocket Lake, Alder Lake and DG1: Gen12.0, not Gen12.5.
    Gen12,
}

impl Generation {
    /// The generation with this number times ten (80 is Gen8), `None` if this crate does not
    /// decode its instructions.
    pub const fn of(number: u32) -> Option<Generation> {
        match number {
            80 => Some(Generation::Gen8),
            90 => Some(Generation::Gen9),
            110 => Some(Generation::Gen11),
            120 => Some(Generation::Gen12),
            _ => None,
        }
    }
}
