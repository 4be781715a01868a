//! Where a value comes from: the instructions of a thread that made it, with their operands, and
//! what they read from outside.
//!
//! A slice is recorded by re-execution: an input runs again with a [`Tracer`], which records the
//! thread that shades one pixel in one draw ([`record`]). [`walk`] then goes backward from the
//! colour that the thread wrote: an instruction belongs to the slice if it wrote a byte, or a flag
//! bit, that the slice needs; what it read for this channel is needed from there on. Branches that
//! decide whether such an instruction is executed belong to the slice too, with the flags that they
//! test. [`payload`] names the registers that the thread started with, [`lanes`] the parts of
//! messages that belong to a pixel.
//!
//! [`crate::eu::access`] has the registers that an instruction reads and writes.

pub mod clock;
pub mod lanes;
pub mod locate;
pub mod payload;
pub mod record;
pub mod state;
pub mod tracer;
pub mod walk;
pub mod writers;

pub use clock::Clock;
pub use locate::{Locate, Located};
pub use payload::Source;
pub use state::{SetState, Stage, StatePacket};
pub use tracer::{Parent, Subject, Traced, Tracer, Wanted};
pub use walk::{Element, Input, Node, Operand, Origin, Sent, Slice, SliceError, Start, slice};
pub use writers::{Change, Span, Writers};
