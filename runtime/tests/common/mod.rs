//! Shared by the tests of this crate.
#![allow(dead_code)]

use std::path::PathBuf;

/// The folder of real captures, if it is there: `GENXML_CORPUS`, or `../shared/corpus` beside the
/// project.
pub fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("GENXML_CORPUS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus")),
        PathBuf::from,
    );
    if path.is_dir() {
        return Some(path);
    }
    assert!(
        std::env::var_os("GENXML_CORPUS").is_none(),
        "GENXML_CORPUS: no folder {}",
        path.display()
    );
    eprintln!("skipped: no corpus at {} (set GENXML_CORPUS)", path.display());
    None
}

/// Every capture directory of the corpus, by name; empty if there is no corpus.
pub fn captures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["images", "drivers"] {
        let Some(corpus) = corpus() else { break };
        let entries =
            std::fs::read_dir(corpus.join(folder)).expect("a corpus has images and drivers");
        found.extend(entries.map(|entry| entry.expect("readable").path()));
    }
    found.sort();
    found
}
