//! Debugger for one thread, for tests and tools: load registers, run or step, stop at breakpoints,
//! read all state.
//!
//! ```
//! use genxml_sim::eu::debug::{Alone, Halt, Session};
//! use genxml_sim::eu::{Launch, decode};
//!
//! // mov (8|M0) r2.0<1>:ud 0x2a:ud, and the end of the thread.
//! let code: [u32; 8] = [
//!     0x0060_0001, 0x2040_0608, 0, 0x2a, 0x0760_0031, 0x2000_0a04, 0x0e00_0e00, 0x8200_0010,
//! ];
//! let bytes: Vec<u8> = code.iter().flat_map(|dword| dword.to_le_bytes()).collect();
//! let launch = Launch { dispatch_mask: 0x0f, ..Launch::default() };
//! let mut session = Session::new(&launch, 0, |offset| decode::fetch_from(&bytes, offset));
//! let halt = session.run(&mut Alone::default(), 1000, &mut ())?;
//! assert_eq!(halt, Halt::End);
//! assert_eq!(session.thread.regs.dwords::<8>(2 * 32), [42, 42, 42, 42, 0, 0, 0, 0]);
//! # Ok::<(), genxml_sim::Fault>(())
//! ```

use super::decode::{self, Fetched};
use super::extended::remainder_target;
use super::kernel::Kernel;
use super::regions::{
    A0, ACC_FILE, CE0, CR0, DBG0, FLAGS, GRF_BYTES, IP, MASK0, MRF, MRF_BYTES, MS0, MSD0, N0,
    REGISTER, Registers, SP, SR0, TDR0, TM0, wrap,
};
use super::stop::{Stop, Trap};
use super::thread::{Environment, Launch, Message, Thread};
use super::uop::{MathFunction, Op, Opcode, Target, Type, Uop};
use crate::machine::fault::{Fault, Place, Refusal};
use genxml::engine::EngineId;
use genxml_eu::Generation;
use genxml_eu::message::lengths_on;
use std::collections::BTreeSet;

/// A thread, its kernel and the memory that the kernel comes from.
pub struct Session<F> {
    /// The thread; its registers can be changed between instructions.
    pub thread: Thread,
    kernel: Kernel,
    fetch: F,
    breakpoints: BTreeSet<u32>,
    /// Enabled channels of the last instruction.
    mask: u32,
}

/// Why a session stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The thread has ended.
    End,
    /// The thread reached a breakpoint of the session. The instruction at this offset is next.
    Breakpoint(u32),
    /// The requested number of instructions was executed.
    Limit,
    /// The thread waits for a notification ([`Thread::notify`]) or the end of another thread
    /// ([`Thread::retired`]).
    Wait(Stop),
}

/// Observes the instructions of a session. `()` observes nothing: without breakpoints the thread
/// then runs at full speed.
pub trait Watch {
    /// False if [`instruction`](Self::instruction) is never called.
    const LISTENS: bool = true;

    /// Called after each instruction.
    fn instruction(&mut self, executed: &Executed<'_>);
}

impl Watch for () {
    const LISTENS: bool = false;
    fn instruction(&mut self, _: &Executed<'_>) {}
}

impl<F: FnMut(&Executed<'_>)> Watch for F {
    fn instruction(&mut self, executed: &Executed<'_>) {
        self(executed);
    }
}

/// An instruction that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// Byte offset of the instruction from the kernel's first instruction.
    pub offset: u32,
    /// The instruction.
    pub uop: &'a Uop,
    /// Enabled channels of the instruction. Bit 0 is its first channel, which is channel
    /// [`Uop::first`] of the thread.
    pub mask: u32,
    /// Elements that the instruction wrote: results in the order of the channels, then the response
    /// of a message, flags and accumulators.
    pub writes: &'a [Write],
    /// The message that the instruction sent, if it is a send.
    pub message: Option<&'a Message>,
}

/// An element that an instruction wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Location of the element.
    pub location: Location,
    /// The channel of the thread, if the element belongs to one.
    pub channel: Option<u8>,
    /// Type of the element.
    pub ty: Type,
    /// Bit pattern of the element.
    pub bits: u64,
}

/// A location in the registers of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// A byte offset in the register file (see [`super::regions`]).
    File(u16),
    /// A byte offset in the accumulators.
    Accumulator(u16),
}

