//! Oracles: the order of the tests in Direct3D and OpenGL, in f64; addresses made bit by bit from
//! the manual's bit tables of Y and W tiles and the interleaving of samples.

use super::*;
use crate::eu::fast::Level;
use crate::gpu::Gpu;
use crate::mem::AccessLog;
use crate::pixel::raster::strips::Strip;
use genxml::core::{Address, MinusOne, Shifted, U};
use genxml::gen8::enums::{ThreeDCompareFunction, ThreeDStencilOperation};

const DEPTH: u64 = 0x100_0000;
const STENCIL: u64 = 0x200_0000;
const BYTES: usize = 400 << 10;

/// Address bits of a Y tile and a W tile from bit 11 down (gen8_facts 10.1).
const Y: [&str; 12] = ["x6", "x5", "x4", "y4", "y3", "y2", "y1", "y0", "x3", "x2", "x1", "x0"];
const W: [&str; 12] = ["x5", "x4", "x3", "y5", "y4", "y3", "y2", "x2", "y1", "x1", "y0", "x0"];

fn tiled(bits: &[&str; 12], [width, height]: [u32; 2], tiles: u32, x: u32, y: u32) -> u64 {
    let inside = bits.iter().fold(0, |address, bit| {
        let from = if bit.starts_with('x') { x } else { y };
        address << 1 | from >> bit[1..].parse::<u32>().unwrap() & 1
    });
    u64::from((y / height * tiles + x / width) * 4096 + inside)
}

/// Column and row of a sample in an interleaved surface. Each pair of columns of pixels is stored
/// as one pair of columns for each sample across, and each pair of rows as one pair of rows for
/// each sample down.
fn interleaved(samples: u32, x: u32, y: u32, sample: u32) -> [u32; 2] {
    let [across, down] = match samples {
        8 => [4, 2],
        4 => [2, 2],
        2 => [2, 1],
        _ => [1, 1],
    };
    // Bits 0 and 2 of a sample's number are bits 0 and 1 of its column; bit 1 is its row.
    let (column, row) = (sample & 1 | sample >> 2 << 1, sample >> 1 & 1);
    [
        x / 2 * 2 * across + column * 2 + x % 2,
        if down == 1 { y } else { y / 2 * 4 + row * 2 + y % 2 },
    ]
}

struct Case {
    format: u64,
    samples: u32,
    depth: ThreeDStateDepthBuffer,
    stencil: ThreeDStateStencilBuffer,
}

impl Case {
    fn new(format: u64, samples: u32) -> Case {
        let mut depth = ThreeDStateDepthBuffer::new();
        depth.surface_type = SurfaceType::SURFTYPE_2D;
        depth.surface_format = ThreeDStateDepthBufferSurfaceFormat::from_bits(format);
        depth.surface_base_address = Address::new(DEPTH).unwrap();
        depth.surface_pitch = MinusOne::new(1024).unwrap();
        depth.width = MinusOne::new(45).unwrap();
        depth.height = MinusOne::new(37).unwrap();
        depth.depth = MinusOne::new(3).unwrap();
        depth.render_target_view_extent = MinusOne::new(3).unwrap();
        depth.surface_qpitch = Shifted::new(128).unwrap();
        depth.depth_write_enable = true;
        depth.stencil_write_enable = true;
        let mut stencil = ThreeDStateStencilBuffer::new();
        stencil.stencil_buffer_enable = true;
        stencil.surface_base_address = Address::new(STENCIL).unwrap();
        stencil.surface_pitch = MinusOne::new(512).unwrap();
        stencil.surface_qpitch = Shifted::new(128).unwrap();
        Case { format, samples, depth, stencil }
    }

