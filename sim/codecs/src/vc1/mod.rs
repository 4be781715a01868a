//! VC-1 (SMPTE 421M): simple, main and advanced profile.
//!
//! A [`Picture`] is a frame or a field. Each [`Picture::slice`] decodes some of its rows of
//! macroblocks into the target, smoothing and loop filter included: neither crosses the edges of a
//! slice. Headers and bit planes are decoded by the caller.
//!
//! In reading order:
//! * [`parameters`]: what the caller states.
//! * `slice`: the macroblocks of a slice, one after the other.
//! * `intra_picture`, `predicted`, `bidirectional`, `field`, `frame`: macroblocks of the picture
//!   types.
//! * `block`, `intra`: coefficients of blocks and their prediction.
//! * `vectors`, `field_vectors`, `frame_vectors`: prediction of motion vectors.
//! * `compensation`, `interpolation`: reference samples.
//! * `transform`, `overlap`, `deblock`: samples.
//! * `vlc`, [`tables`]: the codes.

mod bidirectional;
mod block;
mod compensation;
mod deblock;
mod field;
mod field_vectors;
mod frame;
mod frame_vectors;
mod interpolation;
mod intra;
mod intra_picture;
mod overlap;
pub mod parameters;
mod predicted;
mod slice;
pub mod tables;
mod transform;
mod vectors;
mod vlc;

use crate::{Frame, Report, Structure};
use compensation::Lut;
pub use parameters::{
    Alternative, Coding, Compensation, Error, Intensity, Overlap, Parameters, PictureType,
    RangeReduction, Raw, VectorMode,
};

/// Bytes of motion that the decoder keeps for a macroblock.
pub const MOTION_BYTES: usize = 16;

/// A slice of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Bit of the first macroblock in the data, 0 to 7.
    pub bit_offset: usize,
    /// The first row of macroblocks.
    pub first_row: usize,
    /// The row after the last one.
    pub end_row: usize,
}

/// What a slice is decoded from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input<'a> {
    /// Bytes from the one of the first macroblock on. Advanced profile: emulation prevention
    /// bytes are inside.
    pub data: &'a [u8],
    /// Bit planes: 4 bits per macroblock, [`Parameters::bitplane_pitch`] bytes per row. The left
    /// one of two macroblocks is in bits 3:0. I: bit 0 FIELDTX, 1 ACPRED, 2 OVERFLAGS; P: 1 SKIPMB,
    /// 2 MVTYPEMB; B: 0 DIRECTMB, 1 SKIPMB, 2 FORWARDMB.
    pub bitplanes: &'a [u8],
    /// Reference frames: 0 forward (top field), 1 backward (top field), 2 forward bottom field, 3
    /// backward bottom field. Frame pictures use 0 and 1. For a second field, the frame of the
    /// first field is one of them. A missing one reads as 0.
    pub references: [Option<&'a Frame>; 4],
    /// Motion of the backward reference, as [`Picture::slice`] wrote it. Short data reads as zero.
    pub motion: &'a [u8],
}

/// A motion vector in quarter samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mv {
    x: i16,
    y: i16,
}

/// What the decoder keeps of a macroblock until the end of its slice.
#[derive(Clone, Copy, Debug, Default)]
struct Macroblock {
    /// Intra blocks, a bit each, bit 0 the first one.
    intra: u8,
    /// The quantiser; 0 if the macroblock has no coefficients to predict from.
    quantizer: u8,
    /// Twice the quantiser, plus 1 for a half step.
    step: u8,
    /// Blocks have a prediction of the coded block pattern of 1 (I pictures), a bit each.
    coded: u8,
    /// OVERFLAGS.
    overlap: bool,
    /// Luma is transformed by field.
    field_transform: bool,
    /// The vectors are those of fields (interlaced frames).
    field_vectors: bool,
    /// Forward and backward vectors of the luma blocks.
    mv: [[Mv; 4]; 2],
    /// Blocks whose vector refers to the field of opposite parity, a bit each, by direction.
    opposite: [u8; 2],
    /// The chroma vector, before rounding and offsets, for the loop filter.
    chroma_mv: Mv,
    /// The chroma vector refers to the field of opposite parity.
    chroma_opposite: bool,
    /// Coded 4x4 subblocks, four bits per block: bit 3 the first one.
    pattern: [u8; 6],
    /// Transforms of inter blocks.
    transform: [tables::Transform; 6],
    /// DC levels before dequantisation.
    dc: [i16; 6],
    /// AC levels of the first column (1 to 7) and the first row (9 to 15).
    ac: [[i16; 16]; 6],
}

/// A picture that is being decoded.
#[derive(Clone, Debug)]
pub struct Picture {
    parameters: Parameters,
    macroblocks: Vec<Macroblock>,
    /// Samples of intra blocks before smoothing, around 0: Y, Cb, Cr.
    intra: [Vec<i16>; 3],
    /// Changes of reference samples, of forward and backward reference, of top and bottom field.
    luts: [[Lut; 2]; 2],
}

impl Picture {
    /// Starts a picture.
    pub fn new(parameters: Parameters) -> Result<Self, Error> {
        parameters.check()?;
        let count = parameters.width_in_mbs * parameters.height_in_mbs;
        let intra = |samples: usize| vec![0; samples * count];
        Ok(Picture {
            macroblocks: vec![Macroblock::default(); count],
            intra: [intra(256), intra(64), intra(64)],
            luts: [
                Lut::of_reference(&parameters, &parameters.forward),
                Lut::of_reference(&parameters, &parameters.backward),
            ],
            parameters,
        })
    }

    /// The parameters that [`Picture::new`] got.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The rows of the frame that the picture consists of.
    pub fn structure(&self) -> Structure {
        match (self.parameters.coding.is_field(), self.parameters.field()) {
            (false, _) => Structure::Frame,
            (true, 0) => Structure::Top,
            (true, _) => Structure::Bottom,
        }
    }

    /// Decodes a slice into its rows of `target`, which is a frame even for fields. Samples outside
    /// `target` are dropped. The picture's motion is written to `motion_out`, [`MOTION_BYTES`] per
    /// macroblock in raster order, as far as it has room; pass an empty slice for B pictures.
    /// A macroblock with an error and those after it keep what `target` holds and are counted as
    /// concealed. Bits after the end of the data read as zero; the macroblock that reads them is the
    /// last one.
    pub fn slice(
        &mut self,
        slice: &Slice,
        input: &Input<'_>,
        target: &mut Frame,
        motion_out: &mut [u8],
    ) -> Report {
        slice::decode(self, slice, input, target, motion_out)
    }
}
