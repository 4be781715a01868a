//! The 24 sampler messages (003:3989-4027): the position of each parameter, and the registers of
//! responses (003:4183-4259).

use crate::rig::{ANSWER, Rig, Send, before, u};
use crate::sampler::{header, message, with_header};
use crate::texture::{INDEX, Texture, load_sampler, sampler};
use genxml::gen45::commands_3d::ThreeDStateChromaKey;
use genxml::gen45::enums::{SurfaceType, ThreeDPrefilterOperation};
use genxml::gen45::message_headers::SamplerMessageHeader;
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{
    SamplerState, SamplerStateChromaKeyMode, SamplerStateMipModeFilter as Mip, SurfaceState,
};
use genxml_core::latch::Latch;
use genxml_sim::gen45::state::State;

/// Type, length, lanes and parameters of each message. A dash is an unused position.
const TABLE: [(u64, usize, usize, &str); 24] = [
    (0, 3, 16, "u"),
    (0, 5, 16, "u v"),
    (0, 7, 16, "u v r"),
    (0, 4, 8, "u v r"),
    (1, 4, 8, "u v r"),
    (0, 9, 16, "u v r bias"),
    (1, 9, 16, "u v r lod"),
    (1, 2, 2, "u v r lod"),
    (2, 9, 16, "u v r ref"),
    (0, 2, 2, "u v r ref"),
    (0, 6, 8, "u v r bias ref"),
    (1, 6, 8, "u v r lod ref"),
    (1, 3, 2, "u v r lod ref"),
    (3, 3, 16, "x"),
    (3, 5, 16, "x y"),
    (3, 7, 16, "x y z"),
    (3, 4, 8, "x y z"),
    (3, 9, 16, "x y z level"),
    (3, 2, 2, "x y z level"),
    (2, 7, 8, "u v dudx dvdx dudy dvdy"),
    (2, 10, 8, "u v r dudx dvdx drdx dudy dvdy drdy"),
    (2, 4, 2, "u v r - dudx dvdx drdx - dudy dvdy drdy -"),
    (2, 3, 16, "shift"),
    (2, 2, 2, "- - - shift"),
];

/// Size of the volume, and number of its levels.
const SIZE: [usize; 3] = [8, 8, 4];
const LEVELS: usize = 3;

/// Column, row, slice and level that a lane asks for.
fn wanted(lane: usize, names: &str) -> [usize; 4] {
    let has = |name: &str| names.split(' ').any(|other| other == name);
    let level = match () {
        () if has("lod") || has("level") => lane % 3,
        () if has("dudx") => 1,
        () => 0,
    };
    let size = SIZE.map(|n| n >> level);
    let y = if has("v") || has("y") { 3 * lane % size[1] } else { 0 };
    let z = if has("r") || has("z") { (lane / 2) % size[2] } else { 0 };
    [lane % size[0], y, z, level]
}

/// The value of a parameter for a lane. `steep` is the derivative that is two texels long.
fn value(name: &str, lane: usize, names: &str, steep: &str) -> u32 {
    let [x, y, z, level] = wanted(lane, names);
    let size = SIZE.map(|n| (n >> level) as f32);
    let part = |n: usize, direction: usize| ((n as f32 + 0.5) / size[direction]).to_bits();
    let derivative = |size: usize| {
        let length: f32 = if name == steep { 2.0 } else { 0.0 };
        (length / size as f32).to_bits()
    };
    match name {
        "u" => part(x, 0),
        "v" => part(y, 1),
        "r" => part(z, 2),
        "lod" => (level as f32).to_bits(),
        "ref" => reference(lane, names).to_bits(),
        "x" => x as u32,
        "y" => y as u32,
        "z" => z as u32,
        "level" => level as u32,
        "shift" => (lane % 3) as u32,
        "dudx" | "dudy" => derivative(SIZE[0]),
        "dvdx" | "dvdy" => derivative(SIZE[1]),
        "drdx" | "drdy" => derivative(SIZE[2]),
        _ => 0,
    }
}

/// Every second lane compares the column with a larger number.
fn reference(lane: usize, names: &str) -> f32 {
    wanted(lane, names)[0] as f32 + if lane.is_multiple_of(2) { 0.5 } else { -0.5 }
}

