//! Draws with small kernels, against plain formulas.

use crate::scene::{DEPTH, INDICES, SIDE, Scene, VERTICES, Vertex, less, rectangle, u};
use genxml::core::{Address, UFix};
use genxml::gen45::commands_3d::{
    ThreeDStateDepthBufferSurfaceFormat as Format, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateLineStipple,
    ThreeDStatePolyStipplePattern, VertexBufferStateBufferAccessType as Access,
};
use genxml::gen45::commands_common::{PipeControl, PipeControlPostSyncOperation as PostSync};
use genxml::gen45::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDCompareFunction as Compare,
    ThreeDLogicOpFunction as Logic, ThreeDPrimTopoType as Topology,
    ThreeDStencilOperation as Stencil, ThreeDVertexComponentControl as Control,
};
use genxml::gen45::state_surface::SurfaceState;
use genxml::gen45::state_units::*;
use genxml_sim::Fault;
use genxml_testkit::Random;

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 0.5];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 0.25];

fn bytes(color: [f32; 4]) -> [u8; 4] {
    color.map(|c| (c * 255.0).round() as u8)
}

/// Checks that all pixels are as `expected` says, within one step.
fn check(scene: &Scene, expected: impl Fn(u32, u32) -> [u8; 4]) {
    for y in 0..SIDE {
        for x in 0..SIDE {
            let (got, want) = (scene.pixel(x, y), expected(x, y));
            let near = got.iter().zip(want).all(|(a, b)| a.abs_diff(b) <= 1);
            assert!(near, "({x}, {y}): {got:?} for {want:?}");
        }
    }
}

/// Oracle: barycentric coordinates in f64 at the centres of pixels. Corners lie off the centres by
/// odd fractions, so that no centre is on an edge.
#[test]
fn triangles_are_interpolated() {
    let mut random = Random::new(45);
    for _ in 0..20 {
        let mut scene = Scene::new();
        let vertices: Vec<Vertex> = (0..3)
            .map(|_| {
                let mut at = || random.below(34 * 64) as f32 / 64.0 - 1.0 + 1.0 / 128.0;
                let at = [at(), at()];
                let attribute = [0; 4].map(|_| random.below(256) as f32 / 255.0);
                Vertex::new(at, 0.5, attribute)
            })
            .collect();
        scene.draw(&vertices, 3).unwrap();
        let [a, b, c] = [0, 1, 2].map(|n: usize| vertices[n].at.map(f64::from));
        let area = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| {
            (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1])
        };
        let whole = area(a, b, c);
        if whole.abs() < 20.0 {
            continue;
        }
        check(&scene, |x, y| {
            let p = [f64::from(x) + 0.5, f64::from(y) + 0.5];
            let weights = [area(p, b, c), area(a, p, c), area(a, b, p)].map(|it| it / whole);
            if weights.iter().any(|weight| *weight < 0.0) {
                return [0; 4];
            }
            [0, 1, 2, 3].map(|n: usize| {
                let value: f64 =
                    (0..3).map(|v| weights[v] * f64::from(vertices[v].attribute[n])).sum();
                (value * 255.0).round() as u8
            })
        });
    }
}

