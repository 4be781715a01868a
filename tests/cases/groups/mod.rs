//! Tests of thread groups with barriers, and of threads that wait.

mod children;
mod gateway;
mod scoreboard;
mod shared;
mod urb;
mod waits;

use genxml::eu;
use genxml::gen8::state::InterfaceDescriptorData;
use genxml_cases::{Compute, Model, raw_buffer};
use genxml_sim::Fault;
use genxml_sim::machine::fault::Exception;

const DATA: u64 = 0x40_0000;

/// A register of constants for each thread of a group.
fn registers(rows: impl IntoIterator<Item = [u32; 8]>) -> Vec<u8> {
    rows.into_iter().flatten().flat_map(u32::to_le_bytes).collect()
}

/// A group of `threads` threads with a barrier and a buffer of 4 KiB.
fn group(kernel: &[u32], threads: u64, curbe: Vec<u8>) -> Compute<'_> {
    Compute {
        surfaces: vec![raw_buffer(DATA, 4096)],
        curbe,
        threads,
        descriptor: InterfaceDescriptorData {
            barrier_enable: true,
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(kernel)
    }
}

/// Each thread writes a number, waits at the barrier, and copies the number of the next thread. It
/// does this twice, with a barrier between. Oracle: a rotation.
#[test]
fn threads_see_what_others_wrote_before_the_barrier() {
    // r1: offset of the thread's slot, its number, offset of the neighbour's slot.
    const KERNEL: &[u32] = &eu! {
          (W) mov (8|M0)   r126.0<1>:ud  0:ud
          (W) mov (8|M0)   r10.0<1>:ud   0:ud
          (W) and (1|M0)   r10.2<1>:ud   r0.2<0;1,0>:ud  0x0f000000:ud
          (W) mov (8|M0)   r127.0<1>:ud  r1.1<0;1,0>:ud
          (W) mov (1|M0)   r20.0<1>:ud   2:ud
    again:
          (W) shl (1|M0)   r126.2<1>:ud  r1.0<0;1,0>:ud  1:ud
          (W) send (8|M0)  null  r126  0xA  0x040a0200      // two owords to binding table entry 0
          (W) send (1|M0)  null  r10   0x3  0x02000004      // report at the barrier
          (W) wait         n0.0<0;1,0>:ud
          (W) shl (1|M0)   r126.2<1>:ud  r1.2<0;1,0>:ud  1:ud
          (W) send (8|M0)  r127  r126  0xA  0x02180200      // two owords back
          (W) send (1|M0)  null  r10   0x3  0x02000004
          (W) wait         n0.0<0;1,0>:ud
          (W) add (1|M0) (ne)f0.0  r20.0<1>:d  r20.0<0;1,0>:d  -1:d
          (W&f0.0) jmpi    again
          (W) shl (1|M0)   r126.2<1>:ud  r1.0<0;1,0>:ud  1:ud
          (W) send (8|M0)  null  r126  0xA  0x040a0200
          (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
          (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
      };
    const THREADS: u32 = 13;
    let constants = registers((0..THREADS).map(|n| [n, 100 + n, (n + 1) % THREADS, 0, 0, 0, 0, 0]));
    let mut model = Model::new();
    model.map(DATA, 4096);
    // 20 groups, more than the sixteen barriers. All of them use the same memory.
    let compute = Compute { groups: [5, 2, 2], ..group(KERNEL, THREADS.into(), constants) };
    let stats = compute.run(&mut model).unwrap();
    assert_eq!(stats.threads, 20 * u64::from(THREADS));
    let expected: Vec<u32> = (0..THREADS).flat_map(|n| [100 + (n + 2) % THREADS; 8]).collect();
    assert_eq!(model.get(DATA, 8 * THREADS as usize), expected);
}

/// The last thread of a group never reports at the barrier. Oracle: the kernel, and the offsets of
/// its instructions.
#[test]
fn a_barrier_that_cannot_be_complete() {
    const KERNEL: &[u32] = &eu! {
          (W) cmp (1|M0) (eq)f0.0  null<1>:ud  r1.0<0;1,0>:ud  2:ud
          (W&f0.0) jmpi    end
          (W) mov (8|M0)   r10.0<1>:ud   0:ud
          (W) and (1|M0)   r10.2<1>:ud   r0.2<0;1,0>:ud  0x0f000000:ud
          (W) send (1|M0)  null  r10   0x3  0x02000004
          (W) wait         n0.0<0;1,0>:ud
    end:  (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
          (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
      };
    let mut model = Model::new();
    let constants = registers((0..3).map(|n| [n, 0, 0, 0, 0, 0, 0, 0]));
    let compute =
        Compute { surfaces: Vec::new(), groups: [2, 2, 1], ..group(KERNEL, 3, constants) };
    let fault = compute.run(&mut model).unwrap_err();
    let Fault::Stuck { group, threads, at } = &fault else { panic!("{fault}") };
    assert_eq!((group.as_ref(), at.packet), ("thread group (0, 0, 0)", "GPGPU_WALKER"));
    let waiting: Vec<_> = threads.iter().map(|waiting| (waiting.thread, waiting.eu.ip)).collect();
    assert_eq!(waiting, [(0, 0x50), (1, 0x50)]);
    assert!(fault.to_string().contains("2 of 3 threads have arrived"), "{fault}");
}

/// A barrier message without a barrier in the descriptor, and a message to the barrier of another
/// group.
#[test]
fn barriers_of_others() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud   0:ud
        (W) send (1|M0)  null  r10   0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = Model::new();
    let without = Compute::new(KERNEL);
    let fault = without.run(&mut model).unwrap_err();
    let Fault::IllegalInstruction { at, .. } = &fault else { panic!("{fault}") };
    assert_eq!(at.thread.map(|thread| thread.ip), Some(0x10));
    // The second group has another barrier than the first one.
    let with = Compute { surfaces: Vec::new(), groups: [2, 1, 1], ..group(KERNEL, 1, Vec::new()) };
    let fault = with.run(&mut model).unwrap_err();
    assert!(fault.to_string().contains("the group has barrier 1"), "{fault}");
}

/// A thread polls what a later thread of its group writes: both are running at the same time.
#[test]
fn a_thread_that_polls() {
    // r1: 0 for the thread that polls, 1 for the thread that writes.
    const KERNEL: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
           (W) mov (8|M0)   r127.0<1>:ud  7:ud
           (W) cmp (1|M0) (ne)f0.0  null<1>:ud  r1.0<0;1,0>:ud  0:ud
           (W&f0.0) jmpi    write
     poll: (W) send (8|M0)  r20  r126  0xA  0x02180200
           (W) cmp (1|M0) (eq)f0.0  null<1>:ud  r20.0<0;1,0>:ud  0:ud
           (W&f0.0) jmpi    poll
           (W) mov (1|M0)   r126.2<1>:ud  2:ud
    write: (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
       };
    let mut model = Model::new();
    model.map(DATA, 4096);
    let constants = registers([[0; 8], [1; 8]]);
    group(KERNEL, 2, constants).run(&mut model).unwrap();
    assert_eq!(model.get(DATA, 16), [7; 16]);
}

/// The fault of an endless loop names the position in the kernel.
#[test]
fn an_endless_loop() {
    const KERNEL: &[u32] = &eu! {
          (W) mov (8|M0)   r10.0<1>:ud  0:ud
    loop: (W) add (8|M0)   r10.0<1>:ud  r10.0<8;8,1>:ud  1:ud
          (W) jmpi         loop
      };
    let mut model = Model::new();
    model.gpu.set_work_limit(1 << 22);
    let fault = Compute::new(KERNEL).run(&mut model).unwrap_err();
    let Fault::Hang { at, .. } = &fault else { panic!("{fault}") };
    assert_eq!(at.packet, "GPGPU_WALKER");
    let eu = at.thread.unwrap();
    assert!(matches!(eu.ip, 0x10 | 0x20), "{fault}");
    assert_eq!(eu.kernel, genxml_cases::KERNELS);
}

/// Zeros between the parts of a kernel are illegal opcodes, which work as `nop` while their
/// exception is disabled (003:9342). One part has less than a page of zeros after it, another more.
#[test]
fn zeros_between_parts() {
    const FIRST: &[u32] = &eu! {
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) mov (8|M0)   r127.0<1>:ud  7:ud
    };
    const SECOND: &[u32] = &eu! {
        (W) send (8|M0)  null  r126  0xA  0x040a0200
    };
    const LAST: &[u32] = &eu! {
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut kernel = FIRST.to_vec();
    kernel.resize(64, 0);
    kernel.extend(SECOND);
    kernel.resize(4096, 0);
    kernel.extend(LAST);
    let mut compute = group(&kernel, 1, Vec::new());
    let mut model = Model::new();
    model.map(DATA, 4096);
    compute.run(&mut model).unwrap();
    assert_eq!(model.get(DATA, 10), [7, 7, 7, 7, 7, 7, 7, 7, 0, 0]);
    // With the illegal opcode exception enabled, the first zero after `FIRST` raises it.
    compute.descriptor.illegal_opcode_exception_enable = true;
    let fault = compute.run(&mut model).unwrap_err();
    let Fault::Exception { exception: Exception::IllegalOpcode, at } = &fault else {
        panic!("{fault}")
    };
    assert_eq!(at.thread.unwrap().ip as usize, 4 * FIRST.len());
}

/// A thread executes the zeros after its kernel as illegal opcodes. It stops with a fault at the
/// end of the mapped memory, or when it reaches the work limit.
#[test]
fn a_thread_in_zeros() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
    };
    let mut model = Model::new();
    let fault = Compute::new(KERNEL).run(&mut model).unwrap_err();
    let Fault::IllegalInstruction { at, .. } = &fault else { panic!("{fault}") };
    // The instruction memory of the model has 64 KiB.
    assert_eq!((at.packet, at.thread.unwrap().ip), ("GPGPU_WALKER", 64 << 10), "{fault}");
    assert!(fault.to_string().contains("instruction fetch"), "{fault}");
    model.gpu.set_work_limit(16_000);
    let fault = Compute::new(KERNEL).run(&mut model).unwrap_err();
    assert!(matches!(fault, Fault::Hang { .. }), "{fault}");
}
