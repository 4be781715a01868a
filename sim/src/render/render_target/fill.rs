//! Fills pixels of a render target with one element.

use super::{MOST_BYTES, RenderTarget, SLOTS, Work};
use crate::machine::exec::Exec;
use crate::machine::observation::Counter;
use crate::mem::{Client, PAGE};
use crate::pixel::coordinates::Rect;
use crate::pixel::raster::strips::Strip;
use crate::surface::format::Class;
use crate::surface::square::{self, SIDE};
use crate::unit::render_cache::Write;
use std::ops::Range;

/// Pixels of a square of the screen.
#[derive(Clone, Debug)]
pub struct Area {
    /// Column and row of the upper left pixel, multiples of the side.
    corner: [u32; 2],
    /// A bit for each pixel of each row. Bit 0 is the left pixel.
    rows: square::Pixels,
}

impl Area {
    /// The covered pixels of the quads whose numbers are in `range`; `None` if the strips are not
    /// all in one square. The quads are numbered as in [`Strip::within`], from 0 on.
    #[must_use]
    pub fn of(strips: &[Strip], range: Range<usize>) -> Option<Area> {
        let corner = |strip: &Strip| [strip.x, strip.y].map(|at| at / SIDE as u32 * SIDE as u32);
        let mut area = Area { corner: corner(strips.first()?), rows: [0; SIDE] };
        let mut number = 0;
        for strip in strips {
            if corner(strip) != area.corner {
                return None;
            }
            let [x, y] = [strip.x as usize % SIDE, strip.y as usize % SIDE];
            let [top, bottom] = strip.within(&mut number, &range).mask.to_le_bytes();
            area.rows[y] |= u64::from(top) << x;
            area.rows[y + 1] |= u64::from(bottom) << x;
        }
        Some(area)
    }

    /// All pixels of a rectangle of the screen. `None` if the rectangle is not in one square.
    #[must_use]
    pub fn of_rectangle(pixels: Rect) -> Option<Area> {
        let [x0, y0, x1, y1] =
            [pixels.x0, pixels.y0, pixels.x1, pixels.y1].map(|at| u32::try_from(at).ok());
        let (x0, y0, x1, y1) = (x0?, y0?, x1?, y1?);
        const SIZE: u32 = SIDE as u32;
        let corner = [x0, y0].map(|at| at / SIZE * SIZE);
        let [left, top] = [x0 - corner[0], y0 - corner[1]];
        let (width, bottom) = (x1.checked_sub(x0)?, y1.checked_sub(corner[1])?);
        if width == 0 || left + width > SIZE || bottom > SIZE {
            return None;
        }
        let columns = u64::MAX >> (SIZE - width) << left;
        let row = |n: usize| if (top..bottom).contains(&(n as u32)) { columns } else { 0 };
        Some(Area { corner, rows: std::array::from_fn(row) })
    }

    /// Removes the pixels of a quad; `x` and `y` are the position of its upper left pixel. The quad
    /// must be in the square.
    pub fn remove(&mut self, x: u32, y: u32) {
        let [x, y] = [x as usize % SIDE, y as usize % SIDE];
        for row in self.rows.iter_mut().skip(y).take(2) {
            *row &= !(3 << x);
        }
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
            && self.simple
            && !self.reads
            && !self.blend.is_enabled()
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
        let mut pattern = [0; square::MOST_BYTES];
        square::repeat(&element[..bytes], &mut pattern);
        let area = area.inside(self.level.width, self.level.height);
        let mut page = None;
        let (left, top) = self.surface.origin(&self.level, self.slice(slice), 0);
        let [x, y] = area.corner.map(i64::from);
        let corner = (left + x * bytes as i64, top + y);
        let writable = self.surface.square(corner, &area.rows, &mut |at, length| {
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
        let _client = exec.vm.client(Client::RenderTarget);
        let mut write = |at: u64, length: usize| exec.vm.write(at, &pattern[..length]);
        if self.surface.square(corner, &area.rows, &mut write).is_err() {
            return false;
        }
        let pixels = area.pixels();
        exec.stats.pixels += pixels;
        exec.stats.bytes_written += pixels * bytes as u64;
        exec.device.observed.add(Counter::Written, area.quads());
        true
    }
}
