//! Small pictures of typed packets: modes, outputs, ends of pictures, faults, status registers.
//!
//! The pictures are MPEG-2 of 32x32 samples. Each macroblock is flat, so that its samples are known
//! without a transform. Oracle: the sums of DC differences, from the tables of ISO/IEC 13818-2.

use super::capture::{Capture, Picture, md5, y_tiled};
use genxml::engine::EngineId;
use genxml::gen8::mfd::{
    MfdAvcBsdObject, MfdJpegBsdObject, MfdMpeg2BsdObject, MfdMpeg2BsdObjectInlineDataDescription,
    MfdVc1BsdObject, MfdVp8BsdObject,
};
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_mpeg2::*;
use genxml::gen8::mfx_registers::{MfdErrorStatus, MfxMbCount};
use genxml::gen8::mi::{MiFlushDw, MiStoreRegisterMem};
use genxml_cases::{Model, at, minus_one, packets, push, u};
use genxml_sim::Fault;

pub const TARGET: u64 = 0x40_0000;
const OTHER: u64 = 0x41_0000;
pub const CODED: u64 = 0x42_0000;
const REGISTERS: u64 = 0x43_0000;
/// No buffer is here.
const UNMAPPED: u64 = 0x70_0000;
pub const PITCH: usize = 128;

/// Samples of a picture that was never decoded.
pub const OLD: u8 = 77;

pub fn model() -> Model {
    let mut model = Model::new();
    for address in [TARGET, OTHER, CODED, REGISTERS] {
        model.map(address, 0x1_0000);
        model.write(address, &[OLD; 0x4000]);
    }
    model
}

/// A block without coefficients other than the DC difference, which is 0 or 16 to 31 in magnitude
/// (tables B.12 to B.14).
fn luma(difference: i32) -> String {
    match difference {
        0 => "10010".to_owned(),
        16..=31 => format!("1110{difference:05b}10"),
        -31..=-16 => format!("1110{:05b}10", difference + 31),
        _ => panic!("{difference} needs another code"),
    }
}

/// An intra macroblock of an I picture.
fn intra(difference: i32) -> String {
    format!("11{}{}{}", luma(difference), luma(0).repeat(3), "0010".repeat(2))
}

/// A macroblock of a P picture that is a copy: no coefficients, vector 0 (table B.3).
const COPY: &str = "100111";

/// A copy in a picture that may predict fields: frame_motion_type says that it does not.
const COPY_OF_FRAME: &str = "10011011";

/// The bytes of bits.
pub fn bytes(bits: &str) -> Vec<u8> {
    let byte = |bits: &[u8]| {
        bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | (bit - b'0') << (7 - at))
    };
    bits.as_bytes().chunks(8).map(byte).collect()
}

/// A slice in row `row`, whose data are at `offset`.
fn object(row: u64, offset: u64, length: usize) -> MfdMpeg2BsdObject {
    MfdMpeg2BsdObject {
        indirect_bsd_data_length: u(length as u64),
        indirect_bsd_data_start_address: at(offset),
        inline_data: MfdMpeg2BsdObjectInlineDataDescription {
            slice_vertical_position: u(row),
            macroblock_count: u(2),
            quantizer_scale_code: u(1),
            last_pic_slice: row == 1,
            next_slice_vertical_position: u(row + 1),
            ..MfdMpeg2BsdObjectInlineDataDescription::new()
        },
    }
}

/// Writes the data of two slices, and returns their objects.
fn slices(model: &mut Model, data: [String; 2]) -> [MfdMpeg2BsdObject; 2] {
    [0, 1].map(|row| {
        let (offset, data) = (0x100 * (row as u64 + 1), bytes(&data[row]));
        model.write(CODED + offset, &data);
        object(row as u64, offset, data.len())
    })
}

pub fn mode() -> MfxPipeModeSelect {
    MfxPipeModeSelect {
        standard_select: MfxPipeModeSelectStandardSelect::MPEG2,
        pre_deblocking_output_enable: true,
        ..MfxPipeModeSelect::new()
    }
}

