//! gather4 and its variants: four texels of one channel. Oracle: [`crate::sampler::reference`],
//! texel by texel.

use crate::sampler::filters::sampler;
use crate::sampler::texture::{Kind, Texture};
use crate::sampler::{MODES, SAMPLERS, Send, Type, model};
use genxml::eu::gen8::eu_payloads::{
    SamplerMessageHeader, SamplerMessageHeaderGather4SourceChannel as Channel,
};
use genxml::gen8::state::{
    SamplerState, ShaderChannelSelect as Select, SurfaceFormat, TextureCoordinateMode as Wrap,
    ThreeDPrefilterOperation,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at};
use genxml_core::S;

/// All four messages: channel in the header, offsets in header or message, comparison, selects.
#[test]
fn four_texels() {
    let (mut model, mut random) = (model(), Random::new(21));
    let (width, height) = (13u32, 7u32);
    for round in 0..64u64 {
        let texture = Texture::plain(
            &mut random,
            SurfaceFormat::R32G32B32A32_FLOAT,
            16,
            Tiling::Y,
            [width, height],
            1,
        );
        texture.put(&mut model);
        let (compares, programmed) = (round % 2 == 1, round % 4 > 1);
        let simd = MODES[usize::from(round % 8 > 3 && !(compares && programmed))];
        // The sampler's filter is ignored.
        let state = SamplerState {
            shadow_function: ThreeDPrefilterOperation::LESS,
            tcx_address_control_mode: Wrap::WRAP,
            tcy_address_control_mode: Wrap::CLAMP,
            ..sampler(round % 3 == 0)
        };
        let selects = [Select::GREEN, Select::ONE, Select::ALPHA, Select::RED];
        let mut surface = texture.state();
        [
            surface.shader_channel_select_red,
            surface.shader_channel_select_green,
            surface.shader_channel_select_blue,
            surface.shader_channel_select_alpha,
        ] = selects;
        let channel = random.below(4);
        let fixed = [0; 2].map(|_| random.below(16) as i32 - 8);
        let header = SamplerMessageHeader {
            gather4_source_channel: Channel::from_bits(channel),
            u_offset: S::new(fixed[0].into()).unwrap(),
            v_offset: S::new(fixed[1].into()).unwrap(),
            sampler_state_pointer: at(SAMPLERS),
            ..SamplerMessageHeader::new()
        };
        let [u, v] = [0; 2].map(|_| [0; 16].map(|_| random.below(2048) as f32 / 1024.0 - 0.5));
        let reference = 0.25f32;
        // Offsets have six bits with a sign.
        let [pu, pv] = [0; 2].map(|_| [0; 16].map(|_| random.bits() as u32));
        let kind = match (compares, programmed) {
            (false, false) => Type::GATHER4,
            (true, false) => Type::GATHER4_C,
            (false, true) => Type::GATHER4_PO,
            (true, true) => Type::GATHER4_PO_C,
        };
        let mut parameters = Vec::new();
        if compares {
            parameters.push([reference.to_bits(); 16]);
        }
        parameters.extend([u.map(f32::to_bits), v.map(f32::to_bits)]);
        if programmed {
            parameters.extend([pu, pv]);
        }
        let send = Send { header: Some(header), ..Send::new(kind, simd, parameters) };
        for (lane, found) in send.colors(&mut model, &surface, &state).into_iter().enumerate() {
            let six = |bits: u32| {
                let low = (bits % 64) as i32;
                if low >= 32 { low - 64 } else { low }
            };
            let offset = if programmed { [six(pu[lane]), six(pv[lane])] } else { fixed };
            let place = |coordinate: f32, size: u32, n: usize| {
                (f64::from(coordinate) * f64::from(size) + f64::from(offset[n]) - 0.5 + 1e-9)
                    .floor() as i64
            };
            let (i, j) = (place(u[lane], width, 0), place(v[lane], height, 1));
            // (i0, j1), (i1, j1), (i1, j0), (i0, j0)
            let order = [(i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)];
            for (found, (x, y)) in found.into_iter().zip(order) {
                let (x, y) =
                    (x.rem_euclid(width.into()) as u32, y.clamp(0, i64::from(height) - 1) as u32);
                let texel = texture.texel(0, 0, x, y);
                let texel = if compares {
                    [f64::from(u8::from(texel[0] >= f64::from(reference))); 4]
                } else {
                    texel
                };
                let expected = match selects[channel as usize] {
                    Select::RED => texel[0],
                    Select::GREEN => texel[1],
                    Select::ALPHA => texel[3],
                    _ => 1.0,
                };
                assert_eq!(
                    f64::from(f32::from_bits(found)),
                    expected,
                    "{kind:?} {simd:?} lane {lane} ({x}, {y})"
                );
            }
        }
    }
}

/// There is no texel beyond the corner of a cube map. If the three texels around it are equal, the
/// fourth is too (OpenGL 4.6, 8.14).
#[test]
fn corners_of_cubes() {
    let mut model = model();
    let mut cube = Texture::plain(
        &mut Random::new(22),
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Y,
        [8, 8],
        1,
    );
    cube.kind = Kind::Cube;
    cube.depth = 6;
    cube.qpitch = 8;
    cube.memory.resize(1 << 16, 0);
    cube.fill(0, [0.5; 4]);
    cube.put(&mut model);
    let state = SamplerState {
        tcx_address_control_mode: Wrap::CUBE,
        tcy_address_control_mode: Wrap::CUBE,
        tcz_address_control_mode: Wrap::CUBE,
        ..sampler(true)
    };
    let signs = |bit: usize| {
        std::array::from_fn(|lane| if lane >> bit & 1 == 1 { 1.0f32 } else { -1.0 }.to_bits())
    };
    let send = Send::new(Type::GATHER4, MODES[0], vec![signs(0), signs(1), signs(2)]);
    for found in send.colors(&mut model, &cube.state(), &state) {
        assert_eq!(found.map(f32::from_bits), [0.5; 4]);
    }
}
