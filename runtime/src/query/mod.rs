//! Questions to a dump: what is where, what was set when, what a draw works with.
//!
//! All of it works on the records of a [decoder](crate::decode), so it holds for every kind of
//! dump.
//!
//! * [`Filter`]: only some packets, fields, addresses, draws or submissions; goes between decoder
//!   and output
//! * [`Draws`]: every draw and dispatch, with what it draws and its kernels
//! * [`Writes`]: who sets a packet's state, a structure or a register, and what is in effect at a
//!   draw
//! * [`Glob`]: patterns of names

mod draws;
mod filter;
mod glob;
mod writes;

pub use draws::{Draw, DrawCounter, Draws, is_draw};
pub(crate) use filter::is_packet;
pub use filter::{Compare, FieldTest, Filter, Filtered, ParseError};
pub use glob::Glob;
pub use writes::{InEffect, What, Write, Writes, in_effect};
