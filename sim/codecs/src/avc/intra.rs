//! Prediction of intra macroblocks from the samples around a block (8.3).

/// The left neighbours of the upper half of the block are available.
pub const LEFT_UPPER: u8 = 1;
/// The left neighbours of the lower half of the block are available.
pub const LEFT_LOWER: u8 = 2;
/// All left neighbours are available.
pub const LEFT: u8 = LEFT_UPPER | LEFT_LOWER;
/// The neighbours above are available.
pub const ABOVE: u8 = 4;
/// The neighbours above and to the right are available, for blocks of 4x4 and 8x8 luma samples.
pub const ABOVE_RIGHT: u8 = 8;
/// The neighbour above and to the left is available.
pub const CORNER: u8 = 16;

/// All neighbours but those above and to the right.
const ALL: u8 = LEFT | ABOVE | CORNER;
/// Neighbours that the modes of Intra_4x4 and Intra_8x8 need (tables 8-2 and 8-3).
pub const NEEDED_BLOCK: [u8; 9] = [ABOVE, LEFT, 0, ABOVE, ALL, ALL, ALL, ABOVE, LEFT];
/// Neighbours that the modes of Intra_16x16 need (table 8-4).
pub const NEEDED_16X16: [u8; 4] = [ABOVE, LEFT, 0, ALL];
/// Neighbours that the modes of chroma need (table 8-5).
pub const NEEDED_CHROMA: [u8; 4] = [0, LEFT, ABOVE, ALL];

/// Neighbours that intra prediction may use of a luma block at (`x`, `y`) of `size`, in 4x4 blocks.
/// `available`: those of the macroblock.
pub fn available_to_block(available: u8, (x, y): (usize, usize), size: usize) -> u8 {
    let half = |row: usize| if row < 2 { LEFT_UPPER } else { LEFT_LOWER };
    let has = |flag: u8| available & flag != 0;
    let left = x > 0 || has(half(y));
    let above = y > 0 || has(ABOVE);
    let corner = match (x, y) {
        (0, 0) => has(CORNER),
        (0, _) => has(half(y - 1)),
        (_, 0) => has(ABOVE),
        _ => true,
    };
    let order = |x: usize, y: usize| x % 2 + y % 2 * 2 + x / 2 * 4 + y / 2 * 8;
    let above_right = match (x + size, y) {
        (4, 0) => has(ABOVE_RIGHT),
        (_, 0) => has(ABOVE),
        (4, _) => false,
        (right, _) => order(right, y - 1) < order(x, y),
    };
    let flags = [(left, LEFT), (above, ABOVE), (corner, CORNER), (above_right, ABOVE_RIGHT)];
    flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum()
}

/// The samples around a block of `N` x `N`, of which `A` are above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<const N: usize, const A: usize> {
    /// p[-1, y]. 128 where not available.
    pub left: [u8; N],
    /// p[x, -1]. 128 where not available, except as `above_right` states.
    pub above: [u8; A],
    /// p[-1, -1]. 128 if not available.
    pub corner: u8,
    /// Sum of [`LEFT_UPPER`], [`LEFT_LOWER`], [`ABOVE`], [`ABOVE_RIGHT`] and [`CORNER`]: what is
    /// available for prediction. The two flags of the left column differ only where a field
    /// macroblock has a pair of frame macroblocks to the left and constrained_intra_pred_flag is 1.
    pub available: u8,
}

/// Neighbours of a 4x4 luma block.
pub type Edge4 = Edge<4, 8>;
/// Neighbours of an 8x8 luma block.
pub type Edge8 = Edge<8, 16>;
/// Neighbours of a macroblock's luma.
pub type Edge16 = Edge<16, 16>;
/// Neighbours of a macroblock's Cb or Cr, 4:2:0.
pub type EdgeChroma = Edge<8, 8>;

