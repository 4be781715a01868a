//! Reads lines of untrusted input, which may have endless lines, be truncated, or not be text.

use super::{MAX_TEXT, Note};
use std::io::{self, BufRead};

/// Largest number of bytes of a line that are stored as text. The rest is read with
/// [`Lines::rest`] without being stored.
pub(crate) const MAX_LINE: usize = 64 << 10;

/// Largest number of stored notes.
const MAX_NOTES: usize = 1000;

/// Reads a text line by line.
pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    /// Number of the line that was read last, from 1.
    pub number: u64,
    /// The line without its line end; at most [`MAX_LINE`] bytes.
    pub text: Vec<u8>,
    /// True if the rest of the line, or only its line end, is still unread.
    more: bool,
    /// True if the last line ended with a line end.
    ended: bool,
    failed: Option<io::Error>,
}

impl<'a> Lines<'a> {
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Lines { input, number: 0, text: Vec::new(), more: false, ended: true, failed: None }
    }

    /// Reads the next line into [`text`](Self::text). Skips the unread rest of the previous line.
    /// Returns false at the end of the input and after an error.
    pub fn next(&mut self) -> bool {
        self.skip();
        self.text.clear();
        let mut room = MAX_LINE;
        let mut any = false;
        while let Some(bytes) = fill(self.input, &mut self.failed) {
            if !any {
                self.number += 1;
                (any, self.ended, self.more) = (true, false, true);
            }
            let here = &bytes[..bytes.len().min(room)];
            let end = here.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(here.len());
            self.text.extend_from_slice(&here[..taken]);
            self.input.consume(taken + usize::from(end.is_some()));
            room -= taken;
            if end.is_some() {
                (self.ended, self.more) = (true, false);
                break;
            }
            if room > 0 {
                continue;
            }
            // The line is too long, unless its end follows directly.
            match fill(self.input, &mut self.failed).and_then(|bytes| bytes.first()) {
                Some(b'\n') => {
                    self.input.consume(1);
                    self.ended = true;
                    break;
                }
                Some(_) => return true,
                None => break,
            }
        }
        self.more = false;
        if self.text.last() == Some(&b'\r') {
            self.text.pop();
        }
        any
    }

    /// Passes the rest of the line piece by piece to `each`, until `each` returns false.
    pub fn rest(&mut self, mut each: impl FnMut(&[u8]) -> bool) {
        while self.more {
            let Some(bytes) = fill(self.input, &mut self.failed) else {
                self.more = false;
                return;
            };
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(bytes.len());
            let on = each(&bytes[..taken]);
            self.input.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                (self.ended, self.more) = (true, false);
            }
            if !on {
                return;
            }
        }
    }

    /// True if a part of the line, or only its line end, is still unread.
    pub fn has_more(&self) -> bool {
        self.more
    }

    fn skip(&mut self) {
        self.rest(|_| true);
    }

    /// Adds a note if the file could not be read to its end, or ends without a line end.
    pub fn finish(&mut self, notes: &mut Notes) {
        if let Some(error) = self.failed.take() {
            notes.end(self.number, format_args!("the file cannot be read further: {error}"));
        } else if !self.ended {
            notes.end(self.number, format_args!("the file ends in the middle of a line"));
        }
    }
}

/// The buffered bytes, not empty; `None` at the end and after an error.
fn fill<'a>(input: &'a mut dyn BufRead, failed: &mut Option<io::Error>) -> Option<&'a [u8]> {
    if failed.is_some() {
        return None;
    }
    // The loop fills the buffer. The call after the loop returns the same bytes and reads nothing.
    loop {
        match input.fill_buf() {
            Ok([]) => return None,
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                *failed = Some(error);
                return None;
            }
        }
    }
    input.fill_buf().ok()
}

/// Collects a limited number of notes, and counts the bytes of text that may still be stored.
pub(crate) struct Notes {
    pub list: Vec<Note>,
    dropped: u64,
    end: Option<Note>,
    room: usize,
}

