//! The packets of the mix with hand-written packers: plain structs of numbers, shifts and ORs,
//! without checks. The benchmark compares generated packers with them. Only this file repeats bit
//! positions of the specification.
#![allow(missing_docs)]

#[derive(Clone, Copy, Default)]
pub struct Vs {
    pub kernel_start_pointer: u64,
    pub software_exception_enable: bool,
    pub accesses_uav: bool,
    pub illegal_opcode_exception_enable: bool,
    pub floating_point_mode: u32,
    pub thread_dispatch_priority: u32,
    pub binding_table_entry_count: u32,
    pub sampler_count: u32,
    pub vector_mask_enable: u32,
    pub single_vertex_dispatch: u32,
    pub per_thread_scratch_space: u32,
    pub scratch_space_base_pointer: u64,
    pub vertex_urb_entry_read_offset: u32,
    pub vertex_urb_entry_read_length: u32,
    pub dispatch_grf_start_register_for_urb_data: u32,
    pub function_enable: bool,
    pub vertex_cache_disable: bool,
    pub simd8_dispatch_enable: bool,
    pub statistics_enable: bool,
    /// The number of threads minus one.
    pub maximum_number_of_threads: u32,
    pub user_clip_distance_cull_test_enable_bitmask: u32,
    pub user_clip_distance_clip_test_enable_bitmask: u32,
    pub vertex_urb_entry_output_length: u32,
    pub vertex_urb_entry_output_read_offset: u32,
}

impl Vs {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 9] {
        let scratch = self.scratch_space_base_pointer | u64::from(self.per_thread_scratch_space);
        [
            0x7810_0007,
            self.kernel_start_pointer as u32,
            (self.kernel_start_pointer >> 32) as u32,
            u32::from(self.software_exception_enable) << 7
                | u32::from(self.accesses_uav) << 12
                | u32::from(self.illegal_opcode_exception_enable) << 13
                | self.floating_point_mode << 16
                | self.thread_dispatch_priority << 17
                | self.binding_table_entry_count << 18
                | self.sampler_count << 27
                | self.vector_mask_enable << 30
                | self.single_vertex_dispatch << 31,
            scratch as u32,
            (scratch >> 32) as u32,
            self.vertex_urb_entry_read_offset << 4
                | self.vertex_urb_entry_read_length << 11
                | self.dispatch_grf_start_register_for_urb_data << 20,
            u32::from(self.function_enable)
                | u32::from(self.vertex_cache_disable) << 1
                | u32::from(self.simd8_dispatch_enable) << 2
                | u32::from(self.statistics_enable) << 10
                | self.maximum_number_of_threads << 23,
            self.user_clip_distance_cull_test_enable_bitmask
                | self.user_clip_distance_clip_test_enable_bitmask << 8
                | self.vertex_urb_entry_output_length << 16
                | self.vertex_urb_entry_output_read_offset << 21,
        ]
    }
}

#[derive(Clone, Copy, Default)]
pub struct Ps {
    pub kernel_start_pointer_0: u64,
    pub software_exception_enable: bool,
    pub mask_stack_exception_enable: bool,
    pub illegal_opcode_exception_enable: bool,
    pub rounding_mode: u32,
    pub floating_point_mode: u32,
    pub thread_dispatch_priority: u32,
    pub binding_table_entry_count: u32,
    pub single_precision_denormal_mode: u32,
    pub sampler_count: u32,
    pub vector_mask_enable: u32,
    pub single_program_flow: u32,
    pub per_thread_scratch_space: u32,
    pub scratch_space_base_pointer: u64,
    pub _8_pixel_dispatch_enable: bool,
    pub _16_pixel_dispatch_enable: bool,
    pub _32_pixel_dispatch_enable: bool,
    pub position_xy_offset_select: u32,
    pub render_target_resolve_enable: bool,
    pub render_target_fast_clear_enable: bool,
    pub push_constant_enable: bool,
    pub maximum_number_of_threads_per_psd: u32,
    pub dispatch_grf_start_register_for_constant_setup_data_2: u32,
    pub dispatch_grf_start_register_for_constant_setup_data_1: u32,
    pub dispatch_grf_start_register_for_constant_setup_data_0: u32,
    pub kernel_start_pointer_1: u64,
    pub kernel_start_pointer_2: u64,
}

