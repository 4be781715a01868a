//! The elements of a strip (8x2 pixels) in memory. They are one or two contiguous parts of 32
//! bytes. A part is read and written as a whole. Masks have the bits of
//! [`Strip::mask`](crate::pixel::raster::strips::Strip::mask).

use crate::eu::fast::lanes::map;
use crate::mem::{PAGE, Vm};
use crate::surface::{Level, Surface, TileMode};

/// Pixels of a row of a strip.
pub const COLUMNS: usize = 8;
/// Pixels of a strip: those of the upper row, then those of the lower row.
pub const LANES: usize = 2 * COLUMNS;
/// Bytes of a column of a Y tile.
const COLUMN: u64 = (TileMode::Y.run() * TileMode::Y.height()) as u64;
/// Bytes of a part.
const PART: usize = 32;

/// Converts a mask of slots to a mask of lanes. The slots are those of a message whose four quads
/// are a strip. The four slots of a quad are its upper left, upper right, lower left and lower
/// right pixel. The lanes are the pixels of the upper row, then those of the lower row.
#[inline(always)]
pub fn lanes(slots: u16) -> u16 {
    let row = |slots: u16| {
        let pairs = slots & 0x3333;
        let fours = (pairs | pairs >> 2) & 0x0f0f;
        (fours | fours >> 4) as u8
    };
    u16::from_le_bytes([row(slots), row(slots >> 2)])
}

/// The lane that [`lanes`] has for a slot.
#[inline(always)]
pub const fn lane(slot: usize) -> usize {
    slot / 4 * 2 + slot % 2 + slot / 2 % 2 * COLUMNS
}

/// The addresses of the elements of a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parts {
    /// Graphics addresses of the left four columns and of the right four columns, both rows of
    /// each. Elements have four bytes.
    Columns([u64; 2]),
    /// Graphics addresses of the upper and of the lower row. Elements have four bytes.
    Rows([u64; 2]),
    /// Graphics address of both rows. Elements have two bytes.
    Whole(u64),
}

impl Parts {
    /// The parts of the strip at column `x` and row `y` of a level and slice. `origin` is the byte
    /// and the row where they start, as [`Surface::origin`] returns them. `None` if the strip does
    /// not consist of whole, aligned parts, or if a pixel is outside of the level, because memory
    /// beside the level belongs to others.
    #[inline(always)]
    pub fn of(
        surface: &Surface,
        level: &Level,
        origin: (i64, i64),
        x: u32,
        y: u32,
    ) -> Option<Parts> {
        if x + COLUMNS as u32 > level.width || y + 2 > level.height {
            return None;
        }
        let bytes = surface.element_bytes;
        let (x, y) = (origin.0 + i64::from(x) * i64::from(bytes), origin.1 + i64::from(y));
        let (left, top) = (x + i64::from(surface.left), y + i64::from(surface.top));
        if surface.line_stride != 0 || surface.layout.interleaved {
            return None;
        }
        match (bytes, surface.tile_mode) {
            // The second column is in the same tile.
            (4, TileMode::Y) if left & 31 == 0 && top & 1 == 0 => {
                let first = surface.address(x, y);
                Some(Parts::Columns([first, first.wrapping_add(COLUMN)]))
            }
            (4, TileMode::Y) if left & 15 == 0 && top & 1 == 0 => {
                Some(Parts::Columns([surface.address(x, y), surface.address(x + 16, y)]))
            }
            // The second row is in the same tile.
            (4, TileMode::X) if left & 31 == 0 && top & 1 == 0 => {
                let first = surface.address(x, y);
                Some(Parts::Rows([first, first.wrapping_add(TileMode::X.run().into())]))
            }
            (4, TileMode::X) if left & 31 == 0 => {
                Some(Parts::Rows([surface.address(x, y), surface.address(x, y + 1)]))
            }
            (4, TileMode::Linear)
                if surface.base & 31 == 0 && surface.pitch & 31 == 0 && left & 31 == 0 =>
            {
                Some(Parts::Rows([surface.address(x, y), surface.address(x, y + 1)]))
            }
            (2, TileMode::Y) if left & 15 == 0 && top & 1 == 0 => {
                Some(Parts::Whole(surface.address(x, y)))
            }
            _ => None,
        }
    }

    /// For each part, true if it has a lane in `mask`.
    #[inline(always)]
    fn used(&self, mask: u16) -> [bool; 2] {
        match self {
            Parts::Columns(_) => [mask & 0x0f0f != 0, mask & 0xf0f0 != 0],
            Parts::Rows(_) => [mask & 0x00ff != 0, mask & 0xff00 != 0],
            Parts::Whole(_) => [mask != 0, false],
        }
    }

    /// True if `mask` has all lanes or no lane of each part. Then a write needs no old elements.
    #[inline(always)]
    pub fn covers(&self, mask: u16) -> bool {
        let parts = match self {
            Parts::Columns(_) => [0x0f0f, 0xf0f0],
            Parts::Rows(_) => [0x00ff, 0xff00],
            Parts::Whole(_) => [0xffff, 0],
        };
        parts.iter().all(|part| mask & part == 0 || mask & part == *part)
    }

