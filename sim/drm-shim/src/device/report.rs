//! Reports about submissions: faults with error states, captures, findings of the rules engine,
//! statistics, a trace.

use super::addresses::plain;
use super::config::Config;
use super::gem::ObjectId;
use super::kms::{CRTC, FrameBuffer};
use genxml::capture::{CaptureWriter, Frame, ObjectId as CaptureObject, Tiling, WriteObject};
use genxml::check::{Checker, Finding, Rules};
use genxml::decode::{Contexts, Memory};
use genxml::dump::Submission;
use genxml::error_state::{self, Spelling};
use genxml_sim::error_state::Ran;
use genxml_sim::gpu::{Generation, Progress};
use genxml_sim::inspect::picture;
use genxml_sim::inspect::sanitize::Sanitizers;
use genxml_sim::inspect::trace::MachineClock;
use genxml_sim::inspect::{Tally, Trace};
use genxml_sim::machine::events::{Event, Now, Observer};
use genxml_sim::mem::{Frames, Lines};
use genxml_sim::{ContextId, EngineId, Fault, Gpu, Stats};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Writes to an object: for each, the offset and the bytes that were written there.
type Writes = Vec<(u64, Vec<u8>)>;

/// Maximum number of error states that a process writes. Later faults rarely add information.
const MOST_ERRORS: u32 = 4;

/// Maximum number of findings that are printed for each rule.
const MOST_FINDINGS: u32 = 3;

/// Shortest time between two saves of a capture, as a multiple of the duration of the last save. So
/// the saves take at most a tenth of the time.
const SAVE_INTERVAL: u32 = 9;

/// Granularity of a capture: number of bytes that are compared and stored together.
const LINE: usize = 64;

/// A submission, as the model runs it.
#[derive(Debug)]
pub struct Submitted {
    /// Number of the context state.
    pub context: u32,
    /// The context in the model.
    pub model: ContextId,
    /// The engine.
    pub engine: EngineId,
    /// Address of the batch.
    pub address: u64,
    /// Length of the batch according to the client, in bytes; 0 if not given.
    pub length: u64,
    /// The objects that the submission can access.
    pub objects: Vec<Listed>,
    /// Number of the submission in this process, from [`Reporter::before`].
    pub number: u64,
}

/// An object of a submission.
#[derive(Debug)]
pub struct Listed {
    /// The object.
    pub id: ObjectId,
    /// The object's GPU address.
    pub address: u64,
    /// The object's memory.
    pub frames: Frames,
    /// Tiling: the kernel's number for linear, X or Y.
    pub tiling: u32,
    /// Stride in bytes if tiled.
    pub stride: u32,
}

/// Reports about the submissions of a process.
pub struct Reporter {
    program: String,
    capture: Option<Capturing>,
    frames: Option<ImageFiles>,
    check: Option<Checking>,
    sanitize: Option<Sanitizing>,
    trace: Option<Trace<BufWriter<File>>>,
    stats: Option<Box<Tally>>,
    total: Stats,
    submissions: u64,
    spent: Duration,
    faults: u32,
}

/// Reports requests that are not implemented.
#[derive(Debug, Default)]
pub struct Unimplemented {
    reported: BTreeSet<String>,
}

impl Unimplemented {
    /// Reports a request that is not implemented, if it was not reported before.
    pub fn report(&mut self, what: &str) {
        if self.reported.insert(what.to_owned()) {
            say(&format!("{}: not implemented: {what}", program()));
        }
    }
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A capture in progress.
struct Capturing {
    directory: PathBuf,
    writer: CaptureWriter,
    /// Time of the next save, if there are submissions that have not been saved.
    due: Option<Instant>,
    /// End and duration of the last save.
    saved: Option<(Instant, Duration)>,
    /// Contents of objects as a replay of the capture so far would leave them.
    known: BTreeMap<ObjectId, Vec<u8>>,
    frames: u64,
}

/// Displayed images as files.
struct ImageFiles {
    directory: PathBuf,
    number: u64,
}

/// The sanitizers, and what was printed of them.
struct Sanitizing {
    sanitizers: Sanitizers,
    /// Number of findings of each sanitizer that were looked at.
    seen: BTreeMap<&'static str, usize>,
    /// Number of findings of each rule that were printed.
    printed: BTreeMap<&'static str, u32>,
}

impl Sanitizing {
    /// The sanitizers that the options name; `None` if they name none.
    fn new(config: &Config) -> Option<Sanitizing> {
        // The names were checked when the options were read.
        let sanitizers =
            Sanitizers::new(config.sanitize.iter().copied(), config.generation()).ok()?;
        let some = !config.sanitize.is_empty();
        some.then(|| Sanitizing { sanitizers, seen: BTreeMap::new(), printed: BTreeMap::new() })
    }

