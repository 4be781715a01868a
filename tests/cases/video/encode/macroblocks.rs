//! Random AVC macroblocks.

use super::setup::{HEIGHT, VECTORS, WIDTH};
use super::state::Variant;
use genxml::gen8::mfc::*;
use genxml_cases::{Model, Random, at, u};

/// A random macroblock of the picture.
pub fn macroblock(
    index: usize,
    number: usize,
    variant: Variant,
    random: &mut Random,
    model: &mut Model,
) -> MfcAvcPakObject {
    let intra_mb = index == 0 || random.below(5) == 0;
    let mut inline = InlineDataDescriptionForMfcAvcPakObject {
        intra_mb,
        cbp_dc_y: true,
        cbp_dc_cb: true,
        cbp_dc_cr: true,
        cbp_y: u(0xffff),
        cbp_cb: u(15),
        cbp_cr: u(15),
        mb_column: u((number % WIDTH) as u64),
        mb_row: u((number / WIDTH) as u64),
        last_mb: number + 1 == WIDTH * HEIGHT,
        qp_y: u(20 + random.below(12)),
        ..InlineDataDescriptionForMfcAvcPakObject::new()
    };
    let mut object = MfcAvcPakObject::new();
    if intra_mb {
        let mut prediction = AvcPakIntraPrediction::new();
        // DC needs no samples around.
        prediction.luma_mode.fill(u(2));
        match random.below(4) {
            0 => inline.mb_type = InlineDataDescriptionForMfcAvcPakObjectMbType::from_bits(3),
            1 => inline.mb_type = InlineDataDescriptionForMfcAvcPakObjectMbType::INTRA_PCM,
            2 if variant.transform_8x8 => {
                inline.transform_8x8 = true;
                inline.intra_mb_mode =
                    InlineDataDescriptionForMfcAvcPakObjectIntraMbMode::INTRA_8X8;
            }
            _ => {
                inline.intra_mb_mode =
                    InlineDataDescriptionForMfcAvcPakObjectIntraMbMode::INTRA_4X4;
                // Vertical in the blocks below the first row; 2, 3, 6, 7 are rows 1 and 0 by turns.
                for block in [2, 3, 6, 7, 8, 15] {
                    prediction.luma_mode[block] = u(0);
                }
            }
        }
        inline.prediction = prediction.pack().map(|dword| u(dword.into()));
    } else {
        let mut prediction = AvcPakInterPrediction::new();
        let types: &[u64] = if index == 1 { &[1, 4, 5, 22] } else { &[1, 2, 3, 8, 9, 12, 19, 22] };
        let number_of_type = random.pick(types);
        inline.mb_type = InlineDataDescriptionForMfcAvcPakObjectMbType::from_bits(number_of_type);
        inline.transform_8x8 = variant.transform_8x8 && random.below(2) == 0;
        if number_of_type == 22 {
            for mode in &mut prediction.sub_mb_prediction_mode {
                let most = if index == 1 { 1 } else { 3 };
                *mode = AvcPakInterPredictionSubMbPredictionMode::from_bits(random.below(most));
            }
            for shape in &mut prediction.sub_mb_shape {
                *shape = AvcPakInterPredictionSubMbShape::from_bits(random.below(4));
            }
        }
        inline.prediction = prediction.pack().map(|dword| u(dword.into()));
        // The same pair for all blocks, so that it suits all partitions.
        let offset = 128 * number;
        let pair: Vec<u8> =
            (0..4).flat_map(|_| (random.below(40) as i16 - 20).to_le_bytes()).collect();
        let wide = random.below(2) == 0;
        inline.mv_format = match wide {
            true => InlineDataDescriptionForMfcAvcPakObjectMvFormat::_32_MOTION_VECTORS,
            false => InlineDataDescriptionForMfcAvcPakObjectMvFormat::_8_MOTION_VECTORS,
        };
        model.write(VECTORS + offset as u64, &pair.repeat(16));
        object.indirect_pak_mv_data_length = u(if wide { 128 } else { 32 });
        object.indirect_pak_mv_data_start_address_offset = at(offset as u64);
    }
    object.inline_data = inline;
    object
}
