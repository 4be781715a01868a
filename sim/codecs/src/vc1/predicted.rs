//! Macroblocks of progressive P pictures (7.1.3), and prediction from their vectors.

use super::block::Choice;
use super::compensation::{Reference, Rows};
use super::decoder::{Damaged, Decoded, Decoder};
use super::interpolation::{self, Block, Target};
use super::intra::IntraBlock;
use super::macroblock::{Macroblock, Mv, Quantizer};
use super::parameters::{Coding, VectorMode};
use super::tables::Transform;
use super::vectors::Difference;

/// The chroma vector of a luma vector (8.3.5.4), in quarter samples of chroma.
pub(super) fn chroma_mv(mv: Mv) -> (i32, i32) {
    let half = |value: i16| (i32::from(value) + i32::from(value & 3 == 3)) >> 1;
    (half(mv.x), half(mv.y))
}

/// Rounds a chroma vector to half samples, towards zero (FASTUVMC).
fn toward_zero(value: i32) -> i32 {
    value - value % 2
}

/// Where a prediction comes from, and what becomes of it.
#[derive(Clone, Copy)]
struct Source {
    /// 0 forward, 1 backward.
    direction: usize,
    /// It is the field of opposite parity.
    opposite: bool,
    /// The mean of the prediction and the samples that are there is the result.
    average: bool,
}

