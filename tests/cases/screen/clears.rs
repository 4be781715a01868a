//! Fast clears and resolves as drivers do them. Oracle: gen8_facts 8.2 to 8.4 (sizes of rectangles,
//! words of the auxiliary surfaces); the clear colour red; exact coverage for the triangles.

use crate::screen::exact::{STANDARD, expected, pattern, random_triangles};
use crate::screen::scene::{AUXILIARY, DWORDS, Scene, TARGETS, Target, on_screen};
use genxml::gen8::enums::{ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code};
use genxml::gen8::mi::{PipeControl, PipeControlPostSyncOperation as PostSync};
use genxml::gen8::render3d_depth::{
    ThreeDStateClearParams, ThreeDStateDepthBufferSurfaceFormat as DepthFormat, ThreeDStateWmHzOp,
};
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceStateAuxiliarySurfaceMode as Auxiliary, SurfaceFormat,
};
use genxml_cases::{at, packets, push, u};

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
