//! Queries on a dump: filters, lists of draws, and which packets set the state of a draw.
//!
//! All queries work on the records of a [decoder](crate::decode), so they work for every kind of
//! dump.
//!
//! * [`Filter`]: selects packets, fields, addresses, draws or submissions; it is a sink between
//!   decoder and output
//! * [`Draws`]: every draw and dispatch, with its sizes, kernels and targets
//! * [`Writes`]: every write of a packet's state, a structure or a register; [`in_effect`]: the
//!   writes in effect at a draw
//! * [`Reached`]: which ranges of memory a decoded dump reaches
//! * [`Glob`]: patterns of names

mod draws;
mod filter;
mod glob;
mod reached;
mod writes;

pub use draws::{Draw, DrawCounter, Draws, Kernel, Target, is_draw};
pub use filter::{Compare, FieldTest, Filter, Filtered, ParseError, Seen};
pub use glob::Glob;
pub use reached::Reached;
pub use writes::{InEffect, What, Write, Writes, in_effect};
