//! Resolved samplers of the adaptive video scaler: SAMPLER_STATE_8x8_AVS (2d p.374-389).

use super::detail::Detail;
use super::picture::{ALPHA, BLUE, GREEN, Picture, RED};
use genxml::gen8::media_states::{
    SamplerState8x8Avs, SamplerState8x8AvsAdaptiveFilterForAllChannels as AdaptAll,
    SamplerState8x8AvsBypassXAdaptiveFiltering as BypassX,
    SamplerState8x8AvsBypassYAdaptiveFiltering as BypassY, SamplerState8x8AvsCoefficients,
    SamplerState8x8AvsEnable8TapFilter as Taps, SamplerState8x8AvsRgbAdaptive as RgbAdaptive,
};

/// Number of taps of a filter.
pub const TAPS: usize = 8;
/// Number of phases: positions between two pixels.
pub const PHASES: usize = 32;
/// The last phase in the state. The others are mirrored (video.md 11.4).
const LAST_STORED: usize = PHASES / 2;
/// Fraction bits of coefficients.
pub const COEFFICIENT_BITS: u32 = 6;

/// The coefficients of one direction, for each phase.
type Table = [[i32; TAPS]; PHASES];

/// Thresholds of the adaptive filter, in the unit of channels of 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// Max Derivative 4 Pixels and Transition Area with 4 Pixels.
    pub four: [i32; 2],
    /// Max Derivative 8 Pixels and Transition Area with 8 Pixels.
    pub eight: [i32; 2],
}

/// How the sharp and the smooth filter are combined. 255 is all sharp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blend {
    /// With a constant share of the sharp filter.
    Level(i32),
    /// By the differences of neighbouring pixels.
    Adaptive(Thresholds),
}

/// All of the sharp filter.
const SHARP: Blend = Blend::Level(255);

/// The channel whose pixels decide about the share of the sharp filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guide {
    /// The filtered channel itself.
    Own,
    /// Green or luma.
    Green,
    /// The sum of red, twice green, and blue, divided by 4.
    Luminance,
}

/// The filter of a channel in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filter<'s> {
    /// Coefficients of the sharp filter.
    pub sharp: &'s Table,
    /// How it is combined with the smooth filter.
    pub blend: Blend,
    /// What an adaptive filter adapts to.
    pub guide: Guide,
}

/// A resolved SAMPLER_STATE_8x8_AVS.
#[derive(Clone, Debug)]
pub struct Scaler {
    /// Table 0 (luma or green), horizontal and vertical.
    eight: [Table; 2],
    /// Table 1 (chroma, or red and blue), horizontal and vertical.
    four: [Table; 2],
    /// The four taps in the middle of table 0.
    middle: [Table; 2],
    /// The bilinear filter.
    smooth: Table,
    /// Horizontal and vertical, if the mode is adaptive.
    blend: [Blend; 2],
    /// Default Sharpness Level.
    level: i32,
    mode: Taps,
    all_channels: bool,
    luminance: bool,
    /// The detail filter. `None` if the state asks for the smooth filter in its place.
    pub detail: Option<Detail>,
}

impl Scaler {
    /// Resolves the fields of a SAMPLER_STATE_8x8_AVS.
    pub fn resolve(state: &SamplerState8x8Avs) -> Scaler {
        let stored = &state.filter_coefficient;
        let eight = [0, 1].map(|direction| table(|n| taps0(&stored[n])[direction]));
        let four = [0, 1].map(|direction| table(|n| taps1(&stored[n])[direction]));
        let middle = eight.map(|table| table.map(|[_, _, a, b, c, d, _, _]| inner([a, b, c, d])));
        let smooth = std::array::from_fn(|phase| {
            let second = (phase << COEFFICIENT_BITS) as i32 / PHASES as i32;
            inner([0, (1 << COEFFICIENT_BITS) - second, second, 0])
        });
        let thresholds = Thresholds {
            four: [
                state.max_derivative_4_pixels.get() as i32,
                state.transition_area_with_4_pixels.get() as i32,
            ],
            eight: [
                state.max_derivative_8_pixels.get() as i32,
                state.transition_area_with_8_pixels.get() as i32,
            ],
        };
        let level = state.default_sharpness_level.get() as i32;
        let blend = |bypass| match bypass {
            true => Blend::Level(level),
            false => Blend::Adaptive(thresholds),
        };
        Scaler {
            eight,
            four,
            middle,
            smooth,
            blend: [
                blend(state.bypass_x_adaptive_filtering == BypassX::DISBLE),
                blend(state.bypass_y_adaptive_filtering == BypassY::DISBLE),
            ],
            level,
            mode: state.enable_8_tap_filter,
            all_channels: state.adaptive_filter_for_all_channels == AdaptAll::ENABLE,
            luminance: state.rgb_adaptive == RgbAdaptive::ENABLE,
            detail: Detail::resolve(state),
        }
    }

