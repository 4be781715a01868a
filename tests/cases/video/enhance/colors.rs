//! Functions of colours. Oracle: the formulas of the manuals in floating point (digests/video.md
//! 12.4), and properties where the arithmetic is not public.

use super::*;
use VeboxSurfaceStateSurfaceFormat as F;
use genxml::gen8::vebox_states::{
    VeboxAlphaAoiStateAlphaFromStateSelect, VeboxStdSteStateOutputControl,
};
use genxml_core::{S, SFix, UFix};

/// A number of 12 bits as 8 bits.
fn eight(value: f64) -> f64 {
    ((value.clamp(0.0, 4095.0) + 0.5).floor() / 16.0 + 0.5).floor().min(255.0)
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.draw(INPUT, pattern);
    scene.state.global_iecp_enable = true;
    scene
}

#[test]
fn procamp() {
    let settings = [
        (1.0, 0.0, 1.0, 0.0),
        (1.5, 20.0, 0.5, 0.0),
        (0.75, -10.5, 0.703_125, 0.703_125),
        (15.992_187_5, 127.937_5, -1.0, 0.25),
    ];
    for (contrast, brightness, cos, sin) in settings {
        let mut scene = scene();
        let procamp = &mut scene.colors.procamp_state;
        procamp.procamp_enable = true;
        procamp.contrast = UFix::new(contrast).unwrap();
        procamp.brightness = SFix::new(brightness).unwrap();
        procamp.cos_c_s = SFix::new(cos).unwrap();
        procamp.sin_c_s = SFix::new(sin).unwrap();
        scene.run().unwrap();
        let frame = scene.frame(CURRENT);
        for (index, got) in frame.into_iter().enumerate() {
            let [y, u, v] = pattern(index % WIDTH, index / WIDTH).map(|s| f64::from(s) * 16.0);
            let (u, v) = (u - 2048.0, v - 2048.0);
            let want = [
                (y - 256.0) * contrast + brightness * 16.0 + 256.0,
                u * cos + v * sin + 2048.0,
                v * cos - u * sin + 2048.0,
            ];
            assert_eq!(got.map(f64::from), want.map(eight), "{contrast} {cos}");
        }
    }
}

/// BT.601 to RGB with the coefficients and offsets of media-driver, whose units are 10 bits.
#[test]
fn conversion_to_rgb() {
    for swap in [false, true] {
        let mut scene = scene();
        let csc = &mut scene.colors.csc_state;
        csc.transform_enable = true;
        csc.yuv_channel_swap = swap;
        let matrix = [[1192, -2, 1634], [1192, -401, -833], [1192, 2066, -1]];
        let coefficient =
            |row: usize, column: usize| SFix::new(f64::from(matrix[row][column]) / 1024.0).unwrap();
        (csc.c0, csc.c1, csc.c2) = (coefficient(0, 0), coefficient(0, 1), coefficient(0, 2));
        (csc.c3, csc.c4, csc.c5) = (coefficient(1, 0), coefficient(1, 1), coefficient(1, 2));
        (csc.c6, csc.c7, csc.c8) = (coefficient(2, 0), coefficient(2, 1), coefficient(2, 2));
        let offset = |value: i64| S::new(value).unwrap();
        (csc.offset_in_1, csc.offset_in_2, csc.offset_in_3) =
            (offset(-64), offset(-512), offset(-512));
        (csc.offset_out_1, csc.offset_out_2, csc.offset_out_3) = (offset(0), offset(5), offset(-7));
        let alpha = &mut scene.colors.alpha_aoi_state;
        alpha.alpha_from_state_select =
            VeboxAlphaAoiStateAlphaFromStateSelect::ALPHA_IS_TAKEN_FROM_STATE;
        alpha.color_pipe_alpha = u(0x420);
        scene.output.surface_format = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
        scene.run().unwrap();
        for (index, [red, green, blue, alpha]) in scene.pixels(CURRENT).into_iter().enumerate() {
            let [y, u, v] = pattern(index % WIDTH, index / WIDTH).map(|s| f64::from(s) * 16.0);
            let input = [y - 256.0, u - 2048.0, v - 2048.0];
            let want = [0, 1, 2].map(|row| {
                let row_of = matrix[row].map(|c| f64::from(c) / 1024.0);
                let sum: f64 = row_of.iter().zip(input).map(|(c, sample)| c * sample).sum();
                eight((sum + 0.5).floor() + [0.0, 20.0, -28.0][row])
            });
            let got = [red, green, blue].map(f64::from);
            // Swapped, the results go to green, blue and red.
            let got = if swap { [got[1], got[2], got[0]] } else { got };
            assert_eq!(got, want, "{index}");
            assert_eq!(alpha, 0x42);
        }
    }
}