    fn resolve(&self, tests: &ThreeDStateWmDepthStencil, references: [u64; 2]) -> DepthStencil {
        let mut constants = ColorCalcState::new();
        constants.stencil_reference_value = U::new(references[0]).unwrap();
        constants.back_face_stencil_reference_value = U::new(references[1]).unwrap();
        let viewports = [
            CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 },
            CcViewport { minimum_depth: 0.25, maximum_depth: 0.75 },
        ];
        DepthStencil::resolve(&DepthStencilPackets {
            depth: &self.depth,
            stencil: &self.stencil,
            tests,
            references: &constants,
            viewports: &viewports,
            samples: NumberOfMultisamples::from_bits(self.samples.ilog2().into()),
        })
        .unwrap()
    }

    fn depth_at(&self, slice: u32, x: u32, y: u32, sample: u32) -> u64 {
        let [x, y] = interleaved(self.samples, x, y, sample);
        let bytes = if self.format == 5 { 2 } else { 4 };
        DEPTH + tiled(&Y, [128, 32], 8, x * bytes, y + slice * 128)
    }

    fn stencil_at(&self, slice: u32, x: u32, y: u32, sample: u32) -> u64 {
        let [x, y] = interleaved(self.samples, x, y, sample);
        STENCIL + tiled(&W, [64, 64], 4, x, y + slice * 128)
    }

    /// A depth as the buffer stores it: a float, or the number of steps of the format.
    fn round(&self, z: f64) -> f64 {
        match self.format {
            1 => f64::from(z as f32),
            3 => (z * 16777215.0).round_ties_even(),
            _ => (z * 65535.0).round_ties_even(),
        }
    }

    fn stored(&self, bytes: &[u8]) -> f64 {
        match self.format {
            1 => f32::from_le_bytes(bytes[..4].try_into().unwrap()).into(),
            3 => f64::from(u32::from_le_bytes(bytes[..4].try_into().unwrap()) & 0xff_ffff),
            _ => u16::from_le_bytes(bytes[..2].try_into().unwrap()).into(),
        }
    }
}

/// Memory for a depth and a stencil buffer, filled with zeros.
fn memory() -> (Gpu, crate::gpu::ContextId) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.load(context, DEPTH, &vec![0; BYTES]).unwrap();
    gpu.load(context, STENCIL, &vec![0; BYTES]).unwrap();
    (gpu, context)
}

/// A generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

fn pass(function: u64, a: f64, b: f64) -> bool {
    [true, false, a < b, a == b, a <= b, a > b, a != b, a >= b][function as usize]
}

fn operate(operation: u64, stored: i32, reference: i32) -> i32 {
    match operation {
        0 => stored,
        1 => 0,
        2 => reference,
        3 => (stored + 1).min(255),
        4 => (stored - 1).max(0),
        5 => (stored + 1) & 255,
        6 => (stored - 1) & 255,
        _ => !stored & 255,
    }
}

fn fields(random: &mut Random) -> ThreeDStateWmDepthStencil {
    let mut tests = ThreeDStateWmDepthStencil::new();
    let bit = |random: &mut Random| random.below(4) != 0;
    tests.depth_test_enable = bit(random);
    tests.depth_buffer_write_enable = bit(random);
    tests.stencil_test_enable = bit(random);
    tests.stencil_buffer_write_enable = bit(random);
    tests.double_sided_stencil_enable = bit(random);
    let function = |random: &mut Random| ThreeDCompareFunction::from_bits(random.below(8));
    let operation = |random: &mut Random| ThreeDStencilOperation::from_bits(random.below(8));
    tests.depth_test_function = function(random);
    tests.stencil_test_function = function(random);
    tests.backface_stencil_test_function = function(random);
    tests.stencil_fail_op = operation(random);
    tests.stencil_pass_depth_fail_op = operation(random);
    tests.stencil_pass_depth_pass_op = operation(random);
    tests.backface_stencil_fail_op = operation(random);
    tests.backface_stencil_pass_depth_fail_op = operation(random);
    tests.backface_stencil_pass_depth_pass_op = operation(random);
    let mask = |random: &mut Random| U::new([255, 15, 0x81][random.below(3) as usize]).unwrap();
    tests.stencil_test_mask = mask(random);
    tests.stencil_write_mask = mask(random);
    tests.backface_stencil_test_mask = mask(random);
    tests.backface_stencil_write_mask = mask(random);
    tests
}

