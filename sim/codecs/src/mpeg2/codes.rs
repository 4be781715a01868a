//! The codes of annex B as numbers, made from [`super::tables`], to write them.

use super::tables::{
    ADDRESS_INCREMENT, CODED_BLOCK_PATTERN, COEFFICIENTS, DC_SIZE_CHROMA, DC_SIZE_LUMA,
    END_OF_BLOCK, ESCAPE_COEFFICIENT, MACROBLOCK_TYPE_B, MACROBLOCK_TYPE_I, MACROBLOCK_TYPE_P,
    MOTION_CODE,
};
use crate::bits::BitWriter;

/// Length in bits and value of a code. Length 0: there is no such code.
pub type Code = (u8, u16);

/// Codes by what they stand for.
pub static INCREMENTS: [Code; 35] = codes(&ADDRESS_INCREMENT);
pub static TYPES: [[Code; 32]; 3] =
    [codes(&MACROBLOCK_TYPE_I), codes(&MACROBLOCK_TYPE_P), codes(&MACROBLOCK_TYPE_B)];
pub static PATTERNS: [Code; 64] = codes(&CODED_BLOCK_PATTERN);
pub static MOTION: [Code; 17] = codes(&MOTION_CODE);
pub static DC_SIZES: [[Code; 12]; 2] = [codes(&DC_SIZE_LUMA), codes(&DC_SIZE_CHROMA)];

/// Codes of a run and a level by table (B.14, B.15), without the sign.
pub static LEVELS: [[[Code; LEVEL_COUNT]; RUN_COUNT]; 2] = [levels(0), levels(1)];
pub static ESCAPE: Code = code(ESCAPE_COEFFICIENT);
/// By table.
pub static END: [Code; 2] = [code(END_OF_BLOCK[0]), code(END_OF_BLOCK[1])];

/// Runs and levels below these may have a code.
pub const RUN_COUNT: usize = 32;
pub const LEVEL_COUNT: usize = 41;

const fn code(text: &str) -> Code {
    let bytes = text.as_bytes();
    let (mut value, mut at) = (0, 0);
    while at < bytes.len() {
        value = value << 1 | (bytes[at] - b'0') as u16;
        at += 1;
    }
    (bytes.len() as u8, value)
}

const fn codes<const N: usize>(table: &[(&str, u8)]) -> [Code; N] {
    let mut out = [(0, 0); N];
    let mut at = 0;
    while at < table.len() {
        out[table[at].1 as usize] = code(table[at].0);
        at += 1;
    }
    out
}

const fn levels(table: usize) -> [[Code; LEVEL_COUNT]; RUN_COUNT] {
    let mut out = [[(0, 0); LEVEL_COUNT]; RUN_COUNT];
    let mut at = 0;
    while at < COEFFICIENTS.len() {
        let (run, level, texts) = COEFFICIENTS[at];
        out[run as usize][level as usize] = code(texts[table]);
        at += 1;
    }
    out
}

/// Writes a code.
#[inline]
pub fn put(writer: &mut BitWriter, (length, value): Code) {
    writer.put(value.into(), length.into());
}
