//! Sanitizers: observers that find mistakes in a program which do not change its results on the
//! model. The model hides such mistakes, because it has no caches, runs threads in order, and gives
//! every register a value.
//!
//! * [`sanitizer`]: what every sanitizer does; [`finding`]: what it reports: a rule, and the two
//!   sides that break it together;
//! * [`mod@flush`]: data that is read through a cache which was not invalidated, or written through
//!   one which was not flushed;
//! * [`race`]: threads of one packet that access the same bytes without order;
//! * [`bounds`]: accesses beyond surfaces, tables and objects;
//! * [`uninit`]: registers and shared local memory that are used before anything wrote them;
//! * [`state`]: draws that use state which nothing set, reserved values, and stale pointers;
//! * [`list`]: [`SANITIZERS`] lists them, and [`Sanitizers`] is the observer that runs those of a
//!   list of names.
//!
//! To add one, add a file with a type that implements [`Sanitize`], and a row to the list.

pub mod bounds;
pub mod finding;
pub mod flush;
pub mod list;
pub mod race;
pub mod sanitizer;
pub mod state;
pub mod uninit;

pub use finding::{Finding, Rule, Side};
pub use list::{Row, SANITIZERS, Sanitizers, Unknown, names, row};
pub use sanitizer::Sanitize;

/// Number of bytes of freed objects whose physical addresses a run with sanitizers does not use
/// again ([`Replay::quarantine`](crate::replay::Replay::quarantine)). So a sanitizer can
/// distinguish a new object from an old one at the same graphics address.
pub const QUARANTINE: u64 = 256 << 20;
