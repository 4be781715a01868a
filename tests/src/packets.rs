//! Random packets for tests over every container.

use genxml_core::round_trip::{ROOM, RoundTrip};
use genxml_testkit::Random;

/// A random number in `min..=max`. The result and both limits are two's complement numbers of the
/// bits in `mask`.
pub fn within(random: &mut Random, (min, max): (u64, u64), mask: u64) -> u64 {
    let span = max.wrapping_sub(min) & mask;
    let step = if span == u64::MAX { random.bits() } else { random.below(span + 1) };
    min.wrapping_add(step) & mask
}

/// A packet of this type with random values, packed by its own type. Of every four rounds, one
/// has all fields zero and one has only a few bits set. `None` if the dwords cannot be packed.
pub fn packed(random: &mut Random, trip: &RoundTrip, round: u32) -> Option<Vec<u32>> {
    let dwords = (0..trip.info.dwords().max(2) + 4).map(|_| match round % 4 {
        0 => 0,
        1 => (random.bits() & random.bits() & random.bits()) as u32,
        _ => random.bits() as u32,
    });
    let dwords: Vec<u32> = dwords.collect();
    let mut packed = [0; ROOM];
    let length = (trip.repack)(&dwords, &mut packed).ok()?;
    Some(packed[..length].to_vec())
}
