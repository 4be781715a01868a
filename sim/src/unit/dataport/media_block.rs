//! Media blocks: rectangles of bytes of a two-dimensional surface. They ignore the execution mask
//! (G45 vol 4, 5.10.4; 2d p.69-71, p.252-254, p.263-265, p.295-297, p.500).

use super::target;
use crate::assumptions::{MEDIA_BLOCK_CLIPS_AT_PITCH, MEDIA_BLOCK_GAPS_READ_ZERO};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::surface::format::Class;
use crate::surface::{Dimension, Layout, Surface, SurfaceKind, TileMode};
use crate::unit::bindings::Bound;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::messages::{
    MdcVlso, MediaBlockMessageMode, MhMb, MhT, Msd1rMb, Msd1rTt, Msd1wMb,
};
use genxml::gen8::state::RenderSurfaceStateMediaBoundaryPixelMode as Boundary;
use std::ops::Range;

/// Maximum number of dwords of a block, without the gaps between its rows (2d p.265).
const DWORDS: u32 = 64;

/// Maximum number of bytes of a block with the gaps between its rows.
const MOST: usize = 16 * REGISTER;

/// Which bytes of a block are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockMask {
    /// All bytes.
    All,
    /// One bit for each of 32 bytes of a row. All rows use the same bits.
    Bytes(u32),
    /// One bit per dword of 4 rows of 8 dwords. The bits go through 2 x 2 squares inside 4 x 4
    /// squares (2d p.295).
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
                let bit = x & 1
                    | (y & 1) << 1
                    | (x >> 1 & 1) << 2
                    | (y >> 1 & 1) << 3
                    | (x >> 2 & 1) << 4;
                mask >> bit & 1 == 1
            }
        }
    }
}

/// A rectangle of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Left edge in bytes. It may lie outside of the surface.
    pub x: i64,
    /// Upper edge in rows. It may lie outside of the surface.
    pub y: i64,
    /// Width in bytes, 1 to 64.
    pub width: u32,
    /// Height in rows, 1 to 64.
    pub height: u32,
}

impl Block {
    /// Distance between rows in the payload: the width in bytes, rounded up to a power of two, but
    /// at least a dword.
    pub fn pitch(&self) -> usize {
        self.width.next_power_of_two().max(4) as usize
    }

    /// Size of the payload in bytes.
    pub fn bytes(&self) -> usize {
        self.pitch() * self.height as usize
    }
}

/// The lines of memory that are the rows of a surface: all lines, or the even or odd lines of an
/// interlaced frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lines {
    /// Number of lines skipped between two rows: 0 or 1.
    stride: u32,
    /// Number of the first line: 0, or 1 for the odd lines.
    offset: u32,
    /// Number of rows.
    height: i64,
    boundary: Boundary,
}

impl Lines {
    /// The lines of a surface. Stride and offset are from the surface state, or from a message that
    /// overrides them. An override that changes the stride changes the height: a frame has twice
    /// the rows of its fields (G45 vol 4, 5.10.4.1).
    pub fn new(bound: &Bound, overridden: Option<(u32, u32)>) -> Lines {
        let surface = &bound.surface;
        let (stride, offset) = overridden.unwrap_or((surface.line_stride, surface.line_offset));
        let height = i64::from(surface.height);
        let height = match (surface.line_stride, stride) {
            (0, 1) => height / 2,
            (1, 0) => height * 2,
            _ => height,
        };
        Lines { stride, offset: offset & stride, height, boundary: bound.boundary }
    }

    /// The line of row `y`, if the surface has this row.
    fn inside(&self, y: i64) -> Option<i64> {
        (0..self.height).contains(&y).then_some(self.line(y))
    }

    fn line(&self, y: i64) -> i64 {
        (y << self.stride) + i64::from(self.offset)
    }

    /// The line that a read of row `y` returns. Above and below the surface, Media Boundary Pixel
    /// Mode selects the line (G45 vol 4, 5.6.1).
    fn nearest(&self, y: i64) -> i64 {
        let last = self.height - 1;
        match self.boundary {
            // The closest line of the frame, even if the surface is a field.
            Boundary::PROGRESSIVE_FRAME => self.line(y).clamp(0, (self.height << self.stride) - 1),
            // In a frame, an even row gives the closest even row, and an odd row the closest odd
            // row.
            Boundary::INTERLACED_FRAME if self.stride == 0 && y < 0 => (y & 1).min(last),
            Boundary::INTERLACED_FRAME if self.stride == 0 && y > last => {
                (last - ((last ^ y) & 1)).max(0)
            }
            // The closest row of the frame or the field.
            _ => self.line(y.clamp(0, last)),
        }
    }
}

