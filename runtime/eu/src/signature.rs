//! Which types the operands of an operation may have.
//!
//! A [`Signature`] is a row of the type table that a page of the manual prints: a set of
//! destination types and, for each source, a set of source types. [`Opcode::signatures`] and
//! [`MathFunction::signatures`] give the rows; [`combinations`] lists every single legal
//! combination once.
//!
//! Immediate vectors count as what their elements are read as: `v` as `w`, `uv` as `uw`, `vf` as
//! `f`.

use crate::instruction::{DataType, MathFunction};
use crate::ops::{Format, OPS, Opcode};
use core::fmt;

/// A set of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct TypeSet(u16);

impl TypeSet {
    /// Nothing: there is no such operand.
    pub const EMPTY: Self = TypeSet(0);
    /// Every type that registers can hold, from the narrowest on.
    pub const ALL: [DataType; 11] = [
        DataType::Ub,
        DataType::B,
        DataType::Uw,
        DataType::W,
        DataType::Ud,
        DataType::D,
        DataType::Uq,
        DataType::Q,
        DataType::Hf,
        DataType::F,
        DataType::Df,
    ];

    /// These types.
    pub const fn of(types: &[DataType]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < types.len() {
            bits |= 1 << types[index] as u16;
            index += 1;
        }
        TypeSet(bits)
    }

    /// The union.
    pub const fn with(self, other: Self) -> Self {
        TypeSet(self.0 | other.0)
    }

    /// True if there is no type in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if the elements of an operand of type `ty` are of one of these types.
    pub const fn contains(self, ty: DataType) -> bool {
        self.0 & 1 << ty.element() as u16 != 0
    }

    /// The types, from the narrowest on.
    pub fn iter(self) -> impl Iterator<Item = DataType> + Clone {
        TypeSet::ALL.into_iter().filter(move |ty| self.contains(*ty))
    }
}

/// As assemblers write them: `ud,d`.
impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ty) in self.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { "," } else { "" }, ty.name())?;
        }
        Ok(())
    }
}

impl DataType {
    /// What an element of an immediate vector is read as; any other type itself.
    pub const fn element(self) -> DataType {
        match self {
            DataType::V => DataType::W,
            DataType::Uv => DataType::Uw,
            DataType::Vf => DataType::F,
            other => other,
        }
    }
}

/// Where a row of types is written down.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Origin {
    /// The page of the operation in the Broadwell manual (2a).
    Manual,
    /// The G45 manual, vol 4; Broadwell's page is not at hand.
    G45,
    /// Intel's public assembler model only (intel-graphics-compiler, IGA, Model8).
    Iga,
    /// Mesa's assembler and validator tests for Broadwell only.
    Mesa,
    /// Kernels that drivers run on Broadwell (the corpus); no text has it.
    Kernels,
}

impl Origin {
    /// A few words.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Manual => "2a",
            Origin::G45 => "G45 vol 4",
            Origin::Iga => "IGA",
            Origin::Mesa => "Mesa",
            Origin::Kernels => "kernels",
        }
    }
}

/// A row of a type table: any destination type with any types of sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Types of the destination; empty if there is none.
    pub destination: TypeSet,
    /// Types of each source; empty behind the last.
    pub sources: [TypeSet; 3],
    /// All sources must have one type: the encoding of three sources has one field for it, and
    /// integer division wants it.
    pub one_type: bool,
    /// Where it is written down.
    pub origin: Origin,
}

impl Signature {
    /// True if operands of these types are in the row. `sources` are those that are there.
    pub fn allows(&self, destination: Option<DataType>, sources: &[DataType]) -> bool {
        let destination =
            destination.map_or(self.destination.is_empty(), |ty| self.destination.contains(ty));
        let fits = sources.iter().zip(self.sources).all(|(ty, set)| set.contains(*ty));
        let count = self.sources.iter().filter(|set| !set.is_empty()).count();
        let one = !self.one_type || sources.iter().all(|ty| ty.element() == sources[0].element());
        destination && fits && count == sources.len() && one
    }
}

/// `ud,d <- ub,b · ud,d`: the sets of different sources apart, if they differ.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.destination.is_empty() {
            write!(f, "{} ", self.destination)?;
        }
        f.write_str("<-")?;
        let sources = self.sources.iter().filter(|set| !set.is_empty());
        if sources.clone().all(|set| *set == self.sources[0]) {
            if !self.sources[0].is_empty() {
                write!(f, " {}", self.sources[0])?;
            }
        } else {
            for (index, set) in sources.enumerate() {
                write!(f, "{} {set}", if index > 0 { " ·" } else { "" })?;
            }
        }
        if self.one_type { f.write_str(" (one type)") } else { Ok(()) }
    }
}

