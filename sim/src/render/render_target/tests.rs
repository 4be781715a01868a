//! Oracles: for blending, f64 and half a step of the format; for addresses, the bit tables of tiles
//! and planes of samples; for logic operations, Rust's operators on the bytes of memory.

use super::*;
use crate::eu::fast::Level;
use crate::gpu::{ContextId, Gpu};
use crate::mem::AccessLog;
use crate::surface::{Layout, TileMode};
use crate::unit::render_cache::Write;
use genxml::core::U;
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction, ThreeDLogicOpFunction,
};
use genxml::gen8::state::RenderSurfaceStateRenderTargetAndSampleUnormRotation as Rotation;

const BASE: u64 = 0x100_0000;
/// Bytes of three slices with one sample.
const BYTES: usize = 96 << 10;
/// Address of a control surface, and its size in bytes.
const CONTROL: u64 = BASE + (1 << 20);
const CONTROL_BYTES: usize = 64 << 10;
/// Size of the level in pixels.
const WIDTH: u32 = 37;
const HEIGHT: u32 = 21;

fn surface(format: SurfaceFormat, tile_mode: TileMode) -> Surface {
    let codec = Codec::of(format);
    Surface {
        kind: SurfaceKind::Image,
        base: BASE,
        width: WIDTH,
        height: HEIGHT,
        pitch: 1024,
        tile_mode,
        element_bytes: codec.unwrap().format().bytes(),
        format,
        codec,
        layout: Layout { width: WIDTH, height: HEIGHT, qpitch: 32, ..Layout::default() },
        array: true,
        slices: 3,
        view_extent: 3,
        ..Surface::default()
    }
}

fn with_samples(surface: Surface, samples: u32) -> Surface {
    Surface { layout: Layout { samples, ..surface.layout }, ..surface }
}

fn target(surface: &Surface, state: &BlendState) -> RenderTarget {
    RenderTarget::resolve(surface, state, 0, &ColorCalcState::new(), Purpose::Draw).unwrap()
}

/// Memory with bytes that all differ from their neighbours.
fn memory(samples: u32) -> (Gpu, ContextId, Vec<u8>) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    let contents: Vec<u8> =
        (0..BYTES as u32 * samples).map(|n| n.wrapping_mul(0x9e37_79b1).to_le_bytes()[3]).collect();
    gpu.load(context, BASE, &contents).unwrap();
    (gpu, context, contents)
}

fn contents(gpu: &mut Gpu, context: ContextId, samples: u32) -> Vec<u8> {
    let mut found = vec![0; BYTES * samples as usize];
    gpu.vm(context).read(BASE, &mut found).unwrap();
    found
}

/// A generator of pseudo-random numbers: the upper bits of a linear congruence.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }

    /// Four quads that do not overlap, some partly outside the surface.
    fn pixels(&mut self, samples: u32) -> Pixels {
        let (x, y) = (2 * self.below(17) as u32, 2 * self.below(9) as u32);
        let whole = self.below(2) == 0;
        let all = ((1u32 << samples) - 1) as u8;
        Pixels {
            subspans: [
                [x, y],
                [x + 2, y],
                [x, y + 2],
                [x + if whole { 2 } else { 4 }, y + if whole { 2 } else { 4 }],
            ],
            samples: std::array::from_fn(
                |_| if whole { all } else { self.below(1 << samples) as u8 },
            ),
            slice: self.below(4) as u32,
        }
    }

    fn source(&mut self) -> Source {
        std::array::from_fn(|_| std::array::from_fn(|_| self.unit().to_bits()))
    }
}

/// Byte offset in memory of byte `x` of row `y`, by the tables of gen8_facts 10.1.
fn offset(tile_mode: TileMode, x: u32, y: u32) -> usize {
    let by_bits = |bits: [&str; 12], width: u32, height: u32| {
        let inside = bits.iter().fold(0, |address, bit| {
            let from = if bit.starts_with('x') { x } else { y };
            address << 1 | from >> bit[1..].parse::<u32>().unwrap() & 1
        });
        ((y / height * (1024 / width) + x / width) * 4096 + inside) as usize
    };
    match tile_mode {
        TileMode::X => by_bits(
            ["y2", "y1", "y0", "x8", "x7", "x6", "x5", "x4", "x3", "x2", "x1", "x0"],
            512,
            8,
        ),
        TileMode::Y => by_bits(
            ["x6", "x5", "x4", "y4", "y3", "y2", "y1", "y0", "x3", "x2", "x1", "x0"],
            128,
            32,
        ),
        _ => (y * 1024 + x) as usize,
    }
}

