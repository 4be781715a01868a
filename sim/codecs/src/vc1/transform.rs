//! The inverse transforms (8.3.7 and annex A).

/// Transforms the part of `block` with `width` x `height` coefficients at (`column`, `row`) into
/// samples.
pub(super) fn inverse(
    block: &mut [i32; 64],
    (column, row): (usize, usize),
    (width, height): (usize, usize),
) {
    for row in row..row + height {
        let line = &mut block[row * 8 + column..][..width];
        if width == 8 {
            let values = eight(std::array::from_fn(|n| line[n]));
            line.iter_mut().zip(values).for_each(|(out, value)| *out = (value + 4) >> 3);
        } else {
            let values = four(std::array::from_fn(|n| line[n]));
            line.iter_mut().zip(values).for_each(|(out, value)| *out = (value + 4) >> 3);
        }
    }
    for column in column..column + width {
        let at = |n: usize| (row + n) * 8 + column;
        if height == 8 {
            let values = eight(std::array::from_fn(|n| block[at(n)]));
            for (n, value) in values.into_iter().enumerate() {
                block[at(n)] = (value + 64 + i32::from(n >= 4)) >> 7;
            }
        } else {
            let values = four(std::array::from_fn(|n| block[at(n)]));
            for (n, value) in values.into_iter().enumerate() {
                block[at(n)] = (value + 64) >> 7;
            }
        }
    }
}

/// Eight values times the matrix of the 8-point transform.
#[inline]
fn eight(s: [i32; 8]) -> [i32; 8] {
    let (sum, difference) = (12 * (s[0] + s[4]), 12 * (s[0] - s[4]));
    let (outer, inner) = (16 * s[2] + 6 * s[6], 6 * s[2] - 16 * s[6]);
    let even = [sum + outer, difference + inner, difference - inner, sum - outer];
    let odd = [
        16 * s[1] + 15 * s[3] + 9 * s[5] + 4 * s[7],
        15 * s[1] - 4 * s[3] - 16 * s[5] - 9 * s[7],
        9 * s[1] - 16 * s[3] + 4 * s[5] + 15 * s[7],
        4 * s[1] - 9 * s[3] + 15 * s[5] - 16 * s[7],
    ];
    std::array::from_fn(|n| if n < 4 { even[n] + odd[n] } else { even[7 - n] - odd[7 - n] })
}

/// Four values times the matrix of the 4-point transform.
#[inline]
fn four(s: [i32; 4]) -> [i32; 4] {
    let (sum, difference) = (17 * (s[0] + s[2]), 17 * (s[0] - s[2]));
    let (outer, inner) = (22 * s[1] + 10 * s[3], 10 * s[1] - 22 * s[3]);
    [sum + outer, difference + inner, difference - inner, sum - outer]
}

#[cfg(test)]
mod tests {
    use super::inverse;

    /// The matrices of annex A: a row per coefficient.
    const T8: [[i32; 8]; 8] = [
        [12, 12, 12, 12, 12, 12, 12, 12],
        [16, 15, 9, 4, -4, -9, -15, -16],
        [16, 6, -6, -16, -16, -6, 6, 16],
        [15, -4, -16, -9, 9, 16, 4, -15],
        [12, -12, -12, 12, 12, -12, -12, 12],
        [9, -16, 4, 15, -15, -4, 16, -9],
        [6, -16, 16, -6, -6, 16, -16, 6],
        [4, -9, 15, -16, 16, -15, 9, -4],
    ];
    const T4: [[i32; 4]; 4] =
        [[17, 17, 17, 17], [22, 10, -10, -22], [17, -17, -17, 17], [10, -22, 22, -10]];

    fn matrix(size: usize, row: usize, column: usize) -> i32 {
        if size == 8 { T8[row][column] } else { T4[row][column] }
    }

    /// Oracle: the products of matrices of 8.3.7, with the rounding of annex A.
    #[test]
    fn samples_are_the_matrix_products() {
        let mut random = fastrand::Rng::with_seed(4);
        for (width, height) in [(8, 8), (8, 4), (4, 8), (4, 4)] {
            for _ in 0..500 {
                let coefficients: [i32; 64] = std::array::from_fn(|_| random.i32(-2048..2048));
                let at =
                    (random.usize(0..=8 - width) / 4 * 4, random.usize(0..=8 - height) / 4 * 4);
                let mut samples = coefficients;
                inverse(&mut samples, at, (width, height));
                for y in 0..height {
                    for x in 0..width {
                        let first = |row: usize| {
                            let sum: i32 = (0..width)
                                .map(|u| {
                                    let value = coefficients[(at.1 + row) * 8 + at.0 + u];
                                    value * matrix(width, u, x)
                                })
                                .sum();
                            (sum + 4) >> 3
                        };
                        let sum: i32 = (0..height).map(|v| first(v) * matrix(height, v, y)).sum();
                        let extra = i32::from(height == 8 && y >= 4);
                        let want = (sum + 64 + extra) >> 7;
                        assert_eq!(samples[(at.1 + y) * 8 + at.0 + x], want);
                    }
                }
            }
        }
    }
}
