//! Messages to the data ports: blocks, scattered, untyped and typed accesses, atomic operations.

use super::error::PayloadError;
use super::header::{Header, Value};
use super::message::Message;
use super::part::{Coordinates, Part, Registers, Simd};
use crate::gen8::descriptors::{MdcCmask, MdcDs, MdcSg2, MdcSg3, MdcSm2, MdcSm2r, MdcSm3};
use crate::gen8::eu_messages::{MdcAop, Msd0Bs, Msd0Dws, Msd1Tai, Msd1Ts, Msd1Uai, Msd1Us};
use crate::gen8::message_headers::{Mh1BtsPsm, MhA32Go, MhcPsm};
use crate::gen8::message_payloads as mdp;
use crate::gen8::messages::{MdcDbOw, MhBtsGo, Msd0rOwb, Msd0wOwb, MtDp0, MtDp1};
use crate::instruction::SharedFunction;
use crate::message::describe;
use genxml_core::U;
use genxml_core::packet::Packed;

/// Reads a block of owords from a surface (2d p.42, p.287). The reply is [`Part::Data`].
///
/// * `surface`: binding table index.
/// * `blocks`: size of the block; a block of one oword goes to one half of the register.
/// * `offset`: position of the block in the surface, in owords.
///
/// # Errors
/// A reserved value of `blocks`.
pub fn oword_block_read(
    surface: u8,
    blocks: MdcDbOw,
    offset: Value,
) -> Result<Message, PayloadError> {
    let descriptor = Msd0rOwb {
        binding_table_index: U::from_bits(surface.into()),
        data_blocks: blocks,
        ..Msd0rOwb::new()
    };
    let registers = block_registers(Msd0rOwb::NAME, descriptor.pack(), blocks)?;
    let mut message = oword_block(descriptor.pack(), offset);
    message.reply.push(Part::Data, registers);
    Ok(message)
}

/// Writes a block of owords to a surface (2d p.42, p.287). The payload is [`Part::Data`].
///
/// * `surface`: binding table index.
/// * `blocks`: size of the block; a block of one oword is in one half of the register.
/// * `offset`: position of the block in the surface, in owords.
///
/// # Errors
/// A reserved value of `blocks`.
pub fn oword_block_write(
    surface: u8,
    blocks: MdcDbOw,
    offset: Value,
) -> Result<Message, PayloadError> {
    let descriptor = Msd0wOwb {
        binding_table_index: U::from_bits(surface.into()),
        data_blocks: blocks,
        ..Msd0wOwb::new()
    };
    let registers = block_registers(Msd0wOwb::NAME, descriptor.pack(), blocks)?;
    let mut message = oword_block(descriptor.pack(), offset);
    message.parts.push(Part::Data, registers);
    Ok(message)
}

/// A block message without data. The header is a copy of r0, whose other fields stateless messages
/// use.
fn oword_block(descriptor: [u32; 1], offset: Value) -> Message {
    let mut header = Header::of_r0();
    header.replace(&MhBtsGo { global_offset: U::MAX }.pack(), offset);
    let message = Message::new(SharedFunction::DataPort0, descriptor);
    Message { no_mask: true, header: Some(header), ..message }
}

/// Number of registers of the block that a descriptor names. Lengths and header of the descriptor
/// are zero.
fn block_registers(
    name: &'static str,
    descriptor: [u32; 1],
    blocks: MdcDbOw,
) -> Result<u32, PayloadError> {
    let lengths = describe(SharedFunction::DataPort0, descriptor[0]).lengths();
    let registers = lengths.map(|lengths| lengths.sent.max.max(lengths.returned.max));
    registers.map(u32::from).ok_or_else(|| PayloadError::Unsupported {
        message: name,
        field: "Data Blocks",
        value: blocks.bits(),
    })
}

/// Reads a dword at the offset of each channel (2d p.114). The payload is [`Part::Offset`], in
/// dwords, the reply is [`Part::Data`].
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `base`: added to all offsets, in dwords. Without it, the message has no header.
pub fn dword_scattered_read(surface: u8, simd: Simd, base: Option<Value>) -> Message {
    let message = dword_scattered(MtDp0::MT0R_DWS, surface, simd, base);
    Message { reply: Registers::each([Part::Data], simd), ..message }
}

/// Writes a dword at the offset of each channel (2d p.114). The payload is [`Part::Offset`], in
/// dwords, and [`Part::Data`].
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `base`: added to all offsets, in dwords. Without it, the message has no header.
pub fn dword_scattered_write(surface: u8, simd: Simd, base: Option<Value>) -> Message {
    let mut message = dword_scattered(MtDp0::MT0W_DWS, surface, simd, base);
    message.parts.append(Registers::each([Part::Data], simd));
    message
}