/// The slot, the sample and the offset in memory of each sample that is written.
fn places(surface: &Surface, pixels: &Pixels) -> Vec<(usize, u32, usize)> {
    let mut places = Vec::new();
    for slot in 0..SLOTS {
        let [x, y] = pixels.subspans[slot / 4];
        let (x, y) = (x + slot as u32 % 2, y + slot as u32 / 2 % 2);
        for sample in 0..surface.layout.samples {
            if pixels.samples[slot] >> sample & 1 == 1 && x < WIDTH && y < HEIGHT {
                let slice = if pixels.slice < 3 { pixels.slice } else { 0 };
                let row = y + (slice * surface.layout.samples + sample) * 32;
                places.push((
                    slot,
                    sample,
                    offset(surface.tile_mode, x * surface.element_bytes, row),
                ));
            }
        }
    }
    places
}

const FORMATS: [SurfaceFormat; 16] = [
    SurfaceFormat::R8G8B8A8_UNORM,
    SurfaceFormat::B8G8R8A8_UNORM,
    SurfaceFormat::R8G8B8X8_UNORM,
    SurfaceFormat::B8G8R8X8_UNORM,
    SurfaceFormat::B8G8R8A8_UNORM_SRGB,
    SurfaceFormat::R10G10B10A2_UNORM,
    SurfaceFormat::R11G11B10_FLOAT,
    SurfaceFormat::R16G16B16A16_FLOAT,
    SurfaceFormat::R16G16_UNORM,
    SurfaceFormat::R32_FLOAT,
    SurfaceFormat::R32G32B32A32_FLOAT,
    SurfaceFormat::R16G16B16A16_SNORM,
    SurfaceFormat::B5G6R5_UNORM,
    SurfaceFormat::B5G5R5A1_UNORM,
    SurfaceFormat::A8_UNORM,
    SurfaceFormat::R8_UNORM,
];

/// Writes without blending, for several formats, tile modes, numbers of samples and masks of
/// channels. Checks every byte of memory. The codec, which has its own tests, encodes the expected
/// elements.
#[test]
fn opaque_colors() {
    let mut random = Random(1);
    for (n, format) in FORMATS.into_iter().cycle().take(64).enumerate() {
        let tile_mode = [TileMode::Linear, TileMode::X, TileMode::Y][n % 3];
        let samples = [1, 4, 1, 2, 8][n % 5];
        let surface = with_samples(surface(format, tile_mode), samples);
        let mut state = BlendState::new();
        state.entry[0].write_disable_red = n % 7 == 3;
        state.entry[0].write_disable_blue = n % 7 == 4;
        state.entry[0].write_disable_alpha = n % 7 == 4;
        let channels = [15, 15, 15, 14, 3, 15, 15][n % 7];
        let target = target(&surface, &state);
        let (mut gpu, context, mut expected) = memory(samples);
        for _ in 0..8 {
            let (pixels, source) = (random.pixels(samples), random.source());
            let mut cache = AuxCache::default();
            let counts =
                target.pixels(&mut gpu.vm(context), &mut cache, &pixels, &source, None).unwrap();
            let places = places(&surface, &pixels);
            assert_eq!(counts[1] as usize, places.len());
            for (slot, _, at) in places {
                let value = source.map(|lanes| lanes[slot]);
                let bytes = surface.element_bytes as usize;
                surface.codec.unwrap().encode_one(value, channels, &mut expected[at..at + bytes]);
            }
        }
        assert!(
            contents(&mut gpu, context, samples) == expected,
            "{format:?} {tile_mode:?} {samples} {channels}"
        );
    }
}

