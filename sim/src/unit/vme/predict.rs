//! Prediction of partitions: interpolation at half and quarter positions, and the weighted mean of
//! two references (IVB vol 4 part 2; digests/video.md 10.7).

use super::geometry::{Luma, Partition, Vector};

/// Width and height of a patch: a macroblock, one pixel on each side for refinement, and the taps
/// of the filter.
pub const PATCH: usize = 21;
/// Bytes from row to row of a patch.
const STRIDE: usize = 24;
/// Pixels of a patch before the partition.
const BEFORE: i32 = 2;

/// Pixels of a reference around the position of a vector.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Rows of pixels.
    pub pixels: [u8; STRIDE * PATCH],
    /// The vector without its fraction.
    base: Vector,
}

impl Patch {
    /// Bytes from row to row.
    pub const STRIDE: usize = STRIDE;

    /// A patch for vectors up to three quarters of a pixel from `vector`.
    pub fn around(vector: Vector) -> Patch {
        let base = Vector { x: vector.x & !3, y: vector.y & !3 };
        Patch { pixels: [0; STRIDE * PATCH], base }
    }

    /// Left and upper edge relative to the macroblock, in pixels, and width and height.
    pub fn area(&self, part: &Partition) -> ([i32; 2], [usize; 2]) {
        let (x, y) = part.origin();
        let (width, height) = part.shape.size();
        let corner = [
            i32::from(self.base.x >> 2) + x as i32 - BEFORE,
            i32::from(self.base.y >> 2) + y as i32 - BEFORE,
        ];
        (corner, [width + 5, height + 5])
    }
}

/// Taps of the filters by quarters of a pixel, in 1/16: four taps from one pixel before the
/// position.
const FILTERS: [[[i32; 4]; 4]; 2] = [
    [[0, 16, 0, 0], [-1, 13, 5, -1], [-2, 10, 10, -2], [-1, 5, 13, -1]],
    [[0, 16, 0, 0], [0, 12, 4, 0], [0, 8, 8, 0], [0, 4, 12, 0]],
];

/// Predicts a partition with a vector that `patch` covers, at its position in `out`. Rounds once,
/// after both directions.
pub fn predict(patch: &Patch, vector: Vector, bilinear: bool, part: &Partition, out: &mut Luma) {
    let filters = &FILTERS[usize::from(bilinear)];
    let [x, y] = [(vector.x, patch.base.x), (vector.y, patch.base.y)]
        .map(|(vector, base)| i32::from(vector) - i32::from(base));
    let (across, down) = (filters[(x & 3) as usize], filters[(y & 3) as usize]);
    let [column, row] = [x, y].map(|offset| (BEFORE - 1 + (offset >> 2)).clamp(0, 2) as usize);
    let (width, height) = part.shape.size();
    let (left, top) = part.origin();
    let mut rows = [[0i32; 16]; 19];
    for (n, out) in rows[..height + 3].iter_mut().enumerate() {
        let pixels = &patch.pixels[STRIDE * (row + n) + column..];
        for (x, out) in out[..width].iter_mut().enumerate() {
            *out = (0..4).map(|tap| across[tap] * i32::from(pixels[x + tap])).sum();
        }
    }
    for n in 0..height {
        let out = &mut out[16 * (top + n) + left..][..width];
        for (x, out) in out.iter_mut().enumerate() {
            let sum: i32 = (0..4).map(|tap| down[tap] * rows[n + tap][x]).sum();
            *out = ((sum + 128) >> 8).clamp(0, 255) as u8;
        }
    }
}

/// The mean of two predictions of a partition. `weight` is the weight of the second one in 1/64.
pub fn blend(first: &Luma, second: &Luma, weight: u8, part: &Partition, out: &mut Luma) {
    let weight = u32::from(weight.min(64));
    let (width, height) = part.shape.size();
    let (left, top) = part.origin();
    for row in top..top + height {
        let at = 16 * row + left..16 * row + left + width;
        let sources = first[at.clone()].iter().zip(&second[at.clone()]);
        for (out, (&first, &second)) in out[at].iter_mut().zip(sources) {
            let sum = (64 - weight) * u32::from(first) + weight * u32::from(second);
            *out = ((sum + 32) >> 6) as u8;
        }
    }
}
