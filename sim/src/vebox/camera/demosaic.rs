//! Interpolation of the colours that a Bayer pattern leaves out (assumption
//! `VEBOX_DEMOSAIC_FOLLOWS_THE_LEAST_COST`).

use super::pattern::{Pattern, mirror};
use crate::vebox::iecp::number::clip;

/// Red, green and blue for each pixel of a pattern. Both sizes are at least 3.
pub fn planes(pattern: Pattern, most_cost: u16, samples: &[u16], width: usize) -> [Vec<u16>; 3] {
    let height = samples.len() / width;
    let mut green = samples.to_vec();
    for (index, result) in green.iter_mut().enumerate() {
        let (x, y) = (index % width, index / width);
        if pattern.color(x, y) != 1 {
            let across = |step| samples[y * width + mirror(x, step, width)];
            let down = |step| samples[mirror(y, step, height) * width + x];
            *result = missing_green(most_cost, direction(across), direction(down));
        }
    }
    let color = |wanted: usize| {
        let mut result = samples.to_vec();
        for (index, sample) in result.iter_mut().enumerate() {
            let (x, y) = (index % width, index / width);
            let [left, right] = [-1, 1].map(|step| mirror(x, step, width));
            let [above, below] = [-1, 1].map(|step| mirror(y, step, height));
            // Differences from green of the pixels that have the colour.
            let apart = |x: usize, y: usize| {
                let at = y * width + x;
                i32::from(samples[at]) - i32::from(green[at])
            };
            let twice = |first: i32, second: i32| 2 * (first + second);
            let sum = match pattern.color(x, y) {
                own if own == wanted => continue,
                1 if pattern.color(left, y) == wanted => twice(apart(left, y), apart(right, y)),
                1 => twice(apart(x, above), apart(x, below)),
                _ => [(left, above), (right, above), (left, below), (right, below)]
                    .into_iter()
                    .map(|(x, y)| apart(x, y))
                    .sum(),
            };
            *sample = clip(i32::from(green[index]) + ((sum + 2) >> 2));
        }
        result
    };
    let (red, blue) = (color(0), color(2));
    [red, green, blue]
}

/// Green in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Direction {
    /// Four times the interpolated green.
    green: i32,
    /// How much the samples of the direction differ.
    cost: i32,
}

/// Green from the samples of a direction: -2 to 2 steps from the pixel.
#[inline]
fn direction(at: impl Fn(isize) -> u16) -> Direction {
    let [far_before, before, own, after, far_after] =
        [-2, -1, 0, 1, 2].map(|step| i32::from(at(step)));
    let bend = 2 * own - far_before - far_after;
    Direction { green: 2 * (before + after) + bend, cost: (before - after).abs() + bend.abs() }
}

/// Green of the direction with the least cost, or of both.
fn missing_green(most_cost: u16, across: Direction, down: Direction) -> u16 {
    let both = across.cost == down.cost || across.cost.min(down.cost) > i32::from(most_cost);
    let sum = match both {
        true => across.green + down.green,
        false if across.cost < down.cost => 2 * across.green,
        false => 2 * down.green,
    };
    clip((sum + 4) >> 3)
}
