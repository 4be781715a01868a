//! The contract of `genx run`: exit codes, messages, dumps.

mod common;

use common::{EXPECTATION, batch_capture, corpus, fill_capture, fill_picture, finish, genx};
use genxml::core::{Address, U};
use genxml::engine::Render;
use genxml::gen8::mi::{MiStoreDataImm, MiUrbClear};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::tempdir;

fn run(capture: &Path, more: &[&str]) -> (i32, String, String) {
    finish(genx([&["run", capture.to_str().unwrap()], more].concat()))
}

#[test]
fn all_well_is_0() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let (code, out, err) = run(capture.path(), &["--stats"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("ok: 1 submissions, 1 of 1 expectations met"), "{out}");
    assert!(out.contains("threads"), "{out}");
}

#[test]
fn a_difference_is_1_and_named() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |bytes| bytes[0x1234] ^= 0x10);
    let (code, out, err) = run(capture.path(), &[]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains(&format!("expectation {EXPECTATION}")) && err.contains("0x1001234"), "{err}");
    assert!(out.contains("DIFFERS") && out.contains("0 of 1"), "{out}");
}

#[test]
fn unusable_input_is_2() {
    let expect_2 = |path: &Path, word: &str| {
        let (code, out, err) = run(path, &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(word), "{word} not in: {err}");
    };
    let fresh = || {
        let capture = tempdir().unwrap();
        fill_capture(capture.path(), |_| ());
        capture
    };
    expect_2(Path::new("no/such/capture"), "no/such/capture");

    let capture = fresh();
    let manifest = capture.path().join("manifest.json");
    let text = fs::read(&manifest).unwrap();
    for cut in [0, 1, text.len() / 2, text.len() - 2] {
        fs::write(&manifest, &text[..cut]).unwrap();
        expect_2(capture.path(), "manifest.json");
    }

    let capture = fresh();
    let data = capture.path().join("data.bin.zst");
    let bytes = fs::read(&data).unwrap();
    for broken in [&[][..], b"not zstd", &bytes[..bytes.len() / 2], &bytes[1..]] {
        fs::write(&data, broken).unwrap();
        expect_2(capture.path(), "data.bin.zst");
    }
    fs::remove_file(&data).unwrap();
    expect_2(capture.path(), "data.bin.zst");
}

#[test]
fn what_is_not_implemented_is_3_and_named() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        batch.emit(&MiUrbClear::new()).unwrap();
    });
    let (code, _, err) = run(capture.path(), &[]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("MI_URB_CLEAR") && err.contains("not implement"), "{err}");
    assert!(err.contains("0x0000_0002_0000"), "{err}");
}

#[test]
fn a_page_fault_is_3_and_says_where() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        let value = [U::new(1).unwrap()];
        let store = MiStoreDataImm::new(Address::new(0x5000_0000).unwrap());
        batch.emit(&MiStoreDataImm { data_dword: (&value).into(), ..store }).unwrap();
    });
    let (code, _, err) = run(capture.path(), &[]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("MI_STORE_DATA_IMM") && err.contains("0x0000_5000_0000"), "{err}");
}

#[test]
fn dump_trace_and_json() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let place = tempdir().unwrap();
    let (dump, trace) = (place.path().join("dump"), place.path().join("trace"));
    let more = ["--json", "--dump", dump.to_str().unwrap(), "--trace", trace.to_str().unwrap()];
    let (code, out, err) = run(capture.path(), &more);
    assert_eq!(code, 0, "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["expectations"][0]["ok"], true);
    assert_eq!(report["stats"]["threads"], 1024);
    assert!(fs::read(dump.join("picture.bin")).unwrap() == fill_picture());
    assert_eq!((&report["submissions"], &report["submissions_in_capture"]), (&1.into(), &1.into()));
    let text = fs::read_to_string(&trace).unwrap();
    assert!(text.lines().any(|line| line.contains("GPGPU_WALKER")), "{text}");
    let count = |text: &str, word| text.lines().filter(|line| line.starts_with(word)).count() as u64;
    assert_eq!(count(&text, "thread"), 1024);
    assert_eq!(count(&text, "packet"), report["stats"]["packets"]);
    assert_eq!(text.lines().count() as u64, 1024 + count(&text, "packet"), "nothing else");

    let more = ["--trace", trace.to_str().unwrap(), "--trace-instructions"];
    assert_eq!(run(capture.path(), &more).0, 0);
    let text = fs::read_to_string(&trace).unwrap();
    assert_eq!(count(&text, "instruction"), report["stats"]["instructions"]);
    assert_eq!(run(capture.path(), &["--trace-instructions"]).0, 2);
}

