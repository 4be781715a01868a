//! Messages that query a surface: its size, its samples, and the mip level that a sample would use
//! (003:4054-4059).

use super::levels;
use super::lod::LEVEL;
use super::payload::{GROUP, LodFrom, Parameter, Request};
use super::point::Coordinates;
use super::view::View;
use crate::assumptions::{LEVELS_HAVE_A_TEXEL_AT_LEAST, SAMPLEINFO_HAS_THE_PALETTE_INDEX};
use crate::eu::regions::Registers;
use crate::surface::format::value::Value;
use crate::surface::{Dimension, SurfaceKind};

/// resinfo: width, height and depth of the level that each lane asks for, and the number of levels.
pub fn size(view: &View, registers: &mut Registers, request: &Request<'_>) {
    answer_size(registers, request, |lod| size_of(view, lod));
}

/// Answers resinfo: `size` computes the response of a lane from its level.
pub fn answer_size(registers: &mut Registers, request: &Request<'_>, size: impl Fn(u32) -> Value) {
    for group in 0..request.simd.groups() {
        let lods = request.parameter(registers, Parameter::Lod, group);
        let mut channels = [[0; GROUP]; 4];
        for (lane, lod) in lods.into_iter().enumerate() {
            let value = size(lod);
            (0..4).for_each(|n| channels[n][lane] = value[n]);
        }
        request.answer(registers, group, &channels);
    }
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
    // A surface that is not an array has one layer. Drivers rely on this value (Mesa: devices
    // before Gen7 returned 0).
    let (height, depth) = match layout.dimension {
        Dimension::One => (view.layers, 0),
        Dimension::Two | Dimension::Cube => (part(layout.height), view.layers),
        Dimension::Three => (part(layout.height), part(layout.depth)),
    };
    // The number of levels, although the field of the surface state holds one less. Mesa uses the
    // value unchanged for textureQueryLevels.
    [part(layout.width), height, depth, surface.mip_count + 1]
}

/// sampleinfo: the number of samples in red, and the palette index in alpha
/// (assumptions::SAMPLEINFO_HAS_THE_PALETTE_INDEX). All 0 for buffers and null surfaces.
pub fn samples(view: &View, palette_index: u32, registers: &mut Registers, request: &Request<'_>) {
    let value = match view.surface.kind {
        SurfaceKind::Image if SAMPLEINFO_HAS_THE_PALETTE_INDEX => {
            [view.surface.layout.samples, 0, 0, palette_index]
        }
        SurfaceKind::Image => [view.surface.layout.samples, 0, 0, 0],
        _ => [0; 4],
    };
    request.answer_all(registers, value);
}

/// LOD: in red the level that a sample would use, in green the level of detail before the clamps.
/// Both are floats. All 0 for null surfaces (003:3090).
pub fn lod(view: &View, registers: &mut Registers, request: &Request<'_>) {
    if view.surface.kind == SurfaceKind::Null {
        return request.answer_all(registers, [0; 4]);
    }
    for group in 0..request.simd.groups() {
        let coordinates = Coordinates::read(request, registers, view, group);
        let details = levels::details(
            request,
            registers,
            view,
            &coordinates,
            LodFrom::Neighbours,
            true,
            group,
        );
        let mut channels = [[0; GROUP]; 4];
        for (lane, detail) in details.iter().enumerate() {
            let choice = detail.choice;
            let level = f32::from(choice.level) + f32::from(choice.share) / LEVEL as f32;
            channels[0][lane] = level.to_bits();
            channels[1][lane] = (detail.lod as f32 / LEVEL as f32).to_bits();
        }
        request.answer(registers, group, &channels);
    }
}
