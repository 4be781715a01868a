//! Tests of the model with AUB files. The test files are written dword by dword from the
//! description of the format, of page tables and of context images (gen8_facts 1.1 to 1.5). Real
//! files come from Mesa's intel_dump_gpu.

use genxml::aub::{AubError, Reader};
use genxml::capture::Capture;
use genxml::engine::EngineId;
use genxml_sim::aub::{AubReplay, ReplayError, Step};
use genxml_sim::{Fault, Gpu, Stats};
use genxml_testkit::aub::{AubFile, space};
use genxml_testkit::corpus;
use proptest::prelude::*;

const BASES: [(EngineId, u32); 3] =
    [(EngineId::Render, 0x2000), (EngineId::Video, 0x1_2000), (EngineId::Blitter, 0x2_2000)];

/// Address of the batch in the context's address space. It needs all four levels of page tables.
/// The batch writes to [`TARGET`].
const BATCH: u64 = 0x0123_4567_8000;
const TARGET: u64 = BATCH + 0x1000;

const END: u32 = 0x0500_0000;

/// MI_STORE_DATA_IMM of a dword, through the context's page tables.
fn store(address: u64, value: u32) -> [u32; 4] {
    [0x1000_0002, address as u32, (address >> 32) as u32, value]
}

/// Runs a file to its end, or to the first fault, stuck poll or error. Returns the replay, its
/// steps, and the error if there was one.
fn run(bytes: &[u8]) -> (AubReplay<'_>, Vec<Step>, Option<ReplayError>) {
    let mut replay = AubReplay::new(Reader::new(bytes).unwrap());
    replay.gpu().set_work_limit(1 << 16);
    let mut steps = Vec::new();
    loop {
        match replay.step() {
            Ok(Some(step)) => {
                let stop = matches!(step, Step::Ran { result: Err(_), .. } | Step::Stuck(_));
                steps.push(step);
                if stop {
                    return (replay, steps, None);
                }
            }
            Ok(None) => return (replay, steps, None),
            Err(error) => {
                assert!(matches!(replay.step(), Ok(None)), "nothing comes after an error");
                return (replay, steps, Some(error));
            }
        }
    }
}

/// Statistics of the batches that ran, in order. None of them may have had a fault.
fn ran(steps: &[Step]) -> Vec<Stats> {
    let stats = |step: &Step| match step {
        Step::Ran { result, .. } => Some(result.clone().unwrap()),
        _ => None,
    };
    steps.iter().filter_map(stats).collect()
}

