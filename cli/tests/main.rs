//! The command, run as a program. One test program, so that it is linked once.

mod common;
mod convert;
mod dumps;
mod error_state;
mod eu;
mod eu_run;
mod other;
mod run;
mod shim;
mod spec;
