//! Copies the elements of the sixteen slots of a message to and from the memory of a surface.
//!
//! Quads start at even columns and rows, levels at multiples of four. So the two pixels of a row of
//! a quad are adjacent in memory. In a Y tile with elements of four bytes, four columns of two rows
//! are adjacent too. Adjacent covered pixels are copied together.

use crate::mem::{PageFault, Vm};
use crate::surface::{Surface, TileMode};
use crate::unit::render_cache::SLOTS;

/// Bytes of the largest element that can be rendered to.
pub const MOST_BYTES: usize = 16;

/// Elements of the slots, one after the other.
pub type Elements = [u8; SLOTS * MOST_BYTES];

/// The positions of the slots: upper left, upper right, lower left and lower right pixel of four
/// quads.
#[derive(Clone, Copy, Debug)]
pub struct Places<'s> {
    /// The surface.
    pub surface: &'s Surface,
    /// Column and row of the upper left pixel of each quad; even.
    pub subspans: &'s [[u32; 2]; 4],
}

/// Two quads side by side, completely covered.
enum Wide {
    /// Graphics address of the 32 contiguous bytes of both quads.
    Block(u64),
    /// Graphics addresses of two rows of 16 bytes.
    Rows([u64; 2]),
}

/// The addresses of four quads, whose elements have four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Quads {
    /// Graphics address of the upper left pixel of each quad.
    at: [u64; 4],
    /// Bytes from the upper row of a quad to the lower one.
    below: u64,
}

impl Quads {
    /// As [`Places::store`].
    #[inline(always)]
    pub fn store(&self, vm: &mut Vm<'_>, lanes: u32, elements: &Elements) -> Result<(), PageFault> {
        let pairs = elements.as_chunks::<8>().0;
        for (n, &at) in self.at.iter().enumerate() {
            let covered = lanes >> (4 * n) & 15;
            let (upper, lower) = (&pairs[2 * n], &pairs[2 * n + 1]);
            match covered {
                0 => {}
                15 => vm.write_two([at, at.wrapping_add(self.below)], [upper, lower])?,
                _ => {
                    store_pair(vm, at, covered & 3, *upper)?;
                    store_pair(vm, at.wrapping_add(self.below), covered >> 2, *lower)?;
                }
            }
        }
        Ok(())
    }

    /// As [`Places::load`]. `self` must be the result of [`Places::quads`] for `places`.
    #[inline(always)]
    pub fn load(
        &self,
        places: &Places<'_>,
        vm: &Vm<'_>,
        origin: (i64, i64),
        lanes: u32,
        elements: &mut Elements,
    ) -> Result<(), PageFault> {
        let pairs = elements.as_chunks_mut::<8>().0;
        for (n, &at) in self.at.iter().enumerate() {
            if lanes >> (4 * n) & 15 == 0 {
                continue;
            }
            let mut both = [[0; 8]; 2];
            match vm.read_two([at, at.wrapping_add(self.below)], &mut both) {
                true => [pairs[2 * n], pairs[2 * n + 1]] = both,
                // Pixels that are not covered may be outside of memory.
                false => places.load_rows(vm, origin, lanes, n..n + 1, pairs)?,
            }
        }
        Ok(())
    }
}

/// Writes the pixels of `covered` (bit 0: left, bit 1: right) of a row of a quad.
#[inline(always)]
fn store_pair(vm: &mut Vm<'_>, at: u64, covered: u32, pair: [u8; 8]) -> Result<(), PageFault> {
    let both = u64::from_le_bytes(pair);
    match covered {
        0 => Ok(()),
        3 => vm.write_u64(at, both),
        1 => vm.write_u32(at, both as u32),
        _ => vm.write_u32(at.wrapping_add(4), (both >> 32) as u32),
    }
}

