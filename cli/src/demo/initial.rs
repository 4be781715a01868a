//! Parts that all draws of this folder use: addresses, the picture, and the initial state of the 3D
//! pipeline.
//!
//! A context keeps the newest packet of each kind, so state of an earlier batch stays in force. A
//! driver therefore emits the whole state once ([`begin`]), also for disabled stages. After that, a
//! draw emits only the packets that differ.

use genxml::batch;
use genxml::batch::{Batch, BatchError, Buffer, Heap, Submission};
use genxml::core::address::{DynamicState, Graphics, Instruction as Instructions, SurfaceState};
use genxml::core::{Address, lit};
use genxml::engine::Render;
use genxml::gen8::enums::ThreeDVertexComponentControl as Component;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_constants::*;
use genxml::gen8::render3d_depth::*;
use genxml::gen8::render3d_fetch::*;
use genxml::gen8::render3d_pixel::*;
use genxml::gen8::render3d_raster::*;
use genxml::gen8::render3d_stages::*;
use genxml::gen8::state::*;
use genxml::packet;
use genxml::pipeline::ThreeD;
use std::error::Error;

const PIXEL_BYTES: u32 = 4;

/// Address of the picture in the context's address space.
pub const TARGET: u64 = 0x100_0000;
/// Start address of the other buffers of a draw: vertices, textures and so on.
pub const BUFFERS: u64 = 0x200_0000;
const BATCH: u64 = 0x10_0000;
const SURFACES: u64 = 0x20_0000;
const INSTRUCTIONS: u64 = 0x30_0000;
const DYNAMIC: u64 = 0x40_0000;
const PAGE: usize = 4096;

/// A batch for the 3D pipeline of the render engine.
pub type Draws = Batch<Render, ThreeD>;

/// The three heaps of the state that packets point to. Pointers are short, because they are offsets
/// from the base of their heap.
pub struct Heaps {
    /// Surfaces, and the binding tables that give them numbers for a kernel.
    pub surfaces: Heap<SurfaceState>,
    /// State that draws often change: viewports, blending, samplers, constants.
    pub dynamic: Heap<DynamicState>,
    /// Kernels.
    pub instructions: Heap<Instructions>,
}

/// A buffer of `bytes` at `address`, rounded up to pages.
///
/// # Errors
/// If it does not fit the address space.
pub fn buffer(name: &str, address: u64, bytes: &[u8]) -> Result<Buffer, BatchError> {
    let mut buffer = Buffer::new(name, address, bytes.len().next_multiple_of(PAGE))?;
    buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    Ok(buffer)
}

/// The bytes of vertices, which consist of floats.
pub fn floats<const N: usize>(rows: &[[f32; N]]) -> Vec<u8> {
    rows.as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The picture: `size` x `size` pixels of one colour. (A driver would clear it with the GPU.)
///
/// # Errors
/// None in practice.
fn picture(size: u32, color: [u8; 4]) -> Result<Buffer, BatchError> {
    buffer("picture", TARGET, &color.repeat((size * size) as usize))
}

/// A picture as `picture` makes it, and the surface with which a draw writes it.
///
/// # Errors
/// None in practice.
pub fn target(
    heaps: &mut Heaps,
    size: u32,
    color: [u8; 4],
) -> Result<(Buffer, Address<SurfaceState, 64, 32>), BatchError> {
    let picture = picture(size, color)?;
    let surface = image(heaps.surfaces.writes(&picture, 0)?, size, 1)?;
    Ok((picture, heaps.surfaces.put(&surface)?))
}

/// The surface state of a square image: `size` x `size` pixels of four bytes (red, green, blue,
/// alpha), with `levels` mip levels.
///
/// # Errors
/// If a number does not fit its field.
pub fn image(
    address: Address<Graphics, 1, 64>,
    size: u32,
    levels: usize,
) -> Result<RenderSurfaceState, BatchError> {
    Ok(packet! {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: SurfaceFormat::R8G8B8A8_UNORM,
            tile_mode: TileMode::LINEAR,
            extent: RenderSurfaceStateExtent::Image { width: size?, height: size?, depth: 1 },
            surface_horizontal_alignment: RenderSurfaceStateSurfaceHorizontalAlignment::HALIGN_4,
            surface_vertical_alignment: RenderSurfaceStateSurfaceVerticalAlignment::VALIGN_4,
            surface_pitch: (size * PIXEL_BYTES)?,
            mip_count_lod: (levels - 1)?,
            surface_base_address: address,
            shader_channel_select_red: ShaderChannelSelect::RED,
            shader_channel_select_green: ShaderChannelSelect::GREEN,
            shader_channel_select_blue: ShaderChannelSelect::BLUE,
            shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
            ..
        }
    })
}

