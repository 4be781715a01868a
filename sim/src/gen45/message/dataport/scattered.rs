//! DWord Scattered: a dword at an offset for each channel (003:4800-4907).

use super::buffer::Buffer;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::gen45::message::payload::Payload;
use crate::gen45::message::port::Port;
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use genxml::gen45::messages::{DWordScatteredBlockSize as Size, DWordScatteredReadDescriptor};

/// DWord Scattered Read or Write. Reads outside of the buffer return 0 (003:4826; the first
/// paragraph of the section says otherwise).
///
/// # Errors
/// Faults of the buffer; [`Fault::IllegalInstruction`] for a reserved block size or wrong lengths.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    write: bool,
) -> Result<(), Fault> {
    // Reads and writes have these fields at the same bits.
    let descriptor = DWordScatteredReadDescriptor::unpack_lossy(&[message.descriptor]);
    let name = if write { "a dword scattered write" } else { "a dword scattered read" };
    let payload = Payload::open_gen45(message, name);
    let rows = match descriptor.block_size {
        Size::_8_DWORDS => 1,
        Size::_16_DWORDS => 2,
        other => {
            let why = format!("block size {} is reserved", other.bits());
            return Err(payload.illegal(port, &why));
        }
    };
    let buffer = Buffer::of(port, registers, &payload, descriptor.binding_table_index.get())?;
    let (sent, back) = match write {
        true => (1 + 2 * rows, payload.returned()),
        false => (1 + rows, rows),
    };
    payload.check(port, sent, back)?;
    let from = payload.at(1);
    let data = match write {
        true => Some(payload.at(1 + rows)),
        false => payload.answer(),
    };
    let Some(data) = data else { return Ok(()) };
    let mut dwords = || -> Result<u64, PageFault> {
        let mut bytes = 0;
        for channel in (0..rows * REGISTER / 4).filter(|n| message.mask >> n & 1 == 1) {
            let offset = buffer.offset(registers.u32(from + 4 * channel), 4);
            let at = data + 4 * channel;
            if write {
                let value = registers.u32(at).to_le_bytes();
                bytes += buffer.write(&mut port.exec.vm, offset, &value)?;
            } else {
                let mut value = [0; 4];
                bytes += buffer.read(&port.exec.vm, offset, &mut value)?;
                registers.set_u32(at, u32::from_le_bytes(value));
            }
        }
        Ok(bytes)
    };
    let bytes = dwords();
    payload.moved(port, write, bytes)
}
