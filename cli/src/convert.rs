//! `genx convert`: writes a dump as another kind of dump.

use crate::compress::Output;
use crate::output::{Error, Exit, bad_input};
use genxml::aub::{self, Reader, Recorded, Recorder};
use genxml::capture::{Capture, CaptureWriter, Event, Playback};
use genxml::dump::{Dump, DumpError, How, Note};
use genxml::error_state::{self, ErrorState, Spelling};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Files smaller than this, in bytes, show no progress bar.
const SMALL: u64 = 1 << 20;

/// Convert a dump to another kind of dump.
///
/// Inputs are captures, AUB files (the format of simulators and of Mesa's aubinator), i915 error
/// states and xe device coredumps. Outputs are captures, AUB files and i915 error states. An error
/// state can also be converted to the format of another kernel version.
///
/// Standard error lists what the output cannot hold: an AUB file holds no expectations; a capture
/// holds no global memory, and of the commands in rings only the batches; an error state holds one
/// submission.
///
/// Exit code: 0 success, 2 unusable input, or the output cannot be written.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx convert captures/saxpy -o saxpy.aub.xz
  genx convert saxpy.aub.xz -o captures/saxpy
  genx convert captures/saxpy -o second.aub --exec 1
  genx convert captures/saxpy -o old.error.gz --spelling 4.4
  genx convert error -o hang.aub.zst
  ssh target cat /sys/class/drm/card0/error | genx convert - -o hang.aub
  genx convert trace.bin -o out --to capture")]
pub struct Args {
    /// A capture directory, an AUB file, an error state or a device coredump, plain or compressed
    /// (gzip, xz, zstd), or - for standard input
    input: PathBuf,
    /// The output: a file, compressed if its name ends in .gz, .xz or .zst, or the directory of a
    /// capture
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    /// The kind of the output. Default: by its name. *.aub is an AUB file, *.error and *.txt are
    /// error states, and a name without suffix is a capture
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// The kernel version whose format error states get: 3.10, 3.14, 4.4, 4.10, 4.14, 5.4, 6.1 or
    /// 6.1-plain
    #[arg(long, value_name = "VERSION", default_value = "6.1")]
    spelling: Spelling,
    /// Convert only this submission: its `seq` in a capture, or its number from 0 on in other
    /// dumps. Default: all; for an error state the last one
    #[arg(long, value_name = "N")]
    exec: Option<u64>,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    /// A memory trace, as Mesa's intel_dump_gpu writes it
    Aub,
    /// The text that i915 prints after a hang
    ErrorState,
    /// A directory of format genx-capture-1
    Capture,
}

impl To {
    /// The kind that the name of the output selects.
    fn of(path: &Path) -> Option<To> {
        let name = path.file_name()?.to_str()?;
        let plain = [".gz", ".xz", ".zst"]
            .into_iter()
            .find_map(|suffix| name.strip_suffix(suffix))
            .unwrap_or(name);
        match plain.rsplit_once('.') {
            Some((_, "aub")) => Some(To::Aub),
            Some((_, "error" | "txt")) => Some(To::ErrorState),
            None if plain == name => Some(To::Capture),
            _ => None,
        }
    }
}

/// An input that can be read more than once.
enum Bytes {
    File(PathBuf),
    /// The contents of standard input.
    Kept(Vec<u8>),
}

