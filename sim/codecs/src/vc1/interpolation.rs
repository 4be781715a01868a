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

/// Predicts by the bilinear filter: chroma always, luma in the bilinear mode (8.3.6.5).
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

/// Predicts luma by the bicubic filters (8.3.6.5).
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

#[cfg(test)]
mod tests {
    use super::{Block, Rows, Target, bicubic, bilinear};
    use crate::Frame;
    use crate::vc1::compensation::{Lut, Reference};
    use crate::vc1::{Compensation, Parameters};

    /// A sample of the reference; those outside are those of the edge.
    fn at(frame: &Frame, plane: usize, x: i32, y: i32) -> i32 {
        let plane = &frame.planes[plane];
        let x = x.clamp(0, plane.width as i32 - 1) as usize;
        let y = y.clamp(0, plane.height as i32 - 1) as usize;
        plane.data[y * plane.width + x].into()
    }

    /// Oracle: the formulas of 8.3.6.5, sample by sample: the vertical filter first, then the
    /// horizontal one; RNDCTRL lowers the one and raises the other.
    fn defined_bicubic(get: impl Fn(i32, i32) -> i32, fraction: (i32, i32), rounding: i32) -> i32 {
        let taps = |n: i32| match n {
            1 => ([-4, 53, 18, -3], 6),
            2 => ([-1, 9, 9, -1], 4),
            _ => ([-3, 18, 53, -4], 6),
        };
        let column = |x: i32, taps: [i32; 4]| -> i32 {
            (-1..3).map(|y| taps[(y + 1) as usize] * get(x, y)).sum()
        };
        let value = match fraction {
            (0, 0) => get(0, 0),
            (0, y) => {
                let (taps, shift) = taps(y);
                (column(0, taps) + (1 << (shift - 1)) - 1 + rounding) >> shift
            }
            (x, 0) => {
                let (taps, shift) = taps(x);
                let sum: i32 = (-1..3).map(|n| taps[(n + 1) as usize] * get(n, 0)).sum();
                (sum + (1 << (shift - 1)) - rounding) >> shift
            }
            (x, y) => {
                let ((across, a), (down, b)) = (taps(x), taps(y));
                let shift = a + b - 7;
                let line = |n: i32| (column(n, down) + (1 << (shift - 1)) - 1 + rounding) >> shift;
                let sum: i32 = (-1..3).map(|n| across[(n + 1) as usize] * line(n)).sum();
                (sum + 64 - rounding) >> 7
            }
        };
        value.clamp(0, 255)
    }

    #[test]
    fn predictions_are_the_formulas() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut frame = Frame::new(48, 48, (2, 2), 0);
        for plane in &mut frame.planes {
            plane.data.fill_with(|| random.u8(..));
        }
        let parameters = Parameters { width_in_mbs: 3, height_in_mbs: 3, ..Default::default() };
        let luts = Lut::of_reference(&parameters, &Compensation::default());
        let reference = Reference::new(Some(&frame), &parameters, false, &luts);
        for _ in 0..400 {
            let block = Block {
                plane: random.usize(0..3),
                size: [4, 8, 16][random.usize(0..3)],
                position: (random.i32(-30..60), random.i32(-30..60)),
                fraction: (random.i32(0..4), random.i32(0..4)),
                rows: Rows::Frame,
                rounding: random.bool(),
                average: random.bool(),
            };
            let before: [u8; 256] = std::array::from_fn(|_| random.u8(..));
            let (mut cubic, mut linear) = (before, before);
            bicubic(&reference, &block, &mut Target { samples: &mut cubic, stride: 16 });
            bilinear(&reference, &block, &mut Target { samples: &mut linear, stride: 16 });
            let rounding = i32::from(block.rounding);
            let (fx, fy) = block.fraction;
            for n in 0..block.size * block.size {
                let (x, y) = (n % block.size, n / block.size);
                let get = |dx: i32, dy: i32| {
                    let x = block.position.0 + x as i32 + dx;
                    at(&frame, block.plane, x, block.position.1 + y as i32 + dy)
                };
                let mean = |value: i32| {
                    let there = i32::from(before[y * 16 + x]);
                    if block.average { (there + value + 1) / 2 } else { value }
                };
                let upper = get(0, 0) * (4 - fx) + get(1, 0) * fx;
                let lower = get(0, 1) * (4 - fx) + get(1, 1) * fx;
                let want = (upper * (4 - fy) + lower * fy + 8 - rounding) >> 4;
                assert_eq!(i32::from(linear[y * 16 + x]), mean(want), "{:?}", block.fraction);
                let want = defined_bicubic(get, block.fraction, rounding);
                assert_eq!(i32::from(cubic[y * 16 + x]), mean(want), "{:?}", block.fraction);
            }
        }
    }

    /// Fields continue with their own rows; a frame continues with its last row.
    #[test]
    fn edges_are_those_of_fields_or_frames() {
        let mut frame = Frame::new(16, 16, (2, 2), 0);
        for (row, samples) in frame.planes[0].data.chunks_exact_mut(16).enumerate() {
            samples.fill(row as u8);
        }
        let parameters = Parameters { width_in_mbs: 1, height_in_mbs: 1, ..Default::default() };
        let luts = Lut::of_reference(&parameters, &Compensation::default());
        let rows = |interlaced: bool, y: i32, rows: Rows| {
            let reference = Reference::new(Some(&frame), &parameters, interlaced, &luts);
            let mut out = [0; 4];
            reference.read(0, (3, y), rows, 1, &mut out);
            out
        };
        assert_eq!(rows(false, -2, Rows::Frame), [0, 0, 0, 1]);
        assert_eq!(rows(true, -3, Rows::Frame), [1, 0, 1, 0]);
        assert_eq!(rows(true, 14, Rows::Frame), [14, 15, 14, 15]);
        assert_eq!(rows(true, 11, Rows::EverySecond), [11, 13, 15, 15]);
        assert_eq!(rows(true, 6, Rows::Field(0)), [12, 14, 14, 14]);
        assert_eq!(rows(false, 6, Rows::Field(0)), [12, 14, 15, 15]);
        assert_eq!(rows(false, -2, Rows::Field(1)), [0, 0, 1, 3]);
    }
}
