//! The tables of SMPTE 421M (clause 11 and where named), as data. Writers of streams may use them
//! as well.

mod coefficients;
mod macroblock;
mod motion;
mod scan;

pub use coefficients::*;
pub use macroblock::*;
pub use motion::*;
pub use scan::*;

/// A code of variable length: its bits and their number. Its index in a table is the symbol.
pub type Code = (u32, u8);

/// How a block of 8x8 coefficients is transformed and which parts of it are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Transform {
    /// One 8x8 transform.
    #[default]
    Whole = 0,
    /// 8 columns, 4 rows; only the lower half is coded.
    Lower = 1,
    /// 8 columns, 4 rows; only the upper half is coded.
    Upper = 2,
    /// 8 columns, 4 rows.
    Halves = 3,
    /// 4 columns, 8 rows; only the right half is coded.
    Right = 4,
    /// 4 columns, 8 rows; only the left half is coded.
    Left = 5,
    /// 4 columns, 8 rows.
    Sides = 6,
    /// Four 4x4 transforms.
    Quarters = 7,
}

impl Transform {
    /// All, in the order of the symbols of [`TTMB`].
    pub const ALL: [Transform; 8] = [
        Transform::Whole,
        Transform::Lower,
        Transform::Upper,
        Transform::Halves,
        Transform::Right,
        Transform::Left,
        Transform::Sides,
        Transform::Quarters,
    ];

    /// TTFRM: the transform of all blocks of a picture.
    pub const OF_PICTURE: [Transform; 4] =
        [Transform::Whole, Transform::Halves, Transform::Sides, Transform::Quarters];
}

/// Meaning of the symbols of [`TTBLK`], by the range of PQUANT.
pub static TTBLK_TRANSFORM: [[Transform; 8]; 3] = {
    use Transform::{Halves, Left, Lower, Quarters, Right, Sides, Upper, Whole};
    [
        [Halves, Sides, Whole, Quarters, Upper, Lower, Right, Left],
        [Whole, Right, Left, Quarters, Halves, Sides, Lower, Upper],
        [Whole, Sides, Quarters, Lower, Right, Left, Halves, Upper],
    ]
};

/// Vectors of a macroblock of an interlaced frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameVectors {
    /// One vector for all.
    One,
    /// A vector per field.
    Fields,
    /// A vector per 8x8 block.
    Four,
    /// Two vectors per field, of its left and its right half.
    FourFields,
    /// None.
    Intra,
}

/// MBMODE of interlaced frames.
#[derive(Clone, Copy, Debug)]
pub struct FrameMode {
    /// Vectors of the macroblock.
    pub vectors: FrameVectors,
    /// Blocks 0 and 1 are rows of the top field, 2 and 3 of the bottom field.
    pub field_transform: bool,
    /// The only vector has a difference to its prediction.
    pub difference: bool,
    /// CBPCY follows.
    pub coded: bool,
}

const fn mode(
    vectors: FrameVectors,
    field_transform: bool,
    difference: bool,
    coded: bool,
) -> FrameMode {
    FrameMode { vectors, field_transform, difference, coded }
}

/// Meaning of the symbols of [`FRAME_MODE`] (tables 164 to 167).
pub static FRAME_MODES: [FrameMode; 9] = [
    mode(FrameVectors::One, false, true, true),
    mode(FrameVectors::One, true, true, true),
    mode(FrameVectors::One, false, true, false),
    mode(FrameVectors::One, false, false, true),
    mode(FrameVectors::One, true, false, true),
    mode(FrameVectors::Fields, false, false, true),
    mode(FrameVectors::Fields, true, false, true),
    mode(FrameVectors::Fields, true, false, false),
    mode(FrameVectors::Intra, false, false, false),
];

/// Meaning of the symbols of [`FRAME_MODE_4MV`] (tables 160 to 163).
pub static FRAME_MODES_4MV: [FrameMode; 15] = [
    FRAME_MODES[0],
    FRAME_MODES[1],
    FRAME_MODES[2],
    FRAME_MODES[3],
    FRAME_MODES[4],
    FRAME_MODES[5],
    FRAME_MODES[6],
    FRAME_MODES[7],
    mode(FrameVectors::Four, false, false, true),
    mode(FrameVectors::Four, true, false, true),
    mode(FrameVectors::Four, false, false, false),
    mode(FrameVectors::FourFields, false, false, true),
    mode(FrameVectors::FourFields, true, false, true),
    mode(FrameVectors::FourFields, true, false, false),
    FRAME_MODES[8],
];

/// Number of bits of a difference class of [`MVDATA`] (8.3.5.2).
pub static MVDATA_BITS: [u8; 6] = [0, 2, 3, 4, 5, 8];

/// The smallest absolute difference of a class of [`MVDATA`] (8.3.5.2).
pub static MVDATA_OFFSET: [u8; 6] = [0, 1, 3, 7, 15, 31];

/// The smallest absolute difference of a class of [`MVDATA_ONE_REFERENCE`] and
/// [`MVDATA_TWO_REFERENCES`] (10.3.5.4), without and with the extended range.
pub static MVDATA_INTERLACED_OFFSET: [[u8; 9]; 2] =
    [[0, 1, 2, 4, 8, 16, 32, 64, 128], [0, 1, 3, 7, 15, 31, 63, 127, 255]];

