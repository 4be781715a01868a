//! The rules of the fast path: which instructions a body can execute, and how.

use super::plan::Clamp;
use crate::assumptions::MATH_KEEPS_SUBNORMALS_BY_MODE;
use crate::eu::regions::GRF_BYTES;
use crate::eu::uop::{Condition, ExecType, MathFunction, Shape, Src, Type, Uop};

/// The types that a body of the fast path is for. Integers have up to 32 bits unless the class says
/// otherwise, floats are singles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// From integers to integers.
    Int,
    /// From integers to integers, at least one of them with 64 bits.
    Long,
    /// From floats to floats.
    Float,
    /// From integers to floats.
    IntToFloat,
    /// From floats to integers.
    FloatToInt,
    /// Comparison of integers. The destination has any type.
    CompareInts,
    /// Comparison of floats. The destination has any type.
    CompareFloats,
}

impl Class {
    /// True if the body is for instructions with these types. `long` is true if an operand is an
    /// integer of 64 bits, `floats` if all sources are floats, `to_float` if the destination is a
    /// float.
    pub fn takes(self, long: bool, floats: bool, to_float: bool) -> bool {
        if long {
            return self == Class::Long && !floats && !to_float;
        }
        match self {
            Class::Long => false,
            Class::Int => !floats && !to_float,
            Class::Float => floats && to_float,
            Class::IntToFloat => !floats && to_float,
            Class::FloatToInt => floats && !to_float,
            Class::CompareInts => !floats,
            Class::CompareFloats => floats,
        }
    }

    /// True for comparisons. Their condition compares the sources, not the result with zero.
    pub fn compares(self) -> bool {
        matches!(self, Class::CompareInts | Class::CompareFloats)
    }
}

/// How a body executes an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// How integer results are saturated. `None` if the lanes do not hold the whole result: then
    /// the fast path cannot saturate it.
    pub saturation: Option<Clamp>,
    /// How results are clamped even without saturation.
    pub clamp: Clamp,
    /// True if sources 0 and 1 are exchanged.
    pub swap: bool,
    /// True if the flag is the opposite of the body's result.
    pub opposite: bool,
    /// True if the body works on the bits of float sources.
    pub raw: bool,
}

impl Choice {
    const PLAIN: Choice =
        Choice { saturation: None, clamp: Clamp::None, swap: false, opposite: false, raw: false };
}

/// Whether the 32-bit lanes hold the numbers of a source. In the manual's arithmetic, numbers have
/// any number of bits.
#[derive(Clone, Copy)]
pub struct Exact {
    /// True if the lanes, read as signed numbers, equal the numbers of the source.
    pub signed: bool,
    /// True if the lanes, read as unsigned numbers, equal the numbers of the source.
    pub unsigned: bool,
}

fn exact(src: &Src) -> Exact {
    match (src.ty, &src.shape) {
        (Type::D | Type::Ud, Shape::Immediate(bits)) if *bits as u32 <= i32::MAX as u32 => {
            Exact { signed: true, unsigned: true }
        }
        (Type::D, _) => Exact { signed: !src.negate, unsigned: false },
        (Type::Ud, _) => Exact { signed: false, unsigned: !src.negate },
        (Type::Uw | Type::Ub, _) => Exact { signed: true, unsigned: !src.negate },
        _ => Exact { signed: true, unsigned: false },
    }
}

/// Properties of an instruction that the rules use.
pub struct Facts<'u> {
    /// The instruction.
    pub u: &'u Uop,
    /// The sources of the instruction.
    pub sources: &'u [Src],
    /// True if the lanes of all sources, read as signed numbers, equal the sources' numbers.
    pub signed: bool,
    /// True if the lanes of all sources, read as unsigned numbers, equal the sources' numbers.
    pub unsigned: bool,
    /// Whether the lanes of source 0, read as signed or unsigned numbers, equal its numbers.
    pub first: Exact,
    /// True if the sources have at most 16 bits.
    pub word: bool,
}

