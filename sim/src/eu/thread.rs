//! A thread: its registers and modes, its initial state, and the interface to its environment.

use super::acc::Accumulators;
use super::flow::Flow;
use super::kernel::Kernel;
use super::modes::{Change, Modes};
use super::regions::{CR0, GEN8_BYTES, GRF_BYTES, REGISTER, Registers, SR0, wrap};
use super::stop::{Interrupt, Pending, Trap};
use super::transfer::{Tally, Transfer};
use super::uop::{PredicateControl, Uop};
use super::written;
use crate::assumptions::VERTICAL_PREDICATE_COMBINES_REGISTERS;
use crate::machine::fault::Fault;
#[cfg(feature = "fast")]
use crate::mem::Shadow;
use genxml_eu::Generation;
use genxml_eu::gen8::eu_registers::{ControlRegister, StateRegister};
use genxml_eu::instruction::SharedFunction;
#[cfg(feature = "fast")]
use genxml_jit::Reach;

/// The initial state of a thread.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The generation of the execution unit: Gen8, or G45 with the feature `gen45`.
    pub generation: Generation,
    /// Dispatch mask: the channels that are enabled.
    pub dispatch_mask: u32,
    /// Vector mask: the channels that are enabled if `control` has Vector Mask Enable. G45 has
    /// none.
    pub vector_mask: u32,
    /// Initial value of `cr0.0`.
    pub control: u32,
    /// Initial value of `cr0.1`: the enables of exceptions.
    pub exceptions: u32,
    /// The value of `ip` at the first instruction of the system routine (STATE_SIP). Without one,
    /// exceptions become faults.
    pub system_routine: Option<u32>,
    /// Initial values of `sr0.0` and `sr0.1`.
    pub state: [u32; 2],
    /// Contents of the general registers from `r0` on, in bytes. The other registers are zero.
    pub payload: Vec<u8>,
}

/// A message that a `send` instruction sends to a shared function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The shared function that receives the message.
    pub function: SharedFunction,
    /// True if the message ends the thread (EOT).
    pub eot: bool,
    /// All 32 bits of the descriptor.
    pub descriptor: u32,
    /// Mask of the enabled channels. Bit 0 is the first channel of the send. On G45, bit n is for
    /// element n of the response register: the subregister and the channel enables of the
    /// destination apply (003:13372).
    pub mask: u32,
    /// True if the send ignores the execution mask (NoMask).
    pub no_mask: bool,
    /// Number of channels of the send.
    pub channels: u8,
    /// The thread's channel that is the first one of the send.
    pub first: u8,
    /// Byte offset of the first payload register. The message length counts registers from there.
    /// On G45 it is a message register ([`super::regions::MRF`]), which already has the copy of
    /// source 0.
    pub payload: usize,
    /// Byte offset of the first response register, if there is a destination.
    pub response: Option<usize>,
    /// Byte offset of the instruction in its kernel.
    pub ip: u32,
}

/// The environment of a thread.
pub trait Environment {
    /// Called before each instruction, and before [`step`](Self::step), with the thread.
    fn before(&mut self, _thread: &Thread, _offset: u32, _mask: u32) {}

    /// Called before each instruction with its byte offset and the mask of its enabled channels.
    ///
    /// # Errors
    /// [`Fault::Hang`] when the budget is used up.
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault>;

    /// Called before `count` instructions that are executed together, without their offsets and
    /// masks. Returns false if they have to be executed one by one.
    fn steps(&mut self, _count: u32) -> bool {
        false
    }

    /// Delivers a message. Responses are written to `registers`.
    ///
    /// # Errors
    /// Any [`Fault`] of the shared function.
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault>;

    /// Takes back the last `count` instructions that [`steps`](Self::steps) has counted: they were
    /// not executed.
    fn take_back(&mut self, _count: u32) {}

    /// Shared local memory, if compiled code may execute messages to it. The code reports them to
    /// [`tally`](Self::tally). `None` if messages have to be sent.
    fn local(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// The memory that compiled code may access: shared local memory, and pages. Call this only if
    /// [`local`](Self::local) returns shared local memory.
    #[cfg(feature = "fast")]
    fn reach(&mut self) -> Reach<'_> {
        Reach::window(self.local().unwrap_or_default())
    }

    /// Copies of the pages that were added last to those of [`reach`](Self::reach). `None` if the
    /// environment makes no copies.
    #[cfg(feature = "fast")]
    fn shadow(&mut self) -> Option<Shadow> {
        None
    }

    /// The address of the first byte of memory that differs from the copies of `shadow`. `None` if
    /// all bytes are equal.
    #[cfg(feature = "fast")]
    fn difference(&self, _shadow: &Shadow) -> Option<u64> {
        None
    }

    /// Counts messages that compiled code has executed in the memory of [`reach`](Self::reach).
    fn tally(&mut self, _tally: &Tally) {}

