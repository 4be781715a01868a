//! Data ports: messages that read and write surfaces, memory and shared local memory.
//!
//! This file routes by shared function and message type; each family has a file: [`media_block`], [`oword`], [`typed`].

pub mod media_block;
pub mod oword;
pub mod typed;

use super::{Bound, Port};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::messages::{
    DataPort0MessageDescriptor, DataPort0MessageDescriptorLegacyDapDcMessage, DataPort1MessageDescriptor,
    MsdMemfence, MtDp0, MtDp1, MtDpRo, ReadOnlyDataPortMessageDescriptor,
};
use media_block::{read_media_block, write_media_block};
use oword::{read_owords, write_owords};

/// Binding table indices from here on name no entry (2d MDC_BTS_SLM_A32).
const FIRST_SPECIAL_INDEX: u8 = 240;

/// Data port 1 of the data cache.
///
/// # Errors
/// Page faults of the surface, and [`Fault::Unimplemented`] for messages that are not there.
pub fn data_cache_1<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = DataPort1MessageDescriptor::unpack_lossy(&[message.descriptor]);
    match descriptor.message_type {
        MtDp1::MT1R_MB => read_media_block(port, registers, message),
        MtDp1::MT1W_MB => write_media_block(port, registers, message),
        MtDp1::MT1R_TS | MtDp1::MT1W_TS | MtDp1::MT1A_TA | MtDp1::MT1A_TA4X2 => {
            typed::message(port, registers, message)
        }
        kind => {
            let name = kind.name().unwrap_or("reserved");
            Err(port.missing(&format!("data port 1 message {name}"), message, "2d p.115"))
        }
    }
}

/// Data port 0 of the data cache.
///
/// # Errors
/// Page faults of the surface, and [`Fault::Unimplemented`] for messages that are not there.
pub fn data_cache_0<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = DataPort0MessageDescriptor::unpack_lossy(&[message.descriptor]);
    if descriptor.legacy_dap_dc_message == DataPort0MessageDescriptorLegacyDapDcMessage::SCRATCH_BLOCK {
        return Err(port.missing("scratch blocks", message, "2d p.114"));
    }
    match descriptor.message_type {
        MtDp0::MT0R_OWB => read_owords(port, registers, message, 16),
        MtDp0::MT0R_OWUB => read_owords(port, registers, message, 1),
        MtDp0::MT0W_OWB => write_owords(port, registers, message),
        MtDp0::MT0_MEMFENCE => {
            // Everything before is done. With commit one register comes back, whose contents nothing defines.
            let fence = MsdMemfence::unpack_lossy(&[message.descriptor]);
            if let (true, Some(response)) = (fence.commit, message.response) {
                registers.grf_mut()[response..response + REGISTER].fill(0);
            }
            Ok(())
        }
        kind => {
            let name = kind.name().unwrap_or("reserved");
            Err(port.missing(&format!("data port 0 message {name}"), message, "2d p.114"))
        }
    }
}

/// The read-only port of the constant cache.
///
/// # Errors
/// Page faults of the surface, and [`Fault::Unimplemented`] for messages that are not there.
pub fn constant_cache<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = ReadOnlyDataPortMessageDescriptor::unpack_lossy(&[message.descriptor]);
    match descriptor.message_type {
        MtDpRo::MT_CC_OWB => read_owords(port, registers, message, 16),
        MtDpRo::MT_CC_OWUB => read_owords(port, registers, message, 1),
        kind => {
            let name = kind.name().unwrap_or("reserved");
            Err(port.missing(&format!("constant cache message {name}"), message, "2d p.319"))
        }
    }
}

/// The surface of a message, which must be an entry of the binding table.
fn bound<O: Observer>(port: &mut Port<'_, '_, O>, index: u8, message: &Message) -> Result<Bound, Fault> {
    if index >= FIRST_SPECIAL_INDEX {
        let what = match index {
            254 => "shared local memory",
            253 | 255 => "stateless access",
            _ => "a reserved binding table index",
        };
        return Err(port.missing(what, message, "2d MDC_BTS_SLM_A32"));
    }
    port.bindings.surface(port.exec, index)
}
