//! Deinterlacing: the missing rows of a field, from the fields around it (digests/video.md 12.9).
//!
//! * [`motion`]: how much moves at a pair of pixels;
//! * [`spatial`]: rows of the same field;
//! * [`compensated`]: the fields before and after, along a vector.
//!
//! Where nothing moves, a missing row is the mean of the fields before and after. Where all moves,
//! it comes from the field itself or along a vector. Between, both are blended.

pub mod compensated;
pub mod motion;
pub mod spatial;
#[cfg(test)]
mod tests;

use super::history::History;
use compensated::{Fields, Match};
use genxml::gen8::vebox_states::{
    VeboxDndiState, VeboxDndiStateDnDiTopFirst as TopFirst,
    VeboxDndiStateStmmBlendingConstantSelect as Select,
};
use genxml_codecs::{Frame, Plane, Structure};
use motion::Motion;
use spatial::Around;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The top field is the first one of a frame.
    pub top_first: bool,
    /// How the first field of the current frame becomes a frame.
    pub first: Source,
    /// How the second field of the previous frame becomes a frame.
    pub second: Source,
    /// Weight of edges in the complexity, of 32.
    pub edges: u32,
    /// Shifts of the temporal difference: down, then up.
    pub shifts: [u32; 2],
    /// Added to the complexity.
    pub bias: u32,
    /// Weights of the past, of 256, for great and small measures.
    pub past: [u32; 2],
    /// Above this, a measure is great.
    pub great: u8,
    /// Up to the first measure, only time counts; from the second on, only space.
    pub range: [u8; 2],
    /// log2 of the distance of the two.
    pub range_shift: u32,
    /// Thresholds of spatial angles.
    pub angle_threshold: u32,
    /// What a steeper angle must gain.
    pub angle_delta: u32,
    /// Activity of flat rows.
    pub flat: u32,
    /// Difference of the activity of rows that belong to different things.
    pub unlike: u32,
    /// Difference of two samples along an angle.
    pub pair: u32,
    /// Motion compensation is enabled.
    pub compensated: bool,
    /// Difference of consistent samples.
    pub consistency: u8,
    /// Difference for each sample of a good match.
    pub tight: u32,
    /// Least and greatest threshold of a match that needs other tests.
    pub adaptive: [u32; 2],
    /// Added to the least one.
    pub adaptive_more: u32,
    /// Complexity for each step of that threshold.
    pub adaptive_slope: u32,
    /// Greatest difference of neighbouring vectors.
    pub smooth: u32,
    /// Distance from the samples above and below.
    pub neighbor: u8,
}

/// How a field becomes a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Missing rows are interpolated.
    Interpolated,
    /// They are those of the field before.
    Before,
    /// They are those of the field after.
    After,
}

impl Source {
    /// The value of a state's field; `None` if there is no such value.
    pub fn from_bits(bits: u64) -> Option<Source> {
        [Source::Interpolated, Source::Before, Source::After].get(bits as usize).copied()
    }
}

impl Settings {
    /// The settings of a state.
    pub fn new(s: &VeboxDndiState, first: Source, second: Source) -> Settings {
        let great = s.blending_constant_across_time_for_large_values_of_stmm.get() as u32;
        let small = s.blending_constant_across_time_for_small_values_of_stmm.get() as u32;
        let by_great = s.stmm_blending_constant_select
            == Select::USE_THE_BLENDING_CONSTANT_FOR_LARGE_VALUES_OF_STMM_FOR_STMM_MD_TH;
        Settings {
            top_first: s.dn_di_top_first == TopFirst::TOP_FIELD_OCCURS_FIRST_IN_SEQUENCE,
            first,
            second,
            edges: s.multiplier_for_vecm.get() as u32,
            shifts: [s.stmm_shift_down.bits() as u32 + 4, s.stmm_shift_up.bits() as u32 + 6],
            bias: s.stmm_c2.get() as u32,
            past: [great, small],
            great: if by_great { great } else { small } as u8,
            range: [s.minimum_stmm.get() as u8, s.maximum_stmm.get() as u8],
            range_shift: s.stmm_output_shift.get() as u32,
            angle_threshold: s.sdi_threshold.get() as u32,
            angle_delta: s.sdi_delta.get() as u32,
            flat: s.sdi_fallback_mode_1_t1_constant.get() as u32,
            unlike: s.sdi_fallback_mode_1_t2_constant.get() as u32,
            pair: s.sdi_fallback_mode_2_constant_angle2x1.get() as u32,
            compensated: s.mcdi_enable,
            consistency: s.mc_pixel_consistency_threshold.get() as u8,
            tight: s.sad_tight_threshold.get() as u32,
            adaptive: [s.sad_tha.get() as u32, s.sad_thb.get() as u32],
            adaptive_more: s.cat_threshold.get() as u32,
            adaptive_slope: s.content_adaptive_threshold_slope.get() as u32,
            smooth: s.smooth_mv_threshold.get() as u32,
            neighbor: s.neighbor_pixel_threshold.get() as u8,
        }
    }

    /// The measure of motion of a temporal difference.
    fn measure(&self, temporal: u32, complexity: u32) -> u8 {
        let shifted = (temporal >> self.shifts[0]) << self.shifts[1];
        (shifted / ((complexity >> 4) + self.bias).max(1)).min(255) as u8
    }

    /// A measure blended with that of the frame before.
    fn over_time(&self, new: u8, old: u8) -> u8 {
        let past = self.past[usize::from(new <= self.great)];
        ((past * u32::from(old) + (256 - past.min(256)) * u32::from(new)) >> 8).min(255) as u8
    }

    /// Blends the results of space and time.
    fn blend(&self, measure: u8, space: u8, time: u8) -> u8 {
        let [least, most] = self.range;
        match measure {
            m if m <= least => time,
            m if m >= most => space,
            m => {
                let sum =
                    u32::from(m - least) * u32::from(space) + u32::from(most - m) * u32::from(time);
                (sum >> self.range_shift).min(255) as u8
            }
        }
    }
}

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
