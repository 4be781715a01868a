//! Functions of a row of the table of operations, [`Op`]. The rows are in `table.rs`.

use crate::generation::Generation;
use crate::table::{ALL, BY_CODE, code_on_gen12};
use crate::types::AccessMode;
use alloc::format;
use alloc::string::String;
use core::fmt;

pub use crate::properties::{ExecSizes, Format, Modifiers, Traits};
pub use crate::table::{OPS, Op, Opcode};

impl Opcode {
    /// The operation's row of the instruction table.
    pub fn op(self) -> &'static Op {
        &ALL[self as usize]
    }

    /// The manual's mnemonic.
    pub fn name(self) -> &'static str {
        self.op().name
    }

    /// The 7-bit opcode of the operation, before Gen12.
    pub fn code(self) -> u8 {
        self.op().code
    }

    /// The 7-bit opcode of the operation on a generation, `None` if it does not have the operation.
    pub fn code_on(self, generation: Generation) -> Option<u8> {
        let code = match generation {
            Generation::Gen12 => code_on_gen12(self.code(), self),
            _ => self.code(),
        };
        (Opcode::on(generation, code) == Some(self)).then_some(code)
    }

    /// The operation with number `code`, if Gen8 has one. EU_OPCODE also has `sends` and `sendsc`,
    /// which have no format before Gen9.
    pub fn from_code(code: u8) -> Option<Opcode> {
        Opcode::on(Generation::Gen8, code)
    }

    /// The operation with number `code` of a generation.
    #[inline]
    pub fn on(generation: Generation, code: u8) -> Option<Opcode> {
        *BY_CODE[generation as usize].get(usize::from(code))?
    }
}

impl Op {
    /// Execution sizes that the operation can have: one for `jmpi` and `wait`, eight or sixteen for
    /// `line` and `pln`, at least four for dot products, otherwise any.
    pub const fn exec_sizes(&self) -> ExecSizes {
        match self.opcode {
            Opcode::Jmpi | Opcode::Wait => ExecSizes::of(&[1]),
            Opcode::Line | Opcode::Pln => ExecSizes::of(&[8, 16]),
            Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph => ExecSizes::of(&[4, 8, 16, 32]),
            _ => ExecSizes::ANY,
        }
    }

    /// The only access mode of the operation; `None` if it has both.
    pub const fn access_mode(&self) -> Option<AccessMode> {
        match self.format {
            Format::ThreeSource => Some(AccessMode::Align16),
            Format::Send | Format::SplitSend | Format::JumpIndexed | Format::Wait => {
                Some(AccessMode::Align1)
            }
            _ => None,
        }
    }

    /// The syntax of the operation: `[(pred)] add[.cmod][.sat] (exec_size) dst src0 src1`.
    pub fn syntax(&self) -> String {
        let takes = |modifier| self.modifiers.contains(modifier);
        let mut text = String::new();
        if takes(Modifiers::PREDICATE) {
            text.push_str("[(pred)] ");
        }
        text.push_str(self.name);
        if self.format == Format::Math {
            text.push_str(".fc");
        }
        if takes(Modifiers::CONDITION) {
            let needed = self.traits.contains(Traits::CONDITION_NEEDED);
            text.push_str(if needed { ".cmod" } else { "[.cmod]" });
        }
        if takes(Modifiers::SATURATE) {
            text.push_str("[.sat]");
        }
        if self.format == Format::Bare {
            return text;
        }
        text.push_str(" (exec_size)");
        match self.format {
            Format::BranchOne | Format::JumpIndexed => text.push_str(" jip"),
            Format::BranchTwo => text.push_str(" jip uip"),
            Format::Call => text.push_str(" dst jip"),
            Format::Return => text.push_str(" src0"),
            Format::Wait => text.push_str(" nreg"),
            Format::Sync => text.push_str(" src0"),
            Format::Send => text.push_str(" dst src0 desc"),
            Format::SplitSend => text.push_str(" dst src0 src1 desc ex_desc"),
            _ => {
                text.push_str(" dst");
                for source in 0..self.sources {
                    text.push_str(&format!(" src{source}"));
                }
            }
        }
        text
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_found() {
        for (index, op) in OPS.iter().enumerate() {
            assert_eq!(op.opcode as usize, index, "{}", op.name);
            assert_eq!(Opcode::from_code(op.code), Some(op.opcode));
        }
        assert_eq!(Opcode::from_code(0x33), None, "sends is Gen9");
    }

    /// Oracle: the syntax lines of 2a.
    #[test]
    fn syntax_as_printed() {
        assert_eq!(
            Opcode::Add.op().syntax(),
            "[(pred)] add[.cmod][.sat] (exec_size) dst src0 src1"
        );
        assert_eq!(Opcode::Cmp.op().syntax(), "[(pred)] cmp.cmod (exec_size) dst src0 src1");
        assert_eq!(Opcode::Endif.op().syntax(), "endif (exec_size) jip");
        assert_eq!(Opcode::Nop.op().syntax(), "nop");
    }
}
