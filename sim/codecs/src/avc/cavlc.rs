//! Syntax elements of macroblocks coded with CAVLC (9.1, 9.2).

use super::SliceKind;
use super::cavlc_tables::{
    COEFF_TOKEN, COEFF_TOKEN_CHROMA_DC, Code, RUN_BEFORE, TOTAL_ZEROS, TOTAL_ZEROS_CHROMA_DC,
};
use super::state::Decoder;
use super::syntax::{Block, Entropy, Levels, Part};
use crate::bits::BitReader;

/// coded_block_pattern by codeNum for Intra_4x4 and Intra_8x8, and for inter (table 9-4 a).
#[rustfmt::skip]
pub(super) static PATTERNS: [[u8; 48]; 2] = [
    [
        47, 31, 15,  0, 23, 27, 29, 30,  7, 11, 13, 14, 39, 43, 45, 46,
        16,  3,  5, 10, 12, 19, 21, 26, 28, 35, 37, 42, 44,  1,  2,  4,
         8, 17, 18, 20, 24,  6,  9, 22, 25, 32, 33, 34, 36, 40, 38, 41,
    ],
    [
         0, 16,  1,  2,  4,  8, 32,  3,  5, 10, 12, 15, 47,  7, 11, 13,
        14,  6,  9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45, 46,
        17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
    ],
];

/// coded_block_pattern by codeNum for monochrome (table 9-4 b).
pub(super) static PATTERNS_MONOCHROME: [[u8; 16]; 2] = [
    [15, 0, 7, 11, 13, 14, 3, 5, 10, 12, 1, 2, 4, 8, 6, 9],
    [0, 1, 2, 4, 8, 3, 5, 10, 12, 15, 7, 11, 13, 14, 6, 9],
];

/// A code as the decoding tables hold it: its length, or 0 for none, and what it stands for.
type Entry = (u8, u8);

/// Decodes coeff_token: by the next 8 bits, then, for codes that start with five zero bits, by the
/// next 16. What it stands for is 4 * TotalCoeff + TrailingOnes.
struct TokenTable {
    short: [Entry; 256],
    long: [Entry; 2048],
}

static TOKENS: [TokenTable; 4] = [
    token_table(&COEFF_TOKEN[0]),
    token_table(&COEFF_TOKEN[1]),
    token_table(&COEFF_TOKEN[2]),
    token_table(&COEFF_TOKEN[3]),
];
static TOKENS_CHROMA_DC: TokenTable = token_table(&COEFF_TOKEN_CHROMA_DC);
static ZEROS: [[Entry; 512]; 15] = zeros_tables(&TOTAL_ZEROS);
static ZEROS_CHROMA_DC: [[Entry; 512]; 3] = zeros_tables(&TOTAL_ZEROS_CHROMA_DC);
static RUNS: [[Entry; 8]; 7] = run_tables();

const fn token_table(codes: &[[Code; 4]]) -> TokenTable {
    let mut table = TokenTable { short: [(0, 0); 256], long: [(0, 0); 2048] };
    let mut total = 0;
    while total < codes.len() {
        let mut ones = 0;
        while ones < 4 {
            let (length, code) = codes[total][ones];
            let entry = (length, (4 * total + ones) as u8);
            if length > 0 {
                fill(&mut table.long, 16, length, code, entry);
                if length <= 8 {
                    fill(&mut table.short, 8, length, code, entry);
                }
            }
            ones += 1;
        }
        total += 1;
    }
    table
}

/// Sets the entries of all words of `bits` bits that start with a code, as far as `table` has them.
const fn fill(table: &mut [Entry], bits: u8, length: u8, code: u8, entry: Entry) {
    let first = (code as usize) << (bits - length);
    let mut at = first;
    while at < first + (1 << (bits - length)) && at < table.len() {
        table[at] = entry;
        at += 1;
    }
}

const fn zeros_tables<const N: usize>(codes: &[&[Code]; N]) -> [[Entry; 512]; N] {
    let mut tables = [[(0, 0); 512]; N];
    let mut table = 0;
    while table < N {
        let mut zeros = 0;
        while zeros < codes[table].len() {
            let (length, code) = codes[table][zeros];
            fill(&mut tables[table], 9, length, code, (length, zeros as u8));
            zeros += 1;
        }
        table += 1;
    }
    tables
}

