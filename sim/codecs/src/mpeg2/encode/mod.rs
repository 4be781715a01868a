//! The encoder of the engine ("PAK"): macroblocks whose prediction is already chosen become slices
//! with their headers.
//!
//! [`Picture::new`] starts a picture, [`Picture::insert`] puts headers and tails into the coded
//! data, [`Picture::slice`] encodes a slice, [`Picture::finish`] returns the coded data. The
//! decoder reconstructs the picture: it decodes each slice that was written.
//!
//! * `slice`: slices and macroblocks, their syntax.
//! * `block`: forward transform, quantiser and code of blocks.

mod block;
mod slice;

use super::{Error, Motion, Parameters, References};
use crate::bits::BitWriter;
use crate::{Frame, Report};
use block::BlockWriter;
pub use block::Forward;
use std::fmt;

/// A macroblock to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Macroblock {
    /// Prediction. `None` for intra.
    pub motion: Option<Motion>,
    /// dct_type: in a frame picture, luma blocks consist of rows of one field.
    pub field_dct: bool,
    /// quantiser_scale_code, 1 to 31.
    pub quantiser_scale_code: u8,
    /// Bit 5 for the first block, four luma blocks, Cb, Cr: the block may have coefficients. Intra
    /// blocks without it keep the DC coefficient alone.
    pub coded: u8,
    /// If it has no coefficients and the standard allows it, the macroblock is skipped.
    pub skip_conversion: bool,
}

/// A slice to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Column and row of the first macroblock.
    pub first: (usize, usize),
    /// quantiser_scale_code of the slice header, 1 to 31.
    pub quantiser_scale_code: u8,
    /// intra_slice, if the header has intra_slice_flag.
    pub intra: Option<bool>,
}

/// Why a macroblock cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Not in the picture, or not in the row of the slice.
    Position,
    /// A picture type without such a prediction.
    Prediction,
    /// Vectors that the f_codes do not allow.
    Vectors,
    /// A quantiser_scale_code of 0 or above 31.
    Quantiser(u8),
    /// Field DCT in a picture that does not have it.
    FieldDct,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Position => f.write_str("after the end of the row or of the picture"),
            Invalid::Prediction => f.write_str("the picture does not allow its prediction"),
            Invalid::Vectors => f.write_str("the f_codes do not allow its vectors"),
            Invalid::Quantiser(code) => write!(f, "quantiser_scale_code {code}; use 1 to 31"),
            Invalid::FieldDct => f.write_str("the picture does not allow field DCT"),
        }
    }
}

impl std::error::Error for Invalid {}

/// A picture in encoding.
#[derive(Debug)]
pub struct Picture<'a> {
    decoder: super::Picture,
    parameters: Parameters,
    references: References<'a>,
    source: &'a Frame,
    target: Frame,
    blocks: BlockWriter,
    stream: BitWriter,
    slice_bits: u64,
    quantisers: u64,
}

/// An encoded picture.
#[derive(Clone, Debug)]
pub struct Output {
    /// The coded data.
    pub stream: Vec<u8>,
    /// The reconstructed picture.
    pub frame: Frame,
    /// What was decoded.
    pub report: Report,
    /// Bits of the slices.
    pub slice_bits: u64,
    /// Sum of quantiser_scale_code of all macroblocks.
    pub quantisers: u64,
}

impl<'a> Picture<'a> {
    /// Starts a picture. `source` has the size of `target`.
    ///
    /// # Errors
    /// Those of the decoder; [`Error::Size`] if the source has another size.
    pub fn new(
        parameters: &Parameters,
        forward: &Forward,
        references: References<'a>,
        source: &'a Frame,
        target: Frame,
    ) -> Result<Self, Error> {
        let sizes = source.planes.iter().zip(&target.planes).zip([16, 8, 8]);
        let fits = sizes.into_iter().all(|((source, target), unit)| {
            source.width == unit * parameters.width
                && source.height == unit * parameters.height
                && source.data.len() == source.width * source.height
                && (target.width, target.data.len()) == (source.width, source.data.len())
        });
        let decoder = super::Picture::new(Parameters { conceal: false, ..parameters.clone() })?;
        if !fits {
            return Err(Error::Size(parameters.width, parameters.height));
        }
        Ok(Picture {
            decoder,
            parameters: parameters.clone(),
            references,
            source,
            target,
            blocks: BlockWriter::new(parameters, forward),
            stream: BitWriter::default(),
            slice_bits: 0,
            quantisers: 0,
        })
    }

    /// Number of whole bytes of the coded data so far.
    pub fn position(&self) -> usize {
        self.stream.position() / 8
    }

    /// Puts bytes into the coded data. Only the first `last_bits` bits of the last byte count.
    pub fn insert(&mut self, data: &[u8], last_bits: u32) {
        let Some((last, data)) = data.split_last() else { return };
        self.stream.bytes(data);
        let bits = last_bits.clamp(1, 8);
        self.stream.put(u32::from(*last) >> (8 - bits), bits);
    }

    /// Encodes a slice, which ends in its row.
    ///
    /// # Errors
    /// The macroblock, counted from the start of the slice, that is not valid, and why. The slice
    /// is not encoded.
    pub fn slice(
        &mut self,
        slice: &Slice,
        macroblocks: &[Macroblock],
    ) -> Result<(), (usize, Invalid)> {
        let mut data = self.encode(slice, macroblocks)?;
        self.slice_bits += data.position() as u64;
        data.align(false);
        let data = data.into_bytes();
        let header = super::Slice {
            row: slice.first.1,
            quantiser_scale_code: slice.quantiser_scale_code,
            // The start code, and the header.
            bit_offset: 32 + if slice.intra.is_some() { 15 } else { 6 },
        };
        self.decoder.slice(&header, &data, &self.references, &mut self.target);
        self.stream.align(false);
        self.stream.bytes(&data);
        self.quantisers +=
            macroblocks.iter().map(|found| u64::from(found.quantiser_scale_code)).sum::<u64>();
        Ok(())
    }

    /// Ends the picture.
    pub fn finish(mut self) -> Output {
        let report = self.decoder.finish(&self.references, &mut self.target);
        Output {
            stream: self.stream.into_bytes(),
            frame: self.target,
            report,
            slice_bits: self.slice_bits,
            quantisers: self.quantisers,
        }
    }
}
