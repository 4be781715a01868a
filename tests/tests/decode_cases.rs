//! Tests of the decoder with input files. `cases/decode/NAME.hex` has a batch and the memory that
//! it uses, or a file. `NAME.error` is an error state, written by hand as Linux 4.4 prints it.
//! `NAME.txt`, `NAME.json` and `NAME.html` have the output of `genx decode` (for HTML only the data
//! of the page).
//!
//! The first line of a `.hex` case has the engine and the address of the batch; dwords in
//! hexadecimal follow. `@ADDRESS SIZE` starts a buffer of SIZE bytes, which is zero after the given
//! dwords. `#` starts a comment. If the first line is `file`, the dwords are those of a file in a
//! format that the reader detects. To write the expected output again, run with `GENXML_BLESS=1`
//! and read the difference.
//!
//! The expected output was checked line by line: name and bits of each field against the row of the
//! manual's table, its value against the bits of the input, and names of values against the list of
//! the table (commands and registers that the manuals lack: against drivers).

use genxml::batch::{Buffer, Submission};
use genxml::decode::{Decoder, Format, Options, Sink, Tables};
use genxml::dump::{Dump, How};
use genxml::html::{HtmlWriter, Page};
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// Opens the input of a case like a user's file.
fn dump(name: &str, path: &Path) -> Dump {
    if path.extension().is_some_and(|extension| extension == "error") {
        return Dump::open(path, &How::default()).unwrap();
    }
    let source = fs::read_to_string(path).unwrap();
    let words: Vec<&str> = source
        .lines()
        .flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace())
        .collect();
    match &words[..] {
        ["file", words @ ..] => {
            let bytes: Vec<u8> =
                words.iter().flat_map(|word| (hex(word) as u32).to_le_bytes()).collect();
            Dump::read(name, Cursor::new(bytes), &How::default()).unwrap()
        }
        _ => Dump::from(submission(name, &words)),
    }
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// The submission of a case. Its buffers are whole pages.
fn submission(name: &str, words: &[&str]) -> Submission {
    let mut words = words.iter();
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
        // Buffers start at a page. A piece that lies inside an earlier buffer becomes part of that
        // buffer.
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

/// The output of `genx decode`: for a hang the summary first, then every submission, then the
/// remarks about the file.
fn decoded(dump: &mut Dump, name: &str, extension: &str) -> String {
    let hang = dump.hang(Tables::gen8()).map(|hang| hang.to_string()).unwrap_or_default();
    let mut out = Vec::new();
    let format = if extension == "json" { Format::Json } else { Format::Text };
    let decoder = Decoder::new(Tables::gen8(), Options { format, ..Options::default() });
    match extension {
        "html" => {
            let mut page = HtmlWriter::new(&mut out, Page { input: name.to_owned(), hang });
            decoder.submissions(dump, &mut page).unwrap();
            dump.notes().iter().for_each(|note| page.remark(&note.to_string()));
            page.finish().unwrap();
        }
        "txt" => {
            out.extend(hang.bytes());
            decoder.dump(dump, &mut out).unwrap();
            out.extend(dump.notes().iter().flat_map(|note| format!("{note}\n").into_bytes()));
        }
        _ => _ = decoder.dump(dump, &mut out).unwrap(),
    }
    String::from_utf8(out).unwrap()
}

/// The data of an HTML page, from its first script on; the rest is the same in every page.
fn contents(output: &str) -> &str {
    output.find("<script type=\"application/json\"").map_or(output, |at| &output[at..])
}

#[test]
fn every_case_reads_as_expected() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/decode");
    let mut cases: Vec<_> =
        fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| {
        path.extension().is_some_and(|extension| extension == "hex" || extension == "error")
    });
    assert!(cases.len() >= 7);
    cases.sort();
    let mut different = Vec::new();
    for path in cases {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for extension in ["txt", "json", "html"] {
            let out = decoded(&mut dump(&name, &path), &name, extension);
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
