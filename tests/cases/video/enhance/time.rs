//! Denoising and deinterlacing. Oracle for a first frame: the algorithm of the Sandy Bridge manual
//! (digests/video.md 12.5, 12.9). Oracle for later frames: the frames that the fields were taken
//! from.

use super::*;
use genxml::gen8::vebox_states::*;

const FIRST: VeboxStateDnDiFirstFrame =
    VeboxStateDnDiFirstFrame::FIRST_FIELD_PREVIOUS_CLEAN_SURFACE_STATE_IS_INVALID;

/// Denoising, with the constants of i965.
fn denoising() -> Scene {
    let mut scene = Scene::new();
    scene.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
    let video = &mut scene.video;
    video.denoise_stad_threshold = u(140);
    video.denoise_maximum_history = u(192);
    video.denoise_history_increase = u(7);
    video.denoise_asd_threshold = u(38);
    video.denoise_moving_pixel_threshold = u(1);
    video.denoise_threshold_for_sum_of_complexity_measure = u(38);
    video.good_neighbor_threshold = u(12);
    video.chroma_denoise_stad_threshold = u(140);
    video.chroma_temporal_difference_threshold = u(13);
    video.chroma_low_temporal_difference_threshold = u(7);
    video.progressive_dn =
        VeboxDndiStateProgressiveDn::DN_ASSUMES_PROGRESSIVE_VIDEO_AND_FILTERS_NEIGHBORING_LINES_TOGETHER;
    scene
}

/// Deinterlacing, with the constants of i965.
fn deinterlacing(top_first: bool) -> Scene {
    let mut scene = Scene::new();
    scene.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
    let video = &mut scene.video;
    video.blending_constant_across_time_for_large_values_of_stmm = u(64);
    video.blending_constant_across_time_for_small_values_of_stmm = u(125);
    video.stmm_c2 = minus_one(3);
    video.multiplier_for_vecm = u(30);
    (video.maximum_stmm, video.minimum_stmm, video.stmm_output_shift) = (u(150), u(118), u(5));
    video.stmm_shift_up = VeboxDndiStateStmmShiftUp::SHIFT_BY_7;
    (video.sdi_threshold, video.sdi_delta) = (u(100), u(5));
    video.sdi_fallback_mode_1_t1_constant = u(50);
    video.sdi_fallback_mode_1_t2_constant = u(100);
    video.sdi_fallback_mode_2_constant_angle2x1 = u(37);
    video.dn_di_top_first = match top_first {
        true => VeboxDndiStateDnDiTopFirst::TOP_FIELD_OCCURS_FIRST_IN_SEQUENCE,
        false => VeboxDndiStateDnDiTopFirst::BOTTOM_FIELD_OCCURS_FIRST_IN_SEQUENCE,
    };
    scene
}

/// The mean of good neighbours in luma, whatever the previous frame is: with thresholds of 0, the
/// temporal filter is not used. Chroma of a first frame stays.
#[test]
fn good_neighbors() {
    for (progressive, first) in [(true, true), (true, false), (false, true)] {
        let mut scene = denoising();
        let step = if progressive { 1 } else { 2 };
        if !progressive {
            scene.video.progressive_dn = VeboxDndiStateProgressiveDn::from_bits(0);
        }
        if first {
            scene.state.dn_di_first_frame = FIRST;
        }
        let noisy = |x: usize, y: usize| {
            let [luma, blue, red] = pattern(x, y);
            [100 + luma % 32, blue, red]
        };
        scene.draw(INPUT, noisy);
        scene.run().unwrap();
        let frame = scene.frame(DENOISED);
        for (index, [luma, blue, red]) in frame.into_iter().enumerate() {
            let (x, y) = (index % WIDTH, index / WIDTH);
            if x == 0 || x == WIDTH - 1 || y < step || y >= HEIGHT - step {
                continue;
            }
            let centre = noisy(x, y)[0];
            let around = [y - step, y, y + step]
                .into_iter()
                .flat_map(|y| [x - 1, x, x + 1].map(|x| noisy(x, y)[0]));
            let good: Vec<u32> =
                around.filter(|luma| luma.abs_diff(centre) < 12).map(u32::from).collect();
            let count = good.len() as u32;
            let inverse = [2048, 1024, 682, 512, 409, 341, 292, 256, 227][good.len() - 1];
            let want = (good.iter().sum::<u32>() + count / 2) * inverse / 2048;
            assert_eq!(u32::from(luma), want, "{x} {y}");
            if first {
                assert_eq!([blue, red], noisy(x, y)[1..]);
            }
        }
        // Without deinterlacing and enhancement, the denoised frame is the only result.
        assert!(scene.model.read(CURRENT, ROOM).iter().all(|byte| *byte == 0));
    }
}