impl Places<'_> {
    /// Writes the elements of `lanes` (a bit for each slot). `origin` is the byte and row where the
    /// level and slice start.
    ///
    /// # Errors
    /// A page fault of the surface.
    #[inline(always)]
    pub fn store(
        &self,
        vm: &mut Vm<'_>,
        origin: (i64, i64),
        lanes: u32,
        elements: &Elements,
    ) -> Result<(), PageFault> {
        let bytes = self.surface.element_bytes as usize;
        if bytes != 4 {
            return self.rows(origin, lanes, 0..4, |at, slot, pair| {
                let first = slot * bytes;
                match pair {
                    3 => vm.write(at, &elements[first..first + 2 * bytes]),
                    1 => vm.write(at, &elements[first..first + bytes]),
                    _ => {
                        let right = &elements[first + bytes..first + 2 * bytes];
                        vm.write(at.wrapping_add(bytes as u64), right)
                    }
                }
            });
        }
        // Four bytes are the most common size. Each quad has an upper and a lower pair of pixels.
        let pairs = elements.as_chunks::<8>().0;
        if let Some(quads) = self.quads(vm, origin) {
            return quads.store(vm, lanes, elements);
        }
        for (half, upper) in [(0, 0), (2, 4)] {
            let [a, b, c, d] = [pairs[upper], pairs[upper + 1], pairs[upper + 2], pairs[upper + 3]];
            match self.wide(origin, lanes, half) {
                Some(Wide::Block(at)) => vm.write_array(at, &join::<32>(&[a, c, b, d]))?,
                Some(Wide::Rows([top, bottom])) => {
                    vm.write_array(top, &join::<16>(&[a, c]))?;
                    vm.write_array(bottom, &join::<16>(&[b, d]))?;
                }
                None => self.rows(origin, lanes, half..half + 2, |at, slot, pair| {
                    store_pair(vm, at, pair, pairs[slot / 2 % 8])
                })?,
            }
        }
        Ok(())
    }

    /// Reads the elements of `lanes` into `elements`. The content of other slots is not defined.
    ///
    /// # Errors
    /// A page fault of the surface.
    #[inline(always)]
    pub fn load(
        &self,
        vm: &Vm<'_>,
        origin: (i64, i64),
        lanes: u32,
        elements: &mut Elements,
    ) -> Result<(), PageFault> {
        let bytes = self.surface.element_bytes as usize;
        if bytes != 4 {
            return self.rows(origin, lanes, 0..4, |at, slot, pair| {
                let first = slot * bytes;
                match pair {
                    3 => vm.read(at, &mut elements[first..first + 2 * bytes]),
                    1 => vm.read(at, &mut elements[first..first + bytes]),
                    _ => {
                        let right = &mut elements[first + bytes..first + 2 * bytes];
                        vm.read(at.wrapping_add(bytes as u64), right)
                    }
                }
            });
        }
        if let Some(quads) = self.quads(vm, origin) {
            return quads.load(self, vm, origin, lanes, elements);
        }
        let pairs = elements.as_chunks_mut::<8>().0;
        for (half, upper) in [(0, 0), (2, 4)] {
            match self.wide(origin, lanes, half) {
                Some(Wide::Block(at)) => {
                    let block: [u8; 32] = vm.read_array(at)?;
                    for (n, part) in block.as_chunks().0.iter().enumerate() {
                        pairs[upper + [0, 2, 1, 3][n]] = *part;
                    }
                }
                Some(Wide::Rows(rows)) => {
                    for (below, at) in rows.into_iter().enumerate() {
                        let row: [u8; 16] = vm.read_array(at)?;
                        for (right, part) in row.as_chunks().0.iter().enumerate() {
                            pairs[upper + below + 2 * right] = *part;
                        }
                    }
                }
                None => self.load_rows(vm, origin, lanes, half..half + 2, pairs)?,
            }
        }
        Ok(())
    }

    /// Reads the covered elements of a range of quads. Elements must have four bytes.
    #[inline(never)]
    fn load_rows(
        &self,
        vm: &Vm<'_>,
        origin: (i64, i64),
        lanes: u32,
        quads: std::ops::Range<usize>,
        pairs: &mut [[u8; 8]],
    ) -> Result<(), PageFault> {
        self.rows(origin, lanes, quads, |at, slot, pair| {
            pairs[slot / 2 % 8] = match pair {
                3 => vm.read_array(at)?,
                1 => u64::from(vm.read_u32(at)?).to_le_bytes(),
                _ => (u64::from(vm.read_u32(at.wrapping_add(4))?) << 32).to_le_bytes(),
            };
            Ok(())
        })
    }

    /// The addresses of the quads. `None` if the rows of a quad may not be contiguous or may not be
    /// at a constant distance. Also `None` if accesses are logged, because then only covered pixels
    /// may be accessed. Elements must have four bytes.
    #[inline(always)]
    pub fn quads(&self, vm: &Vm<'_>, (left, top): (i64, i64)) -> Option<Quads> {
        let surface = self.surface;
        let (x, y) = (left + i64::from(surface.left), top + i64::from(surface.top));
        // Tiles have an even number of rows, so both rows of a quad are in the same tile.
        let split = surface.tile_mode == TileMode::W || x & 7 != 0 || y & 1 != 0;
        if split || surface.line_stride != 0 || vm.log().is_some() {
            return None;
        }
        let below = surface.tile_mode.below(surface.pitch).into();
        let mut quads = Quads { at: [0; 4], below };
        for (at, [x, y]) in quads.at.iter_mut().zip(self.subspans) {
            *at = surface.address(left + 4 * i64::from(*x), top + i64::from(*y));
        }
        Some(quads)
    }

    /// Quad `first` and the next one, of elements of four bytes, if they are completely covered,
    /// side by side, and start at a multiple of 16 bytes.
    #[inline(always)]
    fn wide(&self, (left, top): (i64, i64), lanes: u32, first: usize) -> Option<Wide> {
        let ([x, y], next) = (self.subspans[first & 3], self.subspans[(first + 1) & 3]);
        let (column, row) = (left + 4 * i64::from(x), top + i64::from(y));
        let covered = lanes >> (4 * first) & 0xff == 0xff;
        if !covered || next != [x + 2, y] || (column + i64::from(self.surface.left)) & 15 != 0 {
            return None;
        }
        let at = self.surface.address(column, row);
        if self.surface.tile_mode == TileMode::Y && (row + i64::from(self.surface.top)) & 1 == 0 {
            return Some(Wide::Block(at));
        }
        Some(Wide::Rows([at, self.surface.address(column, row + 1)]))
    }

    /// Calls `row` for each row of two pixels with a pixel in `lanes`, in the quads of the range
    /// `quads`. The arguments of `row` are the address and slot of the left pixel, and a mask of
    /// the pixels in `lanes` (bit 0: left). If the two pixels may not be adjacent in memory, calls
    /// `row` for each pixel.
    #[inline(always)]
    fn rows(
        &self,
        (left, top): (i64, i64),
        lanes: u32,
        quads: std::ops::Range<usize>,
        mut row: impl FnMut(u64, usize, u32) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        let surface = self.surface;
        let bytes = i64::from(surface.element_bytes);
        let pairs = 2 * surface.element_bytes <= surface.tile_mode.run();
        for n in quads {
            let [x, y] = self.subspans[n & 3];
            let quad = lanes >> (4 * n) & 15;
            let column = left + i64::from(x) * bytes;
            for below in 0..2 {
                let pair = quad >> (2 * below) & 3;
                if pair == 0 {
                    continue;
                }
                let (slot, y) = (4 * n + 2 * below, top + i64::from(y) + below as i64);
                if pairs {
                    row(surface.address(column, y), slot, pair)?;
                    continue;
                }
                for right in 0..2 {
                    if pair >> right & 1 == 1 {
                        row(surface.address(column + right as i64 * bytes, y), slot + right, 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Joins pairs of elements to one array of bytes.
#[inline(always)]
fn join<const N: usize>(parts: &[[u8; 8]]) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, part) in bytes.as_chunks_mut().0.iter_mut().zip(parts) {
        *to = *part;
    }
    bytes
}