/// One legal choice of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Combination {
    /// The operation.
    pub opcode: Opcode,
    /// The function, if it is `math`.
    pub math: Option<MathFunction>,
    /// Type of the destination, if there is one.
    pub destination: Option<DataType>,
    /// Types of the sources that are there.
    pub sources: [Option<DataType>; 3],
    /// Where it is written down.
    pub origin: Origin,
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.opcode.name())?;
        if let Some(math) = self.math {
            write!(f, ".{}", math.name())?;
        }
        for ty in self.destination.iter().chain(self.sources.iter().flatten()) {
            write!(f, " {}", ty.name())?;
        }
        Ok(())
    }
}

/// Every legal combination of operation, math function and types, each once. Messages, whose types
/// mean nothing, and operations without operands have none.
pub fn combinations() -> impl Iterator<Item = Combination> {
    OPS.iter().flat_map(|op| {
        let functions: &'static [Option<MathFunction>] = match op.format {
            Format::Math => &MATH_FUNCTIONS,
            _ => &[None],
        };
        functions.iter().flat_map(move |math| of_rows(op.opcode, *math, rows(op.opcode, *math)))
    })
}

/// The rows of an operation or, for `math`, of its function.
pub(crate) fn rows(opcode: Opcode, math: Option<MathFunction>) -> &'static [Signature] {
    math.map_or(opcode.op().signatures, MathFunction::signatures)
}

fn of_rows(
    opcode: Opcode,
    math: Option<MathFunction>,
    rows: &'static [Signature],
) -> impl Iterator<Item = Combination> {
    rows.iter().enumerate().flat_map(move |(index, row)| {
        let [first, second, third] = row.sources.map(present);
        present(row.destination).flat_map(move |destination| {
            let (second, third) = (second.clone(), third.clone());
            first.clone().flat_map(move |a| {
                let third = third.clone();
                second.clone().flat_map(move |b| {
                    third.clone().filter_map(move |c| {
                        let sources = [a, b, c];
                        let mut there = [DataType::Ud; 3];
                        let count = sources
                            .iter()
                            .flatten()
                            .zip(&mut there)
                            .map(|(ty, to)| *to = *ty)
                            .count();
                        let there = &there[..count];
                        let before = rows[..index].iter().any(|row| row.allows(destination, there));
                        let legal = row.allows(destination, there) && !before;
                        legal.then_some(Combination {
                            opcode,
                            math,
                            destination,
                            sources,
                            origin: row.origin,
                        })
                    })
                })
            })
        })
    })
}

/// The types of a set, or that there is no operand.
fn present(set: TypeSet) -> impl Iterator<Item = Option<DataType>> + Clone {
    set.iter().map(Some).chain(set.is_empty().then_some(None))
}

/// All functions of `math`, by number.
pub fn math_functions() -> impl Iterator<Item = MathFunction> {
    MATH_FUNCTIONS.into_iter().flatten()
}

static MATH_FUNCTIONS: [Option<MathFunction>; 14] = [
    Some(MathFunction::Inverse),
    Some(MathFunction::Log),
    Some(MathFunction::Exp),
    Some(MathFunction::SquareRoot),
    Some(MathFunction::InverseSquareRoot),
    Some(MathFunction::Sin),
    Some(MathFunction::Cos),
    Some(MathFunction::Divide),
    Some(MathFunction::Power),
    Some(MathFunction::IntQuotientRemainder),
    Some(MathFunction::IntQuotient),
    Some(MathFunction::IntRemainder),
    Some(MathFunction::InverseMacro),
    Some(MathFunction::InverseSquareRootMacro),
];

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

/// The type tables, one constant for each that is printed.
pub(crate) mod tables {
    use super::Origin::{G45, Iga, Kernels, Manual, Mesa};
    use super::*;

