//! `genx debug` with scripts. Each command has a test.

use crate::common::{batch_capture, corpus, demo_capture, fill_capture, finish, genx, read_png};
use genx::demo::{Name, cube, fill};
use genxml::batch::Batch;
use genxml::capture::{Capture, CaptureWriter};
use genxml::core::{Address, U};
use genxml::engine::Render;
use genxml::gen8::mi::{MiBatchBufferStart, MiNoop, MiStoreDataImm};
use genxml_sim::debugger::{Options, of_capture};
use genxml_sim::inspect::debugger::{
    Breakpoints, Command as Debug, Controller, Moment, Reason, Stop, What,
};
use genxml_testkit::Random;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;
use tempfile::tempdir;

/// Runs commands, each of which must succeed. Returns what they print.
fn script(capture: &Path, commands: &[&str]) -> String {
    let (code, out, err) = run(capture, commands);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    out
}

/// Runs commands. Returns the exit code, standard output and standard error.
fn run(capture: &Path, commands: &[&str]) -> (i32, String, String) {
    let mut args = vec!["debug", capture.to_str().unwrap(), "--batch"];
    args.extend(commands.iter().flat_map(|command| ["-e", command]));
    finish(genx(args))
}

/// The error of a command.
fn refused(capture: &Path, commands: &[&str]) -> String {
    let (code, _, err) = run(capture, commands);
    assert_eq!(code, 2, "{commands:?}: {err}");
    err
}

/// The lines that begin with `start`.
fn lines<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(start)).collect()
}

/// The shader of the demo interpolates red, green and blue into r112, r113 and r114. Oracle: the
/// picture of the demo has these colours in 8 bits.
#[test]
fn steps_of_a_thread() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let stop = ["break pixel 256,256", "continue"];
    let script = |commands: &[&str]| script(capture.path(), &[&stop[..], commands].concat());
    let at = |commands: &[&str]| {
        let out = script(commands);
        lines(&out, "=> ").last().unwrap().split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(at(&[]), "+0x0000");
    assert_eq!(at(&["step"]), "+0x0010");
    assert_eq!(at(&["step 3"]), "+0x0030");
    assert_eq!(at(&["finish"]), "+0x0040");
    assert_eq!(at(&["step 3", "reverse-step 2"]), "+0x0010");
    assert_eq!(at(&["finish", "reverse-finish"]), "+0x0000");
    assert_eq!(at(&["break +0x20", "continue"]), "+0x0020");
    // The start of a name means the same as the name.
    for (short, name) in [("tb +0x20", "tbreak +0x20"), ("ur", "urb")] {
        let commands = |first| [first, "continue", "info breakpoints"];
        assert_eq!(script(&commands(short)), script(&commands(name)));
    }
    assert_eq!(at(&["break +0x20", "continue", "reverse-continue"]), "+0x0000");

    let submission = (Name::Triangle.demo().submission)().unwrap();
    let target = Name::Triangle.demo().target;
    let (pixels, _) = genx::demo::execute(&submission, target).unwrap();
    let at = 4 * (256 * 512 + 256);
    let out = script(&["finish", "print r112:f", "print r113:f", "print r114:f", "print r115:f"]);
    let values: Vec<f32> = out.lines().filter_map(|line| line.parse().ok()).collect();
    let bytes: Vec<u8> = values.iter().map(|value| (value * 255.0).round() as u8).collect();
    assert_eq!(bytes, pixels[at..at + 4], "{out}");

    let out = script(&["where"]);
    for (n, part) in ["+0x0 in kernel", "draw 1", "3DPRIMITIVE", "batch at", "submission 1 (exec"]
        .iter()
        .enumerate()
    {
        let line = lines(&out, &format!("#{n}"));
        assert!(line.len() == 1 && line[0].contains(part), "{out}");
    }
    // From the first instruction back to the draw, its packet, and the packet before it.
    let out = script(&["reverse-step", "reverse-step", "reverse-step"]);
    let packets = lines(&out, "packet ");
    let (draw, packet) = (packets[packets.len() - 3], packets[packets.len() - 2]);
    assert_eq!(draw, format!("{packet}, draw 1"));
    let out = script(&["reverse-packet", "step", "step"]);
    assert!(out.contains("thread 1 of packet"), "{out}");
    let out = script(&["stept 2"]);
    assert!(out.contains("thread 3859 ") && out.contains("thread 3861 "), "{out}");
}

