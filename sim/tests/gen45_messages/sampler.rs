//! Results of sampler messages: which texels contribute, and how much (003 chapter 4).

use crate::rig::{ANSWER, BASE, Rig, SAMPLERS, Send, before, u};
use crate::texture::{INDEX, Texture, load_sampler, sampler};
use genxml::core::{Address, MinusOne, UFix};
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::enums::{
    SurfaceType, TextureCoordinateMode, ThreeDPrefilterOperation, TileWalk,
};
use genxml::gen45::message_headers::SamplerMessageHeader;
use genxml::gen45::messages::SamplerMessageDescriptor;
use genxml::gen45::state_surface::{
    SamplerState, SamplerStateCubeSurfaceControlMode, SamplerStateLodPreClampEnable,
    SamplerStateMipModeFilter as Mip, SamplerStateTextureBorderColorMode, SurfaceState,
    SurfaceStateExtent,
};

/// A comparison of a texel with the reference.
type Compare = fn(f32, f32) -> bool;

pub const HEADER: SamplerMessageHeader = SamplerMessageHeader::new();

pub fn header() -> SamplerMessageHeader {
    SamplerMessageHeader { sampler_state_pointer: Address::new(SAMPLERS).unwrap(), ..HEADER }
}

/// A message of a type with parameters in registers; sampler 1 and the texture.
pub fn message(kind: u64, responses: u64, parameters: &[[u32; 8]]) -> Send {
    with_header(header(), kind, responses, parameters)
}

pub fn with_header(
    header: SamplerMessageHeader,
    kind: u64,
    responses: u64,
    parameters: &[[u32; 8]],
) -> Send {
    let descriptor = SamplerMessageDescriptor {
        message_type: u(kind),
        sampler_index: u(1),
        binding_table_index: u(INDEX),
        response_length: u(responses),
        ..SamplerMessageDescriptor::new()
    };
    let mut payload = vec![header.pack()];
    payload.extend(parameters);
    Send::new(SharedFunction::Sampler, descriptor.pack()[0], payload)
}

/// sample_l of two positions (SIMD4x2): u, v, r and level of detail of each.
fn sample_l(rig: &mut Rig, points: [[f32; 4]; 2]) -> [[f32; 4]; 2] {
    let row: [f32; 8] = std::array::from_fn(|n| points[n / 4][n % 4]);
    rig.send(&message(1, 1, &[row.map(f32::to_bits)])).unwrap();
    let answer = rig.answer(0).map(f32::from_bits);
    [0, 4].map(|first| std::array::from_fn(|n| answer[first + n]))
}

/// ld of two positions (SIMD4x2).
fn load(rig: &mut Rig, points: [[i32; 4]; 2]) -> [[f32; 4]; 2] {
    let row: [u32; 8] = std::array::from_fn(|n| points[n / 4][n % 4] as u32);
    rig.send(&message(3, 1, &[row])).unwrap();
    let answer = rig.answer(0).map(f32::from_bits);
    [0, 4].map(|first| std::array::from_fn(|n| answer[first + n]))
}

