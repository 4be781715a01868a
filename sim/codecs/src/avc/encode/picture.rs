//! A picture in encoding: headers, slices, then the deblocking filter.

use super::arithmetic::Encoder;
use super::bins::Cabac;
use super::cavlc::Cavlc;
use super::macroblock::{Invalid, Macroblock};
use super::plan::Plan;
use super::quantise::{Forward, Quantiser};
use super::record::{Record, Settings};
use super::slice::Coder;
use crate::Frame;
use crate::avc::picture::{self, Error, Outputs};
use crate::avc::{Parameters, References, Slice};
use crate::bits::BitWriter;

/// Bytes that stand between slices or before the first one.
#[derive(Clone, Copy, Debug)]
pub struct Insertion<'a> {
    /// The bytes.
    pub data: &'a [u8],
    /// Number of bits of the last byte that count, 1 to 8.
    pub last_bits: u32,
    /// Emulation prevention bytes are inserted.
    pub protect: bool,
    /// Number of bytes at the start that are never preceded by an emulation prevention byte.
    pub unprotected: usize,
}

/// `cabac_zero_word` with its emulation prevention byte.
const CABAC_ZERO_WORD: [u8; 3] = [0, 0, 3];

/// Sizes of the coded data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bits of slices, with stop bits.
    pub slice_bits: u64,
    /// Bins of CABAC.
    pub bins: u64,
    /// Bytes of padding.
    pub padding: u64,
    /// Bits of the last slice, with its stop bit.
    pub last_slice: u64,
}

/// An encoded picture.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The coded data.
    pub stream: Vec<u8>,
    /// The picture as decoders show it.
    pub picture: picture::Output,
    /// The macroblocks in the order of encoding.
    pub records: Vec<Record>,
    /// Sizes of the coded data.
    pub sizes: Sizes,
}

/// A picture in encoding.
#[derive(Debug)]
pub struct Picture<'a> {
    picture: picture::Picture<'a>,
    source: &'a Frame,
    quantiser: Quantiser,
    stream: BitWriter,
    records: Vec<Record>,
    sizes: Sizes,
}

impl<'a> Picture<'a> {
    /// Starts a picture. `source` has the size of `frame`. `frame` and `motion` are what the
    /// targets hold, as for [`crate::avc::Picture::new`].
    ///
    /// # Errors
    /// Those of [`crate::avc::Picture::new`]; [`Error::Target`] if the source has another size.
    pub fn new(
        parameters: &'a Parameters,
        forward: &Forward,
        references: References<'a>,
        source: &'a Frame,
        frame: Frame,
        motion: Vec<u8>,
    ) -> Result<Self, Error> {
        let size =
            |frame: &Frame| frame.planes.each_ref().map(|plane| (plane.width, plane.data.len()));
        if size(source) != size(&frame) {
            let luma = &source.planes[0];
            return Err(Error::Target(luma.width, luma.height));
        }
        Ok(Picture {
            picture: picture::Picture::new(parameters, references, frame, motion)?,
            source,
            quantiser: Quantiser::new(forward),
            stream: BitWriter::default(),
            records: Vec::new(),
            sizes: Sizes::default(),
        })
    }

    /// Number of whole bytes of the coded data so far.
    pub fn position(&self) -> usize {
        self.stream.position() / 8
    }

    /// Puts bytes into the coded data.
    pub fn insert(&mut self, insertion: &Insertion<'_>) {
        let Some((last, data)) = insertion.data.split_last() else { return };
        let protected = |at: usize| insertion.protect && at >= insertion.unprotected;
        for (at, &byte) in data.iter().enumerate() {
            self.stream.protect(protected(at));
            self.stream.put(byte.into(), 8);
        }
        self.stream.protect(protected(data.len()));
        let bits = insertion.last_bits.clamp(1, 8);
        self.stream.put(u32::from(*last) >> (8 - bits), bits);
    }

    /// Encodes a slice: its macroblocks from the first one of `slice` on, in order. The slice
    /// header must already be inserted. [`Slice::data_offset`] is not used.
    ///
    /// # Errors
    /// The macroblock, counted from the start of the slice, that is not valid, and why. The slice
    /// ends before it.
    pub fn slice(
        &mut self,
        slice: &Slice,
        settings: &Settings,
        macroblocks: &[Macroblock],
    ) -> Result<(), (usize, Invalid)> {
        let index = u16::try_from(self.picture.slices()).map_err(|_| (0, Invalid::Position))?;
        let parameters = self.picture.parameters;
        let (x, y) = slice.first;
        if x >= parameters.width || y >= parameters.picture_height() || parameters.mbaff {
            return Err((0, Invalid::Position));
        }
        let first = y * parameters.width + x;
        let mut coder =
            Coder { source: self.source, quantiser: &self.quantiser, settings, plan: Plan::new() };
        let mut decoder = self.picture.start(slice, index);
        decoder.qp = slice.qp.min(51);
        self.stream.protect(true);
        let start = self.stream.position();
        let records = &mut self.records;
        let result = if parameters.cabac {
            self.stream.align(true);
            let mut entropy = Cabac { bins: Encoder::new(slice.cabac_set(), slice.qp) };
            let result = coder.slice(&mut decoder, &mut entropy, first, macroblocks, records);
            entropy.bins.terminate(true);
            self.sizes.bins += entropy.bins.bins;
            self.stream.bytes(&entropy.bins.into_bytes());
            result
        } else {
            let mut entropy = Cavlc { bits: &mut self.stream, run: 0 };
            let result = coder.slice(&mut decoder, &mut entropy, first, macroblocks, records);
            entropy.end();
            result
        };
        let bits = self.stream.position() - start;
        self.stream.align(false);
        self.stream.protect(false);
        self.sizes.slice_bits += bits as u64;
        self.sizes.last_slice = bits as u64;
        result
    }

    /// Puts `cabac_zero_word`s into the coded data until they have `bytes` bytes (7.3.2.8). They
    /// may only come after a slice that is coded with CABAC.
    pub fn pad(&mut self, bytes: usize) {
        while self.position() < bytes {
            self.stream.bytes(&CABAC_ZERO_WORD);
            self.sizes.padding += CABAC_ZERO_WORD.len() as u64;
        }
    }

    /// Filters the picture and returns it with the coded data. The bits of an insertion after the
    /// last whole byte are lost.
    pub fn finish(self, outputs: Outputs) -> Output {
        Output {
            stream: self.stream.into_bytes(),
            picture: self.picture.finish(outputs),
            records: self.records,
            sizes: self.sizes,
        }
    }
}