    /// Executes a message of dwords all of whose slots are active. Returns false, without an effect
    /// that [`send`](Self::send) does not have, if the message has to be sent instead.
    fn transfer(&mut self, _registers: &mut Registers, _transfer: &Transfer) -> bool {
        false
    }

    /// The time that a read of `tm0` returns, in ticks of TIMESTAMP (in the debugger: instructions
    /// executed).
    fn timestamp(&self) -> u64;

    /// The fault for a trap at byte `offset` of the kernel.
    fn trap(&self, trap: Trap, offset: u32) -> Fault;
}

/// A running thread.
#[derive(Clone)]
pub struct Thread {
    /// General and architecture registers.
    pub regs: Registers,
    /// Accumulators.
    pub acc: Accumulators,
    /// Modes, from `cr0.0`.
    pub modes: Modes,
    /// The instruction pointers of the channels.
    pub(super) flow: Flow,
    /// The value that an instruction has written to `ip`.
    pub(super) jump: Option<u32>,
    /// What to do before the next instruction.
    pub(super) pending: Pending,
    /// The value of `ip` at the first instruction of the system routine.
    pub(super) system_routine: Option<u32>,
    /// True if the exceptions before the next instruction have been checked.
    pub(super) passed: bool,
    /// Instructions executed.
    pub(super) executed: u64,
    /// The last write to `cr0` that only changed modes. It stays when the thread ends.
    pub(super) change: Option<Change>,
    /// The control register with which the latest thread of Gen8 started; `None` before the first
    /// one.
    control: Option<Control>,
    /// The general registers that can differ from zero, besides those that the running kernel
    /// writes: those of the payload, of messages from other threads, and of earlier threads.
    filled: u128,
}

/// The control register at the start of a thread, with the values that follow from it.
#[derive(Clone, Copy)]
struct Control {
    /// The values of [`Launch`] for `cr0.0` and `cr0.1`.
    given: [u32; 2],
    /// The whole register. Later all eight dwords are read at once. That read would be slow soon
    /// after a write of only some of them.
    stored: [u32; 8],
    modes: Modes,
    /// Vector Mask Enable.
    vector_mask: bool,
}

impl Control {
    fn new(given: [u32; 2]) -> Control {
        let control = ControlRegister {
            master_exception_state: false,
            ..ControlRegister::unpack_lossy(&[given[0], given[1], 0, 0])
        };
        let [a, b, c, d] = control.pack();
        Control {
            given,
            stored: [a, b, c, d, 0, 0, 0, 0],
            modes: Modes::from_control(a),
            vector_mask: control.vector_mask_enable,
        }
    }
}

impl Thread {
    /// A thread before its first instruction.
    pub fn new(launch: &Launch) -> Thread {
        let mut thread = Thread {
            regs: Registers::default(),
            acc: Accumulators::default(),
            modes: Modes::default(),
            flow: Flow::new(0),
            jump: None,
            pending: Pending::default(),
            system_routine: None,
            passed: false,
            executed: 0,
            change: None,
            control: None,
            filled: 0,
        };
        thread.start(launch);
        thread
    }

    /// Notes that another thread writes bytes `from` to `end` of the general registers.
    pub fn fill(&mut self, from: usize, end: usize) {
        self.filled |= written::registers(from, end);
    }

    /// Notes that the thread has ended. Its kernel has written these general registers.
    pub fn ended(&mut self, written: u128) {
        self.filled |= written;
    }

    /// Replaces a thread that has [ended](Self::ended) by a new one. `start` says which registers
    /// the new kernel can read before it writes them. Other registers may keep old values.
    pub fn restart(&mut self, launch: &Launch, start: written::Start) {
        // If some of the channels are not enabled, the kernel overwrites registers only in part.
        let read = match launch.dispatch_mask & start.channels == start.channels {
            true => start.registers,
            false => u128::MAX,
        };
        match launch.generation.has_message_registers() {
            true => self.regs.clear(true),
            false => {
                // The new payload overwrites these registers completely.
                let kept = whole(launch);
                self.regs.clear_written(self.filled & read & !kept);
                self.filled &= !read;
                let rest = kept.count_ones() as usize * REGISTER..GEN8_BYTES;
                debug_assert!(
                    read != u128::MAX || self.regs.bytes()[rest].iter().all(|&byte| byte == 0),
                    "a register is not zero"
                );
            }
        }
        self.acc.reset();
        self.start(launch);
    }