/// Oracle: the integers themselves, clamped to the range of the format; no blending.
#[test]
fn integers() {
    let mut random = Random(2);
    let formats = [
        (SurfaceFormat::R8G8B8A8_UINT, 4, 1, 0, 255),
        (SurfaceFormat::R16G16_SINT, 2, 2, -32768, 32767),
        (SurfaceFormat::R32_SINT, 1, 4, i64::from(i32::MIN), i64::from(i32::MAX)),
        (SurfaceFormat::R32G32B32A32_UINT, 4, 4, 0, i64::from(u32::MAX)),
    ];
    for (format, channels, bytes, least, greatest) in formats {
        let surface = surface(format, TileMode::Y);
        let mut state = BlendState::new();
        state.entry[0].color_buffer_blend_enable = true;
        state.entry[0].source_blend_factor = Factor::BLENDFACTOR_ZERO;
        state.entry[0].pre_blend_color_clamp_enable = true;
        state.alpha_to_one_enable = true;
        let target = target(&surface, &state);
        let (mut gpu, context, mut expected) = memory(1);
        let pixels = Pixels { samples: [1; SLOTS], ..random.pixels(1) };
        let mut source = random.source();
        source[0][5] = 70_000;
        source[1][6] = -70_000i32 as u32;
        target
            .pixels(&mut gpu.vm(context), &mut AuxCache::default(), &pixels, &source, None)
            .unwrap();
        for (slot, _, at) in places(&surface, &pixels) {
            for channel in 0..channels {
                let bits = source[channel][slot];
                let value = if least < 0 { i64::from(bits as i32) } else { i64::from(bits) };
                let value = value.clamp(least, greatest).to_le_bytes();
                expected[at + channel * bytes..at + (channel + 1) * bytes]
                    .copy_from_slice(&value[..bytes]);
            }
        }
        assert!(contents(&mut gpu, context, 1) == expected, "{format:?}");
    }
}

/// Oracle: source alpha blending in f64, within half a step of the format and the error of single
/// floats.
#[test]
fn source_alpha_blending() {
    let mut random = Random(3);
    let formats = [
        (SurfaceFormat::R8G8B8A8_UNORM, 255.0, 4),
        (SurfaceFormat::B8G8R8A8_UNORM, 255.0, 4),
        (SurfaceFormat::B8G8R8X8_UNORM, 255.0, 3),
        (SurfaceFormat::R16G16B16A16_UNORM, 65535.0, 4),
        (SurfaceFormat::R16G16B16A16_FLOAT, 2048.0, 4),
        (SurfaceFormat::B5G6R5_UNORM, 31.0, 3),
    ];
    for (format, steps, channels) in formats {
        for tile_mode in [TileMode::Linear, TileMode::X, TileMode::Y] {
            let surface = surface(format, tile_mode);
            let mut state = BlendState::new();
            state.entry[0].color_buffer_blend_enable = true;
            state.entry[0].source_blend_factor = Factor::BLENDFACTOR_SRC_ALPHA;
            state.entry[0].destination_blend_factor = Factor::BLENDFACTOR_INV_SRC_ALPHA;
            state.entry[0].pre_blend_color_clamp_enable = true;
            state.entry[0].post_blend_color_clamp_enable = true;
            let target = target(&surface, &state);
            let (mut gpu, context, _) = memory(1);
            let bytes = surface.element_bytes as usize;
            if format == SurfaceFormat::R16G16B16A16_FLOAT {
                // Fill the memory with 16-bit floats of value 0.527.
                gpu.vm(context).write(BASE, &vec![0x38; BYTES]).unwrap();
            }
            let before = contents(&mut gpu, context, 1);
            let (pixels, source) = (random.pixels(1), random.source());
            target
                .pixels(&mut gpu.vm(context), &mut AuxCache::default(), &pixels, &source, None)
                .unwrap();
            let after = contents(&mut gpu, context, 1);
            let mut touched = vec![false; BYTES];
            let codec = surface.codec.unwrap();
            for (slot, _, at) in places(&surface, &pixels) {
                let [s, d, found] = [
                    source.map(|lanes| lanes[slot]),
                    codec.decode_one(&before[at..at + bytes]),
                    codec.decode_one(&after[at..at + bytes]),
                ]
                .map(|value| value.map(|bits| f64::from(f32::from_bits(bits))));
                for c in 0..channels {
                    let exact = s[c] * s[3] + d[c] * (1.0 - s[3]);
                    assert!(
                        (found[c] - exact).abs() <= 0.5 / steps + 1e-6,
                        "{format:?} {c} {exact} {found:?}"
                    );
                }
                touched[at..at + bytes].fill(true);
            }
            let same = |n: usize| touched[n] || before[n] == after[n];
            assert!((0..BYTES).all(same), "{format:?} {tile_mode:?}");
        }
    }
}

