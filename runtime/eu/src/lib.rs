//! Gen8 execution unit instructions: decode, compaction, disassembly.
//!
//! Reading order: [`instruction`] says what an instruction is, [`ops`] lists the operations; [`gen8`] holds the
//! instruction formats as generated.

pub mod instruction;
pub mod ops;

/// Instruction formats, enumerations and compaction tables, generated from the specification.
pub mod gen8 {
    include!(concat!(env!("OUT_DIR"), "/mod.rs"));
}

pub use instruction::Instruction;
pub use ops::Opcode;
