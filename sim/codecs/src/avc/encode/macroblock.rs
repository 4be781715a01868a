//! What is chosen for a macroblock.

use crate::avc::layer::{BI, L0, L1, PARTITIONS_B, PARTS_B, PARTS_P};
use crate::avc::{Parameters, Slice, SliceKind};
use std::fmt;

/// A macroblock to encode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macroblock {
    /// How it is predicted.
    pub kind: Kind,
    /// Luma quantiser, 0 to 51.
    pub qp: u8,
    /// The 8x8 transform. Without effect where the syntax rules it out.
    pub transform_8x8: bool,
    /// The blocks that may have coefficients.
    pub coded: Coded,
    /// A macroblock without coefficients whose motion is that of a skipped one becomes one.
    pub skip_conversion: bool,
    /// Four direct 8x8 blocks become `B_Direct_16x16`.
    pub direct_conversion: bool,
    /// Largest absolute value of a coefficient after quantisation.
    pub limit: u32,
}

/// The blocks of a macroblock that may have coefficients. In the others they become 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// Bit `b`: 4x4 luma block `b` in the order of decoding. With the 8x8 transform, bit `4 * b`
    /// stands for 8x8 block `b`. Of `Intra_16x16`, the AC coefficients.
    pub luma: u16,
    /// Bit `b`: AC coefficients of 4x4 block `b` of Cb and of Cr.
    pub chroma: [u8; 2],
    /// Bit `c`: DC coefficients of component `c`. For Y only of `Intra_16x16`.
    pub dc: u8,
}

impl Coded {
    /// All blocks.
    pub const ALL: Coded = Coded { luma: 0xffff, chroma: [15; 2], dc: 7 };
    /// No block.
    pub const NONE: Coded = Coded { luma: 0, chroma: [0; 2], dc: 0 };
}

/// The prediction of a macroblock. Intra modes are numbered as in the standard. 4x4 blocks are in
/// raster order: x + 4 * y; so are 8x8 blocks: x + 2 * y.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `I_PCM`: the samples of the source.
    Pcm,
    /// `Intra_4x4`: the modes of the blocks, and that of chroma.
    Intra4x4([u8; 16], u8),
    /// `Intra_8x8`: the modes of the blocks, and that of chroma.
    Intra8x8([u8; 4], u8),
    /// `Intra_16x16`: the modes of luma and of chroma.
    Intra16x16(u8, u8),
    /// From other pictures.
    Inter(Box<Inter>),
}

/// The partitions of an inter macroblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One of 16x16.
    Whole,
    /// Two of 16x8.
    Wide,
    /// Two of 8x16.
    Tall,
    /// Four of 8x8.
    Quarters,
}

/// The motion of a macroblock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inter {
    /// The partitions.
    pub shape: Shape,
    /// `P_Skip` or `B_Skip`, whatever the rest says.
    pub skip: bool,
    /// Bit `b`: 8x8 block `b` has direct prediction. Only in B slices, with [`Shape::Quarters`].
    pub direct: u8,
    /// Lists of each 8x8 block: bit 0 for list 0, bit 1 for list 1. Not used for direct blocks.
    pub lists: [u8; 4],
    /// Parts of each 8x8 block: 0 one of 8x8, 1 two of 8x4, 2 two of 4x8, 3 four of 4x4. Only with
    /// [`Shape::Quarters`], and not for direct blocks.
    pub parts: [u8; 4],
    /// Reference index of each 8x8 block in lists 0 and 1; -1 for none.
    pub references: [[i8; 4]; 2],
    /// Vectors of the 4x4 blocks in lists 0 and 1.
    pub vectors: [[[i16; 2]; 16]; 2],
}

impl Default for Inter {
    /// One partition from the first picture of list 0, without motion.
    fn default() -> Self {
        Inter {
            shape: Shape::Whole,
            skip: false,
            direct: 0,
            lists: [L0; 4],
            parts: [0; 4],
            references: [[0; 4], [-1; 4]],
            vectors: [[[0; 2]; 16]; 2],
        }
    }
}

/// Why a macroblock cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Inter prediction in an I slice.
    InterInIntraSlice,
    /// List 1, or direct prediction, in a P slice.
    ListInPSlice,
    /// The 8x8 block has no list.
    NoList(usize),
    /// Direct blocks in another shape than 8x8.
    DirectShape,
    /// The 8x8 block has a reference index that its list lacks: list, block, index.
    Reference(usize, usize, i8),
    /// The 8x8 block has parts that are not defined for its lists.
    Parts(usize),
    /// An intra mode out of its range, or that needs samples that are not available.
    Mode(u8),
    /// `Intra_8x8` in a picture without the 8x8 transform.
    Intra8x8,
    /// A quantiser above 51.
    Quantiser(u8),
    /// The slice has more macroblocks than follow in the picture, or those of another slice.
    Position,
    /// The decoder's parser refuses the macroblock.
    Syntax,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::InterInIntraSlice => f.write_str("inter prediction in an I slice"),
            Invalid::ListInPSlice => f.write_str("list 1 or direct prediction in a P slice"),
            Invalid::NoList(block) => write!(f, "8x8 block {block} uses neither list"),
            Invalid::DirectShape => f.write_str("direct blocks in a shape other than 8x8"),
            Invalid::Reference(list, block, index) => {
                write!(f, "8x8 block {block} has index {index}, which list {list} lacks")
            }
            Invalid::Parts(block) => write!(f, "8x8 block {block} has parts that are not defined"),
            Invalid::Mode(mode) => {
                write!(f, "intra mode {mode} is not defined, or needs samples that are missing")
            }
            Invalid::Intra8x8 => {
                f.write_str("8x8 intra prediction in a picture without the 8x8 transform")
            }
            Invalid::Quantiser(qp) => write!(f, "quantiser {qp}; use 0 to 51"),
            Invalid::Position => {
                f.write_str("after the end of the picture, or in another slice too")
            }
            Invalid::Syntax => f.write_str("the syntax of H.264 does not allow it"),
        }
    }
}