    /// Coefficients of the smooth filter.
    #[inline(always)]
    pub fn smooth(&self, phase: usize) -> &[i32; TAPS] {
        &self.smooth[phase]
    }

    /// The filter of a channel in a direction (0 horizontal, 1 vertical). `with_green` is true if
    /// the plane of the channel has green too.
    pub fn filter(
        &self,
        picture: &Picture,
        channel: usize,
        direction: usize,
        with_green: bool,
    ) -> Filter<'_> {
        // With luma in the surface, mode 0 acts as 1 and mode 2 as 3 (2d p.380).
        let (wide_green, wide_others) = match self.mode {
            Taps::_4_TAP_ON_ALL_CHANNELS => (picture.has_luma, false),
            Taps::_8_TAP_ADAPTIVE_ON_G_4_TAP_ON_OTHERS => (true, false),
            _ => (true, true),
        };
        let adapts = match self.mode {
            Taps::_4_TAP_ON_ALL_CHANNELS | Taps::_8_TAP_ON_ALL_CHANNELS => picture.has_luma,
            _ => true,
        };
        let guide = match with_green {
            false => Guide::Own,
            true if self.luminance && !picture.has_luma => Guide::Luminance,
            true => Guide::Green,
        };
        // If the mode is not adaptive, Default Sharpness Level serves (2d p.388).
        let blend = if adapts { self.blend[direction] } else { Blend::Level(self.level) };
        match channel {
            GREEN if wide_green => Filter { sharp: &self.eight[direction], blend, guide },
            GREEN => Filter { sharp: &self.middle[direction], blend, guide },
            RED | BLUE => {
                let sharp = if wide_others { &self.eight } else { &self.four };
                let blend = if self.all_channels { blend } else { SHARP };
                Filter { sharp: &sharp[direction], blend, guide }
            }
            _ => {
                debug_assert_eq!(channel, ALPHA);
                // Alpha is always bilinear (2d p.380).
                Filter { sharp: &self.smooth, blend: SHARP, guide: Guide::Own }
            }
        }
    }
}

/// A filter with the four taps in the middle.
fn inner([a, b, c, d]: [i32; 4]) -> [i32; TAPS] {
    [0, 0, a, b, c, d, 0, 0]
}

/// A table of all phases from the stored ones: phase n from the middle on has the taps of phase
/// 32 - n in reverse order (video.md 11.4).
fn table(stored: impl Fn(usize) -> [i32; TAPS]) -> Table {
    std::array::from_fn(|phase| match phase {
        0..=LAST_STORED => stored(phase),
        _ => {
            let mut taps = stored(PHASES - phase);
            taps.reverse();
            taps
        }
    })
}

/// Taps of table 0 in 1/64: horizontal and vertical.
fn taps0(c: &SamplerState8x8AvsCoefficients) -> [[i32; TAPS]; 2] {
    let horizontal = [
        c.table_0x_filter_coefficient_n_0,
        c.table_0x_filter_coefficient_n_1,
        c.table_0x_filter_coefficient_n_2,
        c.table_0x_filter_coefficient_n_3,
        c.table_0x_filter_coefficient_n_4,
        c.table_0x_filter_coefficient_n_5,
        c.table_0x_filter_coefficient_n_6,
        c.table_0x_filter_coefficient_n_7,
    ];
    let vertical = [
        c.table_0y_filter_coefficient_n_0,
        c.table_0y_filter_coefficient_n_1,
        c.table_0y_filter_coefficient_n_2,
        c.table_0y_filter_coefficient_n_3,
        c.table_0y_filter_coefficient_n_4,
        c.table_0y_filter_coefficient_n_5,
        c.table_0y_filter_coefficient_n_6,
        c.table_0y_filter_coefficient_n_7,
    ];
    [horizontal, vertical].map(|taps| taps.map(|tap| (tap.get() * 64.0) as i32))
}

/// Taps of table 1 in 1/64: horizontal and vertical.
fn taps1(c: &SamplerState8x8AvsCoefficients) -> [[i32; TAPS]; 2] {
    let horizontal = [
        c.table_1x_filter_coefficient_n_2,
        c.table_1x_filter_coefficient_n_3,
        c.table_1x_filter_coefficient_n_4,
        c.table_1x_filter_coefficient_n_5,
    ];
    let vertical = [
        c.table_1y_filter_coefficient_n_2,
        c.table_1y_filter_coefficient_n_3,
        c.table_1y_filter_coefficient_n_4,
        c.table_1y_filter_coefficient_n_5,
    ];
    [horizontal, vertical].map(|taps| inner(taps.map(|tap| (tap.get() * 64.0) as i32)))
}
