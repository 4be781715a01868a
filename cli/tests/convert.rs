//! The contract of `genx convert`: what it writes can be run and read, and what it cannot do is said.

mod common;

use common::{corpus, fill_capture, fill_picture, finish, genx};
use genxml::aub::{Compression, Reader};
use genxml::capture::{Capture, Event, Playback};
use std::fs;
use std::path::Path;
use tempfile::tempdir;

fn convert(input: &Path, output: &Path, more: &[&str]) -> (i32, String, String) {
    finish(genx([&["convert", input.to_str().unwrap(), "-o", output.to_str().unwrap()], more].concat()))
}

fn run(input: &Path) -> (i32, String, String) {
    finish(genx(["run", input.to_str().unwrap()]))
}

#[test]
fn captures_become_aub_files_and_captures_again() {
    let place = tempdir().unwrap();
    let capture = place.path().join("fill");
    fill_capture(&capture, |_| ());
    for (name, compression) in
        [("f.aub", Compression::None), ("f.aub.gz", Compression::Gzip), ("f.aub.xz", Compression::Xz)]
    {
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
    let sizes =
        ["f.aub", "f.aub.gz", "f.aub.xz"].map(|name| fs::metadata(place.path().join(name)).unwrap().len());
    assert!(sizes[0] > 4 * sizes[1] && sizes[0] > 4 * sizes[2], "{sizes:?}");

    let again = place.path().join("again");
    let (code, out, err) = convert(&place.path().join("f.aub.xz"), &again, &[]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let (code, out, err) = run(&again);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    // The memory that the batch sees is what the first capture has.
    let first = |path: &Path| {
        let capture = Capture::open(path).unwrap();
        let mut playback = Playback::new(&capture);
        let Some(Event::Exec(exec)) = playback.step() else { panic!("a submission comes first") };
        let memory = playback.memory(exec);
        let bytes: Vec<u8> = memory.ranges().iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        (
            exec.batch_address,
            exec.engine,
            bytes.iter().filter(|byte| **byte != 0).copied().collect::<Vec<u8>>(),
        )
    };
    assert_eq!(first(&again), first(&capture));
    assert!(!fill_picture().is_empty());
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
    refused(&capture, "x.aub.zst", &["--to", "aub"], &["zstd", ".xz"]);
    refused(&capture, "x.aub", &["--exec", "7"], &["no submission 7"]);
    refused(&capture, "copy", &[], &["already"]);
    refused(Path::new("-"), "x.aub", &[], &["standard input"]);
    refused(Path::new("no/such"), "x.aub", &[], &["no/such"]);
    refused(&capture, "no/such/x.aub", &[], &["no/such/x.aub"]);

    // A file that is cut is converted as far as it goes.
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
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("no submission") && !place.path().join("nothing").exists(), "{err}");
}

/// Mesa's files as captures. Oracle: the capture of the same program.
#[test]
fn files_of_mesa() {
    let Some(corpus) = corpus() else { return };
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
