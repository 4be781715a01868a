//! Compares two runs that should draw the same pictures, and finds where they part.
//!
//! * [`survey`]: observes a run: its draws, and digests of what they leave in their targets;
//! * [`texels`]: the values of a whole target;
//! * [`differ`]: pairs the draws of two runs, and compares the values of two targets;
//! * [`writes`]: digests of what each packet of a run writes to memory;
//! * [`threads`]: the instructions of the threads of one draw, with the values that they write.
//!
//! [`crate::bisect`] runs captures and AUB files with these observers.

pub mod differ;
pub mod survey;
pub mod texels;
pub mod threads;
pub mod writes;

pub use differ::{Difference, Parted, compare, pair};
pub use survey::{Look, Survey, Work};
pub use texels::Texels;
pub use threads::{Kernels, Step, Thread, Threads};
pub use writes::Writes;
