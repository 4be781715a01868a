//! The position of a command streamer, and its step from packet to packet.
//!
//! Commands come from a ring or from a batch. Batches have two levels (gen8_facts 2.1).
//! MI_BATCH_BUFFER_START enters the first level from the ring. In a first-level batch it replaces
//! that batch or calls a second-level batch. There is no third level: if a second-level batch
//! starts a second-level batch, that is a jump, and the end of its target still returns to the
//! first level. If a second-level batch starts a first-level batch, the new batch replaces both
//! levels. MI_BATCH_BUFFER_END goes back one level. A submission without a ring ends when its
//! first-level batch ends.

use super::execute::Commands;
use super::flow::Flow;
use super::status;
use crate::assumptions::FIRST_LEVEL_START_LEAVES_SECOND_LEVEL;
use crate::machine::device::Device;
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::state::Changed;
use crate::machine::wait::Wait;
use crate::machine::watchdog;
use crate::media;
use crate::mem::{ADDRESS_MASK, Client};
use crate::video;
use genxml::core::{Shifted, U};
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::{
    RingBbstate, RingCtl, RingCtlRingReport, RingHead, RingStart, RingTail,
};
use std::collections::VecDeque;

/// A batch being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Address of the first packet of the batch.
    pub start: u64,
    /// Address of the next packet.
    pub next: u64,
    /// Address at which the batch ends even without MI_BATCH_BUFFER_END, if there is a limit.
    pub end: Option<u64>,
    /// True if the batch is read through the global table. Its commands are then privileged.
    pub global: bool,
    /// True while the resource streamer follows the batch
    /// (assumptions::RESOURCE_STREAMER_FOLLOWS_BATCHES).
    pub resource_streamer: bool,
}

impl Batch {
    /// A batch at `address`. It is read through the global table if `global`, else through the
    /// context's page tables.
    pub fn new(address: u64, global: bool) -> Self {
        let address = address & ADDRESS_MASK & !3;
        Batch { start: address, next: address, end: None, global, resource_streamer: false }
    }
}

/// A ring of commands in the global table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ring {
    /// Address of the first byte of the ring.
    pub start: u64,
    /// Size of the ring in bytes, whole pages.
    pub size: u32,
    /// Byte offset of the next packet.
    pub head: u32,
    /// Byte offset of the end of the last packet.
    pub tail: u32,
    /// Number of times that the head wrapped to the start, modulo 2^11.
    pub wraps: u32,
    /// Interval in bytes at which the head is written to the status page; 0 for never.
    pub report: u32,
}

impl Ring {
    /// The ring that an engine's registers describe.
    pub fn of(device: &Device, engine: EngineId) -> Self {
        let control = RingCtl::unpack_lossy(&[device.engine(engine, RingCtl::OFFSET)]);
        let head = RingHead::unpack_lossy(&[device.engine(engine, RingHead::OFFSET)]);
        let size = control.ring_nr_pages.get() as u32 * 4096;
        Ring {
            start: u64::from(device.engine(engine, RingStart::OFFSET)) & !4095,
            size,
            head: head.head_addr.get() as u32 % size,
            tail: tail(device, engine) % size,
            wraps: head.head_wrap_count.get() as u32,
            report: match control.ring_report {
                RingCtlRingReport::_64KB => 64 << 10,
                RingCtlRingReport::_4KB => 4 << 10,
                RingCtlRingReport::_128KB => 128 << 10,
                _ => 0,
            },
        }
    }

    /// The value of RING_HEAD.
    pub fn head_register(&self) -> u32 {
        let [register] = RingHead {
            head_addr: Shifted::new(self.head.into()).unwrap_or_default(),
            head_wrap_count: U::from_bits(self.wraps.into()),
        }
        .pack();
        register
    }

    /// Bytes from head to tail.
    fn filled(&self) -> u32 {
        if self.tail >= self.head {
            self.tail - self.head
        } else {
            self.size - self.head + self.tail
        }
    }

    /// Moves the head by `bytes`. True if the head must now be written to the status page.
    fn advance(&mut self, bytes: u32) -> bool {
        let from = self.head;
        self.head = from + bytes;
        let reports = self.report != 0 && self.head / self.report != from / self.report;
        if self.head >= self.size {
            self.head -= self.size;
            self.wraps = (self.wraps + 1) % (U::<11>::MAX.get() as u32 + 1);
            return self.report != 0;
        }
        reports
    }
}

