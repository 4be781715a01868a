//! `genx run`: executes a capture on the model and compares memory with what the capture expects.

use crate::check;
use crate::output::{Error, Exit, bad_input, stdout};
use crate::picture;
use genxml::capture::{Capture, Expectation, Frame};
use genxml::check::{self as rules, Finding, Rules, Summary};
use genxml_sim::Stats;
use genxml_sim::observe::Event;
use genxml_sim::replay::{Replay, Step};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Execute a capture on the model and compare memory with what the capture expects.
///
/// After a fault nothing more runs: submissions count if they ran to their end, and the JSON has `"ok": null` for
/// expectations that were not reached.
///
/// Exit code: 0 all well, 1 an expectation differs or --check finds an error, 2 unusable input, 3 a GPU fault, a hang, or something that the
/// model does not implement.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx run captures/gpgpu_fill
  genx run captures/gpgpu_fill --dump out --stats
  genx run captures/gpgpu_fill --json | jq .expectations")]
pub struct Args {
    /// A capture directory, with manifest.json and data.bin.zst
    input: PathBuf,
    /// Check the capture against the programming restrictions of the manual too, as `genx check` does
    #[arg(long)]
    check: bool,
    /// Write the memory that each expectation names to DIR/NAME.bin, and each frame to DIR/frameN.png
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Print counts of packets, threads, EU instructions, pixels and bytes
    #[arg(long)]
    stats: bool,
    /// Write a line per packet and thread to FILE
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// In the trace, a line per EU instruction too
    #[arg(long, requires = "trace")]
    trace_instructions: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Worker threads; the model works on one so far, and results are the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Units of work (EU instructions, pixels, packets) after which a submission counts as hanging
    #[arg(long, value_name = "UNITS")]
    work_limit: Option<u64>,
}

/// What one expectation came to.
struct Compared {
    difference: Option<genxml::capture::Mismatch>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if args.input.is_file() {
        return Err(bad_input(format!(
            "{}: only capture directories can be run so far, not files (AUB)",
            args.input.display()
        )));
    }
    let capture = Capture::open(&args.input).map_err(bad_input)?;
    let checked = args.check.then(|| checked(&capture));
    let mut dump = args.dump.as_deref().map(Dump::new).transpose()?;
    let instructions = args.trace_instructions;
    let mut trace = args.trace.as_deref().map(|path| Trace::new(path, instructions)).transpose()?;
    let execs = capture.execs().count() as u64;
    let progress = progress(execs, args.json);

    let mut replay = Replay::new(&capture);
    if let Some(units) = args.work_limit {
        replay.gpu().set_work_limit(units);
    }
    let mut stats = Stats::default();
    let mut done = 0;
    let mut compared = Vec::new();
    let mut fault = None;
    while fault.is_none() {
        let step = match &mut trace {
            Some(trace) => replay.step_observed(&mut |event: &Event<'_>| trace.event(event)),
            None => replay.step(),
        };
        let Some(step) = step else { break };
        match step {
            Step::Exec { exec, result } => {
                match result {
                    Ok(more) => {
                        stats += more;
                        done += 1;
                    }
                    Err(error) => {
                        stats += replay.gpu().last_stats();
                        fault = Some((exec.seq, error));
                    }
                }
                progress.inc(1);
            }
            Step::Expectation { expectation, result } => {
                if let Some(dump) = &mut dump {
                    dump.expectation(expectation, replay.bytes(expectation.object))?;
                }
                compared.push(Compared { difference: result.err() });
            }
            Step::Frame(frame) => {
                if let Some(dump) = &mut dump {
                    dump.frame(frame, replay.bytes(frame.object))?;
                }
            }
            Step::Free(_) => {}
        }
    }
    progress.finish_and_clear();
    if let Some(trace) = trace {
        trace.finish()?;
    }

    let differing = compared.iter().filter(|c| c.difference.is_some()).count();
    let ran = match (&fault, differing) {
        (Some(_), _) => Exit::Fault,
        (None, 0) => Exit::Ok,
        (None, _) => Exit::Differs,
    };
    let exit = checked.as_ref().map_or(Exit::Ok, |(_, summary)| check::exit(summary)).max(ran);
    if args.json {
        let mut value = as_json(&capture, (done, execs), &stats, &compared, fault.as_ref(), exit);
        if let Some((findings, summary)) = &checked {
            value["check"] = check::as_json(findings, summary);
        }
        stdout(|out| writeln!(out, "{value:#}"))?;
    } else {
        for difference in compared.iter().filter_map(|c| c.difference.as_ref()) {
            eprintln!("genx: {}: {difference}", capture.name());
        }
        if let Some((seq, fault)) = &fault {
            eprintln!("genx: {}: exec {seq}: {fault}", capture.name());
        }
        let verdict = match ran {
            Exit::Ok => "ok",
            Exit::Differs => "DIFFERS",
            _ => "STOPPED",
        };
        stdout(|out| {
            if let Some((findings, summary)) = &checked {
                findings.iter().try_for_each(|finding| check::write_finding(out, finding))?;
                writeln!(out, "{}: {}", capture.name(), check::verdict(summary))?;
            }
            let submissions = if done == execs { format!("{execs}") } else { format!("{done} of {execs}") };
            writeln!(
                out,
                "{}: {verdict}: {submissions} submissions, {} of {} expectations met",
                capture.name(),
                compared.len() - differing,
                capture.expectations().count(),
            )?;
            if args.stats { write_stats(out, &stats) } else { Ok(()) }
        })?;
    }
    Ok(exit)
}

/// What the rules engine finds in the capture.
fn checked(capture: &Capture) -> (Vec<Finding>, Summary) {
    let mut findings = Vec::new();
    let summary = rules::capture(capture, &Rules::gen8(), &mut |finding| findings.push(finding.clone()));
    (findings, summary)
}

/// A bar on a terminal when there is something to wait for.
fn progress(execs: u64, quiet: bool) -> ProgressBar {
    if quiet || execs < 8 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} submissions, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(execs).with_style(style)
}

