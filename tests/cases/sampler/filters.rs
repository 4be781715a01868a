//! Nearest and linear filters, address modes, border colours, comparisons, cube maps. Oracle:
//! [`crate::sampler::reference`].

use crate::sampler::reference::{Color, Filter, near};
use crate::sampler::texture::{Kind, Texture};
use crate::sampler::{BORDER, MODES, Mode, Send, Type, model, put_border};
use genxml::eu::gen8::eu_payloads::SamplerMessageHeader;
use genxml::gen8::state::{
    RenderSurfaceState, SamplerState, SamplerStateMagModeFilter, SamplerStateMinModeFilter,
    SamplerStateMipModeFilter, ShaderChannelSelect as Select, SurfaceFormat,
    TextureCoordinateMode as Wrap, ThreeDPrefilterOperation,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at};
use genxml_core::{S, UFix};

const WRAPS: [Wrap; 6] = [
    Wrap::WRAP,
    Wrap::MIRROR,
    Wrap::CLAMP,
    Wrap::CLAMP_BORDER,
    Wrap::MIRROR_ONCE,
    Wrap::HALF_BORDER,
];

/// A sampler that uses one level, and the same filter for minification and magnification.
pub fn sampler(linear: bool) -> SamplerState {
    SamplerState {
        min_mode_filter: SamplerStateMinModeFilter::from_bits(linear.into()),
        mag_mode_filter: SamplerStateMagModeFilter::from_bits(linear.into()),
        mip_mode_filter: SamplerStateMipModeFilter::NEAREST,
        max_lod: UFix::new(14.0).unwrap(),
        indirect_state_pointer: at(BORDER),
        ..SamplerState::new()
    }
}

/// A coordinate with few significant bits, mostly near the map.
fn coordinate(random: &mut Random) -> f32 {
    let reach = [1.2, 3.0, 40.0][random.below(3) as usize];
    let value = (random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0) * reach;
    ((value * 1024.0).round() / 1024.0) as f32
}

