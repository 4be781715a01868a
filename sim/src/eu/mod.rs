//! Execution units: threads, decoded kernels, operations.
//!
//! Reading order: [`uop`] says what a decoded instruction is, [`decode8`] makes them from Gen8
//! instructions, a [`kernel`] is many of them; a [`thread`] runs them: [`regions`] and [`acc`] are
//! its registers, [`flow`] its control flow, [`control`] the machine's registers and exceptions,
//! [`execute`] the path of every operation between its [`operands`], [`ops`], [`math`] and
//! [`extended`] the operations, [`convert`] and [`soft`] the types, [`fast`] the short cuts.
//! [`debug`] runs a thread under control.

pub mod acc;
pub mod cache;
pub mod control;
pub mod convert;
pub mod debug;
pub mod decode8;
pub mod execute;
pub mod extended;
pub mod fast;
pub mod flow;
pub mod kernel;
pub mod math;
pub mod operands;
pub mod ops;
pub mod regions;
pub mod soft;
pub mod thread;
pub mod uop;

pub use crate::machine::fault::Exception;
pub use control::Stop;
pub use kernel::Kernel;
pub use thread::{Environment, Launch, Message, Thread, Trap};