impl Ps {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 12] {
        let scratch = self.scratch_space_base_pointer | u64::from(self.per_thread_scratch_space);
        [
            0x7820_000a,
            self.kernel_start_pointer_0 as u32,
            (self.kernel_start_pointer_0 >> 32) as u32,
            u32::from(self.software_exception_enable) << 7
                | u32::from(self.mask_stack_exception_enable) << 11
                | u32::from(self.illegal_opcode_exception_enable) << 13
                | self.rounding_mode << 14
                | self.floating_point_mode << 16
                | self.thread_dispatch_priority << 17
                | self.binding_table_entry_count << 18
                | self.single_precision_denormal_mode << 26
                | self.sampler_count << 27
                | self.vector_mask_enable << 30
                | self.single_program_flow << 31,
            scratch as u32,
            (scratch >> 32) as u32,
            u32::from(self._8_pixel_dispatch_enable)
                | u32::from(self._16_pixel_dispatch_enable) << 1
                | u32::from(self._32_pixel_dispatch_enable) << 2
                | self.position_xy_offset_select << 3
                | u32::from(self.render_target_resolve_enable) << 6
                | u32::from(self.render_target_fast_clear_enable) << 8
                | u32::from(self.push_constant_enable) << 11
                | self.maximum_number_of_threads_per_psd << 23,
            self.dispatch_grf_start_register_for_constant_setup_data_2
                | self.dispatch_grf_start_register_for_constant_setup_data_1 << 8
                | self.dispatch_grf_start_register_for_constant_setup_data_0 << 16,
            self.kernel_start_pointer_1 as u32,
            (self.kernel_start_pointer_1 >> 32) as u32,
            self.kernel_start_pointer_2 as u32,
            (self.kernel_start_pointer_2 >> 32) as u32,
        ]
    }
}

#[derive(Clone, Copy, Default)]
pub struct Sbe {
    pub primitive_id_override_attribute_select: u32,
    pub vertex_urb_entry_read_offset: u32,
    pub vertex_urb_entry_read_length: u32,
    pub primitive_id_override_component_x: bool,
    pub primitive_id_override_component_y: bool,
    pub primitive_id_override_component_z: bool,
    pub primitive_id_override_component_w: bool,
    pub point_sprite_texture_coordinate_origin: u32,
    pub attribute_swizzle_enable: bool,
    pub number_of_sf_output_attributes: u32,
    pub force_vertex_urb_entry_read_offset: bool,
    pub force_vertex_urb_entry_read_length: bool,
    pub point_sprite_texture_coordinate_enable: u32,
    pub constant_interpolation_enable: u32,
}

impl Sbe {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 4] {
        [
            0x781f_0002,
            self.primitive_id_override_attribute_select
                | self.vertex_urb_entry_read_offset << 5
                | self.vertex_urb_entry_read_length << 11
                | u32::from(self.primitive_id_override_component_x) << 16
                | u32::from(self.primitive_id_override_component_y) << 17
                | u32::from(self.primitive_id_override_component_z) << 18
                | u32::from(self.primitive_id_override_component_w) << 19
                | self.point_sprite_texture_coordinate_origin << 20
                | u32::from(self.attribute_swizzle_enable) << 21
                | self.number_of_sf_output_attributes << 22
                | u32::from(self.force_vertex_urb_entry_read_offset) << 28
                | u32::from(self.force_vertex_urb_entry_read_length) << 29,
            self.point_sprite_texture_coordinate_enable,
            self.constant_interpolation_enable,
        ]
    }
}

