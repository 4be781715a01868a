//! EU instructions per second of whole walkers, with memory: `cargo bench -p genxml-sim --bench compute`. Items are
//! instructions; the argument is the number of host threads. What the kernels do is in `walkers`; `serial` shows what
//! trials cost that fail.

mod walkers;

use divan::Bencher;
use divan::counter::ItemsCount;
use walkers::Walker;

const THREADS: [usize; 2] = [1, 2];

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
