//! Dumps of every kind as submissions: the work that engines executed, with memory as it was at
//! that time.
//!
//! [`Dump::open`] detects the kind of a file by its contents, compressed or not. The caller must
//! declare plain dwords ([`How`]). [`Dump::submissions`] passes on the submissions one by one. The
//! decoder, the rules and all other readers of dumps work on submissions.
//!
//! ```no_run
//! use genxml::dump::{Dump, How};
//! let mut dump = Dump::open("hang.txt".as_ref(), &How::default())?;
//! dump.submissions(&mut |submission| {
//!     println!("{}: {} engine, {:#x}", submission.name, submission.engine, submission.address);
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod objects;
mod open;
mod text;

pub use error::{DumpError, How};
pub use objects::{Object, Objects};

pub use crate::submission::{Each, Note, Ring, Source, Submission};

use crate::aub;
use crate::batch;
use crate::capture::Capture;
use crate::decode::Tables;
use crate::devcoredump::Devcoredump;
use crate::engine::EngineId;
use crate::error_state::{ErrorState, Platform};
use crate::hang;
use crate::memory::VA_MASK;
use crate::pasted::Batches;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The kinds of dumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A directory of format `genx-capture-1` ([`crate::capture`]).
    Capture,
    /// An AUB file ([`crate::aub`]).
    Aub,
    /// An error state of the kernel's driver i915 ([`crate::error_state`]).
    ErrorState,
    /// A device coredump of the kernel's driver xe ([`crate::devcoredump`]).
    Devcoredump,
    /// Dwords of a batch and nothing else.
    Raw,
    /// A submission of a batch builder ([`crate::batch::Submission`]).
    Built,
    /// A text that describes batches: printed by Mesa, a hex dump, a list of dwords
    /// ([`crate::pasted`]).
    Text,
}

impl Kind {
    /// The name of the kind, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Capture => "capture",
            Kind::Aub => "AUB file",
            Kind::ErrorState => "error state",
            Kind::Devcoredump => "device coredump",
            Kind::Raw => "dwords",
            Kind::Built => "built batch",
            Kind::Text => "text of batches",
        }
    }
}

/// An open dump.
#[derive(Debug)]
pub struct Dump {
    name: String,
    content: Content,
    notes: Vec<Note>,
    /// The GPU that the head of an AUB file names.
    header_platform: Option<Platform>,
    passed: Passed,
}

/// The submissions that were passed on.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    /// Number of submissions; those of a call that ended with an error are included.
    count: u64,
    /// Address of the first submission without memory at its address, if all were like it.
    empty: Option<u64>,
    /// True if a submission had memory at its address.
    found: bool,
    /// Blocks of an AUB file.
    contents: aub::Contents,
}

impl Passed {
    fn add(&mut self, submission: &Submission<'_>) {
        let memory = match (submission.global, submission.memory.global()) {
            (true, Some(global)) => global,
            _ => submission.memory,
        };
        self.count += 1;
        self.found |= !memory.tail(submission.address).is_empty();
        self.empty.get_or_insert(submission.address);
    }
}

enum Content {
    Capture(Capture),
    Aub(Aub),
    ErrorState(Box<ErrorState>),
    Devcoredump(Box<Devcoredump>),
    Raw { engine: EngineId, address: u64, bytes: Vec<u8> },
    Built(batch::Submission),
    Text(Batches),
}

impl From<batch::Submission> for Dump {
    /// A submission of a batch builder as a dump, named after its first buffer.
    fn from(built: batch::Submission) -> Dump {
        let name = built.buffers.first().map_or("batch", |buffer| buffer.name()).to_owned();
        Dump::of(&name, Content::Built(built), Vec::new())
    }
}

/// Where an AUB file comes from. A file can be read again, a stream only once.
enum Aub {
    File(PathBuf),
    Stream(Option<Box<dyn io::Read>>),
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())
    }
}

impl Content {
    fn kind(&self) -> Kind {
        match self {
            Content::Capture(_) => Kind::Capture,
            Content::Aub(_) => Kind::Aub,
            Content::ErrorState(_) => Kind::ErrorState,
            Content::Devcoredump(_) => Kind::Devcoredump,
            Content::Raw { .. } => Kind::Raw,
            Content::Built(_) => Kind::Built,
            Content::Text(_) => Kind::Text,
        }
    }
}

impl Dump {
    fn of(name: &str, content: Content, notes: Vec<Note>) -> Dump {
        let (name, passed) = (name.to_owned(), Passed::default());
        Dump { name, content, notes, passed, header_platform: None }
    }

    /// A dump of plain dwords at `address`, which is cut to 48 bits.
    pub fn raw(engine: EngineId, address: u64, bytes: Vec<u8>) -> Dump {
        let address = address & VA_MASK;
        Dump::of("dwords", Content::Raw { engine, address, bytes }, Vec::new())
    }

    /// The name of the capture, file or built batch; `dwords` for plain dwords without a file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Kind of the dump.
    pub fn kind(&self) -> Kind {
        self.content.kind()
    }

    /// The capture, if the dump is one.
    pub fn capture(&self) -> Option<&Capture> {
        match &self.content {
            Content::Capture(capture) => Some(capture),
            _ => None,
        }
    }

    /// The error state, if the dump is one.
    pub fn error_state(&self) -> Option<&ErrorState> {
        match &self.content {
            Content::ErrorState(state) => Some(state),
            _ => None,
        }
    }

    /// The device coredump, if the dump is one.
    pub fn devcoredump(&self) -> Option<&Devcoredump> {
        match &self.content {
            Content::Devcoredump(dump) => Some(dump),
            _ => None,
        }
    }