    /// Reads each part that has a lane in `mask`. The lanes of other parts are 0. `None` if a part
    /// cannot be read.
    #[inline(always)]
    pub fn read(&self, vm: &Vm<'_>, mask: u16) -> Option<[u32; LANES]> {
        let mut lanes = [0; LANES];
        let used = self.used(mask);
        let mut bytes = [0; PART];
        match self {
            Parts::Whole(at) => {
                vm.read_within_page(*at, &mut bytes).then_some(())?;
                let words: [u16; LANES] = bytemuck::cast(bytes);
                lanes = map(words, |word| u16::from_le(word).into());
            }
            Parts::Columns(parts) if used == [true; 2] => {
                let mut both = [[0; PART]; 2];
                vm.read_two(*parts, &mut both).then_some(())?;
                let [left, right]: [[[u32; 4]; 2]; 2] = bytemuck::cast(both);
                let quarters: [[u32; 4]; 4] = [left[0], right[0], left[1], right[1]];
                lanes = map(bytemuck::cast(quarters), u32::from_le);
            }
            Parts::Rows(parts) if used == [true; 2] => {
                let mut both = [[0; PART]; 2];
                vm.read_two(*parts, &mut both).then_some(())?;
                lanes = map(bytemuck::cast(both), u32::from_le);
            }
            Parts::Columns(parts) => {
                for (n, at) in parts.iter().enumerate().filter(|(n, _)| used[*n]) {
                    vm.read_within_page(*at, &mut bytes).then_some(())?;
                    let [top, bottom]: [[u32; 4]; 2] = bytemuck::cast(bytes);
                    let lower = COLUMNS + 4 * n;
                    lanes[4 * n..4 * n + 4].copy_from_slice(&map(top, u32::from_le));
                    lanes[lower..lower + 4].copy_from_slice(&map(bottom, u32::from_le));
                }
            }
            Parts::Rows(parts) => {
                for (n, at) in parts.iter().enumerate().filter(|(n, _)| used[*n]) {
                    vm.read_within_page(*at, &mut bytes).then_some(())?;
                    let row: [u32; COLUMNS] = bytemuck::cast(bytes);
                    let first = n * COLUMNS;
                    lanes[first..first + COLUMNS].copy_from_slice(&map(row, u32::from_le));
                }
            }
        }
        Some(lanes)
    }

    /// Graphics address and bytes of a lane.
    #[inline]
    fn element(&self, lane: usize) -> (u64, usize) {
        let (row, column) = (lane / COLUMNS, lane % COLUMNS);
        let (part, offset, bytes) = match self {
            Parts::Columns(parts) => (parts[column / 4], 16 * row + 4 * (column % 4), 4),
            Parts::Rows(parts) => (parts[row], 4 * column, 4),
            Parts::Whole(at) => (*at, 16 * row + 2 * column, 2),
        };
        (part.wrapping_add(offset as u64), bytes)
    }

    /// True if the strip can be drawn by its parts. An observer of memory must get only the
    /// accesses of the pixels in `mask`, so then each part must have all of its lanes in it.
    #[inline(always)]
    pub fn admits(&self, vm: &Vm<'_>, mask: u16) -> bool {
        vm.log().is_none() || self.covers(mask)
    }

    /// Writes the lanes in `mask` one by one, for observers of memory. `None` if one of them cannot
    /// be written; those before it are.
    #[cold]
    fn write_each(&self, vm: &mut Vm<'_>, mask: u16, lanes: &[u32; LANES]) -> Option<()> {
        for (lane, value) in lanes.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
            let (at, bytes) = self.element(lane);
            vm.write(at, &value.to_le_bytes()[..bytes]).ok()?;
        }
        Some(())
    }

    /// Writes each part that has a lane in `mask`. All lanes of such a part are written; with an
    /// observer of memory, only those in `mask`. `None` if a part cannot be written; then none is.
    #[inline(always)]
    pub fn write(&self, vm: &mut Vm<'_>, mask: u16, lanes: &[u32; LANES]) -> Option<()> {
        let used = self.used(mask);
        if let (Parts::Columns([first, second]) | Parts::Rows([first, second]), [true, true]) =
            (self, used)
            && first / PAGE != second / PAGE
        {
            vm.probe(*second, PART as u64, true).ok()?;
        }
        if !self.admits(vm, mask) {
            return self.write_each(vm, mask, lanes);
        }
        let quarters: [[u32; 4]; 4] = bytemuck::cast(map(*lanes, u32::to_le));
        let [a, b, c, d] = quarters;
        if used == [true; 2] {
            let (addresses, [first, second]) = match self {
                Parts::Columns(parts) => (parts, [[a, c], [b, d]]),
                Parts::Rows(parts) => (parts, [[a, b], [c, d]]),
                // Not reached: `used` returns false for the second part of `Whole`.
                Parts::Whole(_) => return None,
            };
            let parts = [bytemuck::cast_ref(&first), bytemuck::cast_ref(&second)];
            return vm.write_two::<PART>(*addresses, parts).ok();
        }
        match self {
            Parts::Whole(at) => {
                let words = map(*lanes, |lane| (lane as u16).to_le());
                vm.write_array::<PART>(*at, &bytemuck::cast(words)).ok()?;
            }
            Parts::Columns(parts) => {
                for (n, at) in parts.iter().enumerate().filter(|(n, _)| used[*n]) {
                    let part = [quarters[n], quarters[n + 2]];
                    vm.write_array::<PART>(*at, &bytemuck::cast(part)).ok()?;
                }
            }
            Parts::Rows(parts) => {
                let rows: [[u32; COLUMNS]; 2] = bytemuck::cast(map(*lanes, u32::to_le));
                for (n, at) in parts.iter().enumerate().filter(|(n, _)| used[*n]) {
                    vm.write_array::<PART>(*at, &bytemuck::cast(rows[n])).ok()?;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: each slot by itself.
    #[test]
    fn slots_have_lanes() {
        for slots in 0..=u16::MAX {
            let lanes = lanes(slots);
            assert!((0..LANES).all(|slot| lanes >> lane(slot) & 1 == slots >> slot & 1));
        }
        // The second quad: columns 2 and 3.
        assert_eq!([4, 5, 6, 7].map(lane), [2, 3, 10, 11]);
    }
}
