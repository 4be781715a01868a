//! The state of clipper, setup and rasteriser, resolved once for a draw (2a, 3DSTATE_CLIP,
//! 3DSTATE_SF, 3DSTATE_RASTER, 3DSTATE_MULTISAMPLE and the pointers to viewports and scissor
//! rectangles).

use super::clip::{ClipMode, ClipState};
use super::depth;
use super::depth::DepthFormat;
use super::points_lines::{LineState, PointState};
use super::sf::{CullMode, DepthBias, FillMode, Setup, SetupState};
use super::state;
use super::stipple::{LineStipple, PolygonStipple};
use super::topology::ProvokingSelects;
use super::vue::{dword, place};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::State;
use crate::pixel::coordinates::Rect;
use crate::pixel::multisample::{Multisample, PixelLocation, RasterApi, RasterMode, Samples};
use crate::pixel::raster::FillRule;
use crate::pixel::viewport::{Bounds, Transform, Viewport};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as DepthBufferFormat,
};
use genxml::gen8::render3d_pixel::{
    ThreeDStateWm, ThreeDStateWmPointRasterizationRule as PointRule,
};
use genxml::gen8::render3d_raster::{
    CcViewport, FillMode as Fill, RegionWidth, ScissorRect, SfClipViewport,
    ThreeDStateAaLineParameters, ThreeDStateClip, ThreeDStateClipApiMode as ApiMode,
    ThreeDStateClipClipMode as Clip, ThreeDStateClipForceClipMode as ForceClip,
    ThreeDStateClipForceUserClipDistanceClipTestEnableBitmask as ForceClips,
    ThreeDStateClipForceUserClipDistanceCullTestEnableBitmask as ForceCulls,
    ThreeDStateDrawingRectangle, ThreeDStateLineStipple, ThreeDStateMultisample,
    ThreeDStateMultisamplePixelLocation as Location, ThreeDStatePolyStippleOffset,
    ThreeDStatePolyStipplePattern, ThreeDStateRaster, ThreeDStateRasterApiMode as ApiOfRaster,
    ThreeDStateRasterCullMode as Cull, ThreeDStateRasterDxMultisampleRasterizationMode as DxMode,
    ThreeDStateRasterForceMultisampling as ForceMultisampling,
    ThreeDStateRasterForcedSampleCount as ForcedCount, ThreeDStateRasterFrontWinding as Winding,
    ThreeDStateSampleMask, ThreeDStateSamplePattern, ThreeDStateScissorStatePointers,
    ThreeDStateSf, ThreeDStateSfAaLineDistanceMode as DistanceMode,
    ThreeDStateSfPointWidthSource as WidthSource,
    ThreeDStateSfVertexSubPixelPrecisionSelect as Precision, ThreeDStateViewportStatePointersCc,
    ThreeDStateViewportStatePointersSfClip,
};
use genxml_core::UFix;
use genxml_core::packet::Fixed;

/// The user distances that the last stage before the clipper enables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Distances {
    /// User Clip Distance Clip Test Enable Bitmask.
    pub clip: u8,
    /// User Clip Distance Cull Test Enable Bitmask.
    pub cull: u8,
}

/// The state of clipping, setup and rasterisation.
#[derive(Clone, Debug)]
pub struct RasterState {
    /// State of the clipper. Its guard band is replaced by that of each primitive's viewport.
    pub clip: ClipState,
    /// State of setup.
    pub setup: SetupState,
    /// The transform of positions to the screen.
    pub transform: Transform,
    /// The samples that are rasterised.
    pub multisample: Multisample,
    /// Mask of the samples that primitives may cover, for a pixel of the buffers.
    pub sample_mask: u8,
    /// Number of samples of a pixel in the buffers (Number of Multisamples).
    pub samples: u32,
    /// The rasterised samples are not those of the buffers (Forced Sample Count).
    pub forced: bool,
    /// Viewports, up to the highest index that vertices may have.
    pub viewports: Vec<Viewport>,
    /// The depth range of each viewport; empty if no depth buffer is tested or written.
    pub ranges: Vec<CcViewport>,
    /// For each viewport, the pixels that its primitives may draw.
    windows: Vec<Rect>,
    /// All primitives are drawn to slice 0.
    pub zero_array_index: bool,
    /// The selects of the provoking vertex, from which flat attributes come.
    pub provoking: ProvokingSelects,
    /// The line stipple, with the position in it at the start of the draw.
    pub line_stipple: Option<(LineStipple, u32)>,
    /// The polygon stipple.
    pub polygon_stipple: Option<PolygonStipple>,
}