/// The stencil test of a face.
struct Face {
    /// Reference value.
    reference: i32,
    /// Bits of the stored value and the reference that are compared.
    test_mask: i32,
    /// Bits of the stored value that change.
    write_mask: i32,
    /// Number of the compare function.
    function: u64,
    /// Operations if the stencil test fails, if the depth test fails, and if both pass.
    operations: [u64; 3],
}

impl Face {
    /// The test of a front or back face. Without double-sided stencil, back faces use the test and
    /// reference of front faces.
    fn of(tests: &ThreeDStateWmDepthStencil, references: [u64; 2], back: bool) -> Face {
        let back = tests.double_sided_stencil_enable && back;
        let pick = |front: u64, behind: u64| if back { behind } else { front };
        Face {
            reference: pick(references[0], references[1]) as i32,
            test_mask: pick(tests.stencil_test_mask.get(), tests.backface_stencil_test_mask.get())
                as i32,
            write_mask: pick(
                tests.stencil_write_mask.get(),
                tests.backface_stencil_write_mask.get(),
            ) as i32,
            function: pick(
                tests.stencil_test_function.bits(),
                tests.backface_stencil_test_function.bits(),
            ),
            operations: [
                pick(tests.stencil_fail_op.bits(), tests.backface_stencil_fail_op.bits()),
                pick(
                    tests.stencil_pass_depth_fail_op.bits(),
                    tests.backface_stencil_pass_depth_fail_op.bits(),
                ),
                pick(
                    tests.stencil_pass_depth_pass_op.bits(),
                    tests.backface_stencil_pass_depth_pass_op.bits(),
                ),
            ],
        }
    }
}

/// The expected bytes of both buffers.
struct Expected<'a> {
    case: &'a Case,
    /// The depth buffer.
    depth: Vec<u8>,
    /// The stencil buffer.
    stencil: Vec<u8>,
}

impl Expected<'_> {
    /// Tests a sample with depth `z`, whose values lie at byte `d` of the depth buffer and at byte
    /// `s` of the stencil buffer. Returns true if it passes.
    fn sample(
        &mut self,
        tests: &ThreeDStateWmDepthStencil,
        face: &Face,
        z: f64,
        [d, s]: [usize; 2],
        write: bool,
    ) -> bool {
        let z = self.case.round(z);
        let old = i32::from(self.stencil[s]);
        let stencil_passes = !tests.stencil_test_enable
            || pass(
                face.function,
                f64::from(face.reference & face.test_mask),
                f64::from(old & face.test_mask),
            );
        let depth_passes = !tests.depth_test_enable
            || pass(tests.depth_test_function.bits(), z, self.case.stored(&self.depth[d..]));
        let operation = match (stencil_passes, depth_passes) {
            (false, _) => face.operations[0],
            (_, false) => face.operations[1],
            _ => face.operations[2],
        };
        if write && tests.stencil_test_enable && tests.stencil_buffer_write_enable {
            let new = operate(operation, old, face.reference);
            self.stencil[s] = (old & !face.write_mask | new & face.write_mask) as u8;
        }
        let passes = stencil_passes && depth_passes;
        if passes && write && tests.depth_buffer_write_enable {
            let (element, bytes) = match self.case.format {
                1 => ((z as f32).to_bits(), 4),
                5 => (z as u32, 2),
                _ => (z as u32, 4),
            };
            self.depth[d..d + bytes].copy_from_slice(&element.to_le_bytes()[..bytes]);
        }
        passes
    }

    /// Tests the samples of a quad in `mask`. Returns the mask of those that pass.
    fn quad(
        &mut self,
        (tests, references): (&ThreeDStateWmDepthStencil, [u64; 2]),
        quad: &Quad,
        z: &Depths,
        mask: [u8; 4],
        write: bool,
    ) -> [u8; 4] {
        let face = Face::of(tests, references, quad.back);
        let slice = if quad.slice < 3 { quad.slice } else { 0 };
        let range = if quad.viewport == 0 { [0.0, 1.0] } else { [0.25, 0.75] };
        let mut passed = [0u8; 4];
        for pixel in 0..4usize {
            let (x, y) = (quad.x + pixel as u32 % 2, quad.y + pixel as u32 / 2);
            for sample in (0..self.case.samples).filter(|sample| mask[pixel] >> sample & 1 == 1) {
                if x >= 45 || y >= 37 {
                    passed[pixel] |= 1 << sample;
                    continue;
                }
                let at = [
                    (self.case.depth_at(slice, x, y, sample) - DEPTH) as usize,
                    (self.case.stencil_at(slice, x, y, sample) - STENCIL) as usize,
                ];
                let z = f64::from(z[pixel][sample as usize]).clamp(range[0], range[1]);
                if self.sample(tests, &face, z, at, write) {
                    passed[pixel] |= 1 << sample;
                }
            }
        }
        passed
    }
}

