//! Sets of types, and rows of the type tables.

use crate::types::DataType;
use core::fmt;

/// A set of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct TypeSet(u16);

impl TypeSet {
    /// The empty set: the operand does not exist.
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

    /// The set of the given types.
    pub const fn of(types: &[DataType]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < types.len() {
            bits |= 1 << types[index] as u16;
            index += 1;
        }
        TypeSet(bits)
    }

    /// The types of both sets.
    pub const fn with(self, other: Self) -> Self {
        TypeSet(self.0 | other.0)
    }

    /// True if the set contains no type.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if the set contains the type of the elements of an operand of type `ty`.
    pub const fn contains(self, ty: DataType) -> bool {
        self.0 & 1 << ty.element() as u16 != 0
    }

    /// The types, from the narrowest on.
    pub fn iter(self) -> impl Iterator<Item = DataType> + Clone {
        TypeSet::ALL.into_iter().filter(move |ty| self.contains(*ty))
    }
}

/// Prints the types as assemblers write them: `ud,d`.
impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ty) in self.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { "," } else { "" }, ty.name())?;
        }
        Ok(())
    }
}

impl DataType {
    /// The type of the unpacked elements of an immediate vector. Any other type is returned
    /// unchanged.
    pub const fn element(self) -> DataType {
        match self {
            DataType::V => DataType::W,
            DataType::Uv => DataType::Uw,
            DataType::Vf => DataType::F,
            other => other,
        }
    }
}

/// The document or tool that a row of types comes from.
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
    /// Only kernels that drivers run on Broadwell (the corpus), no document.
    Kernels,
}

impl Origin {
    /// A short name for text output.
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

/// A row of a type table. Every destination type is legal with every choice of source types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Types of the destination; empty without a destination.
    pub destination: TypeSet,
    /// Types of each source; empty after the last source.
    pub sources: [TypeSet; 3],
    /// True if all sources must have the same type: the encoding of three sources has one field for
    /// the type, and integer division requires it.
    pub one_type: bool,
    /// The document or tool that this row comes from.
    pub origin: Origin,
}

impl Signature {
    /// True if the row contains operands of these types. `sources` are the existing sources.
    pub fn allows(&self, destination: Option<DataType>, sources: &[DataType]) -> bool {
        let destination =
            destination.map_or(self.destination.is_empty(), |ty| self.destination.contains(ty));
        let fits = sources.iter().zip(self.sources).all(|(ty, set)| set.contains(*ty));
        let count = self.sources.iter().filter(|set| !set.is_empty()).count();
        let one = !self.one_type || sources.iter().all(|ty| ty.element() == sources[0].element());
        destination && fits && count == sources.len() && one
    }
}

/// Prints `ud,d <- ub,b · ud,d`. If all sources have the same set, the set is printed once.
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
