//! Stipple patterns of lines and polygons.

use crate::pixel::coordinates::{Point, SUBPIXEL_BITS};
use crate::pixel::raster::Quad;

/// A pattern of 16 bits along a line (3DSTATE_LINE_STIPPLE, 2a p.139).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineStipple {
    /// The pattern; bit 0 is at the start of the line.
    pub pattern: u16,
    /// Pixels of each bit, 1 to 256.
    pub repeat: u16,
}

impl LineStipple {
    /// True if the pixel `n` pixels after the start of the pattern is drawn.
    #[must_use]
    pub fn draws(&self, n: u32) -> bool {
        let bit = (n / u32::from(self.repeat.max(1))) & 15;
        self.pattern >> bit & 1 != 0
    }

    /// The position in the pattern for the counters of the packet: Current Stipple Index and
    /// Current Repeat Counter. A counter of 1 is the first pixel of the bit, and software must set
    /// 1 (2a p.139). In the model, larger counters are later pixels, up to the last pixel of the
    /// bit.
    #[must_use]
    pub fn position(&self, index: u32, counter: u32) -> u32 {
        let repeat = u32::from(self.repeat.max(1));
        (index & 15) * repeat + counter.saturating_sub(1).min(repeat - 1)
    }
}

/// The position of the stipple pattern on a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stippled {
    /// Start of the line.
    pub(super) start: Point,
    /// How the distance from the start of the line to a pixel is measured.
    pub(super) along: Along,
    /// Pixels from the start of the pattern to the start of the line.
    pub(super) offset: u32,
}

/// How the distance to a pixel is measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Along {
    /// The distance counts columns.
    X,
    /// The distance counts rows.
    Y,
    /// The distance is measured along this direction, a vector of length 1.
    Direction([f64; 2]),
}

impl Stippled {
    /// Pixels from the start of the pattern to a pixel: the argument of [`LineStipple::draws`].
    #[must_use]
    pub fn position(&self, x: u32, y: u32) -> u32 {
        let pixel = |p: i32| p >> SUBPIXEL_BITS;
        let steps = match self.along {
            Along::X => (x as i32).abs_diff(pixel(self.start.x)),
            Along::Y => (y as i32).abs_diff(pixel(self.start.y)),
            Along::Direction([ux, uy]) => {
                let (x, y) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                let [sx, sy] = self.start.pixels();
                ((x - sx) * ux + (y - sy) * uy).max(0.0) as u32
            }
        };
        self.offset.wrapping_add(steps)
    }
}

/// The number of pixels by which a line advances the stipple pattern: the distance between the
/// pixels of its ends, in columns or in rows, whichever is larger.
#[must_use]
pub fn pixels_along(a: Point, b: Point) -> u32 {
    let pixel = |p: i32| p >> SUBPIXEL_BITS;
    pixel(a.x).abs_diff(pixel(b.x)).max(pixel(a.y).abs_diff(pixel(b.y)))
}

/// A pattern of 32x32 pixels that repeats over the target (3DSTATE_POLY_STIPPLE_PATTERN, 2a p.147).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolygonStipple {
    /// The rows; bit 31 is the leftmost pixel.
    pub rows: [u32; 32],
    /// Added to column and row before the pattern is looked up (3DSTATE_POLY_STIPPLE_OFFSET, 2a
    /// p.145).
    pub offset: [u32; 2],
}

impl PolygonStipple {
    /// True if the pixel is drawn.
    #[must_use]
    pub fn draws(&self, x: u32, y: u32) -> bool {
        let column = x.wrapping_add(self.offset[0]) & 31;
        let row = y.wrapping_add(self.offset[1]) & 31;
        self.rows[row as usize] << column >> 31 != 0
    }

    /// Clears the masks of those pixels of a quad that are not drawn.
    pub fn mask(&self, quad: &mut Quad) {
        for (i, mask) in quad.mask.iter_mut().enumerate() {
            if !self.draws(quad.x + (i as u32 & 1), quad.y + (i as u32 >> 1)) {
                *mask = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygon_stipple() {
        let mut stipple = PolygonStipple { rows: [0; 32], offset: [0, 0] };
        stipple.rows[0] = 1 << 31;
        stipple.rows[3] = 1;
        assert!(stipple.draws(0, 0) && stipple.draws(64, 32) && stipple.draws(31, 3));
        assert!(!stipple.draws(1, 0) && !stipple.draws(0, 3));
        stipple.offset = [31, 2];
        assert!(stipple.draws(0, 1) && stipple.draws(1, 30));
        let mut quad = Quad { x: 0, y: 0, mask: [7; 4] };
        stipple.mask(&mut quad);
        assert_eq!(quad.mask, [0, 0, 7, 0]);
    }
}