/// Oracle: the numbers of vertices in the manual of OpenGL 2.1 (2.6.1, 3.5), with the last vertex
/// as the provoking one. The first triangle of a strip has the colour of vertex 2, the next that of
/// vertex 3.
#[test]
fn strips_fans_and_provoking_vertices() {
    let corner = |x: f32, y: f32, color| Vertex::new([x, y], 0.5, color);
    let vertices = [
        corner(0.0, 0.0, GREEN),
        corner(32.0, 0.0, GREEN),
        corner(0.0, 32.0, RED),
        corner(32.0, 32.0, BLUE),
    ];
    let mut scene = Scene::new();
    scene.setup = crate::scene::FLAT_SETUP;
    scene.topology = Topology::_3DPRIM_TRISTRIP;
    scene.sf.triangle_strip_list_provoking_vertex_select =
        SfStateTriangleStripListProvokingVertexSelect::VERTEX_2;
    // All triangles turn the same way: none is dropped.
    scene.sf.cull_mode = SfStateCullMode::BACK;
    scene.draw(&vertices, 4).unwrap();
    check(&scene, |x, y| bytes(if x + y < 31 { RED } else { BLUE }));
    // The other winding is dropped.
    let mut scene = Scene::new();
    scene.sf.front_winding = SfStateFrontWinding::FRONTWINDING_CCW;
    scene.topology = Topology::_3DPRIM_TRISTRIP;
    scene.sf.cull_mode = SfStateCullMode::BACK;
    scene.draw(&vertices, 4).unwrap();
    check(&scene, |_, _| [0; 4]);
    // A fan around vertex 0, with the second vertex of each pair.
    let around = [vertices[0], vertices[1], vertices[3], vertices[2]];
    let mut scene = Scene::new();
    scene.setup = crate::scene::FLAT_SETUP;
    scene.topology = Topology::_3DPRIM_TRIFAN;
    scene.sf.triangle_fan_provoking_vertex_select =
        SfStateTriangleFanProvokingVertexSelect::VERTEX_2;
    scene.draw(&around, 4).unwrap();
    check(&scene, |x, y| bytes(if x >= y { BLUE } else { RED }));
}

/// Oracle: integer comparisons. A cut index ends the strip; indices beyond the end read 0.
#[test]
fn indices_and_instances() {
    let mut scene = Scene::new();
    let mut vertices = rectangle([0.0, 0.0], [16.0, 32.0], 0.5, RED);
    vertices.extend(rectangle([16.0, 0.0], [32.0, 32.0], 0.5, GREEN));
    scene.topology = Topology::_3DPRIM_TRISTRIP;
    let list: [u16; 9] = [0, 1, 2, 4, 0xffff, 6, 7, 8, 10];
    scene.put(INDICES, &list.map(u16::to_le_bytes).concat());
    scene.indices = Some(ThreeDStateIndexBuffer {
        cut_index_enable: true,
        index_format: IndexFormat::WORD,
        buffer_starting_address: Address::from_bits(INDICES),
        buffer_ending_address: Address::from_bits(INDICES + 17),
    });
    scene.draw(&vertices, 9).unwrap();
    check(&scene, |x, _| bytes(if x < 16 { RED } else { GREEN }));
    // The attribute comes from the number of the instance: one element for two instances.
    let mut scene = Scene::new();
    scene.instances = 4;
    scene.buffer.buffer_access_type = Access::VERTEXDATA;
    scene.attribute.component_0_control = Control::VFCOMP_STORE_1_FP;
    scene.attribute.component_1_control = Control::VFCOMP_STORE_0;
    scene.cc.color_buffer_blend_enable = true;
    scene.target.color_blend_enable = true;
    scene.cc.source_blend_factor = Factor::BLENDFACTOR_CONST_COLOR;
    scene.cc.destination_blend_factor = Factor::BLENDFACTOR_ONE;
    scene.more = genxml::gen45::commands_3d::ThreeDStateConstantColor {
        blend_constant_color_red: 0.125,
        ..genxml::gen45::commands_3d::ThreeDStateConstantColor::new()
    }
    .pack()
    .to_vec();
    scene.draw(&rectangle([0.0, 0.0], [8.0, 8.0], 0.5, BLUE), 6).unwrap();
    let four = (0..4).fold(0u8, |sum, _| (f32::from(sum) + 0.125 * 255.0).round() as u8);
    assert!(scene.pixel(3, 3)[0].abs_diff(four) <= 2, "{:?}", scene.pixel(3, 3));
    assert_eq!(scene.pixel(9, 3), [0; 4]);
}

