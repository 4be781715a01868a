//! Kernels with and without races. Each seeded race has a twin in which the same accesses are in
//! order. Oracle: the text of the kernels: which accesses are to the same bytes, and where the
//! barrier is.

use super::kernels::{END, kernel};
use crate::screen::scene::{Scene, TARGETS, on_screen};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::eu::gen8::descriptors::{MdcDs, MdcSm2};
use genxml::eu::gen8::eu_messages::Msd0Bs;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::messages::{MsdMemfence, MtDp0};
use genxml::gen8::state::{
    BindingTableState, InterfaceDescriptorData,
    InterfaceDescriptorDataSharedLocalMemorySize as Size,
};
use genxml_cases::{Compute, KERNELS, Model, SURFACE_STATE, at, raw_buffer, u};
use genxml_sim::inspect::sanitize::{Finding, Sanitizers};

/// The buffer of binding table entry 0.
const DATA: u64 = 0x40_0000;

/// Where the accesses of a case go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Memory {
    Local,
    Buffer,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Read,
    Write,
    Atomic,
}

impl Op {
    /// Instructions that access the dword at the offset in `address` of each channel.
    fn text(self, memory: Memory, address: &str, predicate: &str) -> String {
        let index = if memory == Memory::Local { "fe" } else { "00" };
        match self {
            Op::Read => format!("{predicate} send (8|M0) r9 {address} 0xC 0x02106e{index}"),
            Op::Write => format!("{predicate} send (8|M0) null {address} 0xC 0x04026e{index}"),
            Op::Atomic => format!("{predicate} send (8|M0) null {address} 0xC 0x020095{index}"),
        }
    }
}

/// Pairs of accesses that race if they are to the same bytes.
const PAIRS: [(Op, Op); 7] = [
    (Op::Write, Op::Read),
    (Op::Read, Op::Write),
    (Op::Write, Op::Write),
    (Op::Atomic, Op::Read),
    (Op::Read, Op::Atomic),
    (Op::Write, Op::Atomic),
    (Op::Atomic, Op::Write),
];

const REPORT: &str = "(W) send (1|M0) null r10 0x3 0x02000004\n";
const WAIT: &str = "(W) wait n0.0<0;1,0>:ud\n";

/// r2: four times the local id. r4: the same, with 256 bytes for each group. r6 and r8: addresses
/// of the first and second access, each followed by data.
const BEGIN: &str = "
    (W) mov (8|M0)   r10.0<1>:ud  0:ud
    (W) and (1|M0)   r10.2<1>:ud  r0.2<0;1,0>:ud  0x0f000000:ud
        shl (8|M0)   r2.0<1>:ud   r1.0<8;8,1>:ud  2:ud
    (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  8:ud
        mov (8|M0)   r5.0<1>:ud   7:ud
        mov (8|M0)   r7.0<1>:ud   7:ud
        mov (8|M0)   r9.0<1>:ud   8:ud
        cmp (8|M0) (lt)f0.0  null<1>:ud  r1.0<8;8,1>:ud  8:ud
";

/// Runs eight threads of eight channels for each of `groups` groups.
fn run(text: &str, groups: u64) -> Vec<Finding> {
    let (kernel, _) = kernel(text);
    let mut model = Model::new();
    model.map(DATA, 4096);
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, 4096)],
        curbe: (0..64u32).flat_map(u32::to_le_bytes).collect(),
        threads: 8,
        groups: [groups, 1, 1],
        descriptor: InterfaceDescriptorData {
            barrier_enable: true,
            shared_local_memory_size: Size::from_bits(1),
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(&kernel)
    };
    let batch = compute.batch(&mut model);
    let mut sanitizers = Sanitizers::new(["race"], Generation::Gen8).unwrap();
    model.submit_observed(EngineId::Render, &batch, &mut sanitizers).unwrap();
    sanitizers.findings().map(|(_, finding)| finding.clone()).collect()
}

