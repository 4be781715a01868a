//! The inverse discrete cosine transform (annex A).
//!
//! The standard bounds the error of this transform and leaves the last bit open; nothing public
//! says which bits the hardware gives. This one takes the definition: the exact value, rounded to
//! the nearest integer, halves up. It computes in doubles. Their error is below 1e-10, so that a
//! sample differs from the exact one only where that lies within 1e-9 of a half. Integers of 64
//! bits would not do: two passes leave about 13 bits for the fraction between them, and one sample
//! in some thousands would differ.

use super::block::Block;

/// Added before rounding, so that sums which are exactly a half round up whatever the order of
/// the additions.
const TIE: f64 = 1e-9;

/// Adding this to a double rounds it to an integer, which the low bits of the sum then hold.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The square root of 2 times cosine (2x + 1) u pi / 16 for u from 1 to 7 at x = 0. These are
/// the only magnitudes that the transform needs; u = 4 gives 1, as the factor of u = 0 is.
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

/// The samples or differences of a block, in raster order.
pub fn inverse(block: &Block) -> [i16; 64] {
    let mut out = [0; 64];
    if block.is_dc_only() {
        out.fill((block.coefficients[0] + 4) >> 3);
        return out;
    }
    // Even and odd rows of coefficients give sums that are the same for rows y and 7 - y of
    // samples but for the sign of the odd ones.
    let (mut even, mut odd) = ([[0.0; 8]; 4], [[0.0; 8]; 4]);
    for (v, row) in block.coefficients.chunks_exact(8).enumerate() {
        if block.rows & 1 << v == 0 {
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
    for y in 0..4 {
        for x in 0..8 {
            out[8 * y + x] = round(even[y][x] + odd[y][x]);
            out[8 * (7 - y) + x] = round(even[y][x] - odd[y][x]);
        }
    }
    out
}

/// The transform of a row, times the square root of 8.
fn transform_row(row: &[i16]) -> [f64; 8] {
    let mut out = [0.0; 8];
    for (&coefficient, basis) in row.iter().zip(&BASIS) {
        if coefficient != 0 {
            for (out, factor) in out.iter_mut().zip(basis) {
                *out += f64::from(coefficient) * factor;
            }
        }
    }
    out
}

/// An eighth of `sum`, rounded.
#[inline]
fn round(sum: f64) -> i16 {
    ((sum * 0.125 + TIE) + ROUND).to_bits() as i16
}
