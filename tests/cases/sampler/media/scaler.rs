//! The adaptive video scaler from the formulas of video.md 11 and 2d p.374-389. It filters each
//! channel of each pixel on its own.

use crate::sampler::media::picture::Picture;
use genxml::gen8::media_states::{
    SamplerState8x8Avs, SamplerState8x8AvsAdaptiveFilterForAllChannels as AdaptAll,
    SamplerState8x8AvsBypassXAdaptiveFiltering as BypassX,
    SamplerState8x8AvsBypassYAdaptiveFiltering as BypassY, SamplerState8x8AvsCoefficients,
    SamplerState8x8AvsEnable8TapFilter as Taps, SamplerState8x8AvsRgbAdaptive as RgbAdaptive,
};
use genxml_cases::{Random, u};
use genxml_core::SFix;

/// The scaler's state, with coefficients in 1/64: phase, direction, tap.
#[derive(Clone, Debug)]
pub struct Scaler {
    pub state: SamplerState8x8Avs,
    eight: [[[i64; 8]; 2]; 17],
    four: [[[i64; 4]; 2]; 17],
}

impl Scaler {
    pub fn random(random: &mut Random) -> Scaler {
        // Sums of about 64, with negative taps outside.
        let mut tap = |n: usize, taps: usize| {
            let middle = n == taps / 2 - 1 || n == taps / 2;
            if middle { 24 + random.below(24) as i64 } else { random.below(13) as i64 - 8 }
        };
        let mut eight = [[[0; 8]; 2]; 17];
        let mut four = [[[0; 4]; 2]; 17];
        for phase in 0..17 {
            for direction in 0..2 {
                eight[phase][direction] = std::array::from_fn(|n| tap(n, 8));
                four[phase][direction] = std::array::from_fn(|n| tap(n, 4));
            }
        }
        let level = [0, 255, random.below(256)][random.below(3) as usize];
        let state = SamplerState8x8Avs {
            enable_8_tap_filter: Taps::from_bits(random.below(4)),
            default_sharpness_level: u(level),
            max_derivative_4_pixels: u(random.below(40)),
            max_derivative_8_pixels: u(random.below(40)),
            transition_area_with_4_pixels: u(random.below(8)),
            transition_area_with_8_pixels: u(random.below(8)),
            bypass_x_adaptive_filtering: BypassX::from_bits(random.below(2)),
            bypass_y_adaptive_filtering: BypassY::from_bits(random.below(2)),
            adaptive_filter_for_all_channels: AdaptAll::from_bits(random.below(2)),
            rgb_adaptive: RgbAdaptive::from_bits(random.below(2)),
            strong_edge_threshold: u(random.below(20)),
            weak_edge_threshold: u(random.below(20)),
            gain_factor: u(random.below(64)),
            strong_edge_weight: u(random.below(8)),
            regular_weight: u(random.below(8)),
            non_edge_weight: u(random.below(8)),
            ..SamplerState8x8Avs::new()
        };
        Scaler { state, eight, four }
    }

    /// The bilinear filter of drivers: the taps of a phase move from tap 3 to tap 4.
    pub fn bilinear() -> Scaler {
        let mut scaler = Scaler {
            state: SamplerState8x8Avs {
                enable_8_tap_filter: Taps::_8_TAP_ADAPTIVE_ON_ALL_CHANNELS,
                bypass_x_adaptive_filtering: BypassX::DISBLE,
                bypass_y_adaptive_filtering: BypassY::DISBLE,
                adaptive_filter_for_all_channels: AdaptAll::ENABLE,
                ..SamplerState8x8Avs::new()
            },
            eight: [[[0; 8]; 2]; 17],
            four: [[[0; 4]; 2]; 17],
        };
        for phase in 0..17 {
            for direction in 0..2 {
                let second = 2 * phase as i64;
                scaler.eight[phase][direction][3..5].copy_from_slice(&[64 - second, second]);
                scaler.four[phase][direction][1..3].copy_from_slice(&[64 - second, second]);
            }
        }
        scaler
    }

