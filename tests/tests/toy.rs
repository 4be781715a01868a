//! The code generated from `toy/toy.xml`, feature by feature. Oracle: dwords written by hand from
//! the XML.

use genxml::core::reflect::{Expr, Field};
use genxml::core::{
    Entries, Fixed, Instruction, PackError, Packed, ParseError, U, UnpackError, lit,
};
use genxml::packet;
use genxml_tests::toy::toy::*;
use genxml_tests::toy::{BlitterPacket, CONTAINERS, ENUMS, RenderPacket};

/// `Debug` prints the names of the XML with decoded values, without opcode, length and reserved
/// bits.
#[test]
fn debug() {
    let small = Small { shape: Shape::NONE, level: 16u8.try_into().unwrap() };
    assert_eq!(format!("{small:?}"), "SMALL { Shape: NONE (7), Level: 16 }");
    let text = format!("{:?}", Scalars::new());
    for part in [
        "SCALARS { Small: SMALL { Shape: LINE (1), Level: 1 }, Signed: -3, Crossing: 0, Bool: true, Minus One: ",
        "Shifted: 256, Log: 8, U Fixed: 0.5, S Fixed: -0.25, Nonzero: 1, Double: 0.5, Low Bits: 0, Graphics: 0x0",
        "Mode: off (0)",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("Ones") && !text.contains("Anything"), "{text}");
}

#[test]
fn scalars() {
    let scalars = packet! {
        Scalars {
            small: Small { shape: Shape::NONE, level: 16 },
            signed: -1,
            crossing: 0x1555,
            minus_one: 40,
            shifted: 1024,
            log: 128,
            u_fixed: 15.75,
            s_fixed: -8,
            nonzero: 9,
            double: -2,
            graphics: 0x8000_0000_1000,
            low_bits: 0xabc,
            mode: ScalarsMode::HALF_RATE,
            general: 0x1234_5678_9c00,
            dynamic: 0xffff_ffc0,
            mmio: 0x1c,
            two: 2,
            kernel: 0x40,
            type_: 0x3f,
            ..
        }
    };
    let expected = [
        0x5000_0fff, // small: shape 7, level 15 << 3; signed 0x1f << 7; crossing low 4 bits 5 << 28
        // crossing 0x155; bool << 9; ones << 10; minus one 39 << 16; shifted 8 << 22; log 7 << 29
        0x155 | 1 << 9 | 7 << 10 | 39 << 16 | 8 << 22 | 7 << 29,
        0xfc0 | 0x800 << 12 | 9 << 24, // 15.75 * 256; -8 * 256 in 12 bits
        0,
        0xc000_0000,
        0x1abc, // the address' bit 12, and the low bits
        0xffff_8000,
        0x5678_9c01,
        0x1234,
        0xffff_ffc0 | 0x1c | 2,
        0x7f,
        0,
    ];
    assert_eq!(scalars.pack(), expected);
    assert_eq!(Scalars::unpack(&expected), Ok(scalars));
    // A reserved field is ignored; everything else is checked.
    let mut noise = expected;
    noise[1] |= 7 << 13;
    assert_eq!(Scalars::unpack(&noise), Ok(scalars));
    for (dword, bits, field, start) in [
        (0, 1 << 12, "Zeros", 12),
        (1, 1 << 10, "Ones", 42),
        (8, 1 << 31, "Rest", 272),
        (9, 1 << 5, "Dynamic", 293),
    ] {
        let mut wrong = expected;
        wrong[dword] ^= bits;
        match Scalars::unpack(&wrong) {
            Err(UnpackError::Fixed { container: "SCALARS", field: f, start: s, .. }) => {
                assert_eq!((f, s), (field, start))
            }
            other => panic!("{field}: {other:?}"),
        }
    }
    let mut wrong = expected;
    wrong[1] |= 63 << 16;
    let error =
        UnpackError::Range { container: "SCALARS", field: "Minus One", start: 48, found: 63 };
    assert_eq!(Scalars::unpack(&wrong), Err(error));
    wrong = expected;
    wrong[2] &= 0xff_ffff;
    assert!(matches!(Scalars::unpack(&wrong), Err(UnpackError::Range { field: "Nonzero", .. })));
}

