//! Rows of bytes in memory, linear or tiled: rectangles of them are read and written in pieces that
//! are contiguous.

use super::tiling::TileMode;
use crate::mem::{PAGE, PageFault, Vm};

/// Where bytes of rows are, from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The order of bytes.
    pub tiling: TileMode,
    /// Bytes from row to row: a multiple of the tile's width.
    pub pitch: usize,
}

impl Rows {
    /// Reads `width` bytes of each of `height` rows, from byte and row `at` on.
    ///
    /// # Errors
    /// The [`PageFault`] of the first byte that cannot be read.
    pub fn read(
        &self,
        vm: &Vm<'_>,
        address: u64,
        at: (usize, usize),
        (width, height): (usize, usize),
    ) -> Result<Vec<u8>, PageFault> {
        let mut data = vec![0; width * height];
        self.runs(address, at, (width, height), |address, range, next| {
            if next == 0 {
                return vm.read(address, &mut data[range]);
            }
            // A column of a Y tile: one page holds all its rows.
            vm.record(address, (range.len() - 1) / width * next + next, false);
            let page = vm.page(address)?;
            for (row, start) in range.step_by(width).enumerate() {
                let from = (address % PAGE) as usize + row * next;
                let run = next.min(width - start % width);
                page.read(from, &mut data[start..start + run]);
            }
            Ok(())
        })?;
        Ok(data)
    }

    /// Writes `height` rows of `width` bytes, from byte and row `at` on. `data` are the bytes, row
    /// after row.
    ///
    /// # Errors
    /// The [`PageFault`] of the first byte that cannot be written.
    pub fn write(
        &self,
        vm: &mut Vm<'_>,
        address: u64,
        at: (usize, usize),
        (width, height): (usize, usize),
        data: &[u8],
    ) -> Result<(), PageFault> {
        self.runs(address, at, (width, height), |address, range, next| {
            if next == 0 {
                return vm.write(address, &data[range]);
            }
            vm.record(address, (range.len() - 1) / width * next + next, true);
            let mut page = vm.page_mut(address)?;
            for (row, start) in range.step_by(width).enumerate() {
                let to = (address % PAGE) as usize + row * next;
                let run = next.min(width - start % width);
                page.write(to, &data[start..start + run]);
            }
            Ok(())
        })
    }

    /// Splits a rectangle into pieces and calls `each(address, range, step)` for each piece.
    /// `range` indexes the samples of the rectangle. If `step` is 0, the piece is contiguous in
    /// memory. Otherwise the piece is a column of a Y tile, and `step` is the number of bytes from
    /// row to row in memory. Its rows start at every `width`th index of `range`, and each has at
    /// most `step` samples.
    fn runs(
        &self,
        address: u64,
        (left, top): (usize, usize),
        (width, height): (usize, usize),
        mut each: impl FnMut(u64, std::ops::Range<usize>, usize) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        if width == 0 {
            return Ok(());
        }
        let columns = self.tiling == TileMode::Y && address.is_multiple_of(PAGE);
        let run = self.tiling.run() as usize;
        let rows = if columns { self.tiling.height() as usize } else { 1 };
        let mut row = 0;
        while row < height {
            let count = (rows - (top + row) % rows).min(height - row);
            let mut x = 0;
            while x < width {
                let length = (run - (left + x) % run).min(width - x);
                let offset =
                    self.tiling.offset((left + x) as i64, (top + row) as i64, self.pitch as i64);
                let start = row * width + x;
                let at = address.wrapping_add(offset as u64);
                if columns && length == run {
                    each(at, start..start + (count - 1) * width + 1, run)?;
                } else {
                    for line in 0..count {
                        let start = start + line * width;
                        each(at + (line * run) as u64, start..start + length, 0)?;
                    }
                }
                x += length;
            }
            row += count;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Rows, TileMode};

    /// Oracle: the address of each byte by itself ([`TileMode::offset`]).
    #[test]
    fn pieces_cover_each_byte_once() {
        for tiling in [TileMode::Linear, TileMode::X, TileMode::Y] {
            for (address, at, size) in [
                (0x1_0000, (0, 0), (176, 144)),
                (0x1_0000, (0, 33), (40, 65)),
                (0x1_0000, (5, 7), (61, 3)),
                (0x1_0040, (0, 0), (50, 40)),
            ] {
                let rows = Rows { tiling, pitch: 512 };
                let mut seen = vec![0; size.0 * size.1];
                let mut byte = |index: usize, address_of: u64| {
                    let (x, y) = (at.0 + index % size.0, at.1 + index / size.0);
                    let want = tiling.offset(x as i64, y as i64, 512);
                    assert_eq!(address_of, address + want as u64, "{tiling:?} {x} {y}");
                    seen[index] += 1;
                };
                let done = rows.runs(address, at, size, |address, range, next| {
                    for (row, start) in range
                        .clone()
                        .step_by(if next == 0 { usize::MAX } else { size.0 })
                        .enumerate()
                    {
                        let run = if next == 0 { range.len() } else { next };
                        for x in 0..run {
                            byte(start + x, address + (row * next + x) as u64);
                        }
                    }
                    Ok(())
                });
                assert!(done.is_ok() && seen.iter().all(|count| *count == 1), "{tiling:?}");
            }
        }
    }
}