/// All kinds of surfaces except cube maps, with address modes, rounding, offsets, both filters, and
/// levels from sample_l.
#[test]
fn maps() {
    let (mut model, mut random) = (model(), Random::new(11));
    let border = [0.25f32, -0.5, 0.75, 1.0];
    put_border(&mut model, border.map(f32::to_bits));
    let formats = [
        (SurfaceFormat::R32G32B32A32_FLOAT, 16),
        (SurfaceFormat::R8G8B8A8_UNORM, 4),
        (SurfaceFormat::B8G8R8A8_UNORM, 4),
        (SurfaceFormat::R16_UNORM, 2),
        (SurfaceFormat::R8_UNORM, 1),
    ];
    for round in 0..300 {
        let kind = Kind::ALL[round % 5];
        let (format, bytes) = formats[random.below(5) as usize];
        let texture = Texture::random(&mut random, kind, format, bytes);
        texture.put(&mut model);
        let linear = round % 2 == 0;
        let mut pick = || WRAPS[random.below(6) as usize];
        let wrap = [pick(), pick(), pick()];
        let rounds = random.below(2) == 0;
        let state = SamplerState {
            tcx_address_control_mode: wrap[0],
            tcy_address_control_mode: wrap[1],
            tcz_address_control_mode: wrap[2],
            u_address_mag_filter_rounding_enable: rounds,
            v_address_mag_filter_rounding_enable: rounds,
            r_address_mag_filter_rounding_enable: rounds,
            u_address_min_filter_rounding_enable: rounds,
            v_address_min_filter_rounding_enable: rounds,
            r_address_min_filter_rounding_enable: rounds,
            ..sampler(linear)
        };
        // 003:3817: channels that the format lacks become 0 or 1, the others are clamped to its
        // range.
        let border: Color = match bytes {
            16 => border.map(f64::from),
            4 => border.map(|channel| f64::from(channel.max(0.0))),
            _ => [0.25, 0.0, 0.0, 1.0],
        };
        let mut filter = Filter::of(&state, border);
        let simd = MODES[round % 2];
        let mut send = Send::new(Type::SAMPLE_L, simd, Vec::new());
        if round % 3 == 0 {
            filter.offset = [0; 3].map(|_| random.below(16) as i32 - 8);
            let offset = filter.offset.map(|n| S::new(n.into()).unwrap());
            let [u_offset, v_offset, r_offset] = offset;
            send.header = Some(SamplerMessageHeader {
                u_offset,
                v_offset,
                r_offset,
                sampler_state_pointer: at(crate::sampler::SAMPLERS),
                ..SamplerMessageHeader::new()
            });
        }
        let mut lanes = [0; 16].map(|_| {
            let mut uvr = [0; 3].map(|_| coordinate(&mut random));
            match kind {
                Kind::OneArray => uvr[1] = random.below(80) as f32 / 8.0 - 1.0,
                Kind::TwoArray => uvr[2] = random.below(80) as f32 / 8.0 - 1.0,
                _ => {}
            }
            (uvr, random.below(u64::from(texture.levels) + 1) as f32)
        });
        // Three lanes: at both edges of the map, and at the centre of the first texel.
        lanes[0].0[0] = 0.0;
        lanes[1].0[0] = 1.0;
        lanes[2].0[0] = 0.5 / texture.width as f32;
        let column = |n: usize| lanes.map(|(uvr, _)| uvr[n].to_bits());
        let lods = lanes.map(|(_, lod)| lod.to_bits());
        send.parameters = vec![lods, column(0), column(1), column(2)];
        if send.header.is_some() && simd == Mode::SIMD16 {
            assert_eq!(send.registers().len(), 9);
        }
        for (lane, found) in
            send.colors(&mut model, &texture.state(), &state).into_iter().enumerate()
        {
            let (uvr, lod) = lanes[lane];
            let level = (lod as u32).min(texture.levels - 1);
            let layer = match kind {
                Kind::OneArray => uvr[1],
                Kind::TwoArray => uvr[2],
                _ => 0.0,
            };
            // The nearest existing layer, ties to even.
            let layer = layer.round_ties_even().clamp(0.0, texture.layers as f32 - 1.0) as u32;
            let expected = filter.sample(&texture, level, uvr.map(f64::from), layer);
            assert!(
                near(found, expected),
                "{kind:?} {format:?} {wrap:?} linear {linear} {uvr:?} lod {lod}: {:?} {expected:?}",
                found.map(f32::from_bits)
            );
        }
    }
}

/// Each rounding enable alone, on a volume with sizes that are no powers of two: U, V and R, for
/// magnification (level of detail -1) and minification (1).
#[test]
fn roundings() {
    let (mut model, mut random) = (model(), Random::new(18));
    let format = SurfaceFormat::R32G32B32A32_FLOAT;
    let mut texture = Texture::random(&mut random, Kind::Three, format, 16);
    while texture.levels > 1 || texture.size(0).iter().any(|extent| *extent < 3 || extent % 2 == 0)
    {
        texture = Texture::random(&mut random, Kind::Three, format, 16);
    }
    texture.put(&mut model);
    let mut differ = 0;
    for enabled in 0..6 {
        let state = SamplerState {
            u_address_mag_filter_rounding_enable: enabled == 0,
            v_address_mag_filter_rounding_enable: enabled == 1,
            r_address_mag_filter_rounding_enable: enabled == 2,
            u_address_min_filter_rounding_enable: enabled == 3,
            v_address_min_filter_rounding_enable: enabled == 4,
            r_address_min_filter_rounding_enable: enabled == 5,
            ..sampler(true)
        };
        for (lod, first) in [(-1.0f32, 0), (1.0, 3)] {
            let uvr = [0; 3].map(|_| [0; 16].map(|_| random.below(1 << 14) as f32 / 16384.0));
            let mut parameters = vec![[lod.to_bits(); 16]];
            parameters.extend(uvr.map(|lanes| lanes.map(f32::to_bits)));
            let send = Send::new(Type::SAMPLE_L, Mode::SIMD16, parameters);
            let round = [0, 1, 2].map(|direction| enabled == first + direction);
            let filter = Filter { round, ..Filter::of(&state, [0.0; 4]) };
            let cut = Filter { round: [false; 3], ..filter };
            for (lane, found) in
                send.colors(&mut model, &texture.state(), &state).into_iter().enumerate()
            {
                let place = [0, 1, 2].map(|n: usize| f64::from(uvr[n][lane]));
                let expected = filter.sample(&texture, 0, place, 0);
                let color = found.map(f32::from_bits);
                assert!(
                    near(found, expected),
                    "enable {enabled}, {lod}, {place:?}: {color:?} {expected:?}"
                );
                differ += u32::from(!near(found, cut.sample(&texture, 0, place, 0)));
            }
        }
    }
    assert!(differ > 20, "only {differ} results depend on the enables");
}

