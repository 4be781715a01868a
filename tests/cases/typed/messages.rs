//! Typed reads and writes: formats, kinds of surfaces, tilings, levels, slices, masks.

use crate::typed::element::Layout;
use crate::typed::picture::{BYTES, Kind, Picture};
use crate::typed::{Mode, SURFACE, Send, before, model, transfer};
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateView, ShaderChannelSelect as Select, SurfaceFormat,
    SurfaceType,
};
use genxml_cases::{Model, Random, at};
use genxml_sim::Fault;

const IDENTITY: [Select; 4] = [Select::RED, Select::GREEN, Select::BLUE, Select::ALPHA];

/// Formats that Broadwell reads: those for which column TR of Mesa's isl_format.c has generation 8
/// or an earlier one.
const READ: [&str; 9] = [
    "R16G16B16A16_UINT",
    "R8G8B8A8_UINT",
    "R16G16_UINT",
    "R32_SINT",
    "R32_UINT",
    "R32_FLOAT",
    "R8G8_UINT",
    "R16_UINT",
    "R8_UINT",
];

/// Formats that Broadwell writes, from column TW of the same table.
const WRITE: [&str; 46] = [
    "R32G32B32A32_FLOAT",
    "R32G32B32A32_SINT",
    "R32G32B32A32_UINT",
    "R16G16B16A16_UNORM",
    "R16G16B16A16_SNORM",
    "R16G16B16A16_SINT",
    "R16G16B16A16_UINT",
    "R16G16B16A16_FLOAT",
    "R32G32_FLOAT",
    "R32G32_SINT",
    "R32G32_UINT",
    "B8G8R8A8_UNORM",
    "R10G10B10A2_UNORM",
    "R10G10B10A2_UINT",
    "R8G8B8A8_UNORM",
    "R8G8B8A8_SNORM",
    "R8G8B8A8_SINT",
    "R8G8B8A8_UINT",
    "R16G16_UNORM",
    "R16G16_SNORM",
    "R16G16_SINT",
    "R16G16_UINT",
    "R16G16_FLOAT",
    "B10G10R10A2_UNORM",
    "R11G11B10_FLOAT",
    "R32_SINT",
    "R32_UINT",
    "R32_FLOAT",
    "B5G6R5_UNORM",
    "B5G5R5A1_UNORM",
    "B4G4R4A4_UNORM",
    "R8G8_UNORM",
    "R8G8_SNORM",
    "R8G8_SINT",
    "R8G8_UINT",
    "R16_UNORM",
    "R16_SNORM",
    "R16_SINT",
    "R16_UINT",
    "R16_FLOAT",
    "B5G5R5X1_UNORM",
    "R8_UNORM",
    "R8_SNORM",
    "R8_SINT",
    "R8_UINT",
    "A8_UNORM",
];

fn format(name: &str) -> SurfaceFormat {
    SurfaceFormat::from_bits(SurfaceFormat::INFO.value_of(name).unwrap())
}

/// A random value of a channel: small or large.
fn value(random: &mut Random, kind: &str) -> u32 {
    let bits = random.bits() as u32;
    match (kind, random.below(4)) {
        ("UINT" | "SINT", 0) => bits,
        ("UINT" | "SINT", _) => (bits as i32 >> (8 + random.below(20))) as u32,
        (_, 0) => bits,
        _ => (random.below(1 << 16) as f32 / 50000.0 - 0.2).to_bits(),
    }
}

/// Selects of a surface: mostly the identity.
fn selects(random: &mut Random) -> [Select; 4] {
    if random.below(3) > 0 {
        return IDENTITY;
    }
    let all = [Select::ZERO, Select::ONE, Select::RED, Select::GREEN, Select::BLUE, Select::ALPHA];
    [0; 4].map(|_| all[random.below(6) as usize])
}

/// The element at an offset of memory.
fn element(memory: &[u8], offset: u64, bytes: u32) -> u128 {
    (0..bytes as usize).fold(0, |sum, n| sum | u128::from(memory[offset as usize + n]) << (8 * n))
}

fn put(memory: &mut [u8], offset: u64, bytes: u32, element: u128) {
    (0..bytes as usize).for_each(|n| memory[offset as usize + n] = (element >> (8 * n)) as u8);
}

