//! Types of operands, and the types that instructions compute in.

/// The type of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Type {
    /// Unsigned byte.
    Ub,
    /// Signed byte.
    B,
    /// Unsigned word (16 bits).
    Uw,
    /// Signed word.
    W,
    /// Unsigned doubleword (32 bits).
    Ud,
    /// Signed doubleword.
    D,
    /// Unsigned quadword (64 bits).
    Uq,
    /// Signed quadword.
    Q,
    /// Half precision float.
    Hf,
    /// Single precision float.
    F,
    /// Double precision float.
    Df,
}

impl Type {
    /// Size of one element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Type::Ub | Type::B => 1,
            Type::Uw | Type::W | Type::Hf => 2,
            Type::Ud | Type::D | Type::F => 4,
            Type::Uq | Type::Q | Type::Df => 8,
        }
    }

    /// True for HF, F and DF.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::Hf | Type::F | Type::Df)
    }

    /// Least and greatest value of an integer type; zeros for floats.
    pub const fn range(self) -> (i128, i128) {
        match self {
            Type::Ub => (0, u8::MAX as i128),
            Type::B => (i8::MIN as i128, i8::MAX as i128),
            Type::Uw => (0, u16::MAX as i128),
            Type::W => (i16::MIN as i128, i16::MAX as i128),
            Type::Ud => (0, u32::MAX as i128),
            Type::D => (i32::MIN as i128, i32::MAX as i128),
            Type::Uq => (0, u64::MAX as i128),
            Type::Q => (i64::MIN as i128, i64::MAX as i128),
            Type::Hf | Type::F | Type::Df => (0, 0),
        }
    }
}

/// The arithmetic that an instruction computes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ExecType {
    /// Integers of at most 16 bits.
    Word,
    /// Integers, the widest of them of 32 bits.
    Dword,
    /// Integers, the widest of them of 64 bits.
    Qword,
    /// Half precision throughout.
    Half,
    /// Single precision.
    Single,
    /// Double precision.
    Double,
}

impl ExecType {
    /// Bits of a number of this type.
    pub const fn bits(self) -> u32 {
        match self {
            ExecType::Word | ExecType::Half => 16,
            ExecType::Dword | ExecType::Single => 32,
            ExecType::Qword | ExecType::Double => 64,
        }
    }

    /// The type that sources of these types are converted to (G45 vol 4 section 11.4.4; Gen8 adds
    /// Q, DF and HF; bytes work as words).
    pub fn of(sources: impl Iterator<Item = Type>) -> ExecType {
        let rank = |ty: Type| match ty {
            Type::Ub | Type::B | Type::Uw | Type::W => (0, ExecType::Word),
            Type::Ud | Type::D => (1, ExecType::Dword),
            Type::Uq | Type::Q => (2, ExecType::Qword),
            Type::Hf => (3, ExecType::Half),
            Type::F => (4, ExecType::Single),
            Type::Df => (5, ExecType::Double),
        };
        sources.map(rank).max_by_key(|&(rank, _)| rank).map_or(ExecType::Dword, |(_, ty)| ty)
    }
}
