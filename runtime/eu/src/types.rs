//! Types of operands, access modes and math functions.

/// Access modes: how operands are addressed (2d p.157).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AccessMode {
    /// Operands are addressed by byte and have regions.
    Align1,
    /// Operands are addressed in units of 16 bytes and have swizzles or write masks.
    Align16,
}

/// Functions of the extended math unit (2b p.20).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum MathFunction {
    /// Reciprocal.
    Inverse,
    /// Logarithm to base 2.
    Log,
    /// Power of two.
    Exp,
    /// Square root.
    SquareRoot,
    /// Reciprocal square root.
    InverseSquareRoot,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Quotient of floats.
    Divide,
    /// First source (its absolute value) to the power of the second.
    Power,
    /// Integer quotient and, in the next register, remainder.
    IntQuotientRemainder,
    /// Integer quotient.
    IntQuotient,
    /// Integer remainder.
    IntRemainder,
    /// First step of the IEEE division macro.
    InverseMacro,
    /// First step of the IEEE square root macro.
    InverseSquareRootMacro,
}

impl MathFunction {
    /// Number of sources, 1 or 2.
    pub const fn sources(self) -> u8 {
        match self {
            MathFunction::Divide
            | MathFunction::Power
            | MathFunction::IntQuotientRemainder
            | MathFunction::IntQuotient
            | MathFunction::IntRemainder
            | MathFunction::InverseMacro => 2,
            _ => 1,
        }
    }

    /// True for the steps of the division and square root macros, which use extended accumulators.
    pub const fn is_macro(self) -> bool {
        matches!(self, MathFunction::InverseMacro | MathFunction::InverseSquareRootMacro)
    }

    /// IGA's name, the part after `math.`.
    pub const fn name(self) -> &'static str {
        match self {
            MathFunction::Inverse => "inv",
            MathFunction::Log => "log",
            MathFunction::Exp => "exp",
            MathFunction::SquareRoot => "sqt",
            MathFunction::InverseSquareRoot => "rsqt",
            MathFunction::Sin => "sin",
            MathFunction::Cos => "cos",
            MathFunction::Divide => "fdiv",
            MathFunction::Power => "pow",
            MathFunction::IntQuotientRemainder => "idiv",
            MathFunction::IntQuotient => "iqot",
            MathFunction::IntRemainder => "irem",
            MathFunction::InverseMacro => "invm",
            MathFunction::InverseSquareRootMacro => "rsqtm",
        }
    }
}

/// Functions of `sync`, of Gen12.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SyncFunction {
    /// Waits for its own scoreboard only.
    Nop,
    /// Waits until the sources of messages are read; the source has a bit for each token.
    AllRead,
    /// Waits until the results of messages are written; the source has a bit for each token.
    AllWritten,
    /// Waits for a barrier.
    Barrier,
    /// Waits for the host.
    Host,
}

impl SyncFunction {
    /// The name in both languages.
    pub const fn name(self) -> &'static str {
        match self {
            SyncFunction::Nop => "nop",
            SyncFunction::AllRead => "allrd",
            SyncFunction::AllWritten => "allwr",
            SyncFunction::Barrier => "bar",
            SyncFunction::Host => "host",
        }
    }
}

/// Numeric types of operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DataType {
    /// Unsigned byte.
    Ub,
    /// Signed byte.
    B,
    /// Unsigned word.
    Uw,
    /// Signed word.
    W,
    /// Unsigned dword.
    Ud,
    /// Signed dword.
    D,
    /// Unsigned qword.
    Uq,
    /// Signed qword.
    Q,
    /// Half float.
    Hf,
    /// Single float.
    F,
    /// Double float.
    Df,
    /// Immediate of eight 4-bit unsigned integers, read as words.
    Uv,
    /// Immediate of eight 4-bit signed integers, read as words.
    V,
    /// Immediate of four restricted 8-bit floats, read as single floats.
    Vf,
    /// Native float of Gen11: the contents of an accumulator, with more bits than a single float.
    Nf,
}

impl DataType {
    /// Size of an element in bytes; for packed vectors the size of an unpacked element, for native
    /// floats the distance of elements.
    pub const fn size(self) -> u8 {
        match self {
            DataType::Ub | DataType::B => 1,
            DataType::Uw | DataType::W | DataType::Hf | DataType::Uv | DataType::V => 2,
            DataType::Ud | DataType::D | DataType::F | DataType::Vf => 4,
            DataType::Uq | DataType::Q | DataType::Df | DataType::Nf => 8,
        }
    }

    /// The assembler's suffix without the colon: `ud`.
    pub const fn name(self) -> &'static str {
        match self {
            DataType::Ub => "ub",
            DataType::B => "b",
            DataType::Uw => "uw",
            DataType::W => "w",
            DataType::Ud => "ud",
            DataType::D => "d",
            DataType::Uq => "uq",
            DataType::Q => "q",
            DataType::Hf => "hf",
            DataType::F => "f",
            DataType::Df => "df",
            DataType::Nf => "nf",
            DataType::Uv => "uv",
            DataType::V => "v",
            DataType::Vf => "vf",
        }
    }

    /// True for half, single, double, native and packed floats.
    pub const fn is_float(self) -> bool {
        matches!(self, DataType::Hf | DataType::F | DataType::Df | DataType::Nf | DataType::Vf)
    }

    /// True for signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self, DataType::B | DataType::W | DataType::D | DataType::Q | DataType::V)
    }
}
