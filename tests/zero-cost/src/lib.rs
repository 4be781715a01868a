//! Functions whose machine code `tests/zero_cost.rs` reads. The test compiles this file optimised,
//! whatever the profile of the test, so every build checks that typed packing has no cost.
//!
//! `literal_*` pack constants, `values_*` pack structs in memory, and `convert_*` pack numbers that
//! are known only at run time.

use genxml::core::{Address, MinusOne, OutOfRange, S, SFix, U, UFix};
use genxml::gen8::blitter::{BlitColorDepth, BlitRasterOperation, XyColorBlt, XySrcCopyBlt};
use genxml::gen8::enums::{ThreeDCompareFunction, ThreeDPrimTopoType};
use genxml::gen8::media::{GpgpuWalker, MediaInterfaceDescriptorLoad, MediaVfeState};
use genxml::gen8::mi::{MiStoreRegisterMem, PipeControl};
use genxml::gen8::render3d_depth::{ThreeDStateDepthBuffer, ThreeDStateWmDepthStencil};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVertexElements, VertexBufferState, VertexElementState,
};
use genxml::gen8::render3d_pixel::{BlendState, ThreeDStatePs, ThreeDStatePsBlend};
use genxml::gen8::render3d_raster::{
    ThreeDStateClip, ThreeDStateRaster, ThreeDStateSbe, ThreeDStateSf,
};
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::{
    InterfaceDescriptorData, RenderSurfaceState, SamplerState, StateBaseAddress, SurfaceFormat,
    SurfaceType,
};
use genxml::packet;

macro_rules! literals {
    ($($name:ident $type:ident { $($fields:tt)* })*) => {$(
        #[doc = concat!("Packs a `", stringify!($type), "` of constants.")]
        #[inline(never)]
        pub fn $name(out: &mut [u32; $type::DWORDS]) {
            *out = packet! { $type { $($fields)*, .. } }.pack();
        }
    )*};
}

literals! {
    literal_pipe_control PipeControl { command_streamer_stall_enable: true, render_target_cache_flush_enable: true }
    literal_vs ThreeDStateVs {
        kernel_start_pointer: 0x1000,
        maximum_number_of_threads: 504,
        binding_table_entry_count: 3,
        dispatch_grf_start_register_for_urb_data: 1,
        vertex_urb_entry_read_length: 2,
        function_enable: true
    }
    literal_ps ThreeDStatePs {
        kernel_start_pointer_0: 0x2000,
        maximum_number_of_threads_per_psd: 62,
        _8_pixel_dispatch_enable: true,
        push_constant_enable: true
    }
    literal_sbe ThreeDStateSbe { number_of_sf_output_attributes: 2, vertex_urb_entry_read_length: 1 }
    literal_surface RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8G8B8A8_UNORM,
        surface_pitch: 1024,
        surface_base_address: 0x10_0000
    }
    literal_sampler SamplerState { max_lod: 13.5, texture_lod_bias: -0.5 }
    literal_primitive ThreeDPrimitive {
        primitive_topology_type: ThreeDPrimTopoType::_3DPRIM_TRILIST,
        vertex_count_per_instance: 3,
        instance_count: 1,
        base_vertex_location: -1
    }
    literal_raster ThreeDStateRaster { global_depth_offset_scale: 1.5, scissor_rectangle_enable: true }
    literal_sf ThreeDStateSf { line_width: 1.0, point_width: 1.0 }
    literal_depth_stencil ThreeDStateWmDepthStencil {
        depth_test_enable: true,
        depth_test_function: ThreeDCompareFunction::COMPAREFUNCTION_LESS
    }
    literal_color_blt XyColorBlt {
        color_depth: BlitColorDepth::_32BPP,
        raster_operation: BlitRasterOperation::PATTERN_COPY,
        destination_pitch: 1024,
        destination_x2_coordinate_right: 64,
        destination_y2_coordinate_bottom: 64,
        destination_base_address: 0x10_0000,
        solid_pattern_color: 0xff_0000
    }
    literal_vfe MediaVfeState { maximum_number_of_threads: 168, scoreboard_0_delta_x: -1, scratch_space_base_pointer: 0x400 }
}

