//! Motion vectors of progressive pictures (8.3.5, 8.4.5).

use super::decoder::{Damaged, Decoded, Decoder};
use super::macroblock::{Macroblock, Mv};
use super::parameters::{Coding, Parameters, PictureType};
use super::tables;

/// A difference of a motion vector, in units of the picture's vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Difference {
    pub(super) x: i32,
    pub(super) y: i32,
}

/// MVDATA of a progressive picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct MvData {
    pub(super) difference: Difference,
    /// The block or macroblock is intra.
    pub(super) intra: bool,
    /// Coefficients follow.
    pub(super) coded: bool,
}

/// The range of vectors in quarter samples (8.3.5.2).
pub(super) fn vector_range(p: &Parameters) -> (i32, i32) {
    let (bits_x, bits_y) = vector_bits(p);
    let half = u32::from(p.half_vectors() && p.coding != Coding::Progressive);
    (1 << (bits_x - 1 + half), 1 << (bits_y - 1 + half))
}

/// Bits of escaped vectors in quarter samples (8.3.5.2).
pub(super) fn vector_bits(p: &Parameters) -> (u32, u32) {
    let range = u32::from(p.mv_range);
    (range + 9 + (range >> 1), range + 8)
}

/// The median of three values.
#[inline]
pub(super) fn median(a: i32, b: i32, c: i32) -> i32 {
    a.max(b).min(a.min(b).max(c))
}

/// The median of three vectors.
#[inline]
pub(super) fn median_mv(v: [Mv; 3]) -> Mv {
    let of =
        |get: fn(Mv) -> i16| median(get(v[0]).into(), get(v[1]).into(), get(v[2]).into()) as i16;
    Mv { x: of(|v| v.x), y: of(|v| v.y) }
}

/// The mean of the middle two of four values, rounded towards zero.
fn middle(mut values: [i32; 4]) -> i32 {
    values.sort_unstable();
    (values[1] + values[2]) / 2
}

/// One vector for up to four (8.3.5.4): the median of three, the mean of two or of the middle two
/// of four. `None` for fewer.
pub(super) fn combined(vectors: &[Mv]) -> Option<Mv> {
    match *vectors {
        [a, b, c, d] => Some(Mv {
            x: middle([a, b, c, d].map(|v| v.x.into())) as i16,
            y: middle([a, b, c, d].map(|v| v.y.into())) as i16,
        }),
        [a, b, c] => Some(median_mv([a, b, c])),
        [a, b] => Some(Mv {
            x: ((i32::from(a.x) + i32::from(b.x)) / 2) as i16,
            y: ((i32::from(a.y) + i32::from(b.y)) / 2) as i16,
        }),
        _ => None,
    }
}