fn physical(gpu: &Gpu, address: u64) -> u32 {
    let mut bytes = [0; 4];
    gpu.memory.read_physical(address, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// Physical address of the memory of an engine's context, above 4 GiB: page tables, batch, target.
fn frames(engine: usize) -> u64 {
    0x12_0000_0000 + 0x1_0000 * engine as u64
}

/// Physical address of the target.
fn target(engine: usize) -> u64 {
    frames(engine) + 0x5000
}

/// Global address of an engine's ring. The pages of its context image follow.
fn ring(engine: usize) -> u64 {
    0x1000 + 0x1_0000 * engine as u64
}

/// Four levels of page tables that map the batch and the target.
fn page_tables(file: &mut AubFile, engine: usize) {
    let base = frames(engine);
    let index = |level: u32| (BATCH >> (12 + 9 * level) & 0x1ff) * 8;
    file.memory_u64(space::PHYSICAL, base + index(3), &[(base + 0x1000) | 3])
        .memory_u64(space::PHYSICAL, base + 0x1000 + index(2), &[(base + 0x2000) | 3])
        .memory_u64(space::PHYSICAL, base + 0x2000 + index(1), &[(base + 0x3000) | 3])
        .memory_u64(
            space::PHYSICAL,
            base + 0x3000 + index(0),
            &[(base + 0x4000) | 3, (base + 0x5000) | 3],
        );
}

/// The register state of a context image (gen8_facts 1.4). `first` is the base of the registers
/// that the image names.
fn image(first: u32, ring: u64, pml4: u64) -> Vec<u32> {
    let render = first == 0x2000;
    let mut image = vec![0; 96];
    // Mesa writes this value into the ring control register, where the size belongs.
    let control = (ring as u32 - 4096) | 1;
    let mut registers = vec![
        (0x244, 0x0009_0009),
        (0x34, 0),
        (0x30, 0),
        (0x38, ring as u32),
        (0x3c, control),
        (0x168, 0),
        (0x140, 0),
        (0x110, 0x20),
        (0x11c, 0),
        (0x114, 0),
        (0x118, 0),
    ];
    if render {
        registers.extend([(0x1c0, 0), (0x1c4, 0), (0x1c8, 0)]);
    }
    image[1] = 0x1100_1000 | (2 * registers.len() as u32 - 1);
    let pointers = [0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278].map(|offset| (offset, 0));
    let root = [(0x274, (pml4 >> 32) as u32), (0x270, pml4 as u32)];
    image[33] = 0x1100_1011;
    let second: Vec<_> = [(0x3a8, 0)].into_iter().chain(pointers).chain(root).collect();
    for (at, list) in [(2, &registers), (34, &second)] {
        for (index, &(offset, value)) in list.iter().enumerate() {
            image[at + 2 * index] = first + offset;
            image[at + 2 * index + 1] = value;
        }
    }
    image[68] = END;
    image
}

/// Writes the page tables, ring and context image of an engine, and enables execution lists.
fn context(file: &mut AubFile, engine: usize) {
    let (id, base) = BASES[engine];
    page_tables(file, engine);
    let ring = ring(engine);
    file.map_global(ring, 0x20_0000 + ring, 8)
        .memory(space::GGTT, ring, &[0; 4096])
        // Mesa's image for the video engine names registers of the second video engine.
        .memory_u32(
            space::GGTT,
            ring + 0x2000,
            &image(if id == EngineId::Video { 0x1_c000 } else { base }, ring, frames(engine)),
        )
        .register(base + 0x80, ring as u32 + 0x6000)
        .register(base + 0x29c, 0x8000_8000);
}

/// Writes what intel_dump_gpu writes for a submission: ring, head, tail, submission port.
fn submit(file: &mut AubFile, engine: usize, batch: &[u32]) {
    let (_, base) = BASES[engine];
    let ring = ring(engine);
    file.memory_u32(space::PHYSICAL, frames(engine) + 0x4000, batch)
        .memory_u32(space::GGTT, ring, &[0x1880_0101, BATCH as u32, (BATCH >> 32) as u32, 0])
        .memory_u32(space::GGTT, ring + 0x2000 + 20, &[0])
        .memory_u32(space::GGTT, ring + 0x2000 + 28, &[16]);
    // Mesa ORs the engine's number into the low bits of the descriptor.
    let number = [1, 3, 2][engine];
    for value in [0, 0, 0, (ring as u32 + 0x1000) | 0x339 | number] {
        file.register(base + 0x230, value);
    }
}

fn poll(file: &mut AubFile, engine: usize) {
    file.poll(BASES[engine].1 + 0x234, 0x10, 0);
}

/// The file writes a semaphore after the submission (gen8_facts 2.2), and the waiting engine
/// continues. If nothing writes the semaphore, the replay reports a deadlock at the poll or at the
/// end of the file.
#[test]
fn semaphores_that_the_file_writes() {
    // MI_SEMAPHORE_WAIT in poll mode until the target is 5; then a store.
    let wait = [0x0e00_c002, 5, TARGET as u32, (TARGET >> 32) as u32];
    let batch = [&wait[..], &store(TARGET + 4, 0x77), &[END]].concat();
    for (values, polls, passes) in [
        (&[5][..], true, true),
        (&[1, 2, 5], true, true),
        (&[5], false, true),
        (&[], true, false),
        (&[4], true, false),
        (&[4], false, false),
    ] {
        let mut file = AubFile::memory_trace();
        context(&mut file, 0);
        submit(&mut file, 0, &batch);
        for value in values {
            file.memory_u32(space::PHYSICAL, target(0), &[*value]);
        }
        if polls {
            poll(&mut file, 0);
        }
        let (mut replay, steps, error) = run(&file.0);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(physical(replay.gpu(), target(0) + 4), if passes { 0x77 } else { 0 });
        match steps.last() {
            Some(Step::Ran { result: Err(Fault::Deadlock { waits }), .. }) if !passes => {
                assert_eq!((waits.len(), waits[0].address), (1, TARGET));
            }
            Some(Step::Ran { result: Ok(_), .. }) if passes => {}
            other => panic!("{values:?} {polls}: {other:?}"),
        }
    }
}

/// A file that submits a store on each engine and polls after each submission.
fn three_engines() -> AubFile {
    let mut file = AubFile::memory_trace();
    for engine in 0..3 {
        context(&mut file, engine);
        let value = 0x1000 + engine as u32;
        submit(&mut file, engine, &[&store(TARGET, value)[..], &[END]].concat());
        poll(&mut file, engine);
    }
    file
}

/// Oracle: the values of the stores, at the physical addresses to which the page tables map.
#[test]
fn execution_lists() {
    let file = three_engines();
    let (mut replay, steps, error) = run(&file.0);
    assert!(error.is_none(), "{error:?}");
    assert!(
        matches!(&steps[0], Step::Header(header) if header.application == "a test"),
        "{:?}",
        steps[0]
    );
    let ran = ran(&steps);
    assert_eq!(ran.len(), 3, "{steps:?}");
    for engine in 0..3 {
        assert_eq!(physical(replay.gpu(), target(engine)), 0x1000 + engine as u32);
        let packets = ran[engine].engine_packets;
        assert!(packets[BASES[engine].0 as usize] >= 3, "{packets:?}");
        assert_eq!(packets.iter().sum::<u64>(), ran[engine].packets);
        // The ring head in the context image equals the tail.
        let context = replay.gpu().context_on(BASES[engine].0).unwrap();
        assert_eq!(replay.gpu().vm(context).read_u32(TARGET).unwrap(), 0x1000 + engine as u32);
        assert_eq!(
            replay.gpu().global().read_u32(ring(engine) + 0x2000 + 20).unwrap() & 0x1f_fffc,
            16
        );
    }
}

/// A context keeps its state: the second batch stores a register that the first one loaded.
#[test]
fn contexts_keep_their_state() {
    let mut file = AubFile::memory_trace();
    context(&mut file, 0);
    // The batches load CS_GPR 3 with MI_LOAD_REGISTER_IMM and store it with MI_STORE_REGISTER_MEM.
    submit(&mut file, 0, &[0x1100_0001, 0x2618, 0xcafe, END]);
    poll(&mut file, 0);
    submit(&mut file, 0, &[0x1200_0002, 0x2618, TARGET as u32, (TARGET >> 32) as u32, END]);
    poll(&mut file, 0);
    let (mut replay, steps, error) = run(&file.0);
    assert!(error.is_none() && ran(&steps).len() == 2, "{error:?} {steps:?}");
    assert_eq!(physical(replay.gpu(), target(0)), 0xcafe);
}

/// Without a poll, the engines run before the file writes memory again, and at the end of the file.
#[test]
fn engines_run_before_memory_changes() {
    let mut file = AubFile::memory_trace();
    context(&mut file, 0);
    submit(&mut file, 0, &[&store(TARGET, 1)[..], &store(TARGET + 4, 1), &[END]].concat());
    // Overwrite the batch, and the dword that it stored.
    file.memory_u32(space::PHYSICAL, frames(0) + 0x4000, &[END]).memory_u32(
        space::PHYSICAL,
        target(0),
        &[2],
    );
    let (mut replay, steps, error) = run(&file.0);
    assert!(error.is_none() && ran(&steps).len() == 1, "{error:?} {steps:?}");
    assert_eq!([0, 4].map(|at| physical(replay.gpu(), target(0) + at)), [2, 1]);

    let mut file = AubFile::memory_trace();
    context(&mut file, 0);
    submit(&mut file, 0, &[&store(TARGET, 3)[..], &[END]].concat());
    let (mut replay, steps, _) = run(&file.0);
    assert_eq!(ran(&steps).len(), 1);
    assert_eq!(physical(replay.gpu(), target(0)), 3);
}

/// A classic file. Its global table maps 16 MiB. Each of its four ring blocks starts a batch. All
/// addresses go through the global table.
fn classic() -> AubFile {
    let mut file = AubFile::classic("PCI-ID=0x1616");
    let entries: Vec<u8> =
        (0..0x1000u64).flat_map(|index| (0x20_0003 + (index << 12)).to_le_bytes()).collect();
    file.trace([1, 0, 4], 0, &entries);
    for (index, ring) in [2, 4, 3, 2].into_iter().enumerate() {
        let (batch, at) = (0x10_0000 + 0x1000 * index as u64, 0x20_0000 + 8 * index as u64);
        let dwords = [&store(at, 0x100 + index as u32)[..], &[END]].concat();
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        file.trace([1, 1, 0], batch, &bytes);
        let start = [0x1880_0001u32, batch as u32, 0];
        let bytes: Vec<u8> = start.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        file.trace([2, ring, 0], 0x30_0000 + 0x1000 * index as u64, &bytes);
    }
    file
}

#[test]
fn classic_rings() {
    let file = classic();
    let (mut replay, steps, error) = run(&file.0);
    assert!(error.is_none(), "{error:?}");
    let ran = ran(&steps);
    let engines: Vec<_> =
        ran.iter().map(|stats| stats.engine_packets.map(|count| count > 0)).collect();
    let only = |engine: EngineId| EngineId::ALL.map(|other| other == engine);
    let [render, video, blitter] = [EngineId::Render, EngineId::Video, EngineId::Blitter].map(only);
    assert_eq!(engines, [render, blitter, video, render]);
    for index in 0..4 {
        // The table maps each address to a physical address that is 2 MiB higher.
        assert_eq!(physical(replay.gpu(), 0x40_0000 + 8 * index), 0x100 + index as u32);
    }
}

/// Oracle: the capture of the same program (drivers/vk_saxpy), and the result it expects.
#[test]
fn saxpy_of_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    let capture = Capture::open(corpus.join("drivers/vk_saxpy")).unwrap();
    let mut replay = AubReplay::new(Reader::open(corpus.join("aub/vk_saxpy.aub.xz")).unwrap());
    let mut ran = 0;
    while let Some(step) = replay.step().unwrap() {
        match step {
            Step::Ran { result, .. } => {
                result.unwrap();
                ran += 1;
            }
            Step::Stuck(stuck) => panic!("{stuck}"),
            Step::Header(_) | Step::Compared(_) => {}
        }
    }
    assert_eq!(ran, capture.execs().count());
    let gpu = replay.gpu();
    let context = gpu.context_on(EngineId::Render).unwrap();
    let mut compared = 0;
    for expectation in capture.expectations() {
        let mut bytes = vec![0; expectation.size as usize];
        gpu.vm(context).read(expectation.address + expectation.offset, &mut bytes).unwrap();
        expectation.compare(&bytes, &capture).unwrap();
        compared += 1;
    }
    assert!(compared > 0);
}

/// A file of Intel's OpenCL runtime (compute-runtime 22.43) and the sum in memory. Oracle: the
/// kernel's instructions. Item i of a group of 64 stores x\[i\] in shared local memory, reads the
/// number of item i ^ 1 after a barrier, and stores x\[i\] + 2 * x\[i ^ 1\]. The file has the
/// factor 2.0 in the thread data. The input is 256 floats: x\[i\] = i.
#[test]
fn vector_addition_of_neo() {
    const INPUT: u64 = 0x5654_0829_a000;
    const OUTPUT: u64 = 0x5654_08d3_e000;
    let Some(corpus) = corpus::folder() else { return };
    let path = corpus.join("dumps/neo_aub/bdw_vadd.aub.xz");
    if !path.is_file() {
        eprintln!("skipped: no file {}", path.display());
        return;
    }
    let mut replay = AubReplay::new(Reader::open(path).unwrap());
    let mut steps = Vec::new();
    while let Some(step) = replay.step().unwrap() {
        steps.push(step);
    }
    let ran = ran(&steps);
    let counts = ran.iter().map(|stats| (stats.groups, stats.threads)).collect::<Vec<_>>();
    assert_eq!(counts, [(4, 8)]);
    let gpu = replay.gpu();
    let context = gpu.context_on(EngineId::Render).unwrap();
    let mut floats = |address| {
        let mut bytes = vec![0; 1024];
        gpu.vm(context).read(address, &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect::<Vec<f32>>()
    };
    let input = floats(INPUT);
    assert!(input.iter().zip(0u16..).all(|(x, i)| *x == f32::from(i)), "{input:?}");
    let expected: Vec<f32> = (0..256).map(|i| input[i] + 2.0 * input[i ^ 1]).collect();
    assert_eq!(floats(OUTPUT), expected);
}

/// Values that a file states are compared after the engines have run; a poll of memory waits for
/// them too.
#[test]
fn stated_values() {
    let at = target(0);
    let [low, high] = [at as u32, (at >> 32) as u32];
    let compare = |flags: u32, value| [0xf704_0005, low, high, 2 << 28 | flags, 4, value];
    let poll =
        |flags: u32, value| [0xf705_0006, low, high, 2 << 28 | 2 << 4 | flags, 0xff, 0, value];
    let mut file = AubFile::memory_trace();
    context(&mut file, 0);
    submit(&mut file, 0, &[&store(TARGET, 0x1234)[..], &[END]].concat());
    file.dwords(&compare(0, 0x1234))
        .dwords(&compare(1 << 7, 0x1235))
        .dwords(&compare(0, 0x1235))
        .dwords(&compare(1 << 7, 0x1234))
        .dwords(&[0xf701_0005, 0x2030, 2 << 16, 0, 0, 0])
        .dwords(&poll(0, 0x34))
        .dwords(&poll(1, 0x35))
        .dwords(&poll(1, 0x34));
    let (_, steps, error) = run(&file.0);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(ran(&steps).len(), 1);
    let compared: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Compared(result) => Some(result.map_err(|difference| difference.to_string())),
            _ => None,
        })
        .collect();
    let is_ok: Vec<bool> = compared.iter().map(Result::is_ok).collect();
    assert_eq!(is_ok, [true, true, false, false, true]);
    let text = compared[2].as_ref().unwrap_err();
    let place = format!("physical memory at {at:#x} is 0x34; the file expects 0x35");
    assert!(text.contains(&place), "{text}");
    let text = compared[3].as_ref().unwrap_err();
    assert!(text.contains("expects that memory differs"), "{text}");
    let Some(Step::Stuck(stuck)) = steps.last() else { panic!("{steps:?}") };
    let text = stuck.to_string();
    assert!(text.contains("physical memory at") && text.contains("differ from 0x34"), "{text}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let error = |build: &dyn Fn(&mut AubFile)| {
        let mut file = AubFile::memory_trace();
        build(&mut file);
        run(&file.0).2.expect("an error").to_string()
    };
    let has = |text: String, words: &[&str]| {
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} not in: {text}");
    };
    has(error(&|file| _ = file.memory(space::LOCAL, 0, &[1; 4])), &["byte 0x28", "Local"]);
    has(
        error(&|file| _ = file.memory(space::GGTT, 0x7000, &[1; 4])),
        &["byte 0x28", "0x0000_0000_7000", "global table"],
    );
    has(
        error(&|file| _ = file.memory(5, 0, &[1; 4])),
        &["byte 0x28", "MEM_TRACE_MEMORY_WRITE", "address space 5"],
    );
    has(
        error(&|file| _ = file.dwords(&[0xf704_0005, 0x40, 0, 1 << 28, 4, 5])),
        &["byte 0x28", "Local"],
    );
    has(
        error(&|file| _ = file.dwords(&[0xf704_0005, 0x7000, 0, 0, 4, 5])),
        &["byte 0x28", "0x0000_0000_7000", "compared"],
    );
    has(error(&|file| _ = file.dwords(&[0xf733_0000])), &["number 0x33"]);
    has(error(&|file| _ = file.memory_u64(space::GGTT_ENTRY, 1 << 30, &[1])), &["no entry"]);
    has(error(&|file| _ = file.memory(space::PHYSICAL, u64::MAX - 9, &[1; 4])), &["byte 0x28"]);
    let mut skylake = AubFile::default();
    skylake.version(12, "PCI-ID=0x1912 x");
    has(run(&skylake.0).2.unwrap().to_string(), &["SKL", "0x1912", "Broadwell"]);

    // A poll that is satisfied, and one that no engine will satisfy.
    let mut file = three_engines();
    file.poll(0x2234, 0x10, 0).poll(0x2234, 0x10, 0x10);
    let (_, steps, _) = run(&file.0);
    let Some(Step::Stuck(stuck)) = steps.last() else { panic!("{steps:?}") };
    has(stuck.to_string(), &["register 0x2234 & 0x10", "to become 0x10", "it is 0x0"]);

    // Batches that fault.
    let fault = |batch: &[u32]| {
        let mut file = AubFile::memory_trace();
        context(&mut file, 0);
        submit(&mut file, 0, batch);
        poll(&mut file, 0);
        match run(&file.0).1.pop() {
            Some(Step::Ran { result: Err(fault), .. }) => fault,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(fault(&store(0x5000, 1)), Fault::Page { .. }));
    let again = [0x1880_0101, BATCH as u32, (BATCH >> 32) as u32];
    assert!(matches!(fault(&again), Fault::Hang { .. }));
    assert!(matches!(fault(&[0xffff_ffff]), Fault::UnknownPacket { .. }));
    let mut file = AubFile::memory_trace();
    for _ in 0..4 {
        file.register(0x2230, 0);
    }
    let (_, steps, _) = run(&file.0);
    assert!(
        matches!(steps.last(), Some(Step::Ran { result: Err(Fault::BadPacket { .. }), .. })),
        "{steps:?}"
    );
}

