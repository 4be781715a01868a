//! Headers, masks, lengths, sampler indices and pointers; invalid messages.

use crate::sampler::filters::sampler;
use crate::sampler::reference::{Filter, near};
use crate::sampler::texture::Texture;
use crate::sampler::{ANSWER, MODES, Mode, SAMPLERS, SURFACE, Send, Type, before, lanes, model};
use genxml::eu::gen8::eu_payloads::SamplerMessageHeader;
use genxml::gen8::state::{
    RenderSurfaceState, SamplerState, SamplerStateLodPreClampMode, SamplerStateMagModeFilter,
    SamplerStateMinModeFilter, SamplerStateMipModeFilter, ShaderChannelSelect as Select,
    SurfaceFormat, TextureCoordinateMode as Wrap,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at};

/// Channel masks of the header and of the send, and response lengths. Oracle: 003:4183-4259. In
/// both modes, channels that a header masks are not returned (gen8_facts 4.2).
#[test]
fn answers() {
    let (mut model, mut random) = (model(), Random::new(51));
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R32G32B32A32_FLOAT, 16, Tiling::Y, [8, 8], 1);
    texture.put(&mut model);
    let state = sampler(false);
    for round in 0..120u64 {
        let simd = [Mode::SIMD4X2, Mode::SIMD8, Mode::SIMD16][(round % 3) as usize];
        let count = lanes(simd);
        let absent = random.below(15) as u8;
        let with_header = round % 2 == 0;
        let channels = random.bits() as u16 | 1;
        let [x, y] = [0; 2].map(|_| [0; 16].map(|_| random.below(8) as u32));
        let place = |n: u32| ((n as f32 + 0.5) / 8.0).to_bits();
        let parameters = match simd {
            Mode::SIMD4X2 => {
                let mut register = [0; 16];
                for lane in 0..2 {
                    register[4 * lane] = place(x[lane]);
                    register[4 * lane + 1] = place(y[lane]);
                }
                vec![register, [0; 16]]
            }
            _ => vec![[0; 16], x.map(place), y.map(place)],
        };
        let mut send = Send::new(Type::SAMPLE_L, simd, parameters);
        send.channels = channels;
        let present: Vec<usize> = (0..4).filter(|n| !with_header || absent >> n & 1 == 0).collect();
        if with_header {
            send.header = Some(SamplerMessageHeader {
                red_write_channel_mask: absent & 1 != 0,
                green_write_channel_mask: absent & 2 != 0,
                blue_write_channel_mask: absent & 4 != 0,
                alpha_write_channel_mask: absent & 8 != 0,
                sampler_state_pointer: at(SAMPLERS),
                ..SamplerMessageHeader::new()
            });
        }
        let registers = count.div_ceil(8);
        let whole = if simd == Mode::SIMD4X2 { 1 } else { present.len() * registers };
        send.back = if round % 5 == 0 { whole.max(registers + 1) - registers } else { whole };
        let found = send.run(&mut model, &texture.state(), &[state]).unwrap();
        let mut expected: [[u32; 8]; ANSWER] = std::array::from_fn(before);
        for lane in 0..count {
            let texel =
                texture.texel(0, 0, x[lane], y[lane]).map(|channel| (channel as f32).to_bits());
            let enabled = match simd {
                Mode::SIMD4X2 => channels >> (4 * lane) & 15 != 0,
                _ => channels >> lane & 1 == 1,
            };
            if !enabled {
                continue;
            }
            for (place, &n) in present.iter().enumerate() {
                if simd == Mode::SIMD4X2 {
                    expected[0][4 * lane + n] = texel[n];
                } else if place * registers + lane / 8 < send.back {
                    expected[place * registers + lane / 8][lane % 8] = texel[n];
                }
            }
        }
        assert_eq!(found, expected, "{simd:?} absent {absent:#x} channels {channels:#x}");
    }
}

/// Sampler states by index, and by a header whose pointer is the base of the index.
#[test]
fn samplers() {
    let (mut model, mut random) = (model(), Random::new(52));
    let texture = Texture::plain(
        &mut random,
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Linear,
        [8, 8],
        1,
    );
    texture.put(&mut model);
    let wrap = |wrap| SamplerState {
        tcx_address_control_mode: wrap,
        tcy_address_control_mode: wrap,
        ..sampler(false)
    };
    let states: Vec<SamplerState> =
        (0..32).map(|n| wrap([Wrap::WRAP, Wrap::CLAMP, Wrap::MIRROR][n * 7 % 11 % 3])).collect();
    let u = 1.3f32;
    for n in 0..16 {
        for beyond in [false, true] {
            let mut send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![[u.to_bits(); 16], [0; 16]]);
            send.sampler = n;
            if beyond {
                send.header = Some(SamplerMessageHeader {
                    sampler_state_pointer: at(SAMPLERS + 256),
                    ..SamplerMessageHeader::new()
                });
            }
            let found = send.run(&mut model, &texture.state(), &states).unwrap();
            let used = &states[n as usize + if beyond { 16 } else { 0 }];
            let expected = Filter::of(used, [0.0; 4]).sample(&texture, 0, [u.into(), 0.0, 0.0], 0);
            assert!(near(std::array::from_fn(|n| found[n][0]), expected), "{n} {beyond}");
        }
    }
}

