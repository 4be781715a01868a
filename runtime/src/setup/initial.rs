//! The initial state of the 3D pipeline.
//!
//! A context keeps the newest packet of each kind, so state of an earlier batch stays in force. A
//! driver therefore emits the whole state once, also for disabled stages. After that, a draw emits
//! only the packets that differ.

use super::{Blend, Heaps, blend, ps_blend, viewport};
use crate::batch::{Batch, BatchError};
use crate::engine::Render;
use crate::gen8::mi::PipeControl;
use crate::gen8::render3d_constants::*;
use crate::gen8::render3d_depth::*;
use crate::gen8::render3d_pixel::*;
use crate::gen8::render3d_raster::*;
use crate::gen8::render3d_stages::*;
use crate::gen8::state::*;
use crate::pipeline::ThreeD;

/// Emits the bases of the heaps and the whole state of the 3D pipeline once: no shaders, no depth
/// test, one sample, no blending, a viewport of `width` x `height` pixels. The point -1, -1 of clip
/// space is the lower left corner of the viewport; z goes from 0 to 1.
///
/// # Errors
/// As [`Heaps::bases`], [`Heap::put`](crate::batch::Heap::put) and [`Batch::emit`];
/// [`BatchError::Field`] if the viewport is larger than 16384 x 16384 pixels.
pub fn initial(
    batch: &mut Batch<Render, ThreeD>,
    heaps: &mut Heaps,
    width: u32,
    height: u32,
) -> Result<(), BatchError> {
    batch.emit(&heaps.bases(batch)?)?;
    stages(batch)?;
    raster(batch, heaps, [width, height])?;
    pixels(batch, heaps)
}

/// Divides the URB, which stores the data between stages, among the stages. Then disables all
/// stages.
fn stages(batch: &mut Batch<Render, ThreeD>) -> Result<(), BatchError> {
    crate::batch! { batch =>
        // The first 32 KiB of the URB are for push constants: half for the vertex shader, half for
        // the pixel shader.
        ThreeDStatePushConstantAllocVs { constant_buffer_size: 16, .. };
        ThreeDStatePushConstantAllocHs::new();
        ThreeDStatePushConstantAllocDs::new();
        ThreeDStatePushConstantAllocGs::new();
        ThreeDStatePushConstantAllocPs { constant_buffer_offset: 16, constant_buffer_size: 16, .. };
        // A new division must wait for work that uses the old one.
        PipeControl { command_streamer_stall_enable: true, stall_at_pixel_scoreboard: true, .. };
        ThreeDStateConstantVs::new();
        ThreeDStateConstantHs::new();
        ThreeDStateConstantDs::new();
        ThreeDStateConstantGs::new();
        ThreeDStateConstantPs::new();
        // The URB entries of 64 vertices, 64 bytes each, follow the push constants. Starting
        // addresses are in units of 8 KiB. Other stages have no entries.
        ThreeDStateUrbVs {
            vs_urb_starting_address: 4,
            vs_urb_entry_allocation_size: 1,
            vs_number_of_urb_entries: 64,
        };
        ThreeDStateUrbHs { hs_urb_starting_address: 8, .. };
        ThreeDStateUrbDs { ds_urb_starting_address: 8, .. };
        ThreeDStateUrbGs { gs_urb_starting_address: 8, .. };
        ThreeDStateVs::new();
        ThreeDStateHs::new();
        ThreeDStateTe::new();
        ThreeDStateDs::new();
        ThreeDStateGs::new();
        ThreeDStateStreamout::new();
    }
}

/// Emits the transformation from clip space to pixels.
fn raster(
    batch: &mut Batch<Render, ThreeD>,
    heaps: &mut Heaps,
    [width, height]: [u32; 2],
) -> Result<(), BatchError> {
    let viewport = heaps.dynamic.put(&viewport([0.0, 0.0], [width as f32, height as f32]))?;
    let depths = heaps.dynamic.put(&CcViewport::new())?;
    crate::batch! { batch =>
        ThreeDStateViewportStatePointersSfClip { sf_clip_viewport_pointer: viewport };
        ThreeDStateViewportStatePointersCc { cc_viewport_pointer: depths };
        ThreeDStateClip {
            clip_enable: true,
            clipper_statistics_enable: true,
            api_mode: ThreeDStateClipApiMode::D3D, // z from 0 on
            viewport_xy_clip_test_enable: true,
            guardband_clip_test_enable: true,
            ..
        };
        ThreeDStateSf { viewport_transform_enable: true, statistics_enable: true, .. };
        ThreeDStateRaster { viewport_z_clip_test_enable: true, .. };
        // One sample in the centre of each pixel.
        ThreeDStateMultisample::new();
        ThreeDStateSampleMask { sample_mask: 1 };
        ThreeDStateDrawingRectangle {
            clipped_drawing_rectangle_x_max: (width.saturating_sub(1))?,
            clipped_drawing_rectangle_y_max: (height.saturating_sub(1))?,
            ..
        };
    }
}

/// Emits the state for pixels: they are not tested, and they replace the old pixels.
fn pixels(batch: &mut Batch<Render, ThreeD>, heaps: &mut Heaps) -> Result<(), BatchError> {
    let state = blend(Blend::Replace);
    let blend = heaps.dynamic.put(&state)?;
    let constants = heaps.dynamic.put(&ColorCalcState::new())?;
    crate::batch! { batch =>
        ThreeDStateWmDepthStencil::new();
        ThreeDStateDepthBuffer {
            surface_type: SurfaceType::SURFTYPE_NULL,
            surface_format: ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT,
            ..
        };
        ThreeDStateHierDepthBuffer::new();
        ThreeDStateStencilBuffer::new();
        ThreeDStateClearParams::new();
        ThreeDStateBlendStatePointers { blend_state_pointer_valid: true, blend_state_pointer: blend };
        ThreeDStateCcStatePointers {
            color_calc_state_pointer_valid: true,
            color_calc_state_pointer: constants,
        };
        ps_blend(&state);
    }
}
