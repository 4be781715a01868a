//! The table of operations: one row per opcode, and the tables of operand types that the rows name.
//!
//! To add an operation of Gen8, add a row to `ops!`, in the order of the opcodes. Operations of
//! other generations are after `nop`. If no constant of
//! [`types`] has its operand types, add one. [`Opcode`] and [`OPS`] are generated from the rows.
//! The decoder, encoder, assembler, disassembler, validator and documentation read them.

use crate::properties::{Format, Modifiers, Traits};
use crate::signature::rows::{Origin, Signature, TypeSet};
use crate::types::DataType;

/// A row of the instruction table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// The operation.
    pub opcode: Opcode,
    /// Its 7-bit number, as in the enumerations EU_OPCODE, EU_OPCODE_GEN11 and EU_OPCODE_GEN4. Gen12 has other
    /// numbers for some operations, as in EU_OPCODE_GEN12.
    pub code: u8,
    /// The manual's mnemonic, which is also the name in EU_OPCODE.
    pub name: &'static str,
    /// Number of explicit sources. Distances of branches do not count.
    pub sources: u8,
    /// Layout of the instruction.
    pub format: Format,
    /// Modifiers that the operation accepts.
    pub modifiers: Modifiers,
    /// Restrictions that depend only on the operation.
    pub traits: Traits,
    /// Types that the operands may have; those of `math` depend on the function.
    pub signatures: &'static [Signature],
    /// The page that describes the operation. 2a prints no page numbers in this part; its entries
    /// are in alphabetical order.
    pub page: &'static str,
    /// The function of the operation in a few words.
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

        /// The rows of all operations, by [`Opcode`].
        pub(crate) static ALL: [Op; ALL_COUNT] = [$(Op {
            opcode: Opcode::$variant,
            code: $code,
            name: $name,
            sources: $sources,
            format: Format::$format,
            modifiers: modifiers!($($modifier)*),
            traits: Traits::NONE$(.with(Traits::$property))*,
            signatures: types::$types,
            page: $page,
            summary: $doc,
        },)*];

        const ALL_COUNT: usize = [$(Opcode::$variant),*].len();
    };
}

/// Number of operations of Gen8; their rows come first.
const GEN8_COUNT: usize = Opcode::Nop as usize + 1;

/// Every instruction of Gen8, by number.
pub static OPS: &[Op] = ALL.split_at(GEN8_COUNT).0;

/// Number of operations of Gen8 and Gen9; their rows come before those of Gen11.
const GEN9_COUNT: usize = Opcode::Sendsc as usize + 1;

/// The operations that Gen11 no longer has. Source: Mesa brw_eu.c.
const GONE_ON_GEN11: &[Opcode] =
    &[Opcode::Dp4, Opcode::Dph, Opcode::Dp3, Opcode::Dp2, Opcode::Line, Opcode::Pln, Opcode::Lrp];

/// Number of operations before those of Gen12.
const GEN11_COUNT: usize = Opcode::Rol as usize + 1;

/// The operations that Gen12 no longer has. Source: Mesa brw_eu.c, and IGA for `madm`.
const GONE_ON_GEN12: &[Opcode] = &[
    Opcode::Dp4,
    Opcode::Dph,
    Opcode::Dp3,
    Opcode::Dp2,
    Opcode::Line,
    Opcode::Pln,
    Opcode::Lrp,
    Opcode::Madm,
    Opcode::Wait,
    Opcode::Sends,
    Opcode::Sendsc,
];

/// Number of operations before those that only Gen4 to Gen5 have.
const GEN12_COUNT: usize = Opcode::Dp4a as usize + 1;

