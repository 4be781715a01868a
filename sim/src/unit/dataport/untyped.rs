//! Untyped reads and writes: up to four dwords for each slot, at offsets in a buffer, in shared
//! local memory, or at 64-bit addresses (2d p.115, p.431-438; 2a p.357-358).

use super::elements::{Shape, Transfer};
use super::rows;
use super::slots::{Range, Simd, Slots, whole_dwords};
use super::target::{self, Allowed};
use super::window::Target;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml_eu::gen8::descriptors::MdcSm3;
use genxml_eu::gen8::eu_messages::Msd1Us;
use genxml_eu::gen8::messages::MtDp1;

/// Mask of the channels that a message can have.
const CHANNELS: u32 = 0xf;

/// Untyped Surface Read and Write, with offsets in a surface or with 64-bit addresses.
pub(super) fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    if rows::message(port, registers, message) {
        return Ok(());
    }
    let descriptor = Msd1Us::unpack_lossy(&[message.descriptor]);
    let kind = descriptor.message_type;
    let long = kind == MtDp1::MT1R_A64_US || kind == MtDp1::MT1W_A64_US;
    let write = kind == MtDp1::MT1W_US || kind == MtDp1::MT1W_A64_US;
    let payload = Payload::open(
        message,
        if write { "an untyped surface write" } else { "an untyped surface read" },
    );
    let simd = match descriptor.simd_mode {
        MdcSm3::SIMD4X2 => Simd::Two,
        MdcSm3::SIMD8 => Simd::Eight,
        MdcSm3::SIMD16 => Simd::Sixteen,
        other => return Err(payload.reserved(port, "SIMD Mode", other.bits())),
    };
    let present = !(descriptor.channel_mask.bits() as u32) & CHANNELS;
    if present == 0 {
        return Err(payload.reserved(port, "Channel Mask", descriptor.channel_mask.bits()));
    }

    let (pixels, header) = target::header_1(registers, payload.header);
    let mask = simd.active(message.mask, pixels);
    let (target, addresses, slots);
    if long {
        payload.forbidden(port)?;
        target = Target::EVERYTHING;
        addresses = simd.registers_of(8);
        slots = Slots::long(simd, mask, registers, payload.body, 4);
    } else {
        let index = descriptor.binding_table_index.get();
        target = whole_dwords(target::buffer(port, &payload, index, Allowed::Any, header)?);
        (addresses, slots) = match target {
            Target::Structured { count, pitch, .. } => (
                simd.registers_of(4) * if simd == Simd::Two { 1 } else { 2 },
                Slots::structured(simd, mask, registers, payload.body, count, pitch),
            ),
            _ => {
                let end = target.bytes(port.local.slm.len());
                (
                    simd.registers_of(4),
                    Slots::short(simd, mask, registers, payload.body, Range::dwords(target, end)),
                )
            }
        };
    }
    let shape = match simd {
        // The four channels of a slot have fixed positions, present or not (MDP_DW_SIMD4X2, 2d
        // p.126).
        Simd::Two => Shape { width: 4, slot: REGISTER / 2, element: 4, present, packed: false },
        _ => {
            Shape { width: 4, slot: 4, element: simd.registers() * REGISTER, present, packed: true }
        }
    };
    let data = match simd {
        Simd::Two => 1,
        _ => simd.registers() * present.count_ones() as usize,
    };
    Transfer { write, target, slots: &slots, shape, addresses, data }.run(port, registers, &payload)
}
