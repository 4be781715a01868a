//! The short format of AVC slices: the engine reads slice headers and makes the reference lists.
//!
//! All macroblocks are skipped, so that the picture is a copy of the first entry of list 0. Oracle:
//! the flat samples of the frame store that the rules of H.264 8.2.4 put there.

use super::capture::y_tiled;
use super::packets::{
    CODED, OLD, PITCH, TARGET, about, bytes, coded, mode, model, submit, surface,
};
use genxml::gen8::mfd::{
    InlineDataDescriptionForMfdAvcBsdObject as Inline,
    InlineDataDescriptionForMfdAvcBsdObjectEmulationPreventionBytePresent as Escapes,
    MfdAvcBsdObject, MfdAvcDpbState, MfdAvcDpbUsedForReferenceFlag as Used, MfdAvcSliceaddr,
};
use genxml::gen8::mfx_avc::{
    MfxAvcDirectmodeState, MfxAvcImgState, MfxAvcImgStateChromaFormatIdc,
    MfxAvcImgStateImageStructure as Image,
};
use genxml::gen8::mfx_common::*;
use genxml_cases::{at, minus_one, packets, u};
use genxml_core::S;
use genxml_sim::Fault;

/// Values of all samples of the frame stores 0 to 3: of their top and bottom rows.
const STORES: [[u8; 2]; 4] = [[30, 31], [60, 61], [100, 101], [120, 121]];

/// A picture of 2 x 2 macroblocks, and what a driver of the short format sends with it.
struct Picture {
    image: MfxAvcImgState,
    marking: MfdAvcDpbState,
    counts: MfxAvcDirectmodeState,
    inline: Inline,
}

/// Stores 0 to 2 are short-term references with `frame_num` 5, 7 and 6; store 3 is a long-term
/// reference with index 1. The picture has `frame_num` 8 of 4 bits and the count 20.
fn picture() -> Picture {
    let mut marking = MfdAvcDpbState { long_term_frame_flag: u(1 << 3), ..MfdAvcDpbState::new() };
    let mut counts = MfxAvcDirectmodeState::new();
    for (store, number) in [5, 7, 6, 1].into_iter().enumerate() {
        marking.used_for_reference_flag[store] = Used::FRAME;
        marking.ltstframe_num_list[store] = u(number);
        for field in 0..2 {
            let count = [16, 10, 30, 0][store] + field as i64;
            counts.poc_list[2 * store + field] = S::new(count).expect("32 bits");
            counts.poc_list[32 + field] = S::new(20 + field as i64).expect("32 bits");
        }
    }
    Picture {
        image: MfxAvcImgState {
            frame_width: minus_one(2),
            frame_height: minus_one(2),
            chroma_format_idc: MfxAvcImgStateChromaFormatIdc::_4_2_0_PICTURE,
            frame_mb_only: true,
            direct_8x8_inference: true,
            number_of_active_reference_pictures_from_l0: u(4),
            number_of_active_reference_pictures_from_l1: u(2),
            pic_order_count_type: u(2),
            ..MfxAvcImgState::new()
        },
        marking,
        counts,
        inline: Inline {
            first_mb_byte_offset_of_slice_data_or_slice_header: u(1),
            ..Inline::new()
        },
    }
}

/// Decodes a slice with this NAL unit header and these bits. Returns the luma samples in rows of
/// 32.
fn samples(picture: &Picture, unit: u8, bits: &str) -> Result<Vec<u8>, Fault> {
    let mut model = model();
    let mut buffers = MfxPipeBufAddrState {
        pre_deblocking_destination_address: at(TARGET),
        ..MfxPipeBufAddrState::new()
    };
    for (store, values) in STORES.into_iter().enumerate() {
        let address = 0x50_0000 + 0x1_0000 * store as u64;
        model.map(address, 0x1_0000);
        // Rows of Y tiles are 16 bytes.
        let rows: Vec<u8> = (0..0x4000).map(|at| values[at / 16 % 2]).collect();
        model.write(address, &rows);
        buffers.reference_picture[store] = at(address);
    }
    let mode = MfxPipeModeSelect {
        standard_select: MfxPipeModeSelectStandardSelect::AVC,
        decoder_short_format_mode:
            MfxPipeModeSelectDecoderShortFormatMode::SHORT_FORMAT_DRIVER_INTERFACE,
        ..mode()
    };
    let data = [vec![unit], bytes(bits)].concat();
    model.write(CODED, &data);
    let slice = MfdAvcBsdObject {
        indirect_bsd_data_length: u(data.len() as u64),
        indirect_bsd_data_start_address: at(0),
        inline_data: picture.inline,
    };
    let Picture { image, marking, counts, .. } = picture;
    let batch = packets![
        mode,
        surface(),
        buffers,
        coded(0),
        *image,
        *counts,
        *marking,
        MfdAvcSliceaddr::new(),
        slice
    ];
    submit(&mut model, &batch)?;
    let tiled = model.read(TARGET, 32 * PITCH);
    Ok((0..1024).map(|at| tiled[y_tiled(at % 32, at / 32, PITCH)]).collect())
}

