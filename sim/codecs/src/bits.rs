//! The bits of a slice, first bit first: [`BitReader`] and [`BitWriter`].

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

/// Writes bits into bytes, the most significant bit of each byte first.
///
/// It can insert emulation prevention bytes: a 3 before a byte of 0 to 3 that follows two bytes of
/// 0 (H.264 7.3.1).
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits after the last whole byte, in the low bits.
    pending: u64,
    /// Their number, less than 8 between calls.
    count: u32,
    /// Number of bytes of 0 at the end of `bytes`.
    zeros: u32,
    /// Emulation prevention bytes are inserted.
    protect: bool,
}

impl BitWriter {
    /// Whether emulation prevention bytes are inserted from the next whole byte on.
    pub fn protect(&mut self, protect: bool) {
        self.protect = protect;
    }

    /// Writes the low `count` bits of `value`; `count` is at most 32.
    #[inline]
    pub fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32);
        let value = u64::from(value) & ((1 << count) - 1);
        self.pending = self.pending << count | value;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.byte((self.pending >> self.count) as u8);
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.protect && self.zeros >= 2 && byte <= 3 {
            self.bytes.push(3);
            self.zeros = 0;
        }
        self.zeros = if byte == 0 { self.zeros + 1 } else { 0 };
        self.bytes.push(byte);
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.put(byte.into(), 8);
        }
    }

    /// Writes an unsigned number with the Exp-Golomb code (H.264 9.1).
    #[inline]
    pub fn ue(&mut self, value: u32) {
        let code = u64::from(value) + 1;
        let length = code.ilog2();
        self.put(0, length);
        self.put((code >> 16) as u32, (length + 1).saturating_sub(16));
        self.put(code as u32, (length + 1).min(16));
    }

    /// Writes a signed number with the Exp-Golomb code (H.264 9.1.1).
    #[inline]
    pub fn se(&mut self, value: i32) {
        let twice = value.unsigned_abs().wrapping_mul(2);
        self.ue(if value > 0 { twice - 1 } else { twice });
    }

    /// Writes bits `bit` up to the next multiple of eight bits, if not at one.
    pub fn align(&mut self, bit: bool) {
        let missing = (8 - self.count) % 8;
        self.put(if bit { u32::MAX } else { 0 }, missing);
    }

    /// Number of bits so far, with those of emulation prevention bytes.
    pub fn position(&self) -> usize {
        8 * self.bytes.len() + self.count as usize
    }

    /// The bytes. Bits after the last whole byte are lost.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{BitReader, BitWriter};

    /// Oracle: the reader.
    #[test]
    fn written_bits_are_read() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..300 {
            let mut writer = BitWriter::default();
            let protect = random.bool();
            writer.protect(protect);
            let edges = [0, 1, 65534, 65535, 65536, i32::MAX, i32::MIN + 1];
            let values: Vec<(u8, i32, u32)> = (0..random.usize(0..60))
                .map(|_| {
                    let value = match random.u8(0..3) {
                        0 => random.choice(edges).unwrap_or(0),
                        1 => random.i32(-5..5),
                        _ => random.i32(i32::MIN + 1..),
                    };
                    (random.u8(0..3), value, random.u32(0..=32))
                })
                .collect();
            for &(kind, value, count) in &values {
                match kind {
                    0 => writer.put(value as u32, count),
                    1 => writer.ue(value.unsigned_abs().saturating_sub(1)),
                    _ => writer.se(value / 2),
                }
            }
            writer.put(1, 1);
            writer.align(false);
            assert_eq!(writer.position() % 8, 0);
            let mut bytes = writer.into_bytes();
            if protect {
                bytes = crate::emulation::remove(&bytes);
            }
            let mut reader = BitReader::new(&bytes, 0);
            for (kind, value, count) in values {
                match kind {
                    0 => {
                        let mask = ((1u64 << count) - 1) as u32;
                        assert_eq!(reader.read(count), value as u32 & mask);
                    }
                    1 => assert_eq!(reader.ue(), Some(value.unsigned_abs().saturating_sub(1))),
                    _ => assert_eq!(reader.se(), Some(value / 2)),
                }
            }
        }
    }

    #[test]
    fn protected_bytes_have_no_start_code() {
        let mut writer = BitWriter::default();
        writer.bytes(&[0, 0, 1]);
        writer.protect(true);
        writer.bytes(&[0, 0, 0, 0, 3, 4]);
        assert_eq!(writer.into_bytes(), [0, 0, 1, 0, 0, 3, 0, 0, 3, 3, 4]);
    }

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
