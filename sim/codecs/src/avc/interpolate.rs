//! Interpolation of fractional samples (8.4.2.2).

use crate::PlaneRef;

/// Largest width and height of a block.
const SIZE: usize = 16;
/// Rows of a block with the neighbours of the six-tap filter: two before, three after.
const ROWS: usize = SIZE + 5;
/// Stride of a block with its neighbours, copied out of the plane.
const BORDER_STRIDE: usize = 24;

/// Predicts a block of luma (8.4.2.2.1). `at`: x and y of its first sample in `reference`, in
/// quarter samples, that is four times the position of the block plus the vector. `size`: width of
/// 4, 8 or 16 and height of up to 16. Writes to the start of `out`.
pub fn luma(
    reference: PlaneRef<'_>,
    at: (i32, i32),
    size: (usize, usize),
    out: &mut [u8],
    stride: usize,
) {
    let height = size.1.min(SIZE);
    match size.0 {
        4 => luma_of_width::<4>(reference, at, height, out, stride),
        8 => luma_of_width::<8>(reference, at, height, out, stride),
        _ => luma_of_width::<16>(reference, at, height, out, stride),
    }
}

fn luma_of_width<const W: usize>(
    reference: PlaneRef<'_>,
    at: (i32, i32),
    height: usize,
    out: &mut [u8],
    stride: usize,
) {
    let (x, y) = ((at.0 >> 2).saturating_sub(2), (at.1 >> 2).saturating_sub(2));
    let (columns, rows) = (W + 5, height + 5);
    let mut copy = [0; ROWS * BORDER_STRIDE];
    let (source, source_stride) =
        with_border(reference, (x, y), (columns, rows), &mut copy, BORDER_STRIDE);
    let source = Source { data: source, stride: source_stride };
    let out = out.chunks_mut(stride.max(1)).filter_map(|row| row.first_chunk_mut::<W>());
    quarter_samples(source, (at.0 & 3, at.1 & 3), out.take(height));
}

/// The block of `size` at `at` in `reference`, as a slice and its stride: inside `reference` if it
/// is all there, else a copy with repeated edges.
#[inline]
fn with_border<'a>(
    reference: PlaneRef<'a>,
    (x, y): (i32, i32),
    (width, height): (usize, usize),
    copy: &'a mut [u8],
    copy_stride: usize,
) -> (&'a [u8], usize) {
    let inside = x >= 0
        && y >= 0
        && x as usize + width <= reference.width
        && y as usize + height <= reference.height;
    if inside && let Some(data) = reference.data.get(y as usize * reference.stride + x as usize..) {
        return (data, reference.stride);
    }
    reference.block(x, y, copy_stride, &mut copy[..height * copy_stride]);
    (copy, copy_stride)
}

/// A block with two rows and columns before it.
#[derive(Clone, Copy)]
struct Source<'a> {
    data: &'a [u8],
    stride: usize,
}

impl Source<'_> {
    /// `N` samples of row `row` from column `column` on, both counted from the first sample of the
    /// border.
    #[inline(always)]
    fn row<const N: usize>(&self, column: usize, row: usize) -> &[u8; N] {
        let start = row * self.stride + column;
        self.data.get(start..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; N])
    }
}

/// The six-tap filter without rounding (8-241, 8-242).
#[inline(always)]
fn six(samples: [i16; 6]) -> i16 {
    let [e, f, g, h, i, j] = samples;
    e + j - 5 * (f + i) + 20 * (g + h)
}

/// Rounds a sum of one filter (8-243).
#[inline(always)]
fn round(sum: i16) -> u8 {
    ((sum + 16) >> 5).clamp(0, 255) as u8
}

#[inline(always)]
fn mean(a: u8, b: u8) -> u8 {
    (u16::from(a) + u16::from(b)).div_ceil(2) as u8
}

/// Filters a row across, without rounding. `row`: counted from the first row of the border.
#[inline(always)]
fn across_sums<const W: usize>(source: Source<'_>, row: usize) -> [i16; W] {
    let taps: [&[u8; W]; 6] = [0, 1, 2, 3, 4, 5].map(|column| source.row(column, row));
    std::array::from_fn(|x| six(taps.map(|tap| i16::from(tap[x]))))
}

