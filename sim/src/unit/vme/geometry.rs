//! Shapes of the partitions of a macroblock, and motion vectors.
//!
//! 4x4 blocks have the order of H.264 (6.4.3): the four blocks of an 8x8 block follow each other.

/// Number of 4x4 blocks of a macroblock.
pub const BLOCKS: usize = 16;
/// Luma of a macroblock in raster order.
pub type Luma = [u8; 256];
/// Vectors of the 4x4 blocks, for each reference.
pub type Vectors = [[Vector; 2]; BLOCKS];

/// A motion vector in quarter pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Vector {
    /// To the right.
    pub x: i16,
    /// Down.
    pub y: i16,
}

impl Vector {
    /// A vector of whole pixels. It wraps at 16 bits, as the fields of messages do.
    pub fn pixels(x: i32, y: i32) -> Vector {
        Vector { x: (4 * x) as i16, y: (4 * y) as i16 }
    }

    /// The vector plus a distance in quarter pixels. It stays within 16 bits.
    pub fn moved(self, x: i16, y: i16) -> Vector {
        Vector { x: self.x.saturating_add(x), y: self.y.saturating_add(y) }
    }
}

/// The shapes of partitions, in the order of the shape disable mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The macroblock.
    S16x16,
    /// Two halves above each other.
    S16x8,
    /// Two halves beside each other.
    S8x16,
    /// 8x8 blocks.
    S8x8,
    /// Halves of 8x8 blocks above each other.
    S8x4,
    /// Halves of 8x8 blocks beside each other.
    S4x8,
    /// 4x4 blocks.
    S4x4,
}

impl Shape {
    /// Width and height in pixels.
    pub const fn size(self) -> (usize, usize) {
        match self {
            Shape::S16x16 => (16, 16),
            Shape::S16x8 => (16, 8),
            Shape::S8x16 => (8, 16),
            Shape::S8x8 => (8, 8),
            Shape::S8x4 => (8, 4),
            Shape::S4x8 => (4, 8),
            Shape::S4x4 => (4, 4),
        }
    }

    /// Number of the shape in the shape disable mask.
    pub const fn number(self) -> usize {
        self as usize
    }
}

/// Part of a macroblock that has its own vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Its shape.
    pub shape: Shape,
    /// Its first 4x4 block.
    pub first: usize,
    /// Mask of its 4x4 blocks.
    pub blocks: u16,
}

impl Partition {
    /// The 8x8 block that contains its first 4x4 block.
    pub const fn quad(&self) -> usize {
        self.first / 4
    }

    /// Left and upper edge within the macroblock, in pixels.
    pub const fn origin(&self) -> (usize, usize) {
        origin(self.first)
    }

    /// The numbers of its 4x4 blocks.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        let mask = self.blocks;
        (0..BLOCKS).filter(move |block| mask >> block & 1 == 1)
    }
}

/// Left and upper edge of a 4x4 block within the macroblock, in pixels.
pub const fn origin(block: usize) -> (usize, usize) {
    (4 * (block & 1) + 8 * (block >> 2 & 1), 4 * (block >> 1 & 1) + 8 * (block >> 3))
}

/// Number of partitions of all shapes.
pub const PARTITIONS: usize = 41;

/// Index of the first partition of each shape in `partitions`.
pub const FIRST: [usize; 7] = [0, 1, 3, 5, 9, 17, 25];

const fn part(shape: Shape, first: usize, blocks: u16) -> Partition {
    Partition { shape, first, blocks }
}

/// All partitions, shape by shape.
pub const ALL: [Partition; PARTITIONS] = {
    let mut all = [part(Shape::S16x16, 0, 0xffff); PARTITIONS];
    all[1] = part(Shape::S16x8, 0, 0x00ff);
    all[2] = part(Shape::S16x8, 8, 0xff00);
    all[3] = part(Shape::S8x16, 0, 0x0f0f);
    all[4] = part(Shape::S8x16, 4, 0xf0f0);
    let mut quad = 0;
    while quad < 4 {
        let at = 4 * quad;
        all[5 + quad] = part(Shape::S8x8, at, 0xf << at);
        all[9 + 2 * quad] = part(Shape::S8x4, at, 0x3 << at);
        all[10 + 2 * quad] = part(Shape::S8x4, at + 2, 0xc << at);
        all[17 + 2 * quad] = part(Shape::S4x8, at, 0x5 << at);
        all[18 + 2 * quad] = part(Shape::S4x8, at + 1, 0xa << at);
        let mut block = 0;
        while block < 4 {
            all[25 + at + block] = part(Shape::S4x4, at + block, 1 << (at + block));
            block += 1;
        }
        quad += 1;
    }
    all
};

/// The shapes of 8x8 blocks, in the order of the field Sub MB Shapes.
pub const SMALL: [Shape; 4] = [Shape::S8x8, Shape::S8x4, Shape::S4x8, Shape::S4x4];

/// The partitions of an 8x8 block that has one of the shapes of [`SMALL`].
pub fn of_quad(quad: usize, shape: Shape) -> &'static [Partition] {
    let count = match shape {
        Shape::S8x4 | Shape::S4x8 => 2,
        Shape::S4x4 => 4,
        _ => 1,
    };
    &ALL[FIRST[shape.number()] + count * quad..][..count]
}

/// The partitions of a macroblock of a mode (0 to 3: 16x16, 16x8, 8x16, 8x8), whose 8x8 blocks have
/// these shapes.
pub fn of_macroblock(mode: u8, shapes: [u8; 4]) -> impl Iterator<Item = &'static Partition> {
    let parts: [&[Partition]; 4] = match mode {
        0 => [&ALL[..1], &[], &[], &[]],
        1 => [&ALL[1..3], &[], &[], &[]],
        2 => [&ALL[3..5], &[], &[], &[]],
        _ => std::array::from_fn(|quad| of_quad(quad, SMALL[usize::from(shapes[quad] & 3)])),
    };
    parts.into_iter().flatten()
}
