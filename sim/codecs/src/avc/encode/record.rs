//! How macroblocks are encoded, and the result of each.

use super::quantise::Rounding;

/// How the macroblocks of a slice are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Rounding of the quantiser.
    pub rounding: Rounding,
    /// Direct blocks and skipped macroblocks have the motion that a decoder derives, not the one
    /// that [`super::Inter`] states.
    pub derive_direct: bool,
}

/// Result of encoding a macroblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Intra prediction.
    pub intra: bool,
    /// `P_Skip` or `B_Skip`.
    pub skipped: bool,
    /// The luma quantiser that decoders have for it.
    pub qp: u8,
    /// `coded_block_pattern`.
    pub pattern: u8,
    /// Number of bits. With CABAC: bits that the arithmetic encoder shifted out during the
    /// macroblock; later ones count for the next macroblock.
    pub bits: u32,
}
