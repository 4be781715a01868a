//! The command streamers: each engine has one, which fetches packets and has them executed, one after the other.
//!
//! * [`streamer`]: where a streamer stands, and its step from packet to packet;
//! * [`execute`]: from dwords to the function that executes the packet;
//! * [`mi`]: commands of the streamer itself, the same on every engine; [`memory`]: their operands in memory;
//!   [`math`]: MI_MATH; [`atomic`]: MI_ATOMIC; [`predicate`]; [`semaphore`];
//! * [`render`]: PIPE_CONTROL, state and media commands of the render engine; [`latch`]: 3D state.

pub mod atomic;
pub mod engine;
mod execute;
pub mod latch;
pub mod math;
pub mod memory;
pub mod mi;
pub mod predicate;
pub mod render;
pub mod semaphore;
pub mod streamer;
#[cfg(test)]
mod tests;

pub use execute::Flow;
pub use semaphore::Wait;
pub use streamer::{Batch, Step, Streamer};
