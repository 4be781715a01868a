//! Instructions as dwords, with the container of the specification that describes them. For code
//! that reads fields through the tables, also in invalid instructions.

use crate::compaction;
use crate::decode::{length, operation};
use crate::gen8::{eu, eu_gen9, eu_gen11, eu_gen12};
use crate::generation::Generation;
use crate::kernel::dwords;
use crate::ops::{Format, Opcode};
use genxml_core::Packed;
use genxml_core::reflect::Container;

/// The 16-byte form of an instruction, and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Native {
    /// Byte offset in the kernel.
    pub position: u64,
    /// Bytes in memory: 8 for a compact instruction; `dwords` are then its expansion.
    pub length: u32,
    /// The operation; `None` if no operation has the opcode. Hardware treats this as illegal.
    pub opcode: Option<Opcode>,
    /// The 16-byte form as four dwords.
    pub dwords: [u32; 4],
    /// The generation of the kernel.
    pub generation: Generation,
}

impl Native {
    /// The container that describes the 16 bytes, if there is an operation. `None` on Gen4, G45 and
    /// Gen5: no container here describes a whole instruction of theirs.
    pub fn container(&self) -> Option<&'static Container> {
        let opcode = self.opcode.filter(|_| !self.generation.has_message_registers())?;
        let ternary = opcode.op().format == Format::ThreeSource;
        Some(match self.generation {
            Generation::Gen12 => eu_gen12::EuControlsGen12::INFO,
            Generation::Gen11 if ternary => eu_gen11::EuInstructionThreeSrcAlign1::INFO,
            _ => container(opcode),
        })
    }
}

/// The container that describes the 16 bytes of an instruction of Gen8 or Gen9 with this operation.
pub fn container(opcode: Opcode) -> &'static Container {
    match opcode.op().format {
        Format::Loop => eu::EuInstructionBasicTwoSrc::INFO,
        Format::Bare if opcode == Opcode::Nop => eu::EuInstructionNop::INFO,
        Format::Bare => eu::EuInstructionIllegal::INFO,
        Format::Basic if opcode.op().sources == 2 => eu::EuInstructionBasicTwoSrc::INFO,
        Format::Basic | Format::Return | Format::Wait | Format::Sync => {
            eu::EuInstructionBasicOneSrc::INFO
        }
        Format::ThreeSource => eu::EuInstructionBasicThreeSrc::INFO,
        Format::Math => eu::EuInstructionMath::INFO,
        Format::Send => eu::EuInstructionSend::INFO,
        Format::SplitSend => eu_gen9::EuInstructionSplitSend::INFO,
        Format::BranchOne | Format::JumpIndexed | Format::Call => {
            eu::EuInstructionBranchOneSrc::INFO
        }
        Format::BranchTwo => eu::EuInstructionBranchTwoSrc::INFO,
    }
}

/// Iterates over the instructions in `bytes`. Instructions that are cut off at the end or that have
/// no 16-byte form are skipped.
pub fn natives(bytes: &[u8]) -> impl Iterator<Item = Native> + '_ {
    natives_on(Generation::Gen8, bytes)
}

/// As [`natives`], for code of `generation`.
pub fn natives_on(generation: Generation, bytes: &[u8]) -> impl Iterator<Item = Native> + '_ {
    let mut position = 0;
    core::iter::from_fn(move || {
        loop {
            let (found, count) = dwords(bytes.get(position..)?);
            let first = *found[..count].first()?;
            let (at, length) = (position as u64, length(first));
            position += length as usize;
            let native = match length {
                8 if count >= 2 => compaction::expand_dwords(generation, [found[0], found[1]]).ok(),
                16 if count == 4 => Some(found),
                _ => None,
            };
            if let Some(dwords) = native {
                let opcode = operation(generation, first);
                return Some(Native { position: at, length, opcode, dwords, generation });
            }
        }
    })
}
