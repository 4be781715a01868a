//! Huffman codes of JPEG (T.81 annex C and F.2.2.3).

/// Length of the longest code that one look-up decodes.
const FAST: u32 = 9;

/// Codes and their values, made for decoding.
#[derive(Clone, Debug)]
pub struct Codes {
    /// For each value of the first [`FAST`] bits, the length of the code in the high byte, and its
    /// value in the low byte. 0 if the code is longer or missing.
    fast: Box<[u16; 1 << FAST]>,
    /// First code of each length, from one bit on.
    first: [u32; 16],
    /// Number of codes of each length.
    count: [u32; 16],
    /// Index in `values` of the first code of each length.
    index: [u32; 16],
    values: Vec<u8>,
}

impl Codes {
    /// The codes of a table (T.81 C.2): `counts[n]` codes of `n + 1` bits, which have `values` in
    /// order. Codes that have no value, or that do not fit their length, are left out.
    pub fn new(counts: &[u8], values: &[u8]) -> Self {
        let mut codes = Codes {
            fast: Box::new([0; 1 << FAST]),
            first: [0; 16],
            count: [0; 16],
            index: [0; 16],
            values: values.to_vec(),
        };
        let (mut code, mut used) = (0u32, 0u32);
        for (at, &count) in counts.iter().enumerate().take(16) {
            let length = at as u32 + 1;
            let left = (1u32 << length).saturating_sub(code).min(values.len() as u32 - used);
            let count = u32::from(count).min(left);
            (codes.first[at], codes.count[at], codes.index[at]) = (code, count, used);
            if length <= FAST {
                for (code, &value) in (code..code + count).zip(&values[used as usize..]) {
                    let start = (code << (FAST - length)) as usize;
                    let end = start + (1 << (FAST - length));
                    codes.fast[start..end].fill((length as u16) << 8 | u16::from(value));
                }
            }
            code = (code + count) << 1;
            used += count;
        }
        codes
    }

    /// The length and the value of the code that `bits` starts with, the first bit being the most
    /// significant. `None` if no code fits.
    #[inline]
    pub fn decode(&self, bits: u32) -> Option<(u32, u8)> {
        let entry = self.fast[(bits >> (32 - FAST)) as usize];
        if entry != 0 {
            return Some((u32::from(entry >> 8), entry as u8));
        }
        self.long(bits)
    }

    /// A code of more than [`FAST`] bits.
    fn long(&self, bits: u32) -> Option<(u32, u8)> {
        (FAST as usize..16).find_map(|at| {
            let length = at as u32 + 1;
            let offset = (bits >> (32 - length)).wrapping_sub(self.first[at]);
            if offset >= self.count[at] {
                return None;
            }
            Some((length, *self.values.get((self.index[at] + offset) as usize)?))
        })
    }
}

/// The signed number that `size` bits stand for (T.81 F.2.2.1, EXTEND). `size` is at most 15.
#[inline]
pub fn extend(bits: u32, size: u32) -> i32 {
    let (bits, sign) = (bits as i32, 1 << size >> 1);
    if bits < sign { bits - (1 << size) + 1 } else { bits }
}

#[cfg(test)]
mod tests {
    use super::{Codes, extend};

    /// Oracle: the codes of T.81 table K.3, DC of luma.
    #[test]
    fn codes_of_a_table_of_the_standard() {
        let counts = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0];
        let codes = Codes::new(&counts, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let table = [
            "00",
            "010",
            "011",
            "100",
            "101",
            "110",
            "1110",
            "11110",
            "111110",
            "1111110",
            "11111110",
            "111111110",
        ];
        for (value, code) in table.iter().enumerate() {
            let length = code.len() as u32;
            let bits = u32::from_str_radix(code, 2).unwrap() << (32 - length);
            for tail in [0, u32::MAX >> length] {
                assert_eq!(codes.decode(bits | tail), Some((length, value as u8)), "{code}");
            }
        }
        assert_eq!(codes.decode(u32::MAX), None);
    }

    /// Oracle: T.81 tables F.1 and F.2.
    #[test]
    fn numbers_of_each_size() {
        assert_eq!(extend(0, 0), 0);
        assert_eq!([extend(0, 1), extend(1, 1)], [-1, 1]);
        assert_eq!([0, 1, 2, 3].map(|bits| extend(bits, 2)), [-3, -2, 2, 3]);
        assert_eq!([extend(0, 11), extend(0x7ff, 11)], [-2047, 2047]);
        assert_eq!(
            [extend(0, 15), extend(0x3fff, 15), extend(0x4000, 15)],
            [-32767, -16384, 16384]
        );
    }

    /// A table with too many codes has no codes that overlap, and nothing panics.
    #[test]
    fn tables_with_too_many_codes() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let counts: Vec<u8> = (0..16).map(|_| random.u8(..) >> random.u8(0..8)).collect();
            let values: Vec<u8> = (0..random.usize(0..163)).map(|_| random.u8(..)).collect();
            let codes = Codes::new(&counts, &values);
            for _ in 0..100 {
                if let Some((length, _)) = codes.decode(random.u32(..)) {
                    assert!((1..=16).contains(&length));
                }
            }
        }
    }
}
