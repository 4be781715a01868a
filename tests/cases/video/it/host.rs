//! The application and its driver: a macroblock becomes inline data and coefficients.

use genxml::gen8::mfd::*;
use genxml_cases::{at, push, u};
use genxml_codecs::mpeg2::{Block, Macroblock, Prediction, Structure};
use genxml_core::{S, U};

fn s(value: i32) -> S<16> {
    S::try_from(i64::from(value)).unwrap()
}

/// The dwords of a block (DXVA_TCoefSingle): coefficients in any order, each with its position. A
/// block without coefficients has one of 0. In intra blocks the first is relative to 1024.
pub fn coefficients(block: &Block, intra: bool, out: &mut Vec<u32>) {
    let mut values = block.coefficients().map(i32::from);
    if intra {
        values[0] -= 1024;
    }
    let mut found: Vec<usize> = (0..64).rev().filter(|&at| values[at] != 0).collect();
    if found.is_empty() {
        found.push(9);
    }
    let last = found.len() - 1;
    for (number, at) in found.into_iter().enumerate() {
        let coefficient = MfdItObjectCoefficient {
            value: s(values[at]),
            index: u(at as u64),
            end_of_block: number == last,
        };
        out.extend(coefficient.pack());
    }
}

/// The inline data of a macroblock.
pub fn inline(
    structure: Structure,
    (column, row): (usize, usize),
    macroblock: &Macroblock,
) -> MfdItObjectMpeg2InlineData {
    use MfdItObjectMpeg2InlineDataDctType as Dct;
    use MfdItObjectMpeg2InlineDataMacroblockIntraType as Intra;
    let mut inline = MfdItObjectMpeg2InlineData {
        horz_origin: u(column as u64),
        vert_origin: u(row as u64),
        dct_type: if macroblock.field_dct { Dct::MC_FIELD_DCT } else { Dct::MC_FRAME_DCT },
        ..MfdItObjectMpeg2InlineData::new()
    };
    if macroblock.intra {
        inline.macroblock_intra_type = Intra::INTRA_MACROBLOCK;
        return inline;
    }
    inline.coded_block_pattern = u(macroblock.pattern.into());
    let motion = macroblock.motion;
    let dual = motion.prediction == Prediction::DualPrime;
    // Tables 6-17 and 6-18 of ISO/IEC 13818-2.
    inline.motion_type = u(match (motion.prediction, structure) {
        (Prediction::Field, _) => 1,
        (Prediction::Frame | Prediction::SixteenByEight, _) => 2,
        (Prediction::DualPrime, _) => 3,
    });
    inline.macroblock_motion_forward = motion.directions[0];
    inline.macroblock_motion_backward = motion.directions[1];
    let [[forward_0, backward_0], [forward_1, backward_1]] = motion.bottom;
    inline.motion_vertical_field_select = [forward_0, backward_0, forward_1, backward_1];
    let [mut first, mut second] = motion.vectors;
    if dual {
        first[1] = motion.opposite[0];
        second = [motion.vectors[0][0], motion.opposite[1]];
    }
    inline.motion_vectors_field_0_forward_horizontal = s(first[0][0]);
    inline.motion_vectors_field_0_forward_vertical = s(first[0][1]);
    inline.motion_vectors_field_0_backward_horizontal = s(first[1][0]);
    inline.motion_vectors_field_0_backward_vertical = s(first[1][1]);
    inline.motion_vectors_field_1_forward_horizontal = s(second[0][0]);
    inline.motion_vectors_field_1_forward_vertical = s(second[0][1]);
    inline.motion_vectors_field_1_backward_horizontal = s(second[1][0]);
    inline.motion_vectors_field_1_backward_vertical = s(second[1][1]);
    inline
}

/// The packet of a macroblock whose coefficients are `length` bytes at `offset`.
pub fn object(dwords: &[u32], (offset, length): (u64, usize), out: &mut Vec<u32>) {
    let dwords: Vec<U<32>> = dwords.iter().map(|&dword| u(dword.into())).collect();
    push(
        out,
        &MfdItObject {
            indirect_it_coeff_data_length: u(length as u64),
            indirect_it_coeff_data_start_address_offset: at(offset),
            inline_data: (&dwords[..]).into(),
            ..MfdItObject::new()
        },
    );
}

/// The coefficients of a macroblock.
pub fn blocks(macroblock: &Macroblock, out: &mut Vec<u32>) {
    for (index, block) in macroblock.blocks.iter().enumerate() {
        if macroblock.intra || macroblock.pattern & 32 >> index != 0 {
            coefficients(block, macroblock.intra, out);
        }
    }
}