/// Half samples between columns: b of row `row` (s of the row above).
#[inline(always)]
fn across<const W: usize>(source: Source<'_>, row: usize) -> [u8; W] {
    across_sums(source, row).map(round)
}

/// Half samples between rows `row` and `row + 1`, at column `column`: h, or m at the next column.
#[inline(always)]
fn down<const W: usize>(source: Source<'_>, column: usize, row: usize) -> [u8; W] {
    let taps: [&[u8; W]; 6] = [0, 1, 2, 3, 4, 5].map(|tap| source.row(column, row + tap - 2));
    std::array::from_fn(|x| round(six(taps.map(|tap| i16::from(tap[x])))))
}

/// The mean of two rows, into `row`.
#[inline(always)]
fn means<const W: usize>(row: &mut [u8; W], a: &[u8; W], b: &[u8; W]) {
    *row = std::array::from_fn(|x| mean(a[x], b[x]));
}

/// Table 8-12: rows of samples at the fraction (`x`, `y`) of a sample. Letters are those of figure
/// 8-4.
fn quarter_samples<'a, const W: usize>(
    source: Source<'_>,
    (x, y): (i32, i32),
    out: impl Iterator<Item = &'a mut [u8; W]>,
) {
    let out = out.enumerate().map(|(row, out)| (row + 2, out));
    // The whole or half sample on the right of, or below, the fraction 3; on the left of, or above,
    // the fraction 1.
    let (right, below) = (2 + (x as usize >> 1), y as usize >> 1);
    match (x, y) {
        (0, 0) => out.for_each(|(row, out)| *out = *source.row(2, row)),
        (2, 0) => out.for_each(|(row, out)| *out = across(source, row)),
        (_, 0) => out.for_each(|(row, out)| {
            means(out, &across(source, row), source.row(right, row));
        }),
        (0, 2) => out.for_each(|(row, out)| *out = down(source, 2, row)),
        (0, _) => out.for_each(|(row, out)| {
            means(out, &down(source, 2, row), source.row(2, row + below));
        }),
        (2, _) | (_, 2) => middle(source, (x, y), out),
        _ => out.for_each(|(row, out)| {
            means(out, &across(source, row + below), &down(source, right, row));
        }),
    }
}

/// The fractions that need j, the half sample in both directions: f, i, j, k, q.
fn middle<'a, const W: usize>(
    source: Source<'_>,
    (x, y): (i32, i32),
    out: impl Iterator<Item = (usize, &'a mut [u8; W])>,
) {
    let (right, below) = (2 + (x as usize >> 1), y as usize >> 1);
    // Sums of the rows around the current one, filtered across.
    let mut sums: [[i16; W]; 6] = [0, 0, 1, 2, 3, 4].map(|row| across_sums(source, row));
    for (row, out) in out {
        sums.rotate_left(1);
        sums[5] = across_sums(source, row + 3);
        let j: [u8; W] = std::array::from_fn(|x| {
            let [e, f, g, h, i, j] = [0, 1, 2, 3, 4, 5].map(|tap| i32::from(sums[tap][x]));
            ((e + j - 5 * (f + i) + 20 * (g + h) + 512) >> 10).clamp(0, 255) as u8
        });
        match (x, y) {
            (2, 2) => *out = j,
            (2, _) => means(out, &j, &sums[2 + below].map(round)),
            _ => means(out, &j, &down(source, right, row)),
        }
    }
}

/// Predicts a block of Cb or Cr (8.4.2.2.2), 4:2:0. `at`: x and y of its first sample in
/// `reference`, in eighths of a sample, that is eight times the position of the block plus the
/// vector of luma, with [`chroma_offset`] for fields. `size`: width of 2, 4 or 8 and height of up
/// to 8. Writes to the start of `out`.
pub fn chroma(
    reference: PlaneRef<'_>,
    at: (i32, i32),
    size: (usize, usize),
    out: &mut [u8],
    stride: usize,
) {
    let height = size.1.min(8);
    match size.0 {
        2 => chroma_of_width::<2>(reference, at, height, out, stride),
        4 => chroma_of_width::<4>(reference, at, height, out, stride),
        _ => chroma_of_width::<8>(reference, at, height, out, stride),
    }
}

