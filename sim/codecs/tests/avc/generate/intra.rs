//! Random intra macroblocks.

use super::macroblock::{Code, SliceWriter, b_type_bins, position};
use super::tables::B_TYPES;
use crate::bits::BitWriter;

impl SliceWriter<'_> {
    /// True if intra prediction may use one macroblock of the left pair only, and the rows of that
    /// pair alternate in another way: FFmpeg handles halves only.
    pub(super) fn mixed(&self, at: usize) -> bool {
        let Some((left, ..)) = self.grid.locate(at, -1, 0, 16) else { return false };
        if !self.grid.mbaff {
            return false;
        }
        let pair = [&self.grid.mbs[left & !1], &self.grid.mbs[left | 1]];
        self.settings.constrained_intra
            && pair[0].field != self.grid.mbs[at].field
            && pair[0].intra != pair[1].intra
    }

    /// mb_type of intra macroblocks: 0 I_NxN, 1 to 24 Intra_16x16, 25 I_PCM (table 7-11).
    fn intra_type(&mut self, at: usize, kind: u32) {
        let prefix = match self.settings.kind {
            0 => 5,
            1 => 23,
            _ => 0,
        };
        let cabac = match &mut self.code {
            Code::Cavlc(out) => return out.ue(prefix + kind),
            Code::Cabac(cabac) => cabac,
        };
        // Contexts of the first bin and of the others.
        let (first, base) = match self.settings.kind {
            0 => {
                cabac.bin(14, true);
                (17, 17)
            }
            1 => {
                let context = self.grid.count(at, 1, |mb| !mb.direct);
                b_type_bins(cabac, context, B_TYPES[23]);
                (32, 32)
            }
            _ => (3 + self.grid.count(at, 1, |mb| !mb.nxn), 3),
        };
        let slice_i = self.settings.kind == 2;
        cabac.bin(first, kind != 0);
        if kind == 0 {
            return;
        }
        cabac.terminate(kind == 25);
        if kind == 25 {
            return;
        }
        let (luma, chroma, mode) = ((kind - 1) / 12, (kind - 1) / 4 % 3, (kind - 1) % 4);
        let steps = if slice_i { [3, 4, 5, 6, 7] } else { [1, 2, 2, 3, 3] };
        cabac.bin(base + steps[0], luma != 0);
        cabac.bin(base + steps[1], chroma != 0);
        if chroma != 0 {
            cabac.bin(base + steps[2], chroma == 2);
        }
        cabac.bin(base + steps[3], mode & 2 != 0);
        cabac.bin(base + steps[4], mode & 1 != 0);
    }

    pub(super) fn pcm(&mut self, at: usize) {
        self.intra_type(at, 25);
        let count = if self.settings.monochrome { 256 } else { 384 };
        let samples: Vec<u8> = (0..count).map(|_| self.random.u8(..)).collect();
        let write = |out: &mut BitWriter| {
            out.align(false);
            for sample in samples {
                out.put(u32::from(sample), 8);
            }
        };
        match &mut self.code {
            Code::Cavlc(out) => write(out),
            Code::Cabac(cabac) => {
                write(&mut cabac.out);
                cabac.restart();
            }
        }
        let mb = &mut self.grid.mbs[at];
        mb.pcm = true;
        mb.pattern = 0x2F;
        mb.modes = [2; 16];
        mb.totals = [[16; 16]; 3];
        mb.coded = [0xFFFF; 3];
        mb.coded_dc = [true; 3];
        self.changed = false;
    }

    /// True if the sample at (`x`, `y`) may be used for intra prediction (8.3.1.2).
    fn usable(&self, at: usize, x: i32, y: i32) -> bool {
        let found = self.grid.locate(at, x, y, 16);
        found.is_some_and(|(mb, ..)| self.grid.mbs[mb].intra || !self.settings.constrained_intra)
    }

    /// Whether samples left, above and left above of a block are usable.
    fn sides(&self, at: usize, x: i32, y: i32, size: i32) -> [bool; 3] {
        let left = (0..size).all(|row| self.usable(at, x - 1, y + row));
        [left, self.usable(at, x, y - 1), self.usable(at, x - 1, y - 1)]
    }

    pub(super) fn intra_16x16(&mut self, at: usize) {
        let sides = self.sides(at, 0, 0, 16);
        let modes = modes(sides, [0b010, 0b001, 0, 0b111]);
        let mode = u32::from(modes[self.random.usize(0..modes.len())]);
        let luma = u32::from(self.random.bool());
        let chroma = if self.settings.monochrome { 0 } else { self.random.u32(0..3) };
        self.grid.mbs[at].modes = [2; 16];
        self.grid.mbs[at].pattern = (15 * luma + 16 * chroma) as u8;
        self.intra_type(at, 1 + 12 * luma + 4 * chroma + mode);
        self.chroma_mode(at);
        let qp = self.new_qp();
        self.qp_delta(qp);
        self.residual(at, true);
    }

    pub(super) fn intra_nxn(&mut self, at: usize) {
        self.grid.mbs[at].nxn = true;
        let large = self.settings.transform_8x8 && self.random.bool();
        let qp = self.new_qp();
        let large = large && self.large_possible(qp);
        self.intra_type(at, 0);
        if self.settings.transform_8x8 {
            self.transform_flag(at, large);
        }
        let size = if large { 8 } else { 4 };
        for index in 0..if large { 4 } else { 16 } {
            let (x, y) = position(if large { 4 * index } else { index });
            self.mode(at, 4 * x as i32, 4 * y as i32, size);
        }
        self.chroma_mode(at);
        let pattern = self.random_pattern();
        self.grid.mbs[at].pattern = pattern;
        self.pattern(at, pattern);
        if pattern != 0 {
            self.qp_delta(qp);
            self.residual(at, false);
        } else {
            self.changed = false;
        }
    }

    /// A random mode of the block at (`x`, `y`) (8.3.1.1, 8.3.2.1).
    fn mode(&mut self, at: usize, x: i32, y: i32, size: i32) {
        let sides = self.sides(at, x, y, size);
        let needs = [0b010, 0b001, 0, 0b010, 0b111, 0b111, 0b111, 0b010, 0b001];
        let modes = modes(sides, needs);
        let mode = modes[self.random.usize(0..modes.len())];
        let neighbours = [(x - 1, y), (x, y - 1)].map(|(x, y)| {
            let (other, x, y) = self.grid.locate(at, x, y, 16)?;
            let mb = &self.grid.mbs[other];
            if !mb.intra && self.settings.constrained_intra {
                return None;
            }
            Some(if mb.nxn { mb.modes[(x / 4 + y / 4 * 4) as usize] } else { 2 })
        });
        let predicted = match neighbours {
            [Some(left), Some(above)] => left.min(above),
            _ => 2,
        };
        let rest = u32::from(mode) - u32::from(mode > predicted);
        match &mut self.code {
            Code::Cavlc(out) => {
                out.flag(mode == predicted);
                if mode != predicted {
                    out.put(rest, 3);
                }
            }
            Code::Cabac(cabac) => {
                cabac.bin(68, mode == predicted);
                if mode != predicted {
                    for bit in 0..3 {
                        cabac.bin(69, rest >> bit & 1 != 0);
                    }
                }
            }
        }
        for row in 0..size / 4 {
            for column in 0..size / 4 {
                let block = x / 4 + column + (y / 4 + row) * 4;
                self.grid.mbs[at].modes[block as usize] = mode;
            }
        }
    }

    fn chroma_mode(&mut self, at: usize) {
        if self.settings.monochrome {
            return;
        }
        let sides = self.sides(at, 0, 0, 16);
        let modes = modes(sides, [0, 0b001, 0b010, 0b111]);
        let mode = modes[self.random.usize(0..modes.len())];
        let context = self.grid.count(at, 1, |mb| mb.chroma_mode != 0);
        match &mut self.code {
            Code::Cavlc(out) => out.ue(u32::from(mode)),
            Code::Cabac(cabac) => {
                cabac.bin(64 + context, mode > 0);
                for bin in 1..=mode.min(2) {
                    cabac.bin(67, mode > bin);
                }
            }
        }
        self.grid.mbs[at].chroma_mode = mode;
    }
}

/// The modes whose needs of `sides` (bit 0 left, 1 above, 2 left above) are met.
fn modes<const N: usize>(sides: [bool; 3], needs: [u8; N]) -> Vec<u8> {
    let have = sides.iter().enumerate().fold(0, |have, (at, &side)| have | u8::from(side) << at);
    (0..N as u8).filter(|&mode| needs[usize::from(mode)] & !have == 0).collect()
}
