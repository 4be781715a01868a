//! The header of a macroblock: segment, skipping, prediction modes (RFC 6386 sections 10, 11, 16).

use super::Parameters;
use super::bool_decoder::BoolDecoder;
use super::tables;
use super::vectors::{self, Neighbours, Vector};

/// How the samples of a plane are predicted from their neighbours (RFC 6386 12.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intra {
    /// The mean of the row above and the column to the left.
    #[default]
    Dc,
    /// The row above.
    Vertical,
    /// The column to the left.
    Horizontal,
    /// The row above plus the change along the column to the left.
    TrueMotion,
}

impl Intra {
    /// The mode of a value of [`tables::LUMA_TREE`] or [`tables::CHROMA_TREE`] below 4.
    fn of(value: u8) -> Self {
        match value {
            0 => Intra::Dc,
            1 => Intra::Vertical,
            2 => Intra::Horizontal,
            _ => Intra::TrueMotion,
        }
    }

    /// The mode of subblocks that a mode of the whole macroblock stands for in contexts (RFC 6386
    /// 11.3).
    fn subblock(self) -> u8 {
        match self {
            Intra::Dc => 0,
            Intra::TrueMotion => 1,
            Intra::Vertical => 2,
            Intra::Horizontal => 3,
        }
    }
}

/// How the luma samples of a macroblock are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From neighbours, as one block.
    Whole(Intra),
    /// From neighbours, each subblock with a mode of its own (B_PRED).
    Subblocks,
    /// With the motion vector zero.
    Zero,
    /// With another motion vector.
    Vector,
    /// With several motion vectors: at most one for each 8x8 samples (true), or more (false).
    Split(bool),
}

/// What the header of a macroblock states.
#[derive(Clone, Copy, Debug)]
pub struct Macroblock {
    pub mode: Mode,
    pub chroma: Intra,
    /// 0 intra, 1 last, 2 golden, 3 alternate.
    pub reference: u8,
    /// 0..=3.
    pub segment: u8,
    /// No coefficients follow.
    pub skip: bool,
    /// Modes of subblocks, values of [`tables::SUBBLOCK_TREE`]. Of an intra macroblock in a key
    /// frame always set.
    pub subblocks: [u8; 16],
    /// Motion vectors of subblocks; zero for an intra macroblock.
    pub vectors: [Vector; 16],
}

/// What contexts assume outside the picture.
impl Default for Macroblock {
    fn default() -> Self {
        Macroblock {
            mode: Mode::Whole(Intra::Dc),
            chroma: Intra::Dc,
            reference: 0,
            segment: 0,
            skip: false,
            subblocks: [0; 16],
            vectors: [Vector::default(); 16],
        }
    }
}

impl Macroblock {
    /// True if the DC coefficients of luma blocks are coded in a block of their own.
    pub fn has_second_order(&self) -> bool {
        !matches!(self.mode, Mode::Subblocks | Mode::Split(_))
    }
}

/// Reads the header of the macroblock at column `x`, row `y`. `segment` is the entry of the segment
/// map.
pub fn read(
    decoder: &mut BoolDecoder,
    parameters: &Parameters,
    neighbours: &Neighbours,
    (x, y): (usize, usize),
    segment: &mut u8,
) -> Macroblock {
    let probabilities = &parameters.probabilities;
    let mut macroblock = Macroblock::default();
    if parameters.segmentation {
        if parameters.update_segments {
            macroblock.segment = decoder.read_tree(&tables::SEGMENT_TREE, &probabilities.segments);
        } else if parameters.segments_in {
            macroblock.segment = *segment & 3;
        }
        if parameters.segments_out {
            *segment = macroblock.segment;
        }
    }
    macroblock.skip = parameters.skipping && decoder.read(probabilities.skip);
    if parameters.key_frame {
        read_key_modes(decoder, neighbours, &mut macroblock);
    } else if decoder.read(probabilities.intra) {
        macroblock.reference = match decoder.read(probabilities.last) {
            false => 1,
            true => 2 + u8::from(decoder.read(probabilities.golden)),
        };
        vectors::read(decoder, parameters, neighbours, (x, y), &mut macroblock);
    } else {
        let mode = decoder.read_tree(&tables::LUMA_TREE, &probabilities.luma_modes);
        if mode == 4 {
            macroblock.mode = Mode::Subblocks;
            for subblock in &mut macroblock.subblocks {
                *subblock = decoder.read_tree(&tables::SUBBLOCK_TREE, &tables::SUBBLOCK);
            }
        } else {
            macroblock.mode = Mode::Whole(Intra::of(mode));
        }
        let chroma = decoder.read_tree(&tables::CHROMA_TREE, &probabilities.chroma_modes);
        macroblock.chroma = Intra::of(chroma);
    }
    macroblock
}

/// Reads the modes of a macroblock of a key frame. Their probabilities are constant (RFC 6386 11).
fn read_key_modes(decoder: &mut BoolDecoder, neighbours: &Neighbours, macroblock: &mut Macroblock) {
    let mode = decoder.read_tree(&tables::KEY_LUMA_TREE, &tables::KEY_LUMA);
    if mode == 4 {
        macroblock.mode = Mode::Subblocks;
        for index in 0..16 {
            let modes = &macroblock.subblocks;
            let above =
                if index < 4 { neighbours.above.subblocks[12 + index] } else { modes[index - 4] };
            let left = match index % 4 {
                0 => neighbours.left.subblocks[index + 3],
                _ => modes[index - 1],
            };
            let probabilities = &tables::KEY_SUBBLOCK[usize::from(above)][usize::from(left)];
            macroblock.subblocks[index] = decoder.read_tree(&tables::SUBBLOCK_TREE, probabilities);
        }
    } else {
        let mode = Intra::of(mode);
        macroblock.mode = Mode::Whole(mode);
        macroblock.subblocks = [mode.subblock(); 16];
    }
    macroblock.chroma = Intra::of(decoder.read_tree(&tables::CHROMA_TREE, &tables::KEY_CHROMA));
}
