//! Counts of blocks of 16x4 pixels: differences of fields for film mode detection, and measures for
//! encoders (digests/video.md 12.8).

use genxml::gen8::vebox_states::{EncoderStatisticsFormat, VeboxDndiState};
use genxml_codecs::Plane;
use genxml_core::U;

/// Film mode detection: thresholds of squared differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// A pixel moves if a squared difference from the previous frame is above this.
    pub temporal: u32,
    /// Rows are smooth if the squared difference of successive rows of a field is below this.
    pub smooth: u32,
    /// A pixel may tear if the squared difference of the two fields is above this.
    pub tear: u32,
    /// A block tears if it has more tearing pixels than this.
    pub pixels: u32,
    /// The top field is the first one.
    pub top_first: bool,
}

impl Thresholds {
    /// The thresholds of a state.
    pub fn new(s: &VeboxDndiState, top_first: bool) -> Thresholds {
        Thresholds {
            temporal: s.fmd_temporal_difference_threshold.get() as u32,
            smooth: s.fmd_1_vertical_difference_threshold.get() as u32,
            tear: s.fmd_2_vertical_difference_threshold.get() as u32,
            pixels: s.fmd_tear_threshold.get() as u32,
            top_first,
        }
    }
}

/// The counts of a block, or of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The variances of film mode detection. 0 to 4: squared differences of fields. 5: tearing
    /// blocks. 6: other blocks. 7: smoothly moving pixels. 8 to 10: tearing pixels in three
    /// combinations of fields.
    pub variances: [u32; 11],
    /// Sum of temporal differences.
    pub temporal: u32,
    /// Sum of differences of columns.
    pub horizontal: u32,
    /// Sum of differences of rows of a field.
    pub vertical: u32,
}

impl Counts {
    /// Adds the variances of a block.
    pub fn add(&mut self, block: &Counts) {
        for (sum, value) in self.variances.iter_mut().zip(block.variances) {
            *sum = sum.saturating_add(value);
        }
    }

    /// The block as an encoder reads it. Counts that belong to functions that are disabled are 0.
    pub fn for_encoder(&self, denoised: bool, top_first: Option<bool>) -> EncoderStatisticsFormat {
        let mut out = EncoderStatisticsFormat::new();
        let count = |value: u32| U::from_bits(u64::from(value.min(255)));
        if denoised {
            (out.s_svcm, out.m_svcm) = scaled(self.vertical);
            (out.s_stad, out.m_stad) = scaled(self.temporal);
            (out.s_shcm, out.m_shcm) = scaled(self.horizontal);
        }
        if let Some(top_first) = top_first {
            let v = &self.variances;
            out.tearing_count_1_fmd_variance_8 = count(v[8]);
            out.tearing_count_2 = count(if top_first { v[9] } else { v[10] });
            out.motion_count_fmd_variance_7 = count(v[7]);
            (out.s_diff_c_tp_t, out.m_diff_c_tp_t_fmd_variance_0) = scaled(v[0]);
            (out.s_diff_c_bp_b, out.m_diff_c_bp_b_fmd_variance_1) = scaled(v[1]);
            (out.s_diff_c_tc_b, out.m_diff_c_tc_b_fmd_variance_2) = scaled(v[2]);
            (out.s_diff_c_tp_b, out.m_diff_c_tp_b_fmd_variance_3) = scaled(v[3]);
            (out.s_diff_c_bp_t, out.m_diff_c_bp_t_fmd_variance_4) = scaled(v[4]);
        }
        out
    }
}

/// A number of 17 bits as shift and mantissa: below 256 it is the mantissa, with a shift of 0.
/// Otherwise ((256 + mantissa) << shift) >> 7 is the number, with its low bits dropped.
fn scaled(value: u32) -> (U<4>, U<8>) {
    let value = value.min(0x1_ffff);
    let (shift, mantissa) = match value.checked_ilog2() {
        Some(log @ 8..) => (log - 1, (value >> (log - 8)) & 0xff),
        _ => (0, value),
    };
    (U::from_bits(u64::from(shift)), U::from_bits(u64::from(mantissa)))
}

