//! The pixels of a pixel shader thread, and what the pixel interpolator interpolates over them.

use crate::assumptions::INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION;
use crate::pixel::interpolate::{Planes, Position};
use crate::pixel::multisample::Multisample;

/// The pixels of a thread, and what is interpolated over them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pixels {
    /// Depth, w and barycentrics of the object.
    pub planes: Planes,
    /// Where pixel values and samples are.
    pub multisample: Multisample,
    /// Column and row of the upper left pixel of each quad, by slots.
    pub subspans: [[u32; 2]; 8],
    /// Covered samples of the pixels of each quad.
    pub coverage: [[u8; 4]; 8],
}

impl Pixels {
    /// A place in the pixel of a slot, in 1/16 pixels from its upper-left corner.
    pub(super) fn position(&self, slot: usize, [x, y]: [i32; 2]) -> Position {
        let ([left, top], pixel) = (self.subspans[slot / 4], slot as u32 % 4);
        let corner = Position::in_pixel(left + (pixel & 1), top + (pixel >> 1), [0, 0]);
        Position { x: corner.x + x, y: corner.y + y }
    }

    /// `offset` from where the pixel's own values are.
    pub(super) fn beside(&self, offset: [i32; 2]) -> [i32; 2] {
        let from = match INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION {
            true => self.multisample.location.position(),
            false => [8, 8],
        };
        [0, 1].map(|n| i32::from(from[n]) + offset[n])
    }

    /// A sample; the pixel's location if there is no such one.
    pub(super) fn sample(&self, sample: usize) -> [i32; 2] {
        let positions = self.multisample.samples.positions();
        positions
            .get(sample)
            .copied()
            .unwrap_or(self.multisample.location.position())
            .map(i32::from)
    }

    /// Where centroid values of a slot are.
    pub(super) fn centroid(&self, slot: usize) -> [i32; 2] {
        let covered = self.coverage[slot / 4][slot % 4].into();
        self.multisample
            .samples
            .centroid(covered, self.multisample.location.position())
            .map(i32::from)
    }
}
