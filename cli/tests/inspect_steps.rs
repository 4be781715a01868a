//! The contract of `genx inspect` for blits and dispatches: their pictures, values and changed
//! bytes.

use crate::common::{fill_capture, fill_picture};
use crate::inspect::Inspector;
use genx::demo::fill;
use genxml::batch::{Batch, Buffer, Submission};
use genxml::capture::CaptureWriter;
use genxml::core::lit;
use genxml::engine::{Blitter, Render};
use genxml::eu;
use genxml::gen8::blitter::{
    BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt, XySrcCopyBlt,
};
use genxml::gen8::state::{SurfaceFormat, TileMode};
use genxml::setup::{Dispatch, Heaps, Surface};
use serde_json::{Value as Json, json};
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// Writes a capture of a submission.
fn capture(submission: &Submission) -> TempDir {
    let directory = tempdir().unwrap();
    let mut writer = CaptureWriter::new("test");
    submission.write(1, &mut writer);
    writer.finish(directory.path()).unwrap();
    directory
}

fn open(directory: &Path) -> Inspector {
    let page = Inspector::start(directory, &[]);
    let progress = page.wait();
    assert_eq!(progress["fault"], Json::Null);
    page
}

/// Addresses of the surfaces. Each has 16x16 pixels of 32 bits.
const SOURCE: u64 = 0x1_0000;
const LINEAR: u64 = 0x2_0000;
const TILED: u64 = 0x3_0000;

/// The bytes of the pixel in the source: blue, green, red, alpha.
fn source(x: usize, y: usize) -> [u8; 4] {
    [10 * x as u8, 12 * y as u8, 99, 7]
}

/// A fill, a copy of linear pixels, and a copy to X tiles.
fn blits() -> Submission {
    let bytes: Vec<u8> = (0..16).flat_map(|y| (0..16).flat_map(move |x| source(x, y))).collect();
    let from = Buffer::with_values("source", SOURCE, &bytes).unwrap();
    let linear = Buffer::new("linear", LINEAR, 4096).unwrap();
    let tiled = Buffer::new("tiled", TILED, 4096).unwrap();
    let mut batch = Batch::<Blitter>::new("batch", 0x4_0000, 4096).unwrap();
    let fill = XyColorBlt {
        color_depth: BlitColorDepth::_32BPP,
        _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
        raster_operation: BlitRasterOperation::PATTERN_COPY,
        destination_pitch: lit!(64),
        destination_x1_coordinate_left: lit!(2),
        destination_y1_coordinate_top: lit!(1),
        destination_x2_coordinate_right: lit!(5),
        destination_y2_coordinate_bottom: lit!(3),
        solid_pattern_color: lit!(0x0012_3456),
        destination_base_address: batch.writes(&linear, 0).unwrap(),
        ..XyColorBlt::new()
    };
    batch.emit(&fill).unwrap();
    let copy = XySrcCopyBlt {
        color_depth: BlitColorDepth::_32BPP,
        _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
        raster_operation: BlitRasterOperation::SRC_COPY,
        destination_pitch: lit!(64),
        destination_x1_coordinate_left: lit!(4),
        destination_y1_coordinate_top: lit!(2),
        destination_x2_coordinate_right: lit!(8),
        destination_y2_coordinate_bottom: lit!(5),
        destination_base_address: batch.writes(&linear, 0).unwrap(),
        source_pitch: lit!(64),
        source_x1_coordinate_left: lit!(3),
        source_y1_coordinate_top: lit!(6),
        source_base_address: batch.reads(&from, 0).unwrap(),
        ..XySrcCopyBlt::new()
    };
    batch.emit(&copy).unwrap();
    let to_tiles = XySrcCopyBlt {
        dest_tiling_enable: true,
        // In dwords: 512 bytes, the width of a tile.
        destination_pitch: lit!(128),
        destination_base_address: batch.writes(&tiled, 0).unwrap(),
        ..copy
    };
    batch.emit(&to_tiles).unwrap();
    batch.finish().unwrap().submit([from, linear, tiled]).unwrap()
}

/// Red, green, blue and 255, as pictures show a pixel.
fn shown([blue, green, red, _]: [u8; 4]) -> [u8; 4] {
    [red, green, blue, 255]
}

fn pixels(picture: &[u8]) -> Vec<[u8; 4]> {
    picture.as_chunks::<4>().0.to_vec()
}

