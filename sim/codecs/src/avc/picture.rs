//! A picture: its slices, then the deblocking filter.

use super::conceal::{Source, conceal};
use super::motion_cache::MotionCache;
use super::neighbours::Neighbours;
use super::state::Decoder;
use super::transform::LevelScale;
use super::{MOTION_BYTES, Macroblock, Parameters, References, Slice, SliceFilter, deblock};
use crate::{Frame, Report, emulation};
use std::fmt;

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
    /// The macroblocks of the picture, in raster order.
    pub macroblocks: Vec<Macroblock>,
    /// What was decoded.
    pub report: Report,
}

/// A picture in decoding.
#[derive(Debug)]
pub struct Picture<'a> {
    pub(super) parameters: &'a Parameters,
    references: References<'a>,
    pub(super) frame: Frame,
    motion: Vec<u8>,
    scale: LevelScale,
    macroblocks: Vec<Macroblock>,
    slices: Vec<SliceFilter>,
    /// What conceals the macroblocks after each slice.
    sources: Vec<Source>,
    errors: u32,
}

impl<'a> Picture<'a> {
    /// Starts a picture. `frame` is what the target surface holds: macroblocks that are neither
    /// decoded nor concealed and, for a field, the rows of the other field stay as they are.
    /// `motion` is what the write buffer of the motion holds; it is brought to its size.
    pub fn new(
        parameters: &'a Parameters,
        references: References<'a>,
        frame: Frame,
        mut motion: Vec<u8>,
    ) -> Result<Self, Error> {
        let (width, height) = (parameters.width, parameters.height);
        if !(1..=256).contains(&width) || !(1..=256).contains(&height) {
            return Err(Error::Size(width, height));
        }
        if height % 2 != 0 && (parameters.structure.is_field() || parameters.mbaff) {
            return Err(Error::OddHeight(height));
        }
        let fits = frame.planes.iter().zip([16, 8, 8]).all(|(plane, size)| {
            plane.width == size * width
                && plane.height == size * height
                && plane.data.len() == plane.width * plane.height
        });
        let luma = &frame.planes[0];
        let luma_fits = luma.width == 16 * width
            && luma.height == 16 * height
            && luma.data.len() == luma.width * luma.height;
        if !(fits || parameters.monochrome && luma_fits) {
            return Err(Error::Target(luma.width, luma.height));
        }
        motion.resize(MOTION_BYTES * width * height, 0);
        Ok(Picture {
            parameters,
            references,
            frame,
            motion,
            scale: LevelScale::new(&parameters.matrices),
            macroblocks: vec![Macroblock::default(); width * parameters.picture_height()],
            slices: Vec::new(),
            sources: Vec::new(),
            errors: 0,
        })
    }

    /// Decodes a slice. `data` is the NAL unit from its header byte on, with emulation prevention
    /// bytes unless [`Slice::unescaped`] is set. Empty data are the phantom slice of drivers and
    /// change nothing.
    pub fn slice(&mut self, slice: &Slice, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let Ok(index) = u16::try_from(self.slices.len()) else {
            self.errors = self.errors.saturating_add(1);
            return;
        };
        let mut decoder = self.start(slice, index);
        match slice.unescaped {
            true => decoder.run(data),
            false => decoder.run(&emulation::remove(data)),
        }
        let (errors, newest) = (decoder.errors, decoder.newest);
        self.errors = self.errors.saturating_add(errors);
        if let Some(newest) = newest.and_then(|newest| self.macroblocks.get_mut(newest)) {
            newest.last = true;
        }
    }

    /// Number of slices so far.
    pub(super) fn slices(&self) -> usize {
        self.slices.len()
    }

    /// Starts slice `index`.
    pub(super) fn start<'p>(&'p mut self, slice: &'p Slice, index: u16) -> Decoder<'p, 'a> {
        self.slices.push(SliceFilter {
            disable: slice.deblocking.min(2),
            alpha: 2 * slice.deblocking_offsets[0].clamp(-6, 6),
            beta: 2 * slice.deblocking_offsets[1].clamp(-6, 6),
        });
        self.sources.push(Source::of(slice, self.parameters));
        Decoder {
            parameters: self.parameters,
            slice,
            references: &self.references,
            scale: &self.scale,
            macroblocks: &mut self.macroblocks,
            frame: &mut self.frame,
            motion: &mut self.motion,
            index,
            mbaff: self.parameters.mbaff && !self.parameters.structure.is_field(),
            x: 0,
            y: 0,
            field_coded: false,
            neighbours: Neighbours::default(),
            current: Macroblock::default(),
            cache: MotionCache::new(),
            coefficients: [0; 24 * 16],
            with_ac: 0,
            with_any: 0,
            intra_16x16_mode: 0,
            qp: 0,
            quantiser_changed: false,
            newest: None,
            errors: 0,
        }
    }

    /// Conceals missing macroblocks, filters the picture and returns what `outputs` asks for.
    pub fn finish(mut self, outputs: Outputs) -> Output {
        let (references, sources) = (&self.references, &self.sources);
        conceal(self.parameters, references, &self.macroblocks, sources, &mut self.frame);
        let macroblocks = self.macroblocks.iter().filter(|found| found.decoded).count() as u32;
        let unfiltered = outputs.unfiltered.then(|| match outputs.filtered {
            true => self.frame.clone(),
            false => std::mem::take(&mut self.frame),
        });
        let filtered = outputs.filtered.then(|| {
            deblock::filter(self.parameters, &self.macroblocks, &self.slices, &mut self.frame);
            self.frame
        });
        let report = Report {
            macroblocks,
            concealed: self.macroblocks.len() as u32 - macroblocks,
            errors: self.errors,
        };
        Output { unfiltered, filtered, motion: self.motion, macroblocks: self.macroblocks, report }
    }
}
