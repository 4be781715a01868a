//! sample_unorm. Oracle: the reference of the other sample messages, and the text of 003.

use crate::sampler::filters::sampler;
use crate::sampler::media::{Send, header, response, untouched};
use crate::sampler::reference::Filter;
use crate::sampler::texture::Texture;
use crate::sampler::{SAMPLERS, model};
use genxml::eu::gen8::eu_payloads::{SampleUnormMessagePayload, SamplerMessageHeader};
use genxml::gen8::render3d_pixel::ThreeDStateChromaKey;
use genxml::gen8::state::{
    SamplerState, SamplerStateChromaKeyMode, SamplerStateMipModeFilter, StateBaseAddress,
    SurfaceFormat, TextureCoordinateMode as Wrap,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at, packets, u};
use genxml_sim::Fault;

/// The sampler of sample_unorm: no levels.
fn plain(linear: bool, wrap: Wrap) -> SamplerState {
    SamplerState {
        mip_mode_filter: SamplerStateMipModeFilter::NONE,
        tcx_address_control_mode: wrap,
        tcy_address_control_mode: wrap,
        ..sampler(linear)
    }
}

/// The dwords of sample_unorm's payload. The one of pixel shaders is in 003:4161-4181.
fn payload(media: bool, start: [f32; 2], step: [f32; 2]) -> [u32; 8] {
    if media {
        return SampleUnormMessagePayload {
            u: start[0],
            v: start[1],
            delta_u: step[0],
            delta_v: step[1],
        }
        .pack();
    }
    let [delta_u, delta_v] = step.map(f32::to_bits);
    [delta_u, 0, start[0].to_bits(), 0, 0, delta_v, start[1].to_bits(), 0]
}

/// sample_unorm: 8 x 4 pixels at U + x * Delta U, V + y * Delta V (003:4065). Oracle for a pixel:
/// the reference of the other sample messages.
#[test]
fn blocks() {
    let (mut model, mut random) = (model(), Random::new(85));
    let formats = [
        (SurfaceFormat::R8G8B8A8_UNORM, 4),
        (SurfaceFormat::B8G8R8A8_UNORM, 4),
        (SurfaceFormat::R8G8_UNORM, 2),
        (SurfaceFormat::R8_UNORM, 1),
        (SurfaceFormat::A8_UNORM, 1),
        (SurfaceFormat::R8G8B8X8_UNORM, 4),
        (SurfaceFormat::B8G8R8X8_UNORM, 4),
    ];
    for round in 0..150 {
        let tiling = [Tiling::Linear, Tiling::X, Tiling::Y][round % 3];
        let (format, bytes) = formats[round % 7];
        let extent = [0; 2].map(|_| 1 + random.below(40) as u32);
        let texture = Texture::plain(&mut random, format, bytes, tiling, extent, 1);
        texture.put(&mut model);
        let wrap = [Wrap::WRAP, Wrap::CLAMP][random.below(2) as usize];
        let [min, mag] = [0; 2].map(|_| plain(random.below(2) == 0, wrap));
        let state = SamplerState { min_mode_filter: min.min_mode_filter, ..mag };
        let mut part = |reach: f64| (random.below(1 << 10) as f64 / 1024.0 * reach) as f32;
        // Some blocks begin or end outside of the picture.
        let (start, step) = ([part(3.0) - 1.5, part(3.0) - 1.5], [part(0.1), part(0.1)]);
        // The map is minified if a step is longer than a texel.
        let minified = (0..2).any(|n| step[n] * extent[n] as f32 > 1.0);
        let reference = Filter::of(if minified { &min } else { &mag }, [0.0; 4]);
        let header = header(&mut random, 32);
        let (expected, back) = response(&header, 32, |channel, pixel| {
            let at = [(pixel % 8) as f64, (pixel / 8) as f64];
            let [u, v] = [0, 1].map(|n| f64::from(start[n]) + f64::from(step[n]) * at[n]);
            let color = reference.sample(&texture, 0, [u, v, 0.0], 0);
            (color[channel] * f64::from(0xff00) + 0.5) as u16
        });
        let media = random.below(2) == 0;
        let send = Send {
            kind: if media { 0x0c } else { 0x00 },
            header: Some(header),
            sampler: 0,
            payload: payload(media, start, step),
            back,
        };
        let found = send.run(&mut model, &texture.state().pack(), &state.pack()).unwrap();
        // The reference and the model round sums of other precision.
        let small = header.output_format_control.bits() >= 2;
        let values = |bytes: &[u8]| -> Vec<i32> {
            match small {
                true => bytes.iter().map(|&byte| byte.into()).collect(),
                false => bytes
                    .chunks_exact(2)
                    .map(|word| u16::from_le_bytes([word[0], word[1]]).into())
                    .collect(),
            }
        };
        let (found, expected) = (values(&found), values(&expected));
        let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1);
        assert!(near, "round {round} {header:?}: {found:?} for {expected:?}");
    }
}

