//! Texts in the format of each kernel version.

use genxml::engine::EngineId;
use genxml::error_state::{BufferKind, ErrorState};
use std::fmt::Write as _;
use std::io::Write as _;

/// A batch of three packets, in a page: PIPE_CONTROL, MI_NOOP, MI_BATCH_BUFFER_END.
pub fn batch() -> Vec<u32> {
    let mut dwords = vec![0x7a00_0004, 0x0010_0000, 0, 0, 0, 0, 0, 0x0500_0000];
    dwords.resize(1024, 0);
    dwords
}

/// A ring of one page. The request wraps: it goes from byte 0xff0 to byte 0x10. It contains
/// MI_NOOP, MI_NOOP, MI_NOOP, MI_BATCH_BUFFER_START to `target`, MI_NOOP, MI_NOOP.
pub fn ring(target: u64) -> Vec<u32> {
    let mut dwords = vec![0; 1024];
    dwords[1023] = 0x1880_0101;
    dwords[0] = target as u32;
    dwords[1] = (target >> 32) as u32;
    dwords
}

pub fn rows(dwords: &[u32]) -> String {
    let mut text = String::new();
    for (index, dword) in dwords.iter().enumerate() {
        writeln!(text, "{:08x} :  {dword:08x}", 4 * index).unwrap();
    }
    text
}

/// Encodes in base 85, digit by digit as the kernel's loop does.
pub fn base85(bytes: &[u8]) -> String {
    let mut text = String::new();
    for dword in bytes.chunks(4) {
        let mut value = dword.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
        if value == 0 {
            text.push('z');
            continue;
        }
        let mut digits = String::new();
        for _ in 0..5 {
            digits.insert(0, char::from(33 + (value % 85) as u8));
            value /= 85;
        }
        text.push_str(&digits);
    }
    text
}

pub fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

/// A line of compressed memory (deflate).
pub fn deflated(dwords: &[u32]) -> String {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    zlib.write_all(&bytes(dwords)).unwrap();
    let mut stream = zlib.finish().unwrap();
    stream.resize(stream.len().next_multiple_of(4), 0);
    format!(":{}\n", base85(&stream))
}

pub fn read(text: &str) -> ErrorState {
    ErrorState::read(text.as_bytes())
}

/// Linux 3.10: short names, 32 bits, a line for each dword.
pub fn linux_3_10() -> String {
    format!(
        "Time: 1386871441 s 123456 us
Kernel: 3.10.24
PCI ID: 0x0a16
EIR: 0x00000000
IER: 0xfc000461
PGTBL_ER: 0x00000000
FORCEWAKE: 0x00000002
DERRMR: 0xffffffff
CCID: 0x00000000
  fence[0] = 03bf000003800001
  INSTDONE_00: 0xffdfbffb
  INSTDONE_01: 0xffffffff
ERROR: 0x00000107
DONE_REG: 0x0b8dffff
render command stream:
  HEAD: 0x00c00004
  TAIL: 0x00000010
  CTL: 0x00000001
  ACTHD: 0x01235008
  IPEIR: 0x00000000
  IPEHR: 0x7a000004
  INSTDONE_0: 0xffdfbffb
  INSTDONE_1: 0xfffffffe
  INSTDONE_2: 0xfffffffd
  INSTDONE_3: 0xfffffffc
  BBADDR: 0x01235009
  INSTPS: 0x8000020b
  INSTPM: 0x00006080
  FADDR: 0x01235200
  RC PSMI: 0x00000010
  FAULT_REG: 0x00000000
  SYNC_0: 0x00000001 [last synced 0x00000002]
  SYNC_1: 0x00000000 [last synced 0x00000000]
  seqno: 0x0000beef
  waiting: yes
  ring->head: 0x00000ff0
  ring->tail: 0x00000010
blt command stream:
  HEAD: 0x00000000
  TAIL: 0x00000000
  INSTDONE_0: 0xffffffff
  INSTDONE_1: 0x00000000
  waiting: no
Active [2]:
  01235000     4096 08 00 beef 0 dirty render LLC
  02000000  1048576 02 02 beef beef P X (name: 3) (fence: 1)
Pinned [0]:
render ring --- gtt_offset = 0x01235000
{}render ring --- 1 requests
  seqno 0x0000bef0, emitted 4294967, tail 0x00000010
render ring --- ringbuffer = 0x00001000
{}render ring --- HW Context = 0x00010000
[0000] 00000000 1100101b 00002244 00090009
[0010] 00002034 00000000 00002030 00000010
Num Pipes: 1
Pipe [0]:
  Power: on
  SRC: 063f0383
",
        rows(&batch()),
        rows(&ring(0x0123_5000)),
    )
}

