//! Frames of FFmpeg's software decoder, and how far ours may be from them.

use super::front::Sequence;
use crate::support;
use genxml_codecs::Frame;

/// The planar 4:2:0 frames of a stream one after the other, each [`frame_bytes`] long. `options`
/// are those of the decoder. `None` if FFmpeg is not installed.
pub fn decode(stream: &[u8], options: &[&str]) -> Option<Vec<u8>> {
    let (frames, errors) = support::software(stream, &[options, &["-f", "mpegvideo"]].concat())?;
    if !errors.trim().is_empty() {
        eprintln!("FFmpeg: {}", errors.trim());
    }
    Some(frames)
}

/// Bytes of a frame.
pub fn frame_bytes((width, height): (usize, usize)) -> usize {
    width * height + 2 * width.div_ceil(2) * height.div_ceil(2)
}

/// Differences of samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Difference {
    pub largest: u8,
    pub sum: u64,
    pub squares: u64,
    pub samples: u64,
    /// Plane, column and row of the first sample with the largest difference.
    pub at: (usize, usize, usize),
}

impl Difference {
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.samples as f64
    }

    /// Peak signal to noise ratio, in decibels; at most 99.
    pub fn psnr(&self) -> f64 {
        match self.squares {
            0 => 99.0,
            squares => 10.0 * (255.0 * 255.0 * self.samples as f64 / squares as f64).log10(),
        }
    }
}

/// Compares a frame with the bytes of the other decoder.
pub fn compare(sequence: &Sequence, frame: &Frame, bytes: &[u8]) -> Difference {
    let mut difference = Difference::default();
    for_each(sequence, frame, bytes, |at, ours, theirs| {
        let distance = ours.abs_diff(theirs);
        if distance > difference.largest {
            difference.largest = distance;
            difference.at = at;
        }
        difference.sum += u64::from(distance);
        difference.squares += u64::from(distance) * u64::from(distance);
        difference.samples += 1;
    });
    difference
}

/// Calls `call` with plane, column and row, and the samples of both.
fn for_each(
    sequence: &Sequence,
    frame: &Frame,
    bytes: &[u8],
    mut call: impl FnMut((usize, usize, usize), u8, u8),
) {
    let (width, height) = sequence.size;
    let mut start = 0;
    for (index, plane) in frame.planes.iter().enumerate() {
        let (width, height) =
            if index == 0 { (width, height) } else { (width.div_ceil(2), height.div_ceil(2)) };
        for y in 0..height {
            let ours = &plane.data[y * plane.width..][..width];
            let theirs = &bytes[start + y * width..][..width];
            for (x, (&ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
                call((index, x, y), ours, theirs);
            }
        }
        start += width * height;
    }
}

/// Replaces a frame of whole macroblocks with the one of the other decoder.
pub fn replace(frame: &mut Frame, bytes: &[u8]) {
    let mut rest = bytes;
    for plane in &mut frame.planes {
        let (samples, after) = rest.split_at(plane.data.len());
        plane.data.copy_from_slice(samples);
        rest = after;
    }
}
