//! Decoding: from dwords to an [`Instruction`].
//!
//! The first dword gives the form (8 or 16 bytes) and the operation. The operation's row in
//! [`ops`](crate::ops) gives the layout of the rest. Compacted instructions are expanded first.
//! Bits that an operation does not use are ignored, as hardware does. A reserved value in a used
//! field is an error.

use crate::compaction;
use crate::encoding as enc;
use crate::gen8::eu as gen8;
use crate::instruction::*;
use crate::ops::Format;
pub use crate::problem::Problem;
pub(crate) use crate::problem::operation;
use core::fmt;

mod align1_ternary;
mod fields;
pub(crate) mod gen12;
mod gen4;

use fields::{Decoder, Result, illegal};
pub(crate) use fields::{has_branch_ctrl, three_source_halves, three_source_types};

/// Dwords that cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("instruction at byte {position:#x} ({raw}): {problem}")]
pub struct DecodeError {
    /// Byte offset in the kernel; zero if there is no kernel.
    pub position: u64,
    /// The dwords.
    pub raw: Raw,
    /// The reason.
    pub problem: Problem,
}

genxml_core::debug_as_display!(DecodeError);

/// Up to four dwords of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Raw {
    dwords: [u32; 4],
    length: u8,
}

impl Raw {
    /// The first four of `dwords`.
    pub fn new(dwords: &[u32]) -> Self {
        let mut raw = Raw { dwords: [0; 4], length: dwords.len().min(4) as u8 };
        for (to, from) in raw.dwords.iter_mut().zip(dwords) {
            *to = *from;
        }
        raw
    }

    /// The dwords, at most four.
    pub fn dwords(&self) -> &[u32] {
        &self.dwords[..usize::from(self.length)]
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, dword) in self.dwords().iter().enumerate() {
            write!(f, "{}{dword:08x}", if index > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// Decodes the instruction at the start of `dwords`; dwords after it are ignored. Operations that
/// Gen8 does not have decode as [`Opcode::Illegal`](crate::Opcode::Illegal), because hardware treats
/// them so (2a illegal).
pub fn decode(dwords: &[u32]) -> Result<Instruction, DecodeError> {
    decode_on(Generation::Gen8, dwords)
}

/// As [`decode`], for an instruction of `generation`.
pub fn decode_on(generation: Generation, dwords: &[u32]) -> Result<Instruction, DecodeError> {
    let fail = |problem| DecodeError { position: 0, raw: Raw::new(dwords), problem };
    let needed = dwords.first().map_or(4, |first| length(*first));
    if (dwords.len() as u64) * 4 < u64::from(needed) {
        return Err(fail(Problem::Truncated { needed, available: dwords.len() as u32 * 4 }));
    }
    match *dwords {
        [first, second, ..] if needed == 8 => {
            let native = compaction::expand_dwords(generation, [first, second]).map_err(fail)?;
            let mut instruction = native_form(generation, &native, 8).map_err(fail)?;
            instruction.compacted = true;
            Ok(instruction)
        }
        [a, b, c, d, ..] => native_form(generation, &[a, b, c, d], 16).map_err(fail),
        _ => Err(fail(Problem::Truncated { needed, available: dwords.len() as u32 * 4 })),
    }
}

/// Bytes of the instruction that starts with `first`: 8 or 16.
pub fn length(first: u32) -> u32 {
    let header = gen8::EuInstructionHeader::unpack_lossy(&[first]);
    if header.control.controls_b.cmpt_ctrl { 8 } else { 16 }
}

/// Decodes the 16-byte form. `length` is the size in memory: 8 if `dwords` are the expansion of a
/// compact instruction.
fn native_form(
    generation: Generation,
    dwords: &[u32; 4],
    length: i32,
) -> Result<Instruction, Problem> {
    if generation >= Generation::Gen12 {
        return gen12::native_form(dwords, length);
    }
    if generation.has_message_registers() {
        return gen4::native_form(generation, dwords, length);
    }
    let header = gen8::EuInstructionHeader::unpack_lossy(&[dwords[0]]);
    let Some(opcode) = operation(generation, dwords[0]) else {
        return Ok(illegal(generation, dwords[0]));
    };
    let types = enc::Types::of(generation);
    let decoder = Decoder { generation, types, opcode, dwords, length, header };
    match opcode.op().format {
        Format::Bare => Ok(decoder.bare()),
        Format::Basic => decoder.basic(),
        Format::ThreeSource if generation >= Generation::Gen11 => decoder.three_source_align1(),
        Format::ThreeSource => decoder.three_source(),
        Format::Math => decoder.math(),
        Format::Send => decoder.send(),
        Format::SplitSend => decoder.split_send(),
        Format::BranchOne | Format::BranchTwo => decoder.branch(),
        Format::JumpIndexed | Format::Call => decoder.jump(),
        Format::Return | Format::Wait | Format::Sync => decoder.one_source(),
        // No generation from Gen8 on has it.
        Format::Loop => Ok(illegal(generation, dwords[0])),
    }
}
