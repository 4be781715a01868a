//! The loop filter (8.6). It does not cross the edges of a slice.

use super::compensation::clip;
use super::decoder::Decoder;
use super::parameters::{Coding, PictureType};
use super::tables::Transform;

/// Distances of samples: across an edge and along it.
#[derive(Clone, Copy)]
struct Steps {
    across: usize,
    along: usize,
}

/// Filters `count` samples (a multiple of 4) of an edge. `at`: the first sample after the edge.
fn filter_edge(data: &mut [u8], at: usize, steps: Steps, count: usize, quantizer: i32) {
    let reach = (count - 1) * steps.along + 3 * steps.across;
    if at < 4 * steps.across || at + reach >= data.len() {
        return;
    }
    for segment in 0..count / 4 {
        let at = at + segment * 4 * steps.along;
        // The third pair decides for its segment (8.6).
        if filter_pair(data, at + 2 * steps.along, steps.across, quantizer) {
            for pair in [0, 1, 3] {
                filter_pair(data, at + pair * steps.along, steps.across, quantizer);
            }
        }
    }
}

/// Filters a pair of samples on either side of an edge. True if its segment is filtered.
#[inline]
fn filter_pair(data: &mut [u8], at: usize, across: usize, quantizer: i32) -> bool {
    let first = at - 4 * across;
    let p: [i32; 8] = std::array::from_fn(|n| i32::from(data[first + n * across]));
    let activity = |n: usize| (2 * (p[n] - p[n + 3]) - 5 * (p[n + 1] - p[n + 2]) + 4) >> 3;
    let middle = activity(2);
    if middle.abs() >= quantizer {
        return false;
    }
    let (left, right) = (activity(0).abs(), activity(4).abs());
    let least = left.min(right);
    if least >= middle.abs() {
        return false;
    }
    let difference = p[3] - p[4];
    let limit = difference.abs() >> 1;
    if limit == 0 {
        return false;
    }
    let change = (5 * (middle.abs() - least)) >> 3;
    // The change goes against the sign of the middle activity; it must reduce the difference.
    let change = if (middle < 0) == (difference > 0) { change.min(limit) } else { 0 };
    let change = if difference > 0 { change } else { -change };
    data[at - across] = clip(p[3] - change);
    data[at] = clip(p[4] + change);
    true
}

/// Direction of an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Horizontal,
    Vertical,
}

/// A block: its macroblock's column and row, and its index.
type Position = (usize, usize, usize);

