//! Look-up tables of variable length codes, built from the tables of the standard when the crate is
//! compiled.

use super::tables::{
    ADDRESS_INCREMENT, CODED_BLOCK_PATTERN, COEFFICIENTS, DC_SIZE_CHROMA, DC_SIZE_LUMA,
    END_OF_BLOCK, ESCAPE_COEFFICIENT, MACROBLOCK_TYPE_B, MACROBLOCK_TYPE_I, MACROBLOCK_TYPE_P,
    MOTION_CODE,
};
use crate::bits::BitReader;
use std::fmt;

/// Codes of at most `BITS` bits; `SIZE` is 2 to the power of `BITS`.
pub(super) struct Codes<const BITS: u32, const SIZE: usize> {
    /// Value and length by the next bits. The length is 0 if no code begins with them.
    entries: [(u8, u8); SIZE],
}

pub(super) static INCREMENTS: Codes<11, 2048> = Codes::new(&ADDRESS_INCREMENT);
pub(super) static TYPES_I: Codes<6, 64> = Codes::new(&MACROBLOCK_TYPE_I);
pub(super) static TYPES_P: Codes<6, 64> = Codes::new(&MACROBLOCK_TYPE_P);
pub(super) static TYPES_B: Codes<6, 64> = Codes::new(&MACROBLOCK_TYPE_B);
pub(super) static PATTERNS: Codes<9, 512> = Codes::new(&CODED_BLOCK_PATTERN);
pub(super) static MOTION: Codes<10, 1024> = Codes::new(&MOTION_CODE);
pub(super) static DC_LUMA: Codes<10, 1024> = Codes::new(&DC_SIZE_LUMA);
pub(super) static DC_CHROMA: Codes<10, 1024> = Codes::new(&DC_SIZE_CHROMA);

impl<const BITS: u32, const SIZE: usize> Codes<BITS, SIZE> {
    const fn new(rows: &[(&str, u8)]) -> Self {
        let mut entries = [(0, 0); SIZE];
        let mut row = 0;
        while row < rows.len() {
            let (code, length) = parse(rows[row].0);
            let mut at = (code << (BITS - length)) as usize;
            let end = at + (1 << (BITS - length));
            while at < end {
                assert!(entries[at].1 == 0, "a code is the prefix of another one");
                entries[at] = (rows[row].1, length as u8);
                at += 1;
            }
            row += 1;
        }
        Codes { entries }
    }

    /// Reads a code. `None` if the table has no such code.
    #[inline]
    pub(super) fn read(&self, reader: &mut BitReader) -> Option<u8> {
        let &(value, length) = self.entries.get(reader.peek(BITS) as usize)?;
        if length == 0 {
            return None;
        }
        reader.skip(usize::from(length));
        Some(value)
    }
}

/// A code of a DCT coefficients table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Coefficient {
    /// Zeros before the coefficient, or [`ESCAPE`] or [`END`].
    pub(super) run: u8,
    /// Magnitude.
    pub(super) level: u8,
    /// Bits of the code, 0 if it is not in the table.
    pub(super) length: u8,
}

/// [`Coefficient::run`] of the escape code.
pub(super) const ESCAPE: u8 = 64;
/// [`Coefficient::run`] of the end of the block.
pub(super) const END: u8 = 65;

/// Codes of a DCT coefficients table. Codes of more than eight bits begin with six zeros, so two
/// small tables hold all.
pub(super) struct Coefficients {
    /// By the next eight bits.
    short: [Coefficient; 256],
    /// By the next sixteen bits, the first six of which are zero.
    long: [Coefficient; 1024],
}

/// Table B.14.
pub(super) static ZERO: Coefficients = Coefficients::new(0);
/// Table B.15.
pub(super) static ONE: Coefficients = Coefficients::new(1);

impl Coefficients {
    /// The codes of table B.14 for `index` 0, of table B.15 for 1.
    const fn new(index: usize) -> Self {
        let none = Coefficient { run: 0, level: 0, length: 0 };
        let mut table = Coefficients { short: [none; 256], long: [none; 1024] };
        let mut row = 0;
        while row < COEFFICIENTS.len() {
            let (run, level, codes) = COEFFICIENTS[row];
            table = table.with(codes[index], run, level);
            row += 1;
        }
        table.with(ESCAPE_COEFFICIENT, ESCAPE, 0).with(END_OF_BLOCK[index], END, 0)
    }

    const fn with(mut self, code: &str, run: u8, level: u8) -> Self {
        let (code, length) = parse(code);
        let (bits, entries): (u32, &mut [Coefficient]) =
            if length <= 8 { (8, &mut self.short) } else { (16, &mut self.long) };
        let mut at = (code << (bits - length)) as usize;
        let end = at + (1 << (bits - length));
        while at < end {
            assert!(entries[at].length == 0, "a code is the prefix of another one");
            entries[at] = Coefficient { run, level, length: length as u8 };
            at += 1;
        }
        self
    }

    /// The code that the next sixteen bits begin with.
    #[inline]
    pub(super) fn find(&self, bits: u32) -> Coefficient {
        match self.short[(bits >> 8 & 0xff) as usize] {
            Coefficient { length: 0, .. } => match self.long.get(bits as usize) {
                Some(&coefficient) => coefficient,
                None => Coefficient { run: 0, level: 0, length: 0 },
            },
            coefficient => coefficient,
        }
    }
}

impl fmt::Debug for Coefficients {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if std::ptr::eq(self, &ONE) { "table B.15" } else { "table B.14" })
    }
}

/// A code and its length from its bits in text.
const fn parse(text: &str) -> (u32, u32) {
    let bytes = text.as_bytes();
    let (mut code, mut at) = (0, 0);
    while at < bytes.len() {
        code = code << 1 | (bytes[at] - b'0') as u32;
        at += 1;
    }
    (code, bytes.len() as u32)
}
