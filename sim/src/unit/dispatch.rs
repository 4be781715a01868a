//! Executes a thread: hands each of its messages to the shared function that receives it.

use super::local::Shared;
use super::view::ThreadView;
use super::{dataport, gateway, pixel_interpolator, sampler, spawner, urb, vme};
use crate::eu::Kernel;
use crate::eu::regions::{GRF_BYTES, REGISTER, Registers};
use crate::eu::stop::{Stop, Trap};
use crate::eu::thread::{Environment, Message, Thread};
use crate::eu::transfer::{Tally, Transfer};
use crate::machine::events::{Event, Now};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::watchdog::Exhausted;
#[cfg(feature = "fast")]
use crate::mem::Shadow;
use crate::mem::{AccessLog, Client};
use crate::unit::port::Port;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::messages::MessageDescriptor;
use genxml_eu::gen8::messages::{DataPort1MessageDescriptor, MtDp1};
#[cfg(feature = "fast")]
use genxml_jit::Reach;

/// The receivers of the messages of a generation.
pub trait Receive {
    /// The generation.
    const GENERATION: Generation;

    /// Hands a message to its shared function. Responses are written to `registers`.
    ///
    /// # Errors
    /// Any [`Fault`] of the shared function.
    fn receive(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault>;

    /// Shared local memory; see [`Environment::local`].
    fn local(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// The memory that compiled code may access; see [`Environment::reach`].
    #[cfg(feature = "fast")]
    fn reach(&mut self) -> Reach<'_> {
        Reach::window(self.local().unwrap_or_default())
    }

    /// Copies of pages; see [`Environment::shadow`].
    #[cfg(feature = "fast")]
    fn shadow(&mut self) -> Option<Shadow> {
        None
    }

    /// Executes a message of dwords; see [`Environment::transfer`].
    fn transfer(&mut self, _registers: &mut Registers, _transfer: &Transfer) -> bool {
        false
    }
}

impl<B, L: Shared> Port<'_, '_, B, L>
where
    Self: Receive,
{
    /// Continues `thread` in `kernel` until the thread stops.
    ///
    /// # Errors
    /// Any [`Fault`] that an instruction or a message causes.
    pub fn resume(&mut self, thread: &mut Thread, kernel: &Kernel) -> Result<Stop, Fault> {
        match self.exec.listener.wants_instructions_of(self.kernel, self.thread) {
            false => thread.resume(kernel, self),
            true => thread.resume(kernel, &mut Traced(self)),
        }
    }
}

impl<B, L> Port<'_, '_, B, L>
where
    Self: Receive,
{
    /// Hands a message to its shared function, and reports the accesses that it makes.
    #[cold]
    fn receive_logged(
        &mut self,
        log: &AccessLog,
        registers: &mut Registers,
        message: &Message,
    ) -> Result<(), Fault> {
        if self.exec.listener.wants_channels()
            && self.exec.listener.wants_instructions_of(self.kernel, self.thread)
            && only_reads(message.function, message.descriptor)
        {
            self.receive_by_lane(registers, message)?;
        }
        let acting = self.exec.vm.client(client(message.function));
        let done = self.receive(registers, message);
        drop(acting);
        self.exec.emit_message_accesses(log, self.thread);
        done
    }

    /// Executes a message that only reads, for each of its lanes alone, without its response and
    /// without counting it: the events of these accesses name the channel.
    fn receive_by_lane(&mut self, registers: &Registers, message: &Message) -> Result<(), Fault> {
        let (stats, observed) = (*self.exec.stats, self.exec.device.observed);
        for lane in (0..u32::from(message.channels)).filter(|lane| message.mask >> lane & 1 == 1) {
            let alone = Message { mask: 1 << lane, ..*message };
            let acting = self.exec.vm.client(client(message.function));
            let done = self.receive(&mut registers.clone(), &alone);
            drop(acting);
            done?;
            let channel = message.first.wrapping_add(lane as u8);
            self.exec.emit_accesses(Some(self.thread), Some(channel));
        }
        *self.exec.stats = stats;
        self.exec.device.observed = observed;
        if let Some(log) = self.exec.vm.log() {
            // The message itself follows.
            log.take_local();
            log.take_outside();
        }
        Ok(())
    }
}

/// True if a message has lanes and changes nothing but its response.
fn only_reads(function: SharedFunction, descriptor: u32) -> bool {
    match function {
        SharedFunction::Sampler => true,
        SharedFunction::DataPort1 => {
            let fields = DataPort1MessageDescriptor::unpack_lossy(&[descriptor]);
            matches!(fields.message_type, MtDp1::MT1R_US | MtDp1::MT1R_A64_US | MtDp1::MT1R_TS)
        }
        _ => false,
    }
}

/// The client of the accesses that a message makes.
fn client(function: SharedFunction) -> Client {
    match function {
        SharedFunction::DataPortConstant => Client::Constants,
        SharedFunction::DataPortSampler
        | SharedFunction::Sampler
        | SharedFunction::MotionEstimation
        | SharedFunction::CheckAndRefinement => Client::Sampler,
        SharedFunction::DataPortRender => Client::RenderTarget,
        _ => Client::Data,
    }
}

impl Port<'_, '_> {
    /// Decodes a message to the render cache and records the write in `local.writes`. The stage
    /// that started the thread executes the write later.
    fn render_target(&mut self, registers: &Registers, message: &Message) -> Result<(), Fault> {
        let Some(dispatched) = &self.local.dispatched else {
            return Err(self.illegal("only pixel shaders have render targets".into(), message));
        };
        let added = self.local.writes.add(registers, message, dispatched);
        added.map_err(|refusal| self.refuse(refusal, message))
    }
}

impl<B, L> Environment for Port<'_, '_, B, L>
where
    Self: Receive,
{
    #[inline(always)]
    fn step(&mut self, offset: u32, _: u32) -> Result<(), Fault> {
        match self.exec.budget.instruction() {
            Ok(()) => Ok(()),
            Err(Exhausted) => {
                self.arrive(offset);
                Err(self.exec.hang())
            }
        }
    }

    #[inline(always)]
    fn steps(&mut self, count: u32) -> bool {
        self.exec.budget.instructions(count)
    }

    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let log = self.exec.vm.log();
        if log.is_some() {
            self.exec.emit_accesses(None, None);
        }
        self.arrive(message.ip);
        self.exec.stats.messages += 1;
        self.exec.emit(&Event::Message {
            kernel: self.kernel,
            thread: self.thread,
            ip: message.ip,
            generation: Self::GENERATION,
            function: message.function,
            descriptor: message.descriptor,
        });
        if let Some(log) = log {
            return self.receive_logged(log, registers, message);
        }
        self.receive(registers, message)
    }

