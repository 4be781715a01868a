//! Texels of every format, palettes, YUV, one-bit texels, chroma keys. Oracle: the codec for
//! elements and blocks, which has its own tests; the manual's text for the others.

use crate::sampler::filters::sampler;
use crate::sampler::texture::Texture;
use crate::sampler::{Mode, SURFACE, Send, Type, model};
use genxml::engine::EngineId;
use genxml::gen8::render3d_binding::{
    PaletteEntry, ThreeDStateMonofilterSize, ThreeDStateSamplerPaletteLoad0,
};
use genxml::gen8::render3d_pixel::ThreeDStateChromaKey;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateAuxiliary, RenderSurfaceStateExtent, SamplerState,
    SamplerStateChromaKeyMode, SamplerStateMagModeFilter, SamplerStateMinModeFilter,
    SamplerStateMipModeFilter, SamplerStateTextureBorderColorMode, SurfaceFormat,
    TextureCoordinateMode as Wrap,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Model, Random, packets, u};
use genxml_core::MinusOne;
use genxml_sim::surface::Codec;
use genxml_sim::surface::format::{Class, Numeric, block};

/// A linear surface at `SURFACE` with `pitch` bytes per row.
fn surface(format: SurfaceFormat, [width, height]: [u64; 2], pitch: u64) -> RenderSurfaceState {
    RenderSurfaceState {
        surface_format: format,
        extent: RenderSurfaceStateExtent::Image {
            width: MinusOne::new(width).unwrap(),
            height: MinusOne::new(height).unwrap(),
            depth: MinusOne::new(1).unwrap(),
        },
        surface_pitch: MinusOne::new(pitch).unwrap(),
        ..Texture::plain(&mut Random::new(0), SurfaceFormat::R8_UNORM, 1, Tiling::Linear, [4, 4], 1)
            .state()
    }
}

/// Columns and rows of 16 random texels, and the coordinates of their centres.
fn centres(random: &mut Random, size: [u32; 2]) -> ([[u32; 16]; 2], Vec<[u32; 16]>) {
    let texels = size.map(|extent| [0; 16].map(|_| random.below(extent.into()) as u32));
    let place = |n: usize| texels[n].map(|texel| ((texel as f32 + 0.5) / size[n] as f32).to_bits());
    (texels, vec![place(0), place(1)])
}

/// The bits of a float, with the fraction and the exponent of a subnormal number cleared.
fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// Every element and block format, by ld and by sample.
#[test]
fn every_format() {
    let (mut model, mut random) = (model(), Random::new(61));
    let memory = random.bytes(1 << 16);
    model.write(SURFACE, &memory);
    let size = [22u32, 14];
    let mut tried = 0;
    for code in 0..512 {
        let format = SurfaceFormat::from_bits(code);
        let Some(codec) = Codec::of(format) else { continue };
        let description = codec.format();
        let compressed = description.class == Class::Compressed;
        if !compressed && !codec.has_channels() || description.name.contains("PALETTE") {
            continue;
        }
        tried += 1;
        let bytes = description.bytes() as usize;
        let [across, down] = description.block.map(u32::from);
        let pitch = bytes * size[0].div_ceil(across) as usize;
        let state = surface(format, size.map(u64::from), pitch as u64);
        let (texels, coordinates) = centres(&mut random, size);
        let sample = Send::new(Type::SAMPLE, Mode::SIMD16, coordinates);
        let load = Send::new(Type::LD, Mode::SIMD16, vec![texels[0], [0; 16], texels[1]]);
        let loaded = load.colors(&mut model, &state, &SamplerState::new());
        let sampled = sample.colors(&mut model, &state, &sampler(false));
        for lane in 0..16 {
            let (x, y) = (texels[0][lane], texels[1][lane]);
            let at = (y / down) as usize * pitch + (x / across) as usize * bytes;
            let element = &memory[at..at + bytes];
            let expected = match compressed {
                true => block::decode_texel(description, element, x % across, y % down).unwrap(),
                false => codec.decode_one(element),
            };
            assert_eq!(loaded[lane], expected, "{} ({x}, {y})", description.name);
            let flushed = match description.numeric {
                Numeric::Float => expected.map(flushed),
                Numeric::Uint | Numeric::Sint => expected,
            };
            assert_eq!(sampled[lane], flushed, "{} ({x}, {y})", description.name);
        }
    }
    assert!(tried > 190, "{tried}");
}

