//! The camera pipe. Oracle: flat colours, which each kind of interpolation keeps, and the formulas
//! in floating point.

use super::*;
use VeboxSurfaceStateSurfaceFormat as F;
use genxml::gen8::vebox_states::*;
use genxml_core::{S, SFix, UFix};

/// The colour of a pixel by the names of Bayer Pattern Offset: 0 is red, 1 is green, 2 is blue.
fn color(offset: u64, x: usize, y: usize) -> usize {
    let rows = [["BG", "GR"], ["RG", "GB"], ["GR", "BG"], ["GB", "RG"]][offset as usize];
    "RGB".find(&rows[y % 2][x % 2..=x % 2]).unwrap()
}

/// A Bayer pattern in, R8G8B8A8 out.
fn scene(offset: u64) -> Scene {
    let mut scene = Scene::new();
    scene.state.demosaic_enable = true;
    scene.state.global_iecp_enable = true;
    scene.input.surface_format = F::BAYER_PATTERN;
    scene.input.bayer_pattern_offset = VeboxSurfaceStateBayerPatternOffset::from_bits(offset);
    scene.output.surface_format = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
    scene
}

/// Writes the samples of a picture: bytes, or words with 12 bits in their upper part.
fn draw(scene: &mut Scene, offset: u64, words: bool, rgb: impl Fn(usize, usize) -> [u16; 3]) {
    let mut memory = vec![0; ROOM];
    for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
        let sample = rgb(x, y)[color(offset, x, y)];
        if words {
            // The four low bits do not count.
            memory[y * PITCH + 2 * x..][..2].copy_from_slice(&(sample << 4 | 9).to_le_bytes());
        } else {
            memory[y * PITCH + x] = (sample >> 4) as u8;
        }
    }
    scene.model.write(INPUT, &memory);
    scene.input.bayer_pattern_format = VeboxSurfaceStateBayerPatternFormat::from_bits(words.into());
}

/// Flat colours, in all patterns and formats; without a change of the pattern at a border of tiles.
#[test]
fn patterns() {
    for (offset, words, tiled) in
        (0..4).flat_map(|o| [(o, false, false), (o, true, false), (o, false, true)])
    {
        let mut scene = scene(offset);
        draw(&mut scene, offset, words, |_, _| [0xc80, 0x320, 0x640]);
        if tiled {
            let memory = scene.model.read(INPUT, PITCH * HEIGHT);
            let mut tiles = vec![0; ROOM];
            for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
                tiles[y_tiled(x, y, PITCH)] = memory[y * PITCH + x];
            }
            scene.model.write(INPUT, &tiles);
            scene.input.tiled_surface = true;
            scene.input.tile_walk = VeboxSurfaceStateTileWalk::TILEWALK_YMAJOR;
        }
        scene.run().unwrap();
        for (index, got) in scene.pixels(CURRENT).into_iter().enumerate() {
            assert_eq!(got, [0xc8, 0x32, 0x64, 0xff], "{offset} {words} {:?}", position(index));
        }
    }
}

/// Each sample of the pattern stays, and the picture of soft colours comes near.
#[test]
fn soft_pictures() {
    let soft = |x: usize, y: usize| {
        let wave = |at: usize, speed: f64| (1.0 + (at as f64 * speed).sin()) * 900.0;
        [wave(x, 0.1) + 500.0, wave(x + y, 0.08) + 700.0, wave(y, 0.12) + 300.0]
            .map(|value| value as u16 & 0xff0)
    };
    for offset in 0..4 {
        let mut scene = scene(offset);
        draw(&mut scene, offset, false, soft);
        scene.run().unwrap();
        let mut error = 0.0;
        for (index, got) in scene.pixels(CURRENT).into_iter().enumerate() {
            let (x, y) = position(index);
            let want = soft(x, y).map(|sample| (sample >> 4) as u8);
            let own = color(offset, x, y);
            assert_eq!(got[own], want[own]);
            for plane in 0..3 {
                error += f64::from(got[plane].abs_diff(want[plane])).powi(2);
            }
        }
        let error = error / (3 * WIDTH * HEIGHT) as f64;
        // 40 dB.
        assert!(error < 6.5, "{offset}: {error}");
    }
}

