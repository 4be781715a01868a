//! Rounding of the inverse transform (T.81 A.3.3), and the level shift (T.81 A.3.1).

use crate::idct;

/// The exact result can be halfway between two integers. Such a result is rounded down, as FFmpeg
/// does, whose factor for coefficient 4 is a little smaller than the exact one. The tolerance is
/// more than the error of the arithmetic, which must not turn such a result up.
const TIE: f64 = 1.0 / (1 << 30) as f64;

/// The samples of a block, in raster order. `coefficients` are dequantised, in raster order. `rows`
/// has a bit for each row that may have a coefficient other than zero, bit 0 the first row.
pub fn samples(coefficients: &[f64; 64], rows: u8) -> [u8; 64] {
    let mut samples = [0; 64];
    let sums = idct::inverse(coefficients, rows);
    for (sample, sum) in samples.iter_mut().zip(sums.as_flattened()) {
        *sample = level(*sum);
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
