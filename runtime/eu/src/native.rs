//! Instructions as dwords, and which container of the specification describes them: for those who
//! look at fields through the tables, whether or not the instruction makes sense.

use crate::compaction;
use crate::decode::{length, operation};
use crate::gen8::eu;
use crate::kernel::dwords;
use crate::ops::{Format, Opcode};
use genxml_core::Packed;
use genxml_core::reflect::Container;

/// The 16-byte form of an instruction, with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Native {
    /// Byte position in the kernel.
    pub position: u64,
    /// Bytes in memory: 8 if it is a compact instruction, of which `dwords` are the expansion.
    pub length: u32,
    /// The operation; hardware takes what is none as illegal.
    pub opcode: Option<Opcode>,
    /// The 16 bytes.
    pub dwords: [u32; 4],
}

impl Native {
    /// The container that describes the 16 bytes, if the operation is one.
    pub fn container(&self) -> Option<&'static Container> {
        self.opcode.map(container)
    }
}

/// The container that describes the 16 bytes of an instruction with this operation.
pub fn container(opcode: Opcode) -> &'static Container {
    match opcode.op().format {
        Format::Bare if opcode == Opcode::Nop => eu::EuInstructionNop::INFO,
        Format::Bare => eu::EuInstructionIllegal::INFO,
        Format::Basic if opcode.op().sources == 2 => eu::EuInstructionBasicTwoSrc::INFO,
        Format::Basic | Format::Return | Format::Wait => eu::EuInstructionBasicOneSrc::INFO,
        Format::ThreeSource => eu::EuInstructionBasicThreeSrc::INFO,
        Format::Math => eu::EuInstructionMath::INFO,
        Format::Send => eu::EuInstructionSend::INFO,
        Format::BranchOne | Format::JumpIndexed | Format::Call => {
            eu::EuInstructionBranchOneSrc::INFO
        }
        Format::BranchTwo => eu::EuInstructionBranchTwoSrc::INFO,
    }
}

/// The instructions of `bytes` from the first on, to the end of the bytes, without those that are
/// cut off there or that have no 16-byte form.
pub fn natives(bytes: &[u8]) -> impl Iterator<Item = Native> + '_ {
    let mut position = 0;
    core::iter::from_fn(move || {
        loop {
            let (found, count) = dwords(bytes.get(position..)?);
            let first = *found[..count].first()?;
            let (at, length) = (position as u64, length(first));
            position += length as usize;
            let native = match length {
                8 if count >= 2 => compaction::expand_dwords([found[0], found[1]]).ok(),
                16 if count == 4 => Some(found),
                _ => None,
            };
            if let Some(dwords) = native {
                return Some(Native { position: at, length, opcode: operation(first), dwords });
            }
        }
    })
}
