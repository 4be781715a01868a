//! An engine: what was given to it, what runs on it, and its turn when all engines go on.

use crate::cs::streamer::{Step, Streamer};
use crate::gpu::context::ContextId;
use crate::gpu::image;
use crate::gpu::submission_port::Execlists;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::State;
use crate::machine::watchdog::Budget;
use std::collections::VecDeque;

/// Packets that an engine executes before the next one has its turn.
pub const QUANTUM: u32 = 256;

/// A batch that was given to an engine.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Its context.
    pub context: ContextId,
    /// Address of its first packet.
    pub address: u64,
    /// Its length in bytes, or 0.
    pub length: u64,
}

/// How an engine came to what it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// [`Gpu::enqueue`](crate::Gpu::enqueue).
    Job,
    /// An element of an execution list.
    Element,
    /// The ring that the engine's registers describe.
    Ring,
}

/// What runs on an engine.
#[derive(Clone, Debug)]
pub struct Active {
    /// How it came here.
    pub source: Source,
    /// Address of the context's image in the global table, if it has one.
    pub image: Option<u32>,
    /// The context's number.
    pub number: u32,
    /// What the context goes back to in the end, if its state must not be saved.
    pub unsaved: Option<Box<State>>,
    /// The registers that were loaded from its image, with what they held then.
    pub loaded: Vec<image::Entry>,
    /// Its context.
    pub context: ContextId,
    /// Where it stands.
    pub streamer: Streamer,
    /// What it may still do.
    pub budget: Budget,
}

/// An engine.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    /// Batches that wait for their turn.
    pub queue: VecDeque<Job>,
    /// What runs.
    pub active: Option<Active>,
    /// Execution lists.
    pub lists: Execlists,
    /// The context that ran last.
    pub last: Option<ContextId>,
    /// The context of the ring that the registers describe.
    pub ring: Option<ContextId>,
    /// The ring had a fault: it stands still until its registers are written.
    pub hung: bool,
    /// What the ring may still do until the host writes its registers: commands that move the tail
    /// get no more by it.
    pub ring_budget: Option<Budget>,
}

/// What an engine did in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// There is nothing to do.
    Idle,
    /// What runs waits, and nothing has changed.
    Waits,
    /// Some packets were executed.
    Worked,
    /// Another context takes over.
    Preempted,
    /// The ring goes on with the state of another context.
    Context {
        /// Address of its image.
        address: u32,
        /// Its state is not restored.
        inhibit: bool,
    },
    /// What ran has come to its end.
    Ended,
}

/// Lets a streamer go on until it waits, ends, or another engine has its turn.
///
/// # Errors
/// The [`Fault`] of a packet.
pub fn turn(streamer: &mut Streamer, exec: &mut Exec<'_>) -> Result<Turn, Fault> {
    for count in 0..QUANTUM {
        match streamer.step(exec)? {
            Step::Done => {}
            Step::Waits if count == 0 => return Ok(Turn::Waits),
            Step::Waits | Step::Moves => return Ok(Turn::Worked),
            Step::Preempted => return Ok(Turn::Preempted),
            Step::Context { address, inhibit } => return Ok(Turn::Context { address, inhibit }),
            Step::End => return Ok(Turn::Ended),
        }
    }
    Ok(Turn::Worked)
}
