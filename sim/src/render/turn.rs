//! Rotated render targets: Render Target And Sample Unorm Rotation of RENDER_SURFACE_STATE (2d
//! p.339).
//!
//! Width and Height are those of the picture before the rotation. An even width and height keep
//! quads of pixels together: a quad moves to another position, and its pixels change places.

use super::elements::{Elements, MOST_BYTES};
use crate::assumptions::RENDER_TARGETS_TURN_CLOCKWISE;
use crate::surface::{BadSurface, Dimension, Surface, TileMode};
use crate::unit::render_cache::SLOTS;
use genxml::gen8::state::{
    RenderSurfaceStateRenderTargetAndSampleUnormRotation as Rotation, SurfaceFormat,
};

/// A rotation by a quarter turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    clockwise: bool,
    /// Width of the picture before the rotation.
    width: u32,
    /// Height of the picture before the rotation.
    height: u32,
}

impl Turn {
    /// The rotation of a surface, if it has one.
    ///
    /// # Errors
    /// [`BadSurface`] for surfaces that cannot be rotated.
    pub fn of(surface: &Surface) -> Result<Option<Turn>, BadSurface> {
        let clockwise = match surface.rotation {
            Rotation::_0DEG => return Ok(None),
            Rotation::_90DEG => RENDER_TARGETS_TURN_CLOCKWISE,
            Rotation::_270DEG => !RENDER_TARGETS_TURN_CLOCKWISE,
            _ => return Err(wrong(surface, "the rotation does not exist")),
        };
        let Surface { width, height, .. } = *surface;
        let simple = surface.layout.dimension == Dimension::Two
            && !surface.array
            && surface.layout.samples == 1
            && surface.mip_count == 0
            && surface.left == 0
            && surface.top == 0;
        if !simple {
            let why = "only two-dimensional surfaces of one level, slice and sample and without \
                       offsets can be rotated";
            return Err(wrong(surface, why));
        }
        if surface.tile_mode != TileMode::X {
            return Err(wrong(surface, "only surfaces with X tiles can be rotated"));
        }
        if !has_format(surface.format) {
            return Err(wrong(surface, "surfaces of this format cannot be rotated"));
        }
        if !width.is_multiple_of(2) || !height.is_multiple_of(2) {
            return Err(wrong(surface, "a rotated surface has an even width and height"));
        }
        if u64::from(height) * u64::from(surface.element_bytes) > u64::from(surface.pitch) {
            return Err(wrong(surface, "the height is larger than the pitch"));
        }
        Ok(Some(Turn { clockwise, width, height }))
    }

    /// Positions of the quads in the rotated picture. Quads outside the surface get positions
    /// without meaning.
    pub fn subspans(&self, subspans: &[[u32; 2]; 4]) -> [[u32; 2]; 4] {
        subspans.map(|[x, y]| match self.clockwise {
            true => [self.height.wrapping_sub(2).wrapping_sub(y), x],
            false => [y, self.width.wrapping_sub(2).wrapping_sub(x)],
        })
    }

    /// Converts a slot of a message to the corresponding slot of the rotated picture.
    const fn slot(&self, slot: usize) -> usize {
        let within = if self.clockwise { [1, 3, 0, 2] } else { [2, 0, 3, 1] };
        slot / 4 * 4 + within[slot % 4]
    }

    /// Converts a mask of slots of a message to a mask of slots of the rotated picture.
    pub fn lanes(&self, lanes: u32) -> u32 {
        (0..SLOTS).fold(0, |mask, slot| mask | (lanes >> slot & 1) << self.slot(slot))
    }

    /// Moves the elements, of `bytes` bytes each, from the order of the message's slots to the
    /// order of the rotated picture's slots.
    pub fn to_picture(&self, elements: &Elements, bytes: usize) -> Elements {
        let mut turned = [0; SLOTS * MOST_BYTES];
        for (slot, element) in elements.chunks_exact(bytes).take(SLOTS).enumerate() {
            turned[self.slot(slot) * bytes..][..bytes].copy_from_slice(element);
        }
        turned
    }

    /// Moves the elements, of `bytes` bytes each, from the order of the rotated picture's slots to
    /// the order of the message's slots.
    pub fn to_message(&self, elements: &Elements, bytes: usize) -> Elements {
        let mut slots = [0; SLOTS * MOST_BYTES];
        for (slot, element) in slots.chunks_exact_mut(bytes).take(SLOTS).enumerate() {
            element.copy_from_slice(&elements[self.slot(slot) * bytes..][..bytes]);
        }
        slots
    }
}

fn wrong(surface: &Surface, why: &'static str) -> BadSurface {
    let field = "Render Target And Sample Unorm Rotation";
    BadSurface { field, value: surface.rotation.bits(), why }
}

/// True if surfaces of the format can be rotated (2d p.339).
fn has_format(format: SurfaceFormat) -> bool {
    matches!(
        format,
        SurfaceFormat::B5G6R5_UNORM
            | SurfaceFormat::B5G6R5_UNORM_SRGB
            | SurfaceFormat::R8G8B8A8_UNORM
            | SurfaceFormat::R8G8B8A8_UNORM_SRGB
            | SurfaceFormat::B8G8R8A8_UNORM
            | SurfaceFormat::B8G8R8X8_UNORM
            | SurfaceFormat::B8G8R8A8_UNORM_SRGB
            | SurfaceFormat::B8G8R8X8_UNORM_SRGB
            | SurfaceFormat::B10G10R10A2_UNORM
            | SurfaceFormat::B10G10R10X2_UNORM
            | SurfaceFormat::B10G10R10A2_UNORM_SRGB
            | SurfaceFormat::R10G10B10A2_UNORM
            | SurfaceFormat::R10G10B10A2_UNORM_SRGB
            | SurfaceFormat::R16G16B16A16_FLOAT
            | SurfaceFormat::R16G16B16X16_FLOAT
    )
}
