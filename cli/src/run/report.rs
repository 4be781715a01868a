//! The results of a run, as text and as JSON.

use super::draws::Draws;
use super::frames::Frames;
use super::number::{bytes, counted};
use super::sanitized;
use super::tables;
use crate::check;
use crate::output::Exit;
use genxml::aub::{Header, Kind};
use genxml::capture::{Expectation, Mismatch};
use genxml::check::{Finding, Summary};
use genxml::engine::EngineId;
use genxml_sim::aub::{Difference, ReplayError, Stuck};
use genxml_sim::inspect::Tally;
use genxml_sim::inspect::sanitize::Sanitizers;
use genxml_sim::mem::Va;
use genxml_sim::{Fault, Place, Stats};
use serde_json::{Map, Value, json};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// The kind of the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A capture directory.
    Capture,
    /// An AUB file.
    Aub,
}

/// The results of a run.
pub struct Report {
    name: String,
    path: String,
    input: Input,
    /// Number of completed submissions.
    pub submissions: u64,
    /// Number of all submissions of a capture; `None` for an AUB file.
    pub planned: Option<u64>,
    /// The expectations with their results, in order.
    pub expectations: Vec<Compared>,
    /// Registers and memory whose values an AUB file states, each with its first difference.
    pub compared: Vec<Result<(), Difference>>,
    /// The reason why the run ended early.
    pub stop: Option<Stop>,
    /// The header of an AUB file.
    pub header: Option<Header>,
    /// Counts over all submissions.
    pub stats: Stats,
    /// Details, with `--stats`.
    pub tally: Option<Tally>,
    /// Draws, with `--observe draw`.
    pub draws: Option<Draws>,
    /// Decoded pictures, with `--observe frame`.
    pub frames: Option<Frames>,
    /// Wall-clock time.
    pub elapsed: Duration,
    /// The findings of the rules engine, with `--check`.
    pub checked: Option<(Vec<Finding>, Summary)>,
    /// The sanitizers with their findings, with `--sanitize`.
    pub sanitized: Option<Sanitizers>,
}

/// An expectation and its result.
pub struct Compared {
    name: String,
    after_exec: u64,
    /// `None` if the expectation was not reached, `Some(None)` if it was met, otherwise its first
    /// difference.
    result: Option<Option<Mismatch>>,
}

impl Compared {
    /// An expectation and its result: `None` if it was not reached, `Some(None)` if it was met,
    /// otherwise its first difference.
    pub fn new(expectation: &Expectation, result: Option<Option<Mismatch>>) -> Self {
        Compared { name: expectation.name.clone(), after_exec: expectation.after_exec, result }
    }

    fn difference(&self) -> Option<&Mismatch> {
        self.result.as_ref()?.as_ref()
    }

    fn met(&self) -> bool {
        matches!(self.result, Some(None))
    }
}

/// Reasons why a run ended early.
pub enum Stop {
    /// A fault.
    Fault {
        /// Number of the submission in a capture.
        exec: Option<u64>,
        /// Offset in an AUB file. The file starts the faulting submission before this byte.
        byte: Option<u64>,
        /// The fault.
        fault: Fault,
    },
    /// An AUB file waits for something that never happens.
    Stuck(Stuck),
    /// The rest of an AUB file cannot be read.
    Broken(ReplayError),
}

impl Stop {
    /// The position of the fault; `None` if the run did not end with a fault, or its position is
    /// unknown.
    pub fn place(&self) -> Option<Place> {
        match self {
            Stop::Fault { fault, .. } => fault.place(),
            _ => None,
        }
    }

    /// The start of the message: the position in the input.
    fn prefix(&self) -> String {
        match self {
            Stop::Fault { exec: Some(seq), .. } => format!("exec {seq}: "),
            Stop::Fault { byte: Some(byte), .. } => format!("before byte {byte:#x}: "),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Fault { fault: fault @ Fault::Hang { .. }, .. } => {
                write!(f, "{fault} with --work-limit")
            }
            Stop::Fault { fault, .. } => fault.fmt(f),
            Stop::Stuck(stuck) => stuck.fmt(f),
            Stop::Broken(error) => error.fmt(f),
        }
    }
}

