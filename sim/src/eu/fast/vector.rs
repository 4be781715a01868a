//! The bodies of the fast path that compiled kernels have too.

/// What an instruction computes in each lane. The rows in [`crate::eu::ops`] say which instructions
/// do; [`crate::eu::compile`] translates them.
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
}

/// What the lanes of the sources and of the result are.
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
}

impl Vector {
    /// What the lanes are.
    pub fn lanes(self) -> Lanes {
        use Vector::*;
        match self {
            Copy | Not | And | Or | Xor | Shl | Shr | Asr | IntAdd | IntMul | MinSigned
            | MinUnsigned | MaxSigned | MaxUnsigned | SelectInt => Lanes::Ints,
            FloatAdd | FloatMul | FloatMulAdd | RoundDown | RoundUp | RoundEven | RoundZero
            | MinFloat | MaxFloat | SelectFloat | Line | Plane => Lanes::Floats,
            EqualInt | LessSigned | LessUnsigned | EqualFloat | LessFloat | AtMostFloat => {
                Lanes::Comparison
            }
            ToInt | ToFloat => Lanes::Conversion,
        }
    }
}
