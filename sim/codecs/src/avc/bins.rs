//! Syntax elements of macroblocks coded with CABAC: binarizations and contexts (9.3.2, 9.3.3.1).

use super::cabac::Arithmetic;
use super::cabac_tables::{LAST_8X8, SIGNIFICANT_8X8};
use super::state::Decoder;
use super::syntax::{Block, Entropy, Levels, Part};
use super::{Macroblock, Prediction, SliceKind};

// First contexts of the syntax elements (table 9-34).
pub(super) const TYPE_I: usize = 3;
pub(super) const SKIP_P: usize = 11;
pub(super) const TYPE_P: usize = 14;
pub(super) const TYPE_P_INTRA: usize = 17;
pub(super) const SUB_TYPE_P: usize = 21;
pub(super) const SKIP_B: usize = 24;
pub(super) const TYPE_B: usize = 27;
pub(super) const TYPE_B_INTRA: usize = 32;
pub(super) const SUB_TYPE_B: usize = 36;
pub(super) const DIFFERENCE: [usize; 2] = [40, 47];
pub(super) const REFERENCE: usize = 54;
pub(super) const QUANTISER_DELTA: usize = 60;
pub(super) const CHROMA_MODE: usize = 64;
pub(super) const INTRA_MODE: usize = 68;
const FIELD: usize = 70;
pub(super) const PATTERN_LUMA: usize = 73;
pub(super) const PATTERN_CHROMA: usize = 77;
pub(super) const TRANSFORM: usize = 399;

// First contexts of the elements of a block by its kind (tables 9-34 and 9-40).
const CODED: [usize; 5] = [85, 89, 93, 97, 101];
/// significant_coeff_flag: of frame, of field macroblocks.
pub(super) const SIGNIFICANT: [[usize; 6]; 2] =
    [[105, 120, 134, 149, 152, 402], [277, 292, 306, 321, 324, 436]];
/// last_significant_coeff_flag: of frame, of field macroblocks.
pub(super) const LAST: [[usize; 6]; 2] =
    [[166, 181, 195, 210, 213, 417], [338, 353, 367, 382, 385, 451]];
pub(super) const LEVEL: [usize; 6] = [227, 237, 247, 257, 266, 426];

/// The increment of the context of the first bin of a component of a vector difference, by the sum
/// of the absolute differences of the neighbours (9.3.3.1.1.7).
#[inline(always)]
pub(super) fn difference_increment(sum: u16) -> usize {
    match sum {
        0..3 => 0,
        3..33 => 1,
        _ => 2,
    }
}

/// True for macroblocks that count for the context of mb_type in I slices (9.3.3.1.1.3).
#[inline(always)]
pub(super) fn is_not_blocks(near: &Macroblock) -> bool {
    !matches!(near.prediction, Prediction::Intra4x4 | Prediction::Intra8x8)
}

/// The context of coded_block_flag (9.3.3.1.1.9).
#[inline(always)]
pub(super) fn coded_context(context: &Decoder<'_, '_>, kind: Block, block: usize) -> usize {
    let (left, above) = match kind {
        Block::LumaDc => context.dc_around(0),
        Block::ChromaDc => context.dc_around(1 + block.saturating_sub(16) / 4),
        _ => {
            let (left, above) = context.counts_around(block);
            (left.map(|count| count > 0), above.map(|count| count > 0))
        }
    };
    // Outside of the slice, intra macroblocks assume coefficients.
    let [left, above] = [left, above].map(|flag| flag.unwrap_or(context.current.is_intra()));
    CODED[kind as usize % 5] + usize::from(left) + 2 * usize::from(above)
}

/// The contexts of significant_coeff_flag and last_significant_coeff_flag at a position of an 8x8
/// block. `field`: 1 in field macroblocks.
#[inline(always)]
pub(super) fn contexts_8x8(field: usize, position: usize) -> (usize, usize) {
    let kind = Block::Luma8x8 as usize;
    let significant = usize::from(SIGNIFICANT_8X8[field][position]);
    (SIGNIFICANT[field][kind] + significant, LAST[field][kind] + usize::from(LAST_8X8[position]))
}

/// Reads a macroblock's bins.
#[derive(Clone, Debug)]
pub(super) struct Cabac<'a> {
    /// The arithmetic decoder.
    pub bins: Arithmetic<'a>,
}