/// A random quad at one of few positions, so that positions repeat. Some positions are outside the
/// buffer, which has 45 x 37 pixels and three slices.
fn quad(random: &mut Random) -> Quad {
    Quad {
        x: 38 + 2 * random.below(5) as u32,
        y: 32 + 2 * random.below(4) as u32,
        slice: random.below(4) as u32,
        viewport: random.below(2) as u8,
        back: random.below(2) == 1,
    }
}

/// Random tests of random quads, for all formats and numbers of samples. Checks the samples that
/// pass, their count, and every byte of both buffers afterwards.
#[test]
fn quads_against_the_rules() {
    let mut random = Random(1);
    for (format, samples) in
        [1, 3, 5].into_iter().flat_map(|format| [1, 2, 4, 8].map(|n| (format, n)))
    {
        let case = Case::new(format, samples);
        let (mut gpu, context) = memory();
        let mut expected = Expected { case: &case, depth: vec![0; BYTES], stencil: vec![0; BYTES] };
        for _ in 0..60 {
            let tests = fields(&mut random);
            let references = [random.below(256), random.below(256)];
            let state = case.resolve(&tests, references);
            for _ in 0..6 {
                let quad = quad(&mut random);
                let z: Depths = std::array::from_fn(|_| {
                    std::array::from_fn(|_| {
                        (random.below(9) as f32 - 2.0) / 4.0 + 1e-5 * random.below(3) as f32
                    })
                });
                let all = ((1u32 << samples) - 1) as u64;
                let before: [u8; 4] = std::array::from_fn(|_| (random.next() & all) as u8);
                let write = random.below(3) != 0;
                let mut mask = before;
                let count =
                    state.samples(&mut gpu.vm(context), &quad, &z, &mut mask, write).unwrap();
                let passed = expected.quad((&tests, references), &quad, &z, before, write);
                assert_eq!(mask, passed, "{format} {samples} {quad:?} {tests:?}");
                assert_eq!(count, passed.iter().map(|mask| mask.count_ones()).sum::<u32>());
            }
        }
        let vm = gpu.vm(context);
        let mut found = vec![0; BYTES];
        vm.read(DEPTH, &mut found).unwrap();
        assert!(found == expected.depth, "depth {format} {samples}");
        vm.read(STENCIL, &mut found).unwrap();
        assert!(found == expected.stencil, "stencil {format} {samples}");
    }
}

/// Oracle: D3D11, for a NaN depth and for depths outside the range of the viewport.
#[test]
fn depths_are_clamped_to_the_viewport() {
    let case = Case::new(1, 1);
    let (mut gpu, context) = memory();
    let mut tests = ThreeDStateWmDepthStencil::new();
    tests.depth_buffer_write_enable = true;
    let state = case.resolve(&tests, [0, 0]);
    let z = [f32::NAN, -1.0, 7.0, 0.5].map(|z| [z; 8]);
    let quad = Quad { x: 2, y: 4, slice: 1, viewport: 1, back: false };
    assert_eq!(state.samples(&mut gpu.vm(context), &quad, &z, &mut [1; 4], true).unwrap(), 4);
    for (n, expected) in [0.25f32, 0.25, 0.75, 0.5].into_iter().enumerate() {
        let at = case.depth_at(1, 2 + n as u32 % 2, 4 + n as u32 / 2, 0);
        assert_eq!(f32::from_bits(gpu.vm(context).read_u32(at).unwrap()), expected);
    }
}