fn unorm(byte: u8) -> u32 {
    (f32::from(byte) / 255.0).to_bits()
}

/// Packed YUV: two pixels share one chroma. Planar YUV: four pixels share one chroma.
#[test]
fn yuv() {
    let (mut model, mut random) = (model(), Random::new(62));
    let memory = random.bytes(1 << 14);
    model.write(SURFACE, &memory);
    let size = [10u32, 6];
    // Byte positions of both lumas, of Cb and of Cr (gen8_facts 9.2).
    let orders = [
        (SurfaceFormat::YCRCB_NORMAL, [0, 2], 1, 3),
        (SurfaceFormat::YCRCB_SWAPUV, [0, 2], 3, 1),
        (SurfaceFormat::YCRCB_SWAPY, [1, 3], 0, 2),
        (SurfaceFormat::YCRCB_SWAPUVY, [1, 3], 2, 0),
    ];
    for (format, luma, cb, cr) in orders {
        let state = surface(format, size.map(u64::from), 64);
        let (texels, coordinates) = centres(&mut random, size);
        let send = Send::new(Type::SAMPLE, Mode::SIMD16, coordinates);
        for (lane, found) in
            send.colors(&mut model, &state, &sampler(false)).into_iter().enumerate()
        {
            let (x, y) = (texels[0][lane] as usize, texels[1][lane] as usize);
            let byte = |pair: usize, n: usize| f64::from(memory[64 * y + 4 * pair + n]) / 255.0;
            let [cr, y_of, cb] = [cr, luma[x % 2], cb].map(|n| byte(x / 2, n));
            let expected = [cr, y_of, cb, 1.0];
            assert!(crate::sampler::reference::near(found, expected), "{format:?} {x} {y}");
        }
    }
    // A whole picture and its two fields: the chroma plane begins at the same line of memory. Oracle
    // for fields: intel/media-driver, which gives the same offset for them.
    for (stride, first) in [(0, 0), (1, 0), (1, 1)] {
        let state = RenderSurfaceState {
            auxiliary: RenderSurfaceStateAuxiliary::Planar {
                separate_uv_plane_enable: false,
                x_offset_for_u_or_uv_plane: u(4),
                y_offset_for_u_or_uv_plane: u(20),
                x_offset_for_v_plane: u(0),
                y_offset_for_v_plane: u(0),
            },
            vertical_line_stride: u(stride),
            vertical_line_stride_offset: u(first),
            ..surface(SurfaceFormat::PLANAR_420_8, size.map(u64::from), 64)
        };
        let (texels, coordinates) = centres(&mut random, size);
        let send = Send::new(Type::SAMPLE, Mode::SIMD16, coordinates);
        for (lane, found) in
            send.colors(&mut model, &state, &sampler(false)).into_iter().enumerate()
        {
            let (x, y) = (texels[0][lane] as usize, texels[1][lane] as usize);
            let line = |y: usize| 64 * ((y << stride) + first as usize);
            let chroma = 64 * 20 + line(y / 2) + 4 + x / 2 * 2;
            let expected = [memory[chroma + 1], memory[line(y) + x], memory[chroma]].map(unorm);
            assert_eq!(found[..3], expected);
            assert_eq!(found[3], 1.0f32.to_bits());
        }
    }
}

