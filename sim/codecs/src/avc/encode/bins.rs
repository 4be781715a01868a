//! Syntax elements written with CABAC: binarizations and contexts (9.3.2, 9.3.3.1).

use super::arithmetic::Encoder;
use super::elements::Elements;
use crate::avc::SliceKind;
use crate::avc::bins::{
    CHROMA_MODE, DIFFERENCE, INTRA_MODE, LAST, LEVEL, PATTERN_CHROMA, PATTERN_LUMA,
    QUANTISER_DELTA, REFERENCE, SIGNIFICANT, SKIP_B, SKIP_P, SUB_TYPE_B, SUB_TYPE_P, TRANSFORM,
    TYPE_B, TYPE_B_INTRA, TYPE_I, TYPE_P, TYPE_P_INTRA, coded_context, contexts_8x8,
    difference_increment, is_not_blocks,
};
use crate::avc::state::Decoder;
use crate::avc::syntax::{Block, Levels};

/// Writes a macroblock's bins.
#[derive(Debug)]
pub(super) struct Cabac {
    /// The arithmetic encoder.
    pub bins: Encoder,
}

impl Cabac {
    /// The lowest `count` bits of `value`, all with one context, highest first.
    fn bits(&mut self, context: usize, value: u8, count: u32) {
        for bit in (0..count).rev() {
            self.bins.bin(context, value >> bit & 1 == 1);
        }
    }

    /// An intra type after its first bin. `step` is 1 in I slices, where bins have contexts of
    /// their own.
    fn intra_type(&mut self, first: usize, step: usize, number: u8) {
        self.bins.terminate(number == 25);
        if number == 25 {
            return;
        }
        let rest = number - 1;
        self.bins.bin(first + 1, rest >= 12);
        let chroma = rest % 12 / 4;
        self.bins.bin(first + 2, chroma > 0);
        if chroma > 0 {
            self.bins.bin(first + 2 + step, chroma == 2);
        }
        self.bins.bin(first + 3 + step, rest % 4 >= 2);
        self.bins.bin(first + 3 + 2 * step, rest % 2 == 1);
    }

    fn type_intra(&mut self, first: usize, number: u8) {
        self.bins.bin(first, number > 0);
        if number > 0 {
            self.intra_type(first, 0, number);
        }
    }

    fn type_p(&mut self, number: u8) {
        self.bins.bin(TYPE_P, number >= 5);
        match number {
            0 | 3 => {
                self.bins.bin(TYPE_P + 1, false);
                self.bins.bin(TYPE_P + 2, number == 3);
            }
            1 | 2 => {
                self.bins.bin(TYPE_P + 1, true);
                self.bins.bin(TYPE_P + 3, number == 1);
            }
            _ => self.type_intra(TYPE_P_INTRA, number - 5),
        }
    }

    fn type_b(&mut self, context: &Decoder<'_, '_>, number: u8) {
        let first = TYPE_B + context.count_around(|near| !near.direct_16x16);
        self.bins.bin(first, number > 0);
        if number == 0 {
            return;
        }
        self.bins.bin(TYPE_B + 3, number > 2);
        let (bits, more) = match number {
            1 | 2 => return self.bins.bin(TYPE_B + 5, number == 2),
            3..=10 => (number - 3, None),
            11 => (14, None),
            22 => (15, None),
            12..=21 => ((number + 4) >> 1, Some(number % 2 == 1)),
            _ => (13, None),
        };
        self.bins.bin(TYPE_B + 4, bits >> 3 == 1);
        self.bits(TYPE_B + 5, bits, 3);
        if let Some(more) = more {
            self.bins.bin(TYPE_B + 5, more);
        }
        if number >= 23 {
            self.type_intra(TYPE_B_INTRA, number - 23);
        }
    }

    fn sub_type_p(&mut self, number: u8) {
        self.bins.bin(SUB_TYPE_P, number == 0);
        if number > 0 {
            self.bins.bin(SUB_TYPE_P + 1, number > 1);
        }
        if number > 1 {
            self.bins.bin(SUB_TYPE_P + 2, number == 2);
        }
    }

