//! `genx eu run`. Oracle: simple kernels, encoded by hand from 2d p.139-182.

use crate::common::{finish, genx};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// mov (8|M0) r2.0<1>:ud 0x2a:ud, then the end of the thread.
const MOVE: &str = "
    01006000 08064020 00000000 2a000000 // mov
    31006007 040a0020 000e000e 10000082
";

fn run(directory: &Path, kernel: &str, args: &[&str]) -> (i32, String, String) {
    let assembly = kernel.contains("(8|M0)") || kernel.contains("align1");
    let path = directory.join(if assembly { "kernel.asm" } else { "kernel.hex" });
    fs::write(&path, kernel).unwrap();
    let path = path.to_str().unwrap().to_owned();
    finish(genx(["eu", "run", &path].iter().chain(args)))
}

#[test]
fn registers_and_messages() {
    let directory = tempfile::tempdir().unwrap();
    let (code, out, _) = run(directory.path(), MOVE, &["--mask", "0x5"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("r2   0000002a 00000000 0000002a 00000000 00000000"), "{out}");
    assert!(out.contains("message at +0x0010 000000ff to spawner 0x02000010"), "{out}");
    assert!(out.ends_with("the thread has ended: 2 instructions\n"), "{out}");
    let args = ["--grf", "r2:f=1.5,-2", "--grf", "r2.6:w=-1", "--mask", "0", "--dump", "r2"];
    let (code, out, _) = run(directory.path(), MOVE, &args);
    assert_eq!(code, 0);
    assert!(out.contains("r2   3fc00000 c0000000 00000000 0000ffff 00000000"), "{out}");
}

#[test]
fn breakpoints_traces_and_limits() {
    let directory = tempfile::tempdir().unwrap();
    let (code, out, _) =
        run(directory.path(), MOVE, &["--break", "0x10", "--simd", "8", "--trace"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("instruction +0x0000 000000ff mov (8|M0)"), "{out}");
    assert!(out.contains("    r2.0 ud 0:0x2a 1:0x2a"), "{out}");
    assert!(out.contains("breakpoint at +0x0010: 1 instructions; at +0x0010 (W) send"), "{out}");
    // jmpi -16 (001:21868) never ends.
    let kernel = "20000000 040e0034 0014000e f0ffffff";
    let (code, out, _) = run(directory.path(), kernel, &["--max", "500"]);
    assert_eq!(code, 3);
    assert!(out.contains("still running after 500 instructions"), "{out}");
}

#[test]
fn assembly() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = "add (8|M0) r2.0<1>:f r1.0<8;8,1>:f 1.5:f\n(W) send (8|M0) null r112 0x27 0x02000010 {EOT}\n";
    let (code, out, error) =
        run(directory.path(), kernel, &["--grf", "r1:f=1,2", "--trace", "--simd", "8"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("    r2.0 f 0:2.5 1:3.5 2:1.5"), "{out}");
}

#[test]
fn json_and_faults() {
    let directory = tempfile::tempdir().unwrap();
    let (code, out, _) = run(directory.path(), MOVE, &["--json", "--trace"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &value["stopped"], &value["instructions"]), (0, &"end".into(), &2.into()));
    assert_eq!(value["grf"]["r2"][7], "0000002a");
    assert_eq!(value["trace"][0]["writes"][7]["register"], "r2.7");
    assert_eq!(value["messages"][0]["function"], "spawner");
    // An opcode that does not exist is a `nop` (003:9342-9346), and the code ends after it. Then
    // the same code runs with the exception enabled and without a system routine.
    let illegal = "7d000000 00000000 00000000 00000000";
    let (code, out, _) = run(directory.path(), illegal, &[]);
    assert_eq!(code, 3);
    assert!(
        out.contains("the code ends before this instruction: 1 instructions; at +0x0010"),
        "{out}"
    );
    let (_, out, _) = run(directory.path(), illegal, &["--exceptions", "0x1000"]);
    assert!(out.contains("illegal opcode, but there is no system routine"), "{out}");
}

#[test]
fn unusable_input() {
    let directory = tempfile::tempdir().unwrap();
    for (kernel, args, text) in [
        ("ad (8|M0) r4.0<1>:d r4.0<8;8,1>:d -1:w", &[][..], "`ad` is not an operation"),
        ("mov", &[], "`mov` is not a sequence of pairs of hexadecimal digits"),
        ("", &[], "the kernel has 0x0 bytes"),
        (MOVE, &["--offset", "0x20"], "the kernel has 0x20 bytes"),
        (MOVE, &["--grf", "r2=zero"], "`zero` is not an integer"),
        (MOVE, &["--grf", "r128=1"], "r0 to r127"),
    ] {
        let (code, _, error) = run(directory.path(), kernel, args);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(text), "{error}");
    }
}

/// A branch on each channel, a loop, and a message. The counts of jumps are in units of 16 bytes.
const G45: &str = "
    cmp.l.f0.0(8)   null<1>D        g1<8,8,1>D      3D              { align1 };
    (+f0.0) if(8)   Jump: 2                                         { align1 };
    mov(8)          g2<1>D          7D                              { align1 };
    endif(8)        Pop: 1                                          { align1 };
    do(8)                                                           { align1 };
    add(8)          g3<1>D          g3<8,8,1>D      1D              { align1 };
    cmp.l.f0.0(8)   null<1>D        g3<8,8,1>D      g1<8,8,1>D      { align1 };
    (+f0.0) while(8) Jump: -2                                       { align1 };
    mov(1)          g20<1>UD        g21<0,1,0>UD                    { align1 nomask };
    mov(1)          g22<1>UD        g21<0,1,0>UD                    { align1 nomask };
    mov(8)          m4<1>D          g2<8,8,1>D                      { align1 };
    send(8) 3       null<1>UD       g0<8,8,1>UD     0x86208000
                                urb MsgDesc: 0 urb_write complete mlen 2 rlen 0 { align1 nomask EOT };
";

#[test]
fn kernels_of_g45() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("kernel.asm"), G45).unwrap();
    let values = ["--gen", "g45", "--grf", "r1=1,2,3,4,5,6,7,8", "--simd", "8", "--dump", "r2-r3"];
    let run = |name: &str, more: &[&str]| {
        let file = path(name);
        finish(genx(["eu", "run", &file].iter().chain(&values).chain(more)))
    };
    let (code, out, error) = run("kernel.asm", &["--trace"]);
    assert_eq!(code, 0, "{out}{error}");
    for line in [
        "r2   00000007 00000007 00000000 00000000 00000000 00000000 00000000 00000000",
        "r3   00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008",
        "m4   00000007 00000007 00000000",
        "to urb 0x06208000 (urb MsgDesc: 0 urb_write complete mlen 2 rlen 0), end of thread",
        "amask 00ff  imask 00ff  lmask 00ff  cmask 00ff  istack 0000  lstack 0000",
        "    m4.0 d 0:7 1:7 2:0",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    let (_, json, _) = run("kernel.asm", &["--json", "--break", "0x20"]);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["masks"]["imask"], "0003");
    assert_eq!(value["masks"]["istack"], "0001");
    // The compact form is shorter and does the same: Mesa has compact forms of both moves of g21.
    let (asm, bin) = (path("kernel.asm"), path("short.bin"));
    let args = ["asm", &asm, "--gen", "g45", "--compact", "-o", &bin];
    assert_eq!(finish(genx(args)).0, 0);
    assert_eq!(fs::metadata(&bin).unwrap().len(), 10 * 16 + 2 * 8);
    let (code, short, _) = run("short.bin", &[]);
    assert_eq!(code, 0, "{short}");
    let (_, long, _) = run("kernel.asm", &[]);
    let registers = |text: &str| {
        text.lines().filter(|line| line.starts_with('r')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(registers(&short), registers(&long));
    let (code, _, error) = finish(genx(["eu", "run", &bin, "--gen", "9"]));
    assert!(code == 2 && error.contains("only kernels of broadwell"), "{error}");
}

#[test]
fn rules_of_g45() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kernel.asm").to_str().unwrap().to_owned();
    fs::write(&path, G45).unwrap();
    let (code, out, _) = finish(genx(["eu", "validate", &path, "--gen", "g45"]));
    assert_eq!(code, 0, "{out}");
    fs::write(&path, G45.replacen("cmp.l.f0.0", "cmp", 1)).unwrap();
    for of in ["g45", "gen4", "5"] {
        let (code, out, _) = finish(genx(["eu", "validate", &path, "--gen", of]));
        assert!(code == 1 && out.contains("EU4-CONDITION"), "{out}");
    }
    let (_, out, _) = finish(genx(["eu", "validate", "--list", "--gen", "g45"]));
    assert!(out.contains("EU4-MRF"), "{out}");
    assert_eq!(finish(genx(["eu", "validate", "--explain", "EU4-MRF"])).0, 0);
}