/// A vertex element: `components` values of `format` from byte `offset` of the vertex on. Missing
/// components are 0; a missing fourth component is 1.
///
/// # Errors
/// If the offset does not fit its field.
pub fn element(
    format: SurfaceFormat,
    components: usize,
    offset: usize,
) -> Result<VertexElementState, BatchError> {
    let control = |component| match component {
        _ if component < components => Component::VFCOMP_STORE_SRC,
        3 => Component::VFCOMP_STORE_1_FP,
        _ => Component::VFCOMP_STORE_0,
    };
    Ok(packet! {
        VertexElementState {
            valid: true,
            source_element_format: format,
            source_element_offset: offset?,
            component_0_control: control(0),
            component_1_control: control(1),
            component_2_control: control(2),
            component_3_control: control(3),
            ..
        }
    })
}

/// Emits the address of the vertices, their size `pitch` in bytes, and their elements.
///
/// # Errors
/// If the batch is full.
pub fn vertices(
    batch: &mut Draws,
    buffer: &Buffer,
    pitch: usize,
    elements: &[VertexElementState],
) -> Result<(), BatchError> {
    let buffers = [packet! {
        VertexBufferState {
            buffer_pitch: pitch?,
            address_modify_enable: true,
            buffer_starting_address: batch.reads(buffer, 0)?,
            buffer_size: (buffer.bytes().len())?,
            ..
        }
    }];
    batch! { batch =>
        ThreeDStateVertexBuffers { vertex_buffer_state: (&buffers).into() };
        ThreeDStateVertexElements { element: elements.into() };
        // No element stays the same for all vertices of an instance.
        for element in 0..elements.len() {
            ThreeDStateVfInstancing { vertex_element_index: element?, .. };
        }
        ThreeDStateVfStatistics { statistics_enable: true };
        ThreeDStateVf::new(); // no index cuts a strip
        ThreeDStateVfSgvs::new(); // shaders do not use the numbers of vertices and instances
    }
}

/// Emits the vertex shader, for eight vertices at a time. Registers from r2 on have the constants,
/// then `pairs` pairs of vertex elements. Its output is the header, the position, and one
/// attribute.
///
/// # Errors
/// If the batch is full.
pub fn vertex_shader(
    batch: &mut Draws,
    kernel: Address<Instructions, 64, 64>,
    pairs: usize,
) -> Result<(), BatchError> {
    batch! { batch =>
        ThreeDStateVs {
            function_enable: true,
            statistics_enable: true,
            kernel_start_pointer: kernel,
            simd8_dispatch_enable: true,
            maximum_number_of_threads: 64,
            dispatch_grf_start_register_for_urb_data: 2,
            vertex_urb_entry_read_length: pairs?,
            vertex_urb_entry_output_read_offset: 1, // header and position are the first pair
            vertex_urb_entry_output_length: 1,
            ..
        };
    }
}

/// Emits the setup for one attribute of the pixel shader, interpolated with perspective. In the
/// vertex it follows header and position.
///
/// # Errors
/// If the batch is full.
pub fn one_attribute(batch: &mut Draws) -> Result<(), BatchError> {
    batch! { batch =>
        ThreeDStateSbe {
            number_of_sf_output_attributes: 1,
            force_vertex_urb_entry_read_offset: true,
            vertex_urb_entry_read_offset: 1, // in pairs of slots
            force_vertex_urb_entry_read_length: true,
            vertex_urb_entry_read_length: 1,
            ..
        };
        ThreeDStateWm { barycentric_interpolation_mode: 1, statistics_enable: true, .. };
        ThreeDStatePsExtra { pixel_shader_valid: true, attribute_enable: true, .. };
    }
}

impl Heaps {
    /// Empty heaps.
    ///
    /// # Errors
    /// None in practice.
    pub fn new() -> Result<Heaps, BatchError> {
        Ok(Heaps {
            surfaces: Heap::new("surface state", SURFACES, PAGE)?,
            dynamic: Heap::new("dynamic state", DYNAMIC, PAGE)?,
            instructions: Heap::new("instructions", INSTRUCTIONS, PAGE)?,
        })
    }

