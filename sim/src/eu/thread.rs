//! A thread: registers, modes, and the loop that executes a kernel to its end.

use super::acc::Accumulators;
use super::execute;
use super::fast::{self, Fast};
use super::kernel::Kernel;
use super::regions::{A0, CE0, CR0, IP, N0, Registers, SR0, TDR0, TM0, wrap};
use super::uop::{Op, Predicate, SendInfo, Type, Uop};
use crate::assumptions::VERTICAL_PREDICATE_COMBINES_REGISTERS;
use crate::fault::Fault;
use genxml_eu::instruction::SharedFunction;

/// What an instruction ran into; becomes a [`Fault`] with the kernel's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// The model does not do this.
    Missing {
        /// What.
        what: String,
        /// Where the manual has it.
        page: &'static str,
    },
    /// The manual forbids it.
    Illegal(String),
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
        let bit = |n: u32| cr0 >> n & 1 == 1;
        Modes {
            alternative: bit(0),
            accumulator_disabled: bit(1),
            single_flow: bit(2),
            keep_single: bit(7),
            keep_double: bit(6),
            keep_half: bit(10),
            rounding: (cr0 >> 4 & 3) as u8,
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

    /// Refuses modes that the model's arithmetic does not have.
    ///
    /// # Errors
    /// [`Trap::Missing`] naming the mode.
    #[inline(always)]
    pub fn check_float(&self, op: Op) -> Result<(), Trap> {
        if !self.alternative && self.rounding == 0 { Ok(()) } else { self.refuse(op) }
    }

    #[cold]
    fn refuse(&self, op: Op) -> Result<(), Trap> {
        if self.alternative {
            return Err(Trap::Missing {
                what: "alternative float mode (cr0.0 bit 0)".into(),
                page: "004 2.3.2",
            });
        }
        match op {
            Op::Add
            | Op::Mul
            | Op::Mad
            | Op::Mac
            | Op::Lrp
            | Op::Line
            | Op::Pln
            | Op::Dp2
            | Op::Dp3
            | Op::Dp4
            | Op::Dph => self.check_rounding("arithmetic on floats"),
            _ => Ok(()),
        }
    }

    /// Refuses rounding modes other than to nearest even.
    ///
    /// # Errors
    /// [`Trap::Missing`] naming the mode.
    pub fn check_rounding(&self, what: &str) -> Result<(), Trap> {
        match self.rounding {
            0 => Ok(()),
            mode => Err(Trap::Missing {
                what: format!("rounding mode {mode} (cr0.0 bits 5:4) in {what}"),
                page: "004, control register",
            }),
        }
    }

    /// Refuses modes that the model's math functions do not have; they always round to nearest.
    ///
    /// # Errors
    /// [`Trap::Missing`] naming the mode.
    pub fn check_math(&self) -> Result<(), Trap> {
        if self.alternative { self.refuse(Op::Nop) } else { Ok(()) }
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
    /// `sr0.0` and `sr0.1`.
    pub state: [u32; 2],
    /// Register contents from `r0` on.
    pub payload: Vec<u8>,
}

/// A message on its way to a shared function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who gets it.
    pub function: SharedFunction,
    /// End of thread.
    pub eot: bool,
    /// All 32 bits of the descriptor.
    pub descriptor: u32,
    /// Enabled channels of the send.
    pub mask: u32,
    /// Number of channels of the send.
    pub channels: u8,
    /// Byte offset of the first payload register; message length counts registers from there.
    pub payload: usize,
    /// Byte offset of the first response register, if there is a destination.
    pub response: Option<usize>,
    /// Byte offset of the instruction in its kernel.
    pub ip: u32,
}

/// What a thread sees of the world.
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
    /// Modes, as `cr0.0` says.
    pub modes: Modes,
    /// Where the channels are.
    pub(super) flow: super::flow::Flow,
    /// An instruction has written `ip` with this value.
    pub(super) jump: Option<u32>,
}

