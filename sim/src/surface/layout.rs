//! A resolved surface: base, extent, pitch and order of bytes.

use crate::surface::{TileMode, format};
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateAuxiliary, RenderSurfaceStateExtent, RenderSurfaceStateView,
    SurfaceFormat, SurfaceType,
};

/// What a surface is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SurfaceKind {
    /// No memory: reads return 0, writes are dropped.
    #[default]
    Null,
    /// A row of elements.
    Buffer,
    /// One two-dimensional level.
    Image,
}

/// A two-dimensional surface or a buffer as data ports see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surface {
    /// What it is.
    pub kind: SurfaceKind,
    /// Graphics address of the first byte.
    pub base: u64,
    /// Elements in a row; elements of a buffer.
    pub width: u32,
    /// Rows; 1 for a buffer.
    pub height: u32,
    /// Bytes from a row to the next; bytes from an element to the next for a buffer.
    pub pitch: u32,
    /// Order of bytes.
    pub tile_mode: TileMode,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Format of an element.
    pub format: SurfaceFormat,
    /// Bytes from the left edge of the memory to the surface (X Offset).
    pub left: u32,
    /// Rows from the top of the memory to the surface (Y Offset).
    pub top: u32,
}

/// A surface state that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadSurface {
    /// The field of RENDER_SURFACE_STATE.
    pub field: &'static str,
    /// What it holds.
    pub value: u64,
    /// What is wrong with it.
    pub why: &'static str,
    /// True if hardware would know what to do.
    pub unimplemented: bool,
}

impl Surface {
    /// Follows a surface state, for accesses to its first level and slice.
    ///
    /// # Errors
    /// [`BadSurface`] names the field that asks for what is not possible, or not there yet: slices, levels and
    /// samples, auxiliary surfaces, interlaced access, formats of blocks.
    pub fn resolve(state: &RenderSurfaceState) -> Result<Surface, BadSurface> {
        let missing = |field, value, why| Err(BadSurface { field, value, why, unimplemented: true });
        let wrong = |field, value, why| Err(BadSurface { field, value, why, unimplemented: false });
        let format = state.surface_format;
        let null = state.surface_type == SurfaceType::SURFTYPE_NULL;
        let element_bytes = match format::bits(format) {
            Some(bits) if bits % 8 == 0 => bits / 8,
            _ if null => 1,
            _ => {
                return missing(
                    "Surface Format",
                    format.bits(),
                    "only elements of whole bytes are implemented",
                );
            }
        };
        let surface = Surface {
            kind: SurfaceKind::Null,
            base: state.surface_base_address.va48(),
            width: 0,
            height: 0,
            pitch: state.surface_pitch.get() as u32,
            tile_mode: tile_mode(state),
            element_bytes,
            format,
            left: state.x_offset.get() as u32 * element_bytes,
            top: state.y_offset.get() as u32,
        };
        if null {
            return Ok(surface);
        }
        let (width, height) = match state.extent {
            RenderSurfaceStateExtent::Buffer { height, width, depth } => {
                if surface.tile_mode != TileMode::Linear {
                    return wrong("Tile Mode", state.tile_mode.bits(), "a buffer cannot be tiled");
                }
                let entries = (width.get() | height.get() << 7 | depth.get() << 21) + 1;
                return Ok(Surface {
                    kind: SurfaceKind::Buffer,
                    width: entries as u32,
                    height: 1,
                    ..surface
                });
            }
            RenderSurfaceStateExtent::Image { height, width, depth } => {
                if depth.get() != 1 {
                    return missing("Depth", depth.get(), "only one slice is implemented");
                }
                (width.get() as u32, height.get() as u32)
            }
        };
        match state.surface_type {
            SurfaceType::SURFTYPE_1D | SurfaceType::SURFTYPE_2D => {}
            other => return missing("Surface Type", other.bits(), "only 1D, 2D and buffers are implemented"),
        }
        if let RenderSurfaceStateView::Image { minimum_array_element, number_of_multisamples, .. } =
            state.view
        {
            if minimum_array_element.get() != 0 {
                let value = minimum_array_element.get();
                return missing("Minimum Array Element", value, "only one slice is implemented");
            }
            if number_of_multisamples.bits() != 0 {
                let value = number_of_multisamples.bits();
                return missing("Number of Multisamples", value, "only one sample is implemented");
            }
        }
        if state.vertical_line_stride.get() != 0 {
            return missing("Vertical Line Stride", 1, "interlaced access is not implemented");
        }
        if let RenderSurfaceStateAuxiliary::Surface { auxiliary_surface_mode, .. } = state.auxiliary
            && auxiliary_surface_mode.bits() != 0
        {
            let value = auxiliary_surface_mode.bits();
            return missing("Auxiliary Surface Mode", value, "auxiliary surfaces are not implemented");
        }
        let unit = match surface.tile_mode {
            TileMode::Linear => 1,
            TileMode::X => 512,
            TileMode::Y | TileMode::W => 128,
        };
        if !surface.pitch.is_multiple_of(unit) {
            return wrong(
                "Surface Pitch",
                surface.pitch.into(),
                "a tiled surface's pitch is a multiple of its tile's width",
            );
        }
        if surface.tile_mode != TileMode::Linear && !surface.base.is_multiple_of(4096) {
            return wrong("Surface Base Address", surface.base, "a tiled surface is 4 KiB aligned");
        }
        Ok(Surface { kind: SurfaceKind::Image, width, height, ..surface })
    }

