//! Encoded values of fields and their meanings, as tables that are read in both directions.

use crate::gen8::eu_gen4::{CondModifierGen4, SfidGen4};
use crate::gen8::{eu as gen8, eu_gen11, eu_gen12};
use crate::generation::Generation;
use crate::instruction::{
    Arf, Condition, DataType, MathFunction, PredicateControl, SharedFunction, SyncFunction,
    ThreadControl, Vertical,
};

/// Pairs of an encoded value and its meaning.
pub struct Pairs<A: 'static, B: 'static>(&'static [(A, B)]);

impl<A: Copy + PartialEq, B: Copy + PartialEq> Pairs<A, B> {
    /// The meaning of `encoded`; `None` for a reserved value.
    pub fn decode(&self, encoded: A) -> Option<B> {
        self.0.iter().find(|row| row.0 == encoded).map(|row| row.1)
    }

    /// The encoding of `value`; `None` if it has none.
    pub fn encode(&self, value: B) -> Option<A> {
        self.0.iter().find(|row| row.1 == value).map(|row| row.0)
    }
}

/// Number of channels (2b p.19).
pub static EXEC_SIZE: Pairs<gen8::ExecSize, u8> = Pairs(&[
    (gen8::ExecSize::_1, 1),
    (gen8::ExecSize::_2, 2),
    (gen8::ExecSize::_4, 4),
    (gen8::ExecSize::_8, 8),
    (gen8::ExecSize::_16, 16),
    (gen8::ExecSize::_32, 32),
]);

/// Horizontal stride in elements (2b p.21).
pub static HORZ_STRIDE: Pairs<gen8::HorzStride, u8> = Pairs(&[
    (gen8::HorzStride::_0, 0),
    (gen8::HorzStride::_1, 1),
    (gen8::HorzStride::_2, 2),
    (gen8::HorzStride::_4, 4),
]);

/// Elements per row of a region (2b p.46).
pub static WIDTH: Pairs<gen8::Width, u8> = Pairs(&[
    (gen8::Width::_1, 1),
    (gen8::Width::_2, 2),
    (gen8::Width::_4, 4),
    (gen8::Width::_8, 8),
    (gen8::Width::_16, 16),
]);

/// Vertical stride of a region (2b p.45).
pub static VERT_STRIDE: Pairs<gen8::VertStride, Vertical> = Pairs(&[
    (gen8::VertStride::_0, Vertical::Stride(0)),
    (gen8::VertStride::_1, Vertical::Stride(1)),
    (gen8::VertStride::_2, Vertical::Stride(2)),
    (gen8::VertStride::_4, Vertical::Stride(4)),
    (gen8::VertStride::_8, Vertical::Stride(8)),
    (gen8::VertStride::_16, Vertical::Stride(16)),
    (gen8::VertStride::_32, Vertical::Stride(32)),
    (gen8::VertStride::VX_H, Vertical::Addresses),
]);

/// Condition modifier (2b p.13).
pub static CONDITION: Pairs<gen8::CondModifier, Option<Condition>> = Pairs(&[
    (gen8::CondModifier::NONE, None),
    (gen8::CondModifier::Z, Some(Condition::Equal)),
    (gen8::CondModifier::NZ, Some(Condition::NotEqual)),
    (gen8::CondModifier::G, Some(Condition::Greater)),
    (gen8::CondModifier::GE, Some(Condition::GreaterEqual)),
    (gen8::CondModifier::L, Some(Condition::Less)),
    (gen8::CondModifier::LE, Some(Condition::LessEqual)),
    (gen8::CondModifier::O, Some(Condition::Overflow)),
    (gen8::CondModifier::U, Some(Condition::Unordered)),
]);

/// The meaning of a condition modifier on `generation`; `None` for a reserved value.
#[inline]
pub fn condition(generation: Generation, field: gen8::CondModifier) -> Option<Option<Condition>> {
    let round = generation.has_message_registers() && field.bits() == CondModifierGen4::R.bits();
    if round { Some(Some(Condition::Round)) } else { CONDITION.decode(field) }
}

/// The inverse of [`condition`].
pub fn encode_condition(
    generation: Generation,
    condition: Option<Condition>,
) -> Option<gen8::CondModifier> {
    match condition {
        Some(Condition::Round) if generation.has_message_registers() => {
            Some(gen8::CondModifier::from_bits(CondModifierGen4::R.bits()))
        }
        condition => CONDITION.encode(condition),
    }
}

/// Function of `math` (2b p.20).
pub static MATH: Pairs<gen8::Fc, MathFunction> = Pairs(&[
    (gen8::Fc::INV, MathFunction::Inverse),
    (gen8::Fc::LOG, MathFunction::Log),
    (gen8::Fc::EXP, MathFunction::Exp),
    (gen8::Fc::SQRT, MathFunction::SquareRoot),
    (gen8::Fc::RSQ, MathFunction::InverseSquareRoot),
    (gen8::Fc::SIN, MathFunction::Sin),
    (gen8::Fc::COS, MathFunction::Cos),
    (gen8::Fc::FDIV, MathFunction::Divide),
    (gen8::Fc::POW, MathFunction::Power),
    (gen8::Fc::INT_DIV_BOTH, MathFunction::IntQuotientRemainder),
    (gen8::Fc::INT_DIV_QUOTIENT, MathFunction::IntQuotient),
    (gen8::Fc::INT_DIV_REMAINDER, MathFunction::IntRemainder),
    (gen8::Fc::INVM, MathFunction::InverseMacro),
    (gen8::Fc::RSQRTM, MathFunction::InverseSquareRootMacro),
]);

/// Predicate control in Align1 (2b p.23).
pub static PREDICATE_ALIGN1: Pairs<gen8::PredCtrl, Option<PredicateControl>> = Pairs(&[
    (gen8::PredCtrl::NONE, None),
    (gen8::PredCtrl::SEQUENTIAL, Some(PredicateControl::Sequential)),
    (gen8::PredCtrl::ANYV, Some(PredicateControl::AnyV)),
    (gen8::PredCtrl::ALLV, Some(PredicateControl::AllV)),
    (gen8::PredCtrl::ANY2H, Some(PredicateControl::Any(2))),
    (gen8::PredCtrl::ALL2H, Some(PredicateControl::All(2))),
    (gen8::PredCtrl::ANY4H, Some(PredicateControl::Any(4))),
    (gen8::PredCtrl::ALL4H, Some(PredicateControl::All(4))),
    (gen8::PredCtrl::ANY8H, Some(PredicateControl::Any(8))),
    (gen8::PredCtrl::ALL8H, Some(PredicateControl::All(8))),
    (gen8::PredCtrl::ANY16H, Some(PredicateControl::Any(16))),
    (gen8::PredCtrl::ALL16H, Some(PredicateControl::All(16))),
    (gen8::PredCtrl::ANY32H, Some(PredicateControl::Any(32))),
    (gen8::PredCtrl::ALL32H, Some(PredicateControl::All(32))),
]);

/// Predicate control in Align16 (2b p.23).
pub static PREDICATE_ALIGN16: Pairs<gen8::PredCtrlAlign16, Option<PredicateControl>> = Pairs(&[
    (gen8::PredCtrlAlign16::NONE, None),
    (gen8::PredCtrlAlign16::SEQUENTIAL, Some(PredicateControl::Sequential)),
    (gen8::PredCtrlAlign16::X, Some(PredicateControl::Replicate(0))),
    (gen8::PredCtrlAlign16::Y, Some(PredicateControl::Replicate(1))),
    (gen8::PredCtrlAlign16::Z, Some(PredicateControl::Replicate(2))),
    (gen8::PredCtrlAlign16::W, Some(PredicateControl::Replicate(3))),
    (gen8::PredCtrlAlign16::ANY4H, Some(PredicateControl::Any(4))),
    (gen8::PredCtrlAlign16::ALL4H, Some(PredicateControl::All(4))),
]);

/// Thread control (2b p.44).
pub static THREAD: Pairs<gen8::ThreadCtrl, ThreadControl> = Pairs(&[
    (gen8::ThreadCtrl::NORMAL, ThreadControl::Normal),
    (gen8::ThreadCtrl::ATOMIC, ThreadControl::Atomic),
    (gen8::ThreadCtrl::SWITCH, ThreadControl::Switch),
]);

/// Thread control that Gen8 does not have.
pub static THREAD_GEN11: Pairs<gen8::ThreadCtrl, ThreadControl> = Pairs(&[(
    gen8::ThreadCtrl::from_bits(eu_gen11::ThreadCtrlGen11::NO_PREEMPT.bits()),
    ThreadControl::NoPreempt,
)]);

/// Scoreboard controls as (no clear, no check) (2b p.14).
pub static DEPENDENCY: Pairs<gen8::DepCtrl, (bool, bool)> = Pairs(&[
    (gen8::DepCtrl::NONE, (false, false)),
    (gen8::DepCtrl::NO_DDCLR, (true, false)),
    (gen8::DepCtrl::NO_DDCHK, (false, true)),
    (gen8::DepCtrl::NO_DDCLR_NO_DDCHK, (true, true)),
]);

/// The meanings of the type fields of a generation, by value.
pub struct Types {
    /// Types of destinations and of register sources.
    register: [Option<DataType>; 16],
    /// Types of immediate sources.
    immediate: [Option<DataType>; 16],
}

impl Types {
    /// The meanings on `generation`.
    #[inline]
    pub fn of(generation: Generation) -> &'static Types {
        match generation {
            Generation::Gen4 | Generation::Gen45 | Generation::Gen5 => &TYPES_GEN4,
            Generation::Gen8 | Generation::Gen9 => &TYPES_GEN8,
            Generation::Gen11 => &TYPES_GEN11,
            Generation::Gen12 => &TYPES_GEN12,
        }
    }

    /// The type of a destination; `None` for a reserved value.
    #[inline]
    pub fn destination(&self, field: gen8::DstType) -> Option<DataType> {
        self.register[field.bits() as usize % 16]
    }

    /// The type of a register source; `None` for a reserved value.
    #[inline]
    pub fn source(&self, field: gen8::SrcType) -> Option<DataType> {
        self.register[field.bits() as usize % 16]
    }

    /// The type of an immediate source; `None` for a reserved value.
    #[inline]
    pub fn immediate(&self, field: gen8::SrcImmType) -> Option<DataType> {
        self.immediate[field.bits() as usize % 16]
    }

    /// The encoding of a destination's type; `None` if it has none.
    pub fn encode_destination(&self, ty: DataType) -> Option<gen8::DstType> {
        number(&self.register, ty).map(gen8::DstType::from_bits)
    }

    /// The encoding of the type of a register source; `None` if it has none.
    pub fn encode_source(&self, ty: DataType) -> Option<gen8::SrcType> {
        number(&self.register, ty).map(gen8::SrcType::from_bits)
    }

    /// The encoding of the type of an immediate source; `None` if it has none.
    pub fn encode_immediate(&self, ty: DataType) -> Option<gen8::SrcImmType> {
        number(&self.immediate, ty).map(gen8::SrcImmType::from_bits)
    }
}

