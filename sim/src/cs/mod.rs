//! The command streamers: each engine has one, which fetches packets and has them executed, one
//! after the other.
//!
//! What runs:
//! * [`schedule`]: batches, execution lists and rings on the engines, which take turns; [`engine`]:
//!   what an engine has;
//! * [`mmio`]: the registers as the host sees them; [`registers`]: whose they are and how they are
//!   written;
//!   [`device`]: those of the GPU, interrupts, errors;
//! * [`execlist`]: submission of contexts; [`image`]: their registers in memory; [`status`]: status
//!   pages.
//!
//! How it runs:
//! * [`streamer`]: where a streamer stands, and its step from packet to packet;
//! * `execute`: from dwords to the function that executes the packet;
//! * [`mi`]: commands of the streamer itself, the same on every engine; [`memory`]: their operands
//!   in memory;
//!   [`math`]: MI_MATH; [`atomic`]: MI_ATOMIC; [`predicate`]; [`semaphore`]; [`counters`]; [`quiet`]: commands without
//!   effect;
//! * [`render`]: PIPE_CONTROL, state and media commands of the render engine; [`latch`]: 3D state.

pub mod atomic;
pub mod counters;
mod execute;
pub mod latch;
pub mod math;
pub mod mi;
pub mod predicate;
pub mod quiet;
pub mod render;
pub mod semaphore;
pub mod status;
pub mod streamer;
#[cfg(test)]
mod tests;

pub use execute::Flow;
pub use streamer::{Batch, Ring, Step, Streamer};
