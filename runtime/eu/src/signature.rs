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
use crate::ops::Format;
use crate::table::{OPS, Opcode, types};
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
            | MathFunction::Cos => types::MATH_ONE,
            MathFunction::Divide | MathFunction::Power => types::MATH_TWO,
            MathFunction::IntQuotientRemainder
            | MathFunction::IntQuotient
            | MathFunction::IntRemainder => types::MATH_DIVISION,
            MathFunction::InverseMacro => types::MATH_INVM,
            MathFunction::InverseSquareRootMacro => types::MATH_RSQRTM,
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
