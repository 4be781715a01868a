//! The contract of `genx why`, and the histories of random pixels of real captures.

use crate::common::{batch_capture, demo_capture, fill_capture, finish, genx};
use genx::demo::{Name, cube};
use genxml::capture::{Capture, CaptureWriter, Event};
use genxml::core::lit;
use genxml::engine::{Blitter, Render};
use genxml::gen8::blitter::{
    BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt, XySrcCopyBlt,
};
use genxml::gen8::enums::ThreeDCompareFunction as Compare;
use genxml::gen8::mi::{MiSemaphoreSignal, MiSemaphoreSignalTargetEngineSelect};
use genxml::gen8::render3d_depth::ThreeDStateWmDepthStencil;
use genxml_sim::inspect::history::{Kind, Meaning, Value};
use genxml_sim::pixel_history::{Answer, Question, Until, WhyError, of_capture};
use genxml_sim::replay::Replay;
use genxml_testkit::{Random, corpus};
use serde_json::Value as Json;
use std::path::Path;
use tempfile::tempdir;

fn why(capture: &Path, more: &[&str]) -> (i32, String, String) {
    finish(genx([&["why", capture.to_str().unwrap()], more].concat()))
}

fn json(capture: &Path, more: &[&str]) -> Json {
    let (code, out, err) = why(capture, &[more, &["--format", "json"]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    serde_json::from_str(&out).unwrap()
}

/// Fills a square, then copies a part of it. Both are in the page at 0x10000: 16 pixels a row.
fn blits(directory: &Path) {
    batch_capture::<Blitter>(directory, |batch| {
        batch
            .emit(&XyColorBlt {
                color_depth: BlitColorDepth::_32BPP,
                _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
                raster_operation: BlitRasterOperation::PATTERN_COPY,
                destination_pitch: lit!(64),
                destination_x2_coordinate_right: lit!(4),
                destination_y2_coordinate_bottom: lit!(4),
                destination_base_address: lit!(0x1_0000),
                solid_pattern_color: lit!(0xff1020),
                ..XyColorBlt::new()
            })
            .unwrap();
        batch
            .emit(&XySrcCopyBlt {
                color_depth: BlitColorDepth::_32BPP,
                _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
                raster_operation: BlitRasterOperation::SRC_COPY,
                destination_pitch: lit!(64),
                destination_x1_coordinate_left: lit!(2),
                destination_y1_coordinate_top: lit!(2),
                destination_x2_coordinate_right: lit!(16),
                destination_y2_coordinate_bottom: lit!(6),
                destination_base_address: lit!(0x1_0000),
                source_x1_coordinate_left: lit!(1),
                source_y1_coordinate_top: lit!(1),
                source_pitch: lit!(64),
                source_base_address: lit!(0x1_0000),
                ..XySrcCopyBlt::new()
            })
            .unwrap();
    });
}

/// Oracle: the rectangles of the blits.
#[test]
fn blits_and_copies() {
    let capture = tempdir().unwrap();
    blits(capture.path());
    let kinds = |pixel: &str| -> Vec<String> {
        let answer = json(capture.path(), &["--pixel", pixel]);
        let entries = answer["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds("1,1"), ["blit"]);
    assert_eq!(kinds("3,3"), ["blit", "copy"]);
    assert_eq!(kinds("10,5"), ["copy"]);
    assert_eq!(kinds("10,1"), [""; 0]);
    let answer = json(capture.path(), &["--pixel", "3,3"]);
    let copy = &answer["entries"][1];
    assert_eq!(copy["packet"], "XY_SRC_COPY_BLT");
    assert_eq!(copy["blit"]["source"]["pixel"], serde_json::json!([2, 2]));
    // The copy writes the value that the pixel has already.
    assert_eq!(copy["old"], copy["new"]);
    assert_eq!(answer["value"]["bytes"], "2010ff00");
    assert_eq!(answer["surface"]["address"], "0x10000");
    let (code, out, _) = why(capture.path(), &["--pixel", "3,3"]);
    assert_eq!(code, 0);
    for line in [
        "pixel 3,3 of B8G8R8A8_UNORM 16x6 linear at 0x0000_0001_0000\n",
        "1. blit: submission 1 (exec 0), XY_COLOR_BLT at 0x0000_0002_0000 (blitter batch +0x0)\n",
        "   rectangle  0,0 to 3,3\n",
        "   source     pixel 2,2 of the surface at 0x0000_0001_0000\n",
    ] {
        assert!(out.contains(line), "{line} not in:\n{out}");
    }
}

/// Two cubes: the pixel in the middle is drawn by both. Oracle: the state of the demo: the depth
/// buffer is 1.0 at first, and the test is LESS.
#[test]
fn the_middle_of_two_cubes() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Cube, capture.path());
    let answer = json(capture.path(), &["--pixel", "256,256"]);
    let entries = answer["entries"].as_array().unwrap();
    assert_eq!(entries[0]["kind"], "host", "the background");
    let draws: Vec<&Json> = entries.iter().filter(|entry| !entry["draw"].is_null()).collect();
    assert!(!draws.is_empty());
    let fragments: Vec<&Json> =
        draws.iter().flat_map(|entry| entry["draw"]["fragments"].as_array().unwrap()).collect();
    let mut nearest = 1.0;
    for fragment in fragments.iter().filter(|fragment| !fragment["coverage"].is_null()) {
        let depth = &fragment["tests"][0]["depth"];
        assert_eq!(depth["function"], "COMPAREFUNCTION_LESS");
        assert_eq!(depth["stored_depth"], nearest);
        let passes = depth["depth"].as_f64().unwrap() < nearest;
        assert_eq!(depth["passed"], passes);
        assert_eq!(fragment["lost"].is_null(), passes, "{fragment}");
        if passes {
            nearest = depth["depth"].as_f64().unwrap();
            assert_eq!(fragment["vertices"].as_array().unwrap().len(), 3);
        }
    }
    let lost: Vec<&str> =
        fragments.iter().filter_map(|fragment| fragment["lost"].as_str()).collect();
    assert!(lost.contains(&"depth test") || lost.contains(&"culled"), "{lost:?}");
    let (code, out, err) = why(capture.path(), &["--pixel", "256,256"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("LESS stored 1: passed, written"), "{out}");
    assert!(out.contains("of R8G8B8A8_UNORM 512x512 linear at "), "{out}");
    assert!(out.lines().all(|line| line.len() < 160), "{out}");
}

/// A mistake in the batch: the depth test passes if the new depth is greater. The history names it.
#[test]
fn a_flipped_depth_test_is_visible() {
    let mut submission = cube::submission().unwrap();
    let wanted = ThreeDStateWmDepthStencil {
        depth_test_enable: true,
        depth_buffer_write_enable: true,
        depth_test_function: Compare::COMPAREFUNCTION_LESS,
        ..ThreeDStateWmDepthStencil::new()
    };
    let flipped = ThreeDStateWmDepthStencil {
        depth_test_function: Compare::COMPAREFUNCTION_GREATER,
        ..wanted
    };
    let bytes = |packet: &ThreeDStateWmDepthStencil| -> Vec<u8> {
        packet.pack().iter().flat_map(|dword| dword.to_le_bytes()).collect()
    };
    let (wanted, flipped) = (bytes(&wanted), bytes(&flipped));
    let mut changes = 0;
    for buffer in &mut submission.buffers {
        let memory = buffer.bytes_mut();
        let mut at = 0;
        while let Some(found) = memory[at..].windows(wanted.len()).position(|one| one == wanted) {
            memory[at + found..][..flipped.len()].copy_from_slice(&flipped);
            (at, changes) = (at + found + flipped.len(), changes + 1);
        }
    }
    assert_eq!(changes, 1);
    let capture = tempdir().unwrap();
    let mut writer = CaptureWriter::new("flipped");
    submission.write(1, &mut writer);
    writer.finish(capture.path()).unwrap();
    let (code, out, err) = why(capture.path(), &["--pixel", "256,256"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("GREATER stored 1: failed"), "{out}");
    assert!(out.contains("lost       depth test"), "{out}");
    let answer = json(capture.path(), &["--pixel", "256,256"]);
    let entries = answer["entries"].as_array().unwrap();
    assert!(entries.iter().skip(1).all(|entry| entry["old"] == entry["new"]), "{answer:#}");
}

#[test]
fn the_end_of_the_history() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Cube, capture.path());
    let count = |more: &[&str]| {
        let answer = json(capture.path(), &[&["--pixel", "256,256"], more].concat());
        answer["entries"].as_array().unwrap().iter().filter(|e| !e["draw"].is_null()).count()
    };
    assert_eq!(count(&["--after", "draw", "2"]), count(&[]));
    assert_eq!(count(&["--after", "exec", "0"]), count(&[]));
    assert!(count(&["--after", "draw", "1"]) <= count(&[]));
    assert!(count(&["--after", "draw", "1"]) > 0);
}

#[test]
fn unusable_questions_are_2() {
    let cube = tempdir().unwrap();
    demo_capture(Name::Cube, cube.path());
    let fill = tempdir().unwrap();
    fill_capture(fill.path(), |_| ());
    let at = ["--pixel", "1,1"];
    for (capture, options, message) in [
        (&cube, &["--pixel", "512,0"][..], "columns are 0 to 511, rows 0 to 511"),
        (&cube, &["--pixel", "1"], "write 320,200"),
        (&cube, &["--pixel", "1,1", "--sample", "1"], "no sample 1"),
        (&cube, &["--pixel", "1,1", "--target", "0x1234"], "targets are at 0x"),
        (&cube, &["--pixel", "1,1", "--after", "draw", "3"], "there are 2 draws"),
        (&cube, &["--pixel", "1,1", "--after", "exec", "7"], "there is no submission 7"),
        (&cube, &["--pixel", "1,1", "--after", "packet", "7"], "--after exec N"),
        (&cube, &["--pixel", "1,1", "--after", "draw", "0"], "from 1 on"),
        (&cube, &["--pixel", "1,1", "--frame", "0"], "there are no frames"),
        (&fill, &at, "nothing before this point draws"),
    ] {
        let (code, out, err) = why(capture.path(), options);
        assert_eq!((code, out.as_str()), (2, ""), "{options:?}: {err}");
        assert!(err.contains(message), "{message} not in: {err}");
    }
    for path in ["no/such/capture", "-"] {
        let (code, out, err) = why(Path::new(path), &at);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
    }
}

/// The history ends at a fault, and the exit code is that of the fault.
#[test]
fn a_fault_is_3() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        batch
            .emit(&MiSemaphoreSignal {
                target_engine_select: MiSemaphoreSignalTargetEngineSelect::VCS1,
                ..MiSemaphoreSignal::new()
            })
            .unwrap();
    });
    let (code, out, err) = why(capture.path(), &["--pixel", "0,0"]);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("MI_SEMAPHORE_SIGNAL") && err.contains("nothing before"), "{err}");
    let cube = tempdir().unwrap();
    demo_capture(Name::Cube, cube.path());
    let (code, out, err) = why(cube.path(), &["--pixel", "256,256", "--work-limit", "4000000"]);
    assert_eq!(code, 3, "{out}{err}");
    assert!(err.contains("--work-limit") || err.contains("units of work"), "{err}");
}

