//! AVC slices whose macroblocks are missing: the inline data of the BSD object select what replaces
//! them. Oracle: the references themselves, whose macroblocks are flat.

use super::capture::y_tiled;
use super::packets::{CODED, OLD, PITCH, TARGET, coded, mode, model, submit, surface};
use genxml::gen8::mfd::{
    InlineDataDescriptionForMfdAvcBsdObject as Inline,
    InlineDataDescriptionForMfdAvcBsdObjectBSliceConcealmentMode as B,
    InlineDataDescriptionForMfdAvcBsdObjectBSliceSpatialInterConcealmentMode as BSpatial,
    InlineDataDescriptionForMfdAvcBsdObjectBSliceTemporalInterConcealmentMode as BTemporal,
    InlineDataDescriptionForMfdAvcBsdObjectConcealmentMethod as Method,
    InlineDataDescriptionForMfdAvcBsdObjectISliceConcealmentMode as I,
    InlineDataDescriptionForMfdAvcBsdObjectPSliceConcealmentMode as P,
    InlineDataDescriptionForMfdAvcBsdObjectPSliceInterConcealmentMode as PInter, MfdAvcBsdObject,
};
use genxml::gen8::mfx_avc::{
    MfxAvcDirectmodeState, MfxAvcImgState, MfxAvcImgStateChromaFormatIdc, MfxAvcRefIdxState,
    MfxAvcRefIdxStateReferencePictureListSelect as List, MfxAvcSliceState,
    MfxAvcSliceStateDirectPredictionType as Direct, MfxAvcSliceStateSliceType as Kind,
};
use genxml::gen8::mfx_common::*;
use genxml_cases::{Model, at, minus_one, packets, push, u};
use genxml_core::S;

/// Addresses of the frame stores 0 to 2, and the value of all their samples.
const STORES: [(u64, u8); 3] = [(0x50_0000, 30), (0x51_0000, 60), (0x52_0000, 90)];

/// Picture order counts of the frame stores. That of the picture is 10.
const COUNTS: [i64; 3] = [0, 8, 30];

/// Picture state of 2 x 2 macroblocks with three references in both lists. Writes the references.
/// `change` changes the addresses.
pub fn picture(
    model: &mut Model,
    mode: MfxPipeModeSelect,
    change: impl FnOnce(&mut MfxPipeBufAddrState),
) -> Vec<u32> {
    let mut buffers = MfxPipeBufAddrState {
        pre_deblocking_destination_address: at(TARGET),
        ..MfxPipeBufAddrState::new()
    };
    let mut direct_mode = MfxAvcDirectmodeState::new();
    for (store, (address, value)) in STORES.into_iter().enumerate() {
        model.map(address, 0x1_0000);
        model.write(address, &[value; 0x4000]);
        buffers.reference_picture[store] = at(address);
        for field in 0..2 {
            direct_mode.poc_list[2 * store + field] = S::new(COUNTS[store]).expect("32 bits");
        }
    }
    change(&mut buffers);
    direct_mode.poc_list[32] = S::new(10).expect("32 bits");
    direct_mode.poc_list[33] = S::new(10).expect("32 bits");
    let image = MfxAvcImgState {
        frame_width: minus_one(2),
        frame_height: minus_one(2),
        chroma_format_idc: MfxAvcImgStateChromaFormatIdc::_4_2_0_PICTURE,
        frame_mb_only: true,
        direct_8x8_inference: true,
        ..MfxAvcImgState::new()
    };
    let mut batch = packets![mode, surface(), buffers, coded(0), image, direct_mode];
    for select in [List::REF_PIC_LIST0, List::REF_PIC_LIST1] {
        let mut list =
            MfxAvcRefIdxState { reference_picture_list_select: select, ..MfxAvcRefIdxState::new() };
        for entry in &mut list.reference_list_entry {
            entry.non_existing = true;
        }
        for store in 0..3 {
            let entry = &mut list.reference_list_entry[store];
            entry.non_existing = false;
            entry.frame_store_index = u(store as u64);
            entry.long_term = store == 2;
        }
        push(&mut batch, &list);
    }
    batch
}

/// The mode of AVC in the long format.
pub fn avc_mode() -> MfxPipeModeSelect {
    MfxPipeModeSelect {
        standard_select: MfxPipeModeSelectStandardSelect::AVC,
        decoder_short_format_mode:
            MfxPipeModeSelectDecoderShortFormatMode::LONG_FORMAT_DRIVER_INTERFACE,
        ..mode()
    }
}

/// Adds the state and the object of a slice whose NAL unit is `length` bytes at [`CODED`], of which
/// the first is the header.
pub fn slice((kind, direct): (Kind, Direct), length: usize, inline: Inline, batch: &mut Vec<u32>) {
    push(
        batch,
        &MfxAvcSliceState {
            slice_type: kind,
            direct_prediction_type: direct,
            number_of_reference_pictures_in_inter_prediction_list_0: u(3),
            number_of_reference_pictures_in_inter_prediction_list_1: u(3),
            disable_deblocking_filter_indicator: u(1),
            slice_quantization_parameter: u(26),
            ..MfxAvcSliceState::new()
        },
    );
    push(
        batch,
        &MfdAvcBsdObject {
            indirect_bsd_data_length: u(length as u64),
            indirect_bsd_data_start_address: at(0),
            inline_data: Inline {
                first_mb_byte_offset_of_slice_data_or_slice_header: u(1),
                last_slice_flag: true,
                ..inline
            },
        },
    );
}

