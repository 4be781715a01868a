//! The contract of `genx run`: exit codes, messages, dumps.

use crate::common::{
    EXPECTATION, batch_capture, fill_capture, fill_picture, finish, genx, read_png,
};
use genx::demo::Name;
use genxml::core::{Address, S, U};
use genxml::engine::{Blitter, Render};
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt};
use genxml::gen8::mi::{
    MiCopyMemMem, MiFlushDw, MiSemaphoreSignal, MiSemaphoreSignalTargetEngineSelect, MiStoreDataImm,
};
use genxml_sim::Gpu;
use genxml_sim::machine::events::{Event, Now};
use genxml_testkit::aub::AubFile;
use genxml_testkit::{Random, corpus};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::tempdir;

/// The model has no second video engine, so it does not implement this packet.
const LEFT_OUT: MiSemaphoreSignal = MiSemaphoreSignal {
    target_engine_select: MiSemaphoreSignalTargetEngineSelect::VCS1,
    ..MiSemaphoreSignal::new()
};

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
    assert!(
        err.contains(&format!("expectation {EXPECTATION}")) && err.contains("0x1001234"),
        "{err}"
    );
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
        batch.emit(&LEFT_OUT).unwrap();
    });
    let (code, out, err) = run(capture.path(), &[]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("MI_SEMAPHORE_SIGNAL") && err.contains("not implement"), "{err}");
    assert!(err.contains("0x0000_0002_0000"), "{err}");
    let at = "  stopped at    render engine, MI_SEMAPHORE_SIGNAL, batch 0x0000_0002_0000 +0x0\n";
    assert!(out.contains(at), "{out}");
}

