//! From genxml files to a checked model to Rust text.
//!
//! Reading order: [`load`] makes a [`model::Spec`] of XML, [`check`] proves it, [`emit`] writes
//! Rust. Problems are [`diagnostic::Diagnostic`]s, collected and shown all at once; [`list()`] and
//! [`show()`] print tables for people. Nothing here touches files but the functions of this page
//! and of [`load`]. The schema is documented in `spec-xml/SCHEMA.md`.

pub mod check;
mod convert;
pub mod diagnostic;
mod embedded;
pub mod emit;
pub mod expr;
mod field;
pub mod index;
pub mod list;
pub mod load;
pub mod model;
pub mod parts;
pub mod show;
pub mod suggest;
mod value;
mod xml;

pub use diagnostic::{Diagnostic, Report};
pub use embedded::GEN8;
pub use list::list;
pub use load::{load_dir, load_files, load_texts};
pub use show::{show, show_colored};

use std::path::{Path, PathBuf};

/// What a build script does: loads the files, checks them, and writes the Rust text of their tables
/// to `out_dir`. Prints the lines that make cargo run it again when a file changes. Warnings do not
/// fail a build; errors come back as one report, whose `Display` shows them all. `enabled` says
/// which features of the crate are on: a unit whose feature is off has tables only.
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

/// Writes generated files to a folder, leaving those alone that hold the same text already.
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
            Report::new(vec![Diagnostic::general(diagnostic::Code::Io, message)], Vec::new())
        })?;
    }
    Ok(())
}
