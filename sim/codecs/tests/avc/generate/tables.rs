//! The decoder's tables, which both directions of the codes share. FFmpeg reads what is written
//! with them.

#[allow(dead_code)]
#[path = "../../../src/avc/cabac_tables.rs"]
mod cabac;
#[allow(dead_code)]
#[path = "../../../src/avc/cavlc_tables.rs"]
mod cavlc;

pub use cabac::{INITIAL, LAST_8X8, LPS_NEXT, LPS_RANGE, SIGNIFICANT_8X8};
pub use cavlc::{
    COEFF_TOKEN, COEFF_TOKEN_CHROMA_DC, Code, RUN_BEFORE, TOTAL_ZEROS, TOTAL_ZEROS_CHROMA_DC,
};

/// coded_block_pattern by codeNum with chroma (table 9-4 a): intra, inter.
#[rustfmt::skip]
pub static PATTERNS: [[u8; 48]; 2] = [
    [
        47, 31, 15, 0, 23, 27, 29, 30, 7, 11, 13, 14, 39, 43, 45, 46,
        16, 3, 5, 10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1, 2, 4,
        8, 17, 18, 20, 24, 6, 9, 22, 25, 32, 33, 34, 36, 40, 38, 41,
    ],
    [
        0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7, 11, 13,
        14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45, 46,
        17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
    ],
];

/// coded_block_pattern by codeNum without chroma (table 9-4 b): intra, inter.
pub static PATTERNS_LUMA: [[u8; 16]; 2] = [
    [15, 0, 7, 11, 13, 14, 3, 5, 10, 12, 1, 2, 4, 8, 6, 9],
    [0, 1, 2, 4, 8, 3, 5, 10, 12, 15, 7, 11, 13, 14, 6, 9],
];

/// Bins of mb_type in B slices (table 9-37 b), of types 0 to 22 and of the prefix of intra types.
pub static B_TYPES: [&[u8]; 24] = [
    &[0],
    &[1, 0, 0],
    &[1, 0, 1],
    &[1, 1, 0, 0, 0, 0],
    &[1, 1, 0, 0, 0, 1],
    &[1, 1, 0, 0, 1, 0],
    &[1, 1, 0, 0, 1, 1],
    &[1, 1, 0, 1, 0, 0],
    &[1, 1, 0, 1, 0, 1],
    &[1, 1, 0, 1, 1, 0],
    &[1, 1, 0, 1, 1, 1],
    &[1, 1, 1, 1, 1, 0],
    &[1, 1, 1, 0, 0, 0, 0],
    &[1, 1, 1, 0, 0, 0, 1],
    &[1, 1, 1, 0, 0, 1, 0],
    &[1, 1, 1, 0, 0, 1, 1],
    &[1, 1, 1, 0, 1, 0, 0],
    &[1, 1, 1, 0, 1, 0, 1],
    &[1, 1, 1, 0, 1, 1, 0],
    &[1, 1, 1, 0, 1, 1, 1],
    &[1, 1, 1, 1, 0, 0, 0],
    &[1, 1, 1, 1, 0, 0, 1],
    &[1, 1, 1, 1, 1, 1],
    &[1, 1, 1, 1, 0, 1],
];

/// Lists that the two partitions of B types 4, 6, 8 ... and 5, 7, 9 ... use: 1 list 0, 2 list 1,
/// 3 both (table 7-14).
pub static B_HALVES: [[u8; 2]; 9] =
    [[1, 1], [2, 2], [1, 2], [2, 1], [1, 3], [2, 3], [3, 1], [3, 2], [3, 3]];

/// sub_mb_type in B macroblocks (table 7-18): lists, width and height in 4x4 blocks. The first is
/// direct.
pub static B_SUB: [(u8, usize, usize); 13] = [
    (0, 1, 1),
    (1, 2, 2),
    (2, 2, 2),
    (3, 2, 2),
    (1, 2, 1),
    (1, 1, 2),
    (2, 2, 1),
    (2, 1, 2),
    (3, 2, 1),
    (3, 1, 2),
    (1, 1, 1),
    (2, 1, 1),
    (3, 1, 1),
];

/// Bins of sub_mb_type in B macroblocks (table 9-38 b).
pub static B_SUB_BINS: [&[u8]; 13] = [
    &[0],
    &[1, 0, 0],
    &[1, 0, 1],
    &[1, 1, 0, 0, 0],
    &[1, 1, 0, 0, 1],
    &[1, 1, 0, 1, 0],
    &[1, 1, 0, 1, 1],
    &[1, 1, 1, 0, 0, 0],
    &[1, 1, 1, 0, 0, 1],
    &[1, 1, 1, 0, 1, 0],
    &[1, 1, 1, 0, 1, 1],
    &[1, 1, 1, 1, 0],
    &[1, 1, 1, 1, 1],
];