    fn sub_type_b(&mut self, number: u8) {
        self.bins.bin(SUB_TYPE_B, number > 0);
        if number == 0 {
            return;
        }
        self.bins.bin(SUB_TYPE_B + 1, number > 2);
        if number > 2 {
            self.bins.bin(SUB_TYPE_B + 2, number > 6);
        }
        match number {
            1 | 2 => self.bits(SUB_TYPE_B + 3, number - 1, 1),
            3..=6 => self.bits(SUB_TYPE_B + 3, number - 3, 2),
            7..=10 => self.bits(SUB_TYPE_B + 3, number - 7, 3),
            _ => self.bits(SUB_TYPE_B + 3, 2 + (number - 11), 2),
        }
    }

    /// A component of a vector difference: unary up to 9, then Exp-Golomb of order 3 (9.3.2.3).
    fn component(&mut self, first: usize, sum: u16, value: i16) {
        let magnitude = u32::from(value.unsigned_abs());
        self.bins.bin(first + difference_increment(sum), magnitude > 0);
        if magnitude == 0 {
            return;
        }
        for at in 1..magnitude.min(9) as usize {
            self.bins.bin(first + (2 + at).min(6), true);
        }
        if magnitude < 9 {
            self.bins.bin(first + (2 + magnitude as usize).min(6), false);
        } else {
            self.exp_golomb(3, magnitude - 9);
        }
        self.bins.bypass(value < 0);
    }

    /// The suffix of UEGk binarization.
    fn exp_golomb(&mut self, order: u32, value: u32) {
        let (mut order, mut value) = (order, value);
        while value >= 1 << order {
            self.bins.bypass(true);
            value -= 1 << order;
            order += 1;
        }
        self.bins.bypass(false);
        for bit in (0..order).rev() {
            self.bins.bypass(value >> bit & 1 == 1);
        }
    }

    /// The significance map: positions of the coefficients in coding order.
    fn map(&mut self, levels: &Levels, size: usize, contexts: impl Fn(usize) -> (usize, usize)) {
        let mut positions = levels.iter().map(|(position, _)| position).peekable();
        for position in 0..size - 1 {
            let (significant, last) = contexts(position);
            let found = positions.next_if_eq(&position).is_some();
            self.bins.bin(significant, found);
            if found {
                let end = positions.peek().is_none();
                self.bins.bin(last, end);
                if end {
                    return;
                }
            }
        }
    }

    /// The values of the coefficients, last one first.
    fn values(&mut self, levels: &Levels, kind: Block) {
        let first = LEVEL[kind as usize];
        let most = if kind == Block::ChromaDc { 3 } else { 4 };
        let (mut ones, mut larger) = (0, 0);
        for value in levels.values[..levels.count.min(64)].iter().rev() {
            let increment = if larger > 0 { 0 } else { (1 + ones).min(4) };
            let magnitude = value.unsigned_abs();
            self.bins.bin(first + increment, magnitude > 1);
            if magnitude > 1 {
                let context = first + 5 + larger.min(most);
                for _ in 2..magnitude.min(15) {
                    self.bins.bin(context, true);
                }
                if magnitude < 15 {
                    self.bins.bin(context, false);
                } else {
                    self.exp_golomb(0, magnitude - 15);
                }
                larger += 1;
            } else {
                ones += 1;
            }
            self.bins.bypass(*value < 0);
        }
    }
}

impl Elements for Cabac {
    const ARITHMETIC: bool = true;

    fn position(&self) -> usize {
        self.bins.position()
    }

    /// `end_of_slice_flag` of the macroblock before.
    fn follow(&mut self) {
        self.bins.terminate(false);
    }

    /// `mb_skip_flag`.
    fn skip(&mut self, context: &Decoder<'_, '_>, skipped: bool) {
        let first = if context.slice.kind == SliceKind::B { SKIP_B } else { SKIP_P };
        self.bins.bin(first + context.count_around(|near| !near.skipped), skipped);
    }

