//! Where NAL units are in a file: byte streams with start codes (H.264 annex B) and Matroska.

use crate::matroska::{self, File};

/// The NAL units of a file, from the NAL unit's header byte to its end, in order.
pub fn nal_units(file: &[u8]) -> Vec<Vec<u8>> {
    matroska::read(file).map_or_else(|| annex_b(file), |file| of_matroska(&file))
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

/// The NAL units of a Matroska file. They have no start codes but lengths, and the parameter sets
/// come in a record before the first frame (ISO/IEC 14496-15, 5.3.3).
fn of_matroska(file: &File) -> Vec<Vec<u8>> {
    let (length_size, mut units) = configuration(&file.codec);
    for frame in &file.frames {
        let mut data = &frame[..];
        while data.len() > length_size {
            let (size, rest) = data.split_at(length_size);
            let size = size.iter().fold(0, |size, &byte| size << 8 | usize::from(byte));
            let (unit, rest) = rest.split_at(size.min(rest.len()));
            if !unit.is_empty() {
                units.push(unit.to_vec());
            }
            data = rest;
        }
    }
    units
}

/// Bytes of the length before a NAL unit, and the parameter sets.
fn configuration(record: &[u8]) -> (usize, Vec<Vec<u8>>) {
    let mut units = Vec::new();
    if record.len() < 7 || record[0] != 1 {
        return (4, units);
    }
    let length_size = usize::from(record[4] & 3) + 1;
    let mut rest = &record[5..];
    for mask in [0x1F, 0xFF] {
        let Some((count, after)) = rest.split_first() else { break };
        rest = after;
        for _ in 0..count & mask {
            let [high, low, after @ ..] = rest else { return (length_size, units) };
            let size = usize::from(*high) << 8 | usize::from(*low);
            let Some((unit, after)) = after.split_at_checked(size) else {
                return (length_size, units);
            };
            units.push(unit.to_vec());
            rest = after;
        }
    }
    (length_size, units)
}
