//! Deinterlacing of synthetic video. Oracle: the frames that the fields were taken from.

use super::{Settings, Source, frames};
use crate::vebox::history::History;
use genxml_codecs::{Frame, Plane};

const SETTINGS: Settings = Settings {
    top_first: true,
    first: Source::Interpolated,
    second: Source::Interpolated,
    edges: 30,
    shifts: [4, 7],
    bias: 3,
    past: [64, 125],
    great: 125,
    range: [118, 150],
    range_shift: 5,
    angle_threshold: 100,
    angle_delta: 5,
    flat: 0,
    unlike: 100,
    pair: 37,
    compensated: false,
    consistency: 25,
    tight: 5,
    adaptive: [5, 10],
    adaptive_more: 0,
    adaptive_slope: 10,
    smooth: 0,
    neighbor: 10,
};

const WIDTH: usize = 96;
const HEIGHT: usize = 48;

/// A frame of a function of the position.
fn picture(down: usize, f: impl Fn(i32, i32, usize) -> u8) -> Frame {
    let mut frame = Frame::new(WIDTH, HEIGHT, (2, down), 0);
    for (number, plane) in frame.planes.iter_mut().enumerate() {
        let width = plane.width;
        for (index, sample) in plane.data.iter_mut().enumerate() {
            *sample = f((index % width) as i32, (index / width) as i32, number);
        }
    }
    frame
}

/// Even rows of one frame and odd rows of another.
fn interlaced(even: &Frame, odd: &Frame) -> Frame {
    let mut frame = even.clone();
    for (plane, odd) in frame.planes.iter_mut().zip(&odd.planes) {
        for y in (1..plane.height).step_by(2) {
            let row = y * plane.width..(y + 1) * plane.width;
            plane.data[row.clone()].copy_from_slice(&odd.data[row]);
        }
    }
    frame
}

fn history() -> History {
    History::new(WIDTH, vec![0; History::size(WIDTH, HEIGHT)])
}

fn rows(plane: &Plane, parity: usize) -> impl Iterator<Item = &[u8]> {
    plane.data.chunks_exact(plane.width).skip(parity).step_by(2)
}

/// Sum of squared differences, without the border.
fn error(got: &Plane, want: &Plane) -> u64 {
    let mut sum = 0;
    for y in 6..got.height - 6 {
        for x in 16..got.width - 16 {
            let index = y * got.width + x;
            sum += u64::from(got.data[index].abs_diff(want.data[index])).pow(2);
        }
    }
    sum
}

/// A first frame gives the first field with rows between, and the greatest measures.
#[test]
fn first_frames_are_spatial() {
    for (down, top_first) in [(2, true), (2, false), (1, true), (1, false)] {
        let frame = picture(down, |x, y, _| (x / 4 + 3 * y) as u8);
        let mut history = history();
        let settings = Settings { top_first, ..SETTINGS };
        let result = frames(&settings, &frame, None, &mut history, [true, true]);
        assert_eq!(result.previous, None);
        let result = result.current.unwrap();
        let kept = usize::from(!top_first);
        for (got, had) in result.planes.iter().zip(&frame.planes) {
            assert!(rows(got, kept).eq(rows(had, kept)));
            // A slope in y comes back between rows, and rows at the edge are repeated.
            let inner = 1..got.height - 1;
            for (y, (got, had)) in
                got.data.chunks_exact(got.width).zip(had.data.chunks_exact(had.width)).enumerate()
            {
                if inner.contains(&y) {
                    assert_eq!(got, had, "row {y}");
                } else if y % 2 != kept {
                    let near: Vec<u8> = got.to_vec();
                    assert!(near.iter().zip(had).all(|(got, had)| got.abs_diff(*had) == 3));
                }
            }
        }
        let mut motion = Vec::new();
        for y in 0..HEIGHT {
            motion.extend((0..WIDTH).step_by(2).map(|x| *history.motion(x, y)));
        }
        assert!(motion.iter().all(|measure| *measure == 255));
    }
}

/// What stands still is woven: after a few frames the output is the frame.
#[test]
fn still_video_is_woven() {
    for down in [1, 2] {
        let frame = picture(down, |x, y, plane| {
            let mixed = (x as u32 * 31 + y as u32 * 17 + plane as u32).wrapping_mul(2_654_435_761);
            (mixed >> 24) as u8
        });
        let mut history = history();
        frames(&SETTINGS, &frame, None, &mut history, [true, true]);
        for _ in 0..4 {
            frames(&SETTINGS, &frame, Some(&frame), &mut history, [true, true]);
        }
        let result = frames(&SETTINGS, &frame, Some(&frame), &mut history, [true, true]);
        assert_eq!(result.current.as_ref(), Some(&frame));
        assert_eq!(result.previous.as_ref(), Some(&frame));
    }
}

