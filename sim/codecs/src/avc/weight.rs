//! Weighted prediction of inter macroblocks (8.4.2.3) and its implicit weights.
//!
//! A block of predictions is `width` x `height` samples at the start of a slice, with a stride.

/// Rows of `width` samples.
fn rows(block: &mut [u8], stride: usize, width: usize) -> impl Iterator<Item = &mut [u8]> {
    block.chunks_mut(stride.max(1)).filter_map(move |row| row.get_mut(..width))
}

/// The default of two predictions (8.4.2.3.1): `first` becomes their mean.
pub fn average(first: &mut [u8], second: &[u8], stride: usize, (width, height): (usize, usize)) {
    let second = second.chunks(stride.max(1));
    for (row, second) in rows(first, stride, width).zip(second).take(height) {
        for (sample, &second) in row.iter_mut().zip(second) {
            *sample = (u16::from(*sample) + u16::from(second)).div_ceil(2) as u8;
        }
    }
}

/// Weights one prediction (8.4.2.3.2). `log2_denominator`: 0..=7. `weight` and `offset`:
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

/// Weights two predictions (8.4.2.3.2): `first` becomes the result. `log2_denominator`: 0..=7.
/// Explicit `weights` and `offsets`: -128..=127. Implicit mode has [`implicit_weights`], a
/// denominator of 5 and offsets of 0.
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

/// DistScaleFactor (8.4.1.2.3) from the picture order counts of the current picture, of the
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

/// The weights of implicit mode (8.4.3), for a denominator of 5, from picture order counts as
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

#[cfg(test)]
mod tests {
    use super::*;

    fn random_block(random: &mut fastrand::Rng) -> [u8; 16 * 9] {
        std::array::from_fn(|_| random.u8(..))
    }

    /// Oracle: the equations of 8.4.2.3, sample by sample in 64 bits.
    #[test]
    fn weights_follow_the_equations() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let (first, second) = (random_block(&mut random), random_block(&mut random));
            let size = ([2, 4, 8, 16][random.usize(0..4)], random.usize(1..=9));
            let shift = random.u8(0..=7);
            let mut small = || i16::from(random.i8(..));
            let (weights, offsets) = ([small(), small()], [small(), small()]);
            let check = |got: [u8; 144], want: &dyn Fn(i64, i64) -> i64| {
                for at in 0..got.len() {
                    let inside = at % 16 < size.0 && at / 16 < size.1;
                    let value = want(first[at].into(), second[at].into()).clamp(0, 255) as u8;
                    assert_eq!(got[at], if inside { value } else { first[at] });
                }
            };
            let [w0, w1, o0, o1] = [weights[0], weights[1], offsets[0], offsets[1]].map(i64::from);

            let mut got = first;
            average(&mut got, &second, 16, size);
            check(got, &|a, b| (a + b + 1) >> 1);

            let mut got = first;
            single(&mut got, 16, size, shift, weights[0], offsets[0]);
            check(got, &|a, _| match shift {
                0 => a * w0 + o0,
                _ => ((a * w0 + (1 << (shift - 1))) >> shift) + o0,
            });

            let mut got = first;
            double(&mut got, &second, 16, size, shift, weights, offsets);
            check(got, &|a, b| {
                ((a * w0 + b * w1 + (1 << shift)) >> (shift + 1)) + ((o0 + o1 + 1) >> 1)
            });
        }
    }

    /// Oracle: distances of pictures, for which the weights are known: the nearer reference counts
    /// more, in proportion.
    #[test]
    fn implicit_weights_follow_the_distances() {
        assert_eq!(implicit_weights(4, 0, 8, false), [32, 32]);
        assert_eq!(implicit_weights(2, 0, 8, false), [48, 16]);
        assert_eq!(implicit_weights(6, 0, 8, false), [16, 48]);
        // Both references before the picture.
        assert_eq!(implicit_weights(8, 4, 0, false), [128, -64]);
        assert_eq!(implicit_weights(8, 0, 4, false), [-64, 128]);
        // Out of the range, no distance, long term.
        assert_eq!(implicit_weights(16, 0, 4, false), [32, 32]);
        assert_eq!(implicit_weights(8, 4, 4, false), [32, 32]);
        assert_eq!(implicit_weights(2, 0, 8, true), [32, 32]);
        assert_eq!(dist_scale_factor(2, 0, 8), Some(64));
        assert_eq!(dist_scale_factor(i32::MAX, i32::MIN, 5), Some(256));
    }
}
