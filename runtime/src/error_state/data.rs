//! Memory as text: dwords in base 85, with or without compression by deflate.
//!
//! A zero dword is `z`; any other is five base-85 digits, the most significant first, `!` for 0 to
//! `u` for 84. (Linux `include/linux/ascii85.h`.) Compressed data are a zlib stream, padded with
//! zeros to a whole dword.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::io::{self, Write};

/// Number of decoded bytes that are collected before they are stored or inflated, and of characters
/// that are collected before they are written.
const CHUNK: usize = 4096;

/// Decodes base-85 characters to bytes, and inflates the bytes if they are compressed.
pub(crate) struct Decoder {
    out: Vec<u8>,
    /// Largest size of `out`.
    limit: usize,
    inflate: Option<Decompress>,
    /// True if the zlib stream is at its end or is damaged.
    ended: bool,
    chunk: Vec<u8>,
    value: u64,
    digits: u32,
    characters: u64,
    /// True if further characters are ignored.
    stopped: bool,
    problem: Option<Trouble>,
}

/// An error in the characters of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// What is wrong.
    pub text: String,
    /// Number of the character of the data, from 1.
    pub character: u64,
}

impl Decoder {
    /// A decoder for at most `limit` bytes.
    pub fn new(deflated: bool, limit: usize) -> Self {
        Decoder {
            out: Vec::new(),
            limit,
            inflate: deflated.then(|| Decompress::new(true)),
            ended: false,
            chunk: Vec::with_capacity(CHUNK),
            value: 0,
            digits: 0,
            characters: 0,
            stopped: false,
            problem: None,
        }
    }

    /// Decodes the next characters. Returns false if further characters would be ignored.
    pub fn feed(&mut self, characters: &[u8]) -> bool {
        for &character in characters {
            if self.stopped {
                return false;
            }
            self.characters += 1;
            match character {
                b'z' if self.digits == 0 => self.dword(0),
                b'!'..=b'u' => {
                    self.value = self.value * 85 + u64::from(character - b'!');
                    self.digits += 1;
                    if self.digits == 5 {
                        let value = self.value;
                        (self.value, self.digits) = (0, 0);
                        if value > u64::from(u32::MAX) {
                            self.trouble(format_args!(
                                "five characters stand for more than 32 bits"
                            ));
                        }
                        self.dword(value as u32);
                    }
                }
                b' ' | b'\t' | b'\r' if self.digits == 0 => {}
                _ => {
                    let shown = char::from(character).escape_default();
                    self.trouble(format_args!("`{shown}` is not a character of data"));
                    self.stopped = true;
                }
            }
        }
        !self.stopped
    }

    /// Returns the decoded bytes, and the first error if there was one.
    pub fn finish(mut self) -> (Vec<u8>, Option<Trouble>) {
        if self.digits != 0 && self.problem.is_none() {
            self.trouble(format_args!("the data end in the middle of a dword"));
        }
        self.flush();
        if self.inflate.is_some() && !self.ended && self.out.len() < self.limit {
            let length = self.out.len();
            self.trouble(format_args!(
                "the compressed data end early; {length} bytes came out of them"
            ));
        }
        (self.out, self.problem)
    }

    fn trouble(&mut self, what: std::fmt::Arguments<'_>) {
        if self.problem.is_none() {
            let character = self.characters;
            let text = format!("{what} (character {character} of the data)");
            self.problem = Some(Trouble { text, character });
        }
    }

    #[inline]
    fn dword(&mut self, value: u32) {
        self.chunk.extend_from_slice(&value.to_le_bytes());
        if self.chunk.len() >= CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        match self.inflate.take() {
            None => {
                let room = self.limit - self.out.len();
                self.out.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    self.full();
                }
            }
            Some(mut inflate) => {
                self.inflate(&mut inflate, &chunk);
                self.inflate = Some(inflate);
            }
        }
        self.chunk = chunk;
        self.chunk.clear();
    }

    fn inflate(&mut self, inflate: &mut Decompress, mut input: &[u8]) {
        let mut piece = [0; 4 * CHUNK];
        while !self.ended && !self.stopped {
            let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(input, &mut piece, FlushDecompress::Sync);
            let taken = (inflate.total_in() - before_in) as usize;
            let given = (inflate.total_out() - before_out) as usize;
            input = &input[taken.min(input.len())..];
            let room = self.limit - self.out.len();
            self.out.extend_from_slice(&piece[..given.min(room)]);
            if given > room {
                return self.full();
            }
            match status {
                Ok(Status::StreamEnd) => self.ended = true,
                Ok(_) if taken == 0 && given == 0 => return,
                Ok(_) => {}
                Err(error) => {
                    let length = self.out.len();
                    self.trouble(format_args!(
                        "the compressed data are damaged ({error}); {length} bytes came out of them"
                    ));
                    (self.ended, self.stopped) = (true, true);
                }
            }
        }
    }

    fn full(&mut self) {
        self.stopped = true;
        let limit = self.limit;
        self.trouble(format_args!("cut at {limit} bytes: there is too much memory in the file"));
    }
}

