//! The inverse transforms (RFC 6386 section 14).

/// The inverse Walsh-Hadamard transform of the second-order luma block (RFC 6386 14.3). Value i of
/// the result is the DC coefficient of luma block i. Intermediate values are kept in 16 bits as in
/// the standard's decoder.
pub fn inverse_walsh(input: &[i16; 16]) -> [i16; 16] {
    let mut rows = [0i16; 16];
    for i in 0..4 {
        let at = |row: usize| i32::from(input[4 * row + i]);
        let [a, b, c, d] = [at(0), at(1), at(2), at(3)];
        let (outer, inner) = (a + d, b + c);
        let (outer_difference, inner_difference) = (a - d, b - c);
        rows[i] = (outer + inner) as i16;
        rows[4 + i] = (outer_difference + inner_difference) as i16;
        rows[8 + i] = (outer - inner) as i16;
        rows[12 + i] = (outer_difference - inner_difference) as i16;
    }
    let mut out = [0; 16];
    for (row, out) in rows.chunks_exact(4).zip(out.chunks_exact_mut(4)) {
        let at = |column: usize| i32::from(row[column]);
        let (outer, inner) = (at(0) + at(3), at(1) + at(2));
        let (outer_difference, inner_difference) = (at(0) - at(3), at(1) - at(2));
        out[0] = ((outer + inner + 3) >> 3) as i16;
        out[1] = ((outer_difference + inner_difference + 3) >> 3) as i16;
        out[2] = ((outer - inner + 3) >> 3) as i16;
        out[3] = ((outer_difference - inner_difference + 3) >> 3) as i16;
    }
    out
}

/// `value` times the square root of 2 times the cosine of pi / 8.
#[inline]
fn by_cosine(value: i32) -> i32 {
    value + ((value * 20091) >> 16)
}

/// `value` times the square root of 2 times the sine of pi / 8.
#[inline]
fn by_sine(value: i32) -> i32 {
    (value * 35468) >> 16
}

/// One dimension of the inverse DCT.
#[inline]
fn inverse_dct_line([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    let (even_sum, even_difference) = (a + c, a - c);
    let odd_difference = by_sine(b) - by_cosine(d);
    let odd_sum = by_cosine(b) + by_sine(d);
    [
        even_sum + odd_sum,
        even_difference + odd_difference,
        even_difference - odd_difference,
        even_sum - odd_sum,
    ]
}

/// The inverse DCT (RFC 6386 14.4). Intermediate values are kept in 16 bits as in the standard's
/// decoder.
pub fn inverse_dct(input: &[i16; 16]) -> [i16; 16] {
    let mut half = [0i16; 16];
    for column in 0..4 {
        let at = |row: usize| i32::from(input[4 * row + column]);
        let line = inverse_dct_line([at(0), at(1), at(2), at(3)]);
        for (row, value) in line.into_iter().enumerate() {
            half[4 * row + column] = value as i16;
        }
    }
    let mut out = [0i16; 16];
    for row in 0..4 {
        let at = |column: usize| i32::from(half[4 * row + column]);
        let line = inverse_dct_line([at(0), at(1), at(2), at(3)]);
        for (column, value) in line.into_iter().enumerate() {
            out[4 * row + column] = ((value + 4) >> 3) as i16;
        }
    }
    out
}

/// Adds the transformed block to the prediction at the start of `samples` (RFC 6386 14.5).
/// `dc_only` states that all coefficients but the first are zero.
pub fn add(samples: &mut [u8], stride: usize, input: &[i16; 16], dc_only: bool) {
    let residual =
        if dc_only { [((i32::from(input[0]) + 4) >> 3) as i16; 16] } else { inverse_dct(input) };
    for (row, residual) in residual.chunks_exact(4).enumerate() {
        let start = row * stride;
        for (sample, &residual) in samples[start..start + 4].iter_mut().zip(residual) {
            *sample = (i32::from(*sample) + i32::from(residual)).clamp(0, 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{add, inverse_dct, inverse_walsh};

    fn block(random: &mut fastrand::Rng, largest: i16) -> [i16; 16] {
        [(); 16].map(|()| if random.bool() { random.i16(-largest..=largest) } else { 0 })
    }

    /// Oracle: the definition of the DCT, in floating point. The standard's constants are rounded.
    #[test]
    fn inverse_dct_is_near_the_definition() {
        let mut random = fastrand::Rng::with_seed(3);
        let basis = |frequency: usize, at: usize| {
            let angle = std::f64::consts::PI * frequency as f64 * (2 * at + 1) as f64 / 8.0;
            if frequency == 0 { 0.5f64.sqrt() } else { angle.cos() }
        };
        for _ in 0..2000 {
            let input = block(&mut random, 2000);
            let out = inverse_dct(&input);
            for (at, &value) in out.iter().enumerate() {
                let sum: f64 = (0..16)
                    .map(|index| {
                        let factor = basis(index / 4, at / 4) * basis(index % 4, at % 4);
                        f64::from(input[index]) * factor
                    })
                    .sum();
                // An orthonormal transform has half of this factor in each dimension; the
                // coefficients of VP8 are larger by the factor 4 in total.
                let want = sum * 2.0 / 8.0;
                assert!((f64::from(value) - want).abs() < 1.5, "{input:?}: {value} {want}");
            }
        }
    }

    /// Oracle: the product with the Hadamard matrix, which has no rounding before the end.
    #[test]
    fn inverse_walsh_is_the_product_with_the_matrix() {
        let matrix = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, -1, 1], [1, -1, 1, -1]];
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..2000 {
            let input = block(&mut random, 2000);
            let out = inverse_walsh(&input);
            for (at, &value) in out.iter().enumerate() {
                let sum: i32 = (0..16)
                    .map(|index| {
                        let factor = matrix[index / 4][at / 4] * matrix[index % 4][at % 4];
                        i32::from(input[index]) * factor
                    })
                    .sum();
                assert_eq!(i32::from(value), (sum + 3) >> 3, "{input:?}");
            }
        }
    }

    #[test]
    fn a_block_with_dc_alone_needs_no_transform() {
        for dc in -2000..2000 {
            let mut input = [0; 16];
            input[0] = dc;
            let (mut fast, mut slow) = ([100; 16], [100; 16]);
            add(&mut fast, 4, &input, true);
            add(&mut slow, 4, &input, false);
            assert_eq!(fast, slow, "{dc}");
        }
    }
}
