//! The summary of a draw of the G45.

use super::kernel::descriptors;
use super::state::{
    Blending, DepthBuffer, IndexBuffer, KernelSummary, ShaderSummary, Statistics, StencilBuffer,
    Summary, Target, Test,
};
use crate::gen45::message::surface;
use crate::gen45::pipeline::depth_buffer;
use crate::gen45::state::{ADDRESSES, State};
use crate::machine::drawing::Drawing;
use crate::render::render_target::Purpose;
use crate::render::vf::Range;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::render3d_raster::ThreeDStateRasterCullMode as CullMode;
use genxml::gen45::commands_3d::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateBindingTablePointers,
    ThreeDStateDepthBuffer, ThreeDStateDrawingRectangle, ThreeDStateIndexBuffer,
    ThreeDStatePipelinedPointers, ThreeDStateVfStatistics,
};
use genxml::gen45::messages::{DataPortWriteMessageDescriptor, DataPortWriteType};
use genxml::gen45::state_surface::{BindingTableState, SurfaceState};
use genxml::gen45::state_units::{
    CcViewport, ClipState, ClipStateClipMode as ClipMode, ColorCalcState, GsState, SfState,
    SfViewport, VsState, WmState,
};
use genxml_core::latch::Latch;
use genxml_core::packet::{Dwords, Fixed};
use std::collections::BTreeSet;

/// How threads of geometry shader, clipper and setup are dispatched.
const OBJECT: &str = "single object";

/// The state of a draw, while its summary is made.
struct Source<'a> {
    draw: &'a Drawing<'a>,
    state: State,
    problems: Vec<String>,
}

impl Source<'_> {
    fn latched<T: Latch + Fixed>(&self) -> T {
        self.state.latched.read(0)
    }

    /// The state at an offset from General State Base Address; all zero if it cannot be read.
    fn general<T: Fixed>(&mut self, offset: u64) -> T
    where
        T::Dwords: AsMut<[u32]>,
    {
        let address = self.state.base.general.wrapping_add(offset) & ADDRESSES;
        self.draw.structure(address).unwrap_or_else(|| {
            self.problems.push(format!("{} cannot be read", T::NAME));
            T::from_dwords_lossy(&T::Dwords::padded(&[]))
        })
    }

    fn shader(&self, stage: &'static str, dispatch: &'static str, offset: u64) -> ShaderSummary {
        let address = self.state.base.general.wrapping_add(offset) & ADDRESSES;
        ShaderSummary { stage, kernels: vec![KernelSummary { dispatch, offset, address }] }
    }
}

