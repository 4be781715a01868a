//! Inputs of a pixel shader, and effects of samples that fail a test. Oracle: 2a p.269-281, sample
//! by sample.

use crate::pixels::harness::{Draw, SIZE, TARGET, VERTICES, Vertex, model, pixel, target};
use genxml::eu;
use genxml::gen8::enums::{
    ThreeDCompareFunction as Function, ThreeDPrimTopoType as Code,
    ThreeDStencilOperation as Operation, ThreeDVertexComponentControl as Component,
};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat, ThreeDStateStencilBuffer,
    ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_fetch::{ThreeDStateVertexElements, VertexElementState};
use genxml::gen8::render3d_pixel::{
    BlendState, ColorCalcState, ColorCalcStateAlphaTestFormat, ColorCalcStateReference,
    ThreeDStateBlendStatePointers, ThreeDStateCcStatePointers, ThreeDStatePsPositionXyOffsetSelect,
    ThreeDStateWmPositionZwInterpolationMode as Mode,
};
use genxml::gen8::render3d_raster::{
    CcViewport, SfClipViewport, ThreeDStateClip, ThreeDStateMultisample,
    ThreeDStateRasterFrontWinding, ThreeDStateSampleMask, ThreeDStateSamplePattern,
    ThreeDStateViewportStatePointersCc,
};
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceState,
    RenderSurfaceStateMultisampledSurfaceStorageFormat as Storage,
    RenderSurfaceStateRenderTargetAndSampleUnormRotation as Rotation, RenderSurfaceStateView,
    SurfaceFormat, SurfaceType,
};
use genxml_cases::{DYNAMIC_STATE, Model, at, minus_one, packets, u};
use genxml_core::{Shifted, UFix};

const DEPTH: u64 = 0xa0_0000;
const STENCIL: u64 = 0xb0_0000;
/// Offset of CC_VIEWPORT from the dynamic state base.
const RANGES: u64 = 0x100;
/// Offset of the blend state from the dynamic state base. It is at the end of the mapped memory:
/// one entry fits, eight do not.
const BLEND: u64 = VERTICES + (64 << 10) - 64 - DYNAMIC_STATE;
const CONSTANTS: u64 = 0x300;

/// Writes attribute 0 of the first vertex.
const ATTRIBUTE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  r8.3<0;1,0>:f
    mov (8|M0)       r113.0<1>:f  r8.7<0;1,0>:f
    mov (8|M0)       r114.0<1>:f  r9.3<0;1,0>:f
    mov (8|M0)       r115.0<1>:f  r9.7<0;1,0>:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// Writes the offsets of the position in the low bits, and the coverage above them.
const COVERAGE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r2.0<8;8,1>:uw
    shl (8|M0)       r113.0<1>:ud  r3.0<8;8,1>:ud  16:ud
    or (8|M0)        r112.0<1>:ud  r112.0<8;8,1>:ud  r113.0<8;8,1>:ud
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// Writes the source depth.
const SOURCE_DEPTH: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  r2.0<8;8,1>:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// A triangle that covers more than the whole target, with these depths at (0, 0), (128, 0) and (0,
/// 128).
fn everything(depths: [f32; 3], attribute: [f32; 4]) -> Vec<Vertex> {
    let corners = [[0.0, 0.0], [128.0, 0.0], [0.0, 128.0]];
    let vertex =
        |([x, y], z): ([f32; 2], f32)| Vertex { at: [x, y, z], attribute, ..Vertex::at(x, y) };
    corners.into_iter().zip(depths).map(vertex).collect()
}

fn buffers(samples: u32) -> ThreeDStateDepthBuffer {
    ThreeDStateDepthBuffer {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT,
        surface_base_address: at(DEPTH),
        surface_pitch: minus_one(u64::from(if samples > 1 { 8 * SIZE } else { 4 * SIZE })),
        width: minus_one(SIZE.into()),
        height: minus_one(SIZE.into()),
        depth: minus_one(1),
        render_target_view_extent: minus_one(1),
        depth_write_enable: true,
        stencil_write_enable: true,
        ..ThreeDStateDepthBuffer::new()
    }
}

fn with_buffers() -> Model {
    let mut model = model();
    model.map(DEPTH, 64 << 10);
    model.map(STENCIL, 4096);
    model
        .put(DYNAMIC_STATE + RANGES, &CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 }.pack());
    model
}

