//! Sampler states.

use crate::gen8::state::{
    SamplerState, SamplerStateMagModeFilter, SamplerStateMinModeFilter, SamplerStateMipModeFilter,
    TextureCoordinateMode,
};
use genxml_core::lit;

/// How texels become a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// The nearest texel of the nearest level.
    Nearest,
    /// Four texels of the nearest level, blended.
    Linear,
    /// Four texels of each of two levels, blended.
    Trilinear,
}

/// A sampler with this filter. Coordinates outside of the texture are handled as `mode` says, in
/// all directions. All levels are used.
///
/// ```
/// use genxml::gen8::state::TextureCoordinateMode;
/// use genxml::setup::{Filter, sampler};
///
/// let state = sampler(Filter::Linear, TextureCoordinateMode::WRAP);
/// assert_eq!(state.tcy_address_control_mode, TextureCoordinateMode::WRAP);
/// assert_eq!(state.max_lod.get(), 14.0);
/// ```
pub const fn sampler(filter: Filter, mode: TextureCoordinateMode) -> SamplerState {
    let linear = !matches!(filter, Filter::Nearest);
    SamplerState {
        min_mode_filter: match linear {
            true => SamplerStateMinModeFilter::LINEAR,
            false => SamplerStateMinModeFilter::NEAREST,
        },
        mag_mode_filter: match linear {
            true => SamplerStateMagModeFilter::LINEAR,
            false => SamplerStateMagModeFilter::NEAREST,
        },
        mip_mode_filter: match filter {
            Filter::Trilinear => SamplerStateMipModeFilter::LINEAR,
            _ => SamplerStateMipModeFilter::NEAREST,
        },
        max_lod: lit!(14),
        tcx_address_control_mode: mode,
        tcy_address_control_mode: mode,
        tcz_address_control_mode: mode,
        // Linear filters need coordinates that are rounded, not cut off, to the steps of the weights.
        u_address_min_filter_rounding_enable: linear,
        u_address_mag_filter_rounding_enable: linear,
        v_address_min_filter_rounding_enable: linear,
        v_address_mag_filter_rounding_enable: linear,
        r_address_min_filter_rounding_enable: linear,
        r_address_mag_filter_rounding_enable: linear,
        ..SamplerState::new()
    }
}