pub fn surface() -> MfxSurfaceState {
    MfxSurfaceState {
        width: minus_one(32),
        height: minus_one(32),
        tile_walk: MfxSurfaceStateTileWalk::YMAJOR,
        tiled_surface: true,
        surface_pitch: minus_one(PITCH as u64),
        interleave_chroma: true,
        surface_format: MfxSurfaceStateSurfaceFormat::PLANAR_420_8,
        y_offset_for_u_cb: u(32),
        ..MfxSurfaceState::new()
    }
}

/// The decoded picture, and the picture that P pictures are predicted from.
pub fn buffers(target: u64, reference: u64) -> MfxPipeBufAddrState {
    let mut buffers = MfxPipeBufAddrState {
        pre_deblocking_destination_address: at(target),
        ..MfxPipeBufAddrState::new()
    };
    buffers.reference_picture[..4].fill(at(reference));
    buffers
}

/// Where coded data are; `bound` is the first byte after them.
pub fn coded(bound: u64) -> MfxIndObjBaseAddrState {
    MfxIndObjBaseAddrState {
        mfx_indirect_bitstream_object_address: at(CODED),
        mfx_indirect_bitstream_object_upper_bound: at(bound),
        ..MfxIndObjBaseAddrState::new()
    }
}

fn state(picture_coding_type: MfxMpeg2PicStatePictureCodingType) -> MfxMpeg2PicState {
    MfxMpeg2PicState {
        frame_prediction_frame_dct: true,
        picture_structure: MfxMpeg2PicStatePictureStructure::MPEG_FRAME,
        f_code_0_0: u(1),
        f_code_0_1: u(1),
        f_code_1_0: u(15),
        f_code_1_1: u(15),
        picture_coding_type,
        frame_width_in_mbs: minus_one(2),
        frame_height_in_mbs: minus_one(2),
        slice_concealment_disable: true,
        ..MfxMpeg2PicState::new()
    }
}

const I: MfxMpeg2PicStatePictureCodingType = MfxMpeg2PicStatePictureCodingType::MPEG_I_PICTURE;
const P: MfxMpeg2PicStatePictureCodingType = MfxMpeg2PicStatePictureCodingType::MPEG_P_PICTURE;

/// The state of an I picture at [`TARGET`].
fn intra_picture() -> Vec<u32> {
    packets![mode(), surface(), buffers(TARGET, 0), coded(0), state(I)]
}

/// Slices of an I picture whose macroblocks are flat: 144, 160, 112, 128.
fn four() -> [String; 2] {
    [intra(16) + &intra(16), intra(-16) + &intra(16)]
}

const FOUR: [u8; 4] = [144, 160, 112, 128];

/// The luma samples of the four macroblocks. Each macroblock must be flat.
fn shown(model: &mut Model, address: u64) -> [u8; 4] {
    let surface = model.read(address, 32 * PITCH);
    [(0, 0), (16, 0), (0, 16), (16, 16)].map(|(left, top)| {
        let first = surface[y_tiled(left, top, PITCH)];
        for at in 0..256 {
            let sample = surface[y_tiled(left + at % 16, top + at / 16, PITCH)];
            assert_eq!(sample, first, "{left}, {top}: sample {at}");
        }
        first
    })
}

pub fn submit(model: &mut Model, batch: &[u32]) -> Result<(), Fault> {
    model.submit(EngineId::Video, batch).map(drop)
}

/// MI_STORE_REGISTER_MEM of the counts of macroblocks and errors.
fn store(batch: &mut Vec<u32>) {
    for (offset, index) in [(MfxMbCount::OFFSET, 0), (MfdErrorStatus::OFFSET, 1)] {
        push(
            batch,
            &MiStoreRegisterMem {
                register_address: at(offset.into()),
                memory_address: at(REGISTERS + 4 * index),
                ..MiStoreRegisterMem::new()
            },
        );
    }
}

