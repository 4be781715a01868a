//! The source or destination surface of a blit: where its bytes lie, and how its rows are read and
//! written.
//!
//! A row is split into pieces that each lie in one page. A piece is split into runs that are
//! contiguous in memory.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{ADDRESS_MASK, PAGE, Page, PageFault, Vm};
use crate::surface::TileMode;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// Rows of bytes in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// Graphics address of the first byte.
    pub base: u64,
    /// Distance between rows in bytes; may be zero or negative if linear.
    pub pitch: i64,
    /// Order of the bytes: linear or tiled.
    pub tile_mode: TileMode,
}

/// The fields of a packet that describe a plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaneFields {
    pub(super) tiled: bool,
    /// True if BCS_SWCTRL selects Y-major tiles.
    pub(super) y_major: bool,
    pub(super) base: u64,
    /// The pitch, in bytes if linear and in dwords if tiled.
    pub(super) pitch: i64,
    /// Names of the fields for base and pitch.
    pub(super) names: [&'static str; 2],
}

impl PlaneFields {
    /// Makes the plane. A tiled plane must start at a page and have a pitch of whole tiles (2d
    /// p.49, 53 to 55).
    pub(super) fn resolve(&self, exec: &Exec<'_>) -> Result<Plane, Fault> {
        let tile_mode = match (self.tiled, self.y_major) {
            (false, _) => {
                return Ok(Plane {
                    base: self.base,
                    pitch: self.pitch,
                    tile_mode: TileMode::Linear,
                });
            }
            (true, false) => TileMode::X,
            (true, true) => TileMode::Y,
        };
        let pitch = self.pitch * 4;
        if !self.base.is_multiple_of(PAGE) {
            let why = "the address of a tiled surface must be a multiple of 4096";
            return Err(exec.bad_field(self.names[0], self.base, why));
        }
        if pitch <= 0 || pitch % i64::from(tile_mode.width()) != 0 {
            let why = format!(
                "the pitch of a tiled surface must be a multiple of {} dwords",
                tile_mode.width() / 4
            );
            return Err(exec.bad_field(self.names[1], self.pitch as u64, why));
        }
        Ok(Plane { base: self.base, pitch, tile_mode })
    }
}

/// Part of a row that lies in one page. If linear, it starts at `address`. If tiled, it lies in the
/// tile that starts at `address`.
struct Piece {
    address: u64,
    length: usize,
}

impl Plane {
    /// Graphics address of byte `x` of row `y`.
    #[inline(always)]
    fn address(&self, x: i64, y: i64) -> u64 {
        self.base.wrapping_add(self.tile_mode.offset(x, y, self.pitch) as u64) & ADDRESS_MASK
    }

    /// A range of addresses that contains all bytes of a rectangle. It may also contain other
    /// bytes, for example between rows.
    pub(super) fn extent(&self, x: i64, y: i64, width: i64, height: i64) -> RangeInclusive<u64> {
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

    /// True if the parts of rows in `columns` (counted in bytes) do not overlap: no byte belongs to
    /// two rows.
    pub(super) fn rows_are_apart(&self, columns: Range<i64>) -> bool {
        match self.tile_mode {
            TileMode::Linear => columns.end - columns.start <= self.pitch.abs(),
            _ => columns.start >= 0 && columns.end <= self.pitch,
        }
    }

    /// The piece of row `y` that starts at byte `x`. It ends at the end of the page or of the
    /// tile's row, but after at most `max` bytes.
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

    /// Calls `copy` for each contiguous run of a piece, with the run's range in the page and its
    /// range in the piece.
    #[inline(always)]
    fn runs(
        &self,
        x: i64,
        y: i64,
        piece: &Piece,
        mut copy: impl FnMut(Range<usize>, Range<usize>),
    ) {
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

    /// Fills `row` with the bytes of row `y` from byte `x` on. Pages that `shadow` has saved are
    /// read as they were before the blit.
    pub(super) fn read(
        &self,
        vm: &Vm<'_>,
        x: i64,
        y: i64,
        row: &mut [u8],
        shadow: Option<&Shadow>,
    ) -> Result<(), PageFault> {
        let mut done = 0;
        while done < row.len() {
            let at = x + done as i64;
            let piece = self.piece(at, y, row.len() - done);
            let page = match shadow.and_then(|shadow| shadow.page(piece.address)) {
                Some(page) => page,
                None => vm.page(piece.address)?,
            };
            let part = &mut row[done..done + piece.length];
            self.runs(at, y, &piece, |from, to| {
                vm.record(piece.address & !(PAGE - 1) | from.start as u64, from.len(), false);
                page.read(from.start, &mut part[to]);
            });
            done += piece.length;
        }
        Ok(())
    }

    /// Writes `row` to row `y` from byte `x` on. Before the write, `shadow` saves the old contents
    /// of each page that belongs to the source.
    pub(super) fn write(
        &self,
        vm: &mut Vm<'_>,
        x: i64,
        y: i64,
        row: &[u8],
        mut shadow: Option<&mut Shadow>,
    ) -> Result<(), PageFault> {
        let mut done = 0;
        while done < row.len() {
            let at = x + done as i64;
            let piece = self.piece(at, y, row.len() - done);
            if let Some(shadow) = shadow.as_deref_mut() {
                shadow.keep(vm, piece.address)?;
            }
            let mut page = vm.page_mut(piece.address)?;
            let part = &row[done..done + piece.length];
            self.runs(at, y, &piece, |to, from| page.write(to.start, &part[from]));
            self.runs(at, y, &piece, |to, _| {
                vm.record(piece.address & !(PAGE - 1) | to.start as u64, to.len(), true);
            });
            done += piece.length;
        }
        Ok(())
    }
}

/// Pages of the source as they were before the blit wrote to them.
///
/// Pages are identified by graphics address: two mappings of one frame count as two pages.
pub(super) struct Shadow {
    source: RangeInclusive<u64>,
    pages: BTreeMap<u64, Box<Page>>,
}

impl Shadow {
    /// A shadow without saved pages. `source` is the address range of the source.
    pub(super) fn new(source: RangeInclusive<u64>) -> Self {
        Shadow { source, pages: BTreeMap::new() }
    }

    /// The saved page that holds `address`, if there is one.
    fn page(&self, address: u64) -> Option<&Page> {
        self.pages.get(&(address & !(PAGE - 1))).map(|page| &**page)
    }

    /// Saves the page of `address` if it belongs to the source and was not saved before. Call this
    /// before bytes of that page are written.
    fn keep(&mut self, vm: &Vm<'_>, address: u64) -> Result<(), PageFault> {
        let page = address & !(PAGE - 1);
        let apart = *self.source.start() >= page + PAGE || *self.source.end() < page;
        if !apart && !self.pages.contains_key(&page) {
            let mut copy = Box::new(Page::zeros());
            vm.page(page)?.read(0, copy.bytes_mut());
            self.pages.insert(page, copy);
        }
        Ok(())
    }
}
