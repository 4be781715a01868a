//! Tests of thread groups on several host threads. Memory, counts and faults must equal those of
//! groups that run one after the other, whatever the kernels do.

mod atomics;
mod memory;

use genxml::eu;
use genxml_cases::{Compute, Model, raw_buffer};
use genxml_sim::mem::Frames;
use genxml_sim::{Fault, Stats};

const DATA: u64 = 0x40_0000;
/// Number of mapped slots of 32 bytes.
const SLOTS: u32 = 2048;
const BYTES: u64 = 32 * SLOTS as u64;
const GROUPS: u32 = 2048;

/// Each group reads a slot, computes, and writes a slot. Selected groups use other slots.
///
/// r1.0 to r1.2: factor, summand and mask for the number of the slot to read. r1.3 to r1.5: the
/// same for the slot to write. If the group's number masked with r1.6 equals r1.7, the slots are
/// r2.0 and r2.1 instead. r2.2: number of rounds, each with factor r2.3 and summand r2.4.
const KERNEL: &[u32] = &eu! {
       (W) mov (8|M0)   r126.0<1>:ud  0:ud
       (W) mul (1|M0)   r3.0<1>:ud    r0.1<0;1,0>:ud  r1.0<0;1,0>:ud
       (W) add (1|M0)   r3.0<1>:ud    r3.0<0;1,0>:ud  r1.1<0;1,0>:ud
       (W) and (1|M0)   r3.0<1>:ud    r3.0<0;1,0>:ud  r1.2<0;1,0>:ud
       (W) mul (1|M0)   r3.1<1>:ud    r0.1<0;1,0>:ud  r1.3<0;1,0>:ud
       (W) add (1|M0)   r3.1<1>:ud    r3.1<0;1,0>:ud  r1.4<0;1,0>:ud
       (W) and (1|M0)   r3.1<1>:ud    r3.1<0;1,0>:ud  r1.5<0;1,0>:ud
       (W) and (1|M0)   r3.2<1>:ud    r0.1<0;1,0>:ud  r1.6<0;1,0>:ud
       (W) cmp (1|M0) (eq)f0.0  null<1>:ud  r3.2<0;1,0>:ud  r1.7<0;1,0>:ud
       (W&f0.0) mov (1|M0)  r3.0<1>:ud  r2.0<0;1,0>:ud
       (W&f0.0) mov (1|M0)  r3.1<1>:ud  r2.1<0;1,0>:ud
       (W) shl (1|M0)   r126.2<1>:ud  r3.0<0;1,0>:ud  1:ud
       (W) send (8|M0)  r127  r126  0xA  0x02180200      // two owords of binding table entry 0
       (W) mov (1|M0)   r4.0<1>:d     r2.2<0;1,0>:d
 round:
       (W) mul (8|M0)   r127.0<1>:ud  r127.0<8;8,1>:ud  r2.3<0;1,0>:ud
       (W) add (8|M0)   r127.0<1>:ud  r127.0<8;8,1>:ud  r2.4<0;1,0>:ud
       (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
       (W&f0.0) jmpi    round
       (W) shl (1|M0)   r126.2<1>:ud  r3.1<0;1,0>:ud  1:ud
       (W) send (8|M0)  null  r126  0xA  0x040a0200      // two owords back
       (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
       (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// The constants of the kernel.
#[derive(Clone, Copy)]
struct Case {
    read: [u32; 3],
    write: [u32; 3],
    others: [u32; 2],
    other: [u32; 2],
    rounds: u32,
    factor: u32,
    summand: u32,
}

/// Groups without anything in common: each has its own slot.
const APART: Case = Case {
    read: [1, 0, !0],
    write: [1, 0, !0],
    others: [0, 1],
    other: [0; 2],
    rounds: 40,
    factor: 1_664_525,
    summand: 1_013_904_223,
};

impl Case {
    fn constants(&self) -> Vec<u8> {
        let Case { read, write, others, other, rounds, factor, summand } = *self;
        let rest = [other[0], other[1], rounds, factor, summand, 0, 0, 0];
        [&read[..], &write, &others, &rest]
            .concat()
            .iter()
            .flat_map(|dword| dword.to_le_bytes())
            .collect()
    }

    /// Does in plain Rust what the kernel does, one group after the other. Slot numbers wrap
    /// around.
    fn expected(&self, memory: &mut [[u32; 8]]) {
        for group in 0..GROUPS {
            let slot = |[factor, summand, mask]: [u32; 3]| {
                group.wrapping_mul(factor).wrapping_add(summand) & mask
            };
            let [read, write] = if group & self.others[0] == self.others[1] {
                self.other
            } else {
                [slot(self.read), slot(self.write)]
            };
            let mut value = memory[read as usize % SLOTS as usize];
            for _ in 0..self.rounds {
                value = value.map(|v| v.wrapping_mul(self.factor).wrapping_add(self.summand));
            }
            memory[write as usize % SLOTS as usize] = value;
        }
    }
}

/// The result of a run, and the state after it.
#[derive(PartialEq, Debug)]
struct Outcome {
    result: Result<Stats, Fault>,
    stats: Stats,
    memory: Vec<u32>,
    /// TIMESTAMP, read by the next batch.
    clock: u64,
    /// The counters of performance reports.
    counters: [u64; 36],
}

fn initial() -> Vec<[u32; 8]> {
    (0..SLOTS).map(|slot| std::array::from_fn(|n| slot * 8 + n as u32)).collect()
}

/// Runs `compute` on `threads` host threads. Also returns how many parts of the walk (runs of
/// consecutive groups) were committed, and how many were aborted and ran again.
fn run(compute: &Compute<'_>, threads: usize, prepare: impl Fn(&mut Model)) -> (Outcome, u64, u64) {
    let mut model = Model::new();
    model.map(DATA, BYTES);
    model.put(DATA, initial().as_flattened());
    prepare(&mut model);
    model.gpu.set_threads(threads);
    let result = compute.run(&mut model);
    let speculation = model.gpu.context(model.context).state.speculation;
    let stats = model.gpu.last_stats();
    let memory = model.get(DATA, BYTES as usize / 4);
    let clock = clock(&mut model);
    (
        Outcome { result, stats, memory, clock, counters: model.counters() },
        speculation.committed,
        speculation.aborted,
    )
}

/// TIMESTAMP after a run.
fn clock(model: &mut Model) -> u64 {
    use genxml::gen8::mi::MiStoreRegisterMem;
    let store = MiStoreRegisterMem {
        register_address: genxml_cases::at(0x2358),
        memory_address: genxml_cases::at(genxml_cases::SCRATCH),
        ..MiStoreRegisterMem::new()
    };
    model.gpu.set_work_limit(1 << 26);
    model.render(&genxml_cases::packets![store]).unwrap();
    model.get(genxml_cases::SCRATCH, 1)[0].into()
}

fn compute(constants: Vec<u8>) -> Compute<'static> {
    Compute {
        surfaces: vec![raw_buffer(DATA, 1 << 20)],
        curbe: constants,
        shared: 2,
        groups: [GROUPS.into(), 1, 1],
        ..Compute::new(KERNEL)
    }
}

/// Numbers of host threads for tests that need many runs.
const TWENTY: &[usize] = &[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6];
/// Numbers of host threads for tests whose result cannot depend on timing.
const FIVE: &[usize] = &[2, 2, 3, 4, 6];

/// Runs `compute` on one host thread, then on each number of host threads in `runs`, and checks
/// that all results are equal. Also returns how many parts of the walk two threads committed and
/// aborted.
fn alike(
    compute: &Compute<'_>,
    runs: &[usize],
    prepare: impl Fn(&mut Model),
) -> (Outcome, u64, u64) {
    let (one, committed, aborted) = run(compute, 1, &prepare);
    assert_eq!((committed, aborted), (0, 0));
    assert!(one.result.is_ok(), "{:?}", one.result);
    let mut speculation = None;
    for (round, &threads) in runs.iter().enumerate() {
        let (many, committed, aborted) = run(compute, threads, &prepare);
        assert!(
            many == one,
            "{threads} threads, run {round}: {:?} instead of {:?}",
            many.stats,
            one.stats
        );
        if threads == 2 {
            let first = *speculation.get_or_insert((committed, aborted));
            assert!(first == (committed, aborted), "speculation must not depend on timing");
        }
    }
    let (committed, aborted) = speculation.expect("two threads");
    (one, committed, aborted)
}

/// Runs the case on one host thread, compares memory with the oracle, and checks that other numbers
/// of threads give the same result. Returns how many parts of the walk two threads committed and
/// aborted.
fn check(case: Case) -> (u64, u64) {
    check_with(case, FIVE, |_| {})
}

fn check_with(case: Case, runs: &[usize], prepare: impl Fn(&mut Model)) -> (u64, u64) {
    let mut memory = initial();
    case.expected(&mut memory);
    let (one, committed, aborted) = alike(&compute(case.constants()), runs, prepare);
    assert!(one.memory == *memory.as_flattened(), "one thread differs from plain Rust");
    (committed, aborted)
}

#[test]
fn groups_with_nothing_in_common() {
    let (committed, aborted) = check_with(APART, TWENTY, |_| {});
    assert!(committed >= 8 && aborted == 0, "{committed} {aborted}");
}

/// A page of memory holds the slots of groups whose numbers are far from each other. So the claims
/// of pages fail once, and then no part runs again.
#[test]
fn groups_that_share_pages() {
    let (committed, aborted) =
        check(Case { read: [37, 5, SLOTS - 1], write: [37, 5, SLOTS - 1], ..APART });
    assert!(committed >= 8 && aborted == 1, "{committed} {aborted}");
}

/// Host threads write memory directly, in several batches, because the groups write many pages.
/// Here each group has its own page.
#[test]
fn groups_that_write_many_pages() {
    const MANY: u32 = 9000;
    let case = Case { read: [128, 0, !0], write: [128, 0, !0], ..APART };
    let bytes = u64::from(MANY) * 4096;
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, bytes)],
        groups: [MANY.into(), 1, 1],
        ..compute(case.constants())
    };
    let run = |threads: usize| {
        let mut model = Model::new();
        model.map(DATA, bytes);
        model.gpu.set_threads(threads);
        compute.run(&mut model).unwrap();
        let values: Vec<u32> =
            (0..MANY.into()).map(|page| model.get(DATA + 4096 * page, 1)[0]).collect();
        (values, model.gpu.context(model.context).state.speculation)
    };
    // All slots are zero before.
    let step = |value: u32, _| value.wrapping_mul(case.factor).wrapping_add(case.summand);
    let expected = (0..case.rounds).fold(0, step);
    let mut committed = None;
    for threads in [1, 2, 2, 2, 3] {
        let (values, speculation) = run(threads);
        assert!(values.iter().all(|value| *value == expected), "{threads} threads");
        assert_eq!(speculation.committed > 0, threads > 1);
        assert_eq!(speculation.aborted, 0);
        if threads == 2 {
            let first = *committed.get_or_insert(speculation.committed);
            assert_eq!(speculation.committed, first, "it must not depend on timing");
        }
    }
}

