//! Macroblocks per second of the encoders: an intra picture and a predicted one of 704x576, each
//! submitted as a batch of packets.

use super::{BATCH, number};
use divan::Bencher;
use divan::counter::ItemsCount;
use genxml::core::{Address, Instruction, MinusOne, S};
use genxml::engine::EngineId;
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_avc::*;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_mpeg2::*;
use genxml::gen8::mi::MiBatchBufferEnd;
use genxml_sim::Gpu;

/// Two batches, a buffer for each picture, the motion vectors and the coded data.
const ROOM: u64 = 1 << 20;
const SOURCE: u64 = 0x100_0000;
const PICTURES: [u64; 2] = [SOURCE + ROOM, SOURCE + 2 * ROOM];
const VECTORS: u64 = SOURCE + 3 * ROOM;
const CODED: u64 = SOURCE + 4 * ROOM;
/// Size in macroblocks.
const WIDTH: u64 = 44;
const HEIGHT: u64 = 36;
const PITCH: u64 = 768;

/// The standard and the entropy code.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Code {
    AvcCavlc,
    AvcCabac,
    Mpeg2,
}

fn at<const ALIGN: u64, const N: u32, SP: genxml::core::Space>(
    address: u64,
) -> Address<SP, ALIGN, N> {
    Address::new(address).unwrap()
}

/// What both pictures have: the mode, the surface, the buffers.
fn common(code: Code, predicted: bool) -> Vec<u32> {
    let filtered = code != Code::Mpeg2;
    let target = PICTURES[usize::from(predicted)];
    let mut buffers = MfxPipeBufAddrState {
        original_uncompressed_picture_source_address: at(SOURCE),
        ..MfxPipeBufAddrState::new()
    };
    match filtered {
        true => buffers.post_deblocking_destination_address = at(target),
        false => buffers.pre_deblocking_destination_address = at(target),
    }
    buffers.reference_picture[0] = at(PICTURES[0]);
    let mut batch = Vec::new();
    put(
        &mut batch,
        &MfxPipeModeSelect {
            standard_select: match code {
                Code::Mpeg2 => MfxPipeModeSelectStandardSelect::MPEG2,
                _ => MfxPipeModeSelectStandardSelect::AVC,
            },
            codec_select: MfxPipeModeSelectCodecSelect::ENCODE,
            pre_deblocking_output_enable: !filtered,
            post_deblocking_output_enable: filtered,
            ..MfxPipeModeSelect::new()
        },
    );
    put(
        &mut batch,
        &MfxSurfaceState {
            width: MinusOne::new(16 * WIDTH).unwrap(),
            height: MinusOne::new(16 * HEIGHT).unwrap(),
            tile_walk: MfxSurfaceStateTileWalk::YMAJOR,
            tiled_surface: true,
            surface_pitch: MinusOne::new(PITCH).unwrap(),
            interleave_chroma: true,
            surface_format: MfxSurfaceStateSurfaceFormat::PLANAR_420_8,
            y_offset_for_u_cb: number(16 * HEIGHT),
            ..MfxSurfaceState::new()
        },
    );
    put(&mut batch, &buffers);
    put(
        &mut batch,
        &MfxIndObjBaseAddrState {
            mfx_indirect_mv_object_address: at(VECTORS),
            mfc_indirect_pak_bse_object_address: at(CODED),
            mfc_indirect_pak_bse_object_upper_bound: at(CODED + ROOM),
            ..MfxIndObjBaseAddrState::new()
        },
    );
    batch
}

fn put<I: Instruction>(batch: &mut Vec<u32>, packet: &I) {
    let mut dwords = [0; 128];
    let length = packet.pack_into(&mut dwords).unwrap();
    batch.extend(&dwords[..length]);
}

fn avc(code: Code, predicted: bool) -> Vec<u32> {
    let mut batch = common(code, predicted);
    put(
        &mut batch,
        &MfxAvcImgState {
            frame_width: MinusOne::new(WIDTH).unwrap(),
            frame_height: MinusOne::new(HEIGHT).unwrap(),
            chroma_format_idc: MfxAvcImgStateChromaFormatIdc::_4_2_0_PICTURE,
            entropy_coding_sync_enable: MfxAvcImgStateEntropyCodingSyncEnable::from_bits(
                (code == Code::AvcCabac).into(),
            ),
            frame_mb_only: true,
            mv_unpacked_enable: true,
            mb_mv_format: MfxAvcImgStateMbMvFormat::FOLLOW,
            ..MfxAvcImgState::new()
        },
    );
    put(&mut batch, &MfxAvcRefIdxState::new());
    put(
        &mut batch,
        &MfxAvcSliceState {
            slice_type: match predicted {
                true => MfxAvcSliceStateSliceType::P_SLICE,
                false => MfxAvcSliceStateSliceType::I_SLICE,
            },
            number_of_reference_pictures_in_inter_prediction_list_0: number(predicted.into()),
            slice_quantization_parameter: number(26),
            next_slice_vertical_position: number(HEIGHT),
            last_slice_group: true,
            ..MfxAvcSliceState::new()
        },
    );
    for index in 0..WIDTH * HEIGHT {
        let mut inline = InlineDataDescriptionForMfcAvcPakObject {
            intra_mb: !predicted,
            cbp_dc_y: true,
            cbp_dc_cb: true,
            cbp_dc_cr: true,
            cbp_y: number(0xffff),
            cbp_cb: number(15),
            cbp_cr: number(15),
            mb_column: number(index % WIDTH),
            mb_row: number(index / WIDTH),
            last_mb: index + 1 == WIDTH * HEIGHT,
            qp_y: number(26),
            ..InlineDataDescriptionForMfcAvcPakObject::new()
        };
        let mut object = MfcAvcPakObject::new();
        match (predicted, index % 2) {
            // 16x16 with DC prediction.
            (false, 0) => {
                inline.mb_type = InlineDataDescriptionForMfcAvcPakObjectMbType::from_bits(3);
                inline.prediction[0] = number(2);
            }
            // 4x4 with DC prediction.
            (false, _) => {
                inline.intra_mb_mode =
                    InlineDataDescriptionForMfcAvcPakObjectIntraMbMode::INTRA_4X4;
                inline.prediction[..2].fill(number(0x2222_2222));
            }
            (true, _) => {
                inline.mb_type = InlineDataDescriptionForMfcAvcPakObjectMbType::INTER_L0_16X16;
                inline.mv_format =
                    InlineDataDescriptionForMfcAvcPakObjectMvFormat::_8_MOTION_VECTORS;
                object.indirect_pak_mv_data_length = number(32);
                object.indirect_pak_mv_data_start_address_offset = at(32 * (index % 64));
            }
        }
        object.inline_data = inline;
        put(&mut batch, &object);
    }
    put(&mut batch, &MiBatchBufferEnd::new());
    batch
}

