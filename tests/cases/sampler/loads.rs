//! ld, ld2dms, ld2dss, ld_mcs: exact results. Oracle: element offsets counted by hand, gen8_facts
//! 8.3 for samples.

use crate::sampler::texture::{Kind, Texture};
use crate::sampler::{MODES, Mode, SURFACE, Send, Type, model};
use genxml::eu::gen8::eu_payloads::SamplerMessageHeader;
use genxml::gen8::state::{
    ClearColor, NumberOfMultisamples, RenderSurfaceState, RenderSurfaceStateAuxiliary,
    RenderSurfaceStateAuxiliarySurfaceMode, RenderSurfaceStateMultisampledSurfaceStorageFormat,
    RenderSurfaceStateView, SamplerState, SurfaceFormat, SurfaceType,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at, raw_buffer};
use genxml_core::{MinusOne, S};

fn signed(value: i64) -> S<4> {
    S::new(value).unwrap()
}

/// 32-bit integers are returned unchanged. Outside of the surface all channels are 0, but alpha is
/// 1 if the format lacks it.
#[test]
fn texels() {
    let (mut model, mut random) = (model(), Random::new(1));
    for round in 0..280 {
        let kind = Kind::ALL[round % 7];
        let (format, bytes) =
            [(SurfaceFormat::R32_UINT, 4), (SurfaceFormat::R32G32B32A32_UINT, 16)][round / 7 % 2];
        let texture = Texture::random(&mut random, kind, format, bytes);
        texture.put(&mut model);
        let simd = MODES[round % 2];
        let layers = match kind {
            Kind::Cube | Kind::CubeArray => 6 * texture.layers,
            _ => texture.layers,
        };
        let offset =
            if round % 3 == 0 { [0; 3] } else { [0; 3].map(|_| random.below(16) as i64 - 8) };
        let mut places = [[0u32; 4]; 16];
        for place in &mut places {
            let lod = random.below(u64::from(texture.levels) + 1) as u32;
            let [width, height, depth] = texture.size(lod.min(texture.levels - 1));
            let slices = if kind == Kind::Three { depth } else { layers };
            let mut within = |extent: u32, n: usize| match random.below(30) {
                0 => extent as i64 + random.below(3) as i64,
                1 => random.bits() as i32 as i64,
                _ => random.below(extent.into()) as i64 - offset[n],
            } as u32;
            *place = match kind {
                Kind::One => [within(width, 0), 0, 0, lod],
                Kind::OneArray => [within(width, 0), within(slices, 1), 0, lod],
                Kind::Two => [within(width, 0), within(height, 1), 0, lod],
                _ => [within(width, 0), within(height, 1), within(slices, 2), lod],
            };
        }
        let lanes = |n: usize| places.map(|place| place[n]);
        // The parameters of ld are u, lod, v and r (gen8_facts 4.2).
        let mut send = Send::new(Type::LD, simd, vec![lanes(0), lanes(3), lanes(1), lanes(2)]);
        send.header = (round % 3 != 0).then(|| SamplerMessageHeader {
            u_offset: signed(offset[0]),
            v_offset: signed(offset[1]),
            r_offset: signed(offset[2]),
            ..SamplerMessageHeader::new()
        });
        let found = send.colors(&mut model, &texture.state(), &SamplerState::new());
        for (lane, found) in found.into_iter().enumerate() {
            let moved = |n: usize| i64::from(places[lane][n] as i32) + offset[n];
            let lod = places[lane][3];
            let one = u32::from(bytes == 4);
            let mut expected = [0, 0, 0, one];
            if lod < texture.levels {
                let [width, height, depth] = texture.size(lod);
                let (x, y, slice) = match kind {
                    Kind::One => (moved(0), 0, 0),
                    Kind::OneArray => (moved(0), 0, moved(1)),
                    Kind::Two => (moved(0), moved(1), 0),
                    _ => (moved(0), moved(1), moved(2)),
                };
                let slices = if kind == Kind::Three { depth } else { layers };
                let inside = |at: i64, extent: u32| (0..i64::from(extent)).contains(&at);
                if inside(x, width) && inside(y, height) && inside(slice, slices) {
                    let element = texture.element(lod, slice as u32, x as u32, y as u32);
                    for (n, bytes) in element.chunks(4).enumerate() {
                        expected[n] = u32::from_le_bytes(bytes.try_into().unwrap());
                    }
                }
            }
            assert_eq!(
                found, expected,
                "{kind:?} {simd:?} lane {lane} {:?} {offset:?}",
                places[lane]
            );
        }
    }
}

