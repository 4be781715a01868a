//! Planes of samples of eight bits.

use std::ops::Range;

/// One plane of a picture. Rows follow each other without padding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    /// Samples in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The samples, `width * height` of them.
    pub data: Vec<u8>,
}

impl Plane {
    /// A plane that is filled with `value`.
    pub fn new(width: usize, height: usize, value: u8) -> Self {
        Plane { width, height, data: vec![value; width * height] }
    }

    /// The rows of a frame or of a field.
    pub(crate) fn view(&self, structure: Structure) -> PlaneRef<'_> {
        let rows = structure.rows(self.height);
        PlaneRef {
            width: self.width,
            height: rows.len().div_ceil(structure.step()),
            stride: self.width * structure.step(),
            data: self.data.get(rows.start * self.width..).unwrap_or_default(),
        }
    }

    /// The rows of a frame or of a field, for writing.
    pub(crate) fn view_mut(&mut self, structure: Structure) -> PlaneMut<'_> {
        let rows = structure.rows(self.height);
        PlaneMut {
            width: self.width,
            height: rows.len().div_ceil(structure.step()),
            stride: self.width * structure.step(),
            data: self.data.get_mut(rows.start * self.width..).unwrap_or_default(),
        }
    }
}

/// The planes of a picture: Y, Cb, Cr. A plane that the format lacks is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Y, Cb, Cr.
    pub planes: [Plane; 3],
}

impl Frame {
    /// A frame of `width` x `height` luma samples. A chroma plane has one sample for `across` x
    /// `down` luma samples. All samples are `value`.
    pub fn new(width: usize, height: usize, (across, down): (usize, usize), value: u8) -> Self {
        let chroma = Plane::new(width.div_ceil(across), height.div_ceil(down), value);
        Frame { planes: [Plane::new(width, height, value), chroma.clone(), chroma] }
    }
}

/// The rows of a frame that a picture consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Structure {
    /// All rows.
    #[default]
    Frame,
    /// Rows 0, 2, 4 ...
    Top,
    /// Rows 1, 3, 5 ...
    Bottom,
}

impl Structure {
    /// The distance of neighbouring rows of the picture, in rows of the frame.
    pub fn step(self) -> usize {
        if self == Structure::Frame { 1 } else { 2 }
    }

    /// True for a field.
    pub fn is_field(self) -> bool {
        self != Structure::Frame
    }

    /// The other field; a frame for a frame.
    pub fn opposite(self) -> Self {
        match self {
            Structure::Frame => Structure::Frame,
            Structure::Top => Structure::Bottom,
            Structure::Bottom => Structure::Top,
        }
    }

    /// Rows of a frame of `height` rows from the picture's first row on.
    fn rows(self, height: usize) -> Range<usize> {
        usize::from(self == Structure::Bottom).min(height)..height
    }
}

/// The rows of a frame or of one of its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneRef<'a> {
    /// Samples in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples from the start of a row to the start of the next one.
    pub stride: usize,
    /// The samples from the first row on.
    pub data: &'a [u8],
}

impl PlaneRef<'_> {
    /// The sample at (`x`, `y`). Coordinates outside the plane select the nearest sample of its
    /// edge. An empty plane reads as 0.
    #[inline]
    pub fn sample(&self, x: i32, y: i32) -> u8 {
        let x = x.min(self.width as i32 - 1).max(0);
        let y = y.min(self.height as i32 - 1).max(0);
        self.data.get(y as usize * self.stride + x as usize).copied().unwrap_or(0)
    }

    /// Copies the block of `width` columns and `out.len() / width` rows at (`x`, `y`). Coordinates
    /// outside the plane select the nearest sample of its edge.
    pub fn block(&self, x: i32, y: i32, width: usize, out: &mut [u8]) {
        let inside = x >= 0 && x as usize + width <= self.width && self.height > 0;
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            let from_row = y.saturating_add(row as i32);
            if inside {
                let from_row = from_row.clamp(0, self.height as i32 - 1) as usize;
                let start = from_row * self.stride + x as usize;
                out.copy_from_slice(&self.data[start..start + width]);
            } else {
                for (column, out) in out.iter_mut().enumerate() {
                    *out = self.sample(x.saturating_add(column as i32), from_row);
                }
            }
        }
    }
}

/// The rows of a frame or of one of its fields, for writing.
#[derive(Debug)]
pub(crate) struct PlaneMut<'a> {
    /// Samples in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples from the start of a row to the start of the next one.
    pub stride: usize,
    /// The samples from the first row on.
    pub data: &'a mut [u8],
}

impl PlaneMut<'_> {
    /// Columns `x..x + width` of row `y`. Empty if any of them is outside the plane.
    #[inline]
    pub fn row(&mut self, x: usize, y: usize, width: usize) -> &mut [u8] {
        if y >= self.height || x.saturating_add(width) > self.width {
            return &mut [];
        }
        let start = y * self.stride + x;
        self.data.get_mut(start..start + width).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Plane, Structure};

    #[test]
    fn fields_are_every_other_row() {
        let mut plane = Plane { width: 2, height: 3, data: vec![0, 1, 2, 3, 4, 5] };
        let (top, bottom) = (plane.view(Structure::Top), plane.view(Structure::Bottom));
        assert_eq!((top.height, bottom.height), (2, 1));
        assert_eq!([top.sample(0, 1), bottom.sample(1, 0), bottom.sample(9, 9)], [4, 3, 3]);
        plane.view_mut(Structure::Bottom).row(0, 0, 2).fill(9);
        assert!(plane.view_mut(Structure::Bottom).row(1, 0, 2).is_empty());
        assert_eq!(plane.data, [0, 1, 9, 9, 4, 5]);
    }

    #[test]
    fn blocks_repeat_the_edges() {
        let plane = Plane { width: 3, height: 2, data: vec![1, 2, 3, 4, 5, 6] };
        let mut out = [0; 12];
        plane.view(Structure::Frame).block(-2, -1, 4, &mut out);
        assert_eq!(out, [1, 1, 1, 2, 1, 1, 1, 2, 4, 4, 4, 5]);
        let mut out = [0; 4];
        plane.view(Structure::Frame).block(1, 1, 2, &mut out);
        assert_eq!(out, [5, 6, 5, 6]);
        Plane::default().view(Structure::Frame).block(0, 0, 2, &mut out);
        assert_eq!(out, [0; 4]);
    }
}
