//! Written error states, read back.

use crate::error_state::spellings::{linux_3_10, linux_6_1, read};
use genxml::capture::{Capture, Event, Playback};
use genxml::engine::EngineId;
use genxml::error_state::{
    BufferKind, Crash, CrashBuffer, Engine, Entry, ErrorState, List, Listed, PageFault, Process,
    Register, Request, Spelling, write,
};
use genxml_testkit::corpus;

fn text(state: &ErrorState, spelling: Spelling) -> (Vec<u8>, Vec<String>) {
    let mut text = Vec::new();
    let left_out = write(state, spelling, &mut text).unwrap();
    (text, left_out)
}

/// Writes and reads an error state. The result must equal the part that the format can hold.
fn comes_back(state: &ErrorState, spelling: Spelling) {
    let (text, left_out) = text(state, spelling);
    let (expected, said) = state.reduced(spelling);
    assert_eq!(left_out, said);
    let back = ErrorState::read(&text[..]).without_lines();
    let expected = expected.without_lines();
    if back != expected {
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text
            .lines()
            .filter(|line| !line.contains(" :  "))
            .map(|line| &line[..line.len().min(120)])
            .collect();
        assert_eq!(back.header, expected.header, "{spelling}");
        assert_eq!(back.registers, expected.registers, "{spelling}");
        assert_eq!(back.engines, expected.engines, "{spelling}:\n{}", lines.join("\n"));
        assert_eq!(back.lists, expected.lists, "{spelling}");
        assert_eq!(back.other, expected.other, "{spelling}");
        assert_eq!(back.buffers.len(), expected.buffers.len(), "{spelling}:\n{}", lines.join("\n"));
        for (back, expected) in back.buffers.iter().zip(&expected.buffers) {
            let name = |buffer: &genxml::error_state::Buffer| {
                (buffer.engine.clone(), buffer.kind.clone(), buffer.address, buffer.data.len())
            };
            assert_eq!(name(back), name(expected), "{spelling}");
            assert!(back.data == expected.data, "{spelling}: bytes of {:?}", name(back));
        }
        panic!("{spelling}: they differ");
    }
}

/// A register with a value and the further values of its line.
fn register(name: &str, value: u64, more: &[u64]) -> Register {
    Register { name: name.into(), value, more: more.into() }
}

/// A line with a key and a text.
fn entry(key: &str, value: &str) -> Entry {
    Entry { key: key.into(), value: value.into() }
}

/// A request with all fields set.
fn request(port: Option<u32>, seqno: u32) -> Request {
    Request {
        port,
        pid: Some(9),
        context: Some(4),
        seqno,
        head: Some(0x40),
        tail: Some(0x80),
        priority: Some(-3),
        more: vec![entry("flags", "!+"), entry("ban score", "1"), entry("emitted", "5ms ago")],
    }
}

/// An engine with every kind of register and line, and with two requests, one of them in a port.
fn engine(name: &str) -> Engine {
    Engine {
        name: name.into(),
        process: Some(Process {
            name: "a (b) [c]".into(),
            pid: 77,
            context: Some((1, 2)),
            score: Some(3),
        }),
        registers: vec![
            register("CCID", 1, &[]),
            register("START", 0x1000, &[]),
            register("HEAD", 0x20, &[0x10]),
            register("TAIL", 0x40, &[0x30, 0x38]),
            register("ACTHD", 0xffff_1234_5678, &[]),
            register("IPEHR", 0x7a00_0004, &[]),
            register("INSTDONE", 0xffff_fffe, &[]),
            register("SC_INSTDONE", 0xffff_fffd, &[]),
            register("SAMPLER_INSTDONE[0][0]", 3, &[]),
            register("SAMPLER_INSTDONE[0][1]", 4, &[]),
            register("ROW_INSTDONE[0][0]", 5, &[]),
            register("batch", 0x1_0000_1000, &[0x1_0000_2000]),
            register("BBADDR", 0x1_0000_1008, &[]),
            register("SYNC_0", 1, &[2]),
            register("PDP0", 0x1_2345_6000, &[]),
            register("seqno", 7, &[]),
            register("hung", 1, &[]),
            register("NEW_REGISTER", 0x1_0000_0001, &[]),
        ],
        entries: vec![
            entry("hangcheck", "hung [42]"),
            entry("waiting", "yes"),
            entry("Active context", "x[7] y"),
        ],
        requests: vec![request(None, 8), request(Some(1), 9)],
        other: Vec::new(),
    }
}