    /// A scaler that has sharp filters only.
    pub fn only_sharp(mode: Taps, eight: [[[i64; 8]; 2]; 17], four: [[[i64; 4]; 2]; 17]) -> Scaler {
        let state = SamplerState8x8Avs {
            enable_8_tap_filter: mode,
            default_sharpness_level: u(255),
            ..Scaler::bilinear().state
        };
        Scaler { state, eight, four }
    }

    /// The dwords of the state.
    pub fn pack(&self) -> Vec<u32> {
        let fixed = |value: i64| SFix::new(value as f64 / 64.0).unwrap();
        let mut state = self.state;
        for (n, phase) in state.filter_coefficient.iter_mut().enumerate() {
            let [x, y] = self.eight[n].map(|taps| taps.map(fixed));
            let [a, b] = self.four[n].map(|taps| taps.map(fixed));
            *phase = SamplerState8x8AvsCoefficients {
                table_0x_filter_coefficient_n_0: x[0],
                table_0x_filter_coefficient_n_1: x[1],
                table_0x_filter_coefficient_n_2: x[2],
                table_0x_filter_coefficient_n_3: x[3],
                table_0x_filter_coefficient_n_4: x[4],
                table_0x_filter_coefficient_n_5: x[5],
                table_0x_filter_coefficient_n_6: x[6],
                table_0x_filter_coefficient_n_7: x[7],
                table_0y_filter_coefficient_n_0: y[0],
                table_0y_filter_coefficient_n_1: y[1],
                table_0y_filter_coefficient_n_2: y[2],
                table_0y_filter_coefficient_n_3: y[3],
                table_0y_filter_coefficient_n_4: y[4],
                table_0y_filter_coefficient_n_5: y[5],
                table_0y_filter_coefficient_n_6: y[6],
                table_0y_filter_coefficient_n_7: y[7],
                table_1x_filter_coefficient_n_2: a[0],
                table_1x_filter_coefficient_n_3: a[1],
                table_1x_filter_coefficient_n_4: a[2],
                table_1x_filter_coefficient_n_5: a[3],
                table_1y_filter_coefficient_n_2: b[0],
                table_1y_filter_coefficient_n_3: b[1],
                table_1y_filter_coefficient_n_4: b[2],
                table_1y_filter_coefficient_n_5: b[3],
            };
        }
        state.pack().to_vec()
    }

    /// The sharp filter of a channel at a phase from 0 to 31.
    fn sharp(&self, luma: bool, channel: usize, direction: usize, phase: i64) -> [i64; 8] {
        let (stored, mirrored) =
            if phase <= 16 { (phase as usize, false) } else { ((32 - phase) as usize, true) };
        let wide = match self.state.enable_8_tap_filter.bits() {
            0 => luma && channel == 1,
            1 => channel == 1,
            _ => true,
        };
        let mut taps = self.eight[stored][direction];
        if channel == 1 && !wide {
            for n in [0, 1, 6, 7] {
                taps[n] = 0;
            }
        } else if !wide {
            taps = [0; 8];
            taps[2..6].copy_from_slice(&self.four[stored][direction]);
        }
        if mirrored {
            taps.reverse();
        }
        taps
    }

