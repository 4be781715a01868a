//! Summaries of hangs, from error states that the tests write.
//!
//! Oracles: bits and names of registers from Mesa's gen8.xml and from Linux; the commands in the
//! test.

use genxml::core::bits;
use genxml::core::reflect::Kind;
use genxml::decode::Tables;
use genxml::engine::EngineId;
use genxml::error_state::{BufferKind, Crash, CrashBuffer, ErrorState, PageFault, Spelling, write};
use genxml::hang::{self, Hang, Location, Style, Summary};

/// A packet with these stored values.
fn packet(name: &str, fields: &[(&str, u64)]) -> Vec<u32> {
    let container = Tables::gen8().container(name).unwrap_or_else(|| panic!("no {name}"));
    let mut out = vec![0; container.dwords()];
    if let Kind::Instruction { opcode, length_field, bias, .. } = container.kind {
        out[0] = opcode;
        if let Some((start, end)) = length_field {
            let length = out.len() as u64 - u64::from(bias);
            bits::put(&mut out, start, end, length);
        }
    }
    for (name, value) in fields {
        let field = container.fields.iter().find(|field| field.name == *name);
        let field = field.unwrap_or_else(|| panic!("{} has no {name}", container.name));
        bits::put(&mut out, field.start, field.end, *value);
    }
    out
}

fn page(dwords: &[Vec<u32>]) -> Vec<u8> {
    let mut bytes: Vec<u8> = dwords.concat().into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.resize(4096, 0);
    bytes
}

const BATCH: u64 = 0xffff_0000_0000;
const SEMAPHORE: u64 = 0x20_0000;

/// A batch: MI_NOOP, 3DPRIMITIVE (broken or not), MI_SEMAPHORE_WAIT until memory is at least 5,
/// MI_NOOP, end.
fn batch(broken: bool) -> Vec<u8> {
    let fields: &[_] =
        if broken { &[("Indirect Parameter Enable", 1), ("End Offset Enable", 1)] } else { &[] };
    page(&[
        packet("MI_NOOP", &[]),
        packet("3DPRIMITIVE", fields),
        packet(
            "MI_SEMAPHORE_WAIT",
            &[
                ("Wait Mode", 1),
                ("Compare Operation", 1),
                ("Semaphore Data Dword", 5),
                ("Semaphore Address", SEMAPHORE >> 2),
            ],
        ),
        packet("MI_NOOP", &[]),
        packet("MI_BATCH_BUFFER_END", &[]),
    ])
}

/// Bytes of the batch before the wait.
const WAIT: u64 = 4 * (1 + 7);

/// The error state of a waiting program whose semaphore is `value`. It is written as text and read
/// back.
fn waiting(value: u32, broken: bool) -> ErrorState {
    let (batch, memory) = (batch(broken), page(&[vec![value]]));
    let crash = Crash {
        reason: "hang",
        process: Some(("waiter", 42)),
        batch: BATCH,
        buffers: vec![
            CrashBuffer { kind: BufferKind::User, address: SEMAPHORE, data: &memory },
            CrashBuffer { kind: BufferKind::Batch, address: BATCH, data: &batch },
        ],
        acthd: Some(BATCH + WAIT + 8),
        ipehr: Some(packet("MI_SEMAPHORE_WAIT", &[("Wait Mode", 1), ("Compare Operation", 1)])[0]),
        registers: vec![
            ("INSTDONE", 0xffff_fff7),
            ("SC_INSTDONE", 0xffff_fffe),
            ("ROW_INSTDONE[0][1]", 0xfffe_ffff),
            ("hung", 1),
            ("CTL", 1 << 10 | 1),
        ],
        ..Crash::default()
    };
    let mut text = Vec::new();
    write(&crash.error_state(), Spelling::Linux6_1, &mut text).unwrap();
    ErrorState::read(&text[..])
}

fn only(summary: &Summary) -> &Hang {
    assert_eq!(summary.engines.len(), 1);
    &summary.engines[0]
}