fn number(table: &[Option<DataType>; 16], ty: DataType) -> Option<u64> {
    table.iter().position(|row| *row == Some(ty)).map(|number| number as u64)
}

/// A table by number.
const fn by_number(rows: &[(u64, DataType)]) -> [Option<DataType>; 16] {
    let (mut table, mut index) = ([None; 16], 0);
    while index < rows.len() {
        table[rows[index].0 as usize] = Some(rows[index].1);
        index += 1;
    }
    table
}

/// Types of Gen4 to Gen5 (003:9857, 9864): those of Gen8 that three bits can hold.
static TYPES_GEN4: Types = Types {
    register: by_number(&[
        (gen8::SrcType::UD.bits(), DataType::Ud),
        (gen8::SrcType::D.bits(), DataType::D),
        (gen8::SrcType::UW.bits(), DataType::Uw),
        (gen8::SrcType::W.bits(), DataType::W),
        (gen8::SrcType::UB.bits(), DataType::Ub),
        (gen8::SrcType::B.bits(), DataType::B),
        (gen8::SrcType::F.bits(), DataType::F),
    ]),
    immediate: by_number(&[
        (gen8::SrcImmType::UD.bits(), DataType::Ud),
        (gen8::SrcImmType::D.bits(), DataType::D),
        (gen8::SrcImmType::UW.bits(), DataType::Uw),
        (gen8::SrcImmType::W.bits(), DataType::W),
        (gen8::SrcImmType::VF.bits(), DataType::Vf),
        (gen8::SrcImmType::V.bits(), DataType::V),
        (gen8::SrcImmType::F.bits(), DataType::F),
    ]),
};

