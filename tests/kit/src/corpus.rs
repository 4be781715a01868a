//! The corpus: real captures and kernels, in `../shared/corpus` or in the folder that
//! `GENXML_CORPUS` names. Tests that need it are skipped if it does not exist.

use std::path::{Path, PathBuf};

/// The folder of the corpus if it is there: `GENXML_CORPUS`, or `../shared/corpus` beside the
/// project.
///
/// # Panics
/// If `GENXML_CORPUS` names a folder that does not exist.
pub fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("GENXML_CORPUS").map(PathBuf::from);
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let path = named.clone().unwrap_or_else(|| PathBuf::from(beside));
    if path.is_dir() {
        return Some(path);
    }
    assert!(named.is_none(), "GENXML_CORPUS: no folder {}", path.display());
    eprintln!("skipped: no corpus at {} (set GENXML_CORPUS)", path.display());
    None
}

/// Every capture directory of the corpus, by name; empty if there is no corpus.
///
/// # Panics
/// If the corpus lacks the folders of captures.
pub fn captures() -> Vec<PathBuf> {
    let Some(corpus) = folder() else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        ["images", "drivers"].iter().flat_map(|name| entries(&corpus.join(name))).collect();
    found.sort();
    found
}

/// Path and bytes of every kernel of the corpus, by name.
///
/// # Panics
/// If the corpus lacks the folder of kernels.
pub fn kernels(corpus: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let folders = entries(&corpus.join("eu/kernels"));
    let files = folders.iter().flat_map(|folder| entries(folder));
    let mut kernels: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| (path.clone(), read(&path)))
        .collect();
    kernels.sort();
    kernels
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("corpus: {}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a readable folder").path()).collect()
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("corpus: {}: {error}", path.display()))
}
