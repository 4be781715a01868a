//! Execution units: threads, decoded kernels, operations.
//!
//! Reading order: [`uop`] defines a decoded instruction, [`types`] the types of its operands.
//! [`decode`] finds the instructions of a program, [`decode8`] makes uops from those of Gen8, a
//! [`kernel`] holds them. A [`thread`] executes them: [`regions`] and [`acc`] are its registers,
//! [`modes`] its modes, [`flow`] the instruction pointers of its channels, [`stop`] the reasons to
//! stop. [`run`] is its loop. A [`transfer`] is a message whose descriptor is decoded in advance.
//! [`branch`] has the control flow instructions, [`control`] the machine registers and exceptions.
//!
//! [`constant`] finds kernels that write the same colour in all threads, [`written`] the registers
//! that a kernel can write.
//!
//! [`ops`] are the operations, a table for each family. [`execute`] is the general path of an
//! operation: [`general`] and [`operands`] fetch the operands for its body and write the results.
//! [`fast`] is the fast path. With the feature `fast`, `compile` makes machine code of the host.
//! [`math`] and [`extended`] are the extended math unit, [`convert`] and [`soft`] convert between
//! types. [`debug`] is a debugger for one thread. With the feature `gen45`, `gen45` has what
//! differs on G45: decoding, control flow with mask stacks, and some operations.

pub mod acc;
pub mod access;
pub mod branch;
pub mod cache;
#[cfg(feature = "fast")]
pub mod compile;
pub mod constant;
pub mod control;
pub mod convert;
pub mod debug;
pub mod decode;
pub mod decode8;
pub mod ending;
pub mod execute;
pub mod extended;
pub mod fast;
pub mod flow;
#[cfg(feature = "gen45")]
pub mod gen45;
pub mod general;
pub mod kernel;
pub mod math;
pub mod modes;
pub mod operands;
pub mod ops;
pub mod regions;
pub mod run;
pub mod soft;
pub mod stop;
pub mod thread;
pub mod transfer;
pub mod types;
pub mod uop;
pub mod written;

pub use crate::machine::fault::Exception;
pub use kernel::Kernel;
pub use stop::{Stop, Trap};
pub use thread::{Environment, Launch, Message, Thread};