/// Buffers of each kind for each engine, and two buffers that belong to no engine.
fn buffers() -> Vec<genxml::error_state::Buffer> {
    let mut buffers = Vec::new();
    use BufferKind as Is;
    let kinds = [
        Is::Batch,
        Is::User,
        Is::Ring,
        Is::HardwareRing,
        Is::Status,
        Is::Context,
        Is::WorkaroundContext,
        Is::WorkaroundBatch,
        Is::NullContext,
        Is::Other("something new".into()),
    ];
    for engine in ["rcs0", "vcs1", "vecs0"] {
        for (index, kind) in kinds.iter().enumerate() {
            buffers.push(genxml::error_state::Buffer {
                engine: Some(engine.into()),
                kind: kind.clone(),
                address: 0xffff_0000_0000 + 0x1_0000 * index as u64,
                data: (0..1024u32 * (1 + index as u32 % 2))
                    .flat_map(|i| (i * i % 77).to_le_bytes())
                    .collect(),
                page_sizes: (index == 0).then_some(0x1_0000),
                line: 0,
            });
        }
    }
    for kind in [Is::Semaphores, Is::Other("GuC log buffer".into())] {
        buffers.push(genxml::error_state::Buffer {
            kind,
            address: 0x3000,
            data: vec![1; 4096],
            ..Default::default()
        });
    }
    buffers
}

/// An error state with every kind of information.
fn full() -> ErrorState {
    ErrorState {
        header: vec![
            entry("GPU HANG", "ecode 8:1:0, in a [1]"),
            entry("Kernel", "4.19"),
            entry("Driver", "1"),
            entry("Time", "1 s 2 us"),
            entry("Something later", "is kept"),
            entry("PCI ID", "0x1616"),
        ],
        registers: vec![
            register("EIR", 1, &[]),
            register("GTIER[2]", 2, &[]),
            register("fence[3]", 0x3bf_0000_0000_0001, &[]),
            register("FAULT_TLB_DATA", 0x10, &[0xabc]),
            register("GAM_DONE", 5, &[]),
        ],
        engines: vec![engine("rcs0"), engine("vcs1"), engine("vecs0")],
        lists: vec![
            List {
                name: "Active (rcs0, vcs1)".into(),
                vm: Some(1),
                rows: vec![Listed {
                    address: 0x12_3456_7000,
                    size: 4096,
                    rest: "08 00 LLC".into(),
                }],
            },
            List { name: "Pinned (global)".into(), vm: Some(1), rows: Vec::new() },
        ],
        buffers: buffers(),
        other: vec![genxml::error_state::Line { number: 0, text: "i915.modeset=-1".into() }],
        notes: Vec::new(),
    }
}

#[test]
fn every_spelling_comes_back() {
    let state = full();
    for spelling in Spelling::ALL {
        comes_back(&state, spelling);
        let (reduced, left_out) = state.reduced(spelling);
        assert_eq!(reduced.buffers.len(), state.buffers.len(), "{spelling}: all memory is written");
        assert!(!left_out.is_empty(), "{spelling}: some lines belong to other versions");
        assert_eq!(reduced.reduced(spelling).0, reduced, "{spelling}: idempotent");
    }
    for text in [linux_3_10(), linux_6_1()] {
        let state = read(&text);
        Spelling::ALL.into_iter().for_each(|spelling| comes_back(&state, spelling));
    }
}

/// Text by which readers recognise the format of each kernel.
#[test]
fn spellings_look_like_their_kernels() {
    let state = full();
    let has = |spelling, line: &str| {
        let (text, _) = text(&state, spelling);
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().any(|other| other.starts_with(line)), "{spelling} lacks {line:?}");
    };
    use Spelling::*;
    has(Linux3_10, "render command stream:");
    has(Linux3_10, "  ACTHD: 0xffff12345678");
    has(Linux3_10, "  INSTDONE_1: 0xfffffffd");
    // Values above 32 bits, which those kernels do not print, in the form that later kernels use.
    has(Linux3_10, "bsd2 ring --- ringbuffer = 0x0000ffff 00020000");
    has(Linux3_10, "00000004 :  00000001");
    has(Linux3_14, "render ring (submitted by a (b) [c] [77]) --- gtt_offset = ");
    has(Linux3_14, "  INSTDONE_3: 0x00000005");
    has(Linux3_14, "video enhancement ring --- HW Status = ");
    has(Linux3_14, "GTIER gt 2: 0x00000002");
    has(Linux4_4, "render ring --- ringbuffer = 0x0000ffff 00020000");
    has(Linux4_4, "  ACTHD: 0x0000ffff 12345678");
    has(
        Linux4_10,
        "render ring (submitted by a (b) [c] [77], ctx 1 [2], score 3) --- gtt_offset = 0x0000ffff 00000000",
    );
    has(Linux4_10, "  HEAD:  0x00000020 [0x00000010]");
    has(Linux4_10, "  SAMPLER_INSTDONE[0][1]: 0x00000004");
    has(Linux4_14, "bsd2 command stream:");
    has(Linux4_14, "vcs1 --- ringbuffer = 0x0000ffff 00020000");
    has(Linux5_4, "vecs0 command stream:");
    has(Linux5_4, "  batch: [0x00000001_00001000, 0x00000001_00002000]");
    has(Linux6_1, "rcs0 --- batch = 0x0000ffff 00000000");
    has(Linux6_1, "rcs0 --- ring = 0x0000ffff 00020000");
    has(Linux6_1, "gtt_page_sizes = 0x00010000");
    has(Linux6_1, "  ELSP[1]:  pid 9, seqno        4:00000009!+, prio -3, ");
    has(Linux6_1, ":");
    has(Linux6_1Plain, "~z!!!!\"");
}

