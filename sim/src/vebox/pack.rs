//! How samples are arranged in the bytes of a surface.

use super::camera::pattern::Pattern;
use super::picture::{MAX, Picture, Sampling, to_8, to_10};
use genxml_codecs::{Frame, Plane};

/// An arrangement of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Luma only.
    Luma,
    /// A plane of luma, and one or two planes of chroma.
    Planar {
        /// Rows of luma for each row of chroma.
        down: usize,
        /// U and V alternate in one plane. Otherwise each has a plane.
        interleaved: bool,
        /// Bytes of a sample: 1 or 2.
        bytes: usize,
    },
    /// Two pixels are four samples, which share U and V.
    Pairs {
        /// Positions of the two luma samples.
        luma: [usize; 2],
        /// Position of U.
        u: usize,
        /// Position of V.
        v: usize,
        /// Bytes of a sample: 1 or 2.
        bytes: usize,
    },
    /// A pixel is four samples.
    Pixels {
        /// Positions of Y, U, V and alpha, or R, G, B and alpha.
        order: [usize; 4],
        /// Bytes of a sample: 1 or 2.
        bytes: usize,
    },
    /// A pixel is a dword: 10 bits each of R, G and B, then 2 of alpha.
    Tens,
    /// A pixel is a sample of one colour. Inputs only.
    Bayer {
        /// The colours.
        pattern: Pattern,
        /// Bytes of a sample: 1 or 2.
        bytes: usize,
    },
}

/// Bytes of the planes of a surface; unused planes are empty. Rows follow each other without
/// padding.
pub type Bytes = [Vec<u8>; 3];

impl Format {
    /// The sampling of chroma. Luma alone counts as 4:2:0, the sampling of the engine for it.
    pub fn sampling(self) -> Sampling {
        match self {
            Format::Luma => Sampling { across: 2, down: 2 },
            Format::Planar { down, .. } => Sampling { across: 2, down },
            Format::Pairs { .. } => Sampling { across: 2, down: 1 },
            Format::Pixels { .. } | Format::Tens | Format::Bayer { .. } => Sampling::FULL,
        }
    }

    /// True for formats that denoising and deinterlacing process: 8 bits, and not one chroma sample
    /// for each pixel.
    pub fn is_video(self) -> bool {
        matches!(
            self,
            Format::Luma | Format::Planar { bytes: 1, .. } | Format::Pairs { bytes: 1, .. }
        )
    }

    /// True for formats with alpha.
    pub fn has_alpha(self) -> bool {
        matches!(self, Format::Pixels { .. } | Format::Tens)
    }

    /// The byte of a plane's row where a column starts. Columns between chroma samples count as the
    /// next one.
    pub fn column(self, plane: usize, column: usize) -> usize {
        let pair = column.div_ceil(2);
        match self {
            Format::Luma => column,
            Format::Planar { bytes, .. } if plane == 0 => column * bytes,
            Format::Planar { interleaved, bytes, .. } => (pair * bytes) << u32::from(interleaved),
            Format::Pairs { bytes, .. } => 4 * pair * bytes,
            Format::Pixels { bytes, .. } => 4 * column * bytes,
            Format::Tens => 4 * column,
            Format::Bayer { bytes, .. } => column * bytes,
        }
    }

    /// Bytes of a row, and number of rows, of the three planes of a surface of `width` x `height`
    /// pixels.
    pub fn planes(self, width: usize, height: usize) -> [(usize, usize); 3] {
        let (_, down) = self.sampling().chroma(width, height);
        let count = match self {
            Format::Planar { interleaved: false, .. } => 3,
            Format::Planar { .. } => 2,
            _ => 1,
        };
        std::array::from_fn(|plane| match plane {
            _ if plane >= count => (0, 0),
            0 => (self.column(0, width), height),
            _ => (self.column(plane, width), down),
        })
    }

    /// The samples of a surface in 8 bits, for formats where [`is_video`](Self::is_video) is true.
    pub fn frame(self, bytes: Bytes, width: usize, height: usize) -> Frame {
        let (across, down) = self.sampling().chroma(width, height);
        let plane = |width, height, data| Plane { width, height, data };
        let [first, second, third] = bytes;
        match self {
            Format::Pairs { luma, u, v, .. } => {
                let pairs = first.chunks_exact(4);
                let samples = pairs.clone().flat_map(|pair| luma.map(|at| pair[at])).collect();
                let chroma = |at: usize| pairs.clone().map(|pair| pair[at]).collect();
                let planes = [
                    plane(width, height, samples),
                    plane(across, down, chroma(u)),
                    plane(across, down, chroma(v)),
                ];
                Frame { planes }
            }
            Format::Planar { interleaved: true, .. } => {
                let part = |at: usize| second.chunks_exact(2).map(|pair| pair[at]).collect();
                let (u, v) = (part(0), part(1));
                let planes =
                    [plane(width, height, first), plane(across, down, u), plane(across, down, v)];
                Frame { planes }
            }
            Format::Planar { .. } => Frame {
                planes: [
                    plane(width, height, first),
                    plane(across, down, second),
                    plane(across, down, third),
                ],
            },
            _ => {
                let grey = Plane::new(across, down, 128);
                Frame { planes: [plane(width, height, first), grey.clone(), grey] }
            }
        }
    }