    /// Prints the first findings of each rule that are new.
    fn print(&mut self) {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (row, finding) in self.sanitizers.findings() {
            let count = counts.entry(row.name).or_default();
            *count += 1;
            if *count <= self.seen.get(row.name).copied().unwrap_or_default() {
                continue;
            }
            let times = self.printed.entry(finding.rule.id).or_default();
            *times += 1;
            if *times <= MOST_FINDINGS {
                say(&format!("{}: {finding}", row.name));
            }
        }
        self.seen = counts;
    }

    /// Prints the number of findings of each sanitizer.
    fn summary(&self, program: &str) {
        for name in self.sanitizers.names() {
            let all = self.sanitizers.findings();
            let count = all.filter(|(row, _)| row.name == name).count();
            say(&format!(
                "{program}: {name}: {count} finding{}",
                if count == 1 { "" } else { "s" }
            ));
        }
    }
}

/// The observers of a run.
struct Observers<'r> {
    trace: Option<&'r mut Trace<BufWriter<File>>>,
    stats: Option<&'r mut Tally>,
    sanitizers: Option<&'r mut Sanitizers>,
}

impl Observer for Observers<'_> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.event(now, event);
        }
        if let Some(stats) = &mut self.stats {
            stats.event(now, event);
        }
        if let Some(sanitizers) = &mut self.sanitizers {
            sanitizers.event(now, event);
        }
    }

    fn wants_instructions(&self) -> bool {
        self.sanitizers.as_ref().is_some_and(|sanitizers| sanitizers.wants_instructions())
            || self.trace.as_ref().is_some_and(|trace| trace.wants_instructions())
    }

    fn wants_channels(&self) -> bool {
        false
    }

    fn wants_threads(&self) -> bool {
        self.trace.is_some()
            || self.stats.is_some()
            || self.sanitizers.as_ref().is_some_and(|sanitizers| sanitizers.wants_threads())
    }

    fn wants_accesses(&self) -> bool {
        self.sanitizers.as_ref().is_some_and(|sanitizers| sanitizers.wants_accesses())
            || self.trace.as_ref().is_some_and(|trace| trace.wants_accesses())
    }

    fn update_lines(&mut self, lines: &Lines) {
        let others = self.trace.as_ref().is_some_and(|trace| trace.wants_accesses());
        if let (Some(sanitizers), false) = (&mut self.sanitizers, others) {
            sanitizers.update_lines(lines);
        }
    }
}

/// The rules engine with its state.
struct Checking {
    checker: Checker<'static>,
    contexts: Contexts,
}

/// Prints a line to standard error.
pub fn say(text: &str) {
    let line = format!("genx shim: {text}\n");
    // If the write fails, there is no other way to report.
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
}

/// The name of the program, with only letters, digits, `-` and `_`.
fn program() -> String {
    let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    name.trim()
        .replace(|character: char| !character.is_ascii_alphanumeric() && character != '-', "_")
}

/// Opens the file of a trace: `path`, or `path` with `.PROGRAM.PID` if `path` exists, because
/// another process may be writing it.
fn trace_file(path: &Path, process: &str) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{process}"));
            let other = PathBuf::from(name);
            say(&format!("{} exists already: the trace is in {}", path.display(), other.display()));
            File::create_new(other)
        }
        file => file,
    }
}

