//! Operands of a blit, row by row, as bytes.

use super::bitmap::Expander;
use super::depth::Depth;
use super::operation::{Needs, Operation, Rectangle, Source};
use super::pattern::Pattern;
use super::plane::Shadow;
use crate::assumptions::CLIPPING_MOVES_THE_SOURCE;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;

/// Rows of the source.
pub(super) struct SourceRows<'a> {
    operation: &'a Operation,
    part: Rectangle,
    needed: bool,
    /// Columns and rows of the source that clipping skips.
    cut: (i64, i64),
    /// True if rows must be processed from the last to the first.
    pub(super) upward: bool,
    /// Saved pages of the source, if no order of rows reads all of the source before it is
    /// overwritten.
    pub(super) shadow: Option<Shadow>,
    bits: Vec<u8>,
    colors: Option<Expander>,
    opaque: Option<Expander>,
    /// Pixels of the source row that was read last.
    pub(super) row: Vec<u8>,
    /// Ones in the bytes of pixels of that row that are drawn; empty if all pixels are drawn.
    pub(super) drawn: Vec<u8>,
}

impl<'a> SourceRows<'a> {
    /// Rows for `part`, the part of the operation's rectangle that is drawn.
    pub(super) fn new(operation: &'a Operation, part: &Rectangle, needs: Needs) -> Self {
        let whole = &operation.rectangle;
        let cut = (part.left - whole.left, part.top - whole.top);
        let bytes = operation.bytes(part);
        let mut rows = SourceRows {
            operation,
            part: *part,
            needed: needs.source,
            cut: if CLIPPING_MOVES_THE_SOURCE { cut } else { (0, 0) },
            upward: false,
            shadow: None,
            bits: Vec::new(),
            colors: None,
            opaque: None,
            row: vec![0; bytes],
            drawn: Vec::new(),
        };
        match &operation.source {
            Source::Color { x, y, .. } if needs.source => rows.avoid_overlap(*x, *y),
            Source::Mono(bitmap) if needs.source => {
                let expansion = bitmap.expansion;
                let expander = |zero, one| Some(Expander::new(operation.depth, zero, one));
                rows.colors = expander(expansion.background, expansion.foreground);
                if expansion.transparent {
                    rows.opaque = expander(0, !0);
                    rows.drawn.resize(bytes, 0);
                }
            }
            _ => {}
        }
        rows
    }

    /// Chooses how to protect the source from being overwritten before it is read. Each row is read
    /// before it is written. Therefore the order of rows is enough if source and destination are
    /// the same surface and its rows do not overlap. Otherwise pages of the source are saved.
    fn avoid_overlap(&mut self, x: i64, y: i64) {
        let Source::Color { plane, .. } = &self.operation.source else { return };
        let size = self.operation.depth.bytes() as i64;
        let to = (self.part.left * size, self.part.top);
        let from = ((x + self.cut.0) * size, y + self.cut.1);
        let (width, height) = (self.part.width() * size, self.part.height());
        let written = self.operation.destination.extent(to.0, to.1, width, height);
        let read = plane.extent(from.0, from.1, width, height);
        if read.end() < written.start() || written.end() < read.start() {
            return;
        }
        let columns = to.0.min(from.0)..to.0.max(from.0) + width;
        if *plane == self.operation.destination && plane.rows_are_apart(columns) {
            self.upward = to.1 > from.1;
        } else {
            self.shadow = Some(Shadow::new(read));
        }
    }

    /// Reads the source row for row `y` of the destination.
    pub(super) fn read(&mut self, exec: &mut Exec<'_>, y: i64) -> Result<(), Fault> {
        let line = self.cut.1 + y - self.part.top;
        match &self.operation.source {
            Source::Color { plane, x, y } if self.needed => {
                let x = (x + self.cut.0) * self.operation.depth.bytes() as i64;
                plane
                    .read(&exec.vm, x, y + line, &mut self.row, self.shadow.as_ref())
                    .map_err(|fault| exec.page(fault, "source"))?;
                exec.stats.bytes_read += self.row.len() as u64;
            }
            Source::Mono(bitmap) if self.needed => {
                let whole = self.operation.rectangle.width() as u64;
                let (x, count) = (self.cut.0 as u64, self.part.width() as u64);
                bitmap
                    .row(&exec.vm, whole, line as u64, x, count, &mut self.bits)
                    .map_err(|fault| exec.page(fault, "monochrome source"))?;
                exec.stats.bytes_read += self.bits.len() as u64;
                if let Some(colors) = &self.colors {
                    colors.expand(&self.bits, &mut self.row);
                }
                if let Some(opaque) = &self.opaque {
                    opaque.expand(&self.bits, &mut self.drawn);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Rows of the pattern, computed on first use.
pub(super) struct PatternRows {
    pattern: Pattern,
    depth: Depth,
    left: i64,
    bytes: usize,
    period: i64,
    /// Pixels of each row.
    pub(super) colors: [Vec<u8>; 8],
    /// For each row, ones in the bytes of pixels that are drawn; empty if all pixels are drawn.
    pub(super) drawn: [Vec<u8>; 8],
}

impl PatternRows {
    /// Rows for `part`, the part of the operation's rectangle that is drawn. If not `needed`, all
    /// pixels are zero.
    pub(super) fn new(operation: &Operation, part: &Rectangle, needed: bool) -> Self {
        let pattern = operation.pattern.filter(|_| needed).unwrap_or(Pattern::solid(0));
        PatternRows {
            pattern,
            depth: operation.depth,
            left: part.left,
            bytes: operation.bytes(part),
            period: pattern.period() as i64,
            colors: Default::default(),
            drawn: Default::default(),
        }
    }

    /// Computes the pattern row for row `y` of the destination if that was not done before. Returns
    /// its index in `colors` and `drawn`.
    pub(super) fn prepare(&mut self, y: i64) -> usize {
        let slot = y.rem_euclid(self.period) as usize;
        if self.colors[slot].is_empty() {
            self.colors[slot].resize(self.bytes, 0);
            self.pattern.colors(self.left, y, self.depth, &mut self.colors[slot]);
            if self.pattern.is_transparent() {
                self.drawn[slot].resize(self.bytes, 0);
                self.pattern.mask(self.left, y, self.depth, &mut self.drawn[slot]);
            }
        }
        slot
    }
}
