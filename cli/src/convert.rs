//! `genx convert`: one kind of dump as another.

use crate::compress::Output;
use crate::output::{Error, Exit, bad_input};
use genxml::aub::{self, Reader, Recorder};
use genxml::capture::{Capture, CaptureWriter};
use genxml::dump::{Dump, How, Kind, Note};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// A file with fewer bytes shows no progress.
const SMALL: u64 = 1 << 20;

/// Write a dump as a dump of another kind.
///
/// A capture becomes an AUB file, as simulators and Mesa's aubinator read it, or an error state of i915; AUB files and error
/// states become captures, which genx run executes and to which expectations can be added. What the other kind has no place
/// for is said on standard error: an AUB file holds no expectations, a capture no global memory and no commands of rings beside
/// their batches, an error state one submission.
///
/// Exit code: 0 all well, 2 unusable input, or an output that cannot be written.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx convert captures/saxpy -o saxpy.aub.xz
  genx convert saxpy.aub.xz -o captures/saxpy
  genx convert captures/saxpy -o second.aub --exec 1
  genx convert trace.bin -o out --to capture")]
pub struct Args {
    /// A capture directory, or an AUB file, plain or compressed (gzip, xz, zstd)
    input: PathBuf,
    /// What to write: a file, compressed if its name ends in .gz or .xz, or the directory of a capture
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    /// The kind to write; told by the name if left out: *.aub is an AUB file, a name without suffix a capture
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// Only this submission, by its number: `seq` of a capture, from 0 on of an AUB file
    #[arg(long, value_name = "N")]
    exec: Option<u64>,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    /// A memory trace, as Mesa's intel_dump_gpu writes it
    Aub,
    /// A directory of format genx-capture-1
    Capture,
}

impl To {
    /// By the name of the output.
    fn of(path: &Path) -> Option<To> {
        let name = path.file_name()?.to_str()?;
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".xz")).unwrap_or(name);
        match plain.rsplit_once('.') {
            Some((_, "aub")) => Some(To::Aub),
            None if plain == name => Some(To::Capture),
            _ => None,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let place = args.input.display();
    if args.input == Path::new("-") {
        return Err(bad_input("convert: the input must be a file or a directory, not standard input"));
    }
    let Some(to) = args.to.or_else(|| To::of(&args.output)) else {
        let text = format!(
            "{}: its name does not say what to write; add --to aub or --to capture",
            args.output.display()
        );
        return Err(bad_input(text));
    };
    let dump = Dump::open(&args.input, &How::default()).map_err(bad_input)?;
    let mut notes = Vec::new();
    let execs = match (dump.kind(), to, dump.capture()) {
        (Kind::Capture, To::Aub, Some(capture)) => capture_to_aub(args, capture, &mut notes)?,
        (Kind::Aub, To::Capture, _) => aub_to_capture(args, dump.name(), &mut notes)?,
        (Kind::Capture, To::Capture, _) | (Kind::Aub, To::Aub, _) => {
            return Err(bad_input(format!("{place}: is of that kind already ({})", dump.kind().name())));
        }
        (kind, ..) => return Err(bad_input(format!("{place}: {} cannot be converted to that", kind.name()))),
    };
    for note in &notes {
        eprintln!("genx: {place}: {note}");
    }
    if let (0, Some(wanted)) = (execs, args.exec) {
        return Err(bad_input(format!("{place}: there is no submission {wanted}")));
    }
    if execs == 0 {
        eprintln!("genx: {place}: there is no submission in it that could be written");
    }
    Ok(Exit::Ok)
}

fn capture_to_aub(args: &Args, capture: &Capture, notes: &mut Vec<Note>) -> Result<u64, Error> {
    let cannot = |error: io::Error| bad_input(format!("cannot write {}: {error}", args.output.display()));
    let wanted = |seq: u64| args.exec.is_none_or(|wanted| wanted == seq);
    if !capture.execs().any(|exec| wanted(exec.seq)) {
        return Ok(0);
    }
    let planned = capture.execs().filter(|exec| wanted(exec.seq)).count() as u64;
    let progress = bar(planned >= 8, planned, "{bar:40} {pos}/{len} submissions, {eta} left");
    let mut recorder = Recorder::new(Output::create(&args.output)?, capture.device().pci_id, capture.name())
        .map_err(cannot)?;
    let mut execs = 0;
    let written = aub::from_capture(capture, &mut recorder, &|exec| wanted(exec.seq), &mut |count| {
        execs = count;
        progress.set_position(count);
    });
    let written = written.and_then(|()| recorder.finish()?.finish());
    progress.finish_and_clear();
    // Half a file is worse than none.
    written.map_err(|error| {
        _ = fs::remove_file(&args.output);
        cannot(error)
    })?;
    let expectations = capture.expectations().filter(|expectation| wanted(expectation.after_exec)).count();
    if expectations > 0 {
        let text = format!(
            "an AUB file has no place for what is expected: {expectations} expectations are left out"
        );
        notes.push(Note { place: String::new(), text });
    }
    Ok(execs)
}

fn aub_to_capture(args: &Args, name: &str, notes: &mut Vec<Note>) -> Result<u64, Error> {
    let path = &args.input;
    let cannot_read = |error: &dyn std::fmt::Display| bad_input(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| cannot_read(&error))?;
    let size = file.metadata().map_or(0, |meta| meta.len());
    let progress = bar(size >= SMALL, size, "{bar:40} {bytes}/{total_bytes}, {eta} left");
    let reader = Reader::new(progress.wrap_read(file)).map_err(|error| cannot_read(&error))?;
    let name = name.split_once(".aub").map_or(name, |(name, _)| name);
    let mut capture = CaptureWriter::new(name);
    let mut execs = 0;
    let wanted = |number: u64| args.exec.is_none_or(|wanted| wanted == number);
    let result = aub::to_capture(reader, &mut capture, notes, &wanted, &mut |count| execs = count);
    progress.finish_and_clear();
    result.map_err(|error| cannot_read(&error))?;
    if execs > 0 {
        capture.finish(&args.output).map_err(bad_input)?;
    }
    Ok(execs)
}

/// A bar on a terminal, when there is something to wait for.
fn bar(wanted: bool, length: u64, template: &str) -> ProgressBar {
    if !wanted || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
