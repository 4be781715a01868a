//! A summary of a hang: the parts of an error state that people read first.
//!
//! For each engine with unfinished work, [`summary`] gives the command that it was executing with
//! its neighbours, the register bits by name (busy units, wait bits, errors), a page fault with the
//! memory near it, a semaphore that is waited for, and the first violation of the manual's rules up
//! to that command.
//!
//! ```no_run
//! use genxml::{error_state::ErrorState, hang};
//! use std::{fs::File, io::BufReader};
//! let state = ErrorState::read(BufReader::new(File::open("error")?));
//! println!("{}", hang::summary(&state));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Registers are decoded with the tables of Broadwell; [`Summary::platform`] names another GPU.

mod fault;
mod registers;
mod show;
mod walk;

pub use fault::{Fault, Near};
pub use registers::{Flags, Units};
pub use show::{ShownLine, Style};

use crate::decode::Tables;
use crate::devcoredump::Devcoredump;
use crate::error_state::{Engine, ErrorState, Platform, Process};
use crate::submission::{Each, Submission};
use std::io;

/// A summary of the engines with unfinished work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The GPU, if the file names it.
    pub platform: Option<Platform>,
    /// The driver's message.
    pub message: String,
    /// Version of the kernel.
    pub kernel: String,
    /// The engines that hung or were busy; those that hung come first.
    pub engines: Vec<Hang>,
    /// The engines that had nothing to do.
    pub idle: Vec<String>,
    /// The page fault in the device's registers.
    pub fault: Option<Fault>,
    /// Errors in the device's registers, by name.
    pub errors: Vec<Flags>,
}

/// An engine with unfinished work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hang {
    /// Its name.
    pub engine: String,
    /// The signs of a hang; empty if it was only busy.
    pub because: Vec<String>,
    /// The process whose request was running.
    pub process: Option<Process>,
    /// The address that the engine was executing (ACTHD), 48 bits; in the ring it is not an address
    /// but the value of the head register.
    pub acthd: Option<u64>,
    /// The buffer that holds that address.
    pub location: Location,
    /// The commands before it, the nearest last.
    pub before: Vec<Quoted>,
    /// The command that it points into.
    pub command: Option<Quoted>,
    /// The commands after it.
    pub after: Vec<Quoted>,
    /// The header of the command that ran (IPEHR).
    pub ipehr: Option<Header>,
    /// The next command of the ring, from the head register.
    pub head: Option<RingPosition>,
    /// The end of software's last command, from the tail register.
    pub tail: Option<RingPosition>,
    /// Units that are busy.
    pub units: Vec<Units>,
    /// Bits of other registers that are relevant for a hang.
    pub flags: Vec<Flags>,
    /// The semaphore that it waited for.
    pub semaphore: Option<Semaphore>,
    /// The page fault in the engine's register.
    pub fault: Option<Fault>,
    /// The first violation of a rule of severity error, up to the command.
    pub violation: Option<Violation>,
}

/// The position of an address.
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
    /// Its first dword.
    pub header: u32,
    /// Its name.
    pub name: &'static str,
    /// How deep it is nested: 0 in the ring.
    pub depth: u32,
    /// The decoder's lines: all for the command itself, only the first for its neighbours.
    pub text: Vec<String>,
    /// The semaphore, if the command waits for one.
    pub semaphore: Option<Semaphore>,
}

/// The header of a command, from a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The dword.
    pub value: u32,
    /// The command that it is the header of.
    pub name: Option<&'static str>,
    /// The number of commands from one with this header to the one that ACTHD points into; 0 if
    /// that one has it.
    pub back: Option<usize>,
}

/// A position in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPosition {
    /// Offset in bytes.
    pub offset: u64,
    /// The command that it points into; for a tail, the command before it.
    pub command: Option<(u64, &'static str)>,
}

/// A wait for a dword in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore {
    /// GPU address of the dword.
    pub address: u64,
    /// It is one of the global table.
    pub global: bool,
    /// The comparison of memory with the data, by the manual's name: SAD is the value in memory,
    /// SDD the data.
    pub compare: &'static str,
    /// The data of the command.
    pub data: u32,
    /// The value in memory, if the file has it.
    pub value: Option<u32>,
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its id.
    pub rule: &'static str,
    /// The command that violates it, and its address.
    pub packet: (&'static str, u64),
    /// The violation in words, with values.
    pub text: String,
}

