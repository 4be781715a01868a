//! Denoising: in time where nothing moves, among good neighbours elsewhere (digests/video.md 12.5).

pub mod spatial;
#[cfg(test)]
mod tests;

use super::history::{Channel, History};
use genxml::gen8::vebox_states::{
    VeboxDndiState, VeboxDndiStateChromaDenoiseEnable as Chroma,
    VeboxDndiStateProgressiveDn as Progressive,
};
use genxml_codecs::{Frame, Plane};
use spatial::{Local, neighbors};

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Luma.
    pub luma: Thresholds,
    /// Chroma, if it is denoised. Its moving pixels and complexity do not count.
    pub chroma: Option<Thresholds>,
    /// Greatest history.
    pub most_history: u8,
    /// Step of the history.
    pub step: u8,
    /// History of a first frame.
    pub first_history: u8,
    /// If the sum of signed differences of a still block is larger in magnitude than this, and its
    /// complexity is below `complexity`, its history is set to 128: the brightness changes slowly.
    pub change: u32,
    /// See `change`.
    pub complexity: u32,
    /// Difference below which a neighbour is good.
    pub neighbor: u8,
    /// Neighbours are those of the frame. Otherwise they are those of the field.
    pub progressive: bool,
}

/// Thresholds of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Sum of absolute differences that makes a block move.
    pub sum: u32,
    /// Moving pixels above which a block moves.
    pub pixels: u32,
    /// Difference of a moving pixel.
    pub high: u8,
    /// Difference below which the temporal filter alone counts; at most 16 below `high`.
    pub low: u8,
}

impl Settings {
    /// The settings of a state.
    pub fn new(s: &VeboxDndiState) -> Settings {
        let chroma =
            s.chroma_denoise_enable == Chroma::THE_U_AND_V_CHROMA_CHANNELS_WILL_BE_DENOISE_FILTERED;
        Settings {
            luma: Thresholds {
                sum: s.denoise_stad_threshold.get() as u32,
                pixels: s.denoise_moving_pixel_threshold.get() as u32,
                high: s.temporal_difference_threshold.get() as u8,
                low: s.low_temporal_difference_threshold.get() as u8,
            },
            chroma: chroma.then(|| Thresholds {
                sum: s.chroma_denoise_stad_threshold.get() as u32,
                pixels: 16,
                high: s.chroma_temporal_difference_threshold.get() as u8,
                low: s.chroma_low_temporal_difference_threshold.get() as u8,
            }),
            most_history: s.denoise_maximum_history.get() as u8,
            step: s.denoise_history_increase.get() as u8,
            first_history: s.initial_denoise_history.get() as u8 * 4,
            change: s.denoise_asd_threshold.get() as u32,
            complexity: s.denoise_threshold_for_sum_of_complexity_measure.get() as u32,
            neighbor: s.good_neighbor_threshold.get() as u8,
            progressive: s.progressive_dn
                == Progressive::DN_ASSUMES_PROGRESSIVE_VIDEO_AND_FILTERS_NEIGHBORING_LINES_TOGETHER,
        }
    }
}

/// Denoises a frame. `previous` is the denoised frame before it; `None` for a first frame.
/// `history` has the measures of that frame, and gets those of this one.
pub fn frame(
    settings: &Settings,
    current: &Frame,
    previous: Option<&Frame>,
    history: &mut History,
) -> Frame {
    let mut result = current.clone();
    luma(settings, current, previous, history, &mut result.planes[0]);
    if let Some(thresholds) = &settings.chroma {
        for (plane, channel) in [(1, Channel::U), (2, Channel::V)] {
            let previous = previous.map(|frame| &frame.planes[plane]);
            let current = &current.planes[plane];
            let output = &mut result.planes[plane];
            chroma(settings, thresholds, (current, previous), (history, channel), output);
        }
    }
    result
}

/// Denoises luma.
fn luma(
    settings: &Settings,
    current: &Frame,
    previous: Option<&Frame>,
    history: &mut History,
    output: &mut Plane,
) {
    let current = &current.planes[0];
    let step = if settings.progressive { 1 } else { 2 };
    for top in (0..current.height).step_by(4) {
        for left in (0..current.width).step_by(4) {
            let entry = history.noise(Channel::Y, left, top);
            let block = previous.map(|previous| {
                Block::new(current, &previous.planes[0], (left, top), settings.luma.high)
            });
            let moves = match block {
                None => {
                    *entry = settings.first_history;
                    true
                }
                Some(block) => {
                    let moves = block.moves(&settings.luma);
                    *entry = next_history(settings, *entry, moves);
                    if !moves
                        && block.change.unsigned_abs() > settings.change
                        && complexity(current, (left, top)) < settings.complexity
                    {
                        *entry = 128;
                    }
                    moves
                }
            };
            let weight = i32::from(*entry);
            for y in top..(top + 4).min(current.height) {
                let rows = neighbors(y, step, current.height)
                    .map(|y| &current.data[y * current.width..][..current.width]);
                for x in left..(left + 4).min(current.width) {
                    let index = y * current.width + x;
                    let local = Local::new(rows, x, settings.neighbor);
                    let before = previous.map(|previous| previous.planes[0].data[index]);
                    output.data[index] = match before {
                        Some(before) if !moves => {
                            let sample = current.data[index];
                            let temporal = local.pull(mix(sample, before, weight));
                            between(&settings.luma, sample, before, local.mean, temporal)
                        }
                        _ => local.mean,
                    };
                }
            }
        }
    }
}

