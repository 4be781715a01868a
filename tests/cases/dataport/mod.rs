//! Tests of every message of the data ports. A kernel sends them with random payloads, channels and
//! memory.
//!
//! A thread gets the descriptor, payload and channels as constants, sends one message, and stores
//! the response. The oracles are plain scalar code written from the manual's text. They use bytes
//! and dwords, and no types of the model.

mod atomics;
mod blocks;
mod faults;
mod media;
mod probe;
mod scattered;
mod untyped;
