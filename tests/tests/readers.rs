//! Damaged input: a million mutations of valid inputs through every reader, with the functions of
//! the fuzz targets. None panics, none runs long, and memory does not grow.

use genxml::dump::{Dump, How, Kind};
use genxml::error_state::{BufferKind, Crash, CrashBuffer, PageFault, Spelling, write};
use genxml_core::reflect;
use genxml_testkit::aub::{AubFile, space};
use genxml_testkit::{Random, corpus, readers};
use genxml_tests::packed;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

/// Total number of mutations. `GENXML_MUTATIONS` sets another number.
const MUTATIONS: u64 = 1_000_000;

/// Time limit for one input.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// How much the peak memory of the process may grow after the first tenth of the mutations, in KiB.
const GROWTH: u64 = 64 << 10;

/// Changes `bytes` at one to four positions; `other` is another valid input.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8], most: usize) {
    for _ in 0..=random.below(4) {
        let at = random.index(bytes.len().max(1));
        let length = 1 + random.index(16);
        let end = (at + length).min(bytes.len());
        match random.below(10) {
            0 => bytes.truncate(at),
            1 => _ = bytes.drain(at..end),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let from = random.index(other.len().max(1));
                let piece = &other[from..(from + 4 * length).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            4 if bytes.len() >= 4 => {
                let dword = at.min(bytes.len() - 4) & !3;
                let value = [0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000, random.bits() as u32]
                    [random.index(6)];
                bytes[dword..dword + 4].copy_from_slice(&value.to_le_bytes());
            }
            5 => {
                bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = random.bits() as u8)
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes.truncate(most);
}

/// Peak memory of the process in KiB, if the system reports it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok()
    })
}

