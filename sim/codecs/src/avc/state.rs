//! A slice in decoding: the macroblock in decoding, and what is known so far.

use super::motion_cache::MotionCache;
use super::neighbours::{Neighbours, Search};
use super::transform::{LevelScale, chroma_qp};
use super::{Macroblock, Parameters, References, Slice};
use crate::{Frame, Structure};

/// Coefficients of a macroblock: 16 for each 4x4 block, luma in the order of decoding (so four
/// blocks of an 8x8 block are together), then Cb, then Cr.
pub(super) type Coefficients = [i16; 24 * 16];

/// A slice in decoding, with the macroblock in decoding.
pub(super) struct Decoder<'p, 'r> {
    pub parameters: &'p Parameters,
    pub slice: &'p Slice,
    pub references: &'p References<'r>,
    pub scale: &'p LevelScale,
    /// All macroblocks of the picture.
    pub macroblocks: &'p mut [Macroblock],
    pub frame: &'p mut Frame,
    pub motion: &'p mut [u8],
    /// Index of the slice.
    pub index: u16,
    /// The picture is a frame with MBAFF.
    pub mbaff: bool,
    /// Column and row of the macroblock.
    pub x: usize,
    pub y: usize,
    /// The macroblock is a field macroblock, or the picture is a field.
    pub field_coded: bool,
    pub neighbours: Neighbours,
    pub current: Macroblock,
    pub cache: MotionCache,
    pub coefficients: Coefficients,
    /// Bit `b`: block `b` of `coefficients` has values after the first one.
    pub with_ac: u32,
    /// Bit `b`: block `b` of `coefficients` has values.
    pub with_any: u32,
    /// Intra16x16PredMode.
    pub intra_16x16_mode: u8,
    /// QPY of the macroblock before.
    pub qp: u8,
    /// `mb_qp_delta` of the macroblock before was not 0.
    pub quantiser_changed: bool,
    /// Index of the newest macroblock in the picture.
    pub newest: Option<usize>,
    /// Elements out of their range.
    pub errors: u32,
}

impl Decoder<'_, '_> {
    /// Starts the macroblock with address `address` (6.4.1). `None` after the end of the picture.
    pub fn start(&mut self, address: usize) -> Option<()> {
        let width = self.parameters.width;
        let (x, y) = if self.mbaff {
            (address / 2 % width, address / 2 / width * 2 + address % 2)
        } else {
            (address % width, address / width)
        };
        if y >= self.parameters.picture_height() {
            return None;
        }
        (self.x, self.y) = (x, y);
        self.current = Macroblock { slice: self.index, ..Macroblock::default() };
        let field = self.mbaff && y % 2 == 1 && self.macroblocks[(y - 1) * width + x].field;
        self.set_field(field);
        Some(())
    }

    /// Chooses between frame and field macroblock, and finds the neighbours.
    pub fn set_field(&mut self, field: bool) {
        self.current.field = field;
        self.field_coded = field || self.parameters.structure.is_field();
        let search = Search {
            macroblocks: self.macroblocks,
            width: self.parameters.width,
            slice: self.index,
        };
        let at = (self.x, self.y);
        self.neighbours = if self.mbaff { search.mbaff(at, field) } else { search.plain(at) };
    }

    /// Index of the macroblock in the picture.
    pub fn position(&self) -> usize {
        self.y * self.parameters.width + self.x
    }

    /// Keeps the macroblock for its neighbours.
    pub fn store(&mut self) {
        let position = self.position();
        self.current.decoded = true;
        self.macroblocks[position] = self.current.clone();
    }

    /// Ends a macroblock: keeps it and its motion.
    pub fn end(&mut self) {
        if !self.parameters.non_reference {
            self.write_motion();
        }
        self.store();
        self.newest = Some(self.position());
    }

    /// Sets the quantisers that the deblocking filter uses.
    pub fn set_qp(&mut self, qp: u8) {
        let [cb, cr] = self.parameters.chroma_qp_offsets.map(|offset| chroma_qp(qp, offset));
        self.current.qp = [qp, cb, cr];
    }

    /// The structure that the macroblock belongs to: that of the picture, or of its field in MBAFF
    /// frames.
    pub fn structure(&self) -> Structure {
        match (self.current.field, self.y % 2) {
            (false, _) => self.parameters.structure,
            (true, 0) => Structure::Top,
            (true, _) => Structure::Bottom,
        }
    }
}