/// A blit whose result the command streamer reads. MI_FLUSH_DW must be between them.
#[test]
fn sanitizers_report_both_sides() {
    let capture = |flushes: bool| {
        let capture = tempdir().unwrap();
        batch_capture::<Blitter>(capture.path(), |batch| {
            let fill = XyColorBlt {
                _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
                destination_pitch: S::new(64).unwrap(),
                raster_operation: BlitRasterOperation::PATTERN_COPY,
                color_depth: BlitColorDepth::_32BPP,
                destination_x2_coordinate_right: S::new(16).unwrap(),
                destination_y2_coordinate_bottom: S::new(1).unwrap(),
                destination_base_address: Address::new(0x1_0000).unwrap(),
                ..XyColorBlt::new()
            };
            batch.emit(&fill).unwrap();
            if flushes {
                batch.emit(&MiFlushDw::new()).unwrap();
            }
            let copy = MiCopyMemMem {
                source_memory_address: Address::new(0x1_0004).unwrap(),
                destination_memory_address: Address::new(0x1_0800).unwrap(),
                ..MiCopyMemMem::new()
            };
            batch.emit(&copy).unwrap();
        });
        capture
    };
    let good = capture(true);
    let (code, out, err) = run(good.path(), &["--sanitize", "flush"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("batch: flush: 0 findings\n"), "{out}");
    let bad = capture(false);
    let (code, out, err) = run(bad.path(), &["--sanitize", "flush"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let first = "flush: error: FLUSH-BLITTER: the blitter has not written the data to memory yet\n\
        \x20 written through the blitter: 4 bytes at 0x0000_0001_0004, by XY_COLOR_BLT at \
        0x0000_0002_0000 (blitter batch +0x0)\n\
        \x20 read through the command streamer: 4 bytes at 0x0000_0001_0004, by MI_COPY_MEM_MEM at \
        0x0000_0002_001c (blitter batch +0x1c)\n\
        \x20 between them, use MI_FLUSH_DW on the blitter (facts: Linux i915 gen8_emit_flush_xcs)\n\n\
        batch: flush: 1 finding\n";
    assert!(out.starts_with(first), "{out}");
    let (code, out, _) = run(bad.path(), &["--sanitize", "flush", "--json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    let finding = &value["sanitize"]["findings"][0];
    assert_eq!((code, finding["rule"].as_str()), (1, Some("FLUSH-BLITTER")), "{out}");
    assert_eq!(finding["first"]["packet"], "XY_COLOR_BLT");
    assert_eq!((&finding["second"]["memory"], &finding["count"]), (&"0x10004".into(), &1.into()));
    let (code, out, err) = run(bad.path(), &["--sanitize", "flush,rays"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("there is no sanitizer \"rays\": use flush, race"), "{err}");
}

/// The message about the work limit names the option --work-limit. A limit of 0 is refused.
#[test]
fn the_work_limit_is_an_option() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let (code, out, err) = run(capture.path(), &["--work-limit", "0"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("--work-limit") && !err.contains("Gpu::"), "{err}");
    let (code, _, err) = run(capture.path(), &["--work-limit", "100"]);
    assert_eq!(code, 3, "{err}");
    let message = "still running after 100 units of work; if that is meant, raise the work limit \
                   with --work-limit\n";
    assert!(err.ends_with(message), "{err}");
    let (_, out, _) = run(capture.path(), &["--work-limit", "100", "--json"]);
    assert!(out.contains("with --work-limit") && !out.contains("set_work_limit"), "{out}");
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
    let more =
        ["--json", "--dump", dump.to_str().unwrap(), "--trace-text", trace.to_str().unwrap()];
    let (code, out, err) = run(capture.path(), &more);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["expectations"][0]["ok"], true);
    assert_eq!(report["stats"]["threads"], 1024);
    assert!(fs::read(dump.join("picture.bin")).unwrap() == fill_picture());
    assert_eq!((&report["submissions"], &report["submissions_in_capture"]), (&1.into(), &1.into()));
    let text = fs::read_to_string(&trace).unwrap();
    assert!(text.lines().any(|line| line.contains("GPGPU_WALKER")), "{text}");
    let count =
        |text: &str, word| text.lines().filter(|line| line.starts_with(word)).count() as u64;
    assert_eq!(count(&text, "thread"), 1024);
    assert_eq!(count(&text, "packet"), report["stats"]["packets"]);
    assert_eq!(text.lines().count() as u64, 1024 + count(&text, "packet"), "nothing else");

    let more = ["--trace-text", trace.to_str().unwrap(), "--trace-instructions"];
    assert_eq!(run(capture.path(), &more).0, 0);
    let text = fs::read_to_string(&trace).unwrap();
    assert_eq!(count(&text, "instruction"), report["stats"]["instructions"]);
    assert_eq!(run(capture.path(), &["--trace-instructions"]).0, 2);
}

/// The report without its last line, the time.
fn without_time(out: &str) -> String {
    out.lines().filter(|line| !line.starts_with("  time ")).collect::<Vec<_>>().join("\n")
}

/// The report about the second draw of the demo `cube`, without its counts.
const SECOND_CUBE: &str = "\
submission 1, 3DPRIMITIVE at 0x0000_0010_04e4
  draws         TRILIST of 36 vertices by WORD index at 0x0000_0201_0000, 1 instance
  shaders       VS SIMD8 +0x40, PS SIMD8 +0x280
  target 0      binding 0: R8G8B8A8_UNORM 512x512 linear at 0x0000_0100_0000, replaces
  depth         D32_FLOAT 512x512 at 0x0000_0210_0000, test LESS, writes
  raster        1 sample, culls none, viewport 0,0 to 511,511, depth 0 to 1, rectangle 0,0 to 511,511
  pictures      draw2-before-rt0.png draw2-before-depth.png draw2-after-rt0.png draw2-after-depth.png
";

/// Draws of two cubes. Oracle: the state in the demo's source. A cube has 24 vertices, 36 indices
/// and 12 triangles. The second draw starts with the memory that the first one left. The last image
/// is that of `genx demo`. All images were checked by eye. Numbers of pixels are only compared with
/// each other.
#[test]
fn draws_are_described() {
    let place = tempdir().unwrap();
    let (capture, pictures) = (place.path().join("cube"), place.path().join("pictures"));
    let (drawn, path) = (place.path().join("cube.png"), capture.to_str().unwrap());
    let demo = genx(["demo", "cube", "-o", drawn.to_str().unwrap(), "--capture", path]);
    assert_eq!(finish(demo).0, 0);
    let dump = pictures.to_str().unwrap();
    let (code, out, err) = run(&capture, &["--observe", "draw", "--dump", dump]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (_, second) = out.split_once("draw 2: ").expect("two draws");
    let (second, _) = second.split_once("cube: ok").expect("the report after the draws");
    let known: String = second
        .lines()
        .filter(|line| !line.starts_with("  did"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(known, SECOND_CUBE);
    let image = |name: &str| read_png(&pictures.join(name));
    assert!(image("draw2-after-rt0.png") == read_png(&drawn));
    let background = [24, 26, 32, 255].repeat(512 * 512);
    assert!(image("draw1-before-rt0.png").0 == background);
    assert!(image("draw1-before-depth.png").0 == [255; 4 * 512 * 512]);
    assert!(image("draw1-after-rt0.png") == image("draw2-before-rt0.png"));
    assert!(image("draw1-after-depth.png") == image("draw2-before-depth.png"));
    // A pixel has the colour of a face exactly if it has the depth of a face.
    let (colors, depths) = (image("draw2-after-rt0.png").0, image("draw2-after-depth.png").0);
    let drawn = colors.chunks(4).zip(depths.chunks(4)).filter(|(color, depth)| {
        assert_eq!(**color == [24, 26, 32, 255], **depth == [255; 4]);
        depth[0] != 255
    });
    let drawn = drawn.count() as u64;

    let (code, out, err) = run(&capture, &["--observe", "draw", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let draws = report["draws"].as_array().unwrap();
    assert_eq!(draws.len(), 2);
    let count = |draw: usize, what: &str| draws[draw]["counts"][what].as_u64().unwrap();
    for (number, draw) in draws.iter().enumerate() {
        assert_eq!(draw["indices"]["format"], "WORD");
        assert_eq!(draw["indices"]["bytes"], 72);
        assert_eq!(draw["targets"][0]["format"], "R8G8B8A8_UNORM");
        assert_eq!(draw["depth"]["test"], "LESS");
        assert_eq!(draw["stencil"], Value::Null);
        let exact = [
            ("vertices", 36),
            ("primitives", 12),
            ("vs_invocations", 24),
            ("clipper_primitives", 12),
        ];
        assert!(exact.into_iter().all(|(what, n)| count(number, what) == n), "{draw}");
        assert_eq!(draw["counts"]["gs_invocations"], Value::Null);
        let written = count(number, "pixels_written");
        assert_eq!([count(number, "pixels_shaded"), count(number, "samples_passed")], [written; 2]);
    }
    assert!(
        count(0, "pixels_written") + count(1, "pixels_written") > drawn && drawn > 50_000,
        "{drawn}"
    );
}

/// Draws of a G45. Oracle: the buffers of the capture's manifest, whose picture llvmpipe made: the
/// last image of the target is the memory that the expectation compares. A 64 x 64 X-tiled target
/// of 512-byte rows has 8 tiles, one below the other.
#[test]
fn draws_of_g45() {
    let Some(corpus) = corpus::folder() else { return };
    let capture = corpus.join("gen45/captures/gl_depth");
    let place = tempdir().unwrap();
    let dump = place.path().to_str().unwrap();
    let (code, out, err) = run(&capture, &["--observe", "draw", "--json", "--dump", dump]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let draws = report["draws"].as_array().unwrap();
    assert!(draws.len() > 1, "{out}");
    let mut tests = 0;
    for draw in draws {
        assert_eq!(draw["problems"], serde_json::json!([]), "{draw}");
        assert_eq!(draw["more_targets"], false);
        let stages = draw["shaders"].as_array().unwrap().iter().map(|shader| &shader["stage"]);
        assert!(stages.clone().any(|stage| stage == "SF"), "{draw}");
        // A draw that clears depth has no pixel shader.
        let shades = stages.clone().any(|stage| stage == "PS");
        assert_eq!(draw["targets"].as_array().unwrap().len(), usize::from(shades), "{draw}");
        let target = &draw["targets"][0];
        for (what, expected) in [
            ("format", "R8G8B8A8_UNORM".into()),
            ("tiling", "X".into()),
            ("address", "0x100b000".into()),
            ("pitch", Value::from(512)),
            ("width", 64.into()),
            ("height", 64.into()),
        ] {
            assert!(!shades || target[what] == expected, "{what}: {draw}");
        }
        if let Some(depth) = draw["depth"].as_object() {
            tests += usize::from(depth["test"] != Value::Null);
            assert_eq!((&depth["address"], &depth["pitch"]), (&"0x1017000".into(), &256.into()));
            assert_eq!(draw["stencil"]["address"], depth["address"], "one buffer has both");
        }
    }
    assert!(tests > 0, "{out}");
    let last = format!("draw{}-after-rt0.png", draws.len());
    let (pixels, size) = read_png(&place.path().join(last));
    assert_eq!(size, [64; 2]);
    let memory = fs::read(place.path().join("color.bin")).unwrap();
    for (y, row) in pixels.chunks(4 * 64).enumerate() {
        let stored = memory[y * 512..][..4 * 64].chunks(4);
        for (pixel, stored) in row.chunks(4).zip(stored) {
            assert_eq!(pixel[..3], stored[..3], "row {y}");
        }
    }
}

/// The tables and the trace of a G45 have its packets, kernels and messages.
#[test]
fn stats_of_g45() {
    let Some(corpus) = corpus::folder() else { return };
    let place = tempdir().unwrap();
    let trace = place.path().join("trace.json");
    let capture = corpus.join("gen45/captures/gl_depth");
    let (code, out, err) = run(&capture, &["--stats", "--trace", trace.to_str().unwrap()]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for word in [
        "3DSTATE_PIPELINED_POINTERS (render)",
        "dp.write: Render Target Write",
        "math: INV",
        "urb: write URB_TRANSPOSE",
    ] {
        assert!(out.contains(word), "{word:?} not in:\n{out}");
    }
    assert!(!out.contains(": ?"), "a message without words:\n{out}");
    let trace: Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
    let names = trace.as_array().unwrap().iter().map(|event| &event["name"]);
    assert!(names.filter(|name| **name == "3DPRIMITIVE").count() > 2);
}

/// Draws with damaged state and batches give a summary and images, or nothing, but never a panic.
#[test]
fn damaged_draws_are_described() {
    let demo = Name::Texture.demo();
    let mut random = Random::new(1);
    let (mut told, mut problems) = (0, 0);
    for round in 0..150 {
        let mut submission = (demo.submission)().unwrap();
        let small = submission.buffers.iter_mut().filter(|buffer| buffer.bytes().len() <= 0x1_0000);
        let mut small: Vec<_> = small.collect();
        for _ in 0..=random.below(3) {
            // Damage the batch and the heaps. The rest of these buffers is empty.
            let buffer = random.index(4);
            small[buffer].bytes_mut()[random.index(if buffer == 0 { 1200 } else { 512 })] ^=
                1 << random.below(8);
        }
        let mut gpu = Gpu::new();
        gpu.set_work_limit(1 << 12);
        let context = gpu.create_context().unwrap();
        for buffer in &submission.buffers {
            gpu.load(context, buffer.address(), buffer.bytes()).unwrap();
        }
        let mut listener = |_: Now, event: &Event<'_>| {
            let Event::Draw(drawing) = event else { return };
            let summary = drawing.summary();
            told += 1;
            problems += summary.problems.len();
            if round % 8 == 0 {
                summary.targets.iter().for_each(|target| drop(drawing.color(target)));
                summary.depth.iter().for_each(|depth| drop(drawing.depth(depth)));
                summary.stencil.iter().for_each(|stencil| drop(drawing.stencil(stencil)));
            }
        };
        let (engine, at, length) =
            (submission.engine, submission.batch_address, submission.batch_length);
        let _ = gpu.submit_observed(context, engine, at, length, &mut listener);
    }
    assert!(told > 50 && problems > 0, "{told} {problems}");
}

/// The counts of the demo `fill`: 1024 threads, one for each block of the image, which has 256 x
/// 256 pixels of four bytes.
#[test]
fn the_report_fits_a_screen() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let (code, out, err) = run(capture.path(), &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("fill: ok: 1 submissions, 1 of 1 expectations met\n"), "{out}");
    for line in ["  engines       render ", "  threads       1,024", " 256.0 KiB written\n"] {
        assert!(out.contains(line), "{line:?} not in:\n{out}");
    }
    let time = out.lines().find(|line| line.starts_with("  time ")).unwrap();
    assert!(time.contains(" s, ") && time.ends_with("EU instructions/s"), "{time}");
    assert!(out.lines().count() < 24 && out.lines().all(|line| line.len() < 100), "{out}");
    // Another run gives the same results, with any number of threads.
    for threads in ["1", "2", "7"] {
        let (_, again, _) = run(capture.path(), &["--threads", threads]);
        assert_eq!(without_time(&out), without_time(&again));
    }
    assert_eq!(run(capture.path(), &["--threads", "0"]).0, 2);
}

/// The tables add up to the counts, and name the demo's packets, kernel and messages.
#[test]
fn stats_are_tables() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let (code, out, err) = run(capture.path(), &["--stats"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for word in ["engine ", "packet ", "kernel ", "message ", "GPGPU_WALKER (render)", "dc1: "] {
        assert!(out.contains(word), "{word:?} not in:\n{out}");
    }
    let (_, out, _) = run(capture.path(), &["--stats", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let sum = |table: &str, column: &str| -> u64 {
        let rows = report["tables"][table].as_array().unwrap();
        rows.iter().map(|row| row[column].as_u64().unwrap()).sum()
    };
    let stats = &report["stats"];
    assert_eq!(sum("packets", "count"), stats["packets"]);
    assert_eq!(sum("engines", "packets"), stats["packets"]);
    assert_eq!(sum("kernels", "threads"), stats["threads"]);
    assert_eq!(sum("kernels", "instructions"), stats["instructions"]);
    assert_eq!(sum("messages", "count"), stats["messages"]);
    assert_eq!(sum("kernels", "messages"), stats["messages"]);
    assert_eq!(
        report["engines"],
        serde_json::json!([{ "engine": "render", "packets": stats["packets"] }])
    );
    let (_, out, _) = run(capture.path(), &["--json"]);
    assert!(serde_json::from_str::<Value>(&out).unwrap().get("tables").is_none());
}

/// Checks the rules of the trace event format, as in Perfetto's importer: slices of a track are
/// nested; time does not decrease; every track has a name. Returns the slices: track, name, start,
/// end.
fn slices(text: &str) -> Vec<(u64, String, f64, f64)> {
    let events: Vec<Value> =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut tracks = BTreeMap::<u64, (f64, Vec<usize>, bool)>::new();
    let mut slices: Vec<(u64, String, f64, f64)> = Vec::new();
    for event in &events {
        let (phase, track) = (event["ph"].as_str().unwrap(), event["tid"].as_u64().unwrap());
        assert!(event["pid"].is_u64(), "{event}");
        let (last, open, named) = tracks.entry(track).or_default();
        if phase == "M" {
            *named |= event["name"] == "thread_name" && event["args"]["name"].is_string();
            continue;
        }
        let time = event["ts"].as_f64().unwrap();
        assert!(*named && time >= *last, "{event}");
        *last = time;
        match phase {
            "B" => {
                open.push(slices.len());
                slices.push((track, event["name"].as_str().unwrap().to_owned(), time, f64::NAN));
            }
            "E" => slices[open.pop().unwrap_or_else(|| panic!("ends nothing: {event}"))].3 = time,
            "i" => assert_eq!(event["s"], "t", "{event}"),
            "C" => assert!(
                event["args"].as_object().unwrap().values().all(Value::is_number),
                "{event}"
            ),
            other => panic!("{other}: {event}"),
        }
    }
    assert!(tracks.values().all(|(_, open, _)| open.is_empty()), "a slice has no end");
    slices
}

#[test]
fn a_trace_for_perfetto() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let file = capture.path().join("trace.json");
    let more = ["--json", "--trace", file.to_str().unwrap()];
    let (code, out, err) = run(capture.path(), &more);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"render\""), "{text}");
    let slices = slices(&text);
    let named =
        |start: &str| slices.iter().filter(|(_, name, ..)| name.starts_with(start)).count() as u64;
    let walker = slices.iter().find(|(_, name, ..)| name == "GPGPU_WALKER").expect("the walker");
    // An instruction is 16 units of the model's clock. A microsecond of the trace is 1000 units.
    let instructions = report["stats"]["instructions"].as_f64().unwrap();
    assert!(walker.3 - walker.2 >= instructions * 16.0 / 1000.0, "{walker:?}");
    assert_eq!(named("PIPELINE_SELECT"), 1);

    // The same run writes the same trace.
    assert_eq!(run(capture.path(), &more).0, 0);
    assert!(fs::read_to_string(&file).unwrap() == text);
    let (code, _, err) = run(capture.path(), &["--trace", "no/such/place.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("no/such/place.json"), "{err}");
}

/// With all counters and the time of the host, the trace follows the rules in both times, and the
/// slices and the model's time stay the same. Oracle: the trace without them.
#[test]
fn counters_and_host_time_of_a_trace() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let file = capture.path().join("trace.json");
    let trace = |more: &[&str]| {
        let (code, out, err) =
            run(capture.path(), &[&["--trace", file.to_str().unwrap()], more].concat());
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        fs::read_to_string(&file).unwrap()
    };
    let plain = trace(&[]);
    let all = ["--trace-counters", "overdraw,lines,occupancy,messages"];
    let counted = trace(&all);
    assert_eq!(counted, trace(&all), "counters are the same in each run");
    let text = trace(&[&all[..], &["--trace-host"]].concat());
    let parse = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap();
    // The points of counters come after the end of their packet.
    let only = |text: &str, process: u64| {
        let mut objects = parse(text);
        let is_counter = |object: &Value| {
            object["ph"] == "C" && object["name"].as_str().unwrap().starts_with("render: ")
        };
        objects.retain(|object| object["pid"] == process && !is_counter(object));
        slices(&serde_json::to_string(&objects).unwrap())
    };
    assert_eq!(only(&plain, 1), slices(&plain));
    assert_eq!(only(&counted, 1), only(&plain, 1));
    assert_eq!(only(&text, 1), only(&plain, 1));
    let names = |slices: Vec<(u64, String, f64, f64)>| {
        slices.into_iter().map(|slice| slice.1).collect::<Vec<_>>()
    };
    assert_eq!(names(only(&text, 2)), names(only(&plain, 1)));
    for track in
        ["cache lines written", "cache lines read", "EU occupancy", "EU threads", "messages"]
    {
        let name = format!("render: {track}");
        assert!(parse(&text).iter().any(|object| object["name"] == name.as_str()), "{track}");
    }
    for (wrong, part) in [
        (&["--trace-host"][..], "--trace"),
        (&["--trace-counters", "lines"][..], "--trace"),
        (&["--trace", "x", "--trace-counters", "cows"][..], "use overdraw, lines, occupancy"),
    ] {
        let (code, _, err) = run(capture.path(), wrong);
        assert!(code == 2 && err.contains(part), "{err}");
    }
}

/// A trace that ends with a fault is complete and contains the fault.
#[test]
fn a_trace_that_a_fault_ends() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        batch.emit(&LEFT_OUT).unwrap();
    });
    let file = capture.path().join("trace.json");
    let (code, out, _) = run(capture.path(), &["--trace", file.to_str().unwrap(), "--json"]);
    assert_eq!(code, 3);
    let text = fs::read_to_string(&file).unwrap();
    assert!(slices(&text).iter().any(|(_, name, ..)| name == "MI_SEMAPHORE_SIGNAL"), "{text}");
    assert!(text.contains("\"ph\":\"i\"") && text.contains("not implement"), "{text}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let fault = &report["fault"];
    assert_eq!(
        (&fault["engine"], &fault["packet"]),
        (&"render".into(), &"MI_SEMAPHORE_SIGNAL".into())
    );
    assert_eq!((&fault["batch_offset"], &fault["exec"]), (&0.into(), &0.into()), "{fault}");
}

/// The first submission faults. The second one and its expectation are not reached.
#[test]
fn what_was_not_reached_does_not_count() {
    use genxml::batch::{Batch, Buffer};
    use genxml::capture::{CaptureWriter, Compare};
    let capture = tempdir().unwrap();
    let mut writer = CaptureWriter::new("two");
    for clear in [true, false] {
        let mut batch = Batch::<Render>::new("batch", 0x2_0000, 4096).unwrap();
        if clear {
            batch.emit(&LEFT_OUT).unwrap();
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
    let report: Value = serde_json::from_str(&out).unwrap();
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

/// A classic AUB file with a batch for the blitter that stores a dword to `target`. Its page table
/// maps the first 16 pages to themselves.
fn aub(target: u32) -> AubFile {
    let bytes =
        |dwords: &[u32]| dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<_>>();
    let entries: Vec<u8> = (0..16u64).flat_map(|page| ((page << 12) | 1).to_le_bytes()).collect();
    let mut file = AubFile::classic("PCI-ID=0x1616");
    file.trace([1, 0, 4], 0, &entries)
        .trace([1, 1, 0], 0x1000, &bytes(&[0x1000_0002, target, 0, 77, 0x0500_0000]))
        .trace([2, 4, 0], 0x2000, &bytes(&[0x1880_0001, 0x1000, 0, 0]));
    file
}

#[test]
fn aub_files() {
    let place = tempdir().unwrap();
    let path = place.path().join("store.aub");
    fs::write(&path, &aub(0x3000).0).unwrap();
    let (code, out, err) = run(&path, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("store.aub: ok: 1 submissions\n"), "{out}");
    for line in
        ["  recorded      classic of a test for PCI id 0x1616\n", "  engines       blitter 4"]
    {
        assert!(out.contains(line), "{line:?} not in:\n{out}");
    }
    let trace = place.path().join("trace.json");
    let (code, out, _) = run(&path, &["--json", "--stats", "--trace", trace.to_str().unwrap()]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["submissions"]), (0, &1.into()));
    assert_eq!(
        report["aub"],
        serde_json::json!({ "kind": "classic", "pci_id": "0x1616", "application": "a test" })
    );
    assert_eq!(report["engines"][0]["engine"], "blitter");
    assert!(report.get("capture").is_none());
    let slices = slices(&fs::read_to_string(&trace).unwrap());
    let inside = |outer: &str, inner: &str| {
        let find = |start: &str| {
            slices.iter().find(|(_, name, ..)| name.starts_with(start)).expect("a slice")
        };
        let (outer, inner) = (find(outer), find(inner));
        assert!(outer.2 <= inner.2 && inner.3 <= outer.3, "{outer:?} {inner:?}");
    };
    inside("ring 0x0000_0000_2000", "batch 0x0000_0000_1000");
    inside("batch 0x0000_0000_1000", "MI_STORE_DATA_IMM");

    // The file may also come from a pipe.
    let mut child = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(["run", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&aub(0x3000).0).unwrap();
    let (code, out, _) = finish(child.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("ok: 1 submissions"), "{out}");
}

#[test]
fn aub_files_that_end_early() {
    let place = tempdir().unwrap();
    let path = place.path().join("store.aub");
    let whole = aub(0x3000).0;

    // If the file is truncated in the second submission, the first one still runs.
    let second = [&whole[..], &whole[..whole.len() - 2]].concat();
    fs::write(&path, &second).unwrap();
    let (code, out, err) = run(&path, &[]);
    assert_eq!(code, 2, "{out}{err}");
    assert!(out.starts_with("store.aub: BROKEN OFF: 1 submissions"), "{out}");
    assert!(err.contains("ends inside a AUB_TRACE_BLOCK block"), "{err}");
    let (code, out, _) = run(&path, &["--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["exit"], &report["submissions"]), (2, &2.into(), &1.into()));
    assert!(report["fault"]["text"].as_str().unwrap().contains("ends inside"), "{report}");

    for bytes in [&b"\x7fELF and more"[..], b"", b"\x1f\x8b\x08 cut"] {
        fs::write(&path, bytes).unwrap();
        let (code, out, err) = run(&path, &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains("store.aub"), "{err}");
    }
    fs::write(&path, &aub(0x7_0000).0).unwrap();
    let (code, out, err) = run(&path, &[]);
    assert_eq!(code, 3, "{out}{err}");
    assert!(
        out.contains(
            "  stopped at    blitter engine, MI_STORE_DATA_IMM, batch 0x0000_0000_1000 +0x0"
        ),
        "{out}"
    );
    assert!(err.contains("store.aub: before byte 0x") && err.contains("page fault"), "{err}");
    for option in [&["--check"][..], &["--dump", "somewhere"]] {
        let (code, _, err) = run(&path, option);
        assert_eq!(code, 2);
        assert!(err.contains(option[0]), "{err}");
    }
}

/// Oracle: memory from hardware and from IGT's assertions.
#[test]
fn corpus_is_byte_exact() {
    let Some(corpus) = corpus::folder() else { return };
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

/// Files of Mesa's intel_dump_gpu.
#[test]
fn aub_files_of_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    let (code, out, err) = run(&corpus.join("aub/vk_saxpy.aub.xz"), &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let head = "vk_saxpy.aub.xz: ok: 2 submissions\n  recorded      memory trace of vk_client for PCI id 0x1616\n";
    assert!(out.starts_with(head), "{out}");
    let (code, out, err) = run(&corpus.join("aub/vk_triangle.aub.xz"), &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
}

/// A file of Intel's OpenCL runtime, written by its own AUB writer: one dispatch with 8 threads.
#[test]
fn aub_files_of_neo() {
    let Some(corpus) = corpus::folder() else { return };
    let path = corpus.join("dumps/neo_aub/bdw_vadd.aub.xz");
    if !path.is_file() {
        eprintln!("skipped: no file {}", path.display());
        return;
    }
    let (code, out, err) = run(&path, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("bdw_vadd.aub.xz: ok: 1 submissions\n"), "{out}");
    assert!(out.contains("memory trace of NEO\n") && out.contains("8 in 4 groups"), "{out}");
    let (code, out, err) = run(&corpus.join("dumps/neo_aub/skl_vadd.aub.xz"), &[]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("recorded for SKL (device 12); the model is a Broadwell"), "{err}");
}

/// Values that an AUB file states are compared: the exit code is 1 if one differs.
#[test]
fn aub_files_with_expectations() {
    let place = tempdir().unwrap();
    let path = place.path().join("store.aub");
    for (value, code) in [(0, 1), (77, 0)] {
        let mut file = aub(0x3000);
        file.dwords(&[0xf704_0005, 0x3000, 0, 0, 1, value]);
        fs::write(&path, &file.0).unwrap();
        let (found, out, err) = run(&path, &[]);
        assert_eq!(found, code, "{out}{err}");
        assert!(out.contains(", ") && out.contains("of 1 expectations met"), "{out}");
        assert_eq!(err.contains("the file expects 0x0"), code == 1, "{err}");
    }
}

/// A hundred thousand iterations of media_spin take less than a second, including the start of the
/// program.
#[test]
fn spinning_takes_less_than_a_second() {
    let Some(corpus) = corpus::folder() else { return };
    let start = Instant::now();
    let (code, out, err) = run(&corpus.join("images/syn_mediaspin_36_100000"), &[]);
    let took = start.elapsed();
    assert_eq!(code, 0, "{out}{err}");
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// What `--observe frame` prints for the picture of the corpus. The size and the address are those
/// in its packets, the number of bytes is Indirect Data Length.
const JPEG_FRAME: &str = "\
frame 1: submission 1, MFD_JPEG_BSD_OBJECT at 0x0000_1000_548c
  picture       JPEG I frame, 4x4 macroblocks
  data          1 slice of 1.2 KiB
  output        before deblocking at 0x0000_1000_0000
  did           macroblocks 16
  pictures      picture1.png, picture1.yuv
";

/// A decoded picture of i965: paragraph, file, object, statistics and traces.
#[test]
fn decoded_pictures_are_described() {
    let Some(corpus) = corpus::folder() else { return };
    let capture = corpus.join("drivers/va_jpg");
    let place = tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (dump, trace, lines) = (path("out"), path("trace.json"), path("trace.txt"));
    let options = ["--stats", "--trace", &trace, "--trace-text", &lines];
    let (code, out, err) =
        run(&capture, &[&["--observe", "frame", "--dump", &dump], &options[..]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with(JPEG_FRAME), "{out}");
    assert!(out.contains("  pictures      1, 1 slices, 16 macroblocks\n"), "{out}");
    let row: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(row, ["JPEG", "1", "1", "1,251", "16", "0"]);
    let (pixels, size) = read_png(&place.path().join("out/picture1.png"));
    assert_eq!(size, [64, 64]);
    assert!(pixels.chunks(4).any(|pixel| pixel[0] != pixel[2]), "it has colours");
    // Three planes: whatever the chroma format is, a picture has more than luma.
    let samples = fs::read(place.path().join("out/picture1.yuv")).unwrap();
    assert!(samples.len() > 64 * 64 && samples.len() <= 3 * 64 * 64, "{}", samples.len());
    let trace = fs::read_to_string(trace).unwrap();
    assert!(trace.contains(r#""name":"JPEG I frame","s":"t","args":{"slices":1,"bytes":1251"#));
    let lines = fs::read_to_string(lines).unwrap();
    assert!(lines.contains("\npicture JPEG I frame 4x4 macroblocks\n"), "{lines}");

    let (_, out, _) = run(&capture, &["--observe", "frame", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let frame = &report["frames"][0];
    assert_eq!((&frame["codec"], &frame["type"]), (&"JPEG".into(), &"I".into()));
    assert_eq!((&frame["before"], &frame["picture"]), (&"0x10000000".into(), &Value::Null));
    assert_eq!(frame["samples"], Value::Null);
    assert_eq!(report["stats"]["pictures"], 1);
    // Without video, there is nothing about it.
    fill_capture(place.path(), |_| ());
    let (_, out, _) = run(place.path(), &["--json", "--stats"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["stats"]["pictures"], Value::Null);
    assert_eq!(report["tables"]["codecs"], Value::Null);
}
