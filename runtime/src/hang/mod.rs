//! What hung: the parts of an error state that people look at first, found and put together.
//!
//! [`summary`] gives, for each engine that had not done its work: the command that it was at with
//! those around it, what the registers say by name (units that are not done, wait bits, errors),
//! the access that had no page and what memory is near it, a semaphore that does not hold, and the
//! first rule of the manual that is broken on the way there.
//!
//! ```no_run
//! use genxml::{error_state::ErrorState, hang};
//! use std::{fs::File, io::BufReader};
//! let state = ErrorState::read(BufReader::new(File::open("error")?));
//! println!("{}", hang::summary(&state));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Bits are taken apart by the tables of Broadwell; of another GPU [`Summary::platform`] says so.

mod fault;
mod registers;
mod show;
mod walk;

pub use fault::{Fault, Near};
pub use registers::{Flags, Units};
pub use show::{Shown, Style};

use crate::decode::Tables;
use crate::devcoredump::Devcoredump;
use crate::error_state::{Engine, ErrorState, Platform, Process};
use crate::submission::{Each, Submission};
use std::io;

/// What an error state says of the engines that had not done their work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The GPU, if the file says it.
    pub platform: Option<Platform>,
    /// What the driver says happened.
    pub message: String,
    /// Version of the kernel.
    pub kernel: String,
    /// The engines that hung or were at work, those that hung first.
    pub engines: Vec<Hang>,
    /// The engines that had nothing to do.
    pub idle: Vec<String>,
    /// Access without a page, as the device's registers have it.
    pub fault: Option<Fault>,
    /// Errors that the device's registers tell, by name.
    pub errors: Vec<Flags>,
}

/// An engine that had not done its work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hang {
    /// Its name.
    pub engine: String,
    /// What says that it hung; empty if it was only at work.
    pub because: Vec<String>,
    /// The process whose request was running.
    pub process: Option<Process>,
    /// The address that the engine was at (ACTHD), 48 bits; in the ring not an address but the
    /// value of the head register.
    pub acthd: Option<u64>,
    /// Where that address is.
    pub place: Place,
    /// The commands before it, the nearest last.
    pub before: Vec<Quoted>,
    /// The command that it points into.
    pub command: Option<Quoted>,
    /// The commands behind it.
    pub after: Vec<Quoted>,
    /// The header of the command that ran (IPEHR).
    pub ipehr: Option<Header>,
    /// The next command of the ring, by the head register.
    pub head: Option<RingPlace>,
    /// Where software's last command ends, by the tail register.
    pub tail: Option<RingPlace>,
    /// Units that are not done.
    pub units: Vec<Units>,
    /// Bits of other registers that mean something for a hang.
    pub flags: Vec<Flags>,
    /// The wait that it was in.
    pub semaphore: Option<Semaphore>,
    /// The access that had no page, as the engine's register has it.
    pub fault: Option<Fault>,
    /// The first rule of severity error that is broken up to the command.
    pub violation: Option<Violation>,
}

/// Where an address is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// In a buffer that the file has: its name, its address, and how many bytes it is in.
    Buffer(String, u64, u64),
    /// In no buffer that the file has.
    #[default]
    Nowhere,
}

/// A command as quoted.
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
    /// The lines of the decoder: the first alone, of the command itself all.
    pub text: Vec<String>,
    /// What it waits for, if it is a wait for a semaphore.
    pub semaphore: Option<Semaphore>,
}

/// The header of a command, from a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The dword.
    pub value: u32,
    /// The command that it is the header of.
    pub name: Option<&'static str>,
    /// How many commands before the one that ACTHD points into stands one with this header: 0 is
    /// that one.
    pub back: Option<usize>,
}

/// A place in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPlace {
    /// Offset in bytes.
    pub offset: u64,
    /// The command that it points into; of a tail the one before it.
    pub command: Option<(u64, &'static str)>,
}

/// A wait for a dword in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore {
    /// GPU address of the dword.
    pub address: u64,
    /// It is one of the global table.
    pub global: bool,
    /// How memory is compared with the data, by the manual's name: SAD is what memory holds, SDD
    /// the data.
    pub compare: &'static str,
    /// The data of the command.
    pub data: u32,
    /// What memory holds, if the file has it.
    pub value: Option<u32>,
}

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its id.
    pub rule: &'static str,
    /// The command that breaks it, and where it is.
    pub packet: (&'static str, u64),
    /// What is broken, in words with values.
    pub text: String,
}

/// What an error state says of the engines that had not done their work.
pub fn summary(state: &ErrorState) -> Summary {
    of(state, &mut |each| state.submissions(each))
}

/// As [`summary`], of a device coredump.
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

/// What says that an engine hung.
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

/// True if an engine had something to do, as far as its registers say.
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
