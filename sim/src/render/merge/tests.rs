//! Oracle: the rules of 2d p.36 and p.357 and gen8_facts 8.1, sample by sample. Each render target
//! gets the samples that its own alpha and the depth test leave. Depth is written and counted for
//! samples that the alpha of at least one render target leaves.

use super::*;
use crate::gpu::Gpu;
use crate::machine::exec::tests::with_exec;
use crate::mem::Vm;
use crate::render::compare::Compare;
use crate::render::depth::DepthFormat;
use crate::render::render_target::Purpose;
use crate::surface::{Codec, Layout, Surface, SurfaceKind, TileMode};
use crate::unit::render_cache::Source;
use genxml::core::{Address, MinusOne};
use genxml::gen8::enums::ThreeDCompareFunction;
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat, ThreeDStateStencilBuffer,
    ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_pixel::{
    ColorCalcState, ColorCalcStateReference, ThreeDStateWmEarlyDepthStencilControl as Control,
};
use genxml::gen8::render3d_raster::CcViewport;
use genxml::gen8::state::{NumberOfMultisamples, SurfaceFormat, SurfaceType};

const TARGETS: [u64; 2] = [0x100_0000, 0x110_0000];
const DEPTH: u64 = 0x200_0000;

fn surface(base: u64, samples: u32) -> Surface {
    let codec = Codec::of(SurfaceFormat::R32G32B32A32_FLOAT);
    Surface {
        kind: SurfaceKind::Image,
        base,
        width: 16,
        height: 16,
        pitch: 256,
        tile_mode: TileMode::Y,
        element_bytes: 16,
        format: SurfaceFormat::R32G32B32A32_FLOAT,
        codec,
        layout: Layout { width: 16, height: 16, samples, qpitch: 32, ..Layout::default() },
        ..Surface::default()
    }
}

fn output(
    samples: u32,
    function: ThreeDCompareFunction,
    (blend, constants): (&BlendState, &ColorCalcState),
    control: Control,
) -> Output {
    let mut buffer = ThreeDStateDepthBuffer::new();
    buffer.surface_type = SurfaceType::SURFTYPE_2D;
    buffer.surface_format = ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT;
    buffer.surface_base_address = Address::new(DEPTH).unwrap();
    buffer.surface_pitch = MinusOne::new(256).unwrap();
    buffer.width = MinusOne::new(16).unwrap();
    buffer.height = MinusOne::new(16).unwrap();
    buffer.depth_write_enable = true;
    let mut tests = ThreeDStateWmDepthStencil::new();
    tests.depth_test_enable = true;
    tests.depth_buffer_write_enable = true;
    tests.depth_test_function = function;
    let mut shader = ThreeDStatePsExtra::new();
    shader.pixel_shader_valid = true;
    let mut wm = ThreeDStateWm::new();
    wm.early_depth_stencil_control = control;
    let depth = DepthStencilPackets {
        depth: &buffer,
        stencil: &ThreeDStateStencilBuffer::new(),
        tests: &tests,
        references: constants,
        viewports: &[CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 }],
        samples: NumberOfMultisamples::from_bits(samples.ilog2().into()),
    };
    Output::resolve(&OutputPackets {
        depth,
        wm: &wm,
        shader: &shader,
        blend,
        chroma_key_kills: false,
    })
    .unwrap()
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn eighth(&mut self) -> f32 {
        self.below(9) as f32 / 8.0
    }
}

fn message(color: Source, subspans: [[u32; 2]; 4], last: bool) -> Write {
    Write {
        binding: 0,
        entry: 0,
        last,
        upper: false,
        slots: 0xffff,
        mask: 0xffff,
        subspans,
        slice: 0,
        viewport: 0,
        back: false,
        color,
        second: None,
        alpha: None,
        omask: None,
        depth: None,
    }
}

/// The random inputs of a pair of messages, one for each render target.
struct Inputs {
    /// Column and row of the upper left pixel of each quad.
    subspans: [[u32; 2]; 4],
    /// Mask of the covered samples of each slot.
    live: [u8; SLOTS],
    /// Interpolated depths of the samples of each quad.
    z: [Depths; 4],
    /// Colours for each render target.
    sources: [Source; 2],
    /// Sample masks that the shader computed.
    omask: Option<[u16; SLOTS]>,
    /// Depths that the shader computed.
    computed: Option<[f32; SLOTS]>,
    /// Alpha of source 0, used for both render targets.
    alpha: Option<[u32; SLOTS]>,
}