/// A random message without data.
fn send(random: &mut Random, picture: &Picture, mode: Mode) -> Send {
    let least = picture.coordinates();
    let coordinates = least + random.below(5 - least as u64) as usize;
    Send {
        descriptor: 0,
        mode,
        channels: if random.below(2) == 0 { 0xff } else { random.bits() as u8 | 1 },
        header: match random.below(4) {
            0 => None,
            1 => Some(0xffff),
            _ => Some(random.bits() as u16),
        },
        places: [0; 8].map(|_| mode.sent(picture.place(random), coordinates)),
        coordinates,
        data: Vec::new(),
        back: 0,
    }
}

/// Changes `memory` as a write is expected to change it. The channel mask "indicates which channels
/// are included in the message payload and written to the surface" (2d p.73). Each channel is
/// written to the channel of its select. If several have the same select, the first one in the
/// order red, green, blue, alpha is written. Selects zero and one write nothing (2d p.347).
fn expect_write(
    layout: &Layout,
    picture: &Picture,
    select: [Select; 4],
    send: &Send,
    present: u8,
    values: &[[u32; 4]; 8],
    memory: &mut [u8],
) {
    let active = send.mode.active(send.channels, send.header);
    for slot in (0..send.mode.slots()).filter(|slot| active >> slot & 1 == 1) {
        let Some(offset) = picture.find(send.places[slot]) else { continue };
        let (mut surface, mut mask) = ([0; 4], 0);
        for channel in (0..4).filter(|channel| present >> channel & 1 == 1) {
            if let Some(to) = IDENTITY.iter().position(|known| *known == select[channel])
                && mask >> to & 1 == 0
            {
                surface[to] = values[slot][channel];
                mask |= 1 << to;
            }
        }
        let old = element(memory, offset, picture.bytes);
        put(memory, offset, picture.bytes, layout.write(old, surface, mask));
    }
}

/// A register for each present channel, or four values for each of two slots (2d p.126).
fn registers(mode: Mode, present: u8, values: &[[u32; 4]; 8]) -> Vec<[u32; 8]> {
    match mode {
        Mode::Pair => vec![[values[0], values[1]].concat().try_into().unwrap()],
        _ => {
            (0..4).filter(|n| present >> n & 1 == 1).map(|n| values.map(|value| value[n])).collect()
        }
    }
}

/// A model and the contents of the surface's memory.
struct Bench {
    model: Model,
    memory: Vec<u8>,
    random: Random,
}

impl Bench {
    fn new(seed: u64) -> Bench {
        let (mut model, mut random) = (model(), Random::new(seed));
        let memory = random.bytes(BYTES as usize);
        model.write(SURFACE, &memory);
        Bench { model, memory, random }
    }
}

fn check_write(bench: &mut Bench, name: &'static str, kind: Kind, mode: Mode) {
    let Bench { model, memory, random } = bench;
    let layout = Layout::of(name);
    let picture = Picture::random(random, kind, layout.bits / 8);
    let (select, present) = (selects(random), 1 + random.below(15) as u8);
    let values = [0; 8].map(|_| [0; 4].map(|_| value(random, layout.kind)));
    let message = Send {
        descriptor: transfer(true, mode, present),
        data: registers(mode, present, &values),
        ..send(random, &picture, mode)
    };
    let answers = message.run(model, &picture.state(format(name), select)).unwrap();
    assert_eq!(answers, std::array::from_fn(before), "a write must return nothing");
    expect_write(&layout, &picture, select, &message, present, &values, memory);
    let found = model.read(SURFACE, BYTES as usize);
    if found != *memory {
        let at = (0..memory.len()).find(|&at| found[at] != memory[at]).unwrap();
        panic!(
            "{name} {mode:?} {select:?} {present:04b} {picture:?}: byte {at:#x} is {:#x}, not {:#x}",
            found[at], memory[at]
        );
    }
}

#[test]
fn every_format_is_written() {
    let mut bench = Bench::new(1);
    for name in WRITE {
        for mode in Mode::ALL {
            check_write(&mut bench, name, Kind::Two, mode);
            check_write(&mut bench, name, Kind::Buffer, mode);
        }
    }
}

