//! Draws: `cargo bench -p genxml-sim --bench render`.
//!
//! * `textured`: 1024 x 1024 pixels from a texture of 512 x 512 with 32 bits a texel, linear
//!   filter, perspective;
//! * `mesh`: 10,082 triangles on 1024 x 768 pixels, with a vertex shader, a colour of each vertex
//!   and a depth buffer;
//! * `overdraw`: 16 layers of 512 x 512 pixels, blended;
//! * `dense`: 180,000 triangles on 320 x 240 pixels, for the stages before the pixel shader;
//! * `discards`: 1024 x 1024 pixels without a target, all but one discarded by the shader.
//!
//! Each scene runs on one host thread and on two, in turns. The bench prints the fastest run of
//! each, its shaded pixels, triangles and EU instructions per second, and the median of the ratios
//! of neighbouring runs. Arguments: the number of turns; names of scenes; a number of host threads,
//! to run only with that number, for profiles.

mod scene;

use genxml::gen8::registers::PsInvocationCount;
use genxml_sim::Stats;
use genxml_sim::assumptions::PS_INVOCATIONS_OF_A_PIXEL;
use scene::Scene;
use std::time::{Duration, Instant};

/// Default number of turns.
const TURNS: usize = 20;

type Make = fn() -> Scene;

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    let turns = numbers.first().copied().unwrap_or(TURNS).max(1);
    let scenes: [(&str, Make); 5] = [
        ("textured", || scene::textured(1024)),
        ("mesh", || scene::mesh([1024, 768], 71)),
        ("overdraw", || scene::overdraw(512)),
        ("dense", || scene::mesh([320, 240], 300)),
        ("discards", || scene::discards(1024)),
    ];
    for (name, make) in scenes {
        if !names.is_empty() && !names.iter().any(|word| *word == name) {
            continue;
        }
        let mut scene = make();
        match numbers.get(1) {
            Some(&threads) => {
                let fastest =
                    (0..turns).map(|_| time(&mut scene, threads).0).min().unwrap_or_default();
                println!("{name:10} {threads}: {fastest:9.2?}");
            }
            None => compare(name, turns, &mut scene),
        }
    }
}

fn time(scene: &mut Scene, threads: usize) -> (Duration, Stats) {
    let start = Instant::now();
    let stats = scene.run(threads);
    (start.elapsed(), stats)
}

fn compare(name: &str, turns: usize, scene: &mut Scene) {
    let stats = scene.run(1);
    let memory = scene.memory();
    let pairs: Vec<(Duration, Duration)> =
        (0..turns).map(|_| (time(scene, 1).0, time(scene, 2).0)).collect();
    assert!(scene.memory() == memory, "{name}: one and two threads draw different pictures");
    let shaded = scene.register(PsInvocationCount::OFFSET) / PS_INVOCATIONS_OF_A_PIXEL;
    assert_eq!(shaded % scene.pixels, 0, "{name}: not a multiple of the shaded pixels");
    let mut ratios: Vec<f64> =
        pairs.iter().map(|(one, two)| one.as_secs_f64() / two.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    for (threads, fastest) in
        [(1, pairs.iter().map(|pair| pair.0).min()), (2, pairs.iter().map(|pair| pair.1).min())]
    {
        let fastest = fastest.unwrap_or_default();
        let rate = |count: u64| count as f64 / fastest.as_secs_f64() / 1e6;
        println!(
            "{name:10} {threads}: {fastest:9.2?}  {:7.2} Mpixels/s  {:6.3} Mtriangles/s  {:7.1} M EU instructions/s",
            rate(scene.pixels),
            rate(scene.triangles),
            rate(stats.instructions),
        );
    }
    let speculation = scene.speculation();
    println!(
        "{name:10} median of the ratios {:.2}; on two threads {} parts committed, {} aborted",
        ratios[ratios.len() / 2],
        speculation.committed,
        speculation.aborted
    );
}
