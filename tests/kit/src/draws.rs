//! A long batch of 3D state as a driver emits it. Each draw has the state of the stages, vertex
//! fetch, constants, pointers and flushes. Values are plain and obey the rules. Values that differ
//! from draw to draw in real batches (addresses, offsets, counts) differ here too. The memory at
//! the addresses does not exist.

use genxml::batch::{Batch, BatchError};
use genxml::core::address::{DynamicState, Space};
use genxml::core::{Address, S, U, lit};
use genxml::engine::Render;
use genxml::gen8::enums::*;
use genxml::gen8::mi::*;
use genxml::gen8::render3d_binding::*;
use genxml::gen8::render3d_constants::*;
use genxml::gen8::render3d_fetch::*;
use genxml::gen8::render3d_pixel::*;
use genxml::gen8::render3d_raster::*;
use genxml::gen8::render3d_stages::*;
use genxml::gen8::state::*;
use genxml::packet;
use genxml::pipeline::ThreeD;

/// Address of the batch.
pub const ADDRESS: u64 = 0x10_0000;

/// Bytes reserved for one draw.
const DRAW: usize = 4096;

/// A batch of at least `bytes` bytes that ends with a complete draw, without MI_BATCH_BUFFER_END.
///
/// # Panics
/// If there is no room for the batch.
pub fn batch(bytes: usize) -> Vec<u32> {
    try_batch(bytes).expect("values that fit, and room")
}

fn try_batch(bytes: usize) -> Result<Vec<u32>, BatchError> {
    let mut batch = Batch::<Render>::new("draws", ADDRESS, bytes + DRAW)?.assume::<ThreeD>();
    batch.emit(&StateBaseAddress {
        general_state_base_address_modify_enable: true,
        surface_state_base_address: at(0x1_0000_0000),
        surface_state_base_address_modify_enable: true,
        dynamic_state_base_address: at(0x2_0000_0000),
        dynamic_state_base_address_modify_enable: true,
        dynamic_state_buffer_size: lit!(0xfffff),
        dynamic_state_buffer_size_modify_enable: true,
        indirect_object_base_address_modify_enable: true,
        instruction_base_address: at(0x3_0000_0000),
        instruction_base_address_modify_enable: true,
        instruction_buffer_size: lit!(0xfffff),
        instruction_buffer_size_modify_enable: true,
        ..StateBaseAddress::new()
    })?;
    let mut number = 0;
    while batch.dwords().len() * 4 < bytes {
        fetch(&mut batch, number)?;
        geometry(&mut batch, number)?;
        pixels(&mut batch, number)?;
        draw(&mut batch, number)?;
        number += 1;
    }
    Ok(batch.dwords().to_vec())
}

/// An address that must be aligned and must fit its field.
fn at<S: Space, const ALIGN: u64, const BITS: u32>(value: u64) -> Address<S, ALIGN, BITS> {
    Address::new(value).expect("an address that is aligned and fits")
}

fn count(value: u64) -> U<32> {
    U::new(value).expect("a number of 32 bits")
}

/// An address for the state of a draw. It cycles through 1 MiB.
fn dynamic<const ALIGN: u64>(number: u64, place: u64) -> Address<DynamicState, ALIGN, 32> {
    at((0x800 * number + 0x100 * place) % (1 << 20))
}