/// Registers, flags and masks. Oracle: the payload of a pixel shader thread: r1.7 has the mask of
/// the eight dispatched pixels.
#[test]
fn registers_of_a_thread() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let out = script(
        capture.path(),
        &[
            "tbreak pixel 257,257",
            "continue",
            "regs r1",
            "regs r1-r2:uw f0 acc0:f",
            "regs",
            "flags",
            "mask",
            "channel",
            "print r1.7",
            "print r1.7 == 0xff && mask == 0xff",
            "print -r1.7:d + 0.5",
            "channel 5",
            "print channel",
            "channel auto",
            "print ip + kernel",
            "print executed",
            "print f0.0 & 1",
            "print g2.1<f> < 1",
            "info mask",
            "info flags",
            "info registers r0",
            "info breakpoints",
            "print cr0.0",
        ],
    );
    // The pixel is the lower right one of its block of four.
    assert!(out.contains("pixel 257,257 in channel 3"), "{out}");
    let r1 = lines(&out, "r1 ");
    assert!(r1[0].starts_with("r1    ud ") && r1[0].ends_with(" 000000ff"), "{out}");
    assert!(r1[1].starts_with("r1    uw ") && r1[1].ends_with(" 0xff 0x0"), "{out}");
    assert_eq!(lines(&out, "f0    ud 00000000").len(), 1, "{out}");
    assert_eq!(lines(&out, "acc0  f 0.0 0.0").len(), 1, "{out}");
    assert_eq!(lines(&out, "f0.1 0x0000").len(), 2, "{out}");
    assert_eq!(lines(&out, "mask 0x000000ff").len(), 2, "{out}");
    assert_eq!(lines(&out, "channel 3").len(), 2, "{out}");
    assert!(out.contains("\n255 (0xff)\n1\n-254.5\nchannel 5\n5\nchannel 3\n"), "{out}");
    assert!(out.contains("no breakpoints\nstops at faults\n"), "the temporary one is gone: {out}");
}

/// Disassembly in both languages.
#[test]
fn disassembly() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let stop = ["break pixel 256,256", "continue", "step"];
    let out = script(capture.path(), &[&stop[..], &["disassemble"]].concat());
    assert!(out.contains("   +0x0000 pln (8|M0)"), "{out}");
    assert!(out.contains("\n=> +0x0010 pln (8|M0)"), "{out}");
    for commands in [&["disas mesa"][..], &["set syntax mesa", "list"]] {
        let out = script(capture.path(), &[&stop[..], commands].concat());
        assert!(out.contains("=> +0x0010 pln(8)"), "{out}");
    }
}

