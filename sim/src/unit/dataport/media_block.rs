//! Media blocks: rectangles of bytes of a surface. They ignore the execution mask (G45 vol 4, 5.10.4).

use super::bound;
use crate::assumptions::MEDIA_BLOCK_CLIPS_AT_PITCH;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::observe::Observer;
use crate::surface::SurfaceKind;
use crate::unit::{Bound, Port};
use genxml::gen8::messages::{MediaBlockMessageMode, MhMb, Msd1rMb, Msd1wMb};
use genxml::gen8::state::RenderSurfaceStateMediaBoundaryPixelMode as Boundary;

/// Which bytes of a block are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockMask {
    /// All.
    All,
    /// One bit per byte of every row.
    Bytes(u32),
    /// One bit per dword of 4 rows of 8 dwords, in squares of squares (2d p.295).
    Pixels(u32),
}

impl BlockMask {
    /// True if byte `x` of row `y` is written.
    pub fn contains(self, x: u32, y: u32) -> bool {
        match self {
            BlockMask::All => true,
            BlockMask::Bytes(mask) => mask >> (x & 31) & 1 == 1,
            BlockMask::Pixels(mask) => {
                let x = x / 4;
                let bit = x & 1 | (y & 1) << 1 | (x >> 1 & 1) << 2 | (y >> 1 & 1) << 3 | (x >> 2 & 1) << 4;
                mask >> bit & 1 == 1
            }
        }
    }
}

/// A rectangle of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Left edge in bytes, may lie outside.
    pub x: i64,
    /// Upper edge in rows, may lie outside.
    pub y: i64,
    /// Width in bytes, 1 to 64.
    pub width: u32,
    /// Height in rows, 1 to 64.
    pub height: u32,
}

impl Block {
    /// Bytes from row to row in the payload: the next power of two, at least a dword.
    pub fn pitch(&self) -> usize {
        self.width.next_power_of_two().max(4) as usize
    }

    /// Bytes of the payload.
    pub fn bytes(&self) -> usize {
        self.pitch() * self.height as usize
    }
}

/// Bytes in a row of a surface as media blocks count them: the surface's width is in dwords for these messages,
/// whatever the format (2d RENDER_SURFACE_STATE Width).
fn row_bytes(bound: &Bound) -> i64 {
    let bytes = 4 * i64::from(bound.surface.width);
    let pitch = i64::from(bound.surface.pitch);
    if MEDIA_BLOCK_CLIPS_AT_PITCH { bytes.min(pitch) } else { bytes }
}

/// Writes a block; what lies outside the surface is dropped.
///
/// # Errors
/// [`PageFault`] of the surface's memory.
pub fn write_block(
    vm: &mut Vm<'_>,
    bound: &Bound,
    block: &Block,
    mask: BlockMask,
    data: &[u8],
) -> Result<u64, PageFault> {
    if bound.surface.kind == SurfaceKind::Null {
        return Ok(0);
    }
    let (limit, rows) = (row_bytes(bound), i64::from(bound.surface.height));
    let mut written = 0;
    for (row, data) in data.chunks(block.pitch()).take(block.height as usize).enumerate() {
        let y = block.y + row as i64;
        if y < 0 || y >= rows {
            continue;
        }
        let first = (-block.x).clamp(0, i64::from(block.width));
        let end = (limit - block.x).clamp(first, i64::from(block.width));
        let mut column = first;
        while column < end {
            let x = block.x + column;
            // Runs of bytes that stay together in every tiling: 16 bytes (Y columns), whole in the others.
            let run = (end - column).min(i64::from(bound.surface.tile_mode.run()) - run_phase(bound, x));
            let bytes = &data[column as usize..(column + run) as usize];
            let address = bound.surface.address(x, y);
            if mask == BlockMask::All {
                vm.write(address, bytes)?;
            } else {
                for (n, byte) in bytes.iter().enumerate() {
                    if mask.contains(column as u32 + n as u32, row as u32) {
                        vm.write_u8(address.wrapping_add(n as u64), *byte)?;
                    }
                }
            }
            written += run as u64;
            column += run;
        }
    }
    Ok(written)
}

/// How far byte `x` is into its run.
fn run_phase(bound: &Bound, x: i64) -> i64 {
    let run = i64::from(bound.surface.tile_mode.run());
    if bound.surface.tile_mode == crate::surface::TileMode::Linear {
        0
    } else {
        (x + i64::from(bound.surface.left)).rem_euclid(run)
    }
}

/// Reads a block; what lies outside the surface repeats the nearest element inside.
///
/// # Errors
/// [`PageFault`] of the surface's memory.
pub fn read_block(vm: &Vm<'_>, bound: &Bound, block: &Block, out: &mut [u8]) -> Result<(), PageFault> {
    let (limit, rows) = (row_bytes(bound), i64::from(bound.surface.height));
    let element = i64::from(bound.surface.element_bytes.max(1));
    for (row, out) in out.chunks_mut(block.pitch()).take(block.height as usize).enumerate() {
        let y = (block.y + row as i64).clamp(0, rows - 1);
        for (column, out) in out.iter_mut().take(block.width as usize).enumerate() {
            if bound.surface.kind == SurfaceKind::Null {
                *out = 0;
                continue;
            }
            let x = block.x + column as i64;
            let last = (limit / element - 1).max(0);
            let x = x.div_euclid(element).clamp(0, last) * element + x.rem_euclid(element);
            *out = vm.read_u8(bound.surface.address(x, y))?;
        }
    }
    Ok(())
}