/// The same, but returns the value of the top and of the bottom rows, which must be flat.
fn decode(picture: &Picture, unit: u8, bits: &str) -> Result<[u8; 2], Fault> {
    let samples = samples(picture, unit, bits)?;
    let found = [samples[0], samples[32]];
    for (at, &sample) in samples.iter().enumerate() {
        assert_eq!(sample, found[at / 32 % 2], "sample {at}");
    }
    Ok(found)
}

/// `frame_num` of 4 bits.
const FRAME_NUM: &str = "1000";
/// No modifications, slice_qp_delta 0.
const PLAIN: &str = "0 0 1";
/// A run of four skipped macroblocks, and the end.
const SKIPPED: &str = "00101 1";

fn join(parts: &[&str]) -> String {
    parts.concat().replace(' ', "")
}

/// A P slice from macroblock 0 on; `parts` are between `frame_num` and the data.
fn p(parts: &[&str]) -> String {
    join(&[&["1 1 1", FRAME_NUM], parts, &[SKIPPED]].concat())
}

#[test]
fn the_newest_frame_is_first_in_p_slices() {
    let mut picture = picture();
    assert_eq!(decode(&picture, 1, &p(&[PLAIN])).unwrap(), STORES[1]);
    // frame_num 8 is larger than that of the picture now, so it is the oldest.
    picture.marking.ltstframe_num_list[1] = u(9);
    assert_eq!(decode(&picture, 1, &p(&[PLAIN])).unwrap(), STORES[2]);
    // Of store 2 only a field is left.
    picture.marking.used_for_reference_flag[2] = Used::TOP_FIELD;
    assert_eq!(decode(&picture, 1, &p(&[PLAIN])).unwrap(), STORES[0]);
    for store in 0..2 {
        picture.marking.used_for_reference_flag[store] = Used::NOT_REFERENCE;
    }
    assert_eq!(decode(&picture, 1, &p(&[PLAIN])).unwrap(), STORES[3]);
}

#[test]
fn modifications_move_pictures_to_the_front() {
    let picture = picture();
    // The flag; minus 3 (abs_diff_pic_num_minus1 2) is frame_num 5; end. slice_qp_delta 0.
    let minus = "0 1 1 011 00100 1";
    assert_eq!(decode(&picture, 1, &p(&[minus])).unwrap(), STORES[0]);
    // Plus 14 is frame_num 22 modulo 16 = 6.
    let plus = "0 1 010 0001110 00100 1";
    assert_eq!(decode(&picture, 1, &p(&[plus])).unwrap(), STORES[2]);
    // Long-term picture 1.
    let long = "0 1 011 010 00100 1";
    assert_eq!(decode(&picture, 1, &p(&[long])).unwrap(), STORES[3]);
}

#[test]
fn the_nearest_frames_are_first_in_b_slices() {
    let mut picture = picture();
    // slice_type 1 is 010; direct_spatial_mv_pred_flag, then as in P slices with two lists.
    let bits = join(&["1 010 1", FRAME_NUM, "1 0 0 0 1", SKIPPED]);
    let mean = |a: [u8; 2], b: [u8; 2]| [0, 1].map(|row| (a[row] + b[row]).div_ceil(2));
    assert_eq!(decode(&picture, 1, &bits).unwrap(), mean(STORES[0], STORES[2]));
    // Store 1 comes after the picture now, and nearer than store 2.
    for field in 0..2 {
        picture.counts.poc_list[2 + field] = S::new(22).expect("32 bits");
    }
    assert_eq!(decode(&picture, 1, &bits).unwrap(), mean(STORES[0], STORES[1]));
    // Gaps have no order if the count is stated by its low bits.
    picture.image.pic_order_count_type = u(0);
    picture.marking.non_existing_frame_flag = u(1 << 1);
    let bits = join(&["1 010 1", FRAME_NUM, "0000", "1 0 0 0 1", SKIPPED]);
    assert_eq!(decode(&picture, 1, &bits).unwrap(), mean(STORES[0], STORES[2]));
}

