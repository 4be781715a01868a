//! A resolved surface: base, extent, pitch and order of bytes.

use crate::surface::TileMode;

/// A two-dimensional (or buffer) surface as data ports see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surface {
    /// Graphics address of the first byte.
    pub base: u64,
    /// Elements in a row; elements of a buffer.
    pub width: u32,
    /// Rows; 1 for a buffer.
    pub height: u32,
    /// Bytes from a row to the next; bytes from an element to the next for a buffer.
    pub pitch: u32,
    /// Order of bytes.
    pub tile_mode: TileMode,
    /// Bytes of an element (texel).
    pub element_bytes: u32,
}

impl Surface {
    /// Graphics address of byte `x` of row `y`; both may lie outside.
    #[inline(always)]
    pub fn address(&self, x: i64, y: i64) -> u64 {
        self.base.wrapping_add(self.tile_mode.offset(x, y, i64::from(self.pitch)) as u64)
    }

    /// Bytes in a row.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.element_bytes)
    }
}
