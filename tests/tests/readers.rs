//! Damaged input: a million mutations of good inputs through every reader, with what the fuzz targets do. None panics,
//! none runs long, and all of them together do not make memory grow.

#[path = "../../runtime/tests/aub/file.rs"]
mod aub;
#[path = "../fuzz/targets/mod.rs"]
mod targets;

use aub::{AubFile, space};
use genxml_core::reflect::Kind;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Mutations in all. `GENXML_MUTATIONS` sets another number.
const MUTATIONS: u64 = 1_000_000;

/// Longest time that one input may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much more memory the process may take after the first tenth of the mutations, in KiB.
const GROWTH: u64 = 64 << 10;

/// xorshift64*: the same mutations every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Changes `bytes` in one to four places; `other` is another good input.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8], most: usize) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let length = 1 + random.below(16);
        let end = (at + length).min(bytes.len());
        match random.below(10) {
            0 => bytes.truncate(at),
            1 => _ = bytes.drain(at..end),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let from = random.below(other.len());
                let piece = &other[from..(from + 4 * length).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            4 if bytes.len() >= 4 => {
                let dword = at.min(bytes.len() - 4) & !3;
                let value = [0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000, random.next() as u32][random.below(6)];
                bytes[dword..dword + 4].copy_from_slice(&value.to_le_bytes());
            }
            5 => bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = random.next() as u8),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes.truncate(most);
}

/// Peak memory of the process in KiB, where the system tells it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok())
}

/// A reader with good inputs, which get `share` of the mutations of 100.
struct Subject {
    name: &'static str,
    run: fn(&[u8]),
    inputs: Vec<Vec<u8>>,
    /// Longest input in bytes.
    most: usize,
    share: u64,
}

#[test]
fn mutations_of_good_inputs() {
    let all = std::env::var("GENXML_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(MUTATIONS);
    let subjects = subjects();
    assert_eq!(subjects.iter().map(|subject| subject.share).sum::<u64>(), 100);
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get() as u64);
    let work = |part: u64, from: u64, to: u64| {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (part + 1) ^ from << 32);
        for subject in &subjects {
            let (from, to) = (from * subject.share / 100, to * subject.share / 100);
            for _ in (from..to).filter(|n| n % threads == part) {
                let mut bytes = subject.inputs[random.below(subject.inputs.len())].clone();
                let other = &subject.inputs[random.below(subject.inputs.len())];
                mutate(&mut random, &mut bytes, other, subject.most);
                let start = Instant::now();
                (subject.run)(&bytes);
                assert!(start.elapsed() < PATIENCE, "{}: {:?} for {bytes:x?}", subject.name, start.elapsed());
            }
        }
    };
    let run = |from, to| {
        std::thread::scope(|scope| {
            (0..threads).for_each(|part| _ = scope.spawn(move || work(part, from, to)));
        });
    };
    run(0, all / 10);
    let before = peak();
    run(all / 10, all);
    if let Some((before, after)) = before.zip(peak()) {
        assert!(after < before + GROWTH, "from {before} KiB to {after} KiB");
    }
}

/// Good inputs: what the project's own code writes, and pieces of the corpus where it is.
fn subjects() -> Vec<Subject> {
    vec![
        Subject { name: "batch", run: targets::batch, inputs: batches(), most: 512, share: 80 },
        Subject { name: "kernel", run: targets::kernel, inputs: kernels(), most: 256, share: 10 },
        Subject { name: "file", run: targets::file, inputs: files(), most: 4096, share: 10 },
    ]
}

/// Batches of packets of every kind with random fields, behind a byte that says for which engine and what to do.
fn batches() -> Vec<Vec<u8>> {
    let instructions: Vec<_> = genxml_tests::ROUND_TRIPS[0]
        .iter()
        .filter(|trip| matches!(trip.info.kind, Kind::Instruction { .. }))
        .collect();
    let mut random = genxml_tests::Random::new("batches");
    (0..256)
        .map(|first| {
            let mut bytes = vec![first as u8];
            for _ in 0..4 {
                let trip = instructions[random.next() as usize % instructions.len()];
                let round = random.next() as u32;
                let dwords = random.packed(trip, round).unwrap_or_default();
                bytes.extend(dwords.iter().flat_map(|dword| dword.to_le_bytes()));
            }
            bytes
        })
        .collect()
}

/// A small dump of each kind that is a file.
fn files() -> Vec<Vec<u8>> {
    let batch = batches().swap_remove(0);
    let mut classic = AubFile::classic("PCI-ID=0x1616");
    classic.trace([1, 1, 0], 0x1000, &batch[1..]).trace([2, 2, 0], 0x3000, &batch[1..65]);
    let mut trace = AubFile::memory_trace();
    trace
        .map_global(0x5000, 0x1_2345_6000, 2)
        .memory(space::PHYSICAL, 0x1_2345_6000, &batch[1..])
        .memory(space::GGTT, 0x5040, &[7; 8])
        .register(0x2230, 0x5000)
        .poll(0x2234, 0x10, 0);
    vec![classic.0, trace.0]
}

/// The kernels of the demonstrations, and those of the corpus where it is.
fn kernels() -> Vec<Vec<u8>> {
    let mut kernels: Vec<Vec<u8>> = genx::demo::fill::submission()
        .iter()
        .flat_map(|submission| &submission.buffers)
        .map(|buffer| buffer.bytes().to_vec())
        .collect();
    for entry in fs::read_dir(corpus().join("eu/kernels")).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "bin") {
            kernels.extend(fs::read(entry.path()));
        }
    }
    kernels.sort();
    kernels.retain(|kernel| !kernel.is_empty());
    kernels
}

fn corpus() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    PathBuf::from(std::env::var("GENXML_CORPUS").unwrap_or_else(|_| default.to_owned()))
}