/// The result of the run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything ran, and all expectations were met.
    Ok,
    /// An expectation was not met.
    Differs,
    /// The input could not be read to its end.
    Broken,
    /// A fault, or an endless wait of an AUB file, ended the run.
    Stopped,
}

impl Report {
    /// The empty report before the run.
    pub fn new(name: &str, path: &Path, input: Input) -> Self {
        Report {
            name: name.to_owned(),
            path: path.display().to_string(),
            input,
            submissions: 0,
            planned: None,
            expectations: Vec::new(),
            compared: Vec::new(),
            stop: None,
            header: None,
            stats: Stats::default(),
            tally: None,
            draws: None,
            frames: None,
            elapsed: Duration::ZERO,
            checked: None,
            sanitized: None,
        }
    }

    /// The result of the run.
    pub fn verdict(&self) -> Verdict {
        match (&self.stop, self.differing()) {
            (Some(Stop::Broken(_)), _) => Verdict::Broken,
            (Some(_), _) => Verdict::Stopped,
            (None, 0) => Verdict::Ok,
            (None, _) => Verdict::Differs,
        }
    }

    fn differing(&self) -> usize {
        self.expectations.iter().filter(|compared| compared.difference().is_some()).count()
            + self.differences().count()
    }

    /// The values of an AUB file that are not met.
    fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.compared.iter().filter_map(|result| result.as_ref().err())
    }

    /// The engines that ran, with the number of packets that they executed.
    fn engines(&self) -> impl Iterator<Item = (EngineId, u64)> + '_ {
        EngineId::ALL.into_iter().zip(self.stats.engine_packets).filter(|(_, count)| *count > 0)
    }

    /// Prints errors to standard error.
    pub fn complain(&self) {
        for difference in self.expectations.iter().filter_map(Compared::difference) {
            eprintln!("genx: {}: {difference}", self.name);
        }
        for difference in self.differences() {
            eprintln!("genx: {}: {difference}", self.name);
        }
        if let Some(stop) = &self.stop {
            eprintln!("genx: {}: {}{stop}", self.name, stop.prefix());
        }
    }

    /// The report as text.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some((findings, summary)) = &self.checked {
            findings.iter().try_for_each(|finding| check::write_finding(out, finding))?;
            writeln!(out, "{}: {}", self.name, check::verdict(summary))?;
        }
        if let Some(sanitizers) = &self.sanitized {
            sanitized::text(out, sanitizers)?;
            writeln!(out, "{}: {}", self.name, sanitized::verdict(sanitizers))?;
        }
        if let Some(draws) = &self.draws {
            draws.text(out)?;
        }
        if let Some(frames) = &self.frames {
            frames.text(out)?;
        }
        let verdict = match self.verdict() {
            Verdict::Ok => "ok",
            Verdict::Differs => "DIFFERS",
            Verdict::Stopped => "STOPPED",
            Verdict::Broken => "BROKEN OFF",
        };
        let submissions = match self.planned {
            Some(planned) if planned != self.submissions => {
                format!("{} of {planned}", self.submissions)
            }
            _ => self.submissions.to_string(),
        };
        write!(out, "{}: {verdict}: {submissions} submissions", self.name)?;
        match self.input {
            Input::Capture => {
                let met = self.expectations.iter().filter(|compared| compared.met()).count();
                writeln!(out, ", {met} of {} expectations met", self.expectations.len())?;
            }
            Input::Aub if self.compared.is_empty() => writeln!(out)?,
            Input::Aub => {
                let all = self.compared.len();
                let met = all - self.differences().count();
                writeln!(out, ", {met} of {all} expectations met")?;
            }
        }
        if let Some(header) = &self.header {
            writeln!(out, "  {:<13} {}", "recorded", recorded(header))?;
        }
        self.work(out)?;
        if let Some(place) = self.stop.as_ref().and_then(Stop::place) {
            where_it_stopped(out, &place)?;
        }
        self.tally.as_ref().map_or(Ok(()), |tally| tables::text(out, tally))
    }

    /// Writes the counts and the speed.
    fn work(&self, out: &mut dyn Write) -> io::Result<()> {
        let stats = &self.stats;
        let mut line = |name: &str, text: String| writeln!(out, "  {name:<13} {text}");
        let engines: Vec<_> = self
            .engines()
            .map(|(engine, count)| format!("{} {}", engine.name(), counted(count)))
            .collect();
        line("engines", if engines.is_empty() { "none".into() } else { engines.join(", ") })?;
        line(
            "commands",
            format!("{} packets in {} batches", counted(stats.packets), counted(stats.batches)),
        )?;
        if stats.threads > 0 {
            let groups = match stats.groups {
                0 => String::new(),
                groups => format!(" in {} groups", counted(groups)),
            };
            line("threads", format!("{}{groups}", counted(stats.threads)))?;
            let (instructions, messages) = (counted(stats.instructions), counted(stats.messages));
            line("instructions", format!("{instructions}, {messages} messages"))?;
        }
        if stats.pictures > 0 {
            let (slices, macroblocks) = (counted(stats.slices), counted(stats.macroblocks));
            let pictures = counted(stats.pictures);
            line("pictures", format!("{pictures}, {slices} slices, {macroblocks} macroblocks"))?;
        }
        if stats.pixels > 0 {
            line("pixels", counted(stats.pixels))?;
        }
        line(
            "memory",
            format!("{} read, {} written", bytes(stats.bytes_read), bytes(stats.bytes_written)),
        )?;
        if stats.cut_off > 0 {
            let cut_off = counted(stats.cut_off);
            line(
                "cut off",
                format!(
                    "{cut_off} data port accesses beyond the end of a surface or of shared local memory"
                ),
            )?;
        }
        let rate = match self.rate() {
            Some(rate) => format!(", {} EU instructions/s", scaled(rate)),
            None => String::new(),
        };
        line("time", format!("{:.3} s{rate}", self.elapsed.as_secs_f64()))
    }

    /// EU instructions per second; `None` if no instruction ran.
    fn rate(&self) -> Option<f64> {
        let seconds = self.elapsed.as_secs_f64();
        (self.stats.instructions > 0 && seconds > 0.0)
            .then(|| self.stats.instructions as f64 / seconds)
    }

    /// The report as JSON. Scripts depend on the names. Two runs of the same input differ only in
    /// `seconds` and `instructions_per_second`.
    pub fn json(&self, exit: Exit) -> Value {
        let expectations: Vec<Value> = self.expectations.iter().map(expectation_json).collect();
        let engines: Vec<Value> = self
            .engines()
            .map(|(engine, packets)| json!({ "engine": engine.name(), "packets": packets }))
            .collect();
        let stats: Map<String, Value> = counts(&self.stats)
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count.into()))
            .collect();
        let mut value = json!({
            "input": self.path,
            "exit": exit as u8,
            "submissions": self.submissions,
            "expectations": expectations,
            "fault": self.stop.as_ref().map(fault_json),
            "stats": stats,
            "engines": engines,
            "seconds": self.elapsed.as_secs_f64(),
            "instructions_per_second": self.rate(),
        });
        match self.input {
            Input::Capture => {
                value["capture"] = self.name.as_str().into();
                value["submissions_in_capture"] = self.planned.into();
            }
            Input::Aub => {
                value["aub"] = self.header.as_ref().map_or(Value::Null, |header| {
                    json!({
                        "kind": kind(header),
                        "pci_id": header.pci_id.map(|id| format!("{id:#06x}")),
                        "application": header.application,
                    })
                });
                value["compared"] = self.compared.len().into();
                value["differences"] = self.differences().map(ToString::to_string).collect();
            }
        }
        if let Some((findings, summary)) = &self.checked {
            value["check"] = check::as_json(findings, summary);
        }
        if let Some(sanitizers) = &self.sanitized {
            value["sanitize"] = sanitized::json(sanitizers);
        }
        if let Some(draws) = &self.draws {
            value["draws"] = draws.json();
        }
        if let Some(frames) = &self.frames {
            value["frames"] = frames.json();
        }
        if let Some(tally) = &self.tally {
            value["tables"] = tables::json(tally);
        }
        value
    }
}

