//! Gen8 execution unit instructions: decode, compaction, disassembly.
//!
//! Reading order: [`instruction`] says what an instruction is, [`ops`] lists the operations.

pub mod instruction;
pub mod ops;

pub use instruction::Instruction;
pub use ops::Opcode;
