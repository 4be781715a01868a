//! A kernel as a list of instructions that can be looked up by position.

use crate::decode::{DecodeError, Problem, decode, length};
use crate::instruction::Instruction;
use crate::kernel::dwords;
use alloc::vec::Vec;

/// An instruction of a kernel, or dwords that cannot be decoded.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Byte offset in the kernel.
    pub position: u64,
    /// The instruction, or the error.
    pub instruction: Result<Instruction, DecodeError>,
    /// True if all its bits are zero.
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
        slots.reached = super::flow::reached(&slots);
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