/// Breakpoints at threads of a walker. Oracle: the walker starts groups in rows, from 0,0,0 on.
#[test]
fn breakpoints() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let group = |commands: &[&str]| {
        let out = script(capture.path(), commands);
        let line = *lines(&out, "thread ").last().unwrap();
        line.split("group ").nth(1).unwrap().split(", ").next().unwrap().to_owned()
    };
    assert_eq!(group(&["break group 5,3,0", "continue"]), "5,3,0");
    assert_eq!(group(&["break kernel", "continue", "continue"]), "1,0,0");
    assert_eq!(group(&["break kernel", "ignore 1 4", "continue"]), "4,0,0");
    assert_eq!(group(&["break kernel if r0.1 == 7 && r0.6 == 1", "continue"]), "7,1,0");
    assert_eq!(group(&["break kernel", "condition 1 r0.6 == 2", "continue"]), "0,2,0");
    let later = ["break kernel if r0.1 == 9", "continue", "condition 1", "continue"];
    assert_eq!(group(&later), "10,0,0");
    let off =
        ["break kernel", "break group 3,0,0", "disable 1", "continue", "enable 1", "continue"];
    assert_eq!(group(&off), "4,0,0");
    let back = ["break kernel", "break group 6,0,0", "disable 1", "continue", "enable 1"];
    assert_eq!(group(&[&back[..], &["reverse-continue"]].concat()), "5,0,0");
    // Going back, the newest hits are ignored: those at 5, 4 and 3.
    let ignoring = [&back[..], &["ignore 1 3", "reverse-continue"]].concat();
    assert_eq!(group(&ignoring), "2,0,0");
    let out = script(capture.path(), &[&ignoring[..], &["info breakpoints"]].concat());
    assert!(!out.contains("ignores"), "{out}");
    // Each breakpoint has its own count: the one of kernels does not apply to that of group 4.
    let two = [&back[..], &["break group 4,0,0", "ignore 1 3", "reverse-continue"]].concat();
    assert_eq!(group(&two), "4,0,0");
    // More than there are: 6 hits before group 6.
    let all = [&back[..], &["ignore 1 100", "reverse-continue", "info breakpoints"]].concat();
    let out = script(capture.path(), &all);
    assert!(out.contains("ignores 94 hits"), "{out}");
    assert_eq!(group(&["tbreak kernel", "break group 9,0,0", "continue", "continue"]), "9,0,0");
    let delete = ["break kernel", "break group 2,1,0", "delete 1", "continue"];
    assert_eq!(group(&delete), "2,1,0");
    // Two messages in a thread: the write of pixels, and the end.
    let message = ["break message", "continue", "continue", "continue"];
    assert_eq!(group(&message), "1,0,0");
    assert_eq!(group(&["break message spawner", "continue", "continue"]), "1,0,0");
    let out = script(
        capture.path(),
        &[
            "break packet GPGPU_WALKER",
            "break submission 1",
            "delete",
            "info breakpoints",
            "continue",
        ],
    );
    assert!(out.contains("no breakpoints") && out.ends_with("the run has ended\n"), "{out}");
    let out = script(
        capture.path(),
        &[
            "break submission",
            "break kernel",
            "break message hdc.dc1",
            "run",
            "continue",
            "info breakpoints",
            "catch fault off",
            "info breakpoints",
        ],
    );
    assert!(out.contains("1   submission, 0 hits\n2   kernel, 1 hit\n"), "{out}");
    assert!(out.contains("does not stop at faults"), "{out}");
}

/// A batch that stores dwords: packet 1, 2 and so on.
fn stores(directory: &Path, list: &[(u64, u32)]) {
    batch_capture::<Render>(directory, |batch| {
        for (address, value) in list {
            let store = MiStoreDataImm::new(Address::new(*address).unwrap());
            let value = [U::new((*value).into()).unwrap()];
            batch.emit(&MiStoreDataImm { data_dword: (&value).into(), ..store }).unwrap();
        }
    });
}

