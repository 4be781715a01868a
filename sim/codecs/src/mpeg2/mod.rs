//! MPEG-2 (ISO/IEC 13818-2): main profile, 4:2:0. Clauses in this module are of that standard.
//!
//! [`Parameters`] holds what the packets state about a picture, a frame or a field.
//! [`Picture::new`] checks them, [`Picture::slice`] decodes a slice, [`Picture::finish`] conceals
//! what is missing and reports. The two steps of [`Picture::slice`] can be called alone:
//! [`Picture::parse`] decodes the syntax, and [`Picture::macroblock`] reconstructs a macroblock.
//!
//! In reading order:
//! * `parameters`: what the packets state.
//! * `picture`: the picture between its slices, and the concealment at its end.
//! * `slice`: slices and macroblocks, their syntax (6.2.4, 6.2.5).
//! * `motion`: motion vectors (7.6.3).
//! * `block`: coefficients (7.2 to 7.4).
//! * `macroblock`: prediction plus residual (7.6.8).
//! * `predict`: motion compensation (7.6.4 to 7.6.7).
//! * [`idct`]: rounding of the inverse transform (annex A).
//! * [`tables`], `vlc`: the tables of annex B, and look-up tables built from them.
//! * `codes`: the same codes as numbers, for the encoder.
//! * [`encode`]: the encoder.

mod block;
mod codes;
pub mod encode;
pub mod idct;
mod macroblock;
mod motion;
mod parameters;
mod picture;
mod predict;
mod slice;
pub mod tables;
mod vlc;

pub use crate::frame::Structure;
pub use block::Block;
pub use macroblock::Macroblock;
pub use motion::{Motion, Prediction, Vector};
pub use parameters::{Error, Parameters, PictureType, Reference, References, Slice};
pub use picture::Picture;
