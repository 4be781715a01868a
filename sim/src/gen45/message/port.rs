//! The connection of one thread with memory and with the shared functions.

use super::bindings::Bindings;
use super::local::Local;
use super::payload::Payload;
use crate::eu::Kernel;
use crate::eu::Message;
use crate::eu::regions::{GRF_BYTES, REGISTER, Registers};
use crate::eu::stop::{Stop, Trap};
use crate::eu::thread::{Environment, Thread};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Refusal};
use crate::machine::watchdog::Exhausted;

/// Connects one thread with memory and with the shared functions.
pub struct Port<'p, 'a> {
    /// Memory, state, statistics and budget of the simulated machine.
    pub exec: &'p mut Exec<'a>,
    /// Surfaces by binding table index.
    pub bindings: &'p mut Bindings,
    /// What the thread produces.
    pub local: &'p mut Local,
    /// Graphics address of the kernel, for events and errors.
    pub kernel: u64,
}

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

    /// Makes the next faults name the instruction at `ip` as their position.
    fn arrive(&mut self, ip: u32) {
        self.exec.at = self.exec.at.in_kernel(self.kernel, ip);
    }

    /// The fault for a message that needs something that the model does not implement.
    #[cold]
    pub fn missing(&self, what: &str, message: &Message, page: &'static str) -> Fault {
        self.refuse(Refusal::missing(what.to_owned(), page), message)
    }

    /// The fault for a message that a shared function refuses.
    #[cold]
    pub fn refuse(&self, refusal: Refusal, message: &Message) -> Fault {
        let refusal = match refusal {
            Refusal::Missing { what, page } => {
                let Message { function, descriptor, .. } = message;
                let what =
                    format!("{what} (message to {function:?}, descriptor {descriptor:#010x})");
                Refusal::missing(what, page)
            }
            illegal @ Refusal::Illegal { .. } => illegal,
        };
        refusal.fault(self.exec.at)
    }

    /// The fault for a message that breaks the rules.
    #[cold]
    pub fn illegal(&self, why: String, message: &Message) -> Fault {
        self.refuse(Refusal::illegal(why), message)
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
        if payload.at(payload.sent) > registers.bytes().len() {
            return Err(self.illegal("the payload continues after m15".into(), message));
        }
        if let Some(first) = message.response
            && first + payload.returned * REGISTER > GRF_BYTES
        {
            return Err(self.illegal("the response continues after r127".into(), message));
        }
        Err(self.missing("this shared function", message, "003:13393"))
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