fn dword_scattered(kind: MtDp0, surface: u8, simd: Simd, base: Option<Value>) -> Message {
    let descriptor = Msd0Dws {
        message_type: kind,
        simd_mode: simd2(simd),
        binding_table_index: U::from_bits(surface.into()),
        ..Msd0Dws::new()
    };
    scattered(descriptor.pack(), simd, base)
}

/// Reads one, two or four bytes at the offset of each channel (2d p.117). The payload is
/// [`Part::Offset`], in bytes, the reply is [`Part::Data`], a dword for each channel.
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `base`: added to all offsets, in bytes. Without it, the message has no header.
///
/// # Errors
/// A reserved value of `size`.
pub fn byte_scattered_read(
    surface: u8,
    simd: Simd,
    size: MdcDs,
    base: Option<Value>,
) -> Result<Message, PayloadError> {
    let message = byte_scattered(MtDp0::MT0R_BS, surface, simd, size, base)?;
    Ok(Message { reply: Registers::each([Part::Data], simd), ..message })
}

/// Writes one, two or four bytes at the offset of each channel (2d p.117). The payload is
/// [`Part::Offset`], in bytes, and [`Part::Data`], a dword for each channel.
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `base`: added to all offsets, in bytes. Without it, the message has no header.
///
/// # Errors
/// A reserved value of `size`.
pub fn byte_scattered_write(
    surface: u8,
    simd: Simd,
    size: MdcDs,
    base: Option<Value>,
) -> Result<Message, PayloadError> {
    let mut message = byte_scattered(MtDp0::MT0W_BS, surface, simd, size, base)?;
    message.parts.append(Registers::each([Part::Data], simd));
    Ok(message)
}

fn byte_scattered(
    kind: MtDp0,
    surface: u8,
    simd: Simd,
    size: MdcDs,
    base: Option<Value>,
) -> Result<Message, PayloadError> {
    if !matches!(size, MdcDs::B | MdcDs::W | MdcDs::DW) {
        let (message, field) = (Msd0Bs::NAME, "Data Elements");
        return Err(PayloadError::Unsupported { message, field, value: size.bits() });
    }
    let descriptor = Msd0Bs {
        message_type: kind,
        data_elements: size,
        simd_mode: simd2(simd),
        binding_table_index: U::from_bits(surface.into()),
        ..Msd0Bs::new()
    };
    Ok(scattered(descriptor.pack(), simd, base))
}

fn scattered(descriptor: [u32; 1], simd: Simd, base: Option<Value>) -> Message {
    let header = base.map(|base| {
        let mut header = Header::of_r0();
        header.replace(&MhA32Go { global_offset: U::MAX, ..MhA32Go::new() }.pack(), base);
        header
    });
    Message {
        exec_size: simd.channels(),
        header,
        parts: Registers::each([Part::Offset], simd),
        ..Message::new(SharedFunction::DataPort0, descriptor)
    }
}

fn simd2(simd: Simd) -> MdcSm2 {
    match simd {
        Simd::Eight => MdcSm2::SIMD8,
        Simd::Sixteen => MdcSm2::SIMD16,
    }
}

/// Reads dwords from a buffer at the offset of each channel (2d p.115). The payload is
/// [`Part::Offset`], in bytes. The reply has the components that `channels` names, from
/// [`Part::Red`] to [`Part::Alpha`], which are consecutive dwords in memory.
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `mask`: a bit for each channel that takes part. Without it, the message has no header.
///
/// # Errors
/// `channels` names no channel.
pub fn untyped_read(
    surface: u8,
    simd: Simd,
    channels: MdcCmask,
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let colors = colors(Msd1Us::NAME, channels, simd)?;
    let message = untyped(MtDp1::MT1R_US, surface, simd, channels, mask);
    Ok(Message { reply: colors, ..message })
}

/// Writes dwords to a buffer at the offset of each channel (2d p.115). The payload is
/// [`Part::Offset`], in bytes, and the components that `channels` names, from [`Part::Red`] to
/// [`Part::Alpha`], which are consecutive dwords in memory.
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `mask`: a bit for each channel that takes part. Without it, the message has no header.
///
/// # Errors
/// `channels` names no channel.
pub fn untyped_write(
    surface: u8,
    simd: Simd,
    channels: MdcCmask,
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let colors = colors(Msd1Us::NAME, channels, simd)?;
    let mut message = untyped(MtDp1::MT1W_US, surface, simd, channels, mask);
    message.parts.append(colors);
    Ok(message)
}

