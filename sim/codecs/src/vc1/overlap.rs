//! Overlap smoothing of intra blocks (8.5) and their storage.

use super::compensation::clip;
use super::decoder::Decoder;
use super::parameters::{Coding, Overlap};

impl Decoder<'_> {
    /// Smooths the edges between intra blocks of the rows `rows` of macroblocks: first the vertical
    /// edges, then the horizontal ones. Interlaced frames have only the former smoothed.
    pub(super) fn smooth(&mut self, end_row: usize) {
        let width = self.p.width_in_mbs;
        for y in self.first_row..end_row {
            for x in 0..width {
                for block in 0..6 {
                    let left = match block {
                        1 | 3 => Some((x, y, block - 1)),
                        _ if x == 0 => None,
                        0 | 2 => Some((x - 1, y, block + 1)),
                        _ => Some((x - 1, y, block)),
                    };
                    if left.is_some_and(|left| self.smoothed((x, y, block), left)) {
                        self.smooth_vertical_edge(x, y, block);
                    }
                }
            }
        }
        if self.p.coding == Coding::InterlacedFrame {
            return;
        }
        for y in self.first_row..end_row {
            for x in 0..width {
                for block in 0..6 {
                    let above = match block {
                        2 | 3 => Some((x, y, block - 2)),
                        _ if y == self.first_row => None,
                        0 | 1 => Some((x, y - 1, block + 2)),
                        _ => Some((x, y - 1, block)),
                    };
                    if above.is_some_and(|above| self.smoothed((x, y, block), above)) {
                        self.smooth_horizontal_edge(x, y, block);
                    }
                }
            }
        }
    }

    /// The edge between two blocks, each a macroblock and a block of it, is smoothed.
    fn smoothed(&self, a: (usize, usize, usize), b: (usize, usize, usize)) -> bool {
        let width = self.p.width_in_mbs;
        [a, b].into_iter().all(|(x, y, block)| {
            let macroblock = &self.macroblocks[y * width + x];
            let flagged = !self.p.intra()
                || !self.p.advanced
                || self.p.quantizer >= 9
                || self.p.conditional_overlap == Overlap::All
                || macroblock.overlap;
            macroblock.intra & (1 << block) != 0 && flagged
        })
    }

    /// Smooths the left edge of a block.
    fn smooth_vertical_edge(&mut self, x: usize, y: usize, block: usize) {
        let (plane, stride, column, row) = self.block_position(x, y, block);
        for row in row..row + 8 {
            let samples = &mut self.intra[plane][row * stride + column - 2..][..4];
            let values = smooth(std::array::from_fn(|n| samples[n]), row % 2 == 1);
            samples.copy_from_slice(&values);
        }
    }

    /// Smooths the upper edge of a block.
    fn smooth_horizontal_edge(&mut self, x: usize, y: usize, block: usize) {
        let (plane, stride, column, row) = self.block_position(x, y, block);
        let samples = &mut self.intra[plane];
        for column in column..column + 8 {
            let at = |n: usize| (row + n - 2) * stride + column;
            let values = smooth(std::array::from_fn(|n| samples[at(n)]), column % 2 == 1);
            for (n, value) in values.into_iter().enumerate() {
                samples[at(n)] = value;
            }
        }
    }

    /// Plane, samples of a row, first column and first row of a block.
    pub(super) fn block_position(
        &self,
        x: usize,
        y: usize,
        block: usize,
    ) -> (usize, usize, usize, usize) {
        let width = self.p.width_in_mbs;
        if block < 4 {
            (0, width * 16, x * 16 + block % 2 * 8, y * 16 + block / 2 * 8)
        } else {
            (block - 3, width * 8, x * 8, y * 8)
        }
    }

    /// Stores the samples of intra blocks of the rows up to `end_row` in the target. Samples are
    /// around 128, except those of I pictures of simple and main profile without smoothing: their
    /// DC levels hold that (8.1.3).
    pub(super) fn store_intra(&mut self, end_row: usize) {
        let plain = self.p.intra() && !self.p.advanced && !self.p.overlap;
        let offset = if plain { 0 } else { 128 };
        let width = self.p.width_in_mbs;
        for y in self.first_row..end_row {
            for x in 0..width {
                let intra = self.macroblocks[y * width + x].intra;
                for block in (0..6).filter(|block| intra & (1 << block) != 0) {
                    let (plane, stride, column, row) = self.block_position(x, y, block);
                    let mut samples = [0; 8];
                    for row in row..row + 8 {
                        let from = &self.intra[plane][row * stride + column..][..8];
                        for (out, &value) in samples.iter_mut().zip(from) {
                            *out = clip(i32::from(value) + offset);
                        }
                        self.store_row(plane, column, row, &samples);
                    }
                }
            }
        }
    }
}

/// Smooths two samples on either side of an edge. Rows and columns alternate the rounding.
#[inline]
fn smooth(samples: [i16; 4], odd: bool) -> [i16; 4] {
    let [a, b, c, d] = samples.map(i32::from);
    let (first, second) = if odd { (3, 4) } else { (4, 3) };
    let values = [
        (7 * a + d + first) >> 3,
        (-a + 7 * b + c + d + second) >> 3,
        (a + b + 7 * c - d + first) >> 3,
        (a + 7 * d + second) >> 3,
    ];
    values.map(|value| value.clamp(i16::MIN.into(), i16::MAX.into()) as i16)
}

#[cfg(test)]
mod tests {
    use super::smooth;

    /// Oracle: properties of the matrix of 8.5: a flat edge stays, and what the rounding of the two
    /// kinds of rows adds to the sum of a row is equal.
    #[test]
    fn flat_edges_stay_and_sums_are_kept() {
        for value in [-300, -1, 0, 7, 128] {
            assert_eq!(smooth([value; 4], false), [value; 4]);
            assert_eq!(smooth([value; 4], true), [value; 4]);
        }
        assert_eq!(smooth([0, 0, 80, 80], false), [10, 20, 60, 70]);
        assert_eq!(smooth([0, 0, 4, 4], false), [1, 1, 3, 3]);
        assert_eq!(smooth([0, 0, 4, 4], true), [0, 1, 3, 4]);
    }
}
