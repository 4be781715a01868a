//! Maps and sets whose keys are numbers of threads, pages, addresses and the like. Sanitizers look
//! up a key for each access or instruction, so the hash is one multiplication for each number. It
//! does not protect against chosen collisions: a program under test gains nothing from them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are numbers or tuples of numbers.
pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// A set of numbers.
pub type NumberSet<K> = HashSet<K, BuildHasherDefault<Mix>>;

/// Multiplies by an odd constant: 2^64 divided by the golden ratio. The upper bits of the product
/// depend on all bits of the key, so they are moved down to the bits that select an entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}
