//! Arithmetic, predicates and synchronisation on the command streamer. They let a batch use results
//! of the GPU without the CPU.
//!
//! Every engine's command streamer has 16 general registers of 64 bits and a small ALU, MI_MATH,
//! that adds, subtracts and combines them. Commands move dwords between memory, registers and
//! constants. A [`Builder`] turns expressions into such commands: it allocates registers, loads
//! operands, groups steps in few MI_MATH packets and removes unnecessary work.
//!
//! # Example
//!
//! A query has written two counters to memory, begin and end. The batch adds a bias to their
//! difference, cuts the sum to 40 bits and stores it after the counters, but only if the difference
//! is not 0:
//!
//! ```
//! use genxml::batch::{Batch, Buffer};
//! use genxml::engine::Render;
//! use genxml::gen8::RenderPacket;
//! use genxml::mi::{Builder, Mem, Operand, Qword};
//!
//! let query = Buffer::new("query", 0x10000, 4096)?;
//! let begin = Mem::<Qword>::of(&query, 0)?;
//! let (end, result) = (begin.offset(8)?, begin.offset(16)?);
//!
//! let mut batch = Batch::<Render>::new("batch", 0x20000, 4096)?;
//! let mut mi = Builder::new(&mut batch);
//! let counted = mi.keep(end - begin)?;
//! let sum = (&counted + 17) & 0xff_ffff_ffff;
//! mi.store_if(&counted.is_nonzero(), result, sum)?;
//!
//! // The emitted packets: loads, the difference, the predicate, constants, the sum, and predicated
//! // stores.
//! let (mut dwords, mut names) = (batch.dwords(), Vec::new());
//! while !dwords.is_empty() {
//!     let (packet, length) = RenderPacket::parse(dwords)?;
//!     names.push(packet.info().name);
//!     dwords = &dwords[length..];
//! }
//! assert_eq!(names[..5], [["MI_LOAD_REGISTER_MEM"; 4].as_slice(), &["MI_MATH"]].concat());
//! assert_eq!(names[5..7], ["MI_LOAD_REGISTER_REG"; 2]);
//! assert_eq!(names[7..9], ["MI_LOAD_REGISTER_IMM", "MI_PREDICATE"]);
//! assert_eq!(names[9..12], ["MI_LOAD_REGISTER_IMM", "MI_LOAD_REGISTER_IMM", "MI_MATH"]);
//! assert_eq!(names[12..], ["MI_STORE_REGISTER_MEM"; 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Operands and operations
//!
//! * Operands: memory of an object ([`Mem::of`]) or at a fixed address ([`mem32`], [`mem64`]),
//!   registers by their generated type ([`Builder::register`]) or offset ([`Reg::at`]), `u64`
//!   constants, variables ([`Gpr`]) and values made from them. 32-bit values are extended with
//!   zeros.
//! * Operators: `+ - * / % & | ^ << >>` with an operand on either side (the left one not a plain
//!   `u64`: `5u64.value() - x`), `!x` and `-x`. All are unsigned with 64 bits, and wrap.
//! * Methods of [`Operand`]: halves, sign extension, shifts, minimum and maximum, and comparisons,
//!   which return a [`Condition`]. Conditions combine with `& | ^ !`, and select a value with
//!   [`select`](Condition::select).
//! * Operations of the [`Builder`]: stores; variables; copies and fills; semaphores, atomics, and
//!   ends of batches; on the render engine, whose commands can use a predicate ([`Predication`]),
//!   conditional stores, jumps over packets, and loops.
//!
//! # Time of evaluation
//!
//! An expression is only a description. It is evaluated each time that a [`Builder`] stores it,
//! with the values of memory and registers at that point of the batch. [`keep`](Builder::keep)
//! evaluates it once, at the current point of the batch:
//!
//! ```
//! # use genxml::{batch::Batch, core::Address, engine::Blitter, mi::{Builder, Operand, mem32, mem64}};
//! # let mut batch = Batch::<Blitter>::new("batch", 0x20000, 4096)?;
//! # let mut mi = Builder::new(&mut batch);
//! let (counter, old) = (mem64(Address::new(0x1000)?), mem64(Address::new(0x1008)?));
//! let before = mi.keep(counter)?; // a general register, until `before` is dropped
//! mi.store(counter, counter + 1)?;
//! mi.store(old, before)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Costs
//!
//! The costs, in dwords of the batch: an operation of the ALU takes 4, and each MI_MATH packet 1
//! more. A load of 64 bits takes 8 from memory, 6 from registers and 5 for a constant. The
//! constants 0 and -1 cost nothing. A load of 32 bits costs less: `mem64(a).low()` loads 32 bits
//! only. There is no shifter and no multiplier; [`Operand`] documents the replacements and their
//! costs. Constant parts of expressions are evaluated when the expression is built.
//!
//! # Errors
//!
//! A wrong width does not compile: convert 64 bits to 32 with [`low`](Operand::low) or
//! [`high`](Operand::high), a condition with [`mask`](Condition::mask) or
//! [`to_bit`](Condition::to_bit). All other errors are an [`MiError`] of the operation that
//! evaluates: too few general registers, a division by zero, an address beyond 48 bits, a batch
//! that is full.
//!
//! ```
//! # use genxml::{batch::Batch, engine::Render, mi::{Builder, MiError}};
//! # let mut batch = Batch::<Render>::new("batch", 0x20000, 4096)?;
//! # let mut mi = Builder::new(&mut batch);
//! let held = (0..16).map(|value| mi.variable(value)).collect::<Result<Vec<_>, MiError>>()?;
//! let error = mi.variable(16).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "all 16 general registers are in use: drop kept values and variables, or keep a part of the expression first"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod emit;
mod gpr;
mod location;
mod lower;
mod memory;
mod node;
mod value;

pub use crate::batch::MiError;
pub use builder::Builder;
pub use emit::{Emit, MiEngine, MiPacket, PostSync, Predication, Reference};
pub use gpr::{Gpr, Gprs};
pub use location::{
    Dword, Mem, MemoryAddress, Qword, Reg, RegisterDwords, Target, Width, mem32, mem64,
};
pub use memory::{Atomic, Until};
pub use value::{Condition, Operand, Storable, Value};
