//! A thread: registers, modes, and the loop that executes a kernel to its end.

use super::acc::Accumulators;
use super::execute;
use super::fast::{self, Level, Operation};
use super::kernel::Kernel;
use super::ops;
use super::regions::{A0, CR0, GRF_BYTES, REGISTER, Registers, SR0, wrap};
use super::soft::Rounding;
use super::uop::{Op, Opcode, PredicateControl, Response, SendInfo, Type, Uop};
use crate::assumptions::{MESSAGES_NEED_A_CHANNEL, VERTICAL_PREDICATE_COMBINES_REGISTERS};
use crate::eu::control::{Pending, Stop};
use crate::machine::fault::{Exception, Fault, Place, Refusal};
use genxml_eu::gen8::eu_registers::{ControlRegister, StateRegister};
use genxml_eu::instruction::{Descriptor, SharedFunction};

/// What an instruction ran into; becomes a [`Fault`] with the kernel's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// It cannot be executed.
    Refused(Refusal),
    /// An exception for which the context has no system routine.
    Exception(Exception),
}

impl Trap {
    /// The fault of a thread that ran into it at `at`.
    #[cold]
    pub fn fault(self, at: Place) -> Fault {
        match self {
            Trap::Refused(refusal) => refusal.fault(at),
            Trap::Exception(exception) => Fault::Exception { exception, at },
        }
    }
}

impl From<Refusal> for Trap {
    fn from(refusal: Refusal) -> Trap {
        Trap::Refused(refusal)
    }
}

/// Why the next instruction does not follow.
#[derive(Debug)]
pub(super) enum Interrupt {
    /// The thread cannot continue.
    Trap(Trap),
    /// [`Pending`] has what to do next.
    Pause,
}

impl<T: Into<Trap>> From<T> for Interrupt {
    fn from(trap: T) -> Interrupt {
        Interrupt::Trap(trap.into())
    }
}

/// How an instruction ended.
enum Done {
    /// The next one follows.
    On,
    /// [`Pending`] has what to do next.
    Pause,
    /// It was not executed: an exception was raised before it.
    Interrupted,
    /// It ended the thread.
    End,
}

/// How the thread computes, from `cr0.0`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    /// Alternative float mode.
    pub alternative: bool,
    /// No implicit accumulator writes.
    pub accumulator_disabled: bool,
    /// Single program flow: channel 0 decides for all.
    pub single_flow: bool,
    /// Subnormal single floats are kept.
    pub keep_single: bool,
    /// Subnormal double floats are kept.
    pub keep_double: bool,
    /// Subnormal half floats are kept.
    pub keep_half: bool,
    /// 0 to nearest even, 1 up, 2 down, 3 to zero.
    pub rounding: u8,
}

impl Modes {
    /// Reads `cr0.0` (004:3081-3250; bits 7 and 10 by Mesa's BRW_CR0_*).
    pub fn from_control(cr0: u32) -> Modes {
        let control = ControlRegister::unpack_lossy(&[cr0, 0, 0, 0]);
        Modes {
            alternative: control.alternative_float_mode,
            accumulator_disabled: control.accumulator_disable,
            single_flow: control.single_program_flow,
            // ALT mode has no subnormal numbers (004:1540).
            keep_single: control.single_precision_denorms && !control.alternative_float_mode,
            keep_double: control.double_precision_denorms,
            keep_half: control.half_precision_denorms,
            rounding: control.rounding_mode.bits() as u8,
        }
    }

    /// True if operations replace subnormal numbers of `ty` by zero.
    #[inline(always)]
    pub fn flushes(&self, ty: Type) -> bool {
        match ty {
            Type::F => !self.keep_single,
            Type::Df => !self.keep_double,
            Type::Hf => !self.keep_half,
            _ => false,
        }
    }

    /// The rounding mode of sums, products and conversions to floats.
    #[inline(always)]
    pub fn rounding_mode(&self) -> Rounding {
        Rounding::from_control(self.rounding)
    }
}

