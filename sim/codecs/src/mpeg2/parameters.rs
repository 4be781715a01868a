//! What the packets state about a picture and a slice.

use crate::frame::{Frame, Structure};
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
    pub(super) fn frame(self, target: &'a Frame) -> Option<&'a Frame> {
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
    pub(super) fn source(&self, source: Structure, direction: usize) -> Reference<'a> {
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