impl RasterState {
    /// Resolves the state from the packets.
    ///
    /// # Errors
    /// Page faults when viewports, depth ranges and scissor rectangles are read.
    pub fn resolve(exec: &Exec<'_>, distances: Distances) -> Result<RasterState, Fault> {
        let clip: ThreeDStateClip = state::packet(exec);
        let sf: ThreeDStateSf = state::packet(exec);
        let raster: ThreeDStateRaster = state::packet(exec);
        let wm: ThreeDStateWm = state::packet(exec);
        let rectangle: ThreeDStateDrawingRectangle = state::packet(exec);
        let lists = Lists::of(exec.state);
        let viewports = match lists.read(lists.viewports, |offset| state::dynamic(exec, offset))? {
            Some(list) => list.found.iter().map(viewport).collect(),
            None => vec![Viewport::IDENTITY; lists.count],
        };
        let ranges = lists.read(lists.depth_ranges, |offset| state::dynamic(exec, offset))?;
        let scissors = lists.read(lists.scissors, |offset| state::dynamic(exec, offset))?;
        let (multisample, samples, forced) = multisample(exec, &raster)?;
        let origin = [rectangle.drawing_rectangle_origin_x, rectangle.drawing_rectangle_origin_y]
            .map(|origin| origin.get() as i32);
        let scissors = scissors.map(|list| list.found.iter().map(scissor).collect::<Vec<_>>());
        let window = |(n, viewport): (usize, &Viewport)| {
            let scissor = scissors.as_ref().and_then(|list| list.get(n).copied());
            let bounds = Bounds {
                drawing: Rect::inclusive(
                    rectangle.clipped_drawing_rectangle_x_min.get() as i32,
                    rectangle.clipped_drawing_rectangle_y_min.get() as i32,
                    rectangle.clipped_drawing_rectangle_x_max.get() as i32,
                    rectangle.clipped_drawing_rectangle_y_max.get() as i32,
                ),
                origin,
                scissor,
                target: Rect::SCREEN,
            };
            // Drivers disable the X and Y clip test for points and lines, and rely on the
            // viewport's extents.
            bounds.window(viewport, sf.viewport_transform_enable)
        };
        let windows = viewports.iter().enumerate().map(window).collect();
        Ok(RasterState {
            clip: clip_state(&clip, &raster, distances),
            setup: setup_state(exec, &clip, &sf, &raster, &wm, raster_mode(&raster, forced).on),
            transform: Transform {
                divide: !clip.perspective_divide_disable,
                viewport: sf.viewport_transform_enable,
                origin,
                offset: multisample.vertex_offset,
                precision: match sf.vertex_sub_pixel_precision_select {
                    Precision::_4_BIT => 4,
                    _ => 8,
                },
            },
            sample_mask: sample_mask(&state::packet(exec), samples),
            multisample,
            samples,
            forced,
            viewports,
            ranges: ranges.map_or_else(Vec::new, |list| list.found),
            windows,
            zero_array_index: clip.force_zero_rta_index_enable,
            provoking: ProvokingSelects {
                line: sf.line_strip_list_provoking_vertex_select.bits() as u8,
                triangle: sf.triangle_strip_list_provoking_vertex_select.bits() as u8,
                fan: sf.triangle_fan_provoking_vertex_select.bits() as u8,
            },
            line_stipple: wm.line_stipple_enable.then(|| line_stipple(exec)),
            polygon_stipple: wm.polygon_stipple_enable.then(|| polygon_stipple(exec)),
        })
    }

    /// The viewport that a vertex selects: `index`, or 0 if `index` is too large (gen8_facts 5.2).
    pub fn viewport(&self, index: u32) -> usize {
        let index = index as usize;
        if index < self.viewports.len() { index } else { 0 }
    }

