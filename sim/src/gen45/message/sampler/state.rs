//! Sampler states of G45, resolved to the values that all generations share (003:3649-3813).

use crate::unit::sampler::border::Stored;
use crate::unit::sampler::state::{BadSampler, KeyMode, MapFilter, MipFilter, Sampler, Wrap};
use genxml::gen8::state::ThreeDPrefilterOperation;
use genxml::gen45::enums::TextureCoordinateMode;
use genxml::gen45::state_surface::{
    SamplerBorderColorState, SamplerState, SamplerStateChromaKeyMode,
    SamplerStateCubeSurfaceControlMode, SamplerStateLodPreClampEnable, SamplerStateMagModeFilter,
    SamplerStateMipModeFilter, SamplerStateTextureBorderColorMode,
};

/// Resolves the fields of a SAMPLER_STATE.
///
/// # Errors
/// [`BadSampler`] with the first field that has a reserved value.
pub fn resolve(state: &SamplerState) -> Result<Sampler, BadSampler> {
    let map = |field, bits| match SamplerStateMagModeFilter::from_bits(bits) {
        SamplerStateMagModeFilter::NEAREST => Ok(MapFilter::Nearest),
        SamplerStateMagModeFilter::LINEAR => Ok(MapFilter::Linear),
        SamplerStateMagModeFilter::ANISOTROPIC => Ok(MapFilter::Anisotropic),
        SamplerStateMagModeFilter::MONO => Ok(MapFilter::Mono),
        _ => Err(BadSampler { field, value: bits }),
    };
    let wrap = |field, mode: TextureCoordinateMode| match mode {
        TextureCoordinateMode::WRAP => Ok(Wrap::Wrap),
        TextureCoordinateMode::MIRROR => Ok(Wrap::Mirror),
        TextureCoordinateMode::CLAMP => Ok(Wrap::Clamp),
        TextureCoordinateMode::CUBE => Ok(Wrap::Cube),
        TextureCoordinateMode::CLAMP_BORDER => Ok(Wrap::Border),
        TextureCoordinateMode::MIRROR_ONCE => Ok(Wrap::MirrorOnce),
        _ => Err(BadSampler { field, value: mode.bits() }),
    };
    let mip = match state.mip_mode_filter {
        SamplerStateMipModeFilter::NONE => MipFilter::None,
        SamplerStateMipModeFilter::NEAREST => MipFilter::Nearest,
        SamplerStateMipModeFilter::LINEAR => MipFilter::Linear,
        other => return Err(BadSampler { field: "Mip Mode Filter", value: other.bits() }),
    };
    let mode = match state.chroma_key_mode {
        SamplerStateChromaKeyMode::KEYFILTER_REPLACE_BLACK => KeyMode::Black,
        _ => KeyMode::Kill,
    };
    Ok(Sampler {
        disabled: state.sampler_disable,
        min: map("Min Mode Filter", state.min_mode_filter.bits())?,
        mag: map("Mag Mode Filter", state.mag_mode_filter.bits())?,
        mip,
        bias: (state.texture_lod_bias.get() * 256.0) as i32,
        min_lod: (state.min_lod.get() * 256.0) as i32,
        max_lod: (state.max_lod.get() * 256.0) as i32,
        base: (state.base_mip_level.get() * 256.0) as i32,
        preclamp: state.lod_pre_clamp_enable == SamplerStateLodPreClampEnable::OGL,
        mag_has_levels: false,
        least_share: 0,
        wrap: [
            wrap("TCX Address Control Mode", state.tcx_address_control_mode)?,
            wrap("TCY Address Control Mode", state.tcy_address_control_mode)?,
            wrap("TCZ Address Control Mode", state.tcz_address_control_mode)?,
        ],
        cube_override: state.cube_surface_control_mode
            == SamplerStateCubeSurfaceControlMode::OVERRIDE,
        round: [
            [
                state.u_address_min_filter_rounding_enable,
                state.v_address_min_filter_rounding_enable,
                state.r_address_min_filter_rounding_enable,
            ],
            [
                state.u_address_mag_filter_rounding_enable,
                state.v_address_mag_filter_rounding_enable,
                state.r_address_mag_filter_rounding_enable,
            ],
        ],
        normalized: true,
        anisotropy: 2 * (state.maximum_anisotropy.bits() as u32 + 1),
        ewa: false,
        // The comparisons have the same numbers in all generations.
        shadow: ThreeDPrefilterOperation::from_bits(state.shadow_function.bits()),
        key: state.chroma_key_enable.then(|| (state.chroma_key_index.get() as u8, mode)),
        dx9: state.texture_border_color_mode == SamplerStateTextureBorderColorMode::DX9,
        border: state.border_color_pointer.get(),
    })
}

/// The border colour in memory (003:3817-3851).
pub fn stored(dx9: bool, dwords: &[u32; SamplerBorderColorState::DWORDS]) -> Stored {
    let state = SamplerBorderColorState::unpack_lossy(dwords);
    match dx9 {
        true => Stored::Bytes(
            [
                state.border_color_red_dx9,
                state.border_color_green_dx9,
                state.border_color_blue_dx9,
                state.border_color_alpha_dx9,
            ]
            .map(|byte| byte.get() as u8),
        ),
        false => Stored::Channels(
            [
                state.border_color_red_dx10_ogl,
                state.border_color_green_dx10_ogl,
                state.border_color_blue_dx10_ogl,
                state.border_color_alpha_dx10_ogl,
            ]
            .map(f32::to_bits),
        ),
    }
}
