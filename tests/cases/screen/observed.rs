//! Counters of performance reports for the tests before and after the pixel shader. Oracle: blocks
//! of 2x2 pixels of a rectangle, counted by hand for each test (Broadwell vol 14 p.12).

use crate::screen::kernels;
use crate::screen::scene::{DWORDS, FLOATS, Scene, on_screen};
use genxml::gen8::enums::{ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code};
use genxml::gen8::render3d_depth::ThreeDStateDepthBufferSurfaceFormat as DepthFormat;
use genxml_cases::u;

const PIXEL_THREADS: usize = 6;
const RASTERIZED: usize = 21;
const FAILED_EARLY: usize = 23;
const KILLED: usize = 24;
const FAILED_LATE: usize = 25;
const WRITTEN: usize = 26;
const BLENDED: usize = 27;

/// A rectangle of 8 x 8 pixels.
fn rectangle(value: u32) -> Scene {
    let corners = [(8.0, 8.0), (0.0, 8.0), (0.0, 0.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, value)).to_vec();
    Scene::new([16, 16], Code::_3DPRIM_RECTLIST, vertices)
}

/// Draws, and compares all counters but A0 with the listed values and 0 for the others. A6 is the
/// number of threads of the draw.
#[track_caller]
fn check(scene: &Scene, expected: &[(usize, u64)]) {
    let mut model = scene.model();
    let before = model.counters();
    let batch = scene.batch(&mut model);
    let stats = model.render(&batch).unwrap();
    let after = model.counters();
    let mut wanted = [0; 36];
    wanted[PIXEL_THREADS] = stats.threads;
    expected.iter().for_each(|&(counter, value)| wanted[counter] = value);
    for counter in 1..36 {
        assert_eq!(after[counter] - before[counter], wanted[counter], "A{counter}");
    }
}

#[test]
fn written_and_blended() {
    let mut scene = rectangle(7);
    check(&scene, &[(RASTERIZED, 16), (WRITTEN, 16)]);
    // One column of four blocks. The rectangle covers only the lower row of the first one, which
    // counts as a block.
    scene.vertices = [(2.0, 8.0), (0.0, 8.0), (0.0, 1.0)].map(|(x, y)| on_screen(x, y, 7)).to_vec();
    check(&scene, &[(RASTERIZED, 4), (WRITTEN, 4)]);
    let mut scene = rectangle(0.5f32.to_bits()).floats();
    scene.blend.entry[0].color_buffer_blend_enable = true;
    check(&scene, &[(RASTERIZED, 16), (WRITTEN, 16), (BLENDED, 16)]);
    scene.targets = vec![FLOATS; 1];
    scene.blend.entry[0].color_buffer_blend_enable = false;
    check(&scene, &[(RASTERIZED, 16), (WRITTEN, 16)]);
}

#[test]
fn failed_tests() {
    // The depth test fails before the shader.
    let mut scene = rectangle(7);
    scene.depth = Some((DepthFormat::D32_FLOAT, 0));
    scene.tests.depth_test_enable = true;
    scene.tests.depth_test_function = Compare::COMPAREFUNCTION_NEVER;
    check(&scene, &[(RASTERIZED, 16), (FAILED_EARLY, 16), (PIXEL_THREADS, 0)]);
    scene.tests.depth_test_function = Compare::COMPAREFUNCTION_ALWAYS;
    check(&scene, &[(RASTERIZED, 16), (WRITTEN, 16)]);
    // The depth test runs after a shader that computes depths.
    let mut late = rectangle(0.5f32.to_bits());
    late.kernel = kernels::WITH_DEPTH;
    late.targets = vec![FLOATS];
    late.extra.pixel_shader_computed_depth_mode =
        genxml::gen8::render3d_pixel::ThreeDStatePsExtraPixelShaderComputedDepthMode::PSCDEPTH_ON;
    late.depth = Some((DepthFormat::D32_FLOAT, 0));
    late.tests.depth_test_enable = true;
    late.tests.depth_test_function = Compare::COMPAREFUNCTION_NEVER;
    check(&late, &[(RASTERIZED, 16), (FAILED_LATE, 16)]);
    // The alpha test fails after the shader.
    let mut alpha = rectangle(0.5f32.to_bits()).floats();
    alpha.blend.alpha_test_enable = true;
    alpha.blend.alpha_test_function = Compare::COMPAREFUNCTION_NEVER;
    check(&alpha, &[(RASTERIZED, 16), (FAILED_LATE, 16)]);
    // The shader leaves no sample.
    let mut killed = rectangle(0);
    killed.kernel = kernels::WITH_MASK;
    killed.targets = vec![DWORDS];
    killed.sbe.constant_interpolation_enable = u(1);
    killed.extra.o_mask_present_to_render_target = true;
    check(&killed, &[(RASTERIZED, 16), (KILLED, 16)]);
}
