//! The command streamers. Each engine has one streamer, which fetches packets and executes them one
//! by one.
//!
//! * [`streamer`]: the position of a streamer, and its step from packet to packet;
//! * `execute`: selects the function that executes a packet; [`flow`]: where the streamer continues
//!   after the packet;
//! * [`mi`]: commands of the streamer itself, the same on every engine; [`math`]: MI_MATH;
//!   [`atomic`]: MI_ATOMIC; [`predicate`]; [`semaphore`]; [`counters`]; [`status`]: status pages;
//!   [`urb`]: commands that access the URB; [`quiet`]: commands without effect;
//! * [`render`]: PIPE_CONTROL, state and media commands of the render engine; [`latch`]: 3D state;
//!   [`resource_streamer`]: packets of the resource streamer.
//!
//! [`crate::gpu::schedule`] lets streamers run; [`crate::machine::memory`] reads and writes the
//! operands of commands.

pub mod atomic;
pub mod counters;
mod execute;
pub mod flow;
pub mod latch;
pub mod math;
pub mod mi;
pub mod predicate;
pub mod quiet;
pub mod render;
pub mod resource_streamer;
pub mod semaphore;
pub mod status;
pub mod streamer;
pub mod urb;

pub use execute::{Commands, malformed};
pub use flow::Flow;
pub use streamer::{Batch, Ring, Step, Streamer};
