//! Functions 2, 6 and 7 of sample_8x8: the extremes of a block, and its moments.

use super::source::{Bits, Numbers};

/// Extent of the block of MinMax and Centroid.
pub const BLOCK: [usize; 2] = [16, 8];
/// Extent of the block of BoolCentroid.
pub const BIT_BLOCK: [usize; 2] = [64, 4];
/// Number of columns in each result of BoolCentroid.
pub const PART: usize = 32;

/// The smallest and the largest number of a block.
pub fn extremes(numbers: &Numbers) -> [i32; 2] {
    let block = || numbers[..BLOCK[1]].iter().flat_map(|row| &row[..BLOCK[0]]);
    [block().min(), block().max()].map(|number| number.copied().unwrap_or(0))
}

/// The moment of a column in the vertical direction, and its sum.
pub fn centroid(numbers: &Numbers, column: usize, height: usize) -> [i32; 2] {
    (0..height).fold([0, 0], |[moment, sum], row| {
        let number = numbers[row][column];
        [moment + row as i32 * number, sum + number]
    })
}

/// The horizontal and the vertical moment of some columns of bits, and the number of ones.
pub fn bit_centroid(bits: &Bits, columns: std::ops::Range<usize>, height: usize) -> [u32; 3] {
    let mut sums = [0; 3];
    for (row, bits) in bits[..height].iter().enumerate() {
        for column in columns.clone().filter(|column| bits >> column & 1 == 1) {
            sums[0] += column as u32;
            sums[1] += row as u32;
            sums[2] += 1;
        }
    }
    sums
}
