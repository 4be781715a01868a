//! Coded pictures, decoded in the same model with packets of the decoder.
//!
//! Oracle: the decoder, which has an oracle of its own (`streams`). It finds the samples that the
//! encoder has reconstructed: both have the same inverse transform.

use super::{Settings, encode_with, group, macroblock, model, state};
use crate::video::encode::{
    CODED, DECODED, HEAD, HEIGHT, REGISTERS, WIDTH, reconstructed, samples, store, surface,
};
use crate::video::packets::submit;
use genxml::gen8::mfc::*;
use genxml::gen8::mfd::{MfdMpeg2BsdObject, MfdMpeg2BsdObjectInlineDataDescription as Slice};
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_mpeg2::*;
use genxml::gen8::mfx_registers::{MfdErrorStatus, MfxMbCount};
use genxml_cases::{Random, at, packets, push, u};
use genxml_core::S;

/// Bits of the slice headers after the start code: quantiser_scale_code and extra_bit_slice.
const HEADER: usize = 6;

/// Positions after the start codes of the slices, and the end of the data.
fn slices(coded: &[u8]) -> Vec<usize> {
    let starts = coded.windows(4).enumerate().filter_map(|(position, bytes)| match *bytes {
        [0, 0, 1, row] if (1..=HEIGHT).contains(&row.into()) => Some(position + 4),
        _ => None,
    });
    starts.chain([coded.len() + 4]).collect()
}

/// The packets that decode picture `index`, whose coded data are those in the encoder's buffer.
fn decoding(index: usize, state: MfxMpeg2PicState, coded: &[u8]) -> Vec<u32> {
    let mut buffers = MfxPipeBufAddrState {
        pre_deblocking_destination_address: at(DECODED[index]),
        ..MfxPipeBufAddrState::new()
    };
    for (number, reference) in buffers.reference_picture[..4].iter_mut().enumerate() {
        *reference = at(DECODED[number % 2 * usize::from(index == 2)]);
    }
    let mut batch = packets![
        MfxPipeModeSelect {
            standard_select: MfxPipeModeSelectStandardSelect::MPEG2,
            pre_deblocking_output_enable: true,
            ..MfxPipeModeSelect::new()
        },
        surface(MfxSurfaceStateSurfaceId::DECODED_OR_REFERENCE_PICTURE),
        buffers,
        MfxIndObjBaseAddrState {
            mfx_indirect_bitstream_object_address: at(CODED),
            ..MfxIndObjBaseAddrState::new()
        },
        state
    ];
    let positions = slices(coded);
    assert_eq!(positions.len(), HEIGHT + 1);
    for (row, pair) in positions.windows(2).enumerate() {
        // The code stands in the highest bits of the header.
        let code = coded[pair[0]] >> 3;
        push(
            &mut batch,
            &MfdMpeg2BsdObject {
                indirect_bsd_data_length: u((pair[1] - 4 - pair[0]) as u64),
                indirect_bsd_data_start_address: at(HEAD + pair[0] as u64),
                inline_data: Slice {
                    slice_vertical_position: u(row as u64),
                    next_slice_vertical_position: u(row as u64 + 1),
                    first_macroblock_bit_offset: u(HEADER as u64),
                    macroblock_count: u(WIDTH as u64),
                    quantizer_scale_code: u(code.into()),
                    last_pic_slice: row + 1 == HEIGHT,
                    ..Slice::new()
                },
            },
        );
    }
    store(&[MfxMbCount::OFFSET, MfdErrorStatus::OFFSET], &mut batch);
    batch
}

/// A random macroblock of an interlaced frame: fields may be predicted and transformed alone.
fn field_macroblock(index: usize, number: usize, random: &mut Random) -> MfcMpeg2PakObject {
    let mut object = macroblock(index, number, random);
    let inline = &mut object.inline_data;
    inline.field_dct = random.below(2) == 0;
    if !inline.intra_mb && random.below(2) == 0 {
        use InlineDataDescriptionForMfcMpeg2PakObjectMbType as Type;
        let types = [Type::FORWARD_FIELD, Type::BACKWARD_FIELD, Type::BIDIRECTIONAL_FIELD];
        inline.mb_type = types[if index == 1 { 0 } else { random.index(3) }];
        inline.field_select = u(random.below(16));
        for vector in &mut inline.motion_vectors {
            // Half as many rows.
            let y = vector.motion_vector_y.get() / 2;
            vector.motion_vector_y = S::<16>::try_from(y).unwrap();
        }
    }
    object
}

/// I, P and B pictures of progressive and interlaced frames.
#[test]
fn the_decoder_finds_what_the_encoder_reconstructed() {
    for number in 0..64 {
        let interlaced = number % 2 == 1;
        let mut random = Random::new(number);
        let mut model = model(&mut random);
        DECODED.into_iter().for_each(|address| model.map(address, 0x1_0000));
        for (index, decoded) in DECODED.into_iter().enumerate() {
            let state =
                MfxMpeg2PicState { frame_prediction_frame_dct: !interlaced, ..state(index) };
            let make = if interlaced { field_macroblock } else { macroblock };
            let objects =
                (0..WIDTH * HEIGHT).map(|number| make(index, number, &mut random)).collect();
            let settings = Settings { state, group: group(), objects };
            let coded = encode_with(index, settings, &mut model);
            submit(&mut model, &decoding(index, state, &coded)).unwrap();
            let what = format!("picture {index} of stream {number}");
            let counts = model.get(REGISTERS, 2);
            assert_eq!(counts, [(WIDTH * HEIGHT) as u32, 0], "macroblocks and errors of {what}");
            let (got, want) = (samples(decoded, &mut model), reconstructed(index, &mut model));
            assert!(got == want, "{what}");
        }
    }
}
