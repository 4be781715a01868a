//! The zigzag scan of JPEG, MPEG-2, VP8 and AVC: the raster position of each coefficient of a
//! block, from the lowest to the highest frequency.

/// The scan of a block of 4x4 coefficients (H.264 8.5.6; RFC 6386 13).
pub const ZIGZAG_4X4: [u8; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// The scan of a block of 8x8 coefficients (T.81 figure A.6; ISO/IEC 13818-2 figure 7-2; H.264
/// 8.5.7).
pub const ZIGZAG_8X8: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, //
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, //
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, //
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

#[cfg(test)]
mod tests {
    use super::{ZIGZAG_4X4, ZIGZAG_8X8};

    /// Oracle: a walk along the diagonals.
    #[test]
    fn scans_walk_along_the_diagonals() {
        fn zigzag(size: i32) -> Vec<u8> {
            let diagonal = |sum: i32| {
                let rows: Vec<i32> = ((sum - size + 1).max(0)..=sum.min(size - 1)).collect();
                let down = sum % 2 == 1;
                let rows = if down { rows } else { rows.into_iter().rev().collect() };
                rows.into_iter().map(move |row| (row * size + sum - row) as u8)
            };
            (0..2 * size - 1).flat_map(diagonal).collect()
        }
        assert_eq!(ZIGZAG_4X4.to_vec(), zigzag(4));
        assert_eq!(ZIGZAG_8X8.to_vec(), zigzag(8));
    }
}
