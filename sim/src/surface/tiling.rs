//! Tiling: the order of bytes inside 4 KiB tiles.
//!
//! Tiles follow each other along a row of tiles, rows of tiles follow each other down the surface.
//! Address bit 6 is never swizzled on Gen8 (gen8_facts 10.1, isl).

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

/// The body of [`TileMode::offset`], for integers of any size.
macro_rules! offset {
    ($mode:ident, $x:ident, $y:ident, $pitch:ident) => {
        match $mode {
            TileMode::Linear => $y * $pitch + $x,
            TileMode::X => {
                (($y >> 3) * ($pitch / 512) + ($x >> 9)) * 4096 + (($y & 7) << 9) + ($x & 511)
            }
            TileMode::Y => {
                (($y >> 5) * ($pitch / 128) + ($x >> 7)) * 4096
                    + (($x & 0x70) << 5)
                    + (($y & 31) << 4)
                    + ($x & 15)
            }
            TileMode::W => {
                (($y >> 6) * ($pitch / 128) + ($x >> 6)) * 4096
                    + (($x & 0x38) << 6)
                    + (($y & 0x3c) << 3)
                    + (($x & 4) << 2)
                    + (($y & 2) << 2)
                    + (($x & 2) << 1)
                    + (($y & 1) << 1)
                    + ($x & 1)
            }
        }
    };
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

    /// Number of bytes of which a pitch must be a multiple: the width of a tile. For W it is the
    /// width of a Y tile, because a W tile occupies as much pitch as a Y tile.
    pub const fn pitch_unit(self) -> u32 {
        match self {
            TileMode::Linear => 1,
            TileMode::X => 512,
            TileMode::Y | TileMode::W => 128,
        }
    }

    /// Number of bytes of a row that are contiguous in memory, if the first one is at a multiple of
    /// this number. Fast copies use this unit.
    pub const fn run(self) -> u32 {
        match self {
            TileMode::Linear => 1 << 31,
            TileMode::X => 512,
            TileMode::Y => 16,
            TileMode::W => 2,
        }
    }

    /// Bytes from an even row to the next one in the same column. `pitch` is that of the surface.
    pub const fn below(self, pitch: u32) -> u32 {
        match self {
            TileMode::Linear => pitch,
            // The run of the next row follows.
            TileMode::X | TileMode::Y | TileMode::W => self.run(),
        }
    }

    /// Offset of byte `x` of row `y` from the surface's base. `pitch` is the distance between rows
    /// in bytes, as programmed. For W it is twice the width of a row: a tile covers 64 x 64 bytes
    /// but takes 128 bytes of pitch. `x` and `y` may lie outside the surface, and may be negative
    /// if it is linear.
    #[inline(always)]
    pub const fn offset(self, x: i64, y: i64, pitch: i64) -> i64 {
        offset!(self, x, y, pitch)
    }

    /// As [`offset`](Self::offset), for offsets of less than 2^31. Vectors hold twice as many of
    /// them.
    #[inline(always)]
    pub const fn near_offset(self, x: i32, y: i32, pitch: i32) -> i32 {
        offset!(self, x, y, pitch)
    }
}

