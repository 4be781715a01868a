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

/// List, show or check the tables of the specification, or write them as Rust.
///
/// A table describes a packet, structure, register or enumeration. The commands use the built-in
/// specification of Broadwell, unless you select that of G45 or give XML files or folders.
///
/// Exit code: 0 success; 1 `spec check` finds an error; 2 unusable input, an unknown name, or
/// output that cannot be written.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx spec list --kind register --unit engine_registers
  genx spec list 'MI_*' --engine video --json
  genx spec show RENDER_SURFACE_STATE
  genx spec show 0x2358
  genx spec show SURFACE_STATE --gen g45
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
    /// List every packet, structure, register and enumeration with its name, kind, size and source
    List {
        /// A part of the name, or the whole name with * and ?
        name: Option<String>,
        /// Only this kind
        #[arg(
            long,
            value_name = "KIND",
            value_parser = ["instruction", "struct", "register", "enum"]
        )]
        kind: Option<String>,
        /// Only units (files) whose names start with this, for example render3d
        #[arg(long, value_name = "UNIT")]
        unit: Option<String>,
        /// Only instructions of this engine
        #[arg(
            long,
            value_name = "ENGINE",
            value_parser = ["render", "blitter", "video", "video-enhance"]
        )]
        engine: Option<String>,
        /// Print one JSON array: name, kind, class (the unit), dwords, fields, engine, source and
        /// more
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: Source,
    },
    /// Show one table: bits, types, units, ranges, values, rules, source
    Show {
        /// The manual's name in any case, for example XY_COLOR_BLT, or the offset of a register
        name: String,
        #[command(flatten)]
        source: Source,
    },
    /// Check that the tables are consistent; exit 1 if they are not, 2 if a file cannot be read
    Check {
        /// XML files or folders. Default: the built-in specification
        paths: Vec<PathBuf>,
        /// Read by Mesa's rules: gaps, overlaps and duplicates are allowed, and each file is a
        /// separate specification
        #[arg(long, requires = "paths")]
        foreign: bool,
        /// Write the index of each folder again, if there are no other errors
        #[arg(long, requires = "paths", conflicts_with = "foreign")]
        bless: bool,
    },
    /// List the points that the manuals leave open: the question, the model's choice and the reason
    Assumptions {
        /// A part of the name, in any case
        name: Option<String>,
        /// Print one JSON array: name, area, kind (value or documentation), value, question,
        /// choice, reason
        #[arg(long)]
        json: bool,
    },
    /// Write the generated Rust, for reading
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

/// Prints every problem and the number of checked tables.
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
    // Each folder inside a folder is a separate specification. All other paths together are one.
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
            "{name}{} containers ({partial} with only their header), {} enumerations: {}",
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

/// Writes the index of each folder, unless there are errors outside of the index.
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
