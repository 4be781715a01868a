//! Shared functions: the units that receive the messages of threads.
//!
//! A [`Port`] connects one thread with these units. It holds the surfaces of the thread's binding
//! table and hands each message to its unit: [`sampler`], [`dataport`], [`urb`], [`gateway`],
//! [`spawner`], [`pixel_interpolator`]. No unit depends on the stage that started the thread.

pub mod atomic;
pub mod bindings;
pub mod dataport;
pub mod gateway;
pub mod local;
pub mod pixel_interpolator;
pub mod render_cache;
pub mod sampler;
pub mod slots;
pub mod spawner;
pub mod urb;

#[cfg(test)]
mod tests;

pub use bindings::{Bindings, Bound};
pub use local::Local;
pub use sampler::Samplers;

use crate::eu::Kernel;
use crate::eu::control::Stop;
use crate::eu::regions::{GRF_BYTES, REGISTER, Registers};
use crate::eu::thread::{Environment, Message, Thread, Trap};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Refusal};
use crate::machine::watchdog::Exhausted;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::messages::MessageDescriptor;
use std::sync::Arc;

/// Connects one thread with memory and with the shared functions.
pub struct Port<'p, 'a> {
    /// Memory, state, statistics and budget of the simulated machine.
    pub exec: &'p mut Exec<'a>,
    /// Surfaces by binding table index.
    pub bindings: &'p mut Bindings,
    /// State that the threads of the group share.
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

    /// Sets the position that the next faults report to the instruction at `ip`.
    fn arrive(&mut self, ip: u32) {
        self.exec.at = self.exec.at.in_kernel(self.kernel, ip);
    }

    /// The fault for a message that needs something that the model does not implement.
    #[cold]
    pub fn missing(&self, what: &str, message: &Message, page: &'static str) -> Fault {
        self.refuse(Refusal::missing(what.to_owned(), page), message)
    }

    /// The message without the channels of pixels that are not covered.
    #[inline(always)]
    fn covered(&self, message: &Message) -> Message {
        match self.local.covered {
            Some(covered) => Message { mask: message.mask & covered >> message.first, ..*message },
            None => *message,
        }
    }

    /// Records a message to the render cache in `local.writes`. The stage that started the thread
    /// executes it later.
    fn render_target(&mut self, registers: &Registers, message: &Message) -> Result<(), Fault> {
        let Some(dispatched) = &self.local.dispatched else {
            return Err(self.illegal("only pixel shaders have render targets".into(), message));
        };
        match render_cache::parse(registers, message, dispatched) {
            Ok(write) => {
                self.local.writes.push(write);
                Ok(())
            }
            Err(refusal) => Err(self.refuse(refusal, message)),
        }
    }

    /// The fault of a message that is not delivered.
    #[cold]
    fn refuse(&self, refusal: Refusal, message: &Message) -> Fault {
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

    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        self.arrive(message.ip);
        self.exec.stats.messages += 1;
        self.exec.emit(&Event::Message {
            kernel: self.kernel,
            ip: message.ip,
            function: message.function,
            descriptor: message.descriptor,
        });
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
                // The destination is null. Hardware drops the response, so the units write none.
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
            _ => Err(self.missing("this shared function", message, "2b p.28")),
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

/// A kernel and the surfaces that all its threads use.
#[derive(Clone, Debug)]
pub struct Program {
    /// The decoded kernel.
    pub kernel: Arc<Kernel>,
    /// Surfaces and samplers of its threads.
    pub bindings: Bindings,
}