    /// The setup stage for primitives of a viewport.
    #[inline]
    pub fn setup_of(&self, viewport: usize) -> Setup<'_> {
        Setup {
            state: &self.setup,
            viewport: &self.viewports[viewport],
            transform: self.transform,
            multisample: &self.multisample,
        }
    }

    /// The render target array index of a primitive with this provoking vertex.
    pub fn array_index(&self, leader: &[u32]) -> u32 {
        if self.zero_array_index { 0 } else { dword(leader, place::ARRAY_INDEX) }
    }

    /// For each viewport, the pixels that its primitives may draw.
    pub fn windows(&self) -> &[Rect] {
        &self.windows
    }

    /// The pixels of `target` that primitives of a viewport may draw. `target` is the screen or a
    /// tile of the screen.
    pub fn window(&self, viewport: usize, target: Rect) -> Rect {
        self.windows[viewport].intersection(target)
    }
}

/// The lists of viewports, depth ranges and scissor rectangles that a draw reads, as offsets from
/// Dynamic State Base Address; none for a list that the draw does not need. The pointer to such a
/// list can have any value, for example in copies and clears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lists {
    /// Number of entries of each list: the highest viewport index that vertices may have, plus one.
    pub count: usize,
    /// SF_CLIP_VIEWPORT: read if positions are transformed or primitives are clipped.
    pub viewports: Option<u64>,
    /// CC_VIEWPORT: read if there is a depth buffer that is tested or written.
    pub depth_ranges: Option<u64>,
    /// SCISSOR_RECT: read if Scissor Rectangle Enable is set.
    pub scissors: Option<u64>,
}

/// A list of structures in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct List<T> {
    /// The structures. Those that cannot be read are zero.
    pub found: Vec<T>,
    /// Number of structures that cannot be read.
    pub missing: usize,
}

impl Lists {
    /// The lists that a draw with this state reads.
    pub fn of(state: &State) -> Lists {
        let latched = &state.latched;
        let clip: ThreeDStateClip = latched.read(0);
        let sf: ThreeDStateSf = latched.read(0);
        let raster: ThreeDStateRaster = latched.read(0);
        let viewports: ThreeDStateViewportStatePointersSfClip = latched.read(0);
        let depth_ranges: ThreeDStateViewportStatePointersCc = latched.read(0);
        let scissors: ThreeDStateScissorStatePointers = latched.read(0);
        let clips = clip_mode(&clip) == ClipMode::Normal;
        Lists {
            count: clip.maximum_vp_index.get() as usize + 1,
            viewports: (sf.viewport_transform_enable || clips)
                .then(|| viewports.sf_clip_viewport_pointer.get()),
            depth_ranges: depth::is_used(&latched.read(0), &latched.read(0))
                .then(|| depth_ranges.cc_viewport_pointer.get()),
            scissors: raster.scissor_rectangle_enable.then(|| scissors.scissor_rect_pointer.get()),
        }
    }

    /// Reads the list at `offset`; `None` if there is no offset. `read` reads the structure at an
    /// offset.
    ///
    /// # Errors
    /// The error of `read` for the first structure. Other structures that cannot be read are zero:
    /// vertices need not use them.
    pub fn read<T: Fixed, E>(
        &self,
        offset: Option<u64>,
        read: impl Fn(u64) -> Result<T, E>,
    ) -> Result<Option<List<T>>, E> {
        let Some(offset) = offset else { return Ok(None) };
        let mut list = List { found: vec![read(offset)?], missing: 0 };
        for index in 1..self.count as u64 {
            let structure = read(offset + index * 4 * T::DWORDS as u64);
            list.missing += usize::from(structure.is_err());
            list.found.push(structure.unwrap_or_else(|_| T::read_lossy(&[])));
        }
        Ok(Some(list))
    }
}

fn scissor(rect: &ScissorRect) -> Rect {
    Rect::inclusive(
        rect.scissor_rectangle_x_min.get() as i32,
        rect.scissor_rectangle_y_min.get() as i32,
        rect.scissor_rectangle_x_max.get() as i32,
        rect.scissor_rectangle_y_max.get() as i32,
    )
}

