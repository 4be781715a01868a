//! What the contexts of a macroblock's syntax elements need of its neighbours.

/// A macroblock that is written.
#[derive(Clone, Debug, Default)]
pub struct Mb {
    /// Slice that it belongs to; 0 if none yet.
    pub slice: u32,
    /// Field macroblock of an MBAFF frame.
    pub field: bool,
    pub skip: bool,
    pub intra: bool,
    pub pcm: bool,
    /// I_NxN, with modes.
    pub nxn: bool,
    /// B_Skip or B_Direct_16x16.
    pub direct: bool,
    /// coded_block_pattern.
    pub pattern: u8,
    pub transform_8x8: bool,
    pub chroma_mode: u8,
    /// Intra prediction modes by 4x4 block in raster order.
    pub modes: [u8; 16],
    /// Coefficients of the blocks of Y, Cb, Cr in raster order.
    pub totals: [[u8; 16]; 3],
    /// coded_block_flag of the blocks of Y, Cb, Cr in raster order.
    pub coded: [u16; 3],
    /// coded_block_flag of the DC blocks of Y, Cb, Cr.
    pub coded_dc: [bool; 3],
    /// ref_idx of 8x8 blocks in list 0 and 1; 0 without one.
    pub refs: [[u8; 4]; 2],
    /// Absolute mvd of 4x4 blocks in list 0 and 1.
    pub mvd: [[[u32; 2]; 16]; 2],
}

/// The macroblocks of a picture by address.
#[derive(Clone, Debug)]
pub struct Grid {
    pub width: usize,
    pub mbaff: bool,
    pub mbs: Vec<Mb>,
}

impl Grid {
    /// The macroblock and the position in it of (`x`, `y`) relative to macroblock `at` (6.4.12).
    /// Only positions inside, left, above, and left above. `size` is 16, for chroma 8. None
    /// outside of the slice.
    pub fn locate(&self, at: usize, x: i32, y: i32, size: i32) -> Option<(usize, i32, i32)> {
        if x >= 0 && y >= 0 {
            return Some((at, x, y));
        }
        let inside = x & (size - 1);
        let (left, up) = (x < 0, y < 0);
        let found = if self.mbaff {
            let (mb, bottom) = (&self.mbs[at], at % 2);
            if up && bottom == 1 && !mb.field {
                // The upper macroblock, or the row of a pair that stands left of its last row.
                if !left {
                    return Some((at - 1, inside, size - 1));
                }
                let pair = self.step(at / 2, true, false)?;
                if self.mbs[2 * pair].field {
                    (2 * pair + 1, inside, size / 2 - 1)
                } else {
                    (2 * pair, inside, size - 1)
                }
            } else {
                let pair = self.step(at / 2, left, up)?;
                let fields = self.mbs[2 * pair].field;
                if up {
                    match (mb.field, bottom, fields) {
                        (true, 0, true) => (2 * pair, inside, size - 1),
                        (true, 0, false) => (2 * pair + 1, inside, size - 2),
                        _ => (2 * pair + 1, inside, size - 1),
                    }
                } else {
                    let bottom = bottom as i32;
                    match (mb.field, fields) {
                        (false, true) => {
                            let row = y + size * bottom;
                            (2 * pair + (row & 1) as usize, inside, row >> 1)
                        }
                        (true, false) => {
                            let row = 2 * y + bottom;
                            (2 * pair + (row / size) as usize, inside, row % size)
                        }
                        _ => (2 * pair + bottom as usize, inside, y),
                    }
                }
            }
        } else {
            (self.step(at, left, up)?, inside, y & (size - 1))
        };
        (self.mbs[found.0].slice == self.mbs[at].slice).then_some(found)
    }

    /// Address of the macroblock, or pair, to the left and/or above.
    fn step(&self, at: usize, left: bool, up: bool) -> Option<usize> {
        let (column, row) = (at % self.width, at / self.width);
        if left && column == 0 || up && row == 0 {
            return None;
        }
        Some(at - usize::from(left) - if up { self.width } else { 0 })
    }

    /// The macroblock left of `at` and the one above, for elements of whole macroblocks
    /// (6.4.11.1).
    pub fn around(&self, at: usize) -> [Option<&Mb>; 2] {
        [(-1, 0), (0, -1)].map(|(x, y)| Some(&self.mbs[self.locate(at, x, y, 16)?.0]))
    }

    /// Whether the pairs left and above are field pairs, of those in the slice.
    pub fn field_pairs(&self, pair: usize) -> [Option<bool>; 2] {
        [(true, false), (false, true)].map(|(left, up)| {
            let mb = &self.mbs[2 * self.step(pair, left, up)?];
            (mb.slice == self.mbs[2 * pair].slice).then_some(mb.field)
        })
    }

    /// The number of `around` for which a condition holds, the one above counted `above` times.
    pub fn count(&self, at: usize, above: usize, holds: impl Fn(&Mb) -> bool) -> usize {
        let [a, b] = self.around(at).map(|mb| usize::from(mb.is_some_and(&holds)));
        a + above * b
    }
}