/// Where nothing moves, the temporal filter brings noise nearer to the past, in luma and chroma.
#[test]
fn the_past_counts() {
    let mut scene = denoising();
    scene.video.temporal_difference_threshold = u(16);
    scene.video.low_temporal_difference_threshold = u(8);
    scene.video.denoise_moving_pixel_threshold = u(16);
    scene.video.good_neighbor_threshold = u(1);
    scene.video.chroma_denoise_enable =
        VeboxDndiStateChromaDenoiseEnable::THE_U_AND_V_CHROMA_CHANNELS_WILL_BE_DENOISE_FILTERED;
    scene.draw(BEFORE, |_, _| [100, 90, 80]);
    scene.draw(INPUT, |x, y| [100 + 4 * ((x + y) % 2) as u8, 90 + 4 * (x / 2 % 2) as u8, 84]);
    scene.run().unwrap();
    // A history of 128 of 256 weighs both alike.
    let frame = scene.frame(DENOISED);
    for (index, [luma, blue, red]) in frame.into_iter().enumerate() {
        let (x, y) = (index % WIDTH, index / WIDTH);
        assert!(luma.abs_diff(100 + 2 * ((x + y) % 2) as u8) <= 1, "{x} {y}: {luma}");
        assert_eq!((blue, red), (90 + 2 * (x / 2 % 2) as u8, 82));
    }
    let history = scene.model.read(HISTORY_OUT, 64);
    // Byte 2 of four: rows are Y, U and V.
    assert_eq!([history[2], history[18], history[34]], [128; 3]);
}

/// A first frame keeps the rows of its first field, and a ramp comes back between them.
#[test]
fn bob() {
    for top_first in [true, false] {
        let mut scene = deinterlacing(top_first);
        scene.state.dn_di_first_frame = FIRST;
        scene.state.di_output_frames = VeboxStateDiOutputFrames::OUTPUT_CURRENT_FRAME_ONLY;
        let kept = usize::from(!top_first);
        let ramp = |_: usize, y: usize| [20 + 5 * y as u8, 60 + 3 * (y / 2) as u8, 9];
        // The other field has something else.
        scene.draw(INPUT, |x, y| {
            let [luma, blue, red] = ramp(x, y);
            [if y % 2 == kept { luma } else { 255 }, if y / 2 % 2 == kept { blue } else { 1 }, red]
        });
        scene.run().unwrap();
        let frame = scene.frame(CURRENT);
        for (index, [luma, blue, red]) in frame.into_iter().enumerate() {
            let y = index / WIDTH;
            if (2..HEIGHT - 2).contains(&y) {
                assert_eq!([luma, blue, red], ramp(0, y), "row {y}");
            }
        }
        // Neither the denoised frame nor the previous output is written.
        for address in [DENOISED, PREVIOUS] {
            assert!(scene.model.read(address, ROOM).iter().all(|byte| *byte == 0));
        }
        // All motion measures are the greatest.
        let history = scene.model.read(HISTORY_OUT, WIDTH * HEIGHT);
        assert!(history.chunks_exact(4).all(|bytes| bytes[..2] == [255; 2]));
    }
}

/// The rows of the first field are exact for each picture, in luma and chroma.
#[test]
fn bob_keeps_the_rows_of_its_field() {
    for (top_first, compensated) in [(true, false), (false, false), (true, true), (false, true)] {
        let mut scene = deinterlacing(top_first);
        scene.state.dn_di_first_frame = FIRST;
        scene.video.mcdi_enable = compensated;
        scene.draw(INPUT, pattern);
        scene.run().unwrap();
        let kept = usize::from(!top_first);
        for (index, [luma, blue, red]) in scene.frame(CURRENT).into_iter().enumerate() {
            let (x, y) = position(index);
            let had = pattern(x, y);
            if y % 2 == kept {
                assert_eq!(luma, had[0], "{x} {y}");
            }
            if y / 2 % 2 == kept {
                assert_eq!([blue, red], had[1..], "{x} {y}");
            }
        }
    }
}