/// The registers of a message.
fn payload(lanes: usize, names: &str, steep: &str) -> Vec<[u32; 8]> {
    let names_list: Vec<&str> = names.split(' ').collect();
    if lanes == 2 {
        let registers = names_list.chunks(4);
        return registers
            .map(|four| {
                std::array::from_fn(|n| {
                    four.get(n % 4).map_or(0, |name| value(name, n / 4, names, steep))
                })
            })
            .collect();
    }
    let rows = lanes / 8;
    let row =
        |name: &str, row: usize| std::array::from_fn(|n| value(name, 8 * row + n, names, steep));
    names_list.iter().flat_map(|name| (0..rows).map(move |n| row(name, n))).collect()
}

/// The channels that a lane gets back.
fn expected(lane: usize, names: &str) -> [u32; 4] {
    let wanted = wanted(lane, names);
    if names.contains("shift") {
        let level = lane % 3;
        return [8 >> level, 8 >> level, 4 >> level, 3];
    }
    if names.contains("ref") {
        // 0 if the comparison holds, else 1.
        let result: f32 = if reference(lane, names) > wanted[0] as f32 { 0.0 } else { 1.0 };
        return [result.to_bits(); 4];
    }
    wanted.map(|n| (n as f32).to_bits())
}

#[test]
fn every_message() {
    let mut rig = Rig::new();
    Texture::new(SurfaceType::SURFTYPE_3D, SIZE, LEVELS).load(&mut rig);
    for (kind, length, lanes, names) in TABLE {
        let takes_level = names.contains("lod") || names.contains("dudx");
        let state = SamplerState {
            shadow_function: ThreeDPrefilterOperation::LESS,
            ..sampler(false, if takes_level { Mip::NEAREST } else { Mip::NONE })
        };
        load_sampler(&mut rig, 1, &state);
        let steeps = names.split(' ').filter(|name| name.starts_with('d'));
        let steeps: Vec<&str> = if names.contains("dudx") { steeps.collect() } else { vec![""] };
        for steep in steeps {
            let parameters = payload(lanes, names, steep);
            assert_eq!(parameters.len() + 1, length, "{names}");
            for mask in [0xffffu32, 0xa5c3, 0x0009] {
                let responses = match lanes {
                    2 => 1,
                    8 if (kind, length) == (1, 4) => 5,
                    8 => 4,
                    _ => 8,
                };
                let send = Send { mask, ..message(kind, responses, &parameters) };
                rig.send(&send).unwrap_or_else(|fault| panic!("{names}: {fault}"));
                for lane in 0..lanes {
                    let expected = expected(lane, names);
                    for (channel, expected) in expected.into_iter().enumerate() {
                        let (register, dword, active) = match lanes {
                            2 => (0, 4 * lane + channel, mask >> (4 * lane) & 0xf != 0),
                            8 => (channel, lane, mask >> lane & 1 == 1),
                            _ => (2 * channel + lane / 8, lane % 8, mask >> lane & 1 == 1),
                        };
                        let expected =
                            if active { expected } else { before(ANSWER + register, dword) };
                        assert_eq!(
                            rig.answer(register)[dword],
                            expected,
                            "type {kind}, length {length}, {names}, {steep}: lane {lane} channel {channel} mask {mask:#x}"
                        );
                    }
                }
            }
        }
    }
}

/// Types and lengths that are not in the table, and the end of a thread (003:3920).
#[test]
fn refused() {
    let mut rig = Rig::new();
    Texture::new(SurfaceType::SURFTYPE_3D, SIZE, LEVELS).load(&mut rig);
    load_sampler(&mut rig, 1, &sampler(false, Mip::NONE));
    for kind in 0..16u64 {
        for length in 1..=14usize {
            let known = TABLE.iter().any(|row| (row.0, row.1) == (kind, length));
            let result = rig.send(&message(kind, 1, &vec![[0; 8]; length - 1]));
            match result {
                Ok(()) => assert!(known, "{kind} {length}"),
                Err(fault) => {
                    let text = fault.to_string();
                    assert!(!known, "{kind} {length}: {text}");
                    let expected = if kind > 3 { "unpublished" } else { "no message has" };
                    assert!(text.contains(expected), "{text}");
                }
            }
        }
    }
    let text = rig.refusal(&Send { eot: true, ..message(1, 0, &[[0; 8]]) });
    assert!(text.contains("cannot end"), "{text}");
    let masked = SamplerMessageHeader {
        red_write_channel_mask: true,
        green_write_channel_mask: true,
        blue_write_channel_mask: true,
        alpha_write_channel_mask: true,
        ..header()
    };
    let text = rig.refusal(&with_header(masked, 1, 1, &[[0; 8]]));
    assert!(text.contains("masked"), "{text}");
    let cube = Texture::new(SurfaceType::SURFTYPE_CUBE, [4, 4, 1], 1);
    rig.bind(INDEX, &cube.state().pack());
    let text = rig.refusal(&message(3, 1, &[[0; 8]]));
    assert!(text.contains("ld of a cube map"), "{text}");
}