/// The summary of a draw.
pub fn summary(draw: &Drawing<'_>, packet: &ThreeDPrimitive) -> Summary {
    let state = draw.state.slots.with(State::clone);
    let mut source = Source { draw, state, problems: Vec::new() };
    let pointers: ThreeDStatePipelinedPointers = source.latched();
    let vs: VsState = source.general(pointers.pointer_to_vs_state.get());
    let gs: Option<GsState> =
        pointers.gs_enable.then(|| source.general(pointers.pointer_to_gs_state.get()));
    let clip: Option<ClipState> =
        pointers.clip_enable.then(|| source.general(pointers.pointer_to_clip_state.get()));
    let sf: SfState = source.general(pointers.pointer_to_sf_state.get());
    let wm: WmState = source.general(pointers.pointer_to_wm_state.get());
    let cc: ColorCalcState = source.general(pointers.pointer_to_color_calc_state.get());
    let clip_counts = clip.as_ref().is_some_and(|clip| clip.clipper_statistics_enable);
    let shaders = shaders(&source, &vs, gs.as_ref(), clip.as_ref(), &sf, &wm);
    let (targets, more_targets) = match shaders.iter().find(|shader| shader.stage == "PS") {
        Some(shader) => targets(&mut source, shader, &cc),
        None => (Vec::new(), false),
    };
    let buffer = depth_buffer::resolve(&source.latched::<ThreeDStateDepthBuffer>());
    let buffer = buffer.unwrap_or_else(|bad| {
        source.problems.push(format!("depth buffer: {bad}"));
        None
    });
    let tests = cc.depth_test_enable || cc.depth_buffer_write_enable;
    let used = buffer.is_some() && (tests || cc.stencil_test_enable);
    let depth_range: Option<CcViewport> =
        used.then(|| source.general(cc.cc_viewport_state_pointer.get()));
    // The pointer can have any value if nothing of the viewport is used, as in blits.
    let viewport: Option<SfViewport> = (sf.viewport_transform_enable
        || sf.scissor_rectangle_enable)
        .then(|| source.general(sf.setup_viewport_state_offset.get()));
    let rectangle: ThreeDStateDrawingRectangle = source.latched();
    let statistics: ThreeDStateVfStatistics = source.latched();
    Summary {
        topology: packet.primitive_topology_type.name(),
        range: Range {
            vertices: packet.vertex_count_per_instance.get() as u32,
            start: packet.start_vertex_location.get() as u32,
            instances: packet.instance_count.get() as u32,
            start_instance: packet.start_instance_location.get() as u32,
            base_vertex: packet.base_vertex_location.get() as i32,
        },
        indirect: packet.indirect_vertex_count,
        auto: false,
        indices: (packet.vertex_access_type == Access::RANDOM).then(|| indices(&source)),
        shaders,
        tessellator: None,
        stream_output: false,
        rasterised: clip.as_ref().is_none_or(|clip| clip.clip_mode != ClipMode::REJECT_ALL),
        targets,
        more_targets,
        purpose: Purpose::Draw,
        depth: buffer.map(|buffer| DepthBuffer {
            plane: buffer.plane(),
            format: buffer.format.depth(),
            hierarchical: false,
            test: Test {
                enabled: cc.depth_test_enable,
                function: cc.depth_test_function.name(),
                writes: cc.depth_buffer_write_enable,
            },
        }),
        stencil: buffer.and_then(|buffer| {
            Some(StencilBuffer {
                plane: buffer.plane(),
                byte: buffer.format.stencil_byte()?,
                test: Test {
                    enabled: cc.stencil_test_enable,
                    function: cc.stencil_test_function.name(),
                    writes: cc.stencil_test_enable && cc.stencil_buffer_write_enable,
                },
            })
        }),
        uses_depth: buffer.is_some() && tests,
        // Numbers are those of Gen8, whose names have a prefix.
        cull: CullMode::from_bits(sf.cull_mode.bits()).name(),
        samples: 1,
        sample_mask: 1,
        transforms: sf.viewport_transform_enable,
        viewports: viewport.iter().filter(|_| sf.viewport_transform_enable).map(edges).collect(),
        depth_ranges: depth_range.iter().map(|it| [it.minimum_depth, it.maximum_depth]).collect(),
        scissors: viewport
            .filter(|_| sf.scissor_rectangle_enable)
            .map(|viewport| vec![scissor(&viewport)]),
        rectangle: [
            rectangle.clipped_drawing_rectangle_x_min.get(),
            rectangle.clipped_drawing_rectangle_y_min.get(),
            rectangle.clipped_drawing_rectangle_x_max.get(),
            rectangle.clipped_drawing_rectangle_y_max.get(),
        ],
        statistics: Statistics {
            fetch: statistics.statistics_enable,
            vs: vs.enable && vs.statistics_enable,
            gs: gs.is_some_and(|gs| gs.gs_statistics_enable),
            clip: clip_counts,
            setup: clip_counts,
            pixels: wm.statistics_enable,
            depth: cc.statistics_enable,
            ..Statistics::default()
        },
        problems: source.problems,
    }
}

/// Left, upper, right and lower edges of the volume that a viewport transforms to the screen.
fn edges(viewport: &SfViewport) -> [f32; 4] {
    let [x, y] = [viewport.viewport_matrix_element_m30, viewport.viewport_matrix_element_m31];
    let width = viewport.viewport_matrix_element_m00.abs();
    let height = viewport.viewport_matrix_element_m11.abs();
    [x - width, y - height, x + width, y + height]
}

/// First column and row, last column and row of the scissor rectangle.
fn scissor(viewport: &SfViewport) -> [u64; 4] {
    let scissor = &viewport.scissor_rectangle;
    [
        scissor.scissor_rectangle_x_min.get(),
        scissor.scissor_rectangle_y_min.get(),
        scissor.scissor_rectangle_x_max.get(),
        scissor.scissor_rectangle_y_max.get(),
    ]
}

