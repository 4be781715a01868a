//! `genx spec`: the tables of the specification.

use crate::output::{Error, Exit, bad_input, stdout};
use genxml_codegen::model::Spec;
use genxml_codegen::{self as codegen, Report, emit, list, list::table, load};
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};

/// Tables of the specification: list them, show one, check them, write them as Rust.
///
/// All work on the specification that is built in, unless files or folders of XML are given.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx spec list --json
  genx spec show RENDER_SURFACE_STATE
  genx spec check spec-xml/gen8
  genx spec emit -o generated")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Name, kind, size and source of every container and enumeration
    List {
        /// One JSON array instead of a table
        #[arg(long)]
        json: bool,
        /// XML files or folders instead of the built-in specification
        #[arg(long, value_name = "PATH")]
        spec: Vec<PathBuf>,
    },
    /// One table in full: bits, types, units, ranges, values, rules, source
    Show {
        /// The manual's name, XY_COLOR_BLT for instance
        name: String,
        /// XML files or folders instead of the built-in specification
        #[arg(long, value_name = "PATH")]
        spec: Vec<PathBuf>,
    },
    /// Prove that tables are consistent; exit 1 if they are not
    Check {
        /// XML files or folders; without, the built-in specification
        paths: Vec<PathBuf>,
    },
    /// Write the generated Rust, to read
    Emit {
        /// Folder to write to
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        /// XML files or folders instead of the built-in specification
        #[arg(long, value_name = "PATH")]
        spec: Vec<PathBuf>,
    },
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::List { json, spec } => {
            let listed = list(&load(spec)?);
            if *json {
                let text = serde_json::to_string_pretty(&listed).map_err(bad_input)?;
                stdout(|out| writeln!(out, "{text}"))?;
            } else {
                stdout(|out| write!(out, "{}", table(&listed)))?;
            }
            Ok(Exit::Ok)
        }
        Command::Show { name, spec } => {
            let text = codegen::show(&load(spec)?, name).map_err(bad_input)?;
            stdout(|out| write!(out, "{text}"))?;
            Ok(Exit::Ok)
        }
        Command::Check { paths } => check(paths),
        Command::Emit { output, spec } => {
            let files = emit::rust(&load(spec)?, &|_| true);
            codegen::write(&files, output).map_err(bad_input)?;
            stdout(|out| writeln!(out, "{} files in {}", files.len(), output.display()))?;
            Ok(Exit::Ok)
        }
    }
}

/// The specification at `paths`, or the one that is built in; a report of what is wrong ends the command.
fn load(paths: &[PathBuf]) -> Result<Spec, Error> {
    let loaded = read(paths)?;
    let report = loaded.report();
    if report.errors() > 0 {
        return Err(bad_input(format!("the specification cannot be used\n{}", render(&report))));
    }
    Ok(loaded.spec)
}

fn read(paths: &[PathBuf]) -> Result<load::Loaded, Error> {
    if paths.is_empty() {
        return Ok(load::read_texts(codegen::GEN8));
    }
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let unreadable = |error| bad_input(format!("{}: {error}", path.display()));
            files.extend(load::xml_files(path).map_err(unreadable)?);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        return Err(bad_input(format!("{}: no *.xml here", Path::new(&paths[0]).display())));
    }
    Ok(load::read_files(&files))
}

fn render(report: &Report) -> String {
    report.render(stderr().is_terminal())
}

/// Shows every problem and how many tables were looked at.
fn check(paths: &[PathBuf]) -> Result<Exit, Error> {
    let loaded = read(paths)?;
    let report = loaded.report();
    if !report.diagnostics.is_empty() {
        eprintln!("{}", render(&report));
    }
    let partial = loaded.spec.containers.iter().filter(|container| container.partial).count();
    stdout(|out| {
        writeln!(
            out,
            "{} containers ({partial} of them by their header only), {} enumerations: {}",
            loaded.spec.containers.len(),
            loaded.spec.enums.len(),
            report.summary()
        )
    })?;
    Ok(if report.errors() > 0 { Exit::Differs } else { Exit::Ok })
}
