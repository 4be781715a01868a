//! Prediction from reference frames (RFC 6386 section 18).

use super::macroblock::{Macroblock, Mode, Vector};
use super::tables::SIX_TAP;
use crate::Plane;

/// How samples between samples are computed.
#[derive(Clone, Copy, Debug)]
pub struct Interpolation {
    /// From two neighbours; otherwise from six.
    pub bilinear: bool,
    /// Chroma vectors lose their fraction.
    pub full_pixel_chroma: bool,
}

/// The decoded part of a plane of a reference frame. Outside it, its edges are repeated.
#[derive(Clone, Copy, Debug)]
struct Reference<'a> {
    samples: &'a [u8],
    stride: usize,
    width: usize,
    height: usize,
}

/// A block to be predicted: column and row of its first sample, and the vector to its reference in
/// eighths of a sample.
#[derive(Clone, Copy, Debug)]
struct Target {
    x: usize,
    y: usize,
    vector: (i32, i32),
}

/// Rows and columns before and after a block that the six-tap filter reads.
const BEFORE: usize = 2;
const AROUND: usize = 5;
/// Samples in a row of the buffers for a block and what is around it.
const STRIDE: usize = 32;

/// Predicts the macroblock at column `x`, row `y`, in macroblocks, of a picture of `width` x
/// `height` macroblocks.
pub fn predict(
    macroblock: &Macroblock,
    reference: &[Plane; 3],
    planes: &mut [Plane; 3],
    ((x, y), (width, height)): ((usize, usize), (usize, usize)),
    interpolation: Interpolation,
) {
    let [luma, chroma @ ..] = planes;
    let plane = |index: usize, size: usize| Reference {
        samples: &reference[index].data,
        stride: reference[index].width,
        width: reference[index].width.min(width * size),
        height: reference[index].height.min(height * size),
    };
    let luma_reference = plane(0, 16);
    let bilinear = interpolation.bilinear;
    let vectors = &macroblock.vectors;
    let (luma_x, luma_y) = (16 * x, 16 * y);
    let eighths = |vector: Vector| (2 * i32::from(vector.x), 2 * i32::from(vector.y));
    let at = |index: usize| Target {
        x: luma_x + 4 * (index % 4),
        y: luma_y + 4 * (index / 4),
        vector: eighths(vectors[index]),
    };
    match macroblock.mode {
        Mode::Split(true) => {
            for index in [0, 2, 8, 10] {
                predict_block::<8>(luma_reference, at(index), bilinear, luma);
            }
        }
        Mode::Split(false) => {
            for index in 0..16 {
                predict_block::<4>(luma_reference, at(index), bilinear, luma);
            }
        }
        _ => predict_block::<16>(luma_reference, at(0), bilinear, luma),
    }
    let whole = |component: i32| match interpolation.full_pixel_chroma {
        true => component & !7,
        false => component,
    };
    for (index, plane_out) in chroma.iter_mut().enumerate() {
        let reference = plane(1 + index, 8);
        if matches!(macroblock.mode, Mode::Split(_)) {
            for (quarter, first) in [0, 2, 8, 10].into_iter().enumerate() {
                let (vector_x, vector_y) = chroma_vector(vectors, first);
                let target = Target {
                    x: 8 * x + 4 * (quarter % 2),
                    y: 8 * y + 4 * (quarter / 2),
                    vector: (whole(vector_x), whole(vector_y)),
                };
                predict_block::<4>(reference, target, bilinear, plane_out);
            }
        } else {
            // A quarter of a luma sample is an eighth of a chroma sample.
            let Vector { x: vector_x, y: vector_y } = vectors[0];
            let vector = (whole(i32::from(vector_x)), whole(i32::from(vector_y)));
            let target = Target { x: 8 * x, y: 8 * y, vector };
            predict_block::<8>(reference, target, bilinear, plane_out);
        }
    }
}

/// The chroma vector of the four subblocks from subblock `first` on, in eighths of a chroma sample:
/// their mean, rounded to the nearest, halves away from zero (RFC 6386 18.1).
fn chroma_vector(vectors: &[Vector; 16], first: usize) -> (i32, i32) {
    let mean = |component: fn(&Vector) -> i16| {
        let sum: i32 =
            [0, 1, 4, 5].map(|at| i32::from(component(&vectors[first + at]))).iter().sum();
        (sum + 2 * sum.signum()) / 4
    };
    (mean(|vector| vector.x), mean(|vector| vector.y))
}

