//! A summary of a hang: the parts of an error state that matter most for finding the cause.
//!
//! For each engine with unfinished work, [`summary`] gives the command that it was executing with
//! its neighbours, the register bits by name (busy units, wait bits, errors), a page fault with the
//! memory near it, a semaphore that is waited for, and the first violation of the manual's rules up
//! to that command.
//!
//! ```no_run
//! use genxml::{decode::Tables, error_state::ErrorState, hang};
//! use std::{fs::File, io::BufReader};
//! let state = ErrorState::read(BufReader::new(File::open("error")?));
//! println!("{}", hang::summary(&state, Tables::gen8()));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Commands and registers are decoded with the tables that the caller gives.
//! [`Summary::platform`] is the GPU that the file is from. The rules are those of Broadwell, so
//! they are checked only with its tables.

mod fault;
mod find;
mod message;
mod registers;
mod show;
mod walk;

pub use fault::{Fault, Near};
pub use find::{of_devcoredump, summary};
pub use message::generation;
pub use registers::{Flags, Units};
pub use show::{ShownLine, Style};

use crate::error_state::{Platform, Process};

/// A summary of the engines with unfinished work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The GPU, if the file names it.
    pub platform: Option<Platform>,
    /// The generation of the tables that the summary was made with, times ten.
    pub generation: u32,
    /// The driver's message.
    pub message: String,
    /// Version of the kernel.
    pub kernel: String,
    /// The engines that hung or were busy; those that hung come first.
    pub engines: Vec<Hang>,
    /// The engines without unfinished work.
    pub idle: Vec<Idle>,
    /// The page fault in the device's registers.
    pub fault: Option<Fault>,
    /// Errors in the device's registers, by name.
    pub errors: Vec<Flags>,
}

/// An engine without unfinished work.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Idle {
    /// Name of the engine.
    pub engine: String,
    /// Registers that show busy units although the engine has no unfinished work.
    pub units: Vec<Units>,
}

/// An engine with unfinished work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hang {
    /// Name of the engine.
    pub engine: String,
    /// The signs of a hang; empty if it was only busy.
    pub because: Vec<String>,
    /// The process whose request was running.
    pub process: Option<Process>,
    /// The address that the engine was executing (ACTHD), 48 bits. While it executes the ring,
    /// ACTHD is not an address but the value of the head register.
    pub acthd: Option<u64>,
    /// The buffer that holds the address in `acthd`.
    pub location: Location,
    /// The last commands before `command`, the nearest last.
    pub before: Vec<Quoted>,
    /// The command that ACTHD points into.
    pub command: Option<Quoted>,
    /// The next commands after `command`.
    pub after: Vec<Quoted>,
    /// The header of the command that ran (IPEHR).
    pub ipehr: Option<Header>,
    /// The head register: where the engine reads its next command from the ring.
    pub head: Option<RingPosition>,
    /// The tail register: the end of the last command that software wrote.
    pub tail: Option<RingPosition>,
    /// Units that are busy.
    pub units: Vec<Units>,
    /// Bits of other registers that are relevant for a hang.
    pub flags: Vec<Flags>,
    /// The semaphore that the engine waited for.
    pub semaphore: Option<Semaphore>,
    /// The page fault in the engine's register.
    pub fault: Option<Fault>,
    /// The first violation of a rule of severity error, up to the command that was executing. If
    /// the file has no ACTHD, up to the end of the work.
    pub violation: Option<Violation>,
    /// True if the rules were checked: both the GPU and the tables are of their generation.
    pub checked: bool,
}

/// The location of an address in the buffers of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Location {
    /// In a buffer of the file: its name, its address, and the offset in it.
    Buffer(String, u64, u64),
    /// In no buffer of the file.
    #[default]
    Nowhere,
}

/// A quoted command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quoted {
    /// GPU address.
    pub address: u64,
    /// First dword of the command.
    pub header: u32,
    /// Name of the command.
    pub name: &'static str,
    /// Its nesting depth: 0 in the ring, and in a batch that no decoded ring calls.
    pub depth: u32,
    /// The decoder's lines of the command that ACTHD points into; empty for its neighbours.
    pub text: Vec<String>,
    /// The semaphore, if the command waits for one.
    pub semaphore: Option<Semaphore>,
}

/// The header of a command, from a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The header dword.
    pub value: u32,
    /// Name of the command that has this header.
    pub name: Option<&'static str>,
    /// Number of commands from the last one with this header to the one that ACTHD points into; 0
    /// if that command itself has the header, `None` if no quoted command up to it has.
    pub back: Option<usize>,
}

/// A position in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPosition {
    /// Offset in bytes.
    pub offset: u64,
    /// Times that the head went from the end of the ring to its start; 0 for a tail.
    pub wraps: u64,
    /// Address and name of the command that the position lies in; for a tail, of the command
    /// before the position.
    pub command: Option<(u64, &'static str)>,
}

/// A wait for a dword in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore {
    /// GPU address of the dword.
    pub address: u64,
    /// True if the address is in the global page table.
    pub global: bool,
    /// The comparison of memory with the data, by the manual's name: SAD is the value in memory,
    /// SDD the data.
    pub compare: &'static str,
    /// The constant in the command that memory is compared with.
    pub data: u32,
    /// The value in memory, if the file has it.
    pub value: Option<u32>,
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Id of the rule.
    pub rule: &'static str,
    /// Name and address of the command that violates the rule.
    pub packet: (&'static str, u64),
    /// The violation in words, with values.
    pub text: String,
}
