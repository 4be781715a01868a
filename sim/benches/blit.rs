//! Measures bytes per second of the blitter: a million pixels, submitted as a batch.

use divan::Bencher;
use divan::counter::BytesCount;
use genxml::core::{Address, Instruction, S, U, lit};
use genxml::engine::EngineId;
use genxml::gen8::blitter::*;
use genxml::gen8::mi::{MiBatchBufferEnd, MiLoadRegisterImm, MiLoadRegisterImmRegister};
use genxml::gen8::registers::BcsSwctrl;
use genxml_sim::{ContextId, Gpu};

const BATCH: u64 = 0x10_0000;
const SOURCE: u64 = 0x1000_0000;
const DESTINATION: u64 = 0x2000_0000;
/// Address of the colour pattern.
const PATTERN: u64 = SOURCE;
const SIDE: u64 = 1024;

fn main() {
    divan::main();
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Tiling {
    Linear,
    X,
    Y,
}
use Tiling::{Linear, X, Y};

/// Runs a packet over 1024 x 1024 pixels of `size` bytes.
fn run(bencher: Bencher, size: u64, from: Tiling, to: Tiling, packet: impl Instruction) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    for address in [SOURCE, DESTINATION] {
        let buffer = gpu.alloc(SIDE * SIDE * 4).unwrap();
        gpu.memory.bytes_mut(buffer).fill(0x5a);
        gpu.map(context, address, buffer).unwrap();
    }
    let value = BcsSwctrl { tile_y_source: from == Y, tile_y_destination: to == Y, mask: lit!(3) };
    let registers = [MiLoadRegisterImmRegister {
        register_offset: Address::new(BcsSwctrl::OFFSET.into()).unwrap(),
        data_dword: U::new(value.pack()[0].into()).unwrap(),
    }];
    let mut batch = vec![0; 64];
    let load = MiLoadRegisterImm { register: (&registers).into(), ..MiLoadRegisterImm::new() };
    let mut end = load.pack_into(&mut batch).unwrap();
    end += packet.pack_into(&mut batch[end..]).unwrap();
    MiBatchBufferEnd::new().pack_into(&mut batch[end..]).unwrap();
    gpu.load(context, BATCH, bytemuck::cast_slice(&batch)).unwrap();
    submit(bencher, size, gpu, context);
}

fn submit(bencher: Bencher, size: u64, mut gpu: Gpu, context: ContextId) {
    bencher
        .counter(BytesCount::new(SIDE * SIDE * size))
        .bench_local(|| gpu.submit(context, EngineId::Blitter, BATCH, 0).unwrap());
}

/// The value of the pitch field: bytes, or dwords if tiled.
fn pitch(size: u64, tiling: Tiling) -> S<16> {
    let bytes = (SIDE * size) as i64;
    S::new(if tiling == Linear { bytes } else { bytes / 4 }).unwrap()
}

fn depth(size: u64) -> BlitColorDepth {
    match size {
        1 => BlitColorDepth::_8BPP,
        2 => BlitColorDepth::_16BPP_565,
        _ => BlitColorDepth::_32BPP,
    }
}

/// A packet with its destination and the given fields.
macro_rules! packet {
    ($packet:ident, $size:expr, $to:expr, $rop:expr, { $($field:ident: $value:expr,)* }) => {
        $packet {
            dest_tiling_enable: $to != Linear,
            _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
            destination_pitch: pitch($size, $to),
            raster_operation: BlitRasterOperation::from_bits($rop),
            color_depth: depth($size),
            destination_x2_coordinate_right: lit!(1024),
            destination_y2_coordinate_bottom: lit!(1024),
            destination_base_address: Address::new(DESTINATION).unwrap(),
            $($field: $value,)*
            ..$packet::new()
        }
    };
}

#[divan::bench(args = [
    ("copy of the colour", Linear, 0xf0),
    ("copy of the colour", X, 0xf0),
    ("copy of the colour", Y, 0xf0),
    ("xor with the colour", Linear, 0x5a),
    ("xor with the colour", Y, 0x5a),
])]
fn color(bencher: Bencher, (_, to, rop): (&str, Tiling, u64)) {
    let packet = packet!(XyColorBlt, 4, to, rop, { solid_pattern_color: lit!(0x1234_5678), });
    run(bencher, 4, Linear, to, packet);
}