#[test]
fn linux_3_10_is_read() {
    let state = read(&linux_3_10());
    assert_eq!(state.notes.len(), 1, "{:?}", state.notes);
    assert_eq!(state.notes[0].text, "the context ends inside a page, with 32 bytes");
    assert_eq!(state.entry("Kernel"), Some("3.10.24"));
    assert_eq!(state.pci_id(), Some(0x0a16));
    assert_eq!(state.platform().unwrap().to_string(), "Haswell (Gen7.5)");
    assert_eq!(state.register("ERROR").unwrap().value, 0x107);
    assert_eq!(state.register("fence[0]").unwrap().value, 0x03bf_0000_0380_0001);
    assert_eq!(state.register("INSTDONE_00").unwrap().value, 0xffdf_bffb, "under its own name");

    let names: Vec<_> = state.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["rcs0", "bcs0"]);
    let engine = &state.engines[0];
    assert_eq!(engine.id(), Some(EngineId::Render));
    assert_eq!(engine.value("ACTHD"), Some(0x0123_5008));
    assert_eq!(engine.value("INSTDONE"), Some(0xffdf_bffb));
    assert_eq!(engine.value("SC_INSTDONE"), Some(0xffff_fffe));
    assert_eq!(engine.value("SAMPLER_INSTDONE[0][0]"), Some(0xffff_fffd));
    assert_eq!(engine.value("ROW_INSTDONE[0][0]"), Some(0xffff_fffc));
    assert_eq!(engine.register("SYNC_0").unwrap().more, [2]);
    assert_eq!(engine.entry("waiting"), Some("yes"));
    assert_eq!(engine.requests.len(), 1);
    assert_eq!((engine.requests[0].seqno, engine.requests[0].tail), (0xbef0, Some(0x10)));
    assert_eq!(state.engines[1].value("INSTDONE"), Some(0xffff_ffff));
    assert_eq!(state.engines[1].register("SC_INSTDONE"), None, "only the render engine has one");

    let kinds: Vec<_> = state.buffers.iter().map(|buffer| (&buffer.kind, buffer.address)).collect();
    use BufferKind::{Batch, Context, Ring};
    assert_eq!(kinds, [(&Batch, 0x0123_5000), (&Ring, 0x1000), (&Context, 0x1_0000)]);
    assert_eq!(state.buffers[0].data, bytes(&batch()));
    assert_eq!(state.buffers[2].data[8..16], [0x44, 0x22, 0, 0, 9, 0, 9, 0]);
    assert_eq!(state.lists[0].name, "Active");
    assert_eq!(state.lists[0].rows[1].address, 0x0200_0000);
    assert_eq!((state.lists[0].rows[1].size, state.lists[1].rows.len()), (1 << 20, 0));
    let other: Vec<_> = state.other.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(other, ["Num Pipes: 1", "Pipe [0]:", "  Power: on", "  SRC: 063f0383"]);
}