#[test]
fn defaults() {
    let scalars = Scalars::new();
    assert_eq!((scalars.signed.get(), scalars.shifted.get(), scalars.log.get()), (-3, 256, 8));
    assert_eq!((scalars.u_fixed.get(), scalars.s_fixed.get(), scalars.double), (0.5, -0.25, 0.5));
    assert_eq!(
        (scalars.small.shape, scalars.mode, scalars.bool),
        (Shape::LINE, ScalarsMode::OFF, true)
    );
    assert_eq!(Alternatives::new().extent, AlternativesExtent::Line { length: lit!(3) });
}

/// A range that includes negative numbers, in a nested structure that is read alone.
#[test]
fn signed_ranges() {
    let low = |value: i32| Wide::unpack(&[value as u32 & 0xffff, 0]).map(|wide| wide.low.get());
    assert_eq!((low(-5), low(100)), (Ok(-5), Ok(100)));
    for value in [-6, 101] {
        assert!(
            matches!(low(value), Err(UnpackError::Range { container: "WIDE", field: "Low", .. })),
            "{value}"
        );
    }
}

#[test]
fn alternatives() {
    let surface = AlternativesExtent::Surface { start: lit!(4), height: lit!(-1) };
    let small = Small { shape: Shape::POINT, level: lit!(2) };
    let tail = AlternativesTail::Parts { small, more: lit!(1) };
    let value =
        packet! { Alternatives { shape: Shape::SURFACE_2D, depth: 4, extent: surface, tail } };
    assert_eq!(value.pack(), [2 | 4 << 3, 3 | 0x3fff << 8, 1 << 3 | 1 << 7]);
    assert_eq!(Alternatives::unpack(&value.pack()), Ok(value));
    // Depth % 4 + 1 == 2 makes the last dword a float; shape 5 is a surface too; shapes 0 and 7
    // have no extent.
    let float = Alternatives::unpack_lossy(&[5 | 5 << 3, 0, 1.5f32.to_bits()]);
    assert_eq!(float.tail, AlternativesTail::Float { all: 1.5 });
    assert!(matches!(float.extent, AlternativesExtent::Surface { .. }));
    assert_eq!(Alternatives::unpack_lossy(&[7, 9, 0]).extent, AlternativesExtent::Absent);
    assert_eq!(
        Alternatives::unpack(&[7, 0x90, 0]),
        Err(UnpackError::Reserved { container: "ALTERNATIVES", dword: 1, bits: 0x90 })
    );
    assert!(matches!(
        Alternatives::unpack(&[1, 1 << 16, 0]),
        Err(UnpackError::Fixed { field: "Rest", start: 48, .. })
    ));
}

#[test]
fn arrays() {
    let mut value = Arrays::new();
    value.buffer[2] = lit!(0x10000);
    value.output[1].channel[3] =
        ArraysOutputChannel { select: Shape::LINE, write: false, weight: lit!(float - 0.5) };
    value.grid[2][3][1] = lit!(0xa);
    let dwords = value.pack();
    // A channel's default is its write bit; an element has its must-be-one at bit 48.
    let default = 8 | 8 << 12 | 8 << 24;
    let mut expected = [0u32; 12];
    expected[3] = 0xffff;
    expected[5..9].copy_from_slice(&[
        default,
        1 << 16 | 8 << 4,
        default,
        1 << 16 | (1 | 0xe0 << 4) << 4,
    ]);
    expected[11] = 0xa000_0000;
    assert_eq!(dwords, expected);
    assert_eq!(Arrays::unpack(&dwords), Ok(value));
    let mut wrong = dwords;
    wrong[8] &= !(1 << 16);
    let error =
        UnpackError::Fixed { container: "ARRAYS", field: "One", start: 272, expected: 1, found: 0 };
    assert_eq!(Arrays::unpack(&wrong), Err(error));
}

#[test]
fn fixed_packets() {
    let fixed = packet! { ToyFixed { flag: true, ..ToyFixed::new(lit!(0x1_0000_0004)) } };
    assert_eq!(fixed.pack(), [0x6123_0102, 4, 1, 0xdead_beef]);
    assert_eq!(ToyShort::new().pack(), [0x0500_0000]);
    let mut out = [0; 3];
    let error = PackError::Space { packet: "TOY_FIXED", needed: 4, available: 3 };
    assert_eq!(fixed.pack_into(&mut out), Err(error));
    assert_eq!(
        ToyFixed::read(&[0; 2]),
        Err(UnpackError::Truncated { container: "TOY_FIXED", needed: 4, available: 2 })
    );
    assert_eq!(ToyFixed::read_lossy(&[0, 8]).where_.get(), 8);
}

