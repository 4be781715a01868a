//! Hands messages to the shared functions that receive them.

use super::payload::Payload;
use super::port::Port;
use super::{dataport, gateway, math, sampler, spawner, urb};
use crate::eu::Message;
use crate::eu::regions::{GRF_BYTES, MRF, MRF_BYTES, REGISTER, Registers};
use crate::gen45::debug::messages;
use crate::machine::fault::Fault;
use crate::unit::dispatch::Receive;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;

impl Receive for Port<'_, '_> {
    const GENERATION: Generation = Generation::Gen45;

    fn receive(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let payload = Payload::open_gen45(message, "message");
        if payload.at(payload.sent()) > MRF + MRF_BYTES {
            return Err(self.illegal("the payload continues after m15".into(), message));
        }
        // A response begins at a register. The mask of channels includes the subregister.
        let aligned = message.response.map(|first| first / REGISTER * REGISTER);
        if let Some(first) = aligned
            && first + payload.returned() * REGISTER > GRF_BYTES
        {
            return Err(self.illegal("the response continues after r127".into(), message));
        }
        let message = &Message { response: aligned, ..*message };
        let done = self.deliver(registers, message);
        if let Err(fault) = &done {
            messages::refused(self.exec, registers, message, fault);
        }
        done
    }
}

impl Port<'_, '_> {
    /// Hands a message to the shared function that it names.
    fn deliver(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
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
}