/// What a media block header says.
fn media_block<O: Observer>(
    port: &Port<'_, '_, O>,
    registers: &Registers,
    message: &Message,
    header_present: bool,
) -> Result<(MhMb, Block), Fault> {
    if !header_present {
        return Err(port.illegal("a media block message without a header".into(), message));
    }
    let header = MhMb::unpack_lossy(&registers.dwords(message.payload));
    let control = header.normal_media_block_message_control;
    let block = Block {
        x: header.x_offset.get(),
        y: header.y_offset.get(),
        width: control.block_width.get() as u32,
        height: control.block_height.get() as u32,
    };
    Ok((header, block))
}

/// Media blocks exist for two-dimensional surfaces.
fn check_image<O: Observer>(port: &Port<'_, '_, O>, bound: &Bound, message: &Message) -> Result<(), Fault> {
    match bound.surface.kind {
        SurfaceKind::Buffer => Err(port.illegal("a media block of a buffer".into(), message)),
        _ => Ok(()),
    }
}

pub(super) fn write_media_block<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1wMb::unpack_lossy(&[message.descriptor]);
    let (header, mut block) = media_block(port, registers, message, descriptor.header_present)?;
    let interlaced = descriptor.vertical_line_stride_override;
    if interlaced.vertical_line_stride_override && interlaced.vertical_line_stride.get() != 0 {
        return Err(port.missing(
            "a media block of one field (Vertical Line Stride Override)",
            message,
            "2d p.592",
        ));
    }
    let mode = header.normal_media_block_message_control.message_mode;
    let mask = match mode {
        MediaBlockMessageMode::NORMAL => BlockMask::All,
        MediaBlockMessageMode::BYTE_MASK => BlockMask::Bytes(header.mask.get() as u32),
        MediaBlockMessageMode::PIXEL_MASK => {
            (block.width, block.height) = (32, 4);
            BlockMask::Pixels(header.mask.get() as u32)
        }
        _ => return Err(port.illegal(format!("media block mode {} is reserved", mode.bits()), message)),
    };
    if block.x % 4 != 0 || !block.width.is_multiple_of(4) {
        let why = format!(
            "a media block write of {} bytes at x = {}: both must be multiples of 4",
            block.width, block.x
        );
        return Err(port.illegal(why, message));
    }
    let first = message.payload + REGISTER;
    let sent = (descriptor.message_length.get() as usize).saturating_sub(1) * REGISTER;
    if block.bytes() > sent {
        let why = format!("a media block of {} bytes in a message of {sent}", block.bytes());
        return Err(port.illegal(why, message));
    }
    let bound = bound(port, descriptor.binding_table_index.get() as u8, message)?;
    check_image(port, &bound, message)?;
    let data = &registers.grf()[first..first + block.bytes()];
    let written = write_block(&mut port.exec.vm, &bound, &block, mask, data)
        .map_err(|fault| port.exec.page(fault, "media block write"))?;
    port.exec.stats.bytes_written += written;
    Ok(())
}

pub(super) fn read_media_block<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1rMb::unpack_lossy(&[message.descriptor]);
    let (header, block) = media_block(port, registers, message, descriptor.header_present)?;
    let interlaced = descriptor.vertical_line_stride_override;
    if interlaced.vertical_line_stride_override && interlaced.vertical_line_stride.get() != 0 {
        return Err(port.missing(
            "a media block of one field (Vertical Line Stride Override)",
            message,
            "2d p.592",
        ));
    }
    let control = header.normal_media_block_message_control;
    if control.sub_register_offset.get() != 0 || control.register_pitch_control.get() != 0 {
        return Err(port.missing("merged media block reads", message, "2d p.252"));
    }
    let bound = bound(port, descriptor.binding_table_index.get() as u8, message)?;
    check_image(port, &bound, message)?;
    let rows = i64::from(bound.surface.height);
    let outside = block.y < 0 || block.y + i64::from(block.height) > rows;
    if outside && bound.boundary != Boundary::NORMAL_MODE {
        return Err(port.missing(
            "Media Boundary Pixel Mode",
            message,
            "2d RENDER_SURFACE_STATE; G45 vol 4, 5.6.1",
        ));
    }
    let Some(response) = message.response else { return Ok(()) };
    let expected = descriptor.response_length.get() as usize * REGISTER;
    if block.bytes() > expected {
        let why = format!("a media block of {} bytes in a response of {expected}", block.bytes());
        return Err(port.illegal(why, message));
    }
    let mut data = vec![0; block.bytes()];
    read_block(&port.exec.vm, &bound, &block, &mut data)
        .map_err(|fault| port.exec.page(fault, "media block read"))?;
    registers.grf_mut()[response..response + data.len()].copy_from_slice(&data);
    port.exec.stats.bytes_read += data.len() as u64;
    Ok(())
}
