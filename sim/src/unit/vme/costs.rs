//! Costs: what modes and vectors add to distortions.

use super::geometry::{Partition, Vector};
use crate::assumptions::COSTS_GROW_BEYOND_64;

/// Numbers of the mode costs.
pub mod mode {
    /// An intra mode of a 4x4 or 8x8 block that is not the predicted one.
    pub const INTRA_NOT_PREDICTED: usize = 0;
    /// Intra 16x16.
    pub const INTRA_16X16: usize = 1;
    /// Intra 8x8.
    pub const INTRA_8X8: usize = 2;
    /// Intra 4x4.
    pub const INTRA_4X4: usize = 3;
    /// Inter 16x8 or 8x16.
    pub const INTER_16X8: usize = 4;
    /// An 8x8 block.
    pub const INTER_8X8: usize = 5;
    /// An 8x8 block of two halves.
    pub const INTER_8X4: usize = 6;
    /// An 8x8 block of 4x4 blocks.
    pub const INTER_4X4: usize = 7;
    /// Inter 16x16.
    pub const INTER_16X16: usize = 8;
    /// A partition with reference 1.
    pub const BACKWARD: usize = 9;
    /// The ID of a reference, times a factor.
    pub const REFERENCE: usize = 10;
    /// A chroma intra mode other than DC.
    pub const INTRA_CHROMA: usize = 11;
}

/// A value in the format U4U4: the upper half shifts the lower half to the left.
pub const fn u4u4(bits: u8) -> u32 {
    ((bits & 15) as u32) << (bits >> 4)
}

/// What the cost of reference IDs is multiplied with, for an ID from 0 to 15.
pub const fn reference_factor(id: u32, linear: bool) -> u32 {
    match id {
        _ if linear => id,
        0 => 0,
        1..=2 => 1,
        3..=6 => 2,
        _ => 3,
    }
}

/// Costs of modes and vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Costs of modes, by the numbers of [`mode`].
    pub mode: [u32; 12],
    /// Costs of the IDs of both references.
    pub references: [u32; 2],
    /// Costs of vector components at the distances 0, 1, 2, 4, 8, 16, 32 and 64.
    pub vector: [u32; 8],
    /// The unit of distances is 2 to the power of this, in quarter pixels.
    pub scale: u32,
    /// Vectors that cost least, for the 8x8 blocks and both references.
    pub centres: [[Vector; 2]; 4],
}

impl Costs {
    /// Cost of a component of a vector at a distance from the cost centre, in quarter pixels.
    pub fn component(&self, distance: u32) -> u32 {
        let distance = distance >> self.scale;
        if distance == 0 {
            return self.vector[0];
        }
        let segment = distance.ilog2() as usize;
        if segment >= 6 {
            let beyond = if COSTS_GROW_BEYOND_64 { (distance - 64) / 4 } else { 0 };
            return self.vector[7] + beyond;
        }
        let [from, to] = [1, 2].map(|n| self.vector[segment + n] as i32);
        let rest = (to - from) * (distance as i32 - (1 << segment));
        (from + (rest >> segment)) as u32
    }

    /// Cost of a horizontal or vertical position.
    fn between(&self, at: i16, centre: i16) -> u32 {
        self.component(u32::from(at.abs_diff(centre)))
    }

    /// Costs of both components of the vector of a partition.
    pub fn of(&self, partition: &Partition, reference: usize, vector: Vector) -> [u32; 2] {
        let centre = self.centres[partition.quad()][reference];
        [self.between(vector.x, centre.x), self.between(vector.y, centre.y)]
    }
}
