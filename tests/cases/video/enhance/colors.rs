//! Functions of colours. Oracle: the formulas of the manuals in floating point (digests/video.md
//! 12.4), and properties where the arithmetic is not public.

use super::*;
use VeboxSurfaceStateSurfaceFormat as F;
use genxml::gen8::vebox_states::{
    VeboxAlphaAoiStateAlphaFromStateSelect, VeboxGamutStateGlobalModeEnable,
    VeboxStdSteStateOutputControl,
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

/// R8G8B8A8, or 444A, with one pixel for each position.
fn with_pixels(mut scene: Scene, format: F, pixel: impl Fn(usize, usize) -> [u8; 4]) -> Scene {
    let mut memory = vec![0; ROOM];
    for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
        memory[y * PITCH + 4 * x..][..4].copy_from_slice(&pixel(x, y));
    }
    scene.model.write(INPUT, &memory);
    scene.input.surface_format = format;
    scene
}

/// The pixels of an output of four bytes for each.
fn pixels(scene: &mut Scene) -> Vec<[u8; 4]> {
    let out = scene.model.read(CURRENT, ROOM);
    let pixel = |index: usize| {
        let at = index / WIDTH * PITCH + index % WIDTH * 4;
        [out[at], out[at + 1], out[at + 2], out[at + 3]]
    };
    (0..WIDTH * HEIGHT).map(pixel).collect()
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
        for (index, [red, green, blue, alpha]) in pixels(&mut scene).into_iter().enumerate() {
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
        let mut scene = with_pixels(scene(), rgba, pixel);
        scene.output.surface_format = rgba;
        if from_state {
            scene.colors.alpha_aoi_state.alpha_from_state_select = select;
        }
        scene.run().unwrap();
        let got = pixels(&mut scene);
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

/// Gamut expansion in its basic mode: without weight it leaves grey where it was, but for the steps
/// of the curves; the advanced mode is refused.
#[test]
fn gamut_expansion() {
    let rgba = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
    let mut scene = with_pixels(scene(), rgba, |x, y| {
        let grey = (4 * x).min(255) as u8;
        [grey, grey, (8 * y) as u8, 9]
    });
    scene.output.surface_format = rgba;
    scene.state.color_gamut_expansion_enable = true;
    let refused = scene.run().unwrap_err().to_string();
    assert!(refused.contains("advance mode"), "{refused}");
    scene.gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::BASIC_MODE;
    scene.gamut.cm_w = u(0);
    scene.run().unwrap();
    for (index, [red, green, _, alpha]) in pixels(&mut scene).into_iter().enumerate() {
        let grey = 4 * (index % WIDTH) as i32;
        assert!((i32::from(red) - grey).abs() <= 10, "{grey} becomes {red}");
        assert_eq!((red, alpha), (green, 9));
    }
}