/// The operations of Gen4. Sources: 003:10097-10261, and Mesa brw_eu.c for the generations.
const GEN4: &[Opcode] = &[
    Opcode::Illegal,
    Opcode::Mov,
    Opcode::Sel,
    Opcode::Not,
    Opcode::And,
    Opcode::Or,
    Opcode::Xor,
    Opcode::Shr,
    Opcode::Shl,
    Opcode::Asr,
    Opcode::Cmp,
    Opcode::Cmpn,
    Opcode::Jmpi,
    Opcode::If,
    Opcode::Iff,
    Opcode::Else,
    Opcode::Endif,
    Opcode::Do,
    Opcode::While,
    Opcode::Break,
    Opcode::Cont,
    Opcode::Halt,
    Opcode::Msave,
    Opcode::Mrest,
    Opcode::Push,
    Opcode::Pop,
    Opcode::Wait,
    Opcode::Send,
    Opcode::Add,
    Opcode::Mul,
    Opcode::Avg,
    Opcode::Frc,
    Opcode::Rndu,
    Opcode::Rndd,
    Opcode::Rnde,
    Opcode::Rndz,
    Opcode::Mac,
    Opcode::Mach,
    Opcode::Lzd,
    Opcode::Sad2,
    Opcode::Sada2,
    Opcode::Dp4,
    Opcode::Dph,
    Opcode::Dp3,
    Opcode::Dp2,
    Opcode::Line,
    Opcode::Nop,
];

/// The operation of each number: a row for each [`Generation`](crate::generation::Generation).
pub(crate) static BY_CODE: [[Option<Opcode>; 128]; 7] = [
    listed(GEN4, &[]),
    listed(GEN4, &[Opcode::Movi, Opcode::Pln, Opcode::Nenop]),
    listed(GEN4, &[Opcode::Movi, Opcode::Pln]),
    by_code(GEN8_COUNT, &[], false),
    by_code(GEN9_COUNT, &[], false),
    by_code(GEN11_COUNT, GONE_ON_GEN11, false),
    by_code(GEN12_COUNT, GONE_ON_GEN12, true),
];

/// The operations of both lists by number.
const fn listed(first: &[Opcode], more: &[Opcode]) -> [Option<Opcode>; 128] {
    let (mut found, mut index) = ([None; 128], 0);
    while index < first.len() + more.len() {
        let opcode = if index < first.len() { first[index] } else { more[index - first.len()] };
        found[ALL[opcode as usize].code as usize] = Some(opcode);
        index += 1;
    }
    found
}

/// The operations of the first `count` rows by number, without those that are `gone`; with the
/// numbers of Gen12 if they are `renumbered`.
const fn by_code(count: usize, gone: &[Opcode], renumbered: bool) -> [Option<Opcode>; 128] {
    let (mut found, mut index) = ([None; 128], 0);
    while index < count {
        let (opcode, mut missing) = (ALL[index].opcode, 0);
        while missing < gone.len() && gone[missing] as usize != opcode as usize {
            missing += 1;
        }
        if missing == gone.len() {
            let code = ALL[index].code;
            found[if renumbered { code_on_gen12(code, opcode) } else { code } as usize] =
                Some(opcode);
        }
        index += 1;
    }
    found
}

/// The number on Gen12 of an operation whose row has the number `code`. The first operations have
/// numbers from 0x61 on there, and `nop` has the number before.
pub(crate) const fn code_on_gen12(code: u8, opcode: Opcode) -> u8 {
    match opcode {
        Opcode::Illegal | Opcode::Sync => code,
        Opcode::Nop => 0x60,
        _ if code < 0x20 => code + 0x60,
        _ => code,
    }
}

