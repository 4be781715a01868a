//! All state of a triangle: vertices without a vertex shader, a pixel shader with one colour, no
//! depth. The batch is not run. It is decoded and checked against the manual's rules.

use genxml::batch::{Batch, BatchError, Buffer, Heap, Submission};
use genxml::check::{self, Finding, Rules};
use genxml::core::address::{DynamicState, Instruction as Instructions, SurfaceState};
use genxml::core::lit;
use genxml::decode::{Decoder, Options, Sink as _, State, Tables, TextWriter};
use genxml::engine::Render;
use genxml::eu::gen8::eu_messages::{MsdRtw, MtDpRt, RenderTargetWriteSubtype};
use genxml::eu::instruction::{
    DataType, Descriptor, Destination, Immediate, Operand, Region, Register, Send, SharedFunction,
    Source,
};
use genxml::eu::{Instruction, Opcode};
use genxml::gen8::enums::*;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_binding::*;
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

/// Width and height of the render target in pixels.
pub const SIZE: usize = 64;

/// The corners: x, y, z in clip space.
pub const CORNERS: [[f32; 3]; 3] = [[-0.75, 0.75, 0.0], [0.75, 0.75, 0.0], [0.0, -0.75, 0.0]];

/// The kernel of the pixel shader: it writes one colour for all pixels through the render data
/// port.
fn pixel_shader() -> Result<Vec<u32>, Box<dyn Error>> {
    let write = packet! {
        MsdRtw {
            message_type: MtDpRt::MT_RTW,
            message_subtype: RenderTargetWriteSubtype::SIMD8_LO,
            last_render_target_select: true,
            message_length: 4,
            binding_table_index: 0,
            ..
        }
    };
    let mut instructions = Vec::new();
    // One register with the values of eight pixels for each of red, green, blue, alpha.
    for (channel, value) in [1.0f32, 0.5, 0.0, 1.0].into_iter().enumerate() {
        let mut mov = Instruction::new(Opcode::Mov, 8);
        mov.destination = Some(Destination::new(Register::grf(114 + channel as u8), DataType::F));
        mov.sources[0] =
            Operand::Immediate(Immediate { ty: DataType::F, bits: value.to_bits().into() });
        instructions.push(mov);
    }
    let mut send = Instruction::new(Opcode::Send, 8);
    send.destination = Some(Destination::new(Register::NULL, DataType::Ud));
    send.sources[0] =
        Operand::Register(Source::new(Register::grf(114), DataType::Ud, Region::packed(8)));
    send.send = Some(Send {
        function: SharedFunction::DataPortRender,
        descriptor: Descriptor::Immediate(write.pack()[0]),
        end_of_thread: true,
    });
    instructions.push(send);
    let encoded: Result<Vec<[u32; 4]>, _> = instructions.iter().map(Instruction::encode).collect();
    Ok(encoded?.concat())
}

/// A stall of the command streamer. The manual requires another bit with it; Stall at Pixel
/// Scoreboard is the cheapest one.
const STALL: PipeControl = PipeControl {
    command_streamer_stall_enable: true,
    stall_at_pixel_scoreboard: true,
    ..PipeControl::new()
};

/// Emits the state of the stages before the rasteriser. The shader stages are disabled, because the
/// vertices already are positions in clip space.
fn stages(batch: &mut Batch<Render, ThreeD>) -> Result<(), BatchError> {
    batch.emit(&packet! { ThreeDStatePushConstantAllocVs { constant_buffer_size: 16, .. } })?;
    batch.emit(&ThreeDStatePushConstantAllocHs::new())?;
    batch.emit(&ThreeDStatePushConstantAllocDs::new())?;
    batch.emit(&ThreeDStatePushConstantAllocGs::new())?;
    batch.emit(&packet! {
        ThreeDStatePushConstantAllocPs { constant_buffer_offset: 16, constant_buffer_size: 16, .. }
    })?;
    batch.emit(&STALL)?;
    batch.emit(&ThreeDStateConstantVs::new())?;
    batch.emit(&ThreeDStateConstantHs::new())?;
    batch.emit(&ThreeDStateConstantDs::new())?;
    batch.emit(&ThreeDStateConstantGs::new())?;
    batch.emit(&ThreeDStateConstantPs::new())?;
    batch.emit(&packet! {
        ThreeDStateUrbVs {
            vs_urb_starting_address: 4,
            vs_urb_entry_allocation_size: 1,
            vs_number_of_urb_entries: 64,
        }
    })?;
    batch.emit(&packet! { ThreeDStateUrbHs { hs_urb_starting_address: 8, .. } })?;
    batch.emit(&packet! { ThreeDStateUrbDs { ds_urb_starting_address: 8, .. } })?;
    batch.emit(&packet! { ThreeDStateUrbGs { gs_urb_starting_address: 8, .. } })?;
    batch.emit(&ThreeDStateVs::new())?;
    batch.emit(&ThreeDStateHs::new())?;
    batch.emit(&ThreeDStateTe::new())?;
    batch.emit(&ThreeDStateDs::new())?;
    batch.emit(&ThreeDStateGs::new())?;
    batch.emit(&ThreeDStateStreamout::new())?;
    Ok(())
}