/// Two pictures in two batches: the second is a copy of the first one. The registers count the
/// macroblocks of each picture.
#[test]
fn a_picture_and_its_copy() {
    let mut model = model();
    let mut batch = intra_picture();
    slices(&mut model, four()).iter().for_each(|slice| push(&mut batch, slice));
    store(&mut batch);
    submit(&mut model, &batch).unwrap();
    assert_eq!(shown(&mut model, TARGET), FOUR);
    assert_eq!(model.get(REGISTERS, 2), [4, 0]);
    let chroma = model.read(TARGET + 4096, 4096);
    assert!((0..16 * 32).all(|at| chroma[y_tiled(at % 32, at / 32, PITCH)] == 128));

    let mut batch = packets![mode(), surface(), buffers(OTHER, TARGET), coded(0), state(P)];
    let copies = [COPY.repeat(2), COPY.repeat(2)];
    slices(&mut model, copies).iter().for_each(|slice| push(&mut batch, slice));
    submit(&mut model, &batch).unwrap();
    assert_eq!(shown(&mut model, OTHER), FOUR);
}

/// Dual prime prediction in a frame: the mean of the same field and of the other one, whose vector
/// is scaled by the distance of the fields, and which field is first says that distance (ISO/IEC
/// 13818-2 7.6.3.6). A vector of two half samples is one half sample from field to field, or three
/// over two fields.
#[test]
fn dual_prime_follows_the_order_of_fields() {
    for top_field_first in [false, true] {
        let mut model = model();
        let mut batch = intra_picture();
        slices(&mut model, four()).iter().for_each(|slice| push(&mut batch, slice));
        submit(&mut model, &batch).unwrap();
        let state =
            MfxMpeg2PicState { top_field_first, frame_prediction_frame_dct: false, ..state(P) };
        let mut batch = packets![mode(), surface(), buffers(OTHER, TARGET), coded(0), state];
        // Dual prime, a vector of 2 and 0, no differential vector; then a copy of a frame: the
        // vector goes back to 0.
        let first = format!("1001{}{}{}", "11", "00100", "10");
        let second = format!("1001{}{}{}", "10", "0011", "1");
        let data = [first + &second, [COPY_OF_FRAME; 2].concat()];
        slices(&mut model, data).iter().for_each(|slice| push(&mut batch, slice));
        submit(&mut model, &batch).unwrap();
        let surface = model.read(OTHER, 32 * PITCH);
        let [left, right] = [144, 160];
        let half = |a: u16, b: u16| (a + b).div_ceil(2);
        for row in 2..14 {
            // One half sample before the edge, or one and a half.
            let near = (row % 2 == 0) == top_field_first;
            let other = if near { half(left, right) } else { right };
            let got = surface[y_tiled(15, row, PITCH)];
            assert_eq!(u16::from(got), half(right, other), "row {row}, {top_field_first}");
        }
    }
}

/// Surfaces may also be linear or in X tiles of 8 rows of 512 bytes.
#[test]
fn tilings() {
    for x_tiles in [false, true] {
        let mut model = model();
        let surface = MfxSurfaceState {
            tile_walk: MfxSurfaceStateTileWalk::XMAJOR,
            tiled_surface: x_tiles,
            surface_pitch: minus_one(512),
            ..surface()
        };
        let mut batch = packets![mode(), surface, buffers(TARGET, 0), coded(0), state(I)];
        slices(&mut model, four()).iter().for_each(|slice| push(&mut batch, slice));
        submit(&mut model, &batch).unwrap();
        // Rows of 512 bytes are one tile wide, so the offset is the same for both.
        let rows = model.read(TARGET, 32 * 512);
        for (at, want) in [(0, 144), (31, 160), (512 * 31, 112), (512 * 31 + 31, 128)] {
            assert_eq!(rows[at], want, "{at}");
        }
        assert_eq!(rows[32], OLD);
    }
}

