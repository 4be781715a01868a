//! Speedup by a second host thread: `cargo bench -p genxml-sim --bench threads`.
//!
//! Each walker runs on one thread and on two, in turns, so that changes in the speed of the machine
//! affect both. The bench prints the fastest run of each, their ratio, and the median of the ratios
//! of neighbouring runs. `machine` runs a loop in registers that shares nothing: its ratio is the
//! best that a second host thread can give. Arguments: the number of turns; names of walkers; a
//! number of host threads, to run only with that number, for profiles.

mod walkers;

use genxml::gen8::state::SurfaceFormat;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Default number of turns.
const TURNS: usize = 40;

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    let turns = numbers.first().copied().unwrap_or(TURNS);
    let only = numbers.get(1).copied();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| *word == name);
    if wanted("machine") {
        compare("machine", turns, only, |threads| {
            // The total work does not depend on the number of threads, as for the walkers.
            std::thread::scope(|scope| {
                (0..threads).for_each(|_| {
                    drop(scope.spawn(|| black_box(spin(20_000_000 / threads as u64))))
                });
            });
        });
    }
    if wanted("saxpy") {
        let mut walker = walkers::saxpy();
        compare("saxpy", turns, only, |threads| {
            walker.run(threads);
        });
    }
    if wanted("matrix_product") {
        let mut walker = walkers::matrix_product();
        compare("matrix_product", turns, only, |threads| {
            walker.run(threads);
        });
    }
    if wanted("textured") {
        let mut walker = walkers::textured(SurfaceFormat::R8G8B8A8_UNORM, true);
        compare("textured", turns, only, |threads| {
            walker.run(threads);
        });
    }
    if wanted("serial") {
        let mut walker = walkers::serial();
        compare("serial", turns, only, |threads| {
            walker.run(threads);
        });
    }
}

fn compare(name: &str, turns: usize, only: Option<usize>, mut run: impl FnMut(usize)) {
    let mut time = |threads| {
        let start = Instant::now();
        run(threads);
        start.elapsed()
    };
    if let Some(threads) = only {
        let fastest = (0..turns).map(|_| time(threads)).min().unwrap_or_default();
        return println!("{name:16} {threads}: {fastest:9.2?}");
    }
    let pairs: Vec<(Duration, Duration)> = (0..turns.max(1)).map(|_| (time(1), time(2))).collect();
    let one = pairs.iter().map(|pair| pair.0).min().unwrap_or_default();
    let two = pairs.iter().map(|pair| pair.1).min().unwrap_or_default();
    let mut ratios: Vec<f64> =
        pairs.iter().map(|(one, two)| one.as_secs_f64() / two.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "{name:16} 1: {one:9.2?}  2: {two:9.2?}  ratio {:.2}, median {:.2}",
        one.as_secs_f64() / two.as_secs_f64(),
        ratios[ratios.len() / 2]
    );
}

/// Eight independent chains of operations, which keep all units of a core busy. If two host threads
/// share a core, the ratio shows how little the second thread adds.
fn spin(steps: u64) -> [u64; 8] {
    (0..steps).fold([1; 8], |x: [u64; 8], n| {
        x.map(|x| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n) ^ x >> 7)
    })
}