/// Emits the transformation from clip space to 64 x 64 pixels, clipping, and the rasteriser.
fn raster(
    batch: &mut Batch<Render, ThreeD>,
    dynamic: &mut Heap<DynamicState>,
) -> Result<(), BatchError> {
    let viewport = dynamic.put(&SfClipViewport {
        // x from -1 to 1 goes from left to right, y from bottom to top; z is unchanged.
        viewport_matrix_element_m00: 32.0,
        viewport_matrix_element_m30: 32.0,
        viewport_matrix_element_m11: -32.0,
        viewport_matrix_element_m31: 32.0,
        viewport_matrix_element_m22: 1.0,
        viewport_matrix_element_m32: 0.0,
        // The guard band: a triangle is clipped only if it reaches beyond this area, which is 16
        // times as wide and as high as the viewport.
        x_min_clip_guardband: -16.0,
        x_max_clip_guardband: 16.0,
        y_min_clip_guardband: -16.0,
        y_max_clip_guardband: 16.0,
        x_min_view_port: 0.0,
        x_max_view_port: 63.0,
        y_min_view_port: 0.0,
        y_max_view_port: 63.0,
    })?;
    let depths = dynamic.put(&CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 })?;
    batch.emit(&ThreeDStateViewportStatePointersSfClip { sf_clip_viewport_pointer: viewport })?;
    batch.emit(&ThreeDStateViewportStatePointersCc { cc_viewport_pointer: depths })?;
    batch.emit(&ThreeDStateClip {
        clip_enable: true,
        clipper_statistics_enable: true,
        api_mode: ThreeDStateClipApiMode::D3D, // z from 0 on
        viewport_xy_clip_test_enable: true,
        guardband_clip_test_enable: true,
        ..ThreeDStateClip::new()
    })?;
    batch.emit(&packet! {
        ThreeDStateSf {
            viewport_transform_enable: true,
            statistics_enable: true,
            point_width: 1,
            ..
        }
    })?;
    batch.emit(&ThreeDStateRaster {
        viewport_z_clip_test_enable: true,
        ..ThreeDStateRaster::new()
    })?;
    batch.emit(&ThreeDStateMultisample::new())?;
    batch.emit(&packet! { ThreeDStateSampleMask { sample_mask: 1 } })?;
    batch.emit(&packet! {
        ThreeDStateDrawingRectangle {
            clipped_drawing_rectangle_x_max: 63,
            clipped_drawing_rectangle_y_max: 63,
            ..
        }
    })?;
    Ok(())
}

/// Emits the state for pixels: they are not tested, and they replace the old pixels.
fn pixels(
    batch: &mut Batch<Render, ThreeD>,
    dynamic: &mut Heap<DynamicState>,
) -> Result<(), BatchError> {
    let blend = dynamic.put(&BlendState::new())?;
    let constants = dynamic.put(&ColorCalcState::new())?;
    batch.emit(&ThreeDStateWmDepthStencil::new())?;
    batch.emit(&ThreeDStateDepthBuffer {
        surface_type: SurfaceType::SURFTYPE_NULL,
        surface_format: ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT,
        ..ThreeDStateDepthBuffer::new()
    })?;
    batch.emit(&ThreeDStateHierDepthBuffer::new())?;
    batch.emit(&ThreeDStateStencilBuffer::new())?;
    batch.emit(&ThreeDStateClearParams::new())?;
    batch.emit(&ThreeDStateBlendStatePointers {
        blend_state_pointer_valid: true,
        blend_state_pointer: blend,
    })?;
    batch.emit(&ThreeDStateCcStatePointers {
        color_calc_state_pointer_valid: true,
        color_calc_state_pointer: constants,
    })?;
    batch.emit(&ThreeDStatePsBlend { has_writeable_rt: true, ..ThreeDStatePsBlend::new() })?;
    Ok(())
}

