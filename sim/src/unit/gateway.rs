//! Message gateway: what threads tell each other (G45 vol 4, chapter 7; the barrier by what compilers send).

use super::Port;
use super::local::Mail;
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::messages::{
    BarrierMessagePayload, MessageGatewayDescriptor, MessageGatewayDescriptorGatewayOpcode as Opcode,
};

/// A message to the gateway.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for a barrier that the thread's group does not have, [`Fault::Unimplemented`] for
/// messages that are not there.
pub fn message<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MessageGatewayDescriptor::unpack_lossy(&[message.descriptor]);
    match descriptor.gateway_opcode {
        Opcode::BARRIER => barrier(port, registers, message),
        kind => {
            let name = kind.name().unwrap_or("reserved");
            Err(port.missing(&format!("gateway message {name}"), message, "G45 vol 4, 7.1"))
        }
    }
}

/// The thread reports at its group's barrier. The last one has all of them notified in n0.0 (gen8_facts 4.8).
fn barrier<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
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
    barrier.arrived.push(local.sender);
    if barrier.arrived.len() >= barrier.threads as usize {
        local.mail.extend(barrier.arrived.drain(..).map(|to| Mail { to, notify: Some(0) }));
    }
    Ok(())
}
