//! The integer search.

use super::{FREE, Random, Rectangle, picture, quad, rectangles};
use crate::unit::vme::costs::Costs;
use crate::unit::vme::distortion::Transform;
use crate::unit::vme::geometry::{Luma, Vector};
use crate::unit::vme::search::{Best, NONE, Outcome, Path, WINDOW, Window, search};

/// The path of intel-vaapi-driver through all units of a window: rows to the right and to the left
/// in turn.
fn snake(columns: usize, rows: usize) -> Vec<[i8; 2]> {
    let mut steps = Vec::new();
    for row in 0..rows {
        let step = if row % 2 == 0 { 1 } else { -1 };
        steps.extend(std::iter::repeat_n([step, 0], columns - 1));
        steps.push([0, 1]);
    }
    steps.truncate(columns * rows - 1);
    steps
}

fn window(size: [usize; 2], [x, y]: [i32; 2], pixel: impl FnMut(usize) -> u8) -> Window {
    let mut pixels = [0; WINDOW * WINDOW];
    (0..WINDOW * WINDOW).map(pixel).zip(&mut pixels).for_each(|(pixel, out)| *out = pixel);
    Window { pixels, width: size[0], height: size[1], x, y }
}

/// Cost of a rectangle at a position of a window, with its vector.
fn cost(
    source: &Luma,
    window: &Window,
    costs: &Costs,
    [left, top, width, height]: Rectangle,
    [x, y]: [usize; 2],
) -> (u32, Vector) {
    let mut sum = 0;
    for (row, column) in (top..top + height).flat_map(|y| (left..left + width).map(move |x| (y, x)))
    {
        let there = window.pixels[(y + row) * WINDOW + x + column];
        sum += u32::from(source[16 * row + column].abs_diff(there));
    }
    let vector =
        Vector { x: 4 * (window.x + x as i32) as i16, y: 4 * (window.y + y as i32) as i16 };
    let centre = costs.centres[quad([left, top, width, height])][0];
    let [across, down] = [vector.x - centre.x, vector.y - centre.y];
    let vectors =
        costs.component(across.unsigned_abs().into()) + costs.component(down.unsigned_abs().into());
    (sum + vectors, vector)
}

/// A search of the whole window finds the smallest cost of every partition. Oracle: all positions,
/// pixel by pixel.
#[test]
fn whole_windows() {
    let mut random = Random(5);
    for _ in 0..12 {
        let units = [0, 1].map(|_| 1 + random.below(8) as usize);
        let size = units.map(|units| 16 + 4 * units);
        let corner = [0, 1].map(|_| random.below(60) as i32 - 30);
        let window = window(size, corner, |_| random.next() as u8);
        let (source, costs) = (random.luma(), random.costs());
        let steps = snake(units[0], units[1]);
        let path = Path {
            starts: &[[0, 0]],
            steps: &steps,
            length: units[0] * units[1],
            adaptive: None,
            stop: None,
        };
        let mut best = Best::default();
        let outcome = search(&source, &window, Transform::Plain, &costs, 0, &path, &mut best);
        assert_eq!(outcome.units, units[0] * units[1]);
        for (n, rectangle) in rectangles().into_iter().enumerate() {
            let all = (0..4 * units[1]).flat_map(|y| (0..4 * units[0]).map(move |x| [x, y]));
            let all: Vec<_> = all.map(|at| cost(&source, &window, &costs, rectangle, at)).collect();
            let least = all.iter().map(|(cost, _)| *cost).min().unwrap();
            assert_eq!(u32::from(best.distortion[n]), least, "{rectangle:?}");
            assert!(all.contains(&(least, best.vector[n])), "{rectangle:?}");
        }
    }
}

fn moved(at: [i64; 2]) -> Luma {
    std::array::from_fn(|n| picture((n % 16) as i64 + at[0], (n / 16) as i64 + at[1]))
}

