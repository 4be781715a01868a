//! Denoising of synthetic video.

use super::spatial::Local;
use super::{Settings, Thresholds, between, frame, next_history};
use crate::vebox::history::{Channel, History};
use genxml_codecs::Frame;

const SETTINGS: Settings = Settings {
    luma: Thresholds { sum: 140, pixels: 1, high: 12, low: 4 },
    chroma: Some(Thresholds { sum: 140, pixels: 16, high: 13, low: 7 }),
    most_history: 192,
    step: 7,
    first_history: 128,
    change: 38,
    complexity: 38,
    neighbor: 12,
    progressive: true,
};

fn noise(frame: &Frame, seed: u32, amplitude: u32) -> Frame {
    let (mut frame, mut state) = (frame.clone(), seed);
    for sample in frame.planes.iter_mut().flat_map(|plane| &mut plane.data) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *sample = (u32::from(*sample) + (state >> 16) % (2 * amplitude + 1) - amplitude) as u8;
    }
    frame
}

fn error(frame: &Frame, clean: &Frame) -> u64 {
    let samples = frame.planes[0].data.iter().zip(&clean.planes[0].data);
    samples.map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum()
}

/// Oracle: the mean of the good neighbours, by definition. The reciprocals of the manual are
/// too small by up to 1 in 400.
#[test]
fn good_neighbors() {
    let mut seed = 1_u32;
    for _ in 0..5000 {
        let mut rows = [[0_u8; 3]; 3];
        for sample in rows.iter_mut().flatten() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *sample = 100 + (seed >> 24) as u8 % 40;
        }
        let centre = f64::from(rows[1][1]);
        let good: Vec<f64> = rows
            .iter()
            .flatten()
            .map(|sample| f64::from(*sample))
            .filter(|sample| (sample - centre).abs() < 12.0)
            .collect();
        let mean = good.iter().sum::<f64>() / good.len() as f64;
        let local = Local::new(rows.each_ref().map(|row| row.as_slice()), 1, 12);
        let got = f64::from(local.mean);
        assert!(got <= mean + 0.5 && got >= mean * (1.0 - 1.0 / 400.0) - 0.5 - 0.5);
    }
}

/// A still picture with noise comes nearer to the clean one, the more the longer it stands still.
#[test]
fn noise_of_a_still_picture_goes() {
    let clean = Frame::new(64, 32, (2, 2), 120);
    let mut history = History::new(64, vec![0; History::size(64, 32)]);
    let mut previous: Option<Frame> = None;
    let mut errors = Vec::new();
    for number in 0..30 {
        let noisy = noise(&clean, number, 3);
        let result = frame(&SETTINGS, &noisy, previous.as_ref(), &mut history);
        assert!(error(&result, &clean) < error(&noisy, &clean));
        errors.push(error(&result, &clean));
        previous = Some(result);
    }
    assert!(errors[29] < errors[3], "{errors:?}");
}

/// An edge between two flat areas stays: neighbours across it are not good.
#[test]
fn edges_stay() {
    for progressive in [false, true] {
        let mut clean = Frame::new(32, 16, (2, 2), 60);
        for row in clean.planes[0].data.chunks_exact_mut(32) {
            row[13..].fill(140);
        }
        let mut history = History::new(32, vec![0; History::size(32, 16)]);
        let settings = Settings { progressive, ..SETTINGS };
        let result = frame(&settings, &clean, None, &mut history);
        assert_eq!(result, clean);
    }
}

/// Where something moves, the previous picture has no effect.
#[test]
fn motion_leaves_no_trail() {
    let previous = Frame::new(32, 16, (2, 2), 30);
    let current = Frame::new(32, 16, (2, 2), 130);
    let mut history = History::new(32, vec![200; History::size(32, 16)]);
    let result = frame(&SETTINGS, &current, Some(&previous), &mut history);
    assert_eq!(result, current);
}

/// Rows of the other field are no neighbours in interlaced video.
#[test]
fn fields_stay_apart() {
    let mut fields = Frame::new(32, 16, (2, 2), 60);
    for row in fields.planes[0].data.chunks_exact_mut(64) {
        row[32..].fill(65);
    }
    let mut history = History::new(32, vec![0; History::size(32, 16)]);
    let settings = Settings { progressive: false, ..SETTINGS };
    assert_eq!(frame(&settings, &fields, None, &mut history), fields);
    assert_ne!(frame(&SETTINGS, &fields, None, &mut history), fields);
}

/// Where a flat block changes its brightness slowly, its history starts again at 128. Noise, whose
/// differences cancel each other, and complex blocks do not count.
#[test]
fn slow_changes_start_a_new_history() {
    let flat = |luma: u8| Frame::new(32, 16, (2, 2), luma);
    let checkered = |light: u8, dark: u8| {
        let mut frame = flat(dark);
        for (index, sample) in frame.planes[0].data.iter_mut().enumerate() {
            if (index % 32 + index / 32).is_multiple_of(2) {
                *sample = light;
            }
        }
        frame
    };
    let cases = [
        // 16 times 3 is above the threshold of 38, 16 times 2 is not.
        (flat(50), flat(53), 128),
        (flat(53), flat(50), 128),
        (flat(50), flat(52), 187),
        (flat(50), checkered(53, 47), 187),
        // 24 neighbours in a block differ by 1, or by 2.
        (checkered(51, 50), checkered(54, 53), 128),
        (checkered(52, 50), checkered(55, 53), 187),
    ];
    for (previous, current, want) in cases {
        let mut history = History::new(32, vec![180; History::size(32, 16)]);
        frame(&SETTINGS, &current, Some(&previous), &mut history);
        assert_eq!(*history.noise(Channel::Y, 8, 4), want, "{:?}", &current.planes[0].data[..2]);
    }
}

#[test]
fn histories() {
    assert_eq!(next_history(&SETTINGS, 200, true), 100);
    assert_eq!(next_history(&SETTINGS, 100, true), 0);
    assert_eq!(next_history(&SETTINGS, 100, false), 128);
    assert_eq!(next_history(&SETTINGS, 128, false), 135);
    assert_eq!(next_history(&SETTINGS, 190, false), 192);
}

/// Oracle: linear interpolation in floating point.
#[test]
fn between_thresholds() {
    let thresholds = SETTINGS.luma;
    for difference in 0..30_u8 {
        let part = (f64::from(difference) - 4.0).clamp(0.0, 8.0) / 8.0;
        let want = 50.0 * part + 90.0 * (1.0 - part);
        let got = f64::from(between(&thresholds, 100, 100 - difference, 50, 90));
        assert!((got - want).abs() <= 1.0, "{difference}: {got} for {want}");
    }
}
