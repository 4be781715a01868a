//! What single fields of the encoder change in the coded data.
//!
//! Oracle: bits of macroblocks after tables 7-13, 7-14, 9-4 and 9-5 of the standard, written out
//! here; and FFmpeg's software decoder.

use super::headers::{Bits, NAL_UNITS, headers, slice_header};
use super::macroblocks::macroblock;
use super::setup::{
    CODED, HEAD, HEIGHT, SOURCE, TAIL, WIDTH, decodes, insert, model, reconstructed,
};
use super::state::{VARIANT, Variant, picture, slice};
use crate::video::packets::submit;
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_avc::{
    MfxAvcSliceState, MfxAvcSliceStateRoundInter, MfxAvcSliceStateRoundIntra,
};
use genxml_cases::{Model, Random, push, u};

/// Encodes picture `index`, whose macroblocks `object` makes by their numbers. Returns its coded
/// data without the delimiter.
fn encode(
    index: usize,
    variant: Variant,
    state: MfxAvcSliceState,
    model: &mut Model,
    object: &mut dyn FnMut(usize, &mut Model) -> MfcAvcPakObject,
) -> Vec<u8> {
    model.write(CODED, &[0xee; 0x8000]);
    let mut batch = picture(index, variant);
    push(&mut batch, &state);
    headers(index, variant, &mut batch);
    for number in 0..WIDTH * HEIGHT {
        let mut object = object(number, model);
        object.inline_data.mb_column = u((number % WIDTH) as u64);
        object.inline_data.mb_row = u((number / WIDTH) as u64);
        object.inline_data.last_mb = number + 1 == WIDTH * HEIGHT;
        push(&mut batch, &object);
    }
    insert(&"0".repeat(8 * TAIL.len()), false, &mut batch);
    submit(model, &batch).unwrap();
    let coded = model.read(CODED + HEAD, 0x7000);
    let length = coded.windows(5).position(|bytes| bytes == TAIL).expect("a delimiter");
    coded[..length].to_vec()
}

/// Picture `index` with random macroblocks.
fn random_picture(index: usize, random: &mut Random, model: &mut Model) -> Vec<u8> {
    let mut object = |number, model: &mut Model| macroblock(index, number, VARIANT, random, model);
    encode(index, VARIANT, slice(index), model, &mut object)
}

/// An inter macroblock without coefficients whose vectors are 0.
fn still(mb_type: u64, prediction: &AvcPakInterPrediction) -> MfcAvcPakObject {
    MfcAvcPakObject {
        inline_data: InlineDataDescriptionForMfcAvcPakObject {
            mb_type: InlineDataDescriptionForMfcAvcPakObjectMbType::from_bits(mb_type),
            qp_y: u(26),
            prediction: prediction.pack().map(|dword| u(dword.into())),
            ..InlineDataDescriptionForMfcAvcPakObject::new()
        },
        ..MfcAvcPakObject::new()
    }
}

/// A macroblock of an I picture with coefficients, and DC prediction in all 4x4 blocks.
fn intra() -> InlineDataDescriptionForMfcAvcPakObject {
    InlineDataDescriptionForMfcAvcPakObject {
        intra_mb: true,
        intra_mb_mode: InlineDataDescriptionForMfcAvcPakObjectIntraMbMode::INTRA_4X4,
        prediction: [u(0x2222_2222), u(0x2222_2222), u(0)],
        ..all_coded()
    }
}

fn all_coded() -> InlineDataDescriptionForMfcAvcPakObject {
    InlineDataDescriptionForMfcAvcPakObject {
        cbp_dc_y: true,
        cbp_dc_cb: true,
        cbp_dc_cr: true,
        cbp_y: u(0xffff),
        cbp_cb: u(15),
        cbp_cr: u(15),
        qp_y: u(30),
        ..InlineDataDescriptionForMfcAvcPakObject::new()
    }
}

