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
            && self.line_stride == 0
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
        let height = self.tile_mode.height();
        let address =
            |column: usize, y: usize| self.address(left + width * column as i64, top + y as i64);
        let mask = |column: usize| u64::MAX >> (SIDE - across) << (column * across);
        let mut y = 0;
        while y < SIDE {
            // The rows from `y` on that are in the same tile and have pixels.
            let row = (top + y as i64 + i64::from(self.top)).rem_euclid(i64::from(height)) as usize;
            let most = (height as usize - row).min(SIDE - y);
            let rows = &mut pixels[y..y + most];
            let count = rows.iter().take_while(|row| **row != 0).count();
            if count == 0 || !row.is_multiple_of(unit) {
                y += 1;
                continue;
            }
            let rows = &mut rows[..count];
            let all = rows.iter().fold(u64::MAX, |all, row| all & row);
            let mut done = 0;
            for column in (0..SIDE / across).filter(|column| all & mask(*column) == mask(*column)) {
                let full = count / unit * unit;
                if full > 0 {
                    each(address(column, y), width as usize * full)?;
                    done |= mask(column);
                }
            }
            rows[..count / unit * unit].iter_mut().for_each(|row| *row &= !done);
            // Columns whose pixels are set in only some of these rows.
            let some = rows.iter().fold(0, |some, row| some | row);
            for column in (0..SIDE / across).filter(|column| some & mask(*column) != 0) {
                let mask = mask(column);
                let mut n = 0;
                while n < count {
                    let full = rows[n..].iter().take_while(|row| **row & mask == mask).count();
                    let full = full / unit * unit;
                    if full == 0 || !(row + n).is_multiple_of(unit) {
                        n += 1;
                        continue;
                    }
                    each(address(column, y + n), width as usize * full)?;
                    rows[n..n + full].iter_mut().for_each(|row| *row &= !mask);
                    n += full;
                }
            }
            y += count;
        }
        Ok(())
    }
}

/// `bytes` with an element repeated in it. Its length must divide that of `bytes`.
pub fn repeat(element: &[u8], bytes: &mut [u8]) {
    bytes.chunks_exact_mut(element.len()).for_each(|to| to.copy_from_slice(element));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Vec<u64>> {
        let all = (0..SIDE, 0..SIDE, any::<u64>(), 0..4_u8);
        all.prop_map(|(first, last, bits, kind)| {
            let row = |n: usize| match kind {
                // The same pixels in all rows: one run, then runs of four or more, then all pixels.
                0 => u64::MAX >> (bits % 64) << (bits / 64 % 16 * 4),
                1 => bits | bits << 1 | bits << 2 | bits << 3,
                2 => u64::MAX,
                // Rows that differ.
                _ => bits.rotate_left(n as u32) | u64::MAX << (n / 8 * 8),
            };
            (0..SIDE).map(|n| if (first..=last).contains(&n) { row(n) } else { 0 }).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        /// Oracle: `Surface::address` of each byte of each pixel.
        #[test]
        fn parts_are_the_pixels(
            rows in rows(),
            tile_mode in prop_oneof![
                Just(TileMode::Linear),
                Just(TileMode::X),
                Just(TileMode::Y),
                Just(TileMode::W),
            ],
            bytes in prop_oneof![Just(1_u32), Just(2), Just(4), Just(8), Just(16)],
            corner in (0..40_i64, 0..70_i64),
            aligned in any::<bool>(),
            line_stride in 0..2_u32,
        ) {
            let bytes = if tile_mode == TileMode::W { 1 } else { bytes };
            let surface = Surface {
                base: 0x10_0000,
                pitch: 4096,
                tile_mode,
                element_bytes: bytes,
                line_stride,
                ..Surface::default()
            };
            let left = corner.0 * i64::from(bytes);
            let corner = if aligned { (corner.0 * 64, corner.1) } else { (left, corner.1) };
            let pixels: Pixels = rows.try_into().unwrap();
            let mut found = Vec::new();
            surface.square(corner, &pixels, &mut |at, length| {
                assert!((1..=MOST_BYTES).contains(&length), "{length} bytes");
                found.extend(at..at + length as u64);
                Ok(())
            }).unwrap();
            let mut expected = Vec::new();
            for (y, row) in pixels.iter().enumerate() {
                for x in (0..SIDE).filter(|x| row >> x & 1 == 1) {
                    for byte in 0..bytes {
                        let column = corner.0 + i64::from(x as u32 * bytes + byte);
                        expected.push(surface.address(column, corner.1 + y as i64));
                    }
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
