//! The tests of a crate are modules of one program, `tests/main.rs`. A file that no program has as
//! a module would not be compiled, and its tests would not run.

use std::fs;
use std::path::Path;

/// Folders with a `main.rs` of tests, and the manifest that lists further programs.
const PROGRAMS: [(&str, &str); 6] = [
    ("cli/tests", "cli/Cargo.toml"),
    ("codegen/tests", "codegen/Cargo.toml"),
    ("runtime/tests", "runtime/Cargo.toml"),
    ("runtime/eu/tests", "runtime/eu/Cargo.toml"),
    ("sim/tests", "sim/Cargo.toml"),
    ("tests/tests", "tests/Cargo.toml"),
];

#[test]
fn every_file_of_tests_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missing = Vec::new();
    for (folder, manifest) in PROGRAMS {
        let main = fs::read_to_string(root.join(folder).join("main.rs")).unwrap();
        let manifest = fs::read_to_string(root.join(manifest)).unwrap();
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let module =
                path.join("mod.rs").exists() || path.extension().is_some_and(|e| e == "rs");
            let compiled = name == "main"
                || main.contains(&format!("mod {name};\n"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            if module && !compiled {
                missing.push(format!("{folder}/{name}: add `mod {name};` to {folder}/main.rs"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
