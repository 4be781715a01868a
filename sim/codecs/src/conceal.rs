//! Samples of macroblocks that could not be decoded.

use crate::{Plane, Structure};

/// The samples of a macroblock in one plane.
pub(crate) struct Block {
    /// Column and row of the macroblock in the picture.
    pub position: (usize, usize),
    /// Samples in a row, and rows.
    pub size: usize,
    /// The picture: a frame or a field of it.
    pub structure: Structure,
}

impl Block {
    /// Copies the samples at the same position of the rows `from` of a reference. Samples outside
    /// one of the planes stay as they are.
    pub fn copy(&self, reference: &Plane, from: Structure, target: &mut Plane) {
        let (x, y) = (self.size * self.position.0, self.size * self.position.1);
        let source = reference.view(from);
        let target = target.view_mut(self.structure);
        let rows = (y + self.size).min(source.height).min(target.height);
        let end = (x + self.size).min(source.width).min(target.width);
        for row in (y..rows).filter(|_| x < end) {
            let [read, write] = [source.stride, target.stride].map(|stride| row * stride);
            target.data[write + x..write + end].copy_from_slice(&source.data[read + x..read + end]);
        }
    }

    /// Fills the block with the mean of the row above and the column to the left, or with 128 in
    /// the upper left corner of the picture. Panics if the block is outside the plane.
    pub fn mean(&self, target: &mut Plane) {
        let (x, y) = (self.size * self.position.0, self.size * self.position.1);
        let target = target.view_mut(self.structure);
        let at = |x: usize, y: usize| y * target.stride + x;
        let above = if y > 0 { &target.data[at(x, y - 1)..][..self.size] } else { &[] };
        let left = (y..y + self.size).filter(|_| x > 0).map(|row| target.data[at(x - 1, row)]);
        let sum: u32 = above.iter().copied().chain(left).map(u32::from).sum();
        let count = self.size as u32 * (u32::from(x > 0) + u32::from(y > 0));
        let mean = (sum + count / 2).checked_div(count).unwrap_or(128) as u8;
        for row in y..y + self.size {
            let start = at(x, row);
            target.data[start..start + self.size].fill(mean);
        }
    }
}
