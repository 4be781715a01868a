//! Dumps of every kind, as submissions: what engines executed, with memory as it was then.
//!
//! [`Dump::open`] tells the kind by what a file holds, compressed or not, or takes plain dwords.
//! [`Dump::submissions`] gives them one after the other; the decoder, the rules and everything else
//! that reads dumps works on those.
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

mod open;

pub use open::{DumpError, How};

use crate::aub;
use crate::batch;
use crate::capture::{Capture, Event, Playback};
use crate::decode::Memory;
use crate::devcoredump::Devcoredump;
use crate::engine::EngineId;
use crate::error_state::ErrorState;
use crate::hang;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// One thing that an engine executed, with memory as it was then.
#[derive(Clone, Copy)]
pub struct Submission<'a> {
    /// What people call it: `vk_saxpy exec 3`, `rcs0 ring`.
    pub name: &'a str,
    /// Its place in the dump, from 0; what the dump itself counts by, if it does.
    pub number: u64,
    /// The context that it belongs to: state stays from one submission of a context to the next.
    pub context: u32,
    /// The engine.
    pub engine: EngineId,
    /// Memory as it was.
    pub memory: &'a dyn Memory,
    /// GPU address of the first dword.
    pub address: u64,
    /// Bytes of the batch; 0 if it goes on to its MI_BATCH_BUFFER_END.
    pub length: u64,
    /// The address is one of the global page table, otherwise of the context's.
    pub global: bool,
    /// The commands lie in a ring: `address` is where they begin in it, `length` how many bytes of
    /// it are meant, across its end.
    pub ring: Option<Ring>,
}

impl fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Submission { name, number, context, engine, memory: _, address, length, global, ring } =
            self;
        f.debug_struct("Submission")
            .field("name", name)
            .field("number", number)
            .field("context", context)
            .field("engine", engine)
            .field("address", address)
            .field("length", length)
            .field("global", global)
            .field("ring", ring)
            .finish_non_exhaustive()
    }
}

/// A ring of commands: behind its last dword comes its first one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Global address of its first dword.
    pub start: u64,
    /// Its bytes.
    pub size: u64,
    /// Offset in bytes of the next command that hardware reads.
    pub head: u64,
    /// Offset in bytes behind the last command.
    pub tail: u64,
}

/// Takes submissions one after the other.
pub type Each<'e> = dyn FnMut(&Submission<'_>) -> io::Result<()> + 'e;

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
    /// What a builder made ([`crate::batch::Submission`]).
    Built,
}

impl Kind {
    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Capture => "capture",
            Kind::Aub => "AUB file",
            Kind::ErrorState => "error state",
            Kind::Devcoredump => "device coredump",
            Kind::Raw => "dwords",
            Kind::Built => "built batch",
        }
    }
}

/// Something that could not be read and was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Where: `line 17`, `byte 0x1234`; empty if it is about the whole dump.
    pub place: String,
    /// What, and what was done about it.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.text)
        } else {
            write!(f, "{}: {}", self.place, self.text)
        }
    }
}

/// A dump that was opened.
#[derive(Debug)]
pub struct Dump {
    name: String,
    content: Content,
    notes: Vec<Note>,
}

enum Content {
    Capture(Capture),
    Aub(Aub),
    ErrorState(Box<ErrorState>),
    Devcoredump(Box<Devcoredump>),
    Raw { engine: EngineId, address: u64, bytes: Vec<u8> },
    Built(batch::Submission),
}

impl From<batch::Submission> for Dump {
    /// What a builder made, called by the name of its first buffer.
    fn from(built: batch::Submission) -> Dump {
        let name = built.buffers.first().map_or("batch", |buffer| buffer.name()).to_owned();
        Dump { name, content: Content::Built(built), notes: Vec::new() }
    }
}

/// Where an AUB file comes from. A file is read anew each time, a stream once.
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
        }
    }
}

