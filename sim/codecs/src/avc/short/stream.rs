//! What the headers of slices depend on, and what is wrong with them.

use std::fmt;

/// State of the stream and of its references that headers of slices depend on:
/// `MFX_AVC_IMG_STATE` from dword 13 on and `MFD_AVC_DPB_STATE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// `log2_max_frame_num_minus4` + 4, 4 to 16.
    pub frame_number_bits: u8,
    /// `pic_order_cnt_type`, 0 to 2.
    pub order_type: u8,
    /// `log2_max_pic_order_cnt_lsb_minus4` + 4, 4 to 16.
    pub order_bits: u8,
    /// `delta_pic_order_always_zero_flag`.
    pub order_delta_always_zero: bool,
    /// `bottom_field_pic_order_in_frame_present_flag`.
    pub order_of_bottom_field: bool,
    /// `deblocking_filter_control_present_flag`.
    pub deblocking_control: bool,
    /// `redundant_pic_cnt_present_flag`.
    pub redundant_pictures: bool,
    /// `num_ref_idx_l0_default_active_minus1` + 1, and the same for list 1.
    pub reference_counts: [u8; 2],
    /// `pic_init_qp_minus26`.
    pub initial_qp: i8,
    /// `view_id` of the picture; 0 for streams of one view.
    pub view: u16,
    /// `maxViewIdx` of list 0 and of list 1, at least: the number of references in other views.
    pub views: [u8; 2],
    /// The frame stores.
    pub stores: [Store; 16],
}

/// The marking of a frame store (8.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// The top and the bottom field are used for reference.
    pub fields: [bool; 2],
    /// Long-term reference, otherwise short-term.
    pub long_term: bool,
    /// The frame stands for a gap in `frame_num`.
    pub missing: bool,
    /// `LongTermFrameIdx` of a long-term reference, `frame_num` of another one.
    pub number: u16,
    /// `view_id`.
    pub view: u16,
    /// Index of the store among the references in other views, in list 0 and in list 1.
    pub view_index: [Option<u8>; 2],
}

/// Why the header of a slice cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The NAL unit has this type. Only 1, 5 and 20 without `svc_extension_flag` are slices that the
    /// decoder takes.
    UnitType(u8),
    /// The header is longer than the data, or an Exp-Golomb code has more than 32 bits.
    End,
    /// This syntax element is out of its range.
    Range(&'static str, i64),
    /// The header has another structure (frame, top or bottom field) than the picture.
    Structure,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::UnitType(kind) => {
                write!(f, "a NAL unit of type {kind} is not a slice of a view (1, 5 or 20)")
            }
            HeaderError::End => write!(f, "the data end within the slice header"),
            HeaderError::Range(name, value) => {
                write!(f, "{name} of the slice header is {value}, which is out of its range")
            }
            HeaderError::Structure => {
                write!(f, "the slice header has another structure than Image Structure")
            }
        }
    }
}

impl std::error::Error for HeaderError {}