/// Every texel of every level, slice and face, with nearest filters and with ld, in all layouts.
/// Oracle: the texels contain their position; [`Texture::place`].
#[test]
fn every_texel() {
    let two = Texture::new(SurfaceType::SURFTYPE_2D, [13, 10, 1], 4);
    let textures = [
        two,
        Texture { right: true, ..two },
        Texture { tiling: Some(TileWalk::TILEWALK_XMAJOR), ..two },
        Texture { tiling: Some(TileWalk::TILEWALK_YMAJOR), ..two },
        Texture::new(SurfaceType::SURFTYPE_1D, [37, 1, 1], 4),
        Texture::new(SurfaceType::SURFTYPE_1D, [21, 1, 5], 3),
        Texture::new(SurfaceType::SURFTYPE_2D, [12, 9, 4], 3),
        Texture::new(SurfaceType::SURFTYPE_2D, [6, 6, 3], 1),
        Texture::new(SurfaceType::SURFTYPE_3D, [9, 7, 6], 3),
        Texture {
            tiling: Some(TileWalk::TILEWALK_YMAJOR),
            ..Texture::new(SurfaceType::SURFTYPE_3D, [8, 8, 8], 4)
        },
        Texture::new(SurfaceType::SURFTYPE_CUBE, [8, 8, 1], 4),
    ];
    // Textures with 8 bits in each channel use the fast path.
    let narrow = textures.map(|texture| Texture { bytes: true, columns: 128, ..texture });
    for texture in textures.into_iter().chain(narrow) {
        let mut rig = Rig::new();
        texture.load(&mut rig);
        load_sampler(&mut rig, 1, &sampler(false, Mip::NEAREST));
        for level in 0..texture.levels {
            let [width, height, slices] = texture.size(level);
            for slice in 0..slices {
                for y in 0..height {
                    for x in 0..width {
                        let [x, y, slice] = [x, y, slice];
                        let expected = [x, y, slice, level].map(|n| texture.value(n));
                        let part = |n: usize, size: usize| (n as f32 + 0.5) / size as f32;
                        let (u, v) = (part(x, width), part(y, height));
                        let (point, texel) = match texture.kind {
                            SurfaceType::SURFTYPE_1D => {
                                ([u, slice as f32, 0.0], Some([x, slice, 0]))
                            }
                            SurfaceType::SURFTYPE_2D => ([u, v, slice as f32], Some([x, y, slice])),
                            SurfaceType::SURFTYPE_3D => {
                                ([u, v, part(slice, slices)], Some([x, y, slice]))
                            }
                            _ => (direction(slice, u, v), None),
                        };
                        let [a, b, c] = point;
                        let found = sample_l(&mut rig, [[a, b, c, level as f32]; 2]);
                        assert_eq!(found, [expected; 2], "{texture:?}");
                        if let Some([x, y, z]) = texel {
                            let texel = [x as i32, y as i32, z as i32, level as i32];
                            assert_eq!(load(&mut rig, [texel; 2]), [expected; 2], "{texture:?}");
                        }
                    }
                }
            }
        }
    }
}

/// The direction to a point of a face, whose largest component is 1. Oracle: the cube map faces of
/// OpenGL 4.6, table 8.19, with the faces in the order of 003:4996.
fn direction(face: usize, u: f32, v: f32) -> [f32; 3] {
    let (s, t) = (2.0 * u - 1.0, 2.0 * v - 1.0);
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// Outside of the surface, ld returns 0, with alpha 0 because the format has alpha (003:4064).
#[test]
fn loads_outside() {
    let mut rig = Rig::new();
    Texture::new(SurfaceType::SURFTYPE_2D, [12, 9, 4], 3).load(&mut rig);
    for outside in [
        [12, 0, 0, 0],
        [-1, 0, 0, 0],
        [0, 9, 0, 0],
        [0, -1, 0, 0],
        [0, 0, 4, 0],
        [0, 0, -1, 0],
        [0, 0, 0, 3],
        [6, 0, 0, 1],
        [0, 4, 0, 1],
        [0, 0, 0, -1],
        [i32::MAX, 0, 0, 0],
        [i32::MIN, i32::MIN, i32::MIN, i32::MIN],
    ] {
        assert_eq!(load(&mut rig, [outside, [1, 2, 3, 0]]), [[0.0; 4], [1.0, 2.0, 3.0, 0.0]]);
    }
}

/// Linear filters: the texels are linear functions of the position, so the result is the position
/// itself. Oracle: 003:2681-2687 (origin), 003:2857-2875 (taps), 003:2799 (share between levels).
#[test]
fn linear_filters() {
    let mut rig = Rig::new();
    let texture = Texture::new(SurfaceType::SURFTYPE_3D, [16, 8, 4], 3);
    texture.load(&mut rig);
    load_sampler(&mut rig, 1, &sampler(true, Mip::LINEAR));
    for level in 0..3usize {
        let size = texture.size(level).map(|n| n as f64);
        for step in 1..16 {
            let part = f64::from(step) / 16.0;
            let expected: [f64; 3] =
                std::array::from_fn(|n| (part * size[n] - 0.5).clamp(0.0, size[n] - 1.0));
            let point = [part as f32, part as f32, part as f32, level as f32];
            let found = sample_l(&mut rig, [point; 2])[0];
            for (found, expected) in found.iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{point:?} {found:?}");
            }
            assert_eq!(found[3], level as f32);
        }
    }
    // Between two levels.
    for quarter in 0..=8 {
        let lod = quarter as f32 / 4.0;
        let found = sample_l(&mut rig, [[0.5, 0.5, 0.5, lod]; 2])[1];
        assert_eq!(found[3], lod);
    }
}

