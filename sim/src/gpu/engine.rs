//! An engine: its queued work, the work that runs on it, and its turn.

use crate::cs::streamer::{Step, Streamer};
use crate::gpu::context::ContextId;
use crate::gpu::image;
use crate::gpu::submission_port::Execlists;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::State;
use crate::machine::watchdog::Budget;
use crate::mem::AccessLog;
use std::collections::VecDeque;

/// Maximum number of packets that an engine executes in one turn.
pub const QUANTUM: u32 = 256;

/// A batch that was submitted to an engine.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The context of the batch.
    pub context: ContextId,
    /// Address of the first packet of the batch.
    pub address: u64,
    /// Length of the batch in bytes; 0 if only MI_BATCH_BUFFER_END ends the batch.
    pub length: u64,
}

/// The way in which work was submitted to an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A batch passed to [`Gpu::enqueue`](crate::Gpu::enqueue).
    Job,
    /// An element of an execution list.
    Element,
    /// The ring that the engine's registers describe.
    Ring,
}

/// The work that runs on an engine: a batch, an element of a list, or a ring.
#[derive(Clone, Debug)]
pub struct Active {
    /// How the work was submitted.
    pub source: Source,
    /// Address of the context's image in the global table, if the context has an image.
    pub image: Option<u32>,
    /// The context's number.
    pub number: u32,
    /// The state to which the context returns when the work ends, if its image inhibits the save.
    pub unsaved: Option<Box<State>>,
    /// The registers that were loaded from the context's image, with their values after the load.
    pub loaded: Vec<image::Entry>,
    /// The context of the work.
    pub context: ContextId,
    /// The position of the work in rings and batches.
    pub streamer: Streamer,
    /// The units of work that are left until the work counts as a hang.
    pub budget: Budget,
    /// The log of accesses, kept from one turn to the next, if an observer wants accesses.
    pub log: Option<Box<AccessLog>>,
}

/// An engine.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    /// Batches that have not started.
    pub queue: VecDeque<Job>,
    /// The work that runs.
    pub active: Option<Active>,
    /// The engine's submission port with the execution lists.
    pub lists: Execlists,
    /// The context that ran last.
    pub last: Option<ContextId>,
    /// The context of the ring that the registers describe.
    pub ring: Option<ContextId>,
    /// True if the ring had a fault: it is stopped until the host writes its registers.
    pub hung: bool,
    /// The ring's budget, which lasts until the host writes the ring's registers. Commands that
    /// move the tail do not renew the budget.
    pub ring_budget: Option<Budget>,
}

/// The result of an engine's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// There is nothing to do.
    Idle,
    /// The work waits, and the turn changed nothing.
    Waits,
    /// Some packets were executed, or media threads made progress.
    Worked,
    /// Another context preempts this one.
    Preempted,
    /// The ring continues with the state of another context.
    Context {
        /// Address of the context's image.
        address: u32,
        /// True if the state of that context is not restored.
        inhibit: bool,
    },
    /// The work has ended.
    Ended,
}

/// Runs a streamer until it waits, ends or leaves its context, for at most [`QUANTUM`] steps.
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
