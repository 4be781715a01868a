//! AVC pictures encoded from typed packets.
//!
//! Oracle: FFmpeg's software decoder shows the pictures that the model has reconstructed. Tests that
//! need it end early if it is not installed.

use super::capture::Picture;
use super::packets::submit;
use genxml::engine::EngineId;
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_avc::*;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_registers::{
    MfcAvcCabacBinCountFrame, MfcBitstreamBytecountFrame, MfcBitstreamSeBitcountFrame,
    MfcQpStatusCount, MfxMbCount,
};
use genxml::gen8::mi::{MiBatchBufferEnd, MiBatchBufferStart, MiStoreRegisterMem};
use genxml_cases::{Model, Random, at, minus_one, packets, push, u};
use genxml_core::U;
use genxml_sim::Fault;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};

pub const SOURCE: u64 = 0x40_0000;
/// The reconstructed pictures.
pub const PICTURES: [u64; 3] = [0x41_0000, 0x42_0000, 0x43_0000];
pub const CODED: u64 = 0x44_0000;
const VECTORS: u64 = 0x45_0000;
const SECOND: u64 = 0x46_0000;
pub const REGISTERS: u64 = 0x47_0000;
/// Records of macroblocks.
const RECORDS: u64 = REGISTERS + 0x1000;
pub const PITCH: usize = 128;
/// Size in macroblocks.
pub const WIDTH: usize = 3;
pub const HEIGHT: usize = 2;
/// Bytes of the coded data before the first header.
pub const HEAD: u64 = 0x40;
/// The delimiter that intel-vaapi-driver looks for after the coded data.
const TAIL: [u8; 5] = [0; 5];

pub fn model(random: &mut Random) -> Model {
    let mut model = Model::new();
    for address in [SOURCE, CODED, VECTORS, SECOND, REGISTERS].into_iter().chain(PICTURES) {
        model.map(address, 0x1_0000);
    }
    // A slope with some noise.
    let source: Vec<u8> =
        (0..0x4000).map(|at| (at / 37 % 200) as u8 + random.below(20) as u8).collect();
    model.write(SOURCE, &source);
    model.write(CODED, &[0xee; 0x8000]);
    model
}

/// Bits as text.
#[derive(Default)]
struct Bits(String);

impl Bits {
    fn put(mut self, bits: &str) -> Self {
        self.0 += bits;
        self
    }

    /// Exp-Golomb code.
    fn ue(self, value: u32) -> Self {
        let code = format!("{:b}", value + 1);
        let zeros = "0".repeat(code.len() - 1);
        self.put(&zeros).put(&code)
    }

    fn se(self, value: i32) -> Self {
        self.ue(if value > 0 { 2 * value as u32 - 1 } else { 2 * value.unsigned_abs() })
    }

    /// The packet that inserts a start code, the header byte of a NAL unit and the bits, with
    /// emulation prevention. Dwords are kept in `dwords`.
    fn insert(self, header: u8, stop: bool, dwords: &mut Vec<u32>) {
        let mut bits = format!("{}{header:08b}{}", "0".repeat(31) + "1", self.0);
        if stop {
            bits += "1";
            bits += &"0".repeat((8 - bits.len() % 8) % 8);
        }
        insert(&bits, true, dwords);
    }
}

/// The packet that inserts bits.
pub fn insert(bits: &str, protect: bool, dwords: &mut Vec<u32>) {
    let last = (bits.len() + 31) % 32 + 1;
    let padded = format!("{bits}{}", "0".repeat(32 - last));
    let payload: Vec<U<32>> = padded
        .as_bytes()
        .chunks(32)
        .map(|bits| {
            let word = bits.iter().fold(0u32, |word, bit| word << 1 | u32::from(bit - b'0'));
            u(word.swap_bytes().into())
        })
        .collect();
    push(
        dwords,
        &MfxPakInsertObject {
            data_bits_in_last_dw: u(last as u64),
            skip_emulation_byte_count: u(if protect { 5 } else { 0 }),
            emulation_byte_bits_insert_enable: protect,
            insert_data_pay_load: (&payload[..]).into(),
            ..MfxPakInsertObject::new()
        },
    );
}

/// What differs between streams.
#[derive(Clone, Copy, Debug)]
struct Variant {
    cabac: bool,
    transform_8x8: bool,
    deblocking: bool,
    /// Macroblocks are in a second-level batch.
    second_level: bool,
    /// The source has a surface state of its own.
    own_source: bool,
}