/// Oracle: the sRGB standard's curve in f64; the destination is linear while it is blended.
#[test]
fn blending_is_linear_on_the_srgb_curve() {
    let surface = surface(SurfaceFormat::R8G8B8A8_UNORM_SRGB, TileMode::Y);
    let mut state = BlendState::new();
    state.entry[0].color_buffer_blend_enable = true;
    state.entry[0].source_blend_factor = Factor::BLENDFACTOR_ONE;
    state.entry[0].destination_blend_factor = Factor::BLENDFACTOR_ONE;
    let target = target(&surface, &state);
    let (mut gpu, context, before) = memory(1);
    let pixels = Pixels { samples: [1; SLOTS], ..Random(4).pixels(1) };
    let source = [[0.05f32.to_bits(); SLOTS]; 4];
    target.pixels(&mut gpu.vm(context), &mut AuxCache::default(), &pixels, &source, None).unwrap();
    let after = contents(&mut gpu, context, 1);
    for (_, _, at) in places(&surface, &pixels) {
        for c in 0..3 {
            let old = f64::from(before[at + c]) / 255.0;
            let linear =
                if old <= 0.04045 { old / 12.92 } else { ((old + 0.055) / 1.055).powf(2.4) };
            let sum = (linear + f64::from(0.05f32)).min(1.0);
            let curved =
                if sum <= 0.003_130_8 { sum * 12.92 } else { 1.055 * sum.powf(1.0 / 2.4) - 0.055 };
            assert!((f64::from(after[at + c]) - curved * 255.0).abs() <= 0.51);
        }
        let alpha = (f64::from(before[at + 3]) / 255.0 + f64::from(0.05f32)).min(1.0);
        assert!((f64::from(after[at + 3]) - alpha * 255.0).abs() <= 0.501);
    }
}

/// Oracle: 2b p.4 on the bytes of memory; floats and sRGB keep their colours.
#[test]
fn logic_operations() {
    let mut random = Random(5);
    type Function = fn(u8, u8) -> u8;
    let table: [Function; 16] = [
        |_, _| 0,
        |s, d| !(s | d),
        |s, d| !s & d,
        |s, _| !s,
        |s, d| s & !d,
        |_, d| !d,
        |s, d| s ^ d,
        |s, d| !(s & d),
        |s, d| s & d,
        |s, d| !(s ^ d),
        |_, d| d,
        |s, d| !s | d,
        |s, _| s,
        |s, d| s | !d,
        |s, d| s | d,
        |_, _| 255,
    ];
    for (code, function) in table.into_iter().enumerate() {
        for (format, works) in [
            (SurfaceFormat::R8G8B8A8_UNORM, true),
            (SurfaceFormat::R8G8B8A8_UINT, true),
            (SurfaceFormat::R16G16_SNORM, true),
            (SurfaceFormat::R8G8B8A8_UNORM_SRGB, false),
            (SurfaceFormat::R16G16_FLOAT, false),
        ] {
            let surface = surface(format, TileMode::X);
            let mut state = BlendState::new();
            state.entry[0].logic_op_enable = true;
            state.entry[0].logic_op_function = ThreeDLogicOpFunction::from_bits(code as u64);
            // If the code of the logic operation is odd, red is not written.
            state.entry[0].write_disable_red = code % 2 == 1;
            let target = target(&surface, &state);
            let (mut gpu, context, mut expected) = memory(1);
            let (pixels, source) = (random.pixels(1), random.source());
            target
                .pixels(&mut gpu.vm(context), &mut AuxCache::default(), &pixels, &source, None)
                .unwrap();
            for (slot, _, at) in places(&surface, &pixels) {
                let mut new = [0; 4];
                surface.codec.unwrap().encode_one(source.map(|lanes| lanes[slot]), 15, &mut new);
                let red = if format == SurfaceFormat::R16G16_SNORM
                    || format == SurfaceFormat::R16G16_FLOAT
                {
                    2
                } else {
                    1
                };
                for (byte, new) in new.into_iter().enumerate() {
                    if code % 2 == 0 || byte >= red {
                        let old = expected[at + byte];
                        expected[at + byte] = if works { function(new, old) } else { new };
                    }
                }
            }
            assert!(contents(&mut gpu, context, 1) == expected, "{code:x} {format:?}");
        }
    }
}