/// Bytes in a row of a surface for media block messages. These messages take the surface's width as
/// a number of dwords, whatever the format is (2d RENDER_SURFACE_STATE Width).
fn row_bytes(surface: &Surface) -> i64 {
    let bytes = 4 * i64::from(surface.width);
    let room = i64::from(surface.pitch) - left(surface);
    if MEDIA_BLOCK_CLIPS_AT_PITCH { bytes.min(room).max(0) } else { bytes }
}

/// Bytes from the left edge of the memory to the surface. For media block messages X Offset counts
/// 32-bit pixels, whatever the format is (2d p.340).
fn left(surface: &Surface) -> i64 {
    4 * i64::from(surface.x_offset)
}

/// The same surface with width and X Offset in texels. For media block messages, both fields of the
/// surface state are numbers of dwords. Only for surfaces with one level.
pub fn in_texels(surface: &Surface) -> Surface {
    let element = i64::from(surface.element_bytes.max(1));
    let (width, left) = (row_bytes(surface) / element, left(surface));
    let [width, left, x_offset] =
        [width, left, left / element].map(|number| u32::try_from(number).unwrap_or_default());
    let layout = Layout { width, ..surface.layout };
    Surface { width, layout, left, x_offset, ..*surface }
}

/// Graphics address of byte `x` of a line, and the number of bytes that are contiguous from this
/// address on.
fn place(bound: &Bound, x: i64, line: i64) -> (u64, i64) {
    let surface = &bound.surface;
    let (x, y) = (x + left(&bound.surface), line + i64::from(surface.top));
    let address =
        surface.base.wrapping_add(surface.tile_mode.offset(x, y, i64::from(surface.pitch)) as u64);
    let run = i64::from(surface.tile_mode.run());
    let phase = if surface.tile_mode == TileMode::Linear { 0 } else { x.rem_euclid(run) };
    (address, run - phase)
}

/// The columns of a block that are inside a surface whose rows have `limit` bytes.
fn columns_inside(block: &Block, limit: i64) -> Range<i64> {
    let width = i64::from(block.width);
    let first = (-block.x).clamp(0, width);
    first..(limit - block.x).clamp(first, width)
}

/// Divides columns of a line into runs that are contiguous in memory, and calls `work` with the
/// address and the columns of each run. A run has up to 16 bytes of a Y tile or 512 bytes of an X
/// tile. `x` is the byte of the line that is column 0.
#[inline(always)]
fn each_run(
    bound: &Bound,
    line: i64,
    x: i64,
    columns: Range<i64>,
    mut work: impl FnMut(u64, Range<usize>) -> Result<(), PageFault>,
) -> Result<(), PageFault> {
    let mut first = columns.start;
    while first < columns.end {
        let (address, run) = place(bound, x + first, line);
        let end = columns.end.min(first + run);
        work(address, first as usize..end as usize)?;
        first = end;
    }
    Ok(())
}

/// Writes the bytes of a block that `mask` includes. Bytes outside of the surface are dropped.
/// Returns the number of bytes written.
///
/// # Errors
/// [`PageFault`] of the surface's memory.
pub fn write_block(
    vm: &mut Vm<'_>,
    bound: &Bound,
    lines: &Lines,
    block: &Block,
    mask: BlockMask,
    data: &[u8],
) -> Result<u64, PageFault> {
    if bound.surface.kind == SurfaceKind::Null {
        return Ok(0);
    }
    let inside = columns_inside(block, row_bytes(&bound.surface));
    let mut written = 0;
    for (row, data) in data.chunks(block.pitch()).take(block.height as usize).enumerate() {
        let Some(line) = lines.inside(block.y + row as i64) else { continue };
        each_run(bound, line, block.x, inside.clone(), |address, columns| {
            if mask == BlockMask::All {
                written += columns.len() as u64;
                return vm.write(address, &data[columns]);
            }
            for (n, column) in columns.enumerate() {
                if mask.contains(column as u32, row as u32) {
                    vm.write_u8(address.wrapping_add(n as u64), data[column])?;
                    written += 1;
                }
            }
            Ok(())
        })?;
    }
    Ok(written)
}

/// Reads a block. Rows in `out` are [`Block::pitch`] bytes apart. Bytes left and right of the
/// surface repeat the nearest element of the row. Above and below the surface, Media Boundary Pixel
/// Mode selects the row. A null surface reads as 0.
///
/// # Errors
/// [`PageFault`] of the surface's memory.
pub fn read_block(
    vm: &Vm<'_>,
    bound: &Bound,
    lines: &Lines,
    block: &Block,
    out: &mut [u8],
) -> Result<(), PageFault> {
    if bound.surface.kind == SurfaceKind::Null {
        out.fill(0);
        return Ok(());
    }
    let limit = row_bytes(&bound.surface);
    let inside = columns_inside(block, limit);
    for (row, out) in out.chunks_mut(block.pitch()).take(block.height as usize).enumerate() {
        let line = lines.nearest(block.y + row as i64);
        each_run(bound, line, block.x, inside.clone(), |address, columns| {
            vm.read(address, &mut out[columns])
        })?;
        for column in (0..inside.start).chain(inside.end..i64::from(block.width)) {
            let x = nearest_byte(bound, limit, block.x + column);
            out[column as usize] = vm.read_u8(place(bound, x, line).0)?;
        }
    }
    Ok(())
}

