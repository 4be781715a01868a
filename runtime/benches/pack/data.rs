//! Values for the mix of packets: 3DSTATE_VS, 3DSTATE_PS, 3DSTATE_SBE, RENDER_SURFACE_STATE,
//! SAMPLER_STATE, BLEND_STATE with 8 entries, 3DPRIMITIVE, PIPE_CONTROL and
//! 3DSTATE_VERTEX_ELEMENTS with 4 elements; 84 dwords in total. The values vary. They are in
//! generated types, and converted to the structs of [`hand`](crate::hand).

use crate::hand;
use genxml::core::Fixed;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_fetch::{ThreeDPrimitive, VertexElementState};
use genxml::gen8::render3d_pixel::{BlendState, BlendStateEntry, ThreeDStatePs};
use genxml::gen8::render3d_raster::ThreeDStateSbe;
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateAuxiliary, RenderSurfaceStateExtent,
    RenderSurfaceStateView, SamplerState,
};
use genxml_testkit::Random;

/// Number of packets of each kind: few enough that they all stay in the first-level cache.
pub const COUNT: usize = 16;

/// [`COUNT`] values of a packet, read from random dwords, so that every field varies.
pub fn typed<T: Fixed>(seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..COUNT).map(|_| T::read_lossy(&random.dwords(32))).collect()
}

/// A struct of `hand` with the values of a generated struct.
macro_rules! same {
    ($type:ident, $from:expr, [$($flag:ident)*], [$($number:ident)*] $(, $field:ident: $value:expr)*) => {
        hand::$type {
            $($flag: $from.$flag,)*
            $($number: $from.$number.bits() as _,)*
            $($field: $value,)*
        }
    };
}

impl From<&ThreeDStateVs> for hand::Vs {
    fn from(from: &ThreeDStateVs) -> Self {
        same!(
            Vs,
            from,
            [
            software_exception_enable accesses_uav illegal_opcode_exception_enable function_enable
            vertex_cache_disable simd8_dispatch_enable statistics_enable
            ],
            [
            kernel_start_pointer floating_point_mode thread_dispatch_priority
            binding_table_entry_count sampler_count vector_mask_enable single_vertex_dispatch
            per_thread_scratch_space scratch_space_base_pointer vertex_urb_entry_read_offset
            vertex_urb_entry_read_length dispatch_grf_start_register_for_urb_data
            maximum_number_of_threads user_clip_distance_cull_test_enable_bitmask
            user_clip_distance_clip_test_enable_bitmask vertex_urb_entry_output_length
            vertex_urb_entry_output_read_offset
            ]
        )
    }
}

impl From<&ThreeDStatePs> for hand::Ps {
    fn from(from: &ThreeDStatePs) -> Self {
        same!(
            Ps,
            from,
            [
            software_exception_enable mask_stack_exception_enable illegal_opcode_exception_enable
            _8_pixel_dispatch_enable _16_pixel_dispatch_enable _32_pixel_dispatch_enable
            render_target_resolve_enable render_target_fast_clear_enable push_constant_enable
            ],
            [
            kernel_start_pointer_0 rounding_mode floating_point_mode thread_dispatch_priority
            binding_table_entry_count single_precision_denormal_mode sampler_count
            vector_mask_enable single_program_flow per_thread_scratch_space
            scratch_space_base_pointer position_xy_offset_select maximum_number_of_threads_per_psd
            dispatch_grf_start_register_for_constant_setup_data_2
            dispatch_grf_start_register_for_constant_setup_data_1
            dispatch_grf_start_register_for_constant_setup_data_0 kernel_start_pointer_1
            kernel_start_pointer_2
            ]
        )
    }
}

impl From<&ThreeDStateSbe> for hand::Sbe {
    fn from(from: &ThreeDStateSbe) -> Self {
        same!(
            Sbe,
            from,
            [
            primitive_id_override_component_x primitive_id_override_component_y
            primitive_id_override_component_z primitive_id_override_component_w
            attribute_swizzle_enable force_vertex_urb_entry_read_offset
            force_vertex_urb_entry_read_length
            ],
            [
            primitive_id_override_attribute_select vertex_urb_entry_read_offset
            vertex_urb_entry_read_length point_sprite_texture_coordinate_origin
            number_of_sf_output_attributes point_sprite_texture_coordinate_enable
            constant_interpolation_enable
            ]
        )
    }
}

