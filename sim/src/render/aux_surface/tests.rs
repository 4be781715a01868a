//! Oracles: the geometry of gen8_facts 8.3 and 8.4 (isl, blorp), and a plain array of the colours
//! that a sampler must find after clears, draws and resolves.

use super::*;
use crate::gpu::{ContextId, Gpu};
use crate::render::render_target::{Pixels, Purpose, RenderTarget};
use crate::surface::{self, Codec, SurfaceKind};
use crate::unit::render_cache::SLOTS;
use crate::unit::render_cache::Source;
use genxml::gen8::enums::ThreeDColorBufferBlendFactor as Factor;
use genxml::gen8::render3d_pixel::{BlendState, ColorCalcState};
use genxml::gen8::state::SurfaceFormat;
use std::collections::HashSet;

const BASE: u64 = 0x100_0000;
const AUXILIARY: u64 = 0x200_0000;

fn surface(
    format: SurfaceFormat,
    tile_mode: TileMode,
    [width, height]: [u32; 2],
    samples: u32,
) -> Surface {
    let codec = Codec::of(format);
    let bytes = codec.unwrap().format().bytes();
    Surface {
        kind: SurfaceKind::Image,
        base: BASE,
        width,
        height,
        pitch: (width * bytes).next_multiple_of(512),
        tile_mode,
        element_bytes: bytes,
        format,
        codec,
        layout: Layout {
            width,
            height,
            samples,
            qpitch: height.next_multiple_of(32),
            ..Layout::default()
        },
        array: true,
        slices: 2,
        view_extent: 2,
        clear: [true, false, true, false],
        auxiliary: surface::Auxiliary {
            kind: AuxiliaryKind::Mcs,
            base: AUXILIARY,
            pitch: 512,
            qpitch: if samples > 1 { 64 } else { 1024 },
        },
        ..Surface::default()
    }
}

fn memory() -> (Gpu, ContextId) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.load(context, BASE, &vec![0x33; 2 << 20]).unwrap();
    gpu.load(context, AUXILIARY, &vec![0; 256 << 10]).unwrap();
    (gpu, context)
}

/// Oracle: gen8_facts 8.4: sizes of blocks. A tile has 128 x 256 blocks. A pixel of a fast clear
/// stands for 8 x 16 blocks. Its rectangle is aligned to 16 x 32 blocks, a cache line.
#[test]
fn places_of_blocks() {
    let sizes = [
        (SurfaceFormat::R8G8B8A8_UNORM, TileMode::X, [16, 2]),
        (SurfaceFormat::R16G16B16A16_FLOAT, TileMode::X, [8, 2]),
        (SurfaceFormat::R32G32B32A32_FLOAT, TileMode::X, [4, 2]),
        (SurfaceFormat::R8G8B8A8_UNORM, TileMode::Y, [8, 4]),
        (SurfaceFormat::R16G16B16A16_FLOAT, TileMode::Y, [4, 4]),
        (SurfaceFormat::R32G32B32A32_FLOAT, TileMode::Y, [2, 4]),
    ];
    for (format, tile_mode, block) in sizes {
        let surface = surface(format, tile_mode, [300, 200], 1);
        let ccs = Ccs::of(&surface, &surface.layout.level(0)).unwrap().unwrap();
        assert_eq!(ccs.block(), block);
        let mut seen = HashSet::new();
        for row in 0..256 {
            for column in 0..128 {
                let (at, bit) = ccs.place(0, column, row);
                assert!(seen.insert((at, bit)) && bit < 128);
                let (first, _) = ccs.place(0, column / 16 * 16, row / 32 * 32);
                assert_eq!(at / 64, first / 64, "16 x 32 blocks are not in one cache line");
                assert_eq!(
                    at,
                    ccs.place(0, column / 8 * 8, row / 16 * 16).0,
                    "8 x 16 blocks are not in one oword"
                );
                assert!(at < AUXILIARY + 4096 && at.is_multiple_of(16));
            }
        }
        assert_eq!(seen.len(), 4096 * 8);
        assert_eq!(ccs.place(0, 128, 0).0, AUXILIARY + 4096);
        assert_eq!(ccs.place(0, 0, 256).0, AUXILIARY + 4 * 4096);
        // QPitch, the distance of slices, counts rows of pixels.
        assert_eq!(ccs.place(1, 0, 0), ccs.place(0, 0, 1024 / block[1]));
    }
    let linear = surface(SurfaceFormat::R8G8B8A8_UNORM, TileMode::Linear, [64, 64], 1);
    assert!(Ccs::of(&linear, &linear.layout.level(0)).is_err());
    let narrow = surface(SurfaceFormat::B5G6R5_UNORM, TileMode::Y, [64, 64], 1);
    assert!(Ccs::of(&narrow, &narrow.layout.level(0)).is_err());
}

