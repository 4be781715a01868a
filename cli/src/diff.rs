//! `genx diff`: compares two dumps packet by packet and field by field.

use crate::decode::When;
use crate::filter::{Filters, missing};
use crate::generation::Choice;
use crate::input::{Raw, readable, report};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml::decode::{Decoder, Options, Sink};
use genxml::diff::{Ignore, Show, Tree, dumps, write_json, write_text};
use genxml::query::{Filtered, Glob};
use std::io;
use std::path::{Path, PathBuf};

/// Compare two dumps of any kind: packets, fields, and what packets point to (structures, kernels,
/// data).
///
/// First, equal packets are paired: as many as possible without changing the order. Between these
/// pairs, packets with the same name are paired. All other packets were removed (-) or added (+).
/// For a changed pair (~), the differing fields are listed. What packets point to is compared in
/// the same way.
///
/// If a file is truncated or damaged, the part before the damage is compared.
///
/// Exit code: 0 equal, 1 different, 2 unusable input, or a dump is truncated, damaged or without
/// any work.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx diff captures/good captures/bad
  genx diff captures/good captures/bad --ignore-addresses --packet '3DSTATE_*'
  genx diff old.aub.xz new.aub.xz --ignore 'Scratch Space*' --ignore PIPE_CONTROL.Address
  genx diff captures/one captures/two --draw 7 --format json | jq .fields
  genx diff old.bin new.bin --raw --engine render")]
pub struct Args {
    /// The first dump, of any kind that `genx decode` reads
    old: PathBuf,
    /// The second dump
    new: PathBuf,
    #[command(flatten)]
    raw: Raw,
    /// Do not report a changed address, only changed contents at the address. An address whose
    /// contents are not compared is reported if its offset in the page (bits 11:0) changed, or if
    /// only one of the two addresses is zero. Offsets from a base address are not compared
    #[arg(long)]
    ignore_addresses: bool,
    /// Ignore a field, given as its name or as PACKET.FIELD. * stands for any characters, ? for one
    #[arg(long, value_name = "FIELD")]
    ignore: Vec<String>,
    /// Number of equal packets that are named before and after each difference
    #[arg(long, value_name = "N", default_value = "3")]
    context: usize,
    /// Do not compare what packets point to, and do not follow jumps to other batches
    #[arg(long)]
    no_follow: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
    /// When to use colours in text
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: When,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    filters: Filters,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    /// Readable text
    Text,
    /// One line with a JSON object for each difference, and one with the totals
    Json,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if args.old == args.new && args.old == Path::new("-") {
        return Err(bad_input("only one of the dumps can come from standard input"));
    }
    let ignore = Ignore {
        addresses: args.ignore_addresses,
        fields: args.ignore.iter().map(|name| Glob::new(name)).collect(),
    };
    let (old, old_end) = tree(args, &args.old, &ignore)?;
    let (new, new_end) = tree(args, &args.new, &ignore)?;
    if old_end.generation != new_end.generation {
        return Err(bad_input(format!(
            "{} and {} are from GPUs of different generations, so their packets cannot be compared",
            args.old.display(),
            args.new.display()
        )));
    }
    if let (Some(old), Some(new)) = (old_end.missing, new_end.missing) {
        let (old_path, new_path) = (args.old.display(), args.new.display());
        return Err(bad_input(format!("{old_path}: {old}\ngenx: {new_path}: {new}")));
    }
    let diff = dumps(&old, &new);
    let same = diff.is_empty();
    stdout(|out| match args.format {
        OutputFormat::Json => write_json(&diff, out),
        OutputFormat::Text if same => Ok(()),
        OutputFormat::Text => {
            let show =
                Show { color: args.color.on().enabled(&io::stdout()), context: args.context };
            writeln!(out, "--- {}\n+++ {}", args.old.display(), args.new.display())?;
            write_text(&diff, show, out)
        }
    })?;
    Ok(match same {
        _ if old_end.cut || new_end.cut => Exit::BadInput,
        true => Exit::Ok,
        false => Exit::Differs,
    })
}

/// How reading a dump ended.
struct End {
    /// True if the dump could not be read to its end.
    cut: bool,
    /// What the filter selects and the dump does not have.
    missing: Option<String>,
    /// The generation of the dump's tables, times ten.
    generation: u32,
}

/// Reads a dump. Returns the selected contents, and how reading ended.
fn tree(args: &Args, path: &Path, ignore: &Ignore) -> Result<(Tree, End), Error> {
    let mut dump = args.raw.open(path)?;
    let tables = args.choice.tables(&path.display().to_string(), &dump)?;
    let filter = &args.filters.filter(tables)?;
    let options =
        Options { kernels: false, every_draw: true, follow: !args.no_follow, ..Options::default() };
    let mut tree = Tree::new(tables, ignore.clone());
    let decoder = Decoder::new(tables, options);
    let mut sink = Filtered::new(filter, &mut tree);
    let read = decoder.submissions(&mut dump, &mut sink).and_then(|_| sink.finish());
    read.map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
    let missing = missing(filter, &sink.seen());
    report(path, &dump);
    readable(path, &dump)?;
    Ok((tree, End { cut: dump.is_cut(), missing, generation: tables.generation() }))
}