    /// The bytes of a frame with the sampling of the format, for formats where
    /// [`is_video`](Self::is_video) is true.
    pub fn frame_bytes(self, frame: &Frame) -> Bytes {
        let [luma, u, v] = frame.planes.each_ref().map(|plane| &plane.data);
        match self {
            Format::Pairs { luma: at, u: at_u, v: at_v, .. } => {
                let mut bytes = vec![0; 2 * luma.len()];
                let samples = luma.chunks_exact(2).zip(u).zip(v);
                for (pair, ((luma, u), v)) in bytes.chunks_exact_mut(4).zip(samples) {
                    (pair[at[0]], pair[at[1]], pair[at_u], pair[at_v]) = (luma[0], luma[1], *u, *v);
                }
                [bytes, Vec::new(), Vec::new()]
            }
            Format::Planar { interleaved: true, .. } => {
                let pairs = u.iter().zip(v).flat_map(|(u, v)| [*u, *v]).collect();
                [luma.clone(), pairs, Vec::new()]
            }
            Format::Planar { .. } => [luma.clone(), u.clone(), v.clone()],
            _ => [luma.clone(), Vec::new(), Vec::new()],
        }
    }

    /// The samples of a surface in 12 bits. Those of a Bayer pattern are in all three planes.
    pub fn picture(self, bytes: Bytes, width: usize, height: usize) -> Picture {
        if self.is_video() {
            return Picture::widen(&self.frame(bytes, width, height), self.sampling());
        }
        let mut picture = Picture {
            width,
            height,
            sampling: self.sampling(),
            planes: Default::default(),
            alpha: None,
        };
        let [first, second, third] = bytes;
        match self {
            Format::Pixels { order, bytes } => {
                let [first, second, third, alpha] =
                    order.map(|at| samples(&first, bytes, at, 4).collect());
                picture.planes = [first, second, third];
                picture.alpha = Some(alpha);
            }
            Format::Pairs { luma, u, v, bytes } => {
                let [even, odd] = luma.map(|at| samples(&first, bytes, at, 4));
                let luma = even.zip(odd).flat_map(|(even, odd)| [even, odd]).collect();
                let [u, v] = [u, v].map(|at| samples(&first, bytes, at, 4).collect());
                picture.planes = [luma, u, v];
            }
            Format::Planar { interleaved: true, bytes, .. } => {
                let [u, v] = [0, 1].map(|at| samples(&second, bytes, at, 2).collect());
                picture.planes = [samples(&first, bytes, 0, 1).collect(), u, v];
            }
            Format::Planar { bytes, .. } => {
                picture.planes =
                    [first, second, third].map(|plane| samples(&plane, bytes, 0, 1).collect());
            }
            Format::Bayer { bytes, .. } => {
                let plane: Vec<u16> = samples(&first, bytes, 0, 1).collect();
                picture.planes = [plane.clone(), plane.clone(), plane];
            }
            Format::Tens | Format::Luma => {
                let dwords = first.as_chunks().0.iter().map(|dword| u32::from_le_bytes(*dword));
                let ten = |shift: u32| {
                    dwords.clone().map(|dword| ((dword >> shift & 0x3ff) << 2) as u16).collect()
                };
                picture.planes = [ten(0), ten(10), ten(20)];
                picture.alpha = Some(dwords.map(|dword| (dword >> 30) as u16 * 0x555).collect());
            }
        }
        picture
    }

