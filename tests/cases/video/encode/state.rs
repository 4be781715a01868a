//! States of AVC pictures and slices.

use super::setup::{CODED, HEAD, HEIGHT, PICTURES, RECORDS, SOURCE, VECTORS, WIDTH, surface};
use genxml::gen8::mfx_avc::*;
use genxml::gen8::mfx_common::*;
use genxml_cases::{at, minus_one, packets, push, u};

/// What differs between streams.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub cabac: bool,
    pub transform_8x8: bool,
    pub deblocking: bool,
    /// Macroblocks are in a second-level batch.
    pub second_level: bool,
    /// The source has a surface state of its own.
    pub own_source: bool,
}

pub const VARIANT: Variant = Variant {
    cabac: false,
    transform_8x8: false,
    deblocking: true,
    second_level: false,
    own_source: false,
};

pub fn image(variant: Variant) -> MfxAvcImgState {
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

/// Dwords of [`picture`] with the packets that have addresses: MFX_PIPE_MODE_SELECT,
/// MFX_SURFACE_STATE, MFX_PIPE_BUF_ADDR_STATE, MFX_IND_OBJ_BASE_ADDR_STATE,
/// MFX_AVC_DIRECTMODE_STATE.
pub const ADDRESSES: usize = 5 + 6 + 61 + 26 + 71;

/// State of picture `index`: 0 I, 1 P, 2 B.
pub fn picture(index: usize, variant: Variant) -> Vec<u32> {
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
        MfxAvcDirectmodeState::new(),
        image(variant)
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
    batch.extend(lists(index));
    push(&mut batch, &slice(index));
    batch
}

/// The reference lists of picture `index`: picture 0 is in list 0, picture 1 in list 1 of the B
/// picture.
pub fn lists(index: usize) -> Vec<u32> {
    let mut batch = Vec::new();
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
        lists.reference_list_entry[0].frame_store_index = u(list * u64::from(index == 2));
        push(&mut batch, &lists);
    }
    batch
}

pub fn slice(index: usize) -> MfxAvcSliceState {
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
