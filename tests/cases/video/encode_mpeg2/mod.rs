//! MPEG-2 pictures encoded from typed packets.
//!
//! Oracle: FFmpeg's software decoder shows the pictures that the model has reconstructed, within
//! the errors of the inverse transforms. Tests that need it end early if it is not installed.

mod effects;
mod round_trip;

use super::encode::{
    CODED, HEAD, HEIGHT, PICTURES, REGISTERS, SOURCE, WIDTH, ffmpeg, insert, model, reconstructed,
    store, surface,
};
use super::packets::{about, submit};
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_mpeg2::*;
use genxml::gen8::mfx_registers::{MfcBitstreamBytecountFrame, MfcQpStatusCount, MfxMbCount};
use genxml_cases::{Model, Random, at, minus_one, packets, push, u};
use genxml_core::S;

/// The delimiter that intel-vaapi-driver looks for after the coded data.
const TAIL: [u8; 5] = [0, 0, 0, 0, 0xb0];

/// State of picture `index`: 0 I, 1 P, 2 B.
fn picture(index: usize) -> Vec<u32> {
    let mut buffers = MfxPipeBufAddrState {
        original_uncompressed_picture_source_address: at(SOURCE),
        pre_deblocking_destination_address: at(PICTURES[index]),
        ..MfxPipeBufAddrState::new()
    };
    for (at_index, reference) in buffers.reference_picture[..4].iter_mut().enumerate() {
        *reference = at(PICTURES[at_index % 2 * usize::from(index == 2)]);
    }
    packets![
        MfxPipeModeSelect {
            standard_select: MfxPipeModeSelectStandardSelect::MPEG2,
            codec_select: MfxPipeModeSelectCodecSelect::ENCODE,
            pre_deblocking_output_enable: true,
            ..MfxPipeModeSelect::new()
        },
        surface(MfxSurfaceStateSurfaceId::DECODED_OR_REFERENCE_PICTURE),
        buffers,
        MfxIndObjBaseAddrState {
            mfc_indirect_pak_bse_object_address: at(CODED),
            mfc_indirect_pak_bse_object_upper_bound: at(CODED + 0x8000),
            ..MfxIndObjBaseAddrState::new()
        },
        state(index),
        group()
    ]
}

fn state(index: usize) -> MfxMpeg2PicState {
    let code = |used: bool| u(if used { 2 } else { 15 });
    MfxMpeg2PicState {
        frame_prediction_frame_dct: true,
        picture_structure: MfxMpeg2PicStatePictureStructure::MPEG_FRAME,
        f_code_0_0: code(index > 0),
        f_code_0_1: code(index > 0),
        f_code_1_0: code(index > 1),
        f_code_1_1: code(index > 1),
        picture_coding_type: MfxMpeg2PicStatePictureCodingType::from_bits(index as u64 + 1),
        frame_width_in_mbs: minus_one(WIDTH as u64),
        frame_height_in_mbs: minus_one(HEIGHT as u64),
        slice_concealment_disable: true,
        ..MfxMpeg2PicState::new()
    }
}

fn group() -> MfcMpeg2SlicegroupState {
    MfcMpeg2SlicegroupState {
        is_last_slice_grp: true,
        bitstream_offset_indirect_pak_bse_data_start_address_write: at(HEAD),
        ..MfcMpeg2SlicegroupState::new()
    }
}

