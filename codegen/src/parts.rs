//! Divides the files of the specification among the crates that generate code from them.

use std::path::{Path, PathBuf};

use crate::generate;

/// A crate that generates code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// genxml-eu: instruction formats (`eu.xml`, `eu_*.xml`), and the messages that EU threads send
    /// with their descriptors, headers and payloads. genxml-gen8 re-exports the messages with its
    /// own units.
    Eu,
    /// genxml-gen8 and genxml-other: everything else.
    Runtime,
    /// genxml-gen45: all files.
    Whole,
    /// The files of these names, without `.xml`: parts of G45 that genxml-eu and genxml-other
    /// need too.
    Files(&'static [&'static str]),
}

impl Part {
    /// True if the file belongs to this part.
    fn has(self, path: &Path) -> bool {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let messages =
            ["messages", "message_headers", "message_payloads", "descriptors"].contains(&stem);
        let eu = stem == "eu" || stem.starts_with("eu_") || messages;
        match self {
            Part::Eu => eu,
            Part::Runtime => !eu,
            Part::Whole => true,
            Part::Files(names) => names.contains(&stem),
        }
    }

    /// The `.xml` files of this part in `dir`, in order of their names. Empty if the folder cannot
    /// be read.
    pub fn files(self, dir: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.retain(|path| {
            path.extension().is_some_and(|extension| extension == "xml") && self.has(path)
        });
        files.sort();
        files
    }
}

/// The whole build script of a crate: generates the code of one part of the specification in
/// `dir`, a path relative to the crate. If `dir` does not exist, the specification is in the folder
/// of the same name in `spec-xml`, the copy in a published package. An error in the specification
/// ends the process with the report on stderr.
pub fn build_script(part: Part, dir: &str) {
    build(part, dir, "", &|feature| {
        let name = feature.to_ascii_uppercase().replace('-', "_");
        std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
    });
}

/// Does the same as [`build_script`], but writes to the folder `module` in the crate's output
/// folder. For a crate that generates from two specifications. Without `types`, there are only
/// tables; the features of the crate do not matter.
pub fn build_module(part: Part, dir: &str, module: &str, types: bool) {
    build(part, dir, module, &|_| types);
}

fn build(part: Part, dir: &str, module: &str, enabled: &dyn Fn(&str) -> bool) {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&root);
    let in_tree = root.join(dir);
    let packaged = root.join("spec-xml").join(in_tree.file_name().unwrap_or_default());
    let dir = if in_tree.is_dir() { in_tree } else { packaged };
    println!("cargo:rerun-if-changed={}", dir.display());
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    let out = Path::new(&out).join(module);
    if let Err(report) = generate::build(&part.files(&dir), enabled, &out) {
        eprintln!("{report}");
        std::process::exit(1);
    }
}