fn viewport(state: &SfClipViewport) -> Viewport {
    Viewport {
        scale: [
            state.viewport_matrix_element_m00,
            state.viewport_matrix_element_m11,
            state.viewport_matrix_element_m22,
        ],
        translate: [
            state.viewport_matrix_element_m30,
            state.viewport_matrix_element_m31,
            state.viewport_matrix_element_m32,
        ],
        guard_band: [
            state.x_min_clip_guardband,
            state.x_max_clip_guardband,
            state.y_min_clip_guardband,
            state.y_max_clip_guardband,
        ],
        extents: [
            state.x_min_view_port,
            state.x_max_view_port,
            state.y_min_view_port,
            state.y_max_view_port,
        ],
    }
}

/// Clip Mode; off if the clipper is disabled and Force Clip Mode is not set.
pub fn clip_mode(clip: &ThreeDStateClip) -> ClipMode {
    match clip.clip_mode {
        _ if !clip.clip_enable && clip.force_clip_mode != ForceClip::FORCE => ClipMode::Off,
        Clip::REJECT_ALL => ClipMode::RejectAll,
        Clip::ACCEPT_ALL => ClipMode::AcceptAll,
        _ => ClipMode::Normal,
    }
}

/// The state of the clipper, with the distances that the last stage enables.
pub fn clip_state(
    clip: &ThreeDStateClip,
    raster: &ThreeDStateRaster,
    distances: Distances,
) -> ClipState {
    // Without the force bits, the masks come from the last stage (2a p.40-42).
    let clips = match clip.force_user_clip_distance_clip_test_enable_bitmask {
        ForceClips::FORCE => clip.user_clip_distance_clip_test_enable_bitmask.get() as u8,
        _ => distances.clip,
    };
    let culls = match clip.force_user_clip_distance_cull_test_enable_bitmask {
        ForceCulls::FORCE => clip.user_clip_distance_cull_test_enable_bitmask.get() as u8,
        _ => distances.cull,
    };
    ClipState {
        mode: clip_mode(clip),
        near_is_zero: clip.api_mode == ApiMode::D3D,
        viewport_xy: clip.viewport_xy_clip_test_enable,
        guard_band_xy: clip.guardband_clip_test_enable,
        guard_band: [-1.0, 1.0, -1.0, 1.0],
        viewport_z: raster.viewport_z_clip_test_enable,
        clip_distances: clips,
        cull_distances: culls,
    }
}

/// Multisample Rasterization Mode: whether lines are rectangles, and the positions of samples (2a
/// p.177).
fn raster_mode(raster: &ThreeDStateRaster, forced: bool) -> RasterMode {
    let mode = raster.dx_multisample_rasterization_mode;
    if raster.force_multisampling == ForceMultisampling::FORCE {
        return RasterMode {
            on: matches!(mode, DxMode::MSRASTMODE_ON_PIXEL | DxMode::MSRASTMODE_ON_PATTERN),
            pattern: matches!(mode, DxMode::MSRASTMODE_OFF_PATTERN | DxMode::MSRASTMODE_ON_PATTERN),
        };
    }
    let api = match raster.api_mode {
        ApiOfRaster::DX10_0 => RasterApi::Dx10,
        ApiOfRaster::DX10_1 => RasterApi::Dx10_1,
        _ => RasterApi::Dx9OrOgl,
    };
    RasterMode::of(api, raster.dx_multisample_rasterization_enable, forced)
}

