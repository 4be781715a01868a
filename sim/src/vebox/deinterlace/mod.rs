//! Deinterlacing: the missing rows of a field, from the fields around it (digests/video.md 12.9).
//!
//! * [`settings`]: thresholds and weights;
//! * [`motion`]: how much moves at a pair of pixels;
//! * [`spatial`]: rows of the same field;
//! * [`compensated`]: the fields before and after, along a vector.
//!
//! Where nothing moves, a missing row is the mean of the fields before and after. Where all moves,
//! it comes from the field itself or along a vector. Between, both are blended.

pub mod compensated;
pub mod motion;
pub mod settings;
pub mod spatial;
#[cfg(test)]
mod tests;

use super::history::History;
use compensated::{Fields, Match};
use genxml_codecs::{Frame, Plane, Structure};
use motion::Motion;
pub use settings::{Settings, Source};
use spatial::Around;

/// The results: frames, where they are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// The second field of the previous frame.
    pub previous: Option<Frame>,
    /// The first field of the current frame.
    pub current: Option<Frame>,
}

/// Deinterlaces. `previous` is `None` for a first frame, which gives no frame for the previous one.
/// `history` has the measures of motion of the frame before, and gets those of this one. `wanted`
/// says which of the previous and of the current frame is wanted.
pub fn frames(
    settings: &Settings,
    current: &Frame,
    previous: Option<&Frame>,
    history: &mut History,
    wanted: [bool; 2],
) -> Frames {
    let luma = previous.map(|frame| &frame.planes[0]);
    let motion = Motion::new(settings, &current.planes[0], luma, history);
    let first = if settings.top_first { Structure::Top } else { Structure::Bottom };
    let around = previous.map(|previous| [previous, current]);
    let previous = previous.filter(|_| wanted[0]).map(|frame| {
        Field { settings, frame, kept: first.opposite(), around, motion: &motion }
            .frame(settings.second)
    });
    let current = wanted[1].then(|| {
        Field { settings, frame: current, kept: first, around, motion: &motion }
            .frame(settings.first)
    });
    Frames { previous, current }
}

/// A field that becomes a frame.
struct Field<'a> {
    settings: &'a Settings,
    /// The frame that has the field.
    frame: &'a Frame,
    /// The field.
    kept: Structure,
    /// The frames that have the fields before and after; `None` for a first frame.
    around: Option<[&'a Frame; 2]>,
    motion: &'a Motion,
}

impl Field<'_> {
    /// The frame.
    fn frame(&self, source: Source) -> Frame {
        let mut result = self.frame.clone();
        let height = result.planes[0].height;
        let first = usize::from(self.kept == Structure::Top);
        let other = match (source, self.around) {
            (Source::Before, Some([before, _])) => Some(before),
            (Source::After, Some([_, after])) => Some(after),
            _ => None,
        };
        if let Some(other) = other {
            for (plane, other) in result.planes.iter_mut().zip(&other.planes) {
                for y in (first..plane.height).step_by(2) {
                    let row = y * plane.width..(y + 1) * plane.width;
                    plane.data[row.clone()].copy_from_slice(&other.data[row]);
                }
            }
            return result;
        }
        let mut rows = Rows::default();
        let down = height.div_ceil(result.planes[1].height.max(1)).max(1);
        for y in (first..height).step_by(2) {
            self.luma(y, &mut result.planes[0], &mut rows);
            // Fields of chroma have a row for one or two rows of fields of luma.
            let row = y / 2 / down * 2 + first;
            if (y / 2).is_multiple_of(down) && row < result.planes[1].height {
                for plane in 1..3 {
                    self.chroma(plane, row, y, &mut result.planes[plane], &rows);
                }
            }
        }
        result
    }

    /// Fills a missing row of luma.
    fn luma(&self, y: usize, out: &mut Plane, rows: &mut Rows) {
        let (settings, plane) = (self.settings, &self.frame.planes[0]);
        let Some(around) = Around::new(plane, y) else { return };
        let Rows { single, angles, matches } = rows;
        around.angles(settings, single, angles);
        let fields = self
            .around
            .map(|[before, after]| Fields { before: &before.planes[0], after: &after.planes[0] });
        let compensated = fields.filter(|_| settings.compensated);
        if let Some(fields) = compensated {
            matches.clear();
            matches.extend((0..angles.len()).map(|pair| {
                // Without motion, the result does not depend on it.
                match self.motion.at(pair, y) > settings.range[0] {
                    true => fields.search(2 * pair, y),
                    false => Match::default(),
                }
            }));
        }
        let row = &mut out.data[y * plane.width..(y + 1) * plane.width];
        for (x, out) in row.iter_mut().enumerate() {
            let pair = x / 2;
            let mut space = around.mean(x, angles[pair]);
            let Some(fields) = fields else {
                *out = space;
                continue;
            };
            let measure = self.motion.at(pair, y);
            if compensated.is_some() && measure > settings.range[0] {
                let (left, right) = (pair.saturating_sub(1), (pair + 1).min(matches.len() - 1));
                let vertical = [around.rows[1][x], around.rows[2][x]];
                let complexity = self.motion.complexity(pair, y);
                let found = [matches[left], matches[pair], matches[right]];
                space =
                    fields.result(settings, (x, y), found, complexity, vertical).unwrap_or(space);
            }
            let index = y * plane.width + x;
            let sum = u16::from(fields.before.data[index]) + u16::from(fields.after.data[index]);
            *out = settings.blend(measure, space, sum.div_ceil(2) as u8);
        }
    }

    /// Fills a missing row of chroma, whose luma is in row `luma`.
    fn chroma(&self, number: usize, y: usize, luma: usize, out: &mut Plane, rows: &Rows) {
        let plane = &self.frame.planes[number];
        let Some(around) = Around::new(plane, y) else { return };
        let row = &mut out.data[y * plane.width..(y + 1) * plane.width];
        for (x, out) in row.iter_mut().enumerate() {
            let pair = x.min(rows.angles.len() - 1);
            let space = around.chroma(x, rows.angles[pair]);
            let Some(fields) = self.around else {
                *out = space;
                continue;
            };
            let index = y * plane.width + x;
            let [before, after] = fields.map(|frame| u16::from(frame.planes[number].data[index]));
            let measure = self.motion.at(pair, luma);
            *out = self.settings.blend(measure, space, (before + after).div_ceil(2) as u8);
        }
    }
}

/// Buffers of a row.
#[derive(Debug, Default)]
struct Rows {
    single: Vec<i32>,
    /// Offsets of the angles of pairs.
    angles: Vec<i32>,
    /// Best vectors of pairs.
    matches: Vec<Match>,
}
