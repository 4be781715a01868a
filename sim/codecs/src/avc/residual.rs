//! The coefficients of a macroblock (7.3.5.3) and their scaling (8.5).

use super::Prediction;
use super::state::Decoder;
use super::syntax::{Block, Entropy, Levels};
use super::transform::{
    FIELD_4X4, FIELD_8X8, chroma_dc, coefficient_4x4, coefficient_8x8, interleaved, luma_dc,
};
use crate::zigzag::{ZIGZAG_4X4, ZIGZAG_8X8};

/// Raster position of a 4x4 luma block by its order of decoding (figure 6-10).
pub(super) fn raster(block: usize) -> usize {
    block % 2 + block / 4 % 2 * 2 + (block / 2 % 2 + block / 8 * 2) * 4
}

impl Decoder<'_, '_> {
    /// Parses the quantiser and the coefficients.
    pub fn residual<E: Entropy>(&mut self, entropy: &mut E) -> Option<()> {
        let whole = self.current.prediction == Prediction::Intra16x16;
        if self.current.pattern != 0 || whole {
            let delta = entropy.quantiser_delta(self.quantiser_changed)?;
            if !(-26..=25).contains(&delta) {
                return None;
            }
            self.quantiser_changed = delta != 0;
            self.qp = ((i32::from(self.qp) + delta + 52) % 52) as u8;
        } else {
            self.quantiser_changed = false;
        }
        self.set_qp(self.qp);
        let mut levels = Levels::new();
        if whole {
            self.residual_16x16(entropy, &mut levels)?;
        }
        let pattern = self.current.pattern;
        for block in (0..4).filter(|block| pattern >> block & 1 == 1) {
            if self.current.transform_8x8 {
                self.residual_8x8(entropy, &mut levels, block)?;
            } else {
                let kind = if whole { Block::LumaAc } else { Block::Luma4x4 };
                for block in 4 * block..4 * block + 4 {
                    self.residual_4x4(entropy, &mut levels, kind, block)?;
                }
            }
        }
        if self.current.pattern & 0x30 != 0 {
            self.residual_chroma(entropy, &mut levels)?;
        }
        if entropy.overrun() { None } else { Some(()) }
    }

