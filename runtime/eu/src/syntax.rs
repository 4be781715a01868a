//! Names in the two assembly languages, side by side: Intel's (IGA) and Mesa's.
//!
//! A row has a meaning and its spellings; disassembler and assembler use the same rows. Mnemonics
//! of operations are in [`ops`](crate::ops): both languages use those of the manual.

use crate::instruction::*;

/// An assembly language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Syntax {
    /// The language of Intel's Graphics Assembler: `add (8|M0) r4.0<1>:f r2.0<8;8,1>:f 1:f`.
    Iga,
    /// The language of Mesa's `i965_asm` and disassembler: `add(8) g4<1>F g2<8,8,1>F 0x3f800000F {
    /// align1 1Q };`.
    Mesa,
}

/// A meaning and its spellings. An empty spelling means that the language has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<T: 'static> {
    /// The value that the words stand for.
    pub meaning: T,
    /// IGA's spelling.
    pub iga: &'static str,
    /// Mesa's spelling.
    pub mesa: &'static str,
    /// Other spellings that are read in both languages but never written.
    pub also: &'static [&'static str],
}

/// The spellings of all values of one kind, for example of all types.
#[derive(Clone, Copy, Debug)]
pub struct Names<T: 'static> {
    /// The word for this kind in error messages: `type`.
    pub kind: &'static str,
    /// One row for each value.
    pub rows: &'static [Name<T>],
}

impl<T: Copy + PartialEq> Name<T> {
    /// The spelling in `syntax`, if it has one.
    pub fn in_syntax(&self, syntax: Syntax) -> Option<&'static str> {
        let name = match syntax {
            Syntax::Iga => self.iga,
            Syntax::Mesa => self.mesa,
        };
        (!name.is_empty()).then_some(name)
    }
}

impl<T: Copy + PartialEq> Names<T> {
    /// The spelling of `meaning` in `syntax`; `None` if the language has none.
    pub fn name(&self, meaning: T, syntax: Syntax) -> Option<&'static str> {
        self.rows.iter().find(|row| row.meaning == meaning)?.in_syntax(syntax)
    }

    /// The meaning of `word` in `syntax`, ignoring case.
    pub fn find(&self, word: &str, syntax: Syntax) -> Option<T> {
        let same = |name: &str| name.eq_ignore_ascii_case(word);
        let row = self.rows.iter().find(|row| {
            row.in_syntax(syntax).is_some_and(same) || row.also.iter().any(|name| same(name))
        });
        row.map(|row| row.meaning)
    }

    /// The words of `syntax`, for error messages.
    pub fn words(&self, syntax: Syntax) -> impl Iterator<Item = &'static str> {
        self.rows.iter().filter_map(move |row| row.in_syntax(syntax))
    }
}

const fn name<T>(meaning: T, iga: &'static str, mesa: &'static str) -> Name<T> {
    Name { meaning, iga, mesa, also: &[] }
}

const fn also<T>(
    meaning: T,
    iga: &'static str,
    mesa: &'static str,
    also: &'static [&'static str],
) -> Name<T> {
    Name { meaning, iga, mesa, also }
}

/// Types: `:ud` is written `UD` by Mesa, without a colon.
pub static TYPES: Names<DataType> = Names {
    kind: "type",
    rows: &[
        name(DataType::Ub, "ub", "UB"),
        name(DataType::B, "b", "B"),
        name(DataType::Uw, "uw", "UW"),
        name(DataType::W, "w", "W"),
        name(DataType::Ud, "ud", "UD"),
        name(DataType::D, "d", "D"),
        name(DataType::Uq, "uq", "UQ"),
        name(DataType::Q, "q", "Q"),
        name(DataType::Hf, "hf", "HF"),
        name(DataType::F, "f", "F"),
        name(DataType::Df, "df", "DF"),
        name(DataType::Uv, "uv", "UV"),
        name(DataType::V, "v", "V"),
        name(DataType::Vf, "vf", "VF"),
    ],
};

