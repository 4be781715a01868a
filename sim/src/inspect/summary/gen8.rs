//! The summary of a draw of Broadwell.

use super::kernel::descriptors;
use super::state::{
    Blending, DepthBuffer, IndexBuffer, KernelSummary, ShaderSummary, Statistics, StencilBuffer,
    Summary, Target, Tessellator, Test,
};
use crate::machine::drawing::Drawing;
use crate::render::clip::ClipMode;
use crate::render::depth::{self, depth_plane, stencil_plane};
use crate::render::ps::{self, PsKernel};
use crate::render::raster_state::{Lists, clip_mode, sample_mask};
use crate::render::render_target::Purpose;
use crate::render::sol::Rendered;
use crate::render::stage::Dispatch;
use crate::render::vf::Range;
use crate::render::wm;
use crate::surface::Surface;
use crate::unit::resource_streamer::pool::Pool;
use crate::unit::resource_streamer::tables::Table;
use genxml::eu::Generation;
use genxml::eu::gen8::eu_messages::{MsdRtw, MtDpRt};
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::render3d_binding::ThreeDStateBindingTablePointersPs;
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateVfStatistics, ThreeDStateVfTopology,
};
use genxml::gen8::render3d_pixel::{BlendState, BlendStateEntry, ThreeDStateWm};
use genxml::gen8::render3d_raster::{
    CcViewport, ScissorRect, SfClipViewport, ThreeDStateClip, ThreeDStateDrawingRectangle,
    ThreeDStateMultisample, ThreeDStateRaster, ThreeDStateSf,
};
use genxml::gen8::render3d_stages::{
    ThreeDStateDs, ThreeDStateGs, ThreeDStateHs, ThreeDStateStreamout, ThreeDStateTe, ThreeDStateVs,
};
use genxml::gen8::state::RenderSurfaceState;
use genxml_core::packet::Fixed;
use std::collections::BTreeSet;

/// The summary of a draw.
pub fn summary(draw: &Drawing<'_>, packet: &ThreeDPrimitive) -> Summary {
    let mut problems = Vec::new();
    let clip: ThreeDStateClip = draw.latched();
    let tests: ThreeDStateWmDepthStencil = draw.latched();
    let wm: ThreeDStateWm = draw.latched();
    let te: ThreeDStateTe = draw.latched();
    let stream: ThreeDStateStreamout = draw.latched();
    let multisample: ThreeDStateMultisample = draw.latched();
    let depth_packet: ThreeDStateDepthBuffer = draw.latched();
    let topology: ThreeDStateVfTopology = draw.latched();
    let samples = multisample.number_of_multisamples;
    let mut followed =
        |what: &str, bad: &dyn std::fmt::Display| problems.push(format!("{what}: {bad}"));
    let buffer = depth_plane(&depth_packet, samples).unwrap_or_else(|bad| {
        followed("depth buffer", &bad);
        None
    });
    let stencil_packet: ThreeDStateStencilBuffer = draw.latched();
    let stencil = stencil_plane(&stencil_packet, &depth_packet, samples).unwrap_or_else(|bad| {
        followed("stencil buffer", &bad);
        None
    });
    let shaders = shaders(draw);
    let blend = blend(draw, &mut problems);
    let (targets, more_targets) = match shaders.iter().find(|shader| shader.stage == "PS") {
        Some(shader) => targets(draw, shader, blend.as_ref(), &mut problems),
        None => (Vec::new(), false),
    };
    let lists = Lists::of(draw.state);
    let edges = |it: &SfClipViewport| {
        [it.x_min_view_port, it.y_min_view_port, it.x_max_view_port, it.y_max_view_port]
    };
    let viewports = list(draw, &lists, lists.viewports, &mut problems, edges);
    let depths = |it: &CcViewport| [it.minimum_depth, it.maximum_depth];
    let depth_ranges = list(draw, &lists, lists.depth_ranges, &mut problems, depths);
    let edges = |it: &ScissorRect| {
        [
            it.scissor_rectangle_x_min.get(),
            it.scissor_rectangle_y_min.get(),
            it.scissor_rectangle_x_max.get(),
            it.scissor_rectangle_y_max.get(),
        ]
    };
    let scissors = list(draw, &lists, lists.scissors, &mut problems, edges);
    let sf: ThreeDStateSf = draw.latched();
    let rectangle: ThreeDStateDrawingRectangle = draw.latched();
    let samples = 1 << samples.bits().min(3);
    Summary {
        topology: topology.primitive_topology_type.name(),
        range: Range::of(packet, draw.state),
        indirect: packet.indirect_parameter_enable,
        auto: packet.end_offset_enable,
        indices: (packet.vertex_access_type == Access::RANDOM).then(|| indices(draw)),
        tessellator: te.te_enable.then(|| Tessellator {
            domain: te.te_domain.name(),
            partitioning: te.partitioning.name(),
        }),
        stream_output: stream.so_function_enable,
        rasterised: Rendered::of(&stream) != Rendered::None
            && clip_mode(&clip) != ClipMode::RejectAll,
        statistics: statistics(draw, &clip, &wm),
        shaders,
        targets,
        more_targets,
        purpose: Purpose::of(&draw.latched()),
        depth: buffer.map(|(plane, format)| DepthBuffer {
            plane,
            format,
            hierarchical: depth_packet.hierarchical_depth_buffer_enable,
            test: Test {
                enabled: tests.depth_test_enable,
                function: tests.depth_test_function.name(),
                writes: depth_packet.depth_write_enable && tests.depth_buffer_write_enable,
            },
        }),
        stencil: stencil.map(|plane| StencilBuffer {
            plane,
            byte: 0,
            test: Test {
                enabled: tests.stencil_test_enable,
                function: tests.stencil_test_function.name(),
                writes: tests.stencil_test_enable && tests.stencil_buffer_write_enable,
            },
        }),
        uses_depth: depth::is_used(&depth_packet, &tests),
        cull: draw.latched::<ThreeDStateRaster>().cull_mode.name(),
        samples,
        sample_mask: sample_mask(&draw.latched(), samples).into(),
        transforms: sf.viewport_transform_enable,
        viewports: viewports.unwrap_or_default(),
        depth_ranges: depth_ranges.unwrap_or_default(),
        scissors,
        rectangle: [
            rectangle.clipped_drawing_rectangle_x_min.get(),
            rectangle.clipped_drawing_rectangle_y_min.get(),
            rectangle.clipped_drawing_rectangle_x_max.get(),
            rectangle.clipped_drawing_rectangle_y_max.get(),
        ],
        problems,
    }
}