fn untyped(
    kind: MtDp1,
    surface: u8,
    simd: Simd,
    channels: MdcCmask,
    mask: Option<Value>,
) -> Message {
    let descriptor = Msd1Us {
        message_type: kind,
        simd_mode: match simd {
            Simd::Eight => MdcSm3::SIMD8,
            Simd::Sixteen => MdcSm3::SIMD16,
        },
        channel_mask: channels,
        binding_table_index: U::from_bits(surface.into()),
        ..Msd1Us::new()
    };
    let offsets = Registers::each([Part::Offset], simd);
    surface_message(descriptor.pack(), simd, offsets, mask)
}

/// An atomic operation on a dword of a buffer at the offset of each channel (2d p.14-16). The
/// payload is [`Part::Offset`], in bytes, and, as `operation` needs them, [`Part::Operand0`] and
/// [`Part::Operand1`].
///
/// * `surface`: binding table index; 254 is shared local memory.
/// * `returns`: the reply is [`Part::Data`], the old value; of [`MdcAop::AOP_PREDEC`] the new one.
/// * `mask`: a bit for each channel that takes part. Without it, the message has no header.
///
/// # Errors
/// `operation` is [`MdcAop::AOP_CMPWR_2W`], which this message does not have.
pub fn untyped_atomic(
    surface: u8,
    simd: Simd,
    operation: MdcAop,
    returns: bool,
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let descriptor = Msd1Uai {
        message_type: MtDp1::MT1A_UI,
        return_data_control: returns,
        simd_mode: match simd {
            Simd::Eight => MdcSm2r::SIMD8,
            Simd::Sixteen => MdcSm2r::SIMD16,
        },
        atomic_integer_operation_type: operation,
        binding_table_index: U::from_bits(surface.into()),
        ..Msd1Uai::new()
    };
    let operands = operands(Msd1Uai::NAME, operation, simd)?;
    let offsets = Registers::each([Part::Offset], simd);
    let mut message = surface_message(descriptor.pack(), simd, offsets, mask);
    message.parts.append(operands);
    if returns {
        message.reply = Registers::each([Part::Data], simd);
    }
    Ok(message)
}

/// Reads elements of a surface in eight channels, in the surface's format (2d p.115, p.430). The
/// payload is [`Part::CoordinateU`] and the other `coordinates`. The reply has the components that
/// `channels` names, from [`Part::Red`] to [`Part::Alpha`].
///
/// * `surface`: binding table index.
/// * `slots`: the channels of the thread, [`MdcSg3::SG8L`] for 0 to 7 or [`MdcSg3::SG8U`] for 8 to
///   15.
/// * `mask`: a bit for each channel of the thread that takes part. Without it, the message has no
///   header.
///
/// # Errors
/// `channels` names no channel, or `slots` is neither of the two.
pub fn typed_read(
    surface: u8,
    slots: MdcSg3,
    coordinates: Coordinates,
    channels: MdcCmask,
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let colors = colors(Msd1Ts::NAME, channels, Simd::Eight)?;
    let message = typed(MtDp1::MT1R_TS, surface, slots, (coordinates, channels), mask)?;
    Ok(Message { reply: colors, ..message })
}

/// Writes elements of a surface in eight channels, in the surface's format (2d p.115, p.430). The
/// payload is [`Part::CoordinateU`] and the other `coordinates`, then the components that
/// `channels` names, from [`Part::Red`] to [`Part::Alpha`].
///
/// * `surface`: binding table index.
/// * `slots`: the channels of the thread, [`MdcSg3::SG8L`] for 0 to 7 or [`MdcSg3::SG8U`] for 8 to
///   15.
/// * `mask`: a bit for each channel of the thread that takes part. Without it, the message has no
///   header.
///
/// # Errors
/// `channels` names no channel, or `slots` is neither of the two.
pub fn typed_write(
    surface: u8,
    slots: MdcSg3,
    coordinates: Coordinates,
    channels: MdcCmask,
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let colors = colors(Msd1Ts::NAME, channels, Simd::Eight)?;
    let mut message = typed(MtDp1::MT1W_TS, surface, slots, (coordinates, channels), mask)?;
    message.parts.append(colors);
    Ok(message)
}

