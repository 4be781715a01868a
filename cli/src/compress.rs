//! Output files, compressed according to their names.

use crate::output::{Error, bad_input};
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress};
use std::fs::File;
use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::thread::{self, JoinHandle};

/// Compression level of xz, 0 to 9. The xz program has the same default.
const XZ_PRESET: u32 = 6;

/// A file being written.
pub enum Output {
    /// Not compressed.
    Plain(BufWriter<File>),
    /// gzip.
    Gzip(GzEncoder<BufWriter<File>>),
    /// xz.
    Xz(Box<XzWriter<BufWriter<File>>>),
    /// zstd.
    Zstd(Zstd),
}

/// A thread that compresses the bytes of a pipe. The thread is needed because the compressor reads
/// its input from a reader, but users of [`Output`] write to it.
pub struct Zstd {
    pipe: BufWriter<PipeWriter>,
    thread: JoinHandle<io::Result<()>>,
}

impl Zstd {
    fn new(file: BufWriter<File>) -> io::Result<Zstd> {
        let (source, pipe) = io::pipe()?;
        let thread = thread::Builder::new().spawn(move || {
            let mut drain = Drain { file, failed: None };
            compress(Source(source), &mut drain, CompressionLevel::Fastest);
            drain.failed.map_or(Ok(()), Err)?;
            drain.file.flush()
        })?;
        Ok(Zstd { pipe: BufWriter::with_capacity(1 << 16, pipe), thread })
    }

    fn finish(self) -> io::Result<()> {
        let Zstd { pipe, thread } = self;
        let written = pipe.into_inner().map(drop).map_err(io::IntoInnerError::into_error);
        let stopped = || Err(io::Error::other("the compressor stopped"));
        // If both fail, return the error of the thread: it caused the error of the pipe.
        thread.join().unwrap_or_else(|_| stopped()).and(written)
    }
}

/// The input of the compressor: the read end of the pipe. The compressor cannot handle errors, so
/// an error of the pipe ends the input.
struct Source(PipeReader);

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return Ok(other.unwrap_or(0)),
            }
        }
    }
}

/// The output of the compressor. The compressor cannot handle errors, so the first error is
/// recorded here.
struct Drain {
    file: BufWriter<File>,
    failed: Option<io::Error>,
}

impl Write for Drain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            self.failed = self.file.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Creates a file. The suffixes `.gz`, `.xz` and `.zst` select a compression.
    pub fn create(path: &Path) -> Result<Output, Error> {
        let cannot = |error: &dyn std::fmt::Display| {
            bad_input(format!("cannot create {}: {error}", path.display()))
        };
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or("");
        let file =
            BufWriter::with_capacity(1 << 16, File::create(path).map_err(|error| cannot(&error))?);
        Ok(match suffix {
            "gz" => Output::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            "xz" => {
                let writer = XzWriter::new(file, XzOptions::with_preset(XZ_PRESET));
                Output::Xz(Box::new(writer.map_err(|error| cannot(&error))?))
            }
            "zst" => Output::Zstd(Zstd::new(file).map_err(|error| cannot(&error))?),
            _ => Output::Plain(file),
        })
    }

    /// Writes the remaining data and closes the file.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file,
            Output::Gzip(encoder) => encoder.finish()?,
            Output::Xz(writer) => writer.finish()?,
            Output::Zstd(zstd) => return zstd.finish(),
        }
        .flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(file) => file.write(bytes),
            Output::Gzip(encoder) => encoder.write(bytes),
            Output::Xz(writer) => writer.write(bytes),
            Output::Zstd(zstd) => zstd.pipe.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file.flush(),
            Output::Gzip(encoder) => encoder.flush(),
            Output::Xz(writer) => writer.flush(),
            Output::Zstd(zstd) => zstd.pipe.flush(),
        }
    }
}
