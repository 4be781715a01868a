//! Macroblocks of P and B fields (7.1.3).

use super::bidirectional::Direction;
use super::decoder::{Damaged, Decoded, Decoder};
use super::field_vectors::FieldMvData;
use super::macroblock::Mv;
use super::parameters::VectorMode;

/// MBMODE of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldMode {
    /// Intra; coefficients follow.
    Intra(bool),
    /// One vector, with a difference.
    One(bool),
    /// Four vectors.
    Four,
}

impl Decoder<'_> {
    /// Reads MBMODE: the mode, and for inter macroblocks whether CBPCY follows.
    fn field_mode(&mut self) -> Decoded<(FieldMode, bool)> {
        let codes = self.codes;
        let table = usize::from(self.p.mode_table);
        let vlc = match self.p.vector_mode {
            VectorMode::Mixed => &codes.field_mode_mixed[table],
            _ => &codes.field_mode[table],
        };
        let symbol = vlc.read(&mut self.bits).ok_or(Damaged)?;
        Ok(match symbol {
            0 | 1 => (FieldMode::Intra(symbol == 1), false),
            2..=5 => (FieldMode::One(symbol & 1 != 0), symbol & 2 == 0),
            _ => (FieldMode::Four, symbol & 1 != 0),
        })
    }

    /// The rest of an intra macroblock of a field.
    fn intra_in_field(&mut self, coded: bool) -> Decoded<()> {
        let quantizer = self.quantizer();
        let prediction = self.bits.flag();
        let pattern = if coded { self.interlaced_pattern()? } else { 0 };
        self.intra_macroblock(pattern, quantizer, prediction)
    }

    /// CBPCY of interlaced P and B pictures.
    pub(super) fn interlaced_pattern(&mut self) -> Decoded<usize> {
        let codes = &self.codes.cbpcy_interlaced[usize::from(self.p.cbp_table)];
        Ok(codes.read(&mut self.bits).ok_or(Damaged)? + 1)
    }

    /// The coded blocks of an inter macroblock of an interlaced picture, then its end.
    pub(super) fn interlaced_residual(&mut self, pattern: usize) -> Decoded<()> {
        if pattern != 0 {
            let quantizer = self.quantizer();
            self.inter_residual(pattern, quantizer)?;
        } else {
            let quantizer = self.picture_quantizer();
            self.set_quantizer(quantizer);
        }
        self.store_samples();
        Ok(())
    }

    /// Reads the pattern of vectors with a difference of a macroblock with four vectors.
    pub(super) fn four_pattern(&mut self) -> Decoded<usize> {
        let codes = &self.codes.four_mv_pattern[usize::from(self.p.four_mv_table)];
        codes.read(&mut self.bits).ok_or(Damaged)
    }

    /// Reads MVDATA if it is present.
    pub(super) fn optional_mv_data(&mut self, present: bool) -> Decoded<FieldMvData> {
        if present { self.interlaced_mv_data() } else { Ok(FieldMvData::default()) }
    }

    /// Decodes a macroblock of a P field.
    pub(super) fn field_p_macroblock(&mut self) -> Decoded<()> {
        let (mode, coded) = self.field_mode()?;
        match mode {
            FieldMode::Intra(coded) => return self.intra_in_field(coded),
            FieldMode::One(difference) => {
                let data = self.optional_mv_data(difference)?;
                self.field_mv(0, true, 0, data);
                self.predict_whole(0, false);
            }
            FieldMode::Four => self.field_of_four(0)?,
        }
        let pattern = if coded { self.interlaced_pattern()? } else { 0 };
        self.interlaced_residual(pattern)
    }

    /// Four vectors of a macroblock of a field.
    fn field_of_four(&mut self, direction: usize) -> Decoded<()> {
        let vectors = self.four_pattern()?;
        for block in 0..4 {
            let data = self.optional_mv_data(vectors & (8 >> block) != 0)?;
            self.field_mv(block, false, direction, data);
            self.predict_block(block, direction, false);
        }
        self.predict_chroma_of_four(direction);
        Ok(())
    }

    /// Decodes a macroblock of a B field.
    pub(super) fn field_b_macroblock(&mut self) -> Decoded<()> {
        let (mode, coded) = self.field_mode()?;
        if let FieldMode::Intra(coded) = mode {
            return self.intra_in_field(coded);
        }
        let forward = self.flag(self.p.raw.forward, 2);
        if let FieldMode::One(difference) = mode {
            self.field_b_vectors(forward, difference)?;
        } else {
            let direction = usize::from(!forward);
            self.field_of_four(direction)?;
            // The direction that is not used is predicted for later macroblocks.
            self.field_mv(0, true, 1 - direction, FieldMvData::default());
        }
        let pattern = if coded { self.interlaced_pattern()? } else { 0 };
        self.interlaced_residual(pattern)
    }

    /// The vectors of a macroblock of a B field with one vector per direction.
    fn field_b_vectors(&mut self, forward: bool, difference: bool) -> Decoded<()> {
        let mut both_differ = false;
        let direction = if forward {
            Direction::Forward
        } else {
            match self.ternary() {
                0 => Direction::Backward,
                1 => {
                    self.set_direct_of_field();
                    self.predict_from(Direction::Interpolated);
                    return Ok(());
                }
                _ => {
                    both_differ = self.bits.flag();
                    Direction::Interpolated
                }
            }
        };
        let mut data = [FieldMvData::default(); 2];
        let first = usize::from(direction == Direction::Backward);
        data[first] = self.optional_mv_data(difference)?;
        if both_differ {
            data[1] = self.interlaced_mv_data()?;
        }
        // The used direction comes first, which makes no difference to the prediction.
        self.field_mv(0, true, first, data[first]);
        self.field_mv(0, true, 1 - first, data[1 - first]);
        self.predict_from(direction);
        Ok(())
    }

    /// Sets the vectors of a direct macroblock of a B field (10.4.5).
    fn set_direct_of_field(&mut self) {
        let ([mv, _], opposite) = self.colocated();
        let mvs = [false, true].map(|backward| -> [Mv; 4] { [self.scaled_mv(mv, backward); 4] });
        let opposite = if opposite { 15 } else { 0 };
        let current = self.current();
        current.mv = mvs;
        current.opposite = [opposite; 2];
    }
}