/// Selects are applied after the filter. A disabled sampler returns 0 in all channels.
#[test]
fn selects() {
    let (mut model, mut random) = (model(), Random::new(53));
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R8G8B8A8_UNORM, 4, Tiling::X, [8, 8], 1);
    texture.put(&mut model);
    let surface = RenderSurfaceState {
        shader_channel_select_red: Select::ALPHA,
        shader_channel_select_green: Select::ZERO,
        shader_channel_select_blue: Select::ONE,
        shader_channel_select_alpha: Select::GREEN,
        ..texture.state()
    };
    for simd in MODES {
        let send = Send::new(Type::SAMPLE, simd, vec![[0; 16], [0; 16]]);
        let texel = texture.texel(0, 0, 0, 0);
        for found in send.colors(&mut model, &surface, &sampler(false)) {
            assert!(near(found, [texel[3], 0.0, 1.0, texel[1]]));
        }
        let disabled = SamplerState { sampler_disable: true, ..sampler(false) };
        assert!(send.colors(&mut model, &surface, &disabled).iter().all(|found| *found == [0; 4]));
    }
}

/// Oracle: the cache flush of Intel's OpenCL compiler (descriptor 0x021ff000): one register is sent,
/// and one is returned.
#[test]
fn cache_flush() {
    let send = Send {
        header: Some(SamplerMessageHeader::new()),
        back: 1,
        ..Send::new(Type::LD2DSS, Mode::SIMD32_64, Vec::new())
    };
    let surface = genxml_cases::raw_buffer(SURFACE, 64);
    let answer = send.run(&mut model(), &surface, &[sampler(false)]).unwrap();
    assert_eq!(answer[0], [0; 8]);
    assert!((1..ANSWER).all(|register| answer[register] == before(register)));
    let long = Send { back: 2, ..send };
    let fault = long.run(&mut model(), &surface, &[sampler(false)]).unwrap_err().to_string();
    assert!(fault.contains("a cache flush"), "{fault}");
}

/// Messages that are refused by name.
#[test]
fn refusals() {
    let (mut model, mut random) = (model(), Random::new(54));
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R8G8B8A8_UNORM, 4, Tiling::X, [8, 8], 1);
    texture.put(&mut model);
    let state = texture.state();
    let mut fault = |send: &Send, surface: &RenderSurfaceState, sampler: SamplerState| {
        send.run(&mut model, surface, &[sampler]).unwrap_err().to_string()
    };
    let one = vec![[0; 16]; 2];
    let buffer = genxml_cases::raw_buffer(SURFACE, 64);
    let cases = [
        (
            Send::new(Type::from_bits(0x1b), Mode::SIMD8, one.clone()),
            state,
            sampler(false),
            "reserved",
        ),
        (
            Send::new(Type::GATHER4, Mode::SIMD32_64, one.clone()),
            state,
            sampler(false),
            "media message",
        ),
        (Send::new(Type::SAMPLE, Mode::SIMD8, Vec::new()), state, sampler(false), "0 registers"),
        (Send::new(Type::LD, Mode::SIMD8, one.clone()), buffer, sampler(false), "RAW"),
        (
            Send::new(Type::SAMPLE, Mode::SIMD8, one.clone()),
            RenderSurfaceState { surface_format: SurfaceFormat::R8_UNORM, ..buffer },
            sampler(false),
            "a buffer",
        ),
        (
            Send::new(Type::SAMPLE, Mode::SIMD8, one.clone()),
            state,
            SamplerState { tcx_address_control_mode: Wrap::from_bits(7), ..sampler(false) },
            "TCX Address Control Mode",
        ),
        (
            Send::new(Type::SAMPLE, Mode::SIMD8, one),
            RenderSurfaceState { surface_base_address: at(0x7000_0000), ..state },
            sampler(false),
            "not present",
        ),
    ];
    for (send, surface, sampler, why) in cases {
        let fault = fault(&send, &surface, sampler);
        assert!(fault.contains(why), "{fault}");
    }
}

