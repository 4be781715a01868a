//! `genx convert`: writes a dump as another kind of dump.

use crate::compress::Output;
use crate::output::{Error, Exit, bad_input};
use crate::progress;
use genxml::aub::{self, Reader, Recorded, Recorder};
use genxml::capture::{Capture, CaptureWriter, Event, Exec, Playback};
use genxml::dump::{Dump, DumpError, How, Note};
use genxml::error_state::{self, ErrorState, Spelling};
use indicatif::ProgressBar;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// PCI device id of a Broadwell GT2, used when the dump does not name the GPU.
const BROADWELL: u32 = 0x1616;

/// Convert a dump to another kind of dump.
///
/// Inputs are captures, AUB files (the format of simulators and of Mesa's aubinator), i915 error
/// states and xe device coredumps. Outputs are captures, AUB files and i915 error states. An error
/// state can also be converted to the format of another kernel version.
///
/// Each kind of output leaves something out. An AUB file has no expectations. A capture has the
/// batches that a ring starts, but no other commands of this ring. If a ring starts no batch, its
/// commands become a batch of the capture. A capture has no memory of the global page table, unless
/// the submission uses only that table. An error state has one submission. Standard error lists
/// parts that were left out.
///
/// Exit code: 0 success; 2 unusable input, no submission that the output can hold, or the output
/// cannot be written.
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
    /// The kind of the output. Default: by the suffix of its name, before .gz, .xz or .zst. aub is
    /// an AUB file, error and txt are error states, and a name without suffix is a capture
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// The kernel version whose format an error state gets: 3.10, 3.14, 4.4, 4.10, 4.14, 5.4, 6.1,
    /// or 6.1-plain, which is 6.1 without compression of the memory
    #[arg(long, value_name = "VERSION", default_value = "6.1")]
    spelling: Spelling,
    /// Convert only this submission: its `seq` in a capture, or its number from 0 on in other
    /// dumps. Default: all submissions; if the output is an error state, the last one. Not for
    /// conversions of an error state or device coredump to an error state
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
                "{}: {what}; not a capture, AUB file, error state or device coredump",
                path.display()
            )),
            other => bad_input(other),
        })
    }

    /// Opens the input as an AUB file.
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
    let of_xe = dump.devcoredump().map(|dump| &dump.state);
    let mut job = Job { args, input: &input, dump: &dump, notes: Vec::new() };
    let execs = match (to, dump.capture(), dump.error_state().or(of_xe)) {
        (To::Aub, Some(capture), _) => job.capture_to_aub(capture)?,
        (To::ErrorState, Some(capture), _) => job.capture_to_error_state(capture)?,
        (To::Aub, _, Some(state)) => job.state_to_aub(state)?,
        (To::Capture, _, Some(state)) => job.state_to_capture(state)?,
        (To::ErrorState, _, Some(_)) if args.exec.is_some() => {
            let why = "an error state is converted to an error state as a whole: leave out --exec";
            return Err(bad_input(format!("{place}: {why}")));
        }
        (To::ErrorState, _, Some(state)) => job.state_to_state(state)?,
        (To::Capture, None, None) => job.aub_to_capture()?,
        (To::ErrorState, None, None) => job.aub_to_error_state()?,
        (To::Capture, Some(_), None) | (To::Aub, None, None) => {
            return Err(bad_input(format!("{place}: input and output are of the same kind")));
        }
    };
    for note in &job.notes {
        eprintln!("genx: {place}: {note}");
    }
    if let (0, Some(wanted)) = (execs, args.exec) {
        return Err(bad_input(format!("{place}: there is no submission {wanted}")));
    }
    if execs == 0 {
        return Err(bad_input(format!("{place}: {}", nothing(&input)?)));
    }
    Ok(Exit::Ok)
}