/// RENDER_SURFACE_STATE. Fields that share bits are separate members; those that do not apply must
/// be zero.
#[derive(Clone, Copy, Default)]
pub struct Surface {
    pub cube_face_enable_positive_z: bool,
    pub cube_face_enable_negative_z: bool,
    pub cube_face_enable_positive_y: bool,
    pub cube_face_enable_negative_y: bool,
    pub cube_face_enable_positive_x: bool,
    pub cube_face_enable_negative_x: bool,
    pub media_boundary_pixel_mode: u32,
    pub render_cache_read_write_mode: u32,
    pub sampler_l2_bypass_mode_disable: bool,
    pub vertical_line_stride_offset: u32,
    pub vertical_line_stride: u32,
    pub tile_mode: u32,
    pub surface_horizontal_alignment: u32,
    pub surface_vertical_alignment: u32,
    pub surface_format: u32,
    pub surface_array: bool,
    pub surface_type: u32,
    /// QPitch of the surface in units of 4 rows.
    pub surface_qpitch: u32,
    pub base_mip_level: u32,
    pub memory_object_control_state: u32,
    /// The width minus one. The next three members are also stored minus one.
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    pub surface_pitch: u32,
    pub multisample_position_palette_index: u32,
    pub number_of_multisamples: u32,
    pub multisampled_surface_storage_format: u32,
    pub render_target_view_extent: u32,
    pub minimum_array_element: u32,
    pub render_target_and_sample_unorm_rotation: u32,
    pub mip_count_lod: u32,
    pub surface_min_lod: u32,
    pub coherency_type: u32,
    pub ewa_disable_for_cube: u32,
    pub y_offset: u32,
    pub x_offset: u32,
    pub y_offset_for_u_or_uv_plane: u32,
    pub x_offset_for_u_or_uv_plane: u32,
    pub separate_uv_plane_enable: bool,
    pub y_offset_for_v_plane: u32,
    pub x_offset_for_v_plane: u32,
    pub auxiliary_surface_mode: u32,
    pub auxiliary_surface_pitch: u32,
    pub auxiliary_surface_qpitch: u32,
    pub auxiliary_surface_base_address: u64,
    pub resource_min_lod: u32,
    pub shader_channel_select_alpha: u32,
    pub shader_channel_select_blue: u32,
    pub shader_channel_select_green: u32,
    pub shader_channel_select_red: u32,
    pub alpha_clear_color: u32,
    pub blue_clear_color: u32,
    pub green_clear_color: u32,
    pub red_clear_color: u32,
    pub surface_base_address: u64,
}

impl Surface {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 16] {
        [
            u32::from(self.cube_face_enable_positive_z)
                | u32::from(self.cube_face_enable_negative_z) << 1
                | u32::from(self.cube_face_enable_positive_y) << 2
                | u32::from(self.cube_face_enable_negative_y) << 3
                | u32::from(self.cube_face_enable_positive_x) << 4
                | u32::from(self.cube_face_enable_negative_x) << 5
                | self.media_boundary_pixel_mode << 6
                | self.render_cache_read_write_mode << 8
                | u32::from(self.sampler_l2_bypass_mode_disable) << 9
                | self.vertical_line_stride_offset << 10
                | self.vertical_line_stride << 11
                | self.tile_mode << 12
                | self.surface_horizontal_alignment << 14
                | self.surface_vertical_alignment << 16
                | self.surface_format << 18
                | u32::from(self.surface_array) << 28
                | self.surface_type << 29,
            self.surface_qpitch
                | self.base_mip_level << 19
                | self.memory_object_control_state << 24,
            self.width | self.height << 16,
            self.surface_pitch | self.depth << 21,
            self.multisample_position_palette_index
                | self.number_of_multisamples << 3
                | self.multisampled_surface_storage_format << 6
                | self.render_target_view_extent << 7
                | self.minimum_array_element << 18
                | self.render_target_and_sample_unorm_rotation << 29,
            self.mip_count_lod
                | self.surface_min_lod << 4
                | self.coherency_type << 14
                | self.ewa_disable_for_cube << 20
                | self.y_offset << 21
                | self.x_offset << 25,
            self.y_offset_for_u_or_uv_plane
                | self.x_offset_for_u_or_uv_plane << 16
                | u32::from(self.separate_uv_plane_enable) << 31
                | self.auxiliary_surface_mode
                | self.auxiliary_surface_pitch << 3
                | self.auxiliary_surface_qpitch << 16,
            self.resource_min_lod
                | self.shader_channel_select_alpha << 16
                | self.shader_channel_select_blue << 19
                | self.shader_channel_select_green << 22
                | self.shader_channel_select_red << 25
                | self.alpha_clear_color << 28
                | self.blue_clear_color << 29
                | self.green_clear_color << 30
                | self.red_clear_color << 31,
            self.surface_base_address as u32,
            (self.surface_base_address >> 32) as u32,
            self.auxiliary_surface_base_address as u32,
            (self.auxiliary_surface_base_address >> 32) as u32
                | self.y_offset_for_v_plane
                | self.x_offset_for_v_plane << 16,
            0,
            0,
            0,
            0,
        ]
    }
}