/// Masked channels: SIMD16 moves later channels down, SIMD8 keeps their registers, SIMD4x2 keeps
/// their dwords (003:4190, 4220, 4246).
#[test]
fn masked_channels() {
    let mut rig = Rig::new();
    Texture::new(SurfaceType::SURFTYPE_3D, SIZE, LEVELS).load(&mut rig);
    let masked = SamplerMessageHeader {
        green_write_channel_mask: true,
        blue_write_channel_mask: true,
        ..header()
    };
    let texel = |channel: usize| ([5, 2, 1, 0][channel] as f32).to_bits();
    let row = |n: u32| [n; 8];
    let wide = [row(5), row(5), row(2), row(2), row(1), row(1)];
    rig.send(&with_header(masked, 3, 4, &wide)).unwrap();
    for n in 0..2 {
        assert_eq!(rig.answer(n), [texel(0); 8]);
        assert_eq!(rig.answer(2 + n), [texel(3); 8]);
        assert_eq!(rig.answer(4 + n)[0], before(ANSWER + 4 + n, 0));
    }
    rig.send(&with_header(masked, 3, 4, &[row(5), row(2), row(1)])).unwrap();
    assert_eq!((rig.answer(0), rig.answer(3)), ([texel(0); 8], [texel(3); 8]));
    for n in 1..3 {
        assert_eq!(rig.answer(n), std::array::from_fn(|dword| before(ANSWER + n, dword)));
    }
    rig.send(&with_header(masked, 3, 1, &[[5, 2, 1, 0, 5, 2, 1, 0]])).unwrap();
    for (n, found) in rig.answer(0).into_iter().enumerate() {
        let kept = n % 4 == 1 || n % 4 == 2;
        assert_eq!(found, if kept { before(ANSWER, n) } else { texel(n % 4) });
    }
}

/// sample+killpix returns the mask of pixels that the chroma key did not kill (003:4237-4243).
#[test]
fn killed_pixels() {
    let mut rig = Rig::new();
    // Four texels: red 0, 100, 150, 200.
    let texels = [0u32, 100, 150, 200].map(|red| 0xff00_0000 | red << 16);
    rig.put(crate::rig::DATA, &texels);
    let texture = Texture { columns: 16, ..Texture::new(SurfaceType::SURFTYPE_2D, [4, 1, 1], 1) };
    let state = SurfaceState { surface_format: SurfaceFormat::B8G8R8A8_UNORM, ..texture.state() };
    rig.bind(INDEX, &state.pack());
    let keyed = SamplerState {
        chroma_key_enable: true,
        chroma_key_index: u(2),
        chroma_key_mode: SamplerStateChromaKeyMode::KEYFILTER_KILL_ON_ANY_MATCH,
        ..sampler(false, Mip::NONE)
    };
    load_sampler(&mut rig, 1, &keyed);
    let packet = ThreeDStateChromaKey {
        chroma_key_table_index: u(2),
        chroma_key_low_value: u(0xff64_0000),
        chroma_key_high_value: u(0xff96_0000),
    };
    let state = rig.state.slots.get_mut::<State>();
    state.latched.keep(ThreeDStateChromaKey::SLOTS, &packet.pack());
    let row: [u32; 8] = std::array::from_fn(|n| ((n % 4) as f32 / 4.0 + 0.125).to_bits());
    rig.send(&message(1, 5, &[row, [0; 8], [0; 8]])).unwrap();
    assert_eq!(rig.answer(4)[0], 0xffff_ff99);
    assert_eq!(rig.answer(4)[1], before(ANSWER + 4, 1));
    assert_eq!(
        rig.answer(0).map(f32::from_bits)[..4],
        [0.0, 100.0, 150.0, 200.0].map(|n| n / 255.0)
    );
    let black = SamplerState {
        chroma_key_mode: SamplerStateChromaKeyMode::KEYFILTER_REPLACE_BLACK,
        ..keyed
    };
    load_sampler(&mut rig, 1, &black);
    rig.send(&message(1, 5, &[row, [0; 8], [0; 8]])).unwrap();
    assert_eq!(rig.answer(4)[0], 0xffff_ffff);
    assert_eq!(rig.answer(0).map(f32::from_bits)[..4], [0.0, 0.0, 0.0, 200.0 / 255.0]);
}