/// Checks that all findings have this rule and are about the instructions of the labels `first`
/// and `second`, and that there is one.
#[track_caller]
fn races(text: &str, groups: u64, rule: &str) {
    let findings = run(text, groups);
    let (_, labels) = kernel(text);
    let wanted = [labels["first"], labels["second"]];
    assert!(!findings.is_empty(), "no finding\n{text}");
    for finding in &findings {
        assert_eq!(finding.rule.id, rule, "{finding}\n{text}");
        let mut found = [&finding.first, &finding.second].map(|side| {
            let thread = side.at.thread.expect("an instruction");
            assert_eq!((side.at.packet, thread.kernel), ("GPGPU_WALKER", KERNELS));
            thread.ip
        });
        found.sort_unstable();
        assert_eq!(found, wanted, "{finding}\n{text}");
        assert!(finding.first.thread.is_some() && finding.second.thread.is_some());
    }
}

#[track_caller]
fn quiet(text: &str, groups: u64) {
    let findings = run(text, groups);
    assert!(findings.is_empty(), "{}\n{text}", findings[0]);
}

fn rule(memory: Memory, pair: (Op, Op)) -> &'static str {
    match (memory, pair) {
        (_, (Op::Atomic, _) | (_, Op::Atomic)) => "RACE-ATOMIC",
        (Memory::Local, _) => "RACE-LOCAL",
        (Memory::Buffer, _) => "RACE-MEMORY",
    }
}