/// A clip that stands still, as a driver plays it: the history and the frame before come from the
/// last call. From the fourth frame on, both results are the pictures, exactly.
#[test]
fn a_clip_that_stands_still() {
    for top_first in [true, false] {
        let mut scene = deinterlacing(top_first);
        scene.state.dn_di_first_frame = FIRST;
        scene.draw(INPUT, pattern);
        scene.draw(BEFORE, pattern);
        let want: Vec<[u8; 3]> = (0..WIDTH * HEIGHT)
            .map(|index| {
                let (x, y) = position(index);
                pattern(x, y)
            })
            .collect();
        for number in 0..8 {
            scene.run().unwrap();
            scene.state.dn_di_first_frame = VeboxStateDnDiFirstFrame::from_bits(0);
            let packet = &mut scene.packet;
            std::mem::swap(&mut packet.stmm_input_address, &mut packet.stmm_output_address);
            if number >= 3 {
                assert_eq!(scene.frame(CURRENT), want, "frame {number}");
                assert_eq!(scene.frame(PREVIOUS), want, "frame {number}");
            }
        }
    }
}

/// Noise of three strengths on a picture with edges: the denoised frames of a clip are nearer to
/// the clean picture than the noisy ones.
#[test]
fn three_strengths_of_noise() {
    let clean = |x: usize, y: usize| [if x / 16 % 2 == y / 8 % 2 { 60 } else { 170 }, 128, 128];
    for (amplitude, luma_low, luma_high) in [(2_u64, 4, 10), (5, 8, 20), (9, 12, 28)] {
        let mut scene = denoising();
        scene.video.temporal_difference_threshold = u(luma_high);
        scene.video.low_temporal_difference_threshold = u(luma_low);
        scene.video.denoise_moving_pixel_threshold = u(16);
        scene.video.denoise_stad_threshold = u(255);
        scene.video.good_neighbor_threshold = u(2 * amplitude + 1);
        scene.state.dn_di_first_frame = FIRST;
        let mut random = genxml_cases::Random::new(amplitude);
        let error = |frame: &[[u8; 3]]| -> f64 {
            let square = |(index, pixel): (usize, &[u8; 3])| {
                let (x, y) = position(index);
                f64::from(pixel[0].abs_diff(clean(x, y)[0])).powi(2)
            };
            frame.iter().enumerate().map(square).sum::<f64>() / frame.len() as f64
        };
        for number in 0..8 {
            let noise: Vec<u8> =
                (0..WIDTH * HEIGHT).map(|_| (random.below(2 * amplitude + 1)) as u8).collect();
            scene.draw(INPUT, |x, y| {
                let [luma, blue, red] = clean(x, y);
                [luma + noise[y * WIDTH + x] - amplitude as u8, blue, red]
            });
            let noisy = scene.frame(INPUT);
            scene.run().unwrap();
            let denoised = scene.frame([DENOISED, BEFORE][number % 2]);
            assert!(error(&denoised) < 0.7 * error(&noisy), "{amplitude}, frame {number}");
            // The result is the frame before the next one.
            scene.state.dn_di_first_frame = VeboxStateDnDiFirstFrame::from_bits(0);
            let packet = &mut scene.packet;
            std::mem::swap(&mut packet.stmm_input_address, &mut packet.stmm_output_address);
            std::mem::swap(
                &mut packet.previous_frame_input_address,
                &mut packet.denoised_current_frame_output_address,
            );
        }
    }
}

/// What stands still is woven, after the measures of motion have fallen.
#[test]
fn weave() {
    let mut scene = deinterlacing(true);
    scene.draw(INPUT, pattern);
    scene.draw(BEFORE, pattern);
    scene.run().unwrap();
    let want: Vec<[u8; 3]> =
        (0..WIDTH * HEIGHT).map(|index| pattern(index % WIDTH, index / WIDTH)).collect();
    assert_eq!(scene.frame(CURRENT), want);
    assert_eq!(scene.frame(PREVIOUS), want);
    // The history before said that all moved: its measures fall, and the result is not woven yet.
    scene.model.write(HISTORY_IN, &vec![255; WIDTH * HEIGHT]);
    scene.run().unwrap();
    assert_ne!(scene.frame(CURRENT), want);
    let history = scene.model.read(HISTORY_OUT, WIDTH * HEIGHT);
    assert!(history.chunks_exact(4).all(|bytes| bytes[..2] == [124; 2]));
}

