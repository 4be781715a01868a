//! What the packets of the engine state about a picture and its slices.
//!
//! Names are those of H.264 where the packets carry syntax elements of the stream.

use crate::{Frame, Structure};

/// Bytes of motion per macroblock of the frame.
/// intel/media-driver allocates no more.
pub const MOTION_BYTES: usize = 64;

/// State of a picture: `MFX_AVC_IMG_STATE`, the matrices of `MFX_QM_STATE`, `MFX_AVC_PICID_STATE`
/// and the picture order counts of `MFX_AVC_DIRECTMODE_STATE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Width of the frame in macroblocks, 1 to 256.
    pub width: usize,
    /// Height of the frame in macroblocks, 1 to 256. Also for a field: of the whole frame.
    pub height: usize,
    /// Frame, top field or bottom field ("Image Structure").
    pub structure: Structure,
    /// `chroma_format_idc` is 0: the chroma planes are neither read nor written.
    pub monochrome: bool,
    /// `entropy_coding_mode_flag`: CABAC, otherwise CAVLC.
    pub cabac: bool,
    /// Pairs of macroblocks choose between frame and field ("MBAFF Mode"). Only in frames.
    pub mbaff: bool,
    /// `frame_mbs_only_flag`. Stated for completeness: nothing depends on it.
    pub frame_mbs_only: bool,
    /// `direct_8x8_inference_flag`.
    pub direct_8x8_inference: bool,
    /// `transform_8x8_mode_flag`.
    pub transform_8x8: bool,
    /// `constrained_intra_pred_flag`.
    pub constrained_intra: bool,
    /// `weighted_pred_flag`: the tables of weights apply to P slices.
    pub weighted_prediction: bool,
    /// `weighted_bipred_idc`: 0 default, 1 explicit (tables of weights), 2 implicit.
    pub weighted_biprediction: u8,
    /// `chroma_qp_index_offset` and `second_chroma_qp_index_offset`, -12 to 12.
    pub chroma_qp_offsets: [i8; 2],
    /// No other picture is predicted from this one: its motion need not be stored.
    pub non_reference: bool,
    /// Scaling matrices.
    pub matrices: Matrices,
    /// Identities of the frame stores that stay the same from picture to picture. `None` if the
    /// remapping is disabled: the index of the frame store is its identity.
    pub picture_ids: Option<[u16; 16]>,
    /// Picture order counts of the top and bottom field of each frame store.
    pub counts: [[i32; 2]; 16],
    /// Picture order counts of the top and bottom field of the picture.
    pub count: [i32; 2],
}

impl Default for Parameters {
    /// A progressive frame of one macroblock, CAVLC, flat matrices.
    fn default() -> Self {
        Parameters {
            width: 1,
            height: 1,
            structure: Structure::Frame,
            monochrome: false,
            cabac: false,
            mbaff: false,
            frame_mbs_only: true,
            direct_8x8_inference: true,
            transform_8x8: false,
            constrained_intra: false,
            weighted_prediction: false,
            weighted_biprediction: 0,
            chroma_qp_offsets: [0; 2],
            non_reference: false,
            matrices: Matrices::default(),
            picture_ids: None,
            counts: [[0; 2]; 16],
            count: [0; 2],
        }
    }
}

impl Parameters {
    /// Height of the picture in macroblocks: of a field, half of that of the frame.
    pub(crate) fn picture_height(&self) -> usize {
        self.height / self.structure.step()
    }
}

/// Scaling matrices in raster order. The rules of 7.4.2.1.1.1 for absent matrices are already
/// applied; without any matrix in the stream all elements are 16.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrices {
    /// 4x4 blocks of intra macroblocks: Y, Cb, Cr.
    pub intra_4x4: [[u8; 16]; 3],
    /// 4x4 blocks of inter macroblocks: Y, Cb, Cr.
    pub inter_4x4: [[u8; 16]; 3],
    /// 8x8 blocks of luma of intra macroblocks.
    pub intra_8x8: [u8; 64],
    /// 8x8 blocks of luma of inter macroblocks.
    pub inter_8x8: [u8; 64],
}

impl Default for Matrices {
    fn default() -> Self {
        Matrices {
            intra_4x4: [[16; 16]; 3],
            inter_4x4: [[16; 16]; 3],
            intra_8x8: [16; 64],
            inter_8x8: [16; 64],
        }
    }
}

/// The kind of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SliceKind {
    /// Inter prediction from list 0.
    P,
    /// Inter prediction from two lists.
    B,
    /// Intra prediction only.
    #[default]
    I,
}

impl SliceKind {
    /// Number of inter types before the intra types in `mb_type` (tables 7-13 and 7-14).
    pub(super) fn inter_types(self) -> u8 {
        match self {
            SliceKind::I => 0,
            SliceKind::P => 5,
            SliceKind::B => 23,
        }
    }
}