fn typed(
    kind: MtDp1,
    surface: u8,
    slots: MdcSg3,
    (coordinates, channels): (Coordinates, MdcCmask),
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let channel_offset = match slots {
        MdcSg3::SG8L => 0,
        MdcSg3::SG8U => 8,
        _ => {
            let (message, field) = (Msd1Ts::NAME, "Slot Group");
            return Err(PayloadError::Unsupported { message, field, value: slots.bits() });
        }
    };
    let descriptor = Msd1Ts {
        message_type: kind,
        slot_group: slots,
        channel_mask: channels,
        binding_table_index: U::from_bits(surface.into()),
        ..Msd1Ts::new()
    };
    let addresses = coordinate_parts(coordinates);
    let message = surface_message(descriptor.pack(), Simd::Eight, addresses, mask);
    Ok(Message { channel_offset, ..message })
}

/// An atomic operation on elements of a surface in eight channels (2d p.14-16, p.430). The payload
/// is [`Part::CoordinateU`] and the other `coordinates`, then, as `operation` needs them,
/// [`Part::Operand0`] and [`Part::Operand1`].
///
/// * `surface`: binding table index. The surface has a format of one dword.
/// * `slots`: the channels of the thread, [`MdcSg2::SG8L`] for 0 to 7 or [`MdcSg2::SG8U`] for 8 to
///   15.
/// * `returns`: the reply is [`Part::Data`], the old value; of [`MdcAop::AOP_PREDEC`] the new one.
/// * `mask`: a bit for each channel of the thread that takes part. Without it, the message has no
///   header.
///
/// # Errors
/// `operation` is [`MdcAop::AOP_CMPWR_2W`], which this message does not have.
pub fn typed_atomic(
    surface: u8,
    slots: MdcSg2,
    coordinates: Coordinates,
    operation: MdcAop,
    returns: bool,
    mask: Option<Value>,
) -> Result<Message, PayloadError> {
    let descriptor = Msd1Tai {
        message_type: MtDp1::MT1A_TA,
        return_data_control: returns,
        slot_group: slots,
        atomic_integer_operation_type: operation,
        binding_table_index: U::from_bits(surface.into()),
        ..Msd1Tai::new()
    };
    let operands = operands(Msd1Tai::NAME, operation, Simd::Eight)?;
    let addresses = coordinate_parts(coordinates);
    let mut message = surface_message(descriptor.pack(), Simd::Eight, addresses, mask);
    message.channel_offset = if slots == MdcSg2::SG8U { 8 } else { 0 };
    message.parts.append(operands);
    if returns {
        message.reply = Registers::each([Part::Data], Simd::Eight);
    }
    Ok(message)
}

/// Coordinates of a typed message.
fn coordinate_parts(coordinates: Coordinates) -> Registers {
    let mut parts = Registers::of(mdp::Map32bTsSimd8::INFO);
    parts.truncate(coordinates as usize + 1);
    parts
}

/// Operands that an atomic operation takes from the message.
fn operands(
    message: &'static str,
    operation: MdcAop,
    simd: Simd,
) -> Result<Registers, PayloadError> {
    Ok(match operation {
        MdcAop::AOP_CMPWR => match simd {
            Simd::Eight => Registers::of(mdp::MdpAop8Dw2::INFO),
            Simd::Sixteen => Registers::of(mdp::MdpAop16Dw2::INFO),
        },
        MdcAop::AOP_INC | MdcAop::AOP_DEC | MdcAop::AOP_PREDEC => Registers::default(),
        MdcAop::AOP_CMPWR_2W => {
            let (field, value) = ("Atomic Integer Operation Type", operation.bits());
            return Err(PayloadError::Unsupported { message, field, value });
        }
        _ => Registers::each([Part::Operand0], simd),
    })
}

/// A surface message of data port 1. The header is a copy of r0, whose other fields stateless
/// messages use.
fn surface_message(
    descriptor: [u32; 1],
    simd: Simd,
    parts: Registers,
    mask: Option<Value>,
) -> Message {
    let header = mask.map(|mask| {
        let mut header = Header::of_r0();
        let pixel_sample_mask = MhcPsm { pixel_sample_mask: U::MAX };
        header.replace(&Mh1BtsPsm { pixel_sample_mask }.pack(), mask);
        header
    });
    Message {
        exec_size: simd.channels(),
        header,
        parts,
        ..Message::new(SharedFunction::DataPort1, descriptor)
    }
}

/// The colour channels that a message has: the letters in the name of its channel mask.
fn colors(message: &'static str, mask: MdcCmask, simd: Simd) -> Result<Registers, PayloadError> {
    let Some(name) = mask.name() else {
        let (field, value) = ("Channel Mask", mask.bits());
        return Err(PayloadError::Unsupported { message, field, value });
    };
    let letters = "RGBA".chars().zip(Part::COLORS);
    let present = letters.filter(|(letter, _)| name.contains(*letter)).map(|(_, part)| part);
    Ok(Registers::each(present, simd))
}
