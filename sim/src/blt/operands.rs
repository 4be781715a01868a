//! Makes operands from packets. Macros read fields that have the same name in several packets;
//! functions interpret the values.

use super::bitmap::{Bits, Packing};
use super::depth::Depth;
use super::operation::{Operation, Rectangle, Source};
use super::pattern::{Expansion, Pattern};
use super::plane::PlaneFields;
use super::rop::Rop;
use super::setup_state::SetupState;
use crate::assumptions::SOLID_PATTERN_IS_TRANSPARENT;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::core::{Entries, U};
use genxml::gen8::registers::BcsSwctrl;

macro_rules! present {
    (none) => {
        false
    };
    ($operand:ident) => {
        true
    };
}

/// The rectangle of a packet.
macro_rules! rectangle {
    ($packet:expr) => {
        Rectangle {
            left: $packet.destination_x1_coordinate_left.get(),
            top: $packet.destination_y1_coordinate_top.get(),
            right: $packet.destination_x2_coordinate_right.get(),
            bottom: $packet.destination_y2_coordinate_bottom.get(),
        }
    };
}

macro_rules! source {
    (none, $exec:expr, $packet:expr, $operation:expr) => {
        Source::None
    };
    (color, $exec:expr, $packet:expr, $operation:expr) => {
        Source::Color {
            plane: source_plane(
                $exec,
                $packet.src_tiling_enable,
                $packet.source_base_address.va48(),
                $packet.source_pitch.get(),
            )
            .resolve($exec)?,
            x: $packet.source_x1_coordinate_left.get(),
            y: $packet.source_y1_coordinate_top.get(),
        }
    };
    (mono, $exec:expr, $packet:expr, $operation:expr) => {{
        let address = $packet.source_address_mono.va48();
        if address % 64 != 0 {
            let why = "the address of a monochrome source must be a multiple of 64";
            return Err($exec.bad_field("Source Address (mono)", address, why));
        }
        bitmap!($packet, Bits::Memory(address))
    }};
    (immediate, $exec:expr, $packet:expr, $operation:expr) => {{
        let source = bitmap!($packet, Bits::Immediate(Vec::new()));
        with_immediate_data($exec, source, $packet.immediate_data, $operation)?
    }};
}

macro_rules! bitmap {
    ($packet:expr, $bits:expr) => {
        Source::Mono(Bitmap {
            bits: $bits,
            start: $packet.monochrome_source_start.get() as u8,
            packing: if WORD_ALIGNMENT_IS_FOR_ALL_BUT_TEXT {
                Packing::Word
            } else {
                packing($packet.bit_byte_packed.bits())
            },
            expansion: Expansion {
                background: $packet.source_background_color.get() as u32,
                foreground: $packet.source_foreground_color.get() as u32,
                transparent: $packet.monochrome_source_transparency_mode,
            },
        })
    };
}

macro_rules! pattern {
    (none, $exec:expr, $packet:expr, $operation:expr) => {
        None
    };
    (solid, $exec:expr, $packet:expr, $operation:expr) => {
        Some(Pattern::solid($packet.solid_pattern_color.get() as u32))
    };
    (color, $exec:expr, $packet:expr, $operation:expr) => {
        pattern_in_memory($exec, $packet.pattern_base_address.va48(), $operation, seeds!($packet))?
    };
    (immediate, $exec:expr, $packet:expr, $operation:expr) => {
        immediate_pattern($exec, $packet.immediate_pattern_data, $operation, seeds!($packet))?
    };
    (mono, $exec:expr, $packet:expr, $operation:expr) => {
        Some(mono_pattern(
            [$packet.pattern_data_0, $packet.pattern_data_1],
            $packet.solid_pattern_select,
            Expansion {
                background: $packet.pattern_background_color.get() as u32,
                foreground: $packet.pattern_foreground_color.get() as u32,
                transparent: $packet.monochrome_pattern_transparency_mode,
            },
            seeds!($packet),
        ))
    };
}

/// Column and row of the pattern at destination coordinates (0, 0).
macro_rules! seeds {
    ($packet:expr) => {
        [$packet.pattern_horizontal_seed.get() as u8, $packet.pattern_vertical_seed.get() as u8]
    };
}

macro_rules! key {
    (none, $packet:expr, $depth:expr) => {
        None
    };
    (range, $packet:expr, $depth:expr) => {
        Key::new(
            $packet.transparency_range_mode,
            $packet.transparency_color_low.get() as u32,
            $packet.transparency_color_high.get() as u32,
            $depth,
        )
    };
}

/// The rectangle of a command that specifies its size as a number of bytes and rows.
pub(super) fn byte_rectangle(
    exec: &Exec<'_>,
    depth: Depth,
    bytes: u64,
    rows: u64,
    clipped: bool,
) -> Result<Rectangle, Fault> {
    let size = depth.bytes() as u64;
    if !bytes.is_multiple_of(size) {
        let why = format!("a row must consist of whole pixels of {size} bytes");
        return Err(exec.bad_field("Destination Byte Width", bytes, why));
    }
    if clipped {
        let why = "the command cannot be clipped: it has no coordinates";
        return Err(exec.bad_field("Clipping Enable", 1, why));
    }
    Ok(Rectangle { left: 0, top: 0, right: (bytes / size) as i64, bottom: rows as i64 })
}

/// The fields of a packet's destination.
pub(super) fn destination(exec: &Exec<'_>, tiled: bool, base: u64, pitch: i64) -> PlaneFields {
    let names = ["Destination Base Address", "Destination Pitch"];
    PlaneFields { tiled, y_major: tiling(exec).tile_y_destination, base, pitch, names }
}

