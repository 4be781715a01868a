//! What is kept of a decoded macroblock for its neighbours, the deblocking filter and the motion
//! buffer.
//!
//! Macroblocks stand in raster order of the picture. In MBAFF pictures the upper macroblock of a
//! pair (the top field macroblock of a field pair) has the even row, the other the odd row.

/// How a macroblock is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prediction {
    /// `Intra_4x4`.
    Intra4x4,
    /// `Intra_8x8`.
    Intra8x8,
    /// `Intra_16x16`.
    Intra16x16,
    /// `I_PCM`.
    Pcm,
    /// From other pictures.
    #[default]
    Inter,
}

/// A decoded macroblock.
///
/// 4x4 blocks are counted in raster order of the macroblock: block x + 4 * y. 8x8 blocks likewise:
/// x + 2 * y.
#[derive(Clone, Debug)]
pub struct Macroblock {
    /// False: not decoded (yet); nothing else counts.
    pub decoded: bool,
    /// Index of the slice in the order of decoding.
    pub slice: u16,
    /// Field macroblock of an MBAFF frame. False in frames without MBAFF and in fields.
    pub field: bool,
    /// `transform_size_8x8_flag`.
    pub transform_8x8: bool,
    /// Quantisers as the deblocking filter averages them (8.7.2.2): QPY, then QPC of it for Cb and
    /// Cr. 0 to 51; for `I_PCM` QPY is 0.
    pub qp: [u8; 3],
    /// Bit `b`: 4x4 luma block `b` has coefficients other than 0. With the 8x8 transform all four
    /// bits of an 8x8 block. For `Intra_16x16` the DC coefficients do not count.
    pub coefficients: u16,
    /// Reference index of each 8x8 block in lists 0 and 1; -1 for none.
    pub references: [[i8; 4]; 2],
    /// Picture that each 8x8 block refers to, to compare pictures: frame store * 2, + 1 for a
    /// bottom field. Field macroblocks, and all of field pictures, refer to fields, others to
    /// frames. -1 for none.
    pub pictures: [[i8; 4]; 2],
    /// Motion vectors of the 4x4 blocks in lists 0 and 1: x, y in quarter samples; 0 without
    /// reference.
    pub vectors: [[[i16; 2]; 16]; 2],
    /// How it is predicted.
    pub prediction: Prediction,
    /// `P_Skip` or `B_Skip`.
    pub skipped: bool,
    /// Bit `b`: 8x8 block `b` is predicted in direct mode (or `B_Skip`).
    pub direct: u8,
    /// `B_Skip` or `B_Direct_16x16`.
    pub direct_16x16: bool,
    /// `coded_block_pattern`.
    pub pattern: u8,
    /// `intra_chroma_pred_mode`; 0 for inter.
    pub chroma_mode: u8,
    /// `Intra4x4PredMode` or `Intra8x8PredMode` of each 4x4 block; 2 (DC) for other intra
    /// macroblocks and inter.
    pub modes: [u8; 16],
    /// Number of coefficients of each 4x4 block: 16 of Y, 4 of Cb, 4 of Cr.
    pub counts: [u8; 24],
    /// `mb_type` of intra macroblocks as in I slices (table 7-11). Of others as in B slices (table
    /// 7-14), where P slices have the same partitions; 22 for `P_8x8`.
    pub kind: u8,
    /// Parts of each 8x8 block if they have `sub_mb_type`, 0 to 3: 8x8, 8x4, 4x8, 4x4.
    pub parts: [u8; 4],
    /// Number of coefficients other than 0.
    pub levels: u16,
    /// The last macroblock of its slice.
    pub last: bool,
    /// Neighbours that intra prediction may use: flags of the module `intra`. 0 for inter.
    pub available: u8,
    /// Bit `c`: the DC block of component `c` was coded with coefficients (Y of `Intra_16x16`).
    pub dc: u8,
    /// Absolute vector differences of the 4x4 blocks in lists 0 and 1, at most 255.
    pub differences: [[[u8; 2]; 16]; 2],
}

impl Default for Macroblock {
    fn default() -> Self {
        Macroblock {
            decoded: false,
            slice: 0,
            field: false,
            transform_8x8: false,
            qp: [0; 3],
            coefficients: 0,
            references: [[-1; 4]; 2],
            pictures: [[-1; 4]; 2],
            vectors: [[[0; 2]; 16]; 2],
            prediction: Prediction::Inter,
            skipped: false,
            direct: 0,
            direct_16x16: false,
            pattern: 0,
            chroma_mode: 0,
            modes: [2; 16],
            counts: [0; 24],
            kind: 0,
            parts: [0; 4],
            levels: 0,
            last: false,
            available: 0,
            dc: 0,
            differences: [[[0; 2]; 16]; 2],
        }
    }
}

impl Macroblock {
    /// True for intra prediction.
    pub fn is_intra(&self) -> bool {
        self.prediction != Prediction::Inter
    }
}

/// What the deblocking filter needs of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceFilter {
    /// `disable_deblocking_filter_idc`, 0 to 2.
    pub disable: u8,
    /// `FilterOffsetA`: twice `slice_alpha_c0_offset_div2`.
    pub alpha: i8,
    /// `FilterOffsetB`: twice `slice_beta_offset_div2`.
    pub beta: i8,
}