/// The counts by name, in the order of printing.
fn counts(stats: &Stats) -> [(&'static str, u64); 7] {
    [
        ("batches", stats.batches),
        ("packets", stats.packets),
        ("threads", stats.threads),
        ("instructions", stats.instructions),
        ("pixels", stats.pixels),
        ("bytes_read", stats.bytes_read),
        ("bytes_written", stats.bytes_written),
    ]
}

fn write_stats(out: &mut dyn Write, stats: &Stats) -> io::Result<()> {
    counts(stats).iter().try_for_each(|(name, count)| writeln!(out, "  {name:<14} {count:>12}"))
}

fn as_json(
    capture: &Capture,
    (done, execs): (u64, u64),
    stats: &Stats,
    compared: &[Compared],
    fault: Option<&(u64, genxml_sim::Fault)>,
    exit: Exit,
) -> Value {
    // They come in the order of the capture, and end with a fault.
    let expectations: Vec<Value> = capture
        .expectations()
        .enumerate()
        .map(|(index, expectation)| {
            let reached = compared.get(index);
            let difference = reached.and_then(|compared| compared.difference.as_ref());
            json!({
                "name": expectation.name,
                "after_exec": expectation.after_exec,
                "ok": reached.map(|_| difference.is_none()),
                "first_difference": difference.map(|d| json!({
                    "address": format!("{:#x}", d.address),
                    "offset": d.offset,
                    "count": d.count,
                    "text": d.to_string(),
                })),
            })
        })
        .collect();
    json!({
        "capture": capture.name(),
        "exit": exit as u8,
        "submissions": done,
        "submissions_in_capture": execs,
        "expectations": expectations,
        "fault": fault.map(|(seq, fault)| json!({ "exec": seq, "text": fault.to_string() })),
        "stats": counts(stats).into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    })
}

/// Where `--dump` puts things.
struct Dump {
    directory: PathBuf,
    names: BTreeSet<String>,
}

impl Dump {
    fn new(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory)
            .map_err(|error| bad_input(format!("cannot create {}: {error}", directory.display())))?;
        Ok(Dump { directory: directory.to_owned(), names: BTreeSet::new() })
    }

    /// Writes the expected range of an object. A name that comes again gets the submission's number.
    fn expectation(&mut self, expectation: &Expectation, object: &[u8]) -> Result<(), Error> {
        let Expectation { name, after_exec, offset, size, .. } = expectation;
        let mut file = format!("{name}.bin");
        if !self.names.insert(file.clone()) {
            file = format!("{name}.{after_exec}.bin");
            self.names.insert(file.clone());
        }
        let end = (offset + size).min(object.len() as u64) as usize;
        let bytes = object.get(*offset as usize..end).unwrap_or(&[]);
        let path = self.directory.join(file);
        fs::write(&path, bytes)
            .map_err(|error| bad_input(format!("cannot write {}: {error}", path.display())))
    }

    fn frame(&self, frame: &Frame, object: &[u8]) -> Result<(), Error> {
        let rgba = picture::frame_rgba(frame, object).map_err(bad_input)?;
        let path = self.directory.join(format!("frame{}.png", frame.index));
        picture::write_rgba(&path, frame.width, frame.height, &rgba)
    }
}

/// Where `--trace` writes: one line per packet and thread, and per instruction if asked to, words separated by spaces.
struct Trace {
    path: PathBuf,
    instructions: bool,
    out: BufWriter<File>,
    result: io::Result<()>,
}

impl Trace {
    fn new(path: &Path, instructions: bool) -> Result<Self, Error> {
        let file = File::create(path)
            .map_err(|error| bad_input(format!("cannot create {}: {error}", path.display())))?;
        Ok(Trace { path: path.to_owned(), instructions, out: BufWriter::new(file), result: Ok(()) })
    }

    fn event(&mut self, event: &Event<'_>) {
        if self.result.is_err() {
            return;
        }
        self.result = match event {
            Event::Packet { at, dwords } => write!(self.out, "packet {:#014x} {}", at.address, at.packet)
                .and_then(|()| dwords.iter().try_for_each(|dword| write!(self.out, " {dword:08x}")))
                .and_then(|()| writeln!(self.out)),
            Event::Thread { kernel, payload } => {
                writeln!(self.out, "thread {kernel:#014x} {} payload bytes", payload.len())
            }
            Event::Instruction { kernel, ip, mask } if self.instructions => {
                writeln!(self.out, "instruction {kernel:#014x} +{ip:#06x} {mask:08x}")
            }
            _ => Ok(()),
        };
    }

    fn finish(mut self) -> Result<(), Error> {
        self.result
            .and_then(|()| self.out.flush())
            .map_err(|error| bad_input(format!("cannot write {}: {error}", self.path.display())))
    }
}
