//! Media threads that run while the command streamer continues: packets wait for threads, and
//! threads wait for free slots.

use super::DATA;
use genxml::core::S;
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::media::{
    MediaObject, MediaObjectGrpid, MediaObjectThreadSynchronization as Synchronization,
    MediaObjectWalker, MediaObjectWalkerThreadSynchronization as WalkerSynchronization,
    MediaVfeState,
};
use genxml::gen8::mi::{
    MiBatchBufferEnd, MiSemaphoreWait, MiSemaphoreWaitCompareOperation, MiSemaphoreWaitWaitMode,
    MiStoreDataImm,
};
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize as Size,
};
use genxml_cases::{BATCH, Media, Model, at, push, raw_buffer, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;

const END: &[u32] = &eu! {
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

fn wait(value: u64) -> MiSemaphoreWait {
    MiSemaphoreWait {
        wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
        compare_operation: MiSemaphoreWaitCompareOperation::SAD_EQUAL_SDD,
        semaphore_data_dword: u(value),
        semaphore_address: at(DATA + 32),
        ..MiSemaphoreWait::new()
    }
}

fn store(address: u64, data: &[genxml::core::U<32>; 1]) -> MiStoreDataImm<'_> {
    MiStoreDataImm { data_dword: data.into(), ..MiStoreDataImm::new(at(address)) }
}

/// While the streamer waits for a semaphore, the thread that writes it runs to its end, even if it
/// runs long. The wait deadlocks only if the thread has ended and the value is wrong.
#[test]
fn a_semaphore_that_a_long_thread_writes() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (1|M0)   r10.0<1>:d  700000:d
      loop:
        (W) add (1|M0) (ne)f0.0  r10.0<1>:d  r10.0<0;1,0>:d  -1:d
        (W&f0.0) jmpi    loop
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) mov (1|M0)   r126.2<1>:ud  2:ud
        (W) mov (8|M0)   r127.0<1>:ud  7:ud
        (W) send (8|M0)  null  r126  0xA  0x040a0200
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    for (value, passes) in [(7, true), (8, false)] {
        let mut model = Model::new();
        model.map(DATA, 4096);
        let media = Media { surfaces: vec![raw_buffer(DATA, 4096)], ..Media::new(KERNEL) };
        let mut batch = media.state(&mut model);
        push(&mut batch, &MediaObject::new());
        push(&mut batch, &wait(value));
        push(&mut batch, &store(DATA + 64, &[u(1)]));
        let result = model.render(&batch);
        assert_eq!(model.get(DATA + 64, 1)[0], u32::from(passes));
        match result {
            Ok(stats) => assert!(passes && stats.threads == 1),
            Err(fault) => assert!(!passes && matches!(fault, Fault::Deadlock { .. }), "{fault}"),
        }
    }
}

/// The thread polls what another engine writes; the streamer polls what the thread then writes.
#[test]
fn a_thread_that_waits_for_another_engine() {
    const KERNEL: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
     poll: (W) send (8|M0)  r127  r126  0xA  0x02180200
           (W) cmp (1|M0) (eq)f0.0  null<1>:ud  r127.0<0;1,0>:ud  0:ud
           (W&f0.0) jmpi    poll
           (W) mov (1|M0)   r126.2<1>:ud  2:ud
           (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = Model::new();
    model.map(DATA, 4096);
    let media = Media { surfaces: vec![raw_buffer(DATA, 4096)], ..Media::new(KERNEL) };
    let mut batch = media.state(&mut model);
    push(&mut batch, &MediaObject::new());
    push(&mut batch, &wait(9));
    push(&mut batch, &MiBatchBufferEnd::new());
    let mut other = Vec::new();
    push(&mut other, &store(DATA, &[u(9)]));
    push(&mut other, &MiBatchBufferEnd::new());
    model.put(BATCH, &batch);
    model.put(BATCH + 0x8000, &other);
    model.gpu.enqueue(model.context, EngineId::Render, BATCH, 0);
    model.gpu.enqueue(model.context, EngineId::Blitter, BATCH + 0x8000, 0);
    assert_eq!(model.gpu.run().unwrap().threads, 1);
    assert_eq!(model.get(DATA + 32, 1), [9]);
}

fn walker(width: u64, height: u64) -> MediaObjectWalker<'static> {
    MediaObjectWalker {
        local_loop_exec_count: u(0x3ff),
        local_outer_loop_stride_y: S::new(1).unwrap(),
        local_inner_loop_unit_x: S::new(1).unwrap(),
        block_resolution_x: u(width),
        block_resolution_y: u(height),
        global_resolution_x: u(width),
        global_resolution_y: u(height),
        global_outer_loop_stride_y: S::new(height as i64).unwrap(),
        global_inner_loop_unit_x: S::new(width as i64).unwrap(),
        ..MediaObjectWalker::new()
    }
}

/// A walk of four million threads that wait for a message that nobody sends: the model reports it
/// after some threads have queued.
#[test]
fn a_walk_that_cannot_start() {
    let mut model = Model::new();
    let mut batch = Media::new(END).state(&mut model);
    let synchronized =
        WalkerSynchronization::from_bits(Synchronization::NO_THREAD_SYNCHRONIZATION.bits() ^ 1);
    let walker = MediaObjectWalker {
        thread_synchronization: synchronized,
        color_count_minus_one: u(15),
        ..walker(511, 511)
    };
    push(&mut batch, &walker);
    let fault = model.render(&batch).unwrap_err();
    assert!(
        matches!(&fault, Fault::Stuck { group, .. } if group.contains("no thread has sent")),
        "{fault}"
    );
}

/// More threads than the queue holds, all of them long, and few slots: all of them end.
#[test]
fn a_walk_with_little_room() {
    const LONG: &[u32] = &eu! {
        (W) mov (1|M0)   r10.0<1>:d  2500:d
      loop:
        (W) add (1|M0) (ne)f0.0  r10.0<1>:d  r10.0<0;1,0>:d  -1:d
        (W&f0.0) jmpi    loop
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = Model::new();
    let media = Media::new(LONG);
    let vfe = MediaVfeState { maximum_number_of_threads: MinusOne::new(3).unwrap(), ..media.vfe };
    let mut batch = Media { vfe, ..media }.state(&mut model);
    push(&mut batch, &walker(40, 10));
    assert_eq!(model.render(&batch).unwrap().threads, 400);
}

/// Sixteen unfinished groups use all barriers. A group that has only shared memory needs no
/// barrier.
#[test]
fn groups_without_a_barrier() {
    let with = InterfaceDescriptorData {
        barrier_enable: true,
        number_of_threads_in_gpgpu_thread_group: u(2),
        ..InterfaceDescriptorData::new()
    };
    let without = InterfaceDescriptorData {
        shared_local_memory_size: Size::from_bits(1),
        number_of_threads_in_gpgpu_thread_group: u(2),
        ..InterfaceDescriptorData::new()
    };
    let run = |last: u64| {
        let mut model = Model::new();
        let media =
            Media { kernels: vec![END, END], descriptors: vec![with, without], ..Media::new(END) };
        let mut batch = media.state(&mut model);
        for group in 0..17 {
            let object = MediaObjectGrpid {
                interface_descriptor_offset: u(if group == 16 { last } else { 0 }),
                group_id: u(group),
                ..MediaObjectGrpid::new()
            };
            push(&mut batch, &object);
        }
        model.render(&batch)
    };
    assert_eq!(run(1).unwrap().threads, 17);
    let fault = run(0).unwrap_err();
    assert!(
        matches!(&fault, Fault::Stuck { group, .. } if group.contains("no barrier")),
        "{fault}"
    );
}
