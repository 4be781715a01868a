//! Depth and stencil. Oracle: the tables of Direct3D 11 17.12 for functions and operations; formats
//! by exact rationals; layouts by tiles filled on paper (gen8_facts 10.1).

use crate::screen::exact::{covers, pattern};
use crate::screen::kernels;
use crate::screen::scene::{Scene, Vertex, on_screen};
use genxml::gen8::enums::{
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code, ThreeDStencilOperation,
};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBufferSurfaceFormat as DepthFormat, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_pixel::ThreeDStatePsExtraPixelShaderComputedDepthMode as Computed;
use genxml::gen8::render3d_raster::FillMode;
use genxml_cases::{push, u};

const FORMATS: [DepthFormat; 3] =
    [DepthFormat::D32_FLOAT, DepthFormat::D24_UNORM_X8_UINT, DepthFormat::D16_UNORM];

/// The stored form of a depth in a format: rounded to nearest (Direct3D 11 3.2.3.6).
fn stored(format: DepthFormat, z: f32) -> u32 {
    let unorm =
        |bits: u32| (f64::from(z) * f64::from((1_u32 << bits) - 1)).round_ties_even() as u32;
    match format {
        DepthFormat::D32_FLOAT => z.to_bits(),
        DepthFormat::D16_UNORM => unorm(16),
        _ => unorm(24),
    }
}

/// Two triangles for each column of pixels: column n has depth `depths[n]` and value n + 1.
fn columns(depths: &[f32], height: u32) -> Scene {
    let mut vertices = Vec::new();
    for (n, &z) in depths.iter().enumerate() {
        let (left, right, bottom) = (n as f32, n as f32 + 1.0, height as f32);
        for (x, y) in [
            (left, 0.0),
            (right, 0.0),
            (left, bottom),
            (right, 0.0),
            (right, bottom),
            (left, bottom),
        ] {
            vertices.push(Vertex { position: [x, y, z, 1.0], ..on_screen(0.0, 0.0, n as u32 + 1) });
        }
    }
    Scene::new([depths.len() as u32, height], Code::_3DPRIM_TRILIST, vertices)
}

fn passes(function: Compare, new: u32, old: u32) -> bool {
    match function {
        Compare::COMPAREFUNCTION_NEVER => false,
        Compare::COMPAREFUNCTION_LESS => new < old,
        Compare::COMPAREFUNCTION_EQUAL => new == old,
        Compare::COMPAREFUNCTION_LEQUAL => new <= old,
        Compare::COMPAREFUNCTION_GREATER => new > old,
        Compare::COMPAREFUNCTION_NOTEQUAL => new != old,
        Compare::COMPAREFUNCTION_GEQUAL => new >= old,
        _ => true,
    }
}

/// All functions in all formats, with and without writes, on a screen of several tiles.
#[test]
fn functions_and_formats() {
    let depths: Vec<f32> = (0..40).map(|n| n as f32 / 39.0).collect();
    for format in FORMATS {
        for function in 0..8 {
            let function = Compare::from_bits(function);
            // The stored depth equals that of one of the columns.
            let before = stored(format, depths[20]);
            let mut scene = columns(&depths, 40);
            scene.depth = Some((format, before));
            scene.tests = ThreeDStateWmDepthStencil {
                depth_test_enable: true,
                depth_buffer_write_enable: true,
                depth_test_function: function,
                ..scene.tests
            };
            let drawn = scene.run().unwrap();
            let (colors, after) = (drawn.dwords(0, 0, 0), drawn.depths());
            for n in 0..1600 {
                let new = stored(format, depths[n % 40]);
                // Positive floats compare like their bits.
                let pass = passes(function, new, before);
                let want = if pass { (n as u32 % 40 + 1, new) } else { (0, before) };
                assert_eq!((colors[n], after[n]), want, "{format:?} {function:?} pixel {n}");
            }
            scene.tests.depth_buffer_write_enable = false;
            assert!(scene.run().unwrap().depths().iter().all(|&depth| depth == before));
        }
    }
}

