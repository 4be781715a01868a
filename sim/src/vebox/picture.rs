//! Pictures of 12-bit samples, and their conversion to and from planes of bytes.
//!
//! Image enhancement works on 12 bits: a sample of 8 bits becomes its 16-fold, so that 16 becomes
//! 256 and 128 becomes 2048 (digests/video.md 12.2).

use crate::assumptions::VEBOX_ROUNDING;
use genxml_codecs::{Frame, Plane};

/// Greatest sample.
pub const MAX: u16 = 0xfff;

/// The chroma sample of grey.
pub const GREY: u16 = 0x800;

/// Columns and rows of luma that a chroma sample covers: 1 or 2 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Columns.
    pub across: usize,
    /// Rows.
    pub down: usize,
}

impl Sampling {
    /// A chroma sample for each pixel.
    pub const FULL: Sampling = Sampling { across: 1, down: 1 };

    /// Width and height of a chroma plane of a picture of `width` x `height` pixels.
    pub fn chroma(self, width: usize, height: usize) -> (usize, usize) {
        (width.div_ceil(self.across), height.div_ceil(self.down))
    }
}

/// A picture of 12-bit samples: Y, U, V or R, G, B.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The size of planes 1 and 2.
    pub sampling: Sampling,
    /// The samples, row after row.
    pub planes: [Vec<u16>; 3],
    /// Alpha, if the picture has it: a sample for each pixel.
    pub alpha: Option<Vec<u16>>,
}

impl Picture {
    /// A black picture of zeros without alpha.
    pub fn new(width: usize, height: usize, sampling: Sampling) -> Picture {
        let (across, down) = sampling.chroma(width, height);
        let chroma = vec![0; across * down];
        let planes = [vec![0; width * height], chroma.clone(), chroma];
        Picture { width, height, sampling, planes, alpha: None }
    }

    /// The picture of a frame of 8-bit samples.
    pub fn widen(frame: &Frame, sampling: Sampling) -> Picture {
        let wide =
            |plane: &Plane| plane.data.iter().map(|&sample| u16::from(sample) << 4).collect();
        let Plane { width, height, .. } = frame.planes[0];
        Picture { width, height, sampling, planes: frame.planes.each_ref().map(wide), alpha: None }
    }

    /// The frame of 8-bit samples: each is rounded.
    pub fn narrow(&self) -> Frame {
        let sizes = [(self.width, self.height), self.chroma(), self.chroma()];
        let mut index = 0;
        let planes = self.planes.each_ref().map(|samples| {
            let (width, height) = sizes[index];
            index += 1;
            Plane { width, height, data: samples.iter().map(|&sample| to_8(sample)).collect() }
        });
        Frame { planes }
    }

    /// Width and height of planes 1 and 2.
    pub fn chroma(&self) -> (usize, usize) {
        self.sampling.chroma(self.width, self.height)
    }
}

/// The 8 bits of a sample, rounded to the nearest.
#[inline]
pub fn to_8(sample: u16) -> u8 {
    ((sample + VEBOX_ROUNDING) >> 4).min(255) as u8
}

/// The 10 bits of a sample, rounded to the nearest.
#[inline]
pub fn to_10(sample: u16) -> u16 {
    ((sample + VEBOX_ROUNDING / 4) >> 2).min(1023)
}

#[cfg(test)]
mod tests {
    use super::{Picture, Sampling, to_8, to_10};
    use genxml_codecs::Frame;

    /// Oracle: the nearest multiple of the step, in floating point. Halves go up.
    #[test]
    fn samples_round_to_the_nearest() {
        for sample in 0..=0xfff_u16 {
            let nearest = |step: f64, most: f64| (f64::from(sample) / step + 0.5).floor().min(most);
            assert_eq!(f64::from(to_8(sample)), nearest(16.0, 255.0));
            assert_eq!(f64::from(to_10(sample)), nearest(4.0, 1023.0));
        }
    }

    #[test]
    fn frames_come_back() {
        let mut frame = Frame::new(5, 3, (2, 2), 0);
        let mut value = 0_u8;
        for sample in frame.planes.iter_mut().flat_map(|plane| &mut plane.data) {
            value = value.wrapping_add(37);
            *sample = value;
        }
        let picture = Picture::widen(&frame, Sampling { across: 2, down: 2 });
        assert_eq!(picture.chroma(), (3, 2));
        assert_eq!(picture.narrow(), frame);
    }
}
