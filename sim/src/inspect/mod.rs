//! Inspecting the model: the state of draws, pictures of their targets, tables and traces of
//! events.
//!
//! * [`summary`]: the state of a draw;
//! * [`image`]: pictures of render targets, depth buffers and decoded video; with the feature
//!   `dumps`, `picture`: frames of a display, and `page`: surfaces and video of dumps;
//! * [`tally`]: tables by engine, packet, kernel, message and coding standard; [`mod@words`]:
//!   messages in words;
//! * [`trace`]: a trace file for Perfetto;
//! * [`history`]: everything that wrote or tested one pixel; with the feature `dumps`, `bisect`:
//!   where two runs part, and `frame`: the steps of a run and everything about one of them;
//! * [`dispatch`]: the surfaces of the threads of media and GPGPU packets; [`objects`]: the driver's
//!   memory objects;
//! * [`mod@slice`]: the instructions of a thread that made a value;
//! * [`debugger`]: stops at packets and instructions, and reads everything there;
//! * [`sanitize`]: observers that find mistakes which do not change the results of the model.

#[cfg(feature = "dumps")]
pub mod bisect;
pub mod debugger;
pub mod dispatch;
mod fragments;
#[cfg(feature = "dumps")]
pub mod frame;
pub mod history;
pub mod image;
pub mod objects;
#[cfg(feature = "dumps")]
pub mod page;
#[cfg(feature = "dumps")]
pub mod picture;
pub mod sanitize;
pub mod slice;
pub mod summary;
pub mod tally;
pub mod trace;
pub mod words;

pub use tally::Tally;
pub use trace::Trace;
