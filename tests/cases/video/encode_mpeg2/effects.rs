//! What single fields of the MPEG-2 encoder change in the coded data.
//!
//! Oracle: bits of macroblocks after tables B.1, B.3 and B.10 of the standard, written out here;
//! and FFmpeg's software decoder.

use super::{Settings, decodes, encode, encode_with, group, macroblock, model, state};
use crate::video::encode::{HEIGHT, WIDTH};
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_mpeg2::MfxMpeg2PicState;
use genxml_cases::{Random, u};
use genxml_core::S;

/// The macroblocks of a P picture, without coefficients, whose vectors are 0.
fn still(mb_type: InlineDataDescriptionForMfcMpeg2PakObjectMbType) -> Vec<MfcMpeg2PakObject> {
    let object = |number: usize| MfcMpeg2PakObject {
        inline_data: InlineDataDescriptionForMfcMpeg2PakObject {
            mb_type,
            mb_column: u((number % WIDTH) as u64),
            mb_row: u((number / WIDTH) as u64),
            first_mb: number.is_multiple_of(WIDTH),
            last_mb: number % WIDTH + 1 == WIDTH,
            quantizer_scale_code: u(2),
            ..InlineDataDescriptionForMfcMpeg2PakObject::new()
        },
    };
    (0..WIDTH * HEIGHT).map(object).collect()
}

/// Slices with these bits of macroblocks in each row.
fn slices(macroblocks: &str) -> Vec<u8> {
    // quantiser_scale_code, no extra_information_slice.
    let mut bits = format!("000100{macroblocks}");
    bits += &"0".repeat((8 - bits.len() % 8) % 8);
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | (bit - b'0'));
    let bytes: Vec<u8> = bits.as_bytes().chunks(8).map(byte).collect();
    (1..=HEIGHT as u8).flat_map(|row| [&[0, 0, 1, row], &bytes[..]].concat()).collect()
}

/// Skip Conversion Disable of the macroblock and SkipConvDisabled of the slice group: the middle
/// macroblock of a slice is not skipped.
#[test]
fn conversion_to_skipped() {
    type Skips = MfcMpeg2SlicegroupStateSkipConvDisabledMbTypeSkipConversionDisableEncoderOnly;
    for disabled in 0..4 {
        let mut random = Random::new(disabled);
        let mut model = model(&mut random);
        let first = encode(0, &mut random, &mut model);
        let mut objects = still(InlineDataDescriptionForMfcMpeg2PakObjectMbType::FORWARD_16X16);
        for object in &mut objects {
            object.inline_data.skip_conversion_disable = disabled & 1 != 0;
        }
        let group = MfcMpeg2SlicegroupState {
            skip_conv_disabled_mb_type_skip_conversion_disable_encoder_only: Skips::from_bits(
                disabled >> 1,
            ),
            ..group()
        };
        let second = encode_with(1, Settings { state: state(1), group, objects }, &mut model);
        // macroblock_address_increment 1 or 2, macroblock_type, motion_code 0 and 0.
        let want =
            if disabled == 0 { "100111".to_owned() + "01100111" } else { "100111".repeat(3) };
        assert!(second.ends_with(&slices(&want)), "{disabled}: {second:02x?}");
        if !decodes(&[first, second].concat(), 2, &mut model, &format!("{disabled}")) {
            return;
        }
    }
}

/// IntraSlice is a flag of the headers of the slices.
#[test]
fn intra_slice() {
    let encoded = |intra_slice: bool| {
        let mut random = Random::new(5);
        let mut model = model(&mut random);
        let objects =
            (0..WIDTH * HEIGHT).map(|number| macroblock(0, number, &mut random)).collect();
        let group = MfcMpeg2SlicegroupState { intra_slice, intra_slice_flag: true, ..group() };
        let stream = encode_with(0, Settings { state: state(0), group, objects }, &mut model);
        decodes(&stream, 1, &mut model, &format!("{intra_slice}"));
        stream
    };
    let (without, with) = (encoded(false), encoded(true));
    assert_eq!(without.len(), with.len());
    let mut rows = 0;
    for (place, (a, b)) in without.iter().zip(&with).enumerate().filter(|(_, (a, b))| a != b) {
        rows += 1;
        assert_eq!(with[place - 4..place], [0, 0, 1, rows]);
        // quantiser_scale_code, intra_slice_flag, intra_slice, the first of seven zeros.
        assert_eq!((a & 7, b & 7), (0b100, 0b110));
    }
    assert_eq!(usize::from(rows), HEIGHT);
}

/// Field Select and Motion Vectors of field prediction in a frame.
#[test]
fn fields_of_frames() {
    for select in 0..4_u64 {
        let mut random = Random::new(select);
        let mut model = model(&mut random);
        let interlaced =
            |index: usize| MfxMpeg2PicState { frame_prediction_frame_dct: false, ..state(index) };
        let objects =
            (0..WIDTH * HEIGHT).map(|number| macroblock(0, number, &mut random)).collect();
        let settings = Settings { state: interlaced(0), group: group(), objects };
        let first = encode_with(0, settings, &mut model);
        let mut objects = still(InlineDataDescriptionForMfcMpeg2PakObjectMbType::FORWARD_FIELD);
        for (number, object) in objects.iter_mut().enumerate() {
            let inline = &mut object.inline_data;
            // One bit for each vector: forward, backward, second forward, second backward.
            inline.field_select = u(select & 1 | (select & 2) << 1);
            if number % WIDTH == 1 {
                inline.motion_vectors[0].motion_vector_x = S::<16>::try_from(3).unwrap();
                inline.motion_vectors[2].motion_vector_x = S::<16>::try_from(2).unwrap();
            }
        }
        let settings = Settings { state: interlaced(1), group: group(), objects };
        let second = encode_with(1, settings, &mut model);
        // Increment 1, macroblock_type, frame_motion_type, then for each vector the field, and
        // motion_code and motion_residual of x, motion_code of y. Vectors are coded as
        // differences: 0, 3, -3; and 0, 2, -2.
        let vectors = [["1", "1"], ["00100", "0101"], ["00110", "0111"]];
        let code = |[x, second_x]: [&str; 2]| {
            format!("100101{}{x}1{}{second_x}1", select & 1, select >> 1)
        };
        let want: String = vectors.into_iter().map(code).collect();
        assert!(second.ends_with(&slices(&want)), "{select}: {second:02x?}");
        if !decodes(&[first, second].concat(), 2, &mut model, &format!("{select}")) {
            return;
        }
    }
}