/// A program that waits for the host. At 0x60, a system routine counts its calls in g121, and sets
/// Breakpoint Suppress so that the program continues after a breakpoint.
const WAITS: &str = "
    mov(8)          g2<1>UD         2UD                             { align1 };
    or(1)           cr0<1>UD        cr0<0,1,0>UD    0x00000100UD    { align1 nomask };
    wait(1)         n1<1>UD                                         { align1 nomask };
    mov(8)          g3<1>UD         3UD                             { align1 };
    send(8) 3       null<1>UD       g0<8,8,1>UD     0x86208000
                                urb MsgDesc: 0 urb_write complete mlen 2 rlen 0 { align1 nomask EOT };
    nop;
    add(1)          g121<1>UD       g121<0,1,0>UD   1UD             { align1 nomask };
    or(1)           cr0<1>UD        cr0<0,1,0>UD    0x00008000UD    { align1 nomask };
    and(1)          cr0<1>UD        cr0<0,1,0>UD    0x7fffffffUD    { align1 nomask };
    nop;
";

/// The debug functions of the G45 (003:2513-2623): breakpoints of the instruction cache, single
/// steps, attention and the state of the thread.
#[test]
fn debug_functions_of_g45() {
    let directory = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let all = [&["--gen", "g45", "--simd", "8", "--json", "--state"], args].concat();
        let (code, out, error) = run(directory.path(), WAITS, &all);
        let value: Value = serde_json::from_str(&out).unwrap_or_default();
        (code, value, error)
    };
    let (code, value, _) = run(&[]);
    assert_eq!(
        (code, &value["stopped"], &value["position"]),
        (0, &"attention".into(), &"0x20".into())
    );
    assert_eq!(value["attentions"][0]["data"], true);
    assert_eq!(value["state"]["cr0"][0], "00000100");
    let (code, value, _) = run(&["--clear-attention", "1"]);
    assert_eq!((code, &value["stopped"]), (0, &"end".into()));
    // The answer clears the bit of data, and nothing remains of the notification.
    assert_eq!(
        (&value["state"]["cr0"][0], &value["state"]["n1"][0]),
        (&"00000000".into(), &"00000000".into())
    );
    let (code, value, _) = run(&["--break-opcode", "wait"]);
    assert_eq!(
        (code, &value["stopped"], &value["position"]),
        (0, &"breakpoint".into(), &"0x20".into())
    );
    let (_, value, _) = run(&["--break-opcode", "send:eot", "--clear-attention", "1"]);
    assert_eq!((&value["stopped"], &value["position"]), (&"breakpoint".into(), &"0x40".into()));
    let (_, value, _) = run(&["--break-address", "0x10"]);
    assert_eq!((&value["stopped"], &value["position"]), (&"breakpoint".into(), &"0x10".into()));
    // Five instructions: the routine is called before all but the first.
    let routine = ["--system-routine", "0x60", "--clear-attention", "1"];
    let (code, value, error) = run(&[&routine[..], &["--single-step"]].concat());
    assert_eq!((code, &value["stopped"]), (0, &"end".into()), "{error}");
    assert_eq!(value["grf"]["r121"][0], "00000004");
    let halt = ["--halt-after", "1", "--exceptions", "0x4000"];
    let (code, value, _) = run(&halt);
    assert_eq!((code, &value["stopped"]), (3, &"fault".into()));
    assert!(value["text"].as_str().unwrap().contains("external halt"), "{value}");
    for (args, text) in [
        (&["--single-step"][..], "a system routine is needed"),
        (&["--break-opcode", "movv"], "is not an operation of the G45"),
        (&["--break-opcode", "mov", "--break-opcode", "add:eot"], "only the first"),
        (
            &["--break-address", "1", "--break-address", "2", "--break-address", "3"],
            "two breakpoints",
        ),
    ] {
        let (code, _, error) = run(args);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(text), "{error}");
    }
    let (code, _, error) = self::run(directory.path(), MOVE, &["--state"]);
    assert_eq!(code, 2, "{error}");
}
