//! Entropy-coded segments of a scan (T.81 B.1.1.5): the data between restart markers.

/// The first restart marker, RST0 (T.81 table B.1).
const RST0: u8 = 0xd0;
/// The last restart marker.
const RST7: u8 = 0xd7;
/// The first marker with a purpose, but for the restart markers and a marker of arithmetic coding.
const SOF0: u8 = 0xc0;

/// Reads the segments of a scan one by one.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    /// What follows the segments that were read.
    rest: &'a [u8],
    /// Number of the restart marker before the next segment.
    restart: Option<u8>,
    ended: bool,
}

/// A marker; `End` is one that ends the scan, or the end of the data.
enum Marker {
    Restart(u8),
    End,
    Reserved,
}

impl<'a> Segments<'a> {
    /// The segments of `data`, which starts after the header of a scan.
    pub fn new(data: &'a [u8]) -> Self {
        Segments { rest: data, restart: None, ended: false }
    }

    /// Fills `out` with the bytes of the next segment, without stuffed bytes. Returns the number of
    /// the restart marker before the segment, `Some(None)` for the first segment, and `None` after
    /// the last segment.
    ///
    /// Any other marker of the standard ends the scan: it belongs to what follows, or it is DNL,
    /// which comes after the first scan only (T.81 B.2.5). A reserved marker must be damaged data;
    /// the bytes from it to the next marker are dropped.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Option<Option<u8>> {
        out.clear();
        if self.ended {
            return None;
        }
        let before = self.restart;
        let mut marker = self.until_marker(Some(out));
        while let Marker::Reserved = marker {
            marker = self.until_marker(None);
        }
        match marker {
            Marker::Restart(number) => self.restart = Some(number),
            _ => self.ended = true,
        }
        Some(before)
    }

    /// Goes to the first byte after the next marker. Appends the bytes before it to `out`, without
    /// the zero bytes that follow bytes of 0xff (T.81 F.1.2.3).
    fn until_marker(&mut self, mut out: Option<&mut Vec<u8>>) -> Marker {
        loop {
            let plain = self.rest.iter().position(|&byte| byte == 0xff).unwrap_or(self.rest.len());
            if let Some(out) = &mut out {
                out.extend_from_slice(&self.rest[..plain]);
            }
            self.rest = &self.rest[plain..];
            // A marker may have any number of fill bytes of 0xff before it (T.81 B.1.1.2).
            let Some(fill) = self.rest.iter().position(|&byte| byte != 0xff) else {
                self.rest = &[];
                return Marker::End;
            };
            let code = self.rest[fill];
            self.rest = &self.rest[fill + 1..];
            match code {
                0 => {
                    if let Some(out) = &mut out {
                        out.push(0xff);
                    }
                }
                RST0..=RST7 => return Marker::Restart(code - RST0),
                SOF0.. => return Marker::End,
                _ => return Marker::Reserved,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Segments;

    fn all(data: &[u8]) -> Vec<(Option<u8>, Vec<u8>)> {
        let (mut segments, mut bytes, mut all) = (Segments::new(data), Vec::new(), Vec::new());
        while let Some(restart) = segments.next(&mut bytes) {
            all.push((restart, bytes.clone()));
        }
        all
    }

    /// Oracle: T.81 B.1.1.2, B.1.1.5 and F.1.2.3.
    #[test]
    fn segments_end_at_markers() {
        let data = [1, 0xff, 0, 2, 0xff, 0xff, 0xd3, 0xff, 0, 0, 0xff, 0xd4, 0xff, 0xd9, 7];
        assert_eq!(
            all(&data),
            [(None, vec![1, 0xff, 2]), (Some(3), vec![0xff, 0]), (Some(4), vec![])]
        );
        // DNL ends the scan.
        assert_eq!(all(&[5, 0xff, 0xdc, 0, 4, 0, 8, 0xff, 0xd0, 6]), [(None, vec![5])]);
        // A reserved marker, and what follows it.
        let data = [5, 0xff, 0x1c, 0, 4, 0xff, 2, 0xff, 0, 0xff, 0xd0, 6, 0xff];
        assert_eq!(all(&data), [(None, vec![5]), (Some(0), vec![6])]);
        assert_eq!(all(&[]), [(None, vec![])]);
        assert_eq!(all(&[0xff, 0xff]), [(None, vec![])]);
    }
}
