//! The bytes of a kernel: in memory, or read piece by piece from a file.

use crate::assembly::{Form, form_of, read_kernel};
use crate::output::{Error, bad_input};
use genxml_eu::kernel::Code;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Size in bytes of the largest piece of a file that is in memory.
const PIECE: u64 = 1 << 20;

/// The bytes of a kernel.
pub struct Kernel {
    path: PathBuf,
    source: Source,
    /// Offset in the source of the kernel's first byte.
    start: u64,
    /// Number of bytes.
    length: u64,
    /// The error that ended reading. It is stored here because the functions of [`Code`] return no
    /// errors.
    failed: Option<io::Error>,
}

enum Source {
    Memory(Vec<u8>),
    File {
        file: File,
        /// The piece that was read last.
        piece: Vec<u8>,
        /// Offset of the piece in the file.
        at: u64,
    },
}

impl Kernel {
    /// Opens a file, or standard input for `-`. Only a binary file is read piece by piece.
    pub fn open(path: &Path, form: Option<Form>) -> Result<Kernel, Error> {
        let fail = |error: io::Error| bad_input(format!("{}: {error}", path.display()));
        let new = |source, length| {
            let path = path.to_owned();
            Kernel { path, source, start: 0, length, failed: None }
        };
        if path != Path::new("-") && form_of(path, form) == Form::Binary {
            let file = File::open(path).map_err(fail)?;
            let meta = file.metadata().map_err(fail)?;
            // The length of a pipe or device is unknown.
            if meta.is_file() {
                return Ok(new(Source::File { file, piece: Vec::new(), at: 0 }, meta.len()));
            }
        }
        let bytes = read_kernel(path, form)?;
        let length = bytes.len() as u64;
        Ok(new(Source::Memory(bytes), length))
    }

    /// Removes the first `offset` bytes, and then all after `length` bytes.
    pub fn cut(&mut self, offset: u64, length: Option<u64>) -> Result<(), Error> {
        let past = |what: &str, value: u64, whole: u64| {
            let path = self.path.display();
            bad_input(format!(
                "{path}: {what} {value:#x} is after the end: the file has {whole:#x} bytes"
            ))
        };
        let left = self.length.checked_sub(offset);
        let left = left.ok_or_else(|| past("offset", offset, self.length))?;
        let kept = length.unwrap_or(left);
        if kept > left {
            let what = format!("offset {offset:#x} plus length");
            return Err(past(&what, kept, self.length));
        }
        self.start += offset;
        self.length = kept;
        Ok(())
    }

    /// The error that ended reading, if there was one.
    pub fn checked(&mut self) -> Result<(), Error> {
        match self.failed.take() {
            Some(error) => Err(bad_input(format!("{}: {error}", self.path.display()))),
            None => Ok(()),
        }
    }

    /// Up to 16 bytes from a position on; fewer at the end, none after an error.
    pub fn bytes(&mut self, position: u64) -> &[u8] {
        let count = self.length.saturating_sub(position).min(16);
        let from = self.start.saturating_add(position);
        if self.failed.is_some() || count == 0 {
            return &[];
        }
        match &mut self.source {
            Source::Memory(bytes) => &bytes[from as usize..][..count as usize],
            Source::File { file, piece, at } => {
                if from < *at || from + count > *at + piece.len() as u64 {
                    piece.resize((self.length - position).min(PIECE) as usize, 0);
                    *at = from;
                    let read = file.seek(SeekFrom::Start(from));
                    if let Err(error) = read.and_then(|_| file.read_exact(piece)) {
                        // The file was longer when it was opened.
                        self.failed = Some(match error.kind() {
                            io::ErrorKind::UnexpectedEof => io::Error::other(format!(
                                "the file ends inside the {} bytes at {from:#x}: it became \
                                 shorter while it was read; run the command again",
                                piece.len()
                            )),
                            _ => error,
                        });
                        return &[];
                    }
                }
                &piece[(from - *at) as usize..][..count as usize]
            }
        }
    }
}

impl Code for Kernel {
    fn length(&self) -> u64 {
        self.length
    }

    fn dwords(&mut self, position: u64) -> ([u32; 4], usize) {
        self.bytes(position).dwords(0)
    }
}