#[test]
fn a_page_fault_is_told_by_its_registers() {
    let batch = [0u8; 4096];
    let crash = Crash {
        reason: "page fault",
        engine: EngineId::Blitter,
        process: Some(("demo", 7)),
        batch: 0xffff_0000_0010,
        buffers: vec![
            CrashBuffer { kind: BufferKind::User, address: 0x1000_0000, data: &batch },
            CrashBuffer { kind: BufferKind::User, address: 0xffff_0000_0000, data: &batch },
        ],
        acthd: Some(0xffff_0000_0014),
        ipehr: Some(0x5430_0004),
        fault: Some(PageFault { address: 0xabcd_ef01_2345, global: false, level: 2, source: 5 }),
        registers: vec![("INSTDONE", 0xffff_fffe)],
        ..Crash::default()
    };
    let state = crash.error_state();
    Spelling::ALL.into_iter().for_each(|spelling| comes_back(&state, spelling));
    let engine = state.engine("bcs0").unwrap();
    // Bits as Linux reads them: valid, type in 2:1, source in 10:3, engine in 14:12 (4 is the
    // blitter).
    assert_eq!(engine.value("FAULT_REG"), Some(1 | 2 << 1 | 5 << 3 | 4 << 12));
    let data = state.register("FAULT_TLB_DATA").unwrap();
    // Mesa's reader: DATA0 << 12 | (DATA1 & 0xf) << 44.
    assert_eq!(data.more[0] << 12 | (data.value & 0xf) << 44, 0xabcd_ef01_2000);
    assert_eq!(data.value & 1 << 4, 0);
    assert_eq!(state.buffers[0].kind, BufferKind::Batch);
    assert_eq!(state.buffers[0].address, 0xffff_0000_0000);
    let ring = state.buffers.iter().find(|buffer| buffer.kind == BufferKind::Ring).unwrap();
    assert_eq!(ring.address, 0x1000_1000, "the first free place");
    // Linux: MI_BATCH_BUFFER_START_GEN8 | PPGTT bit 8, then the address, low and high, canonical.
    assert_eq!(ring.data[..12], [0x01, 0x01, 0x80, 0x18, 0x10, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    let mut told = Vec::new();
    state
        .submissions(&mut |submission| {
            told.push((submission.name.to_owned(), submission.address, submission.length));
            Ok(())
        })
        .unwrap();
    assert_eq!(told, [("bcs0 ring".to_owned(), 0x1000_1000, 16)]);
}

/// Oracle: the memory that captures of real drivers hold.
#[test]
fn captures_come_back_from_every_spelling() {
    let mut seen = 0;
    for path in corpus::captures() {
        let capture = Capture::open(&path).unwrap();
        let mut playback = Playback::new(&capture);
        let mut execs = 0;
        while let Some(event) = playback.step() {
            let Event::Exec(exec) = event else { continue };
            let bytes: u64 = exec.objects.iter().map(|object| object.size).sum();
            // Large memory takes long as text. So only two submissions of each capture are written,
            // the first ones of at most 3 MiB.
            if execs >= 2 || bytes > 3 << 20 {
                continue;
            }
            execs += 1;
            let memory = playback.memory(exec);
            let state = ErrorState::of_exec(&capture, exec, &memory);
            // The first three formats print one dword per line, which is long. So only the first
            // of the two submissions is written in them.
            let first = if execs == 1 { 0 } else { 3 };
            for spelling in &Spelling::ALL[first..] {
                comes_back(&state, *spelling);
            }
            let view = state.memory(&state.engines[0].name);
            for (address, bytes) in memory.ranges() {
                use genxml::decode::Memory;
                assert_eq!(
                    view.tail(address),
                    bytes,
                    "{}: the memory of the submission",
                    path.display()
                );
            }
            seen += 1;
        }
    }
    if corpus::folder().is_some() {
        assert!(seen >= 20, "only {seen} submissions are small enough");
    }
}