/// Packets and memory. Oracle: the values that the packets store.
#[test]
fn packets_and_memory() {
    let capture = tempdir().unwrap();
    stores(capture.path(), &[(0x1_0000, 0x11), (0x1_0010, 0x22), (0x1_0000, 0x33)]);
    let number = |commands: &[&str]| {
        let out = script(capture.path(), commands);
        lines(&out, "packet ").last().unwrap().split(['\u{20}', ':']).nth(1).unwrap().to_owned()
    };
    assert_eq!(number(&[]), "1");
    assert_eq!(number(&["packet"]), "2");
    assert_eq!(number(&["stepp 3", "reverse-packet 2"]), "2");
    assert_eq!(number(&["next", "step", "reverse-step"]), "2");
    assert_eq!(number(&["goto packet 3", "goto packet 2"]), "2");
    assert_eq!(number(&["goto packet 3", "run"]), "1");
    assert_eq!(number(&["break packet *END", "continue"]), "4");
    assert_eq!(number(&["break packet MI_STORE_* if dw3 == 0x33", "continue"]), "3");
    assert_eq!(number(&["continue", "reverse-step"]), "4");
    assert_eq!(
        number(&["break packet MI_STORE_* if dw3 > 0x11", "goto packet 4", "rc", "rc"]),
        "2"
    );

    let out = script(capture.path(), &["watch 0x10000 8", "continue", "continue", "continue"]);
    let changes = [("00", "11"), ("11", "33")].map(|(old, new)| {
        let zeros = "00 00 00 00 00 00 00";
        format!("watchpoint 1\n  old {old} {zeros}\n  new {new} {zeros}\npacket ")
    });
    assert!(out.contains(&(changes[0].clone() + "2:")), "{out}");
    assert!(out.contains(&(changes[1].clone() + "4:")), "{out}");
    assert!(out.ends_with("the run has ended\n"), "{out}");
    assert_eq!(lines(&out, "watchpoint 1").len(), 3, "{out}");
    let back = ["watch 0x10000", "goto packet 4", "reverse-continue"];
    assert_eq!(number(&back), "2");
    assert_eq!(number(&["watch 0x10000 4 if [0x10000] == 0x33", "continue"]), "4");

    let out = script(
        capture.path(),
        &[
            "goto packet 4",
            "x/5xw 0x10000",
            "x/2xb 0x10000",
            "x/1dh 0x10000 + 0x10",
            "x/uw 0x10010",
            "x/c 0x10000",
            "x/fg 0x10000",
            "x 0x10010",
            "print [0x10010]:ub * 2",
            "info packet",
            "where",
            "print packet + submission",
        ],
    );
    assert!(
        out.contains(
            "0x00010000: 0x00000033 0x00000000 0x00000000 0x00000000\n\
                          0x00010010: 0x00000022\n\
                          0x00010000: 0x33 0x00\n\
                          0x00010010: 34\n\
                          0x00010010: 34\n\
                          0x00010000: '3'\n"
        ),
        "{out}"
    );
    assert!(out.contains("0x00010010: 0x00000022\n68 (0x44)\n"), "{out}");
    assert!(out.contains("MI_BATCH_BUFFER_END"), "{out}");
    assert!(out.contains("#0  packet 4: MI_BATCH_BUFFER_END"), "{out}");
    let out = script(capture.path(), &["info packet"]);
    assert!(out.contains("MI_STORE_DATA_IMM") && out.contains("0x11"), "{out}");
}

/// A debugger of a capture, its commands, and the lines that it prints. It never gives up.
#[cfg(unix)]
fn piped(capture: &Path) -> (Child, ChildStdin, impl Iterator<Item = String>) {
    let mut debugger = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(["debug", "--work-limit", "1000000000000", capture.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let commands = debugger.stdin.take().unwrap();
    let output = BufReader::new(debugger.stdout.take().unwrap()).lines().map(Result::unwrap);
    (debugger, commands, output)
}

/// Sends the signal of Ctrl-C.
#[cfg(unix)]
fn interrupt(debugger: &Child) {
    let id = debugger.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// A batch that jumps to its own start never ends. An interrupt (SIGINT, Ctrl-C) stops the run, and
/// the debugger goes on.
#[test]
#[cfg(unix)]
fn an_interrupt_stops_the_run() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        batch.emit(&MiBatchBufferStart::new(Address::new(0x2_0000).unwrap())).unwrap();
    });
    let (mut debugger, mut commands, mut output) = piped(capture.path());
    for number in ["1234", "5678"] {
        // The debugger handles interrupts before it reads commands.
        commands.write_all(format!("print {number}\ncontinue\n").as_bytes()).unwrap();
        assert!(output.any(|line| line.starts_with(number)));
        interrupt(&debugger);
        assert!(output.any(|line| line == "paused"));
        assert!(output.next().unwrap().contains("MI_BATCH_BUFFER_START"));
    }
    commands.write_all(b"quit\n").unwrap();
    assert_eq!(debugger.wait().unwrap().code(), Some(0));
}

