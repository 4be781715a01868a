//! Device coredumps of xe.
//!
//! Oracle: texts written by hand in the formats of Linux `drivers/gpu/drm/xe` (`xe_devcoredump.c`,
//! `xe_lrc.c`, `xe_vm.c`, `xe_sched_job.c`, `xe_hw_engine.c`).

use genxml::decode::{Decoder, Memory, Options, Record, Tables};
use genxml::devcoredump::Devcoredump;
use genxml::engine::EngineId;
use genxml::error_state::BufferKind;
use genxml::hang;
use std::fmt::Write as _;

/// Encodes in base 85 as the kernel does.
fn base85(dwords: &[u32]) -> String {
    let mut text = String::new();
    for &dword in dwords {
        if dword == 0 {
            text.push('z');
            continue;
        }
        let digits =
            (0..5).rev().map(|place| char::from(33 + (dword / 85u32.pow(place) % 85) as u8));
        text.extend(digits);
    }
    text
}

/// PIPE_CONTROL, MI_BATCH_BUFFER_END and zeros: 16 dwords.
fn batch() -> Vec<u32> {
    let mut dwords = vec![0x7a00_0004, 0x0010_0000, 0, 0, 0, 0, 0x0500_0000];
    dwords.resize(16, 0);
    dwords
}

/// A dump as the kernel prints it. With `early`, as Linux 6.8 prints it, which puts the queue under
/// the heading of the GuC.
pub fn dump(early: bool) -> String {
    let mut text = String::from(
        "**** Xe Device Coredump ****
Reason: Timedout job - seqno=4294967169, lrc_seqno=4294967169, guc_id=2, flags=0x0
kernel: 6.14.0
module: xe
Snapshot time: 1700000000.000000000
Uptime: 4711.000000000
Process: deqp-vk [4711]
PCI ID: 0x1616
PCI revision: 0x09
GT id: 0
\tTile: 0
\tType: main

**** GT #0 ****
\tTile: 0

**** GuC Log ****
[LOG].length: 0x8
[LOG].data: z!!!!\"

**** GuC CT ****
H2G CTB (all sizes in DW):
\tsize: 1024
[CTB].length: 0x4
[CTB].data: z
",
    );
    if !early {
        text.push_str("\n**** Contexts ****\n");
    }
    write!(
        text,
        "GuC ID: 2
\tName: rcs0
\tClass: 0
\tHW Context Desc: 0x0102f000
\t[HWSP].length: 0x8
\t[HWSP].data: {}
\t[HWCTX].length: 0xc
\t[HWCTX].data: {}
\tSchedule State: 0x241

**** Job ****
batch_addr[0]: 0x0000effefffe0008

**** HW Engines ****
rcs0 (physical), logical instance=0
\tForcewake: domain 0x2, ref 1
\tRING_START: 0x0000000000ffe000
\tRING_HEAD: 0x00000040
\tRING_TAIL: 0x00000080
\tACTHD: 0x0000effefffe0008
\tIPEHR: 0x7a000004
\tRING_INSTDONE: 0xfffffffb
\tROW_INSTDONE[2]: 0x12345678
bcs0 (physical), logical instance=0
\tRING_HEAD: 0x00000000
\tRING_TAIL: 0x00000000

**** VM state ****
[effefffe0000].length: 0x48
[effefffe0000].data: {}
[100000000].length: 0x1000
[100000000].error: -14
[200000000].length: 0x8
[200000000].data: {}
",
        base85(&[1, 0]),
        base85(&[0, 0x1100_101b, 0x2244]),
        base85(&[[0, 0].to_vec(), batch()].concat()),
        base85(&[0xdead_beef, 0]),
    )
    .unwrap();
    text
}

#[test]
fn a_dump_is_read() {
    for early in [false, true] {
        let text = dump(early);
        assert!(Devcoredump::starts_like(text.as_bytes()));
        let dump = Devcoredump::read(text.as_bytes());
        let state = &dump.state;
        assert_eq!(state.entry("kernel"), Some("6.14.0"));
        assert_eq!(state.pci_id(), Some(0x1616));
        assert_eq!(dump.batches, [0xeffe_fffe_0008]);
        assert_eq!((dump.queues[0].id, dump.queues[0].name.as_str()), (2, "rcs0"));
        assert!(dump.queues[0].lines.iter().any(|line| line.text == "\tSchedule State: 0x241"));
        let engine = state.engine("rcs0").unwrap();
        assert_eq!(engine.id(), Some(EngineId::Render));
        assert_eq!(engine.value("START"), Some(0x00ff_e000));
        assert_eq!(engine.value("HEAD"), Some(0x40));
        assert_eq!(engine.value("ACTHD"), Some(0xeffe_fffe_0008));
        assert_eq!(engine.value("INSTDONE"), Some(0xffff_fffb));
        assert_eq!(engine.value("ROW_INSTDONE[0][2]"), Some(0x1234_5678));
        assert_eq!(engine.process.as_ref().unwrap().pid, 4711);
        let sizes: Vec<_> =
            state.buffers.iter().map(|buffer| (buffer.kind.clone(), buffer.data.len())).collect();
        use BufferKind::{Context, Status, User};
        assert_eq!(sizes, [(Status, 8), (Context, 12), (User, 0x48), (User, 8)]);
        assert_eq!(
            (state.buffers[0].address, state.buffers[1].address),
            (0x0102_f000, 0x0103_0000)
        );
        assert_eq!(state.buffers[2].address, 0xeffe_fffe_0000);
        assert_eq!((dump.missing[0].address, dump.missing[0].size), (0x1_0000_0000, 0x1000));
        assert_eq!(state.memory("rcs0").tail(0x2_0000_0000), [0xef, 0xbe, 0xad, 0xde, 0, 0, 0, 0]);
        assert!(
            state.memory("rcs0").tail(0).is_empty(),
            "the context's address is not one of the program"
        );
        let notes: Vec<_> = state.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].ends_with("[100000000] was not dumped: error -14"));
        let titles: Vec<_> = dump.sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["GT #0", "GuC Log", "GuC CT"]);
    }
}