/// Alpha of the input stays; the state gives it only where the input has none.
#[test]
fn alpha() {
    let select = VeboxAlphaAoiStateAlphaFromStateSelect::ALPHA_IS_TAKEN_FROM_STATE;
    for from_state in [false, true] {
        let rgba = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
        let pixel = |x: usize, y: usize| [x as u8, y as u8, 7, (3 * x + y) as u8];
        let mut scene = scene();
        scene.draw_pixels(rgba, pixel);
        scene.output.surface_format = rgba;
        if from_state {
            scene.colors.alpha_aoi_state.alpha_from_state_select = select;
        }
        scene.run().unwrap();
        let got = scene.pixels(CURRENT);
        for (index, got) in got.into_iter().enumerate() {
            assert_eq!(got, pixel(index % WIDTH, index / WIDTH));
        }
    }
}

/// A curve that rises keeps the order of luma and leaves chroma alone.
#[test]
fn contrast_curve() {
    let mut scene = scene();
    let ace = &mut scene.colors.ace_lace_state;
    ace.ace_enable = true;
    // Darker below 96, brighter above 156.
    (ace.b4, ace.b7) = (u(80), u(172));
    ace.s4 = UFix::new(1.5).unwrap();
    ace.s3 = UFix::new(204.0 / 1024.0).unwrap();
    (ace.b5, ace.b6) = (u(110), u(141));
    (ace.s5, ace.s6) = (UFix::new(1.5).unwrap(), UFix::new(1.5).unwrap());
    ace.s7 = UFix::new(204.0 / 1024.0).unwrap();
    scene.run().unwrap();
    let frame = scene.frame(CURRENT);
    let mut curve = [None; 256];
    for (index, [y, u, v]) in frame.into_iter().enumerate() {
        let had = pattern(index % WIDTH, index / WIDTH);
        assert_eq!([u, v], had[1..]);
        let known = curve[usize::from(had[0])].get_or_insert(y);
        assert_eq!(*known, y);
    }
    let values: Vec<u8> = curve.into_iter().flatten().collect();
    assert!(values.is_sorted(), "{values:?}");
    let at = |luma: usize| curve[luma].unwrap_or(luma as u8);
    assert!(at(96).abs_diff(80) <= 1 && at(156).abs_diff(172) <= 1);
    assert_eq!((at(10), at(40), at(230), at(250)), (10, 40, 230, 250));
}

/// One gain for all hues scales chroma around grey.
#[test]
fn saturation() {
    let mut scene = scene();
    let gray = |x: usize, y: usize| {
        [(x + y) as u8, 128 + (x / 2) as u8 * 2 - 32, 128 + (y / 2) as u8 * 3 - 24]
    };
    scene.draw(INPUT, gray);
    let tcc = &mut scene.colors.tcc_state;
    tcc.tcc_enable = true;
    let gain = UFix::new(1.25).unwrap();
    (tcc.sat_factor1, tcc.sat_factor2, tcc.sat_factor3) = (gain, gain, gain);
    (tcc.sat_factor4, tcc.sat_factor5, tcc.sat_factor6) = (gain, gain, gain);
    scene.run().unwrap();
    for (index, [y, u, v]) in scene.frame(CURRENT).into_iter().enumerate() {
        let had = gray(index % WIDTH, index / WIDTH).map(i32::from);
        assert_eq!(i32::from(y), had[0]);
        let size = (had[1] - 128).abs().max((had[2] - 128).abs());
        for (got, had) in [u, v].into_iter().zip(&had[1..]) {
            let far = f64::from(had - 128) * 1.25 + 128.0;
            let got = f64::from(got);
            // Gains take effect from 3 to 11.
            if size >= 11 {
                assert!((got - far).abs() <= 0.6, "{had}: {got} for {far}");
            } else {
                let (low, high) = (far.min((*had).into()), far.max((*had).into()));
                assert!(got >= low - 0.6 && got <= high + 0.6);
            }
        }
    }
}