/// An interrupt while the debugger waits for a command has no effect on the next run.
#[test]
#[cfg(unix)]
fn an_interrupt_at_the_prompt() {
    let capture = tempdir().unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x2_0000, 1 << 16).unwrap();
    // Enough packets for the debugger to look for an interrupt.
    for _ in 0..10_000 {
        batch.emit(&MiNoop::new()).unwrap();
    }
    let mut writer = CaptureWriter::new("batch");
    batch.finish().unwrap().submit([]).unwrap().write(1, &mut writer);
    writer.finish(capture.path()).unwrap();
    let (mut debugger, mut commands, mut output) = piped(capture.path());
    commands.write_all(b"print 1234\n").unwrap();
    assert!(output.any(|line| line.starts_with("1234")));
    interrupt(&debugger);
    commands.write_all(b"continue\nquit\n").unwrap();
    let rest: Vec<String> = output.collect();
    assert!(rest.iter().any(|line| line == "the run has ended"), "{rest:?}");
    assert!(rest.iter().all(|line| line != "paused"), "{rest:?}");
    assert_eq!(debugger.wait().unwrap().code(), Some(0));
}

/// Faults of packets and of kernels: the debugger stops before them.
#[test]
fn faults() {
    let capture = tempdir().unwrap();
    stores(capture.path(), &[(0x1_0000, 1), (0x5000_0000, 2)]);
    let out = script(capture.path(), &["continue", "where", "continue", "reverse-step"]);
    let fault = lines(&out, "fault: MI_STORE_DATA_IMM");
    assert!(fault.len() == 1 && fault[0].contains("0x0000_5000_0000"), "{out}");
    assert_eq!(lines(&out, "packet 2: MI_STORE_DATA_IMM").len(), 2, "{out}");
    assert_eq!(lines(&out, "the run has ended: MI_STORE_DATA_IMM").len(), 1, "{out}");
    let out = script(capture.path(), &["catch fault off", "continue"]);
    assert!(lines(&out, "fault: ").is_empty(), "{out}");
    assert_eq!(lines(&out, "the run has ended: MI_STORE_DATA_IMM").len(), 1, "{out}");

    // The picture is not mapped: the first message that writes it fails.
    let capture = tempdir().unwrap();
    let mut submission = fill::submission().unwrap();
    submission.buffers.retain(|buffer| buffer.address() != fill::TARGET);
    let mut writer = CaptureWriter::new("fault");
    submission.write(1, &mut writer);
    writer.finish(capture.path()).unwrap();
    let out = script(capture.path(), &["continue", "regs r10", "reverse-step", "continue"]);
    assert_eq!(lines(&out, "fault: GPGPU_WALKER").len(), 2, "{out}");
    let stops = lines(&out, "=> ");
    assert!(stops[0].contains("media block write") && stops[0] == stops[2], "{out}");
    assert_ne!(stops[0], stops[1], "{out}");
    assert!(out.contains("thread 1 of packet 8, group 0,0,0"), "{out}");
}

/// The first of two draws, its buffers, and the picture after the second. Oracle: `genx run --observe draw` and the picture of the
/// demo, from runs without a debugger.
#[test]
fn state_and_surfaces() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Cube, capture.path());
    let pictures = tempdir().unwrap();
    let file = |name: &str| pictures.path().join(name).to_str().unwrap().to_owned();
    let commands = ["before", "after", "depth"].map(file);
    let out = script(
        capture.path(),
        &[
            "break draw 1",
            "continue",
            "state",
            &format!("surface 0 {}", commands[0]),
            "packet 3",
            &format!("surface 0 {}", commands[1]),
            &format!("surface depth {}", commands[2]),
            "print draw",
        ],
    );
    assert!(out.ends_with("\n2\n"), "{out}");
    let path = capture.path().to_str().unwrap();
    let (code, observed, _) = finish(genx(["run", path, "--observe", "draw"]));
    assert_eq!(code, 0);
    let state =
        out.split_once("draw 1: submission").unwrap().1.split_once("512x512 pixels").unwrap();
    assert!(observed.contains(state.0), "{out}\n{observed}");
    let submission = cube::submission().unwrap();
    let (mut pixels, _) = genx::demo::execute(&submission, Name::Cube.demo().target).unwrap();
    // Pictures of targets have alpha 255.
    pixels.chunks_mut(4).for_each(|pixel| pixel[3] = 255);
    let (after, size) = read_png(Path::new(&commands[1]));
    assert_eq!(size, [512, 512]);
    let differ = after.iter().zip(&pixels).filter(|(a, b)| a != b).count();
    assert_eq!(differ, 0);
    assert!(read_png(Path::new(&commands[0])).0 != pixels);
    assert_eq!(read_png(Path::new(&commands[2])).1, [512, 512]);
    for which in ["1", "stencil"] {
        let surface = format!("surface {which} {}", file("x"));
        let err = refused(capture.path(), &["break draw", "continue", &surface]);
        assert!(err.contains("draw 1 has no"), "{err}");
    }
}

