//! A resolved blit: each pixel of a rectangle is set to a function of source, pattern and
//! destination.
//!
//! The rectangle is processed row by row. Each row takes a few loops over its bytes, which do not
//! depend on the pixel layout. The result is as if the whole colour source had been read before the
//! first byte was written. If source and destination are the same surface, the order of rows
//! ensures this, as in hardware. Otherwise each page of the source is saved before the first write
//! to it. There are two exceptions. Pages are compared by graphics address, so if a frame is mapped
//! twice, once as source and once as destination, its rows are read only when they are processed.
//! The same holds for a monochrome source that overlaps the destination.

use super::bitmap::Bitmap;
use super::depth::Depth;
use super::key::Key;
use super::pattern::Pattern;
use super::plane::{Plane, Shadow};
use super::rop::Rop;
use super::rows::{PatternRows, SourceRows};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;

/// Columns and rows of a surface, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rectangle {
    /// First column.
    pub left: i64,
    /// First row.
    pub top: i64,
    /// Column after the last.
    pub right: i64,
    /// Row after the last.
    pub bottom: i64,
}

impl Rectangle {
    /// Number of columns; zero or negative if the rectangle is empty.
    pub const fn width(&self) -> i64 {
        self.right - self.left
    }

    /// Number of rows; zero or negative if the rectangle is empty.
    pub const fn height(&self) -> i64 {
        self.bottom - self.top
    }

    /// True if there is no pixel in it.
    pub const fn is_empty(&self) -> bool {
        self.width() <= 0 || self.height() <= 0
    }

    /// The part that lies in both rectangles.
    #[must_use]
    pub fn intersection(&self, other: &Rectangle) -> Rectangle {
        Rectangle {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }
}

/// The source operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// There is none.
    None,
    /// Pixels of a surface, from column `x` of row `y` on.
    Color {
        /// The surface.
        plane: Plane,
        /// Column of the surface for the rectangle's first column.
        x: i64,
        /// Row of the surface for the rectangle's first row.
        y: i64,
    },
    /// Bits that become pixels. The first bit is for the rectangle's upper left corner.
    Mono(Bitmap),
}

/// A blit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Layout of pixels.
    pub depth: Depth,
    /// The raster operation.
    pub rop: Rop,
    /// Bits of a pixel that are written; all 32 if the pixel has fewer.
    pub write_mask: u32,
    /// The destination surface.
    pub destination: Plane,
    /// The pixels of the destination.
    pub rectangle: Rectangle,
    /// Pixels outside are not written.
    pub clip: Option<Rectangle>,
    /// The source.
    pub source: Source,
    /// The pattern, if there is one.
    pub pattern: Option<Pattern>,
    /// Colour transparency.
    pub key: Option<Key>,
}

/// The operands that an operation uses.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    pub(super) source: bool,
    pub(super) pattern: bool,
    pub(super) destination: bool,
    /// Some bits of the destination may have to stay unchanged.
    pub(super) mask: bool,
}

impl Operation {
    /// Does it.
    ///
    /// # Errors
    /// [`Fault::Page`] at the first byte without memory; all rows worked before are written.
    /// [`Fault::Hang`] if the rectangle is more than the budget allows.
    pub fn run(&self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let part = self.part();
        if part.is_empty() {
            return Ok(());
        }
        let needs = self.needs();
        if needs.source || needs.destination {
            self.combine(exec, &part, needs)
        } else {
            self.fill(exec, &part)
        }
    }