macro_rules! values {
    ($($name:ident $type:ident)*) => {$(
        #[doc = concat!("Packs a `", stringify!($type), "` from memory.")]
        #[inline(never)]
        pub fn $name(packet: &$type, out: &mut [u32; $type::DWORDS]) {
            *out = packet.pack();
        }
    )*};
}

values! {
    values_pipe_control PipeControl
    values_vs ThreeDStateVs
    values_ps ThreeDStatePs
    values_sbe ThreeDStateSbe
    values_surface RenderSurfaceState
    values_sampler SamplerState
    values_blend BlendState
    values_ps_blend ThreeDStatePsBlend
    values_primitive ThreeDPrimitive
    values_raster ThreeDStateRaster
    values_clip ThreeDStateClip
    values_sf ThreeDStateSf
    values_depth_buffer ThreeDStateDepthBuffer
    values_depth_stencil ThreeDStateWmDepthStencil
    values_vertex_buffer VertexBufferState
    values_state_base_address StateBaseAddress
    values_interface_descriptor InterfaceDescriptorData
    values_descriptor_load MediaInterfaceDescriptorLoad
    values_vfe MediaVfeState
    values_walker GpgpuWalker
    values_color_blt XyColorBlt
    values_copy_blt XySrcCopyBlt
    values_store_register MiStoreRegisterMem
}

/// Packs a `ThreeDStateVertexElements` with four elements from memory.
#[inline(never)]
pub fn values_vertex_elements(elements: &[VertexElementState; 4], out: &mut [u32; 9]) {
    let _ = ThreeDStateVertexElements { element: elements.into() }.pack_into(out);
}

/// Packs a surface whose size is known at run time: five conversions.
///
/// # Errors
/// The first value that does not fit its field.
#[inline(never)]
pub fn convert_surface(
    [width, height, pitch, levels]: [u32; 4],
    address: u64,
    out: &mut [u32; 16],
) -> Result<(), OutOfRange> {
    use genxml::gen8::state::RenderSurfaceStateExtent;
    let extent = RenderSurfaceStateExtent::Image {
        width: MinusOne::try_from(width)?,
        height: MinusOne::try_from(height)?,
        depth: MinusOne::ONE,
    };
    *out = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8G8B8A8_UNORM,
        surface_pitch: MinusOne::try_from(pitch)?,
        mip_count_lod: U::try_from(levels)?,
        surface_base_address: Address::try_from(address)?,
        extent,
        ..RenderSurfaceState::new()
    }
    .pack();
    Ok(())
}

/// Packs a sampler whose levels of detail are known at run time: three conversions of floats.
/// Returns false if a number does not fit its field.
#[inline(never)]
pub fn convert_sampler([least, most, bias]: [f64; 3], out: &mut [u32; 4]) -> bool {
    let (Ok(min_lod), Ok(max_lod), Ok(texture_lod_bias)) =
        (UFix::try_from(least), UFix::try_from(most), SFix::try_from(bias))
    else {
        return false;
    };
    *out = SamplerState { min_lod, max_lod, texture_lod_bias, ..SamplerState::new() }.pack();
    true
}

/// Packs a draw whose counts are known at run time. Fields of 32 bits accept every `u32`, so no
/// check remains.
#[inline(never)]
pub fn convert_primitive([count, start, instances]: [u32; 3], base: i32, out: &mut [u32; 7]) {
    *out = ThreeDPrimitive {
        vertex_count_per_instance: U::try_from(count).unwrap_or_default(),
        start_vertex_location: U::try_from(start).unwrap_or_default(),
        instance_count: U::try_from(instances).unwrap_or_default(),
        base_vertex_location: S::try_from(base).unwrap_or_default(),
        ..ThreeDPrimitive::new()
    }
    .pack();
}
