//! Events of the model. They are emitted only if there is an [`Observer`]; the counters in
//! [`Stats`](super::stats::Stats) are always kept.
//!
//! [`super::drawing`] has the data in events of draws, [`super::blitting`] those of blits,
//! [`super::coded`] those of decoded pictures, [`super::watched`] those of a watched pixel,
//! [`super::origins`] those of vertices and primitives;
//! [`crate::inspect`] has observers.

use super::blitting::Blitting;
use super::coded::CodedPicture;
use super::device::Interrupt;
use super::drawing::Drawing;
use super::origins::OriginEvent;
use super::view::View;
use super::watched::{PixelEvent, WatchedPixel};
use crate::machine::fault::Place;
use crate::mem::coherence::Cache;
use crate::mem::outside::Outside;
use crate::mem::{Access, Lines, LocalAccess, Memory};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::mi::MiDisplayFlipDisplayPlaneSelect;
use genxml::gen8::state::InterfaceDescriptorData;
use std::cell::Cell;

/// An event of the model, for observers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A packet is about to be executed.
    Packet {
        /// Name and address of the packet.
        at: Place,
        /// Number of the context: different contexts of a GPU have different numbers.
        context: u32,
        /// All dwords of the packet.
        dwords: &'a [u32],
        /// Memory and state before the packet.
        view: &'a dyn View,
    },
    /// No packet is being executed. Emitted when an engine starts or continues to execute packets,
    /// after every packet, and when the engine stops or pauses. An observer can compare memory with
    /// its contents at the latest event of this kind.
    Memory {
        /// The packet that was executed since the latest event of this kind. `None` if there was
        /// no packet; then only the host can have changed memory.
        after: Option<Place>,
        /// Physical memory.
        memory: &'a Memory,
    },
    /// The packet needs privilege that its batch does not have. The packet, or the access that
    /// needs the privilege, is not executed.
    Violation {
        /// The packet.
        at: Place,
    },
    /// The packet changes nothing, because it is for hardware that the model does not have.
    WithoutEffect {
        /// The packet.
        at: Place,
    },
    /// A command interrupts the host.
    Interrupt {
        /// The engine that interrupts.
        engine: EngineId,
        /// The reason.
        why: Interrupt,
    },
    /// A display plane switches to another buffer.
    Flip {
        /// The plane.
        plane: MiDisplayFlipDisplayPlaneSelect,
        /// Address of the new buffer in the global table.
        address: u64,
        /// Bytes from line to line.
        pitch: u32,
    },
    /// A thread starts.
    Thread {
        /// Address of the first instruction of the kernel.
        kernel: u64,
        /// Number of the thread. Threads that run at the same time have different numbers.
        thread: u32,
        /// Payload of the thread, GRF by GRF, as bytes.
        payload: &'a [u8],
    },
    /// An EU instruction is about to be executed.
    Instruction {
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// Number of the thread. Threads that run at the same time have different numbers.
        thread: u32,
        /// Byte offset of the instruction from the start of the kernel.
        ip: u32,
        /// Mask of the enabled channels. Bit 0 is the first channel of the instruction.
        mask: u32,
        /// The register file of the thread before the instruction (see [`crate::eu::regions`]).
        registers: &'a [u8],
        /// Memory, state, and what else the thread has.
        view: &'a dyn View,
    },
    /// An engine starts to execute something: a submitted batch, or the ring of a context.
    Submission {
        /// Address of the first packet.
        address: u64,
        /// True for a ring.
        ring: bool,
    },
    /// The submission is over.
    SubmissionEnd,
    /// The command streamer enters a batch.
    Batch {
        /// Level of the batch: 1 or 2.
        level: u8,
        /// Address of the first packet of the batch.
        address: u64,
    },
    /// The command streamer leaves a batch: it returns to the caller, or another batch replaces
    /// this one.
    BatchEnd {
        /// Level of the batch.
        level: u8,
    },
    /// The packet of the latest [`Event::Packet`], a media or GPGPU packet, starts threads. Draws
    /// emit [`Event::Draw`] instead.
    Dispatch {
        /// Address of the kernel's first instruction.
        kernel: u64,
    },
    /// All threads of the packet have ended. If media threads outlive their packet, this event is
    /// not emitted for the packet, and events of the threads follow between those of later packets.
    DispatchEnd {
        /// Address of the kernel's first instruction.
        kernel: u64,
    },
    /// A command flushes or invalidates a cache. The model has no caches; it only
    /// [records](crate::mem::Coherence) these commands.
    Flush {
        /// The cache.
        cache: Cache,
        /// True if the cache is invalidated; false if its contents are written to memory.
        invalidates: bool,
    },
    /// A thread group starts.
    Group {
        /// Position of the group in X, Y and Z.
        id: [u32; 3],
        /// Number of threads in the group.
        threads: u32,
    },
    /// All threads of a group have ended.
    GroupEnd {
        /// Position of the group in X, Y and Z.
        id: [u32; 3],
    },
    /// A thread has ended.
    ThreadEnd {
        /// Address of the first instruction of the kernel.
        kernel: u64,
        /// Number of the thread. Threads that run at the same time have different numbers.
        thread: u32,
        /// Number of instructions that the thread executed.
        instructions: u64,
    },
    /// A draw is about to be executed. Draws that the predicate skips emit no event.
    Draw(&'a Drawing<'a>),
    /// The draw of the latest [`Event::Draw`] has ended without a fault.
    DrawEnd(&'a Drawing<'a>),
    /// A blit is about to write. Blits that the predicate skips, and blits without pixels, emit no
    /// event.
    Blit(&'a Blitting<'a>),
    /// Something happened at the watched pixel of the draw.
    Pixel {
        /// What happened.
        event: &'a PixelEvent<'a>,
        /// Physical memory after it.
        memory: &'a Memory,
    },
    /// Where vertices and primitives of the draw come from.
    Origin(&'a OriginEvent<'a>),
    /// The video engine has decoded a picture and written it.
    Picture(&'a CodedPicture<'a>),
    /// A thread of a G45 waits for the host (`wait n1`). If the observer answers, the thread
    /// continues, as after a write to EU_ATT_CLR. Otherwise the draw ends with a fault.
    Attention {
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// Byte offset of the instruction from the start of the kernel.
        ip: u32,
        /// Number of the thread: four for each execution unit.
        thread: u32,
        /// The bit of data that the thread shows.
        data: bool,
        /// The register file of the thread (see [`crate::eu::regions`]).
        registers: &'a [u8],
        /// The observer's answer.
        answer: &'a Answer,
    },
    /// A thread sends a message.
    Message {
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// Number of the thread. Threads that run at the same time have different numbers.
        thread: u32,
        /// Byte offset of the instruction from the start of the kernel.
        ip: u32,
        /// Generation of the kernel.
        generation: Generation,
        /// The shared function that receives the message.
        function: SharedFunction,
        /// The message descriptor, all 32 bits.
        descriptor: u32,
    },
    /// Memory was accessed, by the packet or by the message of a thread. Emitted before the next
    /// event of another kind.
    Accesses {
        /// The packet, and the instruction if a thread sent a message since the packet began.
        at: Place,
        /// Number of the thread, if the accesses are those of its message.
        thread: Option<u32>,
        /// The channel whose accesses these are. If the observer receives events of instructions,
        /// a message to the sampler and an untyped or typed read have an event for each channel,
        /// and then one for all. `None` for the latter, and for all other messages.
        channel: Option<u8>,
        /// The accesses, in order.
        list: &'a [Access],
    },
    /// The message of a thread accessed shared local memory. Emitted to observers that receive
    /// [`Event::Accesses`], before the next event of another kind.
    LocalAccesses {
        /// The packet and the instruction.
        at: Place,
        /// Number of the thread.
        thread: u32,
        /// The accesses, in order.
        list: &'a [LocalAccess],
    },
    /// Bounds cut off accesses of a thread's message. Emitted to observers that receive
    /// [`Event::Accesses`], before the next event of another kind.
    Outside {
        /// The packet and the instruction.
        at: Place,
        /// Number of the thread.
        thread: u32,
        /// The accesses.
        list: &'a [Outside],
    },
    /// A GPGPU walker is about to start. The next event is its [`Event::Dispatch`].
    Descriptor {
        /// The packet.
        at: Place,
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// The interface descriptor.
        descriptor: &'a InterfaceDescriptorData,
        /// Number of threads in a group.
        threads: u64,
        /// Number of bytes of constants that are loaded, from the descriptor's offset on.
        constants: u64,
    },
    /// The memory objects of the driver that are mapped for the next submission, as addresses and
    /// sizes in bytes. Only replays of captures emit this event.
    Objects(&'a [(u64, u64)]),
    /// A thread has reported to the barrier of its group. The message is that of the latest
    /// [`Event::Message`].
    Barrier {
        /// Number of the thread.
        thread: u32,
        /// True if all threads have reported: the threads that wait at the barrier continue.
        complete: bool,
    },
}

