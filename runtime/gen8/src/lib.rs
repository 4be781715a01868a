//! Packets, state structures, registers and enumerations of Gen8, generated from the specification:
//! one module for each unit, and for each engine an enum of its packets with a parser.
//!
//! `genxml::gen8` re-exports this crate. It is a separate crate so that edits of the crates that
//! use it do not recompile the generated code. `no_std`; text uses `alloc`.
#![no_std]

extern crate alloc;

pub mod pipeline;

pub use genxml_core::engine;
pub use genxml_eu::gen8::{descriptors, messages};
#[cfg(feature = "messages")]
pub use genxml_eu::gen8::{message_headers, message_payloads};

include!(concat!(env!("OUT_DIR"), "/mod.rs"));
