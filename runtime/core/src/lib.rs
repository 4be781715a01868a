//! What generated packets are made of. `no_std`, no allocation.
//!
//! * [`int`]: bounded integers [`U`], [`S`] and the stored forms [`MinusOne`], [`Shifted`], [`PowerOfTwo`]
//! * [`fixed`]: fixed point [`UFix`], [`SFix`]
//! * [`address`]: [`Address`], typed by the space that it counts in and by its alignment
//! * [`literal`]: [`lit!`], literals that are checked when the program is compiled
//! * [`fit`](mod@fit): [`fit!`], run-time values for fields, with errors that name the field
//! * [`bits`]: the only place that masks and shifts dwords of described structures
//! * [`packet`]: traits and errors of everything that can be packed and unpacked; variable tails
//! * [`check`]: what strict readers check, as tables
//! * [`debug`](mod@debug): `Debug` of generated types, through the tables
//! * [`reflect`]: tables that describe every container at run time
//! * [`rule`]: programming restrictions, and how they are evaluated
//! * [`round_trip`](mod@round_trip): the laws of packing, for property tests
#![no_std]

#[cfg(test)]
extern crate std;

pub mod address;
mod at;
pub mod bits;
pub mod check;
pub mod debug;
pub mod fit;
pub mod fixed;
pub mod int;
pub mod literal;
mod message;
pub mod names;
pub mod packet;
pub mod reflect;
pub mod round_trip;
pub mod rule;

pub use address::{Address, Space};
pub use at::At;
pub use check::Check;
pub use fit::{FieldError, Fit};
pub use fixed::{SFix, UFix};
pub use int::{MinusOne, OutOfRange, PowerOfTwo, S, S64, Shifted, U, U64};
pub use literal::{FloatLiteral, Literal};
pub use packet::{Entries, Entry, Fixed, Instruction, PackError, Packed, ParseError, UnpackError};
