//! Syntax elements written with CAVLC (9.1, 9.2).

use super::elements::Elements;
use crate::avc::cavlc::{PATTERNS, PATTERNS_MONOCHROME, table_of};
use crate::avc::cavlc_tables::{
    COEFF_TOKEN, COEFF_TOKEN_CHROMA_DC, Code, RUN_BEFORE, TOTAL_ZEROS, TOTAL_ZEROS_CHROMA_DC,
};
use crate::avc::state::Decoder;
use crate::avc::syntax::{Block, Levels};
use crate::bits::BitWriter;

/// Writes a macroblock's bits.
#[derive(Debug)]
pub(super) struct Cavlc<'a> {
    /// The bits of the stream.
    pub bits: &'a mut BitWriter,
    /// Skipped macroblocks since the last coded one: `mb_skip_run` of the next coded macroblock.
    pub run: u32,
}

impl Cavlc<'_> {
    /// Ends the slice: its last skipped macroblocks, then the stop bit.
    pub fn end(self) {
        if self.run > 0 {
            self.bits.ue(self.run);
        }
        self.bits.put(1, 1);
    }

    fn code(&mut self, (length, code): Code) {
        self.bits.put(code.into(), length.into());
    }

    /// The levels of a block, last coefficient first (9.2.2).
    fn levels(&mut self, levels: &Levels, ones: usize) {
        let total = levels.count;
        let values = || levels.values[..total].iter().rev().copied();
        for value in values().take(ones) {
            self.bits.put(u32::from(value < 0), 1);
        }
        let mut suffix_length = u32::from(total > 10 && ones < 3);
        for (index, value) in values().enumerate().skip(ones) {
            let magnitude = value.unsigned_abs();
            let mut code = 2 * magnitude - 2 + u32::from(value < 0);
            if index == ones && ones < 3 {
                // The first level after the ones has a larger magnitude than 1, if there are less
                // than three.
                code -= 2;
            }
            self.level(code, suffix_length);
            suffix_length = suffix_length.max(1);
            if magnitude > 3 << (suffix_length - 1) && suffix_length < 6 {
                suffix_length += 1;
            }
        }
    }

    /// level_prefix and level_suffix (9.2.2.1).
    fn level(&mut self, code: u32, suffix_length: u32) {
        let (prefix, suffix, size) = if code < 14 && suffix_length == 0 {
            (code, 0, 0)
        } else if code < 30 && suffix_length == 0 {
            (14, code - 14, 4)
        } else if suffix_length > 0 && code < 15 << suffix_length {
            (code >> suffix_length, code & ((1 << suffix_length) - 1), suffix_length)
        } else {
            // An escape: of 12 bits, or one more for each further bit of the prefix.
            let rest = code - if suffix_length == 0 { 30 } else { 15 << suffix_length } + 4096;
            let prefix = rest.ilog2() + 3;
            (prefix, rest - (1 << (prefix - 3)), prefix - 3)
        };
        self.bits.put(1, prefix + 1);
        self.bits.put(suffix, size);
    }

    fn block(&mut self, tokens: &[[Code; 4]], size: usize, zeros: &[&[Code]], levels: &Levels) {
        let total = levels.count.min(16);
        let values = &levels.values[..total];
        let ones =
            values.iter().rev().take(3).take_while(|value| value.unsigned_abs() == 1).count();
        self.code(tokens[total][ones]);
        if total == 0 {
            return;
        }
        self.levels(levels, ones);
        let positions = &levels.positions[..total];
        let mut left = usize::from(positions[total - 1]) + 1 - total;
        if total < size {
            self.code(zeros[total - 1][left]);
        }
        for pair in positions.windows(2).rev() {
            if left == 0 {
                break;
            }
            let run = usize::from(pair[1] - pair[0]) - 1;
            self.code(RUN_BEFORE[left.min(7) - 1][run]);
            left -= run;
        }
    }
}

impl Elements for Cavlc<'_> {
    const ARITHMETIC: bool = false;

    fn position(&self) -> usize {
        self.bits.position()
    }

    fn follow(&mut self) {}

    /// `mb_skip_run`, if the macroblock is not skipped.
    fn skip(&mut self, _: &Decoder<'_, '_>, skipped: bool) {
        match skipped {
            true => self.run += 1,
            false => self.bits.ue(std::mem::take(&mut self.run)),
        }
    }

    fn macroblock_type(&mut self, _: &Decoder<'_, '_>, number: u8) {
        self.bits.ue(number.into());
    }

    fn sub_type(&mut self, _: &Decoder<'_, '_>, number: u8) {
        self.bits.ue(number.into());
    }

    fn reference(&mut self, _: &Decoder<'_, '_>, _: usize, _: usize, count: u8, index: u8) {
        match count {
            2 => self.bits.put(u32::from(index == 0), 1),
            _ => self.bits.ue(index.into()),
        }
    }

    fn difference(&mut self, _: [u16; 2], difference: [i16; 2]) {
        difference.into_iter().for_each(|component| self.bits.se(component.into()));
    }

    fn intra_mode(&mut self, mode: Option<u8>) {
        match mode {
            None => self.bits.put(1, 1),
            Some(rest) => self.bits.put(rest.into(), 4),
        }
    }

    fn chroma_mode(&mut self, _: &Decoder<'_, '_>, mode: u8) {
        self.bits.ue(mode.into());
    }

    fn pattern(&mut self, context: &Decoder<'_, '_>, intra: bool, pattern: u8) {
        let inter = usize::from(!intra);
        let patterns: &[u8] = match context.parameters.monochrome {
            true => &PATTERNS_MONOCHROME[inter],
            false => &PATTERNS[inter],
        };
        let number = patterns.iter().position(|&found| found == pattern).unwrap_or(0);
        self.bits.ue(number as u32);
    }

    fn transform_flag(&mut self, _: &Decoder<'_, '_>, flag: bool) {
        self.bits.put(flag.into(), 1);
    }

    fn quantiser_delta(&mut self, _: bool, delta: i32) {
        self.bits.se(delta);
    }

    fn residual(&mut self, context: &Decoder<'_, '_>, kind: Block, block: usize, levels: &Levels) {
        if kind == Block::ChromaDc {
            return self.block(&COEFF_TOKEN_CHROMA_DC, 4, &TOTAL_ZEROS_CHROMA_DC, levels);
        }
        let tokens = &COEFF_TOKEN[table_of(context, block)];
        self.block(tokens, kind.size(), &TOTAL_ZEROS, levels);
    }

    fn samples(&mut self, samples: &[u8]) {
        self.bits.align(false);
        self.bits.bytes(samples);
    }
}