/// A reader with valid inputs; `share` is its percentage of the mutations.
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
    let all = std::env::var("GENXML_MUTATIONS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(MUTATIONS);
    let subjects = subjects();
    assert_eq!(subjects.iter().map(|subject| subject.share).sum::<u64>(), 100);
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get() as u64);
    let work = |part: u64, from: u64, to: u64| {
        let mut random = Random::new((part + 1) ^ from << 32);
        for subject in &subjects {
            let (from, to) = (from * subject.share / 100, to * subject.share / 100);
            let begin = Instant::now();
            for _ in (from..to).filter(|n| n % threads == part) {
                let mut bytes = subject.inputs[random.index(subject.inputs.len())].clone();
                let other = &subject.inputs[random.index(subject.inputs.len())];
                mutate(&mut random, &mut bytes, other, subject.most);
                let start = Instant::now();
                (subject.run)(&bytes);
                assert!(
                    start.elapsed() < TIME_LIMIT,
                    "{}: {:?} for {bytes:x?}",
                    subject.name,
                    start.elapsed()
                );
            }
            println!(
                "{}: {} mutations in {:?}",
                subject.name,
                (to - from) / threads,
                begin.elapsed()
            );
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

/// The readers with their valid inputs: batches and files that the project's own code writes, and
/// kernels.
fn subjects() -> Vec<Subject> {
    vec![
        Subject { name: "batch", run: readers::batch, inputs: batches(), most: 160, share: 86 },
        Subject { name: "kernel", run: readers::kernel, inputs: kernels(), most: 128, share: 4 },
        Subject { name: "file", run: readers::file, inputs: files(), most: 4096, share: 10 },
    ]
}

/// 256 batches of four packets of random types with random values. Before each batch is the byte
/// that selects the engine and the action.
fn batches() -> Vec<Vec<u8>> {
    let instructions: Vec<_> = genxml_tests::ROUND_TRIPS[0]
        .iter()
        .filter(|trip| matches!(trip.info.kind, reflect::Kind::Instruction { .. }))
        .collect();
    let mut random = Random::of("batches");
    (0..256)
        .map(|first| {
            let mut bytes = vec![first as u8];
            for _ in 0..4 {
                let trip = instructions[random.index(instructions.len())];
                let round = random.bits() as u32;
                let dwords = packed(&mut random, trip, round).unwrap_or_default();
                bytes.extend(dwords.iter().flat_map(|dword| dword.to_le_bytes()));
            }
            bytes
        })
        .collect()
}

/// A small dump of each file format, plain and compressed.
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
    let mut files = vec![classic.0, trace.0, local(&batch[1..]), devcoredump()];
    files.extend(Spelling::ALL.iter().map(|spelling| error_state(*spelling)));
    let packed: Vec<_> =
        files.iter().enumerate().map(|(number, file)| compressed(number, file)).collect();
    files.extend(packed);
    files
}

/// A memory trace with page tables of a context, in the address spaces for them and in local
/// memory, writes of several parts, polls, comparisons and a block of another kind.
fn local(batch: &[u8]) -> Vec<u8> {
    let mut file = AubFile::memory_trace();
    file.map_global(0x6000, 0x6002, 4)
        .memory(space::LOCAL, 0x6000, &[1; 0x2000])
        .memory_u64(10, 0x2000_0560, &[0x400a_c007])
        .memory_u64(8, 0x400a_ca80, &[0x9595_0007])
        .memory_u64(9, 0x9595_0208, &[0x2c_2a04_1007])
        .memory_u64(space::LOCAL, 0x2c_2a04_14d0, &[0x7803])
        .memory(space::LOCAL, 0x7000, batch)
        .dwords(&[0xf708_0003, 0, 0x7467_6761, 0])
        .dwords(&[0xf704_0005, 0x7000, 0, 1 << 28, 4, 5])
        .dwords(&[0xf705_0006, 0x7000, 0, 1 << 28 | 2 << 4, 0xff, 0, 7])
        .dwords(&[0xe094_0009, 1, 2, 0x2000_0000, 0, 0, 0, 0, 0, 0, 0])
        .register(0x2510, 0x6119)
        .register(0x2514, 0)
        .register(0x2550, 1);
    let mut several = vec![0xf70b_00c0, 2 << 28 | 2 << 4, 0x5000, 0, 4, 0x9000, 0, 4];
    several.resize(193, 0);
    file.dwords(&several);
    file.0
}

/// A hang in a small batch, as a kernel prints it.
fn error_state(spelling: Spelling) -> Vec<u8> {
    // PIPE_CONTROL, an MI_SEMAPHORE_WAIT that never ends, MI_BATCH_BUFFER_END.
    let batch =
        [0x7a00_0004, 0x0010_0002, 0, 0, 0, 0, 0x0e00_c002, 1, 0x10_2000, 0, 0x0500_0000, 0];
    let batch: Vec<u8> = batch.iter().flat_map(|dword: &u32| dword.to_le_bytes()).collect();
    let buffer = |kind, address, data| CrashBuffer { kind, address, data };
    let crash = Crash {
        reason: "hang",
        driver: "a test",
        process: Some(("demo", 7)),
        batch: 0x10_0000,
        buffers: vec![
            buffer(BufferKind::Batch, 0x10_0000, &batch),
            buffer(BufferKind::User, 0x10_2000, &[0; 16]),
            buffer(BufferKind::Ring, 0x1000, &[0; 64]),
        ],
        ring: (0, 0x18),
        acthd: Some(0x10_0018),
        ipehr: Some(0x0e00_c002),
        fault: Some(PageFault { address: 0xdead_b000, global: false, level: 0, source: 1 }),
        registers: vec![("INSTDONE", 0xffff_fffe), ("GFX_MODE", 0x8000)],
        ..Crash::default()
    };
    let mut text = Vec::new();
    write(&crash.error_state(), spelling, &mut text).unwrap();
    text
}

/// A device coredump of xe with a batch of three dwords.
fn devcoredump() -> Vec<u8> {
    b"**** Xe Device Coredump ****
Reason: Timedout job - seqno=4294967169, lrc_seqno=4294967169, guc_id=2, flags=0x0
kernel: 6.14.0
module: xe
PCI ID: 0x1616

**** GuC CT ****
H2G CTB (all sizes in DW):
\tsize: 1024
[CTB].length: 0x4
[CTB].data: z

**** Contexts ****
GuC ID: 2
\tName: rcs0
\tClass: 0
\t[HWCTX].length: 0x8
\t[HWCTX].data: zz

**** Job ****
batch_addr[0]: 0x0000effefffe0000

**** HW Engines ****
rcs0 (physical), logical instance=0
\tRING_HEAD: 0x00000040
\tRING_TAIL: 0x00000080
\tACTHD: 0x0000effefffe0000
\tIPEHR: 0x7a000004

**** VM state ****
[effefffe0000].length: 0x20
[effefffe0000].data: H2mpJzzzzz\"TSN&z
[100000000].length: 0x1000
[100000000].error: -14
"
    .to_vec()
}

/// Compresses a file with gzip, xz or zstd, in turn.
fn compressed(number: usize, file: &[u8]) -> Vec<u8> {
    match number % 3 {
        0 => {
            let mut gzip =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            gzip.write_all(file).unwrap();
            gzip.finish().unwrap()
        }
        1 => {
            let mut xz = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).unwrap();
            xz.write_all(file).unwrap();
            xz.finish().unwrap()
        }
        _ => compress_to_vec(file, CompressionLevel::Fastest),
    }
}

/// Every file that is mutated can be read without damage.
#[test]
fn files_are_good() {
    let mut kinds = Vec::new();
    for file in files() {
        let mut dump = Dump::read("file", Cursor::new(file), &How::default()).unwrap();
        // Accept a buffer that the kernel could not dump, and buffers that are not whole pages.
        let fine = |text: &str| text.contains("error -14") || text.contains("ends inside a page");
        assert!(dump.notes().iter().all(|note| fine(&note.text)), "{:?}", dump.notes());
        let mut count = 0;
        dump.submissions(&mut |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
        kinds.push((dump.kind(), count));
    }
    let of = |kind| {
        kinds.iter().filter(|found| found.0 == kind).map(|found| found.1).collect::<Vec<_>>()
    };
    // Two submissions: the ring, which does not call the batch, and the batch.
    assert_eq!(of(Kind::ErrorState), [2; 16]);
    assert_eq!(of(Kind::Devcoredump), [1, 1]);
    assert_eq!(of(Kind::Aub).len(), 6);
}

/// The buffers of the demo `fill`, which include its kernel, and the kernels of the corpus if it is
/// present.
fn kernels() -> Vec<Vec<u8>> {
    let mut kernels: Vec<Vec<u8>> = genx::demo::fill::submission()
        .iter()
        .flat_map(|submission| &submission.buffers)
        .map(|buffer| buffer.bytes().to_vec())
        .collect();
    if let Some(corpus) = corpus::folder() {
        kernels.extend(corpus::kernels(&corpus).into_iter().map(|(_, bytes)| bytes));
    }
    kernels.sort();
    kernels.retain(|kernel| !kernel.is_empty());
    kernels
}
