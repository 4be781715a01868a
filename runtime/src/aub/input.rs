//! Compressed input, detected by its first bytes.

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// Largest memory in bytes for decompressing xz: `xz -9` needs 65 MiB. (gzip needs 32 KiB, and the
/// zstd decoder limits its window itself.)
pub const MAX_DICTIONARY: u32 = 512 << 20;

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Not compressed.
    None,
    /// gzip.
    Gzip,
    /// xz.
    Xz,
    /// zstd.
    Zstd,
}

impl Compression {
    /// Detects the compression from the first bytes of a file.
    fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "uncompressed",
            Compression::Gzip => "gzip",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        })
    }
}

/// Why compressed data cannot be decompressed further. It is the inner error of the
/// [`io::Error`] that the reader returns.
#[derive(thiserror::Error)]
pub enum DecompressError {
    /// The compressed data ends early.
    #[error(
        "the {compression} data is truncated: the file ends after {compressed} bytes, which hold \
         the first {contents} bytes of the contents; copy or record the file again"
    )]
    Truncated {
        /// How the file is compressed.
        compression: Compression,
        /// Bytes of the compressed file.
        compressed: u64,
        /// Bytes that they decompress to.
        contents: u64,
    },
    /// The compressed data is damaged, or cannot be read.
    #[error(
        "the {compression} data cannot be decompressed at byte {compressed} of the file, after \
         {contents} bytes of the contents: {source}; copy or record the file again"
    )]
    Damaged {
        /// How the file is compressed.
        compression: Compression,
        /// Bytes of the compressed file that were read before the error.
        compressed: u64,
        /// Bytes that they decompress to.
        contents: u64,
        /// The decompressor's error.
        source: io::Error,
    },
    /// Decompressing needs more memory than [`MAX_DICTIONARY`].
    #[error(
        "decompressing the {compression} data needs more than {MAX_DICTIONARY} bytes of memory: \
         compress the file with a smaller dictionary, for example with xz -9"
    )]
    Memory {
        /// How the file is compressed.
        compression: Compression,
    },
}

genxml_core::debug_as_display!(DecompressError);

/// The bytes of a file, decompressed if it is compressed by xz, gzip or zstd.
///
/// # Errors
/// If the file cannot be opened, or its first bytes cannot be read.
pub fn decompressed(path: &Path) -> io::Result<impl BufRead + use<>> {
    let (_, input) = decompress(Box::new(File::open(path)?))?;
    Ok(BufReader::with_capacity(1 << 16, input))
}

/// Returns the bytes of `input`, decompressed if they are compressed.
pub(crate) fn decompress<'a>(
    input: Box<dyn Read + 'a>,
) -> io::Result<(Compression, Box<dyn Read + 'a>)> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    // The first bytes may take several reads. The returned reader starts with them.
    let mut start = Vec::new();
    input.by_ref().take(6).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let state = Rc::new(InputState::default());
    let input = io::Cursor::new(start).chain(input);
    if compression == Compression::None {
        return Ok((compression, Box::new(input)));
    }
    let input = Counted { input, state: Rc::clone(&state) };
    let decoder: Box<dyn Read + 'a> = match compression {
        Compression::None => Box::new(input),
        Compression::Gzip => Box::new(MultiGzDecoder::new(input)),
        Compression::Xz => Box::new(XzReader::new_mem_limit(input, true, MAX_DICTIONARY >> 10)),
        Compression::Zstd => Box::new(ZstdFrames { input: Some(input), decoder: None }),
    };
    Ok((compression, Box::new(Decompressed { decoder, compression, state, contents: 0 })))
}

/// What was read of a compressed file.
#[derive(Default)]
struct InputState {
    /// Number of bytes that the decompressor has read.
    bytes: Cell<u64>,
    /// True if the decompressor asked for more bytes than there are.
    ended: Cell<bool>,
}

/// The compressed bytes, counted.
struct Counted<R> {
    input: R,
    state: Rc<InputState>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.input.fill_buf()?;
        if bytes.is_empty() {
            self.state.ended.set(true);
        }
        Ok(bytes)
    }

    fn consume(&mut self, count: usize) {
        self.state.bytes.set(self.state.bytes.get() + count as u64);
        self.input.consume(count);
    }
}

/// The decompressed bytes. Errors of the decompressor become [`DecompressError`]s, which have the
/// position.
struct Decompressed<'a> {
    decoder: Box<dyn Read + 'a>,
    compression: Compression,
    state: Rc<InputState>,
    /// Number of decompressed bytes that were read.
    contents: u64,
}

impl Read for Decompressed<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.decoder.read(out) {
            Ok(count) => {
                self.contents += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(source) => {
                let Decompressed { compression, contents, .. } = *self;
                let compressed = self.state.bytes.get();
                let kind = source.kind();
                let error = match kind {
                    io::ErrorKind::OutOfMemory => DecompressError::Memory { compression },
                    _ if self.state.ended.get() => {
                        DecompressError::Truncated { compression, compressed, contents }
                    }
                    _ => DecompressError::Damaged { compression, compressed, contents, source },
                };
                Err(io::Error::new(kind, error))
            }
        }
    }
}

/// All frames of a zstd file, one after the other.
struct ZstdFrames<R: BufRead> {
    /// The input after the last frame that was read; `None` while a frame is being read, at the end
    /// of the file, and after an error.
    input: Option<R>,
    decoder: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(decoder) = &mut self.decoder {
                let count = decoder.read(out)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            if let Some(decoder) = self.decoder.take() {
                let (stored, computed) = (
                    decoder.decoder.get_checksum_from_data(),
                    decoder.decoder.get_calculated_checksum(),
                );
                if let (Some(stored), Some(computed)) = (stored, computed)
                    && stored != computed
                {
                    return Err(damaged(format!(
                        "checksum {computed:#010x}, the file says {stored:#010x}"
                    )));
                }
                self.input = Some(decoder.into_inner());
            }
            let Some(mut input) = self.input.take() else { return Ok(0) };
            if input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder =
                Some(StreamingDecoder::new(input).map_err(|error| damaged(error.to_string()))?);
        }
    }
}

fn damaged(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}