fn shaders(draw: &Drawing<'_>) -> Vec<ShaderSummary> {
    let kernel = |dispatch, offset: u64| KernelSummary {
        dispatch,
        offset,
        address: draw.state.base.instruction.wrapping_add(offset),
    };
    let mut shaders = Vec::new();
    let mut stage = |stage, kernels| shaders.push(ShaderSummary { stage, kernels });
    let vs: ThreeDStateVs = draw.latched();
    if vs.function_enable {
        let dispatch = dispatch_name(Dispatch::of_vs(&vs), "single vertex");
        stage("VS", vec![kernel(dispatch, vs.kernel_start_pointer.get())]);
    }
    let hs: ThreeDStateHs = draw.latched();
    if hs.enable {
        stage("HS", vec![kernel("single patch", hs.kernel_start_pointer.get())]);
    }
    let ds: ThreeDStateDs = draw.latched();
    if ds.function_enable {
        let dispatch = dispatch_name(Dispatch::of_ds(&ds), "single point");
        stage("DS", vec![kernel(dispatch, ds.kernel_start_pointer.get())]);
    }
    let gs: ThreeDStateGs = draw.latched();
    if gs.enable {
        let dispatch = gs.dispatch_mode.name().unwrap_or("unknown dispatch mode");
        stage("GS", vec![kernel(dispatch, gs.kernel_start_pointer.get())]);
    }
    if wm::shades(draw.state) {
        let kernels = ps::kernels(&draw.latched());
        let kernels = kernels.iter().zip(["SIMD8", "SIMD16", "SIMD32"]);
        let of_width = |(found, dispatch): (&Option<PsKernel>, _)| {
            found.as_ref().map(|found| kernel(dispatch, found.pointer))
        };
        stage("PS", kernels.filter_map(of_width).collect());
    }
    shaders
}