    /// Graphics address of byte `x` of row `y`; both may lie outside.
    #[inline(always)]
    pub fn address(&self, x: i64, y: i64) -> u64 {
        let (x, y) = (x + i64::from(self.left), y + i64::from(self.top));
        self.base.wrapping_add(self.tile_mode.offset(x, y, i64::from(self.pitch)) as u64)
    }

    /// Bytes in a row.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.element_bytes)
    }
}

fn tile_mode(state: &RenderSurfaceState) -> TileMode {
    use genxml::gen8::state::TileMode as Stored;
    match state.tile_mode {
        Stored::LINEAR => TileMode::Linear,
        Stored::XMAJOR => TileMode::X,
        Stored::YMAJOR => TileMode::Y,
        _ => TileMode::W,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, u};
    use genxml::core::{MinusOne, lit};
    use genxml::gen8::state::TileMode as Stored;

    fn image() -> RenderSurfaceState {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: SurfaceFormat::R8G8B8A8_UNORM,
            tile_mode: Stored::YMAJOR,
            surface_pitch: lit!(512),
            surface_base_address: at(0xffff_8000_0000_0000),
            extent: RenderSurfaceStateExtent::Image {
                height: lit!(64),
                width: lit!(100),
                depth: MinusOne::ONE,
            },
            ..RenderSurfaceState::new()
        }
    }

    #[test]
    fn images() {
        let surface = Surface::resolve(&image()).unwrap();
        assert_eq!((surface.kind, surface.tile_mode), (SurfaceKind::Image, TileMode::Y));
        assert_eq!((surface.width, surface.height, surface.pitch, surface.element_bytes), (100, 64, 512, 4));
        // Second row of tiles, second tile, third column of 16 bytes, row 1.
        assert_eq!(surface.address(128 + 33, 33), 0x8000_0000_0000 + 5 * 4096 + 2 * 512 + 16 + 1);
        let moved = RenderSurfaceState { x_offset: lit!(4), y_offset: lit!(8), ..image() };
        let moved = Surface::resolve(&moved).unwrap();
        assert_eq!(moved.address(0, 0), surface.address(16, 8));
    }

    #[test]
    fn buffers() {
        let buffer = RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_BUFFER,
            surface_format: SurfaceFormat::RAW,
            tile_mode: Stored::LINEAR,
            surface_pitch: lit!(1),
            extent: RenderSurfaceStateExtent::Buffer { height: u(0x3fff), width: u(0x7f), depth: u(1) },
            ..RenderSurfaceState::new()
        };
        let surface = Surface::resolve(&buffer).unwrap();
        assert_eq!((surface.kind, surface.width, surface.height), (SurfaceKind::Buffer, 0x40_0000, 1));
    }

    #[test]
    fn what_is_not_there_says_so() {
        let field = |state: RenderSurfaceState| Surface::resolve(&state).unwrap_err().field;
        let extent = RenderSurfaceStateExtent::Image { height: lit!(64), width: lit!(100), depth: lit!(2) };
        assert_eq!(field(RenderSurfaceState { extent, ..image() }), "Depth");
        assert_eq!(field(RenderSurfaceState { surface_pitch: lit!(500), ..image() }), "Surface Pitch");
        assert_eq!(
            field(RenderSurfaceState { surface_base_address: at(64), ..image() }),
            "Surface Base Address"
        );
        assert_eq!(
            field(RenderSurfaceState { surface_format: SurfaceFormat::BC1_UNORM, ..image() }),
            "Surface Format"
        );
        let null = RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_NULL, ..image() };
        assert_eq!(Surface::resolve(&null).unwrap().kind, SurfaceKind::Null);
    }
}