    pub const NO_OPERANDS: &[Signature] = &[];
    /// add (2a); F and HF together: IGA.
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
    /// cmp (2a).
    pub const CMP: &[Signature] = ADD;
    /// cmpn (2a): no qwords, no halves from integers.
    pub const CMPN: &[Signature] = &[
        two(INT, INT, Manual),
        two(F, INT, Manual),
        two(F, F, Manual),
        two(DF, DF, Manual),
        two(HF, HF, Manual),
        two(MIXED, MIXED, Iga),
    ];
    /// avg (2a).
    pub const AVG: &[Signature] = &[two(INT, INT, Manual)];
    /// and, or, xor, asr (2a).
    pub const LOGIC: &[Signature] = &[two(INT, INT, Manual), two(WIDE, WIDE, Manual)];
    /// not (2a).
    pub const NOT: &[Signature] = &[one(INT, INT, Manual), one(WIDE, WIDE, Manual)];
    /// shl: the older manual has the integers of its time.
    pub const SHL: &[Signature] = &[two(INT, INT, G45), two(WIDE, WIDE, Iga)];
    /// shr: IGA has unsigned types only, since it is logical; kernels have signed ones too.
    pub const SHR: &[Signature] = &[two(INT, INT, G45), two(WIDE, WIDE, Kernels)];
    /// mov.
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
    /// movi: it moves, it does not convert.
    pub const MOVI: &[Signature] = &[
        one(set!(Ub), set!(Ub), Iga),
        one(set!(B), set!(B), Iga),
        one(set!(Uw), set!(Uw), Iga),
        one(set!(W), set!(W), Iga),
        one(UD, UD, Iga),
        one(D, D, Iga),
        one(F, F, Iga),
    ];
    /// sel.
    pub const SEL: &[Signature] = &[
        two(INT, INT, G45),
        two(F, F, G45),
        two(DF, DF, Iga),
        two(HF, HF, Iga),
        two(WIDE, WIDE, Iga),
        two(MIXED, MIXED, Iga),
    ];
    /// smov: types are all that is published.
    pub const SMOV: &[Signature] =
        &[two(set!(Uw W Ud D Uq Q F Df), set!(Uw W Ud D Uq Q F Df), Iga)];
    /// csel (2a).
    pub const CSEL: &[Signature] = &[three(F, F, Manual)];
    /// lrp (2a).
    pub const LRP: &[Signature] = &[three(F, F, Manual)];
    /// bfe, bfi2 (2a).
    pub const BIT_FIELD_THREE: &[Signature] = &[three(UD, UD, Manual), three(D, D, Manual)];
    /// bfi1 (2a).
    pub const BFI1: &[Signature] = &[two(UD, UD, Manual), two(D, D, Manual)];
    /// fbl (2a); a word: kernels.
    pub const FBL: &[Signature] = &[one(UD, UD, Manual), one(UD, set!(Uw), Kernels)];
    /// bfrev (2a).
    pub const UD_ONE: &[Signature] = &[one(UD, UD, Manual)];
    /// lzd, fbh (2a).
    pub const DWORD_TO_UD: &[Signature] = &[one(UD, DWORD, Manual)];
    /// cbit (2a).
    pub const CBIT: &[Signature] = &[one(UD, set!(Ub Uw Ud), Manual)];
    /// addc, subb (2a).
    pub const UD_TWO: &[Signature] = &[two(UD, UD, Manual)];
    /// mach: two dwords of one signedness.
    pub const MACH: &[Signature] = &[two(UD, UD, Iga), two(D, D, Iga), two(D, UD, Kernels)];
    /// mul: qword products of dwords as Mesa's compiler makes them.
    pub const MUL: &[Signature] = &[
        two(INT, INT, G45),
        two(QWORD, DWORD, Mesa),
        two(F, F, G45),
        two(DF, DF, Iga),
        two(HF, HF, Iga),
        two(MIXED, MIXED, Iga),
    ];
    /// mac: a product of bytes or words.
    pub const MAC: &[Signature] = &[
        two(INT, BYTE.with(WORD), Iga),
        two(F, F, G45),
        two(DF, DF, Iga),
        two(HF, HF, Iga),
        two(MIXED, MIXED, Iga),
    ];
    /// mad: all sources have one type.
    pub const MAD: &[Signature] = &[three(F, F, Iga), three(DF, DF, Iga), three(MIXED, MIXED, Iga)];
    /// madm.
    pub const MADM: &[Signature] = &[three(F, F, Iga), three(DF, DF, Iga)];
    /// sad2, sada2.
    pub const SAD: &[Signature] = &[two(WORD, BYTE, Iga)];
    /// frc (2a).
    pub const FRC: &[Signature] = &[one(F, F, Manual)];
    /// rndu, rndd, rnde, rndz.
    pub const ROUND: &[Signature] = &[one(F, F, G45)];
    /// dp2, dp3, dp4, dph, line (2a).
    pub const FLOAT_TWO: &[Signature] = &[two(F, F, Manual)];
    /// pln.
    pub const PLN: &[Signature] = &[two(F, F, G45)];
    /// Functions of floats: F (2a math); halves: IGA.
    pub const MATH_ONE: &[Signature] = &[one(F, F, Manual), one(MIXED, MIXED, Iga)];
    /// pow, fdiv.
    pub const MATH_TWO: &[Signature] = &[two(F, F, Manual), two(MIXED, MIXED, Iga)];
    /// Integer division (2a math).
    pub const MATH_DIVISION: &[Signature] =
        &[two(UD, UD, Manual), two(D, D, Manual), two(D, UD, Kernels)];
    /// First step of the division macro.
    pub const MATH_INVM: &[Signature] = &[two(F, F, Manual), two(DF, DF, Iga)];
    /// First step of the square root macro.
    pub const MATH_RSQRTM: &[Signature] = &[one(F, F, Manual), one(DF, DF, Iga)];
    /// jmpi, brd, brc (2a): the distance, where it is in a register.
    pub const DISTANCE: &[Signature] = &[one(NONE, D, Manual)];
    /// call, calla (2a): the return address, and the target where it is in a register.
    pub const CALL: &[Signature] = &[one(DWORD, D, Manual)];
    /// ret.
    pub const RET: &[Signature] = &[one(NONE, DWORD, Iga)];
    /// wait: the notification register.
    pub const WAIT: &[Signature] = &[one(NONE, UD, Iga)];
}

