//! Programs with shared local memory, barriers and scratch space. Oracle: plain loops over the same
//! numbers.

use super::DATA;
use genxml::eu;
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize as Size,
};
use genxml_cases::{Compute, Model, Random, SCRATCH, at, raw_buffer, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;

const OUT: u64 = DATA + 0x8000;

/// A group of 8 threads of 8 channels, with 4 KiB of shared memory and local ids in r1. Kernels
/// read the first buffer and write the second one.
fn group(kernel: &[u32]) -> Compute<'_> {
    Compute {
        surfaces: vec![raw_buffer(DATA, 0x8000), raw_buffer(OUT, 0x8000)],
        curbe: (0..64u32).flat_map(u32::to_le_bytes).collect(),
        threads: 8,
        descriptor: InterfaceDescriptorData {
            barrier_enable: true,
            shared_local_memory_size: Size::from_bits(1),
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(kernel)
    }
}

fn model() -> Model {
    let mut model = Model::new();
    model.gpu.set_work_limit(1 << 30);
    model.map(DATA, 0x1_0000);
    model
}

/// The first `results` dwords of the second buffer, after `groups` groups have run.
fn results(kernel: &[u32], groups: [u64; 3], numbers: &[u32], results: usize) -> Vec<u32> {
    let mut model = model();
    model.put(DATA, numbers);
    Compute { groups, ..group(kernel) }.run(&mut model).unwrap();
    model.get(OUT, results)
}

/// Counters of performance reports. Each of the 8 threads of a group reads and writes a buffer; it
/// reads, writes and increments shared memory; and it waits at a barrier. Each message counts one
/// (Broadwell vol 14 p.11-13).
#[test]
fn observed() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
            shl (8|M0)   r2.0<1>:ud   r1.0<8;8,1>:ud  2:ud
            send (8|M0)  r7  r2  0xC  0x02106e00              // read from the buffer
            mov (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud
            send (8|M0)  null  r6  0xC  0x04026efe            // write to shared memory
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
            send (8|M0)  r9  r2  0xC  0x02106efe              // read from shared memory
            send (8|M0)  null  r2  0xC  0x020095fe            // increment shared memory
            mov (8|M0)   r8.0<1>:ud   r2.0<8;8,1>:ud
            send (8|M0)  null  r8  0xC  0x04026e01            // write to the second buffer
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let numbers = Random::new(2).dwords(64);
    // With 3000 groups there is enough work for several host threads.
    for (groups, host_threads) in [(12, 1), (3000, 1), (3000, 3)] {
        let mut model = model();
        model.gpu.set_threads(host_threads);
        model.put(DATA, &numbers);
        let before = model.counters();
        let stats = Compute { groups: [groups, 1, 1], ..group(KERNEL) }.run(&mut model).unwrap();
        let after = model.counters();
        assert_eq!(model.get(OUT, 64), numbers);
        assert_eq!(stats.threads, 8 * groups);
        let mut expected = [0; 36];
        // In order: threads; reads and writes of shared memory, where the increment counts as both;
        // messages to buffers; atomics; barriers.
        for (counter, each) in [(4, 1), (30, 2), (31, 2), (32, 2), (34, 1), (35, 1)] {
            expected[counter] = 8 * groups * each;
        }
        for counter in 1..36 {
            let more = after[counter] - before[counter];
            assert_eq!(more, expected[counter], "A{counter}, {groups} groups, {host_threads}");
        }
    }
}

/// The sum of 64 numbers by repeated halving, for each of 12 groups.
#[test]
fn reduction() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
            shl (8|M0)   r2.0<1>:ud   r1.0<8;8,1>:ud  2:ud
        (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  8:ud
            add (8|M0)   r4.0<1>:ud   r2.0<8;8,1>:ud  r3.0<0;1,0>:ud
            send (8|M0)  r7  r4  0xC  0x02106e00              // read from the buffer
            mov (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud
            send (8|M0)  null  r6  0xC  0x04026efe            // write to shared memory
        (W) mov (1|M0)   r20.0<1>:ud  32:ud
      halve:
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
            cmp (8|M0) (lt)f0.0  null<1>:ud  r1.0<8;8,1>:ud  r20.0<0;1,0>:ud
        (W) shl (1|M0)   r20.1<1>:ud  r20.0<0;1,0>:ud  2:ud
            add (8|M0)   r8.0<1>:ud   r2.0<8;8,1>:ud  r20.1<0;1,0>:ud
        (f0.0) send (8|M0)  r9  r8  0xC  0x02106efe
        (f0.0) send (8|M0)  r11  r2  0xC  0x02106efe
        (f0.0) add (8|M0)   r7.0<1>:ud  r9.0<8;8,1>:ud  r11.0<8;8,1>:ud
        (f0.0) send (8|M0)  null  r6  0xC  0x04026efe
        (W) shr (1|M0) (ne)f1.0  r20.0<1>:ud  r20.0<0;1,0>:ud  1:ud
        (W&f1.0) jmpi    halve
            cmp (8|M0) (eq)f0.0  null<1>:ud  r1.0<8;8,1>:ud  0:ud
        (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  2:ud
            mov (8|M0)   r6.0<1>:ud   r3.0<0;1,0>:ud
        (f0.0) send (8|M0)  null  r6  0xC  0x04026e01         // write to the second buffer
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let numbers = Random::new(1).dwords(12 * 64);
    let expected: Vec<u32> = numbers
        .chunks(64)
        .map(|group| group.iter().fold(0, |sum: u32, n| sum.wrapping_add(*n)))
        .collect();
    assert_eq!(results(KERNEL, [12, 1, 1], &numbers, 12), expected);
}

/// Prefix sums, by doubling distances.
#[test]
fn prefix_sum() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
            shl (8|M0)   r6.0<1>:ud   r1.0<8;8,1>:ud  2:ud
        (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  8:ud
            add (8|M0)   r4.0<1>:ud   r6.0<8;8,1>:ud  r3.0<0;1,0>:ud
            send (8|M0)  r7  r4  0xC  0x02106e00
        (W) mov (1|M0)   r20.0<1>:ud  1:ud
      double:
            send (8|M0)  null  r6  0xC  0x04026efe
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
            cmp (8|M0) (ge)f0.0  null<1>:ud  r1.0<8;8,1>:ud  r20.0<0;1,0>:ud
        (W) shl (1|M0)   r20.1<1>:ud  r20.0<0;1,0>:ud  2:ud
            add (8|M0)   r8.0<1>:ud   r6.0<8;8,1>:ud  -r20.1<0;1,0>:ud
        (f0.0) send (8|M0)  r9  r8  0xC  0x02106efe
        (f0.0) add (8|M0)   r7.0<1>:ud  r7.0<8;8,1>:ud  r9.0<8;8,1>:ud
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) shl (1|M0)   r20.0<1>:ud  r20.0<0;1,0>:ud  1:ud
        (W) cmp (1|M0) (lt)f1.0  null<1>:ud  r20.0<0;1,0>:ud  64:ud
        (W&f1.0) jmpi    double
            mov (8|M0)   r6.0<1>:ud   r4.0<8;8,1>:ud
            send (8|M0)  null  r6  0xC  0x04026e01
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let numbers = Random::new(2).dwords(5 * 64);
    let mut expected = Vec::new();
    for group in numbers.chunks(64) {
        let mut sum = 0u32;
        expected.extend(group.iter().map(|n| {
            sum = sum.wrapping_add(*n);
            sum
        }));
    }
    assert_eq!(results(KERNEL, [5, 1, 1], &numbers, 5 * 64), expected);
}

/// The product of two matrices of 16 x 16 floats in tiles of 8 x 8. Each thread has a row of a
/// tile.
#[test]
fn matrix_product() {
    // r1: 8 times the row plus the column. Shared memory: a tile of the first matrix, then one of
    // the second.
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
            and (8|M0)   r2.0<1>:ud   r1.0<8;8,1>:ud  7:ud          // column in the tile
            shr (8|M0)   r3.0<1>:ud   r1.0<8;8,1>:ud  3:ud          // row in the tile
            shl (8|M0)   r30.0<1>:ud  r1.0<8;8,1>:ud  2:ud          // offset in shared memory
        (W) shl (1|M0)   r21.0<1>:ud  r0.1<0;1,0>:ud  3:ud          // first column of the tile
        (W) shl (1|M0)   r21.1<1>:ud  r0.6<0;1,0>:ud  3:ud          // first row of the tile
            mov (8|M0)   r40.0<1>:f   0:f
        (W) mov (1|M0)   r20.0<1>:ud  0:ud                          // first of eight terms
      tile:
            add (8|M0)   r4.0<1>:ud   r3.0<8;8,1>:ud  r21.1<0;1,0>:ud
            shl (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  4:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  r2.0<8;8,1>:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  r20.0<0;1,0>:ud
            shl (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  2:ud
            send (8|M0)  r31  r4  0xC  0x02106e00
            add (8|M0)   r4.0<1>:ud   r3.0<8;8,1>:ud  r20.0<0;1,0>:ud
            shl (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  4:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  r2.0<8;8,1>:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  r21.0<0;1,0>:ud
            shl (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  2:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  1024:ud
            send (8|M0)  r33  r4  0xC  0x02106e00
            add (8|M0)   r32.0<1>:ud  r30.0<8;8,1>:ud  256:ud
            send (8|M0)  null  r30  0xC  0x04026efe
            send (8|M0)  null  r32  0xC  0x04026efe
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
            shl (8|M0)   r5.0<1>:ud   r3.0<8;8,1>:ud  5:ud          // the row of the first tile
            shl (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud  2:ud          // column of the second tile
            add (8|M0)   r6.0<1>:ud   r6.0<8;8,1>:ud  256:ud
        (W) mov (1|M0)   r20.1<1>:ud  8:ud
      term:
            send (8|M0)  r34  r5  0xC  0x02106efe
            send (8|M0)  r35  r6  0xC  0x02106efe
            mul (8|M0)   r36.0<1>:f   r34.0<8;8,1>:f  r35.0<8;8,1>:f
            add (8|M0)   r40.0<1>:f   r40.0<8;8,1>:f  r36.0<8;8,1>:f
            add (8|M0)   r5.0<1>:ud   r5.0<8;8,1>:ud  4:ud
            add (8|M0)   r6.0<1>:ud   r6.0<8;8,1>:ud  32:ud
        (W) add (1|M0) (ne)f0.0  r20.1<1>:d  r20.1<0;1,0>:d  -1:d
        (W&f0.0) jmpi    term
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) add (1|M0)   r20.0<1>:ud  r20.0<0;1,0>:ud  8:ud
        (W) cmp (1|M0) (lt)f0.0  null<1>:ud  r20.0<0;1,0>:ud  16:ud
        (W&f0.0) jmpi    tile
            add (8|M0)   r39.0<1>:ud  r3.0<8;8,1>:ud  r21.1<0;1,0>:ud
            shl (8|M0)   r39.0<1>:ud  r39.0<8;8,1>:ud  4:ud
            add (8|M0)   r39.0<1>:ud  r39.0<8;8,1>:ud  r2.0<8;8,1>:ud
            add (8|M0)   r39.0<1>:ud  r39.0<8;8,1>:ud  r21.0<0;1,0>:ud
            shl (8|M0)   r39.0<1>:ud  r39.0<8;8,1>:ud  2:ud
            send (8|M0)  null  r39  0xC  0x04026e01
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    // Small whole numbers, so that no order of additions rounds.
    let numbers: Vec<f32> =
        Random::new(3).dwords(512).iter().map(|n| (n % 16) as f32 - 8.0).collect();
    let (a, b) = numbers.split_at(256);
    let expected: Vec<u32> = (0..256)
        .map(|n| {
            let (row, column) = (n / 16, n % 16);
            (0..16).map(|k| a[16 * row + k] * b[16 * k + column]).sum::<f32>().to_bits()
        })
        .collect();
    assert_eq!(results(KERNEL, [2, 2, 1], bytemuck::cast_slice(&numbers), 256), expected);
}

/// A histogram of 16 values: groups count in shared memory, then add the counts to the buffer.
#[test]
fn histogram() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
            shl (8|M0)   r2.0<1>:ud   r1.0<8;8,1>:ud  2:ud
            mov (8|M0)   r3.0<1>:ud   0:ud
            cmp (8|M0) (lt)f0.0  null<1>:ud  r1.0<8;8,1>:ud  16:ud
        (f0.0) send (8|M0)  null  r2  0xC  0x04026efe           // zero the counts
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) shl (1|M0)   r20.0<1>:ud  r0.1<0;1,0>:ud  8:ud
            add (8|M0)   r4.0<1>:ud   r2.0<8;8,1>:ud  r20.0<0;1,0>:ud
            send (8|M0)  r5  r4  0xC  0x02106e00
            and (8|M0)   r6.0<1>:ud   r5.0<8;8,1>:ud  15:ud
            shl (8|M0)   r6.0<1>:ud   r6.0<8;8,1>:ud  2:ud
            mov (8|M0)   r7.0<1>:ud   1:ud
            send (8|M0)  null  r6  0xC  0x040097fe              // add in shared memory
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
            mov (8|M0)   r8.0<1>:ud   r2.0<8;8,1>:ud
        (f0.0) send (8|M0)  r9  r2  0xC  0x02106efe
        (f0.0) send (8|M0)  null  r8  0xC  0x04009701           // add in the buffer
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let numbers = Random::new(4).dwords(20 * 64);
    let mut expected = [0; 16];
    for number in &numbers {
        expected[*number as usize % 16] += 1;
    }
    assert_eq!(results(KERNEL, [20, 1, 1], &numbers, 16), expected);
}

/// Shared memory is zero when a group starts, whatever the previous group left there (the model's
/// choice: assumptions::SHARED_LOCAL_MEMORY_FILL).
#[test]
fn shared_memory_is_not_handed_on() {
    const KERNEL: &[u32] = &eu! {
            shl (8|M0)   r2.0<1>:ud   r1.0<8;8,1>:ud  2:ud
            mov (8|M0)   r3.0<1>:ud   7:ud
            send (8|M0)  r5  r2  0xC  0x02106efe
            send (8|M0)  null  r2  0xC  0x04026efe
        (W) shl (1|M0)   r20.0<1>:ud  r0.1<0;1,0>:ud  8:ud
            add (8|M0)   r4.0<1>:ud   r2.0<8;8,1>:ud  r20.0<0;1,0>:ud
            add (8|M0)   r5.0<1>:ud   r5.0<8;8,1>:ud  1:ud
            send (8|M0)  null  r4  0xC  0x04026e01
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    assert_eq!(results(KERNEL, [3, 1, 1], &[], 3 * 64), [1; 3 * 64]);
}

/// All threads of a group write to scratch space at once, and read back their own values.
#[test]
fn scratch_spills() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
        (W) mov (8|M0)   r30.0<1>:ud  r0.0<8;8,1>:ud
            mov (8|M0)   r31.0<1>:ud  r1.0<8;8,1>:ud
        (W) send (8|M0)  null  r30  0xA  0x040e0003              // scratch block write: one register at hword 3
        (W) send (1|M0)  null  r10  0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) send (8|M0)  r5  r30  0xA  0x021c0003                // read it back
            shl (8|M0)   r4.0<1>:ud   r1.0<8;8,1>:ud  2:ud
        (W) shl (1|M0)   r20.0<1>:ud  r0.1<0;1,0>:ud  8:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  r20.0<0;1,0>:ud
            send (8|M0)  null  r4  0xC  0x04026e01
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = model();
    let vfe = MediaVfeState {
        scratch_space_base_pointer: at(SCRATCH),
        maximum_number_of_threads: MinusOne::new(56).unwrap(),
        number_of_urb_entries: u(2),
        ..MediaVfeState::new()
    };
    // One thread has no scratch slot, and the others wait for it at the barrier.
    let few = MediaVfeState { maximum_number_of_threads: MinusOne::new(7).unwrap(), ..vfe };
    let fault =
        Compute { groups: [3, 1, 1], vfe: few, ..group(KERNEL) }.run(&mut model).unwrap_err();
    assert!(matches!(&fault, Fault::Stuck { threads, .. } if threads.len() == 7), "{fault}");
    Compute { groups: [3, 1, 1], vfe, ..group(KERNEL) }.run(&mut model).unwrap();
    let expected: Vec<u32> = (0..3).flat_map(|_| 0..64).collect();
    assert_eq!(model.get(OUT, 3 * 64), expected);
    // The slots of the first group, 1 KiB each.
    for thread in 0..8u32 {
        let row: Vec<u32> = (8 * thread..8 * thread + 8).collect();
        assert_eq!(model.get(SCRATCH + 1024 * u64::from(thread) + 96, 8), row);
    }
}

/// Threads that run longer than one turn, and more threads than scratch slots: no two threads use
/// the same slot at the same time.
#[test]
fn scratch_slots_that_are_too_few() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r30.0<1>:ud  r0.0<8;8,1>:ud
            mov (8|M0)   r31.0<1>:ud  r1.0<8;8,1>:ud
        (W) send (8|M0)  null  r30  0xA  0x040e0003              // scratch block write: one register at hword 3
        (W) shl (1|M0)   r10.0<1>:d   r1.0<0;1,0>:d  8:d         // later threads run longer
        (W) add (1|M0)   r10.0<1>:d   r10.0<0;1,0>:d  3000:d
      loop:
        (W) add (1|M0) (ne)f0.0  r10.0<1>:d  r10.0<0;1,0>:d  -1:d
        (W&f0.0) jmpi    loop
        (W) send (8|M0)  r5  r30  0xA  0x021c0003                // read it back
            shl (8|M0)   r4.0<1>:ud   r1.0<8;8,1>:ud  2:ud
        (W) shl (1|M0)   r20.0<1>:ud  r0.1<0;1,0>:ud  8:ud
            add (8|M0)   r4.0<1>:ud   r4.0<8;8,1>:ud  r20.0<0;1,0>:ud
            send (8|M0)  null  r4  0xC  0x04026e01
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    for slots in [1, 3, 5, 8] {
        let mut model = model();
        let vfe = MediaVfeState {
            scratch_space_base_pointer: at(SCRATCH),
            maximum_number_of_threads: MinusOne::new(slots).unwrap(),
            ..MediaVfeState::new()
        };
        let descriptor = InterfaceDescriptorData::new();
        Compute { groups: [3, 1, 1], vfe, descriptor, ..group(KERNEL) }.run(&mut model).unwrap();
        let expected: Vec<u32> = (0..3).flat_map(|_| 0..64).collect();
        assert_eq!(model.get(OUT, 3 * 64), expected, "{slots} slots");
        assert_eq!(model.get(SCRATCH + 1024 * slots + 96, 8), [0; 8], "{slots} slots");
    }
}