/// The fields of a packet's colour source.
pub(super) fn source_plane(exec: &Exec<'_>, tiled: bool, base: u64, pitch: i64) -> PlaneFields {
    let names = ["Source Base Address", "Source Pitch"];
    PlaneFields { tiled, y_major: tiling(exec).tile_y_source, base, pitch, names }
}

/// The register BCS_SWCTRL, which says whether tiled surfaces are X-major or Y-major.
fn tiling(exec: &Exec<'_>) -> BcsSwctrl {
    BcsSwctrl::unpack_lossy(&[exec.state.registers.read(BcsSwctrl::OFFSET)])
}

/// The clip rectangle that a setup packet set; `None` if the packet does not enable clipping.
pub(super) fn clip(exec: &Exec<'_>, enabled: bool) -> Result<Option<Rectangle>, Fault> {
    let clip = exec.state.slots.with(|state: &SetupState| state.clip);
    if enabled && clip.is_none() {
        let why = "no setup packet, such as XY_SETUP_CLIP_BLT, has set a clip rectangle";
        return Err(exec.bad_field("Clipping Enable", 1, why));
    }
    Ok(clip.filter(|_| enabled))
}

/// Refuses a raster operation that needs an operand that the packet does not have.
pub(super) fn check_operands(
    exec: &Exec<'_>,
    rop: Rop,
    source: bool,
    pattern: bool,
) -> Result<(), Fault> {
    let lacks = |operand| {
        let why =
            format!("the operation needs a {operand}, which {} does not have", exec.at.packet);
        Err(exec.bad_field("Raster Operation", rop.code().into(), why))
    };
    match (rop.uses_source() && !source, rop.uses_pattern() && !pattern) {
        (true, _) => lacks("source"),
        (_, true) => lacks("pattern"),
        _ => Ok(()),
    }
}

/// Decodes the field Bit/Byte Packed.
pub(super) fn packing(field: u64) -> Packing {
    if field == 0 { Packing::Bit } else { Packing::Byte }
}

/// Reads a colour pattern from memory. The pattern must start at a multiple of its size (BR15, 2d
/// p.60). If the operation does not depend on the pattern, returns `None` without reading memory.
pub(super) fn pattern_in_memory(
    exec: &mut Exec<'_>,
    address: u64,
    operation: &Operation,
    seeds: [u8; 2],
) -> Result<Option<Pattern>, Fault> {
    if !operation.rop.uses_pattern() && operation.key.is_none() {
        return Ok(None);
    }
    let mut bytes = vec![0; Pattern::color_bytes(operation.depth)];
    if !address.is_multiple_of(bytes.len() as u64) {
        let why =
            format!("the address of the pattern must be a multiple of its {} bytes", bytes.len());
        return Err(exec.bad_field("Pattern Base Address", address, why));
    }
    exec.vm.read(address, &mut bytes).map_err(|fault| exec.page(fault, "pattern"))?;
    exec.stats.bytes_read += bytes.len() as u64;
    Ok(Some(Pattern::color(&bytes, operation.depth, seeds)))
}

/// A colour pattern from the command's immediate data.
pub(super) fn immediate_pattern(
    exec: &Exec<'_>,
    data: Entries<'_, U<32>>,
    operation: &Operation,
    seeds: [u8; 2],
) -> Result<Option<Pattern>, Fault> {
    let needed = Pattern::color_bytes(operation.depth);
    let bytes = immediate(exec, "Immediate Pattern Data", data, needed as u64)?;
    Ok(Some(Pattern::color(&bytes, operation.depth, seeds)))
}

/// A monochrome pattern. If it is `solid`, all its bits count as 0 (BR13, 2d p.56).
pub(super) fn mono_pattern(
    data: [U<32>; 2],
    solid: bool,
    expansion: Expansion,
    seeds: [u8; 2],
) -> Pattern {
    if solid && !(SOLID_PATTERN_IS_TRANSPARENT && expansion.transparent) {
        return Pattern::solid(expansion.background);
    }
    let bits = if solid { 0 } else { data[0].get() | data[1].get() << 32 };
    Pattern::mono(bits.to_le_bytes(), expansion, seeds)
}

/// Returns a monochrome `source` with the command's immediate data as its bits, and any other
/// source unchanged.
pub(super) fn with_immediate_data(
    exec: &Exec<'_>,
    source: Source,
    data: Entries<'_, U<32>>,
    operation: &Operation,
) -> Result<Source, Fault> {
    let Source::Mono(mut bitmap) = source else { return Ok(source) };
    let (width, height) = (operation.rectangle.width() as u64, operation.rectangle.height() as u64);
    let needed = bitmap.bytes(width, height);
    bitmap.bits = Bits::Immediate(immediate(exec, "Immediate Data", data, needed)?);
    Ok(Source::Mono(bitmap))
}

/// The immediate data of a command, which needs `bytes` bytes. Any other number of qwords is
/// refused, because hardware hangs if there are fewer or more (BR14, 2d p.59).
fn immediate(
    exec: &Exec<'_>,
    field: &'static str,
    data: Entries<'_, U<32>>,
    bytes: u64,
) -> Result<Vec<u8>, Fault> {
    let needed = bytes.div_ceil(8) * 2;
    if data.len() as u64 != needed {
        let why = format!("the packet has this many dwords of data, but needs {needed}");
        return Err(exec.bad_field(field, data.len() as u64, why));
    }
    Ok(data.iter().flat_map(|dword| (dword.get() as u32).to_le_bytes()).collect())
}