#[test]
fn a_wait_that_does_not_end() {
    let state = waiting(3, false);
    assert_eq!(state.notes, []);
    let summary = hang::summary(&state, Tables::gen8());
    let hang = only(&summary);
    assert_eq!(
        (hang.engine.as_str(), hang.because.as_slice()),
        ("rcs0", &["hung: 1".to_owned()][..])
    );
    assert_eq!(hang.process.as_ref().unwrap().name, "waiter");
    assert_eq!(hang.location, Location::Buffer("rcs0 batch".into(), BATCH, WAIT + 8));
    let command = hang.command.as_ref().expect("ACTHD points into the batch");
    assert_eq!((command.name, command.address), ("MI_SEMAPHORE_WAIT", BATCH + WAIT));
    assert!(
        command.text.iter().any(|line| line.contains("Semaphore Data Dword")),
        "{:?}",
        command.text
    );
    let before: Vec<_> = hang.before.iter().map(|quoted| quoted.name).collect();
    assert_eq!(before, ["MI_BATCH_BUFFER_START", "MI_NOOP", "3DPRIMITIVE"]);
    let after: Vec<_> = hang.after.iter().map(|quoted| quoted.name).collect();
    assert_eq!(after[..2], ["MI_NOOP", "MI_BATCH_BUFFER_END"]);
    let ipehr = hang.ipehr.unwrap();
    assert_eq!((ipehr.name, ipehr.back), (Some("MI_SEMAPHORE_WAIT"), Some(0)));
    let semaphore = hang.semaphore.unwrap();
    assert_eq!((semaphore.address, semaphore.global, semaphore.data), (SEMAPHORE, false, 5));
    assert_eq!((semaphore.value, semaphore.holds()), (Some(3), Some(false)));
    // Mesa gen8.xml: INSTDONE_1 bit 3 is HS Done, SC_INSTDONE bit 0 SVL Done; ROW_INSTDONE bit 16
    // EU00 Done SS0.
    let busy: Vec<_> =
        hang.units.iter().map(|units| (units.register.as_str(), units.busy.as_slice())).collect();
    assert_eq!(busy[0], ("INSTDONE", &["HS"][..]));
    assert_eq!(busy[1].1.len(), 1);
    assert_eq!(busy[2].0, "ROW_INSTDONE[0][1]");
    assert_eq!(busy[2].1, ["EU00 Done SS0"]);
    let ctl = hang.flags.iter().find(|flags| flags.register == "CTL").unwrap();
    assert!(ctl.set.iter().any(|set| set.contains("Semaphore Wait")), "{ctl:?}");
    assert_eq!(hang.head.unwrap().command.map(|(_, name)| name), Some("MI_NOOP"));
    assert_eq!(hang.tail.unwrap().command.map(|(_, name)| name), Some("MI_NOOP"));
    assert_eq!(hang.violation, None);

    let text = summary.to_string();
    assert!(
        text.contains("waits until memory at 0x200000 is >= 0x5: it is 0x3, which does not hold"),
        "{text}"
    );
    assert!(text.contains("INSTDONE: 0xfffffff7, not done: HS"), "{text}");
    assert!(summary.lines().iter().any(|line| line.style == Style::Culprit));
    let done = hang::summary(&waiting(5, false), Tables::gen8());
    assert_eq!(only(&done).semaphore.unwrap().holds(), Some(true));
}

#[test]
fn the_first_broken_rule_is_told() {
    let summary = hang::summary(&waiting(3, true), Tables::gen8());
    let violation = only(&summary).violation.as_ref().expect("the draw breaks a rule");
    assert_eq!(
        (violation.rule, violation.packet),
        ("3DPRIM-INDIRECT-END", ("3DPRIMITIVE", BATCH + 4))
    );
    assert!(summary.to_string().contains("first broken rule"));

    // Packets after the command do not count.
    let mut state = waiting(3, true);
    let engine = &mut state.engines[0];
    engine.registers.iter_mut().find(|register| register.name == "ACTHD").unwrap().value = BATCH;
    let summary = hang::summary(&state, Tables::gen8());
    assert_eq!(only(&summary).command.as_ref().unwrap().name, "MI_NOOP");
    assert_eq!(only(&summary).violation, None);
}

#[test]
fn a_page_fault_has_neighbours() {
    let batch = page(&[packet("MI_BATCH_BUFFER_END", &[])]);
    let fault = |address| {
        let crash = Crash {
            engine: EngineId::Video,
            batch: BATCH,
            buffers: vec![
                CrashBuffer { kind: BufferKind::User, address: 0x10_0000, data: &batch },
                CrashBuffer { kind: BufferKind::User, address: 0x20_0000, data: &batch },
                CrashBuffer { kind: BufferKind::Batch, address: BATCH, data: &batch },
            ],
            acthd: Some(BATCH),
            fault: Some(PageFault { address, global: false, level: 0, source: 3 }),
            ..Crash::default()
        };
        hang::summary(&crash.error_state(), Tables::gen8())
    };
    let summary = fault(0x10_1234);
    let fault_at = only(&summary).fault.as_ref().unwrap();
    assert_eq!(fault_at.address, Some(0x10_1000));
    assert_eq!((fault_at.kind, fault_at.engine), (Some("Invalid PTE Fault"), Some("MFX0")));
    assert_eq!(fault_at.source, Some(3));
    let near: Vec<_> = fault_at.near.iter().map(|near| (near.address, near.end)).collect();
    assert_eq!(near, [(0x10_0000, 0x10_1000), (0x20_0000, 0x20_1000)]);
    let text = summary.to_string();
    assert!(
        text.contains("0x0 bytes after the end of vcs0 user buffer, 0x100000 to 0x101000"),
        "{text}"
    );
    assert!(text.contains("0xff000 bytes before vcs0 user buffer"), "{text}");
    let inside = fault(0x20_0010);
    assert_eq!(only(&inside).fault.as_ref().unwrap().near.len(), 1);
    assert!(
        inside.to_string().contains("0x0 bytes into vcs0 user buffer"),
        "the register reports the page, not the byte"
    );
}

