//! Thread spawner: ends threads, and starts them for other threads (2d p.494-496).
//!
//! What a message that spawns says, and when its URB entry is free again, is what media kernels of
//! Gen4 to Gen6 do. No kernel of Gen8 that spawns threads is at hand: this part of the model is
//! unverified there.

use super::local::Request;
use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use genxml::gen8::messages::{
    ThreadSpawnMessageDescriptor, ThreadSpawnMessageDescriptorOpcode as Opcode,
    ThreadSpawnMessageDescriptorRequesterType as Requester,
    ThreadSpawnMessageDescriptorResource as Resource,
    ThreadSpawnMessageDescriptorResourceSelect as Select,
    ThreadSpawnMessageDescriptorSpawnResourceSelect as Spawn,
};

/// A message to the thread spawner. What it asks for is done when the turn of the thread is over.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for a thread that spawns another one with its last message, or
/// without a payload, or that is none of the media pipeline.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = ThreadSpawnMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let request = match (descriptor.opcode, descriptor.resource) {
        (Opcode::SPAWN_THREAD, _) if message.eot => {
            return Err(port
                .illegal("a thread that ends by spawning another one (2d p.496)".into(), message));
        }
        (Opcode::SPAWN_THREAD, _) if !port.local.spawns => {
            return Err(port.illegal("a GPGPU thread that spawns another one".into(), message));
        }
        (Opcode::SPAWN_THREAD, _) if descriptor.message_length.get() == 0 => {
            return Err(
                port.illegal("a message that spawns a thread, without payload".into(), message)
            );
        }
        (_, Resource::Spawn { resource_select: Spawn::SPAWN_ROOT }) => Request::Root,
        (_, Resource::Spawn { .. }) => Request::Child(registers.dwords(message.payload)),
        // Resources of child threads belong to nobody (2d p.495, Requester Type).
        (_, Resource::Dereference { resource_select: Select::DEREFERENCE_RESOURCE })
            if port.local.spawns && descriptor.requester_type == Requester::ROOT_THREAD =>
        {
            Request::Release
        }
        (_, Resource::Dereference { .. }) => return Ok(()),
    };
    port.local.requests.push(request);
    Ok(())
}
