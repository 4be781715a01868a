//! Groups on several host threads, with special memory: mapped twice, accessed across pages,
//! exhausted. Also surface states and kernels that change during the packet.

use super::*;
use genxml_cases::{BATCH, DYNAMIC_STATE, KERNELS, SCRATCH, SURFACE_STATE};
use genxml_sim::Gpu;
use genxml_sim::mem::{Cause, Memory, PAGE};

/// The frames of `bytes` bytes at an address, which are contiguous.
fn frames(model: &Model, address: u64, bytes: u64) -> Frames {
    let space = &model.gpu.context(model.context).space;
    let physical = space.translate(&model.gpu.memory, address, false).unwrap();
    Frames { first: physical / PAGE, count: bytes / PAGE }
}

/// Maps the slots a second time, at the addresses after them.
fn mapped_twice(model: &mut Model) {
    let slots = frames(model, DATA, BYTES);
    model.gpu.map(model.context, DATA + BYTES, slots).unwrap();
}

/// Each slot is mapped at two addresses. Groups write it through one address and read it through
/// the other.
#[test]
fn two_addresses_of_one_frame() {
    let second = [1, SLOTS, !0];
    // Each group has its own slot: no conflicts.
    let (kept, repeated) = check_with(Case { write: second, ..APART }, FIVE, mapped_twice);
    assert!(kept >= 8 && repeated == 0, "{kept} {repeated}");
    // Each group reads what its neighbour wrote.
    let chain = Case { read: [1, SLOTS - 1, SLOTS - 1], write: second, ..APART };
    let (_, repeated) = check_with(chain, FIVE, mapped_twice);
    assert!(repeated > 0);
    // A few groups count in one slot, which has two addresses.
    let count = Case { others: [0x7f, 0x7f], other: [1023, SLOTS + 1023], ..APART };
    let (kept, repeated) = check_with(count, FIVE, mapped_twice);
    assert!(kept >= 4 && repeated > 0, "{kept} {repeated}");
}

/// The slots start 16 bytes later, so every 128th slot crosses into the next page.
#[test]
fn slots_across_pages() {
    let chain = Case { read: [1, SLOTS - 1, SLOTS - 1], ..APART };
    for case in [APART, chain] {
        let one_more_page = |model: &mut Model| model.map(DATA + BYTES, PAGE);
        let compute =
            Compute { surfaces: vec![raw_buffer(DATA + 16, 1 << 20)], ..compute(case.constants()) };
        let (one, ..) = alike(&compute, FIVE, one_more_page);
        let mut memory = initial().as_flattened().to_vec();
        memory.extend([0; 4]);
        case.expected(memory[4..].as_chunks_mut().0);
        assert!(one.memory == memory[..one.memory.len()], "one thread differs from plain Rust");
    }
}

/// Returns a function that gives the model a new machine. This machine allocates frames when they
/// are first written, and has room for `pages` more frames.
fn with_room_for(pages: u64) -> impl Fn(&mut Model) {
    let machine = |limit| {
        let mut memory = Memory::with_limit(limit);
        memory.install(1 << 30);
        let mut gpu = Gpu::with_memory(memory);
        let context = gpu.create_context().unwrap();
        let mut model = Model::over(gpu, context);
        for (address, bytes) in [(BATCH, 64 << 10), (SURFACE_STATE, 192 << 10), (SCRATCH, 1 << 20)]
        {
            const { assert!(SURFACE_STATE < DYNAMIC_STATE && DYNAMIC_STATE < KERNELS) };
            model.map(address, bytes);
        }
        let untouched = Frames { first: 0x100, count: BYTES / PAGE };
        model.gpu.map(model.context, DATA, untouched).unwrap();
        model
    };
    let used = machine(1 << 30).gpu.memory.alloc(1 << 40).unwrap_err().used;
    move |model| *model = machine((used + pages) * PAGE)
}

/// Memory runs out in the middle of the walk. The group that needs the next page faults; the groups
/// before it are complete.
#[test]
fn memory_that_is_used_up() {
    // A page holds the slots of 128 groups.
    let work = |model: &mut Model| model.gpu.set_work_limit(1 << 26);
    for pages in [1, 5, 11] {
        let prepare = with_room_for(pages);
        let prepare = |model: &mut Model| {
            prepare(model);
            work(model);
        };
        let compute = compute(APART.constants());
        let (one, ..) = run(&compute, 1, prepare);
        let Err(Fault::Page { fault, .. }) = &one.result else { panic!("{:?}", one.result) };
        assert_eq!((fault.address, fault.write), (DATA + pages * PAGE, true));
        assert!(matches!(fault.cause, Cause::BadFrame(_)), "{fault}");
        assert_eq!(one.stats.threads, 128 * pages);
        for threads in [2, 3] {
            let (many, ..) = run(&compute, threads, prepare);
            assert!(many == one, "{pages} pages: {:?} instead of {:?}", many.result, one.result);
        }
    }
    // With enough room for all pages, there is no fault. Pages without memory cannot be claimed, so
    // the claims fail once.
    let (_, repeated) = check_with(Case { read: [0, 0, 0], factor: 0, ..APART }, FIVE, |model| {
        with_room_for(16)(model);
        work(model);
    });
    assert_eq!(repeated, 1);
}

