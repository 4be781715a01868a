//! Streamed Vertex Buffer Write: a vertex element of the geometry shader (003:5250-5288).

use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::gen45::message::bindings::STATELESS;
use crate::gen45::message::payload::Payload;
use crate::gen45::message::port::Port;
use crate::gen45::state::ADDRESSES;
use crate::machine::fault::Fault;
use crate::machine::slots::UnitState;
use crate::mem::PageFault;
use crate::surface::format::Codec;
use crate::surface::{Surface, SurfaceKind};
use genxml::gen45::message_payloads::StreamedVertexBufferWritePayload;
use genxml::gen45::messages::StreamedVertexBufferWriteDescriptor;

/// Counts of streamed vertices, in `exec.state.slots`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Streamed {
    /// Streamed Vertex Buffer Index 0 to 3.
    pub index: [u32; 4],
    /// SO_NUM_PRIMS_WRITTEN.
    pub written: u64,
    /// SO_PRIM_STORAGE_NEEDED.
    pub needed: u64,
}

impl UnitState for Streamed {}

/// Writes the channels that the format has and the message enables, without conversion.
///
/// # Errors
/// Faults of the surface; [`Fault::IllegalInstruction`] for a stateless message, and for a surface
/// that is neither a buffer nor a null surface.
pub fn write(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = StreamedVertexBufferWriteDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a streamed vertex buffer write");
    payload.check(port, 1, payload.returned())?;
    let index = descriptor.binding_table_index.get() as u8;
    if index == STATELESS {
        return Err(payload.illegal(port, "without a surface (003:5260)"));
    }
    let surface = port.bindings.surface(port.exec, index)?.surface;
    let data = StreamedVertexBufferWritePayload::unpack_lossy(&payload.dwords(registers, 0));
    if !matches!(surface.kind, SurfaceKind::Buffer | SurfaceKind::Null) {
        return Err(payload.illegal(port, &format!("surface {index} is not a buffer")));
    }
    let bytes = store(port, &surface, &data, message.mask);
    payload.moved(port, true, bytes)?;
    let streamed = port.exec.state.slots.get_mut::<Streamed>();
    if descriptor.increment_svbis {
        streamed.index = streamed.index.map(|index| index.wrapping_add(1));
    }
    streamed.written += u64::from(descriptor.increment_num_prims_written);
    streamed.needed += u64::from(descriptor.increment_prim_storage_needed);
    Ok(())
}

fn store(
    port: &mut Port<'_, '_>,
    surface: &Surface,
    data: &StreamedVertexBufferWritePayload,
    mask: u32,
) -> Result<u64, PageFault> {
    let index = data.destination_index.get();
    if surface.kind == SurfaceKind::Null || index >= u64::from(surface.width) {
        return Ok(0);
    }
    let count = surface.codec.map_or(0, |codec: &Codec| codec.format().channels().len());
    let at = surface.base.wrapping_add(index * u64::from(surface.pitch));
    let channels = [data.r_data, data.g_data, data.b_data, data.a_data];
    let mut bytes = 0;
    for (n, channel) in channels.into_iter().enumerate().take(count) {
        if mask >> n & 1 == 1 {
            let value = (channel.get() as u32).to_le_bytes();
            port.exec.vm.write(at.wrapping_add(4 * n as u64) & ADDRESSES, &value)?;
            bytes += 4;
        }
    }
    Ok(bytes)
}