fn chroma_of_width<const W: usize>(
    reference: PlaneRef<'_>,
    at: (i32, i32),
    height: usize,
    out: &mut [u8],
    stride: usize,
) {
    let mut copy = [0; 9 * SIZE];
    let (source, source_stride) =
        with_border(reference, (at.0 >> 3, at.1 >> 3), (W + 1, height + 1), &mut copy, SIZE);
    let source = Source { data: source, stride: source_stride };
    let (x, y) = ((at.0 & 7) as u16, (at.1 & 7) as u16);
    let weights = [(8 - x) * (8 - y), x * (8 - y), (8 - x) * y, x * y];
    let out = out.chunks_mut(stride.max(1)).filter_map(|row| row.first_chunk_mut::<W>());
    for (row, out) in out.take(height).enumerate() {
        let samples: [&[u8; W]; 4] =
            [(0, row), (1, row), (0, row + 1), (1, row + 1)].map(|(x, y)| source.row(x, y));
        *out = std::array::from_fn(|x| {
            let sum: u16 = (0..4).map(|of| weights[of] * u16::from(samples[of][x])).sum();
            ((sum + 32) >> 6) as u8
        });
    }
}

/// What to add to the vertical component of a vector for chroma, if fields are predicted from fields
/// (table 8-9), in the units of [`chroma`]. `current` and `reference`: true for bottom fields.
pub fn chroma_offset(current: bool, reference: bool) -> i32 {
    2 * (i32::from(current) - i32::from(reference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plane, Structure};

    /// The samples around a whole sample of luma, with the letters of figure 8-4.
    struct Letters<'a> {
        plane: PlaneRef<'a>,
        x: i32,
        y: i32,
    }

    impl Letters<'_> {
        /// A whole sample at an offset from G.
        fn whole(&self, dx: i32, dy: i32) -> i32 {
            self.plane.sample(self.x.saturating_add(dx), self.y.saturating_add(dy)).into()
        }

        fn six(taps: [i32; 6]) -> i32 {
            taps[0] - 5 * taps[1] + 20 * taps[2] + 20 * taps[3] - 5 * taps[4] + taps[5]
        }

        /// b1 of the row at `dy`.
        fn b1(&self, dy: i32) -> i32 {
            Self::six([-2, -1, 0, 1, 2, 3].map(|dx| self.whole(dx, dy)))
        }

        /// h1 of the column at `dx`.
        fn h1(&self, dx: i32) -> i32 {
            Self::six([-2, -1, 0, 1, 2, 3].map(|dy| self.whole(dx, dy)))
        }

        /// Equations 8-241 to 8-262 and table 8-12.
        fn at(&self, fraction: (i32, i32)) -> i32 {
            let half = |sum: i32| ((sum + 16) >> 5).clamp(0, 255);
            let (b, h) = (half(self.b1(0)), half(self.h1(0)));
            let (s, m) = (half(self.b1(1)), half(self.h1(1)));
            let j1 = Self::six([-2, -1, 0, 1, 2, 3].map(|dx| self.h1(dx)));
            let j = ((j1 + 512) >> 10).clamp(0, 255);
            let (g, right, below) = (self.whole(0, 0), self.whole(1, 0), self.whole(0, 1));
            let mean = |a: i32, b: i32| (a + b + 1) >> 1;
            match fraction {
                (0, 0) => g,
                (0, 1) => mean(g, h),
                (0, 2) => h,
                (0, 3) => mean(below, h),
                (1, 0) => mean(g, b),
                (1, 1) => mean(b, h),
                (1, 2) => mean(h, j),
                (1, 3) => mean(h, s),
                (2, 0) => b,
                (2, 1) => mean(b, j),
                (2, 2) => j,
                (2, 3) => mean(j, s),
                (3, 0) => mean(b, right),
                (3, 1) => mean(b, m),
                (3, 2) => mean(j, m),
                _ => mean(s, m),
            }
        }
    }

    fn random_plane(random: &mut fastrand::Rng) -> Plane {
        let (width, height) = (random.usize(1..50), random.usize(2..50));
        // Extreme samples show where a sum is cut.
        let extreme = random.bool();
        let sample = |random: &mut fastrand::Rng| match extreme {
            true => 255 * random.u8(0..2),
            false => random.u8(..),
        };
        let data = (0..width * height).map(|_| sample(random)).collect();
        Plane { width, height, data }
    }

    fn random_position(random: &mut fastrand::Rng, size: usize, unit: i32) -> i32 {
        match random.u8(0..10) {
            0 => random.i32(..),
            _ => random.i32(-24 * unit..(size as i32 + 8) * unit),
        }
    }

    /// Oracle: the equations of 8.4.2.2.1, sample by sample.
    #[test]
    fn luma_follows_the_equations() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..3000 {
            let plane = random_plane(&mut random);
            let structure = [Structure::Frame, Structure::Top, Structure::Bottom][round % 3];
            let view = plane.view(structure);
            let size = ([4, 8, 16][random.usize(0..3)], [4, 8, 16][random.usize(0..3)]);
            let at = (
                random_position(&mut random, view.width, 4),
                random_position(&mut random, view.height, 4),
            );
            let mut out = [7; 16 * 20];
            luma(view, at, size, &mut out, 20);
            for (index, &got) in out.iter().enumerate() {
                let (x, y) = (index % 20, index / 20);
                let inside = x < size.0 && y < size.1;
                let letters = Letters {
                    plane: view,
                    x: (at.0 >> 2).saturating_add(x as i32),
                    y: (at.1 >> 2).saturating_add(y as i32),
                };
                let want = if inside { letters.at((at.0 & 3, at.1 & 3)) } else { 7 };
                assert_eq!(i32::from(got), want, "({x}, {y}) of {size:?} at {at:?}");
            }
        }
    }

    /// Oracle: equation 8-266, sample by sample.
    #[test]
    fn chroma_follows_the_equation() {
        let mut random = fastrand::Rng::with_seed(2);
        for round in 0..3000 {
            let plane = random_plane(&mut random);
            let structure = [Structure::Frame, Structure::Top, Structure::Bottom][round % 3];
            let view = plane.view(structure);
            let size = ([2, 4, 8][random.usize(0..3)], [2, 4, 8][random.usize(0..3)]);
            let at = (
                random_position(&mut random, view.width, 8),
                random_position(&mut random, view.height, 8),
            );
            let mut out = [7; 8 * 10];
            chroma(view, at, size, &mut out, 10);
            for (index, &got) in out.iter().enumerate() {
                let (x, y) = (index % 10, index / 10);
                let sample = |dx: i32, dy: i32| {
                    let x = (at.0 >> 3).saturating_add(x as i32 + dx);
                    let y = (at.1 >> 3).saturating_add(y as i32 + dy);
                    i32::from(view.sample(x, y))
                };
                let (u, v) = (at.0 & 7, at.1 & 7);
                let want = ((8 - u) * (8 - v) * sample(0, 0)
                    + u * (8 - v) * sample(1, 0)
                    + (8 - u) * v * sample(0, 1)
                    + u * v * sample(1, 1)
                    + 32)
                    >> 6;
                let inside = x < size.0 && y < size.1;
                assert_eq!(i32::from(got), if inside { want } else { 7 });
            }
        }
    }

    /// An empty reference and small outputs are no reason to stop.
    #[test]
    fn damaged_arguments_do_not_panic() {
        let empty = Plane::default();
        let plane = Plane::new(16, 16, 3);
        for at in [i32::MIN, -1, 0, 5, i32::MAX] {
            for reference in [empty.view(Structure::Bottom), plane.view(Structure::Top)] {
                luma(reference, (at, at), (16, 99), &mut [0; 64], 16);
                luma(reference, (at, 0), (5, 4), &mut [], 0);
                chroma(reference, (at, at), (8, 99), &mut [0; 64], 8);
                chroma(reference, (0, at), (7, 4), &mut [], 0);
            }
        }
        assert_eq!([chroma_offset(false, true), chroma_offset(true, false)], [-2, 2]);
    }
}