impl Cabac<'_> {
    /// `mb_skip_flag` of the macroblock in decoding.
    pub fn skip_flag(&mut self, context: &Decoder<'_, '_>) -> bool {
        let first = if context.slice.kind == SliceKind::B { SKIP_B } else { SKIP_P };
        self.bins.bin(first + context.count_around(|near| !near.skipped))
    }

    /// An intra type after the prefix of P and B slices, or in I slices. `step` is 1 in I slices,
    /// where bins have contexts of their own.
    fn intra_type(&mut self, first: usize, step: usize) -> u8 {
        if self.bins.terminate() {
            return 25;
        }
        let mut number = 1;
        if self.bins.bin(first + 1) {
            number += 12;
        }
        if self.bins.bin(first + 2) {
            number += if self.bins.bin(first + 2 + step) { 8 } else { 4 };
        }
        if self.bins.bin(first + 3 + step) {
            number += 2;
        }
        number + u8::from(self.bins.bin(first + 3 + 2 * step))
    }

    fn type_i(&mut self, context: &Decoder<'_, '_>) -> u8 {
        if !self.bins.bin(TYPE_I + context.count_around(is_not_blocks)) {
            return 0;
        }
        self.intra_type(TYPE_I + 2, 1)
    }

    fn type_intra(&mut self, first: usize) -> u8 {
        if !self.bins.bin(first) {
            return 0;
        }
        self.intra_type(first, 0)
    }

    fn type_p(&mut self) -> u8 {
        if self.bins.bin(TYPE_P) {
            return 5 + self.type_intra(TYPE_P_INTRA);
        }
        if self.bins.bin(TYPE_P + 1) {
            2 - u8::from(self.bins.bin(TYPE_P + 3))
        } else {
            3 * u8::from(self.bins.bin(TYPE_P + 2))
        }
    }

    fn type_b(&mut self, context: &Decoder<'_, '_>) -> u8 {
        if !self.bins.bin(TYPE_B + context.count_around(|near| !near.direct_16x16)) {
            return 0;
        }
        if !self.bins.bin(TYPE_B + 3) {
            return 1 + u8::from(self.bins.bin(TYPE_B + 5));
        }
        let mut bits = u8::from(self.bins.bin(TYPE_B + 4));
        for _ in 0..3 {
            bits = bits << 1 | u8::from(self.bins.bin(TYPE_B + 5));
        }
        match bits {
            0..8 => bits + 3,
            13 => 23 + self.type_intra(TYPE_B_INTRA),
            14 => 11,
            15 => 22,
            _ => (bits << 1 | u8::from(self.bins.bin(TYPE_B + 5))) - 4,
        }
    }

    fn sub_type_p(&mut self) -> u8 {
        if self.bins.bin(SUB_TYPE_P) {
            0
        } else if !self.bins.bin(SUB_TYPE_P + 1) {
            1
        } else {
            3 - u8::from(self.bins.bin(SUB_TYPE_P + 2))
        }
    }

    fn sub_type_b(&mut self) -> u8 {
        if !self.bins.bin(SUB_TYPE_B) {
            return 0;
        }
        if !self.bins.bin(SUB_TYPE_B + 1) {
            return 1 + u8::from(self.bins.bin(SUB_TYPE_B + 3));
        }
        let mut number = 3;
        if self.bins.bin(SUB_TYPE_B + 2) {
            if self.bins.bin(SUB_TYPE_B + 3) {
                return 11 + u8::from(self.bins.bin(SUB_TYPE_B + 3));
            }
            number += 4;
        }
        number += 2 * u8::from(self.bins.bin(SUB_TYPE_B + 3));
        number + u8::from(self.bins.bin(SUB_TYPE_B + 3))
    }

    /// A component of a vector difference: unary up to 9, then Exp-Golomb of order 3 (9.3.2.3).
    fn component(&mut self, first: usize, sum: u16) -> Option<i16> {
        if !self.bins.bin(first + difference_increment(sum)) {
            return Some(0);
        }
        let mut value = 1;
        while value < 9 && self.bins.bin(first + (2 + value).min(6)) {
            value += 1;
        }
        let mut value = value as i32;
        if value == 9 {
            value += self.exp_golomb(3)?;
        }
        let value = i16::try_from(value).ok()?;
        Some(if self.bins.bypass() { -value } else { value })
    }

    /// The suffix of UEGk binarization.
    fn exp_golomb(&mut self, order: u32) -> Option<i32> {
        let mut order = order;
        let mut value = 0;
        while self.bins.bypass() {
            value += 1 << order;
            order += 1;
            if order > 24 {
                return None;
            }
        }
        for bit in (0..order).rev() {
            value += i32::from(self.bins.bypass()) << bit;
        }
        Some(value)
    }

    /// coded_block_flag.
    fn coded(&mut self, context: &Decoder<'_, '_>, kind: Block, block: usize) -> bool {
        self.bins.bin(coded_context(context, kind, block))
    }

    /// The significance map: positions of the coefficients in coding order.
    #[inline(always)]
    fn map(
        &mut self,
        levels: &mut Levels,
        size: usize,
        contexts: impl Fn(usize) -> (usize, usize),
    ) {
        for position in 0..size - 1 {
            let (significant, last) = contexts(position);
            if self.bins.bin(significant) {
                levels.push(position, 0);
                if self.bins.bin(last) {
                    return;
                }
            }
        }
        levels.push(size - 1, 0);
    }

    /// The values of the coefficients, last one first.
    fn values(&mut self, levels: &mut Levels, kind: Block) -> Option<()> {
        let first = LEVEL[kind as usize];
        let most = if kind == Block::ChromaDc { 3 } else { 4 };
        let (mut ones, mut larger) = (0, 0);
        for value in levels.values[..levels.count.min(64)].iter_mut().rev() {
            let increment = if larger > 0 { 0 } else { (1 + ones).min(4) };
            let mut level = 1;
            if self.bins.bin(first + increment) {
                let context = first + 5 + larger.min(most);
                level = 2;
                while level < 15 && self.bins.bin(context) {
                    level += 1;
                }
                if level == 15 {
                    level += self.exp_golomb(0)?;
                }
                larger += 1;
            } else {
                ones += 1;
            }
            *value = if self.bins.bypass() { -level } else { level };
        }
        Some(())
    }
}