/// The NAL unit of the slice of picture `index` with these bits of macroblocks. It needs no
/// emulation prevention.
fn nal_unit(index: usize, macroblocks: &str) -> Vec<u8> {
    let Bits(header) = slice_header(index, VARIANT);
    let mut bits = format!("{:08b}{header}{macroblocks}1", NAL_UNITS[index]);
    bits += &"0".repeat((8 - bits.len() % 8) % 8);
    let bytes = bits.as_bytes().chunks(8);
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | (bit - b'0'));
    [0, 0, 0, 1].into_iter().chain(bytes.map(byte)).collect()
}

/// Skip Conversion Disable of the macroblock and MB Type Skip Conversion Disable of the slice: a
/// macroblock that could be `P_Skip` is `P_L0_16x16`.
#[test]
fn conversion_to_skipped() {
    for disabled in 0..4 {
        let mut random = Random::new(disabled);
        let mut model = model(&mut random);
        let first = random_picture(0, &mut random, &mut model);
        let mut object = still(1, &AvcPakInterPrediction::new());
        object.inline_data.skip_conversion_disable = disabled & 1 != 0;
        let state =
            MfxAvcSliceState { mb_type_skip_conversion_disable: disabled & 2 != 0, ..slice(1) };
        let second = encode(1, VARIANT, state, &mut model, &mut |_, _| object);
        // mb_skip_run 6; or mb_skip_run 0, mb_type 0, mvd 0 and 0, coded_block_pattern 0 each.
        let want = if disabled == 0 { "00111".to_owned() } else { "11111".repeat(6) };
        assert_eq!(second, nal_unit(1, &want), "{disabled}");
        if !decodes(&[first, second].concat(), 2, &mut model, &format!("{disabled}")) {
            return;
        }
        assert_eq!(reconstructed(0, &mut model), reconstructed(1, &mut model));
    }
}

/// Direct 8x8 Pattern says which 8x8 blocks have no vectors. MB Type Direct Conversion Disable:
/// four direct blocks stay `B_8x8`.
#[test]
fn direct_blocks() {
    let mut prediction = AvcPakInterPrediction::new();
    let both = AvcPakInterPredictionSubMbPredictionMode::from_bits(2);
    prediction.sub_mb_prediction_mode.fill(both);
    for pattern in 0..16 {
        // The others cannot be converted.
        for disabled in if pattern == 15 { 0..4 } else { 0..1 } {
            let mut random = Random::new(pattern);
            let mut model = model(&mut random);
            let mut stream = random_picture(0, &mut random, &mut model);
            let mut copy = |_, _: &mut Model| still(1, &AvcPakInterPrediction::new());
            stream.extend(encode(1, VARIANT, slice(1), &mut model, &mut copy));
            let mut object = still(22, &prediction);
            object.inline_data.direct_8x8_pattern = u(pattern);
            let (skip, direct) = (disabled & 1 == 0, disabled & 2 == 0);
            let state = MfxAvcSliceState {
                mb_type_skip_conversion_disable: !skip,
                mb_type_direct_conversion_disable: !direct,
                ..slice(2)
            };
            let third = encode(2, VARIANT, state, &mut model, &mut |_, _| object);
            let want = match pattern {
                15 if skip => "00111".to_owned(),
                // mb_skip_run 0, mb_type 0, coded_block_pattern 0.
                15 if direct => "111".repeat(6),
                _ => {
                    // mb_skip_run 0 and mb_type 22, then sub_mb_type 0 or 3, then two components
                    // for each list of a block that is not direct.
                    let types = (0..4).map(|b| if pattern >> b & 1 == 1 { "1" } else { "00100" });
                    let types: String = types.collect();
                    let vectors = "1".repeat(4 * (4 - pattern.count_ones() as usize));
                    format!("1000010111{types}{vectors}1").repeat(6)
                }
            };
            let what = format!("{pattern} {disabled}");
            assert_eq!(third, nal_unit(2, &want), "{what}");
            stream.extend(third);
            if !decodes(&stream, 3, &mut model, &what) {
                return;
            }
        }
    }
}

