//! Resolved sampler states: filters, mip levels, and the treatment of coordinates outside of the
//! map.

use genxml::gen8::state::{
    SamplerState, SamplerStateAnisotropicAlgorithm as Algorithm, SamplerStateChromaKeyMode,
    SamplerStateCubeSurfaceControlMode, SamplerStateLodClampMagnificationMode,
    SamplerStateLodPreClampMode, SamplerStateMagModeFilter, SamplerStateMipModeFilter,
    SamplerStateTextureBorderColorMode, SamplerStateTrilinearFilterQuality, TextureCoordinateMode,
    ThreeDPrefilterOperation,
};

/// Filter within a level (2d p.398).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MapFilter {
    /// One texel.
    #[default]
    Nearest,
    /// Two texels in each direction.
    Linear,
    /// The mean of several linear samples along a line.
    Anisotropic,
    /// The mean of a box of one-bit texels.
    Mono,
}

/// Filter between levels (2d p.397).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MipFilter {
    /// No filter: only the most detailed level that is allowed.
    #[default]
    None,
    /// The nearest level.
    Nearest,
    /// Interpolation between two levels.
    Linear,
}

/// Treatment of a coordinate outside of the map (Texture Coordinate Mode, 2d p.406).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wrap {
    /// The map repeats.
    #[default]
    Wrap,
    /// The map repeats. Every second copy is mirrored.
    Mirror,
    /// The texel at the edge.
    Clamp,
    /// The adjoining face of a cube map.
    Cube,
    /// The border colour.
    Border,
    /// The map is mirrored once at 0; further out, the texel at the edge.
    MirrorOnce,
    /// Coordinates clamp to the edge. Texels outside of the map that the linear filter reads have
    /// the border colour.
    HalfBorder,
}

/// Effect of the chroma key on a texel that it matches (2d p.401).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyMode {
    /// The pixel is killed, if the message returns a mask of pixels that are not killed.
    Kill,
    /// The texel becomes black.
    Black,
}

/// A resolved sampler state. The unit of levels is 1/256 level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampler {
    /// True if the sampler is disabled: all channels of all responses are 0.
    pub disabled: bool,
    /// Filter if the map is minified.
    pub min: MapFilter,
    /// Filter if the map is magnified.
    pub mag: MapFilter,
    /// Filter between levels.
    pub mip: MipFilter,
    /// Bias that is added to computed and explicit levels of detail.
    pub bias: i32,
    /// Most detailed level, relative to the first level of the surface.
    pub min_lod: i32,
    /// Least detailed level, relative to the first level of the surface.
    pub max_lod: i32,
    /// Level up to which the map counts as magnified.
    pub base: i32,
    /// True if the level is clamped before it is compared with `base`.
    pub preclamp: bool,
    /// True if the filter between levels also applies if the map is magnified.
    pub mag_has_levels: bool,
    /// Least weight in 1/256: the linear filter between levels leaves out a level with less weight.
    pub least_share: u32,
    /// Modes of U, V and R.
    pub wrap: [Wrap; 3],
    /// True if cube maps use the mode Cube in all directions.
    pub cube_override: bool,
    /// True if a coordinate is rounded, false if it is truncated: U, V and R if the map is
    /// minified, then U, V and R if it is magnified.
    pub round: [[bool; 3]; 2],
    /// True if the unit of coordinates is the size of the map, false if it is a texel of level 0.
    pub normalized: bool,
    /// Largest ratio of the anisotropic filter.
    pub anisotropy: u32,
    /// True if Anisotropic Algorithm is EWA Approximation, false if it is LEGACY.
    pub ewa: bool,
    /// Comparison of texels with the reference.
    pub shadow: ThreeDPrefilterOperation,
    /// Entry of the chroma key table, and the effect of a match.
    pub key: Option<(u8, KeyMode)>,
    /// True in the mode DX9: the border colour is stored as four bytes, and missing green and blue
    /// are 1.
    pub dx9: bool,
    /// Offset of the border colour from Dynamic State Base Address.
    pub border: u64,
}

/// A sampler state that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadSampler {
    /// The field of SAMPLER_STATE.
    pub field: &'static str,
    /// The value of the field.
    pub value: u64,
}

impl Sampler {
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
            ewa: state.anisotropic_algorithm == Algorithm::EWA_APPROXIMATION,
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

    /// Oracle: the encodings of the fields in 2d p.396-407.
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