/// Byte offset of the end of the last packet in the ring, from RING_TAIL.
pub(crate) fn tail(device: &Device, engine: EngineId) -> u32 {
    RingTail::unpack_lossy(&[device.engine(engine, RingTail::OFFSET)]).tail_addr.get() as u32
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A packet was executed, a wait ended, or the end of a batch was reached.
    Done,
    /// The current packet still waits; see [`Streamer::wait`].
    Waits,
    /// As `Waits`, but media threads made progress, which may end the wait.
    Moves,
    /// Another context preempts this one here.
    Preempted,
    /// The ring continues with the state of another context.
    Context {
        /// Address of the context's image.
        address: u32,
        /// True if the state of that context is not restored.
        inhibit: bool,
    },
    /// There is nothing more to execute.
    End,
}

/// The position of a command streamer.
#[derive(Clone, Debug, Default)]
pub struct Streamer {
    /// The packets of the GPU's generation.
    commands: Commands,
    /// True if [`Event::Submission`] was emitted.
    told: bool,
    ring: Option<Ring>,
    /// Batches that run before anything else.
    prologue: VecDeque<Batch>,
    /// Position at which the streamer continues after the batches that run when its context is
    /// restored.
    behind_restore: Option<Box<Position>>,
    first: Option<Batch>,
    second: Option<Batch>,
    wait: Option<Wait>,
    /// True if media threads make progress while the streamer waits.
    moves: bool,
    dwords: Vec<u32>,
}

/// A position in batches; without a batch, the position is the head of the ring.
#[derive(Clone, Debug, Default)]
struct Position {
    first: Option<Batch>,
    second: Option<Batch>,
    wait: Option<Wait>,
}

/// The client of accesses for which no unit sets another client.
fn client(exec: &Exec<'_>) -> Client {
    match exec.engine {
        _ if exec.at.packet.starts_with("MI_") => Client::CommandStreamer,
        EngineId::Render => Client::CommandStreamer,
        EngineId::Blitter => Client::Blitter,
        EngineId::Video => Client::Video,
        EngineId::VideoEnhance => Client::VideoEnhance,
    }
}

impl Streamer {
    /// A streamer at the start of a batch without a ring.
    ///
    /// A batch ends at its MI_BATCH_BUFFER_END, as on hardware. `length` is the length in bytes
    /// that the driver passed to the kernel; hardware never gets it. A batch that has no
    /// MI_BATCH_BUFFER_END before `length` ends there. A `length` of 0 means no limit. The limit
    /// does not apply to batches that this batch starts.
    pub fn batch(address: u64, length: u64) -> Self {
        let mut batch = Batch::new(address, false);
        batch.end = (length != 0).then(|| (batch.start + (length & !3)).min(ADDRESS_MASK + 1));
        Streamer { prologue: [batch].into(), ..Streamer::default() }
    }

    /// A streamer at the head of a ring.
    pub fn ring(ring: Ring) -> Self {
        Streamer { ring: Some(ring), ..Streamer::default() }
    }

    /// The streamer for another generation than Gen8, whose packets are `commands`.
    #[must_use]
    pub fn with_commands(self, commands: Commands) -> Self {
        Streamer { commands, ..self }
    }

    /// The streamer after a restore of its context: it executes `batches` first. If the context was
    /// switched out within such batches, all of them start again.
    #[must_use]
    pub fn restored(mut self, batches: Vec<Batch>) -> Self {
        let position = Position {
            first: self.first.take(),
            second: self.second.take(),
            wait: self.wait.take(),
        };
        let position = self.behind_restore.take().unwrap_or_else(|| Box::new(position));
        self.prologue = batches.into();
        self.behind_restore = Some(position);
        self
    }

    /// The ring, if there is one.
    pub fn ring_mut(&mut self) -> Option<&mut Ring> {
        self.ring.as_mut()
    }

    /// The streamer at the position where it was switched out, with the current state `ring` of its
    /// ring. `None` if the head of the ring has changed since then, or if the streamer has no ring.
    /// A semaphore that the streamer waited for is compared again.
    pub fn resume(mut self, ring: Ring) -> Option<Self> {
        if self.ring.is_none_or(|old| old.head != ring.head) {
            return None;
        }
        self.ring = Some(ring);
        self.told = false;
        self.signal();
        Some(self)
    }

    /// True if the head of the ring does not describe the streamer's whole position: it is in a
    /// batch, or it waits.
    pub fn is_within(&self) -> bool {
        let within = |first: &Option<Batch>, wait: &Option<Wait>| first.is_some() || wait.is_some();
        let behind = self.behind_restore.as_ref().is_some_and(|at| within(&at.first, &at.wait));
        within(&self.first, &self.wait) || !self.prologue.is_empty() || behind
    }

