//! The boolean entropy decoder (RFC 6386 section 7).

use super::parameters::Start;

/// Decodes bits, each of which has a probability of being zero. Bytes after the end of the data
/// read as zero.
#[derive(Clone, Debug)]
pub struct BoolDecoder<'a> {
    data: &'a [u8],
    /// Bytes that were loaded into `value`, also those after the end.
    loaded: usize,
    /// The bits that are not consumed. The eight most significant ones are compared with the split.
    value: u64,
    /// Number of bits of `value` that were loaded and are not consumed.
    bits: i32,
    /// 128..=255 between two bits.
    range: u32,
}

impl<'a> BoolDecoder<'a> {
    /// A decoder at the start of a partition (RFC 6386 7.3).
    pub fn new(data: &'a [u8]) -> Self {
        BoolDecoder { data, loaded: 0, value: 0, bits: 0, range: 255 }
    }

    /// A decoder that continues where the one of the frame header stopped.
    pub fn resume(start: Start, data: &'a [u8]) -> Self {
        let used = u32::from(start.count % 8);
        let rest = data.first().map_or(0, |byte| u64::from(byte << used));
        BoolDecoder {
            data,
            loaded: 1,
            value: u64::from(start.value) << 56 | rest << 48,
            bits: 16 - used as i32,
            range: u32::from(start.range).max(128),
        }
    }

    /// True if all bits that decide about the next one come after the end of the data.
    pub fn is_past_end(&self) -> bool {
        8 * self.loaded as i64 - i64::from(self.bits) >= 8 * self.data.len() as i64
    }

    #[inline]
    fn fill(&mut self) {
        let word = match self.data.get(self.loaded..self.loaded + 8) {
            Some(bytes) => u64::from_be_bytes(bytes.try_into().unwrap_or_default()),
            None => self.tail(),
        };
        // The bits of a byte that does not fit are loaded again, at the same position.
        self.value |= word >> self.bits;
        let bytes = (64 - self.bits) / 8;
        self.loaded += bytes as usize;
        self.bits += 8 * bytes;
    }

    /// Eight bytes of which some are after the end.
    #[cold]
    fn tail(&self) -> u64 {
        let rest = self.data.get(self.loaded..).unwrap_or_default();
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        u64::from_be_bytes(bytes)
    }

    /// Reads a bit that is zero with a probability of `probability` / 256.
    #[inline]
    pub fn read(&mut self, probability: u8) -> bool {
        if self.bits < 8 {
            self.fill();
        }
        let split = 1 + (((self.range - 1) * u32::from(probability)) >> 8);
        let big_split = u64::from(split) << 56;
        let bit = self.value >= big_split;
        let range = if bit { self.range - split } else { split };
        let value = if bit { self.value - big_split } else { self.value };
        // `range` is 1..=254: the shift is at most 7.
        let shift = range.leading_zeros() - 24;
        self.range = range << shift;
        self.value = value << shift;
        self.bits -= shift as i32;
        bit
    }

    /// Reads a number of `probabilities.len()` bits, the most significant one first.
    #[inline]
    pub fn read_bits(&mut self, probabilities: &[u8]) -> i32 {
        probabilities
            .iter()
            .fold(0, |number, &probability| number << 1 | i32::from(self.read(probability)))
    }

    /// Reads a value of a tree (RFC 6386 8.1). A positive entry is the index of the next pair; the
    /// others are values, negated. The pair at index i uses probability i / 2.
    #[inline]
    pub fn read_tree(&mut self, tree: &[i8], probabilities: &[u8]) -> u8 {
        let mut index = 0;
        loop {
            let bit = usize::from(self.read(probabilities[index / 2]));
            let entry = tree[index + bit];
            if entry <= 0 {
                return entry.unsigned_abs();
            }
            index = entry as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BoolDecoder, Start};

    /// The decoder of RFC 6386 7.3 with one bit loaded at a time.
    struct Plain<'a> {
        data: &'a [u8],
        position: usize,
        value: u32,
        range: u32,
    }

    impl Plain<'_> {
        fn read(&mut self, probability: u8) -> bool {
            let split = 1 + (((self.range - 1) * u32::from(probability)) >> 8);
            let bit = self.value >= split;
            if bit {
                self.value -= split;
                self.range -= split;
            } else {
                self.range = split;
            }
            while self.range < 128 {
                let byte = self.data.get(self.position / 8).copied().unwrap_or(0);
                self.value = self.value << 1 | u32::from(byte >> (7 - self.position % 8) & 1);
                self.range <<= 1;
                self.position += 1;
            }
            bit
        }
    }

    /// Oracle: the decoder that loads bit by bit.
    #[test]
    fn bits_are_those_of_the_plain_decoder() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..500 {
            let mut data: Vec<u8> = (0..random.usize(1..40)).map(|_| random.u8(..)).collect();
            data[0] = random.u8(..255);
            let value = u32::from(data[0]);
            let mut plain = Plain { data: &data, position: 8, value, range: 255 };
            let mut decoder = BoolDecoder::new(&data);
            let switch = random.usize(..200);
            let mut inside = true;
            for number in 0..400 {
                if number == switch {
                    let start = Start {
                        range: plain.range as u8,
                        value: plain.value as u8,
                        count: (plain.position % 8) as u8,
                    };
                    let rest = data.get(plain.position / 8..).unwrap_or_default();
                    decoder = BoolDecoder::resume(start, rest);
                    inside = plain.position <= 8 * data.len();
                }
                let probability = random.u8(..);
                assert_eq!(decoder.read(probability), plain.read(probability), "bit {number}");
                // A decoder that resumes cannot count how far it is after the end.
                if inside {
                    assert_eq!(decoder.is_past_end(), plain.position - 8 >= 8 * data.len());
                }
            }
        }
    }

    /// Oracle: the tree and the codes of RFC 6386 8.1.
    #[test]
    fn trees_are_walked_from_the_root() {
        // With a probability of 128, each bit is a bit of the data while the range allows it.
        let tree = [2, 4, 0, -1, -2, -3];
        for (byte, want) in [(0x00, 0), (0x50, 1), (0xa0, 2), (0xf0, 3)] {
            assert_eq!(BoolDecoder::new(&[byte, 0]).read_tree(&tree, &[128; 3]), want);
        }
    }
}
