//! resinfo: the size of a surface (003:4054-4059).

use crate::assumptions::{G45_RESINFO_COUNTS_LEVELS, LEVELS_HAVE_A_TEXEL_AT_LEAST};
use crate::eu::regions::Registers;
use crate::surface::format::value::Value;
use crate::surface::{Dimension, SurfaceKind};
use crate::unit::sampler::View;
use crate::unit::sampler::info::answer_size;
use crate::unit::sampler::payload::Request;

/// Writes width, height and depth of the level that each lane asks for, and the number of levels.
pub fn size(view: &View, registers: &mut Registers, request: &Request<'_>) {
    answer_size(registers, request, |lod| size_of(view, lod));
}

fn size_of(view: &View, lod: u32) -> Value {
    let surface = &view.surface;
    match surface.kind {
        SurfaceKind::Null => return [0; 4],
        SurfaceKind::Buffer | SurfaceKind::Structured => return [surface.width, 0, 0, 0],
        SurfaceKind::Image => {}
    }
    let layout = &surface.layout;
    let shift = surface.first_level.saturating_add(lod);
    let least = u32::from(lod <= surface.mip_count && LEVELS_HAVE_A_TEXEL_AT_LEAST);
    let part = |extent: u32| extent.checked_shr(shift).unwrap_or(0).max(least);
    // A surface with one element is not an array.
    let elements = if surface.array { surface.slices } else { 0 };
    let (height, depth) = match layout.dimension {
        Dimension::One => (elements, 0),
        Dimension::Two => (part(layout.height), elements),
        Dimension::Three => (part(layout.height), part(layout.depth)),
        Dimension::Cube => (part(layout.height), 0),
    };
    let levels = surface.mip_count + u32::from(G45_RESINFO_COUNTS_LEVELS);
    [part(layout.width), height, depth, levels]
}
