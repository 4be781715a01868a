//! Interpolation of reference samples (8.3.6.5).

use super::compensation::{Reference, Rows, clip};

/// A filter for a fraction of 1 to 3 quarter samples: its taps and the shift of its result.
struct Filter {
    taps: [i32; 4],
    shift: u32,
}

/// The bicubic filters, by fraction. The first one is not used.
const BICUBIC: [Filter; 4] = [
    Filter { taps: [0, 1, 0, 0], shift: 0 },
    Filter { taps: [-4, 53, 18, -3], shift: 6 },
    Filter { taps: [-1, 9, 9, -1], shift: 4 },
    Filter { taps: [-3, 18, 53, -4], shift: 6 },
];

/// What is predicted, and how.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Plane: 0 Y, 1 Cb, 2 Cr.
    pub(super) plane: usize,
    /// Columns and rows.
    pub(super) size: usize,
    /// Column and row of the reference, without fraction.
    pub(super) position: (i32, i32),
    /// Quarter samples, 0 to 3 in x and y.
    pub(super) fraction: (i32, i32),
    /// Rows of the reference.
    pub(super) rows: Rows,
    /// RNDCTRL.
    pub(super) rounding: bool,
    /// The mean of the prediction and the samples there is the result.
    pub(super) average: bool,
}

/// Samples of a prediction and where it goes in them.
pub(super) struct Target<'a> {
    /// From the first sample of the block on.
    pub(super) samples: &'a mut [u8],
    /// From row to row of the block.
    pub(super) stride: usize,
}

impl Target<'_> {
    /// Stores a row of a prediction.
    #[inline]
    fn row(&mut self, row: usize, average: bool, samples: impl Iterator<Item = u8>) {
        let out = &mut self.samples[row * self.stride..];
        for (out, sample) in out.iter_mut().zip(samples) {
            *out = if average {
                ((u16::from(*out) + u16::from(sample) + 1) >> 1) as u8
            } else {
                sample
            };
        }
    }
}

/// Predicts by the bilinear filter: chroma always, luma in the bilinear mode (8.3.6.5.2).
pub(super) fn bilinear(reference: &Reference<'_>, block: &Block, target: &mut Target<'_>) {
    let size = block.size;
    let width = size + 1;
    let mut buffer = [0; 17 * 17];
    let source = &mut buffer[..width * width];
    reference.read(block.plane, block.position, block.rows, width, source);
    let (x, y) = block.fraction;
    let weights = [(4 - x) * (4 - y), x * (4 - y), (4 - x) * y, x * y];
    let round = 8 - i32::from(block.rounding);
    for row in 0..size {
        let (upper, lower) = source[row * width..].split_at(width);
        let samples = upper.windows(2).zip(lower.windows(2)).map(|(upper, lower)| {
            let sum = weights[0] * i32::from(upper[0])
                + weights[1] * i32::from(upper[1])
                + weights[2] * i32::from(lower[0])
                + weights[3] * i32::from(lower[1]);
            ((sum + round) >> 4) as u8
        });
        target.row(row, block.average, samples);
    }
}

/// Predicts luma by the bicubic filters (8.3.6.5.1).
pub(super) fn bicubic(reference: &Reference<'_>, block: &Block, target: &mut Target<'_>) {
    let size = block.size;
    let width = size + 3;
    let mut buffer = [0; 19 * 19];
    let source = &mut buffer[..width * width];
    let position = (block.position.0.saturating_sub(1), block.position.1);
    let step = if matches!(block.rows, Rows::EverySecond) { 2 } else { 1 };
    let position = (position.0, position.1.saturating_sub(step));
    reference.read(block.plane, position, block.rows, width, source);
    let rounding = i32::from(block.rounding);
    let (horizontal, vertical) = block.fraction;
    let across = &BICUBIC[horizontal as usize];
    let down = &BICUBIC[vertical as usize];
    match (horizontal > 0, vertical > 0) {
        (false, false) => {
            for row in 0..size {
                let line = &source[(row + 1) * width + 1..][..size];
                target.row(row, block.average, line.iter().copied());
            }
        }
        (true, false) => {
            let round = (1 << (across.shift - 1)) - rounding;
            for row in 0..size {
                let line = &source[(row + 1) * width..][..width];
                let samples = line.windows(4).map(|four| {
                    let sum = filter(&across.taps, four, 1);
                    clip((sum + round) >> across.shift)
                });
                target.row(row, block.average, samples);
            }
        }
        (false, true) => {
            let round = (1 << (down.shift - 1)) - 1 + rounding;
            for row in 0..size {
                let from = &source[row * width + 1..];
                let samples = (0..size).map(|column| {
                    let sum = filter(&down.taps, &from[column..], width);
                    clip((sum + round) >> down.shift)
                });
                target.row(row, block.average, samples);
            }
        }
        (true, true) => {
            // Both shifts together are 7 bits more than the first one, whatever the filters.
            let shift = (across.shift + down.shift - 7).max(1);
            let round = (1 << (shift - 1)) - 1 + rounding;
            let mut line = [0i32; 19];
            for row in 0..size {
                let from = &source[row * width..];
                for (column, value) in line[..width].iter_mut().enumerate() {
                    *value = (filter(&down.taps, &from[column..], width) + round) >> shift;
                }
                let samples = line[..width].windows(4).map(|four| {
                    let sum: i32 = across.taps.iter().zip(four).map(|(tap, n)| tap * n).sum();
                    clip((sum + 64 - rounding) >> 7)
                });
                target.row(row, block.average, samples);
            }
        }
    }
}

/// The sum of four samples that are `stride` apart, weighted.
#[inline]
fn filter(taps: &[i32; 4], samples: &[u8], stride: usize) -> i32 {
    taps[0] * i32::from(samples[0])
        + taps[1] * i32::from(samples[stride])
        + taps[2] * i32::from(samples[2 * stride])
        + taps[3] * i32::from(samples[3 * stride])
}