/// Codes of run_before of at most three bits.
const fn run_tables() -> [[Entry; 8]; 7] {
    let mut tables = [[(0, 0); 8]; 7];
    let mut table = 0;
    while table < 7 {
        let mut run = 0;
        while run < RUN_BEFORE[table].len() {
            let (length, code) = RUN_BEFORE[table][run];
            if length <= 3 {
                fill(&mut tables[table], 3, length, code, (length, run as u8));
            }
            run += 1;
        }
        table += 1;
    }
    tables
}

/// Index of the table of coeff_token for a block of luma or a block of AC coefficients (9.2.1).
#[inline(always)]
pub(super) fn table_of(context: &Decoder<'_, '_>, block: usize) -> usize {
    let expected = match context.counts_around(block) {
        (Some(left), Some(above)) => (left + above).div_ceil(2),
        (left, above) => left.or(above).unwrap_or(0),
    };
    match expected {
        0..2 => 0,
        2..4 => 1,
        4..8 => 2,
        _ => 3,
    }
}

/// Reads a macroblock's bits.
#[derive(Clone, Debug)]
pub(super) struct Cavlc<'a> {
    /// The bits of the slice.
    pub bits: BitReader<'a>,
    /// Position of the stop bit.
    end: usize,
}

impl<'a> Cavlc<'a> {
    /// A reader at bit `position` of a NAL unit without emulation prevention bytes.
    pub fn new(data: &'a [u8], position: usize) -> Self {
        let last = data.iter().rposition(|&byte| byte != 0);
        let end = last.map_or(0, |at| 8 * at + 7 - data[at].trailing_zeros() as usize);
        Cavlc { bits: BitReader::new(data, position), end }
    }

    /// `more_rbsp_data()` (7.2).
    pub fn more(&self) -> bool {
        self.bits.position() < self.end
    }

    /// A number of the Exp-Golomb code that is less than `count`.
    fn number(&mut self, count: u32) -> Option<u32> {
        self.bits.ue().filter(|&number| number < count)
    }

    /// coeff_token: TotalCoeff and TrailingOnes (9.2.1).
    #[inline]
    fn token(&mut self, table: &TokenTable) -> Option<(usize, usize)> {
        let word = self.bits.peek(16) as usize;
        let (length, token) = match table.long.get(word) {
            Some(&entry) => entry,
            None => table.short[word >> 8 & 255],
        };
        self.bits.skip(usize::from(length));
        (length > 0).then_some((usize::from(token / 4), usize::from(token % 4)))
    }

    /// The levels of a block, last coefficient first (9.2.2).
    fn levels(&mut self, total: usize, ones: usize, values: &mut [i32; 16]) -> Option<()> {
        let signs = self.bits.read(ones as u32);
        for (index, value) in values.iter_mut().enumerate().take(ones) {
            *value = 1 - 2 * (signs >> (ones - 1 - index) & 1) as i32;
        }
        let mut suffix_length = u32::from(total > 10 && ones < 3);
        for (index, value) in values.iter_mut().enumerate().take(total).skip(ones) {
            let prefix = self.bits.peek(32).leading_zeros();
            if prefix > 25 {
                return None;
            }
            self.bits.skip(prefix as usize + 1);
            let mut code = prefix.min(15) << suffix_length;
            let size = match prefix {
                14 if suffix_length == 0 => 4,
                0..15 => suffix_length,
                _ => prefix - 3,
            };
            if size > 0 {
                code += self.bits.read(size);
            }
            if prefix >= 15 && suffix_length == 0 {
                code += 15;
            }
            if prefix >= 16 {
                code += (1 << (prefix - 3)) - 4096;
            }
            if index == ones && ones < 3 {
                code += 2;
            }
            let magnitude = ((code + 2) >> 1) as i32;
            *value = if code.is_multiple_of(2) { magnitude } else { -magnitude };
            if suffix_length == 0 {
                suffix_length = 1;
            }
            if magnitude > 3 << (suffix_length - 1) && suffix_length < 6 {
                suffix_length += 1;
            }
        }
        Some(())
    }

    /// total_zeros (9.2.3).
    fn zeros(&mut self, table: &[Entry; 512]) -> Option<usize> {
        let (length, zeros) = table[self.bits.peek(9) as usize & 511];
        self.bits.skip(usize::from(length));
        (length > 0).then_some(usize::from(zeros))
    }