/// Calls `work` with the pixels of a rectangle, at most sixteen at a time.
fn rectangle([x0, y0, x1, y1]: [u32; 4], slice: u32, samples: u8, mut work: impl FnMut(&Pixels)) {
    for y in (y0 & !1..y1).step_by(2) {
        for x in (x0 & !1..x1).step_by(8) {
            let subspans = [0, 2, 4, 6].map(|n| [x + n, y]);
            let inside = |slot: usize| {
                let [x, y] = subspans[slot / 4];
                let (x, y) = (x + slot as u32 % 2, y + slot as u32 / 2 % 2);
                (x0..x1).contains(&x) && (y0..y1).contains(&y)
            };
            let samples = std::array::from_fn(|slot| if inside(slot) { samples } else { 0 });
            work(&Pixels { subspans, samples, slice });
        }
    }
}

fn flat(value: [f32; 4]) -> Source {
    value.map(|channel| [channel.to_bits(); SLOTS])
}

fn target(surface: &Surface, state: &BlendState, purpose: Purpose) -> RenderTarget {
    RenderTarget::resolve(surface, state, 0, &ColorCalcState::new(), purpose).unwrap()
}

/// A fast clear of a part of a surface, draws over the border of this part with and without
/// blending, and a resolve. Checks each pixel.
#[test]
fn clear_draw_resolve() {
    for (format, tile_mode) in [
        (SurfaceFormat::R8G8B8A8_UNORM, TileMode::Y),
        (SurfaceFormat::B8G8R8A8_UNORM, TileMode::X),
        (SurfaceFormat::R32G32B32A32_FLOAT, TileMode::Y),
    ] {
        let [width, height] = [203, 141];
        let surface = surface(format, tile_mode, [width, height], 1);
        let codec = surface.codec.unwrap();
        let [bw, bh] = Ccs::of(&surface, &surface.layout.level(0)).unwrap().unwrap().block();
        let (mut gpu, context) = memory();
        let bytes = surface.element_bytes as usize;
        let old = codec.decode_one(&vec![0x33; bytes]).map(f32::from_bits);
        let mut expected = vec![old; (width * height) as usize];
        let clear = [1.0, 0.0, 1.0, 0.0];
        // A fast clear of 4 x 4 pixels clears the first 32 x 64 blocks.
        let plain = BlendState::new();
        let fast = target(&surface, &plain, Purpose::FastClear);
        rectangle([0, 0, 4, 4], 1, 1, |pixels| {
            fast.pixels(
                &mut gpu.vm(context),
                &mut AuxCache::default(),
                pixels,
                &flat([9.0; 4]),
                None,
            )
            .unwrap();
        });
        for y in 0..height.min(64 * bh) {
            for x in 0..width.min(32 * bw) {
                expected[(y * width + x) as usize] = clear;
            }
        }
        let mut blended = BlendState::new();
        blended.entry[0].color_buffer_blend_enable = true;
        blended.entry[0].source_blend_factor = Factor::BLENDFACTOR_ONE;
        blended.entry[0].destination_blend_factor = Factor::BLENDFACTOR_ONE;
        blended.entry[0].post_blend_color_clamp_enable = true;
        let mut cache = AuxCache::default();
        for (corners, color, blends) in [
            ([3, 5, 30, 11], [0.2, 0.4, 0.6, 0.8], false),
            ([20, 8, 41, 19], [0.2, 0.2, 0.0, 0.4], true),
            ([60, 40, 61, 41], [0.0, 1.0, 0.0, 1.0], false),
            ([190, 100, 210, 150], [0.0, 0.2, 0.0, 0.0], true),
        ] {
            let target = target(&surface, if blends { &blended } else { &plain }, Purpose::Draw);
            rectangle(corners, 1, 1, |pixels| {
                target
                    .pixels(&mut gpu.vm(context), &mut cache, pixels, &flat(color), None)
                    .unwrap();
            });
            for y in corners[1]..corners[3].min(height) {
                for x in corners[0]..corners[2].min(width) {
                    let pixel = &mut expected[(y * width + x) as usize];
                    let sum: [f32; 4] =
                        std::array::from_fn(|c| (pixel[c] + color[c]).clamp(0.0, 1.0));
                    *pixel = if blends { sum } else { color };
                }
            }
        }
        let resolve = target(&surface, &plain, Purpose::Resolve);
        // The rectangle of the resolve covers the cleared part and the whole surface.
        let corners = [0, 0, width.div_ceil(8 * bw).max(4), height.div_ceil(16 * bh).max(4)];
        rectangle(corners, 1, 1, |pixels| {
            resolve
                .pixels(
                    &mut gpu.vm(context),
                    &mut AuxCache::default(),
                    pixels,
                    &flat([9.0; 4]),
                    None,
                )
                .unwrap();
        });
        let level = surface.layout.level(0);
        for y in 0..height {
            for x in 0..width {
                let mut element = vec![0; bytes];
                gpu.vm(context).read(surface.texel(&level, 1, x, y, 0), &mut element).unwrap();
                let found = codec.decode_one(&element).map(f32::from_bits);
                let exact = expected[(y * width + x) as usize];
                let near = (0..4).all(|c| (found[c] - exact[c]).abs() < 0.004);
                assert!(near, "{format:?} {x} {y}: {found:?} {exact:?}");
            }
        }
        let mut bits = vec![1; 256 << 10];
        gpu.vm(context).read(AUXILIARY, &mut bits).unwrap();
        assert!(bits.iter().all(|&byte| byte == 0), "blocks are still marked as cleared");
    }
}