/// Creates `START.NUMBER.txt` with the first free number from `number` on, and fails after 1000
/// numbers. Existing files and links are never changed, because any user may be able to write to
/// the directory.
fn create(directory: &Path, start: &str, number: u32) -> io::Result<(File, PathBuf)> {
    const MOST_TRIES: u32 = 1000;
    let mut last = io::ErrorKind::AlreadyExists.into();
    for number in number..number.saturating_add(MOST_TRIES) {
        let path = directory.join(format!("{start}.{number}.txt"));
        match File::create_new(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// A function that returns the parts of an object that may contain bytes other than zero.
pub type Populated<'a> = &'a dyn Fn(ObjectId) -> Vec<Range<usize>>;

/// Fills `out` with the bytes of an object from `offset` on. There is no slice of an object,
/// because the client may write its memory at any time.
fn read(gpu: &Gpu, listed: &Listed, offset: usize, out: &mut [u8]) {
    // This cannot fail: the machine has adopted the frames.
    let _ = gpu.memory.read_physical(listed.frames.address() + offset as u64, out);
}

/// A copy of the populated parts of an object, with zeros between them.
fn copy(gpu: &Gpu, listed: &Listed, parts: &[Range<usize>]) -> Vec<u8> {
    // Fresh zeros of the allocator take no memory until they are written.
    let mut bytes = vec![0; listed.frames.bytes() as usize];
    for part in parts {
        read(gpu, listed, part.start, &mut bytes[part.clone()]);
    }
    bytes
}

/// An object of a submission, copied when it is first read.
struct Snapshot<'a> {
    listed: &'a Listed,
    bytes: OnceCell<Vec<u8>>,
}

/// The objects of a submission, readable by address.
struct Snapshots<'a> {
    gpu: &'a Gpu,
    populated: Populated<'a>,
    list: Vec<Snapshot<'a>>,
}

impl<'a> Snapshots<'a> {
    fn new(gpu: &'a Gpu, submitted: &'a Submitted, populated: Populated<'a>) -> Self {
        let snapshot = |listed| Snapshot { listed, bytes: OnceCell::new() };
        let mut list: Vec<Snapshot<'a>> = submitted.objects.iter().map(snapshot).collect();
        list.sort_unstable_by_key(|snapshot| snapshot.listed.address);
        Snapshots { gpu, populated, list }
    }
}

impl Memory for Snapshots<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        let address = plain(address);
        let index = self.list.partition_point(|snapshot| snapshot.listed.address <= address);
        let Some(Snapshot { listed, bytes }) = index.checked_sub(1).map(|index| &self.list[index])
        else {
            return &[];
        };
        let offset = address - listed.address;
        if offset >= listed.frames.bytes() {
            return &[];
        }
        let bytes = bytes.get_or_init(|| copy(self.gpu, listed, &(self.populated)(listed.id)));
        &bytes[offset as usize..]
    }
}

impl Reporter {
    /// A reporter for the output that the options enable. The trace file is created now, other
    /// files when there is something to write.
    pub fn new(config: &Config) -> Reporter {
        let program = program();
        let process = std::process::id();
        let capture = config.capture.as_ref().map(|directory| Capturing {
            directory: directory.join(format!("{program}.{process}")),
            writer: CaptureWriter::new(&program).device(config.device, config.chip().number),
            due: None,
            saved: None,
            known: BTreeMap::new(),
            frames: 0,
        });
        let frames = config.frames.as_ref().map(|directory| ImageFiles {
            directory: directory.join(format!("{program}.{process}")),
            number: 0,
        });
        let trace = config.trace.as_ref().and_then(|path| {
            match trace_file(path, &format!("{program}.{process}")) {
                Ok(file) => {
                    let counters = config.trace_counters.iter().copied();
                    let trace = Trace::new(BufWriter::new(file));
                    let trace = trace.with_counters(counters, config.generation());
                    Some(match config.trace_host {
                        true => trace.with_host_time(MachineClock::new()),
                        false => trace,
                    })
                }
                Err(error) => {
                    say(&format!("cannot write a trace to {}: {error}", path.display()));
                    None
                }
            }
        });
        Reporter {
            capture,
            frames,
            check: config.check.then(|| Checking::new(config)),
            sanitize: Sanitizing::new(config),
            trace,
            stats: config.stats.then(Box::default),
            total: Stats::default(),
            submissions: 0,
            spent: Duration::ZERO,
            faults: 0,
            program,
        }
    }

    /// The name of the program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// True while a capture or a trace is written.
    pub fn is_recording(&self) -> bool {
        self.capture.is_some() || self.trace.is_some()
    }

    /// Called before a submission runs: adds it to the capture and checks its batch. Returns its
    /// number.
    pub fn before(&mut self, gpu: &Gpu, submitted: &Submitted, populated: Populated<'_>) -> u64 {
        if let Some(capture) = &mut self.capture {
            capture.exec(gpu, submitted, populated);
        }
        if let Some(check) = &mut self.check {
            let memory = Snapshots::new(gpu, submitted, populated);
            check.checker.submission(
                &mut check.contexts,
                &Submission {
                    name: &format!("{} exec {}", self.program, self.submissions),
                    number: self.submissions,
                    context: submitted.context,
                    engine: submitted.engine,
                    memory: &memory,
                    address: submitted.address,
                    length: submitted.length,
                    global: false,
                    ring: None,
                },
            );
        }
        self.submissions += 1;
        self.submissions - 1
    }