#[derive(Clone, Copy, Default)]
pub struct Sampler {
    pub anisotropic_algorithm: u32,
    /// LOD bias in two's complement with 8 fraction bits.
    pub texture_lod_bias: i32,
    pub min_mode_filter: u32,
    pub mag_mode_filter: u32,
    pub mip_mode_filter: u32,
    pub base_mip_level: u32,
    pub lod_pre_clamp_mode: u32,
    pub texture_border_color_mode: u32,
    pub sampler_disable: bool,
    pub cube_surface_control_mode: u32,
    pub shadow_function: u32,
    pub chroma_key_mode: u32,
    pub chroma_key_index: u32,
    pub chroma_key_enable: bool,
    pub max_lod: u32,
    pub min_lod: u32,
    pub lod_clamp_magnification_mode: u32,
    pub indirect_state_pointer: u32,
    pub tcz_address_control_mode: u32,
    pub tcy_address_control_mode: u32,
    pub tcx_address_control_mode: u32,
    pub non_normalized_coordinate_enable: bool,
    pub trilinear_filter_quality: u32,
    pub r_address_min_filter_rounding_enable: bool,
    pub r_address_mag_filter_rounding_enable: bool,
    pub v_address_min_filter_rounding_enable: bool,
    pub v_address_mag_filter_rounding_enable: bool,
    pub u_address_min_filter_rounding_enable: bool,
    pub u_address_mag_filter_rounding_enable: bool,
    pub maximum_anisotropy: u32,
}

impl Sampler {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 4] {
        [
            self.anisotropic_algorithm
                | (self.texture_lod_bias as u32 & 0x1fff) << 1
                | self.min_mode_filter << 14
                | self.mag_mode_filter << 17
                | self.mip_mode_filter << 20
                | self.base_mip_level << 22
                | self.lod_pre_clamp_mode << 27
                | self.texture_border_color_mode << 29
                | u32::from(self.sampler_disable) << 31,
            self.cube_surface_control_mode
                | self.shadow_function << 1
                | self.chroma_key_mode << 4
                | self.chroma_key_index << 5
                | u32::from(self.chroma_key_enable) << 7
                | self.max_lod << 8
                | self.min_lod << 20,
            self.lod_clamp_magnification_mode | self.indirect_state_pointer,
            self.tcz_address_control_mode
                | self.tcy_address_control_mode << 3
                | self.tcx_address_control_mode << 6
                | u32::from(self.non_normalized_coordinate_enable) << 10
                | self.trilinear_filter_quality << 11
                | u32::from(self.r_address_min_filter_rounding_enable) << 13
                | u32::from(self.r_address_mag_filter_rounding_enable) << 14
                | u32::from(self.v_address_min_filter_rounding_enable) << 15
                | u32::from(self.v_address_mag_filter_rounding_enable) << 16
                | u32::from(self.u_address_min_filter_rounding_enable) << 17
                | u32::from(self.u_address_mag_filter_rounding_enable) << 18
                | self.maximum_anisotropy << 19,
        ]
    }
}

