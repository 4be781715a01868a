//! Embeds the project's specifications, so that the tools work without the source tree.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    embed("gen8");
    embed("gen45");
}

/// Writes the list of the files of a specification to `NAME.rs`.
fn embed(specification: &str) {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let in_tree = root.join("../spec-xml").join(specification);
    // A published package contains its own copy.
    let packaged = root.join("spec-xml").join(specification);
    let dir = if in_tree.is_dir() { in_tree } else { packaged };
    println!("cargo:rerun-if-changed={}", dir.display());
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let index = path.file_name().is_some_and(|name| name == "index.tsv");
            index || path.extension().is_some_and(|extension| extension == "xml")
        })
        .collect();
    paths.sort();
    let mut text = String::from("&[\n");
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let _ = writeln!(
            text,
            "    (\"{specification}/{name}\", include_str!({:?})),",
            path.display().to_string()
        );
    }
    text.push(']');
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    write(&out.join(format!("{specification}.rs")), &text);
}

fn write(path: &Path, text: &str) {
    if let Err(error) = std::fs::write(path, text) {
        eprintln!("cannot write {}: {error}", path.display());
        std::process::exit(1);
    }
}
