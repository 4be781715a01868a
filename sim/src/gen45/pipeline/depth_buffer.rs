//! The depth buffer: its elements, which hold depth and stencil, and where they lie (gen45_facts
//! 3).

use crate::gen45::state::latched;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::render::depth::{DepthFormat, Plane};
use crate::surface::{BadSurface, Dimension, Layout, Level, Surface, SurfaceKind, TileMode};
use genxml::gen45::commands_3d::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as Stored,
};
use genxml::gen45::enums::{SurfaceType, TileWalk};

/// Pixels of a quad.
pub const QUAD: usize = 4;
/// Rows between slices besides the heights of levels 0 and 1, in units of the vertical alignment
/// (gen45_facts 3).
const SLICE_GAP: u32 = 11;
/// Alignment of levels, across and down (gen45_facts 3).
const ALIGN: [u32; 2] = [4, 2];

/// Formats of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// A float.
    #[default]
    Float,
    /// A float, and stencil in the low byte of a second dword.
    FloatStencil,
    /// 24 bits in equal steps from 0 to 1.
    Unorm24,
    /// The same, and stencil in the upper byte.
    Unorm24Stencil,
    /// 16 bits in equal steps from 0 to 1.
    Unorm16,
}

impl Format {
    /// The format of a depth buffer; `None` for a reserved value.
    pub fn of(stored: Stored) -> Option<Format> {
        Some(match stored {
            Stored::D32_FLOAT => Format::Float,
            Stored::D32_FLOAT_S8X24_UINT => Format::FloatStencil,
            Stored::D24_UNORM_X8_UINT => Format::Unorm24,
            Stored::D24_UNORM_S8_UINT => Format::Unorm24Stencil,
            Stored::D16_UNORM => Format::Unorm16,
            _ => return None,
        })
    }

    const fn bytes(self) -> usize {
        match self {
            Format::FloatStencil => 8,
            Format::Unorm16 => 2,
            _ => 4,
        }
    }

    /// True if elements hold a stencil value.
    pub const fn has_stencil(self) -> bool {
        matches!(self, Format::FloatStencil | Format::Unorm24Stencil)
    }

    /// Position of the byte in an element that holds the stencil value, if there is one.
    pub const fn stencil_byte(self) -> Option<usize> {
        match self {
            Format::FloatStencil => Some(4),
            Format::Unorm24Stencil => Some(3),
            _ => None,
        }
    }

    /// The format of the depth value in an element.
    pub const fn depth(self) -> DepthFormat {
        match self {
            Format::Float | Format::FloatStencil => DepthFormat::Float32,
            Format::Unorm24 | Format::Unorm24Stencil => DepthFormat::Unorm24,
            Format::Unorm16 => DepthFormat::Unorm16,
        }
    }

    /// Depth and stencil of an element; 0 if it has no stencil.
    #[inline(always)]
    pub fn read(self, bytes: [u8; 8]) -> (u32, u8) {
        let [low, high] = bytemuck::must_cast::<_, [u32; 2]>(bytes);
        match self {
            Format::Float => (low, 0),
            Format::FloatStencil => (low, high as u8),
            Format::Unorm24 => (low & 0xff_ffff, 0),
            Format::Unorm24Stencil => (low & 0xff_ffff, bytes[3]),
            Format::Unorm16 => (low & 0xffff, 0),
        }
    }

    /// Replaces depth or stencil of an element.
    #[inline(always)]
    pub fn write(self, bytes: &mut [u8; 8], depth: Option<u32>, stencil: Option<u8>) {
        if let Some(depth) = depth {
            let depth = depth.to_le_bytes();
            match self {
                Format::Float | Format::FloatStencil => bytes[..4].copy_from_slice(&depth),
                Format::Unorm24Stencil => bytes[..3].copy_from_slice(&depth[..3]),
                // The padding becomes 0.
                Format::Unorm24 => bytes[..4].copy_from_slice(&depth),
                Format::Unorm16 => bytes[..2].copy_from_slice(&depth[..2]),
            }
        }
        if let Some(stencil) = stencil {
            match self {
                Format::FloatStencil => bytes[4] = stencil,
                Format::Unorm24Stencil => bytes[3] = stencil,
                _ => {}
            }
        }
    }
}

/// A quad of 2 x 2 pixels: upper left, upper right, lower left, lower right.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Quad {
    /// Column of the upper left pixel; even.
    pub x: u32,
    /// Row of the upper left pixel; even.
    pub y: u32,
    /// The primitive faces backward.
    pub back: bool,
    /// Depths of the pixels.
    pub z: [f32; QUAD],
}

/// The depth buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Buffer {
    surface: Surface,
    level: Level,
    slice: u32,
    /// Format of its elements.
    pub format: Format,
}

impl Buffer {
    /// The level and the slice that draws use.
    pub fn plane(&self) -> Plane {
        let surface = Surface { first_slice: self.slice, ..self.surface };
        Plane { surface, level: self.level, slices: 1 }
    }

    /// Address of the left pixel of row `row` of a quad. The right one is next to it.
    #[inline(always)]
    fn address(&self, quad: &Quad, row: u32) -> u64 {
        let (left, top) = self.surface.origin(&self.level, self.slice, 0);
        let bytes = self.format.bytes() as i64;
        self.surface.address(left + i64::from(quad.x) * bytes, top + i64::from(quad.y + row))
    }

