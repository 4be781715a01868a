//! The encoder of the engine ("PAK"): macroblocks whose modes and vectors are already chosen become
//! coded data and the picture that a decoder shows.
//!
//! [`Picture::new`] starts a picture, [`Picture::insert`] puts headers and tails into the coded
//! data, [`Picture::slice`] encodes a slice, [`Picture::finish`] filters the picture.
//!
//! The decoder's modules do most of the work. A macroblock is first reconstructed by the decoder's
//! code, which stops after each prediction so that the encoder can find the residual. Then the
//! decoder's parser goes through the macroblock, with an entropy code that writes instead of reads.
//!
//! In reading order:
//! * `macroblock`: what is chosen for a macroblock, and what is invalid.
//! * `record`: how macroblocks are encoded, and the result of each.
//! * `picture`: a picture from its start to its end.
//! * `slice`: the macroblocks of a slice in order; which of them are skipped.
//! * `residual`: the residual of a macroblock. It uses `quantise`.
//! * `plan`: all syntax elements of a macroblock.
//! * `elements`: the plan as an entropy code of the parser.
//! * `cavlc`, `bins`, `arithmetic`: the entropy codes.

mod arithmetic;
mod bins;
mod cavlc;
mod elements;
mod macroblock;
mod picture;
mod plan;
mod quantise;
mod record;
mod residual;
mod slice;

pub use macroblock::{Coded, Inter, Invalid, Kind, Macroblock, Shape};
pub use picture::{Insertion, Output, Picture, Sizes};
pub use quantise::{Forward, Rounding};
pub use record::{Record, Settings};
