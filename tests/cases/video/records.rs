//! Records of decoded AVC macroblocks (Stream-Out Enable).
//!
//! Oracle: the layout of mfxFeiDecStreamOutMBCtrl in Intel Media SDK, written by hand, and the
//! syntax elements of the slice, coded by hand (H.264 7.3.5 and 9.1).

use super::concealment::{avc_mode, picture, slice};
use super::packets::{CODED, about, bytes, model, submit};
use genxml::gen8::mfd::InlineDataDescriptionForMfdAvcBsdObject as Inline;
use genxml::gen8::mfx_avc::{
    MfxAvcSliceStateDirectPredictionType as Direct, MfxAvcSliceStateSliceType as Kind,
};
use genxml::gen8::mfx_common::*;
use genxml_cases::at;

const RECORDS: u64 = 0x43_0000;
/// What the buffer holds before.
const OLD: u32 = 0x4d4d_4d4d;

/// Decodes a slice of a picture of 2 x 2 macroblocks. Returns the records, and the dword after them.
fn records(kind: Kind, bits: &str, enabled: bool, address: u64) -> Vec<u32> {
    let mut model = model();
    let mode = MfxPipeModeSelect { stream_out_enable: enabled, ..avc_mode() };
    let mut batch = picture(&mut model, mode, |buffers| {
        buffers.stream_out_data_destination_address = at(address);
    });
    let data = [&[0x41], &bytes(bits)[..]].concat();
    model.write(CODED, &data);
    slice((kind, Direct::SPATIAL), data.len(), Inline::new(), &mut batch);
    submit(&mut model, &batch).unwrap();
    model.get(RECORDS, 65)
}

/// A P slice with four kinds of macroblocks.
fn p_slice() -> String {
    let parts = [
        // 16x8: references 1 and 2, vector differences (4, -8) and 0, no coefficients.
        ["1", "010", "010", "011", "0001000", "000010001", "11", "1"].concat(),
        // A skipped one, and Intra_16x16 with mode 2 and quantiser + 2: one DC coefficient of 1.
        ["010", "0001001", "1", "00100", "01", "0", "1"].concat(),
        // Four blocks with parts of each shape, references 0, 1, 2, 0, no differences.
        ["1", "00100", "1", "010", "011", "00100", "1", "010", "011", "1"].concat(),
        "11".repeat(9) + "1",
        // The stop bit.
        "1".to_owned(),
    ];
    parts.concat()
}

#[test]
fn macroblocks_of_a_p_slice() {
    let got = records(Kind::P_SLICE, &p_slice(), true, RECORDS);
    let want: [&[(usize, u32)]; 4] = [
        // Type 4 with two partitions, one above the other.
        &[(0, 0x401), (3, 26), (5, 0x8282_8181), (8, 0xfff8_0004), (10, 0xfff8_0004)],
        // Type 1, skipped.
        &[(0, 0x104), (1, 1), (3, 26), (5, 0x8080_8080)],
        // Intra, type 3, DC; above and above on the right are there.
        &[
            (0, 0x8_2300),
            (1, 1 << 16),
            (3, 1 << 16 | 28),
            (4, 0x2222_2222),
            (5, 0x2222_2222),
            (6, 0x18),
        ],
        // Type 22, the last one.
        &[(0, 0x1603), (1, 1 << 16 | 1), (2, 1 << 30), (3, 28), (4, 0xe4), (5, 0x8082_8180)],
    ];
    for (index, want) in want.into_iter().enumerate() {
        let mut dwords = [0; 16];
        want.iter().for_each(|&(at, value)| dwords[at] = value);
        assert_eq!(got[16 * index..][..16], dwords, "macroblock {index}");
    }
    assert_eq!(got[64], OLD);
}

/// A skipped macroblock of a B slice, and missing ones.
#[test]
fn direct_and_missing_macroblocks() {
    let got = records(Kind::B_SLICE, "0101", true, RECORDS);
    let mut first = [0; 16];
    (first[0], first[2], first[3]) = (0x1607, 1 << 30, 26);
    (first[4], first[5], first[6]) = (0xaaff, 0x8080_8080, 0x8080_8080);
    assert_eq!(got[..16], first);
    for (index, place) in [(1, 1), (2, 1 << 16), (3, 1 << 16 | 1)] {
        let mut missing = [0; 16];
        (missing[1], missing[2]) = (place, 1 << 31);
        assert_eq!(got[16 * index..][..16], missing);
    }
}

/// Without the mode or without an address nothing is written.
#[test]
fn records_are_optional() {
    assert_eq!(records(Kind::P_SLICE, &p_slice(), false, RECORDS), [OLD; 65]);
    assert_eq!(records(Kind::P_SLICE, &p_slice(), true, 0), [OLD; 65]);
}

#[test]
fn faults() {
    let extended = MfxPipeModeSelect { extended_stream_out_enable: true, ..avc_mode() };
    let deblocker = MfxPipeModeSelect { deblocker_stream_out_enable: true, ..avc_mode() };
    let unmapped = MfxPipeModeSelect { stream_out_enable: true, ..avc_mode() };
    let cases = [
        (extended, "records of decoded macroblocks"),
        (deblocker, "records of decoded macroblocks"),
        (unmapped, "Stream-Out Data Destination"),
    ];
    for (mode, want) in cases {
        let mut model = model();
        let mut batch = picture(&mut model, mode, |buffers| {
            buffers.stream_out_data_destination_address = at(0x7000_0000);
        });
        model.write(CODED, &[0x41, 0b0101_0000]);
        slice((Kind::P_SLICE, Direct::SPATIAL), 2, Inline::new(), &mut batch);
        let fault = about(submit(&mut model, &batch).unwrap_err());
        assert!(fault.contains(want), "{want}: {fault}");
    }
}
