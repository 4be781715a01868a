//! A slice, and what it is decoded from.

use crate::Frame;

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
    /// Bit planes: 4 bits per macroblock, [`bitplane_pitch`](super::Parameters::bitplane_pitch)
    /// bytes per row. The left one of two macroblocks is in bits 3:0. I: bit 0 FIELDTX, 1 ACPRED,
    /// 2 OVERFLAGS; P: 1 SKIPMB, 2 MVTYPEMB; B: 0 DIRECTMB, 1 SKIPMB, 2 FORWARDMB.
    pub bitplanes: &'a [u8],
    /// Reference frames: 0 forward (top field), 1 backward (top field), 2 forward bottom field, 3
    /// backward bottom field. Frame pictures use 0 and 1. For a second field, the frame of the
    /// first field is one of them. A missing one reads as 0.
    pub references: [Option<&'a Frame>; 4],
    /// Motion of the backward reference, as [`Picture::slice`](super::Picture::slice) wrote it.
    /// Short data reads as zero.
    pub motion: &'a [u8],
}
