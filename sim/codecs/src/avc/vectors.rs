//! Prediction of motion vectors (8.4.1.1, 8.4.1.3).

use super::slice::Decoder;
use super::{Macroblock, SliceKind};
use crate::Structure;

/// Reference index of a block that is not available.
const MISSING: i8 = -2;

/// Cells in a row of the cache.
const STRIDE: usize = 8;

/// A motion vector and reference index.
pub(super) type Motion = (i8, [i16; 2]);

/// The motion of the macroblock's 4x4 blocks and of the blocks around it: a row above, from the
/// corner to the block above and to the right, and a column at the left. Vectors and indices of
/// neighbours are in units of the macroblock: of frames or of fields (8.4.1.3.2).
#[derive(Clone, Debug)]
pub(super) struct MotionCache {
    references: [[i8; 5 * STRIDE]; 2],
    vectors: [[[i16; 2]; 5 * STRIDE]; 2],
    /// Absolute vector differences.
    differences: [[[u8; 2]; 5 * STRIDE]; 2],
    /// The blocks above and to the left of rows 1 to 3, if they are not those at the left of the
    /// row before: between frame and field macroblocks.
    corners: Option<[[Motion; 3]; 2]>,
}

/// Index of the cell of block (`x`, `y`), -1 and 4 included.
fn cell(x: isize, y: isize) -> usize {
    ((y + 1) * STRIDE as isize + x + 1) as usize
}

/// Index of the cell of a block of the macroblock.
#[inline]
fn own(x: usize, y: usize) -> usize {
    (y + 1) * STRIDE + x + 1
}

impl MotionCache {
    pub fn new() -> Self {
        MotionCache {
            references: [[MISSING; 5 * STRIDE]; 2],
            vectors: [[[0; 2]; 5 * STRIDE]; 2],
            differences: [[[0; 2]; 5 * STRIDE]; 2],
            corners: None,
        }
    }

    /// Reference index and vector of a block of the macroblock.
    pub fn get(&self, list: usize, x: usize, y: usize) -> Motion {
        (self.references[list][own(x, y)], self.vectors[list][own(x, y)])
    }

    /// Sets the motion of blocks of the macroblock.
    pub fn set(
        &mut self,
        list: usize,
        at: (usize, usize),
        size: (usize, usize),
        reference: i8,
        vector: [i16; 2],
    ) {
        self.set_references(list, at, size, reference);
        self.set_vector(list, at, size, vector);
    }

    /// Sets the reference index of blocks of the macroblock.
    pub fn set_references(
        &mut self,
        list: usize,
        (x, y): (usize, usize),
        (width, height): (usize, usize),
        reference: i8,
    ) {
        for row in y..y + height {
            self.references[list][own(x, row)..][..width].fill(reference);
        }
    }

    /// Sets the vector of blocks of the macroblock.
    pub fn set_vector(
        &mut self,
        list: usize,
        (x, y): (usize, usize),
        (width, height): (usize, usize),
        vector: [i16; 2],
    ) {
        for row in y..y + height {
            self.vectors[list][own(x, row)..][..width].fill(vector);
        }
    }

    /// Sets the vector difference of blocks of the macroblock.
    pub fn set_difference(
        &mut self,
        list: usize,
        (x, y): (usize, usize),
        (width, height): (usize, usize),
        difference: [u8; 2],
    ) {
        for row in y..y + height {
            self.differences[list][own(x, row)..][..width].fill(difference);
        }
    }

    /// Sums of the absolute vector differences to the left of and above a block (9.3.3.1.1.7).
    pub fn difference_sums(&self, list: usize, (x, y): (usize, usize)) -> [u16; 2] {
        let at = own(x, y);
        let differences = &self.differences[list];
        [0, 1].map(|axis| {
            u16::from(differences[at - 1][axis]) + u16::from(differences[at - STRIDE][axis])
        })
    }

    fn at(&self, list: usize, cell: usize) -> Motion {
        (self.references[list][cell], self.vectors[list][cell])
    }

    /// Neighbours A, B and C of a partition of `width` blocks (8.4.1.3.2). D replaces C where that
    /// is not available.
    fn around(&self, list: usize, (x, y): (usize, usize), width: usize) -> [Motion; 3] {
        let at = own(x, y);
        let right = if y == 0 || decoded_before((x, y), width) {
            self.at(list, at - STRIDE + width)
        } else {
            (MISSING, [0; 2])
        };
        let c = match right.0 {
            MISSING => match (&self.corners, x, y) {
                (Some(corners), 0, 1..) => corners[list][y - 1],
                _ => self.at(list, at - STRIDE - 1),
            },
            _ => right,
        };
        [self.at(list, at - 1), self.at(list, at - STRIDE), c]
    }
}

/// True if the block above and to the right of a partition is in the macroblock and decoded before
/// the partition. Blocks of 4x4 are decoded in the order of figure 6-10.
fn decoded_before((x, y): (usize, usize), width: usize) -> bool {
    let order = |x: usize, y: usize| x % 2 + y % 2 * 2 + x / 2 * 4 + y / 2 * 8;
    x + width < 4 && y > 0 && order(x + width, y - 1) < order(x, y)
}

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
            (Structure::Frame, false) => Structure::Frame,
            (Structure::Frame, true) if index % 2 == 0 => self.structure(),
            (Structure::Frame, true) => self.structure().opposite(),
            _ if entry.bottom => Structure::Bottom,
            _ => Structure::Top,
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
