//! Rounding of the inverse transform (annex A): to the nearest integer, halves up.

use crate::idct;

/// Added before rounding, so that sums which are exactly a half round up whatever the order of
/// the additions.
const TIE: f64 = 1e-9;

/// Adding this to a double rounds it to an integer, which the low bits of the sum then hold.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The samples or differences of a block, in raster order. `coefficients` are in raster order, each
/// in -2048..=2047. `rows` has a bit for each row that may have a coefficient other than zero, bit
/// 0 the first row.
pub fn inverse(coefficients: &[i16; 64], rows: u8) -> [i16; 64] {
    let mut out = [0; 64];
    let sums = idct::inverse(coefficients, rows);
    for (out, sum) in out.iter_mut().zip(sums.as_flattened()) {
        *out = round(*sum);
    }
    out
}

/// The sample of all positions of a block that has the DC coefficient alone.
pub fn flat(dc: i16) -> i16 {
    (dc + 4) >> 3
}

/// An eighth of `sum`, rounded.
#[inline]
fn round(sum: f64) -> i16 {
    ((sum * 0.125 + TIE) + ROUND).to_bits() as i16
}
