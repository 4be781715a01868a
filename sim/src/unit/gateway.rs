//! Message gateway: messages between threads, barriers and time stamps (G45 vol 4, chapter 7; the
//! layout of barrier messages follows what compilers send).

use super::local::{Gateway, Mail, PLACES, Segment, address};
use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::{GRF_BYTES, REGISTER, Registers};
use crate::machine::events::Event;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use genxml::gen8::media::MediaVfeStateBypassGatewayControl as Bypass;
use genxml::gen8::messages::{
    BarrierMessagePayload, GatewayError, GatewayForwardPayload, GatewayLength, GatewayOpenPayload,
    GatewayResponse, GatewayTimeStampPayload, GatewayTimeStampResponse, MessageGatewayDescriptor,
    MessageGatewayDescriptorGatewayOpcode as Opcode,
};
use genxml_core::U;

/// Largest valid value of Gateway Size: 2^5 = 32 registers.
const MAX_SIZE: u64 = 5;

/// Executes a message to the gateway.
///
/// An error that the gateway itself detects is not a fault. The response contains the error code;
/// without AckReq there is no response and the thread gets no code (7.1.1 AckReq).
///
/// # Errors
/// * [`Fault::IllegalInstruction`] for a barrier that the thread's group does not have, for a
///   message without payload, for a response that contradicts AckReq, for GetTimeStamp without
///   AckReq, and for data at an unaligned offset.
/// * [`Fault::Unimplemented`] for messages whose contents no source describes, and for a receiver
///   that is ambiguous.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MessageGatewayDescriptor::unpack_lossy(&[message.descriptor]);
    check(port, message, &descriptor)?;
    let done = match descriptor.gateway_opcode {
        Opcode::OPEN_GATEWAY => open(port, registers, message),
        Opcode::CLOSE_GATEWAY => {
            close(port);
            Ok(())
        }
        Opcode::FORWARD_MESSAGE => forward(port, registers, message, &descriptor)?,
        Opcode::GET_TIME_STAMP => {
            time_stamp(port, registers, message);
            return Ok(());
        }
        Opcode::BARRIER => return barrier(port, registers, message),
        Opcode::UPDATE_GATEWAY_STATE | Opcode::MMIO_READ_WRITE => {
            let name = descriptor.gateway_opcode.name().unwrap_or_default();
            let what = format!("gateway message {name}, whose payload no source describes");
            return Err(port.missing(&what, message, "G45 vol 4, 7.1"));
        }
        _ => Err(GatewayError::OPCODE_ERROR),
    };
    // Without AckReq there is no response, even after an error. An error can be normal: a child
    // thread may write to a parent thread that has already ended.
    if let Some(response) = message.response {
        let error_code = done.err().unwrap_or(GatewayError::SUCCESSFUL);
        let answer = GatewayResponse { error_code, ..GatewayResponse::new() };
        registers.set_dwords(response, answer.pack());
    }
    Ok(())
}

/// Checks the lengths of a message. Each message must have a payload. With AckReq it must have a
/// destination and a response of one register; without AckReq it must have neither (7.1.1).
/// GetTimeStamp needs AckReq, because the response is its only effect (7.1.5.2). A barrier message
/// has no AckReq, so its response is not checked.
fn check(
    port: &Port<'_, '_>,
    message: &Message,
    descriptor: &MessageGatewayDescriptor,
) -> Result<(), Fault> {
    if descriptor.message_length.get() == 0 {
        return Err(port.illegal("a gateway message without payload".into(), message));
    }
    let answer = (descriptor.response_length.get(), message.response.is_some());
    let expected = if descriptor.ack_request { (1, true) } else { (0, false) };
    if descriptor.gateway_opcode != Opcode::BARRIER && answer != expected {
        let why = format!(
            "a gateway message {} AckReq, with response length {} and {} destination (7.1.1)",
            if descriptor.ack_request { "with" } else { "without" },
            answer.0,
            if answer.1 { "a" } else { "no" },
        );
        return Err(port.illegal(why, message));
    }
    if descriptor.gateway_opcode == Opcode::GET_TIME_STAMP && !descriptor.ack_request {
        return Err(port.illegal("GetTimeStamp without AckReq (7.1.5.2)".into(), message));
    }
    Ok(())
}

/// Opens the gateway of the sending thread: other threads that give the key may write to this
/// thread's registers. First closes the gateway that the thread had. A message that ends the thread
/// opens none.
fn open(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), GatewayError> {
    close(port);
    if message.eot {
        return Ok(());
    }
    let payload = GatewayOpenPayload::unpack_lossy(&registers.dwords(message.payload));
    let size = payload.gateway_size.get();
    if size > MAX_SIZE {
        return Err(GatewayError::GATEWAY_SIZE_EXCEEDED);
    }
    port.local.gateways.push(Gateway {
        thread: port.local.sender,
        key: payload.key.get() as u16,
        base: payload.reg_base.get() as usize,
        size: 1 << size,
    });
    Ok(())
}

/// Closes the gateway of the sending thread, if it has one.
fn close(port: &mut Port<'_, '_>) {
    let sender = port.local.sender;
    port.local.gateways.retain(|gateway| gateway.thread != sender);
}