/// What a thread starts with.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Channels that exist.
    pub dispatch_mask: u32,
    /// Channels that exist for the vector mask.
    pub vector_mask: u32,
    /// `cr0.0`.
    pub control: u32,
    /// `cr0.1`: which exceptions are enabled.
    pub exceptions: u32,
    /// The value of `ip` at the first instruction of the system routine (STATE_SIP). Without one,
    /// exceptions become faults.
    pub system_routine: Option<u32>,
    /// `sr0.0` and `sr0.1`.
    pub state: [u32; 2],
    /// Register contents from `r0` on.
    pub payload: Vec<u8>,
}

/// A message to a shared function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// The receiver.
    pub function: SharedFunction,
    /// End of thread.
    pub eot: bool,
    /// All 32 bits of the descriptor.
    pub descriptor: u32,
    /// Enabled channels of the send.
    pub mask: u32,
    /// Number of channels of the send.
    pub channels: u8,
    /// The thread's channel that is the first one of the send.
    pub first: u8,
    /// Byte offset of the first payload register. The message length counts registers from there.
    pub payload: usize,
    /// Byte offset of the first response register, if there is a destination.
    pub response: Option<usize>,
    /// Byte offset of the instruction in its kernel.
    pub ip: u32,
}

/// The environment of a thread.
pub trait Environment {
    /// Called before each instruction with its offset and channels.
    ///
    /// # Errors
    /// [`Fault::Hang`] when the budget is used up.
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault>;

    /// Delivers a message. Responses are written to `registers`.
    ///
    /// # Errors
    /// Any [`Fault`] of the shared function.
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault>;

    /// The clock of `tm0`.
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
    pub(super) flow: super::flow::Flow,
    /// An instruction has written `ip` with this value.
    pub(super) jump: Option<u32>,
    /// What to do before the next instruction.
    pub(super) pending: Pending,
    /// The value of `ip` at the first instruction of the system routine.
    pub(super) system_routine: Option<u32>,
    /// The exceptions before the next instruction have been checked.
    passed: bool,
    /// Instructions executed.
    executed: u64,
}

impl Thread {
    /// A thread before its first instruction.
    pub fn new(launch: &Launch) -> Thread {
        let mut thread = Thread {
            regs: Registers::default(),
            acc: Accumulators::default(),
            modes: Modes::default(),
            flow: super::flow::Flow::new(0),
            jump: None,
            pending: Pending::default(),
            system_routine: None,
            passed: false,
            executed: 0,
        };
        thread.start(launch);
        thread
    }

    /// Replaces a thread that has ended by a new one.
    pub fn restart(&mut self, launch: &Launch) {
        self.regs.bytes_mut().fill(0);
        self.acc.reset();
        self.start(launch);
    }

    /// Sets what a thread starts with, in registers of zeros.
    fn start(&mut self, launch: &Launch) {
        let payload = launch.payload.len().min(GRF_BYTES);
        self.regs.grf_mut()[..payload].copy_from_slice(&launch.payload[..payload]);
        let [state, ids] = launch.state;
        let state =
            StateRegister::unpack_lossy(&[state, ids, launch.dispatch_mask, launch.vector_mask]);
        self.regs.set_dwords(SR0, state.pack());
        let control = ControlRegister {
            master_exception_state: false,
            ..ControlRegister::unpack_lossy(&[launch.control, launch.exceptions, 0, 0])
        };
        self.regs.set_dwords(CR0, control.pack());
        self.modes = Modes::from_control(self.regs.u32(CR0));
        // The mask is latched here (assumptions::DISPATCH_MASK_IS_LATCHED).
        let enabled =
            if control.vector_mask_enable { launch.vector_mask } else { launch.dispatch_mask };
        self.flow = super::flow::Flow::new(enabled);
        self.jump = None;
        // The first instruction is where the kernel's offsets begin.
        self.pending = Pending { goto: Some(0), ..Pending::default() };
        self.system_routine = launch.system_routine;
        (self.passed, self.executed) = (false, 0);
    }