impl<const N: usize, const A: usize> Edge<N, A> {
    /// The neighbours of the block whose first sample is `data[at]`. Only those that are in
    /// `available` are read. Where the neighbours above are available and those to their right are
    /// not, the last one above is repeated (8.3.1.2).
    ///
    /// The left neighbours are those of the same rows of `data`. In MBAFF frames the caller
    /// replaces them if they are elsewhere.
    pub fn read(data: &[u8], at: usize, stride: usize, available: u8) -> Self {
        let mut edge = Edge { left: [128; N], above: [128; A], corner: 128, available };
        if available & LEFT != 0 {
            for (y, sample) in edge.left.iter_mut().enumerate() {
                if let Some(&value) = data.get((at + y * stride).wrapping_sub(1)) {
                    *sample = value;
                }
            }
        }
        if available & CORNER != 0
            && let Some(&value) = data.get(at.wrapping_sub(stride + 1))
        {
            edge.corner = value;
        }
        if available & ABOVE != 0
            && let Some(row) = at.checked_sub(stride).and_then(|start| data.get(start..))
        {
            edge.set_above(row);
        }
        edge
    }

    /// Sets the neighbours above from a row that starts with p[0, -1]. Repeats the last one of the
    /// first `N` if those to their right are not available.
    pub fn set_above(&mut self, row: &[u8]) {
        let count = if self.available & ABOVE_RIGHT != 0 { A } else { N }.min(row.len());
        self.above[..count].copy_from_slice(&row[..count]);
        if count > 0 {
            self.above[count..].fill(row[count - 1]);
        }
    }

    fn has(&self, flags: u8) -> bool {
        self.available & flags == flags
    }
}

/// Rows of `N` samples at the start of `dst`.
fn rows<const N: usize>(dst: &mut [u8], stride: usize) -> impl Iterator<Item = &mut [u8; N]> {
    dst.chunks_mut(stride.max(1)).take(N).filter_map(|row| row.first_chunk_mut::<N>())
}

/// Predicts a 4x4 luma block into the start of `dst` (8.3.1.2). `mode`: Intra4x4PredMode, 0..=8; a
/// larger one predicts as DC. Neighbours that are not available are used with the value that `edge`
/// holds.
pub fn predict_4x4(mode: u8, edge: &Edge4, dst: &mut [u8], stride: usize) {
    directional(mode, edge, dst, stride);
}

/// Predicts an 8x8 luma block into the start of `dst` (8.3.2.2). `mode`: Intra8x8PredMode, 0..=8; a
/// larger one predicts as DC. `edge` holds the samples before the filter of 8.3.2.2.1.
pub fn predict_8x8(mode: u8, edge: &Edge8, dst: &mut [u8], stride: usize) {
    let edge = filter(edge);
    directional(mode, &edge, dst, stride);
}

/// The filter of the neighbours of an 8x8 block (8.3.2.2.1).
fn filter(edge: &Edge8) -> Edge8 {
    let (left, above, corner) = (edge.has(LEFT), edge.has(ABOVE), edge.has(CORNER));
    // Where a neighbour on one side is missing, the sample itself stands for it.
    let three = |before: u8, at: u8, after: u8| {
        ((u16::from(before) + 2 * u16::from(at) + u16::from(after) + 2) >> 2) as u8
    };
    let mut out = *edge;
    if above {
        let samples = &edge.above;
        out.above[0] = three(if corner { edge.corner } else { samples[0] }, samples[0], samples[1]);
        for x in 1..15 {
            out.above[x] = three(samples[x - 1], samples[x], samples[x + 1]);
        }
        out.above[15] = three(samples[14], samples[15], samples[15]);
    }
    if left {
        let samples = &edge.left;
        out.left[0] = three(if corner { edge.corner } else { samples[0] }, samples[0], samples[1]);
        for y in 1..7 {
            out.left[y] = three(samples[y - 1], samples[y], samples[y + 1]);
        }
        out.left[7] = three(samples[6], samples[7], samples[7]);
    }
    if corner {
        let before = if left { edge.left[0] } else { edge.corner };
        let after = if above { edge.above[0] } else { edge.corner };
        out.corner = three(before, edge.corner, after);
    }
    out
}