/// Denoises U or V (assumption `VEBOX_CHROMA_DENOISE_IS_TEMPORAL`).
fn chroma(
    settings: &Settings,
    thresholds: &Thresholds,
    (current, previous): (&Plane, Option<&Plane>),
    (history, channel): (&mut History, Channel),
    output: &mut Plane,
) {
    for top in (0..current.height).step_by(4) {
        for left in (0..current.width).step_by(4) {
            // The history is kept with the luma at the same numbers, which exists for every block.
            let entry = history.noise(channel, left, top);
            let Some(previous) = previous else {
                *entry = settings.first_history;
                continue;
            };
            let block = Block::new(current, previous, (left, top), thresholds.high);
            let moves = block.moves(thresholds);
            *entry = next_history(settings, *entry, moves);
            if moves {
                continue;
            }
            let weight = i32::from(*entry);
            for y in top..(top + 4).min(current.height) {
                for x in left..(left + 4).min(current.width) {
                    let index = y * current.width + x;
                    let (sample, before) = (current.data[index], previous.data[index]);
                    let temporal = mix(sample, before, weight);
                    output.data[index] = between(thresholds, sample, before, sample, temporal);
                }
            }
        }
    }
}

/// Differences of a block of 4x4 samples from the previous frame.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Sum of absolute differences.
    sum: u32,
    /// Sum of differences.
    change: i32,
    /// Samples that differ by the threshold or more.
    moving: u32,
}

impl Block {
    fn new(current: &Plane, previous: &Plane, (left, top): (usize, usize), high: u8) -> Block {
        let mut block = Block::default();
        let right = (left + 4).min(current.width);
        for y in top..(top + 4).min(current.height) {
            let row = |plane: &Plane| y * plane.width + left..y * plane.width + right;
            let samples = current.data[row(current)].iter().zip(&previous.data[row(previous)]);
            for (sample, before) in samples {
                let difference = sample.abs_diff(*before);
                block.sum += u32::from(difference);
                block.change += i32::from(*sample) - i32::from(*before);
                block.moving += u32::from(difference >= high);
            }
        }
        block
    }

    /// True if the block moves.
    fn moves(&self, thresholds: &Thresholds) -> bool {
        self.sum >= thresholds.sum || self.moving > thresholds.pixels
    }
}

/// The history after a block.
fn next_history(settings: &Settings, old: u8, moves: bool) -> u8 {
    match (moves, old) {
        (true, 128..) => old / 2,
        (true, _) => 0,
        (false, ..128) => 128,
        (false, _) => old.saturating_add(settings.step).min(settings.most_history.max(128)),
    }
}

/// The sum of differences of neighbours inside a block of 4x4 samples.
fn complexity(plane: &Plane, (left, top): (usize, usize)) -> u32 {
    let (right, bottom) = ((left + 4).min(plane.width), (top + 4).min(plane.height));
    let at = |x: usize, y: usize| plane.data[y * plane.width + x];
    let mut sum = 0;
    for y in top..bottom {
        for x in left..right {
            if x + 1 < right {
                sum += u32::from(at(x, y).abs_diff(at(x + 1, y)));
            }
            if y + 1 < bottom {
                sum += u32::from(at(x, y).abs_diff(at(x, y + 1)));
            }
        }
    }
    sum
}

/// The temporal filter (assumption `VEBOX_DENOISE_HISTORY_WEIGHS_THE_PAST`).
fn mix(sample: u8, before: u8, weight: i32) -> u8 {
    ((weight * i32::from(before) + (256 - weight) * i32::from(sample) + 128) >> 8) as u8
}

/// The result for a sample of a block that does not move: between the spatial and the temporal one.
fn between(thresholds: &Thresholds, sample: u8, before: u8, spatial: u8, temporal: u8) -> u8 {
    /// 1024 / n, as the manual lists it.
    const INVERSE: [u32; 17] =
        [0, 1024, 512, 341, 256, 205, 171, 146, 128, 114, 102, 93, 85, 79, 73, 68, 64];
    let difference = sample.abs_diff(before);
    let Thresholds { high, low, .. } = *thresholds;
    match difference {
        d if d >= high => spatial,
        d if d < low => temporal,
        d => {
            let width = usize::from(high - low).min(16);
            let sum = u32::from(spatial) * u32::from(d - low)
                + u32::from(temporal) * u32::from(high - d)
                + width as u32 / 2;
            ((sum * INVERSE[width]) >> 10).min(255) as u8
        }
    }
}