    /// Starts with these channels instead of those of the masks. Call before the first instruction.
    pub fn begin_with(&mut self, channels: u32) {
        self.flow = super::flow::Flow::new(channels);
    }

    /// Executes `kernel` from its first instruction to the end of the thread. Returns the number of
    /// instructions.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` returns or that an instruction runs into, and the fault of a
    /// thread that waits for something that nothing provides.
    pub fn run<E: Environment>(&mut self, kernel: &Kernel, world: &mut E) -> Result<u64, Fault> {
        let stop = self.resume(kernel, world)?;
        if stop == Stop::End { Ok(self.executed) } else { Err(self.stuck(stop, kernel, world)) }
    }

    /// The fault of a thread that stopped and cannot continue.
    pub fn stuck<E: Environment>(&self, stop: Stop, kernel: &Kernel, world: &E) -> Fault {
        let (what, page) = match stop {
            Stop::Notification(register) => (
                format!("wait for a notification in n0.{register} (barriers between threads)"),
                "G45 vol 4, wait",
            ),
            Stop::Dependency(fftid) => {
                (format!("sendc that waits for the end of thread {fftid:#x}"), "2a sendc")
            }
            Stop::Decode(offset) => {
                (format!("jump to a computed offset, {offset:#x}"), "2a, control flow")
            }
            Stop::End => ("instructions after the end of the thread".into(), "G45 vol 4, 11.5"),
        };
        world.trap(Refusal::missing(what, page).into(), self.position(kernel))
    }

