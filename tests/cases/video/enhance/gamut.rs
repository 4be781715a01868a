//! Gamut compression and expansion. Oracle: the RGB cube of BT.601, and properties.

use super::*;
use VeboxSurfaceStateSurfaceFormat as F;
use genxml::gen8::vebox_states::*;
use genxml_core::{SFix, UFix};

/// Enables gamut expansion with curves and a matrix that change nothing.
pub fn change_nothing(scene: &mut Scene) {
    scene.state.color_gamut_expansion_enable = true;
    let gamut = &mut scene.gamut;
    gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::BASIC_MODE;
    gamut.cm_w = u(1023);
    set_matrix(gamut, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let one = UFix::new(1.0).unwrap();
    macro_rules! straight {
        ($first:ident; $($point:ident $bias:ident $slope:ident $at:literal;)*) => {
            gamut.$first = one;
            $((gamut.$point, gamut.$bias, gamut.$slope) = (u($at), u($at), one);)*
        };
    }
    straight!(pwl_gamma_slope_0;
        pwl_gamma_point_1 pwl_gamma_bias_1 pwl_gamma_slope_1 20;
        pwl_gamma_point_2 pwl_gamma_bias_2 pwl_gamma_slope_2 40;
        pwl_gamma_point_3 pwl_gamma_bias_3 pwl_gamma_slope_3 60;
        pwl_gamma_point_4 pwl_gamma_bias_4 pwl_gamma_slope_4 80;
        pwl_gamma_point_5 pwl_gamma_bias_5 pwl_gamma_slope_5 100;
        pwl_gamma_point_6 pwl_gamma_bias_6 pwl_gamma_slope_6 120;
        pwl_gamma_point_7 pwl_gamma_bias_7 pwl_gamma_slope_7 140;
        pwl_gamma_point_8 pwl_gamma_bias_8 pwl_gamma_slope_8 160;
        pwl_gamma_point_9 pwl_gamma_bias_9 pwl_gamma_slope_9 180;
        pwl_gamma_point_10 pwl_gamma_bias_10 pwl_gamma_slope_10 200;
        pwl_gamma_point_11 pwl_gamma_bias_11 pwl_gamma_slope_11 220;
    );
    straight!(pwl_inv_gamma_slope_0;
        pwl_inv_gamma_point_1 pwl_inv_gamma_bias_1 pwl_inv_gamma_slope_1 20;
        pwl_inv_gamma_point_2 pwl_inv_gamma_bias_2 pwl_inv_gamma_slope_2 40;
        pwl_inv_gamma_point_3 pwl_inv_gamma_bias_3 pwl_inv_gamma_slope_3 60;
        pwl_inv_gamma_point_4 pwl_inv_gamma_bias_4 pwl_inv_gamma_slope_4 80;
        pwl_inv_gamma_point_5 pwl_inv_gamma_bias_5 pwl_inv_gamma_slope_5 100;
        pwl_inv_gamma_point_6 pwl_inv_gamma_bias_6 pwl_inv_gamma_slope_6 120;
        pwl_inv_gamma_point_7 pwl_inv_gamma_bias_7 pwl_inv_gamma_slope_7 140;
        pwl_inv_gamma_point_8 pwl_inv_gamma_bias_8 pwl_inv_gamma_slope_8 160;
        pwl_inv_gamma_point_9 pwl_inv_gamma_bias_9 pwl_inv_gamma_slope_9 180;
        pwl_inv_gamma_point_10 pwl_inv_gamma_bias_10 pwl_inv_gamma_slope_10 200;
        pwl_inv_gamma_point_11 pwl_inv_gamma_bias_11 pwl_inv_gamma_slope_11 220;
    );
}

/// Sets the matrix of gamut expansion, without offsets.
fn set_matrix(gamut: &mut VeboxGamutState, matrix: [[f64; 3]; 3]) {
    let [[c0, c1, c2], [c3, c4, c5], [c6, c7, c8]] =
        matrix.map(|row| row.map(|value| SFix::new(value).unwrap()));
    (gamut.c0, gamut.c1, gamut.c2) = (c0, c1, c2);
    (gamut.c3, gamut.c4, gamut.c5) = (c3, c4, c5);
    (gamut.c6, gamut.c7, gamut.c8) = (c6, c7, c8);
    let zero = SFix::new(0.0).unwrap();
    (gamut.offset_out_r, gamut.offset_out_g, gamut.offset_out_b) = (zero, zero, zero);
}

/// R8G8B8A8 in and out, with all kinds of colours, and gamut expansion.
fn expanding() -> Scene {
    let rgba = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
    let mut scene = Scene::new();
    scene.state.global_iecp_enable = true;
    scene.draw_pixels(rgba, rgb);
    scene.output.surface_format = rgba;
    change_nothing(&mut scene);
    scene
}

/// Greys in the first row, other colours below.
fn rgb(x: usize, y: usize) -> [u8; 4] {
    let [red, green, blue] = if y == 0 { [4 * x as u8; 3] } else { pattern(x, y) };
    [red, green, blue, 9]
}

/// The default curves are inverse to each other, but for their steps: without weight, greys stay.
#[test]
fn default_curves() {
    let mut scene = expanding();
    scene.gamut = VeboxGamutState::new();
    scene.gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::BASIC_MODE;
    scene.run().unwrap();
    for (index, [red, green, blue, alpha]) in
        scene.pixels(CURRENT).into_iter().take(WIDTH).enumerate()
    {
        let grey = 4 * index as i32;
        assert!((i32::from(red) - grey).abs() <= 10, "{grey} becomes {red}");
        assert_eq!((red, red, alpha), (green, blue, 9));
    }
}

/// Oracle: the weight in floating point, with straight curves and a matrix that halves.
#[test]
fn advanced_expansion() {
    let mut scene = expanding();
    scene.gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::ADVANCE_MODE;
    let fraction = |value: f64| UFix::new(value).unwrap();
    (scene.gamut.cm_i, scene.gamut.cm_s) = (UFix::new(0.75).unwrap(), fraction(2.5));
    (scene.gamut.r_i, scene.gamut.r_s) = (UFix::new(0.5).unwrap(), fraction(3.0));
    (scene.gamut.a_r, scene.gamut.a_g, scene.gamut.a_b) = (u(436), u(26), u(26));
    set_matrix(&mut scene.gamut, [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]);
    scene.run().unwrap();
    let mut weights = [0; 3];
    for (index, got) in scene.pixels(CURRENT).into_iter().enumerate() {
        let (x, y) = position(index);
        let [red, green, blue, _] = rgb(x, y).map(f64::from);
        let most = red.max(green).max(blue);
        let weight = if most == 0.0 {
            1.0
        } else {
            let saturation = (most - red.min(green).min(blue)) / most;
            let redness = (red * 436.0 / 512.0 + green * 26.0 / 256.0 + blue * 26.0 / 256.0) / most;
            let by_saturation: f64 = (0.75 - saturation) * 2.5;
            by_saturation.max((redness - 0.5) * 3.0).clamp(0.0, 1.0)
        };
        for (got, had) in got.into_iter().zip([red, green, blue]) {
            let want = had * (1.0 - weight / 2.0);
            assert!((f64::from(got) - want).abs() <= 1.0, "{x} {y}: {got} for {want}");
        }
        weights[if weight == 0.0 {
            0
        } else if weight < 1.0 {
            1
        } else {
            2
        }] += 1;
    }
    assert!(weights.iter().all(|count| *count > 100), "{weights:?}");
}

/// If the advanced mode has the same weight for all pixels, it is the basic mode.
#[test]
fn advanced_expansion_with_one_weight() {
    for (weight, offset) in [(1023, 255.0 / 256.0), (0, 0.0)] {
        let mut results = Vec::new();
        for mode in [
            VeboxGamutStateGlobalModeEnable::BASIC_MODE,
            VeboxGamutStateGlobalModeEnable::ADVANCE_MODE,
        ] {
            let mut scene = expanding();
            scene.gamut = VeboxGamutState::new();
            scene.gamut.global_mode_enable = mode;
            scene.gamut.cm_w = u(weight);
            let offset = UFix::new(offset).unwrap();
            (scene.gamut.cm_i, scene.gamut.r_i) = (offset, UFix::new(0.0).unwrap());
            let scale = UFix::new(if weight == 0 { 0.0 } else { 1023.0 / 256.0 }).unwrap();
            (scene.gamut.cm_s, scene.gamut.r_s) = (scale, scale);
            (scene.gamut.a_r, scene.gamut.a_g, scene.gamut.a_b) = (u(511), u(127), u(127));
            scene.run().unwrap();
            results.push(scene.pixels(CURRENT));
        }
        assert_eq!(results[0], results[1], "{weight}");
    }
}

/// Curves that rise keep the order of samples.
#[test]
fn curves_that_rise() {
    let mut scene = expanding();
    scene.gamut = VeboxGamutState::new();
    scene.gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::BASIC_MODE;
    scene.gamut.cm_w = u(1023);
    set_matrix(&mut scene.gamut, [[0.75, 0.0, 0.0], [0.0, 0.75, 0.0], [0.0, 0.0, 0.75]]);
    scene.draw_pixels(F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB, |x, y| {
        let value = (4 * x + y % 4) as u8;
        [value, 255 - value, value, 0]
    });
    scene.run().unwrap();
    let pixels = scene.pixels(CURRENT);
    let mut ramp: Vec<(usize, u8, u8)> = (0..4 * WIDTH)
        .map(|index| {
            let (x, y) = position(index);
            (4 * x + y, pixels[index][0], pixels[index][1])
        })
        .collect();
    ramp.sort_unstable();
    assert!(ramp.is_sorted_by_key(|(_, red, _)| *red));
    assert!(ramp.is_sorted_by_key(|(_, _, green)| std::cmp::Reverse(*green)));
}

/// Vertices of BT.601: the outermost colours of the RGB cube, by their hues.
fn vertices() -> VeboxVertexTable {
    let mut table = VeboxVertexTable::new();
    let corners =
        [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    for (hue, entry) in table.vertex_table_entry.iter_mut().enumerate() {
        let angle = hue as f64 * std::f64::consts::PI / 512.0;
        // Many points of the four edges that cover half a circle; the nearest hue wins.
        let points = (0..4 * 2000).map(|n| {
            let (from, to, way) =
                (corners[n / 2000], corners[n / 2000 + 1], (n % 2000) as f64 / 2000.0);
            let [r, g, b] = [0, 1, 2].map(|n| from[n] * (1.0 - way) + to[n] * way);
            let y = 0.299 * r + 0.587 * g + 0.114 * b;
            (y, (b - y) / 1.772, (r - y) / 1.402)
        });
        let (y, u_, v) = points
            .min_by(|(_, u, v), (_, u2, v2)| {
                let far = |u: f64, v: f64| (v.atan2(u) - angle).abs();
                far(*u, *v).total_cmp(&far(*u2, *v2))
            })
            .unwrap();
        (entry.lv, entry.cv) =
            (u((y * 4096.0 + 0.5) as u64), u((u_.hypot(v) * 4096.0 + 0.5) as u64));
    }
    table
}

/// How far Y, U and V of 8 bits are outside the RGB cube of BT.601, in steps.
fn excess([y, u, v]: [u8; 3]) -> f64 {
    let y = (f64::from(y) - 16.0) * 255.0 / 219.0;
    let [u, v] = [u, v].map(|sample| (f64::from(sample) - 128.0) * 255.0 / 224.0);
    let (r, b) = (y + 1.402 * v, y + 1.772 * u);
    let g = (y - 0.299 * r - 0.114 * b) / 0.587;
    [r, g, b].into_iter().map(|c| (-c).max(c - 255.0)).fold(f64::MIN, f64::max)
}

/// Colours inside the cube stay, the others come into it, and are counted.
#[test]
fn compression() {
    for shift in [0, 3, 4] {
        let mut scene = Scene::new();
        scene.vertices = vertices();
        let pixel = |x: usize, y: usize| {
            let [luma, blue, red] = pattern(x, y);
            [red, blue, luma, 55]
        };
        scene.draw_pixels(F::PACKED_444A_8, pixel);
        scene.output.surface_format = F::PACKED_444A_8;
        scene.state.global_iecp_enable = true;
        scene.state.color_gamut_compression_enable = true;
        scene.colors.ace_lace_state.full_image_histogram = true;
        scene.gamut.compression_line_shift = u(shift);
        scene.run().unwrap();
        let mut outside = 0..0;
        for (index, [v, u, y, alpha]) in scene.pixels(CURRENT).into_iter().enumerate() {
            let (column, row) = position(index);
            let had = pattern(column, row);
            let before = excess(had);
            if before < -1.0 {
                assert_eq!([y, u, v], had);
            }
            outside.start += usize::from(before > 1.0);
            outside.end += usize::from(before > -1.0);
            // Half a step of each sample.
            assert!(excess([y, u, v]) <= 2.5, "{had:?} becomes {:?}", [y, u, v]);
            assert_eq!(alpha, 55);
        }
        // The statistics of one frame without denoising.
        let sums = scene.model.read(STATISTICS + 0x400, 0x54);
        let dword = |at: usize| u32::from_le_bytes(*sums[at..].first_chunk().unwrap());
        let counted = dword(0x50) as usize;
        assert!((outside.start..=outside.end).contains(&counted), "{counted} of {outside:?}");
        assert!(dword(0x4c) as usize > 10 * counted);
    }
}