/// The first submission faults; the second and what is expected after it are not reached.
#[test]
fn what_was_not_reached_does_not_count() {
    use genxml::batch::{Batch, Buffer};
    use genxml::capture::{CaptureWriter, Compare};
    let capture = tempdir().unwrap();
    let mut writer = CaptureWriter::new("two");
    for clear in [true, false] {
        let mut batch = Batch::<Render>::new("batch", 0x2_0000, 4096).unwrap();
        if clear {
            batch.emit(&MiUrbClear::new()).unwrap();
        }
        let target = Buffer::new("target", 0x1_0000, 4096).unwrap();
        batch.finish().unwrap().submit([target]).unwrap().write(1, &mut writer);
    }
    writer.expect(EXPECTATION, "target", 0, &[0; 16], &[], Compare::Exact);
    writer.finish(capture.path()).unwrap();
    let (code, out, err) = run(capture.path(), &[]);
    assert_eq!(code, 3, "{err}");
    assert!(out.contains("STOPPED: 0 of 2 submissions, 0 of 1 expectations met"), "{out}");
    let (code, out, _) = run(capture.path(), &["--json"]);
    assert_eq!(code, 3);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["submissions"], &report["submissions_in_capture"]), (&0.into(), &2.into()));
    let expectation = &report["expectations"][0];
    assert_eq!(expectation["name"], EXPECTATION);
    assert!(expectation["ok"].is_null() && expectation.get("ok").is_some(), "{expectation}");
}

#[test]
fn an_endless_batch_ends() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        use genxml::gen8::mi::{MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator};
        let start = MiBatchBufferStart::new(Address::new(batch.address()).unwrap());
        let space = MiBatchBufferStartAddressSpaceIndicator::PPGTT;
        batch.emit(&MiBatchBufferStart { address_space_indicator: space, ..start }).unwrap();
    });
    let (code, _, err) = run(capture.path(), &["--work-limit", "100000"]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("still running after 100000"), "{err}");
}

/// Oracle: memory as hardware and IGT's assertions left it.
#[test]
fn corpus_is_byte_exact() {
    let Some(corpus) = corpus() else { return };
    let kinds = [
        "igt_exec",
        "igt_storedw",
        "igt_pipe_control",
        "igt_gpgpu",
        "igt_tiled_blits",
        "syn_gpgpufill",
        "syn_mediafill",
        "syn_mediaspin",
        "syn_blt",
    ];
    let mut seen = 0;
    for entry in fs::read_dir(corpus.join("images")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if kinds.iter().any(|kind| name.starts_with(kind)) {
            let (code, out, err) = run(&path, &[]);
            assert_eq!(code, 0, "{name}: {out}{err}");
            seen += 1;
        }
    }
    assert!(seen >= 17, "{seen} captures");
    let (code, out, err) = run(&corpus.join("drivers/igt_gem_blt"), &[]);
    assert_eq!(code, 0, "{out}{err}");
}

/// The hundred thousand turns of media_spin, start of the program included.
#[test]
fn spinning_takes_less_than_a_second() {
    let Some(corpus) = corpus() else { return };
    let start = Instant::now();
    let (code, out, err) = run(&corpus.join("images/syn_mediaspin_36_100000"), &[]);
    let took = start.elapsed();
    assert_eq!(code, 0, "{out}{err}");
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// Draws are not implemented: the first packet that the model lacks is named.
#[test]
fn corpus_of_other_kinds_names_what_is_missing() {
    let Some(corpus) = corpus() else { return };
    let (code, _, err) = run(&corpus.join("images/igt_render_copy"), &[]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("not implement") && err.contains("3D"), "{err}");
}