    #[inline(always)]
    fn take_back(&mut self, count: u32) {
        self.exec.budget.take_back(count);
    }

    #[inline(always)]
    fn local(&mut self) -> Option<&mut [u8]> {
        // An observer gets an event for each message.
        if self.exec.listener.is_some() { None } else { Receive::local(self) }
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn reach(&mut self) -> Reach<'_> {
        Receive::reach(self)
    }

    #[cfg(feature = "fast")]
    fn shadow(&mut self) -> Option<Shadow> {
        Receive::shadow(self)
    }

    #[cfg(feature = "fast")]
    fn difference(&self, shadow: &Shadow) -> Option<u64> {
        shadow.difference(|address, bytes| self.exec.vm.read(address, bytes).is_ok())
    }

    #[inline]
    fn tally(&mut self, tally: &Tally) {
        let Tally { local_reads, local_writes, global, bytes_read, bytes_written } = *tally;
        let (stats, observed) = (&mut *self.exec.stats, &mut self.exec.device.observed);
        stats.messages += local_reads + local_writes + global;
        stats.bytes_read += bytes_read;
        stats.bytes_written += bytes_written;
        observed.add(Counter::LocalReads, local_reads);
        observed.add(Counter::LocalWrites, local_writes);
        observed.add(Counter::Memory, global);
    }

    #[inline(always)]
    fn transfer(&mut self, registers: &mut Registers, transfer: &Transfer) -> bool {
        // An observer gets an event for each message.
        let done = !self.exec.listener.is_some() && Receive::transfer(self, registers, transfer);
        self.exec.stats.messages += u64::from(done);
        done
    }

    fn timestamp(&self) -> u64 {
        self.exec.vm.keep_order();
        self.exec.budget.timestamp()
    }