/// Oracle: 2d p.347: red and blue are swapped, also in the destination of blending and in the write
/// disables.
#[test]
fn channels_change_places() {
    let plain = surface(SurfaceFormat::B8G8R8A8_UNORM, TileMode::Y);
    let mut swapped = surface(SurfaceFormat::R8G8B8A8_UNORM, TileMode::Y);
    swapped.select.swap(0, 2);
    let mut state = BlendState::new();
    state.entry[0].color_buffer_blend_enable = true;
    state.entry[0].source_blend_factor = Factor::BLENDFACTOR_DST_COLOR;
    state.entry[0].destination_blend_factor = Factor::BLENDFACTOR_INV_SRC_COLOR;
    state.entry[0].write_disable_red = true;
    let (pixels, source) = (Random(6).pixels(1), Random(7).source());
    let [one, other] = [plain, swapped].map(|surface| {
        let (mut gpu, context, _) = memory(1);
        let target = target(&surface, &state);
        target
            .pixels(&mut gpu.vm(context), &mut AuxCache::default(), &pixels, &source, None)
            .unwrap();
        contents(&mut gpu, context, 1)
    });
    assert!(one == other);
}

/// Dithering changes a colour by less than a step, keeps values that are whole steps, and keeps the
/// mean over 4 x 4 pixels to 1/16 step. Checks the blue channel.
#[test]
fn dither_is_fair() {
    let surface = surface(SurfaceFormat::B5G6R5_UNORM, TileMode::Linear);
    let mut state = BlendState::new();
    state.color_dither_enable = true;
    state.x_dither_offset = U::new(1).unwrap();
    let target = target(&surface, &state);
    let (mut gpu, context, _) = memory(1);
    for eighth in 0..=8 * 31 {
        let value = eighth as f32 / 8.0 / 31.0;
        let source = [[value.to_bits(); SLOTS]; 4];
        let pixels =
            Pixels { subspans: [[4, 4], [6, 4], [4, 6], [6, 6]], samples: [1; SLOTS], slice: 0 };
        target
            .pixels(&mut gpu.vm(context), &mut AuxCache::default(), &pixels, &source, None)
            .unwrap();
        let mut sum = 0;
        for (_, _, at) in places(&surface, &pixels) {
            let blue = u32::from(gpu.vm(context).read_u16(BASE + at as u64).unwrap() & 31);
            assert!((blue as f32 - eighth as f32 / 8.0).abs() < 1.0);
            assert!(eighth % 8 != 0 || blue == eighth / 8);
            sum += blue;
        }
        assert!((sum as f32 - eighth as f32 * 2.0).abs() <= 1.0, "{eighth} {sum}");
    }
}

#[test]
fn what_cannot_be_rendered_to() {
    let resolve = |surface: &Surface| {
        let state = BlendState::new();
        RenderTarget::resolve(surface, &state, 0, &ColorCalcState::new(), Purpose::Draw)
            .map(|target| target.is_null())
    };
    assert_eq!(resolve(&Surface::default()), Ok(true));
    for format in [
        SurfaceFormat::BC1_UNORM,
        SurfaceFormat::R8G8B8_UNORM,
        SurfaceFormat::RAW,
        SurfaceFormat::R64_PASSTHRU,
        SurfaceFormat::R64_FLOAT,
        SurfaceFormat::R16G16_USCALED,
        SurfaceFormat::R9G9B9E5_SHAREDEXP,
        SurfaceFormat::P8A8_UNORM_PALETTE0,
    ] {
        let error = resolve(&surface(format, TileMode::Linear)).unwrap_err();
        assert!(matches!(error, BadSurface { field: "Surface Format", .. }), "{format:?}");
    }
    let dwords = surface(SurfaceFormat::R32_UINT, TileMode::Linear);
    let field = |surface: Surface| resolve(&surface).unwrap_err().field;
    assert_eq!(field(surface(SurfaceFormat::PLANAR_420_8, TileMode::Linear)), "Surface Format");
    assert_eq!(field(Surface { kind: SurfaceKind::Structured, ..dwords }), "Surface Type");
    // The pitch of a buffer must be the size of one element.
    assert_eq!(field(Surface { kind: SurfaceKind::Buffer, ..dwords }), "Surface Pitch");
    assert_eq!(field(Surface { mip_count: 15, ..dwords }), "MIP Count / LOD");
}