/// The nine modes of 4x4 and 8x8 blocks.
fn directional<const N: usize, const A: usize>(
    mode: u8,
    edge: &Edge<N, A>,
    dst: &mut [u8],
    stride: usize,
) {
    let rows = rows::<N>(dst, stride);
    match mode {
        0 => rows.for_each(|row| row.copy_from_slice(&edge.above[..N])),
        1 => rows.zip(edge.left).for_each(|(row, left)| row.fill(left)),
        3..=8 => {
            let means = Means::new(edge);
            let [even, odd] = means.lines::<N>(mode);
            for (y, row) in rows.enumerate() {
                let start = match mode {
                    3 => N + 2 + y,
                    4 => N - y,
                    5 => N / 2 - 1 - y / 2,
                    6 => 2 * (N - 1 - y),
                    7 => N + 1 + y.div_ceil(2),
                    _ => 2 * y,
                };
                let line = if y % 2 == 0 { &even } else { &odd };
                if let Some(samples) = line.get(start..).and_then(<[u8]>::first_chunk) {
                    *row = *samples;
                }
            }
        }
        _ => {
            let value = dc(edge.available, &edge.left, &edge.above[..N]);
            rows.for_each(|row| row.fill(value));
        }
    }
}

/// Means of the neighbours of a block. The neighbours form a line: for a block of `N`, index 0 is
/// the lowest one on the left, `N` the corner, `N + 1` the first one above, `3 * N` the last.
struct Means {
    /// Of each neighbour and the next one.
    two: [u8; 32],
    /// Of each neighbour, counted twice, and those on both sides.
    three: [u8; 32],
    /// The lowest neighbour on the left.
    lowest: u8,
}

impl Means {
    fn new<const N: usize, const A: usize>(edge: &Edge<N, A>) -> Self {
        // The ends are repeated: one sample before index 0, all after the last one.
        let mut line = [*edge.above.last().unwrap_or(&0); 34];
        for (to, from) in line[1..].iter_mut().zip(edge.left.iter().rev()) {
            *to = *from;
        }
        line[0] = line[1];
        line[N + 1] = edge.corner;
        line[N + 2..N + 2 + A].copy_from_slice(&edge.above);
        let mut means = Means { two: [0; 32], three: [0; 32], lowest: line[0] };
        for at in 0..32 {
            let [a, b, c] = [line[at], line[at + 1], line[at + 2]].map(u16::from);
            means.two[at] = (b + c).div_ceil(2) as u8;
            means.three[at] = ((a + 2 * b + c + 2) >> 2) as u8;
        }
        means
    }

    /// In the diagonal modes, 3 to 8, each row of a prediction is a part of a line of means. Gives
    /// the lines for rows with an even and with an odd index.
    fn lines<const N: usize>(&self, mode: u8) -> [[u8; 32]; 2] {
        let (two, three) = (&self.two, &self.three);
        let mut lines = [[0; 32]; 2];
        match mode {
            // Diagonal down left, diagonal down right.
            3 | 4 => lines = [*three; 2],
            5 => {
                // Vertical right: means of the row above, before them every other one of the left
                // column.
                let first = N / 2 - 1;
                for (odd, (line, means)) in lines.iter_mut().zip([two, three]).enumerate() {
                    line[first..][..N].copy_from_slice(&means[N..][..N]);
                    for k in 1..=first {
                        line[first - k] = three[N + 1 - odd - 2 * k];
                    }
                }
            }
            6 => {
                // Horizontal down: both means of the left column in turn, then of the row above.
                let [line, other] = &mut lines;
                for k in 0..N {
                    line[2 * k] = two[k];
                    line[2 * k + 1] = three[k + 1];
                }
                line[2 * N..][..N - 2].copy_from_slice(&three[N + 1..][..N - 2]);
                *other = *line;
            }
            // Vertical left.
            7 => lines = [*two, *three],
            _ => {
                // Horizontal up: both means of the left column in turn, from its top, then its last
                // sample.
                let [line, other] = &mut lines;
                line.fill(self.lowest);
                for k in 0..N - 1 {
                    line[2 * k] = two[N - 2 - k];
                    line[2 * k + 1] = three[N - 2 - k];
                }
                *other = *line;
            }
        }
        lines
    }
}
/// The mean of the neighbours that are available. Both sides have the same length, a power of two.
fn dc(available: u8, left: &[u8], above: &[u8]) -> u8 {
    let sum = |samples: &[u8]| samples.iter().map(|&sample| u32::from(sample)).sum::<u32>();
    let count = left.len() as u32;
    let value = match (available & LEFT == LEFT, available & ABOVE != 0) {
        (true, true) => (sum(left) + sum(above) + count) / (2 * count),
        (true, false) => (sum(left) + count / 2) / count,
        (false, true) => (sum(above) + count / 2) / count,
        (false, false) => 128,
    };
    value as u8
}

