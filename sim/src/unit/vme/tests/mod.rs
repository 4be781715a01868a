//! Tests of the parts of motion estimation.
//!
//! Oracle: the formulas of digests/video.md 10.7 and H.264, written pixel by pixel with rectangles
//! instead of 4x4 blocks, and pictures whose best prediction is known.

mod decisions;
mod intra;
mod predictions;
mod searches;
mod sums;

use super::costs::Costs;
use super::geometry::{Luma, Vector};

/// A random number generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    fn luma(&mut self) -> Luma {
        std::array::from_fn(|_| self.next() as u8)
    }

    /// Costs whose table grows, as those of drivers do.
    fn costs(&mut self) -> Costs {
        let mut cost = 0;
        Costs {
            mode: std::array::from_fn(|_| self.below(300) as u32),
            references: std::array::from_fn(|_| self.below(200) as u32),
            vector: std::array::from_fn(|_| {
                cost += self.below(40) as u32;
                cost
            }),
            scale: self.below(4) as u32,
            centres: std::array::from_fn(|_| {
                std::array::from_fn(|_| Vector {
                    x: self.below(160) as i16 - 80,
                    y: self.below(160) as i16 - 80,
                })
            }),
        }
    }
}

/// Costs that are all 0.
const FREE: Costs = Costs {
    mode: [0; 12],
    references: [0; 2],
    vector: [0; 8],
    scale: 0,
    centres: [[Vector { x: 0, y: 0 }; 2]; 4],
};

/// A smooth picture without repetitions nearby.
fn picture(x: i64, y: i64) -> u8 {
    let (x, y) = (x as f64, y as f64);
    let value = 128.0
        + 50.0 * (x / 7.3).sin()
        + 40.0 * (y / 5.9 + x / 23.0).sin()
        + 25.0 * ((x + 2.0 * y) / 11.7).cos();
    value.round() as u8
}

/// A rectangle: left edge, upper edge, width and height in pixels.
type Rectangle = [usize; 4];

/// The rectangles of all partitions, from the largest shape to the smallest.
fn rectangles() -> Vec<Rectangle> {
    let mut all = vec![[0, 0, 16, 16], [0, 0, 16, 8], [0, 8, 16, 8], [0, 0, 8, 16], [8, 0, 8, 16]];
    for [width, height] in [[8, 8], [8, 4], [4, 8], [4, 4]] {
        for (y, x) in [(0, 0), (0, 8), (8, 0), (8, 8)] {
            for (dy, dx) in
                (0..8).step_by(height).flat_map(|dy| (0..8).step_by(width).map(move |dx| (dy, dx)))
            {
                all.push([x + dx, y + dy, width, height]);
            }
        }
    }
    all
}

/// The number of the 8x8 block that contains the corner of a rectangle.
fn quad([x, y, _, _]: Rectangle) -> usize {
    x / 8 + y / 8 * 2
}
