//! Coded pictures, decoded in the same model with packets of the decoder.
//!
//! Oracle: the decoder, which has an oracle of its own (`streams`). It finds the samples that the
//! encoder has reconstructed.

use super::headers::{NAL_UNITS, slice_header};
use super::pictures::{encode, variant};
use super::setup::{
    CODED, DECODED, HEAD, HEIGHT, WIDTH, model, reconstructed, samples, store, surface,
};
use super::state::{Variant, image, lists, slice};
use crate::video::packets::submit;
use genxml::gen8::mfd::*;
use genxml::gen8::mfx_avc::MfxAvcDirectmodeState;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_registers::{MfdErrorStatus, MfxMbCount};
use genxml_cases::{Model, Random, at, packets, u};
use genxml_core::S;

/// Buffers for the motion of the pictures.
const MOTION: [u64; 3] = [0x4b_0000, 0x4c_0000, 0x4d_0000];
/// Position of the pictures in output order.
const ORDER: [i64; 3] = [0, 2, 1];

/// Offset and length of the NAL unit of the slice of picture `index`, without its start code.
fn nal_unit(index: usize, coded: &[u8]) -> (usize, usize) {
    let start = [0, 0, 0, 1, NAL_UNITS[index]];
    let found = coded.windows(5).rposition(|bytes| bytes == start).expect("a slice");
    (found + 4, coded.len() - found - 4)
}

/// The packets that decode picture `index`, whose coded data are those in the encoder's buffer.
fn decoding(index: usize, variant: Variant, coded: &[u8]) -> Vec<u32> {
    let mut buffers = MfxPipeBufAddrState::new();
    match variant.deblocking {
        true => buffers.post_deblocking_destination_address = at(DECODED[index]),
        false => buffers.pre_deblocking_destination_address = at(DECODED[index]),
    }
    let mut direct = MfxAvcDirectmodeState {
        direct_mv_buffer_write_address: at(MOTION[index]),
        ..MfxAvcDirectmodeState::new()
    };
    for reference in 0..index {
        buffers.reference_picture[reference] = at(DECODED[reference]);
        direct.direct_mv_buffer[reference] = at(MOTION[reference]);
        for field in 0..2 {
            direct.poc_list[2 * reference + field] = S::new(2 * ORDER[reference]).unwrap();
        }
    }
    direct.poc_list[32..].fill(S::new(2 * ORDER[index]).unwrap());
    let (offset, length) = nal_unit(index, coded);
    let bits = 8 + slice_header(index, variant).0.len() as u64;
    let mut batch = packets![
        MfxPipeModeSelect {
            standard_select: MfxPipeModeSelectStandardSelect::AVC,
            decoder_short_format_mode:
                MfxPipeModeSelectDecoderShortFormatMode::LONG_FORMAT_DRIVER_INTERFACE,
            pre_deblocking_output_enable: !variant.deblocking,
            post_deblocking_output_enable: variant.deblocking,
            ..MfxPipeModeSelect::new()
        },
        surface(MfxSurfaceStateSurfaceId::DECODED_OR_REFERENCE_PICTURE),
        buffers,
        MfxIndObjBaseAddrState {
            mfx_indirect_bitstream_object_address: at(CODED),
            ..MfxIndObjBaseAddrState::new()
        },
        MfdAvcPicidState { picture_id_remapping_disable: true, ..MfdAvcPicidState::new() },
        image(variant),
        direct
    ];
    batch.extend(lists(index));
    batch.extend(packets![
        slice(index),
        MfdAvcBsdObject {
            indirect_bsd_data_length: u(length as u64),
            indirect_bsd_data_start_address: at(HEAD + offset as u64),
            inline_data: InlineDataDescriptionForMfdAvcBsdObject {
                first_mb_byte_offset_of_slice_data_or_slice_header: u(bits / 8),
                first_macroblock_mb_bit_offset: u(bits % 8),
                ..InlineDataDescriptionForMfdAvcBsdObject::new()
            },
        }
    ]);
    store(&[MfxMbCount::OFFSET, MfdErrorStatus::OFFSET], &mut batch);
    batch
}

/// Decodes picture `index`, and compares it with the reconstruction.
fn decode(index: usize, variant: Variant, coded: &[u8], model: &mut Model) {
    submit(model, &decoding(index, variant, coded)).unwrap();
    let counts = model.get(super::REGISTERS, 2);
    assert_eq!(counts, [(WIDTH * HEIGHT) as u32, 0], "macroblocks and errors of picture {index}");
    let (got, want) = (samples(DECODED[index], model), reconstructed(index, model));
    assert!(got == want, "picture {index} of {variant:?}");
}

/// I, P and B pictures: CAVLC and CABAC, with and without transforms of 8x8 and deblocking.
#[test]
fn the_decoder_finds_what_the_encoder_reconstructed() {
    for number in 0..64 {
        let mut random = Random::new(number);
        let variant = variant(number % 32);
        let mut model = model(&mut random);
        DECODED.into_iter().chain(MOTION).for_each(|address| model.map(address, 0x1_0000));
        for index in 0..3 {
            model.write(CODED, &[0xee; 0x8000]);
            let coded = encode(index, variant, &mut random, &mut model).unwrap();
            decode(index, variant, &coded, &mut model);
        }
    }
}

/// The comparison can fail: with a changed bit of the coded data, the samples differ.
#[test]
fn the_comparison_can_fail() {
    let mut random = Random::new(1);
    let variant = variant(1);
    let mut model = model(&mut random);
    DECODED.into_iter().chain(MOTION).for_each(|address| model.map(address, 0x1_0000));
    let coded = encode(0, variant, &mut random, &mut model).unwrap();
    let (offset, length) = nal_unit(0, &coded);
    let byte = model.read(CODED + HEAD + (offset + length / 2) as u64, 1)[0];
    model.write(CODED + HEAD + (offset + length / 2) as u64, &[byte ^ 0x10]);
    submit(&mut model, &decoding(0, variant, &coded)).unwrap();
    assert!(samples(DECODED[0], &mut model) != reconstructed(0, &mut model));
}