/// Types of Gen8 (2b p.15, p.31, p.35). Destinations and sources have the same numbers.
static TYPES_GEN8: Types = Types {
    register: by_number(&[
        (gen8::SrcType::UD.bits(), DataType::Ud),
        (gen8::SrcType::D.bits(), DataType::D),
        (gen8::SrcType::UW.bits(), DataType::Uw),
        (gen8::SrcType::W.bits(), DataType::W),
        (gen8::SrcType::UB.bits(), DataType::Ub),
        (gen8::SrcType::B.bits(), DataType::B),
        (gen8::SrcType::DF.bits(), DataType::Df),
        (gen8::SrcType::F.bits(), DataType::F),
        (gen8::SrcType::UQ.bits(), DataType::Uq),
        (gen8::SrcType::Q.bits(), DataType::Q),
        (gen8::SrcType::HF.bits(), DataType::Hf),
    ]),
    immediate: by_number(&[
        (gen8::SrcImmType::UD.bits(), DataType::Ud),
        (gen8::SrcImmType::D.bits(), DataType::D),
        (gen8::SrcImmType::UW.bits(), DataType::Uw),
        (gen8::SrcImmType::W.bits(), DataType::W),
        (gen8::SrcImmType::UV.bits(), DataType::Uv),
        (gen8::SrcImmType::VF.bits(), DataType::Vf),
        (gen8::SrcImmType::V.bits(), DataType::V),
        (gen8::SrcImmType::F.bits(), DataType::F),
        (gen8::SrcImmType::UQ.bits(), DataType::Uq),
        (gen8::SrcImmType::Q.bits(), DataType::Q),
        (gen8::SrcImmType::DF.bits(), DataType::Df),
        (gen8::SrcImmType::HF.bits(), DataType::Hf),
    ]),
};

