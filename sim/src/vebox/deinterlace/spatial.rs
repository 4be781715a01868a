//! Spatial deinterlacing: missing rows between the rows of one field, along edges.

use super::settings::Settings;
use genxml_codecs::Plane;

/// Horizontal offsets of the row above, by angle: vertical, then 45, 27, 18 and 11 degrees.
const OFFSETS: [i32; 5] = [0, 1, 2, 3, 5];

/// The rows of a field around a missing row: two above and two below. Rows outside the frame are
/// the nearest row of the field.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// From top to bottom.
    pub rows: [&'a [u8]; 4],
}

impl<'a> Around<'a> {
    /// The rows around row `y`, which the field lacks. `None` if the field has no rows.
    pub fn new(plane: &'a Plane, y: usize) -> Option<Around<'a>> {
        let first = (y + 1) % 2;
        if first >= plane.height {
            return None;
        }
        let last = plane.height - 1 - (plane.height - 1 - first) % 2;
        let row = |offset: isize| {
            let y = y.saturating_add_signed(offset);
            let y = if y < first || (y + first) % 2 == 1 { first } else { y.min(last) };
            plane.data.get(y * plane.width..(y + 1) * plane.width).unwrap_or_default()
        };
        Some(Around { rows: [row(-3), row(-1), row(1), row(3)] })
    }

    /// A sample of row `row`; the nearest one outside.
    #[inline]
    fn at(&self, row: usize, x: i32) -> u8 {
        let row = self.rows[row];
        row[x.clamp(0, row.len() as i32 - 1) as usize]
    }

    /// What an angle costs at the pair at column `x`: differences of 6x3 samples along it.
    fn cost(&self, x: i32, offset: i32) -> u32 {
        let mut sum = 0;
        for column in x - 2..x + 4 {
            for row in 0..3 {
                let (upper, lower) =
                    (self.at(row, column + offset), self.at(row + 1, column - offset));
                sum += u32::from(upper.abs_diff(lower));
            }
        }
        sum
    }

    /// The sum of differences of neighbours in a row near the pair.
    fn activity(&self, row: usize, x: i32) -> u32 {
        (x - 2..x + 3).map(|x| u32::from(self.at(row, x).abs_diff(self.at(row, x + 1)))).sum()
    }

    /// The offset of the angle at the pair at column `x` (assumption
    /// `VEBOX_ANGLES_MUST_WIN_CLEARLY`).
    fn angle(&self, settings: &Settings, x: i32) -> i32 {
        let vertical = self.cost(x, 0);
        let sides = [self.cost(x, 1), self.cost(x, -1)];
        let (sign, mut best) = if sides[0] < sides[1] { (1, sides[0]) } else { (-1, sides[1]) };
        if best + settings.angle_threshold >= vertical || sides[0] == sides[1] {
            return 0;
        }
        let mut offset = sign;
        for steeper in &OFFSETS[2..] {
            let cost = self.cost(x, sign * steeper);
            if cost + settings.angle_delta >= best {
                break;
            }
            (best, offset) = (cost, sign * steeper);
        }
        let activity = [self.activity(1, x), self.activity(2, x)];
        let flat = activity[0] < settings.flat && activity[1] < settings.flat;
        let unlike = activity[0].abs_diff(activity[1]) > settings.unlike;
        let pair: u32 = (x..x + 2)
            .map(|x| u32::from(self.at(1, x + offset).abs_diff(self.at(2, x - offset))))
            .sum();
        let robust = best < settings.angle_threshold && !flat && !unlike;
        if robust && pair <= settings.pair { offset } else { 0 }
    }

    /// The offsets of the angles of all pairs of the row: of each, the median of it and its
    /// neighbours.
    pub fn angles(&self, settings: &Settings, single: &mut Vec<i32>, angles: &mut Vec<i32>) {
        let pairs = self.rows[1].len().div_ceil(2);
        single.clear();
        single.extend((0..pairs).map(|pair| self.angle(settings, 2 * pair as i32)));
        angles.clear();
        angles.extend((0..pairs).map(|pair| {
            let (left, right) = (pair.saturating_sub(1), (pair + 1).min(pairs - 1));
            let mut three = [single[left], single[pair], single[right]];
            three.sort_unstable();
            three[1]
        }));
    }

    /// The missing sample at column `x`: the mean of two samples along an angle.
    #[inline]
    pub fn mean(&self, x: usize, offset: i32) -> u8 {
        let x = x as i32;
        let (upper, lower) = (self.at(1, x + offset), self.at(2, x - offset));
        (u16::from(upper) + u16::from(lower)).div_ceil(2) as u8
    }

    /// The missing sample of chroma at column `x`, where luma has an angle. 27 degrees and flatter
    /// are one column of chroma; 45 degrees are half of it.
    pub fn chroma(&self, x: usize, offset: i32) -> u8 {
        let (straight, slanted) = (self.mean(x, 0), self.mean(x, offset.signum()));
        match offset.abs() {
            0 => straight,
            1 => (u16::from(straight) + u16::from(slanted)).div_ceil(2) as u8,
            _ => slanted,
        }
    }
}
