//! Error states of kernels on which the GuC captures the registers.
//!
//! Oracle: texts written by hand in the formats of Linux 5.18 to 6.12
//! `drivers/gpu/drm/i915/gt/uc/intel_guc_capture.c` and `i915_gpu_error.c`.

use crate::error_state::spellings::{base85, bytes, read};
use genxml::decode::Tables;
use genxml::error_state::BufferKind;
use genxml::hang;

/// A state of an Alder Lake-P (Linux 6.12): rcs0 hung, ccs0 has no capture.
fn adl_p() -> String {
    let ring = base85(&bytes(&[0; 1024]));
    let batch = base85(&bytes(&[0x7a00_0004, 0, 0, 0, 0, 0, 0x0500_0000, 0]));
    format!(
        "GPU HANG: ecode 12:1:85dffffb, in glxgears [4711]
Kernel: 6.12.0 x86_64
Driver: 20230929
Time: 1700000000 s 1 us
Capture: 4294967296 jiffies; 12 ms ago
Active process (on ring rcs0): glxgears [4711]
Active process (on ring vecs0): mpv [12]
Platform: ALDERLAKE_P
PCI ID: 0x46a6
IER: 0x00000000
GT awake: yes
CS timestamp frequency: 19200000 Hz, 52 ns
EIR: 0x00000000
PGTBL_ER: 0x00000000
GTIER[0]: 0x01010101
  fence[0] = 00000000
global --- GuC Error Capture on rcs0 command stream:
Coverage:  full-capture
  RegListType: Global
    Owner-Id: 0
    NumRegs: 11
      FORCEWAKE:  0x00010001
      GEN8_FAULT_TLB_DATA0:  0x00000000
      GEN8_FAULT_TLB_DATA1:  0x00000000
      ERROR_GEN6:  0x00000002
      HSW_GTT_CACHE_EN:  0x00000003
      GEN12_FAULT_TLB_DATA0:  0x00012345
      GEN12_FAULT_TLB_DATA1:  0x00000002
      AUX_ERR_DBG:  0x00000004
      GAM_DONE:  0x00000005
      FAULT_REG:  0x00001001
      REG-0x0000d04c:  0x00000006
  RegListType: Engine-Class
    Owner-Id: 0
    GuC-Eng-Class: 0
    i915-Eng-Class: 0
    NumRegs: 4
      EIR:  0x00000007
      GEN7_SC_INSTDONE:  0xfffffffe
      GEN12_SC_INSTDONE_EXTRA:  0xfffffff0
      GEN8_ROW_INSTDONE[0][1]:  0xffffffff
  RegListType: Engine-Instance
    Owner-Id: 0
    i915-Eng-Name: rcs0 command stream
    i915-Eng-Inst-Class: 0x00
    i915-Eng-LogicalMask: 0x00000001
    GuC-Context-Id: 0x00000006
    LRCA: 0x0e7c5000
    NumRegs: 16
      RC PSMI:  0x00000000
      RING_DMA_FADD_LDW:  0x00001200
      RING_DMA_FADD_UDW:  0x0000ffff
      IPEIR:  0x00000000
      IPEHR:  0x7a000004
      RING_BBADDR_LOW32:  0x00001001
      RING_BBADDR_UP32:  0x0000ffff
      ACTHD_LDW:  0x00001008
      ACTHD_UDW:  0x0000ffff
      INSTDONE:  0xfffffffb
      RING_NOPID:  0x00000009
      START:  0x10000000
      HEAD:  0x00200010
      TAIL:  0x00000040
      PDP0_LDW:  0x89abc000
      PDP0_UDW:  0x00000001
  hung: 1
  engine reset count: 3
  Active context: glxgears[4711] prio 0, guilty 1 active 0, runtime total 5ns, avg 5ns
  context timeline seqno 12
rcs0 --- batch = 0x0000ffff 00001000
~{batch}
  Missing GuC capture node for vecs0
  hung: 0
  engine reset count: 4
  Active context: mpv[12] prio 0, guilty 0 active 0, runtime total 5ns, avg 5ns
rcs0 --- ring = 0x00000000 10000000
~{ring}
GuC timestamp: 0x12345678
global --- GuC CT buffer = 0x00000000 00003000
~zzzz
GuC CTB fence: 99
"
    )
}

