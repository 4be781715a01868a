//! What CAVLC and CABAC have in common: the syntax elements of a macroblock (7.3.5).

use super::state::Decoder;

/// The kinds of blocks of coefficients (ctxBlockCat, table 9-42).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// DC coefficients of Intra_16x16.
    LumaDc,
    /// AC coefficients of a 4x4 block of Intra_16x16.
    LumaAc,
    /// A 4x4 luma block.
    Luma4x4,
    /// DC coefficients of Cb or Cr.
    ChromaDc,
    /// AC coefficients of a 4x4 block of Cb or Cr.
    ChromaAc,
    /// An 8x8 luma block. Only with CABAC; CAVLC codes four 4x4 blocks.
    Luma8x8,
}

impl Block {
    /// Number of coefficients.
    pub fn size(self) -> usize {
        [16, 15, 16, 4, 15, 64][self as usize]
    }
}

/// The coefficients of a block other than 0.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// Number of coefficients.
    pub count: usize,
    /// Index of each in coding order.
    pub positions: [u8; 64],
    /// Its value.
    pub values: [i32; 64],
}

impl Levels {
    pub fn new() -> Self {
        Levels { count: 0, positions: [0; 64], values: [0; 64] }
    }

    /// Adds a coefficient.
    #[inline]
    pub fn push(&mut self, position: usize, value: i32) {
        self.positions[self.count & 63] = position as u8;
        self.values[self.count & 63] = value;
        self.count += 1;
    }

    /// Positions and values.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, i32)> + '_ {
        let count = self.count.min(64);
        let positions = self.positions[..count].iter().map(|&position| usize::from(position & 63));
        positions.zip(self.values[..count].iter().copied())
    }
}

/// A part of a macroblock with a vector of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// 0 or 1.
    pub list: usize,
    /// Its first 4x4 block.
    pub at: (usize, usize),
    /// Its size in 4x4 blocks.
    pub size: (usize, usize),
    /// Its predicted vector.
    pub predicted: [i16; 2],
}

/// Reads the syntax elements of a macroblock. `None`: the element is out of its range. The context
/// is the macroblock in decoding and its neighbours.
///
/// The encoder implements it, too: it writes each element that the decoder reads, and returns what
/// it has written. So the order of the elements, their contexts and the predictions of their values
/// are the same code in both directions.
pub(super) trait Entropy {
    /// CABAC.
    const ARITHMETIC: bool;

    /// The macroblock is already reconstructed: its elements are written.
    const WRITES: bool;

    /// `mb_field_decoding_flag`.
    fn field_flag(&mut self, context: &Decoder<'_, '_>) -> bool;

    /// `mb_type` as in tables 7-11, 7-13 and 7-14: intra types follow after the 5 of P slices and
    /// the 23 of B slices.
    fn macroblock_type(&mut self, context: &Decoder<'_, '_>) -> Option<u8>;

    /// `sub_mb_type` of 8x8 block `block`, tables 7-17 and 7-18.
    fn sub_type(&mut self, context: &Decoder<'_, '_>, block: usize) -> Option<u8>;

    /// Sets the motion of the 8x8 blocks in `mask`, which have direct prediction.
    fn direct(&mut self, context: &mut Decoder<'_, '_>, mask: u8) {
        context.direct(mask);
    }

    /// `ref_idx_l0` or `ref_idx_l1` of 8x8 block `block`, less than `count`.
    fn reference(
        &mut self,
        context: &Decoder<'_, '_>,
        list: usize,
        block: usize,
        count: u8,
    ) -> Option<i8>;

    /// `mvd_l0` or `mvd_l1` of a part. `sums`: absolute differences of the neighbours, left plus
    /// above.
    fn difference(&mut self, part: &Part, sums: [u16; 2]) -> Option<[i16; 2]>;

    /// `prev_intra4x4_pred_mode_flag` and `rem_intra4x4_pred_mode` of the block whose first 4x4
    /// block is `block`, in raster order. `predicted`: the mode that the flag means.
    fn intra_mode(&mut self, block: usize, predicted: u8) -> u8;

    /// `intra_chroma_pred_mode`.
    fn chroma_mode(&mut self, context: &Decoder<'_, '_>) -> Option<u8>;

    /// `coded_block_pattern`. `intra`: Intra_4x4 or Intra_8x8.
    fn pattern(&mut self, context: &Decoder<'_, '_>, intra: bool) -> Option<u8>;

    /// `transform_size_8x8_flag`.
    fn transform_flag(&mut self, context: &Decoder<'_, '_>) -> bool;

    /// `mb_qp_delta`. `again`: that of the macroblock before, in the slice, was not 0.
    fn quantiser_delta(&mut self, again: bool) -> Option<i32>;

    /// A block of coefficients. `block`: index in [`super::Macroblock::counts`] of a 4x4 block (of
    /// the first one for DC and 8x8 blocks). `levels` is empty.
    fn residual(
        &mut self,
        context: &Decoder<'_, '_>,
        kind: Block,
        block: usize,
        levels: &mut Levels,
    ) -> Option<()>;

    /// `pcm_sample_luma` and `pcm_sample_chroma`.
    fn samples(&mut self, out: &mut [u8]) -> Option<()>;

    /// True if bits after the end of the data were read.
    fn overrun(&self) -> bool;
}