/// The depth and stencil tests behave as if they came after the shader and the alpha test. Samples
/// that fail the alpha test change nothing; samples that fail the stencil or depth test do their
/// stencil operation.
#[test]
fn failures_are_marked_behind_the_alpha_test() {
    let mut model = with_buffers();
    let state = BlendState {
        alpha_test_enable: true,
        alpha_test_function: Function::COMPAREFUNCTION_GREATER,
        ..BlendState::new()
    };
    let constants = ColorCalcState {
        alpha_test_format: ColorCalcStateAlphaTestFormat::ALPHATEST_FLOAT32,
        reference: ColorCalcStateReference::Float { alpha_reference_value_as_float32: 0.5 },
        ..ColorCalcState::new()
    };
    model.put(DYNAMIC_STATE + BLEND, &state.pack()[..16]);
    model.put(DYNAMIC_STATE + CONSTANTS, &constants.pack());
    let (always, never) = (Function::COMPAREFUNCTION_ALWAYS, Function::COMPAREFUNCTION_NEVER);
    for (stencil, depth) in [(never, always), (always, never), (always, always)] {
        for (alpha, passes) in [(0.25, false), (0.75, true)] {
            let tests = ThreeDStateWmDepthStencil {
                stencil_test_enable: true,
                stencil_buffer_write_enable: true,
                stencil_test_function: stencil,
                stencil_fail_op: Operation::STENCILOP_INCRSAT,
                stencil_pass_depth_fail_op: Operation::STENCILOP_DECR,
                stencil_pass_depth_pass_op: Operation::STENCILOP_INVERT,
                stencil_test_mask: u(0xff),
                stencil_write_mask: u(0xff),
                depth_test_enable: true,
                depth_test_function: depth,
                ..ThreeDStateWmDepthStencil::new()
            };
            let vertices = everything([0.5; 3], [0.125, 0.25, 0.5, alpha]);
            let mut draw = Draw::new(Code::_3DPRIM_TRILIST, vertices, ATTRIBUTE);
            draw.extra.attribute_enable = true;
            draw.more = packets![
                buffers(1),
                ThreeDStateStencilBuffer {
                    stencil_buffer_enable: true,
                    surface_base_address: at(STENCIL),
                    surface_pitch: minus_one(128),
                    ..ThreeDStateStencilBuffer::new()
                },
                tests,
                ThreeDStateViewportStatePointersCc { cc_viewport_pointer: at(RANGES) },
                ThreeDStateBlendStatePointers {
                    blend_state_pointer_valid: true,
                    blend_state_pointer: at(BLEND)
                },
                ThreeDStateCcStatePointers {
                    color_calc_state_pointer_valid: true,
                    color_calc_state_pointer: at(CONSTANTS),
                },
            ];
            model.write(STENCIL, &[0x55; 4096]);
            draw.run(&mut model).unwrap();
            let marked = match (stencil == always, depth == always) {
                _ if !passes => 0x55,
                (false, _) => 0x56,
                (true, false) => 0x54,
                (true, true) => 0xaa,
            };
            assert_eq!(model.read(STENCIL, 4096), [marked; 4096], "{stencil:?} {depth:?} {alpha}");
            let colour = if marked == 0xaa { [0.125, 0.25, 0.5, alpha] } else { [0.0; 4] };
            assert_eq!(pixel(&mut model, 33, 20), colour);
        }
    }
}

/// Standard positions of four samples.
const SAMPLES: [[u64; 2]; 4] = [[6, 2], [14, 6], [2, 10], [10, 14]];

/// Packets for four samples per pixel.
fn four(mask: u64) -> Vec<u32> {
    let at = |n: usize, axis: usize| UFix::from_bits(SAMPLES[n][axis]);
    packets![
        ThreeDStateMultisample {
            number_of_multisamples: NumberOfMultisamples::from_bits(2),
            ..ThreeDStateMultisample::new()
        },
        ThreeDStateSamplePattern {
            _4x_sample0_x_offset: at(0, 0),
            _4x_sample0_y_offset: at(0, 1),
            _4x_sample1_x_offset: at(1, 0),
            _4x_sample1_y_offset: at(1, 1),
            _4x_sample2_x_offset: at(2, 0),
            _4x_sample2_y_offset: at(2, 1),
            _4x_sample3_x_offset: at(3, 0),
            _4x_sample3_y_offset: at(3, 1),
            ..ThreeDStateSamplePattern::new()
        },
        ThreeDStateSampleMask { sample_mask: u(mask) },
    ]
}

/// A target with four samples per pixel: one plane per sample, one after the other.
fn four_planes(format: SurfaceFormat, storage: Storage) -> RenderSurfaceState {
    RenderSurfaceState {
        surface_qpitch: Shifted::new(SIZE.into()).unwrap(),
        view: RenderSurfaceStateView::Image {
            multisample_position_palette_index: u(0),
            number_of_multisamples: NumberOfMultisamples::from_bits(2),
            multisampled_surface_storage_format: storage,
            render_target_view_extent: minus_one(1),
            minimum_array_element: u(0),
            render_target_and_sample_unorm_rotation: Default::default(),
        },
        ..target(format, 4)
    }
}