fn indices(source: &Source<'_>) -> IndexBuffer {
    let buffer: ThreeDStateIndexBuffer = source.latched();
    let address = buffer.buffer_starting_address.get();
    IndexBuffer {
        format: buffer.index_format.name(),
        address,
        bytes: (buffer.buffer_ending_address.get() + 1).saturating_sub(address),
    }
}

fn shaders(
    source: &Source<'_>,
    vs: &VsState,
    gs: Option<&GsState>,
    clip: Option<&ClipState>,
    sf: &SfState,
    wm: &WmState,
) -> Vec<ShaderSummary> {
    let mut shaders = Vec::new();
    if vs.enable {
        shaders.push(source.shader("VS", "SIMD4x2", vs.kernel_start_pointer.get()));
    }
    if let Some(gs) = gs {
        shaders.push(source.shader("GS", OBJECT, gs.kernel_start_pointer.get()));
    }
    if let Some(clip) = clip {
        shaders.push(source.shader("CLIP", OBJECT, clip.kernel_start_pointer.get()));
    }
    shaders.push(source.shader("SF", OBJECT, sf.kernel_start_pointer.get()));
    if wm.thread_dispatch_enable {
        let dispatch = match (wm._16_pixel_dispatch_enable, wm._8_pixel_dispatch_enable) {
            (true, _) => "SIMD16",
            (_, true) => "SIMD8",
            _ => "SIMD32",
        };
        shaders.push(source.shader("PS", dispatch, wm.kernel_start_pointer_0.get()));
    }
    shaders
}

/// The render targets, and true if there may be more.
fn targets(
    source: &mut Source<'_>,
    shader: &ShaderSummary,
    cc: &ColorCalcState,
) -> (Vec<Target>, bool) {
    let (mut bindings, mut more) = (BTreeSet::new(), false);
    for kernel in &shader.kernels {
        let place = (Generation::Gen45, kernel.address);
        let function = SharedFunction::DataPortWrite;
        more |= !descriptors(source.draw, place, function, &mut |descriptor| {
            let message = DataPortWriteMessageDescriptor::unpack_lossy(&[descriptor]);
            if message.write_message_type == DataPortWriteType::RENDER_TARGET_WRITE {
                bindings.insert(message.binding_table_index.get() as u8);
            }
        });
    }
    let tables: ThreeDStateBindingTablePointers = source.latched();
    let base = source.state.base.surface;
    let table = base.wrapping_add(tables.pointer_to_ps_binding_table.get());
    let mut targets = Vec::new();
    for binding in bindings {
        let entry = table.wrapping_add(4 * u64::from(binding)) & ADDRESSES;
        let state = source.draw.structure::<BindingTableState>(entry).and_then(|entry| {
            let pointer = entry.surface_state_pointer.get();
            source.draw.structure::<SurfaceState>(base.wrapping_add(pointer) & ADDRESSES)
        });
        let resolved = match state {
            Some(state) => match surface::resolve(&state) {
                Ok(surface) => Ok((state, surface)),
                Err(bad) => Err(bad.to_string()),
            },
            None => Err("its surface state cannot be read".into()),
        };
        match resolved {
            Ok((state, surface)) => targets.push(Target {
                binding,
                surface,
                level: surface.layout.level(surface.mip_count.min(14)),
                blending: Some(blending(cc, &state)),
            }),
            Err(why) => {
                source.problems.push(format!("render target, binding table entry {binding}: {why}"))
            }
        }
    }
    (targets, more)
}

/// Blending of a target. The surface state must enable it, too. It also disables channels.
fn blending(cc: &ColorCalcState, surface: &SurfaceState) -> Blending {
    let blends = cc.color_buffer_blend_enable && surface.color_blend_enable && !cc.logic_op_enable;
    Blending {
        logic: cc.logic_op_enable.then(|| cc.logic_op_function.name()),
        color: blends.then(|| {
            [
                cc.source_blend_factor.name(),
                cc.destination_blend_factor.name(),
                cc.color_blend_function.name(),
            ]
        }),
        alpha: (blends && cc.independent_alpha_blend_enable).then(|| {
            [
                cc.source_alpha_blend_factor.name(),
                cc.destination_alpha_blend_factor.name(),
                cc.alpha_blend_function.name(),
            ]
        }),
        disabled: [
            surface.color_buffer_component_write_disable_red,
            surface.color_buffer_component_write_disable_green,
            surface.color_buffer_component_write_disable_blue,
            surface.color_buffer_component_write_disable_alpha,
        ],
    }
}
