//! What the header of a macroblock states: its modes and motion vectors.

/// A motion vector in quarter samples of luma.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vector {
    pub x: i16,
    pub y: i16,
}

impl Vector {
    pub const ZERO: Vector = Vector { x: 0, y: 0 };

    /// The sum, which wraps around.
    pub fn plus(self, other: Vector) -> Vector {
        Vector { x: self.x.wrapping_add(other.x), y: self.y.wrapping_add(other.y) }
    }
}

/// How the samples of a plane are predicted from their neighbours (RFC 6386 12.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intra {
    /// The mean of the row above and the column to the left.
    #[default]
    Dc,
    /// The row above.
    Vertical,
    /// The column to the left.
    Horizontal,
    /// The row above plus the change along the column to the left.
    TrueMotion,
}

impl Intra {
    /// The mode of a value of [`LUMA_TREE`](super::tables::LUMA_TREE) or
    /// [`CHROMA_TREE`](super::tables::CHROMA_TREE) below 4.
    pub fn of(value: u8) -> Self {
        match value {
            0 => Intra::Dc,
            1 => Intra::Vertical,
            2 => Intra::Horizontal,
            _ => Intra::TrueMotion,
        }
    }

    /// The mode of subblocks that a mode of the whole macroblock stands for in contexts (RFC 6386
    /// 11.3).
    pub fn subblock(self) -> u8 {
        match self {
            Intra::Dc => 0,
            Intra::TrueMotion => 1,
            Intra::Vertical => 2,
            Intra::Horizontal => 3,
        }
    }
}

/// How the luma samples of a macroblock are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From neighbours, as one block.
    Whole(Intra),
    /// From neighbours, each subblock with a mode of its own (B_PRED).
    Subblocks,
    /// With the motion vector zero.
    Zero,
    /// With another motion vector.
    Vector,
    /// With several motion vectors: at most one for each 8x8 samples (true), or more (false).
    Split(bool),
}

/// What the header of a macroblock states.
#[derive(Clone, Copy, Debug)]
pub struct Macroblock {
    pub mode: Mode,
    pub chroma: Intra,
    /// 0 intra, 1 last, 2 golden, 3 alternate.
    pub reference: u8,
    /// 0..=3.
    pub segment: u8,
    /// No coefficients follow.
    pub skip: bool,
    /// Modes of subblocks, values of [`SUBBLOCK_TREE`](super::tables::SUBBLOCK_TREE). Of an intra
    /// macroblock in a key frame always set.
    pub subblocks: [u8; 16],
    /// Motion vectors of subblocks; zero for an intra macroblock.
    pub vectors: [Vector; 16],
}

/// What contexts assume outside the picture.
impl Default for Macroblock {
    fn default() -> Self {
        Macroblock {
            mode: Mode::Whole(Intra::Dc),
            chroma: Intra::Dc,
            reference: 0,
            segment: 0,
            skip: false,
            subblocks: [0; 16],
            vectors: [Vector::default(); 16],
        }
    }
}

impl Macroblock {
    /// True if the DC coefficients of luma blocks are coded in a block of their own.
    pub fn has_second_order(&self) -> bool {
        !matches!(self.mode, Mode::Subblocks | Mode::Split(_))
    }
}

/// The macroblocks beside the one that is read.
pub struct Neighbours<'a> {
    pub above: &'a Macroblock,
    pub left: &'a Macroblock,
    pub above_left: &'a Macroblock,
}