/// An answer to [`Event::Attention`].
#[derive(Clone, Debug, Default)]
pub struct Answer(Cell<bool>);

impl Answer {
    /// Lets the thread continue.
    pub fn give(&self) {
        self.0.set(true);
    }

    /// True if the thread may continue.
    pub fn is_given(&self) -> bool {
        self.0.get()
    }
}

/// The engine that an event is about, and the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Now {
    /// The engine.
    pub engine: EngineId,
    /// The model's clock, in units of work of about a nanosecond each (see
    /// [`crate::machine::watchdog`]).
    pub clock: u64,
}

/// Receives the events of the model.
///
/// A closure that takes [`Now`] and an [`Event`] is an observer. While there is an observer, the
/// model uses one host thread, so that events arrive in the order of execution.
pub trait Observer {
    /// Called for every event, in order.
    fn event(&mut self, now: Now, event: &Event<'_>);

    /// Whether the observer receives [`Event::Instruction`]. These events make the execution of
    /// kernels slow.
    fn wants_instructions(&self) -> bool {
        false
    }

    /// Whether the observer receives [`Event::Accesses`]. The model then uses the general path of
    /// some units, which is slower.
    fn wants_accesses(&self) -> bool {
        false
    }

    /// Called after the events [`Event::Submission`], [`Event::SubmissionEnd`], [`Event::Flush`]
    /// and [`Event::Packet`], if the observer receives [`Event::Accesses`]. An observer that only
    /// follows caches can let the table leave out accesses ([`crate::mem::lines`]). Such an
    /// observer must stay until the submission ends: some accesses are reported later.
    fn update_lines(&mut self, lines: &Lines) {
        lines.enable(false);
    }

    /// Whether the observer receives [`Event::Instruction`] of one thread. The model asks each time
    /// the thread starts or continues. `kernel` is the address of its first instruction.
    fn wants_instructions_of(&self, _kernel: u64, _thread: u32) -> bool {
        self.wants_instructions()
    }

    /// Whether the observer receives the events of every thread. Otherwise the model may leave out
    /// threads of a pixel shader that do the same as a thread before them. Then their writes are
    /// reported as those of that thread.
    fn wants_threads(&self) -> bool {
        true
    }

    /// True if the run is to end here: the submission ends with
    /// [`Fault::Cancelled`](crate::Fault::Cancelled). The model asks before and after it emits
    /// [`Event::Packet`], and after [`Event::Instruction`].
    fn cancels(&self) -> bool {
        false
    }

    /// Whether the observer receives the accesses of reading messages for each channel too, before
    /// those of the whole message. They make the execution of kernels slow.
    fn wants_channels(&self) -> bool {
        self.wants_instructions() && self.wants_accesses()
    }

    /// The pixel of the draw of the latest [`Event::Draw`] whose events the observer receives
    /// ([`Event::Pixel`]). Called once for each draw. For the threads that shade the pixel, the
    /// observer also receives [`Event::Instruction`].
    fn watches(&self) -> Option<WatchedPixel> {
        None
    }

    /// Whether the observer receives [`Event::Origin`] of the draw of the latest [`Event::Draw`].
    fn follows(&self) -> bool {
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

    fn wants_accesses(&self) -> bool {
        self.0.wants_accesses()
    }

    fn cancels(&self) -> bool {
        self.0.cancels()
    }

    fn watches(&self) -> Option<WatchedPixel> {
        self.0.watches()
    }

    fn follows(&self) -> bool {
        self.0.follows()
    }
}

/// Makes an observer receive [`Event::Accesses`] as well.
#[derive(Debug)]
pub struct WithAccesses<T>(pub T);

impl<T: Observer> Observer for WithAccesses<T> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.0.event(now, event);
    }

