//! A kernel as a list of instructions that can be looked up by position.

use super::place::Place;
use crate::decode::{DecodeError, Problem, decode, length};
use crate::instruction::{Arf, Instruction, Register};
use crate::kernel::dwords;
use crate::ops::{Format, Opcode};
use alloc::vec;
use alloc::vec::Vec;

/// An instruction of a kernel, or dwords that cannot be decoded.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Byte offset in the kernel.
    pub position: u64,
    /// The instruction, or the error.
    pub instruction: Result<Instruction, DecodeError>,
    /// True if all bits of the instruction are zero.
    pub zero: bool,
}

/// All instructions of a kernel.
pub struct Slots {
    all: Vec<Slot>,
    /// For each instruction, whether it is reachable.
    pub reached: Vec<bool>,
    end: u64,
}

impl Slots {
    /// Reads a kernel.
    pub fn new(bytes: &[u8]) -> Slots {
        let mut all = Vec::new();
        let mut position = 0;
        while let Some(rest) = bytes.get(position..).filter(|rest| !rest.is_empty()) {
            let (found, count) = dwords(rest);
            let found = &found[..count];
            let at = position as u64;
            let step = found.first().map_or(rest.len() as u32, |first| length(*first));
            let instruction = decode(found).map_err(|error| DecodeError { position: at, ..error });
            all.push(Slot {
                position: at,
                instruction,
                zero: found.iter().all(|dword| *dword == 0),
            });
            position += step as usize;
        }
        // Zeros at the end are padding for the instruction prefetch.
        let used = all.iter().rposition(|slot| !slot.zero).map_or(all.len(), |last| last + 1);
        let end = all.get(used).map_or(bytes.len() as u64, |slot| slot.position);
        all.truncate(used);
        let mut slots = Slots { all, reached: Vec::new(), end };
        slots.reached = reached(&slots);
        slots
    }

    /// All instructions in order.
    pub fn all(&self) -> &[Slot] {
        &self.all
    }

    /// Size of the kernel in bytes, without padding.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The index of the instruction that starts at this position.
    pub fn index(&self, position: u64) -> Option<usize> {
        self.all.binary_search_by_key(&position, |slot| slot.position).ok()
    }

    /// The instruction that starts at this position.
    pub fn at(&self, position: u64) -> Option<&Instruction> {
        self.index(position).and_then(|index| self.all[index].instruction.as_ref().ok())
    }

    /// True if the kernel ends inside the instruction.
    pub fn cut_off(slot: &Slot) -> bool {
        matches!(&slot.instruction, Err(error) if matches!(error.problem, Problem::Truncated { .. }))
    }
}

/// For each instruction, whether it is reachable from the first one. If a jump with an unknown
/// target is reachable, every instruction that is not zero counts as reachable.
pub fn reached(slots: &Slots) -> Vec<bool> {
    let all = slots.all();
    let mut reached = vec![false; all.len()];
    let mut work: Vec<usize> = (!all.is_empty()).then_some(0).into_iter().collect();
    while let Some(index) = work.pop() {
        if reached.get(index).is_none_or(|reached| *reached) {
            continue;
        }
        reached[index] = true;
        let Ok(i) = &all[index].instruction else {
            // The instruction is unknown; assume that execution continues after it.
            work.push(index + 1);
            continue;
        };
        if jumps_anywhere(i) {
            return all.iter().map(|slot| !slot.zero).collect();
        }
        let to = targets(all[index].position, i);
        work.extend(to.filter_map(|(_, to)| slots.index(u64::try_from(to).ok()?)));
        if falls_through(i) {
            work.push(index + 1);
        }
    }
    reached
}

/// True if the instruction may continue at a position that it does not contain: a jump by a
/// register, `calla`, or a write of the instruction pointer. `ret` does not count.
pub fn jumps_anywhere(i: &Instruction) -> bool {
    let ip = |register: &Register| {
        matches!(register, Register::Arf { file: Arf::InstructionPointer, .. })
    };
    let jump = !matches!(
        i.opcode.op().format,
        Format::Basic
            | Format::ThreeSource
            | Format::Math
            | Format::Send
            | Format::Sync
            | Format::Bare
            | Format::Wait
    );
    (jump && i.branch.is_none() && i.opcode != Opcode::Ret)
        || i.opcode == Opcode::Calla
        || (!jump && i.destination.is_some_and(|destination| ip(&destination.register)))
}

/// The positions that an instruction may jump to, with the operand that gives each.
pub fn targets(position: u64, i: &Instruction) -> impl Iterator<Item = (Place, i64)> {
    let from = |distance: i32| position as i64 + i64::from(distance);
    // `calla` has an absolute address, not a position in the kernel.
    let branch = i.branch.filter(|_| i.opcode != Opcode::Calla);
    let jip = branch.map(|branch| (Place::Jip, from(branch.jip)));
    let uip = branch.and_then(|branch| branch.uip).map(|uip| (Place::Uip, from(uip)));
    jip.into_iter().chain(uip)
}

/// True if execution may continue with the next instruction.
pub fn falls_through(i: &Instruction) -> bool {
    match i.opcode {
        Opcode::Illegal => false,
        Opcode::Jmpi | Opcode::Ret => i.predicate.is_some(),
        _ => !i.ends_thread(),
    }
}