fn setup_state(
    exec: &Exec<'_>,
    clip: &ThreeDStateClip,
    sf: &ThreeDStateSf,
    raster: &ThreeDStateRaster,
    wm: &ThreeDStateWm,
    rectangle: bool,
) -> SetupState {
    let fill = |mode: Fill| match mode {
        Fill::WIREFRAME => FillMode::Wireframe,
        Fill::POINT => FillMode::Point,
        _ => FillMode::Solid,
    };
    let region = |width: RegionWidth| [0.5, 1.0, 2.0, 4.0][width.bits() as usize & 3];
    let depth: ThreeDStateDepthBuffer = state::packet(exec);
    let aa: ThreeDStateAaLineParameters = state::packet(exec);
    SetupState {
        cull: match raster.cull_mode {
            Cull::CULLMODE_BOTH => CullMode::Both,
            Cull::CULLMODE_FRONT => CullMode::Front,
            Cull::CULLMODE_BACK => CullMode::Back,
            _ => CullMode::None,
        },
        front_is_counterclockwise: raster.front_winding == Winding::COUNTER_CLOCKWISE,
        front: fill(raster.front_face_fill_mode),
        back: fill(raster.back_face_fill_mode),
        bias: DepthBias {
            enable: [
                raster.global_depth_offset_enable_solid,
                raster.global_depth_offset_enable_wireframe,
                raster.global_depth_offset_enable_point,
            ],
            constant: raster.global_depth_offset_constant,
            scale: raster.global_depth_offset_scale,
            clamp: raster.global_depth_offset_clamp,
            unscaled: sf.legacy_global_depth_bias_enable,
            format: match depth.surface_format {
                DepthBufferFormat::D16_UNORM => DepthFormat::Unorm16,
                DepthBufferFormat::D32_FLOAT => DepthFormat::Float32,
                _ => DepthFormat::Unorm24,
            },
        },
        line: LineState {
            width: sf.line_width.get() as f32,
            rectangle,
            antialias: raster.antialiasing_enable,
            region: region(wm.line_antialiasing_region_width),
            cap_region: region(sf.line_end_cap_antialiasing_region_width),
            manhattan: sf.aa_line_distance_mode == DistanceMode::AALINEDISTANCE_MANHATTAN,
            slopes: [
                [aa.aa_coverage_slope, aa.aa_coverage_bias],
                [aa.aa_coverage_end_cap_slope, aa.aa_coverage_end_cap_bias],
            ]
            .map(|pair| pair.map(|value| value.get() as f32)),
            last_pixel: sf.last_pixel_enable,
        },
        point: PointState {
            width: (sf.point_width_source == WidthSource::STATE)
                .then(|| sf.point_width.get() as f32),
            bounds: [clip.minimum_point_width.get() as f32, clip.maximum_point_width.get() as f32],
            rule: match wm.point_rasterization_rule {
                PointRule::RASTRULE_UPPER_RIGHT => FillRule::UpperRight,
                _ => FillRule::UpperLeft,
            },
            smooth: raster.smooth_point_enable,
            slopes: [
                [aa.aa_point_coverage_slope, aa.aa_point_coverage_bias],
                [aa.aa_point_coverage_end_cap_slope, aa.aa_point_coverage_end_cap_bias],
            ]
            .map(|pair| pair.map(|value| value.get() as f32)),
        },
    }
}

/// The samples of a pixel that may be covered. Bits of samples that do not exist are ignored
/// (2a p.180).
pub fn sample_mask(mask: &ThreeDStateSampleMask, samples: u32) -> u8 {
    mask.sample_mask.get() as u8 & ((1_u16 << samples) - 1) as u8
}

/// The samples that are rasterised, the number of samples of a pixel in the buffers, and whether
/// Forced Sample Count sets the number of rasterised samples.
fn multisample(
    exec: &Exec<'_>,
    raster: &ThreeDStateRaster,
) -> Result<(Multisample, u32, bool), Fault> {
    let packet: ThreeDStateMultisample = state::packet(exec);
    let pattern: Option<ThreeDStateSamplePattern> = state::entry(exec, 0);
    let code = packet.number_of_multisamples.bits();
    if code > 3 {
        return Err(exec.bad_field(
            "Number of Multisamples",
            code,
            "1, 2, 4 or 8 samples are possible",
        ));
    }
    let samples = 1 << code;
    let forced = match raster.forced_sample_count {
        ForcedCount::NUMRASTSAMPLES_0 => None,
        ForcedCount::NUMRASTSAMPLES_16 => Some(16),
        count => Some(1 << (count.bits().clamp(1, 4) - 1)),
    };
    let counted = forced.unwrap_or(samples);
    let location = match packet.pixel_location {
        Location::UL_CORNER => PixelLocation::UpperLeft,
        _ => PixelLocation::Centre,
    };
    let positions = match (pattern, counted) {
        // Draws with one sample do not depend on a packet that was never sent.
        (None, 1) => Samples::new(&[location.position()]).unwrap_or(Samples::CENTRE),
        (pattern, _) => {
            positions(&pattern.unwrap_or(ThreeDStateSamplePattern::new()), counted as usize)
        }
    };
    let mode = raster_mode(raster, forced.is_some());
    Ok((
        Multisample::new(positions, mode, location, packet.pixel_position_offset_enable),
        samples,
        forced.is_some(),
    ))
}

