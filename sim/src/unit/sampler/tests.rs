//! Compares the fast paths of the sampler with the paths that they replace, bit for bit.

use super::lod::Rules;
use super::payload::{Action, GROUP, Kind, LANES, Request, Simd};
use super::sample::{Done, sample};
use super::state::{MapFilter, MipFilter, Sampler, Wrap};
use super::view::{Extras, View};
use super::{vector, view};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::mem::{AccessLog, AddressSpace, Memory, PAGE, Vm};
use crate::surface::{Codec, Layout, Surface, SurfaceKind, TileMode};
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::messages::MessageDescriptorSamplingEngineMessageType as Type;
use genxml::gen8::state::{SamplerState, ShaderChannelSelect as Select, SurfaceFormat};
use genxml_testkit::Random;
use std::collections::BTreeMap;

/// Address of the memory that can be read, and its number of pages.
const BASE: u64 = 0x1234_5000;
const PAGES: u64 = 96;
/// Register of the first parameter, and of the response.
const BODY: usize = 2 * REGISTER;
const ANSWER: usize = 40 * REGISTER;
/// Number of response registers of a message that also returns a mask.
const RETURNED: usize = 9;

/// Memory with random bytes from [`BASE`] on.
fn memory(random: &mut Random) -> (Memory, AddressSpace) {
    let mut memory = Memory::with_limit(16 << 20);
    let mut space = AddressSpace::new(&mut memory).unwrap();
    for page in 0..PAGES {
        let frames = memory.alloc(1).unwrap();
        space.map(&mut memory, BASE + page * PAGE, frames, true).unwrap();
    }
    let bytes = random.bytes((PAGES * PAGE) as usize);
    Vm::new(&mut memory, &mut space).write(BASE, &bytes).unwrap();
    (memory, space)
}

/// A random two-dimensional surface. Part of it may lie outside of the memory.
fn surface(random: &mut Random, formats: &[SurfaceFormat]) -> Surface {
    let mut within = |end: u64| random.below(end) as u32;
    let mut side = || match within(3) {
        0 => 1 << within(7),
        _ => 1 + within(70),
    };
    let (width, height) = (side(), side());
    let codec = Codec::of(formats[within(formats.len() as u64) as usize]).unwrap();
    let element_bytes = codec.format().bytes();
    let tile_mode = [TileMode::Linear, TileMode::X, TileMode::Y][within(3) as usize];
    let array = within(2) == 1;
    let (first_slice, slices) = if array { (within(3), 1 + within(3)) } else { (0, 1) };
    let align = [4 << within(3), 4 << within(3)];
    let mut layout = Layout { width, height, align, ..Layout::default() };
    let first_level = within(3);
    let mip_count = within(5);
    let [columns, rows] = layout.extent(first_level + mip_count + 1, 1);
    if array {
        layout.qpitch = rows.next_multiple_of(align[1]) + align[1] * within(2);
    }
    let unit = match tile_mode {
        TileMode::Linear => element_bytes,
        _ => tile_mode.pitch_unit(),
    };
    let pitch = ((columns + 3) * element_bytes).next_multiple_of(unit) + unit * within(2);
    let base = match within(6) {
        0 => BASE + PAGE * (PAGES - 1 - u64::from(within(6))),
        _ => BASE + PAGE * u64::from(within(8)),
    };
    let base = match tile_mode {
        TileMode::Linear => base + u64::from(element_bytes * within(600)),
        _ => base,
    };
    let x_offset = [0, 0, 4][within(3) as usize];
    let selects = [Select::RED, Select::GREEN, Select::BLUE, Select::ALPHA];
    let select = match within(3) {
        0 => [0; 4].map(|_| match within(6) {
            0 => Select::ZERO,
            1 => Select::ONE,
            n => selects[n as usize - 2],
        }),
        _ => selects,
    };
    Surface {
        kind: SurfaceKind::Image,
        base,
        width,
        height,
        pitch,
        tile_mode,
        element_bytes,
        format: codec.format().code,
        codec: Some(codec),
        x_offset,
        left: x_offset * element_bytes,
        top: [0, 0, 4][within(3) as usize],
        layout,
        array,
        first_level,
        mip_count,
        first_slice,
        slices,
        select,
        ..Surface::default()
    }
}