/// State of a slice: `MFX_AVC_SLICE_STATE`, `MFX_AVC_REF_IDX_STATE`, `MFX_AVC_WEIGHTOFFSET_STATE`
/// and the inline data of `MFD_AVC_BSD_OBJECT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// P, B or I.
    pub kind: SliceKind,
    /// Column and row of the first macroblock in the picture. In MBAFF pictures of the upper
    /// macroblock of the pair, so the row is even.
    pub first: (usize, usize),
    /// `num_ref_idx_l0_active_minus1 + 1` and the same for list 1; 0 for absent lists.
    pub reference_counts: [u8; 2],
    /// The reference lists.
    pub lists: [[Entry; 32]; 2],
    /// Weights of the entries of the lists: Y, Cb, Cr. Used in P slices with
    /// [`Parameters::weighted_prediction`] and B slices with
    /// [`Parameters::weighted_biprediction`] = 1.
    pub weights: [[[Weight; 3]; 32]; 2],
    /// `luma_log2_weight_denom` and `chroma_log2_weight_denom`, 0 to 7.
    pub weight_denominators: [u8; 2],
    /// `direct_spatial_mv_pred_flag`.
    pub direct_spatial: bool,
    /// `cabac_init_idc`, 0 to 2.
    pub cabac_init: u8,
    /// Luma quantiser of the first macroblock, 0 to 51: 26 + `pic_init_qp_minus26` +
    /// `slice_qp_delta`.
    pub qp: u8,
    /// `disable_deblocking_filter_idc`: 0 filter, 1 do not filter, 2 do not filter across edges of
    /// the slice.
    pub deblocking: u8,
    /// `slice_alpha_c0_offset_div2` and `slice_beta_offset_div2`, -6 to 6.
    pub deblocking_offsets: [i8; 2],
    /// Offset in bits of `slice_data()` from the header byte of the NAL unit, without the emulation
    /// prevention bytes. With CABAC it may be the offset before the alignment bits.
    pub data_offset: usize,
    /// The data have no emulation prevention bytes ("Emulation Prevention Byte Present").
    pub unescaped: bool,
    /// What becomes of macroblocks after the slice, up to the next slice, that are not decoded. The
    /// first slice also determines those before it.
    pub concealment: Concealment,
}

impl Slice {
    /// Index of the initial states of CABAC: 0 for I slices, 1 + `cabac_init_idc` for others.
    pub(super) fn cabac_set(&self) -> usize {
        match self.kind {
            SliceKind::I => 0,
            _ => 1 + usize::from(self.cabac_init.min(2)),
        }
    }
}

/// What becomes of macroblocks that are not decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Concealment {
    /// They stay as the target surface holds them.
    #[default]
    Off,
    /// The mean of the decoded or concealed samples next to the macroblock.
    Intra,
    /// The samples at the same position of a reference. Without such a reference as
    /// [`Concealment::Intra`].
    Inter(Substitute),
}

/// The reference from which macroblocks are concealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitute {
    /// The first entry of list 0 that is present, or of list 1 if list 0 has none.
    First,
    /// This picture.
    Picture(Entry),
    /// The entry of the lists with the nearest picture order count.
    Closest,
    /// The first long-term reference of the lists, or the closest entry.
    LongTerm,
}

/// An entry of a reference list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// False for an entry that is not in use or a frame that does not exist.
    pub present: bool,
    /// The picture is a long-term reference.
    pub long_term: bool,
    /// Index of the frame store, 0 to 15.
    pub store: u8,
    /// For fields: the bottom field.
    pub bottom: bool,
}

impl Entry {
    /// The rows of the frame that a picture of this structure refers to. Field macroblocks of frames
    /// choose their field otherwise.
    pub(super) fn structure(self, picture: Structure) -> Structure {
        match picture {
            Structure::Frame => Structure::Frame,
            _ if self.bottom => Structure::Bottom,
            _ => Structure::Top,
        }
    }
}

/// PicOrderCnt of a frame or field (8.2.1).
pub(super) fn count_of([top, bottom]: [i32; 2], structure: Structure) -> i32 {
    match structure {
        Structure::Frame => top.min(bottom),
        Structure::Top => top,
        Structure::Bottom => bottom,
    }
}

/// Weight and offset of a component of a reference (8.4.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Weight, -128 to 128: 1 << denominator is 1.
    pub weight: i16,
    /// Offset, -128 to 127.
    pub offset: i16,
}

/// The frame stores: the references of `MFX_PIPE_BUF_ADDR_STATE` and the motion buffers of
/// `MFX_AVC_DIRECTMODE_STATE`.
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    /// The frames, of the size of the picture's frame. For the second field of a frame, the store
    /// of its first field holds a copy of the frame as it is before the second field.
    pub frames: [Option<&'a Frame>; 16],
    /// What [`super::Output::motion`] was of the frame. Empty if it is missing.
    pub motion: [&'a [u8]; 16],
}
