//! Frames of the only track of a Matroska file.

/// Codec data of the track, width and height, and the frames in order.
pub struct File {
    pub codec: Vec<u8>,
    pub size: (usize, usize),
    pub frames: Vec<Vec<u8>>,
}

/// An EBML element: id, data, and what comes after it. `None` at the end.
fn element(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let first = *bytes.first()?;
    let length = first.leading_zeros() as usize + 1;
    let id = bytes.get(..length)?.iter().fold(0u32, |id, &byte| id << 8 | u32::from(byte));
    let (size, bytes) = number(&bytes[length..])?;
    let size = (size as usize).min(bytes.len());
    Some((id, &bytes[..size], &bytes[size..]))
}

/// A number of variable length.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let first = *bytes.first()?;
    let length = first.leading_zeros() as usize + 1;
    let start = u64::from(first) & (0xff >> length);
    let value = bytes.get(1..length)?.iter().fold(start, |n, &byte| n << 8 | u64::from(byte));
    Some((value, &bytes[length..]))
}

/// Reads a file.
pub fn read(bytes: &[u8]) -> File {
    let mut file = File { codec: Vec::new(), size: (0, 0), frames: Vec::new() };
    walk(bytes, &mut file);
    file
}

fn walk(mut bytes: &[u8], file: &mut File) {
    let value = |data: &[u8]| data.iter().fold(0usize, |n, &byte| n << 8 | usize::from(byte));
    while let Some((id, data, rest)) = element(bytes) {
        match id {
            // Segment, tracks, track, video, cluster, block group.
            0x1853_8067 | 0x1654_ae6b | 0xae | 0xe0 | 0x1f43_b675 | 0xa0 => walk(data, file),
            0x63a2 => file.codec = data.to_vec(),
            0xb0 => file.size.0 = value(data),
            0xba => file.size.1 = value(data),
            // Simple block, block: track, time of 16 bits, flags.
            0xa3 | 0xa1 => {
                if let Some((_, data)) = number(data) {
                    file.frames.extend(data.get(3..).map(<[u8]>::to_vec));
                }
            }
            _ => {}
        }
        bytes = rest;
    }
}
