//! The state of a draw, for observers: a summary of the state that the pipeline resolves. Invalid
//! state is not an error here: the draw itself reports it, and [`Summary::problems`] lists it.

use crate::eu::decode;
use crate::eu::decode::Fetched;
use crate::machine::drawing::Drawing;
use crate::render::clip::ClipMode;
use crate::render::depth::{self, DepthFormat, Plane, depth_plane, stencil_plane};
use crate::render::ps::{self, PsKernel};
use crate::render::raster_state::{Lists, clip_mode, sample_mask};
use crate::render::render_target::Purpose;
use crate::render::sol::Rendered;
use crate::render::stage::Dispatch;
use crate::render::vf::Range;
use crate::render::wm;
use crate::surface::{Level, Surface};
use crate::unit::resource_streamer::pool::Pool;
use crate::unit::resource_streamer::tables::Table;
use genxml::eu::decode::{decode, length};
use genxml::eu::gen8::eu_messages::{MsdRtw, MtDpRt};
use genxml::eu::instruction::{Descriptor, Instruction, SharedFunction};
use genxml::gen8::enums::ThreeDPrimTopoType;
use genxml::gen8::render3d_binding::ThreeDStateBindingTablePointersPs;
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer, ThreeDStateVfStatistics,
    ThreeDStateVfTopology,
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

/// The state of a draw.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Primitive Topology Type.
    pub topology: ThreeDPrimTopoType,
    /// The vertices and instances.
    pub range: Range,
    /// True if the range comes from registers, not from the packet.
    pub indirect: bool,
    /// True if the number of vertices comes from the amount of data that stream output wrote.
    pub auto: bool,
    /// The index buffer, if vertices are drawn by index.
    pub indices: Option<ThreeDStateIndexBuffer>,
    /// Enabled shaders, in the order of the pipeline.
    pub shaders: Vec<ShaderSummary>,
    /// 3DSTATE_TE, if the tessellator is enabled.
    pub tessellator: Option<ThreeDStateTe>,
    /// True if stream output writes vertices to memory.
    pub stream_output: bool,
    /// True if primitives reach the rasteriser: neither stream output nor the clipper drops all.
    pub rasterised: bool,
    /// Surfaces that the pixel shader's messages name as render targets, by binding table index.
    pub targets: Vec<Target>,
    /// True if there may be more targets: a message has its descriptor in a register, or a part of
    /// the kernel cannot be read.
    pub more_targets: bool,
    /// What writes to the targets do: draw, clear or resolve.
    pub purpose: Purpose,
    /// BLEND_STATE, if there is one.
    pub blend: Option<BlendState>,
    /// The depth buffer, if there is one, whether it is tested or not.
    pub depth: Option<DepthBuffer>,
    /// The stencil buffer, if there is one, whether it is tested or not.
    pub stencil: Option<Plane>,
    /// Depth and stencil tests.
    pub tests: ThreeDStateWmDepthStencil,
    /// Depth Write Enable of 3DSTATE_DEPTH_BUFFER. Depth is written only if `tests` enable it too.
    pub depth_writes: bool,
    uses_depth: bool,
    /// Culling and fill modes.
    pub raster: ThreeDStateRaster,
    /// Number of samples of a pixel.
    pub samples: u32,
    /// Mask of the samples of a pixel that primitives may cover (3DSTATE_SAMPLE_MASK).
    pub sample_mask: u32,
    /// True if a viewport transforms positions; otherwise they are in pixels already.
    pub transforms: bool,
    /// Viewports up to the highest index that vertices may have; empty if vertices are neither
    /// transformed nor clipped.
    pub viewports: Vec<SfClipViewport>,
    /// Depth ranges of the viewports.
    pub depth_ranges: Vec<CcViewport>,
    /// Scissor rectangles of the viewports, if they are enabled.
    pub scissors: Option<Vec<ScissorRect>>,
    /// The drawing rectangle.
    pub rectangle: ThreeDStateDrawingRectangle,
    /// The statistics that are enabled.
    pub statistics: Statistics,
    /// State that could not be resolved.
    pub problems: Vec<String>,
}

/// An enabled shader stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderSummary {
    /// `VS`, `HS`, `DS`, `GS` or `PS`.
    pub stage: &'static str,
    /// The kernels of the stage: up to three for a pixel shader, one for other stages.
    pub kernels: Vec<KernelSummary>,
}

/// A kernel of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelSummary {
    /// How threads are dispatched: `SIMD8`, `SIMD4x2`...
    pub dispatch: &'static str,
    /// Offset of the kernel from Instruction Base Address.
    pub offset: u64,
    /// Graphics address of the kernel.
    pub address: u64,
}

/// A render target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Binding table index of the target.
    pub binding: u8,
    /// The surface.
    pub surface: Surface,
    /// The level that is drawn to.
    pub level: Level,
    /// Entry of BLEND_STATE for the target, if there is one. Messages select the entry in their
    /// header. Here targets get entries in the order of their binding table indices, as drivers do.
    pub blend: Option<BlendStateEntry>,
}

