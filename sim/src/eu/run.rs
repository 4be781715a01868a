//! The loop that executes a kernel: fetches each instruction and passes it to the fast path, the
//! general path, or the code for messages, branches and machine registers.

#[cfg(feature = "fast")]
use super::compile;
use super::execute;
use super::fast::{self, Level, Operation};
#[cfg(feature = "gen45")]
use super::gen45;
use super::kernel::Kernel;
use super::ops;
#[cfg(feature = "fast")]
use super::regions::Registers;
use super::regions::{A0, GRF_BYTES, REGISTER};
use super::stop::{Interrupt, Stop, Trap};
use super::thread::{Environment, Message, Thread};
use super::uop::{Op, Opcode, Response, SendInfo, Uop};
use crate::assumptions::MESSAGES_NEED_A_CHANNEL;
use crate::machine::fault::{Fault, Refusal};
use genxml_eu::instruction::Descriptor;
#[cfg(feature = "fast")]
use genxml_jit::Reach;
#[cfg(feature = "fast")]
use std::ops::Range;

/// How an instruction ended.
enum Done {
    /// Continue with the next instruction.
    On,
    /// [`Pending`] says what to do next.
    Pause,
    /// The instruction was not executed: an exception was raised before it.
    Interrupted,
    /// The instruction ended the thread.
    End,
}

impl Thread {
    /// Executes `kernel` from the current instruction to the end of the thread. Returns the number
    /// of instructions that the thread has executed in all.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` returns or that an instruction causes, and the fault of a thread
    /// that stops before its end ([`stuck`](Self::stuck)).
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
    /// Any [`Fault`] that `world` returns or that an instruction causes.
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

