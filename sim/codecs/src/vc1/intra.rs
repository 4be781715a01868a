//! Intra blocks: levels, their prediction (8.1.3) and samples.

use super::decoder::{Damaged, Decoded, Decoder};
use super::macroblock::Macroblock;
use super::macroblock::Quantizer;
use super::parameters::Coding;
use super::{tables, transform};

/// How an intra block is coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntraBlock {
    /// Index in its macroblock.
    pub(super) block: usize,
    /// AC levels follow.
    pub(super) coded: bool,
    /// ACPRED.
    pub(super) prediction: bool,
    pub(super) quantizer: Quantizer,
}

/// The step of DC levels by quantiser.
pub(super) fn dc_step(quantizer: u8) -> i32 {
    match quantizer {
        0 => 0,
        1 | 2 => i32::from(quantizer) * 2,
        3 | 4 => 8,
        _ => i32::from(quantizer) / 2 + 6,
    }
}

/// A level of a block with another step, in `to` steps (8.1.3.9).
fn rescaled(level: i32, from: i32, to: i32) -> i32 {
    let factor = (0x40000 + to / 2) / to;
    ((i64::from(level) * i64::from(from) * i64::from(factor) + 0x20000) >> 18) as i32
}

/// Where the predictors of a block are.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    dx: isize,
    dy: isize,
    block: usize,
}

/// The blocks on the left, above, and above on the left of a block.
fn neighbours(block: usize) -> [Neighbour; 3] {
    let at = |dx, dy, block| Neighbour { dx, dy, block };
    match block {
        0 => [at(-1, 0, 1), at(0, -1, 2), at(-1, -1, 3)],
        1 => [at(0, 0, 0), at(0, -1, 3), at(0, -1, 2)],
        2 => [at(-1, 0, 3), at(0, 0, 0), at(-1, 0, 1)],
        3 => [at(0, 0, 2), at(0, 0, 1), at(0, 0, 0)],
        _ => [at(-1, 0, block), at(0, -1, block), at(-1, -1, block)],
    }
}

/// The direction of prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Left,
    Above,
}