/// Architecture registers without their number. Mesa prints a register without a name by its
/// encoded byte, `ARF208`.
pub static ARFS: Names<Arf> = Names {
    kind: "register",
    rows: &[
        name(Arf::Null, "null", "null"),
        name(Arf::Address, "a", "a"),
        name(Arf::Accumulator, "acc", "acc"),
        name(Arf::Flag, "f", "f"),
        also(Arf::ChannelEnable, "ce", "mask", &["ce"]),
        name(Arf::MessageControl, "msg", "ms"),
        name(Arf::StackPointer, "sp", "msd"),
        name(Arf::State, "sr", "sr"),
        name(Arf::Control, "cr", "cr"),
        name(Arf::Notification, "n", "n"),
        name(Arf::InstructionPointer, "ip", "ip"),
        name(Arf::ThreadDependency, "tdr", "tdr"),
        name(Arf::Timestamp, "tm", "tm"),
        name(Arf::FlowControl, "fc", ""),
        name(Arf::Debug, "dbg", ""),
    ],
};

/// Conditions: `(eq)f0.0` in IGA, `.z.f0.0` in Mesa.
pub static CONDITIONS: Names<Condition> = Names {
    kind: "condition",
    rows: &[
        also(Condition::Equal, "eq", "z", &["ze", "e"]),
        name(Condition::NotEqual, "ne", "nz"),
        name(Condition::Greater, "gt", "g"),
        name(Condition::GreaterEqual, "ge", "ge"),
        name(Condition::Less, "lt", "l"),
        name(Condition::LessEqual, "le", "le"),
        name(Condition::Overflow, "ov", "o"),
        name(Condition::Unordered, "un", "u"),
        name(Condition::Round, "r", "r"),
    ],
};

/// How flag bits are combined: the suffix after the dot of a predicate. Both languages agree. The
/// plain predicate has no suffix.
pub static PREDICATES: Names<PredicateControl> = Names {
    kind: "predicate control",
    rows: &[
        name(PredicateControl::AnyV, "anyv", "anyv"),
        name(PredicateControl::AllV, "allv", "allv"),
        name(PredicateControl::Any(2), "any2h", "any2h"),
        name(PredicateControl::All(2), "all2h", "all2h"),
        name(PredicateControl::Any(4), "any4h", "any4h"),
        name(PredicateControl::All(4), "all4h", "all4h"),
        name(PredicateControl::Any(8), "any8h", "any8h"),
        name(PredicateControl::All(8), "all8h", "all8h"),
        name(PredicateControl::Any(16), "any16h", "any16h"),
        name(PredicateControl::All(16), "all16h", "all16h"),
        name(PredicateControl::Any(32), "any32h", "any32h"),
        name(PredicateControl::All(32), "all32h", "all32h"),
        name(PredicateControl::Replicate(0), "x", "x"),
        name(PredicateControl::Replicate(1), "y", "y"),
        name(PredicateControl::Replicate(2), "z", "z"),
        name(PredicateControl::Replicate(3), "w", "w"),
    ],
};

/// Functions of `math`: `math.sqt` in IGA, `math sqrt` in Mesa.
pub static MATH: Names<MathFunction> = Names {
    kind: "math function",
    rows: &[
        name(MathFunction::Inverse, "inv", "inv"),
        name(MathFunction::Log, "log", "log"),
        name(MathFunction::Exp, "exp", "exp"),
        name(MathFunction::SquareRoot, "sqt", "sqrt"),
        name(MathFunction::InverseSquareRoot, "rsqt", "rsq"),
        name(MathFunction::Sin, "sin", "sin"),
        name(MathFunction::Cos, "cos", "cos"),
        name(MathFunction::Divide, "fdiv", "fdiv"),
        name(MathFunction::Power, "pow", "pow"),
        name(MathFunction::IntQuotientRemainder, "idiv", "intdivmod"),
        name(MathFunction::IntQuotient, "iqot", "intdiv"),
        name(MathFunction::IntRemainder, "irem", "intmod"),
        name(MathFunction::InverseMacro, "invm", "invm"),
        name(MathFunction::InverseSquareRootMacro, "rsqtm", "rsqrtm"),
    ],
};

