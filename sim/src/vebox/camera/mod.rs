//! The camera pipe: from a Bayer pattern to a picture of red, green and blue (assumption
//! `VEBOX_CAMERA_PIPE_ORDER`).
//!
//! 1. [`hot`] pixels are replaced;
//! 2. the black level is subtracted;
//! 3. vignetting is corrected;
//! 4. the missing colours are interpolated ([`demosaic`]).
//!
//! The matrix, gamma and the conversion to Y, U and V follow in [`iecp::front`](super::iecp::front).

pub mod demosaic;
pub mod hot;
pub mod pattern;
#[cfg(test)]
mod tests;

use super::iecp::number::clip;
use super::picture::{Picture, Sampling};
use genxml::gen8::vebox_states::{
    VeboxCapturePipeState, VeboxCcmStateVignetteCorrectionFormat as Factor, VeboxDndiState,
    VeboxIecpState,
};
use pattern::Pattern;

/// Least width and height of a Bayer pattern: interpolation reaches two pixels beyond the border,
/// which mirrors them.
pub const LEAST: usize = 4;

/// Factors that correct vignetting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vignette {
    /// Four factors for each block of 4x4 pixels (assumption `VEBOX_VIGNETTE_FACTORS`).
    pub factors: Vec<u16>,
    /// Bits of their fraction.
    pub fraction: u32,
}

impl Vignette {
    /// Factors in a row, and rows, for a picture.
    pub fn size(width: usize, height: usize) -> (usize, usize) {
        (4 * width.div_ceil(4), height.div_ceil(4))
    }

    /// Bits of fraction of a state.
    pub fn fraction(state: &VeboxIecpState) -> u32 {
        match state.ccm_state.vignette_correction_format {
            Factor::U4_12 => 12,
            _ => 8,
        }
    }
}

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The pattern.
    pub pattern: Pattern,
    /// Hot pixels are replaced.
    pub hot: Option<hot::Settings>,
    /// What is subtracted from red, green and blue.
    pub black: [i32; 3],
    /// Vignetting is corrected.
    pub vignette: Option<Vignette>,
    /// If the costs of both directions are above this, green is the mean of both.
    pub most_cost: u16,
}

impl Settings {
    /// The settings of the states, without hot pixels and vignetting.
    pub fn new(pattern: Pattern, state: &VeboxIecpState, pipe: &VeboxCapturePipeState) -> Settings {
        let black = &state.black_level_correction_state;
        let offsets = [&black.black_point_offset_r, &black.black_point_offset_g];
        let [red, green] = offsets.map(|offset| offset.get() as i32);
        Settings {
            pattern,
            hot: None,
            black: [red, green, black.black_point_offset_b.get() as i32],
            vignette: None,
            most_cost: (pipe.average_min_cost_threshold.get() as u16) << 4,
        }
    }

    /// Hot pixels as a state describes them.
    pub fn hot(state: &VeboxDndiState) -> hot::Settings {
        hot::Settings {
            threshold: (state.hot_pixel_threshold.get() as u16) << 4,
            count: state.hot_pixel_count.get() as usize,
        }
    }
}

/// The picture of a pattern of samples of 12 bits, which has at least [`LEAST`] columns and rows.
pub fn picture(settings: &Settings, samples: Vec<u16>, width: usize) -> Picture {
    let height = samples.len() / width;
    let mut samples = match &settings.hot {
        Some(hot) => hot::filter(hot, &samples, width),
        None => samples,
    };
    let row_of_factors = Vignette::size(width, height).0;
    for (y, row) in samples.chunks_exact_mut(width).enumerate() {
        for (x, sample) in row.iter_mut().enumerate() {
            let color = settings.pattern.color(x, y);
            *sample = clip(i32::from(*sample) - settings.black[color]);
            if let Some(Vignette { factors, fraction }) = &settings.vignette {
                let factor = factors[y / 4 * row_of_factors + x / 4 * 4 + y % 2 * 2 + x % 2];
                let product = u64::from(*sample) * u64::from(factor) + (1 << (fraction - 1));
                *sample = clip((product >> fraction) as i32);
            }
        }
    }
    let planes = demosaic::planes(settings.pattern, settings.most_cost, &samples, width);
    Picture { width, height, sampling: Sampling::FULL, planes, alpha: None }
}