/// Only some surfaces can be rotated (2d p.339).
#[test]
fn what_cannot_be_rotated() {
    let plain = Surface {
        rotation: Rotation::_90DEG,
        array: false,
        slices: 1,
        view_extent: 1,
        width: 36,
        height: 20,
        layout: Layout { width: 36, height: 20, ..Layout::default() },
        ..surface(SurfaceFormat::R8G8B8A8_UNORM, TileMode::X)
    };
    let resolve = |surface: Surface| {
        let state = BlendState::new();
        RenderTarget::resolve(&surface, &state, 0, &ColorCalcState::new(), Purpose::Draw)
            .map(|target| target.turn.is_some())
            .map_err(|bad| bad.field)
    };
    assert_eq!(resolve(plain), Ok(true));
    assert_eq!(resolve(Surface { rotation: Rotation::_0DEG, ..plain }), Ok(false));
    let auxiliary = crate::surface::Auxiliary {
        kind: crate::surface::AuxiliaryKind::Mcs,
        base: 0x10_0000,
        pitch: 128,
        qpitch: 0,
    };
    assert_eq!(resolve(Surface { auxiliary, ..plain }), Err("Auxiliary Surface Mode"));
    for bad in [
        Surface { rotation: Rotation::from_bits(2), ..plain },
        Surface { array: true, ..plain },
        Surface { mip_count: 1, ..plain },
        Surface { left: 16, ..plain },
        Surface { top: 4, ..plain },
        Surface { tile_mode: TileMode::Y, ..plain },
        Surface { width: 35, ..plain },
        Surface { height: 21, ..plain },
        Surface { height: 258, ..plain },
        with_samples(plain, 2),
        Surface {
            format: SurfaceFormat::R32_FLOAT,
            codec: Codec::of(SurfaceFormat::R32_FLOAT),
            ..plain
        },
    ] {
        assert_eq!(resolve(bad), Err("Render Target And Sample Unorm Rotation"), "{bad:?}");
    }
}

/// `gather` takes one bit of each byte. Tests all bits of random bytes.
#[test]
fn bits_are_gathered() {
    let mut random = Random(8);
    for _ in 0..500 {
        let bytes: [u8; SLOTS] = std::array::from_fn(|_| random.below(256) as u8);
        for bit in 0..8 {
            let expected = (0..SLOTS).fold(0, |all, n| all | u32::from(bytes[n] >> bit & 1) << n);
            assert_eq!(gather(&bytes, bit), expected);
        }
    }
}

/// Oracle: the conversion in double precision. Tests the floats around the middle between two
/// steps, where rounding matters, and special values.
#[test]
fn bytes_are_rounded_once() {
    let Some(level) = Level::detect() else {
        println!("skipped: the processor lacks instructions of the fast path");
        return;
    };
    let middle = |n: u32| (n as f32 + 0.5) / 255.0;
    let near = (0..255).map(middle).flat_map(|at| (0..64).map(move |n| at.to_bits() - 32 + n));
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
    for value in near.map(f32::from_bits).chain(special) {
        let byte = level.vectorize(
            #[inline(always)]
            || packed::to_byte(level, value),
        );
        assert_eq!(u64::from(byte), convert::to_unorm(value, 8), "{value}");
    }
}

