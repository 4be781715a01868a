//! Fields that choose levels: the quality of the trilinear filter, the base level, the clamp of
//! magnified samples, and the first level that is present. Oracle: 2d p.332, p.349, p.398-405.
//! Level n has the colour n, so the result shows the levels and their weights.

use crate::sampler::lods::{levels, trilinear};
use crate::sampler::texture::{Kind, Texture};
use crate::sampler::{Mode, Send, Type, model};
use genxml::gen8::state::{
    RenderSurfaceState, SamplerState, SamplerStateLodClampMagnificationMode as Magnified,
    SamplerStateTrilinearFilterQuality as Quality,
};
use genxml_cases::{Model, u};
use genxml_core::UFix;

/// The colours of a surface for levels of detail from -1 in steps of 1/16, and these levels.
fn colors(
    model: &mut Model,
    surface: &RenderSurfaceState,
    sampler: &SamplerState,
) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for part in 0..8 {
        let lods: [f32; 16] = std::array::from_fn(|n| part as f32 + n as f32 / 16.0 - 1.0);
        let send = Send::new(Type::SAMPLE_L, Mode::SIMD16, vec![lods.map(f32::to_bits)]);
        let found = send.colors(model, surface, sampler).into_iter();
        all.extend(
            lods.into_iter()
                .zip(found)
                .map(|(lod, color)| (f64::from(lod), f64::from(f32::from_bits(color[0])))),
        );
    }
    all
}

fn texture(model: &mut Model) -> Texture {
    levels(model, Kind::Two, [64, 64])
}

/// A level with less than 25 % (medium) or 37.5 % (low) of the weight does not contribute.
#[test]
fn trilinear_quality() {
    let mut model = model();
    let surface = texture(&mut model).state();
    let qualities =
        [(Quality::FULL, 0.0), (Quality::HIGH, 0.0), (Quality::MED, 0.25), (Quality::LOW, 0.375)];
    for (trilinear_filter_quality, least) in qualities {
        let sampler = SamplerState { trilinear_filter_quality, ..trilinear() };
        for (lod, found) in colors(&mut model, &surface, &sampler) {
            let lod = lod.clamp(0.0, 6.0);
            let expected = match lod.fract() {
                share if share < least => lod.floor(),
                share if 1.0 - share < least => lod.ceil(),
                _ => lod,
            };
            assert_eq!(found, expected, "{trilinear_filter_quality:?}: {lod}");
        }
    }
}

/// Up to the base level, a sample is magnified and uses level 0, or any level with MIPFILTER. The
/// base level is that of the sampler or of the surface.
#[test]
fn base_levels() {
    let mut model = model();
    let state = texture(&mut model).state();
    for (base, of_surface) in [(0.0, false), (2.5, false), (2.5, true), (4.0, true)] {
        let base_mip_level = UFix::new(base).unwrap();
        let surface = match of_surface {
            true => RenderSurfaceState { base_mip_level, ..state },
            false => state,
        };
        for lod_clamp_magnification_mode in [Magnified::MIPNONE, Magnified::MIPFILTER] {
            let sampler = SamplerState { lod_clamp_magnification_mode, ..trilinear() };
            let sampler = match of_surface {
                true => sampler,
                false => SamplerState { base_mip_level, ..sampler },
            };
            for (lod, found) in colors(&mut model, &surface, &sampler) {
                let first_only = lod <= base && lod_clamp_magnification_mode == Magnified::MIPNONE;
                let expected = if first_only { 0.0 } else { lod.clamp(0.0, 6.0) };
                assert_eq!(found, expected, "{base} {lod_clamp_magnification_mode:?}: {lod}");
            }
        }
    }
}

/// Levels that are more detailed than Resource Min LOD are not used
/// (assumptions::RESOURCE_MIN_LOD_BOUNDS_LEVELS). It counts from level 0, the other levels of
/// detail from Surface Min LOD.
#[test]
fn levels_that_are_present() {
    let mut model = model();
    let state = texture(&mut model).state();
    for (first, present) in [(0, 0.0), (0, 1.5), (0, 3.0), (1, 1.5), (2, 1.5), (2, 4.0)] {
        let surface = RenderSurfaceState {
            surface_min_lod: u(first),
            mip_count_lod: u(6 - first),
            resource_min_lod: UFix::new(present).unwrap(),
            ..state
        };
        // With MIPFILTER, magnified samples use the same levels.
        let sampler =
            SamplerState { lod_clamp_magnification_mode: Magnified::MIPFILTER, ..trilinear() };
        for (lod, found) in colors(&mut model, &surface, &sampler) {
            let first = first as f64;
            let expected = (lod + first).clamp(first, 6.0).max(present);
            assert_eq!(found, expected, "{first} {present}: {lod}");
        }
        // Loads from levels that are not present return 0.
        let levels = std::array::from_fn(|lane| lane as u32);
        let zeros = [0; 16];
        let send = Send::new(Type::LD, Mode::SIMD16, vec![zeros, levels, zeros, zeros]);
        let found = send.colors(&mut model, &surface, &SamplerState::new());
        for (level, found) in found.into_iter().enumerate() {
            let level = level as u64 + first;
            let there = level <= 6 && level >= present as u64;
            let expected = if there { [(level as f32).to_bits(); 4] } else { [0; 4] };
            assert_eq!(found, expected, "{first} {present}: {level}");
        }
    }
}