/// A summary of the engines with unfinished work.
pub fn summary(state: &ErrorState) -> Summary {
    of(state, &mut |each| state.submissions(each))
}

/// As [`summary`], for a device coredump.
pub fn of_devcoredump(dump: &Devcoredump) -> Summary {
    of(&dump.state, &mut |each| dump.submissions(each))
}

type Submissions<'a> = dyn FnMut(&mut Each<'_>) -> io::Result<()> + 'a;

fn of(state: &ErrorState, submissions: &mut Submissions<'_>) -> Summary {
    let tables = Tables::gen8();
    let text = |key: &str| state.entry(key).unwrap_or_default().to_owned();
    let message = if text("GPU HANG").is_empty() { text("Reason") } else { text("GPU HANG") };
    let kernel = if text("Kernel").is_empty() { text("kernel") } else { text("Kernel") };
    let mut summary = Summary {
        platform: state.platform(),
        message,
        kernel,
        errors: registers::of_device(tables, state),
        ..Summary::default()
    };
    summary.fault = fault::of_device(tables, state);
    for (index, engine) in state.engines.iter().enumerate() {
        let because = because(state, engine);
        if because.is_empty() && !is_at_work(state, engine) {
            summary.idle.push(engine.name.clone());
            continue;
        }
        let mut hang = Hang {
            engine: engine.name.clone(),
            because,
            process: engine.process.clone(),
            acthd: engine.value("ACTHD").map(|acthd| acthd & crate::memory::VA_MASK),
            units: registers::units(tables, engine),
            flags: registers::flags(tables, engine),
            fault: fault::of_engine(tables, state, engine),
            ..Hang::default()
        };
        walk::ring(tables, state, engine, &mut hang);
        walk::batches(tables, state, engine, &mut hang, &mut |each| {
            submissions(&mut |submission: &Submission<'_>| match submission.context == index as u32
            {
                true => each(submission),
                false => Ok(()),
            })
        });
        summary.engines.push(hang);
    }
    summary.engines.sort_by_key(|hang| hang.because.is_empty());
    summary
}

/// The signs that an engine hung.
fn because(state: &ErrorState, engine: &Engine) -> Vec<String> {
    let mut because = Vec::new();
    if engine.value("hung").is_some_and(|hung| hung != 0) {
        because.push("hung: 1".to_owned());
    }
    for (key, start) in
        [("hangcheck", "hung"), ("hangcheck stall", "yes"), ("hangcheck action", "dead")]
    {
        if let Some(value) = engine.entry(key)
            && value.starts_with(start)
        {
            because.push(format!("{key}: {value}"));
        }
    }
    if let Some(context) = engine.entry("Active context")
        && let Some(at) = context.find("guilty ")
        && !context[at + 7..].starts_with('0')
    {
        because.push("its context is guilty".to_owned());
    }
    let message = state.entry("GPU HANG").unwrap_or_default();
    if message.contains(&format!("on {}", engine.name)) {
        because.push("the driver's message names it".to_owned());
    }
    because
}

/// True if an engine had work, as far as its registers show.
fn is_at_work(state: &ErrorState, engine: &Engine) -> bool {
    if engine.entry("IDLE?") == Some("yes") {
        return false;
    }
    let field = |register: &str, field| {
        engine
            .value(register)
            .and_then(|value| crate::error_state::field_of(register, field, value))
    };
    let moved = match (field("HEAD", "HEAD_ADDR"), field("TAIL", "TAIL_ADDR")) {
        (Some(head), Some(tail)) => head != tail,
        _ => engine.value("ACTHD").is_some_and(|acthd| acthd != 0),
    };
    let fault = engine
        .value("FAULT_REG")
        .is_some_and(|value| registers::is_set("FAULT_REG", "Valid Bit", value));
    let batch = state.buffers_of(&engine.name).any(|buffer| !buffer.kind.is_global());
    moved || fault || batch
}
