//! Sampler states, resolved: filters, levels, and what coordinates outside of the map mean.

use genxml::gen8::state::{
    SamplerState, SamplerStateChromaKeyMode, SamplerStateCubeSurfaceControlMode,
    SamplerStateLodClampMagnificationMode, SamplerStateLodPreClampMode, SamplerStateMagModeFilter,
    SamplerStateMipModeFilter, SamplerStateTextureBorderColorMode,
    SamplerStateTrilinearFilterQuality, TextureCoordinateMode, ThreeDPrefilterOperation,
};

/// Filter within a level (2d p.398).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MapFilter {
    /// One texel.
    #[default]
    Nearest,
    /// Two texels in each direction.
    Linear,
    /// Several linear samples along a line.
    Anisotropic,
    /// A box of one-bit texels.
    Mono,
}

/// Filter between levels (2d p.397).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MipFilter {
    /// The most detailed level that is allowed.
    #[default]
    None,
    /// One level.
    Nearest,
    /// Two levels.
    Linear,
}

/// What a coordinate outside of the map means (Texture Coordinate Mode, 2d p.406).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wrap {
    /// The map repeats.
    #[default]
    Wrap,
    /// The map repeats, every second time mirrored.
    Mirror,
    /// The texel at the edge.
    Clamp,
    /// The adjoining face of a cube map.
    Cube,
    /// The border colour.
    Border,
    /// Mirrored once at 0, then the texel at the edge.
    MirrorOnce,
    /// Coordinates clamp to the edge, texels outside of it have the border colour.
    HalfBorder,
}

/// What the chroma key does to a texel that it matches (2d p.401).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyMode {
    /// Its pixel is killed, if the message asks.
    Kill,
    /// It becomes black.
    Black,
}

/// A sampler state. Levels count in 1/256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampler {
    /// All channels of all answers are 0.
    pub disabled: bool,
    /// Filter where the map is shrunk.
    pub min: MapFilter,
    /// Filter where the map is enlarged.
    pub mag: MapFilter,
    /// Filter between levels.
    pub mip: MipFilter,
    /// Added to computed and explicit levels.
    pub bias: i32,
    /// Most detailed level, from the first one of the surface on.
    pub min_lod: i32,
    /// Least detailed level, from the first one of the surface on.
    pub max_lod: i32,
    /// Level up to which the map counts as enlarged.
    pub base: i32,
    /// The level is clamped before that is decided.
    pub preclamp: bool,
    /// Enlarged maps have levels too.
    pub mag_has_levels: bool,
    /// In 1/256: a level that contributes less is left out.
    pub least_share: u32,
    /// Modes of U, V and R.
    pub wrap: [Wrap; 3],
    /// Cube maps have the mode Cube.
    pub cube_override: bool,
    /// Coordinates U, V and R are rounded rather than truncated where the map is enlarged, and
    /// where it is shrunk.
    pub round: [[bool; 3]; 2],
    /// Coordinates count the map; else texels of level 0.
    pub normalized: bool,
    /// Greatest ratio of the anisotropic filter.
    pub anisotropy: u32,
    /// How texels compare with the reference.
    pub shadow: ThreeDPrefilterOperation,
    /// Entry of the chroma key table, and what a match does.
    pub key: Option<(u8, KeyMode)>,
    /// The border colour is four bytes.
    pub dx9: bool,
    /// Where the border colour lies, from Dynamic State Base Address on.
    pub border: u64,
}

/// A sampler state that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadSampler {
    /// The field of SAMPLER_STATE.
    pub field: &'static str,
    /// What it holds.
    pub value: u64,
}

