//! Observers of the model: the tables of `--stats`, the draws and frames of `--observe`, the trace
//! for Perfetto, the trace as text.

use super::args::{Args, Observed};
use super::draws::Draws;
use super::frames::Frames;
use super::report::Report;
use crate::output::{Error, bad_input};
use genxml::eu::Generation;
use genxml_sim::inspect::sanitize::Sanitizers;
use genxml_sim::inspect::trace::MachineClock;
use genxml_sim::inspect::{Tally, Trace};
use genxml_sim::machine::events::{Event, Now, Observer};
use genxml_sim::mem::Lines;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// All observers of a run.
pub struct Listeners {
    tally: Option<Tally>,
    draws: Option<Draws>,
    frames: Option<Frames>,
    trace: Option<(PathBuf, Trace<BufWriter<File>>)>,
    text: Option<TextTrace>,
    sanitizers: Option<Sanitizers>,
    instructions: bool,
}

impl Listeners {
    /// Creates the observers that the arguments select, and their files.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let trace = |path: &PathBuf| {
            let trace = Trace::new(create(path)?);
            let trace = match args.trace_host {
                true => trace.with_host_time(MachineClock::new()),
                false => trace,
            };
            Ok((path.clone(), trace))
        };
        let text = |path: &PathBuf| {
            Ok(TextTrace { path: path.clone(), out: create(path)?, result: Ok(()) })
        };
        Ok(Listeners {
            tally: args.stats.then(Tally::default),
            draws: (args.observe == Some(Observed::Draw)).then(|| Draws::new(args.dump.clone())),
            frames: (args.observe == Some(Observed::Frame)).then(|| Frames::new(args.dump.clone())),
            trace: args.trace.as_ref().map(trace).transpose()?,
            text: args.trace_text.as_ref().map(text).transpose()?,
            sanitizers: None,
            instructions: args.trace_instructions,
        })
    }

    /// Adds the sanitizers and counters that the arguments name, for a GPU of `generation`.
    pub fn select(&mut self, args: &Args, generation: Generation) -> Result<(), Error> {
        if let Some(counter) = args.trace_counters.iter().find(|one| !one.is_for(generation)) {
            let name = counter.name();
            return Err(bad_input(format!(
                "--trace-counters {name}: only for Broadwell; the input is for another GPU"
            )));
        }
        if let Some((path, trace)) = self.trace.take() {
            let counters = args.trace_counters.iter().copied();
            self.trace = Some((path, trace.with_counters(counters, generation)));
        }
        if !args.sanitize.is_empty() {
            let names = args.sanitize.iter().copied();
            self.sanitizers = Some(Sanitizers::new(names, generation).map_err(bad_input)?);
        }
        Ok(())
    }

    /// True if there is an observer. Without observers, the model runs at full speed.
    pub fn any(&self) -> bool {
        self.tally.is_some()
            || self.draws.is_some()
            || self.frames.is_some()
            || self.trace.is_some()
            || self.text.is_some()
            || self.sanitizers.is_some()
    }

    /// True if there are sanitizers.
    pub fn sanitizes(&self) -> bool {
        self.sanitizers.is_some()
    }

    /// Finishes the files, and adds the tables, draws and frames to the report.
    pub fn finish(self, report: &mut Report) -> Result<(), Error> {
        if let Some((path, mut trace)) = self.trace {
            if let Some(stop) = &report.stop {
                trace.mark(stop.place().map(|place| place.engine), &stop.to_string());
            }
            trace.finish().map_err(|error| cannot_write(&path, &error))?;
        }
        if let Some(mut text) = self.text {
            text.result
                .and_then(|()| text.out.flush())
                .map_err(|error| cannot_write(&text.path, &error))?;
        }
        report.sanitized = self.sanitizers;
        report.tally = self.tally;
        report.draws = self.draws.map(Draws::finish).transpose()?;
        report.frames = self.frames.map(Frames::finish).transpose()?;
        Ok(())
    }
}

impl Observer for Listeners {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        if let Some(tally) = &mut self.tally {
            tally.event(now, event);
        }
        if let Some(draws) = &mut self.draws {
            draws.event(event);
        }
        if let Some(frames) = &mut self.frames {
            frames.event(event);
        }
        if let Some((_, trace)) = &mut self.trace {
            trace.event(now, event);
        }
        let is_instruction = matches!(event, Event::Instruction { .. });
        if let Some(text) = &mut self.text
            && (self.instructions || !is_instruction)
        {
            text.event(event);
        }
        if let Some(sanitizers) = &mut self.sanitizers {
            sanitizers.event(now, event);
        }
    }

    fn wants_instructions(&self) -> bool {
        self.instructions
            || self.sanitizers.as_ref().is_some_and(Sanitizers::wants_instructions)
            || self.trace.as_ref().is_some_and(|(_, trace)| trace.wants_instructions())
    }

    fn wants_channels(&self) -> bool {
        false
    }

    fn wants_threads(&self) -> bool {
        let others = self.tally.is_some()
            || self.draws.is_some()
            || self.frames.is_some()
            || self.trace.is_some()
            || self.text.is_some()
            || self.instructions;
        others || self.sanitizers.as_ref().is_some_and(Sanitizers::wants_threads)
    }

    fn wants_accesses(&self) -> bool {
        self.sanitizers.as_ref().is_some_and(Sanitizers::wants_accesses)
            || self.trace.as_ref().is_some_and(|(_, trace)| trace.wants_accesses())
    }

    fn update_lines(&mut self, lines: &Lines) {
        let others = self.trace.as_ref().is_some_and(|(_, trace)| trace.wants_accesses());
        if let (Some(sanitizers), false) = (&mut self.sanitizers, others) {
            sanitizers.update_lines(lines);
        }
    }
}

fn create(path: &Path) -> Result<BufWriter<File>, Error> {
    let file = File::create(path)
        .map_err(|error| bad_input(format!("cannot create {}: {error}", path.display())))?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    bad_input(format!("cannot write {}: {error}", path.display()))
}

/// One line per packet, thread and decoded picture, and per instruction if the observer wants them. Words are
/// separated by spaces.
struct TextTrace {
    path: PathBuf,
    out: BufWriter<File>,
    result: io::Result<()>,
}

impl TextTrace {
    fn event(&mut self, event: &Event<'_>) {
        if self.result.is_err() {
            return;
        }
        self.result = match event {
            Event::Packet { at, dwords, .. } => {
                write!(self.out, "packet {:#014x} {}", at.address, at.packet)
                    .and_then(|()| {
                        dwords.iter().try_for_each(|dword| write!(self.out, " {dword:08x}"))
                    })
                    .and_then(|()| writeln!(self.out))
            }
            Event::Thread { kernel, payload, .. } => {
                writeln!(self.out, "thread {kernel:#014x} {} payload bytes", payload.len())
            }
            Event::Instruction { kernel, ip, mask, .. } => {
                writeln!(self.out, "instruction {kernel:#014x} +{ip:#06x} {mask:08x}")
            }
            Event::Picture(picture) => {
                let (codec, kind) = (picture.codec.name(), picture.kind.name());
                let [width, height] = picture.size();
                let rows = picture.rows();
                writeln!(self.out, "picture {codec} {kind} {rows} {width}x{height} macroblocks")
            }
            _ => Ok(()),
        };
    }
}
