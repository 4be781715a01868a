//! Thread spawner: the last message of media threads, and requests for more threads (003:985,
//! 1858-1933; the layout is from assembly of drivers).

use super::payload::Payload;
use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use crate::unit::local::Request;
use genxml::gen45::messages::{
    ThreadSpawnMessageDescriptor, ThreadSpawnMessageDescriptorOpcode as Opcode,
    ThreadSpawnMessageDescriptorRequesterType as Requester,
    ThreadSpawnMessageDescriptorResource as Resource,
    ThreadSpawnMessageDescriptorResourceSelect as Select,
    ThreadSpawnMessageDescriptorSpawnResourceSelect as Spawn,
};

/// Executes a message to the thread spawner. Requests go to [`super::Local`]; the media pipeline
/// executes them.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for a thread that spawns another one with its last message,
/// without payload, or outside of the media pipeline.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = ThreadSpawnMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a message to the thread spawner");
    let spawns = port.local.shared.spawns;
    let request = match (descriptor.opcode, descriptor.resource) {
        (Opcode::SPAWN_THREAD, _) if message.eot => {
            return Err(
                payload.illegal(port, "a thread cannot spawn another one with its last message")
            );
        }
        (Opcode::SPAWN_THREAD, _) if !spawns => {
            return Err(payload.illegal(port, "only media threads can spawn threads"));
        }
        (Opcode::SPAWN_THREAD, _) if payload.sent() == 0 => {
            return Err(payload.illegal(port, "spawns a thread without payload"));
        }
        (_, Resource::Spawn { resource_select: Spawn::SPAWN_ROOT }) => Request::Root,
        (_, Resource::Spawn { .. }) => Request::Child(payload.dwords(registers, 0)),
        // Only root threads release the entry of their payload.
        (_, Resource::Dereference { resource_select: Select::DEREFERENCE_RESOURCE })
            if spawns && descriptor.requester_type == Requester::ROOT_THREAD =>
        {
            Request::Release
        }
        (_, Resource::Dereference { .. }) => return Ok(()),
    };
    port.local.shared.requests.push(request);
    Ok(())
}
