//! Random macroblocks of a slice, written with the syntax of 7.3.4 and 7.3.5.

use super::bits::Cabac;
use super::model::{Grid, Mb};
use super::residual;
use super::tables::{B_HALVES, B_SUB, B_SUB_BINS, B_TYPES, PATTERNS, PATTERNS_LUMA};
use crate::bits::BitWriter;

/// The entropy code of a slice.
pub enum Code {
    Cavlc(BitWriter),
    Cabac(Box<Cabac>),
}

/// What the macroblocks of a slice depend on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// 0 P, 1 B, 2 I.
    pub kind: u32,
    /// Number of the slice in the picture, from 1.
    pub slice: u32,
    /// Field picture.
    pub field: bool,
    pub monochrome: bool,
    pub constrained_intra: bool,
    pub transform_8x8: bool,
    pub direct_8x8_inference: bool,
    pub refs: [usize; 2],
    /// No macroblock is skipped or direct.
    pub no_direct: bool,
    /// The deblocking filter is off.
    pub unfiltered: bool,
    pub chroma_offsets: [i32; 2],
    /// Largest element of the scaling matrices.
    pub largest: i64,
    /// Rates of 0 to 16: skipped, intra, without coefficients; and how far vectors differ.
    pub skips: u8,
    pub intra: u8,
    pub empty: u8,
    pub reach: i32,
}

pub struct SliceWriter<'a> {
    pub random: &'a mut fastrand::Rng,
    pub grid: &'a mut Grid,
    pub code: Code,
    pub settings: Settings,
    pub qp: i32,
    /// mb_qp_delta of the macroblock before was not 0.
    pub changed: bool,
    /// mb_skip_run.
    pub run: u32,
}

/// A partition in units of 4x4 blocks, and the lists it is predicted from.
#[derive(Clone, Copy)]
struct Part {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    lists: u8,
}

/// Position of 4x4 block `index` in units of blocks (6.4.3).
pub(super) fn position(index: usize) -> (usize, usize) {
    ((index & 1) + (index >> 2 & 1) * 2, (index >> 1 & 1) + (index >> 3) * 2)
}

