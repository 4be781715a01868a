//! Packets, state structures, registers and enumerations of G45 (Gen4.5), generated from the
//! specification: one module for each unit, and for each engine an enum of its packets with a
//! parser.
//!
//! `genxml::gen45` re-exports this crate. `no_std`; text uses `alloc`.
#![no_std]

extern crate alloc;

pub use genxml_core::{engine, pipeline};

include!(concat!(env!("OUT_DIR"), "/mod.rs"));
