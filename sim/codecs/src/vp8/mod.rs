//! The decoder of VP8 (RFC 6386), from the first macroblock of a frame on. The frame header is
//! parsed by the application; what it states comes as [`Parameters`] and [`Start`].
//!
//! [`decode`] makes the frame as it is displayed and referred to. [`reconstruct`] makes it without
//! the loop filter, for callers that want both forms; [`Reconstruction::filter`] then filters it.
//!
//! In reading order:
//! * `parameters`: what the packets state, and the bytes of a picture.
//! * `decoder`: the picture, which calls the stages below for each macroblock.
//! * `macroblock`: what the header of a macroblock states.
//! * `bool_decoder`: the entropy decoder.
//! * `modes`, `vectors`: reading of the header of a macroblock.
//! * `tokens`, `transform`: the residual.
//! * `intra`, `inter`: the prediction.
//! * `loop_filter`: the filter over the edges of blocks.
//! * `tables`: the constants of all of them.

mod bool_decoder;
mod decoder;
mod inter;
mod intra;
mod loop_filter;
mod macroblock;
mod modes;
mod parameters;
mod tables;
mod tokens;
mod transform;
mod vectors;

pub use decoder::{Reconstruction, decode, reconstruct};
pub use parameters::{
    CoefficientProbabilities, Data, Error, FilterType, Parameters, Probabilities, Quantiser, Start,
};
