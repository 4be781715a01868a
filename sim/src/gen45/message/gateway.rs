//! Message gateway: threads write registers of other threads (003 chapter 7).
//!
//! An error that the gateway itself detects is not a fault: the response contains the error code.

use super::payload::Payload;
use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::{GRF_BYTES, REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::unit::local::{Gateway, Mail, Segment};
use genxml::gen45::message_payloads::{
    ForwardMsgPayload, ForwardMsgPayloadLength as Length, OpenGatewayPayload,
};
use genxml::gen45::messages::{GatewayFunction, MessageGatewayDescriptor, Sfid};
use genxml::gen45::writebacks::{
    ForwardMsgWriteback, ForwardMsgWritebackErrorCode as Error, OpenGatewayWritebackErrorCode,
};

/// Maximum number of registers of a gateway.
const MOST: u64 = 32;
/// Number of execution units.
const UNITS: u32 = 10;
/// Number of threads of an execution unit.
const THREADS: u32 = 5;

/// The execution unit and the thread slot of thread `number`. Any 50 consecutive
/// threads have different slots.
pub fn place(number: u32) -> (u32, u32) {
    (number % UNITS, number / UNITS % THREADS)
}

/// Executes a message to the gateway.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for a message without payload, for a response that contradicts
/// AckReq, and for data at an unaligned offset. [`Fault::Unimplemented`] for a receiver that is
/// ambiguous.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MessageGatewayDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a message to the gateway");
    // 003:6340: with AckReq there is a response of one register, without it none.
    let back = usize::from(descriptor.ack_req);
    if payload.sent() != 1 || payload.returned() != back {
        let (sent, returned) = (payload.sent(), payload.returned());
        let why = format!("{sent} registers and a response of {returned}, not 1 and {back}");
        return Err(payload.illegal(port, &why));
    }
    let error = match descriptor.sub_func_id {
        GatewayFunction::OPEN_GATEWAY => open(port, registers, &payload),
        GatewayFunction::CLOSE_GATEWAY => {
            close(port);
            Error::SUCCESSFUL
        }
        GatewayFunction::FORWARD_MSG => forward(port, registers, &payload, descriptor.notify)?,
        // The number of GetTimeStamp is not published; 3 is reserved (003:6346).
        _ => Error::OPCODE_ERROR,
    };
    if let Some(answer) = payload.answer() {
        let response = ForwardMsgWriteback {
            error_code: error,
            shared_function_id: genxml_core::U::from_bits(Sfid::SFID_GATEWAY.bits()),
        };
        // Only the lowest dword is overwritten.
        registers.set_u32(answer, response.pack()[0]);
    }
    Ok(())
}

/// Opens the gateway of the sending thread, which replaces its earlier one. A message that ends the
/// thread only closes it (003:6354).
fn open(port: &mut Port<'_, '_>, registers: &Registers, payload: &Payload<'_>) -> Error {
    close(port);
    if payload.message.eot {
        return Error::SUCCESSFUL;
    }
    let given = OpenGatewayPayload::unpack_lossy(&payload.dwords(registers, 0));
    let size = given.gateway_size.get();
    if size > MOST {
        return Error::from_bits(OpenGatewayWritebackErrorCode::GATEWAY_SIZE_EXCEEDED.bits());
    }
    let shared = &mut port.local.shared;
    shared.gateways.push(Gateway {
        thread: shared.sender,
        key: given.key.get() as u16,
        base: given.reg_base.get() as usize,
        size: size as usize,
    });
    Error::SUCCESSFUL
}

/// Closes the gateway of the sending thread, if it has one.
fn close(port: &mut Port<'_, '_>) {
    let shared = &mut port.local.shared;
    let sender = shared.sender;
    shared.gateways.retain(|gateway| gateway.thread != sender);
}

/// Sends bytes to the registers of another thread, with a notification if the message asks for it.
fn forward(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    payload: &Payload<'_>,
    notify: bool,
) -> Result<Error, Fault> {
    let dwords: [u32; 8] = payload.dwords(registers, 0);
    let given = ForwardMsgPayload::unpack_lossy(&dwords);
    let length = match given.length {
        Length::_1_BYTE => 1,
        Length::_1_DWORD => 4,
        Length::_2_DWORDS => 8,
        Length::_4_DWORDS => 16,
        _ => return Ok(Error::INVALID_MESSAGE_SIZE),
    };
    let offset = given.offset.get() as usize;
    if !offset.is_multiple_of(length) {
        let why = format!("{length} bytes to offset {offset:#x}, not a multiple of {length}");
        return Err(payload.illegal(port, &why));
    }
    let to = (given.euid.get() as u32, given.tid.get() as u32);
    let mut open =
        port.local.shared.gateways.iter().filter(|gateway| place(gateway.thread) == to).copied();
    let Some(gateway) = open.next() else { return Ok(Error::GATEWAY_CLOSED) };
    if open.next().is_some() {
        let what = "a message to one of two threads with the same position in sr0";
        return Err(port.missing(what, payload.message, "003:6416"));
    }
    if u64::from(gateway.key) != given.key.get() {
        return Ok(Error::KEY_MISMATCHED);
    }
    let first = gateway.base * REGISTER + offset;
    if offset + length > gateway.size * REGISTER || first + length > GRF_BYTES {
        return Ok(Error::LIMIT_EXCEEDED);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(bytemuck::cast_slice(&dwords[..4]));
    let data = Some(Segment { offset: first, bytes, length });
    port.local.shared.mail.push(Mail { to: gateway.thread, data, notify: notify.then_some(0) });
    Ok(Error::SUCCESSFUL)
}