/// sample_unorm+killpix returns the mask of pixels that the chroma key did not kill.
#[test]
fn kills() {
    let (mut model, mut random) = (model(), Random::new(86));
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R8G8B8A8_UNORM, 4, Tiling::Linear, [8, 4], 1);
    texture.put(&mut model);
    let key = ThreeDStateChromaKey {
        chroma_key_table_index: u(1),
        chroma_key_low_value: u(0),
        chroma_key_high_value: u(0xff7f_ffff),
    };
    model.render(&packets![key]).unwrap();
    let state = SamplerState {
        chroma_key_enable: true,
        chroma_key_index: u(1),
        chroma_key_mode: SamplerStateChromaKeyMode::KEYFILTER_KILL_ON_ANY_MATCH,
        ..plain(false, Wrap::CLAMP)
    };
    let header = SamplerMessageHeader {
        red_write_channel_mask: true,
        alpha_write_channel_mask: true,
        sampler_state_pointer: at(SAMPLERS),
        ..SamplerMessageHeader::new()
    };
    for media in [false, true] {
        let send = Send {
            kind: if media { 0x0a } else { 0x02 },
            header: Some(header),
            sampler: 0,
            payload: payload(media, [1.0 / 16.0, 1.0 / 8.0], [1.0 / 8.0, 1.0 / 4.0]),
            back: 5,
        };
        let found = send.run(&mut model, &texture.state().pack(), &state.pack()).unwrap();
        let mask = u32::from_le_bytes(found[4 * 32..4 * 32 + 4].try_into().unwrap());
        for pixel in 0..32 {
            let red = texture.texel(0, 0, pixel % 8, pixel / 8)[0];
            assert_eq!(mask >> pixel & 1 == 1, red * 255.0 > 127.5, "{pixel} {red}");
        }
        assert_eq!(found[4 * 32 + 4..], untouched()[4 * 32 + 4..]);
    }
}

/// Surfaces and samplers that sample_unorm does not support (003:4065).
#[test]
fn refusals() {
    let (mut model, mut random) = (model(), Random::new(87));
    let mut illegal = |format, bytes, state: SamplerState| {
        let texture = Texture::plain(&mut random, format, bytes, Tiling::Linear, [8, 4], 1);
        let send = Send {
            kind: 0x0c,
            header: None,
            sampler: 0,
            payload: payload(true, [0.0; 2], [0.0; 2]),
            back: 8,
        };
        match send.run(&mut model, &texture.state().pack(), &state.pack()) {
            Ok(_) => false,
            Err(Fault::IllegalInstruction { .. }) => true,
            Err(other) => panic!("{other}"),
        }
    };
    let good = plain(true, Wrap::WRAP);
    assert!(!illegal(SurfaceFormat::R8G8B8A8_UNORM, 4, good));
    assert!(illegal(SurfaceFormat::R16G16_UNORM, 4, good));
    assert!(illegal(SurfaceFormat::R8G8B8A8_UINT, 4, good));
    for wrap in [Wrap::CLAMP_BORDER, Wrap::MIRROR, Wrap::MIRROR_ONCE] {
        assert!(illegal(SurfaceFormat::R8G8B8A8_UNORM, 4, plain(true, wrap)), "{wrap:?}");
    }
    assert!(illegal(SurfaceFormat::R8G8B8A8_UNORM, 4, sampler(true)));
}

/// A header can give samplers past the end of Dynamic State. Their states are zeros where nothing
/// is mapped: the filter is nearest, and coordinates wrap. Oracle: the texels themselves.
#[test]
fn past_dynamic_state() {
    let (mut model, mut random) = (model(), Random::new(88));
    let extent = [13, 6];
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R8_UNORM, 1, Tiling::Linear, extent, 1);
    texture.put(&mut model);
    let first = [8, 4];
    let [start, step] = [[0, 1].map(|n| (first[n] as f32 + 0.25) / extent[n] as f32), [1.0; 2]];
    let step = [0, 1].map(|n| step[n] / extent[n] as f32);
    let ordinary = plain(true, Wrap::CLAMP);
    let mut run = |pages, pointer| {
        let size = StateBaseAddress {
            dynamic_state_buffer_size_modify_enable: true,
            dynamic_state_buffer_size: u(pages),
            ..StateBaseAddress::new()
        };
        model.render(&packets![size]).unwrap();
        let header = SamplerMessageHeader {
            green_write_channel_mask: true,
            blue_write_channel_mask: true,
            alpha_write_channel_mask: true,
            sampler_state_pointer: at(pointer),
            ..SamplerMessageHeader::new()
        };
        let send = Send {
            kind: 0x0c,
            header: Some(header),
            sampler: 1,
            payload: payload(true, start, step),
            back: 2,
        };
        let states = [ordinary.pack(), ordinary.pack()].concat();
        send.run(&mut model, &texture.state().pack(), &states)
    };
    let wanted = |texel: &dyn Fn(usize, usize) -> f64| -> Vec<u8> {
        let value = |n: usize| (texel(n % 8, n / 8) * f64::from(0xff00) + 0.5) as u16;
        (0..32).flat_map(|pixel| value(pixel).to_le_bytes()).collect()
    };
    const FAR: u64 = 0xffff_ffe0;
    assert!(matches!(run(0, FAR), Err(Fault::Page { .. })), "Dynamic State has no end");
    assert!(matches!(run(0xf_ffff, 0x1000_0000), Err(Fault::Page { .. })), "inside Dynamic State");
    let zeros = wanted(&|x, y| {
        let [x, y] = [(first[0] + x) % extent[0] as usize, (first[1] + y) % extent[1] as usize];
        texture.texel(0, 0, x as u32, y as u32)[0]
    });
    assert_eq!(run(16, FAR).unwrap()[..64], zeros);
    // What is mapped is read, also past the end.
    let reference = Filter::of(&ordinary, [0.0; 4]);
    let filtered = wanted(&|x, y| {
        let [u, v] =
            [(0, x), (1, y)].map(|(n, at)| f64::from(start[n]) + f64::from(step[n]) * at as f64);
        reference.sample(&texture, 0, [u, v, 0.0], 0)[0]
    });
    assert_ne!(zeros, filtered);
    assert_eq!(run(1, SAMPLERS).unwrap()[..64], filtered);
}