    /// The share of the sharp filter in 1/255, from the values that it adapts to.
    fn share(&self, luma: bool, channel: usize, direction: usize, guide: &[i64; 8]) -> i64 {
        let state = &self.state;
        let adaptive = match state.enable_8_tap_filter.bits() {
            0 | 2 => luma,
            _ => true,
        };
        let bypass =
            [state.bypass_x_adaptive_filtering.bits(), state.bypass_y_adaptive_filtering.bits()]
                [direction];
        if channel != 1 && state.adaptive_filter_for_all_channels == AdaptAll::DISBLE {
            return 255;
        }
        if bypass == 1 || !adaptive {
            return state.default_sharpness_level.get() as i64;
        }
        let w = guide.map(|value| value.div_euclid(256));
        let apart = |a: usize, b: usize| (w[a] - w[b]).abs();
        let most8 = (0..7).map(|n| apart(n, n + 1)).max().unwrap();
        let most4 = apart(3, 4).max(apart(2, 3)).min(apart(3, 4).max(apart(4, 5)));
        let (d1, d2, d3) = (w[3] - w[2], w[4] - w[3], w[5] - w[4]);
        let d4 = (((d1 - d2).abs() + (d3 - d2).abs()) / 2).min(most4);
        let ramp = |difference: i64, point: u64, slope: u64| {
            ((difference - point as i64) * (1 << (8 - slope))).clamp(0, 255)
        };
        let four = ramp(
            d4,
            state.max_derivative_4_pixels.get(),
            state.transition_area_with_4_pixels.get(),
        );
        let eight = ramp(
            most8,
            state.max_derivative_8_pixels.get(),
            state.transition_area_with_8_pixels.get(),
        );
        four.max(255 - eight)
    }

    /// One direction of the filter: eight values to one.
    fn pass(
        &self,
        picture: &Picture,
        channel: usize,
        direction: usize,
        phase: i64,
        values: &[[Option<i64>; 4]; 8],
    ) -> i64 {
        let luma = picture.has_luma();
        let own = values.map(|value| value[channel].unwrap());
        let sum = |taps: [i64; 8]| {
            let sum: i64 = taps.iter().zip(own).map(|(tap, value)| tap * value).sum();
            (sum + 32).div_euclid(64)
        };
        let smooth = sum([0, 0, 0, 64 - 2 * phase, 2 * phase, 0, 0, 0]);
        if channel == 3 {
            return smooth;
        }
        let sharp = sum(self.sharp(luma, channel, direction, phase));
        let together = picture.every(channel) == [1, 1] && values[0][1].is_some();
        let guide = values.map(|value| match value {
            _ if !together => value[channel].unwrap(),
            [Some(red), Some(green), Some(blue), _]
                if !luma && self.state.rgb_adaptive == RgbAdaptive::ENABLE =>
            {
                (red + 2 * green + blue).div_euclid(4)
            }
            _ => value[1].unwrap(),
        });
        let share = self.share(luma, channel, direction, &guide);
        (2 * (share * sharp + (255 - share) * smooth) + 255).div_euclid(2 * 255)
    }

    /// A channel of a pixel, in 1/65536.
    pub fn pixel(&self, picture: &Picture, channel: usize, place: [f64; 2]) -> u16 {
        if picture.value(channel, 0, 0).is_none() {
            return if channel == 3 { 0xff00 } else { 0 };
        }
        let every = picture.every(channel);
        let down = match every[1] {
            2 => picture.state.cr_v_cb_u_pixel_offset_v_direction.get(),
            _ => 0.0,
        };
        let [x, y] = [place[0] / every[0] as f64, (place[1] - down) / every[1] as f64]
            .map(|at| (at * 256.0 + 0.5).floor() as i64);
        let phase = |at: i64| at.rem_euclid(256) / 8;
        let corner = [x, y].map(|at| at.div_euclid(256) - 3);
        let rows: [[Option<i64>; 4]; 8] = std::array::from_fn(|j| {
            let row: [[Option<i64>; 4]; 8] = std::array::from_fn(|i| {
                std::array::from_fn(|n| {
                    let same = picture.every(n) == every;
                    let at = [corner[0] + i as i64, corner[1] + j as i64];
                    if same { picture.value(n, at[0], at[1]) } else { None }
                })
            });
            std::array::from_fn(|n| row[0][n].map(|_| self.pass(picture, n, 0, phase(x), &row)))
        });
        self.pass(picture, channel, 1, phase(y), &rows).clamp(0, 0xffff) as u16
    }
}
