//! The frame inspector: what a run does, step by step, and everything about one draw.
//!
//! * [`steps`]: the list of draws, dispatches and blits of a run, each with its cost, its state and
//!   a small picture;
//! * [`look`]: the targets of one draw before and after it, its shaders, its [`heat`] maps and its
//!   [`mesh`].
//!
//! Both are observers. `crate::runs` runs them on captures and AUB files.

pub mod heat;
pub mod look;
pub mod mesh;
pub mod steps;

pub use look::{Code, Look, Seen, SeenTarget};
pub use steps::{Kind, Step, Steps};
