//! Blits as observers see them: the destination with its rectangle, and the source.

use crate::surface::TileMode;
use genxml::gen8::state::SurfaceFormat;
use std::fmt;

/// Rows of pixels that a blit reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlitPlane {
    /// Graphics address of the first byte.
    pub base: u64,
    /// Bytes from a row to the next; zero or negative only if linear.
    pub pitch: i64,
    /// Order of the bytes.
    pub tile_mode: TileMode,
}

/// A blit that is about to write.
#[derive(Clone, Copy)]
pub struct Blitting<'a> {
    /// Format of the pixels.
    pub format: SurfaceFormat,
    /// The destination.
    pub destination: BlitPlane,
    /// Left, top, right, bottom, after clipping. Right and bottom are exclusive.
    pub rectangle: [i64; 4],
    /// The source, if it is a surface, and the column and row in it for the upper left pixel of the
    /// rectangle.
    pub source: Option<(BlitPlane, [i64; 2])>,
    pub(crate) translate: &'a dyn Fn(u64) -> Option<u64>,
    pub(crate) read: &'a dyn Fn(u64, &mut [u8]) -> bool,
}

impl fmt::Debug for Blitting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blitting")
            .field("destination", &self.destination)
            .field("rectangle", &self.rectangle)
            .finish_non_exhaustive()
    }
}

impl Blitting<'_> {
    /// Fills `out` with memory as the context sees it; false if some of it cannot be read.
    pub fn read(&self, address: u64, out: &mut [u8]) -> bool {
        (self.read)(address, out)
    }

    /// The physical address of a graphics address; `None` if it is not mapped.
    pub fn physical(&self, address: u64) -> Option<u64> {
        (self.translate)(address)
    }
}
