//! A slice: its macroblocks in order (7.3.4).

use super::bins::Cabac;
use super::cabac::Arithmetic;
use super::cavlc::Cavlc;
use super::neighbours::{Neighbours, Search};
use super::syntax::Entropy;
use super::transform::{LevelScale, chroma_qp};
use super::vectors::MotionCache;
use super::{Macroblock, Parameters, References, Slice, SliceKind};
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
    /// Elements out of their range.
    pub errors: u32,
}

impl Decoder<'_, '_> {
    /// Decodes the slice. `data`: the NAL unit without emulation prevention bytes.
    pub fn run(&mut self, data: &[u8]) {
        let (x, y) = self.slice.first;
        let width = self.parameters.width;
        let outside = x >= width || y >= self.parameters.picture_height();
        if outside || self.slice.data_offset / 8 >= data.len() {
            self.errors = self.errors.saturating_add(1);
            return;
        }
        let first = if self.mbaff { 2 * (y / 2 * width + x) } else { y * width + x };
        self.qp = self.slice.qp.min(51);
        let result = if self.parameters.cabac {
            let set = match self.slice.kind {
                SliceKind::I => 0,
                _ => 1 + usize::from(self.slice.cabac_init.min(2)),
            };
            let start = self.slice.data_offset.div_ceil(8);
            let bins = Arithmetic::new(data, start, set, self.slice.qp);
            self.run_cabac(&mut Cabac { bins }, first)
        } else {
            self.run_cavlc(&mut Cavlc::new(data, self.slice.data_offset), first)
        };
        if result.is_none() {
            self.errors = self.errors.saturating_add(1);
        }
    }

    fn run_cavlc(&mut self, entropy: &mut Cavlc<'_>, first: usize) -> Option<()> {
        let mut address = first;
        let inter = self.slice.kind != SliceKind::I;
        loop {
            if inter {
                let skipped = entropy.bits.ue()?;
                for left in (0..skipped).rev() {
                    self.start(address)?;
                    if self.mbaff && address.is_multiple_of(2) {
                        // The flag of the pair follows after the run, if the lower macroblock is
                        // not skipped.
                        let lower = left == 0 && entropy.more();
                        let field = if lower { entropy.bits.flag() } else { self.inferred_field() };
                        self.set_field(field);
                    }
                    self.skip()?;
                    address += 1;
                }
                if !entropy.more() {
                    return Some(());
                }
            }
            self.start(address)?;
            // If the upper macroblock is skipped, its run has brought the flag.
            if self.mbaff && address.is_multiple_of(2) {
                let field = entropy.field_flag(self);
                self.set_field(field);
            }
            self.macroblock(entropy)?;
            address += 1;
            if !entropy.more() {
                return Some(());
            }
        }
    }

    fn run_cabac(&mut self, entropy: &mut Cabac<'_>, first: usize) -> Option<()> {
        let mut address = first;
        let inter = self.slice.kind != SliceKind::I;
        // The skip flag of a lower macroblock that was read with the upper one.
        let mut ahead = None;
        loop {
            self.start(address)?;
            let upper = self.mbaff && address.is_multiple_of(2);
            if upper {
                let field = self.inferred_field();
                self.set_field(field);
            }
            let skipped = match ahead.take() {
                Some(flag) => flag,
                None => inter && entropy.skip_flag(self),
            };
            if skipped {
                if upper {
                    ahead = Some(self.look_ahead(entropy, address)?);
                }
                self.skip()?;
            } else {
                if upper {
                    let field = entropy.field_flag(self);
                    self.set_field(field);
                }
                self.macroblock(entropy)?;
            }
            address += 1;
            if !upper && entropy.bins.terminate() {
                return Some(());
            }
            if entropy.overrun() {
                return None;
            }
        }
    }

    /// The upper macroblock of a pair is skipped: reads the skip flag of the lower one and, if that
    /// is not skipped, the field flag of the pair (7.3.4).
    fn look_ahead(&mut self, entropy: &mut Cabac<'_>, address: usize) -> Option<bool> {
        let field = self.current.field;
        // For the lower macroblock the upper one is decoded and skipped.
        self.current.skipped = true;
        self.store();
        self.start(address + 1)?;
        let skipped = entropy.skip_flag(self);
        let field = if skipped { field } else { entropy.field_flag(self) };
        self.start(address)?;
        self.set_field(field);
        Some(skipped)
    }

