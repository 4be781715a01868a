//! The guide, a chapter a page. What is quoted is compiled and run with the tests.
//!
//! 1. [`packets`]: what a batch buffer is; packets and fields; literals, run-time values, enumerations, required fields
//! 2. [`reading`]: dwords back to packets, dumps to text
//! 3. [`checking`]: the manual's restrictions; running on the model

#[doc = include_str!("packets.md")]
pub mod packets {}

#[doc = include_str!("reading.md")]
pub mod reading {}

#[doc = include_str!("checking.md")]
pub mod checking {}
