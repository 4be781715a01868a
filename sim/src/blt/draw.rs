//! Draws a resolved blit.
//!
//! The rectangle is processed row by row, and each row with a few loops over its bytes. The result
//! is as if the whole colour source had been read before the first byte was written. If source and
//! destination are the same surface and its rows do not overlap, the order of rows ensures this, as
//! in hardware. Otherwise each page of the source is saved before the first write to it.
//!
//! In two cases the blit may overwrite source rows before it reads them. Pages are compared by
//! graphics address, so a frame that is mapped twice, in the source and in the destination, is not
//! protected. A monochrome source that overlaps the destination is not protected either.

use super::operation::{Needs, Operation, Rectangle, Source};
use super::plane::{Plane, Shadow};
use super::rop::Rop;
use super::rows::{PatternRows, SourceRows};
use crate::machine::blitting::{BlitPlane, Blitting};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;

impl Operation {
    /// Draws the blit.
    ///
    /// # Errors
    /// [`Fault::Page`] at the first byte that is not mapped. The rows that were processed before
    /// the row of this byte have been written.
    ///
    /// [`Fault::Hang`] if the rectangle needs more work than the budget allows.
    pub fn run(&self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let part = self.part();
        if part.is_empty() {
            return Ok(());
        }
        if exec.listener.is_some() {
            self.emit(exec, &part);
        }
        let needs = self.needs();
        if needs.source || needs.destination {
            self.combine(exec, &part, needs)
        } else {
            self.fill(exec, &part)
        }
    }

    fn emit(&self, exec: &mut Exec<'_>, part: &Rectangle) {
        let plane = |plane: &Plane| {
            let Plane { base, pitch, tile_mode } = *plane;
            BlitPlane { base, pitch, tile_mode }
        };
        let source = match &self.source {
            Source::Color { plane: source, x, y } => {
                let (right, down) =
                    (part.left - self.rectangle.left, part.top - self.rectangle.top);
                Some((plane(source), [x + right, y + down]))
            }
            Source::None | Source::Mono(_) => None,
        };
        exec.emit_blit(&Blitting {
            format: self.depth.format(),
            destination: plane(&self.destination),
            rectangle: [part.left, part.top, part.right, part.bottom],
            source,
            translate: &|_| None,
            read: &|_, _| false,
        });
    }

    /// Draws rows that depend on neither source nor destination. Each row of the pattern is
    /// computed once.
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

    /// Draws rows that depend on the source or the destination.
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
}

/// Clears the bits of `mask` that are clear in `other`. If `other` is empty, `mask` does not
/// change.
fn and(mask: &mut [u8], other: &[u8]) {
    for (to, from) in mask.iter_mut().zip(other) {
        *to &= from;
    }
}
