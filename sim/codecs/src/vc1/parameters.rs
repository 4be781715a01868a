//! What the packets of the engine state about a picture.

use std::fmt;

/// Type of a picture or field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureType {
    /// Intra.
    #[default]
    I,
    /// Predicted from earlier pictures. A skipped picture is one whose macroblocks are all skipped.
    P,
    /// Predicted from both sides.
    B,
    /// Intra, instead of a B picture.
    Bi,
}

impl PictureType {
    /// The type of a field by FPTYPE, which states those of both fields of a frame: bit 2 B or BI
    /// instead of I or P, bit 1 P or BI in the first field, bit 0 P or BI in the second one.
    pub fn of_field(types: u8, second_field: bool) -> Self {
        let bit = if second_field { 1 } else { 2 };
        match (types & 4 != 0, types & bit != 0) {
            (false, false) => PictureType::I,
            (false, true) => PictureType::P,
            (true, false) => PictureType::B,
            (true, true) => PictureType::Bi,
        }
    }
}

/// FCM (7.1.1): how the rows of a picture are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// A progressive frame.
    #[default]
    Progressive,
    /// A frame whose macroblocks choose between frame and field.
    InterlacedFrame,
    /// A field of a frame whose top field is first.
    TopFieldFirst,
    /// A field of a frame whose bottom field is first.
    BottomFieldFirst,
}

impl Coding {
    /// True for a field.
    pub fn is_field(self) -> bool {
        matches!(self, Coding::TopFieldFirst | Coding::BottomFieldFirst)
    }
}

/// MVMODE (7.1.1) after intensity compensation was resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VectorMode {
    /// One or four vectors, quarter samples, bicubic.
    Mixed,
    /// One vector, quarter samples, bicubic.
    #[default]
    One,
    /// One vector, half samples, bicubic.
    OneHalf,
    /// One vector, half samples, bilinear.
    OneHalfBilinear,
}

/// Which macroblocks have a quantiser of their own (7.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternative {
    /// None.
    #[default]
    None,
    /// Those at edges of the picture have ALTPQUANT: bit 0 left, 1 top, 2 right, 3 bottom.
    Edges(u8),
    /// Each states its quantiser: MQDIFF, ABSMQ.
    Each,
    /// Each states whether it has ALTPQUANT.
    Choice,
}

/// CONDOVER (7.1.1): overlap smoothing of I pictures with PQUANT below 9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// None.
    #[default]
    None,
    /// All blocks.
    All,
    /// Macroblocks with OVERFLAGS.
    Flagged,
}

/// How reference samples are changed because their range differs from that of the picture (8.3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangeReduction {
    /// The ranges are equal.
    #[default]
    None,
    /// The picture is reduced, the reference is not.
    Down,
    /// The reference is reduced, the picture is not.
    Up,
}

/// LUMSCALE and LUMSHIFT (7.1.1), 6 bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Intensity {
    /// LUMSCALE.
    pub scale: u8,
    /// LUMSHIFT.
    pub shift: u8,
}

/// Intensity compensation of a reference frame (8.3.8), applied when it is read. Index 0: top
/// field, 1: bottom field. Progressive pictures use index 0 for all rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compensation {
    /// The first compensation of each field.
    pub single: [Option<Intensity>; 2],
    /// The second one, applied to the result of the first.
    pub double: [Option<Intensity>; 2],
}

/// Flags of macroblocks that the slices hold, not the bit planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// FORWARDMB.
    pub forward: bool,
    /// MVTYPEMB.
    pub mv_type: bool,
    /// SKIPMB.
    pub skip: bool,
    /// DIRECTMB.
    pub direct: bool,
    /// OVERFLAGS.
    pub overlap: bool,
    /// ACPRED. Simple and main profile always code it in the slice.
    pub ac_prediction: bool,
    /// FIELDTX.
    pub field_transform: bool,
}

