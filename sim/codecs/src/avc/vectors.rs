//! Prediction of motion vectors (8.4.1.1, 8.4.1.3).

use super::motion_cache::{MISSING, Motion, cell, own};
use super::state::Decoder;
use super::{Macroblock, SliceKind};
use crate::Structure;

/// Changes the motion of a neighbour to the units of the macroblock: of fields, if `field`.
#[inline]
fn convert((reference, [x, y]): Motion, from_field: bool, field: bool) -> Motion {
    match (from_field, field) {
        (false, true) if reference >= 0 => (reference.wrapping_mul(2), [x, y / 2]),
        (true, false) if reference >= 0 => (reference / 2, [x, y.wrapping_mul(2)]),
        _ => (reference, [x, y]),
    }
}

fn median(a: i16, b: i16, c: i16) -> i16 {
    a.max(b).min(a.min(b).max(c))
}

impl Decoder<'_, '_> {
    /// Fills the cache with the motion of the blocks around the macroblock. The blocks of the
    /// macroblock have no motion. `differences`: with vector differences.
    pub fn fill_cache(&mut self, differences: bool) {
        let lists = if self.slice.kind == SliceKind::B { 2 } else { 1 };
        for list in 0..2 {
            self.cache.set(list, (0, 0), (4, 4), -1, [0; 2]);
        }
        self.cache.corners = None;
        for list in 0..lists {
            self.fill_cache_of(list);
            if differences {
                self.fill_differences(list);
            }
        }
    }

    fn fill_cache_of(&mut self, list: usize) {
        let field = self.current.field;
        let motion = |near: &Macroblock, block: usize| {
            let reference = near.references[list][block / 8 * 2 + block % 4 / 2];
            convert((reference, near.vectors[list][block]), near.field, field)
        };
        let neighbours = &self.neighbours;
        let references = &mut self.cache.references[list];
        let vectors = &mut self.cache.vectors[list];
        let mut put = |cell: usize, near: Option<(usize, usize)>| {
            (references[cell], vectors[cell]) = match near {
                Some((near, block)) => motion(&self.macroblocks[near], block),
                None => (MISSING, [0; 2]),
            };
        };
        let right = |(near, row): (usize, usize)| (near, 4 * row + 3);
        for row in 0..4 {
            put(cell(-1, row as isize), neighbours.left.map(|blocks| right(blocks[row])));
        }
        for x in 0..4 {
            put(cell(x as isize, -1), neighbours.above.map(|near| (near, 12 + x)));
        }
        put(cell(4, -1), neighbours.above_right.map(|near| (near, 12)));
        put(cell(-1, -1), neighbours.corner[0].map(right));
        let Some(left) = neighbours.left.filter(|_| self.mbaff) else { return };
        if self.macroblocks[left[0].0].field != field {
            let corners = self.cache.corners.get_or_insert([[(MISSING, [0; 2]); 3]; 2]);
            for (corner, from) in corners[list].iter_mut().zip(&neighbours.corner[1..]) {
                if let &Some((near, row)) = from {
                    *corner = motion(&self.macroblocks[near], 4 * row + 3);
                }
            }
        }
    }

    fn fill_differences(&mut self, list: usize) {
        let field = self.current.field;
        let difference = |(near, block): (usize, usize)| {
            let near = &self.macroblocks[near];
            let [x, y] = near.differences[list][block];
            match (near.field, field) {
                (false, true) => [x, y / 2],
                (true, false) => [x, y.saturating_mul(2)],
                _ => [x, y],
            }
        };
        self.cache.set_difference(list, (0, 0), (4, 4), [0; 2]);
        for row in 0..4 {
            let left = self.neighbours.left.map(|blocks| (blocks[row].0, 4 * blocks[row].1 + 3));
            self.cache.differences[list][cell(-1, row as isize)] = left.map_or([0; 2], difference);
        }
        for x in 0..4 {
            let above = self.neighbours.above.map(|near| (near, 12 + x));
            self.cache.differences[list][cell(x as isize, -1)] = above.map_or([0; 2], difference);
        }
    }

    /// The predicted vector of a partition: the median (8.4.1.3.1), or the neighbour that alone has
    /// the same reference.
    pub fn predict_vector(&self, list: usize, at: (usize, usize), width: usize) -> [i16; 2] {
        let reference = self.cache.get(list, at.0, at.1).0;
        predict(self.cache.around(list, at, width), reference)
    }

