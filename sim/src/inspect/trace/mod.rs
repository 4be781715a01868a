//! Writes a trace for Perfetto (ui.perfetto.dev) and chrome://tracing in the JSON trace event
//! format, event by event.
//!
//! Each engine is a track. A track has nested slices (submission, batches of both levels, packets,
//! thread groups) and instants (flushes and invalidations of caches, decoded pictures). Times are
//! the model's clock; one unit is written as one nanosecond. The clock measures the work done, not
//! the time that hardware would take, and is the same in each run. A counter shows the EU
//! instructions of the threads that have ended; a point is added after each media or GPGPU packet
//! whose threads have ended.
//!
//! [`Trace::with_counters`] adds counters that have a value for each packet. Their points are
//! written when the packet has ended, with the time of its start. Viewers sort by time.
//!
//! [`Trace::with_host_time`] adds a second process with the same slices at times of the host. The
//! end of each slice has its duration in the other time: in the host process that of the model's
//! clock, in the model's process that of the host. In both, it also has the CPU time of the host.
//! The host's times differ from run to run.
//!
//! Format: Google's "Trace Event Format": an array of objects with `ph` (B begins a slice, E ends
//! the newest one of its track, i is an instant, C a counter, M names a track), `ts` in
//! microseconds, `pid`, `tid`, `name`, `args`.

mod counters;
mod host;
mod json;

use crate::machine::coded::CodedPicture;
use crate::machine::events::{Event, Now};
use crate::mem::Va;
pub use counters::{Counter, UnknownCounter};
use counters::{Counters, Point};
use genxml::engine::EngineId;
use genxml::eu::Generation;
pub use host::{HostClock, HostTime, MachineClock};
use json::{Json, Process, Stamp, escape, microseconds};
use std::io::{self, Write};
use std::time::Duration;

/// Writes a trace. Pass every event to it, then call [`finish`](Trace::finish): without it the file
/// is incomplete.
#[derive(Debug)]
pub struct Trace<W: Write> {
    json: Json<W>,
    tracks: [Track; EngineId::ALL.len()],
    clock: u64,
    is_named: bool,
    /// EU instructions of all threads that have ended, for the counter.
    instructions: u64,
    counters: Counters,
    host: Option<Box<dyn HostClock>>,
    result: io::Result<()>,
}

/// The track of an engine: its open slices, outermost first, and whether its name was written.
#[derive(Clone, Debug, Default)]
struct Track {
    open: Vec<Open>,
    named: bool,
}

/// An open slice, and when it began.
#[derive(Clone, Copy, Debug)]
struct Open {
    slice: Slice,
    clock: u64,
    host: HostTime,
}

/// Kinds of slices, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Slice {
    Submission,
    Batch(u8),
    Packet,
    Group,
}