impl Decoder<'_> {
    /// Filters the rows of macroblocks up to `end_row`.
    pub(super) fn deblock(&mut self, end_row: usize) {
        if self.p.coding == Coding::InterlacedFrame {
            self.deblock_frame(end_row);
            return;
        }
        let inner = match self.p.picture {
            PictureType::P => true,
            PictureType::B => self.p.coding != Coding::Progressive,
            PictureType::I | PictureType::Bi => false,
        };
        for direction in [Direction::Horizontal, Direction::Vertical] {
            self.deblock_blocks(end_row, direction);
            if inner {
                self.deblock_transforms(end_row, direction);
            }
        }
    }

    /// Filters edges between blocks.
    fn deblock_blocks(&mut self, end_row: usize, direction: Direction) {
        for y in self.first_row..end_row {
            for x in 0..self.p.width_in_mbs {
                for block in 0..6 {
                    let Some(before) = self.before((x, y, block), direction) else {
                        continue;
                    };
                    let halves = if self.p.picture == PictureType::P {
                        self.filtered_halves(before, (x, y, block), direction)
                    } else {
                        [true; 2]
                    };
                    self.filter_halves((x, y, block), direction, 0, halves);
                }
            }
        }
    }

    /// The block before an edge, if it is in the slice.
    fn before(&self, (x, y, block): Position, direction: Direction) -> Option<Position> {
        match (direction, block) {
            (Direction::Vertical, 1 | 3) => Some((x, y, block - 1)),
            (Direction::Vertical, _) if x == 0 => None,
            (Direction::Vertical, 0 | 2) => Some((x - 1, y, block + 1)),
            (Direction::Vertical, _) => Some((x - 1, y, block)),
            (Direction::Horizontal, 2 | 3) => Some((x, y, block - 2)),
            (Direction::Horizontal, _) if y == self.first_row => None,
            (Direction::Horizontal, 0 | 1) => Some((x, y - 1, block + 2)),
            (Direction::Horizontal, _) => Some((x, y - 1, block)),
        }
    }

    /// Which halves of an edge of a P picture are filtered: both if a block is intra or the vectors
    /// differ, else those with a coded subblock (8.6).
    fn filtered_halves(&self, a: Position, b: Position, direction: Direction) -> [bool; 2] {
        let width = self.p.width_in_mbs;
        let (first, second) =
            (&self.macroblocks[a.1 * width + a.0], &self.macroblocks[b.1 * width + b.0]);
        let (a, b) = (a.2, b.2);
        let intra = (first.intra >> a | second.intra >> b) & 1 != 0;
        let moved = if a < 4 {
            let opposite = |found: u8, block: usize| found >> block & 1;
            first.mv[0][a] != second.mv[0][b]
                || opposite(first.opposite[0], a) != opposite(second.opposite[0], b)
        } else {
            first.chroma_mv != second.chroma_mv || first.chroma_opposite != second.chroma_opposite
        };
        if intra || moved {
            return [true; 2];
        }
        let (a, b) = (first.pattern[a], second.pattern[b]);
        match direction {
            Direction::Horizontal => [(a & 2) | (b & 8) != 0, (a & 1) | (b & 4) != 0],
            Direction::Vertical => [(a & 4) | (b & 8) != 0, (a & 1) | (b & 2) != 0],
        }
    }

    /// Filters edges of transforms inside of blocks (8.6).
    fn deblock_transforms(&mut self, end_row: usize, direction: Direction) {
        let width = self.p.width_in_mbs;
        for y in self.first_row..end_row {
            for x in 0..width {
                let macroblock = self.macroblocks[y * width + x];
                for block in 0..6 {
                    if !splits(macroblock.transform[block], direction) {
                        continue;
                    }
                    let pattern = macroblock.pattern[block];
                    let halves = match direction {
                        Direction::Horizontal => [pattern & 10 != 0, pattern & 5 != 0],
                        Direction::Vertical => [pattern & 12 != 0, pattern & 3 != 0],
                    };
                    self.filter_halves((x, y, block), direction, 4, halves);
                }
            }
        }
    }

    /// Filters an edge of a block, `offset` samples after its start.
    fn filter_halves(
        &mut self,
        (x, y, block): Position,
        direction: Direction,
        offset: usize,
        halves: [bool; 2],
    ) {
        let (plane, _, column, row) = self.block_position(x, y, block);
        for half in (0..2).filter(|half| halves[*half]) {
            let (column, row) = match direction {
                Direction::Horizontal => (column + half * 4, row + offset),
                Direction::Vertical => (column + offset, row + half * 4),
            };
            self.filter(plane, (column, row), direction, 4, 1);
        }
    }

    /// Filters `count` samples of an edge. `step`: rows of the picture from row to row.
    fn filter(
        &mut self,
        plane: usize,
        (column, row): (usize, usize),
        direction: Direction,
        count: usize,
        step: usize,
    ) {
        let quantizer = i32::from(self.p.quantizer);
        let view = self.target_view(plane);
        let (width, stride) = (view.width, view.stride);
        let end = column + if direction == Direction::Horizontal { count } else { 4 };
        if end > width {
            return;
        }
        let steps = match direction {
            Direction::Horizontal => Steps { across: stride * step, along: 1 },
            Direction::Vertical => Steps { across: 1, along: stride * step },
        };
        filter_edge(view.data, row * stride + column, steps, count, quantizer);
    }

    /// Filters an interlaced frame: edges of both fields, each in its own rows, first the
    /// horizontal ones from the top down, then the vertical ones from the left (8.6).
    fn deblock_frame(&mut self, end_row: usize) {
        for y in self.first_row..end_row {
            for x in 0..self.p.width_in_mbs {
                self.horizontal_edges_of_frame(x, y, y + 1 == end_row);
            }
        }
        for y in self.first_row..end_row {
            for x in 0..self.p.width_in_mbs {
                self.vertical_edges_of_frame(x, y);
            }
        }
    }

    /// Filters horizontal edges of a macroblock of an interlaced frame, its lower edge excluded.
    fn horizontal_edges_of_frame(&mut self, x: usize, y: usize, last: bool) {
        let macroblock = self.macroblocks[y * self.p.width_in_mbs + x];
        let first = y == self.first_row;
        let split = |block: usize| splits(macroblock.transform[block], Direction::Horizontal);
        let mut edge = |plane: usize, column: usize, row: usize| {
            let size = if plane == 0 { 16 } else { 8 };
            let at = (x * size + column, y * size + row);
            self.filter(plane, at, Direction::Horizontal, 8, 2);
        };
        for block in 0..2 {
            let column = block * 8;
            for field in 0..2 {
                if !first {
                    edge(0, column, field);
                }
                if macroblock.field_transform {
                    if split(block + 2 * field) {
                        edge(0, column, 8 + field);
                    }
                    continue;
                }
                if !first && split(block) {
                    edge(0, column, 4 + field);
                }
                edge(0, column, 8 + field);
                if !last && split(block + 2) {
                    edge(0, column, 12 + field);
                }
            }
        }
        for plane in 1..3 {
            for field in 0..2 {
                if !first {
                    edge(plane, 0, field);
                    if !last && split(plane + 3) {
                        edge(plane, 0, 4 + field);
                    }
                }
            }
        }
    }

    /// Filters vertical edges of a macroblock of an interlaced frame, its right edge excluded.
    fn vertical_edges_of_frame(&mut self, x: usize, y: usize) {
        let macroblock = self.macroblocks[y * self.p.width_in_mbs + x];
        let split = |block: usize| splits(macroblock.transform[block], Direction::Vertical);
        let mut edge = |plane: usize, column: usize, row: usize| {
            let size = if plane == 0 { 16 } else { 8 };
            let at = (x * size + column, y * size + row);
            self.filter(plane, at, Direction::Vertical, 4, 2);
        };
        for field in 0..2 {
            for half in 0..2 {
                let row = half * 8 + field;
                let lower = if macroblock.field_transform { field } else { half };
                for block in 0..2 {
                    let column = block * 8;
                    if x > 0 || block > 0 {
                        edge(0, column, row);
                    }
                    if split(block + 2 * lower) {
                        edge(0, column + 4, row);
                    }
                }
            }
            for plane in 1..3 {
                if x > 0 {
                    edge(plane, 0, field);
                }
                if split(plane + 3) {
                    edge(plane, 4, field);
                }
            }
        }
    }
}

