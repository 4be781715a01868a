//! What differs between G45 (Gen4.5) and Gen8: decoding, control flow, and some operations.
//!
//! [`decode`] makes uops from instructions: it applies the rules of compressed instructions and
//! makes the implied move of a message a uop of its own. [`accumulator`] finds the implicit writes
//! of the accumulator that a program reads. [`machine`] is the initial state of a thread and its
//! architecture registers, [`flow`] the control flow with masks and mask stacks, [`operations`] the
//! operations whose results differ from those of Gen8. [`messages`] finds the receiver of a
//! message. [`breakpoints`] and [`attention`] are for debuggers.

pub mod accumulator;
pub mod attention;
pub mod breakpoints;
pub mod decode;
pub mod flow;
pub mod halves;
pub mod machine;
pub mod messages;
pub mod operations;