/// The unified return buffer has the vertices that pixels are made from; `dump` writes files.
/// Oracle: the position of a vertex that the shader of the demo stores, from its registers.
#[test]
fn buffers_and_files() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let folder = tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let out = script(capture.path(), &["break pixel 256,256", "continue", "urb 0 0x9000", "slm"]);
    let vertex = out
        .lines()
        .filter(|line| line.starts_with("0x"))
        .any(|line| line.split(' ').skip(1).any(|dword| dword == "3f800000"));
    assert!(vertex, "w of a vertex is 1.0: {out}");
    assert!(out.contains("slm has 0 bytes"), "{out}");

    let (grf, kernel, memory) = (file("grf"), file("kernel.bin"), file("memory"));
    let out = script(
        capture.path(),
        &[
            "break pixel 256,256",
            "continue",
            &format!("dump grf {grf}"),
            &format!("dump kernel {kernel}"),
            &format!("dump memory {memory} kernel + 0x10 16"),
            "finish",
            "regs r112-r114",
        ],
    );
    let bytes = std::fs::read(&kernel).unwrap();
    assert_eq!(bytes[16..32], std::fs::read(&memory).unwrap());
    let args = ["eu", "run", &kernel, "--grf-file", &grf, "--simd", "8", "--dump", "r112-r114"];
    let (code, alone, _) = finish(genx(args));
    assert_eq!(code, 0);
    for line in lines(&out, "r11") {
        let (name, values) = (line.split(' ').next().unwrap(), line.split(" ud ").nth(1).unwrap());
        assert!(alone.contains(&format!("{name} {values}")), "{line}\n{alone}");
    }
}

