//! Macroblocks of I and BI pictures (7.1.3).

use super::decoder::{Damaged, Decoded, Decoder};
use super::intra::IntraBlock;
use super::parameters::{Coding, Overlap};

impl Decoder<'_> {
    /// Decodes a macroblock of an I or BI picture.
    pub(super) fn intra_picture_macroblock(&mut self) -> Decoded<()> {
        let p = self.p;
        if p.coding == Coding::InterlacedFrame {
            let field_transform = self.flag(p.raw.field_transform, 0);
            self.current().field_transform = field_transform;
        }
        let codes = self.codes;
        let pattern = codes.cbpcy_intra.read(&mut self.bits).ok_or(Damaged)?;
        let prediction = self.flag(p.raw.ac_prediction || !p.advanced, 1);
        let quantizer = if p.advanced {
            if p.conditional_overlap == Overlap::Flagged {
                let overlap = self.flag(p.raw.overlap, 2);
                self.current().overlap = overlap;
            }
            self.quantizer()
        } else {
            self.picture_quantizer()
        };
        let current = self.current();
        current.intra = 63;
        current.quantizer = quantizer;
        for block in 0..6 {
            let mut coded = pattern >> (5 - block) & 1 != 0;
            if block < 4 {
                coded ^= self.predicted_coded(block);
                self.current().coded |= u8::from(coded) << block;
            }
            self.intra_block(IntraBlock { block, coded, prediction, quantizer })?;
        }
        Ok(())
    }

    /// The prediction of the coded block flag of a luma block (8.1.2).
    fn predicted_coded(&mut self, block: usize) -> bool {
        let top = self.at_top();
        let first = self.x == 0;
        let at = |decoder: &Self, dx: isize, dy: isize, block: usize| {
            let outside = (dx < 0 && first) || (dy < 0 && top);
            !outside && decoder.neighbour(dx, dy).coded & (1 << block) != 0
        };
        let [left, above, corner] = match block {
            0 => [at(self, -1, 0, 1), at(self, 0, -1, 2), at(self, -1, -1, 3)],
            1 => [at(self, 0, 0, 0), at(self, 0, -1, 3), at(self, 0, -1, 2)],
            2 => [at(self, -1, 0, 3), at(self, 0, 0, 0), at(self, -1, 0, 1)],
            _ => [at(self, 0, 0, 2), at(self, 0, 0, 1), at(self, 0, 0, 0)],
        };
        if corner == above { left } else { above }
    }
}
