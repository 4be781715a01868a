//! Error states: the text with which the kernel's driver i915 describes a GPU that hung.
//!
//! `/sys/class/drm/card0/error` holds registers of every engine, the unfinished requests, and the
//! memory of the rings, batches and contexts. The format of the text has changed often since Linux
//! 2.6.37; each version of it is called a [`Spelling`]. [`ErrorState::read`] reads all spellings,
//! and [`write()`] writes any of them.
//!
//! ```no_run
//! use genxml::error_state::ErrorState;
//! use std::{fs::File, io::BufReader};
//! let state = ErrorState::read(BufReader::new(File::open("error")?));
//! for engine in &state.engines {
//!     println!("{}: ACTHD {:#x}", engine.name, engine.value("ACTHD").unwrap_or(0));
//! }
//! for note in &state.notes {
//!     eprintln!("{note}");
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Truncated or damaged files are read as far as possible. [`Note`]s report which parts were
//! skipped. Unknown lines are stored unchanged. Memory use is bounded: see [`MAX_BYTES`] and
//! [`MAX_TEXT`].
//!
//! * [`ErrorState`], [`Engine`], [`Buffer`]: the contents of such a file
//! * [`ErrorState::submissions`]: the work of the engines, for a decoder
//! * [`View`]: memory as an engine sees it
//! * [`write()`], [`Spelling`]: the text as a version of the kernel prints it
//! * [`Crash`]: a hang or page fault of a program or model, to be converted to an error state
//!
//! Sources: `drivers/gpu/drm/i915/i915_gpu_error.c` of Linux 3.10 to 6.17 for the output; Mesa's
//! `aubinator_error_decode.c` and intel-gpu-tools' `intel_error_decode.c` for what readers use.

mod buffer_kind;
mod crash;
pub(crate) mod data;
mod details;
mod fence;
mod guc;
pub(crate) mod lines;
pub(crate) mod marks;
mod memory;
pub(crate) mod parse;
mod platform;
mod read;
mod reduce;
mod spelling;
mod submissions;
mod write;

pub use buffer_kind::BufferKind;
pub(crate) use crash::FAULT_LOW;
pub use crash::{Crash, CrashBuffer, PageFault};
pub use fence::Fence;
pub use memory::View;
pub use platform::Platform;
pub use spelling::{Spelling, UnknownSpelling};
pub(crate) use submissions::field_of;
pub use write::write;

use crate::engine::EngineId;
use std::fmt;

/// Largest total size of the buffers that are read from one file; the rest is skipped with a note.
pub const MAX_BYTES: usize = 1 << 30;

/// Largest size in bytes of the text (registers, lists, unknown lines) that is read from one file.
pub const MAX_TEXT: usize = 64 << 20;

/// The contents of an error state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ErrorState {
    /// The lines about the machine, in order, such as `Kernel`, `PCI ID`, `GPU HANG`.
    pub header: Vec<Entry>,
    /// Registers that do not belong to one engine: `EIR`, `FAULT_TLB_DATA`, `fence[0]`.
    pub registers: Vec<Register>,
    /// The engines in the file.
    pub engines: Vec<Engine>,
    /// Lists of buffers that were in use, without their memory.
    pub lists: Vec<List>,
    /// Pieces of memory.
    pub buffers: Vec<Buffer>,
    /// Lines that the reader does not parse: about the display or the driver's parameters, and
    /// lines of later kernels.
    pub other: Vec<Line>,
    /// Notes about parts that were skipped or are doubtful.
    pub notes: Vec<Note>,
}

/// `key: value` of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The text before the colon.
    pub key: String,
    /// The text after the colon.
    pub value: String,
}

/// A register, or another number that is printed like one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Register {
    /// The kernel's name, with an index where there is one: `ACTHD`, `ROW_INSTDONE[0][1]`.
    pub name: String,
    /// The value; two 32-bit halves are joined.
    pub value: u64,
    /// Further numbers of the line. `HEAD`: ring offset where the request starts. `TAIL`: ring
    /// offsets of its last commands and of its end. `SYNC_0`: the sequence number of the last
    /// synchronization. `batch`: the end address. `FAULT_TLB_DATA`: `DATA0` (the value is `DATA1`).
    pub more: Vec<u64>,
}

/// An engine and its work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Engine {
    /// Its name in present kernels, such as `rcs0`, even if the file has an old name
    /// (`render ring`). An unknown name is unchanged.
    pub name: String,
    /// The process whose request was running.
    pub process: Option<Process>,
    /// Its registers, and numbers of the driver about it, in order.
    pub registers: Vec<Register>,
    /// Lines about it that are not registers: `waiting: yes`, `hangcheck: hung [42]`,
    /// `Active context: ...`.
    pub entries: Vec<Entry>,
    /// Unfinished requests, oldest first, including those in the ports of the execution list.
    pub requests: Vec<Request>,
    /// Lines in its section that the reader does not parse.
    pub other: Vec<Line>,
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// Name of the process (its command).
    pub name: String,
    /// Process id.
    pub pid: i64,
    /// Handle and hardware number of its context.
    pub context: Option<(i64, i64)>,
    /// The driver's penalty points for the context (`score`).
    pub score: Option<i64>,
}

/// A request: a range of a ring that software submitted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// The port of the execution list that holds it; `None` if it is in the engine's list of
    /// requests.
    pub port: Option<u32>,
    /// Id of the process that made the request.
    pub pid: Option<i64>,
    /// Number of the timeline that the sequence number belongs to.
    pub context: Option<u32>,
    /// Sequence number.
    pub seqno: u32,
    /// Offset in bytes in the ring where it starts.
    pub head: Option<u32>,
    /// Offset in bytes in the ring where it ends.
    pub tail: Option<u32>,
    /// Priority.
    pub priority: Option<i64>,
    /// Its other attributes as text, in order: `ban score`, `emitted`, `ctx_desc`.
    pub more: Vec<Entry>,
}

