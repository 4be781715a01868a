//! EU instructions per second of whole walkers, with memory:
//! `cargo bench -p genxml-sim --bench compute`. Items are instructions; for `nearest` and `linear*`
//! they are samples. The argument is the number of host threads. `walkers` describes the kernels.
//! `serial` shows the cost of aborted speculation.

mod walkers;

use divan::Bencher;
use divan::counter::ItemsCount;
use genxml::gen8::state::SurfaceFormat;
use walkers::Walker;

const THREADS: [usize; 2] = [1, 2];
/// Samples of `walkers::textured`.
const SAMPLES: u64 = 8 << 20;

fn main() {
    divan::main();
}

fn bench(bencher: Bencher<'_, '_>, mut walker: Walker, threads: usize) {
    let instructions = walker.run(threads);
    bencher.counter(ItemsCount::new(instructions)).bench_local(|| walker.run(threads));
}

#[divan::bench(args = THREADS)]
fn saxpy(bencher: Bencher<'_, '_>, threads: usize) {
    bench(bencher, walkers::saxpy(), threads);
}

#[divan::bench(args = THREADS)]
fn matrix_product(bencher: Bencher<'_, '_>, threads: usize) {
    bench(bencher, walkers::matrix_product(), threads);
}

#[divan::bench(args = THREADS)]
fn serial(bencher: Bencher<'_, '_>, threads: usize) {
    bench(bencher, walkers::serial(), threads);
}

fn samples(bencher: Bencher<'_, '_>, format: SurfaceFormat, linear: bool, threads: usize) {
    let mut walker = walkers::textured(format, linear);
    bencher.counter(ItemsCount::new(SAMPLES)).bench_local(|| walker.run(threads));
}

#[divan::bench(args = THREADS)]
fn nearest(bencher: Bencher<'_, '_>, threads: usize) {
    samples(bencher, SurfaceFormat::R8G8B8A8_UNORM, false, threads);
}

#[divan::bench(args = THREADS)]
fn linear(bencher: Bencher<'_, '_>, threads: usize) {
    samples(bencher, SurfaceFormat::R8G8B8A8_UNORM, true, threads);
}

#[divan::bench(args = THREADS)]
fn linear_srgb(bencher: Bencher<'_, '_>, threads: usize) {
    samples(bencher, SurfaceFormat::R8G8B8A8_UNORM_SRGB, true, threads);
}
