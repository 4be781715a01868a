//! Reconstruction of a macroblock: prediction plus residual (7.6.8).

use super::block::Block;
use super::motion::{Motion, Prediction};
use super::parameters::{Parameters, References};
use super::predict::{Samples, predict};
use crate::frame::Frame;

/// A macroblock whose syntax was decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macroblock {
    /// No prediction: the transform gives the samples.
    pub intra: bool,
    /// dct_type: in a frame picture, luma blocks consist of rows of one field.
    pub field_dct: bool,
    /// quantiser_scale_code of the blocks. Reconstruction ignores it: the blocks are dequantised.
    pub quantiser_scale_code: u8,
    /// Motion, if not intra.
    pub motion: Motion,
    /// Bit 5 for the first block, four luma blocks, Cb, Cr: the block has coefficients.
    pub pattern: u8,
    /// The coefficients of blocks in `pattern`.
    pub blocks: [Block; 6],
}

impl Macroblock {
    /// A macroblock without prediction and residual.
    pub const EMPTY: Macroblock = Macroblock {
        intra: true,
        field_dct: false,
        quantiser_scale_code: 0,
        motion: Motion {
            prediction: Prediction::Frame,
            directions: [false; 2],
            vectors: [[[0; 2]; 2]; 2],
            bottom: [[false; 2]; 2],
            opposite: [[0; 2]; 2],
        },
        pattern: 0,
        blocks: [Block::ZERO; 6],
    };
}

/// Reconstructs the macroblock at column `x` and row `y` of the picture, in macroblocks. In a
/// field picture rows count macroblocks of the field. Writes only inside the planes of `target`.
pub(super) fn reconstruct(
    parameters: &Parameters,
    references: &References,
    target: &mut Frame,
    (x, y): (usize, usize),
    macroblock: &Macroblock,
) {
    let mut samples = Samples::new(0);
    if !macroblock.intra {
        predict(parameters, references, target, (x, y), &macroblock.motion, &mut samples);
    }
    // Field DCT: block rows are every other row of the macroblock.
    let field_dct = macroblock.field_dct && !parameters.structure.is_field();
    for (index, block) in macroblock.blocks.iter().enumerate() {
        if macroblock.pattern & 32 >> index == 0 {
            continue;
        }
        let residual = block.transform();
        match index {
            0..4 => {
                let (down, across) = (index / 2, 8 * (index % 2));
                let (start, stride) = if field_dct { (16 * down, 32) } else { (128 * down, 16) };
                add(&mut samples.luma[start + across..], stride, &residual);
            }
            _ => add(&mut samples.chroma[index - 4], 8, &residual),
        }
    }
    write(parameters, target, (x, y), &samples);
}

/// Adds a residual to the samples of a block and saturates.
fn add(samples: &mut [u8], stride: usize, residual: &[i16; 64]) {
    for (samples, residual) in samples.chunks_mut(stride).zip(residual.chunks_exact(8)) {
        for (sample, &residual) in samples.iter_mut().zip(residual) {
            *sample = (i16::from(*sample).saturating_add(residual)).clamp(0, 255) as u8;
        }
    }
}

/// Writes the rows and columns of a macroblock that are inside the target.
fn write(parameters: &Parameters, target: &mut Frame, (x, y): (usize, usize), samples: &Samples) {
    let blocks: [(&[u8], usize); 3] =
        [(&samples.luma, 16), (&samples.chroma[0], 8), (&samples.chroma[1], 8)];
    for (plane, (samples, size)) in target.planes.iter_mut().zip(blocks) {
        let mut view = plane.view_mut(parameters.structure);
        let width = size.min(view.width.saturating_sub(size * x));
        for (row, samples) in samples.chunks_exact(size).enumerate() {
            let out = view.row(size * x, size * y + row, width);
            let width = out.len();
            out.copy_from_slice(&samples[..width]);
        }
    }
}
