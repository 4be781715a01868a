//! The contract of `genx bisect`. Each test sets one mistake in a copy of a demo and looks for its
//! name in the report.

use crate::common::{batch_capture, changed_demo_capture, finish, genx};
use genx::demo::Name;
use genxml::batch::{Batch, Buffer, Submission};
use genxml::capture::CaptureWriter;
use genxml::core::{Address, U};
use genxml::engine::Render;
use genxml::eu;
use genxml::gen8::enums::ThreeDCompareFunction as Compare;
use genxml::gen8::mi::{
    MiBatchBufferEnd, MiNoop, MiSemaphoreSignal, MiSemaphoreSignalTargetEngineSelect,
    MiStoreDataImm, PipeControl, PipeControlPostSyncOperation,
};
use genxml::gen8::render3d_depth::ThreeDStateWmDepthStencil;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use genxml::gen8::render3d_raster::ThreeDStateDrawingRectangle;
use genxml_testkit::corpus;
use serde_json::Value as Json;
use std::path::Path;
use tempfile::{TempDir, tempdir};

fn bisect(good: &Path, bad: &Path, more: &[&str]) -> (i32, String, String) {
    let paths = ["bisect", good.to_str().unwrap(), bad.to_str().unwrap()];
    finish(genx([&paths[..], more].concat()))
}

fn json(good: &Path, bad: &Path) -> (i32, Json) {
    let (code, out, err) = bisect(good, bad, &["--format", "json"]);
    assert_eq!(err, "", "{out}");
    (code, serde_json::from_str(&out).unwrap())
}

/// A capture of a demo. `change` sets a mistake.
fn demo(name: Name, change: impl FnOnce(&mut Submission)) -> TempDir {
    let capture = tempdir().unwrap();
    changed_demo_capture(name, capture.path(), change);
    capture
}

/// The bytes of a buffer.
fn buffer<'a>(submission: &'a mut Submission, name: &str) -> &'a mut [u8] {
    let buffer = submission.buffers.iter_mut().find(|buffer| buffer.name() == name);
    buffer.unwrap_or_else(|| panic!("no buffer {name}")).bytes_mut()
}

/// Replaces occurrence `which` of some dwords in all buffers.
#[track_caller]
fn replace(submission: &mut Submission, old: &[u8], new: &[u8], which: usize) {
    let mut seen = 0;
    for buffer in &mut submission.buffers {
        let memory = buffer.bytes_mut();
        for at in (0..memory.len().saturating_sub(old.len())).step_by(4) {
            if memory[at..].starts_with(old) {
                if seen == which {
                    memory[at..][..new.len()].copy_from_slice(new);
                    return;
                }
                seen += 1;
            }
        }
    }
    panic!("found only {seen} times");
}

fn words(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

/// Replaces the comparison of the depth test in the demo `cube`.
#[track_caller]
pub fn set_depth_test(submission: &mut Submission, function: Compare) {
    let test = |function| ThreeDStateWmDepthStencil {
        depth_test_enable: true,
        depth_buffer_write_enable: true,
        depth_test_function: function,
        ..ThreeDStateWmDepthStencil::new()
    };
    let old = words(&test(Compare::COMPAREFUNCTION_LESS).pack());
    replace(submission, &old, &words(&test(function).pack()), 0);
}

#[test]
fn equal_runs_are_0() {
    let (good, bad) = (demo(Name::Cube, |_| ()), demo(Name::Cube, |_| ()));
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (0, &"same".into()));
    assert_eq!(report["draws"], serde_json::json!([2, 2]));
    let (code, out, err) = bisect(good.path(), bad.path(), &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.ends_with("no difference after any submission\n"), "{out}");
}

