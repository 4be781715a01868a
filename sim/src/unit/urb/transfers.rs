//! The dwords of the URB that a message reads and writes, for observers.

use super::{
    OWORD, Opcode, REGISTER, Registers, Swizzle, UrbMessageDescriptor, UrbMessageHeader,
    UrbSimd8MasksPayload, Wrong, channels, data, entries, halves,
};
use crate::eu::Message;

/// A dword that a message moves between a register and the URB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Byte offset of the dword in the URB.
    pub urb: usize,
    /// Byte offset of the register's dword in the register file.
    pub register: usize,
    /// The lane of the message whose handle gives the address; `None` if the header does.
    pub lane: Option<usize>,
    /// The message writes the URB; otherwise it reads it.
    pub writes: bool,
}

/// Number of registers of a message before its data: header or handles, offsets, and masks.
pub fn headers(descriptor: u32) -> usize {
    let descriptor = UrbMessageDescriptor::unpack_lossy(&[descriptor]);
    let is_write = descriptor.urb_opcode == Opcode::SIMD8_WRITE;
    if !is_write && descriptor.urb_opcode != Opcode::SIMD8_READ {
        return 1;
    }
    let masked = descriptor.swizzle_control == Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT;
    1 + usize::from(descriptor.per_slot_offset) + usize::from(is_write && masked)
}

/// The dwords that a message to the URB moves. A message that the model refuses moves none.
pub fn transfers(registers: &Registers, message: &Message) -> Vec<Transfer> {
    let descriptor = UrbMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let moved = match descriptor.urb_opcode {
        Opcode::WRITE_HWORD | Opcode::WRITE_OWORD => {
            block(registers, message, &descriptor, message.payload + REGISTER, true)
        }
        Opcode::READ_HWORD | Opcode::READ_OWORD => match message.response {
            Some(response) => block(registers, message, &descriptor, response, false),
            None => Ok(Vec::new()),
        },
        Opcode::SIMD8_WRITE | Opcode::SIMD8_READ => lanes(registers, message, &descriptor),
        Opcode::ATOMIC_MOV | Opcode::ATOMIC_INC | Opcode::ATOMIC_ADD => {
            Ok(atomic(registers, message, &descriptor))
        }
        _ => Ok(Vec::new()),
    };
    moved.unwrap_or_default()
}

fn block(
    registers: &Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
    first: usize,
    writes: bool,
) -> Result<Vec<Transfer>, Wrong> {
    let header = UrbMessageHeader::unpack_lossy(&registers.dwords(message.payload));
    let (_, sent) = data(message, descriptor, 1, 0)?;
    let count = if writes { sent } else { descriptor.response_length.get() as usize };
    let mut mask = header.vertex_0_channel_mask.get() | header.vertex_1_channel_mask.get() << 4;
    if descriptor.swizzle_control == Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT {
        mask &= u64::from(message.mask);
    }
    let mut moved = Vec::new();
    for (urb, at) in halves(descriptor, &header, count)? {
        for dword in 0..OWORD / 4 {
            let at = at + 4 * dword;
            if !writes || mask >> (at % REGISTER / 4) & 1 == 1 {
                let (urb, register) = (urb + 4 * dword, first + at);
                moved.push(Transfer { urb, register, lane: None, writes });
            }
        }
    }
    Ok(moved)
}

fn lanes(
    registers: &Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<Vec<Transfer>, Wrong> {
    let (places, mut headers) = channels(registers, message, descriptor)?;
    let writes = descriptor.urb_opcode == Opcode::SIMD8_WRITE;
    let mut masks = [u64::MAX; 8];
    if writes && descriptor.swizzle_control == Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT {
        let (at, _) = data(message, descriptor, headers, 1)?;
        masks = UrbSimd8MasksPayload::unpack_lossy(&registers.dwords(at))
            .channel
            .map(|mask| mask.get());
        headers += 1;
    }
    let (first, count) = match writes {
        true => data(message, descriptor, headers, 0)?,
        false => match message.response {
            Some(response) => (response, descriptor.response_length.get() as usize),
            None => return Ok(Vec::new()),
        },
    };
    let mut moved = Vec::new();
    for lane in (0..8).filter(|lane| message.mask >> lane & 1 == 1) {
        for component in (0..count).filter(|component| masks[lane] >> component & 1 == 1) {
            moved.push(Transfer {
                urb: places[lane] + 4 * component,
                register: first + component * REGISTER + 4 * lane,
                lane: Some(lane),
                writes,
            });
        }
    }
    Ok(moved)
}

/// An atomic message reads a dword, and writes it.
fn atomic(
    registers: &Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Vec<Transfer> {
    let header = UrbMessageHeader::unpack_lossy(&registers.dwords(message.payload));
    let [urb, _] = entries(&header, descriptor, 4);
    let written = Transfer { urb, register: message.payload + REGISTER, lane: None, writes: true };
    let read = message.response.filter(|_| descriptor.response_length.get() > 0);
    let read = read.map(|register| Transfer { register, writes: false, ..written });
    std::iter::once(written).chain(read).collect()
}