/// A list of buffers in use, without their memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List {
    /// Its name: `Active (rcs0)`, `Pinned (global)`.
    pub name: String,
    /// Number of its address space, if the file numbers the address spaces.
    pub vm: Option<u32>,
    /// The buffers in the list.
    pub rows: Vec<Listed>,
}

/// A buffer in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    /// GPU address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// The rest of the line as text: domains, sequence numbers, flags.
    pub rest: String,
}

/// A piece of memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Buffer {
    /// Its engine ([`Engine::name`]); `None` if it belongs to the whole device.
    pub engine: Option<String>,
    /// Kind of the memory.
    pub kind: BufferKind,
    /// GPU address of the first byte.
    pub address: u64,
    /// Bytes of the memory.
    pub data: Vec<u8>,
    /// Bitwise OR of the sizes in bytes of the pages that map it, if not all are 4 KiB.
    pub page_sizes: Option<u32>,
    /// The line of the file where it begins, from 1; 0 if it is not from a file.
    pub line: u64,
}

/// A line stored unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// Number of the line in the file, from 1.
    pub number: u64,
    /// The text, without the line end.
    pub text: String,
}

/// A note about a part that the reader skipped or found doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The line of the file, from 1.
    pub line: u64,
    /// The column of the line, in bytes from 1; 0 if the note is about the whole line.
    pub column: u64,
    /// What was skipped or is doubtful.
    pub text: String,
    /// True if the file could not be read to its end: it is truncated or damaged at this line.
    pub cut: bool,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position(), self.text)
    }
}

impl Note {
    /// The position: `line 5`, or `line 5, column 17`.
    pub fn position(&self) -> String {
        match self.column {
            0 => format!("line {}", self.line),
            column => format!("line {}, column {column}", self.line),
        }
    }
}

impl Buffer {
    /// The address after the last byte.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.data.len() as u64)
    }
}

impl BufferKind {
    /// The kind of a buffer with this name in a file: `HW context`, `gtt_offset`.
    pub fn of_name(name: &str) -> BufferKind {
        spelling::buffer_kind(name)
    }
}

impl Register {
    /// A register with this value.
    pub fn new(name: impl Into<String>, value: u64) -> Register {
        Register { name: name.into(), value, more: Vec::new() }
    }
}

impl Engine {
    /// The register of this name.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name == name)
    }

    /// The value of the register of this name.
    pub fn value(&self, name: &str) -> Option<u64> {
        self.register(name).map(|register| register.value)
    }

    /// The value of the first line with this key.
    pub fn entry(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
    }

    /// The engine of Broadwell with the same commands; the render engine for a compute engine.
    /// `None` if Broadwell has no such engine.
    pub fn id(&self) -> Option<EngineId> {
        spelling::engine_id(&self.name)
    }

    /// The number of the engine among those of its class: 1 for `vcs1`.
    pub fn instance(&self) -> u32 {
        let digits = self.name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(0)
    }
}

impl ErrorState {
    /// True if a file that starts with these bytes is probably an error state: one of its first 12
    /// lines, within the first 4096 bytes, looks like a header or the first line of a section.
    pub fn starts_like(start: &[u8]) -> bool {
        let start = &start[..start.len().min(4096)];
        start.split(|&byte| byte == b'\n').take(12).any(|line| {
            let line = line.trim_ascii_start();
            const FIRST: [&[u8]; 6] = [
                b"GPU HANG: ",
                b"PCI ID: 0x",
                b"No error state collected",
                b"no error state collected",
                b"Active process (on ring ",
                b"EIR: 0x",
            ];
            FIRST.iter().any(|first| line.starts_with(first))
                || line.ends_with(b" command stream:")
                || (line.windows(5).any(|window| window == b" --- ") && line.contains(&b'='))
        })
    }

    /// The present name of the engine that some kernel calls `name`: `rcs0` for `render ring`. An
    /// unknown name is unchanged.
    pub fn engine_name(name: &str) -> &str {
        spelling::engine_name(name)
    }

    /// The engine of this name.
    pub fn engine(&self, name: &str) -> Option<&Engine> {
        self.engines.iter().find(|engine| engine.name == name)
    }

    /// The value of the first line of the header with this key.
    pub fn entry(&self, key: &str) -> Option<&str> {
        self.header.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
    }

    /// The register of this name, among those that do not belong to one engine.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name == name)
    }

    /// The buffers of an engine, in order.
    pub fn buffers_of<'a>(&'a self, engine: &'a str) -> impl Iterator<Item = &'a Buffer> {
        self.buffers.iter().filter(move |buffer| buffer.engine.as_deref() == Some(engine))
    }

    /// The PCI device id.
    pub fn pci_id(&self) -> Option<u32> {
        parse::hex_prefixed(self.entry("PCI ID")?).map(|(value, _)| value as u32)
    }

    /// The GPU, if the file has enough information.
    pub fn platform(&self) -> Option<Platform> {
        let by_id = self.pci_id().and_then(Platform::of_pci_id);
        by_id.or_else(|| self.entry("Platform").and_then(Platform::of_name))
    }

    /// The state without line numbers and notes, which depend on the file's spelling.
    #[must_use]
    pub fn without_lines(mut self) -> ErrorState {
        self.notes.clear();
        self.buffers.iter_mut().for_each(|buffer| buffer.line = 0);
        let engines = self.engines.iter_mut().flat_map(|engine| engine.other.iter_mut());
        self.other.iter_mut().chain(engines).for_each(|line| line.number = 0);
        self
    }
}
