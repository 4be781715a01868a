//! The fast path, for the most frequent instructions: integers of up to 32 bits and single floats,
//! from any region, without accumulators.
//!
//! An instruction that can take the fast path has a [`Plan`]: the number of an operation, and the
//! layout of the operands. Each operation has one function for each number of channels. It works on
//! arrays of lanes, which the compiler turns into vector instructions. [`choose`] makes the plan by
//! the rules ([`rule`]) of the tables in [`super::ops`]. [`lanes`] converts operands to lanes and
//! results back, [`around`] calls the bodies in between, [`level`] detects what the processor
//! supports.

pub mod around;
pub mod choose;
pub mod lanes;
pub mod level;
pub mod plan;
pub mod rule;
pub mod vector;

pub use level::Level;
pub use plan::{Operation, Plan};

use super::ops;
use super::thread::Thread;
use super::uop::Uop;
use around::SIZES;

/// Executes an instruction for the channels of `mask`. Returns false, and changes nothing, if the
/// instruction has to take the general path: it has no plan, or the modes of the thread or an
/// address exclude the fast path.
#[inline(always)]
pub fn run(level: Level, t: &mut Thread, u: &Uop, mask: u32) -> bool {
    let operations = &ops::OPERATIONS;
    let sizes = &operations[u.plan.operation.index() % operations.len()];
    sizes[usize::from(u.plan.size & 7).min(SIZES - 1)](level, t, u, mask)
}