/// Extended Form: the modes of 8x8 blocks stand at each fourth place.
#[test]
fn extended_form() {
    let variant = Variant { transform_8x8: true, ..VARIANT };
    // DC; to the right, from the left; below, from above.
    let modes = [2, 1, 0, 0];
    let encoded = |extended: bool, spread: bool| {
        let mut prediction = AvcPakIntraPrediction::new();
        prediction.luma_mode.fill(u(2));
        for (place, mode) in prediction.luma_mode.iter_mut().enumerate() {
            match spread {
                true => *mode = u(modes[place / 4]),
                false if place < 4 => *mode = u(modes[place]),
                false => {}
            }
        }
        let mut inline = intra();
        inline.extended_form = extended;
        inline.transform_8x8 = true;
        inline.intra_mb_mode = InlineDataDescriptionForMfcAvcPakObjectIntraMbMode::INTRA_8X8;
        inline.prediction = prediction.pack().map(|dword| u(dword.into()));
        let object = MfcAvcPakObject { inline_data: inline, ..MfcAvcPakObject::new() };
        let mut model = model(&mut Random::new(7));
        let stream = encode(0, variant, slice(0), &mut model, &mut |_, _| object);
        decodes(&stream, 1, &mut model, &format!("{extended} {spread}"));
        stream
    };
    let (short, long) = (encoded(false, false), encoded(true, true));
    assert_eq!(short, long);
    // Read in the short form, all blocks have mode DC.
    assert_ne!(encoded(false, true), long);
}

/// Sum of the squared errors of luma.
fn error(index: usize, model: &mut Model) -> u64 {
    let planes = vec![(0, 16 * WIDTH, 16 * HEIGHT)];
    let pitch = super::setup::PITCH;
    let picture = crate::video::capture::Picture { address: SOURCE, pitch, planes };
    let source = picture.read(model);
    let coded = reconstructed(index, model);
    let square = |(a, b): (&u8, &u8)| u64::from(a.abs_diff(*b)).pow(2);
    source.iter().zip(&coded).map(square).sum()
}

/// Round Intra and Round Inter: levels that are rounded up more often cost more bits. Rounding to
/// the nearest level has a smaller error than cutting off.
#[test]
fn rounding() {
    for index in 0..2 {
        let mut results = Vec::new();
        for (enabled, value) in (0..8).map(|value| (true, value)).chain([(false, 0), (false, 7)]) {
            let mut random = Random::new(3);
            let mut model = model(&mut random);
            let mut stream = Vec::new();
            let object = match index {
                0 => MfcAvcPakObject { inline_data: intra(), ..MfcAvcPakObject::new() },
                _ => {
                    stream = random_picture(0, &mut random, &mut model);
                    let other: Vec<u8> = (0..0x4000)
                        .map(|at| (at / 41 % 190) as u8 + random.below(40) as u8)
                        .collect();
                    model.write(SOURCE, &other);
                    let mut object = still(1, &AvcPakInterPrediction::new());
                    let InlineDataDescriptionForMfcAvcPakObject { mb_type, prediction, .. } =
                        object.inline_data;
                    object.inline_data = InlineDataDescriptionForMfcAvcPakObject {
                        mb_type,
                        prediction,
                        ..all_coded()
                    };
                    object
                }
            };
            // The field of the other prediction has no effect.
            let mut state = slice(index);
            state.round_intra_enable = enabled || index == 1;
            state.round_inter_enable = enabled || index == 0;
            let intra = if index == 0 { value } else { 7 - value };
            state.round_intra = MfxAvcSliceStateRoundIntra::from_bits(intra);
            state.round_inter = MfxAvcSliceStateRoundInter::from_bits(7 - intra);
            let coded = encode(index, VARIANT, state, &mut model, &mut |_, _| object);
            let size = coded.len();
            stream.extend(&coded);
            if !decodes(&stream, index + 1, &mut model, &format!("{index} {value}")) {
                return;
            }
            results.push((size, error(index, &mut model), coded));
        }
        let sizes: Vec<usize> = results.iter().map(|result| result.0).collect();
        assert!(sizes[..8].windows(2).all(|pair| pair[0] < pair[1]), "{index}: {sizes:?}");
        let errors: Vec<u64> = results.iter().map(|result| result.1).collect();
        assert!(errors[7] < errors[0], "{index}: {errors:?}");
        assert_eq!(results[8].2, results[9].2, "a value that is not enabled");
    }
}
