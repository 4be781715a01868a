//! Patterns: 8 x 8 pixels that repeat over the destination.

use super::depth::Depth;

/// Pixels of a pattern in each direction.
const SIDE: usize = 8;

/// The pattern operand. Its pixel (0, 0) lies where both destination coordinates plus the seeds are
/// multiples of 8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Colours, row by row. Each colour is in the low bits of its element.
    pixels: [[u32; SIDE]; SIDE],
    /// One bit per pixel, row by row: 1 if the pixel is drawn. The leftmost pixel is the highest
    /// bit.
    drawn: [u8; SIDE],
    /// Column and row of the pattern at destination coordinates (0, 0) (BR00, 2d p.44, 45).
    seeds: [u8; 2],
}

/// How the bits of a bitmap become pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expansion {
    /// Colour of a bit that is 0.
    pub background: u32,
    /// Colour of a bit that is 1.
    pub foreground: u32,
    /// True if pixels whose bit is 0 are not drawn.
    pub transparent: bool,
}

impl Pattern {
    /// A pattern of one colour.
    pub fn solid(color: u32) -> Self {
        Pattern { pixels: [[color; SIDE]; SIDE], drawn: [0xff; SIDE], seeds: [0; 2] }
    }

    /// Number of bytes of a colour pattern.
    pub fn color_bytes(depth: Depth) -> usize {
        SIDE * SIDE * depth.bytes()
    }

    /// Makes a colour pattern from its [`color_bytes`](Self::color_bytes) bytes. `bytes` has the
    /// pixels row by row, as a pattern is stored in memory.
    pub fn color(bytes: &[u8], depth: Depth, seeds: [u8; 2]) -> Self {
        let mut pattern = Pattern { seeds, ..Pattern::solid(0) };
        let pixels = pattern.pixels.as_flattened_mut();
        for (to, from) in pixels.iter_mut().zip(bytes.chunks_exact(depth.bytes())) {
            let mut pixel = [0; 4];
            pixel[..from.len()].copy_from_slice(from);
            *to = u32::from_le_bytes(pixel);
        }
        pattern
    }

    /// A monochrome pattern: one byte per row, with the leftmost pixel in the highest bit.
    pub fn mono(rows: [u8; SIDE], expansion: Expansion, seeds: [u8; 2]) -> Self {
        let color = |row: u8, x| {
            if row << x & 0x80 != 0 { expansion.foreground } else { expansion.background }
        };
        Pattern {
            pixels: rows.map(|row| std::array::from_fn(|x| color(row, x))),
            drawn: if expansion.transparent { rows } else { [0xff; SIDE] },
            seeds,
        }
    }

    /// True if some pixels are not drawn.
    pub fn is_transparent(&self) -> bool {
        self.drawn != [0xff; SIDE]
    }

    /// Number of rows after which the pattern repeats: 8, or 1 if all rows are equal.
    pub(super) fn period(&self) -> usize {
        let same = self.pixels.iter().all(|row| *row == self.pixels[0]);
        if same && self.drawn.iter().all(|row| *row == self.drawn[0]) { 1 } else { SIDE }
    }

    /// Index of the pattern row that is drawn in row `y` of the destination.
    fn row(&self, y: i64) -> usize {
        (y + i64::from(self.seeds[1])).rem_euclid(SIDE as i64) as usize
    }

    /// Fills `out` with the pattern's pixels for row `y` of the destination, from column `left` on.
    pub(super) fn colors(&self, left: i64, y: i64, depth: Depth, out: &mut [u8]) {
        let row = &self.pixels[self.row(y)];
        self.repeat(left, depth, out, |x| row[x]);
    }

    /// Fills `out` with ones where the pattern draws pixels in row `y` of the destination, from
    /// column `left` on, and with zeros elsewhere.
    pub(super) fn mask(&self, left: i64, y: i64, depth: Depth, out: &mut [u8]) {
        let row = self.drawn[self.row(y)];
        self.repeat(left, depth, out, |x| if row << x & 0x80 != 0 { !0 } else { 0 });
    }

    fn repeat(&self, left: i64, depth: Depth, out: &mut [u8], pixel: impl Fn(usize) -> u32) {
        let first = (left + i64::from(self.seeds[0])).rem_euclid(SIDE as i64) as usize;
        let size = depth.bytes();
        let mut unit = [0; 4 * SIDE];
        for (x, to) in unit.chunks_exact_mut(size).take(SIDE).enumerate() {
            to.copy_from_slice(&pixel((first + x) % SIDE).to_le_bytes()[..size]);
        }
        for to in out.chunks_mut(SIDE * size) {
            to.copy_from_slice(&unit[..to.len()]);
        }
    }
}