/// Oracle: gen8_facts 8.3.
#[test]
fn words_of_pixels() {
    let cases = [(2, 0b10, 3), (4, 0xe4, 0xff), (8, 0x7654_3210, u32::MAX)];
    for (samples, identity, cleared) in cases {
        let surface = surface(SurfaceFormat::R8G8B8A8_UNORM, TileMode::Y, [64, 64], samples);
        let mcs = Mcs::of(&surface).unwrap();
        assert_eq!((mcs.identity(), mcs.cleared()), (identity, cleared));
        for sample in 0..samples {
            assert_eq!(mcs.stored(identity, sample), Stored::Plane(sample));
            assert_eq!(mcs.stored(0, sample), Stored::Plane(0));
            assert_eq!(mcs.stored(cleared, sample), Stored::Cleared);
            assert_eq!(mcs.stored(u32::MAX, sample), Stored::Cleared);
        }
        // Each pixel has its own word.
        let words: HashSet<u64> = (0..64)
            .flat_map(|y| (0..64).map(move |x| (x, y)))
            .map(|(x, y)| mcs.address(0, x, y))
            .collect();
        assert_eq!(words.len(), 4096);
    }
}

/// Side of the multisampled surface of [`samples_of_pixels`] in pixels.
const SIDE: u32 = 20;

/// The expected colours of each sample of each pixel.
struct Samples {
    /// Samples of a pixel.
    samples: u32,
    /// Red and green of each sample.
    colors: Vec<[f32; 2]>,
}

impl Samples {
    /// Index of a sample in `colors`.
    fn index(&self, x: u32, y: u32, sample: u32) -> usize {
        ((y * SIDE + x) * self.samples + sample) as usize
    }

    /// Changes the colours of the samples in `mask` of the pixels of a rectangle.
    fn change(
        &mut self,
        [x0, y0, x1, y1]: [u32; 4],
        mask: u8,
        change: impl Fn([f32; 2]) -> [f32; 2],
    ) {
        for y in y0..y1.min(SIDE) {
            for x in x0..x1.min(SIDE) {
                for sample in (0..self.samples).filter(|sample| mask >> sample & 1 == 1) {
                    let at = self.index(x, y, sample);
                    self.colors[at] = change(self.colors[at]);
                }
            }
        }
    }

