//! Rows with a sample of chroma for each pixel: from a picture, through the functions of image
//! enhancement, to a picture of another sampling.

use super::picture::{GREY, MAX, Picture, Sampling};

/// A row of pixels, 12 bits for each sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Y, U, V or R, G, B.
    pub planes: [Vec<u16>; 3],
    /// Alpha.
    pub alpha: Vec<u16>,
    /// The score of skin tone detection: 0 to 31.
    pub skin: Vec<u8>,
}

/// How chroma is down-sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Averages the two columns of a pair. Otherwise the right one is dropped.
    pub average_columns: bool,
    /// Averages the two rows of a pair. Otherwise the lower one is dropped.
    pub average_rows: bool,
}

/// Reads all rows of a picture, passes each to `each` with its number, and collects them with
/// another sampling. Chroma is repeated (assumption `VEBOX_CHROMA_IS_REPEATED`).
pub fn convert(
    source: &Picture,
    sampling: Sampling,
    method: Method,
    mut each: impl FnMut(usize, &mut Row),
) -> Picture {
    let (width, height) = (source.width, source.height);
    let mut target = Picture::new(width, height, sampling);
    let mut alpha = Vec::with_capacity(width * height);
    let mut row = Row {
        planes: [vec![0; width], vec![GREY; width], vec![GREY; width]],
        alpha: vec![MAX; width],
        skin: vec![0; width],
    };
    let (across, _) = target.chroma();
    for y in 0..height {
        load(source, y, &mut row);
        each(y, &mut row);
        target.planes[0][y * width..][..width].copy_from_slice(&row.planes[0]);
        alpha.extend_from_slice(&row.alpha);
        for plane in 1..3 {
            let line = &mut target.planes[plane][y / sampling.down * across..][..across];
            let columns = &row.planes[plane];
            match (sampling.across, y % sampling.down) {
                (1, _) => line.copy_from_slice(columns),
                (_, 0) => each_pair(line, columns, method, |_, new| new),
                (_, _) if method.average_rows => {
                    each_pair(line, columns, method, |upper, lower| (upper + lower + 1) >> 1);
                }
                _ => {}
            }
        }
    }
    target.alpha = Some(alpha);
    target
}

/// Replaces each sample by `join(sample, value)`. `value` is the mean of a pair of `columns`, or
/// its left one, as `method` says.
fn each_pair(line: &mut [u16], columns: &[u16], method: Method, join: impl Fn(u16, u16) -> u16) {
    for (sample, pair) in line.iter_mut().zip(columns.chunks(2)) {
        let right = if method.average_columns { pair.last() } else { pair.first() };
        let right = right.copied().unwrap_or_default();
        *sample = join(*sample, (pair[0] + right + 1) >> 1);
    }
}

/// Fills a row with the pixels of row `y` of a picture.
fn load(source: &Picture, y: usize, row: &mut Row) {
    let (width, sampling) = (source.width, source.sampling);
    row.planes[0].copy_from_slice(&source.planes[0][y * width..][..width]);
    let (across, _) = source.chroma();
    for plane in 1..3 {
        let line = &source.planes[plane][y / sampling.down * across..][..across];
        let columns = &mut row.planes[plane];
        match sampling.across {
            1 => columns.copy_from_slice(line),
            _ => columns.chunks_mut(2).zip(line).for_each(|(pair, &sample)| pair.fill(sample)),
        }
    }
    match &source.alpha {
        Some(alpha) => row.alpha.copy_from_slice(&alpha[y * width..][..width]),
        None => row.alpha.fill(MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, convert};
    use crate::vebox::picture::{Picture, Sampling};

    const SAMPLINGS: [Sampling; 3] = [
        Sampling { across: 1, down: 1 },
        Sampling { across: 2, down: 1 },
        Sampling { across: 2, down: 2 },
    ];

    fn picture(width: usize, height: usize, sampling: Sampling) -> Picture {
        let mut picture = Picture::new(width, height, sampling);
        let mut seed = 1_u32;
        for sample in picture.planes.iter_mut().flatten() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *sample = (seed >> 20) as u16;
        }
        picture
    }

    /// Oracle: the definition, pixel by pixel: a sample of chroma is the mean of the columns it
    /// covers in each row, then of the rows; or the first of them.
    #[test]
    fn chroma_is_sampled_again() {
        for (from, to) in SAMPLINGS.iter().flat_map(|from| SAMPLINGS.map(|to| (*from, to))) {
            for flags in 0..4 {
                let method =
                    Method { average_columns: flags & 1 != 0, average_rows: flags & 2 != 0 };
                let (width, height) = (7, 5);
                let source = picture(width, height, from);
                let target = convert(&source, to, method, |_, _| {});
                assert_eq!(target.planes[0], source.planes[0]);
                let (across, _) = source.chroma();
                let at = |plane: usize, x: usize, y: usize| {
                    let (x, y) = (x.min(width - 1), y.min(height - 1));
                    source.planes[plane][y / from.down * across + x / from.across]
                };
                let (columns, rows) = target.chroma();
                for (plane, y, x) in (1..3)
                    .flat_map(|plane| (0..rows).map(move |y| (plane, y)))
                    .flat_map(|(plane, y)| (0..columns).map(move |x| (plane, y, x)))
                {
                    let row = |y: usize| {
                        let (left, right) = (to.across * x, to.across * x + to.across - 1);
                        match method.average_columns {
                            true => (at(plane, left, y) + at(plane, right, y)).div_ceil(2),
                            false => at(plane, left, y),
                        }
                    };
                    let (upper, lower) = (to.down * y, to.down * y + to.down - 1);
                    let want = match method.average_rows {
                        true => (row(upper) + row(lower)).div_ceil(2),
                        false => row(upper),
                    };
                    assert_eq!(target.planes[plane][y * columns + x], want, "{from:?} {to:?}");
                }
            }
        }
    }
}