    /// Address of the next packet.
    fn position(&self) -> u64 {
        let batch = self.second.or(self.first).or(self.prologue.front().copied());
        let ring = || self.ring.map_or(0, |ring| ring.start + u64::from(ring.head));
        batch.map_or_else(ring, |batch| batch.next)
    }

    /// The wait that the last step could not pass; `None` while media threads make progress.
    pub fn wait(&self) -> Option<&Wait> {
        self.wait.as_ref().filter(|_| !self.moves)
    }

    /// Delivers a signal of MI_SEMAPHORE_SIGNAL to the waits that have not ended.
    pub fn signal(&mut self) {
        let behind = self.behind_restore.as_mut().and_then(|position| position.wait.as_mut());
        for wait in self.wait.as_mut().into_iter().chain(behind) {
            wait.signalled = true;
        }
    }

    /// The batch that contains the next packet; for a ring, the part from head to tail. `None` if
    /// nothing is left to execute. Starts the first batch of `prologue` if no other batch runs.
    fn current(&mut self, exec: &mut Exec<'_>) -> Option<Batch> {
        if self.second.is_none()
            && self.first.is_none()
            && let Some(batch) = self.prologue.pop_front()
        {
            exec.stats.batches += 1;
            exec.emit(&Event::Batch { level: 1, address: batch.start });
            self.first = Some(batch);
        }
        let ring = || {
            let ring = self.ring.as_ref().filter(|ring| ring.head != ring.tail)?;
            let next = ring.start + u64::from(ring.head);
            Some(Batch {
                start: ring.start,
                next,
                end: Some(next + u64::from(ring.filled())),
                global: true,
                resource_streamer: false,
            })
        };
        self.second.or(self.first).or_else(ring)
    }

    /// Executes the next packet, leaves a batch at its end, or checks again whether the current
    /// wait has ended.
    ///
    /// # Errors
    /// The [`Fault`] of the packet, of its fetch, or of a media thread.
    pub fn step(&mut self, exec: &mut Exec<'_>) -> Result<Step, Fault> {
        if !std::mem::replace(&mut self.told, true) {
            let ring = self.ring.is_some();
            exec.emit(&Event::Submission { address: self.position(), ring });
        }
        if self.prologue.is_empty()
            && self.first.is_none()
            && self.wait.is_none()
            && let Some(position) = self.behind_restore.take()
        {
            (self.first, self.second, self.wait) = (position.first, position.second, position.wait);
        }
        if let Some(wait) = &mut self.wait {
            exec.at = wait.at;
            // The step in which media threads stop making progress still returns `Moves`, so the
            // engine's turn counts as work. From this step on, `wait` returns the wait.
            let moved = std::mem::replace(&mut self.moves, media::go_on(exec)?);
            if !wait.passes(exec)? {
                return Ok(if moved || self.moves { Step::Moves } else { Step::Waits });
            }
            self.moves = false;
            self.wait = None;
            return Ok(Step::Done);
        }
        let Some(batch) = self.current(exec) else {
            media::drain(exec)?;
            video::finish(exec)?;
            exec.state.changed = Changed::Anything;
            exec.emit(&Event::SubmissionEnd);
            return Ok(Step::End);
        };
        if batch.end == Some(batch.next) {
            self.leave(exec);
            return Ok(Step::Done);
        }
        exec.mode.privileged = batch.global;
        exec.mode.resource_streamer = batch.resource_streamer;
        self.fetch(exec, &batch).inspect_err(|_| exec.state.changed = Changed::Anything)?;
        exec.device.command(exec.engine, batch.next, self.dwords[0]);
        exec.emit_packet(&self.dwords)?;
        exec.stats.packets += 1;
        exec.stats.engine_packets[exec.engine as usize] += 1;
        let flow = self.execute(exec);
        exec.emit_memory(Some(exec.at));
        let flow = flow?;
        self.advance(exec)?;
        match flow {
            Flow::Next => {}
            Flow::Start { address, global, second, resource_streamer } => {
                // A start in the ring always enters the first level.
                let second = second && self.first.is_some();
                if self.second.is_some() && (second || FIRST_LEVEL_START_LEAVES_SECOND_LEVEL) {
                    self.leave(exec);
                }
                if !second && self.first.is_some() && self.second.is_none() {
                    self.leave(exec);
                }
                *(if second { &mut self.second } else { &mut self.first }) =
                    Some(Batch { resource_streamer, ..Batch::new(address, global) });
                exec.stats.batches += 1;
                exec.emit(&Event::Batch {
                    level: 1 + u8::from(second),
                    address: address & ADDRESS_MASK,
                });
            }
            Flow::ResourceStreamer(follows) => match self.second.as_mut().or(self.first.as_mut()) {
                Some(batch) => batch.resource_streamer = follows,
                None if follows => {
                    let why = "the streamer follows batches only, but a ring contains this command";
                    return Err(exec.bad_field("Resource Streamer Control", 1, why));
                }
                None => {}
            },
            Flow::Return if self.first.is_none() => {
                return Err(exec.bad_field(
                    "MI Command Opcode",
                    10,
                    "this command ends a batch, but a ring contains it",
                ));
            }
            Flow::End if self.first.is_none() => {
                return Err(exec.bad_field(
                    "MI Command Opcode",
                    54,
                    "this command ends a batch, but a ring contains it",
                ));
            }
            Flow::Return => self.leave(exec),
            // `End` in a second-level batch ends the first-level batch as well (gen8_facts 2.1).
            Flow::End => {
                if self.second.is_some() {
                    self.leave(exec);
                }
                self.leave(exec);
            }
            Flow::Wait(wait) => {
                self.wait = Some(wait);
                self.moves = !media::is_idle(exec);
                return Ok(Step::Waits);
            }
            Flow::Preempted => return Ok(Step::Preempted),
            Flow::Context { address, inhibit } => return Ok(Step::Context { address, inhibit }),
        }
        Ok(Step::Done)
    }

