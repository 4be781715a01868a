//! Media blocks: rectangles of bytes of a two-dimensional surface (003:4683-4796). They ignore the
//! execution mask.

use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::gen45::message::payload::Payload;
use crate::gen45::message::port::Port;
use crate::machine::fault::Fault;
use crate::surface::{Dimension, SurfaceKind};
use crate::unit::bindings::Bound;
use crate::unit::dataport::media_block::{Block, BlockMask, Lines, read_block, write_block};
use genxml::gen45::message_headers::MediaBlockMessageHeader;
use genxml::gen45::messages::{MediaBlockReadDescriptor, MediaBlockWriteDescriptor, TargetCache};

/// Maximum number of bytes of a block, with the gaps between its rows (003:4767-4771).
const MOST: usize = 8 * REGISTER;

/// Vertical Line Stride and its offset, if the message overrides those of the surface.
type Override = Option<(u32, u32)>;

/// Media Block Read.
///
/// # Errors
/// Page faults of the surface; [`Fault::IllegalInstruction`] for a surface or a block that the
/// message does not support, and for wrong lengths.
pub fn read(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MediaBlockReadDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a media block read");
    if descriptor.target_cache == TargetCache::DATA_CACHE {
        return Err(payload.illegal(port, "through the data cache (003:4691)"));
    }
    let block = block(port, registers, &payload)?;
    let back = block.bytes().div_ceil(REGISTER);
    if payload.sent() != 1 || payload.returned() != 0 && payload.returned() < back {
        return payload.check(port, 1, back);
    }
    let overridden = descriptor.vertical_line_stride_override.then_some((
        descriptor.override_vertical_line_stride.get() as u32,
        descriptor.override_vertical_line_stride_offset.get() as u32,
    ));
    let index = descriptor.binding_table_index.get();
    let (bound, lines) = image(port, &payload, index, overridden)?;
    let mut bytes = [0; MOST];
    let bytes = &mut bytes[..block.bytes()];
    let done = read_block(&port.exec.vm, &bound, &lines, &block, bytes);
    payload.moved(port, false, done.map(|()| u64::from(block.width * block.height)))?;
    if let Some(to) = payload.answer() {
        registers.grf_mut()[to..to + bytes.len()].copy_from_slice(bytes);
    }
    Ok(())
}

/// Media Block Write.
///
/// # Errors
/// As [`read`].
pub fn write(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MediaBlockWriteDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a media block write");
    let block = block(port, registers, &payload)?;
    if block.x % 4 != 0 || !block.width.is_multiple_of(4) {
        let why = format!("{} bytes at x = {}, not multiples of 4", block.width, block.x);
        return Err(payload.illegal(port, &why));
    }
    let data = block.bytes().div_ceil(REGISTER);
    if payload.sent() < 1 + data {
        return payload.check(port, 1 + data, payload.returned());
    }
    let overridden = descriptor.vertical_line_stride_override.then_some((
        descriptor.override_vertical_line_stride.get() as u32,
        descriptor.override_vertical_line_stride_offset.get() as u32,
    ));
    let index = descriptor.binding_table_index.get();
    let (bound, lines) = image(port, &payload, index, overridden)?;
    let from = payload.at(1);
    let bytes = &registers.bytes()[from..from + block.bytes()];
    let done = write_block(&mut port.exec.vm, &bound, &lines, &block, BlockMask::All, bytes);
    payload.moved(port, true, done)
}

/// The rectangle of a message. Its rows, which are apart by a power of two, must fit 8 registers.
fn block(
    port: &Port<'_, '_>,
    registers: &Registers,
    payload: &Payload<'_>,
) -> Result<Block, Fault> {
    if payload.sent() == 0 {
        return Err(payload.illegal(port, "without a header"));
    }
    let header = MediaBlockMessageHeader::unpack_lossy(&payload.dwords(registers, 0));
    let block = Block {
        x: header.x_offset.get(),
        y: header.y_offset.get(),
        width: header.block_width.get() as u32,
        height: header.block_height.get() as u32,
    };
    if block.bytes() > MOST {
        let (width, height) = (block.width, block.height);
        return Err(payload.illegal(port, &format!("{width} x {height} bytes are too many")));
    }
    Ok(block)
}

/// The two-dimensional or null surface of a message, and its lines.
fn image(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
    overridden: Override,
) -> Result<(Bound, Lines), Fault> {
    let bound = *port.bindings.surface(port.exec, index as u8)?;
    let surface = &bound.surface;
    if surface.kind != SurfaceKind::Null {
        let flat = surface.kind == SurfaceKind::Image
            && surface.layout.dimension == Dimension::Two
            && !surface.array;
        if !flat {
            let why = format!("surface {index} is not a two-dimensional surface without array");
            return Err(payload.illegal(port, &why));
        }
        if surface.line_stride == 0
            && overridden.is_some_and(|(stride, _)| stride == 1)
            && surface.height < 2
        {
            let why = "a surface of one row has no fields: Override Vertical Line Stride must be 0";
            return Err(payload.illegal(port, why));
        }
    }
    Ok((bound, Lines::new(&bound, overridden)))
}
