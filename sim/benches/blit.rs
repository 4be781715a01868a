//! Pixels per second of the blitter: a million pixels of 32 bits, submitted as a batch.

use divan::counter::BytesCount;
use genxml::core::{Address, Instruction, S, U, lit};
use genxml::engine::EngineId;
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt, XySrcCopyBlt};
use genxml::gen8::mi::{MiBatchBufferEnd, MiLoadRegisterImm, MiLoadRegisterImmRegister};
use genxml::gen8::registers::BcsSwctrl;
use genxml_sim::{ContextId, Gpu};

const BATCH: u64 = 0x10_0000;
const SOURCE: u64 = 0x1000_0000;
const DESTINATION: u64 = 0x2000_0000;
const SIDE: u64 = 1024;
const BYTES: u64 = SIDE * SIDE * 4;

fn main() {
    divan::main();
}

/// A GPU with two surfaces and a batch of `packet`; Y tiling where tiles are used if `y`.
fn setup(y: bool, packet: impl Instruction) -> (Gpu, ContextId) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    for address in [SOURCE, DESTINATION] {
        let buffer = gpu.alloc(BYTES).unwrap();
        gpu.memory.bytes_mut(buffer).fill(0x5a);
        gpu.map(context, address, buffer).unwrap();
    }
    let registers = [MiLoadRegisterImmRegister {
        register_offset: Address::new(BcsSwctrl::OFFSET.into()).unwrap(),
        data_dword: U::new(0x3_0000 | if y { 3 } else { 0 }).unwrap(),
    }];
    let mut batch = vec![0; 64];
    let load = MiLoadRegisterImm { register: (&registers).into(), ..MiLoadRegisterImm::new() };
    let mut end = load.pack_into(&mut batch).unwrap();
    end += packet.pack_into(&mut batch[end..]).unwrap();
    MiBatchBufferEnd::new().pack_into(&mut batch[end..]).unwrap();
    gpu.load(context, BATCH, bytemuck::cast_slice(&batch)).unwrap();
    (gpu, context)
}

fn run(bencher: divan::Bencher, (mut gpu, context): (Gpu, ContextId)) {
    bencher
        .counter(BytesCount::new(BYTES))
        .bench_local(|| gpu.submit(context, EngineId::Blitter, BATCH, 0).unwrap());
}

fn pitch(tiled: bool) -> S<16> {
    S::new(if tiled { SIDE as i64 } else { 4 * SIDE as i64 }).unwrap()
}

#[divan::bench(args = [("linear", false, false), ("x", true, false), ("y", true, true)])]
fn fill(bencher: divan::Bencher, (_, tiled, y): (&str, bool, bool)) {
    let packet = XyColorBlt {
        dest_tiling_enable: tiled,
        _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
        destination_pitch: pitch(tiled),
        raster_operation: BlitRasterOperation::PATTERN_COPY,
        color_depth: BlitColorDepth::_32BPP,
        destination_x2_coordinate_right: lit!(1024),
        destination_y2_coordinate_bottom: lit!(1024),
        destination_base_address: Address::new(DESTINATION).unwrap(),
        solid_pattern_color: lit!(0x1234_5678),
        ..XyColorBlt::new()
    };
    run(bencher, setup(y, packet));
}

#[divan::bench(args = [
    ("linear", false, false, false, 0xcc),
    ("linear to x", false, true, false, 0xcc),
    ("y to linear", true, false, true, 0xcc),
    ("y to y", true, true, true, 0xcc),
    ("linear, xor", false, false, false, 0x66),
])]
fn copy(bencher: divan::Bencher, (_, from, to, y, rop): (&str, bool, bool, bool, u64)) {
    let packet = XySrcCopyBlt {
        src_tiling_enable: from,
        dest_tiling_enable: to,
        _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
        source_pitch: pitch(from),
        destination_pitch: pitch(to),
        raster_operation: BlitRasterOperation::from_bits(rop),
        color_depth: BlitColorDepth::_32BPP,
        destination_x2_coordinate_right: lit!(1024),
        destination_y2_coordinate_bottom: lit!(1024),
        destination_base_address: Address::new(DESTINATION).unwrap(),
        source_base_address: Address::new(SOURCE).unwrap(),
        ..XySrcCopyBlt::new()
    };
    run(bencher, setup(y, packet));
}