impl SliceWriter<'_> {
    fn chance(&mut self, rate: u8) -> bool {
        self.random.u8(0..16) < rate
    }

    /// Writes the macroblocks `first..end`, of MBAFF frames the pairs.
    pub fn write(&mut self, first: usize, end: usize) {
        for at in first..end {
            if self.grid.mbaff {
                self.pair(at);
            } else {
                self.start(at, false);
                let skip = self.may_skip();
                self.skip_flag(at, skip);
                if skip {
                    self.skip(at);
                } else {
                    self.run_ends();
                    self.macroblock(at);
                }
            }
            if let Code::Cabac(cabac) = &mut self.code {
                cabac.terminate(at + 1 == end);
            }
        }
        if self.run > 0 {
            self.run_ends();
        }
    }

    fn may_skip(&mut self) -> bool {
        let Settings { kind, no_direct, skips, .. } = self.settings;
        kind != 2 && !no_direct && self.chance(skips)
    }

    fn start(&mut self, at: usize, field: bool) {
        self.grid.mbs[at] = Mb { slice: self.settings.slice, field, ..Mb::default() };
    }

    fn pair(&mut self, pair: usize) {
        let (top, bottom) = (2 * pair, 2 * pair + 1);
        self.start(top, false);
        self.start(bottom, false);
        // 7.4.4: the flag of a pair without one.
        let [left, above] = self.grid.field_pairs(pair);
        let inferred = left.or(above).unwrap_or(false);
        let skips = [(); 2].map(|()| self.may_skip());
        let field = if skips == [true; 2] { inferred } else { self.random.bool() };
        for at in [top, bottom] {
            self.grid.mbs[at].field = inferred;
        }
        self.skip_flag(top, skips[0]);
        if skips[0] {
            self.grid.mbs[top].skip = true;
            self.skip_flag(bottom, skips[1]);
        }
        if skips != [true; 2] {
            self.run_ends();
            self.field_flag(pair, field);
        }
        for at in [top, bottom] {
            self.grid.mbs[at].field = field;
        }
        if skips[0] {
            self.skip(top);
        } else {
            self.macroblock(top);
            self.skip_flag(bottom, skips[1]);
        }
        if skips[1] {
            self.skip(bottom);
        } else {
            if !skips[0] {
                self.run_ends();
            }
            self.macroblock(bottom);
        }
    }

    fn field_flag(&mut self, pair: usize, field: bool) {
        let context = self.grid.field_pairs(pair).iter().filter(|&&f| f == Some(true)).count();
        match &mut self.code {
            Code::Cavlc(out) => out.flag(field),
            Code::Cabac(cabac) => cabac.bin(70 + context, field),
        }
    }

    fn skip_flag(&mut self, at: usize, skip: bool) {
        if self.settings.kind == 2 {
            return;
        }
        let context = self.grid.count(at, 1, |mb| !mb.skip);
        match &mut self.code {
            Code::Cavlc(_) => self.run += u32::from(skip),
            Code::Cabac(cabac) => {
                cabac.bin(if self.settings.kind == 0 { 11 } else { 24 } + context, skip);
            }
        }
    }

    /// Writes mb_skip_run before a macroblock that is not skipped.
    fn run_ends(&mut self) {
        if let Code::Cavlc(out) = &mut self.code
            && self.settings.kind != 2
        {
            out.ue(self.run);
        }
        self.run = 0;
    }

    fn skip(&mut self, at: usize) {
        let mb = &mut self.grid.mbs[at];
        mb.skip = true;
        mb.direct = self.settings.kind == 1;
        self.changed = false;
    }

    fn macroblock(&mut self, at: usize) {
        let intra = self.settings.kind == 2 || self.chance(self.settings.intra);
        if !intra || self.settings.kind != 2 && self.mixed(at) {
            self.inter(at);
            return;
        }
        self.grid.mbs[at].intra = true;
        match self.random.u8(0..16) {
            0 => self.pcm(at),
            1..=5 => self.intra_16x16(at),
            _ => self.intra_nxn(at),
        }
    }

    pub(super) fn transform_flag(&mut self, at: usize, large: bool) {
        let context = self.grid.count(at, 1, |mb| mb.transform_8x8);
        match &mut self.code {
            Code::Cavlc(out) => out.flag(large),
            Code::Cabac(cabac) => cabac.bin(399 + context, large),
        }
        self.grid.mbs[at].transform_8x8 = large;
    }

    pub(super) fn new_qp(&mut self) -> i32 {
        match self.random.u8(0..8) {
            0 => (self.qp + self.random.i32(-26..=25) + 52) % 52,
            1..=2 => (self.qp + self.random.i32(-3..=3)).clamp(0, 51),
            _ => self.qp,
        }
    }

    /// mb_qp_delta; either way around (7.4.5).
    pub(super) fn qp_delta(&mut self, qp: i32) {
        let mut delta = qp - self.qp;
        if delta > 25 {
            delta -= 52;
        } else if delta < -26 {
            delta += 52;
        }
        match &mut self.code {
            Code::Cavlc(out) => out.se(delta),
            Code::Cabac(cabac) => {
                let value = if delta > 0 { 2 * delta - 1 } else { -2 * delta };
                let mut context = 60 + usize::from(self.changed);
                for bin in 0..value {
                    cabac.bin(context, true);
                    context = if bin == 0 { 62 } else { 63 };
                }
                cabac.bin(context, false);
            }
        }
        self.changed = delta != 0;
        self.qp = qp;
    }

    /// What a level of 1 can become in blocks of 4x4, in DC blocks and in blocks of 8x8, of luma
    /// or of a chroma component (8.5.8 to 8.5.13, rounded up).
    fn scales(&self, component: usize, qp: i32) -> [i64; 3] {
        let qp = match component {
            0 => qp,
            _ => (qp + self.settings.chroma_offsets[component - 1]).clamp(0, 51),
        };
        let largest = self.settings.largest << (qp / 6);
        let dc = if component == 0 { 6 } else { 5 };
        [((29 * largest) >> 4) + 1, ((18 * largest) >> dc) + 1, ((58 * largest) >> 6) + 1]
    }

    pub(super) fn large_possible(&self, qp: i32) -> bool {
        residual::possible(self.scales(0, qp)[2])
    }

    pub(super) fn random_pattern(&mut self) -> u8 {
        if self.chance(self.settings.empty) {
            return 0;
        }
        let luma = if self.random.bool() { 15 } else { self.random.u8(0..16) };
        let chroma = if self.settings.monochrome { 0 } else { self.random.u8(0..3) };
        luma | chroma << 4
    }

    pub(super) fn pattern(&mut self, at: usize, pattern: u8) {
        let intra = self.grid.mbs[at].intra;
        let cabac = match &mut self.code {
            Code::Cavlc(out) => {
                let side = usize::from(!intra);
                let table: &[u8] = match self.settings.monochrome {
                    false => &PATTERNS[side],
                    true => &PATTERNS_LUMA[side],
                };
                let number = table.iter().position(|&other| other == pattern);
                return out.ue(number.expect("in the table") as u32);
            }
            Code::Cabac(cabac) => cabac,
        };
        for block in 0..4 {
            let (x, y) = (block % 2 * 8, block / 2 * 8);
            // Bit set if the neighbouring 8x8 block is not coded.
            let empty = |x, y| match self.grid.locate(at, x, y, 16) {
                Some((other, x, y)) => self.grid.mbs[other].pattern >> (x / 8 + y / 8 * 2) & 1 == 0,
                None => false,
            };
            let context = usize::from(empty(x - 1, y)) + 2 * usize::from(empty(x, y - 1));
            cabac.bin(73 + context, pattern >> block & 1 != 0);
        }
        if !self.settings.monochrome {
            let chroma = pattern >> 4;
            let context = self.grid.count(at, 2, |mb| mb.pattern >> 4 != 0);
            cabac.bin(77 + context, chroma != 0);
            if chroma != 0 {
                let context = self.grid.count(at, 2, |mb| mb.pattern >> 4 == 2);
                cabac.bin(81 + context, chroma == 2);
            }
        }
    }

    fn inter(&mut self, at: usize) {
        let b = self.settings.kind == 1;
        // No partition is smaller than 8x8, so the transform may be 8x8.
        let mut coarse = true;
        let mut parts = Vec::new();
        if b && !self.settings.no_direct && self.random.u8(0..6) == 0 {
            self.inter_type(at, 0);
            self.grid.mbs[at].direct = true;
            coarse = self.settings.direct_8x8_inference;
        } else if self.random.u8(0..3) == 0 {
            coarse = self.sub_parts(at, &mut parts);
        } else {
            let shape = self.random.u8(0..3);
            let lists = match b {
                true => B_HALVES[self.random.usize(0..9)],
                false => [1, 1],
            };
            let half = B_HALVES.iter().position(|&other| other == lists).unwrap_or(0) as u32;
            match shape {
                0 => {
                    parts.push(Part { x: 0, y: 0, width: 4, height: 4, lists: lists[0] });
                    self.inter_type(at, if b { u32::from(lists[0]) } else { 0 });
                }
                1 => {
                    for (part, &lists) in lists.iter().enumerate() {
                        parts.push(Part { x: 0, y: 2 * part, width: 4, height: 2, lists });
                    }
                    self.inter_type(at, if b { 4 + 2 * half } else { 1 });
                }
                _ => {
                    for (part, &lists) in lists.iter().enumerate() {
                        parts.push(Part { x: 2 * part, y: 0, width: 2, height: 4, lists });
                    }
                    self.inter_type(at, if b { 5 + 2 * half } else { 2 });
                }
            }
            self.references(at, &parts, false);
        }
        self.vectors(at, &parts);
        let qp = self.new_qp();
        let pattern = self.random_pattern();
        self.grid.mbs[at].pattern = pattern;
        self.pattern(at, pattern);
        if pattern & 15 != 0 && self.settings.transform_8x8 && coarse {
            let large = self.random.bool() && self.large_possible(qp);
            self.transform_flag(at, large);
        }
        if pattern != 0 {
            self.qp_delta(qp);
            self.residual(at, false);
        } else {
            self.changed = false;
        }
    }

    /// mb_type of inter macroblocks (tables 7-13 and 7-14).
    fn inter_type(&mut self, at: usize, kind: u32) {
        let cabac = match &mut self.code {
            Code::Cavlc(out) => return out.ue(kind),
            Code::Cabac(cabac) => cabac,
        };
        if self.settings.kind == 1 {
            let context = self.grid.count(at, 1, |mb| !mb.direct);
            b_type_bins(cabac, context, B_TYPES[kind as usize]);
            return;
        }
        let bins = [[0, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]][kind as usize];
        cabac.bin(14, bins[0] != 0);
        cabac.bin(15, bins[1] != 0);
        cabac.bin(if bins[1] != 1 { 16 } else { 17 }, bins[2] != 0);
    }

    /// P_8x8 or B_8x8 with its types and references. Fills the partitions in order of mvd. Returns
    /// false if a block is divided further.
    fn sub_parts(&mut self, at: usize, parts: &mut Vec<Part>) -> bool {
        let b = self.settings.kind == 1;
        let kinds = [(); 4].map(|()| self.random.usize(0..if b { 13 } else { 4 }));
        let mut kinds = if self.random.u8(0..3) == 0 { [kinds[0].min(3); 4] } else { kinds };
        if b && self.settings.no_direct {
            kinds = kinds.map(|kind| kind.max(1));
        }
        let table = |kind: usize| match b {
            true => B_SUB[kind],
            false => [(1, 2, 2), (1, 2, 1), (1, 1, 2), (1, 1, 1)][kind],
        };
        // P_8x8ref0 states that all references are 0; only CAVLC has it.
        let zero = !b && matches!(self.code, Code::Cavlc(_)) && self.random.u8(0..3) == 0;
        self.inter_type(at, if b { 22 } else { 3 + u32::from(zero) });
        for kind in kinds {
            match &mut self.code {
                Code::Cavlc(out) => out.ue(kind as u32),
                Code::Cabac(cabac) if b => b_sub_bins(cabac, B_SUB_BINS[kind]),
                Code::Cabac(cabac) => {
                    cabac.bin(21, kind == 0);
                    if kind != 0 {
                        cabac.bin(22, kind != 1);
                        if kind != 1 {
                            cabac.bin(23, kind == 2);
                        }
                    }
                }
            }
        }
        let mut quarters = Vec::new();
        for (block, &kind) in kinds.iter().enumerate() {
            let (lists, width, height) = table(kind);
            let (x, y) = (block % 2 * 2, block / 2 * 2);
            if lists == 0 {
                continue;
            }
            quarters.push(Part { x, y, width: 2, height: 2, lists });
            for row in (0..2).step_by(height) {
                for column in (0..2).step_by(width) {
                    parts.push(Part { x: x + column, y: y + row, width, height, lists });
                }
            }
        }
        self.references(at, &quarters, zero);
        kinds.iter().all(|&kind| match (b, kind) {
            (true, 0) => self.settings.direct_8x8_inference,
            (true, kind) => kind <= 3,
            (false, kind) => kind == 0,
        })
    }

    /// ref_idx of partitions in both lists. `zero`: all are 0 and not sent.
    fn references(&mut self, at: usize, parts: &[Part], zero: bool) {
        for list in 0..2 {
            let field = self.grid.mbs[at].field;
            let count = self.settings.refs[list] << usize::from(field);
            for part in parts.iter().filter(|part| part.lists >> list & 1 != 0) {
                if zero || count <= 1 {
                    continue;
                }
                let index = self.random.usize(0..count) as u8;
                self.reference(at, list, part, count, index);
                for y in 0..part.height.div_ceil(2) {
                    for x in 0..part.width.div_ceil(2) {
                        let block = part.x / 2 + x + (part.y / 2 + y) * 2;
                        self.grid.mbs[at].refs[list][block] = index;
                    }
                }
            }
        }
    }

    fn reference(&mut self, at: usize, list: usize, part: &Part, count: usize, index: u8) {
        let cabac = match &mut self.code {
            Code::Cavlc(out) if count == 2 => return out.flag(index == 0),
            Code::Cavlc(out) => return out.ue(u32::from(index)),
            Code::Cabac(cabac) => cabac,
        };
        let (x, y) = (4 * part.x as i32, 4 * part.y as i32);
        let field = self.grid.mbs[at].field;
        let beyond = |x, y| {
            let Some((other, x, y)) = self.grid.locate(at, x, y, 16) else { return false };
            let mb = &self.grid.mbs[other];
            let index = mb.refs[list][(x / 8 + y / 8 * 2) as usize];
            index > u8::from(!field && mb.field)
        };
        let mut context = usize::from(beyond(x - 1, y)) + 2 * usize::from(beyond(x, y - 1));
        for _ in 0..index {
            cabac.bin(54 + context, true);
            context = if context < 4 { 4 } else { 5 };
        }
        cabac.bin(54 + context, false);
    }

    /// mvd of partitions in both lists.
    fn vectors(&mut self, at: usize, parts: &[Part]) {
        for list in 0..2 {
            for part in parts.iter().filter(|part| part.lists >> list & 1 != 0) {
                let reach = match self.random.u8(0..24) {
                    0 => 300,
                    1..=3 => 0,
                    _ => self.settings.reach,
                };
                let vector = [(); 2].map(|()| self.random.i32(-reach..=reach));
                for (component, &value) in vector.iter().enumerate() {
                    self.difference(at, list, part, component, value);
                }
                for y in part.y..part.y + part.height {
                    for x in part.x..part.x + part.width {
                        self.grid.mbs[at].mvd[list][x + 4 * y] =
                            vector.map(|value| value.unsigned_abs());
                    }
                }
            }
        }
    }

    fn difference(&mut self, at: usize, list: usize, part: &Part, component: usize, value: i32) {
        let cabac = match &mut self.code {
            Code::Cavlc(out) => return out.se(value),
            Code::Cabac(cabac) => cabac,
        };
        let (x, y) = (4 * part.x as i32, 4 * part.y as i32);
        let field = self.grid.mbs[at].field;
        let size = |x, y| {
            let Some((other, x, y)) = self.grid.locate(at, x, y, 16) else { return 0 };
            let mb = &self.grid.mbs[other];
            let size = mb.mvd[list][(x / 4 + y / 4 * 4) as usize][component];
            match (component, field, mb.field) {
                (1, false, true) => 2 * size,
                (1, true, false) => size / 2,
                _ => size,
            }
        };
        let base = if component == 0 { 40 } else { 47 };
        let mut context = match size(x - 1, y) + size(x, y - 1) {
            0..=2 => 0,
            3..=32 => 1,
            _ => 2,
        };
        let all = value.unsigned_abs();
        for bin in 0..all.min(9) {
            cabac.bin(base + context, true);
            context = [3, 4, 5, 6, 6, 6, 6, 6, 6][bin as usize];
        }
        if all < 9 {
            cabac.bin(base + context, false);
        } else {
            cabac.exp_golomb(all - 9, 3);
        }
        if all != 0 {
            cabac.bypass(value < 0);
        }
    }

    /// Coefficients (7.3.5.3).
    pub(super) fn residual(&mut self, at: usize, intra_16x16: bool) {
        let pattern = self.grid.mbs[at].pattern;
        let [small, dc, large] = self.scales(0, self.qp);
        let half = if intra_16x16 { 2 } else { 1 };
        if intra_16x16 {
            let levels = residual::random(self.random, 16, 2 * dc);
            self.block(at, 0, (0, 0), &levels, 0);
        }
        for quarter in (0..4).filter(|quarter| pattern >> quarter & 1 != 0) {
            if self.grid.mbs[at].transform_8x8 {
                self.block_8x8(at, quarter, large);
                continue;
            }
            for index in 4 * quarter..4 * quarter + 4 {
                let (length, category) = if intra_16x16 { (15, 1) } else { (16, 2) };
                let levels = residual::random(self.random, length, half * small);
                self.block(at, 0, position(index), &levels, category);
            }
        }
        if pattern >> 4 == 0 {
            return;
        }
        let scales = [1, 2].map(|component| self.scales(component, self.qp));
        for component in 1..3 {
            let levels = residual::random(self.random, 4, 2 * scales[component - 1][1]);
            self.block(at, component, (0, 0), &levels, 3);
        }
        for component in 1..3 {
            for index in (0..4).filter(|_| pattern >> 4 == 2) {
                let levels = residual::random(self.random, 15, 2 * scales[component - 1][0]);
                self.block(at, component, (index % 2, index / 2), &levels, 4);
            }
        }
    }

    fn block_8x8(&mut self, at: usize, quarter: usize, scale: i64) {
        let mut levels = residual::random(self.random, 64, 2 * scale);
        // With CABAC a coded block has a coefficient. CAVLC has no such rule, but the filter of
        // FFmpeg relies on it.
        let cavlc = matches!(self.code, Code::Cavlc(_));
        if levels.iter().all(|&level| level == 0) && !(cavlc && self.settings.unfiltered) {
            levels[self.random.usize(0..64)] = 1;
        }
        if cavlc {
            for part in 0..4 {
                let levels: Vec<i32> = levels.iter().skip(part).step_by(4).copied().collect();
                self.block(at, 0, position(4 * quarter + part), &levels, 2);
            }
            return;
        }
        for index in 4 * quarter..4 * quarter + 4 {
            let (x, y) = position(index);
            self.grid.mbs[at].coded[0] |= 1 << (x + 4 * y);
        }
        let field = self.settings.field || self.grid.mbs[at].field;
        if let Code::Cabac(cabac) = &mut self.code {
            residual::cabac(cabac, &levels, 5, field);
        }
    }

    /// A block at `place`, in units of blocks of the component. `category` is ctxBlockCat.
    fn block(
        &mut self,
        at: usize,
        component: usize,
        place: (usize, usize),
        levels: &[i32],
        category: usize,
    ) {
        let pitch = if component == 0 { 4 } else { 2 };
        let size = 4 * pitch;
        let (x, y) = (4 * place.0 as i32, 4 * place.1 as i32);
        let sides = [(x - 1, y), (x, y - 1)].map(|(x, y)| {
            let (other, x, y) = self.grid.locate(at, x, y, size)?;
            Some((&self.grid.mbs[other], (x / 4 + y / 4 * pitch) as usize))
        });
        let index = place.0 + place.1 * pitch as usize;
        let field = self.settings.field || self.grid.mbs[at].field;
        let is_dc = matches!(category, 0 | 3);
        let coded = levels.iter().any(|&level| level != 0);
        match &mut self.code {
            Code::Cavlc(out) => {
                let counts = sides.map(|side| side.map(|(mb, at)| mb.totals[component][at]));
                let neighbours = match counts {
                    [Some(left), Some(above)] => (left + above).div_ceil(2),
                    [left, above] => left.or(above).unwrap_or(0),
                };
                let total = residual::cavlc(out, levels, (category != 3).then_some(neighbours));
                if !is_dc {
                    self.grid.mbs[at].totals[component][index] = total;
                }
            }
            Code::Cabac(cabac) => {
                let intra = self.grid.mbs[at].intra;
                let flags = sides.map(|side| match side {
                    Some((mb, _)) if is_dc => mb.coded_dc[component],
                    Some((mb, at)) => mb.coded[component] >> at & 1 != 0,
                    None => intra,
                });
                let context = usize::from(flags[0]) + 2 * usize::from(flags[1]);
                cabac.bin(85 + 4 * category + context, coded);
                if coded {
                    residual::cabac(cabac, levels, category, field);
                }
                let mb = &mut self.grid.mbs[at];
                if is_dc {
                    mb.coded_dc[component] = coded;
                } else {
                    mb.coded[component] |= u16::from(coded) << index;
                }
            }
        }
    }
}

pub(super) fn b_type_bins(cabac: &mut Cabac, context: usize, bins: &[u8]) {
    for (at, &bin) in bins.iter().enumerate() {
        let context = match at {
            0 => 27 + context,
            1 => 30,
            2 if bins[1] != 0 => 31,
            _ => 32,
        };
        cabac.bin(context, bin != 0);
    }
}

fn b_sub_bins(cabac: &mut Cabac, bins: &[u8]) {
    for (at, &bin) in bins.iter().enumerate() {
        let context = match at {
            0 => 36,
            1 => 37,
            2 if bins[1] != 0 => 38,
            _ => 39,
        };
        cabac.bin(context, bin != 0);
    }
}