/// Indices of 8, 4 and 2 bits into palette 0, with and without their own alpha. A later load leaves
/// some entries unchanged.
#[test]
fn palettes() {
    let (mut model, mut random) = (model(), Random::new(63));
    let memory = random.bytes(1 << 12);
    model.write(SURFACE, &memory);
    let entry = |n: u64, red: u64| PaletteEntry {
        alpha: u(255 - n),
        red: u(red),
        green: u(n / 2),
        blue: u(7),
    };
    let load = |entries: &[PaletteEntry]| {
        packets![ThreeDStateSamplerPaletteLoad0 { entry: entries.into() }]
    };
    let all: Vec<PaletteEntry> = (0..256).map(|n| entry(n, n)).collect();
    let first: Vec<PaletteEntry> = (0..10).map(|n| entry(n, 200)).collect();
    let batch = [load(&all), load(&first)].concat();
    model.submit(EngineId::Render, &batch).unwrap();
    let cases = [
        (SurfaceFormat::P8_UNORM_PALETTE0, 1u32),
        (SurfaceFormat::P8A8_UNORM_PALETTE0, 2),
        (SurfaceFormat::A8P8_UNORM_PALETTE0, 2),
        (SurfaceFormat::P4A4_UNORM_PALETTE0, 1),
        (SurfaceFormat::A4P4_UNORM_PALETTE0, 1),
    ];
    for (format, bytes) in cases {
        let size = [16u32, 8];
        let pitch = 16 * bytes as usize;
        let state = surface(format, size.map(u64::from), pitch as u64);
        let (texels, coordinates) = centres(&mut random, size);
        let send = Send::new(Type::SAMPLE, Mode::SIMD16, coordinates);
        for (lane, found) in
            send.colors(&mut model, &state, &sampler(false)).into_iter().enumerate()
        {
            let at = texels[1][lane] as usize * pitch + (texels[0][lane] * bytes) as usize;
            let element = &memory[at..at + bytes as usize];
            let (index, alpha) = match format {
                SurfaceFormat::P8_UNORM_PALETTE0 => (element[0], None),
                SurfaceFormat::P8A8_UNORM_PALETTE0 => (element[0], Some(element[1])),
                SurfaceFormat::A8P8_UNORM_PALETTE0 => (element[1], Some(element[0])),
                SurfaceFormat::P4A4_UNORM_PALETTE0 => {
                    (element[0] & 15, Some((element[0] >> 4) * 17))
                }
                _ => (element[0] >> 4, Some((element[0] & 15) * 17)),
            };
            let red = if index < 10 { 200 } else { index };
            let expected = [red, index / 2, 7, alpha.unwrap_or(255 - index)].map(unorm);
            assert!(
                crate::sampler::reference::near(
                    found,
                    expected.map(|bits| f64::from(f32::from_bits(bits)))
                ),
                "{format:?}"
            );
        }
    }
}

