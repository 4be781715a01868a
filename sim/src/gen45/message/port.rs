//! The connection of one thread with memory and with the shared functions.

use super::bindings::Bindings;
use super::local::Local;
use crate::unit;

/// Connects one thread of the G45 with memory and with the shared functions.
pub type Port<'p, 'a> = unit::Port<'p, 'a, Bindings, Local>;