/// Linux 3.14 on Broadwell prints the process, and 64 bits of the ring registers.
#[test]
fn linux_3_14_is_read() {
    let state = read(&format!(
        "GPU HANG: ecode 8:0:0x85dffffb, in Xorg [1234], reason: Ring hung, action: reset
Time: 1 s 2 us
Kernel: 3.16.0-4-amd64
Active process (on ring render): Xorg [1234]
Active process (on ring video enhancement ring): mpv --- [2] [77]
Reset count: 0
Suspend count: 3
PCI ID: 0x1616
EIR: 0x00000000
GTIER gt 0: 0x00000001
GTIER gt 3: 0x00000101
  INSTDONE_0: 0xffdfbffb
  INSTDONE_1: 0xfffffffe
  INSTDONE_2: 0xfffffffd
  INSTDONE_3: 0xfffffffc
ERROR: 0x00000000
render command stream:
  HEAD: 0x00c00004
  TAIL: 0x00000010
  HWS: 0x00005000
  ACTHD: 0x00000000 01235008
  IPEHR: 0x7a000004
  INSTDONE: 0xffdfbffb
  BBADDR: 0x00000000 01235009
  PDP0: 0x0000000012345000
  hangcheck: hung [42]
vebox command stream:
  HEAD: 0x00000000
vm[0]
  Active [0]:
vm[1]
  Active [1]:
    01235000     4096 08 00 [ 1 00 00 00 00 ] 00 dirty LLC
render ring (submitted by Xorg [1234]) --- gtt_offset = 0x01235000
{}render ring (w/a) --- gtt_offset = 0x00007000
{}render ring --- HW Status = 0x00005000
[0000] 00000001 00000000 00000000 00000000
Semaphore page = 0x00006000
[0000] 00000000 00000002 00000000 00000000
",
        rows(&batch()),
        rows(&vec![0; 1024])
    ));
    assert_eq!(
        state.entry("GPU HANG"),
        Some("ecode 8:0:0x85dffffb, in Xorg [1234], reason: Ring hung, action: reset")
    );
    assert_eq!(state.register("GTIER[3]").unwrap().value, 0x101);
    let engine = &state.engines[0];
    let process = engine.process.as_ref().unwrap();
    assert_eq!((process.name.as_str(), process.pid), ("Xorg", 1234));
    assert_eq!(state.engine("vecs0").unwrap().process.as_ref().unwrap().name, "mpv --- [2]");
    assert_eq!(engine.value("ACTHD"), Some(0x0123_5008));
    assert_eq!(engine.value("SC_INSTDONE"), Some(0xffff_fffe), "the device's INSTDONE_1");
    assert_eq!(state.register("INSTDONE_0"), None, "it belongs to the engine");
    assert_eq!(engine.entry("hangcheck"), Some("hung [42]"));
    assert_eq!((state.lists[1].vm, state.lists[1].rows.len()), (Some(1), 1));
    let kinds: Vec<_> = state.buffers.iter().map(|buffer| buffer.kind.clone()).collect();
    use BufferKind::{Batch, Semaphores, Status, WorkaroundBatch};
    assert_eq!(kinds, [Batch, WorkaroundBatch, Status, Semaphores]);
    assert_eq!(state.buffers[3].engine, None);
    assert_eq!(state.buffers[3].data[4], 2);
}

