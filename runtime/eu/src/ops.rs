//! The instruction table: one row per opcode, read by the decoder, the encoder, the disassembler,
//! the validator and the documentation. The type tables of its rows are in
//! [`signature`](crate::signature).

use crate::instruction::AccessMode;
use crate::signature::{Signature, tables};
use alloc::format;
use alloc::string::String;
use core::fmt;

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

macro_rules! modifiers {
    (@ P) => { Modifiers::PREDICATE };
    (@ C) => { Modifiers::CONDITION };
    (@ S) => { Modifiers::SATURATE };
    (@ M) => { Modifiers::SOURCE };
    ($($letter:ident)*) => { Modifiers::NONE$(.with(modifiers!(@ $letter)))* };
}

macro_rules! ops {
    ($($variant:ident $code:literal $name:literal $sources:literal $format:ident [$($modifier:ident)*]
       [$($property:ident)*] $types:ident $page:literal $doc:literal;)*) => {
        /// An operation of the execution unit.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        pub enum Opcode { $(#[doc = concat!("`", $name, "`: ", $doc, " (", $page, ")")] $variant,)* }

        /// Every instruction of Gen8, by number.
        pub static OPS: &[Op] = &[$(Op {
            opcode: Opcode::$variant,
            code: $code,
            name: $name,
            sources: $sources,
            format: Format::$format,
            modifiers: modifiers!($($modifier)*),
            traits: Traits::NONE$(.with(Traits::$property))*,
            signatures: tables::$types,
            page: $page,
            summary: $doc,
        },)*];
    };
}

