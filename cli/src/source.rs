//! The specification that a command uses: the built-in one, or files and folders of XML.

use crate::output::{Error, bad_input};
use crate::tables::{generation, gpu};
use genxml_codegen::bases;
use genxml_codegen::diagnostic::Code;
use genxml_codegen::load::{self, Dialect, Loaded};
use genxml_codegen::model::Spec;
use genxml_codegen::{self as codegen, Report, index};
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};

/// Path and text of each file of a built-in specification.
type Files = &'static [(&'static str, &'static str)];

/// Parses the value of --gen to the files of its built-in specification.
fn specification(text: &str) -> Result<Files, String> {
    match gpu(text)? {
        80 => Ok(codegen::GEN8),
        45 => Ok(codegen::GEN45),
        _ => Err("only Broadwell and G45 have a built-in specification; use --spec".to_owned()),
    }
}

/// Options of the commands that can read another specification.
#[derive(clap::Args, Debug, Default)]
pub struct Source {
    /// The GPU whose built-in specification is used: a generation (8, 4.5) or a name (broadwell,
    /// g45). Default: Broadwell
    #[arg(long, value_name = "GPU", value_parser = specification, conflicts_with = "spec")]
    pub r#gen: Option<Files>,
    /// XML files or folders to use instead of the built-in specification; Mesa's genxml files work
    #[arg(long, value_name = "PATH")]
    pub spec: Vec<PathBuf>,
    /// Read these files by Mesa's rules: gaps, overlaps and duplicates are allowed
    #[arg(long, requires = "spec")]
    pub foreign: bool,
}

impl Source {
    /// The specification.
    ///
    /// # Errors
    /// A report of the problems, if there are errors.
    pub fn load(&self) -> Result<Spec, Error> {
        let loaded = match &self.spec[..] {
            [] => load::read_texts(self.r#gen.unwrap_or(codegen::GEN8)),
            paths => load::read_files_as(&xml_files(paths)?, dialect(self.foreign)),
        };
        let mut report = loaded.report();
        // Only `genx spec check` compares the index.
        report.diagnostics.retain(|problem| problem.code != Code::Index);
        if report.errors() > 0 {
            return Err(bad_input(format!(
                "the specification cannot be used\n{}",
                render(&report)
            )));
        }
        let mut spec = loaded.spec;
        if spec.files.iter().any(|file| file.foreign) {
            let generation = generation(&spec.generation);
            bases::bind(&mut spec, generation, &built_in().spec);
        }
        Ok(spec)
    }
}

/// The specification of Broadwell, which is inside the program.
pub fn built_in() -> Loaded {
    load::read_texts(codegen::GEN8)
}

/// The rules for reading files that --foreign selects.
pub fn dialect(foreign: bool) -> Dialect {
    if foreign { Dialect::Mesa } else { Dialect::BySource }
}

/// The report, coloured if standard error is a terminal.
pub fn render(report: &Report) -> String {
    report.render(stderr().is_terminal())
}

/// The files among `paths`, and every `*.xml` of the folders among them.
pub fn xml_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(of_folder(path)?);
        } else {
            files.push(path.clone());
        }
    }
    match paths {
        [folder, ..] if files.is_empty() => {
            Err(bad_input(format!("{}: no *.xml here", folder.display())))
        }
        _ => Ok(files),
    }
}

/// The index files that exist in the folders among `paths`.
pub fn indexes(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths.iter().map(|path| path.join(index::FILE)).filter(|path| path.is_file())
}

/// The specifications in a folder: the folder itself if it contains `*.xml`, otherwise its
/// subfolders that do.
pub fn folders(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !of_folder(path)?.is_empty() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| bad_input(format!("{}: {error}", path.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let inner = entry.map_err(unreadable)?.path();
        if inner.is_dir() && !of_folder(&inner)?.is_empty() {
            found.push(inner);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(bad_input(format!("{}: no *.xml here", path.display())));
    }
    Ok(found)
}

fn of_folder(path: &Path) -> Result<Vec<PathBuf>, Error> {
    load::xml_files(path).map_err(|error| bad_input(format!("{}: {error}", path.display())))
}