/// A depth buffer.
#[derive(Clone, Copy, Debug)]
pub struct DepthBuffer {
    /// Surface, level and slices.
    pub plane: Plane,
    /// Format of the elements of the buffer.
    pub format: DepthFormat,
    /// True if there is a hierarchical depth buffer.
    pub hierarchical: bool,
}

/// Which statistics are enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// True if fetched vertices and assembled primitives are counted.
    pub fetch: bool,
    /// True if invocations of the vertex shader are counted.
    pub vs: bool,
    /// True if invocations of the hull shader are counted.
    pub hs: bool,
    /// True if invocations of the domain shader are counted.
    pub ds: bool,
    /// True if invocations of the geometry shader and the primitives that it makes are counted.
    pub gs: bool,
    /// True if primitives that reach the clipper are counted.
    pub clip: bool,
    /// True if primitives that the clipper keeps are counted.
    pub setup: bool,
    /// True if shaded pixels and samples that pass the tests are counted.
    pub pixels: bool,
}

impl Drawing<'_> {
    /// The state of the draw, resolved from the latched packets.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }
}

impl Summary {
    /// The summary of a draw.
    pub fn of(draw: &Drawing<'_>) -> Summary {
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
        let stencil =
            stencil_plane(&stencil_packet, &depth_packet, samples).unwrap_or_else(|bad| {
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
        let viewports = list(draw, &lists, lists.viewports, &mut problems);
        let depth_ranges = list(draw, &lists, lists.depth_ranges, &mut problems);
        let scissors = list(draw, &lists, lists.scissors, &mut problems);
        let sf: ThreeDStateSf = draw.latched();
        let samples = 1 << samples.bits().min(3);
        Summary {
            topology: topology.primitive_topology_type,
            range: Range::of(draw.packet, draw.state),
            indirect: draw.packet.indirect_parameter_enable,
            auto: draw.packet.end_offset_enable,
            indices: (draw.packet.vertex_access_type == Access::RANDOM).then(|| draw.latched()),
            tessellator: te.te_enable.then_some(te),
            stream_output: stream.so_function_enable,
            rasterised: Rendered::of(&stream) != Rendered::None
                && clip_mode(&clip) != ClipMode::RejectAll,
            statistics: statistics(draw, &clip, &wm),
            shaders,
            targets,
            more_targets,
            purpose: Purpose::of(&draw.latched()),
            blend,
            depth: buffer.map(|(plane, format)| DepthBuffer {
                plane,
                format,
                hierarchical: depth_packet.hierarchical_depth_buffer_enable,
            }),
            stencil,
            tests,
            depth_writes: depth_packet.depth_write_enable,
            uses_depth: depth::is_used(&depth_packet, &tests),
            raster: draw.latched(),
            samples,
            sample_mask: sample_mask(&draw.latched(), samples).into(),
            transforms: sf.viewport_transform_enable,
            viewports: viewports.unwrap_or_default(),
            depth_ranges: depth_ranges.unwrap_or_default(),
            scissors,
            rectangle: draw.latched(),
            problems,
        }
    }

    /// True if there is a depth buffer that is tested or written.
    pub fn uses_depth(&self) -> bool {
        self.uses_depth
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
        more |= !written(draw, kernel.address, &mut bindings);
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
            blend: blend.and_then(|blend| blend.entry.get(number)).copied(),
        });
    }
    (targets, more)
}

/// Adds the binding table indices that a kernel writes as render targets; returns false if there
/// may be others.
fn written(draw: &Drawing<'_>, address: u64, bindings: &mut BTreeSet<u8>) -> bool {
    let mut all = true;
    let mut look = |instruction: &Instruction| {
        let Some(send) =
            instruction.send.filter(|send| send.function == SharedFunction::DataPortRender)
        else {
            return;
        };
        let Descriptor::Immediate(descriptor) = send.descriptor else {
            all = false;
            return;
        };
        let message = MsdRtw::unpack_lossy(&[descriptor]);
        if message.message_type == MtDpRt::MT_RTW {
            bindings.insert(message.binding_table_index.get() as u8);
        }
    };
    let mut readable = true;
    decode::kernel(address, 0, |offset| {
        let at = address.wrapping_add_signed(offset.into());
        let mut dwords = [0u32; 4];
        let mut read = draw.read(at, bytemuck::must_cast_slice_mut(&mut dwords[..2]));
        let compact = length(dwords[0]) == 8;
        if read && !compact {
            read = draw.read(at, bytemuck::must_cast_slice_mut(&mut dwords));
        }
        match decode(if compact { &dwords[..2] } else { &dwords }) {
            Ok(instruction) if read => {
                look(&instruction);
                Fetched::Instruction(Box::new(instruction))
            }
            _ => {
                readable = false;
                Fetched::Garbage(String::new())
            }
        }
    });
    all && readable
}

/// A list of state that the draw reads from memory; `None` if the draw does not need it. The list
/// is empty if its first entry cannot be read; other entries that cannot be read are zero.
fn list<T: Fixed>(
    draw: &Drawing<'_>,
    lists: &Lists,
    offset: Option<u64>,
    problems: &mut Vec<String>,
) -> Option<Vec<T>>
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
    Some(found)
}
