//! Batches from the builder run on the GPU model: chained buffers, second-level calls, jumps over a
//! label, and the same after the buffers were moved.
//!
//! Oracle: stores in memory show the path of the command streamer.

use genxml::batch::{Arena, Batch, BatchError, Buffer, Label, Submission};
use genxml::core::{Address, U};
use genxml::engine::{Engine, Render};
use genxml::gen8::mi::{MiLoadRegisterImm, MiLoadRegisterImmRegister, MiStoreDataImm};
use genxml::pipeline::{InPipeline, Pipeline};
use genxml_sim::Gpu;

const TARGET: u64 = 0x100_0000;

/// Writes `value` to dword `index` of the target.
fn store<E: Engine, P: Pipeline>(
    batch: &mut Batch<E, P>,
    target: &Buffer,
    index: u64,
    value: u64,
) -> Result<(), BatchError>
where
    for<'a> MiStoreDataImm<'a>: genxml::engine::Command<E> + InPipeline<P>,
{
    let values = [U::new(value)?];
    let address = batch.writes(target, 4 * index)?;
    batch.emit(&MiStoreDataImm { data_dword: (&values).into(), ..MiStoreDataImm::new(address) })?;
    Ok(())
}

/// Stores in four chained buffers, two calls of a routine that contains a jump, a jump over a
/// store, and a jump to another batch and back.
fn submission() -> Result<Submission, BatchError> {
    let target = Buffer::new("target", TARGET, 0x10000)?;
    let routine = Batch::<Render>::new("routine", 0x20_0000, 4096)?.routine(|routine| {
        let end = routine.label();
        store(routine, &target, 0, 10)?;
        routine.jump(end)?;
        store(routine, &target, 0, 11)?;
        routine.bind(end)?;
        store(routine, &target, 1, 12)
    })?;
    let mut batch = Batch::<Render>::growing(Arena::new("batch", 0x10_0000, 0x10_0000, 4096))?;
    batch.call(&routine)?;
    store(&mut batch, &target, 2, 20)?;
    // A jump forward, over one store.
    let skip: Label<_> = batch.label();
    batch.jump(skip)?;
    store(&mut batch, &target, 3, 30)?;
    batch.bind(skip)?;
    store(&mut batch, &target, 4, 40)?;
    // A jump to another batch and back.
    let back = batch.label();
    let mut aside = Batch::<Render>::new("aside", 0x30_0000, 4096)?;
    let start = aside.here();
    store(&mut aside, &target, 5, 50)?;
    batch.jump_to(&aside.target(start)?)?;
    store(&mut batch, &target, 6, 60)?;
    batch.bind(back)?;
    aside.jump_to(&batch.target(back)?)?;
    // These stores fill more than three buffers.
    for index in 0..1000 {
        store(&mut batch, &target, 16 + index, 1000 + index)?;
    }
    batch.call(&routine)?;
    store(&mut batch, &target, 0, 70)?;
    let others: Vec<Buffer> =
        routine.into_buffers().chain([aside.finish()?.buffer, target]).collect();
    batch.finish()?.submit(others)
}

/// Runs the submission and returns the dwords of the target.
fn run(submission: &Submission) -> Vec<u32> {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    for buffer in &submission.buffers {
        gpu.load(context, buffer.address(), buffer.bytes()).unwrap();
    }
    let Submission { engine, batch_address, batch_length, .. } = *submission;
    gpu.submit(context, engine, batch_address, batch_length).unwrap();
    let target = submission.buffers.iter().find(|buffer| buffer.name() == "target").unwrap();
    (0..0x4000)
        .map(|index| gpu.vm(context).read_u32(target.address() + 4 * index).unwrap())
        .collect()
}

fn expected() -> Vec<u32> {
    let mut expected = vec![0; 0x4000];
    expected[..7].copy_from_slice(&[70, 12, 20, 0, 40, 50, 0]);
    for index in 0..1000 {
        expected[16 + index] = 1000 + index as u32;
    }
    expected
}

#[test]
fn chains_calls_and_jumps_go_where_they_should() {
    let submission = submission().unwrap();
    // 1000 stores of 16 bytes do not fit three buffers of 4096.
    assert!(submission.buffers.len() >= 4 + 3, "{}", submission.buffers.len());
    assert!(run(&submission) == expected());
}

#[test]
fn moved_batches_run_as_before() {
    let mut moved = submission().unwrap();
    let places: Vec<u64> =
        (1..=moved.buffers.len() as u64).map(|n| n * 0x7_1234_0000).rev().collect();
    moved.relocate(&places).unwrap();
    assert!(run(&moved) == expected());
}

/// The predicate decides whether a conditional jump is taken.
#[test]
fn predicated_jumps() {
    const MI_PREDICATE_RESULT: u64 = 0x2418;
    for taken in [false, true] {
        let target = Buffer::new("target", TARGET, 0x10000).unwrap();
        let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096).unwrap();
        let registers = [MiLoadRegisterImmRegister {
            register_offset: Address::new(MI_PREDICATE_RESULT).unwrap(),
            data_dword: U::new(taken.into()).unwrap(),
        }];
        batch
            .emit(&MiLoadRegisterImm { register: (&registers).into(), ..MiLoadRegisterImm::new() })
            .unwrap();
        let end = batch.label();
        batch.jump_if(end).unwrap();
        store(&mut batch, &target, 0, 1).unwrap();
        batch.bind(end).unwrap();
        store(&mut batch, &target, 1, 2).unwrap();
        let submission = batch.finish().unwrap().submit([target]).unwrap();
        assert_eq!(run(&submission)[..2], [u32::from(!taken), 2]);
    }
}
