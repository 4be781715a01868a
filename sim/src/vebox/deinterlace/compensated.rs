//! Motion compensated deinterlacing (MCDI): a missing row is the mean of the rows of the fields of
//! its parity before and after it, which are read along the motion vector.

use super::settings::Settings;
use genxml_codecs::Plane;

/// The vectors that are tried: columns and rows. A block moves from the earlier field to the later
/// one by twice the vector.
const VECTORS: [(i32, i32); 16] = [
    (-1, -2),
    (0, -2),
    (1, -2),
    (-6, 0),
    (-5, 0),
    (-4, 0),
    (-3, 0),
    (-2, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (-1, 2),
    (0, 2),
    (1, 2),
];

/// Samples that are compared.
const SAMPLES: u32 = 30;

/// The frames that have the fields before and after the missing row.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// The earlier frame.
    pub before: &'a Plane,
    /// The later frame.
    pub after: &'a Plane,
}

/// The best vector of a pair, with its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Columns and rows.
    pub vector: (i32, i32),
    /// Sum of absolute differences.
    pub cost: u32,
}

impl Fields<'_> {
    /// Samples of the two fields along a vector.
    #[inline]
    fn samples(&self, x: i32, y: i32, (dx, dy): (i32, i32)) -> [u8; 2] {
        [at(self.before, x - dx, y - dy), at(self.after, x + dx, y + dy)]
    }

    /// The best vector of the pair at column `x` of row `y`: of equal ones, the last.
    pub fn search(&self, x: usize, y: usize) -> Match {
        let (x, y) = (x as i32, y as i32);
        let mut best = Match { vector: VECTORS[0], cost: u32::MAX };
        for vector in VECTORS {
            let mut cost = 0;
            for row in [-4, -2, 0, 2, 4] {
                for column in x - 2..x + 4 {
                    let [before, after] = self.samples(column, y + row, vector);
                    cost += u32::from(before.abs_diff(after));
                }
                if cost > best.cost {
                    break;
                }
            }
            if cost <= best.cost {
                best = Match { vector, cost };
            }
        }
        best
    }

    /// The result for a sample of a pair, if the checks accept it (assumption
    /// `VEBOX_MOTION_COMPENSATION_CHECKS`). `matches` are the best vectors of the left neighbour,
    /// the pair and the right neighbour, `vertical` are the samples above and below.
    pub fn result(
        &self,
        settings: &Settings,
        (x, y): (usize, usize),
        matches: [Match; 3],
        complexity: u32,
        vertical: [u8; 2],
    ) -> Option<u8> {
        let [left, own, right] = matches;
        let [before, after] = self.samples(x as i32, y as i32, own.vector);
        if before.abs_diff(after) > settings.consistency {
            return None;
        }
        let result = (u16::from(before) + u16::from(after)).div_ceil(2) as u8;
        if own.cost <= settings.tight * SAMPLES {
            return Some(result);
        }
        let least = settings.adaptive[0] + settings.adaptive_more;
        let limit = (complexity / settings.adaptive_slope)
            .clamp(least, settings.adaptive[1].max(least))
            * SAMPLES;
        let smooth = [left, right].iter().all(|other| {
            let across = other.vector.0.abs_diff(own.vector.0);
            across.max(other.vector.1.abs_diff(own.vector.1)) <= settings.smooth
        });
        let [least, most] =
            [vertical[0].min(vertical[1]), vertical[0].max(vertical[1])].map(i32::from);
        let neighbor = i32::from(settings.neighbor);
        let near = (least - neighbor..=most + neighbor).contains(&i32::from(result));
        (own.cost < limit && smooth && near).then_some(result)
    }
}

/// A sample, the nearest one of the same field outside the frame.
#[inline]
fn at(plane: &Plane, x: i32, y: i32) -> u8 {
    let x = x.clamp(0, plane.width as i32 - 1) as usize;
    let parity = y.rem_euclid(2);
    let last = plane.height as i32 - 1;
    let last = last - (last - parity).rem_euclid(2);
    let y = y.clamp(parity, last.max(0)).max(0) as usize;
    plane.data.get(y * plane.width + x).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Fields;
    use genxml_codecs::Plane;

    /// A pattern that moves is followed.
    #[test]
    fn moving_patterns_are_found() {
        let pattern = |shift: i32| {
            let mut plane = Plane::new(64, 32, 0);
            for (index, sample) in plane.data.iter_mut().enumerate() {
                let (x, y) = (index as i32 % 64, index as i32 / 64);
                let mixed = ((x - shift) as u32 / 2).wrapping_mul(2_654_435_761);
                *sample = (mixed >> 24) as u8 ^ (y / 6 * 16) as u8;
            }
            plane
        };
        for step in [-6, -4, -2, 3, 5] {
            let (before, after) = (pattern(20 - step), pattern(20 + step));
            let found = Fields { before: &before, after: &after }.search(30, 15);
            assert_eq!((found.vector, found.cost), ((step, 0), 0));
        }
    }
}