/// Depths between the vertices are those of their plane at the pixel's centre. They are clamped to
/// the viewport's range.
#[test]
fn planes_and_ranges() {
    let corners = [[0.0, 0.0, -0.25], [32.0, 0.0, 1.25], [0.0, 32.0, 0.25]];
    let vertices =
        corners.map(|[x, y, z]| Vertex { position: [x, y, z, 1.0], ..on_screen(0.0, 0.0, 1) });
    let mut scene = Scene::new([24, 24], Code::_3DPRIM_TRILIST, vertices.to_vec());
    scene.depth = Some((DepthFormat::D32_FLOAT, 0));
    scene.tests.depth_test_enable = true;
    scene.tests.depth_buffer_write_enable = true;
    scene.viewports[0].1.minimum_depth = 0.125;
    scene.viewports[0].1.maximum_depth = 0.875;
    let drawn = scene.run().unwrap();
    let exact = corners.map(|[x, y, _]| [(x * 256.0) as i64, (y * 256.0) as i64]);
    for (n, depth) in drawn.depths().into_iter().enumerate() {
        let (x, y) = (n as i64 % 24, n as i64 / 24);
        if !covers(&exact, [256 * x + 128, 256 * y + 128]) {
            assert_eq!(depth, 0);
            continue;
        }
        let z = -0.25 + (x as f32 + 0.5) * 1.5 / 32.0 + (y as f32 + 0.5) * 0.5 / 32.0;
        assert_eq!(f32::from_bits(depth), z.clamp(0.125, 0.875), "({x}, {y})");
    }
}

/// Depth bias from a constant and a slope. Oracle: Direct3D 11 15.10: bias = constant * r + slope *
/// greatest change per pixel.
#[test]
fn depth_bias() {
    let corners = [[0.0, 0.0], [32.0, 0.0], [0.0, 32.0]];
    let z = |x: f32, y: f32| 0.25 + x / 256.0 + y / 64.0;
    let vertices =
        corners.map(|[x, y]| Vertex { position: [x, y, z(x, y), 1.0], ..on_screen(0.0, 0.0, 1) });
    for (format, unit) in [
        (DepthFormat::D24_UNORM_X8_UINT, 1.0 / 16_777_216.0),
        (DepthFormat::D16_UNORM, 1.0 / 65536.0),
    ] {
        for (constant, slope, clamp) in [
            (0.0, 0.0, 0.0),
            (64.0, 0.0, 0.0),
            (0.0, 4.0, 0.0),
            (32.0, 2.0, 0.0),
            (0.0, 4.0, 0.03125),
        ] {
            let mut scene = Scene::new([8, 8], Code::_3DPRIM_TRILIST, vertices.to_vec());
            scene.depth = Some((format, 0));
            scene.tests.depth_test_enable = true;
            scene.tests.depth_buffer_write_enable = true;
            scene.raster.global_depth_offset_enable_solid = true;
            scene.raster.global_depth_offset_constant = constant;
            scene.raster.global_depth_offset_scale = slope;
            scene.raster.global_depth_offset_clamp = clamp;
            let mut bias = constant * unit + slope / 64.0;
            if clamp > 0.0 {
                bias = bias.min(clamp);
            }
            for (n, depth) in scene.run().unwrap().depths().into_iter().enumerate() {
                let (x, y) = ((n % 8) as f32 + 0.5, (n / 8) as f32 + 0.5);
                let want = stored(format, z(x, y) + bias);
                assert!(
                    depth.abs_diff(want) <= 1,
                    "{format:?} {constant} {slope}: {depth:#x}, not {want:#x}"
                );
            }
        }
    }
}

