//! Text pasted from bug reports: every damage that programs do to it, and the other accepted texts.
//!
//! Oracle: the clean text of the same dump. What a damaged text decodes to must be the same.

mod accepted;
mod damage;
mod mutations;

use genxml::decode::{Decoder, Options, Tables};
use genxml::dump::{Dump, DumpError, How};
use genxml::error_state::{BufferKind, Crash, CrashBuffer, ErrorState, Spelling, write};
use genxml_testkit::Random;
use std::io::{Cursor, Read as _};
use std::path::PathBuf;

/// Opens bytes as a dump.
fn open(bytes: &[u8]) -> Result<Dump, DumpError> {
    Dump::read("pasted", Cursor::new(bytes.to_vec()), &How::default())
}

/// Everything that a dump decodes to: the summary of the hang, all packets, and the rest.
fn decoded(dump: &mut Dump) -> String {
    let mut out =
        dump.hang(Tables::gen8()).map(|hang| hang.to_string()).unwrap_or_default().into_bytes();
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    decoder.dump(dump, &mut out).unwrap();
    let state = dump.error_state().or(dump.devcoredump().map(|dump| &dump.state));
    for line in state.map(ErrorState::details).unwrap_or_default() {
        out.extend(line.as_bytes());
        out.push(b'\n');
    }
    String::from_utf8(out).unwrap()
}

/// The notes of a dump as one text.
fn notes(dump: &Dump) -> String {
    dump.notes().iter().map(|note| format!("{note}\n")).collect()
}

/// Error states that the library writes, and a device coredump: a name and the text.
fn own() -> Vec<(String, String)> {
    let mut random = Random::new(5);
    let mut batch = vec![0x7a00_0004u32, 0x0010_0000, 0, 0, 0, 0, 0x1100_0001, 0x2580, 0x0004_0004];
    batch.push(0x0500_0000);
    batch.resize(1024, 0);
    let batch: Vec<u8> = batch.into_iter().flat_map(u32::to_le_bytes).collect();
    // Random bytes do not compress: their text is longer than any line of a mail.
    let noise = random.bytes(4096);
    let crash = Crash {
        reason: "hang",
        process: Some(("deqp-vk with a rather long name", 4711)),
        batch: 0xffff_0000_0000,
        buffers: vec![
            CrashBuffer { kind: BufferKind::User, address: 0x20_0000, data: &noise },
            CrashBuffer { kind: BufferKind::Batch, address: 0xffff_0000_0000, data: &batch },
        ],
        acthd: Some(0xffff_0000_0018),
        ipehr: Some(0x1100_0001),
        registers: vec![("INSTDONE", 0xffff_fff7), ("hung", 1), ("CTL", 1)],
        ..Crash::default()
    };
    let mut state = crash.error_state();
    state.header[0].value =
        "ecode 8:0:0x85dffffb, in deqp-vk with a rather long name [4711], reason: Hang on rcs0, \
         action: reset"
            .to_owned();
    let spellings = [
        Spelling::Linux3_14,
        Spelling::Linux4_4,
        Spelling::Linux4_10,
        Spelling::Linux5_4,
        Spelling::Linux6_1,
        Spelling::Linux6_1Plain,
    ];
    let mut dumps: Vec<(String, String)> = spellings
        .into_iter()
        .map(|spelling| {
            let mut text = Vec::new();
            write(&state, spelling, &mut text).unwrap();
            (format!("Linux {spelling}"), String::from_utf8(text).unwrap())
        })
        .collect();
    dumps.push(("xe".to_owned(), crate::devcoredump::dump(false)));
    dumps
}

/// The folder of dumps in the corpus.
fn dumps() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let root = std::env::var("GENXML_CORPUS").unwrap_or_else(|_| default.to_owned());
    PathBuf::from(root).join("dumps")
}

/// The text of a compressed file of the corpus; `None` without the corpus.
fn corpus_text(file: &str) -> Option<String> {
    let path = dumps().join(file);
    if !path.is_file() {
        eprintln!("skipped: no {}", path.display());
        return None;
    }
    let mut text = String::new();
    genxml::aub::decompressed(&path).unwrap().read_to_string(&mut text).unwrap();
    Some(text)
}

/// The files of the corpus that are clean texts, with their names.
fn corpus() -> Vec<(String, String)> {
    let folder = dumps().join("pasted");
    let mut files: Vec<PathBuf> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => {
            eprintln!("skipped: no pasted dumps at {}", folder.display());
            return Vec::new();
        }
    };
    files.sort();
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    let clean = files.iter().filter(|file| !name(file).starts_with("dmesg"));
    clean.map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}
