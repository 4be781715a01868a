//! Kernels that Mesa compiled for G45, and kernels with random changes.

use super::support::{World, decode, launch, play};
use genxml_sim::Fault;
use genxml_sim::eu::uop::Op;
use genxml_sim::eu::{Launch, Thread};
use genxml_testkit::{Random, corpus};
use std::path::PathBuf;

/// Name and bytes of every kernel; none without the corpus.
fn kernels() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = corpus::folder() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder.join("gen45/kernels"))
        .expect("the kernels of G45")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// A thread with random registers. The kernels of fixed functions run in single program flow.
fn random_launch(random: &mut Random, name: &str) -> Launch {
    let payload: Vec<u8> = (0..512)
        .flat_map(|_| {
            let number = match random.bits() % 4 {
                0 => (random.bits() as u32 % 4096) as f32 / 64.0,
                1 => f32::from_bits(random.bits() as u32 % 8),
                _ => (random.bits() as u32 % 64) as f32 - 32.0,
            };
            number.to_bits().to_le_bytes()
        })
        .collect();
    let single = ["clip", "gs", "sf"].iter().any(|stage| name.starts_with(stage));
    let mask = if single { 0xff } else { random.bits() as u32 & 0xffff };
    Launch { payload, control: if single { 4 } else { 0 }, ..launch(mask | 1) }
}

#[test]
fn every_kernel_runs() {
    let (mut random, mut ends, mut uops) = (Random::new(45), 0, 0);
    let kernels = kernels();
    for (name, bytes) in &kernels {
        let mut kernel = decode(bytes);
        for uop in &kernel.uops {
            assert!(uop.op != Op::Refused, "{name}: {:?}", uop.refusal());
        }
        uops += kernel.uops.len();
        let mut thread = Thread::new(&random_launch(&mut random, name));
        let mut world = World::new(200_000);
        match play(bytes, &mut kernel, &mut thread, &mut world) {
            Ok(()) => ends += 1,
            // Loops may depend on what messages return.
            Err(Fault::Hang { .. }) => {}
            Err(fault) => panic!("{name}: {fault}"),
        }
        assert!(kernel.uops.iter().all(|uop| uop.op != Op::Refused), "{name}");
    }
    if !kernels.is_empty() {
        assert_eq!(kernels.len(), 383);
        assert!(ends > 360 && uops > 10_000, "{ends} ends, {uops} uops");
    }
}

/// Kernels with some changed bits neither panic nor run without end. `GENXML_MUTATIONS` sets their
/// number.
#[test]
fn changed_kernels() {
    let count = std::env::var("GENXML_MUTATIONS").ok().and_then(|text| text.parse().ok());
    let kernels = kernels();
    let mut random = Random::new(4545);
    for n in 0..if kernels.is_empty() { 0 } else { count.unwrap_or(2000) } {
        let (name, bytes) = &kernels[random.bits() as usize % kernels.len()];
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.bits() % 6 {
            // Most changes are near the start, where every thread comes.
            let reach = if random.one_in(2) { 128 } else { bytes.len() };
            let at = random.bits() as usize % bytes.len().min(reach);
            bytes[at] ^= 1 << (random.bits() % 8);
        }
        let mut launch = random_launch(&mut random, name);
        if n % 4 == 0 {
            launch.control = random.bits() as u32;
            launch.exceptions = random.bits() as u32;
            launch.system_routine = (n % 8 == 0).then_some(0);
        }
        let mut kernel = decode(&bytes);
        let mut thread = Thread::new(&launch);
        let _ = play(&bytes, &mut kernel, &mut thread, &mut World::new(2_000));
    }
}
