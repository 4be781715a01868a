//! Tests that run the command as a program. All of them are in one test program, so that it is
//! linked once.

mod bisect;
mod common;
mod convert;
mod dap;
mod debug;
mod dumps;
mod error_state;
mod eu;
mod eu_run;
mod generation;
mod guide_pictures;
mod inspect;
mod inspect_steps;
mod mesa;
mod new;
mod other;
mod run;
mod shim;
mod spec;
mod why;
mod why_slice;
