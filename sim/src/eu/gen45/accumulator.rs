//! Finds out which implicit writes of the accumulator a program can read.
//!
//! On G45 most arithmetic instructions also write the accumulator (003:7690). Programs rarely read
//! it, so the decoder drops the writes that nothing reads. Channels that are not enabled have
//! unpredictable values after a write (003:7716), so a later write replaces an earlier one whatever
//! the masks are.

use super::decode::{plan, writes_accumulator};
use crate::eu::fast::Plan;
use crate::eu::operands::implicit_element;
use crate::eu::uop::{NOWHERE, Op, Opcode, Shape, Target, Uop};

/// A set of bytes of the two accumulators, one bit each.
type Bytes = u64;

const ALL: Bytes = u64::MAX;

/// Passes over a kernel, about one for each level of nested loops, after which every write counts
/// as read. The limit bounds the time for kernels with long chains of jumps backward.
const MOST_PASSES: usize = 64;

/// Sets [`Uop::acc_write`] where a write may be read, clears it elsewhere, and chooses the plans
/// of these instructions again. `uops` are all instructions of a kernel.
pub fn settle(uops: &mut [Uop]) {
    let any = uops.iter().any(|u| reads(u) != 0);
    let mut live = vec![0; uops.len()];
    let (mut changed, mut passes) = (any, 0);
    while changed {
        if passes == MOST_PASSES {
            live.fill(ALL);
            break;
        }
        (changed, passes) = (false, passes + 1);
        for at in (0..uops.len()).rev() {
            let u = &uops[at];
            let before = after(u, &live) & !writes(u) | reads(u);
            changed |= before != live[at];
            live[at] = before;
        }
    }
    for u in uops {
        let (Op::Isa(opcode) | Op::Gen45(opcode)) = u.op else { continue };
        if !writes_accumulator(opcode) {
            continue;
        }
        u.acc_write = any && after(u, &live) & implicit(u) != 0;
        u.plan = if u.acc_write { Plan::NONE } else { plan(u) };
    }
}

/// The bytes that may be read after an instruction.
fn after(u: &Uop, live: &[Bytes]) -> Bytes {
    if u.send.is_some_and(|send| send.eot) {
        return 0;
    }
    let at = |index: u32| live.get(index as usize).copied().unwrap_or(0);
    let computed = matches!(u.op, Op::Refused | Op::Breakpoint)
        || u.dst.target == Target::Ip
        || u.op == Op::Gen45(Opcode::Jmpi) && u.branch.jip == NOWHERE;
    if computed { ALL } else { at(u.next) | at(u.branch.jip) }
}

/// The bytes that an instruction reads.
fn reads(u: &Uop) -> Bytes {
    let implied = match u.op {
        Op::Isa(Opcode::Mac | Opcode::Mach | Opcode::Sada2) => implicit(u),
        _ => 0,
    };
    let named = |src: &crate::eu::uop::Src| match &src.shape {
        Shape::Accumulator(table) => bytes(&table[..usize::from(u.size)], src.ty.size()),
        _ => 0,
    };
    u.src.iter().fold(implied, |all, src| all | named(src))
}

/// The bytes that an instruction writes.
fn writes(u: &Uop) -> Bytes {
    let implied = match u.op {
        Op::Isa(Opcode::Mach) => implicit(u),
        Op::Isa(opcode) | Op::Gen45(opcode) if writes_accumulator(opcode) => implicit(u),
        _ => 0,
    };
    match &u.dst.target {
        Target::Accumulator(table) => {
            implied | bytes(&table[..usize::from(u.size)], u.dst.ty.size())
        }
        _ => implied,
    }
}

/// The bytes of the elements that an instruction uses without naming them.
fn implicit(u: &Uop) -> Bytes {
    (0..usize::from(u.size)).fold(0, |all, channel| {
        let (offset, ty) = implicit_element(u, channel);
        all | bytes(&[offset as u16], ty.size())
    })
}

fn bytes(offsets: &[u16], size: usize) -> Bytes {
    offsets.iter().fold(0, |all, at| all | ((1u64 << size) - 1).rotate_left(u32::from(*at) % 64))
}
