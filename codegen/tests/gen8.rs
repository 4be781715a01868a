//! The project's own specification loads and passes all checks, including that of its index.

use std::path::Path;

use genxml_codegen::load;

/// The index is compared too. After a deliberate change, run
/// `genx spec check --bless spec-xml/gen8` and read the difference.
#[test]
fn gen8_has_no_errors() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-xml/gen8");
    let loaded = load::read_dir(&dir);
    assert_eq!(loaded.indexes.len(), 1, "the folder has an index");
    let report = loaded.report();
    assert_eq!(report.errors(), 0, "{report}");
}

/// The example at the top of SCHEMA.md is a valid specification.
#[test]
fn the_documented_example_is_valid() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-xml/SCHEMA.md");
    let schema = std::fs::read_to_string(schema).unwrap();
    let lines = schema.lines().skip_while(|line| !line.starts_with("    <genxml"));
    let example: Vec<&str> = lines.take_while(|line| line.starts_with("    ")).collect();
    assert!(example.len() > 10);
    let report = load::read_texts(&[("example.xml", &example.join("\n"))]).report();
    assert!(report.diagnostics.is_empty(), "{report}");
}