/// Oracle: the nearer rectangle wins; depth and stencil as stored bytes in tiles of the manual.
#[test]
fn depth_and_stencil() {
    for format in [
        Format::D24_UNORM_S8_UINT,
        Format::D32_FLOAT_S8X24_UINT,
        Format::D32_FLOAT,
        Format::D16_UNORM,
    ] {
        let mut scene = Scene::new().with_depth(format);
        scene.put(DEPTH, &[0xff; 0x8000]);
        if matches!(format, Format::D32_FLOAT | Format::D32_FLOAT_S8X24_UINT) {
            scene.put(DEPTH, &1.0f32.to_le_bytes().repeat(0x2000));
        }
        scene.cc.depth_test_enable = true;
        scene.cc.depth_buffer_write_enable = true;
        scene.cc.depth_test_function = Compare::COMPAREFUNCTION_LESS;
        scene.cc.stencil_test_enable = true;
        scene.cc.stencil_buffer_write_enable = true;
        scene.cc.stencil_test_function = Compare::COMPAREFUNCTION_ALWAYS;
        scene.cc.stencil_pass_depth_pass_op = Stencil::STENCILOP_REPLACE;
        scene.cc.stencil_pass_depth_fail_op = Stencil::STENCILOP_ZERO;
        scene.cc.stencil_reference_value = u(0x5a);
        scene.cc.stencil_test_mask = u(0xff);
        scene.cc.stencil_write_mask = u(0xff);
        let mut vertices = rectangle([0.0, 0.0], [20.0, 32.0], 0.25, RED);
        vertices.extend(rectangle([10.0, 0.0], [32.0, 32.0], 0.75, BLUE));
        scene.draw(&vertices, 12).unwrap();
        check(&scene, |x, _| bytes(if x < 20 { RED } else { BLUE }));
        let size: usize = match format {
            Format::D32_FLOAT_S8X24_UINT => 8,
            Format::D16_UNORM => 2,
            _ => 4,
        };
        for x in [3usize, 15, 25] {
            // Row 5 of a Y tile: columns of 16 bytes by 32 rows.
            let row = x * size;
            let at = row / 128 * 4096 + row % 128 / 16 * 512 + 5 * 16 + row % 16;
            let element = scene.bytes(DEPTH + at as u64, size);
            let z: f64 = if x < 20 { 0.25 } else { 0.75 };
            let stencil = if (10..20).contains(&x) { 0 } else { 0x5a };
            match format {
                Format::D24_UNORM_S8_UINT => {
                    let whole = u32::from_le_bytes(element.try_into().unwrap());
                    assert_eq!(whole & 0xff_ffff, (z * 16777215.0).round() as u32);
                    assert_eq!(whole >> 24, stencil, "{x}");
                }
                Format::D16_UNORM => {
                    assert_eq!(
                        u16::from_le_bytes(element.try_into().unwrap()),
                        (z * 65535.0).round() as u16
                    );
                }
                _ => {
                    assert_eq!(element[..4], (z as f32).to_le_bytes());
                    assert!(size == 4 || u32::from(element[4]) == stencil, "{x}");
                }
            }
        }
    }
}

/// Oracle: rectangles as conditions on columns and rows.
#[test]
fn windows_and_stipple() {
    let all = rectangle([0.0, 0.0], [32.0, 32.0], 0.5, RED);
    let mut scene = Scene::new();
    scene.sf.scissor_rectangle_enable = true;
    scene.viewport.scissor_rectangle = ScissorRect {
        scissor_rectangle_x_min: u(3),
        scissor_rectangle_y_min: u(5),
        scissor_rectangle_x_max: u(20),
        scissor_rectangle_y_max: u(25),
    };
    scene.drawing.clipped_drawing_rectangle_x_max = u(17);
    scene.draw(&all, 6).unwrap();
    let inside = |x, y| (3..=17).contains(&x) && (5..=25).contains(&y);
    check(&scene, |x, y| if inside(x, y) { bytes(RED) } else { [0; 4] });
    // The viewport transform, and the origin of the drawing rectangle.
    let mut scene = Scene::new();
    scene.sf.viewport_transform_enable = true;
    scene.viewport = SfViewport {
        viewport_matrix_element_m00: 4.0,
        viewport_matrix_element_m11: -4.0,
        viewport_matrix_element_m22: 1.0,
        viewport_matrix_element_m30: 8.0,
        viewport_matrix_element_m31: 8.0,
        ..SfViewport::new()
    };
    scene.drawing.drawing_rectangle_origin_x = genxml::core::S::new(2).unwrap();
    scene.draw(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED), 6).unwrap();
    let inside = |x, y| (6..14).contains(&x) && (4..12).contains(&y);
    check(&scene, |x, y| if inside(x, y) { bytes(RED) } else { [0; 4] });
    // Stipple of polygons: bit 31 is the leftmost pixel.
    let mut scene = Scene::new();
    scene.wm.polygon_stipple_enable = true;
    let rows: [u32; 32] = std::array::from_fn(|n| 0x8000_0001 | 1 << n);
    let pattern = ThreeDStatePolyStipplePattern { pattern_row: rows.map(|it| u(it.into())) };
    scene.more = pattern.pack().to_vec();
    scene.draw(&all, 6).unwrap();
    check(&scene, |x, y| if x == 0 || x == 31 || x == 31 - y { bytes(RED) } else { [0; 4] });
}

