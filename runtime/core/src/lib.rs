//! The types, tables and traits that generated packets are built from. `no_std`; text uses `alloc`.
//!
//! * [`int`]: bounded integers [`U`], [`S`] and the stored forms [`MinusOne`], [`Shifted`],
//!   [`PowerOfTwo`]
//! * [`fixed`]: fixed point [`UFix`], [`SFix`]
//! * [`address`]: [`Address`], typed by its address space and its alignment
//! * [`literal`]: [`lit!`], literals that are checked at compile time
//! * [`fit`](mod@fit): [`fit!`], run-time values for fields, with errors that name the field
//! * [`bits`]: reads and writes bit ranges of dwords
//! * [`packet`]: traits and errors of packing and unpacking; variable tails
//! * [`read`]: iterates over a batch as typed packets; [`opcodes`]: finds the instruction of a
//!   packet from its first dword
//! * [`latch`]: packets whose newest value stays in force
//! * [`check`]: the checks of strict readers, as tables
//! * [`members`]: the fields of a container with their values in given dwords
//! * [`debug`](mod@debug): `Debug` of generated types, from the tables
//! * [`engine`], [`pipeline`]: engines and pipelines as types, and the packets that they accept
//! * [`reflect`]: tables that describe every container at run time
//! * `serial`: containers as maps of named fields; `serde` of generated types (feature `serde`)
//! * [`rule`]: programming restrictions and their evaluation
//! * [`round_trip`](mod@round_trip): the laws of packing, for property tests
#![no_std]

#[cfg(test)]
extern crate std;

extern crate alloc;

pub mod address;
mod at;
pub mod bits;
pub mod check;
pub mod debug;
pub mod engine;
mod enumeration;
pub mod fit;
pub mod fixed;
pub mod int;
pub mod latch;
pub mod literal;
pub mod members;
mod message;
pub mod names;
pub mod opcodes;
pub mod packet;
pub mod pipeline;
pub mod read;
pub mod reflect;
pub mod round_trip;
pub mod rule;
#[cfg(feature = "serde")]
pub mod serial;

/// Implements `Debug` with the text of `Display`. For errors: `main` prints the `Debug` form of an
/// error that it returns, and `unwrap` does, too.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($error:ty) => {
        impl ::core::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// Expands to nothing without the feature `serde`.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! serial {
    ($($types:tt)*) => {};
}

pub use address::{Address, Space};
pub use at::At;
pub use check::Check;
pub use fit::{FieldError, Fit};
pub use fixed::{SFix, UFix};
pub use int::{MinusOne, OutOfRange, PowerOfTwo, S, S64, Shifted, U, U64};
pub use literal::{FloatLiteral, Literal};
pub use packet::{Entries, Entry, Fixed, Instruction, PackError, Packed, ParseError, UnpackError};
