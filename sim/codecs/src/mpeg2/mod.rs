//! MPEG-2 (ISO/IEC 13818-2): main profile, 4:2:0. Clauses in this module are of that standard.
//!
//! [`Parameters`] holds what the packets state about a picture, a frame or a field.
//! [`Picture::new`] checks them, [`Picture::slice`] decodes a slice, [`Picture::finish`] conceals
//! what is missing and reports.
//!
//! In reading order:
//! * `slice`: slices and macroblocks, their syntax (6.2.4, 6.2.5).
//! * `motion`: motion vectors (7.6.3).
//! * `block`: coefficients (7.2 to 7.4).
//! * `macroblock`: prediction plus residual (7.6.8). The model of a mode without variable length
//!   decoding may call [`reconstruct`] itself.
//! * `predict`: motion compensation (7.6.4 to 7.6.7).
//! * [`idct`]: the inverse transform (annex A).
//! * [`tables`], `vlc`: the tables of annex B, and look-up tables built from them.

mod block;
pub mod idct;
mod macroblock;
mod motion;
mod predict;
mod slice;
pub mod tables;
mod vlc;

pub use crate::frame::Structure;
pub use block::Block;
pub use macroblock::{Macroblock, reconstruct};
pub use motion::{Motion, Prediction, Vector};

use crate::Report;
use crate::frame::Frame;
use block::BlockRules;
use std::fmt;

/// picture_coding_type (table 6-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureType {
    /// Intra.
    I,
    /// Predicted from earlier pictures.
    P,
    /// Predicted from earlier and later pictures.
    B,
}

/// What the packets state about a picture. The text gives the standard's name of a syntax element
/// where the field has another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Width in macroblocks, 1..=256.
    pub width: usize,
    /// Height of the frame in macroblocks, also for a field; 1..=256.
    pub height: usize,
    /// picture_coding_type.
    pub picture_type: PictureType,
    /// picture_structure. A field is every other row of the target.
    pub structure: Structure,
    /// f_code by direction (forward, backward) and component (horizontal, vertical), 1..=9 for
    /// vectors that occur.
    pub f_codes: [[u8; 2]; 2],
    /// intra_dc_precision: bits of intra DC coefficients beyond 8, 0..=3.
    pub intra_dc_precision: u8,
    /// top_field_first. Dual prime prediction of frames depends on it.
    pub top_field_first: bool,
    /// frame_pred_frame_dct: no field prediction and no field DCT in this frame.
    pub frame_pred_frame_dct: bool,
    /// concealment_motion_vectors: intra macroblocks carry vectors. They are read and not used.
    pub concealment_vectors: bool,
    /// q_scale_type: quantiser scales are those of the nonlinear column of table 7-6.
    pub nonlinear_quantiser: bool,
    /// intra_vlc_format: intra blocks use table B.15.
    pub intra_vlc_format: bool,
    /// alternate_scan.
    pub alternate_scan: bool,
    /// Mismatch control is on (7.4.4). The standard has no switch, the packet has.
    pub mismatch_control: bool,
    /// Copy macroblocks that were not decoded from the forward reference. Otherwise they stay as
    /// the target holds them.
    pub conceal: bool,
    /// Weights of intra blocks, in raster order.
    pub intra_matrix: [u8; 64],
    /// Weights of other blocks, in raster order.
    pub non_intra_matrix: [u8; 64],
}

/// Why a picture cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Width or height, in macroblocks.
    Size(usize, usize),
    /// intra_dc_precision.
    DcPrecision(u8),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Size(width, height) => write!(
                f,
                "an MPEG-2 picture of {width} x {height} macroblocks: both must be 1 to 256"
            ),
            Error::DcPrecision(value) => {
                write!(f, "intra_dc_precision {value}: it must be 0 to 3 (8 to 11 bits)")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Where a prediction comes from.
#[derive(Clone, Copy, Debug, Default)]
pub enum Reference<'a> {
    /// Nothing. Predictions are grey.
    #[default]
    Missing,
    /// A decoded frame. Planes that are smaller than the picture repeat their edges.
    Frame(&'a Frame),
    /// The frame that is being decoded: its first field, for the second one.
    Target,
}

impl<'a> Reference<'a> {
    fn frame(self, target: &'a Frame) -> Option<&'a Frame> {
        match self {
            Reference::Missing => None,
            Reference::Frame(frame) => Some(frame),
            Reference::Target => Some(target),
        }
    }
}

/// The references of a picture, each by the parity of the field that is read: top, bottom. Frame
/// predictions read the entry of the top field. For a frame picture both entries are the same
/// frame. For the second field of a frame, the forward entry of the opposite parity is
/// [`Reference::Target`].
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    /// Forward references.
    pub forward: [Reference<'a>; 2],
    /// Backward references.
    pub backward: [Reference<'a>; 2],
}

impl<'a> References<'a> {
    /// The reference of a direction: 0 forward, 1 backward.
    fn source(&self, source: Structure, direction: usize) -> Reference<'a> {
        let references = if direction == 0 { &self.forward } else { &self.backward };
        references[usize::from(source == Structure::Bottom)]
    }
}

/// What a packet states about a slice. The column of its first macroblock is missing on purpose:
/// the first address increment in the data gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Row in macroblocks, of the field in a field picture.
    pub row: usize,
    /// quantiser_scale_code of the slice header, 1..=31.
    pub quantiser_scale_code: u8,
    /// Bit of the data at which the first macroblock starts: the first bit after the slice header.
    pub bit_offset: usize,
}

/// A picture whose slices are being decoded.
#[derive(Clone, Debug)]
pub struct Picture {
    parameters: Parameters,
    rules: BlockRules,
    /// The macroblock being decoded; here so that its blocks are not set up again for each slice.
    scratch: Box<Macroblock>,
    /// Macroblocks in raster order that were decoded.
    decoded: Vec<bool>,
    report: Report,
}

impl Picture {
    /// Starts a picture.
    pub fn new(parameters: Parameters) -> Result<Self, Error> {
        let (width, height) = (parameters.width, parameters.height);
        if !(1..=256).contains(&width) || !(1..=256).contains(&height) {
            return Err(Error::Size(width, height));
        }
        let rows = height.div_ceil(parameters.structure.step());
        Ok(Picture {
            rules: BlockRules::new(&parameters)?,
            parameters,
            scratch: Box::new(Macroblock::EMPTY),
            decoded: vec![false; width * rows],
            report: Report::default(),
        })
    }

    /// Decodes a slice of `data` into `target`. The slice ends at the next start code prefix, at
    /// the end of the data (trailing zeros may be missing), at the end of the row, or at an error.
    pub fn slice(
        &mut self,
        slice: &Slice,
        data: &[u8],
        references: &References,
        target: &mut Frame,
    ) {
        let rows = self.decoded.len() / self.parameters.width;
        if slice.row >= rows {
            self.report.errors += 1;
            return;
        }
        slice::decode(self, slice, data, references, target);
    }

    /// Ends the picture: conceals macroblocks that were not decoded, if that is on.
    pub fn finish(mut self, references: &References, target: &mut Frame) -> Report {
        if self.parameters.conceal {
            let missing = Macroblock {
                intra: false,
                motion: Motion {
                    directions: [true, false],
                    ..Motion::still(self.parameters.structure)
                },
                ..Macroblock::EMPTY
            };
            let width = self.parameters.width;
            for at in (0..self.decoded.len()).filter(|&at| !self.decoded[at]) {
                let position = (at % width, at / width);
                reconstruct(&self.parameters, references, target, position, &missing);
                self.report.concealed += 1;
            }
        }
        self.report
    }
}
