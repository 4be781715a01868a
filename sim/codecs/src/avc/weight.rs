//! Weighted prediction of inter macroblocks (8.4.2.3) and its implicit weights.
//!
//! A block of predictions is `width` x `height` samples at the start of a slice, with a stride.

/// Rows of `width` samples.
fn rows(block: &mut [u8], stride: usize, width: usize) -> impl Iterator<Item = &mut [u8]> {
    block.chunks_mut(stride.max(1)).filter_map(move |row| row.get_mut(..width))
}

/// The default of two predictions (8-273): `first` becomes their mean.
pub fn average(first: &mut [u8], second: &[u8], stride: usize, (width, height): (usize, usize)) {
    let second = second.chunks(stride.max(1));
    for (row, second) in rows(first, stride, width).zip(second).take(height) {
        for (sample, &second) in row.iter_mut().zip(second) {
            *sample = (u16::from(*sample) + u16::from(second)).div_ceil(2) as u8;
        }
    }
}

/// Weights one prediction (8-274, 8-275). `log2_denominator`: 0..=7. `weight` and `offset`:
/// -128..=127.
pub fn single(
    block: &mut [u8],
    stride: usize,
    (width, height): (usize, usize),
    log2_denominator: u8,
    weight: i16,
    offset: i16,
) {
    let shift = u32::from(log2_denominator.min(7));
    let (weight, offset) = (i32::from(weight), i32::from(offset));
    let round = (1 << shift) >> 1;
    for row in rows(block, stride, width).take(height) {
        for sample in row {
            let value = ((i32::from(*sample) * weight + round) >> shift) + offset;
            *sample = value.clamp(0, 255) as u8;
        }
    }
}

/// Weights two predictions (8-276): `first` becomes the result. `log2_denominator`: 0..=7. Explicit
/// `weights` and `offsets`: -128..=127. Implicit mode has [`implicit_weights`], a denominator of 5
/// and offsets of 0.
pub fn double(
    first: &mut [u8],
    second: &[u8],
    stride: usize,
    (width, height): (usize, usize),
    log2_denominator: u8,
    weights: [i16; 2],
    offsets: [i16; 2],
) {
    let shift = u32::from(log2_denominator.min(7));
    let weights = weights.map(i32::from);
    let offset = (i32::from(offsets[0]) + i32::from(offsets[1]) + 1) >> 1;
    let round = 1 << shift;
    let second = second.chunks(stride.max(1));
    for (row, second) in rows(first, stride, width).zip(second).take(height) {
        for (sample, &second) in row.iter_mut().zip(second) {
            let sum = i32::from(*sample) * weights[0] + i32::from(second) * weights[1];
            *sample = (((sum + round) >> (shift + 1)) + offset).clamp(0, 255) as u8;
        }
    }
}

/// DistScaleFactor (8-197 to 8-202) from the picture order counts of the current picture, of the
/// picture in list 0 and of that in list 1. `None` if the two references have the same count.
///
/// For macroblocks of a frame the counts are those of frames; for field macroblocks, of fields.
pub fn dist_scale_factor(current: i32, first: i32, second: i32) -> Option<i32> {
    let tb = current.saturating_sub(first).clamp(-128, 127);
    let td = second.saturating_sub(first).clamp(-128, 127);
    if td == 0 {
        return None;
    }
    let tx = (16384 + (td / 2).abs()) / td;
    Some(((tb * tx + 32) >> 6).clamp(-1024, 1023))
}

/// The weights of implicit mode (8.4.2.3.1), for a denominator of 5, from picture order counts as
/// for [`dist_scale_factor`]. `long_term`: one of the references is a long-term reference.
pub fn implicit_weights(current: i32, first: i32, second: i32, long_term: bool) -> [i16; 2] {
    match dist_scale_factor(current, first, second) {
        Some(factor) if !long_term && (-64..=128).contains(&(factor >> 2)) => {
            let weight = (factor >> 2) as i16;
            [64 - weight, weight]
        }
        _ => [32, 32],
    }
}