/// The two accesses of a thread, each to a different dword of the group, with barriers before,
/// between and after them. `same`: the thread's second access is to its own dword.
fn neighbours(memory: Memory, pair: (Op, Op), same: bool, barriers: [&str; 3]) -> String {
    let base = if memory == Memory::Local { "0:ud" } else { "r3.0<0;1,0>:ud" };
    let distance = if same { 0 } else { 32 };
    let (first, second) = (pair.0.text(memory, "r6", ""), pair.1.text(memory, "r8", ""));
    let [before, between, after] = barriers;
    format!(
        "{BEGIN}
        add (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud  {base}
        add (8|M0)   r8.0<1>:ud   r2.0<8;8,1>:ud  {distance}:ud
        and (8|M0)   r8.0<1>:ud   r8.0<8;8,1>:ud  255:ud
        add (8|M0)   r8.0<1>:ud   r8.0<8;8,1>:ud  {base}
        {before}
    first: {first}
        {between}
    second: {second}
        {after}
        {END}"
    )
}

/// 7 pairs, in shared local memory and in a buffer, with 5 faulty positions of the barrier: 70
/// races.
#[test]
fn barriers_at_the_wrong_position() {
    let barrier = format!("{REPORT}{WAIT}");
    let mut count = 0;
    for memory in [Memory::Local, Memory::Buffer] {
        for pair in PAIRS {
            let faulty = [
                ["", "", ""],
                [&barrier, "", ""],
                ["", "", &barrier],
                [&barrier, "", &barrier],
                // The thread reports too early.
                [REPORT, WAIT, ""],
            ];
            for barriers in faulty {
                races(&neighbours(memory, pair, false, barriers), 2, rule(memory, pair));
                count += 1;
            }
            quiet(&neighbours(memory, pair, false, ["", &barrier, ""]), 2);
            quiet(&neighbours(memory, pair, false, [&barrier, &barrier, &barrier]), 2);
            quiet(&neighbours(memory, pair, true, ["", "", ""]), 2);
        }
        let atomics = (Op::Atomic, Op::Atomic);
        quiet(&neighbours(memory, atomics, false, ["", "", ""]), 2);
        quiet(&neighbours(memory, (Op::Read, Op::Read), false, ["", "", ""]), 2);
    }
    assert_eq!(count, 70);
}

/// A thread reports and does not wait.
#[test]
fn a_barrier_without_wait() {
    for memory in [Memory::Local, Memory::Buffer] {
        for pair in PAIRS {
            let text = neighbours(memory, pair, false, ["", REPORT, WAIT]);
            races(&text, 1, rule(memory, pair));
        }
    }
}

/// The first thread accesses a row of dwords that all other threads access too: 8 races.
#[test]
fn one_thread_and_all_others() {
    let barrier = format!("{REPORT}{WAIT}");
    for memory in [Memory::Local, Memory::Buffer] {
        let pairs = [(Op::Write, Op::Read), (Op::Write, Op::Atomic), (Op::Atomic, Op::Read)];
        for pair in pairs {
            let text = |between: &str| {
                let (first, second) =
                    (pair.0.text(memory, "r6", "(f0.0)"), pair.1.text(memory, "r8", ""));
                format!(
                    "{BEGIN}
                    and (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud  31:ud
                    and (8|M0)   r8.0<1>:ud   r2.0<8;8,1>:ud  31:ud
                first: {first}
                    {between}
                second: {second}
                    {END}"
                )
            };
            races(&text(""), 1, rule(memory, pair));
            quiet(&text(&barrier), 1);
        }
    }
}

/// The second access is to the dwords of the next group. A barrier does not order groups: 7 races.
#[test]
fn groups() {
    let barrier = format!("{REPORT}{WAIT}");
    for pair in PAIRS {
        let (first, second) =
            (pair.0.text(Memory::Buffer, "r6", ""), pair.1.text(Memory::Buffer, "r8", ""));
        let text = |distance: u32| {
            format!(
                "{BEGIN}
                add (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud  r3.0<0;1,0>:ud
                add (8|M0)   r8.0<1>:ud   r6.0<8;8,1>:ud  {distance}:ud
            first: {first}
                {barrier}
            second: {second}
                {END}"
            )
        };
        races(&text(256), 4, rule(Memory::Buffer, pair));
        quiet(&text(0), 4);
    }
}

/// Shared local memory is that of the group.
#[test]
fn groups_have_their_own_local_memory() {
    quiet(&neighbours(Memory::Local, (Op::Write, Op::Write), true, ["", "", ""]), 4);
}

/// Bytes of one dword: neighbours do not race, but two threads with one byte do.
#[test]
fn bytes() {
    let descriptor = |kind, sent: u64, back: u64| {
        let descriptor = Msd0Bs {
            binding_table_index: u(0),
            message_type: kind,
            simd_mode: MdcSm2::SIMD8,
            data_elements: MdcDs::B,
            message_length: u(sent),
            response_length: u(back),
            ..Msd0Bs::new()
        };
        descriptor.pack()[0]
    };
    let (write, read) = (descriptor(MtDp0::MT0W_BS, 2, 0), descriptor(MtDp0::MT0R_BS, 1, 1));
    // Thread t accesses the bytes t, t + 8, t + 16, and so on.
    let text = |shift: u32| {
        format!(
            "{BEGIN}
            shr (8|M0)   r20.0<1>:ud  r1.0<8;8,1>:ud  3:ud
            and (8|M0)   r21.0<1>:ud  r1.0<8;8,1>:ud  7:ud
            shl (8|M0)   r21.0<1>:ud  r21.0<8;8,1>:ud  3:ud
            add (8|M0)   r6.0<1>:ud   r20.0<8;8,1>:ud  r21.0<8;8,1>:ud
            add (8|M0)   r8.0<1>:ud   r6.0<8;8,1>:ud  {shift}:ud
        first:  send (8|M0) null r6 0xA {write:#x}
        second: send (8|M0) r9 r8 0xA {read:#x}
            {END}"
        )
    };
    quiet(&text(0), 1);
    races(&text(1), 1, "RACE-MEMORY");
}

/// Each thread writes its dwords, sends a fence, and increments a counter. Then it reads what other
/// threads wrote: those that incremented the counter before it wrote before it. Without the fence,
/// or with different counters, there is no order.
#[test]
fn counters_and_fences() {
    let fence = MsdMemfence {
        commit: true,
        header_present: true,
        message_length: u(1),
        response_length: u(1),
        ..MsdMemfence::new()
    };
    let fence = format!("(W) send (8|M0) r30 r10 0xA {:#x}", fence.pack()[0]);
    // The offset of the counter is in r40. The dwords that are read are those of the thread before.
    let text = |fence: &str, counter: &str| {
        format!(
            "{BEGIN}
            cmp (8|M0) (ge)f0.0  null<1>:ud  r1.0<8;8,1>:ud  8:ud
            mov (8|M0)   r6.0<1>:ud   r2.0<8;8,1>:ud
            add (8|M0)   r8.0<1>:ud   r2.0<8;8,1>:ud  -32:d
            {counter}
        first:  send (8|M0) null r6 0xC 0x04026e00
            {fence}
            send (8|M0) null r40 0xC 0x02009500
        second: (f0.0) send (8|M0) r9 r8 0xC 0x02106e00
            {END}"
        )
    };
    let one = "mov (8|M0) r40.0<1>:ud 1024:ud";
    let own = "add (8|M0) r40.0<1>:ud r2.0<8;8,1>:ud 1024:ud";
    quiet(&text(&fence, one), 1);
    races(&text("", one), 1, "RACE-MEMORY");
    races(&text(&fence, own), 1, "RACE-MEMORY");
}

/// Two walkers without a barrier between them: that is a matter of the sanitizer `flush`.
#[test]
fn packets_are_not_compared() {
    let (kernel, _) = kernel(&neighbours(Memory::Buffer, (Op::Write, Op::Write), true, [""; 3]));
    let mut model = Model::new();
    model.map(DATA, 4096);
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, 4096)],
        curbe: (0..64u32).flat_map(u32::to_le_bytes).collect(),
        threads: 8,
        ..Compute::new(&kernel)
    };
    let batch = compute.batch(&mut model);
    let mut sanitizers = Sanitizers::new(["race"], Generation::Gen8).unwrap();
    let twice = [batch.clone(), batch].concat();
    model.submit_observed(EngineId::Render, &twice, &mut sanitizers).unwrap();
    assert_eq!(sanitizers.findings().count(), 0);
}

/// A pixel shader that sends a message with r60 and r61, which are 0, and writes the number 5.
fn shader(message: &str) -> &'static [u32] {
    let text = format!(
        "
        (W) mov (8|M0)   r60.0<1>:ud  0:ud
        (W) mov (8|M0)   r61.0<1>:ud  0:ud
        {message}
        mov (8|M0)       r112.0<1>:ud  5:ud
        mov (8|M0)       r113.0<1>:ud  5:ud
        mov (8|M0)       r114.0<1>:ud  5:ud
        mov (8|M0)       r115.0<1>:ud  5:ud
        sendc (8|M0)     null  r112  0x25  0x08031400  {{EOT}}
        "
    );
    kernel(&text).0.leak()
}

/// Each pixel shader thread writes or increments the first dwords of the buffer of binding table
/// entry 1, or reads the first texel of its own render target or of another surface.
#[test]
fn pixels() {
    let cases = [
        ("(W) send (8|M0) null r60 0xC 0x04026E01", Some("RACE-MEMORY")),
        ("(W) send (8|M0) null r60 0xC 0x02009501", None),
        ("send (8|M0) r62 r60 0x2 0x04427000", Some("RACE-RENDER-TARGET")),
        ("send (8|M0) r62 r60 0x2 0x04427002", None),
    ];
    for (message, rule) in cases {
        let corners = [(0.0, 0.0), (32.0, 0.0), (0.0, 32.0)];
        let vertices = corners.map(|(x, y)| on_screen(x, y, 7)).to_vec();
        let mut scene = Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices);
        scene.kernel = shader(message);
        let mut model = scene.model();
        model.map(DATA, 4096);
        let batch = scene.batch(&mut model);
        // Entry 2 is the target again, at another address.
        let mut other = scene.surface(0);
        other.surface_base_address = at(TARGETS + 0x2_0000);
        for (index, surface) in (1_u64..).zip([raw_buffer(DATA, 4096), other]) {
            let state = 0x1000 + 64 * index;
            model.put(SURFACE_STATE + state, &surface.pack());
            let entry = BindingTableState { surface_state_pointer: at(state) };
            model.put(SURFACE_STATE + 64 + 4 * index, &entry.pack());
        }
        let mut sanitizers = Sanitizers::new(["race"], Generation::Gen8).unwrap();
        model.submit_observed(EngineId::Render, &batch, &mut sanitizers).unwrap();
        let found: Vec<_> = sanitizers.findings().map(|(_, finding)| finding.rule.id).collect();
        match rule {
            None => assert!(found.is_empty(), "{message}: {found:?}"),
            Some(rule) => {
                let all = !found.is_empty() && found.iter().all(|id| *id == rule);
                assert!(all, "{message}: {found:?}");
            }
        }
        for (_, finding) in sanitizers.findings() {
            assert_eq!(finding.first.at.packet, "3DPRIMITIVE");
        }
    }
}
