//! The motion of a macroblock in decoding and of the blocks around it (8.4.1.3.2).

/// Reference index of a block that is not available.
pub(super) const MISSING: i8 = -2;

/// Cells in a row of the cache.
const STRIDE: usize = 8;

/// A motion vector and reference index.
pub(super) type Motion = (i8, [i16; 2]);

/// The motion of the macroblock's 4x4 blocks and of the blocks around it: a row above, from the
/// corner to the block above and to the right, and a column at the left. Vectors and indices of
/// neighbours are in units of the macroblock: of frames or of fields (8.4.1.3.2).
#[derive(Clone, Debug)]
pub(super) struct MotionCache {
    pub references: [[i8; 5 * STRIDE]; 2],
    pub vectors: [[[i16; 2]; 5 * STRIDE]; 2],
    /// Absolute vector differences.
    pub differences: [[[u8; 2]; 5 * STRIDE]; 2],
    /// The blocks above and to the left of rows 1 to 3, if they are not those at the left of the
    /// row before: between frame and field macroblocks.
    pub corners: Option<[[Motion; 3]; 2]>,
}

/// Index of the cell of block (`x`, `y`), -1 and 4 included.
pub(super) fn cell(x: isize, y: isize) -> usize {
    ((y + 1) * STRIDE as isize + x + 1) as usize
}

/// Index of the cell of a block of the macroblock.
#[inline]
pub(super) fn own(x: usize, y: usize) -> usize {
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
    pub fn around(&self, list: usize, (x, y): (usize, usize), width: usize) -> [Motion; 3] {
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
