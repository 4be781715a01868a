//! Fills pixels of a render target with one element.

use super::{MOST_BYTES, Purpose, RenderTarget, SLOTS, Work};
use crate::machine::exec::Exec;
use crate::machine::observation::Counter;
use crate::mem::{PAGE, PageFault};
use crate::pixel::raster::Quad;
use crate::surface::TileMode;
use crate::surface::format::Class;
use crate::unit::render_cache::Write;

/// Pixels along the side of an area.
const SIDE: usize = 64;
/// Bytes of a pattern: a row of an area with the largest elements.
const PATTERN: usize = SIDE * MOST_BYTES;

/// Pixels of a square of the screen.
#[derive(Clone, Debug)]
pub struct Area {
    /// Column and row of the upper left pixel, multiples of the side.
    corner: [u32; 2],
    /// A bit for each pixel of each row. Bit 0 is the left pixel.
    rows: [u64; SIDE],
}

impl Area {
    /// The covered pixels of quads; `None` if they are not in one square.
    #[must_use]
    pub fn of(quads: &[Quad]) -> Option<Area> {
        let corner = |quad: &Quad| [quad.x, quad.y].map(|at| at / SIDE as u32 * SIDE as u32);
        let mut area = Area { corner: corner(quads.first()?), rows: [0; SIDE] };
        for quad in quads {
            if corner(quad) != area.corner {
                return None;
            }
            let [x, y] = [quad.x, quad.y].map(|at| at as usize % SIDE);
            let [a, b, c, d] = quad.mask.map(|mask| u64::from(mask & 1));
            area.rows[y] |= (a | b << 1) << x;
            area.rows[y + 1] |= (c | d << 1) << x;
        }
        Some(area)
    }

    /// Number of pixels.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        self.rows.iter().map(|row| u64::from(row.count_ones())).sum()
    }

    /// Number of quads with a pixel.
    fn quads(&self) -> u64 {
        let both = |rows: &[u64; 2]| {
            let columns = rows[0] | rows[1];
            u64::from(((columns | columns >> 1) & 0x5555_5555_5555_5555).count_ones())
        };
        self.rows.as_chunks().0.iter().map(both).sum()
    }

    /// The pixels inside a level of this width and height.
    fn inside(&self, width: u32, height: u32) -> Area {
        let left = |end: u32, at: u32| end.saturating_sub(at).min(SIDE as u32);
        let columns = match left(width, self.corner[0]) {
            0 => 0,
            count => u64::MAX >> (SIDE as u32 - count),
        };
        let count = left(height, self.corner[1]) as usize;
        let row = |n: usize| if n < count { self.rows[n] & columns } else { 0 };
        Area { corner: self.corner, rows: std::array::from_fn(row) }
    }
}

impl RenderTarget {
    /// The element of a write that gives all of its slots the same colour; `None` if slots have
    /// different colours, or if an element also depends on the position or on the destination.
    pub fn one_color(&self, write: &Write) -> Option<[u8; MOST_BYTES]> {
        let codec = self.codec?;
        let slots = write.slots.count_ones() as usize;
        let equal = |lanes: &[u32; SLOTS]| lanes[..slots].iter().all(|lane| *lane == lanes[0]);
        let packed_yuv = matches!(codec.format().class, Class::PackedYuv { .. });
        let simple = write.slots & 1 == 1
            && write.color.iter().all(equal)
            && self.purpose == Purpose::Draw
            && self.auxiliary.is_none()
            && self.turn.is_none()
            && self.dither.is_none()
            && !self.reads
            && !self.blend.is_enabled()
            && self.blend.logic.is_none()
            && self.blend.channels != 0
            && self.surface.layout.samples == 1
            && !packed_yuv;
        simple.then(|| {
            let work = Work { target: self, codec, slice: 0, subspans: &[[0; 2]; 4] };
            let mut elements = [0; SLOTS * MOST_BYTES];
            work.make(&write.color, None, &[0; SLOTS * MOST_BYTES], &mut elements);
            std::array::from_fn(|n| elements[n])
        })
    }

    /// Writes an element to all pixels of an area, and counts them. Returns false, and writes
    /// nothing, if a part of the memory cannot be written.
    pub fn store(
        &self,
        exec: &mut Exec<'_>,
        slice: u32,
        area: &Area,
        element: &[u8; MOST_BYTES],
    ) -> bool {
        let bytes = self.surface.element_bytes as usize;
        let mut pattern = [0; PATTERN];
        for to in pattern.chunks_exact_mut(bytes) {
            to.copy_from_slice(&element[..bytes]);
        }
        let slice = self.surface.first_slice + if slice < self.slices { slice } else { 0 };
        let area = area.inside(self.level.width, self.level.height);
        let mut page = None;
        let writable = self.parts(slice, &area, &mut |at, length| {
            let pages = [at / PAGE, (at + length as u64 - 1) / PAGE];
            if page == Some(pages) {
                return Ok(());
            }
            page = Some(pages);
            exec.vm.probe(at, length as u64, true)
        });
        if writable.is_err() {
            return false;
        }
        let mut write = |at: u64, length: usize| exec.vm.write(at, &pattern[..length]);
        if self.parts(slice, &area, &mut write).is_err() {
            return false;
        }
        let pixels = area.pixels();
        exec.stats.pixels += pixels;
        exec.stats.bytes_written += pixels * bytes as u64;
        exec.device.observed.add(Counter::Written, area.quads());
        true
    }

    /// Calls `each` with the address and the length of each contiguous part of memory that holds
    /// pixels of an area.
    fn parts(
        &self,
        slice: u32,
        area: &Area,
        each: &mut impl FnMut(u64, usize) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        let surface = &self.surface;
        let bytes = i64::from(surface.element_bytes);
        let (left, top) = surface.origin(&self.level, slice, 0);
        let (left, top) =
            (left + i64::from(area.corner[0]) * bytes, top + i64::from(area.corner[1]));
        let mut rows = area.rows;
        let aligned = (left + i64::from(surface.left)) % 16 == 0;
        if surface.tile_mode == TileMode::Y && aligned {
            // Columns of 16 bytes are contiguous down to the end of the tile.
            let width = 16 / bytes as usize;
            for column in 0..SIDE / width {
                let mask = (u64::MAX >> (SIDE - width)) << (column * width);
                let mut y = 0;
                while y < SIDE {
                    let tile = (top + y as i64 + i64::from(surface.top)) & 31;
                    let most = (32 - tile as usize).min(SIDE - y);
                    let full =
                        rows[y..y + most].iter().take_while(|row| **row & mask == mask).count();
                    if full == 0 {
                        y += 1;
                        continue;
                    }
                    each(surface.address(left + 16 * column as i64, top + y as i64), 16 * full)?;
                    rows[y..y + full].iter_mut().for_each(|row| *row &= !mask);
                    y += full;
                }
            }
        }
        let run = i64::from(surface.tile_mode.run());
        for (y, row) in rows.into_iter().enumerate() {
            let mut rest = row;
            while rest != 0 {
                let first = rest.trailing_zeros();
                let count = (rest >> first).trailing_ones();
                rest &= !((u64::MAX >> (64 - count)) << first);
                let mut at = left + i64::from(first) * bytes;
                let end = at + i64::from(count) * bytes;
                while at < end {
                    let room = run - (at + i64::from(surface.left)).rem_euclid(run);
                    let length = room.min(end - at);
                    each(surface.address(at, top + y as i64), length as usize)?;
                    at += length;
                }
            }
        }
        Ok(())
    }
}