impl Thread {
    /// A thread before its first instruction.
    pub fn new(launch: &Launch) -> Thread {
        let mut regs = Registers::default();
        let payload = launch.payload.len().min(regs.grf().len());
        regs.grf_mut()[..payload].copy_from_slice(&launch.payload[..payload]);
        regs.set_u32(SR0, launch.state[0]);
        regs.set_u32(SR0 + 4, launch.state[1]);
        regs.set_u32(SR0 + 8, launch.dispatch_mask);
        regs.set_u32(SR0 + 12, launch.vector_mask);
        regs.set_u32(CR0, launch.control);
        // Bit 3 of cr0.0 chooses the mask (vector mask enable).
        let enabled = if launch.control >> 3 & 1 == 1 { launch.vector_mask } else { launch.dispatch_mask };
        Thread {
            regs,
            acc: Accumulators::default(),
            modes: Modes::from_control(launch.control),
            flow: super::flow::Flow::new(enabled),
            jump: None,
        }
    }

    /// Executes `kernel` from its first instruction to the end of the thread. Returns the number of instructions.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` gives or that an instruction runs into.
    pub fn run<E: Environment>(&mut self, kernel: &Kernel, world: &mut E) -> Result<u64, Fault> {
        let uops = &kernel.uops[..];
        let mut count = 0;
        self.flow.ip = kernel.entry;
        loop {
            let Some(u) = uops.get(self.flow.ip as usize) else {
                return Err(world.trap(Trap::Illegal("jump to where there is no instruction".into()), 0));
            };
            count += 1;
            let enabled = if u.no_mask { u32::MAX } else { self.flow.active >> u.first };
            let mut mask = enabled & u.lanes;
            if u.predicate != Predicate::None && u.op != Op::Sel {
                mask &= self.predicate(u);
            }
            world.step(u.offset, mask)?;
            if u.fast != Fast::None && fast::run(self, u, mask) {
                self.flow.advance(u.next);
                continue;
            }
            if u.op == Op::Send {
                if self.send(u, mask, kernel, world)? {
                    return Ok(count);
                }
                self.flow.advance(u.next);
                continue;
            }
            if let Err(trap) = self.step(u, mask, kernel, world) {
                return Err(world.trap(trap, u.offset));
            }
        }
    }

    /// Any instruction that is neither a message nor fast.
    fn step<E: Environment>(&mut self, u: &Uop, mask: u32, kernel: &Kernel, world: &E) -> Result<(), Trap> {
        match u.op {
            Op::Nop => self.flow.advance(u.next),
            Op::Illegal => {
                return Err(Trap::Illegal(u.note.as_ref().map_or(String::new(), |note| note.what.clone())));
            }
            Op::Missing => {
                let (what, page) =
                    u.note.as_ref().map_or((String::new(), ""), |note| (note.what.clone(), note.page));
                return Err(Trap::Missing { what, page });
            }
            Op::Wait => self.wait(u)?,
            Op::Jmpi
            | Op::If
            | Op::Else
            | Op::Endif
            | Op::While
            | Op::Break
            | Op::Cont
            | Op::Halt
            | Op::Goto
            | Op::Join
            | Op::Brd
            | Op::Brc
            | Op::Call
            | Op::Calla
            | Op::Ret => self.branch(u, mask, kernel)?,
            _ => {
                if u.volatile {
                    self.refresh(u, kernel, world.timestamp());
                }
                if mask != 0 {
                    execute::alu(self, u, mask)?;
                }
                if u.dst.control {
                    self.control_written()?;
                }
                match self.jump.take() {
                    Some(address) => self.jump_to(kernel, address)?,
                    None => self.flow.advance(u.next),
                }
            }
        }
        Ok(())
    }

    /// Continues at an absolute instruction address, for writes to `ip`.
    pub(super) fn jump_to(&mut self, kernel: &Kernel, address: u32) -> Result<(), Trap> {
        let offset = (address & !7).wrapping_sub(kernel.ip_base);
        match kernel.index(offset) {
            Some(index) => {
                self.flow.arrive(index);
                Ok(())
            }
            None => Err(Trap::Missing {
                what: format!("jump to a computed address, {address:#x}, that no direct branch reaches"),
                page: "G45 vol 4, 15.2.6",
            }),
        }
    }