const VARIANT: Variant = Variant {
    cabac: false,
    transform_8x8: false,
    deblocking: true,
    second_level: false,
    own_source: false,
};

fn image(variant: Variant) -> MfxAvcImgState {
    MfxAvcImgState {
        frame_size: u((WIDTH * HEIGHT) as u64),
        frame_width: minus_one(WIDTH as u64),
        frame_height: minus_one(HEIGHT as u64),
        chroma_format_idc: MfxAvcImgStateChromaFormatIdc::_4_2_0_PICTURE,
        entropy_coding_sync_enable: MfxAvcImgStateEntropyCodingSyncEnable::from_bits(
            variant.cabac.into(),
        ),
        frame_mb_only: true,
        direct_8x8_inference: true,
        _8x8_idct_transform_mode: variant.transform_8x8,
        mv_unpacked_enable: true,
        mb_mv_format: MfxAvcImgStateMbMvFormat::FOLLOW,
        ..MfxAvcImgState::new()
    }
}

pub fn surface(id: MfxSurfaceStateSurfaceId) -> MfxSurfaceState {
    MfxSurfaceState {
        surface_id: id,
        width: minus_one(16 * WIDTH as u64),
        height: minus_one(16 * HEIGHT as u64),
        tile_walk: MfxSurfaceStateTileWalk::YMAJOR,
        tiled_surface: true,
        surface_pitch: minus_one(PITCH as u64),
        interleave_chroma: true,
        surface_format: MfxSurfaceStateSurfaceFormat::PLANAR_420_8,
        y_offset_for_u_cb: u(32),
        ..MfxSurfaceState::new()
    }
}

/// State of picture `index`: 0 I, 1 P, 2 B.
fn picture(index: usize, variant: Variant) -> Vec<u32> {
    let mut buffers = MfxPipeBufAddrState {
        original_uncompressed_picture_source_address: at(SOURCE),
        stream_out_data_destination_address: at(RECORDS),
        ..MfxPipeBufAddrState::new()
    };
    match variant.deblocking {
        true => buffers.post_deblocking_destination_address = at(PICTURES[index]),
        false => buffers.pre_deblocking_destination_address = at(PICTURES[index]),
    }
    for (reference, address) in buffers.reference_picture.iter_mut().zip(PICTURES).take(index) {
        *reference = at(address);
    }
    let mut batch = packets![
        MfxPipeModeSelect {
            standard_select: MfxPipeModeSelectStandardSelect::AVC,
            codec_select: MfxPipeModeSelectCodecSelect::ENCODE,
            stream_out_enable: variant.own_source,
            pre_deblocking_output_enable: !variant.deblocking,
            post_deblocking_output_enable: variant.deblocking,
            ..MfxPipeModeSelect::new()
        },
        surface(MfxSurfaceStateSurfaceId::DECODED_OR_REFERENCE_PICTURE),
        buffers,
        MfxIndObjBaseAddrState {
            mfx_indirect_mv_object_address: at(VECTORS),
            mfc_indirect_pak_bse_object_address: at(CODED),
            mfc_indirect_pak_bse_object_upper_bound: at(CODED + 0x8000),
            ..MfxIndObjBaseAddrState::new()
        },
        image(variant),
        MfxAvcDirectmodeState::new()
    ];
    if variant.own_source {
        push(&mut batch, &surface(MfxSurfaceStateSurfaceId::SOURCE_INPUT_PICTURE));
    }
    for avc in 0..4 {
        let mut forward = MfxFqmState {
            avc: MfxFqmStateAvc::from_bits(avc),
            mpeg2: MfxFqmStateMpeg2::from_bits(avc),
            ..MfxFqmState::new()
        };
        forward.forward_quantizer_matrix.fill(u(0x1000));
        push(&mut batch, &forward);
    }
    for list in 0..2 {
        let mut lists = MfxAvcRefIdxState {
            reference_picture_list_select: MfxAvcRefIdxStateReferencePictureListSelect::from_bits(
                list,
            ),
            ..MfxAvcRefIdxState::new()
        };
        for entry in &mut lists.reference_list_entry {
            entry.non_existing = true;
        }
        lists.reference_list_entry[0].non_existing = false;
        // Picture 0 is in list 0, picture 1 in list 1 of the B picture.
        lists.reference_list_entry[0].frame_store_index = u(list * u64::from(index == 2));
        push(&mut batch, &lists);
    }
    push(&mut batch, &slice(index));
    batch
}