/// Syntax elements that are there only if the state of the stream says so.
#[test]
fn optional_elements() {
    let check = |change: fn(&mut Picture), unit: u8, parts: &[&str]| {
        let mut picture = picture();
        change(&mut picture);
        assert_eq!(decode(&picture, unit, &p(parts)).unwrap(), STORES[1], "{parts:?}");
    };
    // 6 bits of pic_order_cnt_lsb, and delta_pic_order_cnt_bottom 1.
    let low_bits = |picture: &mut Picture| {
        picture.image.pic_order_count_type = u(0);
        picture.image.log2_max_pic_order_count_lsb = u(2);
        picture.image.pic_order_present = true;
    };
    check(low_bits, 1, &["010100 010", PLAIN]);
    let deltas = |picture: &mut Picture| {
        picture.image.pic_order_count_type = u(1);
        picture.image.pic_order_present = true;
    };
    check(deltas, 1, &["011 010", PLAIN]);
    let no_deltas = |picture: &mut Picture| {
        picture.image.pic_order_count_type = u(1);
        picture.image.delta_pic_order_always_zero = true;
    };
    check(no_deltas, 1, &[PLAIN]);
    check(|picture| picture.image.redundant_pic_count_present = true, 1, &["1", PLAIN]);
    check(|picture| picture.image.initial_qp_value = S::new(25).expect("8 bits"), 1, &[PLAIN]);
    // disable_deblocking_filter_idc 0 and two offsets of 1.
    let deblocking = |picture: &mut Picture| {
        picture.image.deblocking_filter_control_present = true;
    };
    check(deblocking, 1, &[PLAIN, "1 010 010"]);
    // No entry of list 0 is in use, but the header states one.
    let none = |picture: &mut Picture| {
        picture.image.number_of_active_reference_pictures_from_l0 = u(0);
    };
    check(none, 1, &["1 1", "0 1"]);
    // A reference picture: no memory management; then one operation with an operand.
    check(|_| {}, 0x21, &["0 0", "0", "1"]);
    check(|_| {}, 0x21, &["0 0", "1 010 1 1", "1"]);
}

/// A top field refers to fields: its own parity first.
#[test]
fn fields() {
    let mut picture = picture();
    picture.image.frame_mb_only = false;
    picture.image.field_picure = true;
    picture.image.image_structure = Image::BOTTOM_FIELD_PICTURE;
    // A field of one row of macroblocks: two of them. field_pic_flag, bottom_field_flag.
    let bits = join(&["1 1 1", FRAME_NUM, "1 1", PLAIN, "011 1"]);
    let [top, bottom] = decode(&picture, 1, &bits).unwrap();
    assert_eq!([top, bottom], [OLD, STORES[1][1]]);
    // The header of a top field does not fit: nothing is decoded, and nothing to copy from is
    // stated for intra slices, so that all samples become 128.
    let bits = join(&["1 1 1", FRAME_NUM, "1 0", PLAIN, "011 1"]);
    assert_eq!(decode(&picture, 1, &bits).unwrap(), [OLD, 128]);
}

/// A picture of view 5. Stores 2 and 3 are of this view, stores 1 and 0 are the references of list 0
/// in other views, in this order. In list 1 store 0 is first.
fn dependent() -> Picture {
    let mut picture = picture();
    picture.image.current_frame_view_id = u(5);
    picture.marking.view_order_list_l0 = [u(15); 16];
    picture.marking.view_order_list_l1 = [u(15); 16];
    let orders = [[1, 0], [0, 1], [15, 15], [15, 15]];
    for (store, (view, [first, second])) in [0, 3, 5, 5].into_iter().zip(orders).enumerate() {
        picture.marking.view_idlist[store] = u(view);
        picture.marking.view_order_list_l0[store] = u(first);
        picture.marking.view_order_list_l1[store] = u(second);
    }
    picture.inline.first_mb_byte_offset_of_slice_data_or_slice_header = u(4);
    picture
}

/// Three bytes of the header of the NAL unit (H.264 H.7.3.1.1): no scalable coding; the flag of
/// pictures that are not IDR pictures; priority, view 5, temporal level, anchor, no reference of
/// other views.
fn extension(non_idr: &str) -> String {
    join(&["0", non_idr, "000000 0000000101 000 1 0 1"])
}