impl Dump {
    /// Dwords that stand at `address`, of which nothing else is known. Addresses are cut to 48
    /// bits.
    pub fn raw(engine: EngineId, address: u64, bytes: Vec<u8>) -> Dump {
        let address = address & crate::decode::VA_MASK;
        Dump {
            name: "dwords".into(),
            content: Content::Raw { engine, address, bytes },
            notes: Vec::new(),
        }
    }

    /// What the dump is called: the capture's name, or the file's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.content.kind()
    }

    /// The capture, if it is one.
    pub fn capture(&self) -> Option<&Capture> {
        match &self.content {
            Content::Capture(capture) => Some(capture),
            _ => None,
        }
    }

    /// The error state, if it is one.
    pub fn error_state(&self) -> Option<&ErrorState> {
        match &self.content {
            Content::ErrorState(state) => Some(state),
            _ => None,
        }
    }

    /// The device coredump, if it is one.
    pub fn devcoredump(&self) -> Option<&Devcoredump> {
        match &self.content {
            Content::Devcoredump(dump) => Some(dump),
            _ => None,
        }
    }

    /// What hung, if it is an error state or a device coredump.
    pub fn hang(&self) -> Option<hang::Summary> {
        match &self.content {
            Content::ErrorState(state) => Some(hang::summary(state)),
            Content::Devcoredump(dump) => Some(hang::of_devcoredump(dump)),
            _ => None,
        }
    }

    /// What was left out so far, in order: what is wrong with the file, not with the batches in it.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Gives every submission to `each`, in order. A dump that comes from a stream and is not kept
    /// in memory (an AUB file from standard input) gives them once.
    ///
    /// # Errors
    /// Those of `each`, with which it ends. What is wrong with the dump is in the
    /// [`notes`](Self::notes).
    pub fn submissions(&mut self, each: &mut Each<'_>) -> io::Result<()> {
        let Dump { name, content, notes } = self;
        match content {
            Content::Capture(capture) => of_capture(capture, each),
            Content::ErrorState(state) => state.submissions(each),
            Content::Devcoredump(dump) => dump.submissions(each),
            Content::Raw { engine, address, bytes } => of_raw(name, *engine, *address, bytes, each),
            Content::Built(built) => each(&Submission {
                name,
                number: 0,
                context: 0,
                engine: built.engine,
                memory: built,
                address: built.batch_address,
                length: built.batch_length,
                global: false,
                ring: None,
            }),
            Content::Aub(aub) => {
                let reader = match aub {
                    Aub::File(path) => aub::Reader::open(path),
                    Aub::Stream(stream) => aub::Reader::new(match stream.take() {
                        Some(stream) => stream,
                        None => return Ok(()),
                    }),
                };
                match reader {
                    Ok(reader) => aub::submissions(reader, name, notes, each),
                    Err(error) => {
                        notes.push(Note { place: String::new(), text: error.to_string() });
                        Ok(())
                    }
                }
            }
        }
    }
}

/// The submissions of a capture.
///
/// # Errors
/// Those of `each`.
pub fn of_capture(capture: &Capture, each: &mut Each<'_>) -> io::Result<()> {
    let mut playback = Playback::new(capture);
    while let Some(event) = playback.step() {
        if let Event::Exec(exec) = event {
            each(&Submission {
                name: &format!("{} exec {}", capture.name(), exec.seq),
                number: exec.seq,
                context: exec.context,
                engine: exec.engine,
                memory: &playback.memory(exec),
                address: exec.batch_address,
                length: exec.batch_length,
                global: false,
                ring: None,
            })?;
        }
    }
    Ok(())
}

/// Dwords at an address as a submission.
///
/// # Errors
/// Those of `each`.
pub fn of_raw(
    name: &str,
    engine: EngineId,
    address: u64,
    bytes: &[u8],
    each: &mut Each<'_>,
) -> io::Result<()> {
    each(&Submission {
        name,
        number: 0,
        context: 0,
        engine,
        memory: &(address, bytes),
        address,
        length: bytes.len() as u64,
        global: false,
        ring: None,
    })
}