/// Why a dump has nothing that can be written.
fn nothing(input: &Bytes) -> Result<String, Error> {
    let mut dump = input.dump()?;
    let visited = dump.submissions(&mut |_| Ok(()));
    visited.map_err(|error| bad_input(format!("{}: {error}", dump.name())))?;
    Ok(dump.unreadable().unwrap_or_else(|| {
        "the dump has submissions, but none that this output can hold; nothing is written".into()
    }))
}

/// A conversion. Methods that write return 0 if they wrote no submission.
struct Job<'a> {
    args: &'a Args,
    input: &'a Bytes,
    dump: &'a Dump,
    /// Notes for standard error: parts that the output cannot hold or that the reader skipped.
    notes: Vec<Note>,
}

impl Job<'_> {
    fn wants(&self, number: u64) -> bool {
        self.args.exec.is_none_or(|wanted| wanted == number)
    }

    fn note(&mut self, text: String) {
        self.notes.push(Note::new(text));
    }

    fn cannot_read(&self, error: &dyn std::fmt::Display) -> Error {
        bad_input(format!("{}: {error}", self.dump.name()))
    }

    fn cannot_write(&self, error: io::Error) -> Error {
        bad_input(format!("cannot write {}: {error}", self.args.output.display()))
    }

    /// Deletes the output, because an incomplete file is worse than no file.
    fn remove_output(&self) {
        _ = fs::remove_file(&self.args.output);
    }

    fn recorder(&self, pci_id: u32, name: &str) -> Result<Recorder<Output>, Error> {
        let output = Output::create(&self.args.output)?;
        Recorder::new(output, pci_id, name).map_err(|error| self.cannot_write(error))
    }

    fn capture_to_aub(&mut self, capture: &Capture) -> Result<u64, Error> {
        let planned = capture.execs().filter(|exec| self.wants(exec.seq)).count() as u64;
        if planned == 0 {
            return Ok(0);
        }
        let progress = progress::of_submissions(planned, false);
        let mut recorder = self.recorder(capture.device().pci_id, capture.name())?;
        let mut execs = 0;
        let wanted = |exec: &Exec| self.wants(exec.seq);
        let written = aub::from_capture(capture, &mut recorder, &wanted, &mut |count| {
            execs = count;
            progress.set_position(count);
        });
        let written = written.and_then(|()| recorder.finish()?.finish());
        progress.finish_and_clear();
        written.map_err(|error| {
            self.remove_output();
            self.cannot_write(error)
        })?;
        let expectations =
            capture.expectations().filter(|expectation| self.wants(expectation.after_exec)).count();
        if expectations > 0 {
            self.note(format!(
                "an AUB file cannot hold expectations: {expectations} expectations are left out"
            ));
        }
        Ok(execs)
    }

    fn aub_to_capture(&mut self) -> Result<u64, Error> {
        let name = self.dump.name();
        let mut progress = ProgressBar::hidden();
        let reader = match self.input {
            Bytes::File(path) => {
                let file = File::open(path).map_err(|error| self.cannot_read(&error))?;
                let size = file.metadata().map_or(0, |meta| meta.len());
                progress = progress::of_bytes(size, false);
                Reader::new(progress.wrap_read(file)).map_err(|error| self.cannot_read(&error))?
            }
            Bytes::Kept(_) => self.input.aub()?,
        };
        let name = name.split_once(".aub").map_or(name, |(name, _)| name);
        let mut capture = CaptureWriter::new(name);
        let (mut execs, mut notes) = (0, Vec::new());
        let wanted = |number: u64| self.wants(number);
        let result =
            aub::to_capture(reader, &mut capture, &mut notes, &wanted, &mut |count| execs = count);
        progress.finish_and_clear();
        self.notes.extend(notes);
        result.map_err(|error| self.cannot_read(&error))?;
        if execs > 0 {
            capture.finish(&self.args.output).map_err(bad_input)?;
        }
        Ok(execs)
    }

    fn capture_to_error_state(&mut self, capture: &Capture) -> Result<u64, Error> {
        let wanted = self.args.exec.or(capture.execs().last().map(|exec| exec.seq));
        let mut playback = Playback::new(capture);
        while let Some(event) = playback.step() {
            if let Event::Exec(exec) = event
                && Some(exec.seq) == wanted
            {
                let state = ErrorState::of_exec(capture, exec, &playback.memory(exec));
                return self.write_state(&state);
            }
        }
        Ok(0)
    }

    fn aub_to_error_state(&mut self) -> Result<u64, Error> {
        let name = self.dump.name();
        let wanted = match self.args.exec {
            Some(number) => Some(number),
            None => {
                // A first pass finds the last submission.
                let mut last = None;
                let reader = self.input.aub()?;
                let read = aub::submissions(reader, name, &mut Vec::new(), &mut |submission| {
                    last = Some(submission.number);
                    Ok(())
                });
                read.map_err(|error| self.cannot_read(&error))?;
                last
            }
        };
        let Some(wanted) = wanted else { return Ok(0) };
        let state = aub::to_error_state(self.input.aub()?, name, wanted, &mut self.notes);
        match state.map_err(|error| self.cannot_read(&error))? {
            None => Ok(0),
            Some(state) => self.write_state(&state),
        }
    }

    /// Calls `each` with the wanted submissions of a state. Returns the number of all submissions.
    fn recorded(
        &mut self,
        state: &ErrorState,
        each: &mut dyn FnMut(&Recorded<'_>) -> io::Result<()>,
    ) -> io::Result<u64> {
        self.notes.extend(self.dump.notes().iter().cloned());
        let wanted = self.args.exec;
        let mut number = 0;
        aub::from_error_state(state, &mut self.notes, &mut |recorded| {
            let wanted = wanted.is_none_or(|wanted| wanted == number);
            number += 1;
            if wanted { each(recorded) } else { Ok(()) }
        })
    }

    fn state_to_aub(&mut self, state: &ErrorState) -> Result<u64, Error> {
        let mut recorder = self.recorder(state.pci_id().unwrap_or(BROADWELL), self.dump.name())?;
        let written = self.recorded(state, &mut |recorded| {
            recorder.exec(recorded.context, recorded.engine, recorded.batch, &recorded.objects)
        });
        let written = written.and_then(|count| recorder.finish()?.finish().map(|()| count));
        match written {
            Ok(count) if count > self.args.exec.unwrap_or(0) => Ok(count),
            other => {
                self.remove_output();
                other.map(|_| 0).map_err(|error| self.cannot_write(error))
            }
        }
    }

    fn state_to_capture(&mut self, state: &ErrorState) -> Result<u64, Error> {
        let mut capture =
            CaptureWriter::new(self.dump.name()).device(state.pci_id().unwrap_or(BROADWELL), 8);
        let count = self.recorded(state, &mut |recorded| {
            capture.exec(recorded.context, recorded.engine, recorded.batch, 0, &recorded.objects);
            Ok(())
        });
        match count.map_err(|error| self.cannot_read(&error))? {
            count if count > self.args.exec.unwrap_or(0) => {
                capture.finish(&self.args.output).map_err(bad_input)?;
                Ok(count)
            }
            _ => Ok(0),
        }
    }

    fn state_to_state(&mut self, state: &ErrorState) -> Result<u64, Error> {
        self.notes.extend(self.dump.notes().iter().cloned());
        self.write_state(state)
    }

    /// Writes an error state in the wanted format. Notes list what the format cannot hold.
    fn write_state(&mut self, state: &ErrorState) -> Result<u64, Error> {
        let mut out = Output::create(&self.args.output)?;
        let written = error_state::write(state, self.args.spelling, &mut out);
        let written = written.and_then(|left_out| out.finish().map(|()| left_out));
        let left_out = written.map_err(|error| {
            self.remove_output();
            self.cannot_write(error)
        })?;
        left_out.into_iter().for_each(|text| self.note(text));
        Ok(1)
    }
}
