//! Data ports: messages that read and write surfaces, memory and shared local memory.
//!
//! This file dispatches messages by shared function and message type. Messages with slots (lanes
//! with one offset each) are in `untyped`, `scattered` and `atomics`, which use `slots`, `elements`
//! and `window`; `rows` is a shorter way for the most frequent ones. Messages with blocks are in
//! `block` and [`media_block`]. Messages with elements of a format are in [`typed`]. Messages that
//! move no data are in `info`. `target` finds the memory of a message. `outside` records accesses
//! that bounds cut off.

mod atomics;
mod block;
mod elements;
mod info;
pub mod media_block;
mod outside;
mod rows;
mod scattered;
mod slots;
mod target;
pub mod typed;
mod untyped;
mod window;

use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use crate::unit::port::Port;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::messages::{
    DataPort0MessageDescriptor, DataPort0MessageDescriptorLegacyDapDcMessage,
    DataPort1MessageDescriptor, MtDp0, MtDp1, MtDpRo, ReadOnlyDataPortMessageDescriptor,
};
use genxml_eu::gen8::descriptors::MdcBtsSlmA32;
pub(super) use rows::{execute as transfer, local_memory as local};
use target::Allowed;

/// Bytes of an oword.
const OWORD: u64 = 16;

/// Executes a message to data port 1 of the data cache.
///
/// # Errors
/// Page faults of the surface, [`Fault::IllegalInstruction`] for invalid messages and reserved
/// types, and [`Fault::Unimplemented`] for types that the model does not implement.
pub fn data_cache_1(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = DataPort1MessageDescriptor::unpack_lossy(&[message.descriptor]);
    match descriptor.message_type {
        MtDp1::MT1R_MB => media_block::read(port, registers, message),
        MtDp1::MT1R_T => media_block::transpose(port, registers, message),
        MtDp1::MT1W_MB => media_block::write(port, registers, message),
        MtDp1::MT1R_TS | MtDp1::MT1W_TS | MtDp1::MT1A_TA | MtDp1::MT1A_TA4X2 => {
            typed::message(port, registers, message)
        }
        MtDp1::MT1R_US | MtDp1::MT1W_US | MtDp1::MT1R_A64_US | MtDp1::MT1W_A64_US => {
            untyped::message(port, registers, message)
        }
        MtDp1::MT1R_A64_SB | MtDp1::MT1W_A64_SB => scattered::long(port, registers, message),
        MtDp1::MT1R_A64_B | MtDp1::MT1W_A64_B => block::long(port, registers, message),
        MtDp1::MT1A_UI | MtDp1::MT1A_UI4X2 | MtDp1::MT1A_UF | MtDp1::MT1A_UF4X2 => {
            atomics::untyped(port, registers, message)
        }
        MtDp1::MT1A_A64_UI | MtDp1::MT1A_A64_UI4X2 | MtDp1::MT1A_A64_UF | MtDp1::MT1A_A64_UF4X2 => {
            atomics::long(port, registers, message)
        }
        MtDp1::MT1A_TC | MtDp1::MT1A_TC4X2 => atomics::counter(port, registers, message),
        kind => Err(unknown(port, "data port 1 message", kind.name(), kind.bits(), message)),
    }
}

