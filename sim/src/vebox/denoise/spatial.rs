//! The spatial filter of denoising: the mean of good neighbours.

/// The rows above, at and below a row. Rows outside the frame are replaced by the row itself.
pub fn neighbors(y: usize, step: usize, height: usize) -> [usize; 3] {
    let below = if y + step < height { y + step } else { y };
    [y.checked_sub(step).unwrap_or(y), y, below]
}

/// What the spatial filter finds around a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// The mean of the good neighbours and the sample.
    pub mean: u8,
    /// Least and greatest of all neighbours.
    pub range: [u8; 2],
}

impl Local {
    /// The filter at column `x` of the middle row; differences below `good` are good.
    #[inline]
    pub fn new(rows: [&[u8]; 3], x: usize, good: u8) -> Local {
        /// 2048 / n, as the manual lists it.
        const INVERSE: [u32; 10] = [0, 2048, 1024, 682, 512, 409, 341, 292, 256, 227];
        let sample = rows[1][x];
        let columns = [x.saturating_sub(1), x, (x + 1).min(rows[1].len() - 1)];
        let (mut sum, mut count, mut range) = (0, 0, [sample; 2]);
        for row in rows {
            for column in columns {
                let value = row[column];
                range = [range[0].min(value), range[1].max(value)];
                // The sample itself is good, whatever the threshold.
                let is_good = u32::from(value.abs_diff(sample) < good.max(1));
                sum += u32::from(value) * is_good;
                count += is_good;
            }
        }
        let mean = ((sum + count / 2) * INVERSE[count as usize]) >> 11;
        Local { mean: mean as u8, range }
    }

    /// A value, half way back if it leaves the range.
    pub fn pull(&self, value: u8) -> u8 {
        let [least, most] = self.range.map(u16::from);
        match u16::from(value) {
            value if value >= most => value.midpoint(most) as u8,
            value if value < least => value.midpoint(least) as u8,
            value => value as u8,
        }
    }
}