/// Types of Gen11.
static TYPES_GEN11: Types = Types {
    register: by_number(&[
        (eu_gen11::RegisterTypeGen11::UD.bits(), DataType::Ud),
        (eu_gen11::RegisterTypeGen11::D.bits(), DataType::D),
        (eu_gen11::RegisterTypeGen11::UW.bits(), DataType::Uw),
        (eu_gen11::RegisterTypeGen11::W.bits(), DataType::W),
        (eu_gen11::RegisterTypeGen11::UB.bits(), DataType::Ub),
        (eu_gen11::RegisterTypeGen11::B.bits(), DataType::B),
        (eu_gen11::RegisterTypeGen11::UQ.bits(), DataType::Uq),
        (eu_gen11::RegisterTypeGen11::Q.bits(), DataType::Q),
        (eu_gen11::RegisterTypeGen11::HF.bits(), DataType::Hf),
        (eu_gen11::RegisterTypeGen11::F.bits(), DataType::F),
        (eu_gen11::RegisterTypeGen11::DF.bits(), DataType::Df),
        (eu_gen11::RegisterTypeGen11::NF.bits(), DataType::Nf),
    ]),
    immediate: by_number(&[
        (eu_gen11::ImmediateTypeGen11::UD.bits(), DataType::Ud),
        (eu_gen11::ImmediateTypeGen11::D.bits(), DataType::D),
        (eu_gen11::ImmediateTypeGen11::UW.bits(), DataType::Uw),
        (eu_gen11::ImmediateTypeGen11::W.bits(), DataType::W),
        (eu_gen11::ImmediateTypeGen11::UV.bits(), DataType::Uv),
        (eu_gen11::ImmediateTypeGen11::V.bits(), DataType::V),
        (eu_gen11::ImmediateTypeGen11::UQ.bits(), DataType::Uq),
        (eu_gen11::ImmediateTypeGen11::Q.bits(), DataType::Q),
        (eu_gen11::ImmediateTypeGen11::HF.bits(), DataType::Hf),
        (eu_gen11::ImmediateTypeGen11::F.bits(), DataType::F),
        (eu_gen11::ImmediateTypeGen11::DF.bits(), DataType::Df),
        (eu_gen11::ImmediateTypeGen11::VF.bits(), DataType::Vf),
    ]),
};

