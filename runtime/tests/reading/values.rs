//! The meaning of the bits of each class of field, computed by hand.

use crate::reading::{END, of_dwords};
use genxml::decode::{Options, Value};
use genxml::engine::EngineId;

fn text(engine: EngineId, dwords: &[u32]) -> String {
    let mut out = Vec::new();
    let options = Options { offsets: false, ..Options::default() };
    genxml::decode::raw(engine, 0x1000, dwords, &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Fixed point without sign: 3DSTATE_SF (2a p.211-215) has the line width as 3.7 bits in dword 2
/// 27:18 and the point width as 8.3 bits in dword 3 10:0. 0x50 / 128 = 0.625; 0x1c / 8 = 3.5.
#[test]
fn unsigned_fixed_point() {
    let dwords = [0x7813_0002, 0, 0x50 << 18, 0x1c, END];
    let seen = of_dwords(EngineId::Render, &dwords);
    assert_eq!(seen[0].value("Line Width"), Value::Float(0.625));
    assert_eq!(seen[0].value("Point Width"), Value::Float(3.5));
    let text = text(EngineId::Render, &dwords);
    assert!(
        text.contains("Line Width: 0.625 pixels\n") && text.contains("Point Width: 3.5 pixels\n"),
        "{text}"
    );
}

/// A float: 3DSTATE_RASTER (2a p.174-179) has the depth offset's constant, scale and clamp in
/// dwords 2 to 4.
#[test]
fn floats() {
    let dwords = [0x7850_0003, 0, 0xbf80_0000, 0x4020_0000, 0, END];
    let seen = of_dwords(EngineId::Render, &dwords);
    assert_eq!(seen[0].name, "3DSTATE_RASTER");
    assert_eq!(seen[0].value("Global Depth Offset Constant"), Value::Float(-1.0));
    assert_eq!(seen[0].value("Global Depth Offset Scale"), Value::Float(2.5));
}

/// Stored minus one: 3DSTATE_SO_BUFFER (2a p.216-218) has its size in dwords minus one in dword 4
/// 29:0. Bits 47:2 of an address are at their own positions.
#[test]
fn counts_that_are_stored_less_one() {
    let dwords = [0x7918_0006, 1 << 31 | 2 << 29, 0x0012_3454, 0x7fff, 255, 0, 0, 0, END];
    let seen = of_dwords(EngineId::Render, &dwords);
    assert_eq!(seen[0].value("Surface Size"), Value::Uint(256));
    assert_eq!(seen[0].value("SO Buffer Index"), Value::Uint(2));
    assert_eq!(seen[0].value("SO Buffer Enable"), Value::Bool(true));
    let Value::Address { value, absolute, .. } = seen[0].value("Surface Base Address") else {
        panic!()
    };
    assert_eq!((value, absolute), (0x7fff_0012_3454, Some(0x7fff_0012_3454)));
    assert!(text(EngineId::Render, &dwords).contains("Surface Size: 256 dwords\n"));
}

/// Stored divided by a power of two: 3DSTATE_GATHER_CONSTANT_VS (2a p.108-110) has bits 22:6 of an
/// offset in bytes.
#[test]
fn numbers_that_are_stored_shifted() {
    let seen = of_dwords(EngineId::Render, &[0x7834_0001, 0, 5 << 6, END]);
    assert_eq!(seen[0].name, "3DSTATE_GATHER_CONSTANT_VS");
    assert_eq!(seen[0].value("Gather Buffer Offset"), Value::Uint(320));
}

/// Two's complement: 3DPRIMITIVE's base vertex, and the scoreboard's deltas of four bits in
/// MEDIA_VFE_STATE (2a p.509-516: dword 7 has X in 3:0 and Y in 7:4 for the first of eight).
#[test]
fn signed_integers() {
    let seen = of_dwords(EngineId::Render, &[0x7b00_0005, 0, 0, 0, 0, 0, 0x8000_0000, END]);
    assert_eq!(seen[0].value("Base Vertex Location"), Value::Int(i64::from(i32::MIN)));
    let seen = of_dwords(EngineId::Render, &[0x7000_0007, 0, 0, 0, 0, 0, 0, 0x8f, 0, END]);
    assert_eq!(seen[0].value("Scoreboard 0 Delta X"), Value::Int(-1));
    assert_eq!(seen[0].value("Scoreboard 0 Delta Y"), Value::Int(-8));
}

/// Names, booleans, and bits that should not be set: 3DSTATE_INDEX_BUFFER (2a p.136) has the format
/// in dword 1 9:8, where 3 is undefined, and bits 31:10 must be zero.
#[test]
fn names_and_what_has_none() {
    use genxml::decode::Issue;
    let seen = of_dwords(EngineId::Render, &[0x780a_0003, 1 << 8, 0, 0, 64, END]);
    assert_eq!(seen[0].value("Index Format"), Value::Enum { name: Some("WORD") });
    let seen = of_dwords(EngineId::Render, &[0x780a_0003, 3 << 8 | 1 << 31, 0, 0, 64, END]);
    let issue =
        |name| seen[0].items.iter().find(|item| item.name == name).and_then(|item| item.issue);
    assert_eq!(issue("Index Format"), Some(Issue::UnknownValue));
    assert_eq!(issue("Reserved"), Some(Issue::MustBeZero));
}

/// Offsets count from the current base: 3DSTATE_CC_STATE_POINTERS (2a p.32) has bits 31:6 of an
/// offset from the dynamic state base (STATE_BASE_ADDRESS dword 6).
#[test]
fn offsets_count_from_their_base() {
    let mut dwords = vec![0x6101_000e];
    dwords.extend([0; 15]);
    dwords[6] = 0x0030_0000 | 1;
    dwords.extend([0x780e_0000, 0x1240 | 1, END]);
    let seen = of_dwords(EngineId::Render, &dwords);
    let Value::Address { value, absolute, .. } = seen[1].value("Color Calc State Pointer") else {
        panic!()
    };
    assert_eq!((value, absolute), (0x1240, Some(0x0030_1240)));
}

/// Blitter pitches count bytes, but dwords for tiled surfaces (2d p.49, p.54). XY_SRC_COPY_BLT has
/// the tiling flag of the destination in dword 0 bit 11, that of the source in bit 15, and the
/// pitches in dwords 1 and 7.
#[test]
fn pitches_of_tiled_surfaces_are_in_dwords() {
    let units = |flags: u32| {
        let dwords = [0x54f0_0008 | flags, 0x03cc_0080, 0, 0x0010_0010, 0, 0, 0, 0x40, 0, 0, END];
        let text = text(EngineId::Blitter, &dwords);
        let unit = |name: &str| {
            let at = text.find(name).unwrap_or_else(|| panic!("no {name}: {text}"));
            text[at + name.len()..].split_whitespace().take(2).collect::<Vec<_>>().join(" ")
        };
        (unit("Destination Pitch:"), unit("Source Pitch:"))
    };
    assert_eq!(units(0), ("128 bytes".into(), "64 bytes".into()));
    assert_eq!(units(1 << 11), ("128 dwords".into(), "64 bytes".into()));
    assert_eq!(units(1 << 15), ("128 bytes".into(), "64 dwords".into()));
}
