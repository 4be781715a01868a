//! Speed of decoding, in bytes of batch per second. `cargo bench -p genxml --bench decode`
//!
//! The batch is 8 MiB of 3D state as a driver emits it, with plain values. Pointers to memory
//! outside the batch are not followed. Text and JSON are discarded. The rules are checked on the
//! same batch, which violates none of them.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use genxml::check::{self, Rules};
use genxml::decode::{self, Format, Options};
use genxml::engine::EngineId;
use genxml_testkit::draws;

const BYTES: usize = 8 << 20;

fn main() {
    divan::main();
}

fn run(bencher: Bencher, options: &Options) {
    let dwords = draws::batch(BYTES);
    let packets = decode::raw(EngineId::Render, draws::ADDRESS, &dwords, options, std::io::sink())
        .expect("discarding output cannot fail")
        .packets;
    bencher.counter(BytesCount::new(4 * dwords.len())).counter(ItemsCount::new(packets)).bench(
        || {
            let dwords = divan::black_box(&dwords);
            decode::raw(EngineId::Render, draws::ADDRESS, dwords, options, std::io::sink())
        },
    );
}

#[divan::bench(sample_size = 1, sample_count = 20)]
fn text(bencher: Bencher) {
    run(bencher, &Options { follow: false, ..Options::default() });
}

#[divan::bench(sample_size = 1, sample_count = 20)]
fn text_with_colors(bencher: Bencher) {
    run(bencher, &Options { follow: false, color: true, ..Options::default() });
}

#[divan::bench(sample_size = 1, sample_count = 20)]
fn json(bencher: Bencher) {
    run(bencher, &Options { follow: false, format: Format::Json, ..Options::default() });
}

#[divan::bench(sample_size = 1, sample_count = 20)]
fn headers(bencher: Bencher) {
    run(bencher, &Options { follow: false, headers: true, ..Options::default() });
}

#[divan::bench(sample_size = 1, sample_count = 20)]
fn rules(bencher: Bencher) {
    let (dwords, rules) = (draws::batch(BYTES), Rules::gen8());
    let run = |dwords: &[u32]| {
        check::raw(EngineId::Render, draws::ADDRESS, dwords, &rules, &mut |finding| {
            panic!("{finding}")
        })
    };
    bencher
        .counter(BytesCount::new(4 * dwords.len()))
        .counter(ItemsCount::new(run(&dwords).packets))
        .bench_local(|| run(divan::black_box(&dwords)));
}