    /// Executes the packet that was fetched.
    fn execute(&self, exec: &mut Exec<'_>) -> Result<Flow, Fault> {
        let client = exec.vm.log().map_or(Client::CommandStreamer, |_| client(exec));
        let _client = exec.vm.client(client);
        (self.commands.execute)(exec, &self.dwords)
    }

    /// Moves to the end of the packet that was executed. In a ring, also updates RING_HEAD and, at
    /// the report interval, its copy in the status page.
    fn advance(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let bytes = 4 * self.dwords.len() as u64;
        if let Some(batch) = self.second.as_mut().or(self.first.as_mut()) {
            batch.next = (batch.next + bytes) & ADDRESS_MASK;
        } else if let Some(ring) = &mut self.ring {
            let reports = ring.advance(bytes as u32);
            exec.device.set_engine(exec.engine, RingHead::OFFSET, ring.head_register());
            if reports {
                let (of_context, head) = (exec.mode.image.is_some(), ring.head_register());
                status::write(exec, of_context, status::PLACES.head, &[head], "Ring Report")?;
            }
        }
        Ok(())
    }

    /// Ends the current batch and goes back one level.
    fn leave(&mut self, exec: &mut Exec<'_>) {
        let level = 1 + u8::from(self.second.is_some());
        if self.second.take().is_none() {
            self.first = None;
        }
        // The host can change memory before the next batch.
        exec.state.changed = Changed::Anything;
        exec.emit(&Event::BatchEnd { level });
    }

    /// Writes the streamer's position to the registers of its engine.
    pub fn publish(&self, device: &mut Device, engine: EngineId) {
        let address = |level: &Option<Batch>| level.map_or(0, |batch| batch.next);
        device.batches(engine, address(&self.first), address(&self.second));
        let ppgtt = self.first.is_some_and(|batch| !batch.global);
        let [state] = RingBbstate { ring_bb_ppgtt: ppgtt }.pack();
        device.set_engine(engine, RingBbstate::OFFSET, state);
        if let Some(ring) = &self.ring {
            device.set_engine(engine, RingHead::OFFSET, ring.head_register());
        }
    }

    /// Reads the next packet of `batch` and records it in `exec.at`.
    fn fetch(&mut self, exec: &mut Exec<'_>, batch: &Batch) -> Result<(), Fault> {
        let engine = exec.engine;
        exec.at = Place::new(engine, "batch", batch.next, batch.start);
        exec.spend(watchdog::PACKET)?;
        let header = exec
            .view(batch.global)
            .read_u32(batch.next)
            .map_err(|fault| exec.page(fault, "packet header"))?;
        let Some((container, length)) = (self.commands.find)(engine, header) else {
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
        let dwords = &mut self.dwords;
        dwords.clear();
        dwords.resize(length, 0);
        dwords[0] = header;
        // A packet at the end of the ring may continue at the start of the ring.
        let edge = match self.ring {
            Some(ring) if self.first.is_none() => ((ring.size - ring.head) / 4) as usize,
            _ => length,
        };
        let (before, behind) = dwords[1..].split_at_mut((edge - 1).min(length - 1));
        let vm = exec.view(batch.global);
        let mut read = vm.read(batch.next + 4, bytemuck::must_cast_slice_mut(before));
        if !behind.is_empty() {
            read = read.and_then(|()| vm.read(batch.start, bytemuck::must_cast_slice_mut(behind)));
        }
        read.map_err(|fault| exec.page(fault, "rest of the packet"))
    }
}
