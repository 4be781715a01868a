//! Moving rectangles: fill, copy and everything between, on linear and tiled surfaces.
//!
//! A rectangle is worked row by row, a row in runs that are contiguous in memory. The result is as if the whole
//! source had been read before the first byte was written: pages of the source are kept as they were when a write to
//! them comes first.

use super::rop::Rop;
use crate::context::{Clip, Exec};
use crate::fault::Fault;
use crate::mem::{ADDRESS_MASK, PAGE, PageFault, Vm};
use crate::observe::Observer;
use crate::surface::TileMode;
use crate::watchdog;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

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

    /// Bytes from byte `x` of a row on that are contiguous, at most `max`.
    #[inline(always)]
    fn run(&self, x: i64, max: usize) -> usize {
        let run = i64::from(self.tile_mode.run());
        max.min((run - x.rem_euclid(run)) as usize)
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
    /// Bits of a pixel that are written.
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
        Blit {
            x: left,
            y: top,
            width: (self.x + self.width).min(clip.right) - left,
            height: (self.y + self.height).min(clip.bottom) - top,
            source: self.source.map(|(plane, x, y)| (plane, x + left - self.x, y + top - self.y)),
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
        let all = u32::MAX >> (32 - 8 * self.pixel_bytes);
        let masked = self.write_mask & all != all;
        let source = self.source.filter(|_| self.rop.uses_source());
        let needs_destination = masked || self.rop.uses_destination();
        let pattern = self.pattern.to_le_bytes();
        let mask = self.write_mask.to_le_bytes();
        let mut shadow = source.and_then(|(plane, x, y)| self.overlap(&plane, x, y));

        let mut row = vec![0; bytes];
        let mut below = vec![0; if needs_destination { bytes } else { 0 }];
        let constant = source.is_none() && !needs_destination;
        if constant {
            for (index, byte) in row.iter_mut().enumerate() {
                *byte = self.rop.apply(pattern[index % self.pixel_bytes], 0, 0);
            }
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
                let pixels = row.chunks_exact_mut(self.pixel_bytes).zip(below.chunks_exact(self.pixel_bytes));
                for (to, from) in pixels {
                    for (index, (to, &from)) in to.iter_mut().zip(from).enumerate() {
                        let value = self.rop.apply(pattern[index], *to, from);
                        *to = from ^ ((from ^ value) & mask[index]);
                    }
                }
            } else if !constant && (self.rop.code() != SRC_COPY) {
                for pixel in row.chunks_exact_mut(self.pixel_bytes) {
                    for (index, byte) in pixel.iter_mut().enumerate() {
                        *byte = self.rop.apply(pattern[index], *byte, 0);
                    }
                }
            }
            write_row(&mut exec.vm, &self.destination, left, y, &row, shadow.as_mut())
                .map_err(|fault| exec.page(fault, "destination"))?;
            exec.stats.pixels += self.width as u64;
            exec.stats.bytes_written += bytes as u64;
        }
        Ok(())
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
        self.pages.insert(page, vm.run(page, PAGE as usize)?.into());
        Ok(())
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
        let address = plane.address(at, y);
        let max = plane.run(at, row.len() - done);
        let kept = shadow.and_then(|shadow| shadow.pages.get(&(address & !(PAGE - 1))));
        let run = match kept {
            Some(page) => {
                let start = (address % PAGE) as usize;
                &page[start..page.len().min(start + max)]
            }
            None => vm.run(address, max)?,
        };
        row[done..done + run.len()].copy_from_slice(run);
        done += run.len();
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
        let address = plane.address(at, y);
        if let Some(shadow) = shadow.as_deref_mut() {
            shadow.keep(vm, address)?;
        }
        let run = vm.run_mut(address, plane.run(at, row.len() - done))?;
        run.copy_from_slice(&row[done..done + run.len()]);
        done += run.len();
    }
    Ok(())
}