/// References in other views come after those of the view (H.264 H.8.2.1).
#[test]
fn dependent_views() {
    let mut picture = dependent();
    let view = |parts: &[&str]| extension("1") + &p(parts);
    assert_eq!(decode(&picture, 0x14, &view(&[PLAIN])).unwrap(), STORES[2]);
    let without = |picture: &mut Picture| {
        for store in 2..4 {
            picture.marking.used_for_reference_flag[store] = Used::NOT_REFERENCE;
        }
    };
    // Modifications: plus 1, plus 2, minus 1; the first is relative to -1, modulo their number.
    for (bits, count, store) in [
        ("0 1 00110 1 00100 1", 0, 1),
        ("0 1 00110 010 00100 1", 0, 0),
        ("0 1 00101 1 00100 1", 0, 1),
        ("0 1 00101 1 00100 1", 2, 1),
        ("0 1 00101 1 00100 1", 3, 0),
        ("0 1 00110 1 00110 1 00100 1", 0, 1),
    ] {
        picture.image.max_view_idxl0 = u(count);
        let found = decode(&picture, 0x14, &view(&[bits])).unwrap();
        assert_eq!(found, STORES[store], "{bits}, {count}");
    }
    without(&mut picture);
    assert_eq!(decode(&picture, 0x14, &view(&[PLAIN])).unwrap(), STORES[1]);
    // An IDR picture of the view: idr_pic_id, and the marking of a reference.
    let bits = extension("0") + &p(&["1 0 0 00 1"]);
    assert_eq!(decode(&picture, 0x34, &bits).unwrap(), STORES[1]);
    // A B slice: store 1 in list 0 and store 0 in list 1.
    let bits = extension("1") + &join(&["1 010 1", FRAME_NUM, "1 0 0 0 1", SKIPPED]);
    let mean = [0, 1].map(|row| (STORES[0][row] + STORES[1][row]).div_ceil(2));
    assert_eq!(decode(&picture, 0x14, &bits).unwrap(), mean);
    // A modification of list 1: minus 1, modulo 3.
    picture.image.max_view_idxl1 = u(3);
    let bits = extension("1") + &join(&["1 010 1", FRAME_NUM, "1 0 0 1 00101 1 00100 1", SKIPPED]);
    assert_eq!(decode(&picture, 0x14, &bits).unwrap(), STORES[1]);
}

/// A field refers to the field of the same parity in another view.
#[test]
fn fields_of_dependent_views() {
    let mut picture = dependent();
    picture.marking.used_for_reference_flag[2] = Used::NOT_REFERENCE;
    picture.marking.used_for_reference_flag[3] = Used::NOT_REFERENCE;
    picture.image.frame_mb_only = false;
    picture.image.field_picure = true;
    picture.image.image_structure = Image::BOTTOM_FIELD_PICTURE;
    let bits = extension("1") + &join(&["1 1 1", FRAME_NUM, "1 1", PLAIN, "011 1"]);
    assert_eq!(decode(&picture, 0x14, &bits).unwrap(), [OLD, STORES[1][1]]);
}

#[test]
fn what_the_model_lacks() {
    let mut picture = dependent();
    picture.image.inter_view_order_disable = true;
    let bits = extension("1") + &p(&[PLAIN]);
    let fault = about(decode(&picture, 0x14, &bits).unwrap_err());
    assert!(fault.contains("not sorted"), "{fault}");
    let mut picture = self::picture();
    let bits = p(&[PLAIN]);
    let fault = about(decode(&picture, 0x14, &bits).unwrap_err());
    assert!(fault.contains("scalable"), "{fault}");
    picture.image.number_of_slice_groups = minus_one(2);
    let fault = about(decode(&picture, 1, &bits).unwrap_err());
    assert!(fault.contains("slice groups"), "{fault}");
}

/// 00 00 03 in the data is an emulation prevention byte, or not.
#[test]
fn emulation_prevention() {
    let mut picture = picture();
    // memory_management_control_operation 1 with a large operand, whose code has many zeros.
    picture.image.log2_max_frame_number = u(1);
    let head = join(&["1 1 1", "01000", "0 0", "1 010"]);
    assert_eq!(head.len(), 14);
    // 24 zeros from here on are the rest of the byte, two bytes 00, and the start of a byte 03.
    let operand = format!("{}1{}", "0".repeat(24), "1".repeat(24));
    let data = bytes(&(head + &operand + &join(&["1", "1", SKIPPED])));
    let at = data.windows(3).position(|three| three == [0, 0, 3]).expect("00 00 03");
    let mut escaped = data.clone();
    escaped.insert(at + 2, 3);
    let text = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:08b}")).collect::<String>();
    assert_eq!(decode(&picture, 0x21, &text(&escaped)).unwrap(), STORES[1]);
    let right = samples(&picture, 0x21, &text(&escaped)).unwrap();
    assert_ne!(samples(&picture, 0x21, &text(&data)).unwrap(), right);
    picture.inline.emulation_prevention_byte_present = Escapes::NOT_REMOVED;
    assert_eq!(decode(&picture, 0x21, &text(&data)).unwrap(), STORES[1]);
}
