//! The fast check of strict readers compares whole dwords. It agrees with the table of checks,
//! which finds the reason. Oracle: `Check::all`, on packed and then damaged dwords.

use genxml::gen8::RenderPacket;
use genxml::gen8::mi::PipeControl;
use genxml_core::bits::put;
use genxml_core::check::Check;
use genxml_core::packet::{Fixed, UnpackError};
use genxml_core::reflect::{Container, Kind};
use genxml_testkit::Random;
use genxml_tests::packed;

/// PIPE_CONTROL may leave out its immediate data: its length field is 2 to 4. Oracle: that range,
/// and Linux, whose gen8_emit_pipe_control writes 6 dwords where older ones write 4 or 5.
#[test]
fn short_packets_are_read_strictly() {
    let header = 0x7a00_0000;
    let four = [header | 2, 1 << 20, 0x1000, 0];
    let whole =
        PipeControl::unpack(&[header | 4, 1 << 20, 0x1000, 0, 0, 0]).expect("as long as can be");
    for dwords in [&four[..], &[header | 2, 1 << 20, 0x1000, 0, 0x7a00_0004, 7, 7, 7]] {
        assert_eq!(
            PipeControl::read(dwords),
            Ok(whole),
            "the dwords after a packet belong to the next packet"
        );
    }
    let packet = RenderPacket::iter(&four).next().expect("a packet").expect("in order").packet;
    let RenderPacket::PipeControl(lazy) = packet else { panic!("{packet:?}") };
    assert_eq!(lazy.unpack(), Ok(whole));
    let cut = PipeControl::read(&[header | 3, 0, 0, 0]);
    assert!(matches!(cut, Err(UnpackError::Truncated { needed: 5, available: 4, .. })), "{cut:?}");
    for length in [1, 5] {
        let wrong = PipeControl::read(&[header | length, 0, 0, 0, 0, 0, 0]);
        assert!(matches!(wrong, Err(UnpackError::Range { start: 0, .. })), "{wrong:?}");
    }
}

fn is_length(info: &Container, error: &UnpackError) -> bool {
    match (info.kind, error) {
        (_, UnpackError::Truncated { .. }) => true,
        (
            Kind::Instruction { length_field: Some((first, _)), .. },
            UnpackError::Fixed { start, .. },
        ) => *start == first,
        _ => false,
    }
}

#[test]
fn fast_and_table_checks_agree() {
    let (mut held, mut failed) = (0, 0);
    for trip in genxml_tests::ROUND_TRIPS.iter().copied().flatten() {
        let mut random = Random::of(trip.info.name);
        for round in 0..200u32 {
            let Some(mut dwords) = packed(&mut random, trip, round) else { continue };
            for _ in 0..round % 3 {
                let bit = random.below(32 * dwords.len() as u64) as u32;
                let (start, flipped) = (bit, dwords[(bit / 32) as usize] >> (bit % 32) & 1 ^ 1);
                dwords[(bit / 32) as usize] &= !(1 << (bit % 32));
                put(&mut dwords, start, start, flipped.into());
            }
            let (name, strict) = (trip.info.name, (trip.strict)(&dwords));
            // The length field, which may be damaged, gives the end of a tail.
            let end = match trip.info.kind {
                Kind::Instruction { variable: true, .. } => {
                    trip.info.packet_dwords(dwords[0]).min(dwords.len())
                }
                _ => dwords.len(),
            };
            match (Check::all(trip.checks, name, &dwords[..end], 0), strict) {
                (Ok(()), Ok(())) => held += 1,
                (Err(expected), Err(found)) if expected == found => failed += 1,
                // The table does not check that a tail has complete elements.
                (_, Err(error)) if is_length(trip.info, &error) => {}
                // The table does not check the bits after the last bit of the container either: in
                // a nested structure they belong to the outer container.
                (Ok(()), Err(UnpackError::Reserved { dword, bits, .. }))
                    if 32 * dword + bits.trailing_zeros() >= trip.info.bits => {}
                (table, strict) => {
                    panic!("{name}: {table:?} by the table, {strict:?} by unpack of {dwords:x?}")
                }
            }
        }
    }
    println!("{held} hold, {failed} fail");
    assert!(held > 10_000 && failed > 10_000, "{held} hold, {failed} fail");
}