/// The scores of skin: the default colour of skin has the highest one, others have 0.
#[test]
fn skin_scores() {
    let mut scene = scene();
    scene.draw(INPUT, |x, _| if x < 32 { [120, 110, 154] } else { [120, 128, 128] });
    let skin = &mut scene.colors.std_ste_state;
    skin.std_enable = true;
    skin.output_control = VeboxStdSteStateOutputControl::OUTPUT_STD_DECISIONS;
    scene.run().unwrap();
    let frame = scene.frame(CURRENT);
    // 0x7ff is 128 of 8 bits, and 31 << 6 more is 252.
    assert_eq!(frame[0], [252, 128, 128]);
    assert_eq!(frame[40], [128, 128, 128]);
}

/// Enhancement of skin changes the colour of skin only.
#[test]
fn skin_enhancement() {
    let mut scene = scene();
    scene.draw(INPUT, |x, _| if x < 32 { [120, 104, 158] } else { [120, 90, 90] });
    let skin = &mut scene.colors.std_ste_state;
    (skin.std_enable, skin.ste_enable) = (true, true);
    scene.run().unwrap();
    let frame = scene.frame(CURRENT);
    assert_eq!((frame[0][0], frame[40]), (120, [120, 90, 90]));
    assert_ne!(frame[0], [120, 104, 158]);
}

/// Alpha of a plane goes to all outputs with alpha, whatever the state says. Rows of the plane have
/// a pitch of the width rounded up to 64.
#[test]
fn plane_of_alpha() {
    let alpha = |x: usize, y: usize| (7 * x + 31 * y) as u8;
    for (width, deinterlaced, enhanced) in
        [(64, false, false), (40, false, true), (64, true, false), (64, true, true)]
    {
        for format in [
            F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB,
            F::R16G16B16A16,
            F::R10G10B10A2_UNORM_R10G10B10A2_UNORM_SRGB,
        ] {
            let mut scene = scene();
            scene.draw(BEFORE, pattern);
            let mut plane = vec![0xee; 64 * HEIGHT];
            for (x, y) in (0..HEIGHT).flat_map(|y| (0..width).map(move |x| (x, y))) {
                plane[64 * y + x] = alpha(x, y);
            }
            scene.model.write(ALPHA, &plane);
            scene.state.alpha_plane_enable = true;
            scene.state.global_iecp_enable = enhanced;
            if deinterlaced {
                scene.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
            }
            let state = &mut scene.colors.alpha_aoi_state;
            state.alpha_from_state_select =
                VeboxAlphaAoiStateAlphaFromStateSelect::ALPHA_IS_TAKEN_FROM_STATE;
            scene.input.width = minus_one(width as u64);
            scene.output.surface_format = format;
            scene.run().unwrap();
            let outputs = if deinterlaced { &[CURRENT, PREVIOUS][..] } else { &[CURRENT] };
            for output in outputs {
                let out = scene.model.read(*output, ROOM);
                for (x, y) in (0..HEIGHT).flat_map(|y| (0..width).map(move |x| (x, y))) {
                    let want = alpha(x, y);
                    let row = &out[y * PITCH..];
                    match format {
                        // Low bits are 0.
                        F::R16G16B16A16 => assert_eq!(row[8 * x + 6..][..2], [0, want]),
                        F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB => assert_eq!(row[4 * x + 3], want),
                        _ => assert!(
                            (f64::from(row[4 * x + 3] >> 6) * 85.0 - f64::from(want)).abs() <= 43.0
                        ),
                    }
                }
            }
        }
    }
}

