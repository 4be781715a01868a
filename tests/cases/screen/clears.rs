//! Fast clears and resolves as drivers do them. Oracle: gen8_facts 8.2 to 8.4 (sizes of rectangles,
//! words of the auxiliary surfaces); the clear colour red; exact coverage for the triangles.

use crate::screen::exact::{STANDARD, expected, pattern, random_triangles};
use crate::screen::scene::{AUXILIARY, DEPTH, DWORDS, STENCIL, Scene, TARGETS, Target, on_screen};
use genxml::gen8::enums::{
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code,
    ThreeDStencilOperation as StencilOp,
};
use genxml::gen8::mi::{PipeControl, PipeControlPostSyncOperation as PostSync};
use genxml::gen8::render3d_depth::{
    ThreeDStateClearParams, ThreeDStateDepthBuffer,
    ThreeDStateDepthBufferSurfaceFormat as DepthFormat, ThreeDStateWmDepthStencil,
    ThreeDStateWmHzOp,
};
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::render3d_raster::ScissorRect;
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceStateAuxiliarySurfaceMode as Auxiliary, SurfaceFormat,
};
use genxml_cases::{Model, at, packets, push, u};

const RED: u32 = 0xff00_00ff;

/// Triangles on a colour target. Triangle n has the dword n + 1 as its colour.
fn colors(seed: u64) -> (Scene, Vec<[[i64; 2]; 3]>) {
    let triangles = random_triangles(seed, 6);
    let mut scene = crate::screen::exact::scene(&triangles);
    for (n, vertex) in scene.vertices.iter_mut().enumerate() {
        vertex.attributes[0] = [((n / 3 + 1) as f32 / 255.0).to_bits(), 0, 0, 0];
    }
    scene.targets = vec![Target {
        tiled: true,
        before: [0x5555_5555; 4],
        ..Target::new(SurfaceFormat::R8G8B8A8_UNORM, 4)
    }];
    (scene, triangles)
}

/// A rectangle of `size` pixels, for clears and resolves.
fn rectangle(scene: &Scene, size: [f32; 2], ps: ThreeDStatePs) -> Scene {
    let [x, y] = size;
    let corners = [(x, y), (0.0, y), (0.0, 0.0)];
    Scene {
        topology: Code::_3DPRIM_RECTLIST,
        vertices: corners.map(|(x, y)| on_screen(x, y, 0)).to_vec(),
        ps,
        ..scene.clone()
    }
}

/// One sample: a fast clear, triangles, and a resolve that fills in the other pixels.
#[test]
fn colors_of_one_sample() {
    for seed in 0..3 {
        let (mut scene, triangles) = colors(seed);
        scene.auxiliary = Auxiliary::AUX_MCS;
        let mut model = scene.model();
        let clear = ThreeDStatePs { render_target_fast_clear_enable: true, ..scene.ps };
        let resolve = ThreeDStatePs { render_target_resolve_enable: true, ..scene.ps };
        for step in [
            rectangle(&scene, [1.0, 1.0], clear),
            scene.clone(),
            rectangle(&scene, [1.0, 1.0], resolve),
        ] {
            let batch = step.batch(&mut model);
            model.render(&batch).unwrap();
        }
        let want: Vec<u32> =
            expected(&triangles, [8, 8]).iter().map(|&v| if v == 0 { RED } else { v }).collect();
        let stats = model.render(&packets![PipeControl::new()]).unwrap();
        assert_eq!(scene.drawn(&mut model, stats).dwords(0, 0, 0), want);
        assert!(model.read(AUXILIARY, 4096).iter().all(|&byte| byte == 0));
    }
}