/// Scale factors of motion vectors of fields.
#[derive(Clone, Copy, Debug)]
pub struct FieldScale {
    /// Vectors to the near field that are scaled to the far one, all over.
    pub plain: i32,
    /// The other direction, in the first zone.
    pub zone1: i32,
    /// The other direction, in the second zone.
    pub zone2: i32,
    /// Width of the first zone in x and y.
    pub width: [i32; 2],
    /// Offset of the second zone in x and y.
    pub offset: [i32; 2],
}

const fn scale(values: [i32; 7]) -> FieldScale {
    let [plain, zone1, zone2, width_x, width_y, offset_x, offset_y] = values;
    FieldScale { plain, zone1, zone2, width: [width_x, width_y], offset: [offset_x, offset_y] }
}

/// Scales of P fields, and of forward vectors of B fields (table 114), for the first and the
/// second field of a frame, by reference distance.
pub static FIELD_SCALE: [[FieldScale; 4]; 2] = [
    [
        scale([128, 512, 219, 32, 8, 37, 10]),
        scale([192, 341, 236, 48, 12, 20, 5]),
        scale([213, 307, 242, 53, 13, 14, 4]),
        scale([224, 293, 245, 56, 14, 11, 3]),
    ],
    [
        scale([128, 512, 219, 32, 8, 37, 10]),
        scale([64, 1024, 204, 16, 4, 52, 13]),
        scale([43, 1536, 200, 11, 3, 56, 14]),
        scale([32, 2048, 198, 8, 2, 58, 15]),
    ],
];

/// Scales of backward vectors of the first B field of a frame (table 115), by backward reference
/// distance. Near and far are the other way round than in [`FIELD_SCALE`].
pub static BACKWARD_SCALE: [FieldScale; 4] = [
    scale([171, 384, 230, 43, 11, 26, 7]),
    scale([205, 320, 239, 51, 13, 17, 4]),
    scale([219, 299, 244, 55, 14, 12, 3]),
    scale([228, 288, 246, 57, 14, 10, 3]),
];

/// Vertical chroma vectors of field vectors in interlaced frames (10.7), by the four low bits
/// of the luma vector.
pub static FIELD_CHROMA: [u8; 16] = [0, 0, 1, 2, 4, 4, 5, 6, 2, 2, 3, 8, 6, 6, 7, 12];

#[cfg(test)]
mod tests {
    use super::*;

    /// A prefix code that fills all bit strings has the Kraft sum 1. Two coding sets leave one
    /// short string unused (oracle: the standard's tables end there).
    #[test]
    fn codes_are_complete() {
        let sum = |codes: &[Code]| {
            assert!(codes.iter().all(|&(code, length)| u64::from(code) < 1 << length));
            codes.iter().map(|&(_, length)| 2f64.powi(-i32::from(length))).sum::<f64>()
        };
        let tables: [&[&[Code]]; 15] = [
            &CBPCY_INTRA,
            &CBPCY,
            &CBPCY_INTERLACED,
            &TTMB,
            &TTBLK,
            &SUBBLKPAT,
            &TWO_MV_PATTERN,
            &FOUR_MV_PATTERN,
            &FRAME_MODE_4MV,
            &FRAME_MODE,
            &FIELD_MODE_MIXED,
            &FIELD_MODE,
            &MVDATA,
            &MVDATA_ONE_REFERENCE,
            &MVDATA_TWO_REFERENCES,
        ];
        for table in tables.into_iter().chain([&DC_LUMA[..], &DC_CHROMA[..]]).flatten() {
            assert_eq!(sum(table), 1.0);
        }
        for (set, table) in COEFFICIENTS.iter().enumerate() {
            assert_eq!(sum(table), if set == 4 || set == 5 { 511.0 / 512.0 } else { 1.0 });
            let pairs: usize =
                MAX_LEVEL[set].iter().flat_map(|runs| *runs).map(|&n| n as usize).sum();
            assert_eq!(table.len(), pairs + 1);
        }
    }

    #[test]
    fn scans_visit_every_coefficient_once() {
        let sorted = |scan: &[u8]| {
            let mut scan = scan.to_vec();
            scan.sort_unstable();
            scan
        };
        let area = |columns: u8, rows: u8| -> Vec<u8> {
            (0..rows).flat_map(|row| (0..columns).map(move |column| row * 8 + column)).collect()
        };
        for scan in [INTER_8X8, INTRA, INTRA_FROM_ABOVE, INTRA_FROM_LEFT, INTERLACED_8X8] {
            assert_eq!(sorted(&scan), area(8, 8));
        }
        for scan in [INTER_8X4_MAIN, INTER_8X4, INTERLACED_8X4] {
            assert_eq!(sorted(&scan), area(8, 4));
        }
        for scan in [INTER_4X8_MAIN, INTER_4X8, INTERLACED_4X8] {
            assert_eq!(sorted(&scan), area(4, 8));
        }
        for scan in [INTER_4X4, INTERLACED_4X4] {
            assert_eq!(sorted(&scan), area(4, 4));
        }
    }
}