    fn macroblock_type(&mut self, context: &Decoder<'_, '_>, number: u8) {
        match context.slice.kind {
            SliceKind::I => {
                self.bins.bin(TYPE_I + context.count_around(is_not_blocks), number > 0);
                if number > 0 {
                    self.intra_type(TYPE_I + 2, 1, number);
                }
            }
            SliceKind::P => self.type_p(number),
            SliceKind::B => self.type_b(context, number),
        }
    }

    fn sub_type(&mut self, context: &Decoder<'_, '_>, number: u8) {
        match context.slice.kind {
            SliceKind::B => self.sub_type_b(number),
            _ => self.sub_type_p(number),
        }
    }

    fn reference(
        &mut self,
        context: &Decoder<'_, '_>,
        list: usize,
        block: usize,
        _: u8,
        index: u8,
    ) {
        let mut increment = context.references_around(list, block);
        for _ in 0..index {
            self.bins.bin(REFERENCE + increment, true);
            increment = increment / 4 + 4;
        }
        self.bins.bin(REFERENCE + increment, false);
    }

    fn difference(&mut self, sums: [u16; 2], difference: [i16; 2]) {
        for axis in 0..2 {
            self.component(DIFFERENCE[axis], sums[axis], difference[axis]);
        }
    }

    fn intra_mode(&mut self, mode: Option<u8>) {
        self.bins.bin(INTRA_MODE, mode.is_none());
        if let Some(rest) = mode {
            (0..3).for_each(|bit| self.bins.bin(INTRA_MODE + 1, rest >> bit & 1 == 1));
        }
    }

    fn chroma_mode(&mut self, context: &Decoder<'_, '_>, mode: u8) {
        let first = CHROMA_MODE + context.count_around(|near| near.chroma_mode != 0);
        self.bins.bin(first, mode > 0);
        for at in 1..3 {
            if mode >= at {
                self.bins.bin(CHROMA_MODE + 3, mode > at);
            }
        }
    }

    fn pattern(&mut self, context: &Decoder<'_, '_>, _: bool, pattern: u8) {
        for block in 0..4 {
            let increment = context.patterns_around(block, pattern & ((1 << block) - 1));
            self.bins.bin(PATTERN_LUMA + increment, pattern >> block & 1 == 1);
        }
        if context.parameters.monochrome {
            return;
        }
        let any = context.count_around_weighted(|near| near.pattern >> 4 != 0);
        self.bins.bin(PATTERN_CHROMA + any, pattern >> 4 != 0);
        if pattern >> 4 != 0 {
            let ac = context.count_around_weighted(|near| near.pattern >> 4 == 2);
            self.bins.bin(PATTERN_CHROMA + 4 + ac, pattern >> 4 == 2);
        }
    }

    fn transform_flag(&mut self, context: &Decoder<'_, '_>, flag: bool) {
        self.bins.bin(TRANSFORM + context.count_around(|near| near.transform_8x8), flag);
    }

    fn quantiser_delta(&mut self, again: bool, delta: i32) {
        let count = if delta > 0 { 2 * delta - 1 } else { -2 * delta };
        let mut increment = usize::from(again);
        for _ in 0..count {
            self.bins.bin(QUANTISER_DELTA + increment, true);
            increment = 2 + increment / 2;
        }
        self.bins.bin(QUANTISER_DELTA + increment, false);
    }

    fn residual(&mut self, context: &Decoder<'_, '_>, kind: Block, block: usize, levels: &Levels) {
        let field = usize::from(context.field_coded);
        if kind == Block::Luma8x8 {
            self.map(levels, 64, |position| contexts_8x8(field, position));
            return self.values(levels, kind);
        }
        self.bins.bin(coded_context(context, kind, block), levels.count > 0);
        if levels.count > 0 {
            let (significant, last) =
                (SIGNIFICANT[field][kind as usize], LAST[field][kind as usize]);
            self.map(levels, kind.size(), |at| (significant + at, last + at));
            self.values(levels, kind);
        }
    }

    fn samples(&mut self, samples: &[u8]) {
        self.bins.raw(samples);
    }
}
