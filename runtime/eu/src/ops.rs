//! What a row of the table of operations says: [`Op`]. The rows are in `table.rs`.

use crate::instruction::AccessMode;
use crate::signature::Signature;
use alloc::format;
use alloc::string::String;
use core::fmt;

pub use crate::table::{OPS, Opcode};

/// How the 128 bits of an instruction are laid out beyond the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Format {
    /// Header only: `nop`, `illegal`.
    Bare,
    /// One or two sources, registers or a last immediate.
    Basic,
    /// Three register sources with swizzles.
    ThreeSource,
    /// As [`Basic`](Self::Basic), with a math function in place of the condition.
    Math,
    /// A message: one register source and a descriptor.
    Send,
    /// One jump distance (JIP).
    BranchOne,
    /// Two jump distances (JIP, UIP).
    BranchTwo,
    /// `jmpi`: the distance is the second source, counted from the next instruction.
    JumpIndexed,
    /// `call`, `calla`: a destination for the return address, the target is the second source.
    Call,
    /// `ret`: the return address is the first source.
    Return,
    /// `wait`: the notification register is destination and source.
    Wait,
}

/// Modifiers that an instruction takes, as a bit set (2a, property table of each instruction).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Modifiers(u8);

impl Modifiers {
    /// None.
    pub const NONE: Self = Modifiers(0);
    /// A predicate.
    pub const PREDICATE: Self = Modifiers(1);
    /// A condition that writes a flag (or selects, for `sel` and `csel`).
    pub const CONDITION: Self = Modifiers(2);
    /// Saturation of the result.
    pub const SATURATE: Self = Modifiers(4);
    /// Negation and absolute value of sources.
    pub const SOURCE: Self = Modifiers(8);

    /// True if every modifier of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union.
    pub const fn with(self, other: Self) -> Self {
        Modifiers(self.0 | other.0)
    }
}

/// Restrictions that need nothing but the operation to be known, as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Traits(u16);

impl Traits {
    /// None.
    pub const NONE: Self = Traits(0);
    /// A condition must be there.
    pub const CONDITION_NEEDED: Self = Traits(1);
    /// Either a predicate or a condition must be there, not both.
    pub const SELECTS: Self = Traits(2);
    /// The accumulator is a source that the instruction does not name.
    pub const READS_ACCUMULATOR: Self = Traits(4);
    /// The accumulator is a destination that the instruction does not name: AccWrCtrl must be set.
    pub const WRITES_ACCUMULATOR: Self = Traits(8);
    /// No source can be an accumulator.
    pub const NO_ACCUMULATOR_SOURCE: Self = Traits(16);
    /// The destination, named or not, cannot be an accumulator.
    pub const NO_ACCUMULATOR_DESTINATION: Self = Traits(32);
    /// Neither source nor destination, named or not, can be an accumulator.
    pub const NO_ACCUMULATOR: Self = Traits(16 | 32);
    /// The negation of sources is the complement of their bits.
    pub const LOGIC: Self = Traits(64);
    /// NoMask must be set.
    pub const NO_MASK_NEEDED: Self = Traits(128);

    /// True if every trait of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union.
    pub const fn with(self, other: Self) -> Self {
        Traits(self.0 | other.0)
    }
}

/// A set of execution sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ExecSizes(u8);

impl ExecSizes {
    /// 1 to 32.
    pub const ANY: Self = ExecSizes::of(&[1, 2, 4, 8, 16, 32]);

    /// These sizes; each is a power of two up to 32.
    pub const fn of(sizes: &[u8]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < sizes.len() {
            bits |= sizes[index];
            index += 1;
        }
        ExecSizes(bits)
    }

    /// True if `size` is one of them.
    pub const fn contains(self, size: u8) -> bool {
        size.is_power_of_two() && self.0 & size != 0
    }

    /// The sizes, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        [1, 2, 4, 8, 16, 32].into_iter().filter(move |size| self.contains(*size))
    }
}

/// A row of the instruction table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// The operation.
    pub opcode: Opcode,
    /// Its 7-bit number, as in the enumeration EU_OPCODE.
    pub code: u8,
    /// The manual's mnemonic, EU_OPCODE's name of it.
    pub name: &'static str,
    /// Number of sources that the instruction names; a branch's distances do not count.
    pub sources: u8,
    /// Layout.
    pub format: Format,
    /// Modifiers it takes.
    pub modifiers: Modifiers,
    /// Restrictions.
    pub traits: Traits,
    /// Types that its operands may have; those of `math` depend on the function.
    pub signatures: &'static [Signature],
    /// Where it is described. 2a prints no page numbers in this part: its entries are in
    /// alphabetical order.
    pub page: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
}

impl Opcode {
    /// The row of the table.
    pub fn op(self) -> &'static Op {
        &OPS[self as usize]
    }

    /// The manual's mnemonic.
    pub fn name(self) -> &'static str {
        self.op().name
    }

    /// The 7-bit number.
    pub fn code(self) -> u8 {
        self.op().code
    }

    /// The operation with number `code`, if Gen8 has one. `sends` and `sendsc` stand in EU_OPCODE
    /// but have no format before Gen9.
    pub fn from_code(code: u8) -> Option<Opcode> {
        OPS.binary_search_by_key(&code, |op| op.code).ok().map(|index| OPS[index].opcode)
    }
}

impl Op {
    /// Execution sizes that it can have: one for jumps of the whole thread, eight or sixteen for
    /// planes and lines, at least four for dot products.
    pub const fn exec_sizes(&self) -> ExecSizes {
        match self.opcode {
            Opcode::Jmpi | Opcode::Wait => ExecSizes::of(&[1]),
            Opcode::Line | Opcode::Pln => ExecSizes::of(&[8, 16]),
            Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph => ExecSizes::of(&[4, 8, 16, 32]),
            _ => ExecSizes::ANY,
        }
    }

    /// The only access mode that it has, if not both.
    pub const fn access_mode(&self) -> Option<AccessMode> {
        match self.format {
            Format::ThreeSource => Some(AccessMode::Align16),
            Format::Send | Format::JumpIndexed | Format::Wait => Some(AccessMode::Align1),
            _ => None,
        }
    }

    /// How it is written: `[(pred)] add[.cmod][.sat] (exec_size) dst src0 src1`.
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
            Format::Send => text.push_str(" dst src0 desc"),
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

    /// The syntax lines of 2a.
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