/// With Legacy Global Depth Bias Enable, the constant is the bias (2a p.212).
#[test]
fn legacy_depth_bias() {
    for (legacy, want) in [(false, 0.25), (true, 0.375)] {
        let mut scene = columns(&[0.25; 4], 4);
        scene.depth = Some((DepthFormat::D24_UNORM_X8_UINT, 0));
        scene.tests.depth_test_enable = true;
        scene.tests.depth_buffer_write_enable = true;
        scene.raster.global_depth_offset_enable_solid = true;
        scene.raster.global_depth_offset_constant = 0.125;
        scene.sf.legacy_global_depth_bias_enable = legacy;
        let want = stored(DepthFormat::D24_UNORM_X8_UINT, want);
        for depth in scene.run().unwrap().depths() {
            assert!(depth.abs_diff(want) <= 1, "{legacy}: {depth:#x}, not {want:#x}");
        }
    }
}

/// Each fill mode of triangles has its own enable (2a p.174-179). Pixels of edges and corners have
/// the constant bias if the enable of the mode is set, and no other.
#[test]
fn depth_bias_of_fill_modes() {
    let corners = [[1.5, 1.5], [6.5, 1.5], [1.5, 6.5]];
    let format = DepthFormat::D24_UNORM_X8_UINT;
    for (mode, fill) in
        [FillMode::SOLID, FillMode::WIREFRAME, FillMode::POINT].into_iter().enumerate()
    {
        for enabled in 0..3 {
            let vertices = corners
                .map(|[x, y]| Vertex { position: [x, y, 0.25, 1.0], ..on_screen(0.0, 0.0, 1) });
            let mut scene = Scene::new([8, 8], Code::_3DPRIM_TRILIST, vertices.to_vec());
            scene.depth = Some((format, 0));
            scene.tests.depth_test_enable = true;
            scene.tests.depth_buffer_write_enable = true;
            scene.raster.front_face_fill_mode = fill;
            scene.raster.back_face_fill_mode = fill;
            scene.raster.global_depth_offset_enable_solid = enabled == 0;
            scene.raster.global_depth_offset_enable_wireframe = enabled == 1;
            scene.raster.global_depth_offset_enable_point = enabled == 2;
            scene.raster.global_depth_offset_constant = 4096.0;
            let bias = if enabled == mode { 4096.0 / 16_777_216.0 } else { 0.0 };
            let want = stored(format, 0.25 + bias);
            let drawn = scene.run().unwrap();
            let (colors, depths) = (drawn.dwords(0, 0, 0), drawn.depths());
            assert_eq!(colors[8 + 1], 1, "{fill:?}: the upper left corner");
            for (n, depth) in depths.into_iter().enumerate() {
                let want = if colors[n] == 1 { want } else { 0 };
                assert!(
                    depth.abs_diff(want) <= 1,
                    "{fill:?}, enable {enabled}, pixel {n}: {depth:#x}, not {want:#x}"
                );
            }
        }
    }
}

/// The stored value after an operation.
fn operated(operation: u64, old: u8, reference: u8) -> u8 {
    match operation {
        1 => 0,
        2 => reference,
        3 => old.saturating_add(1),
        4 => old.saturating_sub(1),
        5 => old.wrapping_add(1),
        6 => old.wrapping_sub(1),
        7 => !old,
        _ => old,
    }
}

