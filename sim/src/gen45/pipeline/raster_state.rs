//! State of strips and fans and of the rasteriser, resolved for a draw (gen45_facts 9.1, 10).

use super::common::refuse;
use super::depth_buffer::Format;
use crate::gen45::debug;
use crate::gen45::state::{general, latched};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::pixel::coordinates::Rect;
use crate::pixel::multisample::{Multisample, PixelLocation, Samples};
use crate::pixel::raster::FillRule;
use crate::pixel::viewport::{Transform, Viewport};
use crate::render::depth::DepthFormat;
use crate::render::points_lines::{LineState, PointState};
use crate::render::sf::{CullMode, DepthBias};
use crate::render::stipple::{LineStipple, PolygonStipple};
use genxml::gen45::commands_3d::{
    ThreeDStateAaLineParameters, ThreeDStateDepthBuffer, ThreeDStateDrawingRectangle,
    ThreeDStateGlobalDepthOffsetClamp, ThreeDStateLineStipple, ThreeDStatePolyStippleOffset,
    ThreeDStatePolyStipplePattern,
};
use genxml::gen45::enums::LineAntialiasingRegionWidth as Region;
use genxml::gen45::state_units::{
    SfState, SfStateAaLineDistanceMode as Distance, SfStateCullMode as Cull,
    SfStateFrontWinding as Winding, SfStatePointRasterizationRule as PointRule,
    SfStatePointWidthSource as WidthSource, SfStateVertexSubPixelPrecisionSelect as Precision,
    SfViewport, WmState,
};

/// Units of a sample position in a pixel.
const SIXTEENTH: i32 = 16;

/// State of strips and fans and of the rasteriser.
#[derive(Clone, Debug)]
pub struct RasterState {
    /// The viewport. Its guard band and extents are not used.
    pub viewport: Viewport,
    /// The transform from normalised coordinates to the screen.
    pub transform: Transform,
    /// Position of the only sample of a pixel.
    pub multisample: Multisample,
    /// Position of the sample in the pixel, in pixels.
    pub bias: [f32; 2],
    /// Pixels that can be drawn.
    pub window: Rect,
    /// Which triangles are dropped.
    pub cull: CullMode,
    /// Counterclockwise triangles face forward.
    pub front_is_counterclockwise: bool,
    /// How lines are drawn.
    pub line: LineState,
    /// How points are drawn.
    pub point: PointState,
    /// Points have sprite coordinates.
    pub sprites: bool,
    /// Provoking vertices of lines, triangles and fans.
    pub provoking: [u8; 3],
    /// Line stipple, with the position at the start of a strip.
    pub line_stipple: Option<(LineStipple, u32)>,
    /// Polygon stipple.
    pub polygon_stipple: Option<PolygonStipple>,
    /// Bias of the depth of triangles.
    pub depth_bias: Option<DepthBias>,
}

impl RasterState {
    /// Resolves the state.
    ///
    /// # Errors
    /// A page fault at the viewport; [`Fault::Unimplemented`] for Legacy Diamond Line
    /// Rasterization.
    pub fn resolve(exec: &Exec<'_>, sf: &SfState, wm: &WmState) -> Result<RasterState, Fault> {
        let legacy = wm.legacy_diamond_line_rasterization;
        refuse(exec, legacy, "Legacy Diamond Line Rasterization of WM_STATE")?;
        let mut drawing: ThreeDStateDrawingRectangle = latched(exec);
        if debug::enabled(&exec.state.registers) {
            drawing = debug::fixed::drawing(&exec.state.registers, drawing);
        }
        // The pointer can have any value if nothing of the viewport is used, as in blits.
        let used = sf.viewport_transform_enable || sf.scissor_rectangle_enable;
        let viewport = match used {
            true => general(exec, sf.setup_viewport_state_offset.get())?,
            false => SfViewport::new(),
        };
        let origin = [
            drawing.drawing_rectangle_origin_x.get() as i32,
            drawing.drawing_rectangle_origin_y.get() as i32,
        ];
        let bias = [
            sf.destination_origin_horizontal_bias.bits() as u8,
            sf.destination_origin_vertical_bias.bits() as u8,
        ];
        let samples = Samples::new(&[bias]).unwrap_or(Samples::CENTRE);
        let location =
            if bias == [0, 0] { PixelLocation::UpperLeft } else { PixelLocation::Centre };
        Ok(RasterState {
            viewport: Viewport {
                scale: [
                    viewport.viewport_matrix_element_m00,
                    viewport.viewport_matrix_element_m11,
                    viewport.viewport_matrix_element_m22,
                ],
                translate: [
                    viewport.viewport_matrix_element_m30,
                    viewport.viewport_matrix_element_m31,
                    viewport.viewport_matrix_element_m32,
                ],
                ..Viewport::IDENTITY
            },
            transform: Transform {
                // The vertex shader has already divided positions by w.
                divide: false,
                viewport: sf.viewport_transform_enable,
                origin,
                offset: 0,
                precision: match sf.vertex_sub_pixel_precision_select {
                    Precision::_4_SUB_PIXEL_PRECISION_BITS => 4,
                    _ => 8,
                },
            },
            multisample: Multisample { samples, location, vertex_offset: 0 },
            bias: bias.map(|bias| f32::from(bias) / SIXTEENTH as f32),
            window: window(&drawing, sf.scissor_rectangle_enable.then_some(&viewport), origin),
            cull: match sf.cull_mode {
                Cull::BOTH => CullMode::Both,
                Cull::FRONT => CullMode::Front,
                Cull::BACK => CullMode::Back,
                _ => CullMode::None,
            },
            front_is_counterclockwise: sf.front_winding == Winding::FRONTWINDING_CCW,
            line: line(exec, sf, wm),
            point: PointState {
                width: (sf.point_width_source == WidthSource::STATE)
                    .then(|| sf.point_width.get() as f32),
                bounds: [0.125, 255.875],
                rule: match sf.point_rasterization_rule {
                    PointRule::RASTRULE_UPPER_RIGHT => FillRule::UpperRight,
                    _ => FillRule::UpperLeft,
                },
                smooth: false,
                slopes: [[0.0; 2]; 2],
            },
            sprites: sf.sprite_point_enable,
            provoking: [
                sf.line_strip_list_provoking_vertex_select.bits() as u8,
                sf.triangle_strip_list_provoking_vertex_select.bits() as u8,
                sf.triangle_fan_provoking_vertex_select.bits() as u8,
            ],
            line_stipple: wm.line_stipple_enable.then(|| line_stipple(exec)),
            polygon_stipple: wm.polygon_stipple_enable.then(|| polygon_stipple(exec)),
            depth_bias: wm.global_depth_offset_enable.then(|| depth_bias(exec, wm)),
        })
    }
}

