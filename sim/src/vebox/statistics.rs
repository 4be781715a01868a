//! The statistics output: counts of blocks, histograms of luma and sums of a frame, in their layout
//! (digests/video.md 12.8).

use super::film::{self, Counts};
use super::iecp::Luma;
use super::noise::Estimate;
use genxml::gen8::vebox_states::VeboxCommandStatistics;
use genxml_codecs::Plane;
use genxml_core::U;
use std::ops::Range;

/// Bytes of a histogram.
const HISTOGRAM: usize = 0x400;
/// Bytes of a histogram and of the sums after it.
const PART: usize = 0x480;

/// What a command counted.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Counts of blocks, and their sum.
    pub blocks: Option<Blocks>,
    /// Noise of Y, U and V.
    pub noise: [Estimate; 3],
    /// Luma of the previous frame's output, if deinterlacing is enabled.
    pub previous: Option<Luma>,
    /// Luma of the current frame's output.
    pub current: Option<Luma>,
    /// Deinterlacing is enabled: there are parts for two frames.
    pub two_frames: bool,
}

/// The part for blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The bytes of the part.
    pub bytes: Vec<u8>,
    /// The sum of blocks that touch no edge.
    pub sum: Counts,
}

impl Blocks {
    /// Bytes of the part for a frame.
    pub fn size(width: usize, height: usize) -> usize {
        width.next_multiple_of(64) * height.div_ceil(4)
    }

    /// Counts the blocks of a frame that start in `columns`.
    pub fn new(
        (current, previous): (&Plane, Option<&Plane>),
        columns: &Range<usize>,
        denoised: bool,
        thresholds: Option<&film::Thresholds>,
    ) -> Blocks {
        let (width, height) = (current.width, current.height);
        let pitch = width.next_multiple_of(64);
        let mut blocks =
            Blocks { bytes: vec![0; Blocks::size(width, height)], sum: Counts::default() };
        for top in (0..height).step_by(4) {
            for left in columns.clone().step_by(16) {
                let counts = film::block((current, previous), (left, top), thresholds);
                let words = counts.for_encoder(denoised, thresholds.map(|t| t.top_first)).pack();
                let start = top / 4 * pitch + left;
                blocks.bytes[start..start + 16].copy_from_slice(bytemuck::cast_slice(&words));
                if left > 0 && left + 16 < width && top > 0 && top + 4 < height {
                    blocks.sum.add(&counts);
                }
            }
        }
        blocks
    }
}

impl Statistics {
    /// The bytes of the surface.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.blocks.as_ref().map_or_else(Vec::new, |blocks| blocks.bytes.clone());
        if self.two_frames {
            self.part(self.previous.as_ref(), false, &mut bytes);
        }
        self.part(self.current.as_ref(), true, &mut bytes);
        // Zeros for the statistics of a second hardware slice, which the model does not have.
        let parts = if self.two_frames { 2 } else { 1 };
        bytes.resize(bytes.len() + parts * PART, 0);
        bytes
    }

    /// Appends the part for a frame. Film mode and noise are counted with the current frame.
    fn part(&self, luma: Option<&Luma>, current: bool, bytes: &mut Vec<u8>) {
        let end = bytes.len() + PART;
        let mut sums = VeboxCommandStatistics::new();
        let word = |value: u32| U::from_bits(u64::from(value));
        if let Some(luma) = luma {
            let counts = luma.histogram.map(|count| count.min(0xff_ffff));
            bytes.extend_from_slice(bytemuck::cast_slice(&counts));
            let [least, most] = luma.range.unwrap_or_default();
            (sums.ymin, sums.ymax) = (U::from_bits(least.into()), U::from_bits(most.into()));
            sums.skin_pixels = word(luma.skin);
            (sums.gamut_distance, sums.gamut_pixels) = (word(luma.distance), word(luma.outside));
        } else {
            bytes.resize(bytes.len() + HISTOGRAM, 0);
        }
        if current {
            let film = self.blocks.as_ref().map(|blocks| blocks.sum).unwrap_or_default();
            sums.fmd_variance = film.variances.map(word);
            sums.gne_sum = self.noise.map(|noise| word(noise.sum));
            sums.gne_count = self.noise.map(|noise| word(noise.count));
        }
        bytes.extend_from_slice(bytemuck::cast_slice(&sums.pack()));
        bytes.resize(end, 0);
    }
}