/// One-bit texels in a box of the size that 3DSTATE_MONOFILTER_SIZE sets. Oracle: the formula of
/// 003:2893-2911.
#[test]
fn monochrome() {
    let (mut model, mut random) = (model(), Random::new(64));
    let memory = random.bytes(256);
    model.write(SURFACE, &memory);
    let state = surface(SurfaceFormat::MONO8, [40, 16], 8);
    let mono = SamplerState {
        min_mode_filter: SamplerStateMinModeFilter::MONO,
        mag_mode_filter: SamplerStateMagModeFilter::MONO,
        mip_mode_filter: SamplerStateMipModeFilter::NONE,
        tcx_address_control_mode: Wrap::CLAMP_BORDER,
        tcy_address_control_mode: Wrap::CLAMP_BORDER,
        tcz_address_control_mode: Wrap::CLAMP_BORDER,
        ..sampler(false)
    };
    for [width, height] in [[1u64, 1], [6, 5], [7, 7], [2, 3]] {
        let size = ThreeDStateMonofilterSize {
            monochrome_filter_width: u(width),
            monochrome_filter_height: u(height),
        };
        model.render(&packets![size]).unwrap();
        // Positions are multiples of 1/32 texel, which floats represent exactly.
        let place =
            [40u64, 16].map(|extent| [0; 16].map(|_| random.below(32 * extent) as f64 / 32.0));
        let coordinate =
            |n: usize, extent: f64| place[n].map(|at| ((at / extent) as f32).to_bits());
        let send =
            Send::new(Type::SAMPLE, Mode::SIMD16, vec![coordinate(0, 40.0), coordinate(1, 16.0)]);
        for (lane, found) in send.colors(&mut model, &state, &mono).into_iter().enumerate() {
            let texel = |x: i64, y: i64| {
                let inside = (0..40).contains(&x) && (0..16).contains(&y);
                if inside {
                    f64::from(memory[(8 * y + x / 8) as usize] >> (x % 8) & 1)
                } else {
                    0.0
                }
            };
            let axis = |n: usize, extent: f64, count: u64| {
                // The coordinate as a float, in units of 1/256 texel.
                let float = f64::from((place[n][lane] / extent) as f32);
                let from = (float * extent * 256.0).floor() / 256.0 - count as f64 / 2.0;
                (from.floor() as i64, from - from.floor())
            };
            let ((left, bu), (top, bv)) = (axis(0, 40.0, width), axis(1, 16.0, height));
            let sum = |i: i64, j: i64| -> f64 {
                let rows = (0..height as i64).map(|y| {
                    (0..width as i64).map(|x| texel(left + i + x, top + j + y)).sum::<f64>()
                });
                rows.sum()
            };
            let f = (1.0 - bu) * (1.0 - bv) * sum(0, 0)
                + bu * (1.0 - bv) * sum(1, 0)
                + (1.0 - bu) * bv * sum(0, 1)
                + bu * bv * sum(1, 1);
            let expected = f / (width * height) as f64;
            assert!(
                (f64::from(f32::from_bits(found[0])) - expected).abs() < 1e-6,
                "{width} x {height} lane {lane}"
            );
        }
    }
}

fn set_key(model: &mut Model, index: u64, low: u32, high: u32) {
    let packet = ThreeDStateChromaKey {
        chroma_key_table_index: u(index),
        chroma_key_low_value: u(low.into()),
        chroma_key_high_value: u(high.into()),
    };
    model.render(&packets![packet]).unwrap();
}

/// Texels in the key range become black before the filter, or kill their pixel (003:2979-3002).
#[test]
fn chroma_keys() {
    let mut model = model();
    set_key(&mut model, 2, 0x0000_40ff, 0xff00_7fff);
    set_key(&mut model, 1, 0, 0);
    // B8G8R8A8: matching texels have a green value of 0x40 to 0x7f.
    let texels = [0xff00_50ffu32, 0xff00_30ff, 0x8000_7fff, 0xffff_ffff];
    model.put(SURFACE, &texels);
    let state = surface(SurfaceFormat::B8G8R8A8_UNORM, [4, 1], 16);
    let matches = [true, false, true, false];
    let key = |mode, linear| SamplerState {
        chroma_key_enable: true,
        chroma_key_index: u(2),
        chroma_key_mode: mode,
        tcx_address_control_mode: Wrap::CLAMP,
        ..sampler(linear)
    };
    let u_of = |at: f32| (at / 4.0).to_bits();
    let mut lanes = [0; 16];
    for (lane, u) in lanes.iter_mut().enumerate() {
        *u = u_of(lane as f32 / 2.0 + 0.5);
    }
    let black = key(SamplerStateChromaKeyMode::KEYFILTER_REPLACE_BLACK, true);
    let send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![lanes]);
    let channel = |texel: usize, shift: u32| match matches[texel] {
        true => 0.0,
        false => f64::from(texels[texel] >> shift & 0xff) / 255.0,
    };
    for (lane, found) in send.colors(&mut model, &state, &black).into_iter().take(7).enumerate() {
        // Every second lane lies between two texels.
        let pair = [lane / 2, lane.div_ceil(2)];
        let expected =
            [16, 8, 0, 24].map(|shift| (channel(pair[0], shift) + channel(pair[1], shift)) / 2.0);
        assert!(crate::sampler::reference::near(found, expected), "{lane}");
    }
    let kill = key(SamplerStateChromaKeyMode::KEYFILTER_KILL_ON_ANY_MATCH, true);
    for simd in [Mode::SIMD8, Mode::SIMD16] {
        let mut send = Send::new(Type::SAMPLE_KILLPIX, simd, vec![lanes, [0; 16]]);
        send.back += 1;
        let answer = send.run(&mut model, &state, &[kill]).unwrap();
        let mut expected = u32::MAX;
        for lane in 0..crate::sampler::lanes(simd) {
            let pair = [lane / 2, lane.div_ceil(2)].map(|texel| texel.min(3));
            if pair.iter().any(|&texel| matches[texel]) {
                expected &= !(1 << lane);
            }
        }
        let register = if simd == Mode::SIMD8 { 4 } else { 8 };
        assert_eq!(answer[register][0], expected, "{simd:?}");
        // The other dwords of the register are not written.
        assert_eq!(answer[register][1..], crate::sampler::before(register)[1..]);
    }
}

