//! Several samples per pixel: positions of interpolation, and coverage as input and output of
//! shaders. Oracle: exact coverage ([`crate::screen::exact`]); values that are linear on the
//! screen.

use crate::screen::exact::{STANDARD, covers, pattern};
use crate::screen::kernels;
use crate::screen::scene::{DWORDS, FLOATS, Scene, Target, Vertex, on_screen};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_raster::{
    ThreeDStateRaster, ThreeDStateRasterApiMode as Api, ThreeDStateSamplePattern,
};
use genxml::gen8::state::{NumberOfMultisamples, RenderSurfaceState, SurfaceType};
use genxml_cases::{SURFACE_STATE, push, u};
use genxml_core::UFix;

const CORNERS: [[i64; 2]; 3] = [[300, 200], [3900, 900], [700, 3700]];

/// A triangle whose attribute is x and y of the position on the screen, then the two values `rest`.
/// Each pixel has 2^`log` samples.
fn placed(log: usize, rest: [f32; 2]) -> Scene {
    let vertices = CORNERS.map(|[x, y]| {
        let (x, y) = (x as f32 / 256.0, y as f32 / 256.0);
        Vertex {
            attributes: vec![[x, y, rest[0], rest[1]].map(f32::to_bits)],
            ..on_screen(x, y, 0)
        }
    });
    let mut scene = Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices.to_vec()).floats();
    scene.samples = NumberOfMultisamples::from_bits(log as u64);
    scene.targets[0].samples = 1 << log;
    push(&mut scene.more, &pattern());
    scene
}

/// Mask of the covered samples of pixel `n`.
fn coverage(log: usize, n: usize) -> u32 {
    let at = |&[x, y]: &[i64; 2]| [256 * (n as i64 % 16) + 16 * x, 256 * (n as i64 / 16) + 16 * y];
    STANDARD[log]
        .iter()
        .enumerate()
        .fold(0, |mask, (s, p)| mask | u32::from(covers(&CORNERS, at(p))) << s)
}

fn near(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() < 1e-4
}

/// Attributes are interpolated once per pixel at its centre, or at the position of a covered
/// sample, or once per sample.
#[test]
fn where_values_are_taken() {
    for (log, positions) in STANDARD.iter().enumerate() {
        for mode in 0..3 {
            let mut scene = placed(log, [0.0, 1.0]);
            scene.wm.barycentric_interpolation_mode = u(1 << mode);
            scene.extra.pixel_shader_is_per_sample = mode == 2;
            let drawn = scene.run().unwrap();
            for (sample, own) in positions.iter().enumerate() {
                for (n, pixel) in drawn.floats(0, 0, sample as u32).into_iter().enumerate() {
                    let mask = coverage(log, n);
                    if mask >> sample & 1 == 0 {
                        assert_eq!(pixel, [0.0; 4], "pixel {n} sample {sample} of {}", 1 << log);
                        continue;
                    }
                    let (x, y) = ((n % 16) as f64, (n / 16) as f64);
                    let at = |p: &[i64; 2]| {
                        near(pixel[0], x + p[0] as f64 / 16.0)
                            && near(pixel[1], y + p[1] as f64 / 16.0)
                    };
                    let all = mask == (1 << (1 << log)) - 1;
                    let right = match mode {
                        0 => at(&[8, 8]),
                        1 if all => at(&[8, 8]),
                        1 => positions.iter().enumerate().any(|(s, p)| mask >> s & 1 == 1 && at(p)),
                        _ => at(own),
                    };
                    assert!(
                        right,
                        "mode {mode}, pixel {n} sample {sample} of {}: {pixel:?}",
                        1 << log
                    );
                }
            }
        }
    }
}