    /// The bytes of a picture with the sampling of the format.
    pub fn picture_bytes(self, picture: &Picture) -> Bytes {
        if self.is_video() {
            return self.frame_bytes(&picture.narrow());
        }
        let [first, second, third] = &picture.planes;
        let opaque;
        let alpha = match &picture.alpha {
            Some(alpha) => alpha,
            None => {
                opaque = vec![MAX; first.len()];
                &opaque
            }
        };
        let alone = |bytes| [bytes, Vec::new(), Vec::new()];
        match self {
            Format::Pixels { order, bytes } => {
                let mut out = vec![0; 4 * bytes * first.len()];
                for (at, samples) in order.into_iter().zip([first, second, third, alpha]) {
                    put(&mut out, samples.iter().copied(), bytes, at, 4);
                }
                alone(out)
            }
            Format::Pairs { luma, u, v, bytes } => {
                let mut out = vec![0; 2 * bytes * first.len()];
                for (part, at) in luma.into_iter().enumerate() {
                    put(&mut out, first.iter().skip(part).step_by(2).copied(), bytes, at, 4);
                }
                put(&mut out, second.iter().copied(), bytes, u, 4);
                put(&mut out, third.iter().copied(), bytes, v, 4);
                alone(out)
            }
            Format::Planar { interleaved, bytes, .. } => {
                let plane = |samples: &[u16]| {
                    let mut out = vec![0; bytes * samples.len()];
                    put(&mut out, samples.iter().copied(), bytes, 0, 1);
                    out
                };
                if !interleaved {
                    return [first, second, third].map(|samples| plane(samples));
                }
                let mut pairs = vec![0; 2 * bytes * second.len()];
                put(&mut pairs, second.iter().copied(), bytes, 0, 2);
                put(&mut pairs, third.iter().copied(), bytes, 1, 2);
                [plane(first), pairs, Vec::new()]
            }
            Format::Tens | Format::Luma | Format::Bayer { .. } => {
                let pixels = first.iter().zip(second).zip(third).zip(alpha);
                let dword = |(((first, second), third), alpha): (((_, _), _), &u16)| {
                    let [first, second, third] =
                        [first, second, third].map(|sample: &u16| u32::from(to_10(*sample)));
                    let alpha = ((u32::from(*alpha) + 0x2aa) / 0x555).min(3);
                    (first | second << 10 | third << 20 | alpha << 30).to_le_bytes()
                };
                alone(pixels.flat_map(dword).collect())
            }
        }
    }
}

/// Sample `at` of each group of `count` samples of `bytes` bytes, in 12 bits.
fn samples(
    data: &[u8],
    bytes: usize,
    at: usize,
    count: usize,
) -> impl Iterator<Item = u16> + Clone {
    data.chunks_exact(count * bytes).map(move |group| match bytes {
        1 => u16::from(group[at]) << 4,
        _ => u16::from_le_bytes([group[2 * at], group[2 * at + 1]]) >> 4,
    })
}

/// Writes sample `at` of each group of `count` samples of `bytes` bytes.
fn put(data: &mut [u8], samples: impl Iterator<Item = u16>, bytes: usize, at: usize, count: usize) {
    for (group, sample) in data.chunks_exact_mut(count * bytes).zip(samples) {
        match bytes {
            1 => group[at] = to_8(sample),
            _ => group[2 * at..][..2].copy_from_slice(&(sample << 4).to_le_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Format};

    const FORMATS: [Format; 10] = [
        Format::Luma,
        Format::Planar { down: 2, interleaved: true, bytes: 1 },
        Format::Planar { down: 2, interleaved: false, bytes: 1 },
        Format::Planar { down: 2, interleaved: true, bytes: 2 },
        Format::Planar { down: 1, interleaved: false, bytes: 2 },
        Format::Pairs { luma: [0, 2], u: 1, v: 3, bytes: 1 },
        Format::Pairs { luma: [1, 3], u: 2, v: 0, bytes: 2 },
        Format::Pixels { order: [2, 1, 0, 3], bytes: 1 },
        Format::Pixels { order: [1, 0, 2, 3], bytes: 2 },
        Format::Tens,
    ];

    /// A surface comes back, except for the four low bits of 16.
    #[test]
    fn surfaces_come_back() {
        let (width, height) = (6, 5);
        for format in FORMATS {
            let mut value = 0_u8;
            let bytes: Bytes = format.planes(width, height).map(|(width, height)| {
                let mut next = |at: usize| {
                    value = value.wrapping_mul(5).wrapping_add(at as u8 | 1);
                    let deep = matches!(
                        format,
                        Format::Planar { bytes: 2, .. }
                            | Format::Pairs { bytes: 2, .. }
                            | Format::Pixels { bytes: 2, .. }
                    );
                    if deep && at.is_multiple_of(2) { value & 0xf0 } else { value }
                };
                (0..width * height).map(&mut next).collect()
            });
            let picture = format.picture(bytes.clone(), width, height);
            assert_eq!(format.picture_bytes(&picture), bytes, "{format:?}");
            if format.is_video() {
                let frame = format.frame(bytes.clone(), width, height);
                assert_eq!(format.frame_bytes(&frame), bytes, "{format:?}");
            }
        }
    }
}