    /// The elements of the quad whose pixels are in `lanes`.
    ///
    /// # Errors
    /// A page fault.
    pub fn read(&self, vm: &Vm<'_>, quad: &Quad, lanes: u8) -> Result<[[u8; 8]; QUAD], PageFault> {
        let mut elements = [[0; 8]; QUAD];
        let bytes = self.format.bytes();
        for row in 0..2 {
            if lanes >> (2 * row) & 3 == 0 {
                continue;
            }
            let mut pair = [0; 16];
            vm.read(self.address(quad, row as u32), &mut pair[..2 * bytes])?;
            for column in 0..2 {
                let from = &pair[column * bytes..(column + 1) * bytes];
                elements[2 * row + column][..bytes].copy_from_slice(from);
            }
        }
        Ok(elements)
    }

    /// Writes the elements of the pixels in `lanes`.
    ///
    /// # Errors
    /// A page fault.
    pub fn write(
        &self,
        vm: &mut Vm<'_>,
        quad: &Quad,
        elements: &[[u8; 8]; QUAD],
        lanes: u8,
    ) -> Result<(), PageFault> {
        let bytes = self.format.bytes();
        for n in (0..QUAD).filter(|n| lanes >> n & 1 == 1) {
            let at = self.address(quad, (n / 2) as u32) + (n % 2 * bytes) as u64;
            vm.write(at, &elements[n][..bytes])?;
        }
        Ok(())
    }

    /// The pixels of `lanes` that lie inside the buffer.
    pub fn inside(&self, quad: &Quad, lanes: u8) -> u8 {
        let column = |x: u32| if x < self.level.width { 0b0101 } else { 0 };
        let row = |y: u32| if y < self.level.height { 0b0011 } else { 0 };
        lanes & (column(quad.x) | column(quad.x + 1) << 1) & (row(quad.y) | row(quad.y + 1) << 2)
    }
}

/// The buffer of the newest 3DSTATE_DEPTH_BUFFER; none if its type is null.
///
/// # Errors
/// [`Fault::BadPacket`] for buffers that cannot be used; [`Fault::Unimplemented`] for cubes.
pub fn buffer(exec: &Exec<'_>) -> Result<Option<Buffer>, Fault> {
    let packet: ThreeDStateDepthBuffer = latched(exec);
    if packet.surface_type == SurfaceType::SURFTYPE_CUBE {
        return Err(exec.unimplemented("depth buffers of type SURFTYPE_CUBE", "gen45_facts 3"));
    }
    resolve(&packet).map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))
}

/// The buffer of a 3DSTATE_DEPTH_BUFFER; none if its type is null.
///
/// # Errors
/// [`BadSurface`] for buffers that cannot be used.
pub fn resolve(packet: &ThreeDStateDepthBuffer) -> Result<Option<Buffer>, BadSurface> {
    let wrong = |field, value, why| Err(BadSurface { field, value, why });
    let dimension = match packet.surface_type {
        SurfaceType::SURFTYPE_NULL => return Ok(None),
        SurfaceType::SURFTYPE_1D => Dimension::One,
        SurfaceType::SURFTYPE_2D => Dimension::Two,
        SurfaceType::SURFTYPE_3D => Dimension::Three,
        // Faces would be stored like the slices of a volume that does not shrink.
        other => return wrong("Surface Type", other.bits(), "no depth buffer has this type"),
    };
    let Some(format) = Format::of(packet.surface_format) else {
        let why = "no depth buffer has this format";
        return wrong("Surface Format", packet.surface_format.bits(), why);
    };
    let tile_mode = match (packet.tiled_surface, packet.tile_walk) {
        (false, _) => TileMode::Linear,
        (true, TileWalk::TILEWALK_YMAJOR) => TileMode::Y,
        (true, walk) => {
            let why = "a tiled depth buffer has Y tiles";
            return wrong("Tile Walk", walk.bits(), why);
        }
    };
    let pitch = packet.surface_pitch.get() as u32;
    if !pitch.is_multiple_of(tile_mode.width()) {
        let why = "the pitch of a tiled buffer is a multiple of the tile's width";
        return wrong("Surface Pitch", pitch.into(), why);
    }
    let base = packet.surface_base_address.get();
    if tile_mode != TileMode::Linear && !base.is_multiple_of(4096) {
        let why = "a tiled buffer is 4 KiB aligned";
        return wrong("Surface Base Address", base, why);
    }
    let offsets = match packet.depth_buffer_coordinate_offset_disable {
        true => [0, 0],
        false => [packet.depth_coordinate_offset_x.get(), packet.depth_coordinate_offset_y.get()],
    };
    if let Some(offset) = offsets.iter().find(|offset| **offset < 0 || **offset % 2 != 0) {
        let why = "offsets in a tile are even and not negative";
        return wrong("Depth Coordinate Offset", *offset as u64, why);
    }
    let [x_offset, top] = offsets.map(|offset| offset as u32);
    let lod = packet.lod.get() as u32;
    if lod > 14 {
        return wrong("LOD", lod.into(), "levels are 0 to 14");
    }
    let volume = dimension == Dimension::Three;
    let depth = packet.depth.get() as u32;
    let mut layout = Layout {
        dimension,
        width: packet.width.get() as u32,
        height: packet.height.get() as u32,
        depth: if volume { depth } else { 1 },
        align: ALIGN,
        ..Layout::default()
    };
    if !volume {
        let height = |level: u32| layout.level(level).height.next_multiple_of(ALIGN[1]);
        layout.qpitch = height(0) + height(1) + SLICE_GAP * ALIGN[1];
    }
    let level = layout.level(lod);
    let bytes = format.bytes() as u32;
    Ok(Some(Buffer {
        surface: Surface {
            kind: SurfaceKind::Image,
            base,
            width: layout.width,
            height: layout.height,
            pitch,
            tile_mode,
            element_bytes: bytes,
            x_offset,
            left: x_offset * bytes,
            top,
            layout,
            ..Surface::default()
        },
        level,
        slice: packet.minimum_array_element.get() as u32,
        format,
    }))
}
