//! Generates Rust files from the files of a specification.

use std::path::{Path, PathBuf};

use crate::diagnostic::{Code, Diagnostic, Report};
use crate::{emit, load};

/// Loads the files, checks them, and writes their Rust text to `out_dir`. For build scripts.
///
/// Prints the lines that make cargo run the script again when a file changes. `enabled` returns
/// true for features of the crate that are on. A unit whose feature is off has only tables, unless
/// a unit with types uses one of its types.
///
/// # Errors
/// A report of all problems if one of them is an error, or if a file cannot be written. Warnings
/// alone are not an error.
pub fn build(
    spec_files: &[PathBuf],
    enabled: &dyn Fn(&str) -> bool,
    out_dir: &Path,
) -> Result<(), Report> {
    for path in spec_files {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let loaded = load::read_files(spec_files);
    let report = loaded.report();
    if report.errors() > 0 {
        return Err(report);
    }
    write(&emit::rust(&loaded.spec, enabled), out_dir)
}

/// Writes generated files to a folder. A file that already has the same text is not written again.
pub fn write(files: &[(String, String)], out_dir: &Path) -> Result<(), Report> {
    let write = |path: &Path, text: &str| -> std::io::Result<()> {
        if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        std::fs::create_dir_all(path.parent().unwrap_or(out_dir))?;
        std::fs::write(path, text)
    };
    for (name, text) in files {
        let path = out_dir.join(name);
        write(&path, text).map_err(|error| {
            let message = format!("cannot write {}: {error}", path.display());
            Report::new(vec![Diagnostic::general(Code::Io, message)], Vec::new())
        })?;
    }
    Ok(())
}
