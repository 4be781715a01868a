//! Objects of the JSON trace event format.

use std::io::{self, Write};

/// A group of tracks, which Perfetto shows as a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Process {
    /// Times are the model's clock.
    Model = 1,
    /// Times are those of the host.
    Host = 2,
}

impl Process {
    fn name(self) -> &'static str {
        match self {
            Process::Model => "GPU",
            Process::Host => "host time",
        }
    }
}

/// Where and when something is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub process: Process,
    /// Number of the track in its process, from 0 on.
    pub track: usize,
    pub nanoseconds: u64,
}

/// A file of objects.
#[derive(Debug)]
pub(super) struct Json<W: Write> {
    out: W,
    is_started: bool,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Self {
        Json { out, is_started: false }
    }

    /// Writes the name of a process.
    pub(super) fn name_process(&mut self, process: Process) -> io::Result<()> {
        self.separate()?;
        let (number, name) = (process as u32, process.name());
        write!(
            self.out,
            r#"{{"ph":"M","pid":{number},"tid":0,"name":"process_name","args":{{"name":"{name}"}}}}"#
        )
    }

    /// Writes the name of a track.
    pub(super) fn name_track(
        &mut self,
        process: Process,
        track: usize,
        name: &str,
    ) -> io::Result<()> {
        for (key, value) in [("name", format!("\"{name}\"")), ("sort_index", track.to_string())] {
            self.separate()?;
            let (process, track) = (process as u32, track + 1);
            write!(
                self.out,
                r#"{{"ph":"M","pid":{process},"tid":{track},"name":"thread_{key}","args":{{"{key}":{value}}}}}"#
            )?;
        }
        Ok(())
    }

    /// Writes an object; `members` writes what follows the name.
    pub(super) fn object(
        &mut self,
        phase: char,
        at: Stamp,
        name: &str,
        members: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        self.separate()?;
        let (process, track) = (at.process as u32, at.track + 1);
        write!(self.out, r#"{{"ph":"{phase}","pid":{process},"tid":{track},"ts":"#)?;
        microseconds(&mut self.out, at.nanoseconds)?;
        if !name.is_empty() {
            self.out.write_all(br#","name":""#)?;
            escape(&mut self.out, name)?;
            self.out.write_all(b"\"")?;
        }
        members(&mut self.out)?;
        self.out.write_all(b"}")
    }

    /// Ends the file.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(if self.is_started { b"\n]\n" } else { b"[]\n" })?;
        self.out.flush()
    }

    fn separate(&mut self) -> io::Result<()> {
        let separator: &[u8] =
            if std::mem::replace(&mut self.is_started, true) { b",\n" } else { b"[\n" };
        self.out.write_all(separator)
    }
}

/// Writes nanoseconds as microseconds, the unit of the format.
pub(super) fn microseconds(out: &mut impl Write, nanoseconds: u64) -> io::Result<()> {
    write!(out, "{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// Writes text as the content of a JSON string.
pub(super) fn escape(out: &mut impl Write, text: &str) -> io::Result<()> {
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(out, "\\{character}")?,
            control if (control as u32) < 0x20 => write!(out, "\\u{:04x}", control as u32)?,
            plain => write!(out, "{plain}")?,
        }
    }
    Ok(())
}