impl Location {
    /// The assembler's name of the element of `size` bytes at this location: `r10.3`, `acc1.0`,
    /// `f0.1`.
    pub fn name(self, size: usize) -> String {
        let (name, byte) = match self {
            Location::Accumulator(byte) => {
                (format!("acc{}", usize::from(byte) / REGISTER), usize::from(byte))
            }
            Location::File(byte) => {
                let byte = usize::from(byte);
                let name = match byte - byte % REGISTER {
                    A0 => "a0".to_owned(),
                    FLAGS => {
                        return format!("f{}.{}", (byte - FLAGS) / 4 % 8, byte % 4 / size.max(1));
                    }
                    SR0 => "sr0".to_owned(),
                    CR0 => "cr0".to_owned(),
                    N0 => "n0".to_owned(),
                    IP => "ip".to_owned(),
                    TM0 => "tm0".to_owned(),
                    CE0 => "ce0".to_owned(),
                    TDR0 => "tdr0".to_owned(),
                    SP => "sp".to_owned(),
                    DBG0 => "dbg0".to_owned(),
                    MASK0 => "mask0".to_owned(),
                    MS0 => "ms0".to_owned(),
                    MSD0 => "msd0".to_owned(),
                    message @ MRF..MASK0 => format!("m{}", (message - MRF) / REGISTER),
                    general => format!("r{}", general / REGISTER),
                };
                (name, byte)
            }
        };
        format!("{name}.{}", byte % REGISTER / size.max(1))
    }
}

impl<F: FnMut(i32) -> Fetched> Session<F> {
    /// A session with a thread before its first instruction; the kernel is of the thread's
    /// generation. `ip_base` is the value of `ip` at that
    /// instruction. `fetch` reads an instruction, by its byte offset from the first instruction
    /// ([`decode::fetch_on`]).
    pub fn new(launch: &Launch, ip_base: u32, fetch: F) -> Self {
        Session {
            thread: Thread::new(launch),
            kernel: Kernel::new(launch.generation, 0, ip_base),
            fetch,
            breakpoints: BTreeSet::new(),
            mask: 0,
        }
    }

    /// The kernel, as far as it has been decoded.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Sets a breakpoint before the instruction at byte `offset`.
    pub fn break_at(&mut self, offset: u32) {
        self.breakpoints.insert(offset);
    }

    /// Byte offset of the next instruction.
    pub fn position(&self) -> u32 {
        self.thread.position(&self.kernel)
    }

    /// Executes up to `limit` instructions.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` returns or that an instruction causes; the thread stays at that
    /// instruction.
    pub fn run<E: Environment, W: Watch>(
        &mut self,
        world: &mut E,
        limit: u64,
        watch: &mut W,
    ) -> Result<Halt, Fault> {
        if !W::LISTENS && self.breakpoints.is_empty() {
            return self.run_free(world, limit);
        }
        let mut writes = Vec::new();
        for executed in 0..limit {
            let position = self.position();
            // A breakpoint at the first instruction of this call is ignored.
            if executed > 0 && self.breakpoints.contains(&position) {
                return Ok(Halt::Breakpoint(position));
            }
            let halt = self.step(world, watch, &mut writes)?;
            if let Some(halt) = halt {
                return Ok(halt);
            }
        }
        Ok(match self.breakpoints.contains(&self.position()) {
            true => Halt::Breakpoint(self.position()),
            false => Halt::Limit,
        })
    }

    /// Executes one instruction. Returns `None` if the thread can continue with the next one.
    fn step<E: Environment, W: Watch>(
        &mut self,
        world: &mut E,
        watch: &mut W,
        writes: &mut Vec<Write>,
    ) -> Result<Option<Halt>, Fault> {
        loop {
            while let Some(stop) = self.thread.ready(&self.kernel, world)? {
                match stop {
                    Stop::Decode(offset) => {
                        decode::extend(&mut self.kernel, offset, &mut self.fetch)
                    }
                    stop => return Ok(Some(Halt::Wait(stop))),
                }
            }
            let position = self.position();
            let index = self.thread.flow.ip;
            let before = self.kernel.uops.get(index as usize).map(|uop| {
                let uop = self.kernel.behind_breakpoint(index).unwrap_or(uop);
                (uop, places(uop, &self.thread), self.thread.regs.flags())
            });
            let mut tap = Tap { world, mask: self.mask, message: None, left: u64::MAX };
            let stop = self.thread.step(&self.kernel, &mut tap)?;
            self.mask = tap.mask;
            let (mask, message) = (tap.mask, tap.message.as_ref());
            // An instruction that has to wait is reported when it is done.
            let done = !self.thread.repeats();
            if W::LISTENS
                && done
                && let Some((uop, places, flags)) = before
            {
                writes.clear();
                collect(writes, uop, mask, &places, flags, &self.thread, message);
                watch.instruction(&Executed { offset: position, uop, mask, writes, message });
            }
            match stop {
                None => return Ok(None),
                Some(Stop::End) => return Ok(Some(Halt::End)),
                Some(Stop::Decode(offset)) => {
                    decode::extend(&mut self.kernel, offset, &mut self.fetch);
                    if done {
                        return Ok(None);
                    }
                }
                Some(stop) => return Ok(Some(Halt::Wait(stop))),
            }
        }
    }

