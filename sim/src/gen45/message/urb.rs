//! Writes to the unified return buffer (003:6570-6786).

use super::payload::Payload;
use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::gen45::debug::messages;
use crate::gen45::urb::{MOST_PRODUCED, Produced, Unit, Urb};
use crate::machine::fault::Fault;
use genxml::gen45::message_headers::UrbWriteMessageHeader;
use genxml::gen45::messages::{
    UrbMessageDescriptor, UrbMessageDescriptorUrbOpcode as Opcode, UrbSwizzle,
};
use genxml::gen45::writebacks::UrbAllocateWriteback;

/// Bytes of half a register.
const HALF: usize = REGISTER / 2;

/// Executes a write to the unified return buffer: writes the data, then completes the entry, then
/// allocates another one.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for a reserved opcode or swizzle, for a handle that is no entry of
/// the unit whose threads run, for data beyond the entry, and for the combinations of Complete,
/// Used, Allocate and End Of Thread that the manual excludes (003:6608-6618).
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = UrbMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "URB_WRITE");
    if payload.sent() == 0 {
        return Err(payload.illegal(port, "without a header"));
    }
    if messages::is_flagged(registers, payload.at(0)) {
        messages::capture_urb(port.exec, registers, payload.at(0), payload.sent());
    }
    let urb = port.exec.state.slots.get_mut::<Urb>();
    match write(urb, registers, &payload, &descriptor) {
        Ok(Some(handle)) => {
            if let Some(answer) = payload.answer() {
                let response = UrbAllocateWriteback {
                    urb_return_handle: genxml_core::U::from_bits(handle.into()),
                    ..UrbAllocateWriteback::new()
                };
                registers.set_dwords(answer, response.pack());
            }
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(why) => Err(payload.illegal(port, &why)),
    }
}

/// Executes a write. Returns the handle that it allocates.
fn write(
    urb: &mut Urb,
    registers: &Registers,
    payload: &Payload<'_>,
    descriptor: &UrbMessageDescriptor,
) -> Result<Option<u16>, String> {
    if descriptor.urb_opcode != Opcode::URB_WRITE {
        return Err(format!("opcode {} is reserved", descriptor.urb_opcode.bits()));
    }
    if payload.message.eot && descriptor.allocate {
        return Err("a thread cannot end and allocate an entry".into());
    }
    let expected = usize::from(descriptor.allocate);
    if payload.returned() > expected
        || payload.returned() < expected && payload.message.response.is_some()
    {
        let (returned, allocates) = (payload.returned(), descriptor.allocate);
        return Err(format!("response length {returned} with Allocate {allocates}"));
    }
    let produces = matches!(urb.unit(), Unit::Gs | Unit::Clip);
    if descriptor.complete && !descriptor.used && !produces {
        return Err(format!("a thread of {:?} releases an entry without using it", urb.unit()));
    }
    let header = UrbWriteMessageHeader::unpack_lossy(&payload.dwords(registers, 0));
    let handles =
        [header.urb_return_handle_0.get() as u16, header.urb_return_handle_1.get() as u16];
    let data = payload.sent() - 1;
    let start = descriptor.offset.get() as usize * REGISTER;
    match descriptor.swizzle_control {
        UrbSwizzle::URB_NOSWIZZLE => {
            let from = payload.at(1);
            let bytes = &registers.bytes()[from..from + data * REGISTER];
            place(urb, handles[0], start, bytes.len())?.copy_from_slice(bytes);
        }
        UrbSwizzle::URB_INTERLEAVED => {
            // The channel enables apply to dwords (003:6707).
            let mask = payload.message.mask;
            for (half, handle) in handles.into_iter().enumerate() {
                if mask >> (4 * half) & 0xf == 0 || data == 0 {
                    continue;
                }
                let entry = place(urb, handle, start, data * HALF)?;
                for (n, to) in entry.chunks_exact_mut(HALF).enumerate() {
                    let from = payload.at(1 + n) + half * HALF;
                    for (dword, to) in to.chunks_exact_mut(4).enumerate() {
                        if mask >> (4 * half + dword) & 1 == 1 {
                            to.copy_from_slice(&registers.u32(from + 4 * dword).to_le_bytes());
                        }
                    }
                }
            }
        }
        UrbSwizzle::URB_TRANSPOSE => {
            if !data.is_multiple_of(3) {
                return Err(format!("{data} registers to transpose, not a multiple of 3"));
            }
            if !descriptor.offset.get().is_multiple_of(2) {
                return Err(format!("offset {} to transpose, not even", descriptor.offset.get()));
            }
            // Three registers become four rows: for each component Cx, Cy, 0 and C0.
            let entry = place(urb, handles[0], start, data / 3 * 4 * REGISTER)?;
            for (group, to) in entry.chunks_exact_mut(4 * REGISTER).enumerate() {
                let rows: [[u32; 8]; 3] =
                    std::array::from_fn(|n| payload.dwords(registers, 1 + 3 * group + n));
                for (component, to) in to.chunks_exact_mut(HALF).enumerate() {
                    let values = [rows[0][component], rows[1][component], 0, rows[2][component]];
                    for (to, value) in to.chunks_exact_mut(4).zip(values) {
                        to.copy_from_slice(&value.to_le_bytes());
                    }
                }
            }
        }
        other => return Err(format!("swizzle {} is reserved", other.bits())),
    }
    if descriptor.complete && descriptor.used && produces {
        place(urb, handles[0], 0, 0)?;
        let vertex = Produced {
            handle: handles[0],
            topology: header.handle_0_prim_type.get() as u8,
            start: header.handle_0_prim_start,
            end: header.handle_0_prim_end,
        };
        if !urb.produce(vertex) {
            return Err(format!("a thread produces more than {MOST_PRODUCED} vertices"));
        }
    }
    Ok(descriptor.allocate.then(|| urb.allocate()))
}

/// The `length` bytes from byte `start` of an entry on.
fn place(urb: &mut Urb, handle: u16, start: usize, length: usize) -> Result<&mut [u8], String> {
    let (unit, rows) = (urb.unit(), urb.entry_rows());
    let Some(entry) = urb.entry_mut(handle) else {
        return Err(format!("handle {handle:#x} is no entry of {unit:?}"));
    };
    entry.get_mut(start..start + length).ok_or_else(|| {
        format!("{length} bytes from byte {start} on, but an entry of {unit:?} has {rows} rows")
    })
}