/// Emits the state of vertex fetch. Each vertex has a header, which hardware reads, and a
/// position.
fn fetch(batch: &mut Batch<Render, ThreeD>, vertices: &Buffer) -> Result<(), Box<dyn Error>> {
    use ThreeDVertexComponentControl as Component;
    let buffers = [packet! {
        VertexBufferState {
            vertex_buffer_index: 0,
            buffer_pitch: 12,
            address_modify_enable: true,
            buffer_starting_address: batch.reads(vertices, 0)?,
            buffer_size: 4096,
            ..
        }
    }];
    batch.emit(&ThreeDStateVertexBuffers { vertex_buffer_state: (&buffers).into() })?;
    let header = VertexElementState {
        valid: true,
        source_element_format: SurfaceFormat::R32G32B32A32_FLOAT,
        component_0_control: Component::VFCOMP_STORE_0,
        component_1_control: Component::VFCOMP_STORE_0,
        component_2_control: Component::VFCOMP_STORE_0,
        component_3_control: Component::VFCOMP_STORE_1_FP,
        ..VertexElementState::new()
    };
    let position = VertexElementState {
        valid: true,
        source_element_format: SurfaceFormat::R32G32B32_FLOAT,
        component_0_control: Component::VFCOMP_STORE_SRC,
        component_1_control: Component::VFCOMP_STORE_SRC,
        component_2_control: Component::VFCOMP_STORE_SRC,
        component_3_control: Component::VFCOMP_STORE_1_FP,
        ..VertexElementState::new()
    };
    batch.emit(&ThreeDStateVertexElements { element: (&[header, position]).into() })?;
    for element in [lit!(0), lit!(1)] {
        batch.emit(&ThreeDStateVfInstancing {
            vertex_element_index: element,
            ..ThreeDStateVfInstancing::new()
        })?;
    }
    batch.emit(&ThreeDStateVfStatistics { statistics_enable: true })?;
    batch.emit(&ThreeDStateVf::new())?;
    batch.emit(&ThreeDStateVfSgvs::new())?;
    batch.emit(&ThreeDStateVfTopology {
        primitive_topology_type: ThreeDPrimTopoType::_3DPRIM_TRILIST,
    })?;
    Ok(())
}

