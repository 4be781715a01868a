//! The operations that compiled kernels support. The fast path has each of them, too.

/// What an instruction computes in each lane. A row of the tables in [`crate::eu::ops`] names the
/// operation of its instructions; compiled kernels have machine code for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the rows of the tables say what they compute")]
pub enum Vector {
    Copy,
    Not,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Asr,
    IntAdd,
    IntMul,
    MinSigned,
    MinUnsigned,
    MaxSigned,
    MaxUnsigned,
    SelectInt,
    EqualInt,
    LessSigned,
    LessUnsigned,
    FloatAdd,
    FloatMul,
    FloatMulAdd,
    RoundDown,
    RoundUp,
    RoundEven,
    RoundZero,
    Fraction,
    Inverse,
    Divide,
    Root,
    InverseRoot,
    MinFloat,
    MaxFloat,
    SelectFloat,
    EqualFloat,
    LessFloat,
    AtMostFloat,
    ToInt,
    ToFloat,
    Line,
    Plane,
    CopyLong,
    AndLong,
    OrLong,
    ShlLong,
    LongAdd,
}

/// Types of the sources and of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Integers.
    Ints,
    /// Floats.
    Floats,
    /// Sources of any type; the result is a flag.
    Comparison,
    /// Integers to floats, or floats to integers.
    Conversion,
    /// Integers, at least one of them with 64 bits.
    Longs,
}

impl Vector {
    /// Types of the sources and of the result.
    pub fn lanes(self) -> Lanes {
        use Vector::*;
        match self {
            Copy | Not | And | Or | Xor | Shl | Shr | Asr | IntAdd | IntMul | MinSigned
            | MinUnsigned | MaxSigned | MaxUnsigned | SelectInt => Lanes::Ints,
            FloatAdd | FloatMul | FloatMulAdd | RoundDown | RoundUp | RoundEven | RoundZero
            | Fraction | Inverse | Divide | Root | InverseRoot | MinFloat | MaxFloat
            | SelectFloat | Line | Plane => Lanes::Floats,
            EqualInt | LessSigned | LessUnsigned | EqualFloat | LessFloat | AtMostFloat => {
                Lanes::Comparison
            }
            ToInt | ToFloat => Lanes::Conversion,
            CopyLong | AndLong | OrLong | ShlLong | LongAdd => Lanes::Longs,
        }
    }
}
