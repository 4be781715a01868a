//! Reading of the header of a macroblock: segment, skipping, prediction modes (RFC 6386 sections
//! 10, 11, 16).

use super::bool_decoder::BoolDecoder;
use super::macroblock::{Intra, Macroblock, Mode, Neighbours};
use super::parameters::Parameters;
use super::tables;
use super::vectors;

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
