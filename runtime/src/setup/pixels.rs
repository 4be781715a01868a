//! Viewports and blending.

use crate::gen8::enums::{ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction};
use crate::gen8::render3d_pixel::{
    BlendState, BlendStateEntry, BlendStateEntryColorClampRange, ThreeDStatePsBlend,
};
use crate::gen8::render3d_raster::SfClipViewport;

/// The transformation from clip space to `width` x `height` pixels from `x`, `y` on. The point -1,
/// -1 of clip space becomes the lower left corner; z is unchanged. A triangle is clipped
/// only if it reaches beyond the guard band, which is 16 times as wide and as high as the viewport.
///
/// ```
/// let state = genxml::setup::viewport([0.0, 0.0], [640.0, 480.0]);
/// assert_eq!(state.viewport_matrix_element_m30, 320.0);
/// assert_eq!(state.y_max_view_port, 479.0);
/// ```
pub const fn viewport([x, y]: [f32; 2], [width, height]: [f32; 2]) -> SfClipViewport {
    SfClipViewport {
        viewport_matrix_element_m00: width / 2.0,
        viewport_matrix_element_m30: x + width / 2.0,
        viewport_matrix_element_m11: -height / 2.0,
        viewport_matrix_element_m31: y + height / 2.0,
        viewport_matrix_element_m22: 1.0,
        viewport_matrix_element_m32: 0.0,
        x_min_clip_guardband: -16.0,
        x_max_clip_guardband: 16.0,
        y_min_clip_guardband: -16.0,
        y_max_clip_guardband: 16.0,
        x_min_view_port: x,
        x_max_view_port: x + width - 1.0,
        y_min_view_port: y,
        y_max_view_port: y + height - 1.0,
    }
}

/// How a colour joins the colour that the render target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blend {
    /// It replaces the old colour.
    Replace,
    /// It covers the old colour as its alpha says.
    Alpha,
    /// It covers the old colour as its alpha says; alpha was multiplied into the colour before.
    Premultiplied,
    /// It is added.
    Add,
    /// It is multiplied.
    Multiply,
}

/// Blending for all render targets. The packet of [`ps_blend`] must go with it.
///
/// ```
/// use genxml::setup::{Blend, blend};
///
/// assert!(!blend(Blend::Replace).entry[0].color_buffer_blend_enable);
/// assert!(blend(Blend::Add).entry[7].color_buffer_blend_enable);
/// ```
pub const fn blend(blend: Blend) -> BlendState {
    let (source, destination) = match blend {
        Blend::Replace => (Factor::BLENDFACTOR_ONE, Factor::BLENDFACTOR_ZERO),
        Blend::Alpha => (Factor::BLENDFACTOR_SRC_ALPHA, Factor::BLENDFACTOR_INV_SRC_ALPHA),
        Blend::Premultiplied => (Factor::BLENDFACTOR_ONE, Factor::BLENDFACTOR_INV_SRC_ALPHA),
        Blend::Add => (Factor::BLENDFACTOR_ONE, Factor::BLENDFACTOR_ONE),
        Blend::Multiply => (Factor::BLENDFACTOR_DST_COLOR, Factor::BLENDFACTOR_ZERO),
    };
    if matches!(blend, Blend::Replace) {
        return BlendState::new();
    }
    let entry = BlendStateEntry {
        color_buffer_blend_enable: true,
        source_blend_factor: source,
        destination_blend_factor: destination,
        source_alpha_blend_factor: match blend {
            Blend::Alpha => Factor::BLENDFACTOR_ONE,
            _ => source,
        },
        destination_alpha_blend_factor: destination,
        color_blend_function: ThreeDColorBufferBlendFunction::BLENDFUNCTION_ADD,
        alpha_blend_function: ThreeDColorBufferBlendFunction::BLENDFUNCTION_ADD,
        // The target's range limits the colour before and after.
        pre_blend_color_clamp_enable: true,
        post_blend_color_clamp_enable: true,
        color_clamp_range: BlendStateEntryColorClampRange::COLORCLAMP_RTFORMAT,
        ..BlendStateEntry::new()
    };
    // Alpha has factors of its own.
    BlendState { independent_alpha_blend_enable: true, entry: [entry; 8], ..BlendState::new() }
}

/// The packet that says how the first render target is blended. The pixel pipeline needs it besides
/// the blend state, and both must agree.
///
/// ```
/// use genxml::setup::{Blend, blend, ps_blend};
///
/// assert!(ps_blend(&blend(Blend::Alpha)).color_buffer_blend_enable);
/// ```
pub const fn ps_blend(state: &BlendState) -> ThreeDStatePsBlend {
    let first = &state.entry[0];
    ThreeDStatePsBlend {
        has_writeable_rt: true,
        independent_alpha_blend_enable: state.independent_alpha_blend_enable,
        alpha_test_enable: state.alpha_test_enable,
        alpha_to_coverage_enable: state.alpha_to_coverage_enable,
        color_buffer_blend_enable: first.color_buffer_blend_enable,
        source_blend_factor: first.source_blend_factor,
        destination_blend_factor: first.destination_blend_factor,
        source_alpha_blend_factor: first.source_alpha_blend_factor,
        destination_alpha_blend_factor: first.destination_alpha_blend_factor,
    }
}