#[derive(Clone, Copy, Default)]
pub struct Blend {
    pub y_dither_offset: u32,
    pub x_dither_offset: u32,
    pub color_dither_enable: bool,
    pub alpha_test_function: u32,
    pub alpha_test_enable: bool,
    pub alpha_to_coverage_dither_enable: bool,
    pub alpha_to_one_enable: bool,
    pub independent_alpha_blend_enable: bool,
    pub alpha_to_coverage_enable: bool,
    pub entry: [BlendEntry; 8],
}

#[derive(Clone, Copy, Default)]
pub struct BlendEntry {
    pub write_disable_blue: bool,
    pub write_disable_green: bool,
    pub write_disable_red: bool,
    pub write_disable_alpha: bool,
    pub alpha_blend_function: u32,
    pub destination_alpha_blend_factor: u32,
    pub source_alpha_blend_factor: u32,
    pub color_blend_function: u32,
    pub destination_blend_factor: u32,
    pub source_blend_factor: u32,
    pub color_buffer_blend_enable: bool,
    pub post_blend_color_clamp_enable: bool,
    pub pre_blend_color_clamp_enable: bool,
    pub color_clamp_range: u32,
    pub pre_blend_source_only_clamp_enable: bool,
    pub logic_op_function: u32,
    pub logic_op_enable: bool,
}

impl BlendEntry {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 2] {
        [
            u32::from(self.write_disable_blue)
                | u32::from(self.write_disable_green) << 1
                | u32::from(self.write_disable_red) << 2
                | u32::from(self.write_disable_alpha) << 3
                | self.alpha_blend_function << 5
                | self.destination_alpha_blend_factor << 8
                | self.source_alpha_blend_factor << 13
                | self.color_blend_function << 18
                | self.destination_blend_factor << 21
                | self.source_blend_factor << 26
                | u32::from(self.color_buffer_blend_enable) << 31,
            u32::from(self.post_blend_color_clamp_enable)
                | u32::from(self.pre_blend_color_clamp_enable) << 1
                | self.color_clamp_range << 2
                | u32::from(self.pre_blend_source_only_clamp_enable) << 4
                | self.logic_op_function << 27
                | u32::from(self.logic_op_enable) << 31,
        ]
    }
}

impl Blend {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 17] {
        let mut out = [0; 17];
        out[0] = self.y_dither_offset << 19
            | self.x_dither_offset << 21
            | u32::from(self.color_dither_enable) << 23
            | self.alpha_test_function << 24
            | u32::from(self.alpha_test_enable) << 27
            | u32::from(self.alpha_to_coverage_dither_enable) << 28
            | u32::from(self.alpha_to_one_enable) << 29
            | u32::from(self.independent_alpha_blend_enable) << 30
            | u32::from(self.alpha_to_coverage_enable) << 31;
        for (out, entry) in out[1..].chunks_exact_mut(2).zip(&self.entry) {
            out.copy_from_slice(&entry.pack());
        }
        out
    }
}

#[derive(Clone, Copy, Default)]
pub struct Primitive {
    pub predicate_enable: bool,
    pub uav_coherency_required: bool,
    pub indirect_parameter_enable: bool,
    pub primitive_topology_type: u32,
    pub vertex_access_type: u32,
    pub end_offset_enable: bool,
    pub vertex_count_per_instance: u32,
    pub start_vertex_location: u32,
    pub instance_count: u32,
    pub start_instance_location: u32,
    pub base_vertex_location: i32,
}