/// Front and back faces have their own operations, write masks and references. Each operation is
/// tried for each outcome, with another operation for the other faces.
#[test]
fn stencil_operations_of_both_faces() {
    const REFERENCES: [u8; 2] = [0x33, 0x55];
    const MASKS: [u8; 2] = [0x3f, 0xf9];
    let tried =
        (0..8u64).flat_map(|operation| (0..3usize).map(move |outcome| (operation, outcome)));
    for ((operation, outcome), old) in
        tried.flat_map(|tried| [1, 0x5a, 0xff].map(|old| (tried, old)))
    {
        // Front, front, back, back. In every second column the depth test fails.
        let mut scene = columns(&[0.25, 0.75, 0.25, 0.75], 2);
        scene.vertices[12..].chunks_mut(6).for_each(|quad| quad.reverse());
        scene.depth = Some((DepthFormat::D32_FLOAT, 0.5f32.to_bits()));
        scene.stencil = Some(old);
        scene.color.stencil_reference_value = u(REFERENCES[0].into());
        scene.color.back_face_stencil_reference_value = u(REFERENCES[1].into());
        // Operations by face, and by outcome: both tests pass, the depth test fails, the stencil
        // test fails.
        let mut operations = [[0; 3]; 2];
        operations[0][outcome] = operation;
        operations[1][outcome] = (operation + 3) % 8;
        let [[passed, depth_failed, failed], back] =
            operations.map(|face| face.map(ThreeDStencilOperation::from_bits));
        let function = match outcome {
            2 => Compare::COMPAREFUNCTION_NEVER,
            _ => Compare::COMPAREFUNCTION_ALWAYS,
        };
        scene.tests = ThreeDStateWmDepthStencil {
            depth_test_enable: true,
            depth_test_function: Compare::COMPAREFUNCTION_LESS,
            stencil_test_enable: true,
            stencil_buffer_write_enable: true,
            double_sided_stencil_enable: true,
            stencil_test_function: function,
            stencil_write_mask: u(MASKS[0].into()),
            stencil_pass_depth_pass_op: passed,
            stencil_pass_depth_fail_op: depth_failed,
            stencil_fail_op: failed,
            backface_stencil_test_function: function,
            backface_stencil_write_mask: u(MASKS[1].into()),
            backface_stencil_pass_depth_pass_op: back[0],
            backface_stencil_pass_depth_fail_op: back[1],
            backface_stencil_fail_op: back[2],
            ..scene.tests
        };
        let row: Vec<u8> = (0..4)
            .map(|column| {
                let face = column / 2;
                let outcome = if outcome == 2 { 2 } else { column % 2 };
                let new = operated(operations[face][outcome], old, REFERENCES[face]);
                old & !MASKS[face] | new & MASKS[face]
            })
            .collect();
        let found = scene.run().unwrap().stencils();
        assert_eq!(found, row.repeat(2), "{operation} {outcome} {old:#x}");
    }
}

/// Every stencil operation in each of the three cases: both tests pass, the depth test fails, the
/// stencil test fails. The stored values include those at which operations saturate or wrap. Tables
/// by hand.
#[test]
fn stencil_operations() {
    for old in [0, 1, 0x5a, 0xff] {
        for operation in 0..8 {
            let op = ThreeDStencilOperation::from_bits(operation);
            // In the first column both tests pass; in the second the depth test fails.
            let mut scene = columns(&[0.25, 0.75], 2);
            scene.depth = Some((DepthFormat::D32_FLOAT, 0.5f32.to_bits()));
            scene.stencil = Some(old);
            scene.color.stencil_reference_value = u(0x33);
            scene.tests = ThreeDStateWmDepthStencil {
                depth_test_enable: true,
                depth_test_function: Compare::COMPAREFUNCTION_LESS,
                stencil_test_enable: true,
                stencil_buffer_write_enable: true,
                stencil_test_mask: u(0xff),
                stencil_write_mask: u(0xff),
                stencil_pass_depth_pass_op: op,
                ..scene.tests
            };
            let new = operated(operation, old, 0x33);
            assert_eq!(
                scene.run().unwrap().stencils(),
                [new, old, new, old],
                "pass {op:?} {old:#x}"
            );
            scene.tests.stencil_pass_depth_pass_op = ThreeDStencilOperation::STENCILOP_KEEP;
            scene.tests.stencil_pass_depth_fail_op = op;
            scene.tests.stencil_write_mask = u(0x0f);
            let mixed = old & 0xf0 | new & 0x0f;
            assert_eq!(
                scene.run().unwrap().stencils(),
                [old, mixed, old, mixed],
                "fail {op:?} {old:#x}"
            );
            scene.tests.stencil_test_function = Compare::COMPAREFUNCTION_NEVER;
            scene.tests.stencil_fail_op = op;
            let drawn = scene.run().unwrap();
            assert_eq!(drawn.stencils(), [mixed; 4], "stencil fails {op:?} {old:#x}");
            assert_eq!(drawn.dwords(0, 0, 0), [0; 4]);
        }
    }
}

