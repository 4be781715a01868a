//! Thresholds and weights of deinterlacing.

use genxml::gen8::vebox_states::{
    VeboxDndiState, VeboxDndiStateDnDiTopFirst as TopFirst,
    VeboxDndiStateStmmBlendingConstantSelect as Select,
};

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
    /// At or below `range[0]` the result is the temporal one; at or above `range[1]`, the spatial
    /// one.
    pub range: [u8; 2],
    /// log2(`range[1]` - `range[0]`).
    pub range_shift: u32,
    /// Thresholds of spatial angles.
    pub angle_threshold: u32,
    /// A flatter angle must cost less than the one before by this.
    pub angle_delta: u32,
    /// Activity of flat rows.
    pub flat: u32,
    /// Above this difference in activity of the two rows, no angle is used.
    pub unlike: u32,
    /// Difference of two samples along an angle.
    pub pair: u32,
    /// Motion compensation is enabled.
    pub compensated: bool,
    /// Difference of consistent samples.
    pub consistency: u8,
    /// Difference for each sample of a good match.
    pub tight: u32,
    /// Lower and upper limit of the adaptive threshold of a match, for each sample.
    pub adaptive: [u32; 2],
    /// Added to the lower limit.
    pub adaptive_more: u32,
    /// The adaptive threshold is the complexity divided by this.
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
    pub fn measure(&self, temporal: u32, complexity: u32) -> u8 {
        let shifted = (temporal >> self.shifts[0]) << self.shifts[1];
        (shifted / ((complexity >> 4) + self.bias).max(1)).min(255) as u8
    }

    /// A measure blended with that of the frame before.
    pub fn over_time(&self, new: u8, old: u8) -> u8 {
        let past = self.past[usize::from(new <= self.great)];
        ((past * u32::from(old) + (256 - past.min(256)) * u32::from(new)) >> 8).min(255) as u8
    }

    /// Blends the results of space and time.
    pub fn blend(&self, measure: u8, space: u8, time: u8) -> u8 {
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
