//! Random transform coefficients and their two codes.

use super::bits::Cabac;
use super::tables::{
    COEFF_TOKEN, COEFF_TOKEN_CHROMA_DC, Code, LAST_8X8, RUN_BEFORE, SIGNIFICANT_8X8, TOTAL_ZEROS,
    TOTAL_ZEROS_CHROMA_DC,
};
use crate::bits::BitWriter;

/// Largest sum of absolute coefficients after scaling. The transforms of 8x8 blocks at most double
/// it, so no intermediate value leaves 16 bits (8.5.12.2).
const BUDGET: i64 = 10_000;

/// Largest level: level_prefix of CAVLC stays below 16 (9.2.2.1).
const LEVEL: i64 = 2000;

/// `length` levels in scan order. `scale` is what a level of 1 becomes after scaling.
pub fn random(random: &mut fastrand::Rng, length: usize, scale: i64) -> Vec<i32> {
    let mut levels = vec![0; length];
    let scale = scale.max(1);
    let mut budget = BUDGET / scale;
    let count = match random.u8(0..10) {
        0..=2 => 0,
        3..=6 => random.usize(1..=3),
        7..=8 => random.usize(1..=length),
        _ => length,
    };
    let reach = if random.bool() { length } else { random.usize(1..=length) };
    for _ in 0..count {
        let at = random.usize(0..reach);
        let limit = budget.min(LEVEL);
        if limit < 1 || levels[at] != 0 {
            continue;
        }
        let size = match random.u8(0..20) {
            0..=12 => 1,
            13..=17 => random.i64(1..=limit.min(3)),
            18 => random.i64(1..=limit.min(40)),
            _ => random.i64(1..=limit),
        };
        budget -= size;
        levels[at] = if random.bool() { size as i32 } else { -size as i32 };
    }
    levels
}

/// True if a block of one level 1 is within the budget.
pub fn possible(scale: i64) -> bool {
    scale <= BUDGET
}

fn code(out: &mut BitWriter, (length, value): Code) {
    assert!(length > 0, "no such code");
    out.put(u32::from(value), u32::from(length));
}

/// Writes a block with CAVLC (9.2) and returns its number of coefficients. `neighbours` is nC;
/// None for chroma DC.
pub fn cavlc(out: &mut BitWriter, levels: &[i32], neighbours: Option<u8>) -> u8 {
    let found: Vec<usize> = (0..levels.len()).rev().filter(|&at| levels[at] != 0).collect();
    let total = found.len();
    let ones = found.iter().take(3).take_while(|&&at| levels[at].abs() == 1).count();
    code(
        out,
        match neighbours {
            None => COEFF_TOKEN_CHROMA_DC[total][ones],
            Some(0..=1) => COEFF_TOKEN[0][total][ones],
            Some(2..=3) => COEFF_TOKEN[1][total][ones],
            Some(4..=7) => COEFF_TOKEN[2][total][ones],
            Some(_) => COEFF_TOKEN[3][total][ones],
        },
    );
    for &at in &found[..ones] {
        out.flag(levels[at] < 0);
    }
    let mut length = u32::from(total > 10 && ones < 3);
    for (index, &at) in found[ones..].iter().enumerate() {
        let level = levels[at];
        let size = level.unsigned_abs();
        let mut code = 2 * size - 2 + u32::from(level < 0);
        if index == 0 && ones < 3 {
            code -= 2;
        }
        let (prefix, suffix, bits) = match length {
            0 if code < 14 => (code, 0, 0),
            0 if code < 30 => (14, code - 14, 4),
            0 => (15, code - 30, 12),
            _ if code < 15 << length => (code >> length, code & ((1 << length) - 1), length),
            _ => (15, code - (15 << length), 12),
        };
        out.put(0, prefix);
        out.flag(true);
        out.put(suffix, bits);
        length = length.max(1);
        if size > 3 << (length - 1) && length < 6 {
            length += 1;
        }
    }
    if total == 0 {
        return 0;
    }
    let mut zeros = found[0] + 1 - total;
    if total < levels.len() {
        let table = if neighbours.is_none() { &TOTAL_ZEROS_CHROMA_DC[..] } else { &TOTAL_ZEROS };
        code(out, table[total - 1][zeros]);
    }
    for pair in found.windows(2) {
        if zeros == 0 {
            break;
        }
        let run = pair[0] - pair[1] - 1;
        code(out, RUN_BEFORE[zeros.min(7) - 1][run]);
        zeros -= run;
    }
    total as u8
}

/// Context offsets of a block category (table 9-40): significant, last, level.
const OFFSETS: [[usize; 3]; 5] =
    [[0, 0, 0], [15, 15, 10], [29, 29, 20], [44, 44, 30], [47, 47, 39]];

/// Writes the coefficients of a block with CABAC (7.3.5.3.3), of which at least one is not 0.
/// `category` is ctxBlockCat, `field` selects the contexts of field macroblocks.
pub fn cabac(out: &mut Cabac, levels: &[i32], category: usize, field: bool) {
    let last = levels.iter().rposition(|&level| level != 0).expect("a coefficient");
    let large = category == 5;
    let [significant, end, level_base] = if large {
        [[402, 417, 426], [436, 451, 426]][usize::from(field)]
    } else {
        let [significant, end, level] = OFFSETS[category];
        let base = if field { [277, 338] } else { [105, 166] };
        [base[0] + significant, base[1] + end, 227 + level]
    };
    for (at, &level) in levels.iter().enumerate().take(levels.len() - 1) {
        let (map, stop) = match category {
            3 => (at.min(2), at.min(2)),
            5 => (SIGNIFICANT_8X8[usize::from(field)][at] as usize, LAST_8X8[at] as usize),
            _ => (at, at),
        };
        out.bin(significant + map, level != 0);
        if level != 0 {
            out.bin(end + stop, at == last);
            if at == last {
                break;
            }
        }
    }
    let (mut ones, mut more) = (0usize, 0usize);
    for &level in levels.iter().rev().filter(|&&level| level != 0) {
        let rest = level.unsigned_abs() - 1;
        let first = if more > 0 { 0 } else { (1 + ones).min(4) };
        let next = 5 + more.min(if category == 3 { 3 } else { 4 });
        for bin in 0..rest.min(14) {
            out.bin(level_base + if bin == 0 { first } else { next }, true);
        }
        if rest < 14 {
            out.bin(level_base + if rest == 0 { first } else { next }, false);
        } else {
            out.exp_golomb(rest - 14, 0);
        }
        out.bypass(level < 0);
        if rest == 0 {
            ones += 1;
        } else {
            more += 1;
        }
    }
}