impl Inputs {
    /// Random inputs, with and without the optional parts.
    fn random(random: &mut Random, samples: u32) -> Inputs {
        let all = ((1u32 << samples) - 1) as u64;
        let (x, y) = (2 * random.below(6) as u32, 2 * random.below(6) as u32);
        let subspans = [[x, y], [x + 2, y], [x, y + 2], [x + 4, y + 4]];
        let live = std::array::from_fn(|_| (random.below(256) & all) as u8);
        let z = std::array::from_fn(|_| {
            std::array::from_fn(|_| std::array::from_fn(|_| random.eighth()))
        });
        let sources: [Source; 2] = std::array::from_fn(|_| {
            std::array::from_fn(|_| std::array::from_fn(|_| random.eighth().to_bits()))
        });
        let omask =
            (random.below(2) == 0).then(|| std::array::from_fn(|_| random.below(256) as u16));
        let computed = (random.below(2) == 0).then(|| std::array::from_fn(|_| random.eighth()));
        let alpha = (random.below(3) == 0).then_some(sources[0][3]);
        Inputs { subspans, live, z, sources, omask, computed, alpha }
    }

    /// The message for render target `n`.
    fn write(&self, n: usize) -> Write {
        Write {
            omask: self.omask,
            depth: self.computed,
            alpha: self.alpha,
            ..message(self.sources[n], self.subspans, n == 1)
        }
    }
}

/// The expected contents of two render targets and of a depth buffer of 16 x 16 pixels. The rules
/// work sample by sample: see the head of this file.
struct Expected {
    /// Samples of a pixel.
    samples: u32,
    /// Colours of a sample in each render target.
    colors: Vec<[[f32; 4]; 2]>,
    /// Depth of a sample.
    depths: Vec<f32>,
}

impl Expected {
    /// Render targets and a depth buffer that are all zeros.
    fn new(samples: u32) -> Expected {
        let count = 256 * samples as usize;
        Expected { samples, colors: vec![[[0.0; 4]; 2]; count], depths: vec![0.0; count] }
    }

    /// Index of a sample in `colors` and `depths`.
    fn index(&self, x: u32, y: u32, sample: u32) -> usize {
        (((y * 16 + x) * self.samples) + sample) as usize
    }

    /// Merges the messages of both render targets. Returns the number of samples that pass the
    /// depth test, and the number of colours that are stored.
    fn merge(&mut self, inputs: &Inputs) -> (u32, u64) {
        let (mut passed, mut stored) = (0, 0);
        for slot in 0..SLOTS {
            let [x, y] = inputs.subspans[slot / 4];
            let (x, y) = (x + slot as u32 % 2, y + slot as u32 / 2 % 2);
            for sample in 0..self.samples {
                let left = inputs.omask.is_none_or(|omask| omask[slot] >> sample & 1 == 1);
                if inputs.live[slot] >> sample & 1 == 0 || !left {
                    continue;
                }
                let z = inputs
                    .computed
                    .map_or(inputs.z[slot / 4][slot % 4][sample as usize], |z| z[slot]);
                let at = self.index(x, y, sample);
                let passes = z > self.depths[at];
                let mut some = false;
                for (n, source) in inputs.sources.iter().enumerate() {
                    let own = inputs.alpha.unwrap_or(source[3])[slot];
                    if f32::from_bits(own) > 0.3 {
                        some = true;
                        if passes {
                            self.colors[at][n] = source.map(|lanes| f32::from_bits(lanes[slot]));
                            stored += 1;
                        }
                    }
                }
                if some && passes {
                    self.depths[at] = z;
                    passed += 1;
                }
            }
        }
        (passed, stored)
    }

    /// Compares memory with the expected contents.
    fn check(&self, vm: &Vm<'_>, output: &Output, surfaces: &[Surface; 2]) {
        let plane = output.depth.depth.as_ref().unwrap();
        for (x, y, sample) in (0..256 * self.samples).map(|n| (n % 16, n / 16 % 16, n / 256)) {
            let expected = self.index(x, y, sample);
            let at = plane.surface.texel(&plane.level, 0, x, y, sample);
            let found = f32::from_bits(vm.read_u32(at).unwrap());
            assert_eq!(found, self.depths[expected], "{x} {y} {sample}");
            for (n, surface) in surfaces.iter().enumerate() {
                let level = surface.layout.level(0);
                let bytes: [u8; 16] =
                    vm.read_array(surface.texel(&level, 0, x, y, sample)).unwrap();
                let found = surface.codec.unwrap().decode_one(&bytes).map(f32::from_bits);
                assert_eq!(found, self.colors[expected][n], "{x} {y} {sample} target {n}");
            }
        }
    }
}

