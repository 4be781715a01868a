//! Surface states of G45, resolved to the surfaces that all generations share (003:3042-3332;
//! layouts: digests/gen45_facts 3).

use crate::surface::format::Class;
use crate::surface::{BadSurface, Codec, Dimension, Layout, Surface, SurfaceKind, TileMode};
use genxml::gen8::state::{RenderSurfaceStateMediaBoundaryPixelMode as Boundary, SurfaceFormat};
use genxml::gen45::enums::{MipMapLayoutMode, SurfaceType, TileWalk};
use genxml::gen45::state_surface::{
    SurfaceState, SurfaceStateExtent, SurfaceStateMediaBoundaryPixelMode,
};

/// Alignment of levels of formats that are not compressed, in texels and rows. It cannot be
/// changed.
const ALIGN: [u32; 2] = [4, 2];
/// Rows between the two largest levels of a slice and the next slice, in units of the vertical
/// alignment.
const ROWS_AFTER_LEVELS: u32 = 11;
/// Number of faces of a cube map.
const FACES: u32 = 6;

fn wrong(field: &'static str, value: u64, why: &'static str) -> BadSurface {
    BadSurface { field, value, why }
}

/// Resolves a surface state.
///
/// # Errors
/// [`BadSurface`] names a field with an invalid value: a format or type that does not exist, a
/// buffer with tiles, a pitch or base that does not fit the tiles.
pub fn resolve(state: &SurfaceState) -> Result<Surface, BadSurface> {
    let bits = state.surface_format.bits();
    let format = SurfaceFormat::from_bits(bits);
    let null = state.surface_type == SurfaceType::SURFTYPE_NULL;
    let codec = Codec::of(format).filter(|_| state.surface_format.name().is_some());
    if null {
        return Ok(Surface { format, codec, ..Surface::default() });
    }
    let Some(own) = codec.map(Codec::format) else {
        return Err(wrong("Surface Format", bits, "the format does not exist"));
    };
    let element_bytes = own.bytes();
    let tile_mode = match (state.tiled_surface, state.tile_walk) {
        (false, _) => TileMode::Linear,
        (true, TileWalk::TILEWALK_YMAJOR) => TileMode::Y,
        (true, _) => TileMode::X,
    };
    let [x_offset, y_offset] = [state.x_offset.get() as u32, state.y_offset.get() as u32];
    if tile_mode == TileMode::Linear && (x_offset, y_offset) != (0, 0) {
        let offset = x_offset.max(y_offset).into();
        return Err(wrong("X Offset, Y Offset", offset, "a linear surface has no offset"));
    }
    let line_stride = state.vertical_line_stride.get() as u32;
    let surface = Surface {
        base: state.surface_base_address.get(),
        pitch: state.surface_pitch.get() as u32,
        tile_mode,
        element_bytes,
        format,
        codec,
        x_offset,
        left: x_offset * element_bytes,
        // With fields, the offset counts rows of a field (erratum 003:3332).
        top: y_offset << line_stride,
        line_stride,
        line_offset: line_stride & state.vertical_line_stride_offset.get() as u32,
        first_level: state.surface_min_lod.get() as u32,
        mip_count: state.mip_count_lod.get() as u32,
        ..Surface::default()
    };
    match state.extent {
        SurfaceStateExtent::Buffer { height, width, depth } => {
            if tile_mode != TileMode::Linear {
                return Err(wrong("Tiled Surface", 1, "a buffer cannot be tiled"));
            }
            if !matches!(own.class, Class::Channels | Class::Raw) {
                let why = "buffers cannot have compressed or YUV formats";
                return Err(wrong("Surface Format", bits, why));
            }
            // 7, 13 and 7 bits of the number of entries less one (003:3234-3245).
            let entries = width.get() & 0x7f | height.get() << 7 | (depth.get() & 0x7f) << 20;
            let kind = SurfaceKind::Buffer;
            Ok(Surface { kind, width: entries as u32 + 1, height: 1, ..surface })
        }
        SurfaceStateExtent::Image { height, width, depth } => {
            let extent = [width.get() as u32, height.get() as u32, depth.get() as u32];
            image(surface, state, own.block.map(u32::from), own.class == Class::Compressed, extent)
        }
    }
}

fn image(
    surface: Surface,
    state: &SurfaceState,
    block: [u32; 2],
    compressed: bool,
    [width, height, depth]: [u32; 3],
) -> Result<Surface, BadSurface> {
    let dimension = match state.surface_type {
        SurfaceType::SURFTYPE_1D => Dimension::One,
        SurfaceType::SURFTYPE_2D => Dimension::Two,
        SurfaceType::SURFTYPE_3D => Dimension::Three,
        SurfaceType::SURFTYPE_CUBE => Dimension::Cube,
        other => return Err(wrong("Surface Type", other.bits(), "the type does not exist")),
    };
    let array = matches!(dimension, Dimension::One | Dimension::Two) && depth > 1;
    if surface.line_stride != 0 && (dimension != Dimension::Two || array) {
        let why = "only two-dimensional surfaces that are not arrays can skip lines";
        return Err(wrong("Vertical Line Stride", 1, why));
    }
    let levels_right = state.mip_map_layout_mode == MipMapLayoutMode::MIPLAYOUT_RIGHT;
    if levels_right && (dimension != Dimension::Two || array) {
        let why = "only two-dimensional surfaces that are not arrays have levels on the right";
        return Err(wrong("MIP Map Layout Mode", 1, why));
    }
    if dimension == Dimension::Cube && depth > 1 {
        return Err(wrong("Depth", depth.into(), "arrays of cube maps are not supported"));
    }
    if surface.tile_mode != TileMode::Linear {
        if !surface.pitch.is_multiple_of(surface.tile_mode.pitch_unit()) {
            let why = "the pitch of a tiled surface must be a multiple of the tile's width";
            return Err(wrong("Surface Pitch", surface.pitch.into(), why));
        }
        if !surface.base.is_multiple_of(4096) {
            let why = "a tiled surface must be 4 KiB aligned";
            return Err(wrong("Surface Base Address", surface.base, why));
        }
    }
    let align = if compressed { [1, 1] } else { ALIGN };
    // The distance of two slices: both largest levels and some more rows, also if there is only one
    // level.
    let rows = |height: u32| height.div_ceil(block[1]).next_multiple_of(align[1]);
    let qpitch = rows(height) + rows((height / 2).max(1)) + ROWS_AFTER_LEVELS * align[1];
    let volume = dimension == Dimension::Three;
    let layout = Layout {
        dimension,
        width,
        height,
        depth: if volume { depth } else { 1 },
        block,
        align,
        qpitch: if array { qpitch } else { 0 },
        faces_in_levels: dimension == Dimension::Cube,
        levels_right,
        ..Layout::default()
    };
    Ok(Surface {
        kind: SurfaceKind::Image,
        width,
        height,
        layout,
        array,
        first_slice: state.minimum_array_element.get() as u32,
        slices: if dimension == Dimension::Cube { FACES } else { depth },
        view_extent: state.render_target_view_extent.get() as u32,
        ..surface
    })
}

/// How media block reads treat rows above and below the surface.
pub fn boundary(state: &SurfaceState) -> Boundary {
    match state.media_boundary_pixel_mode {
        SurfaceStateMediaBoundaryPixelMode::PROGRESSIVE_FRAME => Boundary::PROGRESSIVE_FRAME,
        SurfaceStateMediaBoundaryPixelMode::INTERLACED_FRAME => Boundary::INTERLACED_FRAME,
        _ => Boundary::NORMAL_MODE,
    }
}