/// Coordinates in units of texels (2d p.405).
#[test]
fn coordinates_of_texels() {
    let (mut model, mut random) = (model(), Random::new(12));
    for linear in [false, true] {
        let texture = Texture::plain(
            &mut random,
            SurfaceFormat::R32G32B32A32_FLOAT,
            16,
            Tiling::Y,
            [37, 21],
            1,
        );
        texture.put(&mut model);
        let state = SamplerState {
            non_normalized_coordinate_enable: true,
            mip_mode_filter: SamplerStateMipModeFilter::NONE,
            max_lod: UFix::ZERO,
            tcx_address_control_mode: Wrap::CLAMP,
            tcy_address_control_mode: Wrap::CLAMP_BORDER,
            ..sampler(linear)
        };
        let filter = Filter::of(&state, [0.0; 4]);
        let u = [0; 16].map(|_| random.below(50 * 256) as f32 / 256.0 - 5.0);
        let v = [0; 16].map(|_| random.below(30 * 256) as f32 / 256.0 - 5.0);
        put_border(&mut model, [0; 4]);
        let send =
            Send::new(Type::SAMPLE, Mode::SIMD16, vec![u.map(f32::to_bits), v.map(f32::to_bits)]);
        for (lane, found) in
            send.colors(&mut model, &texture.state(), &state).into_iter().enumerate()
        {
            let expected = filter.sample(&texture, 0, [u[lane].into(), v[lane].into(), 0.0], 0);
            assert!(near(found, expected), "{} {} {expected:?}", u[lane], v[lane]);
        }
    }
}

/// Comparisons are done before the filter, in the direction of the table of 003:3008-3016.
#[test]
fn comparisons() {
    let (mut model, mut random) = (model(), Random::new(13));
    let texture = Texture::plain(&mut random, SurfaceFormat::R32_FLOAT, 4, Tiling::Y, [16, 16], 1);
    texture.put(&mut model);
    let holds: [fn(f64, f64) -> bool; 8] = [
        |_, _| true,
        |_, _| false,
        |texel, reference| texel < reference,
        |texel, reference| texel == reference,
        |texel, reference| texel <= reference,
        |texel, reference| texel > reference,
        |texel, reference| texel != reference,
        |texel, reference| texel >= reference,
    ];
    for (code, holds) in holds.into_iter().enumerate() {
        for linear in [false, true] {
            let state = SamplerState {
                shadow_function: ThreeDPrefilterOperation::from_bits(code as u64),
                ..sampler(linear)
            };
            let coordinate = [0; 16].map(|_| random.below(256) as f32 / 256.0);
            let texel = |n: usize| texture.texel(0, 0, n as u32 % 16, n as u32 / 16)[0] as f32;
            // Some reference values equal a texel.
            let references: [f32; 16] =
                std::array::from_fn(|n| if n % 2 == 0 { texel(n * 7) } else { 0.1 });
            let mut lanes = [[0u32; 16]; 3];
            for lane in 0..16 {
                let at = if lane % 2 == 0 { (lane * 7 % 16, lane * 7 / 16) } else { (0, 0) };
                let u = if lane % 2 == 0 { (at.0 as f32 + 0.5) / 16.0 } else { coordinate[lane] };
                let v =
                    if lane % 2 == 0 { (at.1 as f32 + 0.5) / 16.0 } else { coordinate[15 - lane] };
                lanes[0][lane] = references[lane].to_bits();
                lanes[1][lane] = u.to_bits();
                lanes[2][lane] = v.to_bits();
            }
            let send = Send::new(Type::SAMPLE_C, Mode::SIMD16, lanes.to_vec());
            // The expected colours are the filtered results of the comparisons.
            for (lane, found) in
                send.colors(&mut model, &texture.state(), &state).into_iter().enumerate()
            {
                let mut results = texture.clone();
                let reference = f64::from(references[lane]);
                for y in 0..16 {
                    for x in 0..16 {
                        let result = if holds(texture.texel(0, 0, x, y)[0], reference) {
                            0.0f32
                        } else {
                            1.0
                        };
                        let offset = results.offset(0, 0, x, y);
                        results.memory[offset..offset + 4].copy_from_slice(&result.to_le_bytes());
                    }
                }
                let place = [1, 2].map(|n| f64::from(f32::from_bits(lanes[n][lane])));
                let expected =
                    Filter::of(&state, [0.0; 4]).sample(&results, 0, [place[0], place[1], 0.0], 0)
                        [0];
                assert!(
                    (f64::from(f32::from_bits(found[0])) - expected).abs() < 1e-6,
                    "{code} {lane}"
                );
                assert_eq!(found, [found[0]; 4]);
            }
        }
    }
}

