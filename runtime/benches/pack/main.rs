//! Time per packet: to pack constants, to pack values known at run time, to pack structs in memory
//! with generated and with hand-written code, and to parse. `cargo bench -p genxml --bench pack`

mod data;
mod hand;
mod mix;

use divan::{Bencher, black_box, counter::ItemsCount};
use genxml::core::{Address, Entries, Instruction, lit};
use genxml::gen8::RenderPacket;
use genxml::gen8::blitter::{BlitColorDepth, XyColorBlt};
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::mi::{MiLoadRegisterImm, MiLoadRegisterImmRegister, PipeControl};
use genxml::gen8::state::StateBaseAddress;
use genxml::packet;

fn main() {
    mix::table();
    divan::main();
}

/// Packets per measurement.
const COUNT: usize = 1000;

fn run(bencher: Bencher, packet: impl Fn(u64, &mut [u32; 32]) -> usize) {
    let mut out = [0u32; 32];
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        for index in 0..COUNT as u64 {
            black_box(packet(black_box(index), black_box(&mut out)));
        }
    });
}

#[divan::bench]
fn constant_xy_color_blt(bencher: Bencher) {
    run(bencher, |_, out| {
        let fill = packet! {
            XyColorBlt {
                color_depth: BlitColorDepth::_32BPP,
                destination_pitch: 256,
                destination_x2_coordinate_right: 64,
                destination_y2_coordinate_bottom: 64,
                destination_base_address: 0x10_0000,
                ..
            }
        };
        fill.pack_into(out).unwrap_or(0)
    });
}

#[divan::bench]
fn dynamic_xy_color_blt(bencher: Bencher) {
    run(bencher, |value, out| {
        let fill = packet! {
            XyColorBlt {
                color_depth: BlitColorDepth::_32BPP,
                destination_pitch: 256,
                destination_x2_coordinate_right: 64,
                destination_y2_coordinate_bottom: 64,
                destination_base_address: Address::try_from(value << 12).unwrap_or_default(),
                solid_pattern_color: (value as u32).try_into().unwrap_or_default(),
                ..
            }
        };
        fill.pack_into(out).unwrap_or(0)
    });
}

#[divan::bench]
fn constant_pipe_control(bencher: Bencher) {
    run(bencher, |_, out| {
        let flush =
            packet! { PipeControl { dc_flush_enable: true, depth_cache_flush_enable: true, .. } };
        flush.pack_into(out).unwrap_or(0)
    });
}

#[divan::bench]
fn dynamic_state_base_address(bencher: Bencher) {
    run(bencher, |value, out| {
        let base = Address::try_from(value << 12).unwrap_or_default();
        let bases = packet! {
            StateBaseAddress {
                surface_state_base_address: base,
                dynamic_state_base_address: base,
                instruction_base_address: base,
                ..
            }
        };
        bases.pack_into(out).unwrap_or(0)
    });
}

#[divan::bench]
fn constant_media_vfe_state(bencher: Bencher) {
    run(bencher, |_, out| MediaVfeState::new().pack_into(out).unwrap_or(0));
}

#[divan::bench]
fn dynamic_load_register_imm(bencher: Bencher) {
    run(bencher, |value, out| {
        let data_dword = (value as u32).try_into().unwrap_or_default();
        let register = [MiLoadRegisterImmRegister { register_offset: lit!(0x2358), data_dword }];
        let packet =
            MiLoadRegisterImm { register: Entries::from(&register), ..MiLoadRegisterImm::new() };
        packet.pack_into(out).unwrap_or(0)
    });
}

#[divan::bench]
fn parse_render_packet(bencher: Bencher) {
    let stream = PipeControl::new().pack();
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        for _ in 0..COUNT {
            let _ = black_box(RenderPacket::parse(black_box(&stream)));
        }
    });
}
