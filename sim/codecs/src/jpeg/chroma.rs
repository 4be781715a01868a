//! Changes of the subsampling of chroma that `MFX_JPEG_PIC_STATE` can ask for.

use crate::{Frame, Plane};

/// The changes, by the names of the fields. Drivers ask for one direction at most: down-sampling of
/// rows for 4:2:2 to NV12, of columns for 4:2:2 with half the rows to NV12, and up-sampling of rows
/// for 4:2:0 to UYVY or YUY2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// Chroma gets twice the rows: each row comes twice.
    pub vertical_up: bool,
    /// Chroma gets half the rows.
    pub vertical_down: bool,
    /// Chroma gets half the columns.
    pub horizontal_down: bool,
    /// Down-sampling takes the mean of two neighbours. Otherwise, it drops the second one.
    ///
    /// That the second one is dropped, and that a mean is rounded up at one half, are assumptions.
    pub average: bool,
}

impl Conversion {
    /// The size of a chroma plane after the conversion.
    pub fn size(self, (width, height): (usize, usize)) -> (usize, usize) {
        let width = if self.horizontal_down { width.div_ceil(2) } else { width };
        let height = if self.vertical_down { height.div_ceil(2) } else { height };
        (width, if self.vertical_up { 2 * height } else { height })
    }

    /// Changes the chroma planes of a decoded picture.
    pub fn apply(self, frame: &mut Frame) {
        for plane in &mut frame.planes[1..] {
            if self.horizontal_down {
                *plane = self.halve_columns(plane);
            }
            if self.vertical_down {
                *plane = self.halve_rows(plane);
            }
            if self.vertical_up {
                *plane = double_rows(plane);
            }
        }
    }

    /// One sample for two neighbours.
    fn join(self, first: u8, second: u8) -> u8 {
        if self.average { (u16::from(first) + u16::from(second)).div_ceil(2) as u8 } else { first }
    }

    /// The last sample of an odd row has no neighbour, and stays.
    fn halve_columns(self, plane: &Plane) -> Plane {
        let mut out = Plane::new(plane.width.div_ceil(2), plane.height, 0);
        let rows = plane.data.chunks_exact(plane.width.max(1));
        for (to, from) in out.data.chunks_exact_mut(out.width.max(1)).zip(rows) {
            for (to, pair) in to.iter_mut().zip(from.chunks(2)) {
                *to = self.join(pair[0], pair[pair.len() - 1]);
            }
        }
        out
    }

    /// The last of an odd number of rows has no neighbour, and stays.
    fn halve_rows(self, plane: &Plane) -> Plane {
        let width = plane.width.max(1);
        let mut out = Plane::new(plane.width, plane.height.div_ceil(2), 0);
        for (to, pair) in out.data.chunks_exact_mut(width).zip(plane.data.chunks(2 * width)) {
            let (first, second) = pair.split_at(width);
            let second = if second.is_empty() { first } else { second };
            for ((to, first), second) in to.iter_mut().zip(first).zip(second) {
                *to = self.join(*first, *second);
            }
        }
        out
    }
}

fn double_rows(plane: &Plane) -> Plane {
    let mut out = Plane::new(plane.width, 2 * plane.height, 0);
    let width = plane.width.max(1);
    for (to, from) in out.data.chunks_exact_mut(2 * width).zip(plane.data.chunks_exact(width)) {
        to[..width].copy_from_slice(from);
        to[width..].copy_from_slice(from);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Conversion;
    use crate::{Frame, Plane};

    fn chroma(conversion: Conversion) -> Plane {
        let plane = Plane { width: 3, height: 3, data: vec![1, 2, 4, 10, 20, 30, 255, 254, 0] };
        let mut frame = Frame { planes: [plane.clone(), plane.clone(), plane.clone()] };
        conversion.apply(&mut frame);
        let size = (frame.planes[1].width, frame.planes[1].height);
        assert_eq!(size, conversion.size((plane.width, plane.height)));
        assert_eq!(frame.planes[0], plane);
        assert_eq!(frame.planes[1], frame.planes[2]);
        conversion.apply(&mut Frame::default());
        frame.planes[1].clone()
    }

    #[test]
    fn down_sampling_drops_or_averages() {
        let rows = Conversion { vertical_down: true, ..Conversion::default() };
        assert_eq!(chroma(rows).data, [1, 2, 4, 255, 254, 0]);
        let rows = Conversion { average: true, ..rows };
        assert_eq!(chroma(rows).data, [6, 11, 17, 255, 254, 0]);
        let columns = Conversion { horizontal_down: true, ..Conversion::default() };
        assert_eq!(chroma(columns).data, [1, 4, 10, 30, 255, 0]);
        let columns = Conversion { average: true, ..columns };
        assert_eq!(chroma(columns).data, [2, 4, 15, 30, 255, 0]);
    }

    #[test]
    fn up_sampling_repeats_rows() {
        let plane = chroma(Conversion { vertical_up: true, ..Conversion::default() });
        assert_eq!((plane.width, plane.height), (3, 6));
        assert_eq!(plane.data[..12], [1, 2, 4, 1, 2, 4, 10, 20, 30, 10, 20, 30]);
    }
}