/// The last page of the address space ends at 2^48.
#[test]
fn memory_may_end_at_the_end_of_the_address_space() {
    const LAST: u64 = (1 << 48) - 4096;
    let batch = page(&[packet("MI_BATCH_BUFFER_END", &[])]);
    for canonical in [0, 0xffff << 48] {
        let crash = Crash {
            engine: EngineId::Video,
            batch: LAST | canonical,
            buffers: vec![
                CrashBuffer { kind: BufferKind::User, address: 0x10_0000, data: &batch },
                CrashBuffer { kind: BufferKind::Batch, address: LAST | canonical, data: &batch },
            ],
            acthd: Some(LAST),
            fault: Some(PageFault { address: LAST + 8, global: false, level: 0, source: 3 }),
            ..Crash::default()
        };
        let summary = hang::summary(&crash.error_state(), Tables::gen8());
        let fault = only(&summary).fault.as_ref().unwrap();
        let near: Vec<_> = fault.near.iter().map(|near| (near.address, near.end)).collect();
        assert_eq!(near, [(LAST, 1 << 48)]);
        assert!(fault.near[0].holds(LAST) && !fault.near[0].holds(1 << 48));
    }
}

/// In a ring, ACTHD equals the head register: in a real dump of Linux 4.15 both are 0x062058cc.
#[test]
fn an_engine_may_be_in_its_ring() {
    let ring = page(&[
        packet("MI_NOOP", &[]),
        packet(
            "MI_SEMAPHORE_WAIT",
            &[("Memory Type", 1), ("Compare Operation", 4), ("Semaphore Address", 0x5000 >> 2)],
        ),
        packet("MI_NOOP", &[]),
    ]);
    let memory = page(&[vec![1]]);
    let crash = Crash {
        buffers: vec![
            CrashBuffer { kind: BufferKind::Ring, address: 0x1000, data: &ring },
            CrashBuffer { kind: BufferKind::Semaphores, address: 0x5000, data: &memory },
        ],
        ring: (4, 0x18),
        acthd: Some(0x0620_0004),
        registers: vec![("HEAD", 0x0620_0004)],
        ..Crash::default()
    };
    let summary = hang::summary(&crash.error_state(), Tables::gen8());
    let hang = only(&summary);
    assert_eq!(hang.location, Location::Buffer("rcs0 ring".into(), 0x1000, 4));
    assert_eq!(hang.head.unwrap().command, Some((0x1004, "MI_SEMAPHORE_WAIT")));
    let command = hang.command.as_ref().expect("the ring is read");
    assert_eq!((command.name, command.address), ("MI_SEMAPHORE_WAIT", 0x1004));
    let semaphore = hang.semaphore.unwrap();
    assert_eq!(
        (semaphore.global, semaphore.value, semaphore.holds()),
        (true, Some(1), Some(false))
    );
}

#[test]
fn what_is_not_known_is_said() {
    let read =
        |text: &str| hang::summary(&ErrorState::read(text.as_bytes()), Tables::gen8()).to_string();
    let text = read(
        "PCI ID: 0x1916\nrcs0 command stream:\n  ACTHD: 0x00000000 12345000\n  HEAD: 0x8\n  TAIL: 0x10\n",
    );
    assert!(text.contains("Skylake (Gen9) is not Broadwell"), "{text}");
    assert!(text.contains("in no buffer that the file has"), "{text}");
    let text = read("PCI ID: 0x1616\nrcs0 command stream:\n  HEAD: 0x10\n  TAIL: 0x10\n");
    assert!(text.contains("no engine had anything to do") && text.contains("idle: rcs0"), "{text}");
    assert!(read("").contains("an unknown GPU"));
}
