//! The frame inspector: what a run does, step by step, and everything about one step.
//!
//! * [`steps`]: the list of draws, dispatches and blits of a run, each with its cost, its state and
//!   a small picture;
//! * [`seen`]: what was seen of one step;
//! * [`draws`]: the targets of one draw before and after it, its shaders, its [`heat`] maps and its
//!   [`mesh`];
//! * [`blits`]: the destination of one blit before and after it, and its source;
//! * [`dispatches`]: the images and buffers that the threads of one dispatch wrote; [`mod@writes`]:
//!   where they wrote; [`ranges`]: sets of addresses.
//!
//! All of them are observers. `crate::runs` runs them on captures and AUB files.

pub mod blits;
pub mod dispatches;
pub mod draws;
pub mod heat;
pub mod mesh;
pub mod ranges;
pub mod seen;
pub mod steps;
pub mod writes;

pub use blits::BlitLook;
pub use dispatches::DispatchLook;
pub use draws::DrawLook;
pub use seen::{ChangedRun, Code, Look, Role, Seen, SeenBuffer, SeenTarget};
pub use steps::{Kind, Step, Steps};
pub use writes::Writes;