fn slice(index: usize) -> MfxAvcSliceState {
    MfxAvcSliceState {
        slice_type: [
            MfxAvcSliceStateSliceType::I_SLICE,
            MfxAvcSliceStateSliceType::P_SLICE,
            MfxAvcSliceStateSliceType::B_SLICE,
        ][index],
        number_of_reference_pictures_in_inter_prediction_list_0: u(u64::from(index > 0)),
        number_of_reference_pictures_in_inter_prediction_list_1: u(u64::from(index > 1)),
        direct_prediction_type: MfxAvcSliceStateDirectPredictionType::SPATIAL,
        slice_quantization_parameter: u(26),
        next_slice_vertical_position: u(HEIGHT as u64),
        last_slice_group: true,
        header_insertion_present: true,
        slice_data_insertion_present: true,
        tail_insertion_present: true,
        emulation_byte_slice_insert_enable: true,
        indirect_pak_bse_data_start_address: at(HEAD),
        ..MfxAvcSliceState::new()
    }
}

/// Parameter sets and the slice header.
fn headers(index: usize, variant: Variant, dwords: &mut Vec<u32>) {
    let flag = |flag: bool| if flag { "1" } else { "0" };
    if index == 0 {
        let sps = Bits::default().put("01100100").put("00000000").put("00101000").ue(0).ue(1);
        // Frame numbers of 4 bits, counts of 4 bits, two references.
        let sps = sps.ue(0).ue(0).put("00").ue(0).ue(0).ue(0).ue(2).put("0");
        let sps = sps.ue(WIDTH as u32 - 1).ue(HEIGHT as u32 - 1).put("1100");
        sps.insert(0x67, true, dwords);
        let pps = Bits::default().ue(0).ue(0).put(flag(variant.cabac)).put("0").ue(0).ue(0).ue(0);
        let pps = pps.put("000").se(0).se(0).se(0).put("100").put(flag(variant.transform_8x8));
        pps.put("0").se(0).insert(0x68, true, dwords);
    }
    let kind = [7, 5, 6][index];
    // The B picture is between the others in output order, and is no reference.
    let count = ["0000", "0100", "0010"][index];
    let number = ["0000", "0001", "0010"][index];
    let mut header = Bits::default().ue(0).ue(kind).ue(0).put(number);
    header = match index {
        0 => header.ue(0).put(count).put("00"),
        1 => header.put(count).put("00").put("0"),
        _ => header.put(count).put("1").put("000"),
    };
    if variant.cabac && index > 0 {
        header = header.ue(0);
    }
    header = header.se(0).ue(u32::from(!variant.deblocking));
    if variant.deblocking {
        header = header.se(0).se(0);
    }
    header.insert([0x65, 0x41, 0x01][index], false, dwords);
}