/// A row of 16 pixels (four subspans, SIMD16) whose coordinates move by `step` texels per pixel.
fn pixels(width: f32, step: f32) -> [[u32; 8]; 2] {
    [0, 1].map(|half| {
        std::array::from_fn(|lane| {
            let (subspan, pixel) = (2 * half + lane / 4, lane % 4);
            let x = (2 * subspan + pixel % 2) as f32;
            ((x * step + 0.25) / width).to_bits()
        })
    })
}

/// Levels of detail from neighbours, with biases, clamps and Force LOD to Zero. Oracle: the
/// pseudocode of 003:2787-2827 for powers of two, where all numbers are exact.
#[test]
fn levels_of_detail() {
    let mut rig = Rig::new();
    let texture = Texture::new(SurfaceType::SURFTYPE_2D, [32, 32, 1], 6);
    texture.load(&mut rig);
    let mut check = |step: f32, bias: Option<f32>, zero: bool, state: SamplerState, level: f32| {
        load_sampler(&mut rig, 1, &state);
        let [u0, u1] = pixels(32.0, step);
        let (mut parameters, kind) = (vec![u0, u1, [0; 8], [0; 8]], 0);
        if let Some(bias) = bias {
            parameters.extend([[0; 8], [0; 8], [bias.to_bits(); 8], [bias.to_bits(); 8]]);
        }
        let header = SamplerMessageHeader { force_lod_to_zero: zero, ..header() };
        rig.send(&with_header(header, kind, 8, &parameters)).unwrap();
        let found = [rig.answer(6), rig.answer(7)].map(|row| row.map(f32::from_bits));
        assert_eq!(found, [[level; 8]; 2], "step {step}, bias {bias:?}, {state:?}");
    };
    let nearest = sampler(false, Mip::NEAREST);
    for (step, level) in [(0.25, 0.0), (1.0, 0.0), (2.0, 1.0), (4.0, 2.0), (8.0, 3.0), (64.0, 5.0)]
    {
        check(step, None, false, nearest, level);
        check(step, None, true, nearest, 0.0);
        check(step, None, false, sampler(false, Mip::NONE), 0.0);
    }
    check(2.0, Some(1.0), false, nearest, 2.0);
    check(2.0, Some(-1.0), false, nearest, 0.0);
    check(2.0, Some(15.0), false, nearest, 5.0);
    check(2.0, Some(2.0), true, nearest, 2.0);
    let biased = SamplerState {
        texture_lod_bias: genxml::core::SFix::new(1.5).unwrap(),
        mip_mode_filter: Mip::LINEAR,
        ..nearest
    };
    check(2.0, None, false, biased, 2.5);
    check(2.0, Some(0.25), false, biased, 2.75);
    let clamped = SamplerState {
        min_lod: UFix::new(1.25).unwrap(),
        max_lod: UFix::new(3.5).unwrap(),
        ..sampler(false, Mip::LINEAR)
    };
    check(0.5, None, false, clamped, 1.0);
    check(2.0, None, false, clamped, 1.25);
    check(16.0, None, false, clamped, 3.5);
    // The nearest level is one too large if the fraction of Max LOD is below one half.
    let quarter = SamplerState { max_lod: UFix::new(2.25).unwrap(), ..nearest };
    check(16.0, None, false, quarter, 3.0);
    let ogl = SamplerState {
        lod_pre_clamp_enable: SamplerStateLodPreClampEnable::OGL,
        base_mip_level: UFix::new(1.0).unwrap(),
        ..nearest
    };
    // With a base level of 1, a level of detail of 1 is magnified.
    check(2.0, None, false, ogl, 0.0);
    check(4.0, None, false, ogl, 2.0);
}

/// Surface Min LOD and Minimum Array Element select a part of the surface.
#[test]
fn parts_of_a_surface() {
    let mut rig = Rig::new();
    let texture = Texture::new(SurfaceType::SURFTYPE_2D, [16, 16, 6], 5);
    texture.load(&mut rig);
    load_sampler(&mut rig, 1, &sampler(false, Mip::NEAREST));
    let state = SurfaceState {
        surface_min_lod: u(2),
        mip_count_lod: u(1),
        minimum_array_element: u(3),
        extent: SurfaceStateExtent::Image {
            width: MinusOne::new(16).unwrap(),
            height: MinusOne::new(16).unwrap(),
            depth: MinusOne::new(2).unwrap(),
        },
        ..texture.state()
    };
    rig.bind(INDEX, &state.pack());
    let point = |slice: f32, lod: f32| [0.9, 0.9, slice, lod];
    assert_eq!(
        sample_l(&mut rig, [point(0.0, 0.0), point(1.0, 1.0)]),
        [[3.0, 3.0, 3.0, 2.0], [1.0, 1.0, 4.0, 3.0]]
    );
    // Both are clamped.
    assert_eq!(
        sample_l(&mut rig, [point(7.0, 9.0), point(-3.0, -3.0)]),
        [[1.0, 1.0, 4.0, 3.0], [3.0, 3.0, 3.0, 2.0]]
    );
    assert_eq!(
        load(&mut rig, [[2, 1, 1, 0], [1, 1, 0, 1]]),
        [[2.0, 1.0, 4.0, 2.0], [1.0, 1.0, 3.0, 3.0]]
    );
    assert_eq!(load(&mut rig, [[0, 0, 2, 0], [0, 0, 0, 2]]), [[0.0; 4]; 2]);
}