/// Several samples: each pixel's word says where its samples are stored, or that it is cleared.
#[test]
fn colors_of_samples() {
    for (log, samples) in [
        (1_usize, NumberOfMultisamples::_2),
        (2, NumberOfMultisamples::_4),
        (3, NumberOfMultisamples::_8),
    ] {
        let (mut scene, triangles) = colors(20 + log as u64);
        scene.samples = samples;
        scene.targets[0].samples = 1 << log;
        scene.auxiliary = Auxiliary::AUX_MCS;
        push(&mut scene.more, &pattern());
        let mut model = scene.model();
        let clear = ThreeDStatePs { render_target_fast_clear_enable: true, ..scene.ps };
        for step in [rectangle(&scene, [8.0, 8.0], clear), scene.clone()] {
            let batch = step.batch(&mut model);
            model.render(&batch).unwrap();
        }
        let words = model.read(AUXILIARY, 4096);
        let stats = model.render(&packets![PipeControl::new()]).unwrap();
        let drawn = scene.drawn(&mut model, stats);
        let planes: Vec<Vec<u32>> = (0..1 << log).map(|plane| drawn.dwords(0, 0, plane)).collect();
        for (sample, &position) in STANDARD[log].iter().enumerate() {
            for (n, &want) in expected(&triangles, position).iter().enumerate() {
                // Words have one byte, or four with eight samples. Each sample has 1, 2 or 4 bits.
                let bytes = if log == 3 { 4 } else { 1 };
                let offset = genxml_cases::paper::Tiling::Y.offset(
                    n as u64 % 16 * bytes,
                    n as u64 / 16,
                    128,
                ) as usize;
                let word = (0..bytes as usize)
                    .fold(0, |word, b| word | u32::from(words[offset + b]) << (8 * b));
                let bits = [1, 2, 4][log - 1];
                let all = [0x3, 0xff, u32::MAX][log - 1];
                let found = match word & all == all {
                    true => RED,
                    false => {
                        planes[(word >> (bits * sample as u32) & ((1 << bits) - 1)) as usize][n]
                    }
                };
                assert_eq!(
                    found,
                    if want == 0 { RED } else { want },
                    "pixel {n} sample {sample} of {}: {word:#x}",
                    1 << log
                );
            }
        }
    }
}

/// A fast clear of depth and stencil, a draw that tests against the cleared values, and a resolve.
#[test]
fn depth_and_stencil() {
    for format in [DepthFormat::D32_FLOAT, DepthFormat::D24_UNORM_X8_UINT, DepthFormat::D16_UNORM] {
        let triangle = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
        let mut scene = Scene::new(
            [16, 16],
            Code::_3DPRIM_TRILIST,
            triangle.map(|(x, y)| on_screen(x, y, 1)).to_vec(),
        );
        scene.vertices.iter_mut().for_each(|vertex| vertex.position[2] = 0.25);
        scene.depth = Some((format, 0x1234));
        scene.stencil = Some(0x77);
        scene.tests.depth_test_enable = true;
        scene.tests.depth_buffer_write_enable = true;
        scene.tests.depth_test_function = Compare::COMPAREFUNCTION_LESS;
        let clear = ThreeDStateWmHzOp {
            depth_buffer_clear_enable: true,
            stencil_buffer_clear_enable: true,
            full_surface_depth_clear: true,
            stencil_clear_value: u(0x42),
            clear_rectangle_x_max: u(16),
            clear_rectangle_y_max: u(16),
            sample_mask: u(0xff),
            ..ThreeDStateWmHzOp::new()
        };
        let resolve =
            ThreeDStateWmHzOp { depth_buffer_resolve_enable: true, ..ThreeDStateWmHzOp::new() };
        let write = PipeControl {
            post_sync_operation: PostSync::WRITE_IMMEDIATE_DATA,
            address: at(TARGETS + 0x2_0000),
            ..PipeControl::new()
        };
        let mut model = scene.model();
        // Order: state, clear, draw. The primitive is the last packet of the draw.
        let draw = scene.batch(&mut model);
        let mut batch = draw[..draw.len() - 7].to_vec();
        push(
            &mut batch,
            &ThreeDStateClearParams { depth_clear_value: 0.5, depth_clear_value_valid: true },
        );
        for operation in [clear, ThreeDStateWmHzOp::new()] {
            push(&mut batch, &operation);
            push(&mut batch, &write);
        }
        batch.extend(&draw[draw.len() - 7..]);
        for operation in [resolve, ThreeDStateWmHzOp::new()] {
            push(&mut batch, &operation);
            push(&mut batch, &write);
        }
        let stats = model.render(&batch).unwrap();
        let drawn = scene.drawn(&mut model, stats);
        let stored = |z: f64| match format {
            DepthFormat::D32_FLOAT => (z as f32).to_bits(),
            DepthFormat::D16_UNORM => (z * 65535.0).round_ties_even() as u32,
            _ => (z * 16_777_215.0).round_ties_even() as u32,
        };
        for (n, (depth, color)) in drawn.depths().into_iter().zip(drawn.dwords(0, 0, 0)).enumerate()
        {
            let inside = n % 16 + n / 16 < 15;
            let want = if inside { (stored(0.25), 1) } else { (stored(0.5), 0) };
            assert_eq!((depth, color), want, "{format:?} pixel {n}");
        }
        assert_eq!(drawn.stencils(), [0x42; 256]);
        assert_eq!(scene.targets[0].bytes, DWORDS.bytes);
    }
}