fn sample(model: &mut Model, x: u32, y: u32, sample: u32) -> u32 {
    model.get(TARGET + 4 * u64::from((sample * SIZE + y) * SIZE + x), 1)[0]
}

/// Early tests only save work: coverage and centroids are those of the primitive.
#[test]
fn early_tests_do_not_change_coverage() {
    let mut model = with_buffers();
    let draw = |depth: f32, mask: u64| {
        let mut draw = Draw::new(Code::_3DPRIM_TRILIST, everything([depth; 3], [0.0; 4]), COVERAGE);
        draw.target = four_planes(SurfaceFormat::R32_UINT, Storage::MSS);
        draw.raster.dx_multisample_rasterization_enable = true;
        draw.extra.pixel_shader_uses_input_coverage_mask = true;
        draw.ps.position_xy_offset_select = ThreeDStatePsPositionXyOffsetSelect::POSOFFSET_CENTROID;
        let tests = ThreeDStateWmDepthStencil {
            depth_test_enable: true,
            depth_buffer_write_enable: true,
            depth_test_function: Function::COMPAREFUNCTION_GREATER,
            ..ThreeDStateWmDepthStencil::new()
        };
        draw.more = four(mask);
        draw.more.extend(packets![
            buffers(4),
            tests,
            ThreeDStateViewportStatePointersCc { cc_viewport_pointer: at(RANGES) },
        ]);
        draw
    };
    // The first draw writes the depth of two samples. Its sample mask limits the coverage of the
    // primitive.
    draw(0.75, 0b0110).run(&mut model).unwrap();
    assert_eq!([0, 1, 2, 3].map(|n| sample(&mut model, 9, 30, n)), [0, 0x6_060e, 0x6_060e, 0]);
    draw(0.5, 0xffff).run(&mut model).unwrap();
    assert_eq!([0, 1, 2, 3].map(|n| sample(&mut model, 9, 30, n)), [0xf_0808, 0, 0, 0xf_0808]);
}

/// Position ZW Interpolation Mode (2a p.278), in threads for pixels and for samples.
#[test]
fn depth_is_taken_where_the_mode_says() {
    let mut model = model();
    for (mode, per_sample) in [
        (Mode::INTERP_PIXEL, false),
        (Mode::INTERP_PIXEL, true),
        (Mode::INTERP_CENTROID, false),
        (Mode::INTERP_SAMPLE, true),
    ] {
        let mut draw =
            Draw::new(Code::_3DPRIM_TRILIST, everything([0.0, 0.5, 1.0], [0.0; 4]), SOURCE_DEPTH);
        draw.target = four_planes(SurfaceFormat::R32_FLOAT, Storage::MSS);
        draw.raster.dx_multisample_rasterization_enable = true;
        draw.extra.pixel_shader_uses_source_depth = true;
        draw.extra.pixel_shader_is_per_sample = per_sample;
        draw.wm.position_zw_interpolation_mode = mode;
        // The sample mask disables samples 1 and 3.
        draw.more = four(0b0101);
        draw.run(&mut model).unwrap();
        for (x, y) in [(0, 0), (17, 40), (62, 1)] {
            for n in 0..4 {
                let [dx, dy] = match mode {
                    Mode::INTERP_PIXEL => [8, 8],
                    Mode::INTERP_CENTROID => SAMPLES[0],
                    _ => SAMPLES[n as usize],
                };
                let depth = (f64::from(x) + dx as f64 / 16.0) / 256.0
                    + (f64::from(y) + dy as f64 / 16.0) / 128.0;
                let want = if n % 2 == 0 { depth } else { 0.0 };
                let found = f32::from_bits(sample(&mut model, x, y, n));
                assert_eq!(f64::from(found), want, "{mode:?} {per_sample} ({x}, {y}) {n}");
            }
        }
    }
}

/// Interleaved samples are only valid for depth and stencil (2d p.338).
#[test]
fn interleaved_samples_are_no_target() {
    let mut model = model();
    let mut draw = Draw::new(Code::_3DPRIM_TRILIST, everything([0.5; 3], [0.0; 4]), SOURCE_DEPTH);
    draw.target = four_planes(SurfaceFormat::R32_FLOAT, Storage::DEPTH_STENCIL);
    draw.more = four(0xf);
    let fault = draw.run(&mut model).unwrap_err().to_string();
    assert!(fault.contains("Multisampled Surface Storage Format"), "{fault}");
}

/// Only surfaces with X tiles, one sample and some formats can be rotated (2d p.339).
#[test]
fn other_targets_cannot_be_rotated() {
    let mut model = model();
    let mut draw = Draw::new(Code::_3DPRIM_TRILIST, everything([0.5; 3], [0.0; 4]), SOURCE_DEPTH);
    draw.target = four_planes(SurfaceFormat::R32_FLOAT, Storage::MSS);
    if let RenderSurfaceStateView::Image { render_target_and_sample_unorm_rotation, .. } =
        &mut draw.target.view
    {
        *render_target_and_sample_unorm_rotation = Rotation::_90DEG;
    }
    let fault = draw.run(&mut model).unwrap_err().to_string();
    assert!(fault.contains("Render Target And Sample Unorm Rotation"), "{fault}");
}