impl Entropy for Cabac<'_> {
    const ARITHMETIC: bool = true;
    const WRITES: bool = false;

    fn field_flag(&mut self, context: &Decoder<'_, '_>) -> bool {
        self.bins.bin(FIELD + context.field_pairs_around())
    }

    fn macroblock_type(&mut self, context: &Decoder<'_, '_>) -> Option<u8> {
        Some(match context.slice.kind {
            SliceKind::I => self.type_i(context),
            SliceKind::P => self.type_p(),
            SliceKind::B => self.type_b(context),
        })
    }

    fn sub_type(&mut self, context: &Decoder<'_, '_>, _: usize) -> Option<u8> {
        Some(match context.slice.kind {
            SliceKind::B => self.sub_type_b(),
            _ => self.sub_type_p(),
        })
    }

    fn reference(
        &mut self,
        context: &Decoder<'_, '_>,
        list: usize,
        block: usize,
        count: u8,
    ) -> Option<i8> {
        let mut increment = context.references_around(list, block);
        let mut index = 0;
        while self.bins.bin(REFERENCE + increment) {
            index += 1;
            if index >= count {
                return None;
            }
            increment = increment / 4 + 4;
        }
        i8::try_from(index).ok()
    }

    fn difference(&mut self, _: &Part, sums: [u16; 2]) -> Option<[i16; 2]> {
        let x = self.component(DIFFERENCE[0], sums[0])?;
        let y = self.component(DIFFERENCE[1], sums[1])?;
        Some([x, y])
    }

    fn intra_mode(&mut self, _: usize, predicted: u8) -> u8 {
        if self.bins.bin(INTRA_MODE) {
            return predicted;
        }
        let bit = |bins: &mut Arithmetic<'_>| u8::from(bins.bin(INTRA_MODE + 1));
        let rest = (0..3).fold(0, |mode, at| mode | bit(&mut self.bins) << at);
        rest + u8::from(rest >= predicted)
    }

    fn chroma_mode(&mut self, context: &Decoder<'_, '_>) -> Option<u8> {
        if !self.bins.bin(CHROMA_MODE + context.count_around(|near| near.chroma_mode != 0)) {
            return Some(0);
        }
        for mode in 1..3 {
            if !self.bins.bin(CHROMA_MODE + 3) {
                return Some(mode);
            }
        }
        Some(3)
    }

    fn pattern(&mut self, context: &Decoder<'_, '_>, _: bool) -> Option<u8> {
        let mut pattern = 0;
        for block in 0..4 {
            let increment = context.patterns_around(block, pattern);
            pattern |= u8::from(self.bins.bin(PATTERN_LUMA + increment)) << block;
        }
        if context.parameters.monochrome {
            return Some(pattern);
        }
        let any = context.count_around_weighted(|near| near.pattern >> 4 != 0);
        if self.bins.bin(PATTERN_CHROMA + any) {
            let ac = context.count_around_weighted(|near| near.pattern >> 4 == 2);
            pattern |= if self.bins.bin(PATTERN_CHROMA + 4 + ac) { 0x20 } else { 0x10 };
        }
        Some(pattern)
    }

    fn transform_flag(&mut self, context: &Decoder<'_, '_>) -> bool {
        self.bins.bin(TRANSFORM + context.count_around(|near| near.transform_8x8))
    }

    fn quantiser_delta(&mut self, again: bool) -> Option<i32> {
        let mut increment = usize::from(again);
        let mut value = 0;
        while self.bins.bin(QUANTISER_DELTA + increment) {
            increment = 2 + increment / 2;
            value += 1;
            if value > 104 {
                return None;
            }
        }
        Some(if value % 2 == 1 { (value + 1) / 2 } else { -value / 2 })
    }

    fn residual(
        &mut self,
        context: &Decoder<'_, '_>,
        kind: Block,
        block: usize,
        levels: &mut Levels,
    ) -> Option<()> {
        let field = usize::from(context.field_coded);
        if kind == Block::Luma8x8 {
            self.map(levels, 64, |position| contexts_8x8(field, position));
            return self.values(levels, kind);
        }
        if !self.coded(context, kind, block) {
            return Some(());
        }
        let (significant, last) = (SIGNIFICANT[field][kind as usize], LAST[field][kind as usize]);
        if kind == Block::ChromaDc {
            self.map(levels, 4, |position| (significant + position, last + position));
        } else {
            self.map(levels, kind.size(), |position| (significant + position, last + position));
        }
        self.values(levels, kind)
    }

    fn samples(&mut self, out: &mut [u8]) -> Option<()> {
        self.bins.raw(out)
    }

    fn overrun(&self) -> bool {
        self.bins.overrun()
    }
}