/// Predicts a block of N x N samples.
fn predict_block<const N: usize>(
    reference: Reference,
    Target { x, y, vector }: Target,
    bilinear: bool,
    out: &mut Plane,
) {
    let (x_fraction, y_fraction) = ((vector.0 & 7) as usize, (vector.1 & 7) as usize);
    let left = x as i32 + (vector.0 >> 3) - BEFORE as i32;
    let top = y as i32 + (vector.1 >> 3) - BEFORE as i32;
    let side = N + AROUND;
    let inside = left >= 0
        && top >= 0
        && left as usize + side <= reference.width
        && top as usize + side <= reference.height;
    let mut buffer = [0; (16 + AROUND) * STRIDE];
    let (source, stride) = if inside {
        (&reference.samples[top as usize * reference.stride + left as usize..], reference.stride)
    } else {
        copy_with_edges(reference, (left, top), side, &mut buffer);
        (&buffer[..], STRIDE)
    };
    let out_stride = out.width;
    let out = &mut out.data[y * out_stride + x..];
    match (bilinear, x_fraction, y_fraction) {
        (_, 0, 0) => {
            for row in 0..N {
                let start = (row + BEFORE) * stride + BEFORE;
                out[row * out_stride..][..N].copy_from_slice(&source[start..start + N]);
            }
        }
        (true, _, _) => {
            interpolate_bilinear::<N>((source, stride), (x_fraction, y_fraction), out, out_stride);
        }
        (false, _, 0) => {
            let source = &source[BEFORE * stride..];
            six_tap_rows::<N>((source, stride), x_fraction, (out, out_stride), N);
        }
        (false, 0, _) => {
            six_tap_columns::<N>((&source[BEFORE..], stride), y_fraction, (out, out_stride));
        }
        (false, _, _) => {
            let mut rows = [0; (16 + AROUND) * STRIDE];
            six_tap_rows::<N>((source, stride), x_fraction, (&mut rows, STRIDE), side);
            six_tap_columns::<N>((&rows, STRIDE), y_fraction, (out, out_stride));
        }
    }
}

/// Copies a square to the start of `buffer`, of which parts are outside the reference.
fn copy_with_edges(
    reference: Reference,
    (left, top): (i32, i32),
    side: usize,
    buffer: &mut [u8; (16 + AROUND) * STRIDE],
) {
    let (width, height) = (reference.width as i32, reference.height as i32);
    if width == 0 || height == 0 {
        return;
    }
    for (row, out) in buffer.chunks_exact_mut(STRIDE).take(side).enumerate() {
        let y = (top + row as i32).clamp(0, height - 1) as usize;
        let from = &reference.samples[y * reference.stride..][..reference.width];
        for (column, out) in out[..side].iter_mut().enumerate() {
            *out = from[(left + column as i32).clamp(0, width - 1) as usize];
        }
    }
}

/// The magnitudes of the taps. Taps 1 and 4 are negative or zero, the others positive or zero.
fn magnitudes(fraction: usize) -> [u16; 6] {
    SIX_TAP[fraction].map(i16::unsigned_abs)
}

/// One sample of the six-tap filter (RFC 6386 18.3). The sum of the positive products is at most
/// 160 * 255 + 64, so that 16 bits hold it.
#[inline(always)]
fn six_tap(taps: [u16; 6], samples: [u8; 6]) -> u8 {
    let product = |index: usize| taps[index] * u16::from(samples[index]);
    let positive = product(0) + product(2) + product(3) + product(5) + 64;
    let negative = product(1) + product(4);
    (positive.saturating_sub(negative) >> 7).min(255) as u8
}

/// Filters `count` rows along the row. The source starts two samples before the first output.
fn six_tap_rows<const N: usize>(
    (source, stride): (&[u8], usize),
    fraction: usize,
    (out, out_stride): (&mut [u8], usize),
    count: usize,
) {
    let taps = magnitudes(fraction);
    for row in 0..count {
        let source = &source[row * stride..][..N + AROUND];
        let out = &mut out[row * out_stride..][..N];
        for (column, out) in out.iter_mut().enumerate() {
            let at = |tap: usize| source[column + tap];
            *out = six_tap(taps, [at(0), at(1), at(2), at(3), at(4), at(5)]);
        }
    }
}

/// Filters N rows along the columns. The source starts two rows before the first output.
fn six_tap_columns<const N: usize>(
    (source, stride): (&[u8], usize),
    fraction: usize,
    (out, out_stride): (&mut [u8], usize),
) {
    let taps = magnitudes(fraction);
    for row in 0..N {
        let line = |tap: usize| &source[(row + tap) * stride..][..N];
        let [a, b, c, d, e, f] = [line(0), line(1), line(2), line(3), line(4), line(5)];
        let out = &mut out[row * out_stride..][..N];
        for (column, out) in out.iter_mut().enumerate() {
            *out =
                six_tap(taps, [a[column], b[column], c[column], d[column], e[column], f[column]]);
        }
    }
}