/// A truncated file runs up to the cut. Then the replay ends or reports the truncation.
#[test]
fn cut_at_every_dword() {
    for file in [three_engines(), classic()] {
        let whole = ran(&run(&file.0).1);
        let mut most = 0;
        let end = file.0.len();
        // Cut the long tables of the classic file at some offsets only.
        let step = if end > 20_000 { 516 } else { 4 };
        for cut in (4..end - 150).step_by(step).chain(end - 150..end) {
            let (_, steps, error) = run(&file.0[..cut]);
            let ran = ran(&steps);
            assert!(ran == whole[..ran.len()] && ran.len() >= most, "cut at {cut}");
            most = ran.len();
            let cut_short = matches!(error, None | Some(ReplayError::File(AubError::Cut { .. })));
            assert!(cut_short, "cut at {cut}: {error:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Changed dwords lead to an end or an error, never to an endless run.
    #[test]
    fn changed_dwords(
        which in 0..2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), 0..3usize), 1..10),
    ) {
        let mut bytes = if which == 0 { three_engines().0 } else { classic().0 };
        for (at, value, how) in changes {
            let at = at.index(bytes.len() / 4) * 4;
            let old = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            // Replace the dword by any value, flip a bit, or change it by a small difference.
            let new: u32 = [value, old ^ 1 << (value % 32), old.wrapping_add(value % 17).wrapping_sub(8)][how];
            bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
        }
        run(&bytes);
    }
}
