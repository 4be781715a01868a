//! The inverse discrete cosine transform (T.81 A.3.3) and the level shift (T.81 A.3.1).
//!
//! The standard leaves the precision open. What the engine computes is not known. This transform
//! gives the exact result, rounded: arithmetic in double precision has an error of less than
//! 2^-30 for all coefficients that a valid picture has.

/// sqrt(2) * cos(n * pi / 16) for n of 0 to 7. The entry for 4 is exactly 1, so that blocks with
/// coefficients only at 0 and 4 are computed without an error.
const FACTORS: [f64; 8] = [
    std::f64::consts::SQRT_2,
    1.387_039_845_322_147_5,
    1.306_562_964_876_376_5,
    1.175_875_602_419_358_8,
    1.0,
    0.785_694_958_387_102_2,
    0.541_196_100_146_197,
    0.275_899_379_282_943_1,
];

/// The exact result can be halfway between two integers. Such a result is rounded down, as FFmpeg
/// does whose factor for coefficient 4 is a little smaller than the exact one. This is more than the
/// error of the arithmetic, which must not turn such a result up.
const TIE: f64 = 1.0 / (1 << 30) as f64;

type Matrix = [[f64; 8]; 8];

/// The samples of a block, in raster order. `coefficients` are dequantised, in raster order; the
/// horizontal frequency grows along a row.
pub fn samples(coefficients: &[f64; 64]) -> [u8; 64] {
    let mut matrix: Matrix = [[0.0; 8]; 8];
    for (row, from) in matrix.iter_mut().zip(coefficients.chunks_exact(8)) {
        row.copy_from_slice(from);
    }
    // Each pass transforms columns. The second one transforms rows, which it sees as columns.
    let matrix = transform(&transpose(&transform(&matrix)));
    let mut samples = [0; 64];
    for (x, column) in matrix.iter().enumerate() {
        for (y, value) in column.iter().enumerate() {
            samples[8 * y + x] = level(*value);
        }
    }
    samples
}

/// The sample of all positions of a block that has the DC coefficient alone.
pub fn flat(dc: f64) -> u8 {
    level(dc)
}

/// Eight times the value before the level shift becomes a sample. The conversion to `u8` rounds
/// towards zero and saturates.
#[inline]
fn level(value: f64) -> u8 {
    (value * 0.125 + (128.5 - TIE)) as u8
}

fn transpose(matrix: &Matrix) -> Matrix {
    let mut out: Matrix = [[0.0; 8]; 8];
    for (row, from) in matrix.iter().enumerate() {
        for (column, value) in from.iter().enumerate() {
            out[column][row] = *value;
        }
    }
    out
}

/// Transforms each column: `out[x] = in[0] + sum of in[u] * sqrt(2) * cos((2x + 1) * u * pi / 16)`.
/// That is sqrt(8) times the transform of the standard, so two passes are 8 times its result.
fn transform(rows: &Matrix) -> Matrix {
    let [_, k1, k2, k3, _, k5, k6, k7] = FACTORS;
    let mut out: Matrix = [[0.0; 8]; 8];
    for lane in 0..8 {
        let [f0, f1, f2, f3] = [0, 1, 2, 3].map(|row| rows[row][lane]);
        let [f4, f5, f6, f7] = [4, 5, 6, 7].map(|row| rows[row][lane]);
        // Cosines of even multiples are the same in both halves of the output, and those of odd
        // multiples differ in sign.
        let (sum, difference) = (f0 + f4, f0 - f4);
        let (outer, inner) = (f2 * k2 + f6 * k6, f2 * k6 - f6 * k2);
        let even = [sum + outer, difference + inner, difference - inner, sum - outer];
        let odd = [
            (f1 * k1 + f3 * k3) + (f5 * k5 + f7 * k7),
            (f1 * k3 - f3 * k7) - (f5 * k1 + f7 * k5),
            (f1 * k5 - f3 * k1) + (f5 * k7 + f7 * k3),
            (f1 * k7 - f3 * k5) + (f5 * k3 - f7 * k1),
        ];
        for x in 0..4 {
            out[x][lane] = even[x] + odd[x];
            out[7 - x][lane] = even[x] - odd[x];
        }
    }
    out
}