/// Headers before the first slice. `interlaced`: frames may have field prediction.
fn headers(index: usize, interlaced: bool, dwords: &mut Vec<u32>) {
    let progressive = u8::from(!interlaced);
    let mut put = |code: u8, bits: String| {
        let zeros = "0".repeat((8 - bits.len() % 8) % 8);
        insert(&format!("{:024b}{code:08b}{bits}{zeros}", 1), false, dwords);
    };
    if index == 0 {
        let (width, height) = (16 * WIDTH, 16 * HEIGHT);
        // Square samples, 25 frames a second, any rate.
        put(0xb3, format!("{width:012b}{height:012b}00010011{:018b}1{:010b}000", 0x3fff, 100));
        // Main profile, high level, 4:2:0.
        let zeros = "0".repeat(16);
        put(0xb5, format!("000101000100{progressive}01{zeros}1{zeros}"));
        put(0xb8, format!("{:025b}10", 1 << 12));
    }
    let number = [0, 2, 1][index];
    let vectors = ["", "0111", "01110111"][index];
    put(0, format!("{number:010b}{:03b}{:016b}{vectors}0", index + 1, 0xffff));
    let code = |used: bool| if used { "0010" } else { "1111" };
    let codes = [code(index > 0).repeat(2), code(index > 1).repeat(2)].concat();
    let p = progressive;
    put(0xb5, format!("1000{codes}00110{p}00000{p}{p}0"));
}

/// A random macroblock of the picture.
fn macroblock(index: usize, number: usize, random: &mut Random) -> MfcMpeg2PakObject {
    let (x, y) = (number % WIDTH, number / WIDTH);
    let mut inline = InlineDataDescriptionForMfcMpeg2PakObject {
        intra_mb: index == 0 || random.below(4) == 0,
        mb_column: u(x as u64),
        mb_row: u(y as u64),
        cbp: u(random.pick(&[63, 63, 0, 21])),
        cbp_dc: u(7),
        first_mb: x == 0,
        last_mb: x + 1 == WIDTH,
        quantizer_scale_code: u(2 + random.below(6)),
        ..InlineDataDescriptionForMfcMpeg2PakObject::new()
    };
    inline.mb_type = match inline.intra_mb {
        true => InlineDataDescriptionForMfcMpeg2PakObjectMbType::INTRA,
        false => {
            let types: &[u64] = if index == 1 { &[1] } else { &[1, 2, 3] };
            InlineDataDescriptionForMfcMpeg2PakObjectMbType::from_bits(random.pick(types))
        }
    };
    for vector in &mut inline.motion_vectors {
        // In the picture.
        let mut component = |place: usize, count: usize| {
            let (low, high) = (-32 * place as i64, 32 * (count - 1 - place) as i64);
            let value = (random.below(63) as i64 - 31).clamp(low, high);
            S::<16>::try_from(value).unwrap()
        };
        vector.motion_vector_x = component(x, WIDTH);
        vector.motion_vector_y = component(y, HEIGHT);
    }
    MfcMpeg2PakObject { inline_data: inline }
}

/// Encodes picture `index` of a stream. Returns its coded data without the delimiter.
fn encode(index: usize, random: &mut Random, model: &mut Model) -> Vec<u8> {
    let objects = (0..WIDTH * HEIGHT).map(|number| macroblock(index, number, random)).collect();
    let (state, group) = (state(index), group());
    let coded = encode_with(index, Settings { state, group, objects }, model);
    let quantisers = model.get(REGISTERS + 4, 1)[0];
    assert!(quantisers as usize >= 2 * WIDTH * HEIGHT);
    coded
}

/// What differs between pictures.
struct Settings {
    state: MfxMpeg2PicState,
    group: MfcMpeg2SlicegroupState,
    objects: Vec<MfcMpeg2PakObject>,
}

fn encode_with(index: usize, settings: Settings, model: &mut Model) -> Vec<u8> {
    model.write(CODED, &[0xee; 0x8000]);
    let mut batch = picture(index);
    push(&mut batch, &settings.state);
    push(&mut batch, &settings.group);
    headers(index, !settings.state.frame_prediction_frame_dct, &mut batch);
    settings.objects.iter().for_each(|object| push(&mut batch, object));
    let tail: String = TAIL.iter().map(|byte| format!("{byte:08b}")).collect();
    insert(&tail, false, &mut batch);
    let stored = [MfcBitstreamBytecountFrame::OFFSET, MfcQpStatusCount::OFFSET, MfxMbCount::OFFSET];
    store(&stored, &mut batch);
    submit(model, &batch).unwrap();
    let coded = model.read(CODED + HEAD, 0x7000);
    let length = coded.windows(5).position(|bytes| bytes == TAIL).expect("a delimiter");
    let [bytes, _, macroblocks] = model.get(REGISTERS, 3)[..] else { unreachable!() };
    assert_eq!((bytes as usize, macroblocks as usize), (length + 5, WIDTH * HEIGHT));
    coded[..length].to_vec()
}