/// Elements of a buffer. The surface pitch is the distance between elements.
#[test]
fn buffers() {
    let (mut model, mut random) = (model(), Random::new(2));
    let memory = random.bytes(4096);
    model.write(SURFACE, &memory);
    for (format, bytes, pitch) in [
        (SurfaceFormat::R32G32_UINT, 8, 8),
        (SurfaceFormat::R16_UINT, 2, 6),
        (SurfaceFormat::R32G32B32_UINT, 12, 12),
    ] {
        let surface = RenderSurfaceState {
            surface_format: format,
            surface_pitch: MinusOne::new(pitch).unwrap(),
            ..crate::sampler::identity(raw_buffer(SURFACE, 100))
        };
        let places: [u32; 16] =
            std::array::from_fn(|n| [0, 1, 99, 100, 1 << 31, 37, 64, u32::MAX][n % 8]);
        let send = Send::new(Type::LD, Mode::SIMD16, vec![places]);
        for (found, place) in
            send.colors(&mut model, &surface, &SamplerState::new()).iter().zip(places)
        {
            let mut expected = [0, 0, 0, 1];
            if place < 100 {
                let element = &memory[(place as u64 * pitch) as usize..][..bytes];
                let size = bytes.min(4);
                for (n, part) in element.chunks(size).enumerate() {
                    let mut whole = [0; 4];
                    whole[..size].copy_from_slice(part);
                    expected[n] = u32::from_le_bytes(whole);
                }
            }
            assert_eq!(*found, expected, "{format:?} {place}");
        }
    }
}

/// A multisampled surface in Y tiles, and its QPitch. Samples are interleaved, or each is in its
/// own slice. The surface has a control surface at `control` unless that is 0.
fn multisampled(samples: u32, interleaved: bool, control: u64) -> (RenderSurfaceState, u32) {
    let qpitch = 32;
    let texture = Texture::plain(
        &mut Random::new(0),
        SurfaceFormat::R32_UINT,
        4,
        Tiling::Y,
        [if interleaved { 13 * 4 } else { 13 }, 20],
        1,
    );
    let mut state = texture.state();
    if let RenderSurfaceStateView::Image {
        multisampled_surface_storage_format,
        number_of_multisamples,
        ..
    } = &mut state.view
    {
        *number_of_multisamples = NumberOfMultisamples::from_bits(samples.ilog2().into());
        *multisampled_surface_storage_format =
            RenderSurfaceStateMultisampledSurfaceStorageFormat::from_bits(u64::from(interleaved));
    }
    state.surface_qpitch = genxml_core::Shifted::new(qpitch).unwrap();
    state.extent = genxml::gen8::state::RenderSurfaceStateExtent::Image {
        width: MinusOne::new(13).unwrap(),
        height: MinusOne::new(10).unwrap(),
        depth: MinusOne::new(1).unwrap(),
    };
    state.red_clear_color = ClearColor::from_bits(1);
    state.surface_pitch = MinusOne::new(256).unwrap();
    if control != 0 {
        state.auxiliary = RenderSurfaceStateAuxiliary::Surface {
            auxiliary_surface_mode: RenderSurfaceStateAuxiliarySurfaceMode::AUX_MCS,
            auxiliary_surface_pitch: MinusOne::new(1).unwrap(),
            auxiliary_surface_qpitch: genxml_core::Shifted::new(32).unwrap(),
            auxiliary_surface_base_address: at(control),
        };
    }
    (state, qpitch as u32)
}

const CONTROL: u64 = SURFACE + 0x10_0000;