/// All groups except group 3 read slot 3, which no group writes. Group 3 reads and writes slot 5,
/// before group 5 overwrites it. All groups read a page that some groups write, so the claims of
/// pages fail once. No group reads what another one wrote, so no part runs again.
#[test]
fn groups_that_read_the_same() {
    let (committed, aborted) =
        check(Case { read: [0, 3, !0], others: [!0, 3], other: [5, 5], ..APART });
    assert!(committed >= 8 && aborted == 1, "{committed} {aborted}");
}

/// A race without atomics: each group adds to the value that the previous one wrote.
#[test]
fn groups_that_count() {
    let case = Case { read: [0, 9, !0], write: [0, 9, !0], factor: 1, summand: 3, ..APART };
    let (committed, aborted) = check_with(case, TWENTY, |_| {});
    assert!(aborted > 0, "{committed} {aborted}");
}

/// Each group reads the slot that the group before it writes.
#[test]
fn groups_in_a_chain() {
    let (_, aborted) = check(Case { read: [1, SLOTS - 1, SLOTS - 1], ..APART });
    assert!(aborted > 0);
}

/// All groups write one slot: the last one wins.
#[test]
fn groups_that_overwrite() {
    let (committed, aborted) = check(Case { write: [0, 77, !0], ..APART });
    // Only group 77 reads the slot that all groups write.
    assert!(committed >= 8, "{committed} {aborted}");
}