#[test]
fn every_kind_of_surface_is_written() {
    let mut bench = Bench::new(2);
    for round in 0..20 {
        for kind in Kind::ALL {
            for mode in Mode::ALL {
                check_write(
                    &mut bench,
                    ["R32_UINT", "R8_UINT", "R16G16B16A16_UNORM"][round % 3],
                    kind,
                    mode,
                );
            }
        }
    }
}

fn check_read(bench: &mut Bench, name: &'static str, kind: Kind, mode: Mode) {
    let Bench { model, memory, random } = bench;
    let layout = Layout::of(name);
    let picture = Picture::random(random, kind, layout.bits / 8);
    let (select, present) = (selects(random), 1 + random.below(15) as u8);
    let message = Send {
        descriptor: transfer(false, mode, present),
        back: if mode == Mode::Pair { 1 } else { present.count_ones() as usize },
        ..send(random, &picture, mode)
    };
    let answers = message.run(model, &picture.state(format(name), select)).unwrap();
    let active = message.mode.active(message.channels, message.header);
    let mut expected: [[u32; 8]; 4] = std::array::from_fn(before);
    let mut outside = 0;
    for slot in (0..mode.slots()).filter(|slot| active >> slot & 1 == 1) {
        let inside = picture.find(message.places[slot]);
        outside += u64::from(inside.is_none());
        let one = if layout.kind == "FLOAT" { 1.0f32.to_bits() } else { 1 };
        // Reads outside of the surface return zeros, decoded
        // (assumptions::TYPED_READS_OUTSIDE_DECODE_ZEROS).
        let bytes = inside.map_or(0, |offset| element(memory, offset, picture.bytes));
        let read = layout.read(bytes);
        let value = select.map(|select| match select {
            Select::ZERO => 0,
            Select::ONE => one,
            select => read[IDENTITY.iter().position(|known| *known == select).unwrap()],
        });
        for (register, channel) in (0..4).filter(|channel| present >> channel & 1 == 1).enumerate()
        {
            match mode {
                Mode::Pair => expected[0][4 * slot + channel] = value[channel],
                _ => expected[register][slot] = value[channel],
            }
        }
    }
    assert_eq!(
        answers, expected,
        "{name} {mode:?} {select:?} {present:04b} {picture:?} {:?}",
        message.places
    );
    assert_eq!(model.last.cut_off, outside, "accesses that are cut off: {:?}", message.places);
    assert!(model.read(SURFACE, BYTES as usize) == *memory, "a read must write nothing");
}

#[test]
fn every_format_is_read_from_every_kind_of_surface() {
    let mut bench = Bench::new(3);
    for name in READ {
        for kind in Kind::ALL {
            for mode in Mode::ALL {
                check_read(&mut bench, name, kind, mode);
            }
        }
    }
}

