//! Counts and events of the model: [`Stats`] always, events if there is an [`Observer`].
//!
//! [`super::drawing`] is what events of draws carry; [`crate::inspect`] has observers.

use super::device::Interrupt;
use super::drawing::Drawing;
use crate::machine::fault::Place;
use crate::mem::coherence::Cache;
use genxml::engine::EngineId;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::mi::MiDisplayFlipDisplayPlaneSelect;

/// Counts of one submission, or of several added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Batches entered: the submitted one and each MI_BATCH_BUFFER_START.
    pub batches: u64,
    /// Packets executed.
    pub packets: u64,
    /// The same by engine, in the order of [`EngineId::ALL`].
    pub engine_packets: [u64; EngineId::ALL.len()],
    /// Thread groups of walkers that ran to their end.
    pub groups: u64,
    /// EU threads that ran to their end.
    pub threads: u64,
    /// EU instructions executed.
    pub instructions: u64,
    /// Messages that threads sent to shared functions.
    pub messages: u64,
    /// Pixels written by fixed functions.
    pub pixels: u64,
    /// Bytes that commands and shared functions read.
    pub bytes_read: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
    /// Commands that were not executed because they need privilege and their batch has none.
    pub violations: u64,
    /// Commands of hardware that the model does not have: they change nothing.
    pub without_effect: u64,
    /// Packets that MI_SET_PREDICATE had skipped.
    pub skipped: u64,
    /// Interrupts that commands raised.
    pub interrupts: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.batches += other.batches;
        self.packets += other.packets;
        for (mine, others) in self.engine_packets.iter_mut().zip(other.engine_packets) {
            *mine += others;
        }
        self.groups += other.groups;
        self.threads += other.threads;
        self.instructions += other.instructions;
        self.messages += other.messages;
        self.pixels += other.pixels;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
        self.violations += other.violations;
        self.without_effect += other.without_effect;
        self.skipped += other.skipped;
        self.interrupts += other.interrupts;
    }
}

/// Something that an observer may want to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A packet is about to be executed.
    Packet {
        /// Its name and address.
        at: Place,
        /// All of its dwords.
        dwords: &'a [u32],
    },
    /// The packet needs privilege that its batch does not have: it does nothing.
    Violation {
        /// The packet.
        at: Place,
    },
    /// The packet changes nothing: the model does not have what it is for.
    WithoutEffect {
        /// The packet.
        at: Place,
    },
    /// A command interrupts the host.
    Interrupt {
        /// Which engine's.
        engine: EngineId,
        /// Why.
        why: Interrupt,
    },
    /// Another buffer is to be shown.
    Flip {
        /// On which plane.
        plane: MiDisplayFlipDisplayPlaneSelect,
        /// Its address in the global table.
        address: u64,
        /// Bytes from line to line.
        pitch: u32,
    },
    /// A thread starts.
    Thread {
        /// Address of its kernel's first instruction.
        kernel: u64,
        /// Its payload, GRF by GRF, as bytes.
        payload: &'a [u8],
    },
    /// An EU instruction is about to be executed.
    Instruction {
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// Byte offset of the instruction from there.
        ip: u32,
        /// Channels that take part.
        mask: u32,
    },
    /// An engine starts with something to execute: a batch that was submitted, or the ring of a
    /// context.
    Submission {
        /// Where it starts.
        address: u64,
        /// True for a ring.
        ring: bool,
    },
    /// The submission is over.
    SubmissionEnd,
    /// The command streamer enters a batch.
    Batch {
        /// 1 or 2.
        level: u8,
        /// Where it starts.
        address: u64,
    },
    /// It leaves the batch: back to what called it, or to another one in its place.
    BatchEnd {
        /// The level that it leaves.
        level: u8,
    },
    /// A packet starts threads: the packet that was told last.
    Dispatch {
        /// Address of the kernel's first instruction.
        kernel: u64,
    },
    /// All threads of the packet have ended. Media threads may outlive their packet: of those that
    /// do nothing is told.
    DispatchEnd {
        /// Address of the kernel's first instruction.
        kernel: u64,
    },
    /// A command flushes a cache, or invalidates it; the model has none, and keeps
    /// [account](crate::mem::Coherence).
    Flush {
        /// Which.
        cache: Cache,
        /// True if it is invalidated, false if what it holds is written to memory.
        invalidates: bool,
    },
    /// A thread group starts.
    Group {
        /// Its position in X, Y and Z.
        id: [u32; 3],
        /// Its threads.
        threads: u32,
    },
    /// All threads of a group have ended.
    GroupEnd {
        /// Its position in X, Y and Z.
        id: [u32; 3],
    },
    /// A thread has ended.
    ThreadEnd {
        /// Address of its kernel's first instruction.
        kernel: u64,
        /// Instructions that it executed.
        instructions: u64,
    },
    /// A draw is about to take place. Those that the predicate skips are not told.
    Draw(&'a Drawing<'a>),
    /// The draw that was told last is over, without a fault.
    DrawEnd(&'a Drawing<'a>),
    /// A thread sends a message.
    Message {
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// Byte offset of the instruction from there.
        ip: u32,
        /// Who gets it.
        function: SharedFunction,
        /// The whole descriptor.
        descriptor: u32,
    },
}

/// The engine that an event is about, and the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Now {
    /// The engine.
    pub engine: EngineId,
    /// The model's clock, in units of work of about a nanosecond (see [`crate::machine::watchdog`]).
    pub clock: u64,
}

/// Receives the events of the model.
///
/// A closure that takes [`Now`] and an [`Event`] is an observer. While there is one, the model uses
/// one host thread, so that events arrive in the order in which things happen.
pub trait Observer {
    /// Called for every event, in order.
    fn event(&mut self, now: Now, event: &Event<'_>);

    /// Whether the observer receives [`Event::Instruction`]. These events make kernels slow.
    fn wants_instructions(&self) -> bool {
        false
    }
}

impl<F: FnMut(Now, &Event<'_>)> Observer for F {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self(now, event);
    }
}

/// Makes an observer receive [`Event::Instruction`] as well.
#[derive(Debug)]
pub struct WithInstructions<T>(pub T);

impl<T: Observer> Observer for WithInstructions<T> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.0.event(now, event);
    }

    fn wants_instructions(&self) -> bool {
        true
    }
}

/// The observer of a submission, or none.
#[derive(Default)]
pub struct Listener<'a> {
    observer: Option<&'a mut dyn Observer>,
    instructions: bool,
}

impl<'a> Listener<'a> {
    /// Passes events on to `observer`.
    pub fn new(observer: Option<&'a mut dyn Observer>) -> Self {
        let instructions = observer.as_ref().is_some_and(|observer| observer.wants_instructions());
        Listener { observer, instructions }
    }

    /// The same listener, for a shorter time.
    pub fn reborrow(&mut self) -> Listener<'_> {
        let observer: Option<&mut dyn Observer> = match &mut self.observer {
            Some(observer) => Some(&mut **observer),
            None => None,
        };
        Listener { observer, instructions: self.instructions }
    }

    /// Whether there is an observer.
    #[inline(always)]
    pub fn is_some(&self) -> bool {
        self.observer.is_some()
    }

    /// Whether the observer receives [`Event::Instruction`].
    pub fn wants_instructions(&self) -> bool {
        self.instructions
    }

    /// Passes an event on. Events of instructions are sent only to those who want them: the
    /// caller checks that.
    #[inline(always)]
    pub fn event(&mut self, now: Now, event: &Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.event(now, event);
        }
    }
}
