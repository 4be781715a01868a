//! Typed packets of Intel Broadwell graphics: build batches, decode dumps.
//!
//! * [`engine`]: the engines and which packets they take
//! * [`capture`]: recorded submissions of programs, with the memory that they left

pub mod capture;
pub mod engine;

pub use genxml_core as core;
pub use genxml_eu as eu;
