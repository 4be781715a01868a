//! How a thread computes: the modes of `cr0.0`.

use super::regions::CR0;
use super::soft::Rounding;
use super::uop::{Op, Opcode, Shape, Target, Type, Uop};
use genxml_eu::gen8::eu_registers::ControlRegister;

/// How the thread computes, from `cr0.0`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// True in alternative float mode.
    pub alternative: bool,
    /// True if instructions do not write the accumulator implicitly.
    pub accumulator_disabled: bool,
    /// True in single program flow: channel 0 decides for all channels.
    pub single_flow: bool,
    /// True if subnormal single floats are kept.
    pub keep_single: bool,
    /// True if subnormal double floats are kept.
    pub keep_double: bool,
    /// True if subnormal half floats are kept.
    pub keep_half: bool,
    /// Rounding: 0 to nearest even, 1 up, 2 down, 3 to zero.
    pub rounding: u8,
    /// True for the rules of G45.
    #[cfg(feature = "gen45")]
    pub(super) gen45: bool,
}

/// A write to `cr0` that only changed modes. Most kernels of OpenCL begin with one, and the next
/// thread repeats it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// What [`masks_control`] returns for the instruction.
    pub by: Option<(Op, u64)>,
    pub before: [u32; 8],
    /// What the instruction wrote.
    pub written: [u32; 8],
    /// The contents after the write.
    pub stored: [u32; 8],
    pub modes: Modes,
}

impl Modes {
    /// Reads `cr0.0` (004:3081-3250; bits 7 and 10 by Mesa's BRW_CR0_*).
    pub fn from_control(cr0: u32) -> Modes {
        let control = ControlRegister::unpack_lossy(&[cr0, 0, 0, 0]);
        Modes {
            alternative: control.alternative_float_mode,
            accumulator_disabled: control.accumulator_disable,
            single_flow: control.single_program_flow,
            // ALT mode has no subnormal numbers (004:1540).
            keep_single: control.single_precision_denorms && !control.alternative_float_mode,
            keep_double: control.double_precision_denorms,
            keep_half: control.half_precision_denorms,
            rounding: control.rounding_mode.bits() as u8,
            #[cfg(feature = "gen45")]
            gen45: false,
        }
    }

    /// True for the rules of G45. Always false without the feature `gen45`.
    #[inline(always)]
    pub const fn gen45(&self) -> bool {
        #[cfg(feature = "gen45")]
        return self.gen45;
        #[cfg(not(feature = "gen45"))]
        false
    }

    /// True if operations replace subnormal numbers of `ty` by zero.
    #[inline(always)]
    pub fn flushes(&self, ty: Type) -> bool {
        match ty {
            Type::F => !self.keep_single,
            Type::Df => !self.keep_double,
            Type::Hf => !self.keep_half,
            _ => false,
        }
    }

    /// The rounding mode of sums, products and conversions to floats.
    #[inline(always)]
    pub fn rounding_mode(&self) -> Rounding {
        Rounding::from_control(self.rounding)
    }
}

/// The operation and the constant of an AND or OR of `cr0.0` with a constant, written to `cr0.0`.
/// The instruction always executes, and its result depends only on `cr0`. `None` for other
/// instructions.
pub(super) fn masks_control(u: &Uop) -> Option<(Op, u64)> {
    let control = u16::try_from(CR0).ok()?;
    let [from, mask, _] = &u.src;
    let Shape::Immediate(bits) = mask.shape else { return None };
    let masks = matches!(u.op, Op::Isa(Opcode::And | Opcode::Or))
        && matches!(u.dst.target, Target::File { offset, .. } if offset == control)
        && matches!(from.shape, Shape::Scalar(offset) if offset == control)
        && [u.dst.ty, from.ty] == [Type::Ud; 2]
        && matches!(mask.ty, Type::D | Type::Ud | Type::Uw)
        && from.plain()
        && mask.plain()
        && (u.size, u.no_mask, u.saturate) == (1, true, false)
        && (u.predicate.is_none(), u.condition.is_none()) == (true, true);
    masks.then_some((u.op, bits))
}
