//! Prediction from samples of the same frame (RFC 6386 section 12).

use super::macroblock::Intra;

/// Samples above the picture (RFC 6386 12.2).
const ABOVE_PICTURE: u8 = 127;
/// Samples to the left of the picture (RFC 6386 12.2).
const LEFT_OF_PICTURE: u8 = 129;

/// The samples around a block of N x N samples.
struct Edges<const N: usize> {
    above: [u8; N],
    left: [u8; N],
    corner: u8,
}

/// The samples around the block at column `x`, row `y`.
fn edges<const N: usize>(samples: &[u8], stride: usize, (x, y): (usize, usize)) -> Edges<N> {
    let mut edges =
        Edges { above: [ABOVE_PICTURE; N], left: [LEFT_OF_PICTURE; N], corner: LEFT_OF_PICTURE };
    let start = y * stride + x;
    if y > 0 {
        edges.above.copy_from_slice(&samples[start - stride..start - stride + N]);
    }
    if x > 0 {
        for (row, left) in edges.left.iter_mut().enumerate() {
            *left = samples[start + row * stride - 1];
        }
    }
    if y == 0 {
        edges.corner = ABOVE_PICTURE;
    } else if x > 0 {
        edges.corner = samples[start - stride - 1];
    }
    edges
}

/// Predicts the block of N x N samples at column `x`, row `y` of a plane (RFC 6386 12.2, 12.3).
pub fn predict<const N: usize>(
    samples: &mut [u8],
    stride: usize,
    (x, y): (usize, usize),
    mode: Intra,
) {
    let Edges { above, left, corner } = edges::<N>(samples, stride, (x, y));
    let dc = match mode {
        Intra::Dc => mean(&above, y > 0, &left, x > 0),
        _ => 0,
    };
    for (row, &left) in left.iter().enumerate() {
        let start = (y + row) * stride + x;
        let out = &mut samples[start..start + N];
        match mode {
            Intra::Dc => out.fill(dc),
            Intra::Vertical => out.copy_from_slice(&above),
            Intra::Horizontal => out.fill(left),
            Intra::TrueMotion => {
                let change = i16::from(left) - i16::from(corner);
                for (out, &above) in out.iter_mut().zip(&above) {
                    *out = (i16::from(above) + change).clamp(0, 255) as u8;
                }
            }
        }
    }
}

/// The mean of those of two edges that are inside the picture; 128 without any.
fn mean(above: &[u8], has_above: bool, left: &[u8], has_left: bool) -> u8 {
    let sum = |edge: &[u8]| edge.iter().map(|&sample| u32::from(sample)).sum::<u32>();
    let count = above.len() as u32;
    let (sum, count) = match (has_above, has_left) {
        (true, true) => (sum(above) + sum(left), 2 * count),
        (true, false) => (sum(above), count),
        (false, true) => (sum(left), count),
        (false, false) => return 128,
    };
    ((sum + count / 2) / count) as u8
}

/// Samples in a row of [`Window`].
pub const WINDOW_STRIDE: usize = 32;
/// Position of the macroblock in a [`Window`].
pub const WINDOW_START: usize = WINDOW_STRIDE + 4;

/// The luma samples of a macroblock with one row above, one column to the left, and four columns to
/// the right of which only rows 0, 4, 8 and 12 are used: the rows above subblocks.
pub type Window = [u8; 17 * WINDOW_STRIDE];

/// The window of the macroblock at column `x`, row `y` of a plane of `width` decoded columns.
pub fn window(samples: &[u8], stride: usize, (x, y): (usize, usize), width: usize) -> Window {
    let mut window = [0; 17 * WINDOW_STRIDE];
    let Edges { above, left, corner } = edges::<16>(samples, stride, (x, y));
    window[WINDOW_START - WINDOW_STRIDE - 1] = corner;
    window[WINDOW_START - WINDOW_STRIDE..][..16].copy_from_slice(&above);
    for (row, left) in left.into_iter().enumerate() {
        window[WINDOW_START + row * WINDOW_STRIDE - 1] = left;
    }
    // All rows of subblocks use the samples above the macroblock to the right (RFC 6386 12.3). To
    // the right of the picture the last sample is repeated.
    let mut right = [above[15]; 4];
    if y > 0 && x + 16 < width {
        let start = (y - 1) * stride + x + 16;
        right.copy_from_slice(&samples[start..start + 4]);
    }
    for row in [0, 4, 8, 12] {
        window[WINDOW_START + 16 + row * WINDOW_STRIDE - WINDOW_STRIDE..][..4]
            .copy_from_slice(&right);
    }
    window
}

