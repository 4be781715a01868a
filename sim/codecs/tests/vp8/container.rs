//! The frames of IVF and WebM files.

use crate::matroska;

/// The frames of a file. Empty if it is neither IVF nor WebM.
pub fn frames(file: &[u8]) -> Vec<Vec<u8>> {
    if let Some(file) = matroska::read(file) {
        return file.frames;
    }
    let mut frames = Vec::new();
    if file.starts_with(b"DKIF") {
        let mut at = 32;
        while let Some(header) = file.get(at..at + 12) {
            let size = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let start = at + 12;
            frames.push(file[start..(start + size).min(file.len())].to_vec());
            at = start + size;
        }
    }
    frames
}

/// An IVF file of VP8 frames.
pub fn ivf(frames: &[Vec<u8>], width: u16, height: u16) -> Vec<u8> {
    let mut file = b"DKIF\0\0\x20\0VP80".to_vec();
    file.extend(width.to_le_bytes());
    file.extend(height.to_le_bytes());
    // Time base 25 / 1, number of frames.
    for value in [25, 1, frames.len() as u32, 0] {
        file.extend(value.to_le_bytes());
    }
    for (time, frame) in frames.iter().enumerate() {
        file.extend((frame.len() as u32).to_le_bytes());
        file.extend((time as u64).to_le_bytes());
        file.extend(frame);
    }
    file
}