/// Oracle: levels worked out by hand, for 45 x 37 with 4 x 4 alignment: level 1 (22 x 18) is below
/// level 0, level 2 (11 x 9) is right of level 1, and level 3 is below level 2.
#[test]
fn levels_of_a_depth_buffer() {
    let mut case = Case::new(1, 1);
    for (lod, column, row) in [(0, 0, 0), (1, 0, 40), (2, 24, 40), (3, 24, 52)] {
        case.depth.lod = U::new(lod).unwrap();
        let (plane, _) = depth_plane(&case.depth, NumberOfMultisamples::_1).unwrap().unwrap();
        assert_eq!([plane.level.x, plane.level.y], [column, row]);
    }
    // Level 2 of the stencil buffer, which has 8 x 8 alignment.
    case.depth.lod = U::new(2).unwrap();
    let plane =
        stencil_plane(&case.stencil, &case.depth, NumberOfMultisamples::_1).unwrap().unwrap();
    assert_eq!([plane.level.x, plane.level.y], [24, 40]);
}

#[test]
fn bad_buffers_are_refused() {
    let field =
        |case: &Case| depth_plane(&case.depth, NumberOfMultisamples::_1).map_err(|bad| bad.field);
    let mut case = Case::new(2, 1);
    assert_eq!(field(&case), Err("Surface Format"));
    case = Case::new(1, 1);
    case.depth.surface_pitch = MinusOne::new(100).unwrap();
    assert_eq!(field(&case), Err("Surface Pitch"));
    case = Case::new(1, 1);
    case.depth.surface_type = SurfaceType::SURFTYPE_BUFFER;
    assert_eq!(field(&case), Err("Surface Type"));
    case = Case::new(1, 1);
    case.depth.surface_qpitch = Shifted::new(0).unwrap();
    assert_eq!(field(&case), Err("Surface QPitch"));
    case = Case::new(1, 1);
    case.depth.lod = U::new(15).unwrap();
    assert_eq!(field(&case), Err("LOD"));
    case.depth.surface_type = SurfaceType::SURFTYPE_NULL;
    assert_eq!(field(&case), Ok(None));
    // A buffer without memory gives a page fault at the address of the element.
    case = Case::new(1, 1);
    case.depth.surface_base_address = Address::new(0x7000_0000).unwrap();
    let mut tests = ThreeDStateWmDepthStencil::new();
    tests.depth_buffer_write_enable = true;
    let state = case.resolve(&tests, [0, 0]);
    let (mut gpu, context) = memory();
    let quad = Quad { x: 8, ..Quad::default() };
    let fault =
        state.samples(&mut gpu.vm(context), &quad, &[[0.0; 8]; 4], &mut [1; 4], true).unwrap_err();
    assert_eq!((fault.address, fault.write), (0x7000_0000 + 1024, true));
}

/// Oracle: 2a p.276, Early Depth/Stencil Control.
#[test]
fn when_depth_is_tested() {
    let mut shader = ThreeDStatePsExtra::new();
    let wm = |control| {
        let mut wm = ThreeDStateWm::new();
        wm.early_depth_stencil_control = control;
        wm
    };
    use ThreeDStateWmEarlyDepthStencilControl as Control;
    shader.pixel_shader_valid = true;
    assert_eq!(Timing::of(&wm(Control::NORMAL), &shader, false), Timing::Early);
    assert_eq!(Timing::of(&wm(Control::NORMAL), &shader, true), Timing::Twice);
    assert_eq!(Timing::of(&wm(Control::PSEXEC), &shader, false), Timing::Late);
    assert_eq!(Timing::of(&wm(Control::PREPS), &shader, true), Timing::Early);
    shader.pixel_shader_kills_pixel = true;
    assert_eq!(Timing::of(&wm(Control::NORMAL), &shader, false), Timing::Twice);
    shader.pixel_shader_computed_depth_mode =
        ThreeDStatePsExtraPixelShaderComputedDepthMode::PSCDEPTH_ON;
    assert_eq!(Timing::of(&wm(Control::NORMAL), &shader, false), Timing::Late);
    assert_eq!(Timing::of(&wm(Control::PREPS), &shader, false), Timing::Early);
    shader.pixel_shader_valid = false;
    assert_eq!(Timing::of(&wm(Control::PSEXEC), &shader, true), Timing::Early);
}

