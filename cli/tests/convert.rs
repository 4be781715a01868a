//! The contract of `genx convert`: its outputs can be run and read, and it reports data that an
//! output format cannot hold.

use crate::common::{fill_capture, finish, genx};
use genxml::aub::{self, Compression, Reader, Recorder};
use genxml::capture::{Capture, Event, Playback};
use genxml::engine::EngineId;
use genxml_sim::aub::{AubReplay, Step};
use genxml_testkit::corpus;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

fn convert(input: &Path, output: &Path, more: &[&str]) -> (i32, String, String) {
    finish(genx(
        [&["convert", input.to_str().unwrap(), "-o", output.to_str().unwrap()], more].concat(),
    ))
}

fn run(input: &Path) -> (i32, String, String) {
    finish(genx(["run", input.to_str().unwrap()]))
}

/// Returns, for the first submission of a capture: the address of its batch, its engine, and its
/// memory by page, without the zeros at the end of each page.
fn first(path: &Path) -> (u64, EngineId, BTreeMap<u64, Vec<u8>>) {
    let capture = Capture::open(path).unwrap();
    let mut playback = Playback::new(&capture);
    let Some(Event::Exec(exec)) = playback.step() else { panic!("a submission comes first") };
    let memory = playback.memory(exec);
    let mut pages = BTreeMap::new();
    for (address, bytes) in memory.ranges() {
        for (page, bytes) in (address..).step_by(4096).zip(bytes.chunks(4096)) {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            pages.insert(page, bytes[..end].to_vec());
        }
    }
    (exec.batch_address, exec.engine, pages)
}

#[test]
fn captures_become_error_states_and_captures_again() {
    let place = tempdir().unwrap();
    let capture = place.path().join("fill");
    fill_capture(&capture, |_| ());
    let aub = place.path().join("fill.aub");
    convert(&capture, &aub, &[]);
    // Error states of older Linux versions do not have the buffers of the program.
    for (input, spelling) in [
        (&capture, "6.1"),
        (&capture, "6.1-plain"),
        (&capture, "5.4"),
        (&capture, "4.14"),
        (&aub, "6.1"),
    ] {
        let state = place.path().join("fill.error.gz");
        let (code, out, err) = convert(input, &state, &["--spelling", spelling]);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        let (again, file) = (place.path().join("again"), place.path().join("again.aub"));
        for output in [&again, &file] {
            let (code, _, err) = convert(&state, output, &[]);
            assert_eq!(code, 0, "{err}");
            let (code, out, err) = run(output);
            assert_eq!((code, err.as_str()), (0, ""), "{out}");
        }
        assert_eq!(first(&again), first(&capture), "{spelling}");
    }
    // Converts an error state to the format of another Linux version. Then tests unusable options.
    let (new, old) = (place.path().join("fill.error.gz"), place.path().join("old.txt"));
    let (code, _, err) = convert(&new, &old, &["--spelling", "4.4"]);
    assert_eq!(code, 0, "{err}");
    let text = fs::read_to_string(&old).unwrap();
    assert!(text.contains("render ring --- gtt_offset = 0x"), "{}", &text[..2000]);
    let (code, _, err) = convert(&capture, &old, &["--exec", "9"]);
    assert_eq!(code, 2, "{err}");
    let (code, _, err) = convert(&capture, &old, &["--spelling", "2.4"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("6.1-plain"), "{err}");
}

#[test]
fn captures_become_aub_files_and_captures_again() {
    let place = tempdir().unwrap();
    let capture = place.path().join("fill");
    fill_capture(&capture, |_| ());
    for (name, compression) in [
        ("f.aub", Compression::None),
        ("f.aub.gz", Compression::Gzip),
        ("f.aub.xz", Compression::Xz),
    ] {
        let file = place.path().join(name);
        let (code, out, err) = convert(&capture, &file, &[]);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        assert!(err.contains("1 expectations are left out"), "{err}");
        assert_eq!(Reader::open(&file).unwrap().compression(), compression, "{name}");
        let (code, out, err) = run(&file);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(out.starts_with(&format!("{name}: ok: 1 submissions")), "{out}");
        assert!(out.contains("memory trace of fill for PCI id 0x1616"), "{out}");
    }
    let sizes = ["f.aub", "f.aub.gz", "f.aub.xz"]
        .map(|name| fs::metadata(place.path().join(name)).unwrap().len());
    assert!(sizes[0] > 4 * sizes[1] && sizes[0] > 4 * sizes[2], "{sizes:?}");

    let again = place.path().join("again");
    let (code, out, err) = convert(&place.path().join("f.aub.xz"), &again, &[]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let (code, out, err) = run(&again);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(first(&again), first(&capture));
}

/// Runs the command with `bytes` as its standard input.
fn piped(bytes: &[u8], output: &Path, more: &[&str]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args([&["convert", "-", "-o", output.to_str().unwrap()], more].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    finish(child.wait_with_output().unwrap())
}

/// Standard input and files give the same output. (An AUB file is read twice to find its last
/// submission.) The compression of the output does not change its contents.
#[test]
fn standard_input_and_every_compression() {
    let place = tempdir().unwrap();
    let capture = place.path().join("fill");
    fill_capture(&capture, |_| ());
    let aub = place.path().join("fill.aub");
    convert(&capture, &aub, &[]);
    let plain = fs::read(&aub).unwrap();
    for suffix in ["gz", "xz", "zst"] {
        let packed = place.path().join(format!("fill.aub.{suffix}"));
        let (code, _, err) = convert(&capture, &packed, &[]);
        assert_eq!(code, 0, "{err}");
        assert!(fs::metadata(&packed).unwrap().len() < plain.len() as u64 / 2, "{suffix}");
        let mut unpacked = Vec::new();
        aub::decompressed(&packed).unwrap().read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain, "{suffix}");
        let again = place.path().join(suffix);
        let (code, out, err) = piped(&fs::read(&packed).unwrap(), &again, &[]);
        assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""), "{suffix}");
        assert_eq!(first(&again), first(&capture), "{suffix}");
    }
    let state = place.path().join("fill.error");
    let (code, _, err) = piped(&plain, &state, &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let again = place.path().join("again");
    let (code, _, err) = piped(&fs::read(&state).unwrap(), &again, &[]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(first(&again), first(&capture));
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = tempdir().unwrap();
    let capture = place.path().join("fill");
    fill_capture(&capture, |_| ());
    let refused = |input: &Path, output: &str, more: &[&str], words: &[&str]| {
        let output = place.path().join(output);
        let (code, out, err) = convert(input, &output, more);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(words.iter().all(|word| err.contains(word)), "{words:?} not in: {err}");
        assert!(!output.exists(), "{}", output.display());
    };
    refused(&capture, "x.bin", &[], &["x.bin", "--to"]);
    refused(&capture, "x.aub", &["--exec", "7"], &["no submission 7"]);
    refused(&capture, "copy", &[], &["same kind"]);
    let nothing = place.path().join("nothing.bin");
    fs::write(&nothing, [1, 0, 2, 0]).unwrap();
    refused(&nothing, "x.aub", &[], &["nothing.bin", "unknown binary data", "device coredump"]);
    refused(Path::new("no/such"), "x.aub", &[], &["no/such"]);
    refused(&capture, "no/such/x.aub", &[], &["no/such/x.aub"]);

    // A truncated file is converted up to its end.
    let file = place.path().join("f.aub");
    convert(&capture, &file, &[]);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 4]).unwrap();
    let (code, _, err) = convert(&file, &place.path().join("cut"), &[]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("ends inside"), "{err}");
    assert_eq!(Capture::open(place.path().join("cut")).unwrap().execs().count(), 1);
    fs::write(&file, &bytes[..100]).unwrap();
    let (code, _, err) = convert(&file, &place.path().join("nothing"), &[]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("starts no work") && !place.path().join("nothing").exists(), "{err}");
}

