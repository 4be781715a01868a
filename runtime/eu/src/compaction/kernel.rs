//! Compaction of a whole kernel. Instructions move, so jump distances are computed again.

use crate::compaction;
use crate::decode::{DecodeError, Raw};
use crate::gen8::eu as gen8;
use crate::instruction::*;
use crate::kernel::{Located, dwords, instructions};
use crate::ops::{Format, Opcode};
use alloc::vec::Vec;

/// The reason why a kernel cannot be compacted or expanded.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompactError {
    /// An instruction cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The target of a jump is neither an instruction of the kernel nor its end.
    #[error(
        "{operation} at byte {position:#x} jumps to byte {target:#x}, which is not the start of an instruction"
    )]
    Target {
        /// Byte offset of the jump.
        position: u64,
        /// The operation.
        operation: Opcode,
        /// The target, in bytes from the start of the kernel.
        target: i64,
    },
    /// A jump with a computed or absolute target, or a computation with the instruction pointer.
    /// Its result changes when instructions move, and this cannot be corrected.
    #[error(
        "{operation} at byte {position:#x} depends on the positions of instructions in a way that cannot be corrected"
    )]
    Position {
        /// Byte offset of the instruction.
        position: u64,
        /// The operation.
        operation: Opcode,
    },
}

genxml_core::debug_as_display!(CompactError);

/// Converts every instruction that has an 8-byte form to that form
/// ([`compact`](compaction::compact)), and corrects jumps. The end is not padded: its offset
/// may be an odd multiple of 8, which Gen8 allows.
///
/// # Errors
/// See [`CompactError`].
pub fn compact_kernel(bytes: &[u8]) -> Result<Vec<u8>, CompactError> {
    // Always try jumps, because their distances change.
    arrange(bytes, |line| {
        line.instruction.branch.is_some() || compaction::compact(&line.native).is_some()
    })
}

/// Converts every instruction to its 16-byte form, and corrects jumps.
///
/// # Errors
/// See [`CompactError`].
pub fn expand_kernel(bytes: &[u8]) -> Result<Vec<u8>, CompactError> {
    arrange(bytes, |_| false)
}

/// Compacts the instructions that `choose` selects, if they have an 8-byte form at their new
/// positions.
fn arrange(bytes: &[u8], choose: fn(&Line) -> bool) -> Result<Vec<u8>, CompactError> {
    let mut lines =
        instructions(bytes).map(|line| Line::new(bytes, line?)).collect::<Result<Vec<_>, _>>()?;
    let end =
        lines.last().map_or(0, |line| line.position + u64::from(line.instruction.length())) as i64;
    for line in &mut lines {
        line.compact = choose(line);
    }
    for line in &lines {
        if let Some(target) =
            line.targets().find(|target| *target != end && find(&lines, *target).is_none())
        {
            let Line { position, instruction: Instruction { opcode: operation, .. }, .. } = *line;
            return Err(CompactError::Target { position, operation, target });
        }
    }
    // Whether a jump has an 8-byte form depends on its distance. The loop starts with the shortest
    // arrangement and distances only grow, so it terminates.
    loop {
        let offsets = offsets(&lines);
        let new_offset =
            |target| find(&lines, target).map_or(offsets[lines.len()], |index| offsets[index]);
        let mut text = Vec::with_capacity(bytes.len());
        let mut too_far = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let native = line.moved(offsets[index] as i64, new_offset);
            match compaction::compact(&native).filter(|_| line.compact) {
                Some(form) => text.extend(form.iter().flat_map(|dword| dword.to_le_bytes())),
                None => {
                    text.extend(native.iter().flat_map(|dword| dword.to_le_bytes()));
                    too_far.extend(line.compact.then_some(index));
                }
            }
        }
        if too_far.is_empty() {
            return Ok(text);
        }
        for index in too_far {
            lines[index].compact = false;
        }
    }
}

/// New byte offsets of the instructions with the forms chosen so far, and of the end.
fn offsets(lines: &[Line]) -> Vec<u64> {
    let mut offset = 0;
    let mut offsets: Vec<u64> = Vec::with_capacity(lines.len() + 1);
    for line in lines {
        offsets.push(offset);
        offset += if line.compact { 8 } else { 16 };
    }
    offsets.push(offset);
    offsets
}

fn find(lines: &[Line], position: i64) -> Option<usize> {
    let position = u64::try_from(position).ok()?;
    lines.binary_search_by_key(&position, |line| line.position).ok()
}

/// An instruction that is being moved.
struct Line {
    /// Byte offset in the original kernel.
    position: u64,
    instruction: Instruction,
    /// The 16-byte form.
    native: [u32; 4],
    /// Whether to use the 8-byte form.
    compact: bool,
}

impl Line {
    fn new(bytes: &[u8], located: Located) -> Result<Line, CompactError> {
        let Located { position, instruction } = located;
        let (mut native, _) = dwords(&bytes[position as usize..]);
        if instruction.compacted {
            let raw = Raw::new(&native[..2]);
            native = compaction::expand_dwords(Generation::Gen8, [native[0], native[1]])
                .map_err(|problem| DecodeError { position, raw, problem })?;
        }
        let pointer = |register: &Register| {
            matches!(register, Register::Arf { file: Arf::InstructionPointer, .. })
        };
        let reads_pointer = instruction.operands().any(
            |operand| matches!(operand, Operand::Register(source) if pointer(&source.register)),
        );
        let writes_pointer = instruction.destination.is_some_and(|place| pointer(&place.register));
        let computed = match instruction.opcode.op().format {
            Format::BranchOne | Format::BranchTwo | Format::JumpIndexed => {
                instruction.branch.is_none()
            }
            Format::Call => instruction.opcode == Opcode::Calla || instruction.branch.is_none(),
            _ => reads_pointer || writes_pointer,
        };
        if computed {
            return Err(CompactError::Position { position, operation: instruction.opcode });
        }
        Ok(Line { position, instruction, native, compact: false })
    }

    /// The jump targets of the instruction, as original byte offsets.
    fn targets(&self) -> impl Iterator<Item = i64> {
        let position = self.position as i64;
        let distances = self.instruction.branch.map(|branch| [Some(branch.jip), branch.uip]);
        distances
            .into_iter()
            .flatten()
            .flatten()
            .map(move |distance| position + i64::from(distance))
    }

    /// The 16-byte form at the new offset `here`. `new_offset` maps an original offset to the new
    /// one.
    fn moved(&self, here: i64, new_offset: impl Fn(i64) -> u64) -> [u32; 4] {
        let Some(branch) = self.instruction.branch else { return self.native };
        let distance = |old: i32| new_offset(self.position as i64 + i64::from(old)) as i64 - here;
        let jip = distance(branch.jip);
        if self.instruction.opcode.op().format == Format::BranchTwo {
            let mut form = gen8::EuInstructionBranchTwoSrc::unpack_lossy(&self.native);
            form.jip = genxml_core::S::from_bits(jip as u64);
            form.uip = genxml_core::S::from_bits(branch.uip.map_or(0, distance) as u64);
            return form.pack();
        }
        let next = match self.instruction.opcode {
            Opcode::Jmpi if self.compact => 8,
            Opcode::Jmpi => 16,
            _ => 0,
        };
        let mut form = gen8::EuInstructionBranchOneSrc::unpack_lossy(&self.native);
        form.jip = genxml_core::S::from_bits((jip - next) as u64);
        form.pack()
    }
}
