//! The state of `genxml::setup` on the model: blending and samplers. Oracles: the formulas.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Render;
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_pixel::ThreeDStateBlendStatePointers;
use genxml::gen8::state::{SurfaceFormat, TextureCoordinateMode};
use genxml::setup::{
    Blend, Draw, Filter, Heaps, Surface, blend, element, initial, ps_blend, sampler,
};
use genxml_sim::Gpu;

const TARGET: u64 = 0x100_0000;
/// Width and height of the target.
const SIZE: u32 = 16;
/// The colour of the target before the draw.
const OLD: [u8; 4] = [200, 100, 50, 128];
/// The colour of the shader `COLOR`.
const NEW: [f64; 4] = [0.5, 0.25, 0.75, 0.625];

const COLOR: &[u32] = &eu! {
    mov (8|M0)   r114.0<1>:f  0.5:f
    mov (8|M0)   r115.0<1>:f  0.25:f
    mov (8|M0)   r116.0<1>:f  0.75:f
    mov (8|M0)   r117.0<1>:f  0.625:f
    send (8|M0)  null  r114  MsdRtw {
        message_type: MT_RTW, message_subtype: SIMD8_LO, last_render_target_select: true,
        message_length: 4,
    } {EOT}
};

/// Samples surface 1 where four texels of 2 x 2 meet.
const SAMPLE: &[u32] = &eu! {
    mov (8|M0)   r10.0<1>:f  0.5:f
    mov (8|M0)   r11.0<1>:f  0.5:f
    send (8|M0)  r114  r10  MessageDescriptorSamplingEngine {
        message_type: SAMPLE, simd_mode_1_0: SIMD8, binding_table_index: 1, message_length: 2,
        response_length: 4,
    }
    send (8|M0)  null  r114  MsdRtw {
        message_type: MT_RTW, message_subtype: SIMD8_LO, last_render_target_select: true,
        message_length: 4,
    } {EOT}
};

/// The pixels after a triangle that covers the target.
fn drawn(pixel: &[u32], mode: Blend, texture: Option<(&[[u8; 4]; 4], Filter)>) -> Vec<[u8; 4]> {
    let target = Buffer::with_values("target", TARGET, &[OLD; (SIZE * SIZE) as usize]).unwrap();
    let corners = [[-1.0f32, -1.0], [3.0, -1.0], [-1.0, 3.0]];
    let vertices = Buffer::with_values("vertices", 0x200_0000, corners.as_flattened()).unwrap();
    let texels = texture.map_or([[0; 4]; 4], |(texels, _)| *texels);
    let texels = Buffer::with_values("texels", 0x210_0000, &texels).unwrap();
    let mut heaps = Heaps::new(0x20_0000).unwrap();
    let format = SurfaceFormat::R8G8B8A8_UNORM;
    let mut surfaces = vec![heaps.surface(&target, &Surface::image(format, SIZE, SIZE)).unwrap()];
    surfaces.push(heaps.surface(&texels, &Surface::image(format, 2, 2)).unwrap());
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096).unwrap().select_3d().unwrap();
    initial(&mut batch, &mut heaps, SIZE, SIZE).unwrap();
    let state = blend(mode);
    let pointer = heaps.dynamic.put(&state).unwrap();
    batch
        .emit(&ThreeDStateBlendStatePointers {
            blend_state_pointer_valid: true,
            blend_state_pointer: pointer,
        })
        .unwrap();
    batch.emit(&ps_blend(&state)).unwrap();
    let filter = texture.map_or(Filter::Nearest, |(_, filter)| filter);
    let draw = Draw {
        surfaces,
        samplers: vec![sampler(filter, TextureCoordinateMode::CLAMP)],
        elements: vec![
            element(SurfaceFormat::R32G32B32A32_FLOAT, 0, 0).unwrap(),
            element(SurfaceFormat::R32G32_FLOAT, 2, 0).unwrap(),
        ],
        ..Draw::new(ThreeDPrimTopoType::_3DPRIM_TRILIST, &vertices, 8, 3, pixel)
    };
    draw.emit(&mut batch, &mut heaps).unwrap();
    batch
        .emit(&PipeControl {
            render_target_cache_flush_enable: true,
            command_streamer_stall_enable: true,
            ..PipeControl::new()
        })
        .unwrap();
    let buffers = heaps.finish().into_iter().chain([target, vertices, texels]);
    let submission = batch.finish().unwrap().submit(buffers).unwrap();
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.execute(context, &submission).unwrap();
    gpu.values(context, TARGET, (SIZE * SIZE) as usize).unwrap()
}

#[test]
fn blending_follows_its_formula() {
    type Formula = fn(new: f64, old: f64, alpha: f64) -> f64;
    // Formulas of colour and of alpha.
    let modes: [(Blend, Formula, Formula); 5] = [
        (Blend::Replace, |new, _, _| new, |new, _, _| new),
        (
            Blend::Alpha,
            |new, old, a| new * a + old * (1.0 - a),
            |new, old, a| new + old * (1.0 - a),
        ),
        (
            Blend::Premultiplied,
            |new, old, a| new + old * (1.0 - a),
            |new, old, a| new + old * (1.0 - a),
        ),
        (Blend::Add, |new, old, _| new + old, |new, old, _| new + old),
        (Blend::Multiply, |new, old, _| new * old, |new, old, _| new * old),
    ];
    for (mode, color, alpha) in modes {
        let expected: Vec<f64> = (0..4)
            .map(|channel| {
                let old = f64::from(OLD[channel]) / 255.0;
                let formula = if channel == 3 { alpha } else { color };
                255.0 * formula(NEW[channel], old, NEW[3]).clamp(0.0, 1.0)
            })
            .collect();
        for pixel in drawn(COLOR, mode, None) {
            let near =
                pixel.iter().zip(&expected).all(|(is, want)| (f64::from(*is) - want).abs() <= 1.0);
            assert!(near, "{mode:?}: {pixel:?}, not {expected:?}");
        }
    }
}

/// Between four texels, the nearest is one of them, and the linear filter takes their mean.
#[test]
fn samplers_filter_as_named() {
    let texels = [[0, 40, 255, 0], [80, 40, 0, 8], [160, 40, 255, 80], [240, 40, 0, 248]];
    let mean: Vec<f64> = (0..4)
        .map(|channel| texels.iter().map(|texel| f64::from(texel[channel])).sum::<f64>() / 4.0)
        .collect();
    for pixel in drawn(SAMPLE, Blend::Replace, Some((&texels, Filter::Nearest))) {
        assert!(texels.contains(&pixel), "{pixel:?}");
    }
    for filter in [Filter::Linear, Filter::Trilinear] {
        for pixel in drawn(SAMPLE, Blend::Replace, Some((&texels, filter))) {
            let near =
                pixel.iter().zip(&mean).all(|(is, want)| (f64::from(*is) - want).abs() <= 1.0);
            assert!(near, "{filter:?}: {pixel:?}, not {mean:?}");
        }
    }
}
