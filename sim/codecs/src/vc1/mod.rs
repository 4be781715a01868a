//! VC-1 (SMPTE 421M): simple, main and advanced profile.
//!
//! A [`Picture`] is a frame or a field. Each [`Picture::slice`] decodes some of its rows of
//! macroblocks into the target, smoothing and loop filter included: neither crosses the edges of a
//! slice. Headers and bit planes are decoded by the caller.
//!
//! In reading order:
//! * `parameters`, `input`: what the caller states about a picture and a slice.
//! * `picture`: the picture between its slices.
//! * `slice`: the macroblocks of a slice, one after the other.
//! * `decoder`, `macroblock`: the state while a slice is decoded, and what all macroblocks use.
//! * `intra_picture`, `predicted`, `bidirectional`, `field`, `frame`: macroblocks of the picture
//!   types.
//! * `block`, `intra`: coefficients of blocks and their prediction.
//! * `vectors`, `field_vectors`, `frame_vectors`: prediction of motion vectors.
//! * `compensation`, `interpolation`: reference samples.
//! * `transform`, `overlap`, `deblock`: samples.
//! * `vlc`, `tables`: the codes.

mod bidirectional;
mod block;
mod compensation;
mod deblock;
mod decoder;
mod field;
mod field_vectors;
mod frame;
mod frame_vectors;
mod input;
mod interpolation;
mod intra;
mod intra_picture;
mod macroblock;
mod overlap;
mod parameters;
mod picture;
mod predicted;
mod slice;
mod tables;
mod transform;
mod vectors;
mod vlc;

pub use input::{Input, MOTION_BYTES, Slice};
pub use parameters::{
    Alternative, Coding, Compensation, Error, Intensity, Overlap, Parameters, PictureType,
    RangeReduction, Raw, VectorMode,
};
pub use picture::Picture;
pub use tables::{COEFFICIENTS, Code, MVDATA};