    /// Runs the submission that was enqueued or resumed, for about `units` units of work.
    pub fn run(&mut self, gpu: &mut Gpu, units: u64) -> Result<Progress, Fault> {
        let start = Instant::now();
        let result = match (&mut self.trace, &mut self.stats, &mut self.sanitize) {
            (None, None, None) => gpu.advance_for(units, None),
            (trace, stats, sanitize) => {
                let mut observers = Observers {
                    trace: trace.as_mut(),
                    stats: stats.as_deref_mut(),
                    sanitizers: sanitize.as_mut().map(|sanitize| &mut sanitize.sanitizers),
                };
                gpu.advance_for(units, Some(&mut observers))
            }
        };
        if let Some(sanitize) = &mut self.sanitize {
            sanitize.print();
        }
        self.spent += start.elapsed();
        self.total += gpu.last_stats();
        result
    }

    /// Called after a submission has run: records the contents of its objects for the capture.
    pub fn after(&mut self, gpu: &Gpu, submitted: &Submitted, populated: Populated<'_>) {
        let Some(capture) = &mut self.capture else { return };
        for listed in &submitted.objects {
            // Fresh zeros of the allocator take no memory until they are written.
            let size = listed.frames.bytes() as usize;
            let known = capture.known.entry(listed.id).or_insert_with(|| vec![0; size]);
            for part in populated(listed.id) {
                read(gpu, listed, part.start, &mut known[part]);
            }
        }
        capture.set_due();
    }

    /// The time at which [`save_if_due`](Self::save_if_due) has something to do; `None` if all
    /// submissions have been saved.
    pub fn due(&self) -> Option<Instant> {
        self.capture.as_ref()?.due
    }