#[test]
fn captures_are_read() {
    let state = read(&adl_p());
    let names: Vec<_> = state.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["rcs0", "vecs0"]);
    let engine = state.engine("rcs0").unwrap();
    for (name, value) in [
        ("ACTHD", 0xffff_0000_1008),
        ("BBADDR", 0xffff_0000_1001),
        ("FADDR", 0xffff_0000_1200),
        ("PDP0", 0x1_89ab_c000),
        ("IPEHR", 0x7a00_0004),
        ("INSTDONE", 0xffff_fffb),
        ("SC_INSTDONE", 0xffff_fffe),
        ("SC_INSTDONE_EXTRA", 0xffff_fff0),
        ("ROW_INSTDONE[0][1]", 0xffff_ffff),
        ("NOPID", 9),
        ("HEAD", 0x0020_0010),
        ("EIR", 7),
        ("FAULT_REG", 0x1001),
        ("LRCA", 0x0e7c_5000),
        ("hung", 1),
        ("engine reset count", 3),
    ] {
        assert_eq!(engine.value(name), Some(value), "{name}");
    }
    assert_eq!(engine.entry("Coverage"), Some("full-capture"));
    for (name, value) in [
        ("EIR", 0),
        ("FORCEWAKE", 0x10001),
        ("ERROR", 2),
        ("GTT_CACHE_EN", 3),
        ("AUX_ERR_DBG", 4),
        ("GAM_DONE", 5),
        ("REG-0x0000d04c", 6),
    ] {
        assert_eq!(state.register(name).map(|it| it.value), Some(value), "{name}");
    }
    let fault = state.register("FAULT_TLB_DATA").unwrap();
    assert_eq!((fault.value, fault.more.as_slice()), (2, &[0x12345][..]));
    let other = state.engine("vecs0").unwrap();
    assert_eq!(other.entry("GuC capture"), Some("missing"));
    assert_eq!((other.value("hung"), other.value("engine reset count")), (Some(0), Some(4)));
    assert_eq!(state.buffers[0].kind, BufferKind::Batch);
    assert_eq!(state.buffers[1].kind, BufferKind::Ring);
    assert_eq!(state.buffers[2].kind, BufferKind::Other("GuC CT buffer".into()));
    assert_eq!(state.platform().unwrap().name, "Alder Lake-P");
}

#[test]
fn captures_name_the_command() {
    let summary = hang::summary(&read(&adl_p()), Tables::gen8());
    let hang = &summary.engines[0];
    assert_eq!(hang.engine, "rcs0");
    assert_eq!(hang.because[..2], ["hung: 1", "its context is guilty"]);
    assert_eq!(hang.process.as_ref().unwrap().name, "glxgears");
    assert_eq!(hang.command.as_ref().unwrap().name, "PIPE_CONTROL");
    // HEAD is 0x00200010: bits 31:21 count the wraps.
    let head = hang.head.unwrap();
    assert_eq!((head.offset, head.wraps), (0x10, 1));
    assert!(summary.to_string().contains("after 1 wrap of the ring"));
}

/// A file that ends after its header names the engine whose process hung.
#[test]
fn a_header_alone_names_the_culprit() {
    let text: String = adl_p().lines().take(9).map(|line| format!("{line}\n")).collect();
    let one = text.replace("Active process (on ring vecs0): mpv [12]\n", "");
    let summary = hang::summary(&read(&one), Tables::gen8());
    assert_eq!(summary.engines.len(), 1);
    assert_eq!(summary.engines[0].engine, "rcs0");
    assert!(summary.engines[0].because[0].contains("only its header"));
    let shown = summary.to_string();
    assert!(shown.contains("rcs0 hung") && shown.contains("glxgears [4711]"), "{shown}");
    assert!(!shown.contains("no engine had anything to do"), "{shown}");
}

/// Without the header, the line of the active context names the process.
#[test]
fn the_active_context_names_the_process() {
    let text: String = adl_p()
        .lines()
        .filter(|line| !line.starts_with("Active process"))
        .map(|line| format!("{line}\n"))
        .collect();
    let summary = hang::summary(&read(&text), Tables::gen8());
    let process = summary.engines[0].process.as_ref().unwrap();
    assert_eq!((process.name.as_str(), process.pid), ("glxgears", 4711));
}
