//! Damage to memory: dwords of packets, state, kernels and data are changed, exchanged or unmapped.

use genxml_testkit::Random;
use std::collections::BTreeMap;

/// Something in memory that the decoder found: a packet, a structure, a kernel, a vertex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Region {
    /// Name in the manual or in the decoder.
    pub name: &'static str,
    /// Graphics address of the first dword.
    pub address: u64,
    /// Number of dwords.
    pub dwords: u64,
}

/// Values that are likely to break something.
const EXTREMES: [u32; 24] = [
    0,
    1,
    2,
    3,
    0x7f,
    0xff,
    0xfff,
    0x1000,
    0x7fff,
    0xffff,
    0x1_0000,
    0x3fff_3fff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_f000,
    !1,
    !0,
    f32::NAN.to_bits(),
    f32::INFINITY.to_bits(),
    f32::NEG_INFINITY.to_bits(),
    f32::MAX.to_bits(),
    f32::MIN.to_bits(),
    f32::MIN_POSITIVE.to_bits() - 1,
    0x4780_0000,
];

/// A change of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The dword at an address has another value.
    Dword(u64, u32),
    /// The pages from an address to the end of its object are not mapped any more.
    Unmapped(u64),
}

/// Regions by name, so that rare kinds of regions are damaged as often as common ones.
pub struct Target {
    names: BTreeMap<&'static str, Vec<Region>>,
    all: Vec<Region>,
}

impl Target {
    /// A target made of these regions.
    pub fn new(mut all: Vec<Region>) -> Self {
        all.retain(|region| region.dwords > 0);
        all.sort_unstable();
        all.dedup();
        let mut names: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for region in &all {
            names.entry(region.name).or_default().push(*region);
        }
        Target { names, all }
    }

    /// Names of the regions that can be damaged.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.keys().copied()
    }

    fn region(&self, random: &mut Random) -> Region {
        match random.below(4) {
            0 => random.pick(&self.all),
            _ => {
                let name = random.index(self.names.len());
                random.pick(self.names.values().nth(name).expect("below the length"))
            }
        }
    }

    /// Random damage: the changes of one to five rounds. `read` reads a dword of memory.
    pub fn damage(&self, random: &mut Random, read: &dyn Fn(u64) -> u32) -> Vec<Damage> {
        let mut damage = Vec::new();
        let rounds = [1, 1, 1, 2, 2, 3, 5];
        for _ in 0..random.pick(&rounds) {
            self.round(random, read, &mut damage);
        }
        damage
    }

    fn round(&self, random: &mut Random, read: &dyn Fn(u64) -> u32, damage: &mut Vec<Damage>) {
        let region = self.region(random);
        // Headers of packets are damaged less often than their other dwords: an invalid header ends
        // the batch.
        let place = |random: &mut Random, region: &Region| {
            let mut tries = [0; 3].map(|_| random.index(region.dwords as usize) as u64).into_iter();
            region.address + 4 * tries.find(|&dword| dword > 0).unwrap_or(0)
        };
        let at = place(random, &region);
        let bits = random.bits() as u32;
        match random.below(16) {
            0..4 => damage.push(Damage::Dword(at, read(at) ^ 1 << (bits % 32))),
            4..9 => damage.push(Damage::Dword(at, random.pick(&EXTREMES))),
            9 => damage.push(Damage::Dword(at, bits)),
            // From a random bit position on, 16 bits are replaced by random bits, and random bits
            // above them are set. The lower bits stay.
            10 => damage
                .push(Damage::Dword(at, read(at) & !(0xffff << (bits % 32)) | bits << (bits % 32))),
            // A somewhat greater or smaller value, for offsets, sizes and lengths.
            11 => {
                let step = random.pick(&[1, 4, 16, 64, 0x1000, 0x1_0000, 0x100_0000]);
                let value = read(at);
                let value =
                    if bits & 1 == 0 { value.wrapping_add(step) } else { value.wrapping_sub(step) };
                damage.push(Damage::Dword(at, value));
            }
            12 => {
                let other = self.region(random);
                let to = place(random, &other);
                damage.extend([Damage::Dword(at, read(to)), Damage::Dword(to, read(at))]);
            }
            // Overwrite the dwords from `at` to the end of the region, at most 64, with zeros,
            // dwords of another region, or extreme values.
            13 | 14 => {
                let other = self.region(random);
                let end = region.address + 4 * region.dwords;
                for (n, at) in (at..end).step_by(4).take(64).enumerate() {
                    let value = match bits % 3 {
                        0 => 0,
                        1 => read(other.address + 4 * n as u64),
                        _ => random.pick(&EXTREMES),
                    };
                    damage.push(Damage::Dword(at, value));
                }
            }
            _ => damage.push(Damage::Unmapped(at)),
        }
    }
}
