//! What the decoder keeps of macroblocks.

use super::tables::Transform;

/// The quantiser of a macroblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quantizer {
    /// Twice the value, plus 1 for a half step.
    pub(super) step: u8,
}

impl Quantizer {
    /// 1 to 31.
    pub(super) fn value(self) -> u8 {
        self.step / 2
    }
}

/// A motion vector in quarter samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mv {
    pub(super) x: i16,
    pub(super) y: i16,
}

/// What the decoder keeps of a macroblock until the end of its slice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Macroblock {
    /// Intra blocks, a bit each, bit 0 the first one.
    pub(super) intra: u8,
    /// The quantiser; 0 if the macroblock has no coefficients to predict from.
    pub(super) quantizer: Quantizer,
    /// Blocks have a prediction of the coded block pattern of 1 (I pictures), a bit each.
    pub(super) coded: u8,
    /// OVERFLAGS.
    pub(super) overlap: bool,
    /// Luma is transformed by field.
    pub(super) field_transform: bool,
    /// The vectors are those of fields (interlaced frames).
    pub(super) field_vectors: bool,
    /// Forward and backward vectors of the luma blocks.
    pub(super) mv: [[Mv; 4]; 2],
    /// Blocks whose vector refers to the field of opposite parity, a bit each, by direction.
    pub(super) opposite: [u8; 2],
    /// The chroma vector, before rounding and offsets, for the loop filter.
    pub(super) chroma_mv: Mv,
    /// The chroma vector refers to the field of opposite parity.
    pub(super) chroma_opposite: bool,
    /// Coded 4x4 subblocks, four bits per block: bit 3 the first one.
    pub(super) pattern: [u8; 6],
    /// Transforms of inter blocks.
    pub(super) transform: [Transform; 6],
    /// DC levels before dequantisation.
    pub(super) dc: [i16; 6],
    /// AC levels of the first column (1 to 7) and the first row (9 to 15).
    pub(super) ac: [[i16; 16]; 6],
}