/// Linux 4.14: memory is compressed and encoded in base 85. Old names of engines are before the
/// registers, new ones before the buffers.
#[test]
fn linux_4_14_is_read() {
    let state = read(&format!(
        "GPU HANG: ecode 8:0:0x85dffffb, in glxgears [99], reason: Hang on rcs0, action: reset
Kernel: 4.14.13
Time: 1515000000 s 1 us
Boottime: 100 s 0 us
Uptime: 99 s 0 us
Active process (on ring render): glxgears [99], score 10
Platform: BROADWELL
PCI ID: 0x1616
PCI Revision: 0x09
PCI Subsystem: 17aa:2227
IOMMU enabled?: 0
GTIER[0]: 0x00000000
CCID: 0x00000000
FAULT_TLB_DATA: 0x00000012 0x0abcdef0
render command stream:
  START: 0x00001000
  HEAD:  0x00c00004 [0x00000ff0]
  TAIL:  0x00000010 [0x00000000, 0x00000018]
  ACTHD: 0x0000ffff 01235008
  SAMPLER_INSTDONE[0][2]: 0xfffffff7
  ROW_INSTDONE[0][2]: 0xffffffff
  batch: [0x0000ffff_01235000, 0x0000ffff_01236000]
  BBADDR: 0x0000ffff_01235009
  SYNC_0: 0x00000000
  PDP0: 0x0000000012345000
  last_seqno: 0x00000007
  hangcheck stall: yes
  hangcheck action timestamp: 4294967, 16 ms ago
  engine reset count: 2
  ELSP[0]:  pid 99, ban score 10, seqno        5:0000001f!+, emitted 16ms ago, head 00000ff0, tail 00000010
  ELSP[1]:
  Active context: glxgears[99] user_handle 1 hw_id 4, ban score 10 guilty 1 active 0
Active (rcs0) [1]:
    0000ffff_01235000     4096 08 00 [ 1f 00 00 00 00 ] 00 LLC
Pinned (global) [0]:
rcs0 (submitted by glxgears [99], ctx 1 [4], score 10) --- gtt_offset = 0x0000ffff 01235000
{}rcs0 --- user = 0x00000001 00000000
~z!!!!\"
rcs0 --- 1 requests
  pid 99, ban score 10, seqno        5:00000020, emitted 8ms ago, head 00000010, tail 00000020
rcs0 --- 1 waiters
 seqno 0x0000001f for glxgears [99]
rcs0 --- ringbuffer = 0x00000000 00001000
{}rcs0 --- HW context = 0x00000000 00010000
{}global --- Semaphores = 0x00000000 00006000
:{}
is_mobile: no
i915.modeset=-1
",
        deflated(&batch()),
        deflated(&ring(0xffff_0123_5000)),
        deflated(&[1, 2, 3, 4]),
        "xda$#!!!" // damaged
    ));
    let engine = &state.engines[0];
    let process = engine.process.as_ref().unwrap();
    assert_eq!((process.context, process.score), (Some((1, 4)), Some(10)));
    assert_eq!(engine.register("HEAD").unwrap().more, [0xff0]);
    assert_eq!(engine.register("TAIL").unwrap().more, [0, 0x18]);
    assert_eq!(engine.value("ACTHD"), Some(0xffff_0123_5008));
    assert_eq!(engine.value("BBADDR"), Some(0xffff_0123_5009));
    assert_eq!(engine.register("batch").unwrap().more, [0xffff_0123_6000]);
    assert_eq!(engine.value("SAMPLER_INSTDONE[0][2]"), Some(0xffff_fff7));
    assert_eq!(engine.value("engine reset count"), Some(2));
    assert_eq!(state.register("FAULT_TLB_DATA").unwrap().more, [0x0abc_def0]);
    let ported = &engine.requests[0];
    assert_eq!(
        (ported.port, ported.pid, ported.context, ported.seqno),
        (Some(0), Some(99), Some(5), 0x1f)
    );
    assert_eq!((ported.head, ported.tail), (Some(0xff0), Some(0x10)));
    assert_eq!((engine.requests[1].port, engine.requests[1].seqno), (None, 0x20));
    assert!(
        engine.other.iter().any(|line| line.text.contains("for glxgears [99]")),
        "waiters are stored"
    );
    assert_eq!(state.lists[0].rows[0].address, 0xffff_0123_5000);
    assert_eq!(state.buffers[0].data, bytes(&batch()));
    assert_eq!(state.buffers[1].data, [0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(state.buffers[3].data, bytes(&[1, 2, 3, 4]));
    let notes: Vec<_> = state.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("`x` is not a character of data")), "{notes:?}");
    assert_eq!(state.other.len(), 2);
}

