//! Bad input: random mutations of batches and manifests never cause a panic, never run long, and
//! never write to unmapped memory.

use genxml::batch::{Batch, Buffer, Submission};
use genxml::capture::{Capture, CaptureWriter, Compare, Event, Playback};
use genxml::core::lit;
use genxml::engine::{Blitter, EngineId, Render};
use genxml::gen8::blitter::{BlitColorDepth, BlitRasterOperation, XyColorBlt, XySrcCopyBlt};
use genxml::gen8::mi::{MiStoreDataImm, PipeControl, PipeControlPostSyncOperation};
use genxml_sim::mem::Frames;
use genxml_sim::replay::{Replay, Step};
use genxml_sim::{Gpu, Memory};
use genxml_testkit::corpus;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Number of mutations of batches, and also of manifests.
const CASES: u32 = 10_000;

/// Time limit for one input.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Work limit of a batch: enough for the original inputs, small enough for endless loops.
const WORK: u64 = 200_000;

/// A submission with the memory that it uses.
#[derive(Debug, Clone)]
struct Input {
    name: String,
    engine: EngineId,
    batch_address: u64,
    batch_length: u64,
    /// Address and bytes.
    buffers: Vec<(u64, Vec<u8>)>,
}

impl From<Submission> for Input {
    fn from(submission: Submission) -> Input {
        Input {
            name: submission.buffers[0].name().to_owned(),
            engine: submission.engine,
            batch_address: submission.batch_address,
            batch_length: submission.batch_length,
            buffers: submission.buffers.iter().map(|b| (b.address(), b.bytes().to_vec())).collect(),
        }
    }
}

/// GPGPU threads, blits, and commands that the command streamer executes itself, written with the
/// typed API.
fn own_inputs() -> Vec<Input> {
    let page = |address| Buffer::new("target", address, 16384).unwrap();
    let mut blits = Batch::<Blitter>::new("blits", 0x20_0000, 4096).unwrap();
    blits
        .emit(&XyColorBlt {
            color_depth: BlitColorDepth::_32BPP,
            raster_operation: BlitRasterOperation::PATTERN_COPY,
            destination_pitch: lit!(256),
            destination_x2_coordinate_right: lit!(64),
            destination_y2_coordinate_bottom: lit!(64),
            destination_base_address: lit!(0x10_0000),
            solid_pattern_color: lit!(0x1234_5678),
            ..XyColorBlt::new()
        })
        .unwrap();
    blits
        .emit(&XySrcCopyBlt {
            color_depth: BlitColorDepth::_16BPP_565,
            raster_operation: BlitRasterOperation::SRC_COPY,
            source_pitch: lit!(128),
            destination_pitch: lit!(512),
            destination_x2_coordinate_right: lit!(50),
            destination_y2_coordinate_bottom: lit!(16),
            source_base_address: lit!(0x10_0000),
            destination_base_address: lit!(0x18_0000),
            ..XySrcCopyBlt::new()
        })
        .unwrap();
    let mut streamer = Batch::<Render>::new("streamer", 0x20_0000, 4096).unwrap();
    let values = [lit!(1), lit!(2)];
    streamer
        .emit(&MiStoreDataImm {
            data_dword: (&values).into(),
            ..MiStoreDataImm::new(lit!(0x10_0000))
        })
        .unwrap();
    streamer
        .emit(&PipeControl {
            post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
            address: lit!(0x10_0008),
            ..PipeControl::new()
        })
        .unwrap();
    vec![
        genx::demo::fill::submission().unwrap().into(),
        Submission::new(blits.finish().unwrap(), [page(0x10_0000), page(0x18_0000)]).into(),
        Submission::new(streamer.finish().unwrap(), [page(0x10_0000)]).into(),
    ]
}

/// The first submission of each small real capture, if the corpus is present.
fn real_inputs() -> Vec<Input> {
    let mut inputs = Vec::new();
    for capture in captures() {
        let capture = Capture::open(capture).unwrap();
        let mut playback = Playback::new(&capture);
        while let Some(event) = playback.step() {
            if let Event::Exec(exec) = event {
                let buffers =
                    playback.memory(exec).ranges().map(|(a, b)| (a, b.to_vec())).collect();
                inputs.push(Input {
                    name: capture.name().to_owned(),
                    engine: exec.engine,
                    batch_address: exec.batch_address,
                    batch_length: exec.batch_length,
                    buffers,
                });
                break;
            }
        }
    }
    inputs
}