/// A hot pixel disappears with the filter, and stays without it.
#[test]
fn hot_pixels() {
    for filters in [false, true] {
        let mut scene = scene(1);
        scene.state.hot_pixel_filtering_enable = filters;
        (scene.video.hot_pixel_threshold, scene.video.hot_pixel_count) = (u(40), u(7));
        draw(&mut scene, 1, false, |x, y| if (x, y) == (20, 10) { [0xff0; 3] } else { [0x800; 3] });
        scene.run().unwrap();
        let changed = scene.pixels(CURRENT).into_iter().filter(|pixel| pixel[..3] != [0x80; 3]);
        assert_eq!(changed.count() == 0, filters);
    }
}

/// Oracle: the formulas, with one colour for all pixels: black level, vignette correction, matrix,
/// a curve and a conversion, and ProcAmp after them.
#[test]
fn all_functions() {
    for (offset, fraction) in [(0, 8), (1, 12), (2, 8), (3, 12)] {
        let rgb = [2100.0, 1500.0, 900.0];
        let mut scene = scene(offset);
        draw(&mut scene, offset, true, |_, _| rgb.map(|value: f64| value as u16));
        scene.output.surface_format = F::PACKED_444A_8;
        let colors = &mut scene.colors;
        let black = &mut colors.black_level_correction_state;
        let offset_of = |value: i64| S::new(value).unwrap();
        black.black_point_offset_r = offset_of(100);
        black.black_point_offset_g = offset_of(-60);
        black.black_point_offset_b = offset_of(80);
        scene.state.vignette_enable = true;
        let ccm = &mut colors.ccm_state;
        ccm.vignette_correction_format =
            VeboxCcmStateVignetteCorrectionFormat::from_bits(u64::from(fraction == 12));
        let factor = 1.25;
        let word = ((factor * f64::from(1 << fraction)) as u16).to_le_bytes();
        scene.model.write(ALPHA, &word.repeat(WIDTH * HEIGHT / 4));
        ccm.color_correction_matrix_enable = true;
        let matrix = [[1.5, -0.25, -0.125], [-0.25, 1.25, 0.0], [0.125, -0.5, 1.5]];
        let coefficient = |row: usize, column: usize| SFix::new(matrix[row][column]).unwrap();
        ccm.c0_coefficient_of_3x3_transform_matrix = coefficient(0, 0);
        ccm.c1_coefficient_of_3x3_transform_matrix = coefficient(0, 1);
        ccm.c2_coefficient_of_3x3_transform_matrix = coefficient(0, 2);
        ccm.c3_coefficient_of_3x3_transform_matrix = coefficient(1, 0);
        ccm.c4_coefficient_of_3x3_transform_matrix = coefficient(1, 1);
        ccm.c5_coefficient_of_3x3_transform_matrix = coefficient(1, 2);
        ccm.c6_coefficient_of_3x3_transform_matrix = coefficient(2, 0);
        ccm.c7_coefficient_of_3x3_transform_matrix = coefficient(2, 1);
        ccm.c8_coefficient_of_3x3_transform_matrix = coefficient(2, 2);
        // The curve: slope 2 to 30, then 60 + (x - 30) * 0.75 for all the rest.
        let gamma = &mut colors.forward_gamma_correction_state;
        gamma.forward_gamma_correction_enable = true;
        gamma.pwl_fwd_gamma_slope_0 = UFix::new(2.0).unwrap();
        macro_rules! part {
            ($($point:ident $bias:ident $slope:ident $at:literal $to:literal;)*) => {
                $((gamma.$point, gamma.$bias) = (u($at), u($to));
                gamma.$slope = UFix::new(0.75).unwrap();)*
            };
        }
        part!(
            pwl_fwd_gamma_point_1 pwl_fwd_gamma_bias_1 pwl_fwd_gamma_slope_1 30 60;
            pwl_fwd_gamma_point_2 pwl_fwd_gamma_bias_2 pwl_fwd_gamma_slope_2 50 75;
            pwl_fwd_gamma_point_3 pwl_fwd_gamma_bias_3 pwl_fwd_gamma_slope_3 70 90;
            pwl_fwd_gamma_point_4 pwl_fwd_gamma_bias_4 pwl_fwd_gamma_slope_4 90 105;
            pwl_fwd_gamma_point_5 pwl_fwd_gamma_bias_5 pwl_fwd_gamma_slope_5 110 120;
            pwl_fwd_gamma_point_6 pwl_fwd_gamma_bias_6 pwl_fwd_gamma_slope_6 130 135;
            pwl_fwd_gamma_point_7 pwl_fwd_gamma_bias_7 pwl_fwd_gamma_slope_7 150 150;
            pwl_fwd_gamma_point_8 pwl_fwd_gamma_bias_8 pwl_fwd_gamma_slope_8 170 165;
            pwl_fwd_gamma_point_9 pwl_fwd_gamma_bias_9 pwl_fwd_gamma_slope_9 190 180;
            pwl_fwd_gamma_point_10 pwl_fwd_gamma_bias_10 pwl_fwd_gamma_slope_10 210 195;
            pwl_fwd_gamma_point_11 pwl_fwd_gamma_bias_11 pwl_fwd_gamma_slope_11 230 210;
        );
        let csc = &mut colors.front_end_csc_state;
        csc.front_end_csc_transform_enable = true;
        let yuv = [[0.25, 0.5, 0.125], [-0.125, -0.25, 0.375], [0.375, -0.25, -0.125]];
        let coefficient = |row: usize, column: usize| SFix::new(yuv[row][column]).unwrap();
        csc.fecsc_c0_transform_coefficient = coefficient(0, 0);
        csc.fecsc_c1_transform_coefficient = coefficient(0, 1);
        csc.fecsc_c2_transform_coefficient = coefficient(0, 2);
        csc.fecsc_c3_transform_coefficient = coefficient(1, 0);
        csc.fecsc_c4_transform_coefficient = coefficient(1, 1);
        csc.fecsc_c5_transform_coefficient = coefficient(1, 2);
        csc.fecsc_c6_transform_coefficient = coefficient(2, 0);
        csc.fecsc_c7_transform_coefficient = coefficient(2, 1);
        csc.fecsc_c8_transform_coefficient = coefficient(2, 2);
        let offset_of = |value: i64| S::new(value).unwrap();
        csc.fecsc_offset_in_1_offset_in_for_y_r = offset_of(8);
        csc.fecsc_offset_in_2_offset_in_for_u_g = offset_of(-8);
        csc.fecsc_offset_in_3_offset_in_for_v_b = offset_of(4);
        csc.fecsc_offset_out_1_offset_out_for_y_r = offset_of(64);
        csc.fecsc_offset_out_2_offset_out_for_u_g = offset_of(512);
        csc.fecsc_offset_out_3_offset_out_for_v_b = offset_of(512);
        let procamp = &mut colors.procamp_state;
        procamp.procamp_enable = true;
        procamp.brightness = SFix::new(3.0).unwrap();
        scene.run().unwrap();

        let light = [0, 1, 2].map(|n| (rgb[n] - [100.0, -60.0, 80.0][n]) * factor);
        let times = |matrix: [[f64; 3]; 3], v: [f64; 3]| {
            matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
        };
        let curved = times(matrix, light).map(|value| match value {
            value if value < 480.0 => 2.0 * value,
            value => 960.0 + (value - 480.0) * 0.75,
        });
        let moved = [curved[0] + 32.0, curved[1] - 32.0, curved[2] + 16.0];
        let [y, u, v] = times(yuv, moved);
        let want = [y + 256.0 + 48.0, u + 2048.0, v + 2048.0].map(|value| value / 16.0);
        for got in scene.pixels(CURRENT) {
            for (got, want) in [got[2], got[1], got[0]].into_iter().zip(want) {
                assert!((f64::from(got) - want).abs() <= 0.6, "{offset}: {got} for {want}");
            }
        }
    }
}
