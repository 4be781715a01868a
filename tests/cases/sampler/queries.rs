//! The messages resinfo and sampleinfo. Oracle: the table of 003:4055-4059, as drivers rely on it.

use crate::sampler::texture::{Kind, Texture};
use crate::sampler::{Mode, SURFACE, Send, Type, model};
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceStateView, SamplerState, SurfaceFormat,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, raw_buffer, u};

/// resinfo returns the width, the height, the layers or the depth, and the number of levels from
/// the first accessible one on.
#[test]
fn sizes() {
    let (mut model, mut random) = (model(), Random::new(41));
    for round in 0..140 {
        let kind = Kind::ALL[round % 7];
        let texture = Texture::random(&mut random, kind, SurfaceFormat::R8G8B8A8_UNORM, 4);
        let lods: [u32; 16] = std::array::from_fn(|n| if n < 10 { n as u32 } else { 1 << n });
        let send = Send::new(Type::RESINFO, Mode::SIMD16, vec![lods]);
        for (found, lod) in
            send.colors(&mut model, &texture.state(), &SamplerState::new()).into_iter().zip(lods)
        {
            assert_eq!(found[3], texture.levels);
            let expected = if lod < texture.levels {
                let [width, height, depth] = texture.size(lod);
                match kind {
                    Kind::One | Kind::OneArray => [width, texture.layers, 0],
                    Kind::Three => [width, height, depth],
                    _ => [width, height, texture.layers],
                }
            } else {
                // Extents are shifted by the level; the number of layers is not.
                let part = |extent: u32| extent.checked_shr(texture.min_lod + lod).unwrap_or(0);
                match kind {
                    Kind::One | Kind::OneArray => [part(texture.width), texture.layers, 0],
                    Kind::Three => [texture.width, texture.height, texture.depth].map(part),
                    _ => [part(texture.width), part(texture.height), texture.layers],
                }
            };
            assert_eq!(found[..3], expected, "{kind:?} {lod}");
        }
    }
    let send = Send::new(Type::RESINFO, Mode::SIMD4X2, vec![[0; 16]]);
    let found = send.colors(&mut model, &raw_buffer(SURFACE, 12345), &SamplerState::new());
    assert_eq!(found[1][0], 12345);
}

#[test]
fn samples() {
    let mut model = model();
    for log in 0..4 {
        let texture =
            Texture::plain(&mut Random::new(1), SurfaceFormat::R8_UNORM, 1, Tiling::Y, [8, 8], 1);
        let mut state = texture.state();
        if let RenderSurfaceStateView::Image {
            number_of_multisamples,
            multisample_position_palette_index,
            ..
        } = &mut state.view
        {
            *number_of_multisamples = NumberOfMultisamples::from_bits(log);
            *multisample_position_palette_index = u(5);
        }
        state.surface_qpitch = genxml_core::Shifted::new(8).unwrap();
        let send = Send::new(Type::SAMPLEINFO, Mode::SIMD8, vec![[7; 16]]);
        let found = send.colors(&mut model, &state, &SamplerState::new());
        assert!(found.iter().all(|found| *found == [1 << log, 0, 0, 5]), "{found:?}");
    }
}