/// The depth test passes if the new depth is greater: the first draw and its first primitive.
#[test]
fn a_flipped_depth_test() {
    let good = demo(Name::Cube, |_| ());
    let bad = demo(Name::Cube, |submission| {
        set_depth_test(submission, Compare::COMPAREFUNCTION_GREATER);
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    assert_eq!(report["draw"]["draws"][0]["number"], 1);
    let state = &report["draw"]["state"];
    assert_eq!(state.as_array().unwrap().len(), 1, "{state:#}");
    assert_eq!(state[0]["packet"], "3DSTATE_WM_DEPTH_STENCIL");
    assert_eq!(state[0]["field"], "Depth Test Function");
    assert_eq!(report["pixel"]["stage"], "depth or stencil test");
    let (_, out, _) = bisect(good.path(), bad.path(), &[]);
    assert!(out.contains("LESS stored 1: passed") && out.contains("GREATER stored 1: failed"));
}

/// The share of ambient light of the second cube is wrong. It is r4.3 of the vertex shader, which
/// the last `mad` of the colour reads.
#[test]
fn a_wrong_constant() {
    let good = demo(Name::Cube, |_| ());
    let bad = demo(Name::Cube, |submission| {
        let (old, new) = (0.3f32.to_le_bytes(), 0.25f32.to_le_bytes());
        replace(submission, &old, &new, 1);
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    assert_eq!(report["draw"]["draws"][1]["number"], 2, "the second cube");
    assert_eq!(report["draw"]["state"], serde_json::json!([]));
    // The positions are equal, the colours are not.
    assert_eq!(report["pixel"]["stage"], "inputs of the pixel shader", "{report:#}");
    let threads = &report["threads"];
    assert_eq!(threads["stage"], "VS");
    let payload = &threads["payload"];
    assert_eq!(payload.as_array().unwrap().len(), 1, "{payload:#}");
    assert_eq!(payload[0]["register"], "r4.3");
    let instruction = threads["instructions"][0]["assembly"].as_str().unwrap();
    assert!(instruction.contains("mad") && instruction.contains("r20"), "{instruction}");
}

/// A corner of the face that is nearest to the eye is moved: the vertices on the screen differ.
#[test]
fn a_wrong_vertex() {
    let good = demo(Name::Cube, |_| ());
    let bad = demo(Name::Cube, |submission| {
        let vertices = buffer(submission, "vertices");
        vertices[28 * 20..][..4].copy_from_slice(&0.25f32.to_le_bytes());
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    assert_eq!(report["draw"]["draws"][0]["number"], 1);
    let threads = &report["threads"];
    assert_eq!(threads["stage"], "VS");
    // x of the positions: r5.
    let register = threads["payload"][0]["register"].as_str().unwrap();
    assert!(register.starts_with("r5."), "{register}");
}

/// The plane of green is that of red: an instruction of the pixel shader reads r4.0, not r4.4.
#[test]
fn a_wrong_instruction() {
    const GREEN: &[u32] = &eu! { pln (8|M0) r113.0<1>:f r4.4<0;1,0>:f r2.0<8;8,1>:f };
    const WRONG: &[u32] = &eu! { pln (8|M0) r113.0<1>:f r4.0<0;1,0>:f r2.0<8;8,1>:f };
    let good = demo(Name::Triangle, |_| ());
    let bad = demo(Name::Triangle, |submission| {
        replace(submission, &words(GREEN), &words(WRONG), 0);
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    assert_eq!(report["pixel"]["stage"], "pixel shader", "{report:#}");
    let threads = &report["threads"];
    assert_eq!((&threads["stage"], &threads["payload"]), (&"PS".into(), &serde_json::json!([])));
    for side in [0, 1] {
        let instruction = &threads["instructions"][side];
        assert_eq!(instruction["offset"], "0x10", "{threads:#}");
        assert!(instruction["assembly"].as_str().unwrap().contains("r113"), "{threads:#}");
    }
    // The guide shows what the command prints.
    let (code, out, err) = bisect(good.path(), bad.path(), &[]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let mut lines: Vec<&str> = out.lines().collect();
    lines[..2].copy_from_slice(&["good  captures/good: 1 draws", "bad   captures/bad: 1 draws"]);
    let guide = include_str!("../../runtime/src/guide/bisect.md");
    let (_, block) = guide.split_once("```text\n").unwrap();
    let (expected, _) = block.split_once("```\n").unwrap();
    assert_eq!(lines.join("\n") + "\n", expected);
}

/// A texel of the smallest level of the texture is wrong: the response of the sampler differs.
#[test]
fn a_wrong_texture() {
    let good = demo(Name::Texture, |_| ());
    let bad = demo(Name::Texture, |submission| {
        for byte in buffer(submission, "texture") {
            *byte ^= 0x10;
        }
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    let threads = &report["threads"];
    let instruction = threads["instructions"][0]["assembly"].as_str().unwrap();
    assert!(instruction.contains("send") && instruction.contains("r112"), "{instruction}");
    let register = threads["values"][0]["register"].as_str().unwrap();
    assert!(register.starts_with("r112."), "{register}");
}

/// The bad run lacks a draw. The draws before it are equal.
#[test]
fn a_missing_draw() {
    let good = demo(Name::Cube, |_| ());
    let bad = demo(Name::Cube, |submission| {
        // Two dwords of each 3DPRIMITIVE are enough to find it: the header, and the topology.
        let header = ThreeDPrimitive::new().pack()[0].to_le_bytes();
        let address = submission.batch_address;
        let holds = |buffer: &&mut Buffer| buffer.address() == address;
        let commands = submission.buffers.iter_mut().find(holds).unwrap().bytes_mut();
        let at = commands.windows(4).rposition(|dword| dword == header).unwrap();
        commands[at..at + 4 * ThreeDPrimitive::new().pack().len()].fill(0);
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"same".into()), "{report:#}");
    assert_eq!(report["draws"], serde_json::json!([2, 1]));
    assert_eq!(report["unpaired"][0][0]["number"], 2);
    assert_eq!(report["unpaired"][1], serde_json::json!([]));
    let (_, out, _) = bisect(good.path(), bad.path(), &[]);
    assert!(out.contains("only good: draw 2: TRILIST, 36 vertices"), "{out}");
    assert!(out.ends_with("are equal after each submission\n"), "{out}");
}

/// The picture is another one before the first draw: the program wrote it.
#[test]
fn a_wrong_upload() {
    let good = demo(Name::Cube, |_| ());
    let bad = demo(Name::Cube, |submission| {
        buffer(submission, "picture")[..4].copy_from_slice(&[1, 2, 3, 4]);
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["draw"]["before"]), (1, &true.into()), "{report:#}");
    assert_eq!(report["draw"]["rectangle"], serde_json::json!([0, 0, 0, 0]));
    assert_eq!(report["draw"]["samples"], 1);
    let history = &report["pixel"]["histories"][1];
    assert_eq!(history[0]["kind"], "host");
    assert_eq!(report["pixel"]["entries"], serde_json::json!([0, 0]));
}

/// A dispatch writes pixels with another alpha.
#[test]
fn a_wrong_dispatch() {
    let good = demo(Name::Fill, |_| ());
    let bad = demo(Name::Fill, |submission| {
        // The immediate of the instruction that sets alpha to 255.
        replace(submission, &0xff00_0000u32.to_le_bytes(), &0xfe00_0000u32.to_le_bytes(), 0);
    });
    let (code, report) = json(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"compute".into()), "{report:#}");
    let compute = &report["compute"];
    let [good_value, bad_value] =
        [0, 1].map(|side| compute["values"][side].as_str().unwrap().to_owned());
    assert!(good_value.starts_with("0xff") && bad_value.starts_with("0xfe"), "{compute:#}");
    for writer in compute["writers"].as_array().unwrap() {
        assert_eq!((&writer["packet"], &writer["dispatch"]), (&"GPGPU_WALKER".into(), &1.into()));
    }
}

#[test]
fn unusable_inputs_are_2() {
    let cube = demo(Name::Cube, |_| ());
    for (good, bad) in [(cube.path(), Path::new("no/such/capture")), (Path::new("-"), cube.path())]
    {
        let (code, out, err) = bisect(good, bad, &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
    }
}

/// The comparison ends at a fault.
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
    let (code, out, err) = bisect(capture.path(), capture.path(), &[]);
    assert_eq!(code, 3, "{out}{err}");
    assert!(err.contains("MI_SEMAPHORE_SIGNAL") && err.contains("ends there"), "{err}");
}

/// A capture of a batch that stores each value at `address` + 8, executes `wait` times MI_NOOP, and
/// stores the time.
fn stores(address: u64, values: &[u64], wait: usize) -> TempDir {
    let capture = tempdir().unwrap();
    let target = Buffer::new("target", address, 4096).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x2_0000, 4096).unwrap();
    for value in values {
        let value = [U::try_from(*value).unwrap()];
        let to = MiStoreDataImm::new(Address::try_from(address + 8).unwrap());
        batch.emit(&MiStoreDataImm { data_dword: (&value).into(), ..to }).unwrap();
    }
    for _ in 0..wait {
        batch.emit(&MiNoop::new()).unwrap();
    }
    let time = PipeControl {
        post_sync_operation: PipeControlPostSyncOperation::WRITE_TIMESTAMP,
        address: Address::try_from(address + 64).unwrap(),
        ..PipeControl::new()
    };
    batch.emit(&time).unwrap();
    let mut writer = CaptureWriter::new("stores");
    batch.finish().unwrap().submit([target]).unwrap().write(1, &mut writer);
    writer.finish(capture.path()).unwrap();
    capture
}

/// The same batch overwrites the value that differs. Only `--thorough` finds it.
#[test]
fn a_value_that_is_overwritten() {
    let (good, bad) = (stores(0x1_0000, &[5, 1, 7], 0), stores(0x1_0000, &[5, 2, 7], 0));
    assert_eq!(bisect(good.path(), bad.path(), &[]).0, 0);
    let (code, report) = thorough(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"packet".into()), "{report:#}");
    let packet = &report["packet"];
    assert_eq!(packet["values"], serde_json::json!(["0x1", "0x2"]));
    assert_eq!(packet["addresses"], serde_json::json!(["0x10008", "0x10008"]));
    assert_eq!(packet["bytes"], serde_json::json!([4, 4]));
    for writer in packet["writers"].as_array().unwrap() {
        assert_eq!(writer["packet"], "MI_STORE_DATA_IMM");
        // The second of three packets of 4 dwords.
        assert_eq!(writer["address"], "0x20010");
    }
    let (_, out, _) = bisect(good.path(), bad.path(), &["--thorough"]);
    assert!(out.contains("0x00000001 at 0x0000_0001_0008"), "{out}");
    // AUB files have no objects.
    let [good_aub, bad_aub] = [&good, &bad].map(|capture| {
        let (from, to) = (capture.path(), capture.path().join("stores.aub"));
        let paths = [from.to_str().unwrap(), to.to_str().unwrap()];
        let (code, _, err) = finish(genx(["convert", paths[0], "-o", paths[1]]));
        assert_eq!(code, 0, "{err}");
        to
    });
    let (code, report) = thorough(&good_aub, &bad_aub);
    assert_eq!((code, &report["result"]), (1, &"packet".into()), "{report:#}");
    assert_eq!(report["packet"]["values"], packet["values"]);
    // The object has another address, and the time is another one.
    let moved = stores(0x5_0000, &[5, 1, 7], 1000);
    let (code, report) = thorough(good.path(), moved.path());
    assert_eq!((code, &report["result"]), (0, &"same".into()), "{report:#}");
}

fn thorough(good: &Path, bad: &Path) -> (i32, Json) {
    let (code, out, err) = bisect(good, bad, &["--format", "json", "--thorough"]);
    assert_eq!(err, "", "{out}");
    (code, serde_json::from_str(&out).unwrap())
}

/// The first draw of the bad run covers less of the picture. A second draw of the same submission
/// covers all of it in both runs.
#[test]
fn a_draw_that_is_overwritten() {
    let twice = |first: ThreeDStateDrawingRectangle| {
        demo(Name::Triangle, |submission| {
            let whole = rectangle(511);
            replace(submission, &words(&whole.pack()), &words(&first.pack()), 0);
            let address = submission.batch_address;
            let holds = |buffer: &&mut Buffer| buffer.address() == address;
            let commands = submission.buffers.iter_mut().find(holds).unwrap().bytes_mut();
            let header = ThreeDPrimitive::new().pack()[0].to_le_bytes();
            let at = commands.windows(4).rposition(|dword| dword == header).unwrap();
            let end = at + 4 * ThreeDPrimitive::DWORDS;
            let primitive = commands[at..end].to_vec();
            let more =
                [words(&whole.pack()), primitive, words(&MiBatchBufferEnd::new().pack())].concat();
            commands[end..][..more.len()].copy_from_slice(&more);
            submission.batch_length = submission.batch_length.max((end + more.len()) as u64);
        })
    };
    let (good, bad) = (twice(rectangle(511)), twice(rectangle(300)));
    assert_eq!(bisect(good.path(), bad.path(), &[]).0, 0);
    let (code, report) = thorough(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    assert_eq!(report["draw"]["draws"][0]["number"], 1);
    assert_eq!(report["draw"]["before"], false);
    let state = &report["draw"]["state"];
    assert_eq!(state[0]["packet"], "3DSTATE_DRAWING_RECTANGLE", "{state:#}");
    assert_eq!(report["draw"]["rectangle"][0], 301);
    let (same, report) = thorough(good.path(), good.path());
    assert_eq!((same, &report["result"]), (0, &"same".into()), "{report:#}");
}

/// The drawing rectangle of the demo `triangle`, up to a column.
fn rectangle(right: u64) -> ThreeDStateDrawingRectangle {
    ThreeDStateDrawingRectangle {
        clipped_drawing_rectangle_x_max: U::try_from(right).unwrap(),
        clipped_drawing_rectangle_y_max: U::try_from(511u64).unwrap(),
        ..ThreeDStateDrawingRectangle::new()
    }
}

/// `--thorough` finds the mistakes of the tests above, too.
#[test]
fn thorough_finds_the_same_draws() {
    let good = demo(Name::Cube, |_| ());
    let bad = demo(Name::Cube, |submission| {
        let (old, new) = (0.3f32.to_le_bytes(), 0.25f32.to_le_bytes());
        replace(submission, &old, &new, 1);
    });
    let (code, report) = thorough(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"draw".into()), "{report:#}");
    assert_eq!(report, json(good.path(), bad.path()).1);
    let good = demo(Name::Fill, |_| ());
    let bad = demo(Name::Fill, |submission| {
        replace(submission, &0xff00_0000u32.to_le_bytes(), &0xfe00_0000u32.to_le_bytes(), 0);
    });
    let (code, report) = thorough(good.path(), bad.path());
    assert_eq!((code, &report["result"]), (1, &"packet".into()), "{report:#}");
    let writer = &report["packet"]["writers"][0];
    assert_eq!((&writer["packet"], &writer["dispatch"]), (&"GPGPU_WALKER".into(), &1.into()));
}

/// Real captures: each is equal to itself.
#[test]
fn captures_equal_themselves() {
    let Some(folder) = corpus::folder() else { return };
    for name in ["drivers/kmscube", "drivers/gl_iris", "drivers/vk_saxpy"] {
        let path = folder.join(name);
        for more in [&[][..], &["--thorough"]] {
            let (code, out, err) = bisect(&path, &path, more);
            assert_eq!((code, err.as_str()), (0, ""), "{name}: {out}");
        }
    }
}