/// Shared functions, which receive messages. IGA writes their number in the instruction and this
/// name in the comment.
pub static FUNCTIONS: Names<SharedFunction> = Names {
    kind: "shared function",
    rows: &[
        name(SharedFunction::Null, "null", "null"),
        name(SharedFunction::Sampler, "sampler", "sampler"),
        name(SharedFunction::Gateway, "gateway", "gateway"),
        name(SharedFunction::DataPortSampler, "hdc.dcro", "dp_sampler"),
        name(SharedFunction::DataPortRender, "hdc.rc", "render"),
        name(SharedFunction::Urb, "urb", "urb"),
        name(SharedFunction::ThreadSpawner, "spawner", "thread_spawner"),
        // In later generations, the numbers of two of these shared functions belong to other units.
        // Mesa's names are those of the later units: `rt accel` is printed, and `tgm` is read.
        also(SharedFunction::MotionEstimation, "vme", "rt accel", &["vme"]),
        name(SharedFunction::DataPortConstant, "hdc.cc", "const"),
        name(SharedFunction::DataPort0, "hdc.dc0", "data"),
        name(SharedFunction::PixelInterpolator, "pixi", "pixel interp"),
        name(SharedFunction::DataPort1, "hdc.dc1", "dp data 1"),
        also(SharedFunction::CheckAndRefinement, "cre", "cre", &["tgm"]),
        name(SharedFunction::Reserved(1), "", "math"),
        name(SharedFunction::Reserved(14), "", "slm"),
        name(SharedFunction::Reserved(15), "", "ugm"),
    ],
};

/// Shared functions of Gen4 to Gen5.
pub static FUNCTIONS_GEN4: Names<SharedFunction> = Names {
    kind: "shared function",
    rows: &[
        name(SharedFunction::Null, "null", "null"),
        name(SharedFunction::Math, "math", "math"),
        name(SharedFunction::Sampler, "sampler", "sampler"),
        name(SharedFunction::Gateway, "gateway", "gateway"),
        name(SharedFunction::DataPortRead, "dp.read", "read"),
        name(SharedFunction::DataPortWrite, "dp.write", "write"),
        name(SharedFunction::Urb, "urb", "urb"),
        name(SharedFunction::ThreadSpawner, "spawner", "thread_spawner"),
        name(SharedFunction::MotionEstimation, "vme", "vme"),
    ],
};

/// An option in the braces after an instruction, in either language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Keyword {
    /// The accumulator is written too.
    AccWrite,
    /// The access mode.
    Access(AccessMode),
    /// BranchCtrl of `if`, `else` and `goto`.
    BranchControl,
    /// A breakpoint.
    Breakpoint,
    /// The 8-byte form.
    Compacted,
    /// The thread ends.
    EndOfThread,
    /// The destination scoreboard is not checked.
    NoDdCheck,
    /// The destination scoreboard is not cleared.
    NoDdClear,
    /// Channel enables are ignored. IGA writes `(W)` before the instruction.
    NoMask,
    /// The channels on which the instruction works: the unit in which Mesa counts (`1N` 4, `1Q` 8,
    /// `1H` 16 channels) and the first channel. IGA writes `M8` after the execution size.
    Channels {
        /// Channels in the unit in which Mesa counts: 4, 8 or 16.
        unit: u8,
        /// The first channel of the thread.
        offset: u8,
    },
    /// Thread control.
    Thread(ThreadControl),
}

const fn channels(word: &'static str, unit: u8, offset: u8) -> Name<Keyword> {
    name(Keyword::Channels { unit, offset }, "", word)
}

/// Options in braces.
pub static OPTIONS: Names<Keyword> = Names {
    kind: "option",
    rows: &[
        name(Keyword::Access(AccessMode::Align1), "", "align1"),
        name(Keyword::Access(AccessMode::Align16), "Align16", "align16"),
        name(Keyword::AccWrite, "AccWrEn", "AccWrEnable"),
        name(Keyword::BranchControl, "", "BranchCtrl"),
        name(Keyword::Thread(ThreadControl::Atomic), "Atomic", "atomic"),
        name(Keyword::Breakpoint, "Breakpoint", "breakpoint"),
        name(Keyword::Compacted, "Compacted", "compacted"),
        name(Keyword::EndOfThread, "EOT", "EOT"),
        name(Keyword::NoDdCheck, "NoDDChk", "NoDDChk"),
        name(Keyword::NoDdClear, "NoDDClr", "NoDDClr"),
        also(Keyword::NoMask, "NoMask", "WE_all", &["nomask"]),
        name(Keyword::Thread(ThreadControl::Switch), "Switch", "switch"),
        channels("1N", 4, 0),
        channels("2N", 4, 4),
        channels("3N", 4, 8),
        channels("4N", 4, 12),
        channels("5N", 4, 16),
        channels("6N", 4, 20),
        channels("7N", 4, 24),
        channels("8N", 4, 28),
        channels("1Q", 8, 0),
        channels("2Q", 8, 8),
        channels("3Q", 8, 16),
        channels("4Q", 8, 24),
        channels("1H", 16, 0),
        channels("2H", 16, 16),
    ],
};

#[cfg(test)]
mod tests;