/// The positions of `count` samples (3DSTATE_SAMPLE_PATTERN, 2a p.188). The packet has none for 16
/// samples: they have fixed positions.
fn positions(pattern: &ThreeDStateSamplePattern, count: usize) -> Samples {
    let (one, two, four, eight) = pattern_lists(pattern);
    let found = match count {
        1 => Samples::new(&one),
        2 => Samples::new(&two),
        4 => Samples::new(&four),
        8 => Samples::new(&eight),
        _ => Some(Samples::SIXTEEN),
    };
    found.unwrap_or(Samples::CENTRE)
}

type Patterns = ([[u8; 2]; 1], [[u8; 2]; 2], [[u8; 2]; 4], [[u8; 2]; 8]);

/// The sample positions of the pattern for one, two, four and eight samples, in 1/16 pixels.
fn pattern_lists(p: &ThreeDStateSamplePattern) -> Patterns {
    (
        [at(p._1x_sample0_x_offset, p._1x_sample0_y_offset)],
        [
            at(p._2x_sample0_x_offset, p._2x_sample0_y_offset),
            at(p._2x_sample1_x_offset, p._2x_sample1_y_offset),
        ],
        [
            at(p._4x_sample0_x_offset, p._4x_sample0_y_offset),
            at(p._4x_sample1_x_offset, p._4x_sample1_y_offset),
            at(p._4x_sample2_x_offset, p._4x_sample2_y_offset),
            at(p._4x_sample3_x_offset, p._4x_sample3_y_offset),
        ],
        [
            at(p._8x_sample0_x_offset, p._8x_sample0_y_offset),
            at(p._8x_sample1_x_offset, p._8x_sample1_y_offset),
            at(p._8x_sample2_x_offset, p._8x_sample2_y_offset),
            at(p._8x_sample3_x_offset, p._8x_sample3_y_offset),
            at(p._8x_sample4_x_offset, p._8x_sample4_y_offset),
            at(p._8x_sample5_x_offset, p._8x_sample5_y_offset),
            at(p._8x_sample6_x_offset, p._8x_sample6_y_offset),
            at(p._8x_sample7_x_offset, p._8x_sample7_y_offset),
        ],
    )
}

fn at(x: UFix<0, 4>, y: UFix<0, 4>) -> [u8; 2] {
    [x, y].map(|c| c.bits() as u8)
}

/// The line stipple, and the position that the packet sets; 0 if it sets none.
fn line_stipple(exec: &Exec<'_>) -> (LineStipple, u32) {
    let packet: ThreeDStateLineStipple = state::packet(exec);
    let stipple = LineStipple {
        pattern: packet.line_stipple_pattern.get() as u16,
        repeat: packet.line_stipple_repeat_count.get() as u16,
    };
    let start = match packet.modify_enable_current_repeat_counter_current_stipple_index {
        true => stipple.position(
            packet.current_stipple_index.get() as u32,
            packet.current_repeat_counter.get() as u32,
        ),
        false => 0,
    };
    (stipple, start)
}

fn polygon_stipple(exec: &Exec<'_>) -> PolygonStipple {
    let pattern: ThreeDStatePolyStipplePattern = state::packet(exec);
    let offset: ThreeDStatePolyStippleOffset = state::packet(exec);
    PolygonStipple {
        rows: pattern.pattern_row.map(|row| row.get() as u32),
        offset: [
            offset.polygon_stipple_x_offset.get() as u32,
            offset.polygon_stipple_y_offset.get() as u32,
        ],
    }
}