/// The bytes of the pixel in memory after each submission of a run without an observer; the last
/// ones while its memory exists.
fn memory(capture: &Capture, answer: &Answer) -> Option<Vec<u8>> {
    let (probe, value) = (&answer.probe, answer.value.as_ref()?);
    let mut replay = Replay::new(capture);
    let mut bytes = None;
    while replay.step().is_some() {
        if replay.object_at(probe.physical).is_some() {
            let mut found = vec![0; value.bytes.len()];
            replay.gpu().memory.read_physical(probe.physical, &mut found)?;
            bytes = Some(found);
        }
    }
    bytes
}

/// Each entry starts with the value that the one before left, and so do the primitives of a draw.
#[track_caller]
fn check_chain(name: &str, answer: &Answer) {
    let mut newest: Option<&Option<Value>> = None;
    for entry in &answer.entries {
        if let Some(newest) = newest {
            assert_eq!(&entry.old, newest, "{name}");
        }
        newest = Some(&entry.new);
        let Some(draw) = &entry.draw else { continue };
        let mut inside = &entry.old;
        for fragment in draw.fragments.iter().filter(|fragment| fragment.coverage.is_some()) {
            assert_eq!(&fragment.old, inside, "{name}: draw {}", draw.number);
            inside = &fragment.new;
        }
        if entry.kind == Kind::Draw && !draw.fragments.is_empty() {
            assert_eq!(&entry.new, inside, "{name}: draw {}", draw.number);
        }
    }
    if let Some(newest) = newest {
        assert_eq!(newest, &answer.value, "{name}");
    }
}

