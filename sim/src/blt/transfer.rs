//! Moving rectangles: fill, copy and everything between, on linear and tiled surfaces.
//!
//! A rectangle is worked row by row, a row in runs that are contiguous in memory. The result is as if the whole
//! source had been read before the first byte was written: pages of the source are kept as they were when a write to
//! them comes first.

use super::rop::Rop;
use crate::assumptions::CLIPPING_MOVES_THE_SOURCE;
use crate::context::{Clip, Exec};
use crate::fault::Fault;
use crate::mem::{ADDRESS_MASK, PAGE, PageFault, Vm};
use crate::observe::Observer;
use crate::surface::TileMode;
use crate::watchdog;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// A side of a blit: where byte `x` of row `y` lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// Graphics address of the first byte.
    pub base: u64,
    /// Bytes from a row to the next; may be negative if linear.
    pub pitch: i64,
    /// Order of bytes.
    pub tile_mode: TileMode,
}

impl Plane {
    /// Graphics address of byte `x` of row `y`.
    #[inline(always)]
    fn address(&self, x: i64, y: i64) -> u64 {
        self.base.wrapping_add(self.tile_mode.offset(x, y, self.pitch) as u64) & ADDRESS_MASK
    }

    /// Addresses among which all bytes of a rectangle lie (with others, if tiled).
    fn extent(&self, x: i64, y: i64, width: i64, height: i64) -> RangeInclusive<u64> {
        let (w, h) = match self.tile_mode {
            TileMode::Linear => (1, 1),
            tiled => (i64::from(tiled.width()), i64::from(tiled.height())),
        };
        let (left, top) = (x.div_euclid(w) * w, y.div_euclid(h) * h);
        let (right, bottom) =
            ((x + width - 1).div_euclid(w) * w + w - 1, (y + height - 1).div_euclid(h) * h + h - 1);
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let offsets = corners.map(|(x, y)| self.tile_mode.offset(x, y, self.pitch));
        let low = offsets.into_iter().min().unwrap_or(0);
        let high = offsets.into_iter().max().unwrap_or(0);
        let first = self.base.wrapping_add(low as u64) & ADDRESS_MASK;
        let last = first.saturating_add((high - low) as u64);
        if last > ADDRESS_MASK { 0..=ADDRESS_MASK } else { first..=last }
    }
}

/// A rectangle to be worked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blit {
    /// Bytes of a pixel: 1, 2 or 4.
    pub pixel_bytes: usize,
    /// The operation.
    pub rop: Rop,
    /// Bits of a pixel that are written; all 32 if the pixel has fewer.
    pub write_mask: u32,
    /// Where to.
    pub destination: Plane,
    /// First column of the destination, in pixels.
    pub x: i64,
    /// First row of the destination.
    pub y: i64,
    /// Width in pixels; nothing is done if it is not positive.
    pub width: i64,
    /// Height in rows; nothing is done if it is not positive.
    pub height: i64,
    /// Where from, with first column and row.
    pub source: Option<(Plane, i64, i64)>,
    /// Colour of the solid pattern, in the low bits.
    pub pattern: u32,
}