impl Decoder<'_> {
    /// The macroblock of a neighbour if it is in the slice.
    fn at(&self, neighbour: Neighbour) -> Option<&Macroblock> {
        let outside = (neighbour.dx < 0 && self.x == 0) || (neighbour.dy < 0 && self.at_top());
        (!outside).then(|| self.neighbour(neighbour.dx, neighbour.dy))
    }

    /// A neighbour is in the slice and intra.
    fn intra_at(&self, neighbour: Neighbour) -> bool {
        self.at(neighbour).is_some_and(|found| found.intra & (1 << neighbour.block) != 0)
    }

    /// The block on the left or the one above is intra.
    pub(super) fn has_intra_neighbour(&self, block: usize) -> bool {
        let [left, above, _] = neighbours(block);
        self.intra_at(left) || self.intra_at(above)
    }

    /// Decodes an intra block. The current macroblock's flags and quantiser are set before.
    pub(super) fn intra_block(&mut self, coding: IntraBlock) -> Decoded<()> {
        let IntraBlock { block, coded, quantizer, .. } = coding;
        let difference = self.dc_difference(block, quantizer)?;
        let simple = self.p.intra() && !self.p.advanced;
        let [left, above, _] = neighbours(block);
        let available = (self.intra_at(left), self.intra_at(above));
        let (dc, mut direction) = if simple {
            self.simple_dc_prediction(block, quantizer)
        } else {
            self.dc_prediction(block, quantizer, available)
        };
        let dc = difference.wrapping_add(dc) as i16;
        if !simple {
            // The prediction of AC levels needs an intra block.
            direction = match available {
                (true, false) => Direction::Left,
                (false, true) => Direction::Above,
                _ => direction,
            };
        }
        let prediction = coding.prediction && (simple || available.0 || available.1);
        let mut levels = [0i32; 64];
        if coded {
            let scan = self.intra_scan(coding.prediction, prediction, direction);
            self.ac_levels(block, scan, &mut levels)?;
        }
        if prediction {
            let from = if direction == Direction::Left { left } else { above };
            self.predict_ac(from, direction, quantizer, &mut levels);
        }
        let current = self.current();
        current.dc[block] = dc;
        for n in 1..8 {
            current.ac[block][n] = levels[n * 8] as i16;
            current.ac[block][n + 8] = levels[n] as i16;
        }
        let step = dc_step(quantizer.value());
        levels[0] = (i32::from(dc) * step).clamp(i16::MIN.into(), i16::MAX.into());
        for level in levels[1..].iter_mut().filter(|level| **level != 0) {
            *level = self.dequantized(*level, quantizer);
        }
        transform::inverse(&mut levels, (0, 0), (8, 8));
        self.keep_intra(block, &levels);
        Ok(())
    }

    /// Reads a DC difference (8.1.3).
    fn dc_difference(&mut self, block: usize, quantizer: Quantizer) -> Decoded<i32> {
        let table = usize::from(self.p.dc_table);
        let codes = self.codes;
        let vlc = if block < 4 { &codes.dc_luma[table] } else { &codes.dc_chroma[table] };
        let symbol = vlc.read(&mut self.bits).ok_or(Damaged)? as i32;
        if symbol == 0 {
            return Ok(0);
        }
        let more = match quantizer.value() {
            1 => 2,
            2 => 1,
            _ => 0,
        };
        let value = if symbol == 119 {
            self.bits.read(8 + more) as i32
        } else {
            (symbol << more) + self.bits.read(more) as i32 - ((1 << more) - 1)
        };
        Ok(if self.bits.flag() { -value } else { value })
    }

    /// Predicts the DC level in I pictures of simple and main profile (8.1.3): levels outside the
    /// picture are those of mid grey, or 0 with overlap smoothing.
    fn simple_dc_prediction(&self, block: usize, quantizer: Quantizer) -> (i32, Direction) {
        let step = dc_step(quantizer.value());
        let outside = if self.p.overlap { 0 } else { (1024 + step / 2) / step };
        let [left, above, corner] = neighbours(block).map(|neighbour| {
            let found = self.at(neighbour);
            found.map_or(outside, |found| i32::from(found.dc[neighbour.block]))
        });
        if (above - corner).abs() <= (corner - left).abs() {
            (left, Direction::Left)
        } else {
            (above, Direction::Above)
        }
    }

    /// Predicts the DC level from blocks with steps of their own (8.1.3).
    fn dc_prediction(
        &self,
        block: usize,
        quantizer: Quantizer,
        available: (bool, bool),
    ) -> (i32, Direction) {
        let [left, above, corner] = neighbours(block).map(|neighbour| {
            let Some(found) = self.at(neighbour) else {
                return 0;
            };
            let level = i32::from(found.dc[neighbour.block]);
            if [0, quantizer.value()].contains(&found.quantizer.value()) {
                level
            } else {
                rescaled(level, dc_step(found.quantizer.value()), dc_step(quantizer.value()))
            }
        });
        match available {
            (true, false) => (left, Direction::Left),
            (false, true) => (above, Direction::Above),
            (true, true) if (above - corner).abs() > (corner - left).abs() => {
                (above, Direction::Above)
            }
            (true, true) => (left, Direction::Left),
            (false, false) => (0, Direction::Left),
        }
    }

    /// The scan of an intra block. `stated`: ACPRED; `used`: levels are predicted.
    fn intra_scan(&self, stated: bool, used: bool, direction: Direction) -> &'static [u8; 64] {
        let by_direction = match direction {
            Direction::Left => &tables::INTRA_FROM_LEFT,
            Direction::Above => &tables::INTRA_FROM_ABOVE,
        };
        let frame = self.p.coding == Coding::InterlacedFrame;
        if self.p.intra() {
            match (stated, frame) {
                (true, true) if !used => &tables::INTERLACED_8X8,
                (true, _) => by_direction,
                (false, true) => &tables::INTERLACED_8X8,
                (false, false) => &tables::INTRA,
            }
        } else {
            match self.p.coding {
                Coding::Progressive => &tables::INTER_8X8,
                Coding::InterlacedFrame if used => by_direction,
                _ => &tables::INTERLACED_8X8,
            }
        }
    }

    /// Reads the AC levels of an intra block.
    fn ac_levels(&mut self, block: usize, scan: &[u8; 64], levels: &mut [i32; 64]) -> Decoded<()> {
        let set = self.coding_set(block >= 4);
        let mut index = 1;
        loop {
            let coefficient = self.coefficient(set)?;
            index += coefficient.run;
            let Some(&position) = scan.get(index) else {
                return Ok(());
            };
            levels[usize::from(position)] = coefficient.level;
            index += 1;
            if coefficient.last {
                return Ok(());
            }
        }
    }

    /// Adds the levels of the first column or row of a neighbour (8.1.3).
    fn predict_ac(
        &self,
        from: Neighbour,
        direction: Direction,
        quantizer: Quantizer,
        levels: &mut [i32; 64],
    ) {
        let Some(found) = self.at(from) else {
            return;
        };
        let (to_step, from_step) =
            (i32::from(quantizer.step) - 1, i32::from(found.quantizer.step) - 1);
        for n in 1..8 {
            let (at, offset) = match direction {
                Direction::Left => (n * 8, 0),
                Direction::Above => (n, 8),
            };
            let level = i32::from(found.ac[from.block][n + offset]);
            let level = if found.quantizer.step == 0 || to_step == from_step {
                level
            } else {
                rescaled(level, from_step, to_step)
            };
            levels[at] = i32::from(levels[at].wrapping_add(level) as i16);
        }
    }

    /// Keeps the samples of an intra block until they are smoothed and stored.
    fn keep_intra(&mut self, block: usize, samples: &[i32; 64]) {
        let (plane, stride, column, row) = self.block_position(self.x, self.y, block);
        let field = block < 4 && self.current().field_transform;
        let (row, step) = if field { (self.y * 16 + block / 2, 2) } else { (row, 1) };
        for (n, samples) in samples.chunks_exact(8).enumerate() {
            let out = &mut self.intra[plane][(row + n * step) * stride + column..][..8];
            for (out, &sample) in out.iter_mut().zip(samples) {
                *out = sample.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{dc_step, rescaled};

    /// Oracle: the table of DC steps (8.1.3).
    #[test]
    fn dc_steps_are_those_of_the_table() {
        let want = [
            0, 2, 4, 8, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17,
            18, 18, 19, 19, 20, 20, 21, 21,
        ];
        assert!((0..32).all(|q| dc_step(q) == want[usize::from(q)]));
    }

    #[test]
    fn rescaled_levels_round_to_the_nearest() {
        for (level, from, to) in [(10, 8, 16), (-7, 21, 8), (100, 3, 61), (1, 1, 2)] {
            let exact = f64::from(level) * f64::from(from) / f64::from(to);
            assert!((f64::from(rescaled(level, from, to)) - exact).abs() <= 0.51);
        }
    }
}
