//! Layouts of surfaces for oracles, counted as on paper: tiles filled byte by byte, levels and
//! slices placed one after the other. Written from gen8_facts 10.1 to 10.3.

use std::sync::LazyLock;

/// Order of the bytes of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tiling {
    /// Row after row.
    Linear,
    /// 512 bytes x 8 rows.
    X,
    /// 128 bytes x 32 rows.
    Y,
    /// 64 bytes x 64 rows.
    W,
}

impl Tiling {
    /// Width in bytes and number of rows of a tile, and the multiple of bytes to which the pitch is
    /// aligned.
    pub const fn tile(self) -> (u64, u64, u64) {
        match self {
            Tiling::Linear => (1, 1, 1),
            Tiling::X => (512, 8, 512),
            Tiling::Y => (128, 32, 128),
            Tiling::W => (64, 64, 128),
        }
    }

    /// Byte and row for each address of a tile, in the order of addresses.
    pub fn walk(self) -> Vec<(u64, u64)> {
        let mut walk = Vec::with_capacity(4096);
        match self {
            Tiling::Linear => walk.push((0, 0)),
            // Eight rows of 512 bytes.
            Tiling::X => (0..8).for_each(|y| walk.extend((0..512).map(|x| (x, y)))),
            // Eight columns of 16 bytes, 32 rows each.
            Tiling::Y => (0..8).for_each(|column| {
                (0..32).for_each(|y| walk.extend((0..16).map(|x| (16 * column + x, y))));
            }),
            // Eight columns of 8 bytes. Each has sixteen rectangles of 8 x 4, each of these two of
            // 4 x 4, each of those four of 2 x 2. Two of the four bytes are in the upper row, two
            // in the lower one: x5 x4 x3 y5 y4 y3 y2 x2 y1 x1 y0 x0.
            Tiling::W => {
                let both = [0, 1];
                for column in 0..8 {
                    for row in 0..16 {
                        for (x2, y1, x1) in
                            both.map(|a| both.map(|b| both.map(|c| (a, b, c)))).concat().concat()
                        {
                            for (y0, x0) in both.map(|a| both.map(|b| (a, b))).concat() {
                                walk.push((
                                    8 * column + 4 * x2 + 2 * x1 + x0,
                                    4 * row + 2 * y1 + y0,
                                ));
                            }
                        }
                    }
                }
            }
        }
        walk
    }

    /// Offset of byte `x` of row `y`, looked up in its tile.
    pub fn offset(self, x: u64, y: u64, pitch: u64) -> u64 {
        static TILES: LazyLock<[Vec<u64>; 3]> = LazyLock::new(|| {
            [Tiling::X, Tiling::Y, Tiling::W].map(|tiling| {
                let mut places = vec![0; 4096];
                for (offset, (x, y)) in tiling.walk().into_iter().enumerate() {
                    places[(y * tiling.tile().0 + x) as usize] = offset as u64;
                }
                places
            })
        });
        let (width, height, unit) = self.tile();
        let places = match self {
            Tiling::Linear => return y * pitch + x,
            Tiling::X => &TILES[0],
            Tiling::Y => &TILES[1],
            Tiling::W => &TILES[2],
        };
        let tile = y / height * (pitch / unit) + x / width;
        4096 * tile + places[(y % height * width + x % width) as usize]
    }
}

/// Dimensions of an image.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Slices of a volume.
    pub depth: u32,
    /// Width and height of a block in texels.
    pub block: [u32; 2],
    /// Horizontal and vertical alignment of levels, in elements.
    pub align: [u32; 2],
}

/// Left, top, width and height in elements.
pub type Rectangle = [u32; 4];

impl Sheet {
    /// Aligned width and height of a level in elements.
    fn size(&self, level: u32) -> (u32, u32) {
        let up = |value: u32, multiple: u32| value.div_ceil(multiple) * multiple;
        let texels = |extent: u32| (extent >> level).max(1);
        (
            up(texels(self.width).div_ceil(self.block[0]), self.align[0]),
            up(texels(self.height).div_ceil(self.block[1]), self.align[1]),
        )
    }

    /// Positions of the levels of a slice: L0 at (0,0), L1 at (0,h0), L2 at (w1,h0), the others
    /// below L2.
    pub fn levels(&self, count: u32) -> Vec<Rectangle> {
        let mut pen = (0, 0);
        let mut rectangles = Vec::new();
        for level in 0..count {
            let (width, height) = self.size(level);
            rectangles.push([pen.0, pen.1, width, height]);
            match level {
                1 => pen.0 = width,
                _ => pen.1 += height,
            }
        }
        rectangles
    }

    /// Positions of a volume's slices: 2^level slices side by side, and the levels below each
    /// other.
    pub fn volume(&self, count: u32) -> Vec<Vec<Rectangle>> {
        let mut top = 0;
        let mut levels = Vec::new();
        for level in 0..count {
            let (width, height) = self.size(level);
            let mut slices: Vec<Rectangle> = Vec::new();
            let mut pen = (0, top);
            for slice in 0..(self.depth >> level).max(1) {
                slices.push([pen.0, pen.1, width, height]);
                pen.0 += width;
                if (slice + 1) % (1 << level) == 0 {
                    pen = (0, pen.1 + height);
                }
            }
            top = slices.iter().map(|slice| slice[1] + slice[3]).max().unwrap_or(top);
            levels.push(slices);
        }
        levels
    }
}