    /// The summary of the hang, if the dump is an error state or a device coredump. Commands and
    /// registers are read with `tables`.
    pub fn hang(&self, tables: &Tables) -> Option<hang::Summary> {
        match &self.content {
            Content::ErrorState(state) => Some(hang::summary(state, tables)),
            Content::Devcoredump(dump) => Some(hang::of_devcoredump(dump, tables)),
            _ => None,
        }
    }

    /// The GPU that the dump is from, if the dump says it.
    pub fn platform(&self) -> Option<Platform> {
        match &self.content {
            Content::ErrorState(state) => state.platform(),
            Content::Devcoredump(dump) => dump.state.platform(),
            Content::Capture(capture) => Platform::of_pci_id(capture.device().pci_id),
            Content::Aub(_) | Content::Raw { .. } | Content::Text(_) => self.header_platform,
            Content::Built(_) => Some(Platform::BROADWELL),
        }
    }

    /// The generation of the GPU that the dump is from, times ten: that of
    /// [`platform`](Self::platform), or that in the driver's message (`GPU HANG: ecode 8:0:...`).
    /// `None` if the dump says neither.
    pub fn generation(&self) -> Option<u32> {
        let of_message = || {
            let state = match &self.content {
                Content::ErrorState(state) => state,
                Content::Devcoredump(dump) => &dump.state,
                _ => return None,
            };
            hang::generation(state)
        };
        self.platform().map(|platform| platform.generation).or_else(of_message)
    }

    /// Notes about the file so far, in order: parts that were left out. Problems of the batches are
    /// not included.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// True if a note says that the dump could not be read to its end: the file is truncated or
    /// damaged. Of an AUB file, this is known after [`submissions`](Self::submissions).
    pub fn is_cut(&self) -> bool {
        self.notes.iter().any(|note| note.cut)
    }

    /// Why nothing could be decoded; `None` if the dump has a submission whose memory it has too.
    /// The text says what the dump has instead, and what to do. Call this function after
    /// [`submissions`](Self::submissions): before, the text is not complete.
    pub fn unreadable(&self) -> Option<String> {
        let Passed { count, empty, found, contents } = self.passed;
        if found {
            return None;
        }
        let name = self.kind().name();
        let record = "record it until the program has submitted its work";
        Some(match (self.kind(), empty) {
            (Kind::Raw | Kind::Built | Kind::Text, _) => "the batch has no dwords".into(),
            (_, Some(address)) => {
                let submissions = if count == 1 { "submission" } else { "submissions" };
                format!(
                    "the {name} has {count} {submissions}, but no memory with their commands (the \
                     first at {address:#x}): dump the memory too"
                )
            }
            (Kind::Aub, _) => {
                format!("the {name} starts no work on an engine; it has {contents}: {record}")
            }
            (Kind::Capture, _) => format!("the {name} has no submission: {record}"),
            (Kind::ErrorState, _) => format!(
                "the {name} has no memory of a ring or batch: save the whole file \
                 /sys/class/drm/card0/error"
            ),
            (Kind::Devcoredump, _) => {
                format!("the {name} has no memory of a batch: save the whole file devcoredump/data")
            }
        })
    }

    /// Passes every submission to `each`, in order. An AUB file from a stream (standard input) is
    /// not stored in memory: only the first call passes its submissions.
    ///
    /// # Errors
    /// Errors returned by `each`; the first one ends the iteration. Problems of the dump are in the
    /// [`notes`](Self::notes).
    pub fn submissions(&mut self, each: &mut Each<'_>) -> io::Result<()> {
        let Dump { name, content, notes, passed, .. } = self;
        if matches!(content, Content::Aub(Aub::Stream(None))) {
            return Ok(());
        }
        *passed = Passed::default();
        let mut contents = aub::Contents::default();
        let each = &mut |submission: &Submission<'_>| {
            passed.add(submission);
            each(submission)
        };
        let result = match content {
            Content::Capture(capture) => capture.submissions(each),
            Content::ErrorState(state) => state.submissions(each),
            Content::Devcoredump(dump) => dump.submissions(each),
            Content::Raw { engine, address, bytes } => {
                let (memory, length) = ((*address, &bytes[..]), bytes.len() as u64);
                let batch = Submission::of_batch(*engine, &memory, *address, length);
                each(&Submission { name, ..batch })
            }
            Content::Built(built) => {
                let (address, length) = (built.batch_address, built.batch_length);
                let batch = Submission::of_batch(built.engine, built, address, length);
                each(&Submission { name, ..batch })
            }
            Content::Text(batches) => batches.submissions(each),
            Content::Aub(aub) => {
                let reader = match aub {
                    Aub::File(path) => aub::Reader::open(path),
                    Aub::Stream(stream) => aub::Reader::new(match stream.take() {
                        Some(stream) => stream,
                        None => return Ok(()),
                    }),
                };
                match reader {
                    Ok(mut reader) => {
                        let result = aub::submissions_of(&mut reader, name, notes, each);
                        contents = reader.contents();
                        result
                    }
                    Err(error) => {
                        notes.push(Note { cut: true, ..Note::new(error.to_string()) });
                        Ok(())
                    }
                }
            }
        };
        passed.contents = contents;
        result
    }
}

impl Source for Dump {
    fn submissions(&mut self, each: &mut Each<'_>) -> io::Result<()> {
        Dump::submissions(self, each)
    }

    /// Captures, AUB files and built batches have every submission of their contexts.
    fn is_from_start(&self) -> bool {
        matches!(self.kind(), Kind::Capture | Kind::Aub | Kind::Built)
    }
}
