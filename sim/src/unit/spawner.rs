//! Thread spawner: handles messages that start child or root threads, or free a thread's URB entry
//! (2d p.494-496).
//!
//! The payload of spawn messages, and the time at which a URB entry becomes free, follow media
//! kernels of Gen4 to Gen6. No Gen8 kernel that spawns threads is available, so this part of the
//! model is not verified for Gen8.

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

/// Executes a message to the thread spawner. The request is recorded and carried out after the
/// thread's turn.
///
/// # Errors
/// [`Fault::IllegalInstruction`] if a message that spawns a thread is the last message of its
/// sender (EOT), has no payload, or comes from a thread outside the media pipeline.
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
            return Err(port.illegal("a non-media thread that spawns another one".into(), message));
        }
        (Opcode::SPAWN_THREAD, _) if descriptor.message_length.get() == 0 => {
            return Err(
                port.illegal("a message that spawns a thread, without payload".into(), message)
            );
        }
        (_, Resource::Spawn { resource_select: Spawn::SPAWN_ROOT }) => Request::Root,
        (_, Resource::Spawn { .. }) => Request::Child(registers.dwords(message.payload)),
        // Only root threads free a URB entry. The request of a child thread has no effect (2d
        // p.495, Requester Type).
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
