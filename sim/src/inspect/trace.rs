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
//! Format: Google's "Trace Event Format": an array of objects with `ph` (B begins a slice, E ends
//! the newest one of its track, i is an instant, C a counter, M names a track), `ts` in
//! microseconds, `pid`, `tid`, `name`, `args`.

use crate::machine::coded::CodedPicture;
use crate::machine::events::{Event, Now};
use crate::mem::Va;
use genxml::engine::EngineId;
use std::io::{self, Write};

/// Writes a trace. Pass every event to it, then call [`finish`](Trace::finish): without it the file
/// is incomplete.
#[derive(Debug)]
pub struct Trace<W: Write> {
    out: W,
    tracks: [Track; EngineId::ALL.len()],
    clock: u64,
    started: bool,
    /// EU instructions of all threads that have ended, for the counter.
    instructions: u64,
    result: io::Result<()>,
}

/// The track of an engine: its open slices, outermost first, and whether its name was written.
#[derive(Clone, Debug, Default)]
struct Track {
    open: Vec<Slice>,
    named: bool,
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
            out,
            tracks: Default::default(),
            clock: 0,
            started: false,
            instructions: 0,
            result: Ok(()),
        }
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
            self.close(now, Slice::Submission)?;
        }
        self.out.write_all(if self.started { b"\n]\n" } else { b"[]\n" })?;
        self.out.flush()
    }

    fn write(&mut self, now: Now, event: &Event<'_>) -> io::Result<()> {
        self.clock = self.clock.max(now.clock);
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

    /// Begins a slice inside the open ones.
    fn open(
        &mut self,
        now: Now,
        slice: Slice,
        name: &str,
        args: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        self.tracks[now.engine as usize].open.push(slice);
        self.record(now, 'B', name, args)
    }

    /// Ends the open slices of an engine that are of kind `outermost` or inside such a slice.
    fn close(&mut self, now: Now, outermost: Slice) -> io::Result<()> {
        while self.tracks[now.engine as usize].open.pop_if(|slice| *slice >= outermost).is_some() {
            self.record(now, 'E', "", |_| Ok(()))?;
        }
        Ok(())
    }

    /// Writes one object. Before the first object of an engine, writes the name of its track.
    fn record(
        &mut self,
        now: Now,
        phase: char,
        name: &str,
        args: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        let track = now.engine as usize;
        if !std::mem::replace(&mut self.tracks[track].named, true) {
            let engine = now.engine.name();
            if !self.started {
                self.separate()?;
                let process =
                    r#"{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"GPU"}}"#;
                self.out.write_all(process.as_bytes())?;
            }
            for (key, value) in
                [("name", format!("\"{engine}\"")), ("sort_index", track.to_string())]
            {
                self.separate()?;
                let track = track + 1;
                write!(
                    self.out,
                    r#"{{"ph":"M","pid":1,"tid":{track},"name":"thread_{key}","args":{{"{key}":{value}}}}}"#
                )?;
            }
        }
        self.separate()?;
        let (micros, rest) = (now.clock / 1000, now.clock % 1000);
        write!(
            self.out,
            r#"{{"ph":"{phase}","pid":1,"tid":{},"ts":{micros}.{rest:03}"#,
            track + 1
        )?;
        if !name.is_empty() {
            self.out.write_all(br#","name":""#)?;
            escape(&mut self.out, name)?;
            self.out.write_all(b"\"")?;
        }
        args(&mut self.out)?;
        self.out.write_all(b"}")
    }

    fn separate(&mut self) -> io::Result<()> {
        let separator: &[u8] =
            if std::mem::replace(&mut self.started, true) { b",\n" } else { b"[\n" };
        self.out.write_all(separator)
    }
}

/// Writes text as the content of a JSON string.
fn escape(out: &mut impl Write, text: &str) -> io::Result<()> {
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(out, "\\{character}")?,
            control if (control as u32) < 0x20 => write!(out, "\\u{:04x}", control as u32)?,
            plain => write!(out, "{plain}")?,
        }
    }
    Ok(())
}