#[test]
fn tails() {
    let pair = |register, first, second| ThreeDToyTablePair { register, half: [first, second] };
    let pairs = [pair(lit!(0x2358), lit!(-1), lit!(2)), pair(lit!(4), lit!(0), lit!(0))];
    let table = ThreeDToyTable { first: lit!(7), pair: Entries::from(&pairs) };
    let mut out = [u32::MAX; 8];
    assert_eq!((table.dwords(), table.pack_into(&mut out)), (6, Ok(6)));
    assert_eq!(out, [0x6124_0004, 7, 0x2358, 0x2_ffff, 4, 0, u32::MAX, u32::MAX]);
    let read = ThreeDToyTable::unpack(&out).expect("well formed");
    assert_eq!((read, read.pair.len(), read.pair.get(1)), (table, 2, Some(pairs[1])));
    assert_eq!(read.pair.get(2), None);
    // One dword too many for complete pairs; a packet that is longer than the dwords.
    out[0] += 1;
    assert!(matches!(
        ThreeDToyTable::unpack(&out),
        Err(UnpackError::Fixed { field: "DWord Length", expected: 4, found: 5, .. })
    ));
    assert!(matches!(
        ThreeDToyTable::unpack(&out[..4]),
        Err(UnpackError::Truncated { needed: 7, available: 4, .. })
    ));
    assert_eq!(ThreeDToyTable::unpack_lossy(&out[..4]).pair.len(), 1);
    // A reserved bit of the second element is set.
    let wrong = [0x6124_0004, 7, 0x2358, 0, 1, 0];
    assert!(matches!(
        ThreeDToyTable::unpack(&wrong),
        Err(UnpackError::Fixed { field: "Low", start: 128, .. })
    ));
    // 402 dwords are too many for a length field of 8 bits.
    let many = [pairs[0]; 200];
    let long = ThreeDToyTable { first: lit!(0), pair: Entries::from(&many) };
    let error = PackError::Length { packet: "3DTOY_TABLE", dwords: 402, max: 257 };
    assert_eq!(long.pack_into(&mut [0; 500]), Err(error));
}

#[test]
fn packets_of_engines() {
    let stream = [0x0500_0007, 0x6125_0002, 0xa, 0xb, 0x6123_0002, 0x1000, 0, 1, 0x6127_0001, 2, 3];
    let mut at = 0;
    let mut names = Vec::new();
    while at < stream.len() {
        let (packet, length) = RenderPacket::parse(&stream[at..]).expect("a packet");
        names.push(packet.info().name);
        assert_eq!(RenderPacket::length(stream[at]), Some(length));
        match (at, packet) {
            (0, RenderPacket::ToyShort(short)) => assert_eq!(short.unpack_lossy().data.get(), 7),
            (1, RenderPacket::ToyData(data)) => {
                let data = data.unpack_lossy();
                assert_eq!(
                    data.data.iter().map(|entry| entry.get()).collect::<Vec<_>>(),
                    [0xa, 0xb]
                )
            }
            (4, RenderPacket::ToyFixed(fixed)) => {
                assert_eq!(fixed.unpack_lossy().where_.get(), 0x1000)
            }
            (8, RenderPacket::Partial(view)) => assert_eq!(view.dwords(), [0x6127_0001, 2, 3]),
            other => panic!("{other:?}"),
        }
        at += length;
    }
    assert_eq!(names, ["TOY_SHORT", "TOY_DATA", "TOY_FIXED", "TOY_HEADER"]);
    assert_eq!(
        BlitterPacket::parse(&[0x0500_0007]),
        Err(ParseError::Unknown { header: 0x0500_0007 })
    );
    assert!(matches!(
        BlitterPacket::parse(&[0x6126_0001, 0x40]),
        Ok((BlitterPacket::ToyPointers(_), 2))
    ));
    assert!(matches!(
        RenderPacket::parse(&[0x6123_0003, 0, 0, 0, 0]),
        Err(ParseError::Unpack(UnpackError::Fixed {
            field: "DWord Length",
            expected: 2,
            found: 3,
            ..
        }))
    ));
    assert!(matches!(
        RenderPacket::parse(&[0x6123_0002, 0]),
        Err(ParseError::Unpack(UnpackError::Truncated { needed: 4, available: 2, .. }))
    ));
    assert!(RenderPacket::parse(&[]).is_err());
}