fn dispatch_name(dispatch: Dispatch, single: &'static str) -> &'static str {
    match dispatch {
        Dispatch { width: 1, .. } => single,
        Dispatch { simd8: true, .. } => "SIMD8",
        _ => "SIMD4x2",
    }
}

fn statistics(draw: &Drawing<'_>, clip: &ThreeDStateClip, wm: &ThreeDStateWm) -> Statistics {
    Statistics {
        fetch: draw.latched::<ThreeDStateVfStatistics>().statistics_enable,
        vs: draw.latched::<ThreeDStateVs>().statistics_enable,
        hs: draw.latched::<ThreeDStateHs>().statistics_enable,
        ds: draw.latched::<ThreeDStateDs>().statistics_enable,
        gs: draw.latched::<ThreeDStateGs>().statistics_enable,
        clip: clip.clipper_statistics_enable,
        setup: draw.latched::<ThreeDStateSf>().statistics_enable,
        pixels: wm.statistics_enable,
        depth: wm.statistics_enable,
    }
}

fn indices(draw: &Drawing<'_>) -> IndexBuffer {
    let buffer: ThreeDStateIndexBuffer = draw.latched();
    IndexBuffer {
        format: buffer.index_format.name(),
        address: buffer.buffer_starting_address.va48(),
        bytes: buffer.buffer_size.get(),
    }
}

fn blend(draw: &Drawing<'_>, problems: &mut Vec<String>) -> Option<BlendState> {
    let read = |at, out: &mut [u8]| if draw.read(at, out) { Ok(()) } else { Err(()) };
    let state = wm::blend_state(wm::blend_address(draw.state)?, read).ok();
    if state.is_none() {
        problems.push("BLEND_STATE cannot be read".into());
    }
    state
}

/// The render targets, and true if there may be more.
fn targets(
    draw: &Drawing<'_>,
    shader: &ShaderSummary,
    blend: Option<&BlendState>,
    problems: &mut Vec<String>,
) -> (Vec<Target>, bool) {
    let (mut bindings, mut more) = (BTreeSet::new(), false);
    for kernel in &shader.kernels {
        let place = (Generation::Gen8, kernel.address);
        more |= !descriptors(draw, place, SharedFunction::DataPortRender, &mut |descriptor| {
            let message = MsdRtw::unpack_lossy(&[descriptor]);
            if message.message_type == MtDpRt::MT_RTW {
                bindings.insert(message.binding_table_index.get() as u8);
            }
        });
    }
    let table: ThreeDStateBindingTablePointersPs = draw.latched();
    let base = draw.state.base.surface;
    let pool = Pool::of_tables(&draw.latched());
    let table = Table::new(base, table.pointer_to_ps_binding_table.get(), pool);
    let mut targets = Vec::new();
    for (number, binding) in bindings.into_iter().enumerate() {
        let read = |at, out: &mut [u8]| if draw.read(at, out) { Ok(()) } else { Err(()) };
        let pointer = table.entry(binding, read).ok();
        let state = pointer
            .and_then(|pointer| draw.structure::<RenderSurfaceState>(base.wrapping_add(pointer)));
        let surface = match state.as_ref().map(Surface::resolve) {
            Some(Ok(surface)) => surface,
            Some(Err(bad)) => {
                problems.push(format!("render target, binding table entry {binding}: {bad}"));
                continue;
            }
            None => {
                problems.push(format!(
                    "render target, binding table entry {binding}: its surface state cannot be read"
                ));
                continue;
            }
        };
        targets.push(Target {
            binding,
            surface,
            level: surface.layout.level(surface.mip_count.min(14)),
            blending: blend.and_then(|state| Some(blending(state, state.entry.get(number)?))),
        });
    }
    (targets, more)
}

fn blending(state: &BlendState, entry: &BlendStateEntry) -> Blending {
    let blends = entry.color_buffer_blend_enable && !entry.logic_op_enable;
    Blending {
        logic: entry.logic_op_enable.then(|| entry.logic_op_function.name()),
        color: blends.then(|| {
            [
                entry.source_blend_factor.name(),
                entry.destination_blend_factor.name(),
                entry.color_blend_function.name(),
            ]
        }),
        alpha: (blends && state.independent_alpha_blend_enable).then(|| {
            [
                entry.source_alpha_blend_factor.name(),
                entry.destination_alpha_blend_factor.name(),
                entry.alpha_blend_function.name(),
            ]
        }),
        disabled: [
            entry.write_disable_red,
            entry.write_disable_green,
            entry.write_disable_blue,
            entry.write_disable_alpha,
        ],
    }
}

/// The values of a list of state that the draw reads from memory; `None` if the draw does not need
/// it. The list is empty if its first entry cannot be read; other entries that cannot be read are
/// zero.
fn list<T: Fixed, V>(
    draw: &Drawing<'_>,
    lists: &Lists,
    offset: Option<u64>,
    problems: &mut Vec<String>,
    value: impl Fn(&T) -> V,
) -> Option<Vec<V>>
where
    T::Dwords: AsMut<[u32]>,
{
    let dynamic = draw.state.base.dynamic;
    let read = |offset| draw.structure(dynamic.wrapping_add(offset)).ok_or(());
    let (found, missing) = match lists.read(offset, read) {
        Ok(list) => list.map(|list| (list.found, list.missing))?,
        Err(()) => (Vec::new(), lists.count),
    };
    if missing > 0 {
        problems.push(format!("{}: {missing} of {} cannot be read", T::NAME, lists.count));
    }
    Some(found.iter().map(value).collect())
}
