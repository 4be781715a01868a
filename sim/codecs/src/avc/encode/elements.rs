//! The plan of a macroblock as an entropy code of the decoder's parser: each element that the
//! parser asks for is written.

use super::plan::Plan;
use crate::avc::residual::raster;
use crate::avc::state::Decoder;
use crate::avc::syntax::{Block, Entropy, Levels, Part};

/// Writes the syntax elements of macroblocks. The methods from `macroblock_type` on are like those
/// of [`Entropy`], but take the value that they write.
pub(super) trait Elements {
    /// CABAC.
    const ARITHMETIC: bool;

    /// Number of bits so far.
    fn position(&self) -> usize;
    /// Must be called before each macroblock of a slice but the first.
    fn follow(&mut self);
    /// Writes, before a macroblock of a P or B slice, whether the macroblock is skipped.
    fn skip(&mut self, context: &Decoder<'_, '_>, skipped: bool);

    fn macroblock_type(&mut self, context: &Decoder<'_, '_>, number: u8);
    fn sub_type(&mut self, context: &Decoder<'_, '_>, number: u8);
    fn reference(
        &mut self,
        context: &Decoder<'_, '_>,
        list: usize,
        block: usize,
        count: u8,
        index: u8,
    );
    fn difference(&mut self, sums: [u16; 2], difference: [i16; 2]);
    /// `mode`: the part of the mode after the flag, or `None` for the predicted mode.
    fn intra_mode(&mut self, mode: Option<u8>);
    fn chroma_mode(&mut self, context: &Decoder<'_, '_>, mode: u8);
    fn pattern(&mut self, context: &Decoder<'_, '_>, intra: bool, pattern: u8);
    fn transform_flag(&mut self, context: &Decoder<'_, '_>, flag: bool);
    fn quantiser_delta(&mut self, again: bool, delta: i32);
    fn residual(&mut self, context: &Decoder<'_, '_>, kind: Block, block: usize, levels: &Levels);
    fn samples(&mut self, samples: &[u8]);
}

/// Writes a plan.
pub(super) struct Writer<'a, E> {
    pub plan: &'a Plan,
    pub elements: &'a mut E,
}

impl<E: Elements> Entropy for Writer<'_, E> {
    const ARITHMETIC: bool = E::ARITHMETIC;
    const WRITES: bool = true;

    fn field_flag(&mut self, context: &Decoder<'_, '_>) -> bool {
        context.current.field
    }

    fn macroblock_type(&mut self, context: &Decoder<'_, '_>) -> Option<u8> {
        self.elements.macroblock_type(context, self.plan.number);
        Some(self.plan.number)
    }

    fn sub_type(&mut self, context: &Decoder<'_, '_>, block: usize) -> Option<u8> {
        let number = self.plan.sub_types[block & 3];
        self.elements.sub_type(context, number);
        Some(number)
    }

    fn direct(&mut self, context: &mut Decoder<'_, '_>, mask: u8) {
        if self.plan.derive {
            context.direct(mask);
        } else {
            set_motion(context, self.plan, mask);
        }
    }

    fn reference(
        &mut self,
        context: &Decoder<'_, '_>,
        list: usize,
        block: usize,
        count: u8,
    ) -> Option<i8> {
        let index = self.plan.references[list & 1][block & 3];
        self.elements.reference(context, list, block, count, u8::try_from(index).ok()?);
        Some(index)
    }

    fn difference(&mut self, part: &Part, sums: [u16; 2]) -> Option<[i16; 2]> {
        let vector = self.plan.vectors[part.list & 1][part.at.1 * 4 + part.at.0];
        let difference = [0, 1].map(|axis| vector[axis].wrapping_sub(part.predicted[axis]));
        self.elements.difference(sums, difference);
        Some(difference)
    }

    fn intra_mode(&mut self, block: usize, predicted: u8) -> u8 {
        let mode = self.plan.modes[block & 15];
        let rest = (mode != predicted).then(|| mode - u8::from(mode > predicted));
        self.elements.intra_mode(rest);
        mode
    }

    fn chroma_mode(&mut self, context: &Decoder<'_, '_>) -> Option<u8> {
        self.elements.chroma_mode(context, self.plan.chroma_mode);
        Some(self.plan.chroma_mode)
    }

    fn pattern(&mut self, context: &Decoder<'_, '_>, intra: bool) -> Option<u8> {
        self.elements.pattern(context, intra, self.plan.pattern);
        Some(self.plan.pattern)
    }

    fn transform_flag(&mut self, context: &Decoder<'_, '_>) -> bool {
        self.elements.transform_flag(context, self.plan.transform_8x8);
        self.plan.transform_8x8
    }

    fn quantiser_delta(&mut self, again: bool) -> Option<i32> {
        self.elements.quantiser_delta(again, self.plan.delta);
        Some(self.plan.delta)
    }

    fn residual(
        &mut self,
        context: &Decoder<'_, '_>,
        kind: Block,
        block: usize,
        levels: &mut Levels,
    ) -> Option<()> {
        let residual = &self.plan.residual;
        let copy = |levels: &mut Levels, from: &Levels| {
            from.iter().for_each(|(position, value)| levels.push(position, value));
        };
        match kind {
            Block::LumaDc => copy(levels, &residual.luma_dc),
            Block::ChromaDc => copy(levels, &residual.chroma_dc[(block / 4).saturating_sub(4) & 1]),
            Block::ChromaAc => copy(levels, &residual.chroma[block.saturating_sub(16) & 7]),
            Block::Luma8x8 => copy(levels, &residual.luma[raster(block & 15)]),
            // The order of decoding is the inverse of itself.
            _ if !self.plan.transform_8x8 => copy(levels, &residual.luma[raster(block & 15)]),
            _ => {
                // CAVLC: every fourth coefficient of the 8x8 block.
                let index = raster(block & 15);
                for (position, value) in residual.luma[index & !3].iter() {
                    if position % 4 == index % 4 {
                        levels.push(position / 4, value);
                    }
                }
            }
        }
        self.elements.residual(context, kind, block, levels);
        Some(())
    }

    fn samples(&mut self, out: &mut [u8]) -> Option<()> {
        out.copy_from_slice(self.plan.samples.get(..out.len())?);
        self.elements.samples(out);
        Some(())
    }

    fn overrun(&self) -> bool {
        false
    }
}

/// Sets the motion of the 8x8 blocks in `mask` as the plan states it.
pub(super) fn set_motion(decoder: &mut Decoder<'_, '_>, plan: &Plan, mask: u8) {
    for list in 0..2 {
        for block in (0..16).filter(|block| mask >> (block / 8 * 2 + block % 4 / 2) & 1 == 1) {
            let reference = plan.references[list][block / 8 * 2 + block % 4 / 2];
            let vector = if reference < 0 { [0; 2] } else { plan.vectors[list][block] };
            decoder.cache.set(list, (block % 4, block / 4), (1, 1), reference, vector);
        }
    }
}