// Columns in brackets: modifiers (P predicate, C condition, S saturate, M source modifiers), then
// restrictions. The name after them is the type table in `types` below. Rows that no Broadwell text
// describes name their origin: G45 for the older manual, IGA for Intel's public assembler model.
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
    // Gen9. Facts: Mesa brw_eu.cpp.
    Sends 0x33 "sends" 2 SplitSend [P] [] NO_OPERANDS "Gen9" "message with two payloads to a shared function";
    Sendsc 0x34 "sendsc" 2 SplitSend [P] [] NO_OPERANDS "Gen9" "as sends, once the dependencies on other threads are clear";
    // Gen11. Facts: Mesa brw_eu.c.
    Ror 0x0e "ror" 2 Basic [P S] [] NO_OPERANDS "Gen11" "rotate right";
    Rol 0x0f "rol" 2 Basic [P S] [] NO_OPERANDS "Gen11" "rotate left";
    // Gen12. Facts: Mesa brw_eu.c.
    Sync 0x01 "sync" 1 Sync [P] [] NO_OPERANDS "Gen12" "wait for other instructions, a barrier or the host";
    Dp4a 0x58 "dp4a" 3 ThreeSource [P C S] [] NO_OPERANDS "Gen12" "dot product of four bytes, added to a dword";
    // Gen4 to Gen5.
    Iff 0x23 "iff" 0 BranchOne [P] [] NO_OPERANDS "G45 vol 4 iff" "begins a conditional block without an alternative";
    Do 0x26 "do" 0 Loop [] [] NO_OPERANDS "G45 vol 4 do" "begins a loop";
    Msave 0x2c "msave" 1 Basic [] [] NO_OPERANDS "G45 vol 4 msave" "pushes a mask and sets it to the execution mask";
    Mrest 0x2d "mrest" 1 Basic [] [] NO_OPERANDS "G45 vol 4 mrest" "pops a mask";
    Push 0x2e "push" 1 Basic [] [] NO_OPERANDS "G45 vol 4 push" "pushes a mask";
    Pop 0x2f "pop" 1 Basic [] [] NO_OPERANDS "G45 vol 4 pop" "drops levels of a mask stack";
    Nenop 0x7d "nenop" 0 Bare [] [] NO_OPERANDS "G45 vol 4 nenop" "fills up 16 bytes after a compact instruction";
}

macro_rules! set {
    ($($ty:ident)*) => { TypeSet::of(&[$(DataType::$ty),*]) };
}

/// Integers of up to 32 bits.
const INT: TypeSet = set!(Ub B Uw W Ud D);
/// Words, dwords and qwords.
const WIDE: TypeSet = set!(Uw W Ud D Uq Q);
const BYTE: TypeSet = set!(Ub B);
const WORD: TypeSet = set!(Uw W);
const DWORD: TypeSet = set!(Ud D);
const QWORD: TypeSet = set!(Uq Q);
const UD: TypeSet = set!(Ud);
const D: TypeSet = set!(D);
const HF: TypeSet = set!(Hf);
const F: TypeSet = set!(F);
const DF: TypeSet = set!(Df);
const MIXED: TypeSet = set!(Hf F);
const NONE: TypeSet = TypeSet::EMPTY;

const fn one(destination: TypeSet, source: TypeSet, origin: Origin) -> Signature {
    Signature { destination, sources: [source, NONE, NONE], one_type: false, origin }
}

const fn two(destination: TypeSet, source: TypeSet, origin: Origin) -> Signature {
    Signature { destination, sources: [source, source, NONE], one_type: false, origin }
}

const fn three(destination: TypeSet, source: TypeSet, origin: Origin) -> Signature {
    Signature { destination, sources: [source; 3], one_type: true, origin }
}

/// The type tables: one constant for each table in the sources.
pub(crate) mod types {
    use super::Origin::{G45, Iga, Kernels, Manual, Mesa};
    use super::*;