impl From<&RenderSurfaceState> for hand::Surface {
    fn from(from: &RenderSurfaceState) -> Self {
        let overlapping = overlapping(from);
        same!(
            Surface,
            from,
            [
            cube_face_enable_positive_z cube_face_enable_negative_z cube_face_enable_positive_y
            cube_face_enable_negative_y cube_face_enable_positive_x cube_face_enable_negative_x
            sampler_l2_bypass_mode_disable surface_array
            ],
            [
            media_boundary_pixel_mode render_cache_read_write_mode vertical_line_stride_offset
            vertical_line_stride tile_mode surface_horizontal_alignment surface_vertical_alignment
            surface_format surface_type surface_qpitch base_mip_level surface_pitch mip_count_lod
            surface_min_lod coherency_type ewa_disable_for_cube y_offset x_offset resource_min_lod
            shader_channel_select_alpha shader_channel_select_blue shader_channel_select_green
            shader_channel_select_red alpha_clear_color blue_clear_color green_clear_color
            red_clear_color surface_base_address
            ],
            memory_object_control_state: from.memory_object_control_state.pack()[0],
            width: overlapping.width,
            height: overlapping.height,
            depth: overlapping.depth,
            multisample_position_palette_index: overlapping.multisample_position_palette_index,
            number_of_multisamples: overlapping.number_of_multisamples,
            multisampled_surface_storage_format: overlapping.multisampled_surface_storage_format,
            render_target_view_extent: overlapping.render_target_view_extent,
            minimum_array_element: overlapping.minimum_array_element,
            render_target_and_sample_unorm_rotation: overlapping.render_target_and_sample_unorm_rotation,
            y_offset_for_u_or_uv_plane: overlapping.y_offset_for_u_or_uv_plane,
            x_offset_for_u_or_uv_plane: overlapping.x_offset_for_u_or_uv_plane,
            separate_uv_plane_enable: overlapping.separate_uv_plane_enable,
            y_offset_for_v_plane: overlapping.y_offset_for_v_plane,
            x_offset_for_v_plane: overlapping.x_offset_for_v_plane,
            auxiliary_surface_mode: overlapping.auxiliary_surface_mode,
            auxiliary_surface_pitch: overlapping.auxiliary_surface_pitch,
            auxiliary_surface_qpitch: overlapping.auxiliary_surface_qpitch,
            auxiliary_surface_base_address: overlapping.auxiliary_surface_base_address
        )
    }
}

impl From<&SamplerState> for hand::Sampler {
    fn from(from: &SamplerState) -> Self {
        same!(
            Sampler,
            from,
            [
            sampler_disable chroma_key_enable non_normalized_coordinate_enable
            r_address_min_filter_rounding_enable r_address_mag_filter_rounding_enable
            v_address_min_filter_rounding_enable v_address_mag_filter_rounding_enable
            u_address_min_filter_rounding_enable u_address_mag_filter_rounding_enable
            ],
            [
            anisotropic_algorithm min_mode_filter mag_mode_filter mip_mode_filter base_mip_level
            lod_pre_clamp_mode texture_border_color_mode cube_surface_control_mode shadow_function
            chroma_key_mode chroma_key_index max_lod min_lod lod_clamp_magnification_mode
            indirect_state_pointer tcz_address_control_mode tcy_address_control_mode
            tcx_address_control_mode trilinear_filter_quality maximum_anisotropy
            ],
            // Sign-extended from 13 bits.
            texture_lod_bias: (from.texture_lod_bias.bits() as i32) << 19 >> 19
        )
    }
}

impl From<&BlendState> for hand::Blend {
    fn from(from: &BlendState) -> Self {
        same!(
            Blend,
            from,
            [
            color_dither_enable alpha_test_enable alpha_to_coverage_dither_enable
            alpha_to_one_enable independent_alpha_blend_enable alpha_to_coverage_enable
            ],
            [
            y_dither_offset x_dither_offset alpha_test_function
            ],
            entry: from.entry.each_ref().map(hand::BlendEntry::from)
        )
    }
}

impl From<&BlendStateEntry> for hand::BlendEntry {
    fn from(from: &BlendStateEntry) -> Self {
        same!(
            BlendEntry,
            from,
            [
            write_disable_blue write_disable_green write_disable_red write_disable_alpha
            color_buffer_blend_enable post_blend_color_clamp_enable pre_blend_color_clamp_enable
            pre_blend_source_only_clamp_enable logic_op_enable
            ],
            [
            alpha_blend_function destination_alpha_blend_factor source_alpha_blend_factor
            color_blend_function destination_blend_factor source_blend_factor color_clamp_range
            logic_op_function
            ]
        )
    }
}