/// Comparisons: 0 if they hold, else 1 (003:3004-3018), mixed by the linear filter.
#[test]
fn comparisons() {
    let mut rig = Rig::new();
    Texture::new(SurfaceType::SURFTYPE_2D, [8, 8, 1], 1).load(&mut rig);
    let functions: [(ThreeDPrefilterOperation, Compare); 8] = [
        (ThreeDPrefilterOperation::ALWAYS, |_, _| true),
        (ThreeDPrefilterOperation::NEVER, |_, _| false),
        (ThreeDPrefilterOperation::LESS, |texel, reference| texel < reference),
        (ThreeDPrefilterOperation::EQUAL, |texel, reference| texel == reference),
        (ThreeDPrefilterOperation::LEQUAL, |texel, reference| texel <= reference),
        (ThreeDPrefilterOperation::GREATER, |texel, reference| texel > reference),
        (ThreeDPrefilterOperation::NOTEQUAL, |texel, reference| texel != reference),
        (ThreeDPrefilterOperation::GEQUAL, |texel, reference| texel >= reference),
    ];
    for (function, holds) in functions {
        for linear in [false, true] {
            let state = SamplerState { shadow_function: function, ..sampler(linear, Mip::NONE) };
            load_sampler(&mut rig, 1, &state);
            for reference in 2..6 {
                let reference = reference as f32;
                // Red is the column. The point lies a quarter of a texel right of the middle of
                // column 3.
                let uvr = [(3.75f32) / 8.0, 0.5, 0.0];
                let [u, v, r] = uvr.map(f32::to_bits);
                let parameters = [[u, v, r, 0, u, v, r, 0], {
                    let mut second = [0; 8];
                    (second[0], second[4]) = (reference.to_bits(), reference.to_bits());
                    second
                }];
                rig.send(&message(1, 1, &parameters)).unwrap();
                let value = |texel: f32| if holds(texel, reference) { 0.0 } else { 1.0 };
                let expected = match linear {
                    true => 0.75 * value(3.0) + 0.25 * value(4.0),
                    false => value(3.0),
                };
                assert_eq!(f32::from_bits(rig.answer(0)[0]), expected, "{function:?} {reference}");
            }
        }
    }
}

/// Address modes and border colours. Oracle: 003:2915-2965 and 003:3817-3835, by hand.
#[test]
fn outside_of_the_map() {
    let mut rig = Rig::new();
    Texture::new(SurfaceType::SURFTYPE_2D, [8, 8, 1], 1).load(&mut rig);
    let modes = [
        (TextureCoordinateMode::WRAP, 1.0, 5.0),
        (TextureCoordinateMode::MIRROR, 6.0, 2.0),
        (TextureCoordinateMode::CLAMP, 7.0, 0.0),
        (TextureCoordinateMode::MIRROR_ONCE, 7.0, 2.0),
    ];
    for (mode, above, below) in modes {
        let state = SamplerState { tcx_address_control_mode: mode, ..sampler(false, Mip::NONE) };
        load_sampler(&mut rig, 1, &state);
        let found = sample_l(&mut rig, [[9.5 / 8.0, 0.5, 0.0, 0.0], [-2.5 / 8.0, 0.5, 0.0, 0.0]]);
        assert_eq!([found[0][0], found[1][0]], [above, below], "{mode:?}");
    }
    let border = SamplerState {
        tcx_address_control_mode: TextureCoordinateMode::CLAMP_BORDER,
        border_color_pointer: Address::new(0x3000).unwrap(),
        ..sampler(true, Mip::NONE)
    };
    rig.put(BASE + 0x3000, &[100.5f32, -2.0, 3.0, 0.25].map(f32::to_bits));
    load_sampler(&mut rig, 1, &border);
    let color = [100.5, -2.0, 3.0, 0.25];
    let found = sample_l(&mut rig, [[1.5, 0.5, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0]]);
    assert_eq!(found[0], color);
    // At the edge, half of the border colour and half of column 7.
    assert_eq!(found[1], [(7.0 + 100.5) / 2.0, (3.5 - 2.0) / 2.0, 1.5, 0.125]);
    let dx9 = SamplerState {
        texture_border_color_mode: SamplerStateTextureBorderColorMode::DX9,
        ..border
    };
    rig.put(BASE + 0x3000, &[0xff00_3366]);
    load_sampler(&mut rig, 1, &dx9);
    let found = sample_l(&mut rig, [[1.5, 0.5, 0.0, 0.0]; 2]);
    assert_eq!(found[0], [0.4, 0.2, 0.0, 1.0]);
}

