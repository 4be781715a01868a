//! The decoders of the video engine, without the engine.
//!
//! A decoder takes what the packets of the engine state about a picture, the bytes of the picture's
//! slices, and the reference pictures. It reconstructs a [`Frame`]. It uses no packets, memory or
//! surfaces: the model of the engine translates those.
//!
//! Damaged data never panics and never reads outside a buffer: a decoder conceals what it cannot
//! decode and counts it in a [`Report`].
//!
//! In reading order:
//! * `frame`: planes of samples, fields of them, and blocks read across their edges.
//! * [`bits`]: the bits of a slice, first bit first.
//! * [`emulation`]: removal of the bytes that keep start codes out of AVC and VC-1 data.
//! * [`zigzag`]: the scan that most of the codecs have in common.
//! * `conceal`: samples of macroblocks that could not be decoded.
//! * `idct`: the inverse transform of MPEG-2 and JPEG.
//! * [`jpeg`], [`mpeg2`], [`vp8`], [`avc`], [`vc1`]: a decoder each.

pub mod avc;
pub mod bits;
mod conceal;
pub mod emulation;
mod frame;
mod idct;
pub mod jpeg;
pub mod mpeg2;
pub mod vc1;
pub mod vp8;
pub mod zigzag;

pub use frame::{Frame, Plane, Structure};
use frame::{PlaneMut, PlaneRef};

/// What the decoder of a picture did, for the status registers of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Macroblocks that were decoded, skipped ones included. For JPEG, the minimum coded units.
    pub macroblocks: u32,
    /// Macroblocks that were concealed.
    pub concealed: u32,
    /// Syntax elements, or bins of CABAC, that were out of their range or came after the end of
    /// the data.
    pub errors: u32,
}

impl Report {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Report) {
        self.macroblocks += other.macroblocks;
        self.concealed += other.concealed;
        self.errors += other.errors;
    }
}