    fn run_free<E: Environment>(&mut self, world: &mut E, limit: u64) -> Result<Halt, Fault> {
        let mut left = limit;
        loop {
            let mut tap = Tap { world, mask: 0, message: None, left };
            let stop = self.thread.resume(&self.kernel, &mut tap);
            left = tap.left;
            match stop {
                Ok(Stop::End) => return Ok(Halt::End),
                Ok(Stop::Decode(offset)) => {
                    decode::extend(&mut self.kernel, offset, &mut self.fetch)
                }
                Ok(stop) => return Ok(Halt::Wait(stop)),
                Err(_) if left == u64::MAX => return Ok(Halt::Limit),
                Err(fault) => return Err(fault),
            }
        }
    }
}

/// An environment that forwards to `world` and records the last mask and message.
struct Tap<'a, E> {
    world: &'a mut E,
    mask: u32,
    message: Option<Message>,
    /// Instructions left. Wraps to `u64::MAX` at the first instruction beyond the limit.
    left: u64,
}

impl<E: Environment> Environment for Tap<'_, E> {
    #[inline(always)]
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
        self.mask = mask;
        self.left = self.left.wrapping_sub(1);
        if self.left == u64::MAX {
            return Err(Fault::Hang { limit: 0, at: NOWHERE });
        }
        self.world.step(offset, mask)
    }

    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        self.message = Some(*message);
        self.world.send(registers, message)
    }

    fn timestamp(&self) -> u64 {
        self.world.timestamp()
    }

    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        self.world.trap(trap, offset)
    }
}

/// The locations of the destination elements of the next instruction, one for each channel. Empty
/// for messages, `null` and `ip`.
fn places(u: &Uop, thread: &Thread) -> Vec<Location> {
    if u.op == Op::Isa(Opcode::Send) {
        return Vec::new();
    }
    locations(&u.dst.target, u.size, thread)
}

/// The locations of the elements of a destination, one for each channel.
fn locations(target: &Target, channels: u8, thread: &Thread) -> Vec<Location> {
    let channels = 0..usize::from(channels);
    match target {
        Target::Null | Target::Ip => Vec::new(),
        Target::File { offset, stride } => {
            channels.map(|c| Location::File(offset + c as u16 * u16::from(*stride))).collect()
        }
        Target::Table(table) => channels.map(|c| Location::File(table[c])).collect(),
        Target::Accumulator(table) => channels.map(|c| Location::Accumulator(table[c])).collect(),
        Target::Indirect { address, immediate, stride } => {
            let base =
                i32::from(thread.regs.u16(A0 + 2 * usize::from(*address))) + i32::from(*immediate);
            channels.map(|c| Location::File(wrap(base + c as i32 * i32::from(*stride)))).collect()
        }
    }
}