impl Sampler {
    /// What a sampler state says.
    ///
    /// # Errors
    /// [`BadSampler`] names a field that holds a reserved value.
    pub fn resolve(state: &SamplerState) -> Result<Sampler, BadSampler> {
        let map = |field, bits| match SamplerStateMagModeFilter::from_bits(bits) {
            SamplerStateMagModeFilter::NEAREST => Ok(MapFilter::Nearest),
            SamplerStateMagModeFilter::LINEAR => Ok(MapFilter::Linear),
            SamplerStateMagModeFilter::ANISOTROPIC => Ok(MapFilter::Anisotropic),
            SamplerStateMagModeFilter::MONO => Ok(MapFilter::Mono),
            _ => Err(BadSampler { field, value: bits }),
        };
        let wrap = |field, mode| match mode {
            TextureCoordinateMode::WRAP => Ok(Wrap::Wrap),
            TextureCoordinateMode::MIRROR => Ok(Wrap::Mirror),
            TextureCoordinateMode::CLAMP => Ok(Wrap::Clamp),
            TextureCoordinateMode::CUBE => Ok(Wrap::Cube),
            TextureCoordinateMode::CLAMP_BORDER => Ok(Wrap::Border),
            TextureCoordinateMode::MIRROR_ONCE => Ok(Wrap::MirrorOnce),
            TextureCoordinateMode::HALF_BORDER => Ok(Wrap::HalfBorder),
            _ => Err(BadSampler { field, value: mode.bits() }),
        };
        let mip = match state.mip_mode_filter {
            SamplerStateMipModeFilter::NONE => MipFilter::None,
            SamplerStateMipModeFilter::NEAREST => MipFilter::Nearest,
            SamplerStateMipModeFilter::LINEAR => MipFilter::Linear,
            other => return Err(BadSampler { field: "Mip Mode Filter", value: other.bits() }),
        };
        let preclamp = match state.lod_pre_clamp_mode {
            SamplerStateLodPreClampMode::NONE => false,
            SamplerStateLodPreClampMode::OGL => true,
            other => return Err(BadSampler { field: "LOD PreClamp Mode", value: other.bits() }),
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
            min_lod: state.min_lod.bits() as i32,
            max_lod: state.max_lod.bits() as i32,
            base: (state.base_mip_level.get() * 256.0) as i32,
            preclamp,
            mag_has_levels: state.lod_clamp_magnification_mode
                == SamplerStateLodClampMagnificationMode::MIPFILTER,
            least_share: match state.trilinear_filter_quality {
                SamplerStateTrilinearFilterQuality::MED => 64,
                SamplerStateTrilinearFilterQuality::LOW => 96,
                _ => 0,
            },
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
            normalized: !state.non_normalized_coordinate_enable,
            anisotropy: 2 * (state.maximum_anisotropy.bits() as u32 + 1),
            shadow: state.shadow_function,
            key: state.chroma_key_enable.then(|| (state.chroma_key_index.get() as u8, mode)),
            dx9: state.texture_border_color_mode == SamplerStateTextureBorderColorMode::DX9,
            border: state.indirect_state_pointer.get(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::state::SamplerStateMaximumAnisotropy;
    use genxml_core::{SFix, UFix};

    /// Oracle: the fields of 2d p.396-407 by number.
    #[test]
    fn fields() {
        let state = SamplerState {
            texture_lod_bias: SFix::new(-1.5).unwrap(),
            min_lod: UFix::new(0.25).unwrap(),
            max_lod: UFix::new(14.0).unwrap(),
            base_mip_level: UFix::new(2.5).unwrap(),
            maximum_anisotropy: SamplerStateMaximumAnisotropy::RATIO_14_1,
            u_address_min_filter_rounding_enable: true,
            r_address_mag_filter_rounding_enable: true,
            tcy_address_control_mode: TextureCoordinateMode::HALF_BORDER,
            ..SamplerState::new()
        };
        let sampler = Sampler::resolve(&state).unwrap();
        assert_eq!((sampler.bias, sampler.min_lod, sampler.max_lod), (-384, 64, 14 * 256));
        assert_eq!((sampler.base, sampler.anisotropy), (640, 14));
        assert_eq!(sampler.round, [[true, false, false], [false, false, true]]);
        assert_eq!(sampler.wrap, [Wrap::Wrap, Wrap::HalfBorder, Wrap::Wrap]);
    }

    #[test]
    fn reserved_values() {
        let fields = [
            (
                SamplerState {
                    mip_mode_filter: SamplerStateMipModeFilter::from_bits(2),
                    ..SamplerState::new()
                },
                "Mip Mode Filter",
            ),
            (
                SamplerState {
                    mag_mode_filter: SamplerStateMagModeFilter::from_bits(4),
                    ..SamplerState::new()
                },
                "Mag Mode Filter",
            ),
            (
                SamplerState {
                    tcx_address_control_mode: TextureCoordinateMode::from_bits(7),
                    ..SamplerState::new()
                },
                "TCX Address Control Mode",
            ),
            (
                SamplerState {
                    lod_pre_clamp_mode: SamplerStateLodPreClampMode::from_bits(1),
                    ..SamplerState::new()
                },
                "LOD PreClamp Mode",
            ),
        ];
        for (state, field) in fields {
            assert_eq!(Sampler::resolve(&state).unwrap_err().field, field);
        }
    }
}