    /// Starts the macroblock with address `address` (6.4.1). `None` after the end of the picture.
    fn start(&mut self, address: usize) -> Option<()> {
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
    fn set_field(&mut self, field: bool) {
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

    /// The upper macroblocks of the pairs to the left and above, if in the slice (6.4.10).
    fn pairs_around(&self) -> [Option<&Macroblock>; 2] {
        let width = self.parameters.width;
        let index = (self.y & !1) * width + self.x;
        let left = if self.x > 0 { index.checked_sub(1) } else { None };
        [left, index.checked_sub(2 * width)].map(|index| {
            self.macroblocks.get(index?).filter(|found| found.decoded && found.slice == self.index)
        })
    }

    /// `mb_field_decoding_flag` of a pair that does not have it (7.4.4).
    fn inferred_field(&self) -> bool {
        let [left, above] = self.pairs_around();
        left.or(above).is_some_and(|pair| pair.field)
    }

    /// Number of field pairs to the left and above.
    pub fn field_pairs_around(&self) -> usize {
        self.pairs_around().into_iter().flatten().filter(|pair| pair.field).count()
    }

    /// Index of the macroblock in the picture.
    pub fn position(&self) -> usize {
        self.y * self.parameters.width + self.x
    }

    /// Keeps the macroblock for its neighbours.
    fn store(&mut self) {
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

    /// The macroblocks to the left and above (6.4.11.1).
    fn around(&self) -> [Option<&Macroblock>; 2] {
        let left = self.neighbours.left.map(|blocks| blocks[0].0);
        [left, self.neighbours.above].map(|index| Some(&self.macroblocks[index?]))
    }

    /// Number of the macroblocks to the left and above that `condition` is true for.
    pub fn count_around(&self, condition: impl Fn(&Macroblock) -> bool) -> usize {
        self.around().into_iter().flatten().filter(|near| condition(near)).count()
    }

    /// As `count_around`, but the macroblock above counts twice.
    pub fn count_around_weighted(&self, condition: impl Fn(&Macroblock) -> bool) -> usize {
        let [left, above] = self.around().map(|near| usize::from(near.is_some_and(&condition)));
        left + 2 * above
    }

    /// Number of coefficients of the blocks to the left of and above block `block` of
    /// [`Macroblock::counts`] (6.4.11.4, 6.4.11.5).
    #[inline]
    pub fn counts_around(&self, block: usize) -> (Option<u8>, Option<u8>) {
        let left = |row: usize| self.neighbours.left.map(|blocks| blocks[row]);
        let above = |at: usize| Some(self.macroblocks[self.neighbours.above?].counts[at]);
        let own = |at: usize| Some(self.current.counts[at]);
        if block < 16 {
            let (x, y) = (block % 4, block / 4);
            let left = match x {
                0 => left(y).map(|(near, row)| self.macroblocks[near].counts[4 * row + 3]),
                _ => own(block - 1),
            };
            (left, if y == 0 { above(12 + x) } else { own(block - 4) })
        } else {
            let (x, y) = (block % 2, block / 2 % 2);
            let first = block & !3;
            let left = match x {
                0 => left(2 * y)
                    .map(|(near, row)| self.macroblocks[near].counts[first + row / 2 * 2 + 1]),
                _ => own(block - 1),
            };
            (left, if y == 0 { above(first + 2 + x) } else { own(block - 2) })
        }
    }

    /// Whether the DC blocks of a component to the left and above have coefficients.
    pub fn dc_around(&self, component: usize) -> (Option<bool>, Option<bool>) {
        let [left, above] =
            self.around().map(|near| near.map(|near| near.dc >> component & 1 == 1));
        (left, above)
    }

    /// The increment of the context of a bin of coded_block_pattern (9.3.3.1.1.4). `pattern`: the
    /// bits of earlier blocks.
    pub fn patterns_around(&self, block: usize, pattern: u8) -> usize {
        let bit = |pattern: u8, block: usize| pattern >> block & 1;
        let left = match block % 2 {
            0 => self.neighbours.left.map_or(1, |blocks| {
                let (near, row) = blocks[block];
                bit(self.macroblocks[near].pattern, row / 2 * 2 + 1)
            }),
            _ => bit(pattern, block - 1),
        };
        let above = match block / 2 {
            0 => self
                .neighbours
                .above
                .map_or(1, |near| bit(self.macroblocks[near].pattern, block + 2)),
            _ => bit(pattern, block - 2),
        };
        usize::from(1 - left) + 2 * usize::from(1 - above)
    }

    /// The increment of the context of ref_idx for 8x8 block `block` (9.3.3.1.1.6).
    pub fn references_around(&self, list: usize, block: usize) -> usize {
        let large = |near: &Macroblock, block: usize| {
            // A frame macroblock counts in frames, so two field references are one.
            let unit = i8::from(near.field && !self.current.field);
            near.references[list][block] > unit && near.direct >> block & 1 == 0
        };
        let left = match block % 2 {
            0 => self.neighbours.left.is_some_and(|blocks| {
                let (near, row) = blocks[block];
                large(&self.macroblocks[near], row / 2 * 2 + 1)
            }),
            _ => large(&self.current, block - 1),
        };
        let above = match block / 2 {
            0 => {
                self.neighbours.above.is_some_and(|near| large(&self.macroblocks[near], block + 2))
            }
            _ => large(&self.current, block - 2),
        };
        usize::from(left) + 2 * usize::from(above)
    }
}