/// A slice after a packet that makes the engine wait begins another picture, with the newest
/// addresses. Without such a packet it belongs to the open picture.
#[test]
fn waits_end_pictures() {
    for (wait, name) in [
        (packets![MfxWait::new()], "MFX_WAIT"),
        (packets![MiFlushDw::new()], "MI_FLUSH_DW"),
        (packets![mode()], "MFX_PIPE_MODE_SELECT"),
        (Vec::new(), "nothing"),
    ] {
        let mut model = model();
        let mut batch = intra_picture();
        let [first, second] = slices(&mut model, four());
        push(&mut batch, &first);
        batch.extend(&wait);
        push(&mut batch, &buffers(OTHER, 0));
        push(&mut batch, &second);
        store(&mut batch);
        submit(&mut model, &batch).unwrap();
        let (one, two) = match name {
            "nothing" => (FOUR, [OLD; 4]),
            _ => ([144, 160, OLD, OLD], [OLD, OLD, 112, 128]),
        };
        assert_eq!(shown(&mut model, TARGET), one, "{name}");
        assert_eq!(shown(&mut model, OTHER), two, "{name}");
    }
}

/// Bytes from the upper bound on are no data. Macroblocks without data keep the samples that memory
/// holds, and the error status says that something is wrong.
#[test]
fn the_upper_bound_cuts_data() {
    let mut model = model();
    let mut batch =
        packets![mode(), surface(), buffers(TARGET, 0), coded(CODED + 0x1000), state(I)];
    let [first, mut second] = slices(&mut model, four());
    // Six of nine bytes are before the bound: the first macroblock and a part of the second.
    let data = model.read(CODED + 0x200, 9);
    model.write(CODED + 0xffa, &data);
    second.indirect_bsd_data_start_address = at(0xffa);
    push(&mut batch, &first);
    push(&mut batch, &second);
    store(&mut batch);
    submit(&mut model, &batch).unwrap();
    assert_eq!(shown(&mut model, TARGET), [144, 160, 112, OLD]);
    let [macroblocks, errors] = model.get(REGISTERS, 2)[..] else { unreachable!() };
    assert_eq!(macroblocks, 3);
    assert_ne!(errors, 0);

    // The second slice comes back with another bound.
    let mut batch =
        packets![mode(), surface(), buffers(TARGET, 0), coded(CODED + 0x2000), state(I)];
    push(&mut batch, &first);
    push(&mut batch, &second);
    store(&mut batch);
    submit(&mut model, &batch).unwrap();
    assert_eq!(shown(&mut model, TARGET), FOUR);
    assert_eq!(model.get(REGISTERS, 2), [4, 0]);
}

/// Both outputs of a picture. Oracle: FFmpeg with and without its deblocking filter
/// (`-skip_loop_filter all`).
#[test]
fn both_deblocking_outputs() {
    const SPARE: u64 = 0x70_0000;
    let (capture, picture, want) = Capture::open("avc_spatial").first_frame();
    let mut model = capture.model();
    model.map(SPARE, 0x1_0000);
    let address = capture.prepare(&mut model);
    let mut batch = model.get(address, 0x400);
    let find = |header: u32| batch.iter().position(|dword| *dword == header).unwrap();
    let (mode, buffers) = (find(0x7000_0003), find(0x7002_003b));
    batch[mode + 1] |= 3 << 8;
    batch[buffers + 1] = SPARE as u32;
    model.put(address, &batch);
    model.submit_at(EngineId::Video, address).unwrap();
    want.check(&picture.read(&mut model)).unwrap();
    let before = Picture { address: SPARE, ..picture };
    assert_eq!(md5(&before.read(&mut model)), "282f7bb376808e3bbc2c51bdb3821a44");
}

/// The name of the field, the feature or the memory that a fault is about.
pub fn about(fault: Fault) -> String {
    match fault {
        Fault::BadPacket { field, .. } => field.to_string(),
        Fault::Unimplemented { what, .. } => what.to_string(),
        fault => fault.to_string(),
    }
}