/// Linux 6.1: an engine's buffers follow its registers.
pub fn linux_6_1() -> String {
    format!(
        "GPU HANG: ecode 8:1:85dffffb, in gnome-shell [7]
Kernel: 6.1.0 x86_64
Driver: 20201103
Time: 1 s 2 us
Capture: 4294967 jiffies; 8 ms ago
Active process (on ring rcs0): gnome-shell [7]
Platform: BROADWELL
Subplatform: 0x0
PCI ID: 0x1616
GT awake: yes
CS timestamp frequency: 12500000 Hz, 80 ns
EIR: 0x00000000
GTT_CACHE_EN: 0x00000000
  fence[0] = 00000000
rcs0 command stream:
  CCID:  0x00000000
  START: 0x00001000
  HEAD:  0x00c00004 [0x00000ff0]
  TAIL:  0x00000010 [0x00000000, 0x00000018]
  ACTHD: 0x0000ffff 01235008
  IPEHR: 0x7a000004
  ESR:   0x00000000
  INSTDONE: 0xffdfbffb
  BBADDR: 0x0000ffff_01235009
  GFX_MODE: 0x00008000
  PDP0: 0x0000000012345000
  ELSP[0]:  pid 7, seqno        5:0000001f!+, prio -1022, head 00000ff0, tail 00000010
  hung: 1
  engine reset count: 0
  Active context: gnome-shell[7] prio 0, guilty 0 active 1, runtime total 123ns, avg 5ns
  context timeline seqno 31
rcs0 --- batch = 0x0000ffff 01235000
gtt_page_sizes = 0x00010000
{}rcs0 --- ring = 0x00000000 00001000
{}rcs0 --- WA batch = 0x00000000 00007000
{}graphics version: 8
",
        deflated(&batch()),
        deflated(&ring(0xffff_0123_5000)),
        deflated(&batch()),
    )
}

#[test]
fn linux_6_1_is_read() {
    let state = read(&linux_6_1());
    assert!(state.platform().unwrap().is_described());
    let engine = &state.engines[0];
    assert_eq!(engine.value("hung"), Some(1));
    assert_eq!(engine.requests[0].priority, Some(-1022));
    assert_eq!(engine.entry("Active context").map(|text| &text[..11]), Some("gnome-shell"));
    assert_eq!(state.buffers[0].page_sizes, Some(0x1_0000));
    assert_eq!(state.buffers[0].kind, BufferKind::Batch);
    assert_eq!(state.buffers[1].kind, BufferKind::Ring);
    assert_eq!(state.buffers[2].kind, BufferKind::WorkaroundBatch);
    assert_eq!(state.other[0].text, "graphics version: 8");
    assert_eq!(engine.other[0].text, "  context timeline seqno 31");
    assert_eq!(state.notes, []);
}

/// A ring that wraps starts the batch. The workaround batch is a separate submission.
#[test]
fn engines_executed_rings_and_batches() {
    let state = read(&linux_6_1());
    let mut told = Vec::new();
    state
        .submissions(&mut |submission| {
            let mut first = Vec::new();
            let memory = match submission.global {
                true => submission.memory.global().expect("an error state has global memory"),
                false => submission.memory,
            };
            memory.dwords(submission.address, 1, &mut first);
            told.push((
                submission.name.to_owned(),
                submission.engine,
                submission.address,
                submission.length,
                submission.ring,
                first[0],
            ));
            Ok(())
        })
        .unwrap();
    let ring = genxml::dump::Ring { start: 0x1000, size: 0x1000, head: 0xff0, tail: 0x10 };
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], ("rcs0 ring".into(), EngineId::Render, 0x1ff0, 0x20, Some(ring), 0));
    assert_eq!(
        told[1],
        ("rcs0 workaround batch".into(), EngineId::Render, 0x7000, 0, None, 0x7a00_0004)
    );
}

/// If the file does not say where the request starts in the ring, the submission starts with the
/// last jump to the batch before the ring's head.
#[test]
fn old_rings_start_with_their_jump() {
    let text = linux_3_10().replace("PCI ID: 0x0a16", "PCI ID: 0x1616");
    let mut first = None;
    read(&text)
        .submissions(&mut |submission| {
            first.get_or_insert((submission.address, submission.length));
            Ok(())
        })
        .unwrap();
    assert_eq!(first, Some((0x1000 + 0xffc, 0x14)));
}

#[test]
fn files_are_known_by_their_start() {
    assert!(ErrorState::starts_like(linux_3_10().as_bytes()));
    assert!(ErrorState::starts_like(linux_6_1().as_bytes()));
    assert!(ErrorState::starts_like(b"render ring --- gtt_offset = 0x01235000\n00000000 :  0\n"));
    assert!(!ErrorState::starts_like(b"**** Xe Device Coredump ****\nkernel: 6.12\nPID: 3\n"));
    assert!(!ErrorState::starts_like(b"fn main() {\n}\n"));
}
