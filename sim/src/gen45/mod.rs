//! G45 (Gen4.5): its state, units and shared functions.

pub mod message;
pub mod urb;
