//! Cases of the model: every message of the data ports, sent by a kernel with random payloads,
//! channels and memory.
//!
//! A thread gets descriptor, payload and channels as constants, sends one message, and stores what
//! came back. The oracles are plain scalar code after the manual's text; they know bytes and
//! dwords, not the model.

mod atomics;
mod blocks;
mod faults;
mod media;
mod probe;
mod scattered;
mod untyped;