/// Oracle: the rectangles and the colour of the packets.
#[test]
fn blits_have_pictures() {
    let directory = capture(&blits());
    let page = open(directory.path());
    let steps = page.json("api/steps")["steps"].clone();
    let packets: Vec<_> = (0..3).map(|n| steps[n]["packet"].as_str().unwrap()).collect();
    assert_eq!(packets, ["XY_COLOR_BLT", "XY_SRC_COPY_BLT", "XY_SRC_COPY_BLT"]);

    // The fill: 3x2 pixels from 2,1 on.
    let look = page.json("api/look/1");
    assert_eq!(look["complete"], true);
    let targets = look["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 1, "a fill has no source");
    let target = &targets[0];
    assert_eq!(
        json!([target["meaning"], target["format"], target["width"], target["height"]]),
        json!(["destination", "B8G8R8A8_UNORM", 3, 2])
    );
    assert_eq!((&target["origin"], &target["changed"]), (&json!([2, 1]), &json!(6)));
    let black = vec![[0, 0, 0, 255]; 6];
    let filled = vec![[0x12, 0x34, 0x56, 255]; 6];
    let picture = |path: &str| pixels(&page.picture(path).0);
    assert_eq!(picture("api/image/1/0/before"), black);
    assert_eq!(picture("api/image/1/0/after"), filled);
    assert_eq!(picture("api/thumbnail/1"), filled);
    let value = page.json("api/value/1/0/2/1");
    assert_eq!(value["before"]["bytes"], "00000000");
    assert_eq!(value["after"]["bytes"], "56341200");
    assert_eq!(page.get("api/value/1/0/3/0").0, 404);

    // The copy: 4x3 pixels from 3,6 to 4,2. One pixel of the destination has the fill.
    let copied: Vec<_> = (6..9).flat_map(|y| (3..7).map(move |x| shown(source(x, y)))).collect();
    let mut before = vec![[0, 0, 0, 255]; 12];
    before[0] = [0x12, 0x34, 0x56, 255];
    let look = page.json("api/look/2");
    let meanings: Vec<_> =
        (0..2).map(|n| look["targets"][n]["meaning"].as_str().unwrap()).collect();
    assert_eq!(meanings, ["destination", "source"]);
    assert_eq!(look["targets"][1]["origin"], json!([3, 6]));
    assert_eq!(look["targets"][1]["changed"], 0);
    assert_eq!(page.picture("api/image/2/0/after").1, [4, 3]);
    assert_eq!(picture("api/image/2/0/before"), before);
    assert_eq!(picture("api/image/2/0/after"), copied);
    assert_eq!(picture("api/image/2/1/before"), copied);
    let value = page.json("api/value/2/0/0/0");
    assert_eq!(value["before"]["bytes"], "56341200");
    let hex: String = source(3, 6).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(value["after"]["bytes"], hex.as_str());
    let difference = picture("api/image/2/0/difference");
    assert!(difference.iter().all(|pixel| pixel[..3].iter().any(|part| *part >= 64)));

    // The copy to tiles: the same pixels, though a row of a tile has 512 bytes.
    assert_eq!(picture("api/image/3/0/before"), vec![[0, 0, 0, 255]; 12]);
    assert_eq!(picture("api/image/3/0/after"), copied);
    assert_eq!(picture("api/thumbnail/3"), copied);
    assert_eq!(page.json("api/look/3")["targets"][0]["changed"], 12);
    assert_eq!(page.get("api/history/1/0/0/0").0, 404);
    assert_eq!(page.get("api/heat/1/overdraw").0, 404);
    assert_eq!(page.get("api/mesh/1").0, 404);
}

/// Oracle: the formula of the demo's picture.
#[test]
fn the_image_of_a_dispatch() {
    let directory = tempdir().unwrap();
    fill_capture(directory.path(), |_| {});
    let page = open(directory.path());
    let expected = fill_picture();
    let look = page.json("api/look/1");
    assert_eq!(look["complete"], true);
    assert_eq!(look["buffers"], json!([]));
    let target = &look["targets"][0];
    assert_eq!(
        json!([target["binding"], target["format"], target["width"], target["height"]]),
        json!([0, "R8G8B8A8_UNORM", 256, 256])
    );
    assert_eq!(target["changed"], 256 * 256, "no pixel of the formula is 0");
    assert!(page.picture("api/image/1/0/after") == (expected.clone(), [256, 256]));
    let before = pixels(&page.picture("api/image/1/0/before").0);
    assert!(before.iter().all(|pixel| *pixel == [0, 0, 0, 255]));
    let value = page.json("api/value/1/0/77/200");
    let hex: String = fill::pixel(77, 200).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(value["before"]["bytes"], "00000000");
    assert_eq!(value["after"]["bytes"], hex.as_str());
    // Every third pixel of 256.
    let (small, size) = page.picture("api/thumbnail/1");
    assert_eq!(size, [86, 86]);
    for (number, pixel) in pixels(&small).iter().enumerate() {
        let (x, y) = (number as u32 % 86 * 3, number as u32 / 86 * 3);
        assert_eq!(*pixel, fill::pixel(x, y));
    }
}

/// Writes 32 bytes from byte 32 of row 1 of surface 0 on, as a media block.
const BLOCK: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud   0:ud
    (W) mov (1|M0)   r10.0<1>:ud   32:ud                    // X in bytes
    (W) mov (1|M0)   r10.1<1>:ud   1:ud                     // Y
    (W) mov (1|M0)   r10.2<1>:ud   31:ud                    // 32 bytes of one row
    (W) mov (8|M0)   r11.0<1>:ud   0x99999999:ud
    (W) send (8|M0)  null  r10  Msd1wMb {
        header_present: true, message_length: 2, binding_table_index: 0,
    }
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// Writes 8 pixels of row 1 of surface 0 with a typed message: red, half green, no blue.
const TYPED: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud   0:ud
    (W) mov (1|M0)   r10.7<1>:ud   255:ud                   // mask of pixels
    (W) mov (8|M0)   r20.0<1>:w    0x76543210:v
    (W) mov (8|M0)   r11.0<1>:ud   r20.0<8;8,1>:uw          // U
    (W) mov (8|M0)   r12.0<1>:ud   1:ud                     // V
    (W) mov (8|M0)   r13.0<1>:f    1.0:f
    (W) mov (8|M0)   r14.0<1>:f    0.5:f
    (W) mov (8|M0)   r15.0<1>:f    0.0:f
    (W) mov (8|M0)   r16.0<1>:f    1.0:f
    (W) send (8|M0)  null  r10  Msd1Ts {
        message_type: MT1W_TS, header_present: true, message_length: 7, slot_group: SG8L,
        binding_table_index: 0,
    }
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// A capture of one dispatch with an image of a page at binding table index 0.
fn image_capture(kernel: &[u32], image: &Surface) -> TempDir {
    let target = Buffer::new("target", 0x100_0000, 4096).unwrap();
    let mut heaps = Heaps::new(0x20_0000).unwrap();
    let surface = heaps.surface(&target, image).unwrap();
    let dispatch = Dispatch { surfaces: vec![surface], ..Dispatch::new(kernel) };
    let batch = Batch::<Render>::new("batch", 0x10_0000, 4096).unwrap();
    let mut batch = batch.select_gpgpu().unwrap();
    batch.emit(&heaps.bases(&batch).unwrap()).unwrap();
    dispatch.emit(&mut batch, &mut heaps).unwrap();
    let buffers = heaps.finish().into_iter().chain([target]);
    capture(&batch.finish().unwrap().submit(buffers).unwrap())
}

/// Media blocks take the width as a number of dwords: 16 mean 64 pixels of 8 bits. Oracle: the
/// kernel.
#[test]
fn the_width_of_media_blocks() {
    let image = Surface { pitch: 64, ..Surface::image(SurfaceFormat::R8_UNORM, 16, 4) };
    let directory = image_capture(BLOCK, &image);
    let page = open(directory.path());
    let look = page.json("api/look/1");
    assert_eq!(look["buffers"], json!([]));
    let target = &look["targets"][0];
    assert_eq!(json!([target["width"], target["height"], target["changed"]]), json!([64, 4, 32]));
    let after = pixels(&page.picture("api/image/1/0/after").0);
    for (number, pixel) in after.iter().enumerate() {
        let is_written = (64 + 32..128).contains(&number);
        let grey = if is_written { 0x99 } else { 0 };
        assert_eq!(*pixel, [grey, grey, grey, 255], "{number}");
    }
    assert!(pixels(&page.picture("api/thumbnail/1").0) == after);
}

/// Oracle: the kernel. The values of the page do not depend on the order of bytes in Y tiles.
#[test]
fn typed_writes_to_tiles() {
    let image = Surface {
        pitch: 128,
        tiling: TileMode::YMAJOR,
        ..Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 8, 3)
    };
    let directory = image_capture(TYPED, &image);
    let page = open(directory.path());
    let look = page.json("api/look/1");
    assert_eq!((&look["buffers"], &look["targets"][0]["changed"]), (&json!([]), &json!(8)));
    let after = pixels(&page.picture("api/image/1/0/after").0);
    let [black, written] = [[0, 0, 0, 255], [255, 128, 0, 255]];
    assert_eq!(after, [[black; 8], [written; 8], [black; 8]].concat());
    assert_eq!(page.json("api/value/1/0/7/1")["after"]["bytes"], "ff8000ff");
    assert_eq!(pixels(&page.picture("api/thumbnail/1").0), after);
}