/// The batch with all that it points to. The example `triangle_short` makes the same with
/// `genxml::setup`.
///
/// # Errors
/// None in practice.
pub fn submission() -> Result<Submission, Box<dyn Error>> {
    let target = Buffer::new("target", 0x100_0000, 4 * SIZE * SIZE)?;
    let vertices = Buffer::with_values("vertices", 0x110_0000, CORNERS.as_flattened())?;

    let mut surfaces = Heap::<SurfaceState>::new("surface state", 0x20_0000, 0x1_0000)?;
    let surface = packet! {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: SurfaceFormat::R8G8B8A8_UNORM,
            extent: RenderSurfaceStateExtent::Image { width: lit!(64), height: lit!(64), depth: lit!(1) },
            surface_pitch: 256,
            surface_base_address: surfaces.writes(&target, 0)?,
            ..
        }
    };
    let surface = surfaces.put(&surface)?;
    let mut dynamic = Heap::<DynamicState>::new("dynamic state", 0x21_0000, 0x1_0000)?;
    let mut instructions = Heap::<Instructions>::new("instructions", 0x22_0000, 0x1_0000)?;

    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_3d()?;
    // A heap of 64 KiB has 16 pages. The bases that this batch does not use are 0.
    batch.emit(&StateBaseAddress {
        general_state_base_address_modify_enable: true,
        surface_state_base_address_modify_enable: true,
        surface_state_base_address: batch.reads(&surfaces, 0)?,
        dynamic_state_base_address_modify_enable: true,
        dynamic_state_base_address: batch.reads(&dynamic, 0)?,
        dynamic_state_buffer_size_modify_enable: true,
        dynamic_state_buffer_size: lit!(16),
        indirect_object_base_address_modify_enable: true,
        instruction_base_address_modify_enable: true,
        instruction_base_address: batch.reads(&instructions, 0)?,
        instruction_buffer_size_modify_enable: true,
        instruction_buffer_size: lit!(16),
        ..StateBaseAddress::new()
    })?;
    stages(&mut batch)?;
    raster(&mut batch, &mut dynamic)?;
    pixels(&mut batch, &mut dynamic)?;
    fetch(&mut batch, &vertices)?;

    let kernel = instructions.kernel(&pixel_shader()?)?;
    // The offset of a binding table has 16 bits, the offset of a surface state has 32. Each method
    // returns a value of the type that its field has.
    let table = surfaces.binding_table(&[surface])?;
    batch.emit(&packet! {
        ThreeDStateSbe {
            force_vertex_urb_entry_read_offset: true,
            vertex_urb_entry_read_offset: 1, // after header and position
            force_vertex_urb_entry_read_length: true,
            vertex_urb_entry_read_length: 1,
            ..
        }
    })?;
    batch.emit(&ThreeDStateWm { statistics_enable: true, ..ThreeDStateWm::new() })?;
    batch.emit(&ThreeDStatePsExtra { pixel_shader_valid: true, ..ThreeDStatePsExtra::new() })?;
    batch.emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table })?;
    batch.emit(&packet! {
        ThreeDStatePs {
            kernel_start_pointer_0: kernel,
            _8_pixel_dispatch_enable: true,
            binding_table_entry_count: 1,
            maximum_number_of_threads_per_psd: 62,
            dispatch_grf_start_register_for_constant_setup_data_0: 2,
            ..
        }
    })?;
    batch.emit(
        &packet! { ThreeDPrimitive { vertex_count_per_instance: 3, instance_count: 1, .. } },
    )?;
    batch.emit(&PipeControl {
        render_target_cache_flush_enable: true,
        command_streamer_stall_enable: true,
        ..PipeControl::new()
    })?;
    let heaps = [surfaces.finish(), dynamic.finish(), instructions.finish(), target, vertices];
    Ok(batch.finish()?.submit(heaps)?)
}

/// The violations of the manual's rules.
pub fn findings(submission: &Submission) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut each = |finding: &Finding| found.push(finding.clone());
    let (address, length) = (submission.batch_address, submission.batch_length);
    check::memory(submission.engine, submission, address, length, &Rules::gen8(), &mut each);
    found
}

/// The batch and everything that it points to, as text.
///
/// # Errors
/// None in practice.
pub fn decoded(submission: &Submission) -> Result<String, Box<dyn Error>> {
    let (options, mut text) = (Options::default(), Vec::new());
    let mut sink = TextWriter::new(&mut text, &options);
    Decoder::new(Tables::gen8(), options.clone()).batch(
        &mut State::default(),
        submission.engine,
        submission,
        submission.batch_address,
        submission.batch_length,
        &mut sink,
    )?;
    sink.finish()?;
    drop(sink);
    Ok(String::from_utf8(text)?)
}

/// Prints the decoded batch, then the violations of rules.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    let submission = submission()?;
    print!("{}", decoded(&submission)?);
    for finding in findings(&submission) {
        println!("{finding}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::core::rule::Severity;

    /// Oracle: the rules of the manual, and the names of what a draw needs.
    #[test]
    fn breaks_no_rule() {
        let submission = submission().unwrap();
        let errors: Vec<String> = findings(&submission)
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.to_string())
            .collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        let text = decoded(&submission).unwrap();
        // The decoder finds state in memory only through the base addresses.
        for name in ["3DPRIMITIVE", "BLEND_STATE", "RENDER_SURFACE_STATE", "CC_VIEWPORT"] {
            assert!(text.contains(name), "{name} is missing in\n{text}");
        }
    }
}