    pub const NO_OPERANDS: &[Signature] = &[];
    /// add: types of 2a; a mix of F and HF is from IGA.
    pub const ADD: &[Signature] = &[
        two(INT, INT, Manual),
        two(F, INT, Manual),
        two(F, F, Manual),
        two(DF, DF, Manual),
        two(HF, HF, Manual),
        two(HF, INT, Manual),
        two(WIDE, WIDE, Manual),
        two(MIXED, MIXED, Iga),
    ];
    /// Types of cmp (from 2a).
    pub const CMP: &[Signature] = ADD;
    /// cmpn: types of 2a, without qwords and without half floats from integers.
    pub const CMPN: &[Signature] = &[
        two(INT, INT, Manual),
        two(F, INT, Manual),
        two(F, F, Manual),
        two(DF, DF, Manual),
        two(HF, HF, Manual),
        two(MIXED, MIXED, Iga),
    ];
    /// Types of avg (from 2a).
    pub const AVG: &[Signature] = &[two(INT, INT, Manual)];
    /// Types of and, or, xor and asr (from 2a).
    pub const LOGIC: &[Signature] = &[two(INT, INT, Manual), two(WIDE, WIDE, Manual)];
    /// Types of not (from 2a).
    pub const NOT: &[Signature] = &[one(INT, INT, Manual), one(WIDE, WIDE, Manual)];
    /// shl: integers of up to 32 bits are from G45, qwords from IGA.
    pub const SHL: &[Signature] = &[two(INT, INT, G45), two(WIDE, WIDE, Iga)];
    /// shr: integers of up to 32 bits are from G45. IGA has only unsigned types, because the shift
    /// is logical; kernels of drivers also have qwords and signed types.
    pub const SHR: &[Signature] = &[two(INT, INT, G45), two(WIDE, WIDE, Kernels)];
    /// mov: integers of up to 32 bits and single floats are from G45, other conversions from IGA.
    pub const MOV: &[Signature] = &[
        one(INT, INT, G45),
        one(F, INT, G45),
        one(INT, F, G45),
        one(F, F, G45),
        one(WIDE, WIDE, Iga),
        one(DF, set!(Uw W Ud D Uq Q F Df), Iga),
        one(set!(Uw W Ud D Uq Q F), DF, Iga),
        one(QWORD, F, Iga),
        one(F, QWORD, Iga),
        one(HF, INT, Iga),
        one(INT, HF, Iga),
        one(HF, MIXED, Iga),
        one(F, HF, Iga),
    ];
    /// movi: destination and source have the same type, because movi does not convert.
    pub const MOVI: &[Signature] = &[
        one(set!(Ub), set!(Ub), Iga),
        one(set!(B), set!(B), Iga),
        one(set!(Uw), set!(Uw), Iga),
        one(set!(W), set!(W), Iga),
        one(UD, UD, Iga),
        one(D, D, Iga),
        one(F, F, Iga),
    ];
    /// sel: integers of up to 32 bits and single floats are from G45, other types from IGA.
    pub const SEL: &[Signature] = &[
        two(INT, INT, G45),
        two(F, F, G45),
        two(DF, DF, Iga),
        two(HF, HF, Iga),
        two(WIDE, WIDE, Iga),
        two(MIXED, MIXED, Iga),
    ];
    /// Types of smov (from IGA). Nothing else about smov is published.
    pub const SMOV: &[Signature] =
        &[two(set!(Uw W Ud D Uq Q F Df), set!(Uw W Ud D Uq Q F Df), Iga)];
    /// Types of csel (from 2a).
    pub const CSEL: &[Signature] = &[three(F, F, Manual)];
    /// Types of lrp (from 2a).
    pub const LRP: &[Signature] = &[three(F, F, Manual)];
    /// Types of bfe and bfi2 (from 2a).
    pub const BIT_FIELD_THREE: &[Signature] = &[three(UD, UD, Manual), three(D, D, Manual)];
    /// Types of bfi1 (from 2a).
    pub const BFI1: &[Signature] = &[two(UD, UD, Manual), two(D, D, Manual)];
    /// fbl: the dword source is from 2a, the word source from kernels of drivers.
    pub const FBL: &[Signature] = &[one(UD, UD, Manual), one(UD, set!(Uw), Kernels)];
    /// Types of bfrev (from 2a).
    pub const UD_ONE: &[Signature] = &[one(UD, UD, Manual)];
    /// Types of lzd and fbh (from 2a).
    pub const DWORD_TO_UD: &[Signature] = &[one(UD, DWORD, Manual)];
    /// Types of cbit (from 2a).
    pub const CBIT: &[Signature] = &[one(UD, set!(Ub Uw Ud), Manual)];
    /// Types of addc and subb (from 2a).
    pub const UD_TWO: &[Signature] = &[two(UD, UD, Manual)];
    /// mach: dwords of the same signedness are from IGA, a signed result of unsigned sources from
    /// kernels of drivers.
    pub const MACH: &[Signature] = &[two(UD, UD, Iga), two(D, D, Iga), two(D, UD, Kernels)];
    /// mul: integers of up to 32 bits and single floats are from G45, qword products of dwords from
    /// Mesa, other types from IGA.
    pub const MUL: &[Signature] = &[
        two(INT, INT, G45),
        two(QWORD, DWORD, Mesa),
        two(F, F, G45),
        two(DF, DF, Iga),
        two(HF, HF, Iga),
        two(MIXED, MIXED, Iga),
    ];
    /// mac: integer sources are bytes or words. Single floats are from G45, other types from IGA.
    pub const MAC: &[Signature] = &[
        two(INT, BYTE.with(WORD), Iga),
        two(F, F, G45),
        two(DF, DF, Iga),
        two(HF, HF, Iga),
        two(MIXED, MIXED, Iga),
    ];
    /// mad: all sources have one type.
    pub const MAD: &[Signature] = &[three(F, F, Iga), three(DF, DF, Iga), three(MIXED, MIXED, Iga)];
    /// Types of madm (from IGA).
    pub const MADM: &[Signature] = &[three(F, F, Iga), three(DF, DF, Iga)];
    /// Types of sad2 and sada2 (from IGA).
    pub const SAD: &[Signature] = &[two(WORD, BYTE, Iga)];
    /// Types of frc (from 2a).
    pub const FRC: &[Signature] = &[one(F, F, Manual)];
    /// Types of rndu, rndd, rnde and rndz (from G45).
    pub const ROUND: &[Signature] = &[one(F, F, G45)];
    /// Types of dp2, dp3, dp4, dph and line (from 2a).
    pub const FLOAT_TWO: &[Signature] = &[two(F, F, Manual)];
    /// Types of pln (from G45).
    pub const PLN: &[Signature] = &[two(F, F, G45)];
    /// Functions of one float: F is from 2a math, half floats are from IGA.
    pub const MATH_ONE: &[Signature] = &[one(F, F, Manual), one(MIXED, MIXED, Iga)];
    /// pow, fdiv: F is from 2a math, half floats are from IGA.
    pub const MATH_TWO: &[Signature] = &[two(F, F, Manual), two(MIXED, MIXED, Iga)];
    /// Integer division: equal types are from 2a math, a signed result of unsigned sources is from
    /// kernels of drivers.
    pub const MATH_DIVISION: &[Signature] =
        &[two(UD, UD, Manual), two(D, D, Manual), two(D, UD, Kernels)];
    /// First step of the division macro: F is from 2a math, doubles are from IGA.
    pub const MATH_INVM: &[Signature] = &[two(F, F, Manual), two(DF, DF, Iga)];
    /// First step of the square root macro: F is from 2a math, doubles are from IGA.
    pub const MATH_RSQRTM: &[Signature] = &[one(F, F, Manual), one(DF, DF, Iga)];
    /// jmpi, brd, brc (2a): the distance, if it is in a register.
    pub const DISTANCE: &[Signature] = &[one(NONE, D, Manual)];
    /// call, calla (2a): the return address, and the target if it is in a register.
    pub const CALL: &[Signature] = &[one(DWORD, D, Manual)];
    /// Type of the return address, the source of ret (from IGA).
    pub const RET: &[Signature] = &[one(NONE, DWORD, Iga)];
    /// Type of the notification register, the source of wait (from IGA).
    pub const WAIT: &[Signature] = &[one(NONE, UD, Iga)];
}