impl std::error::Error for Invalid {}

/// Size of the parts of an 8x8 block in 4x4 blocks.
pub(super) fn part_size(parts: u8) -> (usize, usize) {
    PARTS_P[usize::from(parts & 3)]
}

impl Inter {
    /// Lists that 8x8 block `block` uses, 0 for a direct block.
    fn lists_of(&self, block: usize) -> u8 {
        if self.direct >> block & 1 == 1 { 0 } else { self.lists[block] & BI }
    }

    /// `mb_type` (tables 7-13 and 7-14), without the conversion to direct types.
    pub(super) fn number(&self, kind: SliceKind) -> Option<u8> {
        let second = if self.shape == Shape::Wide { 2 } else { 1 };
        let pair = [self.lists_of(0), self.lists_of(second)];
        Some(match (kind, self.shape) {
            (SliceKind::B, Shape::Whole) => self.lists_of(0),
            (SliceKind::B, Shape::Quarters) => 22,
            (SliceKind::B, shape) => {
                let found = PARTITIONS_B.iter().position(|lists| *lists == pair)? as u8;
                4 + 2 * found + u8::from(shape == Shape::Tall)
            }
            (_, Shape::Whole) => 0,
            (_, Shape::Wide) => 1,
            (_, Shape::Tall) => 2,
            (_, Shape::Quarters) => 3,
        })
    }

    /// `sub_mb_type` of an 8x8 block (tables 7-17 and 7-18).
    pub(super) fn sub_type(&self, kind: SliceKind, block: usize) -> Option<u8> {
        let size = part_size(self.parts[block]);
        let found = match kind {
            SliceKind::B if self.direct >> block & 1 == 1 => Some(0),
            SliceKind::B => PARTS_B.iter().position(|part| *part == (self.lists_of(block), size)),
            _ => PARTS_P.iter().position(|part| *part == size),
        };
        found.map(|number| number as u8)
    }

    /// True if parts smaller than 8x8 rule out the 8x8 transform.
    pub(super) fn is_small(&self, direct_8x8_inference: bool) -> bool {
        self.shape == Shape::Quarters
            && (0..4).any(|block| match self.direct >> block & 1 {
                1 => !direct_8x8_inference,
                _ => self.parts[block] != 0,
            })
    }

    fn check(&self, slice: &Slice) -> Result<(), Invalid> {
        match slice.kind {
            SliceKind::I => return Err(Invalid::InterInIntraSlice),
            SliceKind::B => {}
            SliceKind::P if self.skip => return Ok(()),
            SliceKind::P if self.direct != 0 => return Err(Invalid::ListInPSlice),
            SliceKind::P => {}
        }
        if self.direct != 0 && self.shape != Shape::Quarters {
            return Err(Invalid::DirectShape);
        }
        for block in 0..4 {
            let direct = self.direct >> block & 1 == 1 || self.skip;
            let lists = self.lists[block] & BI;
            if lists == 0 && !direct {
                return Err(Invalid::NoList(block));
            }
            if lists & L1 != 0 && slice.kind == SliceKind::P {
                return Err(Invalid::ListInPSlice);
            }
            for list in 0..2 {
                let index = self.references[list][block];
                let used = if direct { index >= 0 } else { lists >> list & 1 == 1 };
                let count = slice.reference_counts[list].clamp(1, 32) as i8;
                if used && !(0..count).contains(&index) {
                    return Err(Invalid::Reference(list, block, index));
                }
            }
            if self.shape == Shape::Quarters && self.sub_type(slice.kind, block).is_none() {
                return Err(Invalid::Parts(block));
            }
        }
        Ok(())
    }
}

impl Macroblock {
    /// Checks what does not depend on the macroblocks around.
    pub(super) fn check(&self, parameters: &Parameters, slice: &Slice) -> Result<(), Invalid> {
        if self.qp > 51 {
            return Err(Invalid::Quantiser(self.qp));
        }
        let modes = |modes: &[u8], most: u8| match modes.iter().find(|mode| **mode > most) {
            Some(mode) => Err(Invalid::Mode(*mode)),
            None => Ok(()),
        };
        match &self.kind {
            Kind::Pcm => Ok(()),
            Kind::Intra8x8(..) if !parameters.transform_8x8 => Err(Invalid::Intra8x8),
            Kind::Intra4x4(luma, chroma) => modes(luma, 8).and(modes(&[*chroma], 3)),
            Kind::Intra8x8(luma, chroma) => modes(luma, 8).and(modes(&[*chroma], 3)),
            Kind::Intra16x16(luma, chroma) => modes(&[*luma, *chroma], 3),
            Kind::Inter(inter) => inter.check(slice),
        }
    }
}