    /// Raster positions of the coefficients of a 4x4 block in coding order.
    fn scan_4x4(&self) -> &'static [u8; 16] {
        if self.field_coded { &FIELD_4X4 } else { &ZIGZAG_4X4 }
    }

    /// The DC coefficients of Intra_16x16.
    fn residual_16x16<E: Entropy>(&mut self, entropy: &mut E, levels: &mut Levels) -> Option<()> {
        levels.count = 0;
        entropy.residual(self, Block::LumaDc, 0, levels)?;
        if levels.count == 0 {
            return Some(());
        }
        self.current.dc |= 1;
        self.current.levels += levels.count as u16;
        if !E::WRITES {
            self.put_luma_dc(levels);
        }
        Some(())
    }

    /// Transforms the DC levels of Intra_16x16.
    pub fn put_luma_dc(&mut self, levels: &Levels) {
        let scan = self.scan_4x4();
        let mut dc = [0; 16];
        for (position, value) in levels.iter() {
            dc[usize::from(scan[position & 15])] = value;
        }
        let dc = luma_dc(&dc, self.scale.four(false, 0, self.current.qp[0])[0]);
        for block in 0..16 {
            self.coefficients[16 * block] = dc[raster(block)];
        }
        self.with_any |= 0xffff;
    }

    /// A 4x4 luma block, in the order of decoding.
    fn residual_4x4<E: Entropy>(
        &mut self,
        entropy: &mut E,
        levels: &mut Levels,
        kind: Block,
        block: usize,
    ) -> Option<()> {
        let position = raster(block);
        levels.count = 0;
        entropy.residual(self, kind, position, levels)?;
        if levels.count == 0 {
            return Some(());
        }
        self.current.counts[position] = levels.count as u8;
        self.current.levels += levels.count as u16;
        self.current.coefficients |= 1 << position;
        if !E::WRITES {
            self.put_4x4(levels, usize::from(kind == Block::LumaAc), block);
        }
        Some(())
    }

    /// Scales the levels of a 4x4 block of luma or chroma. `first`: position of the first one in
    /// coding order.
    pub fn put_4x4(&mut self, levels: &Levels, first: usize, block: usize) {
        let plane = (block / 4).saturating_sub(3);
        let scale = self.scale.four(!self.current.is_intra(), plane, self.current.qp[plane]);
        let scan = self.scan_4x4();
        for (position, value) in levels.iter() {
            let at = usize::from(scan[(first + position) & 15]);
            self.coefficients[16 * block + at] = coefficient_4x4(value, scale[at]);
            self.with_ac |= u32::from(at > 0) << block;
        }
        self.with_any |= 1 << block;
    }

    /// An 8x8 luma block.
    fn residual_8x8<E: Entropy>(
        &mut self,
        entropy: &mut E,
        levels: &mut Levels,
        block: usize,
    ) -> Option<()> {
        let first = raster(4 * block);
        let blocks = [first, first + 1, first + 4, first + 5];
        let mut any = false;
        if E::ARITHMETIC {
            levels.count = 0;
            entropy.residual(self, Block::Luma8x8, first, levels)?;
            any = levels.count > 0;
            self.current.levels += levels.count as u16;
            for at in blocks {
                self.current.counts[at] = levels.count.min(16) as u8;
            }
            if !E::WRITES {
                self.put_8x8(levels, block, |position| position);
            }
        } else {
            for (part, at) in blocks.into_iter().enumerate() {
                levels.count = 0;
                entropy.residual(self, Block::Luma4x4, at, levels)?;
                any |= levels.count > 0;
                self.current.levels += levels.count as u16;
                self.current.counts[at] = levels.count as u8;
                if !E::WRITES {
                    self.put_8x8(levels, block, |position| interleaved(part, position));
                }
            }
        }
        if any {
            self.current.coefficients |= 0x33 << first;
        }
        Some(())
    }

    /// Scales the levels of an 8x8 block. `order`: position in coding order of the 8x8 block.
    pub fn put_8x8(&mut self, levels: &Levels, block: usize, order: impl Fn(usize) -> usize) {
        let scale = self.scale.eight(!self.current.is_intra(), self.current.qp[0]);
        let scan = if self.field_coded { &FIELD_8X8 } else { &ZIGZAG_8X8 };
        for (position, value) in levels.iter() {
            let at = usize::from(scan[order(position) & 63]);
            self.coefficients[64 * block + at] = coefficient_8x8(value, scale[at]);
            self.with_ac |= u32::from(at > 0) << (4 * block);
        }
        self.with_any |= u32::from(levels.count > 0) << (4 * block);
    }

    /// Cb and Cr.
    fn residual_chroma<E: Entropy>(&mut self, entropy: &mut E, levels: &mut Levels) -> Option<()> {
        for plane in 0..2 {
            levels.count = 0;
            let first = 16 + 4 * plane;
            entropy.residual(self, Block::ChromaDc, first, levels)?;
            if levels.count == 0 {
                continue;
            }
            self.current.dc |= 2 << plane;
            self.current.levels += levels.count as u16;
            if !E::WRITES {
                self.put_chroma_dc(levels, 1 + plane);
            }
        }
        if self.current.pattern & 0x20 == 0 {
            return Some(());
        }
        for block in 16..24 {
            levels.count = 0;
            entropy.residual(self, Block::ChromaAc, block, levels)?;
            if levels.count > 0 {
                self.current.counts[block] = levels.count as u8;
                self.current.levels += levels.count as u16;
                if !E::WRITES {
                    self.put_4x4(levels, 1, block);
                }
            }
        }
        Some(())
    }

    /// Transforms the DC levels of Cb or Cr.
    pub fn put_chroma_dc(&mut self, levels: &Levels, plane: usize) {
        let mut dc = [0; 4];
        for (position, value) in levels.iter() {
            dc[position & 3] = value;
        }
        let inter = !self.current.is_intra();
        let scale = self.scale.four(inter, plane, self.current.qp[plane])[0];
        let first = 12 + 4 * plane;
        for (block, value) in chroma_dc(dc, scale).into_iter().enumerate() {
            self.coefficients[16 * (first + block)] = value;
        }
        self.with_any |= 15 << first;
    }
}
