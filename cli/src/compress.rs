//! Files that are compressed as their names say.

use crate::output::{Error, bad_input};
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How hard xz works, 0 to 9; what the program itself does.
const XZ_PRESET: u32 = 6;

/// A file being written.
pub enum Output {
    /// As it is.
    Plain(BufWriter<File>),
    /// By gzip.
    Gzip(GzEncoder<BufWriter<File>>),
    /// By xz.
    Xz(Box<XzWriter<BufWriter<File>>>),
}

impl Output {
    /// Makes a file; names that end in `.gz` and `.xz` are compressed.
    pub fn create(path: &Path) -> Result<Output, Error> {
        let cannot =
            |error: &dyn std::fmt::Display| bad_input(format!("cannot create {}: {error}", path.display()));
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or("");
        if suffix == "zst" {
            return Err(cannot(&"zstd is read but not written; use .xz or .gz"));
        }
        let file = BufWriter::with_capacity(1 << 16, File::create(path).map_err(|error| cannot(&error))?);
        Ok(match suffix {
            "gz" => Output::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            "xz" => {
                let writer = XzWriter::new(file, XzOptions::with_preset(XZ_PRESET));
                Output::Xz(Box::new(writer.map_err(|error| cannot(&error))?))
            }
            _ => Output::Plain(file),
        })
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file,
            Output::Gzip(encoder) => encoder.finish()?,
            Output::Xz(writer) => writer.finish()?,
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
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(file) => file.flush(),
            Output::Gzip(encoder) => encoder.flush(),
            Output::Xz(writer) => writer.flush(),
        }
    }
}