/// The direction to a point of a face: the inverse of the table in the OpenGL specification.
fn direction(face: u32, s: f64, t: f64) -> [f64; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// Faces of cube maps and of cube map arrays, clamped to the face.
#[test]
fn cube_maps() {
    let (mut model, mut random) = (model(), Random::new(14));
    for round in 0..60 {
        let kind = [Kind::Cube, Kind::CubeArray][round % 2];
        let texture = Texture::random(&mut random, kind, SurfaceFormat::R32G32B32A32_FLOAT, 16);
        texture.put(&mut model);
        let clamp = Wrap::CLAMP;
        let state = SamplerState {
            tcx_address_control_mode: clamp,
            tcy_address_control_mode: clamp,
            tcz_address_control_mode: clamp,
            ..sampler(round % 4 < 2)
        };
        let filter = Filter::of(&state, [0.0; 4]);
        let mut lanes = [[0u32; 5]; 16];
        let mut places = Vec::new();
        for lane in &mut lanes {
            let face = random.below(6) as u32;
            let [s, t] = [0; 2].map(|_| random.below(1023) as f64 / 512.0 - 1023.0 / 1024.0);
            let cube = random.below(4) as f32;
            let lod = random.below(u64::from(texture.levels)) as f32;
            let [x, y, z] = direction(face, s, t).map(|part| (part as f32).to_bits());
            *lane = [lod.to_bits(), x, y, z, cube.to_bits()];
            places.push((face, s, t, (cube as u32).min(texture.layers - 1), lod as u32));
        }
        // Five parameters for 16 lanes: ten registers.
        let parameters = (0..5).map(|n| lanes.map(|lane| lane[n])).collect();
        let send = Send::new(Type::SAMPLE_L, Mode::SIMD16, parameters);
        for (found, (face, s, t, cube, lod)) in
            send.colors(&mut model, &texture.state(), &state).into_iter().zip(places)
        {
            let place = [(s + 1.0) / 2.0, (t + 1.0) / 2.0, 0.0];
            let expected = filter.sample(&texture, lod, place, 6 * cube + face);
            assert!(near(found, expected), "face {face} {s} {t}");
        }
    }
}

/// A disabled face returns the border colour. The border colour is read only then: drivers leave
/// its pointer unset for other maps.
#[test]
fn faces_without_texels() {
    let (mut model, mut random) = (model(), Random::new(17));
    let format = SurfaceFormat::R32G32B32A32_FLOAT;
    let mut texture = Texture::plain(&mut random, format, 16, Tiling::Linear, [8, 8], 1);
    texture.kind = Kind::Cube;
    texture.depth = 6;
    texture.qpitch = 8;
    texture.memory.resize((8 * 6 * texture.pitch) as usize, 0x3e);
    texture.put(&mut model);
    put_border(&mut model, [0.5f32, 0.25, -4.0, 3.0].map(f32::to_bits));
    let cube = Wrap::CUBE;
    let state = SamplerState {
        tcx_address_control_mode: cube,
        tcy_address_control_mode: cube,
        tcz_address_control_mode: cube,
        ..sampler(false)
    };
    let nowhere = SamplerState { indirect_state_pointer: at(0x80_0000), ..state };
    let faces = (0..6).flat_map(|hidden| (0..6).map(move |face| (hidden, face)));
    for (hidden, face) in faces {
        let surface = RenderSurfaceState {
            cube_face_enable_positive_x: hidden != 0,
            cube_face_enable_negative_x: hidden != 1,
            cube_face_enable_positive_y: hidden != 2,
            cube_face_enable_negative_y: hidden != 3,
            cube_face_enable_positive_z: hidden != 4,
            cube_face_enable_negative_z: hidden != 5,
            ..texture.state()
        };
        let lanes = direction(face, 0.25, 0.5).map(|part| [(part as f32).to_bits(); 16]);
        let send =
            Send::new(Type::SAMPLE_L, Mode::SIMD8, vec![[0; 16], lanes[0], lanes[1], lanes[2]]);
        let found = send.colors(&mut model, &texture.state(), &nowhere)[0];
        let border = [0.5f32, 0.25, -4.0, 3.0].map(f32::to_bits);
        let expected = if face == hidden { border } else { found };
        let seen = send.colors(&mut model, &surface, &state)[0];
        assert_eq!(seen, expected, "face {face} without {hidden}");
        let fault = send.run(&mut model, &surface, &[nowhere]).unwrap_err().to_string();
        assert!(fault.contains("border colour"), "{fault}");
    }
}

/// Filtering across the edges of faces. Each texel is the direction to its own centre, so the
/// expected result can be computed.
#[test]
fn cube_seams() {
    let mut random = Random::new(15);
    let mut model = model();
    let size = 8;
    let mut texture = Texture::plain(
        &mut random,
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Linear,
        [size, size],
        1,
    );
    texture.kind = Kind::Cube;
    texture.depth = 6;
    texture.qpitch = 8;
    texture.memory = vec![0; (8 * 6 * texture.pitch) as usize];
    for face in 0..6 {
        for y in 0..size {
            for x in 0..size {
                let centre = |at: u32| f64::from(2 * at + 1) / f64::from(size) - 1.0;
                let color = direction(face, centre(x), centre(y));
                let offset = texture.offset(0, face, x, y);
                for (n, channel) in color.iter().enumerate() {
                    texture.memory[offset + 4 * n..][..4]
                        .copy_from_slice(&(*channel as f32).to_le_bytes());
                }
            }
        }
    }
    texture.put(&mut model);
    let cube = Wrap::CUBE;
    let state = SamplerState {
        tcx_address_control_mode: cube,
        tcy_address_control_mode: cube,
        tcz_address_control_mode: cube,
        ..sampler(true)
    };
    for face in 0..6 {
        for along in 0..7 {
            let along = f64::from(along) / 4.0 - 0.75;
            for (s, t) in [(1.0, along), (-1.0, along), (along, 1.0), (along, -1.0)] {
                let point = direction(face, s, t);
                let lanes = point.map(|part| [(part as f32).to_bits(); 16]);
                let send = Send::new(
                    Type::SAMPLE_L,
                    Mode::SIMD8,
                    vec![[0; 16], lanes[0], lanes[1], lanes[2]],
                );
                let found = send.colors(&mut model, &texture.state(), &state)[0];
                // The filter takes half of the texel at the edge and half of the texel on the other
                // side. Each is an eighth away from the edge, in its own face.
                for n in 0..3 {
                    let expected = if point[n].abs() == 1.0 {
                        point[n].signum() * 15.0 / 16.0
                    } else {
                        point[n]
                    };
                    let found = f64::from(f32::from_bits(found[n]));
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "face {face} {s} {t}: {found} {expected}"
                    );
                }
            }
        }
        // At a corner, the result has a third of each of the three texels around it.
        for (s, t) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let point = direction(face, s, t);
            let lanes = point.map(|part| [(part as f32).to_bits(); 16]);
            let send =
                Send::new(Type::SAMPLE_L, Mode::SIMD8, vec![[0; 16], lanes[0], lanes[1], lanes[2]]);
            let found = send.colors(&mut model, &texture.state(), &state)[0];
            for n in 0..3 {
                let expected = point[n] * (1.0 + 0.875 + 0.875) / 3.0;
                assert!(
                    (f64::from(f32::from_bits(found[n])) - expected).abs() < 1e-6,
                    "face {face} {s} {t}"
                );
            }
        }
    }
}