/// A few groups count in one slot, the others do not use it.
#[test]
fn a_few_groups_that_count() {
    let case = Case { others: [0xff, 0xff], other: [1023, 1023], ..APART };
    let (committed, aborted) = check(case);
    assert!(committed >= 4 && aborted > 0, "{committed} {aborted}");
}

/// A group writes to unmapped memory. The groups before it are complete, the groups after it wrote
/// nothing.
#[test]
fn a_fault_in_the_middle() {
    for group in [0, 1, 500, 1337, GROUPS - 1] {
        let case = Case { others: [!0, group], other: [7, SLOTS + 100], ..APART };
        let compute = compute(case.constants());
        let (one, ..) = run(&compute, 1, |_| {});
        let Err(Fault::Page { fault, .. }) = &one.result else { panic!("{:?}", one.result) };
        assert_eq!((fault.address, fault.write), (DATA + 32 * u64::from(SLOTS + 100), true));
        let (untouched, done) = (initial(), one.memory.as_chunks::<8>().0);
        assert!(
            done.iter()
                .zip(&untouched)
                .enumerate()
                .all(|(n, (a, b))| (a != b) == (n < group as usize))
        );
        for threads in [2, 3] {
            let (many, ..) = run(&compute, threads, |_| {});
            assert!(many == one, "group {group}: {:?} instead of {:?}", many.result, one.result);
        }
    }
}