    /// Executes `kernel` from the current instruction until the thread stops.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` gives or that an instruction runs into.
    pub fn resume<E: Environment>(
        &mut self,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<Stop, Fault> {
        loop {
            let done = if self.pending.any() {
                match self.ready(kernel, world)? {
                    Some(stop) => return Ok(stop),
                    None if self.pending.any() => self.single(kernel, world)?,
                    None => Done::On,
                }
            } else {
                self.hot(kernel, world)?
            };
            if let Done::End = done {
                return Ok(Stop::End);
            }
        }
    }

    /// Executes one instruction. Returns none if it is done.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` gives or that the instruction runs into.
    pub fn step<E: Environment>(
        &mut self,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<Option<Stop>, Fault> {
        if let Some(stop) = self.ready(kernel, world)? {
            return Ok(Some(stop));
        }
        match self.single(kernel, world)? {
            Done::End => Ok(Some(Stop::End)),
            // Its target is not decoded, or it waits for something.
            Done::Pause | Done::Interrupted => self.ready(kernel, world),
            Done::On => Ok(None),
        }
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

    /// Channels that are active at the next instruction.
    pub fn active(&self) -> u32 {
        self.flow.active
    }

    /// Channels that wait elsewhere, with the byte offset of the instruction where they become
    /// active.
    pub fn waiting(&self, kernel: &Kernel) -> Vec<(u8, u32)> {
        let offset = |index: u32| kernel.uops.get(index as usize).map_or(0, |u| u.offset);
        self.flow.waiting().map(|(channel, index)| (channel, offset(index))).collect()
    }

    /// Does what comes before the next instruction: jumps to code that was not decoded before, and
    /// exceptions. Returns none if the thread is at an instruction.
    ///
    /// # Errors
    /// An exception without a system routine.
    pub fn ready<E: Environment>(
        &mut self,
        kernel: &Kernel,
        world: &E,
    ) -> Result<Option<Stop>, Fault> {
        loop {
            if let Some(stop) = self.pending.stop.take() {
                return Ok(Some(stop));
            }
            if let Some(offset) = self.pending.goto {
                let Some(index) = kernel.index(offset) else {
                    return Ok(Some(Stop::Decode(offset as i32)));
                };
                self.pending.goto = None;
                self.flow.arrive(index);
            }
            let (offset, index) = (self.position(kernel), self.flow.ip);
            let breakpoint = kernel.behind_breakpoint(index).is_some();
            if !(self.pending.watch || breakpoint) || self.pending.again || self.passed {
                return Ok(None);
            }
            match self.interrupted(breakpoint, offset, kernel) {
                Ok(true) => {}
                Ok(false) => {
                    self.passed = breakpoint || self.pending.watch;
                    return Ok(None);
                }
                Err(Interrupt::Trap(trap)) => return Err(world.trap(trap, offset)),
                Err(Interrupt::Pause) => {}
            }
        }
    }

    /// Executes the current instruction.
    fn single<E: Environment>(&mut self, kernel: &Kernel, world: &mut E) -> Result<Done, Fault> {
        let Some(u) = kernel.uops.get(self.flow.ip as usize) else {
            return Err(world.trap(nowhere(), 0));
        };
        let counted = !std::mem::take(&mut self.pending.again);
        let done = self.instruction(Level::detect(), u, kernel, world, counted);
        // An instruction that was not executed is the next one again.
        self.passed &= done.is_err();
        self.executed += u64::from(counted && done.is_ok());
        done
    }

    /// Executes instructions until one of them ends the thread or leaves something pending.
    fn hot<E: Environment>(&mut self, kernel: &Kernel, world: &mut E) -> Result<Done, Fault> {
        let level = Level::detect();
        let uops = &kernel.uops[..];
        let mut count = 0;
        let done = loop {
            let Some(u) = uops.get(self.flow.ip as usize) else {
                break Err(world.trap(nowhere(), 0));
            };
            match self.instruction(level, u, kernel, world, true) {
                Ok(Done::On) => count += 1,
                Ok(Done::Interrupted) => break Ok(Done::Interrupted),
                Ok(done) => {
                    count += 1;
                    break Ok(done);
                }
                Err(fault) => break Err(fault),
            }
        };
        self.executed += count;
        done
    }

    #[inline(always)]
    fn instruction<E: Environment>(
        &mut self,
        level: Option<Level>,
        u: &Uop,
        kernel: &Kernel,
        world: &mut E,
        counted: bool,
    ) -> Result<Done, Fault> {
        let enabled = if u.no_mask { u32::MAX } else { self.flow.active >> u.first };
        let mut mask = enabled & u.lanes;
        if u.predicate.is_some() && u.op != Op::Isa(Opcode::Sel) {
            mask &= self.predicate(u);
        }
        if counted {
            world.step(u.offset, mask)?;
        }
        if let Some(level) = level
            && u.plan.operation != Operation::NONE
            && fast::run(level, self, u, mask)
        {
            self.flow.advance(u.next);
            return Ok(Done::On);
        }
        if u.op == Op::Isa(Opcode::Send) {
            return self.send(u, mask, world);
        }
        if u.op == Op::Breakpoint {
            return self.breakpoint(u, kernel, world);
        }
        match self.other(u, mask, kernel, world) {
            Ok(()) => Ok(Done::On),
            Err(Interrupt::Pause) => Ok(Done::Pause),
            Err(Interrupt::Trap(trap)) => Err(world.trap(trap, u.offset)),
        }
    }

    /// An instruction with a breakpoint: raises the exception, or executes the instruction.
    #[cold]
    fn breakpoint<E: Environment>(
        &mut self,
        u: &Uop,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<Done, Fault> {
        let passed = std::mem::take(&mut self.passed);
        match if passed { Ok(false) } else { self.interrupted(true, u.offset, kernel) } {
            Ok(true) | Err(Interrupt::Pause) => Ok(Done::Interrupted),
            Ok(false) => match kernel.behind_breakpoint(self.flow.ip) {
                Some(real) => self.instruction(Level::detect(), real, kernel, world, false),
                None => Err(world.trap(nowhere(), u.offset)),
            },
            Err(Interrupt::Trap(trap)) => Err(world.trap(trap, u.offset)),
        }
    }

    /// Any instruction that is not a message and does not take the fast path.
    fn other<E: Environment>(
        &mut self,
        u: &Uop,
        mask: u32,
        kernel: &Kernel,
        world: &E,
    ) -> Result<(), Interrupt> {
        match u.op {
            Op::Refused | Op::Breakpoint => return Err(u.refusal().into()),
            Op::Isa(Opcode::Nop) => self.flow.advance(u.next),
            Op::Isa(Opcode::Illegal) => return self.illegal_opcode(u, kernel),
            Op::Isa(Opcode::Wait) => return self.wait(u),
            Op::Isa(opcode) if ops::general(opcode).is_none() => {
                return self.branch(u, opcode, mask, kernel);
            }
            Op::Isa(_) => {
                if u.volatile {
                    self.refresh(u, kernel, u.clock.then(|| world.timestamp()));
                }
                if u.dst.control {
                    return self.write_machine(u, mask, kernel);
                }
                if mask != 0 {
                    execute::alu(self, u, mask)?;
                }
                match self.jump.take() {
                    Some(address) => {
                        return self.jump_to(kernel, (address & !7).wrapping_sub(kernel.ip_base));
                    }
                    None => self.flow.advance(u.next),
                }
            }
        }
        Ok(())
    }

    /// The thread with all its active channels continues at a byte offset from the kernel's first
    /// instruction.
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

    /// Sends a message.
    fn send<E: Environment>(&mut self, u: &Uop, mask: u32, world: &mut E) -> Result<Done, Fault> {
        let Some(SendInfo { function, eot, descriptor, payload, response, dependent }) = u.send
        else {
            return Err(world.trap(Refusal::illegal("send without a message").into(), u.offset));
        };
        if dependent && let Some(fftid) = self.awaited() {
            self.pending.stop = Some(Stop::Dependency(fftid));
            self.pending.again = true;
            return Ok(Done::Pause);
        }
        let message = Message {
            function,
            eot,
            descriptor: match descriptor {
                Descriptor::Immediate(bits) => bits,
                Descriptor::Address(byte) => self.regs.u32(A0 + usize::from(byte)),
            },
            mask,
            channels: u.size,
            first: u.first,
            payload: usize::from(payload),
            response: match response {
                Response::None => None,
                Response::Register(offset) => Some(usize::from(offset)),
                Response::Indirect { address, immediate } => {
                    let at = i32::from(self.regs.u16(A0 + 2 * usize::from(address)))
                        + i32::from(immediate);
                    match usize::try_from(at) {
                        Ok(at) if at.is_multiple_of(REGISTER) && at < GRF_BYTES => Some(at),
                        _ => {
                            let why = format!(
                                "a response to byte {at:#x}, where no general register begins"
                            );
                            return Err(world.trap(Refusal::illegal(why).into(), u.offset));
                        }
                    }
                }
            },
            ip: u.offset,
        };
        // The end of a thread is always sent (gen8_facts 14).
        if mask != 0 || eot || !MESSAGES_NEED_A_CHANNEL {
            world.send(&mut self.regs, &message)?;
        }
        if eot {
            return Ok(Done::End);
        }
        self.flow.advance(u.next);
        Ok(Done::On)
    }

    /// The predicate of an instruction for its channels, channel 0 of the instruction lowest.
    #[inline(always)]
    pub(super) fn predicate(&self, u: &Uop) -> u32 {
        let flags = self.regs.flags();
        let bits = match u.predicate {
            None => return u32::MAX,
            Some(PredicateControl::Sequential) => (flags >> u.flag) as u32,
            Some(control) => combined(flags, u, control),
        };
        if u.invert { !bits } else { bits }
    }
}

#[cold]
fn nowhere() -> Trap {
    Refusal::illegal("jump to where there is no instruction").into()
}

/// Predicates that combine flag bits.
#[cold]
fn combined(flags: u64, u: &Uop, control: PredicateControl) -> u32 {
    // Groups are aligned blocks of the flag register, which has 32 bits.
    let register = (flags >> (u.flag & 32)) as u32;
    let shift = u.flag & 31;
    let partner = if VERTICAL_PREDICATE_COMBINES_REGISTERS { 32 } else { 16 };
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

/// The address of byte `offset` from a general register on, wrapped.
pub fn grf_offset(base: usize, offset: usize) -> usize {
    usize::from(wrap((base + offset) as i32))
}
