//! OWord Block and OWord Dual Block: contiguous owords at one offset, or at two (003:4533-4681).

use super::buffer::{Buffer, OWORD};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::gen45::message::payload::Payload;
use crate::gen45::message::port::Port;
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use genxml::gen45::message_payloads::OWordDualBlockOffsetsPayload;
use genxml::gen45::messages::{
    OWordBlockReadDescriptor, OWordBlockSize as Size, OWordDualBlockReadDescriptor,
    OWordDualBlockSize as DualSize,
};

/// An oword of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Run {
    /// Byte offset in the buffer.
    offset: u64,
    /// Byte offset from the first register of data.
    place: usize,
    /// Enables of the four dwords.
    enables: u32,
}

/// Maximum number of owords of a message.
const MOST: usize = 16;

/// OWord Block Read or Write.
///
/// # Errors
/// Faults of the buffer; [`Fault::IllegalInstruction`] for a reserved block size or wrong lengths.
pub fn block(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    write: bool,
) -> Result<(), Fault> {
    // Reads and writes have these fields at the same bits.
    let descriptor = OWordBlockReadDescriptor::unpack_lossy(&[message.descriptor]);
    let name = if write { "an oword block write" } else { "an oword block read" };
    let payload = Payload::open_gen45(message, name);
    let (half, count) = match descriptor.block_size {
        Size::_1_OWORD_LOW => (0, 1),
        Size::_1_OWORD_HIGH => (1, 1),
        Size::_2_OWORDS => (0, 2),
        Size::_4_OWORDS => (0, 4),
        Size::_8_OWORDS => (0, 8),
        other => {
            let why = format!("block size {} is reserved", other.bits());
            return Err(payload.illegal(port, &why));
        }
    };
    let buffer = Buffer::of(port, registers, &payload, descriptor.binding_table_index.get())?;
    let start = buffer.offset(0, OWORD as u64);
    let mut runs = [Run::default(); MOST];
    for (n, run) in runs.iter_mut().enumerate().take(count) {
        let place = (half + n) * OWORD;
        // Odd registers have the channels 8 to 15 (003:4551).
        let channel = place / REGISTER % 2 * 8 + place % REGISTER / 4;
        let enables = message.mask >> channel & 0xf;
        *run = Run { offset: start + (n * OWORD) as u64, place, enables };
    }
    run(port, registers, &payload, write, &buffer, 1, &runs[..count])
}

/// OWord Dual Block Read or Write.
///
/// # Errors
/// As [`block`].
pub fn dual(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    write: bool,
) -> Result<(), Fault> {
    let descriptor = OWordDualBlockReadDescriptor::unpack_lossy(&[message.descriptor]);
    let name = if write { "an oword dual block write" } else { "an oword dual block read" };
    let payload = Payload::open_gen45(message, name);
    let count = match descriptor.block_size {
        DualSize::_1_OWORD_LOW => 1,
        DualSize::_2_OWORDS => 2,
        DualSize::_4_OWORDS => 4,
        DualSize::_8_OWORDS => 8,
        DualSize::_1_OWORD_HIGH => {
            let what = "oword dual blocks of one oword in the high half";
            return Err(port.missing(what, message, "003:4629, without a layout"));
        }
        other => {
            let why = format!("block size {} is reserved", other.bits());
            return Err(payload.illegal(port, &why));
        }
    };
    let buffer = Buffer::of(port, registers, &payload, descriptor.binding_table_index.get())?;
    if payload.sent() < 2 {
        return Err(payload.illegal(port, "without offsets"));
    }
    let offsets = OWordDualBlockOffsetsPayload::unpack_lossy(&payload.dwords(registers, 1));
    let offsets = [offsets.block_offset_0, offsets.block_offset_1]
        .map(|own| buffer.offset(own.get() as u32, OWORD as u64));
    let mut runs = [Run::default(); MOST];
    for (n, run) in runs.iter_mut().enumerate().take(2 * count) {
        let (register, half) = (n / 2, n % 2);
        *run = Run {
            offset: offsets[half] + (register * OWORD) as u64,
            place: register * REGISTER + half * OWORD,
            enables: message.mask >> (4 * half) & 0xf,
        };
    }
    run(port, registers, &payload, write, &buffer, 2, &runs[..2 * count])
}

/// Checks the lengths and moves the data. `before` registers precede the data of a write.
fn run(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    payload: &Payload<'_>,
    write: bool,
    buffer: &Buffer,
    before: usize,
    runs: &[Run],
) -> Result<(), Fault> {
    let end = runs.iter().map(|run| run.place + OWORD).max().unwrap_or(0);
    let data = end.div_ceil(REGISTER);
    if write {
        payload.check(port, before + data, payload.returned())?;
        let from = payload.at(before);
        let bytes = store(port, registers, buffer, from, runs);
        return payload.moved(port, true, bytes);
    }
    payload.check(port, before, data)?;
    let Some(to) = payload.answer() else { return Ok(()) };
    let bytes = load(port, registers, buffer, to, runs);
    payload.moved(port, false, bytes)
}

/// Writes the enabled dwords.
fn store(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    buffer: &Buffer,
    from: usize,
    runs: &[Run],
) -> Result<u64, PageFault> {
    let mut bytes = 0;
    for run in runs {
        let at = from + run.place;
        let oword = &registers.bytes()[at..at + OWORD];
        if run.enables == 0xf {
            bytes += buffer.write(&mut port.exec.vm, run.offset, oword)?;
            continue;
        }
        for (n, dword) in oword.chunks_exact(4).enumerate() {
            if run.enables >> n & 1 == 1 {
                bytes += buffer.write(&mut port.exec.vm, run.offset + 4 * n as u64, dword)?;
            }
        }
    }
    Ok(bytes)
}

/// Reads whole owords of which a dword is enabled (003:4551).
fn load(
    port: &Port<'_, '_>,
    registers: &mut Registers,
    buffer: &Buffer,
    to: usize,
    runs: &[Run],
) -> Result<u64, PageFault> {
    let mut bytes = 0;
    for run in runs.iter().filter(|run| run.enables != 0) {
        let at = to + run.place;
        bytes +=
            buffer.read(&port.exec.vm, run.offset, &mut registers.grf_mut()[at..at + OWORD])?;
    }
    Ok(bytes)
}