/// Writes dwords in base 85, as one line without its end. The last dword is padded with zeros.
pub(crate) fn encode(data: &[u8], out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(CHUNK + 8);
    for bytes in data.chunks(4) {
        let mut dword = [0; 4];
        dword[..bytes.len()].copy_from_slice(bytes);
        let mut value = u32::from_le_bytes(dword);
        if value == 0 {
            text.push(b'z');
        } else {
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = b'!' + (value % 85) as u8;
                value /= 85;
            }
            text.extend_from_slice(&digits);
        }
        if text.len() >= CHUNK {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// Compresses as the kernel does: a zlib stream at the default level.
pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::default(), true);
    let mut out = Vec::with_capacity(data.len() / 8 + 64);
    loop {
        out.reserve(CHUNK);
        let rest = &data[compress.total_in() as usize..];
        match compress.compress_vec(rest, &mut out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) | Err(_) => return out,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(deflated: bool, text: &[u8]) -> (Vec<u8>, Option<String>) {
        let mut decoder = Decoder::new(deflated, 1 << 20);
        for piece in text.chunks(3) {
            decoder.feed(piece);
        }
        let (bytes, problem) = decoder.finish();
        (bytes, problem.map(|problem| problem.text))
    }

    /// Oracle: digits calculated by hand, by the rules of Linux `include/linux/ascii85.h`.
    #[test]
    fn dwords_are_five_digits() {
        let mut text = Vec::new();
        encode(&[0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 85, 0, 0, 0], &mut text).unwrap();
        // 0xffffffff = 82·85⁴ + 23·85³ + 54·85² + 12·85 + 0
        assert_eq!(text, b"z!!!!\"s8W-!!!!\"!");
        let (bytes, problem) = decoded(false, &text);
        assert_eq!(bytes, [0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 85, 0, 0, 0]);
        assert_eq!(problem, None);
    }

    #[test]
    fn deflated_data_come_back() {
        let data: Vec<u8> = (0..200_000u32).flat_map(|i| (i / 7 * 31).to_le_bytes()).collect();
        let mut text = Vec::new();
        encode(&deflate(&data), &mut text).unwrap();
        assert!(text.len() < data.len());
        let (bytes, problem) = decoded(true, &text);
        assert!(bytes == data && problem.is_none(), "{problem:?}");
    }

    #[test]
    fn damage_is_reported_and_the_rest_is_read() {
        let data = [7u8; 5000];
        let mut text = Vec::new();
        encode(&data, &mut text).unwrap();
        let (bytes, problem) = decoded(false, &text[..text.len() - 2]);
        assert_eq!(bytes, data[..4996]);
        assert!(problem.unwrap().contains("in the middle of a dword"));
        text[20] = b'{';
        let (bytes, problem) = decoded(false, &text);
        assert_eq!(bytes, data[..16]);
        assert!(
            problem.unwrap().contains("`{` is not a character of data"),
            "the error must quote the illegal character"
        );
        let (_, problem) = decoded(false, b"uuuuu");
        assert!(problem.unwrap().contains("more than 32 bits"));

        let mut text = Vec::new();
        encode(&deflate(&(0..50_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>()), &mut text)
            .unwrap();
        let (bytes, problem) = decoded(true, &text[..text.len() / 2]);
        assert!(bytes.len() > 1000 && problem.unwrap().contains("end early"));
    }

    #[test]
    fn memory_is_bounded() {
        let mut text = Vec::new();
        encode(&deflate(&vec![0; 8 << 20]), &mut text).unwrap();
        let mut decoder = Decoder::new(true, 1 << 20);
        decoder.feed(&text);
        let (bytes, problem) = decoder.finish();
        assert_eq!(bytes.len(), 1 << 20);
        assert!(problem.unwrap().text.contains("too much memory"));
    }
}
