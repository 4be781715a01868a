//! JPEG (ITU-T T.81): baseline sequential, Huffman coded, samples of eight bits.
//!
//! A [`Decoder`] is made from the [`Parameters`] of a picture. [`Decoder::scan`] decodes a [`Scan`]
//! into the planes of a frame; [`Parameters::frame`] makes one of the size of the picture. If the
//! packets ask for it, [`Conversion::apply`] changes the subsampling of chroma after the last scan.
//!
//! In reading order:
//! * `parameters`: what the packets state of a picture and of a scan.
//! * `segments`: finds restart markers in the data, and removes stuffed bytes.
//! * `huffman`: tables of codes.
//! * [`idct`]: rounding of the inverse transform, and the level shift.
//! * `decoder`: decodes the minimum coded units of a scan.
//! * `chroma`: changes the subsampling of a decoded picture.

mod chroma;
mod decoder;
mod huffman;
pub mod idct;
mod parameters;
mod segments;

pub use chroma::Conversion;
pub use decoder::{Decoder, Outcome, Status};
pub use parameters::{Error, HuffmanTables, InputFormat, OutputFormat, Parameters, Rotation, Scan};
