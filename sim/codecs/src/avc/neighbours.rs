//! Neighbouring macroblocks and blocks (6.4.9 to 6.4.12).

use super::Macroblock;

/// A 4x4 block: index of its macroblock, and its row in the macroblock.
pub(super) type Position = (usize, usize);

/// The macroblocks around a macroblock that are in the same slice and decoded. Indices are those of
/// the picture's macroblocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    /// The block at the left of each row of blocks. Its column is 3.
    pub left: Option<[Position; 4]>,
    /// The block above and to the left of each row of blocks. Its column is 3.
    pub corner: [Option<Position>; 4],
    /// The macroblock above. The row of its blocks is 3.
    pub above: Option<usize>,
    /// The macroblock above and to the right. The row of its blocks is 3.
    pub above_right: Option<usize>,
    /// Macroblocks of which the samples at the left of the upper and of the lower half are. Two
    /// each: for a frame macroblock beside a field pair they alternate.
    pub left_samples: [[usize; 2]; 2],
}

/// Looks up the macroblocks around (`x`, `y`) in slice `slice`.
pub(super) struct Search<'a> {
    /// Macroblocks of the picture.
    pub macroblocks: &'a [Macroblock],
    /// Macroblocks in a row.
    pub width: usize,
    /// The slice.
    pub slice: u16,
}