/// Random states, parameters and descriptors cause a fault or a result, but no panic.
#[test]
fn any_bits() {
    let (mut model, mut random) = (model(), Random::new(55));
    let memory = random.bytes(1 << 20);
    model.write(SURFACE, &memory);
    let mut ends = 0;
    for _ in 0..2500 {
        let mut dwords: [u32; RenderSurfaceState::DWORDS] =
            std::array::from_fn(|_| random.bits() as u32);
        let mut state = RenderSurfaceState::unpack_lossy(&dwords);
        if random.below(2) == 0 {
            state.surface_format = SurfaceFormat::R8G8B8A8_UNORM;
        }
        if random.below(4) != 0 {
            // A small texture, so that most of it lies in mapped memory.
            let small = Texture::plain(
                &mut Random::new(0),
                SurfaceFormat::R8_UNORM,
                1,
                Tiling::Y,
                [20, 20],
                1,
            )
            .state();
            state.extent = small.extent;
            state.surface_pitch = small.surface_pitch;
            state.tile_mode = small.tile_mode;
            state.view = small.view;
            state.auxiliary = small.auxiliary;
        }
        dwords = state.pack();
        dwords[8] = SURFACE as u32 + (random.below(64) as u32) * 4096;
        dwords[9] = 0;
        let sampler: [u32; 4] = std::array::from_fn(|_| random.bits() as u32);
        let mut sampler = SamplerState::unpack_lossy(&sampler);
        sampler.indirect_state_pointer = at(crate::sampler::BORDER);
        if random.below(8) != 0 {
            // Use only values that are not reserved.
            let (mip, map, wrap) = ([0, 1, 3], [0, 1, 2, 6], random.below(7));
            sampler.mip_mode_filter =
                SamplerStateMipModeFilter::from_bits(mip[random.below(3) as usize]);
            sampler.min_mode_filter =
                SamplerStateMinModeFilter::from_bits(map[random.below(4) as usize]);
            sampler.mag_mode_filter =
                SamplerStateMagModeFilter::from_bits(map[random.below(3) as usize]);
            sampler.lod_pre_clamp_mode =
                SamplerStateLodPreClampMode::from_bits(2 * random.below(2));
            sampler.tcx_address_control_mode = Wrap::from_bits(wrap);
            sampler.tcy_address_control_mode = Wrap::from_bits(random.below(7));
            sampler.tcz_address_control_mode = Wrap::from_bits(random.below(7));
        }
        let header = SamplerMessageHeader {
            sampler_state_pointer: at(SAMPLERS),
            ..SamplerMessageHeader::unpack_lossy(&std::array::from_fn(|_| random.bits() as u32))
        };
        let simd = Mode::from_bits(random.below(16) / 5);
        let count = random.below(if simd == Mode::SIMD16 { 5 } else { 11 }) as usize;
        let send = Send {
            kind: Type::from_bits(random.below(32)),
            simd,
            header: (random.below(2) == 0).then_some(header),
            sampler: 0,
            channels: random.bits() as u16,
            parameters: (0..count)
                .map(|_| [0; 16].map(|_| random.bits() as u32 >> random.below(32)))
                .collect(),
            back: random.below(ANSWER as u64 + 1) as usize,
        };
        ends += u32::from(
            send.run(&mut model, &RenderSurfaceState::unpack_lossy(&dwords), &[sampler]).is_ok(),
        );
    }
    assert!(ends > 250, "{ends}");
}

/// The counter of performance reports for the sampler: blocks of four lanes with an active lane
/// (Broadwell vol 14 p.12, A28). Messages about the surface count nothing.
#[test]
fn observed() {
    let mut model = model();
    let texture = Texture::plain(
        &mut Random::new(0),
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Y,
        [16, 16],
        1,
    );
    texture.put(&mut model);
    for (kind, simd, channels, blocks) in [
        (Type::SAMPLE, Mode::SIMD8, 0xffff, 2),
        (Type::SAMPLE, Mode::SIMD16, 0xffff, 4),
        (Type::SAMPLE, Mode::SIMD16, 0x0f10, 2),
        (Type::RESINFO, Mode::SIMD8, 0xffff, 0),
    ] {
        let send = Send { channels, ..Send::new(kind, simd, vec![[0; 16]; 2]) };
        let before = model.counters()[28];
        send.run(&mut model, &texture.state(), &[sampler(true)]).unwrap();
        assert_eq!(model.counters()[28] - before, blocks, "{kind:?} {simd:?} {channels:#x}");
    }
}
