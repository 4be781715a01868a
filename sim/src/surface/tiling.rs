//! Tiling: the order of bytes inside 4 KiB tiles.
//!
//! Tiles follow each other along a row of tiles, rows of tiles follow each other down the surface. Address bit 6 is
//! never swizzled on Gen8 (gen8_facts 10.1, isl).

/// How a surface's bytes are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TileMode {
    /// Row after row.
    #[default]
    Linear,
    /// Tiles of 512 bytes x 8 rows, each row contiguous.
    X,
    /// Tiles of 128 bytes x 32 rows, in columns of 16 bytes.
    Y,
    /// Stencil: tiles of 64 bytes x 64 rows.
    W,
}

impl TileMode {
    /// Width of a tile in bytes; 1 when linear.
    pub const fn width(self) -> u32 {
        match self {
            TileMode::Linear => 1,
            TileMode::X => 512,
            TileMode::Y => 128,
            TileMode::W => 64,
        }
    }

    /// Height of a tile in rows; 1 when linear.
    pub const fn height(self) -> u32 {
        match self {
            TileMode::Linear => 1,
            TileMode::X => 8,
            TileMode::Y => 32,
            TileMode::W => 64,
        }
    }

    /// Bytes of a row that lie one behind the other in memory, from a multiple of that on: the unit of fast copies.
    pub const fn run(self) -> u32 {
        match self {
            TileMode::Linear => 1 << 31,
            TileMode::X => 512,
            TileMode::Y => 16,
            TileMode::W => 2,
        }
    }

    /// Offset of byte `x` of row `y` from the surface's base; `pitch` is the distance of rows in bytes as programmed
    /// (for W, whose tiles cover 64 x 64, twice the width of a row; a tile takes 128 bytes of pitch).
    /// `x` and `y` may lie outside the surface and may be negative when linear.
    #[inline(always)]
    pub const fn offset(self, x: i64, y: i64, pitch: i64) -> i64 {
        match self {
            TileMode::Linear => y * pitch + x,
            TileMode::X => ((y >> 3) * (pitch / 512) + (x >> 9)) * 4096 + ((y & 7) << 9) + (x & 511),
            TileMode::Y => {
                ((y >> 5) * (pitch / 128) + (x >> 7)) * 4096 + ((x & 0x70) << 5) + ((y & 31) << 4) + (x & 15)
            }
            TileMode::W => {
                ((y >> 6) * (pitch / 128) + (x >> 6)) * 4096
                    + ((x & 0x38) << 6)
                    + ((y & 0x3c) << 3)
                    + ((x & 4) << 2)
                    + ((y & 2) << 2)
                    + ((x & 2) << 1)
                    + ((y & 1) << 1)
                    + (x & 1)
            }
        }
    }
}
