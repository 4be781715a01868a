//! Bayer patterns: the colours of pixels, and pixels beyond the border.

use genxml::gen8::vebox::VeboxSurfaceStateBayerPatternOffset as Offset;

/// A pattern of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Column and row of red, 0 or 1 each. Blue is in the other column and row.
    red: [usize; 2],
}

impl Pattern {
    /// The pattern with an offset.
    pub fn new(offset: Offset) -> Pattern {
        let red = match offset {
            Offset::PIXEL_AT_X_0_Y_0_IS_BLUE => [1, 1],
            Offset::PIXEL_AT_X_0_Y_0_IS_RED => [0, 0],
            Offset::PIXEL_AT_X_0_Y_0_IS_GREEN_PIXEL_AT_X_1_Y_0_IS_RED => [1, 0],
            _ => [0, 1],
        };
        Pattern { red }
    }

    /// The colour of a pixel: 0 is red, 1 is green, 2 is blue.
    #[inline]
    pub fn color(self, x: usize, y: usize) -> usize {
        usize::from(x % 2 != self.red[0]) + usize::from(y % 2 != self.red[1])
    }
}

/// A position `step` pixels beside another one. The border mirrors positions, so that colours stay.
/// `size` is larger than `step`.
#[inline]
pub fn mirror(at: usize, step: isize, size: usize) -> usize {
    let place = at.wrapping_add_signed(step);
    match place {
        place if place < size => place,
        // Before the first pixel, or after the last one.
        _ if step < 0 => step.unsigned_abs() - at,
        place => 2 * (size - 1) - place,
    }
}
