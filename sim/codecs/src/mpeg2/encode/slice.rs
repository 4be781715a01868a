//! The syntax of slices and macroblocks (6.2.4, 6.2.5), written.

use super::block::Levels;
use super::{Invalid, Macroblock, Picture, Slice};
use crate::bits::BitWriter;
use crate::frame::Structure;
use crate::mpeg2::codes::{self, INCREMENTS, PATTERNS, TYPES};
use crate::mpeg2::motion::{Motion, Prediction, Predictors};
use crate::mpeg2::parameters::PictureType;
use crate::mpeg2::predict::{Samples, predict};
use crate::mpeg2::tables::{BACKWARD, ESCAPE_INCREMENT, FORWARD, INTRA, PATTERN, QUANT};

/// State that goes from macroblock to macroblock of a slice.
struct State {
    /// DC predictors of Y, Cb, Cr (7.2.1).
    dc: [i32; 3],
    predictors: Predictors,
    quantiser_scale_code: u8,
    /// Motion of the last macroblock, `None` after an intra one.
    motion: Option<Motion>,
    /// Macroblocks that are passed over before the next one.
    passed: usize,
}

impl Picture<'_> {
    /// The coded data of a slice, with its start code and header.
    pub(super) fn encode(
        &self,
        slice: &Slice,
        macroblocks: &[Macroblock],
    ) -> Result<BitWriter, (usize, Invalid)> {
        let (column, row) = slice.first;
        let rows = self.parameters.height / self.parameters.structure.step();
        // Above this row the standard needs an extension of the position.
        if row >= rows.min(175) || column + macroblocks.len() > self.parameters.width {
            return Err((0, Invalid::Position));
        }
        if !(1..=31).contains(&slice.quantiser_scale_code) {
            return Err((0, Invalid::Quantiser(slice.quantiser_scale_code)));
        }
        let mut writer = BitWriter::default();
        writer.put(1, 24);
        writer.put(row as u32 + 1, 8);
        writer.put(slice.quantiser_scale_code.into(), 5);
        if let Some(intra) = slice.intra {
            writer.put(1, 1);
            writer.put(intra.into(), 1);
            // slice_picture_id_enable, slice_picture_id.
            writer.put(0, 7);
        }
        writer.put(0, 1);
        let mut state = State {
            dc: [self.decoder.rules.dc_reset(); 3],
            predictors: Predictors::default(),
            quantiser_scale_code: slice.quantiser_scale_code,
            motion: None,
            passed: column,
        };
        for (index, macroblock) in macroblocks.iter().enumerate() {
            let inner = index > 0 && index + 1 < macroblocks.len();
            self.macroblock(&mut writer, &mut state, (column + index, row), inner, macroblock)
                .map_err(|error| (index, error))?;
        }
        Ok(writer)
    }

    /// Writes a macroblock. `inner`: neither the first nor the last one of the slice.
    fn macroblock(
        &self,
        writer: &mut BitWriter,
        state: &mut State,
        at: (usize, usize),
        inner: bool,
        macroblock: &Macroblock,
    ) -> Result<(), Invalid> {
        let Macroblock { motion, field_dct, quantiser_scale_code, .. } = *macroblock;
        self.check(macroblock)?;
        let scale = self.decoder.rules.quantiser_scale(quantiser_scale_code);
        let (levels, pattern) = self.residual(macroblock, at, scale);
        if inner && macroblock.skip_conversion && pattern == 0 && self.skips(state, motion) {
            state.passed += 1;
            state.dc = [self.decoder.rules.dc_reset(); 3];
            if self.parameters.picture_type == PictureType::P {
                state.predictors = Predictors::default();
            }
            return Ok(());
        }
        let mut kind = match motion {
            None => INTRA,
            Some(motion) => {
                let [forward, backward] = motion.directions;
                let coded = if pattern != 0 { PATTERN } else { 0 };
                coded | if forward { FORWARD } else { 0 } | if backward { BACKWARD } else { 0 }
            }
        };
        let changed = quantiser_scale_code != state.quantiser_scale_code;
        if changed && kind & (INTRA | PATTERN) != 0 {
            kind |= QUANT;
            state.quantiser_scale_code = quantiser_scale_code;
        }
        let picture_type = self.parameters.picture_type;
        let types = &TYPES[match picture_type {
            PictureType::I => 0,
            PictureType::P => 1,
            PictureType::B => 2,
        }];
        let code = types[usize::from(kind)];
        if code.0 == 0 {
            return Err(Invalid::Prediction);
        }
        let mut passed = std::mem::take(&mut state.passed);
        while passed >= 33 {
            codes::put(writer, INCREMENTS[usize::from(ESCAPE_INCREMENT)]);
            passed -= 33;
        }
        codes::put(writer, INCREMENTS[passed + 1]);
        codes::put(writer, code);
        let frame = self.parameters.structure == Structure::Frame;
        let choice = frame && !self.parameters.frame_pred_frame_dct;
        if let Some(motion) = motion.filter(|_| choice || !frame) {
            let number = match (motion.prediction, frame) {
                (Prediction::Field, _) => 1,
                (Prediction::Frame, true) | (Prediction::SixteenByEight, false) => 2,
                _ => return Err(Invalid::Prediction),
            };
            writer.put(number, 2);
        }
        if choice && kind & (INTRA | PATTERN) != 0 {
            writer.put(field_dct.into(), 1);
        }
        if kind & QUANT != 0 {
            writer.put(quantiser_scale_code.into(), 5);
        }
        self.vectors(writer, state, motion)?;
        if kind & PATTERN != 0 {
            codes::put(writer, PATTERNS[usize::from(pattern)]);
        }
        if motion.is_some() {
            state.dc = [self.decoder.rules.dc_reset(); 3];
        }
        for (index, levels) in levels.iter().enumerate() {
            if motion.is_none() {
                let dc = (index < 4, &mut state.dc[index.saturating_sub(3)]);
                self.blocks.write_intra(writer, dc, levels);
            } else if pattern & 32 >> index != 0 {
                self.blocks.write_non_intra(writer, levels);
            }
        }
        state.motion = motion;
        Ok(())
    }

    fn check(&self, macroblock: &Macroblock) -> Result<(), Invalid> {
        let code = macroblock.quantiser_scale_code;
        if !(1..=31).contains(&code) {
            return Err(Invalid::Quantiser(code));
        }
        let frame = self.parameters.structure == Structure::Frame;
        let choice = frame && !self.parameters.frame_pred_frame_dct;
        if macroblock.field_dct && !choice {
            return Err(Invalid::FieldDct);
        }
        let Some(motion) = macroblock.motion else { return Ok(()) };
        let possible = match motion.prediction {
            Prediction::Frame => frame,
            Prediction::Field => choice || !frame,
            Prediction::SixteenByEight => !frame,
            Prediction::DualPrime => false,
        };
        if possible && motion.directions != [false; 2] { Ok(()) } else { Err(Invalid::Prediction) }
    }

    /// True if a macroblock without coefficients is what a skipped one would be (7.6.6).
    fn skips(&self, state: &State, motion: Option<Motion>) -> bool {
        let Some(motion) = motion else { return false };
        let mut skipped = Motion::still(self.parameters.structure);
        match self.parameters.picture_type {
            PictureType::I => return false,
            PictureType::P => skipped.directions = [true, false],
            PictureType::B => {
                let Some(last) = state.motion else { return false };
                skipped.directions = last.directions;
                skipped.vectors[0] = state.predictors.0[0];
            }
        }
        let used = (0..2).filter(|direction| skipped.directions[*direction]);
        motion.prediction == skipped.prediction
            && motion.directions == skipped.directions
            && used.into_iter().all(|direction| {
                let field = self.parameters.structure.is_field();
                motion.vectors[0][direction] == skipped.vectors[0][direction]
                    && (!field || motion.bottom[0][direction] == skipped.bottom[0][direction])
            })
    }

    fn vectors(
        &self,
        writer: &mut BitWriter,
        state: &mut State,
        motion: Option<Motion>,
    ) -> Result<(), Invalid> {
        match motion {
            None if self.parameters.concealment_vectors => {
                let still = Motion::still(self.parameters.structure);
                state
                    .predictors
                    .write(writer, &self.parameters, 0, &still)
                    .ok_or(Invalid::Vectors)?;
                writer.put(1, 1);
            }
            None => state.predictors = Predictors::default(),
            Some(motion) => {
                for direction in (0..2).filter(|direction| motion.directions[*direction]) {
                    state
                        .predictors
                        .write(writer, &self.parameters, direction, &motion)
                        .ok_or(Invalid::Vectors)?;
                }
            }
        }
        Ok(())
    }

    /// The levels of the blocks, and coded_block_pattern.
    fn residual(
        &self,
        macroblock: &Macroblock,
        at: (usize, usize),
        quantiser_scale: i32,
    ) -> ([Levels; 6], u8) {
        let intra = macroblock.motion.is_none();
        let mut predicted = Samples::new(0);
        if let Some(motion) = &macroblock.motion {
            let (parameters, references) = (&self.parameters, &self.references);
            predict(parameters, references, &self.target, at, motion, &mut predicted);
        }
        let mut levels = [[0; 64]; 6];
        let mut pattern = 0;
        for (index, levels) in levels.iter_mut().enumerate() {
            let coded = macroblock.coded & 32 >> index != 0;
            if !coded && !intra {
                continue;
            }
            let difference = self.difference(macroblock, at, index, &predicted);
            *levels = self.blocks.quantise(&difference, intra, quantiser_scale);
            if !coded {
                levels[1..].fill(0);
            }
            if levels.iter().any(|level| *level != 0) {
                pattern |= 32 >> index;
            }
        }
        (levels, pattern)
    }

    /// Source minus prediction of a block.
    fn difference(
        &self,
        macroblock: &Macroblock,
        (x, y): (usize, usize),
        index: usize,
        predicted: &Samples,
    ) -> [i16; 64] {
        let (plane, size) = if index < 4 { (0, 16) } else { (index - 3, 8) };
        let view = self.source.planes[plane].view(self.parameters.structure);
        let field = macroblock.field_dct;
        let (across, first, step) = match (index, field) {
            (0..4, false) => (8 * (index % 2), 8 * (index / 2), 1),
            (0..4, true) => (8 * (index % 2), index / 2, 2),
            _ => (0, 0, 1),
        };
        let samples: &[u8] = if index < 4 { &predicted.luma } else { &predicted.chroma[index - 4] };
        std::array::from_fn(|at| {
            let (column, row) = (across + at % 8, first + at / 8 * step);
            let source = view.sample((size * x + column) as i32, (size * y + row) as i32);
            i16::from(source) - i16::from(samples[size * row + column])
        })
    }
}