    /// The predicted vector of a 16x16, 16x8 or 8x16 partition (8.4.1.3).
    pub fn partition_vector(
        &self,
        list: usize,
        at: (usize, usize),
        size: (usize, usize),
    ) -> [i16; 2] {
        let reference = self.cache.get(list, at.0, at.1).0;
        let around = self.cache.around(list, at, size.0);
        let preferred = match (size, at) {
            ((4, 2), (_, 0)) => Some(around[1]),
            ((4, 2), _) | ((2, 4), (0, _)) => Some(around[0]),
            ((2, 4), _) => Some(around[2]),
            _ => None,
        };
        match preferred {
            Some((found, vector)) if found == reference => vector,
            _ => predict(around, reference),
        }
    }

    /// The vector of `P_Skip` (8.4.1.1).
    pub fn skip_vector(&self) -> [i16; 2] {
        let around = self.cache.around(0, (0, 0), 4);
        let still = |motion: Motion| motion.0 == MISSING || motion == (0, [0; 2]);
        if still(around[0]) || still(around[1]) { [0; 2] } else { predict(around, 0) }
    }

    /// Reference indices of direct spatial prediction (8.4.1.2.2): the smallest of the neighbours
    /// in each list, or a negative number; and the predicted vectors.
    pub fn spatial_motion(&self) -> [Motion; 2] {
        [0, 1].map(|list| {
            let around = self.cache.around(list, (0, 0), 4);
            let reference = around.iter().map(|motion| motion.0).filter(|&index| index >= 0).min();
            match reference {
                Some(reference) => (reference, predict(around, reference)),
                None => (-1, [0; 2]),
            }
        })
    }

    /// Copies the reference indices of a list from the cache to the macroblock.
    pub fn keep_references(&mut self, list: usize) {
        for (block, reference) in self.current.references[list].iter_mut().enumerate() {
            *reference = self.cache.get(list, block % 2 * 2, block / 2 * 2).0;
        }
    }

    /// Copies the motion from the cache to the macroblock.
    pub fn keep_motion(&mut self) {
        for list in 0..2 {
            self.keep_references(list);
            for block in 0..4 {
                let index = self.current.references[list][block];
                self.current.pictures[list][block] = match self.reference_of(list, index) {
                    Some((store, Structure::Bottom)) => 2 * store as i8 + 1,
                    Some((store, _)) => 2 * store as i8,
                    None => -1,
                };
            }
            for (row, vectors) in self.current.vectors[list].chunks_exact_mut(4).enumerate() {
                vectors.copy_from_slice(&self.cache.vectors[list][own(0, row)..][..4]);
            }
            if self.parameters.cabac && !self.current.skipped {
                for (row, to) in self.current.differences[list].chunks_exact_mut(4).enumerate() {
                    to.copy_from_slice(&self.cache.differences[list][own(0, row)..][..4]);
                }
            }
        }
    }

    /// Frame store and structure that reference index `index` means. `None` for a negative one.
    pub fn reference_of(&self, list: usize, index: i8) -> Option<(usize, Structure)> {
        let index = usize::try_from(index).ok()?;
        let entry = self.slice.lists[list][index >> usize::from(self.current.field) & 31];
        let structure = match (self.parameters.structure, self.current.field) {
            (Structure::Frame, true) if index % 2 == 0 => self.structure(),
            (Structure::Frame, true) => self.structure().opposite(),
            (picture, _) => entry.structure(picture),
        };
        Some((usize::from(entry.store & 15), structure))
    }
}

/// The prediction from neighbours A, B and C (8.4.1.3, 8.4.1.3.1).
fn predict(around: [Motion; 3], reference: i8) -> [i16; 2] {
    let [a, b, c] = around;
    if b.0 == MISSING && c.0 == MISSING && a.0 != MISSING {
        return a.1;
    }
    let mut same = around.iter().filter(|motion| motion.0 == reference);
    match (same.next(), same.next()) {
        (Some(&(_, vector)), None) => vector,
        _ => [0, 1].map(|axis| median(a.1[axis], b.1[axis], c.1[axis])),
    }
}