/// Predicts the luma of a macroblock into the start of `dst` (8.3.3). `mode`: Intra16x16PredMode,
/// 0..=3; a larger one predicts as DC. Neighbours that are not available are used with the value
/// that `edge` holds.
pub fn predict_16x16(mode: u8, edge: &Edge16, dst: &mut [u8], stride: usize) {
    match mode {
        0 => rows::<16>(dst, stride).for_each(|row| *row = edge.above),
        1 => rows::<16>(dst, stride).zip(edge.left).for_each(|(row, left)| row.fill(left)),
        3 => plane(edge, 5, 6, dst, stride),
        _ => {
            let value = dc(edge.available, &edge.left, &edge.above);
            rows::<16>(dst, stride).for_each(|row| row.fill(value));
        }
    }
}

/// Predicts Cb or Cr of a macroblock into the start of `dst` (8.3.4), 4:2:0. `mode`:
/// intra_chroma_pred_mode, 0..=3; a larger one predicts as DC. Neighbours that are not available
/// are used with the value that `edge` holds.
pub fn predict_chroma(mode: u8, edge: &EdgeChroma, dst: &mut [u8], stride: usize) {
    match mode {
        1 => rows::<8>(dst, stride).zip(edge.left).for_each(|(row, left)| row.fill(left)),
        2 => rows::<8>(dst, stride).for_each(|row| *row = edge.above),
        3 => plane(edge, 34, 6, dst, stride),
        _ => chroma_dc(edge, dst, stride),
    }
}

/// Mode DC of chroma: each 4x4 block has its own mean. The blocks on the diagonal use both sides.
/// The others prefer the side that they touch (8.3.4.1 to 8.3.4.3).
fn chroma_dc(edge: &EdgeChroma, dst: &mut [u8], stride: usize) {
    for (half, side) in [LEFT_UPPER, LEFT_LOWER].into_iter().enumerate() {
        let left = &edge.left[4 * half..4 * half + 4];
        let has_left = if edge.has(side) { LEFT } else { 0 };
        let has_above = edge.available & ABOVE;
        let values: [u8; 2] = std::array::from_fn(|column| {
            let above = &edge.above[4 * column..4 * column + 4];
            let available = match (column, half) {
                (1, 0) if has_above != 0 => has_above,
                (0, 1) if has_left != 0 => has_left,
                _ => has_left | has_above,
            };
            dc(available, left, above)
        });
        let start = (4 * half * stride).min(dst.len());
        for row in rows::<8>(&mut dst[start..], stride).take(4) {
            row[..4].fill(values[0]);
            row[4..].fill(values[1]);
        }
    }
}

