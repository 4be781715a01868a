//! H.264 (AVC): baseline, main and high profile, 4:2:0 and monochrome of eight bits.
//!
//! [`Picture::new`] starts a picture, [`Picture::slice`] decodes a slice, [`Picture::finish`]
//! filters the picture and returns it. A field is a picture of its own: it changes only its rows
//! of the frame.
//!
//! In reading order:
//! * [`parameters`]: what the packets of the engine state.
//! * [`macroblock`]: what is kept of a macroblock.
//! * `picture`: a picture from its start to its end.
//! * `slice`: the macroblocks of a slice in order.
//! * `layer`, `residual`: parsing of a macroblock and of its coefficients.
//! * `syntax`: what the two entropy codes have in common. `cavlc` and `cavlc_tables`; `bins`,
//!   `cabac` and `cabac_tables`.
//! * `vectors`, `direct`: motion derived from the blocks around a macroblock and from other
//!   pictures.
//! * `reconstruct`: prediction plus residual, by means of [`transform`], [`intra`],
//!   [`interpolate`] and [`weight`].
//! * `state`: a slice in decoding, which all these stages change. `context`: what the macroblocks
//!   around say about syntax elements. `neighbours`, `motion_cache`: which those are, and their
//!   motion.
//! * [`deblock`]: the filter over the whole picture.
//!
//! Streams that the engine does not decode (more than eight bits, 4:2:2, 4:4:4, slice groups,
//! redundant slices) have no parameters here.

mod bins;
mod cabac;
mod cabac_tables;
mod cavlc;
mod cavlc_tables;
mod context;
pub mod deblock;
mod direct;
pub mod interpolate;
pub mod intra;
mod layer;
pub mod macroblock;
mod motion_cache;
mod neighbours;
pub mod parameters;
mod picture;
mod reconstruct;
mod residual;
mod slice;
mod state;
mod syntax;
pub mod transform;
mod vectors;
pub mod weight;

pub use macroblock::{Macroblock, Prediction, SliceFilter};
pub use parameters::{
    Entry, MOTION_BYTES, Matrices, Parameters, References, Slice, SliceKind, Weight,
};
pub use picture::{Error, Output, Outputs, Picture};
