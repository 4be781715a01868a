//! The project's own specification loads and passes its checks.

use std::path::Path;

use genxml_codegen::load;

#[test]
fn gen8_has_no_errors() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-xml/gen8");
    let report = load::read_dir(&dir).report();
    assert_eq!(report.errors(), 0, "{report}");
}
