//! H.264 (AVC): baseline, main and high profile, 4:2:0 and monochrome of eight bits.
//!
//! [`Picture::new`] starts a picture, [`Picture::slice`] decodes a slice, [`Picture::finish`]
//! filters the picture and returns it. A field is a picture of its own: it changes only its rows
//! of the frame.
//!
//! In reading order:
//! * `parameters`: what the packets of the engine state.
//! * [`short`]: the same from the headers of slices.
//! * `macroblock`: what is kept of a macroblock.
//! * `picture`: a picture from its start to its end.
//! * `slice`: the macroblocks of a slice in order.
//! * `state`: the state of the slice that is being decoded. All stages below change it.
//! * `neighbours`: finds the neighbouring macroblocks and blocks.
//! * `motion_cache`: motion of the current macroblock and of the blocks around it.
//! * `context`: what the neighbouring macroblocks determine about syntax elements.
//! * `layer`, `residual`: parsing of a macroblock and of its coefficients.
//! * `syntax`: what the two entropy codes have in common.
//! * `cavlc`, `cavlc_tables`: the CAVLC decoder.
//! * `bins`, `cabac`, `cabac_tables`: the CABAC decoder.
//! * `vectors`, `direct`: motion derived from the blocks around a macroblock and from other
//!   pictures.
//! * `reconstruct`: prediction plus residual. It uses `transform`, `intra`, `interpolate` and
//!   `weight`.
//! * `conceal`: samples of macroblocks that no slice has decoded.
//! * `deblock`: the filter over the whole picture.
//! * [`encode`]: the encoder. It drives the modules above in the other direction.
//!
//! The parameters cannot describe streams that the engine does not decode: more than eight bits,
//! 4:2:2, 4:4:4, slice groups, redundant slices.

mod bins;
mod cabac;
mod cabac_tables;
mod cavlc;
mod cavlc_tables;
mod conceal;
mod context;
mod deblock;
mod direct;
pub mod encode;
mod interpolate;
pub mod intra;
mod layer;
mod macroblock;
mod motion_cache;
mod neighbours;
mod parameters;
mod picture;
mod reconstruct;
mod residual;
pub mod short;
mod slice;
mod state;
mod syntax;
mod transform;
mod vectors;
mod weight;

/// Thresholds of the deblocking filter (tables 8-16 and 8-17).
pub use deblock::{ALPHA, BETA, CLIP};
use macroblock::SliceFilter;
pub use macroblock::{Macroblock, Prediction};
pub use parameters::{
    Concealment, Entry, MOTION_BYTES, Matrices, Parameters, References, Slice, SliceKind,
    Substitute, Weight,
};
pub use picture::{Error, Output, Outputs, Picture};