/// Commands from files and standard input. A failed command does not end the others, but the exit
/// code shows it.
#[test]
fn scripts() {
    let capture = tempdir().unwrap();
    stores(capture.path(), &[(0x1_0000, 1)]);
    let commands = capture.path().join("commands.txt");
    std::fs::write(&commands, "# a comment\npacket\n\nprint dw0\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(["debug", capture.path().to_str().unwrap(), "-x", commands.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"reverse-packet\nfoo\nprint packet\nquit\nfoo").unwrap();
    let (code, out, err) = finish(child.wait_with_output().unwrap());
    assert_eq!(code, 2);
    assert_eq!(err, "error: `foo` is not a command; help lists all\n");
    assert!(out.ends_with("\n1\n") && out.contains("83886080 (0x5000000)"), "{out}");
    assert_eq!(lines(&out, "packet ").len(), 3, "{out}");
}

/// What is wrong with a command is said.
#[test]
fn refusals() {
    let capture = tempdir().unwrap();
    stores(capture.path(), &[(0x1_0000, 1)]);
    for (command, part) in [
        ("d0", "not a command"),
        ("re", "ambiguous"),
        ("where now", "no arguments"),
        ("break", "not a breakpoint"),
        ("break nothing", "not a breakpoint"),
        ("break draw 0", "from 1 on"),
        ("break +8", "no kernel here"),
        ("break message foo", "not a shared function"),
        ("break packet X if (1", "`)` is expected"),
        ("watch", "write watch"),
        ("watch 0x10000 0", "watch between"),
        ("watch 1.5", "must be an integer"),
        ("delete 7", "no breakpoint 7"),
        ("ignore 1", "write ignore"),
        ("enable", "write enable"),
        ("condition x", "not the number"),
        ("catch", "write catch"),
        ("info nothing", "write info"),
        ("step x", "not a number"),
        ("goto packet 0", "from 1 on"),
        ("finish", "no thread here"),
        ("regs", "no thread here"),
        ("regs r300", "no thread here"),
        ("flags", "no thread here"),
        ("mask", "no thread here"),
        ("disassemble", "no thread here"),
        ("slm", "no thread here"),
        ("print", "column 1"),
        ("print r1", "no thread here"),
        ("print r200", "the last register of this kind is r127"),
        ("print foo", "not a register"),
        ("print dw77", "has"),
        ("print 1 / 0", "1 / 0"),
        ("print 1 << 200", "a shift by 200"),
        ("print 1.5 & 1", "needs integers"),
        ("print [0]", "not all mapped"),
        ("print 99999999999999999999999999999999999999999999", "column"),
        ("x/3q 0", "not a format"),
        ("x/999999x 0", "more than"),
        ("x 0x99999999", "not all mapped"),
        ("state", "nothing was drawn"),
        ("surface 0 x.png", "nothing was drawn"),
        ("channel 32", "not a channel"),
        ("dump memory /nowhere/x 0x10000 4", "cannot write"),
        ("dump", "write dump"),
        ("set syntax x", "not a language"),
    ] {
        let err = refused(capture.path(), &[command]);
        assert!(err.contains(part), "{command}: {err}");
    }
    let err = refused(capture.path(), &["break pixel 1,1", "break pixel 2,2"]);
    assert!(err.contains("one pixel at a time"), "{err}");
    let deep = format!("print {}1", "(".repeat(5000));
    assert!(refused(capture.path(), &[&deep]).contains("64 levels"));
    stores(capture.path(), &[(0x1_0000, 1), (0x1_0000, 2)]);
    let out = script(capture.path(), &["break packet MI_STORE_* if r1 == 0", "continue", "urb"]);
    assert!(out.contains("the condition cannot be evaluated: there is no thread"), "{out}");
    let (code, _, err) = finish(genx(["debug", "/nowhere", "--batch"]));
    assert!(code == 2 && err.contains("/nowhere"), "{err}");
}

/// Each command has a help text, also by its other names.
#[test]
fn help() {
    let capture = tempdir().unwrap();
    stores(capture.path(), &[(0x1_0000, 1)]);
    let out = script(capture.path(), &["help"]);
    let names = out.lines().skip(1).filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 35, "{names:?}");
    for name in names {
        let out = script(capture.path(), &[&format!("help {name}")]);
        assert!(out.contains(&format!("\n{name} ")), "{name}: {out}");
    }
    assert!(script(capture.path(), &["help b"]).contains("\nalso: b\n"));
}

/// An AUB file has the same threads and registers as the capture that it was made from.
#[test]
fn an_aub_file() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let aub = capture.path().join("triangle.aub");
    let convert = ["convert", capture.path().to_str().unwrap(), "-o", aub.to_str().unwrap()];
    assert_eq!(finish(genx(convert)).0, 0);
    let commands = ["break pixel 200,240", "continue", "step 2", "reverse-step", "regs"];
    let registers = |path: &Path| {
        let out = script(path, &commands);
        let list = out.split_once("=> +0x0020").unwrap().1;
        assert!(list.contains("=> +0x0010"), "{out}");
        lines(list, "r").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let found = registers(&aub);
    assert!(found.len() > 4);
    assert_eq!(found, registers(capture.path()));
}

/// Shared local memory of a compute shader. Oracle: the test of piglit: thread 0 stores 0, then six
/// invocations add their numbers, and the sum is 15 when they read it.
#[test]
fn shared_local_memory() {
    let Some(folder) = corpus() else { return };
    let capture = folder.join("drivers/pg_cs_shared_atomics");
    let stop = ["continue", "slm 0 4"];
    let commands = [&["break message hdc.dc1"], &stop[..], &stop[..], &stop[..]].concat();
    let out = script(&capture, &commands);
    let found = lines(&out, "0x00000000: ");
    assert_eq!(found, ["0x00000000: 00000000", "0x00000000: 00000000", "0x00000000: 0000000f"]);
    assert_eq!(lines(&out, "slm has 4096 bytes").len(), 3, "{out}");
}

