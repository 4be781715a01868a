//! Synthetic Bayer patterns.

use super::hot::{self, filter};
use super::pattern::Pattern;
use super::{Settings, Vignette, picture};
use genxml::gen8::vebox::VeboxSurfaceStateBayerPatternOffset as Offset;

const WIDTH: usize = 24;
const HEIGHT: usize = 20;

fn patterns() -> [Pattern; 4] {
    [0, 1, 2, 3].map(|bits| Pattern::new(Offset::from_bits(bits)))
}

fn settings(pattern: Pattern) -> Settings {
    Settings { pattern, hot: None, black: [0; 3], vignette: None, most_cost: 75 << 4 }
}

/// The samples that a pattern takes of a picture.
fn taken(pattern: Pattern, rgb: impl Fn(usize, usize) -> [u16; 3]) -> Vec<u16> {
    let at = |index: usize| (index % WIDTH, index / WIDTH);
    (0..WIDTH * HEIGHT).map(at).map(|(x, y)| rgb(x, y)[pattern.color(x, y)]).collect()
}

/// Oracle: the names of the offsets.
#[test]
fn colors_of_the_first_pixels() {
    let first = patterns().map(|pattern| [pattern.color(0, 0), pattern.color(1, 0)]);
    assert_eq!(first, [[2, 1], [0, 1], [1, 0], [1, 2]]);
    for pattern in patterns() {
        let mut counts = [0; 3];
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            counts[pattern.color(x, y)] += 1;
        }
        assert_eq!(counts, [1, 2, 1]);
    }
}

/// Flat colours and planes of constant slope come back, but for rounding and the border.
#[test]
fn smooth_pictures_come_back() {
    for pattern in patterns() {
        let flat = |_: usize, _: usize| [3000, 1200, 500];
        let slope = |x: usize, y: usize| {
            let rise = (x * 24 + y * 16) as u16;
            [1000 + rise, 200 + rise, 1500 + rise]
        };
        for steep in [false, true] {
            let rgb = |x: usize, y: usize| if steep { slope(x, y) } else { flat(x, y) };
            let result = picture(&settings(pattern), taken(pattern, rgb), WIDTH);
            for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
                let inner = (3..WIDTH - 3).contains(&x) && (3..HEIGHT - 3).contains(&y);
                let got = [0, 1, 2].map(|plane: usize| result.planes[plane][y * WIDTH + x]);
                if inner || !steep {
                    assert_eq!(got, rgb(x, y), "{x} {y}");
                }
            }
        }
    }
}

/// The samples of the pattern stay in the picture.
#[test]
fn measured_samples_stay() {
    let noise = |x: usize, y: usize| {
        let mix = ((x * 31 + y * 57) as u32).wrapping_mul(2_654_435_761);
        [mix >> 20, mix >> 10 & 0xfff, mix & 0xfff].map(|value| value as u16)
    };
    for pattern in patterns() {
        let samples = taken(pattern, noise);
        let result = picture(&settings(pattern), samples.clone(), WIDTH);
        for (index, sample) in samples.into_iter().enumerate() {
            let color = pattern.color(index % WIDTH, index / WIDTH);
            assert_eq!(result.planes[color][index], sample);
        }
    }
}

/// An edge of grey along columns or rows stays sharp: green follows the edge.
#[test]
fn edges_stay() {
    for (pattern, upright) in patterns().into_iter().flat_map(|p| [(p, false), (p, true)]) {
        let grey =
            |x: usize, y: usize| [if (if upright { x } else { y }) < 10 { 500 } else { 3000 }; 3];
        let result = picture(&settings(pattern), taken(pattern, grey), WIDTH);
        for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
            assert_eq!(result.planes[1][y * WIDTH + x], grey(x, y)[1], "{upright} {x} {y}");
        }
    }
}

/// A pixel that differs from more neighbours than the count becomes their median.
#[test]
fn hot_pixels() {
    let mut samples = vec![1000; WIDTH * HEIGHT];
    let place = |x: usize, y: usize| y * WIDTH + x;
    for (x, y) in [(0, 0), (7, 9), (WIDTH - 1, HEIGHT - 1)] {
        samples[place(x, y)] = 3000;
    }
    // An edge has three neighbours that differ.
    for y in 0..HEIGHT {
        samples[place(15, y)..place(WIDTH, y) - 3].fill(1500);
    }
    let cleaned =
        |count: usize, threshold: u16| filter(&hot::Settings { threshold, count }, &samples, WIDTH);
    let result = cleaned(7, 400);
    let changed: Vec<usize> =
        (0..samples.len()).filter(|index| result[*index] != samples[*index]).collect();
    assert_eq!(changed, [place(0, 0), place(7, 9), place(WIDTH - 1, HEIGHT - 1)]);
    assert!(changed.iter().all(|index| result[*index] == 1000));
    assert_eq!(cleaned(8, 400), samples);
    assert_eq!(cleaned(7, 2000), samples);
    assert_ne!(cleaned(2, 400), result);
}

/// Oracle: the definition in floating point.
#[test]
fn black_and_vignette() {
    for (pattern, fraction) in patterns().into_iter().flat_map(|p| [(p, 8), (p, 12)]) {
        let rgb = |x: usize, y: usize| [100 + 30 * x as u16, 90 + 50 * y as u16, 3000];
        let (across, down) = Vignette::size(WIDTH, HEIGHT);
        let factors: Vec<u16> =
            (0..across * down).map(|n| ((n % 37) << (fraction - 4)) as u16).collect();
        let settings = Settings {
            black: [150, -20, 64],
            vignette: Some(Vignette { factors: factors.clone(), fraction }),
            ..settings(pattern)
        };
        let samples = taken(pattern, rgb);
        let result = picture(&settings, samples.clone(), WIDTH);
        for (index, sample) in samples.into_iter().enumerate() {
            let (x, y) = (index % WIDTH, index / WIDTH);
            let color = pattern.color(x, y);
            let black = [150.0, -20.0, 64.0][color];
            let factor = factors[(y / 4) * across + (x / 4) * 4 + 2 * (y % 2) + x % 2];
            let light = (f64::from(sample) - black).clamp(0.0, 4095.0);
            let want = light * f64::from(factor) / f64::from(1 << fraction);
            let want = (want + 0.5).floor().min(4095.0);
            assert_eq!(f64::from(result.planes[color][index]), want, "{x} {y}");
        }
    }
}

/// The smallest pictures.
#[test]
fn small_pictures() {
    for (width, height) in [(4, 4), (5, 4), (4, 7)] {
        let result = picture(&settings(patterns()[0]), vec![77; width * height], width);
        assert!(result.planes.iter().all(|plane| *plane == vec![77; width * height]));
    }
}