#[test]
fn two_targets_with_late_tests() {
    let mut random = Random(1);
    for samples in [1, 4] {
        let mut gpu = Gpu::new();
        let context = gpu.create_context().unwrap();
        for base in TARGETS.into_iter().chain([DEPTH]) {
            gpu.load(context, base, &vec![0; 64 << 10]).unwrap();
        }
        let mut blend = BlendState::new();
        blend.alpha_test_enable = true;
        blend.alpha_test_function = ThreeDCompareFunction::COMPAREFUNCTION_GREATER;
        let constants = ColorCalcState {
            reference: ColorCalcStateReference::Float { alpha_reference_value_as_float32: 0.3 },
            ..ColorCalcState::new()
        };
        let surfaces = TARGETS.map(|base| surface(base, samples));
        let targets = surfaces.map(|surface| {
            RenderTarget::resolve(&surface, &blend, 0, &constants, Purpose::Draw).unwrap()
        });
        let function = ThreeDCompareFunction::COMPAREFUNCTION_GREATER;
        let output = output(samples, function, (&blend, &constants), Control::NORMAL);
        assert_eq!(output.timing, Timing::Twice);
        assert_eq!(
            (output.depth.format, output.depth.function),
            (DepthFormat::Float32, Some(Compare::of(function)))
        );
        let mut expected = Expected::new(samples);
        for _ in 0..40 {
            let inputs = Inputs::random(&mut random, samples);
            let mut slots = Slots::new(inputs.live, inputs.z);
            let (mut counts, mut written) = ([0; 2], 0);
            for (n, target) in targets.iter().enumerate() {
                let write = inputs.write(n);
                let (result, stats) = with_exec(gpu.vm(context), |exec| {
                    output.merge(exec, target, &mut AuxCache::default(), &mut slots, &write)
                });
                counts[n] = result.unwrap();
                written += stats.bytes_written / 16;
            }
            let (passed, stored) = expected.merge(&inputs);
            assert_eq!((counts, written), ([0, passed], stored));
        }
        expected.check(&gpu.vm(context), &output, &surfaces);
    }
}

/// Without a surface, late tests still test and write depth. With early tests the message does
/// nothing.
#[test]
fn null_targets() {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.load(context, DEPTH, &vec![0; 64 << 10]).unwrap();
    let (blend, constants) = (BlendState::new(), ColorCalcState::new());
    let target =
        RenderTarget::resolve(&Surface::default(), &blend, 0, &constants, Purpose::Draw).unwrap();
    for (control, count) in [(Control::NORMAL, 0), (Control::PSEXEC, 16)] {
        let function = ThreeDCompareFunction::COMPAREFUNCTION_ALWAYS;
        let output = output(1, function, (&blend, &constants), control);
        let mut slots = Slots::new([1; SLOTS], [[[0.5; 8]; 4]; 4]);
        let write = message([[0; SLOTS]; 4], [[0, 0], [2, 0], [4, 0], [6, 0]], true);
        let (result, stats) = with_exec(gpu.vm(context), |exec| {
            output.merge(exec, &target, &mut AuxCache::default(), &mut slots, &write)
        });
        assert_eq!((result.unwrap(), stats.pixels), (count, 0));
        let expected = if count > 0 { 0.5 } else { 0.0 };
        assert_eq!(f32::from_bits(gpu.vm(context).read_u32(DEPTH).unwrap()), expected);
    }
}

/// Two colours for each of sixteen slots come in two messages of eight slots. Both are marked as
/// the last (003:4962). Each message tests only its own slots, so each slot is tested once.
#[test]
fn halves_are_tested_once() {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.load(context, DEPTH, &vec![0; 64 << 10]).unwrap();
    let (blend, constants) = (BlendState::new(), ColorCalcState::new());
    let target =
        RenderTarget::resolve(&Surface::default(), &blend, 0, &constants, Purpose::Draw).unwrap();
    let function = ThreeDCompareFunction::COMPAREFUNCTION_ALWAYS;
    let output = output(1, function, (&blend, &constants), Control::PSEXEC);
    let mut slots = Slots::new([1; SLOTS], [[[0.5; 8]; 4]; 4]);
    for half in [0x00ff, 0xff00] {
        let mut write = message([[0; SLOTS]; 4], [[0, 0], [2, 0], [4, 0], [6, 0]], true);
        (write.slots, write.mask) = (half, half);
        let (result, _) = with_exec(gpu.vm(context), |exec| {
            output.merge(exec, &target, &mut AuxCache::default(), &mut slots, &write)
        });
        assert_eq!(result.unwrap(), 8);
    }
}

/// The page fault of a write names a render target as the thing that was accessed.
#[test]
fn faults_name_the_target() {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    let (blend, constants) = (BlendState::new(), ColorCalcState::new());
    let target =
        RenderTarget::resolve(&surface(TARGETS[0], 1), &blend, 0, &constants, Purpose::Draw)
            .unwrap();
    let output = Output::default();
    let mut slots = Slots::new([1; SLOTS], [[[0.5; 8]; 4]; 4]);
    let write = message([[0; SLOTS]; 4], [[0, 0], [2, 0], [4, 0], [6, 0]], true);
    let (result, _) = with_exec(gpu.vm(context), |exec| {
        output.merge(exec, &target, &mut AuxCache::default(), &mut slots, &write)
    });
    let Fault::Page { fault, what, .. } = result.unwrap_err() else { panic!("another fault") };
    assert_eq!((fault.address, fault.write, &*what), (TARGETS[0], true, "a render target"));
}