// P predicate, C condition, S saturate, M source modifiers; restrictions; type table
// (signature.rs). Rows that no Broadwell text describes name their origin: G45 for the older
// manual, IGA for Intel's public assembler model.
ops! {
    Illegal 0x00 "illegal" 0 Bare [] [] NO_OPERANDS "2a illegal" "raises the illegal opcode exception";
    Mov 0x01 "mov" 1 Basic [P C S M] [] MOV "G45 vol 4 mov" "copy with conversion";
    Sel 0x02 "sel" 2 Basic [P C S M] [SELECTS] SEL "G45 vol 4 sel" "select by predicate, minimum or maximum by condition";
    Movi 0x03 "movi" 1 Basic [P C S M] [] MOVI "G45 vol 4 movi" "indexed shuffle of subfields";
    Not 0x04 "not" 1 Basic [P C M] [LOGIC] NOT "2a not" "bitwise complement";
    And 0x05 "and" 2 Basic [P C M] [LOGIC] LOGIC "2a and" "bitwise and";
    Or 0x06 "or" 2 Basic [P C M] [LOGIC] LOGIC "2a or" "bitwise or";
    Xor 0x07 "xor" 2 Basic [P C M] [LOGIC] LOGIC "2a xor" "bitwise exclusive or";
    Shr 0x08 "shr" 2 Basic [P C S M] [] SHR "G45 vol 4 shr" "logical shift right";
    Shl 0x09 "shl" 2 Basic [P C S M] [] SHL "G45 vol 4 shl" "shift left";
    Smov 0x0a "smov" 2 Basic [P] [] SMOV "2b p.16" "scattered move; semantics are not published";
    Asr 0x0c "asr" 2 Basic [P C S M] [] LOGIC "2a asr" "arithmetic shift right";
    Cmp 0x10 "cmp" 2 Basic [P C M] [CONDITION_NEEDED] CMP "2a cmp" "compare";
    Cmpn 0x11 "cmpn" 2 Basic [P C M] [CONDITION_NEEDED] CMPN "2a cmpn" "compare, a NaN being less than a number";
    Csel 0x12 "csel" 3 ThreeSource [C S M] [CONDITION_NEEDED] CSEL "2a csel" "select by a comparison of the third source with zero";
    Bfrev 0x17 "bfrev" 1 Basic [P] [NO_ACCUMULATOR] UD_ONE "2a bfrev" "reverse the bits";
    Bfe 0x18 "bfe" 3 ThreeSource [P] [NO_ACCUMULATOR] BIT_FIELD_THREE "2a bfe" "extract a bit field";
    Bfi1 0x19 "bfi1" 2 Basic [P] [NO_ACCUMULATOR] BFI1 "2a bfi1" "mask for a bit field insertion";
    Bfi2 0x1a "bfi2" 3 ThreeSource [P] [NO_ACCUMULATOR] BIT_FIELD_THREE "2a bfi2" "insert a bit field";
    Jmpi 0x20 "jmpi" 1 JumpIndexed [P] [NO_MASK_NEEDED] DISTANCE "2a jmpi" "jump of the whole thread";
    Brd 0x21 "brd" 0 BranchOne [P] [] DISTANCE "2a brd" "diverging branch";
    If 0x22 "if" 0 BranchTwo [P] [] NO_OPERANDS "2a if" "begins a conditional block";
    Brc 0x23 "brc" 0 BranchTwo [P] [] DISTANCE "2a brc" "converging branch";
    Else 0x24 "else" 0 BranchTwo [] [] NO_OPERANDS "2a else" "begins the alternative of a conditional block";
    Endif 0x25 "endif" 0 BranchOne [] [] NO_OPERANDS "2a endif" "ends a conditional block";
    While 0x27 "while" 0 BranchOne [P] [] NO_OPERANDS "G45 vol 4 while" "ends a loop";
    Break 0x28 "break" 0 BranchTwo [P] [] NO_OPERANDS "2a break" "leaves a loop";
    Cont 0x29 "cont" 0 BranchTwo [P] [] NO_OPERANDS "2a cont" "goes to the end of a loop";
    Halt 0x2a "halt" 0 BranchTwo [P] [] NO_OPERANDS "2a halt" "stops channels until the next halt point";
    Calla 0x2b "calla" 1 Call [P] [] CALL "2a calla" "call of an absolute address";
    Call 0x2c "call" 1 Call [P] [] CALL "2a call" "call of a subroutine";
    Ret 0x2d "ret" 1 Return [P] [] RET "IGA ret" "return from a subroutine";
    Goto 0x2e "goto" 0 BranchTwo [P] [] NO_OPERANDS "2a goto" "unstructured branch";
    Join 0x2f "join" 0 BranchOne [P] [] NO_OPERANDS "2a join" "where channels of a goto meet";
    Wait 0x30 "wait" 1 Wait [] [] WAIT "G45 vol 4 wait" "wait for a notification";
    Send 0x31 "send" 1 Send [P] [] NO_OPERANDS "2d p.177; G45 vol 4 send" "message to a shared function";
    Sendc 0x32 "sendc" 1 Send [P] [] NO_OPERANDS "2a sendc" "message once the dependencies on other threads are clear";
    Math 0x38 "math" 2 Math [P S M] [] NO_OPERANDS "2a math" "function of the extended math unit";
    Add 0x40 "add" 2 Basic [P C S M] [] ADD "2a add" "addition";
    Mul 0x41 "mul" 2 Basic [P C S M] [] MUL "G45 vol 4 mul" "multiplication";
    Avg 0x42 "avg" 2 Basic [P C S M] [] AVG "2a avg" "mean of integers, rounded up";
    Frc 0x43 "frc" 1 Basic [P C M] [] FRC "2a frc" "fraction";
    Rndu 0x44 "rndu" 1 Basic [P C S M] [] ROUND "G45 vol 4 rndu" "round up";
    Rndd 0x45 "rndd" 1 Basic [P C S M] [] ROUND "G45 vol 4 rndd" "round down";
    Rnde 0x46 "rnde" 1 Basic [P C S M] [] ROUND "G45 vol 4 rnde" "round to nearest, ties to even";
    Rndz 0x47 "rndz" 1 Basic [P C S M] [] ROUND "G45 vol 4 rndz" "round to zero";
    Mac 0x48 "mac" 2 Basic [P C S M] [READS_ACCUMULATOR] MAC "G45 vol 4 mac" "multiply and add to the accumulator";
    Mach 0x49 "mach" 2 Basic [P C S M] [READS_ACCUMULATOR WRITES_ACCUMULATOR] MACH "G45 vol 4 mach" "high half of a product, with the accumulator";
    Lzd 0x4a "lzd" 1 Basic [P C S M] [NO_ACCUMULATOR_DESTINATION] DWORD_TO_UD "2a lzd" "count leading zeros";
    Fbh 0x4b "fbh" 1 Basic [P] [NO_ACCUMULATOR] DWORD_TO_UD "2a fbh" "first significant bit from above";
    Fbl 0x4c "fbl" 1 Basic [P] [NO_ACCUMULATOR] FBL "2a fbl" "first set bit from below";
    Cbit 0x4d "cbit" 1 Basic [P] [NO_ACCUMULATOR] CBIT "2a cbit" "count set bits";
    Addc 0x4e "addc" 2 Basic [P C] [WRITES_ACCUMULATOR] UD_TWO "2a addc" "addition, carry to the accumulator";
    Subb 0x4f "subb" 2 Basic [P C S] [WRITES_ACCUMULATOR] UD_TWO "2a subb" "subtraction, borrow to the accumulator";
    Sad2 0x50 "sad2" 2 Basic [P C S M] [] SAD "G45 vol 4 sad2" "sum of absolute differences of pairs";
    Sada2 0x51 "sada2" 2 Basic [P C S M] [READS_ACCUMULATOR] SAD "G45 vol 4 sada2" "as sad2, added to the accumulator";
    Dp4 0x54 "dp4" 2 Basic [P C S M] [NO_ACCUMULATOR_SOURCE] FLOAT_TWO "2a dp4" "dot product of four";
    Dph 0x55 "dph" 2 Basic [P C S M] [NO_ACCUMULATOR_SOURCE] FLOAT_TWO "2a dph" "homogeneous dot product";
    Dp3 0x56 "dp3" 2 Basic [P C S M] [NO_ACCUMULATOR_SOURCE] FLOAT_TWO "2a dp3" "dot product of three";
    Dp2 0x57 "dp2" 2 Basic [P C S M] [NO_ACCUMULATOR_SOURCE] FLOAT_TWO "2a dp2" "dot product of two";
    Line 0x59 "line" 2 Basic [P C S M] [NO_ACCUMULATOR_SOURCE] FLOAT_TWO "2a line" "line equation";
    Pln 0x5a "pln" 2 Basic [P C S M] [NO_ACCUMULATOR_SOURCE] PLN "G45 vol 4 pln" "plane equation";
    Mad 0x5b "mad" 3 ThreeSource [P C S M] [] MAD "IGA mad" "multiply and add";
    Lrp 0x5c "lrp" 3 ThreeSource [P C S M] [] LRP "2a lrp" "linear interpolation";
    Madm 0x5d "madm" 3 ThreeSource [P S M] [] MADM "IGA madm" "multiply and add with the extended exponent of division macros";
    Nop 0x7e "nop" 0 Bare [] [] NO_OPERANDS "2d p.166" "nothing";
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