/// Writes the position of a fault. The message of the fault is on standard error.
fn where_it_stopped(out: &mut dyn Write, place: &Place) -> io::Result<()> {
    let offset = match place.address.checked_sub(place.batch) {
        Some(offset) => format!(", batch {} +{offset:#x}", Va(place.batch)),
        None => String::new(),
    };
    let kernel = match place.thread {
        Some(thread) => format!(", kernel {} ip +{:#x}", Va(thread.kernel), thread.ip),
        None => String::new(),
    };
    let engine = place.engine.name();
    writeln!(out, "  {:<13} {engine} engine, {}{offset}{kernel}", "stopped at", place.packet)
}

fn fault_json(stop: &Stop) -> Value {
    let place = stop.place();
    let (exec, byte) = match stop {
        Stop::Fault { exec, byte, .. } => (*exec, *byte),
        Stop::Stuck(stuck) => (None, Some(stuck.position)),
        Stop::Broken(_) => (None, None),
    };
    let address = |address: u64| format!("{address:#x}");
    let thread = place.and_then(|place| place.thread);
    json!({
        "exec": exec,
        "byte": byte,
        "text": stop.to_string(),
        "engine": place.map(|place| place.engine.name()),
        "packet": place.map(|place| place.packet),
        "address": place.map(|place| address(place.address)),
        "batch": place.map(|place| address(place.batch)),
        "batch_offset": place.and_then(|place| place.address.checked_sub(place.batch)),
        "kernel": thread.map(|thread| address(thread.kernel)),
        "ip": thread.map(|thread| thread.ip),
    })
}

