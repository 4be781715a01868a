//! Coefficients of a block (8.1.3.4) and residuals of inter blocks (8.3.6.2).

use super::compensation::clip;
use super::decoder::{Damaged, Decoded, Decoder, Escape};
use super::macroblock::Quantizer;
use super::parameters::{Alternative, Coding};
use super::tables::{self, Transform};
use super::transform;

/// A coefficient that is not zero.
pub(super) struct Coefficient {
    /// Zeros in front of it.
    pub(super) run: usize,
    pub(super) level: i32,
    /// The last one of its block.
    pub(super) last: bool,
}

/// Which transform a macroblock's inter blocks have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// That of the picture, for all blocks.
    Picture(Transform),
    /// That of the macroblock, for all blocks.
    Macroblock(Transform),
    /// That of the macroblock for the first coded block; the others choose.
    First(Transform),
    /// Each block chooses.
    Block,
}

impl Decoder<'_> {
    /// The coding set of luma of intra blocks, or of chroma and of inter blocks (8.1.3.4).
    pub(super) fn coding_set(&self, inter: bool) -> usize {
        let p = self.p;
        let index = if inter || !p.intra() { p.chroma_set } else { p.luma_set };
        // PQINDEX up to 8: the implicit table uses the uniform quantiser exactly there.
        let low = if p.implicit { p.uniform } else { p.quantizer <= 8 };
        let set = match index {
            0 if low => 6,
            0 => 2,
            1 => 0,
            _ => 4,
        };
        set + usize::from(inter)
    }

    /// Reads a coefficient.
    pub(super) fn coefficient(&mut self, set: usize) -> Decoded<Coefficient> {
        let codes = self.codes;
        let (pairs, first_last) = &codes.pairs[set];
        let vlc = &codes.coefficients[set];
        let symbol = vlc.read(&mut self.bits).ok_or(Damaged)?;
        if let Some(&(run, level)) = pairs.get(symbol) {
            return Ok(self.signed(usize::from(run), i32::from(level), symbol >= *first_last));
        }
        let first = !self.bits.flag();
        if first && !self.bits.flag() {
            return Ok(self.escaped());
        }
        let symbol = vlc.read(&mut self.bits).ok_or(Damaged)?;
        let &(run, level) = pairs.get(symbol).ok_or(Damaged)?;
        let last = symbol >= *first_last;
        let levels = tables::MAX_LEVEL[set][usize::from(last)];
        if first {
            let runs = levels.iter().rposition(|&max| max >= level).map_or(0, |max| max + 1);
            Ok(self.signed(usize::from(run) + runs, i32::from(level), last))
        } else {
            let max = levels[usize::from(run)];
            Ok(self.signed(usize::from(run), i32::from(level) + i32::from(max), last))
        }
    }

    /// Adds the sign, which follows.
    fn signed(&mut self, run: usize, level: i32, last: bool) -> Coefficient {
        let level = if self.bits.flag() { -level } else { level };
        Coefficient { run, level, last }
    }

    /// Reads a coefficient of escape mode 3.
    fn escaped(&mut self) -> Coefficient {
        let last = self.bits.flag();
        let escape = match self.escape {
            Some(escape) => escape,
            None => {
                let few = self.p.quantizer >= 8 && self.p.alternative == Alternative::None;
                let level_bits = if few {
                    let zeros = self.bits.peek(6).leading_zeros().saturating_sub(26);
                    self.bits.skip(zeros as usize + usize::from(zeros < 6));
                    zeros + 2
                } else {
                    match self.bits.read(3) {
                        0 => self.bits.read(2) + 8,
                        bits => bits,
                    }
                };
                Escape { level_bits, run_bits: 3 + self.bits.read(2) }
            }
        };
        self.escape = Some(escape);
        let run = self.bits.read(escape.run_bits) as usize;
        let negative = self.bits.flag();
        let level = self.bits.read(escape.level_bits) as i32;
        Coefficient { run, level: if negative { -level } else { level }, last }
    }

    /// A level times the step of its quantiser (8.1.3), within 16 bits. A level of 0, which only
    /// an escape can state, counts as positive.
    pub(super) fn dequantized(&self, level: i32, quantizer: Quantizer) -> i32 {
        let dead_zone = if self.p.uniform { 0 } else { i32::from(quantizer.value()) };
        let dead_zone = if level < 0 { -dead_zone } else { dead_zone };
        let value = level * i32::from(quantizer.step) + dead_zone;
        value.clamp(i16::MIN.into(), i16::MAX.into())
    }

    /// TTMB of a macroblock with coded inter blocks (7.1.3.11), unless the picture states it.
    pub(super) fn transform_choice(&mut self) -> Decoded<Choice> {
        if self.p.picture_transform {
            return Ok(Choice::Picture(Transform::OF_PICTURE[usize::from(self.p.transform)]));
        }
        let codes = &self.codes.ttmb[self.transform_codes];
        let symbol = codes.read(&mut self.bits).ok_or(Damaged)?;
        let transform = Transform::ALL[symbol & 7];
        Ok(if symbol < 8 { Choice::First(transform) } else { Choice::Macroblock(transform) })
    }

    /// Decodes the residual of inter block `block` and adds it to the predicted samples. `first`:
    /// the first coded block of the macroblock.
    pub(super) fn inter_block(
        &mut self,
        block: usize,
        quantizer: Quantizer,
        choice: &mut Choice,
        first: bool,
    ) -> Decoded<()> {
        let (transform, parts) = self.block_transform(*choice, first)?;
        if matches!(choice, Choice::First(_)) {
            *choice = Choice::Block;
        }
        let mut coefficients = [0; 64];
        let set = self.coding_set(true);
        let scan = self.scan(transform);
        let (size, count) = match transform {
            Transform::Whole => ((8, 8), 1),
            Transform::Halves => ((8, 4), 2),
            Transform::Sides => ((4, 8), 2),
            _ => ((4, 4), 4),
        };
        let mut pattern = 0;
        for part in (0..count).filter(|part| parts & (1 << (count - 1 - part)) != 0) {
            let at = match transform {
                Transform::Halves => (0, part * 4),
                Transform::Sides => (part * 4, 0),
                _ => (part % 2 * 4, part / 2 * 4),
            };
            pattern |= match transform {
                Transform::Whole => 15,
                Transform::Halves => 12 >> (2 * part),
                Transform::Sides => 10 >> part,
                _ => 8 >> part,
            };
            let mut index = 0;
            loop {
                let coefficient = self.coefficient(set)?;
                index += coefficient.run;
                let Some(&position) = scan.get(index) else {
                    break;
                };
                coefficients[at.1 * 8 + at.0 + usize::from(position)] =
                    self.dequantized(coefficient.level, quantizer);
                index += 1;
                if coefficient.last {
                    break;
                }
            }
            transform::inverse(&mut coefficients, at, size);
        }
        let macroblock = self.current();
        macroblock.pattern[block] = pattern;
        macroblock.transform[block] = transform;
        self.add_residual(block, &coefficients);
        Ok(())
    }

    /// The transform of an inter block: [`Transform::Whole`], `Halves`, `Sides` or `Quarters`, and
    /// a bit per coded part of it, the first part in the highest bit (7.1.4).
    fn block_transform(&mut self, choice: Choice, first: bool) -> Decoded<(Transform, u32)> {
        let transform = match choice {
            Choice::Picture(transform)
            | Choice::Macroblock(transform)
            | Choice::First(transform) => transform,
            Choice::Block => {
                let codes = &self.codes.ttblk[self.transform_codes];
                let symbol = codes.read(&mut self.bits).ok_or(Damaged)?;
                tables::TTBLK_TRANSFORM[self.transform_codes][symbol]
            }
        };
        let generic = match transform {
            Transform::Whole => return Ok((Transform::Whole, 1)),
            Transform::Quarters => {
                let codes = &self.codes.subblkpat[self.transform_codes];
                let symbol = codes.read(&mut self.bits).ok_or(Damaged)?;
                return Ok((Transform::Quarters, symbol as u32 + 1));
            }
            Transform::Lower | Transform::Upper | Transform::Halves => Transform::Halves,
            _ => Transform::Sides,
        };
        let stated = match choice {
            Choice::Picture(_) => true,
            Choice::Macroblock(_) => !first,
            Choice::First(_) | Choice::Block => false,
        };
        let parts = if stated {
            [3, 1, 2][self.ternary() as usize]
        } else {
            match transform {
                Transform::Upper | Transform::Left => 2,
                Transform::Lower | Transform::Right => 1,
                _ => 3,
            }
        };
        Ok((generic, parts))
    }

    /// The scan of inter blocks.
    fn scan(&self, transform: Transform) -> &'static [u8] {
        let interlaced = self.p.coding != Coding::Progressive;
        match (transform, interlaced, self.p.advanced) {
            (Transform::Whole, false, _) => &tables::INTER_8X8,
            (Transform::Whole, true, _) => &tables::INTERLACED_8X8,
            (Transform::Halves, false, false) => &tables::INTER_8X4_MAIN,
            (Transform::Halves, false, true) => &tables::INTER_8X4,
            (Transform::Halves, true, _) => &tables::INTERLACED_8X4,
            (Transform::Sides, false, false) => &tables::INTER_4X8_MAIN,
            (Transform::Sides, false, true) => &tables::INTER_4X8,
            (Transform::Sides, true, _) => &tables::INTERLACED_4X8,
            (_, false, _) => &tables::INTER_4X4,
            (_, true, _) => &tables::INTERLACED_4X4,
        }
    }

    /// Adds a residual to the predicted samples of a block.
    fn add_residual(&mut self, block: usize, residual: &[i32; 64]) {
        let field = self.current().field_transform;
        let (plane, stride, start) = match block {
            0..4 if field => (0, 32, block % 2 * 8 + block / 2 * 16),
            0..4 => (0, 16, block % 2 * 8 + block / 2 * 128),
            _ => (block - 3, 8, 0),
        };
        let samples = &mut self.samples.planes[plane];
        for (row, residual) in residual.chunks_exact(8).enumerate() {
            let out = &mut samples[start + row * stride..][..8];
            for (out, &value) in out.iter_mut().zip(residual) {
                *out = clip(i32::from(*out) + value);
            }
        }
    }
}