fn mpeg2(predicted: bool) -> Vec<u32> {
    let mut batch = common(Code::Mpeg2, predicted);
    let code = number(if predicted { 3 } else { 15 });
    put(
        &mut batch,
        &MfxMpeg2PicState {
            frame_prediction_frame_dct: true,
            picture_structure: MfxMpeg2PicStatePictureStructure::MPEG_FRAME,
            f_code_0_0: code,
            f_code_0_1: code,
            f_code_1_0: number(15),
            f_code_1_1: number(15),
            picture_coding_type: match predicted {
                true => MfxMpeg2PicStatePictureCodingType::MPEG_P_PICTURE,
                false => MfxMpeg2PicStatePictureCodingType::MPEG_I_PICTURE,
            },
            frame_width_in_mbs: MinusOne::new(WIDTH).unwrap(),
            frame_height_in_mbs: MinusOne::new(HEIGHT).unwrap(),
            slice_concealment_disable: true,
            ..MfxMpeg2PicState::new()
        },
    );
    put(
        &mut batch,
        &MfcMpeg2SlicegroupState { is_last_slice_grp: true, ..MfcMpeg2SlicegroupState::new() },
    );
    for index in 0..WIDTH * HEIGHT {
        let (column, row) = (index % WIDTH, index / WIDTH);
        let mut inline = InlineDataDescriptionForMfcMpeg2PakObject {
            intra_mb: !predicted,
            mb_type: match predicted {
                true => InlineDataDescriptionForMfcMpeg2PakObjectMbType::FORWARD_16X16,
                false => InlineDataDescriptionForMfcMpeg2PakObjectMbType::INTRA,
            },
            mb_column: number(column),
            mb_row: number(row),
            cbp: number(63),
            cbp_dc: number(7),
            first_mb: column == 0,
            last_mb: column + 1 == WIDTH,
            quantizer_scale_code: number(4),
            ..InlineDataDescriptionForMfcMpeg2PakObject::new()
        };
        if (1..WIDTH - 1).contains(&column) {
            inline.motion_vectors[0].motion_vector_x = S::new(index as i64 % 15 - 7).unwrap();
        }
        put(&mut batch, &MfcMpeg2PakObject { inline_data: inline });
    }
    put(&mut batch, &MiBatchBufferEnd::new());
    batch
}

#[divan::bench(name = "PAK", args = [Code::AvcCavlc, Code::AvcCabac, Code::Mpeg2])]
fn encode(bencher: Bencher, code: Code) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    for index in 0..5 {
        let buffer = gpu.alloc(ROOM).unwrap();
        let bytes = gpu.memory.bytes_mut(buffer);
        let mut seed = 1_u32;
        for (at, byte) in bytes.iter_mut().enumerate() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = match SOURCE + index * ROOM {
                // A slope with noise.
                SOURCE => (at / 97) as u8 / 2 + (seed >> 27) as u8,
                // Components from 0 to 3 quarters of a sample.
                VECTORS if at % 2 == 0 => (seed >> 30) as u8,
                _ => 0,
            };
        }
        gpu.map(context, SOURCE + index * ROOM, buffer).unwrap();
    }
    let batches = [false, true].map(|predicted| match code {
        Code::Mpeg2 => mpeg2(predicted),
        _ => avc(code, predicted),
    });
    for (index, batch) in batches.iter().enumerate() {
        let address = BATCH + index as u64 * (ROOM / 2);
        gpu.load(context, address, bytemuck::cast_slice(batch)).unwrap();
    }
    bencher.counter(ItemsCount::new(2 * WIDTH * HEIGHT)).bench_local(|| {
        for index in 0..2 {
            gpu.submit(context, EngineId::Video, BATCH + index * (ROOM / 2), 0).unwrap();
        }
    });
}
