//! Typed packets of Intel Broadwell graphics: build batches, decode dumps.
//!
//! * [`gen8`]: the packets, generated from the specification
//! * [`engine`]: the engines and which packets they take
//! * [`batch`]: batches and the state that they point to
//! * [`capture`]: recorded submissions of programs, with the memory that they left
//! * [`decode`]: what batches say and point to, as records, text or JSON

pub mod batch;
pub mod capture;
pub mod decode;
pub mod engine;

/// Packets, state structures, registers and enumerations of Gen8, generated from the specification: a module for each
/// unit, and per engine an enum of its packets with a parser.
pub mod gen8 {
    pub use crate::engine;
    pub use genxml_eu::gen8::{descriptors, message_headers, message_payloads, messages};
    include!(concat!(env!("OUT_DIR"), "/mod.rs"));
}

pub use genxml_core as core;
pub use genxml_eu as eu;
pub use genxml_macros::packet;