/// The group with number r1.0 writes a new surface state for entry 1 of the binding table. Groups
/// from number r1.1 on use this entry. r2 and r3 hold the state. All groups write their number to
/// their slot.
const REBINDS: &[u32] = &eu! {
       (W) mov (8|M0)   r120.0<1>:ud  0:ud
       (W) mov (8|M0)   r121.0<1>:ud  r2.0<8;8,1>:ud
       (W) mov (8|M0)   r122.0<1>:ud  r3.0<8;8,1>:ud
       (W) cmp (8|M0) (eq)f0.0  null<1>:ud  r0.1<0;1,0>:ud  r1.0<0;1,0>:ud
       (W) mov (1|M0)   r4.0<1>:d     100:d
 round:
       (W) add (1|M0) (ne)f1.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
       (W&f1.0) jmpi    round
       (W&f0.0) send (8|M0)  null  r120  0xA  0x060a0302   // four owords of entry 2: the state of entry 1
       (W) mov (8|M0)   r126.0<1>:ud  0:ud
       (W) mov (8|M0)   r127.0<1>:ud  r0.1<0;1,0>:ud
       (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
       (W) mov (1|M0)   a0.0<1>:ud    0x040a0200:ud
       (W) cmp (1|M0) (ge)f0.0  null<1>:ud  r0.1<0;1,0>:ud  r1.1<0;1,0>:ud
       (W&f0.0) mov (1|M0)  a0.0<1>:ud  0x040a0201:ud
       (W) send (8|M0)  null  r126  0xA  a0.0
       (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
       (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// A surface state that is rewritten before its first use, and one that is rewritten after it: a
/// state that was read stays in use for the whole packet. The old state of entry 1 has one slot
/// only, and writes beyond it are dropped (G45 vol 4, 5.10).
#[test]
fn a_surface_state_that_is_rewritten() {
    for (rewriter, user, counts) in [(700u32, 1500u32, true), (3, 1024, true), (1500, 1000, false)]
    {
        let state = raw_buffer(DATA, BYTES).pack();
        let constants = [[rewriter, user, 0, 0, 0, 0, 0, 0].as_slice(), &state].concat();
        let compute = Compute {
            kernel: REBINDS,
            surfaces: vec![
                raw_buffer(DATA, BYTES),
                raw_buffer(DATA, 32),
                raw_buffer(SURFACE_STATE + 64, 64),
            ],
            curbe: constants.iter().flat_map(|dword| dword.to_le_bytes()).collect(),
            shared: 3,
            ..compute(Vec::new())
        };
        let (one, kept, _) = alike(&compute, FIVE, |_| {});
        let mut expected = initial();
        for group in 0..GROUPS {
            if group < user || counts {
                expected[group as usize] = [group; 8];
            }
        }
        assert!(one.memory == *expected.as_flattened(), "{rewriter} {user}");
        assert!(kept > 0);
    }
}

/// A computed jump leads some groups to code that has no other entry, so it is decoded when the
/// first of these groups gets there. They write three times their number.
#[test]
fn a_kernel_that_grows() {
    const GROWS: &[u32] = &eu! {
           (W) mov (8|M0)   r126.0<1>:ud  0:ud
           (W) mov (1|M0)   r4.0<1>:d     100:d
     round:
           (W) add (1|M0) (ne)f0.0  r4.0<1>:d  r4.0<0;1,0>:d  -1:d
           (W&f0.0) jmpi    round
           (W) mov (1|M0)   r4.0<1>:d     0:d
           (W) and (1|M0)   r4.1<1>:ud    r0.1<0;1,0>:ud  0x1ff:ud
           (W) cmp (1|M0) (eq)f0.0  null<1>:ud  r4.1<0;1,0>:ud  0x1a0:ud
           (W&f0.0) mov (1|M0)  r4.0<1>:d  80:d
           (W) jmpi         r4.0
           (W) mov (8|M0)   r127.0<1>:ud  r0.1<0;1,0>:ud
     store:
           (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
           (W) send (8|M0)  null  r126  0xA  0x040a0200
           (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
           (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
           // 80 bytes after the computed jump:
           (W) mul (8|M0)   r127.0<1>:ud  r0.1<0;1,0>:ud  3:ud
           (W) jmpi         store
    };
    let compute = Compute { kernel: GROWS, shared: 0, ..compute(Vec::new()) };
    let (one, kept, repeated) = alike(&compute, FIVE, |_| {});
    let value = |group: u32| if group & 0x1ff == 0x1a0 { 3 * group } else { group };
    assert_eq!(one.memory, (0..GROUPS).flat_map(|group| [value(group); 8]).collect::<Vec<_>>());
    // The claims of pages fail once. Then only the part of the walk with the first group that jumps
    // to the new code runs again.
    assert!(kept > 0 && repeated == 2, "{kept} {repeated}");
}