/// The sample at index `at` of the edge, smoothed with both neighbours (see [`PATTERNS`]).
const fn three(at: u8) -> u8 {
    at
}

/// The mean of the samples at indices `at` and `at` + 1 of the edge (see [`PATTERNS`]).
const fn two(at: u8) -> u8 {
    16 + at
}

/// Which mean each sample is, for the modes of subblocks from B_VE_PRED on (RFC 6386 12.3). The
/// edge consists of the four samples to the left from the bottom up, the corner, and the eight
/// samples above from left to right: indices 0 to 12.
const PATTERNS: [[[u8; 4]; 4]; 8] = {
    let mut patterns = [[[0; 4]; 4]; 8];
    let mut at = 0;
    while at < 16 {
        let (row, column) = (at / 4, at % 4);
        let (r, c) = (row as u8, column as u8);
        // B_VE_PRED, B_HE_PRED, B_LD_PRED, B_RD_PRED.
        patterns[0][row][column] = three(5 + c);
        patterns[1][row][column] = three(3 - r);
        patterns[2][row][column] = three(6 + r + c);
        patterns[3][row][column] = three(4 + c - r);
        at += 1;
    }
    // B_VR_PRED.
    patterns[4] = [
        [two(4), two(5), two(6), two(7)],
        [three(4), three(5), three(6), three(7)],
        [three(3), two(4), two(5), two(6)],
        [three(2), three(4), three(5), three(6)],
    ];
    // B_VL_PRED. The last samples of rows 2 and 3 do not follow the pattern.
    patterns[5] = [
        [two(5), two(6), two(7), two(8)],
        [three(6), three(7), three(8), three(9)],
        [two(6), two(7), two(8), three(10)],
        [three(7), three(8), three(9), three(11)],
    ];
    // B_HD_PRED.
    patterns[6] = [
        [two(3), three(4), three(5), three(6)],
        [two(2), three(3), two(3), three(4)],
        [two(1), three(2), two(2), three(3)],
        [two(0), three(1), two(1), three(2)],
    ];
    // B_HU_PRED. Number 15 is the lowest sample to the left.
    patterns[7] = [
        [two(2), three(2), two(1), three(1)],
        [two(1), three(1), two(0), three(0)],
        [two(0), three(0), 15, 15],
        [15, 15, 15, 15],
    ];
    patterns
};

/// Predicts the subblock at `start` of the window by a mode of
/// [`SUBBLOCK_TREE`](super::tables::SUBBLOCK_TREE) (RFC 6386 12.3).
pub fn predict_subblock(window: &mut Window, start: usize, mode: u8) {
    let above_start = start - WINDOW_STRIDE;
    let mut edge = [0u8; 13];
    for (row, out) in edge[..4].iter_mut().rev().enumerate() {
        *out = window[start + row * WINDOW_STRIDE - 1];
    }
    edge[4..].copy_from_slice(&window[above_start - 1..above_start + 8]);
    let mut block = [0u8; 16];
    match mode {
        0 => {
            let sides = edge[..4].iter().chain(&edge[5..9]);
            let sum = sides.map(|&sample| u32::from(sample)).sum::<u32>();
            block = [((sum + 4) >> 3) as u8; 16];
        }
        1 => {
            for (at, out) in block.iter_mut().enumerate() {
                let (left, above) = (edge[3 - at / 4], edge[5 + at % 4]);
                let value = i16::from(left) + i16::from(above) - i16::from(edge[4]);
                *out = value.clamp(0, 255) as u8;
            }
        }
        _ => {
            let means = means(&edge);
            let pattern = PATTERNS[usize::from(mode - 2) % 8].as_flattened();
            for (out, &mean) in block.iter_mut().zip(pattern) {
                *out = means[usize::from(mean) % 32];
            }
        }
    }
    for (row, block) in block.chunks_exact(4).enumerate() {
        window[start + row * WINDOW_STRIDE..][..4].copy_from_slice(block);
    }
}

/// The means that [`PATTERNS`] refers to. At both ends of the edge the last sample is repeated.
fn means(edge: &[u8; 13]) -> [u8; 32] {
    let mut means = [0; 32];
    let sample = |at: usize| u16::from(edge[at.min(12)]);
    for at in 0..13usize {
        let (before, here, after) = (sample(at.saturating_sub(1)), sample(at), sample(at + 1));
        means[at] = ((before + 2 * here + after + 2) >> 2) as u8;
        means[16 + at] = ((here + after + 1) >> 1) as u8;
    }
    means[15] = edge[0];
    means
}