impl Bytes {
    fn of(path: &Path) -> Result<Bytes, Error> {
        if path != Path::new("-") {
            return Ok(Bytes::File(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| bad_input(format!("standard input: {error}")))?;
        Ok(Bytes::Kept(bytes))
    }

    /// Opens the dump; its contents select the kind.
    fn dump(&self) -> Result<Dump, Error> {
        let how = How::default();
        let dump = match self {
            Bytes::File(path) => Dump::open(path, &how),
            Bytes::Kept(bytes) => {
                Dump::read("standard input", io::Cursor::new(bytes.clone()), &how)
            }
        };
        dump.map_err(|error| match error {
            DumpError::Unknown { path, what } => bad_input(format!(
                "{}: {what}, not a capture, AUB file, error state or device coredump",
                path.display()
            )),
            other => bad_input(other),
        })
    }

    /// The AUB file in it.
    fn aub(&self) -> Result<Reader<'_>, Error> {
        match self {
            Bytes::File(path) => Reader::open(path).map_err(bad_input),
            Bytes::Kept(bytes) => {
                let reader = Reader::new(&bytes[..]);
                reader.map_err(|error| bad_input(format!("standard input: {error}")))
            }
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let Some(to) = args.to.or_else(|| To::of(&args.output)) else {
        let output = args.output.display();
        let text = format!(
            "{output}: the name does not select a kind; add --to aub, error-state or capture"
        );
        return Err(bad_input(text));
    };
    let input = Bytes::of(&args.input)?;
    let dump = input.dump()?;
    let place = match &input {
        Bytes::File(path) => path.display().to_string(),
        Bytes::Kept(_) => dump.name().to_owned(),
    };
    let mut notes = Vec::new();
    let of_xe = dump.devcoredump().map(|dump| &dump.state);
    let execs = match (to, dump.capture(), dump.error_state().or(of_xe)) {
        (To::Aub, Some(capture), _) => capture_to_aub(args, capture, &mut notes)?,
        (To::ErrorState, Some(capture), _) => capture_to_error_state(args, capture, &mut notes)?,
        (To::Aub, _, Some(state)) => state_to_aub(args, &dump, state, &mut notes)?,
        (To::Capture, _, Some(state)) => state_to_capture(args, &dump, state, &mut notes)?,
        (To::ErrorState, _, Some(state)) => {
            add_notes(&dump, &mut notes);
            write_state(args, state, &mut notes)?;
            1
        }
        (To::Capture, None, None) => aub_to_capture(args, &input, &dump, &mut notes)?,
        (To::ErrorState, None, None) => aub_to_error_state(args, &input, &dump, &mut notes)?,
        (To::Capture, Some(_), None) | (To::Aub, None, None) => {
            return Err(bad_input(format!("{place}: is already of that kind")));
        }
    };
    for note in &notes {
        eprintln!("genx: {place}: {note}");
    }
    if let (0, Some(wanted)) = (execs, args.exec) {
        return Err(bad_input(format!("{place}: there is no submission {wanted}")));
    }
    if execs == 0 {
        eprintln!("genx: {place}: it has no submission that can be written");
    }
    Ok(Exit::Ok)
}

fn capture_to_aub(args: &Args, capture: &Capture, notes: &mut Vec<Note>) -> Result<u64, Error> {
    let cannot =
        |error: io::Error| bad_input(format!("cannot write {}: {error}", args.output.display()));
    let wanted = |seq: u64| args.exec.is_none_or(|wanted| wanted == seq);
    if !capture.execs().any(|exec| wanted(exec.seq)) {
        return Ok(0);
    }
    let planned = capture.execs().filter(|exec| wanted(exec.seq)).count() as u64;
    let progress = bar(planned >= 8, planned, "{bar:40} {pos}/{len} submissions, {eta} left");
    let mut recorder =
        Recorder::new(Output::create(&args.output)?, capture.device().pci_id, capture.name())
            .map_err(cannot)?;
    let mut execs = 0;
    let written =
        aub::from_capture(capture, &mut recorder, &|exec| wanted(exec.seq), &mut |count| {
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
    let expectations =
        capture.expectations().filter(|expectation| wanted(expectation.after_exec)).count();
    if expectations > 0 {
        let text = format!(
            "an AUB file cannot hold expectations: {expectations} expectations are left out"
        );
        notes.push(Note { place: String::new(), text });
    }
    Ok(execs)
}

fn aub_to_capture(
    args: &Args,
    input: &Bytes,
    dump: &Dump,
    notes: &mut Vec<Note>,
) -> Result<u64, Error> {
    let name = dump.name();
    let cannot_read = |error: &dyn std::fmt::Display| bad_input(format!("{name}: {error}"));
    let mut progress = ProgressBar::hidden();
    let reader = match input {
        Bytes::File(path) => {
            let file = File::open(path).map_err(|error| cannot_read(&error))?;
            let size = file.metadata().map_or(0, |meta| meta.len());
            progress = bar(size >= SMALL, size, "{bar:40} {bytes}/{total_bytes}, {eta} left");
            Reader::new(progress.wrap_read(file)).map_err(|error| cannot_read(&error))?
        }
        Bytes::Kept(_) => input.aub()?,
    };
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

fn capture_to_error_state(
    args: &Args,
    capture: &Capture,
    notes: &mut Vec<Note>,
) -> Result<u64, Error> {
    let wanted = args.exec.or(capture.execs().last().map(|exec| exec.seq));
    let mut playback = Playback::new(capture);
    while let Some(event) = playback.step() {
        if let Event::Exec(exec) = event
            && Some(exec.seq) == wanted
        {
            let state = ErrorState::of_exec(capture, exec, &playback.memory(exec));
            write_state(args, &state, notes)?;
            return Ok(1);
        }
    }
    Ok(0)
}

fn aub_to_error_state(
    args: &Args,
    input: &Bytes,
    dump: &Dump,
    notes: &mut Vec<Note>,
) -> Result<u64, Error> {
    let name = dump.name();
    let cannot_read = |error: io::Error| bad_input(format!("{name}: {error}"));
    let wanted = match args.exec {
        Some(number) => Some(number),
        None => {
            // A first pass finds the last one.
            let mut last = None;
            let count = aub::submissions(input.aub()?, name, &mut Vec::new(), &mut |submission| {
                last = Some(submission.number);
                Ok(())
            });
            count.map_err(cannot_read)?;
            last
        }
    };
    let Some(wanted) = wanted else { return Ok(0) };
    match aub::to_error_state(input.aub()?, name, wanted, notes).map_err(cannot_read)? {
        None => Ok(0),
        Some(state) => write_state(args, &state, notes).map(|()| 1),
    }
}

/// Adds the notes of the dump's reader.
fn add_notes(dump: &Dump, notes: &mut Vec<Note>) {
    notes.extend(dump.notes().iter().cloned());
}

/// Calls `each` with the wanted submissions of a state. Returns the number of all submissions.
fn recorded(
    args: &Args,
    dump: &Dump,
    state: &ErrorState,
    notes: &mut Vec<Note>,
    each: &mut dyn FnMut(&Recorded<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    add_notes(dump, notes);
    let mut number = 0;
    aub::from_error_state(state, notes, &mut |recorded| {
        let wanted = args.exec.is_none_or(|wanted| wanted == number);
        number += 1;
        if wanted { each(recorded) } else { Ok(()) }
    })
}

fn state_to_aub(
    args: &Args,
    dump: &Dump,
    state: &ErrorState,
    notes: &mut Vec<Note>,
) -> Result<u64, Error> {
    let cannot =
        |error: io::Error| bad_input(format!("cannot write {}: {error}", args.output.display()));
    let pci_id = state.pci_id().unwrap_or(BROADWELL);
    let mut recorder =
        Recorder::new(Output::create(&args.output)?, pci_id, dump.name()).map_err(cannot)?;
    let written = recorded(args, dump, state, notes, &mut |recorded| {
        recorder.exec(recorded.context, recorded.engine, recorded.batch, &recorded.objects)
    });
    let written = written.and_then(|count| recorder.finish()?.finish().map(|()| count));
    match written {
        Ok(count) if count > args.exec.unwrap_or(0) => Ok(count),
        other => {
            _ = fs::remove_file(&args.output);
            other.map(|_| 0).map_err(cannot)
        }
    }
}

fn state_to_capture(
    args: &Args,
    dump: &Dump,
    state: &ErrorState,
    notes: &mut Vec<Note>,
) -> Result<u64, Error> {
    let cannot_read = |error: io::Error| bad_input(format!("{}: {error}", dump.name()));
    let mut capture =
        CaptureWriter::new(dump.name()).device(state.pci_id().unwrap_or(BROADWELL), 8);
    let count = recorded(args, dump, state, notes, &mut |recorded| {
        capture.exec(recorded.context, recorded.engine, recorded.batch, 0, &recorded.objects);
        Ok(())
    });
    match count.map_err(cannot_read)? {
        count if count > args.exec.unwrap_or(0) => {
            capture.finish(&args.output).map_err(bad_input)?;
            Ok(count)
        }
        _ => Ok(0),
    }
}

/// PCI device id of a Broadwell GT2, used when the dump does not name the GPU.
const BROADWELL: u32 = 0x1616;

/// Writes an error state in the wanted format. Notes list what the format cannot hold.
fn write_state(args: &Args, state: &ErrorState, notes: &mut Vec<Note>) -> Result<(), Error> {
    let cannot =
        |error: io::Error| bad_input(format!("cannot write {}: {error}", args.output.display()));
    let mut out = Output::create(&args.output)?;
    let written = error_state::write(state, args.spelling, &mut out);
    let written = written.and_then(|left_out| out.finish().map(|()| left_out));
    let left_out = written.map_err(|error| {
        _ = fs::remove_file(&args.output);
        cannot(error)
    })?;
    notes.extend(left_out.into_iter().map(|text| Note { place: String::new(), text }));
    Ok(())
}

/// A progress bar on a terminal, if `wanted`.
fn bar(wanted: bool, length: u64, template: &str) -> ProgressBar {
    if !wanted || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