/// Directories of real captures with little data.
fn captures() -> Vec<PathBuf> {
    let small =
        |path: &Path| fs::metadata(path.join("data.bin.zst")).is_ok_and(|m| m.len() < 20_000);
    corpus::captures().into_iter().filter(|path| small(path)).collect()
}

/// Content of the unmapped memory before and after each buffer of the input.
static CANARIES: [u8; 8 * 4096] = [0xa5; 8 * 4096];

fn canary(gpu: &mut Gpu) -> Frames {
    let frames = gpu.alloc(CANARIES.len() as u64).unwrap();
    gpu.memory.bytes_mut(frames).copy_from_slice(&CANARIES);
    frames
}

/// Runs the input. Faults are allowed; any other problem panics.
fn execute(input: &Input) {
    let start = Instant::now();
    let mut gpu = Gpu::with_memory(Memory::with_limit(256 << 20));
    gpu.set_work_limit(WORK);
    let before = canary(&mut gpu);
    let context = gpu.create_context().unwrap();
    let mut unmapped = vec![before];
    for (address, bytes) in &input.buffers {
        gpu.load(context, *address, bytes).unwrap();
        unmapped.push(canary(&mut gpu));
    }
    // Every result is accepted; the submission only has to end.
    let _ = gpu.submit(context, input.engine, input.batch_address, input.batch_length);
    for frames in unmapped {
        assert!(gpu.memory.bytes(frames) == CANARIES, "unmapped memory was written");
    }
    assert!(start.elapsed() < TIME_LIMIT, "{} took {:?}", input.name, start.elapsed());
}

/// A change of one dword.
#[derive(Debug, Clone)]
enum Change {
    Set(u32),
    Flip(u32),
    Add(u32),
}

fn change() -> impl Strategy<Value = (prop::sample::Index, prop::sample::Index, Change)> {
    let value =
        prop_oneof![any::<u32>(), Just(0), Just(u32::MAX), (0u32..32).prop_map(|bit| 1 << bit)];
    let how = prop_oneof![
        value.prop_map(Change::Set),
        (0u32..32).prop_map(|bit| Change::Flip(1 << bit)),
        prop_oneof![Just(1), Just(u32::MAX)].prop_map(Change::Add),
    ];
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), how)
}

/// Positions (buffer, dword) worth changing: the dwords that are not 0 among the first 2048 of each
/// buffer.
fn meaningful(input: &Input) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for (buffer, (_, bytes)) in input.buffers.iter().enumerate() {
        for (dword, value) in bytes.as_chunks::<4>().0.iter().enumerate().take(2048) {
            if *value != [0; 4] {
                places.push((buffer, dword));
            }
        }
    }
    places
}

#[test]
fn mutated_batches() {
    let inputs: Vec<_> = own_inputs().into_iter().chain(real_inputs()).collect();
    let places: Vec<_> = inputs.iter().map(meaningful).collect();
    let strategy = (0..inputs.len(), prop::collection::vec(change(), 1..6));
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |(which, changes)| {
            let mut input = inputs[which].clone();
            for (_, place, how) in changes {
                let &(buffer, dword) = place.get(&places[which]);
                let bytes = &mut input.buffers[buffer].1[4 * dword..][..4];
                let old = u32::from_le_bytes(bytes.try_into().unwrap());
                let new = match how {
                    Change::Set(value) => value,
                    Change::Flip(bit) => old ^ bit,
                    Change::Add(value) => old.wrapping_add(value),
                };
                bytes.copy_from_slice(&new.to_le_bytes());
            }
            execute(&input);
            Ok(())
        })
        .unwrap();
}