#[test]
fn registers() {
    assert_eq!((ToyStatus::OFFSET, ToyMode::OFFSET), (0x2358, 0x7000));
    // By default, the write enables of all fields are set.
    assert_eq!(packet! { ToyMode { fast: true, level: 2, .. } }.pack(), [0x000f_0005]);
    assert_eq!(packet! { ToyMode { fast: true, mask: 1, .. } }.pack(), [0x0001_000b]);
}

#[test]
fn enumerations() {
    assert_eq!((Shape::SURFACE_2D.bits(), Shape::SURFACE_2D.name()), (2, Some("SURFACE_2D")));
    let unknown = Shape::from_bits(5);
    assert_eq!((unknown.bits(), unknown.name(), format!("{unknown:?}").as_str()), (5, None, "5"));
    assert_eq!(format!("{:?}", Shape::LINE), "LINE");
    assert!(Shape::new(8).is_err());
    assert_eq!(ControlIndex::ALIGN16.expansion(), Some(1 << 17 | 1));
}

#[test]
fn reflection() {
    assert!(
        CONTAINERS.iter().any(|info| info.name == "SCALARS"
            && info.rust_name == "Scalars"
            && info.unit == "toy")
    );
    assert!(ENUMS.iter().any(|info| info.name_of(7) == Some("NONE")));
    let info = <Alternatives as Packed>::INFO;
    let field = |name: &str| -> &Field {
        info.fields.iter().find(|field| field.name == name).expect("a field")
    };
    let exists: &Expr = field("Height").exists_if.expect("a condition");
    assert_eq!(
        [0u32, 1, 2, 3, 6, 7].map(|shape| exists.holds(&[shape, 0, 0], 0)),
        [false, false, true, true, true, false]
    );
    assert_eq!(<Scalars as Packed>::INFO.dwords(), 12);
}

/// An enumeration that no field uses is as wide as its values.
#[test]
fn lone_enumerations_hold_their_values() {
    assert_eq!(
        (Lone::BITS, Lone::from_bits(5), Lone::new(7).map(Lone::bits)),
        (3, Lone::LAST, Ok(7))
    );
    assert!(Lone::new(8).is_err());
    assert_eq!((Shape::BITS, Small::BITS), (3, 7));
}

/// Bits after the last bit of a structure must be zero when it is read alone.
#[test]
fn bits_behind_a_structure_are_refused() {
    let dwords = Small::new().pack();
    assert_eq!(Small::unpack(&dwords), Ok(Small::new()));
    assert!(matches!(
        Small::unpack(&[dwords[0] | 0x8000_0080]),
        Err(UnpackError::Reserved { container: "SMALL", dword: 0, bits: 0x8000_0080 })
    ));
    assert!(Small::unpack_lossy(&[dwords[0] | 0x80]) == Small::new());
}

/// Must-be-one bits are written inside alternatives and elements too. An alternative may have no
/// field.
#[test]
fn fixed_bits_of_alternatives() {
    let mark = [FixedBitsMark { level: lit!(1) }; 4];
    for (mode, body, dword) in [
        (0, FixedBitsBody::Plain { data: lit!(9) }, 9),
        (1, FixedBitsBody::Tagged { tag: lit!(5) }, 0xff00_0005),
        (2, FixedBitsBody::Empty {}, 0),
        (3, FixedBitsBody::Full {}, 0xffff_ffff),
    ] {
        let bits = packet! { FixedBits { mode: U::from_bits(mode), body, mark, .. } };
        let expected = [mode as u32, dword, 0x8181_8181];
        assert_eq!((bits.pack(), FixedBits::unpack(&expected)), (expected, Ok(bits)));
        assert_eq!(FixedBits::unpack(&expected).map(|bits| bits.body), Ok(body));
        for (at, flip) in [(1, 1 << 31), (2, 1 << 15)] {
            let mut wrong = expected;
            wrong[at] ^= flip;
            assert_eq!(
                FixedBits::unpack(&wrong).is_ok(),
                (mode, at) == (0, 1),
                "{mode} {wrong:x?}"
            );
        }
    }
    assert_eq!(FixedBits::new().pack(), [0, 9, 0x8080_8080]);
}