fn sampler(random: &mut Random) -> Sampler {
    let mut within = |end: u64| random.below(end) as i32;
    let filters = [MapFilter::Nearest, MapFilter::Linear, MapFilter::Linear];
    let min = filters[within(3) as usize];
    let mag = if within(4) == 0 { filters[within(3) as usize] } else { min };
    let mut wrap = || {
        let wraps = [Wrap::Wrap, Wrap::Mirror, Wrap::Clamp, Wrap::MirrorOnce, Wrap::Cube];
        wraps[within(5) as usize]
    };
    let wrap = [wrap(), wrap(), wrap()];
    let min_lod = [0, 0, within(600)][within(3) as usize];
    Sampler {
        min,
        mag,
        mip: [MipFilter::None, MipFilter::Nearest, MipFilter::Linear][within(3) as usize],
        bias: [0, 0, within(2048) - 1024][within(3) as usize],
        min_lod,
        max_lod: [14 * 256, min_lod + within(512)][within(2) as usize],
        base: [0, within(256)][within(2) as usize],
        preclamp: within(2) == 1,
        mag_has_levels: within(2) == 1,
        least_share: [0, 0, 64][within(3) as usize] as u32,
        wrap,
        round: [within(2) == 1, within(2) == 1].map(|round| [round; 3]),
        normalized: within(4) != 0,
        ..Sampler::resolve(&SamplerState::new()).unwrap()
    }
}

/// A number from 0 to 1.
fn unit(random: &mut Random) -> f32 {
    random.below(1 << 20) as f32 / (1 << 20) as f32
}

/// Registers with random parameters: coordinates that change slowly from lane to lane, coordinates
/// that are independent, and a few special numbers.
fn registers(random: &mut Random, view: &View) -> Registers {
    let mut registers = Registers::default();
    let normalized = view.sampler.normalized;
    let texels = view.places[0].size.map(|size| if normalized { size.max(1) as f32 } else { 1.0 });
    let slow = !random.one_in(3);
    let special = random.one_in(20);
    for parameter in 0..11 {
        let scale = if random.one_in(4) { 1.0 } else { texels[random.index(2)] };
        let (first, step) = (200.0 * unit(random) - 70.0, [4.0; 2].map(|most| most * unit(random)));
        for lane in 0..LANES {
            let (x, y) = (lane % 2 + lane / 4 % 2 * 2, lane / 2 % 2 + lane / 8 * 2);
            let value = match slow {
                true => first + x as f32 * step[0] + y as f32 * step[1],
                false => 200.0 * unit(random) - 70.0,
            };
            let bits = match special && random.one_in(20) {
                true => random.pick(&[
                    f32::NAN.to_bits(),
                    f32::INFINITY.to_bits(),
                    1e30f32.to_bits(),
                    (-1e9f32).to_bits(),
                    1,
                ]),
                false => (value / scale).to_bits(),
            };
            registers.set_u32(BODY + parameter * 2 * REGISTER + 4 * lane, bits);
        }
    }
    registers
}

const MESSAGES: [Type; 9] = [
    Type::SAMPLE,
    Type::SAMPLE,
    Type::SAMPLE,
    Type::SAMPLE_B,
    Type::SAMPLE_L,
    Type::SAMPLE_L,
    Type::SAMPLE_D,
    Type::SAMPLE_KILLPIX,
    Type::SAMPLE_C,
];

