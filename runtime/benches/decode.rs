//! Speed of decoding, in bytes of batch per second.
//!
//! The batch repeats commands that a driver emits around a dispatch, with plain values; nothing outside it is
//! followed. Text and JSON go to a sink that forgets them.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use genxml::batch::Batch;
use genxml::core::{Address, lit};
use genxml::decode::{self, Format, Options};
use genxml::engine::{EngineId, Render};
use genxml::gen8::{media, mi, state};
use genxml::pipeline::Gpgpu;

const BYTES: usize = 1 << 20;

fn main() {
    divan::main();
}

fn batch() -> Vec<u32> {
    let mut batch = Batch::<Render>::new("batch", 0x100000, BYTES + 4096).expect("a page").assume::<Gpgpu>();
    let pairs = [mi::MiLoadRegisterImmRegister {
        register_offset: Address::new(0x7034).expect("aligned"),
        data_dword: lit!(5),
    }];
    let values = [lit!(7)];
    while batch.dwords().len() * 4 < BYTES {
        let target = Address::new(0x200000).expect("aligned");
        let flush = mi::PipeControl {
            command_streamer_stall_enable: true,
            render_target_cache_flush_enable: true,
            address: target,
            ..Default::default()
        };
        let bases = state::StateBaseAddress {
            surface_state_base_address: Address::new(0x300000).expect("aligned"),
            surface_state_base_address_modify_enable: true,
            ..Default::default()
        };
        let walker = media::GpgpuWalker { thread_group_id_x_dimension: lit!(64), ..Default::default() };
        batch.emit(&flush).expect("room");
        batch.emit(&bases).expect("room");
        batch.emit(&mi::MiLoadRegisterImm { register: (&pairs).into(), ..Default::default() }).expect("room");
        batch
            .emit(&media::MediaVfeState { number_of_urb_entries: lit!(2), ..Default::default() })
            .expect("room");
        batch.emit(&walker).expect("room");
        batch.emit(&media::MediaStateFlush::default()).expect("room");
        batch
            .emit(&mi::MiStoreDataImm { data_dword: (&values).into(), ..mi::MiStoreDataImm::new(target) })
            .expect("room");
        batch.emit(&mi::MiNoop::default()).expect("room");
    }
    let batch = batch.finish().expect("no labels");
    batch.buffer.bytes()[..batch.length]
        .as_chunks()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect()
}

fn run(bencher: Bencher, options: &Options) {
    let dwords = batch();
    let packets =
        decode::raw(EngineId::Render, 0, &dwords, options, std::io::sink()).expect("no output").packets;
    bencher
        .counter(BytesCount::new(4 * dwords.len()))
        .counter(ItemsCount::new(packets))
        .bench(|| decode::raw(EngineId::Render, 0, divan::black_box(&dwords), options, std::io::sink()));
}

#[divan::bench]
fn text(bencher: Bencher) {
    run(bencher, &Options { follow: false, ..Options::default() });
}

#[divan::bench]
fn text_with_colors(bencher: Bencher) {
    run(bencher, &Options { follow: false, color: true, ..Options::default() });
}

#[divan::bench]
fn json(bencher: Bencher) {
    run(bencher, &Options { follow: false, format: Format::Json, ..Options::default() });
}

#[divan::bench]
fn headers(bencher: Bencher) {
    run(bencher, &Options { follow: false, headers: true, ..Options::default() });
}