impl<'u> Facts<'u> {
    /// The facts about an instruction with these sources.
    pub fn new(u: &'u Uop, sources: &'u [Src]) -> Facts<'u> {
        Facts {
            u,
            sources,
            signed: sources.iter().all(|src| exact(src).signed),
            unsigned: sources.iter().all(|src| exact(src).unsigned),
            first: sources.first().map_or(Exact { signed: false, unsigned: false }, exact),
            word: u.exec == ExecType::Word,
        }
    }

    /// Chooses the body for the instruction, unless the instruction saturates an integer result.
    /// The sources are not swapped and the results are not clamped.
    pub fn always(&self) -> Option<Choice> {
        Some(Choice::PLAIN)
    }

    /// Like [`always`](Self::always) if `condition` is true, else `None`.
    pub fn when(&self, condition: bool) -> Option<Choice> {
        condition.then_some(Choice::PLAIN)
    }

    /// Chooses the body for an instruction with integers of 64 bits, unless it saturates or sets
    /// flags.
    pub fn long(&self) -> Option<Choice> {
        self.when(!self.u.saturate && self.u.condition.is_none())
    }

    /// As [`long`](Self::long), for shifts whose count has 6 bits.
    pub fn long_shift(&self) -> Option<Choice> {
        let long = |ty: Type| matches!(ty, Type::Q | Type::Uq);
        if long(self.u.dst.ty) || long(self.sources[0].ty) { self.long() } else { None }
    }

    /// Chooses the body for the instruction. The lanes hold the whole result as signed numbers if
    /// `signed`, as unsigned numbers if `unsigned`.
    pub fn exact_as(&self, signed: bool, unsigned: bool) -> Option<Choice> {
        let saturation = match (signed, unsigned) {
            (true, _) => Some(Clamp::Signed),
            (_, true) => Some(Clamp::Unsigned),
            _ => None,
        };
        Some(Choice { saturation, ..Choice::PLAIN })
    }

    /// Chooses the body for the instruction. The lanes hold the whole result if the lanes of the
    /// sources hold all numbers of the sources.
    pub fn exact(&self) -> Option<Choice> {
        self.exact_as(self.signed, self.unsigned)
    }

    /// Like [`exact`](Self::exact) if `condition` is true, else `None`.
    pub fn exact_if(&self, condition: bool) -> Option<Choice> {
        if condition { self.exact() } else { None }
    }

    /// Chooses the body for the instruction. The lanes hold the low bits of the result, and the
    /// whole result only if `whole`.
    pub fn low_bits(&self, whole: bool) -> Option<Choice> {
        if whole { self.exact() } else { self.always() }
    }

    /// True if all sources are unsigned words, whose product needs all 32 bits.
    pub fn unsigned_words(&self) -> bool {
        self.sources.iter().all(|src| src.ty == Type::Uw)
    }

    /// True if the lesser of two sources is selected.
    pub fn selects_less(&self) -> bool {
        matches!(self.u.select, Some(Condition::Less | Condition::LessEqual))
    }

    /// True if the greater of two sources is selected.
    pub fn selects_greater(&self) -> bool {
        matches!(self.u.select, Some(Condition::Greater | Condition::GreaterEqual))
    }

    /// True if the predicate selects between two sources.
    pub fn selects_by_predicate(&self) -> bool {
        self.u.select.is_none() && self.u.predicate.is_some()
    }

    /// The choice for a body that computes `a == b`; `None` if the condition is neither `==` nor
    /// `!=`.
    pub fn equality(&self) -> Option<Choice> {
        let opposite = match self.u.condition? {
            Condition::Equal => false,
            Condition::NotEqual => true,
            _ => return None,
        };
        Some(Choice { opposite, ..Choice::PLAIN })
    }

    /// The choice for a body that computes `a < b` of integers; `None` if the condition is not `<`,
    /// `<=`, `>` or `>=`.
    pub fn order(&self) -> Option<Choice> {
        let (swap, opposite) = match self.u.condition? {
            Condition::Less => (false, false),
            Condition::GreaterEqual => (false, true),
            Condition::Greater => (true, false),
            Condition::LessEqual => (true, true),
            _ => return None,
        };
        Some(Choice { swap, opposite, ..Choice::PLAIN })
    }

    /// The choice for a body that computes `a < b` of floats; `None` if the condition is neither
    /// `<` nor `>`.
    pub fn strict_order(&self) -> Option<Choice> {
        let swap = match self.u.condition? {
            Condition::Less => false,
            Condition::Greater => true,
            _ => return None,
        };
        Some(Choice { swap, ..Choice::PLAIN })
    }

    /// The choice for a body that computes `a <= b` of floats; `None` if the condition is neither
    /// `<=` nor `>=`.
    pub fn weak_order(&self) -> Option<Choice> {
        let swap = match self.u.condition? {
            Condition::LessEqual => false,
            Condition::GreaterEqual => true,
            _ => return None,
        };
        Some(Choice { swap, ..Choice::PLAIN })
    }

    /// True if a float is copied without modifiers and saturation.
    pub fn plain_copy(&self) -> bool {
        self.sources[0].plain() && !self.u.saturate
    }

    /// The choice for a copy of bits; `None` if there are modifiers, saturation, or a condition on
    /// the result.
    pub fn raw(&self) -> Option<Choice> {
        let raw = self.plain_copy() && self.u.condition.is_none();
        raw.then_some(Choice { raw: true, ..Choice::PLAIN })
    }

    /// The choice for a conversion from float by a body that returns D (`signed`) or UD. UD
    /// destinations need the body for UD, all others the body for D. The results are always
    /// clamped, so saturation changes nothing.
    pub fn to_ints(&self, signed: bool) -> Option<Choice> {
        match (signed, self.u.dst.ty) {
            (false, Type::Ud) => self.always(),
            (true, Type::Ud) | (false, _) => None,
            (true, _) => Some(Choice { clamp: Clamp::Signed, ..Choice::PLAIN }),
        }
    }

    /// Chooses the body if the instruction is `math` with this function.
    pub fn math(&self, function: MathFunction) -> Option<Choice> {
        self.when(MATH_KEEPS_SUBNORMALS_BY_MODE && self.u.function == Some(function))
    }

    /// Chooses the body for a line or plane if its coefficients are in general registers and its
    /// coordinates are adjacent elements in general registers.
    pub fn plane(&self) -> Option<Choice> {
        let n = usize::from(self.u.size);
        let whole = |offset: u16| usize::from(offset) + 8 * n.max(8) <= GRF_BYTES;
        self.when(matches!(
            (&self.sources[0].shape, &self.sources[1].shape),
            (Shape::Scalar(tuple), Shape::Contiguous(offset))
                if usize::from(*tuple) < GRF_BYTES && whole(*offset)
        ))
    }
}