#[divan::bench(args = [
    (Linear, Linear, 0xcc),
    (Linear, X, 0xcc),
    (Linear, Y, 0xcc),
    (X, Linear, 0xcc),
    (X, X, 0xcc),
    (Y, Linear, 0xcc),
    (Y, X, 0xcc),
    (Y, Y, 0xcc),
    (Linear, Linear, 0x66),
    (Linear, X, 0x66),
    (Y, Y, 0x66),
])]
fn source(bencher: Bencher, (from, to, rop): (Tiling, Tiling, u64)) {
    let packet = packet!(XySrcCopyBlt, 4, to, rop, {
        src_tiling_enable: from != Linear,
        source_pitch: pitch(4, from),
        source_base_address: Address::new(SOURCE).unwrap(),
    });
    run(bencher, 4, from, to, packet);
}

/// A million pixels moved down and right by one inside a surface.
#[divan::bench(args = [Linear, X, Y])]
fn scroll(bencher: Bencher, tiling: Tiling) {
    let packet = packet!(XySrcCopyBlt, 4, tiling, 0xcc, {
        src_tiling_enable: tiling != Linear,
        source_pitch: pitch(4, tiling),
        source_base_address: Address::new(DESTINATION).unwrap(),
        destination_x1_coordinate_left: lit!(1),
        destination_y1_coordinate_top: lit!(1),
    });
    run(bencher, 4, tiling, tiling, packet);
}

/// Expands bits to pixels of 1, 2 and 4 bytes, with and without transparency.
#[divan::bench(args = [(1, false), (2, false), (4, false), (1, true), (4, true)])]
fn expansion(bencher: Bencher, (size, transparent): (u64, bool)) {
    let packet = packet!(XyMonoSrcCopyBlt, size, Linear, 0xcc, {
        monochrome_source_start: lit!(3),
        monochrome_source_transparency_mode: transparent,
        source_address_mono: Address::new(SOURCE).unwrap(),
        source_background_color: lit!(0x1111_1111),
        source_foreground_color: lit!(0x7777_7777),
    });
    run(bencher, size, Linear, Linear, packet);
}

#[divan::bench(args = [Linear, X, Y])]
fn color_pattern(bencher: Bencher, to: Tiling) {
    let pattern = Address::new(PATTERN).unwrap();
    run(bencher, 4, Linear, to, packet!(XyPatBlt, 4, to, 0xf0, { pattern_base_address: pattern, }));
}

#[divan::bench(args = [false, true])]
fn mono_pattern(bencher: Bencher, transparent: bool) {
    let packet = packet!(XyMonoPatBlt, 4, Linear, 0xf0, {
        monochrome_pattern_transparency_mode: transparent,
        pattern_data_0: lit!(0x1122_4488),
        pattern_data_1: lit!(0x8844_2211),
        pattern_foreground_color: lit!(0x7777_7777),
    });
    run(bencher, 4, Linear, Linear, packet);
}

/// Three operands: where the pattern has ones, the result has bits of the source, elsewhere bits of
/// the destination.
#[divan::bench(args = [Linear, X, Y])]
fn three_operands(bencher: Bencher, tiling: Tiling) {
    let packet = packet!(XyFullBlt, 4, tiling, 0xca, {
        src_tiling_enable: tiling != Linear,
        source_pitch: pitch(4, tiling),
        source_base_address: Address::new(SOURCE).unwrap(),
        pattern_base_address: Address::new(PATTERN).unwrap(),
    });
    run(bencher, 4, tiling, tiling, packet);
}

/// Copies the source, except pixels whose colour is in a range.
#[divan::bench(args = [1, 2, 4])]
fn color_key(bencher: Bencher, size: u64) {
    let packet = packet!(XySrcCopyChromaBlt, size, Linear, 0xcc, {
        transparency_range_mode: BlitTransparencyMode::SOURCE_COLOR,
        source_pitch: pitch(size, Linear),
        source_base_address: Address::new(SOURCE).unwrap(),
        transparency_color_low: lit!(0x1010_1010),
        transparency_color_high: lit!(0x4040_4040),
    });
    run(bencher, size, Linear, Linear, packet);
}

/// Copies the colour channels, but not alpha.
#[divan::bench(args = [Linear, Y])]
fn byte_mask(bencher: Bencher, tiling: Tiling) {
    let packet = XySrcCopyBlt {
        _32bpp_byte_mask: BlitByteMask::WRITE_RGB,
        ..packet!(XySrcCopyBlt, 4, tiling, 0xcc, {
            src_tiling_enable: tiling != Linear,
            source_pitch: pitch(4, tiling),
            source_base_address: Address::new(SOURCE).unwrap(),
        })
    };
    run(bencher, 4, tiling, tiling, packet);
}