/// The minimum and maximum of the texels that a linear filter uses.
#[test]
fn extremes() {
    let (mut model, mut random) = (model(), Random::new(16));
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R32G32B32A32_FLOAT, 16, Tiling::X, [9, 9], 1);
    texture.put(&mut model);
    let state = sampler(true);
    let [u, v] = [0; 2].map(|_| [0; 16].map(|_| (2 * random.below(512) + 1) as f32 / 1024.0));
    for (kind, least) in [(Type::SAMPLE_MIN, true), (Type::SAMPLE_MAX, false)] {
        let send = Send::new(kind, Mode::SIMD16, vec![u.map(f32::to_bits), v.map(f32::to_bits)]);
        for (lane, found) in
            send.colors(&mut model, &texture.state(), &state).into_iter().enumerate()
        {
            let place =
                |coordinate: f32| (f64::from(coordinate) * 9.0 * 256.0).floor() / 256.0 - 0.5;
            let (x, y) = (place(u[lane]), place(v[lane]));
            let texels = |at: f64| {
                let both = [at.floor(), at.floor() + 1.0].map(|texel| texel.rem_euclid(9.0) as u32);
                if at == at.floor() { vec![both[0]] } else { both.to_vec() }
            };
            for (n, found) in found.into_iter().enumerate() {
                let mut all = Vec::new();
                for y in texels(y) {
                    for x in texels(x) {
                        all.push(texture.texel(0, 0, x, y)[n]);
                    }
                }
                let pick = if least { f64::min } else { f64::max };
                let expected = all.into_iter().reduce(pick).unwrap();
                assert_eq!(f64::from(f32::from_bits(found)), expected);
            }
        }
    }
}

