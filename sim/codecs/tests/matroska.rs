//! Frames of Matroska and WebM files.

use matroska_demuxer::{Frame, MatroskaFile};
use std::io::Cursor;

/// A file with one track.
pub struct File {
    /// Codec data of the track; empty if it has none.
    pub codec: Vec<u8>,
    /// Width and height in samples.
    pub size: (usize, usize),
    /// In the order of decoding.
    pub frames: Vec<Vec<u8>>,
}

/// Reads a file. `None` if it is of another format.
///
/// # Panics
///
/// If its structure is damaged.
pub fn read(file: &[u8]) -> Option<File> {
    if !file.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) {
        return None;
    }
    let mut file = MatroskaFile::open(Cursor::new(file)).unwrap();
    let track = &file.tracks()[0];
    let codec = track.codec_private().unwrap_or_default().to_vec();
    let size = track.video().map_or((0, 0), |video| {
        (video.pixel_width().get() as usize, video.pixel_height().get() as usize)
    });
    let (mut frame, mut frames) = (Frame::default(), Vec::new());
    while file.next_frame(&mut frame).unwrap() {
        frames.push(std::mem::take(&mut frame.data));
    }
    Some(File { codec, size, frames })
}
