//! Typed iteration. Oracle: batches that the tests build, with known positions of packets; the
//! manual's opcodes for the lengths of unknown packets.

use genxml::core::check::Check;
use genxml::core::opcodes::unknown_length;
use genxml::core::packet::{Fixed, ParseError, UnpackError};
use genxml::core::reflect::Engines;
use genxml::gen8::mi::{MiBatchBufferEnd, MiNoop, PipeControl};
use genxml::gen8::render3d_fetch::{ThreeDStateVertexElements, VertexElementState};
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::{BlitterPacket, RenderPacket, VideoPacket};
use genxml::read;
use genxml_testkit::Random;

fn batch() -> Vec<u32> {
    let mut out = Vec::new();
    out.extend(PipeControl { dc_flush_enable: true, ..Default::default() }.pack());
    out.extend(ThreeDStateVs { function_enable: true, ..Default::default() }.pack());
    let elements = [VertexElementState::default(); 2];
    let mut buffer = [0; 5];
    let packet = ThreeDStateVertexElements { element: (&elements).into() };
    packet.pack_into(&mut buffer).expect("room");
    out.extend(buffer);
    out.extend(MiNoop::default().pack());
    out.extend(MiBatchBufferEnd::default().pack());
    out
}

#[test]
fn packets_come_typed_and_in_order() {
    let batch = batch();
    let mut places = Vec::new();
    for item in RenderPacket::iter(&batch) {
        let item = item.expect("a packet");
        places.push((item.at, item.offset(), item.dwords.len()));
        assert_eq!(item.dwords, &batch[item.at..item.at + item.dwords.len()]);
        assert_eq!(item.packet.dwords(), item.dwords);
        match (item.at, item.packet) {
            (0, RenderPacket::PipeControl(packet)) => {
                assert!(packet.unpack().expect("well formed").dc_flush_enable);
                assert!(format!("{:?}", item.packet).starts_with("PIPE_CONTROL {"));
            }
            (6, RenderPacket::ThreeDStateVs(packet)) => {
                assert!(packet.unpack_lossy().function_enable)
            }
            (15, RenderPacket::ThreeDStateVertexElements(packet)) => {
                assert_eq!(packet.unpack_lossy().element.len(), 2);
            }
            (20, RenderPacket::MiNoop(_)) | (21, RenderPacket::MiBatchBufferEnd(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(places, [(0, 0, 6), (6, 24, 9), (15, 60, 5), (20, 80, 1), (21, 84, 1)]);
}

/// Each unknown packet is reported with its position, and iteration continues after it.
#[test]
fn what_is_no_packet() {
    let mut dwords = batch();
    // An unknown 3D opcode of three dwords, and a 3DSTATE_VS that says it has ten.
    dwords.splice(6..6, [0x78ff_0001, 1, 2]);
    dwords.splice(9..9, [0x7810_0008, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let errors: Vec<_> = RenderPacket::iter(&dwords).filter_map(Result::err).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert_eq!((errors[0].at, errors[0].skipped), (6, 3));
    assert_eq!(errors[0].error, ParseError::Unknown { header: 0x78ff_0001 });
    assert_eq!(
        errors[0].to_string(),
        "batch +0x18: no instruction of this engine starts with 0x78ff0001; 3 dwords skipped"
    );
    assert_eq!((errors[1].at, errors[1].skipped), (9, 10));
    assert!(matches!(
        errors[1].error,
        ParseError::Unpack(UnpackError::Fixed {
            container: "3DSTATE_VS",
            expected: 7,
            found: 8,
            ..
        })
    ));
    assert_eq!(RenderPacket::iter(&dwords).filter(Result::is_ok).count(), 5);

    // A truncated batch: the incomplete packet is dropped, and nothing follows.
    let cut = &dwords[..3];
    let items: Vec<_> = RenderPacket::iter(cut).collect();
    let [Err(error)] = &items[..] else { panic!("{items:?}") };
    assert_eq!((error.at, error.skipped), (0, 3));
    assert!(matches!(
        error.error,
        ParseError::Unpack(UnpackError::Truncated {
            container: "PIPE_CONTROL",
            needed: 6,
            available: 3
        })
    ));
    assert_eq!(RenderPacket::iter(&[]).count(), 0);
}

#[test]
fn strict_readers_look_at_every_bit() {
    // A must-be-zero bit of the second packet.
    let bit = ThreeDStateVs::CHECKS.iter().find_map(|check| match *check {
        Check::Fixed { start, value: 0, .. } if start >= 32 => Some(start),
        _ => None,
    });
    let bit = bit.expect("3DSTATE_VS has bits that must be zero");
    let mut dwords = batch();
    dwords[6 + (bit / 32) as usize] |= 1 << (bit % 32);
    assert_eq!(RenderPacket::iter(&dwords).filter(Result::is_err).count(), 0);
    let items: Vec<_> = RenderPacket::iter(&dwords).strict().collect();
    assert_eq!(items.len(), 5);
    let Err(error) = &items[1] else { panic!("{:?}", items[1]) };
    assert_eq!((error.at, error.skipped), (6, 9));
    assert!(matches!(
        error.error,
        ParseError::Unpack(UnpackError::Fixed { container: "3DSTATE_VS", start, expected: 0, .. }) if start == bit
    ));
    assert_eq!(items.iter().filter(|item| item.is_ok()).count(), 4);
}

/// With any dwords, each dword is in exactly one item, in order, and nothing panics.
#[test]
fn random_dwords_are_covered() {
    let mut random = Random::new(1);
    for round in 0..200 {
        let dwords: Vec<u32> = (0..500)
            .map(|_| match random.below(4) {
                0 => random.bits() as u32,
                1 => 0x7800_0000 | random.bits() as u32 & 0x07ff_0007,
                2 => random.bits() as u32 & 0x1f80_0007,
                _ => 0x5000_0000 | random.bits() as u32 & 0x0fff_0007,
            })
            .collect();
        macro_rules! covered {
            ($packet:ident) => {
                for strict in [false, true] {
                    let mut next = 0;
                    let items = $packet::iter(&dwords);
                    for item in if strict { items.strict() } else { items } {
                        let (at, length) = match item {
                            Ok(item) => (item.at, item.dwords.len()),
                            Err(error) => (error.at, error.skipped),
                        };
                        assert_eq!(at, next, "round {round}");
                        assert!(length > 0);
                        next += length;
                    }
                    assert_eq!(next, dwords.len());
                }
            };
        }
        covered!(RenderPacket);
        covered!(BlitterPacket);
        covered!(VideoPacket);
    }
}

/// The opcode table gives the same result as a comparison with every instruction's opcode.
#[test]
fn opcodes_are_found_as_by_comparing() {
    use genxml::core::reflect::{Container, Kind};
    fn slowly(instructions: &[&'static Container], header: u32) -> Option<&'static Container> {
        let mask = |info: &Container| match info.kind {
            Kind::Instruction { opcode_mask, opcode, .. } => (opcode_mask, opcode),
            _ => panic!("{} is not an instruction", info.name),
        };
        let matching =
            instructions.iter().copied().filter(|info| header & mask(info).0 == mask(info).1);
        matching.max_by_key(|info| mask(info).0.count_ones())
    }
    for high in 0..=0xffffu32 {
        for low in [0, 0xffff, 0x8001] {
            let header = high << 16 | low;
            assert_eq!(
                RenderPacket::find(header),
                slowly(&RenderPacket::INSTRUCTIONS, header),
                "{header:#x}"
            );
            assert_eq!(
                VideoPacket::find(header),
                slowly(&VideoPacket::INSTRUCTIONS, header),
                "{header:#x}"
            );
            assert_eq!(
                BlitterPacket::find(header),
                slowly(&BlitterPacket::INSTRUCTIONS, header),
                "{header:#x}"
            );
        }
    }
}

#[test]
fn lengths_of_the_unknown() {
    assert_eq!(unknown_length(Engines::RENDER, 0x0780_0005), 1);
    assert_eq!(unknown_length(Engines::RENDER, 0x1f80_0005), 7);
    assert_eq!(unknown_length(Engines::RENDER, 0x7fff_0003), 5);
    assert_eq!(unknown_length(Engines::VIDEO, 0x7700_1003), 5);
    assert_eq!(unknown_length(Engines::RENDER, 0x7700_1003), 0x1005);
}

#[test]
fn bytes_as_dwords() {
    let bytes = [9, 0, 0, 0, 5, 1, 2, 3, 4];
    assert_eq!(*read::dwords(&bytes[..8]).expect("two dwords"), [9, 0x0302_0105]);
    // The slice is not aligned to four bytes.
    assert_eq!(*read::dwords(&bytes[1..5]).expect("a dword"), [0x0500_0000]);
    let error = read::dwords(&bytes).expect_err("nine bytes");
    assert_eq!(
        error.to_string(),
        "9 bytes are not whole dwords: after 2 whole dwords, 1 byte is left"
    );
    assert!(read::dwords(&[]).expect("nothing").is_empty());
    assert_eq!(ThreeDStateVs::read_lossy(&[]).pack()[0], 0x7810_0007);
}