/// Random pixels of all captures of the corpus, their render targets and depth buffers. Oracle: the
/// memory after a run without an observer.
#[test]
fn random_pixels_of_captures() {
    let mut random = Random::new(26);
    let (mut captures, mut pixels, mut fragments) = (0, 0, 0);
    // `pg_xfb` executes 129 million instructions in each run.
    let folders = corpus::captures().into_iter().filter(|path| !path.ends_with("pg_xfb"));
    let gen45 = corpus::folder().map(|folder| folder.join("gen45/captures"));
    let more =
        ["gl_depth", "gl_copy_blit"].iter().flat_map(|name| Some(gen45.as_ref()?.join(name)));
    for path in folders.chain(more) {
        let capture = Capture::open(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let question = |at| Question { at, sample: 0, target: None, until: None };
        let first = match of_capture(&capture, &question([0, 0]), &|_| ()) {
            Ok(answer) => answer,
            Err(WhyError::History(_) | WhyError::Stopped { .. }) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        captures += 1;
        let level = first.probe.view.level;
        for _ in 0..4 {
            let at = [level.width, level.height].map(|size| random.below(size.into()) as u32);
            let answer = of_capture(&capture, &question(at), &|_| ()).unwrap();
            check_chain(&name, &answer);
            let value = answer.value.as_ref().unwrap();
            let is_plain = answer.probe.view.surface.auxiliary.base == 0;
            if is_plain && !value.cleared && answer.probe.view.meaning == Meaning::Color {
                assert_eq!(memory(&capture, &answer).unwrap(), value.bytes, "{name} {at:?}");
            }
            let draws = answer.entries.iter().filter_map(|entry| entry.draw.as_ref());
            fragments += draws.map(|draw| draw.fragments.len()).sum::<usize>();
            pixels += 1;
        }
    }
    if corpus::folder().is_some() {
        assert!(captures >= 10 && pixels >= 40 && fragments > 8, "{captures} {pixels} {fragments}");
    }
}

/// Frames of a capture: the history ends when the frame is displayed.
#[test]
fn frames_of_a_capture() {
    let Some(folder) = corpus::folder() else { return };
    let capture = folder.join("drivers/kmscube");
    let opened = Capture::open(&capture).unwrap();
    let frames = opened.events().iter().filter(|event| matches!(event, Event::Frame(_))).count();
    let mut addresses = Vec::new();
    for frame in 0..frames as u64 {
        let until = Some(Until::Frame(frame));
        let question = Question { at: [64, 48], sample: 0, target: None, until };
        let answer = of_capture(&opened, &question, &|_| ()).unwrap();
        check_chain("kmscube", &answer);
        assert!(answer.entries.iter().any(|entry| entry.kind == Kind::Draw), "frame {frame}");
        addresses.push(answer.probe.address);
    }
    addresses.sort_unstable();
    addresses.dedup();
    assert!(addresses.len() > 1, "the program displays several buffers");
    let (code, out, _) = why(&capture, &["--pixel", "64,48", "--frame", "1"]);
    assert!(code == 0 && out.contains("primitive "), "{out}");
    // A depth buffer, and an AUB file.
    let (code, out, err) = why(&folder.join("aub/vk_triangle.aub.xz"), &["--pixel", "40,30"]);
    assert!(code == 0 && out.contains("1. draw 4: submission 2, "), "{out}{err}");
    let options = ["--pixel", "40,30", "--after", "exec", "99"];
    let (code, _, err) = why(&folder.join("aub/vk_triangle.aub.xz"), &options);
    assert!(code == 2 && err.contains("there is no submission 99"), "{err}");
}

/// The history in the guide is what the command prints.
#[test]
fn the_history_in_the_guide() {
    let guide = include_str!("../../runtime/src/guide/pixels.md");
    let (_, block) = guide.split_once("```text\n").unwrap();
    let (expected, _) = block.split_once("```\n").unwrap();
    let capture = tempdir().unwrap();
    demo_capture(Name::Cube, capture.path());
    let (code, out, err) = why(capture.path(), &["--pixel", "200,240"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(out, expected);
}