/// Sends random messages for views that `plain` makes from views with all fast paths. Panics if a
/// response, a fault, the number of bytes or the recorded accesses differ. Returns the number of
/// messages for which the vector path was used. The second number counts those of them for which
/// the vector path tried its fastest variant, [`plain`](super::plain), first.
fn compare(seed: u64, count: u32, formats: &[SurfaceFormat], plain: fn(View) -> View) -> [u32; 2] {
    let mut random = Random::new(seed);
    let (mut memory, mut space) = memory(&mut random);
    let mut used = [0; 2];
    for number in 0..count {
        let surface = surface(&mut random, formats);
        let sampler = sampler(&mut random);
        let view = vector::prepared(View::new(
            &surface,
            &sampler,
            Extras { rules: Rules::default(), ..Extras::default() },
        ));
        if view.source == view::Source::Nothing {
            continue;
        }
        let plain = plain(view.clone());
        let kind = Kind::of(random.pick(&MESSAGES)).unwrap();
        let Action::Sample(action) = kind.action else { unreachable!() };
        let simd = random.pick(&[Simd::Sixteen, Simd::Sixteen, Simd::Eight]);
        let message = Message {
            function: SharedFunction::Sampler,
            eot: false,
            descriptor: 0,
            mask: match random.below(3) {
                0 => random.bits() as u32,
                _ => u32::MAX,
            },
            no_mask: false,
            channels: 16,
            first: 0,
            payload: BODY,
            response: Some(ANSWER),
            ip: 0,
        };
        let step = if simd == Simd::Sixteen { 2 } else { 1 };
        let sent = step * (2 + random.index(10));
        let mut request = Request::plain(&message, kind, simd, BODY, sent, RETURNED);
        if random.one_in(3) {
            request.offset = [0; 3].map(|_| random.below(16) as i32 - 8);
        }
        if random.one_in(4) {
            request.present = random.below(16) as u8;
        }
        let before = registers(&mut random, &view);
        let what = || format!("message {number} of seed {seed}: {kind:?} {simd:?} {view:?}");
        let accesses = [&view, &plain].map(|view| {
            let log = AccessLog::default();
            let vm = Vm::logged(&mut memory, &log, &mut space);
            let done = sample(view, &vm, &mut before.clone(), &request, action);
            done.is_ok().then(|| lines_read(&log))
        });
        assert_eq!(accesses[0], accesses[1], "accesses of {}", what());
        let vm = Vm::new(&mut memory, &mut space);
        let run = |view: &View| {
            let mut registers = before.clone();
            let done = sample(view, &vm, &mut registers, &request, action);
            (done.map(|Done { bytes, killed }| (bytes, killed)), registers)
        };
        let (found, expected) = (run(&view), run(&plain));
        assert_eq!(found.0, expected.0, "{}", what());
        let lanes = |registers: &Registers| {
            (0..RETURNED)
                .map(|n| registers.dwords::<GROUP>(ANSWER + n * REGISTER))
                .collect::<Vec<_>>()
        };
        // After a fault, the thread does not run on.
        if found.0.is_ok() && found.1.bytes() != expected.1.bytes() {
            assert_eq!(lanes(&found.1), lanes(&expected.1), "{}", what());
        }
        let mut registers = before.clone();
        let done = vector::sample(&view, &vm, &mut registers, &request, action).is_some();
        let shortest = view.vector.is_some_and(|vector| vector.plain.is_some());
        used[0] += u32::from(done);
        used[1] += u32::from(done && shortest && request.offset == [0; 3] && !action.compares);
    }
    used
}

/// The bytes that were read: a mask for each line of 64 bytes.
fn lines_read(log: &AccessLog) -> BTreeMap<u64, u64> {
    let mut list = Vec::new();
    log.drain(&mut list);
    let mut lines = BTreeMap::new();
    for access in list {
        for byte in access.address..access.address + u64::from(access.bytes) {
            *lines.entry(byte / 64).or_default() |= 1 << (byte % 64);
        }
    }
    lines
}

/// Oracle: the fast path for one lane. Its results differ in the last bit from those of the general
/// path, which rounds each texel.
#[test]
fn bytes() {
    let formats = [
        SurfaceFormat::R8G8B8A8_UNORM,
        SurfaceFormat::B8G8R8A8_UNORM,
        SurfaceFormat::R8G8B8X8_UNORM,
        SurfaceFormat::B8G8R8X8_UNORM,
    ];
    let [used, shortest] = compare(1, 20_000, &formats, |view| View { vector: None, ..view });
    assert!(used > 12_000 && shortest > 300, "{used} {shortest}");
}

/// Oracle: the general path.
#[test]
fn values() {
    let formats = [
        SurfaceFormat::R8G8B8A8_UNORM_SRGB,
        SurfaceFormat::B8G8R8A8_UNORM_SRGB,
        SurfaceFormat::R8_UNORM,
        SurfaceFormat::A8_UNORM,
        SurfaceFormat::R8G8_UNORM,
        SurfaceFormat::R8G8B8A8_SNORM,
        SurfaceFormat::B5G6R5_UNORM,
        SurfaceFormat::R10G10B10A2_UNORM,
        SurfaceFormat::R11G11B10_FLOAT,
        SurfaceFormat::R16G16B16A16_FLOAT,
        SurfaceFormat::R16_FLOAT,
        SurfaceFormat::R32_FLOAT,
        SurfaceFormat::R32G32B32A32_FLOAT,
        SurfaceFormat::R8G8B8A8_UINT,
        SurfaceFormat::R32G32_UINT,
        SurfaceFormat::R16_SINT,
    ];
    let [used, _] =
        compare(2, 20_000, &formats, |view| View { vector: None, fast_path: None, ..view });
    assert!(used > 8_000, "{used}");
}