fn fetch(batch: &mut Batch<Render, ThreeD>, number: u64) -> Result<(), BatchError> {
    use ThreeDVertexComponentControl as Component;
    let buffers = [0, 1].map(|buffer| VertexBufferState {
        buffer_pitch: if buffer == 0 { lit!(32) } else { lit!(16) },
        address_modify_enable: true,
        vertex_buffer_index: if buffer == 0 { lit!(0) } else { lit!(1) },
        buffer_starting_address: at(0x4_0000_0000 + 0x1_0000 * number + 0x8000 * buffer),
        buffer_size: count(0x3000 + 96 * (number % 100)),
        ..VertexBufferState::new()
    });
    batch.emit(&ThreeDStateVertexBuffers { vertex_buffer_state: (&buffers).into() })?;
    let element = packet! {
        VertexElementState {
            valid: true,
            source_element_format: SurfaceFormat::R32G32B32_FLOAT,
            component_0_control: Component::VFCOMP_STORE_SRC,
            component_1_control: Component::VFCOMP_STORE_SRC,
            component_2_control: Component::VFCOMP_STORE_SRC,
            component_3_control: Component::VFCOMP_STORE_1_FP,
            ..
        }
    };
    let elements = [
        element,
        VertexElementState { source_element_offset: lit!(12), ..element },
        VertexElementState {
            source_element_format: SurfaceFormat::R32G32_FLOAT,
            vertex_buffer_index: lit!(1),
            component_2_control: Component::VFCOMP_STORE_0,
            ..element
        },
    ];
    batch.emit(&ThreeDStateVertexElements { element: (&elements).into() })?;
    batch.emit(&ThreeDStateVfTopology {
        primitive_topology_type: ThreeDPrimTopoType::_3DPRIM_TRILIST,
    })?;
    batch.emit(&ThreeDStateIndexBuffer {
        index_format: ThreeDStateIndexBufferIndexFormat::WORD,
        buffer_starting_address: at(0x5_0000_0000 + 0x2000 * number),
        buffer_size: count(0x600 + 6 * (number % 50)),
        ..ThreeDStateIndexBuffer::new()
    })?;
    Ok(())
}

fn geometry(batch: &mut Batch<Render, ThreeD>, number: u64) -> Result<(), BatchError> {
    batch.emit(&packet! {
        ThreeDStateUrbVs {
            vs_urb_starting_address: 4,
            vs_urb_entry_allocation_size: 2,
            vs_number_of_urb_entries: 640,
            ..
        }
    })?;
    batch.emit(&packet! { ThreeDStateUrbHs { hs_urb_starting_address: 45, .. } })?;
    batch.emit(&packet! { ThreeDStateUrbDs { ds_urb_starting_address: 45, .. } })?;
    batch.emit(&packet! { ThreeDStateUrbGs { gs_urb_starting_address: 45, .. } })?;
    batch.emit(&ThreeDStateVs {
        kernel_start_pointer: at(0x1_0000 + 0x400 * (number % 64)),
        sampler_count: SamplerCount::_1_4_SAMPLERS,
        binding_table_entry_count: lit!(3),
        dispatch_grf_start_register_for_urb_data: lit!(1),
        vertex_urb_entry_read_length: lit!(2),
        maximum_number_of_threads: lit!(504),
        statistics_enable: true,
        simd8_dispatch_enable: true,
        function_enable: true,
        vertex_urb_entry_output_read_offset: lit!(1),
        vertex_urb_entry_output_length: lit!(2),
        ..ThreeDStateVs::new()
    })?;
    batch.emit(&ThreeDStateConstantVs {
        constant_body: constants(number, 0),
        ..ThreeDStateConstantVs::new()
    })?;
    batch.emit(&ThreeDStateBindingTablePointersVs {
        pointer_to_vs_binding_table: at(0x40 * (number % 1000)),
    })?;
    batch.emit(&ThreeDStateSamplerStatePointersVs {
        pointer_to_vs_sampler_state: dynamic(number, 1),
    })?;
    batch.emit(&ThreeDStateViewportStatePointersCc { cc_viewport_pointer: dynamic(number, 2) })?;
    batch.emit(&ThreeDStateViewportStatePointersSfClip {
        sf_clip_viewport_pointer: dynamic(number, 3),
    })?;
    batch.emit(&packet! {
        ThreeDStateClip {
            clipper_statistics_enable: true,
            early_cull_enable: true,
            clip_enable: true,
            guardband_clip_test_enable: true,
            viewport_xy_clip_test_enable: true,
            triangle_fan_provoking_vertex_select: ProvokingVertex::_2,
            line_strip_list_provoking_vertex_select: ProvokingVertex::_1,
            triangle_strip_list_provoking_vertex_select: ProvokingVertex::_2,
            minimum_point_width: 0.125,
            maximum_point_width: 255.875,
            ..
        }
    })?;
    batch.emit(&packet! {
        ThreeDStateSf {
            statistics_enable: true,
            viewport_transform_enable: true,
            legacy_global_depth_bias_enable: true,
            line_width: 1.0,
            point_width: 1.0,
            last_pixel_enable: true,
            ..
        }
    })?;
    batch.emit(&ThreeDStateRaster {
        front_winding: ThreeDStateRasterFrontWinding::COUNTER_CLOCKWISE,
        cull_mode: if number.is_multiple_of(3) {
            ThreeDStateRasterCullMode::CULLMODE_NONE
        } else {
            ThreeDStateRasterCullMode::CULLMODE_BACK
        },
        viewport_z_clip_test_enable: true,
        scissor_rectangle_enable: true,
        global_depth_offset_enable_solid: true,
        global_depth_offset_constant: 2.0 + number as f32 / 8.0,
        global_depth_offset_scale: 1.5,
        ..ThreeDStateRaster::new()
    })?;
    Ok(())
}