/// Executes a message to data port 0 of the data cache.
///
/// # Errors
/// Page faults of the surface, [`Fault::IllegalInstruction`] for invalid messages and reserved
/// types, and [`Fault::Unimplemented`] for types that the model does not implement.
pub fn data_cache_0(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = DataPort0MessageDescriptor::unpack_lossy(&[message.descriptor]);
    if descriptor.legacy_dap_dc_message
        == DataPort0MessageDescriptorLegacyDapDcMessage::SCRATCH_BLOCK
    {
        return block::scratch(port, registers, message);
    }
    match descriptor.message_type {
        MtDp0::MT0R_OWB => block::oword(port, registers, message, false, OWORD, Allowed::Stateless),
        MtDp0::MT0R_OWUB => block::oword(port, registers, message, false, 1, Allowed::Stateless),
        MtDp0::MT0W_OWB => block::oword(port, registers, message, true, OWORD, Allowed::Stateless),
        MtDp0::MT0R_OWDB => block::dual(port, registers, message, false, Allowed::Stateless),
        MtDp0::MT0W_OWDB => block::dual(port, registers, message, true, Allowed::Stateless),
        MtDp0::MT0R_DWS => scattered::dwords(port, registers, message, false, Allowed::Stateless),
        MtDp0::MT0W_DWS => scattered::dwords(port, registers, message, true, Allowed::Stateless),
        MtDp0::MT0R_BS | MtDp0::MT0W_BS => scattered::bytes(port, registers, message),
        MtDp0::MT0_MEMFENCE => info::fence(port, registers, message),
        kind => Err(unknown(port, "data port 0 message", kind.name(), kind.bits(), message)),
    }
}

/// Executes a message to the read-only data port of the constant cache or of the sampler cache. The
/// model does not simulate these caches, so it treats both ports alike.
///
/// # Errors
/// Page faults of the surface, [`Fault::IllegalInstruction`] for invalid messages and reserved
/// types, and [`Fault::Unimplemented`] for types that the model does not implement.
pub fn read_only(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = ReadOnlyDataPortMessageDescriptor::unpack_lossy(&[message.descriptor]);
    match descriptor.message_type {
        MtDpRo::MT_CC_OWB => block::oword(port, registers, message, false, OWORD, Allowed::Surface),
        MtDpRo::MT_CC_OWDB => block::dual(port, registers, message, false, Allowed::Surface),
        MtDpRo::MT_CC_DWS => scattered::dwords(port, registers, message, false, Allowed::Surface),
        MtDpRo::MT_CC_OWUB | MtDpRo::MT_SC_OWUB => {
            block::oword(port, registers, message, false, 1, Allowed::Surface)
        }
        MtDpRo::MT_SC_MB => media_block::read(port, registers, message),
        MtDpRo::MT_RSI => info::surface(port, registers, message),
        kind => {
            Err(unknown(port, "read-only data port message", kind.name(), kind.bits(), message))
        }
    }
}

/// True for messages to data port 1 with atomic operations.
pub fn is_atomic(kind: MtDp1) -> bool {
    matches!(
        kind,
        MtDp1::MT1A_UI
            | MtDp1::MT1A_UI4X2
            | MtDp1::MT1A_UF
            | MtDp1::MT1A_UF4X2
            | MtDp1::MT1A_A64_UI
            | MtDp1::MT1A_A64_UI4X2
            | MtDp1::MT1A_A64_UF
            | MtDp1::MT1A_A64_UF4X2
            | MtDp1::MT1A_TA
            | MtDp1::MT1A_TA4X2
            | MtDp1::MT1A_TC
            | MtDp1::MT1A_TC4X2
    )
}

/// True if threads usually access the same memory by such messages: atomic operations, except on
/// shared local memory, and messages to scratch space.
pub fn shares_memory(function: SharedFunction, descriptor: u32) -> bool {
    match function {
        SharedFunction::DataPort0 => {
            let descriptor = DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
            descriptor.legacy_dap_dc_message
                == DataPort0MessageDescriptorLegacyDapDcMessage::SCRATCH_BLOCK
        }
        SharedFunction::DataPort1 => {
            let descriptor = DataPort1MessageDescriptor::unpack_lossy(&[descriptor]);
            let local = MdcBtsSlmA32::from_bits(descriptor.binding_table_index.get());
            is_atomic(descriptor.message_type) && local != MdcBtsSlmA32::SLM
        }
        _ => false,
    }
}

/// The fault for a message type that is reserved, or that has a name but no description.
#[cold]
fn unknown(
    port: &Port<'_, '_>,
    what: &str,
    name: Option<&str>,
    bits: u64,
    message: &Message,
) -> Fault {
    match name {
        Some(name) => port.missing(&format!("{what} {name}"), message, "2d p.114-116, p.319"),
        None => port.illegal(format!("{what} {bits:#x}: the type is reserved"), message),
    }
}