/// Oracle: the tests of the quads one by one, which have their own oracle. All formats and
/// functions, depths outside of the range and NaN. Strips at the border of the level are refused.
#[test]
fn strips_equal_their_quads() {
    let Some(level) = Level::detect() else {
        println!("skipped: the processor lacks instructions of the fast path");
        return;
    };
    let mut random = Random(8);
    for round in 0..1500 {
        let case = Case::new([1, 3, 5][round % 3], 1);
        let mut fields = fields(&mut random);
        fields.stencil_test_enable = false;
        fields.depth_test_function = ThreeDCompareFunction::from_bits(round as u64 / 3 % 8);
        let state = case.resolve(&fields, [0, 0]);
        let [mut one, mut other] = [memory(), memory()];
        for _ in 0..12 {
            let (x, y) = (8 * random.below(6) as u32, 2 * random.below(19) as u32);
            let masks = [random.next() as u16 | 1, u16::MAX, 0x0f0f, 0xf0f0, 0x00ff];
            let strip = Strip { x, y, mask: masks[random.below(5) as usize] };
            let (slice, viewport) = (random.below(4) as u32, random.below(3) as u8);
            let depths: [[f32; 8]; 2] = std::array::from_fn(|_| {
                std::array::from_fn(|_| match random.below(12) {
                    0 => f32::NAN,
                    1 => -0.5,
                    2 => 1.5,
                    _ => random.below(9) as f32 / 8.0,
                })
            });
            let write = random.below(4) != 0;
            let [own, quads] = [AccessLog::default(), AccessLog::default()];
            let observed = random.below(2) == 0;
            let vm = &mut one.0.vm(one.1);
            let vm = &mut if observed { vm.with_log(&own) } else { vm.reborrow() };
            let tests = state.strips(slice, viewport, write);
            let passed = tests.map(|tests| tests.run(vm, level, &strip, || depths));
            // The level has 45 columns and 37 rows. Strips at its border are refused.
            let whole = x + 8 <= 45 && y + 2 <= 37;
            if !whole {
                assert!(matches!(passed, None | Some(None)), "{strip:?}");
                continue;
            }
            // An observer must not get the accesses of other pixels, so parts of parts are refused.
            if observed && matches!(passed, None | Some(None)) {
                let whole = [0xffff, 0x0f0f, 0xf0f0].contains(&strip.mask);
                assert!(tests.is_none() || !whole || round % 3 == 2 && strip.mask != 0xffff);
                continue;
            }
            let mut expected = 0;
            for n in 0..4 {
                let mut mask = strip.quad(n).mask.map(|mask| mask as u8);
                let z: Depths =
                    std::array::from_fn(|pixel| [depths[pixel / 2][2 * n + pixel % 2]; 8]);
                let quad = Quad { x: x + 2 * n as u32, y, slice, viewport, back: false };
                if mask != [0; 4] {
                    let vm = &mut other.0.vm(other.1);
                    let vm = &mut if observed { vm.with_log(&quads) } else { vm.reborrow() };
                    state.samples(vm, &quad, &z, &mut mask, write).unwrap();
                }
                for (pixel, mask) in mask.iter().enumerate() {
                    expected |= u16::from(*mask) << (pixel / 2 * 8 + 2 * n + pixel % 2);
                }
            }
            // State without effect passes everything; the caller does not test it.
            if !state.is_idle() {
                assert_eq!(passed, Some(Some(expected)), "{fields:?} {strip:?} {depths:?}");
                assert_eq!(own.drain_bytes(), quads.drain_bytes(), "{fields:?} {strip:?}");
            }
        }
        let contents = |(gpu, context): &mut (Gpu, crate::gpu::ContextId)| {
            let mut bytes = vec![0; BYTES];
            gpu.vm(*context).read(DEPTH, &mut bytes).unwrap();
            bytes
        };
        assert!(contents(&mut one) == contents(&mut other), "{fields:?}");
    }
}