    /// Writes the capture so far if it has submissions that have not been saved, and if the last
    /// save was long enough ago. So little is lost if a signal ends the process.
    pub fn save_if_due(&mut self) {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.save();
        }
    }

    /// Reports a fault: marks it in the trace, prints a line, and writes an error state and the
    /// capture so far. After `MOST_ERRORS` faults, only the trace gets further ones.
    pub fn fault(
        &mut self,
        gpu: &mut Gpu,
        submitted: &Submitted,
        fault: &Fault,
        config: &Config,
        populated: Populated<'_>,
    ) {
        self.faults += 1;
        if let (Some(trace), Some(place)) = (&mut self.trace, fault.place()) {
            trace.mark(Some(place.engine), &fault.to_string());
        }
        if self.faults > MOST_ERRORS {
            if self.faults == MOST_ERRORS + 1 {
                say("further faults are not reported");
            }
            return;
        }
        let hint = match fault {
            Fault::Hang { .. } => " with --work-limit of genx shim",
            _ => "",
        };
        say(&format!("{}: submission {}: {fault}{hint}", self.program, submitted.number));
        let mut memory: Vec<(u64, Vec<u8>)> = Vec::new();
        for listed in &submitted.objects {
            for part in populated(listed.id) {
                let mut bytes = vec![0; part.len()];
                read(gpu, listed, part.start, &mut bytes);
                memory.push((listed.address + part.start as u64, bytes));
            }
        }
        memory.sort_unstable_by_key(|(address, _)| *address);
        let ran = Ran {
            name: &self.program,
            number: submitted.number,
            pci_id: config.device,
            context: Some(submitted.model),
            engine: submitted.engine,
            batch: Some(submitted.address),
            memory: memory.iter().map(|(address, bytes)| (*address, &bytes[..])).collect(),
        };
        let state = gpu.error_state(fault, &ran);
        let start = format!("genx-error-{}.{}", self.program, std::process::id());
        let written = create(&config.errors, &start, self.faults).and_then(|(file, path)| {
            let mut out = BufWriter::new(file);
            error_state::write(&state, Spelling::Linux6_1, &mut out)?;
            out.flush()?;
            Ok(path)
        });
        match written {
            Ok(path) => {
                say(&format!("the error state is in {}: read it with genx decode", path.display()))
            }
            Err(error) => {
                say(&format!("cannot write an error state to {}: {error}", config.errors.display()))
            }
        }
        self.save();
    }

    /// Called when an object is removed: records that in the capture.
    pub fn freed(&mut self, id: ObjectId) {
        if let Some(capture) = &mut self.capture
            && capture.known.remove(&id).is_some()
        {
            capture.writer.free(&name(id));
        }
    }

    /// Called when an image is displayed: writes it to a file and to the capture.
    pub fn displayed(&mut self, fb: &FrameBuffer, bytes: &[u8]) {
        let mut frame = Frame {
            index: 0,
            after_exec: 0,
            object: CaptureObject(0),
            offset: fb.offset.into(),
            width: fb.width,
            height: fb.height,
            pitch: fb.pitch,
            fourcc: String::from_utf8_lossy(&fb.format.to_le_bytes()).into_owned(),
            tiling: tiling(fb.tiling),
        };
        if let Some(frames) = &mut self.frames {
            frames.write(&frame, bytes);
        }
        let Some(capture) = &mut self.capture else { return };
        // A capture contains only objects of submissions.
        if !capture.known.contains_key(&fb.object) {
            return;
        }
        frame.index = capture.frames;
        capture.writer.frame(&name(fb.object), &frame);
        capture.frames += 1;
        capture.set_due();
    }

    /// Writes the capture so far, if there was a submission. Returns the directory that has it.
    fn save(&mut self) -> Option<&Path> {
        let capture = self.capture.as_mut().filter(|_| self.submissions > 0)?;
        let start = Instant::now();
        let written = capture.writer.write(&capture.directory);
        capture.due = None;
        capture.saved = Some((Instant::now(), start.elapsed()));
        match written {
            Ok(()) => Some(&capture.directory),
            Err(error) => {
                say(&format!("cannot write the capture: {error}"));
                None
            }
        }
    }

    /// Called when the process ends: writes the capture and the trace, prints the summary of the
    /// checks and the statistics.
    pub fn finish(&mut self) {
        let submissions = self.submissions;
        if let Some(directory) = self.save() {
            say(&format!("{submissions} submissions are in {}", directory.display()));
        }
        if let Some(trace) = self.trace.take()
            && let Err(error) = trace.finish()
        {
            say(&format!("the trace is incomplete: {error}"));
        }
        if let Some(check) = &self.check {
            let summary = check.checker.summary();
            say(&format!(
                "{}: {} packets and {} kernels checked: {} errors, {} warnings, {} workarounds",
                self.program,
                summary.packets,
                summary.kernels,
                summary.errors,
                summary.warnings,
                summary.workarounds
            ));
        }
        if let Some(sanitize) = &self.sanitize {
            sanitize.summary(&self.program);
        }
        if let Some(tally) = self.stats.take() {
            self.tables(&tally);
        }
    }

    /// Prints the statistics: totals, decoded video by coding standard, the 8 kernels with the most
    /// instructions, and at most 16 packets.
    fn tables(&self, tally: &Tally) {
        let Stats { packets, groups, threads, instructions, messages, pixels, .. } = self.total;
        say(&format!(
            "{}: {} submissions in {:.3} s of the model: {packets} packets, {groups} groups, \
             {threads} threads, {instructions} instructions, {messages} messages, {pixels} pixels of fixed functions",
            self.program,
            self.submissions,
            self.spent.as_secs_f64(),
        ));
        for (codec, counts) in tally.codecs() {
            say(&format!(
                "{}: {} pictures, {} slices of {} bytes, {} macroblocks, {} concealed",
                codec.name(),
                counts.pictures,
                counts.slices,
                counts.bytes,
                counts.macroblocks,
                counts.concealed
            ));
        }
        let mut kernels = tally.kernels();
        kernels.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.instructions));
        for (address, counts) in kernels.into_iter().take(8) {
            say(&format!(
                "kernel {address:#x}: {} threads, {} instructions",
                counts.threads, counts.instructions
            ));
        }
        for (engine, packet, counts) in tally.packets().into_iter().take(16) {
            say(&format!("{}: {packet}: {} times", engine.name(), counts.count));
        }
    }
}