fn kind(header: &Header) -> &'static str {
    match header.kind {
        Kind::Classic => "classic",
        Kind::MemoryTrace => "memory trace",
    }
}

/// Formats the header of an AUB file: `memory trace of saxpy for PCI id 0x1616`
fn recorded(header: &Header) -> String {
    let mut text = kind(header).to_owned();
    if !header.application.is_empty() {
        text += &format!(" of {}", header.application);
    }
    if let Some(id) = header.pci_id {
        text += &format!(" for PCI id {id:#06x}");
    }
    text
}

fn expectation_json(compared: &Compared) -> Value {
    let difference = compared.difference();
    json!({
        "name": compared.name,
        "after_exec": compared.after_exec,
        "ok": compared.result.as_ref().map(Option::is_none),
        "first_difference": difference.map(|d| json!({
            "address": format!("{:#x}", d.address),
            "offset": d.offset,
            "count": d.count,
            "text": d.to_string(),
        })),
    })
}

/// The counts with their names. Those of the video engine are left out if it decoded nothing.
fn counts(stats: &Stats) -> Vec<(&'static str, u64)> {
    let mut counts = vec![
        ("batches", stats.batches),
        ("packets", stats.packets),
        ("groups", stats.groups),
        ("threads", stats.threads),
        ("instructions", stats.instructions),
        ("messages", stats.messages),
        ("pixels", stats.pixels),
        ("bytes_read", stats.bytes_read),
        ("bytes_written", stats.bytes_written),
        ("cut_off", stats.cut_off),
    ];
    if stats.pictures > 0 {
        counts.extend([
            ("pictures", stats.pictures),
            ("slices", stats.slices),
            ("macroblocks", stats.macroblocks),
        ]);
    }
    counts
}

/// Formats a rate: `12.3 M`.
fn scaled(rate: f64) -> String {
    match rate {
        rate if rate >= 1e9 => format!("{:.2} G", rate / 1e9),
        rate if rate >= 1e6 => format!("{:.1} M", rate / 1e6),
        rate if rate >= 1e3 => format!("{:.1} k", rate / 1e3),
        rate => format!("{rate:.0} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        let numbers = [0, 7, 999, 1000, 12_345, 1_234_567];
        assert_eq!(numbers.map(counted), ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        let sizes = [0, 1023, 1024, 1536, 5 << 20, 3 << 40];
        assert_eq!(
            sizes.map(bytes),
            ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "5.0 MiB", "3072.0 GiB"]
        );
        assert_eq!([12.0, 1234.0, 2.5e6, 3e9].map(scaled), ["12 ", "1.2 k", "2.5 M", "3.00 G"]);
    }
}
