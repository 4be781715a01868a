//! `genx spec`: the tables of the specification.

mod assumptions;

use crate::output::{Error, Exit, bad_input, stdout};
use crate::source::{Source, built_in, dialect, folders, indexes, render, xml_files};
use genxml::decode::Color;
use genxml_codegen::diagnostic::Code;
use genxml_codegen::list::{Filter, table};
use genxml_codegen::load::{Loaded, read_dir, read_files, read_files_as};
use genxml_codegen::{self as codegen, emit, index, list};
use std::path::{Path, PathBuf};

/// Tables of the specification: list them, show one, check them, write them as Rust.
///
/// All work on the specification that is built in, unless files or folders of XML are given.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx spec list --kind register --unit blitter
  genx spec list 'MI_*' --engine video --json
  genx spec show RENDER_SURFACE_STATE
  genx spec show 0x2358
  genx spec check spec-xml/gen8
  genx spec check --foreign mesa/src/intel/genxml/gen90.xml
  genx spec assumptions
  genx spec emit -o generated")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Name, kind, size and source of every container and enumeration
    List {
        /// Part of the name, or all of it with * and ?
        name: Option<String>,
        /// Only these: instruction, struct, register or enum
        #[arg(long, value_name = "KIND", value_parser = ["instruction", "struct", "register", "enum"])]
        kind: Option<String>,
        /// Only of this unit (file), or those that begin so: render3d
        #[arg(long, value_name = "UNIT")]
        unit: Option<String>,
        /// Only instructions that this engine takes
        #[arg(long, value_name = "ENGINE", value_parser = ["render", "blitter", "video", "video-enhance"])]
        engine: Option<String>,
        /// One JSON array instead of a table: name, kind, class (the unit), dwords, fields, engine,
        /// source and more
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: Source,
    },
    /// One table in full: bits, types, units, ranges, values, rules, source
    Show {
        /// The manual's name in any case, XY_COLOR_BLT for instance, or a register's offset
        name: String,
        #[command(flatten)]
        source: Source,
    },
    /// Prove that tables are consistent; exit 1 if they are not, 2 if a file cannot be read
    Check {
        /// XML files or folders; without, the built-in specification
        paths: Vec<PathBuf>,
        /// Read by Mesa's rules: gaps, overlaps and doubles are allowed, and each file is a
        /// specification of its own
        #[arg(long, requires = "paths")]
        foreign: bool,
        /// Write the index of each folder anew, if nothing else is wrong
        #[arg(long, requires = "paths", conflicts_with = "foreign")]
        bless: bool,
    },
    /// What the manuals leave open: question, the model's choice and the reason
    Assumptions {
        /// Part of the name, in any case
        name: Option<String>,
        /// One JSON array: name, area, kind (value or documentation), value, question, choice,
        /// reason
        #[arg(long)]
        json: bool,
    },
    /// Write the generated Rust, to read
    Emit {
        /// Folder to write to
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        #[command(flatten)]
        source: Source,
    },
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::List { name, kind, unit, engine, json, source } => {
            let filter = Filter {
                name: name.clone(),
                kind: kind.clone(),
                unit: unit.clone(),
                engine: engine.clone(),
            };
            let listed = list(&source.load()?);
            let listed: Vec<_> = listed.iter().filter(|item| filter.keeps(item)).collect();
            if *json {
                let text = serde_json::to_string_pretty(&listed).map_err(bad_input)?;
                stdout(|out| writeln!(out, "{text}"))?;
            } else {
                stdout(|out| write!(out, "{}", table(&listed)))?;
            }
            Ok(Exit::Ok)
        }
        Command::Show { name, source } => {
            let color = Color::Auto.enabled(&std::io::stdout());
            let text = codegen::show_colored(&source.load()?, name, color).map_err(bad_input)?;
            stdout(|out| write!(out, "{text}"))?;
            Ok(Exit::Ok)
        }
        Command::Check { paths, bless: true, .. } => bless(paths),
        Command::Check { paths, foreign, .. } => check(paths, *foreign),
        Command::Assumptions { name, json } => assumptions::run(name.as_deref(), *json),
        Command::Emit { output, source } => {
            let files = emit::rust(&source.load()?, &|_| true);
            codegen::write(&files, output).map_err(bad_input)?;
            stdout(|out| writeln!(out, "{} files in {}", files.len(), output.display()))?;
            Ok(Exit::Ok)
        }
    }
}

/// Shows every problem and how many tables were looked at.
fn check(paths: &[PathBuf], foreign: bool) -> Result<Exit, Error> {
    let mut exit = Exit::Ok;
    if paths.is_empty() {
        return report("", &built_in());
    }
    if foreign {
        for file in xml_files(paths)? {
            let loaded = read_files_as(std::slice::from_ref(&file), dialect(true));
            exit = exit.max(report(&format!("{}: ", file.display()), &loaded)?);
        }
        return Ok(exit);
    }
    // A folder of folders holds specifications of their own; all else is one.
    if let [folder] = paths
        && folder.is_dir()
    {
        let folders = folders(folder)?;
        for folder in &folders {
            let name =
                if folders.len() > 1 { format!("{}: ", folder.display()) } else { String::new() };
            exit = exit.max(report(&name, &read_dir(folder))?);
        }
        return Ok(exit);
    }
    let mut files = xml_files(paths)?;
    files.extend(indexes(paths));
    report("", &read_files(&files))
}

fn report(name: &str, loaded: &Loaded) -> Result<Exit, Error> {
    let report = loaded.report();
    if !report.diagnostics.is_empty() {
        eprintln!("{}", render(&report));
    }
    let partial = loaded.spec.containers.iter().filter(|container| container.partial).count();
    stdout(|out| {
        writeln!(
            out,
            "{name}{} containers ({partial} of them by their header only), {} enumerations: {}",
            loaded.spec.containers.len(),
            loaded.spec.enums.len(),
            report.summary()
        )
    })?;
    let unreadable = report.diagnostics.iter().any(|problem| problem.code == Code::Io);
    Ok(match report.errors() {
        0 => Exit::Ok,
        _ if unreadable => Exit::BadInput,
        _ => Exit::Differs,
    })
}

/// Writes the index of each folder, unless something else than the index is wrong.
fn bless(paths: &[PathBuf]) -> Result<Exit, Error> {
    for path in paths {
        if !path.is_dir() {
            return Err(bad_input(format!(
                "{}: not a folder, and only folders have an index",
                path.display()
            )));
        }
        for folder in folders(path)? {
            let loaded = read_dir(&folder);
            let mut wrong = loaded.report();
            wrong.diagnostics.retain(|problem| problem.code != Code::Index);
            if wrong.errors() > 0 {
                eprintln!("{}", render(&wrong));
                return Ok(Exit::Differs);
            }
            write_index(&folder, &index::text(&loaded.spec, &folder))?;
        }
    }
    Ok(Exit::Ok)
}

fn write_index(folder: &Path, text: &str) -> Result<(), Error> {
    let path = folder.join(index::FILE);
    std::fs::write(&path, text)
        .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
    let things = text.lines().count().saturating_sub(1);
    stdout(|out| writeln!(out, "{}: {things} containers and enumerations", path.display()))
}