    /// run_before (9.2.3).
    #[inline]
    fn run(&mut self, zeros_left: usize) -> Option<usize> {
        let (length, run) = RUNS[zeros_left.min(7) - 1][self.bits.peek(3) as usize & 7];
        if length > 0 {
            self.bits.skip(usize::from(length));
            return Some(usize::from(run));
        }
        // Only with more than six zeros: a code of `zeros` zero bits and a one.
        let zeros = self.bits.peek(11).leading_zeros() as usize - 21;
        self.bits.skip(zeros + 1);
        (zeros < 11).then_some(zeros + 4)
    }

    fn block(
        &mut self,
        table: &TokenTable,
        size: usize,
        zeros: &[[Entry; 512]],
        levels: &mut Levels,
    ) -> Option<()> {
        let (total, ones) = self.token(table)?;
        if total == 0 {
            return Some(());
        }
        let mut values = [0; 16];
        if total > size {
            return None;
        }
        self.levels(total, ones, &mut values)?;
        let mut left = if total < size { self.zeros(zeros.get(total - 1)?)? } else { 0 };
        let mut position = total + left;
        if position > size {
            return None;
        }
        for (index, &value) in values.iter().enumerate().take(total) {
            position -= 1;
            levels.push(position, value);
            if left > 0 && index + 1 < total {
                let run = self.run(left)?;
                left = left.checked_sub(run)?;
                position -= run;
            }
        }
        Some(())
    }
}