/// Number of the byte of a row that is returned for byte `x` outside of the row: the corresponding
/// byte of the nearest element of the format. If two pixels share their chroma, the luma of the
/// nearer pixel is repeated (G45 vol 4, 5.10.4).
fn nearest_byte(bound: &Bound, limit: i64, x: i64) -> i64 {
    let class = bound.surface.codec.map(|codec| codec.format().class);
    let pair = match class {
        Some(Class::PackedYuv { luma, .. }) => Some(luma),
        _ => None,
    };
    let element = if pair.is_some() { 4 } else { i64::from(bound.surface.element_bytes.max(1)) };
    let last = (limit / element - 1).max(0);
    let (left, byte) = (x < 0, x.rem_euclid(element));
    let byte = match pair {
        Some(luma) if luma.map(i64::from).contains(&byte) => i64::from(luma[usize::from(!left)]),
        _ => byte,
    };
    x.div_euclid(element).clamp(0, last) * element + byte
}

/// The reason why media blocks cannot access a surface; `None` if they can. Apart from null
/// surfaces, only SURFTYPE_2D is allowed (G45 vol 4, 5.10.4). Media Boundary Pixel Mode does not
/// apply to arrays (2d RENDER_SURFACE_STATE). An array of one slice is treated as that slice. The
/// manual does not mention surfaces with several samples, and a message cannot select a sample.
fn unsuitable(surface: &Surface) -> Option<&'static str> {
    match (surface.kind, surface.layout.dimension) {
        (SurfaceKind::Null, _) => None,
        (SurfaceKind::Buffer | SurfaceKind::Structured, _) => Some("a buffer"),
        (_, Dimension::One) => Some("a one-dimensional surface"),
        (_, Dimension::Three) => Some("a volume"),
        (_, Dimension::Cube) => Some("a cube map"),
        (_, Dimension::Two) if surface.array && surface.slices > 1 => Some("an array"),
        (_, Dimension::Two) if surface.layout.samples > 1 => Some("a surface with several samples"),
        (_, Dimension::Two) => None,
    }
}

/// The two-dimensional or null surface of a message, and its lines.
fn image(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
    overridden: MdcVlso,
) -> Result<(Bound, Lines), Fault> {
    let bound = target::surface(port, payload, index)?;
    if let Some(what) = unsuitable(&bound.surface) {
        return Err(port.illegal(format!("{} of {what}", payload.name), payload.message));
    }
    let (stride, offset) =
        (overridden.vertical_line_stride, overridden.vertical_line_stride_offset);
    let overridden = overridden
        .vertical_line_stride_override
        .then_some((stride.get() as u32, offset.get() as u32));
    let lines = Lines::new(bound, overridden);
    if lines.height < 1 && bound.surface.kind != SurfaceKind::Null {
        return Err(port.illegal(
            format!("{} of a field of a surface of one row", payload.name),
            payload.message,
        ));
    }
    Ok((*bound, lines))
}

/// Checks that a block has at most `DWORDS` dwords.
fn fits(port: &Port<'_, '_>, payload: &Payload<'_>, block: &Block) -> Result<(), Fault> {
    if block.width.div_ceil(4) * block.height <= DWORDS {
        return Ok(());
    }
    let why = format!(
        "{} of {} x {} bytes: the maximum is {DWORDS} dwords",
        payload.name, block.width, block.height
    );
    Err(port.illegal(why, payload.message))
}

