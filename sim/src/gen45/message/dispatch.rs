//! Executes a thread: hands each of its messages to the shared function that receives it.

use super::payload::Payload;
use super::port::Port;
use super::{dataport, gateway, math, sampler, spawner, urb};
use crate::eu::Kernel;
use crate::eu::Message;
use crate::eu::regions::{GRF_BYTES, MRF, MRF_BYTES, REGISTER, Registers};
use crate::eu::stop::{Stop, Trap};
use crate::eu::thread::{Environment, Thread};
use crate::machine::events::Event;
use crate::machine::fault::Fault;
use crate::machine::watchdog::Exhausted;
use genxml::eu::instruction::SharedFunction;

impl Port<'_, '_> {
    /// Continues `thread` in `kernel` until the thread stops.
    ///
    /// # Errors
    /// Any [`Fault`] that an instruction or a message causes.
    pub fn resume(&mut self, thread: &mut Thread, kernel: &Kernel) -> Result<Stop, Fault> {
        match self.exec.listener.wants_instructions() {
            false => thread.resume(kernel, self),
            true => thread.resume(kernel, &mut Traced(self)),
        }
    }
}

impl Environment for Port<'_, '_> {
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
        self.arrive(message.ip);
        self.exec.stats.messages += 1;
        self.exec.emit(&Event::Message {
            kernel: self.kernel,
            ip: message.ip,
            function: message.function,
            descriptor: message.descriptor,
        });
        let payload = Payload::open(message, "message");
        if payload.at(payload.sent) > MRF + MRF_BYTES {
            return Err(self.illegal("the payload continues after m15".into(), message));
        }
        // A response begins at a register. The mask of channels includes the subregister.
        let aligned = message.response.map(|first| first / REGISTER * REGISTER);
        if let Some(first) = aligned
            && first + payload.returned * REGISTER > GRF_BYTES
        {
            return Err(self.illegal("the response continues after r127".into(), message));
        }
        let message = &Message { response: aligned, ..*message };
        match message.function {
            SharedFunction::Math => math::message(self, registers, message),
            SharedFunction::Sampler => sampler::message(self, registers, message),
            SharedFunction::DataPortRead => dataport::read(self, registers, message),
            SharedFunction::DataPortWrite => dataport::write(self, registers, message),
            SharedFunction::Urb => urb::message(self, registers, message),
            SharedFunction::Gateway => gateway::message(self, registers, message),
            SharedFunction::ThreadSpawner => spawner::message(self, registers, message),
            // The null function ignores the message, which can end the thread (003:1110).
            SharedFunction::Null => Ok(()),
            _ => Err(self.illegal("a shared function that does not exist".into(), message)),
        }
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

/// A [`Port`] that emits an event for each instruction. It is a separate type, so that [`Port`]
/// does not check for each instruction whether an observer wants these events.
struct Traced<'t, 'p, 'a>(&'t mut Port<'p, 'a>);

impl Environment for Traced<'_, '_, '_> {
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
        self.0.exec.emit(&Event::Instruction { kernel: self.0.kernel, ip: offset, mask });
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
