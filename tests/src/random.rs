//! Random packets for tests over every container, the same in every run.

use genxml_core::round_trip::{ROOM, RoundTrip};

/// A generator of random numbers (xorshift64).
pub struct Random(u64);

impl Random {
    /// A generator seeded with a text, for example the name of a container.
    pub fn new(seed: &str) -> Random {
        Random(seed.bytes().fold(0x9e37_79b9_7f4a_7c15, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number in `min..=max`, as two's complement of the bits in `mask`.
    pub fn within(&mut self, (min, max): (u64, u64), mask: u64) -> u64 {
        let span = max.wrapping_sub(min) & mask;
        min.wrapping_add(if span == u64::MAX { self.next() } else { self.next() % (span + 1) })
            & mask
    }

    /// A packet of this type with random values, packed by its own type. Of every four rounds, one
    /// has all fields zero and one has only a few bits set. `None` if the dwords cannot be packed.
    pub fn packed(&mut self, trip: &RoundTrip, round: u32) -> Option<Vec<u32>> {
        let dwords = (0..trip.info.dwords().max(2) + 4).map(|_| match round % 4 {
            0 => 0,
            1 => (self.next() & self.next() & self.next()) as u32,
            _ => self.next() as u32,
        });
        let dwords: Vec<u32> = dwords.collect();
        let mut packed = [0; ROOM];
        let length = (trip.repack)(&dwords, &mut packed).ok()?;
        Some(packed[..length].to_vec())
    }
}