/// Samples through the control surface: the result of ld_mcs is a parameter of ld2dms.
#[test]
fn compressed_samples() {
    let (mut model, mut random) = (model(), Random::new(3));
    let memory = random.bytes(0x10_0000);
    model.write(SURFACE, &memory);
    let word = |offset: usize| u32::from_le_bytes(memory[offset..offset + 4].try_into().unwrap());
    // Codes of the control surface: identity, all samples in plane 0, clear, and another one.
    let codes = [
        (2, [0b10, 0, 0b11, 0b01]),
        (4, [0xe4, 0, 0xff, 0x1b]),
        (8, [0x7654_3210, 0, u32::MAX, 0x0123_4567]),
    ];
    for (samples, words) in codes {
        let (state, qpitch) = multisampled(samples, false, CONTROL);
        let size = if samples == 8 { 4 } else { 1 };
        for y in 0..10u32 {
            for x in 0..13u32 {
                let word = words[((x + y) % 4) as usize].to_le_bytes();
                let offset = Tiling::Y.offset((x * size).into(), y.into(), 128);
                model.write(CONTROL + offset, &word[..size as usize]);
            }
        }
        let lanes = |f: &dyn Fn(u32) -> u32| std::array::from_fn::<u32, 16, _>(|n| f(n as u32));
        let (x, y) = (lanes(&|n| n % 13), lanes(&|n| n * 7 % 10));
        let send = Send::new(Type::LD_MCS, Mode::SIMD16, vec![x, y]);
        let control: Vec<u32> = send
            .colors(&mut model, &state, &SamplerState::new())
            .iter()
            .map(|color| color[0])
            .collect();
        for lane in 0..16 {
            assert_eq!(
                control[lane],
                words[((x[lane] + y[lane]) % 4) as usize],
                "{samples} samples, lane {lane}"
            );
        }
        for sample in 0..samples {
            let si = [sample; 16];
            let mcs = std::array::from_fn(|n| control[n]);
            let send = Send::new(Type::LD2DMS, Mode::SIMD16, vec![si, mcs, x, y]);
            for (lane, found) in
                send.colors(&mut model, &state, &SamplerState::new()).iter().enumerate()
            {
                // gen8_facts 8.3: the plane of each sample, in the order of the codes above.
                let plane = match (x[lane] + y[lane]) % 4 {
                    0 => Some(sample),
                    1 => Some(0),
                    2 => None,
                    _ if samples == 2 => Some(1 - sample),
                    _ => Some(samples - 1 - sample),
                };
                let expected = match plane {
                    None => [1, 0, 0, 0],
                    Some(plane) => {
                        let row = u64::from(plane * qpitch + y[lane]);
                        [word(Tiling::Y.offset(u64::from(4 * x[lane]), row, 256) as usize), 0, 0, 1]
                    }
                };
                assert_eq!(*found, expected, "{samples} samples, sample {sample}, lane {lane}");
            }
            // ld2dss reads the sample's own plane, and not the control surface.
            let send = Send::new(Type::LD2DSS, Mode::SIMD16, vec![si, x, y]);
            for (lane, found) in
                send.colors(&mut model, &state, &SamplerState::new()).iter().enumerate()
            {
                let row = u64::from(sample * qpitch + y[lane]);
                let expected = word(Tiling::Y.offset(u64::from(4 * x[lane]), row, 256) as usize);
                assert_eq!(found[0], expected);
            }
        }
    }
}

/// Interleaved samples (depth), and samples that do not exist. Without a control surface the
/// control words in the message are not used.
#[test]
fn other_samples() {
    let (mut model, mut random) = (model(), Random::new(4));
    let memory = random.bytes(0x10_0000);
    model.write(SURFACE, &memory);
    let word = |offset: usize| u32::from_le_bytes(memory[offset..offset + 4].try_into().unwrap());
    for samples in [2u32, 4, 8] {
        for interleaved in [false, true] {
            let (state, qpitch) = multisampled(samples, interleaved, 0);
            let lanes = |f: &dyn Fn(u32) -> u32| std::array::from_fn::<u32, 16, _>(|n| f(n as u32));
            let (x, y, si) =
                (lanes(&|n| n * 5 % 13), lanes(&|n| n * 3 % 10), lanes(&|n| n % (samples + 1)));
            let send = Send::new(Type::LD2DMS, Mode::SIMD16, vec![si, [u32::MAX; 16], x, y]);
            for (lane, found) in
                send.colors(&mut model, &state, &SamplerState::new()).iter().enumerate()
            {
                let (x, y, s) = (x[lane], y[lane], si[lane]);
                // The table of gen8_facts 8.3.
                let (px, py) = match (interleaved, samples) {
                    (false, _) => (x, s * qpitch + y),
                    (_, 2) => ((x & !1) << 1 | (s & 1) << 1 | x & 1, y),
                    (_, 4) => ((x & !1) << 1 | (s & 1) << 1 | x & 1, (y & !1) << 1 | s & 2 | y & 1),
                    _ => (
                        (x & !1) << 2 | s & 4 | (s & 1) << 1 | x & 1,
                        (y & !1) << 1 | s & 2 | y & 1,
                    ),
                };
                let expected = if s < samples {
                    word(Tiling::Y.offset((4 * px).into(), py.into(), 256) as usize)
                } else {
                    0
                };
                assert_eq!(found[0], expected, "{samples} {interleaved} lane {lane}");
            }
            let send = Send::new(Type::LD_MCS, Mode::SIMD8, vec![x, y]);
            assert!(
                send.colors(&mut model, &state, &SamplerState::new())
                    .iter()
                    .all(|found| *found == [0; 4])
            );
        }
    }
}

/// "When a read message (including any sampling engine message) is generated to a null surface, the
/// result is all zeros" (003:3090).
#[test]
fn null_surfaces() {
    let mut model = model();
    let state = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_NULL,
        surface_format: SurfaceFormat::R8G8B8A8_UNORM,
        ..RenderSurfaceState::new()
    };
    for kind in [
        Type::LD,
        Type::SAMPLE,
        Type::SAMPLE_L,
        Type::GATHER4,
        Type::LOD,
        Type::RESINFO,
        Type::LD2DMS,
        Type::SAMPLEINFO,
    ] {
        let send = Send::new(kind, Mode::SIMD8, vec![[0; 16]; 4]);
        assert!(
            send.colors(&mut model, &state, &SamplerState::new())
                .iter()
                .all(|found| *found == [0; 4]),
            "{kind:?}"
        );
    }
}