/// The plane mode: `factor` and `shift` scale the slopes (8.3.3.4, 8.3.4.4).
fn plane<const N: usize>(
    edge: &Edge<N, N>,
    factor: i32,
    shift: i32,
    dst: &mut [u8],
    stride: usize,
) {
    let half = N / 2;
    let slope = |samples: &[u8; N]| {
        let sum: i32 = (1..=half)
            .map(|distance| {
                // The corner is before the first sample.
                let before = half.checked_sub(distance + 1).map_or(edge.corner, |at| samples[at]);
                let after = samples[half - 1 + distance];
                distance as i32 * (i32::from(after) - i32::from(before))
            })
            .sum();
        (factor * sum + (1 << (shift - 1))) >> shift
    };
    let (across, down) = (slope(&edge.above), slope(&edge.left));
    let middle = half as i32 - 1;
    let start = 16 * (i32::from(edge.above[N - 1]) + i32::from(edge.left[N - 1])) + 16;
    for (y, row) in rows::<N>(dst, stride).enumerate() {
        let start = start + down * (y as i32 - middle) - across * middle;
        *row = std::array::from_fn(|x| ((start + across * x as i32) >> 5).clamp(0, 255) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_edge<const N: usize, const A: usize>(random: &mut fastrand::Rng) -> Edge<N, A> {
        let extreme = random.bool();
        let mut sample = || if extreme { 255 * random.u8(0..2) } else { random.u8(..) };
        Edge {
            left: std::array::from_fn(|_| sample()),
            above: std::array::from_fn(|_| sample()),
            corner: sample(),
            available: LEFT | ABOVE | ABOVE_RIGHT | CORNER,
        }
    }

    /// p[x, y] of the standard, for x or y of -1.
    fn neighbour<const N: usize, const A: usize>(edge: &Edge<N, A>, x: i32, y: i32) -> i32 {
        i32::from(match (x, y) {
            (-1, -1) => edge.corner,
            (-1, y) => edge.left[y as usize],
            (x, _) => edge.above[x as usize],
        })
    }

    /// The equations of 8.3.1.2 and 8.3.2.2 for the sample at (`x`, `y`). `n`: size of the block.
    fn equation(p: &dyn Fn(i32, i32) -> i32, n: i32, mode: u8, x: i32, y: i32) -> i32 {
        let three = |a: i32, b: i32, c: i32| (a + 2 * b + c + 2) >> 2;
        let two = |a: i32, b: i32| (a + b + 1) >> 1;
        match mode {
            0 => p(x, -1),
            1 => p(-1, y),
            2 => (0..n).map(|k| p(k, -1) + p(-1, k)).sum::<i32>().wrapping_add(n) / (2 * n),
            3 if x == n - 1 && y == n - 1 => (p(2 * n - 2, -1) + 3 * p(2 * n - 1, -1) + 2) >> 2,
            3 => three(p(x + y, -1), p(x + y + 1, -1), p(x + y + 2, -1)),
            4 if x > y => three(p(x - y - 2, -1), p(x - y - 1, -1), p(x - y, -1)),
            4 if x < y => three(p(-1, y - x - 2), p(-1, y - x - 1), p(-1, y - x)),
            4 => three(p(0, -1), p(-1, -1), p(-1, 0)),
            5 => match 2 * x - y {
                -1 => three(p(-1, 0), p(-1, -1), p(0, -1)),
                z if z < 0 => {
                    three(p(-1, y - 2 * x - 1), p(-1, y - 2 * x - 2), p(-1, y - 2 * x - 3))
                }
                z if z % 2 == 0 => two(p(x - (y >> 1) - 1, -1), p(x - (y >> 1), -1)),
                _ => three(p(x - (y >> 1) - 2, -1), p(x - (y >> 1) - 1, -1), p(x - (y >> 1), -1)),
            },
            6 => match 2 * y - x {
                -1 => three(p(-1, 0), p(-1, -1), p(0, -1)),
                z if z < 0 => {
                    three(p(x - 2 * y - 1, -1), p(x - 2 * y - 2, -1), p(x - 2 * y - 3, -1))
                }
                z if z % 2 == 0 => two(p(-1, y - (x >> 1) - 1), p(-1, y - (x >> 1))),
                _ => three(p(-1, y - (x >> 1) - 2), p(-1, y - (x >> 1) - 1), p(-1, y - (x >> 1))),
            },
            7 if y % 2 == 0 => two(p(x + (y >> 1), -1), p(x + (y >> 1) + 1, -1)),
            7 => three(p(x + (y >> 1), -1), p(x + (y >> 1) + 1, -1), p(x + (y >> 1) + 2, -1)),
            _ => match x + 2 * y {
                z if z > 2 * n - 3 => p(-1, n - 1),
                z if z == 2 * n - 3 => (p(-1, n - 2) + 3 * p(-1, n - 1) + 2) >> 2,
                z if z % 2 == 0 => two(p(-1, y + (x >> 1)), p(-1, y + (x >> 1) + 1)),
                _ => three(p(-1, y + (x >> 1)), p(-1, y + (x >> 1) + 1), p(-1, y + (x >> 1) + 2)),
            },
        }
    }

    fn check(got: &[u8], stride: usize, n: usize, want: &dyn Fn(i32, i32) -> i32) {
        for (at, &got) in got.iter().enumerate() {
            let (x, y) = (at % stride, at / stride);
            let want = if x < n && y < n { want(x as i32, y as i32) } else { 7 };
            assert_eq!(i32::from(got), want, "({x}, {y})");
        }
    }

    /// Oracle: the equations of 8.3.1.2.1 to 8.3.1.2.9.
    #[test]
    fn modes_of_4x4_follow_the_equations() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..9000 {
            let (edge, mode): (Edge4, _) = (random_edge(&mut random), (round % 9) as u8);
            let mut got = [7; 30];
            predict_4x4(mode, &edge, &mut got, 6);
            check(&got, 6, 4, &|x, y| equation(&|x, y| neighbour(&edge, x, y), 4, mode, x, y));
        }
    }

    /// Oracle: the equations of 8.3.2.2.1 to 8.3.2.2.10, with all neighbours and with those only
    /// that the mode needs.
    #[test]
    fn modes_of_8x8_follow_the_equations() {
        let mut random = fastrand::Rng::with_seed(2);
        for round in 0..9000 {
            let (mut edge, mode): (Edge8, _) = (random_edge(&mut random), (round % 9) as u8);
            if mode != 2 && random.bool() {
                edge.available = NEEDED_BLOCK[usize::from(mode)] | random.u8(0..32);
            }
            let (left, above) = (edge.available & LEFT == LEFT, edge.available & ABOVE != 0);
            let corner = edge.available & CORNER != 0;
            let raw = |x: i32, y: i32| neighbour(&edge, x, y);
            let filtered = |x: i32, y: i32| match (x, y) {
                (-1, -1) if !above && !left => raw(-1, -1),
                (-1, -1) if !above => (3 * raw(-1, -1) + raw(-1, 0) + 2) >> 2,
                (-1, -1) if !left => (3 * raw(-1, -1) + raw(0, -1) + 2) >> 2,
                (-1, -1) => (raw(0, -1) + 2 * raw(-1, -1) + raw(-1, 0) + 2) >> 2,
                (-1, 0) if !corner => (3 * raw(-1, 0) + raw(-1, 1) + 2) >> 2,
                (-1, 7) => (raw(-1, 6) + 3 * raw(-1, 7) + 2) >> 2,
                (-1, y) => (raw(-1, y - 1) + 2 * raw(-1, y) + raw(-1, y + 1) + 2) >> 2,
                (0, _) if !corner => (3 * raw(0, -1) + raw(1, -1) + 2) >> 2,
                (15, _) => (raw(14, -1) + 3 * raw(15, -1) + 2) >> 2,
                (x, _) => (raw(x - 1, -1) + 2 * raw(x, -1) + raw(x + 1, -1) + 2) >> 2,
            };
            let mut got = [7; 90];
            predict_8x8(mode, &edge, &mut got, 10);
            check(&got, 10, 8, &|x, y| equation(&filtered, 8, mode, x, y));
        }
    }

    /// Oracle: the equations of 8.3.3.1 to 8.3.3.4.
    #[test]
    fn modes_of_16x16_follow_the_equations() {
        let mut random = fastrand::Rng::with_seed(3);
        for round in 0..2000 {
            let mut edge: Edge16 = random_edge(&mut random);
            let mode = (round % 4) as u8;
            if mode == 2 {
                edge.available = random.u8(0..32);
            }
            let p = |x: i32, y: i32| neighbour(&edge, x, y);
            let sum = |side: &[u8; 16]| side.iter().map(|&sample| i32::from(sample)).sum::<i32>();
            let dc = match (edge.available & LEFT == LEFT, edge.available & ABOVE != 0) {
                (true, true) => (sum(&edge.left) + sum(&edge.above) + 16) >> 5,
                (true, false) => (sum(&edge.left) + 8) >> 4,
                (false, true) => (sum(&edge.above) + 8) >> 4,
                (false, false) => 128,
            };
            let h: i32 = (0..8).map(|k| (k + 1) * (p(8 + k, -1) - p(6 - k, -1))).sum();
            let v: i32 = (0..8).map(|k| (k + 1) * (p(-1, 8 + k) - p(-1, 6 - k))).sum();
            let (b, c) = ((5 * h + 32) >> 6, (5 * v + 32) >> 6);
            let a = 16 * (p(-1, 15) + p(15, -1));
            let mut got = [7; 18 * 17];
            predict_16x16(mode, &edge, &mut got, 18);
            check(&got, 18, 16, &|x, y| match mode {
                0 => p(x, -1),
                1 => p(-1, y),
                2 => dc,
                _ => ((a + b * (x - 7) + c * (y - 7) + 16) >> 5).clamp(0, 255),
            });
        }
    }

    /// Oracle: the equations of 8.3.4.1 to 8.3.4.4 for 4:2:0.
    #[test]
    fn modes_of_chroma_follow_the_equations() {
        let mut random = fastrand::Rng::with_seed(4);
        for round in 0..4000 {
            let mut edge: EdgeChroma = random_edge(&mut random);
            let mode = (round % 4) as u8;
            if mode == 0 {
                edge.available = random.u8(0..32);
            }
            let p = |x: i32, y: i32| neighbour(&edge, x, y);
            let dc = |x: i32, y: i32| {
                let (x0, y0) = (x / 4 * 4, y / 4 * 4);
                let above: i32 = (0..4).map(|k| p(x0 + k, -1)).sum();
                let left: i32 = (0..4).map(|k| p(-1, y0 + k)).sum();
                let has_above = edge.available & ABOVE != 0;
                let has_left = edge.available & if y0 == 0 { LEFT_UPPER } else { LEFT_LOWER } != 0;
                if x0 == y0 && has_above && has_left {
                    (above + left + 4) >> 3
                } else if has_above && (x0 > 0 && y0 == 0 || !has_left) {
                    (above + 2) >> 2
                } else if has_left {
                    (left + 2) >> 2
                } else {
                    128
                }
            };
            let h: i32 = (0..4).map(|k| (k + 1) * (p(4 + k, -1) - p(2 - k, -1))).sum();
            let v: i32 = (0..4).map(|k| (k + 1) * (p(-1, 4 + k) - p(-1, 2 - k))).sum();
            let (b, c) = ((34 * h + 32) >> 6, (34 * v + 32) >> 6);
            let a = 16 * (p(-1, 7) + p(7, -1));
            let mut got = [7; 90];
            predict_chroma(mode, &edge, &mut got, 10);
            check(&got, 10, 8, &|x, y| match mode {
                0 => dc(x, y),
                1 => p(-1, y),
                2 => p(x, -1),
                _ => ((a + b * (x - 3) + c * (y - 3) + 16) >> 5).clamp(0, 255),
            });
        }
    }

    /// The neighbours stand where the figure 8-1 shows them, and those not available are not read.
    #[test]
    fn neighbours_are_read_around_the_block() {
        let data: Vec<u8> = (0..100).collect();
        let all = Edge4::read(&data, 22, 10, LEFT | ABOVE | ABOVE_RIGHT | CORNER);
        assert_eq!((all.left, all.corner), ([21, 31, 41, 51], 11));
        assert_eq!(all.above, [12, 13, 14, 15, 16, 17, 18, 19]);
        let some = Edge4::read(&data, 22, 10, ABOVE);
        assert_eq!((some.left, some.corner), ([128; 4], 128));
        assert_eq!(some.above, [12, 13, 14, 15, 15, 15, 15, 15]);
        // Nothing is read before the first or after the last sample.
        let none = Edge16::read(&data, 0, 10, LEFT | ABOVE | CORNER);
        assert_eq!(
            (none.left[0], none.left[15], none.above, none.corner),
            (128, 128, [128; 16], 128)
        );
        assert_eq!(none.left[1], 9);
    }

    /// Modes and blocks out of their range change nothing outside and do not panic.
    #[test]
    fn damaged_arguments_do_not_panic() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..2000 {
            let (mode, stride) = (random.u8(..), random.usize(0..20));
            let available = random.u8(..);
            let mut dst = vec![0; random.usize(0..300)];
            let edge = Edge4 { available, ..random_edge(&mut random) };
            predict_4x4(mode, &edge, &mut dst, stride);
            let edge = Edge8 { available, ..random_edge(&mut random) };
            predict_8x8(mode, &edge, &mut dst, stride);
            let edge = Edge16 { available, ..random_edge(&mut random) };
            predict_16x16(mode, &edge, &mut dst, stride);
            let edge = EdgeChroma { available, ..random_edge(&mut random) };
            predict_chroma(mode, &edge, &mut dst, stride);
        }
    }
}