/// Collects the elements that an instruction has written. `flags` are the flags before the
/// instruction.
fn collect(
    writes: &mut Vec<Write>,
    u: &Uop,
    mask: u32,
    places: &[Location],
    flags: u64,
    thread: &Thread,
    message: Option<&Message>,
) {
    let size = u.dst.ty.size();
    let value = |location: Location| match location {
        Location::File(at) => (0..size).fold(0, |bits, byte| {
            // An element of an indirect destination can wrap from the end of the GRF to `r0`, even
            // in the middle of the element.
            let at = usize::from(at) + byte;
            let at = if usize::from(wrap(at as i32)) < at && at - byte < GRF_BYTES {
                at - GRF_BYTES
            } else {
                at
            };
            bits | u64::from(thread.regs.u8(at)) << (8 * byte)
        }),
        Location::Accumulator(at) => element(thread, at, size),
    };
    let enabled = |c: usize| mask >> c & 1 == 1;
    match u.op {
        Op::Isa(Opcode::Call | Opcode::Calla) => {
            if mask != 0
                && let Some(Location::File(at)) = places.first().copied()
            {
                for at in [at, at + 4] {
                    let bits = thread.regs.u32(usize::from(at)).into();
                    writes.push(Write {
                        location: Location::File(at),
                        channel: None,
                        ty: Type::Ud,
                        bits,
                    });
                }
            }
        }
        Op::Isa(
            Opcode::If | Opcode::Jmpi | Opcode::Brd | Opcode::Brc | Opcode::Ret | Opcode::Wait,
        ) => {}
        _ => {
            let mut push = |c: usize, location: Location| {
                let channel = Some(u.first + c as u8);
                writes.push(Write { location, channel, ty: u.dst.ty, bits: value(location) });
            };
            let channels = || places.iter().enumerate().filter(|(c, _)| enabled(*c));
            channels().for_each(|(c, place)| push(c, *place));
            // The math function that computes quotients and remainders also writes remainders.
            if u.function == Some(MathFunction::IntQuotientRemainder)
                && let Target::File { offset, stride } = u.dst.target
            {
                let target = remainder_target(offset, stride, usize::from(u.size));
                let remainders = locations(&target, u.size, thread);
                channels().for_each(|(c, _)| push(c, remainders[c]));
            }
        }
    }
    if let Some(message) = message
        && let Some(first) = message.response
    {
        let registers = lengths(message).1;
        let end = (first + registers * REGISTER).min(GRF_BYTES);
        for at in (first..end).step_by(4) {
            let location = Location::File(at as u16);
            writes.push(Write {
                location,
                channel: None,
                ty: Type::Ud,
                bits: thread.regs.u32(at).into(),
            });
        }
    }
    let now = thread.regs.flags();
    let wrote_flags = u.condition.is_some() && mask != 0;
    if now != flags || wrote_flags {
        for part in 0..4 {
            let [old, new] = [flags, now].map(|flags| flags >> (16 * part) & 0xffff);
            if old != new || wrote_flags && part == usize::from(u.flag) / 16 {
                let location = Location::File((FLAGS + 2 * part) as u16);
                writes.push(Write { location, channel: None, ty: Type::Uw, bits: new });
            }
        }
    }
    if u.acc_write && mask != 0 {
        for at in (0..ACC_FILE as u16).step_by(4) {
            let location = Location::Accumulator(at);
            writes.push(Write {
                location,
                channel: None,
                ty: Type::Ud,
                bits: element(thread, at, 4),
            });
        }
    }
}

/// The bit pattern of an accumulator element of `size` bytes, without the extra bits.
fn element(thread: &Thread, at: u16, size: usize) -> u64 {
    let bits = thread.acc.bits(usize::from(at), size);
    if size < 8 { bits & ((1 << (8 * size)) - 1) } else { bits }
}

const NOWHERE: Place = Place::new(EngineId::Render, "EU thread", 0, 0);

/// The environment of a single thread. It has no memory. Its clock counts instructions. It records
/// each message and answers with zeros.
#[derive(Clone, Debug, Default)]
pub struct Alone {
    /// Instructions executed.
    pub clock: u64,
    /// The messages sent, with the dwords of their payload.
    pub messages: Vec<(Message, Vec<u32>)>,
}

impl Environment for Alone {
    #[inline(always)]
    fn step(&mut self, _: u32, _: u32) -> Result<(), Fault> {
        self.clock += 1;
        Ok(())
    }

    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let (sent, returned) = lengths(message);
        let end = |first: usize, length: usize| {
            let (end, limit) = (first + length * REGISTER, limit(first));
            if end <= limit { Ok(end) } else { Err(self.trap(behind_the_file(), message.ip)) }
        };
        let payload = message.payload..end(message.payload, sent)?;
        let payload = payload.step_by(4).map(|at| registers.u32(at)).collect();
        if let Some(first) = message.response {
            let response = first..end(first, returned)?;
            registers.grf_mut()[response].fill(0);
        }
        self.messages.push((*message, payload));
        Ok(())
    }

    fn timestamp(&self) -> u64 {
        self.clock
    }

    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        trap.fault(NOWHERE.in_kernel(0, offset))
    }
}

/// Number of registers that a message sends and returns. A payload in message registers is of G45.
fn lengths(message: &Message) -> (usize, usize) {
    let generation = if message.payload >= MRF { Generation::Gen45 } else { Generation::Gen8 };
    let (sent, returned) = lengths_on(generation, message.descriptor);
    (sent as usize, returned as usize)
}

/// The end of the registers that follow byte `first` of the file.
fn limit(first: usize) -> usize {
    if first >= MRF { MRF + MRF_BYTES } else { GRF_BYTES }
}

fn behind_the_file() -> Trap {
    Refusal::illegal("a message extends past the last register").into()
}
