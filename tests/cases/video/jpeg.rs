//! JPEG pictures of typed packets: four blocks of luma.
//!
//! Oracle: ITU-T T.81 in plain scalar Rust: sums of DC differences, and the definition of the
//! inverse transform for the one other coefficient.

use super::capture::y_tiled;
use super::packets::{CODED, OLD, PITCH, TARGET, buffers, coded, mode, model, submit, surface};
use genxml::gen8::mfd::MfdJpegBsdObject;
use genxml::gen8::mfx_common::{MfxPipeModeSelect, MfxPipeModeSelectStandardSelect, MfxQmState};
use genxml::gen8::mfx_jpeg::{
    MfxJpegHuffTableState, MfxJpegPicState, MfxJpegPicStateInputFormatYuv,
};
use genxml_cases::{Model, at, minus_one, packets, push, u};

/// The quantiser of all coefficients.
const QUANTISER: u64 = 8;

/// The code of a DC difference, which is 0 or 16 to 31 in magnitude.
fn dc(difference: i32) -> String {
    match difference {
        0 => "0".to_owned(),
        16..=31 => format!("10{difference:05b}"),
        -31..=-16 => format!("10{:05b}", difference + 31),
        _ => panic!("{difference} needs another code"),
    }
}

/// A block that is flat.
fn flat(difference: i32) -> String {
    dc(difference) + "0"
}

/// The bytes of bits, filled up with ones (T.81 F.1.2.3). No byte may be 0xff.
fn bytes(bits: &str) -> Vec<u8> {
    let byte = |bits: &[u8]| {
        (0..8).fold(0, |byte, at| byte << 1 | bits.get(at).map_or(1, |bit| bit - b'0'))
    };
    bits.as_bytes().chunks(8).map(byte).collect()
}

/// DC codes: 0 is category 0, 10 is category 5. AC codes: 0 ends a block, 161 others have 16 bits,
/// the last of which has the value `last`.
fn tables(last: u64) -> MfxJpegHuffTableState {
    let mut tables = MfxJpegHuffTableState::new();
    (tables.dc_bits[0], tables.dc_bits[1], tables.dc_huffval[1]) = (u(1), u(1), u(5));
    (tables.ac_bits[0], tables.ac_bits[15]) = (u(1), u(161));
    tables.ac_huffval[1..].fill(u(0x11));
    tables.ac_huffval2 = [u(0x11), u(last)];
    tables
}

/// The 16 bits of the last AC code: 1 and the number of the code.
fn last_code() -> String {
    format!("{:016b}", 0x8000 + 160)
}

/// Decodes a scan. `last` is the value of the last AC code.
fn decode(model: &mut Model, data: &[u8], object: MfdJpegBsdObject, last: u64) {
    model.write(CODED + 0x100, data);
    let mode =
        MfxPipeModeSelect { standard_select: MfxPipeModeSelectStandardSelect::JPEG, ..mode() };
    let picture = MfxJpegPicState {
        input_format_yuv: MfxJpegPicStateInputFormatYuv::YUV400,
        frame_width_in_blocks: minus_one(2),
        frame_height_in_blocks: minus_one(2),
        ..MfxJpegPicState::new()
    };
    let matrix = MfxQmState { forward_quantizer_matrix: [u(QUANTISER); 64], ..MfxQmState::new() };
    let mut batch =
        packets![mode, surface(), buffers(TARGET, 0), coded(0), picture, matrix, tables(last)];
    push(
        &mut batch,
        &MfdJpegBsdObject {
            indirect_data_length: u(data.len() as u64),
            indirect_data_start_address: at(0x100),
            scan_components: u(1),
            ..object
        },
    );
    submit(model, &batch).unwrap();
}

/// The samples of a block.
fn block(model: &mut Model, (left, top): (usize, usize)) -> Vec<u8> {
    let surface = model.read(TARGET, 32 * PITCH);
    (0..64).map(|at| surface[y_tiled(left + at % 8, top + at / 8, PITCH)]).collect()
}

/// The samples of four flat blocks.
fn shown(model: &mut Model) -> [u8; 4] {
    [(0, 0), (8, 0), (0, 8), (8, 8)].map(|at| {
        let samples = block(model, at);
        assert_eq!(samples, [samples[0]; 64], "{at:?}");
        samples[0]
    })
}

fn object(count: u64) -> MfdJpegBsdObject {
    MfdJpegBsdObject { mcu_count: u(count), ..MfdJpegBsdObject::new() }
}

/// Flat blocks: a DC coefficient of one step changes all samples by an eighth of the quantiser.
#[test]
fn differences_add_up() {
    let mut model = model();
    let data = bytes(&[flat(16), flat(20), flat(-30), flat(0)].concat());
    decode(&mut model, &data, object(4), 0);
    assert_eq!(shown(&mut model), [144, 164, 134, 134]);
}

/// With restarts, differences count from 0 again.
#[test]
fn restarts() {
    let mut model = model();
    let mut data = bytes(&[flat(16), flat(20)].concat());
    data.extend([0xff, 0xd0]);
    data.extend(bytes(&[flat(-30), flat(0)].concat()));
    decode(&mut model, &data, MfdJpegBsdObject { restart_interval: u(2), ..object(4) }, 0);
    assert_eq!(shown(&mut model), [144, 164, 98, 98]);
}

/// A scan may begin inside the picture. Other blocks keep their samples.
#[test]
fn positions() {
    for (horizontal, vertical) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let mut model = model();
        let object = MfdJpegBsdObject {
            scan_horizontal_position: u(horizontal),
            scan_vertical_position: u(vertical),
            ..object(1)
        };
        decode(&mut model, &bytes(&flat(16)), object, 0);
        let mut want = [OLD; 4];
        want[(2 * vertical + horizontal) as usize] = 144;
        assert_eq!(shown(&mut model), want);
    }
}

/// The last of 162 AC codes, for a coefficient of one bit after no zeros.
#[test]
fn the_last_ac_value() {
    let mut model = model();
    let data = bytes(&[dc(0), last_code(), "1".to_owned(), "0".to_owned()].concat());
    decode(&mut model, &data, object(1), 0x01);
    let sample = |x: usize| {
        // T.81 A.3.3 with one coefficient: C(0) C(1) / 4 times a cosine.
        let angle = (2 * x + 1) as f64 * std::f64::consts::PI / 16.0;
        (128.0 + QUANTISER as f64 / 4.0 * 0.5_f64.sqrt() * angle.cos()).round() as u8
    };
    let row: [u8; 8] = std::array::from_fn(sample);
    assert_eq!(block(&mut model, (0, 0)), row.repeat(8));
}
