//! Motion vectors of interlaced frames (10.7).

use super::decoder::Decoder;
use super::macroblock::{Macroblock, Mv};
use super::vectors::{Difference, median_mv};

/// The mean of two vectors.
fn mean(a: Mv, b: Mv) -> Mv {
    let of = |a: i16, b: i16| ((i32::from(a) + i32::from(b) + 1) >> 1) as i16;
    Mv { x: of(a.x, b.x), y: of(a.y, b.y) }
}

/// A field vector refers to the field of opposite parity.
fn is_opposite(mv: Mv) -> bool {
    mv.y & 4 != 0
}

/// The vector of `block` of a neighbour, for a macroblock of frame vectors that of the frame: the
/// mean of both fields.
fn of_frame(found: &Macroblock, direction: usize, block: usize) -> Mv {
    let mvs = &found.mv[direction];
    if found.field_vectors { mean(mvs[block], mvs[block ^ 2]) } else { mvs[block] }
}

impl Decoder<'_> {
    /// Predicts the vector of a block and adds the difference. The current macroblock's
    /// `field_vectors` is set before.
    pub(super) fn frame_mv(&self, block: usize, direction: usize, difference: Difference) -> Mv {
        let field = self.neighbour(0, 0).field_vectors;
        let candidates = self.frame_candidates(block, direction, field);
        let predicted =
            if field { field_prediction(candidates) } else { self.frame_prediction(candidates) };
        self.wrapped(i32::from(predicted.x) + difference.x, i32::from(predicted.y) + difference.y)
    }

    /// The vectors on the left, above, and above on the right (or left) of a block. Those outside
    /// the slice and intra ones are missing.
    fn frame_candidates(&self, block: usize, direction: usize, field: bool) -> [Option<Mv>; 3] {
        let get = |found: &Macroblock, block: usize| {
            if field { found.mv[direction][block] } else { of_frame(found, direction, block) }
        };
        let left = if block % 2 == 1 {
            Some(self.neighbour(0, 0).mv[direction][block - 1])
        } else if self.x > 0 {
            let found = self.neighbour(-1, 0);
            (found.intra == 0).then(|| get(found, block + 1))
        } else {
            None
        };
        if block >= 2 && !field {
            let mvs = &self.neighbour(0, 0).mv[direction];
            return [left, Some(mvs[1]), Some(mvs[0])];
        }
        if self.at_top() {
            return [left, None, None];
        }
        // A macroblock of field vectors gives those of the same field, one of frame vectors those
        // of its lower blocks.
        let lower = |found: &Macroblock, column: usize| {
            if field && found.field_vectors { (block & 2) | column } else { 2 | column }
        };
        let at = |dx: isize, column: usize| {
            let found = self.neighbour(dx, -1);
            (found.intra == 0).then(|| get(found, lower(found, column)))
        };
        let above = at(0, block & 1);
        let width = self.p.width_in_mbs;
        let beside = if width == 1 {
            None
        } else if self.x == width - 1 {
            at(-1, 1)
        } else {
            at(1, 0)
        };
        [left, above, beside]
    }

    /// The prediction of a frame vector.
    fn frame_prediction(&self, candidates: [Option<Mv>; 3]) -> Mv {
        let [left, above, beside] = candidates;
        if self.p.width_in_mbs == 1 {
            return above.unwrap_or_default();
        }
        if candidates.iter().flatten().count() >= 2 {
            median_mv(candidates.map(Option::unwrap_or_default))
        } else {
            left.or(above).or(beside).unwrap_or_default()
        }
    }
}

/// The prediction of a field vector: from the field that most candidates refer to.
fn field_prediction(candidates: [Option<Mv>; 3]) -> Mv {
    let found = || candidates.into_iter().flatten();
    let all = found().count();
    let opposite = found().filter(|mv| is_opposite(*mv)).count();
    if all == 3 && (opposite == 0 || opposite == 3) {
        return median_mv(candidates.map(Option::unwrap_or_default));
    }
    let mostly = all - opposite < opposite;
    found().find(|mv| is_opposite(*mv) == mostly).unwrap_or_default()
}
