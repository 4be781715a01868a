//! Records one thread: each instruction, and the registers before it.

use crate::eu::regions::{FILE_BYTES, REGISTER};
use std::ops::Range;

/// Maximum number of instructions of a recorded thread.
pub const MAX_STEPS: usize = 1 << 20;
/// Maximum number of register contents that a recording holds, 34 bytes each.
const MAX_CHANGES: usize = 1 << 22;

/// The register file of a thread.
pub type File = [u8; FILE_BYTES];

/// An executed instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Byte offset of the instruction in its kernel.
    pub ip: u32,
    /// The enabled channels. Bit 0 is the first channel of the instruction.
    pub mask: u32,
    /// The entries of [`Recording::changes`] with the registers that changed from this
    /// instruction to the next one.
    changes: Range<u32>,
}

/// A register, and its contents before the instruction that changed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Change {
    register: u16,
    before: [u8; REGISTER],
}

/// The instructions of a thread in order, with the registers before each of them. The registers
/// are recorded as changes: [`Backward`] goes from the last instruction to the first one and
/// undoes them.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Graphics address of the kernel.
    pub kernel: u64,
    /// Number of the thread.
    pub thread: u32,
    /// The payload: the first registers at the start.
    pub payload: Vec<u8>,
    /// The instructions.
    pub steps: Vec<Step>,
    changes: Vec<Change>,
    /// The registers before the last instruction.
    newest: Option<Box<File>>,
    /// True if the thread has more instructions than are recorded.
    pub is_cut: bool,
}

impl Recording {
    /// A thread before its first instruction.
    pub fn new(kernel: u64, thread: u32, payload: &[u8]) -> Recording {
        Recording {
            kernel,
            thread,
            payload: payload.to_vec(),
            steps: Vec::new(),
            changes: Vec::new(),
            newest: None,
            is_cut: false,
        }
    }

    /// Adds an instruction that is about to be executed, with the registers before it.
    pub fn instruction(&mut self, ip: u32, mask: u32, registers: &[u8]) {
        let Some(registers): Option<&File> = registers.first_chunk() else { return };
        if self.steps.len() >= MAX_STEPS || self.changes.len() >= MAX_CHANGES {
            self.is_cut = true;
            return;
        }
        if let Some(newest) = &mut self.newest {
            let (old, new) = (newest.chunks_exact(REGISTER), registers.chunks_exact(REGISTER));
            for (register, (old, new)) in old.zip(new).enumerate() {
                if old != new
                    && let Some(before) = old.first_chunk()
                {
                    self.changes.push(Change { register: register as u16, before: *before });
                }
            }
            if let Some(last) = self.steps.last_mut() {
                last.changes.end = self.changes.len() as u32;
            }
        }
        match &mut self.newest {
            Some(newest) => **newest = *registers,
            newest => *newest = Some(Box::new(*registers)),
        }
        let at = self.changes.len() as u32;
        self.steps.push(Step { ip, mask, changes: at..at });
    }

    /// The walk from the last instruction to the first one.
    pub fn backward(&self) -> Backward<'_> {
        let before = self.newest.clone().unwrap_or_else(|| Box::new([0; FILE_BYTES]));
        Backward { recording: self, left: self.steps.len(), after: before.clone(), before }
    }
}

/// A walk through a recording, from the last instruction to the first one.
#[derive(Clone, Debug)]
pub struct Backward<'r> {
    recording: &'r Recording,
    left: usize,
    /// The registers before the instruction that [`step`](Self::step) returned last.
    pub before: Box<File>,
    /// The registers after it. For the last instruction of the thread, the registers before it.
    pub after: Box<File>,
}

impl<'r> Backward<'r> {
    /// Goes to the instruction before. Returns its number, from 0 on; `None` at the start.
    pub fn step(&mut self) -> Option<(usize, &'r Step)> {
        self.left = self.left.checked_sub(1)?;
        let step = self.recording.steps.get(self.left)?;
        if self.left + 1 < self.recording.steps.len() {
            // `after` differs from `before` only in the changes of the instruction that was
            // returned last.
            if let Some(last) = self.recording.steps.get(self.left + 1) {
                for change in self.changes(last) {
                    let range = registers(change);
                    self.after[range.clone()].copy_from_slice(&self.before[range]);
                }
            }
            for change in self.changes(step) {
                self.before[registers(change)].copy_from_slice(&change.before);
            }
        }
        Some((self.left, step))
    }

    /// Byte ranges of the registers that the instruction changed.
    pub fn changed(&self, step: &Step) -> impl Iterator<Item = Range<usize>> + use<'r> {
        self.changes(step).iter().map(registers)
    }

    fn changes(&self, step: &Step) -> &'r [Change] {
        let range = step.changes.start as usize..step.changes.end as usize;
        self.recording.changes.get(range).unwrap_or_default()
    }
}

fn registers(change: &Change) -> Range<usize> {
    let at = usize::from(change.register) * REGISTER;
    at..at + REGISTER
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Going back gives the registers that were recorded.
    #[test]
    fn registers_before_and_after() {
        let mut recording = Recording::new(0, 0, &[]);
        let mut files = Vec::new();
        let mut file = [0u8; FILE_BYTES];
        for step in 0..20u8 {
            files.push(file);
            recording.instruction(u32::from(step) * 16, 1, &file);
            file[usize::from(step) * 37 % 200] = step + 1;
            file[usize::from(step) * 91 % FILE_BYTES] ^= 0xff;
        }
        let mut walk = recording.backward();
        for step in (0..20).rev() {
            let (number, found) = walk.step().unwrap();
            assert_eq!((number, found.ip), (step, step as u32 * 16));
            assert!(*walk.before == files[step], "before {step}");
            assert!(*walk.after == files[(step + 1).min(19)], "after {step}");
        }
        assert!(walk.step().is_none());
    }
}
