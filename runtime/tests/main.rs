//! The tests of this crate that use its public items. One program, so that it is linked once;
//! `memory.rs` alone is a program of its own.

mod aub;
mod batch;
mod capture;
mod check;
mod coded;
mod decode;
mod devcoredump;
mod diff;
mod error_state;
mod hang;
mod html;
mod merge;
mod mi;
mod pasted;
mod query;
mod read;
mod reading;
mod setup;
