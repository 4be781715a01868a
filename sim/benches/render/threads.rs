//! Two kinds of tests: the results of draws do not depend on the number of host threads, and
//! captures that run EU threads leave the expected memory. Oracle of the captures:
//! intel-gpu-tools' own assertion for gem_gpgpu_fill, and another model's result for the same
//! programs with other sizes, positions and tilings.

mod scene;

use genxml::capture::Capture;
use genxml::gen8::registers::{ClPrimitivesCount, PsDepthCount, PsInvocationCount};
use genxml_sim::Stats;
use genxml_sim::replay::{self, Replay, Step};
use genxml_testkit::corpus;
use scene::Scene;
use std::hash::{DefaultHasher, Hash, Hasher};

fn run(prefix: &str, least: usize) {
    let Some(corpus) = corpus::folder() else { return };
    let mut entries: Vec<_> = std::fs::read_dir(corpus.join("images"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let mut count = 0;
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with(prefix) {
            let report = replay::run(&Capture::open(&path).unwrap());
            if let Some((seq, fault)) = report.fault {
                panic!("{name}: submission {seq}: {fault}");
            }
            assert!(report.mismatches.is_empty(), "{name}: {}", report.mismatches[0]);
            assert!(report.stats.threads > 0, "{name}: {:?}", report.stats);
            count += 1;
        }
    }
    assert!(count >= least, "{prefix}: {count} captures, fewer than {least}");
}

#[test]
fn gpgpu_fill() {
    run("igt_gpgpu_fill", 1);
    run("syn_gpgpufill_", 2);
}

#[test]
fn media_fill() {
    run("syn_mediafill_", 1);
}

#[test]
fn media_spin() {
    run("syn_mediaspin_", 3);
}

/// Pictures, depth, counts and counters are the same on one, two and five host threads. Tiles are
/// drawn in parallel.
#[test]
fn draws_on_several_threads() {
    type Make = fn() -> Scene;
    let scenes: [(&str, Make); 4] = [
        ("textured", || scene::textured(256)),
        ("mesh", || scene::mesh([320, 240], 23)),
        ("overdraw", || scene::overdraw(192)),
        ("discards", || scene::discards(256)),
    ];
    for (name, make) in scenes {
        let run = |threads: usize| {
            let mut scene = make();
            let stats = scene.run(threads);
            let counters =
                [PsInvocationCount::OFFSET, PsDepthCount::OFFSET, ClPrimitivesCount::OFFSET]
                    .map(|register| scene.register(register));
            // The scene has run twice. PS invocations count four times (gen8_facts 2.7).
            let kept = if name == "discards" { 1 } else { scene.pixels };
            assert_eq!(counters, [4 * 2 * scene.pixels, 2 * kept, 2 * scene.triangles], "{name}");
            (stats, counters, scene.memory(), scene.speculation())
        };
        let (stats, counters, memory, speculation) = run(1);
        assert_eq!(speculation.committed + speculation.aborted, 0, "{name}");
        for threads in [2, 5] {
            let (others, other_counters, other_memory, speculation) = run(threads);
            assert_eq!((others, other_counters), (stats, counters), "{name} on {threads} threads");
            assert!(other_memory == memory, "{name} on {threads} threads: memory differs");
            assert!(
                speculation.committed > 0 && speculation.aborted == 0,
                "{name}: {speculation:?}"
            );
        }
    }
}

/// For each submission of a capture, its counts and a hash of its objects after it has run.
fn left_behind(capture: &Capture, threads: usize) -> Vec<(Stats, u64)> {
    let mut replay = Replay::new(capture);
    replay.gpu().set_threads(threads);
    let mut left = Vec::new();
    while let Some(step) = replay.step() {
        if let Step::Exec { exec, result } = step {
            let mut hasher = DefaultHasher::new();
            exec.objects.iter().for_each(|object| replay.bytes(object.object).hash(&mut hasher));
            left.push((result.unwrap(), hasher.finish()));
        }
    }
    left
}

#[test]
fn captured_draws_on_several_threads() {
    let Some(corpus) = corpus::folder() else { return };
    for name in
        ["drivers/kmscube", "drivers/vk_triangle", "drivers/gl_iris", "drivers/pg_depthstencil"]
    {
        let capture = Capture::open(corpus.join(name)).unwrap();
        let one = left_behind(&capture, 1);
        assert!(one.iter().any(|(stats, _)| stats.pixels > 0), "{name}: nothing was drawn");
        assert!(left_behind(&capture, 2) == one, "{name}: one and two threads differ");
        assert!(left_behind(&capture, 5) == one, "{name}: one and five threads differ");
    }
}