/// Decodes a picture of 2 x 2 macroblocks, of which a slice holds only the first one. Returns the
/// luma sample of each macroblock.
fn decode(kind: Kind, direct: Direct, inline: Inline) -> [u8; 4] {
    let mut model = model();
    let mut batch = picture(&mut model, avc_mode(), |_| {});
    // A run of one skipped macroblock (ue 010) and the stop bit. In I slices: mb_type 0 is refused
    // at its end, so that no macroblock is decoded.
    let data = match kind {
        Kind::I_SLICE => [0x65, 0b1000_0000],
        _ => [0x41, 0b0101_0000],
    };
    model.write(CODED, &data);
    slice((kind, direct), data.len(), inline, &mut batch);
    submit(&mut model, &batch).unwrap();
    let samples = model.read(TARGET, 32 * PITCH);
    [(0, 0), (16, 0), (0, 16), (16, 16)].map(|(left, top)| {
        let first = samples[y_tiled(left, top, PITCH)];
        for at in 0..256 {
            let sample = samples[y_tiled(left + at % 16, top + at / 16, PITCH)];
            assert_eq!(sample, first, "{left}, {top}: sample {at}");
        }
        first
    })
}

/// The three macroblocks after the first one.
fn missing(kind: Kind, direct: Direct, inline: Inline) -> u8 {
    let [_, found, others @ ..] = decode(kind, direct, inline);
    assert_eq!(others, [found; 2]);
    found
}

#[test]
fn p_slices() {
    let inter = |p_slice_inter_concealment_mode| {
        let inline = Inline {
            p_slice_inter_concealment_mode,
            concealment_reference_picture_field_bit: u(2),
            ..Inline::new()
        };
        missing(Kind::P_SLICE, Direct::SPATIAL, inline)
    };
    assert_eq!(inter(PInter::TOP_OF_REFERENCE_LIST), 30);
    assert_eq!(inter(PInter::DRIVER_SPECIFIED_CONCEALMENT_REFERENCE), 60);
    assert_eq!(inter(PInter::TEMPORAL_CLOSEST), 60);
    assert_eq!(inter(PInter::FIRST_LONG_TERM_PICTURE), 90);
    let copy = Inline {
        concealment_method: Method::INTER_P_COPY,
        concealment_picture_id: u(2),
        ..Inline::new()
    };
    assert_eq!(missing(Kind::P_SLICE, Direct::SPATIAL, copy), 90);
    // The first macroblock is a copy of store 0, and so is the mean of its samples.
    let intra = Inline {
        p_slice_concealment_mode: P::INTRA_CONCEALMENT,
        p_slice_inter_concealment_mode: PInter::FIRST_LONG_TERM_PICTURE,
        ..Inline::new()
    };
    assert_eq!(missing(Kind::P_SLICE, Direct::SPATIAL, intra), 30);
    let off = Inline { init_current_mb_number: true, ..Inline::new() };
    assert_eq!(missing(Kind::P_SLICE, Direct::SPATIAL, off), OLD);
}

#[test]
fn b_slices() {
    let both = |spatial, temporal, mode| {
        let inline = Inline {
            b_slice_concealment_mode: mode,
            b_slice_spatial_inter_concealment_mode: spatial,
            b_slice_temporal_inter_concealment_mode: temporal,
            concealment_reference_picture_field_bit: u(2),
            ..Inline::new()
        };
        [Direct::SPATIAL, Direct::TEMPORAL].map(|direct| missing(Kind::B_SLICE, direct, inline))
    };
    let inter = |spatial, temporal| both(spatial, temporal, B::INTER_CONCEALMENT);
    let first = (BSpatial::TOP_OF_REFERENCE_LIST, BTemporal::TOP_OF_REFERENCE_LIST);
    assert_eq!(inter(first.0, BTemporal::FIRST_LONG_TERM_PICTURE), [30, 90]);
    assert_eq!(inter(BSpatial::FIRST_LONG_TERM_PICTURE, first.1), [90, 30]);
    assert_eq!(inter(BSpatial::TEMPORAL_CLOSEST, first.1), [60, 30]);
    assert_eq!(inter(first.0, BTemporal::TEMPORAL_CLOSEST), [30, 60]);
    let driver = (
        BSpatial::DRIVER_SPECIFIED_CONCEALMENT_REFERENCE,
        BTemporal::DRIVER_SPECIFIED_CONCEALMENT_REFERENCE,
    );
    assert_eq!(inter(driver.0, first.1), [60, 30]);
    assert_eq!(inter(first.0, driver.1), [30, 60]);
}

#[test]
fn i_slices() {
    let of = |i_slice_concealment_mode| Inline {
        i_slice_concealment_mode,
        concealment_reference_picture_field_bit: u(4),
        ..Inline::new()
    };
    let found = decode(Kind::I_SLICE, Direct::SPATIAL, of(I::INTER_CONCEALMENT));
    assert_eq!(found[1..], [90; 3]);
    // Without a neighbour the mean is 128, and then that of the concealed macroblocks.
    let found = decode(Kind::I_SLICE, Direct::SPATIAL, of(I::INTRA_CONCEALMENT));
    assert_eq!(found[1..], [found[0]; 3]);
}
