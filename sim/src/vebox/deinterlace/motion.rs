//! The measure of motion of deinterlacing (STMM): temporal differences divided by spatial
//! complexity (digests/video.md 12.9).

use super::settings::Settings;
use crate::vebox::history::History;
use genxml_codecs::Plane;

/// The measures of a frame: one for each pair of pixels and row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Motion {
    /// Pairs in a row.
    pub pairs: usize,
    /// The measure of each pair.
    measures: Vec<u8>,
    /// The spatial complexity of each pair.
    complexity: Vec<u16>,
}

impl Motion {
    /// The measures of a frame that follows `previous`; the greatest ones without it. `history` has
    /// the measures of the frame before, and gets these.
    pub fn new(
        settings: &Settings,
        current: &Plane,
        previous: Option<&Plane>,
        history: &mut History,
    ) -> Motion {
        let (width, height) = (current.width, current.height);
        let pairs = width.div_ceil(2);
        let mut motion = Motion {
            pairs,
            measures: vec![255; pairs * height],
            complexity: vec![0; pairs * height],
        };
        if let Some(previous) = previous {
            motion.measure(settings, current, previous);
        }
        for y in 0..height {
            for (pair, measure) in motion.measures[y * pairs..][..pairs].iter_mut().enumerate() {
                let entry = history.motion(2 * pair, y);
                if previous.is_some() {
                    *measure = settings.over_time(*measure, *entry);
                }
                *entry = *measure;
            }
        }
        motion
    }

    /// The measures without regard to the past.
    fn measure(&mut self, settings: &Settings, current: &Plane, previous: &Plane) {
        let (width, height) = (current.width, current.height);
        let mut horizontal = vec![0; width * height];
        let mut vertical = vec![0; width * height];
        let mut temporal = vec![0; width * height];
        for y in 0..height {
            let row = y * width..(y + 1) * width;
            let below = if y + 2 < height { y + 2 } else { y };
            differences(&current.data[row.clone()], &mut horizontal[row.clone()]);
            let lower = &current.data[below * width..][..width];
            for ((out, upper), lower) in
                vertical[row.clone()].iter_mut().zip(&current.data[row.clone()]).zip(lower)
            {
                *out = upper.abs_diff(*lower);
            }
            let above = y.checked_sub(2).unwrap_or(y);
            cross(current, previous, [above, y, below], &mut temporal[row]);
        }
        let lines = |y: usize, offsets: [isize; 5]| {
            offsets.map(|offset| y.saturating_add_signed(offset).min(height - 1) * width)
        };
        for y in 0..height {
            let around = lines(y, [-2, -1, 0, 1, 2]);
            let sum = |plane: &[u8], starts: &[usize], columns: std::ops::Range<usize>| {
                let row = |start: &usize| {
                    plane[start + columns.start..start + columns.end]
                        .iter()
                        .map(|value| u32::from(*value))
                        .sum::<u32>()
                };
                starts.iter().map(row).sum::<u32>()
            };
            for pair in 0..self.pairs {
                let (left, right) = ((2 * pair).saturating_sub(1), (2 * pair + 3).min(width));
                // Differences to the right neighbour: one fewer than columns.
                let between = left..(right - 1).max(left);
                let vertical = sum(&vertical, &around[..3], left..right);
                let near = sum(&horizontal, &around[1..4], between.clone());
                let all = sum(&horizontal, &around, between);
                let edges = (all * settings.edges) >> 5;
                let complexity = (vertical + near).saturating_sub(edges);
                let temporal = sum(&temporal, &around, left..right);
                let index = y * self.pairs + pair;
                self.complexity[index] = complexity.min(0xffff) as u16;
                self.measures[index] = settings.measure(temporal, complexity);
            }
        }
    }

    /// The measure that counts for a pair: the greatest of it and its neighbours.
    pub fn at(&self, pair: usize, y: usize) -> u8 {
        let row = &self.measures[y * self.pairs..][..self.pairs];
        let around = pair.saturating_sub(1)..(pair + 2).min(self.pairs);
        row[around].iter().copied().max().unwrap_or(255)
    }

    /// The spatial complexity at a pair.
    pub fn complexity(&self, pair: usize, y: usize) -> u32 {
        u32::from(self.complexity[y * self.pairs + pair])
    }
}

/// Differences of each sample from its right neighbour; 0 for the last one.
fn differences(row: &[u8], out: &mut [u8]) {
    for (out, pair) in out.iter_mut().zip(row.windows(2)) {
        *out = pair[0].abs_diff(pair[1]);
    }
}

/// Differences of two frames of the same size in a row, after a filter of the row and of the rows
/// above and below in the same field.
fn cross(current: &Plane, previous: &Plane, rows: [usize; 3], out: &mut [u8]) {
    let width = current.width;
    let [above, middle, below] = rows.map(|y| y * width);
    for (x, out) in out.iter_mut().enumerate() {
        let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
        let filtered = |data: &[u8]| {
            let value = |start: usize, x: usize| u32::from(data[start + x]);
            let sides = 2 * value(above, x) + 2 * value(below, x);
            let line = value(middle, left) + value(middle, right);
            ((2 * value(middle, x) + line + sides) >> 3) as u8
        };
        *out = filtered(&current.data).abs_diff(filtered(&previous.data));
    }
}
