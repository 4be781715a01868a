//! Submissions: what readers of dumps provide, and decoders and checkers read.

use crate::engine::EngineId;
use crate::memory::Memory;
use std::fmt;
use std::io;

/// One piece of work that an engine executed, with memory as it was at that time.
#[derive(Clone, Copy)]
pub struct Submission<'a> {
    /// Its name for people: `vk_saxpy exec 3`, `rcs0 ring`.
    pub name: &'a str,
    /// Its number: the sequence number that the dump gives it, otherwise its position from 0.
    pub number: u64,
    /// Number of its context: state persists from one submission of a context to the next.
    pub context: u32,
    /// The engine that executes the commands.
    pub engine: EngineId,
    /// Memory at the time of the submission.
    pub memory: &'a dyn Memory,
    /// GPU address of the first command.
    pub address: u64,
    /// Bytes of the batch; 0 if it runs to its MI_BATCH_BUFFER_END.
    pub length: u64,
    /// True if the address goes through the global page table, false if through the context's.
    pub global: bool,
    /// Set if the commands are in a ring: they begin at `address`, have `length` bytes, and wrap
    /// around at the end of the ring.
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

impl<'a> Submission<'a> {
    /// A batch without name, number and context: `length` bytes at `address`, 0 if it runs to its
    /// MI_BATCH_BUFFER_END.
    pub(crate) fn of_batch(
        engine: EngineId,
        memory: &'a dyn Memory,
        address: u64,
        length: u64,
    ) -> Submission<'a> {
        Submission {
            name: "",
            number: 0,
            context: 0,
            engine,
            memory,
            address,
            length,
            global: false,
            ring: None,
        }
    }
}

/// A ring of commands: its first dword follows its last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Address of the ring's first dword in the global page table.
    pub start: u64,
    /// Size of the ring in bytes.
    pub size: u64,
    /// Offset in bytes of the next command that hardware reads.
    pub head: u64,
    /// Offset in bytes after the last command.
    pub tail: u64,
}

/// A function that takes submissions one by one.
pub type Each<'e> = dyn FnMut(&Submission<'_>) -> io::Result<()> + 'e;

/// Anything that provides submissions: a dump, a capture.
pub trait Source {
    /// Passes every submission to `each`, in order.
    ///
    /// # Errors
    /// Errors returned by `each`; the first one ends the iteration.
    fn submissions(&mut self, each: &mut Each<'_>) -> io::Result<()>;

    /// True if the source has every submission of its contexts from their creation on. Otherwise
    /// earlier submissions may have set state.
    fn is_from_start(&self) -> bool {
        false
    }
}

/// A note about a dump, for example about a part that could not be read and was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Where: `line 17`, `byte 0x1234`; empty if the note is about the whole dump.
    pub position: String,
    /// What is wrong or doubtful, and what the reader did.
    pub text: String,
    /// True if the dump could not be read to its end: it is truncated or damaged at this position.
    pub cut: bool,
}

impl Note {
    /// A note about the whole dump, which was read to its end.
    pub fn new(text: String) -> Note {
        Note { position: String::new(), text, cut: false }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.position.is_empty() {
            f.write_str(&self.text)
        } else {
            write!(f, "{}: {}", self.position, self.text)
        }
    }
}
