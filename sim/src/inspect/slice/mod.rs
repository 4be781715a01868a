//! Where a value comes from: the instructions of a thread that made it, with their operands, and
//! what they read from outside.
//!
//! A slice needs a further run of the input with a [`Tracer`]. It records one thread ([`record`]):
//! the thread that shades a pixel in a draw, or a thread of another packet. Then [`walk`] goes
//! backward from the value that the thread wrote. An instruction belongs to the slice if it wrote a
//! byte, or a flag bit, that the slice needs. From then on, the slice also needs what the
//! instruction read for this channel. A branch belongs to the slice if it decides whether such an
//! instruction is executed; the slice then needs the flags that the branch tests. [`payload`] names
//! the source of each register at the start of the thread. [`lanes`] finds the parts of a message
//! that belong to one channel.
//!
//! A pixel shader reads attributes. [`setup`] has the dwords of the vertices that they are made of,
//! [`origins`] finds the threads that made these vertices, and [`stages`] records these threads in
//! one more run. [`fetch`] finds the bytes of vertex and index buffers that the vertex shader got.
//! [`streams`] finds the vertices that stream output wrote to memory.
//!
//! [`crate::eu::access`] has the registers that an instruction reads and writes.

pub mod clock;
pub mod fetch;
pub mod lanes;
pub mod locate;
pub mod origins;
pub mod payload;
pub mod record;
pub mod setup;
pub mod stages;
pub mod state;
pub mod streams;
pub mod tracer;
pub mod used;
pub mod walk;
pub mod writers;

pub use clock::Clock;
pub use fetch::Fetched;
pub use locate::{Locate, Located};
pub use origins::{MadeBy, PrimitiveOrigin};
pub use payload::Source;
pub use setup::AttributeUse;
pub use stages::{StageTracer, VertexStage};
pub use state::{SetState, Stage, StatePacket};
pub use streams::StreamTracer;
pub use tracer::{Parent, Subject, Traced, Tracer, Wanted};
pub use used::VertexUse;
pub use walk::{
    Element, Input, Node, Operand, Origin, Output, Sent, Slice, SliceError, Start, slice,
};
pub use writers::{Change, Span, Writers};