/// Formats without hardware support are refused. The fault is for the field Surface Format, or its
/// text has the format's name.
#[test]
fn other_formats_are_refused() {
    let (mut model, mut random) = (model(), Random::new(4));
    let picture = Picture::random(&mut random, Kind::Buffer, 4);
    let mut refused = 0;
    for &(code, name) in SurfaceFormat::INFO.values {
        for (write, list) in [(false, &READ[..]), (true, &WRITE[..])] {
            let data = if write { vec![[0; 8]; 4] } else { Vec::new() };
            let message = Send {
                descriptor: transfer(write, Mode::Low, 0xf),
                data,
                back: if write { 0 } else { 4 },
                ..send(&mut random, &picture, Mode::Low)
            };
            let result =
                message.run(&mut model, &picture.state(SurfaceFormat::from_bits(code), IDENTITY));
            match result {
                Ok(_) => assert!(list.contains(&name), "{name}"),
                Err(Fault::BadPacket { field: "Surface Format", .. }) => {
                    assert!(!list.contains(&name), "{name}")
                }
                Err(fault) => {
                    assert!(
                        !list.contains(&name) && fault.to_string().contains(name),
                        "{name}: {fault}"
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 200);
}

/// "reads return 0, writes are dropped" (003:3090).
#[test]
fn null_surfaces() {
    let (mut model, mut random) = (model(), Random::new(5));
    let picture = Picture::random(&mut random, Kind::Two, 4);
    let null = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_NULL,
        ..picture.state(SurfaceFormat::B8G8R8A8_UNORM, IDENTITY)
    };
    let all = Send { channels: 0xff, header: None, ..send(&mut random, &picture, Mode::Low) };
    let read = Send { descriptor: transfer(false, Mode::Low, 0xf), back: 4, ..all };
    assert_eq!(read.run(&mut model, &null).unwrap(), [[0; 8]; 4]);
    let write =
        Send { descriptor: transfer(true, Mode::Low, 0xf), data: vec![[7; 8]; 4], back: 0, ..read };
    write.run(&mut model, &null).unwrap();
    assert!(model.read(SURFACE, BYTES as usize).iter().all(|&byte| byte == 0));
}

/// Structured buffers, several samples, binding table indices without a surface, wrong lengths: the
/// fault names the problem.
#[test]
fn what_typed_messages_do_not_take() {
    let (mut model, mut random) = (model(), Random::new(6));
    let picture = Picture::random(&mut random, Kind::Buffer, 4);
    let good = picture.state(SurfaceFormat::R32_UINT, IDENTITY);
    let read = Send {
        descriptor: transfer(false, Mode::Low, 0xf),
        coordinates: 4,
        header: Some(0xffff),
        back: 4,
        ..send(&mut random, &picture, Mode::Low)
    };
    read.run(&mut model, &good).unwrap();
    let mut refused = |read: Send, state: &RenderSurfaceState, text: &str| {
        let fault = read.run(&mut model, state).unwrap_err().to_string();
        assert!(fault.contains(text), "{fault}");
    };
    let structured = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_STRBUF,
        view: RenderSurfaceStateView::Structured {},
        ..good
    };
    refused(
        Send { places: read.places, data: Vec::new(), ..read },
        &structured,
        "structured buffer",
    );
    let again =
        |descriptor, data, back| Send { descriptor, data, back, places: read.places, ..read };
    for index in [240, 253, 254, 255] {
        refused(
            again(read.descriptor | index, Vec::new(), 4),
            &good,
            &format!("Binding Table Index = {index}"),
        );
    }
    refused(again(read.descriptor, vec![[0; 8]], 4), &good, "registers");
    // The response length must be exact (003:1165).
    refused(again(read.descriptor, Vec::new(), 3), &good, "response length");
    refused(again(read.descriptor, Vec::new(), 5), &good, "response length");
    refused(again(transfer(false, Mode::Low, 0), Vec::new(), 4), &good, "Channel Mask");
    let mut two = Picture::random(&mut random, Kind::Two, 4);
    (two.levels, two.min_lod, two.start, two.qpitch) = (1, 0, [0, 0], 64);
    let mut samples = two.state(SurfaceFormat::R32_UINT, IDENTITY);
    if let RenderSurfaceStateView::Image { number_of_multisamples, .. } = &mut samples.view {
        *number_of_multisamples = genxml::gen8::state::NumberOfMultisamples::from_bits(2);
    }
    refused(again(read.descriptor, Vec::new(), 4), &samples, "several samples");
}

/// Unmapped memory: a page fault that names the access and the address of the first byte.
#[test]
fn page_faults() {
    let (mut model, mut random) = (model(), Random::new(8));
    let picture = Picture::random(&mut random, Kind::Buffer, 4);
    let state = RenderSurfaceState {
        surface_base_address: at(SURFACE + BYTES),
        ..picture.state(SurfaceFormat::R32_UINT, IDENTITY)
    };
    let message = |write: bool| Send {
        descriptor: transfer(write, Mode::Low, 1),
        mode: Mode::Low,
        channels: 0xff,
        header: None,
        places: [[0; 4]; 8],
        coordinates: 1,
        data: if write { vec![[1; 8]] } else { Vec::new() },
        back: usize::from(!write),
    };
    for write in [false, true] {
        let fault = message(write).run(&mut model, &state).unwrap_err();
        let Fault::Page { fault: page, what, .. } = &fault else { panic!("{fault}") };
        assert_eq!((page.address, page.write), (SURFACE + BYTES, write));
        assert_eq!(*what, if write { "a typed write" } else { "a typed read" });
    }
}
