//! Generates `gen8` from the EU's part of the specification.

use std::path::Path;

fn main() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec-xml/gen8");
    println!("cargo:rerun-if-changed={}", dir.display());
    let mut files: Vec<_> =
        std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| is_eu(path));
    files.sort();
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(report) = genxml_codegen::build(&files, Path::new(&out)) {
        eprintln!("{report}");
        std::process::exit(1);
    }
}

/// `eu.xml`, `eu_*.xml`, and the messages that EU threads send. genxml shows the latter beside its own units.
fn is_eu(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let ours =
        ["eu", "messages", "message_headers", "descriptors"].contains(&stem) || stem.starts_with("eu_");
    path.extension().is_some_and(|extension| extension == "xml") && ours
}