/// Oracle: the formulas of OpenGL 2.1, 4.1.4 to 4.1.10, on the constant colour of a rectangle.
#[test]
fn alpha_blending_and_logic() {
    let below = [40u8, 80, 160, 200];
    let drawn = |prepare: &dyn Fn(&mut Scene)| {
        let mut scene = Scene::new();
        scene.put(crate::scene::TARGET, &below.repeat((SIDE * SIDE) as usize));
        prepare(&mut scene);
        scene.draw(&rectangle([0.0, 0.0], [32.0, 32.0], 0.5, GREEN), 6).unwrap();
        scene
    };
    let scene = drawn(&|scene| {
        scene.cc.color_buffer_blend_enable = true;
        scene.target.color_blend_enable = true;
        scene.cc.source_blend_factor = Factor::BLENDFACTOR_SRC_ALPHA;
        scene.cc.destination_blend_factor = Factor::BLENDFACTOR_INV_SRC_ALPHA;
    });
    check(&scene, |_, _| [20, 168, 80, 164]);
    // Blending needs both enables.
    let scene = drawn(&|scene| {
        scene.cc.color_buffer_blend_enable = true;
        scene.cc.source_blend_factor = Factor::BLENDFACTOR_ZERO;
        scene.cc.destination_blend_factor = Factor::BLENDFACTOR_ONE;
    });
    check(&scene, |_, _| bytes(GREEN));
    for (function, passes) in
        [(Compare::COMPAREFUNCTION_GREATER, false), (Compare::COMPAREFUNCTION_LEQUAL, true)]
    {
        let scene = drawn(&|scene| {
            scene.cc.alpha_test_enable = true;
            scene.cc.alpha_test_function = function;
            scene.cc.alpha_test_format = ColorCalcStateAlphaTestFormat::ALPHATEST_FLOAT32;
            scene.cc.alpha_reference =
                ColorCalcStateAlphaReference::Float { alpha_reference_value_as_float32: 0.501 };
        });
        check(&scene, |_, _| if passes { bytes(GREEN) } else { below });
    }
    let scene = drawn(&|scene| {
        scene.cc.logic_op_enable = true;
        scene.cc.logic_op_function = Logic::LOGICOP_XOR;
    });
    check(&scene, |_, _| [0, 1, 2, 3].map(|n: usize| below[n] ^ bytes(GREEN)[n]));
    let scene = drawn(&|scene| {
        scene.target = SurfaceState {
            color_buffer_component_write_disable_green: true,
            color_buffer_component_write_disable_alpha: true,
            ..scene.target
        };
    });
    check(&scene, |_, _| [0, below[1], 0, below[3]]);
}

