//! What the macroblocks around the macroblock in decoding say about its syntax elements (6.4.11,
//! 9.2.1, 9.3.3.1.1).

use super::Macroblock;
use super::state::Decoder;

impl Decoder<'_, '_> {
    /// The upper macroblocks of the pairs to the left and above, if in the slice (6.4.10).
    fn pairs_around(&self) -> [Option<&Macroblock>; 2] {
        let width = self.parameters.width;
        let index = (self.y & !1) * width + self.x;
        let left = if self.x > 0 { index.checked_sub(1) } else { None };
        [left, index.checked_sub(2 * width)].map(|index| {
            self.macroblocks.get(index?).filter(|found| found.decoded && found.slice == self.index)
        })
    }

    /// `mb_field_decoding_flag` of a pair that does not have it (7.4.4).
    pub fn inferred_field(&self) -> bool {
        let [left, above] = self.pairs_around();
        left.or(above).is_some_and(|pair| pair.field)
    }

    /// Number of field pairs to the left and above.
    pub fn field_pairs_around(&self) -> usize {
        self.pairs_around().into_iter().flatten().filter(|pair| pair.field).count()
    }

    /// The macroblocks to the left and above (6.4.11.1).
    fn around(&self) -> [Option<&Macroblock>; 2] {
        let left = self.neighbours.left.map(|blocks| blocks[0].0);
        [left, self.neighbours.above].map(|index| Some(&self.macroblocks[index?]))
    }

    /// Number of the macroblocks to the left and above that `condition` is true for.
    pub fn count_around(&self, condition: impl Fn(&Macroblock) -> bool) -> usize {
        self.around().into_iter().flatten().filter(|near| condition(near)).count()
    }

    /// As `count_around`, but the macroblock above counts twice.
    pub fn count_around_weighted(&self, condition: impl Fn(&Macroblock) -> bool) -> usize {
        let [left, above] = self.around().map(|near| usize::from(near.is_some_and(&condition)));
        left + 2 * above
    }

    /// Number of coefficients of the blocks to the left of and above block `block` of
    /// [`Macroblock::counts`] (6.4.11.4, 6.4.11.5).
    #[inline]
    pub fn counts_around(&self, block: usize) -> (Option<u8>, Option<u8>) {
        let left = |row: usize| self.neighbours.left.map(|blocks| blocks[row]);
        let above = |at: usize| Some(self.macroblocks[self.neighbours.above?].counts[at]);
        let own = |at: usize| Some(self.current.counts[at]);
        if block < 16 {
            let (x, y) = (block % 4, block / 4);
            let left = match x {
                0 => left(y).map(|(near, row)| self.macroblocks[near].counts[4 * row + 3]),
                _ => own(block - 1),
            };
            (left, if y == 0 { above(12 + x) } else { own(block - 4) })
        } else {
            let (x, y) = (block % 2, block / 2 % 2);
            let first = block & !3;
            let left = match x {
                0 => left(2 * y)
                    .map(|(near, row)| self.macroblocks[near].counts[first + row / 2 * 2 + 1]),
                _ => own(block - 1),
            };
            (left, if y == 0 { above(first + 2 + x) } else { own(block - 2) })
        }
    }

    /// Whether the DC blocks of a component to the left and above have coefficients.
    pub fn dc_around(&self, component: usize) -> (Option<bool>, Option<bool>) {
        let [left, above] =
            self.around().map(|near| near.map(|near| near.dc >> component & 1 == 1));
        (left, above)
    }

    /// The increment of the context of a bin of coded_block_pattern (9.3.3.1.1.4). `pattern`: the
    /// bits of earlier blocks.
    pub fn patterns_around(&self, block: usize, pattern: u8) -> usize {
        let bit = |pattern: u8, block: usize| pattern >> block & 1;
        let left = match block % 2 {
            0 => self.neighbours.left.map_or(1, |blocks| {
                let (near, row) = blocks[block];
                bit(self.macroblocks[near].pattern, row / 2 * 2 + 1)
            }),
            _ => bit(pattern, block - 1),
        };
        let above = match block / 2 {
            0 => self
                .neighbours
                .above
                .map_or(1, |near| bit(self.macroblocks[near].pattern, block + 2)),
            _ => bit(pattern, block - 2),
        };
        usize::from(1 - left) + 2 * usize::from(1 - above)
    }

    /// The increment of the context of ref_idx for 8x8 block `block` (9.3.3.1.1.6).
    pub fn references_around(&self, list: usize, block: usize) -> usize {
        let large = |near: &Macroblock, block: usize| {
            // A frame macroblock counts in frames, so two field references are one.
            let unit = i8::from(near.field && !self.current.field);
            near.references[list][block] > unit && near.direct >> block & 1 == 0
        };
        let left = match block % 2 {
            0 => self.neighbours.left.is_some_and(|blocks| {
                let (near, row) = blocks[block];
                large(&self.macroblocks[near], row / 2 * 2 + 1)
            }),
            _ => large(&self.current, block - 1),
        };
        let above = match block / 2 {
            0 => {
                self.neighbours.above.is_some_and(|near| large(&self.macroblocks[near], block + 2))
            }
            _ => large(&self.current, block - 2),
        };
        usize::from(left) + 2 * usize::from(above)
    }
}