impl Default for Notes {
    fn default() -> Self {
        Notes { list: Vec::new(), dropped: 0, end: None, room: MAX_TEXT }
    }
}

impl Notes {
    /// Deducts `bytes` of text, plus 64 for overhead, from the room for text. Returns false if the
    /// room is too small. The first time, this adds a note for `line`; from then on every call
    /// returns false.
    pub fn text_fits(&mut self, line: u64, bytes: usize) -> bool {
        let cost = bytes + 64;
        let fits = cost <= self.room;
        if !fits && self.room > 0 {
            let text = format_args!(
                "the file holds more than {MAX_TEXT} bytes of text: the rest is left out"
            );
            self.add(line, text);
        }
        self.room = if fits { self.room - cost } else { 0 };
        fits
    }

    pub fn add(&mut self, line: u64, text: std::fmt::Arguments<'_>) {
        self.add_at(line, 0, text);
    }

    /// Adds a note about a column of a line, from 1; 0 for the whole line.
    pub fn add_at(&mut self, line: u64, column: u64, text: std::fmt::Arguments<'_>) {
        if self.list.len() < MAX_NOTES {
            self.list.push(Note { line, column, text: text.to_string(), cut: false });
        } else {
            self.dropped += 1;
        }
    }

    /// Records that the file is truncated or damaged at a line.
    fn end(&mut self, line: u64, text: std::fmt::Arguments<'_>) {
        self.end = Some(Note { line, column: 0, text: text.to_string(), cut: true });
    }

    /// Returns the notes. If some were dropped, a note at `line` has their number. The note about
    /// an early end of the file is the last one.
    pub fn finish(mut self, line: u64) -> Vec<Note> {
        if self.dropped > 0 {
            let text = format!("{} more remarks are left out", self.dropped);
            self.list.push(Note { line, column: 0, text, cut: false });
        }
        self.list.extend(self.end);
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_streamed_and_ends_are_reported() {
        let long = "x".repeat(MAX_LINE + 10);
        let text = format!("a\r\n\n{long}\nlast");
        // A tiny buffer, so that a line is read in several pieces.
        let mut input = io::BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Lines::new(&mut input);
        assert!(lines.next());
        assert_eq!((lines.number, lines.text.as_slice()), (1, &b"a"[..]));
        assert!(lines.next());
        assert_eq!((lines.number, lines.text.as_slice()), (2, &b""[..]));
        assert!(lines.next());
        assert_eq!(lines.text.len(), MAX_LINE);
        let mut rest = 0;
        lines.rest(|bytes| {
            rest += bytes.len();
            true
        });
        assert_eq!(rest, 10);
        assert!(lines.next());
        assert_eq!((lines.number, lines.text.as_slice()), (4, &b"last"[..]));
        assert!(!lines.next());
        let mut notes = Notes::default();
        lines.finish(&mut notes);
        let notes = notes.finish(4);
        assert_eq!(notes[0].text, "the file ends in the middle of a line");
        assert!(notes[0].cut && notes.len() == 1);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole() {
        for (more, is_long) in [("", false), ("\n", false), ("y\n", true), ("y", true)] {
            let text = format!("{}{more}", "y".repeat(MAX_LINE));
            let mut input = text.as_bytes();
            let mut lines = Lines::new(&mut input);
            assert!(lines.next());
            assert_eq!((lines.text.len(), lines.has_more()), (MAX_LINE, is_long), "{more:?}");
            assert!(!lines.next());
        }
        let text = format!("{}\nnext\n", "y".repeat(MAX_LINE));
        let mut input = text.as_bytes();
        let mut lines = Lines::new(&mut input);
        assert!(lines.next());
        assert_eq!(lines.text.len(), MAX_LINE);
        assert!(!lines.has_more(), "the line is not too long");
        assert!(lines.next());
        assert_eq!((lines.number, lines.text.as_slice()), (2, &b"next"[..]));
        assert!(!lines.next());
        let mut notes = Notes::default();
        lines.finish(&mut notes);
        assert!(notes.finish(2).is_empty());
    }
}