impl Primitive {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 7] {
        [
            0x7b00_0005
                | u32::from(self.predicate_enable) << 8
                | u32::from(self.uav_coherency_required) << 9
                | u32::from(self.indirect_parameter_enable) << 10,
            self.primitive_topology_type
                | self.vertex_access_type << 8
                | u32::from(self.end_offset_enable) << 9,
            self.vertex_count_per_instance,
            self.start_vertex_location,
            self.instance_count,
            self.start_instance_location,
            self.base_vertex_location as u32,
        ]
    }
}

#[derive(Clone, Copy, Default)]
pub struct Flush {
    pub depth_cache_flush_enable: bool,
    pub stall_at_pixel_scoreboard: bool,
    pub state_cache_invalidation_enable: bool,
    pub constant_cache_invalidation_enable: bool,
    pub vf_cache_invalidation_enable: bool,
    pub dc_flush_enable: bool,
    pub pipe_control_flush_enable: bool,
    pub notify_enable: bool,
    pub indirect_state_pointers_disable: bool,
    pub texture_cache_invalidation_enable: bool,
    pub instruction_cache_invalidate_enable: bool,
    pub render_target_cache_flush_enable: bool,
    pub depth_stall_enable: bool,
    pub post_sync_operation: u32,
    pub generic_media_state_clear: bool,
    pub tlb_invalidate: bool,
    pub global_snapshot_count_reset: bool,
    pub command_streamer_stall_enable: bool,
    pub store_data_index: bool,
    pub lri_post_sync_operation: u32,
    pub destination_address_type: u32,
    pub address: u64,
    pub immediate_data: u64,
}

impl Flush {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 6] {
        [
            0x7a00_0004,
            u32::from(self.depth_cache_flush_enable)
                | u32::from(self.stall_at_pixel_scoreboard) << 1
                | u32::from(self.state_cache_invalidation_enable) << 2
                | u32::from(self.constant_cache_invalidation_enable) << 3
                | u32::from(self.vf_cache_invalidation_enable) << 4
                | u32::from(self.dc_flush_enable) << 5
                | u32::from(self.pipe_control_flush_enable) << 7
                | u32::from(self.notify_enable) << 8
                | u32::from(self.indirect_state_pointers_disable) << 9
                | u32::from(self.texture_cache_invalidation_enable) << 10
                | u32::from(self.instruction_cache_invalidate_enable) << 11
                | u32::from(self.render_target_cache_flush_enable) << 12
                | u32::from(self.depth_stall_enable) << 13
                | self.post_sync_operation << 14
                | u32::from(self.generic_media_state_clear) << 16
                | u32::from(self.tlb_invalidate) << 18
                | u32::from(self.global_snapshot_count_reset) << 19
                | u32::from(self.command_streamer_stall_enable) << 20
                | u32::from(self.store_data_index) << 21
                | self.lri_post_sync_operation << 23
                | self.destination_address_type << 24,
            self.address as u32,
            (self.address >> 32) as u32,
            self.immediate_data as u32,
            (self.immediate_data >> 32) as u32,
        ]
    }
}

#[derive(Clone, Copy, Default)]
pub struct Element {
    pub source_element_offset: u32,
    pub edge_flag_enable: bool,
    pub source_element_format: u32,
    pub valid: bool,
    pub vertex_buffer_index: u32,
    pub component_3_control: u32,
    pub component_2_control: u32,
    pub component_1_control: u32,
    pub component_0_control: u32,
}

impl Element {
    #[inline(always)]
    pub fn pack(&self) -> [u32; 2] {
        [
            self.source_element_offset
                | u32::from(self.edge_flag_enable) << 15
                | self.source_element_format << 16
                | u32::from(self.valid) << 25
                | self.vertex_buffer_index << 26,
            self.component_3_control << 16
                | self.component_2_control << 20
                | self.component_1_control << 24
                | self.component_0_control << 28,
        ]
    }
}

/// 3DSTATE_VERTEX_ELEMENTS with four elements.
#[inline(always)]
pub fn vertex_elements(elements: &[Element; 4]) -> [u32; 9] {
    let [a, b, c, d] = elements.each_ref().map(Element::pack);
    [0x7809_0007, a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
}