/// Minimum and maximum of integers have the sampler's filters (2d p.398), for magnification another
/// one than for minification: one texel, or the four around the point.
#[test]
fn extremes_of_integers() {
    let mut model = model();
    let texels: [u32; 4] = [30, 10, 40, 20];
    let mut texture = Texture::plain(
        &mut Random::new(0),
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Linear,
        [2, 2],
        1,
    );
    texture.format = SurfaceFormat::R32G32B32A32_UINT;
    for (n, texel) in (0..).zip(texels) {
        let offset = texture.offset(0, 0, n % 2, n / 2);
        texture.memory[offset..offset + 4].copy_from_slice(&texel.to_le_bytes());
    }
    texture.put(&mut model);
    let clamp = Wrap::CLAMP;
    let state = SamplerState {
        min_mode_filter: SamplerStateMinModeFilter::LINEAR,
        mag_mode_filter: SamplerStateMagModeFilter::NEAREST,
        tcx_address_control_mode: clamp,
        tcy_address_control_mode: clamp,
        ..sampler(true)
    };
    // The pixels of a subspan have the same point, or are 8 texels apart. The first pixel lies at
    // the corner of the four texels.
    let near_by = [[0.5f32; 16]; 2];
    let apart: [f32; 16] = std::array::from_fn(|n| if n % 4 == 0 { 0.5 } else { 4.5 });
    for (kind, corner) in [(Type::SAMPLE_MIN, 10), (Type::SAMPLE_MAX, 40)] {
        for (places, expected) in [(near_by, 20), ([apart; 2], corner)] {
            let lanes = places.map(|lanes| lanes.map(f32::to_bits)).to_vec();
            let send = Send::new(kind, Mode::SIMD16, lanes);
            let found = send.colors(&mut model, &texture.state(), &state);
            assert_eq!([found[0][0], found[4][0]], [expected; 2], "{kind:?}");
        }
    }
}

