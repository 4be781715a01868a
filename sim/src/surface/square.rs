//! A square of pixels of an image, as parts of memory that are contiguous.

use super::{Surface, TileMode};
use crate::mem::PageFault;

/// Pixels along the side of a square.
pub const SIDE: usize = 64;
/// Bytes of the longest part: a row of a square with elements of 16 bytes.
pub const MOST_BYTES: usize = 16 * SIDE;

/// The pixels of a square: a bit for each pixel of each row. Bit 0 is the left pixel.
pub type Pixels = [u64; SIDE];

impl Surface {
    /// Calls `each` with address and length of parts of memory that together are the elements of
    /// `pixels`. `left` and `top` are the byte and row of the upper left pixel, as in
    /// [`address`](Self::address). A pixel is one element of at most 16 bytes.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn square(
        &self,
        (left, top): (i64, i64),
        pixels: &Pixels,
        each: &mut impl FnMut(u64, usize) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        let bytes = i64::from(self.element_bytes);
        let mut pixels = *pixels;
        // Columns of this many bytes are contiguous from row to row in Y tiles, and from each
        // fourth row to the next in W tiles.
        let columns = match self.tile_mode {
            TileMode::Y => Some((16, 1)),
            TileMode::W => Some((8, 4)),
            TileMode::X | TileMode::Linear => None,
        };
        if let Some((width, unit)) = columns
            && (left + i64::from(self.left)) % width == 0
            && width % bytes == 0
        {
            self.columns((left, top), width, unit, &mut pixels, each)?;
        }
        let run = i64::from(self.tile_mode.run());
        for (y, row) in pixels.into_iter().enumerate() {
            let mut rest = row;
            while rest != 0 {
                let first = rest.trailing_zeros();
                let count = (rest >> first).trailing_ones();
                rest &= !((u64::MAX >> (64 - count)) << first);
                let mut at = left + i64::from(first) * bytes;
                let end = at + i64::from(count) * bytes;
                while at < end {
                    let room = run - (at + i64::from(self.left)).rem_euclid(run);
                    let length = room.min(end - at);
                    each(self.address(at, top + y as i64), length as usize)?;
                    at += length;
                }
            }
        }
        Ok(())
    }

    /// Calls `each` for every part that is `width` bytes wide and `unit` rows high and whose pixels
    /// are all set, and clears the bits of these pixels.
    fn columns(
        &self,
        (left, top): (i64, i64),
        width: i64,
        unit: usize,
        pixels: &mut Pixels,
        each: &mut impl FnMut(u64, usize) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        let across = (width / i64::from(self.element_bytes)) as usize;
        let height = self.tile_mode.height() as usize;
        for column in 0..SIDE / across {
            let mask = (u64::MAX >> (SIDE - across)) << (column * across);
            let mut y = 0;
            while y < SIDE {
                let row = (top + y as i64 + i64::from(self.top)).rem_euclid(height as i64) as usize;
                let most = (height - row).min(SIDE - y);
                let rows = pixels[y..y + most].iter().take_while(|row| **row & mask == mask);
                let full = rows.count() / unit * unit;
                if full == 0 || !row.is_multiple_of(unit) {
                    y += 1;
                    continue;
                }
                let at = self.address(left + width * column as i64, top + y as i64);
                each(at, width as usize * full)?;
                pixels[y..y + full].iter_mut().for_each(|row| *row &= !mask);
                y += full;
            }
        }
        Ok(())
    }
}

/// `bytes` with an element repeated in it. Its length must divide that of `bytes`.
pub fn repeat(element: &[u8], bytes: &mut [u8]) {
    bytes.chunks_exact_mut(element.len()).for_each(|to| to.copy_from_slice(element));
}