#[test]
fn its_batches_are_decoded() {
    let dump = Devcoredump::read(dump(false).as_bytes());
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let mut names = Vec::new();
    dump.submissions(&mut |submission| {
        let mut sink = |record: &Record| {
            names.push(record.name);
            Ok(())
        };
        decoder.submission(&mut Default::default(), submission, &mut sink).map(|_| ())
    })
    .unwrap();
    assert_eq!(names, ["PIPE_CONTROL", "MI_BATCH_BUFFER_END"]);
    let summary = hang::of_devcoredump(&dump, Tables::gen8());
    assert_eq!(summary.engines[0].engine, "rcs0");
    assert_eq!(summary.engines[0].command.as_ref().unwrap().name, "PIPE_CONTROL");
    assert_eq!(summary.idle.len(), 1);
    assert_eq!(summary.idle[0].engine, "bcs0");
}

/// A dump of two queues: the bytes of a context belong to the queue above them.
#[test]
fn each_queue_has_its_own_context() {
    let queue = |id: u32, name: &str, descriptor: u32| {
        format!(
            "GuC ID: {id}
\tName: {name}
\tHW Context Desc: {descriptor:#010x}
\t[HWSP].length: 0x4
\t[HWSP].data: z
\t[HWCTX].length: 0x4
\t[HWCTX].data: {}
",
            base85(&[id])
        )
    };
    let text = format!(
        "**** Xe Device Coredump ****\n**** Contexts ****\n{}{}{}",
        queue(2, "rcs0", 0x0102_f001),
        queue(3, "bcs0", 0x0205_0001),
        "GuC ID: 4\n\tName: vcs0\n\t[HWCTX].length: 0x4\n\t[HWCTX].data: z\n"
    );
    let dump = Devcoredump::read(text.as_bytes());
    let found: Vec<_> = (dump.state.buffers.iter())
        .map(|buffer| (buffer.engine.as_deref().unwrap(), buffer.address))
        .collect();
    assert_eq!(
        found,
        [
            ("rcs0", 0x0102_f000),
            ("rcs0", 0x0103_0000),
            ("bcs0", 0x0205_0000),
            ("bcs0", 0x0205_1000),
            // The third queue has no descriptor, and does not take the descriptor of another queue.
            ("vcs0", 0x1000),
        ]
    );
}

#[test]
fn cuts_are_told() {
    let text = dump(false);
    for cut in 0..text.len() {
        let dump = Devcoredump::read(&text.as_bytes()[..cut]);
        let told = !dump.state.notes.is_empty();
        let at_line_end = cut == 0 || text.as_bytes()[cut - 1] == b'\n';
        assert!(told || at_line_end, "cut at byte {cut} and not reported");
        dump.submissions(&mut |_| Ok(())).unwrap();
    }
}

#[test]
fn lengths_ask_for_no_memory() {
    let text = "**** VM state ****\n[1000].length: 0xffffffffffffffff\n[1000].data: z!!!!\"\n[2000].length: 0x4\n[2000].data: zzzz\n";
    let dump = Devcoredump::read(text.as_bytes());
    assert_eq!(dump.state.buffers[0].data, [0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(dump.state.buffers[1].data, [0, 0, 0, 0]);
    let notes: Vec<_> = dump.state.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(notes[1], "line 5: [2000] has 0x10 bytes, its length says 0x4");
    let note = |text: &str| Devcoredump::read(text.as_bytes()).state.notes[0].to_string();
    assert_eq!(note(""), "line 0: the file speaks of no engine and no memory");
    assert_eq!(
        note("**** VM state ****\n[1000].length: 0x10\n"),
        "line 2: [1000] has no bytes in the file"
    );
    assert!(note("**** VM state ****\nfoo\n").contains("not a line about memory"));
}

/// Linux 6.12 prints no process id, Linux 6.18 prints properties of the memory.
#[test]
fn later_and_earlier_kernels() {
    let text = dump(false)
        .replace("Process: deqp-vk [4711]", "Process: deqp-vk")
        .replace("**** VM state ****\n", "**** VM state ****\nVM.uapi_flags: 0x1\n")
        .replace(
            "[200000000].length: 0x8\n",
            "[300000000].length: 0x1000\n\
             [300000000].properties: read_write|null_sparse|mem_region=0x0|pat_index=0\n\
             [200000000].length: 0x8\n\
             [200000000].properties: read_only|bo|mem_region=0x1|pat_index=2|cpu_caching=1\n",
        );
    let dump = Devcoredump::read(text.as_bytes());
    let notes: Vec<_> = dump.state.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].ends_with("[100000000] was not dumped: error -14"));
    assert_eq!(dump.state.buffers.len(), 4);
    let process = dump.state.engine("rcs0").unwrap().process.as_ref().unwrap();
    assert_eq!((process.name.as_str(), process.pid), ("deqp-vk", 0));
    let kept = |text: &str| dump.state.other.iter().any(|line| line.text.contains(text));
    assert!(kept("VM.uapi_flags: 0x1") && kept("cpu_caching=1"));
}