/// A bar that moves has no comb: each row is that of the first field's time.
#[test]
fn motion_has_no_comb() {
    for compensated in [false, true] {
        let mut scene = deinterlacing(true);
        scene.video.mcdi_enable = compensated;
        let bar = |x: usize, time: usize| {
            if (8 + 4 * time..24 + 4 * time).contains(&x) { 200 } else { 40 }
        };
        let fields = |first: usize| move |x: usize, y: usize| [bar(x, first + y % 2), 128, 128];
        scene.draw(BEFORE, fields(0));
        scene.draw(INPUT, fields(2));
        scene.model.write(HISTORY_IN, &vec![255; WIDTH * HEIGHT]);
        scene.run().unwrap();
        for (address, time) in [(CURRENT, 2), (PREVIOUS, 1)] {
            for (index, [luma, ..]) in scene.frame(address).into_iter().enumerate() {
                let (x, y) = (index % WIDTH, index / WIDTH);
                assert_eq!(luma, bar(x, time), "{x} {y} of the frame of field {time}");
            }
        }
    }
}

/// Film: fields are put together with the field before or after.
#[test]
fn film() {
    use VeboxDndiStateProgressiveCadenceReconstructionFor1stFieldOfCurrentFrame as Current;
    use VeboxDndiStateProgressiveCadenceReconstructionFor2ndFieldOfPreviousFrame as Previous;
    let late = |x: usize, y: usize| pattern(x + 9, y + 7);
    for (current, previous) in [(1, 1), (2, 2)] {
        let mut scene = deinterlacing(true);
        scene.draw(BEFORE, pattern);
        scene.draw(INPUT, late);
        scene.video.progressive_cadence_reconstruction_for_1st_field_of_current_frame =
            Current::from_bits(current);
        scene.video.progressive_cadence_reconstruction_for_2nd_field_of_previous_frame =
            Previous::from_bits(previous);
        scene.run().unwrap();
        let luma = |frame: Vec<[u8; 3]>| frame.into_iter().map(|[luma, ..]| luma);
        for (index, got) in luma(scene.frame(CURRENT)).enumerate() {
            let (x, y) = (index % WIDTH, index / WIDTH);
            let from_before = y % 2 == 1 && current == 1;
            assert_eq!(got, if from_before { pattern(x, y) } else { late(x, y) }[0]);
        }
        for (index, got) in luma(scene.frame(PREVIOUS)).enumerate() {
            let (x, y) = (index % WIDTH, index / WIDTH);
            let from_after = y % 2 == 0 && previous == 2;
            assert_eq!(got, if from_after { late(x, y) } else { pattern(x, y) }[0]);
        }
    }
}

/// Denoising comes before deinterlacing, and enhancement after it.
#[test]
fn all_together() {
    let mut scene = deinterlacing(true);
    scene.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
    scene.state.global_iecp_enable = true;
    scene.video.good_neighbor_threshold = u(12);
    scene.colors.procamp_state.procamp_enable = true;
    scene.colors.procamp_state.brightness = genxml_core::SFix::new(10.0).unwrap();
    scene.draw(INPUT, |_, _| [100, 128, 128]);
    scene.draw(BEFORE, |_, _| [100, 128, 128]);
    scene.run().unwrap();
    assert!(scene.frame(CURRENT).iter().all(|pixel| *pixel == [110, 128, 128]));
    assert!(scene.frame(PREVIOUS).iter().all(|pixel| *pixel == [110, 128, 128]));
    assert!(scene.frame(DENOISED).iter().all(|pixel| *pixel == [100, 128, 128]));
}

/// Two host threads write the same memory as one.
#[test]
fn host_threads() {
    let scenes: [fn() -> Scene; 2] = [denoising, || deinterlacing(true)];
    for (number, scene) in scenes.into_iter().enumerate() {
        let run = |threads: usize| {
            let mut scene = scene();
            scene.model.gpu.set_threads(threads);
            scene.draw(INPUT, pattern);
            scene.draw(BEFORE, |x, y| pattern(x + 1, y));
            scene.run().unwrap();
            let buffers = (INPUT..=STATISTICS).step_by(ROOM);
            buffers.map(|buffer| scene.model.read(buffer, ROOM)).collect::<Vec<_>>()
        };
        let one = run(1);
        assert!(one.iter().flatten().filter(|byte| **byte != 0).count() > 3 * WIDTH * HEIGHT);
        assert!(one == run(2), "scene {number}");
    }
}