/// Modes that contradict the packets after them, and modes that the model does not have.
#[test]
fn modes() {
    let mode = mode();
    let cases = [
        (
            MfxPipeModeSelect { standard_select: MfxPipeModeSelectStandardSelect::AVC, ..mode },
            "Standard Select",
        ),
        (
            MfxPipeModeSelect { codec_select: MfxPipeModeSelectCodecSelect::ENCODE, ..mode },
            "Codec Select",
        ),
        (
            MfxPipeModeSelect {
                decoder_mode_select: MfxPipeModeSelectDecoderModeSelect::IT_MODE,
                ..mode
            },
            "Decoder Mode select",
        ),
        (MfxPipeModeSelect { stream_out_enable: true, ..mode }, "Stream-Out Enable"),
        (MfxPipeModeSelect { deblocker_stream_out_enable: true, ..mode }, "Stream-Out Enable"),
        (
            MfxPipeModeSelect { pre_deblocking_output_enable: false, ..mode },
            "Pre Deblocking Output Enable",
        ),
    ];
    for (mode, want) in cases {
        let mut model = model();
        let mut batch = packets![mode, surface(), buffers(TARGET, 0), coded(0), state(I)];
        slices(&mut model, four()).iter().for_each(|slice| push(&mut batch, slice));
        let fault = about(submit(&mut model, &batch).unwrap_err());
        assert!(fault.contains(want), "{want}: {fault}");
        assert_eq!(shown(&mut model, TARGET), [OLD; 4]);
    }
}

/// Objects of other standards than that of the picture.
#[test]
fn objects_of_other_standards() {
    let objects = [
        packets![MfdAvcBsdObject::new()],
        packets![MfdVc1BsdObject::new()],
        packets![MfdJpegBsdObject::new()],
        packets![MfdVp8BsdObject::new()],
    ];
    for object in objects {
        let mut batch = intra_picture();
        batch.extend(object);
        let fault = submit(&mut model(), &batch).unwrap_err();
        assert_eq!(about(fault), "Standard Select");
    }
}

/// State that is missing or that the decoder does not have.
#[test]
fn state_that_cannot_be() {
    let cases = [
        (packets![mode(), buffers(TARGET, 0), coded(0), state(I)], "Surface ID"),
        (
            packets![
                mode(),
                MfxSurfaceState { surface_pitch: minus_one(100), ..surface() },
                buffers(TARGET, 0),
                coded(0),
                state(I),
            ],
            "Surface Pitch",
        ),
        (
            packets![
                mode(),
                MfxSurfaceState {
                    surface_format: MfxSurfaceStateSurfaceFormat::R8G8B8A8_UNORM,
                    ..surface()
                },
                buffers(TARGET, 0),
                coded(0),
                state(I),
            ],
            "Surface Format",
        ),
        (
            packets![
                mode(),
                surface(),
                buffers(TARGET, 0),
                coded(0),
                MfxMpeg2PicState {
                    picture_structure: MfxMpeg2PicStatePictureStructure::from_bits(0),
                    ..state(I)
                },
            ],
            "Picture Structure",
        ),
    ];
    for (mut batch, want) in cases {
        let mut model = model();
        slices(&mut model, four()).iter().for_each(|slice| push(&mut batch, slice));
        let fault = about(submit(&mut model, &batch).unwrap_err());
        assert!(fault.contains(want), "{want}: {fault}");
    }
}

/// Memory that is not mapped.
#[test]
fn page_faults() {
    let data = MfxIndObjBaseAddrState {
        mfx_indirect_bitstream_object_address: at(UNMAPPED),
        ..MfxIndObjBaseAddrState::new()
    };
    let cases = [
        (buffers(TARGET, UNMAPPED), coded(0), P, "reference picture 0"),
        (buffers(UNMAPPED, TARGET), coded(0), I, "decoded picture"),
        (buffers(TARGET, 0), data, I, "coded data"),
    ];
    for (buffers, coded, kind, want) in cases {
        let mut model = model();
        let mut batch = packets![mode(), surface(), buffers, coded, state(kind)];
        slices(&mut model, four()).iter().for_each(|slice| push(&mut batch, slice));
        let fault = submit(&mut model, &batch).unwrap_err();
        let Fault::Page { .. } = fault else { panic!("{want}: {fault}") };
        assert!(fault.to_string().contains(want), "{want}: {fault}");
        assert_eq!(shown(&mut model, TARGET), [OLD; 4], "{want}");
    }
}
