//! Cases of the decoder: `cases/decode/NAME.hex` holds a batch and what it points to, `NAME.txt` the text.
//!
//! The first line of a case says engine and address; then dwords in hexadecimal, `#` begins a comment. To write the
//! expected text of a new case anew, run with `GENXML_BLESS=1` and read what changed.

use genxml::decode::{self, Options};
use genxml::engine::EngineId;
use std::fs;
use std::path::Path;

#[test]
fn every_case_reads_as_expected() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/decode");
    let mut cases: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "hex"));
    assert!(!cases.is_empty());
    for path in cases {
        let source = fs::read_to_string(&path).unwrap();
        let words: Vec<&str> =
            source.lines().flat_map(|line| line.split('#').next().unwrap().split_whitespace()).collect();
        let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        let engine: EngineId = words[0].parse().unwrap();
        let dwords: Vec<u32> = words[2..].iter().map(|word| hex(word) as u32).collect();
        let mut out = Vec::new();
        decode::raw(engine, hex(words[1]), &dwords, &Options::default(), &mut out).unwrap();
        let found = String::from_utf8(out).unwrap();
        let expected = path.with_extension("txt");
        if std::env::var_os("GENXML_BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        assert!(found == wanted, "{} differs, found:\n{found}", expected.display());
    }
}