    fn wants_instructions(&self) -> bool {
        self.0.wants_instructions()
    }

    fn wants_instructions_of(&self, kernel: u64, thread: u32) -> bool {
        self.0.wants_instructions_of(kernel, thread)
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn cancels(&self) -> bool {
        self.0.cancels()
    }

    fn watches(&self) -> Option<WatchedPixel> {
        self.0.watches()
    }

    fn follows(&self) -> bool {
        self.0.follows()
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

    /// The same listener with a shorter lifetime.
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

    /// Whether the observer receives [`Event::Accesses`].
    pub fn wants_accesses(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.wants_accesses())
    }

    /// Lets the observer update the table of lines.
    pub fn update_lines(&mut self, lines: &Lines) {
        if let Some(observer) = &mut self.observer {
            observer.update_lines(lines);
        }
    }

    /// Whether the observer receives the events of every thread.
    #[inline]
    pub fn wants_threads(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.wants_threads())
    }

    /// Whether the observer receives [`Event::Accesses`] of each channel.
    pub fn wants_channels(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.wants_channels())
    }

    /// Whether the observer receives [`Event::Instruction`] of a thread.
    #[inline]
    pub fn wants_instructions_of(&self, kernel: u64, thread: u32) -> bool {
        let wanted = |observer: &&mut dyn Observer| {
            self.instructions || observer.wants_instructions_of(kernel, thread)
        };
        self.observer.as_ref().is_some_and(wanted)
    }

    /// Whether the observer ends the run.
    #[inline]
    pub fn cancels(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.cancels())
    }

    /// The pixel of the current draw whose events the observer receives.
    pub fn watches(&self) -> Option<WatchedPixel> {
        self.observer.as_ref().and_then(|observer| observer.watches())
    }

    /// Whether the observer receives [`Event::Origin`] of the current draw.
    #[inline]
    pub fn follows(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.follows())
    }

    /// Starts or stops [`Event::Instruction`] for the next threads. Returns whether these events
    /// were emitted before.
    pub(crate) fn set_instructions(&mut self, wanted: bool) -> bool {
        let wanted = wanted && self.observer.is_some();
        std::mem::replace(&mut self.instructions, wanted)
    }

    /// Passes an event on. Before an [`Event::Instruction`] the caller must check
    /// [`wants_instructions`](Self::wants_instructions).
    #[inline(always)]
    pub fn event(&mut self, now: Now, event: &Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.event(now, event);
        }
    }
}