impl Search<'_> {
    /// Index of the macroblock `dx` columns and `dy` rows from (`x`, `y`), if it is decoded and in
    /// the slice.
    fn at(&self, (x, y): (usize, usize), dx: isize, dy: isize) -> Option<usize> {
        let x = x.checked_add_signed(dx).filter(|&x| x < self.width)?;
        let index = y.checked_add_signed(dy)? * self.width + x;
        let found = self.macroblocks.get(index)?;
        (found.decoded && found.slice == self.slice).then_some(index)
    }

    /// Neighbours in a picture without MBAFF (6.4.12.1).
    pub fn plain(&self, at: (usize, usize)) -> Neighbours {
        let left = self.at(at, -1, 0);
        let corner = self.at(at, -1, -1);
        let below = |row| left.map(|index| (index, row));
        Neighbours {
            left: left.map(|index| [0, 1, 2, 3].map(|row| (index, row))),
            corner: [corner.map(|index| (index, 3)), below(0), below(1), below(2)],
            above: self.at(at, 0, -1),
            above_right: self.at(at, 1, -1),
            left_samples: [[left.unwrap_or(0); 2]; 2],
        }
    }

    /// Neighbours in an MBAFF frame (6.4.12.2, table 6-4). `field`: the macroblock is a field
    /// macroblock.
    pub fn mbaff(&self, (x, y): (usize, usize), field: bool) -> Neighbours {
        let bottom = y % 2;
        let pair = (x, y - bottom);
        let [a, b, c, d] =
            [(-1, 0), (0, -2), (1, -2), (-1, -2)].map(|(dx, dy)| self.at(pair, dx, dy));
        let lower = |index: usize| index + self.width;
        let is_field = |index: usize| self.macroblocks[index].field;
        let is_top_field = field && bottom == 0;
        // A pair above: its last row of samples, or that of its top field.
        let last = |pair: usize| if is_top_field && is_field(pair) { pair } else { lower(pair) };
        let current_top = y.checked_sub(1).map(|y| y * self.width + x);
        let (above, above_right, corner) = if !field && bottom == 1 {
            let corner = a.map(|a| if is_field(a) { (lower(a), 1) } else { (a, 3) });
            (current_top, None, corner)
        } else {
            (b.map(last), c.map(last), d.map(|d| (last(d), 3)))
        };
        let row = |y: usize| a.map(|a| self.left_row(a, field, bottom, y));
        let left = row(0).zip(row(4)).zip(row(8)).zip(row(12));
        Neighbours {
            left: left.map(|(((r0, r1), r2), r3)| [r0, r1, r2, r3]),
            corner: [corner, row(3), row(7), row(11)],
            above,
            above_right,
            left_samples: a.map_or([[0; 2]; 2], |a| {
                [[0, 1], [8, 9]].map(|rows| rows.map(|y| self.left_row(a, field, bottom, y).0))
            }),
        }
    }

    /// The macroblock and row of blocks left of sample row `y` of the current macroblock. `pair` is
    /// the upper macroblock of the pair at the left.
    fn left_row(&self, pair: usize, field: bool, bottom: usize, y: usize) -> Position {
        let (lower, row) = match (field, self.macroblocks[pair].field) {
            (false, false) | (true, true) => (bottom, y),
            // Rows of the fields alternate.
            (false, true) => (y % 2, (y + 16 * bottom) / 2),
            (true, false) => (y / 8, (2 * y + bottom) % 16),
        };
        (pair + lower * self.width, row / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::{Macroblock, Search};

    /// Macroblocks in a row.
    const WIDTH: usize = 3;

    /// The macroblock and its row of samples that hold row `row` of the frame in column `x`.
    fn owner(macroblocks: &[Macroblock], x: usize, row: usize) -> (usize, usize) {
        let top = row / 32 * 2 * WIDTH + x;
        match macroblocks[top].field {
            true => (top + row % 2 * WIDTH, row % 32 / 2),
            false => (top + row % 32 / 16 * WIDTH, row % 16),
        }
    }

    /// Oracle: the sample next to the block in the frame, or in the field of the block's parity.
    #[test]
    fn neighbours_hold_the_samples_beside_a_block() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..500 {
            let mut macroblocks = vec![Macroblock::default(); 4 * WIDTH];
            for pair in 0..2 * WIDTH {
                let field = random.bool();
                for row in 0..2 {
                    let at = (pair / WIDTH * 2 + row) * WIDTH + pair % WIDTH;
                    macroblocks[at] = Macroblock { decoded: true, field, ..Default::default() };
                }
            }
            let search = Search { macroblocks: &macroblocks, width: WIDTH, slice: 0 };
            for y in 2..4 {
                let field = macroblocks[2 * WIDTH + 1].field;
                let found = search.mbaff((1, y), field);
                // The row of the frame that is `row` rows below the macroblock's first one.
                let frame_row = |row: isize| {
                    let (first, step) = if field { (32 + y % 2, 2) } else { (16 * y, 1) };
                    (first as isize + step * row) as usize
                };
                let block = |x: usize, row: isize| {
                    let (at, row) = owner(&macroblocks, x, frame_row(row));
                    (at, row / 4)
                };
                assert_eq!(found.left, Some([0, 4, 8, 12].map(|row| block(0, row))));
                assert_eq!(found.corner, [-1, 3, 7, 11].map(|row| Some(block(0, row))));
                assert_eq!(found.above, Some(block(1, -1).0));
                let hidden = y == 3 && !field;
                assert_eq!(found.above_right, (!hidden).then_some(block(2, -1).0));
                let mut halves = [0, 8].map(|first| {
                    let mut owners: Vec<usize> =
                        (first..first + 8).map(|row| block(0, row).0).collect();
                    owners.sort();
                    owners.dedup();
                    owners
                });
                for (half, found) in halves.iter_mut().zip(found.left_samples) {
                    let mut found = found.to_vec();
                    found.sort();
                    found.dedup();
                    assert_eq!(*half, found);
                }
            }
        }
    }

    /// Oracle: the grid of macroblocks.
    #[test]
    fn macroblocks_of_other_slices_are_not_neighbours() {
        let mut macroblocks = vec![Macroblock { decoded: true, ..Default::default() }; 9];
        macroblocks[1].slice = 1;
        macroblocks[3].decoded = false;
        let search = Search { macroblocks: &macroblocks, width: WIDTH, slice: 0 };
        let found = search.plain((1, 1));
        assert_eq!((found.left, found.above, found.above_right), (None, None, Some(2)));
        assert_eq!(found.corner, [Some((0, 3)), None, None, None]);
        let found = search.plain((2, 2));
        assert_eq!((found.left.map(|left| left[3]), found.above), (Some((7, 3)), Some(5)));
        assert_eq!((found.above_right, found.corner[2]), (None, Some((7, 1))));
    }
}