/// Writes 32 bytes to a buffer at binding table index 1 from byte 32 on, and 32 bytes to memory
/// without a surface.
const WRITER: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud   0:ud
    (W) mov (1|M0)   r10.2<1>:ud   2:ud                     // offset in owords
    (W) mov (8|M0)   r11.0<1>:ud   0x11223344:ud
    (W) send (8|M0)  null  r10  Msd0wOwb {
        header_present: true, message_length: 2, data_blocks: OW2, binding_table_index: 1,
    }
    (W) mov (1|M0)   r10.2<1>:ud   0:ud
    (W) mov (1|M0)   r10.5<1>:ud   0x3000000:ud             // base address
    (W) mov (8|M0)   r11.0<1>:ud   0xaabbccdd:ud
    (W) send (8|M0)  null  r10  Msd0wOwb {
        header_present: true, message_length: 2, data_blocks: OW2, binding_table_index: 255,
    }
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// Oracle: the kernel. The third dword that it writes to the buffer already has its value.
#[test]
fn the_buffers_of_a_dispatch() {
    let mut values = [0u32; 64];
    values[8 + 2] = 0x1122_3344;
    let unused = Buffer::new("unused", 0x100_0000, 4096).unwrap();
    let written = Buffer::with_values("written", 0x200_0000, &values).unwrap();
    let memory = Buffer::new("memory", 0x300_0000, 4096).unwrap();
    let mut heaps = Heaps::new(0x20_0000).unwrap();
    let surfaces = [&unused, &written].map(|buffer| heaps.surface(buffer, &Surface::raw(256)));
    let dispatch =
        Dispatch { surfaces: surfaces.map(Result::unwrap).to_vec(), ..Dispatch::new(WRITER) };
    let batch = Batch::<Render>::new("batch", 0x10_0000, 4096).unwrap();
    let mut batch = batch.select_gpgpu().unwrap();
    batch.emit(&heaps.bases(&batch).unwrap()).unwrap();
    for _ in 0..2 {
        dispatch.emit(&mut batch, &mut heaps).unwrap();
    }
    let buffers = heaps.finish().into_iter().chain([unused, written, memory]);
    let directory = capture(&batch.finish().unwrap().submit(buffers).unwrap());
    let page = open(directory.path());

    let look = page.json("api/look/1");
    assert_eq!(look["complete"], true);
    assert_eq!(look["targets"], json!([]));
    let buffers = look["buffers"].as_array().unwrap();
    assert_eq!(buffers.len(), 2, "{look:#}");
    assert_eq!(
        buffers[0],
        json!({
            "binding": null,
            "kind": "memory",
            "format": null,
            "address": null,
            "extent": ["0x3000000", "0x3000020"],
            "written": 32,
            "changed": 32,
            "count": 1,
            "cut": false,
            "runs": [{
                "address": "0x3000000",
                "bytes": 32,
                "before": "00000000000000000000000000000000",
                "after": "ddccbbaaddccbbaaddccbbaaddccbbaa",
            }],
        })
    );
    let buffer = &buffers[1];
    assert_eq!(
        json!([buffer["binding"], buffer["kind"], buffer["format"], buffer["address"]]),
        json!([1, "buffer", "RAW", "0x2000000"])
    );
    assert_eq!(
        json!([buffer["extent"], buffer["written"], buffer["changed"], buffer["count"]]),
        json!([["0x2000020", "0x2000040"], 32, 28, 2])
    );
    assert_eq!(
        buffer["runs"],
        json!([
            {
                "address": "0x2000020",
                "bytes": 8,
                "before": "0000000000000000",
                "after": "4433221144332211",
            },
            {
                "address": "0x200002c",
                "bytes": 20,
                "before": "00000000000000000000000000000000",
                "after": "44332211443322114433221144332211",
            },
        ])
    );
    // The second dispatch writes the same again.
    let look = page.json("api/look/2");
    assert_eq!(look["complete"], true);
    for buffer in look["buffers"].as_array().unwrap() {
        assert_eq!(
            json!([buffer["written"], buffer["changed"], buffer["runs"]]),
            json!([32, 0, []])
        );
    }
    assert_eq!(page.get("api/thumbnail/1").0, 404);
}