/// Oracle: the matrix in integers. Halves go up, and results are clipped before they are rounded
/// to 8 bits.
#[test]
fn conversion_in_integers() {
    let mut random = genxml_cases::Random::new(11);
    for _ in 0..20 {
        let mut scene = scene();
        let pixel = |x: usize, y: usize| {
            let [a, b, c] = pattern(x, y);
            [a, b, c, 200]
        };
        scene.draw_pixels(F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB, pixel);
        scene.output.surface_format = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
        let mut pick = |range: u64| random.below(range) as i64 - range as i64 / 2;
        let matrix = [[0; 3]; 3].map(|row| row.map(|_: i32| pick(8192)));
        let [before, after] = [[0; 3]; 2].map(|offsets| offsets.map(|_: i32| pick(2048)));
        let csc = &mut scene.colors.csc_state;
        csc.transform_enable = true;
        let number = |value: i64| SFix::new(value as f64 / 1024.0).unwrap();
        let offset = |value: i64| S::new(value).unwrap();
        let [[c0, c1, c2], [c3, c4, c5], [c6, c7, c8]] = matrix.map(|row| row.map(number));
        (csc.c0, csc.c1, csc.c2) = (c0, c1, c2);
        (csc.c3, csc.c4, csc.c5) = (c3, c4, c5);
        (csc.c6, csc.c7, csc.c8) = (c6, c7, c8);
        [csc.offset_in_1, csc.offset_in_2, csc.offset_in_3] = before.map(offset);
        [csc.offset_out_1, csc.offset_out_2, csc.offset_out_3] = after.map(offset);
        scene.run().unwrap();
        for (index, got) in scene.pixels(CURRENT).into_iter().enumerate() {
            let (x, y) = position(index);
            let input = pattern(x, y).map(i64::from);
            for row in 0..3 {
                // 10 bits of fraction of the matrix. Samples have 12 bits, offsets 10.
                let sum: i64 =
                    (0..3).map(|n| matrix[row][n] * (16 * input[n] + 4 * before[n])).sum();
                let twelve = ((2 * sum + 1024).div_euclid(2048) + 4 * after[row]).clamp(0, 4095);
                let want = ((2 * twelve + 16) / 32).min(255);
                assert_eq!(i64::from(got[row]), want, "{x} {y} {row}");
            }
            assert_eq!(got[3], 200);
        }
    }
}

/// All functions with settings that change nothing leave all samples as they are.
#[test]
fn settings_that_change_nothing() {
    for format in [F::PLANAR_420_8, F::YCRCB_NORMAL, F::PACKED_444A_8, F::PLANAR_420_16] {
        let mut scene = scene();
        let mut memory = vec![0; ROOM];
        let mut random = genxml_cases::Random::new(3);
        for (at, byte) in memory.iter_mut().enumerate() {
            // 12 bits of 16.
            let deep = format == F::PLANAR_420_16 && at % 2 == 0;
            *byte = random.bits() as u8 & if deep { 0xf0 } else { 0xff };
        }
        scene.model.write(INPUT, &memory);
        (scene.input.surface_format, scene.output.surface_format) = (format, format);
        let one = UFix::new(1.0).unwrap();
        scene.colors.ace_lace_state.ace_enable = true;
        let tcc = &mut scene.colors.tcc_state;
        tcc.tcc_enable = true;
        (tcc.sat_factor1, tcc.sat_factor2, tcc.sat_factor3) = (one, one, one);
        (tcc.sat_factor4, tcc.sat_factor5, tcc.sat_factor6) = (one, one, one);
        scene.colors.procamp_state.procamp_enable = true;
        scene.colors.csc_state.transform_enable = true;
        scene.colors.std_ste_state.std_enable = true;
        gamut::change_nothing(&mut scene);
        scene.run().unwrap();
        let out = scene.model.read(CURRENT, ROOM);
        let (bytes, rows) = match format {
            F::PLANAR_420_8 => (WIDTH, [0..HEIGHT, CHROMA..CHROMA + HEIGHT / 2]),
            F::YCRCB_NORMAL => (2 * WIDTH, [0..HEIGHT, 0..0]),
            F::PACKED_444A_8 => (4 * WIDTH, [0..HEIGHT, 0..0]),
            _ => (2 * WIDTH, [0..HEIGHT, CHROMA..CHROMA + HEIGHT / 2]),
        };
        for row in rows.into_iter().flatten() {
            assert_eq!(out[row * PITCH..][..bytes], memory[row * PITCH..][..bytes], "{format:?}");
        }
    }
}
