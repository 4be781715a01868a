//! Summaries of coded pictures. Oracle: the fields of the packets, by digests/video.md.

use crate::check::packet;
use genxml::decode::{Chroma, Decoder, Options, Record, State, Tables, VideoSurface};
use genxml::engine::EngineId;
use genxml::html::{HtmlWriter, Page, Picture};
use std::cell::RefCell;

type Fields<'a> = [(&'a str, u64)];

/// The summaries in the decoded output of these packets, with their indentation, and the surfaces
/// that they have.
fn summaries(packets: &[Vec<u32>]) -> (Vec<String>, Vec<VideoSurface>) {
    let bytes: Vec<u8> = packets.concat().into_iter().flat_map(u32::to_le_bytes).collect();
    let (mut notes, mut surfaces) = (Vec::new(), Vec::new());
    let mut sink = |record: &Record| {
        let known = ["coded picture", "writes", "uses reference"];
        if known.iter().any(|start| record.note.starts_with(start)) {
            notes.push(format!("{:1$}{2}", "", record.depth as usize - 1, record.note));
        }
        surfaces.extend(record.surface);
        Ok(())
    };
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let memory = (0x1000, &bytes[..]);
    let length = bytes.len() as u64;
    decoder
        .batch(&mut State::default(), EngineId::Video, &memory, 0x1000, length, &mut sink)
        .unwrap();
    (notes, surfaces)
}

/// MFX_PIPE_MODE_SELECT, MFX_SURFACE_STATE of 64 x 48 in NV12, and MFX_PIPE_BUF_ADDR_STATE with
/// output 0x200000 and references 0x300000, 0x310000 and so on.
fn start(standard: u64, after: bool, references: u32) -> Vec<Vec<u32>> {
    let output = if after { "Post" } else { "Pre" };
    let mode = [("Standard Select", standard), (&format!("{output} Deblocking Output Enable"), 1)];
    let surface = [
        ("Width", 63),
        ("Height", 47),
        ("Surface Format", 4),
        ("Interleave Chroma", 1),
        ("Surface Pitch", 127),
        ("Tiled Surface", 1),
        ("Tile Walk", 1),
        ("Y Offset for U(Cb)", 64),
        ("Y Offset for V(Cr)", 96),
    ];
    let mut buffers = packet(
        "MFX_PIPE_BUF_ADDR_STATE",
        &[(&format!("{output} Deblocking Destination - Address"), 0x20_0000 >> 6)],
    );
    for index in 0..references {
        buffers[19 + 2 * index as usize] = 0x30_0000 + 0x1_0000 * index;
    }
    vec![packet("MFX_PIPE_MODE_SELECT", &mode), packet("MFX_SURFACE_STATE", &surface), buffers]
}

