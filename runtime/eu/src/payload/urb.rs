//! Messages to the URB: reads and writes of eight channels, each with its own handle.

use super::error::PayloadError;
use super::header::Header;
use super::message::Message;
use super::part::{Part, Registers, Simd};
use crate::gen8::messages::{
    UrbMessageDescriptor, UrbMessageDescriptorSwizzleControl, UrbMessageDescriptorUrbOpcode,
};
use crate::instruction::SharedFunction;
use genxml_core::U;

/// A read or write of the URB in eight channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Urb {
    /// Register with the handle of each channel, such as r1 of a vertex shader's thread. It is
    /// copied to the header.
    pub handles: u8,
    /// Offset in the entry, in owords.
    pub offset: U<11>,
    /// Number of registers of data: one dword of each channel each.
    pub registers: u8,
    /// Each channel also has an offset of its own: [`Part::Offset`], in owords.
    pub slot_offsets: bool,
    /// Each channel has a mask of the data registers that are written: [`Part::Mask`]. Writes only.
    pub masks: bool,
}

impl Urb {
    /// Data from the start of an entry on, for all channels at the same offset.
    pub const fn new(handles: u8, registers: u8) -> Urb {
        Urb { handles, offset: U::ZERO, registers, slot_offsets: false, masks: false }
    }
}

/// Reads data of the URB (Mesa, brw_fs_visitor.cpp). The payload is [`Part::Header`], the handles,
/// and [`Part::Offset`] if there are slot offsets. The reply is [`Part::Data`].
///
/// # Errors
/// The message has masks.
pub fn urb_read(urb: &Urb) -> Result<Message, PayloadError> {
    if urb.masks {
        let (message, field) = (UrbMessageDescriptor::NAME, "Swizzle Control");
        return Err(PayloadError::Unsupported { message, field, value: 1 });
    }
    let mut message = message(urb, UrbMessageDescriptorUrbOpcode::SIMD8_READ);
    message.reply.push(Part::Data, urb.registers.into());
    Ok(message)
}

/// Writes data to the URB (Mesa, brw_fs_visitor.cpp). The payload is [`Part::Header`], the handles,
/// then [`Part::Offset`] and [`Part::Mask`] if there are any, and [`Part::Data`].
pub fn urb_write(urb: &Urb) -> Message {
    let mut message = message(urb, UrbMessageDescriptorUrbOpcode::SIMD8_WRITE);
    if urb.masks {
        message.parts.append(Registers::each([Part::Mask], Simd::Eight));
    }
    message.parts.push(Part::Data, urb.registers.into());
    message
}

fn message(urb: &Urb, opcode: UrbMessageDescriptorUrbOpcode) -> Message {
    use UrbMessageDescriptorSwizzleControl as Swizzle;
    let descriptor = UrbMessageDescriptor {
        urb_opcode: opcode,
        global_offset: urb.offset,
        swizzle_control: match urb.masks {
            true => Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT,
            false => Swizzle::NONE,
        },
        per_slot_offset: urb.slot_offsets,
        ..UrbMessageDescriptor::new()
    };
    let mut message = Message::new(SharedFunction::Urb, descriptor.pack());
    message.header = Some(Header { source: urb.handles, ..Header::of_r0() });
    if urb.slot_offsets {
        message.parts.append(Registers::each([Part::Offset], Simd::Eight));
    }
    message
}