impl<W: Write> Trace<W> {
    /// A trace that is written to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Trace {
            json: Json::new(out),
            tracks: Default::default(),
            clock: 0,
            is_named: false,
            instructions: 0,
            counters: Counters::default(),
            host: None,
            result: Ok(()),
        }
    }

    /// Sets the counters, without those that do not exist for a GPU of `generation`. The observer
    /// must receive the events that the counters need: see
    /// [`wants_instructions`](Self::wants_instructions) and
    /// [`wants_accesses`](Self::wants_accesses).
    #[must_use]
    pub fn with_counters(
        mut self,
        counters: impl IntoIterator<Item = Counter>,
        generation: Generation,
    ) -> Self {
        self.counters = Counters::new(counters.into_iter().collect(), generation);
        self
    }

    /// Adds the time of the host.
    #[must_use]
    pub fn with_host_time(mut self, clock: impl HostClock + 'static) -> Self {
        self.host = Some(Box::new(clock));
        self
    }

    /// True if a counter needs the events of instructions.
    pub fn wants_instructions(&self) -> bool {
        self.counters.has(Counter::Occupancy)
    }

    /// True if a counter needs the events of accesses.
    pub fn wants_accesses(&self) -> bool {
        self.counters.has(Counter::Lines)
    }

    /// Adds an event to the trace.
    pub fn event(&mut self, now: Now, event: &Event<'_>) {
        if self.result.is_ok() {
            self.result = self.write(now, event);
        }
    }

    /// Adds an instant with `text`, such as a fault, to the track of an engine at the time of the
    /// newest event. Without an engine, uses the render engine's track.
    pub fn mark(&mut self, engine: Option<EngineId>, text: &str) {
        if self.result.is_ok() {
            let now = Now { engine: engine.unwrap_or(EngineId::Render), clock: self.clock };
            self.result = self.record(now, 'i', text, |out| out.write_all(br#","s":"t""#));
        }
    }

    /// Ends all open slices, and the file.
    ///
    /// # Errors
    /// The first error of a write.
    pub fn finish(mut self) -> io::Result<()> {
        self.result?;
        self.result = Ok(());
        for engine in EngineId::ALL {
            let now = Now { engine, clock: self.clock };
            let points = self.counters.finish(engine, self.clock);
            self.points(now, points)?;
            self.close(now, Slice::Submission)?;
        }
        self.json.finish()
    }

    fn write(&mut self, now: Now, event: &Event<'_>) -> io::Result<()> {
        self.clock = self.clock.max(now.clock);
        let points = self.counters.event(now, event);
        self.points(now, points)?;
        match *event {
            Event::Submission { address, ring } => {
                self.close(now, Slice::Submission)?;
                let what = if ring { "ring" } else { "submission" };
                self.open(now, Slice::Submission, &format!("{what} {}", Va(address)), |_| Ok(()))
            }
            Event::SubmissionEnd => self.close(now, Slice::Submission),
            Event::Batch { level, address } => {
                self.close(now, Slice::Batch(level))?;
                self.open(now, Slice::Batch(level), &format!("batch {}", Va(address)), |out| {
                    write!(out, r#","args":{{"level":{level}}}"#)
                })
            }
            Event::BatchEnd { level } => self.close(now, Slice::Batch(level)),
            Event::Packet { at, dwords, .. } => {
                self.close(now, Slice::Packet)?;
                let (address, length) = (Va(at.address), dwords.len());
                self.open(now, Slice::Packet, at.packet, |out| {
                    write!(out, r#","args":{{"address":"{address}","dwords":{length}}}"#)
                })
            }
            Event::Group { id: [x, y, z], threads } => {
                self.open(now, Slice::Group, &format!("group {x},{y},{z}"), |out| {
                    write!(out, r#","args":{{"threads":{threads}}}"#)
                })
            }
            Event::GroupEnd { .. } => self.close(now, Slice::Group),
            Event::Flush { cache, invalidates } => {
                let what = if invalidates { "invalidate" } else { "flush" };
                self.record(now, 'i', &format!("{what} {cache:?}"), |out| {
                    out.write_all(br#","s":"t""#)
                })
            }
            Event::Picture(picture) => self.picture(now, picture),
            Event::ThreadEnd { instructions, .. } => {
                self.instructions += instructions;
                Ok(())
            }
            Event::DispatchEnd { .. } => {
                let instructions = self.instructions;
                self.record(now, 'C', "EU instructions", |out| {
                    write!(out, r#","args":{{"executed":{instructions}}}"#)
                })
            }
            _ => Ok(()),
        }
    }

    fn picture(&mut self, now: Now, picture: &CodedPicture<'_>) -> io::Result<()> {
        let CodedPicture { codec, kind, slices, bytes, report, .. } = picture;
        let name = format!("{} {} {}", codec.name(), kind.name(), picture.rows());
        let (decoded, concealed) = (report.macroblocks, report.concealed);
        self.record(now, 'i', &name, |out| {
            write!(
                out,
                r#","s":"t","args":{{"slices":{slices},"bytes":{bytes},"macroblocks":{decoded},"concealed":{concealed}}}"#
            )
        })
    }

    /// Writes points of counters of an engine.
    fn points(&mut self, now: Now, points: Vec<Point>) -> io::Result<()> {
        for Point { clock, track, values } in points {
            let name = format!("{}: {track}", now.engine.name());
            self.record(Now { clock, ..now }, 'C', &name, |out| {
                out.write_all(br#","args":{"#)?;
                for (number, (series, value)) in values.iter().enumerate() {
                    out.write_all(if number == 0 { b"\"" } else { b",\"" })?;
                    escape(out, series)?;
                    write!(out, "\":{value}")?;
                }
                out.write_all(b"}")
            })?;
        }
        Ok(())
    }

    /// Begins a slice inside the open ones.
    fn open(
        &mut self,
        now: Now,
        slice: Slice,
        name: &str,
        args: impl Fn(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        self.record(now, 'B', name, &args)?;
        let host = self.host.as_mut().map(|clock| clock.now());
        let open = Open { slice, clock: now.clock, host: host.unwrap_or_default() };
        self.tracks[now.engine as usize].open.push(open);
        match host {
            Some(host) => self.json.object('B', on_host(now, host), name, args),
            None => Ok(()),
        }
    }

    /// Ends the open slices of an engine that are of kind `outermost` or inside such a slice.
    fn close(&mut self, now: Now, outermost: Slice) -> io::Result<()> {
        let track = now.engine as usize;
        while let Some(open) = self.tracks[track].open.pop_if(|open| open.slice >= outermost) {
            let Some(host) = self.host.as_mut().map(|clock| clock.now()) else {
                self.record(now, 'E', "", |_| Ok(()))?;
                continue;
            };
            let wall = host.wall.saturating_sub(open.host.wall);
            let cpu = host.cpu.saturating_sub(open.host.cpu);
            self.record(now, 'E', "", |out| {
                out.write_all(br#","args":{"host us":"#)?;
                microseconds(out, nanoseconds(wall))?;
                out.write_all(br#","host CPU us":"#)?;
                microseconds(out, nanoseconds(cpu))?;
                out.write_all(b"}")
            })?;
            self.json.object('E', on_host(now, host), "", |out| {
                out.write_all(br#","args":{"CPU us":"#)?;
                microseconds(out, nanoseconds(cpu))?;
                out.write_all(br#","model us":"#)?;
                microseconds(out, now.clock.saturating_sub(open.clock))?;
                out.write_all(b"}")
            })?;
        }
        Ok(())
    }

    /// Writes one object in the model's time. Before the first object of an engine, writes the name
    /// of its track.
    fn record(
        &mut self,
        now: Now,
        phase: char,
        name: &str,
        args: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        let track = now.engine as usize;
        if !std::mem::replace(&mut self.tracks[track].named, true) {
            let host = self.host.as_ref().map(|_| Process::Host);
            let is_first = !std::mem::replace(&mut self.is_named, true);
            for process in [Some(Process::Model), host].into_iter().flatten() {
                if is_first {
                    self.json.name_process(process)?;
                }
                self.json.name_track(process, track, now.engine.name())?;
            }
        }
        let at = Stamp { process: Process::Model, track, nanoseconds: now.clock };
        self.json.object(phase, at, name, args)
    }
}

/// The same track in the process of the host, at a time of the host.
fn on_host(now: Now, host: HostTime) -> Stamp {
    let track = now.engine as usize;
    Stamp { process: Process::Host, track, nanoseconds: nanoseconds(host.wall) }
}

/// At most 584 years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
