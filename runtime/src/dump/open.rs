//! Opens dumps and detects their kind.

use super::error::{DumpError, How};
use super::{Aub, Content, Dump, Note, text};
use crate::aub::{self, Event, decompress};
use crate::capture::Capture;
use crate::error_state::{MAX_TEXT, Platform};
use crate::pasted;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Number of bytes at the start of a file that are used to detect its kind.
const LOOK: usize = 4096;

impl Dump {
    /// Opens a capture directory, a file, or standard input (`-`), compressed or not.
    ///
    /// # Errors
    /// [`DumpError`]. Damage inside a file is not an error: [`Dump::notes`] lists the parts that
    /// were left out, and [`Dump::is_cut`] is true if the rest of the file is missing. A damaged
    /// capture directory is an error.
    pub fn open(input: &Path, how: &How) -> Result<Dump, DumpError> {
        let failed = |source| DumpError::Io { path: input.to_owned(), source };
        let name = match input.file_name() {
            Some(name) if input != Path::new("-") => name.to_string_lossy().into_owned(),
            _ => "standard input".into(),
        };
        if input.is_dir() {
            let capture = Capture::open(input)?;
            let name = capture.name().to_owned();
            return Ok(Dump::of(&name, Content::Capture(capture), Vec::new()));
        }
        if input == Path::new("-") {
            return Dump::read(&name, io::stdin(), how);
        }
        let mut dump = Dump::read(&name, File::open(input).map_err(failed)?, how)?;
        // A file can be read again, so the stream is not needed.
        if let Content::Aub(aub) = &mut dump.content {
            *aub = Aub::File(input.to_owned());
            // Reading the file again finds the same problems.
            dump.notes.clear();
        }
        Ok(dump)
    }

    /// Reads a dump from a stream, compressed or not; `name` becomes the name of the dump.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(name: &str, input: impl Read + 'static, how: &How) -> Result<Dump, DumpError> {
        Dump::boxed(name, Box::new(input), how)
    }

    fn boxed(name: &str, input: Box<dyn Read>, how: &How) -> Result<Dump, DumpError> {
        let failed = |source| DumpError::Io { path: name.into(), source };
        let (_, stream) = decompress(input).map_err(failed)?;
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        if let Some((engine, address)) = how.raw {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map_err(failed)?;
            if let Some(batches) = text::hex_dump(name, &bytes, engine, address)? {
                return Ok(Dump::of(name, Content::Text(batches), Vec::new()));
            }
            return Ok(Dump { name: name.into(), ..Dump::raw(engine, address, bytes) });
        }
        let mut start = Vec::new();
        let mut notes = Vec::new();
        let mut more = |start: &mut Vec<u8>, notes: &mut Vec<Note>| {
            let count = start.len().max(LOOK) as u64;
            let result = stream.by_ref().take(count).read_to_end(start);
            match result {
                // The start of a truncated compressed file can be used.
                Err(error) if !start.is_empty() => {
                    let text = format!("the file cannot be read further: {error}");
                    notes.push(Note { cut: true, ..Note::new(text) });
                    Ok(0)
                }
                result => result,
            }
        };
        let mut whole = more(&mut start, &mut notes).map_err(failed)? < LOOK;
        if let Some(content) = Look::binary(&start) {
            let header_platform = platform_of_aub(&start);
            let stream = io::Cursor::new(start).chain(stream);
            return match content {
                Look::Aub => {
                    let aub = Content::Aub(Aub::Stream(Some(Box::new(stream))));
                    Ok(Dump { header_platform, ..Dump::of(name, aub, notes) })
                }
                Look::Unknown(what) => {
                    Err(DumpError::Unknown { path: name.into(), what: what.to_owned() })
                }
            };
        }
        // Usually decided by the first bytes: only damaged texts are read as a whole.
        let mut look = pasted::look(&start, whole);
        while look == pasted::Look::More {
            let before = start.len();
            whole = more(&mut start, &mut notes).map_err(failed)? < before;
            look = pasted::look(&start, whole);
        }
        let mut stream = io::Cursor::new(start).chain(stream);
        if look == pasted::Look::Damaged {
            let mut text = Vec::new();
            let result = stream.by_ref().take(MAX_TEXT as u64 + 1).read_to_end(&mut text);
            if let Err(error) = result
                && notes.is_empty()
            {
                let text = format!("the file cannot be read further: {error}");
                notes.push(Note { cut: true, ..Note::new(text) });
            }
            if text.len() <= MAX_TEXT {
                return text::open(name, &text, how, notes);
            }
            return text::read(name, io::Cursor::new(text).chain(stream), notes);
        }
        text::read(name, stream, notes)
    }

    /// Reads a dump from bytes that a text encodes.
    pub(super) fn encoded(name: &str, bytes: Vec<u8>, how: &How) -> Result<Dump, DumpError> {
        Dump::boxed(name, Box::new(io::Cursor::new(bytes)), how)
    }
}

/// The GPU that the head of an AUB file names. `start` has the first bytes of the file.
fn platform_of_aub(start: &[u8]) -> Option<Platform> {
    let mut reader = aub::Reader::new(start).ok()?;
    match reader.next_block().ok()??.event {
        Event::Header(header) => header.platform(),
        _ => None,
    }
}

/// The kind of a file that is not text, detected from its first bytes.
enum Look {
    Aub,
    Unknown(&'static str),
}

impl Look {
    /// `None` if the file may be text.
    fn binary(start: &[u8]) -> Option<Look> {
        match start {
            [] => Some(Look::Unknown("an empty file")),
            _ if aub::starts(start) => Some(Look::Aub),
            // Text in UTF-16.
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => None,
            _ if start.contains(&0) => Some(Look::Unknown("unknown binary data")),
            // A damaged dump may have some bytes that are not text.
            _ if std::str::from_utf8(start).is_err_and(|error| error.error_len().is_some())
                && start.iter().filter(|byte| byte.is_ascii()).count() * 10 < start.len() * 9 =>
            {
                Some(Look::Unknown("unknown binary data"))
            }
            _ => None,
        }
    }
}
