//! Interpolation of fractional samples (8.4.2.2).
//!
//! A block is copied with the neighbours that its filter needs. The copy has no padding between
//! rows, so a filter is one loop over all its samples. The loop also filters across the ends of
//! rows: those results are not used, and a loop without them would be slower.

use crate::PlaneRef;

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
    let height = size.1.min(16);
    match size.0 {
        4 => luma_of_width::<4, 9, { 9 * 21 }>(reference, at, height, out, stride),
        8 => luma_of_width::<8, 13, { 13 * 21 }>(reference, at, height, out, stride),
        _ => luma_of_width::<16, 21, { 21 * 21 }>(reference, at, height, out, stride),
    }
}

/// [`luma`] for blocks of `W` columns, which are `S` columns with their neighbours: two before and
/// three after. `N`: samples of the highest block with its neighbours.
fn luma_of_width<const W: usize, const S: usize, const N: usize>(
    reference: PlaneRef<'_>,
    at: (i32, i32),
    height: usize,
    out: &mut [u8],
    stride: usize,
) {
    let out = out.chunks_mut(stride.max(1)).filter_map(|row| row.first_chunk_mut::<W>());
    let out = out.take(height);
    let (x, y) = (at.0 >> 2, at.1 >> 2);
    if (at.0 & 3, at.1 & 3) == (0, 0) {
        copy_block(reference, (x, y), height, out);
        return;
    }
    let mut rows = [[0; S]; 21];
    let first = (x.saturating_sub(2), y.saturating_sub(2));
    copy_block(reference, first, height + 5, rows.iter_mut());
    let mut samples = [0; N];
    quarter_samples(rows.as_flattened(), S, height, (at.0 & 3, at.1 & 3), &mut samples);
    for (out, row) in out.zip(samples.chunks_exact(S)) {
        out.copy_from_slice(&row[..W]);
    }
}

/// Copies `height` rows at (`x`, `y`). Coordinates outside the plane select the nearest sample of
/// its edge.
#[inline]
fn copy_block<'a, const S: usize>(
    reference: PlaneRef<'_>,
    (x, y): (i32, i32),
    height: usize,
    out: impl Iterator<Item = &'a mut [u8; S]>,
) {
    let inside = x >= 0
        && y >= 0
        && x as usize + S <= reference.width
        && y as usize + height <= reference.height;
    if inside {
        let start = y as usize * reference.stride + x as usize;
        for (row, out) in out.take(height).enumerate() {
            let row = reference.data.get(start + row * reference.stride..).unwrap_or_default();
            if let Some(row) = row.first_chunk() {
                *out = *row;
            }
        }
        return;
    }
    // Columns before the plane, and those before its end.
    let before = x.saturating_neg().clamp(0, S as i32) as usize;
    let end = (reference.width as i32).saturating_sub(x).clamp(before as i32, S as i32) as usize;
    let first = x.clamp(0, reference.width as i32) as usize;
    for (row, out) in (0..).zip(out.take(height)) {
        let y = y.saturating_add(row).min(reference.height as i32 - 1).max(0) as usize;
        let row = reference.data.get(y * reference.stride..).unwrap_or_default();
        let Some(row @ [left, .., right] | row @ [left @ right]) = row.get(..reference.width)
        else {
            continue;
        };
        out[..before].fill(*left);
        out[before..end].copy_from_slice(&row[first..first + end - before]);
        out[end..].fill(*right);
    }
}

/// The six-tap filter without rounding.
#[inline(always)]
fn six([e, f, g, h, i, j]: [u8; 6]) -> i16 {
    let sum = |a: u8, b: u8| i16::from(a) + i16::from(b);
    sum(e, j) - 5 * sum(f, i) + 20 * sum(g, h)
}

/// The six slices of `out.len()` elements whose first elements are `distance` apart.
#[inline(always)]
fn taps<T>(source: &[T], distance: usize, count: usize) -> [&[T]; 6] {
    [0, 1, 2, 3, 4, 5].map(|tap| &source[tap * distance..][..count])
}

/// Filters without rounding: across, in a row.
#[inline]
fn sums(source: &[u8], out: &mut [i16]) {
    let [e, f, g, h, i, j] = taps(source, 1, out.len());
    for (at, out) in out.iter_mut().enumerate() {
        *out = six([e[at], f[at], g[at], h[at], i[at], j[at]]);
    }
}

/// Rounds the sum of one filter.
#[inline(always)]
fn round(sum: i16) -> u8 {
    ((sum + 16) >> 5).clamp(0, 255) as u8
}

/// Half samples: between columns with a `distance` of 1, else between rows of that stride.
#[inline]
fn halves(source: &[u8], distance: usize, out: &mut [u8]) {
    let [e, f, g, h, i, j] = taps(source, distance, out.len());
    for (at, out) in out.iter_mut().enumerate() {
        *out = round(six([e[at], f[at], g[at], h[at], i[at], j[at]]));
    }
}