/// Types of Gen12.
static TYPES_GEN12: Types = Types {
    register: by_number(&[
        (eu_gen12::RegisterTypeGen12::UB.bits(), DataType::Ub),
        (eu_gen12::RegisterTypeGen12::UW.bits(), DataType::Uw),
        (eu_gen12::RegisterTypeGen12::UD.bits(), DataType::Ud),
        (eu_gen12::RegisterTypeGen12::UQ.bits(), DataType::Uq),
        (eu_gen12::RegisterTypeGen12::B.bits(), DataType::B),
        (eu_gen12::RegisterTypeGen12::W.bits(), DataType::W),
        (eu_gen12::RegisterTypeGen12::D.bits(), DataType::D),
        (eu_gen12::RegisterTypeGen12::Q.bits(), DataType::Q),
        (eu_gen12::RegisterTypeGen12::HF.bits(), DataType::Hf),
        (eu_gen12::RegisterTypeGen12::F.bits(), DataType::F),
        (eu_gen12::RegisterTypeGen12::DF.bits(), DataType::Df),
    ]),
    immediate: by_number(&[
        (eu_gen12::ImmediateTypeGen12::UV.bits(), DataType::Uv),
        (eu_gen12::ImmediateTypeGen12::UW.bits(), DataType::Uw),
        (eu_gen12::ImmediateTypeGen12::UD.bits(), DataType::Ud),
        (eu_gen12::ImmediateTypeGen12::UQ.bits(), DataType::Uq),
        (eu_gen12::ImmediateTypeGen12::V.bits(), DataType::V),
        (eu_gen12::ImmediateTypeGen12::W.bits(), DataType::W),
        (eu_gen12::ImmediateTypeGen12::D.bits(), DataType::D),
        (eu_gen12::ImmediateTypeGen12::Q.bits(), DataType::Q),
        (eu_gen12::ImmediateTypeGen12::VF.bits(), DataType::Vf),
        (eu_gen12::ImmediateTypeGen12::HF.bits(), DataType::Hf),
        (eu_gen12::ImmediateTypeGen12::F.bits(), DataType::F),
        (eu_gen12::ImmediateTypeGen12::DF.bits(), DataType::Df),
    ]),
};

/// Type of an integer operand of a three-source instruction of Gen12.
pub static THREE_SOURCE_INTEGER_GEN12: Pairs<eu_gen12::ThreeSrcIntegerTypeGen12, DataType> =
    Pairs(&[
        (eu_gen12::ThreeSrcIntegerTypeGen12::UB, DataType::Ub),
        (eu_gen12::ThreeSrcIntegerTypeGen12::UW, DataType::Uw),
        (eu_gen12::ThreeSrcIntegerTypeGen12::UD, DataType::Ud),
        (eu_gen12::ThreeSrcIntegerTypeGen12::UQ, DataType::Uq),
        (eu_gen12::ThreeSrcIntegerTypeGen12::B, DataType::B),
        (eu_gen12::ThreeSrcIntegerTypeGen12::W, DataType::W),
        (eu_gen12::ThreeSrcIntegerTypeGen12::D, DataType::D),
        (eu_gen12::ThreeSrcIntegerTypeGen12::Q, DataType::Q),
    ]);

/// Type of a float operand of a three-source instruction of Gen12.
pub static THREE_SOURCE_FLOAT_GEN12: Pairs<eu_gen12::ThreeSrcFloatTypeGen12, DataType> = Pairs(&[
    (eu_gen12::ThreeSrcFloatTypeGen12::HF, DataType::Hf),
    (eu_gen12::ThreeSrcFloatTypeGen12::F, DataType::F),
    (eu_gen12::ThreeSrcFloatTypeGen12::DF, DataType::Df),
]);

/// Function of `sync`.
pub static SYNC: Pairs<eu_gen12::SyncFunction, SyncFunction> = Pairs(&[
    (eu_gen12::SyncFunction::NOP, SyncFunction::Nop),
    (eu_gen12::SyncFunction::ALLRD, SyncFunction::AllRead),
    (eu_gen12::SyncFunction::ALLWR, SyncFunction::AllWritten),
    (eu_gen12::SyncFunction::BAR, SyncFunction::Barrier),
    (eu_gen12::SyncFunction::HOST, SyncFunction::Host),
]);

/// Type of an integer operand of a three-source instruction in Align1.
pub static THREE_SOURCE_INTEGER: Pairs<eu_gen11::ThreeSrcIntegerType, DataType> = Pairs(&[
    (eu_gen11::ThreeSrcIntegerType::UD, DataType::Ud),
    (eu_gen11::ThreeSrcIntegerType::D, DataType::D),
    (eu_gen11::ThreeSrcIntegerType::UW, DataType::Uw),
    (eu_gen11::ThreeSrcIntegerType::W, DataType::W),
    (eu_gen11::ThreeSrcIntegerType::UB, DataType::Ub),
    (eu_gen11::ThreeSrcIntegerType::B, DataType::B),
]);

/// Type of a float operand of a three-source instruction in Align1.
pub static THREE_SOURCE_FLOAT: Pairs<eu_gen11::ThreeSrcFloatType, DataType> = Pairs(&[
    (eu_gen11::ThreeSrcFloatType::HF, DataType::Hf),
    (eu_gen11::ThreeSrcFloatType::F, DataType::F),
    (eu_gen11::ThreeSrcFloatType::DF, DataType::Df),
    (eu_gen11::ThreeSrcFloatType::NF, DataType::Nf),
]);

