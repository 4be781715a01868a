//! Rules of the video engine. Oracle: the standards, and what both VA-API drivers send
//! (digests/video.md).

use super::{fires_on, packet};
use genxml::engine::EngineId;

type Fields = [(&'static str, u64)];

/// Number of findings of the rule for the last of these packets.
fn last(rule: &str, packets: &[Vec<u32>]) -> usize {
    *fires_on(EngineId::Video, rule, packets).last().unwrap()
}

/// Checks that the rule accepts a packet with `good` fields after `before`, and that it reports the
/// packet with each of `bad` in place of the fields of the same name.
fn one(rule: &str, before: &[Vec<u32>], name: &str, good: &Fields, bad: &[&Fields]) {
    let run = |fields: &Fields| {
        let mut packets = before.to_vec();
        packets.push(packet(name, fields));
        last(rule, &packets)
    };
    assert_eq!(run(good), 0, "{rule}: {good:?}");
    for changed in bad {
        let kept = good.iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        let fields: Vec<_> = kept.chain(*changed).copied().collect();
        assert_eq!(run(&fields), 1, "{rule}: {fields:?}");
    }
}

fn select(standard: u64, more: &Fields) -> Vec<u32> {
    packet("MFX_PIPE_MODE_SELECT", &[&[("Standard Select", standard)], more].concat())
}

const MPEG2: u64 = 0;
const VC1: u64 = 1;
const AVC: u64 = 2;
const JPEG: u64 = 3;
const VP8: u64 = 5;

/// Each BSD object needs its standard and the base of its data.
#[test]
fn objects_need_their_standard_and_a_base() {
    for (standard, prefix, name) in [
        (AVC, "AVCBSD", "MFD_AVC_BSD_OBJECT"),
        (MPEG2, "MPEG2BSD", "MFD_MPEG2_BSD_OBJECT"),
        (VC1, "VC1BSD", "MFD_VC1_BSD_OBJECT"),
        (JPEG, "JPEGBSD", "MFD_JPEG_BSD_OBJECT"),
        (VP8, "VP8BSD", "MFD_VP8_BSD_OBJECT"),
    ] {
        let object = || packet(name, &[]);
        let rule = format!("{prefix}-STANDARD");
        for other in [MPEG2, VC1, AVC, JPEG, VP8] {
            let found = last(&rule, &[select(other, &[]), object()]);
            assert_eq!(found, usize::from(other != standard), "{rule} {other}");
        }
        let encode = select(standard, &[("Codec Select", 1)]);
        assert_eq!(last(&rule, &[encode, object()]), 1, "{rule}");
        assert_eq!(last(&rule, &[object()]), 0, "{rule}: unknown");
        let rule = format!("{prefix}-BASE");
        let base = || packet("MFX_IND_OBJ_BASE_ADDR_STATE", &[]);
        assert_eq!(last(&rule, &[select(standard, &[]), base(), object()]), 0, "{rule}");
        assert_eq!(last(&rule, &[base(), select(standard, &[]), object()]), 1, "{rule}");
        assert_eq!(last(&rule, &[select(standard, &[]), object()]), 1, "{rule}");
    }
}

#[test]
fn outputs_and_their_surface() {
    let pre = ("Pre Deblocking Output Enable", 1);
    let post = ("Post Deblocking Output Enable", 1);
    let name = "MFX_PIPE_MODE_SELECT";
    one("MFXPIPE-OUTPUT", &[], name, &[pre], &[&[("Pre Deblocking Output Enable", 0)]]);
    one("MFXPIPE-OUTPUT", &[], name, &[("Codec Select", 1)], &[&[("Codec Select", 0)]]);

    let rule = "MFXBUF-OUTPUT";
    let name = "MFX_PIPE_BUF_ADDR_STATE";
    let before = "Pre Deblocking Destination - Address";
    let after = "Post Deblocking Destination - Address";
    one(rule, &[select(AVC, &[pre])], name, &[(before, 64)], &[&[(before, 0), (after, 64)]]);
    one(rule, &[select(AVC, &[post])], name, &[(after, 64)], &[&[(after, 0), (before, 64)]]);

    let name = "MFX_SURFACE_STATE";
    let y = [("Tiled Surface", 1), ("Tile Walk", 1), ("Surface Pitch", 639)];
    one("MFXSURF-PITCH", &[], name, &y, &[&[("Surface Pitch", 640)], &[("Tile Walk", 0)]]);
    let x = [("Tiled Surface", 1), ("Surface Pitch", 1023)];
    one("MFXSURF-PITCH", &[], name, &x, &[&[("Surface Pitch", 895)]]);
    one("MFXSURF-PITCH", &[], name, &[("Surface Pitch", 99)], &[]);
    let planes = [
        ("Surface Format", 4),
        ("Interleave Chroma", 1),
        ("Height", 143),
        ("Y Offset for U(Cb)", 144),
    ];
    one("MFXSURF-CHROMA", &[], name, &planes, &[&[("Y Offset for U(Cb)", 143)]]);
}

#[test]
fn matrices() {
    let name = "MFX_QM_STATE";
    for (standard, most) in [(MPEG2, 1), (JPEG, 2), (AVC, 3)] {
        let before = [select(standard, &[])];
        one("QM-INDEX", &before, name, &[("AVC", most)], &[]);
        if most < 3 {
            one("QM-INDEX", &before, name, &[("AVC", 0)], &[&[("AVC", most + 1)]]);
        }
    }
    let matrix = |standard, index, last: u32, value: u32| {
        let mut packet = packet(name, &[("AVC", index)]);
        packet[2..18].fill(0x1010_1010);
        packet[2 + last as usize] = value;
        last_of("QM-ZERO", standard, packet)
    };
    for value in [0x1010_1000, 0x1010_0010, 0x1000_1010, 0x0010_1010] {
        assert_eq!(matrix(MPEG2, 0, 15, value), 1, "{value:#x}");
        assert_eq!(matrix(AVC, 2, 15, value), 1, "{value:#x}");
        assert_eq!(matrix(AVC, 1, 15, value), 0, "4x4 matrices have 48 bytes");
        assert_eq!(matrix(AVC, 1, 11, value), 1, "{value:#x}");
    }
    assert_eq!(matrix(JPEG, 0, 15, 0x0101_0101), 0);
}

fn last_of(rule: &str, standard: u64, packet: Vec<u32>) -> usize {
    last(rule, &[select(standard, &[]), packet])
}

#[test]
fn avc_pictures() {
    let name = "MFX_AVC_IMG_STATE";
    let (frame, top) = (("Image Structure", 0), ("Image Structure", 1));
    let mbaff = ("MBAFF Mode", 1);
    one("AVCIMG-MBAFF-FIELD", &[], name, &[frame, mbaff], &[&[top]]);
    one("AVCIMG-FRAME-ONLY", &[], name, &[frame, ("Frame MB Only", 1)], &[&[top], &[mbaff]]);
    one("AVCIMG-FIELD-FLAG", &[], name, &[top, ("Field Picure", 1)], &[&[frame]]);
    one("AVCIMG-FIELD-FLAG", &[], name, &[frame], &[&[("Field Picure", 1)]]);
    let progressive = [("Frame MB Only", 1), ("Direct 8x8 Inference", 0)];
    one("AVCIMG-INFERENCE", &[], name, &progressive, &[&[("Frame MB Only", 0)]]);
    one("AVCIMG-CHROMA", &[], name, &[("Chroma Format IDC", 1)], &[&[("Chroma Format IDC", 2)]]);
    one("AVCIMG-FIELD-HEIGHT", &[], name, &[("Frame Height", 17)], &[&[("Frame Height", 16)]]);
}

#[test]
fn avc_slices() {
    let name = "MFX_AVC_SLICE_STATE";
    let image = |structure| {
        let size = [("Frame Width", 10), ("Frame Height", 17), ("Image Structure", structure)];
        [packet("MFX_AVC_IMG_STATE", &size)]
    };
    let (x, y) = ("Slice Horizontal Position", "Slice Vertical Position");
    one("AVCSLICE-POSITION", &image(0), name, &[(x, 10), (y, 17)], &[&[(x, 11)], &[(y, 18)]]);
    one("AVCSLICE-POSITION", &image(3), name, &[(x, 0), (y, 8)], &[&[(y, 9)]]);
    let (next_x, next_y) = ("Next Slice Horizontal Position", "Next Slice Vertical Position");
    let fields = [(x, 4), (y, 5), (next_x, 0), (next_y, 6)];
    one("AVCSLICE-NEXT", &[], name, &fields, &[&[(next_y, 5)], &[(next_y, 4), (next_x, 9)]]);
    let (first, second) = (
        "Number of Reference Pictures in Inter-prediction List 0",
        "Number of Reference Pictures in Inter-prediction List 1",
    );
    let rule = "AVCSLICE-REFERENCES";
    one(rule, &[], name, &[("Slice Type", 2)], &[&[("Slice Type", 0)]]);
    one(rule, &[], name, &[("Slice Type", 0), (first, 1)], &[&[("Slice Type", 1)]]);
    one(rule, &[], name, &[("Slice Type", 1), (first, 1), (second, 1)], &[&[(first, 0)]]);
    one("AVCSLICE-REFERENCES-MAX", &[], name, &[(first, 32)], &[&[(first, 33)], &[(second, 40)]]);
    let filter = "Disable Deblocking Filter Indicator";
    one("AVCSLICE-DEBLOCKING", &[], name, &[(filter, 2)], &[&[(filter, 3)]]);

    // Entry 1 is reference 2; the others do not exist.
    let mut list = packet("MFX_AVC_REF_IDX_STATE", &[]);
    list[2..10].fill(0x8080_8080);
    list[2] = 0x8080_0480;
    let buffers = |index| {
        let field = format!("Reference Picture/{index}/Reference Picture - Address");
        packet("MFX_PIPE_BUF_ADDR_STATE", &[(&field, 64)])
    };
    assert_eq!(last("AVCREF-ADDRESS", &[buffers(2), list.clone()]), 0);
    assert_eq!(last("AVCREF-ADDRESS", &[buffers(1), list.clone()]), 1);
    assert_eq!(last("AVCREF-ADDRESS", &[list]), 0, "unknown");

    for (weight, violations) in [(0u32, 0), (128, 0), (0xff80, 0), (129, 1), (0xff7f, 1)] {
        let mut weights = packet("MFX_AVC_WEIGHTOFFSET_STATE", &[]);
        weights[97] = 0x7_0000 | weight;
        assert_eq!(last("AVCWEIGHT-RANGE", &[weights]), violations, "{weight:#x}");
    }
}

#[test]
fn mpeg2_pictures_and_slices() {
    let name = "MFX_MPEG2_PIC_STATE";
    let (structure, kind) = ("Picture Structure", "Picture Coding Type");
    let rule = "MPEG2PIC-STRUCTURE";
    one(rule, &[], name, &[(structure, 3), (kind, 1)], &[&[(structure, 0)], &[(kind, 0)]]);
    let codes = |forward, backward| {
        [
            ("F_code[0][0]", forward),
            ("F_code[0][1]", forward),
            ("F_code[1][0]", backward),
            ("F_code[1][1]", backward),
        ]
    };
    let with = |kind: u64, forward, backward| {
        let fields = [&codes(forward, backward)[..], &[("Picture Coding Type", kind)]].concat();
        last("MPEG2PIC-F-CODE", &[packet(name, &fields)])
    };
    assert_eq!([with(1, 15, 15), with(2, 1, 15), with(3, 9, 1)], [0, 0, 0]);
    assert_eq!([with(2, 0, 1), with(2, 15, 1), with(3, 1, 0), with(3, 10, 1)], [1, 1, 1, 1]);
    let field = [(structure, 3), ("Frame Prediction Frame DCT", 1)];
    one("MPEG2PIC-FIELD-DCT", &[], name, &field, &[&[(structure, 2)]]);

    let picture = |structure, kind| {
        packet(
            name,
            &[
                ("Frame Width In MBs", 10),
                ("Frame Height In MBs", 8),
                ("Picture Structure", structure),
                ("Picture Coding Type", kind),
            ],
        )
    };
    let name = "MFD_MPEG2_BSD_OBJECT";
    let (x, y) = ("Inline Data/Slice Horizontal Position", "Inline Data/Slice Vertical Position");
    let rule = "MPEG2BSD-POSITION";
    one(rule, &[picture(3, 1)], name, &[(x, 10), (y, 9)], &[&[(x, 11)], &[(y, 10)]]);
    one(rule, &[picture(1, 1)], name, &[(y, 4)], &[&[(y, 5)]]);
    let scale = "Inline Data/Quantizer Scale Code";
    one("MPEG2BSD-QUANTISER", &[], name, &[(scale, 31)], &[&[(scale, 0)]]);
    let buffers = |address| {
        let field = "Reference Picture/0/Reference Picture - Address";
        packet("MFX_PIPE_BUF_ADDR_STATE", &[(field, address)])
    };
    let found = |kind, address| {
        last("MPEG2BSD-REFERENCE", &[buffers(address), picture(3, kind), packet(name, &[])])
    };
    assert_eq!([found(1, 0), found(2, 64), found(2, 0), found(3, 0)], [0, 0, 1, 1]);
}

#[test]
fn vc1_pictures_and_slices() {
    let name = "MFD_VC1_LONG_PIC_STATE";
    let (mode, profile) = ("Frame Coding Mode", "VC1 Profile");
    one("VC1PIC-SECOND-FIELD", &[], name, &[("Second Field", 1), (mode, 2)], &[&[(mode, 1)]]);
    one("VC1PIC-INTERLACED", &[], name, &[(profile, 1), (mode, 1)], &[&[(profile, 0)]]);
    let picture = |planes| {
        let fields = [("Picture Height In MBs", 8), ("Bitplane Buffer Present", planes)];
        packet(name, &fields)
    };
    let name = "MFD_VC1_BSD_OBJECT";
    let (from, to) = ("Slice Start Vertical Position", "Next Slice Vertical Position");
    let bad: [&Fields; 2] = [&[(from, 9), (to, 10)], &[(to, 8)]];
    one("VC1BSD-POSITION", &[picture(0)], name, &[(from, 8), (to, 9)], &bad);
    let buffers = |address| {
        packet("MFX_BSP_BUF_BASE_ADDR_STATE", &[("Bitplane Read Buffer - Address", address)])
    };
    for (planes, address, violations) in [(0, 0, 0), (1, 64, 0), (1, 0, 1)] {
        let packets = [picture(planes), buffers(address), packet(name, &[])];
        assert_eq!(last("VC1BSD-BITPLANE", &packets), violations);
    }
}

#[test]
fn jpeg_scans() {
    let object = || packet("MFD_JPEG_BSD_OBJECT", &[]);
    let table = |id| packet("MFX_JPEG_HUFF_TABLE_STATE", &[("Huffman Table ID", id)]);
    let rule = "JPEGBSD-TABLES";
    assert_eq!(last(rule, &[select(JPEG, &[]), table(0), table(1), object()]), 0);
    assert_eq!(last(rule, &[select(JPEG, &[]), table(1), object()]), 1);
    assert_eq!(last(rule, &[table(0), select(JPEG, &[]), object()]), 1);
    let matrix = |id| packet("MFX_QM_STATE", &[("AVC", id)]);
    let rule = "JPEGBSD-MATRIX";
    assert_eq!(last(rule, &[select(JPEG, &[]), matrix(0), matrix(1), object()]), 0);
    assert_eq!(last(rule, &[select(JPEG, &[]), matrix(1), object()]), 1);
    let fields = [("MCU Count", 1), ("Scan Components", 1)];
    let bad: [&Fields; 2] = [&[("MCU Count", 0)], &[("Scan Components", 0)]];
    one("JPEGBSD-EMPTY", &[], "MFD_JPEG_BSD_OBJECT", &fields, &bad);
}

#[test]
fn vp8_frames() {
    let name = "MFD_VP8_BSD_OBJECT";
    let fields: Vec<_> = [
        "Indirect Partition0 Data Length",
        "Indirect Partition1 Data Length",
        "Indirect Partition2 Data Length",
        "Indirect Partition3 Data Length",
        "Indirect Partition4 Data Length",
    ]
    .map(|name| (name, 1))
    .into_iter()
    .chain([("Coded Num of Coeff Token Partitions", 2)])
    .collect();
    let bad: [&Fields; 3] = [
        &[("Coded Num of Coeff Token Partitions", 3)],
        &[("Indirect Partition0 Data Length", 0)],
        &[("Indirect Partition4 Data Length", 0)],
    ];
    one("VP8BSD-PARTITIONS", &[], name, &fields, &bad);
    let buffers = |count| {
        let names: Vec<String> = (0..count)
            .map(|index| format!("Reference Picture/{index}/Reference Picture - Address"))
            .collect();
        let fields: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 64)).collect();
        packet("MFX_PIPE_BUF_ADDR_STATE", &fields)
    };
    for (key, count, violations) in [(1, 0, 0), (0, 3, 0), (0, 2, 1)] {
        let state = packet("MFX_VP8_PIC_STATE", &[("Key Frame", key)]);
        let found = last("VP8BSD-REFERENCES", &[buffers(count), state, packet(name, &[])]);
        assert_eq!(found, violations);
    }
}
