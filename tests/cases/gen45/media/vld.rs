//! VLD mode: slices of MPEG-2. Oracle: codes of ISO/IEC 13818-2 annex B, written by hand, and the
//! layouts that kernels of intel-vaapi-driver read.

use super::super::G45;
use super::*;
use genxml::gen45::media::{VfeStateVfeMode, VldState};
use genxml::gen45::media_vld::{VldMacroblockPayload, VldSliceInlineData};
use genxml::gen45::thread_payloads::MediaThreadPayloadHeader;

/// Address of VLD_STATE.
const VLD: u64 = DATA + 0x40;
/// Bits before the first macroblock.
const OFFSET: u64 = 3;

/// A coded macroblock with two blocks, a skipped one, and an intra one.
const SLICE: &[&str] = &[
    // Increment 1; type: motion and pattern; vector (+3, -1); pattern 48: the first two blocks.
    "1 1 00010 011 10010",
    // Level 1; after a zero, level -1; end.
    "10 0111 10",
    // Escape: after three zeros, level -300; end.
    "000001 000011 111011010100 10",
    // Increment 2; type: intra.
    "011 00011",
    // Differences of DC in luma: +3, 0, -1, 0; in chroma: 0, +1. No other coefficients.
    "01 11 10  100 10  00 0 10  100 10  00 10  01 1 10",
    // 23 zeros end the slice.
    "00000000000000000000000",
];

fn bytes() -> Vec<u8> {
    let bits: Vec<u8> = "1"
        .repeat(OFFSET as usize)
        .bytes()
        .chain(SLICE.iter().flat_map(|text| text.bytes()))
        .filter(|bit| *bit != b' ')
        .map(|bit| bit - b'0')
        .collect();
    bits.chunks(8).map(|bits| bits.iter().zip(0..).map(|(bit, n)| bit << (7 - n)).sum()).collect()
}

fn scene() -> Scene<'static> {
    const KERNELS: &[&[u32]] = &[&END, &END, &END];
    let mut scene = Scene::new(KERNELS);
    scene.vfe.vfe_mode = VfeStateVfeMode::VLD;
    scene
}

/// The packets of a picture with one slice.
fn batch(g45: &mut G45, state: &VldState, inline: &[u32], data: &[u8]) -> Vec<u32> {
    let mut batch = scene().state(g45);
    g45.write(VLD, bytemuck::cast_slice(&state.pack()));
    g45.write(INDIRECT, data);
    push(
        &mut batch,
        &MediaStatePointers {
            vld_state_enable: true,
            pointer_to_vld_state: at(VLD),
            pointer_to_vfe_state: at(VFE),
        },
    );
    let inline: Vec<U<32>> = inline.iter().map(|&dword| u(dword.into())).collect();
    let object = MediaObject {
        indirect_data_length: u(data.len() as u64),
        inline_data: inline[..].into(),
        ..MediaObject::new()
    };
    push(&mut batch, &object);
    batch
}

fn picture() -> VldState {
    VldState {
        f_code_0_0: u(1),
        f_code_0_1: u(1),
        intra_dc_precision: u(1),
        picture_structure: u(3),
        frame_predict_frame_dct: true,
        picture_coding_type: u(2),
        descriptor_remap_index_0: u(2),
        descriptor_remap_index_1: u(1),
        ..VldState::new()
    }
}

fn slice(row: u64) -> [u32; 2] {
    VldSliceInlineData {
        slice_vertical_position: u(row),
        macroblock_count: u(127),
        first_macroblock_bit_offset: u(OFFSET),
        quantizer_scale_code: u(9),
        ..VldSliceInlineData::new()
    }
    .pack()
}

/// The levels of a block, by position in raster order.
fn levels(block: &[u32]) -> Vec<(usize, i16)> {
    let levels = block.iter().flat_map(|dword| [*dword as i16, (*dword >> 16) as i16]);
    levels.enumerate().filter(|(_, level)| *level != 0).collect()
}

#[test]
fn macroblocks() {
    let mut g45 = G45::new();
    let batch = batch(&mut g45, &picture(), &slice(5), &bytes());
    let found = payloads(&mut g45, &batch).unwrap();
    let [coded, skipped, intra] = &found[..] else { panic!("{} threads", found.len()) };
    let header = |payload: &[u32]| {
        let r0 = MediaThreadPayloadHeader::unpack_lossy(&payload[..8].try_into().unwrap());
        let descriptor = (r0.interface_descriptor_pointer.get() - DESCRIPTORS) / 16;
        (descriptor, VldMacroblockPayload::unpack_lossy(&payload[8..16].try_into().unwrap()))
    };
    for (payload, x, descriptor, pattern) in
        [(coded, 0, 1, 48), (skipped, 16, 1, 0), (intra, 32, 2, 63)]
    {
        let (found, header) = header(payload);
        assert_eq!(found, descriptor);
        assert_eq!((header.horizontal_origin.get(), header.vertical_origin.get()), (x, 80));
        assert_eq!(header.coded_block_pattern.get(), pattern);
        assert_eq!(header.quantizer_scale_code.get(), 9);
        assert_eq!((header.intra_dc_precision.get(), header.picture_structure.get()), (1, 3));
        assert_eq!(header.motion_vertical_field_select, [false; 4]);
        let blocks = u64::count_ones(pattern) as usize;
        assert_eq!(payload.len(), 16 + 32 * blocks);
    }
    let vector = |payload: &[u32]| {
        let vector = header(payload).1.motion_vector[0];
        (vector.horizontal.get(), vector.vertical.get())
    };
    assert_eq!((vector(coded), vector(skipped)), ((3, -1), (0, 0)));
    // Number 2 of the zigzag scan is the first coefficient of row 1, number 3 that of row 2.
    assert_eq!(levels(&coded[16..48]), [(0, 1), (8, -1)]);
    assert_eq!(levels(&coded[48..80]), [(16, -300)]);
    let first: Vec<i16> = (0..6).map(|n| intra[16 + 32 * n] as i16).collect();
    assert_eq!(first, [3, 3, 2, 2, 0, 1]);
}

#[test]
fn faults() {
    let mut g45 = G45::new();
    let cases = [
        (VldState { picture_coding_type: u(0), ..picture() }, slice(0).to_vec(), "Coding Type"),
        (VldState { picture_structure: u(0), ..picture() }, slice(0).to_vec(), "Structure"),
        (picture(), vec![0], "two dwords"),
    ];
    for (state, inline, text) in cases {
        let batch = batch(&mut g45, &state, &inline, &bytes());
        let fault = g45.fault(&batch);
        assert!(fault.contains("MEDIA_OBJECT") && fault.contains(text), "{fault}");
    }
    // Damaged data have no macroblocks.
    let batch = batch(&mut g45, &picture(), &slice(0), &[0; 16]);
    assert_eq!(g45.run(&batch).unwrap().threads, 0);
}
