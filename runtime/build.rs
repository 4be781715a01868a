//! Generates `gen8` from all of the specification but the EU's part, which genxml-eu has.

use std::path::Path;

fn main() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-xml/gen8");
    println!("cargo:rerun-if-changed={}", dir.display());
    let mut files: Vec<_> =
        std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| is_ours(path));
    files.sort();
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(report) = genxml_codegen::build(&files, Path::new(&out)) {
        eprintln!("{report}");
        std::process::exit(1);
    }
}

/// Every `.xml` but those that genxml-eu generates.
fn is_ours(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let theirs =
        ["eu", "messages", "message_headers", "descriptors"].contains(&stem) || stem.starts_with("eu_");
    path.extension().is_some_and(|extension| extension == "xml") && !theirs
}