/// A controller that executes random commands and records what it sees at each stop.
struct Wanderer {
    random: Random,
    left: u32,
    seen: Vec<(Moment, Vec<Reason>, Vec<u8>)>,
}

impl Controller for Wanderer {
    fn stopped(&mut self, stop: &Stop<'_>, breakpoints: &mut Breakpoints) -> Debug {
        let mut bytes = stop.thread.map_or_else(Vec::new, |thread| thread.registers.to_vec());
        if let Ok(dwords) = stop.memory(Name::Triangle.demo().target, 512) {
            bytes.extend(dwords);
        }
        bytes.extend(stop.position.draws.to_le_bytes());
        bytes.extend(stop.position.submissions.to_le_bytes());
        bytes.extend(stop.urb().unwrap_or_default().iter().take(4096));
        self.seen.push((stop.moment, stop.reasons.clone(), bytes));
        if self.left == 0 {
            return Debug::Quit;
        }
        self.left -= 1;
        if self.left == 90 {
            breakpoints.delete(1);
        }
        let packet = stop.position.packets;
        match self.random.below(16) {
            _ if self.left == 60 => Debug::GoTo(Moment::End),
            0..=2 => Debug::Continue,
            3..=6 => Debug::Step,
            7 => Debug::StepPacket,
            8 => Debug::StepThread,
            9 => Debug::Finish,
            10 | 11 => Debug::StepBack,
            12 => Debug::PacketBack,
            13 | 14 => Debug::ContinueBack,
            _ => Debug::GoTo(Moment::Packet(packet / 2 + 1)),
        }
    }
}

/// Oracle: runs from the beginning. Checkpoints before each submission must not change anything.
#[test]
fn checkpoints() {
    let capture = tempdir().unwrap();
    let mut writer = CaptureWriter::new("several");
    for name in [Name::Triangle, Name::Triangle, Name::Triangle, Name::Triangle] {
        (name.demo().submission)().unwrap().write(1, &mut writer);
    }
    writer.finish(capture.path()).unwrap();
    let capture = Capture::open(capture.path()).unwrap();
    assert_eq!(capture.execs().count(), 4);
    let wander = |seed: u64, interval: Duration| {
        let mut breakpoints = Breakpoints::default();
        let mut add = |text: &str| drop(breakpoints.add(What::parse(text, None).unwrap(), None));
        add("packet 3DSTATE_*");
        add("draw 3");
        add("pixel 256,256");
        let mut wanderer = Wanderer { random: Random::new(seed), left: 100, seen: Vec::new() };
        let options = Options { interval, ..Options::default() };
        of_capture(&capture, breakpoints, &options, &mut wanderer);
        assert_eq!(wanderer.seen.len(), 101);
        wanderer.seen
    };
    let mut all = Vec::new();
    for seed in 1..2 {
        let (found, expected) = (wander(seed, Duration::ZERO), wander(seed, Duration::MAX));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!((found.0, &found.1), (expected.0, &expected.1), "seed {seed}");
            assert!(found.2 == expected.2, "seed {seed}, {}", found.0);
        }
        all.extend(found.into_iter().map(|(moment, _, _)| moment));
    }
    let instructions = all.iter().filter(|it| matches!(it, Moment::Instruction { .. }));
    assert!(instructions.count() > 10 && all.contains(&Moment::End), "{all:?}");
}

/// The session in the guide is what the debugger prints.
#[test]
fn the_session_in_the_guide() {
    let guide = include_str!("../../runtime/src/guide/stepping.md");
    let (_, block) = guide.split_once("```text\n").unwrap();
    let (session, _) = block.split_once("```\n").unwrap();
    let commands: Vec<&str> =
        session.lines().filter_map(|line| line.strip_prefix("(genx) ")).collect();
    let printed = session.lines().filter(|line| !line.starts_with("(genx) "));
    let printed: String = printed.map(|line| format!("{line}\n")).collect();
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    assert_eq!(script(capture.path(), &commands), printed);
}
