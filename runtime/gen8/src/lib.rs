//! Packets, state structures, registers and enumerations of Gen8, generated from the specification:
//! a module for each unit, and per engine an enum of its packets with a parser.
//!
//! `genxml::gen8` is this crate. It stands alone so that what is generated is compiled once,
//! whatever is edited above it. `no_std`, with `alloc` for the parts that are text.
#![no_std]

extern crate alloc;

pub mod engine;
pub mod pipeline;

pub use genxml_eu::gen8::{descriptors, messages};
#[cfg(feature = "messages")]
pub use genxml_eu::gen8::{message_headers, message_payloads};

include!(concat!(env!("OUT_DIR"), "/mod.rs"));