/// A rectangle from (3, 5) to (11, 13) with depth 0.25 and without a pixel shader. Its stencil test
/// always passes and stores 0x42.
fn part(format: DepthFormat, samples: NumberOfMultisamples) -> Scene {
    let corners = [(11.0, 13.0), (3.0, 13.0), (3.0, 5.0)];
    let mut scene = Scene::new(
        [16, 16],
        Code::_3DPRIM_RECTLIST,
        corners.map(|(x, y)| on_screen(x, y, 1)).to_vec(),
    );
    scene.vertices.iter_mut().for_each(|vertex| vertex.position[2] = 0.25);
    scene.samples = samples;
    scene.targets[0].samples = 1 << samples.bits();
    scene.sample_mask = 0b1101;
    scene.depth = Some((format, 0x1234));
    scene.stencil = Some(0x77);
    scene.extra.pixel_shader_valid = false;
    scene.tests = ThreeDStateWmDepthStencil {
        stencil_test_enable: true,
        stencil_buffer_write_enable: true,
        stencil_pass_depth_pass_op: StencilOp::STENCILOP_REPLACE,
        stencil_test_mask: u(0xff),
        stencil_write_mask: u(0xff),
        ..ThreeDStateWmDepthStencil::new()
    };
    scene.color.stencil_reference_value = u(0x42);
    scene
}

/// The bytes of the depth buffer and of the stencil buffer.
fn buffers(model: &mut Model) -> [Vec<u8>; 2] {
    [DEPTH, STENCIL].map(|address| model.read(address, 32 << 10))
}

/// A clear of the same rectangle and samples as [`part`] by 3DSTATE_WM_HZ_OP.
fn operation(samples: NumberOfMultisamples) -> ThreeDStateWmHzOp {
    ThreeDStateWmHzOp {
        depth_buffer_clear_enable: true,
        stencil_buffer_clear_enable: true,
        stencil_clear_value: u(0x42),
        number_of_multisamples: samples,
        clear_rectangle_x_min: u(3),
        clear_rectangle_y_min: u(5),
        clear_rectangle_x_max: u(11),
        clear_rectangle_y_max: u(13),
        sample_mask: u(0b1101),
        ..ThreeDStateWmHzOp::new()
    }
}

/// The buffers of `scene` after its state and an operation, without its draw.
fn operated(scene: &Scene, value: f32, operation: ThreeDStateWmHzOp) -> [Vec<u8>; 2] {
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    let mut batch = draw[..draw.len() - 7].to_vec();
    batch.extend(packets![
        ThreeDStateClearParams { depth_clear_value: value, depth_clear_value_valid: true },
        operation,
        PipeControl {
            post_sync_operation: PostSync::WRITE_IMMEDIATE_DATA,
            address: at(TARGETS + 0x2_0000),
            ..PipeControl::new()
        },
    ]);
    model.render(&batch).unwrap();
    buffers(&mut model)
}