/// Parameters of a picture: the fields of MFD_VC1_LONG_PIC_STATE, MFX_VC1_PRED_PIPE_STATE and of
/// the surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Macroblocks in a row.
    pub width_in_mbs: usize,
    /// Rows of macroblocks of the picture; of a field picture those of the field.
    pub height_in_mbs: usize,
    /// Luma samples in a row of the coded frame. References continue beyond it with its last
    /// column. Simple and main profile use whole macroblocks instead (8.3.6.5).
    pub width: usize,
    /// Luma rows of the coded frame, not of a field. See [`Parameters::width`].
    pub height: usize,
    /// Advanced profile.
    pub advanced: bool,
    /// Type of the picture.
    pub picture: PictureType,
    /// Frame or field.
    pub coding: Coding,
    /// The second field of a frame.
    pub second_field: bool,
    /// PQUANT, 1 to 31.
    pub quantizer: u8,
    /// HALFQP.
    pub half_step: bool,
    /// Uniform quantiser (without dead zone).
    pub uniform: bool,
    /// The quantiser follows from PQINDEX (QUANTIZER = 0).
    pub implicit: bool,
    /// Macroblocks with other quantisers.
    pub alternative: Alternative,
    /// ALTPQUANT, 1 to 31.
    pub alternative_quantizer: u8,
    /// BFRACTION in 1/256, of B pictures.
    pub b_scale: u8,
    /// Reference distance of P fields; forward distance of B fields.
    pub forward_distance: u8,
    /// Backward reference distance of B fields.
    pub backward_distance: u8,
    /// Motion vectors of P and B pictures, except of interlaced frames.
    pub vector_mode: VectorMode,
    /// Interlaced P frames may have four vectors per macroblock.
    pub four_vectors: bool,
    /// FASTUVMC: chroma vectors are rounded to half samples.
    pub fast_chroma: bool,
    /// RNDCTRL.
    pub rounding: bool,
    /// The field that P fields with one reference use is a bottom field.
    pub bottom_reference: bool,
    /// NUMREF: P fields choose between two reference fields. B fields always do.
    pub two_references: bool,
    /// MVRANGE, 0 to 3.
    pub mv_range: u8,
    /// DMVRANGE, 0 to 3: bit 0 extends x, bit 1 extends y.
    pub dmv_range: u8,
    /// MVTAB or IMVTAB.
    pub mv_table: u8,
    /// CBPTAB or ICBPTAB.
    pub cbp_table: u8,
    /// MBMODETAB.
    pub mode_table: u8,
    /// 4MVBPTAB.
    pub four_mv_table: u8,
    /// 2MVBPTAB.
    pub two_mv_table: u8,
    /// TTMBF: all blocks have `transform`.
    pub picture_transform: bool,
    /// TTFRM: 0 8x8, 1 8x4, 2 4x8, 3 4x4.
    pub transform: u8,
    /// Coding set of luma of I pictures, 0 to 2 (TRANSACFRM2).
    pub luma_set: u8,
    /// Coding set of chroma of I pictures, and of P and B pictures, 0 to 2 (TRANSACFRM).
    pub chroma_set: u8,
    /// TRANSDCTAB: high motion.
    pub dc_table: bool,
    /// Overlap smoothing is on, after the conditions on PQUANT and CONDOVER.
    pub overlap: bool,
    /// CONDOVER.
    pub conditional_overlap: Overlap,
    /// LOOPFILTER.
    pub loop_filter: bool,
    /// Range of the references.
    pub range_reduction: RangeReduction,
    /// Intensity compensation of the forward reference.
    pub forward: Compensation,
    /// Intensity compensation of the backward reference.
    pub backward: Compensation,
    /// References that continue beyond their upper and lower edges field by field, in the order of
    /// [`Input::references`](super::Input::references).
    pub interlaced: [bool; 4],
    /// Bit planes are present. Flags that are neither in planes nor raw are 0.
    pub bitplanes: bool,
    /// Bytes from row to row of the bit planes.
    pub bitplane_pitch: usize,
    /// Flags that the slices hold.
    pub raw: Raw,
    /// The motion of the backward reference is present; otherwise its vectors are zero.
    pub motion_present: bool,
}

/// Parameters that no picture can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Width and height in macroblocks.
    Size(usize, usize),
    /// A quantiser.
    Quantizer(u8),
    /// A field with the largest value of its table, and the value.
    Table(&'static str, u8),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Size(width, height) => write!(
                f,
                "picture of {width} x {height} macroblocks: use 1 to {MAX_MBS} in each direction"
            ),
            Error::Quantizer(value) => write!(f, "quantiser {value}: use 1 to 31"),
            Error::Table(name, value) => write!(f, "{name} = {value}: no such table or range"),
        }
    }
}

impl std::error::Error for Error {}

/// The largest size of a picture in macroblocks: the packet has 8 bits for it.
pub const MAX_MBS: usize = 256;

impl Parameters {
    /// Checks what the decoder relies on.
    pub(super) fn check(&self) -> Result<(), Error> {
        let (width, height) = (self.width_in_mbs, self.height_in_mbs);
        if !(1..=MAX_MBS).contains(&width) || !(1..=MAX_MBS).contains(&height) {
            return Err(Error::Size(width, height));
        }
        if !(1..=31).contains(&self.quantizer) {
            return Err(Error::Quantizer(self.quantizer));
        }
        if matches!(self.alternative, Alternative::Edges(1..) | Alternative::Choice)
            && !(1..=31).contains(&self.alternative_quantizer)
        {
            return Err(Error::Quantizer(self.alternative_quantizer));
        }
        let limits = [
            ("MVRANGE", self.mv_range, 3),
            ("DMVRANGE", self.dmv_range, 3),
            ("MVTAB", self.mv_table, 7),
            ("CBPTAB", self.cbp_table, 7),
            ("MBMODETAB", self.mode_table, 7),
            ("4MVBPTAB", self.four_mv_table, 3),
            ("2MVBPTAB", self.two_mv_table, 3),
            ("TTFRM", self.transform, 3),
            ("TRANSACFRM2", self.luma_set, 2),
            ("TRANSACFRM", self.chroma_set, 2),
        ];
        match limits.iter().find(|(_, value, limit)| value > limit) {
            Some(&(name, value, _)) => Err(Error::Table(name, value)),
            None => Ok(()),
        }
    }

    /// The picture's motion vectors have half samples.
    pub(super) fn half_vectors(&self) -> bool {
        self.coding != Coding::InterlacedFrame
            && matches!(self.vector_mode, VectorMode::OneHalf | VectorMode::OneHalfBilinear)
    }

    /// Luma is interpolated by the bilinear filter.
    pub(super) fn bilinear(&self) -> bool {
        self.coding != Coding::InterlacedFrame && self.vector_mode == VectorMode::OneHalfBilinear
    }

    /// Number of the field: 0 top, 1 bottom. 0 for a frame.
    pub(super) fn field(&self) -> usize {
        match self.coding {
            Coding::TopFieldFirst => usize::from(self.second_field),
            Coding::BottomFieldFirst => usize::from(!self.second_field),
            _ => 0,
        }
    }

    /// I or BI.
    pub(super) fn intra(&self) -> bool {
        matches!(self.picture, PictureType::I | PictureType::Bi)
    }
}
