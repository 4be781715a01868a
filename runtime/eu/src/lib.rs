//! Gen8 execution unit instructions: decode, compaction, encode, disassembly.
//!
//! Functions whose names end with `_on` take a [`Generation`] and also decode and print the
//! instructions of Gen4, G45, Gen5, Gen9, Gen11 and Gen12.0. All others are for Gen8.
//!
//! Modules in reading order:
//!
//! * [`instruction`] defines an instruction, [`ops`] the properties of an operation, [`signature`]
//!   the types of its operands. `table.rs` has both for every operation.
//! * [`decode`](mod@decode) reads dwords, [`compaction`] converts to and from the 8-byte forms,
//!   [`encode`] writes dwords, [`kernel`] iterates over memory.
//! * [`disasm`] and [`asm`] convert to and from text in two languages. [`syntax`] has the names of
//!   both languages.
//! * [`payload`] builds messages: registers of header and payload, and the `send`. It needs the
//!   feature `messages`.
//! * [`message`] decodes messages, [`surface`] finds how messages use surfaces, [`needs`] finds what
//!   a kernel needs from the state of its stage, [`native`] finds the container that describes an
//!   instruction, [`validate`] checks restrictions.
//! * [`gen8`] is generated from the specification and has every bit position.
//!
//! ```
//! use genxml_eu::instruction::{DataType, Destination, Immediate, Operand, Register};
//! use genxml_eu::{Instruction, Opcode};
//!
//! let mut mov = Instruction::new(Opcode::Mov, 1);
//! mov.destination = Some(Destination::new(Register::grf(4), DataType::Ud));
//! mov.sources[0] = Operand::Immediate(Immediate { ty: DataType::Ud, bits: 15 });
//! let dwords = mov.encode()?;
//! assert_eq!(genxml_eu::decode(&dwords)?, mov);
//! assert_eq!(mov.to_string().split_whitespace().collect::<Vec<_>>().join(" "), "mov (1|M0) r4.0<1>:ud 0xF:ud");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate is `no_std`. Text needs `alloc`.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod asm;
pub mod compaction;
pub mod decode;
pub mod disasm;
pub mod encode;
mod encoding;
mod gen12;
mod gen4;
mod generation;
pub mod instruction;
pub mod kernel;
pub mod message;
pub mod native;
pub mod needs;
pub mod ops;
#[cfg(feature = "messages")]
pub mod payload;
mod problem;
mod properties;
mod scoreboard;
pub mod signature;
pub mod surface;
pub mod syntax;
mod table;
mod types;
pub mod validate;

/// Instruction formats, enumerations and compaction tables, generated from the specification.
pub mod gen8 {
    include!(concat!(env!("OUT_DIR"), "/mod.rs"));
}

/// Compaction of G45, generated from the specification of G45.
pub mod gen45 {
    include!(concat!(env!("OUT_DIR"), "/gen45/mod.rs"));
}

pub use compaction::{CompactError, compact, compact_kernel, compact_on, expand, expand_kernel};
pub use decode::{DecodeError, Problem, decode, decode_on};
pub use encode::{EncodeError, Refused};
pub use generation::Generation;
pub use instruction::Instruction;
pub use kernel::{instructions, length_until_eot};
pub use native::natives;
pub use ops::Opcode;
