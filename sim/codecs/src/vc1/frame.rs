//! Macroblocks of interlaced P and B frames (7.1.3).

use super::bidirectional::Direction;
use super::compensation::Rows;
use super::decoder::{Damaged, Decoded, Decoder};
use super::interpolation::{self, Block, Target};
use super::predicted::chroma_mv;
use super::tables::{self, FrameMode, FrameVectors};
use super::vectors::Difference;

impl Decoder<'_> {
    /// Decodes a macroblock of an interlaced P frame.
    pub(super) fn frame_p_macroblock(&mut self) -> Decoded<()> {
        if self.flag(self.p.raw.skip, 1) {
            self.frame_mv_of_all(0, Difference::default());
            self.predict_whole(0, false);
            self.store_samples();
            return Ok(());
        }
        let codes = self.codes;
        let table = usize::from(self.p.mode_table & 3);
        let mode = if self.p.four_vectors {
            let symbol = codes.frame_mode_4mv[table].read(&mut self.bits).ok_or(Damaged)?;
            tables::FRAME_MODES_4MV[symbol]
        } else {
            let symbol = codes.frame_mode[table].read(&mut self.bits).ok_or(Damaged)?;
            tables::FRAME_MODES[symbol]
        };
        if mode.vectors == FrameVectors::Intra {
            return self.intra_in_frame();
        }
        let pattern = self.start_inter(mode)?;
        match mode.vectors {
            FrameVectors::Fields => {
                let present = self.two_pattern()?;
                self.field_mvs(0, present)?;
                for block in 0..4 {
                    self.predict_frame_block(block, 0, false);
                }
                self.predict_frame_chroma([0; 2], false);
            }
            FrameVectors::Four | FrameVectors::FourFields => {
                let present = self.four_pattern()?;
                for block in 0..4 {
                    let data = self.optional_mv_data(present & (8 >> block) != 0)?;
                    let mv = self.frame_mv(block, 0, data.difference);
                    self.current().mv[0][block] = mv;
                    self.predict_frame_block(block, 0, false);
                }
                self.predict_frame_chroma([0; 2], false);
            }
            FrameVectors::One | FrameVectors::Intra => {
                let data = self.optional_mv_data(mode.difference)?;
                self.frame_mv_of_all(0, data.difference);
                self.predict_whole(0, false);
            }
        }
        self.interlaced_residual(pattern)
    }

    /// Sets the flags of an inter macroblock and reads CBPCY.
    fn start_inter(&mut self, mode: FrameMode) -> Decoded<usize> {
        let current = self.current();
        current.field_transform = mode.field_transform;
        current.field_vectors =
            matches!(mode.vectors, FrameVectors::Fields | FrameVectors::FourFields);
        if mode.coded { self.interlaced_pattern() } else { Ok(0) }
    }

    /// Reads the pattern of vectors with a difference of a macroblock with two vectors.
    fn two_pattern(&mut self) -> Decoded<usize> {
        let codes = &self.codes.two_mv_pattern[usize::from(self.p.two_mv_table)];
        codes.read(&mut self.bits).ok_or(Damaged)
    }

    /// The rest of an intra macroblock of an interlaced P or B frame.
    fn intra_in_frame(&mut self) -> Decoded<()> {
        let field_transform = self.bits.flag();
        self.current().field_transform = field_transform;
        let coded = self.bits.flag();
        let pattern = if coded { self.interlaced_pattern()? } else { 0 };
        let prediction = self.bits.flag();
        let quantizer = self.quantizer();
        self.intra_macroblock(pattern, quantizer, prediction)
    }

    /// Predicts a frame vector for all blocks.
    fn frame_mv_of_all(&mut self, direction: usize, difference: Difference) {
        let mv = self.frame_mv(0, direction, difference);
        self.current().mv[direction] = [mv; 4];
    }

    /// Predicts the vector of a field: blocks `first` and `first + 1`.
    fn field_mv_of_frame(&mut self, first: usize, direction: usize, difference: Difference) {
        let mv = self.frame_mv(first, direction, difference);
        self.current().mv[direction][first..first + 2].fill(mv);
    }

    /// Reads and predicts the vectors of both fields. `present`: bit 1 the first one.
    fn field_mvs(&mut self, direction: usize, present: usize) -> Decoded<()> {
        for first in [0, 2] {
            let data = self.optional_mv_data(present & (2 >> (first / 2)) != 0)?;
            self.field_mv_of_frame(first, direction, data.difference);
        }
        Ok(())
    }

    /// Decodes a macroblock of an interlaced B frame.
    pub(super) fn frame_b_macroblock(&mut self) -> Decoded<()> {
        let skipped = self.flag(self.p.raw.skip, 1);
        let mut mode = tables::FRAME_MODES[0];
        if !skipped {
            let table = usize::from(self.p.mode_table & 3);
            let codes = &self.codes.frame_mode[table];
            mode = tables::FRAME_MODES[codes.read(&mut self.bits).ok_or(Damaged)?];
            if mode.vectors == FrameVectors::Intra {
                return self.intra_in_frame();
            }
        }
        let fields = mode.vectors == FrameVectors::Fields;
        self.current().field_vectors = fields;
        let direct = self.flag(self.p.raw.direct, 0);
        let mut direction = Direction::Interpolated;
        let mut switched = false;
        if direct {
            self.set_direct_of_frame(fields);
        } else {
            direction = self.direction();
            switched = fields && direction != Direction::Interpolated && self.bits.flag();
        }
        if skipped {
            if !direct {
                self.predict_skipped_b(direction);
            }
            self.predict_from(direction);
            self.store_samples();
            return Ok(());
        }
        let pattern = self.start_inter(mode)?;
        if direct {
            if fields {
                self.predict_both_fields();
            } else {
                self.predict_from(direction);
            }
        } else {
            self.frame_b_vectors(mode, direction, switched)?;
        }
        self.interlaced_residual(pattern)
    }

    /// Reads, predicts and applies the vectors of a macroblock of an interlaced B frame.
    fn frame_b_vectors(
        &mut self,
        mode: FrameMode,
        direction: Direction,
        switched: bool,
    ) -> Decoded<()> {
        let fields = mode.vectors == FrameVectors::Fields;
        let used = usize::from(direction == Direction::Backward);
        match (fields, direction) {
            (true, Direction::Interpolated) => {
                let present = self.four_pattern()?;
                for n in 0..4 {
                    let data = self.optional_mv_data(present & (8 >> n) != 0)?;
                    self.field_mv_of_frame(n & 2, n & 1, data.difference);
                }
                self.predict_both_fields();
            }
            (false, Direction::Interpolated) => {
                let present = self.two_pattern()?;
                for direction in 0..2 {
                    let data = self.optional_mv_data(present & (2 >> direction) != 0)?;
                    self.frame_mv_of_all(direction, data.difference);
                }
                self.predict_from(direction);
            }
            (true, _) => {
                let present = self.two_pattern()?;
                let lower = if switched { 1 - used } else { used };
                for (first, direction) in [(0, used), (2, lower)] {
                    let data = self.optional_mv_data(present & (2 >> (first / 2)) != 0)?;
                    self.field_mv_of_frame(first, direction, data.difference);
                }
                let current = self.current();
                if switched {
                    current.mv[used] = [current.mv[used][0]; 4];
                    current.mv[lower] = [current.mv[lower][2]; 4];
                } else {
                    for first in [0, 2] {
                        self.field_mv_of_frame(first, 1 - used, Difference::default());
                    }
                }
                for block in 0..4 {
                    let direction = if block < 2 { used } else { lower };
                    self.predict_frame_block(block, direction, false);
                }
                self.predict_frame_chroma([used, lower], false);
            }
            (false, _) => {
                let data = self.optional_mv_data(mode.difference)?;
                self.frame_mv_of_all(used, data.difference);
                self.predict_unused(1 - used);
                self.predict_from(direction);
            }
        }
        Ok(())
    }

    /// Predicts the vector of the direction that a macroblock does not use, as a field vector, for
    /// later macroblocks.
    fn predict_unused(&mut self, direction: usize) {
        self.current().field_vectors = true;
        let mv = self.frame_mv(0, direction, Difference::default());
        self.current().mv[direction] = [mv; 4];
    }

    /// The vectors of a skipped macroblock of a B frame.
    fn predict_skipped_b(&mut self, direction: Direction) {
        if direction == Direction::Interpolated {
            self.frame_mv_of_all(0, Difference::default());
            self.frame_mv_of_all(1, Difference::default());
        } else {
            let used = usize::from(direction == Direction::Backward);
            self.frame_mv_of_all(used, Difference::default());
            self.predict_unused(1 - used);
        }
    }

    /// Sets the vectors of a direct macroblock (10.8).
    fn set_direct_of_frame(&mut self, fields: bool) {
        let (mvs, _) = self.colocated();
        let mvs = [false, true].map(|backward| {
            let [first, second] = mvs.map(|mv| self.scaled_mv(mv, backward));
            let second = if fields { second } else { first };
            [first, first, second, second]
        });
        self.current().mv = mvs;
    }

    /// Predicts the fields of a macroblock from both directions.
    fn predict_both_fields(&mut self) {
        for direction in 0..2 {
            for block in 0..4 {
                self.predict_frame_block(block, direction, direction == 1);
            }
            self.predict_frame_chroma([direction; 2], direction == 1);
        }
    }

    /// Predicts a luma block of an interlaced frame. Blocks 0 and 1 of a macroblock of field
    /// vectors are the top field's halves, 2 and 3 the bottom field's.
    fn predict_frame_block(&mut self, block: usize, direction: usize, average: bool) {
        let current = self.current();
        let mv = current.mv[direction][block];
        let field = current.field_vectors;
        let (column, row) = (block % 2 * 8, block / 2 * if field { 1 } else { 8 });
        let (x, y) = (i32::from(mv.x), i32::from(mv.y));
        let reference = self.references[direction][0];
        let prediction = Block {
            plane: 0,
            size: 8,
            position: (
                (self.x * 16 + column) as i32 + (x >> 2),
                (self.y * 16 + row) as i32 + (y >> 2),
            ),
            fraction: (x & 3, y & 3),
            rows: if field { Rows::EverySecond } else { Rows::Frame },
            rounding: self.p.rounding,
            average,
        };
        let samples = &mut self.samples.planes[0][row * 16 + column..];
        let stride = if field { 32 } else { 16 };
        interpolation::bicubic(&reference, &prediction, &mut Target { samples, stride });
    }

    /// Predicts the chroma samples of a macroblock of an interlaced frame from the vectors of its
    /// four blocks. `directions`: of the upper and the lower blocks.
    fn predict_frame_chroma(&mut self, directions: [usize; 2], average: bool) {
        let macroblock = *self.current();
        let field = macroblock.field_vectors;
        for block in 0..4 {
            let direction = directions[block / 2];
            let mv = macroblock.mv[direction][block];
            let (x, mut y) = chroma_mv(mv);
            if field {
                let low = (mv.y & 15) as usize;
                y = i32::from(mv.y >> 4) * 8 + i32::from(tables::FIELD_CHROMA[low]);
            }
            let (column, row) = (block % 2 * 4, block / 2 * if field { 1 } else { 4 });
            let reference = self.references[direction][0];
            for plane in 1..3 {
                let prediction = Block {
                    plane,
                    size: 4,
                    position: (
                        (self.x * 8 + column) as i32 + (x >> 2),
                        (self.y * 8 + row) as i32 + (y >> 2),
                    ),
                    fraction: (x & 3, y & 3),
                    rows: if field { Rows::EverySecond } else { Rows::Frame },
                    rounding: self.p.rounding,
                    average,
                };
                let samples = &mut self.samples.planes[plane][row * 8 + column..];
                let stride = if field { 16 } else { 8 };
                interpolation::bilinear(&reference, &prediction, &mut Target { samples, stride });
            }
        }
    }
}