/// The input coverage mask of shaders.
#[test]
fn coverage_in() {
    for log in [0, 2, 3] {
        let mut scene = placed(log, [0.0; 2]);
        scene.kernel = kernels::COVERAGE;
        scene.extra.pixel_shader_uses_input_coverage_mask = true;
        let drawn = scene.run().unwrap();
        for sample in 0..1 << log {
            for (n, pixel) in drawn.dwords(0, 0, sample).chunks(4).enumerate() {
                let mask = coverage(log, n);
                let want = if mask >> sample & 1 == 1 { mask } else { 0 };
                assert_eq!(pixel[0], want, "pixel {n} sample {sample} of {}", 1 << log);
            }
        }
    }
}

/// Without multisample rasterisation, the samples of a pixel are at the positions of the pattern
/// with API mode DX10.1+, and in its middle in other modes
/// (assumptions::DX10_1_ALWAYS_SAMPLES_THE_PATTERN). The pattern has a position for one sample, too
/// (2a p.188).
#[test]
fn positions_by_api() {
    let own = [[3, 12]];
    for (log, api, enabled) in [0, 1, 2, 3].into_iter().flat_map(|log| {
        [(Api::DX9_OGL, false), (Api::DX10_0, false), (Api::DX10_1, false), (Api::DX9_OGL, true)]
            .map(|(api, enabled)| (log, api, enabled))
    }) {
        let vertices = CORNERS.map(|[x, y]| on_screen(x as f32 / 256.0, y as f32 / 256.0, 7));
        let mut scene = Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices.to_vec());
        scene.samples = NumberOfMultisamples::from_bits(log as u64);
        scene.targets[0].samples = 1 << log;
        let pattern = ThreeDStateSamplePattern {
            _1x_sample0_x_offset: UFix::from_bits(3),
            _1x_sample0_y_offset: UFix::from_bits(12),
            ..pattern()
        };
        push(&mut scene.more, &pattern);
        let raster = ThreeDStateRaster {
            api_mode: api,
            dx_multisample_rasterization_enable: enabled,
            ..scene.raster
        };
        push(&mut scene.more, &raster);
        let drawn = scene.run().unwrap();
        for sample in 0..1 << log {
            let by_pattern = enabled || api == Api::DX10_1;
            let [x, y] = match by_pattern {
                false => [8, 8],
                true if log == 0 => own[0],
                true => STANDARD[log][sample as usize],
            };
            for (n, found) in drawn.dwords(0, 0, sample).into_iter().enumerate() {
                let at = [256 * (n as i64 % 16) + 16 * x, 256 * (n as i64 / 16) + 16 * y];
                let want = if covers(&CORNERS, at) { 7 } else { 0 };
                assert_eq!(found, want, "pixel {n} sample {sample} of {}, {api:?}", 1 << log);
            }
        }
    }
}

/// The output mask of shaders is ANDed with the triangle's coverage, and replaces alpha to
/// coverage.
#[test]
fn coverage_out() {
    for (out, to_coverage) in
        [0b1111, 0b0110, 0b1000, 0].map(|out| [(out, false), (out, true)]).concat()
    {
        let mut scene = placed(2, [0.0; 2]);
        scene.blend.alpha_to_coverage_enable = to_coverage;
        scene.vertices.iter_mut().for_each(|v| v.attributes[0] = [7, 0, 0, out]);
        scene.kernel = kernels::WITH_MASK;
        scene.sbe.constant_interpolation_enable = u(1);
        scene.extra.o_mask_present_to_render_target = true;
        let drawn = scene.run().unwrap();
        for sample in 0..4 {
            for (n, pixel) in drawn.dwords(0, 0, sample).chunks(4).enumerate() {
                let want = if (coverage(2, n) & out) >> sample & 1 == 1 { 7 } else { 0 };
                assert_eq!(pixel[0], want, "pixel {n} sample {sample} {out:#b}");
            }
        }
    }
}

