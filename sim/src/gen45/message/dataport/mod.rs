//! Data port: messages that read and write memory (003 chapter 5). Reads and writes are two shared
//! functions.
//!
//! * [`buffer`] finds the buffer of a message.
//! * [`owords`]: messages with one or two blocks of owords.
//! * [`scattered`]: messages with an offset for each channel.
//! * [`media`]: messages with a rectangle of bytes.
//! * [`loop_filter`]: messages with controls of a video filter.
//! * [`streamed`]: writes of vertices by the geometry shader.
//!
//! Render target writes are in [`super::target`].

pub mod buffer;
pub mod loop_filter;
pub mod media;
pub mod owords;
pub mod scattered;
pub mod streamed;

use super::payload::Payload;
use super::port::Port;
use super::target;
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use genxml::gen45::messages::{
    DataPortReadMessageDescriptor, DataPortReadType as Read, DataPortWriteMessageDescriptor,
    DataPortWriteType as Write,
};

/// Executes a read. The model has one memory for all caches.
///
/// # Errors
/// Page faults of the surface, [`Fault::IllegalInstruction`] for invalid messages and reserved
/// types, and [`Fault::Unimplemented`] for types that no section of the manual describes.
pub fn read(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = DataPortReadMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let kind = descriptor.read_message_type;
    if message.eot {
        let payload = Payload::open_gen45(message, "a data port read");
        return Err(payload.illegal(port, "a thread cannot end with it (003:4465)"));
    }
    match kind {
        Read::OWORD_BLOCK_READ => owords::block(port, registers, message, false),
        Read::OWORD_DUAL_BLOCK_READ => owords::dual(port, registers, message, false),
        Read::MEDIA_BLOCK_READ => media::read(port, registers, message),
        Read::DWORD_SCATTERED_READ => scattered::message(port, registers, message, false),
        Read::RENDER_TARGET_UNORM_READ => {
            Err(port.missing("render target UNORM reads", message, "003:4493, without a section"))
        }
        Read::AVC_LOOP_FILTER_READ => loop_filter::read(port, registers, message),
        other => {
            let why = format!("a data port read of type {}, which is reserved", other.bits());
            Err(port.illegal(why, message))
        }
    }
}

/// Executes a write. A commit response has no contents: the register keeps its value (003:4355).
///
/// # Errors
/// As [`read`].
pub fn write(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = DataPortWriteMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let kind = descriptor.write_message_type;
    let payload = Payload::open_gen45(message, "a data port write");
    if message.eot && !matches!(kind, Write::RENDER_TARGET_WRITE | Write::RENDER_TARGET_UNORM_WRITE)
    {
        return Err(payload.illegal(port, "a thread cannot end with it (003:4465)"));
    }
    if payload.returned() > usize::from(descriptor.send_write_commit_message) {
        let why = format!("response length {} (003:4528)", payload.returned());
        return Err(payload.illegal(port, &why));
    }
    match kind {
        Write::OWORD_BLOCK_WRITE => owords::block(port, registers, message, true),
        Write::OWORD_DUAL_BLOCK_WRITE => owords::dual(port, registers, message, true),
        Write::MEDIA_BLOCK_WRITE => media::write(port, registers, message),
        Write::DWORD_SCATTERED_WRITE => scattered::message(port, registers, message, true),
        Write::RENDER_TARGET_WRITE => target::message(port, registers, message),
        Write::STREAMED_VERTEX_BUFFER_WRITE => streamed::write(port, registers, message),
        // The model has no caches: nothing is to be flushed.
        Write::FLUSH_RENDER_CACHE => Payload::open_gen45(message, "a flush").check(port, 1, 1),
        _ => {
            Err(port.missing("render target UNORM writes", message, "003:4493, without a section"))
        }
    }
}
