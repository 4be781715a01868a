//! A debugger for what the model executes: stops at packets, draws and instructions, and reads
//! everything there.
//!
//! * [`moment`]: names of the points of a run at which the debugger can stop;
//! * [`position`]: submission, batch, packet and draw that are being executed;
//! * [`breakpoint`]: where to stop; [`expression`]: conditions and values;
//! * [`kernel`]: the instructions of a kernel; [`register`]: names of registers;
//! * [`stop`]: what can be read at a stop;
//! * [`engine`]: the observer that stops, and asks a [`Controller`] how to continue.
//!
//! The model is deterministic, so a [`Moment`] names the same point in each run of the same input.
//! A step back is a new run up to an earlier moment: [`crate::debugger`] does it.

pub mod breakpoint;
pub mod engine;
pub mod expression;
pub mod kernel;
pub mod moment;
pub mod position;
pub mod register;
pub mod stop;

pub use breakpoint::{Breakpoint, Breakpoints, What};
pub use engine::{Command, Controller, Engine};
pub use expression::{Expression, Value};
pub use kernel::Code;
pub use moment::{Moment, ThreadId};
pub use position::Position;
pub use stop::{Reason, Stop, StoppedThread};
