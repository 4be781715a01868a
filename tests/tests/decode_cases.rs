//! Cases of the decoder: `cases/decode/NAME.hex` holds a batch and what it points to; `NAME.txt`, `NAME.json` and
//! `NAME.html` hold what the decoder says of it; of a page the data in it.
//!
//! The first line of a case says engine and address of the batch; then dwords in hexadecimal. `@ADDRESS SIZE` begins a
//! buffer of so many bytes, zero where no dwords are given; `#` begins a comment. To write the expected output of a new
//! case anew, run with `GENXML_BLESS=1` and read what changed.

use genxml::batch::{Buffer, Submission};
use genxml::decode::{Decoder, Format, Options, Tables};
use genxml::dump::Dump;
use std::fs;
use std::path::Path;

/// The submission that a case describes; its buffers are pages.
fn submission(name: &str, source: &str) -> Submission {
    let words: Vec<&str> =
        source.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace()).collect();
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let mut words = words.into_iter();
    let engine = words.next().unwrap().parse().unwrap();
    let batch_address = hex(words.next().unwrap());
    let mut pieces: Vec<(u64, Vec<u8>)> = vec![(batch_address, Vec::new())];
    let mut sizes = vec![0];
    while let Some(word) = words.next() {
        match word.strip_prefix('@') {
            Some(address) => {
                pieces.push((hex(address), Vec::new()));
                sizes.push(hex(words.next().unwrap()) as usize);
            }
            None => pieces.last_mut().unwrap().1.extend((hex(word) as u32).to_le_bytes()),
        }
    }
    let batch_length = pieces[0].1.len() as u64;
    let mut buffers: Vec<Buffer> = Vec::new();
    for ((address, bytes), size) in pieces.into_iter().zip(sizes) {
        // Buffers begin with a page; pieces on the pages of the one before belong to it.
        let fits = |buffer: &&mut Buffer| {
            let offset = address.wrapping_sub(buffer.address()) as usize;
            offset.checked_add(bytes.len().max(size)).is_some_and(|end| end <= buffer.bytes().len())
        };
        if let Some(buffer) = buffers.iter_mut().find(fits) {
            let offset = (address - buffer.address()) as usize;
            buffer.bytes_mut()[offset..offset + bytes.len()].copy_from_slice(&bytes);
            continue;
        }
        let pages = bytes.len().max(size).next_multiple_of(4096);
        let mut buffer = Buffer::new(name, address, pages).unwrap();
        buffer.bytes_mut()[..bytes.len()].copy_from_slice(&bytes);
        buffers.push(buffer);
    }
    Submission { engine, batch_address, batch_length, buffers }
}

/// Of a page the data, which begin with their first script; the rest is the same in every page.
fn contents(output: &str) -> &str {
    output.find("<script type=\"application/json\"").map_or(output, |at| &output[at..])
}

#[test]
fn every_case_reads_as_expected() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/decode");
    let mut cases: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "hex"));
    assert!(!cases.is_empty());
    cases.sort();
    let mut different = Vec::new();
    for path in cases {
        let source = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for (format, extension) in [(Format::Text, "txt"), (Format::Json, "json"), (Format::Html, "html")] {
            let options = Options { format, ..Options::default() };
            let mut out = Vec::new();
            let mut dump = Dump::from(submission(&name, &source));
            Decoder::new(Tables::gen8(), options).dump(&mut dump, &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            let found = contents(&out);
            let expected = path.with_extension(extension);
            if std::env::var_os("GENXML_BLESS").is_some() {
                fs::write(&expected, found).unwrap();
            }
            if fs::read_to_string(&expected).unwrap_or_default() != found {
                different.push(format!("{} differs, found:\n{found}", expected.display()));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
