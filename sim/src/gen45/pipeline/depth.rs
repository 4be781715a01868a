//! Depth and stencil, which one buffer holds (gen45_facts 3, 11).

use super::common::{general, latched};
use crate::assumptions::PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::render::compare::Compare;
use crate::render::stencil::{Face, Outcome};
use crate::surface::format::convert;
use crate::surface::{Dimension, Layout, Level, Surface, SurfaceKind, TileMode};
use genxml::gen8::enums as gen8;
use genxml::gen45::commands_3d::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as Stored,
};
use genxml::gen45::enums::{
    SurfaceType, ThreeDCompareFunction as Function, ThreeDStencilOperation as Operation, TileWalk,
};
use genxml::gen45::state_units::{CcViewport, ColorCalcState};

/// Pixels of a quad.
const QUAD: usize = 4;
/// Rows between slices besides the heights of levels 0 and 1, in units of the vertical alignment
/// (gen45_facts 3).
const SLICE_GAP: u32 = 11;
/// Alignment of levels, across and down (gen45_facts 3).
const ALIGN: [u32; 2] = [4, 2];

/// Formats of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Format {
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
    fn of(stored: Stored) -> Option<Format> {
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

    const fn has_stencil(self) -> bool {
        matches!(self, Format::FloatStencil | Format::Unorm24Stencil)
    }

    const fn is_float(self) -> bool {
        matches!(self, Format::Float | Format::FloatStencil)
    }

    /// The value that is stored for a depth.
    #[inline(always)]
    fn encode(self, z: f32) -> u32 {
        match self {
            Format::Float | Format::FloatStencil => z.to_bits(),
            Format::Unorm24 | Format::Unorm24Stencil => convert::to_unorm(z, 24) as u32,
            Format::Unorm16 => convert::to_unorm(z, 16) as u32,
        }
    }

    #[inline(always)]
    fn compare(self, function: Compare, new: u32, old: u32) -> bool {
        match self.is_float() {
            true => function.floats(f32::from_bits(new), f32::from_bits(old)),
            false => function.integers(new, old),
        }
    }

    /// Bytes to depth and stencil.
    #[inline(always)]
    fn read(self, bytes: [u8; 8]) -> (u32, u8) {
        let [low, high] = bytemuck::must_cast::<_, [u32; 2]>(bytes);
        match self {
            Format::Float => (low, 0),
            Format::FloatStencil => (low, high as u8),
            Format::Unorm24 => (low & 0xff_ffff, 0),
            Format::Unorm24Stencil => (low & 0xff_ffff, bytes[3]),
            Format::Unorm16 => (low & 0xffff, 0),
        }
    }

    /// Replaces depth or stencil in bytes.
    #[inline(always)]
    fn write(self, bytes: &mut [u8; 8], depth: Option<u32>, stencil: Option<u8>) {
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
struct Buffer {
    surface: Surface,
    level: Level,
    slice: u32,
    format: Format,
}

impl Buffer {
    /// Address of the left pixel of row `row` of a quad. The right one is next to it.
    #[inline(always)]
    fn address(&self, quad: &Quad, row: u32) -> u64 {
        let (left, top) = self.surface.origin(&self.level, self.slice, 0);
        let bytes = self.format.bytes() as i64;
        self.surface.address(left + i64::from(quad.x) * bytes, top + i64::from(quad.y + row))
    }

    /// The elements of the quad whose pixels are in `lanes`.
    fn read(&self, vm: &Vm<'_>, quad: &Quad, lanes: u8) -> Result<[[u8; 8]; QUAD], PageFault> {
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
    fn write(
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
    fn inside(&self, quad: &Quad, lanes: u8) -> u8 {
        let column = |x: u32| if x < self.level.width { 0b0101 } else { 0 };
        let row = |y: u32| if y < self.level.height { 0b0011 } else { 0 };
        lanes & (column(quad.x) | column(quad.x + 1) << 1) & (row(quad.y) | row(quad.y + 1) << 2)
    }
}

/// Depth and stencil state of a draw.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepthStencil {
    buffer: Option<Buffer>,
    /// The depth test, if there is one.
    function: Option<Compare>,
    /// Depths that pass are written.
    pub depth_write: bool,
    /// The stencil tests of front and back faces.
    faces: Option<[Face; 2]>,
    /// The stencil buffer may be written.
    pub stencil_write: bool,
    /// Least and greatest depth.
    range: [f32; 2],
}

impl DepthStencil {
    /// Resolves the state.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for depth buffers that cannot be used; a page fault at the viewport.
    pub fn resolve(exec: &Exec<'_>, state: &ColorCalcState) -> Result<DepthStencil, Fault> {
        let mut depth = DepthStencil::default();
        let tests = state.depth_test_enable || state.depth_buffer_write_enable;
        if !tests && !state.stencil_test_enable {
            return Ok(depth);
        }
        let Some(buffer) = buffer(exec)? else { return Ok(depth) };
        let viewport: CcViewport = general(exec, state.cc_viewport_state_pointer.get())?;
        depth.range = [viewport.minimum_depth, viewport.maximum_depth];
        depth.function = state.depth_test_enable.then(|| compare(state.depth_test_function));
        depth.depth_write = state.depth_buffer_write_enable;
        if state.stencil_test_enable && buffer.format.has_stencil() {
            let front = Face {
                function: compare(state.stencil_test_function),
                operations: [
                    state.stencil_fail_op,
                    state.stencil_pass_depth_fail_op,
                    state.stencil_pass_depth_pass_op,
                ]
                .map(operation),
                test_mask: state.stencil_test_mask.get() as u8,
                write_mask: state.stencil_write_mask.get() as u8,
                reference: state.stencil_reference_value.get() as u8,
            };
            let back = Face {
                function: compare(state.backface_stencil_test_function),
                operations: [
                    state.backface_stencil_fail_op,
                    state.backface_stencil_pass_depth_fail_op,
                    state.backface_stencil_pass_depth_pass_op,
                ]
                .map(operation),
                test_mask: state.backface_stencil_test_mask.get() as u8,
                write_mask: state.backface_stencil_write_mask.get() as u8,
                reference: state.backface_stencil_reference_value.get() as u8,
            };
            let faces = [front, if state.double_sided_stencil_enable { back } else { front }];
            depth.stencil_write =
                state.stencil_buffer_write_enable && faces.iter().any(Face::writes);
            depth.faces = Some(faces);
        }
        depth.buffer = Some(buffer);
        Ok(depth)
    }

    /// True if no pixel can fail and nothing is written.
    pub fn is_idle(&self) -> bool {
        self.faces.is_none()
            && !self.depth_write
            && matches!(self.function, None | Some(Compare::ALWAYS))
    }

    /// Tests the pixels `lanes` of a quad, a bit each, and returns those that pass. With `write`,
    /// depth and stencil are written.
    ///
    /// # Errors
    /// A page fault of the buffer.
    pub fn test(
        &self,
        exec: &mut Exec<'_>,
        quad: &Quad,
        lanes: u8,
        write: bool,
    ) -> Result<u8, Fault> {
        let Some(buffer) = self.buffer.as_ref().filter(|_| lanes != 0 && !self.is_idle()) else {
            return Ok(lanes);
        };
        self.pixels(&mut exec.vm, buffer, quad, lanes, write)
            .map_err(|fault| exec.page(fault, "depth and stencil of a quad"))
    }

    fn pixels(
        &self,
        vm: &mut Vm<'_>,
        buffer: &Buffer,
        quad: &Quad,
        lanes: u8,
        write: bool,
    ) -> Result<u8, PageFault> {
        let format = buffer.format;
        let inside = buffer.inside(quad, lanes);
        let outside = if PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS { lanes & !inside } else { 0 };
        let mut elements = buffer.read(vm, quad, inside)?;
        let face = self.faces.as_ref().map(|faces| &faces[usize::from(quad.back)]);
        let function = self.function.unwrap_or(Compare::ALWAYS);
        let [least, greatest] = self.range;
        let (mut passed, mut changed) = (0, 0);
        for n in (0..QUAD).filter(|n| inside >> n & 1 == 1) {
            let before = elements[n];
            let (depth, stencil) = format.read(before);
            // NaN becomes the least depth.
            let new = format.encode(quad.z[n].max(least).min(greatest));
            let outcome = match face {
                Some(face) if !face.passes(stencil) => Outcome::Failed,
                _ if !format.compare(function, new, depth) => Outcome::DepthFailed,
                _ => Outcome::Passed,
            };
            let depth = (outcome == Outcome::Passed && self.depth_write).then_some(new);
            let stencil =
                face.filter(|_| self.stencil_write).map(|face| face.update(stencil, outcome));
            format.write(&mut elements[n], depth, stencil);
            passed |= u8::from(outcome == Outcome::Passed) << n;
            changed |= u8::from(elements[n] != before) << n;
        }
        if write {
            buffer.write(vm, quad, &elements, changed)?;
        }
        Ok(passed | outside)
    }

    /// Depth as it is stored, and stencil, of the pixels of a quad; 0 outside the buffer. For
    /// payloads.
    ///
    /// # Errors
    /// A page fault of the buffer.
    pub fn stored(&self, exec: &Exec<'_>, quad: &Quad) -> Result<([u32; QUAD], [u8; QUAD]), Fault> {
        let Some(buffer) = &self.buffer else { return Ok(Default::default()) };
        let elements = buffer
            .read(&exec.vm, quad, buffer.inside(quad, 0xf))
            .map_err(|fault| exec.page(fault, "depth and stencil of a quad"))?;
        let both = elements.map(|element| buffer.format.read(element));
        Ok((both.map(|(depth, _)| depth), both.map(|(_, stencil)| stencil)))
    }
}

/// The comparison that a field selects. The codes are those of Gen8.
pub fn compare(function: Function) -> Compare {
    Compare::of(gen8::ThreeDCompareFunction::from_bits(function.bits()))
}

/// The stencil operation that a field selects. The codes are those of Gen8.
fn operation(operation: Operation) -> gen8::ThreeDStencilOperation {
    gen8::ThreeDStencilOperation::from_bits(operation.bits())
}

/// The buffer of 3DSTATE_DEPTH_BUFFER; none if its type is null.
fn buffer(exec: &Exec<'_>) -> Result<Option<Buffer>, Fault> {
    let packet: ThreeDStateDepthBuffer = latched(exec);
    let dimension = match packet.surface_type {
        SurfaceType::SURFTYPE_NULL => return Ok(None),
        SurfaceType::SURFTYPE_1D => Dimension::One,
        SurfaceType::SURFTYPE_2D => Dimension::Two,
        SurfaceType::SURFTYPE_3D => Dimension::Three,
        // Faces are stored like the slices of a volume that does not shrink.
        SurfaceType::SURFTYPE_CUBE => {
            return Err(exec.unimplemented("depth buffers of type SURFTYPE_CUBE", "gen45_facts 3"));
        }
        other => {
            return Err(exec.bad_field(
                "Surface Type",
                other.bits(),
                "no depth buffer has this type",
            ));
        }
    };
    let Some(format) = Format::of(packet.surface_format) else {
        let why = "no depth buffer has this format";
        return Err(exec.bad_field("Surface Format", packet.surface_format.bits(), why));
    };
    let tile_mode = match (packet.tiled_surface, packet.tile_walk) {
        (false, _) => TileMode::Linear,
        (true, TileWalk::TILEWALK_YMAJOR) => TileMode::Y,
        (true, walk) => {
            let why = "a tiled depth buffer has Y tiles";
            return Err(exec.bad_field("Tile Walk", walk.bits(), why));
        }
    };
    let pitch = packet.surface_pitch.get() as u32;
    if !pitch.is_multiple_of(tile_mode.width()) {
        let why = "the pitch of a tiled buffer is a multiple of the tile's width";
        return Err(exec.bad_field("Surface Pitch", pitch.into(), why));
    }
    let base = packet.surface_base_address.get();
    if tile_mode != TileMode::Linear && !base.is_multiple_of(4096) {
        let why = "a tiled buffer is 4 KiB aligned";
        return Err(exec.bad_field("Surface Base Address", base, why));
    }
    let offsets = match packet.depth_buffer_coordinate_offset_disable {
        true => [0, 0],
        false => [packet.depth_coordinate_offset_x.get(), packet.depth_coordinate_offset_y.get()],
    };
    if let Some(offset) = offsets.iter().find(|offset| **offset < 0 || **offset % 2 != 0) {
        let why = "offsets in a tile are even and not negative";
        return Err(exec.bad_field("Depth Coordinate Offset", *offset as u64, why));
    }
    let [x_offset, top] = offsets.map(|offset| offset as u32);
    let lod = packet.lod.get() as u32;
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