impl Blit {
    /// The part inside the clip rectangle; the source moves with it.
    #[must_use]
    pub fn clip(self, clip: Option<Clip>) -> Blit {
        let Some(clip) = clip else { return self };
        let (left, top) = (self.x.max(clip.left), self.y.max(clip.top));
        let cut = if CLIPPING_MOVES_THE_SOURCE { (left - self.x, top - self.y) } else { (0, 0) };
        Blit {
            x: left,
            y: top,
            width: (self.x + self.width).min(clip.right) - left,
            height: (self.y + self.height).min(clip.bottom) - top,
            source: self.source.map(|(plane, x, y)| (plane, x + cut.0, y + cut.1)),
            ..self
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// [`Fault::Page`] at the first byte without memory; everything before it is written. [`Fault::Hang`] if the
    /// rectangle is more than the budget allows.
    pub fn run<O: Observer>(&self, exec: &mut Exec<'_, O>) -> Result<(), Fault> {
        if self.width <= 0 || self.height <= 0 {
            return Ok(());
        }
        let bytes = self.width as usize * self.pixel_bytes;
        let source = self.source.filter(|_| self.rop.uses_source());
        let masked = self.write_mask != u32::MAX;
        let needs_destination = masked || self.rop.uses_destination();
        let constant = source.is_none() && !needs_destination;
        let copy = self.rop.code() == SRC_COPY && !masked;
        let mut shadow = source.and_then(|(plane, x, y)| self.overlap(&plane, x, y));

        // Rows of bytes, so that operations need to know nothing of pixels.
        let repeat = |pixel: u32| -> Vec<u8> {
            pixel.to_le_bytes()[..self.pixel_bytes].iter().copied().cycle().take(bytes).collect()
        };
        let (pattern, mask) = (repeat(self.pattern), repeat(self.write_mask));
        let (mut row, mut below) = (vec![0; bytes], vec![0; bytes]);
        if constant {
            self.combine(&mut row, &pattern, &below, &mask);
        }
        let left = self.x * self.pixel_bytes as i64;
        for line in 0..self.height {
            exec.spend(self.width as u64 * watchdog::PIXEL + 1)?;
            let y = self.y + line;
            if let Some((plane, x, y)) = source {
                let x = x * self.pixel_bytes as i64;
                read_row(&exec.vm, &plane, x, y + line, &mut row, shadow.as_ref())
                    .map_err(|fault| exec.page(fault, "source"))?;
                exec.stats.bytes_read += bytes as u64;
            }
            if needs_destination {
                read_row(&exec.vm, &self.destination, left, y, &mut below, None)
                    .map_err(|fault| exec.page(fault, "destination"))?;
                exec.stats.bytes_read += bytes as u64;
            }
            if !constant && !copy {
                self.combine(&mut row, &pattern, &below, &mask);
            }
            write_row(&mut exec.vm, &self.destination, left, y, &row, shadow.as_mut())
                .map_err(|fault| exec.page(fault, "destination"))?;
            exec.stats.pixels += self.width as u64;
            exec.stats.bytes_written += bytes as u64;
        }
        Ok(())
    }

    /// Replaces source bytes by what is to be written.
    fn combine(&self, row: &mut [u8], pattern: &[u8], below: &[u8], mask: &[u8]) {
        let rop = self.rop;
        for (((to, &pattern), &below), &mask) in row.iter_mut().zip(pattern).zip(below).zip(mask) {
            let value = rop.apply(pattern, *to, below);
            *to = below ^ ((below ^ value) & mask);
        }
    }

    /// What is needed to keep the source as it was, if the destination may overwrite it.
    fn overlap(&self, source: &Plane, x: i64, y: i64) -> Option<Shadow> {
        let size = self.pixel_bytes as i64;
        let from = source.extent(x * size, y, self.width * size, self.height);
        let to = self.destination.extent(self.x * size, self.y, self.width * size, self.height);
        let apart = from.end() < to.start() || to.end() < from.start();
        (!apart).then(|| Shadow { source: from, pages: BTreeMap::new() })
    }
}

/// Result = source.
const SRC_COPY: u8 = 0xcc;

/// Pages of the source as they were before the blit wrote to them.
///
/// It goes by graphics address: two mappings of one frame count as two places.
struct Shadow {
    source: RangeInclusive<u64>,
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl Shadow {
    /// Called before bytes from `address` on, inside one page, are written.
    fn keep(&mut self, vm: &Vm<'_>, address: u64) -> Result<(), PageFault> {
        let page = address & !(PAGE - 1);
        if *self.source.start() >= page + PAGE || *self.source.end() < page || self.pages.contains_key(&page)
        {
            return Ok(());
        }
        self.pages.insert(page, vm.page(page)?.into());
        Ok(())
    }
}

/// Part of a row that lies in one page: from `address` on if linear, in the tile that starts at `address` if tiled.
struct Piece {
    address: u64,
    length: usize,
}

impl Plane {
    /// The piece of row `y` that starts at byte `x`, at most `max` bytes: up to the end of the page or tile.
    #[inline(always)]
    fn piece(&self, x: i64, y: i64, max: usize) -> Piece {
        if self.tile_mode == TileMode::Linear {
            let address = self.address(x, y);
            return Piece { address, length: max.min((PAGE - address % PAGE) as usize) };
        }
        let (w, h) = (i64::from(self.tile_mode.width()), i64::from(self.tile_mode.height()));
        let inside = x.rem_euclid(w);
        let address = self.address(x - inside, y - y.rem_euclid(h));
        Piece { address, length: max.min((w - inside) as usize) }
    }

    /// Calls `copy` for each contiguous run of a piece: the place in the page and the place in the piece.
    #[inline(always)]
    fn runs(&self, x: i64, y: i64, piece: &Piece, mut copy: impl FnMut(Range<usize>, Range<usize>)) {
        if self.tile_mode == TileMode::Linear {
            let start = (piece.address % PAGE) as usize;
            return copy(start..start + piece.length, 0..piece.length);
        }
        let (w, h) = (i64::from(self.tile_mode.width()), i64::from(self.tile_mode.height()));
        let (x, y) = (x.rem_euclid(w) as usize, y.rem_euclid(h));
        let run = self.tile_mode.run() as usize;
        let mut done = 0;
        while done < piece.length {
            let start = self.tile_mode.offset((x + done) as i64, y, w) as usize;
            let length = (run - (x + done) % run).min(piece.length - done);
            copy(start..start + length, done..done + length);
            done += length;
        }
    }
}

/// Reads bytes `x..` of row `y`.
fn read_row(
    vm: &Vm<'_>,
    plane: &Plane,
    x: i64,
    y: i64,
    row: &mut [u8],
    shadow: Option<&Shadow>,
) -> Result<(), PageFault> {
    let mut done = 0;
    while done < row.len() {
        let at = x + done as i64;
        let piece = plane.piece(at, y, row.len() - done);
        let kept = shadow.and_then(|shadow| shadow.pages.get(&(piece.address & !(PAGE - 1))));
        let page = match kept {
            Some(page) => page,
            None => vm.page(piece.address)?,
        };
        let part = &mut row[done..done + piece.length];
        plane.runs(at, y, &piece, |from, to| part[to].copy_from_slice(&page[from]));
        done += piece.length;
    }
    Ok(())
}

/// Writes bytes `x..` of row `y`.
fn write_row(
    vm: &mut Vm<'_>,
    plane: &Plane,
    x: i64,
    y: i64,
    row: &[u8],
    mut shadow: Option<&mut Shadow>,
) -> Result<(), PageFault> {
    let mut done = 0;
    while done < row.len() {
        let at = x + done as i64;
        let piece = plane.piece(at, y, row.len() - done);
        if let Some(shadow) = shadow.as_deref_mut() {
            shadow.keep(vm, piece.address)?;
        }
        let page = vm.page_mut(piece.address)?;
        let part = &row[done..done + piece.length];
        plane.runs(at, y, &piece, |to, from| page[to].copy_from_slice(&part[from]));
        done += piece.length;
    }
    Ok(())
}
