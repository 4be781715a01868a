//! Lookup of codes of variable length.

use super::tables::{self, Code};
use crate::bits::BitReader;
use std::sync::LazyLock;

/// Bits that one step of a lookup decides.
const STEP: u32 = 9;

/// What a step of the lookup finds.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The symbol, or where the table of the next bits starts.
    value: u16,
    /// Bits of the code in this step; 0 if no code starts so.
    length: u8,
    /// Bits of the next step; 0 at the end of a code.
    next: u8,
}

/// Codes for lookup.
#[derive(Clone, Debug)]
pub(super) struct Vlc {
    entries: Vec<Entry>,
    /// Bits of the first step.
    first: u32,
}

impl Vlc {
    /// The symbol of a code is its index in `codes`.
    pub(super) fn new(codes: &[Code]) -> Self {
        let codes: Vec<(u32, u32, u16)> = codes
            .iter()
            .zip(0..)
            .map(|(&(code, length), symbol)| (code, u32::from(length), symbol))
            .collect();
        let mut vlc = Vlc { entries: Vec::new(), first: 0 };
        vlc.first = vlc.add(&codes).1;
        vlc
    }

    /// Adds the table of `codes`: bits, their number, symbol. Returns where it starts and the bits
    /// that it looks at.
    fn add(&mut self, codes: &[(u32, u32, u16)]) -> (u16, u32) {
        let bits = codes.iter().map(|code| code.1).max().unwrap_or(0).min(STEP);
        let start = self.entries.len();
        self.entries.resize(start + (1 << bits), Entry::default());
        let mut longer: Vec<Vec<(u32, u32, u16)>> = vec![Vec::new(); 1 << bits];
        for &(code, length, symbol) in codes {
            if length <= bits {
                let first = (code << (bits - length)) as usize;
                let entry = Entry { value: symbol, length: length as u8, next: 0 };
                self.entries[start + first..][..1 << (bits - length)].fill(entry);
            } else {
                let rest = length - bits;
                longer[(code >> rest) as usize].push((code & ((1 << rest) - 1), rest, symbol));
            }
        }
        for (prefix, codes) in longer.iter().enumerate().filter(|(_, codes)| !codes.is_empty()) {
            let (value, next) = self.add(codes);
            self.entries[start + prefix] = Entry { value, length: bits as u8, next: next as u8 };
        }
        (start as u16, bits)
    }

    /// Reads a symbol. `None` if no code matches.
    #[inline]
    pub(super) fn read(&self, bits: &mut BitReader<'_>) -> Option<usize> {
        let (mut start, mut step) = (0, self.first);
        loop {
            let entry = self.entries[start + bits.peek(step) as usize];
            bits.skip(usize::from(entry.length));
            if entry.next == 0 {
                return (entry.length > 0).then_some(usize::from(entry.value));
            }
            (start, step) = (usize::from(entry.value), u32::from(entry.next));
        }
    }
}

/// All codes of the standard.
pub(super) struct Codes {
    pub(super) cbpcy_intra: Vlc,
    pub(super) cbpcy: Vec<Vlc>,
    pub(super) cbpcy_interlaced: Vec<Vlc>,
    pub(super) ttmb: Vec<Vlc>,
    pub(super) ttblk: Vec<Vlc>,
    pub(super) subblkpat: Vec<Vlc>,
    pub(super) two_mv_pattern: Vec<Vlc>,
    pub(super) four_mv_pattern: Vec<Vlc>,
    pub(super) frame_mode_4mv: Vec<Vlc>,
    pub(super) frame_mode: Vec<Vlc>,
    pub(super) field_mode_mixed: Vec<Vlc>,
    pub(super) field_mode: Vec<Vlc>,
    pub(super) mvdata: Vec<Vlc>,
    pub(super) mvdata_one: Vec<Vlc>,
    pub(super) mvdata_two: Vec<Vlc>,
    pub(super) coefficients: Vec<Vlc>,
    /// Run and level of the symbols of each coding set, and the number of symbols of coefficients
    /// that are not the last one of a block.
    pub(super) pairs: Vec<(Vec<(u8, u8)>, usize)>,
    pub(super) dc_luma: Vec<Vlc>,
    pub(super) dc_chroma: Vec<Vlc>,
}

/// Made at the first use.
pub(super) static CODES: LazyLock<Codes> = LazyLock::new(|| {
    let all = |tables: &[&[Code]]| tables.iter().map(|codes| Vlc::new(codes)).collect();
    Codes {
        cbpcy_intra: Vlc::new(tables::CBPCY_INTRA[0]),
        cbpcy: all(&tables::CBPCY),
        cbpcy_interlaced: all(&tables::CBPCY_INTERLACED),
        ttmb: all(&tables::TTMB),
        ttblk: all(&tables::TTBLK),
        subblkpat: all(&tables::SUBBLKPAT),
        two_mv_pattern: all(&tables::TWO_MV_PATTERN),
        four_mv_pattern: all(&tables::FOUR_MV_PATTERN),
        frame_mode_4mv: all(&tables::FRAME_MODE_4MV),
        frame_mode: all(&tables::FRAME_MODE),
        field_mode_mixed: all(&tables::FIELD_MODE_MIXED),
        field_mode: all(&tables::FIELD_MODE),
        mvdata: all(&tables::MVDATA),
        mvdata_one: all(&tables::MVDATA_ONE_REFERENCE),
        mvdata_two: all(&tables::MVDATA_TWO_REFERENCES),
        coefficients: all(&tables::COEFFICIENTS),
        pairs: tables::MAX_LEVEL.iter().map(pairs).collect(),
        dc_luma: all(&tables::DC_LUMA),
        dc_chroma: all(&tables::DC_CHROMA),
    }
});

/// The runs and levels that `max_level` allows, runs first.
fn pairs(max_level: &[&[u8]; 2]) -> (Vec<(u8, u8)>, usize) {
    let of = |levels: &[u8]| -> Vec<(u8, u8)> {
        levels.iter().zip(0..).flat_map(|(&max, run)| (1..=max).map(move |n| (run, n))).collect()
    };
    let mut pairs = of(max_level[0]);
    let count = pairs.len();
    pairs.extend(of(max_level[1]));
    (pairs, count)
}

#[cfg(test)]
mod tests {
    use super::{CODES, Vlc, tables};
    use crate::bits::BitReader;

    /// Oracle: the code itself, written in front of ones.
    #[test]
    fn each_code_reads_as_its_symbol() {
        let tables = [tables::DC_CHROMA[0], tables::DC_LUMA[1], tables::MVDATA_TWO_REFERENCES[6]];
        for codes in tables.into_iter().chain(tables::COEFFICIENTS) {
            let vlc = Vlc::new(codes);
            for (symbol, &(code, length)) in codes.iter().enumerate() {
                let word = (u64::from(code) << (64 - length)) | (u64::MAX >> length);
                let bytes = word.to_be_bytes();
                let mut bits = BitReader::new(&bytes, 0);
                assert_eq!(vlc.read(&mut bits), Some(symbol));
                assert_eq!(bits.position(), usize::from(length));
            }
        }
        assert_eq!(CODES.pairs[0].1, 119);
    }
}