    /// True if there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.part().is_empty()
    }

    /// The part of the rectangle that lies inside the clip rectangle.
    fn part(&self) -> Rectangle {
        self.clip.map_or(self.rectangle, |clip| self.rectangle.intersection(&clip))
    }

    /// Draws rows that depend on the pattern alone. Each of its rows is computed once.
    fn fill(&self, exec: &mut Exec<'_>, part: &Rectangle) -> Result<(), Fault> {
        let bytes = self.bytes(part);
        let mut patterns = PatternRows::new(self, part, true);
        let mut finished: [Vec<u8>; 8] = Default::default();
        for y in part.top..part.bottom {
            exec.spend(part.width() as u64 * watchdog::PIXEL + 1)?;
            let slot = patterns.prepare(y);
            let row = &mut finished[slot];
            if row.is_empty() {
                row.resize(bytes, 0);
                self.rop.apply_row(row, &patterns.colors[slot], &vec![0; bytes], None);
            }
            self.write(exec, part, y, row, None)?;
        }
        Ok(())
    }

    /// Draws all other rows.
    fn combine(&self, exec: &mut Exec<'_>, part: &Rectangle, needs: Needs) -> Result<(), Fault> {
        let bytes = self.bytes(part);
        let left = part.left * self.depth.bytes() as i64;
        let mut sources = SourceRows::new(self, part, needs);
        let mut patterns = PatternRows::new(self, part, needs.pattern);
        let (mut below, mut written) =
            (vec![0; bytes], vec![0; if needs.mask { bytes } else { 0 }]);
        self.depth.fill(self.write_mask, &mut written);
        let mut mask = written.clone();
        let is_copy = self.rop == Rop::SOURCE_COPY && !needs.mask;
        for step in 0..part.height() {
            exec.spend(part.width() as u64 * watchdog::PIXEL + 1)?;
            let y = if sources.upward { part.bottom - 1 - step } else { part.top + step };
            sources.read(exec, y)?;
            if needs.destination {
                let read = self.destination.read(&exec.vm, left, y, &mut below, None);
                read.map_err(|fault| exec.page(fault, "destination"))?;
                exec.stats.bytes_read += bytes as u64;
            }
            let slot = patterns.prepare(y);
            let pattern = &patterns.colors[slot];
            if needs.mask {
                mask.copy_from_slice(&written);
                and(&mut mask, &sources.drawn);
                and(&mut mask, &patterns.drawn[slot]);
                if let Some(key) = &self.key {
                    let compared = match (key.by_destination, &self.source) {
                        (true, _) => &below,
                        (false, Source::None) => pattern,
                        (false, _) => &sources.row,
                    };
                    key.apply(self.depth, compared, &mut mask);
                }
            }
            if !is_copy {
                self.rop.apply_row(&mut sources.row, pattern, &below, needs.mask.then_some(&*mask));
            }
            self.write(exec, part, y, &sources.row, sources.shadow.as_mut())?;
        }
        Ok(())
    }

    /// Writes a finished row.
    fn write(
        &self,
        exec: &mut Exec<'_>,
        part: &Rectangle,
        y: i64,
        row: &[u8],
        shadow: Option<&mut Shadow>,
    ) -> Result<(), Fault> {
        let left = part.left * self.depth.bytes() as i64;
        let written = self.destination.write(&mut exec.vm, left, y, row, shadow);
        written.map_err(|fault| exec.page(fault, "destination"))?;
        exec.stats.pixels += part.width() as u64;
        exec.stats.bytes_written += row.len() as u64;
        Ok(())
    }

    /// Bytes of a row.
    pub(super) fn bytes(&self, part: &Rectangle) -> usize {
        part.width() as usize * self.depth.bytes()
    }

    fn needs(&self) -> Needs {
        let bitmap = matches!(&self.source, Source::Mono(bitmap) if bitmap.expansion.transparent);
        let pattern = self.pattern.is_some_and(|pattern| pattern.is_transparent());
        let keyed =
            |by_destination| self.key.is_some_and(|key| key.by_destination == by_destination);
        let mask = self.write_mask != !0 || bitmap || pattern || self.key.is_some();
        Needs {
            source: self.rop.uses_source() || bitmap || keyed(false) && self.source != Source::None,
            pattern: self.rop.uses_pattern()
                || pattern
                || keyed(false) && self.source == Source::None,
            destination: self.rop.uses_destination() || mask,
            mask,
        }
    }
}

/// Clears the bits of `mask` that are clear in `other`. If `other` is empty, `mask` does not
/// change.
fn and(mask: &mut [u8], other: &[u8]) {
    for (to, from) in mask.iter_mut().zip(other) {
        *to &= from;
    }
}