/// Oracle: the general path. Six formats, each in three tile modes, and random blending. The slots
/// are one strip, or they are not. Some targets have a control surface with cleared blocks.
#[test]
fn packed_writes_equal_general_ones() {
    if Level::detect().is_none() {
        println!("skipped: the processor lacks instructions of the fast path");
        return;
    }
    let mut random = Random(26);
    let (mut packed, mut refused, mut opened) = (0, 0, 0);
    for (n, format) in FORMATS.into_iter().take(6).cycle().take(3000).enumerate() {
        let tile_mode = [TileMode::Linear, TileMode::X, TileMode::Y][n / 6 % 3];
        let mut surface = surface(format, tile_mode);
        if n / 18 % 2 == 1 && tile_mode != TileMode::Linear {
            surface.auxiliary = crate::surface::Auxiliary {
                kind: crate::surface::AuxiliaryKind::Mcs,
                base: CONTROL,
                pitch: 512,
                qpitch: 64,
            };
        }
        let mut state = BlendState::new();
        let entry = &mut state.entry[0];
        entry.color_buffer_blend_enable = random.below(3) != 0;
        let factors = [0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x11, 0x12, 0x13, 0x14, 0x15, 0x9, 0x19];
        let mut factor = || Factor::from_bits(factors[random.below(14) as usize]);
        entry.source_blend_factor = factor();
        entry.destination_blend_factor = factor();
        entry.color_blend_function = ThreeDColorBufferBlendFunction::from_bits(random.below(5));
        entry.pre_blend_color_clamp_enable = random.below(2) == 0;
        entry.write_disable_green = random.below(8) == 0;
        state.alpha_to_one_enable = random.below(8) == 0;
        let target = target(&surface, &state);
        let (mut one, one_context, _) = memory(1);
        let (mut other, other_context, _) = memory(1);
        let blocks: Vec<u8> = (0..CONTROL_BYTES).map(|_| random.below(256) as u8).collect();
        one.load(one_context, CONTROL, &blocks).unwrap();
        other.load(other_context, CONTROL, &blocks).unwrap();
        // One cache for each path. All writes to a target share it, as in a draw.
        let mut caches = [AuxCache::default(); 2];
        for _ in 0..4 {
            let mut pixels = random.pixels(1);
            if random.below(2) == 0 {
                let (x, y) = (8 * random.below(4) as u32, 2 * random.below(10) as u32);
                pixels.subspans = [[x, y], [x + 2, y], [x + 4, y], [x + 6, y]];
            }
            let mut color = random.source();
            color[1][3] = f32::NAN.to_bits();
            color[0][7] = (-1.5_f32).to_bits();
            let second = (random.below(2) == 0).then(|| random.source());
            let lanes = gather(&pixels.samples, 0) as u16;
            let Pixels { subspans, slice, .. } = pixels;
            let write = Write { subspans, slice, color, second, ..Write::default() };
            let [own, general] = [AccessLog::default(), AccessLog::default()];
            let observed = random.below(2) == 0;
            let vm = &mut one.vm(one_context);
            let vm = &mut if observed { vm.with_log(&own) } else { vm.reborrow() };
            if !target.pack(vm, &mut caches[0], &write, lanes).unwrap() {
                refused += 1;
                continue;
            }
            packed += 1;
            let (cache, second) = (&mut caches[1], second.as_ref());
            let vm = &mut other.vm(other_context);
            let vm = &mut if observed { vm.with_log(&general) } else { vm.reborrow() };
            target.pixels(vm, cache, &pixels, &color, second).unwrap();
            let what = || format!("{format:?} {tile_mode:?} {pixels:?} {state:?}");
            assert_eq!(own.drain_bytes(), general.drain_bytes(), "{}", what());
        }
        let equal = contents(&mut one, one_context, 1) == contents(&mut other, other_context, 1);
        assert!(equal, "{format:?} {tile_mode:?} {state:?}");
        let [mut left, mut expected] = [[0; CONTROL_BYTES]; 2];
        one.vm(one_context).read(CONTROL, &mut left).unwrap();
        other.vm(other_context).read(CONTROL, &mut expected).unwrap();
        assert!(left == expected, "{format:?} {tile_mode:?}");
        opened += usize::from(surface.auxiliary.base == CONTROL && left != blocks[..]);
    }
    assert!(opened > 100, "{opened}");
    assert!(packed > 3 * refused && refused > 0, "{packed} {refused}");
}