/// For the chroma key, every second pixel of packed YUV has the mean of the chroma to the left and
/// to the right (2a p.35). The colour itself is not changed by this.
#[test]
fn chroma_keys_of_packed_yuv() {
    let mut model = model();
    // Cr of the pairs: 0x20, 0x60, 0x20. The key is 0x40 to 0x5f: only the means of the pixels
    // between two pairs are in it.
    set_key(&mut model, 2, 0x0040_0000, 0xff5f_ffff);
    model.put(SURFACE, &[0x2011_8010u32, 0x6013_8012, 0x2015_8014]);
    let state = surface(SurfaceFormat::YCRCB_NORMAL, [6, 1], 64);
    let sampler = SamplerState {
        chroma_key_enable: true,
        chroma_key_index: u(2),
        chroma_key_mode: SamplerStateChromaKeyMode::KEYFILTER_REPLACE_BLACK,
        ..sampler(false)
    };
    let lanes = std::array::from_fn(|lane| ((lane % 6) as f32 / 6.0 + 1.0 / 12.0).to_bits());
    let send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![lanes]);
    let black = [0x80, 0x10, 0x80, 0];
    let expected = [
        [0x20, 0x10, 0x80, 0xff],
        black,
        [0x60, 0x12, 0x80, 0xff],
        black,
        [0x20, 0x14, 0x80, 0xff],
        [0x20, 0x15, 0x80, 0xff],
    ];
    let found = send.colors(&mut model, &state, &sampler);
    for (lane, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let expected = expected.map(|byte: i32| f64::from(byte) / 255.0);
        assert!(crate::sampler::reference::near(found, expected), "{lane}: {found:?}");
    }
}

/// DX9: missing channels of formats with a red channel are 1, and the border colour has one byte
/// for each channel (003:3541-3640, 3817).
#[test]
fn dx9() {
    let mut model = model();
    model.put(SURFACE, &[0x3f80_0000, 0x4000_0000]);
    let state = surface(SurfaceFormat::R32_FLOAT, [2, 1], 8);
    let dx9 = SamplerState {
        texture_border_color_mode: SamplerStateTextureBorderColorMode::DX9,
        tcx_address_control_mode: Wrap::CLAMP_BORDER,
        ..sampler(false)
    };
    let send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![[0.75f32.to_bits(); 16]]);
    let found = send.colors(&mut model, &state, &dx9)[0].map(f32::from_bits);
    assert_eq!(found, [2.0, 1.0, 1.0, 1.0]);
    // The border colour has red in the lowest byte (2d p.371).
    crate::sampler::put_border(&mut model, [0x0033_66ff, 0, 0, 0]);
    let send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![[1.5f32.to_bits(); 16]]);
    let found = send.colors(&mut model, &state, &dx9)[0];
    assert_eq!(found, [0xff, 0x66, 0x33, 0].map(unorm));
}

