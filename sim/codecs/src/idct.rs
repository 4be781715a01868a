//! The inverse discrete cosine transform that MPEG-2 (ISO/IEC 13818-2 annex A) and JPEG (ITU-T
//! T.81 A.3.3) have in common.
//!
//! Both standards leave the precision open; nothing public says which bits the hardware gives. This
//! transform takes the definition: the exact value, which each codec rounds. It computes in
//! doubles. Their error is below 1e-10 for all coefficients of valid data, so a rounded sample
//! differs from the exact one only where that lies within the codec's tolerance of a half.
//! Integers of 64 bits would not do: two passes leave about 13 bits for the fraction between them,
//! and one sample in some thousands would differ.

/// The square root of 2 times cosine (2x + 1) u pi / 16 for u from 1 to 7 at x = 0. These are
/// the only magnitudes that the transform needs; u = 4 gives 1, as the factor of u = 0 is. So
/// blocks with coefficients only at 0 and 4 are computed without an error.
const COSINES: [f64; 8] = [
    1.0,
    1.387_039_845_322_147_5,
    1.306_562_964_876_376_5,
    1.175_875_602_419_358_7,
    1.0,
    0.785_694_958_387_102_2,
    0.541_196_100_146_197,
    0.275_899_379_282_943,
];

/// The factor of coefficient u in sample x, by u and x, times the square root of 8.
static BASIS: [[f64; 8]; 8] = basis();

const fn basis() -> [[f64; 8]; 8] {
    let mut basis = [[1.0; 8]; 8];
    let mut u = 1;
    while u < 8 {
        let mut x = 0;
        while x < 8 {
            // Reduce the angle (2x + 1) u, in units of pi / 16, to the first quadrant.
            let angle = (2 * x + 1) * u % 32;
            let angle = if angle > 16 { 32 - angle } else { angle };
            basis[u][x] = if angle < 8 { COSINES[angle] } else { -COSINES[16 - angle] };
            x += 1;
        }
        u += 1;
    }
    basis
}

/// The coefficients of a block of samples, exact but for the error of doubles.
pub(crate) fn forward(samples: &[i16; 64]) -> [f64; 64] {
    let mut rows = [0.0; 64];
    for (row, samples) in rows.as_chunks_mut::<8>().0.iter_mut().zip(samples.as_chunks::<8>().0) {
        for (u, out) in row.iter_mut().enumerate() {
            *out = samples.iter().zip(&BASIS[u]).map(|(s, factor)| f64::from(*s) * factor).sum();
        }
    }
    std::array::from_fn(|at| {
        let (v, u) = (at / 8, at % 8);
        (0..8).map(|y| rows[8 * y + u] * BASIS[v][y]).sum::<f64>() / 8.0
    })
}

/// Eight times the samples of a block. `coefficients` are in raster order; the horizontal frequency
/// grows along a row. `rows` has a bit for each row that may have a coefficient other than zero,
/// bit 0 the first row.
#[inline]
pub(crate) fn inverse<T: Copy + Into<f64>>(coefficients: &[T; 64], rows: u8) -> [[f64; 8]; 8] {
    // Even and odd rows of coefficients give sums that are the same for rows y and 7 - y of
    // samples but for the sign of the odd ones.
    let (mut even, mut odd) = ([[0.0; 8]; 4], [[0.0; 8]; 4]);
    for (v, row) in coefficients.chunks_exact(8).enumerate() {
        if rows & 1 << v == 0 {
            continue;
        }
        let across = transform_row(row);
        let sums = if v % 2 == 0 { &mut even } else { &mut odd };
        for (sum, factor) in sums.iter_mut().zip(BASIS[v]) {
            for (sum, sample) in sum.iter_mut().zip(across) {
                *sum += factor * sample;
            }
        }
    }
    let mut out = [[0.0; 8]; 8];
    for y in 0..4 {
        for x in 0..8 {
            out[y][x] = even[y][x] + odd[y][x];
            out[7 - y][x] = even[y][x] - odd[y][x];
        }
    }
    out
}

/// The transform of a row, times the square root of 8.
fn transform_row<T: Copy + Into<f64>>(row: &[T]) -> [f64; 8] {
    let mut out = [0.0; 8];
    for (&coefficient, basis) in row.iter().zip(&BASIS) {
        let coefficient: f64 = coefficient.into();
        if coefficient != 0.0 {
            for (out, factor) in out.iter_mut().zip(basis) {
                *out += coefficient * factor;
            }
        }
    }
    out
}
