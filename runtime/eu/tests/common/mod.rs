//! The corpus of real kernels, for tests that skip when it is not there.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::{Path, PathBuf};

/// The corpus: `GENXML_CORPUS`, or beside the project.
pub fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = std::env::var_os("GENXML_CORPUS").map_or(beside, PathBuf::from);
    let found = path.join("eu/kernels").is_dir();
    if !found {
        assert!(
            std::env::var_os("GENXML_CORPUS").is_none(),
            "GENXML_CORPUS: nothing at {}",
            path.display()
        );
        eprintln!("skipped: no corpus at {}", path.display());
    }
    found.then_some(path)
}

/// Kernels: path of the binary and its bytes.
pub fn kernels(corpus: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut kernels = Vec::new();
    for folder in std::fs::read_dir(corpus.join("eu/kernels")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "bin") {
                let bytes = std::fs::read(&path).unwrap();
                kernels.push((path, bytes));
            }
        }
    }
    kernels.sort();
    kernels
}

/// White space made single.
pub fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Little-endian dwords.
pub fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

/// Bytes of hexadecimal digits.
pub fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[i * 2..i * 2 + 2], 16).unwrap()).collect()
}