    /// Compares all samples, as `ld_mcs` and `ld2dms` read them. At least one pixel must be stored
    /// in one plane.
    fn check(&self, vm: &Vm<'_>, surface: &Surface) {
        let mcs = Mcs::of(surface).unwrap();
        let level = surface.layout.level(0);
        let mut together = 0;
        for y in 0..SIDE {
            for x in 0..SIDE {
                let word = mcs.read(vm, 1, x, y).unwrap();
                together += u32::from(word == 0);
                for sample in 0..self.samples {
                    let found = match mcs.stored(word, sample) {
                        Stored::Cleared => [1.0, 0.0],
                        Stored::Plane(plane) => {
                            let bits = vm.read_u64(surface.texel(&level, 1, x, y, plane)).unwrap();
                            [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)]
                        }
                    };
                    let exact = self.colors[self.index(x, y, sample)];
                    let samples = self.samples;
                    assert_eq!(found, exact, "{samples}: {x} {y} sample {sample} word {word:#x}");
                }
            }
        }
        assert!(together > 0, "no pixel is stored in one plane");
    }
}

/// Random fast clears, and draws of all or some samples, with and without blending. Checks each
/// sample of each pixel, as `ld_mcs` and `ld2dms` read it.
#[test]
fn samples_of_pixels() {
    let mut state = 1u64;
    let mut random = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for samples in [2, 4, 8] {
        let surface = surface(SurfaceFormat::R32G32_FLOAT, TileMode::Y, [SIDE, SIDE], samples);
        let (mut gpu, context) = memory();
        // At first, all samples are marked as cleared.
        gpu.vm(context).write(AUXILIARY, &vec![0xff; 256 << 10]).unwrap();
        let all = ((1u32 << samples) - 1) as u8;
        let mut expected =
            Samples { samples, colors: vec![[1.0, 0.0]; (SIDE * SIDE * samples) as usize] };
        let plain = BlendState::new();
        let mut blended = BlendState::new();
        blended.entry[0].color_buffer_blend_enable = true;
        blended.entry[0].source_blend_factor = Factor::BLENDFACTOR_ONE;
        blended.entry[0].destination_blend_factor = Factor::BLENDFACTOR_ONE;
        let draws =
            [target(&surface, &plain, Purpose::Draw), target(&surface, &blended, Purpose::Draw)];
        let fast = target(&surface, &plain, Purpose::FastClear);
        let mut write = |target: &RenderTarget, corners, mask, color: &Source| {
            rectangle(corners, 1, mask, |pixels| {
                let vm = &mut gpu.vm(context);
                target.pixels(vm, &mut AuxCache::default(), pixels, color, None).unwrap();
            });
        };
        for _ in 0..60 {
            let mut at = || [random(19) as u32, random(19) as u32];
            let ([x, y], [w, h]) = (at(), at());
            match random(6) {
                0 => {
                    // A pixel of a fast clear stands for 8 x 2 pixels, with 8 samples 2 x 2.
                    let [across, down] = if samples == 8 { [2, 2] } else { [8, 2] };
                    let (left, top) = ((x / across) & !1, (y / down) & !1);
                    let corners = [left, top, left + 2, top + 2];
                    write(&fast, corners, 1, &flat([9.0; 4]));
                    let cleared =
                        [left * across, top * down, (left + 2) * across, (top + 2) * down];
                    expected.change(cleared, all, |_| [1.0, 0.0]);
                }
                kind => {
                    let mask = if kind < 3 { all } else { random(all.into()) as u8 };
                    let (blends, color) = (kind % 2 == 1, [random(64) as f32, random(64) as f32]);
                    let corners = [x, y, x + w % 7 + 1, y + h % 7 + 1];
                    let source = flat([color[0], color[1], 0.0, 0.0]);
                    write(&draws[usize::from(blends)], corners, mask, &source);
                    expected.change(corners, mask, |old| match blends {
                        true => [old[0] + color[0], old[1] + color[1]],
                        false => color,
                    });
                }
            }
        }
        expected.check(&gpu.vm(context), &surface);
    }
}
