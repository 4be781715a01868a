//! Opens dumps and detects their kind.

use super::{Aub, Content, Dump, Note};
use crate::aub::decompress;
use crate::capture::{Capture, CaptureError};
use crate::devcoredump::Devcoredump;
use crate::engine::EngineId;
use crate::error_state::ErrorState;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// How to read a file: properties that the file itself does not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Set if the file holds only the dwords of a batch: their engine, and the GPU address of the
    /// first dword.
    pub raw: Option<(EngineId, u64)>,
}

/// Why a dump cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The file cannot be read or decompressed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A directory that is not a capture, or a damaged capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A file of an unknown kind.
    #[error(
        "{}: {what}; an AUB file, an error state of i915 or a device coredump of xe, each plain or compressed (gzip, xz, \
         zstd), or a capture directory can be read; for plain dwords use --raw --engine E",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
        /// A description of the contents.
        what: &'static str,
    },
}

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
            return Ok(Dump { name: name.into(), ..Dump::raw(engine, address, bytes) });
        }
        let mut start = Vec::new();
        let mut notes = Vec::new();
        if let Err(error) = stream.by_ref().take(LOOK as u64).read_to_end(&mut start) {
            if start.is_empty() {
                return Err(failed(error));
            }
            // The start of a truncated compressed file can be used.
            let text = format!("the file cannot be read further: {error}");
            notes.push(Note { cut: true, ..Note::new(text) });
        }
        let look = Look::at(&start);
        let stream = io::Cursor::new(start).chain(stream);
        let content = match look {
            Look::Aub => Content::Aub(Aub::Stream(Some(Box::new(stream)))),
            Look::ErrorState => {
                let state = ErrorState::read(stream);
                notes.extend(notes_of(&state));
                Content::ErrorState(Box::new(state))
            }
            Look::Devcoredump => {
                let dump = Devcoredump::read(stream);
                notes.extend(notes_of(&dump.state));
                Content::Devcoredump(Box::new(dump))
            }
            Look::Unknown(what) => return Err(DumpError::Unknown { path: name.into(), what }),
        };
        Ok(Dump::of(name, content, notes))
    }
}

/// The notes of a text reader, and a note if the file is from another GPU than Broadwell.
fn notes_of(state: &ErrorState) -> Vec<Note> {
    let platform = state.platform().filter(|platform| !platform.is_described());
    let other = platform.map(|platform| {
        Note::new(format!(
            "the file is from {platform}: it is decoded as Broadwell, which may be wrong"
        ))
    });
    let said = state.notes.iter().map(|note| Note {
        position: format!("line {}", note.line),
        text: note.text.clone(),
        cut: note.cut,
    });
    other.into_iter().chain(said).collect()
}

/// The kind of a file, detected from its first bytes.
enum Look {
    Aub,
    ErrorState,
    Devcoredump,
    Unknown(&'static str),
}

impl Look {
    fn at(start: &[u8]) -> Look {
        match start {
            [] => Look::Unknown("an empty file"),
            _ if crate::aub::starts(start) => Look::Aub,
            _ if Devcoredump::starts_like(start) => Look::Devcoredump,
            _ if ErrorState::starts_like(start) => Look::ErrorState,
            _ if start.contains(&0) => Look::Unknown("unknown binary data"),
            _ => Look::Unknown("a text without the marks of an error state"),
        }
    }
}