impl MathFunction {
    /// The types that its operands may have.
    pub const fn signatures(self) -> &'static [Signature] {
        match self {
            MathFunction::Inverse
            | MathFunction::Log
            | MathFunction::Exp
            | MathFunction::SquareRoot
            | MathFunction::InverseSquareRoot
            | MathFunction::Sin
            | MathFunction::Cos => tables::MATH_ONE,
            MathFunction::Divide | MathFunction::Power => tables::MATH_TWO,
            MathFunction::IntQuotientRemainder
            | MathFunction::IntQuotient
            | MathFunction::IntRemainder => tables::MATH_DIVISION,
            MathFunction::InverseMacro => tables::MATH_INVM,
            MathFunction::InverseSquareRootMacro => tables::MATH_RSQRTM,
        }
    }
}

impl Opcode {
    /// The types that its operands may have, as rows; none for messages and operations without
    /// typed operands. Those of `math` depend on the function: [`MathFunction::signatures`].
    pub fn signatures(self) -> &'static [Signature] {
        self.op().signatures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::format;

    #[test]
    fn every_combination_is_listed_once() {
        let all: alloc::vec::Vec<_> = combinations().map(|c| format!("{c}")).collect();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        for c in combinations() {
            let sources: alloc::vec::Vec<_> = c.sources.iter().flatten().copied().collect();
            assert!(
                rows(c.opcode, c.math).iter().any(|row| row.allows(c.destination, &sources)),
                "{c}"
            );
            let count = c.math.map_or(c.opcode.op().sources, MathFunction::sources);
            let branch = matches!(c.opcode.op().format, Format::BranchOne | Format::BranchTwo);
            assert!(branch || sources.len() == usize::from(count), "{c}");
        }
    }

    /// The tables of add and cmpn as 2a prints them (2a add, cmpn).
    #[test]
    fn rows_of_the_manual() {
        let allows = |opcode: Opcode, destination, sources: &[DataType]| {
            opcode.signatures().iter().any(|row| row.allows(Some(destination), sources))
        };
        use DataType::*;
        assert!(allows(Opcode::Add, F, &[D, Uw]));
        assert!(!allows(Opcode::Add, D, &[F, F]), "only mov makes integers of floats");
        assert!(!allows(Opcode::Add, F, &[D, F]), "integers and floats do not mix");
        assert!(allows(Opcode::Add, Q, &[W, D]));
        assert!(!allows(Opcode::Add, Q, &[B, D]), "no bytes with qwords");
        assert!(!allows(Opcode::Cmpn, Q, &[Q, Q]));
        assert!(allows(Opcode::Add, W, &[W, V]), "v is read as w");
        assert!(!allows(Opcode::Mov, Df, &[Hf]));
        assert!(!allows(Opcode::Mad, F, &[F, Hf, F]), "one type for three sources");
    }
}
