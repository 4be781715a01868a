//! Parsing of a macroblock (7.3.5, 7.4.5) up to its coefficients.

use super::state::Decoder;
use super::syntax::{Entropy, Part};
use super::{Prediction, SliceKind};

/// Bit of list 0 and of list 1.
pub(super) const L0: u8 = 1;
pub(super) const L1: u8 = 2;
pub(super) const BI: u8 = 3;

/// Lists that the two partitions of mb_type 4 to 21 of B slices use, for two types each: 16x8, then
/// 8x16 (table 7-14).
pub(super) const PARTITIONS_B: [[u8; 2]; 9] =
    [[L0, L0], [L1, L1], [L0, L1], [L1, L0], [L0, BI], [L1, BI], [BI, L0], [BI, L1], [BI, BI]];

/// mb_type of B slices (table 7-14) with the partitions of those of P slices (table 7-13).
const KINDS_P: [u8; 5] = [1, 4, 5, 22, 22];

/// Size of the parts of an 8x8 block in 4x4 blocks, for sub_mb_type of P slices (table 7-17).
pub(super) const PARTS_P: [(usize, usize); 4] = [(2, 2), (2, 1), (1, 2), (1, 1)];

/// Lists and size of the parts for sub_mb_type of B slices (table 7-18). Without list: direct.
pub(super) const PARTS_B: [(u8, (usize, usize)); 13] = [
    (0, (1, 1)),
    (L0, (2, 2)),
    (L1, (2, 2)),
    (BI, (2, 2)),
    (L0, (2, 1)),
    (L0, (1, 2)),
    (L1, (2, 1)),
    (L1, (1, 2)),
    (BI, (2, 1)),
    (BI, (1, 2)),
    (L0, (1, 1)),
    (L1, (1, 1)),
    (BI, (1, 1)),
];

/// A partition of a macroblock: its position and size in 4x4 blocks, and its lists.
#[derive(Clone, Copy, Debug, Default)]
struct Partition {
    at: (usize, usize),
    size: (usize, usize),
    lists: u8,
}

impl Decoder<'_, '_> {
    /// Parses and reconstructs a macroblock that is not skipped.
    pub fn macroblock<E: Entropy>(&mut self, entropy: &mut E) -> Option<()> {
        let number = entropy.macroblock_type(self)?;
        match number.checked_sub(self.slice.kind.inter_types()) {
            Some(25) => return self.pcm(entropy),
            Some(number) => {
                self.current.kind = number;
                self.intra(entropy, number)?;
            }
            None => {
                self.current.kind = match self.slice.kind {
                    SliceKind::B => number,
                    _ => *KINDS_P.get(usize::from(number))?,
                };
                self.inter(entropy, number)?;
            }
        }
        self.residual(entropy)?;
        if !E::WRITES {
            self.reconstruct();
        }
        self.end();
        Some(())
    }

    /// A skipped macroblock: `P_Skip` or `B_Skip`.
    pub fn skip(&mut self) -> Option<()> {
        self.set_skipped();
        self.fill_cache(false);
        if self.slice.kind == SliceKind::B {
            self.direct(15);
        } else {
            let vector = self.skip_vector();
            self.cache.set(0, (0, 0), (4, 4), 0, vector);
            self.cache.set(1, (0, 0), (4, 4), -1, [0; 2]);
        }
        self.keep_motion();
        self.reconstruct();
        self.end();
        Some(())
    }

    /// Sets what a skipped macroblock has instead of syntax elements.
    pub fn set_skipped(&mut self) {
        self.current.skipped = true;
        self.quantiser_changed = false;
        self.set_qp(self.qp);
        self.current.kind = KINDS_P[0];
        if self.slice.kind == SliceKind::B {
            self.current.kind = 0;
            self.current.direct = 15;
            self.current.direct_16x16 = true;
        }
    }

    /// `I_PCM` (7.3.5): the samples themselves.
    fn pcm<E: Entropy>(&mut self, entropy: &mut E) -> Option<()> {
        let mut samples = [0; 384];
        let count = if self.parameters.monochrome { 256 } else { 384 };
        entropy.samples(&mut samples[..count])?;
        self.current.prediction = Prediction::Pcm;
        self.current.kind = 25;
        self.current.pattern = 0x2f;
        self.current.counts = [16; 24];
        self.current.dc = 7;
        self.current.coefficients = 0xffff;
        self.set_qp(0);
        self.quantiser_changed = false;
        self.put_samples(&samples);
        self.end();
        Some(())
    }

