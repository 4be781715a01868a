//! The examples do what they say.

#[expect(dead_code, reason = "`main` prints")]
#[path = "../examples/decode_dump.rs"]
mod decode_dump;
#[expect(dead_code, reason = "`main` prints")]
#[path = "../examples/state_cache.rs"]
mod state_cache;
#[expect(dead_code, reason = "`main` prints")]
#[path = "../examples/triangle.rs"]
mod triangle;

use genxml::core::Fixed;
use genxml::core::rule::Severity;
use genxml::gen8::RenderPacket;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::render3d_raster::ThreeDStateRaster;

/// Oracle: the comments beside the dwords of the dump.
#[test]
fn decode_dump() {
    let dump = include_str!("../../tests/cases/decode/media_object.hex");
    let text = decode_dump::decoded(dump).unwrap();
    for name in
        ["MEDIA_OBJECT", "STATE_BASE_ADDRESS", "INTERFACE_DESCRIPTOR_DATA", "RENDER_SURFACE_STATE"]
    {
        assert!(text.contains(name), "{name}");
    }
    assert!(decode_dump::decoded("").is_err());
    assert!(decode_dump::decoded("render 0x1000 zzz").is_err());
}

/// Oracle: the rules of the manual, and the names of what a draw needs.
#[test]
fn triangle() {
    let submission = triangle::submission().unwrap();
    let errors: Vec<String> = triangle::findings(&submission)
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.to_string())
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let text = triangle::decoded(&submission).unwrap();
    // What lies in memory is found through the bases.
    for name in ["3DPRIMITIVE", "BLEND_STATE", "RENDER_SURFACE_STATE", "CC_VIEWPORT"] {
        assert!(text.contains(name), "{name} is missing in\n{text}");
    }
}

/// Oracle: the packets that make the same in one go, and Mesa's way, an `or`.
#[test]
fn state_cache() {
    let dwords = state_cache::two_draws().unwrap();
    let (ps, raster) = (ThreeDStatePs::DWORDS, ThreeDStateRaster::DWORDS);
    assert_eq!(dwords.len(), 2 * (ps + raster));
    let (first, second) = dwords.split_at(ps + raster);
    assert_eq!(first[..ps], second[..ps]);
    let read = ThreeDStatePs::read(first).unwrap();
    assert_eq!(read.kernel_start_pointer_0.get(), 0x1240);
    assert!(read._16_pixel_dispatch_enable && !read._8_pixel_dispatch_enable);
    assert_eq!(read.sampler_count.bits(), 1);
    let [off, on] = [first, second].map(|draw| ThreeDStateRaster::read(&draw[ps..]).unwrap());
    assert!(!off.scissor_rectangle_enable && on.scissor_rectangle_enable);
    assert_eq!(off.cull_mode, on.cull_mode);
    let or: Vec<u32> = ThreeDStateRaster { cull_mode: on.cull_mode, ..ThreeDStateRaster::new() }
        .pack()
        .iter()
        .zip(
            ThreeDStateRaster { scissor_rectangle_enable: true, ..ThreeDStateRaster::new() }.pack(),
        )
        .map(|(fixed, draw)| fixed | draw)
        .collect();
    assert_eq!(second[ps..], or);
    assert!(RenderPacket::parse(first).is_ok());
    assert_eq!(
        state_cache::overlap().unwrap().to_string(),
        "3DSTATE_PS: both parts set 8 Pixel Dispatch Enable (dw6 0:0)"
    );
}