    #[cold]
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        trap.fault(self.exec.at.in_kernel(self.kernel, offset))
    }
}

impl Receive for Port<'_, '_> {
    const GENERATION: Generation = Generation::Gen8;

    #[inline(always)]
    fn receive(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let descriptor = MessageDescriptor::unpack_lossy(&[message.descriptor]);
        let sent = descriptor.message_length.get() as usize * REGISTER;
        if message.payload + sent > GRF_BYTES {
            return Err(self.illegal("the payload continues after r127".into(), message));
        }
        let back = descriptor.response_length.get() as usize * REGISTER;
        match message.response {
            Some(first) if first + back > GRF_BYTES => {
                return Err(self.illegal("the response continues after r127".into(), message));
            }
            None if back > 0 && !message.eot => {
                // The destination is null. Hardware drops the response, so the units write no
                // response.
            }
            _ => {}
        }
        match message.function {
            SharedFunction::DataPort0 => {
                dataport::data_cache_0(self, registers, &self.covered(message))
            }
            SharedFunction::DataPort1 => {
                dataport::data_cache_1(self, registers, &self.covered(message))
            }
            SharedFunction::DataPortConstant | SharedFunction::DataPortSampler => {
                dataport::read_only(self, registers, message)
            }
            SharedFunction::DataPortRender => self.render_target(registers, message),
            SharedFunction::ThreadSpawner => spawner::message(self, registers, message),
            SharedFunction::Urb => urb::message(self, registers, message),
            SharedFunction::Gateway => gateway::message(self, registers, message),
            SharedFunction::Sampler => sampler::message(self, registers, message),
            SharedFunction::PixelInterpolator => {
                pixel_interpolator::message(self, registers, message)
            }
            SharedFunction::MotionEstimation | SharedFunction::CheckAndRefinement => {
                vme::message(self, registers, message)
            }
            _ => Err(self.missing("this shared function", message, "2b p.28")),
        }
    }

    #[inline(always)]
    fn local(&mut self) -> Option<&mut [u8]> {
        // Channels of uncovered pixels are not active.
        self.local.covered.is_none().then(|| dataport::local(self.local))
    }

    #[cfg(feature = "fast")]
    #[inline(always)]
    fn reach(&mut self) -> Reach<'_> {
        self.exec.vm.reach(dataport::local(self.local), self.bindings.bounds())
    }

    #[cfg(feature = "fast")]
    fn shadow(&mut self) -> Option<Shadow> {
        self.exec.vm.shadow(self.bindings.bounds())
    }

    #[inline(always)]
    fn transfer(&mut self, registers: &mut Registers, transfer: &Transfer) -> bool {
        // Channels of uncovered pixels are not active.
        self.local.covered.is_none() && dataport::transfer(self, registers, transfer)
    }
}

/// A [`Port`] that emits an event for each instruction. It is a separate type, so that [`Port`]
/// does not check for each instruction whether an observer wants these events.
struct Traced<'t, 'p, 'a, B, L>(&'t mut Port<'p, 'a, B, L>);

impl<'p, 'a, B, L: Shared> Environment for Traced<'_, 'p, 'a, B, L>
where
    Port<'p, 'a, B, L>: Receive,
{
    fn before(&mut self, thread: &Thread, ip: u32, mask: u32) {
        let Port { exec, kernel, thread: number, local, .. } = &mut *self.0;
        let Exec { vm, state, budget, listener, engine, .. } = &mut **exec;
        let _own = vm.unrecorded();
        let view = ThreadView { vm, state, thread, local: local.shared() };
        let (kernel, registers) = (*kernel, &thread.regs.bytes()[..]);
        let now = Now { engine: *engine, clock: budget.clock() };
        let thread = *number;
        let event = Event::Instruction { kernel, thread, ip, mask, registers, view: &view };
        listener.event(now, &event);
    }

    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
        if self.0.exec.listener.cancels() {
            self.0.arrive(offset);
            return Err(Fault::Cancelled { at: self.0.exec.at });
        }
        self.0.step(offset, mask)
    }

    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        self.0.send(registers, message)
    }

    fn timestamp(&self) -> u64 {
        self.0.timestamp()
    }

    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        self.0.trap(trap, offset)
    }
}
