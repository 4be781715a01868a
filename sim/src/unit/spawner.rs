//! Thread spawner: ends threads. Starting child threads is not documented in any reachable source.

use super::Port;
use crate::eu::Message;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::messages::{ThreadSpawnMessageDescriptor, ThreadSpawnMessageDescriptorOpcode};

/// A message to the thread spawner. Ending a thread releases its resources, which the model does not count.
///
/// # Errors
/// [`Fault::Unimplemented`] for anything but the end of the thread.
pub fn message<O: Observer>(port: &Port<'_, '_, O>, message: &Message) -> Result<(), Fault> {
    let descriptor = ThreadSpawnMessageDescriptor::unpack_lossy(&[message.descriptor]);
    match descriptor.opcode {
        ThreadSpawnMessageDescriptorOpcode::DEREFERENCE_RESOURCE if message.eot => Ok(()),
        ThreadSpawnMessageDescriptorOpcode::DEREFERENCE_RESOURCE => {
            Err(port.missing("release of a resource before the end of the thread", message, "2d p.495"))
        }
        _ => Err(port.missing("child threads", message, "2d p.495")),
    }
}