impl Decoder<'_> {
    /// Decodes a macroblock of a progressive P picture.
    pub(super) fn predicted_macroblock(&mut self) -> Decoded<()> {
        let raw = self.p.raw;
        let mixed = self.p.vector_mode == VectorMode::Mixed;
        let four = mixed && self.flag(raw.mv_type, 2);
        let skipped = self.flag(raw.skip, 1);
        match (four, skipped) {
            (false, true) => {
                let mv = self.predicted_mv(0, true, Difference::default());
                self.current().mv[0] = [mv; 4];
                self.predict_whole(0, false);
                self.store_samples();
                Ok(())
            }
            (false, false) => self.one_vector(),
            (true, true) => {
                for block in 0..4 {
                    let mv = self.predicted_mv(block, false, Difference::default());
                    self.current().mv[0][block] = mv;
                    self.predict_block(block, 0, false);
                }
                self.predict_chroma_of_four(0);
                self.store_samples();
                Ok(())
            }
            (true, false) => self.four_vectors(),
        }
    }

    /// A macroblock with one vector, or an intra macroblock.
    fn one_vector(&mut self) -> Decoded<()> {
        let data = self.mv_data()?;
        if data.intra {
            return self.intra_in_progressive(data.coded);
        }
        let mv = self.predicted_mv(0, true, data.difference);
        self.current().mv[0] = [mv; 4];
        self.predict_whole(0, false);
        if data.coded {
            let (pattern, quantizer) = self.progressive_pattern()?;
            self.inter_residual(pattern, quantizer)?;
        } else {
            let quantizer = self.picture_quantizer();
            self.set_quantizer(quantizer);
        }
        self.store_samples();
        Ok(())
    }

    /// CBPCY and MQUANT of a macroblock of a progressive P or B picture.
    pub(super) fn progressive_pattern(&mut self) -> Decoded<(usize, Quantizer)> {
        let codes = &self.codes.cbpcy[usize::from(self.p.cbp_table & 3)];
        let pattern = codes.read(&mut self.bits).ok_or(Damaged)?;
        let quantizer = self.quantizer();
        Ok((pattern, quantizer))
    }

    /// The rest of an intra macroblock of a progressive P or B picture, after MVDATA.
    pub(super) fn intra_in_progressive(&mut self, coded: bool) -> Decoded<()> {
        let (pattern, quantizer, prediction);
        if coded {
            prediction = self.bits.flag();
            (pattern, quantizer) = self.progressive_pattern()?;
        } else {
            quantizer = self.quantizer();
            prediction = self.bits.flag();
            pattern = 0;
        }
        self.intra_macroblock(pattern, quantizer, prediction)
    }

    /// The blocks of an intra macroblock of a P or B picture.
    pub(super) fn intra_macroblock(
        &mut self,
        pattern: usize,
        quantizer: Quantizer,
        prediction: bool,
    ) -> Decoded<()> {
        self.set_quantizer(quantizer);
        for block in 0..6 {
            self.current().intra |= 1 << block;
            let coded = pattern >> (5 - block) & 1 != 0;
            self.intra_block(IntraBlock { block, coded, prediction, quantizer })?;
        }
        Ok(())
    }

    /// Keeps the quantiser of the current macroblock for the prediction of later ones.
    pub(super) fn set_quantizer(&mut self, quantizer: Quantizer) {
        self.current().quantizer = quantizer;
    }

    /// The coded blocks of an inter macroblock, after CBPCY and MQUANT.
    pub(super) fn inter_residual(&mut self, pattern: usize, quantizer: Quantizer) -> Decoded<()> {
        self.set_quantizer(quantizer);
        let mut choice = self.transform_choice()?;
        let mut first = true;
        for block in (0..6).filter(|block| pattern >> (5 - block) & 1 != 0) {
            self.inter_block(block, quantizer, &mut choice, first)?;
            first = false;
        }
        Ok(())
    }

    /// A macroblock with a vector, or intra, for each luma block.
    fn four_vectors(&mut self) -> Decoded<()> {
        let codes = &self.codes.cbpcy[usize::from(self.p.cbp_table & 3)];
        let pattern = codes.read(&mut self.bits).ok_or(Damaged)?;
        let mut coded = 0u8;
        for block in 0..4 {
            let mut difference = Difference::default();
            if pattern >> (5 - block) & 1 != 0 {
                let data = self.mv_data()?;
                coded |= u8::from(data.coded) << block;
                if data.intra {
                    self.current().intra |= 1 << block;
                    continue;
                }
                difference = data.difference;
            }
            let mv = self.predicted_mv(block, false, difference);
            self.current().mv[0][block] = mv;
            self.predict_block(block, 0, false);
        }
        self.predict_chroma_of_four(0);
        if self.current().intra.count_ones() >= 3 {
            self.current().intra |= 0x30;
        }
        coded |= u8::from(pattern & 2 != 0) << 4 | u8::from(pattern & 1 != 0) << 5;
        let intra = self.current().intra;
        let coded_inter = coded & !intra != 0;
        if intra != 0 || coded_inter {
            self.four_vector_blocks(coded, coded_inter)?;
        }
        self.store_samples();
        Ok(())
    }

    /// The blocks of a macroblock with four vectors.
    fn four_vector_blocks(&mut self, coded: u8, coded_inter: bool) -> Decoded<()> {
        let intra = self.current().intra;
        let quantizer = self.quantizer();
        self.set_quantizer(quantizer);
        let predictable = (0..6).any(|n| intra & (1 << n) != 0 && self.has_intra_neighbour(n));
        let prediction = predictable && self.bits.flag();
        let mut choice =
            if coded_inter { self.transform_choice()? } else { Choice::Picture(Transform::Whole) };
        let mut first = true;
        for block in 0..6 {
            let coded = coded & (1 << block) != 0;
            if intra & (1 << block) != 0 {
                self.intra_block(IntraBlock { block, coded, prediction, quantizer })?;
            } else if coded {
                self.inter_block(block, quantizer, &mut choice, first)?;
                first = false;
            }
        }
        Ok(())
    }

    /// The reference of a source, and the rows that are read.
    fn reference(&self, source: Source) -> (Reference<'_>, Rows) {
        if self.p.coding.is_field() {
            let field = self.p.field() ^ usize::from(source.opposite);
            (self.references[source.direction][field], Rows::Field(field))
        } else {
            (self.references[source.direction][0], Rows::Frame)
        }
    }

    /// Rows that a vector to a field of the other parity is moved by, in quarter samples.
    fn parity_offset(&self, opposite: bool) -> i32 {
        match (opposite, self.p.field()) {
            (false, _) => 0,
            (true, 0) => -2,
            (true, _) => 2,
        }
    }

    /// Predicts all samples of the current macroblock from one vector. `average`: the mean with the
    /// samples that are there.
    pub(super) fn predict_whole(&mut self, direction: usize, average: bool) {
        let current = self.current();
        let mv = current.mv[direction][0];
        let opposite = current.opposite[direction] & 1 != 0;
        let chroma = chroma_mv(mv);
        if direction == 0 && !average {
            current.chroma_mv = Mv { x: chroma.0 as i16, y: chroma.1 as i16 };
            current.chroma_opposite = opposite;
        }
        let offset = self.parity_offset(opposite);
        let (x, y) = (i32::from(mv.x), i32::from(mv.y) + offset);
        let at = (self.x as i32 * 16 + (x >> 2), self.y as i32 * 16 + (y >> 2));
        let at = self.limited(at);
        let source = Source { direction, opposite, average };
        self.predict(0, (0, 16), at, (x & 3, y & 3), source);
        let (mut x, mut y) = (chroma.0, chroma.1 + offset);
        if self.p.fast_chroma && self.p.coding != Coding::InterlacedFrame {
            (x, y) = (toward_zero(x), toward_zero(y));
        }
        self.predict_chroma((x, y), source);
    }

    /// Simple and main profile keep a macroblock's position near the picture (8.3.6.5).
    fn limited(&self, at: (i32, i32)) -> (i32, i32) {
        if self.p.advanced {
            return at;
        }
        let limit = |value: i32, count: usize| value.clamp(-16, count as i32 * 16);
        (limit(at.0, self.p.width_in_mbs), limit(at.1, self.p.height_in_mbs))
    }

    /// Predicts the chroma samples of the current macroblock from a chroma vector.
    fn predict_chroma(&mut self, (x, y): (i32, i32), source: Source) {
        let at = (self.x as i32 * 8 + (x >> 2), self.y as i32 * 8 + (y >> 2));
        for plane in 1..3 {
            self.predict(plane, (0, 8), at, (x & 3, y & 3), source);
        }
    }

    /// Predicts luma block `block` of the current macroblock from its vector.
    pub(super) fn predict_block(&mut self, block: usize, direction: usize, average: bool) {
        let current = self.current();
        let mv = current.mv[direction][block];
        let opposite = current.opposite[direction] & (1 << block) != 0;
        let (x, y) = (i32::from(mv.x), i32::from(mv.y) + self.parity_offset(opposite));
        let (column, row) = (block % 2 * 8, block / 2 * 8);
        let at = ((self.x * 16 + column) as i32 + (x >> 2), (self.y * 16 + row) as i32 + (y >> 2));
        let start = row * 16 + column;
        let source = Source { direction, opposite, average };
        self.predict(0, (start, 8), at, (x & 3, y & 3), source);
    }

    /// Predicts a square from its position `at` in the reference. `place`: index of the square's
    /// first sample in the macroblock's plane, and its size.
    fn predict(
        &mut self,
        plane: usize,
        (start, size): (usize, usize),
        position: (i32, i32),
        fraction: (i32, i32),
        source: Source,
    ) {
        let (reference, rows) = self.reference(source);
        let (rounding, average) = (self.p.rounding, source.average);
        let block = Block { plane, size, position, fraction, rows, rounding, average };
        let bilinear = plane > 0 || self.p.bilinear();
        let mut samples = self.samples.planes[plane];
        let stride = if plane == 0 { 16 } else { 8 };
        let mut target = Target { samples: &mut samples[start..], stride };
        if bilinear {
            interpolation::bilinear(&reference, &block, &mut target);
        } else {
            interpolation::bicubic(&reference, &block, &mut target);
        }
        self.samples.planes[plane] = samples;
    }

    /// Predicts the chroma samples of a macroblock with four luma vectors (8.3.5.4).
    pub(super) fn predict_chroma_of_four(&mut self, direction: usize) {
        let macroblock = *self.current();
        let Some(mv) = self.macroblock_mv(&macroblock, direction) else {
            return;
        };
        let opposite = macroblock.opposite[direction].count_ones() > 2;
        let (mut x, mut y) = chroma_mv(mv);
        let current: &mut Macroblock = self.current();
        current.chroma_mv = Mv { x: x as i16, y: y as i16 };
        current.chroma_opposite = opposite;
        if self.p.fast_chroma {
            (x, y) = (toward_zero(x), toward_zero(y));
        }
        y += self.parity_offset(opposite);
        self.predict_chroma((x, y), Source { direction, opposite, average: false });
    }
}

#[cfg(test)]
mod tests {
    use super::{Mv, chroma_mv, toward_zero};

    /// Oracle: the rounding of 8.3.5.4, by hand.
    #[test]
    fn chroma_vectors_are_halves() {
        for (luma, chroma) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (-1, 0), (-2, -1), (-3, -2)]
        {
            assert_eq!(chroma_mv(Mv { x: luma, y: 0 }).0, chroma, "{luma}");
        }
        assert_eq!([-3, -2, -1, 0, 1, 3].map(toward_zero), [-2, -2, 0, 0, 0, 2]);
    }
}
