//! Comparing memory with what a capture expects.

use super::{Capture, Compare, Expectation};
use std::fmt;

/// The error for memory that differs from the expected contents.
#[derive(Clone, PartialEq, thiserror::Error)]
pub struct Mismatch {
    /// Name of the expectation.
    pub name: String,
    /// Name of the object in the capture.
    pub object: String,
    /// Offset in the object of the first byte that is missing or differs (for images: differs too
    /// much).
    pub offset: u64,
    /// GPU address of that byte.
    pub address: u64,
    /// The expected byte.
    pub expected: u8,
    /// The byte found.
    pub found: Found,
    /// Number of bytes that differ; for images, number of pixels that differ too much. 0 if the
    /// memory given is too short.
    pub count: u64,
    /// Number of bytes or pixels compared. If the memory given is too short, the number of expected
    /// bytes.
    pub total: u64,
    /// How the memory was compared.
    pub compare: Compare,
}

genxml_core::debug_as_display!(Mismatch);

/// What was found instead of an expected byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Another byte.
    Byte(u8),
    /// Nothing: the memory given is too short.
    End,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { name, object, offset, address, expected, count, total, .. } = self;
        write!(
            f,
            "expectation {name}: object {object} at {address:#x} (+{offset:#x}) should hold {expected:#04x}"
        )?;
        match self.found {
            Found::Byte(byte) => write!(f, ", holds {byte:#04x}; ")?,
            Found::End => return f.write_str(", but the memory to compare ends before it"),
        }
        match self.compare {
            Compare::Exact => write!(f, "{count} of {total} bytes differ"),
            Compare::Rgba8 { max_abs_diff, outlier_fraction } => write!(
                f,
                "{count} of {total} pixels differ by more than {max_abs_diff} ({:.3} %, allowed {:.3} %)",
                *count as f64 * 100.0 / (*total).max(1) as f64,
                outlier_fraction * 100.0
            ),
        }
    }
}

impl Expectation {
    /// The bytes that are expected, `size` of them: zeros overlaid with the writes.
    pub fn expected(&self, capture: &Capture) -> Vec<u8> {
        let mut bytes = vec![0; self.size as usize];
        for write in &self.writes {
            capture.apply(write, &mut bytes);
        }
        bytes
    }

    /// Compares `actual`, the object's bytes from [`offset`](Self::offset) on, with the expected
    /// bytes. Bytes of `actual` beyond [`size`](Self::size) are ignored.
    ///
    /// # Errors
    /// [`Mismatch`] with the first difference and the number of differences. Images may differ in
    /// some pixels; the error means that too many differ. If `actual` is shorter than the expected
    /// bytes, the error has `Found::End`.
    pub fn compare(&self, actual: &[u8], capture: &Capture) -> Result<(), Mismatch> {
        let expected = self.expected(capture);
        let mismatch = |at: usize, found, count, total| Mismatch {
            name: self.name.clone(),
            object: capture.object_name(self.object).to_owned(),
            offset: self.offset + at as u64,
            address: self.address + self.offset + at as u64,
            expected: expected[at],
            found,
            count,
            total,
            compare: self.compare,
        };
        let Some(actual) = actual.get(..expected.len()) else {
            return Err(mismatch(actual.len(), Found::End, 0, self.size));
        };
        let mut first = None;
        let (mut count, mut total) = (0, 0);
        match self.compare {
            Compare::Exact => {
                for (start, end) in self.regions() {
                    total += (end - start) as u64;
                    if actual[start..end] == expected[start..end] {
                        continue;
                    }
                    for at in start..end {
                        if actual[at] != expected[at] {
                            first.get_or_insert(at);
                            count += 1;
                        }
                    }
                }
                match first {
                    Some(at) => Err(mismatch(at, Found::Byte(actual[at]), count, total)),
                    None => Ok(()),
                }
            }
            Compare::Rgba8 { max_abs_diff, outlier_fraction } => {
                let (mut last, mut last_off) = (None, None);
                let channels = if self.padding { 3 } else { 4 };
                for at in self
                    .regions()
                    .flat_map(|(start, end)| start..end)
                    .filter(|at| at % 4 < channels)
                {
                    // A pixel counts once, whatever the number of its bytes. A pixel whose bytes
                    // are all ignored does not count.
                    if last != Some(at / 4) {
                        last = Some(at / 4);
                        total += 1;
                    }
                    if actual[at].abs_diff(expected[at]) > max_abs_diff && last_off != Some(at / 4)
                    {
                        last_off = Some(at / 4);
                        first.get_or_insert(at);
                        count += 1;
                    }
                }
                match first {
                    Some(at) if count as f64 > outlier_fraction * total as f64 => {
                        Err(mismatch(at, Found::Byte(actual[at]), count, total))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// The ranges (start, end) that are compared, ascending: everything except the ignored ranges.
    fn regions(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let starts =
            std::iter::once(0).chain(self.ignore.iter().map(|&(start, length)| start + length));
        let ends = self.ignore.iter().map(|&(start, _)| start).chain(std::iter::once(self.size));
        starts
            .zip(ends)
            .map(|(start, end)| (start as usize, end as usize))
            .filter(|(start, end)| start < end)
    }
}