/// Alpha determines the number of written samples. All written samples of a pixel are equal. Alpha
/// to one may be enabled (2d p.36).
#[test]
fn alpha_to_coverage() {
    for log in [1, 2, 3] {
        let samples = 1_u32 << log;
        for count in 0..=samples {
            let mut scene = placed(log, [5.0, count as f32 / samples as f32]);
            scene.targets = vec![Target { samples, ..FLOATS }];
            scene.blend.alpha_to_coverage_enable = true;
            scene.blend.alpha_to_one_enable = count % 2 == 1;
            let drawn = scene.run().unwrap();
            let layers: Vec<_> = (0..samples).map(|sample| drawn.floats(0, 0, sample)).collect();
            for n in 0..256 {
                let mask = coverage(log, n);
                if mask != (1 << samples) - 1 {
                    continue;
                }
                let lit = layers.iter().filter(|layer| layer[n][2] == 5.0).count();
                assert_eq!(lit as u32, count, "pixel {n} of {samples} samples");
                let alpha = if count % 2 == 1 { 1.0 } else { count as f32 / samples as f32 };
                assert!(
                    layers
                        .iter()
                        .all(|layer| layer[n][2] == 0.0 || (layer[n][3] - alpha).abs() < 1e-6)
                );
            }
        }
    }
}

/// Writes the attribute like [`kernels::FLAT`], with bit 13 of the descriptor set.
const BIT_13: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.7<0;1,0>:ud
    sendc (8|M0)     null  r112  0x25  0x08033400  {EOT}
};

/// Writes the attribute to sample 0, and one more for each following sample of four. Ends with a
/// write of all samples to the second surface.
const EACH_SAMPLE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:uw  1:uw
    mov (8|M0)       r113.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r116.0<1>:ud  r5.7<0;1,0>:ud
    sendc (8|M0)     null  r112  0x5  0x0A030400
    mov (8|M0)       r112.0<1>:uw  2:uw
    add (8|M0)       r113.0<1>:ud  r113.0<8;8,1>:ud  1:ud
    send (8|M0)      null  r112  0x5  0x0A030400
    mov (8|M0)       r112.0<1>:uw  4:uw
    add (8|M0)       r113.0<1>:ud  r113.0<8;8,1>:ud  1:ud
    send (8|M0)      null  r112  0x5  0x0A030400
    mov (8|M0)       r112.0<1>:uw  8:uw
    add (8|M0)       r113.0<1>:ud  r113.0<8;8,1>:ud  1:ud
    send (8|M0)      null  r112  0x5  0x0A030400
    mov (8|M0)       r112.0<1>:uw  15:uw
    send (8|M0)      null  r112  0x25  0x0A031401  {EOT}
};

/// Gen8 ignores bit 13 of the descriptor of a render target write (2a MSD_RTW_HI8DS). A thread for
/// whole pixels can write each sample by its own message with a sample mask; its last write is to a
/// null surface.
#[test]
fn writes_of_threads_for_whole_pixels() {
    let vertices = CORNERS.map(|[x, y]| on_screen(x as f32 / 256.0, y as f32 / 256.0, 5));
    let mut scene = Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices.to_vec());
    scene.samples = NumberOfMultisamples::_4;
    scene.targets = vec![Target { samples: 4, ..DWORDS }; 2];
    push(&mut scene.more, &pattern());
    for each in [false, true] {
        scene.kernel = if each { EACH_SAMPLE } else { BIT_13 };
        scene.extra.o_mask_present_to_render_target = each;
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let mut null = RenderSurfaceState::new();
        null.surface_type = SurfaceType::SURFTYPE_NULL;
        model.put(SURFACE_STATE + 64, &null.pack());
        let stats = model.render(&batch).unwrap();
        let drawn = scene.drawn(&mut model, stats);
        for sample in 0..4 {
            for (n, found) in drawn.dwords(0, 0, sample).into_iter().enumerate() {
                let covered = coverage(2, n) >> sample & 1 == 1;
                let value = if each { 5 + sample } else { 5 };
                assert_eq!(found, if covered { value } else { 0 }, "pixel {n} sample {sample}");
            }
        }
    }
}
