//! The end of a thread.

use super::header::Header;
use super::message::Message;
use crate::gen8::messages::ThreadSpawnMessageDescriptor;
use crate::gen8::messages::ThreadSpawnMessageDescriptorResource as Resource;
use crate::gen8::messages::ThreadSpawnMessageDescriptorResourceSelect as ResourceSelect;
use crate::instruction::SharedFunction;

/// The message that ends a thread of the GPGPU or media pipeline (2d p.495). Its payload is a copy
/// of r0, [`Part::Header`](super::Part::Header). The descriptor keeps the thread's resource, as
/// drivers do.
pub fn end_of_thread() -> Message {
    let descriptor = ThreadSpawnMessageDescriptor {
        resource: Resource::Dereference { resource_select: ResourceSelect::KEEP_RESOURCE },
        ..ThreadSpawnMessageDescriptor::new()
    };
    // The register is the payload: the descriptor has no header.
    let header = Header { flagged: false, ..Header::of_r0() };
    let message = Message::new(SharedFunction::ThreadSpawner, descriptor.pack());
    Message { no_mask: true, header: Some(header), ..message }.ends_thread()
}