fn constants(number: u64, stage: u64) -> ThreeDStateConstantBody {
    packet! {
        ThreeDStateConstantBody {
            constant_buffer_2_read_length: 2,
            constant_buffer_3_read_length: 4,
            pointer_to_constant_buffer_2: at(0x6_0000_0000 + 0x800 * number + 0x400 * stage),
            pointer_to_constant_buffer_3: at(0x6_0000_0040 + 0x800 * number + 0x400 * stage),
            ..
        }
    }
}

fn pixels(batch: &mut Batch<Render, ThreeD>, number: u64) -> Result<(), BatchError> {
    batch.emit(&packet! {
        ThreeDStateSbe {
            force_vertex_urb_entry_read_offset: true,
            vertex_urb_entry_read_offset: 1,
            force_vertex_urb_entry_read_length: true,
            vertex_urb_entry_read_length: 1,
            attribute_swizzle_enable: true,
            number_of_sf_output_attributes: 2,
            point_sprite_texture_coordinate_enable: 2,
            constant_interpolation_enable: 1,
            ..
        }
    })?;
    let mut attribute = [SfOutputAttributeDetail::new(); 16];
    attribute[1] = packet! {
        SfOutputAttributeDetail {
            source_attribute: 1,
            swizzle_select: SfOutputAttributeDetailSwizzleSelect::INPUTATTR_FACING,
            component_override_w: true,
            constant_source: SfOutputAttributeDetailConstantSource::CONST_0001_FLOAT,
            ..
        }
    };
    batch.emit(&ThreeDStateSbeSwiz { attribute, ..ThreeDStateSbeSwiz::new() })?;
    batch.emit(&packet! {
        ThreeDStateWm {
            statistics_enable: true,
            line_antialiasing_region_width: RegionWidth::_1_0_PIXELS,
            line_end_cap_antialiasing_region_width: RegionWidth::_0_5_PIXELS,
            barycentric_interpolation_mode: 1,
            ..
        }
    })?;
    batch.emit(&ThreeDStatePs {
        kernel_start_pointer_0: at(0x8_0000 + 0x400 * (number % 64)),
        kernel_start_pointer_2: at(0x8_0200 + 0x400 * (number % 64)),
        sampler_count: SamplerCount::_1_4_SAMPLERS,
        vector_mask_enable: VectorMaskEnable::VMASK,
        binding_table_entry_count: lit!(4),
        maximum_number_of_threads_per_psd: lit!(62),
        push_constant_enable: true,
        _8_pixel_dispatch_enable: true,
        _16_pixel_dispatch_enable: true,
        dispatch_grf_start_register_for_constant_setup_data_0: lit!(4),
        dispatch_grf_start_register_for_constant_setup_data_2: lit!(6),
        ..ThreeDStatePs::new()
    })?;
    batch.emit(&ThreeDStatePsExtra {
        pixel_shader_valid: true,
        attribute_enable: true,
        ..ThreeDStatePsExtra::new()
    })?;
    batch.emit(&ThreeDStatePsBlend {
        has_writeable_rt: true,
        color_buffer_blend_enable: true,
        source_blend_factor: ThreeDColorBufferBlendFactor::BLENDFACTOR_SRC_ALPHA,
        destination_blend_factor: ThreeDColorBufferBlendFactor::BLENDFACTOR_INV_SRC_ALPHA,
        source_alpha_blend_factor: ThreeDColorBufferBlendFactor::BLENDFACTOR_ONE,
        destination_alpha_blend_factor: ThreeDColorBufferBlendFactor::BLENDFACTOR_ZERO,
        ..ThreeDStatePsBlend::new()
    })?;
    batch.emit(&ThreeDStateConstantPs {
        constant_body: constants(number, 1),
        ..ThreeDStateConstantPs::new()
    })?;
    batch.emit(&ThreeDStateBindingTablePointersPs {
        pointer_to_ps_binding_table: at(0x40 * (number % 1000) + 0x20),
    })?;
    batch.emit(&ThreeDStateSamplerStatePointersPs {
        pointer_to_ps_sampler_state: dynamic(number, 4),
    })?;
    batch.emit(&ThreeDStateBlendStatePointers {
        blend_state_pointer_valid: true,
        blend_state_pointer: dynamic(number, 5),
    })?;
    batch.emit(&ThreeDStateCcStatePointers {
        color_calc_state_pointer_valid: true,
        color_calc_state_pointer: dynamic(number, 6),
    })?;
    batch.emit(&ThreeDStateScissorStatePointers { scissor_rect_pointer: dynamic(number, 7) })?;
    Ok(())
}