/// A change of the manifest's text.
#[derive(Debug, Clone)]
enum Edit {
    /// Replace a byte.
    Byte(u8),
    /// Remove bytes.
    Cut(usize),
    /// Insert text.
    Insert(&'static str),
    /// Replace the next number.
    Number(&'static str),
}

fn edit() -> impl Strategy<Value = (prop::sample::Index, Edit)> {
    let number = prop::sample::select(vec![
        "0",
        "-1",
        "1",
        "4095",
        "4096",
        "65536",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "1e30",
        "null",
        "\"0xffffffffffff\"",
        "\"0x\"",
        "[]",
    ]);
    let text =
        prop::sample::select(vec!["{", "}", "[", "]", ",", "\"", "\\", "0", "null", "\u{e9}"]);
    let how = prop_oneof![
        any::<u8>().prop_map(Edit::Byte),
        (1usize..200).prop_map(Edit::Cut),
        text.prop_map(Edit::Insert),
        number.prop_map(Edit::Number),
    ];
    (any::<prop::sample::Index>(), how)
}

fn apply(text: &mut Vec<u8>, place: prop::sample::Index, edit: &Edit) {
    let at = place.index(text.len().max(1)).min(text.len());
    match edit {
        Edit::Byte(byte) => {
            if let Some(old) = text.get_mut(at) {
                *old = *byte;
            }
        }
        Edit::Cut(length) => {
            text.drain(at..(at + length).min(text.len()));
        }
        Edit::Insert(new) => {
            text.splice(at..at, new.bytes());
        }
        Edit::Number(new) => {
            let rest = &text[at..];
            let Some(start) = rest.iter().position(u8::is_ascii_digit) else { return };
            let length = rest[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            text.splice(at + start..at + start + length, new.bytes());
        }
    }
}

/// Opens the capture, if it is valid, and runs it to its end or to the first submission that fails.
fn replay(directory: &Path) {
    let start = Instant::now();
    if let Ok(capture) = Capture::open(directory) {
        let mut replay = Replay::new(&capture);
        replay.gpu().set_work_limit(WORK);
        while let Some(step) = replay.step() {
            if matches!(step, Step::Exec { result: Err(_), .. }) {
                break;
            }
        }
    }
    assert!(start.elapsed() < TIME_LIMIT, "{:?}", start.elapsed());
}

#[test]
fn mutated_manifests() {
    let place = tempfile::tempdir().unwrap();
    let mut sources: Vec<PathBuf> = Vec::new();
    for (index, input) in own_inputs().into_iter().enumerate() {
        let mut writer = CaptureWriter::new(&input.name);
        let names: Vec<_> = (0..input.buffers.len()).map(|n| format!("b{n}")).collect();
        let objects: Vec<_> = names
            .iter()
            .zip(&input.buffers)
            .map(|(name, (address, bytes))| {
                genxml::capture::WriteObject::new(name, *address, bytes.len() as u64, bytes)
            })
            .collect();
        writer.exec(1, input.engine, input.batch_address, input.batch_length, &objects);
        let (_, last) = input.buffers.last().unwrap();
        writer.expect("last", names.last().unwrap(), 0, last, &[(0, 16)], Compare::Exact);
        writer.free(&names[0]);
        let directory = place.path().join(format!("own{index}"));
        writer.finish(&directory).unwrap();
        sources.push(directory);
    }
    sources.extend(captures());
    let texts: Vec<_> =
        sources.iter().map(|source| fs::read(source.join("manifest.json")).unwrap()).collect();
    let scratch: Vec<_> =
        (0..sources.len()).map(|n| place.path().join(format!("scratch{n}"))).collect();
    for (source, scratch) in sources.iter().zip(&scratch) {
        fs::create_dir(scratch).unwrap();
        fs::copy(source.join("data.bin.zst"), scratch.join("data.bin.zst")).unwrap();
    }
    let strategy = (0..sources.len(), prop::collection::vec(edit(), 1..4));
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |(which, edits)| {
            let mut text = texts[which].clone();
            for (place, edit) in &edits {
                apply(&mut text, *place, edit);
            }
            fs::write(scratch[which].join("manifest.json"), text).unwrap();
            replay(&scratch[which]);
            Ok(())
        })
        .unwrap();
}