/// A clear by 3DSTATE_WM is a draw. Oracle: the same clear by 3DSTATE_WM_HZ_OP; the formats of the
/// depth buffer. Depth test and Depth Buffer Write Enable are off (2a p.275).
#[test]
fn clears_by_the_windower() {
    for format in [DepthFormat::D32_FLOAT, DepthFormat::D24_UNORM_X8_UINT, DepthFormat::D16_UNORM] {
        for samples in [NumberOfMultisamples::_1, NumberOfMultisamples::_4] {
            // Without a valid value, the clear uses the depth of the primitive, 0.25 (2a p.37).
            for (value, valid) in [(0.75, true), (0.75, false)] {
                let mut scene = part(format, samples);
                scene.wm.legacy_depth_buffer_clear_enable = true;
                let parameters = ThreeDStateClearParams {
                    depth_clear_value: value,
                    depth_clear_value_valid: valid,
                };
                push(&mut scene.more, &parameters);
                let mut model = scene.model();
                let batch = scene.batch(&mut model);
                let stats = model.render(&batch).unwrap();
                let value = if valid { value } else { 0.25 };
                let twin = operated(&part(format, samples), value, operation(samples));
                assert!(buffers(&mut model) == twin, "{format:?} {samples:?} {value}");
                if samples == NumberOfMultisamples::_1 {
                    let stored = match format {
                        DepthFormat::D32_FLOAT => value.to_bits(),
                        DepthFormat::D16_UNORM => (value * 65535.0).round_ties_even() as u32,
                        _ => (f64::from(value) * 16_777_215.0).round_ties_even() as u32,
                    };
                    for (n, depth) in scene.drawn(&mut model, stats).depths().iter().enumerate() {
                        let inside = (3..11).contains(&(n % 16)) && (5..13).contains(&(n / 16));
                        assert_eq!(*depth, if inside { stored } else { 0x1234 }, "pixel {n}");
                    }
                }
            }
        }
    }
}

/// Resolves by 3DSTATE_WM do not write the depth of their primitive. Without a hierarchical depth
/// buffer they are ordinary draws, which do (2a p.275).
#[test]
fn resolves_by_the_windower() {
    let format = DepthFormat::D32_FLOAT;
    for (resolve, hierarchical) in [(true, false), (false, true)] {
        for present in [true, false] {
            let mut scene = part(format, NumberOfMultisamples::_1);
            scene.wm.legacy_depth_buffer_resolve_enable = resolve;
            scene.wm.legacy_hierarchical_depth_buffer_resolve_enable = hierarchical;
            scene.tests.depth_buffer_write_enable = true;
            let depth = ThreeDStateDepthBuffer {
                hierarchical_depth_buffer_enable: present,
                ..scene.depth_buffer()
            };
            push(&mut scene.more, &depth);
            let drawn = scene.run().unwrap();
            let changed = drawn.depths().iter().filter(|&&depth| depth != 0x1234).count();
            assert_eq!(changed, if present { 0 } else { 64 });
        }
    }
    let mut scene = part(format, NumberOfMultisamples::_1);
    scene.wm.legacy_depth_buffer_clear_enable = true;
    scene.wm.legacy_depth_buffer_resolve_enable = true;
    let fault = scene.run().err().expect("two operations").to_string();
    assert!(fault.contains("Legacy Depth Buffer Resolve Enable"), "{fault}");
}

/// With a scissor rectangle, a clear affects only the part of its rectangle that is inside the
/// scissor rectangle.
#[test]
fn clears_with_a_scissor_rectangle() {
    let samples = NumberOfMultisamples::_4;
    for (scissor, rectangle) in [
        ([5, 2, 8, 9], [5, 5, 9, 10]),
        ([0, 6, 15, 15], [3, 6, 11, 13]),
        ([12, 0, 15, 15], [0, 0, 0, 0]),
    ] {
        let mut scene = part(DepthFormat::D32_FLOAT, samples);
        let plain = scene.clone();
        scene.scissors = vec![ScissorRect {
            scissor_rectangle_x_min: u(scissor[0]),
            scissor_rectangle_y_min: u(scissor[1]),
            scissor_rectangle_x_max: u(scissor[2]),
            scissor_rectangle_y_max: u(scissor[3]),
        }];
        let cut = ThreeDStateWmHzOp { scissor_rectangle_enable: true, ..operation(samples) };
        let twin = ThreeDStateWmHzOp {
            clear_rectangle_x_min: u(rectangle[0]),
            clear_rectangle_y_min: u(rectangle[1]),
            clear_rectangle_x_max: u(rectangle[2]),
            clear_rectangle_y_max: u(rectangle[3]),
            ..operation(samples)
        };
        assert!(operated(&scene, 0.5, cut) == operated(&plain, 0.5, twin), "{scissor:?}");
    }
}