/// Media Block Write.
pub(super) fn write(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1wMb::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "a media block write");
    let header = MhMb::unpack_lossy(&registers.dwords(payload.required(port)?));
    let control = header.normal_media_block_message_control;
    let mut block = Block {
        x: header.x_offset.get(),
        y: header.y_offset.get(),
        width: control.block_width.get() as u32,
        height: control.block_height.get() as u32,
    };
    let mask = match control.message_mode {
        MediaBlockMessageMode::NORMAL => BlockMask::All,
        MediaBlockMessageMode::BYTE_MASK => BlockMask::Bytes(header.mask.get() as u32),
        MediaBlockMessageMode::PIXEL_MASK => {
            (block.width, block.height) = (32, 4);
            BlockMask::Pixels(header.mask.get() as u32)
        }
        mode => return Err(payload.reserved(port, "Message Mode", mode.bits())),
    };
    if block.x % 4 != 0 || !block.width.is_multiple_of(4) {
        let why = format!(
            "a media block write of {} bytes at x = {}: both must be multiples of 4",
            block.width, block.x
        );
        return Err(port.illegal(why, message));
    }
    fits(port, &payload, &block)?;
    payload.at_least(port, block.bytes().div_ceil(REGISTER), 0)?;
    let (bound, lines) = image(
        port,
        &payload,
        descriptor.binding_table_index.get(),
        descriptor.vertical_line_stride_override,
    )?;
    let data = &registers.grf()[payload.body..payload.body + block.bytes()];
    let bytes = write_block(&mut port.exec.vm, &bound, &lines, &block, mask, data);
    target::observe(port, false, true);
    payload.moved(port, true, bytes)
}

/// Reads the bytes of a block and adds their number to the statistics.
fn fetch(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    (bound, lines): &(Bound, Lines),
    block: &Block,
) -> Result<[u8; MOST], Fault> {
    let mut data = [0; MOST];
    let bytes = block.bytes();
    let read = read_block(&port.exec.vm, bound, lines, block, &mut data[..bytes]);
    target::observe(port, false, false);
    payload.moved(port, false, read.map(|()| bytes as u64))?;
    Ok(data)
}

/// Media Block Read through the data cache or the sampler cache.
pub(super) fn read(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1rMb::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "a media block read");
    let header = MhMb::unpack_lossy(&registers.dwords(payload.required(port)?));
    let control = header.normal_media_block_message_control;
    let block = Block {
        x: header.x_offset.get(),
        y: header.y_offset.get(),
        width: control.block_width.get() as u32,
        height: control.block_height.get() as u32,
    };
    fits(port, &payload, &block)?;
    // Merged reads start at an offset in the registers and leave gaps between their rows for the
    // rows of other blocks (assumptions::REGISTER_PITCH_DOUBLES).
    let (start, doublings) =
        (control.sub_register_offset.get(), control.register_pitch_control.get());
    let (start, pitch) = (start as usize, block.pitch() << doublings);
    let merged = start != 0 || doublings != 0;
    let end = start + pitch * (block.height as usize - 1) + block.pitch();
    if end > MOST {
        let why = format!("{} whose response needs more than 16 registers", payload.name);
        return Err(port.illegal(why, message));
    }
    payload.at_least(port, 0, end.div_ceil(REGISTER))?;
    let image = image(
        port,
        &payload,
        descriptor.binding_table_index.get(),
        descriptor.vertical_line_stride_override,
    )?;
    let Some(answer) = payload.answer() else { return Ok(()) };
    let data = fetch(port, &payload, &image, &block)?;
    let width =
        if merged || !MEDIA_BLOCK_GAPS_READ_ZERO { block.width as usize } else { block.pitch() };
    for (row, data) in data[..block.bytes()].chunks(block.pitch()).enumerate() {
        let at = answer + start + row * pitch;
        registers.grf_mut()[at..at + width].copy_from_slice(&data[..width]);
    }
    Ok(())
}

/// Media Transpose Read: returns columns of dwords one after the other
/// (assumptions::TRANSPOSED_COLUMNS_ARE_ADJACENT).
pub(super) fn transpose(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1rTt::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "a media transpose read");
    let header = MhT::unpack_lossy(&registers.dwords(payload.required(port)?));
    let (dwords, rows) = (
        header.block_dimensions.block_width.get() as usize,
        header.block_dimensions.block_height.get() as usize,
    );
    let block = Block {
        x: header.x_offset.get(),
        y: header.y_offset.get(),
        width: 4 * dwords as u32,
        height: rows as u32,
    };
    if block.x % i64::from(block.width) != 0 || block.y % rows as i64 != 0 {
        let why = format!(
            "{} of {dwords} x {rows} dwords at x = {}, y = {}: both must be multiples of the block's size",
            payload.name, block.x, block.y
        );
        return Err(port.illegal(why, message));
    }
    payload.at_least(port, 0, block.bytes().div_ceil(REGISTER))?;
    let index = descriptor.binding_table_index.get();
    let image = image(port, &payload, index, MdcVlso::new())?;
    let Some(answer) = payload.answer() else { return Ok(()) };
    let data = fetch(port, &payload, &image, &block)?;
    for (n, dword) in data[..block.bytes()].chunks_exact(4).enumerate() {
        let at = answer + 4 * (n % dwords * rows + n / dwords);
        registers.grf_mut()[at..at + 4].copy_from_slice(dword);
    }
    Ok(())
}