impl Decoder<'_> {
    /// Reads MVDATA or BMV (8.3.5.2).
    pub(super) fn mv_data(&mut self) -> Decoded<MvData> {
        let half = self.p.half_vectors();
        let codes = self.codes;
        let table = usize::from(self.p.mv_table & 3);
        let symbol = codes.mvdata[table].read(&mut self.bits).ok_or(Damaged)? + 1;
        let coded = symbol > 36;
        let index = if coded { symbol - 37 } else { symbol };
        let mut data = MvData { difference: Difference::default(), intra: index == 36, coded };
        match index {
            0 | 36 => {}
            35 => {
                let (bits_x, bits_y) = vector_bits(self.p);
                let x = self.bits.read(bits_x - u32::from(half)) as i32;
                let y = self.bits.read(bits_y - u32::from(half)) as i32;
                data.difference = Difference { x, y };
            }
            _ => {
                let x = self.mv_component(index % 6, half);
                let y = self.mv_component(index / 6, half);
                data.difference = Difference { x, y };
            }
        }
        Ok(data)
    }

    /// Reads a component of a vector difference by its class.
    fn mv_component(&mut self, class: usize, half: bool) -> i32 {
        let offset = i32::from(tables::MVDATA_OFFSET[class]);
        let bits = u32::from(tables::MVDATA_BITS[class]) - u32::from(half && class == 5);
        if bits == 0 {
            return offset;
        }
        let value = self.bits.read(bits) as i32;
        let magnitude = offset + (value >> 1);
        if value & 1 != 0 { -magnitude } else { magnitude }
    }

    /// A vector within the range of the picture (4.11).
    pub(super) fn wrapped(&self, x: i32, y: i32) -> Mv {
        let wrap =
            |value: i32, range: i32| ((value.wrapping_add(range) & (2 * range - 1)) - range) as i16;
        Mv { x: wrap(x, self.range.0), y: wrap(y, self.range.1) }
    }

    /// A difference in quarter samples.
    pub(super) fn quarters(&self, difference: Difference) -> (i32, i32) {
        let scale = if self.p.half_vectors() { 2 } else { 1 };
        (difference.x * scale, difference.y * scale)
    }

    /// The vector of a block and a neighbouring macroblock.
    fn mv_at(&self, dx: isize, dy: isize, block: usize) -> Mv {
        self.neighbour(dx, dy).mv[0][block]
    }

    /// The vectors above, above on the right (or left), and on the left of a block, if they are in
    /// the slice (8.3.5.3). `whole`: one vector for the macroblock.
    fn candidates(&self, block: usize, whole: bool) -> [Option<Mv>; 3] {
        let width = self.p.width_in_mbs;
        let (first, last) = (self.x == 0, self.x == width - 1);
        let upper = !self.at_top();
        let left = (!first).then(|| self.mv_at(-1, 0, block | 1));
        match block {
            0 | 1 => {
                let above = upper.then(|| self.mv_at(0, -1, block + 2));
                let beside = match (whole, block) {
                    (true, _) if width == 1 => None,
                    (true, _) if last => Some((-1, 3)),
                    (true, _) => Some((1, 2)),
                    (false, 0) if first => Some((0, 3)),
                    (false, 0) => Some((-1, 3)),
                    (false, _) if last => Some((0, 2)),
                    (false, _) => Some((1, 2)),
                };
                let beside = beside.filter(|_| upper).map(|(dx, n)| self.mv_at(dx, -1, n));
                let left = if block == 1 { Some(self.mv_at(0, 0, 0)) } else { left };
                [above, beside, left]
            }
            2 => [Some(self.mv_at(0, 0, 0)), Some(self.mv_at(0, 0, 1)), left],
            _ => [Some(self.mv_at(0, 0, 1)), Some(self.mv_at(0, 0, 0)), Some(self.mv_at(0, 0, 2))],
        }
    }

    /// Predicts the forward vector of a block, or of the macroblock if `whole`, of a P picture, and
    /// adds the difference (8.3.5.3).
    pub(super) fn predicted_mv(&mut self, block: usize, whole: bool, difference: Difference) -> Mv {
        let [above, beside, left] = self.candidates(block, whole);
        let count = [above, beside, left].iter().flatten().count();
        let zero = Mv::default();
        let predicted = if count > 1 {
            median_mv([above, beside, left].map(Option::unwrap_or_default))
        } else {
            above.or(left).or(beside).unwrap_or(zero)
        };
        let least = if whole { -60 } else { -28 };
        let offset = |far: bool| if far { 32 } else { 0 };
        let at = (
            (self.x as i32 * 64) + offset(!whole && block % 2 == 1),
            (self.y as i32 * 64) + offset(!whole && block >= 2),
        );
        let (mut x, mut y) = self.pulled_back(predicted, at, least, 64);
        if let (Some(above), Some(left)) = (above, left) {
            (x, y) = self.hybrid((x, y), above, left);
        }
        let (dx, dy) = self.quarters(difference);
        self.wrapped(x + dx, y + dy)
    }

    /// Limits a predicted vector so that its block touches the picture (8.3.5.3.4). `at`: position
    /// of the block; `size`: of a macroblock, in the same unit.
    fn pulled_back(&self, mv: Mv, at: (i32, i32), least: i32, size: i32) -> (i32, i32) {
        let limit = |value: i32, at: i32, count: usize| {
            let most = (count as i32) * size - 4;
            value.max(least - at).min(most - at)
        };
        (
            limit(mv.x.into(), at.0, self.p.width_in_mbs),
            limit(mv.y.into(), at.1, self.p.height_in_mbs),
        )
    }

    /// Reads HYBRIDPRED and selects the vector above or on the left if the prediction is far from
    /// one of them (8.3.5.3.5).
    pub(super) fn hybrid(&mut self, (x, y): (i32, i32), above: Mv, left: Mv) -> (i32, i32) {
        let far = |mv: Mv| (x - i32::from(mv.x)).abs() + (y - i32::from(mv.y)).abs() > 32;
        if !far(above) && !far(left) {
            return (x, y);
        }
        let mv = if self.bits.flag() { above } else { left };
        (mv.x.into(), mv.y.into())
    }

    /// The forward and backward vector of a direct macroblock of a progressive B picture (8.4.5).
    pub(super) fn direct_mvs(&self) -> [Mv; 2] {
        let ([mv, _], _) = self.colocated();
        let at = (self.x as i32 * 64, self.y as i32 * 64);
        [false, true].map(|backward| {
            let mv = self.scaled_mv(mv, backward);
            let (x, y) = self.pulled_back(mv, at, -60, 64);
            Mv { x: x as i16, y: y as i16 }
        })
    }

    /// Scales a vector of the backward reference to the time of the B picture (8.4.5).
    pub(super) fn scaled_mv(&self, mv: Mv, backward: bool) -> Mv {
        let factor = i32::from(self.p.b_scale) - if backward { 256 } else { 0 };
        let half = self.p.half_vectors();
        let scale = |value: i16| {
            let product = i32::from(value) * factor;
            let scaled = if half { 2 * ((product + 255) >> 9) } else { (product + 128) >> 8 };
            scaled as i16
        };
        Mv { x: scale(mv.x), y: scale(mv.y) }
    }

    /// Predicts the vector of a macroblock of a progressive B picture and adds the difference
    /// (8.4.5.4). `direction`: 0 forward, 1 backward.
    pub(super) fn bidirectional_mv(&self, direction: usize, difference: Difference) -> Mv {
        let (first, last) = (self.x == 0, self.x == self.p.width_in_mbs - 1);
        let at = |dx: isize, dy: isize| self.neighbour(dx, dy).mv[direction][0];
        let predicted = match (self.at_top(), first) {
            (false, _) if self.p.width_in_mbs == 1 => at(0, -1),
            (false, _) => {
                let beside = at(if last { -1 } else { 1 }, -1);
                let left = if first { Mv::default() } else { at(-1, 0) };
                median_mv([at(0, -1), beside, left])
            }
            (true, false) => at(-1, 0),
            (true, true) => Mv::default(),
        };
        // Simple and main profile limit as if macroblocks had half their size.
        let size = if self.p.advanced { 64 } else { 32 };
        let position = (self.x as i32 * size, self.y as i32 * size);
        let (x, y) = self.pulled_back(predicted, position, 4 - size, size);
        let (dx, dy) = self.quarters(difference);
        self.wrapped(x + dx, y + dy)
    }

    /// What later B pictures need of a macroblock's motion: two vectors, and whether they refer to
    /// the field of opposite parity.
    pub(super) fn motion_of(&self, macroblock: &Macroblock) -> ([Mv; 2], bool) {
        let mvs = macroblock.mv[0];
        let opposite = macroblock.opposite[0].count_ones();
        if self.p.picture != PictureType::P {
            return Default::default();
        }
        match self.p.coding {
            Coding::InterlacedFrame => ([mvs[0], mvs[2]], false),
            _ => {
                let mv = self.macroblock_mv(macroblock, 0).unwrap_or_default();
                ([mv; 2], opposite > 2)
            }
        }
    }

    /// The vector that stands for all blocks of a macroblock, before it is made a chroma vector
    /// (8.3.5.4, 10.3.5.4). `None` if most blocks are intra.
    pub(super) fn macroblock_mv(&self, macroblock: &Macroblock, direction: usize) -> Option<Mv> {
        let opposite = macroblock.opposite[direction];
        let most = opposite.count_ones() > 2;
        let mvs = &macroblock.mv[direction];
        let mut chosen = [Mv::default(); 4];
        let mut count = 0;
        for (block, &mv) in mvs.iter().enumerate() {
            let intra = macroblock.intra & (1 << block) != 0;
            if !intra && (opposite & (1 << block) != 0) == most {
                chosen[count] = mv;
                count += 1;
            }
        }
        combined(&chosen[..count])
    }
}

#[cfg(test)]
mod tests {
    use super::{Mv, combined, median};

    #[test]
    fn medians_are_in_the_middle() {
        for (a, b, c) in [(1, 2, 3), (3, 1, 2), (2, 3, 1), (5, 5, 1), (-4, 0, 9)] {
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            assert_eq!(median(a, b, c), sorted[1]);
        }
        let mv = |x, y| Mv { x, y };
        let four = [mv(1, -1), mv(2, -2), mv(9, -5), mv(4, -9)];
        assert_eq!(combined(&four), Some(mv(3, -3)));
        assert_eq!(combined(&four[..2]), Some(mv(1, -1)));
        assert_eq!(combined(&four[..1]), None);
    }
}