/// Interpolates along rows, then along columns (RFC 6386 18.3). The source starts two rows and
/// columns before the first output.
fn interpolate_bilinear<const N: usize>(
    (source, stride): (&[u8], usize),
    (x_fraction, y_fraction): (usize, usize),
    out: &mut [u8],
    out_stride: usize,
) {
    let mix = |first: u8, second: u8, fraction: u16| {
        ((u16::from(first) * (8 - fraction) + u16::from(second) * fraction + 4) >> 3) as u8
    };
    let mut rows = [0; 17 * STRIDE];
    for row in 0..N + 1 {
        let source = &source[(BEFORE + row) * stride + BEFORE..][..N + 1];
        let out = &mut rows[row * STRIDE..][..N];
        for (column, out) in out.iter_mut().enumerate() {
            *out = mix(source[column], source[column + 1], x_fraction as u16);
        }
    }
    for row in 0..N {
        let first = &rows[row * STRIDE..][..N];
        let second = &rows[(row + 1) * STRIDE..][..N];
        let out = &mut out[row * out_stride..][..N];
        for (column, out) in out.iter_mut().enumerate() {
            *out = mix(first[column], second[column], y_fraction as u16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reference, Target, predict_block};
    use crate::Plane;
    use crate::vp8::tables::SIX_TAP;

    /// Taps of both filters by eighths, from two samples before to three after.
    fn taps(bilinear: bool, fraction: usize) -> [i32; 6] {
        if bilinear {
            let second = 16 * fraction as i32;
            [0, 0, 128 - second, second, 0, 0]
        } else {
            SIX_TAP[fraction].map(i32::from)
        }
    }

    /// Sample (`x`, `y`), moved by the vector, written from RFC 6386 18.3: filtered along the row,
    /// rounded, limited, then along the column.
    fn sample(plane: &Plane, (x, y): (i32, i32), vector: (i32, i32), bilinear: bool) -> u8 {
        let filter = |taps: [i32; 6], samples: [i32; 6]| {
            let sum: i32 = taps.iter().zip(samples).map(|(tap, sample)| tap * sample).sum();
            ((sum + 64) >> 7).clamp(0, 255)
        };
        let (x, y) = (x + vector.0.div_euclid(8), y + vector.1.div_euclid(8));
        let row = |y: i32| {
            let at = |x: i32| {
                let x = x.clamp(0, plane.width as i32 - 1) as usize;
                let y = y.clamp(0, plane.height as i32 - 1) as usize;
                i32::from(plane.data[y * plane.width + x])
            };
            let samples = [-2, -1, 0, 1, 2, 3].map(|offset| at(x + offset));
            filter(taps(bilinear, vector.0.rem_euclid(8) as usize), samples)
        };
        let samples = [-2, -1, 0, 1, 2, 3].map(|offset| row(y + offset));
        filter(taps(bilinear, vector.1.rem_euclid(8) as usize), samples) as u8
    }

    fn check<const N: usize>(random: &mut fastrand::Rng) {
        // Extreme samples, so that sums reach their limits.
        let extreme = random.bool();
        let mut plane = Plane::new(48, 32, 0);
        for sample in &mut plane.data {
            *sample = if extreme { 255 * random.u8(..2) } else { random.u8(..) };
        }
        let reference = Reference {
            samples: &plane.data,
            stride: plane.width,
            width: plane.width,
            height: plane.height,
        };
        let (x, y) = (random.usize(..48 / N) * N, random.usize(..32 / N) * N);
        let vector = match random.u8(..4) {
            0 => (random.i32(-40000..40000), random.i32(-40000..40000)),
            _ => (random.i32(-300..300), random.i32(-300..300)),
        };
        let bilinear = random.bool();
        let mut out = Plane::new(48, 32, 0);
        predict_block::<N>(reference, Target { x, y, vector }, bilinear, &mut out);
        for (at, &got) in out.data.iter().enumerate() {
            let (column, row) = (at % 48, at / 48);
            let inside = (x..x + N).contains(&column) && (y..y + N).contains(&row);
            let at = (column as i32, row as i32);
            let want = if inside { sample(&plane, at, vector, bilinear) } else { 0 };
            assert_eq!(got, want, "{N}: {at:?} {vector:?} bilinear {bilinear}");
        }
    }

    /// Oracle: the formula of one sample, applied to each.
    #[test]
    fn blocks_are_filtered_sample_by_sample() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            check::<4>(&mut random);
            check::<8>(&mut random);
            check::<16>(&mut random);
        }
    }
}
