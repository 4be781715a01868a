//! The pixels of a pixel shader thread: the input of the pixel interpolator.

use crate::assumptions::INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION;
use crate::pixel::interpolate::{Planes, Position};
use crate::pixel::multisample::Multisample;

/// The pixels of a thread, and the planes that the pixel interpolator evaluates for them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pixels {
    /// Depth, w and barycentrics of the object.
    pub planes: Planes,
    /// Positions of the pixel location and of the samples in a pixel.
    pub multisample: Multisample,
    /// Column and row of the upper left pixel of each quad. A quad is four consecutive slots.
    pub subspans: [[u32; 2]; 8],
    /// Mask of covered samples for each pixel of each quad.
    pub coverage: [[u8; 4]; 8],
}

impl Pixels {
    /// Screen position of `x`, `y` in a slot's pixel, in 1/16 pixels from the pixel's upper-left
    /// corner.
    pub(super) fn position(&self, slot: usize, [x, y]: [i32; 2]) -> Position {
        let ([left, top], pixel) = (self.subspans[slot / 4], slot as u32 % 4);
        let corner = Position::in_pixel(left + (pixel & 1), top + (pixel >> 1), [0, 0]);
        Position { x: corner.x + x, y: corner.y + y }
    }

    /// Adds `offset` to the pixel location
    /// (assumptions::INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION), in 1/16 pixels from the
    /// pixel's upper-left corner.
    pub(super) fn beside(&self, offset: [i32; 2]) -> [i32; 2] {
        let from = match INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION {
            true => self.multisample.location.position(),
            false => [8, 8],
        };
        [0, 1].map(|n| i32::from(from[n]) + offset[n])
    }

    /// Position of a sample, in 1/16 pixels from the pixel's upper-left corner; the pixel location
    /// if the sample does not exist.
    pub(super) fn sample(&self, sample: usize) -> [i32; 2] {
        let positions = self.multisample.samples.positions();
        positions
            .get(sample)
            .copied()
            .unwrap_or(self.multisample.location.position())
            .map(i32::from)
    }

    /// Position at which centroid values of a slot are computed, in 1/16 pixels from the upper-left
    /// corner of its pixel.
    pub(super) fn centroid(&self, slot: usize) -> [i32; 2] {
        let covered = self.coverage[slot / 4][slot % 4].into();
        self.multisample
            .samples
            .centroid(covered, self.multisample.location.position())
            .map(i32::from)
    }
}