fn draw(batch: &mut Batch<Render, ThreeD>, number: u64) -> Result<(), BatchError> {
    batch.emit(&PipeControl {
        command_streamer_stall_enable: true,
        stall_at_pixel_scoreboard: true,
        texture_cache_invalidation_enable: true,
        constant_cache_invalidation_enable: true,
        ..PipeControl::new()
    })?;
    batch.emit(&MiStoreRegisterMem {
        register_address: at(0x2310),
        memory_address: at(0x7_0000_0000 + 8 * number),
        ..MiStoreRegisterMem::new()
    })?;
    let pairs = [
        MiLoadRegisterImmRegister { register_offset: at(0x2600), data_dword: lit!(0) },
        MiLoadRegisterImmRegister { register_offset: at(0x2604), data_dword: count(number) },
    ];
    batch.emit(&MiLoadRegisterImm { register: (&pairs).into(), ..Default::default() })?;
    batch.emit(&ThreeDPrimitive {
        primitive_topology_type: ThreeDPrimTopoType::_3DPRIM_TRILIST,
        vertex_access_type: ThreeDPrimitiveVertexAccessType::RANDOM,
        vertex_count_per_instance: count(3 * (number % 400 + 1)),
        start_vertex_location: count(12 * (number % 7)),
        instance_count: lit!(1),
        base_vertex_location: S::new(number as i64 % 90 - 45).expect("a small number"),
        ..ThreeDPrimitive::new()
    })?;
    let values = [count(number)];
    batch.emit(&MiStoreDataImm {
        data_dword: (&values).into(),
        ..MiStoreDataImm::new(at(0x7_1000_0000 + 4 * number))
    })?;
    batch.emit(&MiNoop::default())?;
    Ok(())
}