/// Half samples in both directions, j, from the sums of a filter across.
#[inline]
fn middles(sums: &[i16], stride: usize, out: &mut [u8]) {
    let [e, f, g, h, i, j] = taps(sums, stride, out.len());
    for (at, out) in out.iter_mut().enumerate() {
        let (outer, inner, centre) = (e[at] + j[at], f[at] + i[at], g[at] + h[at]);
        // (outer - 5 * inner + 20 * centre) >> 4, by steps that need no more than 16 bits. Shifts
        // round down, so the steps lose nothing. Where the sum saturates, the sample does too.
        let quarter = ((outer - inner) >> 2) - inner;
        let sixteenth = (quarter.saturating_add(centre) >> 2) + centre;
        *out = ((sixteenth + 32) >> 6).clamp(0, 255) as u8;
    }
}

/// `out` becomes the mean of itself and of `other`, rounded up.
#[inline]
fn average(out: &mut [u8], other: &[u8]) {
    for (out, &other) in out.iter_mut().zip(other) {
        *out = (u16::from(*out) + u16::from(other)).div_ceil(2) as u8;
    }
}

/// The samples at the fraction (`x`, `y`) of whole samples. `source`: a block with its
/// neighbours. `out` has the same stride. Letters are those of figure 8-4.
fn quarter_samples<const N: usize>(
    source: &[u8],
    stride: usize,
    height: usize,
    (x, y): (i32, i32),
    out: &mut [u8; N],
) {
    // The last samples of the last row have no neighbours. They are not used.
    let count = height * stride - 5;
    let out = &mut out[..count];
    // Position of G. For a fraction of 3, the mean is with the sample on the right of it, or below.
    let first = 2 * stride + 2;
    let (right, below) = ((x / 2) as usize, (y / 2) as usize * stride);
    let mut other = [0; N];
    let other = &mut other[..count];
    match (x, y) {
        (_, 0) => {
            halves(&source[first - 2..], 1, out);
            if x != 2 {
                average(out, &source[first + right..]);
            }
        }
        (0, _) => {
            halves(&source[2..], stride, out);
            if y != 2 {
                average(out, &source[first + below..]);
            }
        }
        (2, _) | (_, 2) => {
            let mut across = [0; N];
            let across = &mut across[..count + 5 * stride];
            sums(source, across);
            middles(across, stride, out);
            if x != 2 {
                halves(&source[2 + right..], stride, other);
                average(out, other);
            } else if y != 2 {
                let row = across[2 * stride + below..].iter();
                other.iter_mut().zip(row).for_each(|(other, &sum)| *other = round(sum));
                average(out, other);
            }
        }
        _ => {
            halves(&source[first - 2 + below..], 1, out);
            halves(&source[2 + right..], stride, other);
            average(out, other);
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
        2 => chroma_of_width::<2, 3, { 3 * 9 }>(reference, at, height, out, stride),
        4 => chroma_of_width::<4, 5, { 5 * 9 }>(reference, at, height, out, stride),
        _ => chroma_of_width::<8, 9, { 9 * 9 }>(reference, at, height, out, stride),
    }
}

/// [`chroma`] for blocks of `W` columns, which are `S` columns with the neighbours on the right.
/// `N`: samples of the highest block with its neighbours.
fn chroma_of_width<const W: usize, const S: usize, const N: usize>(
    reference: PlaneRef<'_>,
    at: (i32, i32),
    height: usize,
    out: &mut [u8],
    stride: usize,
) {
    let mut rows = [[0; S]; 9];
    copy_block(reference, (at.0 >> 3, at.1 >> 3), height + 1, rows.iter_mut());
    let (x, y) = ((at.0 & 7) as u16, (at.1 & 7) as u16);
    let mut samples = [0; N];
    let count = height * S - 1;
    let source = rows.as_flattened();
    let [a, b, c, d] = [0, 1, S, S + 1].map(|start| &source[start..][..count]);
    for (at, out) in samples[..count].iter_mut().enumerate() {
        let [a, b, c, d] = [a, b, c, d].map(|row| u16::from(row[at]));
        let sum = (8 - x) * (8 - y) * a + x * (8 - y) * b + (8 - x) * y * c + x * y * d;
        *out = ((sum + 32) >> 6) as u8;
    }
    let out = out.chunks_mut(stride.max(1)).filter_map(|row| row.first_chunk_mut::<W>());
    for (out, row) in out.take(height).zip(samples.chunks_exact(S)) {
        out.copy_from_slice(&row[..W]);
    }
}

/// What to add to the vertical component of a vector for chroma, if fields are predicted from
/// fields (table 8-9), in the units of [`chroma`]. `current` and `reference`: true for bottom
/// fields.
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

        /// The equations of 8.4.2.2.1.
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
        let kind = random.u8(0..3);
        let data = (0..width * height).map(|at| match kind {
            0 => random.u8(..),
            1 => 255 * random.u8(0..2),
            // The signs of the taps in both directions: the largest sums.
            _ => {
                let outer = [false, true, false, false, true, false];
                255 * u8::from(outer[at % width % 6] ^ outer[at / width % 6])
            }
        });
        let data = data.collect();
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

    /// Oracle: the equation of 8.4.2.2.2, sample by sample.
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
