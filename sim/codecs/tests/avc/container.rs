//! Where NAL units are in a file: byte streams with start codes (H.264 annex B) and Matroska.

/// The NAL units of a file, from the NAL unit's header byte to its end, in order.
pub fn nal_units(file: &[u8]) -> Vec<Vec<u8>> {
    if file.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]) { matroska(file) } else { annex_b(file) }
}

/// NAL units between start codes. Zero bytes at the end of a NAL unit belong to the next start
/// code (B.1).
pub fn annex_b(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at + 3 <= stream.len() {
        if stream[at..at + 3] == [0, 0, 1] {
            starts.push(at);
            at += 3;
        } else {
            at += 1;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([stream.len()]);
    let units = starts.iter().zip(ends).map(|(&start, end)| {
        let unit = &stream[start + 3..end];
        let length = unit.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        unit[..length].to_vec()
    });
    units.filter(|unit| !unit.is_empty()).collect()
}

/// A number of EBML (RFC 8794, 4): the count of leading zero bits gives the length. With `marker`
/// the bit that ends them stays, as in element identifiers.
fn ebml_number(data: &[u8], at: &mut usize, marker: bool) -> Option<u64> {
    let first = *data.get(*at)?;
    let length = first.leading_zeros() as usize + 1;
    let bytes = data.get(*at..*at + length)?;
    *at += length;
    let number = bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let mask = if marker { u64::MAX } else { (1 << (7 * length)) - 1 };
    Some(number & mask)
}

/// The NAL units of the first AVC track. They have no start codes but lengths, and the parameter
/// sets come in a record before the first frame (ISO/IEC 14496-15, 5.3.3).
fn matroska(file: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = Matroska { units: Vec::new(), length_size: 4 };
    reader.elements(file);
    reader.units
}

struct Matroska {
    units: Vec<Vec<u8>>,
    /// Bytes of the length before a NAL unit.
    length_size: usize,
}

impl Matroska {
    fn elements(&mut self, data: &[u8]) {
        let mut at = 0;
        while let (Some(id), Some(size)) =
            (ebml_number(data, &mut at, true), ebml_number(data, &mut at, false))
        {
            let end = at.saturating_add(size as usize).min(data.len());
            let body = &data[at..end];
            match id {
                // Segment, Tracks, TrackEntry, Cluster, BlockGroup.
                0x1853_8067 | 0x1654_AE6B | 0xAE | 0x1F43_B675 | 0xA0 => self.elements(body),
                // CodecPrivate.
                0x63A2 => self.configuration(body),
                // SimpleBlock and Block: track number, two bytes of time, flags, frame.
                0xA3 | 0xA1 => {
                    let mut start = 0;
                    if ebml_number(body, &mut start, false).is_some() {
                        self.sample(body.get(start + 3..).unwrap_or_default());
                    }
                }
                _ => {}
            }
            at = end;
        }
    }

    fn configuration(&mut self, record: &[u8]) {
        if record.len() < 7 || record[0] != 1 {
            return;
        }
        self.length_size = usize::from(record[4] & 3) + 1;
        let mut at = 5;
        for mask in [0x1F, 0xFF] {
            let count = record.get(at).map_or(0, |byte| byte & mask);
            at += 1;
            for _ in 0..count {
                let Some(size) = record.get(at..at + 2) else { return };
                let size = usize::from(size[0]) << 8 | usize::from(size[1]);
                let Some(unit) = record.get(at + 2..at + 2 + size) else { return };
                self.units.push(unit.to_vec());
                at += 2 + size;
            }
        }
    }

    fn sample(&mut self, mut data: &[u8]) {
        while data.len() > self.length_size {
            let (size, rest) = data.split_at(self.length_size);
            let size = size.iter().fold(0, |size, &byte| size << 8 | usize::from(byte));
            let (unit, rest) = rest.split_at(size.min(rest.len()));
            if !unit.is_empty() {
                self.units.push(unit.to_vec());
            }
            data = rest;
        }
    }
}