    /// The prediction of an intra macroblock (table 7-11).
    fn intra<E: Entropy>(&mut self, entropy: &mut E, number: u8) -> Option<()> {
        if number == 0 {
            self.current.prediction = Prediction::Intra4x4;
            if self.parameters.transform_8x8 && entropy.transform_flag(self) {
                self.current.transform_8x8 = true;
                self.current.prediction = Prediction::Intra8x8;
            }
            self.intra_modes(entropy);
        } else {
            self.current.prediction = Prediction::Intra16x16;
            let number = number - 1;
            self.intra_16x16_mode = number % 4;
            self.current.pattern = (number / 4 % 3) << 4 | if number >= 12 { 15 } else { 0 };
        }
        if !self.parameters.monochrome {
            self.current.chroma_mode = entropy.chroma_mode(self)?;
        }
        if number == 0 {
            self.current.pattern = entropy.pattern(self, true)?;
        }
        Some(())
    }

    /// Intra4x4PredMode or Intra8x8PredMode of the blocks (8.3.1.1, 8.3.2.1).
    fn intra_modes<E: Entropy>(&mut self, entropy: &mut E) {
        let size = if self.current.transform_8x8 { 2 } else { 1 };
        for index in (0..16).step_by(size * size) {
            let (x, y) = (index % 2 + index / 4 % 2 * 2, index / 2 % 2 + index / 8 * 2);
            let predicted = self.predicted_mode(x, y);
            let mode = entropy.intra_mode(4 * y + x, predicted);
            for row in self.current.modes.chunks_exact_mut(4).skip(y).take(size) {
                row[x..x + size].fill(mode);
            }
        }
    }

    /// The mode that block (`x`, `y`) most likely has: the smaller one of its neighbours.
    fn predicted_mode(&self, x: usize, y: usize) -> u8 {
        let mode = |near: usize, at: usize| {
            let near = &self.macroblocks[near];
            let hidden = !near.is_intra() && self.parameters.constrained_intra;
            (!hidden).then_some(near.modes[at])
        };
        let left = match x {
            0 => self.neighbours.left.and_then(|blocks| mode(blocks[y].0, 4 * blocks[y].1 + 3)),
            _ => Some(self.current.modes[4 * y + x - 1]),
        };
        let above = match y {
            0 => self.neighbours.above.and_then(|near| mode(near, 12 + x)),
            _ => Some(self.current.modes[4 * y + x - 4]),
        };
        left.zip(above).map_or(2, |(left, above)| left.min(above))
    }

    /// The prediction of an inter macroblock (tables 7-13, 7-14).
    fn inter<E: Entropy>(&mut self, entropy: &mut E, number: u8) -> Option<()> {
        self.fill_cache(E::ARITHMETIC);
        let is_b = self.slice.kind == SliceKind::B;
        let mut small = false;
        match (is_b, number) {
            (true, 0) => {
                self.current.direct = 15;
                self.current.direct_16x16 = true;
                entropy.direct(self, 15);
                small = !self.parameters.direct_8x8_inference;
            }
            (true, 22) | (false, 3 | 4) => {
                small = self.quarters(entropy, is_b, !is_b && number == 4)?;
            }
            _ => self.partitions(entropy, is_b, number)?,
        }
        self.keep_motion();
        let pattern = entropy.pattern(self, false)?;
        self.current.pattern = pattern;
        if pattern & 15 != 0 && self.parameters.transform_8x8 && !small {
            self.current.transform_8x8 = entropy.transform_flag(self);
        }
        Some(())
    }

