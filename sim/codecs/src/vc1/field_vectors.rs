//! Motion vectors of fields (10.3.5.4, 10.4.5), and differences of interlaced pictures.

use super::decoder::{Damaged, Decoded, Decoder};
use super::macroblock::Mv;
use super::parameters::{PictureType, VectorMode};
use super::tables::{self, FieldScale};
use super::vectors::{Difference, median_mv, vector_bits};

/// MVDATA of an interlaced picture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldMvData {
    pub(super) difference: Difference,
    /// The vector refers to the field that fewer of its neighbours refer to.
    pub(super) other: bool,
}

/// A vector of a neighbour, and whether it refers to the field of opposite parity.
#[derive(Clone, Copy)]
struct Candidate {
    mv: Mv,
    opposite: bool,
}

impl Decoder<'_> {
    /// P and B fields that choose between two reference fields.
    fn two_references(&self) -> bool {
        self.p.coding.is_field() && (self.p.two_references || self.p.picture == PictureType::B)
    }

    /// Reads MVDATA of an interlaced picture (10.3.5.4).
    pub(super) fn interlaced_mv_data(&mut self) -> Decoded<FieldMvData> {
        let two = self.two_references();
        let codes = self.codes;
        let (vlc, escape) = if two {
            (&codes.mvdata_two[usize::from(self.p.mv_table)], 125)
        } else {
            (&codes.mvdata_one[usize::from(self.p.mv_table & 3)], 71)
        };
        let symbol = vlc.read(&mut self.bits).ok_or(Damaged)?;
        if symbol == escape {
            let (bits_x, bits_y) = vector_bits(self.p);
            let x = self.bits.read(bits_x) as i32;
            let y = self.bits.read(bits_y) as i32;
            return Ok(if two {
                let other = y & 1 != 0;
                FieldMvData { difference: Difference { x, y: (y + (y & 1)) >> 1 }, other }
            } else {
                FieldMvData { difference: Difference { x, y }, other: false }
            });
        }
        let x = self.interlaced_component((symbol + 1) % 9, self.p.dmv_range & 1 != 0);
        let class = (symbol + 1) / 9;
        let (class, other) = if two { (class >> 1, class & 1 != 0) } else { (class, false) };
        let y = self.interlaced_component(class, self.p.dmv_range & 2 != 0);
        Ok(FieldMvData { difference: Difference { x, y }, other })
    }

    /// Reads a component of a vector difference by its class.
    fn interlaced_component(&mut self, class: usize, extended: bool) -> i32 {
        if class == 0 {
            return 0;
        }
        let value = self.bits.read(class as u32 + u32::from(extended)) as i32;
        let offset = tables::MVDATA_INTERLACED_OFFSET[usize::from(extended)][class];
        let magnitude = (value >> 1) + i32::from(offset);
        if value & 1 != 0 { -magnitude } else { magnitude }
    }

    /// The neighbours of a block, or of the macroblock if `whole`: above, above on the right (or
    /// left), and on the left. Those outside the slice and intra ones are missing.
    fn field_candidates(
        &self,
        block: usize,
        whole: bool,
        direction: usize,
    ) -> [Option<Candidate>; 3] {
        let width = self.p.width_in_mbs;
        let (first, last) = (self.x == 0, self.x == width - 1);
        let mixed = self.p.vector_mode == VectorMode::Mixed;
        let above_row = |dx, block| Some((dx, -1, block)).filter(|_| !self.at_top());
        let left = Some((-1, 0, block | 1)).filter(|_| !first);
        let places = match block {
            0 | 1 => {
                let beside = match (whole, block) {
                    (true, _) if width == 1 => None,
                    (true, _) if last && mixed => above_row(-1, 2),
                    (true, _) if last => above_row(-1, 3),
                    (true, _) => above_row(1, 2),
                    (false, 0) if first && width == 1 => None,
                    (false, 0) if first => above_row(0, 3),
                    (false, 0) => above_row(-1, 3),
                    (false, _) if last => above_row(0, 2),
                    (false, _) => above_row(1, 2),
                };
                let left = if block == 1 { Some((0, 0, 0)) } else { left };
                [above_row(0, block + 2), beside, left]
            }
            2 => {
                let beside = Some((0, 0, 1)).filter(|_| width > 1 || left.is_some());
                [Some((0, 0, 0)), beside, left]
            }
            _ => [Some((0, 0, 1)), Some((0, 0, 0)), Some((0, 0, 2))],
        };
        places.map(|place| {
            let (dx, dy, block) = place?;
            let found = self.neighbour(dx, dy);
            let intra = found.intra & (1 << block) != 0;
            (!intra).then(|| Candidate {
                mv: found.mv[direction][block],
                opposite: found.opposite[direction] & (1 << block) != 0,
            })
        })
    }

    /// Predicts a vector of a field and adds the difference (10.3.5.4, 10.4.5). Sets it for the
    /// block, or for all blocks if `whole`.
    pub(super) fn field_mv(
        &mut self,
        block: usize,
        whole: bool,
        direction: usize,
        data: FieldMvData,
    ) {
        let candidates = self.field_candidates(block, whole, direction);
        let opposite = if self.two_references() {
            let found = candidates.iter().flatten();
            let (all, other) =
                found.fold((0, 0), |(all, n), found| (all + 1, n + usize::from(found.opposite)));
            let mostly = all - other <= other;
            mostly != data.other
        } else {
            self.p.bottom_reference != (self.p.field() == 1)
        };
        let mvs = candidates.map(|found| {
            found.map(|found| match (found.opposite, opposite) {
                (false, true) => self.to_opposite(found.mv, direction, opposite),
                (true, false) => self.to_same(found.mv, direction, opposite),
                _ => found.mv,
            })
        });
        let [above, beside, left] = mvs;
        let predicted = if mvs.iter().flatten().count() > 1 {
            median_mv(mvs.map(Option::unwrap_or_default))
        } else {
            above.or(left).or(beside).unwrap_or_default()
        };
        let (mut x, mut y) = (i32::from(predicted.x), i32::from(predicted.y));
        if let (Some(above), Some(left), PictureType::P) = (above, left, self.p.picture) {
            (x, y) = self.hybrid((x, y), above, left);
        }
        let (dx, dy) = self.quarters(data.difference);
        let mv = self.field_wrapped(x + dx, y + dy, opposite);
        let current = self.current();
        if whole {
            current.mv[direction] = [mv; 4];
            current.opposite[direction] = if opposite { 15 } else { 0 };
        } else {
            current.mv[direction][block] = mv;
            current.opposite[direction] &= !(1 << block);
            current.opposite[direction] |= u8::from(opposite) << block;
        }
    }

    /// The offset of vertical vectors from a bottom field to a top field.
    fn bias(&self, opposite: bool) -> i32 {
        i32::from(opposite && self.p.field() == 1)
    }

    /// A vector within the range of the field (4.11).
    fn field_wrapped(&self, x: i32, y: i32, opposite: bool) -> Mv {
        let range_y = self.range.1 >> u32::from(self.two_references());
        let bias = self.bias(opposite);
        let wrap =
            |value: i32, range: i32| ((value.wrapping_add(range) & (2 * range - 1)) - range) as i16;
        Mv { x: wrap(x, self.range.0), y: wrap(y - bias, range_y) + bias as i16 }
    }

    /// The scales for a direction of prediction, unless it is backward from a first field.
    fn field_scale(&self, direction: usize) -> &'static FieldScale {
        let backward = self.p.picture == PictureType::B && direction == 1;
        let distance = if backward { self.p.backward_distance } else { self.p.forward_distance };
        let second = self.p.second_field != (direction == 1);
        &tables::FIELD_SCALE[usize::from(second)][usize::from(distance.min(3))]
    }

    /// Backward vectors of the first B field, whose near field is the one of the same parity.
    fn backward_scale(&self, direction: usize) -> Option<&'static FieldScale> {
        let applies = self.p.picture == PictureType::B && !self.p.second_field && direction == 1;
        let distance = usize::from(self.p.backward_distance.min(3));
        applies.then(|| &tables::BACKWARD_SCALE[distance])
    }

    /// Scales a vector to the field of the same parity for one to that of opposite parity.
    fn to_opposite(&self, mv: Mv, direction: usize, opposite: bool) -> Mv {
        match self.backward_scale(direction) {
            Some(scale) => self.scaled_by_zones(mv, scale, opposite),
            None => self.scaled_plainly(mv, self.field_scale(direction)),
        }
    }

    /// Scales a vector to the field of opposite parity for one to that of the same parity.
    fn to_same(&self, mv: Mv, direction: usize, opposite: bool) -> Mv {
        match self.backward_scale(direction) {
            Some(scale) => self.scaled_plainly(mv, scale),
            None => self.scaled_by_zones(mv, self.field_scale(direction), opposite),
        }
    }

    /// Scales by one factor.
    fn scaled_plainly(&self, mv: Mv, scale: &FieldScale) -> Mv {
        let half = u32::from(self.p.half_vectors());
        let scaled =
            |value: i16| ((((i32::from(value) >> half) * scale.plain) >> 8) << half) as i16;
        Mv { x: scaled(mv.x), y: scaled(mv.y) }
    }

    /// Scales by a factor that depends on the length, and limits the result.
    fn scaled_by_zones(&self, mv: Mv, scale: &FieldScale, opposite: bool) -> Mv {
        let half = u32::from(self.p.half_vectors());
        let scaled = |value: i16, axis: usize, far: i32| {
            let value = i32::from(value) >> half;
            if value.abs() > far {
                value
            } else if value.abs() < scale.width[axis] {
                (value * scale.zone1) >> 8
            } else {
                let offset = scale.offset[axis];
                ((value * scale.zone2) >> 8) + if value < 0 { -offset } else { offset }
            }
        };
        let (range_x, range_y) = (self.range.0, self.range.1 / 2);
        let bias = self.bias(opposite);
        let x = scaled(mv.x, 0, 255).clamp(-range_x, range_x - 1);
        let y = scaled(mv.y, 1, 63).clamp(-range_y + bias, range_y - 1 + bias);
        Mv { x: (x << half) as i16, y: (y << half) as i16 }
    }
}
