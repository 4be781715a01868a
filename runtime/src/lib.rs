//! Typed packets of Intel Broadwell graphics: build batches, decode dumps.
//!
//! * [`gen8`]: the packets, generated from the specification
//! * [`engine`]: the engines and which packets they take
//! * [`batch`]: batches and the state that they point to
//! * [`capture`]: recorded submissions of programs, with the memory that they left
//! * [`check`](mod@check): the manual's programming restrictions, looked for in dumps
//! * [`decode`]: what batches say and point to, as records, text or JSON
//! * [`mi`]: expressions that the command streamer evaluates itself, put into a batch
//!
//! # Features
//!
//! `3d`, `blitter`, `display`, `media`, `messages`, `registers`, `vebox` and `video`, all on by default, each give the
//! types of one unit. Without, the unit's packets are still known to the decoder, and to the parsers as `Partial`; types that another
//! unit's fields have stay. The rest (MI commands, state, structures) is always there.
//!
//! `std`, on by default, gives what reads and writes files and takes whole dumps apart: [`capture`], [`check`](mod@check)
//! and [`decode`], and, with `registers`, [`mi`]. Without it the crate is `no_std` and needs `alloc`; packets pack and batches build all the same.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "std")]
pub mod batch;
#[cfg(feature = "std")]
pub mod capture;
#[cfg(feature = "std")]
pub mod check;
#[cfg(feature = "std")]
pub mod decode;
#[cfg(all(feature = "std", feature = "registers"))]
pub mod mi;

/// Packets, state structures, registers and enumerations of Gen8, generated from the specification: a module for each
/// unit, and per engine an enum of its packets with a parser.
pub mod gen8 {
    pub use genxml_gen8::*;
}

pub use genxml_core as core;
pub use genxml_eu as eu;
pub use genxml_gen8::engine;
pub use genxml_macros::packet;
