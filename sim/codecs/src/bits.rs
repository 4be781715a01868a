//! The bits of a slice, first bit first.

/// Reads bits from bytes, the most significant bit of each byte first. Bits after the last byte
/// read as zero; [`BitReader::overrun`] counts them.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    data: &'a [u8],
    /// Number of bits that were read.
    position: usize,
}

impl<'a> BitReader<'a> {
    /// A reader at bit `position` of `data`.
    pub fn new(data: &'a [u8], position: usize) -> Self {
        BitReader { data, position }
    }

    /// Number of bits from the start of the data to the next bit.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The data from its start.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Number of bits that were read after the end of the data.
    pub fn overrun(&self) -> usize {
        self.position.saturating_sub(8 * self.data.len())
    }

    /// Number of bits left.
    pub fn left(&self) -> usize {
        (8 * self.data.len()).saturating_sub(self.position)
    }

    /// The next `count` bits without reading them; `count` is at most 32. The first bit is the most
    /// significant of the result.
    #[inline]
    pub fn peek(&self, count: u32) -> u32 {
        debug_assert!(count <= 32);
        let byte = self.position / 8;
        let word = match self.data.get(byte..byte + 8) {
            Some(bytes) => u64::from_be_bytes(bytes.try_into().unwrap_or_default()),
            None => self.tail(byte),
        };
        let word = word << (self.position % 8);
        ((word >> 32) >> (32 - count)) as u32
    }

    /// Eight bytes from `byte` on, of which some are after the end.
    #[cold]
    fn tail(&self, byte: usize) -> u64 {
        let mut bytes = [0; 8];
        let rest = self.data.get(byte..).unwrap_or_default();
        let count = rest.len().min(8);
        bytes[..count].copy_from_slice(&rest[..count]);
        u64::from_be_bytes(bytes)
    }

    /// Goes on by `count` bits.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.position = self.position.saturating_add(count);
    }

    /// Reads `count` bits, at most 32.
    #[inline]
    pub fn read(&mut self, count: u32) -> u32 {
        let bits = self.peek(count);
        self.skip(count as usize);
        bits
    }

    /// Reads one bit.
    #[inline]
    pub fn flag(&mut self) -> bool {
        self.read(1) != 0
    }

    /// Goes to the next multiple of eight bits, if not at one.
    pub fn align(&mut self) {
        self.position = self.position.next_multiple_of(8);
    }

    /// Reads an unsigned number of the Exp-Golomb code (H.264 9.1). `None` if the code is longer
    /// than 32 zero bits.
    #[inline]
    pub fn ue(&mut self) -> Option<u32> {
        let zeros = self.peek(32).leading_zeros();
        if zeros == 32 {
            self.skip(32);
            return None;
        }
        self.skip(zeros as usize + 1);
        let rest = self.read(zeros);
        Some(((1u64 << zeros) as u32 - 1).wrapping_add(rest))
    }

    /// Reads a signed number of the Exp-Golomb code (H.264 9.1.1).
    #[inline]
    pub fn se(&mut self) -> Option<i32> {
        let code = self.ue()?;
        let half = (code / 2) as i32;
        Some(if code % 2 == 1 { half.wrapping_add(1) } else { half.wrapping_neg() })
    }
}

#[cfg(test)]
mod tests {
    use super::BitReader;

    /// Oracle: the bits one by one.
    #[test]
    fn reads_are_the_bits_in_order() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let bytes: Vec<u8> = (0..random.usize(0..20)).map(|_| random.u8(..)).collect();
            let bit =
                |at: usize| bytes.get(at / 8).map_or(0, |byte| u32::from(byte >> (7 - at % 8) & 1));
            let mut reader = BitReader::new(&bytes, random.usize(0..16));
            while reader.overrun() < 40 {
                let (from, count) = (reader.position(), random.u32(0..=32));
                let want = (0..count as usize)
                    .fold(0u64, |word, at| word << 1 | u64::from(bit(from + at)));
                assert_eq!(u64::from(reader.read(count)), want, "{count} bits at {from}");
            }
        }
    }

    /// Oracle: table 9-2 of H.264.
    #[test]
    fn exp_golomb_codes_are_those_of_the_table() {
        let mut reader = BitReader::new(&[0b1010_0110, 0b0100_0010, 0b1000_0000], 0);
        assert_eq!([(); 5].map(|()| reader.ue()), [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(reader.ue(), None);
        let mut reader = BitReader::new(&[0b1010_0110, 0b0100_0010, 0b1000_0000], 0);
        assert_eq!([(); 5].map(|()| reader.se()), [Some(0), Some(1), Some(-1), Some(2), Some(-2)]);
    }
}
