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