/// The reference and the stored value are compared after masking both. Back faces have their own
/// state. The screen has several W tiles.
#[test]
fn stencil_functions() {
    for function in 0..8 {
        let function = Compare::from_bits(function);
        for reference in [0x2f, 0x30, 0x31] {
            let mut scene = columns(&[0.5; 70], 70);
            // Every second column is back-facing.
            for quad in scene.vertices.chunks_mut(6).skip(1).step_by(2) {
                quad.reverse();
            }
            scene.stencil = Some(0x3f);
            scene.color.stencil_reference_value = u(reference);
            scene.color.back_face_stencil_reference_value = u(0xf);
            scene.tests = ThreeDStateWmDepthStencil {
                stencil_test_enable: true,
                stencil_buffer_write_enable: true,
                double_sided_stencil_enable: true,
                stencil_test_function: function,
                stencil_test_mask: u(0xf0),
                stencil_write_mask: u(0xff),
                stencil_pass_depth_pass_op: ThreeDStencilOperation::STENCILOP_INCR,
                backface_stencil_test_function: Compare::COMPAREFUNCTION_EQUAL,
                backface_stencil_test_mask: u(0x0f),
                backface_stencil_write_mask: u(0x81),
                backface_stencil_pass_depth_pass_op: ThreeDStencilOperation::STENCILOP_ZERO,
                ..scene.tests
            };
            let pass = passes(function, (reference & 0xf0) as u32, 0x30);
            let front = if pass { 0x40 } else { 0x3f };
            let row: Vec<u8> = (0..70).map(|x| if x % 2 == 0 { front } else { 0x3e }).collect();
            assert_eq!(
                scene.run().unwrap().stencils(),
                row.repeat(70),
                "{function:?} {reference:#x}"
            );
        }
    }
}

/// A depth that the shader computes replaces the interpolated one.
#[test]
fn computed_depth() {
    let mut scene = columns(&[0.5, 0.5, 0.5], 1);
    for (quad, z) in scene.vertices.chunks_mut(6).zip([0.125_f32, 0.625, 0.25]) {
        quad.iter_mut().for_each(|vertex| vertex.attributes[0] = [z.to_bits(); 4]);
    }
    scene.kernel = kernels::WITH_DEPTH;
    scene.extra.pixel_shader_computed_depth_mode = Computed::PSCDEPTH_ON;
    scene.depth = Some((DepthFormat::D32_FLOAT, 0.375f32.to_bits()));
    scene.tests.depth_test_enable = true;
    scene.tests.depth_buffer_write_enable = true;
    scene.tests.depth_test_function = Compare::COMPAREFUNCTION_LESS;
    let drawn = scene.run().unwrap();
    assert_eq!(
        drawn.depths().iter().map(|&z| f32::from_bits(z)).collect::<Vec<_>>(),
        [0.125, 0.375, 0.25]
    );
    assert_eq!(drawn.dwords(0, 0, 0), [0.125f32.to_bits(), 0, 0.25f32.to_bits()]);
}

/// Without a pixel shader, depth is still written.
#[test]
fn depth_alone() {
    let mut scene = columns(&[0.25, 0.5], 4);
    scene.extra.pixel_shader_valid = false;
    scene.depth = Some((DepthFormat::D16_UNORM, 0xffff));
    scene.tests.depth_test_enable = true;
    scene.tests.depth_buffer_write_enable = true;
    push(&mut scene.more, &pattern());
    let want =
        [stored(DepthFormat::D16_UNORM, 0.25), stored(DepthFormat::D16_UNORM, 0.5)].repeat(4);
    assert_eq!(scene.run().unwrap().depths(), want);
}
