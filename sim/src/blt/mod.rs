//! The blitter: copies and fills rectangles of pixels.
//!
//! * [`packets`]: a table that translates each packet to an [`Operation`]; `operands` makes
//!   operands from a packet's fields;
//! * [`mod@setup`]: setup packets, and the packets that draw with the state that they set;
//!   [`setup_state`]: that state;
//! * [`operation`]: a blit with all its operands; `draw`: the loop over the rows of its rectangle;
//!   `rows`: the operands of a row as bytes;
//! * [`plane`]: rows in memory, linear and tiled; [`depth`]: layouts of pixels;
//! * [`pattern`], [`bitmap`], [`key`], [`rop`]: patterns, monochrome sources, colour transparency
//!   and raster operations.
//!
//! The registers BR00 to BR30 describe the engine (2d p.43 to 68); gen8_facts 13 describes the
//! packets.

#[macro_use]
mod operands;

pub mod bitmap;
pub mod depth;
mod draw;
pub mod key;
pub mod operation;
pub mod packets;
pub mod pattern;
pub mod plane;
pub mod rop;
mod rows;
pub mod setup;
pub mod setup_state;

pub use operation::{Operation, Rectangle, Source};
pub use packets::Draw;
pub use plane::Plane;
pub use rop::Rop;
pub use setup::{setup, setup_clip, setup_mono_pattern};
pub use setup_state::SetupState;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;

/// Executes a packet that draws.
///
/// # Errors
/// Those of [`Draw::operation`] and [`Operation::run`].
pub fn draw(exec: &mut Exec<'_>, packet: &impl Draw) -> Result<(), Fault> {
    packet.operation(exec)?.run(exec)
}