/// Converts Mesa's files to captures. Oracle: the capture of the same program.
#[test]
fn files_of_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    let place = tempdir().unwrap();
    let output = place.path().join("saxpy");
    let (code, _, err) = convert(&corpus.join("aub/vk_saxpy.aub.xz"), &output, &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, out, err) = run(&output);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("2 submissions"), "{out}");
    let second = place.path().join("second.aub.xz");
    let (code, _, err) = convert(&corpus.join("drivers/vk_saxpy"), &second, &["--exec", "1"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(&second);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("1 submissions"), "{out}");
}

/// Running a file that was converted from a capture leaves the memory that the capture expects.
/// Oracles: the expectations of the captures, from hardware and from tests of other projects.
#[test]
fn written_files_leave_what_captures_expect() {
    let Some(corpus) = corpus::folder() else { return };
    for name in [
        "drivers/vk_saxpy",
        "images/igt_gpgpu_fill",
        "images/igt_tiled_blits_00",
        "images/igt_storedw_render_00",
    ] {
        let capture = Capture::open(corpus.join(name)).unwrap();
        let mut recorder =
            Recorder::new(Vec::new(), capture.device().pci_id, capture.name()).unwrap();
        aub::from_capture(&capture, &mut recorder, &|_| true, &mut |_| ()).unwrap();
        let objects: Vec<Option<u64>> = (capture.expectations())
            .map(|expectation| recorder.physical(capture.object_name(expectation.object)))
            .collect();
        let file = recorder.finish().unwrap();
        let mut replay = AubReplay::new(Reader::new(&file[..]).unwrap());
        let mut execs = capture.execs();
        let mut compared = 0;
        while let Some(step) = replay.step().unwrap() {
            match step {
                Step::Ran { result, .. } => {
                    result.unwrap();
                    let exec = execs.next();
                    let now = |after| exec.is_some_and(|exec| exec.seq == after);
                    for (expectation, object) in capture.expectations().zip(&objects) {
                        if now(expectation.after_exec) {
                            let mut bytes = vec![0; expectation.size as usize];
                            let at = object.expect("written") + expectation.offset;
                            replay.gpu().memory.read_physical(at, &mut bytes).unwrap();
                            expectation.compare(&bytes, &capture).unwrap();
                            compared += 1;
                        }
                    }
                }
                Step::Stuck(stuck) => panic!("{stuck}"),
                Step::Compared(result) => result.unwrap(),
                Step::Header(_) => {}
            }
        }
        assert!(execs.next().is_none(), "{name}: every submission ran");
        assert_eq!(compared, objects.len(), "{name}");
        assert!(compared > 0, "{name}");
    }
}