/// A transform has an edge of this direction in the middle of its block.
fn splits(transform: Transform, direction: Direction) -> bool {
    match direction {
        Direction::Horizontal => matches!(transform, Transform::Halves | Transform::Quarters),
        Direction::Vertical => matches!(transform, Transform::Sides | Transform::Quarters),
    }
}

#[cfg(test)]
mod tests {
    use super::{Steps, filter_edge, filter_pair};

    /// Oracle: the definition of 8.6, written with signs as the standard has them.
    fn defined(p: [i32; 8], quantizer: i32) -> ([i32; 8], bool) {
        let mut out = p;
        let a0 = (2 * (p[2] - p[5]) - 5 * (p[3] - p[4]) + 4) >> 3;
        let a1 = ((2 * (p[0] - p[3]) - 5 * (p[1] - p[2]) + 4) >> 3).abs();
        let a2 = ((2 * (p[4] - p[7]) - 5 * (p[5] - p[6]) + 4) >> 3).abs();
        let a3 = a1.min(a2);
        if a0.abs() >= quantizer || a3 >= a0.abs() {
            return (out, false);
        }
        let clip = (p[3] - p[4]) / 2;
        if clip == 0 {
            return (out, false);
        }
        let signed = 5 * (a0.signum() * a3 - a0);
        let d = signed.signum() * (signed.abs() / 8);
        let d = if clip > 0 { d.clamp(0, clip) } else { d.clamp(clip, 0) };
        out[3] -= d;
        out[4] += d;
        (out, true)
    }

    #[test]
    fn pairs_are_filtered_as_defined() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut filtered = 0;
        for _ in 0..50_000 {
            let base = random.i32(0..236);
            let spread = random.i32(1..20);
            let p: [i32; 8] = std::array::from_fn(|_| base + random.i32(0..spread));
            let quantizer = random.i32(1..32);
            let mut data = p.map(|n| n as u8);
            let result = filter_pair(&mut data, 4, 1, quantizer);
            let (want, changed) = defined(p, quantizer);
            assert_eq!((data.map(i32::from), result), (want, changed), "{p:?} {quantizer}");
            filtered += u32::from(result);
        }
        assert!(filtered > 1000);
    }

    #[test]
    fn edges_outside_the_data_are_left() {
        let mut data = [0; 20];
        filter_edge(&mut data, 3, Steps { across: 1, along: 8 }, 4, 31);
        filter_edge(&mut data, 10, Steps { across: 1, along: 8 }, 4, 31);
    }
}