/// The sign of the low word of r0.0, negated, tells whether the triangle is front-facing, as
/// drivers test it (Mesa, emit_frontfacing_interpolation). The other values are the viewport and
/// the array index.
const FACING: &[u32] = &eu! {
    asr (8|M0)       r112.0<1>:d   -r0.0<0;1,0>:w  15:w
    shr (8|M0)       r113.0<1>:ud  r0.0<0;1,0>:ud  27:ud
    shr (8|M0)       r114.0<1>:ud  r0.0<0;1,0>:ud  16:ud
    and (8|M0)       r114.0<1>:ud  r114.0<8;8,1>:ud  0x7ff:ud
    and (8|M0)       r115.0<1>:ud  r0.0<0;1,0>:ud  0x1000:ud
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

#[test]
fn threads_know_their_object() {
    let mut model = model();
    let mut corners = everything([0.5; 3], [0.0; 4]);
    for (winding, front) in [
        (ThreeDStateRasterFrontWinding::CLOCKWISE, true),
        (ThreeDStateRasterFrontWinding::COUNTER_CLOCKWISE, false),
    ] {
        for turned in [false, true] {
            let mut draw = Draw::new(Code::_3DPRIM_TRILIST, corners.clone(), FACING);
            draw.target.surface_format = SurfaceFormat::R32G32B32A32_UINT;
            draw.raster.front_winding = winding;
            draw.run(&mut model).unwrap();
            let found = model.get(TARGET + 16 * u64::from(7 * SIZE + 50), 4);
            assert_eq!(
                found,
                [if front != turned { u32::MAX } else { 0 }, 0, 0, 0],
                "{winding:?} {turned}"
            );
            corners.swap(1, 2);
        }
    }
    // The vertices select the second viewport and an array index outside the target.
    let header = VertexElementState {
        valid: true,
        source_element_format: SurfaceFormat::R32G32B32A32_FLOAT,
        component_0_control: Component::VFCOMP_STORE_0,
        component_1_control: Component::VFCOMP_STORE_1_INT,
        component_2_control: Component::VFCOMP_STORE_1_INT,
        component_3_control: Component::VFCOMP_STORE_0,
        ..VertexElementState::new()
    };
    let stored = |offset: u64| VertexElementState {
        source_element_offset: u(offset),
        component_0_control: Component::VFCOMP_STORE_SRC,
        component_1_control: Component::VFCOMP_STORE_SRC,
        component_2_control: Component::VFCOMP_STORE_SRC,
        component_3_control: Component::VFCOMP_STORE_SRC,
        ..header
    };
    let viewport = SfClipViewport {
        viewport_matrix_element_m00: 1.0,
        viewport_matrix_element_m11: 1.0,
        viewport_matrix_element_m22: 1.0,
        x_max_view_port: 31.0,
        y_max_view_port: 63.0,
        ..SfClipViewport::new()
    };
    model.put(DYNAMIC_STATE + 64, &viewport.pack());
    let mut draw = Draw::new(Code::_3DPRIM_TRILIST, corners, FACING);
    draw.target.surface_format = SurfaceFormat::R32G32B32A32_UINT;
    draw.more = packets![
        ThreeDStateClip { maximum_vp_index: u(1), ..ThreeDStateClip::new() },
        ThreeDStateVertexElements { element: [header, stored(0), stored(16)][..].into() },
    ];
    draw.run(&mut model).unwrap();
    assert_eq!(model.get(TARGET + 16 * u64::from(7 * SIZE + 31), 4)[1..], [1, 1, 0]);
    assert_eq!(model.get(TARGET + 16 * u64::from(7 * SIZE + 32), 4), [0; 4]);
    // Points and lines are always front-facing.
    let point = Draw::new(Code::_3DPRIM_POINTLIST, vec![Vertex::at(20.5, 30.5)], FACING);
    let line = Draw::new(
        Code::_3DPRIM_LINELIST,
        vec![Vertex::at(20.5, 30.5), Vertex::at(20.5, 40.5)],
        FACING,
    );
    for mut draw in [point, line] {
        draw.target.surface_format = SurfaceFormat::R32G32B32A32_UINT;
        draw.raster.front_winding = ThreeDStateRasterFrontWinding::COUNTER_CLOCKWISE;
        draw.run(&mut model).unwrap();
        assert_eq!(model.get(TARGET + 16 * u64::from(30 * SIZE + 20), 4), [u32::MAX, 0, 0, 0]);
    }
}
