//! Macroblocks of progressive B pictures (7.1.3).

use super::decoder::{Damaged, Decoded, Decoder};
use super::vectors::Difference;

/// BMVTYPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
    Interpolated,
}

impl Decoder<'_> {
    /// Reads BMVTYPE: the shorter code is for the nearer reference.
    pub(super) fn direction(&mut self) -> Direction {
        let backward_near = self.p.b_scale >= 128;
        match (self.ternary(), backward_near) {
            (0, true) | (1, false) => Direction::Backward,
            (0, false) | (1, true) => Direction::Forward,
            _ => Direction::Interpolated,
        }
    }

    /// Decodes a macroblock of a progressive B picture.
    pub(super) fn bidirectional_macroblock(&mut self) -> Decoded<()> {
        let raw = self.p.raw;
        let direct = self.flag(raw.direct, 0);
        let skipped = self.flag(raw.skip, 1);
        if direct {
            self.set_direct();
            self.predict_from(Direction::Interpolated);
            if !skipped {
                let (pattern, quantizer) = self.progressive_pattern()?;
                self.inter_residual(pattern, quantizer)?;
            }
            self.store_samples();
            return Ok(());
        }
        let mut differences = [Difference::default(); 2];
        let mut coded = false;
        let direction = if skipped {
            self.direction()
        } else {
            let data = self.mv_data()?;
            if data.intra {
                return self.intra_in_progressive(data.coded);
            }
            coded = data.coded;
            let direction = self.direction();
            match direction {
                Direction::Forward => differences[0] = data.difference,
                Direction::Backward => differences[1] = data.difference,
                Direction::Interpolated => {
                    differences[1] = data.difference;
                    if coded {
                        let data = self.mv_data()?;
                        if data.intra {
                            return Err(Damaged);
                        }
                        differences[0] = data.difference;
                        coded = data.coded;
                    }
                }
            }
            direction
        };
        // Later macroblocks predict from the direct vector of a direction that is not used.
        self.set_direct();
        if direction != Direction::Backward {
            let mv = self.bidirectional_mv(0, differences[0]);
            self.current().mv[0] = [mv; 4];
        }
        if direction != Direction::Forward {
            let mv = self.bidirectional_mv(1, differences[1]);
            self.current().mv[1] = [mv; 4];
        }
        self.predict_from(direction);
        if coded {
            let (pattern, quantizer) = self.progressive_pattern()?;
            self.inter_residual(pattern, quantizer)?;
        }
        self.store_samples();
        Ok(())
    }

    /// Sets both vectors to those of direct prediction.
    fn set_direct(&mut self) {
        let [forward, backward] = self.direct_mvs();
        self.current().mv = [[forward; 4], [backward; 4]];
    }

    /// Predicts the current macroblock from its vectors, one per direction.
    pub(super) fn predict_from(&mut self, direction: Direction) {
        match direction {
            Direction::Forward => self.predict_whole(0, false),
            Direction::Backward => self.predict_whole(1, false),
            Direction::Interpolated => {
                self.predict_whole(0, false);
                self.predict_whole(1, true);
            }
        }
    }
}