/// Samples and gathers replace subnormal 32-bit floats by zeros of the same sign. ld returns the
/// bits of memory. Oracle: the definition of a subnormal number, by bits.
#[test]
fn subnormals() {
    let mut model = model();
    let state = surface(SurfaceFormat::R32_FLOAT, [2, 1], 8);
    // Coordinates of the centre of each texel, and of the point between them, where the linear
    // filter returns the mean.
    let u = [0.25f32, 0.75, 0.5].map(f32::to_bits);
    let u: [u32; 16] = std::array::from_fn(|lane| u[lane % 3]);
    let column: [u32; 16] = std::array::from_fn(|lane| lane as u32 % 2);
    let zero = [0; 16];
    let one_half = [0.5f32.to_bits(); 16];
    let least = f32::MIN_POSITIVE.to_bits();
    for (texels, mean) in [
        // Two subnormal texels, with both signs.
        ([0x0040_0000, 0x807f_ffff], 0),
        // The mean of the least normal number and 0 is subnormal.
        ([least, 0], 0),
        ([least | 1 << 31, 1 << 31], 1 << 31),
        // The subnormal texel counts as 0.
        ([0x3f80_0000, 0x007f_ffff], 0x3f00_0000),
    ] {
        model.put(SURFACE, &texels);
        let expected = texels.map(flushed);
        for simd in [Mode::SIMD8, Mode::SIMD16] {
            for (kind, parameters) in [
                (Type::SAMPLE, vec![u, zero]),
                (Type::SAMPLE_B, vec![zero, u, zero]),
                (Type::SAMPLE_L, vec![zero, u, zero]),
                (Type::SAMPLE_D, vec![u, zero, zero, zero, zero, zero]),
            ] {
                if kind == Type::SAMPLE_D && simd == Mode::SIMD16 {
                    continue;
                }
                let send = Send::new(kind, simd, parameters);
                let nearest = send.colors(&mut model, &state, &sampler(false));
                let linear = send.colors(&mut model, &state, &sampler(true));
                for lane in (0..nearest.len()).filter(|lane| lane % 3 < 2) {
                    assert_eq!(nearest[lane][0], expected[lane % 3], "{kind:?} {lane}");
                }
                for lane in (2..linear.len()).step_by(3) {
                    assert_eq!(linear[lane][0], mean, "{kind:?} {lane}");
                }
            }
            let gather = Send::new(Type::GATHER4, simd, vec![one_half, zero]);
            let [left, right] = expected;
            for found in gather.colors(&mut model, &state, &sampler(false)) {
                assert_eq!(found, [left, right, right, left]);
            }
            let load = Send::new(Type::LD, simd, vec![column, zero, zero]);
            let found = load.colors(&mut model, &state, &SamplerState::new());
            for (lane, found) in found.into_iter().enumerate() {
                assert_eq!(found[0], texels[lane % 2], "ld {lane}");
            }
        }
    }
}

/// The subnormal numbers of halves are normal in 32 bits, and samples keep them.
#[test]
fn subnormal_halves() {
    let mut model = model();
    // 1 and -1023 units of 2^-24 (IEEE 754 binary16: 5 bits of exponent, 10 of fraction).
    model.put(SURFACE, &[0x83ff_0001]);
    let state = surface(SurfaceFormat::R16_FLOAT, [2, 1], 4);
    let unit = 1.0 / f64::from(1 << 24);
    let u = std::array::from_fn(|lane| [0.25f32, 0.75][lane % 2].to_bits());
    let send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![u, [0; 16]]);
    let found = send.colors(&mut model, &state, &sampler(false));
    for (lane, found) in found.into_iter().enumerate() {
        let expected = [unit, -1023.0 * unit][lane % 2] as f32;
        assert_eq!(found[0], expected.to_bits(), "lane {lane}");
    }
}