    /// One or two partitions of 16x16, 16x8 or 8x16.
    fn partitions<E: Entropy>(&mut self, entropy: &mut E, is_b: bool, number: u8) -> Option<()> {
        let (wide, lists) = match (is_b, number) {
            (false, 0) => (None, [L0, 0]),
            (false, _) => (Some(number == 1), [L0, L0]),
            (true, 1..=3) => (None, [number, 0]),
            (true, _) => {
                let lists = *PARTITIONS_B.get(usize::from(number.checked_sub(4)? / 2))?;
                (Some(number.is_multiple_of(2)), lists)
            }
        };
        let partition = |at, size, lists| Partition { at, size, lists };
        let partitions = match wide {
            None => [partition((0, 0), (4, 4), lists[0]), Partition::default()],
            Some(true) => {
                [partition((0, 0), (4, 2), lists[0]), partition((0, 2), (4, 2), lists[1])]
            }
            Some(false) => {
                [partition((0, 0), (2, 4), lists[0]), partition((2, 0), (2, 4), lists[1])]
            }
        };
        let partitions = &partitions[..if wide.is_none() { 1 } else { 2 }];
        for list in 0..2 {
            for partition in partitions {
                let used = partition.lists >> list & 1 == 1;
                let index = if used { self.reference(entropy, list, partition.at)? } else { -1 };
                self.cache.set_references(list, partition.at, partition.size, index);
                self.keep_references(list);
            }
        }
        for list in 0..2 {
            for partition in partitions.iter().filter(|part| part.lists >> list & 1 == 1) {
                let Partition { at, size, .. } = *partition;
                let predicted = self.partition_vector(list, at, size);
                self.vector(entropy, Part { list, at, size, predicted })?;
            }
        }
        Some(())
    }

    /// Four 8x8 blocks with sub_mb_type. `zero`: all refer to the first picture of list 0. True if
    /// parts smaller than 8x8 rule out the 8x8 transform.
    fn quarters<E: Entropy>(&mut self, entropy: &mut E, is_b: bool, zero: bool) -> Option<bool> {
        let mut parts = [(L0, (2, 2)); 4];
        let mut small = false;
        for (block, part) in parts.iter_mut().enumerate() {
            let number = usize::from(entropy.sub_type(self, block)?);
            *part = if is_b { *PARTS_B.get(number)? } else { (L0, *PARTS_P.get(number)?) };
            self.current.parts[block] = match part.1 {
                (2, 2) => 0,
                (2, 1) => 1,
                (1, 2) => 2,
                _ => 3,
            };
            if part.0 == 0 {
                self.current.direct |= 1 << block;
                small |= !self.parameters.direct_8x8_inference;
            } else {
                small |= part.1 != (2, 2);
            }
        }
        if self.current.direct != 0 {
            entropy.direct(self, self.current.direct);
        }
        let at = |block: usize| (block % 2 * 2, block / 2 * 2);
        for list in 0..2 {
            for (block, part) in parts.iter().enumerate().filter(|(_, part)| part.0 != 0) {
                let index = match part.0 >> list & 1 == 1 {
                    true if zero => 0,
                    true => self.reference(entropy, list, at(block))?,
                    false => -1,
                };
                self.cache.set_references(list, at(block), (2, 2), index);
                self.keep_references(list);
            }
        }
        for list in 0..2 {
            for (block, &(_, (width, height))) in
                parts.iter().enumerate().filter(|(_, part)| part.0 >> list & 1 == 1)
            {
                let (x, y) = at(block);
                for part in 0..4 / (width * height) {
                    let position = match width {
                        1 => (x + part % 2, y + part / 2),
                        _ => (x, y + part),
                    };
                    let predicted = self.predict_vector(list, position, width);
                    let size = (width, height);
                    self.vector(entropy, Part { list, at: position, size, predicted })?;
                }
            }
        }
        Some(small)
    }

    /// Reads a reference index, if it is coded.
    fn reference<E: Entropy>(
        &mut self,
        entropy: &mut E,
        list: usize,
        (x, y): (usize, usize),
    ) -> Option<i8> {
        let count = self.slice.reference_counts[list].min(32) << u8::from(self.current.field);
        if count < 2 {
            return Some(0);
        }
        entropy.reference(self, list, x / 2 + y, count).filter(|&index| index < count as i8)
    }

    /// Reads a vector difference and sets the vector of a partition.
    fn vector<E: Entropy>(&mut self, entropy: &mut E, part: Part) -> Option<()> {
        let Part { list, at, size, predicted } = part;
        let sums = if E::ARITHMETIC { self.cache.difference_sums(list, at) } else { [0; 2] };
        let difference = entropy.difference(&part, sums)?;
        let vector = [0, 1].map(|axis| predicted[axis].wrapping_add(difference[axis]));
        self.cache.set_vector(list, at, size, vector);
        if E::ARITHMETIC {
            let absolute = difference.map(|value| value.unsigned_abs().min(255) as u8);
            self.cache.set_difference(list, at, size, absolute);
        }
        Some(())
    }
}
