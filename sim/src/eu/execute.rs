//! The general path of arithmetic and logic: picks the number type and the rounding that an
//! instruction computes with, and runs the body of its operation ([`super::ops`]).
//!
//! [`super::fast`] has the fast path.

use super::general::{Done, illegal};
use super::ops;
use super::soft::Rounding;
use super::thread::Thread;
use super::uop::{Condition, ExecType, Op, Shape, Uop};

/// Runs an arithmetic or logic instruction for the channels of `mask`.
///
/// # Errors
/// [`Refusal::Illegal`](crate::machine::fault::Refusal) for operands that the operation cannot
/// have.
pub fn alu(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let Op::Isa(opcode) = u.op else { return Err(illegal(u, "as an operation")) };
    let Some(row) = ops::general(opcode) else { return Err(illegal(u, "as an operation")) };
    let rounded = thread.modes.rounding_mode() != Rounding::Nearest;
    let exact = rounded || u.condition == Some(Condition::Overflow);
    let body = match u.exec {
        #[cfg(feature = "gen45")]
        ExecType::Single if thread.modes.gen45 => row.toward_zero,
        ExecType::Single if !exact => row.single,
        ExecType::Half if !exact => row.half,
        ExecType::Double if !exact => row.double,
        ExecType::Single | ExecType::Half => row.exact_single,
        ExecType::Double => row.exact_double,
        ExecType::Word | ExecType::Dword if !row.wide && !has_wide_operand(u) => row.int64,
        ExecType::Word | ExecType::Dword | ExecType::Qword => row.int128,
    };
    body(thread, u, mask)
}

/// True if an operand may have more than 32 bits.
fn has_wide_operand(u: &Uop) -> bool {
    u.dst.ty.size() == 8 || u.src.iter().any(|src| matches!(src.shape, Shape::Accumulator(_)))
}
