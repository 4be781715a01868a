//! Legal combinations of types.

use crate::properties::Format;
use crate::signature::rows::{Origin, Signature, TypeSet};
use crate::table::{OPS, Opcode, types};
use crate::types::{DataType, MathFunction};
use core::fmt;

/// One legal choice of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Combination {
    /// The operation.
    pub opcode: Opcode,
    /// The function, if the operation is `math`.
    pub math: Option<MathFunction>,
    /// Type of the destination, if there is one.
    pub destination: Option<DataType>,
    /// Types of the sources; `None` for a source that the operation does not have.
    pub sources: [Option<DataType>; 3],
    /// The document or tool that this combination comes from.
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

/// Iterates over every legal combination of operation, math function and types, each once. Messages
/// (their types have no meaning) and operations without operands have no combinations.
pub fn combinations() -> impl Iterator<Item = Combination> {
    OPS.iter().flat_map(|op| {
        let functions: &'static [Option<MathFunction>] = match op.format {
            Format::Math => &MATH_FUNCTIONS,
            _ => &[None],
        };
        functions.iter().flat_map(move |math| of_rows(op.opcode, *math, rows_of(op.opcode, *math)))
    })
}

/// The rows of an operation or, for `math`, of its function.
pub(crate) fn rows_of(opcode: Opcode, math: Option<MathFunction>) -> &'static [Signature] {
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

/// The types of a set; a single `None` if there is no operand.
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
    /// The types that the operands of the function may have.
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
    /// The types that the operands of the operation may have, as rows. Messages and operations
    /// without typed operands have no rows. Those of `math` depend on the function:
    /// [`MathFunction::signatures`].
    pub fn signatures(self) -> &'static [Signature] {
        self.op().signatures
    }
}