/// A box that moves has no comb: the result is much nearer to the true frame than weaving is.
#[test]
fn moving_video_has_no_comb() {
    let scene = |time: i32| {
        picture(2, move |x, y, plane| {
            let (x, y) = if plane > 0 { (2 * x, 2 * y) } else { (x, y) };
            let left = 20 + 4 * time;
            if (left..left + 24).contains(&x) && (10..38).contains(&y) { 200 } else { 60 }
        })
    };
    for compensated in [false, true] {
        let settings = Settings { compensated, ..SETTINGS };
        let mut history = history();
        let mut previous: Option<Frame> = None;
        for number in 0..4 {
            let (first, second) = (scene(2 * number), scene(2 * number + 1));
            let frame = interlaced(&first, &second);
            let result = frames(&settings, &frame, previous.as_ref(), &mut history, [true, true]);
            let current = result.current.unwrap();
            for plane in 0..3 {
                let (got, woven) = (
                    error(&current.planes[plane], &first.planes[plane]),
                    error(&frame.planes[plane], &first.planes[plane]),
                );
                assert!(got * 8 < woven, "{number}, plane {plane}: {got} of {woven}");
            }
            if let Some(before) = result.previous {
                let truth = scene(2 * number - 1);
                let woven = error(&previous.unwrap().planes[0], &truth.planes[0]);
                assert!(error(&before.planes[0], &truth.planes[0]) * 8 < woven, "{number}");
            }
            previous = Some(frame);
        }
    }
}

/// Fine detail that moves evenly comes from the fields along its vector.
#[test]
fn compensation_keeps_detail() {
    let scene = |time: i32| {
        picture(2, move |x, y, plane| {
            let x = if plane > 0 { 2 * x } else { x } - 3 * time;
            let column = (x.div_euclid(2) as u32).wrapping_mul(97);
            let mixed = column.wrapping_add(y as u32 * 57);
            (mixed.wrapping_mul(2_654_435_761) >> 25) as u8 + 60
        })
    };
    let run = |compensated: bool| {
        let settings = Settings { compensated, ..SETTINGS };
        let mut history = history();
        let previous = interlaced(&scene(10), &scene(11));
        frames(&settings, &previous, None, &mut history, [true, true]);
        let current = interlaced(&scene(12), &scene(13));
        let result = frames(&settings, &current, Some(&previous), &mut history, [true, true]);
        error(&result.current.unwrap().planes[0], &scene(12).planes[0])
    };
    let (with, without) = (run(true), run(false));
    assert!(with * 4 < without, "{with} with, {without} without");
}

/// Edges of 27 degrees are followed: the result is nearer to the truth than a mean of rows.
#[test]
fn slanted_edges_are_smooth() {
    for sign in [1, -1] {
        let frame = picture(
            2,
            move |x, y, _| if (x + sign * 2 * y).rem_euclid(96) < 48 { 200 } else { 40 },
        );
        let run = |angle_threshold: u32| {
            let settings = Settings { angle_threshold, pair: 255, unlike: 2000, ..SETTINGS };
            let result = frames(&settings, &frame, None, &mut history(), [false, true]);
            error(&result.current.unwrap().planes[0], &frame.planes[0])
        };
        // A threshold that nothing passes gives the mean.
        let (followed, mean) = (run(100), run(100_000));
        assert!(followed * 2 < mean, "{followed} of {mean}");
    }
}

/// Film: fields are put together with the field before or after.
#[test]
fn fields_are_put_together() {
    let frame =
        |seed: i32| picture(2, move |x, y, plane| (x * 7 + y * 13 + seed + plane as i32) as u8);
    let (previous, current) = (frame(5), frame(90));
    let run = |first: Source, second: Source| {
        let settings = Settings { first, second, ..SETTINGS };
        frames(&settings, &current, Some(&previous), &mut history(), [true, true])
    };
    let result = run(Source::After, Source::Before);
    assert_eq!(result.current, Some(current.clone()));
    assert_eq!(result.previous, Some(previous.clone()));
    let result = run(Source::Before, Source::After);
    assert_eq!(result.current, Some(interlaced(&current, &previous)));
    assert_eq!(result.previous, Some(interlaced(&current, &previous)));
}