/// The pixels inside the drawing rectangle and the scissor rectangle.
fn window(
    drawing: &ThreeDStateDrawingRectangle,
    viewport: Option<&SfViewport>,
    [x, y]: [i32; 2],
) -> Rect {
    let mut window = Rect::inclusive(
        drawing.clipped_drawing_rectangle_x_min.get() as i32,
        drawing.clipped_drawing_rectangle_y_min.get() as i32,
        drawing.clipped_drawing_rectangle_x_max.get() as i32,
        drawing.clipped_drawing_rectangle_y_max.get() as i32,
    )
    .intersection(Rect::SCREEN);
    if let Some(viewport) = viewport {
        let scissor = &viewport.scissor_rectangle;
        let scissor = Rect::inclusive(
            scissor.scissor_rectangle_x_min.get() as i32,
            scissor.scissor_rectangle_y_min.get() as i32,
            scissor.scissor_rectangle_x_max.get() as i32,
            scissor.scissor_rectangle_y_max.get() as i32,
        );
        window = window.intersection(scissor.moved(x, y));
    }
    window
}

fn line(exec: &Exec<'_>, sf: &SfState, wm: &WmState) -> LineState {
    let parameters: ThreeDStateAaLineParameters = latched(exec);
    let region = |region: Region| match region {
        Region::_0_5_PIXELS => 0.5,
        Region::_1_0_PIXELS => 1.0,
        Region::_2_0_PIXELS => 2.0,
        _ => 4.0,
    };
    LineState {
        width: sf.line_width.get() as f32,
        rectangle: false,
        antialias: sf.antialiasing_enable,
        region: region(wm.line_antialiasing_region_width),
        cap_region: region(wm.line_end_cap_antialiasing_region_width),
        manhattan: sf.aa_line_distance_mode == Distance::AALINEDISTANCE_MANHATTAN,
        slopes: [
            [parameters.aa_coverage_slope.get() as f32, parameters.aa_coverage_bias.get() as f32],
            [
                parameters.aa_coverage_end_cap_slope.get() as f32,
                parameters.aa_coverage_end_cap_bias.get() as f32,
            ],
        ],
        last_pixel: sf.last_pixel_enable,
    }
}

fn line_stipple(exec: &Exec<'_>) -> (LineStipple, u32) {
    let packet: ThreeDStateLineStipple = latched(exec);
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
    let pattern: ThreeDStatePolyStipplePattern = latched(exec);
    let offset: ThreeDStatePolyStippleOffset = latched(exec);
    PolygonStipple {
        rows: pattern.pattern_row.map(|row| row.get() as u32),
        offset: [
            offset.polygon_stipple_x_offset.get() as u32,
            offset.polygon_stipple_y_offset.get() as u32,
        ],
    }
}

fn depth_bias(exec: &Exec<'_>, wm: &WmState) -> DepthBias {
    let buffer: ThreeDStateDepthBuffer = latched(exec);
    let clamp: ThreeDStateGlobalDepthOffsetClamp = latched(exec);
    DepthBias {
        enable: [true; 3],
        constant: wm.global_depth_offset_constant,
        scale: wm.global_depth_offset_scale,
        clamp: clamp.global_depth_offset_clamp,
        unscaled: wm.legacy_global_depth_bias_enable,
        format: Format::of(buffer.surface_format).map_or(DepthFormat::Unorm24, Format::depth),
    }
}