/// Setup of points and lines gives flat values here: kernels of triangles divide by the
/// determinant. Oracle: squares and axis-parallel lines as conditions.
#[test]
fn points_and_lines() {
    let mut scene = Scene::new();
    scene.setup = crate::scene::FLAT_SETUP;
    scene.topology = Topology::_3DPRIM_POINTLIST;
    let mut points = [Vertex::new([8.0, 8.0], 0.5, RED), Vertex::new([20.5, 20.5], 0.5, BLUE)];
    (points[0].width, points[1].width) = (4.0, 3.0);
    scene.draw(&points, 2).unwrap();
    check(&scene, |x, y| match (x, y) {
        (6..10, 6..10) => bytes(RED),
        (19..22, 19..22) => bytes(BLUE),
        _ => [0; 4],
    });
    let mut scene = Scene::new();
    scene.setup = crate::scene::FLAT_SETUP;
    scene.topology = Topology::_3DPRIM_LINELIST;
    scene.sf.line_width = UFix::from_bits(0);
    scene.wm.line_stipple_enable = true;
    scene.more = ThreeDStateLineStipple {
        line_stipple_pattern: u(0x0f0f),
        line_stipple_repeat_count: u(1),
        ..ThreeDStateLineStipple::new()
    }
    .pack()
    .to_vec();
    let line = [Vertex::new([2.5, 4.5], 0.5, GREEN), Vertex::new([30.5, 4.5], 0.5, GREEN)];
    scene.draw(&line, 2).unwrap();
    check(&scene, |x, y| {
        let inside = y == 4 && (2..30).contains(&x) && (x - 2) / 4 % 2 == 0;
        if inside { bytes(GREEN) } else { [0; 4] }
    });
}

/// Oracle: the number of pixels of the visible parts.
#[test]
fn pixels_that_pass_are_counted() {
    let mut scene = Scene::new().with_depth(Format::D24_UNORM_X8_UINT);
    scene.put(DEPTH, &[0xff; 0x4000]);
    scene.cc.statistics_enable = true;
    scene.wm.statistics_enable = true;
    scene.cc.depth_test_enable = true;
    scene.cc.depth_buffer_write_enable = true;
    scene.cc.depth_test_function = Compare::COMPAREFUNCTION_LESS;
    let to = VERTICES + 0x8000;
    scene.after = PipeControl {
        post_sync_operation: PostSync::WRITE_PS_DEPTH_COUNT,
        address: Address::from_bits(to),
        depth_stall_enable: true,
        ..PipeControl::new()
    }
    .pack()
    .to_vec();
    let mut vertices = rectangle([0.0, 0.0], [10.0, 10.0], 0.25, RED);
    vertices.extend(rectangle([5.0, 0.0], [15.0, 10.0], 0.5, BLUE));
    scene.draw(&vertices, 12).unwrap();
    let count = u64::from_le_bytes(scene.bytes(to, 8).try_into().unwrap());
    assert_eq!(count, 100 + 50);
}

/// State that cannot be drawn with gives a fault that names the field.
#[test]
fn faults_name_the_field() {
    let field = |prepare: &dyn Fn(&mut Scene)| {
        let mut scene = Scene::new().with_depth(Format::D24_UNORM_X8_UINT);
        scene.cc.depth_test_enable = true;
        prepare(&mut scene);
        match scene.draw(&rectangle([0.0, 0.0], [32.0, 32.0], 0.5, RED), 6) {
            Err(Fault::BadPacket { field, .. }) => field,
            Err(Fault::Unimplemented { .. }) => "unimplemented",
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(field(&|it| it.topology = Topology::from_bits(0)), "Primitive Topology Type");
    assert_eq!(field(&|it| it.topology = Topology::_3DPRIM_TRILIST_ADJ), "unimplemented");
    assert_eq!(field(&|it| it.topology = Topology::_3DPRIM_QUADLIST), "Primitive Topology Type");
    assert_eq!(field(&|it| it.depth.surface_pitch = less(100)), "Surface Pitch");
    assert_eq!(
        field(&|it| it.attribute.source_element_format =
            genxml::gen45::state_formats::SurfaceFormat::BC1_UNORM),
        "Source Element Format"
    );
    assert_eq!(field(&|it| it.sf.number_of_urb_entries = u(200)), "Number of URB Entries");
    assert_eq!(field(&|it| it.wm.legacy_diamond_line_rasterization = true), "unimplemented");
    assert_eq!(field(&|it| it.cc.round_disable_function_disable = true), "unimplemented");
}