impl Entropy for Cavlc<'_> {
    const ARITHMETIC: bool = false;
    const WRITES: bool = false;

    fn field_flag(&mut self, _: &Decoder<'_, '_>) -> bool {
        self.bits.flag()
    }

    fn macroblock_type(&mut self, context: &Decoder<'_, '_>) -> Option<u8> {
        let count = match context.slice.kind {
            SliceKind::I => 26,
            SliceKind::P => 5 + 26,
            SliceKind::B => 23 + 26,
        };
        self.number(count).map(|number| number as u8)
    }

    fn sub_type(&mut self, context: &Decoder<'_, '_>, _: usize) -> Option<u8> {
        let count = if context.slice.kind == SliceKind::B { 13 } else { 4 };
        self.number(count).map(|number| number as u8)
    }

    fn reference(&mut self, _: &Decoder<'_, '_>, _: usize, _: usize, count: u8) -> Option<i8> {
        let index = match count {
            2 => u32::from(!self.bits.flag()),
            _ => self.number(u32::from(count))?,
        };
        i8::try_from(index).ok()
    }

    fn difference(&mut self, _: &Part, _: [u16; 2]) -> Option<[i16; 2]> {
        let x = i16::try_from(self.bits.se()?).ok()?;
        let y = i16::try_from(self.bits.se()?).ok()?;
        Some([x, y])
    }

    fn intra_mode(&mut self, _: usize, predicted: u8) -> u8 {
        if self.bits.flag() {
            return predicted;
        }
        let rest = self.bits.read(3) as u8;
        rest + u8::from(rest >= predicted)
    }

    fn chroma_mode(&mut self, _: &Decoder<'_, '_>) -> Option<u8> {
        self.number(4).map(|number| number as u8)
    }

    fn pattern(&mut self, context: &Decoder<'_, '_>, intra: bool) -> Option<u8> {
        let number = self.bits.ue()? as usize;
        let inter = usize::from(!intra);
        if context.parameters.monochrome {
            PATTERNS_MONOCHROME[inter].get(number).copied()
        } else {
            PATTERNS[inter].get(number).copied()
        }
    }

    fn transform_flag(&mut self, _: &Decoder<'_, '_>) -> bool {
        self.bits.flag()
    }

    fn quantiser_delta(&mut self, _: bool) -> Option<i32> {
        self.bits.se()
    }

    fn residual(
        &mut self,
        context: &Decoder<'_, '_>,
        kind: Block,
        block: usize,
        levels: &mut Levels,
    ) -> Option<()> {
        if kind == Block::ChromaDc {
            return self.block(&TOKENS_CHROMA_DC, 4, &ZEROS_CHROMA_DC, levels);
        }
        self.block(&TOKENS[table_of(context, block)], kind.size(), &ZEROS, levels)
    }

    fn samples(&mut self, out: &mut [u8]) -> Option<()> {
        self.bits.align();
        let start = self.bits.position() / 8;
        out.copy_from_slice(self.bits.data().get(start..start.checked_add(out.len())?)?);
        self.bits.skip(8 * out.len());
        Some(())
    }

    fn overrun(&self) -> bool {
        self.bits.overrun() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::cavlc_tables::{COEFF_TOKEN, COEFF_TOKEN_CHROMA_DC, Code};
    use super::*;

    /// Checks that no code is the start of another one. Returns the share of all words that start
    /// with a code, in units of 2^-16.
    fn share(codes: &[Code]) -> u32 {
        let codes: Vec<&Code> = codes.iter().filter(|code| code.0 > 0).collect();
        for (at, first) in codes.iter().enumerate() {
            for second in &codes[at + 1..] {
                let length = first.0.min(second.0);
                let start = |code: &Code| u16::from(code.1) >> (code.0 - length);
                assert_ne!(start(first), start(second), "{first:?} {second:?}");
            }
        }
        codes.iter().map(|code| 1 << (16 - code.0)).sum()
    }

    /// Oracle: codes decode without doubt, and few words are not codes.
    #[test]
    fn no_code_is_the_start_of_another_one() {
        // Words that start with no code: those of 15, of 13 and of 10 zero bits; of the code of six
        // bits, those for 2 and 3 trailing ones of fewer coefficients.
        let unused = COEFF_TOKEN.each_ref().map(|codes| 65536 - share(codes.as_flattened()));
        assert_eq!(unused, [1 << 1, 1 << 3, 1 << 6, 2 << 10]);
        assert_eq!(share(COEFF_TOKEN_CHROMA_DC.as_flattened()), 65536);
        assert_eq!(TOTAL_ZEROS.map(share).map(|share| 65536 - share)[1..], [0; 14]);
        assert_eq!(TOTAL_ZEROS_CHROMA_DC.map(share), [65536; 3]);
        assert_eq!(RUN_BEFORE.map(share)[..6], [65536; 6]);
    }

    /// Oracle: the tables of codes.
    #[test]
    fn codes_decode_to_their_meaning() {
        let read = |(length, code): Code| [(u32::from(code) << (32 - length)).to_be_bytes(); 1];
        let tables: Vec<(&TokenTable, &[[Code; 4]])> = TOKENS
            .iter()
            .zip(COEFF_TOKEN.iter().map(|codes| &codes[..]))
            .chain([(&TOKENS_CHROMA_DC, &COEFF_TOKEN_CHROMA_DC[..])])
            .collect();
        for (table, codes) in tables {
            for (total, row) in codes.iter().enumerate() {
                for (ones, &code) in row.iter().enumerate().filter(|(_, code)| code.0 > 0) {
                    let bytes = read(code);
                    let mut reader = Cavlc::new(bytes.as_flattened(), 0);
                    assert_eq!(reader.token(table), Some((total, ones)));
                    assert_eq!(reader.bits.position(), usize::from(code.0));
                }
            }
        }
        for (table, codes) in ZEROS.iter().zip(TOTAL_ZEROS) {
            for (zeros, &code) in codes.iter().enumerate() {
                let bytes = read(code);
                assert_eq!(Cavlc::new(bytes.as_flattened(), 0).zeros(table), Some(zeros));
            }
        }
        for (left, codes) in RUN_BEFORE.iter().enumerate() {
            for (run, &code) in codes.iter().enumerate() {
                let bytes = read(code);
                let mut reader = Cavlc::new(bytes.as_flattened(), 0);
                assert_eq!(reader.run(left + 1), Some(run));
                assert_eq!(reader.bits.position(), usize::from(code.0));
            }
        }
    }

    /// Oracle: table 9-4 has each pattern once.
    #[test]
    fn each_pattern_has_one_code() {
        for patterns in PATTERNS {
            assert_eq!(patterns.iter().fold(0u64, |seen, &at| seen | 1 << at), (1 << 48) - 1);
        }
        for patterns in PATTERNS_MONOCHROME {
            assert_eq!(patterns.iter().fold(0u32, |seen, &at| seen | 1 << at), 0xffff);
        }
    }
}
