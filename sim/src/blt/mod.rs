//! The blitter: rectangles of pixels.
//!
//! * [`packets`]: what each packet is as an [`Operation`], in a table, with `operands` made from
//!   fields; [`mod@setup`]: the packets that set up others, and those others;
//! * [`operation`]: the loop over the rows of a rectangle; `rows`: the operands of a row, as bytes;
//! * [`plane`]: rows in memory, linear and tiled; [`depth`]: layouts of pixels;
//! * [`pattern`], [`bitmap`], [`key`], [`rop`]: patterns, monochrome sources, colour transparency,
//!   raster operations.
//!
//! The engine is described by its registers BR00 to BR30 (2d p.43 to 68), the packets by facts
//! (gen8_facts 13).

#[macro_use]
mod operands;

pub mod bitmap;
pub mod depth;
pub mod key;
pub mod operation;
pub mod packets;
pub mod pattern;
pub mod plane;
pub mod rop;
mod rows;
pub mod setup;

pub use operation::{Operation, Rectangle, Source};
pub use packets::Draw;
pub use plane::Plane;
pub use rop::Rop;
pub use setup::{SetupState, setup, setup_clip, setup_mono_pattern};

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;

/// Any packet that draws.
///
/// # Errors
/// Those of [`Draw::operation`] and [`Operation::run`].
pub fn draw(exec: &mut Exec<'_>, packet: &impl Draw) -> Result<(), Fault> {
    packet.operation(exec)?.run(exec)
}