impl TileMode {
    /// Byte and row at `offset` from the surface's base: the inverse of [`TileMode::offset`].
    /// `pitch` must be at least one tile, and `offset` must not be negative.
    pub const fn locate(self, offset: i64, pitch: i64) -> (i64, i64) {
        let tiles = pitch / self.pitch_unit() as i64;
        let (tile, o) = (offset >> 12, offset & 4095);
        let (left, top) = (tile % tiles * self.width() as i64, tile / tiles * self.height() as i64);
        match self {
            TileMode::Linear => (offset % pitch, offset / pitch),
            TileMode::X => (left + (o & 511), top + (o >> 9)),
            TileMode::Y => (left + (o >> 5 & 0x70) + (o & 15), top + (o >> 4 & 31)),
            TileMode::W => (
                left + (o >> 6 & 0x38) + (o >> 2 & 4) + (o >> 1 & 2) + (o & 1),
                top + (o >> 3 & 0x3c) + (o >> 2 & 2) + (o >> 1 & 1),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tables of gen8_facts 10.1 (isl): the bit of x or y for each address bit, from bit 11
    /// down.
    const BITS: [(TileMode, [&str; 12]); 3] = [
        (TileMode::X, ["y2", "y1", "y0", "x8", "x7", "x6", "x5", "x4", "x3", "x2", "x1", "x0"]),
        (TileMode::Y, ["x6", "x5", "x4", "y4", "y3", "y2", "y1", "y0", "x3", "x2", "x1", "x0"]),
        (TileMode::W, ["x5", "x4", "x3", "y5", "y4", "y3", "y2", "x2", "y1", "x1", "y0", "x0"]),
    ];

    /// Oracle: the offsets of both rows.
    #[test]
    fn rows_below_have_one_distance() {
        for mode in [TileMode::Linear, TileMode::X, TileMode::Y, TileMode::W] {
            for (x, y) in (0..1024).flat_map(|x| (0..64).step_by(2).map(move |y| (x, y))) {
                let distance = mode.offset(x, y + 1, 1024) - mode.offset(x, y, 1024);
                assert_eq!(distance, i64::from(mode.below(1024)), "{mode:?} {x} {y}");
            }
        }
    }

    /// Oracle: the address assembled bit by bit from the table.
    fn by_bits(bits: &[&str; 12], x: i64, y: i64) -> i64 {
        bits.iter().fold(0, |address, bit| {
            let from = if bit.starts_with('x') { x } else { y };
            let index: u32 = bit[1..].parse().unwrap();
            address << 1 | from >> index & 1
        })
    }

    proptest! {
        #[test]
        fn inside_and_across_tiles(x in 0i64..4096, y in 0i64..512, extra in 0i64..4) {
            for (mode, bits) in BITS {
                let (w, h) = (i64::from(mode.width()), i64::from(mode.height()));
                let tiles = 4096 / w + extra;
                let pitch = tiles * if mode == TileMode::W { 128 } else { w };
                let expected = (y / h * tiles + x / w) * 4096 + by_bits(&bits, x, y);
                prop_assert_eq!(mode.offset(x, y, pitch), expected, "{:?}", mode);
                let near = mode.near_offset(x as i32, y as i32, pitch as i32);
                prop_assert_eq!(i64::from(near), expected, "{:?}", mode);
            }
        }

        /// Oracle: [`TileMode::offset`]. `locate` must be its inverse.
        #[test]
        fn back_from_an_offset(x in 0i64..1024, y in 0i64..256, tiles in 1i64..8) {
            for mode in [TileMode::Linear, TileMode::X, TileMode::Y, TileMode::W] {
                let x = x % (tiles * i64::from(mode.width()));
                let pitch = tiles * i64::from(mode.pitch_unit());
                prop_assert_eq!(mode.locate(mode.offset(x, y, pitch), pitch), (x, y), "{:?}", mode);
            }
        }

        #[test]
        fn runs_are_contiguous(x in 0i64..1024, y in 0i64..64) {
            for mode in [TileMode::Linear, TileMode::X, TileMode::Y, TileMode::W] {
                let run = i64::from(mode.run());
                let start = mode.offset(x / run * run, y, 2048);
                prop_assert_eq!(mode.offset(x, y, 2048), start + x % run);
            }
        }
    }

    #[test]
    fn a_tile_has_every_address_once() {
        for (mode, _) in BITS {
            let mut seen = vec![false; 4096];
            for y in 0..i64::from(mode.height()) {
                for x in 0..i64::from(mode.width()) {
                    seen[mode.offset(x, y, 1024) as usize] = true;
                }
            }
            assert!(seen.iter().all(|&seen| seen), "{mode:?}");
        }
    }
}
