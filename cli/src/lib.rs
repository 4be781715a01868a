//! The `genx` command as a library: a thin layer over the other crates, one module per subcommand.
//!
//! Results go to standard output, diagnostics to standard error. Exit codes of every subcommand:
//!
//! * 0: success;
//! * 1: an expectation differs; `check`, `eu validate` or `spec check` found an error, `diff` found
//!   a difference, `disasm` found bytes that are not an instruction, `query` found nothing, or
//!   `shim --doctor` found no usable driver;
//! * 2: unusable input, or output that cannot be written;
//! * 3: a GPU fault, a hang, or something that the model does not implement.
//!
//! `shim` ends with the exit code of the command that it runs.

pub mod asm;
pub mod assembly;
pub mod bisect;
pub mod check;
mod code;
pub mod compress;
pub mod convert;
pub mod debug;
pub mod decode;
pub mod demo;
pub mod diff;
pub mod disasm;
pub mod eu;
pub mod filter;
mod generation;
pub mod hang;
pub mod input;
pub mod inspect;
pub mod new;
pub mod object;
pub mod output;
mod progress;
pub mod query;
pub mod run;
mod sanitizer;
pub mod sarif;
pub mod shim;
pub mod source;
pub mod spec;
pub mod tables;
pub mod why;