/// Sends bytes to the registers of another thread, with a notification if the message asks for it.
fn forward(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
    descriptor: &MessageGatewayDescriptor,
) -> Result<Result<(), GatewayError>, Fault> {
    let dwords: [u32; 8] = registers.dwords(message.payload);
    let payload = GatewayForwardPayload::unpack_lossy(&dwords);
    // The high bit of Notify is not part of the descriptor of the gateway (7.1.1).
    let notify = descriptor.notify.then_some(0);
    let length = match payload.length {
        GatewayLength::_1_BYTE => 1,
        GatewayLength::_1_DWORD => 4,
        GatewayLength::_2_DWORDS => 8,
        GatewayLength::_4_DWORDS => 16,
        _ => return Ok(Err(GatewayError::INVALID_MESSAGE_SIZE)),
    };
    let offset = payload.offset.get() as usize;
    if !offset.is_multiple_of(length) {
        let why = format!(
            "{length} bytes forwarded to offset {offset:#x}, which is not a multiple of {length}"
        );
        return Err(port.illegal(why, message));
    }
    let to = payload.recipient.get() as u16;
    let mut open =
        port.local.gateways.iter().filter(|gateway| address(gateway.thread) == to).copied();
    let gateway = match open.next() {
        Some(_) if open.next().is_some() => return Err(ambiguous(port, message)),
        Some(gateway) => gateway,
        // With the bypass, every thread that has started and not ended can be written to.
        None if bypass(port) => match present(port, to) {
            [Some(thread), None] => {
                Gateway { thread, key: payload.key.get() as u16, base: 0, size: 128 }
            }
            [None, _] => return Ok(Err(GatewayError::GATEWAY_CLOSED)),
            [Some(_), Some(_)] => return Err(ambiguous(port, message)),
        },
        None => return Ok(Err(GatewayError::GATEWAY_CLOSED)),
    };
    if !bypass(port) && u64::from(gateway.key) != payload.key.get() {
        return Ok(Err(GatewayError::KEY_MISMATCHED));
    }
    let first = gateway.base * REGISTER + offset;
    if offset + length > gateway.size * REGISTER || first + length > GRF_BYTES {
        return Ok(Err(GatewayError::LIMIT_EXCEEDED));
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(bytemuck::cast_slice(&dwords[..4]));
    let data = Some(Segment { offset: first, bytes, length });
    port.local.mail.push(Mail { to: gateway.thread, data, notify });
    Ok(Ok(()))
}

/// The first two threads with this address. If there are two, the address is ambiguous.
fn present(port: &Port<'_, '_>, to: u16) -> [Option<u32>; 2] {
    let mut found = port.local.present.iter().copied().filter(|number| address(*number) == to);
    [found.next(), found.next()]
}

/// The fault for a receiver that is ambiguous. The model can run more threads of a group at the
/// same time than there are positions in `sr0`, so that two threads can have the same address.
#[cold]
fn ambiguous(port: &Port<'_, '_>, message: &Message) -> Fault {
    let what = format!(
        "a message to one of two threads with the same position in sr0 (of {PLACES} positions)"
    );
    port.missing(&what, message, "G45 vol 4, 7.1.4")
}

/// True if MEDIA_VFE_STATE allows writes to threads that have not opened a gateway.
fn bypass(port: &Port<'_, '_>) -> bool {
    port.exec.state.vfe.is_some_and(|vfe| {
        vfe.bypass_gateway_control == Bypass::BYPASSING_OPEN_GATEWAY_CLOSE_GATEWAY_PROTOCOL
    })
}

/// Writes the clock, and the time since MEDIA_VFE_STATE reset the timer, to half a register of the
/// response.
fn time_stamp(port: &Port<'_, '_>, registers: &mut Registers, message: &Message) {
    let payload = GatewayTimeStampPayload::unpack_lossy(&registers.dwords(message.payload));
    let Some(response) = message.response else { return };
    port.exec.vm.keep_order();
    // Times count quarters of a nanosecond. They are split into the low 12 bits and the rest.
    let parts = |nanoseconds: u64| {
        let quarters = nanoseconds.wrapping_mul(4);
        (U::from_bits(quarters & 0xfff), U::from_bits(quarters >> 12 & u64::from(u32::MAX)))
    };
    let now = port.exec.budget.clock();
    let (absolute_time_low, absolute_time_high) = parts(now);
    let (relative_time_low, relative_time_high) =
        parts(now.wrapping_sub(port.exec.state.gateway_epoch));
    let answer = GatewayTimeStampResponse {
        absolute_time_low,
        absolute_time_high,
        relative_time_low,
        relative_time_high,
    };
    let half = if payload.return_to_high_grf { REGISTER / 2 } else { 0 };
    registers.set_dwords(response + half, answer.pack());
}

/// Records that the thread has arrived at its group's barrier. When the last thread arrives, all
/// threads at the barrier are notified in n0.0 (gen8_facts 4.8).
fn barrier(port: &mut Port<'_, '_>, registers: &Registers, message: &Message) -> Result<(), Fault> {
    let payload = BarrierMessagePayload::unpack_lossy(&registers.dwords(message.payload));
    let local = &mut *port.local;
    let Some(barrier) = &mut local.barrier else {
        let why = "a barrier message, but the interface descriptor has no Barrier Enable";
        return Err(port.illegal(why.into(), message));
    };
    if payload.barrier_id.get() != u64::from(barrier.id) {
        let why = format!(
            "a message to barrier {}, but the group has barrier {} (r0.2 27:24)",
            payload.barrier_id.get(),
            barrier.id
        );
        return Err(port.illegal(why, message));
    }
    if payload.barrier_count_enable {
        barrier.threads = payload.barrier_count.get() as u32;
    }
    port.exec.device.observed.add(Counter::Barriers, 1);
    barrier.arrived.push(local.sender);
    let complete = barrier.arrived.len() >= barrier.threads as usize;
    if complete {
        local.mail.extend(barrier.arrived.drain(..).map(|to| Mail {
            to,
            data: None,
            notify: Some(0),
        }));
    }
    port.exec.emit(&Event::Barrier { thread: port.thread, complete });
    Ok(())
}