/// Searches a window of 48 x 40 pixels around a macroblock for the macroblock moved by `by`.
fn shifted(by: [i64; 2], transform: Transform, path: &Path<'_>) -> (Best, Outcome) {
    let window = window([48, 40], [-16, -12], |n| {
        picture((n % WINDOW) as i64 - 16, (n / WINDOW) as i64 - 12)
    });
    let mut best = Best::default();
    let outcome = search(&moved(by), &window, transform, &FREE, 0, path, &mut best);
    (best, outcome)
}

/// The vector of a moved picture is its movement. The search stops there if it may, and reports the
/// edges of the window that it touches.
#[test]
fn moved_pictures() {
    let steps = snake(8, 6);
    for transform in [Transform::Plain, Transform::Haar { ac_only: false }] {
        for by in [[0, 0], [-16, -12], [15, 11], [3, -7], [-16, 11], [7, 4]] {
            let mut path =
                Path { starts: &[[0, 0]], steps: &steps, length: 48, adaptive: None, stop: None };
            let (best, outcome) = shifted(by, transform, &path);
            let vector = Vector { x: 4 * by[0] as i16, y: 4 * by[1] as i16 };
            assert_eq!((best.distortion[0], best.vector[0]), (0, vector));
            let edges = [by[0] == -16, by[0] == 15, by[1] == -12, by[1] == 11];
            let border = (0..4).map(|n| u8::from(edges[n]) << n).sum();
            assert_eq!(outcome, Outcome { units: 48, border, ..Outcome::default() });
            path.stop = Some(0);
            let (best, outcome) = shifted(by, transform, &path);
            assert_eq!(best.vector[0], vector);
            let unit = [(by[0] + 16) / 4, (by[1] + 12) / 4];
            let column = if unit[1] % 2 == 0 { unit[0] } else { 7 - unit[0] };
            assert_eq!(outcome.units as i64, 8 * unit[1] + column + 1);
            assert!(outcome.early);
        }
    }
}

/// The adaptive search walks from a start to the best unit of a smooth picture, and stops at its
/// limit.
#[test]
fn adaptive_searches() {
    let path = Path { starts: &[[4, 3]], steps: &[], length: 1, adaptive: Some(40), stop: None };
    let (best, outcome) = shifted([5, 6], Transform::Plain, &path);
    assert_eq!(best.vector[0], Vector { x: 20, y: 24 });
    assert!(outcome.units < 40 && !outcome.truncated);
    let path = Path { adaptive: Some(2), ..path };
    let (_, outcome) = shifted([5, 6], Transform::Plain, &path);
    assert_eq!((outcome.units, outcome.truncated), (2, true));
}

/// Units outside of the window count for the length of a path. Units are searched once.
#[test]
fn paths_with_units_outside() {
    let steps = [[-1, 0], [-1, 0], [1, 0], [1, 0], [1, 0], [0, 0], [1, 0]];
    for (length, units) in [(1, 1), (3, 1), (5, 1), (6, 2), (20, 2)] {
        let path = Path { starts: &[[0, 0]], steps: &steps, length, adaptive: None, stop: None };
        assert_eq!(shifted([0, 0], Transform::Plain, &path).1.units, units);
    }
}

/// Results of an earlier search stay if they are not worse.
#[test]
fn earlier_results() {
    let steps = snake(8, 6);
    let path = Path { starts: &[[0, 0]], steps: &steps, length: 48, adaptive: None, stop: None };
    let (fresh, _) = shifted([3, 3], Transform::Plain, &path);
    let mut best = Best::default();
    best.distortion[0] = fresh.distortion[0];
    best.vector[0] = Vector { x: 1000, y: -1000 };
    best.distortion[3] = NONE - 1;
    let window = window([48, 40], [-16, -12], |n| {
        picture((n % WINDOW) as i64 - 16, (n / WINDOW) as i64 - 12)
    });
    search(&moved([3, 3]), &window, Transform::Plain, &FREE, 0, &path, &mut best);
    assert_eq!(best.vector[0], Vector { x: 1000, y: -1000 });
    assert_eq!(best.vector[1..], fresh.vector[1..]);
    assert_eq!(best.distortion, fresh.distortion);
}