impl From<&ThreeDPrimitive> for hand::Primitive {
    fn from(from: &ThreeDPrimitive) -> Self {
        same!(
            Primitive,
            from,
            [
            predicate_enable uav_coherency_required indirect_parameter_enable end_offset_enable
            ],
            [
            primitive_topology_type vertex_access_type vertex_count_per_instance
            start_vertex_location instance_count start_instance_location base_vertex_location
            ]
        )
    }
}

impl From<&PipeControl> for hand::Flush {
    fn from(from: &PipeControl) -> Self {
        same!(
            Flush,
            from,
            [
            depth_cache_flush_enable stall_at_pixel_scoreboard state_cache_invalidation_enable
            constant_cache_invalidation_enable vf_cache_invalidation_enable dc_flush_enable
            pipe_control_flush_enable notify_enable indirect_state_pointers_disable
            texture_cache_invalidation_enable instruction_cache_invalidate_enable
            render_target_cache_flush_enable depth_stall_enable generic_media_state_clear
            tlb_invalidate global_snapshot_count_reset command_streamer_stall_enable
            store_data_index
            ],
            [
            post_sync_operation lri_post_sync_operation destination_address_type
            address immediate_data
            ]
        )
    }
}

impl From<&VertexElementState> for hand::Element {
    fn from(from: &VertexElementState) -> Self {
        same!(
            Element,
            from,
            [
            edge_flag_enable valid
            ],
            [
            source_element_offset source_element_format vertex_buffer_index component_3_control
            component_2_control component_1_control component_0_control
            ]
        )
    }
}

/// Copies the fields that share bits. Those of alternatives that `from` does not hold are zero.
fn overlapping(from: &RenderSurfaceState) -> hand::Surface {
    let mut out = hand::Surface::default();
    match from.extent {
        RenderSurfaceStateExtent::Buffer { width, height, depth } => {
            (out.width, out.height, out.depth) =
                (width.bits() as _, height.bits() as _, depth.bits() as _);
        }
        RenderSurfaceStateExtent::Image { width, height, depth } => {
            (out.width, out.height, out.depth) =
                (width.bits() as _, height.bits() as _, depth.bits() as _);
        }
    }
    if let RenderSurfaceStateView::Image {
        multisample_position_palette_index,
        number_of_multisamples,
        multisampled_surface_storage_format,
        render_target_view_extent,
        minimum_array_element,
        render_target_and_sample_unorm_rotation,
    } = from.view
    {
        out.multisample_position_palette_index = multisample_position_palette_index.bits() as _;
        out.number_of_multisamples = number_of_multisamples.bits() as _;
        out.multisampled_surface_storage_format = multisampled_surface_storage_format.bits() as _;
        out.render_target_view_extent = render_target_view_extent.bits() as _;
        out.minimum_array_element = minimum_array_element.bits() as _;
        out.render_target_and_sample_unorm_rotation =
            render_target_and_sample_unorm_rotation.bits() as _;
    }
    match from.auxiliary {
        RenderSurfaceStateAuxiliary::Planar {
            y_offset_for_u_or_uv_plane,
            x_offset_for_u_or_uv_plane,
            separate_uv_plane_enable,
            y_offset_for_v_plane,
            x_offset_for_v_plane,
        } => {
            out.y_offset_for_u_or_uv_plane = y_offset_for_u_or_uv_plane.bits() as _;
            out.x_offset_for_u_or_uv_plane = x_offset_for_u_or_uv_plane.bits() as _;
            out.separate_uv_plane_enable = separate_uv_plane_enable;
            out.y_offset_for_v_plane = y_offset_for_v_plane.bits() as _;
            out.x_offset_for_v_plane = x_offset_for_v_plane.bits() as _;
        }
        RenderSurfaceStateAuxiliary::Surface {
            auxiliary_surface_mode,
            auxiliary_surface_pitch,
            auxiliary_surface_qpitch,
            auxiliary_surface_base_address,
        } => {
            out.auxiliary_surface_mode = auxiliary_surface_mode.bits() as _;
            out.auxiliary_surface_pitch = auxiliary_surface_pitch.bits() as _;
            out.auxiliary_surface_qpitch = auxiliary_surface_qpitch.bits() as _;
            out.auxiliary_surface_base_address = auxiliary_surface_base_address.bits();
        }
    }
    out
}
