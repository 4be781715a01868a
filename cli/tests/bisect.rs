//! The contract of `genx bisect`. Each test sets one mistake in a copy of a demo and looks for its
//! name in the report.

use crate::common::{batch_capture, changed_demo_capture, finish, genx};
use genx::demo::Name;
use genxml::batch::{Buffer, Submission};
use genxml::engine::Render;
use genxml::eu;
use genxml::gen8::enums::ThreeDCompareFunction as Compare;
use genxml::gen8::mi::{MiSemaphoreSignal, MiSemaphoreSignalTargetEngineSelect};
use genxml::gen8::render3d_depth::ThreeDStateWmDepthStencil;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
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
    let test = |function| ThreeDStateWmDepthStencil {
        depth_test_enable: true,
        depth_buffer_write_enable: true,
        depth_test_function: function,
        ..ThreeDStateWmDepthStencil::new()
    };
    let bad = demo(Name::Cube, |submission| {
        let old = words(&test(Compare::COMPAREFUNCTION_LESS).pack());
        replace(submission, &old, &words(&test(Compare::COMPAREFUNCTION_GREATER).pack()), 0);
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

/// Real captures: each is equal to itself.
#[test]
fn captures_equal_themselves() {
    let Some(folder) = corpus::folder() else { return };
    for name in ["drivers/kmscube", "drivers/gl_iris", "drivers/vk_saxpy"] {
        let path = folder.join(name);
        let (code, out, err) = bisect(&path, &path, &[]);
        assert_eq!((code, err.as_str()), (0, ""), "{name}: {out}");
    }
}