/// Tests the model's fast path for two-dimensional textures of four bytes per texel: address modes,
/// selects, layers, tilings, two levels.
#[test]
fn pictures() {
    let (mut model, mut random) = (model(), Random::new(17));
    let formats = [
        SurfaceFormat::R8G8B8A8_UNORM,
        SurfaceFormat::B8G8R8A8_UNORM,
        SurfaceFormat::B8G8R8X8_UNORM,
    ];
    let selects =
        [Select::RED, Select::GREEN, Select::BLUE, Select::ALPHA, Select::ZERO, Select::ONE];
    for round in 0..120 {
        let kind = [Kind::Two, Kind::TwoArray][round % 2];
        let format = formats[round % 3];
        let mut texture = Texture::random(&mut random, kind, SurfaceFormat::R8G8B8A8_UNORM, 4);
        texture.format = if round % 3 == 0 { format } else { SurfaceFormat::B8G8R8A8_UNORM };
        texture.put(&mut model);
        let linear = round % 4 < 2;
        let mut pick =
            || [Wrap::WRAP, Wrap::MIRROR, Wrap::CLAMP, Wrap::MIRROR_ONCE][random.below(4) as usize];
        let (tcx_address_control_mode, tcy_address_control_mode) = (pick(), pick());
        let select = [0; 4].map(|_| selects[random.below(6) as usize]);
        let state = SamplerState {
            tcx_address_control_mode,
            tcy_address_control_mode,
            mip_mode_filter: SamplerStateMipModeFilter::LINEAR,
            ..sampler(linear)
        };
        let filter = Filter::of(&state, [0.0; 4]);
        let surface = RenderSurfaceState {
            surface_format: format,
            shader_channel_select_red: select[0],
            shader_channel_select_green: select[1],
            shader_channel_select_blue: select[2],
            shader_channel_select_alpha: select[3],
            ..texture.state()
        };
        let simd = MODES[round % 2];
        let lanes = [0; 16].map(|_| {
            let uv = [0; 2].map(|_| coordinate(&mut random));
            (uv, random.below(4) as f32, random.below(16 * u64::from(texture.levels)) as f32 / 16.0)
        });
        let column = |n: usize| lanes.map(|(uv, ..)| uv[n].to_bits());
        let (layers, lods) =
            (lanes.map(|(_, r, _)| r.to_bits()), lanes.map(|(.., lod)| lod.to_bits()));
        let send = Send::new(Type::SAMPLE_L, simd, vec![lods, column(0), column(1), layers]);
        for (lane, found) in send.colors(&mut model, &surface, &state).into_iter().enumerate() {
            let (uv, r, lod) = lanes[lane];
            let layer = if kind == Kind::Two { 0 } else { (r as u32).min(texture.layers - 1) };
            let last = texture.levels - 1;
            let lod = f64::from(lod).min(last.into());
            let level = |level: u32| {
                filter.sample(&texture, level.min(last), [uv[0].into(), uv[1].into(), 0.0], layer)
            };
            let (own, next) = (level(lod as u32), level(lod as u32 + 1));
            let mut color: Color =
                std::array::from_fn(|n| own[n] + (next[n] - own[n]) * lod.fract());
            if format == SurfaceFormat::B8G8R8X8_UNORM {
                color[3] = 1.0;
            }
            let expected = select.map(|select| match select {
                Select::ZERO => 0.0,
                Select::ONE => 1.0,
                other => color[selects.iter().position(|&select| select == other).unwrap()],
            });
            assert!(
                near(found, expected),
                "{format:?} {uv:?} {lod}: {:?} {expected:?}",
                found.map(f32::from_bits)
            );
        }
    }
}