    /// Sets the initial state. All registers that the kernel can read must be zero, except those
    /// that the payload fills.
    fn start(&mut self, launch: &Launch) {
        let payload = launch.payload.len().min(GRF_BYTES);
        self.regs.grf_mut()[..payload].copy_from_slice(&launch.payload[..payload]);
        self.filled |= written::registers(0, payload);
        self.jump = None;
        // The thread starts at offset 0 of the kernel.
        self.pending = Pending { goto: Some(0), ..Pending::default() };
        self.system_routine = launch.system_routine;
        (self.passed, self.executed) = (false, 0);
        #[cfg(feature = "gen45")]
        if launch.generation.has_message_registers() {
            return self.start_gen45(launch);
        }
        let [state, ids] = launch.state;
        let state =
            StateRegister::unpack_lossy(&[state, ids, launch.dispatch_mask, launch.vector_mask]);
        self.regs.set_dwords(SR0, state.pack());
        // Threads of the same kernel start with the same control register.
        let given = [launch.control, launch.exceptions];
        let control = match self.control {
            Some(control) if control.given == given => control,
            _ => *self.control.insert(Control::new(given)),
        };
        self.regs.set_dwords(CR0, control.stored);
        self.modes = control.modes;
        // The mask is latched when the thread starts (assumptions::DISPATCH_MASK_IS_LATCHED).
        let enabled = match control.vector_mask {
            true => launch.vector_mask,
            false => launch.dispatch_mask,
        };
        self.flow.restart(enabled);
    }

    /// Enables these channels instead of those of the dispatch or vector mask. Call before the
    /// first instruction.
    pub fn begin_with(&mut self, channels: u32) {
        self.flow.restart(channels);
    }

    /// Instructions executed so far. One that waits counts once.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// True if the instruction that was counted last is not done yet.
    pub(super) fn repeats(&self) -> bool {
        self.pending.again
    }

    /// Byte offset of the next instruction from the kernel's first one.
    pub fn position(&self, kernel: &Kernel) -> u32 {
        let here = || kernel.uops.get(self.flow.ip as usize).map_or(0, |u| u.offset);
        self.pending.goto.unwrap_or_else(here)
    }

    /// Mask of the channels that are active at the next instruction; bit n is channel n.
    pub fn active(&self) -> u32 {
        self.flow.active
    }

    /// Channels that wait at other instructions, each with the byte offset of the instruction where
    /// it becomes active.
    pub fn waiting(&self, kernel: &Kernel) -> Vec<(u8, u32)> {
        let offset = |index: u32| kernel.uops.get(index as usize).map_or(0, |u| u.offset);
        self.flow.waiting().map(|(channel, index)| (channel, offset(index))).collect()
    }

    /// Continues, with all active channels, at a byte offset from the kernel's first instruction.
    pub(super) fn jump_to(&mut self, kernel: &Kernel, offset: u32) -> Result<(), Interrupt> {
        match kernel.index(offset) {
            Some(index) => {
                self.flow.arrive(index);
                Ok(())
            }
            None => {
                self.pending.goto = Some(offset);
                Err(Interrupt::Pause)
            }
        }
    }

    /// The predicate of an instruction: bit n is that of the instruction's channel n.
    #[inline(always)]
    pub(super) fn predicate(&self, u: &Uop) -> u32 {
        let flags = self.regs.flags();
        let bits = match u.predicate {
            None => return u32::MAX,
            Some(PredicateControl::Sequential) => (flags >> u.flag) as u32,
            Some(control) => combined(flags, u, control, self.modes.gen45()),
        };
        if u.invert { !bits } else { bits }
    }
}

/// The registers, a bit each, that the payload of a thread fills completely.
fn whole(launch: &Launch) -> u128 {
    written::registers(0, launch.payload.len() / REGISTER * REGISTER)
}

/// The predicate of an instruction whose predicate control combines flag bits.
#[cold]
fn combined(flags: u64, u: &Uop, control: PredicateControl, gen45: bool) -> u32 {
    // Groups are aligned blocks of the flag register, which has 32 bits.
    let register = (flags >> (u.flag & 32)) as u32;
    let shift = u.flag & 31;
    let partner = if VERTICAL_PREDICATE_COMBINES_REGISTERS && !gen45 { 32 } else { 16 };
    let grouped = |group: u8, holds: fn(u32, u32) -> bool| {
        let group = u32::from(group).clamp(1, 32);
        let ones = u32::MAX >> (32 - group);
        (0..32).step_by(group as usize).fold(0u32, |bits, at| {
            bits | if holds(register >> at & ones, ones) { ones << at } else { 0 }
        })
    };
    match control {
        PredicateControl::Any(group) => grouped(group, |bits, _| bits != 0) >> shift,
        PredicateControl::All(group) => grouped(group, |bits, ones| bits == ones) >> shift,
        PredicateControl::AnyV => ((flags | flags >> partner) as u32) >> shift,
        PredicateControl::AllV => ((flags & flags >> partner) as u32) >> shift,
        PredicateControl::Replicate(component) => {
            let picked = register >> component & 0x1111_1111;
            (picked * 15) >> shift
        }
        PredicateControl::Sequential => (flags >> u.flag) as u32,
    }
}

/// Offset of the byte that is `offset` bytes after byte `base` of the general registers. Wraps from
/// their end to `r0`.
pub fn grf_offset(base: usize, offset: usize) -> usize {
    usize::from(wrap((base + offset) as i32))
}