/// Vertical stride of a three-source instruction in Align1.
pub static THREE_SOURCE_VERTICAL: Pairs<eu_gen11::ThreeSrcVertStride, u8> = Pairs(&[
    (eu_gen11::ThreeSrcVertStride::_0, 0),
    (eu_gen11::ThreeSrcVertStride::_2, 2),
    (eu_gen11::ThreeSrcVertStride::_4, 4),
    (eu_gen11::ThreeSrcVertStride::_8, 8),
]);

/// Type of the operands of a three-source instruction (2d p.141).
pub static THREE_SOURCE_TYPE: Pairs<gen8::ThreeSrcType, DataType> = Pairs(&[
    (gen8::ThreeSrcType::F, DataType::F),
    (gen8::ThreeSrcType::D, DataType::D),
    (gen8::ThreeSrcType::UD, DataType::Ud),
    (gen8::ThreeSrcType::DF, DataType::Df),
    (gen8::ThreeSrcType::HF, DataType::Hf),
]);

/// The shared function that receives a message (2b p.28).
pub static SHARED_FUNCTION: Pairs<gen8::Sfid, SharedFunction> = Pairs(&[
    (gen8::Sfid::SFID_NULL, SharedFunction::Null),
    (gen8::Sfid::SFID_SAMPLER, SharedFunction::Sampler),
    (gen8::Sfid::SFID_GATEWAY, SharedFunction::Gateway),
    (gen8::Sfid::SFID_DP_SAMPLER, SharedFunction::DataPortSampler),
    (gen8::Sfid::SFID_DP_RC, SharedFunction::DataPortRender),
    (gen8::Sfid::SFID_URB, SharedFunction::Urb),
    (gen8::Sfid::SFID_SPAWNER, SharedFunction::ThreadSpawner),
    (gen8::Sfid::SFID_VME, SharedFunction::MotionEstimation),
    (gen8::Sfid::SFID_DP_CC, SharedFunction::DataPortConstant),
    (gen8::Sfid::SFID_DP_DC0, SharedFunction::DataPort0),
    (gen8::Sfid::SFID_PI, SharedFunction::PixelInterpolator),
    (gen8::Sfid::SFID_DP_DC1, SharedFunction::DataPort1),
    (gen8::Sfid::SFID_CRE, SharedFunction::CheckAndRefinement),
]);

/// Kind of an architecture register (2d p.120 and IGA's numbers).
pub static ARF: Pairs<gen8::Arf, Arf> = Pairs(&[
    (gen8::Arf::NULL, Arf::Null),
    (gen8::Arf::A, Arf::Address),
    (gen8::Arf::ACC, Arf::Accumulator),
    (gen8::Arf::F, Arf::Flag),
    (gen8::Arf::CE, Arf::ChannelEnable),
    (gen8::Arf::MSG, Arf::MessageControl),
    (gen8::Arf::SP, Arf::StackPointer),
    (gen8::Arf::SR, Arf::State),
    (gen8::Arf::CR, Arf::Control),
    (gen8::Arf::N, Arf::Notification),
    (gen8::Arf::IP, Arf::InstructionPointer),
    (gen8::Arf::TDR, Arf::ThreadDependency),
    (gen8::Arf::TM, Arf::Timestamp),
    (gen8::Arf::FC, Arf::FlowControl),
    (gen8::Arf::DBG, Arf::Debug),
]);

/// The shared function that receives a message of Gen4 to Gen5 (003:959).
pub static SHARED_FUNCTION_GEN4: Pairs<SfidGen4, SharedFunction> = Pairs(&[
    (SfidGen4::SFID_NULL, SharedFunction::Null),
    (SfidGen4::SFID_MATH, SharedFunction::Math),
    (SfidGen4::SFID_SAMPLER, SharedFunction::Sampler),
    (SfidGen4::SFID_GATEWAY, SharedFunction::Gateway),
    (SfidGen4::SFID_DP_READ, SharedFunction::DataPortRead),
    (SfidGen4::SFID_DP_WRITE, SharedFunction::DataPortWrite),
    (SfidGen4::SFID_URB, SharedFunction::Urb),
    (SfidGen4::SFID_SPAWNER, SharedFunction::ThreadSpawner),
    (SfidGen4::SFID_VME, SharedFunction::MotionEstimation),
]);
