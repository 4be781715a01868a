//! Groups that use the same atomic counter, and groups with barriers and shared local memory.

use super::{BYTES, DATA, TWENTY, alike};
use genxml::eu;
use genxml::gen8::media::GpgpuWalkerSimdSize;
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize as Size,
};
use genxml_cases::{Compute, raw_buffer, u};

/// Rounds of a loop before a group accesses memory. They make parallel execution worthwhile.
const ROUNDS: u32 = 60;

/// Every channel gets a number from one counter by an atomic addition with return, and writes it to
/// its own slot. Memory therefore shows the order of the groups. Oracle: counting, with groups and
/// channels in order.
#[test]
fn a_counter_of_all_groups() {
    const GROUPS: u32 = 512;
    const KERNEL: &[u32] = &eu! {
        (W) mov (1|M0)   r4.0<1>:d    r1.0<0;1,0>:d
     round:
        (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
        (W&f0.0) jmpi    round
            mov (16|M0)  r10.0<1>:ud  0:ud
            mov (16|M0)  r12.0<1>:ud  1:ud
            send (16|M0) r14  r10  0xC  0x0820a701            // add, with return, to the second buffer
        (W) mov (8|M0)   r20.0<1>:uw  0x76543210:uv
        (W) add (8|M0)   r20.8<1>:uw  r20.0<8;8,1>:uw  8:uw
            shl (16|M0)  r22.0<1>:ud  r20.0<16;16,1>:uw  2:ud
        (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  6:ud
            add (16|M0)  r22.0<1>:ud  r22.0<8;8,1>:ud  r3.0<0;1,0>:ud
            mov (16|M0)  r24.0<1>:ud  r14.0<8;8,1>:ud
            send (16|M0) null  r22  0xC  0x08025e00           // write to the first buffer
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    const COUNTER: u64 = BYTES - 64;
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, COUNTER), raw_buffer(DATA + COUNTER, 64)],
        curbe: [ROUNDS; 8].iter().flat_map(|dword| dword.to_le_bytes()).collect(),
        shared: 1,
        simd: GpgpuWalkerSimdSize::SIMD16,
        groups: [GROUPS.into(), 1, 1],
        ..Compute::new(KERNEL)
    };
    let (one, _, repeated) = alike(&compute, TWENTY, |_| {});
    // The harness fills memory with increasing dwords, so this is the counter's first value.
    let first = (COUNTER / 4) as u32;
    let expected: Vec<u32> = (0..16 * GROUPS).map(|number| first + number).collect();
    assert!(one.memory[..expected.len()] == expected, "{:?}", &one.memory[..32]);
    assert_eq!(one.memory[first as usize], first + 16 * GROUPS);
    assert!(repeated > 0, "no group ran again, although all groups share a counter");
}

/// Groups of four threads pass numbers on through shared local memory and a barrier. Oracle:
/// channel `c` of thread `t` gets the number of the same channel of thread `t + 1`, plus 100 times
/// the group's number.
#[test]
fn groups_with_barriers() {
    const GROUPS: u32 = 400;
    const KERNEL: &[u32] = &eu! {
        (W) mov (1|M0)   r4.0<1>:d    r1.0<0;1,0>:d
     round:
        (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
        (W&f0.0) jmpi    round
        (W) mul (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  100:ud
            add (8|M0)   r7.0<1>:ud   r2.0<8;8,1>:ud  r3.0<0;1,0>:ud
            shl (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud  2:ud
            send (8|M0)  null  r6  0xC  0x04026efe            // own numbers to shared memory
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
            add (8|M0)   r8.0<1>:ud   r6.0<8;8,1>:ud  32:ud
            and (8|M0)   r8.0<1>:ud   r8.0<8;8,1>:ud  127:ud
            send (8|M0)  r9  r8  0xC  0x02106efe              // those of the next thread
        (W) shl (1|M0)   r3.1<1>:ud   r0.1<0;1,0>:ud  7:ud
            add (8|M0)   r12.0<1>:ud  r6.0<8;8,1>:ud  r3.1<0;1,0>:ud
            mov (8|M0)   r13.0<1>:ud  r9.0<8;8,1>:ud
            send (8|M0)  null  r12  0xC  0x04026e00
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let shared = [ROUNDS; 8];
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, BYTES)],
        curbe: shared.into_iter().chain(0..32).flat_map(u32::to_le_bytes).collect(),
        shared: 1,
        threads: 4,
        groups: [GROUPS.into(), 1, 1],
        descriptor: InterfaceDescriptorData {
            barrier_enable: true,
            shared_local_memory_size: Size::from_bits(1),
            number_of_threads_in_gpgpu_thread_group: u(4),
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(KERNEL)
    };
    let (one, kept, repeated) = alike(&compute, TWENTY, |_| {});
    let expected: Vec<u32> =
        (0..GROUPS).flat_map(|group| (0..32).map(move |n| 100 * group + (n + 8) % 32)).collect();
    assert!(one.memory[..expected.len()] == expected, "{:?}", &one.memory[..40]);
    assert!(kept >= 4 && repeated == 0, "{kept} {repeated}");
}
