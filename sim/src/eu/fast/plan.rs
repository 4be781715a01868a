//! The plan: the data that the fast path needs to execute an instruction. [`super::choose`] makes
//! it once, when the instruction is decoded.

use super::vector::Vector;
use crate::eu::types::Type;

/// The type and the spacing of the elements of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Form {
    /// One element for all channels.
    Dword,
    Word,
    SignedWord,
    Byte,
    SignedByte,
    /// Adjacent elements.
    Dwords,
    Words,
    SignedWords,
    Bytes,
    SignedBytes,
    /// Every second element.
    DwordsBy2,
    WordsBy2,
    SignedWordsBy2,
    BytesBy2,
    SignedBytesBy2,
    /// Every fourth element.
    DwordsBy4,
    WordsBy4,
    SignedWordsBy4,
    BytesBy4,
    SignedBytesBy4,
    /// Each element by itself: at an offset of the source's table, at an address, or in a packed
    /// vector immediate.
    DwordsAt,
    WordsAt,
    SignedWordsAt,
    BytesAt,
    SignedBytesAt,
    /// One integer of 64 bits for all channels.
    Qword,
    /// Adjacent integers of 64 bits.
    Qwords,
    /// No operand.
    Nothing,
    /// Destinations only: any other distance between elements.
    Other,
}

/// How far apart the elements of neighbouring channels are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    Same,
    Next,
    By2,
    By4,
    Table,
}

impl Form {
    /// The form of elements of type F or of an integer type; `None` for others.
    pub(super) fn of(ty: Type, spacing: Spacing) -> Option<Form> {
        use Form::*;
        let forms = match ty {
            Type::D | Type::Ud | Type::F => [Dword, Dwords, DwordsBy2, DwordsBy4, DwordsAt],
            Type::Uw => [Word, Words, WordsBy2, WordsBy4, WordsAt],
            Type::W => [SignedWord, SignedWords, SignedWordsBy2, SignedWordsBy4, SignedWordsAt],
            Type::Ub => [Byte, Bytes, BytesBy2, BytesBy4, BytesAt],
            Type::B => [SignedByte, SignedBytes, SignedBytesBy2, SignedBytesBy4, SignedBytesAt],
            Type::Uq | Type::Q => match spacing {
                Spacing::Same => return Some(Qword),
                Spacing::Next => return Some(Qwords),
                Spacing::By2 | Spacing::By4 | Spacing::Table => return None,
            },
            Type::Hf | Type::Df => return None,
        };
        Some(forms[spacing as usize])
    }
}

/// The value of [`Place::address`] for operands without an address register.
pub const DIRECT: u8 = u8::MAX;

/// Where an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Type and spacing of the operand's elements.
    pub form: Form,
    /// Subregister of `a0` to which `offset` is added, or [`DIRECT`].
    pub address: u8,
    /// First byte in the register file; with an address register, the distance in bytes from the
    /// address.
    pub offset: i16,
    /// Number of bytes that an access may touch; 0 if each element has an offset of its own.
    pub extent: u16,
}

impl Place {
    pub(super) const NOTHING: Place =
        Place { form: Form::Nothing, address: DIRECT, offset: 0, extent: 0 };
}

/// A source: where it is, and how its bits are modified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Where the source is. A constant is read from the null register, which is zero; `flip` has
    /// the bits of the constant.
    pub place: Place,
    /// Index of the source of the uop. Comparisons may swap the sources.
    pub source: u8,
    /// Bits that are inverted: all for the negative or the complement of an integer, the sign for
    /// the negative of a float. For integers of 64 bits, the highest bit is extended to the upper
    /// 32 bits.
    pub flip: u32,
    /// Integers: added after `flip`; one for the negative. Floats: the bits that are kept before
    /// `flip`; all but the sign for the absolute value.
    pub second: u32,
}

/// How results are clamped to the range of the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clamp {
    /// No clamp: the low bits are stored.
    None,
    /// Clamped as signed numbers.
    Signed,
    /// Clamped as unsigned numbers.
    Unsigned,
}

/// An operation of the fast path: its number in the tables of [`crate::eu::ops`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Operation(u8);

impl Operation {
    /// No operation: the instruction takes the general path.
    pub const NONE: Operation = Operation(0);

    /// The operation with this number.
    pub(in crate::eu) const fn from_index(index: usize) -> Operation {
        Operation(index as u8)
    }

    /// Number of the operation.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How the fast path executes an instruction. It fills one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub struct Plan {
    /// The operation to run; [`Operation::NONE`] for the general path.
    pub operation: Operation,
    /// Base-2 logarithm of the number of channels.
    pub size: u8,
    /// True if results need more than a store: they are clamped, or they set flags.
    pub more: bool,
    /// For comparisons: true if the flag is the opposite of the result of the operation's body.
    pub opposite: bool,
    /// How integer results are clamped.
    pub clamp: Clamp,
    /// Type of the results that the condition compares with zero.
    pub seen: Type,
    /// The operation in compiled kernels; `None` if they leave it to the fast path.
    pub vector: Option<Vector>,
    /// Destination.
    pub dst: Place,
    /// Sources.
    pub src: [Operand; 3],
}

impl Plan {
    /// The plan of an instruction that takes the general path.
    pub const NONE: Plan = Plan {
        operation: Operation::NONE,
        size: 0,
        more: false,
        opposite: false,
        clamp: Clamp::None,
        seen: Type::D,
        vector: None,
        dst: Place::NOTHING,
        src: [Operand { place: Place::NOTHING, source: 0, flip: 0, second: 0 }; 3],
    };
}
