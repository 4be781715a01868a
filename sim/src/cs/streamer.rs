//! Where a command streamer stands, and its step from packet to packet.
//!
//! Levels (gen8_facts 2.1): commands come from a ring or from a batch. MI_BATCH_BUFFER_START in the ring enters a batch of
//! the first level; there it replaces that batch, or calls one of the second level, and there is no deeper level:
//! inside a second-level batch it is a jump that still returns to the first level. MI_BATCH_BUFFER_END goes back one
//! level. A batch that was given without a ring ends with its first level.

use super::execute::{self, Flow};
use super::semaphore::Wait;
use crate::context::Exec;
use crate::fault::{Fault, Place};
use crate::mem::ADDRESS_MASK;
use crate::observe::{Event, Observer};
use crate::watchdog;

/// A batch being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Address of its first packet.
    pub start: u64,
    /// Address of the next packet.
    pub next: u64,
    /// Where it ends even without MI_BATCH_BUFFER_END.
    pub end: Option<u64>,
    /// True if it lies in the global table, and may do what needs privilege.
    pub global: bool,
}

impl Batch {
    /// A batch at `address`, through the global table or the context's.
    pub fn new(address: u64, global: bool) -> Self {
        let address = address & ADDRESS_MASK & !3;
        Batch { start: address, next: address, end: None, global }
    }
}

/// What a step came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A packet was executed, or a level left.
    Done,
    /// The packet cannot be passed yet; see [`Streamer::wait`].
    Waits,
    /// There is nothing more to execute.
    End,
}

/// The position of a command streamer.
#[derive(Clone, Debug, Default)]
pub struct Streamer {
    first: Option<Batch>,
    second: Option<Batch>,
    wait: Option<Wait>,
    dwords: Vec<u32>,
}

impl Streamer {
    /// At the start of a batch that comes without a ring.
    ///
    /// `length` in bytes is what the driver told the kernel. Hardware never sees it: a batch ends at its
    /// MI_BATCH_BUFFER_END, and that is the rule here as well; 0 says nothing more. Another length is a promise that
    /// the batch does not go on behind it, and ends a batch that has no MI_BATCH_BUFFER_END by then. It holds for this
    /// batch, not for those that it starts.
    pub fn batch(address: u64, length: u64) -> Self {
        let mut batch = Batch::new(address, false);
        batch.end = (length != 0).then(|| (batch.start + (length & !3)).min(ADDRESS_MASK + 1));
        Streamer { first: Some(batch), ..Streamer::default() }
    }

    /// The batch that the next packet comes from.
    pub fn current(&self) -> Option<&Batch> {
        self.second.as_ref().or(self.first.as_ref())
    }

    /// What the last step could not pass.
    pub fn wait(&self) -> Option<&Wait> {
        self.wait.as_ref()
    }

    /// Executes the next packet, or looks again at what could not be passed.
    ///
    /// # Errors
    /// The [`Fault`] of the packet, or of fetching it.
    pub fn step<O: Observer>(&mut self, exec: &mut Exec<'_, O>) -> Result<Step, Fault> {
        if let Some(wait) = &mut self.wait {
            exec.at = wait.at;
            if !wait.passes(exec)? {
                return Ok(Step::Waits);
            }
            self.wait = None;
            return Ok(Step::Done);
        }
        let Some(&batch) = self.current() else { return Ok(Step::End) };
        if batch.end == Some(batch.next) {
            self.leave();
            return Ok(Step::Done);
        }
        exec.privileged = batch.global;
        fetch(exec, &batch, &mut self.dwords)?;
        exec.tell(&Event::Packet { at: exec.at, dwords: &self.dwords });
        exec.stats.packets += 1;
        let flow = execute::execute(exec, &self.dwords)?;
        if let Some(batch) = self.second.as_mut().or(self.first.as_mut()) {
            batch.next = (batch.next + 4 * self.dwords.len() as u64) & ADDRESS_MASK;
        }
        match flow {
            Flow::Next => {}
            Flow::Chain(address) => {
                if self.second.is_some() {
                    return Err(exec.unimplemented(
                        "a first-level MI_BATCH_BUFFER_START inside a second-level batch",
                        "no source says where it returns to",
                    ));
                }
                self.first = Some(Batch::new(address, false));
                exec.stats.batches += 1;
            }
            Flow::Call(address) => {
                self.second = Some(Batch::new(address, false));
                exec.stats.batches += 1;
            }
            Flow::Return => self.leave(),
            // From the second level it ends the first as well (gen8_facts 2.1).
            Flow::End => (self.first, self.second) = (None, None),
            Flow::Wait(wait) => {
                self.wait = Some(wait);
                return Ok(Step::Waits);
            }
        }
        Ok(Step::Done)
    }

    /// Goes back one level.
    fn leave(&mut self) {
        if self.second.take().is_none() {
            self.first = None;
        }
    }
}

/// Reads the next packet of `batch` into `dwords`, and says in `exec.at` which one it is.
fn fetch<O: Observer>(exec: &mut Exec<'_, O>, batch: &Batch, dwords: &mut Vec<u32>) -> Result<(), Fault> {
    let engine = exec.engine;
    exec.at = Place::new(engine, "batch", batch.next, batch.start);
    exec.spend(watchdog::PACKET)?;
    let header =
        exec.view(batch.global).read_u32(batch.next).map_err(|fault| exec.page(fault, "packet header"))?;
    let Some((container, length)) = execute::find(engine, header) else {
        return Err(Fault::UnknownPacket { header, at: exec.at });
    };
    exec.at.packet = container.name;
    if let Some(end) = batch.end {
        let available = ((end - batch.next) / 4) as usize;
        if length > available {
            return Err(Fault::Truncated { needed: length, available, at: exec.at });
        }
    }
    exec.spend(length as u64)?;
    dwords.clear();
    dwords.resize(length, 0);
    dwords[0] = header;
    exec.view(batch.global)
        .read(batch.next + 4, bytemuck::must_cast_slice_mut(&mut dwords[1..]))
        .map_err(|fault| exec.page(fault, "rest of the packet"))
}
