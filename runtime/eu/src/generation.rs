//! Generations of instructions that this crate decodes and prints.

/// A generation of execution units. Gen9 shares the formats of Gen8 and adds split sends. Gen11
/// shares those of Gen9, but it has other numbers for types, and its three-source instructions have
/// regions. Gen12 has other positions for all fields, and a software scoreboard. Gen4, G45 and Gen5
/// have other positions for some fields, message registers, and compression instead of quarters.
/// The assembler knows Gen8 and older generations, the validator knows Gen8 only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub enum Generation {
    /// 965 and its successors with Gen4 graphics, but not G45.
    Gen4,
    /// G45 and its relatives, also called Gen4.5.
    Gen45,
    /// Ironlake.
    Gen5,
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
            40 => Some(Generation::Gen4),
            45 => Some(Generation::Gen45),
            50 => Some(Generation::Gen5),
            80 => Some(Generation::Gen8),
            90 => Some(Generation::Gen9),
            110 => Some(Generation::Gen11),
            120 => Some(Generation::Gen12),
            _ => None,
        }
    }

    /// True for the generations with message registers and compression: Gen4, G45 and Gen5.
    pub const fn has_message_registers(self) -> bool {
        matches!(self, Generation::Gen4 | Generation::Gen45 | Generation::Gen5)
    }

    /// Bytes in the unit of jump counts: 16 on Gen4 and G45, 8 on Gen5, otherwise 1.
    pub const fn jump_unit(self) -> i32 {
        match self {
            Generation::Gen4 | Generation::Gen45 => 16,
            Generation::Gen5 => 8,
            _ => 1,
        }
    }
}
