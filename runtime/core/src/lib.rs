//! What generated packets are made of. `no_std`, no allocation (but for the feature `serde`).
//!
//! * [`int`]: bounded integers [`U`], [`S`] and the stored forms [`MinusOne`], [`Shifted`],
//!   [`PowerOfTwo`]
//! * [`fixed`]: fixed point [`UFix`], [`SFix`]
//! * [`address`]: [`Address`], typed by the space that it counts in and by its alignment
//! * [`literal`]: [`lit!`], literals that are checked when the program is compiled
//! * [`fit`](mod@fit): [`fit!`], run-time values for fields, with errors that name the field
//! * [`bits`]: the only place that masks and shifts dwords of described structures
//! * [`packet`]: traits and errors of everything that can be packed and unpacked; variable tails
//! * [`read`]: batches as typed packets, one after the other; [`opcodes`]: how a packet is told by
//!   its first dword
//! * [`latch`]: packets whose newest value stays in force
//! * [`check`]: what strict readers check, as tables
//! * [`members`]: a container's fields as its dwords have them
//! * [`debug`](mod@debug): `Debug` of generated types, through the tables
//! * [`reflect`]: tables that describe every container at run time
//! * `serial`: containers as named fields, `serde` of generated types (feature `serde`)
//! * [`rule`]: programming restrictions, and how they are evaluated
//! * [`round_trip`](mod@round_trip): the laws of packing, for property tests
#![no_std]

#[cfg(test)]
extern crate std;

#[cfg(feature = "serde")]
extern crate alloc;

pub mod address;
mod at;
pub mod bits;
pub mod check;
pub mod debug;
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
pub mod read;
pub mod reflect;
pub mod round_trip;
pub mod rule;
#[cfg(feature = "serde")]
pub mod serial;

/// Nothing without the feature `serde`.
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