/// A random macroblock of the picture.
fn macroblock(
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

/// MI_STORE_REGISTER_MEM of registers.
pub fn store(offsets: &[u32], batch: &mut Vec<u32>) {
    for (index, &offset) in offsets.iter().enumerate() {
        push(
            batch,
            &MiStoreRegisterMem {
                register_address: at(offset.into()),
                memory_address: at(REGISTERS + 4 * index as u64),
                ..MiStoreRegisterMem::new()
            },
        );
    }
}

const STORED: [u32; 5] = [
    MfcBitstreamBytecountFrame::OFFSET,
    MfcBitstreamSeBitcountFrame::OFFSET,
    MfcAvcCabacBinCountFrame::OFFSET,
    MfcQpStatusCount::OFFSET,
    MfxMbCount::OFFSET,
];

/// Encodes picture `index` of a stream. Returns its coded data without the delimiter.
fn encode(
    index: usize,
    variant: Variant,
    random: &mut Random,
    model: &mut Model,
) -> Result<Vec<u8>, Fault> {
    let mut batch = picture(index, variant);
    headers(index, variant, &mut batch);
    let objects: Vec<MfcAvcPakObject> = (0..WIDTH * HEIGHT)
        .map(|number| macroblock(index, number, variant, random, model))
        .collect();
    if variant.second_level {
        let mut second = Vec::new();
        objects.iter().for_each(|object| push(&mut second, object));
        push(&mut second, &MiBatchBufferEnd::new());
        model.put(SECOND, &second);
        push(
            &mut batch,
            &MiBatchBufferStart {
                second_level_batch_buffer:
                    genxml::gen8::mi::MiBatchBufferStartSecondLevelBatchBuffer::from_bits(1),
                ..MiBatchBufferStart::new(at(SECOND))
            },
        );
    } else {
        objects.iter().for_each(|object| push(&mut batch, object));
    }
    insert(&"0".repeat(8 * TAIL.len()), false, &mut batch);
    store(&STORED, &mut batch);
    submit(model, &batch)?;
    for (number, object) in objects.iter().enumerate().filter(|_| variant.own_source) {
        let dwords = model.get(RECORDS + 16 * number as u64, 4);
        let record =
            PakStreamOutRecord::unpack_lossy(&[dwords[0], dwords[1], dwords[2], dwords[3]]);
        let inline = &object.inline_data;
        assert_eq!(
            (record.intra_mb, record.mb_type.get()),
            (inline.intra_mb, inline.mb_type.bits())
        );
    }
    let coded = model.read(CODED, 0x8000);
    assert!(coded[..HEAD as usize].iter().all(|byte| *byte == 0xee));
    let rest = &coded[HEAD as usize..];
    let length = rest.windows(5).position(|bytes| bytes == TAIL).expect("a delimiter");
    assert_eq!(rest[length + 5], 0xee, "bytes after the delimiter");
    let [bytes, bits, bins, quantisers, macroblocks] = model.get(REGISTERS, 5)[..] else {
        unreachable!()
    };
    assert_eq!(bytes as usize, length + 5);
    assert!((bits as usize) < 8 * length && bits > 0);
    assert_eq!(bins > 0, variant.cabac);
    assert!(quantisers > 0 && macroblocks as usize == WIDTH * HEIGHT);
    Ok(rest[..length].to_vec())
}

/// The frames that FFmpeg's software decoder shows, and its log. `input` are options before the
/// input. `None` if it is not installed.
pub fn ffmpeg(stream: &[u8], input: &[&str]) -> Option<(Vec<u8>, String)> {
    let child = Command::new("ffmpeg")
        .args(["-v", "error"])
        .args(input)
        .args(["-i", "-", "-fps_mode", "passthrough", "-pix_fmt", "nv12", "-f", "rawvideo", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: FFmpeg is not installed");
        return None;
    };
    child.stdin.take().unwrap().write_all(stream).unwrap();
    let output = child.wait_with_output().unwrap();
    Some((output.stdout, String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// I, P and B pictures with random macroblocks.
#[test]
fn pictures_decode_as_they_were_reconstructed() {
    for number in 0..32 {
        let mut random = Random::new(number);
        let variant = Variant {
            cabac: number % 2 == 1,
            transform_8x8: number / 2 % 2 == 1,
            deblocking: number / 4 % 2 == 1,
            second_level: number / 8 % 2 == 1,
            own_source: number / 16 % 2 == 1,
        };
        let mut model = model(&mut random);
        let mut stream = Vec::new();
        for index in 0..3 {
            model.write(CODED, &[0xee; 0x8000]);
            stream.extend(encode(index, variant, &mut random, &mut model).unwrap());
        }
        let input = ["-err_detect", "explode", "-cpuflags", "0", "-f", "h264"];
        let Some((frames, log)) = ffmpeg(&stream, &input) else { return };
        assert!(!log.contains("[h264"), "{log}");
        let size = 16 * WIDTH * 16 * HEIGHT * 3 / 2;
        assert_eq!(frames.len(), 3 * size, "{variant:?}");
        // In output order the B picture is between the others.
        for (shown, index) in [0, 2, 1].into_iter().enumerate() {
            let planes = vec![(0, 16 * WIDTH, 16 * HEIGHT), (32, 16 * WIDTH, 8 * HEIGHT)];
            let got = Picture { address: PICTURES[index], pitch: PITCH, planes }.read(&mut model);
            assert_eq!(got, frames[shown * size..][..size], "{number}: picture {index}");
        }
    }
}

/// The name of the field or feature that a fault is about.
pub fn about(fault: Fault) -> String {
    match fault {
        Fault::BadPacket { field, .. } => field.to_string(),
        Fault::Unimplemented { what, .. } => what.to_string(),
        fault => fault.to_string(),
    }
}

/// Invalid macroblocks and states, and what the model does not have.
#[test]
fn faults_name_fields() {
    type Change = fn(&mut MfcAvcPakObject);
    let changes: [(Change, &str); 7] = [
        (|object| object.inline_data.qp_y = u(52), "QP Y"),
        (|object| object.inline_data.coefficient_clamp_enable = true, "limits of coefficients"),
        (|object| object.inline_data.intra_mb = false, "MB Type"),
        (
            |object| {
                object.inline_data.intra_mb = false;
                object.inline_data.mb_type =
                    InlineDataDescriptionForMfcAvcPakObjectMbType::INTER_L0_16X16;
            },
            "Intra MB",
        ),
        (|object| object.inline_data.mb_type = inter_type(26), "MB Type"),
        (
            |object| {
                object.inline_data.intra_mb = false;
                object.inline_data.mv_format =
                    InlineDataDescriptionForMfcAvcPakObjectMvFormat::_32_MOTION_VECTORS;
                object.inline_data.mb_type =
                    InlineDataDescriptionForMfcAvcPakObjectMbType::INTER_L0_16X16;
            },
            "Indirect PAK-MV Data Length",
        ),
        (
            // Vertical without samples above.
            |object| object.inline_data.prediction = [u(0); 3],
            "Luma Mode",
        ),
    ];
    for (change, want) in changes {
        let mut random = Random::new(1);
        let mut model = model(&mut random);
        let mut batch = picture(0, VARIANT);
        headers(0, VARIANT, &mut batch);
        let mut object = MfcAvcPakObject::new();
        object.inline_data.intra_mb = true;
        object.inline_data.qp_y = u(20);
        object.inline_data.prediction = [u(0x2222_2222), u(0x2222_2222), u(0)];
        change(&mut object);
        push(&mut batch, &object);
        let got = about(submit(&mut model, &batch).unwrap_err());
        assert!(got.starts_with(want), "{got} for {want}");
    }
    // State.
    let rate = MfxAvcSliceState { rate_control_counter_enable: true, ..slice(0) };
    let pairs = MfxAvcImgState { mbaff_mode: true, frame_mb_only: false, ..image(VARIANT) };
    for (packet, want) in [(packets![rate], "rate control"), (packets![pairs], "encoding of MBAFF")]
    {
        let mut model = model(&mut Random::new(1));
        let mut batch = picture(0, VARIANT);
        batch.extend(packet);
        let mut object = MfcAvcPakObject::new();
        object.inline_data.intra_mb = true;
        push(&mut batch, &object);
        let got = about(submit(&mut model, &batch).unwrap_err());
        assert!(got.starts_with(want), "{got} for {want}");
    }
}

fn inter_type(number: u64) -> InlineDataDescriptionForMfcAvcPakObjectMbType {
    InlineDataDescriptionForMfcAvcPakObjectMbType::from_bits(number)
}

/// Batches with random changes end with a result or a fault. `GENXML_MUTATIONS` sets their number.
#[test]
fn changed_batches_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(600, |count| count.parse().unwrap());
    let mut faults = 0;
    for number in 0..count {
        let mut random = Random::new(number);
        let mut model = model(&mut random);
        let variant =
            Variant { cabac: random.below(2) == 0, transform_8x8: random.below(2) == 0, ..VARIANT };
        let index = random.index(3);
        let mut batch = picture(index, variant);
        headers(index, variant, &mut batch);
        for number in 0..WIDTH * HEIGHT {
            push(&mut batch, &macroblock(index, number, variant, &mut random, &mut model));
        }
        for _ in 0..=random.index(4) {
            let at = random.index(batch.len());
            batch[at] = match random.below(3) {
                0 => random.below(1 << 32) as u32,
                1 => batch[at] ^ 1 << random.below(32),
                _ => batch[at] ^ 0xff << (8 * random.below(4)),
            };
        }
        let ended =
            catch_unwind(AssertUnwindSafe(|| model.submit(EngineId::Video, &batch).is_err()));
        faults += u64::from(ended.unwrap_or_else(|_| panic!("change {number} panics")));
    }
    assert!(faults > count / 20 && faults < count * 19 / 20, "{faults} of {count} have faults");
}