impl ImageFiles {
    /// Writes an image.
    fn write(&mut self, frame: &Frame, bytes: &[u8]) {
        let path = self.directory.join(format!("frame{:05}-crtc{CRTC}.png", self.number));
        self.number += 1;
        let written =
            picture::frame_rgba(frame, bytes).map_err(io::Error::other).and_then(|rgba| {
                std::fs::create_dir_all(&self.directory)?;
                picture::write_rgba(&path, frame.width, frame.height, &rgba)
            });
        if let Err(error) = written {
            say(&format!("cannot write an image to {}: {error}", path.display()));
        }
    }
}

// SAFETY: a `Checker` is not `Send` only because its listener is a `dyn FnMut` that need not be
// `Send`. `Checking::new` is the only constructor, and the type of its listener requires `Send`.
// Everything else in a `Checker` and in `Contexts` is plain data.
unsafe impl Send for Checking {}

impl Checking {
    fn new(config: &Config) -> Checking {
        let rules = match config.chip().generation {
            Generation::Gen8 => Rules::gen8(),
            _ => Rules::gen45(),
        };
        // A process has one set of rules, which lives until the process ends.
        let rules: &'static Rules = Box::leak(Box::new(rules));
        let mut printed: BTreeMap<String, u32> = BTreeMap::new();
        let each: &'static mut (dyn FnMut(&Finding) + Send) =
            Box::leak(Box::new(move |finding: &Finding| {
                let times = printed.entry(finding.rule.id.to_owned()).or_default();
                *times += 1;
                if *times <= MOST_FINDINGS {
                    say(&finding.to_string());
                }
            }));
        Checking { checker: Checker::new(rules, each).from_start(), contexts: Contexts::default() }
    }
}

/// An object's name in captures.
fn name(id: ObjectId) -> String {
    id.0.to_string()
}

fn tiling(number: u32) -> Tiling {
    match number {
        1 => Tiling::X,
        2 => Tiling::Y,
        _ => Tiling::Linear,
    }
}

impl Capturing {
    /// Sets the time of the next save. Called when there is something new to save.
    fn set_due(&mut self) {
        let due = |(end, took): (Instant, Duration)| end + took * SAVE_INTERVAL;
        self.due = Some(self.saved.map_or_else(Instant::now, due));
    }

    /// Adds a submission, with what the client wrote since the previous one.
    fn exec(&mut self, gpu: &Gpu, submitted: &Submitted, populated: Populated<'_>) {
        let written = |listed: &Listed| {
            let known = self.known.get(&listed.id).map_or(&[][..], |known| known);
            let parts = populated(listed.id).into_iter();
            let changed = parts.flat_map(|part| {
                changes(known, part, |offset, out| read(gpu, listed, offset, out))
            });
            (name(listed.id), changed.collect())
        };
        let written: Vec<(String, Writes)> = submitted.objects.iter().map(written).collect();
        let objects =
            submitted.objects.iter().zip(&written).map(|(listed, (name, writes))| WriteObject {
                object: name,
                address: listed.address,
                size: listed.frames.bytes(),
                tiling: tiling(listed.tiling),
                stride: listed.stride,
                writes: writes.iter().map(|(offset, bytes)| (*offset, &bytes[..])).collect(),
            });
        let objects: Vec<WriteObject<'_>> = objects.collect();
        self.writer.exec(
            submitted.context,
            submitted.engine,
            submitted.address,
            submitted.length,
            &objects,
        );
    }
}

/// The 64-byte lines of an object within `part` whose contents differ from the old contents `then`.
/// Each run of adjacent lines has its offset and new contents. Beyond its end, `then` counts as
/// zeros. `read` copies the object from an offset on.
fn changes(
    then: &[u8],
    part: Range<usize>,
    read: impl Fn(usize, &mut [u8]),
) -> Vec<(u64, Vec<u8>)> {
    const ZEROS: [u8; LINE] = [0; LINE];
    const PIECE: usize = 1024 * LINE;
    let mut changed: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut buffer = vec![0; PIECE.min(part.len())];
    for start in part.clone().step_by(PIECE) {
        let now = &mut buffer[..PIECE.min(part.end - start)];
        read(start, now);
        for (start, now) in (start..).step_by(LINE).zip(now.chunks(LINE)) {
            let before = then.get(start..start + now.len()).unwrap_or(&ZEROS[..now.len()]);
            if before == now {
                continue;
            }
            match changed.last_mut() {
                Some((at, bytes)) if *at as usize + bytes.len() == start => {
                    bytes.extend_from_slice(now);
                }
                _ => changed.push((start as u64, now.to_vec())),
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests;
