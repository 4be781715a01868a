//! Draws with features that captured programs do not use (samples, auxiliary surfaces, stencil,
//! lines, layers, viewports, logic operations), with random damage in packets and state. Each draw
//! must end with a result or a fault.
//!
//! 400 draws by default. For more: `GENXML_MUTATIONS=20000 cargo test -p genxml-cases --test all
//! damaged_draws`.

use crate::screen::exact::{pattern, random_triangles};
use crate::screen::kernels;
use crate::screen::scene::{Scene, Target, Vertex, on_screen};
use genxml::gen8::enums::{
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code, ThreeDStencilOperation,
};
use genxml::gen8::render3d_depth::ThreeDStateDepthBufferSurfaceFormat as DepthFormat;
use genxml::gen8::render3d_raster::{FillMode, ThreeDStateLineStipple, ThreeDStateSbeSwiz};
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceStateAuxiliarySurfaceMode as Auxiliary, SurfaceFormat,
};
use genxml_cases::{DYNAMIC_STATE, KERNELS, Random, SURFACE_STATE, push, u};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Extreme values, which are the most likely to break something.
const EXTREMES: [u32; 10] =
    [0, 1, 0xff, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x7f80_0000, 0x7fc0_0000, 0xff7f_ffff, 0x1000];

fn scenes() -> Vec<Scene> {
    let colors = Target { tiled: true, ..Target::new(SurfaceFormat::R8G8B8A8_UNORM, 4) };
    let triangles = crate::screen::exact::scene(&random_triangles(77, 6));
    let mut list = Vec::new();

    let mut samples = triangles.clone();
    samples.samples = NumberOfMultisamples::_4;
    samples.targets = vec![Target { samples: 4, ..colors }];
    samples.auxiliary = Auxiliary::AUX_MCS;
    samples.blend.alpha_to_coverage_enable = true;
    samples.wm.barycentric_interpolation_mode = u(2);
    push(&mut samples.more, &pattern());
    list.push(samples.clone());
    samples.extra.pixel_shader_is_per_sample = true;
    samples.samples = NumberOfMultisamples::_8;
    samples.targets = vec![Target { samples: 8, ..colors }];
    list.push(samples);

    let mut cleared = triangles.clone();
    cleared.targets = vec![colors];
    cleared.auxiliary = Auxiliary::AUX_MCS;
    list.push(cleared.clone());
    cleared.ps.render_target_fast_clear_enable = true;
    cleared.topology = Code::_3DPRIM_RECTLIST;
    list.push(cleared);

    let mut depth = triangles.clone().clipped();
    depth.depth = Some((DepthFormat::D24_UNORM_X8_UINT, 0x0080_0000));
    depth.stencil = Some(3);
    depth.tests.depth_test_enable = true;
    depth.tests.depth_buffer_write_enable = true;
    depth.tests.depth_test_function = Compare::COMPAREFUNCTION_LESS;
    depth.tests.stencil_test_enable = true;
    depth.tests.stencil_buffer_write_enable = true;
    depth.tests.stencil_pass_depth_pass_op = ThreeDStencilOperation::STENCILOP_INCR;
    depth.raster.global_depth_offset_enable_solid = true;
    depth.raster.global_depth_offset_scale = 1.0;
    for vertex in &mut depth.vertices {
        let [x, y, ..] = vertex.position;
        vertex.position = [x / 8.0 - 1.0, y / 8.0 - 1.0, x / 64.0, 1.0 + y / 32.0];
        vertex.header = [0, 1, 1, 0];
    }
    depth.viewports.push(depth.viewports[0]);
    depth.targets[0].layers = 3;
    list.push(depth);

    let mut lines = triangles.clone();
    lines.raster.front_face_fill_mode = FillMode::WIREFRAME;
    lines.raster.back_face_fill_mode = FillMode::POINT;
    lines.raster.antialiasing_enable = true;
    lines.sf.line_width = genxml_core::UFix::from_bits(200);
    lines.wm.line_stipple_enable = true;
    lines.wm.polygon_stipple_enable = true;
    lines.sbe.point_sprite_texture_coordinate_enable = u(1);
    let stipple = ThreeDStateLineStipple {
        line_stipple_pattern: u(0x1234),
        line_stipple_repeat_count: u(3),
        ..ThreeDStateLineStipple::new()
    };
    push(&mut lines.more, &stipple);
    list.push(lines.floats());

    let mut blended = triangles;
    for vertex in &mut blended.vertices {
        *vertex = Vertex {
            attributes: vec![[0x3f00_0000; 4]; 2],
            ..on_screen(vertex.position[0], vertex.position[1], 0)
        };
    }
    blended.kernel = kernels::TWO_COLORS;
    blended.targets = vec![Target::new(SurfaceFormat::R11G11B10_FLOAT, 4)];
    blended.blend.entry[0].color_buffer_blend_enable = true;
    blended.blend.alpha_test_enable = true;
    push(&mut blended.more, &ThreeDStateSbeSwiz::new());
    list.push(blended);
    list
}

#[test]
fn damaged_draws() {
    let rounds =
        std::env::var("GENXML_MUTATIONS").map_or(400, |count| count.parse().expect("a number"));
    let scenes = scenes();
    let mut models: Vec<_> = scenes.iter().map(Scene::model).collect();
    let mut faults = 0;
    for seed in 0..rounds {
        let which = seed as usize % scenes.len();
        let (scene, model) = (&scenes[which], &mut models[which]);
        let mut random = Random::new(seed);
        // State is written again before each draw.
        let mut batch = scene.batch(model);
        model.gpu.set_work_limit(1 << 17);
        // PIPELINE_SELECT and STATE_BASE_ADDRESS, the first 17 dwords, stay unchanged.
        let state: Vec<u64> = [
            (SURFACE_STATE, 32),
            (DYNAMIC_STATE, 16),
            (DYNAMIC_STATE + 0x400, 4),
            (DYNAMIC_STATE + 0x600, 72),
            (KERNELS, 40),
        ]
        .iter()
        .flat_map(|&(start, dwords)| (0..dwords).map(move |n| start + 4 * n))
        .collect();
        for _ in 0..=random.below(3) {
            let value = |old: u32, random: &mut Random| match random.below(2) {
                0 => old ^ 1 << random.below(32),
                _ => EXTREMES[random.below(10) as usize],
            };
            if random.below(2) == 0 {
                let at = 17 + random.below(batch.len() as u64 - 17) as usize;
                batch[at] = value(batch[at], &mut random);
            } else {
                let at = state[random.below(state.len() as u64) as usize];
                let old = model.get(at, 1)[0];
                model.put(at, &[value(old, &mut random)]);
            }
        }
        match catch_unwind(AssertUnwindSafe(|| model.render(&batch))) {
            Ok(result) => faults += u64::from(result.is_err()),
            Err(_) => panic!("scene {which} with the damage of seed {seed}"),
        }
    }
    assert!(faults > rounds / 20 && faults < rounds, "{faults} faults in {rounds} draws");
}