/// The counts of the block at (`left`, `top`). Differences from the previous frame are 0 without
/// it; film mode is detected only with thresholds.
pub fn block(
    (current, previous): (&Plane, Option<&Plane>),
    (left, top): (usize, usize),
    thresholds: Option<&Thresholds>,
) -> Counts {
    let width = current.width;
    let (right, bottom) = ((left + 16).min(width), (top + 4).min(current.height));
    let row = |plane: &Plane, y: usize| {
        // Below the frame, the last row of the same field.
        let last = plane.height - 1;
        let last = if (last + y).is_multiple_of(2) { last } else { last.saturating_sub(1) };
        let y = if y < plane.height { y } else { last };
        y * width + left..y * width + right
    };
    let mut counts = Counts::default();
    for y in top..bottom {
        let line = &current.data[row(current, y)];
        for pair in line.windows(2) {
            counts.horizontal += u32::from(pair[0].abs_diff(pair[1]));
        }
        let below = &current.data[row(current, y + 2)];
        counts.vertical += difference(line, below);
        if let Some(previous) = previous {
            counts.temporal += difference(line, &previous.data[row(previous, y)]);
        }
    }
    let (Some(thresholds), Some(previous)) = (thresholds, previous) else { return counts };
    for y in (top..bottom).step_by(2) {
        let fields = |plane: &Plane| -> [[u8; 16]; 4] {
            [0, 1, 2, 3].map(|line| {
                let mut samples = [0; 16];
                let data = &plane.data[row(plane, y + line)];
                samples[..data.len()].copy_from_slice(data);
                samples
            })
        };
        pairs(&mut counts, &fields(current), &fields(previous), right - left, thresholds);
    }
    for variance in &mut counts.variances[..5] {
        *variance /= 16;
    }
    let tears = counts.variances[8] > thresholds.pixels;
    counts.variances[if tears { 5 } else { 6 }] = 1;
    counts
}

/// Sum of absolute differences.
fn difference(line: &[u8], other: &[u8]) -> u32 {
    line.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(*b))).sum()
}

/// Counts a row of each field, of `count` pixels. The next rows of both fields follow.
fn pairs(
    counts: &mut Counts,
    current: &[[u8; 16]; 4],
    previous: &[[u8; 16]; 4],
    count: usize,
    thresholds: &Thresholds,
) {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    let mut tears = [[false; 16]; 3];
    for x in 0..count {
        let [ct, cb, ct_next, cb_next] = current.map(|line| line[x]);
        let [pt, pb, pt_next, pb_next] = previous.map(|line| line[x]);
        let differences =
            [square(ct, pt), square(cb, pb), square(ct, cb), square(ct, pb), square(cb, pt)];
        for (sum, difference) in counts.variances.iter_mut().zip(differences) {
            *sum += difference;
        }
        let moves = differences[0].max(differences[1]) > thresholds.temporal;
        let smooth = square(ct, ct_next).max(square(cb, cb_next)) < thresholds.smooth;
        counts.variances[7] += u32::from(moves && smooth);
        let tear = |a: u8, b: u8, first: (u8, u8), second: (u8, u8)| {
            let apart = u32::from(a.abs_diff(b));
            let rows =
                u32::from(first.0.abs_diff(first.1)) + u32::from(second.0.abs_diff(second.1));
            apart > rows && apart * apart > thresholds.tear
        };
        tears[0][x] = tear(ct, cb, (ct, ct_next), (cb, cb_next));
        tears[1][x] = tear(ct, pb, (ct, ct_next), (pb, pb_next));
        tears[2][x] = tear(cb, pt, (pt, pt_next), (cb, cb_next));
    }
    // A single pixel may be noise: one neighbour must tear as well.
    for (number, line) in tears.iter().enumerate() {
        for x in 0..count {
            let beside = x.checked_sub(1).is_some_and(|x| line[x])
                || line[..count].get(x + 1).is_some_and(|tears| *tears);
            counts.variances[8 + number] += u32::from(line[x] && beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Thresholds, block, scaled};
    use genxml_codecs::Plane;

    const THRESHOLDS: Thresholds =
        Thresholds { temporal: 175, smooth: 16, tear: 100, pixels: 2, top_first: true };

    /// Oracle: the formula of the packet's description, with an error of less than one in 256.
    #[test]
    fn numbers_of_17_bits() {
        for value in (0..0x2_0000).step_by(7) {
            let (shift, mantissa) = scaled(value);
            let (shift, mantissa) = (shift.get() as u32, mantissa.get() as u32);
            let read = if shift == 0 { mantissa } else { ((0x100 + mantissa) << shift) >> 7 };
            assert!(read <= value && value - read <= value / 256, "{value} is {read}");
        }
    }

    /// Two fields that differ tear; what is equal to the previous frame does not move.
    #[test]
    fn fields_that_differ_tear() {
        let mut fields = Plane::new(32, 8, 50);
        for row in fields.data.chunks_exact_mut(64) {
            row[32..].fill(90);
        }
        let counts = block((&fields, Some(&fields)), (0, 4), Some(&THRESHOLDS));
        let [ctpt, cbpb, ctcb, ctpb, cbpt, tears, others, moves, rest @ ..] = counts.variances;
        // 32 pixels of each field, 40 apart.
        assert_eq!([ctpt, cbpb, ctcb, ctpb, cbpt], [0, 0, 3200, 3200, 3200]);
        assert_eq!([tears, others, moves], [1, 0, 0]);
        assert_eq!(rest, [32, 32, 32]);
        let flat = Plane::new(32, 8, 50);
        let counts = block((&fields, Some(&flat)), (0, 4), Some(&THRESHOLDS));
        assert_eq!(counts.variances[..3], [0, 3200, 3200]);
        assert_eq!(counts.variances[7], 32);
        assert_eq!(counts.temporal, 32 * 40);
        assert_eq!((counts.horizontal, counts.vertical), (0, 0));
    }
}
