//! The examples do what they say.

#[expect(dead_code, reason = "`main` reads the command line")]
#[path = "../examples/decode_dump.rs"]
mod decode_dump;

/// Oracle: the comments beside the dwords of the dump.
#[test]
fn decode_dump() {
    let dump = include_str!("../../tests/cases/decode/media_object.hex");
    let text = decode_dump::decoded(dump).unwrap();
    for name in ["MEDIA_OBJECT", "STATE_BASE_ADDRESS", "INTERFACE_DESCRIPTOR_DATA", "RENDER_SURFACE_STATE"] {
        assert!(text.contains(name), "{name}");
    }
    assert!(decode_dump::decoded("").is_err());
    assert!(decode_dump::decoded("render 0x1000 zzz").is_err());
}
