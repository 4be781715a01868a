//! Encoded values of fields and their meanings, as tables that are read in both directions.

use crate::gen8::eu as gen8;
use crate::instruction::{
    Arf, Condition, DataType, MathFunction, PredicateControl, SharedFunction, ThreadControl,
    Vertical,
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

/// Scoreboard controls as (no clear, no check) (2b p.14).
pub static DEPENDENCY: Pairs<gen8::DepCtrl, (bool, bool)> = Pairs(&[
    (gen8::DepCtrl::NONE, (false, false)),
    (gen8::DepCtrl::NO_DDCLR, (true, false)),
    (gen8::DepCtrl::NO_DDCHK, (false, true)),
    (gen8::DepCtrl::NO_DDCLR_NO_DDCHK, (true, true)),
]);

/// Type of a destination (2b p.15).
pub static DESTINATION_TYPE: Pairs<gen8::DstType, DataType> = Pairs(&[
    (gen8::DstType::UD, DataType::Ud),
    (gen8::DstType::D, DataType::D),
    (gen8::DstType::UW, DataType::Uw),
    (gen8::DstType::W, DataType::W),
    (gen8::DstType::UB, DataType::Ub),
    (gen8::DstType::B, DataType::B),
    (gen8::DstType::DF, DataType::Df),
    (gen8::DstType::F, DataType::F),
    (gen8::DstType::UQ, DataType::Uq),
    (gen8::DstType::Q, DataType::Q),
    (gen8::DstType::HF, DataType::Hf),
]);

/// Type of a register source (2b p.35).
pub static SOURCE_TYPE: Pairs<gen8::SrcType, DataType> = Pairs(&[
    (gen8::SrcType::UD, DataType::Ud),
    (gen8::SrcType::D, DataType::D),
    (gen8::SrcType::UW, DataType::Uw),
    (gen8::SrcType::W, DataType::W),
    (gen8::SrcType::UB, DataType::Ub),
    (gen8::SrcType::B, DataType::B),
    (gen8::SrcType::DF, DataType::Df),
    (gen8::SrcType::F, DataType::F),
    (gen8::SrcType::UQ, DataType::Uq),
    (gen8::SrcType::Q, DataType::Q),
    (gen8::SrcType::HF, DataType::Hf),
]);

/// Type of an immediate source (2b p.31).
pub static IMMEDIATE_TYPE: Pairs<gen8::SrcImmType, DataType> = Pairs(&[
    (gen8::SrcImmType::UD, DataType::Ud),
    (gen8::SrcImmType::D, DataType::D),
    (gen8::SrcImmType::UW, DataType::Uw),
    (gen8::SrcImmType::W, DataType::W),
    (gen8::SrcImmType::UV, DataType::Uv),
    (gen8::SrcImmType::VF, DataType::Vf),
    (gen8::SrcImmType::V, DataType::V),
    (gen8::SrcImmType::F, DataType::F),
    (gen8::SrcImmType::UQ, DataType::Uq),
    (gen8::SrcImmType::Q, DataType::Q),
    (gen8::SrcImmType::DF, DataType::Df),
    (gen8::SrcImmType::HF, DataType::Hf),
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