/// Work limits that are reached while the groups run. The result is the same on one and on two host
/// threads.
#[test]
fn a_budget_that_ends() {
    let compute = compute(APART.constants());
    for limit in [10_000, 1_000_000, 3_333_333, 5_000_001] {
        let limit_work = |model: &mut Model| model.gpu.set_work_limit(limit);
        let (one, ..) = run(&compute, 1, limit_work);
        assert!(matches!(one.result, Err(Fault::Hang { .. })), "{:?}", one.result);
        let (many, ..) = run(&compute, 2, limit_work);
        assert!(many == one, "{limit}: {:?} instead of {:?}", many.result, one.result);
    }
}

/// The groups from number 900 on never end. The hang is found without running such a group in each
/// part of the walk.
#[test]
fn an_endless_loop_in_the_middle() {
    const ENDLESS: &[u32] = &eu! {
           (W) mov (1|M0)   r4.0<1>:d     200:d
     round:
           (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
           (W&f0.0) jmpi    round
           (W) mov (1|M0)   r4.0<1>:d     1:d
           (W) cmp (1|M0) (ge)f0.0  null<1>:ud  r0.1<0;1,0>:ud  900:ud
           (W&f0.0) mov (1|M0)  r4.0<1>:d  2:d
           (W) add (1|M0)   r4.0<1>:d     r4.0<0;1,0>:d  -1:d
           (W) cmp (1|M0) (eq)f0.0  null<1>:d  r4.0<0;1,0>:d  1:d
     ever: (W&f0.0) jmpi    ever
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let compute = Compute { groups: [GROUPS.into(), 1, 1], ..Compute::new(ENDLESS) };
    let (one, ..) = run(&compute, 1, |_| {});
    let Err(Fault::Hang { at, .. }) = &one.result else { panic!("{:?}", one.result) };
    assert_eq!(at.thread.map(|thread| thread.ip), Some(0x80));
    assert_eq!(one.stats.threads, 900);
    let (many, ..) = run(&compute, 2, |_| {});
    assert!(many == one, "{:?} instead of {:?}", many.result, one.result);
}

/// Groups write the clock: the values increase with the group's number.
#[test]
fn groups_that_look_at_the_clock() {
    const CLOCK: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
           (W) mov (1|M0)   r4.0<1>:d     100:d
     round:
           (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
           (W&f0.0) jmpi    round
           (W) mov (8|M0)   r127.0<1>:ud  tm0.0<0;1,0>:ud
           (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
           (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let compute = Compute { kernel: CLOCK, ..compute(Vec::new()) };
    let compute = Compute { shared: 0, ..compute };
    let (one, ..) = run(&compute, 1, |_| {});
    one.result.as_ref().unwrap();
    assert!(one.memory.chunks(8).is_sorted_by(|a, b| a[0] < b[0]));
    let (many, _, aborted) = run(&compute, 2, |_| {});
    assert!(many == one && aborted > 0);
}

/// Groups write the time that they get from the gateway: the values increase with the group's
/// number.
#[test]
fn groups_that_ask_the_gateway_for_the_time() {
    const STAMP: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
           (W) mov (8|M0)   r127.0<1>:ud  0:ud
           (W) mov (1|M0)   r4.0<1>:d     100:d
     round:
           (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
           (W&f0.0) jmpi    round
           (W) send (8|M0)  r127  r126  0x3  0x02104003
           (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
           (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let compute = Compute { kernel: STAMP, shared: 0, ..compute(Vec::new()) };
    let (one, ..) = run(&compute, 1, |_| {});
    one.result.as_ref().unwrap();
    // Only the upper 12 bits of the low dword are valid (G45 vol 4, 7.1.5.2).
    let time = |row: &[u32]| u64::from(row[1]) << 12 | u64::from(row[0] >> 20);
    assert!(one.memory.chunks(8).is_sorted_by(|a, b| time(a) < time(b)));
    let (many, _, aborted) = run(&compute, 2, |_| {});
    assert!(many == one && aborted > 0);
}

/// Groups count in the URB: each finds the value that the previous one left.
#[test]
fn groups_that_share_the_urb() {
    const COUNT: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
           (W) mov (8|M0)   r20.0<1>:ud   0:ud
           (W) mov (1|M0)   r20.0<1>:ud   100:ud               // the handle
           (W) mov (1|M0)   r4.0<1>:d     100:d
     round:
           (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
           (W&f0.0) jmpi    round
           (W) send (8|M0)  r10  r20  0x6  0x02180055           // add one to dword 5
           (W) mov (8|M0)   r127.0<1>:ud  r10.0<0;1,0>:ud
           (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
           (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let compute = Compute { kernel: COUNT, shared: 0, ..compute(Vec::new()) };
    let (one, ..) = run(&compute, 1, |_| {});
    one.result.as_ref().unwrap();
    assert_eq!(one.memory, (0..GROUPS).flat_map(|group| [group; 8]).collect::<Vec<_>>());
    let (many, _, aborted) = run(&compute, 2, |_| {});
    assert!(many == one && aborted > 0);
}

/// Scratch slots are reused: a group finds the value that the previous group in its slot left.
#[test]
fn groups_that_share_scratch_space() {
    const SPILL: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
           (W) mov (8|M0)   r30.0<1>:ud   r0.0<8;8,1>:ud
           (W) send (8|M0)  r127  r30  0xA  0x021c0003          // scratch block read of one register
           (W) add (8|M0)   r31.0<1>:ud   r127.0<8;8,1>:ud  1:ud
           (W) send (8|M0)  null  r30  0xA  0x040e0003          // write it
           (W) mov (1|M0)   r4.0<1>:d     100:d
     round:
           (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
           (W&f0.0) jmpi    round
           (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
           (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let vfe = genxml::gen8::media::MediaVfeState {
        scratch_space_base_pointer: genxml_cases::at(genxml_cases::SCRATCH),
        ..Compute::new(SPILL).vfe
    };
    let compute = Compute { kernel: SPILL, shared: 0, vfe, ..compute(Vec::new()) };
    let (one, ..) = run(&compute, 1, |_| {});
    one.result.as_ref().unwrap();
    // There are 64 scratch slots, and each group adds 1 to the value in its slot.
    assert_eq!(one.memory, (0..GROUPS).flat_map(|group| [group / 64; 8]).collect::<Vec<_>>());
    let (many, ..) = run(&compute, 2, |_| {});
    assert!(many == one);
}

/// A group rewrites the page table entry of a page that all groups read. The cached translation
/// stays in use until the end of the batch, as on one thread.
#[test]
fn a_group_that_writes_page_tables() {
    const PAGE: u64 = 4096;
    // After the slots: the page that all groups read, then the page table mapped as memory.
    let (page, table) = (DATA + BYTES, DATA + BYTES + PAGE);
    let slot = |address: u64| ((address - DATA) / 32) as u32;
    let prepare = |model: &mut Model| {
        let frames = model.gpu.alloc(2 * PAGE).unwrap();
        model.gpu.memory.bytes_mut(frames)[..PAGE as usize].fill(1);
        model.gpu.memory.bytes_mut(frames)[PAGE as usize..].fill(2);
        model.gpu.map(model.context, page, frames.part(0, 1).unwrap()).unwrap();
        let mut at = model.gpu.context(model.context).space.root();
        for shift in [39, 30, 21] {
            at = model.gpu.memory.read_u64(at + 8 * (page >> shift & 511)).unwrap() & !0xfff;
        }
        model.gpu.map(model.context, table, Frames { first: at / PAGE, count: 1 }).unwrap();
        // Four page table entries, which fill one slot. The first is the entry of the page and is
        // changed.
        let entries: Vec<u64> = (0..4)
            .map(|n| model.gpu.memory.read_u64(at + 8 * (page >> 12 & 511) + 8 * n).unwrap())
            .enumerate()
            .map(|(n, bits)| if n == 0 { frames.address() + PAGE + 3 } else { bits })
            .collect();
        assert!((page >> 12).is_multiple_of(4));
        model.write(DATA, bytemuck::cast_slice(&entries));
    };
    let entry = slot(table + 8 * (page >> 12 & 511));
    let case = Case {
        read: [0, slot(page), !0],
        others: [!0, 700],
        other: [0, entry],
        factor: 1,
        summand: 0,
        ..APART
    };
    // Slot 0 holds these entries until the last group writes it.
    let case = Case { write: [1, 1, SLOTS - 1], ..case };
    let compute = compute(case.constants());
    let (one, ..) = run(&compute, 1, prepare);
    one.result.as_ref().unwrap();
    for threads in [2, 3] {
        let (many, ..) = run(&compute, threads, prepare);
        assert!(many == one, "{threads} threads");
    }
}