    /// Brings registers up to date that change by themselves.
    fn refresh(&mut self, u: &Uop, kernel: &Kernel, timestamp: u64) {
        self.regs.set_u32(IP, kernel.ip_base.wrapping_add(u.offset));
        self.regs.set_u64(TM0, timestamp);
        // ce0 is already moved down to the instruction's own channels (gen8_facts 3.8).
        self.regs.set_u32(CE0, self.flow.active >> u.first);
        self.regs.set_u32(TDR0, 0);
    }

    /// Takes over what an instruction wrote to `cr0`.
    fn control_written(&mut self) -> Result<(), Trap> {
        let control = self.regs.u32(CR0);
        if control >> 31 == 1 || self.regs.u32(CR0 + 4) >> 29 & 1 == 1 {
            return Err(Trap::Missing { what: "software exception (cr0)".into(), page: "004:3150-3500" });
        }
        self.modes = Modes::from_control(control);
        Ok(())
    }

    /// Takes one notification off the counter.
    fn wait(&mut self, u: &Uop) -> Result<(), Trap> {
        let counter = match u.src[0].shape {
            super::uop::Shape::Scalar(offset) => usize::from(offset),
            _ => N0,
        };
        match self.regs.u32(counter) {
            0 => Err(Trap::Missing {
                what: "wait for a notification (barriers between threads)".into(),
                page: "G45 vol 4, wait",
            }),
            count => {
                self.regs.set_u32(counter, count - 1);
                self.flow.advance(u.next);
                Ok(())
            }
        }
    }

    /// Sends a message; true if the thread ended with it.
    fn send<E: Environment>(
        &mut self,
        u: &Uop,
        mask: u32,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<bool, Fault> {
        let Some(SendInfo { function, eot, descriptor, payload, response }) = u.send else {
            return Err(world.trap(Trap::Illegal("send without a message".into()), u.offset));
        };
        let _ = kernel;
        let message = Message {
            function,
            eot,
            descriptor: descriptor.unwrap_or_else(|| self.regs.u32(A0)),
            mask,
            channels: u.size,
            payload: usize::from(payload),
            response: response.map(usize::from),
            ip: u.offset,
        };
        // A message without any channel is not sent; the end of a thread always is (gen8_facts 14).
        if mask != 0 || eot {
            world.send(&mut self.regs, &message)?;
        }
        Ok(eot)
    }

    /// The predicate of an instruction for its channels, channel 0 of the instruction lowest.
    #[inline(always)]
    pub(super) fn predicate(&self, u: &Uop) -> u32 {
        let flags = self.regs.flags();
        let bits = match u.predicate {
            Predicate::None => return u32::MAX,
            Predicate::Sequential => (flags >> u.flag) as u32,
            _ => combined(flags, u),
        };
        if u.invert { !bits } else { bits }
    }
}

/// Predicates that combine flag bits.
#[cold]
fn combined(flags: u64, u: &Uop) -> u32 {
    // Groups are aligned blocks of the flag register, which has 32 bits.
    let register = (flags >> (u.flag & 32)) as u32;
    let shift = u.flag & 31;
    let partner = if VERTICAL_PREDICATE_COMBINES_REGISTERS { 32 } else { 16 };
    let grouped = |group: u8, holds: fn(u32, u32) -> bool| {
        let group = u32::from(group).clamp(1, 32);
        let ones = u32::MAX >> (32 - group);
        (0..32)
            .step_by(group as usize)
            .fold(0u32, |bits, at| bits | if holds(register >> at & ones, ones) { ones << at } else { 0 })
    };
    match u.predicate {
        Predicate::Any(group) => grouped(group, |bits, _| bits != 0) >> shift,
        Predicate::All(group) => grouped(group, |bits, ones| bits == ones) >> shift,
        Predicate::AnyV => ((flags | flags >> partner) as u32) >> shift,
        Predicate::AllV => ((flags & flags >> partner) as u32) >> shift,
        Predicate::Replicate(component) => {
            let picked = register >> component & 0x1111_1111;
            (picked * 15) >> shift
        }
        Predicate::None | Predicate::Sequential => u32::MAX,
    }
}

/// The address of byte `offset` from a general register on, wrapped.
pub fn grf_offset(base: usize, offset: usize) -> usize {
    usize::from(wrap((base + offset) as i32))
}