    /// Executes one instruction, unless the thread must stop before it. Returns `None` if the
    /// thread can continue with the next instruction, otherwise the reason to stop.
    ///
    /// # Errors
    /// Any [`Fault`] that `world` returns or that the instruction causes.
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
            // The target of a jump is not decoded, the instruction waits for something, or an
            // exception was raised.
            Done::Pause | Done::Interrupted => self.ready(kernel, world),
            Done::On => Ok(None),
        }
    }

    /// Does what is pending before the next instruction: jumps to code that was not decoded before,
    /// and exceptions. Returns `None` if the thread can execute the instruction, otherwise the
    /// reason to stop.
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
            let index = self.flow.ip;
            let breakpoint = kernel.behind_breakpoint(index).is_some();
            if !(self.pending.watch || breakpoint) || self.pending.again || self.passed {
                return Ok(None);
            }
            let offset = self.position(kernel);
            // Exceptions are raised between instructions, not between the parts of one (G45).
            if kernel.index(offset) != Some(index) {
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
        // After a fault the same instruction is next again. Its exceptions are not checked again.
        self.passed &= done.is_err();
        self.executed += u64::from(counted && done.is_ok());
        done
    }

    /// Executes instructions until one of them ends the thread or leaves something pending, or
    /// until it is time to look whether the kernel is compiled.
    fn hot<E: Environment>(&mut self, kernel: &Kernel, world: &mut E) -> Result<Done, Fault> {
        let level = Level::detect();
        let uops = &kernel.uops[..];
        #[cfg(feature = "fast")]
        let mut blocks = kernel.compilation.get(&kernel.uops, &self.modes);
        #[cfg(feature = "fast")]
        let verify = compile::Strategy::get() == compile::Strategy::Verify;
        let mut count = 0;
        // Every exit from the loop returns directly. A `break` with the result would copy the whole
        // fault.
        loop {
            #[cfg_attr(not(feature = "fast"), allow(unused_mut))]
            // False if `steps` has already counted the instruction.
            let mut counted = true;
            #[cfg(feature = "fast")]
            if let Some(blocks) = blocks {
                let mut step = blocks.step(self.flow.ip);
                if let compile::Step::Run(number) = step {
                    let run = blocks.run(*number);
                    let done = match verify {
                        false => self.messages(blocks, run, world),
                        true => match self.compare_run(level, blocks, run, kernel, world) {
                            Ok(done) => done,
                            Err(fault) => {
                                self.add(count, kernel);
                                return Err(fault);
                            }
                        },
                    };
                    if done > 0 {
                        count += u64::from(done);
                        continue;
                    }
                    step = &run.instead;
                }
                match step {
                    compile::Step::Block(block) if self.flow.awaited & block.inner == 0 => {
                        if verify {
                            if let Err(fault) = self.compare(level, blocks, block, kernel, world) {
                                self.add(count, kernel);
                                return Err(fault);
                            }
                            count += u64::from(block.count);
                            continue;
                        }
                        if world.steps(block.count) {
                            blocks.execute(block, self.flow.active, self.regs.bytes_mut());
                            self.flow.advance(block.end);
                            count += u64::from(block.count);
                            continue;
                        }
                    }
                    compile::Step::Transfer { transfer, channels, next }
                        if self.flow.active & channels == *channels && world.steps(1) =>
                    {
                        if world.transfer(&mut self.regs, transfer) {
                            self.flow.advance(*next);
                            count += 1;
                            continue;
                        }
                        counted = false;
                    }
                    _ => {}
                }
            }
            let Some(u) = uops.get(self.flow.ip as usize) else {
                self.add(count, kernel);
                return Err(world.trap(nowhere(), 0));
            };
            match self.instruction(level, u, kernel, world, counted) {
                Ok(Done::On) => {
                    count += 1;
                    // The instruction may have changed the modes.
                    #[cfg(feature = "fast")]
                    if u.dst.control {
                        blocks = kernel.compilation.get(&kernel.uops, &self.modes);
                    }
                }
                Ok(done) => {
                    count += u64::from(!matches!(done, Done::Interrupted));
                    self.add(count, kernel);
                    return Ok(done);
                }
                Err(fault) => {
                    self.add(count, kernel);
                    return Err(fault);
                }
            }
            #[cfg(feature = "fast")]
            if count >= compile::CHECK && blocks.is_none() {
                self.add(count, kernel);
                return Ok(Done::On);
            }
        }
    }

    /// Counts executed instructions.
    #[inline(always)]
    fn add(&mut self, count: u64, kernel: &Kernel) {
        self.executed += count;
        #[cfg(feature = "fast")]
        kernel.compilation.executed(count);
        #[cfg(not(feature = "fast"))]
        let _ = kernel;
    }

    /// Executes a run, and returns the number of instructions executed. It is 0 if a channel that
    /// the run needs is not active, if channels wait inside the run, or if the environment has to
    /// see each instruction or message. It is also 0 if the run begins with a message that its
    /// routine cannot execute.
    #[cfg(feature = "fast")]
    #[inline(always)]
    fn messages<E: Environment>(
        &mut self,
        blocks: &compile::Blocks,
        run: &compile::Run,
        world: &mut E,
    ) -> u32 {
        if !self.can_run(run, world) || !world.steps(run.count) {
            return 0;
        }
        let exit = blocks.execute_run(run, self.regs.bytes_mut(), &world.reach());
        world.tally(&exit.tally);
        if exit.count < run.count {
            world.take_back(run.count - exit.count);
        }
        self.flow.advance(exit.index);
        exit.count
    }

    /// True if all channels of a run are active, none waits inside it, and compiled code may access
    /// shared local memory.
    #[cfg(feature = "fast")]
    #[inline(always)]
    fn can_run<E: Environment>(&self, run: &compile::Run, world: &mut E) -> bool {
        self.flow.active & run.channels == run.channels
            && self.flow.awaited & run.inner == 0
            && world.local().is_some()
    }

    /// As [`compare`](Self::compare), for a run. Compares shared local memory too, and copies of
    /// the pages that machine code can access, if there are some. Returns the number of
    /// instructions executed, as [`messages`](Self::messages).
    #[cfg(feature = "fast")]
    #[cold]
    fn compare_run<E: Environment>(
        &mut self,
        level: Option<Level>,
        blocks: &compile::Blocks,
        run: &compile::Run,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<u32, Fault> {
        if !self.can_run(run, world) {
            return Ok(0);
        }
        let mut copy = self.regs.clone();
        let mut local = world.local().map_or_else(Vec::new, |local| local.to_vec());
        let mut shadow = world.shadow();
        let reach = match &mut shadow {
            Some(shadow) => shadow.reach(&mut local),
            None => Reach::window(&mut local),
        };
        let exit = blocks.execute_run(run, copy.bytes_mut(), &reach);
        if exit.count == 0 {
            return Ok(0);
        }
        let instructions = self.flow.ip..exit.index;
        self.one_by_one(level, &instructions, kernel, world)?;
        self.equal(&copy, &instructions, kernel, world)?;
        if world.local().is_some_and(|own| *own != local[..]) {
            let why = "GENX_EU=verify: the machine code of messages leaves other bytes in shared \
                       local memory";
            let offset = kernel.uops[instructions.start as usize].offset;
            return Err(world.trap(Refusal::illegal(why).into(), offset));
        }
        if let Some(at) = shadow.and_then(|shadow| world.difference(&shadow)) {
            let why = format!(
                "GENX_EU=verify: the machine code of messages leaves another byte at {at:#x}"
            );
            let offset = kernel.uops[instructions.start as usize].offset;
            return Err(world.trap(Refusal::illegal(why).into(), offset));
        }
        Ok(exit.count)
    }

    /// Executes a block one by one, and as machine code on a copy of the registers. A difference is
    /// a fault.
    #[cfg(feature = "fast")]
    #[cold]
    fn compare<E: Environment>(
        &mut self,
        level: Option<Level>,
        blocks: &compile::Blocks,
        block: &compile::Block,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<(), Fault> {
        let mut copy = self.regs.clone();
        let instructions = self.flow.ip..block.end;
        blocks.execute(block, self.flow.active, copy.bytes_mut());
        self.one_by_one(level, &instructions, kernel, world)?;
        self.equal(&copy, &instructions, kernel, world)
    }

    /// Executes instructions one by one. The caller counts them.
    #[cfg(feature = "fast")]
    fn one_by_one<E: Environment>(
        &mut self,
        level: Option<Level>,
        instructions: &Range<u32>,
        kernel: &Kernel,
        world: &mut E,
    ) -> Result<(), Fault> {
        while self.flow.ip < instructions.end {
            let u = &kernel.uops[self.flow.ip as usize];
            self.instruction(level, u, kernel, world, true)?;
            self.executed += 1;
        }
        self.executed -= u64::from(instructions.end - instructions.start);
        Ok(())
    }

    /// Compares the registers with those that machine code left in `copy`. A difference is a fault.
    #[cfg(feature = "fast")]
    fn equal<E: Environment>(
        &self,
        copy: &Registers,
        instructions: &Range<u32>,
        kernel: &Kernel,
        world: &E,
    ) -> Result<(), Fault> {
        let (one, other) = (self.regs.bytes(), copy.bytes());
        match one.iter().zip(other).position(|(one, other)| one != other) {
            None => Ok(()),
            Some(at) => {
                let register = at / REGISTER;
                let why = format!(
                    "GENX_EU=verify: the instructions at bytes {:#x} to {:#x} leave {:#04x} in byte \
                     {} of register {register}, their machine code leaves {:#04x}",
                    kernel.uops[instructions.start as usize].offset,
                    kernel.uops[instructions.end as usize - 1].offset,
                    one[at],
                    at % REGISTER,
                    other[at],
                );
                let offset = kernel.uops[instructions.start as usize].offset;
                Err(world.trap(Refusal::illegal(why).into(), offset))
            }
        }
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
            world.before(self, u.offset, mask);
            world.step(u.offset, mask)?;
        }
        if let Some(level) = level
            && u.plan.operation != Operation::NONE
            && !u.dst.control
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

    /// Handles an instruction with a breakpoint: raises the exception, or executes the instruction.
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

    /// Executes any instruction that is not a message and does not take the fast path.
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
            #[cfg(feature = "gen45")]
            Op::Gen45(opcode) => return self.instruction_gen45(u, opcode, mask, kernel),
            #[cfg(feature = "gen45")]
            Op::IgnoreContinueMask(ignored) => {
                self.ignore_continue_mask(ignored);
                self.flow.advance(u.next);
            }
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
                        // The worked examples of G45 drop four bits (003:14430).
                        let dropped = if self.modes.gen45() { 15 } else { 7 };
                        let target = (address & !dropped).wrapping_sub(kernel.ip_base);
                        return self.jump_to(kernel, target);
                    }
                    None => self.flow.advance(u.next),
                }
            }
        }
        Ok(())
    }

    /// Sends a message.
    fn send<E: Environment>(&mut self, u: &Uop, mask: u32, world: &mut E) -> Result<Done, Fault> {
        let Some(info) = &u.send else {
            return Err(world.trap(Refusal::illegal("send without a message").into(), u.offset));
        };
        let SendInfo { function, eot, descriptor, payload, response, dependent, position, .. } =
            *info;
        if let Some(transfer) = &info.transfer
            && mask & transfer.slots() == transfer.slots()
            && world.transfer(&mut self.regs, transfer)
        {
            self.flow.advance(u.next);
            return Ok(Done::On);
        }
        if dependent && let Some(fftid) = self.awaited() {
            self.pending.stop = Some(Stop::Dependency(fftid.into()));
            self.pending.again = true;
            return Ok(Done::Pause);
        }
        let descriptor = match descriptor {
            Descriptor::Immediate(bits) => bits,
            Descriptor::Address(byte) => self.regs.u32(A0 + usize::from(byte)),
        };
        #[cfg(feature = "gen45")]
        let function = match self.modes.gen45 {
            true => gen45::messages::receiver(descriptor, payload)
                .map_err(|refusal| world.trap(refusal.into(), u.offset))?,
            false => function,
        };
        let message = Message {
            function,
            eot,
            descriptor,
            mask: mask << (position & 31),
            no_mask: u.no_mask,
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
        // The message that ends a thread is sent even without an enabled channel (gen8_facts 14).
        if mask != 0 || eot || !MESSAGES_NEED_A_CHANNEL {
            world.send(&mut self.regs, &message)?;
        }
        if eot {
            return Ok(Done::End);
        }
        self.flow.advance(u.next);
        Ok(Done::On)
    }
}

#[cold]
fn nowhere() -> Trap {
    Refusal::illegal("the thread continues at an offset where no instruction is decoded").into()
}
