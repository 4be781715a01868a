//! The frames of IVF and WebM files.

/// The frames of a file. Empty if it is neither IVF nor WebM.
pub fn frames(file: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    if file.starts_with(b"DKIF") {
        let mut at = 32;
        while let Some(header) = file.get(at..at + 12) {
            let size = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let start = at + 12;
            frames.push(&file[start..(start + size).min(file.len())]);
            at = start + size;
        }
    } else if file.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) {
        elements(file, &mut frames);
    }
    frames
}

/// Collects the blocks among EBML elements. A block is taken as not laced.
fn elements<'a>(mut data: &'a [u8], frames: &mut Vec<&'a [u8]>) {
    while let Some((id, rest)) = number(data, false)
        && let Some((size, rest)) = number(rest, true)
    {
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
        let (body, after) = rest.split_at(size);
        match id {
            // Segment, Cluster, BlockGroup.
            0x1853_8067 | 0x1f43_b675 | 0xa0 => elements(body, frames),
            // SimpleBlock, Block: track number, time code of two bytes, flags.
            0xa3 | 0xa1 => frames.extend(number(body, true).and_then(|(_, rest)| rest.get(3..))),
            _ => {}
        }
        data = after;
    }
}

/// A number of variable length, without the bit that marks the length if `strip`.
fn number(data: &[u8], strip: bool) -> Option<(u64, &[u8])> {
    let &first = data.first()?;
    let length = first.leading_zeros() as usize + 1;
    let bytes = data.get(..length).filter(|_| length <= 8)?;
    let value = bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    let marker = 1 << (7 * length);
    Some((if strip { value & (marker - 1) } else { value }, &data[length..]))
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
