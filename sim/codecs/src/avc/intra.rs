//! Prediction of intra macroblocks from the samples around a block (8.3).

/// The left neighbours of the upper half of the block are available.
pub const LEFT_UPPER: u8 = 1;
/// The left neighbours of the lower half of the block are available.
pub const LEFT_LOWER: u8 = 2;
/// All left neighbours are available.
pub const LEFT: u8 = LEFT_UPPER | LEFT_LOWER;
/// The neighbours above are available.
pub const ABOVE: u8 = 4;
/// The neighbours above and to the right are available. Used for blocks of 4x4 and 8x8 luma samples.
pub const ABOVE_RIGHT: u8 = 8;
/// The neighbour above and to the left is available.
pub const CORNER: u8 = 16;

/// The samples around a block of `N` x `N`, of which `A` are above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<const N: usize, const A: usize> {
    /// p[-1, y]. 128 where not available.
    pub left: [u8; N],
    /// p[x, -1]. 128 where not available, except as `above_right` states.
    pub above: [u8; A],
    /// p[-1, -1]. 128 if not available.
    pub corner: u8,
    /// Sum of [`LEFT_UPPER`], [`LEFT_LOWER`], [`ABOVE`], [`ABOVE_RIGHT`] and [`CORNER`]: what is
    /// available for prediction. The two flags of the left column differ only where a field
    /// macroblock has a pair of frame macroblocks to the left and constrained_intra_pred_flag is 1.
    pub available: u8,
}

/// Neighbours of a 4x4 luma block.
pub type Edge4 = Edge<4, 8>;
/// Neighbours of an 8x8 luma block.
pub type Edge8 = Edge<8, 16>;
/// Neighbours of a macroblock's luma.
pub type Edge16 = Edge<16, 16>;
/// Neighbours of a macroblock's Cb or Cr, 4:2:0.
pub type EdgeChroma = Edge<8, 8>;