fn run(mut packets: Vec<Vec<u32>>, more: &[(&str, &Fields<'_>)]) -> Vec<String> {
    packets.extend(more.iter().map(|(name, fields)| packet(name, fields)));
    packets.push(packet("MI_BATCH_BUFFER_END", &[]));
    summaries(&packets).0
}

/// A field of AVC with two slices: the P slice uses reference 1; the B slice uses references 1 and
/// 2. The slice without data is one that i965 adds.
#[test]
fn avc_slices_belong_to_one_picture() {
    let image = [
        ("Frame Width", 3),
        ("Frame Height", 3),
        ("Image Structure", 3),
        ("Entropy Coding Sync Enable", 1),
    ];
    let list = |select, [first, second]: [u32; 2]| {
        let fields = [("Reference Picture List Select", select)];
        let mut list = packet("MFX_AVC_REF_IDX_STATE", &fields);
        list[2..10].fill(0x8080_8080);
        list[2] = 0x8080_0000 | second << 9 | first << 1;
        list
    };
    let slice = |kind| packet("MFX_AVC_SLICE_STATE", &[("Slice Type", kind)]);
    let object = |bytes| packet("MFD_AVC_BSD_OBJECT", &[("Indirect BSD Data Length", bytes)]);
    let mut packets = start(2, true, 4);
    packets.extend([
        packet("MFX_AVC_IMG_STATE", &image),
        slice(0),
        object(0),
        list(0, [1, 1]),
        slice(0),
        object(100),
        packet("MI_NOOP", &[]),
        list(0, [1, 1]),
        list(1, [2, 1]),
        slice(1),
        object(23),
        packet("MI_FLUSH_DW", &[]),
    ]);
    let (notes, surfaces) = summaries(&packets);
    assert_eq!(
        notes,
        [
            "coded picture: AVC B, bottom field of a frame of 4 x 4 macroblocks, CABAC, \
             2 slices (1 P, 1 B) of 123 bytes",
            " writes the picture after deblocking, at 0x200000",
            " uses reference picture 1 (lists 0 and 1), at 0x310000",
            " uses reference picture 2 (list 1), at 0x320000",
        ]
    );
    let addresses: Vec<u64> = surfaces.iter().map(|surface| surface.address).collect();
    assert_eq!(addresses, [0x20_0000, 0x31_0000, 0x32_0000]);
    let VideoSurface { width, height, pitch, chroma, full_range, .. } = surfaces[0];
    assert_eq!((width, height, pitch, full_range), (64, 48, 128, false));
    assert_eq!(chroma, Chroma::Interleaved { row: 64 });
}

/// A picture ends when the next begins, and at the end of a batch that nothing ends.
#[test]
fn two_pictures_of_mpeg2() {
    let state = |kind| {
        let fields = [
            ("Frame Width In MBs", 1),
            ("Frame Height In MBs", 2),
            ("Picture Structure", 3),
            ("Picture Coding Type", kind),
        ];
        packet("MFX_MPEG2_PIC_STATE", &fields)
    };
    let object = || packet("MFD_MPEG2_BSD_OBJECT", &[("Indirect BSD Data Length", 10)]);
    let mut packets = start(0, false, 2);
    packets.extend([state(1), object(), object()]);
    packets.extend(start(0, false, 2));
    packets.extend([state(3), object()]);
    assert_eq!(
        summaries(&packets).0,
        [
            "coded picture: MPEG-2 I, frame of 2 x 3 macroblocks, 2 slices of 20 bytes",
            " writes the picture before deblocking, at 0x200000",
            "coded picture: MPEG-2 B, frame of 2 x 3 macroblocks, 1 slice of 10 bytes",
            " writes the picture before deblocking, at 0x200000",
            " uses reference picture 0 (forward), at 0x300000",
            " uses reference picture 1 (backward), at 0x310000",
        ]
    );
}

#[test]
fn vc1_fields_have_types_of_their_own() {
    // Field picture type 1: an I field, then a P field; the bottom field is the first.
    let fields = |second| {
        [
            ("Picture Width In MBs", 1),
            ("Picture Height In MBs", 1),
            ("Picure Type", 1),
            ("Frame Coding Mode", 3),
            ("Second Field", second),
        ]
    };
    let object: &Fields<'_> = &[("Indirect BSD Data Length", 5)];
    let found = |second| {
        let state = fields(second);
        run(
            start(1, true, 1),
            &[("MFD_VC1_LONG_PIC_STATE", &state), ("MFD_VC1_BSD_OBJECT", object)],
        )
    };
    let first = "coded picture: VC-1 I, bottom field of 2 x 2 macroblocks, 1 slice of 5 bytes";
    assert_eq!(found(0), [first, " writes the picture after deblocking, at 0x200000"]);
    let second = "coded picture: VC-1 P, top field of 2 x 2 macroblocks, 1 slice of 5 bytes";
    let reference = " uses reference picture 0 (forward), at 0x300000";
    assert_eq!(found(1), [second, " writes the picture after deblocking, at 0x200000", reference]);
}

#[test]
fn vp8_and_jpeg() {
    let state: &Fields<'_> = &[("Frame Width", 10), ("Frame Height", 8)];
    let object: &Fields<'_> =
        &[("Indirect Partition0 Data Length", 7), ("Indirect Partition1 Data Length", 30)];
    let packets = [("MFX_VP8_PIC_STATE", state), ("MFD_VP8_BSD_OBJECT", object)];
    assert_eq!(
        run(start(5, true, 3), &packets),
        [
            "coded picture: VP8 P, frame of 11 x 9 macroblocks, 37 bytes",
            " writes the picture after deblocking, at 0x200000",
            " uses reference picture 0 (last), at 0x300000",
            " uses reference picture 1 (golden), at 0x310000",
            " uses reference picture 2 (alternate), at 0x320000",
        ]
    );

    let state =
        [("Frame Width In Blocks", 7), ("Frame Height In Blocks", 5), ("Input Format YUV", 2)];
    let mut packets = start(3, false, 0);
    packets.push(packet("MFX_JPEG_PIC_STATE", &state));
    packets.push(packet("MFD_JPEG_BSD_OBJECT", &[("Indirect Data Length", 9)]));
    let (notes, surfaces) = summaries(&packets);
    assert_eq!(
        notes,
        [
            "coded picture: JPEG, frame of 8 x 6 blocks, YUV422H_2Y, 1 scan of 9 bytes",
            " writes the picture before deblocking, at 0x200000",
        ]
    );
    let planes = [(0, 64), (0, 96)];
    assert_eq!(surfaces[0].chroma, Chroma::Planar { planes, across: 2, down: 1 });
    assert!(surfaces[0].full_range);
}

/// The page asks once for a picture of each surface: that of the output and of the reference.
#[test]
fn pages_have_pictures_of_video() {
    let state = [("Picture Structure", 3), ("Picture Coding Type", 2)];
    let mut packets = start(0, false, 1);
    packets.push(packet("MFX_MPEG2_PIC_STATE", &state));
    packets.push(packet("MFD_MPEG2_BSD_OBJECT", &[("Indirect BSD Data Length", 10)]));
    let packets = [packets.clone(), packets].concat();
    let bytes: Vec<u8> = packets.concat().into_iter().flat_map(u32::to_le_bytes).collect();
    let asked = RefCell::new(Vec::new());
    let picture = |surface: &VideoSurface, _: &dyn genxml::decode::Memory| {
        asked.borrow_mut().push(surface.address);
        Some(Picture { png: vec![1], width: 64, height: 48, note: "a frame".into() })
    };
    let mut out = Vec::new();
    let mut writer = HtmlWriter::new(&mut out, Page::default()).with_video(&picture);
    let (decoder, memory) =
        (Decoder::new(Tables::gen8(), Options::default()), (0x1000, &bytes[..]));
    let (state, length) = (&mut State::default(), bytes.len() as u64);
    decoder.batch(state, EngineId::Video, &memory, 0x1000, length, &mut writer).unwrap();
    genxml::decode::Sink::finish(&mut writer).unwrap();
    assert_eq!(*asked.borrow(), [0x20_0000, 0x30_0000]);
    let page = String::from_utf8(out).unwrap();
    assert!(page.contains(r#"["AQ==",64,48,"a frame"]"#) && page.contains(r#""pictures":1"#));
}

/// Reference lists without coded data are those of an encoder.
#[test]
fn encoded_pictures_have_no_summary() {
    let packets = [("MFX_AVC_REF_IDX_STATE", &[][..]), ("MFX_AVC_SLICE_STATE", &[])];
    assert_eq!(run(start(2, true, 1), &packets), [""; 0]);
}
