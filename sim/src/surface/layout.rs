//! The position of levels, slices and samples in the rows of elements of an image (gen8_facts 8.3,
//! 10.2 and 10.3).
//!
//! An image is stored as one plane of rows. In each slice of an array, level 1 lies below level 0.
//! The other levels lie to the right of level 1, each below the one before. The distance between
//! slices is a fixed number of rows. In a volume, each level lies below the one before. The slices
//! of a level lie side by side, 2^level of them in a row.

/// Kinds of images by the coordinates that they take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dimension {
    /// A row of elements.
    One,
    /// A rectangle.
    #[default]
    Two,
    /// A volume.
    Three,
    /// Six squares: +X, -X, +Y, -Y, +Z, -Z.
    Cube,
}

/// Shape of an image in memory. Elements are texels, or blocks of compressed texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Kind of the image.
    pub dimension: Dimension,
    /// Width of level 0 in texels.
    pub width: u32,
    /// Height of level 0 in texels.
    pub height: u32,
    /// Depth of level 0 of a volume; 1 for other images.
    pub depth: u32,
    /// Texels of an element, across and down.
    pub block: [u32; 2],
    /// Alignment of levels in elements, across and down.
    pub align: [u32; 2],
    /// Rows of elements from a slice of an array to the next.
    pub qpitch: u32,
    /// Samples of a texel: 1, 2, 4 or 8.
    pub samples: u32,
    /// True if the samples of a texel lie side by side (depth and stencil), false if each sample
    /// has its own slices.
    pub interleaved: bool,
    /// True if each level of a cube map contains all its faces, as a level of a volume contains all
    /// its slices (before Gen5). Otherwise each face contains all levels.
    pub faces_in_levels: bool,
    /// True if level 1 is on the right of level 0 and the other levels are below level 1; false if
    /// level 1 is below level 0 (before Gen7).
    pub levels_right: bool,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            dimension: Dimension::Two,
            width: 1,
            height: 1,
            depth: 1,
            block: [1, 1],
            align: [4, 4],
            qpitch: 0,
            samples: 1,
            interleaved: false,
            faces_in_levels: false,
            levels_right: false,
        }
    }
}

/// A mip level of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Number of the level. Level 0 is the largest.
    pub number: u32,
    /// First column of elements.
    pub x: u32,
    /// First row of elements.
    pub y: u32,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Number of slices of the level in a volume; 1 for other images.
    pub depth: u32,
}

impl Layout {
    /// True if each level contains all its slices, false if each slice contains all its levels.
    pub const fn by_level(&self) -> bool {
        matches!(self.dimension, Dimension::Three) || self.faces_in_levels
    }

    /// Size of a level in texels and slices.
    const fn size(&self, level: u32) -> [u32; 3] {
        const fn halve(extent: u32, level: u32) -> u32 {
            let extent = extent >> level;
            if extent == 0 { 1 } else { extent }
        }
        // Levels of a cube map have six faces each.
        let depth = if self.faces_in_levels { 6 } else { halve(self.depth, level) };
        [halve(self.width, level), halve(self.height, level), depth]
    }

    /// Width and height of a level in elements, aligned, all samples included.
    const fn aligned(&self, level: u32) -> [u32; 2] {
        let [mut width, mut height, _] = self.size(level);
        if self.interleaved {
            let [across, down] = self.sample_grid();
            width = width.next_multiple_of(if across > 1 { 2 } else { 1 }) * across;
            height = height.next_multiple_of(if down > 1 { 2 } else { 1 }) * down;
        }
        [
            width.div_ceil(self.block[0]).next_multiple_of(self.align[0]),
            height.div_ceil(self.block[1]).next_multiple_of(self.align[1]),
        ]
    }

    /// How interleaved samples of a texel are arranged: how many across and how many down.
    const fn sample_grid(&self) -> [u32; 2] {
        match self.samples {
            8 => [4, 2],
            4 => [2, 2],
            2 => [2, 1],
            _ => [1, 1],
        }
    }

    /// The position and size of a level in a slice, or in a volume.
    pub const fn level(&self, number: u32) -> Level {
        let [width, height, depth] = self.size(number);
        let (mut x, mut y) = (0, 0);
        if self.by_level() {
            let mut above = 0;
            while above < number {
                y += self.size(above)[2].div_ceil(1 << above) * self.aligned(above)[1];
                above += 1;
            }
        } else if self.levels_right && number > 0 {
            x = self.aligned(0)[0];
            let mut above = 1;
            while above < number {
                y += self.aligned(above)[1];
                above += 1;
            }
        } else if number > 0 {
            y = self.aligned(0)[1];
            if number > 1 {
                x = self.aligned(1)[0];
            }
            let mut above = 2;
            while above < number {
                y += self.aligned(above)[1];
                above += 1;
            }
        }
        Level { number, x, y, width, height, depth }
    }

    /// First column and row of elements of one slice of a level. If samples are not interleaved,
    /// each sample has its own slices.
    #[inline(always)]
    pub const fn slice(&self, level: &Level, slice: u32, sample: u32) -> [u32; 2] {
        if self.by_level() {
            let [width, height] = self.aligned(level.number);
            let across = 1 << level.number;
            return [level.x + slice % across * width, level.y + slice / across * height];
        }
        let planes = if self.interleaved { 1 } else { self.samples };
        let sample = if self.interleaved { 0 } else { sample };
        [level.x, level.y + (slice * planes + sample) * self.qpitch]
    }

    /// Column and row of a sample of the texel at `x`, `y`, for interleaved samples.
    pub const fn interleave(&self, x: u32, y: u32, sample: u32) -> [u32; 2] {
        let left = match self.samples {
            2 | 4 => (x & !1) << 1 | (sample & 1) << 1 | x & 1,
            8 => (x & !1) << 2 | sample & 4 | (sample & 1) << 1 | x & 1,
            _ => x,
        };
        let top = match self.samples {
            4 | 8 => (y & !1) << 1 | sample & 2 | y & 1,
            _ => y,
        };
        [left, top]
    }

    /// Number of columns and rows of elements that the first `levels` levels of `slices` slices
    /// take. A volume always counts with all slices of these levels.
    pub const fn extent(&self, levels: u32, slices: u32) -> [u32; 2] {
        let (mut columns, mut rows, mut number) = (0, 0, 0);
        while number < levels {
            let level = self.level(number);
            let [width, height] = self.aligned(number);
            let [across, down] = match self.by_level() {
                true => {
                    let most = 1 << number;
                    [
                        if level.depth < most { level.depth } else { most },
                        level.depth.div_ceil(most),
                    ]
                }
                false => [1, 1],
            };
            let (right, bottom) = (level.x + across * width, level.y + down * height);
            columns = if right > columns { right } else { columns };
            rows = if bottom > rows { bottom } else { rows };
            number += 1;
        }
        let planes = if self.interleaved { slices } else { slices * self.samples };
        if planes > 1 && !self.by_level() {
            rows += (planes - 1) * self.qpitch;
        }
        [columns, rows]
    }
}