/// Checks that FFmpeg's software decoder shows the first `count` pictures as the model has
/// reconstructed them, without complaints. False if it is not installed.
fn decodes(stream: &[u8], count: usize, model: &mut Model, what: &str) -> bool {
    let stream = [stream, &[0, 0, 1, 0xb7]].concat();
    let options = ["-cpuflags", "0", "-flags", "bitexact", "-idct", "faani"];
    let input = [&options[..], &["-f", "mpegvideo"]].concat();
    let Some((frames, log)) = ffmpeg(&stream, &input) else { return false };
    assert_eq!(log, "");
    let size = 16 * WIDTH * 16 * HEIGHT * 3 / 2;
    assert_eq!(frames.len(), count * size);
    // In output order the B picture is between the others.
    let order = [0, 2, 1].into_iter().filter(|index| *index < count);
    for (shown, index) in order.enumerate() {
        let got = reconstructed(index, model);
        let want = &frames[shown * size..][..size];
        let most = got.iter().zip(want).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        // Each transform may add 1.
        assert!(most <= [1, 2, 3][index], "{what}: picture {index} differs by {most}");
    }
    true
}

/// I, P and B pictures with random macroblocks.
#[test]
fn pictures_decode_as_they_were_reconstructed() {
    for number in 0..16 {
        let mut random = Random::new(number);
        let mut model = model(&mut random);
        let mut stream = Vec::new();
        for index in 0..3 {
            stream.extend(encode(index, &mut random, &mut model));
        }
        if !decodes(&stream, 3, &mut model, &format!("{number}")) {
            return;
        }
    }
}

/// Two host threads write the same memory as one.
#[test]
fn host_threads() {
    let run = |threads: usize| {
        let mut random = Random::new(8);
        let mut model = model(&mut random);
        model.gpu.set_threads(threads);
        let coded = [0, 1, 2].map(|index| encode(index, &mut random, &mut model));
        let pictures = [0, 1, 2].map(|index| reconstructed(index, &mut model));
        (coded, pictures, model.read(REGISTERS, 0x1000))
    };
    assert!(run(1) == run(2));
}

/// What the model does not have, and invalid macroblocks.
#[test]
fn faults_name_fields() {
    type Change = fn(&mut InlineDataDescriptionForMfcMpeg2PakObject);
    let changes: [(Change, &str); 6] = [
        (|inline| inline.quantizer_scale_code = u(0), "Quantizer Scale Code"),
        (|inline| inline.intra_mb = false, "MB Type"),
        (|inline| inline.field_dct = true, "Field DCT"),
        (|inline| inline.mb_column = u(WIDTH as u64), "macroblock of the slice"),
        (|inline| inline.coefficient_clamp_enable = true, "limits of coefficients"),
        (
            |inline| {
                inline.intra_mb = false;
                inline.mb_type = InlineDataDescriptionForMfcMpeg2PakObjectMbType::DUAL_PRIME;
            },
            "dual prime",
        ),
    ];
    for (change, want) in changes {
        let mut random = Random::new(2);
        let mut model = model(&mut random);
        let mut batch = picture(0);
        let mut object = macroblock(0, 0, &mut random);
        change(&mut object.inline_data);
        push(&mut batch, &object);
        let got = about(submit(&mut model, &batch).unwrap_err());
        assert!(got.starts_with(want), "{got} for {want}");
    }
}

#[test]
fn changed_batches_end() {
    super::encode::changed_batches_end(400, |random, _| {
        let index = random.index(3);
        let mut batch = picture(index);
        headers(index, false, &mut batch);
        for number in 0..WIDTH * HEIGHT {
            push(&mut batch, &macroblock(index, number, random));
        }
        // The mode, the surface, the buffers, the bases of indirect data.
        (batch, 5 + 6 + 61 + 26)
    });
}