    /// The batch with all buffers that it needs, ready for the kernel driver or the model.
    ///
    /// # Errors
    /// If the batch is full.
    pub fn submit<const N: usize>(
        self,
        mut batch: Draws,
        buffers: [Buffer; N],
    ) -> Result<Submission, Box<dyn Error>> {
        // Flush the caches that hold the pixels to memory, and wait for the flush.
        batch.emit(&PipeControl {
            render_target_cache_flush_enable: true,
            depth_cache_flush_enable: true,
            command_streamer_stall_enable: true,
            ..PipeControl::new()
        })?;
        let heaps = [self.surfaces.finish(), self.dynamic.finish(), self.instructions.finish()];
        Ok(batch.finish()?.submit(heaps.into_iter().chain(buffers))?)
    }
}

/// A new batch that selects the 3D pipeline and emits the whole state once: no shaders, no depth
/// test, one sample, no blending, a viewport of `size` x `size` pixels. The point -1, -1 of clip
/// space is the lower left corner of the viewport.
///
/// # Errors
/// None in practice.
pub fn begin(heaps: &mut Heaps, size: u32) -> Result<Draws, BatchError> {
    let mut batch = Batch::<Render>::new("batch", BATCH, PAGE)?.select_3d()?;
    batch.emit(&StateBaseAddress {
        surface_state_base_address_modify_enable: true,
        surface_state_base_address: batch.reads(&heaps.surfaces, 0)?,
        dynamic_state_base_address_modify_enable: true,
        dynamic_state_base_address: batch.reads(&heaps.dynamic, 0)?,
        dynamic_state_buffer_size_modify_enable: true,
        dynamic_state_buffer_size: lit!(1), // pages
        instruction_base_address_modify_enable: true,
        instruction_base_address: batch.reads(&heaps.instructions, 0)?,
        instruction_buffer_size_modify_enable: true,
        instruction_buffer_size: lit!(1),
        ..StateBaseAddress::new()
    })?;
    stages(&mut batch)?;
    viewport(&mut batch, heaps, size)?;
    pixels(&mut batch, heaps)?;
    Ok(batch)
}

/// Divides the URB, which stores the data between stages, among the stages. Then disables all
/// stages.
fn stages(batch: &mut Draws) -> Result<(), BatchError> {
    batch! { batch =>
        // The first 32 KiB are for push constants. Here vertex and pixel shaders share them.
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
fn viewport(batch: &mut Draws, heaps: &mut Heaps, size: u32) -> Result<(), BatchError> {
    let (half, last) = (size as f32 / 2.0, size as f32 - 1.0);
    let viewport = SfClipViewport {
        // x from -1 to 1 goes from left to right, y from bottom to top; z is unchanged.
        viewport_matrix_element_m00: half,
        viewport_matrix_element_m30: half,
        viewport_matrix_element_m11: -half,
        viewport_matrix_element_m31: half,
        viewport_matrix_element_m22: 1.0,
        viewport_matrix_element_m32: 0.0,
        // Clipping cuts triangles only outside of this area, which is 16 times the viewport.
        x_min_clip_guardband: -16.0,
        x_max_clip_guardband: 16.0,
        y_min_clip_guardband: -16.0,
        y_max_clip_guardband: 16.0,
        x_min_view_port: 0.0,
        x_max_view_port: last,
        y_min_view_port: 0.0,
        y_max_view_port: last,
    };
    let viewport = heaps.dynamic.put(&viewport)?;
    let depths = heaps.dynamic.put(&CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 })?;
    batch! { batch =>
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
        ThreeDStateSf { viewport_transform_enable: true, statistics_enable: true, point_width: 1, .. };
        ThreeDStateRaster { viewport_z_clip_test_enable: true, .. };
        // One sample in the centre of each pixel.
        ThreeDStateMultisample::new();
        ThreeDStateSampleMask { sample_mask: 1 };
        ThreeDStateDrawingRectangle {
            clipped_drawing_rectangle_x_max: (size - 1)?,
            clipped_drawing_rectangle_y_max: (size - 1)?,
            ..
        };
    }
}

/// Emits the state for pixels: they are not tested, and they replace the old pixels.
fn pixels(batch: &mut Draws, heaps: &mut Heaps) -> Result<(), BatchError> {
    let blend = heaps.dynamic.put(&BlendState::new())?;
    let constants = heaps.dynamic.put(&ColorCalcState::new())?;
    batch! { batch =>
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
        ThreeDStatePsBlend { has_writeable_rt: true, .. };
    }
}