/// Disabled samplers and null surfaces return 0 (003:3090, 003:3656); disabled faces have the
/// border colour (003:3195).
#[test]
fn nothing() {
    let mut rig = Rig::new();
    let texture = Texture::new(SurfaceType::SURFTYPE_CUBE, [4, 4, 1], 1);
    texture.load(&mut rig);
    let disabled = SamplerState { sampler_disable: true, ..sampler(false, Mip::NONE) };
    load_sampler(&mut rig, 1, &disabled);
    let ahead = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0]];
    assert_eq!(sample_l(&mut rig, ahead), [[0.0; 4]; 2]);
    let cube = SamplerState {
        cube_surface_control_mode: SamplerStateCubeSurfaceControlMode::OVERRIDE,
        border_color_pointer: Address::new(0x3000).unwrap(),
        ..sampler(false, Mip::NONE)
    };
    rig.put(BASE + 0x3000, &[9f32, 8.0, 7.0, 6.0].map(f32::to_bits));
    load_sampler(&mut rig, 1, &cube);
    let hidden = SurfaceState { cube_face_enable_negative_z: false, ..texture.state() };
    rig.bind(INDEX, &hidden.pack());
    let found = sample_l(&mut rig, ahead);
    assert_eq!((found[0][2], found[1]), (0.0, [9.0, 8.0, 7.0, 6.0]));
    let null = SurfaceState { surface_type: SurfaceType::SURFTYPE_NULL, ..SurfaceState::new() };
    rig.bind(INDEX, &null.pack());
    assert_eq!(sample_l(&mut rig, ahead), [[0.0; 4]; 2]);
    assert_eq!(load(&mut rig, [[0; 4]; 2]), [[0.0; 4]; 2]);
    // Inactive samples keep the register (003:4246).
    rig.send(&Send { mask: 0x0f, ..message(3, 1, &[[0; 8]]) }).unwrap();
    assert_eq!(rig.answer(0)[4..], [4, 5, 6, 7].map(|n| before(ANSWER, n)));
}

/// Sizes by surface type (003:4054-4059).
#[test]
fn sizes() {
    let cases = [
        (SurfaceType::SURFTYPE_1D, [40, 1, 1], [10, 0, 0, 4]),
        (SurfaceType::SURFTYPE_1D, [40, 1, 7], [10, 7, 0, 4]),
        (SurfaceType::SURFTYPE_2D, [40, 20, 1], [10, 5, 0, 4]),
        (SurfaceType::SURFTYPE_2D, [40, 20, 3], [10, 5, 3, 4]),
        (SurfaceType::SURFTYPE_3D, [40, 20, 12], [10, 5, 3, 4]),
        (SurfaceType::SURFTYPE_CUBE, [16, 16, 1], [4, 4, 0, 4]),
    ];
    for (kind, size, expected) in cases {
        let mut rig = Rig::new();
        rig.bind(INDEX, &Texture::new(kind, size, 4).state().pack());
        rig.send(&message(2, 1, &[[0, 0, 0, 2, 0, 0, 0, 0]])).unwrap();
        let found = rig.answer(0);
        assert_eq!(found[..4], expected, "{kind:?} {size:?}");
        assert_eq!(found[4], size[0] as u32);
        // SIMD16: the level is the only parameter.
        rig.send(&message(2, 8, &[[2; 8], [0; 8]])).unwrap();
        for (n, expected) in expected.into_iter().enumerate() {
            assert_eq!(rig.answer(2 * n), [expected; 8]);
        }
    }
}
